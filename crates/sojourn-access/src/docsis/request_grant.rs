//! Request, grant and fragmentation in an upstream service flow: its waiting, requested and granted
//! bytes, and what it is sending.
//!
//! An aggregate's low-latency and classic flow are kept here together: what is requested, granted and
//! sent of the low-latency flow is also counted apart, and each flow has its own fragment.
//!
//! Packets are fragmented across grants. A packet leaves the queue when its first byte is sent, and
//! is delivered with its last byte.

use std::collections::VecDeque;
use std::ops::Add as _;

use super::grant_split::{Shares, split};
use super::probe::Probe;
use sojourn_engine::count::Count;
use sojourn_engine::packet::Packet;
use sojourn_engine::queue::Queue;
use sojourn_engine::record::ModemEventKind as Kind;
use sojourn_engine::record::Recorder;
use sojourn_engine::units::Time;

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
    /// Those of them that were granted proactively.
    pub unused_proactive_bytes: u64,
}

impl MacCounters {
    /// The sum of two sets of counters.
    pub fn plus(self, other: Self) -> Self {
        self.each(other, u64::add)
    }

    /// What came since they were as `earlier`. Bytes that were granted before may be taken back.
    pub fn since(self, earlier: Self) -> Self {
        self.each(earlier, u64::saturating_sub)
    }

    fn each(self, other: Self, of: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            requests: of(self.requests, other.requests),
            collisions: of(self.collisions, other.collisions),
            grants: of(self.grants, other.grants),
            granted_bytes: of(self.granted_bytes, other.granted_bytes),
            unused_bytes: of(self.unused_bytes, other.unused_bytes),
            unused_proactive_bytes: of(self.unused_proactive_bytes, other.unused_proactive_bytes),
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
    /// The packet, which is to be taken out.
    Packet,
}

/// Which flows of an aggregate request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// Both.
    Both,
    /// Those with a grant, on which the request is piggybacked.
    Granted,
    /// Those without one in this MAP.
    Ungranted,
    /// The low-latency flow, which has a grant or a poll of its own.
    Low,
    /// The classic flow.
    Classic,
}

/// The part of an aggregate's low-latency flow in the sums of its [`RequestGrant`].
#[derive(Default)]
struct LowPart {
    at_cmts: u64,
    under_way_bytes: u64,
    granted: u64,
    /// Granted on a shared channel in grants that have not begun.
    ahead: u64,
    /// How many of the granted bytes nobody requested.
    proactive: u64,
    /// Bytes that are granted unasked in a MAP interval, if any are: the flow then requests in these
    /// grants, and in polls.
    proactive_per_map: Option<u64>,
    fragment: Option<Fragment>,
    /// Is it sending, and not the classic flow?
    sends: bool,
}

/// A request on its way to the CMTS.
struct Request {
    /// The first MAP that can grant it.
    granted_from: Time,
    bytes: u64,
    /// How many of them are the low-latency flow's.
    low: u64,
}

/// The sending side of a service flow.
pub(super) struct RequestGrant {
    pub queue: Queue,
    /// Bytes that a packet takes on the channel in addition to its own.
    overhead: u64,
    /// Requested and known to the CMTS; the next MAP grants what it can of it.
    at_cmts: u64,
    /// Requested bytes that the next MAP cannot grant.
    under_way: VecDeque<Request>,
    under_way_bytes: u64,
    /// Bytes granted and not yet used.
    pub granted: u64,
    /// Bytes granted on a shared channel in grants that have not begun.
    ahead: u64,
    /// Requested and granted bytes that were not used and whose tokens have not come back.
    unused: u64,
    fragment: Option<Fragment>,
    /// Share of the low-latency flow if this is an aggregate.
    low_weight: Option<f64>,
    low: LowPart,
    /// Bytes of the fragment being sent now.
    piece: u64,
    /// Time in the queue of the last packet to leave it.
    pub last_sojourn: Time,
    pub counters: MacCounters,
}

impl RequestGrant {
    /// A flow with nothing waiting, requested or granted.
    pub(super) fn new(queue: Queue, overhead: u64) -> Self {
        Self {
            low_weight: queue.low_latency_weight(),
            low: LowPart::default(),
            queue,
            overhead,
            at_cmts: 0,
            under_way: VecDeque::new(),
            under_way_bytes: 0,
            granted: 0,
            ahead: 0,
            unused: 0,
            fragment: None,
            piece: 0,
            last_sojourn: Time::ZERO,
            counters: MacCounters::default(),
        }
    }

    /// Is it the low-latency and the classic flow of an aggregate?
    #[inline]
    pub(super) fn is_aggregate(&self) -> bool {
        self.low_weight.is_some()
    }

    /// Bytes that wait.
    #[inline]
    pub(super) fn waiting(&self) -> Waiting {
        let mut waiting = self.waiting_of(self.queue.backlog(), self.fragment.as_ref(), false);
        if let Some(fragment) = &self.low.fragment {
            let low = self.waiting_of(Count::default(), Some(fragment), true);
            waiting.payload += low.payload;
            waiting.on_channel += low.on_channel;
        }
        waiting
    }

    #[inline]
    fn waiting_of(&self, backlog: Count, fragment: Option<&Fragment>, low: bool) -> Waiting {
        let Count { packets, bytes } = backlog;
        let mut waiting = Waiting { payload: bytes, on_channel: bytes + self.overhead * packets };
        if let Some(fragment) = fragment {
            let size = u64::from(fragment.packet.size);
            let piece = if low == self.low.sends { self.piece } else { 0 };
            let sent = fragment.sent + piece;
            waiting.payload += size - sent.saturating_sub(self.overhead);
            waiting.on_channel += size + self.overhead - sent;
        }
        waiting
    }

    /// Requested bytes that the CMTS knows of and has not granted.
    #[inline]
    pub(super) fn at_cmts(&self) -> u64 {
        self.at_cmts
    }

    /// Those of an aggregate's low-latency flow.
    pub(super) fn low_at_cmts(&self) -> u64 {
        self.low.at_cmts
    }

    /// Bytes requested and not yet used.
    #[inline]
    pub(super) fn requested(&self) -> u64 {
        self.at_cmts + self.under_way_bytes + self.granted + self.ahead
    }

    /// Waiting bytes on the channel that have not been requested.
    #[inline]
    pub(super) fn unrequested(&self) -> u64 {
        if self.is_aggregate() {
            return self.unrequested_of_both().total();
        }
        self.waiting().on_channel.saturating_sub(self.requested())
    }

    /// The same for both flows of an aggregate.
    fn unrequested_of_both(&self) -> Shares {
        let low = self.queue.low_latency_backlog();
        let waiting_low = self.waiting_of(low, self.low.fragment.as_ref(), true).on_channel;
        let waiting_classic = self.waiting().on_channel - waiting_low;
        let requested_low = self.requested_low();
        Shares {
            low: waiting_low.saturating_sub(requested_low),
            classic: waiting_classic.saturating_sub(self.requested() - requested_low),
        }
    }

    #[inline]
    fn requested_low(&self) -> u64 {
        self.low.at_cmts + self.low.under_way_bytes + self.low.granted + self.low.ahead
    }

    /// Bytes granted to both flows and not yet used.
    #[inline]
    fn granted_to_both(&self) -> Shares {
        Shares { low: self.low.granted, classic: self.granted - self.low.granted }
    }

    /// Which flows of an aggregate have no grant, neither a requested one nor proactive ones.
    pub(super) fn ungranted(&self) -> Option<By> {
        let Shares { low, classic } = self.granted_to_both();
        let low_is_granted = low > 0 || self.grants_proactively();
        match (low_is_granted, classic > 0) {
            (true, true) => None,
            (false, true) => Some(By::Low),
            (true, false) => Some(By::Classic),
            (false, false) => Some(By::Both),
        }
    }

    /// Waiting bytes that these flows of an aggregate have not requested.
    pub(super) fn unrequested_by(&self, by: By) -> Shares {
        let all = self.unrequested_of_both();
        let granted = self.granted_to_both();
        let ahead = Shares { low: self.low.ahead, classic: self.ahead - self.low.ahead };
        let (low, classic) = match by {
            By::Both => (true, true),
            By::Granted => (granted.low > 0, granted.classic > 0),
            By::Ungranted => (granted.low + ahead.low == 0, granted.classic + ahead.classic == 0),
            By::Low => (true, false),
            By::Classic => (false, true),
        };
        let low = low && (by == By::Low || !self.grants_proactively());
        Shares {
            low: if low { all.low } else { 0 },
            classic: if classic { all.classic } else { 0 },
        }
    }

    /// Sets what a MAP interval brings the low-latency flow unasked.
    pub(super) fn set_proactive(&mut self, bytes_per_map: Option<u64>) {
        self.low.proactive_per_map = bytes_per_map;
    }

    /// Does the low-latency flow get grants unasked?
    pub(super) fn grants_proactively(&self) -> bool {
        self.low.proactive_per_map.is_some()
    }

    /// Bytes that the low-latency flow is granted unasked in a MAP interval.
    pub(super) fn unasked_per_map(&self) -> u64 {
        self.low.proactive_per_map.unwrap_or(0)
    }

    /// How many of these bytes, which are to be sent, nobody requested.
    #[inline]
    pub(super) fn proactive_part(&self, piece: u64) -> u64 {
        if self.low.sends { piece.min(self.low.proactive) } else { 0 }
    }

    /// Requested and granted bytes that were not used since this was last called.
    pub(super) fn take_unused(&mut self) -> u64 {
        std::mem::take(&mut self.unused)
    }

    /// Is a piece being sent?
    #[inline]
    pub(super) fn is_sending(&self) -> bool {
        self.piece > 0
    }

    /// Is nothing waiting, requested or granted?
    pub(super) fn is_idle(&self) -> bool {
        self.queue.backlog().packets == 0
            && self.fragment.is_none()
            && self.low.fragment.is_none()
            && self.requested() == 0
    }

    /// Has the current MAP a grant for it that has not ended?
    pub(super) fn has_grant(&self) -> bool {
        self.granted + self.ahead > 0
    }

    /// Requests `bytes`, which MAPs can grant from `granted_from` on.
    #[inline]
    pub(super) fn request(&mut self, bytes: u64, granted_from: Time) {
        self.request_shares(Shares { low: 0, classic: bytes }, granted_from);
    }

    /// How `bytes` are divided between what both flows of an aggregate want.
    pub(super) fn shares(&self, bytes: u64, wanted: Shares) -> Shares {
        split(bytes, wanted, 0, self.low_weight.unwrap_or(0.0))
    }

    /// Requests for both flows of an aggregate.
    #[inline]
    pub(super) fn request_shares(&mut self, shares: Shares, granted_from: Time) {
        let (bytes, low) = (shares.total(), shares.low);
        self.under_way.push_back(Request { granted_from, bytes, low });
        self.under_way_bytes += bytes;
        self.low.under_way_bytes += low;
        self.counters.requests += 1;
    }

    /// The CMTS now knows of the requests that the MAP at `map` can grant.
    #[inline]
    pub(super) fn requests_arrive(&mut self, map: Time) {
        while let Some(request) = self.under_way.pop_front_if(|request| request.granted_from <= map)
        {
            self.under_way_bytes -= request.bytes;
            self.at_cmts += request.bytes;
            self.low.under_way_bytes -= request.low;
            self.low.at_cmts += request.low;
        }
    }

    /// The CMTS grants `bytes` of the request. The modem may use them once the grant begins; an
    /// aggregate's low-latency flow has its share at once.
    #[inline]
    pub(super) fn grant(&mut self, bytes: u64) {
        self.low.granted += self.take_request(bytes);
    }

    /// The CMTS grants `bytes` of the request. Returns the share of an aggregate's low-latency flow.
    #[inline]
    fn take_request(&mut self, bytes: u64) -> u64 {
        let low = self.low_weight.map_or(0, |weight| self.low_share(bytes, weight));
        self.low.at_cmts -= low;
        self.at_cmts -= bytes;
        if bytes > 0 {
            self.counters.grants += 1;
            self.counters.granted_bytes += bytes;
        }
        low
    }

    /// The low-latency flow's share of granted bytes. What it gets unasked counts in its weight.
    fn low_share(&self, bytes: u64, weight: f64) -> u64 {
        let unasked = self.unasked_per_map();
        let low = self.low.at_cmts;
        let need = Shares { low: low + unasked, classic: self.at_cmts - low };
        let share = split(bytes + unasked, need, unasked, weight).low - unasked;
        // Nothing of the grant is left over.
        share.max(bytes.saturating_sub(need.classic))
    }

    /// The CMTS grants `bytes` of the request, in grants that begin later.
    #[inline]
    pub(super) fn grant_ahead(&mut self, bytes: u64) {
        self.low.ahead += self.take_request(bytes);
        self.ahead += bytes;
    }

    /// The CMTS takes back what it granted ahead and could not place.
    pub(super) fn take_back(&mut self, bytes: u64) {
        let low = bytes.saturating_sub(self.ahead - self.low.ahead);
        self.low.ahead -= low;
        self.low.at_cmts += low;
        self.ahead -= bytes;
        self.at_cmts += bytes;
        self.counters.granted_bytes -= bytes;
    }

    /// A grant of `bytes` begins that was granted ahead.
    #[inline]
    pub(super) fn begin_grant(&mut self, bytes: u64) {
        let low = self.low.ahead.min(bytes);
        self.low.ahead -= low;
        self.low.granted += low;
        self.ahead -= bytes;
        self.granted += bytes;
    }

    /// A grant of `bytes` begins that was not requested. An aggregate's is its low-latency flow's.
    pub(super) fn begin_unsolicited(&mut self, bytes: u64) {
        if self.is_aggregate() {
            self.low.granted += bytes;
            self.low.proactive += bytes;
        }
        self.granted += bytes;
        self.counters.grants += 1;
        self.counters.granted_bytes += bytes;
    }

    /// Does anything wait that may be sent in an unsolicited grant?
    pub(super) fn waits_for_unsolicited(&self) -> bool {
        if self.is_aggregate() {
            return self.queue.low_latency_backlog().packets > 0 || self.low.fragment.is_some();
        }
        self.queue.backlog().packets > 0 || self.fragment.is_some()
    }

    /// Bytes of the current packet that fit into the grant, or `None` if nothing waits. Takes the
    /// next packet from the queue if there is no current one. An aggregate's low-latency flow sends
    /// first.
    #[inline(always)]
    pub(super) fn sendable(
        &mut self,
        now: Time,
        probe: Probe,
        recorder: &mut Recorder,
    ) -> Option<u64> {
        if self.is_aggregate() {
            return self.sendable_of_aggregate(now, probe, recorder);
        }
        if self.fragment.is_none() {
            let next = self.queue.dequeue(now, recorder);
            self.fragment = next.map(|packet| Fragment { packet, sent: 0 });
            let Fragment { packet, .. } = self.fragment.as_ref()?;
            self.last_sojourn = now.since(packet.queued_at);
            probe.packet(recorder, now, Kind::Dequeue, packet);
        }
        let Fragment { packet, sent } = self.fragment.as_ref()?;
        Some((self.overhead + u64::from(packet.size) - sent).min(self.granted))
    }

    fn sendable_of_aggregate(
        &mut self,
        now: Time,
        probe: Probe,
        recorder: &mut Recorder,
    ) -> Option<u64> {
        if self.low.granted > 0 {
            let left = self.left_of_member(true, now, probe, recorder);
            if let Some(left) = left {
                return Some(left.min(self.low.granted));
            }
            self.waste_grant_of_low(now, probe, recorder);
        }
        if self.granted == 0 {
            return None;
        }
        Some(self.left_of_member(false, now, probe, recorder)?.min(self.granted))
    }

    /// The low-latency flow has nothing to send in what is left of its grant.
    fn waste_grant_of_low(&mut self, now: Time, probe: Probe, recorder: &mut Recorder) {
        let unused = std::mem::take(&mut self.low.granted);
        self.granted -= unused;
        self.counters.unused_bytes += unused;
        let proactive = std::mem::take(&mut self.low.proactive);
        self.counters.unused_proactive_bytes += proactive;
        self.unused += unused - proactive;
        probe.note(recorder, now, Kind::Unused, unused);
    }

    /// Bytes left of the current packet of a member, which sends next. Takes its next packet if there
    /// is no current one.
    fn left_of_member(
        &mut self,
        low: bool,
        now: Time,
        probe: Probe,
        recorder: &mut Recorder,
    ) -> Option<u64> {
        self.low.sends = low;
        if self.current().is_none() {
            let packet = self.queue.dequeue_member(low, now, recorder)?;
            self.last_sojourn = now.since(packet.queued_at);
            probe.packet(recorder, now, Kind::Dequeue, &packet);
            *self.current() = Some(Fragment { packet, sent: 0 });
        }
        let overhead = self.overhead;
        self.current()
            .as_ref()
            .map(|Fragment { packet, sent }| overhead + u64::from(packet.size) - sent)
    }

    /// The fragment of the flow that sends.
    #[inline]
    fn current(&mut self) -> &mut Option<Fragment> {
        if self.low.sends { &mut self.low.fragment } else { &mut self.fragment }
    }

    /// How many of the next `bytes` of the current packet are payload, not overhead.
    #[inline]
    pub(super) fn payload_of(&self, bytes: u64) -> u64 {
        let current = if self.low.sends { &self.low.fragment } else { &self.fragment };
        let sent = current.as_ref().map_or(0, |fragment| fragment.sent);
        (sent + bytes).saturating_sub(self.overhead.max(sent))
    }

    /// Starts sending `bytes` of the current packet.
    #[inline]
    pub(super) fn begin_piece(
        &mut self,
        now: Time,
        bytes: u64,
        probe: Probe,
        recorder: &mut Recorder,
    ) {
        probe.note(recorder, now, Kind::Piece, bytes);
        self.piece = bytes;
        self.granted -= bytes;
        if self.low.sends {
            self.low.granted -= bytes;
            self.low.proactive = self.low.proactive.saturating_sub(bytes);
        }
    }

    /// The rest of the grant stays unused.
    pub(super) fn waste_grant(&mut self, now: Time, probe: Probe, recorder: &mut Recorder) {
        if self.low.granted > 0 {
            self.waste_grant_of_low(now, probe, recorder);
        }
        if self.granted > 0 {
            probe.note(recorder, now, Kind::Unused, self.granted);
            self.unused += self.granted;
            self.counters.unused_bytes += std::mem::take(&mut self.granted);
        }
    }

    /// Ends the piece being sent.
    #[inline]
    pub(super) fn end_piece(&mut self) -> PieceEnd {
        let piece = std::mem::take(&mut self.piece);
        let overhead = self.overhead;
        let current = self.current();
        let Some(fragment) = current else { return PieceEnd::Nothing };
        fragment.sent += piece;
        if fragment.sent < overhead + u64::from(fragment.packet.size) {
            return if piece > 0 { PieceEnd::Piece(piece) } else { PieceEnd::Nothing };
        }
        PieceEnd::Packet
    }

    /// Takes out the packet whose last piece has ended.
    #[inline]
    pub(super) fn take_sent(&mut self) -> Option<Packet> {
        self.current().take().map(|fragment| fragment.packet)
    }

    /// Removes the next packet to be sent, which is to be dropped.
    pub(super) fn discard_next(&mut self, now: Time, recorder: &mut Recorder) -> Option<Packet> {
        let next = self.low.fragment.take().or_else(|| self.fragment.take());
        let next = next.map(|fragment| fragment.packet);
        next.or_else(|| self.queue.discard(now, recorder))
    }

    /// Packets and bytes held.
    pub(super) fn inside(&self) -> Count {
        let fragments = [&self.fragment, &self.low.fragment].into_iter().flatten();
        fragments.fold(self.queue.backlog(), |sum, fragment| sum.plus(Count::of(&fragment.packet)))
    }
}
