//! Unlimited transfers, and what they get of what the service allows.

use std::collections::{BTreeMap, BTreeSet};

use super::rows::Rows;
use sojourn_access::Terms;
use sojourn_engine::packet::Direction;
use sojourn_scenario::Scenario;
use sojourn_scenario::apps::AppSpec;
use sojourn_scenario::apps::transfer::Parameters as Transfer;

/// A transfer needs some seconds to reach its rate.
pub(super) const SHORTEST_S: f64 = 10.0;

/// Transfers that get less than this share of what is allowed are starved.
const STARVED: f64 = 0.1;

/// Names of the traffic entries that are graded as transfers in a direction: those without an end.
pub(super) fn unlimited(
    scenario: &Scenario,
    direction: Direction,
) -> impl Iterator<Item = (&str, usize, &Transfer)> {
    scenario.traffic.iter().filter_map(move |(name, entry)| match &entry.app {
        AppSpec::Transfer(transfer)
            if transfer.direction == direction
                && transfer.file_bytes.is_none()
                && transfer.stop_s.is_none() =>
        {
            Some((name.as_str(), scenario.group_of(entry), transfer))
        }
        _ => None,
    })
}

/// What such transfers and the light traffic beside them get in each group of homes that has one, as a
/// share of what sustained rate and burst allow from the transfer's start on, or from `metrics.from_s` on, in
/// percent; `None` if that time is too short, or if the homes have several service flows. Other bulk traffic
/// does not count: what it takes, the transfer lacks.
pub(super) fn shares_percent(
    scenario: &Scenario,
    rows: &Rows,
    direction: Direction,
) -> Vec<Option<f64>> {
    let group_of = |name: &str| Some(scenario.group_of(scenario.traffic.get(name)?));
    let mut first_starts_s: BTreeMap<usize, f64> = BTreeMap::new();
    for (_, group, transfer) in unlimited(scenario, direction) {
        let first_s = first_starts_s.entry(group).or_insert(transfer.start_s);
        *first_s = first_s.min(transfer.start_s);
    }
    let graded: Vec<&str> = unlimited(scenario, direction).map(|(name, ..)| name).collect();
    let is_counted = |name: &str| {
        let entry = scenario.traffic.get(name);
        entry.is_none_or(|entry| !entry.app.loads(direction)) || graded.contains(&name)
    };
    let share = |(group, start_s): (usize, f64)| {
        let mbps = |is_meant: &dyn Fn(&str) -> bool| -> f64 {
            let those = rows.flows.iter().filter(|row| {
                row.direction() == Some(direction)
                    && group_of(row.traffic()) == Some(group)
                    && is_meant(row.traffic())
            });
            those.filter_map(|row| row.number("throughput_mbps")).sum()
        };
        let until = |end_s: f64| (end_s - start_s).max(0.0);
        let [before_s, whole_s] = [scenario.metrics.from_s, scenario.duration_s].map(until);
        let allowed = |during_s| allowed_mbit(scenario, group, direction, during_s);
        let allowed_mbit = allowed(whole_s) - allowed(before_s);
        let of_transfers = mbps(&|name| graded.contains(&name)) * scenario.counted_s();
        // Of light traffic counts what goes beside them, if it is as much all the time.
        let light =
            (mbps(&is_counted) - mbps(&|name| graded.contains(&name))) * (whole_s - before_s);
        let shares = [of_transfers, of_transfers + light].map(|mbit| mbit / allowed_mbit);
        // Light traffic that leaves them next to nothing is no excuse.
        let got = if shares[0] < STARVED { shares[0] } else { shares[1].min(1.0) };
        (whole_s - before_s >= SHORTEST_S && is_one_flow(scenario, group, direction))
            .then_some(100.0 * got)
    };
    first_starts_s.into_iter().map(share).collect()
}

/// Are there transfers whose rate the service of their homes does not tell, as that has several flows?
pub(super) fn are_beside_flows(scenario: &Scenario, direction: Direction) -> bool {
    unlimited(scenario, direction).any(|(_, group, _)| !is_one_flow(scenario, group, direction))
}

fn is_one_flow(scenario: &Scenario, group: usize, direction: Direction) -> bool {
    let group = scenario.group(group);
    match direction {
        Direction::Up => group.upstream.flows.is_empty(),
        Direction::Down => group.downstream.flows.is_empty(),
    }
}

/// What the homes of a group may send or get in that time: no more than the links of the core and of the servers
/// carry.
fn allowed_mbit(scenario: &Scenario, group: usize, direction: Direction, during_s: f64) -> f64 {
    let of_transfers = unlimited(scenario, direction).filter(|(_, of, _)| *of == group);
    let servers: BTreeSet<&str> =
        of_transfers.map(|(_, _, transfer)| transfer.server.as_str()).collect();
    let rates = servers.into_iter().filter_map(|name| scenario.servers.get(name));
    let servers_mbps: f64 = rates.map(|server| server.rate_mbps).sum();
    let core = scenario.core.values().filter_map(|both| both.of(direction));
    let links_mbps =
        core.map(|link| link.mean_rate().bps() as f64 / 1e6).fold(servers_mbps, f64::min);
    let group = scenario.group(group);
    let Terms { sustained_mbps, peak_mbps, burst_bytes, .. } = group.terms(direction);
    let burst_mbit = burst_bytes as f64 * 8.0 / 1e6;
    let each = (sustained_mbps * during_s + burst_mbit).min(peak_mbps * during_s);
    (each * f64::from(group.count)).min(links_mbps * during_s)
}
