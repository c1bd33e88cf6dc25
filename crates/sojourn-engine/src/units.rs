//! Time and rate, each in one integer unit.
//!
//! Time is counted in picoseconds. So a byte lasts a whole number of ticks at common rates, or is
//! off by less than one: 1 byte at 10 Gb/s takes 800 ps. 2^64 ps are 213 days. There is one
//! rounding rule: a transmission never ends early, so durations round up.
//!
//! Sums and products do not wrap: what is beyond the range of `Time` is [`Time::NEVER`]. The longest run
//! is a twentieth of that range. A span below zero is a defect, and stops the run.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

const PS_PER_SECOND: f64 = 1e12;
/// Picoseconds per second, times the bits of a byte: `bytes * this / bits_per_second` is in ps.
const PS_BITS_PER_BYTE: u64 = 8_000_000_000_000;
/// A quarter of the range of `Time`.
const LONGEST_PS: u64 = u64::MAX / 4;

/// An instant since the start of the run, or a span of time, in whole picoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Time(u64);

impl Time {
    /// The start of the run, and the empty span.
    pub const ZERO: Self = Self(0);
    /// Later than anything that happens: no wake-up.
    pub const NEVER: Self = Self(u64::MAX);

    /// From whole picoseconds.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// From whole microseconds.
    pub const fn from_us(us: u64) -> Self {
        Self(us.saturating_mul(1_000_000))
    }

    /// From whole milliseconds.
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms.saturating_mul(1_000_000_000))
    }

    /// From whole seconds.
    pub const fn from_s(s: u64) -> Self {
        Self(s.saturating_mul(1_000_000_000_000))
    }

    /// From seconds, rounded to the nearest picosecond; negative values give zero.
    pub fn from_secs_f64(s: f64) -> Self {
        Self((s * PS_PER_SECOND + 0.5) as u64)
    }

    /// In picoseconds.
    pub const fn ps(self) -> u64 {
        self.0
    }

    /// In seconds.
    pub fn secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_SECOND
    }

    /// In milliseconds.
    pub fn ms_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// In microseconds.
    pub fn us_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// The span from `earlier` to here, or zero if `earlier` is later.
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }

    /// This span `n` times over.
    pub const fn times(self, n: u64) -> Self {
        Self(self.0.saturating_mul(n))
    }

    /// This span multiplied by a factor, rounded to the nearest picosecond.
    pub fn scaled(self, factor: f64) -> Self {
        Self((self.0 as f64 * factor + 0.5) as u64)
    }
}

impl Add for Time {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Time {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Time {
    type Output = Self;
    #[track_caller]
    fn sub(self, other: Self) -> Self {
        Self(self.0.checked_sub(other.0).expect("a span of time is not below zero"))
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::NEVER { write!(f, "never") } else { write!(f, "{} ms", self.ms_f64()) }
    }
}

/// A rate in whole bits per second, never zero.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct BitRate {
    bps: u64,
    /// The rate in bytes per picosecond, kept because divisions are slow.
    bytes_per_ps: f64,
}

impl BitRate {
    /// From bits per second; a rate of zero becomes one bit per second.
    pub const fn from_bps(bps: u64) -> Self {
        let bps = if bps == 0 { 1 } else { bps };
        Self { bps, bytes_per_ps: bps as f64 / PS_BITS_PER_BYTE as f64 }
    }

    /// From megabits (10^6 bits) per second, rounded to the nearest bit per second.
    pub fn from_mbps(mbps: f64) -> Self {
        Self::from_bps((mbps * 1e6 + 0.5) as u64)
    }

    /// In bits per second.
    pub const fn bps(self) -> u64 {
        self.bps
    }

    /// The lower of two rates.
    pub const fn min(self, other: Self) -> Self {
        if other.bps < self.bps { other } else { self }
    }

    /// How long `bytes` take at this rate, rounded up. The result is limited to about 50 days, so
    /// that sums of such times stay in range.
    pub const fn time_for(self, bytes: u64) -> Time {
        match bytes.checked_mul(PS_BITS_PER_BYTE) {
            Some(ps_bits) => {
                let ps = ps_bits.div_ceil(self.bps);
                Time(if ps < LONGEST_PS { ps } else { LONGEST_PS })
            }
            None => {
                let ps = (bytes as u128 * PS_BITS_PER_BYTE as u128).div_ceil(self.bps as u128);
                Time(if ps < LONGEST_PS as u128 { ps as u64 } else { LONGEST_PS })
            }
        }
    }

    /// How long a number of bytes with a fraction takes at this rate, rounded up.
    pub fn time_for_part(self, bytes: f64) -> Time {
        Time((bytes / self.bytes_per_ps).ceil() as u64)
    }

    /// How many bytes pass in `span`, as a real number.
    pub fn bytes_in(self, span: Time) -> f64 {
        span.0 as f64 * self.bytes_per_ps
    }
}

/// A rate that remembers how long the last size took: most packets of a link have one of two sizes,
/// and divisions are slow.
#[derive(Clone, Debug)]
pub struct Pace {
    rate: BitRate,
    bytes: u64,
    time: Time,
}

impl Pace {
    /// The pace of this rate.
    pub const fn new(rate: BitRate) -> Self {
        Self { rate, bytes: 0, time: Time::ZERO }
    }

    /// The rate.
    pub const fn rate(&self) -> BitRate {
        self.rate
    }

    /// As [`BitRate::time_for`].
    #[inline]
    pub fn time_for(&mut self, bytes: u64) -> Time {
        if bytes != self.bytes {
            *self = Self { rate: self.rate, bytes, time: self.rate.time_for(bytes) };
        }
        self.time
    }
}

/// The whole part of a number below 2^63, as `trunc` gives it; a plain processor calls a function for that.
#[inline]
pub fn whole(number: f64) -> f64 {
    number as i64 as f64
}

/// The rate of `bytes` in `span`, in megabits (10^6 bits) per second. It is rounded once, so that
/// nine tenths of a rate compare as no less than nine tenths of it.
pub fn mbps(bytes: u64, span: Time) -> f64 {
    bytes as f64 * 8e6 / span.0 as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_that_are_whole_numbers_are_exact() {
        // In steps, by 8e-6 and then by 0.1 s, 150 packets of 1500 bytes were less than 18 Mbps.
        assert_eq!(mbps(150 * 1500, Time::from_ms(100)), 18.0);
    }

    #[test]
    fn a_byte_at_ten_gigabits_lasts_800_picoseconds() {
        assert_eq!(BitRate::from_bps(10_000_000_000).time_for(1), Time::from_ps(800));
    }

    #[test]
    fn durations_round_up() {
        // 1 byte at 3 b/s is 2.666... s.
        assert_eq!(BitRate::from_bps(3).time_for(1), Time::from_ps(2_666_666_666_667));
    }

    #[test]
    fn long_transfers_do_not_overflow() {
        // 10 MB at 5 Mb/s: 8e7 bit / 5e6 = 16 s; 330 MB at 1 b/s needs more than 64 bits on the way.
        assert_eq!(BitRate::from_mbps(5.0).time_for(10_000_000), Time::from_s(16));
        assert_eq!(BitRate::from_bps(1000).time_for(330_000_000), Time::from_s(2_640_000));
    }

    /// A time that is beyond the range, as from a pause of 10^11 s, stays there whatever is added.
    #[test]
    fn sums_and_products_do_not_wrap() {
        let beyond = Time::from_secs_f64(1e11);
        assert_eq!(beyond, Time::NEVER);
        assert_eq!(Time::from_s(1) + beyond, Time::NEVER);
        let mut sum = beyond;
        sum += Time::from_ps(1);
        assert_eq!(sum, Time::NEVER);
        // 2^64 ps are 18 446 744.07 s.
        assert_eq!(Time::from_s(18_446_744).times(2), Time::NEVER);
        assert_eq!(Time::from_s(18_446_745), Time::NEVER);
        assert_eq!(Time::from_s(1).scaled(1e300), Time::NEVER);
    }

    #[test]
    #[should_panic(expected = "not below zero")]
    fn a_span_below_zero_is_a_defect() {
        let _ = Time::from_ps(1) - Time::from_ps(2);
    }

    #[test]
    fn bytes_in_inverts_time_for() {
        let rate = BitRate::from_mbps(38.0);
        let bytes = rate.bytes_in(rate.time_for(1500));
        assert!((bytes - 1500.0).abs() < 1e-5, "{bytes}");
    }
}
