//! Clocks of hosts, none of which runs at the rate of another.
//!
//! Simulated time is that of the access network, whose CMTS keeps the time of its modems, and results are in it. Only
//! differences between clocks matter, so one of them can be the measure of the others. A host's clock gains or loses
//! against it at a constant rate. Timers of two hosts therefore wander past each other, and past MAPs, instead of
//! keeping the phase that they began with. Clocks reckon in whole numbers, so that readings are the same on every
//! platform, and a clock without drift shows simulated time to the bit.
//!
//! Left out: drift that changes, as with temperature, and clocks that a time server sets.

use crate::rng::Seed;
use crate::units::Time;

/// Readings beyond any run: timers that are never due.
const BEYOND: Time = Time::from_ps(1 << 62);
/// One in the unit of `Clock`'s numbers.
const ONE: f64 = 18_446_744_073_709_551_616.0; // 2^64

/// A clock with a constant drift.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clock {
    /// What it gains in a unit of simulated time, in 2^-64.
    gain: i64,
    /// What simulated time loses in a unit of the clock's, in 2^-64.
    loss: i64,
    /// When it shows simulated time.
    right_at: Time,
}

impl Clock {
    /// A clock without drift.
    pub const TRUE: Self = Self { gain: 0, loss: 0, right_at: Time::ZERO };

    /// The clock of this random stream. Its drift is uniform within this many parts of a million on both sides, as
    /// makers of oscillators state their tolerance.
    pub fn drawn(seed: Seed, most_ppm: f64) -> Self {
        Self::of_ppm(most_ppm * (2.0 * seed.open().uniform() - 1.0))
    }

    fn of_ppm(ppm: f64) -> Self {
        Self::of_gain((ppm * 1e-6 * ONE) as i64)
    }

    fn of_gain(gain: i64) -> Self {
        let loss = gain as f64 / (1.0 + gain as f64 / ONE);
        Self { gain, loss: loss as i64, right_at: Time::ZERO }
    }

    /// This clock, set to simulated time at `at`.
    pub fn set_right(self, at: Time) -> Self {
        Self { right_at: at, ..self }
    }

    /// This clock as another one measures it, but for a part of a thousand of its drift.
    pub fn seen_by(self, other: Self) -> Self {
        Self::of_gain(self.gain - other.gain)
    }

    /// What it shows at a simulated time.
    #[inline]
    pub fn reading(self, at: Time) -> Time {
        if self.gain == 0 {
            return at;
        }
        Time::from_ps(at.ps().wrapping_add_signed(self.since_right(at, self.gain)))
    }

    /// When it shows this reading. With drift it may show up to 2 ps more then, never less: what waits for a reading is due.
    #[inline]
    pub fn instant(self, reading: Time) -> Time {
        if self.gain == 0 || reading >= BEYOND {
            return reading;
        }
        let lost = self.since_right(reading, self.loss);
        Time::from_ps(reading.ps().wrapping_add_signed(1 - lost)) // rounded up
    }

    /// How much simulated time a span takes that it measures.
    #[inline]
    pub fn span(self, measured: Time) -> Time {
        if self.gain == 0 || measured >= BEYOND {
            return measured;
        }
        let lost = part(measured.ps() as i64, self.loss);
        Time::from_ps(measured.ps().wrapping_add_signed(-lost))
    }

    /// A part, in 2^-64, of the time since the clock was right.
    #[inline]
    fn since_right(self, time: Time, of: i64) -> i64 {
        part(time.ps() as i64 - self.right_at.ps() as i64, of)
    }
}

/// A part of a span in 2^-64, rounded down.
#[inline]
fn part(span_ps: i64, of: i64) -> i64 {
    ((i128::from(span_ps) * i128::from(of)) >> 64) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_gains_its_parts_of_a_million() {
        // 50 us in a second, or 3 ms in a minute.
        let fast = Clock::of_ppm(50.0);
        assert_eq!(fast.reading(Time::from_s(1)).ps(), 1_000_050_000_000 - 1); // rounded down
        assert_eq!(fast.reading(Time::from_s(60)).ps(), 60_003_000_000_000 - 1);
        let slow = Clock::of_ppm(-50.0);
        assert_eq!(slow.reading(Time::from_s(60)), Time::from_ms(59_997));
        // A second of its own takes 1 / 0.99995 = 1.0000500025001250... s.
        assert_eq!(slow.span(Time::from_s(1)), Time::from_ps(1_000_050_002_501));
    }

    #[test]
    fn a_clock_is_right_when_it_was_set() {
        // Set at 10 s, it gains 50 us a second from then on, and was 50 us behind a second before.
        let clock = Clock::of_ppm(50.0).set_right(Time::from_s(10));
        let gained = |s| clock.reading(Time::from_s(s)).ps() as i64 - Time::from_s(s).ps() as i64;
        assert_eq!([9, 10, 12].map(gained), [-50_000_000, 0, 100_000_000 - 1]);
        let at = clock.instant(clock.reading(Time::from_s(12)));
        assert!(at.since(Time::from_s(12)) <= Time::from_ps(2), "{at:?}");
    }

    #[test]
    fn a_reading_is_shown_at_its_instant_and_hardly_before() {
        for ppm in [-1000.0, -50.0, -1e-3, 0.0, 1e-3, 50.0, 1000.0] {
            for right_at in [Time::ZERO, Time::from_s(10)] {
                let clock = Clock::of_ppm(ppm).set_right(right_at);
                for ps in [10_000, 19_999, 20_000, 123_456_789_012, 60_000_000_000_000, 1 << 60] {
                    let reading = clock.reading(clock.instant(Time::from_ps(ps))).ps();
                    let most = if ppm == 0.0 { ps } else { ps + 2 };
                    assert!((ps..=most).contains(&reading), "{ppm} {right_at:?} {ps}: {reading}");
                }
                assert_eq!(clock.instant(Time::NEVER), Time::NEVER);
                assert_eq!(clock.span(Time::NEVER), Time::NEVER);
            }
        }
    }

    #[test]
    fn a_clock_without_drift_shows_simulated_time() {
        let time = Time::from_ps(123_456_789_012_345);
        for clock in [Clock::TRUE, Clock::drawn(Seed::named(1, "clock"), 0.0)] {
            assert_eq!([clock.reading(time), clock.instant(time), clock.span(time)], [time; 3]);
        }
    }

    #[test]
    fn a_clock_is_seen_by_another_one() {
        // A server that gains 30 ppm and a home that loses 20: 50 ppm between them.
        let seen = Clock::of_ppm(30.0).seen_by(Clock::of_ppm(-20.0));
        assert_eq!(seen.reading(Time::from_s(1)).ps().div_ceil(1_000_000), 1_000_050);
    }

    /// Uniform within 50 ppm: mean 0 and deviation 50 / sqrt(3) = 28.9. Of 4000 draws the mean is off by 0.46, the
    /// deviation by 0.2 (the kurtosis of uniform numbers is 1.8).
    #[test]
    fn drifts_are_uniform_within_the_tolerance() {
        let drifts: Vec<f64> = (0..4000)
            .map(|number| Clock::drawn(Seed::named(number, "clock"), 50.0).gain as f64 / ONE * 1e6)
            .collect();
        assert!(drifts.iter().all(|drift| drift.abs() <= 50.0));
        let mean = drifts.iter().sum::<f64>() / 4000.0;
        let deviation =
            (drifts.iter().map(|drift| (drift - mean).powi(2)).sum::<f64>() / 4000.0).sqrt();
        assert!(mean.abs() < 1.9 && (deviation - 28.87).abs() < 0.9, "{mean} {deviation}");
    }
}
