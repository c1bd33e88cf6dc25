//! RED and Adaptive RED: ns-2.35 `queue/red.cc` with the defaults of `tcl/lib/ns-default.tcl`;
//! Floyd & Jacobson 1993; Floyd, Gummadi & Shenker 2001.
//!
//! RED averages the queue length at each arrival. The drop probability grows from 0 at the lower
//! threshold to `max_p` at the upper one, and with `gentle` on to 1 at twice the upper one.
//! Adaptive RED changes `max_p` to keep the average half-way between the thresholds.
//!
//! Left out: resetting the slope of the gentle part as `max_p` adapts. As in ns-2, the initial
//! `max_p` fixes it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Aqm, AqmAlgorithm, AqmParameters, AqmSpec, Arrival, Departure, DrainRate, Threshold, Verdict,
    at_least_packets,
};
use crate::count::Count;
use crate::packet::FULL_PACKET;
use crate::record::Gauges;
use crate::rng::{Rng, Seed};
use crate::units::{BitRate, Time};
use sojourn_input::compare::at_least;
use sojourn_input::problem::{Fault, Faults};

crate::series! {
    /// RED in bytes: moving average of the queue's length.
    AVERAGE_BYTES = "average_queue", in "B", from "Floyd & Jacobson 1993";
    /// RED in packets, CHOKe: moving average of the queue's length.
    AVERAGE_PACKETS = "average_queue", in "packets", from "Floyd & Jacobson 1993";
    /// RED: drop probability where the average is at its upper threshold.
    MAX_P = "max_p", in "1", from "Floyd, Gummadi & Shenker 2001";
}

/// The lower threshold at least, if a delay gives it.
const LEAST_PACKETS: f64 = 5.0;

/// Parameters of RED.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Red")]
pub struct Parameters {
    /// Lower threshold of the average queue length in packets. Default: `target_delay_ms` at half
    /// the link's rate, and at least 5.
    #[schemars(range(min = 0.1, max = 1_000_000.0), extend("x-live" = true))]
    pub min_threshold_packets: Option<f64>,
    /// Upper threshold of the average queue length in packets. Default: three times the lower
    /// threshold.
    #[schemars(range(min = 0.1, max = 10_000_000.0), extend("x-live" = true))]
    pub max_threshold_packets: Option<f64>,
    /// Weight of an arrival in the moving average. Default: 1 - exp(-1 / (10 * 100 ms * packets per
    /// s)).
    #[schemars(range(min = 1e-9, max = 1.0), extend("x-live" = true))]
    pub weight: Option<f64>,
    /// Drop probability at the upper threshold (ns-2: 1 / linterm_). With `adaptive` it is the
    /// initial value.
    #[schemars(range(min = 1e-6, max = 1.0), extend("x-live" = true))]
    pub max_p: f64,
    /// Above the upper threshold, let the drop probability grow to 1 at twice that threshold. With
    /// `false` it is 1 at once.
    pub gentle: bool,
    /// Space drops evenly: after a drop, the next one comes 1/p to 2/p packets later.
    pub wait: bool,
    /// Measure the queue in bytes; each packet of the thresholds then counts as
    /// `mean_packet_bytes`.
    pub in_bytes: bool,
    /// Scale the drop probability with the packet's size (ns-2: bytes_). It has an effect only with
    /// `in_bytes`.
    pub by_size: bool,
    /// Mean packet size in bytes (ns-2: 500, whatever the packets are).
    #[schemars(range(min = 1, max = 9018))]
    pub mean_packet_bytes: u64,
    /// Adapt `max_p` to keep the average half-way between the thresholds (Adaptive RED).
    pub adaptive: bool,
    /// Time between adaptations of `max_p` in s.
    #[schemars(range(min = 0.001, max = 1000.0))]
    pub interval_s: f64,
    /// Lower bound of `max_p` in adaptation.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub bottom: f64,
    /// Upper bound of `max_p` in adaptation.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub top: f64,
    /// Queue delay in ms from which the lower threshold is derived, if that is unset.
    #[schemars(range(min = 0.01, max = 10_000.0), extend("x-live" = true))]
    pub target_delay_ms: f64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            min_threshold_packets: None,
            max_threshold_packets: None,
            weight: None,
            max_p: 0.1,
            gentle: true,
            wait: true,
            in_bytes: true,
            by_size: true,
            mean_packet_bytes: 500,
            adaptive: false,
            interval_s: 0.5,
            bottom: 0.01,
            top: 0.5,
            target_delay_ms: TARGET_DELAY_MS,
        }
    }
}

impl AqmParameters for Parameters {
    fn start(&self, _seed: Seed) -> AqmAlgorithm {
        Red::new(self).into()
    }

    fn check(&self, _packet: Time) -> Faults {
        let mut faults = Faults::from(at_least(("top", self.top), ("bottom", self.bottom)));
        faults.add(self.thresholds().check());
        faults
    }

    fn target_ms(&self) -> Option<f64> {
        Some(self.target_delay_ms)
    }

    fn threshold(&self, rate: BitRate) -> Option<Threshold> {
        Some(self.thresholds().signalling(self.packet_bytes(), rate))
    }

    fn remarks(&self, rate: BitRate) -> Faults {
        self.thresholds().remarks(self.packet_bytes(), rate)
    }
}

impl Parameters {
    fn thresholds(&self) -> Thresholds {
        Thresholds {
            min_packets: self.min_threshold_packets,
            max_packets: self.max_threshold_packets,
            target_delay_ms: self.target_delay_ms,
            mean_packet_bytes: self.mean_packet_bytes,
        }
    }

    /// Bytes of a packet of the thresholds.
    fn packet_bytes(&self) -> u64 {
        if self.in_bytes { self.mean_packet_bytes } else { FULL_PACKET }
    }
}

/// The keys that thresholds follow from, of ns-2's RED and of Linux'.
pub(super) struct Thresholds {
    pub min_packets: Option<f64>,
    pub max_packets: Option<f64>,
    pub target_delay_ms: f64,
    pub mean_packet_bytes: u64,
}

/// The delay from which the lower threshold is derived, where none is stated.
pub(super) const TARGET_DELAY_MS: f64 = 5.0;

impl Thresholds {
    /// Both in packets, on a line of this rate.
    pub(super) fn on(&self, line_bps: f64) -> (f64, f64) {
        let packets_per_s = line_bps / (8 * self.mean_packet_bytes) as f64;
        let half_target = self.target_delay_ms / 1e3 * packets_per_s / 2.0;
        let min = self.min_packets.unwrap_or(half_target.max(LEAST_PACKETS));
        (min, self.max_packets.unwrap_or(3.0 * min))
    }

    pub(super) fn check(&self) -> Result<(), Fault> {
        match (self.min_packets, self.max_packets) {
            (_, None) => Ok(()),
            (Some(min), Some(max)) => {
                at_least(("max_threshold_packets", max), ("min_threshold_packets", min))
            }
            (None, Some(max)) => {
                let allowed =
                    "only with min_threshold_packets, which comes from the link's rate otherwise";
                Err(Fault::found("max_threshold_packets", max, allowed))
            }
        }
    }

    /// The delay above which it signals, with packets of so many bytes.
    pub(super) fn signalling(&self, packet_bytes: u64, rate: BitRate) -> Threshold {
        let bytes = packet_bytes as f64;
        let (min, _) = self.on(rate.bps() as f64);
        match self.min_packets {
            Some(min) => Threshold::of_packets("min_threshold_packets", min, bytes, rate),
            None => Threshold {
                ms: min * bytes * 8e3 / rate.bps() as f64,
                ..Threshold::of_delay("target_delay_ms", self.target_delay_ms, 2.0)
            },
        }
    }

    /// A target delay that the least threshold exceeds.
    pub(super) fn remarks(&self, packet_bytes: u64, rate: BitRate) -> Faults {
        if self.min_packets.is_some() {
            return Faults::default();
        }
        let delay = ("target_delay_ms", self.target_delay_ms);
        let meant_ms = self.target_delay_ms / 2.0;
        at_least_packets(delay, meant_ms, LEAST_PACKETS, packet_bytes, rate).into()
    }
}

/// Values that follow from the parameters and the link's rate.
struct Derived {
    /// Mean packets per second on the link.
    packets_per_s: f64,
    weight: f64,
    /// Thresholds in the unit of the average queue length.
    min: f64,
    max: f64,
}

/// State of RED.
pub struct Red {
    p: Parameters,
    /// Known from the first arrival, which brings the link's rate.
    derived: Option<Derived>,
    /// Averaged queue length, in bytes or packets.
    average: f64,
    max_p: f64,
    /// Since when the queue has been empty.
    idle_since: Option<Time>,
    /// Arrivals since the last drop, and their bytes.
    count: u64,
    count_bytes: u64,
    /// Was the average above the lower threshold at the last arrival?
    was_above: bool,
    last_adaptation: Time,
}

impl Red {
    /// The algorithm in its initial state.
    pub fn new(p: &Parameters) -> Self {
        Self {
            p: p.clone(),
            derived: None,
            average: 0.0,
            max_p: p.max_p,
            idle_since: Some(Time::ZERO),
            count: 0,
            count_bytes: 0,
            was_above: false,
            last_adaptation: Time::ZERO,
        }
    }

    fn derive(p: &Parameters, drain_rate: &DrainRate) -> Derived {
        let packets_per_s = drain_rate.line_bps() / (8 * p.mean_packet_bytes) as f64;
        let unit = if p.in_bytes { p.mean_packet_bytes as f64 } else { 1.0 };
        let (min, max) = p.thresholds().on(drain_rate.line_bps());
        let auto = 1.0 - libm::exp(-1.0 / (10.0 * 0.1 * packets_per_s));
        let weight = p.weight.unwrap_or(auto);
        Derived { packets_per_s, weight, min: min * unit, max: max * unit }
    }

    fn length(&self, backlog: Count) -> f64 {
        if self.p.in_bytes { backlog.bytes as f64 } else { backlog.packets as f64 }
    }

    /// red.cc `estimator`: idle time counts as the small packets that could have left meanwhile.
    fn average_in(&mut self, now: Time, length: f64) {
        let Some(d) = &self.derived else { return };
        let idle = self.idle_since.take().map_or(0.0, |since| now.since(since).secs_f64());
        let missed = (d.packets_per_s * idle).trunc();
        self.average *= libm::pow(1.0 - d.weight, missed + 1.0);
        self.average += d.weight * length;
    }

    /// red.cc `updateMaxP`.
    fn adapt(&mut self, now: Time) {
        let Some(d) = &self.derived else { return };
        let interval = Time::from_secs_f64(self.p.interval_s);
        if !self.p.adaptive || now < self.last_adaptation + interval {
            return;
        }
        let part = 0.4 * (d.max - d.min);
        if self.average < d.min + part && self.max_p > self.p.bottom {
            self.max_p *= 0.9;
            self.last_adaptation = now;
        } else if self.average > d.max - part && self.max_p < self.p.top {
            self.max_p += (self.max_p / 4.0).min(0.01);
            self.last_adaptation = now;
        }
    }

    /// Drop probability of the average (red.cc `calculate_p_new`).
    fn base_probability(&self, d: &Derived) -> f64 {
        let a = self.average;
        if a < d.max {
            return (self.max_p * (a - d.min) / (d.max - d.min)).clamp(0.0, 1.0);
        }
        if !self.p.gentle {
            return 1.0;
        }
        ((1.0 - self.p.max_p) / d.max * a + 2.0 * self.p.max_p - 1.0).clamp(0.0, 1.0)
    }

    /// Spaces drops and scales by size (red.cc `modify_p`).
    fn probability(&self, size: u64, d: &Derived) -> f64 {
        let base = self.base_probability(d);
        let mean = self.p.mean_packet_bytes;
        let sized = self.p.in_bytes && self.p.by_size;
        let n = if sized { self.count_bytes / mean } else { self.count } as f64;
        let spaced = match (self.p.wait, n * base) {
            (true, np) if np < 1.0 => 0.0,
            (true, np) if np < 2.0 => base / (2.0 - np),
            (false, np) if np < 1.0 => base / (1.0 - np),
            _ => 1.0,
        };
        let spaced = if sized { spaced * size as f64 / mean as f64 } else { spaced };
        spaced.min(1.0)
    }

    fn judge(&mut self, packet: &Arrival, rng: &mut Rng) -> Verdict {
        let Some(d) = &self.derived else { return Verdict::Pass };
        if self.average < d.min || packet.backlog.packets <= 1 {
            self.was_above = false;
            return Verdict::Pass;
        }
        let forced_above = if self.p.gentle { 2.0 * d.max } else { d.max };
        if self.average >= forced_above {
            return Verdict::Drop;
        }
        if !self.was_above {
            self.was_above = true;
            self.count = 1;
            self.count_bytes = packet.size;
            return Verdict::Pass;
        }
        if rng.uniform() > self.probability(packet.size, d) {
            return Verdict::Pass;
        }
        // RFC 3168 §7: above the upper threshold packets are dropped, not marked.
        if self.average < d.max { Verdict::Signal } else { Verdict::Drop }
    }

    fn forget_count(&mut self) {
        self.count = 0;
        self.count_bytes = 0;
    }
}

impl Aqm for Red {
    fn on_arrival(&mut self, packet: &Arrival, drain_rate: &DrainRate, rng: &mut Rng) -> Verdict {
        if self.derived.is_none() {
            self.derived = Some(Self::derive(&self.p, drain_rate));
        }
        // Thresholds are of the line's queue: a bin's queue counts as if all were as long.
        let length = self.length(packet.backlog) / drain_rate.share.unwrap_or(1.0);
        self.average_in(packet.now, length);
        self.adapt(packet.now);
        self.count += 1;
        self.count_bytes += packet.size;
        let verdict = self.judge(packet, rng);
        if verdict != Verdict::Pass {
            self.forget_count();
        }
        verdict
    }

    fn on_overflow(&mut self) {
        self.forget_count();
    }

    fn on_departure(&mut self, packet: &Departure) -> Verdict {
        if packet.alone {
            self.idle_since = Some(packet.now);
        }
        Verdict::Pass
    }

    fn gauges(&self, out: &mut Gauges) {
        out.show(if self.p.in_bytes { AVERAGE_BYTES } else { AVERAGE_PACKETS }, self.average);
        out.show(MAX_P, self.max_p);
    }

    fn retune(&mut self, spec: &AqmSpec) {
        let AqmSpec::Red(p) = spec else { return };
        if p.max_p != self.p.max_p {
            self.max_p = p.max_p;
        }
        (self.p, self.derived) = (p.clone(), None);
    }
}

#[cfg(test)]
mod tests {
    use super::super::packets_for_tests::departure;
    use super::*;
    use crate::packet::Ecn;
    use crate::units::BitRate;

    fn packets_red() -> Red {
        // min 10, max 30 packets, max_p 0.1, counted in packets.
        let p = Parameters {
            min_threshold_packets: Some(10.0),
            max_threshold_packets: Some(30.0),
            in_bytes: false,
            ..Parameters::default()
        };
        let rate = BitRate::from_mbps(38.0);
        let drain_rate = DrainRate::steady(rate, 1_000_000);
        Red { derived: Some(Red::derive(&p, &drain_rate)), ..Red::new(&p) }
    }

    #[test]
    fn the_probability_curve() {
        let mut red = packets_red();
        // Linear to 0.1 at 30, then gentle: 0.9/30 * a + 0.2 - 1 from 0.1 at 30 to 1 at 60.
        for (average, want) in
            [(10.0, 0.0), (20.0, 0.05), (29.999, 0.1), (30.0, 0.1), (45.0, 0.55), (60.0, 1.0)]
        {
            red.average = average;
            let got = red.base_probability(red.derived.as_ref().unwrap());
            assert!((got - want).abs() < 1e-4, "{average}: {got}");
        }
    }

    #[test]
    fn drops_are_spaced_between_one_and_two_over_p() {
        // At p = 0.05: none while n * p < 1, then p / (2 - n p): 0.05 at n = 20, 0.1 at n = 30,
        // 1 from n = 40 on. Uniform over 20..40, so 30 packets a drop in the mean.
        let mut red = packets_red();
        red.average = 20.0;
        let probability = |red: &Red| red.probability(1500, red.derived.as_ref().unwrap());
        for (n, want) in [(19, 0.0), (20, 0.05), (30, 0.1), (40, 1.0)] {
            red.count = n;
            assert!((probability(&red) - want).abs() < 1e-9, "{n}");
        }
    }

    /// Half-way between thresholds of 16 and 48 packets the probability is half of max_p, without any rounding.
    #[test]
    fn a_draw_that_is_the_probability_itself_is_a_signal() {
        let draw = Rng::split_mix(1).uniform();
        for (probability, verdict) in [(draw.next_down(), Verdict::Pass), (draw, Verdict::Signal)] {
            let mut red = packets_red();
            (red.p.wait, red.was_above) = (false, true);
            (red.average, red.max_p) = (32.0, 2.0 * probability);
            red.derived = red.derived.map(|d| Derived { min: 16.0, max: 48.0, ..d });
            assert_eq!(red.judge(&arrival(40), &mut Rng::split_mix(1)), verdict);
        }
    }

    #[test]
    fn an_idle_time_ages_the_average() {
        // 38e6 / 4000 = 9500 packets/s: weight 1 - exp(-1/9500); 1 s of idling: exp(-1).
        let mut red = packets_red();
        red.average = 20.0;
        red.idle_since = Some(Time::ZERO);
        red.average_in(Time::from_s(1), 0.0);
        assert!((red.average / 20.0 - libm::exp(-1.0)).abs() < 1e-3, "{}", red.average);
    }

    #[test]
    fn adaptation_lowers_max_p_by_a_tenth_and_raises_it_by_a_hundredth() {
        let mut red = packets_red();
        red.p.adaptive = true;
        red.average = 17.0; // below 10 + 0.4 * 20
        red.adapt(Time::from_s(1));
        assert!((red.max_p - 0.09).abs() < 1e-12);
        red.average = 23.0; // above 30 - 0.4 * 20
        red.adapt(Time::from_ms(1400));
        assert!((red.max_p - 0.09).abs() < 1e-12, "within the interval");
        red.adapt(Time::from_ms(1500));
        assert!((red.max_p - 0.10).abs() < 1e-12);
    }

    #[test]
    fn the_window_of_adaptation_ends_at_its_bounds() {
        // 0.4 * 20 = 8 packets from either threshold: 18 and 22 are within. max_p stays from 0.01 to 0.5.
        let after = |average, max_p| {
            let mut red = packets_red();
            red.p.adaptive = true;
            (red.average, red.max_p) = (average, max_p);
            red.adapt(Time::from_s(1));
            red.max_p
        };
        assert_eq!([18.0, 22.0].map(|average| after(average, 0.1)), [0.1, 0.1]);
        assert_eq!([(17.9, 0.01), (22.1, 0.5)].map(|(average, p)| after(average, p)), [0.01, 0.5]);
        // A quarter of 0.02 is less than a hundredth.
        assert!((after(22.1, 0.02) - 0.025).abs() < 1e-12);
        assert_eq!(after(17.0, 0.1), 0.1 * 0.9);
    }

    #[test]
    fn unset_thresholds_follow_the_target_delay_and_the_weight_the_rate() {
        // 38 Mbps are 9500 packets of 500 B in a second: half of 5 ms are 23.75 of them. 1 Mbps has 250: 5 at least. The
        // average forgets within ten times 0.1 s.
        let derived = |mbps| {
            let p = Parameters { in_bytes: false, ..Parameters::default() };
            Red::derive(&p, &DrainRate::steady(BitRate::from_mbps(mbps), 1_000_000))
        };
        let (fast, slow) = (derived(38.0), derived(1.0));
        assert!((fast.packets_per_s - 9500.0).abs() < 1e-9);
        assert!((fast.min - 23.75).abs() < 1e-9 && (fast.max - 71.25).abs() < 1e-9);
        assert_eq!((slow.min, slow.max), (5.0, 15.0));
        assert!((slow.weight - (1.0 - libm::exp(-1.0 / 250.0))).abs() < 1e-12);
    }

    fn arrival(packets: u64) -> Arrival {
        let backlog = Count { packets, bytes: 1000 * packets };
        Arrival {
            now: Time::ZERO,
            size: 1000,
            backlog,
            share: 1.0,
            is_markable: true,
            ecn: Ecn::Ect0,
            flow: 0,
        }
    }

    /// What becomes of a packet at this average, after so many without a drop.
    fn judged(average: f64, count: u64, gentle: bool) -> Verdict {
        let mut red = packets_red();
        (red.average, red.count, red.was_above, red.p.gentle) = (average, count, true, gentle);
        red.judge(&arrival(20), &mut Rng::named(1, "red"))
    }

    #[test]
    fn below_the_upper_threshold_packets_are_marked_and_above_it_dropped() {
        // A count of 1000 makes every signal certain.
        assert_eq!(judged(9.99, 1000, true), Verdict::Pass);
        assert_eq!(judged(29.9, 1000, true), Verdict::Signal);
        assert_eq!(judged(30.0, 1000, true), Verdict::Drop);
        // From twice the upper threshold on all are dropped, or from the threshold itself where it is not gentle. The
        // count does not matter then.
        assert_eq!(judged(59.9, 0, true), Verdict::Pass);
        assert_eq!(judged(60.0, 0, true), Verdict::Drop);
        assert_eq!(judged(29.9, 0, false), Verdict::Pass);
        assert_eq!(judged(30.0, 0, false), Verdict::Drop);
    }

    #[test]
    fn the_first_packet_above_the_lower_threshold_begins_the_count() {
        let mut red = packets_red();
        let mut rng = Rng::named(1, "red");
        (red.average, red.count) = (20.0, 1000);
        assert_eq!(red.judge(&arrival(20), &mut rng), Verdict::Pass);
        assert_eq!((red.was_above, red.count, red.count_bytes), (true, 1, 1000));
        // One packet that waits is no queue; two are, and an average that is the threshold is above it.
        assert_eq!(red.judge(&arrival(1), &mut rng), Verdict::Pass);
        assert!(!red.was_above);
        red.average = 10.0;
        assert_eq!(red.judge(&arrival(2), &mut rng), Verdict::Pass);
        assert!(red.was_above);
    }

    #[test]
    fn each_arrival_counts_until_one_is_signalled_or_overflows() {
        let mut red = packets_red();
        let mut rng = Rng::named(1, "red");
        let drain_rate = DrainRate::steady(BitRate::from_mbps(38.0), 1_000_000);
        (red.average, red.was_above, red.idle_since) = (20.0, true, None);
        for n in 1..=3 {
            assert_eq!(red.on_arrival(&arrival(20), &drain_rate, &mut rng), Verdict::Pass);
            assert_eq!((red.count, red.count_bytes), (n, 1000 * n));
        }
        red.on_overflow();
        assert_eq!((red.count, red.count_bytes), (0, 0));
        (red.count, red.count_bytes) = (3, 3000);
        red.on_shed();
        assert_eq!((red.count, red.count_bytes), (0, 0));
        red.count = 1000;
        assert_eq!(red.on_arrival(&arrival(20), &drain_rate, &mut rng), Verdict::Signal);
        assert_eq!((red.count, red.count_bytes), (0, 0));
    }

    #[test]
    fn the_average_moves_by_the_weight_of_the_length() {
        let mut red = packets_red();
        red.derived.as_mut().unwrap().weight = 0.25;
        (red.average, red.idle_since) = (20.0, None);
        red.average_in(Time::from_s(9), 40.0);
        // 0.75 * 20 + 0.25 * 40.
        assert_eq!(red.average, 25.0);
    }

    #[test]
    fn an_arrival_moves_the_average_and_adapts() {
        // 20 packets at a share of a half are 40 of the line: 0.75 * 20 + 0.25 * 40 = 25, above 22.
        let mut red = packets_red();
        red.derived.as_mut().unwrap().weight = 0.25;
        (red.average, red.idle_since, red.p.adaptive) = (20.0, None, true);
        let mut drain_rate = DrainRate::steady(BitRate::from_mbps(38.0), 1_000_000);
        drain_rate.share = Some(0.5);
        let packet = Arrival { now: Time::from_s(1), ..arrival(20) };
        red.on_arrival(&packet, &drain_rate, &mut Rng::named(1, "red"));
        assert_eq!((red.average, red.max_p), (25.0, 0.11));
        // Not again within half a second.
        red.adapt(Time::from_ms(1499));
        assert_eq!(red.max_p, 0.11);
        let mut gauges = Gauges::default();
        red.gauges(&mut gauges);
        assert_eq!((gauges.get("average_queue"), gauges.get("max_p")), (Some(25.0), Some(0.11)));
    }

    #[test]
    fn certainty_is_a_probability_of_one() {
        let mut red = packets_red();
        let d = Red::derive(&red.p, &DrainRate::steady(BitRate::from_mbps(38.0), 1_000_000));
        red.average = 90.0;
        assert_eq!(red.base_probability(&d), 1.0);
        red.p.gentle = false;
        assert_eq!(red.base_probability(&d), 1.0);
        // A flood of small counts without waiting: 25 * 0.05 is beyond one.
        (red.p.wait, red.average, red.count) = (false, 20.0, 25);
        assert_eq!(red.probability(1000, &d), 1.0);
    }

    #[test]
    fn large_packets_have_a_larger_probability_where_sizes_count() {
        // 10 000 B without a drop are 20 packets of 500 B; at p = 0.05 that gives 0.05, twice as much for 1000 B.
        let mut red = packets_red();
        (red.average, red.count, red.count_bytes) = (20.0, 3, 10_000);
        (red.p.in_bytes, red.p.by_size) = (true, true);
        let probability = |red: &Red| red.probability(1000, red.derived.as_ref().unwrap());
        assert!((probability(&red) - 0.1).abs() < 1e-12);
        // What would be certain for 500 B is half as likely for 250.
        let certain = Red { count_bytes: 100_000, derived: red.derived.take(), ..Red::new(&red.p) };
        let certain = Red { average: 20.0, ..certain };
        assert_eq!(certain.probability(250, certain.derived.as_ref().unwrap()), 0.5);
        red.derived = certain.derived;
        // Where they do not, three packets are too few.
        red.p.by_size = false;
        assert_eq!(probability(&red), 0.0);
        // Without waiting: 0.05 / (1 - 3 * 0.05), and certainty from 20 packets on.
        red.p.wait = false;
        assert!((probability(&red) - 0.05 / 0.85).abs() < 1e-12);
        red.count = 20;
        assert_eq!(probability(&red), 1.0);
    }

    #[test]
    fn ns2_counts_thresholds_in_bytes_of_500() {
        // Hong 2015: 102.4 and 1024 packets of 1500 bytes act as 34.1 and 341.3.
        let p = Parameters {
            min_threshold_packets: Some(102.4),
            max_threshold_packets: Some(1024.0),
            ..Parameters::default()
        };
        let rate = BitRate::from_mbps(38.0);
        let drain_rate = DrainRate::steady(rate, 1_000_000);
        let d = Red::derive(&p, &drain_rate);
        assert!((d.min / 1500.0 - 34.13).abs() < 0.01 && (d.max / 1500.0 - 341.33).abs() < 0.01);
    }

    #[test]
    fn the_first_arrival_tells_the_rate_and_moves_an_average_of_0() {
        let p = Parameters { weight: Some(0.25), in_bytes: false, ..Parameters::default() };
        let mut red = Red::new(&p);
        let line = DrainRate::steady(BitRate::from_mbps(38.0), 1_000_000);
        assert_eq!(red.on_arrival(&arrival(40), &line, &mut Rng::named(1, "red")), Verdict::Pass);
        assert_eq!(red.average, 10.0);
        assert!((red.derived.as_ref().unwrap().min - 23.75).abs() < 1e-9);
    }

    #[test]
    fn a_queue_is_idle_after_its_last_packet() {
        let mut red = packets_red();
        red.idle_since = None;
        for (left_bytes, idle_since) in [(1000, None), (0, Some(Time::from_ms(7)))] {
            let packet = departure(Time::from_ms(7), Time::ZERO, left_bytes);
            assert_eq!(red.on_departure(&packet), Verdict::Pass);
            assert_eq!(red.idle_since, idle_since);
        }
    }

    #[test]
    fn a_probability_is_1_at_most_though_max_p_exceeds_it_by_a_step() {
        let mut red = packets_red();
        (red.average, red.max_p) = (29.0, 1.2);
        assert_eq!(red.base_probability(red.derived.as_ref().unwrap()), 1.0);
    }

    #[test]
    fn a_draw_that_is_the_probability_is_a_signal() {
        // Half-way between the thresholds and without a count it is half of max_p.
        let draw = Rng::named(1, "red").uniform();
        for (max_p, want) in [(2.0 * draw, Verdict::Signal), (1.999 * draw, Verdict::Pass)] {
            let mut red = packets_red();
            let d = red.derived.as_mut().unwrap();
            (d.min, d.max) = (16.0, 48.0);
            (red.average, red.was_above, red.p.wait, red.max_p) = (32.0, true, false, max_p);
            assert_eq!(red.judge(&arrival(20), &mut Rng::named(1, "red")), want);
        }
    }
}
