//! `Regularity`: the period and phase of unsolicited grants and polls.

use sojourn_engine::units::Time;

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

/// What grants must fit to.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    /// Time between MAPs.
    pub map_interval: Time,
    /// Time of a frame, if grants begin with frames.
    pub frame: Option<Time>,
    /// Bytes that a packet takes on the channel in addition to its own.
    pub overhead: u64,
    /// Has the modem a channel of its own, where nobody else's grants are in the way?
    pub is_own: bool,
}

impl Grid {
    /// The longest interval of whole frames that is not longer, but a frame at least.
    pub fn whole_frames(&self, interval: Time) -> Time {
        self.frame.map_or(interval, |frame| frame.times((interval.ps() / frame.ps()).max(1)))
    }
}
