//! Unlimited uploads, and what they get of what the service allows.

use super::rows::Rows;
use crate::apps::AppSpec;
use crate::packet::Direction;
use crate::scenario::Scenario;

/// An upload needs some seconds to reach its rate.
const SHORTEST_S: f64 = 10.0;

/// Names of the traffic entries that are graded as uploads: those without an end, in homes whose
/// upstream is one service flow.
pub(super) fn unlimited(scenario: &Scenario) -> Vec<&str> {
    let is_graded = |entry: &&crate::scenario::traffic::Entry| match &entry.app {
        AppSpec::Transfer(transfer) => {
            transfer.direction == Direction::Up
                && transfer.file_bytes.is_none()
                && transfer.stop_s.is_none()
                && allowed_mbps(scenario, scenario.group_of(entry)).is_some()
        }
        _ => false,
    };
    let graded = scenario.traffic.iter().filter(|(_, entry)| is_graded(entry));
    graded.map(|(name, _)| name.as_str()).collect()
}

/// The upstream throughput of each group of homes with an unlimited upload, as a share of what sustained
/// rate and burst allow in percent; `None` in a run that is too short.
pub(super) fn shares_percent(scenario: &Scenario, rows: &Rows) -> Vec<Option<f64>> {
    let group_of = |name: &str| Some(scenario.group_of(scenario.traffic.get(name)?));
    let mut groups: Vec<usize> = unlimited(scenario).into_iter().filter_map(group_of).collect();
    groups.sort_unstable();
    groups.dedup();
    let share = |group: usize| {
        let ups = rows.flows.iter().filter(|row| {
            row.text("direction") == "up" && group_of(row.text("traffic")) == Some(group)
        });
        let sent_mbps: f64 = ups.filter_map(|row| row.number("throughput_mbps")).sum();
        let allowed_mbps = allowed_mbps(scenario, group)?;
        (scenario.duration_s >= SHORTEST_S).then(|| 100.0 * sent_mbps / allowed_mbps)
    };
    groups.into_iter().map(share).collect()
}

fn allowed_mbps(scenario: &Scenario, group: usize) -> Option<f64> {
    let group = scenario.group(group);
    let service = group.upstream;
    let burst_mbps = service.terms().burst_bytes as f64 * 8.0 / 1e6 / scenario.duration_s;
    let each = (service.sustained_mbps + burst_mbps).min(service.terms().peak_mbps);
    service.flows.is_empty().then(|| each * f64::from(group.count))
}
