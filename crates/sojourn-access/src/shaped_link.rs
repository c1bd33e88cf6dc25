//! A queue, token buckets and a channel for one service flow. Downstream it is the service flow at
//! the CMTS; upstream it replaces the modem where no request-grant MAC is simulated.
//!
//! As in CableLabs' ns-2 code (delaytb.cc), a packet leaves the queue when the channel is free,
//! waits until both token buckets have room for it, and is then sent at the channel's rate.

use super::docsis::probe::Probe;
use super::shaper::Shaper;
use crate::context::ServiceFlowContext;
use crate::service::{Downstream, Terms, Upstream};
use sojourn_engine::aqm::DrainRate;
use sojourn_engine::capacity::Capacity;
use sojourn_engine::count::Count;
use sojourn_engine::packet::Packet;
use sojourn_engine::queue::{Queue, QueueSpec, default_limit_bytes};
use sojourn_engine::record::ModemEventKind as Kind;
use sojourn_engine::record::{Part, Recorder};
use sojourn_engine::units::{BitRate, Time};

/// Ratio of channel rate to peak rate downstream, where the scenario sets no channel rate.
const CHANNEL_OVER_PEAK: f64 = 10.0;

/// The rate of a downstream flow's own channel.
pub(crate) fn downstream_channel(spec: &Downstream) -> BitRate {
    let mbps = spec.channel_mbps.unwrap_or(CHANNEL_OVER_PEAK * spec.terms().peak_mbps);
    BitRate::from_mbps(mbps)
}

/// A link behind a queue and token buckets.
pub struct ShapedLink {
    queue: Queue,
    shaper: Shaper,
    channel: Capacity,
    /// From when until when the last packet is sent.
    began_at: Time,
    busy_until: Time,
    probe: Probe,
}

impl ShapedLink {
    /// The downstream at the CMTS, on the scenario's channel or on one that is never the bottleneck.
    pub fn downstream(spec: &Downstream, context: &ServiceFlowContext) -> Self {
        let channel = Capacity::of(spec.capacity.as_ref(), downstream_channel(spec));
        Self::downstream_at(channel, spec, context)
    }

    /// From now on it has other rates and other parameters of its queue. A packet that has left the queue keeps its times.
    /// `channel` is the rate of the channel, unless a trace has it.
    pub(crate) fn retune(
        &mut self,
        now: Time,
        (terms, queue): (Terms, &QueueSpec),
        channel: Option<BitRate>,
    ) {
        self.shaper.retune(now, terms);
        self.queue.retune(queue, default_limit_bytes(self.shaper.sustained.rate()));
        if let Some(rate) = channel {
            self.channel = Capacity::steady(rate);
        }
    }

    /// A downstream service flow on a channel of this capacity. Its queue is empty and its token buckets
    /// are full.
    pub fn downstream_at(
        channel: Capacity,
        spec: &Downstream,
        context: &ServiceFlowContext,
    ) -> Self {
        let shaper = Shaper::of(spec.terms());
        let buffer_bytes = default_limit_bytes(shaper.sustained.rate());
        let queue = context.queue("downstream", &spec.queue, buffer_bytes);
        Self::new(queue.placed(Part::CmtsQueue), shaper, channel, Probe::default())
    }

    /// An upstream without a MAC, at the peak rate or what its link carries.
    pub fn upstream(spec: &Upstream, context: &ServiceFlowContext) -> Self {
        let peak = BitRate::from_mbps(spec.terms().peak_mbps);
        Self::upstream_at(Capacity::of(spec.capacity.as_ref(), peak), spec, context)
    }

    /// An upstream without a MAC, on a channel of this capacity.
    pub fn upstream_at(channel: Capacity, spec: &Upstream, context: &ServiceFlowContext) -> Self {
        let shaper = Shaper::of(spec.terms());
        let buffer_bytes = default_limit_bytes(shaper.sustained.rate());
        let queue = context.queue("upstream", &spec.queue, buffer_bytes);
        Self::new(queue.placed(Part::ModemQueue), shaper, channel, Probe::upstream(context))
    }

    fn new(queue: Queue, shaper: Shaper, channel: Capacity, probe: Probe) -> Self {
        Self { queue, shaper, channel, began_at: Time::ZERO, busy_until: Time::ZERO, probe }
    }

    /// Takes a packet. Returns the packet that is sent at once, if the channel is free.
    #[inline]
    pub fn accept(
        &mut self,
        now: Time,
        mut packet: Packet,
        recorder: &mut Recorder,
    ) -> Option<Packet> {
        self.probe.arrive(recorder, now, &self.shaper.sustained, &packet);
        if now >= self.busy_until && self.queue.lets_pass(now, &mut packet, recorder) {
            self.send(now, &packet, recorder);
            return Some(packet);
        }
        let drain_rate = self.drain_rate(now);
        self.queue.settle(self.busy_until, now, recorder);
        self.queue.enqueue(now, packet, &drain_rate, recorder);
        self.send_next(now, recorder)
    }

    /// The next wake time: when the channel is free, if a packet waits for it.
    #[inline]
    pub fn next_wake(&self) -> Time {
        self.queue.next_wake(self.busy_until)
    }

    /// When the first byte of the last packet left, which may be later than now.
    #[inline]
    pub fn began_at(&self) -> Time {
        self.began_at
    }

    /// When the last byte of the last packet leaves.
    #[inline]
    pub fn sent_at(&self) -> Time {
        self.busy_until
    }

    /// Does what is due. Returns the packet that is sent next, if there is one.
    pub fn wake(&mut self, now: Time, recorder: &mut Recorder) -> Option<Packet> {
        if self.queue.next_update() <= now {
            let drain_rate = self.drain_rate(now);
            self.queue.update(now, &drain_rate);
        }
        self.send_next(now, recorder)
    }

    #[inline]
    fn send_next(&mut self, now: Time, recorder: &mut Recorder) -> Option<Packet> {
        if now < self.busy_until {
            return None;
        }
        let packet = self.queue.dequeue(now, recorder);
        if let Some(packet) = &packet {
            self.send(now, packet, recorder);
        }
        packet
    }

    fn send(&mut self, now: Time, packet: &Packet, recorder: &mut Recorder) {
        self.probe.packet(recorder, now, Kind::Dequeue, packet);
        let size = u64::from(packet.size);
        let start = self.shaper.ready_at(now, size);
        self.shaper.take(start, size);
        if self.shaper.held(packet) {
            recorder.delayed(packet);
        }
        (self.began_at, self.busy_until) = (start, self.channel.done_at(start, size));
        self.probe.bucket(recorder, &self.shaper.sustained);
        self.probe.note(recorder, start, Kind::Piece, size);
        self.probe.packet(recorder, self.busy_until, Kind::Sent, packet);
    }

    fn drain_rate(&self, now: Time) -> DrainRate {
        self.shaper.drain_rate(now, self.queue.buffer_bytes())
    }

    /// Packets and bytes that wait. A packet being sent already counts in the next stage.
    pub fn inside(&self) -> Count {
        self.queue.backlog()
    }

    /// The queue, for its measurements.
    pub fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Samples the queue for its series.
    pub fn sample(&mut self) {
        self.queue.sample(|_| ());
    }
}
