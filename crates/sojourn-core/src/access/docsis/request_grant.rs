//! Request, grant and fragment: what an upstream service flow waits with, has requested, was granted
//! and is sending.
//!
//! Packets are fragmented across grants. A packet leaves the queue when its first byte is sent, and
//! is delivered with its last.

use super::probe::Probe;
use crate::count::Count;
use crate::metrics::Ledger;
use crate::metrics::modem_trace::ModemEventKind as Kind;
use crate::packet::Packet;
use crate::queue::Queue;
use crate::units::Time;

/// A packet on its way out, of which some bytes may have been sent in earlier grants.
struct Fragment {
    packet: Packet,
    sent: u64,
}

/// Counters of the MAC, named after the modem's management information.
#[derive(Clone, Copy, Debug, Default)]
pub struct MacCounters {
    /// Requests for more than nothing, collided ones included.
    pub requests: u64,
    /// Requests that the CMTS did not hear, as another modem sent one at the same time.
    pub collisions: u64,
    /// Grants that gave something.
    pub grants: u64,
    /// Bytes granted.
    pub granted_bytes: u64,
    /// Bytes granted and not used, because the queue manager had dropped what they were for, or, on
    /// a shared channel, because the sustained rate did not let them pass.
    pub unused_bytes: u64,
}

impl MacCounters {
    /// The sum of two.
    pub fn plus(self, other: Self) -> Self {
        Self {
            requests: self.requests + other.requests,
            collisions: self.collisions + other.collisions,
            grants: self.grants + other.grants,
            granted_bytes: self.granted_bytes + other.granted_bytes,
            unused_bytes: self.unused_bytes + other.unused_bytes,
        }
    }
}

/// Bytes that wait, what is left of a fragment included.
pub(super) struct Waiting {
    /// Those of packets.
    pub payload: u64,
    /// Those that they take on the channel.
    pub on_channel: u64,
}

/// What the end of a piece is the end of.
pub(super) enum PieceEnd {
    /// Nothing: no bytes were being sent.
    Nothing,
    /// So many bytes of a packet, of which more are to come.
    Piece(u64),
    /// A packet.
    Packet(Packet),
}

/// The sending side of a service flow.
pub(super) struct RequestGrant {
    pub queue: Queue,
    /// Bytes that a packet takes on the channel besides its own.
    overhead: u64,
    /// Requested and known to the CMTS: the next MAP grants of it what it can.
    at_cmts: u64,
    /// Requested since the last MAP.
    under_way: u64,
    /// Bytes granted and not yet used.
    pub granted: u64,
    fragment: Option<Fragment>,
    /// Bytes of the fragment being sent now.
    piece: u64,
    /// How long the packet that left the queue last was in it.
    pub last_sojourn: Time,
    pub counters: MacCounters,
}

impl RequestGrant {
    /// Nothing waits, is requested or granted.
    pub fn new(queue: Queue, overhead: u64) -> Self {
        Self {
            queue,
            overhead,
            at_cmts: 0,
            under_way: 0,
            granted: 0,
            fragment: None,
            piece: 0,
            last_sojourn: Time::ZERO,
            counters: MacCounters::default(),
        }
    }

    /// Bytes that wait.
    #[inline]
    pub fn waiting(&self) -> Waiting {
        let Count { packets, bytes } = self.queue.backlog();
        let mut waiting = Waiting { payload: bytes, on_channel: bytes + self.overhead * packets };
        if let Some(fragment) = &self.fragment {
            let size = u64::from(fragment.packet.size);
            let sent = fragment.sent + self.piece;
            waiting.payload += size - sent.saturating_sub(self.overhead);
            waiting.on_channel += size + self.overhead - sent;
        }
        waiting
    }

    /// Bytes requested that the CMTS knows of and has not granted.
    #[inline]
    pub fn at_cmts(&self) -> u64 {
        self.at_cmts
    }

    /// Bytes requested and not yet used.
    #[inline]
    pub fn requested(&self) -> u64 {
        self.at_cmts + self.under_way + self.granted
    }

    /// Bytes on the channel that wait and have not been requested.
    #[inline]
    pub fn unrequested(&self) -> u64 {
        self.waiting().on_channel.saturating_sub(self.requested())
    }

    /// Nothing waits, is requested or granted.
    pub fn is_idle(&self) -> bool {
        self.queue.backlog().packets == 0 && self.fragment.is_none() && self.requested() == 0
    }

    /// Requests bytes.
    #[inline]
    pub fn request(&mut self, bytes: u64) {
        self.under_way += bytes;
        self.counters.requests += 1;
    }

    /// What was requested since the last MAP is known to the CMTS from now on.
    #[inline]
    pub fn requests_arrive(&mut self) {
        self.at_cmts += std::mem::take(&mut self.under_way);
    }

    /// The CMTS grants so many of the bytes requested. They may be used when their time comes.
    #[inline]
    pub fn grant(&mut self, bytes: u64) {
        self.at_cmts -= bytes;
        if bytes > 0 {
            self.counters.grants += 1;
            self.counters.granted_bytes += bytes;
        }
    }

    /// Bytes of the packet at hand that fit into the grant; takes the next packet from the queue if
    /// there is none at hand. `None` if nothing waits.
    #[inline]
    pub fn sendable(&mut self, now: Time, probe: Probe, ledger: &mut Ledger) -> Option<u64> {
        if self.fragment.is_none() {
            let packet = self.queue.dequeue(now, ledger)?;
            self.last_sojourn = now.since(packet.queued_at);
            probe.packet(ledger, now, Kind::Dequeue, &packet);
            self.fragment = Some(Fragment { packet, sent: 0 });
        }
        let Fragment { packet, sent } = self.fragment.as_ref()?;
        Some((self.overhead + u64::from(packet.size) - sent).min(self.granted))
    }

    /// How many of the next `bytes` of the packet at hand are the packet's own.
    #[inline]
    pub fn payload_of(&self, bytes: u64) -> u64 {
        let sent = self.fragment.as_ref().map_or(0, |fragment| fragment.sent);
        (sent + bytes).saturating_sub(self.overhead.max(sent))
    }

    /// Begins to send so many bytes of the packet at hand.
    #[inline]
    pub fn begin_piece(&mut self, now: Time, bytes: u64, probe: Probe, ledger: &mut Ledger) {
        probe.note(ledger, now, Kind::Piece, bytes);
        self.piece = bytes;
        self.granted -= bytes;
    }

    /// What is granted stays unused.
    pub fn waste_grant(&mut self, now: Time, probe: Probe, ledger: &mut Ledger) {
        probe.note(ledger, now, Kind::Unused, self.granted);
        self.counters.unused_bytes += std::mem::take(&mut self.granted);
    }

    /// The piece being sent is over.
    #[inline]
    pub fn end_piece(&mut self) -> PieceEnd {
        let piece = std::mem::take(&mut self.piece);
        let Some(fragment) = &mut self.fragment else { return PieceEnd::Nothing };
        fragment.sent += piece;
        if fragment.sent < self.overhead + u64::from(fragment.packet.size) {
            return if piece > 0 { PieceEnd::Piece(piece) } else { PieceEnd::Nothing };
        }
        self.fragment.take().map_or(PieceEnd::Nothing, |sent| PieceEnd::Packet(sent.packet))
    }

    /// The packet that is next to be sent, taken out.
    pub fn discard_next(&mut self, now: Time, ledger: &mut Ledger) -> Option<Packet> {
        let next = self.fragment.take().map(|fragment| fragment.packet);
        next.or_else(|| self.queue.dequeue(now, ledger))
    }

    /// Packets and bytes held.
    pub fn inside(&self) -> Count {
        let fragment = self.fragment.as_ref().map(|fragment| Count::of(&fragment.packet));
        self.queue.backlog().plus(fragment.unwrap_or_default())
    }
}
