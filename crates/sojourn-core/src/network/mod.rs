//! The path: its stages in the order a packet meets them, one match, one loop.
//!
//! ```text
//!  home                                                                     servers
//!  apps, TCP ──> modem ──(cable)──> up link of the server ──────────────> TCP, apps
//!      ^   queue, shaper, MAC                                                  │
//!      └──(cable) <── downstream at the CMTS <── down link of the server <─────┘
//!                     queue, shaper
//! ```
//!
//! Every stage has three verbs: accept a packet, say when it next wants to be woken, wake. The loop
//! wakes the stage that is due and hands what comes out of it to the next one. At equal times the
//! stage that stands first in [`Stage`]'s order is woken first.

mod connections;
mod report;

use crate::apps::{App, AppParameters, Command, ConnectionId, Desk, End, Event, Model};
use crate::docsis::{ShapedLink, Upstream};
use crate::engine::rng::Rng;
use crate::engine::wake::{StageId, Wake};
use crate::link::Link;
use crate::metrics::results::Results;
use crate::metrics::{Count, Ledger};
use crate::packet::{DATAGRAM, Direction, Ecn, Packet, Segment};
use crate::scenario::Scenario;
use crate::scenario::schema::Server;
use crate::tcp::cc::Window;
use crate::tcp::{Config, News};
use crate::units::{BitRate, Time};
use connections::{Connection, Connections};

/// What can be woken. Stages are numbered in this order, which decides who is first at equal times;
/// the timers of connections come after all of them.
#[derive(Clone, Copy, Debug)]
enum Stage {
    /// Takes the samples of all series.
    Sampler,
    /// The modem, or the link in its place.
    Upstream,
    /// The link from the CMTS to a server.
    UpLink(u16),
    /// The link from a server to the CMTS.
    DownLink(u16),
    /// The downstream at the CMTS.
    Downstream,
    /// The cable down to the home.
    Cable,
    /// A traffic model's timer.
    App(u16),
}

/// A traffic model with what belongs to it.
struct Player {
    app: App,
    rng: Rng,
    /// Draws the address and port hashes of its connections.
    ports: Rng,
    /// Hash of its datagrams, up and down.
    datagram_tuples: [u32; 2],
    datagrams_sent: u64,
    config: Config,
}

/// A run: the network, the people, and the books.
pub struct Simulation {
    now: Time,
    end: Time,
    wake: Wake,
    /// The timers of connections, two to a slot: there are many and they are rarely due, so they
    /// have a tournament of their own.
    timers: Wake,
    stages: Vec<Stage>,
    events: u64,
    fingerprint: u64,

    players: Vec<Player>,
    connections: Connections,
    upstream: Upstream,
    cable_delay: Time,
    up_links: Vec<Link>,
    down_links: Vec<Link>,
    downstream: ShapedLink,
    cable: Link,

    ledger: Ledger,
    sample_interval: Time,
    /// What apps are to be told, and what they asked for: empty between events.
    to_tell: Vec<(u16, Event)>,
    commands: Vec<Command>,
    scenario: Scenario,
}

const SAMPLER: StageId = 0;
const UPSTREAM: StageId = 1;

impl Simulation {
    /// A run of this scenario, which has been checked by [`crate::scenario::load`], at time zero.
    pub fn new(scenario: &Scenario) -> Self {
        let s = scenario;
        let cable_delay = Time::from_secs_f64(s.cable.delay_ms / 1e3);
        let mut simulation = Self {
            now: Time::ZERO,
            end: Time::from_secs_f64(s.duration_s),
            wake: Wake::new(2),
            timers: Wake::new(64),
            stages: Vec::new(),
            events: 0,
            fingerprint: 0,
            players: s.traffic.keys().map(|name| player(s, name)).collect(),
            connections: Connections::default(),
            upstream: Upstream::new(&s.upstream, s.dialect, s.seed),
            cable_delay,
            up_links: server_links(s, Direction::Up),
            down_links: server_links(s, Direction::Down),
            downstream: ShapedLink::downstream(&s.downstream, s.dialect, s.seed),
            cable: Link::new(None, cable_delay),
            ledger: Ledger::of(s),
            sample_interval: Time::from_secs_f64(s.metrics.series_interval_ms / 1e3),
            to_tell: Vec::new(),
            commands: Vec::new(),
            scenario: scenario.clone(),
        };
        let names: Vec<&str> = s.traffic.keys().map(String::as_str).collect();
        let watch_flows = s.metrics.watch_flows as usize;
        simulation.upstream.name_traffic(&names, watch_flows);
        simulation.downstream.name_traffic(&names, watch_flows);
        simulation.number_stages();
        simulation.start_apps();
        simulation
    }

    fn number_stages(&mut self) {
        let servers = self.up_links.len() as u16;
        let players = self.players.len() as u16;
        self.stages = [Stage::Sampler, Stage::Upstream].into();
        self.stages.extend((0..servers).map(Stage::UpLink));
        self.stages.extend((0..servers).map(Stage::DownLink));
        self.stages.extend([Stage::Downstream, Stage::Cable]);
        self.stages.extend((0..players).map(Stage::App));
        self.wake.grow(self.stages.len());
    }

    fn up_link_stage(&self, server: u16) -> StageId {
        UPSTREAM + 1 + StageId::from(server)
    }

    fn down_link_stage(&self, server: u16) -> StageId {
        self.up_link_stage(server) + self.up_links.len() as StageId
    }

    fn downstream_stage(&self) -> StageId {
        self.down_link_stage(0) + self.down_links.len() as StageId
    }

    fn cable_stage(&self) -> StageId {
        self.downstream_stage() + 1
    }

    fn app_stage(&self, app: u16) -> StageId {
        self.cable_stage() + 1 + StageId::from(app)
    }

    fn start_apps(&mut self) {
        self.wake.set(SAMPLER, self.sample_interval);
        for app in 0..self.players.len() as u16 {
            let player = &mut self.players[usize::from(app)];
            let at = player.app.start(&mut player.rng);
            self.wake.set(self.app_stage(app), at);
        }
        self.schedule_upstream();
        self.schedule_downstream();
    }

    /// Simulated time reached.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The congestion window of an end of the connection in a slot, if one has been opened there.
    pub fn window(&self, slot: u32, end: End) -> Option<Window> {
        self.connections.get(slot).map(|connection| connection.ends[end as usize].window())
    }

    /// Handles up to `events` wake-ups; says whether the run goes on.
    pub fn advance(&mut self, events: u64) -> bool {
        for _ in 0..events {
            let (at, stage) = self.wake.next();
            let (timer_at, timer) = self.timers.next();
            let due = at.min(timer_at);
            if due > self.end {
                self.now = self.end;
                return false;
            }
            debug_assert!(due >= self.now, "time runs backwards");
            self.now = due;
            self.events += 1;
            if at <= timer_at {
                self.fingerprint = mix(self.fingerprint, at, stage);
                self.wake_stage(self.stages[stage as usize]);
            } else {
                self.fingerprint = mix(self.fingerprint, timer_at, !timer);
                self.on_timer(timer);
            }
        }
        true
    }

    /// Runs to the end.
    pub fn run(scenario: &Scenario) -> Results {
        let mut simulation = Self::new(scenario);
        while simulation.advance(u64::MAX) {}
        simulation.finish()
    }

    fn wake_stage(&mut self, stage: Stage) {
        let now = self.now;
        match stage {
            Stage::Upstream => {
                let sent = self.upstream.wake(now, &mut self.ledger);
                self.onto_up_link(sent);
            }
            Stage::UpLink(server) => {
                let link = &mut self.up_links[usize::from(server)];
                let packet = link.wake();
                self.wake.set(UPSTREAM + 1 + StageId::from(server), link.next_wake());
                packet.into_iter().for_each(|packet| self.arrive(End::Server, packet));
            }
            Stage::DownLink(server) => {
                let packet = self.down_links[usize::from(server)].wake();
                self.schedule_down_link(server);
                if let Some(packet) = packet {
                    let sent = self.downstream.accept(now, packet, &mut self.ledger);
                    self.onto_cable(sent);
                }
            }
            Stage::Downstream => {
                let sent = self.downstream.wake(now, &mut self.ledger);
                self.onto_cable(sent);
            }
            Stage::Cable => {
                let packet = self.cable.wake();
                self.wake.set(self.cable_stage(), self.cable.next_wake());
                packet.into_iter().for_each(|packet| self.arrive(End::Home, packet));
            }
            Stage::App(app) => {
                self.wake.set(self.app_stage(app), Time::NEVER);
                self.tell(app, Event::Timer);
            }
            Stage::Sampler => self.sample(),
        }
    }

    fn schedule_upstream(&mut self) {
        self.wake.set(UPSTREAM, self.upstream.next_wake());
    }

    fn schedule_downstream(&mut self) {
        self.wake.set(self.downstream_stage(), self.downstream.next_wake());
    }

    /// What the CMTS sends, if it does, and when its last byte leaves there.
    fn onto_cable(&mut self, sent: Option<(Time, Packet)>) {
        if let Some((at, packet)) = sent {
            self.cable.accept(at, packet, &mut self.ledger);
            self.wake.set(self.cable_stage(), self.cable.next_wake());
        }
        self.schedule_downstream();
    }

    fn schedule_down_link(&mut self, server: u16) {
        let at = self.down_links[usize::from(server)].next_wake();
        self.wake.set(self.down_link_stage(server), at);
    }

    /// What the home sends, if it does, and when its last byte leaves there. The cable's delay is the
    /// same for all packets, so it can be added before the link's.
    fn onto_up_link(&mut self, sent: Option<(Time, Packet)>) {
        if let Some((at, packet)) = sent {
            let server = packet.server;
            let link = &mut self.up_links[usize::from(server)];
            link.accept(at + self.cable_delay, packet, &mut self.ledger);
            let at = link.next_wake();
            self.wake.set(self.up_link_stage(server), at);
        }
        self.schedule_upstream();
    }

    /// A packet sets out from its sender.
    fn send(&mut self, packet: Packet) {
        self.ledger.sent(&packet);
        match packet.direction {
            Direction::Up => {
                let sent = self.upstream.accept(self.now, packet, &mut self.ledger);
                self.onto_up_link(sent);
            }
            Direction::Down => {
                let server = packet.server;
                let link = &mut self.down_links[usize::from(server)];
                link.accept(self.now, packet, &mut self.ledger);
                self.schedule_down_link(server);
            }
        }
    }

    /// A packet has come to the end it was for.
    fn arrive(&mut self, end: End, packet: Packet) {
        self.ledger.delivered(self.now, &packet);
        if packet.flow == DATAGRAM {
            self.ledger.received(&packet, u64::from(packet.size));
            return;
        }
        let connection = self.connections.get_mut(packet.flow);
        if connection.generation != packet.generation {
            return; // a late packet of a connection that is closed
        }
        let config = &self.players[usize::from(packet.traffic)].config;
        let endpoint = &mut connection.ends[end as usize];
        let news =
            endpoint.on_segment(self.now, &packet.segment, packet.sent_at, packet.ecn, config);
        if news.received_bytes > 0 {
            self.ledger.received(&packet, news.received_bytes);
        }
        if news.rtt > Time::ZERO {
            self.ledger.round_trip(&packet, news.rtt);
        }
        // FullTcp tells the application first, and the acknowledgement rides on its answer (tcp-full.cc
        // `recv`).
        let app_first = config.is_full();
        if !app_first {
            self.pump(packet.flow, end);
        }
        let News { received_bytes, rtt, .. } = news;
        if news != (News { received_bytes, rtt, ..News::default() }) {
            self.pass_on(packet.flow, end, &news);
        }
        let id = ConnectionId { slot: packet.flow, generation: packet.generation };
        if app_first && self.connections.current(id).is_some() {
            self.pump(packet.flow, end);
        }
        self.release_if_done(packet.flow, packet.generation);
    }

    /// Sends all that an end of a connection wants to send now, and sets its timer.
    fn pump(&mut self, slot: u32, end: End) {
        let app = self.connections.get_mut(slot).app;
        loop {
            let config = &self.players[usize::from(app)].config;
            let connection = self.connections.get_mut(slot);
            let Some(departure) = connection.ends[end as usize].poll(self.now, config) else {
                break;
            };
            let packet = connection.packet(self.now, slot, end, departure);
            self.send(packet);
        }
        let at = self.connections.get_mut(slot).ends[end as usize].deadline();
        self.timers.set_no_later(timer_of(slot, end), at);
    }

    /// The timer of an end may have been set later since; if so, this only sets it anew.
    fn on_timer(&mut self, timer: StageId) {
        self.timers.set(timer, Time::NEVER);
        let (slot, end) =
            (timer / 2, if timer.is_multiple_of(2) { End::Home } else { End::Server });
        let connection = self.connections.get_mut(slot);
        let config = &self.players[usize::from(connection.app)].config;
        let endpoint = &mut connection.ends[end as usize];
        if endpoint.deadline() <= self.now {
            endpoint.on_timer(self.now, config);
        }
        self.pump(slot, end);
    }

    /// Tells the app of a connection what a segment brought about.
    fn pass_on(&mut self, slot: u32, end: End, news: &News) {
        let Connection { app, tag, .. } = *self.connections.get_mut(slot);
        let id = self.connections.id(slot);
        if news.established && end == End::Home {
            self.to_tell.push((app, Event::Established(tag, id)));
        }
        if news.received_all {
            self.to_tell.push((app, Event::Received(tag, id, end)));
        }
        if news.acknowledged_all {
            self.to_tell.push((app, Event::Acknowledged(tag, id, end)));
        }
        self.tell_all();
    }

    fn tell(&mut self, app: u16, event: Event) {
        self.to_tell.push((app, event));
        self.tell_all();
    }

    /// Tells apps what there is to tell, and carries out what they ask for, until all is quiet.
    fn tell_all(&mut self) {
        while let Some((app, event)) = self.to_tell.pop() {
            let mut commands = std::mem::take(&mut self.commands);
            let player = &mut self.players[usize::from(app)];
            let mut desk = Desk { now: self.now, rng: &mut player.rng, commands: &mut commands };
            player.app.on_event(event, &mut desk);
            for command in commands.drain(..) {
                self.carry_out(app, command);
            }
            self.commands = commands;
        }
    }

    fn carry_out(&mut self, app: u16, command: Command) {
        match command {
            Command::Open { server, tag } => self.open(app, server, tag),
            Command::Send(id, end, bytes) => {
                if let Some(connection) = self.connections.current(id) {
                    connection.ends[end as usize].send(bytes);
                    self.pump(id.slot, end);
                }
            }
            Command::Expect(id, end, bytes) => {
                if let Some(connection) = self.connections.current(id) {
                    connection.ends[end as usize].expect(bytes);
                }
            }
            Command::Close(id, end) => {
                if let Some(connection) = self.connections.current(id) {
                    connection.ends[end as usize].close();
                    self.pump(id.slot, end);
                }
            }
            Command::Abort(id) => {
                if self.connections.current(id).is_some() {
                    self.release(id.slot);
                }
            }
            Command::Datagram { server, direction, size } => {
                self.send_datagram(app, server, direction, size);
            }
            Command::Wake(at) => self.wake.set(self.app_stage(app), at),
        }
    }

    fn open(&mut self, app: u16, server: u16, tag: u32) {
        let player = &mut self.players[usize::from(app)];
        let tuples = [player.ports.bits() as u32, player.ports.bits() as u32];
        let (id, is_new) =
            self.connections.open(Connection::new(app, server, tag, tuples, &player.config));
        if is_new {
            self.timers.grow(2 * (id.slot as usize + 1));
        }
        self.ledger.opened(self.now, id.slot, id.generation, app);
        self.to_tell.push((app, Event::Opening(tag, id)));
        self.pump(id.slot, End::Home);
    }

    /// The app may have cut the connection, and then it is released already.
    fn release_if_done(&mut self, slot: u32, generation: u16) {
        let id = ConnectionId { slot, generation };
        if self.connections.current(id).is_some_and(|connection| connection.is_done()) {
            self.release(slot);
        }
    }

    fn release(&mut self, slot: u32) {
        let connection = self.connections.get_mut(slot);
        self.ledger.settle(slot, connection.app, connection.tallies(), Some(self.now));
        self.connections.release(slot);
        for end in [End::Home, End::Server] {
            self.timers.set(timer_of(slot, end), Time::NEVER);
        }
    }

    fn send_datagram(&mut self, app: u16, server: u16, direction: Direction, size: u16) {
        let player = &mut self.players[usize::from(app)];
        let seq = player.datagrams_sent;
        player.datagrams_sent += 1;
        let packet = Packet {
            sent_at: self.now,
            queued_at: self.now,
            segment: Segment { seq, ..Segment::default() },
            tuple: player.datagram_tuples[direction as usize],
            flow: DATAGRAM,
            generation: 0,
            traffic: app,
            server,
            size,
            direction,
            ecn: Ecn::NotEct,
        };
        self.send(packet);
    }

    fn sample(&mut self) {
        self.upstream.sample(self.now);
        self.downstream.sample();
        self.ledger.sample(self.now, self.sample_interval);
        self.wake.set(SAMPLER, self.now + self.sample_interval);
    }

    /// What all stages hold.
    fn inside(&self) -> Count {
        let links = self.up_links.iter().chain(&self.down_links).chain([&self.cable]);
        links
            .map(Link::inside)
            .chain([self.upstream.inside(), self.downstream.inside()])
            .fold(Count::default(), Count::plus)
    }

    /// Closes the books and gives the results.
    ///
    /// # Panics
    /// If a packet was lost or doubled on the way.
    pub fn finish(mut self) -> Results {
        self.ledger.assert_conserved(self.inside());
        for (slot, connection) in self.connections.open_ones() {
            self.ledger.settle(slot, connection.app, connection.tallies(), None);
        }
        let packets = self.ledger.take_trace();
        report::results(&self, packets)
    }
}

/// The links of all servers, one way.
fn server_links(scenario: &Scenario, way: Direction) -> Vec<Link> {
    let link = |(name, server): (&String, &Server)| {
        let rate = BitRate::from_mbps(server.rate_mbps);
        let losses = Rng::named(scenario.seed, &format!("losses {} {name}", way.name()));
        Link::new(Some(rate), Time::from_secs_f64(server.delay_ms / 1e3))
            .losing(server.loss_percent / 100.0, losses)
    };
    scenario.servers.iter().map(link).collect()
}

fn player(scenario: &Scenario, name: &str) -> Player {
    let spec = &scenario.traffic[name];
    let server = |name: &str| scenario.servers.get_index_of(name).unwrap_or_default() as u16;
    let mut ports = Rng::named(scenario.seed, &format!("ports of {name}"));
    Player {
        app: spec.start(&server),
        rng: Rng::named(scenario.seed, &format!("traffic {name}")),
        datagram_tuples: [ports.bits() as u32, ports.bits() as u32],
        datagrams_sent: 0,
        ports,
        config: spec.tcp_config(&scenario.tcp, scenario.dialect),
    }
}

/// The number of the timer of an end of a connection.
fn timer_of(slot: u32, end: End) -> StageId {
    2 * slot + end as StageId
}

/// Folds an event into the fingerprint of the run.
#[inline]
fn mix(fingerprint: u64, at: Time, stage: StageId) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    (fingerprint.rotate_left(5) ^ at.ps() ^ u64::from(stage) << 48).wrapping_mul(ODD)
}
