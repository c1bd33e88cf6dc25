//! Fair queueing by finish tags: the common part of WFQ (`wfq`) and SCFQ (`scfq`).
//!
//! A packet of L bytes in a flow of weight w has the tag F = max(v, F of the packet before it) + L / w, where v is the
//! virtual time at its arrival (Demers, Keshav & Shenker 1989 §2.2; Parekh & Gallager 1993 §III-A). The packet with the
//! least tag is next; of equal tags, that of the flow with the lower number. The two schedulers differ in virtual time
//! alone, which is a [`Clock`].
//!
//! **A dropped packet costs nothing.** The papers know no drops. Here the tags of the packets behind a dropped one come
//! forward by L / w, as if it had never come. So a flow pays for what it sends, as in DRR, and one that sends more than
//! its share builds up no debt.
//!
//! Flows, weights, limits of flows and what an overflow drops are those of `drr`.

use std::collections::VecDeque;

use super::aqm_bins::{AqmBins, BIN, Head, by_aqm_bins};
use super::bins::Measure;
use super::flow_table::{BUSY_FLOWS, WEIGHT};
use super::weights::Weights;
use super::{Discipline, Entry, Exit, FlowKey, FlowTable, Limit, Setting};
use crate::aqm::DrainRate;
use crate::packet::Packet;
use crate::record::Gauges;
use crate::tournament::{ABSENT, Tournament};
use crate::units::Time;

/// Virtual time, in bytes per unit of weight. `waiting` are the bytes in the queue.
pub trait Clock: Default {
    /// A packet comes: virtual time moves on to now.
    fn advance(&mut self, _now: Time, _drain_rate: &DrainRate, _waiting: u64) {}
    /// The link asks for a packet, so it has sent all that left before.
    fn catch_up(&mut self, _now: Time, _waiting: u64) {}
    /// Virtual time.
    fn time(&self) -> f64;
    /// A packet joined its flow, whose last tag is now `end`.
    fn joined(&mut self, _flow: usize, _size: u64, _weight: f64, _end: f64) {}
    /// A packet was dropped from its flow, whose last tag is now `end`.
    fn dropped(&mut self, _flow: usize, _size: u64, _end: f64) {}
    /// The packet with this tag leaves.
    fn sends(&mut self, _tag: f64) {}
    /// A packet comes to an empty queue. Returns to zero unless earlier tags still count, and says whether it did.
    fn restarts(&mut self) -> bool;
}

/// The tags of a flow.
#[derive(Clone, Default)]
struct Flow {
    weight: f64,
    /// The tag of its last packet.
    end: f64,
    /// How far drops have brought its tags forward.
    forward: f64,
    /// Tags of its waiting packets plus `forward` as it was when they came: a drop changes one number, not all tags.
    waiting: VecDeque<f64>,
    /// The start of virtual time that `end` counts from.
    era: u64,
}

/// The tags of all flows, and virtual time.
struct Tags<C> {
    clock: C,
    flows: Vec<Flow>,
    /// Tags of first packets. None is negative, so their bits are in the order of the numbers.
    heads: Tournament,
    busy: usize,
    /// How often virtual time has returned to zero. In 10 busy days of 1 Gbps it reaches 1.1e14, where an `f64` is exact
    /// to 1/64.
    era: u64,
}

impl<C: Clock> Tags<C> {
    fn new() -> Self {
        let heads = Tournament::new(1);
        Self { clock: C::default(), flows: Vec::new(), heads, busy: 0, era: 0 }
    }

    fn grow(&mut self, count: usize) {
        self.flows.resize(count, Flow::default());
        self.heads.grow(count);
    }

    /// A packet comes while `waiting` bytes are in the queue; it may be dropped yet.
    #[inline]
    fn advance(&mut self, now: Time, drain_rate: &DrainRate, waiting: u64) {
        self.clock.advance(now, drain_rate, waiting);
        if waiting == 0 && self.clock.restarts() {
            self.era += 1;
        }
    }

    /// Gives the last packet of a flow its tag.
    #[inline]
    fn join(&mut self, index: usize, size: u64, weight: f64) {
        let (now, flow) = (self.clock.time(), &mut self.flows[index]);
        if flow.era != self.era {
            (flow.end, flow.era) = (0.0, self.era);
        }
        let is_first = flow.waiting.is_empty();
        if is_first {
            flow.reweigh(now, weight);
            self.busy += 1;
        }
        let end = flow.end.max(now) + size as f64 / flow.weight;
        flow.end = end;
        flow.waiting.push_back(end + flow.forward);
        if is_first {
            self.heads.set(index as u32, end.to_bits());
        }
        self.clock.joined(index, size, flow.weight, end);
    }

    /// The flow whose packet is next.
    #[inline]
    fn next(&self) -> Option<usize> {
        self.heads.first().map(|(flow, _)| flow)
    }

    /// Takes the tag of a packet that leaves from the head of its flow.
    #[inline]
    fn send(&mut self, index: usize) {
        self.clock.sends(f64::from_bits(self.heads.key(index as u32)));
        self.remove_head(index);
    }

    /// Takes the tag of a packet that is dropped from the head of its flow.
    fn drop_head(&mut self, index: usize, size: u64) {
        let flow = &mut self.flows[index];
        let cost = size as f64 / flow.weight;
        flow.forward += cost;
        flow.end = (flow.end - cost).max(0.0);
        self.clock.dropped(index, size, flow.end);
        self.remove_head(index);
    }

    #[inline]
    fn remove_head(&mut self, index: usize) {
        let flow = &mut self.flows[index];
        flow.waiting.pop_front();
        let key = match flow.waiting.front() {
            // Not below zero by a rounding either.
            Some(tag) => (tag - flow.forward).max(0.0).to_bits(),
            None => {
                self.busy -= 1;
                ABSENT
            }
        };
        self.heads.set(index as u32, key);
    }
}

impl Flow {
    /// Sets the weight of a flow without packets in the queue. Another connection may have taken over its number; what
    /// virtual time has yet to pass for it stays the same in bytes.
    #[inline]
    fn reweigh(&mut self, now: f64, weight: f64) {
        if weight != self.weight {
            self.end = now + (self.end - now).max(0.0) * self.weight / weight;
            self.weight = weight;
        }
        self.forward = 0.0;
    }
}

/// Fair queueing by finish tags in this virtual time.
pub struct FinishTags<C> {
    aqm_bins: AqmBins,
    tags: Tags<C>,
    flow_limit: Limit,
    named: Weights,
    flows: FlowTable,
}

impl<C: Clock> FinishTags<C> {
    pub(super) fn new(weights: &Weights, flow_packets: Option<u64>, setting: &Setting) -> Self {
        Self {
            aqm_bins: AqmBins::new(1, Measure::Bytes, setting),
            tags: Tags::new(),
            flow_limit: Limit {
                bytes: u64::MAX,
                packets: flow_packets.unwrap_or(u64::MAX),
                exclusive: setting.limit.exclusive,
            },
            named: weights.clone(),
            flows: FlowTable::default(),
        }
    }

    /// Adds a queue for a new flow.
    #[inline]
    fn grow(&mut self, flow: usize) {
        if flow >= self.tags.flows.len() {
            self.aqm_bins.grow(flow + 1);
            self.tags.grow(flow + 1);
        }
    }
}

impl<C: Clock> Discipline for FinishTags<C> {
    fn enqueue(&mut self, packet: Packet, entry: &mut Entry) {
        let (flow, size) = (self.flows.index(&packet), u64::from(packet.size));
        self.grow(flow);
        self.tags.advance(entry.now, entry.drain_rate, self.aqm_bins.backlog().bytes);
        let waiting = self.aqm_bins.backlog_of(flow);
        if !self.flow_limit.admits(waiting, size) {
            self.aqm_bins.overflow(flow, packet, entry);
            return;
        }
        let weight = self.flows.weight(&packet);
        if waiting.packets == 0 {
            self.aqm_bins.set_weight(flow, weight);
        }
        if self.aqm_bins.push(flow, packet, entry) {
            self.tags.join(flow, size, weight);
            while let Some((flow, size)) = self.aqm_bins.shed_longest(entry) {
                self.tags.drop_head(flow, size);
            }
        }
    }

    fn dequeue(&mut self, exit: &mut Exit) -> Option<Packet> {
        loop {
            self.tags.clock.catch_up(exit.now, self.aqm_bins.backlog().bytes);
            let flow = self.tags.next()?;
            let size = self.aqm_bins.head(flow)?.size.into();
            let passes = matches!(self.aqm_bins.judge_head(flow, exit), Head::Passes(_));
            let packet = if passes {
                self.tags.send(flow);
                self.aqm_bins.pop(flow)
            } else {
                self.tags.drop_head(flow, size);
                None
            };
            if self.aqm_bins.backlog_of(flow).packets == 0 {
                self.aqm_bins.emptied(flow, exit.now);
            }
            if passes {
                return packet;
            }
        }
    }

    by_aqm_bins!();

    fn set_flow_classifier(&mut self, flows: &FlowTable, names: &[&str]) {
        self.flows = flows.weighing(&self.named, names);
    }

    fn gauges(&self, out: &mut Gauges) {
        out.show(BUSY_FLOWS, self.tags.busy as f64);
    }

    fn flow_gauges(&self, flow: FlowKey, out: &mut Gauges) {
        out.show(WEIGHT, self.flows.weight_of(flow));
        out.show(BIN, flow.index as f64);
        self.aqm_bins.bin_gauges(flow.index, out);
    }
}

#[cfg(test)]
mod tests {
    use super::super::scfq::InService;
    use super::super::wfq::Fluid;
    use super::*;
    use crate::aqm::AqmSpec;
    use crate::queue::aqm_bins::tests::Spies;
    use crate::queue::tests::Bench;
    use crate::queue::weights::Weight;
    use crate::units::BitRate;

    /// Tags of three flows on a line of a byte in 1 us.
    struct Line<C> {
        tags: Tags<C>,
        waiting: u64,
    }

    impl<C: Clock> Line<C> {
        fn new() -> Self {
            let mut tags = Tags::new();
            tags.grow(3);
            Self { tags, waiting: 0 }
        }

        /// A packet comes.
        fn put(&mut self, us: u64, flow: usize, size: u64, weight: f64) {
            let drain_rate = DrainRate::steady(BitRate::from_mbps(8.0), 0);
            self.tags.advance(Time::from_us(us), &drain_rate, self.waiting);
            self.tags.join(flow, size, weight);
            self.waiting += size;
        }

        /// The first packet of this flow, which must be next, leaves.
        fn send(&mut self, us: u64, flow: usize, size: u64) {
            self.tags.clock.catch_up(Time::from_us(us), self.waiting);
            assert_eq!(self.tags.next(), Some(flow));
            self.tags.send(flow);
            self.waiting -= size;
        }

        fn drop_head(&mut self, flow: usize, size: u64) {
            self.tags.drop_head(flow, size);
            self.waiting -= size;
        }

        fn head(&self, flow: u32) -> f64 {
            f64::from_bits(self.tags.heads.key(flow))
        }
    }

    fn tags_come_forward_by_what_is_dropped<C: Clock>() {
        let mut line = Line::<C>::new();
        for size in [1000, 500, 300] {
            line.put(0, 0, size, 2.0);
        }
        line.put(0, 1, 600, 1.0);
        // 1000 / 2 = 500, 750, 900. Without the first: 250, 400. Without the second too: 150.
        assert_eq!(line.head(0), 500.0);
        line.drop_head(0, 1000);
        assert_eq!((line.head(0), line.tags.flows[0].end), (250.0, 400.0));
        line.drop_head(0, 500);
        assert_eq!((line.head(0), line.tags.flows[0].end), (150.0, 150.0));
        // Then 100 / 2 more.
        line.put(0, 0, 100, 2.0);
        line.send(0, 0, 300);
        assert_eq!((line.head(0), line.head(1), line.tags.busy), (200.0, 600.0, 2));
        line.drop_head(0, 100);
        assert_eq!((line.tags.next(), line.tags.busy), (Some(1), 1));
    }

    /// Two packets of 1000 B: one is dropped, and of the other 400 B are served in 400 us alone.
    #[test]
    fn a_dropped_packet_is_not_served() {
        let mut line = Line::<Fluid>::new();
        (0..2).for_each(|flow| line.put(0, flow, 1000, 1.0));
        line.drop_head(1, 1000);
        line.send(0, 0, 1000);
        line.put(400, 2, 100, 1.0);
        assert_eq!(line.head(2), 500.0);
    }

    #[test]
    fn a_dropped_packet_costs_its_flow_nothing() {
        tags_come_forward_by_what_is_dropped::<Fluid>();
        tags_come_forward_by_what_is_dropped::<InService>();
    }

    #[test]
    fn the_fluid_system_goes_as_fast_as_its_flows_are_few() {
        let mut line = Line::<Fluid>::new();
        line.put(0, 0, 1000, 1.0); // ends at v = 1000
        line.send(0, 0, 1000);
        line.put(400, 1, 900, 3.0); // v = 400, ends at 400 + 900 / 3 = 700
        assert_eq!((line.tags.clock.time(), line.head(1)), (400.0, 700.0));
        // Weights 1 + 3: v = 400 + 400 / 4 = 500.
        line.put(800, 2, 100, 1.0); // ends at 600
        assert_eq!((line.tags.clock.time(), line.head(2)), (500.0, 600.0));
        // At 1000: v = 500 + 200 / 5 = 540. The link asks at 1000, and has flow 2 at 600 before flow 1 at 700.
        line.send(1000, 2, 100);
        assert_eq!(line.tags.clock.time(), 540.0);
        // 60 * 5 = 300 us to 600 and 100 * 4 = 400 to 700, but the link asks at 1100. Until then 100 / 5 = 20.
        line.send(1100, 1, 900);
        assert_eq!(line.tags.clock.time(), 560.0);
        // At 2000 all is sent: of 900 bytes 40 * 5 are served to 600, 100 * 4 to 700, and 300 to 1000.
        line.tags.clock.catch_up(Time::from_us(2000), 0);
        assert_eq!(line.tags.clock.time(), 1000.0);
        line.put(3000, 1, 500, 1.0);
        assert_eq!((line.tags.clock.time(), line.head(1)), (0.0, 500.0));
    }

    #[test]
    fn the_fluid_system_serves_what_the_link_sends_at_whatever_rate() {
        let mut line = Line::<Fluid>::new();
        for flow in 0..2 {
            line.put(0, flow, 1000, 1.0);
        }
        line.send(0, 0, 1000);
        // The link was to take 1 ms and takes 10: no more than 1000 of 2000 bytes are served, 500 of each flow.
        line.put(5000, 2, 1000, 1.0);
        assert_eq!((line.tags.clock.time(), line.head(2)), (500.0, 1500.0));
        // Now it asks: 2000 bytes have come and not left, and the fluid system has 500 + 500 + 1000. So time stands still.
        line.send(10_000, 1, 1000);
        assert_eq!(line.tags.clock.time(), 500.0);
        // It asks again at once, so another 1000 were sent: 1000 / 3 of each flow.
        line.tags.clock.catch_up(Time::from_us(10_000), 1000);
        assert!((line.tags.clock.time() - (500.0 + 1000.0 / 3.0)).abs() < 1e-9);
    }

    #[test]
    fn a_flow_of_another_weight_keeps_its_bytes_in_the_fluid_system() {
        let mut line = Line::<Fluid>::new();
        line.put(0, 0, 1000, 1.0);
        line.send(0, 0, 1000);
        // v = 400: 600 bytes are unserved. At weight 3 they end at 400 + 200, and 300 more at 700.
        line.put(400, 0, 300, 3.0);
        assert_eq!(line.head(0), 700.0);
        line.tags.clock.catch_up(Time::from_us(1000), 300);
        assert_eq!(line.tags.clock.time(), 600.0);
    }

    #[test]
    fn self_clocked_time_is_the_tag_in_service() {
        let mut line = Line::<InService>::new();
        line.put(0, 0, 1000, 1.0);
        line.send(0, 0, 1000);
        assert_eq!(line.tags.clock.time(), 1000.0);
        // The queue is empty, so time returns to zero.
        line.put(400, 1, 500, 1.0);
        line.put(400, 2, 100, 1.0);
        assert_eq!((line.head(1), line.head(2)), (500.0, 100.0));
        line.send(1000, 2, 100);
        line.put(1050, 2, 100, 1.0);
        assert_eq!(line.head(2), 200.0);
        // A drop brings flow 1's next packet to 50; time stays at 200.
        line.send(1100, 2, 100);
        line.put(1150, 1, 50, 1.0);
        line.drop_head(1, 500);
        line.send(1200, 1, 50);
        assert_eq!(line.tags.clock.time(), 200.0);
    }

    /// At 200 us v = 200 / 2 = 100, and 400 of 500 units of weight 2, so 800 bytes, are unserved: at weight 4 until 300.
    #[test]
    fn a_heavier_flow_finishes_what_it_has_earlier() {
        let mut line = Line::<Fluid>::new();
        line.put(0, 0, 1000, 2.0);
        line.send(0, 0, 1000);
        line.put(200, 0, 400, 4.0);
        assert_eq!(line.head(0), 400.0);
    }

    /// What drops brought forward is forgotten when a flow comes again, so that tags stay exact.
    #[test]
    fn tags_stay_exact_after_many_drops() {
        let mut line = Line::<InService>::new();
        line.put(0, 0, 1 << 60, 1.0);
        line.drop_head(0, 1 << 60);
        line.put(0, 0, 1000, 1.0);
        line.put(0, 0, 101, 1.0);
        assert_eq!((line.head(0), line.tags.flows[0].end), (1000.0, 1101.0));
        line.send(0, 0, 1000);
        assert_eq!(line.head(0), 1101.0);
    }

    #[test]
    fn tags_of_heavy_flows_are_less_than_1() {
        let mut line = Line::<InService>::new();
        (0..3).for_each(|_| line.put(0, 0, 500, 1000.0));
        line.drop_head(0, 500);
        assert_eq!((line.head(0), line.tags.flows[0].end), (0.5, 1.0));
        line.drop_head(0, 500);
        assert_eq!((line.head(0), line.tags.flows[0].end), (0.5, 0.5));
        line.drop_head(0, 500);
        assert_eq!((line.tags.next(), line.tags.flows[0].end), (None, 0.0));
    }

    /// v = 500 at 500 us, so b has 1500, after the 1400 of a's second packet, which begins where the first ends.
    #[test]
    fn virtual_time_goes_on_while_the_link_sends() {
        let mut bench = Bench::of(9);
        let mut wfq = FinishTags::<Fluid>::new(
            &Weights::default(),
            None,
            &bench.setting(&AqmSpec::default()),
        );
        wfq.grow(4);
        let spies = Spies::within(&mut wfq.aqm_bins);
        let packet = |flow, size| Packet { flow, ..Packet::datagram(size) };
        wfq.enqueue(packet(0, 1000), &mut bench.entry());
        assert!(wfq.dequeue(&mut bench.exit()).is_some());
        assert_eq!(spies.log().last().map(String::as_str), Some("0 is empty at 0 ms"));
        bench.now = Time::from_us(500);
        wfq.enqueue(packet(1, 1000), &mut bench.entry());
        wfq.enqueue(packet(0, 400), &mut bench.entry());
        let mut shown = Gauges::default();
        wfq.gauges(&mut shown);
        assert_eq!(shown.get("busy_flows"), Some(2.0));
        bench.now = Time::from_ms(1);
        let mut sent = || wfq.dequeue(&mut bench.exit()).map(|packet| packet.flow);
        assert_eq!([sent(), sent(), sent()], [Some(0), Some(1), None]);
        let ends: Vec<_> =
            spies.log().into_iter().filter(|reported| reported.contains("empty")).collect();
        assert_eq!(ends, ["0 is empty at 1 ms", "2 is empty at 1 ms"]);
    }

    /// Of 8 Mbps one flow has all alone, and beside it one of weight 3 has three quarters.
    #[test]
    fn algorithms_see_the_shares_of_weights() {
        let mut bench = Bench::of(9);
        let weights = Weights([("b".to_owned(), Weight(3.0))].into_iter().collect());
        let law = AqmSpec::default();
        let setting = bench.setting(&law);
        let mut scfq = FinishTags::<InService>::new(&weights, None, &setting);
        scfq.set_flow_classifier(&FlowTable::connections(), &["a", "b"]);
        scfq.grow(4);
        let spies = Spies::within(&mut scfq.aqm_bins);
        for traffic in [0, 1] {
            let packet = Packet { flow: traffic.into(), traffic, ..Packet::datagram(100) };
            scfq.enqueue(packet, &mut bench.entry());
        }
        let key = scfq.flows.key(&Packet { flow: 1, traffic: 1, ..Packet::datagram(100) });
        let mut shown = Gauges::default();
        scfq.flow_gauges(key, &mut shown);
        assert_eq!((shown.get("weight"), shown.get("bin")), (Some(3.0), Some(key.index as f64)));
        let reported = spies.log();
        assert!(
            reported[0].contains(" 8000000 bps") && reported[1].contains(" 6000000 bps"),
            "{reported:?}"
        );
    }

    /// Slots are taken one after the other: 0, 2, 4 and so on are the numbers of their flows.
    #[test]
    fn flows_come_one_after_the_other() {
        let mut bench = Bench::of(20);
        let law = AqmSpec::default();
        let setting = bench.setting(&law);
        let mut scfq = FinishTags::<InService>::new(&Weights::default(), None, &setting);
        let packet = |flow| Packet { flow, ..Packet::datagram(100 + flow as u16) };
        for flow in 0..10 {
            scfq.enqueue(packet(flow), &mut bench.entry());
            assert_eq!(scfq.tags.flows.len(), 2 * flow as usize + 1);
        }
        let sent: Vec<_> = std::iter::from_fn(|| scfq.dequeue(&mut bench.exit())).collect();
        assert!(sent.iter().map(|packet| packet.flow).eq(0..10));
    }
}
