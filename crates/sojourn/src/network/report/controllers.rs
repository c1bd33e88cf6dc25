//! Controllers of routers that can do nothing.

use super::Simulation;
use sojourn_engine::packet::Direction;
use sojourn_input::fault;
use sojourn_input::problem::Warning;
use sojourn_scenario::Scenario;
use sojourn_scenario::controllers::Rates;
use sojourn_scenario::router::Router;
use sojourn_scenario::traffic::Entry;

/// Those whose router has no shaper that they could set, and their keys that are of one that is not there.
pub(super) fn idle(scenario: &Scenario) -> Vec<Warning> {
    let own = scenario.traffic.iter().filter(|(_, of)| of.app.parameters().is_of_router());
    let idle = own.flat_map(|(name, entry)| {
        let path = scenario.path_of(name, entry);
        let router = scenario.router_of(scenario.group_of(entry));
        let rates = router.map(Router::settable).unwrap_or_default();
        if rates == Rates::default() {
            return vec![without_shaper(&path)];
        }
        let controller = router.and_then(|router| router.controller.as_ref());
        let remarks = controller.map(|controller| controller.parameters().remarks(rates));
        let remarks = remarks.unwrap_or_default().under(&path).into_iter();
        remarks.map(|one| one.about_its_key()).collect()
    });
    idle.collect()
}

fn without_shaper(path: &str) -> Warning {
    let above = path.strip_suffix(".controller").unwrap_or(path);
    fault!(IdleController, path =>
        "{path} has no shaper that it could set: give {above}.upstream or {above}.downstream a rate_mbps, or CAKE with a \
         bandwidth_mbps; a capacity stays as it is")
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
