//! Controllers of routers that can do nothing.

use super::Simulation;
use sojourn_engine::packet::Direction;
use sojourn_input::fault;
use sojourn_input::problem::Warning;
use sojourn_scenario::Scenario;
use sojourn_scenario::controllers::Rates;
use sojourn_scenario::traffic::Entry;

/// Those whose router has no shaper that they could set.
pub(super) fn without_shaper(scenario: &Scenario) -> Vec<Warning> {
    let own = scenario.traffic.iter().filter(|(_, of)| of.app.parameters().is_of_router());
    let idle = own.filter_map(|(name, entry)| {
        let router = scenario.router_of(scenario.group_of(entry))?;
        let path = scenario.path_of(name, entry);
        let above = path.strip_suffix(".controller").unwrap_or(&path);
        (router.settable() == Rates::default()).then(|| {
            fault!(IdleController, &path =>
                "{path} has no shaper that it could set: give {above}.upstream or {above}.downstream a rate_mbps, or CAKE \
                 with a bandwidth_mbps; a capacity stays as it is")
        })
    });
    idle.collect()
}

/// One whose probes have not been answered.
pub(super) fn unanswered(
    run: &Simulation,
    index: usize,
    path: &str,
    entry: &Entry,
) -> Option<Warning> {
    let accounts = Direction::BOTH.map(|way| run.ledger.account(index, way));
    let [sent, answers] = accounts.map(|account| (account.sent.packets, account.delivered.packets));
    let (probes, server) = (sent.0, entry.app.parameters().servers());
    let server = server.first().map_or("", |(_, name)| name);
    (entry.app.parameters().is_of_router() && probes > 0 && answers.1 == 0).then(|| {
        fault!(UnansweredProbes, path =>
            "none of {probes} probes of {path} was answered by servers.{server}, so it knew no delay", probes, server)
    })
}
