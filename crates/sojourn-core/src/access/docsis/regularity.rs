//! When something comes at regular times.

use crate::units::Time;

/// Regular times: nominal interval, tolerated jitter, and how many in each interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Regularity {
    /// Nominal interval.
    pub interval: Time,
    /// How much later than nominal it may be.
    pub jitter: Time,
    /// How many there are in each interval.
    pub per_interval: u32,
}

impl Regularity {
    /// From numbers of microseconds.
    pub fn of_us(interval_us: u32, jitter_us: u32, per_interval: u32) -> Self {
        let us = |us: u32| Time::from_us(us.into());
        Self { interval: us(interval_us), jitter: us(jitter_us), per_interval }
    }
}
