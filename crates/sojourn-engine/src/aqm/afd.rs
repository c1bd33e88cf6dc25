//! AFD, approximate fair dropping: flows above a fair share lose what is above it, in one queue (Pan, Breslau, Prabhakar &
//! Shenker, "Approximate Fairness through Differential Dropping", ACM CCR 33(2), 2003).
//!
//! A shadow buffer holds one of `s` of the latest arrivals. A flow's count m in it measures its rate, and an arrival is
//! dropped with probability 1 - m_fair / m if that is positive, which leaves the flow m_fair (paper §2). The fair count
//! follows the queue, by a proportional-integral rule: it falls while the queue is above its reference.
//!
//! Counts are of bytes, so that flows with small packets are not taken for fast ones, and a count is an entry of a table
//! by the flow's hash. Left out: the hash table that the paper sizes by the flows (§3): flows that meet in an entry
//! share it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Aqm, AqmAlgorithm, AqmParameters, Arrival, Buffer, DrainRate, Threshold, Verdict};
use crate::count::Count;
use crate::record::Gauges;
use crate::rng::{Rng, Seed};
use crate::units::{BitRate, Time};
use sojourn_input::problem::{Fault, Faults, Remedy};

crate::series! {
    /// AFD: m_fair, the packets of 1500 bytes in the shadow buffer above which a flow loses some.
    FAIR_COUNT = "fair_count", in "packets", from "Pan 2003, section 2";
    /// AFD: packets of 1500 bytes that the largest flow has in the shadow buffer.
    LARGEST_COUNT = "largest_count", in "packets", from "Pan 2003, section 2";
}

/// Parameters of AFD. Counts are in packets of 1500 bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Afd")]
pub struct Parameters {
    /// Reference of the queue delay in ms. The paper's q_ref is a number of packets of its link.
    #[schemars(range(min = 0.01, max = 10_000.0))]
    pub target_ms: f64,
    /// Time between updates of the fair count in ms (Pan 2003: 160 Hz, 6.25 ms).
    #[schemars(range(min = 0.1, max = 1000.0))]
    pub update_ms: f64,
    /// Gain of the queue's present distance from its reference: packets of the fair count for each packet of the queue
    /// (Pan 2003: 1.8). It must be more than `previous_gain`.
    #[schemars(range(min = 1e-6, max = 1000.0))]
    pub present_gain: f64,
    /// Gain of the queue's distance from its reference one update ago (Pan 2003: 1.7).
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub previous_gain: f64,
    /// Queue delay in ms that the gains count as one packet, so that they act alike at any rate. A packet of 1250 bytes
    /// at 10 Mbps takes 1 ms.
    #[schemars(range(min = 0.001, max = 1000.0))]
    pub packet_ms: f64,
    /// Packets in the shadow buffer: b. A flow's count deviates by its root.
    #[schemars(range(min = 10, max = 100_000))]
    pub shadow_packets: u32,
    /// Seconds of full packets at the link's rate that the shadow buffer spans, if `sample_every` is unset. Slow links
    /// whose every packet is taken may need longer to fill it.
    #[schemars(range(min = 0.01, max = 1000.0))]
    pub history_s: f64,
    /// One of so many arrivals goes into the shadow buffer, at random: s. Default: what makes it span `history_s`.
    #[schemars(range(min = 1.0, max = 1_000_000.0))]
    pub sample_every: Option<f64>,
    /// Entries of the table of counts. Flows whose hashes meet in one share a count.
    #[schemars(range(min = 1, max = 65_536))]
    pub flow_counts: u32,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            target_ms: 15.0,
            update_ms: 6.25,
            present_gain: 1.8,
            previous_gain: 1.7,
            packet_ms: 1.0,
            shadow_packets: 1000,
            history_s: 2.0,
            sample_every: None,
            flow_counts: 1024,
        }
    }
}

impl AqmParameters for Parameters {
    fn start(&self, _seed: Seed) -> AqmAlgorithm {
        Afd::new(self).into()
    }

    fn check(&self, _packet: Time) -> Faults {
        let Self { present_gain, previous_gain, .. } = self;
        let mut faults = Faults::default();
        // Otherwise a long queue would raise the fair count, and grow.
        if previous_gain >= present_gain {
            let allowed = format!("less than {present_gain}, the value of present_gain");
            let message = format!("found {previous_gain}; allowed: {allowed}");
            faults.add(Fault::new("previous_gain", message));
        }
        faults
    }

    fn target_ms(&self) -> Option<f64> {
        Some(self.target_ms)
    }

    fn threshold(&self, _rate: BitRate) -> Option<Threshold> {
        Some(Threshold::of_delay("target_ms", self.target_ms, 1.0))
    }

    fn obstacle(&self, buffer: Buffer) -> Option<(String, Remedy)> {
        buffer.too_small_for_delay("target_ms", self.target_ms)
    }
}

/// An arrival in the shadow buffer.
#[derive(Clone, Copy)]
struct Sample {
    entry: u32,
    bytes: u32,
}

/// The latest sampled arrivals, and the bytes of each flow among them.
struct Shadow {
    capacity: usize,
    /// A ring, once it is full.
    samples: Vec<Sample>,
    oldest: usize,
    counts: Vec<u32>,
}

impl Shadow {
    /// Without memory until the first sample, as there may be an instance for each of many bins.
    fn new(capacity: u32) -> Self {
        Self { capacity: capacity as usize, samples: Vec::new(), oldest: 0, counts: Vec::new() }
    }

    fn count(&self, entry: u32) -> u32 {
        self.counts.get(entry as usize).copied().unwrap_or(0)
    }

    fn add(&mut self, sample: Sample, flow_counts: u32) {
        if self.samples.is_empty() {
            self.samples.reserve_exact(self.capacity);
            self.counts = vec![0; flow_counts as usize];
        }
        self.counts[sample.entry as usize] += sample.bytes;
        if self.samples.len() < self.capacity {
            self.samples.push(sample);
            return;
        }
        let gone = std::mem::replace(&mut self.samples[self.oldest], sample);
        self.counts[gone.entry as usize] -= gone.bytes;
        self.oldest = (self.oldest + 1) % self.capacity;
    }

    /// How full it is, from 0 to 1.
    fn fullness(&self) -> f64 {
        self.samples.len() as f64 / self.capacity as f64
    }

    fn largest(&self) -> u32 {
        self.counts.iter().copied().max().unwrap_or(0)
    }
}

/// State of AFD.
pub struct Afd {
    p: Parameters,
    shadow: Shadow,
    /// Likelihood of an arrival to go into the shadow buffer; known from the first arrival, which brings the rate.
    sampled: Option<f64>,
    /// Fair count in packets of 1500 bytes; `None` while no flow is above it.
    fair: Option<f64>,
    delay_old_s: f64,
}

/// What counts as one packet.
const PACKET_BYTES: f64 = 1500.0;
/// The fair count is at least one packet, so that it can grow again.
const LEAST_FAIR: f64 = 1.0;

fn packets(bytes: u32) -> f64 {
    f64::from(bytes) / PACKET_BYTES
}

impl Afd {
    /// The algorithm in its initial state.
    pub fn new(p: &Parameters) -> Self {
        let shadow = Shadow::new(p.shadow_packets);
        Self { p: p.clone(), shadow, sampled: None, fair: None, delay_old_s: 0.0 }
    }

    fn sampling(p: &Parameters, drain_rate: &DrainRate) -> f64 {
        let packets_per_s = drain_rate.line_bps() / (8.0 * PACKET_BYTES);
        let every = p.history_s * packets_per_s / f64::from(p.shadow_packets);
        1.0 / p.sample_every.unwrap_or(every.max(1.0))
    }

    /// While the shadow buffer fills, all counts grow, and the fair one with them, which there is not while it is
    /// empty.
    fn sample(&mut self, sample: Sample) {
        let before = self.shadow.fullness();
        self.shadow.add(sample, self.p.flow_counts);
        if let Some(fair) = &mut self.fair {
            *fair *= self.shadow.fullness() / before;
        }
    }

    /// Paper §2: 1 - m_fair / m, where that is positive.
    fn probability(&self, entry: u32) -> f64 {
        let count = packets(self.shadow.count(entry));
        self.fair.map_or(0.0, |fair| (1.0 - fair / count).max(0.0))
    }

    /// m_fair(t) = m_fair(t-1) + a1 (q(t-1) - q_ref) - a2 (q(t) - q_ref), with a1 < a2 (paper §2). It stays between one
    /// packet and the largest count: from there on no flow is above it, and it would only have to come back. While the
    /// shadow buffer fills, steps are as much smaller as it is: counts are too, and whole steps would drop most packets.
    fn follow(&mut self, delay_s: f64) {
        let most = packets(self.shadow.largest()).max(LEAST_FAIR);
        let error = |delay_s: f64| (delay_s * 1e3 - self.p.target_ms) / self.p.packet_ms;
        let step =
            self.p.previous_gain * error(self.delay_old_s) - self.p.present_gain * error(delay_s);
        let step = step * self.shadow.fullness();
        let fair = (self.fair.unwrap_or(most) + step).max(LEAST_FAIR);
        self.fair = (fair < most).then_some(fair);
        self.delay_old_s = delay_s;
    }
}

impl Aqm for Afd {
    fn on_arrival(&mut self, packet: &Arrival, drain_rate: &DrainRate, rng: &mut Rng) -> Verdict {
        let sampled = *self.sampled.get_or_insert_with(|| Self::sampling(&self.p, drain_rate));
        let entry = packet.flow % self.p.flow_counts;
        if sampled >= 1.0 || rng.uniform() < sampled {
            self.sample(Sample { entry, bytes: packet.size as u32 });
        }
        let probability = self.probability(entry);
        if probability > 0.0 && rng.uniform() < probability {
            Verdict::Signal
        } else {
            Verdict::Pass
        }
    }

    fn update_interval(&self) -> Time {
        Time::from_secs_f64(self.p.update_ms / 1e3)
    }

    fn update(&mut self, _now: Time, backlog: Count, drain_rate: &DrainRate) -> bool {
        let before = (self.fair, self.delay_old_s);
        self.follow(drain_rate.drain_s(backlog.bytes as f64));
        before != (self.fair, self.delay_old_s)
    }

    fn gauges(&self, out: &mut Gauges) {
        let largest = packets(self.shadow.largest());
        out.show(FAIR_COUNT, self.fair.unwrap_or(largest));
        out.show(LARGEST_COUNT, largest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::BitRate;

    fn line(mbps: f64) -> DrainRate {
        DrainRate::steady(BitRate::from_mbps(mbps), 1_000_000)
    }

    /// AFD that takes every arrival, with a shadow buffer of ten packets.
    fn afd() -> Afd {
        let p = Parameters {
            shadow_packets: 10,
            sample_every: Some(1.0),
            flow_counts: 4,
            ..Parameters::default()
        };
        Afd::new(&p)
    }

    fn arrive(afd: &mut Afd, flow: u32, size: u64, rng: &mut Rng) -> Verdict {
        let (now, backlog) = (Time::ZERO, Count::default());
        let packet = Arrival {
            now,
            size,
            backlog,
            share: 1.0,
            ecn: crate::packet::Ecn::NotEct,
            is_markable: false,
            flow,
        };
        afd.on_arrival(&packet, &line(12.0), rng)
    }

    #[test]
    fn counts_are_of_the_latest_samples() {
        let (mut afd, mut rng) = (afd(), Rng::named(1, "unused"));
        for flow in [1, 1, 1, 2, 2, 1, 1, 3, 3, 3] {
            arrive(&mut afd, flow, 1500, &mut rng);
        }
        assert_eq!([0, 1, 2, 3].map(|entry| afd.shadow.count(entry)), [0, 7500, 3000, 4500]);
        // The three oldest are of flow 1. Flow 6 meets flow 2 in a table of four.
        for _ in 0..3 {
            arrive(&mut afd, 6, 500, &mut rng);
        }
        assert_eq!([0, 1, 2, 3].map(|entry| afd.shadow.count(entry)), [0, 3000, 4500, 4500]);
        assert_eq!(afd.shadow.largest(), 4500);
    }

    #[test]
    fn what_a_flow_has_above_the_fair_count_is_dropped() {
        let (mut afd, mut rng) = (afd(), Rng::named(1, "unused"));
        for flow in [1, 1, 1, 1, 1, 2, 2, 2, 3, 3] {
            arrive(&mut afd, flow, 1500, &mut rng);
        }
        assert_eq!(afd.probability(1), 0.0);
        // 1 - 2.5/5, 1 - 2.5/3; 2 is less than 2.5, and 0 too.
        afd.fair = Some(2.5);
        for (entry, want) in [(1, 0.5), (2, 1.0 - 2.5 / 3.0), (3, 0.0), (0, 0.0)] {
            assert!((afd.probability(entry) - want).abs() < 1e-12, "{entry}");
        }
    }

    #[test]
    fn the_fair_count_falls_while_the_queue_is_above_its_reference() {
        let (mut afd, mut rng) = (afd(), Rng::named(1, "unused"));
        for _ in 0..10 {
            arrive(&mut afd, 1, 1500, &mut rng);
        }
        // An empty queue: 1.7 * -15 - 1.8 * -15 = 1.5 more than the largest count of 10: no limit.
        afd.follow(0.0);
        assert_eq!(afd.fair, None);
        // What is the largest count itself limits nobody either.
        afd.fair = Some(8.5);
        afd.follow(0.0);
        assert_eq!(afd.fair, None);
        // 15 ms: 10 + 1.7 * -15 - 0, less than 1: the least. Then 1.7 * 0 - 1.8 * 0: it stays.
        afd.follow(0.015);
        assert_eq!(afd.fair, Some(1.0));
        afd.follow(0.015);
        assert_eq!(afd.fair, Some(1.0));
        // 13 ms: 1 + 0 + 1.8 * 2 = 4.6; 13 again: + 1.7 * -2 + 1.8 * 2 = 0.2 more; 14: - 3.4 + 1.8 = 1.6 less.
        for (delay_s, want) in [(0.013, 4.6), (0.013, 4.8), (0.014, 3.2)] {
            afd.follow(delay_s);
            assert!((afd.fair.unwrap() - want).abs() < 1e-9, "{:?} {want}", afd.fair);
        }
    }

    #[test]
    fn while_the_shadow_buffer_fills_the_fair_count_is_of_what_it_holds() {
        let (mut afd, mut rng) = (afd(), Rng::named(1, "unused"));
        for _ in 0..5 {
            arrive(&mut afd, 1, 1500, &mut rng);
        }
        // 16 ms after 15: 0 - 1.8 * 1, halved as the buffer is: 5 - 0.9. A sixth packet makes it 4.1 * 6/5.
        afd.delay_old_s = 0.015;
        afd.follow(0.016);
        assert!((afd.fair.unwrap() - 4.1).abs() < 1e-9);
        arrive(&mut afd, 2, 1500, &mut rng);
        assert!((afd.fair.unwrap() - 4.92).abs() < 1e-9);
    }

    #[test]
    fn the_shadow_buffer_spans_its_history_at_any_rate() {
        // 120 Mbps are 10 000 packets of 1500 bytes a second: 20 000 in 2 s, one of 20 for a buffer of 1000. At 6
        // Mbps, 500 a second, all. In a bin the whole line counts: half of it has the share 0.5.
        let p = Parameters::default();
        let sampling = |mbps| Afd::sampling(&p, &line(mbps));
        assert!((sampling(120.0) - 0.05).abs() < 1e-9);
        assert!((sampling(6.0) - 1.0).abs() < 1e-9);
        assert!((Afd::sampling(&p, &line(120.0).part(0.5)) - 0.05).abs() < 1e-9);
        let p = Parameters { sample_every: Some(4.0), ..p };
        assert!((Afd::sampling(&p, &line(6.0)) - 0.25).abs() < 1e-9);
    }

    #[test]
    fn an_idle_queue_rests_once_no_flow_is_above_the_fair_count() {
        let (mut afd, mut rng) = (afd(), Rng::named(1, "unused"));
        for _ in 0..10 {
            arrive(&mut afd, 1, 1500, &mut rng);
        }
        afd.fair = Some(6.0);
        // 1.5 each: 7.5, 9, then 10.5, which is above 10.
        let changes: Vec<_> =
            (0..5).map(|_| afd.update(Time::ZERO, Count::default(), &line(12.0))).collect();
        assert_eq!(changes, [true, true, true, false, false]);
    }

    #[test]
    fn gains_that_would_let_the_queue_grow_are_refused() {
        let p = Parameters { previous_gain: 1.8, ..Parameters::default() };
        assert_eq!(p.check(Time::ZERO).into_iter().count(), 1);
        assert_eq!(Parameters::default().check(Time::ZERO).into_iter().count(), 0);
    }

    #[test]
    fn signals_are_drawn_where_a_flow_has_more_than_the_fair_count() {
        // Ten packets of a flow against a fair count of 7: three of ten. Four deviations of 10 000 are 183.
        let (mut afd, mut rng) = (afd(), Rng::named(1, "afd"));
        for _ in 0..10 {
            assert_eq!(arrive(&mut afd, 1, 1500, &mut rng), Verdict::Pass);
        }
        // Taking every arrival, and nothing to drop, draws nothing.
        assert_eq!(rng.bits(), Rng::named(1, "afd").bits());
        afd.fair = Some(7.0);
        let signals =
            (0..10_000).filter(|_| arrive(&mut afd, 1, 1500, &mut rng) == Verdict::Signal).count();
        assert!(signals.abs_diff(3000) < 183, "{signals}");
        // The draw itself is not below it: 1 - fair / 10.
        for (more, want) in [(1e-12, Verdict::Pass), (-1e-12, Verdict::Signal)] {
            afd.fair = Some(10.0 * (1.0 - Rng::named(2, "afd").uniform()) + more);
            assert_eq!(arrive(&mut afd, 1, 1500, &mut Rng::named(2, "afd")), want);
        }
    }

    #[test]
    fn one_of_so_many_arrivals_is_sampled() {
        let p = Parameters { sample_every: Some(4.0), ..Parameters::default() };
        let (mut afd, mut rng) = (Afd::new(&p), Rng::named(1, "afd"));
        for _ in 0..2000 {
            arrive(&mut afd, 1, 1500, &mut rng);
        }
        // A quarter of 2000; four deviations are 4 * sqrt(2000 * 3 / 16) = 77.
        let sampled = afd.shadow.samples.len();
        assert!(sampled.abs_diff(500) < 77, "{sampled}");
        // The draw itself is not below the likelihood.
        let mut none = Afd { sampled: Some(Rng::named(1, "afd").uniform()), ..Afd::new(&p) };
        arrive(&mut none, 1, 1500, &mut Rng::named(1, "afd"));
        assert_eq!(none.shadow.samples.len(), 0);
    }

    #[test]
    fn a_packet_of_the_gains_is_a_delay_and_counts_are_shown() {
        let (mut afd, mut rng) = (afd(), Rng::named(1, "unused"));
        let shown = |afd: &Afd| {
            let mut gauges = Gauges::default();
            afd.gauges(&mut gauges);
            ["fair_count", "largest_count"].map(|name| gauges.get(name).unwrap())
        };
        assert_eq!((shown(&afd), afd.shadow.count(3)), ([0.0, 0.0], 0));
        for _ in 0..10 {
            arrive(&mut afd, 1, 1500, &mut rng);
        }
        assert_eq!(shown(&afd), [10.0, 10.0]);
        // 2 ms over the reference are a packet of 2 ms: 10 - 1.8.
        afd.p.packet_ms = 2.0;
        afd.delay_old_s = 0.015;
        afd.follow(0.017);
        let [fair, largest] = shown(&afd);
        assert!((fair - 8.2).abs() < 1e-9 && largest == 10.0, "{fair}");
    }
}
