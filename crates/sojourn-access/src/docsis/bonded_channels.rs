//! Upstream channels that modems bond in groups, as one stage: each has its own MAP clock and minislots (map_channel.rs),
//! and a modem sends on all channels of its group at once (Multiple Transmit Channel mode, MULPI §7.2.5, §8).
//!
//! A flow's requests are one sum at the CMTS, on whatever channel they came. The MAPs of all channels of the group grant of
//! it. A MAP takes the share with which all channels of the group would be ready at the same time, by their rates, by what
//! their last MAPs left idle, and by when their next MAPs come (load-aware). Shares are no shorter than a full frame. In
//! which order flows are served on a channel its scheduler says (scheduler.rs).
//!
//! A grant carries one segment. Its bytes leave the queue when the grant begins, and its channel brings them to the CMTS,
//! which puts segments in order (resequencer.rs). A modem contends on the channel of its group whose request region comes
//! first.
//!
//! A modem that gives a channel up in ranging (ranging.rs) has a smaller group until it has ranged again.

use std::collections::VecDeque;
use std::ops::Range;

use super::bonding::is_bonded;
use super::channel_flows::ChannelFlows;
use super::impairments::NoiseSource;
use super::map_channel::{Grant, MapChannel};
use super::outages::Outages;
use super::parameters::PlantSpec;
use super::ranging::{Change, Ranging, Signal};
use super::resequencer::{Carried, Resequencer, Segment, lose};
use super::scheduler::GrantScheduler;
use super::shared_channel::Entering;
use super::spread::ready_s;
use super::timing::{PlantTiming, Timing};
use super::upstream_channel::UpstreamChannel;
use super::upstream_service_flow::UpstreamServiceFlow;
use crate::context::ServiceFlowContext;
use crate::delay_line::DelayLine;
use crate::service::Upstream;
use sojourn_engine::count::Count;
use sojourn_engine::packet::Packet;
use sojourn_engine::record::{ChannelUse, Part as DelayPart, Recorder, SegmentUse, Series};
use sojourn_engine::rng::Rng;
use sojourn_engine::units::Time;
use sojourn_engine::wake::Wake;
use sojourn_input::problem::Warning;

/// A flow uses another channel for every full frame (as framing.rs does): shorter segments would be mostly headers.
const SEGMENT_BYTES: u64 = 1522;
/// The least part of its rate with which a channel counts whose last MAP was full.
const LEAST_FREE: f64 = 0.05;

/// A channel of the table.
struct Member {
    name: String,
    map: MapChannel,
    /// From its receiver to the CMTS.
    extra: Time,
    noise: Option<NoiseSource>,
    /// When there are no MAPs, when there are but nothing is received, and both.
    outages: Outages,
    signal_losses: Outages,
    lost_times: Outages,
    /// Was it lost when its last MAP was due?
    was_out: bool,
    /// Minislots of a modem's ranging opportunity.
    ranging_minislots: u64,
    /// Bytes that it carries in a second, and the part of them that its last MAP left.
    bytes_per_s: f64,
    free: f64,
    segments: u64,
    lost: u64,
}

/// What the channels know of a service flow.
struct Sender {
    /// The channels of its group that its modem has not given up.
    group: Vec<u8>,
    /// The channel on which it contends.
    contends_on: u8,
    /// The last requests that MAPs know of, when the CMTS heard them, and their bytes.
    heard: VecDeque<(Time, u64)>,
    /// The segments in which the packets began that it has sent a part of: the low-latency and the other flow's.
    began: [Option<u64>; 2],
}

/// The channels, and the service flows of all modems on them.
pub(crate) struct BondedChannels {
    members: Vec<Member>,
    overhead: u64,
    flows: ChannelFlows,
    senders: Vec<Sender>,
    updates: Wake,
    entering: DelayLine<Entering>,
    resequencer: Resequencer,
    /// The flows of each modem, and its ranging.
    modems: Vec<Range<u32>>,
    ranging: Option<Box<Ranging>>,
    longest_lead: Time,
    /// What a MAP looks at: flows that wait, and when which channel can go on with how many bytes a second.
    waiting: Vec<u32>,
    candidates: Vec<(Time, f64)>,
    changes: Vec<Change>,
    /// Flows that a MAP tells whether their requests were heard.
    answered: Vec<u32>,
}

impl BondedChannels {
    /// Channels without modems, of which the farthest has this propagation delay.
    pub(crate) fn new(spec: &PlantSpec, overhead: u64, farthest: Time, seed: u64) -> Self {
        let table = spec.upstream_channel;
        let members: Vec<_> = table
            .bonded
            .keys()
            .zip(0..)
            .map(|(name, number)| Member::new((number, name), table, &spec.timing(farthest), seed))
            .collect();
        let timeout = Time::from_secs_f64(table.resequencing_ms() / 1e3);
        Self {
            overhead,
            flows: ChannelFlows::default(),
            senders: Vec::new(),
            updates: Wake::new(2),
            entering: DelayLine::new(Time::ZERO),
            resequencer: Resequencer::new(timeout, members.len()),
            modems: Vec::new(),
            ranging: table
                .ranging
                .as_ref()
                .map(|of| Box::new(Ranging::new(of, members.len(), seed))),
            longest_lead: members.iter().map(|one| one.map.lead).max().unwrap_or_default(),
            waiting: Vec::new(),
            candidates: Vec::new(),
            changes: Vec::new(),
            answered: Vec::new(),
            members,
        }
    }

    /// The timing of the channel whose MAPs are the farthest apart.
    pub(crate) fn timing(&self) -> Timing {
        let slowest = self.members.iter().max_by_key(|one| one.map.timing.map_interval());
        slowest.map(|one| one.map.timing).expect("a table has channels")
    }

    /// Adds the service flows of a modem. Returns the number of the first.
    pub(crate) fn connect(&mut self, specs: &[Upstream], contexts: &[ServiceFlowContext]) -> u32 {
        let first = self.flows.len() as u32;
        let named = specs.first().map(|spec| spec.bonding_group.as_slice()).unwrap_or_default();
        let is_in = |one: &Member| is_bonded(named, &one.name);
        let group: Vec<u8> =
            (0..).zip(&self.members).filter(|(_, one)| is_in(one)).map(|(n, _)| n).collect();
        let maps = || group.iter().map(|number| &self.members[usize::from(*number)].map);
        let Some(slowest) = maps().max_by_key(|map| map.timing.map_interval()) else {
            return first;
        };
        let (timing, grid) = (slowest.timing, slowest.grid(self.overhead));
        for number in &group {
            self.members[usize::from(*number)].map.modems += 1;
        }
        for (spec, context) in specs.iter().zip(contexts) {
            self.flows.push(UpstreamServiceFlow::new(spec, context, &timing, &grid, 0));
            let (heard, group) = (VecDeque::new(), group.clone());
            self.senders.push(Sender { contends_on: 0, heard, began: [None; 2], group });
        }
        self.modems.push(first..self.flows.len() as u32);
        self.ranging.iter_mut().for_each(|ranging| ranging.connect(&group));
        if self.senders.iter().any(|sender| sender.group != group) {
            let channels = self.members.len();
            (0..self.flows.len() as u32)
                .for_each(|number| self.flows[number].elsewhere.resize(channels, 0));
        }
        self.updates.grow(self.flows.len());
        self.resequencer.grow(self.flows.len());
        (first..self.flows.len() as u32).for_each(|number| self.schedule_update(number));
        first
    }

    /// From now on the flow of this number has other rates and other parameters of its queue.
    pub(crate) fn retune(&mut self, now: Time, number: u32, spec: &Upstream) {
        let map = self.timing().map_interval();
        self.flows[number].retune(now, spec, map);
    }

    pub(crate) fn flow(&self, number: u32) -> &UpstreamServiceFlow {
        &self.flows[number]
    }

    /// Takes a packet from a home whose modem is farther away than the nearest by this propagation delay.
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

    fn enter(&mut self, now: Time, number: u32, packet: Packet, recorder: &mut Recorder) {
        self.flows[number].accept(now, packet, recorder);
        self.schedule_update(number);
        self.join_contention(now, number);
    }

    fn schedule_update(&mut self, number: u32) {
        self.updates.set(number, self.flows[number].next_update());
    }

    /// A flow that wants to contends where the next request region of its group is.
    fn join_contention(&mut self, now: Time, number: u32) {
        let flow = &self.flows[number];
        if flow.contends || !flow.wants_to_contend() {
            return;
        }
        let mut soonest = None;
        for &place in &self.senders[number as usize].group {
            let member = &mut self.members[usize::from(place)];
            if member.outages.at(now) {
                continue;
            }
            member.map.awake(now);
            let next = member.map.region_at.min(member.map.next_map);
            if soonest.is_none_or(|(at, _)| next < at) {
                soonest = Some((next, place));
            }
        }
        if let Some((_, place)) = soonest {
            self.senders[number as usize].contends_on = place;
            self.members[usize::from(place)].map.join_contention(number, &mut self.flows);
        }
    }

    /// The next wake time.
    pub(crate) fn next_wake(&self) -> Time {
        let maps = self.members.iter().map(|member| member.map.next_wake()).min();
        let ranging = self.ranging.as_ref().map_or(Time::NEVER, |ranging| ranging.next_wake());
        let rest = self.updates.next().min(self.entering.next_wake()).min(ranging);
        maps.unwrap_or(Time::NEVER).min(rest).min(self.resequencer.next_wake())
    }

    fn first_due(&self, now: Time, at: impl Fn(&MapChannel) -> Time) -> Option<usize> {
        self.members.iter().position(|member| at(&member.map) <= now)
    }

    /// Does one thing that is due. Returns a packet that the CMTS passes on, if there is one. The order at equal times is
    /// that of the shared channel, and in it that of the names of channels; packets go on last.
    pub(crate) fn wake(&mut self, now: Time, recorder: &mut Recorder) -> Option<Packet> {
        if let Some(place) = self.first_due(now, |map| map.burst_next) {
            self.begin_grant(now, place, recorder);
        } else if self.updates.next() <= now {
            let flow = self.updates.next_stage();
            self.flows[flow].update(now);
            self.schedule_update(flow);
        } else if let Some(place) = self.first_due(now, |map| map.next_map) {
            self.on_map(now, place, recorder);
        } else if let Some(place) = self.first_due(now, |map| map.region_at) {
            self.hold_contention(now, place, recorder);
        } else if self.entering.next_wake() <= now
            && let Some((at, Entering { number, packet, came })) = self.entering.wake()
        {
            recorder.delays.spends(&packet, came, [(DelayPart::Propagation, at)]);
            self.enter(at, number, packet, recorder);
        } else if self.ranging.as_ref().is_some_and(|ranging| ranging.next_wake() <= now) {
            self.range(now);
        } else if self.resequencer.next_wake() <= now {
            return self.resequencer.wake(now, recorder);
        }
        None
    }

    /// Modems range on a channel.
    fn range(&mut self, now: Time) {
        let Some(mut ranging) = self.ranging.take() else { return };
        let signal = self.members[ranging.next_channel(now)].signal(now);
        let mut changes = std::mem::take(&mut self.changes);
        ranging.wake(now, signal, |change| changes.push(change));
        for change in changes.drain(..) {
            match change {
                Change::Asked(channel) => {
                    let member = &mut self.members[channel];
                    member.map.maintain(member.ranging_minislots);
                }
                Change::Lost { modem, channel } => self.lose(now, modem, channel, &ranging),
                Change::Back { modem, channel } => self.take_back(now, modem, channel),
            }
        }
        (self.changes, self.ranging) = (changes, Some(ranging));
    }

    /// A modem gives a channel up, and goes on with the others; without one it is silent.
    fn lose(&mut self, now: Time, modem: usize, channel: usize, ranging: &Ranging) {
        for number in self.modems[modem].clone() {
            self.senders[number as usize].group.retain(|one| usize::from(*one) != channel);
            if !ranging.has_any(modem) {
                self.flows[number].mac.silence(|silent| silent.begin(now));
            }
            self.leave(now, number, channel);
        }
    }

    /// A modem takes a channel back.
    fn take_back(&mut self, now: Time, modem: usize, channel: usize) {
        for number in self.modems[modem].clone() {
            let group = &mut self.senders[number as usize].group;
            if group.is_empty() {
                self.flows[number].mac.silence(|silent| silent.end(now));
            }
            group.push(channel as u8);
            group.sort_unstable();
            let map = &mut self.members[channel].map;
            if self.flows[number].known_request() > 0 {
                map.scheduler.join(number, &mut self.flows[number]);
                map.awake(now);
            }
            self.join_contention(now, number);
        }
    }

    /// A flow no longer contends on a channel, but on another.
    fn leave(&mut self, now: Time, number: u32, channel: usize) {
        let is_on_it = usize::from(self.senders[number as usize].contends_on) == channel;
        if self.flows[number].contends && is_on_it {
            self.members[channel].map.contention.withdraw(number);
            self.flows[number].contends = false;
        }
        self.join_contention(now, number);
    }

    /// Begins a grant and sends its segment.
    fn begin_grant(&mut self, now: Time, place: usize, recorder: &mut Recorder) {
        let map = &mut self.members[place].map;
        let Some(&Grant { number, byte, kind, .. }) = map.grants.front() else { return };
        let before = map.asking.len();
        map.begin_grant(now, (number, kind), &mut self.flows, recorder);
        map.end_grant();
        self.ask(now, place, before);
        self.send_segment(now, place, (number, byte), recorder);
        self.schedule_update(number);
        self.join_contention(now, number);
    }

    /// Flows have requested on a channel since there were so many requests. If nobody hears them, they learn that from the MAP that
    /// could grant them.
    fn ask(&mut self, now: Time, place: usize, before: usize) {
        if !self.members[place].signal_losses.at(now) {
            return self.ask_group(now, place, before);
        }
        let map = &mut self.members[place].map;
        for (_, number) in map.asking.range(before..) {
            self.flows[*number].mac.flow.lose_request(now);
        }
        map.awake(now);
    }

    /// All channels of a flow's group may grant what it has requested on one since there were so many requests.
    fn ask_group(&mut self, now: Time, place: usize, before: usize) {
        for index in before..self.members[place].map.asking.len() {
            let (heard, number) = self.members[place].map.asking[index];
            for &other in &self.senders[number as usize].group {
                let map = &mut self.members[usize::from(other)].map;
                if usize::from(other) != place {
                    let at = map.asking.partition_point(|(from, _)| *from <= heard);
                    map.asking.insert(at, (heard, number));
                }
                map.awake(now);
            }
        }
    }

    /// What a flow sends in a grant that begins now, in which a byte takes so long.
    fn send_segment(
        &mut self,
        now: Time,
        place: usize,
        (number, byte): (u32, Time),
        recorder: &mut Recorder,
    ) {
        let segment = self.resequencer.next_number(number);
        let Self { members, flows, senders, resequencer, .. } = self;
        let (member, flow) = (&mut members[place], &mut flows[number]);
        let began = &mut senders[number as usize].began;
        let mut bytes = 0;
        let intact = member.intact(now, now + byte.times(flow.mac.flow.granted()), byte);
        while let Some(piece) = flow.next_piece(now, recorder) {
            bytes += piece;
            let began = &mut began[usize::from(flow.mac.flow.is_low_sending())];
            let Some(packet) = flow.mac.end_piece(now, recorder) else {
                began.get_or_insert(segment);
                continue;
            };
            let received = member.received_at(now + byte.times(bytes));
            let arrives = received + member.extra;
            let began = began.take().unwrap_or(segment);
            let carried = Carried { packet, began, ended: segment, since: now, received, arrives };
            if bytes > intact {
                lose(&carried, recorder);
            } else {
                resequencer.carry(number, carried);
            }
        }
        if bytes > 0 {
            let received = member.received_at(now + byte.times(bytes));
            let is_lost = intact == 0;
            let arrives = if is_lost { Time::NEVER } else { received + member.extra };
            member.segments += 1;
            member.lost += u64::from(is_lost);
            let channel = place as u8;
            resequencer.send(number, Segment { arrives, is_damaged: intact < bytes, channel });
        }
    }

    /// Handles a MAP that takes effect.
    fn on_map(&mut self, now: Time, place: usize, recorder: &mut Recorder) {
        let is_out = self.members[place].outages.at(now);
        if self.members[place].was_out != is_out {
            self.members[place].was_out = is_out;
            self.change_service(now, place);
        }
        self.take_requests(now, place);
        if !is_out {
            self.share_out(now, place);
            let member = &mut self.members[place];
            let before = member.map.counters.granted_minislots;
            member.map.grant(now, &mut self.flows, recorder);
            let granted = member.map.counters.granted_minislots - before;
            member.free = 1.0 - granted as f64 / member.map.framing.minislots() as f64;
        }
        self.members[place].map.go_on(now);
        while let Some(number) = self.answered.pop() {
            self.join_contention(now, number);
        }
    }

    /// A channel is lost or comes back: who contended on it does so on another, and who could not can.
    fn change_service(&mut self, now: Time, place: usize) {
        (0..self.flows.len() as u32).for_each(|number| self.leave(now, number, place));
    }

    /// The scheduler of a channel now knows of the requests that its MAP can grant.
    fn take_requests(&mut self, now: Time, place: usize) {
        let may_lose = !self.members[place].signal_losses.is_empty();
        let until = now.since(self.members[place].map.lead);
        loop {
            let Self { members, flows, senders, .. } = self;
            let map = &mut members[place].map;
            let next = map.asking.pop_front_if(|(from, _)| *from <= until);
            let Some((_, number)) = next else { break };
            let (flow, sender) = (&mut flows[number], &mut senders[number as usize]);
            flow.mac.flow.requests_heard(until, |at, bytes| sender.heard.push_back((at, bytes)));
            if flow.known_request() > 0 && sender.group.contains(&(place as u8)) {
                map.scheduler.join(number, flow);
            }
            if may_lose {
                self.answered.push(number);
            }
        }
    }

    /// What each flow that waits may have of the MAP at `now`.
    fn share_out(&mut self, now: Time, place: usize) {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.extend(self.members[place].map.scheduler.waiting());
        let until = now.since(self.members[place].map.lead);
        for number in waiting.drain(..) {
            let heard = &mut self.senders[number as usize].heard;
            let oldest = now.since(self.longest_lead);
            while heard.pop_front_if(|(at, _)| *at <= oldest).is_some() {}
            // Older requests have been granted first; a MAP that was made earlier knows nothing of the newest.
            let newer: u64 =
                heard.iter().filter(|(at, _)| *at > until).map(|(_, bytes)| bytes).sum();
            let known = self.flows[number].known_request().saturating_sub(newer);
            let wanted = self.flows[number].grantable(now).min(known);
            let is_its = self.senders[number as usize].group.contains(&(place as u8));
            let share = if is_its { self.share_of(now, place, number, wanted) } else { 0 };
            self.flows[number].offer(share);
        }
        self.waiting = waiting;
    }

    /// How many of these bytes the MAP of this channel takes, so that all of them are sent as early as they can be.
    fn share_of(&mut self, now: Time, place: usize, number: u32, bytes: u64) -> u64 {
        let own = &self.members[place];
        let begins = now + own.map.mean_place() + own.extra;
        let rate = own.bytes_per_s * own.free.max(LEAST_FREE);
        let alone = begins + Time::from_secs_f64(bytes as f64 / rate);
        self.candidates.clear();
        for &other in &self.senders[number as usize].group {
            let member = &self.members[usize::from(other)];
            let next = member.map.next_map;
            if usize::from(other) == place || next == Time::NEVER || member.outages.at(next) {
                continue;
            }
            let rate = member.bytes_per_s * member.free.max(LEAST_FREE);
            let from = next + member.map.mean_place() + member.extra;
            let is_sooner = from + Time::from_secs_f64(bytes as f64 / rate) < alone;
            if bytes <= SEGMENT_BYTES && is_sooner {
                return 0;
            }
            self.candidates.push((from, rate));
        }
        if bytes <= SEGMENT_BYTES {
            return bytes;
        }
        self.candidates.push((begins, rate));
        let ready = ready_s(bytes, now, &mut self.candidates);
        let share = rate * (ready - begins.since(now).secs_f64());
        if share <= 0.0 {
            return 0;
        }
        bytes.min((share.ceil() as u64).max(SEGMENT_BYTES))
    }

    /// Modems request in contention, unless their channel is lost.
    fn hold_contention(&mut self, now: Time, place: usize, recorder: &mut Recorder) {
        let Self { members, flows, senders, .. } = self;
        members[place].map.region_at = Time::NEVER;
        if members[place].outages.at(now) {
            return;
        }
        flows.drop_out(|number| {
            let on = usize::from(senders[number as usize].contends_on);
            members[on].map.contention.withdraw(number);
        });
        let before = members[place].map.asking.len();
        members[place].map.hold_contention(now, flows, recorder);
        self.ask(now, place, before);
    }

    /// Packets and bytes on the channels and before them.
    pub(crate) fn inside(&self) -> Count {
        let entering = self.entering.items().map(|(_, entering)| Count::of(&entering.packet));
        let waiting = self.flows.iter().map(UpstreamServiceFlow::inside);
        waiting.chain(entering).chain([self.resequencer.inside()]).sum()
    }

    /// The run ends: what is on the channels and before them, but in queues, has spent its time until now.
    pub(crate) fn close(&self, now: Time, recorder: &mut Recorder) {
        self.flows.iter().for_each(|flow| flow.mac.close(now, recorder));
        self.resequencer.close(now, recorder);
        for (_, Entering { packet, came, .. }) in self.entering.items() {
            recorder.delays.spends(packet, *came, [(DelayPart::Propagation, now)]);
        }
    }

    /// Samples the queues of service flows for their time series.
    pub(crate) fn sample_flows(&mut self, numbers: Range<usize>) {
        self.flows.sample(numbers);
    }

    /// Samples the channels for their time series.
    pub(crate) fn sample(&mut self, now: Time) {
        self.members.iter_mut().for_each(|member| member.map.sample(now));
    }

    /// Counters of each channel up to `now`.
    pub(crate) fn used(&self, now: Time) -> Vec<ChannelUse> {
        let ranging = |place: usize| self.ranging.as_ref().map(|ranging| ranging.used[place]);
        let of = |(place, (member, given_up)): (usize, (&Member, &u64))| ChannelUse {
            name: format!("upstream {}", member.name),
            ranging: ranging(place),
            segments: Some(SegmentUse {
                sent: member.segments,
                lost: member.lost,
                given_up: *given_up,
            }),
            ..member.map.used(now)
        };
        self.members.iter().zip(&self.resequencer.given_up).enumerate().map(of).collect()
    }

    /// A warning if too many requests collide on a channel.
    pub(crate) fn collision_warning(&self) -> Option<Warning> {
        self.members.iter().find_map(|member| member.map.collision_warning(&self.flows))
    }

    /// The highest rate of all channels, including packet headers.
    pub(crate) fn greatest_mbps(&self) -> f64 {
        self.members.iter().map(|member| member.map.greatest_mbps()).sum()
    }

    /// The time series of the channels, and whose they are.
    pub(crate) fn series(&self) -> impl Iterator<Item = (String, &Series)> {
        self.members.iter().flat_map(|member| {
            let subject = format!("upstream channel {}", member.name);
            member.map.series().map(move |series| (subject.clone(), series))
        })
    }
}

impl Member {
    fn new(
        (number, name): (u8, &str),
        table: &UpstreamChannel,
        plant: &PlantTiming,
        seed: u64,
    ) -> Self {
        let own = &table.bonded[name];
        let spec = table.bonded_channel(name);
        let of_own = plant.spec.map(|of| own.specification(of));
        let plant = PlantTiming { spec: of_own.as_ref(), ..*plant };
        let draw = |purpose: &str| {
            Rng::named(seed, &format!("upstream channel {name} {purpose}")).below(u64::MAX)
        };
        let mut map = MapChannel::new(&spec, &plant, draw("grants"));
        map.scheduler = GrantScheduler::new(spec.quantum_bytes.into()).of_channel(number);
        let extra = Time::from_secs_f64(own.extra_delay_ms / 1e3);
        map.timing = map.timing.later_by(Time::from_secs_f64(own.map_offset_ms / 1e3));
        (map.hears, map.lead) = map.timing.hearing(extra);
        let bytes_per_s = map.greatest_mbps() * 1e6 / 8.0;
        let frames =
            map.framing.frame().map_or(1, |of| map.framing.map_interval().ps() / of.time.ps());
        let ranging_minislots = spec.phy.ranging_minislots(map.framing.minislots() / frames);
        Self {
            name: name.to_owned(),
            map,
            extra,
            noise: NoiseSource::of_channel(&own.noise, draw("noise")),
            outages: Outages::new(&own.outages),
            signal_losses: Outages::new(&own.signal_losses),
            lost_times: Outages::new(own.outages.iter().chain(&own.signal_losses)),
            was_out: false,
            ranging_minislots,
            bytes_per_s,
            free: 1.0,
            segments: 0,
            lost: 0,
        }
    }

    /// When its receiver has everything that was sent by now.
    fn received_at(&self, now: Time) -> Time {
        self.map.timing.received_at(self.map.framing.received_at(now))
    }

    /// What a ranging request of 34 B meets now.
    fn signal(&mut self, now: Time) -> Signal {
        if self.outages.at(now) {
            return Signal::NoMaps(self.outages.after(now));
        }
        let byte = Time::from_secs_f64(1.0 / self.bytes_per_s);
        match self.intact(now, now + byte.times(34), byte) {
            u64::MAX => Signal::Heard,
            _ => Signal::Unheard,
        }
    }

    /// How many bytes of a segment are received: errors take what comes behind them, since it says where packets begin, and
    /// all of it if its header is hit, or if the channel is lost meanwhile.
    fn intact(&mut self, from: Time, until: Time, byte: Time) -> u64 {
        let lost = &self.lost_times;
        if !lost.is_empty() && (lost.at(from) || lost.next(from) < until) {
            return 0;
        }
        self.noise.as_mut().map_or(u64::MAX, |noise| noise.intact(from, until, byte))
    }
}
