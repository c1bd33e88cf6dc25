//! Draws of BBR, from the clock and not from a generator: flows differ in their picoseconds, and runs repeat.

use sojourn_engine::units::Time;

/// A number that looks random (Steele et al., "Fast splittable pseudorandom number generators", 2014).
pub(super) fn mixed(now: Time) -> u64 {
    let mut x = now.ps().wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A fraction from 0 to 1.
pub(super) fn fraction(now: Time) -> f64 {
    (mixed(now) >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first output of SplitMix64 with seed 0, and its upper 53 bits as a fraction.
    #[test]
    fn the_first_draw_is_splitmix64s() {
        assert_eq!(mixed(Time::ZERO), 0xe220_a839_7b1d_cdaf);
        assert!((fraction(Time::ZERO) - 0.8833).abs() < 1e-4); // 0xe220 / 0x10000
    }
}
