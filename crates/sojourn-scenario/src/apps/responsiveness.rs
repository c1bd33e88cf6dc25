//! Tests of responsiveness as phones and speed tests have them: draft-ietf-ippm-responsiveness-09.
//!
//! Connections of HTTP/2 over TLS 1.3 load the line in one or both directions without an end. One is added at each interval. In
//! the meantime probes are timed. A foreign one opens a connection: the handshakes of TCP and TLS and a request take a
//! round trip each. The others are requests on a connection that loads the line, taken at random: they wait behind what its
//! sender has in flight and unsent. When the goodput and then the round trips per minute are stable, or the time is over, the
//! test ends and aborts its connections.
//!
//! Probes begin with the second interval, since how many there may be follows from the goodput. Before the load begins,
//! foreign probes, one after the other, measure the line without it.
//!
//! Left out: the look-up of the server, tests without TLS or over HTTP/3, and the time that programs take.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_input::defaults::number;

use super::Quality;
use super::done::Mean;
use super::rpm::{Times, Tracked, rpm_before_load};
use super::two_way::StreamDirection;
use super::{App, AppContext, AppParameters, Command, ConnectionId, Done, End, Event, Load, Model};
use sojourn_engine::packet::Direction;
use sojourn_engine::rng::Rng;
use sojourn_engine::units::{Time, mbps};
use sojourn_input::compare::at_least;
use sojourn_input::problem::{Fault, Faults};
use sojourn_transport::{Message, TcpOptions, Transport, tls};

/// Bytes of a request and of the answer to it, with header fields and one byte of content.
const REQUEST: u64 = 100;
const ANSWER: u64 = 60;
/// §5.3: what a probe of either kind takes of the line, in bytes; half of the probes are of each.
const PROBE_BYTES: f64 = (5000.0 + 1000.0) / 2.0;
/// More than any test transfers.
const ENDLESS: u64 = 1 << 60;
/// The stream of the load; those of probes on its connection follow.
const LOAD: u32 = 0;
/// Streams of the handshake of TLS over TCP.
const HELLO: u32 = u32::MAX;
const FLIGHT: u32 = u32::MAX - 1;
const FINISHED: u32 = u32::MAX - 2;
/// The tag of the first foreign probe. Lower ones are of the load.
const FOREIGN: u32 = 1 << 16;

/// Parameters of a test of responsiveness.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Responsiveness")]
pub struct Parameters {
    /// Server of the test. Default: the first of `servers`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(extend("x-role" = "line"))]
    pub server: String,
    /// Direction of the load: `up`, `down`, or `both` at once, which gives one result (§5.1.2).
    #[serde(default = "both")]
    pub direction: StreamDirection,
    /// Connections that load each direction at the start (INP).
    #[serde(default = "number::<u32, 1>")]
    #[schemars(range(min = 1, max = 1000))]
    pub connections: u32,
    /// Connections that are added in each direction after each interval (INC).
    #[serde(default = "number::<u32, 1>")]
    #[schemars(range(min = 0, max = 1000))]
    pub added_connections: u32,
    /// The most connections in each direction (MNP).
    #[serde(default = "number::<u32, 16>")]
    #[schemars(range(min = 1, max = 1000))]
    pub most_connections: u32,
    /// Length of an interval in s (ID). The draft has 5 since -09, and had 1 before.
    #[serde(default = "number::<f64, 5>")]
    #[schemars(range(min = 0.01, max = 1000.0))]
    pub interval_s: f64,
    /// Intervals of which a moving average is, and moving averages that must be alike (MAD).
    #[serde(default = "number::<u32, 4>")]
    #[schemars(range(min = 2, max = 100))]
    pub average_intervals: u32,
    /// The greatest standard deviation of values that are stable, in percent of the newest (SDT).
    #[serde(default = "number::<f64, 5>")]
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub tolerance_percent: f64,
    /// Share of probes in percent that count in a mean: without the longest times (TMP).
    #[serde(default = "number::<f64, 95>")]
    #[schemars(range(min = 1.0, max = 100.0))]
    pub kept_percent: f64,
    /// The most probes in a second, of both kinds together (MPS).
    #[serde(default = "number::<f64, 100>")]
    #[schemars(range(min = 0.1, max = 10_000.0))]
    pub probes_per_s: f64,
    /// The most that probes may take of the goodput in percent (PTC), at 3000 bytes for a probe in the mean.
    #[serde(default = "number::<f64, 5>")]
    #[schemars(range(min = 0.01, max = 100.0))]
    pub probe_percent: f64,
    /// How long what a sender of the load holds unsent would take it to send, in ms at most (§6.1.1: TCP_REPLENISH_TIME).
    #[serde(default = "number::<f64, 5>")]
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub unsent_ms: f64,
    /// Time before the load in which probes measure the line without it, in s.
    #[serde(default = "number::<f64, 1>")]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub idle_s: f64,
    /// The longest time of the load in s. Default: 60; with intervals of 5 s a test takes 40 at least.
    #[serde(default = "number::<f64, 60>")]
    #[schemars(range(min = 0.01, max = 1_000_000.0))]
    pub limit_s: f64,
    /// When the test begins, in s.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub start_s: f64,
    /// TCP options of its connections that differ from the scenario's `tcp`.
    #[serde(default)]
    pub tcp: TcpOptions,
}

const fn both() -> StreamDirection {
    StreamDirection::Both
}

impl Parameters {
    /// When its load begins, in s.
    pub(super) fn load_s(&self) -> f64 {
        self.start_s + self.idle_s
    }

    fn ways(&self) -> impl Iterator<Item = Direction> {
        let direction = self.direction;
        Direction::BOTH.into_iter().filter(move |way| direction.includes(*way))
    }
}

impl AppParameters for Parameters {
    one_server!();
    own_tcp!();

    fn start(&self, server: &dyn Fn(&str) -> u16) -> App {
        let (from, length) = (Time::from_secs_f64(self.start_s), Time::from_secs_f64);
        let (tolerance, kept) = (self.tolerance_percent / 100.0, self.kept_percent / 100.0);
        let load = from + length(self.idle_s);
        Box::new(Responsiveness {
            server: server(&self.server),
            ways: self.ways().collect(),
            first: self.connections,
            added: self.added_connections,
            most: self.most_connections,
            interval: length(self.interval_s),
            kept,
            most_rate: self.probes_per_s,
            probe_share: self.probe_percent / 100.0,
            unsent: length(self.unsent_ms / 1e3),
            from,
            load_from: load,
            until: load + length(self.limit_s),
            stage: Stage::Before,
            loads: Vec::new(),
            foreign: BTreeMap::new(),
            asked: BTreeMap::new(),
            foreign_opened: 0,
            next_interval: Time::NEVER,
            next_probe: Time::NEVER,
            probe_gap: Time::NEVER,
            is_foreign_next: true,
            uncounted: 0,
            carried: [0; 2],
            counted: [0; 2],
            counted_at: load,
            idle: Times::default(),
            current: Times::default(),
            tracked: Tracked::new(self.average_intervals as usize, tolerance, kept),
        })
        .into()
    }

    fn transport(&self) -> Option<Transport> {
        Some(Transport::Tcp)
    }

    fn load(&self, seconds: f64) -> Load {
        let ways = self.ways().count() as f64;
        let loads = ways * f64::from(self.most_connections);
        let probed_s = (seconds - self.start_s).clamp(0.0, self.idle_s + self.limit_s);
        let foreign_per_s = self.probes_per_s / 2.0;
        let kept_s = probed_s.min(f64::from(self.average_intervals + 1) * self.interval_s);
        Load {
            connections: loads + foreign_per_s,
            opened: loads + foreign_per_s * probed_s,
            stream_bytes: f64::INFINITY,
            direction: self.direction.only(),
            kept_bytes: 200.0 * loads + 32.0 * foreign_per_s * kept_s,
            ..Load::default()
        }
    }

    fn quality(&self) -> Quality {
        Quality::Responsiveness
    }

    fn check(&self) -> Faults {
        let [most, first] = [self.most_connections, self.connections].map(f64::from);
        let mut faults = Faults::default();
        faults.add(at_least(("most_connections", most), ("connections", first)));
        if let Some(transport) = self.tcp.transport {
            let found = if transport == Transport::Quic { "quic" } else { "tcp" };
            faults.add(Fault::found("tcp.transport", found, "left out, since the test uses TCP"));
        }
        faults
    }
}

/// What a test does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Before,
    Idle,
    Load,
    Over,
}

/// A connection that loads the line.
struct LoadConnection {
    way: Direction,
    id: Option<ConnectionId>,
    /// Its handshake is over.
    is_ready: bool,
    probes: u32,
}

/// A foreign probe: its connection, when its last step began, and what the steps before took in ms.
struct Foreign {
    id: Option<ConnectionId>,
    since: Time,
    steps_ms: Vec<f64>,
}

/// A test in operation.
pub struct Responsiveness {
    server: u16,
    ways: Vec<Direction>,
    first: u32,
    added: u32,
    most: u32,
    interval: Time,
    kept: f64,
    most_rate: f64,
    probe_share: f64,
    unsent: Time,
    from: Time,
    load_from: Time,
    until: Time,
    stage: Stage,
    /// By tag.
    loads: Vec<LoadConnection>,
    /// Those that have not been answered, by tag.
    foreign: BTreeMap<u32, Foreign>,
    /// When each probe on a loaded connection was asked, by its tag and stream.
    asked: BTreeMap<(u32, u32), Time>,
    foreign_opened: u32,
    next_interval: Time,
    next_probe: Time,
    probe_gap: Time,
    is_foreign_next: bool,
    /// Connections whose bytes are still to be counted at the end of an interval.
    uncounted: usize,
    /// Bytes that have come up and down, as they are counted, and at the end of the interval before.
    carried: [u64; 2],
    counted: [u64; 2],
    counted_at: Time,
    /// Times of probes before the load, and in this interval.
    idle: Times,
    current: Times,
    tracked: Tracked,
}

impl Responsiveness {
    /// Does all that is due by now.
    fn act(&mut self, context: &mut AppContext) {
        let now = context.now;
        if self.stage == Stage::Before {
            self.stage = Stage::Idle;
            self.next_probe = now;
        }
        if self.stage == Stage::Idle && now >= self.load_from {
            self.begin_load(context);
        }
        if self.stage == Stage::Load && now >= self.until {
            return self.end(context);
        }
        if now >= self.next_probe {
            self.probe(context);
        }
        if now >= self.next_interval {
            self.next_interval += self.interval;
            self.count(context);
        }
        self.sleep(context);
    }

    fn sleep(&self, context: &mut AppContext) {
        let stage_ends = if self.stage == Stage::Idle { self.load_from } else { self.until };
        context.ask(Command::Wake(self.next_probe.min(self.next_interval).min(stage_ends)));
    }

    fn begin_load(&mut self, context: &mut AppContext) {
        self.stage = Stage::Load;
        self.next_probe = Time::NEVER;
        self.next_interval = self.load_from + self.interval;
        self.cut_probes(context);
        self.add_load(self.first, context);
    }

    fn add_load(&mut self, more: u32, context: &mut AppContext) {
        let in_each = self.loads.len() / self.ways.len();
        for _ in 0..more.min(self.most - in_each as u32) {
            for way in self.ways.clone() {
                let tag = self.loads.len() as u32;
                self.loads.push(LoadConnection { way, id: None, is_ready: false, probes: 0 });
                self.open(tag, context);
            }
        }
    }

    fn open(&self, tag: u32, context: &mut AppContext) {
        let (server, over, unsent) = (self.server, Transport::Tcp, Some(self.unsent));
        context.ask(Command::OpenStreams { server, tag, over, is_resumed: false, unsent });
    }

    fn probe(&mut self, context: &mut AppContext) {
        if self.stage == Stage::Idle || self.is_foreign_next {
            self.probe_by_own(context);
        } else {
            self.probe_on_load(context);
        }
        self.is_foreign_next = !self.is_foreign_next;
        // Without a load they follow each other, so that none meets another one.
        self.next_probe = match self.stage {
            Stage::Idle => Time::NEVER,
            _ => context.now + self.probe_gap,
        };
    }

    fn probe_by_own(&mut self, context: &mut AppContext) {
        let tag = FOREIGN + self.foreign_opened % FOREIGN;
        self.foreign_opened += 1;
        if let Some(Foreign { id: Some(id), .. }) = self.foreign.remove(&tag) {
            context.ask(Command::Abort(id)); // not answered for so long
        }
        let steps_ms = Vec::with_capacity(3);
        self.foreign.insert(tag, Foreign { id: None, since: context.now, steps_ms });
        self.open(tag, context);
    }

    fn probe_on_load(&mut self, context: &mut AppContext) {
        let mut ready = self.loads.iter_mut().enumerate().filter(|(_, load)| load.is_ready);
        let count = ready.by_ref().count() as u64;
        if count == 0 {
            return;
        }
        let chosen = context.rng.below(count) as usize;
        let mut ready = self.loads.iter_mut().enumerate().filter(|(_, load)| load.is_ready);
        let Some((tag, load)) = ready.nth(chosen) else { return };
        load.probes += 1;
        self.asked.insert((tag as u32, load.probes), context.now);
        if let Some(id) = load.id {
            write(id, End::Home, load.probes, REQUEST, context);
        }
    }

    /// Asks how many bytes each connection has carried.
    fn count(&mut self, context: &mut AppContext) {
        self.carried = [0; 2];
        for load in &self.loads {
            let receiver = End::sending(load.way.reversed());
            let count = load.id.map(|id| Command::ReadReceived(id, receiver));
            self.uncounted += usize::from(count.is_some());
            count.into_iter().for_each(|count| context.ask(count));
        }
    }

    fn is_counted(&mut self, tag: u32, bytes: u64, context: &mut AppContext) {
        let Some(load) = self.loads.get(tag as usize) else { return };
        self.carried[load.way as usize] += bytes;
        self.uncounted -= 1;
        if self.uncounted == 0 {
            self.interval_is_over(context);
        }
    }

    fn interval_is_over(&mut self, context: &mut AppContext) {
        let length = context.now.since(self.counted_at);
        let goodput = Direction::BOTH.map(|way| {
            let bytes = self.carried[way as usize] - self.counted[way as usize];
            self.ways.contains(&way).then(|| mbps(bytes, length))
        });
        (self.counted, self.counted_at) = (self.carried, context.now);
        let times = std::mem::take(&mut self.current);
        if self.tracked.interval(goodput, times) {
            return self.end(context);
        }
        self.add_load(self.added, context);
        let least_mbps = goodput.into_iter().flatten().fold(f64::INFINITY, f64::min);
        let allowed = self.probe_share * least_mbps * 1e6 / 8.0 / PROBE_BYTES;
        let gap_s = 1.0 / allowed.min(self.most_rate);
        self.probe_gap = if gap_s < 1e6 { Time::from_secs_f64(gap_s) } else { Time::NEVER };
        if self.next_probe == Time::NEVER && self.probe_gap < Time::NEVER {
            self.next_probe = context.now;
        }
        self.act(context);
    }

    /// Ends what has not been answered.
    fn cut_probes(&mut self, context: &mut AppContext) {
        let open = std::mem::take(&mut self.foreign).into_values().filter_map(|probe| probe.id);
        open.for_each(|id| context.ask(Command::Abort(id)));
        self.asked.clear();
    }

    fn end(&mut self, context: &mut AppContext) {
        self.stage = Stage::Over;
        (self.next_probe, self.next_interval) = (Time::NEVER, Time::NEVER);
        self.cut_probes(context);
        let open = self.loads.iter_mut().filter_map(|load| load.id.take());
        open.for_each(|id| context.ask(Command::Abort(id)));
        context.ask(Command::Wake(Time::NEVER));
    }

    fn on_opening(&mut self, tag: u32, id: ConnectionId, context: &mut AppContext) {
        let own = match tag {
            FOREIGN.. => self.foreign.get_mut(&tag).map(|probe| &mut probe.id),
            _ => self.loads.get_mut(tag as usize).map(|load| &mut load.id),
        };
        if let Some(own) = own {
            *own = Some(id);
            write(id, End::Home, HELLO, tls::CLIENT_HELLO, context);
        }
    }

    /// A step of a foreign probe is over; the third one is its last.
    fn step(&mut self, tag: u32, context: &mut AppContext) {
        let Some(probe) = self.foreign.get_mut(&tag) else { return };
        probe.steps_ms.push(context.now.since(probe.since).ms_f64());
        probe.since = context.now;
        let [tcp, tls, http] = probe.steps_ms[..] else { return };
        let times = if self.stage == Stage::Idle { &mut self.idle } else { &mut self.current };
        times.foreign.iter_mut().zip([tcp, tls, http]).for_each(|(of, ms)| of.push(ms));
        let Some(Foreign { id: Some(id), .. }) = self.foreign.remove(&tag) else { return };
        context.ask(Command::Close(id, End::Server));
        context.ask(Command::Close(id, End::Home));
        if self.stage == Stage::Idle {
            self.next_probe = context.now;
            self.sleep(context);
        }
    }

    /// A message has come to the server.
    fn at_server(&self, tag: u32, id: ConnectionId, stream: u32, context: &mut AppContext) {
        let is_load = self.loads.get(tag as usize).is_some();
        match stream {
            HELLO => write(id, End::Server, FLIGHT, tls::SERVER_FLIGHT, context),
            FINISHED => {}
            LOAD if is_load => write(id, End::Server, LOAD, ENDLESS, context),
            _ => write(id, End::Server, stream, ANSWER, context),
        }
    }

    /// A message has come to the home.
    fn at_home(&mut self, tag: u32, id: ConnectionId, stream: u32, context: &mut AppContext) {
        if stream == FLIGHT {
            write(id, End::Home, FINISHED, tls::FINISHED, context);
            let bytes = match self.loads.get_mut(tag as usize) {
                Some(load) => {
                    load.is_ready = true;
                    load.way.pick(ENDLESS, REQUEST)
                }
                None => REQUEST,
            };
            write(id, End::Home, LOAD, bytes, context);
        } else if let Some(asked) = self.asked.remove(&(tag, stream)) {
            return self.current.loaded.push(context.now.since(asked).ms_f64());
        }
        self.step(tag, context);
    }
}

/// Sends a message of a stream. All are as urgent, and the load takes turns with them (§5.3: no priorities).
fn write(id: ConnectionId, end: End, stream: u32, bytes: u64, context: &mut AppContext) {
    context.ask(Command::Write(id, end, Message { stream, bytes, urgency: 3, incremental: true }));
}

impl Model for Responsiveness {
    fn start(&self, _rng: &mut Rng) -> Time {
        self.from
    }

    fn on_event(&mut self, event: Event, context: &mut AppContext) {
        match event {
            _ if self.stage == Stage::Over => {}
            Event::Timer => self.act(context),
            Event::Opening(tag, id) => self.on_opening(tag, id, context),
            Event::Established(tag, _) => self.step(tag, context),
            Event::Message(tag, id, End::Server, stream) => {
                self.at_server(tag, id, stream, context);
            }
            Event::Message(tag, id, End::Home, stream) => self.at_home(tag, id, stream, context),
            Event::Carried(tag, bytes) => self.is_counted(tag, bytes, context),
            Event::Received(..)
            | Event::Acknowledged(..)
            | Event::Datagram(_)
            | Event::Shapers(_) => {}
        }
    }

    fn done(&self, _now: Time) -> Done {
        let current = Some(&self.current).filter(|_| self.stage != Stage::Over);
        let mut responded = self.tracked.result(current);
        let of = |value: f64| Mean { count: 1.0, sum: value };
        responded.rpm_before_load =
            rpm_before_load(&self.idle, self.kept).map_or(Mean::default(), of);
        for way in &self.ways {
            responded.mbps[*way as usize] = of(self.tracked.goodput_mbps(*way as usize));
        }
        responded.connections = of((self.loads.len() / self.ways.len()) as f64);
        Done { responded: Some(responded), ..Done::default() }
    }

    fn is_under_way(&self, _now: Time) -> bool {
        self.stage == Stage::Load
    }
}
