//! Unlimited uploads, and what they get of what the service allows.

use std::collections::BTreeMap;

use super::rows::Rows;
use crate::apps::AppSpec;
use crate::packet::Direction;
use crate::scenario::Scenario;

/// An upload needs some seconds to reach its rate.
const SHORTEST_S: f64 = 10.0;

/// Names of the traffic entries that are graded as uploads: those without an end, in homes whose
/// upstream is one service flow.
pub(super) fn unlimited(scenario: &Scenario) -> impl Iterator<Item = &str> {
    graded(scenario).map(|(name, ..)| name)
}

/// The same, with the group of each one's homes and its start in s.
fn graded(scenario: &Scenario) -> impl Iterator<Item = (&str, usize, f64)> {
    scenario.traffic.iter().filter_map(|(name, entry)| match &entry.app {
        AppSpec::Transfer(transfer)
            if transfer.direction == Direction::Up
                && transfer.file_bytes.is_none()
                && transfer.stop_s.is_none() =>
        {
            let group = scenario.group_of(entry);
            let is_one_flow = scenario.group(group).upstream.flows.is_empty();
            is_one_flow.then_some((name.as_str(), group, transfer.start_s))
        }
        _ => None,
    })
}

/// The upstream throughput of each group of homes with an unlimited upload, as a share of what sustained
/// rate and burst allow from the upload's start on in percent; `None` if that time is too short.
pub(super) fn shares_percent(scenario: &Scenario, rows: &Rows) -> Vec<Option<f64>> {
    let group_of = |name: &str| Some(scenario.group_of(scenario.traffic.get(name)?));
    let mut first_starts_s: BTreeMap<usize, f64> = BTreeMap::new();
    for (_, group, start_s) in graded(scenario) {
        let first_s = first_starts_s.entry(group).or_insert(start_s);
        *first_s = first_s.min(start_s);
    }
    let share = |(group, start_s): (usize, f64)| {
        let ups = rows.flows.iter().filter(|row| {
            row.text("direction") == "up" && group_of(row.text("traffic")) == Some(group)
        });
        let sent_mbps: f64 = ups.filter_map(|row| row.number("throughput_mbps")).sum();
        let during_s = scenario.duration_s - start_s;
        let sent_mbit = sent_mbps * scenario.duration_s;
        (during_s >= SHORTEST_S)
            .then(|| 100.0 * sent_mbit / allowed_mbit(scenario, group, during_s))
    };
    first_starts_s.into_iter().map(share).collect()
}

/// What the homes of a group may send in that time.
fn allowed_mbit(scenario: &Scenario, group: usize, during_s: f64) -> f64 {
    let group = scenario.group(group);
    let (service, terms) = (&group.upstream, group.upstream.terms());
    let burst_mbit = terms.burst_bytes as f64 * 8.0 / 1e6;
    let each = (service.sustained_mbps * during_s + burst_mbit).min(terms.peak_mbps * during_s);
    each * f64::from(group.count)
}
