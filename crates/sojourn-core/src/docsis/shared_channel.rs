//! The upstream channel that modems share, as one stage: MAPs, contention, and the bursts of all.
//!
//! A MAP is made one interval before it takes effect: what is asked for in one interval is granted
//! two intervals on, as in the modems of the studies (modem.rs). Each interval begins with the
//! request region. The grants follow each other from a random place on at which all of them still
//! fit in; a lone grant is so sent anywhere in the interval, as there. They are for what the token
//! buckets hold at that place. A modem asks for what has
//! come since with each grant that it uses, and in contention when it has none. MAPs that would
//! bring nothing are skipped.
//!
//! Left out: noise, ranging and station maintenance; scheduling services other than best effort;
//! modems at different distances.

use std::collections::VecDeque;
use std::ops::Range;

use super::contention::{Contention, Outcome};
use super::framing::{Framing, request_region};
use super::port::Port;
use super::scheduler::Scheduler;
use super::subscriber::Place;
use crate::engine::rng::Rng;
use crate::engine::wake::Wake;
use crate::metrics::{Count, GaugeSeries, Ledger, Series};
use crate::packet::Packet;
use crate::scenario::channel::UpstreamChannel;
use crate::scenario::schema::Upstream;
use crate::units::Time;

/// A grant of the MAP in effect.
struct Grant {
    port: u32,
    start: Time,
    /// How long a byte lasts.
    byte: Time,
}

/// Counters of the channel.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChannelCounters {
    /// Minislots granted.
    pub granted_minislots: u64,
    /// Requests sent in contention.
    pub contention_requests: u64,
    /// Those of them that collided.
    pub collisions: u64,
}

/// The channel and the service flows on it.
pub struct SharedChannel {
    framing: Framing,
    overhead: u64,
    request_minislots: u64,
    request_opportunities: u64,
    ports: Vec<Port>,
    /// When the laws of their queues want to be updated.
    laws: Wake,
    scheduler: Scheduler,
    contention: Contention,
    rng: Rng,

    /// Those whose requests the next MAP will know.
    asking: Vec<u32>,
    outcomes: Vec<(u32, Outcome)>,
    /// Those of the MAP in effect that are not over.
    grants: VecDeque<Grant>,
    /// The first of them is being sent.
    sending: bool,
    /// When the piece being sent ends, or the next grant begins.
    burst_next: Time,
    /// When the next MAP takes effect; never while idle.
    next_map: Time,
    /// Sent, and when the CMTS has them.
    leaving: VecDeque<(Time, Packet)>,

    counters: ChannelCounters,
    sampled: ChannelCounters,
    sampled_at: Time,
    gauges: GaugeSeries,
}

impl SharedChannel {
    /// A channel without modems.
    pub fn new(spec: &UpstreamChannel, seed: u64) -> Self {
        Self {
            framing: Framing::of(spec),
            overhead: spec.packet_overhead_bytes.into(),
            request_minislots: request_region(spec),
            request_opportunities: spec.request_opportunities.into(),
            ports: Vec::new(),
            laws: Wake::new(2),
            scheduler: Scheduler::new(spec.quantum_bytes.into()),
            contention: Contention::new(spec, seed),
            rng: Rng::named(seed, "upstream channel"),
            asking: Vec::new(),
            outcomes: Vec::new(),
            grants: VecDeque::new(),
            sending: false,
            burst_next: Time::NEVER,
            next_map: Time::NEVER,
            leaving: VecDeque::new(),
            counters: ChannelCounters::default(),
            sampled: ChannelCounters::default(),
            sampled_at: Time::ZERO,
            gauges: GaugeSeries::default(),
        }
    }

    /// Adds the service flows of a modem, whose places are these; gives their numbers.
    pub fn connect<'a>(
        &mut self,
        spec: &Upstream,
        places: impl Iterator<Item = Place<'a>>,
    ) -> Range<u32> {
        let first = self.ports.len() as u32;
        let map = self.framing.map_interval();
        for (flow, place) in spec.service_flows().iter().zip(places) {
            self.ports.push(Port::new(flow, &place, map, self.overhead));
        }
        let numbers = first..self.ports.len() as u32;
        self.laws.grow(self.ports.len());
        numbers.clone().for_each(|port| self.schedule_law(port));
        numbers
    }

    /// The service flow of this number.
    pub fn port(&self, port: u32) -> &Port {
        &self.ports[port as usize]
    }

    /// As above, to be changed.
    pub fn port_mut(&mut self, port: u32) -> &mut Port {
        &mut self.ports[port as usize]
    }

    /// Takes a packet from a home into a service flow.
    #[inline]
    pub fn accept(&mut self, now: Time, port: u32, packet: Packet, ledger: &mut Ledger) {
        self.ports[port as usize].accept(now, packet, ledger);
        self.schedule_law(port);
        self.join_contention(port);
        if self.next_map == Time::NEVER {
            let map = self.framing.map_interval();
            self.next_map = map.times(now.ps() / map.ps() + 1);
        }
    }

    fn join_contention(&mut self, port: u32) {
        let flow = &mut self.ports[port as usize];
        if !flow.contends && flow.wants_to_be_heard() {
            flow.contends = true;
            self.contention.join(port);
        }
    }

    fn schedule_law(&mut self, port: u32) {
        self.laws.set(port, self.ports[port as usize].next_update());
    }

    /// When the channel wants to be woken next.
    #[inline]
    pub fn next_wake(&self) -> Time {
        let leaves = self.leaving.front().map_or(Time::NEVER, |(at, _)| *at);
        leaves.min(self.burst_next).min(self.laws.next().0).min(self.next_map)
    }

    /// Does one thing that is due, and gives a packet that the CMTS has then, if there is one. At
    /// equal times: the end of a piece or the start of a grant, the laws by the number of their
    /// flow, the MAP.
    pub fn wake(&mut self, now: Time, ledger: &mut Ledger) -> Option<Packet> {
        let (law_at, law) = self.laws.next();
        if self.burst_next <= now {
            self.go_on(now, ledger);
        } else if law_at <= now {
            self.ports[law as usize].update(now);
            self.schedule_law(law);
        } else if self.next_map <= now {
            self.on_map(now, ledger);
        }
        self.leaving.pop_front_if(|(at, _)| *at <= now).map(|(_, packet)| packet)
    }

    /// A piece is over, or a grant begins.
    fn go_on(&mut self, now: Time, ledger: &mut Ledger) {
        let Some(grant) = self.grants.front() else { return };
        let (port, byte) = (grant.port, grant.byte);
        let flow = &mut self.ports[port as usize];
        if !self.sending {
            // On the back of the grant: what has come since the last request.
            if flow.begin_grant(now, ledger) {
                self.asking.push(port);
            }
        } else if let Some(packet) = flow.end_piece(now, ledger) {
            self.leaving.push_back((self.framing.received_at(now), packet));
        }
        let piece = flow.next_piece(now, ledger);
        self.sending = piece.is_some();
        if let Some(bytes) = piece {
            self.burst_next = now + byte.times(bytes);
            return;
        }
        self.schedule_law(port);
        self.join_contention(port);
        self.grants.pop_front();
        self.burst_next = self.grants.front().map_or(Time::NEVER, |next| next.start);
    }

    /// A MAP takes effect.
    fn on_map(&mut self, now: Time, ledger: &mut Ledger) {
        self.grant(now, ledger);
        for port in self.asking.drain(..) {
            let flow = &mut self.ports[port as usize];
            if flow.requests_arrive() {
                self.scheduler.join(port, flow);
            }
        }
        self.hold_contention(now, ledger);
        let is_idle = self.grants.is_empty()
            && self.asking.is_empty()
            && self.scheduler.is_idle()
            && self.contention.is_idle();
        self.next_map = if is_idle { Time::NEVER } else { now + self.framing.map_interval() };
    }

    /// Lays out the grants of the MAP that takes effect now.
    fn grant(&mut self, now: Time, ledger: &mut Ledger) {
        let Self { framing, ports, scheduler, grants, .. } = self;
        if scheduler.is_idle() {
            ports[0].note_map(now, now, ledger);
            return;
        }
        let minislots = framing.minislots() - self.request_minislots;
        let free =
            minislots - scheduler.most(now + framing.map_interval(), minislots, framing, ports);
        let mut place = self.request_minislots + self.rng.below(free + 1);
        let start = now + framing.time_of(place);
        let (granted, taken) = scheduler.share(start, minislots, framing, ports);
        ports[0].note_map(now, start, ledger); // of the first home, if that is here
        if taken == 0 {
            return;
        }
        for &port in granted {
            let bytes = ports[port as usize].take_grant(start);
            let minislots = framing.minislots_for(bytes);
            let byte = Time::from_ps(framing.time_of(minislots).ps() / bytes);
            grants.push_back(Grant { port, start: now + framing.time_of(place), byte });
            place += minislots;
        }
        self.counters.granted_minislots += taken;
        self.burst_next = self.grants[0].start;
    }

    fn hold_contention(&mut self, now: Time, ledger: &mut Ledger) {
        let Self { contention, ports, outcomes, .. } = self;
        contention.hold(|port| ports[port as usize].wants_to_be_heard(), outcomes);
        while let Some((port, outcome)) = self.outcomes.pop() {
            let flow = &mut self.ports[port as usize];
            flow.contends = outcome == Outcome::Collided;
            match outcome {
                Outcome::Heard => {
                    flow.request(now, ledger);
                    self.asking.push(port);
                    self.counters.contention_requests += 1;
                }
                Outcome::Collided => {
                    flow.collided();
                    self.counters.contention_requests += 1;
                    self.counters.collisions += 1;
                }
                Outcome::GivenUp => {
                    flow.give_up(now, ledger);
                    self.join_contention(port);
                }
                Outcome::Withdrawn => {}
            }
        }
    }

    /// Packets and bytes on the channel and before it.
    pub fn inside(&self) -> Count {
        let sent = self.leaving.iter().map(|(_, packet)| Count::of(packet));
        self.ports.iter().map(Port::inside).chain(sent).fold(Count::default(), Count::plus)
    }

    /// Samples the channel and the queues before it for their series.
    pub fn sample(&mut self, now: Time) {
        self.ports.iter_mut().for_each(Port::sample);
        let (was, is) = (self.sampled, self.counters);
        let offered = self.minislots_until(now) - self.minislots_until(self.sampled_at);
        let granted = (is.granted_minislots - was.granted_minislots) as f64;
        self.gauges.sample(|gauges| {
            gauges.set("utilisation", "%", 100.0 * granted / offered);
            gauges.set("request_collisions", "1", (is.collisions - was.collisions) as f64);
        });
        (self.sampled, self.sampled_at) = (is, now);
    }

    fn minislots_until(&self, at: Time) -> f64 {
        at.ps() as f64 / self.framing.map_interval().ps() as f64 * self.framing.minislots() as f64
    }

    /// Share of the minislots before `now` that were granted, in percent.
    pub fn utilisation_percent(&self, now: Time) -> f64 {
        100.0 * self.counters.granted_minislots as f64 / self.minislots_until(now)
    }

    /// Request opportunities before `now`, those of MAPs that were skipped included.
    pub fn opportunities(&self, now: Time) -> u64 {
        self.request_opportunities * (now.ps() / self.framing.map_interval().ps())
    }

    /// What it carries if one grant fills each MAP interval, headers of packets included.
    pub fn greatest_mbps(&self) -> f64 {
        let minislots = self.framing.minislots() - self.request_minislots;
        let bytes = self.framing.bytes_in(minislots) as f64;
        bytes * 8e-6 / self.framing.map_interval().secs_f64()
    }

    /// What was counted.
    pub fn counters(&self) -> ChannelCounters {
        self.counters
    }

    /// The channel over time.
    pub fn series(&self) -> impl Iterator<Item = &Series> {
        self.gauges.iter()
    }
}
