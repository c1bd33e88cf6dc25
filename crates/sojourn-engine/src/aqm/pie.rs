//! PIE, proportional integral controller enhanced: RFC 8033 with the elements of its section 5.
//!
//! At every update it estimates the queue delay and changes a drop probability by a
//! proportional-integral rule. Arrivals are dropped or marked with that probability.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::departure_rate::{ByRate, ByTime, RATE_ESTIMATE};
use super::pie_parts::{DROP_PROBABILITY, Derandomiser, signal_or_drop, tuning_divisor};
use super::{
    Aqm, AqmAlgorithm, AqmParameters, AqmSpec, Arrival, Buffer, Departure, DrainRate, Verdict,
    latency_s,
};
use crate::count::Count;
use crate::record::{Gauges, Rest};
use crate::rng::{Rng, Seed};
use crate::units::Time;
use sojourn_input::problem::Remedy;

/// Packet size in bytes of the "two packets" below which nothing is dropped (RFC 8033 §4.1).
const MEAN_PKTSIZE: u64 = 1024;

/// How the queue delay is estimated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Estimate {
    /// Backlog over departure rate (RFC 8033 §4.3, appendix B).
    #[default]
    DepartureRate,
    /// Backlog over departure rate, averaging rates instead of times (the draft before the RFC, and
    /// ns-2).
    DraftDepartureRate,
    /// Sojourn time of the last packet that left (RFC 8033 §4.3: timestamps).
    Sojourn,
}

/// Parameters of PIE.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Pie")]
pub struct Parameters {
    /// Target queue delay in ms (RFC 8033 §4.2: 15).
    #[schemars(range(min = 0.1, max = 10_000.0), extend("x-live" = true))]
    pub target_ms: f64,
    /// Time between updates of the drop probability in ms (RFC 8033 §4.2: 15).
    #[schemars(range(min = 0.1, max = 1000.0))]
    pub update_ms: f64,
    /// Gain of the queue delay's distance from the target, in 1/s (RFC 8033 §4.2: 1/8).
    #[schemars(range(min = 1e-6, max = 1000.0), extend("x-live" = true))]
    pub alpha_hz: f64,
    /// Gain of the queue delay's change, in 1/s (RFC 8033 §4.2: 1 + 1/4).
    #[schemars(range(min = 0.0, max = 1000.0), extend("x-live" = true))]
    pub beta_hz: f64,
    /// Burst allowance in ms: how long a new burst passes without drops (RFC 8033 §4.4: 150).
    #[schemars(range(min = 0.0, max = 10_000.0), extend("x-live" = true))]
    pub max_burst_ms: f64,
    /// How the queue delay is estimated.
    pub estimate: Estimate,
    /// Bytes over which the departure rate is measured (RFC 8033 §5.2: DQ_THRESHOLD, 2^14).
    #[schemars(range(min = 1500, max = 10_000_000))]
    pub rate_threshold_bytes: u64,
    /// Drop probability above which packets of ECN transports are dropped instead of marked (RFC
    /// 8033 §5.1: MAX_ECNTH, 0.1).
    #[schemars(range(min = 0.0, max = 1.0), extend("x-live" = true))]
    pub max_mark_probability: f64,
    /// Whether PIE is inactive until a third of the buffer is full, and again after congestion has
    /// ended (RFC 8033 §5.3, optional).
    pub rests: bool,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            target_ms: 15.0,
            update_ms: 15.0,
            alpha_hz: 0.125,
            beta_hz: 1.25,
            max_burst_ms: 150.0,
            estimate: Estimate::DepartureRate,
            rate_threshold_bytes: 1 << 14,
            max_mark_probability: 0.1,
            rests: true,
        }
    }
}

impl AqmParameters for Parameters {
    fn start(&self, _seed: Seed) -> AqmAlgorithm {
        Pie::new(self).into()
    }

    fn target_ms(&self) -> Option<f64> {
        Some(self.target_ms)
    }

    fn obstacle(&self, buffer: Buffer) -> Option<(String, Remedy)> {
        let measures = self.estimate == Estimate::DraftDepartureRate;
        let small = || buffer.too_small_to_measure(self.rate_threshold_bytes);
        let rests = || {
            let why = "it rests until a third of the buffer is full".to_owned();
            (self.rests && buffer.is_low).then(|| (why, Remedy::of("law.rests", false)))
        };
        measures.then(small).flatten().or_else(rests)
    }
}

/// The estimator of the queue delay.
enum Latency {
    ByTime(ByTime),
    ByRate(ByRate),
    LastSojourn(Time),
}

impl Latency {
    fn of(p: &Parameters) -> Self {
        match p.estimate {
            Estimate::DepartureRate => Self::ByTime(ByTime::new(p.rate_threshold_bytes)),
            Estimate::DraftDepartureRate => Self::ByRate(ByRate::new(p.rate_threshold_bytes)),
            Estimate::Sojourn => Self::LastSojourn(Time::ZERO),
        }
    }

    fn departed(&mut self, packet: &Departure) {
        match self {
            Self::ByTime(rate) => rate.departed(packet),
            Self::ByRate(rate) => rate.departed(packet),
            Self::LastSojourn(sojourn) => *sojourn = packet.sojourn,
        }
    }

    /// Before the first measurement the RFC's delay is that at the rate of the line, as in a buffer that is too
    /// small to measure in; the draft's is 0.
    fn seconds(&self, bytes: u64, outlet: &DrainRate) -> f64 {
        match self {
            Self::ByTime(rate) => latency_s(bytes, outlet, rate.latency_s(bytes)),
            Self::ByRate(rate) => latency_s(bytes, outlet, Some(rate.latency_s(bytes))),
            Self::LastSojourn(sojourn) => sojourn.secs_f64(),
        }
    }

    /// The departure rate, if it is measured.
    fn bytes_per_s(&self) -> Option<f64> {
        match self {
            Self::ByTime(rate) => rate.bytes_per_s(),
            Self::ByRate(rate) => rate.bytes_per_s(),
            Self::LastSojourn(_) => None,
        }
    }
}

/// State of PIE.
pub struct Pie {
    target_s: f64,
    interval: Time,
    alpha: f64,
    beta: f64,
    max_burst: Time,
    max_mark_probability: f64,
    /// Is it controlling? Otherwise it waits until the buffer is a third full (§5.3).
    rests: bool,
    active: bool,
    prob: f64,
    derandomiser: Derandomiser,
    qdelay_old_s: f64,
    burst_allowance: Time,
    latency: Latency,
    rest: Rest,
}

impl Pie {
    /// The algorithm in its initial state, inactive.
    pub fn new(p: &Parameters) -> Self {
        let interval = Time::from_secs_f64(p.update_ms / 1e3);
        Self {
            target_s: p.target_ms / 1e3,
            interval,
            alpha: p.alpha_hz,
            beta: p.beta_hz,
            max_burst: Time::from_secs_f64(p.max_burst_ms / 1e3),
            max_mark_probability: p.max_mark_probability,
            rests: p.rests,
            active: !p.rests,
            prob: 0.0,
            derandomiser: Derandomiser::default(),
            qdelay_old_s: 0.0,
            burst_allowance: Time::ZERO,
            latency: Latency::of(p),
            rest: Rest::before(Time::from_secs_f64(p.target_ms / 1e3)),
        }
    }

    /// The state that updates may change.
    fn state(&self) -> (bool, f64, f64, Time) {
        (self.active, self.prob, self.qdelay_old_s, self.burst_allowance)
    }

    fn activate(&mut self) {
        self.active = true;
        self.prob = 0.0;
        self.qdelay_old_s = 0.0;
        self.burst_allowance = self.max_burst;
    }

    /// `calculate_drop_prob()` of RFC 8033 appendix B.
    fn calculate_drop_prob(&mut self, qdelay_s: f64) {
        if self.burst_allowance > Time::ZERO {
            self.prob = 0.0;
            self.burst_allowance = self.burst_allowance.since(self.interval);
        } else {
            let error = qdelay_s - self.target_s;
            let step = self.alpha * error + self.beta * (qdelay_s - self.qdelay_old_s);
            let step = step / tuning_divisor(self.prob);
            self.prob += if self.prob >= 0.1 { step.min(0.02) } else { step };
            if self.both_below_half(qdelay_s) {
                self.prob *= 0.98;
            }
            self.prob = self.prob.clamp(0.0, 1.0);
        }
        // Appendix B: nothing left to control.
        if self.rests && self.prob == 0.0 && qdelay_s == 0.0 && self.qdelay_old_s == 0.0 {
            self.active = false;
        }
        if self.prob == 0.0 && self.both_below_half(qdelay_s) {
            self.burst_allowance = self.max_burst;
        }
        self.qdelay_old_s = qdelay_s;
    }

    fn both_below_half(&self, qdelay_s: f64) -> bool {
        qdelay_s < self.target_s / 2.0 && self.qdelay_old_s < self.target_s / 2.0
    }
}

impl Aqm for Pie {
    fn on_arrival(&mut self, packet: &Arrival, drain_rate: &DrainRate, rng: &mut Rng) -> Verdict {
        if !self.active && packet.backlog.bytes >= drain_rate.buffer_bytes / 3 {
            self.activate();
        }
        if !self.active || self.burst_allowance > Time::ZERO {
            return Verdict::Pass;
        }
        // §4.1: safeguards that keep the queue work-conserving.
        let latency_is_low = self.qdelay_old_s < self.target_s / 2.0 && self.prob < 0.2;
        if latency_is_low || packet.backlog.bytes <= 2 * MEAN_PKTSIZE {
            return Verdict::Pass;
        }
        if self.prob == 0.0 {
            self.derandomiser.reset();
        }
        let prob = self.prob * packet.share;
        self.derandomiser.accumulate(prob);
        if !self.derandomiser.says_drop(prob, rng) {
            return Verdict::Pass;
        }
        self.derandomiser.reset();
        signal_or_drop(self.prob, self.max_mark_probability)
    }

    fn on_overflow(&mut self) {
        self.derandomiser.reset();
    }

    fn on_departure(&mut self, packet: &Departure) -> Verdict {
        self.latency.departed(packet);
        Verdict::Pass
    }

    fn on_empty(&mut self, _now: Time) {
        if let Latency::LastSojourn(sojourn) = &mut self.latency {
            *sojourn = Time::ZERO;
        }
    }

    fn update_interval(&self) -> Time {
        self.interval
    }

    fn update(&mut self, _now: Time, backlog: Count, outlet: &DrainRate) -> bool {
        let before = self.state();
        self.calculate_drop_prob(self.latency.seconds(backlog.bytes, outlet));
        self.rest.follow(!self.active, self.qdelay_old_s, outlet.buffer_bytes, outlet.sustained);
        self.state() != before
    }

    fn gauges(&self, out: &mut Gauges) {
        // The controller goes on while the law rests, but then nothing is dropped.
        out.show(DROP_PROBABILITY, if self.active { self.prob } else { 0.0 });
        let mbps = self.latency.bytes_per_s().map_or(f64::NAN, |rate| rate * 8e-6);
        out.show(RATE_ESTIMATE, mbps);
    }

    fn rest(&self) -> Option<Rest> {
        self.rests.then_some(self.rest)
    }

    fn retune(&mut self, spec: &AqmSpec) {
        let AqmSpec::Pie(p) = spec else { return };
        let Self { target_s, alpha, beta, max_burst, max_mark_probability, .. } = Self::new(p);
        (self.target_s, self.alpha, self.beta) = (target_s, alpha, beta);
        (self.max_burst, self.max_mark_probability) = (max_burst, max_mark_probability);
    }
}

#[cfg(test)]
mod tests {
    use super::super::packets_for_tests::{arrival, departure};
    use super::*;
    use crate::units::BitRate;

    #[test]
    fn open_loop_at_30_ms_of_constant_latency() {
        // D = 30 ms, target 15 ms, burst spent. Update 1: (0.125 * 0.015 + 1.25 * 0.030) / 2048
        // = 0.039375 / 2048 = 1.92261e-5. Then 0.125 * 0.015 / 128 = 1.46484e-5 while p < 1e-4.
        let mut pie = Pie::new(&Parameters::default());
        for want in [1.92261e-5, 3.38745e-5, 4.85229e-5] {
            pie.calculate_drop_prob(0.030);
            assert!((pie.prob - want).abs() < 1e-10, "{} {want}", pie.prob);
        }
    }

    #[test]
    fn sleeps_until_a_third_of_the_buffer_then_spends_the_burst() {
        let drain_rate = DrainRate::steady(BitRate::from_mbps(5.0), 90_000);
        let arrival = |bytes| Arrival {
            now: Time::ZERO,
            size: 1500,
            backlog: Count { bytes, packets: bytes / 1500 },
            share: 1.0,
            ecn: crate::packet::Ecn::NotEct,
            is_markable: false,
            flow: 0,
        };
        let mut pie = Pie::new(&Parameters::default());
        let mut rng = Rng::named(1, "pie");
        pie.on_arrival(&arrival(29_999), &drain_rate, &mut rng);
        assert!(!pie.active);
        pie.on_arrival(&arrival(30_000), &drain_rate, &mut rng);
        assert!(pie.active);
        // 150 ms are 10 updates.
        for _ in 0..10 {
            assert!(pie.burst_allowance > Time::ZERO);
            pie.calculate_drop_prob(0.1);
        }
        assert_eq!((pie.burst_allowance, pie.prob), (Time::ZERO, 0.0));
        // While it rests the controller goes on, but what is shown is what an arrival meets.
        let mut pie = Pie::new(&Parameters::default());
        for _ in 0..200 {
            pie.calculate_drop_prob(0.06);
        }
        let shown = |pie: &Pie| {
            let mut gauges = Gauges::default();
            pie.gauges(&mut gauges);
            gauges.get("drop_probability")
        };
        assert!(pie.prob > 0.1 && shown(&pie) == Some(0.0), "{}", pie.prob);
        pie.on_arrival(&arrival(30_000), &drain_rate, &mut rng);
        for _ in 0..200 {
            pie.calculate_drop_prob(0.06);
        }
        assert!(pie.prob > 0.1 && shown(&pie) == Some(pie.prob), "{}", pie.prob);
        // As in Linux it is awake from the first packet on, also after an empty queue.
        let mut pie = Pie::new(&Parameters { rests: false, ..Parameters::default() });
        assert!(pie.active);
        pie.calculate_drop_prob(0.0);
        assert!(pie.active);
    }

    /// PIE that is active, with its allowance spent, at this probability and delay.
    fn at(prob: f64, qdelay_old_s: f64) -> Pie {
        let mut pie = Pie::new(&Parameters::default());
        (pie.active, pie.prob, pie.qdelay_old_s) = (true, prob, qdelay_old_s);
        pie
    }

    #[test]
    fn the_probability_moves_by_its_gains_within_its_bounds() {
        for (prob, old_s, now_s, want) in [
            // 0.125 * 0.015 + 1.25 * 0.020 = 0.026875, 0.02 at most from 0.1 on, and half of it below.
            (0.5, 0.010, 0.030, 0.52),
            (0.1, 0.010, 0.030, 0.12),
            (0.09, 0.010, 0.030, 0.103_437_5),
            (0.5, 0.030, 0.030, 0.501_875),
            // 0.125 * -0.008, and 2 % of what is left where both delays are below 7.5 ms.
            (0.5, 0.007, 0.007, 0.499 * 0.98),
            (0.5, 0.0075, 0.007, 0.498_375),
            (0.5, 0.007, 0.0075, 0.499_687_5),
            (0.999, 0.030, 0.060, 1.0),
            (0.001, 0.060, 0.001, 0.0),
        ] {
            let mut pie = at(prob, old_s);
            pie.calculate_drop_prob(now_s);
            assert!((pie.prob - want).abs() < 1e-12, "{prob} {old_s} {now_s}: {}", pie.prob);
            assert_eq!(pie.qdelay_old_s, now_s);
        }
    }

    #[test]
    fn it_rests_once_nothing_waits_and_gets_its_allowance_back_at_short_delays() {
        let burst = Time::from_ms(150);
        for (prob, old_s, now_s, is_active, allowance) in [
            (0.0, 0.0, 0.0, false, burst),
            (0.0, 0.001, 0.0, true, burst),
            (0.0, 0.0, 0.001, true, burst),
            (0.0, 0.007_49, 0.007_49, true, burst),
            (0.0, 0.0075, 0.007, true, Time::ZERO),
            (0.0, 0.007, 0.0075, true, Time::ZERO),
            (0.5, 0.0, 0.0, true, Time::ZERO),
        ] {
            let mut pie = at(prob, old_s);
            pie.calculate_drop_prob(now_s);
            let found = (pie.active, pie.burst_allowance);
            assert_eq!(found, (is_active, allowance), "{prob} {old_s} {now_s}");
        }
        // Without a probability an allowance is used up by each update.
        let mut pie = Pie { burst_allowance: burst, ..at(0.5, 0.03) };
        pie.calculate_drop_prob(0.03);
        assert_eq!((pie.prob, pie.burst_allowance), (0.0, Time::from_ms(135)));
        // Waking up begins all anew.
        let mut pie = at(0.5, 0.03);
        pie.active = false;
        pie.activate();
        assert_eq!(pie.state(), (true, 0.0, 0.0, burst));
    }

    /// What becomes of an arrival at a PIE whose next drop is certain.
    fn arrive(mut pie: Pie, packet: &Arrival) -> Verdict {
        pie.derandomiser.accumulate(8.5);
        let line = DrainRate::steady(BitRate::from_mbps(8.0), 1_000_000);
        pie.on_arrival(packet, &line, &mut Rng::named(1, "pie"))
    }

    #[test]
    fn bursts_short_delays_and_short_queues_pass() {
        use Verdict::{Drop, Pass, Signal};
        let long = || arrival(9000);
        for (prob, old_s, bytes, want) in [
            (0.05, 0.02, 2049, Signal),
            (0.05, 0.02, 2048, Pass),
            (0.05, 0.0075, 9000, Signal),
            (0.05, 0.0074, 9000, Pass),
            (0.199, 0.0074, 9000, Pass),
            (0.2, 0.0074, 9000, Drop),
            // Marks are for probabilities below 0.1.
            (0.1, 0.02, 9000, Drop),
            (0.099, 0.02, 9000, Signal),
            (0.0, 0.02, 9000, Pass),
        ] {
            assert_eq!(arrive(at(prob, old_s), &arrival(bytes)), want, "{prob} {old_s} {bytes}");
        }
        let spends = Pie { burst_allowance: Time::from_ps(1), ..at(0.5, 0.02) };
        assert_eq!(arrive(spends, &long()), Pass);
        let rests = Pie { active: false, ..at(0.5, 0.02) };
        assert_eq!(arrive(rests, &long()), Pass);
        // A bin without a share has no probability.
        assert_eq!(arrive(at(0.5, 0.02), &Arrival { share: 0.0, ..long() }), Pass);
    }

    #[test]
    fn the_sum_of_probabilities_ends_with_a_drop_an_overflow_or_no_probability() {
        let line = DrainRate::steady(BitRate::from_mbps(8.0), 1_000_000);
        let mut rng = Rng::named(1, "pie");
        let mut drops =
            |pie: &mut Pie| pie.on_arrival(&arrival(9000), &line, &mut rng) != Verdict::Pass;
        let sure = |prob| {
            let mut pie = at(prob, 0.02);
            pie.derandomiser.accumulate(8.5);
            pie
        };
        let mut pie = sure(1e-9);
        assert_eq!([drops(&mut pie), drops(&mut pie)], [true, false]);
        let mut pie = sure(1e-9);
        pie.on_overflow();
        assert!(!drops(&mut pie));
        let mut pie = sure(0.0);
        assert!(!drops(&mut pie));
        pie.prob = 1e-9;
        assert!(!drops(&mut pie));
        // Half of a share of 0.4 is 0.2 an arrival: none of the first four, which sum up to 0.8.
        let mut pie = at(0.4, 0.02);
        let packet = Arrival { share: 0.5, ..arrival(9000) };
        let mut drops = |pie: &mut Pie| pie.on_arrival(&packet, &line, &mut rng) == Verdict::Drop;
        assert_eq!([(); 4].map(|()| drops(&mut pie)), [false; 4]);
        assert!((0..39).any(|_| drops(&mut pie)));
    }

    #[test]
    fn delays_are_those_of_the_estimate_that_is_chosen() {
        use Estimate::{DepartureRate, DraftDepartureRate, Sojourn};
        // 12 000 B at 8 Mbps are 12 ms. 10 000 B leave in 10 ms after the first packet, or in 9 ms with it.
        let line = DrainRate::steady(BitRate::from_mbps(8.0), 1_000_000);
        let shown = |pie: &Pie| {
            let mut gauges = Gauges::default();
            pie.gauges(&mut gauges);
            gauges.get("rate_estimate").unwrap()
        };
        for (estimate, before_s, after_s, mbps) in [
            (DepartureRate, 0.012, 0.012, 8.0),
            (DraftDepartureRate, 0.0, 0.0108, 80.0 / 9.0),
            (Sojourn, 0.0, 0.033, f64::NAN),
        ] {
            let p = Parameters { estimate, rate_threshold_bytes: 10_000, ..Parameters::default() };
            let mut pie = Pie::new(&p);
            assert_eq!(pie.latency.seconds(12_000, &line), before_s, "{estimate:?}");
            assert!(shown(&pie).is_nan());
            for ms in 0..11 {
                pie.on_departure(&departure(Time::from_ms(100 + ms), Time::from_ms(33), 10_000));
            }
            assert!((pie.latency.seconds(12_000, &line) - after_s).abs() < 1e-9, "{estimate:?}");
            let found = shown(&pie);
            assert!((found - mbps).abs() < 1e-9 || (found.is_nan() && mbps.is_nan()), "{found}");
            // An empty queue has no sojourn time.
            pie.on_empty(Time::from_ms(200));
            let want = if estimate == Sojourn { 0.0 } else { after_s };
            assert!((pie.latency.seconds(12_000, &line) - want).abs() < 1e-9, "{estimate:?}");
        }
    }

    #[test]
    fn an_update_tells_whether_anything_changed() {
        let line = DrainRate::steady(BitRate::from_mbps(8.0), 1_000_000);
        let mut pie = at(0.5, 0.012);
        // 0.125 * (0.012 - 0.015).
        assert!(pie.update(Time::ZERO, Count { bytes: 12_000, packets: 12 }, &line));
        assert!((pie.prob - 0.499_625).abs() < 1e-12);
        // An idle queue gets its allowance, and then nothing changes any more.
        let mut pie = Pie::new(&Parameters::default());
        let mut updates = || pie.update(Time::ZERO, Count::default(), &line);
        assert_eq!([updates(), updates(), updates()], [true, false, false]);
    }
}
