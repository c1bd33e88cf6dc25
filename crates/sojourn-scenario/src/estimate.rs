//! What a run will need, estimated from its scenario before anything is built.
//!
//! Memory is estimated at most: every queue is full that the traffic can fill, and every connection is
//! open that may be. Events are estimated at least: only those that come by the clock. Sizes are those
//! of the structures in a build of 64 bits, with what growing tables take in advance.

use std::collections::BTreeMap;

use super::schema::{Scenario, Server};
use super::traffic::Entry;
use crate::apps::Load;
use sojourn_access::Group;
use sojourn_access::docsis::ModemSpec;
use sojourn_access::{Buffer, PRIMARY, ServiceFlow, flow_path};
use sojourn_engine::aqm::AqmAlgorithm;
use sojourn_engine::capacity::Trace;
use sojourn_engine::link::Link;
use sojourn_engine::packet::{Direction, Packet};
use sojourn_engine::queue::{QueueSpec, default_limit_bytes};
use sojourn_engine::record::{Delay, MOST_PACKETS, PacketRecord};
use sojourn_engine::record::{MOST_EVENTS, ModemEvent};
use sojourn_engine::units::BitRate;
use sojourn_input::fault;
use sojourn_input::problem::{Code, Fault};
use sojourn_input::words;
use sojourn_transport::Ends;

/// The program, and what every run has.
const FIXED_BYTES: f64 = 4e6;
/// Samples of a series: values of 4 bytes, as many as there are before it halves.
const SERIES_VALUES: f64 = 4096.0;
/// Series of a queue at most: of DualQ, 6 of all packets, 5 of each member and 12 of its state.
const QUEUE_SERIES: f64 = 28.0;
const SENDER_SERIES: f64 = 4.0;
/// Histogram of latencies, and the means beside it.
const LATENCY_BYTES: f64 = 100_000.0;
/// A service flow with its buckets, its requests and an empty queue.
const FLOW_BYTES: f64 = 3_000.0;
/// A bin without its AQM algorithm: chain, turn, place in the tournament.
const BIN_BYTES: f64 = 110.0;
/// A step of a capacity that changes over time, while a list of them grows.
const STEP_BYTES: f64 = 48.0;
/// A packet inside: in a queue or on a link, with its sender's and its receiver's notes of it.
const INSIDE_BYTES: f64 = 3.0 * size_of::<Packet>() as f64;
/// A packet on a server's link, in a ring that doubles.
const ON_LINK_BYTES: f64 = 3.0 * Link::PACKET_BYTES as f64;
/// A connection with its timers, the slot it takes, and what its ends allocate.
const CONNECTION_BYTES: f64 = 1.5 * size_of::<Ends>() as f64 + 1_650.0;
/// The account of a connection, without its series.
const ACCOUNT_BYTES: f64 = 700.0;
/// Records of traces are copied into tables when the run is over.
const COPIES: f64 = 3.0;
/// A run of more events would take weeks: a million take about a tenth of a second.
const MOST_EVENTS_OF_A_RUN: f64 = 1e13;

/// What one part of a scenario needs.
#[derive(Clone, Debug)]
struct Need {
    /// The key that says how much.
    path: String,
    what: String,
    bytes: f64,
}

/// What a run needs.
#[derive(Clone, Debug)]
pub struct Estimate {
    needs: Vec<Need>,
    /// The traffic entry with the most events by the clock, and these.
    busiest: (String, f64),
}

/// Estimates a checked scenario.
pub fn estimate(scenario: &Scenario) -> Estimate {
    let mut estimate = Estimate { needs: Vec::new(), busiest: (String::new(), 0.0) };
    estimate.add("", "what every run has".to_owned(), FIXED_BYTES);
    let homes: Vec<HomeLoad> =
        (0..scenario.groups().count()).map(|n| HomeLoad::new(scenario, n)).collect();
    for (number, home) in homes.iter().enumerate() {
        estimate.add_group(scenario, number, home);
    }
    for (name, entry) in &scenario.traffic {
        estimate.add_entry(scenario, name, entry);
    }
    estimate.add_servers(scenario, &homes);
    estimate.add_hops(scenario, &homes);
    if let Some(cmts) = &scenario.cmts {
        let (bins, algorithms) = cmts.queue.scheduler.parameters().bins();
        estimate.add("cmts.queue.scheduler", "its bins".to_owned(), bins_bytes(bins, algorithms));
    }
    estimate.add_traces(scenario, &homes);
    estimate
}

impl Estimate {
    /// Bytes of memory, at most.
    pub fn bytes(&self) -> u64 {
        self.needs.iter().map(|need| need.bytes).sum::<f64>() as u64
    }

    /// Events that come by the clock.
    pub fn events(&self) -> f64 {
        self.busiest.1
    }

    /// Refuses a run that needs more bytes than these, or longer than anybody waits.
    ///
    /// # Errors The key that needs the most.
    pub fn check(&self, most_bytes: u64) -> Result<(), Fault> {
        let (entry, events) = &self.busiest;
        if *events > MOST_EVENTS_OF_A_RUN {
            return Err(fault!(TooManyPackets, words::join("traffic", entry) =>
                "it sends about {packets:.0e} packets in the run; allowed: {allowed:.0e} or fewer, which take weeks",
                packets = *events, allowed = MOST_EVENTS_OF_A_RUN));
        }
        if self.bytes() <= most_bytes {
            return Ok(());
        }
        let largest =
            self.needs.iter().max_by(|a, b| a.bytes.total_cmp(&b.bytes)).expect("one is fixed");
        let message = format!(
            "the run needs up to {} of memory, {} of it for {}; allowed: {}; use less of it, or allow more \
             with --max-memory",
            giga(self.bytes() as f64),
            giga(largest.bytes),
            largest.what,
            giga(most_bytes as f64),
        );
        let fault = Fault::of_code(Code::TooMuchMemory, &largest.path, message);
        Err(fault.with("needed_bytes", self.bytes()).with("allowed_bytes", most_bytes))
    }

    fn add(&mut self, path: &str, what: String, bytes: f64) {
        self.needs.push(Need { path: path.to_owned(), what, bytes });
    }

    /// The homes of a group: their service flows, and what waits in these and on the way.
    fn add_group(&mut self, scenario: &Scenario, number: usize, home: &HomeLoad) {
        let group = scenario.group(number);
        let homes = f64::from(group.count);
        let samples = samples(scenario);
        let congestion = group.upstream.congestion.as_ref().map_or(0, |one| one.steps.len());
        let steps_up = congestion + steps(group.upstream.capacity.as_ref());
        let steps_down = steps(group.downstream.capacity.as_ref());
        for (direction, flows, steps) in [
            (Direction::Up, flows_up(&group), steps_up),
            (Direction::Down, flows_down(&group), steps_down),
        ] {
            let own = scenario.homes.get_index(number).filter(|(_, homes)| match direction {
                Direction::Up => homes.upstream.is_some(),
                Direction::Down => homes.downstream.is_some(),
            });
            let table = own.map_or(String::new(), |(name, _)| words::join("homes", name));
            let base = words::join(&table, direction.stream());
            for flow in flows {
                let path = match flow.name {
                    PRIMARY => base.clone(),
                    name => flow_path(&base, name),
                };
                let (bins, algorithms) = flow.queue.scheduler.parameters().bins();
                let each = FLOW_BYTES + bins_bytes(bins, algorithms);
                let what =
                    format!("the bins of {homes} {}", if homes == 1.0 { "home" } else { "homes" });
                self.add(&format!("{path}.queue.scheduler"), what, homes * each);
                self.add_steps(&base, homes, steps);
                // Of the first home the queue is measured: its series, a histogram and two readings of it.
                let watched = 3.0 * LATENCY_BYTES + QUEUE_SERIES * samples * 4.0;
                let flows = f64::from(scenario.metrics.watch_flows) * 8.0 * samples * 4.0;
                self.add("metrics.watch_flows", "the series of queues".to_owned(), watched + flows);
                let mut waiting = homes * home.waiting(&flow);
                if direction == Direction::Down {
                    waiting = waiting.min(home.arrives(scenario));
                }
                self.add(
                    &format!("{path}.queue.limit_bytes"),
                    "packets in queues".to_owned(),
                    waiting * INSIDE_BYTES,
                );
            }
        }
        for direction in Direction::BOTH {
            let router = scenario.router(number, direction);
            self.add_steps("router", homes, steps(router.and_then(|one| one.capacity.as_ref())));
        }
        let what = "packets on the way".to_owned();
        self.add("servers", what, homes * home.on_the_way(scenario, &group) * INSIDE_BYTES);
    }

    fn add_steps(&mut self, path: &str, copies: f64, steps: usize) {
        self.add(path, "steps of its capacity".to_owned(), copies * steps as f64 * STEP_BYTES);
    }

    /// An entry: its apps with their connections, and its accounts.
    fn add_entry(&mut self, scenario: &Scenario, name: &str, entry: &Entry) {
        let path = words::join("traffic", name);
        let homes = f64::from(scenario.group(scenario.group_of(entry)).count);
        let load = entry.app.parameters().load(scenario.duration_s);
        let packets = homes * load.packets;
        if packets > self.busiest.1 {
            self.busiest = (name.to_owned(), packets);
        }
        let samples = samples(scenario);
        // Round trips of datagrams are counted by what else is under way.
        let by_load = entry.app.parameters().answer().map_or(0.0, |_| 4.0);
        let accounts = 2.0 * ((3.0 + by_load) * LATENCY_BYTES + 4.0 * samples * 4.0);
        self.add(&path, "its accounts".to_owned(), accounts + homes * (2_200.0 + load.kept_bytes));
        let connections = homes * load.connections;
        self.add(&path, format!("{connections} connections"), connections * CONNECTION_BYTES);
        let kept = (homes * load.opened).min(scenario.metrics.connections.into());
        let each = ACCOUNT_BYTES + 2.0 * 2.0 * 4.0 * samples;
        self.add("metrics.connections", "accounts of connections".to_owned(), kept * each);
        let watched = kept.min(scenario.metrics.watch_connections.into());
        let senders = watched * SENDER_SERIES * 2.0 * 2.0 * 4.0 * samples;
        self.add("metrics.watch_connections", "series of senders".to_owned(), senders);
        // Pages and responses are kept one by one.
        self.add(&path, "what it has done".to_owned(), homes * load.opened.min(1e9) * 24.0);
    }

    /// Packets on the links of servers, and those that wait for them: nothing limits how many do.
    fn add_servers(&mut self, scenario: &Scenario, homes: &[HomeLoad]) {
        let mut access =
            [0, 1].map(|n| homes.iter().map(|home| home.homes * home.carried[n]).sum::<f64>());
        if let Some(cmts) = &scenario.cmts {
            let mbps = cmts.carries_mbps(&[]);
            access[1] = access[1].min(mbps * scenario.duration_s * 1e6 / 8.0);
        }
        for (name, offers) in offers(scenario) {
            let server = &scenario.servers[name];
            for (n, offer) in offers.iter().enumerate() {
                // Upstream the access network comes first, and drops what it does not carry.
                let most = [access[0], f64::INFINITY][n];
                let packets = offer.on_link(server, scenario.duration_s, access[n], most);
                let path = format!("{}.rate_mbps", words::join("servers", name));
                let what = "packets on its link and before it".to_owned();
                self.add(&path, what, packets * ON_LINK_BYTES);
            }
        }
    }

    /// What waits in queues of routers, of the core and before servers: no more than the run has packets.
    fn add_hops(&mut self, scenario: &Scenario, homes: &[HomeLoad]) {
        let mean_bytes = homes.iter().map(|home| home.mean_bytes).fold(f64::INFINITY, f64::min);
        let packets: f64 = homes.iter().map(|home| home.packets * home.homes).sum();
        let mut add = |path: String, count: f64, queue: &QueueSpec, default_bytes: u64| {
            let (bins, algorithms) = queue.scheduler.parameters().bins();
            let series = 3.0 * LATENCY_BYTES + QUEUE_SERIES * samples(scenario) * 4.0;
            let bins = FLOW_BYTES + bins_bytes(bins, algorithms);
            let limit_bytes = match (queue.limit_bytes, queue.limit_packets) {
                (Some(bytes), _) => bytes as f64,
                (None, Some(packets)) => packets as f64 * mean_bytes,
                (None, None) => default_bytes as f64,
            };
            let waiting = (count * limit_bytes / mean_bytes.max(64.0)).min(packets);
            let bytes = series + count * bins + waiting * INSIDE_BYTES;
            self.add(&path, "packets in its queue".to_owned(), bytes);
        };
        for (group, of) in scenario.groups().enumerate() {
            for direction in Direction::BOTH {
                let Some(router) = scenario.router(group, direction) else { continue };
                let path = format!("router.{}.queue.limit_bytes", direction.stream());
                let default = router.default_limit_bytes();
                add(path, of.count.into(), &router.queue, default);
            }
        }
        for (name, both) in &scenario.core {
            for (direction, link) in both.both() {
                let path = words::join("core", name);
                let path = format!("{path}.{}.queue.limit_bytes", direction.stream());
                add(path, 1.0, &link.queue, link.default_limit_bytes());
            }
        }
        for (name, server) in &scenario.servers {
            if let Some(queue) = &server.queue {
                let path = format!("{}.queue.limit_bytes", words::join("servers", name));
                let default = default_limit_bytes(BitRate::from_mbps(server.rate_mbps));
                add(path, 2.0, queue, default);
            }
        }
    }

    fn add_traces(&mut self, scenario: &Scenario, homes: &[HomeLoad]) {
        let packets: f64 = homes.iter().map(|home| home.packets * home.homes).sum();
        let packets = packets.min(MOST_PACKETS as f64);
        if scenario.metrics.packet_trace {
            let bytes = packets * COPIES * size_of::<PacketRecord>() as f64;
            self.add("metrics.packet_trace", format!("{packets:.0} packets"), bytes);
        }
        if scenario.metrics.modem_trace {
            // A packet has about six events; a MAP comes every few ms.
            let events =
                (6.0 * packets + 2.0 * scenario.duration_s * 500.0).min(MOST_EVENTS as f64);
            let bytes = COPIES
                * (events * size_of::<ModemEvent>() as f64 + packets * size_of::<Delay>() as f64);
            self.add("metrics.modem_trace", format!("{events:.0} events"), bytes);
        }
    }
}

fn steps(capacity: Option<&Trace>) -> usize {
    capacity.map_or(0, |trace| trace.all().len())
}

/// Values of a series of this run.
fn samples(scenario: &Scenario) -> f64 {
    (scenario.duration_s * 1e3 / scenario.metrics.series_interval_ms + 1.0).min(SERIES_VALUES)
}

fn bins_bytes(bins: u32, algorithms: u32) -> f64 {
    f64::from(bins) * BIN_BYTES + f64::from(algorithms) * (1.0 + size_of::<AqmAlgorithm>() as f64)
}

fn giga(bytes: f64) -> String {
    if bytes < 1e8 { format!("{:.0} MB", bytes / 1e6) } else { format!("{:.1} GB", bytes / 1e9) }
}

/// A service flow of a home, as far as memory goes.
struct Flow<'a> {
    name: &'a str,
    peak_mbps: f64,
    sustained_mbps: f64,
    burst_bytes: f64,
    queue: &'a QueueSpec,
    buffer: Buffer,
}

fn further<'a>(
    flows: impl IntoIterator<Item = (&'a String, &'a ServiceFlow)>,
) -> impl Iterator<Item = Flow<'a>> {
    flows.into_iter().map(|(name, flow)| Flow {
        name,
        peak_mbps: flow.terms().peak_mbps,
        sustained_mbps: flow.sustained_mbps,
        burst_bytes: flow.terms().burst_bytes as f64,
        queue: &flow.queue,
        buffer: flow.buffer,
    })
}

macro_rules! flows_of {
    ($name:ident, $way:ident) => {
        fn $name<'a>(group: &Group<'a>) -> Vec<Flow<'a>> {
            let way = group.$way;
            let primary = Flow {
                name: PRIMARY,
                peak_mbps: way.terms().peak_mbps,
                sustained_mbps: way.sustained_mbps,
                burst_bytes: way.terms().burst_bytes as f64,
                queue: &way.queue,
                buffer: way.buffer,
            };
            [primary].into_iter().chain(further(&way.flows)).collect()
        }
    };
}
flows_of!(flows_up, upstream);
flows_of!(flows_down, downstream);

impl Flow<'_> {
    /// Bytes that it carries in so many seconds, at most.
    fn carries(&self, seconds: f64) -> f64 {
        let bytes = |mbps: f64| mbps * seconds * 1e6 / 8.0;
        bytes(self.peak_mbps).min(self.burst_bytes + bytes(self.sustained_mbps)) + 1522.0
    }

    /// Bytes that its queue holds, at most.
    fn holds(&self) -> f64 {
        let default = default_limit_bytes(BitRate::from_mbps(self.sustained_mbps));
        let bytes = self.buffer.bytes(self.sustained_mbps).or(self.queue.limit_bytes);
        let unlimited = if self.queue.limit_packets.is_some() { u64::MAX } else { default };
        bytes.unwrap_or(unlimited) as f64
    }
}

/// What the entries of a group put on the network in one home.
struct HomeLoad {
    homes: f64,
    /// Bytes that its service flows carry in the run, by direction, at most.
    carried: [f64; 2],
    /// Packets in the whole run, at most.
    packets: f64,
    /// Mean bytes of a packet.
    mean_bytes: f64,
    /// Packets that may be inside at once: windows of connections, and all packets sent by a timer.
    outstanding: f64,
}

/// What all homes send over a server's link in one direction.
#[derive(Default)]
struct Offer {
    /// Datagrams in the whole run, and their bytes.
    packets: f64,
    bytes: f64,
    /// Datagrams and their bytes in a second in which all send.
    packets_per_s: f64,
    bytes_per_s: f64,
    /// Segments in the windows of connections.
    windows: f64,
    segments_per_byte: f64,
}

/// What is sent to and from each server that traffic names.
fn offers(scenario: &Scenario) -> BTreeMap<&str, [Offer; 2]> {
    let mut offers = BTreeMap::<_, [Offer; 2]>::new();
    for entry in scenario.traffic.values() {
        let load = entry.app.parameters().load(scenario.duration_s);
        for (_, server) in entry.app.parameters().servers() {
            let both = offers.entry(server).or_default();
            for (offer, way) in both.iter_mut().zip(Direction::BOTH) {
                if load.is_of(way) {
                    offer.add(scenario, entry, &load);
                }
            }
        }
    }
    offers
}

impl Offer {
    fn add(&mut self, scenario: &Scenario, entry: &Entry, load: &Load) {
        let homes = f64::from(scenario.group(scenario.group_of(entry)).count);
        if entry.app.parameters().tcp().is_some() {
            // Pages and films wait for their readers: only bulk traffic fills a link for long.
            if !entry.app.is_bulk() {
                return;
            }
            let config = entry.app.tcp_config(&scenario.tcp, scenario.dialect);
            self.windows += homes * load.connections * config.max_window;
            self.segments_per_byte = self.segments_per_byte.max(1.0 / config.mss as f64);
        } else {
            let per_s = homes * load.packets_per_s(scenario.duration_s);
            self.packets += homes * load.packets;
            self.bytes += homes * load.packets * load.packet_bytes;
            self.packets_per_s += per_s;
            self.bytes_per_s += per_s * load.packet_bytes;
        }
    }

    /// Packets on the link and before it, if the access network carries so many bytes of connections and lets
    /// `most` bytes of datagrams through.
    fn on_link(&self, server: &Server, seconds: f64, access: f64, most: f64) -> f64 {
        let carried = server.rate_mbps * 1e6 / 8.0;
        let let_through = (most / self.bytes).min(1.0);
        let late = (1.0 - carried / (self.bytes_per_s * let_through)).max(0.0);
        let held_ms = server.reorder_percent / 100.0 * server.reorder_ms;
        let recent = self.packets_per_s * (server.delay_ms + held_ms) / 1e3;
        let datagrams = (recent + self.packets * late).min(self.packets) * let_through;
        // A window grows by what is acknowledged.
        let grown = 1.5 * carried * seconds * self.segments_per_byte;
        let windows = if carried * seconds < access { self.windows.min(grown) } else { 0.0 };
        datagrams + windows
    }
}

/// What the connections of a home carry, by direction: all entries share its service flows.
#[derive(Default)]
struct Streams {
    bytes: [f64; 2],
    segments: [f64; 2],
}

impl Streams {
    /// Adds an entry, as if it were alone. Answers its segments.
    fn add(&mut self, load: &Load, carried: [f64; 2], mss: f64) -> f64 {
        let ways = Direction::BOTH.map(|way| load.is_of(way));
        let mut all = 0.0;
        for (n, _) in ways.iter().enumerate().filter(|(_, used)| **used) {
            let bytes = load.stream_bytes.min(carried[n]);
            self.bytes[n] += bytes;
            self.segments[n] += bytes / mss;
            all += bytes / mss;
        }
        all
    }

    fn bytes(&self, carried: [f64; 2]) -> f64 {
        (0..2).map(|n| self.bytes[n].min(carried[n])).sum()
    }

    /// Segments of the mean size.
    fn segments(&self, carried: [f64; 2]) -> f64 {
        let share = |n: usize| (carried[n] / self.bytes[n]).min(1.0);
        (0..2).filter(|n| self.bytes[*n] > 0.0).map(|n| self.segments[n] * share(n)).sum()
    }
}

impl HomeLoad {
    fn new(scenario: &Scenario, number: usize) -> Self {
        let group = scenario.group(number);
        let seconds = scenario.duration_s;
        let carries =
            |flows: Vec<Flow>| flows.iter().map(|flow| flow.carries(seconds)).sum::<f64>();
        let carried = [carries(flows_up(&group)), carries(flows_down(&group))];
        let mut home = Self {
            homes: group.count.into(),
            carried,
            packets: 0.0,
            mean_bytes: 1500.0,
            outstanding: 0.0,
        };
        let (mut bytes, mut streams) = (0.0, Streams::default());
        for (_, entry) in scenario.traffic.iter().filter(|(_, e)| scenario.group_of(e) == number) {
            let load = entry.app.parameters().load(seconds);
            home.packets += load.packets;
            home.outstanding += load.packets;
            bytes += load.packets * load.packet_bytes;
            if entry.app.parameters().tcp().is_some() {
                let config = entry.app.tcp_config(&scenario.tcp, scenario.dialect);
                let segments = streams.add(&load, carried, config.mss as f64);
                home.outstanding += (load.connections * config.max_window).min(1.5 * segments);
            }
        }
        // A segment, and an acknowledgement for every one or two.
        home.packets += 1.5 * streams.segments(carried);
        bytes += streams.bytes(carried);
        home.mean_bytes =
            if home.packets > 0.0 { (bytes / home.packets).max(60.0) } else { 1500.0 };
        home
    }

    /// Packets in the queue of a service flow.
    fn waiting(&self, flow: &Flow) -> f64 {
        let most = flow.queue.limit_packets.map_or(f64::INFINITY, |packets| packets as f64);
        self.outstanding.min(most).min(flow.holds() / self.mean_bytes)
    }

    /// Packets that the links of all servers bring in the whole run.
    fn arrives(&self, scenario: &Scenario) -> f64 {
        let mbps: f64 = scenario.servers.values().map(|server| server.rate_mbps).sum();
        mbps * scenario.duration_s * 1e6 / 8.0 / self.mean_bytes
    }

    /// Packets between the access network and the servers, both ways.
    fn on_the_way(&self, scenario: &Scenario, group: &Group) -> f64 {
        let delay_s =
            scenario.servers.values().map(|s| s.delay_ms / 1e3).fold(0.0, f64::max) + 0.01;
        let flows = flows_up(group).into_iter().chain(flows_down(group));
        let bytes: f64 = flows.map(|flow| flow.carries(delay_s.min(scenario.duration_s))).sum();
        let transmit = match group.upstream.modem {
            ModemSpec::TwoQueues { transmit_packets, .. } => transmit_packets as f64,
            _ => 0.0,
        };
        self.outstanding.min(bytes / self.mean_bytes + transmit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(more: &str) -> Scenario {
        let text = format!(
            "duration_s = 10
             upstream.sustained_mbps = 5
             upstream.peak_mbps = 20
             upstream.burst_bytes = 1_000_000
             downstream.sustained_mbps = 50
             downstream.peak_mbps = 100
             downstream.burst_bytes = 1_000_000
             servers.near = {{ delay_ms = 5 }}
             {more}"
        );
        toml::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    fn refusal(more: &str, most: u64) -> String {
        let fault = estimate(&scenario(more)).check(most).unwrap_err();
        format!("{}: {}", fault.path, fault.message)
    }

    /// The least for each of 65 536 bins: its algorithm of some 100 bytes and 110 bytes more. 2 * 10^4 *
    /// 65 536 * 210 are 275 GB.
    #[test]
    fn many_homes_with_many_bins_are_refused() {
        let message = refusal(
            "homes.all = { count = 10_000 }
             upstream.queue.scheduler = { kind = 'sfq', bins = 65_536 }
             traffic.call = { kind = 'stream', purpose = 'voice', direction = 'up', server = 'near' }",
            12_000_000_000,
        );
        assert!(message.starts_with("upstream.queue.scheduler: the run needs up to "), "{message}");
        assert!(message.contains("for the bins of 10000 homes; allowed: 12.0 GB"), "{message}");
    }

    #[test]
    fn torrents_of_many_connections_in_many_homes_are_refused() {
        let message = refusal(
            "homes.all = { count = 10_000 }
             traffic.torrent = { kind = 'torrent', servers = ['near'], connections = 10_000 }",
            12_000_000_000,
        );
        assert!(message.starts_with("traffic.torrent: the run needs up to "), "{message}");
        assert!(message.contains("for 100000000 connections; allowed: 12.0 GB"), "{message}");
    }

    #[test]
    fn what_would_take_weeks_is_refused() {
        let message = refusal(
            "traffic.noise = { kind = 'on_off', server = 'near', mean_mbps = [100_000], sources = 10_000,
                               off_per_on = 1_000_000, on_s = [100], packet_bytes = 1 }",
            12_000_000_000,
        );
        assert!(message.starts_with("traffic.noise: it sends about "), "{message}");
    }

    /// Two numbers of each direction, of four bytes, in each interval of a connection that is kept.
    #[test]
    fn a_kept_connection_has_16_bytes_for_each_interval() {
        let bytes = |interval_ms: u32, kept: u32| {
            let estimate = estimate(&scenario(&format!(
                "metrics = {{ series_interval_ms = {interval_ms}, connections = {kept} }}
                 traffic.pages = {{ kind = 'web', servers = ['near'] }}"
            )));
            let needs = estimate.needs.iter();
            needs
                .filter(|need| need.what == "accounts of connections")
                .map(|need| need.bytes)
                .sum::<f64>()
        };
        // 1001 and 101 intervals of 10 s.
        assert_eq!(bytes(10, 2) - bytes(100, 2), 2.0 * 16.0 * 900.0);
        assert_eq!(bytes(10, 4), 2.0 * bytes(10, 2));
    }

    #[test]
    fn a_home_needs_little() {
        let home = "traffic.call = { kind = 'stream', purpose = 'voice', direction = 'up', server = 'near' }";
        let estimate = estimate(&scenario(home));
        assert!(estimate.check(100_000_000).is_ok(), "{} bytes", estimate.bytes());
    }
}
