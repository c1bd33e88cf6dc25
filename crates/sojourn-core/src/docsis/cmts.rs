//! The downstream channel at the CMTS: one queue manager for the service flows of all homes, and
//! behind it a channel or several that are bonded.
//!
//! A packet of a bonding group takes the channel that is free first, at that channel's rate, so that
//! as many packets are under way as there are channels; the modem puts them into order again (DOCSIS
//! MULPI §8.2.3).
//!
//! Left out: several bonding groups on the same channels; MAPs and other management messages, which
//! take some 0.1 Mbps; interleaving; codewords that a packet does not fill.

use crate::aqm::Outlet;
use crate::metrics::{Count, Ledger};
use crate::packet::Packet;
use crate::queue::{FlowTable, Queue, default_limit_bytes};
use crate::scenario::Scenario;
use crate::scenario::cmts;
use crate::units::{BitRate, Time};

/// What its queue is called in results.
const NAME: &str = "cmts";

/// A queue manager and the channel that all homes share.
pub struct Cmts {
    queue: Queue,
    /// Rate of each channel.
    channel: BitRate,
    /// Bytes of each packet on the channel besides its size.
    framing_bytes: u64,
    /// Until when each channel sends a packet.
    busy_until: Vec<Time>,
    /// When the last byte of the last packet for each home leaves.
    last_to: Vec<Time>,
    outlet: Outlet,
}

impl Cmts {
    /// The CMTS of a scenario. Nothing waits.
    pub fn new(spec: &cmts::Cmts, scenario: &Scenario) -> Self {
        let channel = BitRate::from_mbps(spec.channel.rate_mbps());
        let channels = spec.channel.count();
        let rate = BitRate::from_bps(channel.bps() * u64::from(channels));
        let buffer_bytes = default_limit_bytes(rate);
        let Scenario { dialect, seed, .. } = *scenario;
        let mut queue = Queue::new(&spec.queue, buffer_bytes, dialect, NAME, seed);
        let names: Vec<&str> = scenario.traffic.keys().map(String::as_str).collect();
        let flows = FlowTable::of_homes(spec.unit, &scenario.downstream_weights());
        queue.tell_apart(&flows, &names, scenario.metrics.watch_flows as usize);
        let buffer_bytes = queue.buffer_bytes();
        Self {
            queue,
            channel,
            framing_bytes: spec.framing_bytes(),
            busy_until: vec![Time::ZERO; channels as usize],
            last_to: vec![Time::ZERO; scenario.homes_in_all()],
            outlet: Outlet { tokens: 0.0, sustained: rate, peak: rate, buffer_bytes },
        }
    }

    /// Takes a packet; gives the packet that is sent at once, if a channel is free, and when its last
    /// byte leaves.
    #[inline]
    pub fn accept(
        &mut self,
        now: Time,
        packet: Packet,
        ledger: &mut Ledger,
    ) -> Option<(Time, Packet)> {
        self.queue.enqueue(now, packet, &self.outlet, ledger);
        self.send_next(now, ledger)
    }

    /// When it wants to be woken next: when a channel is free, if a packet waits for it.
    #[inline]
    pub fn next_wake(&self) -> Time {
        let waits = self.queue.backlog().packets > 0;
        let free = if waits { self.free_channel().1 } else { Time::NEVER };
        free.min(self.queue.next_update())
    }

    /// Does what is due; gives the packet that is sent next, if there is one, and when its last byte
    /// leaves.
    pub fn wake(&mut self, now: Time, ledger: &mut Ledger) -> Option<(Time, Packet)> {
        if self.queue.next_update() <= now {
            self.queue.update(now, &self.outlet);
        }
        self.send_next(now, ledger)
    }

    fn send_next(&mut self, now: Time, ledger: &mut Ledger) -> Option<(Time, Packet)> {
        let (channel, free_at) = self.free_channel();
        if now < free_at {
            return None;
        }
        let packet = self.queue.dequeue(now, ledger)?;
        let sent_at = now + self.channel.time_for(u64::from(packet.size) + self.framing_bytes);
        self.busy_until[channel] = sent_at;
        // In order: behind a longer one that is still under way on another channel.
        let last = &mut self.last_to[usize::from(packet.home)];
        *last = sent_at.max(*last);
        Some((*last, packet))
    }

    /// The channel that is free first, and when.
    #[inline]
    fn free_channel(&self) -> (usize, Time) {
        let channels = self.busy_until.iter().copied().enumerate();
        channels.min_by_key(|(_, until)| *until).expect("there is a channel")
    }

    /// Packets and bytes that wait; those being sent are with the next stage already.
    pub fn inside(&self) -> Count {
        let waiting = self.queue.backlog();
        Count { packets: waiting.packets, bytes: waiting.bytes }
    }

    /// The queue, for what was measured of it.
    pub fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Samples the queue for its series.
    pub fn sample(&mut self) {
        self.queue.sample(|_| ());
    }
}
