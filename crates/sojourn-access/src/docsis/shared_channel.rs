//! The upstream channel that modems share, as one stage: MAPs, contention, and the bursts of all
//! modems.
//!
//! A request is granted by the first MAP that can answer it (timing.rs): with the documents' timing
//! two intervals later, as in the studies' modems (modem.rs). Modems request at the start of each
//! interval; with the specification's timing at a random time in it, as in docsis-ns3. Grants follow
//! each other from the start of the interval or, where one modem is alone, from a random position at
//! which all of them still fit, so that its grant may be anywhere, as in modem.rs. A grant covers what the
//! token buckets hold at that position. With each grant that it uses, a modem requests what has come
//! since; without a grant it requests in contention (request_region.rs). MAPs without any content are
//! skipped.
//!
//! Unsolicited grants and polls come at their own times (unsolicited.rs), and the others in what they
//! leave of the interval (map_layout.rs). A channel that has any skips no MAP.
//!
//! Left out: noise, ranging and station maintenance. A fixed request region takes its minislots from the
//! start of the interval, also where modems request later.

use std::collections::VecDeque;
use std::ops::Range;

use super::channel_flows::ChannelFlows;
use super::contention::{Contention, Outcome};
use super::framing::Framing;
use super::map_layout::{MapLayout, Part, Placed};
use super::regularity::Grid;
use super::request_grant::By;
use super::request_region::{Region, RequestRegion};
use super::scheduler::GrantScheduler;
use super::timing::{PlantTiming, Timing};
use super::unsolicited::{Opportunity, Unsolicited};
use super::upstream_service_flow::UpstreamServiceFlow;
use crate::context::ServiceFlowContext;
use crate::delay_line::DelayLine;
use crate::docsis::upstream_channel::{GrantPlace, PartialService, Phy, UpstreamChannel};
use crate::service::Upstream;
use sojourn_engine::count::Count;
use sojourn_engine::packet::Packet;
use sojourn_engine::record::{ChannelUse, Part as DelayPart};
use sojourn_engine::record::{GaugeSeries, Recorder, Series};
use sojourn_engine::rng::Rng;
use sojourn_engine::units::Time;
use sojourn_engine::wake::Wake;
use sojourn_input::fault;
use sojourn_input::problem::Warning;

sojourn_engine::series! {
    /// Share of the channel's minislots that were granted.
    UTILISATION = "utilisation", in "%";
    /// Requests that collided in the interval.
    REQUEST_COLLISIONS = "request_collisions", in "1";
}

/// The share of collided requests above which the channel warns: modems then do little but contend.
const MANY_COLLISIONS: f64 = 0.5;
/// The least share of requests in contention, among all, at which it does: below it most come with
/// grants.
const MUCH_CONTENTION: f64 = 0.1;

/// A grant of the MAP in effect.
struct Grant {
    number: u32,
    start: Time,
    /// Transmission time of a byte.
    byte: Time,
    kind: GrantKind,
}

/// What a grant is for.
#[derive(Clone, Copy)]
enum GrantKind {
    /// So many bytes of a request.
    Requested(u64),
    /// What the CMTS gives unasked, and the index of its source.
    Unsolicited(u32, Opportunity),
}

/// A packet on its way to a service flow, and when it came to its modem.
struct Entering {
    number: u32,
    packet: Packet,
    came: Time,
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
    /// MAPs made, and their request opportunities.
    maps: u64,
    opportunities: u64,
}

/// The channel and the service flows on it.
pub(crate) struct SharedChannel {
    framing: Framing,
    /// The framing with all channels, and with some lost, and when.
    whole: Framing,
    partial: Vec<(Time, Time, u32)>,
    phy: Phy,
    timing: Timing,
    overhead: u64,
    request_region: RequestRegion,
    grant_place: Option<GrantPlace>,
    modems: usize,
    flows: ChannelFlows,
    /// When the AQM algorithms of the queues are updated.
    updates: Wake,
    scheduler: GrantScheduler,
    contention: Contention,
    /// Unsolicited grants and polls, with the numbers of their flows.
    unsolicited: Vec<(u32, Unsolicited)>,
    layout: MapLayout,
    rng: Rng,

    /// Packets from modems that are farther away than the nearest, by the number of their flow. Time
    /// at a modem runs behind the channel's by the difference in propagation.
    entering: DelayLine<Entering>,
    /// Flows with requests, and the first MAP that can grant them.
    asking: VecDeque<(Time, u32)>,
    outcomes: Vec<(u32, Outcome)>,
    /// Grants of the current MAP that have not ended.
    grants: VecDeque<Grant>,
    /// Is the first of them being sent?
    sending: bool,
    /// When the piece being sent ends, or the next grant begins.
    burst_next: Time,
    /// When the next MAP takes effect; never while idle.
    next_map: Time,
    /// The request region of the current interval, and when modems request in it, if they still do.
    region: Region,
    region_at: Time,
    /// Sent packets, when they were sent, and when the CMTS has received them.
    leaving: VecDeque<(Time, Time, Packet)>,

    counters: ChannelCounters,
    sampled: ChannelCounters,
    sampled_at: Time,
    gauges: GaugeSeries,
}

impl SharedChannel {
    /// When requests are granted.
    pub(crate) fn timing(&self) -> Timing {
        self.timing
    }

    /// A channel without modems.
    pub(crate) fn new(
        spec: &UpstreamChannel,
        overhead: u64,
        plant: &PlantTiming,
        seed: u64,
    ) -> Self {
        let framing = Framing::of(spec);
        let request_region = RequestRegion::new(spec);
        Self {
            region: request_region.open(framing.minislots()),
            request_region,
            grant_place: spec.grant_place,
            modems: 0,
            timing: Timing::new(plant, framing.map_interval(), framing.frame()),
            whole: framing.clone(),
            framing,
            partial: spec.partial_service.iter().map(lost_channels).collect(),
            phy: spec.phy.clone(),
            overhead,
            flows: ChannelFlows::default(),
            updates: Wake::new(2),
            scheduler: GrantScheduler::new(spec.quantum_bytes.into()),
            contention: Contention::new(seed),
            unsolicited: Vec::new(),
            layout: MapLayout::new(spec.request_minislots.into()),
            rng: Rng::named(seed, "upstream channel"),
            entering: DelayLine::new(Time::ZERO),
            asking: VecDeque::new(),
            outcomes: Vec::new(),
            grants: VecDeque::new(),
            sending: false,
            burst_next: Time::NEVER,
            next_map: Time::NEVER,
            region_at: Time::NEVER,
            leaving: VecDeque::new(),
            counters: ChannelCounters::default(),
            sampled: ChannelCounters::default(),
            sampled_at: Time::ZERO,
            gauges: GaugeSeries::default(),
        }
    }

    /// Adds the service flows of a modem. Returns the number of the first.
    pub(crate) fn connect(&mut self, specs: &[Upstream], contexts: &[ServiceFlowContext]) -> u32 {
        let first = self.flows.len() as u32;
        self.modems += 1;
        let map_interval = self.timing.map_interval();
        let frame = self.whole.frame().map(|frame| frame.time);
        let grid = Grid { map_interval, frame, overhead: self.overhead, is_own: false };
        for ((number, spec), context) in (first..).zip(specs).zip(contexts) {
            let name = context.name("upstream");
            let service = &spec.scheduling;
            let unsolicited = Unsolicited::of(service, &grid, context.seed, &name);
            if let Some(unsolicited) = unsolicited {
                self.unsolicited.push((number, unsolicited));
                self.next_map = Time::ZERO;
            }
            let profile = self.whole.profile(&self.phy, spec.profile_bits);
            let flow = UpstreamServiceFlow::new(spec, context, &self.timing, &grid, profile);
            self.flows.push(flow);
        }
        self.framing = self.whole.clone();
        self.updates.grow(self.flows.len());
        (first..self.flows.len() as u32).for_each(|number| self.schedule_update(number));
        first
    }

    /// From now on the flow of this number has other rates and other parameters of its queue.
    pub(crate) fn retune(&mut self, now: Time, number: u32, spec: &Upstream) {
        let map = self.timing.map_interval();
        self.flows[number].retune(now, spec, map);
    }

    /// The service flow of this number.
    pub(crate) fn flow(&self, number: u32) -> &UpstreamServiceFlow {
        &self.flows[number]
    }

    /// Takes a packet from a home whose modem is farther away than the nearest by this propagation
    /// delay.
    #[inline]
    pub(crate) fn accept(
        &mut self,
        now: Time,
        farther: Time,
        (number, packet): (u32, Packet),
        recorder: &mut Recorder,
    ) {
        if farther == Time::ZERO {
            self.enter(now, number, packet, recorder);
        } else {
            self.entering.accept(now + farther, Entering { number, packet, came: now });
        }
    }

    /// Takes a packet into a service flow.
    fn enter(&mut self, now: Time, number: u32, packet: Packet, recorder: &mut Recorder) {
        self.flows[number].accept(now, packet, recorder);
        self.schedule_update(number);
        self.join_contention(number);
        if self.next_map == Time::NEVER {
            let last_map = self.timing.map_before(now);
            self.next_map = last_map + self.timing.map_interval();
            self.region = self.request_region.open(self.framing.minislots());
            self.place_region(last_map);
            if self.region_at < now {
                self.region_at = Time::NEVER; // it has passed without anybody
            }
        }
    }

    /// Draws when modems request in contention in the interval that begins at `map`.
    fn place_region(&mut self, map: Time) {
        if !self.timing.is_documents() {
            self.region_at = self.timing.request_place(map, self.rng.uniform());
        }
    }

    fn join_contention(&mut self, number: u32) {
        let flow = &mut self.flows[number];
        if !flow.contends && flow.wants_to_contend() {
            flow.contends = true;
            self.contention.join(number);
        }
    }

    fn schedule_update(&mut self, number: u32) {
        self.updates.set(number, self.flows[number].next_update());
    }

    /// The next wake time of the channel.
    #[inline]
    pub(crate) fn next_wake(&self) -> Time {
        let leaves = self.leaving.front().map_or(Time::NEVER, |(_, at, _)| *at);
        let mac = self.burst_next.min(self.next_map).min(self.region_at);
        leaves.min(mac).min(self.updates.next()).min(self.entering.next_wake())
    }

    /// Does one thing that is due. Returns a packet that the CMTS has received by then, if there is
    /// one. At equal times the order is: the end of a piece or the start of a grant, the AQM
    /// algorithms by the number of their flow, the MAP, requests in contention, packets that enter.
    pub(crate) fn wake(&mut self, now: Time, recorder: &mut Recorder) -> Option<Packet> {
        if self.burst_next <= now {
            self.go_on(now, recorder);
        } else if self.updates.next() <= now {
            let flow = self.updates.next_stage();
            self.flows[flow].update(now);
            self.schedule_update(flow);
        } else if self.next_map <= now {
            self.on_map(now, recorder);
        } else if self.region_at <= now {
            self.region_at = Time::NEVER;
            self.hold_contention(now, recorder);
        } else if self.entering.next_wake() <= now
            && let Some((at, Entering { number, packet, came })) = self.entering.wake()
        {
            recorder.delays.spends(&packet, came, [(DelayPart::Propagation, at)]);
            self.enter(at, number, packet, recorder);
        }
        let (sent, _, packet) = self.leaving.pop_front_if(|(_, at, _)| *at <= now)?;
        recorder.delays.spends(&packet, sent, [(DelayPart::Transmission, now)]);
        Some(packet)
    }

    /// Ends a piece or begins a grant.
    fn go_on(&mut self, now: Time, recorder: &mut Recorder) {
        let Some(&Grant { number, byte, kind, .. }) = self.grants.front() else { return };
        if !self.sending {
            self.begin_grant(now, number, kind, recorder);
        } else if let Some(packet) = self.flows[number].mac.end_piece(now, recorder) {
            let sent = self.framing.received_at(now);
            self.leaving.push_back((now, self.timing.received_at(sent), packet));
        }
        let piece = self.flows[number].next_piece(now, recorder);
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

    /// Begins a grant or a poll.
    fn begin_grant(&mut self, now: Time, number: u32, kind: GrantKind, recorder: &mut Recorder) {
        let Self { flows, timing, .. } = self;
        let flow = &mut flows[number];
        let granted_from = timing.granted_from(now);
        let requested = match kind {
            // Piggybacked on the grant: what has come since the last request.
            GrantKind::Requested(bytes) => flow.begin_grant(now, bytes, timing, recorder),
            GrantKind::Unsolicited(source, Opportunity::Grant(bytes)) => {
                let used = flow.mac.begin_unsolicited(now, bytes, recorder);
                self.unsolicited[source as usize].1.was_used(now, used);
                flow.mac.request_beyond_grant(now, timing, recorder)
            }
            GrantKind::Unsolicited(source, Opportunity::Poll) => {
                let requested = flow.mac.answer_poll(now, timing, recorder);
                if requested {
                    self.unsolicited[source as usize].1.was_requested(granted_from);
                }
                requested
            }
        };
        if requested {
            self.asking.push_back((granted_from, number));
        }
    }

    /// Handles a MAP that takes effect.
    fn on_map(&mut self, now: Time, recorder: &mut Recorder) {
        self.choose_channels(now);
        self.take_requests(now);
        self.grant(now, recorder);
        self.take_requests(now + self.timing.map_interval());
        if self.timing.is_documents() {
            self.hold_contention(now, recorder);
        }
        let is_idle = self.unsolicited.is_empty()
            && self.grants.is_empty()
            && self.asking.is_empty()
            && self.scheduler.is_idle()
            && self.contention.is_idle();
        self.next_map = Time::NEVER;
        if !is_idle {
            self.next_map = now + self.timing.map_interval();
            self.place_region(now);
        }
    }

    /// Partial service: the MAP is for the channels that are left.
    fn choose_channels(&mut self, map: Time) {
        if self.partial.is_empty() {
            return;
        }
        let lost = self.partial.iter().find(|(from, until, _)| (*from..*until).contains(&map));
        self.framing = match lost {
            Some((.., left)) => self.whole.with_channels(*left),
            None => self.whole.clone(),
        };
    }

    /// The scheduler now knows of the requests that the MAP at `map` can grant.
    fn take_requests(&mut self, map: Time) {
        while let Some((_, number)) = self.asking.pop_front_if(|(from, _)| *from <= map) {
            let flow = &mut self.flows[number];
            if flow.requests_arrive(map) {
                self.scheduler.join(number, flow);
            }
        }
    }

    /// Places the grants of the MAP that takes effect now.
    fn grant(&mut self, now: Time, recorder: &mut Recorder) {
        if !self.unsolicited.is_empty() {
            let flows = &self.flows;
            let sources = self
                .unsolicited
                .iter_mut()
                .map(|(number, unsolicited)| (flows[*number].profile, unsolicited));
            self.layout.fill(now, &self.framing, sources);
        }
        let granted = self.grant_requests(now, recorder);
        self.counters.granted_minislots += granted;
        let idle = self.framing.minislots().saturating_sub(granted + self.layout.taken());
        self.region = self.request_region.open(idle);
        if now > Time::ZERO {
            self.counters.maps += 1;
            self.counters.opportunities += self.region.opportunities;
        }
        if !self.layout.placed().is_empty() {
            self.grant_unsolicited(now);
        }
        self.burst_next = self.grants.front().map_or(Time::NEVER, |first| first.start);
    }

    /// Places what is granted of requests. Returns its minislots.
    fn grant_requests(&mut self, now: Time, recorder: &mut Recorder) -> u64 {
        let from = self.grants_from();
        let Self { framing, flows, scheduler, layout, grants, asking, .. } = self;
        if scheduler.is_idle() {
            flows[0].note_map(now, now, recorder);
            return 0;
        }
        let all = framing.minislots();
        let split = framing.minislots_for(0, 1) * layout.runs();
        let kept = self.request_region.kept(all);
        let minislots = all.saturating_sub(kept + layout.taken() + split); // none, if requests take all
        let mut place = if self.request_region.adapts() { 0 } else { kept };
        if from == GrantPlace::Uniform {
            let latest = now + framing.map_interval();
            let free = minislots - scheduler.most(latest, minislots, framing, flows);
            place += self.rng.below(free + 1);
        }
        let start = now + framing.time_of(layout.free(place, all).0);
        let (granted, taken) = scheduler.share(start, minislots, framing, flows);
        flows[0].note_map(now, start, recorder); // traces the first home, if it is on this channel
        for &number in granted {
            let flow = &mut flows[number];
            let mut left = flow.take_grant(start);
            while left > 0 && place < framing.minislots() - layout.taken() {
                let (part, next) = layout.part(place, left, flow.profile, framing);
                place = next;
                let Some(Part { place, minislots, bytes }) = part else { continue };
                let start = now + framing.time_of(place);
                let byte = Time::from_ps(framing.time_of(minislots).ps() / bytes);
                let kind = GrantKind::Requested(bytes);
                grants.push_back(Grant { number, start, byte, kind });
                left -= bytes;
            }
            if left > 0 {
                flow.mac.flow.take_back(left);
                asking.push_front((now, number)); // the scheduler learns of it again
            }
        }
        taken
    }

    /// Where the grants of a MAP begin.
    fn grants_from(&self) -> GrantPlace {
        let default = if self.modems > 1 { GrantPlace::Start } else { GrantPlace::Uniform };
        self.grant_place.unwrap_or(default)
    }

    /// Places unsolicited grants and polls, in the order of time with the others.
    fn grant_unsolicited(&mut self, now: Time) {
        for &Placed { place, minislots, source, what } in self.layout.placed() {
            let number = self.unsolicited[source as usize].0;
            let start = now + self.framing.time_of(place);
            let byte = match what {
                Opportunity::Grant(bytes) => {
                    self.counters.granted_minislots += minislots;
                    Time::from_ps(self.framing.time_of(minislots).ps() / bytes)
                }
                Opportunity::Poll => Time::ZERO,
            };
            let kind = GrantKind::Unsolicited(source, what);
            self.grants.push_back(Grant { number, start, byte, kind });
        }
        self.grants.make_contiguous().sort_by_key(|grant| grant.start);
    }

    fn hold_contention(&mut self, now: Time, recorder: &mut Recorder) {
        let granted_from = self.timing.granted_from(now);
        let map = self.timing.map_interval().ps();
        let answered_after = granted_from.ps() / map - now.ps() / map;
        let Self { contention, flows, outcomes, .. } = self;
        flows.drop_out(|number| contention.withdraw(number));
        let (heard, collided) = contention.hold(self.region, answered_after, outcomes);
        self.request_region.saw(heard, collided);
        while let Some((number, outcome)) = self.outcomes.pop() {
            let flow = &mut self.flows[number];
            flow.contends = outcome == Outcome::Collided;
            match outcome {
                Outcome::Heard => {
                    flow.mac.request(By::Ungranted, now, &self.timing, recorder);
                    self.asking.push_back((granted_from, number));
                    self.counters.contention_requests += 1;
                }
                Outcome::Collided => {
                    flow.collided(now);
                    self.counters.contention_requests += 1;
                    self.counters.collisions += 1;
                }
                Outcome::GivenUp => {
                    flow.give_up(now, recorder);
                    self.join_contention(number);
                }
            }
        }
    }

    /// Packets and bytes on the channel and before it.
    pub(crate) fn inside(&self) -> Count {
        let sent = self.leaving.iter().map(|(.., packet)| Count::of(packet));
        let entering = self.entering.items().map(|(_, entering)| Count::of(&entering.packet));
        self.flows
            .iter()
            .map(UpstreamServiceFlow::inside)
            .chain(sent)
            .chain(entering)
            .fold(Count::default(), Count::plus)
    }

    /// The run ends: what is on the channel and before it, but in queues, has spent its time until now.
    pub(crate) fn close(&self, now: Time, recorder: &mut Recorder) {
        self.flows.iter().for_each(|flow| flow.mac.close(now, recorder));
        for (sent, _, packet) in &self.leaving {
            recorder.delays.spends(packet, *sent, [(DelayPart::Transmission, now)]);
        }
        for (_, Entering { packet, came, .. }) in self.entering.items() {
            recorder.delays.spends(packet, *came, [(DelayPart::Propagation, now)]);
        }
    }

    /// Samples the queues of service flows for their time series.
    pub(crate) fn sample_flows(&mut self, numbers: Range<usize>) {
        self.flows.sample(numbers);
    }

    /// Samples the channel for its time series.
    pub(crate) fn sample(&mut self, now: Time) {
        let (was, is) = (self.sampled, self.counters);
        let offered = self.minislots_until(now) - self.minislots_until(self.sampled_at);
        let granted = (is.granted_minislots - was.granted_minislots) as f64;
        self.gauges.sample(|gauges| {
            gauges.show(UTILISATION, 100.0 * granted / offered);
            gauges.show(REQUEST_COLLISIONS, (is.collisions - was.collisions) as f64);
        });
        (self.sampled, self.sampled_at) = (is, now);
    }

    fn minislots_until(&self, at: Time) -> f64 {
        at.ps() as f64 / self.framing.map_interval().ps() as f64 * self.whole.minislots() as f64
    }

    /// Counters up to `now`, including the request opportunities of skipped MAPs.
    pub(crate) fn used(&self, now: Time) -> ChannelUse {
        let ChannelCounters { granted_minislots, contention_requests, collisions, .. } =
            self.counters;
        let maps = now.ps() / self.framing.map_interval().ps();
        let skipped = maps.saturating_sub(self.counters.maps);
        let in_skipped = self.request_region.open(self.whole.minislots()).opportunities * skipped;
        ChannelUse {
            granted_minislots,
            minislots: self.minislots_until(now),
            request_opportunities: self.counters.opportunities + in_skipped,
            contention_requests,
            collisions,
        }
    }

    /// A warning if too many requests collide.
    pub(crate) fn collision_warning(&self) -> Option<Warning> {
        let ChannelCounters { contention_requests, collisions, .. } = self.counters;
        let lost = collisions as f64 / contention_requests.max(1) as f64;
        let all: u64 = self.flows.iter().map(|flow| flow.counters().requests).sum();
        let contend = contention_requests as f64 / all.max(1) as f64;
        let advice = match self.request_region.adapts() {
            true => "fewer homes or more channels reduce collisions",
            false => {
                "to reduce collisions, leave out upstream_channel.request_opportunities, so that all idle \
                 minislots are for requests, or raise it"
            }
        };
        (lost > MANY_COLLISIONS && contend >= MUCH_CONTENTION).then(|| {
            fault!(ContentionCollisions, "upstream_channel" =>
                "{collided_percent:.0} % of the contention requests collided; {advice}",
                collided_percent = 100.0 * lost, advice)
        })
    }

    /// Time between MAPs.
    pub(crate) fn map_interval(&self) -> Time {
        self.timing.map_interval()
    }

    /// The highest rate, including packet headers.
    pub(crate) fn greatest_mbps(&self) -> f64 {
        self.whole.greatest_mbps(self.request_region.least())
    }

    /// The time series of the channel.
    pub(crate) fn series(&self) -> impl Iterator<Item = &Series> {
        self.gauges.iter()
    }
}

/// When channels are lost, and how many are left.
fn lost_channels(partial: &PartialService) -> (Time, Time, u32) {
    let PartialService { start_s, length_s, channels } = *partial;
    (Time::from_secs_f64(start_s), Time::from_secs_f64(start_s + length_s), channels)
}

#[cfg(test)]
#[path = "shared_channel_tests.rs"]
mod tests;
