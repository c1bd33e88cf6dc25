//! Warnings of AQM algorithms that never acted where they had reason to, or did not do what they are for.

use super::lapses;
use sojourn_access::PlacedQueue;
use sojourn_engine::packet::Direction;
use sojourn_engine::record::Lapses;
use sojourn_input::fault;
use sojourn_input::problem::Warning;
use sojourn_scenario::Scenario;

/// All warnings of the measured queues, whose algorithms note this of themselves.
pub(super) fn warnings(
    scenario: &Scenario,
    queues: &[PlacedQueue<'_>],
    lapses: &[Lapses],
) -> Vec<Warning> {
    let is_judged =
        |placed: &PlacedQueue<'_>| placed.home.is_none_or(|home| scenario.is_judged_home(home));
    let judged = queues.iter().zip(lapses).filter(|(placed, _)| is_judged(placed));
    let warnings = judged.flat_map(|(placed, lapses)| {
        let idle = warning(scenario, placed);
        idle.map_or_else(|| lapses::warnings(scenario, placed, lapses), |idle| vec![idle])
    });
    warnings.collect()
}

/// How long a third of the buffer takes at the service's sustained rate, in ms.
fn third_ms(scenario: &Scenario, home: usize, direction: Direction, buffer_bytes: u64) -> f64 {
    let terms = scenario.group_of_home(home).terms(direction);
    buffer_bytes as f64 / 3.0 * 8.0 / (terms.sustained_mbps * 1e3)
}

/// A sentence for a queue whose algorithm dropped and marked nothing, though the queue overflowed or half
/// of its packets waited longer than the target.
fn warning(scenario: &Scenario, placed: &PlacedQueue<'_>) -> Option<Warning> {
    let PlacedQueue { queue, direction, home } = placed;
    let (meter, counts) = (queue.meter()?, queue.counts().all);
    if counts.dropped_aqm + counts.marked > 0 {
        return None;
    }
    let law = scenario.only_law(scenario.group_of_home((*home)?).name, *direction)?;
    // A transmit queue behind the managed one has no algorithm.
    let name_of = |part: &str| meter.name().split(' ').any(|word| word == part);
    if name_of("transmit") && !name_of(direction.stream()) {
        return None;
    }
    let (name, target_ms) = (law.name(), law.parameters().target_ms()?);
    let median_ms = meter.sojourn().quantile_ms(0.5)?;
    let what = match (counts.dropped_overflow, median_ms > target_ms) {
        (0, false) => return None,
        (0, true) => format!("half of the packets waited over {median_ms:.0} ms"),
        (overflows, _) => format!("{overflows} packets found the queue full"),
    };
    let buffer_bytes = queue.buffer_bytes();
    let third_ms = third_ms(scenario, (*home)?, *direction, buffer_bytes);
    let is_low = counts.dropped_overflow == 0 && meter.sojourn().max_ms()? < third_ms;
    let why = law
        .parameters()
        .obstacle(buffer_bytes, is_low)
        .map_or(String::new(), |why| format!("; {why}"));
    let path = format!("{}.queue.law", direction.stream());
    Some(fault!(AqmNeverActed, scenario.group_of_home((*home)?).path_of(&path) =>
        "{queue}: {name} dropped and marked nothing, with a target of {target_ms} ms, while {what}{why}",
        queue = meter.name(), name, target_ms))
}
