//! Warnings of AQM algorithms that never acted where they had reason to.

use crate::access::PlacedQueue;
use crate::scenario::Scenario;

/// A sentence for each queue whose algorithm dropped and marked nothing, though the queue overflowed or half
/// of its packets waited longer than the target.
pub(super) fn warnings(scenario: &Scenario, queues: &[PlacedQueue<'_>]) -> Vec<String> {
    queues.iter().filter_map(|placed| warning(scenario, placed)).collect()
}

fn warning(scenario: &Scenario, placed: &PlacedQueue<'_>) -> Option<String> {
    let PlacedQueue { queue, direction, home } = placed;
    let (meter, counts) = (queue.meter()?, queue.counts());
    if counts.dropped_aqm + counts.marked > 0 {
        return None;
    }
    let law = scenario.only_law(scenario.group_of_home((*home)?).name, *direction)?;
    let (name, target_ms) = (law.name()?, law.target_ms()?);
    let median_ms = meter.sojourn().quantile_ms(0.5)?;
    let what = match (counts.dropped_overflow, median_ms > target_ms) {
        (0, false) => return None,
        (0, true) => format!("half of the packets waited over {median_ms:.0} ms"),
        (overflows, _) => format!("{overflows} packets found the queue full"),
    };
    let why = law.obstacle(queue.buffer_bytes()).map_or(String::new(), |why| format!("; {why}"));
    Some(format!(
        "{}: {name} dropped and marked nothing, with a target of {target_ms} ms, while {what}{why}",
        meter.name()
    ))
}
