//! Request, grant and fragmentation in an upstream service flow: its waiting, requested and granted
//! bytes, and what it is sending.
//!
//! Packets are fragmented across grants. A packet leaves the queue when its first byte is sent, and
//! is delivered with its last byte.

use std::collections::VecDeque;

use super::probe::Probe;
use crate::count::Count;
use crate::metrics::Ledger;
use crate::metrics::modem_trace::ModemEventKind as Kind;
use crate::packet::Packet;
use crate::queue::Queue;
use crate::units::Time;

/// A packet being sent; earlier grants may have carried some of its bytes.
struct Fragment {
    packet: Packet,
    sent: u64,
}

/// Counters of the MAC, named after the modem's management information.
#[derive(Clone, Copy, Debug, Default)]
pub struct MacCounters {
    /// Requests, including collided ones.
    pub requests: u64,
    /// Requests that the CMTS did not hear, because another modem sent one at the same time.
    pub collisions: u64,
    /// Grants.
    pub grants: u64,
    /// Bytes granted.
    pub granted_bytes: u64,
    /// Bytes granted but not used: the queue manager had dropped the packets, or, on a shared
    /// channel, the sustained rate did not let them pass.
    pub unused_bytes: u64,
}

impl MacCounters {
    /// The sum of two sets of counters.
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

/// Waiting bytes, including the rest of a fragment.
pub(super) struct Waiting {
    /// Bytes of packets.
    pub payload: u64,
    /// Bytes with overhead, as they count on the channel.
    pub on_channel: u64,
}

/// What ends with a piece.
pub(super) enum PieceEnd {
    /// Nothing: no bytes were being sent.
    Nothing,
    /// This many bytes of a packet, of which more are to come.
    Piece(u64),
    /// The packet.
    Packet(Packet),
}

/// The sending side of a service flow.
pub(super) struct RequestGrant {
    pub queue: Queue,
    /// Bytes that a packet takes on the channel in addition to its own.
    overhead: u64,
    /// Requested and known to the CMTS; the next MAP grants what it can of it.
    at_cmts: u64,
    /// Requested bytes that the next MAP cannot grant, and the first MAP that can.
    under_way: VecDeque<(Time, u64)>,
    under_way_bytes: u64,
    /// Bytes granted and not yet used.
    pub granted: u64,
    /// Bytes granted on a shared channel in grants that have not begun.
    ahead: u64,
    fragment: Option<Fragment>,
    /// Bytes of the fragment being sent now.
    piece: u64,
    /// Time in the queue of the last packet to leave it.
    pub last_sojourn: Time,
    pub counters: MacCounters,
}

impl RequestGrant {
    /// A flow with nothing waiting, requested or granted.
    pub fn new(queue: Queue, overhead: u64) -> Self {
        Self {
            queue,
            overhead,
            at_cmts: 0,
            under_way: VecDeque::new(),
            under_way_bytes: 0,
            granted: 0,
            ahead: 0,
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

    /// Requested bytes that the CMTS knows of and has not granted.
    #[inline]
    pub fn at_cmts(&self) -> u64 {
        self.at_cmts
    }

    /// Bytes requested and not yet used.
    #[inline]
    pub fn requested(&self) -> u64 {
        self.at_cmts + self.under_way_bytes + self.granted + self.ahead
    }

    /// Waiting bytes on the channel that have not been requested.
    #[inline]
    pub fn unrequested(&self) -> u64 {
        self.waiting().on_channel.saturating_sub(self.requested())
    }

    /// Is nothing waiting, requested or granted?
    pub fn is_idle(&self) -> bool {
        self.queue.backlog().packets == 0 && self.fragment.is_none() && self.requested() == 0
    }

    /// Requests `bytes`, which MAPs can grant from `granted_from` on.
    #[inline]
    pub fn request(&mut self, bytes: u64, granted_from: Time) {
        self.under_way.push_back((granted_from, bytes));
        self.under_way_bytes += bytes;
        self.counters.requests += 1;
    }

    /// The CMTS now knows of the requests that the MAP at `map` can grant.
    #[inline]
    pub fn requests_arrive(&mut self, map: Time) {
        while let Some((_, bytes)) = self.under_way.pop_front_if(|(from, _)| *from <= map) {
            self.under_way_bytes -= bytes;
            self.at_cmts += bytes;
        }
    }

    /// The CMTS grants `bytes` of the request. The modem may use them once the grant begins.
    #[inline]
    pub fn grant(&mut self, bytes: u64) {
        self.at_cmts -= bytes;
        if bytes > 0 {
            self.counters.grants += 1;
            self.counters.granted_bytes += bytes;
        }
    }

    /// The CMTS grants `bytes` of the request, in grants that begin later.
    #[inline]
    pub fn grant_ahead(&mut self, bytes: u64) {
        self.grant(bytes);
        self.ahead += bytes;
    }

    /// The CMTS takes back what it granted ahead and could not place.
    pub fn take_back(&mut self, bytes: u64) {
        self.ahead -= bytes;
        self.at_cmts += bytes;
        self.counters.granted_bytes -= bytes;
    }

    /// A grant of `bytes` begins that was granted ahead.
    #[inline]
    pub fn begin_grant(&mut self, bytes: u64) {
        self.ahead -= bytes;
        self.granted += bytes;
    }

    /// A grant of `bytes` begins that was not requested.
    pub fn begin_unsolicited(&mut self, bytes: u64) {
        self.granted += bytes;
        self.counters.grants += 1;
        self.counters.granted_bytes += bytes;
    }

    /// Does anything wait?
    pub fn has_waiting(&self) -> bool {
        self.queue.backlog().packets > 0 || self.fragment.is_some()
    }

    /// Bytes of the current packet that fit into the grant, or `None` if nothing waits. Takes the
    /// next packet from the queue if there is no current one.
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

    /// How many of the next `bytes` of the current packet are payload, not overhead.
    #[inline]
    pub fn payload_of(&self, bytes: u64) -> u64 {
        let sent = self.fragment.as_ref().map_or(0, |fragment| fragment.sent);
        (sent + bytes).saturating_sub(self.overhead.max(sent))
    }

    /// Starts sending `bytes` of the current packet.
    #[inline]
    pub fn begin_piece(&mut self, now: Time, bytes: u64, probe: Probe, ledger: &mut Ledger) {
        probe.note(ledger, now, Kind::Piece, bytes);
        self.piece = bytes;
        self.granted -= bytes;
    }

    /// The rest of the grant stays unused.
    pub fn waste_grant(&mut self, now: Time, probe: Probe, ledger: &mut Ledger) {
        probe.note(ledger, now, Kind::Unused, self.granted);
        self.counters.unused_bytes += std::mem::take(&mut self.granted);
    }

    /// Ends the piece being sent.
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

    /// Removes the next packet to be sent.
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
