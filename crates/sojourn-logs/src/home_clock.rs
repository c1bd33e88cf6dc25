//! The clock of the home, where somebody set it while a log was written, or probes paused.
//!
//! Numbers say when probes left up to their interval. Where the clock goes on from there by another time for good, it was
//! set; times after that are moved back, so that a log has one time. Probes without numbers show long pauses alone.

use crate::log::{AFTER_MS, Clock, Format, Log, Probe, Rate, Step, median};

/// Smaller steps are not looked for, in ms: programs set a clock at once from 128 ms (ntpd) or 400 (systemd-timesyncd) on.
const LEAST_MS: f64 = 100.0;
/// Of distances of probes, in their usual deviation summed over neighbours.
const DEVIATIONS: f64 = 6.0;
/// Probes before and after a step by which its size is known, and the fewest.
const NEIGHBOURS: usize = 10;
const FEWEST: usize = 3;
/// The part of a step by which its two measures, and those of two streams, may differ.
const ALIKE: f64 = 0.25;
/// Probes that follow each other so much faster after a step than before were held.
const CROWDED: f64 = 0.5;
/// Streams see a step at their own next probes, in usual distances.
const NEAR: f64 = 3.0;
/// Probes without numbers leave no longer time without one, in ms and in usual distances: some are lost or leave at random.
const PAUSE: (f64, f64) = (10_000.0, 20.0);

/// A step by the log's clock: the last time before it, and by how much it went forward.
#[derive(Clone, Copy)]
struct Jump {
    after_ms: f64,
    by_ms: f64,
}

/// The log by a clock that goes on steadily, with the steps that were taken out.
pub(crate) fn mended(mut log: Log) -> Log {
    if log.untimed.is_some() {
        return log;
    }
    let parts = Parts::between(&jumps(&log));
    log.steps = parts.steps();
    for stream in &mut log.streams {
        parts.mend(stream);
    }
    for way in &mut log.ways {
        let steps_ms = way.rates.windows(2).map(|two| two[1].at_ms - two[0].at_ms);
        let step_ms = steps_ms.reduce(f64::min).unwrap_or(0.0);
        let moved = |rate: &Rate| Some(Rate { at_ms: parts.moved(rate.at_ms, step_ms)?, ..*rate });
        way.rates = way.rates.iter().filter_map(moved).collect();
        for (from_ms, to_ms) in &mut way.loaded_ms {
            (*from_ms, *to_ms) = (parts.nearest(*from_ms), parts.nearest(*to_ms));
        }
        way.loaded_ms.retain(|(from_ms, to_ms)| from_ms < to_ms);
    }
    log
}

/// The times between steps: from and to when by the log's clock, and how far this is ahead there.
struct Parts(Vec<(f64, f64, f64)>);

impl Parts {
    fn between(jumps: &[Jump]) -> Self {
        let mut parts = vec![(f64::NEG_INFINITY, f64::INFINITY, 0.0)];
        for Jump { after_ms, by_ms } in jumps {
            let (_, to_ms, ahead_ms) = parts.last_mut().expect("there is one");
            *to_ms = *after_ms;
            let ahead_ms = *ahead_ms + by_ms;
            parts.push((after_ms + by_ms, f64::INFINITY, ahead_ms));
        }
        Self(parts)
    }

    /// What is between them, by the steady clock.
    fn steps(&self) -> Vec<Step> {
        let step = |two: &[(f64, f64, f64)]| {
            let ((_, to_ms, before_ms), (_, _, ahead_ms)) = (two[0], two[1]);
            Step { after_ms: to_ms - before_ms, by_ms: ahead_ms - before_ms, clock: Clock::Home }
        };
        self.0.windows(2).map(step).collect()
    }

    /// Moves probes in the order in which they left.
    fn mend(&self, stream: &mut [Probe]) {
        let usual_ms = usual_distance(stream).unwrap_or(0.0);
        let (mut part, mut before_ms) = (0, f64::NEG_INFINITY);
        for probe in stream {
            while let Some((from_ms, _, ahead_ms)) = self.0.get(part + 1) {
                let (_, to_ms, was_ms) = self.0[part];
                let is_back = probe.sent_ms - before_ms < usual_ms + (ahead_ms - was_ms) / 2.0;
                if !(probe.sent_ms > to_ms || (*from_ms < to_ms && is_back)) {
                    break;
                }
                part += 1;
                before_ms = f64::NEG_INFINITY;
            }
            before_ms = probe.sent_ms;
            probe.sent_ms -= self.0[part].2;
        }
    }

    /// The end of a time of this length; `None` where the clock had it twice or never.
    fn moved(&self, at_ms: f64, length_ms: f64) -> Option<f64> {
        let holds = |part: &&(f64, f64, f64)| at_ms - length_ms >= part.0 && at_ms <= part.1;
        let mut holding = self.0.iter().filter(holds);
        holding.next().filter(|_| holding.next().is_none()).map(|(_, _, ahead_ms)| at_ms - ahead_ms)
    }

    /// The time, or where the clock never had it, that at which it stepped over it.
    fn nearest(&self, at_ms: f64) -> f64 {
        let begun = self.0.iter().rev().find(|(from_ms, _, _)| *from_ms <= at_ms);
        begun.map_or(at_ms, |(_, to_ms, ahead_ms)| at_ms.min(*to_ms) - ahead_ms)
    }
}

/// All steps, in the order in which they happened.
fn jumps(log: &Log) -> Vec<Jump> {
    let is_numbered = |known: &bool| *known && log.format != Format::Csv;
    let numbered = log.streams.iter().zip(&log.has_losses).filter(|(_, known)| is_numbered(known));
    let least_ms = LEAST_MS.max(2.0 * log.resolution_ms);
    let known = |(stream, _): (&Vec<Probe>, &bool)| of_numbered(stream, least_ms);
    let mut known: Vec<(f64, Vec<Jump>)> = numbered.filter_map(known).collect();
    let Some(place) = (0..known.len()).max_by_key(|place| known[*place].1.len()) else {
        return pauses(log);
    };
    let (usual_ms, first) = known.swap_remove(place);
    let is_of_all = |jump: &Jump| {
        let is_same = |(own_ms, others): &&(f64, Vec<Jump>)| {
            let near_ms = NEAR * (usual_ms + own_ms);
            others.iter().any(|other| {
                (other.by_ms - jump.by_ms).abs() <= ALIKE * jump.by_ms.abs().max(LEAST_MS)
                    && (other.after_ms - jump.after_ms).abs() <= near_ms
            })
        };
        2 * known.iter().filter(is_same).count() >= known.len()
    };
    let is_silent = |jump: &Jump| {
        let inside = jump.after_ms + usual_ms..jump.after_ms + jump.by_ms - usual_ms;
        let answered = log.streams.iter().flatten().filter(|probe| !probe.is_lost());
        answered.filter(|probe| inside.contains(&probe.sent_ms)).count() == 0
    };
    first
        .into_iter()
        .filter(|jump| is_of_all(jump) && (jump.by_ms < 0.0 || is_silent(jump)))
        .collect()
}

/// The usual distance of probes whose places are their numbers, and the steps in them; `None` for a few.
fn of_numbered(stream: &[Probe], least_ms: f64) -> Option<(f64, Vec<Jump>)> {
    let answered = stream.iter().enumerate().filter(|(_, probe)| !probe.is_lost());
    let known: Vec<(f64, f64)> = answered.map(|(at, probe)| (at as f64, probe.sent_ms)).collect();
    let usual_ms = median(distances(&known)).filter(|_| known.len() > 2 * FEWEST)?;
    let is_far = |at: &usize| {
        let ((n, before_ms), (next, after_ms)) = (known[at - 1], known[*at]);
        (after_ms - before_ms - (next - n) * usual_ms).abs() >= least_ms
    };
    let far = (FEWEST..=known.len() - FEWEST).filter(is_far);
    Some((usual_ms, far.filter_map(|at| jump_at(&known, at, least_ms)).collect()))
}

fn distances(known: &[(f64, f64)]) -> impl Iterator<Item = f64> {
    known.windows(2).map(|two| (two[1].1 - two[0].1) / (two[1].0 - two[0].0))
}

/// A step before this probe: its neighbours are as far from each other as it is from the one before. One late probe, or
/// an interval that changes, is none.
fn jump_at(known: &[(f64, f64)], at: usize, least_ms: f64) -> Option<Jump> {
    let before = &known[at.saturating_sub(NEIGHBOURS)..at];
    let after = &known[at..(at + NEIGHBOURS).min(known.len())];
    let usual_ms = median(distances(before).chain(distances(after)))?;
    let beside = |one: &(f64, f64)| one.1 - one.0 * usual_ms;
    let level = |part: &[(f64, f64)]| median(part.iter().map(beside));
    let differ = |part: &[(f64, f64)]| {
        part.windows(2).map(|two| (beside(&two[1]) - beside(&two[0])).abs()).collect::<Vec<_>>()
    };
    let spread_ms = median([differ(before), differ(after)].concat().into_iter())?;
    let (by_ms, lasting_ms) =
        (beside(&known[at]) - beside(&known[at - 1]), level(after)? - level(before)?);
    let least_ms =
        least_ms.max(DEVIATIONS * spread_ms * ((before.len() + after.len()) as f64).sqrt());
    // Lines that were held for a while came together after it, and then went on as before.
    let pace_ms = |part: &[(f64, f64)]| {
        let (first, last) = (part[0], part[part.len() - 1]);
        (last.1 - first.1) / (last.0 - first.0)
    };
    if pace_ms(after) < CROWDED * pace_ms(before) {
        return None;
    }
    let is_step = by_ms.abs() >= least_ms && (lasting_ms - by_ms).abs() <= ALIKE * by_ms.abs();
    is_step.then_some(Jump { after_ms: known[at - 1].1, by_ms })
}

/// Times in which no stream has a probe.
fn pauses(log: &Log) -> Vec<Jump> {
    let mut times: Vec<f64> = log.streams.iter().flatten().map(|probe| probe.sent_ms).collect();
    times.sort_by(f64::total_cmp);
    let usual_ms = log.streams.iter().filter_map(|one| usual_distance(one)).fold(0.0, f64::max);
    let least_ms = PAUSE.0.max(PAUSE.1 * usual_ms);
    // What comes after a pause is not near to what was before it.
    let left_ms = usual_ms.max(AFTER_MS);
    let gaps = times.windows(2).filter(|two| two[1] - two[0] > least_ms);
    gaps.map(|two| Jump { after_ms: two[0], by_ms: two[1] - two[0] - left_ms }).collect()
}

fn usual_distance(stream: &[Probe]) -> Option<f64> {
    median(stream.windows(2).map(|two| (two[1].sent_ms - two[0].sent_ms).max(0.0)))
}
