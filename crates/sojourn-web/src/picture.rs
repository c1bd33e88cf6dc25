//! The moving picture of the queue: what happens at the modem in a second of the run.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sojourn::engine::record::{ModemEvent, ModemEventKind};
use sojourn::results::metrics::Results;
use sojourn::scenario::Scenario;

use crate::columns::Blob;

/// Length of a picture in s, unless it has too many events.
const SHOWN_S: f64 = 1.0;
/// The most events of a picture.
const MOST_EVENTS: usize = 20_000;
/// How far runs are traced: bytes that a modem can have sent. Memory grows with them.
const MOST_TRACED_BYTES: f64 = 250e6;

/// The latest start of a picture, in s.
pub(crate) fn latest_s(scenario: &Scenario) -> f64 {
    let traced_s = MOST_TRACED_BYTES * 8e-6 / scenario.upstream.terms().peak_mbps;
    (scenario.duration_s.min(traced_s) - SHOWN_S).max(0.0)
}

/// The packets that wait at `from_s`, and the events from there on.
///
/// Times are in ms from `from_s`; `traffic` is the number of an entry, -1 for none.
pub(crate) fn picture(
    results: &Results,
    scenario: &Scenario,
    from_s: f64,
    blob: &mut Blob,
) -> Value {
    let start = results.modem_events.partition_point(|event| event.at.secs_f64() < from_s);
    let (before, after) = results.modem_events.split_at(start);
    let within = &after[..after.len().min(MOST_EVENTS)];
    let is_all = within.len() == after.len();
    let to_s = match within.last() {
        Some(last) if !is_all => last.at.secs_f64(),
        _ => results.duration_s,
    };
    let tokens = before.last().or(within.first()).map_or(0.0, |event| event.tokens);
    let waiting = waiting(before);
    let sending: Vec<_> = sending(before).into_iter().collect();
    json!({
        "from_s": from_s,
        "to_s": to_s,
        "traffic": results.traffic,
        "is_fifo": is_fifo(scenario),
        "tokens": tokens,
        "waiting": packets(&waiting, blob),
        "sending": packets(&sending, blob),
        "events": events(within, from_s, blob),
    })
}

/// Has the primary upstream service flow one queue? Then the picture needs no lanes.
fn is_fifo(scenario: &Scenario) -> bool {
    serde_json::to_value(&scenario.upstream.queue.scheduler)
        .is_ok_and(|scheduler| scheduler["kind"] == "fifo")
}

/// The packets that arrived and have not left, in order of arrival.
fn waiting(before: &[ModemEvent]) -> Vec<&ModemEvent> {
    let mut there = BTreeMap::new();
    for (place, event) in before.iter().enumerate() {
        match event.kind {
            ModemEventKind::Arrive => {
                there.insert(event.packet, place);
            }
            ModemEventKind::Dequeue | ModemEventKind::Drop(_) => {
                there.remove(&event.packet);
            }
            _ => {}
        }
    }
    let mut places: Vec<_> = there.into_values().collect();
    places.sort_unstable();
    places.into_iter().map(|place| &before[place]).collect()
}

/// The packet in transmission, if there is one.
fn sending(before: &[ModemEvent]) -> Option<&ModemEvent> {
    let last = |kind| before.iter().rev().find(|event| event.kind == kind);
    let taken = last(ModemEventKind::Dequeue)?;
    let sent = last(ModemEventKind::Sent).map(|event| event.packet);
    (sent != Some(taken.packet)).then_some(taken)
}

fn packets(of: &[&ModemEvent], blob: &mut Blob) -> Value {
    json!({
        "packet": blob.column(of.iter().map(|event| packet(event))),
        "traffic": blob.column(of.iter().map(|event| traffic(event))),
        "bytes": blob.column(of.iter().map(|event| event.bytes as f64)),
    })
}

fn events(of: &[ModemEvent], from_s: f64, blob: &mut Blob) -> Value {
    json!({
        "ms": blob.column(of.iter().map(|event| (event.at.secs_f64() - from_s) * 1e3)),
        "kind": blob.texts(of.iter().map(|event| Some(event.kind.name()))),
        "tokens": blob.column(of.iter().map(|event| event.tokens)),
        "packet": blob.column(of.iter().map(packet)),
        "traffic": blob.column(of.iter().map(traffic)),
        "bytes": blob.column(of.iter().map(|event| event.bytes as f64)),
    })
}

fn packet(event: &ModemEvent) -> f64 {
    event.packet.map_or(-1.0, |packet| packet as f64)
}

fn traffic(event: &ModemEvent) -> f64 {
    event.traffic.map_or(-1.0, f64::from)
}
