//! The cable plant: the service flows of all homes, the channels they share, and the cable.
//!
//! In the studies' models each service flow has its own queue, token buckets, requests and channel:
//! the flows of a modem do not compete. On the shared upstream channel the flows of all modems
//! compete. Downstream, flows compete where a CMTS has a channel for all homes ([`DownstreamChannels`]).

use super::downstream::DownstreamStage;
use super::downstream_channels::DownstreamChannels;
use super::framing::Framing;
use super::impairments::{InterconnectWay, NoiseSource};
use super::outages::Outages;
use super::parameters::{ByteCount, ModemSpec, PlantSpec};
use super::request_grant::MacCounters;
use super::upstream::UpstreamStage;
use super::upstream_channels::UpstreamChannels;
use super::warnings;
use crate::context::ServiceFlowContext;
use crate::flight::{Medium, Way};
use crate::homes::{Group, Home};
use crate::service::Upstream;
use crate::{Access, AccessNetwork, AccessParameters, Alarms, PlacedQueue, Site};
use sojourn_engine::count::Count;
use sojourn_engine::packet::{Direction, DropReason, Packet};
use sojourn_engine::record::ChannelUse;
use sojourn_engine::record::{Recorder, Series};
use sojourn_engine::units::Time;
use sojourn_input::problem::{Faults, Warning};

/// The numbers of a home's service flows, the primary flow first.
struct Place {
    /// The first upstream flow: on the shared channel, or among those with a channel of their own.
    upstream: FirstFlow,
    /// The first downstream flow; none if packets go straight to the shared channel.
    downstream: Option<u32>,
    /// The number of flows, upstream and downstream.
    flows: [u32; 2],
    /// Propagation between modem and CMTS.
    delay: Time,
    /// When its modem passes nothing to the home.
    stalls: Outages,
}

/// The number of a home's first upstream service flow.
#[derive(Clone, Copy)]
enum FirstFlow {
    Own(u32),
    Shared(u32),
}

/// Cable modems and their CMTS.
pub struct Docsis {
    places: Vec<Place>,
    /// The homes whose queues are measured.
    watched: Vec<usize>,
    /// Upstream service flows with a channel of their own, home by home.
    upstream: Vec<UpstreamStage>,
    /// The upstream channel that modems share, if any do.
    channel: Option<UpstreamChannels>,
    /// Orders the packets of several plain links, which know in advance when their packets leave,
    /// and of modems that differ in distance. One link alone needs no ordering.
    cable_up: Option<Medium>,
    /// Do all packets from modems pass it?
    orders_modems: bool,
    /// Propagation to the nearest modem on the shared channel.
    nearest: Time,
    /// Service flows at the CMTS, home by home, but those whose packets go straight to the shared
    /// channel.
    downstream: Vec<DownstreamStage>,
    /// The numbers of these flows among all, and how many there are in all.
    numbers: Vec<u32>,
    flows_down: u32,
    cmts: Option<DownstreamChannels>,
    cable_down: Medium,
    /// Errors on the cable, upstream and downstream, and the bytes that framing adds to each packet.
    noise: [Option<NoiseSource>; 2],
    framing_bytes: [u64; 2],
    /// The network between CMTS and nodes, upstream and downstream.
    interconnect: [Option<InterconnectWay>; 2],
    warnings: Vec<Warning>,
}

impl AccessParameters for PlantSpec<'_> {
    fn start(&self, site: &Site) -> Access {
        Docsis::new(self, site).into()
    }

    fn propagation(&self, own_distance_km: Option<f64>) -> Time {
        self.cable.delay(own_distance_km)
    }

    fn byte_count(&self) -> ByteCount {
        self.cable.byte_count()
    }

    fn map_interval(&self, upstream: &Upstream) -> Option<Time> {
        match upstream.modem {
            ModemSpec::Link => None,
            ModemSpec::SharedChannel => {
                let table = self.upstream_channel.group(&upstream.bonding_group);
                let of_group = table.map(|channel| Framing::of(&channel).map_interval()).max();
                of_group.or_else(|| Some(Framing::of(self.upstream_channel).map_interval()))
            }
            ModemSpec::SingleQueue | ModemSpec::TwoQueues { .. } => {
                Some(Time::from_secs_f64(upstream.mac.map_interval_ms / 1e3))
            }
        }
    }

    /// A cable takes all keys of a group that the checks of any service accept.
    fn check(&self, _group: &Group) -> Faults {
        Faults::default()
    }
}

impl Docsis {
    /// A plant that carries nothing yet.
    pub fn new(spec: &PlantSpec, site: &Site) -> Self {
        let uncounted = spec.cable.byte_count().uncounted();
        let framing_bytes = [
            spec.upstream_channel.overhead_bytes(uncounted),
            spec.cmts
                .unwrap_or(&super::downstream_channel::Cmts::default())
                .framing_bytes(uncounted),
        ];
        let mut plant = Self {
            places: Vec::new(),
            watched: Vec::new(),
            upstream: Vec::new(),
            channel: None,
            cable_up: None,
            orders_modems: false,
            nearest: shared_delays(spec, site).min().unwrap_or_default(),
            downstream: Vec::new(),
            numbers: Vec::new(),
            flows_down: 0,
            cmts: spec.cmts.map(|cmts| DownstreamChannels::new(cmts, uncounted, site)),
            cable_down: Medium::new(keeps_ways(spec, site)),
            noise: [
                NoiseSource::of(&spec.cable.upstream_noise, site.seed, Direction::Up),
                NoiseSource::of(&spec.cable.downstream_noise, site.seed, Direction::Down),
            ],
            framing_bytes,
            interconnect: Direction::BOTH
                .map(|way| InterconnectWay::of(&spec.cable.interconnect, site.seed, way)),
            warnings: Vec::new(),
        };
        for home in site.homes() {
            plant.connect(&home, spec, site);
        }
        let has_jitter = spec.cable.interconnect.jitter_us > 0.0;
        plant.orders_modems = has_jitter || plant.needs_order(spec.cable.specification().is_some());
        let links = plant.upstream.iter().filter(|flow| matches!(flow, UpstreamStage::Link(_)));
        let orders = links.count() > 1 || plant.orders_modems;
        plant.cable_up = orders.then(|| Medium::new(keeps_ways(spec, site)));
        plant.warnings =
            warnings::before_run(spec, site, &plant.modem_warnings(), plant.channel.as_ref());
        plant
    }

    /// Can a packet from one home's modem arrive before one that left another's earlier? On the
    /// shared channel alone it cannot.
    fn needs_order(&self, has_pipeline: bool) -> bool {
        let is_shared = |place: &Place| matches!(place.upstream, FirstFlow::Shared(_));
        let Some(first) = self.places.first() else { return false };
        let (delay, shared) = (first.delay, is_shared(first));
        let mixed = self.places.iter().any(|place| is_shared(place) != shared);
        let distances = self.places.iter().any(|place| place.delay != delay);
        (mixed && has_pipeline) || (distances && (mixed || !shared))
    }

    /// Adds a home.
    fn connect(&mut self, home: &Home, spec: &PlantSpec, site: &Site) {
        let is_first = self.places.is_empty();
        let name = home.name(is_first);
        let delay = spec.cable.delay(home.group.distance_km);
        let of_plant = spec.timing(delay);
        let context = |flow| ServiceFlowContext {
            timing: of_plant,
            ..ServiceFlowContext::new(site, &name, flow, home.is_watched())
        };
        let (up, down) = (home.group.upstream, home.group.downstream);
        let contexts: Vec<_> = up.flow_names().map(context).collect();
        let specs = up.service_flows();
        let upstream = if up.modem == ModemSpec::SharedChannel {
            let farthest = shared_delays(spec, site).max().unwrap_or_default();
            let overhead = self.framing_bytes[Direction::Up as usize];
            let new = || UpstreamChannels::new(spec, overhead, farthest, site.seed);
            FirstFlow::Shared(self.channel.get_or_insert_with(new).connect(&specs, &contexts))
        } else {
            let first = self.upstream.len() as u32;
            let flows = specs.iter().zip(&contexts).map(|(spec, of)| UpstreamStage::new(spec, of));
            self.upstream.extend(flows);
            FirstFlow::Own(first)
        };
        let first_down = self.downstream.len() as u32;
        let has_channel = self.cmts.is_some();
        for (flow, spec) in down.flow_names().zip(&down.service_flows()) {
            if let Some(flow) = DownstreamStage::new(spec, has_channel, &context(flow)) {
                self.downstream.push(flow);
                self.numbers.push(self.flows_down);
            }
            self.flows_down += 1;
        }
        let flows_down = self.downstream.len() as u32 - first_down;
        self.watched.extend(home.is_watched().then_some(self.places.len()));
        self.places.push(Place {
            upstream,
            downstream: (flows_down > 0).then_some(first_down),
            flows: [specs.len() as u32, flows_down],
            delay,
            stalls: Outages::new(&down.stalls),
        });
    }

    /// Warnings of the modems of each group of homes.
    fn modem_warnings(&self) -> Vec<Vec<Warning>> {
        let of_home = |home: &usize| {
            let place = &self.places[*home];
            match place.upstream {
                FirstFlow::Own(_) => {
                    let flows = &self.upstream[Self::flows_of(place, Direction::Up)];
                    flows.iter().flat_map(UpstreamStage::warnings).collect()
                }
                FirstFlow::Shared(_) => Vec::new(),
            }
        };
        self.watched.iter().map(of_home).collect()
    }

    /// The part number of the shared upstream channel. Upstream parts are the service flows, the
    /// shared channel, and the cable behind plain links.
    fn channel_part(&self) -> u32 {
        self.upstream.len() as u32
    }

    fn cable_up_part(&self) -> u32 {
        self.channel_part() + u32::from(self.channel.is_some())
    }

    /// The part number of the shared downstream channel. Downstream parts are the service flows,
    /// the shared channel, and the cable.
    fn cmts_part(&self) -> u32 {
        self.downstream.len() as u32
    }

    fn cable_down_part(&self) -> u32 {
        self.cmts_part() + u32::from(self.cmts.is_some())
    }

    /// Takes a packet from a home.
    #[inline]
    fn accept_up(
        &mut self,
        now: Time,
        packet: Packet,
        alarms: &mut Alarms,
        recorder: &mut Recorder,
    ) -> Option<(Time, Packet)> {
        let flow = u32::from(packet.service_flow);
        let Place { upstream, delay, .. } = self.places[usize::from(packet.home)];
        let part = match upstream {
            FirstFlow::Own(first) => first + flow,
            FirstFlow::Shared(first) => {
                let part = self.channel_part();
                let channel = self.channel.as_mut()?;
                let farther = delay.since(self.nearest);
                channel.accept(now, farther, (first + flow, packet), recorder);
                alarms.set(Direction::Up, part, channel.next_wake());
                return None;
            }
        };
        match &mut self.upstream[part as usize] {
            UpstreamStage::Modem(modem) => {
                modem.accept(now, packet, recorder);
                alarms.set(Direction::Up, part, modem.next_wake());
            }
            UpstreamStage::TwoQueues(modem) => {
                modem.accept(now, packet, recorder);
                alarms.set(Direction::Up, part, modem.next_wake());
            }
            UpstreamStage::Link(link) => {
                let sent = link.accept(now, packet, recorder);
                let way = Way::sent(now, link.began_at(), link.sent_at());
                alarms.set(Direction::Up, part, link.next_wake());
                return self.leave_link(way, sent?, alarms, recorder);
            }
        }
        None
    }

    /// Handles a packet that a plain link sends on this way.
    fn leave_link(
        &mut self,
        way: Way,
        packet: Packet,
        alarms: &mut Alarms,
        recorder: &mut Recorder,
    ) -> Option<(Time, Packet)> {
        recorder.forwarded(way.sent, &packet);
        let delay = self.places[usize::from(packet.home)].delay;
        let way = self.cross((way, delay), &packet, 0, recorder)?;
        self.in_order(packet, way, alarms, recorder)
    }

    /// The way of a packet that crosses the cable, which takes `delay`, and the interconnect; nothing if noise hits
    /// it, with headers of so many bytes.
    #[inline(always)]
    fn cross(
        &mut self,
        (way, delay): (Way, Time),
        packet: &Packet,
        header_bytes: u64,
        recorder: &mut Recorder,
    ) -> Option<Way> {
        let direction = packet.direction as usize;
        let at = way.ordered + delay;
        let mut way = way.arriving(at);
        if let Some(noise) = &mut self.noise[direction]
            && noise.hits(at, packet, header_bytes)
        {
            recorder.lost(at, packet, DropReason::Link, (way.came, way.legs()));
            return None;
        }
        if let Some(interconnect) = &mut self.interconnect[direction] {
            way = way.arriving(at + interconnect.delay());
            way.crossed = interconnect.cross(at, packet.home.into());
            way.passes = way.crossed;
        }
        Some(way)
    }

    /// A packet on the cable that arrives at the CMTS at a time that is known, unless it has to wait until
    /// then for its turn.
    #[inline(always)]
    fn in_order(
        &mut self,
        packet: Packet,
        way: Way,
        alarms: &mut Alarms,
        recorder: &mut Recorder,
    ) -> Option<(Time, Packet)> {
        let part = self.cable_up_part();
        let Some(cable) = &mut self.cable_up else {
            way.spend(&packet, recorder);
            return Some((way.crossed, packet));
        };
        if cable.accept(packet, way, recorder) {
            alarms.set(Direction::Up, part, cable.next_wake());
        }
        None
    }

    /// Wakes an upstream part. Returns a packet that has crossed the network.
    #[inline]
    fn wake_up(
        &mut self,
        now: Time,
        part: u32,
        alarms: &mut Alarms,
        recorder: &mut Recorder,
    ) -> Option<(Time, Packet)> {
        let (received, delay, packet) = match self.upstream.get_mut(part as usize) {
            Some(UpstreamStage::Modem(modem)) => {
                let sent = modem.wake(now, recorder);
                alarms.set(Direction::Up, part, modem.next_wake());
                let packet = sent?;
                (modem.received_at(now), self.places[usize::from(packet.home)].delay, packet)
            }
            Some(UpstreamStage::TwoQueues(modem)) => {
                let sent = modem.wake(now, recorder);
                alarms.set(Direction::Up, part, modem.next_wake());
                let packet = sent?;
                (modem.received_at(now), self.places[usize::from(packet.home)].delay, packet)
            }
            Some(UpstreamStage::Link(link)) => {
                let sent = link.wake(now, recorder);
                let way = Way::sent(now, link.began_at(), link.sent_at());
                alarms.set(Direction::Up, part, link.next_wake());
                return self.leave_link(way, sent?, alarms, recorder);
            }
            None => match &mut self.channel {
                Some(channel) if part as usize == self.upstream.len() => {
                    let sent = channel.wake(now, recorder);
                    alarms.set(Direction::Up, part, channel.next_wake());
                    (now, self.nearest, sent?)
                }
                _ => return self.wake_cable_up(part, alarms),
            },
        };
        // Its last byte leaves its home now, and the time of arrival is known.
        recorder.forwarded(now, &packet);
        let header_bytes = self.framing_bytes[Direction::Up as usize];
        let way = Way::sent(now, now, received);
        let way = self.cross((way, delay), &packet, header_bytes, recorder)?;
        if self.orders_modems {
            return self.in_order(packet, way, alarms, recorder);
        }
        way.spend(&packet, recorder);
        Some((way.crossed, packet))
    }

    fn wake_cable_up(&mut self, part: u32, alarms: &mut Alarms) -> Option<(Time, Packet)> {
        let cable = self.cable_up.as_mut()?;
        let arrived = cable.wake();
        alarms.set(Direction::Up, part, cable.next_wake());
        arrived
    }

    /// Takes a packet for a home at the CMTS.
    #[inline]
    fn accept_down(
        &mut self,
        now: Time,
        packet: Packet,
        alarms: &mut Alarms,
        recorder: &mut Recorder,
    ) {
        recorder.reached_access(now, &packet);
        let Some(first) = self.places[usize::from(packet.home)].downstream else {
            return self.onto_channel(now, packet, alarms, recorder);
        };
        let part = first + u32::from(packet.service_flow);
        match &mut self.downstream[part as usize] {
            DownstreamStage::Link(link) => {
                let sent = link.accept(now, packet, recorder);
                let way = Way::sent(now, link.began_at(), link.sent_at());
                alarms.set(Direction::Down, part, link.next_wake());
                if let Some(packet) = sent {
                    self.onto_cable_down(way, packet, alarms, recorder);
                }
            }
            DownstreamStage::Regulator(regulator) => {
                regulator.accept(now, packet, recorder);
                self.regulate(now, part, alarms, recorder);
            }
        }
    }

    /// Wakes a downstream part. Returns a packet that has arrived at its home.
    #[inline]
    fn wake_down(
        &mut self,
        now: Time,
        part: u32,
        alarms: &mut Alarms,
        recorder: &mut Recorder,
    ) -> Option<(Time, Packet)> {
        if part == self.cable_down_part() {
            let arrived = self.cable_down.wake();
            alarms.set(Direction::Down, part, self.cable_down.next_wake());
            return arrived;
        }
        match self.downstream.get_mut(part as usize) {
            Some(DownstreamStage::Link(link)) => {
                let sent = link.wake(now, recorder);
                let way = Way::sent(now, link.began_at(), link.sent_at());
                alarms.set(Direction::Down, part, link.next_wake());
                if let Some(packet) = sent {
                    self.onto_cable_down(way, packet, alarms, recorder);
                }
            }
            Some(DownstreamStage::Regulator(regulator)) => {
                regulator.update(now);
                self.regulate(now, part, alarms, recorder);
            }
            None => {
                let sent = self.cmts.as_mut().and_then(|cmts| cmts.wake(now, recorder));
                self.leave_cmts(sent, alarms, recorder);
            }
        }
        None
    }

    /// Moves packets that a regulator lets pass to the shared channel.
    fn regulate(&mut self, now: Time, part: u32, alarms: &mut Alarms, recorder: &mut Recorder) {
        loop {
            let DownstreamStage::Regulator(regulator) = &mut self.downstream[part as usize] else {
                return;
            };
            let Some(packet) = regulator.release(now, recorder) else { break };
            self.onto_channel(now, packet, alarms, recorder);
        }
        alarms.set(Direction::Down, part, self.downstream[part as usize].next_wake());
    }

    /// Puts a packet on the channel that all homes share.
    #[inline]
    fn onto_channel(
        &mut self,
        now: Time,
        packet: Packet,
        alarms: &mut Alarms,
        recorder: &mut Recorder,
    ) {
        let cmts = self.cmts.as_mut().expect("packets come here only where there is one");
        let sent = cmts.accept(now, packet, recorder);
        self.leave_cmts(sent, alarms, recorder);
    }

    /// Handles a packet that the shared channel sends, if any.
    #[inline]
    fn leave_cmts(
        &mut self,
        sent: Option<(Way, Packet)>,
        alarms: &mut Alarms,
        recorder: &mut Recorder,
    ) {
        let Some(cmts) = &self.cmts else { return };
        alarms.set(Direction::Down, self.cmts_part(), cmts.next_wake());
        if let Some((way, packet)) = sent {
            self.onto_cable_down(way, packet, alarms, recorder);
        }
    }

    /// Puts a packet on the cable at the time its last byte leaves.
    fn onto_cable_down(
        &mut self,
        way: Way,
        packet: Packet,
        alarms: &mut Alarms,
        recorder: &mut Recorder,
    ) {
        recorder.forwarded(way.ordered, &packet);
        let home = usize::from(packet.home);
        let delay = self.places[home].delay;
        let header_bytes = self.framing_bytes[Direction::Down as usize];
        if let Some(mut way) = self.cross((way, delay), &packet, header_bytes, recorder) {
            way.passes = self.places[home].stalls.after(way.crossed);
            if self.cable_down.accept(packet, way, recorder) {
                let part = self.cable_down_part();
                alarms.set(Direction::Down, part, self.cable_down.next_wake());
            }
        }
    }

    /// The way of a packet that arrives at this time, with nothing but shaping, transmission and propagation: of all
    /// packets of a flow at most the last is still being sent.
    fn way_to(&self, packet: &Packet, at: Time) -> Way {
        let Place { upstream, downstream, delay, .. } = self.places[usize::from(packet.home)];
        let flow = u32::from(packet.service_flow);
        let (began_at, delay) = match (packet.direction, upstream) {
            (Direction::Up, FirstFlow::Own(first)) => {
                (self.upstream[(first + flow) as usize].began_at(), delay)
            }
            (Direction::Up, FirstFlow::Shared(_)) => (Time::ZERO, self.nearest),
            (Direction::Down, _) => {
                let stage = downstream.map(|first| &self.downstream[(first + flow) as usize]);
                (stage.map_or(Time::ZERO, DownstreamStage::began_at), delay)
            }
        };
        let interconnect = &self.interconnect[packet.direction as usize];
        let beyond = interconnect.as_ref().map_or(Time::ZERO, InterconnectWay::delay);
        let sent = at - (delay + beyond);
        Way::sent(Time::ZERO, began_at.min(sent), sent).arriving(at)
    }

    /// The cable upstream, if packets are ordered there, and downstream.
    fn cables(&self) -> impl Iterator<Item = &Medium> {
        self.cable_up.iter().chain([&self.cable_down])
    }

    /// The numbers of a home's service flows in a direction, among all flows of their kind.
    fn flows_of(place: &Place, direction: Direction) -> std::ops::Range<usize> {
        let first = match (direction, place.upstream) {
            (Direction::Up, FirstFlow::Own(first) | FirstFlow::Shared(first)) => first,
            (Direction::Down, _) => place.downstream.unwrap_or(0),
        };
        let first = first as usize;
        first..first + place.flows[direction as usize] as usize
    }
}

/// Do packets spend time on more than shaping, transmission and propagation?
fn keeps_ways(spec: &PlantSpec, site: &Site) -> bool {
    spec.cable.interconnect.jitter_us > 0.0
        || spec.cmts.is_some_and(|cmts| cmts.channel.count() > 1)
        || site.groups.iter().any(|group| !group.downstream.stalls.is_empty())
}

/// Propagation to each group of modems on the shared upstream channel.
fn shared_delays(spec: &PlantSpec, site: &Site) -> impl Iterator<Item = Time> {
    let shares = |group: &&Group| group.upstream.modem == ModemSpec::SharedChannel;
    site.groups.iter().filter(shares).map(|group| spec.cable.delay(group.distance_km))
}

impl AccessNetwork for Docsis {
    fn parts(&self, direction: Direction) -> u32 {
        match direction {
            Direction::Up => self.cable_up_part() + u32::from(self.cable_up.is_some()),
            Direction::Down => self.cable_down_part() + 1,
        }
    }

    fn number(&self, direction: Direction, part: u32) -> u32 {
        if direction == Direction::Up {
            return part;
        }
        let behind = part.saturating_sub(self.cmts_part());
        self.numbers.get(part as usize).copied().unwrap_or(self.flows_down + behind)
    }

    fn first_wake(&self, direction: Direction, part: u32) -> Time {
        let part = part as usize;
        match direction {
            Direction::Up => match self.upstream.get(part) {
                Some(flow) => flow.next_wake(),
                None => self.channel.as_ref().map_or(Time::NEVER, UpstreamChannels::next_wake),
            },
            Direction::Down => match self.downstream.get(part) {
                Some(flow) => flow.next_wake(),
                None => self.cmts.as_ref().map_or(Time::NEVER, DownstreamChannels::next_wake),
            },
        }
    }

    #[inline]
    fn accept(
        &mut self,
        now: Time,
        packet: Packet,
        alarms: &mut Alarms,
        recorder: &mut Recorder,
    ) -> Option<(Time, Packet)> {
        match packet.direction {
            Direction::Up => self.accept_up(now, packet, alarms, recorder),
            Direction::Down => {
                self.accept_down(now, packet, alarms, recorder);
                None
            }
        }
    }

    #[inline]
    fn wake(
        &mut self,
        now: Time,
        direction: Direction,
        part: u32,
        alarms: &mut Alarms,
        recorder: &mut Recorder,
    ) -> Option<(Time, Packet)> {
        match direction {
            Direction::Up => self.wake_up(now, part, alarms, recorder),
            Direction::Down => self.wake_down(now, part, alarms, recorder),
        }
    }

    fn retune(&mut self, now: Time, home: usize, group: &Group, direction: Direction) -> bool {
        let place = &self.places[home];
        let flows = Self::flows_of(place, direction);
        let has_flows = !flows.is_empty();
        match (direction, place.upstream) {
            (Direction::Up, FirstFlow::Own(_)) => {
                let specs = group.upstream.service_flows();
                self.upstream[flows]
                    .iter_mut()
                    .zip(&specs)
                    .for_each(|(flow, spec)| flow.retune(now, spec));
            }
            (Direction::Up, FirstFlow::Shared(first)) => {
                let specs = group.upstream.service_flows();
                for (number, spec) in (first..).zip(&specs) {
                    self.channel.iter_mut().for_each(|channel| channel.retune(now, number, spec));
                }
            }
            (Direction::Down, _) => {
                let specs = group.downstream.service_flows();
                self.downstream[flows]
                    .iter_mut()
                    .zip(&specs)
                    .for_each(|(flow, spec)| flow.retune(now, spec));
            }
        }
        has_flows
    }

    fn sample(&mut self, now: Time) {
        for home in &self.watched {
            let place = &self.places[*home];
            let up = Self::flows_of(place, Direction::Up);
            match (&mut self.channel, place.upstream) {
                (Some(channel), FirstFlow::Shared(_)) => channel.sample_flows(up),
                _ => self.upstream[up].iter_mut().for_each(|flow| flow.sample(now)),
            }
            let flows = &mut self.downstream[Self::flows_of(place, Direction::Down)];
            flows.iter_mut().for_each(DownstreamStage::sample);
        }
        self.cmts.iter_mut().for_each(DownstreamChannels::sample);
        self.channel.iter_mut().for_each(|channel| channel.sample(now));
    }

    fn inside(&self) -> Count {
        let upstream = self.upstream.iter().map(UpstreamStage::inside);
        let downstream = self.downstream.iter().map(DownstreamStage::inside);
        let shared = self.channel.iter().map(UpstreamChannels::inside);
        let cmts = self.cmts.iter().map(DownstreamChannels::inside);
        let cable = self.cables().flat_map(Medium::items).map(Count::of);
        upstream.chain(downstream).chain(shared).chain(cmts).chain(cable).sum()
    }

    fn close(&self, now: Time, recorder: &mut Recorder) {
        self.upstream.iter().for_each(|flow| flow.close(now, recorder));
        self.downstream.iter().for_each(|flow| flow.close(now, recorder));
        self.channel.iter().for_each(|channel| channel.close(now, recorder));
        self.cmts.iter().for_each(|cmts| cmts.close(now, recorder));
        let cables = self.cables();
        cables.for_each(|cable| cable.close(now, recorder, |packet, at| self.way_to(packet, at)));
    }

    fn take_back(&self, now: Time, packet: &Packet, at: Time, recorder: &mut Recorder) {
        recorder.delays.takes_back(now, packet, Time::ZERO, self.way_to(packet, at).legs());
    }

    fn queues(&self) -> Vec<PlacedQueue<'_>> {
        let mut queues = Vec::new();
        for &home in &self.watched {
            let place = &self.places[home];
            let of_home =
                |direction| move |queue| PlacedQueue { queue, direction, home: Some(home) };
            let mut flows = Self::flows_of(place, Direction::Up);
            let up: Vec<_> = match (&self.channel, place.upstream) {
                (Some(channel), FirstFlow::Shared(_)) => {
                    flows.map(|flow| channel.flow(flow as u32).queue()).collect()
                }
                _ => flows.by_ref().flat_map(|flow| self.upstream[flow].queues()).collect(),
            };
            queues.extend(up.into_iter().map(of_home(Direction::Up)));
            let down = self.downstream[Self::flows_of(place, Direction::Down)].iter();
            queues.extend(down.map(DownstreamStage::queue).map(of_home(Direction::Down)));
        }
        let shared = self.cmts.iter().flat_map(DownstreamChannels::queues);
        let direction = Direction::Down;
        queues.extend(shared.map(|queue| PlacedQueue { queue, direction, home: None }));
        queues
    }

    fn mac_counters(&self, home: usize, flow: usize) -> Option<MacCounters> {
        let place = &self.places[home];
        let flow = Self::flows_of(place, Direction::Up).nth(flow)?;
        match (&self.channel, place.upstream) {
            (Some(channel), FirstFlow::Shared(_)) => Some(channel.flow(flow as u32).counters()),
            _ => self.upstream[flow].mac_counters(),
        }
    }

    fn channels(&self, now: Time) -> Vec<ChannelUse> {
        let up = self.channel.iter().flat_map(|channel| channel.used(now));
        up.chain(self.cmts.iter().flat_map(|cmts| cmts.used(now))).collect()
    }

    fn channel_series(&self) -> Vec<(String, &Series)> {
        self.channel.iter().flat_map(UpstreamChannels::series).collect()
    }

    fn propagation(&self, home: usize) -> Time {
        self.places[home].delay
    }

    fn warnings(&self) -> Vec<Warning> {
        let collision_warning = self.channel.as_ref().and_then(UpstreamChannels::collision_warning);
        self.warnings.iter().cloned().chain(collision_warning).collect()
    }
}

#[cfg(test)]
#[path = "plant_tests.rs"]
mod tests;
