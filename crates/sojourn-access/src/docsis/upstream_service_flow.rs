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
use super::regularity::Grid;
use super::request_grant::{By, MacCounters, Waiting};
use super::service_flow_mac::{Enforcement, Next, ServiceFlowMac};
use super::timing::Timing;
use crate::context::ServiceFlowContext;
use crate::service::Upstream;
use crate::shaper::{PEAK_BURST_BYTES, Shaper};
use sojourn_engine::count::Count;
use sojourn_engine::packet::{DropReason, Packet};
use sojourn_engine::queue::{Queue, default_limit_bytes};
use sojourn_engine::record::ModemEventKind as Kind;
use sojourn_engine::record::Recorder;
use sojourn_engine::token_bucket::TokenBucket;
use sojourn_engine::units::{BitRate, Time};

/// An upstream service flow on the shared channel.
pub(crate) struct UpstreamServiceFlow {
    pub(super) mac: ServiceFlowMac,
    /// Bucket of the minimum reserved rate, if there is one.
    pub(super) reserved: Option<TokenBucket>,
    /// Traffic priority, 7 being the highest.
    pub(super) priority: u8,
    /// Its profile on the channel (framing.rs).
    pub(super) profile: u8,

    /// Does it request in contention only when nothing is requested?
    waits_for_grants: bool,
    /// Is it contending?
    pub(super) contends: bool,
    /// May it have changed since it was last asked whether it wants to (channel_flows.rs)?
    pub(super) is_touched: bool,
    /// The channels whose schedulers it waits for, a bit for each.
    pub(super) waits: u64,
    /// Did the current MAP leave something of its requests (Data Grant Pending)?
    pub(super) is_pending: bool,
    /// Bytes left of its turn.
    pub(super) deficit: u64,
    /// By channel, the bytes that others have granted it, for which it lets turns pass there. Empty where all flows have the
    /// same channels.
    pub(super) elsewhere: Vec<u64>,
    /// The channel of its turn.
    pub(super) turn_on: usize,
    /// When the grants of the current MAP begin, and what the MAP may grant the flow.
    map: Time,
    grantable: u64,
    /// What its channel may have of that, where it sends on several.
    share: u64,
    /// What the current MAP grants it.
    pub(super) in_map: u64,
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
        let queue = context.queue("upstream", &spec.queue, buffer_bytes);
        let enforcement = match spec.scheduling.is_shaped() {
            true => Enforcement::GrantsAndPieces,
            false => Enforcement::None,
        };
        let mac = ServiceFlowMac::new(queue, shaper, enforcement, spec, timing, grid, context);
        Self {
            mac,
            reserved: minimum.map(|rate| deep_enough(rate, map)),
            priority: spec.priority,
            profile,
            waits_for_grants: timing.is_documents(),
            contends: false,
            is_touched: false,
            waits: 0,
            is_pending: false,
            deficit: 0,
            elsewhere: Vec::new(),
            turn_on: 0,
            map: Time::NEVER,
            grantable: 0,
            share: u64::MAX,
            in_map: 0,
        }
    }

    /// From now on it has other rates and other parameters of its queue. What is granted is sent.
    pub(crate) fn retune(&mut self, now: Time, spec: &Upstream, map: Time) {
        let deep = |rate: BitRate| PEAK_BURST_BYTES + rate.bytes_in(map.times(2)) as u64;
        self.mac.shaper.retune_with(now, spec.terms(), deep);
        let buffer_bytes = default_limit_bytes(self.mac.shaper.sustained.rate());
        self.mac.flow.queue.retune(&spec.queue, buffer_bytes);
    }

    /// Takes a packet from the home.
    #[inline]
    pub(crate) fn accept(&mut self, now: Time, packet: Packet, recorder: &mut Recorder) {
        self.mac.arrive(now, &packet, recorder);
        self.mac.enqueue(now, packet, recorder);
    }

    /// Does it need to contend? Only for bytes that have come since its last request, and only without a
    /// grant, in which it requests. In Multiple Transmit Channel mode requests on their way do not keep it
    /// from requesting again (DOCSIS 3.0, MULPI §7.2.1); the documents' modem waits for their grants. A
    /// pending grant it waits for in any case: on a full channel all would contend for ever.
    pub(crate) fn wants_to_contend(&self) -> bool {
        let flow = &self.mac.flow;
        if self.waits_for_grants && flow.requested() > 0 {
            return false;
        }
        if flow.is_aggregate() {
            let Shares { low, classic } = flow.unrequested_by(By::Ungranted);
            let waits = self.is_pending;
            return low > 0 && !(waits && flow.low_at_cmts() > 0) || classic > 0 && !waits;
        }
        self.mac.policy.contention
            && !self.is_pending
            && !flow.has_grant()
            && flow.unrequested() > 0
    }

    /// Begins a grant of `bytes`: requests what has come since. Returns whether it requested
    /// anything.
    pub(crate) fn begin_grant(
        &mut self,
        now: Time,
        bytes: u64,
        timing: &Timing,
        recorder: &mut Recorder,
    ) -> bool {
        self.mac.flow.begin_grant(bytes);
        self.mac.note(recorder, now, Kind::Grant, bytes);
        self.mac.policy.piggyback && self.mac.request(By::Granted, now, timing, recorder)
    }

    /// Takes back a request that collided.
    pub(crate) fn collided(&mut self, now: Time) {
        self.mac.flow.collided(now);
    }

    /// Drops the packet whose request failed too often (MULPI §7.2.1).
    pub(crate) fn give_up(&mut self, now: Time, recorder: &mut Recorder) {
        if let Some(packet) = self.mac.flow.discard_next(now, recorder) {
            recorder.lost(now, &packet, DropReason::Contention, (now, []));
        }
    }

    /// The CMTS now knows of the requests that the MAP at `map` can grant. Returns whether it knows
    /// of any.
    pub(crate) fn requests_arrive(&mut self, map: Time) -> bool {
        self.mac.flow.requests_arrive(map);
        self.mac.flow.at_cmts() > 0
    }

    /// Requested bytes that the CMTS knows of.
    pub(crate) fn known_request(&self) -> u64 {
        self.mac.flow.at_cmts()
    }

    /// Bytes that the MAP whose grants begin at `start` may grant in addition to what it grants
    /// already.
    pub(crate) fn need(&mut self, start: Time) -> u64 {
        if self.map != start {
            self.map = start;
            self.grantable = self.grantable(start);
            let is_deferred = self.grantable == 0 && !self.mac.silent.at(start);
            if is_deferred {
                self.mac.hold(start);
            }
            self.mac.flow.defers(start, is_deferred);
        }
        self.grantable.min(self.share) - self.in_map
    }

    /// A channel of several may grant it so much in the MAP that is made now.
    pub(super) fn offer(&mut self, share: u64) {
        (self.share, self.map) = (share, Time::NEVER);
    }

    /// A channel grants it so many bytes; as many of its turns on the others go to flows that have no other channel. No
    /// more than `most` are kept in mind.
    pub(super) fn granted_on(&mut self, channel: usize, bytes: u64, most: u64) {
        for (other, elsewhere) in self.elsewhere.iter_mut().enumerate() {
            if other != channel {
                *elsewhere = (*elsewhere + bytes).min(most);
            }
        }
    }

    /// Is its turn that of another channel?
    pub(super) fn has_turn_elsewhere(&self, channel: usize) -> bool {
        self.turn_on != channel && !self.elsewhere.is_empty()
    }

    /// Has it had a turn of so many bytes on other channels than this?
    pub(super) fn passes_turn(&mut self, channel: usize, quantum: u64) -> bool {
        let Some(elsewhere) = self.elsewhere.get_mut(channel) else { return false };
        let passes = *elsewhere >= quantum;
        *elsewhere -= if passes { quantum } else { 0 };
        passes
    }

    /// Does it wait for grants?
    #[cfg(test)]
    pub(super) fn waits(&self) -> bool {
        self.waits > 0
    }

    /// Bytes that a grant at `start` may carry on a channel that has its share.
    pub(super) fn grantable_here(&self, start: Time) -> u64 {
        self.grantable(start).min(self.share)
    }

    /// The part of that need which its minimum reserved rate covers.
    pub(crate) fn reserved_need(&mut self, start: Time) -> u64 {
        let tokens = self.reserved.as_ref().map_or(0.0, |reserved| reserved.tokens(start));
        self.need(start).min(tokens as u64)
    }

    /// Bytes that a grant at `start` may carry: requested, and allowed by the token buckets then.
    pub(crate) fn grantable(&self, start: Time) -> u64 {
        if self.mac.silent.at(start) {
            return 0;
        }
        if self.mac.enforcement == Enforcement::None {
            return self.mac.flow.at_cmts();
        }
        let tokens = self.mac.shaper.tokens(start);
        let Waiting { payload, on_channel } = self.mac.flow.waiting();
        if tokens >= payload as f64 {
            return self.mac.flow.at_cmts();
        }
        let longer = on_channel as f64 / payload as f64;
        // Grants of other channels that are still to be sent have tokens.
        let conforming = ((tokens * longer) as u64).saturating_sub(self.mac.flow.outstanding());
        self.mac.flow.at_cmts().min(conforming)
    }

    /// Records the MAP that takes effect now, with grants from `start` on, in the trace, including
    /// what the token buckets keep it from granting.
    pub(crate) fn note_map(&self, now: Time, start: Time, recorder: &mut Recorder) {
        if !self.mac.probe.is_open(recorder) {
            return;
        }
        self.mac.note(recorder, now, Kind::Map, self.in_map);
        let grantable = self.grantable(start);
        if self.in_map == grantable && self.mac.flow.at_cmts() > grantable {
            self.mac.note(recorder, now, Kind::Defer, self.mac.flow.at_cmts() - grantable);
        }
    }

    /// Applies the current MAP's grant, which begins at `start`. Returns its bytes.
    pub(crate) fn take_grant(&mut self, start: Time) -> u64 {
        let grant = std::mem::take(&mut self.in_map);
        if grant == self.grantable && grant < self.mac.flow.at_cmts() {
            self.mac.hold(start);
        }
        self.mac.flow.grant_ahead(grant);
        if let Some(reserved) = &mut self.reserved {
            reserved.take(start, grant.min(reserved.tokens(start) as u64));
        }
        self.mac.flow.queue.on_map(grant, self.mac.flow.at_cmts());
        grant
    }

    /// Starts sending the next piece. Returns its bytes, or `None` if the grant has nothing more to
    /// send.
    pub(crate) fn next_piece(&mut self, now: Time, recorder: &mut Recorder) -> Option<u64> {
        if self.mac.silent.at(now) {
            self.mac.waste_grant(now, recorder);
            return None;
        }
        match self.mac.next_piece(now, recorder) {
            Next::Piece(bytes) => Some(bytes),
            Next::Wait(_) | Next::Nothing => None,
        }
    }

    /// When the AQM algorithm of its queue is next updated.
    pub(crate) fn next_update(&self) -> Time {
        self.queue().next_update()
    }

    /// Runs the periodic update of its queue's AQM algorithm.
    pub(crate) fn update(&mut self, now: Time) {
        self.mac.update(now, self.mac.flow.at_cmts() == 0);
    }

    /// Packets and bytes it holds.
    pub(crate) fn inside(&self) -> Count {
        self.mac.flow.inside()
    }

    /// Its queue, for its measurements.
    pub(crate) fn queue(&self) -> &Queue {
        &self.mac.flow.queue
    }

    /// Samples its queue for its time series.
    pub(crate) fn sample(&mut self) {
        self.mac.flow.queue.sample(|_| ());
    }

    /// Counters of its MAC.
    pub(crate) fn counters(&self) -> MacCounters {
        self.mac.flow.counters
    }
}

/// A bucket that holds a frame plus what arrives in `untouched`, a time in which nothing is
/// removed.
fn deep_enough(rate: BitRate, untouched: Time) -> TokenBucket {
    TokenBucket::new(rate, PEAK_BURST_BYTES + rate.bytes_in(untouched) as u64)
}

#[cfg(test)]
mod tests {
    use super::super::for_tests::*;
    use super::super::outages::Outages;

    use super::*;

    /// A flow in which so many packets of 1000 B wait, 1010 B on the channel.
    fn waiting(keys: &str, packets: u8) -> UpstreamServiceFlow {
        let mut flow = shared_flow(keys);
        let mut recorder = Recorder::default();
        (0..packets).for_each(|n| flow.accept(MS(1), packet(n, 1000), &mut recorder));
        flow
    }

    /// One that has requested all that waits.
    fn requesting(keys: &str, packets: u8) -> UpstreamServiceFlow {
        let mut flow = waiting(keys, packets);
        assert!(flow.mac.request(By::Ungranted, MS(2), &documents(), &mut Recorder::default()));
        assert!(!flow.requests_arrive(MS(5)));
        assert!(flow.requests_arrive(MS(6)));
        flow
    }

    const AGGREGATE: &str = "queue.scheduler.kind = 'low_latency'\n";

    /// A frame of 1522 B and what the peak rate brings in two intervals, 4 ms at 2 B per us, or the reserved rate in one.
    #[test]
    fn buckets_are_as_deep_as_grants_are_apart() {
        let flow = shared_flow("minimum_mbps = 4\npriority = 3");
        assert!((flow.mac.shaper.peak.depth_bytes() - 9522.0).abs() < 1e-6);
        assert!((flow.reserved.unwrap().depth_bytes() - 2522.0).abs() < 1e-6);
        assert_eq!((flow.priority, flow.profile), (3, 0));
        assert!(shared_flow("").reserved.is_none());
    }

    /// Only for what is not requested, and without a grant; the documents' modem waits for what it has requested.
    #[test]
    fn a_flow_contends_for_what_nothing_else_requests() {
        let polled =
            "scheduling = { kind = 'real_time_polling', nominal_polling_interval_us = 10_000 }";
        assert!(!waiting("", 0).wants_to_contend());
        assert!(waiting("", 1).wants_to_contend());
        assert!(!waiting(polled, 1).wants_to_contend());
        for (waits_for_grants, is_pending, granted, want) in [
            (true, false, 0, false),
            (false, false, 0, true),
            (false, true, 0, false),
            (false, false, 1010, false),
        ] {
            let mut flow = requesting("", 1);
            flow.accept(MS(6), packet(9, 1000), &mut Recorder::default());
            (flow.waits_for_grants, flow.is_pending) = (waits_for_grants, is_pending);
            flow.mac.flow.grant_ahead(granted);
            assert_eq!(flow.wants_to_contend(), want);
        }
        // However little was requested, the documents' modem waits for it.
        let mut flow = waiting("", 1);
        flow.mac.flow.request(1, MS(6));
        assert!(!flow.wants_to_contend());
    }

    /// A single byte counts: of each member that is not requested, and of the low-latency one at the CMTS.
    #[test]
    fn members_contend_for_a_byte() {
        for (low, classic, at_cmts, is_pending, want) in [
            (1, 0, 0, false, true),
            (0, 1, 0, false, true),
            (0, 0, 0, false, false),
            (9, 0, 1, true, false),
            (9, 0, 0, true, true),
        ] {
            let mut flow = waiting(AGGREGATE, 1);
            flow.accept(MS(1), low_latency(packet(9, 200)), &mut Recorder::default());
            flow.waits_for_grants = false;
            flow.is_pending = is_pending;
            flow.mac.flow.request_shares(Shares { low: at_cmts, classic: 0 }, MS(2));
            flow.requests_arrive(MS(2));
            let unrequested = Shares { low: 210 - at_cmts - low, classic: 1010 - classic };
            flow.mac.flow.request_shares(unrequested, MS(6));
            assert_eq!(flow.wants_to_contend(), want, "{low} {classic} {at_cmts} {is_pending}");
        }
    }

    /// A pending grant keeps a flow of an aggregate from contending: the low-latency one only for its own.
    #[test]
    fn each_flow_of_an_aggregate_contends_for_itself() {
        for (low, classic, low_is_known, is_pending, want) in [
            (0, 0, false, false, false),
            (1, 0, false, false, true),
            (1, 0, false, true, true),
            (1, 0, true, true, false),
            (1, 0, true, false, true),
            (0, 1, false, false, true),
            (0, 1, false, true, false),
            (1, 1, true, true, false),
        ] {
            let mut flow = waiting(AGGREGATE, classic);
            let mut recorder = Recorder::default();
            flow.waits_for_grants = false;
            if low_is_known {
                flow.accept(MS(1), low_latency(packet(8, 200)), &mut recorder);
                flow.mac.flow.request_shares(Shares { low: 210, classic: 0 }, MS(2));
                assert!(flow.requests_arrive(MS(2)));
            }
            (0..low).for_each(|_| flow.accept(MS(1), low_latency(packet(9, 200)), &mut recorder));
            flow.is_pending = is_pending;
            assert_eq!(
                flow.wants_to_contend(),
                want,
                "{low} {classic} {low_is_known} {is_pending}"
            );
        }
    }

    #[test]
    fn a_grant_carries_a_request_for_what_has_come_since() {
        let polled =
            "scheduling = { kind = 'real_time_polling', nominal_polling_interval_us = 10_000,
                                     piggyback = false }";
        for (keys, packets, want) in [("", 2, true), ("", 1, false), (polled, 2, false)] {
            let mut flow = requesting(keys, 1);
            let mut recorder = tracing();
            (1..packets).for_each(|n| flow.accept(MS(6), packet(n, 1000), &mut recorder));
            flow.mac.flow.grant_ahead(1010);
            assert_eq!(flow.begin_grant(MS(7), 1010, &documents(), &mut recorder), want);
            assert_eq!(
                (flow.mac.flow.granted(), flow.counters().requests),
                (1010, 1 + u64::from(want))
            );
            let mut seen = events(&mut recorder);
            seen.retain(|(at, ..)| *at == MS(7));
            assert_eq!(seen[0], (MS(7), "grant", 1010));
            assert_eq!(seen[1..], [(MS(7), "request", 1010)][..usize::from(want)]);
        }
    }

    #[test]
    fn failed_requests_are_counted_and_cost_a_packet_in_the_end() {
        let mut flow = waiting("", 2);
        flow.collided(MS(2));
        assert_eq!((flow.counters().requests, flow.counters().collisions), (1, 1));
        let mut recorder = Recorder::default();
        flow.give_up(MS(3), &mut recorder);
        assert_eq!(flow.inside(), Count { packets: 1, bytes: 1000 });
        assert_eq!(recorder.events.len(), 1);
    }

    /// Of 4040 B requested for 4000 B of packets as many may be granted as tokens are for: 3000 are for 3030.
    #[test]
    fn a_grant_is_for_what_the_buckets_hold_when_it_begins() {
        for (taken, keys, want) in [
            (0, "", 4040),
            (1000, "", 4040),
            (2000, "", 3030),
            (5000, "", 0),
            (0, "ranging_outages = [{ start_s = 0.005, length_s = 0.002 }]", 0),
            (
                5000,
                "scheduling = { kind = 'ugs', unsolicited_grant_bytes = 1, nominal_grant_interval_us = 100 }",
                4040,
            ),
        ] {
            let mut flow = requesting("", 4);
            let spec = upstream(keys);
            flow.mac.silent = Outages::new(&spec.ranging_outages);
            if keys.contains("ugs") {
                flow.mac.enforcement = Enforcement::None;
            }
            flow.mac.shaper.sustained.take(MS(6), taken);
            assert_eq!(flow.grantable(MS(6)), want, "{taken} {keys}");
            assert_eq!(flow.need(MS(6)), want);
            // Silence does not mean that a rate held something back.
            assert_eq!(flow.mac.shaper.held(&packet(0, 0)), taken == 5000 && want == 0);
            flow.in_map = want / 2;
            assert_eq!(flow.need(MS(6)), want - want / 2);
            assert_eq!(flow.known_request(), 4040);
        }
    }

    /// 8 Mbps are taken for the rate at first. An update that has heard of no grant halves it, unless nothing was requested.
    #[test]
    fn an_algorithm_hears_of_maps_that_had_nothing_to_grant() {
        for (at_cmts, mbps) in [(0, 8.0), (1, 4.0), (1010, 4.0)] {
            let mut flow = waiting(TRACKING, 1);
            flow.mac.flow.request(at_cmts, MS(2));
            flow.requests_arrive(MS(2));
            flow.update(MS(16));
            flow.sample();
            assert_eq!(rate_estimate(flow.queue()), mbps, "{at_cmts}");
        }
        // 2020 of 4040 B in 16 ms are 1.01 Mbps.
        let mut flow = requesting(TRACKING, 4);
        flow.in_map = 2020;
        flow.take_grant(MS(6));
        flow.update(MS(16));
        flow.sample();
        assert_eq!(rate_estimate(flow.queue()), 4.505);
    }

    /// What a MAP may grant is known once it is looked at; a request that comes later is for later MAPs.
    #[test]
    fn the_need_of_a_map_stays() {
        let mut flow = requesting("", 2);
        assert_eq!(flow.need(MS(6)), 2020);
        flow.mac.flow.request(500, MS(6));
        flow.requests_arrive(MS(6));
        assert_eq!((flow.need(MS(6)), flow.need(MS(8))), (2020, 2520));
    }

    /// Tokens for exactly what waits let all of it pass, whatever 3960 / 3920 is rounded to.
    #[test]
    fn enough_tokens_are_enough() {
        let mut flow = shared_flow("");
        (0..4).for_each(|n| flow.accept(MS(1), packet(n, 980), &mut Recorder::default()));
        flow.mac.flow.request(3960, MS(2));
        flow.requests_arrive(MS(2));
        flow.mac.shaper.sustained.take(MS(6), 5000 - 3920);
        assert_eq!(flow.grantable(MS(6)), 3960);
    }

    /// The reserved bucket holds 2522 B at first, and half a byte per us comes.
    #[test]
    fn a_reserved_rate_covers_what_its_bucket_holds() {
        let mut flow = requesting("minimum_mbps = 4", 4);
        assert_eq!(flow.reserved_need(MS(6)), 2522);
        flow.in_map = 2000;
        assert_eq!(flow.reserved_need(MS(6)), 2040);
        assert_eq!(flow.take_grant(MS(6)), 2000);
        assert_eq!(flow.reserved_need(MS(6)), 522);
        assert_eq!(flow.reserved_need(MS(8)), 1522);
        flow.need(MS(8));
        flow.in_map = 2040; // beyond what is reserved
        flow.take_grant(MS(8));
        assert_eq!(flow.reserved_need(MS(8)), 0);
        assert_eq!(requesting("", 4).reserved_need(MS(6)), 0);
    }

    /// The rate has held something back where a grant is all that it lets pass, and not all that was requested.
    #[test]
    fn a_grant_is_taken_from_the_request() {
        for (taken, in_map, is_held) in [(0, 4040, false), (2000, 3030, true), (2000, 3000, false)]
        {
            let mut flow = requesting("", 4);
            flow.mac.shaper.sustained.take(MS(6), taken);
            flow.need(MS(6));
            flow.in_map = in_map;
            assert_eq!(flow.take_grant(MS(6)), in_map);
            assert_eq!((flow.in_map, flow.known_request()), (0, 4040 - in_map));
            assert_eq!(flow.counters().granted_bytes, in_map);
            assert_eq!(flow.mac.shaper.held(&packet(0, 0)), is_held);
        }
    }

    /// A MAP with all that the buckets allow defers the rest.
    #[test]
    fn a_map_is_traced_with_what_it_defers() {
        for (in_map, deferred) in [(3030, Some(1010)), (3000, None)] {
            let mut flow = requesting("", 4);
            let mut recorder = tracing();
            flow.mac.shaper.sustained.take(MS(6), 2000);
            flow.in_map = in_map;
            flow.note_map(MS(6), MS(6), &mut recorder);
            let deferred = deferred.map(|bytes| (MS(6), "defer", bytes));
            let want: Vec<_> = [(MS(6), "map", in_map)].into_iter().chain(deferred).collect();
            assert_eq!(events(&mut recorder), want);
        }
        let mut recorder = tracing();
        let mut flow = requesting("", 4);
        flow.in_map = 4040;
        flow.note_map(MS(6), MS(6), &mut recorder);
        assert_eq!(events(&mut recorder), [(MS(6), "map", 4040)]);
    }

    #[test]
    fn a_silent_modem_uses_nothing_of_its_grant() {
        let mut flow = requesting("stalls = [{ start_s = 0.007, length_s = 0.001 }]", 1);
        let mut recorder = Recorder::default();
        flow.mac.flow.grant_ahead(1010);
        flow.begin_grant(MS(6), 1010, &documents(), &mut recorder);
        flow.mac.shaper.sustained.take(MS(7), 3000);
        assert_eq!(flow.next_piece(MS(7), &mut recorder), None);
        assert_eq!(flow.mac.shaper.sustained.tokens(MS(7)), 2000.0, "a grant takes no tokens");
        assert_eq!((flow.counters().unused_bytes, flow.mac.flow.granted()), (1010, 0));
        flow.mac.flow.begin_unsolicited(1010);
        assert_eq!(flow.next_piece(MS(8), &mut recorder), Some(1010));
    }

    /// A request that nobody hears is one until it could be granted, at 6 ms; then the modem contends again.
    #[test]
    fn a_request_that_nobody_hears_is_made_again() {
        let mut flow = waiting("", 2);
        assert!(flow.mac.request(By::Ungranted, MS(2), &documents(), &mut Recorder::default()));
        flow.mac.flow.lose_request(MS(2));
        assert!(!flow.requests_arrive(MS(5)) && flow.mac.flow.requested() == 2020);
        assert!(!flow.wants_to_contend());
        assert!(!flow.requests_arrive(MS(6)) && flow.mac.flow.requested() == 0);
        assert!(flow.wants_to_contend());
        assert!(flow.mac.request(By::Ungranted, MS(6), &documents(), &mut Recorder::default()));
        assert!(flow.requests_arrive(MS(10)) && flow.known_request() == 2020);
    }

    /// By the specification a modem requests again before it is granted.
    #[test]
    fn the_timing_says_whether_a_flow_waits_for_its_grants() {
        let plant = specified();
        let timing = Timing::new(&plant, MS(2), None);
        let grid = Grid { map_interval: MS(2), frame: None, overhead: 10, is_own: false };
        let flow = UpstreamServiceFlow::new(&upstream(""), &context(), &timing, &grid, 0);
        assert!(!flow.waits_for_grants && shared_flow("").waits_for_grants);
        assert!(!flow.contends && !flow.waits() && !flow.is_pending);
        assert_eq!((flow.deficit, flow.in_map), (0, 0));
    }

    /// Of a grant of 1010 B 610 are sent where tokens for 600 are left, and the rest is not used.
    #[test]
    fn a_piece_has_tokens_for_its_payload() {
        let mut flow = requesting("", 1);
        let mut recorder = Recorder::default();
        flow.mac.flow.grant_ahead(1010);
        flow.begin_grant(MS(7), 1010, &documents(), &mut recorder);
        flow.mac.shaper.sustained.take(MS(7), 4400);
        assert_eq!(flow.next_piece(MS(7), &mut recorder), Some(610));
        assert!(flow.mac.shaper.held(&packet(0, 0)));
        assert!(flow.mac.end_piece(MS(7), &mut recorder).is_none());
        assert_eq!(flow.mac.shaper.tokens(MS(7)), 0.0);
        assert_eq!(flow.next_piece(MS(7), &mut recorder), None);
        assert_eq!((flow.counters().unused_bytes, flow.mac.flow.granted()), (400, 0));
        // With all tokens nothing is held back.
        let mut flow = requesting("", 1);
        flow.mac.flow.grant_ahead(1010);
        flow.begin_grant(MS(7), 1010, &documents(), &mut recorder);
        assert_eq!(flow.next_piece(MS(7), &mut recorder), Some(1010));
        assert!(!flow.mac.shaper.held(&packet(0, 0)));
        assert_eq!(flow.mac.shaper.sustained.tokens(MS(7)), 4000.0);
        let sent = flow.mac.end_piece(MS(7), &mut recorder).unwrap();
        assert_eq!((sent.size, flow.inside()), (1000, Count::default()));
    }
}
