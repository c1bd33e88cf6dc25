//! The virtual queue of Low Latency DOCSIS (MULPI annex O, after docsis-ns3): how long the low-latency
//! queue would be if no packet had to wait for request and grant.
//!
//! Packets fill it and its rate empties it. What really waits is averaged; the virtual queue is raised
//! only when the average exceeds what waits for grants anyway. Otherwise every packet of a fast flow
//! would be marked, because it waits for its grant.
//!
//! Left out: bytes of a packet of which a part has been sent.

use super::proactive_rate::ProactiveRate;
use crate::units::{BitRate, Time};

/// Time between comparisons with what really waits (docsis-ns3: 500 us).
const INTERVAL: Time = Time::from_us(500);
/// Weight of the newest value in the average (docsis-ns3: 2^-7).
const GAIN: f64 = 1.0 / 128.0;
/// After so many comparisons with the same backlog the average is that backlog.
const SETTLED: u64 = 4096;

/// State of the virtual queue; it is empty at first.
#[derive(Default)]
pub(crate) struct VirtualQueue {
    /// Its length in seconds, when it was last brought up to date.
    length_s: f64,
    at: Time,
    /// Mean of the bytes that really wait.
    mean_bytes: f64,
    /// Comparisons made so far.
    compared: u64,
}

/// What a virtual queue is compared with.
#[derive(Clone, Copy, Debug)]
pub struct Loop {
    /// The longest time from the arrival of a packet to its grant.
    pub delay: Time,
    /// What is granted without a request.
    pub proactive: Option<ProactiveRate>,
}

impl Loop {
    /// Bytes that may wait for their grants (MULPI annex O: c = 1).
    pub fn allowed_bytes(&self, rate: BitRate) -> f64 {
        let (granted, per_interval) = self.proactive.map_or((0.0, 0.0), |proactive| {
            let bps = proactive.rate.bps() as f64;
            (bps, bps * proactive.interval.secs_f64() / 8.0)
        });
        let requested = (rate.bps() as f64 - granted).max(0.0);
        self.delay.secs_f64() * requested / 8.0 + per_interval
    }
}

impl VirtualQueue {
    /// Brings it up to `now`, with `waiting` bytes since it last was. To be called before these change.
    #[inline]
    pub(crate) fn advance(&mut self, now: Time, waiting: u64, rate: BitRate, allowed: f64) {
        let due = now.ps() / INTERVAL.ps();
        if due > self.compared {
            self.compare(due, waiting as f64, rate, allowed);
        }
        self.drain_to(now);
    }

    #[inline]
    fn drain_to(&mut self, at: Time) {
        self.length_s = (self.length_s - at.since(self.at).secs_f64()).max(0.0);
        self.at = at;
    }

    /// Makes the comparisons up to the one of this number.
    #[cold]
    fn compare(&mut self, due: u64, waiting: f64, rate: BitRate, allowed: f64) {
        if due - self.compared > SETTLED {
            self.mean_bytes = waiting;
            self.compared = due - 1;
        }
        while self.compared < due {
            self.compared += 1;
            self.mean_bytes += GAIN * (waiting - self.mean_bytes);
            if self.mean_bytes > allowed {
                self.drain_to(INTERVAL.times(self.compared));
                let excess_s = 8.0 * (self.mean_bytes - allowed) / rate.bps() as f64;
                self.length_s = self.length_s.max(excess_s);
            }
        }
    }

    /// Adds a packet. Returns its length with it.
    #[inline]
    pub(crate) fn add(&mut self, size: u64, rate: BitRate) -> Time {
        self.length_s += 8.0 * size as f64 / rate.bps() as f64;
        Time::from_secs_f64(self.length_s)
    }

    /// Takes back a packet that was dropped or redirected.
    pub(crate) fn give_back(&mut self, size: u64, rate: BitRate) {
        self.length_s = (self.length_s - 8.0 * size as f64 / rate.bps() as f64).max(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: BitRate = BitRate::from_bps(50_000_000);

    fn us(us: u64) -> Time {
        Time::from_us(us)
    }

    #[test]
    fn a_packet_lasts_its_time_at_the_rate() {
        // 1000 B at 50 Mb/s: 160 us. 100 us later 60 are left; with another one 220.
        let mut queue = VirtualQueue::default();
        queue.advance(us(10), 0, RATE, 1e9);
        assert_eq!(queue.add(1000, RATE), us(160));
        queue.advance(us(110), 1000, RATE, 1e9);
        assert_eq!(queue.add(1000, RATE), us(220));
        queue.give_back(1000, RATE);
        queue.advance(us(110), 1000, RATE, 1e9);
        assert!((queue.length_s - 60e-6).abs() < 1e-12);
    }

    #[test]
    fn what_waits_for_its_grant_is_no_queue() {
        // A loop of 4 ms at 50 Mb/s: 25 000 B. With 20 Mb/s granted every 1 ms: 4 ms at 30 Mb/s are
        // 15 000 B, and 2500 B of a grant.
        let loop_of = |proactive| Loop { delay: Time::from_ms(4), proactive };
        assert_eq!(loop_of(None).allowed_bytes(RATE), 25_000.0);
        let proactive =
            ProactiveRate { rate: BitRate::from_bps(20_000_000), interval: Time::from_ms(1) };
        assert_eq!(loop_of(Some(proactive)).allowed_bytes(RATE), 17_500.0);
    }

    #[test]
    fn what_waits_beyond_it_is() {
        // 128 000 B wait: the mean is 1000 B, 1992.1875 B after two comparisons. 1492.1875 B over the
        // 500 allowed are 238.75 us at 50 Mb/s, of which 50 us have passed.
        let mut queue = VirtualQueue::default();
        queue.advance(us(1050), 128_000, RATE, 500.0);
        assert!((queue.length_s - 188.75e-6).abs() < 1e-12, "{}", queue.length_s);
        // A long time settles it: 127 500 B are 20.4 ms.
        queue.advance(Time::from_s(100_000), 128_000, RATE, 500.0);
        assert!((queue.length_s - 20.4e-3).abs() < 1e-9, "{}", queue.length_s);
    }

    #[test]
    fn what_is_granted_beyond_the_rate_allows_no_less_than_a_grant() {
        let proactive =
            Some(ProactiveRate { rate: BitRate::from_bps(60_000_000), interval: Time::from_ms(1) });
        assert_eq!(Loop { delay: Time::from_ms(4), proactive }.allowed_bytes(RATE), 7500.0);
    }

    #[test]
    fn what_is_given_back_leaves_no_debt() {
        let mut queue = VirtualQueue::default();
        assert_eq!(queue.add(1000, RATE), us(160));
        queue.give_back(2000, RATE);
        assert_eq!(queue.add(1000, RATE), us(160));
    }

    #[test]
    fn the_average_is_what_waits_after_4097_comparisons_at_once() {
        // Otherwise each comparison moves it by a 128th, and never to the end.
        let mean = |intervals| {
            let mut queue = VirtualQueue::default();
            queue.advance(us(500 * intervals), 128_000, RATE, 1e9);
            assert_eq!((queue.compared, queue.length_s), (intervals, 0.0));
            queue.mean_bytes
        };
        assert_eq!([mean(0), mean(1)], [0.0, 1000.0]);
        assert!(mean(4096) < 128_000.0 && mean(4096) > 127_999.0);
        assert_eq!(mean(4097), 128_000.0);
    }

    #[test]
    fn an_average_of_what_is_allowed_raises_nothing_and_a_longer_queue_stays() {
        // The mean of 128 000 B is 1000 B after one comparison, as much as is allowed.
        let mut queue = VirtualQueue::default();
        queue.advance(us(500), 128_000, RATE, 1000.0);
        assert_eq!(queue.length_s, 0.0);
        // 992.1875 B over the 1000 allowed are 158.75 us; the queue itself is 1600 us then.
        queue.add(10_000, RATE);
        queue.advance(us(1000), 128_000, RATE, 1000.0);
        assert!((queue.length_s - 1100e-6).abs() < 1e-12, "{}", queue.length_s);
    }

    #[test]
    fn comparisons_are_counted_from_the_last_one() {
        // After 3000 with nothing 1000 B of 128 000 come with the next.
        let mut queue = VirtualQueue::default();
        queue.advance(us(500 * 3000), 0, RATE, 1e9);
        queue.advance(us(500 * 3001), 128_000, RATE, 1e9);
        assert_eq!((queue.mean_bytes, queue.compared), (1000.0, 3001));
    }
}
