//! The MAC of an upstream service flow at its modem: its queue, its requests, and what it sends in its
//! grants, on a channel of its own (modem.rs) or a shared one (shared_channel.rs).
//!
//! Who keeps its rates depends on the channel. Bytes on a shared channel have headers, which the rates
//! do not count.

use super::grant_split::Shares;
use super::head_of_line::HeadOfLine;
use super::outages::Outages;
use super::probe::Probe;
use super::regularity::Grid;
use super::request_grant::{By, PieceEnd, RequestGrant};
use super::scheduling_service::RequestPolicy;
use super::timing::Timing;
use crate::context::ServiceFlowContext;
use crate::service::Upstream;
use crate::shaper::Shaper;
use sojourn_engine::aqm::{DrainRate, Loop};
use sojourn_engine::dialect::Dialect;
use sojourn_engine::packet::Packet;
use sojourn_engine::queue::{LowLatency, Queue};
use sojourn_engine::record::ModemEventKind as Kind;
use sojourn_engine::record::{Part, Recorder};
use sojourn_engine::token_bucket::TokenBucket;
use sojourn_engine::units::{BitRate, Time, whole};

/// Burst of a flow that sets none (DOCSIS 3.1 MULPI §C.2.2.8.4).
const LEAST_BURST: u64 = 3044;

/// Who keeps the rates of a service flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Enforcement {
    /// Nobody here: unsolicited grants set their own rate, or a queue in front of the modem keeps it.
    None,
    /// Requests take tokens (CableLabs' ns-2 code).
    Requests,
    /// The modem requests what will conform, and each piece waits for its tokens.
    Pieces,
    /// The CMTS of an aggregate: its grants take tokens (docsis-ns3).
    Grants,
    /// The CMTS grants what the buckets hold when the grants of the MAP begin, and the modem sends only
    /// bytes for which they hold tokens: on a shared channel a grant cannot wait for more.
    GrantsAndPieces,
}

/// Bytes that each rate allows.
pub(super) struct Allowed {
    pub sustained: f64,
    pub peak: f64,
}

impl Allowed {
    /// No limit.
    pub(super) const ALL: Self = Self { sustained: f64::INFINITY, peak: f64::INFINITY };

    pub(super) fn bytes(&self) -> u64 {
        self.sustained.min(self.peak) as u64
    }
}

/// What a grant has for the next piece.
pub(super) enum Next {
    /// A piece of so many bytes, which has begun.
    Piece(u64),
    /// Nothing before this time.
    Wait(Time),
    /// Nothing more.
    Nothing,
}

/// A service flow at its modem.
pub(super) struct ServiceFlowMac {
    pub flow: RequestGrant,
    pub shaper: Shaper,
    pub enforcement: Enforcement,
    /// How it requests beside polls.
    pub policy: RequestPolicy,
    /// Own rates of the low-latency and the classic flow of an aggregate.
    member_rates: [Option<TokenBucket>; 2],
    /// Does the modem ask for one more packet where a grant ends with the last one? ns-2 did not.
    asks_empty: bool,
    /// When its modem is silent.
    pub silent: Outages,
    /// Until when the peak rate's bytes are requested.
    peak_until: Time,
    pub probe: Probe,
}

impl ServiceFlowMac {
    /// An idle flow with full token buckets.
    pub(super) fn new(
        mut queue: Queue,
        shaper: Shaper,
        enforcement: Enforcement,
        spec: &Upstream,
        timing: &Timing,
        grid: &Grid,
        context: &ServiceFlowContext,
    ) -> Self {
        let map_interval = timing.map_interval();
        let proactive = spec.scheduling.proactive_rate(grid);
        if let Some(aggregate) = queue.aggregate_mut() {
            aggregate.set_request_loop(Loop { proactive, ..timing.request_loop() });
        }
        let bucket = |rate: BitRate| {
            let between_requests = rate.bytes_in(map_interval.times(2)) as u64;
            TokenBucket::new(rate, LEAST_BURST + between_requests)
        };
        let own_rates = queue.aggregate().map_or([None; 2], LowLatency::member_rates);
        let member_rates = own_rates.map(|rate| rate.map(bucket));
        let is_policed = enforcement == Enforcement::Pieces && queue.aggregate().is_some();
        let silent = Outages::new(spec.ranging_outages.iter().chain(&spec.stalls));
        let is_granted = spec.scheduling.grants().is_some();
        let heads = [proactive.is_some(), is_granted].map(|is_granted_unasked| {
            let first = if is_granted_unasked { Part::GrantWait } else { Part::RequestWait };
            HeadOfLine::new(first, silent.clone())
        });
        let mut flow = RequestGrant::new(queue, grid.overhead, heads);
        flow.set_proactive(proactive.map(|of| of.rate.bytes_in(map_interval) as u64));
        Self {
            flow,
            shaper,
            enforcement: if is_policed { Enforcement::Grants } else { enforcement },
            policy: spec.scheduling.policy(),
            member_rates,
            asks_empty: context.dialect != Dialect::Ns2,
            silent,
            peak_until: Time::ZERO,
            probe: Probe::upstream(context),
        }
    }

    /// Records a packet that comes from the home.
    #[inline]
    pub(super) fn arrive(&self, now: Time, packet: &Packet, recorder: &mut Recorder) {
        self.probe.arrive(recorder, now, &self.shaper.sustained, packet);
    }

    /// Takes a packet into the queue.
    #[inline]
    pub(super) fn enqueue(&mut self, now: Time, packet: Packet, recorder: &mut Recorder) {
        let drain_rate = self.drain_rate(now);
        self.flow.queue.enqueue(now, packet, &drain_rate, recorder);
        self.flow.split_dropped(false, now, recorder);
    }

    #[inline]
    pub(super) fn note(&self, recorder: &mut Recorder, at: Time, kind: Kind, bytes: u64) {
        self.probe.note(recorder, at, kind, bytes);
    }

    /// What the AQM algorithm may know of the shaper.
    fn drain_rate(&self, now: Time) -> DrainRate {
        self.shaper.drain_rate(now, self.flow.queue.buffer_bytes())
    }

    /// Runs the periodic update of its queue's AQM algorithm. `had_nothing`: MAPs had nothing for it.
    pub(super) fn update(&mut self, now: Time, had_nothing: bool) {
        if had_nothing {
            self.flow.queue.on_map(0, 0);
        }
        let drain_rate = self.drain_rate(now);
        self.flow.queue.update(now, &drain_rate);
    }

    /// Nothing was requested before the MAP at `map`, so the peak rate has brought nothing.
    pub(super) fn resume(&mut self, map: Time) {
        self.peak_until = self.peak_until.max(map);
    }

    /// Requests waiting bytes that are not yet requested, as far as its rates allow. Returns whether
    /// there are any.
    pub(super) fn request(
        &mut self,
        by: By,
        now: Time,
        timing: &Timing,
        recorder: &mut Recorder,
    ) -> bool {
        let shares = self.flow.is_aggregate().then(|| self.within_own_rates(now, by));
        let wanted = shares.map_or_else(|| self.flow.unrequested(), Shares::total);
        let allowed = match self.enforcement {
            Enforcement::Requests => self.requestable(now),
            // Bytes, in addition to those requested, that will conform by the end of the interval in
            // which a request made now is granted. Earlier requests have been sent by then, so the
            // depths of the buckets do not limit the sum.
            Enforcement::Pieces => {
                self.conforming(now, timing.sent_within(now), self.flow.requested())
            }
            Enforcement::None | Enforcement::Grants | Enforcement::GrantsAndPieces => Allowed::ALL,
        };
        let shares = shares.map(|wanted| self.flow.shares(allowed.bytes(), wanted));
        let request = shares.map_or_else(|| wanted.min(allowed.bytes()), Shares::total);
        if request > 0 {
            if self.enforcement == Enforcement::Requests {
                self.shaper.sustained.take(now, request);
                self.probe.bucket(recorder, &self.shaper.sustained);
            }
            let granted_from = timing.granted_from(now);
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
        self.flow.was_requested(now, wanted, request);
        request > 0
    }

    /// From now on its modem is silent, or no longer.
    pub(super) fn silence(&mut self, change: impl Fn(&mut Outages)) {
        change(&mut self.silent);
        self.flow.silence(change);
    }

    /// Requests what waits when the CMTS polls its modem. Returns whether anything does.
    pub(super) fn answer_poll(
        &mut self,
        now: Time,
        timing: &Timing,
        recorder: &mut Recorder,
    ) -> bool {
        !self.silent.at(now) && self.request(By::Low, now, timing, recorder)
    }

    /// Requests what an aggregate's proactive grant leaves of its low-latency flow. Returns whether there is
    /// anything.
    pub(super) fn request_beyond_grant(
        &mut self,
        now: Time,
        timing: &Timing,
        recorder: &mut Recorder,
    ) -> bool {
        self.flow.is_aggregate() && self.answer_poll(now, timing, recorder)
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
        let peak = rate.bytes_in(now.since(self.peak_until));
        let fraction = peak - whole(peak);
        self.peak_until = now.since(Time::from_secs_f64(fraction * 8.0 / rate.bps() as f64));
        Allowed { sustained: self.shaper.sustained.tokens(now), peak }
    }

    /// Bytes beside `others` that both rates let pass until `span` after `now`.
    pub(super) fn conforming(&self, now: Time, span: Time, others: u64) -> Allowed {
        let by_then = |bucket: &TokenBucket| {
            let tokens = bucket.tokens(now) - bucket.debt(now);
            (tokens + bucket.rate().bytes_in(span) - others as f64).max(0.0)
        };
        Allowed { sustained: by_then(&self.shaper.sustained), peak: by_then(&self.shaper.peak) }
    }

    /// Begins an unsolicited grant of `bytes`. Returns whether anything waits for it.
    pub(super) fn begin_unsolicited(
        &mut self,
        now: Time,
        bytes: u64,
        recorder: &mut Recorder,
    ) -> bool {
        let is_used = self.flow.waits_for_unsolicited() && !self.silent.at(now);
        self.flow.begin_unsolicited(bytes);
        self.note(recorder, now, Kind::Grant, bytes);
        is_used
    }

    /// Begins the next piece of what is granted.
    pub(super) fn next_piece(&mut self, now: Time, recorder: &mut Recorder) -> Next {
        if self.flow.granted() == 0 {
            if self.asks_empty {
                self.flow.ask_empty(now, recorder);
            }
            self.flow.turn(now);
            return Next::Nothing;
        }
        let Some(piece) = self.flow.sendable(now, self.probe, recorder) else {
            self.waste_grant(now, recorder); // the AQM algorithm dropped what the grant was for
            return Next::Nothing;
        };
        self.put_back_unused();
        let proactive = self.flow.proactive_part(piece);
        let piece = match self.enforcement {
            Enforcement::GrantsAndPieces => self.conforming_piece(now, piece, proactive, recorder),
            _ if proactive > 0 => {
                // The buckets do not delay what is granted unasked (docsis-ns3).
                self.take_tokens(now, proactive, recorder);
                piece
            }
            Enforcement::Pieces => {
                let ready = self.shaper.ready_at(now, piece);
                if ready > now {
                    self.flow.waits_for_tokens(now);
                    return Next::Wait(ready);
                }
                self.take_tokens(now, piece, recorder);
                piece
            }
            Enforcement::None | Enforcement::Requests | Enforcement::Grants => piece,
        };
        if piece == 0 {
            self.waste_grant(now, recorder); // packets differ in length from the CMTS's estimate
            return Next::Nothing;
        }
        self.flow.begin_piece(now, piece, self.probe, recorder);
        Next::Piece(piece)
    }

    /// Takes the tokens of `bytes`.
    pub(super) fn take_tokens(&mut self, now: Time, bytes: u64, recorder: &mut Recorder) {
        self.shaper.take(now, bytes);
        self.probe.bucket(recorder, &self.shaper.sustained);
    }

    /// How many of the next bytes the buckets let pass now. Takes their tokens.
    fn conforming_piece(
        &mut self,
        now: Time,
        piece: u64,
        proactive: u64,
        recorder: &mut Recorder,
    ) -> u64 {
        let payload = self.flow.payload_of(piece);
        let mut excess = payload.saturating_sub(self.shaper.tokens(now) as u64);
        if proactive > 0 {
            excess = 0; // the buckets do not reduce what is granted unasked (docsis-ns3)
        }
        if excess > 0 {
            self.hold(now);
        }
        self.take_tokens(now, payload - excess, recorder);
        piece - excess
    }

    /// Records that the token buckets hold bytes back.
    pub(super) fn hold(&mut self, now: Time) {
        let Shaper { sustained, peak, .. } = &self.shaper;
        self.shaper.hold(now, sustained.tokens(now), peak.tokens(now));
    }

    /// The rest of what is granted stays unused.
    pub(super) fn waste_grant(&mut self, now: Time, recorder: &mut Recorder) {
        self.flow.waste_grant(now, self.probe, recorder);
        self.put_back_unused();
        self.flow.turn(now);
    }

    /// The modem reports what it does not use of a grant, and the CMTS puts back the tokens that it
    /// took for it (docsis-ns3; here at once).
    fn put_back_unused(&mut self) {
        if self.enforcement == Enforcement::Grants {
            self.shaper.put_back(self.flow.take_unused());
        }
    }

    /// The run ends: what is being sent has spent its time until now.
    pub(super) fn close(&self, now: Time, recorder: &mut Recorder) {
        self.flow.close(now, recorder);
    }

    /// Ends the piece being sent. Returns the packet if this was its last piece.
    pub(super) fn end_piece(&mut self, now: Time, recorder: &mut Recorder) -> Option<Packet> {
        match self.flow.end_piece(now, recorder) {
            PieceEnd::Nothing => None,
            PieceEnd::Piece(bytes) => {
                self.note(recorder, now, Kind::PieceEnd, bytes);
                None
            }
            PieceEnd::Packet => {
                let sent = self.flow.take_sent();
                if let Some(packet) = &sent {
                    if self.enforcement != Enforcement::None && self.shaper.held(packet) {
                        recorder.delayed(packet);
                    }
                    self.probe.packet(recorder, now, Kind::Sent, packet);
                }
                sent
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::for_tests::*;
    use super::super::modem::Modem;
    use super::*;

    /// A low-latency flow of 0.8 Mbps may request 3044 B and what comes in two MAP intervals, 400 B, and then 200 B in each. What
    /// the classic flow wants is not limited.
    #[test]
    fn members_of_an_aggregate_keep_their_own_rates() {
        let keys = "queue.scheduler = { kind = 'low_latency', low_latency_mbps = 0.8 }";
        let mut modem = Modem::new(&upstream(keys), &context());
        let mut recorder = tracing();
        modem.accept(MS(1), packet(0, 700), &mut recorder);
        (1..3).for_each(|n| modem.accept(MS(1), low_latency(packet(n, 2000)), &mut recorder));
        for ms in [2, 4] {
            assert!(modem.mac.request(By::Both, MS(ms), &documents(), &mut recorder));
        }
        let mut seen = events(&mut recorder);
        seen.retain(|(_, kind, _)| *kind == "request");
        assert_eq!(seen, [(MS(2), "request", 3444 + 700), (MS(4), "request", 200)]);
    }

    /// Where the CMTS limits grants to what the buckets hold, a modem sends as much; what it is granted unasked is sent whole.
    #[test]
    fn proactive_bytes_do_not_wait_for_tokens() {
        for (proactive, tokens, want) in
            [(0, 600, 600), (0, 1000, 1000), (1000, 600, 1000), (1, 600, 1000)]
        {
            let mut modem = Modem::new(&upstream(""), &context());
            let mut recorder = Recorder::default();
            modem.mac.shaper.sustained.take(MS(1), 5000 - tokens);
            modem.accept(MS(1), packet(0, 1000), &mut recorder);
            modem.mac.flow.begin(Shares { low: 0, classic: 1000 });
            assert!(modem.mac.flow.sendable(MS(1), modem.mac.probe, &mut recorder).is_some());
            let piece = modem.mac.conforming_piece(MS(1), 1000, proactive, &mut recorder);
            assert_eq!(piece, want, "{proactive} {tokens}");
            assert_eq!(modem.mac.shaper.held(&packet(0, 0)), want < 1000);
        }
    }

    /// Idle MAPs bring nothing: a byte in 16 ms would be 500 bps, more than this flow's 400.
    #[test]
    fn skipped_maps_have_not_granted_a_byte() {
        let keys = format!("sustained_mbps = 0.0004\npeak_mbps = 1\n{TRACKING}");
        let mut modem = Modem::new(&toml::from_str(&keys).unwrap(), &context());
        modem.mac.update(MS(16), true);
        modem.sample(MS(16));
        assert_eq!(rate_estimate(modem.queue()), 0.0004);
    }

    /// An unsolicited grant is used if something waits and the modem is not silent.
    #[test]
    fn a_grant_of_a_silent_modem_is_unused() {
        let keys = "stalls = [{ start_s = 0.005, length_s = 0.001 }]\n";
        let mut modem = Modem::new(&upstream(keys), &context());
        let mut recorder = Recorder::default();
        assert!(!modem.mac.begin_unsolicited(MS(1), 100, &mut recorder), "nothing waits");
        modem.accept(MS(1), packet(0, 700), &mut recorder);
        assert!(modem.mac.begin_unsolicited(MS(4), 100, &mut recorder));
        assert!(!modem.mac.begin_unsolicited(MS(5), 100, &mut recorder));
        assert!(!modem.mac.answer_poll(MS(5), &documents(), &mut recorder));
        assert!(modem.mac.answer_poll(MS(6), &documents(), &mut recorder));
    }
}
