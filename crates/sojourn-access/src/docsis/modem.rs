//! A cable modem's upstream as one stage: queue, rate shaping, request and grant, framing.
//!
//! This is the single-queue model of White & Rice 2013 §3.1, after CableLabs' ns-2 code
//! (docsislink.cc). Each MAP answers the request made two intervals before it. The modem sends at a
//! random position within the interval, and requests more as it does. Packets are fragmented across
//! grants (request_grant.rs). The two-queue modem of White & Padden 2012 §2.2 is the same modem
//! behind a rate-shaping queue (two_queues.rs), with unlimited requests. An idle modem has no
//! events: MAPs that would bring it nothing are skipped.
//!
//! With the specification's timing (timing.rs) a request is granted by the first MAP after the loop's
//! fixed times, and an interval without a grant has its request in a random frame, as in docsis-ns3.
//!
//! With a scheduling service other than best effort, grants and polls come at regular times
//! (unsolicited.rs), and the modem requests by itself only as far as its policy allows.
//!
//! Left out: request contention (a request always succeeds, as in the studies) and segment headers,
//! both of which the shared channel has (shared_channel.rs). If a MAP brings nothing for a waiting
//! fragment, the ns-2 code requests at a random moment; this modem requests at once.

use super::congestion::FreeCapacity;
use super::grant_split::Shares;
use super::outages::Outages;
use super::parameters::Shaping;
use super::probe::Probe;
use super::regularity::Grid;
use super::request_grant::{By, MacCounters, PieceEnd, RequestGrant};
use super::scheduling_service::RequestPolicy;
use super::timing::{Specification, Timing};
use super::unsolicited::{Opportunity, Unsolicited};
use crate::context::ServiceFlowContext;
use crate::service::Upstream;
use crate::shaper::Shaper;
use sojourn_engine::aqm::DrainRate;
use sojourn_engine::aqm::Loop;
use sojourn_engine::count::Count;
use sojourn_engine::dialect::Dialect;
use sojourn_engine::packet::Packet;
use sojourn_engine::queue::{Queue, default_limit_bytes};
use sojourn_engine::record::ModemEventKind as Kind;
use sojourn_engine::record::{Gauges, Recorder};
use sojourn_engine::rng::Rng;
use sojourn_engine::token_bucket::TokenBucket;
use sojourn_engine::units::{BitRate, Time, whole};

/// Rate of the channels in CableLabs' ns-2 script. It is the default, if it is at least twice the
/// peak rate.
pub const LEAST_CHANNEL_MBPS: f64 = 100.0;

/// Burst of a flow that sets none (DOCSIS 3.1 MULPI §C.2.2.8.4).
const LEAST_BURST: u64 = 3044;

/// Bytes that each rate allows in a request.
struct Allowed {
    sustained: f64,
    peak: f64,
}

impl Allowed {
    /// No limit.
    const ALL: Self = Self { sustained: f64::INFINITY, peak: f64::INFINITY };

    fn bytes(&self) -> u64 {
        self.sustained.min(self.peak) as u64
    }
}

/// What a MAP granted of a request, and what it left.
#[derive(Clone, Copy)]
pub(super) struct Granted {
    pub bytes: u64,
    pub ungranted: u64,
}

/// The upstream of a modem.
pub struct Modem {
    flow: RequestGrant,
    pub(super) shaper: Shaper,
    /// What the token buckets limit; `None` where they are in front of the modem.
    shaping: Option<Shaping>,
    timing: Timing,
    map_interval: Time,
    channel: BitRate,
    capacity: FreeCapacity,
    rng: Rng,
    /// How it requests beside polls.
    policy: RequestPolicy,
    /// Unsolicited grants and polls, if its service has any.
    unsolicited: Option<Box<Unsolicited>>,
    /// Own rates of the low-latency and the classic flow of an aggregate.
    member_rates: [Option<TokenBucket>; 2],
    /// Does the low-latency flow of its aggregate get grants unasked?
    grants_proactively: bool,
    /// When it is silent: it gets no grants.
    silent: Outages,

    last_request: Time,
    /// The fraction of one further byte that the last MAP could have granted.
    grant_fraction: f64,
    /// Bytes granted by a MAP that was computed before its time.
    coming: u64,
    /// What the last MAP brought, for the queue in front of this one.
    last_map: Option<Granted>,

    /// When the next MAP takes effect; never while idle.
    next_map: Time,
    /// When it requests without a grant; never with the documents' timing, whose requests are part
    /// of the MAP.
    request_at: Time,
    /// Which flows of an aggregate then request.
    request_by: By,
    /// When the burst of this interval begins.
    burst_start: Time,
    /// When the burst continues: the piece being sent ends, or the shaper has tokens.
    burst_next: Time,
    /// The next unsolicited grant or poll.
    opportunity: Time,
    pub(super) probe: Probe,
}

impl Modem {
    /// An idle modem with full token buckets.
    pub fn new(spec: &Upstream, context: &ServiceFlowContext) -> Self {
        let shaper = Shaper::of(spec.terms());
        let buffer_bytes = default_limit_bytes(shaper.sustained.rate());
        let queue = context.queue("upstream", &spec.queue, buffer_bytes);
        let by_dialect = match context.dialect {
            Dialect::Rfc | Dialect::Linux => Shaping::Transmissions,
            Dialect::Ns2 => Shaping::Requests,
        };
        let shaping = Some(spec.shaping.unwrap_or(by_dialect));
        let shaping = shaping.filter(|_| spec.scheduling.is_shaped());
        // CableLabs' ns-2 script: the grants of a single queue are limited to the peak rate.
        let free = shaper.peak.rate();
        Self::sending(queue, shaper, shaping, free, spec, context)
    }

    /// A modem that sends as fast as the channel allows. White & Padden 2012 §3.1.3: without
    /// congestion the CMTS does not limit grants.
    pub(super) fn unshaped(queue: Queue, spec: &Upstream, context: &ServiceFlowContext) -> Self {
        let shaper = Shaper::of(spec.terms());
        Self::sending(queue, shaper, None, channel_rate(spec), spec, context)
    }

    fn sending(
        queue: Queue,
        shaper: Shaper,
        shaping: Option<Shaping>,
        free: BitRate,
        spec: &Upstream,
        context: &ServiceFlowContext,
    ) -> Self {
        let map_interval = Time::from_secs_f64(spec.mac.map_interval_ms / 1e3);
        let frame = context.timing.spec.and_then(Specification::own_frame);
        let timing = Timing::new(&context.timing, map_interval, frame);
        let map_interval = timing.map_interval();
        let spread_percent = spec.mac.grant_spread_percent;
        let congestion = spec.congestion.as_ref();
        let name = context.name("upstream");
        let grid =
            Grid { map_interval, frame: frame.map(|frame| frame.time), overhead: 0, is_own: true };
        let unsolicited = Unsolicited::of(&spec.scheduling, &grid, context.seed, &name);
        let unsolicited = unsolicited.map(Box::new);
        let mut queue = queue;
        let proactive = spec.scheduling.proactive_rate(&grid);
        queue.set_request_loop(Loop { proactive, ..timing.request_loop() });
        let bucket = |rate: BitRate| {
            let between_requests = rate.bytes_in(map_interval.times(2)) as u64;
            TokenBucket::new(rate, LEAST_BURST + between_requests)
        };
        let member_rates = queue.member_rates().map(|rate| rate.map(bucket));
        let mut flow = RequestGrant::new(queue, 0);
        flow.set_proactive(proactive.map(|of| of.rate.bytes_in(map_interval) as u64));
        Self {
            flow,
            shaper,
            shaping,
            timing,
            map_interval,
            channel: channel_rate(spec),
            capacity: FreeCapacity::of(congestion, free, map_interval, spread_percent),
            rng: Rng::named(context.seed, &format!("{name} mac")),
            policy: spec.scheduling.policy(),
            member_rates,
            grants_proactively: proactive.is_some(),
            opportunity: unsolicited.as_ref().map_or(Time::NEVER, |unsolicited| unsolicited.next()),
            unsolicited,
            silent: Outages::new(&spec.ranging_outages),
            last_request: Time::ZERO,
            grant_fraction: 0.0,
            coming: 0,
            last_map: None,
            next_map: Time::NEVER,
            request_at: Time::NEVER,
            request_by: By::Both,
            burst_start: Time::NEVER,
            burst_next: Time::NEVER,
            probe: Probe::upstream(context),
        }
    }

    /// Takes a packet from the home.
    #[inline]
    pub fn accept(&mut self, now: Time, packet: Packet, recorder: &mut Recorder) {
        self.arrive(now, &packet, recorder);
        self.enqueue(now, packet, recorder);
    }

    /// Records a packet that comes from the home.
    #[inline]
    pub(super) fn arrive(&self, now: Time, packet: &Packet, recorder: &mut Recorder) {
        self.probe.arrive(recorder, now, &self.shaper.sustained, packet);
    }

    /// Takes a packet into the queue that it sends from.
    #[inline]
    pub(super) fn enqueue(&mut self, now: Time, packet: Packet, recorder: &mut Recorder) {
        let drain_rate = self.drain_rate(now);
        self.flow.queue.enqueue(now, packet, &drain_rate, recorder);
        if self.next_map == Time::NEVER && self.policy.contention {
            self.resume_maps(now);
        }
    }

    #[inline]
    fn note(&self, recorder: &mut Recorder, at: Time, kind: Kind, bytes: u64) {
        self.probe.note(recorder, at, kind, bytes);
    }

    /// The next wake time of the modem.
    #[inline]
    pub fn next_wake(&self) -> Time {
        let mac = self.next_map.min(self.burst_start).min(self.burst_next);
        mac.min(self.request_at).min(self.opportunity).min(self.flow.queue.next_update())
    }

    /// Does one thing that is due. Returns the packet whose last byte has been sent, if any. At
    /// equal times the order is: the end of a piece, the AQM algorithm, the MAP, a request without a
    /// grant, an unsolicited grant or poll, the start of a burst.
    pub fn wake(&mut self, now: Time, recorder: &mut Recorder) -> Option<Packet> {
        if self.burst_next <= now {
            return self.continue_burst(now, recorder);
        }
        if self.flow.queue.next_update() <= now {
            if self.skips_maps() {
                self.flow.queue.on_map(0, 0); // the MAPs that were skipped
            }
            let drain_rate = self.drain_rate(now);
            self.flow.queue.update(now, &drain_rate);
        } else if self.next_map <= now {
            self.on_map(now, recorder);
        } else if self.request_at <= now {
            self.request_at = Time::NEVER;
            self.request(now, self.request_by, recorder);
        } else if self.opportunity <= now {
            self.on_opportunity(now, recorder);
        } else if self.burst_start <= now {
            self.start_burst(now, recorder);
        }
        None
    }

    /// What the AQM algorithm may know of the shaper.
    fn drain_rate(&self, now: Time) -> DrainRate {
        self.shaper.drain_rate(now, self.flow.queue.buffer_bytes())
    }

    /// Is it idle, so that MAPs are skipped?
    pub(super) fn skips_maps(&self) -> bool {
        self.next_map == Time::NEVER
    }

    /// Does a burst continue now?
    pub(super) fn burst_is_due(&self, now: Time) -> bool {
        self.burst_next <= now
    }

    /// Schedules the first MAP after `now`. The skipped ones would have brought nothing.
    fn resume_maps(&mut self, now: Time) {
        let last_map = self.timing.map_before(now);
        self.last_request = self.last_request.max(last_map);
        self.next_map = last_map + self.map_interval;
        self.place_request(last_map);
        if self.request_at < now {
            self.request_at = Time::NEVER; // it has passed without anything to request
        }
    }

    /// Draws when this interval's request without a grant is made.
    fn place_request(&mut self, map: Time) {
        if !self.timing.is_documents() && self.policy.contention {
            self.request_at = self.timing.request_place(map, self.rng.uniform());
            self.request_by = By::Both;
        }
    }

    /// An unsolicited grant or a poll.
    fn on_opportunity(&mut self, now: Time, recorder: &mut Recorder) {
        let Some(unsolicited) = &mut self.unsolicited else { return };
        match unsolicited.take() {
            Opportunity::Grant(bytes) => {
                let is_silent = self.silent.at(now);
                let waits = self.flow.waits_for_unsolicited();
                unsolicited.was_used(now, waits && !is_silent);
                self.flow.begin_unsolicited(bytes);
                self.note(recorder, now, Kind::Grant, bytes);
                if self.flow.is_aggregate() && !is_silent {
                    self.request(now, By::Low, recorder);
                }
                if is_silent {
                    self.flow.waste_grant(now, self.probe, recorder);
                    self.put_back_unused();
                } else if !self.flow.is_sending() && self.burst_start > now {
                    self.send_piece(now, recorder);
                }
            }
            Opportunity::Poll => self.poll(now, recorder),
        }
        self.opportunity = self.unsolicited.as_ref().map_or(Time::NEVER, |u| u.next());
    }

    /// Requests what waits, if anything does.
    fn poll(&mut self, now: Time, recorder: &mut Recorder) {
        if self.silent.at(now) || !self.request(now, By::Low, recorder) {
            return;
        }
        if let Some(unsolicited) = &mut self.unsolicited {
            unsolicited.was_requested(self.timing.granted_from(now));
        }
        if self.next_map == Time::NEVER {
            self.resume_maps(now);
        }
    }

    /// Handles a MAP that takes effect.
    fn on_map(&mut self, now: Time, recorder: &mut Recorder) {
        let grant = self.grant_of_map(now, recorder);
        self.flow.granted += grant;
        let sends = self.burst_next != Time::NEVER;
        if self.flow.granted == 0 || sends {
            // Without a grant: a request of its own. If a burst extends into this interval:
            // piggybacked on it.
            if grant > 0 {
                self.note(recorder, now, Kind::Grant, grant);
            }
            let may = if sends { self.policy.piggyback } else { self.policy.contention };
            if may && (sends || self.timing.is_documents()) {
                self.request(now, self.piggybacked(sends), recorder);
                if sends {
                    self.request_beside_burst(now, recorder);
                }
            } else if !self.flow.is_idle() {
                self.place_request(now);
            }
        } else {
            self.burst_start = now + self.place_of_burst(self.flow.granted);
            self.request_beside_burst(now, recorder);
        }
        let idle = self.flow.is_idle();
        self.next_map = if idle { Time::NEVER } else { now + self.map_interval };
    }

    /// Which flows of an aggregate request at the start of an interval: those whose burst extends into
    /// it.
    fn piggybacked(&self, sends: bool) -> By {
        if sends && !self.timing.is_documents() { By::Granted } else { By::Both }
    }

    /// The flow of an aggregate that has no grant in this interval requests by itself.
    fn request_beside_burst(&mut self, now: Time, recorder: &mut Recorder) {
        if !self.flow.is_aggregate() {
            return;
        }
        if self.timing.is_documents() {
            self.request(now, By::Ungranted, recorder);
            return;
        }
        if let Some(ungranted) = self.flow.ungranted() {
            self.place_request(now);
            self.request_by = ungranted;
        }
    }

    /// Bytes that the MAP at `at` grants of the requests that it can answer.
    fn grant_of_map(&mut self, at: Time, recorder: &mut Recorder) -> u64 {
        self.flow.requests_arrive(at);
        let free = self.capacity.greatest_grant(at, self.rng.uniform());
        let greatest = if self.silent.at(at) { 0.0 } else { free } + self.grant_fraction;
        self.grant_fraction = greatest - whole(greatest);
        let allowed = self.grantable(at);
        let wanted = self.flow.at_cmts().min(greatest as u64);
        let grant = wanted.min(allowed.bytes());
        self.flow.grant(grant);
        let ungranted = self.flow.at_cmts();
        self.flow.requests_arrive(at + self.map_interval);
        self.flow.queue.on_map(grant, ungranted);
        self.last_map = Some(Granted { bytes: grant, ungranted });
        self.note(recorder, at, Kind::Map, grant);
        if self.is_policed() {
            self.shaper.take(at, grant);
            self.probe.bucket(recorder, &self.shaper.sustained);
        }
        if wanted > grant {
            self.shaper.hold(at, allowed.sustained, allowed.peak);
            self.note(recorder, at, Kind::Defer, wanted - grant);
        }
        grant
    }

    /// What the last MAP brought, once.
    pub(super) fn take_last_map(&mut self) -> Option<Granted> {
        self.last_map.take()
    }

    /// Computes the next MAP in advance, which saves its event. This is possible once this
    /// interval's request is made, if the burst that carries the request ends before that MAP:
    /// nothing can change what it brings.
    fn look_ahead(&mut self, now: Time, recorder: &mut Recorder) {
        self.flow.requests_arrive(self.next_map);
        let burst_end = now + self.channel.time_for(self.flow.granted);
        let paced = self.shaping == Some(Shaping::Transmissions)
            || self.unsolicited.is_some()
            || self.flow.is_aggregate();
        if paced || self.flow.at_cmts() == 0 || burst_end > self.next_map {
            return;
        }
        self.coming = self.grant_of_map(self.next_map, recorder);
        self.burst_start = self.next_map + self.place_of_burst(self.coming);
        self.next_map += self.map_interval;
    }

    /// A uniform position within the MAP interval at which the whole grant still fits. The
    /// two-queue modem sends from the start of the interval (White & Padden 2012 §2.2.2).
    ///
    /// Beside proactive grants it is sent from the start too, behind the first of them. An aggregate's
    /// grants are one block, the low-latency flow's first (docsis-ns3).
    fn place_of_burst(&mut self, grant: u64) -> Time {
        if self.grants_proactively {
            return Time::ZERO;
        }
        let at_channel_rate = self.channel.time_for(grant);
        let length = match self.shaping {
            None => self.map_interval,
            Some(Shaping::Transmissions) if !self.is_policed() => {
                at_channel_rate.max(self.shaper.peak.rate().time_for(grant))
            }
            Some(_) => at_channel_rate,
        };
        self.map_interval.since(length).scaled(self.rng.uniform())
    }

    /// Starts a burst; a proactive grant's piece that is being sent goes on before it.
    fn start_burst(&mut self, now: Time, recorder: &mut Recorder) {
        self.burst_start = Time::NEVER;
        self.flow.granted += std::mem::take(&mut self.coming);
        self.note(recorder, now, Kind::Grant, self.flow.granted);
        if self.policy.piggyback {
            self.request(now, By::Granted, recorder);
        }
        self.look_ahead(now, recorder);
        if !self.flow.is_sending() {
            self.send_piece(now, recorder);
        }
    }

    /// Ends the piece being sent, or continues because the shaper has tokens.
    pub(super) fn continue_burst(&mut self, now: Time, recorder: &mut Recorder) -> Option<Packet> {
        let sent = self.end_piece(now, recorder);
        self.send_piece(now, recorder);
        sent
    }

    /// Requests waiting bytes that are not yet requested, as far as the shaper allows. Returns
    /// whether there are any.
    fn request(&mut self, now: Time, by: By, recorder: &mut Recorder) -> bool {
        let shares = self.flow.is_aggregate().then(|| self.within_own_rates(now, by));
        let wanted = shares.map_or_else(|| self.flow.unrequested(), Shares::total);
        let requested = self.flow.requested();
        let allowed = match self.shaping {
            Some(Shaping::Requests) => self.requestable(now),
            Some(Shaping::Transmissions) if !self.is_policed() => {
                self.sendable_by_grant(now, requested)
            }
            _ => Allowed::ALL,
        };
        let shares = shares.map(|wanted| self.flow.shares(allowed.bytes(), wanted));
        let request = shares.map_or_else(|| wanted.min(allowed.bytes()), Shares::total);
        if request > 0 {
            if self.shaping == Some(Shaping::Requests) {
                self.shaper.sustained.take(now, request);
                self.probe.bucket(recorder, &self.shaper.sustained);
            }
            let granted_from = self.timing.granted_from(now);
            match shares {
                None => self.flow.request(request, granted_from),
                Some(shares) => {
                    self.take_from_own_rates(now, shares);
                    self.flow.request_shares(shares, granted_from);
                }
            }
            self.note(recorder, now, Kind::Request, request);
        }
        if wanted > request {
            self.shaper.hold(now, allowed.sustained, allowed.peak);
            self.note(recorder, now, Kind::Withhold, wanted - request);
        }
        request > 0
    }

    /// What these flows of an aggregate want that their own rates allow them to request now.
    fn within_own_rates(&self, now: Time, by: By) -> Shares {
        let Shares { low, classic } = self.flow.unrequested_by(by);
        let [of_low, of_classic] = &self.member_rates;
        let within = |bytes: u64, own: &Option<TokenBucket>| {
            own.as_ref().map_or(bytes, |own| bytes.min(own.tokens(now) as u64))
        };
        Shares { low: within(low, of_low), classic: within(classic, of_classic) }
    }

    fn take_from_own_rates(&mut self, now: Time, Shares { low, classic }: Shares) {
        for (bytes, own) in [low, classic].into_iter().zip(&mut self.member_rates) {
            own.iter_mut().for_each(|own| own.take(now, bytes));
        }
    }

    /// docsislink.cc: tokens of the sustained bucket, and what the peak rate brought since the last
    /// request. As there, the depth of the peak bucket is not enforced. Unlike there, a fraction of
    /// a byte carries over to the next request, which matters at a few kbps.
    fn requestable(&mut self, now: Time) -> Allowed {
        let rate = self.shaper.peak.rate();
        let peak = rate.bytes_in(now.since(self.last_request));
        let fraction = peak - whole(peak);
        self.last_request = now.since(Time::from_secs_f64(fraction * 8.0 / rate.bps() as f64));
        Allowed { sustained: self.shaper.sustained.tokens(now), peak }
    }

    /// Does the CMTS keep the rates of an aggregate, as in docsis-ns3? Its grants then take the tokens,
    /// and both flows request all that waits.
    #[inline]
    fn is_policed(&self) -> bool {
        self.flow.is_aggregate() && self.shaping == Some(Shaping::Transmissions)
    }

    /// Bytes that the MAP at `at` may grant an aggregate beside what comes unasked.
    fn grantable(&self, at: Time) -> Allowed {
        if !self.is_policed() {
            return Allowed::ALL;
        }
        self.conforming(at, self.map_interval, self.flow.unasked_per_map())
    }

    /// Bytes, in addition to those requested, that will conform by the end of the interval in which
    /// a request made now is granted. Earlier requests have been sent by then, so the depths of the
    /// buckets do not limit the sum.
    fn sendable_by_grant(&self, now: Time, requested: u64) -> Allowed {
        self.conforming(now, self.timing.sent_within(now), requested)
    }

    /// Bytes beside `others` that both rates let pass until `span` after `now`.
    fn conforming(&self, now: Time, span: Time, others: u64) -> Allowed {
        let by_then = |bucket: &TokenBucket| {
            let tokens = bucket.tokens(now) - bucket.debt(now);
            (tokens + bucket.rate().bytes_in(span) - others as f64).max(0.0)
        };
        Allowed { sustained: by_then(&self.shaper.sustained), peak: by_then(&self.shaper.peak) }
    }

    /// Ends the piece being sent. Returns the packet if this was its last piece.
    fn end_piece(&mut self, now: Time, recorder: &mut Recorder) -> Option<Packet> {
        debug_assert!(self.burst_next <= now);
        self.burst_next = Time::NEVER;
        match self.flow.end_piece() {
            PieceEnd::Nothing => None,
            PieceEnd::Piece(bytes) => {
                self.note(recorder, now, Kind::PieceEnd, bytes);
                None
            }
            PieceEnd::Packet => {
                let sent = self.flow.take_sent();
                if let Some(packet) = &sent {
                    if self.shaping.is_some() && self.shaper.held(packet) {
                        recorder.delayed(packet);
                    }
                    self.probe.packet(recorder, now, Kind::Sent, packet);
                }
                sent
            }
        }
    }

    /// Sends the next piece while granted bytes are left.
    fn send_piece(&mut self, now: Time, recorder: &mut Recorder) {
        if self.flow.granted == 0 {
            return;
        }
        let piece = self.flow.sendable(now, self.probe, recorder);
        if piece.is_none() {
            // The AQM algorithm dropped what the grant was for.
            self.flow.waste_grant(now, self.probe, recorder);
        }
        self.put_back_unused();
        let Some(piece) = piece else { return };
        let proactive = self.flow.proactive_part(piece);
        if proactive > 0 {
            self.shaper.take(now, proactive); // the buckets do not delay what is granted (docsis-ns3)
            self.probe.bucket(recorder, &self.shaper.sustained);
        } else if self.shaping == Some(Shaping::Transmissions) && !self.is_policed() {
            let ready = self.shaper.ready_at(now, piece);
            if ready > now {
                self.burst_next = ready;
                return;
            }
            self.shaper.take(now, piece);
            self.probe.bucket(recorder, &self.shaper.sustained);
        }
        self.flow.begin_piece(now, piece, self.probe, recorder);
        self.burst_next = now + self.channel.time_for(piece);
    }

    /// The modem reports what it does not use of a grant, and the CMTS puts back the tokens that it
    /// took for it (docsis-ns3; here at once).
    fn put_back_unused(&mut self) {
        if self.is_policed() {
            self.shaper.put_back(self.flow.take_unused());
        }
    }

    /// When the CMTS has received what has been sent by now, without propagation.
    #[inline]
    pub fn received_at(&self, now: Time) -> Time {
        self.timing.received_at(now)
    }

    /// Packets and bytes the modem holds.
    pub fn inside(&self) -> Count {
        self.flow.inside()
    }

    /// Warnings about settings that distort the results.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        let burst = self.shaper.sustained.depth_bytes();
        let needed = self.shaper.sustained.rate().bytes_in(self.map_interval);
        let starved = self.shaping == Some(Shaping::Requests) && burst < needed;
        let warning = || {
            format!(
                "upstream.burst_bytes is {burst:.0}, but {needed:.0} bytes pass in a MAP interval at \
                 the sustained rate: with shaping = \"requests\" the service flow cannot reach that \
                 rate"
            )
        };
        starved.then(warning).into_iter()
    }

    /// Counters of the MAC.
    pub fn counters(&self) -> MacCounters {
        self.flow.counters
    }

    /// Time in its queue of the last packet to leave it.
    pub(super) fn last_sojourn(&self) -> Time {
        self.flow.last_sojourn
    }

    /// The queue that it sends from.
    pub fn queue(&self) -> &Queue {
        &self.flow.queue
    }

    /// Samples its queue and the channel's free capacity for their time series.
    pub fn sample(&mut self, now: Time) {
        let mbps = self.channel_mbps(now);
        self.flow.queue.sample(|gauges| show_channel(gauges, mbps));
    }

    /// Samples its queue only.
    pub(super) fn sample_queue(&mut self) {
        self.flow.queue.sample(|_| ());
    }

    /// The channel's free capacity for this modem now.
    pub(super) fn channel_mbps(&self, now: Time) -> f64 {
        let mean_grant = self.capacity.greatest_grant(now, 0.5);
        mean_grant * 8e-6 / self.map_interval.secs_f64()
    }
}

/// Reports the channel's free capacity beside the queue in front of it.
pub(super) fn show_channel(gauges: &mut Gauges, mbps: f64) {
    gauges.set("channel_rate", "Mbps", mbps);
}

/// Rate at which a burst is sent.
fn channel_rate(spec: &Upstream) -> BitRate {
    let mbps =
        spec.mac.channel_mbps.unwrap_or(LEAST_CHANNEL_MBPS.max(2.0 * spec.terms().peak_mbps));
    BitRate::from_mbps(mbps)
}
