//! A modem's service flow on the shared upstream channel: its queue, what it requested, and what it
//! sends in its grants.
//!
//! On the channel a packet is longer by its headers, which the rates of the service do not count.
//! The CMTS grants no more than the token buckets hold when the grants of the MAP begin, and the
//! modem lets nothing pass for which they hold no tokens. So the bound of White 2014 appendix C
//! holds on every interval for the sustained rate. Grants are lumps that are sent at the channel's
//! rate, so the bucket of the peak rate is deeper here than one frame: by what comes from the start
//! of one MAP interval to the end of the next, which is how far apart the grants of both may be.

use super::probe::Probe;
use super::request_grant::{MacCounters, PieceEnd, RequestGrant, Waiting};
use crate::access::context::ServiceFlowContext;
use crate::access::service::Upstream;
use crate::access::shaper::{PEAK_BURST_BYTES, Shaper};
use crate::aqm::DrainRate;
use crate::count::Count;
use crate::metrics::Ledger;
use crate::metrics::modem_trace::ModemEventKind as Kind;
use crate::packet::{DropReason, Packet};
use crate::queue::{Queue, default_limit_bytes};
use crate::token_bucket::TokenBucket;
use crate::units::{BitRate, Time};

/// A service flow.
pub struct UpstreamServiceFlow {
    flow: RequestGrant,
    shaper: Shaper,
    /// Minimum reserved rate, if there is one.
    pub(super) reserved: Option<TokenBucket>,
    /// Traffic priority, 7 the highest.
    pub(super) priority: u8,

    /// It is among those that contend.
    pub(super) contends: bool,
    /// It is among those that wait for grants.
    pub(super) waits: bool,
    /// Bytes of its turn that are left.
    pub(super) deficit: u64,
    /// When the grants of the MAP at hand begin, and what that may grant it.
    map: Time,
    grantable: u64,
    /// What the MAP at hand grants it.
    pub(super) in_map: u64,
    probe: Probe,
}

impl UpstreamServiceFlow {
    /// An idle flow with full token buckets.
    pub fn new(spec: &Upstream, context: &ServiceFlowContext, map: Time, overhead: u64) -> Self {
        let mut shaper = Shaper::of(spec.sustained_mbps, spec.peak_mbps, spec.burst_bytes);
        shaper.peak = deep_enough(shaper.peak.rate(), map.times(2));
        let buffer_bytes = default_limit_bytes(shaper.sustained.rate());
        let minimum = Some(spec.minimum_mbps).filter(|mbps| *mbps > 0.0).map(BitRate::from_mbps);
        let queue = context.queue("upstream", &spec.queue, buffer_bytes);
        Self {
            flow: RequestGrant::new(queue, overhead),
            shaper,
            reserved: minimum.map(|rate| deep_enough(rate, map)),
            priority: spec.priority,
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
    pub fn accept(&mut self, now: Time, packet: Packet, ledger: &mut Ledger) {
        self.probe.arrive(ledger, now, &self.shaper.sustained, &packet);
        let drain_rate = self.drain_rate(now);
        self.flow.queue.enqueue(now, packet, &drain_rate, ledger);
    }

    #[inline]
    fn note(&self, ledger: &mut Ledger, now: Time, kind: Kind, bytes: u64) {
        self.probe.note(ledger, now, kind, bytes);
    }

    /// Does it want to be heard? Only if it has not asked for anything yet: what comes later is
    /// asked for in the grant.
    pub fn wants_to_be_heard(&self) -> bool {
        self.flow.requested() == 0 && self.flow.unrequested() > 0
    }

    /// Asks for all that waits and has not been asked for; says whether that is anything.
    pub fn request(&mut self, now: Time, ledger: &mut Ledger) -> bool {
        let request = self.flow.unrequested();
        if request == 0 {
            return false;
        }
        self.flow.request(request);
        self.note(ledger, now, Kind::Request, request);
        true
    }

    /// Its grant begins: it asks for what has come since, and says whether that is anything.
    pub fn begin_grant(&mut self, now: Time, ledger: &mut Ledger) -> bool {
        self.note(ledger, now, Kind::Grant, self.flow.granted);
        self.request(now, ledger)
    }

    /// A request that was not heard.
    pub fn collided(&mut self) {
        self.flow.counters.requests += 1;
        self.flow.counters.collisions += 1;
    }

    /// The modem has asked in vain too often: the packet is discarded (MULPI §7.2.1).
    pub fn give_up(&mut self, now: Time, ledger: &mut Ledger) {
        if let Some(packet) = self.flow.discard_next(now, ledger) {
            ledger.dropped(now, packet, DropReason::Contention);
        }
    }

    /// What was asked for before the last MAP is known to the CMTS; says whether there is anything.
    pub fn requests_arrive(&mut self) -> bool {
        self.flow.requests_arrive();
        self.flow.at_cmts() > 0
    }

    /// Bytes that the CMTS knows to be wanted.
    pub fn known_request(&self) -> u64 {
        self.flow.at_cmts()
    }

    /// What the MAP whose grants begin at `start` may grant beside what it does already.
    pub fn need(&mut self, start: Time) -> u64 {
        if self.map != start {
            self.map = start;
            self.grantable = self.grantable(start);
            if self.grantable == 0 {
                self.hold(start);
            }
        }
        self.grantable - self.in_map
    }

    /// As much of that as its minimum reserved rate brings.
    pub fn reserved_need(&mut self, start: Time) -> u64 {
        let tokens = self.reserved.as_ref().map_or(0.0, |reserved| reserved.tokens(start));
        self.need(start).min(tokens as u64)
    }

    /// What a grant at `start` may be for: what is asked for and the token buckets let pass then.
    pub fn grantable(&self, start: Time) -> u64 {
        let tokens = self.shaper.tokens(start);
        let Waiting { payload, on_channel } = self.flow.waiting();
        if tokens >= payload as f64 {
            return self.flow.at_cmts();
        }
        let longer = on_channel as f64 / payload as f64;
        self.flow.at_cmts().min((tokens * longer) as u64)
    }

    /// The token buckets keep bytes waiting.
    fn hold(&mut self, now: Time) {
        let Shaper { sustained, peak, .. } = &self.shaper;
        self.shaper.hold(now, sustained.tokens(now), peak.tokens(now));
    }

    /// Tells the trace of the MAP that takes effect now, whose grants begin at `start`, and of what the
    /// token buckets keep it from granting.
    pub fn note_map(&self, now: Time, start: Time, ledger: &mut Ledger) {
        if !self.probe.is_open(ledger) {
            return;
        }
        self.note(ledger, now, Kind::Map, self.in_map);
        let grantable = self.grantable(start);
        if self.in_map == grantable && self.flow.at_cmts() > grantable {
            self.note(ledger, now, Kind::Defer, self.flow.at_cmts() - grantable);
        }
    }

    /// The MAP that takes effect now grants what it says, from `start` on; gives how much that is.
    pub fn take_grant(&mut self, start: Time) -> u64 {
        let grant = std::mem::take(&mut self.in_map);
        if grant == self.grantable && grant < self.flow.at_cmts() {
            self.hold(start);
        }
        self.flow.grant(grant);
        self.flow.granted += grant;
        if let Some(reserved) = &mut self.reserved {
            reserved.take(start, grant.min(reserved.tokens(start) as u64));
        }
        self.flow.queue.on_map(grant, self.flow.at_cmts());
        grant
    }

    /// Begins the next piece; gives its bytes, or `None` if there is nothing more to be sent in the
    /// grant.
    pub fn next_piece(&mut self, now: Time, ledger: &mut Ledger) -> Option<u64> {
        if self.flow.granted == 0 {
            return None;
        }
        let sendable = self.flow.sendable(now, self.probe, ledger);
        let piece = sendable.map_or(0, |piece| self.conforming_piece(now, piece, ledger));
        if piece == 0 {
            // The law dropped what the grant was for, or packets are not as long as they were taken
            // for.
            self.flow.waste_grant(now, self.probe, ledger);
            return None;
        }
        self.flow.begin_piece(now, piece, self.probe, ledger);
        Some(piece)
    }

    /// How many of the next bytes may be sent now; takes their tokens.
    fn conforming_piece(&mut self, now: Time, piece: u64, ledger: &mut Ledger) -> u64 {
        let payload = self.flow.payload_of(piece);
        let excess = payload.saturating_sub(self.shaper.tokens(now) as u64);
        if excess > 0 {
            self.hold(now);
        }
        self.shaper.take(now, payload - excess);
        self.probe.bucket(ledger, &self.shaper.sustained);
        piece - excess
    }

    /// The piece being sent is over; gives the packet if it was its last.
    pub fn end_piece(&mut self, now: Time, ledger: &mut Ledger) -> Option<Packet> {
        match self.flow.end_piece() {
            PieceEnd::Nothing => None,
            PieceEnd::Piece(bytes) => {
                self.note(ledger, now, Kind::PieceEnd, bytes);
                None
            }
            PieceEnd::Packet(packet) => {
                if self.shaper.held(&packet) {
                    ledger.delayed(&packet);
                }
                self.probe.packet(ledger, now, Kind::Sent, &packet);
                Some(packet)
            }
        }
    }

    fn drain_rate(&self, now: Time) -> DrainRate {
        self.shaper.drain_rate(now, self.flow.queue.buffer_bytes())
    }

    /// When its queue's law wants to be updated next.
    pub fn next_update(&self) -> Time {
        self.flow.queue.next_update()
    }

    /// The periodic part of the queue's law.
    pub fn update(&mut self, now: Time) {
        if self.flow.at_cmts() == 0 {
            self.flow.queue.on_map(0, 0); // the MAPs that had nothing for it
        }
        let drain_rate = self.drain_rate(now);
        self.flow.queue.update(now, &drain_rate);
    }

    /// Packets and bytes it holds.
    pub fn inside(&self) -> Count {
        self.flow.inside()
    }

    /// Its queue, for what was measured of it.
    pub fn queue(&self) -> &Queue {
        &self.flow.queue
    }

    /// Samples its queue for its series.
    pub fn sample(&mut self) {
        self.flow.queue.sample(|_| ());
    }

    /// What its MAC did.
    pub fn counters(&self) -> MacCounters {
        self.flow.counters
    }
}

/// A bucket that holds a frame beside what comes while nothing is taken.
fn deep_enough(rate: BitRate, untouched: Time) -> TokenBucket {
    TokenBucket::new(rate, PEAK_BURST_BYTES + rate.bytes_in(untouched) as u64)
}
