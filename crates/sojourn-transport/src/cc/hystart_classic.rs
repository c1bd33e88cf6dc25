//! HyStart as Linux has it (Ha and Rhee 2011, "Taming the elephants"; Linux 6.18): slow start ends where
//! a train of acknowledgements is as long as the path, or round trips grow. It ends at once and
//! straight into congestion avoidance, unlike HyStart++ (RFC 9406).

use super::{RoundTrip, Window};
use sojourn_engine::units::Time;

/// The least window at which it looks, in segments.
const LOW_WINDOW: f64 = 16.0;
/// Acknowledgements at most so far apart are one train.
const SPACING: Time = Time::from_ms(2);
/// What a path may hold an acknowledgement back by.
const ACK_DELAY: Time = Time::from_ms(1);
/// Round trips of a round that are taken before it is judged.
const SAMPLES: u32 = 8;
/// Bounds of the rise of round trips that counts.
const RISE: (Time, Time) = (Time::from_ms(4), Time::from_ms(16));

/// A train may last for the least round trip; without pacing, which spreads a window over half a round
/// trip, for half of that.
pub(super) fn longest_train(min_rtt: Time, is_paced: bool) -> Time {
    let whole = min_rtt + ACK_DELAY;
    if is_paced { whole } else { whole.scaled(0.5) }
}

/// Round trips may be longer than the least one by an eighth of it, within bounds.
pub(super) fn longest_rtt(min_rtt: Time) -> Time {
    min_rtt + min_rtt.scaled(0.125).clamp(RISE.0, RISE.1)
}

/// A slow start that has not ended yet.
#[derive(Default)]
pub(super) struct ClassicHyStart {
    round_start: Time,
    /// The last acknowledgement of the train.
    last_ack: Time,
    /// What was sent when the round began; it ends when more is acknowledged.
    end: u64,
    least: Option<Time>,
    samples: u32,
}

impl ClassicHyStart {
    /// Takes in a round trip, `min_rtt` being the least so far; says whether slow start ends here.
    pub(super) fn ends(&mut self, window: &Window, trip: &RoundTrip, min_rtt: Time) -> bool {
        if trip.una > self.end {
            *self = Self {
                round_start: trip.now,
                last_ack: trip.now,
                end: trip.nxt,
                ..Self::default()
            };
        }
        if window.cwnd < LOW_WINDOW {
            return false;
        }
        let by_train = self.is_train_long(trip, min_rtt);
        let by_delay = self.is_round_late(trip.rtt, min_rtt);
        by_train || by_delay
    }

    fn is_train_long(&mut self, trip: &RoundTrip, min_rtt: Time) -> bool {
        if trip.now.since(self.last_ack) > SPACING {
            return false;
        }
        self.last_ack = trip.now;
        trip.now.since(self.round_start) > longest_train(min_rtt, trip.is_paced)
    }

    fn is_round_late(&mut self, rtt: Time, min_rtt: Time) -> bool {
        let least = self.least.map_or(rtt, |least| least.min(rtt));
        self.least = Some(least);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        least > longest_rtt(min_rtt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_ms;

    fn trip(now: Time, rtt: Time, una: u64) -> RoundTrip {
        RoundTrip { now, rtt, una, nxt: 1000, ..RoundTrip::default() }
    }

    #[test]
    fn bounds_of_trains_and_delays() {
        assert_eq!(longest_train(MS(100), true), MS(101));
        assert_eq!(longest_train(MS(100), false), Time::from_us(50_500));
        // 20/8 = 2.5 ms is raised to 4; 40/8 = 5; 200/8 = 25 is cut to 16.
        for (min_rtt, want) in [(20, 24), (40, 45), (200, 216)] {
            assert_eq!(longest_rtt(MS(min_rtt)), MS(want));
        }
    }

    /// Acknowledgements a millisecond apart: past half of 20 + 1 ms, at the eleventh, the train is too
    /// long. With a gap of 3 ms after the fifth the train is broken.
    #[test]
    fn a_long_train_ends_slow_start_and_a_gap_breaks_it() {
        let window = Window { cwnd: 20.0, ssthresh: 1e9 };
        let ends_at = |gap_after: u64| {
            let mut hystart = ClassicHyStart::default();
            (0..30).find(|&n| {
                let now = MS(100 + n + if n > gap_after { 3 } else { 0 });
                hystart.ends(&window, &trip(now, MS(20), 1 + n), MS(20))
            })
        };
        assert_eq!(ends_at(99), Some(11));
        assert_eq!(ends_at(5), None);
    }

    /// The ninth round trip of a round is judged: 24 ms is not more than 20 + 4, 24.1 is.
    #[test]
    fn eight_long_round_trips_end_slow_start() {
        let window = Window { cwnd: 20.0, ssthresh: 1e9 };
        let ends_at = |rtt: Time| {
            let mut hystart = ClassicHyStart::default();
            (0..20).find(|&n| hystart.ends(&window, &trip(MS(100 + 5 * n), rtt, 1 + n), MS(20)))
        };
        assert_eq!(ends_at(MS(24)), None);
        assert_eq!(ends_at(Time::from_us(24_100)), Some(8));
    }

    #[test]
    fn a_small_window_is_left_alone() {
        let (window, mut hystart) =
            (Window { cwnd: 15.0, ssthresh: 1e9 }, ClassicHyStart::default());
        assert!((0..50).all(|n| !hystart.ends(&window, &trip(MS(100 + n), MS(90), 1), MS(20))));
    }

    /// 16 segments are enough. A new round begins with more acknowledged than was sent when the last began.
    #[test]
    fn rounds_begin_with_what_was_sent_in_them() {
        let window = Window { cwnd: 16.0, ssthresh: 1e9 };
        let mut hystart = ClassicHyStart { end: 50, samples: 5, ..ClassicHyStart::default() };
        assert!(!hystart.ends(&window, &trip(MS(100), MS(90), 50), MS(20)));
        assert_eq!((hystart.end, hystart.samples, hystart.round_start), (50, 6, Time::ZERO));
        assert!(!hystart.ends(&window, &trip(MS(100), MS(90), 51), MS(20)));
        assert_eq!((hystart.end, hystart.samples, hystart.round_start), (1000, 1, MS(100)));
        assert_eq!((hystart.last_ack, hystart.least), (MS(100), Some(MS(90))));
        // Acknowledgements 2 ms apart are a train, which 10.5 ms end: at 112, not at 110.
        let ends: Vec<_> = (1..=6)
            .map(|n| hystart.ends(&window, &trip(MS(100 + 2 * n), MS(20), 60), MS(20)))
            .collect();
        assert_eq!(ends, [false, false, false, false, false, true]);
    }
}
