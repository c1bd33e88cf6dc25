//! What a reader must know of queues and their managers: which did nothing, and which moved or starve packets. In clauses.

use crate::metrics::{Row, Rows};
use crate::words::{around, digits, distinct, grouped};
use sojourn_engine::packet::Direction;
use sojourn_engine::record::Member;
use sojourn_scenario::Scenario;

/// The name of a law, its target in ms, and whether packets found its queue full.
type Law<'a> = (&'a str, f64, bool);

/// Why algorithms did nothing, in a clause for each, if none of a run dropped or marked a packet, those of neighbours
/// included: by the queue in which packets waited longest.
pub(crate) fn idle_laws(scenario: &Scenario, rows: &Rows) -> Vec<String> {
    let is_of_access = |row: &&Row| !row.text("queue").split(' ').any(|word| word == "router");
    let queues = rows.queues.iter().filter(|row| row.text("member").is_empty());
    let laws = queues.filter(is_of_access).filter_map(|row| {
        let law = scenario.law(row.homes()?, row.direction()?)?;
        let acts = row.number("dropped_aqm_packets")? + row.number("marked_packets")?;
        let is_full = row.number("dropped_overflow_packets") > Some(0.0);
        let (p99_ms, target_ms) = (row.number("sojourn_p99_ms")?, law.parameters().target_ms()?);
        Some((acts, row, ((law.name(), target_ms, is_full), (p99_ms, row.text("queue")))))
    });
    let laws: Vec<_> = laws.collect();
    let judged = scenario.metrics.homes.as_deref();
    let is_told = |row: &Row| judged.is_none_or(|homes| row.homes() == Some(homes));
    let told = laws.iter().filter(|(_, row, _)| is_told(row)).map(|(.., law)| *law);
    let clause = |(law, waits): (Law<'_>, Vec<(f64, &str)>)| {
        let (name, target_ms, is_full) = law;
        let (p99_ms, queue) = waits.into_iter().max_by(|one, other| one.0.total_cmp(&other.0))?;
        let but = if p99_ms > target_ms { "though" } else { "and" };
        let [p99, target] = [p99_ms, target_ms].map(digits);
        let found = if is_full { ", and packets found the queue full" } else { "" };
        Some(format!(
            "{name} dropped nothing{found}: in {queue}, its longest queue, 99 % of packets wait at most {p99} ms, {but} its \
             target is {target} ms."
        ))
    };
    let has_acted = laws.iter().any(|(acts, ..)| *acts > 0.0);
    grouped(told.filter(|_| !has_acted)).into_iter().filter_map(clause).collect()
}

/// The directions whose low-latency queues carried nothing, each in a clause.
pub(crate) fn empty_queues(rows: &Rows) -> Vec<String> {
    let is_empty = |way: &Direction| {
        let is_its = |row: &&Row| {
            row.text("member") == Member::LowLatency.name() && row.direction() == Some(*way)
        };
        let carried = |row: &Row| row.number("departed_packets") != Some(0.0);
        let mut own = rows.queues.iter().filter(is_its).peekable();
        own.peek().is_some() && !own.any(carried)
    };
    let said = |way: Direction| {
        format!(
            "the {} low-latency queue carried nothing: all packets took the classic queue.",
            way.stream()
        )
    };
    Direction::BOTH.into_iter().filter(is_empty).map(said).collect()
}

/// The entries whose packets left the low-latency queue for the other one, in a clause.
pub(crate) fn sanctioned(rows: &Rows) -> Option<String> {
    let is_moved = |row: &&Row| row.number("sanctioned_packets") > Some(0.0);
    let moved = rows.flows.iter().filter(is_moved).map(|row| row.traffic().to_owned());
    around(distinct(moved), |them| {
        format!(
            "queue protection moved packets of {them} to the classic queue, since they fill the low-latency one."
        )
    })
}
