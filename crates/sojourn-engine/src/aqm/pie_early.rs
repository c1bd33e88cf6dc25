//! Early PIE, as in the studies of 2013 and 2015: three operating points and no derandomiser. White
//! & Rice 2013 §2.3 and §3.2; Hong 2015 §4.1; the first Linux sch_pie has the same scaling.
//!
//! `linux_extras` adds what the early Linux code has beyond the draft.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::departure_rate::{ByRate, RATE_ESTIMATE};
use super::pie_parts::{DROP_PROBABILITY, signal_or_drop};
use super::{
    Aqm, AqmAlgorithm, AqmParameters, Arrival, Buffer, Departure, DrainRate, Verdict, latency_s,
};
use crate::count::Count;
use crate::record::Gauges;
use crate::rng::{Rng, Seed};
use crate::units::Time;
use sojourn_input::problem::Remedy;

/// Parameters of early PIE.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "PieEarly")]
pub struct Parameters {
    /// Target queue delay in ms (White & Rice 2013 §3.2: 5; Hong 2015 §4.1: 20).
    #[schemars(range(min = 0.1, max = 10_000.0))]
    pub target_ms: f64,
    /// Time between updates of the drop probability in ms (White & Rice 2013: 15; Hong 2015: 30).
    #[schemars(range(min = 0.1, max = 1000.0))]
    pub update_ms: f64,
    /// Gain of the queue delay's distance from the target, in 1/s (White & Rice 2013: 0.25; Hong
    /// 2015: 0.125).
    #[schemars(range(min = 1e-6, max = 1000.0))]
    pub alpha_hz: f64,
    /// Gain of the queue delay's change, in 1/s (both studies: 1.25).
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub beta_hz: f64,
    /// Burst allowance in ms: how long a new burst passes without drops (Hong 2015: 100).
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub max_burst_ms: f64,
    /// Bytes over which the departure rate is measured (PIE's ns-2 scripts: 10 000).
    #[schemars(range(min = 1500, max = 10_000_000))]
    pub rate_threshold_bytes: u64,
    /// Mean packet size in bytes (PIE's ns-2 scripts: 1000). With up to two such packets waiting,
    /// nothing is dropped.
    #[schemars(range(min = 64, max = 9018))]
    pub mean_packet_bytes: u64,
    /// Scale the drop probability with the packet's size (PIE's ns-2 scripts: on).
    pub by_size: bool,
    /// Add the rules of the first Linux code. A drop probability of 0.1 or more rises by at most
    /// 0.02 per update. If the queue delay exceeds 250 ms it rises by another 0.02. While the queue
    /// delay is 0 it decays by 2 % per update.
    pub linux_extras: bool,
    /// Drop probability above which packets of ECN transports are dropped instead of marked (PIE's
    /// ns-2 scripts: 0.1).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub max_mark_probability: f64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            target_ms: 20.0,
            update_ms: 30.0,
            alpha_hz: 0.125,
            beta_hz: 1.25,
            max_burst_ms: 100.0,
            rate_threshold_bytes: 10_000,
            mean_packet_bytes: 1000,
            by_size: true,
            linux_extras: false,
            max_mark_probability: 0.1,
        }
    }
}

impl AqmParameters for Parameters {
    fn start(&self, _seed: Seed) -> AqmAlgorithm {
        PieEarly::new(self).into()
    }

    fn target_ms(&self) -> Option<f64> {
        Some(self.target_ms)
    }

    fn obstacle(&self, buffer: Buffer) -> Option<(String, Remedy)> {
        buffer.too_small_to_measure(self.rate_threshold_bytes)
    }
}

/// Early PIE's parameters and its state.
pub struct PieEarly {
    p: Parameters,
    target_s: f64,
    interval: Time,
    prob: f64,
    qdelay_old_s: f64,
    burst_allowance: Time,
    rate: ByRate,
}

impl PieEarly {
    /// The algorithm in its initial state.
    pub fn new(p: &Parameters) -> Self {
        let interval = Time::from_secs_f64(p.update_ms / 1e3);
        Self {
            p: p.clone(),
            target_s: p.target_ms / 1e3,
            interval,
            prob: 0.0,
            qdelay_old_s: 0.0,
            burst_allowance: Time::from_secs_f64(p.max_burst_ms / 1e3),
            rate: ByRate::new(p.rate_threshold_bytes),
        }
    }

    /// The state that updates may change.
    fn state(&self) -> (f64, f64, Time, Option<f64>) {
        (self.prob, self.qdelay_old_s, self.burst_allowance, self.rate.bytes_per_s())
    }

    /// The three operating points (White & Rice 2013 §2.3).
    fn scale(&self) -> f64 {
        match self.prob {
            p if p < 0.01 => 1.0 / 8.0,
            p if p < 0.1 => 1.0 / 2.0,
            _ => 1.0,
        }
    }

    fn calculate_drop_prob(&mut self, qdelay_s: f64) {
        let step = self.p.alpha_hz * (qdelay_s - self.target_s)
            + self.p.beta_hz * (qdelay_s - self.qdelay_old_s);
        let mut step = step * self.scale();
        if self.p.linux_extras {
            if self.prob >= 0.1 {
                step = step.min(0.02);
            }
            if qdelay_s > 0.25 {
                step += 0.02;
            }
        }
        self.prob = (self.prob + step).clamp(0.0, 1.0);
        if self.p.linux_extras && qdelay_s == 0.0 && self.qdelay_old_s == 0.0 {
            self.prob *= 0.98;
        }
        self.burst_allowance = self.burst_allowance.since(self.interval);
        self.reset_burst_if_quiet(qdelay_s);
        self.qdelay_old_s = qdelay_s;
    }

    fn reset_burst_if_quiet(&mut self, qdelay_s: f64) {
        let half = self.target_s / 2.0;
        let quiet = qdelay_s < half && self.qdelay_old_s < half && self.prob == 0.0;
        if quiet && self.rate.bytes_per_s().is_some() {
            self.burst_allowance = Time::from_secs_f64(self.p.max_burst_ms / 1e3);
            self.rate.forget();
        }
    }
}

impl Aqm for PieEarly {
    fn on_arrival(&mut self, packet: &Arrival, _outlet: &DrainRate, rng: &mut Rng) -> Verdict {
        let latency_is_low = self.qdelay_old_s < self.target_s / 2.0 && self.prob < 0.2;
        let few = packet.backlog.bytes <= 2 * self.p.mean_packet_bytes;
        if self.burst_allowance > Time::ZERO || latency_is_low || few {
            return Verdict::Pass;
        }
        let by_size = packet.size as f64 / self.p.mean_packet_bytes as f64;
        let prob = if self.p.by_size { self.prob * by_size } else { self.prob };
        if rng.uniform() < prob * packet.share {
            return signal_or_drop(self.prob, self.p.max_mark_probability);
        }
        Verdict::Pass
    }

    fn on_departure(&mut self, packet: &Departure) -> Verdict {
        self.rate.departed(packet);
        Verdict::Pass
    }

    fn update_interval(&self) -> Time {
        self.interval
    }

    fn update(&mut self, _now: Time, backlog: Count, outlet: &DrainRate) -> bool {
        let before = self.state();
        let measured_s = self.rate.latency_s(backlog.bytes);
        self.calculate_drop_prob(latency_s(backlog.bytes, outlet, Some(measured_s)));
        self.state() != before
    }

    fn gauges(&self, out: &mut Gauges) {
        out.show(DROP_PROBABILITY, self.prob);
        let mbps = self.rate.bytes_per_s().map_or(f64::NAN, |rate| rate * 8e-6);
        out.show(RATE_ESTIMATE, mbps);
    }
}

#[cfg(test)]
mod tests {
    use super::super::packets_for_tests::{arrival, departure};
    use super::*;

    #[test]
    fn open_loop_at_40_ms_of_constant_latency() {
        // D = 40 ms, reference 20 ms. Update 1: (0.125 * 0.020 + 1.25 * 0.040) / 8 = 6.5625e-3.
        // Update 2, still below 0.01: + 0.0025 / 8 = 6.875e-3. From 0.01 on: + 0.0025 / 2.
        let mut law = PieEarly::new(&Parameters::default());
        let mut probs = Vec::new();
        for _ in 0..14 {
            law.calculate_drop_prob(0.040);
            probs.push(law.prob);
        }
        assert!((probs[0] - 6.5625e-3).abs() < 1e-12);
        assert!((probs[1] - 6.875e-3).abs() < 1e-12);
        // 0.01 is reached after 11 more steps of 3.125e-4: 6.5625e-3 + 11 * 3.125e-4 = 0.01.
        assert!((probs[11] - 0.01).abs() < 1e-12);
        assert!((probs[13] - probs[12] - 1.25e-3).abs() < 1e-12);
    }

    #[test]
    fn bursts_of_100_ms_pass() {
        // 100 / 30 ms: four updates until the allowance is spent.
        let mut law = PieEarly::new(&Parameters::default());
        for left_ms in [70, 40, 10, 0] {
            law.calculate_drop_prob(0.5);
            assert_eq!(law.burst_allowance, Time::from_ms(left_ms));
        }
    }

    #[test]
    fn a_share_of_the_longest_bin_scales_the_probability() {
        // White 2014 §4.6. Of 100 000 arrivals at p = 0.4 * 0.5 the share dropped deviates by
        // sqrt(0.2 * 0.8 / 100 000) = 0.0013; an empty bin is immune.
        let mut law = PieEarly::new(&Parameters { by_size: false, ..Parameters::default() });
        let mut rng = Rng::named(1, "share");
        (law.prob, law.burst_allowance) = (0.4, Time::ZERO);
        let rate = crate::units::BitRate::from_mbps(5.0);
        let drain_rate = DrainRate::steady(rate, 100_000);
        let mut dropped = |share| {
            let backlog = Count { bytes: 50_000, packets: 50 };
            let packet = Arrival {
                now: Time::ZERO,
                size: 1000,
                backlog,
                share,
                ecn: crate::packet::Ecn::NotEct,
                is_markable: false,
                flow: 0,
            };
            let mut drops =
                |_: &u32| law.on_arrival(&packet, &drain_rate, &mut rng) != Verdict::Pass;
            (0..100_000).filter(|n| drops(n)).count()
        };
        assert_eq!(dropped(0.0), 0);
        let half = dropped(0.5) as f64 / 1e5;
        assert!((half - 0.2).abs() < 0.0052, "{half}");
    }

    #[test]
    fn arrivals_pass_while_the_latency_is_below_half_the_target() {
        // The target is 20 ms: at 9 ms all pass up to a probability of 0.2, at 11 ms a part is dropped.
        let mut law = PieEarly::new(&Parameters { by_size: false, ..Parameters::default() });
        let mut rng = Rng::named(1, "half");
        let drain_rate = DrainRate::steady(crate::units::BitRate::from_mbps(5.0), 100_000);
        let packet = Arrival {
            now: Time::ZERO,
            size: 1000,
            backlog: Count { bytes: 50_000, packets: 50 },
            share: 1.0,
            ecn: crate::packet::Ecn::NotEct,
            is_markable: false,
            flow: 0,
        };
        law.burst_allowance = Time::ZERO;
        for (prob, qdelay_s, drops) in
            [(0.19, 0.009, false), (0.19, 0.011, true), (0.21, 0.009, true)]
        {
            (law.prob, law.qdelay_old_s) = (prob, qdelay_s);
            let mut passes = || law.on_arrival(&packet, &drain_rate, &mut rng) == Verdict::Pass;
            assert_eq!((0..200).any(|_| !passes()), drops, "{prob} at {qdelay_s} s");
        }
    }

    /// Early PIE with its allowance spent, at this probability and delay.
    fn at(p: &Parameters, prob: f64, qdelay_old_s: f64) -> PieEarly {
        PieEarly { prob, qdelay_old_s, burst_allowance: Time::ZERO, ..PieEarly::new(p) }
    }

    #[test]
    fn the_first_linux_code_limits_steps_adds_to_them_and_decays() {
        for (extras, prob, old_s, now_s, want) in [
            // 0.125 * 0.020 + 1.25 * 0.020 = 0.0275, half of it below 0.1.
            (false, 0.1, 0.020, 0.040, 0.1275),
            (true, 0.1, 0.020, 0.040, 0.12),
            (true, 0.099, 0.020, 0.040, 0.112_75),
            // 0.125 * 0.230 = 0.028 75; beyond 250 ms 0.02 more.
            (false, 0.5, 0.250, 0.250, 0.528_75),
            (true, 0.5, 0.250, 0.250, 0.52),
            (true, 0.5, 0.251, 0.251, 0.54),
            // 0.125 * -0.020.
            (false, 0.5, 0.0, 0.0, 0.4975),
            (true, 0.5, 0.0, 0.0, 0.4975 * 0.98),
            (true, 0.5, 0.004, 0.0, 0.4925),
            (true, 0.5, 0.0, 0.004, 0.503),
            (false, 0.99, 0.0, 0.1, 1.0),
            (false, 0.01, 0.1, 0.0, 0.0),
        ] {
            let p = Parameters { linux_extras: extras, ..Parameters::default() };
            let mut law = at(&p, prob, old_s);
            law.calculate_drop_prob(now_s);
            assert!((law.prob - want).abs() < 1e-12, "{prob} {old_s} {now_s}: {}", law.prob);
            assert_eq!(law.qdelay_old_s, now_s);
        }
    }

    #[test]
    fn quiet_gives_the_allowance_back_and_forgets_the_rate_once_there_is_one() {
        for (is_measured, prob, old_s, now_s, is_back) in [
            (true, 0.0, 0.0099, 0.0099, true),
            (false, 0.0, 0.0099, 0.0099, false),
            (true, 0.0, 0.01, 0.0099, false),
            (true, 0.0, 0.0099, 0.01, false),
            (true, 0.5, 0.0099, 0.0099, false),
        ] {
            let mut law = at(&Parameters::default(), prob, old_s);
            for ms in 0..if is_measured { 11 } else { 2 } {
                law.on_departure(&departure(Time::from_ms(ms), Time::ZERO, 10_000));
            }
            assert_eq!(law.rate.bytes_per_s().is_some(), is_measured);
            law.calculate_drop_prob(now_s);
            let found = (law.burst_allowance, law.rate.bytes_per_s().is_some());
            let want =
                if is_back { (Time::from_ms(100), false) } else { (Time::ZERO, is_measured) };
            assert_eq!(found, want, "{is_measured} {prob} {old_s} {now_s}");
        }
    }

    /// How many of 1000 arrivals are signalled, or dropped.
    fn outcomes(law: &mut PieEarly, packet: &Arrival) -> (usize, usize) {
        let line = DrainRate::steady(crate::units::BitRate::from_mbps(8.0), 1_000_000);
        let mut rng = Rng::named(1, "early");
        let all: Vec<_> = (0..1000).map(|_| law.on_arrival(packet, &line, &mut rng)).collect();
        let count = |verdict| all.iter().filter(|one| **one == verdict).count();
        (count(Verdict::Signal), count(Verdict::Drop))
    }

    #[test]
    fn two_packets_and_bursts_pass_and_sizes_count() {
        let (by_size, alike) =
            (Parameters::default(), Parameters { by_size: false, ..Parameters::default() });
        // A packet of twice the mean size at 0.5 is dropped surely, and a mean one each other time.
        let large = Arrival { size: 2000, ..arrival(9000) };
        assert_eq!(outcomes(&mut at(&by_size, 0.5, 0.02), &large), (0, 1000));
        for (p, packet) in [(&alike, large), (&by_size, arrival(9000))] {
            let (signals, drops) = outcomes(&mut at(p, 0.5, 0.02), &packet);
            // Four deviations of 1000 draws: 4 * sqrt(250) = 63.
            assert!(signals == 0 && drops.abs_diff(500) < 63, "{drops}");
        }
        // Below 0.1 they are marks.
        let (signals, drops) = outcomes(&mut at(&by_size, 0.099, 0.02), &arrival(9000));
        assert!(signals > 0 && drops == 0);
        let (signals, drops) = outcomes(&mut at(&by_size, 0.1, 0.02), &arrival(9000));
        assert!(signals == 0 && drops > 0);
        assert_eq!(outcomes(&mut at(&by_size, 1.0, 0.02), &arrival(2001)), (0, 1000));
        assert_eq!(outcomes(&mut at(&by_size, 1.0, 0.02), &arrival(2000)), (0, 0));
        let mut bursts = at(&by_size, 1.0, 0.02);
        bursts.burst_allowance = Time::from_ps(1);
        assert_eq!(outcomes(&mut bursts, &arrival(9000)), (0, 0));
        // The draw itself is not below the probability.
        let line = DrainRate::steady(crate::units::BitRate::from_mbps(8.0), 1_000_000);
        let draw = Rng::named(1, "early").uniform();
        for (prob, passes) in [(draw, true), (draw + 1e-12, false)] {
            let mut law = at(&by_size, prob, 0.02);
            let found = law.on_arrival(&arrival(9000), &line, &mut Rng::named(1, "early"));
            assert_eq!(found == Verdict::Pass, passes);
        }
        // A delay of half the target is not low, and none is from 0.2 on.
        let sure = Arrival { size: 10_000, ..arrival(9000) };
        assert_eq!(outcomes(&mut at(&by_size, 0.19, 0.01), &sure), (0, 1000));
        assert_eq!(outcomes(&mut at(&by_size, 0.19, 0.0099), &sure), (0, 0));
        assert_eq!(outcomes(&mut at(&by_size, 0.2, 0.0099), &sure), (0, 1000));
    }

    #[test]
    fn an_update_goes_by_the_measured_rate_and_tells_whether_anything_changed() {
        let line = DrainRate::steady(crate::units::BitRate::from_mbps(8.0), 1_000_000);
        let mut law = at(&Parameters::default(), 0.5, 0.0);
        let shown = |law: &PieEarly| {
            let mut gauges = Gauges::default();
            law.gauges(&mut gauges);
            (gauges.get("drop_probability").unwrap(), gauges.get("rate_estimate").unwrap())
        };
        assert!(shown(&law).1.is_nan());
        // 10 000 B in 9 ms beside the first packet: 9000 B take 8.1 ms. 0.5 - 0.125 * 0.0119 + 1.25 * 0.0081.
        for ms in 0..10 {
            law.on_departure(&departure(Time::from_ms(ms), Time::ZERO, 10_000));
        }
        assert!(law.update(Time::ZERO, Count { bytes: 9000, packets: 9 }, &line));
        let (prob, mbps) = shown(&law);
        assert!((prob - 0.508_637_5).abs() < 1e-12, "{prob}");
        assert!((mbps - 80.0 / 9.0).abs() < 1e-9, "{mbps}");
        let mut rests = at(&Parameters::default(), 0.0, 0.0);
        assert!(!rests.update(Time::ZERO, Count::default(), &line));
    }
}
