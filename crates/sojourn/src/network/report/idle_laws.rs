//! Warnings of AQM algorithms that never acted where they had reason to, or did not do what they are for.

use super::lapses;
use sojourn_access::PlacedQueue;
use sojourn_engine::aqm::Buffer;
use sojourn_engine::packet::Direction;
use sojourn_engine::record::Lapses;
use sojourn_engine::units::BitRate;
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

/// May traffic of a group of homes make a queue that an algorithm could shorten? Games and calls wait for grants alone.
fn fills(scenario: &Scenario, homes: &str, direction: Direction) -> bool {
    let own = scenario
        .traffic
        .values()
        .filter(|entry| scenario.group(scenario.group_of(entry)).name == homes);
    own.map(|entry| &entry.app).any(|app| {
        let is_answer = direction == Direction::Down && app.parameters().tcp().is_some();
        let sends_frames = app.parameters().sends_frames() && app.watches(direction);
        app.loads(direction) || is_answer || sends_frames
    })
}

/// A sentence for a queue whose algorithm dropped and marked nothing, though the queue overflowed or half
/// of its packets waited longer than the target.
fn warning(scenario: &Scenario, placed: &PlacedQueue<'_>) -> Option<Warning> {
    let PlacedQueue { queue, direction, home } = placed;
    let (meter, counts) = (queue.meter()?, queue.counts().all);
    if counts.dropped_aqm + counts.marked > 0 {
        return None;
    }
    let group = scenario.group_of_home((*home)?);
    let law = scenario.only_law(group.name, *direction)?;
    // A transmit queue behind the managed one has no algorithm.
    let name_of = |part: &str| meter.name().split(' ').any(|word| word == part);
    if name_of("transmit") && !name_of(direction.stream()) {
        return None;
    }
    let (name, target_ms) = (law.name(), law.parameters().target_ms()?);
    let median_ms = meter.sojourn().quantile_ms(0.5)?;
    let mut what = match (counts.dropped_overflow, median_ms > target_ms) {
        (0, false) => return None,
        (0, true) => format!("half of the packets waited over {median_ms:.0} ms"),
        (overflows, _) => format!("{overflows} packets found the queue full"),
    };
    if counts.dropped_overflow == 0 && !fills(scenario, group.name, *direction) {
        return None;
    }
    let (bytes, rate) =
        (queue.buffer_bytes(), BitRate::from_mbps(group.terms(*direction).sustained_mbps));
    let limits = [&group.upstream.queue, &group.downstream.queue][*direction as usize];
    let in_packets = limits.limit_packets.is_some();
    let third_ms = bytes as f64 / 3.0 * 8e3 / rate.bps() as f64;
    let is_low = counts.dropped_overflow == 0 && meter.sojourn().max_ms()? < third_ms;
    let obstacle = law.parameters().obstacle(Buffer { bytes, is_low, rate, in_packets });
    let (why, remedy) = obstacle.unwrap_or_default();
    let path = |key: &str| group.path_of(&format!("{}.queue.{key}", direction.stream()));
    let remedy = scenario.accepted(remedy.with_keys(&path));
    for (joint, one) in [("; ", why), ("; set ", remedy.to_string())] {
        what += &if one.is_empty() { String::new() } else { format!("{joint}{one}") };
    }
    let whose = match scenario.homes.len() {
        0 | 1 => String::new(),
        _ => format!(" of a home of homes.{}", group.name),
    };
    Some(fault!(AqmNeverActed, path("law"), remedy =>
        "{queue}{whose}: {name} dropped and marked nothing, with a target of {target_ms} ms, while {what}",
        queue = meter.name(), whose, name, target_ms))
}
