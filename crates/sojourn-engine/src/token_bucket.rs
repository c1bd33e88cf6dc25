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

    /// From now on it fills at another rate. What was taken and has not been filled again is still to be filled, so a
    /// bucket of the same depth keeps its tokens, and one that is full stays full.
    pub fn retune(&mut self, now: Time, rate: BitRate, depth_bytes: u64) {
        let depth = rate.time_for(depth_bytes);
        if (rate, depth) == (self.rate(), self.depth) {
            return;
        }
        let lacking = self.rate().bytes_in(self.full_at.since(now));
        self.full_at = now + rate.time_for_part(lacking);
        (self.rate, self.depth) = (Pace::new(rate), depth);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// 8 Mb/s, so that 1 byte is 1 us, and 1000 bytes deep.
    fn bucket() -> TokenBucket {
        TokenBucket::new(BitRate::from_mbps(8.0), 1000)
    }

    fn at(us: u64) -> Time {
        Time::from_us(us)
    }

    #[test]
    fn debt_is_what_was_taken_beyond_the_tokens() {
        // 1000 in it, 1500 taken: 500 of debt. 200 us later 300 are left, after 500 us none, and then it
        // fills.
        let mut bucket = bucket();
        assert_eq!((bucket.debt(at(0)), bucket.tokens(at(0))), (0.0, 1000.0));
        bucket.take(at(0), 1500);
        assert_eq!((bucket.debt(at(0)), bucket.tokens(at(0))), (500.0, 0.0));
        assert_eq!((bucket.debt(at(200)), bucket.tokens(at(200))), (300.0, 0.0));
        assert_eq!((bucket.debt(at(500)), bucket.tokens(at(500))), (0.0, 0.0));
        assert_eq!((bucket.debt(at(501)), bucket.tokens(at(501))), (0.0, 1.0));
        // 100 more are needed: 500 us of debt and 100 us.
        assert_eq!(bucket.ready_at(at(0), 100), at(600));
    }

    #[test]
    fn bytes_put_back_are_as_if_they_had_not_been_taken() {
        // 1500 - 700 = 800 taken: 200 left, and 100 us later 300.
        let mut bucket = bucket();
        bucket.take(at(0), 1500);
        bucket.put_back(700);
        assert_eq!((bucket.debt(at(0)), bucket.tokens(at(0))), (0.0, 200.0));
        assert_eq!(bucket.tokens(at(100)), 300.0);
        // 1500 - 200 = 1300 taken, 300 more than it held; after 50 us 250 of them are left.
        let mut bucket = self::bucket();
        bucket.take(at(0), 1500);
        bucket.put_back(200);
        assert_eq!(bucket.debt(at(50)), 250.0);
    }

    #[test]
    fn a_bucket_holds_no_more_than_its_depth_whatever_is_put_back() {
        // 300 taken at 10 ms come back at 10.2 ms, when 200 have been refilled: 900 + 300 are 1000 and not
        // 1200. So 1000 may be taken at once, and the next 100 come 100 us later.
        let mut bucket = bucket();
        bucket.take(at(10_000), 300);
        assert_eq!(bucket.tokens(at(10_200)), 900.0);
        bucket.put_back(300);
        assert_eq!(bucket.tokens(at(10_200)), 1000.0);
        bucket.take(at(10_200), 1000);
        assert_eq!(bucket.ready_at(at(10_200), 100), at(10_300));
    }

    /// 600 of 1000 taken, and 100 us later 500 lack. At 4 Mb/s, 2 us a byte, they come in 1000 us; 100 more than the 500
    /// tokens are there 200 us later.
    #[test]
    fn a_bucket_keeps_its_tokens_when_its_rate_changes() {
        let mut bucket = bucket();
        bucket.take(at(0), 600);
        bucket.retune(at(100), BitRate::from_mbps(4.0), 1000);
        assert_eq!((bucket.tokens(at(100)), bucket.tokens(at(300))), (500.0, 600.0));
        assert_eq!(bucket.ready_at(at(100), 600), at(300));
        assert_eq!(bucket.tokens(at(1100)), 1000.0);
        // Debt stays too: 1200 are owed beyond the 1000, of which 100 come in 200 us.
        bucket.take(at(1100), 2200);
        bucket.retune(at(1100), BitRate::from_mbps(8.0), 1000);
        assert_eq!((bucket.debt(at(1100)), bucket.debt(at(1200))), (1200.0, 1100.0));
        // A deeper bucket lacks what it lacked, so a full one stays full.
        bucket.retune(at(9000), BitRate::from_mbps(8.0), 3000);
        assert_eq!(bucket.tokens(at(9000)), 3000.0);
    }

    #[test]
    fn bytes_put_back_at_the_start_leave_a_full_bucket() {
        let mut bucket = bucket();
        bucket.put_back(5000);
        assert_eq!((bucket.debt(at(0)), bucket.tokens(at(0))), (0.0, 1000.0));
    }
}
