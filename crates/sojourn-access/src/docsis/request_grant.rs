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
use super::head_of_line::HeadOfLine;
use super::outages::Outages;
use super::probe::Probe;
use sojourn_engine::count::Count;
use sojourn_engine::packet::Packet;
use sojourn_engine::queue::{LowLatency, Queue};
use sojourn_engine::record::ModemEventKind as Kind;
use sojourn_engine::record::{Part as DelayPart, Recorder};
use sojourn_engine::units::Time;

/// A packet being sent; earlier grants may have carried some of its bytes.
struct Fragment {
    packet: Packet,
    sent: u64,
    /// Since when it is being sent, or waits.
    since: Time,
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
struct Part {
    /// Requested and known to the CMTS; the next MAP grants what it can of it.
    at_cmts: u64,
    /// Requested bytes that the next MAP cannot grant.
    under_way: u64,
    /// Those of them that the CMTS will not hear.
    unheard: u64,
    /// Granted on a shared channel in grants that have not begun.
    ahead: u64,
    /// Granted and not yet used.
    granted: u64,
    /// How many of these nobody requested.
    proactive: u64,
    fragment: Option<Fragment>,
    head: HeadOfLine,
}

impl Part {
    /// Nothing waiting, requested or granted.
    fn new(head: HeadOfLine) -> Self {
        let [at_cmts, under_way, unheard, ahead, granted, proactive] = [0; 6];
        Self { at_cmts, under_way, unheard, ahead, granted, proactive, fragment: None, head }
    }

    /// A packet is taken from the queue, where it was until now.
    fn take(&mut self, now: Time, packet: Packet, recorder: &mut Recorder) {
        self.left_queue(now, &packet, false, recorder);
        self.fragment = Some(Fragment { packet, sent: 0, since: now });
    }

    /// What a packet has waited for in the queue. `sends` says that another is being sent.
    #[inline]
    fn left_queue(&self, now: Time, packet: &Packet, sends: bool, recorder: &mut Recorder) {
        self.head.split_queued(packet.queued_at, now, sends, |part, span| {
            recorder.delays.moves(packet, DelayPart::ModemQueue, part, span);
        });
    }

    /// What its fragment has waited for since it was taken, or since its last piece was sent.
    fn settle(&mut self, now: Time, recorder: &mut Recorder) {
        let Some(Fragment { packet, since, .. }) = &mut self.fragment else { return };
        waited(&self.head, packet, *since, now, recorder);
        *since = now;
    }

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

/// A packet has waited since then for what the head waits for.
fn waited(head: &HeadOfLine, packet: &Packet, since: Time, now: Time, recorder: &mut Recorder) {
    let mut at = since;
    if at < now {
        head.split(at, now, |part, span| {
            recorder.delays.spends(packet, at, [(part, at + span)]);
            at += span;
        });
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
    /// Will the CMTS not hear it? The modem learns that when it could be granted.
    is_lost: bool,
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
    /// Did the token buckets keep it from requesting anything of what waited, and from being granted anything?
    is_withheld: bool,
    is_deferred: bool,
    /// Does its current packet wait for tokens, in its grant?
    lacks_tokens: bool,
    /// Did its last request collide?
    has_collided: bool,
    /// Is a grant of a MAP known whose time has not come?
    pub is_granted_ahead: bool,
    /// Time in the queue of the last packet to leave it.
    pub last_sojourn: Time,
    pub counters: MacCounters,
}

impl RequestGrant {
    /// A flow with nothing waiting, requested or granted.
    /// The heads of line are those of an aggregate's low-latency and classic flow, or of none and the only flow.
    pub(super) fn new(queue: Queue, overhead: u64, [low, classic]: [HeadOfLine; 2]) -> Self {
        let weight = queue.aggregate().map(LowLatency::low_latency_weight);
        Self {
            aggregate: weight.map(|weight| Aggregate { weight, proactive_per_map: None }),
            low: Part::new(low),
            classic: Part::new(classic),
            low_sends: false,
            queue: queue.placed(DelayPart::ModemQueue).split(),
            overhead,
            under_way: VecDeque::new(),
            piece: 0,
            unused: 0,
            is_withheld: false,
            is_deferred: false,
            lacks_tokens: false,
            has_collided: false,
            is_granted_ahead: false,
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

    /// Waiting bytes on the channel that have not been requested, of both flows of an aggregate.
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
        self.outstanding() > 0
    }

    /// Requests `bytes`, which MAPs can grant from `granted_from` on.
    #[inline]
    pub(super) fn request(&mut self, bytes: u64, granted_from: Time) {
        self.request_shares(Shares { low: 0, classic: bytes }, granted_from);
    }

    /// The CMTS does not hear the last request.
    pub(super) fn lose_request(&mut self, now: Time) {
        let Some(last) = self.under_way.back_mut() else { return };
        last.is_lost = true;
        self.low.unheard += last.bytes.low;
        self.classic.unheard += last.bytes.classic;
        self.has_collided = true;
        self.turn(now);
    }

    /// From now on its modem is silent, or no longer.
    pub(super) fn silence(&mut self, change: impl Fn(&mut Outages)) {
        change(&mut self.low.head.silent);
        change(&mut self.classic.head.silent);
    }

    /// How `bytes` are divided between what both flows of an aggregate want.
    pub(super) fn shares(&self, bytes: u64, wanted: Shares) -> Shares {
        split(bytes, wanted, 0, self.aggregate.as_ref().map_or(0.0, |of| of.weight))
    }

    /// Requests for both flows of an aggregate.
    #[inline]
    pub(super) fn request_shares(&mut self, bytes: Shares, granted_from: Time) {
        self.under_way.push_back(Request { granted_from, bytes, is_lost: false });
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
            self.classic.under_way -= classic;
            if request.is_lost {
                self.low.unheard -= low;
                self.classic.unheard -= classic;
            } else {
                self.low.at_cmts += low;
                self.classic.at_cmts += classic;
            }
        }
    }

    /// The CMTS now knows of the requests that it has heard until then. `each` gets them one by one, with when and how many bytes.
    pub(super) fn requests_heard(&mut self, until: Time, mut each: impl FnMut(Time, u64)) {
        let under_way = self.under_way.iter();
        under_way
            .take_while(|request| request.granted_from <= until)
            .filter(|request| !request.is_lost)
            .for_each(|request| each(request.granted_from, request.bytes.total()));
        self.requests_arrive(until);
    }

    /// Does the low-latency flow of an aggregate send?
    pub(super) fn is_low_sending(&self) -> bool {
        self.low_sends
    }

    /// Granted bytes that have not been sent, also those of grants that have not begun.
    #[inline]
    pub(super) fn outstanding(&self) -> u64 {
        self.granted() + self.low.ahead + self.classic.ahead
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
            let packet = self.queue.dequeue(now, recorder);
            self.split_dropped(false, now, recorder);
            let packet = packet?;
            self.last_sojourn = now.since(packet.queued_at);
            probe.packet(recorder, now, Kind::Dequeue, &packet);
            self.classic.take(now, packet, recorder);
        }
        let Fragment { packet, sent, .. } = self.classic.fragment.as_ref()?;
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
            let packet = self.queue.dequeue_member(low, now, recorder);
            self.split_dropped(low, now, recorder);
            let packet = packet?;
            self.last_sojourn = now.since(packet.queued_at);
            probe.packet(recorder, now, Kind::Dequeue, &packet);
            self.current().take(now, packet, recorder);
        }
        let overhead = self.overhead;
        let current = self.current().fragment.as_ref();
        current.map(|Fragment { packet, sent, .. }| overhead + u64::from(packet.size) - sent)
    }

    /// What packets waited for that the queue has dropped, of one of the flows of an aggregate.
    #[inline]
    pub(super) fn split_dropped(&self, low: bool, now: Time, recorder: &mut Recorder) {
        while let Some(packet) = recorder.delays.next_dropped() {
            let part = if low { &self.low } else { &self.classic };
            part.left_queue(now, &packet, self.sends(low), recorder);
        }
    }

    /// Is a piece of this flow being sent?
    fn sends(&self, low: bool) -> bool {
        self.piece > 0 && self.low_sends == low
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
        (self.piece, self.lacks_tokens) = (bytes, false);
        let waits_for_low = self.low_sends && self.classic.granted > 0;
        if waits_for_low {
            self.classic.head.turn(now, DelayPart::ModemQueue);
        }
        let current = self.current();
        current.settle(now, recorder);
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
    pub(super) fn end_piece(&mut self, now: Time, recorder: &mut Recorder) -> PieceEnd {
        let piece = std::mem::take(&mut self.piece);
        let overhead = self.overhead;
        let Part { fragment: Some(fragment), head, .. } = self.current() else {
            return PieceEnd::Nothing;
        };
        if piece > 0 {
            let legs = [(DelayPart::Transmission, now)];
            recorder.delays.spends(&fragment.packet, fragment.since, legs);
            fragment.since = now;
            head.restart(now);
        }
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
        if self.low.fragment.is_none() && self.classic.fragment.is_none() {
            let packet = self.queue.discard(now, recorder);
            self.split_dropped(false, now, recorder);
            self.classic.take(now, packet?, recorder);
        }
        let part = if self.low.fragment.is_some() { &mut self.low } else { &mut self.classic };
        part.settle(now, recorder);
        part.fragment.take().map(|fragment| fragment.packet)
    }

    /// A request was made of `bytes` of those that are wanted.
    pub(super) fn was_requested(&mut self, now: Time, wanted: u64, bytes: u64) {
        self.is_withheld = bytes == 0 && wanted > 0;
        self.has_collided &= bytes == 0;
        if self.granted() == 0 || self.is_aggregate() {
            self.turn(now); // with a grant the only head is sent
        }
    }

    /// Do the token buckets keep the MAP at `at` from granting anything?
    #[inline]
    pub(super) fn defers(&mut self, at: Time, is_deferred: bool) {
        if self.is_deferred != is_deferred {
            self.is_deferred = is_deferred;
            self.turn(at);
        }
    }

    /// A request collided.
    pub(super) fn collided(&mut self, now: Time) {
        self.counters.requests += 1;
        self.counters.collisions += 1;
        self.has_collided = true;
        self.turn(now);
    }

    /// Something has changed that the heads of its flows may wait for.
    pub(super) fn turn(&mut self, now: Time) {
        if self.piece > 0 && self.aggregate.is_none() {
            return; // the head is being sent
        }
        let piece_of_low = self.low_sends && self.piece > 0;
        let turn = |part: &mut Part| {
            let waits_for = if self.lacks_tokens {
                DelayPart::Shaping
            } else if part.requested() > part.unheard || self.is_granted_ahead {
                let is_deferred = self.is_deferred && part.granted + part.ahead == 0;
                if is_deferred { DelayPart::Shaping } else { DelayPart::GrantWait }
            } else if self.is_withheld {
                DelayPart::Shaping
            } else if self.has_collided {
                DelayPart::Contention
            } else {
                part.head.first()
            };
            part.head.turn(now, waits_for);
        };
        if !(piece_of_low && self.classic.granted > 0) {
            turn(&mut self.classic);
        }
        if self.aggregate.is_some() {
            turn(&mut self.low);
        }
    }

    /// The current packet waits for tokens, in its grant.
    pub(super) fn waits_for_tokens(&mut self, now: Time) {
        self.lacks_tokens = true;
        self.turn(now);
    }

    /// The run ends: a packet that is being sent, or of which more is to be sent, has spent its time until now, and
    /// those in the queue have waited.
    pub(super) fn close(&self, now: Time, recorder: &mut Recorder) {
        let mut leaves = |low: bool, packet: &Packet| {
            let part = if low { &self.low } else { &self.classic };
            part.left_queue(now, packet, self.sends(low), recorder);
        };
        match self.queue.aggregate() {
            Some(of) => {
                [true, false]
                    .iter()
                    .for_each(|low| of.packets_of(*low).for_each(|p| leaves(*low, p)));
            }
            None => self.queue.packets().for_each(|packet| leaves(false, packet)),
        }
        for (part, sends) in [(&self.low, self.low_sends), (&self.classic, !self.low_sends)] {
            let Some(Fragment { packet, since, .. }) = &part.fragment else { continue };
            if sends && self.piece > 0 {
                recorder.delays.spends(packet, *since, [(DelayPart::Transmission, now)]);
                continue;
            }
            waited(&part.head, packet, *since, now, recorder);
        }
    }

    /// Packets and bytes held.
    pub(super) fn inside(&self) -> Count {
        let fragments = [&self.classic.fragment, &self.low.fragment].into_iter().flatten();
        fragments.fold(self.queue.backlog(), |sum, fragment| sum.plus(Count::of(&fragment.packet)))
    }
}

#[cfg(test)]
#[path = "request_grant_tests.rs"]
mod tests;
