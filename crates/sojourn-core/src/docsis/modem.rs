//! A cable modem's upstream as one stage: queue, rate shaping, request and grant, framing.
//!
//! The single-queue model of White & Rice 2013 §3.1, after CableLabs' ns-2 code (docsislink.cc):
//! every MAP interval the CMTS answers the request made an interval before the last one; the modem
//! sends at a random place within the interval and asks for more as it does. Packets are fragmented
//! across grants. The two-queue modem of White & Padden 2012 §2.2 is the same MAC behind a
//! rate-shaping queue (staging.rs), without limits to requests. A packet leaves the queue when its first byte is sent and is delivered with its
//! last. An idle modem has no events: MAPs that would bring it nothing are skipped.
//!
//! Left out: request contention (a request always succeeds, as in the studies) and the headers of
//! segments, which the shared channel has (shared_channel.rs). Where the ns-2 code answers a MAP
//! that brought nothing to a waiting fragment with a request at a random moment, this modem asks at
//! once.

use super::congestion::FreeCapacity;
use super::probe::Probe;
use super::shaper::{Shaper, TokenBucket};
use super::staging::Staging;
use super::subscriber::Place;
use crate::aqm::Outlet;
use crate::engine::rng::Rng;
use crate::metrics::modem_trace::ModemEventKind as Kind;
use crate::metrics::{Count, Gauges, Ledger};
use crate::packet::Packet;
use crate::queue::{Beyond, Queue, QueueSpec, default_limit_bytes};
use crate::scenario::Dialect;
use crate::scenario::schema::{ModemSpec, Shaping, Upstream};
use crate::units::{BitRate, Time};

/// Rate of the channels in CableLabs' ns-2 script, taken where the scenario gives none and the peak
/// rate is not more than half of it.
const LEAST_CHANNEL_MBPS: f64 = 100.0;

/// A packet on its way out, of which some bytes may have been sent in earlier grants.
pub(super) struct Fragment {
    pub packet: Packet,
    pub sent: u64,
}

/// What the modem asked for, by the MAP that will answer.
#[derive(Default)]
pub(super) struct Requests {
    /// Known to the CMTS: the next MAP grants of it what it can.
    pub at_cmts: u64,
    /// Made since the last MAP.
    pub under_way: u64,
}

/// Counters of the MAC, named after the modem's management information.
#[derive(Clone, Copy, Debug, Default)]
pub struct MacCounters {
    /// Requests that asked for something, collided ones included.
    pub requests: u64,
    /// Requests that the CMTS did not hear, as another modem sent one at the same time.
    pub collisions: u64,
    /// Grants that gave something.
    pub grants: u64,
    /// Bytes granted.
    pub granted_bytes: u64,
    /// Bytes granted and not used, because the queue manager had dropped what they were for, or, on
    /// a shared channel, because the sustained rate did not let them pass.
    pub unused_bytes: u64,
}

impl MacCounters {
    /// The sum of two.
    pub fn plus(self, other: Self) -> Self {
        Self {
            requests: self.requests + other.requests,
            collisions: self.collisions + other.collisions,
            grants: self.grants + other.grants,
            granted_bytes: self.granted_bytes + other.granted_bytes,
            unused_bytes: self.unused_bytes + other.unused_bytes,
        }
    }
}

/// Bytes that each rate lets a request ask for.
struct Allowed {
    sustained: f64,
    peak: f64,
}

impl Allowed {
    fn bytes(&self) -> u64 {
        self.sustained.min(self.peak) as u64
    }
}

/// The upstream of a modem.
pub struct Modem {
    queue: Queue,
    shaper: Shaper,
    /// What the token buckets hold back; nothing here where they are in `staging`.
    shaping: Option<Shaping>,
    /// The rate-shaping queue of the two-queue modem, whose transmit queue is `queue`.
    staging: Option<Staging>,
    /// How long the packet that left `queue` last was in it.
    last_sojourn: Time,
    map_interval: Time,
    channel: BitRate,
    capacity: FreeCapacity,
    rng: Rng,

    requests: Requests,
    last_request: Time,
    /// Bytes granted and not yet used.
    granted: u64,
    /// What the last MAP could have granted of one more byte.
    grant_fraction: f64,
    /// Bytes granted by a MAP that has been looked at before its time.
    coming: u64,
    fragment: Option<Fragment>,
    /// Bytes of the fragment being sent now; the last of them at `burst_next`.
    piece: u64,

    /// When the next MAP takes effect; never while idle.
    next_map: Time,
    /// When the burst of this interval begins.
    burst_start: Time,
    /// When the burst goes on: the piece being sent ends, or the shaper has tokens.
    burst_next: Time,
    counters: MacCounters,
    probe: Probe,
}

impl Modem {
    /// An idle modem with full token buckets.
    pub fn new(spec: &Upstream, place: &Place) -> Self {
        let sustained = BitRate::from_mbps(spec.sustained_mbps);
        let peak = BitRate::from_mbps(spec.peak_mbps);
        let map_interval = Time::from_secs_f64(spec.mac.map_interval_ms / 1e3);
        let by_dialect = match place.dialect {
            Dialect::Rfc => Shaping::Transmissions,
            Dialect::Ns2 => Shaping::Requests,
        };
        let channel = spec.mac.channel_mbps.unwrap_or(LEAST_CHANNEL_MBPS.max(2.0 * spec.peak_mbps));
        let channel = BitRate::from_mbps(channel);
        let shaper = Shaper::new(sustained, peak, spec.burst_bytes);
        let buffer_bytes = default_limit_bytes(sustained);
        let managed = place.queue("upstream", &spec.queue, buffer_bytes);
        let (queue, staging) = match spec.modem {
            ModemSpec::SingleQueue | ModemSpec::SharedChannel | ModemSpec::Link => (managed, None),
            ModemSpec::TwoQueues {
                transmit_packets,
                transmit_bytes,
                back_pressure,
                sojourn_across_both,
            } => {
                let limit_packets = transmit_bytes.is_none().then_some(transmit_packets);
                let limit_bytes = transmit_bytes;
                let limit = QueueSpec { limit_packets, limit_bytes, ..QueueSpec::default() };
                let transmit = place.queue("transmit", &limit, buffer_bytes);
                let shaper = shaper.clone();
                let staging = Staging::new(managed, shaper, back_pressure, sojourn_across_both);
                (transmit, Some(staging))
            }
        };
        // White & Padden 2012 §3.1.3: without congestion the CMTS does not limit grants; the single
        // queue's are limited to the peak rate in CableLabs' ns-2 script.
        let free = if staging.is_some() { channel } else { peak };
        Self {
            queue,
            shaper,
            shaping: staging.is_none().then(|| spec.shaping.unwrap_or(by_dialect)),
            staging,
            last_sojourn: Time::ZERO,
            map_interval,
            channel,
            capacity: FreeCapacity::of(spec, free, map_interval),
            rng: Rng::named(place.seed, &format!("{} mac", place.name("upstream"))),
            requests: Requests::default(),
            last_request: Time::ZERO,
            granted: 0,
            coming: 0,
            grant_fraction: 0.0,
            fragment: None,
            piece: 0,
            next_map: Time::NEVER,
            burst_start: Time::NEVER,
            burst_next: Time::NEVER,
            counters: MacCounters::default(),
            probe: Probe::upstream(place),
        }
    }

    /// Tells the names of the traffic entries, by the number that packets carry.
    pub fn name_traffic(&mut self, names: &[&str], watch_flows: usize) {
        self.managed_queue().name_traffic(names, watch_flows);
    }

    /// The queue with the queue manager.
    fn managed_queue(&mut self) -> &mut Queue {
        self.staging.as_mut().map_or(&mut self.queue, Staging::queue_mut)
    }

    /// Takes a packet from the home.
    #[inline]
    pub fn accept(&mut self, now: Time, packet: Packet, ledger: &mut Ledger) {
        self.probe.arrive(ledger, now, self.sustained(), &packet);
        match &mut self.staging {
            Some(staging) => staging.accept(now, packet, ledger),
            None => self.accept_to_send(now, packet, ledger),
        }
    }

    /// Takes a packet into the queue that the MAC sends from.
    #[inline]
    fn accept_to_send(&mut self, now: Time, packet: Packet, ledger: &mut Ledger) {
        let outlet = self.outlet(now);
        self.queue.enqueue(now, packet, &outlet, ledger);
        if self.next_map == Time::NEVER {
            self.resume_maps(now);
        }
    }

    /// The bucket of the sustained rate.
    #[inline]
    fn sustained(&self) -> &TokenBucket {
        self.staging.as_ref().map_or(&self.shaper.sustained, Staging::sustained)
    }

    #[inline]
    fn note(&self, ledger: &mut Ledger, at: Time, kind: Kind, bytes: u64) {
        self.probe.note(ledger, at, self.sustained(), kind, bytes);
    }

    /// Moves on what the rate-shaping queue lets pass.
    fn feed(&mut self, now: Time, ledger: &mut Ledger) {
        while let Some(staging) = &mut self.staging {
            let transmit = Beyond { sojourn: self.last_sojourn, backlog: self.queue.backlog() };
            let has_room = self.queue.has_room();
            let Some(packet) = staging.release(now, has_room, transmit, ledger) else { return };
            self.accept_to_send(now, packet, ledger);
        }
    }

    /// When the modem wants to be woken next.
    #[inline]
    pub fn next_wake(&self) -> Time {
        let mac = self.next_map.min(self.burst_start).min(self.burst_next);
        let staging = self.staging.as_ref().map_or(Time::NEVER, Staging::next_wake);
        mac.min(self.queue.next_update()).min(staging)
    }

    /// Does one thing that is due, and gives the packet whose last byte has been sent, if that was
    /// it. At equal times: the end of a piece, the rate-shaping queue, the queue's law, the MAP, the
    /// start of a burst.
    pub fn wake(&mut self, now: Time, ledger: &mut Ledger) -> Option<Packet> {
        self.probe.set(ledger, now, self.sustained());
        if self.burst_next <= now {
            let sent = self.end_piece(now, ledger);
            self.go_on(now, ledger);
            self.feed(now, ledger);
            return sent;
        }
        if let Some(staging) = self.staging.as_mut().filter(|staging| staging.next_wake() <= now) {
            if self.next_map == Time::NEVER {
                staging.queue_mut().on_map(0, 0); // the MAPs that were skipped
            }
            staging.update(now);
            self.feed(now, ledger);
        } else if self.queue.next_update() <= now {
            if self.next_map == Time::NEVER {
                self.queue.on_map(0, 0); // as above
            }
            let outlet = self.outlet(now);
            self.queue.update(now, &outlet);
        } else if self.next_map <= now {
            self.on_map(now, ledger);
        } else if self.burst_start <= now {
            self.start_burst(now, ledger);
        }
        None
    }

    /// What the laws may know of the shaper.
    fn outlet(&self, now: Time) -> Outlet {
        self.shaper.outlet(now, self.queue.buffer_bytes())
    }

    /// The first MAP after `now`; those skipped while idle would have brought nothing.
    fn resume_maps(&mut self, now: Time) {
        let skipped = now.ps() / self.map_interval.ps();
        let last_map = self.map_interval.times(skipped);
        self.last_request = self.last_request.max(last_map);
        self.next_map = last_map + self.map_interval;
    }

    /// Nothing waits, nothing was asked for and nothing is granted.
    fn is_idle(&self) -> bool {
        self.queue.backlog().packets == 0
            && self.fragment.is_none()
            && self.granted == 0
            && self.requests.at_cmts + self.requests.under_way == 0
    }

    /// A MAP takes effect.
    fn on_map(&mut self, now: Time, ledger: &mut Ledger) {
        let grant = self.grant_of_map(now, ledger);
        self.granted += grant;
        if self.granted == 0 || self.burst_next != Time::NEVER {
            // Nothing to send with: a request of its own. Or a burst that reaches into this
            // interval: on its back.
            if grant > 0 {
                self.note(ledger, now, Kind::Grant, grant);
            }
            self.request(now, ledger);
        } else {
            self.burst_start = now + self.place_of_burst(self.granted);
        }
        let idle = self.is_idle();
        self.next_map = if idle { Time::NEVER } else { now + self.map_interval };
    }

    /// What the MAP at `at` grants of the requests made up to two intervals before.
    fn grant_of_map(&mut self, at: Time, ledger: &mut Ledger) -> u64 {
        let greatest = self.capacity.greatest_grant(at, self.rng.uniform()) + self.grant_fraction;
        self.grant_fraction = greatest.fract();
        let grant = self.requests.at_cmts.min(greatest as u64);
        let ungranted = self.requests.at_cmts - grant;
        self.requests.at_cmts = ungranted + std::mem::take(&mut self.requests.under_way);
        if grant > 0 {
            self.counters.grants += 1;
            self.counters.granted_bytes += grant;
        }
        self.managed_queue().on_map(grant, ungranted);
        self.note(ledger, at, Kind::Map, grant);
        grant
    }

    /// Nothing can change what the next MAP brings once this interval's request is made, if the
    /// burst that carries it ends before: then that MAP needs no event of its own.
    fn look_ahead(&mut self, now: Time, ledger: &mut Ledger) {
        let burst_end = now + self.channel.time_for(self.granted);
        let paced = self.shaping == Some(Shaping::Transmissions);
        if paced || self.requests.at_cmts == 0 || burst_end > self.next_map {
            return;
        }
        self.coming = self.grant_of_map(self.next_map, ledger);
        self.burst_start = self.next_map + self.place_of_burst(self.coming);
        self.next_map += self.map_interval;
    }

    /// A uniform place within the MAP interval at which the whole grant still fits in. The
    /// two-queue modem sends from its start on (White & Padden 2012 §2.2.2).
    fn place_of_burst(&mut self, grant: u64) -> Time {
        let at_channel_rate = self.channel.time_for(grant);
        let length = match self.shaping {
            None => self.map_interval,
            Some(Shaping::Requests) => at_channel_rate,
            Some(Shaping::Transmissions) => {
                at_channel_rate.max(self.shaper.peak.rate().time_for(grant))
            }
        };
        self.map_interval.since(length).scaled(self.rng.uniform())
    }

    fn start_burst(&mut self, now: Time, ledger: &mut Ledger) {
        self.burst_start = Time::NEVER;
        self.granted += std::mem::take(&mut self.coming);
        self.note(ledger, now, Kind::Grant, self.granted);
        self.request(now, ledger);
        self.look_ahead(now, ledger);
        self.go_on(now, ledger);
    }

    /// Asks for what waits and has not been asked for, as far as the shaper lets it.
    fn request(&mut self, now: Time, ledger: &mut Ledger) {
        let wanted = self.unasked();
        let allowed = match self.shaping {
            None => Allowed { sustained: f64::INFINITY, peak: f64::INFINITY },
            Some(Shaping::Requests) => self.requestable(now),
            Some(Shaping::Transmissions) => self.sendable_by_grant(now),
        };
        let request = wanted.min(allowed.bytes());
        if request > 0 {
            if self.shaping == Some(Shaping::Requests) {
                self.shaper.sustained.take(now, request);
                self.probe.set(ledger, now, self.sustained());
            }
            self.requests.under_way += request;
            self.counters.requests += 1;
            self.note(ledger, now, Kind::Request, request);
        }
        if wanted > request {
            self.shaper.hold(now, allowed.sustained, allowed.peak);
            self.note(ledger, now, Kind::Withhold, wanted - request);
        }
    }

    /// Bytes that wait, what is left of a fragment included.
    fn waiting(&self) -> u64 {
        let sent = |f: &Fragment| f.sent + self.piece;
        let unsent = self.fragment.as_ref().map_or(0, |f| u64::from(f.packet.size) - sent(f));
        self.queue.backlog().bytes + unsent
    }

    /// Bytes asked for and not yet used.
    fn asked(&self) -> u64 {
        self.requests.at_cmts + self.requests.under_way + self.granted
    }

    /// Bytes that wait and have not been asked for.
    fn unasked(&self) -> u64 {
        self.waiting().saturating_sub(self.asked())
    }

    /// docsislink.cc: the sustained bucket's tokens, and what the peak rate brought since the last
    /// request. The peak bucket's depth is not enforced there. Unlike there, a fraction of a byte
    /// is not lost but counts for the next request, which matters at a few kbps.
    fn requestable(&mut self, now: Time) -> Allowed {
        let rate = self.shaper.peak.rate();
        let peak = rate.bytes_in(now.since(self.last_request));
        let fraction = peak.fract();
        self.last_request = now.since(Time::from_secs_f64(fraction * 8.0 / rate.bps() as f64));
        Allowed { sustained: self.shaper.sustained.tokens(now), peak }
    }

    /// Bytes beside those asked for that will conform by the end of the interval in which a request
    /// of now is granted. What was asked for before is sent by then, so the buckets' depths do not
    /// cap the sum.
    fn sendable_by_grant(&self, now: Time) -> Allowed {
        let span = self.map_interval.times(3);
        let asked = self.asked() as f64;
        let by_then = |bucket: &TokenBucket| {
            (bucket.tokens(now) + bucket.rate().bytes_in(span) - asked).max(0.0)
        };
        Allowed { sustained: by_then(&self.shaper.sustained), peak: by_then(&self.shaper.peak) }
    }

    /// The piece being sent is over; gives the packet if it was its last.
    fn end_piece(&mut self, now: Time, ledger: &mut Ledger) -> Option<Packet> {
        debug_assert!(self.burst_next <= now);
        self.burst_next = Time::NEVER;
        let piece = std::mem::take(&mut self.piece);
        let fragment = self.fragment.as_mut()?;
        fragment.sent += piece;
        if fragment.sent < u64::from(fragment.packet.size) {
            if piece > 0 {
                self.note(ledger, now, Kind::PieceEnd, piece);
            }
            return None;
        }
        let packet = self.fragment.take()?.packet;
        if self.shaper.held(&packet) {
            ledger.delayed(&packet);
        }
        self.probe.packet(ledger, Kind::Sent, &packet);
        Some(packet)
    }

    /// Sends the next piece, as long as there are bytes granted.
    fn go_on(&mut self, now: Time, ledger: &mut Ledger) {
        if self.granted == 0 {
            return;
        }
        if self.fragment.is_none()
            && let Some(packet) = self.queue.dequeue(now, ledger)
        {
            self.last_sojourn = now.since(packet.queued_at);
            self.probe.packet(ledger, Kind::Dequeue, &packet);
            self.fragment = Some(Fragment { packet, sent: 0 });
        }
        let Some(fragment) = &self.fragment else {
            // The law dropped what the grant was for.
            self.note(ledger, now, Kind::Unused, self.granted);
            self.counters.unused_bytes += std::mem::take(&mut self.granted);
            return;
        };
        let piece = (u64::from(fragment.packet.size) - fragment.sent).min(self.granted);
        if self.shaping == Some(Shaping::Transmissions) {
            let ready = self.shaper.ready_at(now, piece);
            if ready > now {
                self.burst_next = ready;
                return;
            }
            self.shaper.take(now, piece);
        }
        self.note(ledger, now, Kind::Piece, piece);
        self.piece = piece;
        self.granted -= piece;
        self.burst_next = now + self.channel.time_for(piece);
    }

    /// Packets and bytes the modem holds.
    pub fn inside(&self) -> Count {
        let waiting = self.queue.backlog();
        let mut inside = Count { packets: waiting.packets, bytes: waiting.bytes };
        if let Some(fragment) = &self.fragment {
            inside.packets += 1;
            inside.bytes += u64::from(fragment.packet.size);
        }
        self.staging.as_ref().map_or(inside, |staging| inside.plus(staging.inside()))
    }

    /// What a user must know before trusting the results.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        let burst = self.shaper.sustained.depth_bytes();
        let needed = self.shaper.sustained.rate().bytes_in(self.map_interval);
        let starved = self.shaping == Some(Shaping::Requests) && burst < needed;
        let warning = || {
            format!(
                "upstream.burst_bytes holds {burst:.0} bytes, but at the sustained rate {needed:.0} \
                 pass in a MAP interval: with shaping of requests, made once an interval, the \
                 service cannot reach its rate"
            )
        };
        starved.then(warning).into_iter()
    }

    /// What the MAC did.
    pub fn counters(&self) -> MacCounters {
        self.counters
    }

    /// Its queues, the one with the queue manager first.
    pub fn queues(&self) -> impl Iterator<Item = &Queue> {
        self.staging.as_ref().map(Staging::queue).into_iter().chain([&self.queue])
    }

    /// Samples its queues for their series, and what the channel can give.
    pub fn sample(&mut self, now: Time) {
        let mean_grant = self.capacity.greatest_grant(now, 0.5);
        let mbps = mean_grant * 8e-6 / self.map_interval.secs_f64();
        let show_channel = |gauges: &mut Gauges| gauges.set("channel_rate", "Mbps", mbps);
        match &mut self.staging {
            None => self.queue.sample(show_channel),
            Some(staging) => {
                staging.sample(show_channel);
                self.queue.sample(|_| ());
            }
        }
    }
}
