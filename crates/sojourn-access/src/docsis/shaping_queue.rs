//! A queue followed by token buckets: the rate-shaping queue of the two-queue modem (White & Padden
//! 2012 §2.2.1 and §2.3), and the regulator of a downstream service flow in front of the shared
//! channel (Hong 2015 §3.2.1).
//!
//! Packets wait under the queue manager until the token buckets let them pass to the transmit
//! queue, over a link without delay, or to the channel's queue. A packet is taken from the queue
//! first and then held for its tokens, so packets that the queue manager drops use none. All
//! packets that arrive at one instant are queued or dropped before the first of them is taken. ns-2
//! does the same, since its link is freed by a separate event; so the 24 SYNs of a page overflow 21
//! places (§4.3.2). The transmit queue drops a packet for which it has no room; with back-pressure,
//! the packet is not taken at all (§2.2.3).

use super::outages::Outages;
use crate::shaper::Shaper;
use sojourn_engine::aqm::DrainRate;
use sojourn_engine::count::Count;
use sojourn_engine::packet::Packet;
use sojourn_engine::queue::{NextQueue, Queue, QueueSpec, default_limit_bytes};
use sojourn_engine::record::ModemEventKind;
use sojourn_engine::record::{Gauges, Part, Recorder};
use sojourn_engine::units::Time;

/// The rate-shaping queue. Its owner holds the token buckets.
pub(crate) struct ShapingQueue {
    queue: Queue,
    /// Taken from the queue, waiting for tokens until `ready_at`.
    held: Option<Packet>,
    held_since: Time,
    ready_at: Time,
    back_pressure: bool,
    across_both: bool,
    /// When the modem that it is in is silent.
    silent: Outages,
}

impl ShapingQueue {
    /// An empty queue.
    pub(crate) fn new(queue: Queue, back_pressure: bool, across_both: bool) -> Self {
        let (held_since, ready_at) = (Time::ZERO, Time::NEVER);
        let silent = Outages::default();
        Self { queue, held: None, held_since, ready_at, back_pressure, across_both, silent }
    }

    /// This queue, in a modem that is silent at these times.
    pub(crate) fn in_modem(self, silent: Outages) -> Self {
        Self { queue: self.queue.placed(Part::ModemQueue).split(), silent, ..self }
    }

    /// Takes a packet. If none is held already, the queue must be woken at once.
    pub(crate) fn accept(
        &mut self,
        now: Time,
        packet: Packet,
        shaper: &Shaper,
        recorder: &mut Recorder,
    ) {
        let drain_rate = self.drain_rate(now, shaper);
        self.queue.enqueue(now, packet, &drain_rate, recorder);
        self.split_dropped(now, recorder);
        if self.held.is_none() {
            self.ready_at = now;
        }
    }

    /// From now on its queue has other parameters. A packet that is held for tokens keeps its time.
    pub(crate) fn retune(&mut self, queue: &QueueSpec, shaper: &Shaper) {
        self.queue.retune(queue, default_limit_bytes(shaper.sustained.rate()));
    }

    /// The next packet that may pass now, given the room and the state of the transmit queue.
    pub(crate) fn release(
        &mut self,
        now: Time,
        has_room: bool,
        transmit: NextQueue,
        shaper: &mut Shaper,
        recorder: &mut Recorder,
    ) -> Option<Packet> {
        if self.held.is_none() && (has_room || !self.back_pressure) {
            let next_queue = if self.across_both { transmit } else { NextQueue::default() };
            self.held = self.queue.dequeue_before(now, next_queue, recorder);
            self.split_dropped(now, recorder);
            self.held.iter().for_each(|packet| self.left_queue(now, packet, recorder));
            self.held_since = now;
            self.ready_at = self.held.as_ref().map_or(Time::NEVER, |packet| {
                let size = u64::from(packet.size);
                note(recorder, now, ModemEventKind::Hold, packet);
                let ready_at = shaper.ready_at(now, size);
                shaper.take(ready_at, size);
                ready_at
            });
        }
        if now < self.ready_at {
            return None;
        }
        self.ready_at = Time::NEVER;
        let packet = self.held.take()?;
        self.was_held(now, &packet, recorder);
        if shaper.held(&packet) {
            recorder.delayed(&packet);
        }
        note(recorder, now, ModemEventKind::Release, &packet);
        Some(packet)
    }

    /// The next wake time.
    pub(crate) fn next_wake(&self) -> Time {
        self.ready_at.min(self.queue.next_update())
    }

    /// A MAP of the modem behind it brought a grant and left `ungranted` requested bytes.
    pub(crate) fn on_map(&mut self, granted: u64, ungranted: u64) {
        self.queue.on_map(granted, ungranted);
    }

    /// Runs the queue manager's periodic update if it is due.
    pub(crate) fn update(&mut self, now: Time, shaper: &Shaper) {
        if self.queue.next_update() <= now {
            let drain_rate = self.drain_rate(now, shaper);
            self.queue.update(now, &drain_rate);
        }
    }

    fn drain_rate(&self, now: Time, shaper: &Shaper) -> DrainRate {
        shaper.drain_rate(now, self.queue.buffer_bytes())
    }

    /// Packets and bytes held.
    pub(crate) fn inside(&self) -> Count {
        let held = self.held.as_ref().map(Count::of);
        self.queue.backlog().plus(held.unwrap_or_default())
    }

    /// While its modem is silent a packet waits for that, not behind others.
    #[inline]
    fn left_queue(&self, now: Time, packet: &Packet, recorder: &mut Recorder) {
        let stalled = self.silent.within(packet.queued_at, now);
        if stalled > Time::ZERO {
            recorder.delays.moves(packet, Part::ModemQueue, Part::Stall, stalled);
        }
    }

    #[inline]
    fn split_dropped(&self, now: Time, recorder: &mut Recorder) {
        while let Some(packet) = recorder.delays.next_dropped() {
            self.left_queue(now, &packet, recorder);
        }
    }

    /// And not for tokens.
    fn was_held(&self, now: Time, packet: &Packet, recorder: &mut Recorder) {
        recorder.delays.spends(packet, self.held_since, [(Part::Shaping, now)]);
        let stalled = self.silent.within(self.held_since, now);
        if stalled > Time::ZERO {
            recorder.delays.moves(packet, Part::Shaping, Part::Stall, stalled);
        }
    }

    /// The run ends: the packet that is held has waited for tokens until now, and the others in the queue.
    pub(crate) fn close(&self, now: Time, recorder: &mut Recorder) {
        if let Some(packet) = &self.held {
            self.was_held(now, packet, recorder);
        }
        if !self.silent.is_empty() {
            self.queue.packets().for_each(|packet| self.left_queue(now, packet, recorder));
        }
    }

    /// The queue, for its measurements.
    pub(crate) fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Samples the queue for its time series.
    pub(crate) fn sample(&mut self, show_link: impl FnOnce(&mut Gauges)) {
        self.queue.sample(show_link);
    }
}

/// Records an event in the modem's trace, if the packet goes upstream.
#[inline]
fn note(recorder: &mut Recorder, now: Time, kind: ModemEventKind, packet: &Packet) {
    if let Some(trace) = recorder.trace() {
        trace.at_modem(now, kind, packet);
    }
}
