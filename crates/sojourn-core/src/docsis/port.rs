//! A modem's service flow on the shared upstream channel: its queue, what it asked for, and what it
//! sends in its grants.
//!
//! On the channel a packet is longer by its headers, which the rates of the service do not count.
//! The CMTS grants no more than the token buckets hold when the grants of the MAP begin, and the
//! modem lets nothing pass for which they hold no tokens. So the bound of White 2014 appendix C
//! holds on every interval for the sustained rate. Grants are lumps that are sent at the channel's
//! rate, so the bucket of the peak rate is deeper here than one frame: by what comes from the start
//! of one MAP interval to the end of the next, which is how far apart the grants of both may be.

use super::modem::{Fragment, MacCounters, Requests};
use super::probe::Probe;
use super::shaper::{PEAK_BURST_BYTES, Shaper, TokenBucket};
use super::subscriber::Place;
use crate::aqm::Outlet;
use crate::metrics::modem_trace::ModemEventKind as Kind;
use crate::metrics::{Count, Ledger};
use crate::packet::{DropReason, Packet};
use crate::queue::{Queue, default_limit_bytes};
use crate::scenario::schema::Upstream;
use crate::units::{BitRate, Time};

/// A service flow.
pub struct Port {
    queue: Queue,
    shaper: Shaper,
    /// Minimum reserved rate, if there is one.
    pub(super) reserved: Option<TokenBucket>,
    /// Traffic priority, 7 the highest.
    pub(super) priority: u8,
    /// Bytes that a packet takes beside its own.
    overhead: u64,
    requests: Requests,
    /// Bytes granted and not yet used.
    granted: u64,
    fragment: Option<Fragment>,
    /// Bytes of the fragment being sent now.
    piece: u64,
    counters: MacCounters,

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

impl Port {
    /// An idle flow with full token buckets.
    pub fn new(spec: &Upstream, place: &Place, map: Time, overhead: u64) -> Self {
        let mut shaper = Shaper::of(spec.sustained_mbps, spec.peak_mbps, spec.burst_bytes);
        shaper.peak = deep_enough(shaper.peak.rate(), map.times(2));
        let buffer_bytes = default_limit_bytes(shaper.sustained.rate());
        let minimum = Some(spec.minimum_mbps).filter(|mbps| *mbps > 0.0).map(BitRate::from_mbps);
        Self {
            queue: place.queue("upstream", &spec.queue, buffer_bytes),
            shaper,
            reserved: minimum.map(|rate| deep_enough(rate, map)),
            priority: spec.priority,
            overhead,
            requests: Requests::default(),
            granted: 0,
            fragment: None,
            piece: 0,
            counters: MacCounters::default(),
            contends: false,
            waits: false,
            deficit: 0,
            map: Time::NEVER,
            grantable: 0,
            in_map: 0,
            probe: Probe::upstream(place),
        }
    }

    /// Tells the names of the traffic entries, by the number that packets carry.
    pub fn name_traffic(&mut self, names: &[&str], watch_flows: usize) {
        self.queue.name_traffic(names, watch_flows);
    }

    /// Takes a packet from the home.
    #[inline]
    pub fn accept(&mut self, now: Time, packet: Packet, ledger: &mut Ledger) {
        self.probe.arrive(ledger, now, &self.shaper.sustained, &packet);
        let outlet = self.outlet(now);
        self.queue.enqueue(now, packet, &outlet, ledger);
    }

    #[inline]
    fn note(&self, ledger: &mut Ledger, now: Time, kind: Kind, bytes: u64) {
        self.probe.note(ledger, now, &self.shaper.sustained, kind, bytes);
    }

    /// Does it want to be heard? Only if it has not asked for anything yet: what comes later is
    /// asked for in the grant.
    pub fn wants_to_be_heard(&self) -> bool {
        self.asked() == 0 && self.unasked() > 0
    }

    /// Asks for all that waits and has not been asked for; says whether that is anything.
    pub fn request(&mut self, now: Time, ledger: &mut Ledger) -> bool {
        let request = self.unasked();
        if request == 0 {
            return false;
        }
        self.requests.under_way += request;
        self.counters.requests += 1;
        self.note(ledger, now, Kind::Request, request);
        true
    }

    /// Its grant begins: it asks for what has come since, and says whether that is anything.
    pub fn begin_grant(&mut self, now: Time, ledger: &mut Ledger) -> bool {
        self.note(ledger, now, Kind::Grant, self.granted);
        self.request(now, ledger)
    }

    /// A request that was not heard.
    pub fn collided(&mut self) {
        self.counters.requests += 1;
        self.counters.collisions += 1;
    }

    /// The modem has asked in vain too often: the packet is discarded (MULPI §7.2.1).
    pub fn give_up(&mut self, now: Time, ledger: &mut Ledger) {
        self.probe.set(ledger, now, &self.shaper.sustained);
        let next = self.fragment.take().map(|fragment| fragment.packet);
        if let Some(packet) = next.or_else(|| self.queue.dequeue(now, ledger)) {
            ledger.dropped(now, packet, DropReason::Contention);
        }
    }

    /// What was asked for before the last MAP is known to the CMTS; says whether there is anything.
    pub fn requests_arrive(&mut self) -> bool {
        self.requests.at_cmts += std::mem::take(&mut self.requests.under_way);
        self.requests.at_cmts > 0
    }

    /// Bytes that the CMTS knows to be wanted.
    pub fn known_request(&self) -> u64 {
        self.requests.at_cmts
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
        let (payload, on_channel) = self.waiting();
        if tokens >= payload as f64 {
            return self.requests.at_cmts;
        }
        let longer = on_channel as f64 / payload as f64;
        self.requests.at_cmts.min((tokens * longer) as u64)
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
        if self.in_map == grantable && self.requests.at_cmts > grantable {
            self.note(ledger, now, Kind::Defer, self.requests.at_cmts - grantable);
        }
    }

    /// The MAP that takes effect now grants what it says, from `start` on; gives how much that is.
    pub fn take_grant(&mut self, start: Time) -> u64 {
        let grant = std::mem::take(&mut self.in_map);
        if grant == self.grantable && grant < self.requests.at_cmts {
            self.hold(start);
        }
        self.requests.at_cmts -= grant;
        self.granted += grant;
        self.counters.grants += 1;
        self.counters.granted_bytes += grant;
        if let Some(reserved) = &mut self.reserved {
            reserved.take(start, grant.min(reserved.tokens(start) as u64));
        }
        self.queue.on_map(grant, self.requests.at_cmts);
        grant
    }

    /// Begins the next piece; gives its bytes, or `None` if there is nothing more to be sent in the
    /// grant.
    pub fn next_piece(&mut self, now: Time, ledger: &mut Ledger) -> Option<u64> {
        if self.granted == 0 {
            return None;
        }
        self.probe.set(ledger, now, &self.shaper.sustained);
        if self.fragment.is_none()
            && let Some(packet) = self.queue.dequeue(now, ledger)
        {
            self.probe.packet(ledger, Kind::Dequeue, &packet);
            self.fragment = Some(Fragment { packet, sent: 0 });
        }
        let piece = self.conforming_piece(now);
        if piece == 0 {
            // The law dropped what the grant was for, or packets are not as long as they were taken
            // for.
            self.note(ledger, now, Kind::Unused, self.granted);
            self.counters.unused_bytes += std::mem::take(&mut self.granted);
            return None;
        }
        self.note(ledger, now, Kind::Piece, piece);
        self.piece = piece;
        self.granted -= piece;
        Some(piece)
    }

    /// The bytes of the fragment that may be sent now, with their tokens taken.
    fn conforming_piece(&mut self, now: Time) -> u64 {
        let Some(fragment) = &self.fragment else { return 0 };
        let rest = self.overhead + u64::from(fragment.packet.size) - fragment.sent;
        let piece = rest.min(self.granted);
        let payload = (fragment.sent + piece).saturating_sub(self.overhead.max(fragment.sent));
        let excess = payload.saturating_sub(self.shaper.tokens(now) as u64);
        if excess > 0 {
            self.hold(now);
        }
        self.shaper.take(now, payload - excess);
        piece - excess
    }

    /// The piece being sent is over; gives the packet if it was its last.
    pub fn end_piece(&mut self, now: Time, ledger: &mut Ledger) -> Option<Packet> {
        let piece = std::mem::take(&mut self.piece);
        let fragment = self.fragment.as_mut()?;
        fragment.sent += piece;
        if fragment.sent < self.overhead + u64::from(fragment.packet.size) {
            self.note(ledger, now, Kind::PieceEnd, piece);
            return None;
        }
        let packet = self.fragment.take()?.packet;
        if self.shaper.held(&packet) {
            ledger.delayed(&packet);
        }
        self.probe.set(ledger, now, &self.shaper.sustained);
        self.probe.packet(ledger, Kind::Sent, &packet);
        Some(packet)
    }

    /// Bytes that wait, what is left of a fragment included: those of packets, and those on the
    /// channel.
    fn waiting(&self) -> (u64, u64) {
        let backlog = self.queue.backlog();
        let (mut payload, mut on_channel) =
            (backlog.bytes, backlog.bytes + self.overhead * backlog.packets);
        if let Some(fragment) = &self.fragment {
            let size = u64::from(fragment.packet.size);
            let sent = fragment.sent + self.piece;
            payload += size - sent.saturating_sub(self.overhead);
            on_channel += size + self.overhead - sent;
        }
        (payload, on_channel)
    }

    /// Bytes asked for and not yet used.
    fn asked(&self) -> u64 {
        self.requests.at_cmts + self.requests.under_way + self.granted
    }

    /// Bytes on the channel that wait and have not been asked for.
    fn unasked(&self) -> u64 {
        self.waiting().1.saturating_sub(self.asked())
    }

    fn outlet(&self, now: Time) -> Outlet {
        self.shaper.outlet(now, self.queue.buffer_bytes())
    }

    /// When its queue's law wants to be updated next.
    pub fn next_update(&self) -> Time {
        self.queue.next_update()
    }

    /// The periodic part of the queue's law.
    pub fn update(&mut self, now: Time) {
        if self.requests.at_cmts == 0 {
            self.queue.on_map(0, 0); // the MAPs that had nothing for it
        }
        let outlet = self.outlet(now);
        self.queue.update(now, &outlet);
    }

    /// Packets and bytes it holds.
    pub fn inside(&self) -> Count {
        let waiting = self.queue.backlog();
        let mut inside = Count { packets: waiting.packets, bytes: waiting.bytes };
        if let Some(fragment) = &self.fragment {
            inside.packets += 1;
            inside.bytes += u64::from(fragment.packet.size);
        }
        inside
    }

    /// Its queue, for what was measured of it.
    pub fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Samples its queue for its series.
    pub fn sample(&mut self) {
        self.queue.sample(|_| ());
    }

    /// What its MAC did.
    pub fn counters(&self) -> MacCounters {
        self.counters
    }
}

/// A bucket that holds a frame beside what comes while nothing is taken.
fn deep_enough(rate: BitRate, untouched: Time) -> TokenBucket {
    TokenBucket::new(rate, PEAK_BURST_BYTES + rate.bytes_in(untouched) as u64)
}
