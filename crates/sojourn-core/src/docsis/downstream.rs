//! A service flow's downstream at the CMTS: queue, token buckets, channel.
//!
//! After CableLabs' ns-2 code (delaytb.cc): a packet is taken from the queue when the channel is
//! free, held until both token buckets have room for it, and then sent at the channel's rate.

use super::shaper::Shaper;
use crate::aqm::Outlet;
use crate::metrics::{Count, Ledger, QueueMeter};
use crate::packet::Packet;
use crate::queue::Queue;
use crate::scenario::{Dialect, schema};
use crate::units::{BitRate, Time};

/// Channel rate over peak rate where the scenario gives none.
const CHANNEL_OVER_PEAK: f64 = 10.0;

/// The downstream of a service flow.
pub struct Downstream {
    queue: Queue,
    shaper: Shaper,
    channel: BitRate,
    /// Being held or sent, until this time.
    sending: Option<Packet>,
    sent_at: Time,
}

impl Downstream {
    /// Nothing waits and the token buckets are full.
    pub fn new(spec: &schema::Downstream, dialect: Dialect, seed: u64) -> Self {
        let sustained = BitRate::from_mbps(spec.sustained_mbps);
        let buffer_bytes = sustained.bytes_in(Time::from_ms(250)) as u64;
        let channel_mbps = spec.channel_mbps.unwrap_or(CHANNEL_OVER_PEAK * spec.peak_mbps);
        Self {
            queue: Queue::new(&spec.queue, buffer_bytes, dialect, "downstream", seed),
            shaper: Shaper::new(sustained, BitRate::from_mbps(spec.peak_mbps), spec.burst_bytes),
            channel: BitRate::from_mbps(channel_mbps),
            sending: None,
            sent_at: Time::NEVER,
        }
    }

    /// Takes a packet from a server.
    #[inline]
    pub fn accept(&mut self, now: Time, packet: Packet, ledger: &mut Ledger) {
        let outlet = self.outlet(now);
        self.queue.enqueue(now, packet, &outlet, ledger);
        if self.sending.is_none() {
            self.start_next(now, ledger);
        }
    }

    /// When it wants to be woken next.
    #[inline]
    pub fn next_wake(&self) -> Time {
        self.sent_at.min(self.queue.next_update())
    }

    /// Does one thing that is due, and gives the packet whose last byte has been sent, if that was
    /// it. At equal times: the end of a packet, then the queue's law.
    pub fn wake(&mut self, now: Time, ledger: &mut Ledger) -> Option<Packet> {
        if self.sent_at <= now {
            let sent = self.sending.take();
            self.start_next(now, ledger);
            return sent;
        }
        let outlet = self.outlet(now);
        self.queue.update(now, &outlet);
        None
    }

    fn start_next(&mut self, now: Time, ledger: &mut Ledger) {
        self.sending = self.queue.dequeue(now, ledger);
        self.sent_at = match &self.sending {
            None => Time::NEVER,
            Some(packet) => {
                let size = u64::from(packet.size);
                let start = self.shaper.ready_at(now, size);
                self.shaper.take(start, size);
                start + self.channel.time_for(size)
            }
        };
    }

    fn outlet(&self, now: Time) -> Outlet {
        Outlet {
            tokens: self.shaper.sustained.tokens(now),
            sustained: self.shaper.sustained.rate(),
            peak: self.shaper.peak.rate(),
            buffer_bytes: self.queue.buffer_bytes(),
        }
    }

    /// Packets and bytes held.
    pub fn inside(&self) -> Count {
        let waiting = self.queue.backlog();
        let sending = self.sending.iter();
        sending.fold(Count { packets: waiting.packets, bytes: waiting.bytes }, |sum, packet| Count {
            packets: sum.packets + 1,
            bytes: sum.bytes + u64::from(packet.size),
        })
    }

    /// What was measured of the queue.
    pub fn meter(&self) -> &QueueMeter {
        self.queue.meter()
    }

    /// Samples the queue for its series.
    pub fn sample(&mut self) {
        self.queue.sample();
    }
}
