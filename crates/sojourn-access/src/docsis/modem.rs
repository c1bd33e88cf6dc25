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
use super::parameters::Shaping;
use super::regularity::Grid;
use super::request_grant::{By, MacCounters};
use super::scheduling_service::RequestPolicy;
use super::service_flow_mac::{Allowed, Enforcement, Next, ServiceFlowMac};
use super::timing::{Specification, Timing};
use super::unsolicited::{Opportunity, Unsolicited};
use crate::context::ServiceFlowContext;
use crate::service::Upstream;
use crate::shaper::Shaper;
use sojourn_engine::count::Count;
use sojourn_engine::dialect::Dialect;
use sojourn_engine::packet::Packet;
use sojourn_engine::queue::{Queue, default_limit_bytes};
use sojourn_engine::record::ModemEventKind as Kind;
use sojourn_engine::record::{Gauges, Recorder};
use sojourn_engine::rng::Rng;
use sojourn_engine::units::{BitRate, Time, whole};
use sojourn_input::fault;
use sojourn_input::problem::Warning;

sojourn_engine::series! {
    /// What the upstream channel can give, at the end of the interval.
    CHANNEL_RATE = "channel_rate", in "Mbps";
}

/// Rate of the channels in CableLabs' ns-2 script. It is the default, if it is at least twice the
/// peak rate.
pub const LEAST_CHANNEL_MBPS: f64 = 100.0;

/// What a MAP granted of a request, and what it left.
#[derive(Clone, Copy)]
pub(super) struct Granted {
    pub bytes: u64,
    pub ungranted: u64,
}

/// The upstream of a modem.
pub struct Modem {
    pub(super) mac: ServiceFlowMac,
    timing: Timing,
    map_interval: Time,
    channel: BitRate,
    capacity: FreeCapacity,
    rng: Rng,
    /// Unsolicited grants and polls, if its service has any.
    unsolicited: Option<Box<Unsolicited>>,
    /// The fraction of one further byte that the last MAP could have granted.
    grant_fraction: f64,
    /// Bytes granted by a MAP that was computed before its time.
    coming: Shares,
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
        let enforcement = match spec.shaping.unwrap_or(by_dialect) {
            _ if !spec.scheduling.is_shaped() => Enforcement::None,
            Shaping::Requests => Enforcement::Requests,
            Shaping::Transmissions => Enforcement::Pieces,
        };
        // CableLabs' ns-2 script: the grants of a single queue are limited to the peak rate.
        let free = shaper.peak.rate();
        Self::sending(queue, shaper, enforcement, free, spec, context)
    }

    /// A modem that sends as fast as the channel allows. White & Padden 2012 §3.1.3: without
    /// congestion the CMTS does not limit grants.
    pub(super) fn unshaped(queue: Queue, spec: &Upstream, context: &ServiceFlowContext) -> Self {
        let shaper = Shaper::of(spec.terms());
        Self::sending(queue, shaper, Enforcement::None, channel_rate(spec), spec, context)
    }

    /// From now on it has other rates and other parameters of its queue. What is granted is sent.
    pub(crate) fn retune(&mut self, now: Time, spec: &Upstream) {
        self.retune_rates(now, spec, BitRate::from_mbps(spec.terms().peak_mbps));
        let buffer_bytes = default_limit_bytes(self.mac.shaper.sustained.rate());
        self.mac.flow.queue.retune(&spec.queue, buffer_bytes);
    }

    /// From now on it has other rates, and what the CMTS grants without congestion is at most `free`.
    pub(super) fn retune_rates(&mut self, now: Time, spec: &Upstream, free: BitRate) {
        self.mac.shaper.retune(now, spec.terms());
        self.channel = channel_rate(spec);
        self.capacity.set_free(free, self.map_interval);
    }

    fn sending(
        queue: Queue,
        shaper: Shaper,
        enforcement: Enforcement,
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
        let mac = ServiceFlowMac::new(queue, shaper, enforcement, spec, &timing, &grid, context);
        Self {
            mac,
            timing,
            map_interval,
            channel: channel_rate(spec),
            capacity: FreeCapacity::of(congestion, free, map_interval, spread_percent),
            rng: Rng::named(context.seed, &format!("{name} mac")),
            opportunity: unsolicited.as_ref().map_or(Time::NEVER, |unsolicited| unsolicited.next()),
            unsolicited,
            grant_fraction: 0.0,
            coming: Shares::default(),
            last_map: None,
            next_map: Time::NEVER,
            request_at: Time::NEVER,
            request_by: By::Both,
            burst_start: Time::NEVER,
            burst_next: Time::NEVER,
        }
    }

    /// Takes a packet from the home.
    #[inline]
    pub fn accept(&mut self, now: Time, packet: Packet, recorder: &mut Recorder) {
        self.mac.arrive(now, &packet, recorder);
        self.enqueue(now, packet, recorder);
    }

    /// Takes a packet into the queue that it sends from.
    #[inline]
    pub(super) fn enqueue(&mut self, now: Time, packet: Packet, recorder: &mut Recorder) {
        self.mac.enqueue(now, packet, recorder);
        if self.next_map == Time::NEVER && self.mac.policy.contention {
            self.resume_maps(now);
        }
    }

    /// The next wake time of the modem.
    #[inline]
    pub fn next_wake(&self) -> Time {
        let mac = self.next_map.min(self.burst_start).min(self.burst_next);
        mac.min(self.request_at).min(self.opportunity).min(self.queue().next_update())
    }

    /// Does one thing that is due. Returns the packet whose last byte has been sent, if any. At
    /// equal times the order is: the end of a piece, the AQM algorithm, the MAP, a request without a
    /// grant, an unsolicited grant or poll, the start of a burst.
    pub fn wake(&mut self, now: Time, recorder: &mut Recorder) -> Option<Packet> {
        if self.burst_next <= now {
            return self.continue_burst(now, recorder);
        }
        if self.queue().next_update() <= now {
            self.mac.update(now, self.skips_maps());
        } else if self.next_map <= now {
            self.on_map(now, recorder);
        } else if self.request_at <= now {
            self.request_at = Time::NEVER;
            self.mac.request(self.request_by, now, &self.timing, recorder);
        } else if self.opportunity <= now {
            self.on_opportunity(now, recorder);
        } else if self.burst_start <= now {
            self.start_burst(now, recorder);
        }
        None
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
        self.mac.resume(last_map);
        self.next_map = last_map + self.map_interval;
        self.place_request(last_map);
        if self.request_at < now {
            self.request_at = Time::NEVER; // it has passed without anything to request
        }
    }

    /// Draws when this interval's request without a grant is made.
    fn place_request(&mut self, map: Time) {
        if !self.timing.is_documents() && self.mac.policy.contention {
            self.request_at = self.timing.request_place(map, self.rng.uniform());
            self.request_by = By::Both;
        }
    }

    /// An unsolicited grant or a poll.
    fn on_opportunity(&mut self, now: Time, recorder: &mut Recorder) {
        let Some(unsolicited) = &mut self.unsolicited else { return };
        match unsolicited.take() {
            Opportunity::Grant(bytes) => {
                let is_used = self.mac.begin_unsolicited(now, bytes, recorder);
                unsolicited.was_used(now, is_used);
                self.mac.request_beyond_grant(now, &self.timing, recorder);
                if self.mac.silent.at(now) {
                    self.mac.waste_grant(now, recorder);
                } else if !self.mac.flow.is_sending() && self.burst_start > now {
                    self.send_piece(now, recorder);
                }
            }
            Opportunity::Poll => self.poll(now, recorder),
        }
        self.opportunity = self.unsolicited.as_ref().map_or(Time::NEVER, |u| u.next());
    }

    /// Requests what waits, if anything does.
    fn poll(&mut self, now: Time, recorder: &mut Recorder) {
        if !self.mac.answer_poll(now, &self.timing, recorder) {
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
        self.mac.flow.begin(grant);
        let sends = self.burst_next != Time::NEVER;
        if self.mac.flow.granted() == 0 || sends {
            // Without a grant: a request of its own. If a burst extends into this interval:
            // piggybacked on it.
            if grant.total() > 0 {
                self.mac.note(recorder, now, Kind::Grant, grant.total());
            }
            let RequestPolicy { piggyback, contention } = self.mac.policy;
            let may = if sends { piggyback } else { contention };
            if may && (sends || self.timing.is_documents()) {
                self.mac.request(self.piggybacked(sends), now, &self.timing, recorder);
                if sends {
                    self.request_beside_burst(now, recorder);
                }
            } else if !self.mac.flow.is_idle() {
                self.place_request(now);
            }
        } else {
            self.burst_start = now + self.place_of_burst(self.mac.flow.granted());
            self.request_beside_burst(now, recorder);
        }
        let idle = self.mac.flow.is_idle();
        self.next_map = if idle { Time::NEVER } else { now + self.map_interval };
    }

    /// Which flows of an aggregate request at the start of an interval: those whose burst extends into
    /// it.
    fn piggybacked(&self, sends: bool) -> By {
        if sends && !self.timing.is_documents() { By::Granted } else { By::Both }
    }

    /// The flow of an aggregate that has no grant in this interval requests by itself.
    fn request_beside_burst(&mut self, now: Time, recorder: &mut Recorder) {
        if !self.mac.flow.is_aggregate() {
            return;
        }
        if self.timing.is_documents() {
            self.mac.request(By::Ungranted, now, &self.timing, recorder);
            return;
        }
        if let Some(ungranted) = self.mac.flow.ungranted() {
            self.place_request(now);
            self.request_by = ungranted;
        }
    }

    /// Bytes that the MAP at `at` grants of the requests that it can answer.
    fn grant_of_map(&mut self, at: Time, recorder: &mut Recorder) -> Shares {
        self.mac.flow.requests_arrive(at);
        let free = self.capacity.greatest_grant(at, self.rng.uniform());
        let greatest = if self.mac.silent.at(at) { 0.0 } else { free } + self.grant_fraction;
        self.grant_fraction = greatest - whole(greatest);
        let allowed = self.grantable(at);
        let wanted = self.mac.flow.at_cmts().min(greatest as u64);
        let grant = wanted.min(allowed.bytes());
        let shares = self.mac.flow.grant(grant);
        let ungranted = self.mac.flow.at_cmts();
        self.mac.flow.queue.on_map(grant, ungranted);
        self.last_map = Some(Granted { bytes: grant, ungranted });
        self.mac.note(recorder, at, Kind::Map, grant);
        if self.mac.enforcement == Enforcement::Grants {
            self.mac.take_tokens(at, grant, recorder);
        }
        self.mac.flow.defers(at, wanted > grant && grant == 0);
        if wanted > grant {
            self.mac.shaper.hold(at, allowed.sustained, allowed.peak);
            self.mac.note(recorder, at, Kind::Defer, wanted - grant);
        }
        shares
    }

    /// What the last MAP brought, once.
    pub(super) fn take_last_map(&mut self) -> Option<Granted> {
        self.last_map.take()
    }

    /// Computes the next MAP in advance, which saves its event. This is possible once this
    /// interval's request is made, if the burst that carries the request ends before that MAP:
    /// nothing can change what it brings.
    fn look_ahead(&mut self, now: Time, recorder: &mut Recorder) {
        self.mac.flow.requests_arrive(self.next_map);
        let burst_end = now + self.channel.time_for(self.mac.flow.granted());
        let paced = matches!(self.mac.enforcement, Enforcement::Pieces | Enforcement::Grants)
            || self.unsolicited.is_some()
            || self.mac.flow.is_aggregate();
        if paced || self.mac.flow.at_cmts() == 0 || burst_end > self.next_map {
            return;
        }
        self.coming = self.grant_of_map(self.next_map, recorder);
        self.mac.flow.is_granted_ahead = self.coming.total() > 0;
        self.burst_start = self.next_map + self.place_of_burst(self.coming.total());
        self.next_map += self.map_interval;
    }

    /// A uniform position within the MAP interval at which the whole grant still fits. The
    /// two-queue modem sends from the start of the interval (White & Padden 2012 §2.2.2).
    ///
    /// Beside proactive grants it is sent from the start too, behind the first of them. An aggregate's
    /// grants are one block, the low-latency flow's first (docsis-ns3).
    fn place_of_burst(&mut self, grant: u64) -> Time {
        if self.mac.flow.grants_proactively() {
            return Time::ZERO;
        }
        let at_channel_rate = self.channel.time_for(grant);
        let length = match self.mac.enforcement {
            Enforcement::None => self.map_interval,
            Enforcement::Pieces => at_channel_rate.max(self.mac.shaper.peak.rate().time_for(grant)),
            _ => at_channel_rate,
        };
        self.map_interval.since(length).scaled(self.rng.uniform())
    }

    /// Starts a burst; a proactive grant's piece that is being sent goes on before it.
    fn start_burst(&mut self, now: Time, recorder: &mut Recorder) {
        self.burst_start = Time::NEVER;
        self.mac.flow.begin(std::mem::take(&mut self.coming));
        self.mac.flow.is_granted_ahead = false;
        self.mac.note(recorder, now, Kind::Grant, self.mac.flow.granted());
        if self.mac.policy.piggyback {
            self.mac.request(By::Granted, now, &self.timing, recorder);
        }
        self.look_ahead(now, recorder);
        if !self.mac.flow.is_sending() {
            self.send_piece(now, recorder);
        }
    }

    /// Ends the piece being sent, or continues because the shaper has tokens.
    pub(super) fn continue_burst(&mut self, now: Time, recorder: &mut Recorder) -> Option<Packet> {
        debug_assert!(self.burst_next <= now);
        let sent = self.mac.end_piece(now, recorder);
        self.send_piece(now, recorder);
        sent
    }

    /// Bytes that the MAP at `at` may grant an aggregate beside what comes unasked.
    fn grantable(&self, at: Time) -> Allowed {
        if self.mac.enforcement != Enforcement::Grants {
            return Allowed::ALL;
        }
        self.mac.conforming(at, self.map_interval, self.mac.flow.unasked_per_map())
    }

    /// Sends the next piece while granted bytes are left.
    fn send_piece(&mut self, now: Time, recorder: &mut Recorder) {
        self.burst_next = match self.mac.next_piece(now, recorder) {
            Next::Piece(bytes) => now + self.channel.time_for(bytes),
            Next::Wait(until) => until,
            Next::Nothing => Time::NEVER,
        };
    }

    /// When the CMTS has received what has been sent by now, without propagation.
    #[inline]
    pub fn received_at(&self, now: Time) -> Time {
        self.timing.received_at(now)
    }

    /// Packets and bytes the modem holds.
    pub fn inside(&self) -> Count {
        self.mac.flow.inside()
    }

    /// Warnings about settings that distort the results.
    pub fn warnings(&self) -> impl Iterator<Item = Warning> {
        let burst = self.mac.shaper.sustained.depth_bytes();
        let needed = self.mac.shaper.sustained.rate().bytes_in(self.map_interval);
        let starved = self.mac.enforcement == Enforcement::Requests && burst < needed;
        let warning = || {
            fault!(BurstBelowMap, "upstream.burst_bytes" =>
                "upstream.burst_bytes is {burst:.0}, but {needed:.0} bytes pass in a MAP interval at the sustained \
                 rate: with shaping = \"requests\" the service flow cannot reach that rate", burst, needed)
        };
        starved.then(warning).into_iter()
    }

    /// Counters of the MAC.
    pub fn counters(&self) -> MacCounters {
        self.mac.flow.counters
    }

    /// Time in its queue of the last packet to leave it.
    pub(super) fn last_sojourn(&self) -> Time {
        self.mac.flow.last_sojourn
    }

    /// The queue that it sends from.
    pub fn queue(&self) -> &Queue {
        &self.mac.flow.queue
    }

    /// Samples its queue and the channel's free capacity for their time series.
    pub fn sample(&mut self, now: Time) {
        let mbps = self.channel_mbps(now);
        self.mac.flow.queue.sample(|gauges| show_channel(gauges, mbps));
    }

    /// Samples its queue only.
    pub(super) fn sample_queue(&mut self) {
        self.mac.flow.queue.sample(|_| ());
    }

    /// The channel's free capacity for this modem now.
    pub(super) fn channel_mbps(&self, now: Time) -> f64 {
        let mean_grant = self.capacity.greatest_grant(now, 0.5);
        mean_grant * 8e-6 / self.map_interval.secs_f64()
    }
}

/// Reports the channel's free capacity beside the queue in front of it.
pub(super) fn show_channel(gauges: &mut Gauges, mbps: f64) {
    gauges.show(CHANNEL_RATE, mbps);
}

/// Rate at which a burst is sent.
pub(super) fn channel_rate(spec: &Upstream) -> BitRate {
    let mbps =
        spec.mac.channel_mbps.unwrap_or(LEAST_CHANNEL_MBPS.max(2.0 * spec.terms().peak_mbps));
    BitRate::from_mbps(mbps)
}

#[cfg(test)]
#[path = "modem_tests.rs"]
mod tests;
