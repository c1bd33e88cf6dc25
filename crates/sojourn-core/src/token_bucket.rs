//! A token bucket.

use crate::units::{BitRate, Time};

/// A token bucket, kept as one instant: when it will be, or was, full. Taking bytes moves that
/// instant on, so the arithmetic is exact to the picosecond and nothing needs refilling.
#[derive(Clone, Debug)]
pub struct TokenBucket {
    rate: BitRate,
    /// Time to fill the empty bucket.
    depth: Time,
    full_at: Time,
}

impl TokenBucket {
    /// A full bucket of `depth_bytes`, filling at `rate`.
    pub fn new(rate: BitRate, depth_bytes: u64) -> Self {
        Self { rate, depth: rate.time_for(depth_bytes), full_at: Time::ZERO }
    }

    /// The rate it fills at.
    pub fn rate(&self) -> BitRate {
        self.rate
    }

    /// How much it holds.
    pub fn depth_bytes(&self) -> f64 {
        self.rate.bytes_in(self.depth)
    }

    /// When `bytes` will be in it, if none are taken before; at least `now`. More than it holds are
    /// let through when it is full.
    pub fn ready_at(&self, now: Time, bytes: u64) -> Time {
        let needed = self.rate.time_for(bytes).min(self.depth);
        now.max((self.full_at.max(now) + needed).since(self.depth))
    }

    /// Takes bytes out, more than there are if need be: then it is in debt.
    pub fn take(&mut self, now: Time, bytes: u64) {
        self.full_at = self.full_at.max(now) + self.rate.time_for(bytes);
    }

    /// Bytes in it, 0 when it is in debt.
    pub fn tokens(&self, now: Time) -> f64 {
        self.rate.bytes_in(self.depth.since(self.full_at.since(now)))
    }
}
