//! The two estimators of PIE for the departure rate of a busy queue.

use super::Departure;
use crate::units::Time;

crate::series! {
    /// PIE by departure rate, early PIE: estimate of the rate of departures.
    RATE_ESTIMATE = "rate_estimate", in "Mbps", from "RFC 8033, section 4.3";
}

/// Departure rate from the time that a fixed number of bytes takes. The times are averaged (RFC
/// 8033 appendix B).
pub(super) struct ByTime {
    /// DQ_THRESHOLD, in bytes.
    threshold: u64,
    /// Start of the current count and the bytes counted, if counting.
    cycle: Option<(Time, u64)>,
    /// Average of the times in seconds; `None` before the first cycle.
    average_s: Option<f64>,
}

impl ByTime {
    /// An estimator that counts `threshold` bytes in each cycle.
    pub(super) fn new(threshold: u64) -> Self {
        Self { threshold, cycle: None, average_s: None }
    }

    /// Counts a packet that has left.
    pub(super) fn departed(&mut self, packet: &Departure) {
        if let Some((start, bytes)) = &mut self.cycle {
            *bytes += packet.size;
            if *bytes >= self.threshold {
                let sample = packet.now.since(*start).secs_f64();
                let average = self.average_s.unwrap_or(sample);
                // RFC 8033 appendix B: DQ_THRESHOLD / 2^16.
                let weight = (self.threshold as f64 / 65_536.0).min(1.0);
                self.average_s = Some(weight * sample + (1.0 - weight) * average);
                self.cycle = None;
            }
        }
        if self.cycle.is_none() && packet.own_left.bytes >= self.threshold {
            self.cycle = Some((packet.now, 0));
        }
    }

    /// The rate in bytes per second; `None` before the first measurement, and where all packets left at once.
    pub(super) fn bytes_per_s(&self) -> Option<f64> {
        let seconds = self.average_s.filter(|seconds| *seconds > 0.0)?;
        Some(self.threshold as f64 / seconds)
    }

    /// Time in seconds to drain a backlog; `None` before the first measurement.
    pub(super) fn latency_s(&self, backlog_bytes: u64) -> Option<f64> {
        self.average_s.map(|seconds| seconds * backlog_bytes as f64 / self.threshold as f64)
    }
}

/// Departure rate as bytes over time. The rates are averaged (the PIE draft and its ns-2 code;
/// CoDel-DT in CableLabs' ns-2 code). The packet that starts a cycle is counted, so the rate is
/// slightly too high.
pub(super) struct ByRate {
    threshold: u64,
    cycle: Option<(Time, u64)>,
    bytes_per_s: Option<f64>,
}

impl ByRate {
    /// An estimator that counts `threshold` bytes in each cycle.
    pub(super) fn new(threshold: u64) -> Self {
        Self { threshold, cycle: None, bytes_per_s: None }
    }

    /// Counts a packet that has left.
    pub(super) fn departed(&mut self, packet: &Departure) {
        if self.cycle.is_none() && packet.own_left.bytes >= self.threshold {
            self.cycle = Some((packet.now, 0));
        }
        let Some((start, bytes)) = &mut self.cycle else { return };
        *bytes += packet.size;
        let elapsed = packet.now.since(*start).secs_f64();
        if *bytes < self.threshold || elapsed == 0.0 {
            return;
        }
        let sample = *bytes as f64 / elapsed;
        self.bytes_per_s = Some(self.bytes_per_s.map_or(sample, |rate| (rate + sample) / 2.0));
        self.cycle = (packet.own_left.bytes > self.threshold).then_some((packet.now, 0));
    }

    /// The rate in bytes per second; `None` before the first measurement.
    pub(super) fn bytes_per_s(&self) -> Option<f64> {
        self.bytes_per_s
    }

    /// Time in seconds to drain a backlog; 0 before the first measurement.
    pub(super) fn latency_s(&self, backlog_bytes: u64) -> f64 {
        self.bytes_per_s.map_or(0.0, |rate| backlog_bytes as f64 / rate)
    }

    /// Resets the estimator: a burst reset forgets the rate.
    pub(super) fn forget(&mut self) {
        *self = Self::new(self.threshold);
    }
}

#[cfg(test)]
mod tests {
    use super::super::packets_for_tests::departure;
    use super::*;
    use crate::count::Count;

    /// The n-th of many 1500-byte packets that leave every 0.6 ms (20 Mbps), a backlog behind it.
    fn packet(n: u64) -> Departure {
        Departure {
            now: Time::from_us(600 * n),
            sojourn: Time::ZERO,
            size: 1500,
            left: Count { bytes: 40_000, packets: 27 },
            own_left: Count { bytes: 40_000, packets: 27 },
            alone: false,
            ecn: crate::packet::Ecn::NotEct,
            is_markable: false,
            flow: 0,
        }
    }

    #[test]
    fn by_time_gives_the_rate_of_the_link() {
        // 16 384 bytes are counted over 11 packets: 16 500 bytes in 6.6 ms. 40 000 bytes then take
        // 40 000 / 16 384 * 6.6 ms = 16.113 ms.
        let mut rate = ByTime::new(1 << 14);
        assert_eq!(rate.latency_s(40_000), None);
        (0..100).for_each(|n| rate.departed(&packet(n)));
        let latency_s = rate.latency_s(40_000).unwrap();
        assert!((latency_s - 0.016113).abs() < 1e-6, "{latency_s}");
    }

    #[test]
    fn a_cycle_ends_with_its_last_byte() {
        let mut rate = ByTime::new(3000);
        for (size, is_measured) in [(500, false), (2999, false), (1, true)] {
            rate.departed(&Departure { size, ..packet(0) });
            assert_eq!(rate.latency_s(1).is_some(), is_measured, "{size}");
        }
    }

    #[test]
    fn packets_that_leave_at_once_have_no_rate() {
        let mut rate = ByTime::new(1 << 14);
        (0..100).for_each(|_| rate.departed(&packet(0)));
        assert_eq!((rate.latency_s(40_000), rate.bytes_per_s()), (Some(0.0), None));
    }

    #[test]
    fn by_rate_counts_the_packet_that_starts_a_cycle() {
        // The first cycle: packets 0 to 6, 10 500 bytes in 6 * 0.6 = 3.6 ms: 2.917 MB/s. The next
        // start where the last ended, without counting its packet again: 7 packets in 4.2 ms, the
        // true 2.5 MB/s.
        let mut rate = ByRate::new(10_000);
        (0..7).for_each(|n| rate.departed(&packet(n)));
        assert!((rate.bytes_per_s().unwrap() / 2_916_667.0 - 1.0).abs() < 1e-6);
        (7..100).for_each(|n| rate.departed(&packet(n)));
        assert!((rate.bytes_per_s().unwrap() / 2.5e6 - 1.0).abs() < 1e-4);
    }

    #[test]
    fn no_cycle_has_a_weight_above_one() {
        // 131 072 bytes are twice 2^16, so the last cycle alone counts: 88 packets in 88 * 0.6 = 52.8 ms,
        // and after it 88 at half the rate.
        let mut rate = ByTime::new(1 << 17);
        let waits = |n: u64, us| {
            let own_left = Count { bytes: 200_000, packets: 134 };
            Departure { now: Time::from_us(us), own_left, ..packet(n) }
        };
        (0..=88).for_each(|n| rate.departed(&waits(n, 600 * n)));
        assert!((rate.latency_s(1 << 17).unwrap() - 0.0528).abs() < 1e-9);
        (1..=88).for_each(|n| rate.departed(&waits(n, 52_800 + 1200 * n)));
        assert!((rate.latency_s(1 << 17).unwrap() - 0.1056).abs() < 1e-9);
    }

    #[test]
    fn times_are_averaged_by_the_part_of_2_to_the_16_that_a_cycle_has() {
        // Of 32 768 B, half of 2^16, in packets of 1024: 10 ms, then 20. The mean is 15 ms.
        let mut rate = ByTime::new(1 << 15);
        let mut leave = |us, left| {
            let packet = departure(Time::from_us(us), Time::ZERO, left);
            rate.departed(&Departure { size: 1024, ..packet });
            rate.average_s
        };
        // A cycle begins where as much waits as it counts, and ends with the 32nd packet after that.
        assert_eq!(leave(0, 32_767), None);
        assert_eq!(leave(1000, 32_768), None);
        for _ in 0..31 {
            assert_eq!(leave(9000, 32_768), None);
        }
        assert_eq!(leave(11_000, 32_768), Some(0.010));
        for _ in 0..31 {
            assert_eq!(leave(20_000, 32_767), Some(0.010));
        }
        assert_eq!(leave(31_000, 32_767), Some(0.015));
        // Too little waits for another cycle.
        for _ in 0..32 {
            assert_eq!(leave(99_000, 32_767), Some(0.015));
        }
        assert!((rate.latency_s(1 << 14).unwrap() - 0.0075).abs() < 1e-12);
        assert!((rate.bytes_per_s().unwrap() - 32_768.0 / 0.015).abs() < 1e-6);
    }

    #[test]
    fn the_mean_of_rates_is_of_the_last_one_and_all_before() {
        let mut rate = ByRate::new(3000);
        assert_eq!((rate.bytes_per_s(), rate.latency_s(6000)), (None, 0.0));
        let mut leave = |ms, left| {
            rate.departed(&departure(Time::from_ms(ms), Time::ZERO, left));
            rate.bytes_per_s()
        };
        // 3000 B with the one that starts the cycle, in 2 ms; as much as it counts waits, not more, so the next packet
        // starts another one: 3000 B in 1 ms.
        assert_eq!([leave(0, 2999), leave(1, 3000), leave(2, 3000)], [None; 3]);
        assert_eq!(leave(3, 3000), Some(1.5e6));
        assert_eq!([leave(10, 3000), leave(10, 3000)], [Some(1.5e6); 2]);
        assert_eq!(leave(11, 3001), Some(2.25e6));
        // More waits, so that a cycle follows without its first packet: 3000 B in 4 ms are 0.75 MB/s.
        assert_eq!([leave(12, 0), leave(14, 0)], [Some(2.25e6); 2]);
        assert_eq!(leave(15, 0), Some(1.5e6));
        assert_eq!(leave(99, 2999), Some(1.5e6));
        assert_eq!(rate.latency_s(6000), 0.004);
        rate.forget();
        assert_eq!((rate.bytes_per_s(), rate.threshold), (None, 3000));
        // What leaves at once has no rate; the cycle goes on until time has passed.
        let mut leave = |ms| {
            rate.departed(&departure(Time::from_ms(ms), Time::ZERO, 9000));
            rate.bytes_per_s()
        };
        assert_eq!([leave(0), leave(0), leave(0), leave(0)], [None; 4]);
        assert_eq!(leave(1), Some(5e6));
    }
}
