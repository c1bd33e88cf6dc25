//! Unlimited uploads, and what they get of what the service allows.

use std::collections::BTreeMap;

use super::rows::Rows;
use crate::apps::AppSpec;
use crate::packet::Direction;
use crate::scenario::Scenario;

/// An upload needs some seconds to reach its rate.
const SHORTEST_S: f64 = 10.0;
/// Why a shorter one has no grade.
pub(super) const TOO_SHORT: &str = "the upload ran for less than 10 s";

/// Names of the traffic entries that are graded as uploads: those without an end.
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
            Some((name.as_str(), scenario.group_of(entry), transfer.start_s))
        }
        _ => None,
    })
}

/// What uploads and the light traffic beside them send in each group of homes with an unlimited upload, as
/// a share of what sustained rate and burst allow from the upload's start on in percent; `None` if that
/// time is too short, or if the homes have several service flows. Other bulk traffic does not count: what it
/// takes, the upload lacks.
pub(super) fn shares_percent(scenario: &Scenario, rows: &Rows) -> Vec<Option<f64>> {
    let group_of = |name: &str| Some(scenario.group_of(scenario.traffic.get(name)?));
    let mut first_starts_s: BTreeMap<usize, f64> = BTreeMap::new();
    for (_, group, start_s) in graded(scenario) {
        let first_s = first_starts_s.entry(group).or_insert(start_s);
        *first_s = first_s.min(start_s);
    }
    let uploads: Vec<&str> = unlimited(scenario).collect();
    let is_counted = |name: &str| {
        let direction = scenario.traffic.get(name).and_then(|entry| entry.app.bulk_direction());
        direction != Some(Direction::Up) || uploads.contains(&name)
    };
    let share = |(group, start_s): (usize, f64)| {
        let ups = rows.flows.iter().filter(|row| {
            row.text("direction") == "up"
                && group_of(row.text("traffic")) == Some(group)
                && is_counted(row.text("traffic"))
        });
        let sent_mbps: f64 = ups.filter_map(|row| row.number("throughput_mbps")).sum();
        let during_s = scenario.duration_s - start_s;
        let sent_mbit = sent_mbps * scenario.duration_s;
        (during_s >= SHORTEST_S && is_one_flow(scenario, group))
            .then(|| 100.0 * sent_mbit / allowed_mbit(scenario, group, during_s))
    };
    first_starts_s.into_iter().map(share).collect()
}

/// Are there uploads whose rate the service of their homes does not tell, as that has several flows?
pub(super) fn are_beside_flows(scenario: &Scenario) -> bool {
    graded(scenario).any(|(_, group, _)| !is_one_flow(scenario, group))
}

fn is_one_flow(scenario: &Scenario, group: usize) -> bool {
    scenario.group(group).upstream.flows.is_empty()
}

/// What the homes of a group may send in that time.
fn allowed_mbit(scenario: &Scenario, group: usize, during_s: f64) -> f64 {
    let group = scenario.group(group);
    let (service, terms) = (&group.upstream, group.upstream.terms());
    let burst_mbit = terms.burst_bytes as f64 * 8.0 / 1e6;
    let each = (service.sustained_mbps * during_s + burst_mbit).min(terms.peak_mbps * during_s);
    each * f64::from(group.count)
}
