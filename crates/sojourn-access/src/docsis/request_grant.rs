//! Request, grant and fragmentation in an upstream service flow: its waiting, requested and granted
//! bytes, and what it is sending.
//!
//! An aggregate has two flows, low-latency and classic, each with its own requests, grants and fragment.
//! They request together, and what the CMTS grants is divided (grant_split.rs).
//!
//! Packets are fragmented across grants. A packet leaves the queue when its first byte is sent, and
//! is delivered with its last byte.

use std::collections::VecDeque;
use std::ops::Add as _;

use super::grant_split::{Shares, split};
use super::probe::Probe;
use sojourn_engine::count::Count;
use sojourn_engine::packet::Packet;
use sojourn_engine::queue::{LowLatency, Queue};
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

/// One of the two flows of an aggregate, or the flow that is none: its bytes from request to use, and what
/// it is sending.
#[derive(Default)]
struct Part {
    /// Requested and known to the CMTS; the next MAP grants what it can of it.
    at_cmts: u64,
    /// Requested bytes that the next MAP cannot grant.
    under_way: u64,
    /// Granted on a shared channel in grants that have not begun.
    ahead: u64,
    /// Granted and not yet used.
    granted: u64,
    /// How many of these nobody requested.
    proactive: u64,
    fragment: Option<Fragment>,
}

impl Part {
    /// Bytes requested and not yet used.
    #[inline]
    fn requested(&self) -> u64 {
        self.at_cmts + self.under_way + self.granted + self.ahead
    }

    /// This much of its queue waits, and the rest of a fragment of which `piece` is being sent.
    #[inline]
    fn waiting(&self, backlog: Count, overhead: u64, piece: u64) -> Waiting {
        let Count { packets, bytes } = backlog;
        let mut waiting = Waiting { payload: bytes, on_channel: bytes + overhead * packets };
        if let Some(fragment) = &self.fragment {
            let size = u64::from(fragment.packet.size);
            let sent = fragment.sent + piece;
            waiting.payload += size - sent.saturating_sub(overhead);
            waiting.on_channel += size + overhead - sent;
        }
        waiting
    }
}

/// What makes two flows an aggregate.
struct Aggregate {
    /// Share of the low-latency flow.
    weight: f64,
    /// Bytes that the low-latency flow is granted unasked in a MAP interval, if any are: it then requests in
    /// these grants, and in polls.
    proactive_per_map: Option<u64>,
}

/// A request on its way to the CMTS.
struct Request {
    /// The first MAP that can grant it.
    granted_from: Time,
    bytes: Shares,
}

/// The sending side of a service flow.
pub(super) struct RequestGrant {
    pub queue: Queue,
    /// Bytes that a packet takes on the channel in addition to its own.
    overhead: u64,
    under_way: VecDeque<Request>,
    aggregate: Option<Aggregate>,
    /// The low-latency flow of an aggregate; otherwise nothing is ever in it.
    low: Part,
    /// The classic flow of an aggregate, or the only one.
    classic: Part,
    /// Is the low-latency flow sending?
    low_sends: bool,
    /// Bytes of the fragment being sent now.
    piece: u64,
    /// Requested and granted bytes that were not used and whose tokens have not come back.
    unused: u64,
    /// Time in the queue of the last packet to leave it.
    pub last_sojourn: Time,
    pub counters: MacCounters,
}

impl RequestGrant {
    /// A flow with nothing waiting, requested or granted.
    pub(super) fn new(queue: Queue, overhead: u64) -> Self {
        let weight = queue.aggregate().map(LowLatency::low_latency_weight);
        Self {
            aggregate: weight.map(|weight| Aggregate { weight, proactive_per_map: None }),
            low: Part::default(),
            classic: Part::default(),
            low_sends: false,
            queue,
            overhead,
            under_way: VecDeque::new(),
            piece: 0,
            unused: 0,
            last_sojourn: Time::ZERO,
            counters: MacCounters::default(),
        }
    }

    /// Is it the low-latency and the classic flow of an aggregate?
    #[inline]
    pub(super) fn is_aggregate(&self) -> bool {
        self.aggregate.is_some()
    }

    /// Bytes that wait.
    #[inline]
    pub(super) fn waiting(&self) -> Waiting {
        let mut waiting = self.waiting_of(self.queue.backlog(), false);
        if self.low.fragment.is_some() {
            let low = self.waiting_of(Count::default(), true);
            waiting.payload += low.payload;
            waiting.on_channel += low.on_channel;
        }
        waiting
    }

    #[inline]
    fn waiting_of(&self, backlog: Count, low: bool) -> Waiting {
        let part = if low { &self.low } else { &self.classic };
        let piece = if low == self.low_sends { self.piece } else { 0 };
        part.waiting(backlog, self.overhead, piece)
    }

    /// Requested bytes that the CMTS knows of and has not granted.
    #[inline]
    pub(super) fn at_cmts(&self) -> u64 {
        self.low.at_cmts + self.classic.at_cmts
    }

    /// Those of an aggregate's low-latency flow.
    pub(super) fn low_at_cmts(&self) -> u64 {
        self.low.at_cmts
    }

    /// Bytes requested and not yet used.
    #[inline]
    pub(super) fn requested(&self) -> u64 {
        self.low.requested() + self.classic.requested()
    }

    /// Bytes granted and not yet used.
    #[inline]
    pub(super) fn granted(&self) -> u64 {
        self.low.granted + self.classic.granted
    }

    /// Waiting bytes on the channel that have not been requested.
    #[inline]
    pub(super) fn unrequested(&self) -> u64 {
        if self.is_aggregate() {
            return self.unrequested_of_both().total();
        }
        self.waiting().on_channel.saturating_sub(self.requested())
    }

    /// What waits in the queue of an aggregate's low-latency flow.
    fn low_backlog(&self) -> Count {
        self.queue.aggregate().map_or(Count::default(), LowLatency::low_latency_backlog)
    }

    /// The same for both flows of an aggregate.
    fn unrequested_of_both(&self) -> Shares {
        let waiting_low = self.waiting_of(self.low_backlog(), true).on_channel;
        let waiting_classic = self.waiting().on_channel - waiting_low;
        Shares {
            low: waiting_low.saturating_sub(self.low.requested()),
            classic: waiting_classic.saturating_sub(self.classic.requested()),
        }
    }

    /// Which flows of an aggregate have no grant, neither a requested one nor proactive ones.
    pub(super) fn ungranted(&self) -> Option<By> {
        let low_is_granted = self.low.granted > 0 || self.grants_proactively();
        match (low_is_granted, self.classic.granted > 0) {
            (true, true) => None,
            (false, true) => Some(By::Low),
            (true, false) => Some(By::Classic),
            (false, false) => Some(By::Both),
        }
    }

    /// Waiting bytes that these flows of an aggregate have not requested.
    pub(super) fn unrequested_by(&self, by: By) -> Shares {
        let all = self.unrequested_of_both();
        let Self { low, classic, .. } = self;
        let (low, classic) = match by {
            By::Both => (true, true),
            By::Granted => (low.granted > 0, classic.granted > 0),
            By::Ungranted => (low.granted + low.ahead == 0, classic.granted + classic.ahead == 0),
            By::Low => (true, false),
            By::Classic => (false, true),
        };
        let low = low && (by == By::Low || !self.grants_proactively());
        Shares {
            low: if low { all.low } else { 0 },
            classic: if classic { all.classic } else { 0 },
        }
    }

    /// Sets what a MAP interval brings an aggregate's low-latency flow unasked.
    pub(super) fn set_proactive(&mut self, bytes_per_map: Option<u64>) {
        if let Some(aggregate) = &mut self.aggregate {
            aggregate.proactive_per_map = bytes_per_map;
        }
    }

    /// Does the low-latency flow get grants unasked?
    pub(super) fn grants_proactively(&self) -> bool {
        self.aggregate.as_ref().is_some_and(|of| of.proactive_per_map.is_some())
    }

    /// Bytes that the low-latency flow is granted unasked in a MAP interval.
    pub(super) fn unasked_per_map(&self) -> u64 {
        self.aggregate.as_ref().and_then(|of| of.proactive_per_map).unwrap_or(0)
    }

    /// How many of these bytes, which are to be sent, nobody requested.
    #[inline]
    pub(super) fn proactive_part(&self, piece: u64) -> u64 {
        if self.low_sends { piece.min(self.low.proactive) } else { 0 }
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
            && self.classic.fragment.is_none()
            && self.low.fragment.is_none()
            && self.requested() == 0
    }

    /// Has the current MAP a grant for it that has not ended?
    pub(super) fn has_grant(&self) -> bool {
        self.granted() + self.low.ahead + self.classic.ahead > 0
    }

    /// Requests `bytes`, which MAPs can grant from `granted_from` on.
    #[inline]
    pub(super) fn request(&mut self, bytes: u64, granted_from: Time) {
        self.request_shares(Shares { low: 0, classic: bytes }, granted_from);
    }

    /// How `bytes` are divided between what both flows of an aggregate want.
    pub(super) fn shares(&self, bytes: u64, wanted: Shares) -> Shares {
        split(bytes, wanted, 0, self.aggregate.as_ref().map_or(0.0, |of| of.weight))
    }

    /// Requests for both flows of an aggregate.
    #[inline]
    pub(super) fn request_shares(&mut self, bytes: Shares, granted_from: Time) {
        self.under_way.push_back(Request { granted_from, bytes });
        self.low.under_way += bytes.low;
        self.classic.under_way += bytes.classic;
        self.counters.requests += 1;
    }

    /// The CMTS now knows of the requests that the MAP at `map` can grant.
    #[inline]
    pub(super) fn requests_arrive(&mut self, map: Time) {
        while let Some(request) = self.under_way.pop_front_if(|request| request.granted_from <= map)
        {
            let Shares { low, classic } = request.bytes;
            self.low.under_way -= low;
            self.low.at_cmts += low;
            self.classic.under_way -= classic;
            self.classic.at_cmts += classic;
        }
    }

    /// The CMTS grants `bytes` of the request. Returns what each flow has of it.
    #[inline]
    pub(super) fn grant(&mut self, bytes: u64) -> Shares {
        let low = self.aggregate.as_ref().map_or(0, |of| self.low_share(bytes, of));
        let shares = Shares { low, classic: bytes - low };
        self.low.at_cmts -= low;
        self.classic.at_cmts -= shares.classic;
        if bytes > 0 {
            self.counters.grants += 1;
            self.counters.granted_bytes += bytes;
        }
        shares
    }

    /// The low-latency flow's share of granted bytes. What it gets unasked counts in its weight.
    fn low_share(&self, bytes: u64, aggregate: &Aggregate) -> u64 {
        let unasked = aggregate.proactive_per_map.unwrap_or(0);
        let need = Shares { low: self.low.at_cmts + unasked, classic: self.classic.at_cmts };
        // Nothing of the grant is left over, as it is part of the need.
        split(bytes + unasked, need, unasked, aggregate.weight).low - unasked
    }

    /// The modem may use what was granted.
    #[inline]
    pub(super) fn begin(&mut self, granted: Shares) {
        self.low.granted += granted.low;
        self.classic.granted += granted.classic;
    }

    /// The CMTS grants `bytes` of the request, in grants that begin later.
    #[inline]
    pub(super) fn grant_ahead(&mut self, bytes: u64) {
        let Shares { low, classic } = self.grant(bytes);
        self.low.ahead += low;
        self.classic.ahead += classic;
    }

    /// The CMTS takes back what it granted ahead and could not place.
    pub(super) fn take_back(&mut self, bytes: u64) {
        let classic = bytes.min(self.classic.ahead);
        let low = bytes - classic;
        self.low.ahead -= low;
        self.low.at_cmts += low;
        self.classic.ahead -= classic;
        self.classic.at_cmts += classic;
        self.counters.granted_bytes -= bytes;
    }

    /// A grant of `bytes` begins that was granted ahead, the low-latency flow's first.
    #[inline]
    pub(super) fn begin_grant(&mut self, bytes: u64) {
        let low = self.low.ahead.min(bytes);
        self.low.ahead -= low;
        self.classic.ahead -= bytes - low;
        self.begin(Shares { low, classic: bytes - low });
    }

    /// A grant of `bytes` begins that was not requested. An aggregate's is its low-latency flow's.
    pub(super) fn begin_unsolicited(&mut self, bytes: u64) {
        if self.is_aggregate() {
            self.low.granted += bytes;
            self.low.proactive += bytes;
        } else {
            self.classic.granted += bytes;
        }
        self.counters.grants += 1;
        self.counters.granted_bytes += bytes;
    }

    /// Does anything wait that may be sent in an unsolicited grant?
    pub(super) fn waits_for_unsolicited(&self) -> bool {
        if self.is_aggregate() {
            return self.low_backlog().packets > 0 || self.low.fragment.is_some();
        }
        self.queue.backlog().packets > 0 || self.classic.fragment.is_some()
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
        if self.classic.fragment.is_none() {
            let next = self.queue.dequeue(now, recorder);
            self.classic.fragment = next.map(|packet| Fragment { packet, sent: 0 });
            let Fragment { packet, .. } = self.classic.fragment.as_ref()?;
            self.last_sojourn = now.since(packet.queued_at);
            probe.packet(recorder, now, Kind::Dequeue, packet);
        }
        let Fragment { packet, sent } = self.classic.fragment.as_ref()?;
        Some((self.overhead + u64::from(packet.size) - sent).min(self.classic.granted))
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
            self.waste_grant_of(true, now, probe, recorder);
        }
        if self.classic.granted == 0 {
            return None;
        }
        Some(self.left_of_member(false, now, probe, recorder)?.min(self.classic.granted))
    }

    /// A flow uses nothing more of its grant.
    fn waste_grant_of(&mut self, low: bool, now: Time, probe: Probe, recorder: &mut Recorder) {
        let part = if low { &mut self.low } else { &mut self.classic };
        let unused = std::mem::take(&mut part.granted);
        let proactive = std::mem::take(&mut part.proactive);
        if unused > 0 {
            self.counters.unused_bytes += unused;
            self.counters.unused_proactive_bytes += proactive;
            self.unused += unused - proactive;
            probe.note(recorder, now, Kind::Unused, unused);
        }
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
        self.low_sends = low;
        if self.current().fragment.is_none() {
            let packet = self.queue.dequeue_member(low, now, recorder)?;
            self.last_sojourn = now.since(packet.queued_at);
            probe.packet(recorder, now, Kind::Dequeue, &packet);
            self.current().fragment = Some(Fragment { packet, sent: 0 });
        }
        let overhead = self.overhead;
        let current = self.current().fragment.as_ref();
        current.map(|Fragment { packet, sent }| overhead + u64::from(packet.size) - sent)
    }

    /// The flow that sends.
    #[inline]
    fn current(&mut self) -> &mut Part {
        if self.low_sends { &mut self.low } else { &mut self.classic }
    }

    /// Asks the queue for one more packet where a grant ends with the last one, as a link does that is free: schedulers
    /// and AQM algorithms learn from it that nothing waits. The lanes of an aggregate have nothing to learn.
    #[inline]
    pub(super) fn ask_empty(&mut self, now: Time, recorder: &mut Recorder) {
        let is_sent = self.classic.fragment.is_none() && self.queue.backlog().packets == 0;
        if is_sent && !self.is_aggregate() {
            self.queue.dequeue(now, recorder);
        }
    }

    /// How many of the next `bytes` of the current packet are payload, not overhead.
    #[inline]
    pub(super) fn payload_of(&self, bytes: u64) -> u64 {
        let current = if self.low_sends { &self.low } else { &self.classic };
        let sent = current.fragment.as_ref().map_or(0, |fragment| fragment.sent);
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
        let current = self.current();
        current.granted -= bytes;
        current.proactive = current.proactive.saturating_sub(bytes);
    }

    /// The rest of the grant stays unused.
    pub(super) fn waste_grant(&mut self, now: Time, probe: Probe, recorder: &mut Recorder) {
        self.waste_grant_of(true, now, probe, recorder);
        self.waste_grant_of(false, now, probe, recorder);
    }

    /// Ends the piece being sent.
    #[inline]
    pub(super) fn end_piece(&mut self) -> PieceEnd {
        let piece = std::mem::take(&mut self.piece);
        let overhead = self.overhead;
        let Some(fragment) = &mut self.current().fragment else { return PieceEnd::Nothing };
        fragment.sent += piece;
        if fragment.sent < overhead + u64::from(fragment.packet.size) {
            return if piece > 0 { PieceEnd::Piece(piece) } else { PieceEnd::Nothing };
        }
        PieceEnd::Packet
    }

    /// Takes out the packet whose last piece has ended.
    #[inline]
    pub(super) fn take_sent(&mut self) -> Option<Packet> {
        self.current().fragment.take().map(|fragment| fragment.packet)
    }

    /// Removes the next packet to be sent, which is to be dropped.
    pub(super) fn discard_next(&mut self, now: Time, recorder: &mut Recorder) -> Option<Packet> {
        let next = self.low.fragment.take().or_else(|| self.classic.fragment.take());
        let next = next.map(|fragment| fragment.packet);
        next.or_else(|| self.queue.discard(now, recorder))
    }

    /// Packets and bytes held.
    pub(super) fn inside(&self) -> Count {
        let fragments = [&self.classic.fragment, &self.low.fragment].into_iter().flatten();
        fragments.fold(self.queue.backlog(), |sum, fragment| sum.plus(Count::of(&fragment.packet)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_engine::aqm::DrainRate;
    use sojourn_engine::dialect::Dialect;
    use sojourn_engine::packet::Segment;
    use sojourn_engine::units::BitRate;

    const AGGREGATE: &str = "scheduler.kind = 'low_latency'";
    const MAP: Time = Time::from_ms(4);

    /// A flow whose packets take 10 B more on the channel.
    fn flow(keys: &str) -> RequestGrant {
        let spec = toml::from_str(keys).unwrap();
        RequestGrant::new(Queue::new(&spec, 1_000_000, Dialect::Rfc, "upstream", 1), 10)
    }

    /// A flow that has requested this much, which the CMTS knows.
    fn requesting(keys: &str, low: u64, classic: u64) -> RequestGrant {
        let mut flow = flow(keys);
        flow.request_shares(Shares { low, classic }, MAP);
        flow.requests_arrive(MAP);
        flow
    }

    fn put(flow: &mut RequestGrant, size: u16, dscp: u8) {
        let segment = Segment { dscp, ..Segment::default() };
        let packet = Packet { segment, tuple: 7, ..Packet::datagram(size) };
        let outlet = DrainRate::steady(BitRate::from_mbps(10.0), 1_000_000);
        flow.queue.enqueue(Time::ZERO, packet, &outlet, &mut Recorder::default());
    }

    /// Sends what fits: the pieces, and how the last one ends.
    fn sent(flow: &mut RequestGrant) -> (Vec<u64>, PieceEnd) {
        let (probe, mut recorder) = (Probe::default(), Recorder::default());
        let (mut pieces, mut end) = (Vec::new(), PieceEnd::Nothing);
        while let Some(bytes) = flow.sendable(MAP, probe, &mut recorder).filter(|bytes| *bytes > 0)
        {
            flow.begin_piece(MAP, bytes, probe, &mut recorder);
            pieces.push(bytes);
            end = flow.end_piece();
            if matches!(end, PieceEnd::Packet) {
                flow.take_sent();
            }
        }
        (pieces, end)
    }

    #[test]
    fn a_request_is_known_to_the_maps_that_can_grant_it() {
        let mut flow = flow("");
        flow.request(1000, MAP);
        flow.requests_arrive(Time::from_us(3999));
        assert_eq!((flow.at_cmts(), flow.requested()), (0, 1000));
        flow.requests_arrive(MAP);
        assert_eq!((flow.at_cmts(), flow.requested()), (1000, 1000));
        assert_eq!(flow.counters.requests, 1);
    }

    #[test]
    fn what_is_taken_back_of_a_grant_is_requested_again() {
        let mut flow = requesting("", 0, 1000);
        flow.grant_ahead(600);
        assert_eq!(
            (flow.at_cmts(), flow.classic.ahead, flow.counters.granted_bytes),
            (400, 600, 600)
        );
        flow.take_back(250);
        assert_eq!(
            (flow.at_cmts(), flow.classic.ahead, flow.counters.granted_bytes),
            (650, 350, 350)
        );
        assert!(flow.has_grant());
        flow.begin_grant(350);
        assert_eq!((flow.granted(), flow.classic.ahead, flow.requested()), (350, 0, 1000));
    }

    #[test]
    fn an_aggregate_gives_back_its_classic_grant_first() {
        // floor(10 000 * 230 / 256) = 8984 are the low-latency flow's.
        let mut flow = requesting(AGGREGATE, 20_000, 20_000);
        flow.grant_ahead(10_000);
        assert_eq!((flow.low.ahead, flow.classic.ahead), (8984, 1016));
        flow.take_back(1500);
        assert_eq!((flow.low.ahead, flow.classic.ahead), (8500, 0));
        assert_eq!((flow.low_at_cmts(), flow.classic.at_cmts), (11_500, 20_000));
        assert_eq!(flow.counters.granted_bytes, 8500);
        flow.begin_grant(8000);
        assert_eq!((flow.low.granted, flow.low.ahead, flow.classic.granted), (8000, 500, 0));
    }

    #[test]
    fn what_one_flow_of_an_aggregate_does_not_need_is_the_others() {
        let granted = |low, classic, unasked| {
            let mut flow = requesting(AGGREGATE, low, classic);
            flow.set_proactive(unasked);
            let of = flow.grant(10_000);
            assert_eq!(flow.at_cmts(), low + classic - 10_000);
            assert_eq!((flow.counters.grants, flow.counters.granted_bytes), (1, 10_000));
            (of.low, of.classic)
        };
        assert_eq!(granted(20_000, 20_000, None), (8984, 1016));
        assert_eq!(granted(20_000, 500, None), (9500, 500));
        assert_eq!(granted(300, 20_000, None), (300, 9700));
        // 657 B come unasked and count in the weight: floor(10 657 * 230 / 256) = 9574, of which 8917 are left to grant.
        assert_eq!(granted(20_000, 20_000, Some(657)), (8917, 1083));
        assert_eq!(granted(0, 20_000, Some(657)), (0, 10_000));
        assert_eq!(granted(20_000, 500, Some(657)), (9500, 500));
    }

    #[test]
    fn a_grant_of_nothing_is_none() {
        let mut flow = requesting("", 0, 1000);
        flow.grant(0);
        assert_eq!((flow.counters.grants, flow.at_cmts()), (0, 1000));
        assert_eq!((flow.unasked_per_map(), flow.proactive_part(9)), (0, 0));
    }

    #[test]
    fn a_packet_goes_in_the_pieces_of_its_grants() {
        let mut flow = flow("");
        put(&mut flow, 1500, 0);
        put(&mut flow, 100, 0);
        assert_eq!((flow.waiting().payload, flow.waiting().on_channel), (1600, 1620));
        assert_eq!(flow.unrequested(), 1620);
        flow.request(1000, MAP);
        assert_eq!(flow.unrequested(), 620);
        flow.requests_arrive(MAP);
        let granted = flow.grant(1000);
        flow.begin(granted);
        assert!(matches!(sent(&mut flow), (pieces, PieceEnd::Piece(1000)) if pieces == [1000]));
        // 1000 B carried its header of 10 and 990 of its own.
        assert_eq!((flow.waiting().payload, flow.waiting().on_channel), (610, 620));
        assert_eq!((flow.inside(), flow.granted()), (Count { packets: 2, bytes: 1600 }, 0));
        flow.begin_unsolicited(700);
        assert!(matches!(sent(&mut flow), (pieces, PieceEnd::Packet) if pieces == [510, 110]));
        assert_eq!((flow.granted(), flow.inside().packets), (80, 0));
        flow.waste_grant(MAP, Probe::default(), &mut Recorder::default());
        assert_eq!((flow.granted(), flow.counters.unused_bytes, flow.take_unused()), (0, 80, 80));
        assert_eq!(flow.take_unused(), 0);
    }

    #[test]
    fn an_aggregate_sends_its_low_latency_packets_first_and_wastes_what_they_leave() {
        let mut flow = flow(AGGREGATE);
        put(&mut flow, 500, 0);
        put(&mut flow, 200, 45);
        assert_eq!(
            (flow.unrequested_by(By::Both).low, flow.unrequested_by(By::Both).classic),
            (210, 510)
        );
        assert_eq!(
            (flow.unrequested_by(By::Low).low, flow.unrequested_by(By::Low).classic),
            (210, 0)
        );
        assert_eq!(
            (flow.unrequested_by(By::Classic).low, flow.unrequested_by(By::Classic).classic),
            (0, 510)
        );
        flow.request_shares(Shares { low: 210, classic: 510 }, MAP);
        assert_eq!(flow.unrequested(), 0);
        flow.requests_arrive(MAP);
        let granted = flow.grant(720);
        flow.begin(granted);
        assert!(flow.ungranted().is_none());
        // 300 B unasked: of 510 for the low-latency flow 210 are used, and of the rest nobody requested 90.
        flow.begin_unsolicited(300);
        let (pieces, _) = sent(&mut flow);
        assert_eq!(pieces, [210, 510]);
        assert_eq!((flow.counters.unused_bytes, flow.counters.unused_proactive_bytes), (300, 90));
        assert_eq!((flow.take_unused(), flow.low.granted), (210, 0));
        assert!(matches!(flow.ungranted(), Some(By::Both)));
    }

    #[test]
    fn payload_is_what_follows_the_header() {
        let mut flow = flow("");
        put(&mut flow, 1500, 0);
        flow.begin(Shares { low: 0, classic: 2000 });
        assert_eq!(flow.sendable(MAP, Probe::default(), &mut Recorder::default()), Some(1510));
        assert_eq!([4, 10, 11, 1510].map(|bytes| flow.payload_of(bytes)), [0, 0, 1, 1500]);
        flow.begin_piece(MAP, 4, Probe::default(), &mut Recorder::default());
        assert!(flow.is_sending() && !flow.is_idle());
        assert!(matches!(flow.end_piece(), PieceEnd::Piece(4)));
        assert_eq!([6, 7, 1506].map(|bytes| flow.payload_of(bytes)), [0, 1, 1500]);
        assert_eq!(flow.proactive_part(100), 0);
    }

    /// An aggregate with a fragment of each flow, of which 100 B have been sent, and a packet of each behind it.
    fn in_pieces() -> RequestGrant {
        let mut flow = flow(AGGREGATE);
        for (size, dscp) in [(500, 0), (200, 45), (600, 0), (300, 45)] {
            put(&mut flow, size, dscp);
        }
        for granted in [Shares { low: 100, classic: 0 }, Shares { low: 0, classic: 100 }] {
            flow.begin(granted);
            assert!(matches!(sent(&mut flow), (pieces, PieceEnd::Piece(100)) if pieces == [100]));
        }
        flow
    }

    /// Of 500, 200, 600 and 300 B, each with 10 B of header, twice 100 B were sent with a header.
    #[test]
    fn what_waits_of_an_aggregate_is_that_of_both_flows() {
        let mut flow = in_pieces();
        let waiting = flow.waiting();
        assert_eq!((waiting.payload, waiting.on_channel), (1600 - 180, 1640 - 200));
        let of = |shares: Shares| (shares.low, shares.classic);
        assert_eq!(of(flow.unrequested_by(By::Both)), (110 + 310, 410 + 610));
        assert_eq!(flow.inside(), Count { packets: 4, bytes: 1600 });
        assert!(!flow.is_idle() && !flow.has_grant() && flow.waits_for_unsolicited());
        // While a piece is being sent it is no longer waited for: 50 B more of the classic packet, or of the other.
        let (probe, mut recorder) = (Probe::default(), Recorder::default());
        for (low, want) in [(false, (420, 970)), (true, (370, 1020))] {
            let granted =
                if low { Shares { low: 50, classic: 0 } } else { Shares { low: 0, classic: 50 } };
            flow.begin(granted);
            assert_eq!(flow.sendable(MAP, probe, &mut recorder), Some(50));
            flow.begin_piece(MAP, 50, probe, &mut recorder);
            assert_eq!(of(flow.unrequested_by(By::Both)), want);
            assert_eq!(flow.payload_of(50), 50);
            flow.piece = 0; // and it was not sent after all
        }
        // The low-latency fragment is dropped first, then the other, then what waits.
        let sizes: Vec<_> = (0..5)
            .map(|_| flow.discard_next(MAP, &mut recorder).map(|packet| packet.size))
            .collect();
        assert_eq!(sizes[..2], [Some(200), Some(500)]);
        assert_eq!(sizes.iter().flatten().map(|size| u32::from(*size)).sum::<u32>(), 1600);
        assert!(sizes[4].is_none() && flow.is_idle());
    }

    /// A flow requests with a grant of its own, or where it has none in this MAP; proactive grants carry the low-latency flow's.
    #[test]
    fn each_flow_of_an_aggregate_requests_where_it_may() {
        for (granted, ahead, proactive, [by_granted, by_ungranted], ungranted) in [
            ((0, 0), (0, 0), None, [(0, 0), (210, 510)], Some(By::Both)),
            ((1, 0), (0, 0), None, [(209, 0), (0, 510)], Some(By::Classic)),
            ((0, 1), (0, 0), None, [(0, 509), (210, 0)], Some(By::Low)),
            ((1, 1), (0, 0), None, [(209, 509), (0, 0)], None),
            ((0, 0), (1, 0), None, [(0, 0), (0, 510)], Some(By::Both)),
            ((0, 0), (0, 1), None, [(0, 0), (210, 0)], Some(By::Both)),
            ((0, 0), (0, 0), Some(50), [(0, 0), (0, 510)], Some(By::Classic)),
            ((1, 1), (0, 0), Some(50), [(0, 509), (0, 0)], None),
        ] {
            let mut flow = flow(AGGREGATE);
            put(&mut flow, 500, 0);
            put(&mut flow, 200, 45);
            flow.set_proactive(proactive);
            (flow.low.granted, flow.classic.granted) = granted;
            (flow.low.ahead, flow.classic.ahead) = ahead;
            for (by, want) in [(By::Granted, by_granted), (By::Ungranted, by_ungranted)] {
                let Shares { low, classic } = flow.unrequested_by(by);
                assert_eq!((low, classic), want, "{granted:?} {ahead:?} {proactive:?} {by:?}");
            }
            assert_eq!(flow.ungranted(), ungranted);
            assert_eq!(flow.has_grant(), granted != (0, 0) || ahead != (0, 0));
            assert_eq!(
                (flow.grants_proactively(), flow.unasked_per_map()),
                (proactive.is_some(), proactive.unwrap_or(0))
            );
            assert_eq!(flow.unrequested_by(By::Low).low, 210 - granted.0 - ahead.0);
        }
        // A flow that is no aggregate has no shares, and nothing unasked.
        let mut plain = flow("");
        plain.set_proactive(Some(50));
        assert!(!plain.grants_proactively());
        let shares = plain.shares(100, Shares { low: 60, classic: 70 });
        assert_eq!((shares.low, shares.classic), (30, 70));
    }

    /// Of 300 B unasked and 100 requested the low-latency flow's packets use 210 of those unasked first.
    #[test]
    fn bytes_granted_unasked_are_used_first() {
        let mut flow = flow(AGGREGATE);
        put(&mut flow, 200, 45);
        let (probe, mut recorder) = (Probe::default(), Recorder::default());
        flow.begin(Shares { low: 100, classic: 40 });
        flow.begin_unsolicited(300);
        assert_eq!(
            (flow.granted(), flow.counters.granted_bytes, flow.counters.grants),
            (440, 300, 1)
        );
        assert_eq!(flow.sendable(MAP, probe, &mut recorder), Some(210));
        assert_eq!([flow.proactive_part(210), flow.proactive_part(310)], [210, 300]);
        flow.begin_piece(MAP, 210, probe, &mut recorder);
        assert!(matches!(flow.end_piece(), PieceEnd::Packet));
        assert_eq!(flow.take_sent().map(|packet| packet.size), Some(200));
        assert!(matches!(flow.end_piece(), PieceEnd::Nothing));
        // Of 190 left of it 100 were requested, and the classic flow has nothing to send.
        assert_eq!(flow.sendable(MAP, probe, &mut recorder), None);
        assert_eq!((flow.counters.unused_bytes, flow.counters.unused_proactive_bytes), (190, 90));
        assert_eq!((flow.take_unused(), flow.low.granted, flow.classic.granted), (100, 0, 40));
        flow.waste_grant(MAP, probe, &mut recorder);
        assert_eq!((flow.counters.unused_bytes, flow.take_unused(), flow.granted()), (230, 40, 0));
        assert_eq!(flow.sendable(MAP, probe, &mut recorder), None);
    }

    /// What a queue may send in a grant that nobody asked for: of an aggregate its low-latency packets.
    #[test]
    fn unsolicited_grants_are_for_what_waits() {
        for (keys, dscp, waits) in [("", 0, true), (AGGREGATE, 0, false), (AGGREGATE, 45, true)] {
            let mut flow = flow(keys);
            assert!(!flow.waits_for_unsolicited() && flow.is_idle());
            put(&mut flow, 200, dscp);
            assert_eq!((flow.waits_for_unsolicited(), flow.is_idle()), (waits, false));
            flow.begin(Shares { low: 100, classic: 100 });
            let (probe, mut recorder) = (Probe::default(), Recorder::default());
            let bytes = flow.sendable(MAP, probe, &mut recorder).unwrap();
            flow.begin_piece(MAP, bytes, probe, &mut recorder);
            flow.end_piece();
            // The rest of its packet waits too.
            assert_eq!((flow.waits_for_unsolicited(), flow.queue.backlog().packets), (waits, 0));
            flow.waste_grant(MAP, probe, &mut recorder);
            assert!(!flow.is_idle());
        }
        let mut flow = flow("");
        flow.request(5, MAP);
        assert!(!flow.is_idle());
        let earlier = MacCounters { requests: 3, granted_bytes: 900, ..MacCounters::default() };
        let later =
            MacCounters { requests: 5, granted_bytes: 700, grants: 2, ..MacCounters::default() };
        let MacCounters { requests, granted_bytes, grants, .. } = later.since(earlier);
        assert_eq!((requests, granted_bytes, grants), (2, 0, 2));
        assert_eq!(later.plus(earlier).granted_bytes, 1600);
    }
}
