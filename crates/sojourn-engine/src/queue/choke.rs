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

use super::{Discipline, Entry, Exit, FlowTable, Scheduler, SchedulerParameters, Setting, no_law};
use crate::aqm::red_linux::{Average, Region, Terms, log_weight};
use crate::aqm::{AqmSpec, DrainRate, Threshold, Verdict, at_least_packets, idle};
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

    fn remarks(&self, rate: BitRate, _buffer_bytes: u64) -> Faults {
        let is_stated = self.min_threshold_packets.is_some();
        let delay = ("target_delay_ms", self.target_delay_ms);
        let is_set = self.target_delay_ms != Self::default().target_delay_ms;
        let mut remarks = idle(is_stated, "beside min_threshold_packets", &[(delay.0, is_set)]);
        if !is_stated {
            let least = f64::from(LEAST_PACKETS);
            remarks.add(at_least_packets(delay, self.target_delay_ms, least, FULL as u64, rate));
        }
        let terms = self.terms(&DrainRate::steady(rate, 0));
        let min = terms.min.max(2).to_string();
        let key =
            if self.burst_packets.is_some() { "burst_packets" } else { "min_threshold_packets" };
        remarks.add(terms.remark(key, &min));
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
            entry.books.drop(entry.now, victim, DropReason::Aqm);
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
            return entry.books.drop(entry.now, packet, DropReason::Aqm);
        }
        let Some(average) = &mut self.average else { return };
        let verdict = match average.judge(true, entry.rng) {
            Region::Below | Region::Between(false) => Verdict::Pass,
            Region::Between(true) | Region::Above => Verdict::Signal,
        };
        if entry.books.refuses(entry.now, verdict, &mut packet) {
            return entry.books.drop(entry.now, packet, DropReason::Aqm);
        }
        let size = u64::from(packet.size);
        if !entry.limit.admits(self.backlog, size) {
            return entry.books.drop(entry.now, packet, DropReason::Overflow);
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

    fn set_flow_classifier(&mut self, flows: &FlowTable, _names: &[&str]) {
        self.flows = flows.clone();
    }

    fn gauges(&self, out: &mut Gauges) {
        let average = self.average.as_ref().map_or(0.0, |average| average.value());
        out.set("average_queue", "packets", average);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
