//! The upstream channel that modems share, as one stage: MAPs, contention, and the bursts of all
//! modems.
//!
//! A MAP is made one interval before it takes effect. A request made in one interval is granted two
//! intervals later, as in the studies' modems (modem.rs). Each interval begins with the request
//! region. The grants follow each other from a random position at which all of them still fit, so a
//! lone grant may be anywhere in the interval, as in modem.rs. A grant covers what the token
//! buckets hold at that position. With each grant that it uses, a modem requests what has come
//! since; without a grant it requests in contention. MAPs without any content are skipped.
//!
//! Left out: noise, ranging and station maintenance; scheduling services other than best effort;
//! modems at different distances.

use std::collections::VecDeque;

use super::contention::{Contention, Outcome};
use super::framing::{Framing, request_region};
use super::scheduler::Scheduler;
use super::upstream_service_flow::UpstreamServiceFlow;
use crate::access::context::ServiceFlowContext;
use crate::access::docsis::upstream_channel::UpstreamChannel;
use crate::access::service::Upstream;
use crate::count::Count;
use crate::engine::rng::Rng;
use crate::engine::wake::Wake;
use crate::metrics::rows::ChannelRow;
use crate::metrics::{GaugeSeries, Ledger, Series};
use crate::packet::Packet;
use crate::units::Time;

/// The share of collided requests above which the channel warns: modems then do little but contend.
const MANY_COLLISIONS: f64 = 0.5;

/// A grant of the MAP in effect.
struct Grant {
    number: u32,
    start: Time,
    /// Transmission time of a byte.
    byte: Time,
}

/// Counters of the channel.
#[derive(Clone, Copy, Debug, Default)]
struct ChannelCounters {
    /// Minislots granted.
    granted_minislots: u64,
    /// Requests sent in contention.
    contention_requests: u64,
    /// Contention requests that collided.
    collisions: u64,
}

/// The channel and the service flows on it.
pub struct SharedChannel {
    framing: Framing,
    overhead: u64,
    request_minislots: u64,
    request_opportunities: u64,
    flows: Vec<UpstreamServiceFlow>,
    /// When the AQM algorithms of the queues are updated.
    updates: Wake,
    scheduler: Scheduler,
    contention: Contention,
    rng: Rng,

    /// Flows whose requests the next MAP will know.
    asking: Vec<u32>,
    outcomes: Vec<(u32, Outcome)>,
    /// Grants of the current MAP that have not ended.
    grants: VecDeque<Grant>,
    /// Is the first of them being sent?
    sending: bool,
    /// When the piece being sent ends, or the next grant begins.
    burst_next: Time,
    /// When the next MAP takes effect; never while idle.
    next_map: Time,
    /// Sent packets, and when the CMTS has received them.
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
            flows: Vec::new(),
            updates: Wake::new(2),
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

    /// Adds the service flows of a modem. Returns the number of the first.
    pub fn connect(&mut self, specs: &[Upstream], contexts: &[ServiceFlowContext]) -> u32 {
        let first = self.flows.len() as u32;
        let map = self.framing.map_interval();
        for (spec, context) in specs.iter().zip(contexts) {
            self.flows.push(UpstreamServiceFlow::new(spec, context, map, self.overhead));
        }
        self.updates.grow(self.flows.len());
        (first..self.flows.len() as u32).for_each(|number| self.schedule_update(number));
        first
    }

    /// The service flow of this number.
    pub fn flow(&self, number: u32) -> &UpstreamServiceFlow {
        &self.flows[number as usize]
    }

    /// Takes a packet from a home into a service flow.
    #[inline]
    pub fn accept(&mut self, now: Time, number: u32, packet: Packet, ledger: &mut Ledger) {
        self.flows[number as usize].accept(now, packet, ledger);
        self.schedule_update(number);
        self.join_contention(number);
        if self.next_map == Time::NEVER {
            let map = self.framing.map_interval();
            self.next_map = map.times(now.ps() / map.ps() + 1);
        }
    }

    fn join_contention(&mut self, number: u32) {
        let flow = &mut self.flows[number as usize];
        if !flow.contends && flow.wants_to_contend() {
            flow.contends = true;
            self.contention.join(number);
        }
    }

    fn schedule_update(&mut self, number: u32) {
        self.updates.set(number, self.flows[number as usize].next_update());
    }

    /// The next wake time of the channel.
    #[inline]
    pub fn next_wake(&self) -> Time {
        let leaves = self.leaving.front().map_or(Time::NEVER, |(at, _)| *at);
        leaves.min(self.burst_next).min(self.updates.next().0).min(self.next_map)
    }

    /// Does one thing that is due. Returns a packet that the CMTS has received by then, if there is
    /// one. At equal times the order is: the end of a piece or the start of a grant, the AQM
    /// algorithms by the number of their flow, the MAP.
    pub fn wake(&mut self, now: Time, ledger: &mut Ledger) -> Option<Packet> {
        let (update_at, flow) = self.updates.next();
        if self.burst_next <= now {
            self.go_on(now, ledger);
        } else if update_at <= now {
            self.flows[flow as usize].update(now);
            self.schedule_update(flow);
        } else if self.next_map <= now {
            self.on_map(now, ledger);
        }
        self.leaving.pop_front_if(|(at, _)| *at <= now).map(|(_, packet)| packet)
    }

    /// Ends a piece or begins a grant.
    fn go_on(&mut self, now: Time, ledger: &mut Ledger) {
        let Some(grant) = self.grants.front() else { return };
        let (number, byte) = (grant.number, grant.byte);
        let flow = &mut self.flows[number as usize];
        if !self.sending {
            // Piggybacked on the grant: what has come since the last request.
            if flow.begin_grant(now, ledger) {
                self.asking.push(number);
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
        self.schedule_update(number);
        self.join_contention(number);
        self.grants.pop_front();
        self.burst_next = self.grants.front().map_or(Time::NEVER, |next| next.start);
    }

    /// Handles a MAP that takes effect.
    fn on_map(&mut self, now: Time, ledger: &mut Ledger) {
        self.grant(now, ledger);
        for number in self.asking.drain(..) {
            let flow = &mut self.flows[number as usize];
            if flow.requests_arrive() {
                self.scheduler.join(number, flow);
            }
        }
        self.hold_contention(now, ledger);
        let is_idle = self.grants.is_empty()
            && self.asking.is_empty()
            && self.scheduler.is_idle()
            && self.contention.is_idle();
        self.next_map = if is_idle { Time::NEVER } else { now + self.framing.map_interval() };
    }

    /// Places the grants of the MAP that takes effect now.
    fn grant(&mut self, now: Time, ledger: &mut Ledger) {
        let Self { framing, flows, scheduler, grants, .. } = self;
        if scheduler.is_idle() {
            flows[0].note_map(now, now, ledger);
            return;
        }
        let minislots = framing.minislots() - self.request_minislots;
        let free =
            minislots - scheduler.most(now + framing.map_interval(), minislots, framing, flows);
        let mut place = self.request_minislots + self.rng.below(free + 1);
        let start = now + framing.time_of(place);
        let (granted, taken) = scheduler.share(start, minislots, framing, flows);
        flows[0].note_map(now, start, ledger); // traces the first home, if it is on this channel
        if taken == 0 {
            return;
        }
        for &number in granted {
            let bytes = flows[number as usize].take_grant(start);
            let minislots = framing.minislots_for(bytes);
            let byte = Time::from_ps(framing.time_of(minislots).ps() / bytes);
            grants.push_back(Grant { number, start: now + framing.time_of(place), byte });
            place += minislots;
        }
        self.counters.granted_minislots += taken;
        self.burst_next = self.grants[0].start;
    }

    fn hold_contention(&mut self, now: Time, ledger: &mut Ledger) {
        let Self { contention, flows, outcomes, .. } = self;
        contention.hold(|number| flows[number as usize].wants_to_contend(), outcomes);
        while let Some((number, outcome)) = self.outcomes.pop() {
            let flow = &mut self.flows[number as usize];
            flow.contends = outcome == Outcome::Collided;
            match outcome {
                Outcome::Heard => {
                    flow.request(now, ledger);
                    self.asking.push(number);
                    self.counters.contention_requests += 1;
                }
                Outcome::Collided => {
                    flow.collided();
                    self.counters.contention_requests += 1;
                    self.counters.collisions += 1;
                }
                Outcome::GivenUp => {
                    flow.give_up(now, ledger);
                    self.join_contention(number);
                }
                Outcome::Withdrawn => {}
            }
        }
    }

    /// Packets and bytes on the channel and before it.
    pub fn inside(&self) -> Count {
        let sent = self.leaving.iter().map(|(_, packet)| Count::of(packet));
        self.flows
            .iter()
            .map(UpstreamServiceFlow::inside)
            .chain(sent)
            .fold(Count::default(), Count::plus)
    }

    /// Samples the channel and its queues for their time series.
    pub fn sample(&mut self, now: Time) {
        self.flows.iter_mut().for_each(UpstreamServiceFlow::sample);
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

    /// Counters up to `now`, including the request opportunities of skipped MAPs.
    pub fn row(&self, now: Time) -> ChannelRow {
        let ChannelCounters { granted_minislots, contention_requests, collisions } = self.counters;
        let maps = now.ps() / self.framing.map_interval().ps();
        ChannelRow {
            channel: "upstream",
            granted_minislots,
            utilisation_percent: 100.0 * granted_minislots as f64 / self.minislots_until(now),
            request_opportunities: self.request_opportunities * maps,
            contention_requests,
            collisions,
        }
    }

    /// A warning if too many requests collide.
    pub fn collision_warning(&self) -> Option<String> {
        let ChannelCounters { contention_requests, collisions, .. } = self.counters;
        let lost = collisions as f64 / contention_requests.max(1) as f64;
        (lost > MANY_COLLISIONS).then(|| {
            format!(
                "{:.0} % of the contention requests collided; to reduce collisions, raise \
                 upstream_channel.request_opportunities or upstream_channel.backoff_end",
                100.0 * lost
            )
        })
    }

    /// The highest rate, including packet headers: one grant fills each MAP interval.
    pub fn greatest_mbps(&self) -> f64 {
        let minislots = self.framing.minislots() - self.request_minislots;
        let bytes = self.framing.bytes_in(minislots) as f64;
        bytes * 8e-6 / self.framing.map_interval().secs_f64()
    }

    /// The time series of the channel.
    pub fn series(&self) -> impl Iterator<Item = &Series> {
        self.gauges.iter()
    }
}
