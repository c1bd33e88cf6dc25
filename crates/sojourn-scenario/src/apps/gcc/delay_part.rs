//! What the delay allows: growth until over-use, then 85 % of what arrives (libwebrtc: `aimd_rate_control.cc`,
//! `link_capacity_estimator.cc`).

use super::Usage;
use crate::apps::call_law::Rates;

/// What over-use leaves of the rate that arrives.
const DECREASE: f64 = 0.85;
/// Growth in a second far from the capacity, and the least of a step in bit/s.
const INCREASE: f64 = 1.08;
const LEAST_STEP_BPS: f64 = 1000.0;
/// The rate is no more than this above what arrives.
const MOST_OF_MEASURED: f64 = 1.5;
const MOST_ABOVE_BPS: f64 = 10e3;
/// Near the capacity a packet, of no more bytes than these, is added in two response times, but no less than that.
const PACKET_BITS: f64 = 1200.0 * 8.0;
const FRAMES_PER_S: f64 = 30.0;
const DETECTION_MS: f64 = 100.0;
const LEAST_NEAR_BPS: f64 = 4000.0;
/// The round trip before one is known.
const RTT_MS: f64 = 200.0;
/// The rate falls again after a round trip within this range, or at once if only this part of it arrives.
const AGAIN_MS: [f64; 2] = [10.0, 200.0];
const COLLAPSE: f64 = 0.5;

/// What the rate does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Hold,
    Increase,
}

/// The delay part of the control.
pub(super) struct DelayPart {
    rates: Rates,
    bps: f64,
    measured_bps: f64,
    capacity: Capacity,
    state: State,
    changed_ms: Option<f64>,
    rtt_ms: f64,
}

impl DelayPart {
    pub(super) fn new(rates: Rates) -> Self {
        let start_bps = rates.start_bps;
        Self {
            rates,
            bps: start_bps,
            measured_bps: start_bps,
            capacity: Capacity::default(),
            state: State::Hold,
            changed_ms: None,
            rtt_ms: RTT_MS,
        }
    }

    pub(super) fn bps(&self) -> f64 {
        self.bps
    }

    /// A report has come: the rates that arrive by the throughput and by a probe, where they are known.
    pub(super) fn update(
        &mut self,
        now_ms: f64,
        usage: Usage,
        (measured_bps, probed_bps): (Option<f64>, Option<f64>),
        rtt_ms: f64,
    ) {
        self.rtt_ms = rtt_ms;
        match (usage, measured_bps, probed_bps) {
            (Usage::Over, Some(measured_bps), _) => {
                if self.may_decrease(now_ms, measured_bps) {
                    self.change(now_ms, usage, measured_bps);
                }
            }
            // Nothing is measured yet: half of the rate.
            (Usage::Over, None, _) => {
                if self.may_decrease(now_ms, COLLAPSE * self.bps) {
                    self.set(now_ms, self.bps / 2.0);
                }
            }
            (_, _, Some(probed_bps)) => self.set(now_ms, probed_bps),
            _ => self.change(now_ms, usage, measured_bps.unwrap_or(self.measured_bps)),
        }
    }

    fn set(&mut self, now_ms: f64, bps: f64) {
        self.bps = self.within(bps);
        self.changed_ms = Some(now_ms);
    }

    fn within(&self, bps: f64) -> f64 {
        bps.clamp(self.rates.least_bps, self.rates.most_bps)
    }

    fn may_decrease(&self, now_ms: f64, measured_bps: f64) -> bool {
        let again_ms = self.rtt_ms.clamp(AGAIN_MS[0], AGAIN_MS[1]);
        let is_time = self.changed_ms.is_none_or(|changed_ms| now_ms - changed_ms >= again_ms);
        is_time || measured_bps < COLLAPSE * self.bps
    }

    fn change(&mut self, now_ms: f64, usage: Usage, measured_bps: f64) {
        self.measured_bps = measured_bps;
        match usage {
            Usage::Over => return self.decrease(now_ms, measured_bps),
            Usage::Under => self.state = State::Hold,
            Usage::Normal => {
                if self.state == State::Hold {
                    (self.state, self.changed_ms) = (State::Increase, Some(now_ms));
                }
            }
        }
        if self.state == State::Increase {
            self.increase(now_ms, measured_bps);
        }
    }

    fn increase(&mut self, now_ms: f64, measured_bps: f64) {
        if measured_bps > self.capacity.upper_bps() {
            self.capacity.kbps = None;
        }
        let most_bps = MOST_OF_MEASURED * measured_bps + MOST_ABOVE_BPS;
        let since_s = (now_ms - self.changed_ms.unwrap_or(now_ms)) / 1e3;
        if self.bps < most_bps {
            let step_bps = match self.capacity.kbps {
                Some(_) => self.near_bps_per_s() * since_s,
                None => {
                    let growth = libm::pow(INCREASE, since_s.min(1.0)) - 1.0;
                    (self.bps * growth).max(LEAST_STEP_BPS)
                }
            };
            self.bps = self.within((self.bps + step_bps).min(most_bps));
        }
        self.changed_ms = Some(now_ms);
    }

    /// What the rate grows by in a second near the capacity (draft-ietf-rmcat-gcc-02 §5.5): a packet each two response times.
    fn near_bps_per_s(&self) -> f64 {
        let frame_bits = self.bps / FRAMES_PER_S;
        let packet_bits = frame_bits / (frame_bits / PACKET_BITS).ceil();
        let response_s = 2.0 * (self.rtt_ms + DETECTION_MS) / 1e3;
        (packet_bits / response_s).max(LEAST_NEAR_BPS)
    }

    fn decrease(&mut self, now_ms: f64, measured_bps: f64) {
        let mut bps = DECREASE * measured_bps;
        if let Some(kbps) = self.capacity.kbps.filter(|_| bps > self.bps) {
            bps = DECREASE * 1e3 * kbps;
        }
        self.bps = self.within(bps.min(self.bps));
        if measured_bps < self.capacity.lower_bps() {
            self.capacity.kbps = None;
        }
        self.capacity.add(measured_bps);
        (self.state, self.changed_ms) = (State::Hold, Some(now_ms));
    }
}

/// Weight of a rate at over-use in the capacity, and how far off its mean such rates are.
const WEIGHT: f64 = 0.05;
const DEVIATIONS: f64 = 3.0;
/// The range of their variance as a share of the capacity, in kbit/s.
const VARIANCE: [f64; 2] = [0.4, 2.5];

/// The capacity of the line: the mean of what arrived at over-use.
struct Capacity {
    kbps: Option<f64>,
    variance: f64,
}

impl Default for Capacity {
    fn default() -> Self {
        Self { kbps: None, variance: VARIANCE[0] }
    }
}

impl Capacity {
    fn add(&mut self, measured_bps: f64) {
        let sample = measured_bps / 1e3;
        let kbps = self.kbps.map_or(sample, |kbps| (1.0 - WEIGHT) * kbps + WEIGHT * sample);
        let (error, norm) = (kbps - sample, kbps.max(1.0));
        let variance = (1.0 - WEIGHT) * self.variance + WEIGHT * error * error / norm;
        self.variance = variance.clamp(VARIANCE[0], VARIANCE[1]);
        self.kbps = Some(kbps);
    }

    fn deviation_kbps(&self, kbps: f64) -> f64 {
        DEVIATIONS * libm::sqrt(self.variance * kbps)
    }

    fn upper_bps(&self) -> f64 {
        self.kbps.map_or(f64::INFINITY, |kbps| 1e3 * (kbps + self.deviation_kbps(kbps)))
    }

    fn lower_bps(&self) -> f64 {
        self.kbps.map_or(0.0, |kbps| 1e3 * (kbps - self.deviation_kbps(kbps)).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATES: Rates = Rates { start_bps: 1e6, least_bps: 3e4, most_bps: 2.5e6 };

    #[test]
    fn it_grows_by_8_percent_a_second_until_over_use_takes_15_percent() {
        let mut part = DelayPart::new(RATES);
        part.update(0.0, Usage::Normal, (Some(1e6), None), 100.0);
        assert_eq!(part.bps, 1.001e6); // the least step
        part.update(500.0, Usage::Normal, (Some(1e6), None), 100.0);
        let half_second = 1.001e6 * libm::pow(1.08, 0.5);
        assert!((part.bps - half_second).abs() < 1e-6, "{}", part.bps);
        part.update(700.0, Usage::Over, (Some(0.9e6), None), 100.0);
        assert_eq!(part.bps, 0.85 * 0.9e6);
        // Not again within a round trip, but at once if less than half arrives.
        part.update(750.0, Usage::Over, (Some(0.5e6), None), 100.0);
        assert_eq!(part.bps, 0.85 * 0.9e6);
        part.update(760.0, Usage::Over, (Some(0.3e6), None), 100.0);
        assert_eq!(part.bps, 0.85 * 0.3e6);
    }

    #[test]
    fn near_the_capacity_it_grows_by_a_packet_in_two_response_times() {
        let mut part = DelayPart::new(RATES);
        part.update(0.0, Usage::Over, (Some(1e6), None), 100.0);
        assert_eq!(part.bps, 0.85e6);
        // It holds while the queue empties, and begins to grow with the report after that.
        part.update(100.0, Usage::Under, (Some(1e6), None), 100.0);
        part.update(200.0, Usage::Normal, (Some(1e6), None), 100.0);
        assert_eq!(part.bps, 0.85e6);
        // A frame has 850 / 30 = 28.33 kbit, three packets of 9.444 kbit; two response times are 0.4 s.
        part.update(300.0, Usage::Normal, (Some(1e6), None), 100.0);
        let packet_bits = 0.85e6 / 30.0 / 3.0;
        assert!((part.bps - 0.85e6 - 0.1 * packet_bits / 0.4).abs() < 1e-6, "{}", part.bps);
        // Far above the capacity of 1 Mbit/s, whose deviation is sqrt(0.4 * 1000) = 20 kbit/s, it is unknown again.
        part.update(400.0, Usage::Normal, (Some(1.07e6), None), 100.0);
        assert_eq!(part.capacity.kbps, None);
    }

    #[test]
    fn it_is_never_far_above_what_arrives() {
        let mut part = DelayPart::new(RATES);
        for number in 0..100 {
            part.update(f64::from(number) * 1e3, Usage::Normal, (Some(1e6), None), 100.0);
        }
        assert_eq!(part.bps, 1.51e6);
    }

    #[test]
    fn a_probe_sets_it_and_nothing_measured_halves_it() {
        let mut part = DelayPart::new(RATES);
        part.update(0.0, Usage::Normal, (None, Some(2e6)), 100.0);
        assert_eq!(part.bps, 2e6);
        part.update(200.0, Usage::Over, (None, None), 100.0);
        assert_eq!(part.bps, 1e6);
        part.update(400.0, Usage::Normal, (None, Some(1e7)), 100.0);
        assert_eq!(part.bps, 2.5e6);
    }
}
