//! CHOKe (Pan, Prabhakar & Psounis 2000, "CHOKe, a stateless active queue management scheme"; Linux 7.2 `sch_choke`).
//!
//! RED's average decides when to act. While it is above the lower threshold each arrival is compared with a packet drawn
//! at random from the queue: if both are of one flow, both are dropped. A flow that fills the queue meets itself often.
//! Otherwise RED decides (section III of the paper). The place of a packet that was drawn stays empty until the head has
//! passed it; a draw of an empty place is repeated, three times in all, and then the head is taken.
//!
//! Left out: several draws for each arrival (section III-B).

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Discipline, Entry, Exit, FlowTable, Scheduler, SchedulerParameters, Setting, Waiting, no_law,
};
use crate::aqm::red::AVERAGE_PACKETS;
use crate::aqm::red_linux::{Average, Region, Terms, log_weight};
use crate::aqm::{AqmSpec, DrainRate, Threshold, Verdict, at_least_packets};
use crate::count::Count;
use crate::packet::{DropReason, Packet};
use crate::record::Gauges;
use crate::rng::Rng;
use crate::units::BitRate;
use sojourn_input::compare::at_least;
use sojourn_input::problem::Faults;

/// How often a place is drawn until there is a packet in it.
const DRAWS: u32 = 3;

/// Parameters of CHOKe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Choke")]
pub struct Parameters {
    /// Lower threshold of the average queue length, in packets. Default: `target_delay_ms` of full packets, and 5 at
    /// least.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100_000))]
    pub min_threshold_packets: Option<u32>,
    /// Upper threshold in packets. Default: three times the lower one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub max_threshold_packets: Option<u32>,
    /// Burst that stays below the lower threshold, in packets: it gives the weight of an arrival in the average.
    /// Default: a third of twice the lower and once the upper threshold, and one more (tc-choke(8)).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub burst_packets: Option<u32>,
    /// Signal probability at the upper threshold (tc-choke(8): 0.02).
    #[schemars(range(min = 1e-6, max = 1.0))]
    pub max_p: f64,
    /// Mean packet in bytes, by which idle time ages the average (tc-choke(8): 1000).
    #[schemars(range(min = 1, max = 9018))]
    pub mean_packet_bytes: u32,
    /// Queue delay in ms from which the lower threshold is derived, if that is unset.
    #[schemars(range(min = 0.01, max = 10_000.0))]
    pub target_delay_ms: f64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            min_threshold_packets: None,
            max_threshold_packets: None,
            burst_packets: None,
            max_p: 0.02,
            mean_packet_bytes: 1000,
            target_delay_ms: 15.0,
        }
    }
}

/// A full packet, in which the target delay is counted.
const FULL: f64 = 1514.0;

/// The lower threshold at least, if a delay gives it.
const LEAST_PACKETS: u32 = 5;

impl Parameters {
    fn min_packets(&self, rate: BitRate) -> u32 {
        let packets = rate.bps() as f64 / 8.0 * self.target_delay_ms / 1e3 / FULL;
        self.min_threshold_packets.unwrap_or_else(|| (packets as u32).max(LEAST_PACKETS))
    }

    fn terms(&self, line: &DrainRate) -> Terms {
        let min = self.min_packets(line.sustained);
        let max = self.max_threshold_packets.unwrap_or(3 * min);
        let usual = (2 * min + max) / 3 + 1;
        let burst = self.burst_packets.unwrap_or(usual);
        Terms {
            min: min.into(),
            max: max.into(),
            max_p: self.max_p,
            log_weight: log_weight(burst.into(), min.into()),
            mean_packet_bytes: self.mean_packet_bytes.into(),
        }
    }
}

impl SchedulerParameters for Parameters {
    fn start(&self, _setting: &Setting) -> Scheduler {
        Choke {
            parameters: self.clone(),
            average: None,
            places: VecDeque::new(),
            backlog: Count::default(),
            flows: FlowTable::default(),
        }
        .into()
    }

    fn threshold(&self, rate: BitRate) -> Option<Threshold> {
        let (min, ms) = (self.min_packets(rate), 8e3 * FULL / rate.bps() as f64);
        Some(match self.min_threshold_packets {
            Some(min) => Threshold::of_packets("min_threshold_packets", min.into(), FULL, rate),
            None => Threshold {
                ms: ms * f64::from(min),
                ..Threshold::of_delay("target_delay_ms", self.target_delay_ms, 1.0)
            },
        })
    }

    fn remarks(&self, rate: BitRate) -> Faults {
        let mut remarks = Faults::default();
        if self.min_threshold_packets.is_none() {
            let delay = ("target_delay_ms", self.target_delay_ms);
            let least = f64::from(LEAST_PACKETS);
            remarks.add(at_least_packets(delay, self.target_delay_ms, least, FULL as u64, rate));
        }
        let terms = self.terms(&DrainRate::steady(rate, 0));
        let min = terms.min.max(2);
        let key =
            if self.burst_packets.is_some() { "burst_packets" } else { "min_threshold_packets" };
        remarks.add(terms.remark(key, min));
        remarks
    }

    fn check(&self, law: &AqmSpec, _largest: u64) -> Faults {
        let mut faults = Faults::from(no_law("choke", law));
        if let (Some(min), Some(max)) = (self.min_threshold_packets, self.max_threshold_packets) {
            let (min, max) = (f64::from(min), f64::from(max));
            faults.add(at_least(("max_threshold_packets", max), ("min_threshold_packets", min)));
        }
        faults
    }
}

/// CHOKe.
pub struct Choke {
    parameters: Parameters,
    /// Known from the first arrival, which brings the line's rate.
    average: Option<Box<Average>>,
    /// Packets in order, with the empty places of those that were drawn and dropped; the first is never empty.
    places: VecDeque<Option<Packet>>,
    backlog: Count,
    flows: FlowTable,
}

impl Choke {
    /// The place of a packet that was drawn at random.
    fn draw(&self, rng: &mut Rng) -> Option<usize> {
        if self.places.is_empty() {
            return None;
        }
        let place =
            |rng: &mut Rng| (((rng.bits() >> 32) * self.places.len() as u64) >> 32) as usize;
        let drawn = (0..DRAWS).map(|_| place(rng)).find(|place| self.places[*place].is_some());
        Some(drawn.unwrap_or(0))
    }

    fn take(&mut self, place: usize) -> Option<Packet> {
        let packet = self.places.get_mut(place)?.take()?;
        while self.places.pop_front_if(|head| head.is_none()).is_some() {}
        self.backlog = self.backlog.without(packet.size.into());
        Some(packet)
    }

    /// Drops a packet of the arrival's flow if it is drawn. Says whether it was.
    fn drops_its_like(&mut self, packet: &Packet, entry: &mut Entry) -> bool {
        let Some(place) = self.draw(entry.rng) else { return false };
        let is_alike = |other: &Packet| self.flows.key(other) == self.flows.key(packet);
        if !self.places[place].as_ref().is_some_and(is_alike) {
            return false;
        }
        if let Some(victim) = self.take(place) {
            entry.counters.drop(entry.now, victim, DropReason::Aqm);
        }
        true
    }
}

impl Discipline for Choke {
    fn enqueue(&mut self, mut packet: Packet, entry: &mut Entry) {
        let parameters = &self.parameters;
        let new = || {
            Box::new(Average::new(&parameters.terms(entry.drain_rate), entry.drain_rate.sustained))
        };
        let average = self.average.get_or_insert_with(new);
        average.arrive(entry.now, self.backlog.packets);
        let is_above = average.is_above_min();
        if is_above && self.drops_its_like(&packet, entry) {
            return entry.counters.drop(entry.now, packet, DropReason::Aqm);
        }
        let Some(average) = &mut self.average else { return };
        let verdict = match average.judge(true, entry.rng) {
            Region::Below | Region::Between(false) => Verdict::Pass,
            Region::Between(true) | Region::Above => Verdict::Signal,
        };
        if entry.counters.refuses(entry.now, verdict, &mut packet) {
            return entry.counters.drop(entry.now, packet, DropReason::Aqm);
        }
        let size = u64::from(packet.size);
        if !entry.limit.admits(self.backlog, size) {
            return entry.counters.drop(entry.now, packet, DropReason::Overflow);
        }
        self.backlog = self.backlog.with(size);
        self.places.push_back(Some(packet));
    }

    fn dequeue(&mut self, exit: &mut Exit) -> Option<Packet> {
        let packet = self.take(0);
        if let (None, Some(average)) = (&packet, &mut self.average) {
            average.on_empty(exit.now);
        }
        packet
    }

    fn backlog(&self) -> Count {
        self.backlog
    }

    fn packets(&self) -> Waiting<'_> {
        Box::new(self.places.iter().flatten())
    }

    fn set_flow_classifier(&mut self, flows: &FlowTable, _names: &[&str]) {
        self.flows = flows.clone();
    }

    fn gauges(&self, out: &mut Gauges) {
        let average = self.average.as_ref().map_or(0.0, |average| average.value());
        out.show(AVERAGE_PACKETS, average);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::tests::Bench;

    #[test]
    fn thresholds_are_the_target_delay_in_full_packets() {
        // 20 Mbps are 37 500 bytes in 15 ms: 24.8 packets of 1514. The upper threshold is three times the lower.
        let line = DrainRate::steady(crate::units::BitRate::from_mbps(20.0), 1_000_000);
        let terms = Parameters::default().terms(&line);
        assert_eq!((terms.min, terms.max, terms.mean_packet_bytes), (24, 72, 1000));
        // tc's burst of (2 * 24 + 72) / 3 + 1 = 41 packets: 41 + 1 - 24 = 18 is below
        // (1 - (1 - w)^41) / w from w = 1/32 (23.3) on, and not at 1/16 (14.9).
        assert_eq!(terms.log_weight, 5);
        // 1 Mbps would be 1.2 packets: there are at least five.
        let slow = DrainRate::steady(crate::units::BitRate::from_mbps(1.0), 1_000_000);
        assert_eq!(Parameters::default().terms(&slow).min, 5);
    }

    #[test]
    fn a_weight_that_never_moves_is_remarked_on() {
        let keys = |min_threshold_packets, burst_packets| {
            let parameters =
                Parameters { min_threshold_packets, burst_packets, ..Parameters::default() };
            let remarks = parameters.remarks(BitRate::from_mbps(20.0)).into_iter();
            remarks.map(|fault| fault.path).collect::<Vec<_>>().join(" ")
        };
        assert_eq!((keys(None, None), keys(Some(5), None)), (String::new(), String::new()));
        assert_eq!(keys(Some(5), Some(100_000)), "burst_packets");
    }

    fn choke(parameters: &Parameters, bench: &Bench) -> Choke {
        let Scheduler::Choke(choke) = bench.start(parameters) else { unreachable!() };
        choke
    }

    /// Above a lower threshold of 2 packets from the first arrivals on, and almost without signals of RED.
    fn above() -> (Choke, Bench) {
        let bench = Bench::of(10);
        let parameters = Parameters {
            min_threshold_packets: Some(2),
            max_threshold_packets: Some(1000),
            burst_packets: Some(3),
            max_p: 1e-6,
            ..Parameters::default()
        };
        (choke(&parameters, &bench), bench)
    }

    fn of_flow(flow: u32) -> Packet {
        Packet { flow, ..Packet::datagram(100 + flow as u16) }
    }

    #[test]
    fn places_are_drawn_until_there_is_a_packet_and_then_the_head_is_taken() {
        let (mut choke, _) = above();
        assert_eq!(choke.draw(&mut Rng::split_mix(1)), None);
        (0..10).for_each(|flow| choke.places.push_back(Some(of_flow(flow))));
        choke.backlog = Count { packets: 10, bytes: 1045 };
        // SplitMix64 from 1: 0.567, 0.746 and 0.971 of ten places.
        for (place, bytes) in [(5, 105), (7, 107), (9, 109)] {
            assert_eq!(choke.draw(&mut Rng::split_mix(1)), Some(place));
            let left = choke.backlog;
            assert_eq!(choke.take(place).map(|packet| packet.flow), Some(place as u32));
            assert_eq!(choke.backlog, left.without(bytes));
            assert!(choke.take(place).is_none());
        }
        assert_eq!(choke.draw(&mut Rng::split_mix(1)), Some(0));
        // Its place goes with the head, and so do empty ones behind it.
        (1..5).for_each(|place| assert!(choke.take(place).is_some()));
        assert_eq!(choke.places.len(), 10);
        assert_eq!(choke.take(0).map(|packet| packet.flow), Some(0));
        assert_eq!((choke.places.len(), choke.backlog), (4, Count { packets: 2, bytes: 214 }));
    }

    #[test]
    fn an_arrival_that_draws_its_like_takes_it_along() {
        let (mut choke, mut bench) = above();
        // The average exceeds 2 while packets of different flows come, which are not alike.
        (0..8).for_each(|flow| choke.enqueue(of_flow(flow), &mut bench.entry()));
        assert_eq!((choke.backlog.packets, bench.counts.all.dropped_aqm), (8, 0));
        assert!(choke.average.as_ref().unwrap().is_above_min());
        choke.places.iter_mut().flatten().for_each(|packet| packet.flow = 3);
        choke.enqueue(of_flow(4), &mut bench.entry());
        assert_eq!((choke.backlog.packets, bench.counts.all.dropped_aqm), (9, 0));
        assert!(choke.take(8).is_some());
        choke.enqueue(of_flow(3), &mut bench.entry());
        assert_eq!((choke.backlog.packets, bench.counts.all.dropped_aqm), (7, 2));
    }

    /// Connections of a service flow are alike where flows are service flows.
    #[test]
    fn the_classifier_says_what_is_alike() {
        let (mut choke, mut bench) = above();
        let homes = FlowTable::of_homes(crate::queue::Unit::ServiceFlow, &[vec![1.0]]);
        choke.set_flow_classifier(&homes, &[]);
        choke.average = Some(Box::new(Average::new(
            &choke.parameters.terms(&bench.drain_rate),
            bench.drain_rate.sustained,
        )));
        (0..2).for_each(|flow| choke.places.push_back(Some(of_flow(flow))));
        choke.backlog = Count { packets: 2, bytes: 201 };
        assert!(choke.drops_its_like(&of_flow(7), &mut bench.entry()));
        assert_eq!((choke.backlog.packets, bench.counts.all.dropped_aqm), (1, 1));
        // Nothing is like an arrival to an empty queue.
        let (mut choke, mut bench) = above();
        assert!(!choke.drops_its_like(&of_flow(7), &mut bench.entry()));
    }

    #[test]
    fn a_full_queue_drops_the_arrival() {
        let (mut choke, mut bench) = above();
        (0..12).for_each(|flow| choke.enqueue(of_flow(flow), &mut bench.entry()));
        assert_eq!((bench.counts.all.dropped_overflow, bench.counts.all.dropped_aqm), (2, 0));
        let bytes = (0..10).map(|flow| 100 + flow).sum();
        assert_eq!(choke.backlog(), Count { packets: 10, bytes });
        for flow in 0..10 {
            assert_eq!(choke.dequeue(&mut bench.exit()).map(|packet| packet.flow), Some(flow));
        }
        assert!(choke.dequeue(&mut bench.exit()).is_none());
    }

    /// With thresholds of 2 and 3 packets, an average above the upper one signals each packet.
    #[test]
    fn above_the_upper_threshold_packets_are_marked_where_they_may_be() {
        let mut bench = Bench::of(100);
        let parameters = Parameters {
            min_threshold_packets: Some(2),
            max_threshold_packets: Some(3),
            burst_packets: Some(3),
            ..Parameters::default()
        };
        let mut choke = choke(&parameters, &bench);
        let average = |choke: &Choke| {
            let mut shown = Gauges::default();
            choke.gauges(&mut shown);
            shown.get("average_queue").unwrap()
        };
        assert_eq!(average(&choke), 0.0);
        let markable = |flow| Packet { ecn: crate::packet::Ecn::Ect0, ..of_flow(flow) };
        (0..50).for_each(|flow| choke.enqueue(markable(flow), &mut bench.entry()));
        assert!(average(&choke) > 3.0);
        assert_eq!((bench.counts.all.dropped_aqm, choke.backlog.packets), (0, 50));
        let marked = bench.counts.all.marked;
        choke.enqueue(markable(50), &mut bench.entry());
        choke.enqueue(of_flow(51), &mut bench.entry());
        assert_eq!((bench.counts.all.marked, bench.counts.all.dropped_aqm), (marked + 1, 1));
        // An idle second ages it to nothing: 1000 small packets could have left.
        while choke.dequeue(&mut bench.exit()).is_some() {}
        bench.now = crate::units::Time::from_s(1);
        choke.enqueue(markable(0), &mut bench.entry());
        assert!(average(&choke) < 1.0);
    }

    #[test]
    fn keys_that_are_set_are_taken() {
        let line = DrainRate::steady(BitRate::from_mbps(20.0), 1_000_000);
        let usual = Parameters::default;
        let of = |parameters: Parameters| {
            let terms = parameters.terms(&line);
            (terms.min, terms.max, terms.log_weight)
        };
        assert_eq!(of(Parameters { min_threshold_packets: Some(30), ..usual() }).1, 90);
        assert_eq!(of(Parameters { max_threshold_packets: Some(50), ..usual() }).1, 50);
        // tc of 30 and 90: a burst of 51, and with 55 the same weight; 100 packets have that of 1/64 at least.
        let [usual_burst, long] = [None, Some(200)].map(|burst_packets| {
            of(Parameters { min_threshold_packets: Some(30), burst_packets, ..usual() }).2
        });
        assert!(long > usual_burst);
        // 1514 bytes are 0.6056 ms at 20 Mbps.
        let threshold = usual().threshold(line.sustained).unwrap();
        assert_eq!(
            (threshold.key, threshold.value, threshold.per_ms),
            ("target_delay_ms", 15.0, 1.0)
        );
        assert!((threshold.ms - 24.0 * 0.6056).abs() < 1e-9);
        let stated = Parameters { min_threshold_packets: Some(10), ..usual() };
        let threshold = stated.threshold(line.sustained).unwrap();
        assert_eq!((threshold.key, threshold.value), ("min_threshold_packets", 10.0));
        assert!((threshold.ms - 6.056).abs() < 1e-9);
    }

    #[test]
    fn thresholds_must_ascend() {
        let law = AqmSpec::default();
        let faults = |min, max| {
            let parameters = Parameters {
                min_threshold_packets: min,
                max_threshold_packets: max,
                ..Parameters::default()
            };
            parameters.check(&law, 1522).into_iter().count()
        };
        assert_eq!(
            [faults(Some(5), Some(5)), faults(Some(6), Some(5)), faults(None, Some(1))],
            [0, 1, 0]
        );
    }

    /// With 2 packets before each arrival the average comes to 2 and stays there: a threshold itself is below.
    #[test]
    fn an_average_at_the_lower_threshold_is_below() {
        let bench = &mut Bench::of(9);
        let parameters = Parameters {
            min_threshold_packets: Some(2),
            max_threshold_packets: Some(3),
            burst_packets: Some(3),
            max_p: 1.0,
            ..Parameters::default()
        };
        let mut choke = choke(&parameters, bench);
        for flow in 0..100 {
            choke.enqueue(of_flow(flow), &mut bench.entry());
            if choke.backlog.packets == 3 {
                assert!(choke.dequeue(&mut bench.exit()).is_some());
            }
        }
        assert_eq!(choke.average.as_ref().map(|average| average.value()), Some(2.0));
        assert_eq!((bench.counts.all.dropped_aqm, choke.backlog.packets), (0, 2));
    }

    /// tc-choke(8): of thresholds of 17 and 51 a burst of 29, for which 29 + 1 - 17 = 13 is below
    /// (1 - (1 - w)^29) / w at w = 1/16 (13.5), and 14 of a burst of 30 is not (13.7).
    #[test]
    fn the_usual_burst_is_that_of_tc() {
        let line = DrainRate::steady(BitRate::from_mbps(20.0), 0);
        let of = |burst_packets| {
            let min_threshold_packets = Some(17);
            Parameters { min_threshold_packets, burst_packets, ..Parameters::default() }
                .terms(&line)
                .log_weight
        };
        assert_eq!([of(None), of(Some(29)), of(Some(30))], [4, 4, 5]);
        // Of 2 and 6 it is 4: 3 is below 1/8 (3.3), and not below 1/4 (2.7), where 1 of a burst of 2 would be.
        let least = Parameters { min_threshold_packets: Some(2), ..Parameters::default() };
        assert_eq!(least.terms(&line).log_weight, 3);
        let usual = Parameters::default();
        assert_eq!(
            (usual.max_p, usual.mean_packet_bytes, usual.target_delay_ms),
            (0.02, 1000, 15.0)
        );
    }
}
