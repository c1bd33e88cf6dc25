//! Clocks that somebody set while a log was written.

use crate::log::{Clock, Format, Log, Probe, Step, median};

/// Numbered probes leave no longer time without one, in ms and in usual distances, unless the clock was set or the home
/// slept.
const PAUSE: (f64, f64) = (2_000.0, 5.0);
/// Others may be lost or leave at random.
const UNNUMBERED_PAUSE: (f64, f64) = (10_000.0, 20.0);
/// Probes before and after a step of the server's clock that are compared.
const NEIGHBOURS: usize = 10;
/// Smaller steps are not seen, in ms: clocks also drift.
const LEAST_STEP_MS: f64 = 2.0;

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
    median(stream.windows(2).map(|two| (two[1].sent_ms - two[0].sent_ms).max(0.0)))
}

/// Where the server's clock was set.
///
/// A delay upstream is the true one and what the server's clock is ahead. The true one lies between the least that the
/// path takes and the round trip less the least of the other direction, so a probe confines the clock to a span as long
/// as its round trip less the shortest one. Where the spans before and after have nothing in common, the clock stepped;
/// delays that change from one direction to the other have.
fn of_server(stream: &[Probe]) -> Vec<Step> {
    let known: Vec<Directions> = stream.iter().filter_map(Directions::of).collect();
    let shortest_ms = known.iter().map(|one| one.up_ms + one.down_ms).fold(f64::INFINITY, f64::min);
    let mut steps: Vec<(usize, Step)> = Vec::new();
    for at in 1..known.len() {
        let before = Span::of(&known[at.saturating_sub(NEIGHBOURS)..at]);
        let after = Span::of(&known[at..(at + NEIGHBOURS).min(known.len())]);
        let apart_ms = after.apart_from(before) + shortest_ms;
        if apart_ms <= LEAST_STEP_MS {
            continue;
        }
        let (one, other) = (&known[at - 1], &known[at]);
        let by_ms = other.ahead_ms() - one.ahead_ms();
        let step = Step { after_ms: one.sent_ms, by_ms, clock: Clock::Server };
        match steps.last_mut() {
            Some((last, kept)) if at - *last < NEIGHBOURS => {
                *last = at;
                if by_ms.abs() > kept.by_ms.abs() {
                    *kept = step;
                }
            }
            _ => steps.push((at, step)),
        }
    }
    steps.into_iter().map(|(_, step)| step).collect()
}

/// A probe whose delays in both directions are known.
struct Directions {
    sent_ms: f64,
    up_ms: f64,
    down_ms: f64,
}

impl Directions {
    fn of(probe: &Probe) -> Option<Self> {
        let Probe { sent_ms, up_ms: Some(up_ms), down_ms: Some(down_ms), .. } = *probe else {
            return None;
        };
        Some(Self { sent_ms, up_ms, down_ms })
    }

    /// What the server's clock seems to be ahead, but for a constant.
    fn ahead_ms(&self) -> f64 {
        (self.up_ms - self.down_ms) / 2.0
    }
}

/// Between which values the server's clock was ahead while some probes were under way, but for what the path takes at
/// least.
#[derive(Clone, Copy)]
struct Span {
    least_ms: f64,
    most_ms: f64,
}

impl Span {
    fn of(probes: &[Directions]) -> Self {
        let least_ms = probes.iter().map(|one| -one.down_ms).fold(f64::NEG_INFINITY, f64::max);
        let most_ms = probes.iter().map(|one| one.up_ms).fold(f64::INFINITY, f64::min);
        Self { least_ms, most_ms }
    }

    /// How far it is from another one; negative where they have something in common.
    fn apart_from(self, other: Self) -> f64 {
        (self.least_ms - other.most_ms).max(other.least_ms - self.most_ms)
    }
}
