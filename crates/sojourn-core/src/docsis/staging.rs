//! A queue before token buckets alone: the rate-shaping queue of the two-queue modem (White & Padden
//! 2012 §2.2.1 and §2.3), and the regulator of a downstream service flow before a channel that it
//! shares with others (Hong 2015 §3.2.1).
//!
//! Packets wait under the queue manager until the token buckets let them pass to the transmit queue,
//! over a link without delay, or to the channel's queue. A packet is taken from the queue first and
//! then held for its tokens, so those the queue manager drops use none. Packets that come at one instant
//! all find their place, or none, before the first of them is taken: ns-2's link is freed by an event of
//! its own, and so the 24 SYNs of a page overflow 21 places (§4.3.2). Whether the transmit queue has room
//! for it is its own matter, or, with back-pressure, decides whether a packet is taken at all (§2.2.3).

use super::shaper::{Shaper, TokenBucket};
use crate::aqm::Outlet;
use crate::metrics::modem_trace::ModemEventKind;
use crate::metrics::{Count, Gauges, Ledger};
use crate::packet::Packet;
use crate::queue::{Beyond, Queue};
use crate::units::Time;

/// The rate-shaping queue.
pub struct Staging {
    queue: Queue,
    shaper: Shaper,
    /// Taken from the queue, and waiting for tokens until `ready_at`.
    held: Option<Packet>,
    ready_at: Time,
    back_pressure: bool,
    across_both: bool,
}

impl Staging {
    /// An empty queue before full token buckets.
    pub fn new(queue: Queue, shaper: Shaper, back_pressure: bool, across_both: bool) -> Self {
        let ready_at = Time::NEVER;
        Self { queue, shaper, held: None, ready_at, back_pressure, across_both }
    }

    /// Takes a packet from the home, and wants to be woken at once where none is held before it.
    pub fn accept(&mut self, now: Time, packet: Packet, ledger: &mut Ledger) {
        let outlet = self.outlet(now);
        self.queue.enqueue(now, packet, &outlet, ledger);
        if self.held.is_none() {
            self.ready_at = now;
        }
    }

    /// The next packet that may pass now, by whether the transmit queue has room and what it looks
    /// like.
    pub fn release(
        &mut self,
        now: Time,
        has_room: bool,
        transmit: Beyond,
        ledger: &mut Ledger,
    ) -> Option<Packet> {
        if self.held.is_none() && (has_room || !self.back_pressure) {
            let beyond = if self.across_both { transmit } else { Beyond::default() };
            self.held = self.queue.dequeue_before(now, beyond, ledger);
            self.ready_at = self.held.as_ref().map_or(Time::NEVER, |packet| {
                let size = u64::from(packet.size);
                tell(ledger, ModemEventKind::Hold, packet);
                let ready_at = self.shaper.ready_at(now, size);
                self.shaper.take(ready_at, size);
                ready_at
            });
        }
        if now < self.ready_at {
            return None;
        }
        self.ready_at = Time::NEVER;
        let packet = self.held.take()?;
        if self.shaper.held(&packet) {
            ledger.delayed(&packet);
        }
        tell(ledger, ModemEventKind::Release, &packet);
        Some(packet)
    }

    /// When it wants to be woken next.
    pub fn next_wake(&self) -> Time {
        self.ready_at.min(self.queue.next_update())
    }

    /// The periodic part of the queue manager, if it is due.
    pub fn update(&mut self, now: Time) {
        if self.queue.next_update() <= now {
            let outlet = self.outlet(now);
            self.queue.update(now, &outlet);
        }
    }

    fn outlet(&self, now: Time) -> Outlet {
        self.shaper.outlet(now, self.queue.buffer_bytes())
    }

    /// Packets and bytes held.
    pub fn inside(&self) -> Count {
        let waiting = self.queue.backlog();
        let mut inside = Count { packets: waiting.packets, bytes: waiting.bytes };
        if let Some(packet) = &self.held {
            inside.packets += 1;
            inside.bytes += u64::from(packet.size);
        }
        inside
    }

    /// The bucket of the sustained rate.
    pub fn sustained(&self) -> &TokenBucket {
        &self.shaper.sustained
    }

    /// The queue with the queue manager.
    pub fn queue_mut(&mut self) -> &mut Queue {
        &mut self.queue
    }

    /// The queue, for what was measured of it.
    pub fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Samples the queue for its series.
    pub fn sample(&mut self, show_link: impl FnOnce(&mut Gauges)) {
        self.queue.sample(show_link);
    }
}

/// Tells the trace of a modem, if the packet is on its way through it.
#[inline]
fn tell(ledger: &mut Ledger, kind: ModemEventKind, packet: &Packet) {
    if let Some(trace) = ledger.trace() {
        trace.at_modem(kind, packet);
    }
}
