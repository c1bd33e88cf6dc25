//! A warning where a burst carries much of what a run counts: its rates are then those of the beginning.

use super::super::Simulation;
use sojourn_access::{Group, Terms};
use sojourn_engine::packet::Direction;
use sojourn_input::fault;
use sojourn_input::problem::{Remedy, Warning};

/// A mean rate so many times the sustained one is that of a burst.
const TIMES: f64 = 1.1;
/// What is left to count should last so long, in s.
const COUNTED_S: f64 = 10.0;

/// All warnings.
pub(super) fn warnings(run: &Simulation) -> Vec<Warning> {
    let groups = run.scenario.groups().enumerate();
    let ways = groups.flat_map(|group| Direction::BOTH.map(|way| (group, way)));
    ways.filter_map(|((number, group), way)| of_way(run, number, &group, way)).collect()
}

fn of_way(run: &Simulation, number: usize, group: &Group<'_>, way: Direction) -> Option<Warning> {
    let scenario = &run.scenario;
    let Terms { sustained_mbps, peak_mbps, burst_bytes, .. } = group.terms(way);
    let entries = scenario.traffic.values().enumerate();
    let delivered = entries
        .filter(|(_, entry)| scenario.group_of(entry) == number)
        .map(|(index, _)| run.ledger.account(index, way).delivered.bytes);
    let counted_s = scenario.counted_s();
    let mbps = delivered.sum::<u64>() as f64 * 8e-6 / f64::from(group.count) / counted_s;
    if !group.has_one_flow(way) || mbps <= TIMES * sustained_mbps {
        return None;
    }
    let first_s = scenario.bulk_from_s().min(scenario.duration_s);
    let lasts_s = burst_bytes as f64 * 8e-6 / (peak_mbps - sustained_mbps);
    let from_s = (first_s.max(scenario.metrics.from_s) + lasts_s).ceil();
    let mut remedy = Remedy::of("metrics.from_s", from_s);
    if scenario.duration_s < from_s + COUNTED_S {
        remedy = remedy.and("duration_s", from_s + COUNTED_S);
    }
    let key = format!("{}.burst_bytes", way.stream());
    let most_mbit = (burst_bytes as f64 * 8e-6).min((peak_mbps - sustained_mbps) * counted_s);
    let percent = 100.0 * most_mbit / (most_mbit + sustained_mbps * counted_s);
    Some(group.own(fault!(BurstCarried, &key, remedy =>
        "{key} = {burst_bytes} carries up to {percent:.0} % of what is counted in {counted_s} s: rates and delays are \
         those of a beginning at up to {peak_mbps} Mbps, not of the {sustained_mbps} Mbps that follow; {remedy} \
         leaves it out")))
}
