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
//! Unlike here, ns-2's `queue/drr.cc` distinguishes flows by their source address alone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::aqm_bins::{AqmBins, Head, by_aqm_bins};
use super::bins::Measure;
use super::flow_table::{BUSY_FLOWS, WEIGHT};
use super::reserved_rates::ReservedRates;
use super::rounds::Rounds;
use super::weights::Weights;
use super::{
    Discipline, Entry, Exit, FlowKey, FlowTable, Limit, Scheduler, SchedulerParameters, Setting,
};
use crate::aqm::AqmSpec;
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
            self.rounds.grow(self.aqm_bins.count());
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

    by_aqm_bins!();

    fn set_flow_classifier(&mut self, flows: &FlowTable, names: &[&str]) {
        self.flows = flows.weighing(&self.named, names);
        self.reserved_rates = ReservedRates::new(self.flows.reserved());
    }

    fn gauges(&self, out: &mut Gauges) {
        out.show(BUSY_FLOWS, self.rounds.busy() as f64);
    }

    fn flow_gauges(&self, flow: FlowKey, out: &mut Gauges) {
        out.show(WEIGHT, self.flows.weight_of(flow));
        self.aqm_bins.flow_gauges(flow.index, &self.rounds, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::Unit;
    use crate::queue::aqm_bins::tests::Spies;
    use crate::queue::tests::Bench;

    #[test]
    fn queues_are_used_again_and_again() {
        // A thousand connections one after the other in three slots, and the datagrams of the first
        // entry: numbers 0, 2 and 4, and 1.
        let mut bench = Bench::of(10);
        let Scheduler::Drr(mut drr) = bench.start(&Parameters::default()) else { unreachable!() };
        for generation in 0..1000 {
            for flow in [crate::packet::DATAGRAM, 0, 1, 2] {
                let packet = Packet { flow, generation, ..Packet::datagram(1000) };
                drr.enqueue(packet, &mut bench.entry());
            }
            while drr.dequeue(&mut bench.exit()).is_some() {}
            assert_eq!(drr.rounds.busy(), 0);
        }
        assert_eq!(drr.aqm_bins.count(), 5);
    }

    fn drr(bench: &Bench, quantum_bytes: u32) -> Drr {
        let parameters = Parameters { quantum_bytes, ..Parameters::default() };
        let Scheduler::Drr(drr) = bench.start(&parameters) else { unreachable!() };
        drr
    }

    fn of_flow(service_flow: u8, size: u16) -> Packet {
        Packet { service_flow, flow: service_flow.into(), ..Packet::datagram(size) }
    }

    #[test]
    fn an_algorithm_hears_when_the_last_packet_of_its_flow_leaves() {
        let mut bench = Bench::of(9);
        let mut drr = drr(&bench, 1522);
        drr.grow(0);
        let spies = Spies::within(&mut drr.aqm_bins);
        [100, 200].into_iter().for_each(|size| drr.enqueue(of_flow(0, size), &mut bench.entry()));
        for (size, is_last) in [(100, false), (200, true)] {
            spies.log();
            assert_eq!(drr.dequeue(&mut bench.exit()).map(|packet| packet.size), Some(size));
            assert_eq!(spies.log().contains(&"0 is empty at 0 ms".to_owned()), is_last);
            // And the flow gives up its turn at once.
            let mut shown = Gauges::default();
            drr.gauges(&mut shown);
            assert_eq!(shown.get("busy_flows"), Some(f64::from(u8::from(!is_last))));
        }
    }

    /// A flow that has spent its turn exactly and loses the rest to an overflow is out.
    #[test]
    fn a_flow_that_an_overflow_emptied_gives_up_its_turn() {
        let mut bench = Bench::of(2);
        let mut drr = drr(&bench, 1000);
        (0..2).for_each(|_| drr.enqueue(of_flow(0, 1000), &mut bench.entry()));
        assert!(drr.dequeue(&mut bench.exit()).is_some());
        (0..2).for_each(|_| drr.enqueue(of_flow(1, 100), &mut bench.entry()));
        assert_eq!((bench.counts.all.dropped_overflow, drr.rounds.busy()), (1, 2));
        assert_eq!(drr.dequeue(&mut bench.exit()).map(|packet| packet.flow), Some(1));
        assert_eq!(drr.rounds.busy(), 1);
    }

    /// The second service flow of a home reserves 8 Mbps, a packet of 1000 bytes each ms.
    #[test]
    fn a_reserved_rate_is_served_as_it_falls_due() {
        let mut bench = Bench::of(9);
        let mut drr = drr(&bench, 1522);
        let table = FlowTable::of_homes(Unit::ServiceFlow, &[vec![1.0, 1.0]]);
        drr.set_flow_classifier(&table.reserving(&[vec![0.0, 8.0]]), &[]);
        let reserved = |drr: &mut Drr, bench: &mut Bench, us| {
            bench.now = Time::from_us(us);
            drr.dequeue_reserved(&mut bench.exit()).map(|packet| packet.service_flow)
        };
        for flow in [0, 1, 1, 1] {
            drr.enqueue(of_flow(flow, 1000), &mut bench.entry());
        }
        let found = [0, 0, 999, 1000, 1000, 5000].map(|us| reserved(&mut drr, &mut bench, us));
        assert_eq!(found, [Some(1), None, None, Some(1), None, Some(1)]);
        // Three were due up to 2 ms; the fourth comes later, and at once.
        assert_eq!(reserved(&mut drr, &mut bench, 6000), None);
        drr.enqueue(of_flow(1, 1000), &mut bench.entry());
        assert_eq!(reserved(&mut drr, &mut bench, 6000), Some(1));
        assert_eq!(drr.dequeue(&mut bench.exit()).map(|packet| packet.service_flow), Some(0));
        assert!(drr.dequeue(&mut bench.exit()).is_none());
        let mut shown = Gauges::default();
        drr.flow_gauges(drr.flows.key(&of_flow(1, 1000)), &mut shown);
        assert_eq!([shown.get("weight"), shown.get("bin")], [Some(1.0), Some(1.0)]);
    }

    #[test]
    fn a_quantum_holds_the_largest_packet() {
        let faults = |quantum_bytes| {
            let parameters = Parameters { quantum_bytes, ..Parameters::default() };
            parameters.check(&AqmSpec::default(), 1522).into_iter().count()
        };
        assert_eq!([faults(1522), faults(1521)], [0, 1]);
    }

    /// Of 8 Mbps one flow has all alone, and beside it one of weight 3 has three quarters, also with more packets.
    #[test]
    fn algorithms_see_the_shares_of_weights() {
        let mut bench = Bench::of(9);
        let mut drr = drr(&bench, 1522);
        drr.set_flow_classifier(&FlowTable::of_homes(Unit::ServiceFlow, &[vec![1.0, 3.0]]), &[]);
        drr.grow(1);
        let spies = Spies::within(&mut drr.aqm_bins);
        for flow in [0, 1, 1] {
            drr.enqueue(of_flow(flow, 100), &mut bench.entry());
        }
        let reported = spies.log();
        let shares = [" 8000000 bps", " 6000000 bps", " 6000000 bps"];
        assert!(
            reported.iter().zip(shares).all(|(reported, share)| reported.contains(share)),
            "{reported:?}"
        );
    }
}
