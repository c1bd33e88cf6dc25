//! DOCSIS-PIE: the PIE variant of DOCSIS 3.1 cable modems. RFC 8034 appendix A; White 2014 §7-8.
//!
//! Every 16 ms it estimates the queue delay from the backlog and the shaper's tokens, and updates a
//! drop probability by a proportional-integral rule. Arrivals are dropped with that probability; a
//! derandomiser keeps drops from clustering and from leaving long gaps.
//!
//! Left out: ECN, which RFC 8034 §4.7 does not have, and the quantised packet sizes that the RFC
//! permits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pie_parts::{DROP_PROBABILITY, Derandomiser, PROB_LOW, tuning_divisor};
use super::{Aqm, AqmAlgorithm, AqmParameters, AqmSpec, Arrival, Buffer, DrainRate, Verdict};
use crate::count::Count;
use crate::record::{Gauges, Lapses, Rest};
use crate::rng::{Rng, Seed};
use crate::units::{BitRate, Time};
use sojourn_input::problem::Remedy;

crate::series! {
    /// DOCSIS-PIE that tracks the rate: estimate of the channel's, from grants.
    GRANT_RATE_ESTIMATE = "rate_estimate", in "Mbps", from "White 2014, appendix A";
}

// RFC 8034 appendix A.1 and A.2; times in seconds, sizes in bytes.
const A: f64 = 0.25;
const B: f64 = 2.5;
const INTERVAL: Time = Time::from_ms(16);
const BURST_RESET_TIMEOUT: Time = Time::from_s(1);
const MAX_BURST: Time = Time::from_ms(142);
const MEAN_PKTSIZE: f64 = 1024.0;
const MIN_PKTSIZE: f64 = 64.0;
const LATENCY_LOW_S: f64 = 0.005;
const LATENCY_HIGH_S: f64 = 0.2;
const MAX_PROB: f64 = PROB_LOW * MEAN_PKTSIZE / MIN_PKTSIZE;

/// Parameters of DOCSIS-PIE. The RFC fixes all others, so that operators need not tune them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "DocsisPie")]
pub struct Parameters {
    /// Target queue delay in ms (RFC 8034 §4.1: 10 by default).
    #[schemars(range(min = 0.1, max = 255.0), extend("x-live" = true))]
    pub target_ms: f64,
    /// Whether to estimate the channel's rate from the grants and to use it for the queue delay if
    /// it is below the service's rates. Use it if the channel, not the token buckets, is the
    /// bottleneck (White 2014 appendix A).
    pub track_rate: bool,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { target_ms: 10.0, track_rate: false }
    }
}

impl AqmParameters for Parameters {
    fn start(&self, _seed: Seed) -> AqmAlgorithm {
        DocsisPie::new(self).into()
    }

    fn target_ms(&self) -> Option<f64> {
        Some(self.target_ms)
    }

    fn obstacle(&self, buffer: Buffer) -> Option<(String, Remedy)> {
        buffer.is_low.then(|| {
            let third = buffer.bytes / 3;
            let why = format!("it is inactive until a third of the buffer is full, {third} bytes");
            // A third of which is what the target lets wait.
            (why, buffer.of_ms(3.0 * self.target_ms))
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// Nothing is dropped until the buffer is a third full.
    Inactive,
    /// The first drop starts a burst allowance.
    Quiescent,
    /// The drop probability is applied.
    Active,
}

/// Estimates the channel's rate from grants (White 2014 appendix A). The estimate is valid only
/// while the modem keeps requesting; the paper does not say how to detect that.
struct RateTracker {
    /// Bytes granted since the last update.
    granted: u64,
    /// Did every MAP since the last update leave requested bytes ungranted?
    pending: bool,
    /// Bits per second; `None` until the first update, which sets the sustained rate.
    estimate: Option<f64>,
}

impl RateTracker {
    const NEW: Self = Self { granted: 0, pending: true, estimate: None };

    fn on_map(&mut self, granted: u64, ungranted: u64) {
        self.granted += granted;
        self.pending &= ungranted > 0;
    }

    fn update(&mut self, sustained: BitRate) -> BitRate {
        let estimate = self.estimate.get_or_insert(sustained.bps() as f64);
        let now = 8.0 * self.granted as f64 / INTERVAL.secs_f64();
        if self.pending || now > *estimate {
            *estimate = (*estimate + now) / 2.0;
        }
        self.granted = 0;
        self.pending = true;
        BitRate::from_bps(*estimate as u64)
    }
}

/// State of DOCSIS-PIE.
pub struct DocsisPie {
    target_s: f64,
    phase: Phase,
    /// Drop probability of a packet of mean size. It may exceed 1, for the sake of small packets.
    prob: f64,
    derandomiser: Derandomiser,
    /// Queue delay at the last update, in seconds.
    qdelay_old_s: f64,
    burst_allowance: Time,
    burst_reset: Time,
    tracker: Option<RateTracker>,
    lapses: Lapses,
    rest: Rest,
}

impl DocsisPie {
    /// The algorithm in its initial state, inactive.
    pub fn new(p: &Parameters) -> Self {
        Self {
            target_s: p.target_ms / 1e3,
            phase: Phase::Inactive,
            prob: 0.0,
            derandomiser: Derandomiser::default(),
            qdelay_old_s: 0.0,
            burst_allowance: Time::ZERO,
            burst_reset: Time::ZERO,
            tracker: p.track_rate.then_some(RateTracker::NEW),
            lapses: Lapses::default(),
            rest: Rest::before(Time::from_secs_f64(p.target_ms / 1e3)),
        }
    }

    /// Drop probability of a packet of mean size. It may exceed 1.
    #[inline]
    pub fn probability(&self) -> f64 {
        self.prob
    }

    /// The queue delay that it estimated last.
    #[inline]
    pub fn delay(&self) -> Time {
        Time::from_secs_f64(self.qdelay_old_s)
    }

    /// The state that updates may change.
    fn state(&self) -> (Phase, f64, f64, [Time; 2]) {
        (self.phase, self.prob, self.qdelay_old_s, [self.burst_allowance, self.burst_reset])
    }

    /// `drop_early()` of RFC 8034 appendix A.1.
    fn drop_early(&mut self, packet: &Arrival, rng: &mut Rng) -> bool {
        let size = packet.size as f64;
        let p1 = (self.prob * size / MEAN_PKTSIZE).min(PROB_LOW) * packet.share;
        self.derandomiser.accumulate(p1);
        let latency_is_low = self.qdelay_old_s < self.target_s / 2.0 && self.prob < 0.2;
        if latency_is_low || packet.backlog.bytes as f64 <= 2.0 * MEAN_PKTSIZE {
            return false;
        }
        self.derandomiser.says_drop(p1, rng)
    }

    /// `calculate_drop_prob()` of RFC 8034 appendix A.2, for a queue delay of `qdelay_s`.
    fn calculate_drop_prob(&mut self, qdelay_s: f64) {
        if self.burst_allowance > Time::ZERO {
            self.prob = 0.0;
            self.burst_allowance = self.burst_allowance.since(INTERVAL);
        } else {
            let (step, unanswered_s) = self.step(qdelay_s);
            self.prob += step;
            self.note(qdelay_s, unanswered_s);
            if qdelay_s < LATENCY_LOW_S && self.qdelay_old_s < LATENCY_LOW_S {
                self.prob *= 0.98;
            } else if qdelay_s > LATENCY_HIGH_S {
                self.prob += 0.02;
            }
            self.prob = self.prob.clamp(0.0, MAX_PROB);
        }
        self.settle(qdelay_s);
        self.qdelay_old_s = qdelay_s;
    }

    /// Notes an update while it acts: the delay beyond the target, and what of it a limited step does not answer. A
    /// high delay has a rule of its own.
    fn note(&mut self, qdelay_s: f64, unanswered_s: f64) {
        if self.phase != Phase::Inactive && qdelay_s <= LATENCY_HIGH_S {
            self.lapses.updates += 1;
            self.lapses.excess_s += qdelay_s - self.target_s;
            self.lapses.unanswered_s += unanswered_s;
        }
    }

    /// The step of the PI controller, reduced where the probability is small (RFC 8034 appendix
    /// A.2), and the delay in s beyond the target that would have given what its limit takes off.
    fn step(&self, qdelay_s: f64) -> (f64, f64) {
        let step = A * (qdelay_s - self.target_s) + B * (qdelay_s - self.qdelay_old_s);
        let divisor = match self.prob {
            p if p < 0.1 => tuning_divisor(p),
            p if p < 1.0 => 0.5,
            p if p < 10.0 => 0.125,
            _ => 0.03125,
        };
        let step = step / divisor;
        let limited = if self.prob >= 0.1 { step.min(0.02) } else { step };
        (limited, (step - limited) * divisor / A)
    }

    /// Becomes quiescent, then inactive, while there is nothing to control.
    fn settle(&mut self, qdelay_s: f64) {
        let half = self.target_s / 2.0;
        let quiet = qdelay_s < half
            && self.qdelay_old_s < half
            && self.prob == 0.0
            && self.burst_allowance == Time::ZERO;
        match self.phase {
            Phase::Active if quiet => {
                self.phase = Phase::Quiescent;
                self.burst_reset = Time::ZERO;
            }
            Phase::Quiescent if quiet => {
                self.burst_reset += INTERVAL;
                if self.burst_reset > BURST_RESET_TIMEOUT {
                    self.phase = Phase::Inactive;
                    self.burst_reset = Time::ZERO;
                }
            }
            Phase::Quiescent => self.burst_reset = Time::ZERO,
            Phase::Active | Phase::Inactive => {}
        }
    }
}

impl Aqm for DocsisPie {
    fn on_arrival(&mut self, packet: &Arrival, drain_rate: &DrainRate, rng: &mut Rng) -> Verdict {
        if self.burst_allowance > Time::ZERO {
            return Verdict::Pass;
        }
        if self.prob == 0.0 {
            self.derandomiser.reset();
        }
        if self.phase == Phase::Inactive {
            if packet.backlog.bytes < drain_rate.buffer_bytes / 3 {
                return Verdict::Pass;
            }
            self.phase = Phase::Quiescent;
        }
        if !self.drop_early(packet, rng) {
            return Verdict::Pass;
        }
        self.derandomiser.reset();
        if self.phase == Phase::Quiescent {
            self.phase = Phase::Active;
            self.burst_allowance = MAX_BURST;
        }
        Verdict::Drop
    }

    fn on_overflow(&mut self) {
        self.derandomiser.reset();
    }

    fn on_map(&mut self, granted: u64, ungranted: u64) {
        if let Some(tracker) = &mut self.tracker {
            tracker.on_map(granted, ungranted);
        }
    }

    fn follows_maps(&self) -> bool {
        self.tracker.is_some()
    }

    fn update_interval(&self) -> Time {
        INTERVAL
    }

    fn update(&mut self, _now: Time, backlog: Count, drain_rate: &DrainRate) -> bool {
        let before = self.state();
        let (buffer_bytes, service) = (drain_rate.buffer_bytes, drain_rate.sustained);
        let mut drain_rate = *drain_rate;
        if let Some(tracker) = &mut self.tracker {
            let channel = tracker.update(drain_rate.sustained);
            drain_rate.sustained = drain_rate.sustained.min(channel);
            drain_rate.peak = drain_rate.peak.min(channel);
        }
        self.calculate_drop_prob(drain_rate.drain_s(backlog.bytes as f64));
        let (rests, delay_s) = (self.phase == Phase::Inactive, self.qdelay_old_s);
        self.rest.follow(rests, delay_s, buffer_bytes, service);
        // Grants change the tracker between updates.
        self.tracker.is_some() || self.state() != before
    }

    fn gauges(&self, out: &mut Gauges) {
        // The controller goes on while the law rests, but then nothing is dropped.
        let rests = self.phase == Phase::Inactive;
        out.show(DROP_PROBABILITY, if rests { 0.0 } else { self.prob });
        if let Some(tracker) = &self.tracker {
            let mbps = tracker.estimate.map_or(f64::NAN, |bps| bps / 1e6);
            out.show(GRANT_RATE_ESTIMATE, mbps);
        }
    }

    fn lapses(&self) -> Lapses {
        self.lapses
    }

    fn rest(&self) -> Option<Rest> {
        Some(self.rest)
    }

    fn retune(&mut self, spec: &AqmSpec) {
        let AqmSpec::DocsisPie(p) = spec else { return };
        self.target_s = p.target_ms / 1e3;
        self.rest.set_target(Time::from_secs_f64(self.target_s));
    }
}

#[cfg(test)]
mod tests {
    use super::super::pie_parts::PROB_HIGH;
    use super::*;

    fn drain_rate() -> DrainRate {
        DrainRate {
            tokens: 0.0,
            sustained: BitRate::from_mbps(5.0),
            peak: BitRate::from_mbps(20.0),
            buffer_bytes: 156_250,
            share: None,
        }
    }

    fn arrival(size: u64, bytes: u64) -> Arrival {
        let backlog = Count { bytes, packets: bytes / 1500 };
        Arrival {
            now: Time::ZERO,
            size,
            backlog,
            share: 1.0,
            ecn: crate::packet::Ecn::NotEct,
            is_markable: false,
            flow: 0,
        }
    }

    #[test]
    fn open_loop_at_20_ms_of_constant_latency() {
        // D = 20 ms, target 10 ms. Update 1: (0.25 * 0.010 + 2.5 * 0.020) / 2048 = 0.0525 / 2048
        // = 2.56348e-5. Then D = D_old: 0.25 * 0.010 / 128 = 1.953125e-5 each while p < 1e-4.
        let mut pie = DocsisPie::new(&Parameters::default());
        let probs: Vec<f64> = (0..300)
            .map(|_| {
                pie.calculate_drop_prob(0.020);
                pie.prob
            })
            .collect();
        for (got, want) in probs.iter().zip([2.56348e-5, 4.51660e-5, 6.46973e-5]) {
            assert!((got - want).abs() < 1e-10, "{got} {want}");
        }
        // Later divisors 32, 8, 2, 0.5 give the updates at which each decade is reached.
        let reached = |level: f64| probs.iter().position(|p| *p >= level).unwrap() + 1;
        assert_eq!([1e-4, 1e-3, 1e-2, 0.1, 1.0].map(reached), [5, 17, 46, 118, 298]);
        // Nothing is dropped before the buffer is a third full, and so it is shown.
        let shown = |pie: &DocsisPie| {
            let mut gauges = Gauges::default();
            pie.gauges(&mut gauges);
            gauges.get("drop_probability")
        };
        assert_eq!(shown(&pie), Some(0.0));
        pie.phase = Phase::Quiescent;
        assert_eq!(shown(&pie), Some(pie.prob));
    }

    #[test]
    fn the_step_is_divided_by_what_the_probability_is() {
        // D falls by 0.4 ms to the target of 10 ms: 2.5 * -0.0004 = -0.001, over each divisor.
        let step = |prob, qdelay_s| {
            let mut pie = DocsisPie { prob, ..DocsisPie::new(&Parameters::default()) };
            pie.qdelay_old_s = 0.0104;
            pie.step(qdelay_s).0
        };
        for (prob, want) in [
            (0.0999, -0.0005),
            (0.1, -0.002),
            (0.999, -0.002),
            (1.0, -0.008),
            (9.99, -0.008),
            (10.0, -0.032),
        ] {
            let got = step(prob, 0.010);
            assert!((got - want).abs() < 1e-9, "{prob}: {got}");
        }
        // 0.25 * 0.09 + 2.5 * 0.0896 = 0.2465, half of it at p = 0.09; from 0.1 on it is 0.02 at most.
        assert!((step(0.09, 0.1) - 0.123_25).abs() < 1e-9);
        assert_eq!(step(0.1, 0.1), 0.02);
    }

    /// 0.25 * 0.09 + 2.5 * 0.0896 = 0.2465, twice it at p = 0.1: 0.473 more than 0.02, which 0.946 s beyond the target would
    /// have given. Steps below the limit, and at lower probabilities, answer all.
    #[test]
    fn what_a_limited_step_does_not_answer_is_noted_while_it_acts() {
        let noted = |phase, prob, qdelay_s| {
            let mut pie = DocsisPie {
                phase,
                prob,
                qdelay_old_s: 0.0104,
                ..DocsisPie::new(&Parameters::default())
            };
            pie.calculate_drop_prob(qdelay_s);
            let Lapses { updates, excess_s, unanswered_s, .. } = pie.lapses();
            (updates, (1e6 * excess_s).round(), (1e6 * unanswered_s).round())
        };
        for (prob, qdelay_s, excess_us, unanswered_us) in [
            (0.1, 0.1, 90_000.0, 946_000.0),
            (0.09, 0.1, 90_000.0, 0.0),
            (0.1, 0.0104, 400.0, 0.0),
            (0.1, 0.001, -9000.0, 0.0),
        ] {
            assert_eq!(noted(Phase::Active, prob, qdelay_s), (1, excess_us, unanswered_us));
            assert_eq!(noted(Phase::Inactive, prob, qdelay_s), (0, 0.0, 0.0));
        }
        assert_eq!([0.2, 0.201].map(|qdelay_s| noted(Phase::Quiescent, 0.1, qdelay_s).0), [1, 0]);
    }

    #[test]
    fn beyond_200_ms_the_probability_rises_by_two_percent_more() {
        // At p = 0.5 the step is 0.02 at most. 200 ms are not beyond, and 6 ms are not low.
        let after = |qdelay_s, old_s| {
            let mut pie = DocsisPie { prob: 0.5, ..DocsisPie::new(&Parameters::default()) };
            pie.qdelay_old_s = old_s;
            pie.calculate_drop_prob(qdelay_s);
            assert_eq!(pie.qdelay_old_s, qdelay_s);
            pie.prob
        };
        assert!((after(0.2, 0.1) - 0.52).abs() < 1e-12);
        assert!((after(0.201, 0.1) - 0.54).abs() < 1e-12);
        // Both delays must be low to decay: 0.25 * (0.004 - 0.010) / 0.5 = -0.003.
        assert!((after(0.004, 0.004) - 0.497 * 0.98).abs() < 1e-12);
        // 5 ms are not low: (0.25 * -0.005 + 2.5 * 0.001) and (0.25 * -0.006 - 2.5 * 0.001), over 0.5.
        assert!((after(0.005, 0.004) - 0.5025).abs() < 1e-12);
        assert!((after(0.004, 0.005) - 0.492).abs() < 1e-12);
        // 0.25 * -0.006 + 2.5 * -0.002 = -0.0065, over 0.5.
        assert!((after(0.004, 0.006) - 0.487).abs() < 1e-12);
        // 0.25 * -0.004 + 2.5 * 0.002 = 0.004, over 0.5.
        assert!((after(0.006, 0.004) - 0.508).abs() < 1e-12);
    }

    #[test]
    fn quiet_that_is_interrupted_begins_again() {
        let mut pie = DocsisPie { phase: Phase::Active, ..DocsisPie::new(&Parameters::default()) };
        pie.burst_reset = Time::from_ms(48);
        pie.calculate_drop_prob(0.0);
        assert_eq!((pie.phase, pie.burst_reset), (Phase::Quiescent, Time::ZERO));
        (0..62).for_each(|_| pie.calculate_drop_prob(0.0));
        assert_eq!(pie.burst_reset, Time::from_ms(62 * 16));
        // 6 ms are more than half of the target, now and at the next update; p goes back to 0.
        pie.calculate_drop_prob(0.006);
        assert_eq!((pie.phase, pie.burst_reset), (Phase::Quiescent, Time::ZERO));
        pie.calculate_drop_prob(0.0);
        assert_eq!(pie.burst_reset, Time::ZERO);
        (0..62).for_each(|_| pie.calculate_drop_prob(0.0));
        assert_eq!((pie.phase, pie.burst_reset), (Phase::Quiescent, Time::from_ms(62 * 16)));
        pie.calculate_drop_prob(0.0);
        assert_eq!((pie.phase, pie.burst_reset), (Phase::Inactive, Time::ZERO));
    }

    #[test]
    fn nothing_is_dropped_of_two_packets_or_of_a_short_delay() {
        // 2 * 1024 B wait, or D is below 5 ms while p is below 0.2; the sum of probabilities is beyond 8.5.
        let drops = |qdelay_old_s, prob, backlog| {
            let mut pie =
                DocsisPie { qdelay_old_s, prob, ..DocsisPie::new(&Parameters::default()) };
            pie.derandomiser.accumulate(PROB_HIGH);
            pie.drop_early(&arrival(1024, backlog), &mut Rng::named(1, "pie"))
        };
        assert!(!drops(0.02, 0.1, 2048));
        assert!(drops(0.02, 0.1, 2049));
        assert!(!drops(0.0049, 0.199, 9000));
        assert!(drops(0.0049, 0.2, 9000));
        assert!(drops(0.005, 0.1, 9000));
    }

    #[test]
    fn probability_halves_in_34_3_quiet_updates() {
        // p < 0.98^34.3 = 0.5 of itself, and the PI step at D = 0 pulls further down; shown with the
        // target at zero error by D = target = 4 ms (below LATENCY_LOW): step 0, decay alone.
        let mut pie = DocsisPie::new(&Parameters { target_ms: 4.0, ..Parameters::default() });
        pie.prob = 0.5;
        pie.qdelay_old_s = 0.004;
        for _ in 0..34 {
            pie.calculate_drop_prob(0.004);
        }
        assert!((pie.prob - 0.5 * 0.98_f64.powi(34)).abs() < 1e-12);
        assert!((pie.prob / 0.5 - 0.5031).abs() < 1e-4);
    }

    #[test]
    fn wakes_arms_and_settles_step_by_step() {
        let mut pie = DocsisPie::new(&Parameters::default());
        let mut rng = Rng::named(1, "pie");
        // A third of the buffer is 52 083 bytes: below it the algorithm is inactive.
        pie.on_arrival(&arrival(1500, 52_000), &drain_rate(), &mut rng);
        assert_eq!(pie.phase, Phase::Inactive);
        pie.on_arrival(&arrival(1500, 52_083), &drain_rate(), &mut rng);
        assert_eq!(pie.phase, Phase::Quiescent);
        // The first drop activates it and grants 142 ms, during which nothing is dropped.
        pie.prob = 0.5;
        pie.qdelay_old_s = 0.05;
        pie.derandomiser.accumulate(PROB_HIGH);
        assert_eq!(pie.on_arrival(&arrival(1500, 60_000), &drain_rate(), &mut rng), Verdict::Drop);
        assert_eq!((pie.phase, pie.burst_allowance), (Phase::Active, MAX_BURST));
        assert_eq!(pie.on_arrival(&arrival(1500, 60_000), &drain_rate(), &mut rng), Verdict::Pass);
        // ceil(142 / 16) = 9 updates later the allowance is spent.
        for left_ms in [126, 110, 94, 78, 62, 46, 30, 14, 0] {
            pie.calculate_drop_prob(0.02);
            assert_eq!(pie.burst_allowance, Time::from_ms(left_ms));
        }
        // Two quiet updates: D_old must have been low as well. p is 0 since the burst.
        pie.calculate_drop_prob(0.0);
        assert_eq!(pie.phase, Phase::Active);
        pie.calculate_drop_prob(0.0);
        assert_eq!(pie.phase, Phase::Quiescent);
        // Over 1 s of quiet: 63 * 16 = 1008 ms.
        for _ in 0..62 {
            pie.calculate_drop_prob(0.0);
        }
        assert_eq!(pie.phase, Phase::Quiescent);
        pie.calculate_drop_prob(0.0);
        assert_eq!(pie.phase, Phase::Inactive);
    }

    #[test]
    fn the_rate_follows_grants_while_there_is_more_to_grant() {
        let mut tracker = RateTracker::NEW;
        let sustained = BitRate::from_mbps(20.0);
        // Eight MAPs of 2500 bytes in 16 ms are 10 Mbps: from 20 half-way to 10, twice.
        for want in [15.0, 12.5] {
            (0..8).for_each(|_| tracker.on_map(2500, 1));
            assert_eq!(tracker.update(sustained), BitRate::from_mbps(want));
        }
        // All was granted: a low rate says nothing about the channel, a high one does.
        tracker.on_map(2500, 0);
        assert_eq!(tracker.update(sustained), BitRate::from_mbps(12.5));
        (0..8).for_each(|_| tracker.on_map(5000, 0));
        assert_eq!(tracker.update(sustained), BitRate::from_mbps(16.25));
        // What was all granted before the last update does not matter after it.
        (0..8).for_each(|_| tracker.on_map(2500, 1));
        assert_eq!(tracker.update(sustained), BitRate::from_mbps(13.125));
    }

    #[test]
    fn a_flood_of_small_packets_is_dropped_at_half_by_a_probability_of_eight() {
        // RFC 8034 §4.4: 64-byte packets need p = 8 for p1 = 8 * 64 / 1024 = 0.5. The de-randomiser
        // then passes the first (0.5 < 0.85) and drops the second on a fair coin: mean run 3 = 1 + 2.
        let mut pie = DocsisPie::new(&Parameters::default());
        let mut rng = Rng::named(5, "flood");
        pie.prob = 8.0;
        pie.qdelay_old_s = 0.05;
        let mut drops = 0;
        for _ in 0..60_000 {
            if pie.drop_early(&arrival(64, 100_000), &mut rng) {
                pie.derandomiser.reset();
                drops += 1;
            }
        }
        assert!((f64::from(drops) / 60_000.0 - 1.0 / 3.0).abs() < 0.01, "{drops}");
    }

    #[test]
    fn the_probability_of_small_packets_ends_at_8_5_for_half_of_them() {
        // RFC 8034 appendix A.2: MAX_PROB = 0.85 * 1024 / 64 = 13.6.
        let mut pie = DocsisPie { prob: 13.5, ..DocsisPie::new(&Parameters::default()) };
        (0..10).for_each(|_| pie.calculate_drop_prob(1.0));
        assert!((pie.prob - 13.6).abs() < 1e-12, "{}", pie.prob);
        // It does not fall below 0 either: 0.25 * -0.010 at p = 0.
        let mut pie = DocsisPie::new(&Parameters::default());
        pie.calculate_drop_prob(0.0);
        assert_eq!(pie.prob, 0.0);
    }

    #[test]
    fn a_packet_counts_by_its_size_and_its_bins_share() {
        // 0.1 * 1024 / 1024, half of a size, a fourth of a share; 0.85 at most.
        for (prob, size, share, want) in [
            (0.1, 1024, 1.0, 0.1),
            (0.1, 512, 1.0, 0.05),
            (0.1, 1024, 0.25, 0.025),
            (2.0, 1024, 1.0, 0.85),
            (2.0, 1024, 0.5, 0.425),
        ] {
            let mut pie = DocsisPie { prob, ..DocsisPie::new(&Parameters::default()) };
            pie.qdelay_old_s = 0.02;
            let packet = Arrival { share, ..arrival(size, 1000) };
            pie.drop_early(&packet, &mut Rng::named(1, "pie"));
            // What it adds reaches 8.5 with what is missing.
            pie.derandomiser.accumulate(PROB_HIGH - want - 1e-9);
            assert!(!pie.derandomiser.says_drop(1e-300, &mut Rng::named(1, "pie")), "{want}");
            pie.derandomiser.accumulate(2e-9);
            assert!(pie.derandomiser.says_drop(1e-300, &mut Rng::named(1, "pie")), "{want}");
        }
    }

    #[test]
    fn an_update_takes_the_channels_rate_where_it_is_the_lower_one() {
        // 10 000 B and 2000 tokens: 2000 B at 20 Mbps and 8000 B at 5 Mbps are 0.8 + 12.8 ms.
        let line = DrainRate { tokens: 2000.0, ..drain_rate() };
        let backlog = Count { bytes: 10_000, packets: 7 };
        let mut pie = DocsisPie::new(&Parameters::default());
        assert!(pie.update(Time::ZERO, backlog, &line));
        assert!((pie.qdelay_old_s - 0.0136).abs() < 1e-12);
        assert_eq!((pie.delay(), pie.probability()), (Time::from_us(13_600), pie.prob));
        // Grants of 2000 B in 16 ms are 1 Mbps, half-way from 5 are 3: 80 000 b take 26.67 ms.
        let mut pie = DocsisPie::new(&Parameters { track_rate: true, ..Parameters::default() });
        let shown = |pie: &DocsisPie| {
            let mut gauges = Gauges::default();
            pie.gauges(&mut gauges);
            gauges.get("rate_estimate")
        };
        assert!(shown(&pie).is_some_and(f64::is_nan));
        pie.on_map(2000, 1);
        assert!(pie.update(Time::ZERO, backlog, &line));
        assert!((pie.qdelay_old_s - 0.08 / 3.0).abs() < 1e-9, "{}", pie.qdelay_old_s);
        assert_eq!(shown(&pie), Some(3.0));
        // Grants faster than the service do not count: the service's own rates hold.
        (0..30).for_each(|_| {
            pie.on_map(200_000, 1);
            pie.update(Time::ZERO, backlog, &line);
        });
        assert!(shown(&pie) > Some(90.0));
        assert!((pie.qdelay_old_s - 0.0136).abs() < 1e-12);
        // With a tracker each update may change something; without one an idle queue comes to rest.
        assert!(pie.update(Time::ZERO, Count::default(), &line));
        let mut pie = DocsisPie::new(&Parameters::default());
        assert!(!pie.update(Time::ZERO, Count::default(), &line));
        assert_eq!(shown(&pie), None);
    }

    #[test]
    fn the_sum_of_probabilities_ends_with_a_drop_an_overflow_or_no_probability() {
        let line = drain_rate();
        let rng = || Rng::named(1, "pie");
        let sure = |prob| {
            let mut pie = DocsisPie { prob, ..DocsisPie::new(&Parameters::default()) };
            (pie.qdelay_old_s, pie.phase) = (0.05, Phase::Active);
            pie.derandomiser.accumulate(PROB_HIGH);
            pie
        };
        let drops = |pie: &mut DocsisPie| {
            pie.on_arrival(&arrival(1024, 60_000), &line, &mut rng()) == Verdict::Drop
        };
        let mut pie = sure(1e-9);
        assert_eq!([drops(&mut pie), drops(&mut pie)], [true, false]);
        // An active algorithm gets no second allowance.
        assert_eq!((pie.phase, pie.burst_allowance), (Phase::Active, Time::ZERO));
        let mut pie = sure(1e-9);
        pie.on_overflow();
        assert!(!drops(&mut pie));
        let mut pie = sure(0.0);
        assert!(!drops(&mut pie));
        pie.prob = 1e-9;
        assert!(!drops(&mut pie));
    }

    #[test]
    fn an_algorithm_becomes_quiescent_below_half_of_its_target() {
        for (old_s, now_s, want) in [
            (0.0049, 0.0049, Phase::Quiescent),
            (0.005, 0.0049, Phase::Active),
            (0.0049, 0.005, Phase::Active),
        ] {
            let mut pie =
                DocsisPie { phase: Phase::Active, ..DocsisPie::new(&Parameters::default()) };
            pie.qdelay_old_s = old_s;
            pie.settle(now_s);
            assert_eq!(pie.phase, want, "{old_s} {now_s}");
        }
    }
}
