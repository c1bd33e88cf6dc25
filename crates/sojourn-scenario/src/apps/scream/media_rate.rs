//! The rate of the media: the window in a round trip, less a reserve that frames of other sizes and packets that wait make
//! larger, and the rate at which packets leave.

use crate::apps::call_law::Rates;

/// The rate is so much below what the window allows (§4.4).
const RESERVE: f64 = 1.2;
/// Weight of a packet's wait in the reserve, in times between frames above a quarter of one, and the most of that (§4.4:
/// `RATE_ADJUST_GAIN`).
const WAIT_GAIN: f64 = 1.0 / 16.0;
const WAIT: f64 = 1.0 / 4.0;
const MOST_FOR_WAITS: f64 = 0.5;
/// Weight of a frame in the mean of what frames have above the rate, and the most of that (§4.4: `FRAME_SIZE_DEV_ALPHA`).
const SIZE_WEIGHT: f64 = 1.0 / 64.0;
const MOST_FOR_SIZES: f64 = 0.2;
/// Below ten packets in the window the rate is lower, by a fifth at the most (§4.4).
const FEW: f64 = 0.1;
const MOST_FOR_FEW: f64 = 0.2;
/// Packets leave so much faster than the rate, but no slower than at the least one (§4.3.2: `PACKET_PACING_HEADROOM`,
/// `RATE_PACE_MIN`).
const PACING: f64 = 1.5;
const LEAST_PACE_BPS: f64 = 50e3;
/// Above this part of the greatest rate they leave faster still, up to so many times (§4.3.2: `RELAXED_PACING_LIMIT_LOW`,
/// `MAX_RELAXED_PACING_FACTOR`).
const RELAXED_FROM: f64 = 0.8;
const MOST_RELAXED: f64 = 4.0;

/// The rate of the media.
pub(super) struct MediaRate {
    rates: Rates,
    frame_s: f64,
    bps: f64,
    for_waits: f64,
    for_sizes: f64,
}

impl MediaRate {
    pub(super) fn new(rates: Rates, frame_s: f64) -> Self {
        Self { rates, frame_s, bps: rates.start_bps, for_waits: 0.0, for_sizes: 0.0 }
    }

    pub(super) fn bps(&self) -> f64 {
        self.bps
    }

    /// A frame was made of so many bytes. The oldest packet has waited for so long.
    pub(super) fn film(&mut self, bytes: f64, waited_ms: f64) {
        let wait = waited_ms / 1e3 / self.frame_s - WAIT;
        self.for_waits = (self.for_waits + WAIT_GAIN * wait).clamp(0.0, MOST_FOR_WAITS);
        let above = (8.0 * bytes / (self.bps * self.frame_s) - 1.0).max(0.0);
        let for_sizes = (1.0 - SIZE_WEIGHT) * self.for_sizes + SIZE_WEIGHT * above;
        self.for_sizes = for_sizes.min(MOST_FOR_SIZES);
    }

    /// The window has so many bytes, which are so many packets. Sizes here are those on the wire, so nothing is left for headers.
    pub(super) fn update(&mut self, window: f64, packets: f64, rtt_ms: f64) {
        let for_few = ((1.0 / packets).min(1.0) - FEW).clamp(0.0, MOST_FOR_FEW);
        let reserve = RESERVE + self.for_waits + self.for_sizes;
        let bps = (1.0 - for_few) / reserve * 8e3 * window / rtt_ms;
        self.bps = bps.clamp(self.rates.least_bps, self.rates.most_bps);
    }

    /// The rate at which packets leave.
    pub(super) fn pace_bps(&self) -> f64 {
        let nominal = self.bps / self.rates.most_bps;
        let relaxed = (nominal - RELAXED_FROM) / (1.0 - RELAXED_FROM);
        let scale = (1.0 - relaxed).clamp(1.0 / MOST_RELAXED, 1.0);
        PACING * self.bps.max(LEAST_PACE_BPS) / scale
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATES: Rates = Rates { start_bps: 3e5, least_bps: 3e4, most_bps: 2.5e6 };

    #[test]
    fn the_rate_is_the_window_in_a_round_trip_less_a_reserve() {
        let mut media = MediaRate::new(RATES, 1.0 / 30.0);
        // 24 packets of 1250 B in 100 ms are 2.4 Mbit/s, of which 1 / 1.2 are 2 Mbit/s.
        media.update(30e3, 24.0, 100.0);
        assert!((media.bps() - 2e6).abs() < 1e-6, "{}", media.bps());
        // Four packets: 1 / 4 - 0.1 = 0.15 less of 400 kbit/s / 1.2.
        media.update(5e3, 4.0, 100.0);
        assert!((media.bps() - 0.85 * 4e5 / 1.2).abs() < 1e-6, "{}", media.bps());
        media.update(1e6, 800.0, 100.0);
        assert_eq!(media.bps(), 2.5e6);
    }

    #[test]
    fn waits_and_large_frames_make_the_reserve_larger() {
        let mut media = MediaRate::new(RATES, 0.04);
        // 300 kbit/s have frames of 1500 B: one of 1.64 times that adds 0.64 / 64. A wait of 30 ms is 0.75 of a frame, of which
        // 0.5 are above the quarter: 0.5 / 16.
        media.film(1.64 * 1500.0, 30.0);
        assert!((media.for_sizes - 0.01).abs() < 1e-12 && media.for_waits == 0.03125);
        media.update(30e3, 24.0, 120.0);
        assert!((media.bps() - 2e6 / 1.24125).abs() < 1e-3, "{}", media.bps());
        // Half of the rate is left to waits at the most.
        (0..1000).for_each(|_| media.film(1500.0, 1000.0));
        assert_eq!(media.for_waits, 0.5);
    }

    #[test]
    fn packets_leave_faster_near_the_greatest_rate() {
        let mut media = MediaRate::new(RATES, 1.0 / 30.0);
        // 1.5 times up to 2 Mbit/s; half way to the most twice that, and four times at the most.
        for (bps, pace_bps) in [(3e5, 4.5e5), (2e6, 3e6), (2.25e6, 6.75e6), (2.5e6, 15e6)] {
            media.bps = bps;
            assert!((media.pace_bps() / pace_bps - 1.0).abs() < 1e-9, "{}", media.pace_bps());
        }
    }
}
