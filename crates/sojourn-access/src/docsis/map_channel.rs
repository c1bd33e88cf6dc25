//! One upstream channel at the CMTS: its MAP clock, its request region, and the grants of its MAPs to service flows, which
//! the caller keeps: those of one channel (shared_channel.rs), or of modems that bond several (bonded_channels.rs).
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
//! Modems that range take minislots (ranging.rs), half of a MAP at most. A fixed request region takes its minislots from the
//! start of the interval, also where modems request later.

use std::collections::VecDeque;

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
use crate::context::ServiceFlowContext;
use crate::docsis::upstream_channel::{GrantPlace, PartialService, Phy, UpstreamChannel};
use crate::service::Upstream;
use sojourn_engine::record::{ChannelUse, RequestUse};
use sojourn_engine::record::{GaugeSeries, Recorder, Series};
use sojourn_engine::rng::Rng;
use sojourn_engine::units::Time;
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
pub(super) struct Grant {
    pub number: u32,
    pub start: Time,
    /// Transmission time of a byte.
    pub byte: Time,
    pub kind: GrantKind,
}

/// What a grant is for.
#[derive(Clone, Copy)]
pub(super) enum GrantKind {
    /// So many bytes of a request.
    Requested(u64),
    /// What the CMTS gives unasked, and the index of its source.
    Unsolicited(u32, Opportunity),
}

/// Counters of the channel.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ChannelCounters {
    /// Minislots granted.
    pub granted_minislots: u64,
    /// Requests sent in contention.
    pub contention_requests: u64,
    /// Contention requests that collided.
    pub collisions: u64,
    /// MAPs made, and their request opportunities.
    pub maps: u64,
    pub opportunities: u64,
}

/// The channel.
pub(super) struct MapChannel {
    pub framing: Framing,
    /// The framing with all channels, and with some lost, and when.
    pub whole: Framing,
    partial: Vec<(Time, Time, u32)>,
    phy: Phy,
    pub timing: Timing,
    /// When the CMTS hears a request, if MAPs of other channels may grant it too; else this channel's MAP that does.
    pub hears: Timing,
    /// How long before its interval a MAP is made, of which the time above says nothing.
    pub lead: Time,
    request_region: RequestRegion,
    grant_place: Option<GrantPlace>,
    pub modems: usize,
    pub scheduler: GrantScheduler,
    pub contention: Contention,
    /// Unsolicited grants and polls, with the numbers of their flows.
    unsolicited: Vec<(u32, Unsolicited)>,
    layout: MapLayout,
    /// Minislots of ranging that the next MAPs give.
    maintenance: u64,
    rng: Rng,

    /// Flows with requests, and the first MAP that can grant them, or when the CMTS has heard them.
    pub asking: VecDeque<(Time, u32)>,
    outcomes: Vec<(u32, Outcome)>,
    /// Grants of the current MAP that have not ended.
    pub grants: VecDeque<Grant>,
    /// When the piece being sent ends, or the next grant begins.
    pub burst_next: Time,
    /// When the next MAP takes effect; never while idle.
    pub next_map: Time,
    /// The request region of the current interval, and when modems request in it, if they still do.
    region: Region,
    pub region_at: Time,

    pub counters: ChannelCounters,
    sampled: ChannelCounters,
    sampled_at: Time,
    gauges: GaugeSeries,
}

impl MapChannel {
    /// A channel without modems.
    pub(super) fn new(spec: &UpstreamChannel, plant: &PlantTiming, seed: u64) -> Self {
        let framing = Framing::of(spec);
        let request_region = RequestRegion::new(spec);
        let timing = Timing::new(plant, framing.map_interval(), framing.frame());
        Self {
            region: request_region.open(framing.minislots()),
            request_region,
            grant_place: spec.grant_place,
            modems: 0,
            timing,
            hears: timing,
            lead: Time::ZERO,
            whole: framing.clone(),
            framing,
            partial: spec.partial_service.iter().map(lost_channels).collect(),
            phy: spec.phy.clone(),
            scheduler: GrantScheduler::new(spec.quantum_bytes.into()),
            contention: Contention::new(seed),
            unsolicited: Vec::new(),
            layout: MapLayout::new(spec.request_minislots.into()),
            maintenance: 0,
            rng: Rng::named(seed, "upstream channel"),
            asking: VecDeque::new(),
            outcomes: Vec::new(),
            grants: VecDeque::new(),
            burst_next: Time::NEVER,
            next_map: Time::NEVER,
            region_at: Time::NEVER,
            counters: ChannelCounters::default(),
            sampled: ChannelCounters::default(),
            sampled_at: Time::ZERO,
            gauges: GaugeSeries::default(),
        }
    }

    /// Its grid, on which packets have so many bytes more than rates count.
    pub(super) fn grid(&self, overhead: u64) -> Grid {
        let map_interval = self.timing.map_interval();
        Grid {
            map_interval,
            frame: self.whole.frame().map(|frame| frame.time),
            overhead,
            is_own: false,
        }
    }

    /// Adds what a service flow is granted unasked.
    pub(super) fn add_unsolicited(
        &mut self,
        number: u32,
        spec: &Upstream,
        context: &ServiceFlowContext,
        grid: &Grid,
    ) {
        let name = context.name("upstream");
        let unsolicited = Unsolicited::of(&spec.scheduling, grid, context.seed, &name);
        if let Some(unsolicited) = unsolicited {
            self.unsolicited.push((number, unsolicited));
            self.next_map = self.timing.first_map();
        }
    }

    /// The number of the profile with so many bits.
    pub(super) fn profile(&mut self, bits: Option<f64>) -> u8 {
        let profile = self.whole.profile(&self.phy, bits);
        self.framing = self.whole.clone();
        profile
    }

    /// Something has come that MAPs are made for again.
    pub(super) fn awake(&mut self, now: Time) {
        if self.next_map == Time::NEVER {
            let last_map = self.timing.map_before(now);
            self.next_map = self.timing.map_after(now);
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

    /// A service flow that wants to contends from the next region on.
    pub(super) fn join_contention(&mut self, number: u32, flows: &mut ChannelFlows) {
        let flow = &mut flows[number];
        if !flow.contends && flow.wants_to_contend() {
            flow.contends = true;
            self.contention.join(number);
        }
    }

    /// When something is due.
    #[inline]
    pub(super) fn next_wake(&self) -> Time {
        self.burst_next.min(self.next_map).min(self.region_at)
    }

    /// The first grant has ended.
    pub(super) fn end_grant(&mut self) {
        self.grants.pop_front();
        self.burst_next = self.grants.front().map_or(Time::NEVER, |next| next.start);
    }

    /// Begins a grant or a poll.
    pub(super) fn begin_grant(
        &mut self,
        now: Time,
        (number, kind): (u32, GrantKind),
        flows: &mut ChannelFlows,
        recorder: &mut Recorder,
    ) {
        let timing = &self.hears;
        let flow = &mut flows[number];
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
                    let granted_from = self.timing.granted_from(now);
                    self.unsolicited[source as usize].1.was_requested(granted_from);
                }
                requested
            }
        };
        if requested {
            self.asking.push_back((timing.granted_from(now), number));
        }
    }

    /// Handles a MAP that takes effect.
    pub(super) fn on_map(&mut self, now: Time, flows: &mut ChannelFlows, recorder: &mut Recorder) {
        self.choose_channels(now);
        self.take_requests(now, flows);
        self.grant(now, flows, recorder);
        self.take_requests(now + self.timing.map_interval(), flows);
        if self.timing.is_documents() {
            self.hold_contention(now, flows, recorder);
        }
        self.go_on(now);
    }

    /// The next MAP comes, unless there is nothing to be in it.
    pub(super) fn go_on(&mut self, now: Time) {
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
    fn take_requests(&mut self, map: Time, flows: &mut ChannelFlows) {
        while let Some((_, number)) = self.asking.pop_front_if(|(from, _)| *from <= map) {
            let flow = &mut flows[number];
            if flow.requests_arrive(map) {
                self.scheduler.join(number, flow);
            }
        }
    }

    /// Places the grants of the MAP that takes effect now.
    pub(super) fn grant(&mut self, now: Time, flows: &mut ChannelFlows, recorder: &mut Recorder) {
        if !self.unsolicited.is_empty() {
            let sources = self
                .unsolicited
                .iter_mut()
                .map(|(number, unsolicited)| (flows[*number].profile, unsolicited));
            self.layout.fill(now, &self.framing, sources);
        }
        let ranging = self.take_maintenance();
        let granted = ranging + self.grant_requests(now, ranging, flows, recorder);
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

    /// A modem ranges now. The next MAP gives its minislots; on an idle channel nobody lacks them.
    pub(super) fn maintain(&mut self, minislots: u64) {
        if self.next_map == Time::NEVER {
            self.counters.granted_minislots += minislots;
        } else {
            self.maintenance += minislots;
        }
    }

    /// The minislots of this MAP that ranging takes.
    fn take_maintenance(&mut self) -> u64 {
        let taken = self.maintenance.min(self.framing.minislots() / 2);
        self.maintenance -= taken;
        taken
    }

    /// Places what is granted of requests, behind `ranging` minislots. Returns its minislots.
    fn grant_requests(
        &mut self,
        now: Time,
        ranging: u64,
        flows: &mut ChannelFlows,
        recorder: &mut Recorder,
    ) -> u64 {
        let from = self.grants_from();
        let Self { framing, scheduler, layout, grants, asking, .. } = self;
        if scheduler.is_idle() {
            flows[0].note_map(now, now, recorder);
            return 0;
        }
        let all = framing.minislots();
        let split = framing.minislots_for(0, 1) * layout.runs();
        let kept = self.request_region.kept(all);
        let minislots = all.saturating_sub(kept + ranging + layout.taken() + split); // none, if requests take all
        let mut place = ranging + if self.request_region.adapts() { 0 } else { kept };
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
                asking.push_front((now.since(self.lead), number)); // the scheduler learns of it again
            }
        }
        taken
    }

    /// How long after its MAP interval has begun a grant does, in the mean, if there is no other.
    pub(super) fn mean_place(&self) -> Time {
        match self.grants_from() {
            GrantPlace::Start => Time::ZERO,
            GrantPlace::Uniform => Time::from_ps(self.timing.map_interval().ps() / 2),
        }
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

    /// Modems request in contention.
    pub(super) fn hold_contention(
        &mut self,
        now: Time,
        flows: &mut ChannelFlows,
        recorder: &mut Recorder,
    ) {
        let answered_after = self.timing.maps_until(now, self.timing.granted_from(now));
        let asked = self.hears.granted_from(now);
        let Self { contention, outcomes, .. } = self;
        flows.drop_out(|number| contention.withdraw(number));
        let (heard, collided) = contention.hold(self.region, answered_after, outcomes);
        self.request_region.saw(heard, collided);
        while let Some((number, outcome)) = self.outcomes.pop() {
            let flow = &mut flows[number];
            flow.contends = outcome == Outcome::Collided;
            match outcome {
                Outcome::Heard => {
                    flow.mac.request(By::Ungranted, now, &self.hears, recorder);
                    self.asking.push_back((asked, number));
                    self.counters.contention_requests += 1;
                }
                Outcome::Collided => {
                    flow.collided(now);
                    self.counters.contention_requests += 1;
                    self.counters.collisions += 1;
                }
                Outcome::GivenUp => {
                    flow.give_up(now, recorder);
                    self.join_contention(number, flows);
                }
            }
        }
    }

    /// Samples the channel for its time series.
    pub(super) fn sample(&mut self, now: Time) {
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
    pub(super) fn used(&self, now: Time) -> ChannelUse {
        let ChannelCounters { granted_minislots, contention_requests, collisions, .. } =
            self.counters;
        let maps = now.ps() / self.framing.map_interval().ps();
        let skipped = maps.saturating_sub(self.counters.maps);
        let in_skipped = self.request_region.open(self.whole.minislots()).opportunities * skipped;
        ChannelUse {
            name: "upstream".to_owned(),
            segments: None,
            ranging: None,
            used: (granted_minislots as f64, self.minislots_until(now)),
            requests: Some(RequestUse {
                granted_minislots,
                request_opportunities: self.counters.opportunities + in_skipped,
                contention_requests,
                collisions,
            }),
        }
    }

    /// A warning if too many requests collide.
    pub(super) fn collision_warning(&self, flows: &ChannelFlows) -> Option<Warning> {
        let ChannelCounters { contention_requests, collisions, .. } = self.counters;
        let lost = collisions as f64 / contention_requests.max(1) as f64;
        let all: u64 = flows.iter().map(|flow| flow.counters().requests).sum();
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

    /// The highest rate, including packet headers.
    pub(super) fn greatest_mbps(&self) -> f64 {
        self.whole.greatest_mbps(self.request_region.least())
    }

    /// The time series of the channel.
    pub(super) fn series(&self) -> impl Iterator<Item = &Series> {
        self.gauges.iter()
    }
}

/// When channels are lost, and how many are left.
fn lost_channels(partial: &PartialService) -> (Time, Time, u32) {
    let PartialService { start_s, length_s, channels } = *partial;
    (Time::from_secs_f64(start_s), Time::from_secs_f64(start_s + length_s), channels)
}
