//! The server's clock, where somebody set it while a log was written.

use crate::log::{Clock, Log, Probe, Step};

/// Probes before and after a step of the server's clock by which its size is known.
const NEIGHBOURS: usize = 10;
/// The rates of two clocks differ by less, also while one of them is slewed.
const MOST_DRIFT: f64 = 5e-4;
/// Smaller steps are not seen, in ms: clocks also drift.
const LEAST_STEP_MS: f64 = 2.0;

/// The log with the steps of the server's clock.
pub(crate) fn marked(mut log: Log) -> Log {
    log.steps.extend(log.streams.iter().flat_map(|stream| of_server(stream)));
    log.steps.sort_by(|one, other| one.after_ms.total_cmp(&other.after_ms));
    log
}

/// Where the server's clock was set.
///
/// A delay upstream is the true one and what the server's clock is ahead. The true one lies between the least that the
/// path takes and the round trip less the least of the other direction, so a probe confines the clock to a span as long
/// as its round trip less the shortest one. All probes confine it together, but for its drift. Where a probe has nothing
/// in common with those before, the clock stepped; delays that change from one direction to the other have.
fn of_server(stream: &[Probe]) -> Vec<Step> {
    let known: Vec<Directions> = stream.iter().filter_map(Directions::of).collect();
    let shortest_ms = known.iter().map(Directions::trip_ms).fold(f64::INFINITY, f64::min);
    let mut steps = Vec::new();
    let Some(first) = known.first() else { return steps };
    let (mut least, mut most) =
        (Bound { ms: -first.down_ms, at: 0 }, Bound { ms: first.up_ms, at: 0 });
    for at in 1..known.len() {
        let one = &known[at];
        let drift_ms = MOST_DRIFT * (one.sent_ms - known[at - 1].sent_ms).max(0.0);
        least.ms -= drift_ms;
        most.ms += drift_ms;
        let (own_least, own_most) = (Bound { ms: -one.down_ms, at }, Bound { ms: one.up_ms, at });
        let allowed_ms = LEAST_STEP_MS - shortest_ms;
        let since = if own_least.ms - most.ms > allowed_ms {
            Some(most.at)
        } else if least.ms - own_most.ms > allowed_ms {
            Some(least.at)
        } else {
            None
        };
        if let Some(since) = since {
            steps.push(step_of(&known, since, at));
            (least, most) = (own_least, own_most);
            continue;
        }
        if own_least.ms > least.ms {
            least = own_least;
        }
        if own_most.ms < most.ms {
            most = own_most;
        }
    }
    steps
}

/// What a probe says of how far the server's clock is ahead at least or at most.
#[derive(Clone, Copy)]
struct Bound {
    ms: f64,
    at: usize,
}

/// The step after the one and before the other probe: where both directions change most, as no queue of one does.
fn step_of(known: &[Directions], since: usize, until: usize) -> Step {
    let unexplained = |at: &usize| {
        let (one, other) = (&known[at - 1], &known[*at]);
        (other.up_ms - one.up_ms).abs().min((other.down_ms - one.down_ms).abs())
    };
    let places = since + 1..=until;
    let at = places.max_by(|one, other| unexplained(one).total_cmp(&unexplained(other)));
    let at = at.expect("the one is before the other");
    let before = &known[at.saturating_sub(NEIGHBOURS)..at];
    let after = &known[at..(at + NEIGHBOURS).min(known.len())];
    // By the direction whose queue is steadier.
    let [up, down] = [|one: &Directions| one.up_ms, |one: &Directions| -one.down_ms];
    let spread = |of| Range::of(before, of).width() + Range::of(after, of).width();
    let by_ms = if spread(up) < spread(down) {
        Range::of(after, up).least_ms - Range::of(before, up).least_ms
    } else {
        Range::of(after, down).most_ms - Range::of(before, down).most_ms
    };
    Step { after_ms: known[at - 1].sent_ms, by_ms, clock: Clock::Server }
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

    fn trip_ms(&self) -> f64 {
        self.up_ms + self.down_ms
    }
}

#[derive(Clone, Copy)]
struct Range {
    least_ms: f64,
    most_ms: f64,
}

impl Range {
    fn of(probes: &[Directions], value: fn(&Directions) -> f64) -> Self {
        let values = || probes.iter().map(value);
        Self {
            least_ms: values().fold(f64::INFINITY, f64::min),
            most_ms: values().fold(f64::NEG_INFINITY, f64::max),
        }
    }

    fn width(self) -> f64 {
        self.most_ms - self.least_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Probes each 100 ms, 10 ms up and 10 down at rest; the server's clock steps by so much before one of them. From 100
    /// on an upload fills a queue, whose delay goes up and down, and from 200 on there is a rest again.
    fn line(step_ms: f64, from: usize) -> Vec<Step> {
        let probe = |n: usize| {
            let queue_ms = if (100..200).contains(&n) { 150.0 + (n * 37 % 60) as f64 } else { 0.0 };
            let ahead_ms = if n < from { 0.0 } else { step_ms };
            let (up, down) = (10.0 + queue_ms + ahead_ms, 10.0 - ahead_ms);
            let sent_ms = 100.0 * n as f64;
            Probe { up_ms: Some(up), down_ms: Some(down), ..Probe::answered(sent_ms, up + down) }
        };
        of_server(&(0..300).map(probe).collect::<Vec<_>>())
    }

    #[test]
    fn steps_of_the_server_are_found_behind_queues() {
        for step_ms in [1_000.0, 90.0, -90.0, -1_000.0, 20.0, -20.0] {
            for from in [50, 130, 199, 250] {
                let found = line(step_ms, from);
                let near = |step: &Step| (step.by_ms - step_ms).abs() < 1e-6;
                assert!(found.len() == 1 && near(&found[0]), "{step_ms} {from}: {found:?}");
                let after_ms = 100.0 * (from - 1) as f64;
                assert!(found[0].after_ms == after_ms, "{step_ms} {from}: {found:?}");
            }
        }
        assert_eq!(line(0.0, 0), []);
    }
}
