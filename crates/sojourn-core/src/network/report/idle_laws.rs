//! Warnings of AQM algorithms that never acted where they had reason to.

use crate::metrics::rows::QueueRow;
use crate::packet::Direction;
use crate::scenario::Scenario;

/// A sentence for each queue whose algorithm dropped and marked nothing, though the queue overflowed or half
/// of its packets waited longer than the target.
pub(super) fn warnings(scenario: &Scenario, queues: &[QueueRow]) -> Vec<String> {
    queues.iter().filter_map(|row| warning(scenario, row)).collect()
}

fn warning(scenario: &Scenario, row: &QueueRow) -> Option<String> {
    let direction = Direction::BOTH.into_iter().find(|way| way.name() == row.direction)?;
    let group = scenario.groups().find(|group| row.homes.as_deref() == Some(group.name))?;
    let (queue, buffer_bytes) = scenario.only_queue(&group, direction)?;
    let (name, target_ms) = (queue.law.name()?, queue.law.target_ms()?);
    if row.member.is_some() || row.dropped_aqm_packets + row.marked_packets > 0 {
        return None;
    }
    let (overflows, median_ms) = (row.dropped_overflow_packets, row.sojourn_p50_ms?);
    let what = match (overflows, median_ms > target_ms) {
        (0, false) => return None,
        (0, true) => format!("half of the packets waited over {median_ms:.0} ms"),
        (_, _) => format!("{overflows} packets found the queue full"),
    };
    let why = queue.law.obstacle(buffer_bytes).map_or(String::new(), |why| format!("; {why}"));
    Some(format!(
        "{}: {name} dropped and marked nothing, with a target of {target_ms} ms, while {what}{why}",
        row.queue
    ))
}
