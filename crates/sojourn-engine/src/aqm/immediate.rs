//! Immediate AQM of Low Latency DOCSIS (RFC 9957 §4.1 and §4.2.4; MULPI annex N): the ramp of the
//! low-latency queue, which does not lie below the time of two full packets.

use super::marking::Ramp;
use crate::units::{BitRate, Time};

/// Bytes of the two packets whose time is the floor.
const FLOOR_BYTES: u64 = 2 * 2000;

/// The ramp for a maximum threshold, a range of 2^`lg_range_ns` ns and a maximum rate.
pub(crate) fn ramp(max: Time, lg_range_ns: u32, rate: BitRate) -> Ramp {
    let range = Time::from_ps(1000 << lg_range_ns);
    let min = max.since(range).max(rate.time_for(FLOOR_BYTES));
    Ramp { min, max: min + range }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_exponent_of_0_is_a_step() {
        // From 999.999 to 1000 us.
        let step = ramp(Time::from_ms(1), 0, BitRate::from_mbps(1000.0));
        assert_eq!(step.likelihood(Time::from_ps(999_999_000)), 0.0);
        assert_eq!(step.likelihood(Time::from_ms(1)), 1.0);
    }

    #[test]
    fn the_floor_moves_the_ramp_of_slow_links() {
        // 2 * 8 * 2000 b / 5 Mb/s = 6400 us; the range is 2^19 ns = 524.288 us. At 1 Gb/s the floor
        // of 32 us is below 1000 - 524.288.
        for (mbps, min_ns, max_ns) in [
            (5.0, 6_400_000, 6_924_288),
            (10.0, 3_200_000, 3_724_288),
            (50.0, 640_000, 1_164_288),
            // 32 000 b / 67.27 Mb/s = 475.69 us are below 475.712, 32 000 b / 67.26 Mb/s are not.
            (67.27, 475_712, 1_000_000),
            (1000.0, 475_712, 1_000_000),
        ] {
            let got = ramp(Time::from_ms(1), 19, BitRate::from_mbps(mbps));
            let [min, max] = [min_ns, max_ns].map(|ns: u64| Time::from_ps(ns * 1000));
            assert_eq!(got, Ramp { min, max }, "{mbps}");
        }
    }
}
