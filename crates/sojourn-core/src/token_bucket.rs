//! A token bucket.

use crate::units::{BitRate, Pace, Time};

/// A token bucket, stored as one instant: when it will be, or was, full. Taking bytes moves that
/// instant later, so the arithmetic is exact to the picosecond and nothing needs refilling.
#[derive(Clone, Debug)]
pub struct TokenBucket {
    rate: Pace,
    /// Time to fill the empty bucket.
    depth: Time,
    full_at: Time,
}

impl TokenBucket {
    /// A full bucket of `depth_bytes`, filling at `rate`.
    pub fn new(rate: BitRate, depth_bytes: u64) -> Self {
        Self { rate: Pace::new(rate), depth: rate.time_for(depth_bytes), full_at: Time::ZERO }
    }

    /// The rate at which it fills.
    pub fn rate(&self) -> BitRate {
        self.rate.rate()
    }

    /// Its depth in bytes.
    pub fn depth_bytes(&self) -> f64 {
        self.rate().bytes_in(self.depth)
    }

    /// When it will hold `bytes`, if none are taken before; at least `now`. A full bucket lets more
    /// than its depth pass.
    pub fn ready_at(&mut self, now: Time, bytes: u64) -> Time {
        let needed = self.rate.time_for(bytes).min(self.depth);
        now.max((self.full_at.max(now) + needed).since(self.depth))
    }

    /// Takes bytes out, even more than it holds: it is then in debt.
    pub fn take(&mut self, now: Time, bytes: u64) {
        self.full_at = self.full_at.max(now) + self.rate.time_for(bytes);
    }

    /// Puts back bytes that were taken and are not used.
    pub fn put_back(&mut self, bytes: u64) {
        self.full_at = self.full_at.since(self.rate.time_for(bytes));
    }

    /// Bytes taken beyond what it held, until it has filled so far.
    pub fn debt(&self, now: Time) -> f64 {
        self.rate().bytes_in(self.full_at.since(now).since(self.depth))
    }

    /// Bytes in it; 0 while it is in debt.
    pub fn tokens(&self, now: Time) -> f64 {
        self.rate().bytes_in(self.depth.since(self.full_at.since(now)))
    }
}
