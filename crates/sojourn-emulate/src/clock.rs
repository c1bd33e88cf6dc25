//! The wall clock of an emulation, as simulated time.

use std::time::{Duration, Instant};

use nix::time::{ClockId, clock_gettime};
use sojourn::outside::Time;

/// Simulated time zero, on the machine's steady clock. It is read in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    start: Instant,
    /// How long the machine had slept at the start.
    slept: Duration,
}

/// A machine that slept for longer was suspended.
const AWAKE: Duration = Duration::from_millis(100);

impl Clock {
    /// A clock that is at zero now.
    pub(crate) fn start() -> Self {
        Self { start: Instant::now(), slept: slept() }
    }

    /// Time since the start.
    pub(crate) fn now(&self) -> Time {
        let ns = self.start.elapsed().as_nanos() as u64;
        Time::from_ps(ns.saturating_mul(PS_PER_NS))
    }

    /// How long the machine has been suspended since the start, if it was: its clock stood still meanwhile.
    pub(crate) fn suspended(&self) -> Option<Duration> {
        Some(slept().saturating_sub(self.slept)).filter(|span| *span > AWAKE)
    }
}

/// The steady clock stands still in a suspended machine, that since boot does not.
fn slept() -> Duration {
    let read = |clock| clock_gettime(clock).map(Duration::from).unwrap_or_default();
    let steady = read(ClockId::CLOCK_MONOTONIC);
    read(ClockId::CLOCK_BOOTTIME).saturating_sub(steady)
}

const PS_PER_NS: u64 = 1000;

/// A span as the system's calls have it.
pub(crate) fn duration(span: Time) -> Duration {
    Duration::from_nanos(span.ps() / PS_PER_NS)
}
