//! BLUE: a drop probability that overflows raise and an idle link lowers (Feng, Shin, Kandlur & Saha, "The BLUE
//! Active Queue Management Algorithms", IEEE/ACM Transactions on Networking 10(4), 2002; first as the technical report
//! CSE-TR-387-99 of the University of Michigan, 1999).
//!
//! The queue's length is no measure of congestion here (§III-A): only the two events are. The probability moves at most
//! once in `freeze_ms`, so that a change has effect before the next one. In the variant with a threshold, a queue
//! longer than that raises it too, which bounds the delay in a large buffer.
//!
//! Left out: Stochastic Fair BLUE (§IV), which keeps a probability for each of many bins.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Aqm, AqmAlgorithm, AqmParameters, AqmSpec, Arrival, Departure, DrainRate, Threshold, Verdict,
};
use crate::record::Gauges;
use crate::rng::{Rng, Seed};
use crate::units::{BitRate, Time};
use sojourn_input::compare::at_least;
use sojourn_input::problem::Faults;

crate::series! {
    /// BLUE: probability of dropping or marking an arrival.
    DROP_PROBABILITY = "drop_probability", in "1", from "Feng 2002, section III";
}

/// Parameters of BLUE.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Blue")]
pub struct Parameters {
    /// What an overflow, or a queue above the threshold, adds to the drop probability (Feng 2002 §III: delta 1,
    /// 0.0025 or 0.02).
    #[schemars(range(min = 1e-6, max = 1.0), extend("x-live" = true))]
    pub increment: f64,
    /// What an idle link takes from the drop probability (Feng 2002 §III: delta 2, a tenth of `increment`). It must
    /// not be more than `increment`.
    #[schemars(range(min = 0.0, max = 1.0), extend("x-live" = true))]
    pub decrement: f64,
    /// Least time between two changes of the drop probability in ms: about a round trip, so that a change shows first
    /// (Feng 2002 §III: freeze time, 10 or 100).
    #[schemars(range(min = 0.1, max = 100_000.0), extend("x-live" = true))]
    pub freeze_ms: f64,
    /// Queue delay in ms above which the drop probability grows even without an overflow (Feng 2002 §III-A: a length
    /// L). With more than the buffer holds, only overflows raise it.
    #[schemars(range(min = 0.01, max = 1_000_000.0), extend("x-live" = true))]
    pub threshold_ms: f64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { increment: 0.0025, decrement: 0.000_25, freeze_ms: 100.0, threshold_ms: 20.0 }
    }
}

impl AqmParameters for Parameters {
    fn start(&self, _seed: Seed) -> AqmAlgorithm {
        Blue::new(self).into()
    }

    fn check(&self, _packet: Time) -> Faults {
        Faults::from(at_least(("increment", self.increment), ("decrement", self.decrement)))
    }

    fn target_ms(&self) -> Option<f64> {
        Some(self.threshold_ms)
    }

    fn threshold(&self, _rate: BitRate) -> Option<Threshold> {
        Some(Threshold::of_delay("threshold_ms", self.threshold_ms, 1.0))
    }
}

/// State of BLUE.
pub struct Blue {
    increment: f64,
    decrement: f64,
    freeze: Time,
    threshold_s: f64,
    probability: f64,
    /// The probability does not change before.
    thaws_at: Time,
    /// The queue was full since the last packet.
    has_overflowed: bool,
    /// Of the line, known from the last arrival.
    rate: Option<BitRate>,
    /// When the packet that left the queue empty has been sent.
    idle_since: Option<Time>,
}

impl Blue {
    /// The algorithm in its initial state.
    pub fn new(p: &Parameters) -> Self {
        Self {
            increment: p.increment,
            decrement: p.decrement,
            freeze: Time::from_secs_f64(p.freeze_ms / 1e3),
            threshold_s: p.threshold_ms / 1e3,
            probability: 0.0,
            thaws_at: Time::ZERO,
            has_overflowed: false,
            rate: None,
            idle_since: None,
        }
    }

    fn raise(&mut self, now: Time) {
        if now >= self.thaws_at {
            self.probability = (self.probability + self.increment).min(1.0);
            self.thaws_at = now + self.freeze;
        }
    }

    /// Lowers the probability for a link that has been idle until now: as it fell idle, and once more in each freeze
    /// time since. An arrival that finds others waiting has come too late to tell.
    fn lower(&mut self, now: Time, is_empty: bool) {
        self.idle_since = self.idle_since.filter(|_| is_empty);
        let Some(since) = self.idle_since else { return };
        let first = since.max(self.thaws_at);
        if now > first {
            let times = now.since(first).ps().div_ceil(self.freeze.ps());
            self.probability = (self.probability - self.decrement * times as f64).max(0.0);
            self.thaws_at = first + self.freeze.times(times);
        }
    }

    /// An overflow comes without a time: it counts when the next packet arrives or leaves.
    fn note_overflow(&mut self, now: Time) {
        if std::mem::take(&mut self.has_overflowed) {
            self.raise(now);
        }
    }
}

impl Aqm for Blue {
    fn on_arrival(&mut self, packet: &Arrival, drain_rate: &DrainRate, rng: &mut Rng) -> Verdict {
        self.rate = Some(drain_rate.sustained);
        self.lower(packet.now, packet.backlog.packets == 0);
        self.note_overflow(packet.now);
        if drain_rate.drain_s(packet.backlog.bytes as f64) > self.threshold_s {
            self.raise(packet.now);
        }
        let probability = self.probability * packet.share;
        if probability > 0.0 && rng.uniform() < probability {
            Verdict::Signal
        } else {
            Verdict::Pass
        }
    }

    fn on_overflow(&mut self) {
        self.has_overflowed = true;
    }

    fn on_departure(&mut self, packet: &Departure) -> Verdict {
        self.note_overflow(packet.now);
        if packet.own_left.packets == 0 {
            let sending = self.rate.map_or(Time::ZERO, |rate| rate.time_for(packet.size));
            self.idle_since = Some(packet.now + sending);
        }
        Verdict::Pass
    }

    fn gauges(&self, out: &mut Gauges) {
        out.show(DROP_PROBABILITY, self.probability);
    }

    fn retune(&mut self, spec: &AqmSpec) {
        let AqmSpec::Blue(p) = spec else { return };
        let Self { increment, decrement, freeze, threshold_s, .. } = Self::new(p);
        (self.increment, self.decrement) = (increment, decrement);
        (self.freeze, self.threshold_s) = (freeze, threshold_s);
    }
}

#[cfg(test)]
mod tests {
    use super::super::packets_for_tests::arrival;
    use super::*;
    use crate::count::Count;
    use crate::packet::Ecn;

    /// 8 Mbps: 1000 bytes take 1 ms.
    fn line() -> DrainRate {
        DrainRate::steady(BitRate::from_mbps(8.0), 1_000_000)
    }

    fn arrive(blue: &mut Blue, ms: u64, backlog: u64, rng: &mut Rng) -> Verdict {
        let backlog = Count { bytes: backlog, packets: backlog.div_ceil(1000) };
        let packet = Arrival {
            now: Time::from_ms(ms),
            size: 1000,
            backlog,
            share: 1.0,
            ecn: crate::packet::Ecn::NotEct,
            is_markable: false,
            flow: 0,
        };
        blue.on_arrival(&packet, &line(), rng)
    }

    fn leave(blue: &mut Blue, ms: u64, left: u64) {
        let left = Count { bytes: 1000 * left, packets: left };
        blue.on_departure(&Departure {
            now: Time::from_ms(ms),
            sojourn: Time::ZERO,
            size: 1000,
            left,
            own_left: left,
            alone: left.packets == 0,
            ecn: Ecn::NotEct,
            is_markable: false,
            flow: 0,
        });
    }

    fn blue() -> (Blue, Rng) {
        let p = Parameters { increment: 0.02, decrement: 0.002, ..Parameters::default() };
        (Blue::new(&p), Rng::named(1, "blue"))
    }

    fn assert_at(blue: &Blue, want: f64) {
        assert!((blue.probability - want).abs() < 1e-12, "{} {want}", blue.probability);
    }

    #[test]
    fn a_queue_above_the_threshold_raises_it_once_in_a_freeze_time() {
        // 20 000 bytes are 20 ms, not more than the threshold; 20 001 are. One step of 0.02 in each 100 ms.
        let (mut blue, mut rng) = blue();
        for (ms, backlog, want) in [
            (0, 20_000, 0.0),
            (10, 20_001, 0.02),
            (109, 30_000, 0.02),
            (110, 30_000, 0.04),
            (500, 20_000, 0.04),
        ] {
            arrive(&mut blue, ms, backlog, &mut rng);
            assert_at(&blue, want);
        }
    }

    #[test]
    fn an_overflow_counts_when_the_next_packet_comes_or_goes() {
        let (mut blue, mut rng) = blue();
        blue.on_overflow();
        blue.on_overflow();
        leave(&mut blue, 5, 9);
        assert_at(&blue, 0.02);
        blue.on_overflow();
        arrive(&mut blue, 50, 0, &mut rng);
        assert_at(&blue, 0.02);
        blue.on_overflow();
        arrive(&mut blue, 105, 0, &mut rng);
        assert_at(&blue, 0.04);
    }

    #[test]
    fn an_idle_link_lowers_it_once_in_a_freeze_time() {
        let (mut blue, mut rng) = blue();
        for ms in [0, 100, 200, 300, 400] {
            arrive(&mut blue, ms, 30_000, &mut rng);
        }
        assert_at(&blue, 0.1);
        // The last packet leaves at 449 and has been sent at 450; frozen until 500. An arrival at 450 finds the
        // line busy until then.
        leave(&mut blue, 449, 0);
        arrive(&mut blue, 450, 0, &mut rng);
        assert_at(&blue, 0.1);
        // Idle from 471 to 750: steps at 500, 600 and 700.
        leave(&mut blue, 470, 0);
        arrive(&mut blue, 750, 0, &mut rng);
        assert_at(&blue, 0.094);
        // Frozen until 800, idle again from 751 to 800: none.
        leave(&mut blue, 750, 0);
        arrive(&mut blue, 800, 0, &mut rng);
        assert_at(&blue, 0.094);
        // A dropped arrival, at 800 while the line is busy, ends no idle time: from 801 to 890 one step, at 801.
        leave(&mut blue, 800, 0);
        arrive(&mut blue, 800, 0, &mut rng);
        arrive(&mut blue, 890, 0, &mut rng);
        assert_at(&blue, 0.092);
        // Another one that finds a packet waiting says nothing of idle times.
        arrive(&mut blue, 990, 1000, &mut rng);
        assert_at(&blue, 0.092);
        // 46 steps of 0.002 are 0.092; a longer time takes no more.
        leave(&mut blue, 800, 0);
        arrive(&mut blue, 60_000, 0, &mut rng);
        assert_at(&blue, 0.0);
    }

    #[test]
    fn packets_get_signals_with_the_probability() {
        // 0.02 * 15 = 0.3 of 10 000; four deviations are 4 * sqrt(10 000 * 0.3 * 0.7) = 183.
        let (mut blue, mut rng) = blue();
        for step in 0..15 {
            arrive(&mut blue, 100 * step, 30_000, &mut rng);
        }
        assert_at(&blue, 0.3);
        let signals =
            (0..10_000).filter(|_| arrive(&mut blue, 1450, 0, &mut rng) == Verdict::Signal).count();
        assert!(signals.abs_diff(3000) < 183, "{signals}");
    }

    #[test]
    fn a_decrement_above_the_increment_is_refused() {
        let p = Parameters { decrement: 0.003, ..Parameters::default() };
        assert_eq!(p.check(Time::ZERO).into_iter().count(), 1);
        assert_eq!(Parameters::default().check(Time::ZERO).into_iter().count(), 0);
    }

    #[test]
    fn the_probability_is_1_at_most_and_is_shown() {
        let p = Parameters { increment: 0.6, ..Parameters::default() };
        let (mut blue, mut rng) = (Blue::new(&p), Rng::named(1, "blue"));
        for (ms, want) in [(0, 0.6), (100, 1.0), (200, 1.0)] {
            arrive(&mut blue, ms, 30_000, &mut rng);
            let mut gauges = Gauges::default();
            blue.gauges(&mut gauges);
            assert_eq!(gauges.get("drop_probability"), Some(want));
        }
    }

    #[test]
    fn the_last_packet_keeps_the_line_busy_for_its_time() {
        // It leaves at 700, and 1000 bytes take 1 ms: the line is idle from 701 on.
        for (ms, want) in [(700, 0.5), (701, 0.5), (702, 0.498)] {
            let (mut blue, mut rng) = blue();
            arrive(&mut blue, 600, 1000, &mut rng);
            blue.probability = 0.5;
            leave(&mut blue, 700, 0);
            arrive(&mut blue, ms, 0, &mut rng);
            assert_at(&blue, want);
        }
    }

    #[test]
    fn a_draw_below_the_probability_is_a_signal_and_none_is_drawn_without_one() {
        let draw = Rng::named(1, "blue").uniform();
        for (probability, want) in [(draw, Verdict::Pass), (draw + 1e-12, Verdict::Signal)] {
            let (mut blue, mut rng) = blue();
            blue.probability = probability;
            assert_eq!(arrive(&mut blue, 0, 1000, &mut rng), want);
        }
        // Half of a share is half of the probability.
        for (more, want) in [(0.0, Verdict::Pass), (1e-12, Verdict::Signal)] {
            let (mut blue, mut rng) = blue();
            blue.probability = 2.0 * (draw + more);
            let packet = Arrival { share: 0.5, ..arrival(1000) };
            assert_eq!(blue.on_arrival(&packet, &line(), &mut rng), want);
        }
        let (mut blue, mut rng) = blue();
        assert_eq!(arrive(&mut blue, 0, 1000, &mut rng), Verdict::Pass);
        assert_eq!(rng.bits(), Rng::named(1, "blue").bits());
    }
}
