//! What is measured while bulk traffic is under way: its rates, and the round trips of others.

use std::collections::BTreeMap;

use super::{Row, Rows};
use sojourn_scenario::apps::Quality;
use sojourn_scenario::{Scenario, Span, covered_s, traffic};

/// The rate of bulk traffic of one sort while any of it was under way, in Mbps; `None` if none of it was.
pub(crate) fn rate_mbps(scenario: &Scenario, rows: &[&Row]) -> Option<f64> {
    let of_row = |row: &&Row| {
        let entry = &scenario.traffic[row.traffic()];
        let (time, length_s) = scenario.under_way(entry, row.number("under_way_s"))?;
        Some((row.number("rate_mbps")? * length_s, length_s, time))
    };
    let under_way: Vec<(f64, f64, Span)> = rows.iter().filter_map(of_row).collect();
    let mbit: f64 = under_way.iter().map(|(mbit, ..)| mbit).sum();
    let all_s: f64 = under_way.iter().map(|(_, length_s, _)| length_s).sum();
    let covered_s = covered_s(under_way.into_iter().map(|(.., time)| time).collect());
    Some(mbit / covered_s.min(all_s)).filter(|mbps| mbps.is_finite())
}

/// Mean and median in ms, by what goes in bulk.
pub(crate) type ByLoad = [[Option<f64>; 2]; 4];

/// The columns that have them.
const COLUMNS: [[&str; 2]; 4] = [
    ["rtt_idle_mean_ms", "rtt_idle_p50_ms"],
    ["rtt_down_mean_ms", "rtt_down_p50_ms"],
    ["rtt_up_mean_ms", "rtt_up_p50_ms"],
    ["rtt_both_mean_ms", "rtt_both_p50_ms"],
];

/// Those of each game and call that measures them, of both ends the greater.
pub(crate) fn round_trips(scenario: &Scenario, rows: &Rows) -> BTreeMap<(bool, String), ByLoad> {
    let two_way = scenario.traffic.iter().filter(|(_, entry)| entry.app.is_two_way());
    let of_entry = |(name, entry): (&String, &traffic::Entry)| {
        let own = || rows.flows.iter().filter(|row| row.traffic() == name);
        let greatest = |column| own().filter_map(|row| row.number(column)).reduce(f64::max);
        let is_other = entry.app.parameters().quality() != Quality::Game;
        ((is_other, name.clone()), COLUMNS.map(|columns| columns.map(greatest)))
    };
    two_way.map(of_entry).filter(|(_, all)| is_measured(all)).collect()
}

fn is_measured(all: &ByLoad) -> bool {
    all.iter().flatten().any(Option::is_some)
}
