//! A modem's service flow on the shared upstream channel: its queue, its requests, and what it
//! sends in its grants.
//!
//! Headers make a packet longer on the channel; the rates of the service do not count them. The
//! CMTS grants no more than the token buckets hold when the grants of the MAP begin, and the modem
//! sends only bytes for which they hold tokens. So the sustained rate keeps the bound of White 2014
//! appendix C on every interval. Grants are sent in bursts at the channel's rate, so the peak-rate
//! bucket must be deeper here than one frame: deeper by what arrives from the start of one MAP
//! interval to the end of the next, the farthest apart that the grants of both may be.

use super::grant_split::Shares;
use super::outages::Outages;
use super::probe::Probe;
use super::regularity::Grid;
use super::request_grant::{By, MacCounters, PieceEnd, RequestGrant, Waiting};
use super::scheduling_service::RequestPolicy;
use super::timing::Timing;
use crate::context::ServiceFlowContext;
use crate::service::Upstream;
use crate::shaper::{PEAK_BURST_BYTES, Shaper};
use sojourn_engine::aqm::DrainRate;
use sojourn_engine::aqm::Loop;
use sojourn_engine::count::Count;
use sojourn_engine::packet::{DropReason, Packet};
use sojourn_engine::queue::{Queue, default_limit_bytes};
use sojourn_engine::record::ModemEventKind as Kind;
use sojourn_engine::record::Recorder;
use sojourn_engine::token_bucket::TokenBucket;
use sojourn_engine::units::{BitRate, Time};

/// An upstream service flow on the shared channel.
pub(crate) struct UpstreamServiceFlow {
    flow: RequestGrant,
    shaper: Shaper,
    /// Bucket of the minimum reserved rate, if there is one.
    pub(super) reserved: Option<TokenBucket>,
    /// Traffic priority, 7 being the highest.
    pub(super) priority: u8,
    /// How it requests beside polls.
    policy: RequestPolicy,
    /// Do its rates limit it? Unsolicited grants set their own.
    is_shaped: bool,
    /// When its modem is silent.
    silent: Outages,
    /// Its profile on the channel (framing.rs).
    pub(super) profile: u8,

    /// Is it contending?
    pub(super) contends: bool,
    /// Is it waiting for grants?
    pub(super) waits: bool,
    /// Bytes left of its turn.
    pub(super) deficit: u64,
    /// When the grants of the current MAP begin, and what the MAP may grant the flow.
    map: Time,
    grantable: u64,
    /// What the current MAP grants it.
    pub(super) in_map: u64,
    probe: Probe,
}

impl UpstreamServiceFlow {
    /// An idle flow with full token buckets.
    pub(crate) fn new(
        spec: &Upstream,
        context: &ServiceFlowContext,
        timing: &Timing,
        grid: &Grid,
        profile: u8,
    ) -> Self {
        let map = timing.map_interval();
        let mut shaper = Shaper::of(spec.terms());
        shaper.peak = deep_enough(shaper.peak.rate(), map.times(2));
        let buffer_bytes = default_limit_bytes(shaper.sustained.rate());
        let minimum = Some(spec.minimum_mbps).filter(|mbps| *mbps > 0.0).map(BitRate::from_mbps);
        let mut queue = context.queue("upstream", &spec.queue, buffer_bytes);
        let proactive = spec.scheduling.proactive_rate(grid);
        queue.set_request_loop(Loop { proactive, ..timing.request_loop() });
        let mut flow = RequestGrant::new(queue, grid.overhead);
        flow.set_proactive(proactive.map(|of| of.rate.bytes_in(map) as u64));
        Self {
            flow,
            shaper,
            reserved: minimum.map(|rate| deep_enough(rate, map)),
            priority: spec.priority,
            policy: spec.scheduling.policy(),
            is_shaped: spec.scheduling.is_shaped(),
            silent: Outages::new(&spec.ranging_outages),
            profile,
            contends: false,
            waits: false,
            deficit: 0,
            map: Time::NEVER,
            grantable: 0,
            in_map: 0,
            probe: Probe::upstream(context),
        }
    }

    /// Takes a packet from the home.
    #[inline]
    pub(crate) fn accept(&mut self, now: Time, packet: Packet, recorder: &mut Recorder) {
        self.probe.arrive(recorder, now, &self.shaper.sustained, &packet);
        let drain_rate = self.drain_rate(now);
        self.flow.queue.enqueue(now, packet, &drain_rate, recorder);
    }

    #[inline]
    fn note(&self, recorder: &mut Recorder, now: Time, kind: Kind, bytes: u64) {
        self.probe.note(recorder, now, kind, bytes);
    }

    /// Does it need to contend? Only if it has no request yet: later bytes are requested in the
    /// grant.
    /// An aggregate contends for both of its flows at once.
    pub(crate) fn wants_to_contend(&self) -> bool {
        if self.flow.is_aggregate() {
            return self.flow.unrequested_by(By::Idle).total() > 0;
        }
        self.policy.contention && self.flow.requested() == 0 && self.flow.unrequested() > 0
    }

    /// Requests when the CMTS polls its modem, which an aggregate's low-latency flow has.
    pub(crate) fn answer_poll(
        &mut self,
        now: Time,
        granted_from: Time,
        recorder: &mut Recorder,
    ) -> bool {
        !self.silent.at(now) && self.request_by(By::Low, now, granted_from, recorder)
    }

    /// Requests all waiting bytes that are not yet requested after contention; MAPs can grant them
    /// from `granted_from` on.
    pub(crate) fn request(&mut self, now: Time, granted_from: Time, recorder: &mut Recorder) {
        self.request_by(By::Idle, now, granted_from, recorder);
    }

    /// Returns whether there is anything to request.
    fn request_by(
        &mut self,
        by: By,
        now: Time,
        granted_from: Time,
        recorder: &mut Recorder,
    ) -> bool {
        let shares = self.flow.is_aggregate().then(|| self.flow.unrequested_by(by));
        let request = shares.map_or_else(|| self.flow.unrequested(), Shares::total);
        if request == 0 {
            return false;
        }
        match shares {
            None => self.flow.request(request, granted_from),
            Some(wanted) => self.flow.request_of(request, wanted, granted_from),
        }
        self.note(recorder, now, Kind::Request, request);
        true
    }

    /// Begins a grant of `bytes`: requests what has come since. Returns whether it requested
    /// anything.
    pub(crate) fn begin_grant(
        &mut self,
        now: Time,
        bytes: u64,
        granted_from: Time,
        recorder: &mut Recorder,
    ) -> bool {
        self.flow.begin_grant(bytes);
        self.note(recorder, now, Kind::Grant, bytes);
        self.policy.piggyback && self.request_by(By::Granted, now, granted_from, recorder)
    }

    /// Begins an unsolicited grant of `bytes`. Returns whether anything waits for it.
    pub(crate) fn begin_unsolicited(
        &mut self,
        now: Time,
        bytes: u64,
        recorder: &mut Recorder,
    ) -> bool {
        let is_used = self.flow.waits_for_unsolicited();
        self.flow.begin_unsolicited(bytes);
        self.note(recorder, now, Kind::Grant, bytes);
        is_used && !self.silent.at(now)
    }

    /// Requests what an aggregate's proactive grant leaves of its low-latency flow.
    pub(crate) fn request_beyond_grant(
        &mut self,
        now: Time,
        granted_from: Time,
        recorder: &mut Recorder,
    ) -> bool {
        self.flow.is_aggregate() && self.answer_poll(now, granted_from, recorder)
    }

    /// Takes back what a MAP granted and could not place.
    pub(crate) fn take_back(&mut self, bytes: u64) {
        self.flow.take_back(bytes);
    }

    /// Takes back a request that collided.
    pub(crate) fn collided(&mut self) {
        self.flow.counters.requests += 1;
        self.flow.counters.collisions += 1;
    }

    /// Drops the packet whose request failed too often (MULPI §7.2.1).
    pub(crate) fn give_up(&mut self, now: Time, recorder: &mut Recorder) {
        if let Some(packet) = self.flow.discard_next(now, recorder) {
            recorder.dropped(now, packet, DropReason::Contention);
        }
    }

    /// The CMTS now knows of the requests that the MAP at `map` can grant. Returns whether it knows
    /// of any.
    pub(crate) fn requests_arrive(&mut self, map: Time) -> bool {
        self.flow.requests_arrive(map);
        self.flow.at_cmts() > 0
    }

    /// Requested bytes that the CMTS knows of.
    pub(crate) fn known_request(&self) -> u64 {
        self.flow.at_cmts()
    }

    /// Bytes that the MAP whose grants begin at `start` may grant in addition to what it grants
    /// already.
    pub(crate) fn need(&mut self, start: Time) -> u64 {
        if self.map != start {
            self.map = start;
            self.grantable = self.grantable(start);
            if self.grantable == 0 && !self.silent.at(start) {
                self.hold(start);
            }
        }
        self.grantable - self.in_map
    }

    /// The part of that need which its minimum reserved rate covers.
    pub(crate) fn reserved_need(&mut self, start: Time) -> u64 {
        let tokens = self.reserved.as_ref().map_or(0.0, |reserved| reserved.tokens(start));
        self.need(start).min(tokens as u64)
    }

    /// Bytes that a grant at `start` may carry: requested, and allowed by the token buckets then.
    pub(crate) fn grantable(&self, start: Time) -> u64 {
        if self.silent.at(start) {
            return 0;
        }
        if !self.is_shaped {
            return self.flow.at_cmts();
        }
        let tokens = self.shaper.tokens(start);
        let Waiting { payload, on_channel } = self.flow.waiting();
        if tokens >= payload as f64 {
            return self.flow.at_cmts();
        }
        let longer = on_channel as f64 / payload as f64;
        self.flow.at_cmts().min((tokens * longer) as u64)
    }

    /// Records that the token buckets hold bytes back.
    fn hold(&mut self, now: Time) {
        let Shaper { sustained, peak, .. } = &self.shaper;
        self.shaper.hold(now, sustained.tokens(now), peak.tokens(now));
    }

    /// Records the MAP that takes effect now, with grants from `start` on, in the trace, including
    /// what the token buckets keep it from granting.
    pub(crate) fn note_map(&self, now: Time, start: Time, recorder: &mut Recorder) {
        if !self.probe.is_open(recorder) {
            return;
        }
        self.note(recorder, now, Kind::Map, self.in_map);
        let grantable = self.grantable(start);
        if self.in_map == grantable && self.flow.at_cmts() > grantable {
            self.note(recorder, now, Kind::Defer, self.flow.at_cmts() - grantable);
        }
    }

    /// Applies the current MAP's grant, which begins at `start`. Returns its bytes.
    pub(crate) fn take_grant(&mut self, start: Time) -> u64 {
        let grant = std::mem::take(&mut self.in_map);
        if grant == self.grantable && grant < self.flow.at_cmts() {
            self.hold(start);
        }
        self.flow.grant_ahead(grant);
        if let Some(reserved) = &mut self.reserved {
            reserved.take(start, grant.min(reserved.tokens(start) as u64));
        }
        self.flow.queue.on_map(grant, self.flow.at_cmts());
        grant
    }

    /// Starts sending the next piece. Returns its bytes, or `None` if the grant has nothing more to
    /// send.
    pub(crate) fn next_piece(&mut self, now: Time, recorder: &mut Recorder) -> Option<u64> {
        if self.flow.granted == 0 {
            return None;
        }
        if self.silent.at(now) {
            self.flow.waste_grant(now, self.probe, recorder);
            return None;
        }
        let sendable = self.flow.sendable(now, self.probe, recorder);
        let piece = sendable.map_or(0, |piece| self.conforming_piece(now, piece, recorder));
        if piece == 0 {
            // The AQM algorithm dropped what the grant was for, or packets differ in length from
            // the estimate.
            self.flow.waste_grant(now, self.probe, recorder);
            return None;
        }
        self.flow.begin_piece(now, piece, self.probe, recorder);
        Some(piece)
    }

    /// How many of the next bytes may be sent now. Removes their tokens.
    fn conforming_piece(&mut self, now: Time, piece: u64, recorder: &mut Recorder) -> u64 {
        if !self.is_shaped {
            return piece;
        }
        let payload = self.flow.payload_of(piece);
        let mut excess = payload.saturating_sub(self.shaper.tokens(now) as u64);
        if self.flow.proactive_part(piece) > 0 {
            excess = 0; // the buckets do not reduce what is granted (docsis-ns3)
        }
        if excess > 0 {
            self.hold(now);
        }
        self.shaper.take(now, payload - excess);
        self.probe.bucket(recorder, &self.shaper.sustained);
        piece - excess
    }

    /// Ends the piece being sent. Returns the packet if this was its last piece.
    pub(crate) fn end_piece(&mut self, now: Time, recorder: &mut Recorder) -> Option<Packet> {
        match self.flow.end_piece() {
            PieceEnd::Nothing => None,
            PieceEnd::Piece(bytes) => {
                self.note(recorder, now, Kind::PieceEnd, bytes);
                None
            }
            PieceEnd::Packet => {
                let sent = self.flow.take_sent();
                if let Some(packet) = &sent {
                    if self.shaper.held(packet) {
                        recorder.delayed(packet);
                    }
                    self.probe.packet(recorder, now, Kind::Sent, packet);
                }
                sent
            }
        }
    }

    fn drain_rate(&self, now: Time) -> DrainRate {
        self.shaper.drain_rate(now, self.flow.queue.buffer_bytes())
    }

    /// When the AQM algorithm of its queue is next updated.
    pub(crate) fn next_update(&self) -> Time {
        self.flow.queue.next_update()
    }

    /// Runs the periodic update of its queue's AQM algorithm.
    pub(crate) fn update(&mut self, now: Time) {
        if self.flow.at_cmts() == 0 {
            self.flow.queue.on_map(0, 0); // the MAPs that had nothing for it
        }
        let drain_rate = self.drain_rate(now);
        self.flow.queue.update(now, &drain_rate);
    }

    /// Packets and bytes it holds.
    pub(crate) fn inside(&self) -> Count {
        self.flow.inside()
    }

    /// Its queue, for its measurements.
    pub(crate) fn queue(&self) -> &Queue {
        &self.flow.queue
    }

    /// Samples its queue for its time series.
    pub(crate) fn sample(&mut self) {
        self.flow.queue.sample(|_| ());
    }

    /// Counters of its MAC.
    pub(crate) fn counters(&self) -> MacCounters {
        self.flow.counters
    }
}

/// A bucket that holds a frame plus what arrives in `untouched`, a time in which nothing is
/// removed.
fn deep_enough(rate: BitRate, untouched: Time) -> TokenBucket {
    TokenBucket::new(rate, PEAK_BURST_BYTES + rate.bytes_in(untouched) as u64)
}
