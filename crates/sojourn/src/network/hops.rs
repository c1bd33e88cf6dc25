//! The hops beside the access network: routers of homes, links of the core, links of servers.

use sojourn_access::{Group, homes};
use sojourn_engine::capacity::Capacity;
use sojourn_engine::count::Count;
use sojourn_engine::ecn_path::EcnPath;
use sojourn_engine::hop::{Bottleneck, Hop};
use sojourn_engine::link::{Jitter, Link};
use sojourn_engine::packet::{Direction, Packet};
use sojourn_engine::queue::{Queue, QueueSpec, default_limit_bytes};
use sojourn_engine::record::Place;
use sojourn_engine::rng::{Rng, Seed};
use sojourn_engine::units::{BitRate, Time};
use sojourn_engine::wake::StageId;
use sojourn_scenario::Scenario;

/// Where a packet goes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// To the hop of this number.
    Hop(u32),
    /// Into the access network.
    Access,
    /// To its receiver.
    Receiver,
}

/// A hop, the stage that wakes it, and whose packets pass it.
pub(super) struct Placed {
    pub hop: Hop,
    pub stage: StageId,
    /// The home of a router.
    pub home: Option<usize>,
}

/// The hops of a direction: routers, then links of the core in the order in which packets pass them, then the
/// links of all servers.
pub(super) struct Hops {
    direction: Direction,
    all: Vec<Placed>,
    /// The router of each home, if there are any; `None` where the home has none.
    routers: Vec<Option<u32>>,
    /// The first link of the core, and the first of a server.
    core: u32,
    servers: u32,
    /// Does one of them change the ECN field other than by marks?
    rewrites_ecn: bool,
}

impl Hops {
    /// All hops of a direction, with nothing in them.
    pub(super) fn new(scenario: &Scenario, direction: Direction) -> Self {
        let maker = Maker { scenario, direction };
        let mut all = Vec::new();
        let mut routers = Vec::new();
        let groups: Vec<Group<'_>> = scenario.groups().collect();
        let numbers = groups
            .iter()
            .enumerate()
            .flat_map(|(group, of)| std::iter::repeat_n(group, usize::from(of.count)));
        let homes = homes(&groups).zip(numbers).enumerate();
        for (number, (home, group)) in homes.filter(|_| maker.has_routers()) {
            let router = scenario.router(group, direction);
            routers.push(router.map(|_| all.len() as u32));
            if let Some(router) = router {
                let name = format!("{} router", home.name(number == 0));
                let hop =
                    maker.bottleneck((Place::Router, name.trim_start()), router, home.is_watched());
                all.push(Placed { hop, stage: 0, home: Some(number) });
            }
        }
        let placed = |hop| Placed { hop, stage: 0, home: None };
        let core = all.len() as u32;
        let links = scenario.core.iter().filter_map(|(name, link)| {
            let name = format!("core {name}");
            Some(maker.bottleneck((Place::Core, &name), link.of(direction)?, true))
        });
        let links: Vec<_> = links.collect();
        match direction {
            Direction::Up => all.extend(links.into_iter().map(placed)),
            Direction::Down => all.extend(links.into_iter().rev().map(placed)),
        }
        let servers = all.len() as u32;
        all.extend(maker.servers().map(placed));
        let rewrites_ecn = scenario.ecn_paths(direction).any(|(_, path)| path != EcnPath::Kept);
        Self { direction, all, routers, core, servers, rewrites_ecn }
    }

    /// Does one of them change the ECN field other than by marks?
    pub(super) fn rewrites_ecn(&self) -> bool {
        self.rewrites_ecn
    }

    /// The router of a packet's home, if it has one.
    #[inline]
    pub(super) fn router(&self, packet: &Packet) -> Option<u32> {
        self.router_of(packet.home)
    }

    /// The link of a packet's server.
    #[inline]
    pub(super) fn server(&self, packet: &Packet) -> u32 {
        self.servers + u32::from(packet.server)
    }

    /// The first hop of a packet on its way from the access network to its server.
    #[inline]
    pub(super) fn beyond_access(&self, packet: &Packet) -> u32 {
        if self.core < self.servers { self.core } else { self.server(packet) }
    }

    /// Where a packet goes that has crossed the hop of this number.
    #[inline]
    pub(super) fn after(&self, number: u32, packet: &Packet) -> Then {
        let is_of_server = number >= self.servers;
        match self.direction {
            Direction::Up if is_of_server => Then::Receiver,
            Direction::Down if is_of_server && self.core == self.servers => Then::Access,
            Direction::Down if is_of_server => Then::Hop(self.core),
            _ => self.after_own(number, packet),
        }
    }

    /// Where a packet goes that has crossed a router or a link of the core.
    #[cold]
    fn after_own(&self, number: u32, packet: &Packet) -> Then {
        let is_router = number < self.core;
        match self.direction {
            Direction::Up if is_router => Then::Access,
            Direction::Down if is_router => Then::Receiver,
            _ if number + 1 < self.servers => Then::Hop(number + 1),
            Direction::Up => Then::Hop(self.server(packet)),
            Direction::Down => Then::Access,
        }
    }

    /// The router of a home, if it has one.
    #[inline]
    pub(super) fn router_of(&self, home: u16) -> Option<u32> {
        *self.routers.get(usize::from(home))?
    }

    pub(super) fn get(&self, number: u32) -> &Placed {
        &self.all[number as usize]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, number: u32) -> &mut Placed {
        &mut self.all[number as usize]
    }

    /// The numbers of the routers, and of all other hops.
    pub(super) fn numbers(&self) -> [std::ops::Range<u32>; 2] {
        [0..self.core, self.core..self.all.len() as u32]
    }

    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut Placed> {
        self.all.iter_mut()
    }

    /// The link of the core of this number among those of the direction, in the scenario's order.
    pub(super) fn core_mut(&mut self, number: usize) -> &mut Placed {
        let [first, servers] = [self.core, self.servers].map(|place| place as usize);
        match self.direction {
            Direction::Up => &mut self.all[first + number],
            Direction::Down => &mut self.all[servers - 1 - number],
        }
    }

    /// The link of the server of this number.
    pub(super) fn server_mut(&mut self, number: usize) -> &mut Placed {
        &mut self.all[self.servers as usize + number]
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Placed> {
        self.all.iter()
    }

    pub(super) fn inside(&self) -> Count {
        self.all.iter().map(|placed| placed.hop.inside()).sum()
    }

    pub(super) fn sample(&mut self) {
        self.all.iter_mut().for_each(|placed| placed.hop.sample());
    }
}

/// Makes hops of a direction.
struct Maker<'a> {
    scenario: &'a Scenario,
    direction: Direction,
}

impl Maker<'_> {
    fn has_routers(&self) -> bool {
        let mut groups = 0..self.scenario.groups().count();
        groups.any(|group| self.scenario.router(group, self.direction).is_some())
    }

    fn bottleneck(
        &self,
        (place, name): (Place, &str),
        spec: &Bottleneck,
        is_measured: bool,
    ) -> Hop {
        let link = self.link(name, spec.capacity(), spec.delay_ms, spec.loss_percent);
        let link = link.treating_ecn(spec.ecn).at(place);
        let link = self.reordering(link, name, (spec.reorder_percent, spec.reorder_ms));
        if let Some(hop) = &spec.hop {
            let name = format!("{name} {}", self.direction.stream());
            let seed = Seed::named(self.scenario.seed, &name);
            let hop = Hop::behind(hop, name, seed, link);
            return if is_measured { hop } else { hop.unwatched() };
        }
        let queue = self.queue(name, &spec.queue, spec.default_limit_bytes());
        Hop::new(link, Some(if is_measured { queue } else { queue.unwatched() }))
    }

    fn servers(&self) -> impl Iterator<Item = Hop> {
        self.scenario.servers.iter().map(|(name, server)| {
            let rate = BitRate::from_mbps(server.rate_mbps);
            let capacity = Capacity::steady(rate);
            let (jitter, rng) = match self.direction {
                Direction::Up => {
                    let most_s = server.host_jitter_us.unwrap_or_default() / 1e6;
                    (Jitter::Uniform(Time::from_secs_f64(most_s)), format!("host {name}"))
                }
                Direction::Down => {
                    let mean_s = server.path_jitter_ms.unwrap_or_default() / 1e3;
                    (Jitter::Exponential(Time::from_secs_f64(mean_s)), format!("path {name}"))
                }
            };
            let link = self
                .link(name, capacity, server.delay_ms, server.loss_percent)
                .treating_ecn(server.ecn)
                .jittery(jitter, Rng::named(self.scenario.seed, &rng));
            let link = self.reordering(link, name, (server.reorder_percent, server.reorder_ms));
            let queue = server
                .queue
                .as_ref()
                .map(|spec| self.queue(&format!("server {name}"), spec, default_limit_bytes(rate)));
            Hop::new(link, queue)
        })
    }

    fn link(&self, name: &str, capacity: Capacity, delay_ms: f64, loss_percent: f64) -> Link {
        let losses = format!("losses {} {name}", self.direction.name());
        let losses = Rng::named(self.scenario.seed, &losses);
        Link::new(capacity, Time::from_secs_f64(delay_ms / 1e3))
            .losing(loss_percent / 100.0, losses)
    }

    fn reordering(&self, link: Link, name: &str, (percent, hold_ms): (f64, f64)) -> Link {
        let draws = format!("reordering {} {name}", self.direction.name());
        let draws = Rng::named(self.scenario.seed, &draws);
        link.reordering(percent / 100.0, Time::from_secs_f64(hold_ms / 1e3), draws)
    }

    fn queue(&self, name: &str, spec: &QueueSpec, default_bytes: u64) -> Queue {
        let Scenario { dialect, seed, metrics, traffic, .. } = self.scenario;
        let name = format!("{name} {}", self.direction.stream());
        let mut queue = Queue::new(spec, default_bytes, *dialect, &name, *seed);
        let names: Vec<&str> = traffic.keys().map(String::as_str).collect();
        queue.name_traffic(&names, metrics.watch_flows as usize);
        queue
    }
}
