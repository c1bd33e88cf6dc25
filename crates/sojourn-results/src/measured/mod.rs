//! The answer on a log of a measured line: one letter and three numbers as tests of bufferbloat show them, what each
//! load did to probes, and what would cure it. Pure functions from a log to plain data, for terminal and page alike.

mod draft;
mod sentences;
mod under_load;

use std::cmp::Ordering;

use serde::Serialize;
use sojourn_input::problem::{Code, Fault};
use sojourn_logs::{Format, Load, Log};

pub use draft::Draft;
pub use under_load::{UnderLoad, trips_ms};

use crate::letters::letter;
use crate::words::digits;

/// Round trips a minute of a load, as a test gave them.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Responsiveness {
    /// What ran.
    pub load: Load,
    /// Round trips a minute.
    pub rpm: f64,
    /// The rule by which the test computes it.
    pub rule: String,
}

/// What a log says of a line. Round trips are medians in ms; `None` where none was measured.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Measured {
    /// The tool that wrote the log.
    pub tool: Format,
    /// On DSLReports' scale from A+ to F, by what the load that adds most adds to the mean round trip.
    pub letter: Option<&'static str>,
    /// The host that letter, numbers and sentences are of, from 1, where the log has several: the worst.
    pub host: Option<usize>,
    /// Without a load.
    pub idle_ms: Option<f64>,
    /// While downloads alone run.
    pub downloading_ms: Option<f64>,
    /// While uploads alone run.
    pub uploading_ms: Option<f64>,
    /// While both run at once.
    pub both_ms: Option<f64>,
    /// What each load did, the idle line first; where the log does not say what ran, all of it.
    pub loads: Vec<UnderLoad>,
    /// What its rates count.
    pub rates_count: Option<&'static str>,
    /// Round trips a minute, where the log has them.
    pub responsiveness: Vec<Responsiveness>,
    /// Where the delay is, what would cure it, and what is left to measure.
    pub sentences: Vec<String>,
    /// What a scenario of the line takes from the log.
    pub draft: Draft,
}

/// Probes that overtake each other are closer, in ms.
const OVERTAKING_MS: f64 = 1_000.0;

/// The answer on a log, beside other logs of the line that have these loads; a fault if its times cannot be right.
pub fn measured(log: &Log, elsewhere: &[Load]) -> Result<Measured, Fault> {
    check(log)?;
    let loads = under_load::all(log);
    let host = worst_host(&loads);
    let of_host: Vec<_> = loads.iter().filter(|one| one.host == host).cloned().collect();
    let median_of = |load| {
        let of_load = of_host.iter().find(|one| one.load == Some(load));
        of_load.and_then(|one| one.rtt_p50_ms)
    };
    let worst_ms = of_host.iter().filter_map(|one| one.added_ms).reduce(f64::max);
    let responsiveness = responsiveness(log);
    let misplaced = sentences::of_misplaced(&of_host, &responsiveness);
    let is_silent = of_host.iter().any(sentences::is_silent);
    let letter = worst_ms.filter(|_| misplaced.is_none() && !is_silent).map(letter);
    let of_log = || sentences::all(log, &of_host, &responsiveness, elsewhere);
    let mut sentences = sentences::doubts(log, &of_host, host);
    sentences.extend(misplaced.unwrap_or_else(of_log));
    let has_rates = loads.iter().any(|one| one.down_mbps.is_some() || one.up_mbps.is_some());
    Ok(Measured {
        tool: log.format,
        letter,
        host,
        idle_ms: median_of(Load::Idle),
        downloading_ms: median_of(Load::Down),
        uploading_ms: median_of(Load::Up),
        both_ms: median_of(Load::Both),
        rates_count: log.format.rates_count().filter(|_| has_rates),
        draft: draft::of(&of_host),
        loads,
        responsiveness,
        sentences,
    })
}

/// The host that a load leaves without answers, or else to which it adds most, or the farthest; `None` where there are
/// not several.
fn worst_host(loads: &[UnderLoad]) -> Option<usize> {
    let rank = |one: &&UnderLoad| (sentences::is_silent(one), one.added_ms, one.rtt_p50_ms);
    let worst = loads.iter().filter(|one| one.host.is_some());
    worst.max_by(|one, other| rank(one).partial_cmp(&rank(other)).unwrap_or(Ordering::Equal))?.host
}

fn check(log: &Log) -> Result<(), Fault> {
    for probes in &log.streams {
        let mut last_ms = f64::NEG_INFINITY;
        for (at, probe) in probes.iter().enumerate() {
            if probe.sent_ms < last_ms - OVERTAKING_MS {
                let back_s = (last_ms - probe.sent_ms) / 1e3;
                let found =
                    format!("a time that is {back_s:.1} s before that of a probe before it");
                let allowed =
                    "times in order: cut the log where its clock was set, or sort its rows";
                return Err(unusable(&format!("probe {}", at + 1), &found, allowed));
            }
            last_ms = last_ms.max(probe.sent_ms);
        }
        let trips = probes.iter().map(|probe| probe.rtt_ms);
        if let Some((at, ms)) =
            trips.enumerate().find_map(|(at, ms)| Some((at, ms.filter(|ms| *ms < 0.0)?)))
        {
            let found = format!("a round trip of {} ms", digits(ms));
            return Err(unusable(&format!("probe {}", at + 1), &found, "0 or more"));
        }
    }
    Ok(())
}

fn unusable(path: &str, found: &str, allowed: &str) -> Fault {
    Fault::found(path, found, allowed).coded(Code::UnusableFile)
}

/// From this draft on, the round trips a minute are the mean of two rates.
const MEAN_OF_RATES: u64 = 4;

fn responsiveness(log: &Log) -> Vec<Responsiveness> {
    let Some(summary) = &log.summary else { return Vec::new() };
    let rule = match summary.draft {
        None => "a rule that the file does not name".to_owned(),
        Some(draft) if draft < MEAN_OF_RATES => {
            format!("draft-ietf-ippm-responsiveness-{draft:02}: 60 s by a mean delay")
        }
        Some(draft) => format!(
            "draft-ietf-ippm-responsiveness-{draft:02}: the mean of two rates, of new connections and of those of the \
             load"
        ),
    };
    let of = |one: &sojourn_logs::LoadSummary| {
        Some(Responsiveness { load: one.load, rpm: one.rpm?, rule: rule.clone() })
    };
    summary.loads.iter().filter_map(of).collect()
}
