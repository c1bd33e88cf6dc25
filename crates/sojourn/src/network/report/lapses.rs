//! Warnings of AQM algorithms that did less than they are for, or more, from what was measured.

use sojourn_access::{PlacedQueue, flow_path};
use sojourn_engine::packet::{Direction, FULL_PACKET};
use sojourn_engine::queue::Queue;
use sojourn_engine::queue::cake::MOST_MEMORY;
use sojourn_engine::record::{Lapses, Member};
use sojourn_engine::units::{BitRate, Time};
use sojourn_input::fault;
use sojourn_input::problem::{Remedy, Warning};
use sojourn_results::scores::qoe::GAME_ACCESS_MS;
use sojourn_scenario::Scenario;

use super::early_tail::{FEWEST, QUANTILE, TIMES, ms};

/// Updates of a controller of which a mean says something: 8 s of DOCSIS-PIE.
const FEWEST_UPDATES: u64 = 500;
/// A change of the delay that takes a step of DOCSIS-PIE to its limit: 2.5 / 0.5 times 4 ms are 0.02.
const LIMITED: Time = Time::from_ms(4);
/// Needless drops that are no accident.
const FEWEST_DROPS: u64 = 5;
/// Of more packets than one in so many only those are dropped that do not heed signals.
const HEEDED: u64 = 20;

/// A buffer should hold the targets of so many flows, twice, and a flow needs so many packets for its rate.
const MANY_FLOWS: u64 = 5;
const LEAST_TARGET: u64 = 5;

/// All warnings of a measured queue.
pub(super) fn warnings(
    scenario: &Scenario,
    placed: &PlacedQueue<'_>,
    lapses: &Lapses,
) -> Vec<Warning> {
    let key = key_of(scenario, placed);
    let (key, queue) = (key.as_deref(), placed.queue);
    let all = [
        rested(key, queue),
        limited_steps(scenario, placed, key, lapses),
        needless_drops(key, queue, lapses),
        crowded(key, queue),
    ];
    all.into_iter().flatten().collect()
}

/// The key of a service flow's queue, where no router stands before it.
fn key_of(scenario: &Scenario, placed: &PlacedQueue<'_>) -> Option<String> {
    let (home, way) = (placed.home?, placed.direction.stream());
    let group = scenario.group_of_home(home);
    let number = scenario.groups().position(|other| other.name == group.name)?;
    let is_plain = scenario.router(number, placed.direction).is_none()
        && (placed.direction == Direction::Up || scenario.cmts.is_none());
    let (_, flow) = placed.queue.meter()?.name().rsplit_once(way)?;
    is_plain.then(|| group.path_of(&format!("{}.queue", flow_path(way, flow.trim_start()))))
}

/// The time of a full packet at the rate of the service, where a queue has members: one of them has what the other one
/// leaves, and is slow for another reason than its line.
fn packet_time(scenario: &Scenario, placed: &PlacedQueue<'_>) -> Option<Time> {
    placed.queue.members()?;
    let terms = scenario.group_of_home(placed.home?).terms(placed.direction);
    Some(BitRate::from_mbps(terms.sustained_mbps).time_for(FULL_PACKET))
}

/// A table of the queue; empty where it is not known.
fn path_of(queue: Option<&str>, table: &str) -> String {
    queue.map_or_else(String::new, |queue| format!("{queue}.{table}"))
}

/// An algorithm that rests until a third of the buffer is full, in a larger one than usual: a tail of what gathered until
/// then.
fn rested(key: Option<&str>, queue: &Queue) -> Option<Warning> {
    let meter = queue.meter()?;
    let (rest, classic) = (meter.rest(), meter.sojourn_of(Member::Classic));
    let sojourn = classic.unwrap_or_else(|| meter.sojourn());
    let others = sojourn.since(meter.at_rest()?);
    let whole = sojourn.quantile_ms(QUANTILE).filter(|_| sojourn.count() >= FEWEST)?;
    let later = others.quantile_ms(QUANTILE).unwrap_or_default().max(rest.target.ms_f64());
    let limit = if classic.is_some() { "scheduler.classic_buffer_bytes" } else { "limit_bytes" };
    let usual_bytes = rest.usual_bytes;
    let remedy =
        key.map(|key| Remedy::of(format!("{key}.{limit}"), usual_bytes)).unwrap_or_default();
    let is_tail = whole >= TIMES * later && whole - later >= GAME_ACCESS_MS;
    (rest.buffer_bytes > usual_bytes && is_tail).then(|| {
        let (in_all, without) = (ms(whole), ms(later));
        fault!(AqmRested, key.unwrap_or_default(), remedy =>
            "{queue}: its AQM algorithm rests until a third of the buffer is full, {third_bytes} bytes, and that made the \
             tail: p99 is {in_all}, and {without} without packets that waited for what gathered meanwhile; with the usual \
             buffer of {usual_bytes} bytes ({limit}), 250 ms at its rate, it acts earlier",
            queue = meter.name(), third_bytes = rest.buffer_bytes / 3, usual_bytes, limit)
        .with("whole_ms", whole)
        .with("rest_ms", later)
    })
}

/// DOCSIS-PIE, whose steps upward are limited, and not those downward: where two packets take a step to its limit, the
/// noise alone keeps its probability down.
fn limited_steps(
    scenario: &Scenario,
    placed: &PlacedQueue<'_>,
    key: Option<&str>,
    lapses: &Lapses,
) -> Option<Warning> {
    let queue = placed.queue;
    let meter = queue.meter()?;
    let rest = meter.rest();
    let packet = packet_time(scenario, placed).unwrap_or(rest.packet);
    let (target_ms, packet_ms) = (rest.target.ms_f64(), packet.ms_f64());
    let mean_ms = |sum_s: f64| 1e3 * sum_s / lapses.updates as f64;
    let (excess_ms, unanswered_ms) = (mean_ms(lapses.excess_s), mean_ms(lapses.unanswered_s));
    let is_held = lapses.updates >= FEWEST_UPDATES
        && packet.times(2) >= LIMITED
        && excess_ms >= target_ms
        && unanswered_ms >= excess_ms / 2.0;
    is_held.then(|| {
        let own = key.filter(|_| queue.members().is_none());
        let remedy = own.map(|key| Remedy::of_kind(format!("{key}.law"), "pi2")).unwrap_or_default();
        let remedy = scenario.accepted(remedy);
        let held_ms = target_ms + excess_ms;
        let other = match remedy.is_empty() {
            true => "",
            false => "; the algorithm pi2 holds less at this rate, and drops more (law.kind)",
        };
        fault!(LimitedSteps, path_of(key, "law"), remedy =>
            "{queue}: DOCSIS-PIE holds {held_ms:.0} ms on average, and its target is {target_ms} ms: RFC 8034 limits what a \
             step adds to its probability, and not what one takes off, so noise keeps it low where a packet takes \
             {packet_ms:.1} ms{other}",
            queue = meter.name(), held_ms, target_ms, packet_ms)
    })
}

/// BLUE of CAKE that an overflow has armed and that never comes to rest, as a lone flow's queue is not seen empty.
fn needless_drops(key: Option<&str>, queue: &Queue, lapses: &Lapses) -> Option<Warning> {
    let (meter, counts, drops) = (queue.meter()?, queue.counts().counted, lapses.needless_drops);
    let signals = counts.dropped_aqm + counts.marked;
    let governs = drops >= FEWEST_DROPS && 2 * drops > signals;
    let remedy = key.into_iter().fold(Remedy::default(), |remedy, key| {
        let limits = queue.limits_below(MOST_MEMORY);
        limits.fold(remedy, |all, (limit, least)| all.and(format!("{key}.{limit}"), least))
    });
    (governs && HEEDED * drops <= meter.sojourn().count()).then(|| {
        fault!(NeedlessDrops, path_of(key, "scheduler"), remedy =>
            "{queue}: BLUE of CAKE dropped {drops} packets that had waited no longer than the target: an overflow raised its \
             probability, which falls only when a flow's queue is found empty while others wait; Linux has room for \
             {linux_bytes} bytes, which a flow that heeds signals does not fill",
            queue = meter.name(), drops, linux_bytes = MOST_MEMORY)
    })
}

/// SFB whose buffer is full before its flows have so many packets waiting as it signals from.
fn crowded(key: Option<&str>, queue: &Queue) -> Option<Warning> {
    let (meter, counts, target) = (queue.meter()?, queue.counts().counted, queue.flow_target()?);
    let (overflows, signals) = (counts.dropped_overflow, counts.dropped_aqm + counts.marked);
    let buffer_bytes = queue.buffer_bytes();
    let less = (buffer_bytes / FULL_PACKET / (2 * MANY_FLOWS)).max(LEAST_TARGET);
    let path = path_of(key, "scheduler.target_packets");
    let remedy = key.filter(|_| less < target).map(|key| {
        Remedy::of(&path, less).and(format!("{key}.scheduler.max_packets"), less + less / 4 + 1)
    });
    let remedy = remedy.unwrap_or_default();
    (overflows >= FEWEST_DROPS && overflows > signals).then(|| {
        let set = if remedy.is_empty() { String::new() } else { format!("; set {remedy}") };
        fault!(TargetBeyondBuffer, path, remedy =>
            "{queue}: {overflows} packets found the buffer of {buffer_bytes} bytes full, and SFB signalled {signals} times \
             early: it does so only where a flow has {target} packets waiting{set}",
            queue = meter.name(), overflows, buffer_bytes, signals, target)
    })
}
