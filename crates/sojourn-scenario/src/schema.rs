//! The scenario: the one definition of its keys, units, ranges and defaults.
//!
//! Doc comments here appear in the JSON Schema that users read. Ranges are checked from that schema
//! too.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use sojourn_input::defaults::{number, yes};
use sojourn_input::fault;
use sojourn_input::problem::Warning;
use sojourn_input::words;

use super::homes::Homes;
use super::metrics::Metrics;
use super::provision::Provisioning;
use super::router::Router;
use super::traffic::Entry;
use crate::apps::{AppSpec, ServerKeys};
use crate::controllers::{ControllerSpec, Probes, entry_name};
use sojourn_access::docsis::Cmts;
use sojourn_access::docsis::UpstreamChannel;
use sojourn_access::docsis::enough_burst;
use sojourn_access::docsis::{Cable, ModemSpec, PlantSpec};
use sojourn_access::{AccessParameters, AccessSpec};
use sojourn_access::{Base, Group};
use sojourn_access::{Downstream, Upstream};
use sojourn_engine::address::Address;
use sojourn_engine::aqm::AqmSpec;
use sojourn_engine::clock::Clock;
use sojourn_engine::dialect::Dialect;
use sojourn_engine::ecn_path::EcnPath;
use sojourn_engine::hop::{Bottleneck, Bottlenecks};
use sojourn_engine::packet::Direction;
use sojourn_engine::queue::QueueSpec;
use sojourn_engine::rng::Seed;
use sojourn_transport::TcpOptions;

/// Name of the only group in a scenario without groups.
const LONE_HOME: &str = "home";

/// What a modem's file has set. It does not distinguish scenarios.
#[derive(Clone, Debug, Default)]
pub struct Provisioned {
    /// The file.
    pub file: String,
    /// The paths of keys.
    pub keys: BTreeSet<String>,
}

impl PartialEq for Provisioned {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

/// A scenario: homes on an access network, the servers they talk to, and their traffic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Keys that a modem's file has set, which nobody can leave out of the scenario, and its name.
    #[serde(skip)]
    #[schemars(skip)]
    pub provisioned: Provisioned,
    /// Title of tables and reports.
    #[serde(default)]
    #[schemars(extend("x-role" = "note"))]
    pub title: String,
    /// Purpose of the scenario and sources of its values.
    #[serde(default)]
    #[schemars(extend("x-role" = "note"))]
    pub description: String,
    /// Simulated time in s.
    #[serde(default = "number::<f64, 60>")]
    #[schemars(range(min = 0.001, max = 1_000_000.0))]
    #[schemars(extend("x-role" = "load"))]
    pub duration_s: f64,
    /// Seed of all random streams. The same scenario with the same seed gives the same run.
    #[serde(default = "number::<u64, 1>")]
    #[schemars(extend("x-role" = "note"))]
    pub seed: u64,
    /// Set of rules for TCP, the cable's timing and the counting of bytes: `linux`, `rfc` or `ns2`.
    /// `tcp` may set another one for its connections.
    #[serde(default)]
    #[schemars(extend("x-role" = "line"))]
    pub dialect: Dialect,
    /// How much the clocks of hosts gain or lose at most, in ppm of simulated time, which is that of the CMTS. Each
    /// device of a home (each entry of `traffic` in each home) and each server has a drift of its own, uniform within
    /// this bound on both sides. It times what the host sends, its pauses, and the timers of TCP and QUIC.
    /// Default: 50 in the dialects `linux` and `rfc`, as crystals of consumer devices have tens of ppm, and 0 in `ns2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1000.0))]
    #[schemars(extend("x-role" = "line"))]
    pub clock_drift_ppm: Option<f64>,
    /// The access network, chosen by `kind`: `docsis` or `fibre`.
    #[serde(default)]
    #[schemars(extend("x-role" = "line"))]
    pub access: AccessSpec,
    /// Propagation and request-grant timing on the cable plant.
    #[serde(default)]
    #[schemars(extend("x-role" = "line"))]
    pub cable: Cable,
    /// The modem's primary upstream service flow. Its `flows` holds further ones.
    #[schemars(extend("x-role" = "line"))]
    pub upstream: Upstream,
    /// The home's primary downstream service flow at the CMTS. Its `flows` holds further ones.
    #[schemars(extend("x-role" = "line"))]
    pub downstream: Downstream,
    /// The upstream channel shared by all modems of kind `shared_channel`.
    #[serde(default)]
    #[schemars(extend("x-role" = "line"))]
    pub upstream_channel: UpstreamChannel,
    /// The downstream channel that all homes share. Default: each service flow has a channel of its
    /// own.
    #[serde(default)]
    #[schemars(extend("x-role" = "line"))]
    pub cmts: Option<Cmts>,
    /// What the CMTS knows by name, such as service classes, for modem files that refer to it (`--config`). Without a
    /// modem's file it has no effect.
    #[serde(default, skip_serializing_if = "Provisioning::is_empty")]
    #[schemars(extend("x-role" = "line"))]
    pub provisioning: Provisioning,
    /// Groups of identical homes, by name. Default: one home. It is called `home` and has the
    /// scenario's `upstream` and `downstream`.
    #[serde(default)]
    #[schemars(extend("x-role" = "line"))]
    pub homes: IndexMap<String, Homes>,
    /// A router in each home, between its devices and the modem: a shaper with a queue manager in each
    /// direction, and a program that sets their rates. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-role" = "choice"))]
    pub router: Option<Router>,
    /// Links between the access network and the servers that all traffic passes, by name, the first one
    /// next to the access network. Default: none.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    #[schemars(extend("maxProperties" = 100))]
    #[schemars(extend("x-role" = "line"))]
    pub core: IndexMap<String, Bottlenecks>,
    /// Servers beyond the CMTS, by name.
    #[serde(default)]
    #[schemars(extend("maxProperties" = 65_535))]
    #[schemars(extend("x-role" = "line"))]
    pub servers: IndexMap<String, Server>,
    /// TCP options of all connections. Entries of `traffic` may override single keys.
    #[serde(default)]
    #[schemars(extend("x-role" = "choice"))]
    pub tcp: TcpOptions,
    /// Traffic entries, by name: what users and their devices do.
    #[serde(serialize_with = "of_devices")]
    #[schemars(extend("minProperties" = 1, "maxProperties" = 65_535))]
    #[schemars(extend("x-role" = "load"))]
    pub traffic: IndexMap<String, Entry>,
    /// What is measured and recorded.
    #[serde(default)]
    #[schemars(extend("x-role" = "note"))]
    pub metrics: Metrics,
    /// Whether to add an idle line to compare with: a further run of the same traffic without
    /// transfers, torrents and other bulk traffic. Where the homes of `metrics.homes` have some,
    /// that of other homes goes on.
    #[serde(default = "yes")]
    #[schemars(extend("x-role" = "note"))]
    pub baseline: bool,
}

/// What routers send by themselves follows from their tables.
fn of_devices<S: Serializer>(
    traffic: &IndexMap<String, Entry>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let entries = traffic.iter().filter(|(_, entry)| !entry.app.parameters().is_of_router());
    serializer.collect_map(entries)
}

/// A server beyond the CMTS, on a link of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// One-way delay of the server's link in ms. The round-trip time is twice this delay plus twice
    /// the cable's delay plus the MAC's delay.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub delay_ms: f64,
    /// Rate of the server's link in Mbps. Packets that exceed it wait before the link: for a service of
    /// 1000 Mbps or more set ten times the service.
    #[serde(default = "number::<f64, 1000>")]
    #[schemars(range(min = 0.001, max = 1_000_000.0), extend("x-live" = true))]
    pub rate_mbps: f64,
    /// Random packet loss on the server's link in percent, in each direction, independent for each
    /// packet.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 100.0))]
    pub loss_percent: f64,
    /// What the server's link does to the ECN field of packets and to TCP's flags of ECN, in both directions, as faulty
    /// paths do. Its own queue is before that.
    #[serde(default)]
    pub ecn: EcnPath,
    /// Share of packets in percent, in each direction and drawn for each, that the server's link holds back for
    /// `reorder_ms`, so that later ones pass them. As netem: 1 with 5 ms is `delay 5ms reorder 99%`.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 100.0))]
    pub reorder_percent: f64,
    /// Time in ms for which the packets of `reorder_percent` are held back, the same for each.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub reorder_ms: f64,
    /// The server's host handles a packet some time after it arrived, drawn uniformly from 0 to this, in us. Packets
    /// keep their order: one waits for those before it, so that the mean is above the half where they are dense. Default: 50 behind `modem.kind = "link"` in the dialects `linux` and `rfc`, otherwise 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub host_jitter_us: Option<f64>,
    /// Mean in ms of the exponential time that is drawn for each packet from the server, as other traffic on the path
    /// delays it. Packets keep their order: one waits for those before it, so that dense ones take longer than this
    /// mean. Default: 0. A cable line and its server showed 0.25.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub path_jitter_ms: Option<f64>,
    /// Queue manager before the server's link, in each direction. Default: none, and nothing limits what
    /// waits there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueSpec>,
    /// IP address of the server, for classifiers that match addresses. Default: no address.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub address: Option<Address>,
}

/// How long a host lets arrivals wait together for an interrupt at most, in us: 20 000 interrupts a second, as
/// network cards moderate them for traffic that is not bulk (Linux, documentation of `e1000`: low latency).
const HOST_JITTER_US: f64 = 50.0;
/// How far from its nominal rate the oscillator of a host may be.
const CLOCK_DRIFT_PPM: f64 = 50.0;

impl Scenario {
    /// The time that rates are over, in s: from the end of the warm-up to the end of the run.
    pub fn counted_s(&self) -> f64 {
        self.duration_s - self.metrics.from_s
    }

    /// May packets come in another order than they were sent in?
    pub fn is_reordered(&self) -> bool {
        let routers = self.homes.values().filter_map(|homes| homes.router.as_ref());
        let routers = routers.chain(&self.router).flat_map(Router::both);
        let is_link = |percent: f64, hold_ms: f64| percent > 0.0 && hold_ms > 0.0;
        routers
            .chain(self.core.values().flat_map(Bottlenecks::both))
            .any(|(_, link)| is_link(link.reorder_percent, link.reorder_ms))
            || self
                .servers
                .values()
                .any(|server| is_link(server.reorder_percent, server.reorder_ms))
    }

    /// When half of the time that counts is over, in s.
    pub fn half_s(&self) -> f64 {
        self.metrics.from_s + self.counted_s() / 2.0
    }

    /// For how much of that all viewers of a video watch, in s; `None` if it is no video, or none of it.
    pub fn watched_s(&self, traffic: &str) -> Option<f64> {
        let AppSpec::Video(video) = &self.traffic.get(traffic)?.app else { return None };
        let from_s = self.metrics.from_s.max(video.start_s + video.start_spread_s);
        Some(self.duration_s - from_s).filter(|watched_s| *watched_s > 0.0)
    }

    /// The same scenario with what its groups of homes may leave out: the only group itself, and the tables that they
    /// take over.
    pub(super) fn with_all_homes(&self) -> Self {
        let mut full = self.clone();
        if full.homes.is_empty() {
            full.homes.insert(LONE_HOME.to_owned(), Homes::default());
        }
        let router = full.router.take();
        for homes in full.homes.values_mut() {
            homes.router = homes.router.take().or_else(|| router.clone());
            homes.upstream.get_or_insert_with(|| self.upstream.clone());
            homes.downstream.get_or_insert_with(|| self.downstream.clone());
        }
        full
    }

    /// The clock of a host, whose drift is that of this random stream.
    pub fn host_clock(&self, seed: Seed) -> Clock {
        Clock::drawn(seed, self.clock_drift_ppm.unwrap_or_default())
    }

    /// All groups of homes in the scenario's order, or one home called `home` if it names none.
    pub fn groups(&self) -> impl Iterator<Item = Group<'_>> {
        (0..self.homes.len().max(1)).map(|index| self.group(index))
    }

    /// The group of this number.
    pub fn group(&self, index: usize) -> Group<'_> {
        let (upstream, downstream) = (&self.upstream, &self.downstream);
        let router = self.router(index, Direction::Up);
        match self.homes.get_index(index) {
            None => Group {
                name: LONE_HOME,
                count: 1,
                upstream,
                downstream,
                distance_km: None,
                router,
                base: None,
            },
            Some((name, homes)) => Group {
                name,
                count: homes.count,
                upstream: homes.upstream.as_ref().unwrap_or(upstream),
                downstream: homes.downstream.as_ref().unwrap_or(downstream),
                distance_km: homes.distance_km,
                router,
                base: Some(Base { upstream, downstream, has_own_router: homes.router.is_some() }),
            },
        }
    }

    /// The router's shaper in a direction of the homes of a group.
    pub fn router(&self, group: usize, direction: Direction) -> Option<&Bottleneck> {
        self.router_of(group)?.of(direction)
    }

    /// The router of the homes of a group.
    pub fn router_of(&self, group: usize) -> Option<&Router> {
        let own = self.homes.get_index(group).and_then(|(_, homes)| homes.router.as_ref());
        own.or(self.router.as_ref())
    }

    /// The path of an entry in a scenario: that of its router's controller, if that sends it.
    pub fn path_of(&self, name: &str, entry: &Entry) -> String {
        if !entry.app.parameters().is_of_router() {
            return words::join("traffic", name);
        }
        let group = self.homes.get_index(self.group_of(entry));
        match group.filter(|(_, homes)| homes.router.is_some()) {
            Some((name, _)) => words::join(&words::join("homes", name), "router.controller"),
            None => "router.controller".to_owned(),
        }
    }

    /// The one-way delay of all links between the access network and the servers, in ms.
    pub fn core_delay_ms(&self, direction: Direction) -> f64 {
        self.core.values().filter_map(|one| one.of(direction)).map(|one| one.delay_ms).sum()
    }

    /// A note for each group of homes that no traffic is of, which may be a slip of the pen.
    pub(super) fn without_traffic(&self) -> impl Iterator<Item = Warning> {
        let is_used = |name: &str| {
            self.traffic.values().any(|entry| self.group(self.group_of(entry)).name == name)
        };
        self.homes.keys().filter(move |name| !is_used(name)).map(|name| {
            fault!(HomesWithoutTraffic, words::join("homes", name) =>
                "homes.{name} has no traffic; home = \"{name}\" in a traffic table gives it some", name)
        })
    }

    /// The group of the home of this number.
    pub fn group_of_home(&self, home: usize) -> Group<'_> {
        self.group(self.group_number_of_home(home))
    }

    /// The number of that group.
    pub fn group_number_of_home(&self, home: usize) -> usize {
        let mut last = 0;
        let is_of = |group: Group<'_>| {
            last += usize::from(group.count);
            home < last
        };
        self.groups().position(is_of).expect("a home of a group")
    }

    /// The AQM algorithm in a direction of a group of homes; `None` where several queues may have others, or where it is
    /// switched off.
    pub fn only_law(&self, homes: &str, direction: Direction) -> Option<&AqmSpec> {
        let number = self.groups().position(|group| group.name == homes)?;
        self.law(homes, direction).filter(|_| self.router(number, direction).is_none())
    }

    /// The algorithm of the access network's queues of a group of homes in a direction, if one flow has them.
    pub fn law(&self, homes: &str, direction: Direction) -> Option<&AqmSpec> {
        let group =
            self.groups().find(|group| group.name == homes && group.has_one_flow(direction))?;
        let (up, down) = (group.upstream, group.downstream);
        match direction {
            Direction::Up => up.aqm.then_some(&up.queue.law),
            Direction::Down => (down.aqm && self.cmts.is_none()).then_some(&down.queue.law),
        }
    }

    /// How many homes there are in total.
    pub fn homes_in_all(&self) -> usize {
        self.groups().map(|group| usize::from(group.count)).sum()
    }

    /// The number of the group in whose homes a traffic entry runs: the first group, unless the
    /// entry names another.
    pub fn group_of(&self, entry: &Entry) -> usize {
        let name = entry.labels.home.as_deref();
        name.and_then(|name| self.homes.get_index_of(name)).unwrap_or_default()
    }

    /// Are grades and answers of the home of this number?
    pub fn is_judged_home(&self, home: usize) -> bool {
        self.metrics.homes.as_ref().is_none_or(|homes| self.group_of_home(home).name == homes)
    }

    /// Does an entry run in the homes that grades and answers are of?
    pub fn is_judged(&self, entry: &Entry) -> bool {
        self.is_judged_home(self.first_home_of(entry))
    }

    /// The keys of the cable plant.
    pub fn plant(&self) -> PlantSpec<'_> {
        let Self { cable, upstream_channel, cmts, .. } = self;
        PlantSpec { cable, upstream_channel, cmts: cmts.as_ref() }
    }

    /// What its access network answers before it is built.
    pub fn network(&self) -> Box<dyn AccessParameters + '_> {
        self.access.parameters(self.plant())
    }

    /// Names the defaults that depend on other keys. A plain link is as it was in the documents: it
    /// has no request and grant, and counts IP packets.
    pub fn fill(&mut self) {
        self.clock_drift_ppm.get_or_insert(match self.dialect {
            Dialect::Rfc | Dialect::Linux => CLOCK_DRIFT_PPM,
            Dialect::Ns2 => 0.0,
        });
        if self.access.has_plant() {
            let is_link = self.upstream.modem == ModemSpec::Link;
            self.cable.fill(is_link || self.dialect == Dialect::Ns2);
        }
        self.fill_servers();
        self.fill_controllers();
        self.fill_hosts();
        self.fill_judged();
        for entry in self.traffic.values_mut() {
            if let AppSpec::Stream(stream) = &mut entry.app {
                stream.fill();
            }
        }
        self.fill_services();
    }

    /// Flows behind one drop-tail queue keep the order in which clocks without jitter once put them, and that
    /// order decides who loses (Floyd & Jacobson 1992, "On traffic phase effects in packet-switched gateways").
    /// Requests and grants of a cable modem break such ties; nothing on a plain link does.
    fn fill_hosts(&mut self) {
        let has_ties = self.groups().any(|group| group.upstream.modem == ModemSpec::Link);
        let breaks_ties = has_ties && self.dialect != Dialect::Ns2;
        let jitter_us = if breaks_ties { HOST_JITTER_US } else { 0.0 };
        for server in self.servers.values_mut() {
            server.host_jitter_us.get_or_insert(jitter_us);
        }
    }

    /// Who runs programs over a line asks for their home, whatever its neighbours do.
    fn fill_judged(&mut self) {
        let real = self.traffic.values().filter(|entry| matches!(entry.app, AppSpec::Real(_)));
        let groups: BTreeSet<usize> = real.map(|entry| self.group_of(entry)).collect();
        if let (None, 2.., [group]) =
            (&self.metrics.homes, self.homes.len(), &Vec::from_iter(groups)[..])
        {
            self.metrics.homes = Some(self.group(*group).name.to_owned());
        }
    }

    /// An entry that names no server has the first, or all where it may have several.
    fn fill_servers(&mut self) {
        let names: Vec<&String> = self.servers.keys().collect();
        for entry in self.traffic.values_mut() {
            match entry.app.parameters_mut().server_keys() {
                ServerKeys::One(server) if server.is_empty() => {
                    *server = names.first().map_or_else(String::new, |first| (*first).clone());
                }
                ServerKeys::Several(servers) if servers.is_empty() => {
                    *servers = names.iter().map(|name| (*name).clone()).collect();
                }
                ServerKeys::One(_) | ServerKeys::Several(_) => {}
            }
        }
    }

    /// Each controller has the first server if it names none, and its probes are an entry behind all others.
    fn fill_controllers(&mut self) {
        let first = self.servers.keys().next().cloned().unwrap_or_default();
        let own = self.homes.values_mut().filter_map(|homes| homes.router.as_mut());
        for router in own.chain(&mut self.router) {
            let rates = router.settable();
            let Some(controller) = &mut router.controller else { continue };
            let server = controller.parameters_mut().server_mut();
            if server.is_empty() {
                server.clone_from(&first);
            }
            controller.parameters_mut().fill(rates);
        }
        self.traffic.retain(|_, entry| !entry.app.parameters().is_of_router());
        let entries = self.probes().map(|(name, group, router, controller)| {
            (name, Probes::entry(controller.clone(), router.settable(), group))
        });
        for (name, entry) in entries.collect::<Vec<_>>() {
            self.traffic.entry(name).or_insert(entry);
        }
    }

    /// The controllers of all groups: the names of their probes and of their groups, and their routers.
    fn probes(&self) -> impl Iterator<Item = (String, Option<&str>, &Router, &ControllerSpec)> {
        let groups = 0..self.homes.len().max(1);
        groups.filter_map(|number| {
            let router = self.router_of(number)?;
            let group = self.homes.get_index(number).map(|(name, _)| &**name);
            let name = entry_name(group.filter(|_| self.homes.len() > 1));
            Some((name, group, router, router.controller.as_ref()?))
        })
    }

    /// What the entries of probes are called.
    pub(super) fn names_of_probes(&self) -> impl Iterator<Item = String> {
        self.probes().map(|(name, ..)| name)
    }

    /// Peak rates, and bursts that hold no flow below its rate.
    fn fill_services(&mut self) {
        let largest = self.largest_sent();
        let Self { access, cable, upstream_channel, cmts, upstream, downstream, homes, .. } = self;
        let network = access.parameters(PlantSpec { cable, upstream_channel, cmts: cmts.as_ref() });
        let fill = |up: Option<&mut Upstream>, down: Option<&mut Downstream>| {
            if let Some(up) = up {
                let map = network.map_interval(up);
                up.fill(&|mbps| map.map_or(0, |map| enough_burst(mbps, map)).max(largest));
            }
            if let Some(down) = down {
                down.fill(&|_| largest);
            }
        };
        fill(Some(upstream), Some(downstream));
        for homes in homes.values_mut() {
            fill(homes.upstream.as_mut(), homes.downstream.as_mut());
        }
    }

    /// Size in bytes of the largest packet that may be sent.
    pub(crate) fn largest_sent(&self) -> u64 {
        let byte_count = self.network().byte_count();
        let packet = |app: &AppSpec| {
            let segment = app.parameters().tcp().map_or(0, |_| {
                let config = app.tcp_config(&self.tcp, self.dialect);
                let ip = config.mss as u16 + config.header;
                u64::from(byte_count.of_ip(ip))
            });
            segment.max(app.parameters().largest_datagram().into())
        };
        self.traffic.values().map(|entry| packet(&entry.app)).fold(0, u64::max)
    }

    /// The number of the first home in which a traffic entry runs.
    pub fn first_home_of(&self, entry: &Entry) -> usize {
        let before = self.groups().take(self.group_of(entry));
        before.map(|group| usize::from(group.count)).sum()
    }
}
