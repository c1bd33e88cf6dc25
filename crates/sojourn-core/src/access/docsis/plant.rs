//! The cable plant: the service flows of all homes, the channels they share, and the cable.
//!
//! In the studies' models each service flow has its own queue, token buckets, requests and channel:
//! the flows of a modem do not compete. On the shared upstream channel the flows of all modems
//! compete. Downstream, flows compete where a CMTS has a channel for all homes ([`Cmts`]).

use super::cmts::Cmts;
use super::downstream::Downstream;
use super::parameters::{ModemSpec, PlantSpec};
use super::request_grant::MacCounters;
use super::shared_channel::SharedChannel;
use super::upstream::Upstream;
use super::upstream_channel::UpstreamChannel;
use super::warnings;
use crate::access::context::ServiceFlowContext;
use crate::access::delay_line::DelayLine;
use crate::access::homes::{self, Home};
use crate::access::{AccessNetwork, Alarms, Site};
use crate::count::Count;
use crate::metrics::rows::ChannelRow;
use crate::metrics::{Ledger, Series};
use crate::packet::{Direction, Packet};
use crate::queue::Queue;
use crate::units::Time;

/// The numbers of a home's service flows, the primary flow first.
struct Place {
    /// The first upstream flow: on the shared channel, or among those with a channel of their own.
    upstream: FirstFlow,
    /// The first downstream flow.
    downstream: u32,
    /// The number of flows, upstream and downstream.
    flows: [u32; 2],
    is_watched: bool,
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
    /// Upstream service flows with a channel of their own, home by home.
    upstream: Vec<Upstream>,
    /// The upstream channel that modems share, if any do.
    channel: Option<SharedChannel>,
    /// Orders the packets of several plain links, which know in advance when their packets leave.
    /// One link alone needs no ordering.
    cable_up: Option<DelayLine>,
    /// Service flows at the CMTS, home by home.
    downstream: Vec<Downstream>,
    cmts: Option<Cmts>,
    cable_down: DelayLine,
    cable_delay: Time,
    warnings: Vec<String>,
}

impl Docsis {
    /// A plant that carries nothing yet.
    pub fn new(spec: &PlantSpec, site: &Site) -> Self {
        let cable_delay = Time::from_secs_f64(spec.cable.delay_ms / 1e3);
        let mut plant = Self {
            places: Vec::new(),
            upstream: Vec::new(),
            channel: None,
            cable_up: None,
            downstream: Vec::new(),
            cmts: spec.cmts.map(|cmts| Cmts::new(cmts, site)),
            cable_down: DelayLine::new(cable_delay),
            cable_delay,
            warnings: Vec::new(),
        };
        for home in homes::homes(&site.groups) {
            plant.connect(&home, spec.upstream_channel, site);
        }
        let links = plant.upstream.iter().filter(|flow| matches!(flow, Upstream::Link(_)));
        plant.cable_up = (links.count() > 1).then(|| DelayLine::new(cable_delay));
        plant.warnings =
            warnings::before_run(spec, site, &plant.modem_warnings(), plant.channel.as_ref());
        plant
    }

    /// Adds a home.
    fn connect(&mut self, home: &Home, channel: &UpstreamChannel, site: &Site) {
        let is_first = self.places.is_empty();
        let name = home.name(is_first);
        let context = |flow| ServiceFlowContext::new(site, &name, flow, home.is_watched());
        let (up, down) = (home.group.upstream, home.group.downstream);
        let contexts: Vec<_> = up.flow_names().map(context).collect();
        let specs = up.service_flows();
        let upstream = if up.modem == ModemSpec::SharedChannel {
            let new = || SharedChannel::new(channel, site.seed);
            FirstFlow::Shared(self.channel.get_or_insert_with(new).connect(&specs, &contexts))
        } else {
            let first = self.upstream.len() as u32;
            let flows = specs.iter().zip(&contexts).map(|(spec, of)| Upstream::new(spec, of));
            self.upstream.extend(flows);
            FirstFlow::Own(first)
        };
        let downstream = self.downstream.len() as u32;
        let has_channel = self.cmts.is_some();
        let flows = down
            .flow_names()
            .zip(&down.service_flows())
            .map(|(flow, spec)| Downstream::new(spec, has_channel, &context(flow)))
            .collect::<Vec<_>>();
        let flows_down = flows.len() as u32;
        self.downstream.extend(flows);
        self.places.push(Place {
            upstream,
            downstream,
            flows: [specs.len() as u32, flows_down],
            is_watched: home.is_watched(),
        });
    }

    /// Warnings of the modems of each group of homes.
    fn modem_warnings(&self) -> Vec<Vec<String>> {
        let of_home = |place: &Place| match place.upstream {
            FirstFlow::Own(_) => {
                let flows = &self.upstream[Self::flows_of(place, Direction::Up)];
                flows.iter().flat_map(Upstream::warnings).collect()
            }
            FirstFlow::Shared(_) => Vec::new(),
        };
        self.places.iter().filter(|place| place.is_watched).map(of_home).collect()
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
        ledger: &mut Ledger,
    ) -> Option<(Time, Packet)> {
        let flow = u32::from(packet.service_flow);
        let part = match self.places[usize::from(packet.home)].upstream {
            FirstFlow::Own(first) => first + flow,
            FirstFlow::Shared(first) => {
                let part = self.channel_part();
                let channel = self.channel.as_mut()?;
                channel.accept(now, first + flow, packet, ledger);
                alarms.set(Direction::Up, part, channel.next_wake());
                return None;
            }
        };
        let upstream = &mut self.upstream[part as usize];
        let sent = match upstream {
            Upstream::Modem(modem) => {
                modem.accept(now, packet, ledger);
                alarms.set(Direction::Up, part, modem.next_wake());
                return None;
            }
            Upstream::TwoQueues(modem) => {
                modem.accept(now, packet, ledger);
                None
            }
            Upstream::Link(link) => link.accept(now, packet, ledger),
        };
        alarms.set(Direction::Up, part, upstream.next_wake());
        self.leave_link(sent, alarms, ledger)
    }

    /// Handles a packet that a plain link sends, if any, and the time when its last byte leaves.
    fn leave_link(
        &mut self,
        sent: Option<(Time, Packet)>,
        alarms: &mut Alarms,
        ledger: &mut Ledger,
    ) -> Option<(Time, Packet)> {
        let (at, packet) = sent?;
        ledger.forwarded(at, &packet);
        let part = self.cable_up_part();
        let Some(cable) = &mut self.cable_up else { return Some((at + self.cable_delay, packet)) };
        cable.accept(at, packet);
        alarms.set(Direction::Up, part, cable.next_wake());
        None
    }

    /// Wakes an upstream part. Returns a packet that has crossed the network.
    #[inline]
    fn wake_up(
        &mut self,
        now: Time,
        part: u32,
        alarms: &mut Alarms,
        ledger: &mut Ledger,
    ) -> Option<(Time, Packet)> {
        let packet = match self.upstream.get_mut(part as usize) {
            Some(Upstream::Modem(modem)) => {
                let sent = modem.wake(now, ledger);
                alarms.set(Direction::Up, part, modem.next_wake());
                sent
            }
            Some(Upstream::TwoQueues(modem)) => {
                let sent = modem.wake(now, ledger);
                alarms.set(Direction::Up, part, modem.next_wake());
                sent
            }
            Some(Upstream::Link(link)) => {
                let sent = link.wake(now, ledger);
                alarms.set(Direction::Up, part, link.next_wake());
                return self.leave_link(sent, alarms, ledger);
            }
            None => match &mut self.channel {
                Some(channel) if part as usize == self.upstream.len() => {
                    let sent = channel.wake(now, ledger);
                    alarms.set(Direction::Up, part, channel.next_wake());
                    sent
                }
                _ => return self.wake_cable_up(part, alarms),
            },
        }?;
        // Its last byte leaves its home now. The cable's delay is the same for all packets, so the
        // time of arrival is known.
        ledger.forwarded(now, &packet);
        Some((now + self.cable_delay, packet))
    }

    fn wake_cable_up(&mut self, part: u32, alarms: &mut Alarms) -> Option<(Time, Packet)> {
        let cable = self.cable_up.as_mut()?;
        let arrived = cable.wake();
        alarms.set(Direction::Up, part, cable.next_wake());
        arrived
    }

    /// Takes a packet for a home at the CMTS.
    #[inline]
    fn accept_down(&mut self, now: Time, packet: Packet, alarms: &mut Alarms, ledger: &mut Ledger) {
        ledger.reached_access(now, &packet);
        let first = self.places[usize::from(packet.home)].downstream;
        let part = first + u32::from(packet.service_flow);
        match &mut self.downstream[part as usize] {
            Downstream::Link(link) => {
                let sent = link.accept(now, packet, ledger);
                alarms.set(Direction::Down, part, link.next_wake());
                self.onto_cable_down(sent, alarms, ledger);
            }
            Downstream::Regulator(regulator) => {
                regulator.accept(now, packet, ledger);
                self.regulate(now, part, alarms, ledger);
            }
            Downstream::Open => self.onto_channel(now, packet, alarms, ledger),
        }
    }

    /// Wakes a downstream part. Returns a packet that has arrived at its home.
    #[inline]
    fn wake_down(
        &mut self,
        now: Time,
        part: u32,
        alarms: &mut Alarms,
        ledger: &mut Ledger,
    ) -> Option<(Time, Packet)> {
        if part == self.cable_down_part() {
            let arrived = self.cable_down.wake();
            alarms.set(Direction::Down, part, self.cable_down.next_wake());
            return arrived;
        }
        match self.downstream.get_mut(part as usize) {
            Some(Downstream::Link(link)) => {
                let sent = link.wake(now, ledger);
                alarms.set(Direction::Down, part, link.next_wake());
                self.onto_cable_down(sent, alarms, ledger);
            }
            Some(Downstream::Regulator(regulator)) => {
                regulator.update(now);
                self.regulate(now, part, alarms, ledger);
            }
            Some(Downstream::Open) => {}
            None => {
                let sent = self.cmts.as_mut().and_then(|cmts| cmts.wake(now, ledger));
                self.onto_cable_down(sent, alarms, ledger);
                self.schedule_cmts(alarms);
            }
        }
        None
    }

    /// Moves packets that a regulator lets pass to the shared channel.
    fn regulate(&mut self, now: Time, part: u32, alarms: &mut Alarms, ledger: &mut Ledger) {
        loop {
            let Downstream::Regulator(regulator) = &mut self.downstream[part as usize] else {
                return;
            };
            let Some(packet) = regulator.release(now, ledger) else { break };
            self.onto_channel(now, packet, alarms, ledger);
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
        ledger: &mut Ledger,
    ) {
        let cmts = self.cmts.as_mut().expect("packets come here only where there is one");
        let sent = cmts.accept(now, packet, ledger);
        self.onto_cable_down(sent, alarms, ledger);
        self.schedule_cmts(alarms);
    }

    #[inline]
    fn schedule_cmts(&self, alarms: &mut Alarms) {
        if let Some(cmts) = &self.cmts {
            alarms.set(Direction::Down, self.cmts_part(), cmts.next_wake());
        }
    }

    /// Puts a packet that the CMTS sends, if any, on the cable at the time its last byte leaves.
    #[inline]
    fn onto_cable_down(
        &mut self,
        sent: Option<(Time, Packet)>,
        alarms: &mut Alarms,
        ledger: &mut Ledger,
    ) {
        if let Some((at, packet)) = sent {
            ledger.forwarded(at, &packet);
            self.cable_down.accept(at, packet);
            alarms.set(Direction::Down, self.cable_down_part(), self.cable_down.next_wake());
        }
    }

    /// The numbers of a home's service flows in a direction, among all flows of their kind.
    fn flows_of(place: &Place, direction: Direction) -> std::ops::Range<usize> {
        let first = match (direction, place.upstream) {
            (Direction::Up, FirstFlow::Own(first) | FirstFlow::Shared(first)) => first,
            (Direction::Down, _) => place.downstream,
        };
        let first = first as usize;
        first..first + place.flows[direction as usize] as usize
    }
}

impl AccessNetwork for Docsis {
    fn parts(&self, direction: Direction) -> u32 {
        match direction {
            Direction::Up => self.cable_up_part() + u32::from(self.cable_up.is_some()),
            Direction::Down => self.cable_down_part() + 1,
        }
    }

    fn first_wake(&self, direction: Direction, part: u32) -> Time {
        let part = part as usize;
        match direction {
            Direction::Up => match self.upstream.get(part) {
                Some(flow) => flow.next_wake(),
                None => self.channel.as_ref().map_or(Time::NEVER, SharedChannel::next_wake),
            },
            Direction::Down => match self.downstream.get(part) {
                Some(flow) => flow.next_wake(),
                None => self.cmts.as_ref().map_or(Time::NEVER, Cmts::next_wake),
            },
        }
    }

    #[inline]
    fn accept(
        &mut self,
        now: Time,
        packet: Packet,
        alarms: &mut Alarms,
        ledger: &mut Ledger,
    ) -> Option<(Time, Packet)> {
        match packet.direction {
            Direction::Up => self.accept_up(now, packet, alarms, ledger),
            Direction::Down => {
                self.accept_down(now, packet, alarms, ledger);
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
        ledger: &mut Ledger,
    ) -> Option<(Time, Packet)> {
        match direction {
            Direction::Up => self.wake_up(now, part, alarms, ledger),
            Direction::Down => self.wake_down(now, part, alarms, ledger),
        }
    }

    fn sample(&mut self, now: Time) {
        for place in self.places.iter().filter(|place| place.is_watched) {
            if let FirstFlow::Own(_) = place.upstream {
                let flows = &mut self.upstream[Self::flows_of(place, Direction::Up)];
                flows.iter_mut().for_each(|flow| flow.sample(now));
            }
            let flows = &mut self.downstream[Self::flows_of(place, Direction::Down)];
            flows.iter_mut().for_each(Downstream::sample);
        }
        self.cmts.iter_mut().for_each(Cmts::sample);
        self.channel.iter_mut().for_each(|channel| channel.sample(now));
    }

    fn inside(&self) -> Count {
        let upstream = self.upstream.iter().map(Upstream::inside);
        let downstream = self.downstream.iter().map(Downstream::inside);
        let shared = self.channel.iter().map(SharedChannel::inside);
        let cmts = self.cmts.iter().map(Cmts::inside);
        let cable = self.cable_up.iter().chain([&self.cable_down]).map(DelayLine::inside);
        upstream.chain(downstream).chain(shared).chain(cmts).chain(cable).sum()
    }

    fn queues(&self) -> Vec<&Queue> {
        let mut queues = Vec::new();
        for place in self.places.iter().filter(|place| place.is_watched) {
            let mut flows = Self::flows_of(place, Direction::Up);
            match (&self.channel, place.upstream) {
                (Some(channel), FirstFlow::Shared(_)) => {
                    queues.extend(flows.map(|flow| channel.flow(flow as u32).queue()));
                }
                _ => queues.extend(flows.by_ref().flat_map(|flow| self.upstream[flow].queues())),
            }
            let flows = &self.downstream[Self::flows_of(place, Direction::Down)];
            queues.extend(flows.iter().filter_map(Downstream::queue));
        }
        queues.extend(self.cmts.iter().flat_map(Cmts::queues));
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

    fn channels(&self, now: Time) -> Vec<ChannelRow> {
        self.channel.iter().map(|channel| channel.row(now)).collect()
    }

    fn channel_series(&self) -> Vec<&Series> {
        self.channel.iter().flat_map(SharedChannel::series).collect()
    }

    fn propagation(&self) -> Time {
        self.cable_delay
    }

    fn warnings(&self) -> Vec<String> {
        let collision_warning = self.channel.as_ref().and_then(SharedChannel::collision_warning);
        self.warnings.iter().cloned().chain(collision_warning).collect()
    }
}
