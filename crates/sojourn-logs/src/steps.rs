//! Clocks that somebody set while a log was written.

use crate::log::{Clock, Format, Log, Probe, Step};

/// Numbered probes leave no longer time without one, in ms and in usual distances, unless the clock was set or the home
/// slept.
const PAUSE: (f64, f64) = (2_000.0, 5.0);
/// Others may be lost or leave at random.
const UNNUMBERED_PAUSE: (f64, f64) = (10_000.0, 20.0);
/// Probes before and after a step of the server's clock that are compared.
const NEIGHBOURS: usize = 10;
/// Smaller steps are not seen, in ms.
const LEAST_STEP_MS: f64 = 5.0;
/// Medians of neighbours repeat a step but for this part of it.
const EQUAL: f64 = 0.2;

/// The log with the steps of its clocks.
pub(crate) fn marked(mut log: Log) -> Log {
    if log.untimed.is_none() {
        log.steps = pauses(&log);
    }
    log.steps.extend(log.streams.iter().flat_map(|stream| of_server(stream)));
    log.steps.sort_by(|one, other| one.after_ms.total_cmp(&other.after_ms));
    let pauses: Vec<Step> =
        log.steps.iter().filter(|step| step.clock == Clock::Home).copied().collect();
    for way in &mut log.ways {
        let step_ms = way.rates.windows(2).map(|two| two[1].at_ms - two[0].at_ms);
        let step_ms = step_ms.reduce(f64::min).unwrap_or(0.0);
        way.rates.retain(|rate| {
            let next =
                pauses.partition_point(|pause| pause.after_ms + pause.by_ms < rate.at_ms - step_ms);
            pauses.get(next).is_none_or(|pause| rate.at_ms <= pause.after_ms)
        });
    }
    log
}

/// Times in which no stream has a probe.
fn pauses(log: &Log) -> Vec<Step> {
    let mut times: Vec<f64> = log.streams.iter().flatten().map(|probe| probe.sent_ms).collect();
    times.sort_by(f64::total_cmp);
    let usual = log.streams.iter().filter_map(|stream| usual_distance(stream)).fold(0.0, f64::max);
    let are_numbered = log.format != Format::Csv && log.has_losses.contains(&true);
    let (least_ms, distances) = if are_numbered { PAUSE } else { UNNUMBERED_PAUSE };
    let least = least_ms.max(distances * usual);
    let gaps = times.windows(2).filter(|two| two[1] - two[0] > least);
    let step = |two: &[f64]| {
        let by_ms = two[1] - two[0] - usual;
        Step { after_ms: two[0], by_ms, clock: Clock::Home }
    };
    gaps.map(step).collect()
}

fn usual_distance(stream: &[Probe]) -> Option<f64> {
    let mut steps: Vec<f64> =
        stream.windows(2).map(|two| (two[1].sent_ms - two[0].sent_ms).max(0.0)).collect();
    steps.sort_by(f64::total_cmp);
    steps.get(steps.len() / 2).copied()
}

/// Where a delay in one direction grows at once, for good, by what the other shrinks.
fn of_server(stream: &[Probe]) -> Vec<Step> {
    let known: Vec<(f64, f64, f64)> = stream
        .iter()
        .filter_map(|probe| {
            Some((probe.sent_ms, (probe.up_ms? - probe.down_ms?) / 2.0, probe.rtt_ms?))
        })
        .collect();
    let mut steps = Vec::new();
    let mut checked = 0;
    for at in 1..known.len() {
        let (before, after) = (known[at - 1], known[at]);
        let by_ms = after.1 - before.1;
        let is_large = by_ms.abs() > LEAST_STEP_MS.max((after.2 - before.2).abs());
        if !is_large || at < checked {
            continue;
        }
        let part = |from: usize, to: usize| {
            let mut values: Vec<f64> = known[from..to].iter().map(|one| one.1).collect();
            values.sort_by(f64::total_cmp);
            let at = |quarter: usize| values[(values.len() - 1) * quarter / 4];
            (at(2), at(3) - at(1))
        };
        let (was, spread_before) = part(at.saturating_sub(NEIGHBOURS), at);
        let (is, spread_after) = part(at, (at + NEIGHBOURS).min(known.len()));
        let lasts = (is - was - by_ms).abs() <= EQUAL * by_ms.abs();
        if lasts && spread_before.max(spread_after) < by_ms.abs() {
            steps.push(Step { after_ms: before.0, by_ms, clock: Clock::Server });
            checked = at + NEIGHBOURS;
        }
    }
    steps
}
