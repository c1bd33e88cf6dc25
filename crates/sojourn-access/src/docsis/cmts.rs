//! The shared downstream channel at the CMTS: a queue manager for the service flows of all homes,
//! followed by one channel or several bonded ones.
//!
//! Service flows of different traffic priority have a queue manager for each priority; the highest
//! that has packets is served first. DOCSIS MULPI §C.2.2.7.1 leaves to vendors how much better a
//! higher priority is served. Packets due under a minimum reserved rate go before all others.
//!
//! A packet of a bonding group takes the channel that is free first, at that channel's rate, so
//! that as many packets are in transmission as there are channels. The modem restores the order of
//! its packets (DOCSIS MULPI §8.2, from memory).
//!
//! Unlike channels and several bonding groups have a room of their own (bonded_cmts.rs).
//!
//! Left out: MAPs and other management messages; the interleaving of single carriers.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use super::downstream_channel::{self, Pipeline};
use crate::Site;
use crate::flight::Way;
use crate::homes::{of_downstream_flows, of_homes};
use crate::service::Downstream;
use sojourn_engine::aqm::DrainRate;
use sojourn_engine::count::Count;
use sojourn_engine::packet::Packet;
use sojourn_engine::queue::{FlowTable, Queue, default_limit_bytes};
use sojourn_engine::record::{Part, Recorder};
use sojourn_engine::units::{BitRate, Pace, Time};

/// Name of its queue in results.
const NAME: &str = "cmts";

/// What makes the queue managers of a CMTS.
pub(super) struct QueueMaker<'a> {
    pub spec: &'a downstream_channel::Cmts,
    site: &'a Site<'a>,
    flows: FlowTable,
    /// Weights of service flows, by home and number, and their classes: one for each traffic priority, the highest first.
    pub weights: Vec<Vec<f64>>,
    pub class_of: Vec<Vec<u8>>,
    priorities: BTreeSet<u8>,
}

impl<'a> QueueMaker<'a> {
    pub(super) fn new(spec: &'a downstream_channel::Cmts, site: &'a Site) -> Self {
        let weights = of_downstream_flows(&site.groups, Downstream::weights);
        let minimum_mbps = of_downstream_flows(&site.groups, Downstream::minimum_mbps);
        let flows = FlowTable::of_homes(spec.unit, &weights).reserving(&minimum_mbps);
        let mut class_of = of_downstream_flows(&site.groups, Downstream::priorities);
        let priorities: BTreeSet<u8> = class_of.iter().flatten().copied().collect();
        let class = |priority: u8| priorities.range(priority + 1..).count() as u8;
        class_of.iter_mut().flatten().for_each(|flow| *flow = class(*flow));
        Self { spec, site, flows, weights, class_of, priorities }
    }

    pub(super) fn classes(&self) -> usize {
        self.priorities.len()
    }

    pub(super) fn keeps_reserved_rates(&self) -> bool {
        !self.flows.reserved().is_empty()
    }

    /// That of a class and, where there are several, of a bonding group, whose channels have this rate.
    pub(super) fn queue(&self, class: usize, group: &str, rate: BitRate) -> Queue {
        let (spec, site) = (self.spec, self.site);
        let priority = self.priorities.iter().rev().nth(class).filter(|_| self.classes() > 1);
        let priority = priority.map(|priority| format!(" priority {priority}"));
        let name = format!("{NAME}{}{group}", priority.unwrap_or_default());
        let buffer_bytes = default_limit_bytes(rate);
        let mut queue = Queue::new(&spec.queue, buffer_bytes, site.dialect, &name, site.seed)
            .placed(Part::CmtsQueue);
        queue.set_flow_classifier(&self.flows, &site.traffic, site.watch_flows);
        queue
    }
}

/// The queue managers and the channel that all homes share.
pub(crate) struct Cmts {
    /// One for each traffic priority, the highest first.
    queues: Vec<Queue>,
    /// The index in `queues` for each service flow, by home and number.
    class_of: Vec<Vec<u8>>,
    /// Does any service flow have a minimum reserved rate?
    keeps_reserved_rates: bool,
    /// Rate of each channel to each home, in the home's profile.
    rates: Vec<Pace>,
    /// Bytes that framing adds to each packet.
    framing_bytes: u64,
    /// How packets pass OFDM channels.
    pipeline: Option<Pipeline>,
    /// Until when each channel is sending, the one that is free first at its head.
    busy_until: BinaryHeap<Reverse<Time>>,
    /// When the last byte of the last packet for each home leaves.
    last_to: Vec<Time>,
    /// When the last byte of the last packet leaves.
    sent_at: Time,
    drain_rate: DrainRate,
}

impl Cmts {
    /// The CMTS of a scenario, with empty queues.
    pub(crate) fn new(spec: &downstream_channel::Cmts, framing_bytes: u64, site: &Site) -> Self {
        let channel = BitRate::from_mbps(spec.channel.rate_mbps());
        let channels = spec.channel.count();
        let rate = BitRate::from_bps(channel.bps() * u64::from(channels));
        let maker = QueueMaker::new(spec, site);
        let queues: Vec<Queue> =
            (0..maker.classes()).map(|class| maker.queue(class, "", rate)).collect();
        let keeps_reserved_rates = maker.keeps_reserved_rates();
        let (class_of, homes) = (maker.class_of, maker.weights.len());
        let buffer_bytes = queues[0].buffer_bytes();
        Self {
            queues,
            class_of,
            keeps_reserved_rates,
            rates: of_homes(&site.groups, |down| {
                Pace::new(match down.profile_bits {
                    None => channel,
                    Some(bits) => BitRate::from_mbps(spec.channel.with_bits(bits).rate_mbps()),
                })
            }),
            framing_bytes,
            pipeline: spec.channel.pipeline(),
            busy_until: vec![Reverse(Time::ZERO); channels as usize].into(),
            last_to: vec![Time::ZERO; homes],
            sent_at: Time::ZERO,
            drain_rate: DrainRate::steady(rate, buffer_bytes),
        }
    }

    /// Takes a packet. Returns the packet that is sent at once, if a channel is free.
    #[inline]
    pub(crate) fn accept(
        &mut self,
        now: Time,
        packet: Packet,
        recorder: &mut Recorder,
    ) -> Option<Packet> {
        let free = self.free();
        let class = self.class_of[usize::from(packet.home)][usize::from(packet.service_flow)];
        let queue = &mut self.queues[usize::from(class)];
        queue.settle(free, now, recorder);
        queue.enqueue(now, packet, &self.drain_rate, recorder);
        self.send_next(now, recorder)
    }

    /// When a channel is free.
    #[inline]
    fn free(&self) -> Time {
        self.busy_until.peek().map_or(Time::NEVER, |Reverse(until)| *until)
    }

    /// The next wake time: when a channel is free, if a packet waits for it.
    #[inline]
    pub(crate) fn next_wake(&self) -> Time {
        let free = self.free();
        self.queues.iter().fold(Time::NEVER, |next, queue| next.min(queue.next_wake(free)))
    }

    /// The way of the last packet, which left its queue at `came`, until its modem has it in order.
    #[inline]
    pub(crate) fn way(&self, came: Time, home: u16) -> Way {
        let passed =
            |sent_at| self.pipeline.map_or(sent_at, |pipeline| pipeline.received_at(sent_at));
        let ordered = passed(self.last_to[usize::from(home)]);
        Way { ordered, ..Way::sent(came, came, passed(self.sent_at)) }
    }

    /// Does what is due. Returns the packet that is sent next, if there is one.
    pub(crate) fn wake(&mut self, now: Time, recorder: &mut Recorder) -> Option<Packet> {
        for queue in self.queues.iter_mut().filter(|queue| queue.next_update() <= now) {
            queue.update(now, &self.drain_rate);
        }
        self.send_next(now, recorder)
    }

    #[inline]
    fn send_next(&mut self, now: Time, recorder: &mut Recorder) -> Option<Packet> {
        if now < self.free() {
            return None;
        }
        let packet = self.take_next(now, recorder);
        if let Some(packet) = &packet {
            self.send(now, packet);
        }
        packet
    }

    /// Sends a packet on the channel that is free first.
    fn send(&mut self, now: Time, packet: &Packet) {
        let rate = &mut self.rates[usize::from(packet.home)];
        let sent_at = now + rate.time_for(u64::from(packet.size) + self.framing_bytes);
        if let Some(mut first) = self.busy_until.peek_mut() {
            *first = Reverse(sent_at);
        }
        // In order: behind a longer packet that is still being sent on another channel.
        let last = &mut self.last_to[usize::from(packet.home)];
        *last = sent_at.max(*last);
        self.sent_at = sent_at;
    }

    /// Takes a packet due under a reserved rate first, then one of the highest priority.
    fn take_next(&mut self, now: Time, recorder: &mut Recorder) -> Option<Packet> {
        let mut queues = self.queues.iter_mut();
        if self.keeps_reserved_rates
            && let Some(packet) = queues.find_map(|queue| queue.dequeue_reserved(now, recorder))
        {
            return Some(packet);
        }
        self.queues.iter_mut().find_map(|queue| queue.dequeue(now, recorder))
    }

    /// Packets and bytes that wait. Packets being sent already count in the next stage.
    pub(crate) fn inside(&self) -> Count {
        self.queues.iter().map(Queue::backlog).sum()
    }

    /// Its queues, for their measurements.
    pub(crate) fn queues(&self) -> Vec<&Queue> {
        self.queues.iter().collect()
    }

    /// Samples the queues for their time series.
    pub(crate) fn sample(&mut self) {
        self.queues.iter_mut().for_each(|queue| queue.sample(|_| ()));
    }
}
