//! Logs of measured lines.

use serde_json::{Value, json};
use sojourn::input::problem::Problem;
use sojourn::logs::{Log, Way, read};
use sojourn::results::measured::measured;

/// From when to when a load ran, in s after the first probe; `None` where the user does not say it.
type Span = Option<(f64, f64)>;

/// The answer on a log, and its round trips and rates for figures: times in s after the first probe.
pub(crate) fn answer(
    name: &str,
    content: &[u8],
    down_s: Span,
    up_s: Span,
) -> Result<Value, Problem> {
    let mut log = read(name, content)?;
    if down_s.is_some() || up_s.is_some() {
        log = log.with_loads(down_s.as_slice(), up_s.as_slice());
    }
    let found = measured(&log).map_err(|fault| fault.of(name))?;
    let start_ms = log.start_ms();
    let [down, up] = log.ways.each_ref().map(|way| rates(way, start_ms));
    Ok(
        json!({ "measured": found, "has_loads": log.has_loads || log.summary.is_some(), "trips": trips(&log, start_ms), "down": down, "up": up }),
    )
}

/// Each answered round trip with what ran meanwhile.
fn trips(log: &Log, start_ms: f64) -> Value {
    let answered = log.streams.iter().flatten().filter_map(|probe| Some((probe, probe.rtt_ms?)));
    answered
        .map(|(probe, ms)| {
            json!([(probe.sent_ms - start_ms) / 1e3, ms, log.load_at(probe.sent_ms)])
        })
        .collect()
}

fn rates(way: &Way, start_ms: f64) -> Value {
    way.rates.iter().map(|rate| json!([(rate.at_ms - start_ms) / 1e3, rate.mbps])).collect()
}
