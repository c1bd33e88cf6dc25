//! Logs of measured lines.

use serde_json::{Value, json};
use sojourn::input::problem::{Fault, Problem};
use sojourn::logs::{Log, Probe, Way, read};
use sojourn::results::measured::{measured, trips_ms};

/// From when to when a load ran, in s after the first probe; `None` where the user does not say it.
type Span = Option<(f64, f64)>;

/// The answer on a log, and its round trips and rates for figures: times in s after the first probe.
pub(crate) fn answer(
    name: &str,
    content: &[u8],
    down_s: Span,
    up_s: Span,
    interval_s: Option<f64>,
) -> Result<Value, Problem> {
    let log = with_what_is_known(read(name, content)?, down_s, up_s, interval_s);
    let log = log.map_err(|fault| fault.of(name))?;
    let found = measured(&log, &[]).map_err(|fault| fault.of(name))?;
    let start_ms = log.start_ms();
    let [down, up] = log.ways.each_ref().map(|way| rates(way, start_ms));
    Ok(json!({
        "measured": found,
        "has_loads": log.has_loads || log.summary.is_some(),
        "is_timed": log.untimed.is_none(),
        "trips": trips(&log, start_ms),
        "down": down,
        "up": up,
    }))
}

fn with_what_is_known(
    mut log: Log,
    down_s: Span,
    up_s: Span,
    interval_s: Option<f64>,
) -> Result<Log, Fault> {
    if let Some(interval_s) = interval_s {
        log = log.with_interval(1e3 * interval_s)?;
    }
    if down_s.is_some() || up_s.is_some() {
        log = log.with_loads(down_s.as_slice(), up_s.as_slice())?;
    }
    Ok(log)
}

/// Each round trip that the numbers count with what ran meanwhile, and the number of its host where there are several.
fn trips(log: &Log, start_ms: f64) -> Value {
    let numbered = (1..).zip(log.streams.iter().zip(trips_ms(log)));
    let answered = numbered.flat_map(|(host, (probes, trips))| {
        let host = log.has_hosts.then_some(host);
        let trip = move |(probe, ms): (&Probe, Option<f64>)| Some((host, probe.sent_ms, ms?));
        probes.iter().zip(trips).filter_map(trip)
    });
    answered
        .map(|(host, at_ms, ms)| json!([(at_ms - start_ms) / 1e3, ms, log.load_at(at_ms), host]))
        .collect()
}

fn rates(way: &Way, start_ms: f64) -> Value {
    way.rates.iter().map(|rate| json!([(rate.at_ms - start_ms) / 1e3, rate.mbps])).collect()
}
