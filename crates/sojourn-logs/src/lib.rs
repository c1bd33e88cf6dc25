//! Reads logs of measured lines: pure functions from the bytes of a file to a [`Log`] of probes, rates and loads.
//!
//! Formats are known by their content. What names a host, an address or a place is read over and never kept.

mod crusader;
mod csv;
mod flent;
mod fping;
mod home_clock;
mod irtt;
mod json;
mod lines;
mod log;
mod network_quality;
mod numbered;
mod numeral;
mod ping;
mod rates;
mod reply;
mod stamp;
mod steps;
mod unpack;

use sojourn_input::problem::{Code, Fault, Problem};

pub use log::{
    Clock, Format, IntervalFrom, LEAST_MBPS, Load, LoadSummary, Log, Probe, Rate, Step, Summary,
    Untimed, Way,
};

/// A file of more bytes is refused, and so is one that has more when it is unpacked.
pub const MOST_BYTES: usize = 256 * 1024 * 1024;

/// Fewer answers of a load say nothing.
pub const FEWEST: usize = 10;

const FORMATS: &str = "JSON of flent, irtt, Crusader (exported) or networkQuality -c, lines of ping or fping, or CSV \
                       with the columns sent_ms and rtt_ms";

/// Beyond it, in ms, nothing is a time.
const LARGEST: f64 = 1e18;

/// What the log in a file of this name says; the content may be packed with gzip.
pub fn read(source: &str, content: &[u8]) -> Result<Log, Problem> {
    parsed(content).map_err(|fault| fault.of(source))
}

fn parsed(content: &[u8]) -> Result<Log, Fault> {
    let content = unpack::plain(content)?;
    let text = &*unpack::text(&content)?;
    if text.trim_start().is_empty() {
        return Err(unusable("", "nothing in it", FORMATS));
    }
    let log = if text.trim_start().starts_with('{') && !fping::is_json(text) {
        json::read(text)?
    } else if csv::has_columns(text) {
        csv::read(text)?
    } else {
        lines::read(text)?
    };
    checked(log).map(|log| steps::marked(home_clock::mended(log)).without_light_loads())
}

/// The log, if all its numbers can be such.
fn checked(mut log: Log) -> Result<Log, Fault> {
    let is_number = |value: f64| value.is_finite() && value.abs() < LARGEST;
    let answered = |stream: &Vec<Probe>| stream.iter().any(|probe| !probe.is_lost());
    log.doubts.extend(unanswered(&log));
    let known = log.streams.into_iter().zip(log.has_losses);
    (log.streams, log.has_losses) = known.filter(|(stream, _)| answered(stream)).unzip();
    log.has_hosts &= log.streams.len() > 1;
    let probes = log.streams.iter().flatten().all(|probe| {
        let delays = [probe.up_ms, probe.down_ms, probe.rtt_ms];
        is_number(probe.sent_ms) && delays.into_iter().flatten().all(is_number)
    });
    let is_rate = |rate: &Rate| is_number(rate.at_ms) && is_number(rate.mbps) && rate.mbps >= 0.0;
    let rates = log.ways.iter().all(|way| {
        let spans = way.loaded_ms.iter().all(|(from, to)| is_number(*from) && is_number(*to));
        spans && way.rates.iter().all(is_rate)
    });
    if !(probes && rates) {
        return Err(unusable("", "a time or a rate that cannot be one", "finite numbers"));
    }
    if log.streams.is_empty() && log.summary.is_none() {
        return Err(unusable("", "no answered probe", FORMATS));
    }
    Ok(log)
}

/// Of streams that have probes and no answer to any.
fn unanswered(log: &Log) -> Option<String> {
    let with_probes: Vec<_> = log.streams.iter().filter(|stream| !stream.is_empty()).collect();
    let silent = with_probes.iter().filter(|stream| stream.iter().all(Probe::is_lost)).count();
    let (what, number) = match log.has_hosts {
        true => ("hosts", ", and those that did are numbered without"),
        false => ("streams of probes", ""),
    };
    (silent > 0)
        .then(|| format!("{silent} of {} {what} had no answer at all{number}.", with_probes.len()))
}

/// The fault of a file that cannot be used.
fn unusable(path: &str, found: &str, allowed: &str) -> Fault {
    Fault::found(path, found, allowed).coded(Code::UnusableFile)
}
