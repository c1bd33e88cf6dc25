//! Deficit round robin with a queue for each flow (Shreedhar & Varghese 1996). With weights it is
//! weighted DRR; with CoDel it is the DRR-CoDel of Hong 2015 §5.2.
//!
//! A flow is a TCP connection or the datagrams of a traffic entry; nothing is hashed. Queues are
//! numbered by connection slot, so there are as many as connections were open at the same time. A
//! connection that reuses a slot inherits the state of its AQM algorithm, as a flow in a hashed bin
//! does.
//!
//! Service flows with a minimum reserved rate are served first up to that rate (`reserved_rates`),
//! and then take their turns.
//!
//! Unlike here, ns-2's `queue/drr.cc` tells flows apart by their source address alone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::aqm_bins::{AqmBins, Head};
use super::bins::Measure;
use super::reserved_rates::ReservedRates;
use super::rounds::Rounds;
use super::weights::Weights;
use super::{
    Discipline, Entry, Exit, FlowKey, FlowTable, Limit, Scheduler, SchedulerParameters, Setting,
};
use crate::aqm::AqmSpec;
use crate::aqm::DrainRate;
use crate::count::Count;
use crate::packet::Packet;
use crate::record::Gauges;
use crate::units::Time;
use sojourn_input::problem::{Fault, Faults};

/// Parameters of deficit round robin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Drr")]
pub struct Parameters {
    /// Bytes that a flow of weight 1 may send in a round. It must not be less than the largest
    /// packet (Shreedhar & Varghese 1996 §3).
    #[schemars(range(min = 64, max = 65_535))]
    pub quantum_bytes: u32,
    /// Packets that a flow may have waiting (Hong 2015 §4.1: a tenth of the queue's capacity).
    /// Default: no limit per flow; the queue's limit holds for all flows together.
    #[schemars(range(min = 2, max = 10_000_000))]
    pub flow_limit_packets: Option<u64>,
    /// Weights of flows, by name of the traffic entry. A flow's quantum is multiplied by its
    /// weight. Default: 1 for each entry.
    pub weights: Weights,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { quantum_bytes: 1522, flow_limit_packets: None, weights: Weights::default() }
    }
}

impl SchedulerParameters for Parameters {
    fn start(&self, setting: &Setting) -> Scheduler {
        Drr {
            aqm_bins: AqmBins::new(1, Measure::Bytes, setting),
            rounds: Rounds::new(1, 1),
            quantum: f64::from(self.quantum_bytes),
            flow_limit: Limit {
                bytes: u64::MAX,
                packets: self.flow_limit_packets.unwrap_or(u64::MAX),
                exclusive: setting.limit.exclusive,
            },
            named: self.weights.clone(),
            flows: FlowTable::default(),
            reserved_rates: ReservedRates::default(),
        }
        .into()
    }

    fn weights(&self) -> Option<&Weights> {
        Some(&self.weights)
    }

    fn keeps_reserved_rates(&self) -> bool {
        true
    }

    /// With a smaller quantum there are turns in which nothing may be sent (Shreedhar & Varghese
    /// 1996 §3).
    fn check(&self, _law: &AqmSpec, largest: u64) -> Faults {
        let quantum = self.quantum_bytes;
        if u64::from(quantum) >= largest {
            return Faults::default();
        }
        let message =
            format!("found {quantum}; allowed: {largest} or more, the size of the largest packet");
        Fault::new("quantum_bytes", message).into()
    }
}

/// Deficit round robin.
pub struct Drr {
    aqm_bins: AqmBins,
    rounds: Rounds,
    quantum: f64,
    flow_limit: Limit,
    named: Weights,
    flows: FlowTable,
    reserved_rates: ReservedRates,
}

impl Drr {
    /// Adds a queue for a new flow.
    #[inline]
    fn grow(&mut self, flow: usize) {
        if flow >= self.aqm_bins.count() {
            self.aqm_bins.grow(flow + 1);
            self.rounds.grow(flow + 1);
        }
    }

    fn schedule(&mut self, flow: usize, weight: f64) {
        if !self.rounds.is_scheduled(flow) {
            self.rounds.set_quantum(flow, weight * self.quantum);
            self.rounds.join_last(flow);
        }
    }

    /// An empty flow loses its deficit (Shreedhar & Varghese 1996 §3).
    fn retire_if_empty(&mut self, flow: usize, now: Time) {
        if self.aqm_bins.backlog_of(flow).packets == 0 {
            self.aqm_bins.emptied(flow, now);
            self.rounds.retire_current();
        }
    }
}

impl Discipline for Drr {
    fn enqueue(&mut self, packet: Packet, entry: &mut Entry) {
        let flow = self.flows.index(&packet);
        self.grow(flow);
        if !self.flow_limit.admits(self.aqm_bins.backlog_of(flow), u64::from(packet.size)) {
            self.aqm_bins.overflow(flow, packet, entry);
            return;
        }
        let weight = self.flows.weight(&packet);
        if self.aqm_bins.backlog_of(flow).packets == 0 {
            self.aqm_bins.set_weight(flow, weight);
        }
        if self.aqm_bins.push(flow, packet, entry) {
            self.schedule(flow, weight);
            if self.aqm_bins.backlog_of(flow).packets == 1 {
                self.reserved_rates.wakes(flow, entry.now);
            }
            // ns-2.35 queue/drr.cc: the head of the queue with most bytes, counting the arrival.
            self.aqm_bins.shed(entry, |_| 1);
        }
    }

    fn dequeue(&mut self, exit: &mut Exit) -> Option<Packet> {
        let Self { aqm_bins, rounds, .. } = self;
        let head_size =
            |aqm_bins: &AqmBins, flow| aqm_bins.head(flow).map_or(0, |head| head.size.into());
        while let Some(flow) = rounds.current(|flow| head_size(aqm_bins, flow)) {
            match aqm_bins.judge_head(flow, exit) {
                Head::Passes(size) => {
                    rounds.charge(flow, size);
                    let packet = aqm_bins.pop(flow);
                    self.retire_if_empty(flow, exit.now);
                    return packet;
                }
                Head::Dropped => {}
                Head::None => rounds.retire_current(),
            }
        }
        None
    }

    fn dequeue_reserved(&mut self, exit: &mut Exit) -> Option<Packet> {
        while let Some(flow) = self.reserved_rates.first_due(exit.now) {
            match self.aqm_bins.judge_head(flow, exit) {
                Head::Passes(size) => {
                    self.reserved_rates.charge(flow, size as u64);
                    return self.aqm_bins.pop(flow);
                }
                Head::Dropped => {}
                Head::None => self.reserved_rates.leave(flow),
            }
        }
        None
    }

    fn backlog(&self) -> Count {
        self.aqm_bins.backlog()
    }

    fn on_map(&mut self, granted: u64, ungranted: u64) {
        self.aqm_bins.on_map(granted, ungranted);
    }

    fn next_update(&self) -> Time {
        self.aqm_bins.next_update()
    }

    fn update(&mut self, now: Time, drain_rate: &DrainRate) {
        self.aqm_bins.update(now, drain_rate);
    }

    fn set_flow_classifier(&mut self, flows: &FlowTable, names: &[&str]) {
        self.flows = flows.weighing(&self.named, names);
        self.reserved_rates = ReservedRates::new(self.flows.reserved());
    }

    fn gauges(&self, out: &mut Gauges) {
        out.set("busy_flows", "1", self.rounds.busy() as f64);
    }

    fn flow_gauges(&self, flow: FlowKey, out: &mut Gauges) {
        out.set("weight", "1", self.flows.weight_of(flow));
        self.aqm_bins.flow_gauges(flow.index, &self.rounds, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::AqmSpec;
    use crate::dialect::Dialect;
    use crate::queue::{Books, NextQueue};
    use crate::record::{QueueCounts, Recorder};
    use crate::rng::{Rng, Seed};
    use crate::units::BitRate;

    #[test]
    fn queues_are_used_again_and_again() {
        // A thousand connections one after the other in three slots, and the datagrams of the first
        // entry: numbers 0, 2 and 4, and 1.
        let rate = BitRate::from_mbps(1.0);
        let drain_rate = DrainRate::steady(rate, 10_000);
        let limit = Limit { bytes: 10_000, packets: u64::MAX, exclusive: false };
        let (law, dialect) = (&AqmSpec::default(), Dialect::default());
        let setting = Setting { law, limit: &limit, dialect, seed: Seed::named(1, "unused") };
        let Scheduler::Drr(mut drr) = Parameters::default().start(&setting) else { unreachable!() };
        let (mut rng, mut recorder) = (Rng::named(1, "unused"), Recorder::default());
        let mut counts = QueueCounts::default();
        for generation in 0..1000 {
            for flow in [crate::packet::DATAGRAM, 0, 1, 2] {
                let packet = Packet { flow, generation, ..Packet::datagram(1000) };
                let (limit, recorder) = (&limit, &mut recorder);
                let now = Time::ZERO;
                drr.enqueue(
                    packet,
                    &mut Entry {
                        now,
                        drain_rate: &drain_rate,
                        limit,
                        rng: &mut rng,
                        books: Books { ecn: true, recorder, counts: &mut counts },
                    },
                );
            }
            let exit = &mut Exit {
                now: Time::ZERO,
                next_queue: NextQueue::default(),
                rng: &mut rng,
                books: Books { ecn: true, recorder: &mut recorder, counts: &mut counts },
                member: None,
            };
            while drr.dequeue(exit).is_some() {}
            assert_eq!(drr.rounds.busy(), 0);
        }
        assert_eq!(drr.aqm_bins.count(), 5);
    }
}
