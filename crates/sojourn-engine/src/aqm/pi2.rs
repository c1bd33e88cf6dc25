//! PI2: a PI controller whose output is squared for classic traffic (De Schepper et al. 2016), in a
//! single queue. RFC 9332 couples two queues by the same rule (`queue/dualq.rs`).
//!
//! Every `update_ms` the base probability p' moves by a proportional-integral rule with constant
//! gains. Classic packets (Not-ECT, ECT(0)) get a signal with likelihood p'^2, scalable ones
//! (ECT(1), CE) with k p'. Senders see the signals when the packet leaves, not a queue later.
//!
//! Left out: the random choice of packets, in place of which signals are spaced evenly (RFC 9332
//! appendix A.1), and PIE's burst allowance, which PI2 does without.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::marking::{BASE_PROBABILITY, PiController, Spacer};
use super::pie_parts::DROP_PROBABILITY;
use super::{Aqm, AqmAlgorithm, AqmParameters, AqmSpec, Departure, DrainRate, Verdict};
use crate::count::Count;
use crate::packet::Ecn;
use crate::record::Gauges;
use crate::rng::Seed;
use crate::units::Time;

crate::series! {
    /// PI2: probability of marking a scalable packet, the coupling factor times the base probability.
    MARK_PROBABILITY = "mark_probability", in "1", from "RFC 9332, section 2.1";
}

/// Parameters of PI2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Pi2")]
pub struct Parameters {
    /// Target queue delay in ms (RFC 9332 appendix A.1: 15).
    #[schemars(range(min = 0.1, max = 10_000.0), extend("x-live" = true))]
    pub target_ms: f64,
    /// Time between updates of the base probability in ms (RFC 9332 appendix A.1: 16).
    #[schemars(range(min = 0.1, max = 1000.0))]
    pub update_ms: f64,
    /// Gain of the queue delay's distance from the target, in 1/s (RFC 9332 appendix A.1: 0.16).
    #[schemars(range(min = 1e-6, max = 1000.0), extend("x-live" = true))]
    pub alpha_hz: f64,
    /// Gain of the queue delay's change, in 1/s (RFC 9332 appendix A.1: 3.2).
    #[schemars(range(min = 0.0, max = 1000.0), extend("x-live" = true))]
    pub beta_hz: f64,
    /// Coupling factor k: scalable packets are marked with k times the base probability (RFC 9332
    /// §2.5.2.1: 2).
    #[schemars(range(min = 0.1, max = 25.4), extend("x-live" = true))]
    pub coupling: f64,
    /// Likelihood of a classic signal from which all packets are dropped instead of marked (RFC
    /// 9332 appendix A.1: p_Cmax, 1/k^2 = 0.25).
    #[schemars(range(min = 0.0, max = 1.0), extend("x-live" = true))]
    pub max_mark_probability: f64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            target_ms: 15.0,
            update_ms: 16.0,
            alpha_hz: 0.16,
            beta_hz: 3.2,
            coupling: 2.0,
            max_mark_probability: 0.25,
        }
    }
}

impl AqmParameters for Parameters {
    fn start(&self, _seed: Seed) -> AqmAlgorithm {
        Pi2::new(self).into()
    }

    fn target_ms(&self) -> Option<f64> {
        Some(self.target_ms)
    }
}

/// State of PI2.
pub struct Pi2 {
    controller: PiController,
    interval: Time,
    coupling: f64,
    max_mark_probability: f64,
    classic: Spacer,
    scalable: Spacer,
    /// Sojourn time of the last packet that was at the head.
    sojourn: Time,
}

impl Pi2 {
    /// The algorithm in its initial state.
    pub fn new(p: &Parameters) -> Self {
        Self {
            controller: PiController::new(p.target_ms, p.alpha_hz, p.beta_hz, 1.0),
            interval: Time::from_secs_f64(p.update_ms / 1e3),
            coupling: p.coupling,
            max_mark_probability: p.max_mark_probability,
            classic: Spacer::default(),
            scalable: Spacer::default(),
            sojourn: Time::ZERO,
        }
    }
}

impl Aqm for Pi2 {
    fn on_departure(&mut self, packet: &Departure) -> Verdict {
        self.sojourn = packet.sojourn;
        let p = self.controller.p();
        let is_overloaded = p * p >= self.max_mark_probability;
        let is_scalable = matches!(packet.ecn, Ecn::Ect1 | Ecn::Ce);
        let signals = if is_scalable && !is_overloaded {
            self.scalable.says_signal((self.coupling * p).min(1.0))
        } else {
            self.classic.says_signal(p * p)
        };
        match (signals, is_overloaded) {
            (false, _) => Verdict::Pass,
            (true, false) => Verdict::Signal,
            (true, true) => Verdict::Drop,
        }
    }

    fn on_empty(&mut self, _now: Time) {
        self.sojourn = Time::ZERO;
    }

    fn update_interval(&self) -> Time {
        self.interval
    }

    fn update(&mut self, _now: Time, backlog: Count, _drain_rate: &DrainRate) -> bool {
        let delay_s = if backlog.packets == 0 { 0.0 } else { self.sojourn.secs_f64() };
        self.controller.update(delay_s)
    }

    fn gauges(&self, out: &mut Gauges) {
        let p = self.controller.p();
        out.show(BASE_PROBABILITY, p);
        out.show(DROP_PROBABILITY, p * p);
        out.show(MARK_PROBABILITY, (self.coupling * p).min(1.0));
    }

    fn retune(&mut self, spec: &AqmSpec) {
        let AqmSpec::Pi2(p) = spec else { return };
        let Self { controller, coupling, max_mark_probability, .. } = Self::new(p);
        self.controller.retune(&controller);
        (self.coupling, self.max_mark_probability) = (coupling, max_mark_probability);
    }
}

#[cfg(test)]
mod tests {
    use super::super::packets_for_tests::departure;
    use super::*;
    use crate::units::BitRate;

    /// PI2 whose base probability is this.
    fn at(p: f64) -> Pi2 {
        let rate = BitRate::from_mbps(10.0);
        let drain_rate = DrainRate::steady(rate, 0);
        // The first update sets it: alpha 1/s at 1 s over the target, and no gain of the change.
        let parameters = Parameters { alpha_hz: p, beta_hz: 0.0, ..Parameters::default() };
        let mut pi2 = Pi2::new(&parameters);
        pi2.sojourn = Time::from_ms(1015);
        pi2.update(Time::ZERO, Count { packets: 1, bytes: 1500 }, &drain_rate);
        assert!((pi2.controller.p() - p).abs() < 1e-12);
        pi2
    }

    fn verdicts(pi2: &mut Pi2, ecn: Ecn, verdict: Verdict) -> usize {
        let packet = Departure {
            now: Time::ZERO,
            sojourn: Time::from_ms(15),
            size: 1500,
            left: Count::default(),
            own_left: Count::default(),
            alone: true,
            ecn,
            is_markable: false,
            flow: 0,
        };
        (0..10_000).filter(|_| pi2.on_departure(&packet) == verdict).count()
    }

    #[test]
    fn classic_traffic_gets_the_square_and_scalable_traffic_twice_the_root() {
        // p' = 0.1: 0.01 of 10 000 and 2 * 0.1 of 10 000, give or take one that is accumulated.
        let mut pi2 = at(0.1);
        for (ecn, want) in [(Ecn::NotEct, 100), (Ecn::Ect0, 100), (Ecn::Ect1, 2000)] {
            assert!(verdicts(&mut pi2, ecn, Verdict::Signal).abs_diff(want) <= 1, "{ecn:?}");
        }
        assert_eq!(verdicts(&mut pi2, Ecn::Ect1, Verdict::Drop), 0);
    }

    #[test]
    fn overload_drops_all_alike() {
        // p' = 0.6: p'^2 = 0.36 is over 0.25.
        let mut pi2 = at(0.6);
        for ecn in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1] {
            assert!(verdicts(&mut pi2, ecn, Verdict::Drop).abs_diff(3600) <= 1, "{ecn:?}");
        }
    }

    #[test]
    fn an_empty_queue_has_no_delay() {
        let mut pi2 = at(0.1);
        pi2.on_empty(Time::ZERO);
        let rate = BitRate::from_mbps(10.0);
        let drain_rate = DrainRate::steady(rate, 0);
        // 0.1 + 0.1 * (0 - 0.015) = 0.0985.
        pi2.update(Time::ZERO, Count::default(), &drain_rate);
        assert!((pi2.controller.p() - 0.0985).abs() < 1e-12);
    }

    #[test]
    fn the_delay_is_the_wait_of_the_last_head_while_something_waits() {
        // 0.16 * (0.025 - 0.015) + 3.2 * 0.025.
        let line = DrainRate::steady(BitRate::from_mbps(10.0), 0);
        let mut pi2 = Pi2::new(&Parameters::default());
        pi2.on_departure(&departure(Time::from_s(1), Time::from_ms(25), 1000));
        assert!(pi2.update(Time::ZERO, Count { packets: 1, bytes: 1000 }, &line));
        assert!((pi2.controller.p() - 0.0816).abs() < 1e-12);
        let shown = |pi2: &Pi2, name| {
            let mut gauges = Gauges::default();
            pi2.gauges(&mut gauges);
            gauges.get(name).unwrap()
        };
        for (name, want) in [
            ("base_probability", 0.0816),
            ("drop_probability", 0.0816 * 0.0816),
            ("mark_probability", 0.1632),
        ] {
            assert!((shown(&pi2, name) - want).abs() < 1e-12, "{name}");
        }
        assert_eq!(shown(&at(0.8), "mark_probability"), 1.0);
        // A queue that was empty has no delay until the next head: 0.0816 - 0.16 * 0.015 - 3.2 * 0.025.
        pi2.on_empty(Time::ZERO);
        pi2.update(Time::ZERO, Count { packets: 1, bytes: 1000 }, &line);
        assert_eq!(pi2.controller.p(), 0.0);
    }

    #[test]
    fn scalable_traffic_is_marked_with_certainty_at_most() {
        // Twice 0.8 is 1: the sum exceeds 1 from the second packet on.
        let mut pi2 = at(0.8);
        pi2.max_mark_probability = 1.0;
        assert_eq!(verdicts(&mut pi2, Ecn::Ect1, Verdict::Signal), 9999);
        // A likelihood of a quarter, 0.5 of 0.5, is overload: 0.51 of 0.51 is beyond it and 0.49 of 0.49 below.
        for (p, verdict, want) in [(0.51, Verdict::Drop, 2601), (0.49, Verdict::Signal, 2401)] {
            assert!(verdicts(&mut at(p), Ecn::NotEct, verdict).abs_diff(want) <= 1, "{p}");
        }
    }

    #[test]
    fn a_base_probability_is_1_at_most_and_overload_begins_at_its_bound() {
        let line = DrainRate::steady(BitRate::from_mbps(10.0), 0);
        let mut pi2 = at(0.5);
        pi2.max_mark_probability = pi2.controller.p() * pi2.controller.p();
        assert_eq!(verdicts(&mut pi2, Ecn::Ect1, Verdict::Signal), 0);
        pi2.sojourn = Time::from_s(100);
        pi2.update(Time::ZERO, Count { packets: 1, bytes: 1500 }, &line);
        assert_eq!(pi2.controller.p(), 1.0);
    }
}
