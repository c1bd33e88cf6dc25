//! The path: its stages in the order a packet meets them, one match, one loop.
//!
//! ```text
//!  home                                                                     servers
//!  apps, TCP ──> modem ──(cable)──> up link of the server ──────────────> TCP, apps
//!      ^   queue, shaper, MAC                                                  │
//!      └──(cable) <── downstream at the CMTS <── down link of the server <─────┘
//!                     queue, shaper, or the queue and channel that all homes share
//! ```
//!
//! Every stage has three verbs: accept a packet, say when it next wants to be woken, wake. The loop
//! wakes the stage that is due and hands what comes out of it to the next one. At equal times the
//! stage that stands first in [`Stage`]'s order is woken first.

mod connections;
mod homes;
mod players;
mod report;

use crate::apps::{Command, ConnectionId, Desk, End, Event, Model};
use crate::docsis::{Cmts, Downstream, MacCounters, SharedChannel};
use crate::engine::rng::Rng;
use crate::engine::wake::{StageId, Wake};
use crate::link::Link;
use crate::metrics::modem_trace::ModemTrace;
use crate::metrics::results::Results;
use crate::metrics::{Count, Ledger};
use crate::packet::{DATAGRAM, Direction, Ecn, Packet, Segment};
use crate::queue::{Beyond, Queue};
use crate::scenario::Scenario;
use crate::scenario::homes::Protocol;
use crate::scenario::schema::Server;
use crate::tcp::cc::Window;
use crate::tcp::{Config, News};
use crate::units::{BitRate, Time};
use connections::{Connection, Connections, Owner, Route};
use homes::{Home, homes};
use players::{Player, classify, home_port, players};

/// What can be woken. Stages are numbered in this order, which decides who is first at equal times;
/// the timers of connections come after all of them.
#[derive(Clone, Copy, Debug)]
enum Stage {
    /// Takes the samples of all series.
    Sampler,
    /// A service flow of a home's modem, or the link in its place.
    Upstream(Flow),
    /// The upstream channel that modems share.
    Channel,
    /// The link from the CMTS to a server.
    UpLink(u16),
    /// The link from a server to the CMTS.
    DownLink(u16),
    /// A service flow of a home at the CMTS.
    Downstream(Flow),
    /// The downstream channel that all homes share.
    Cmts,
    /// The cable down to the homes.
    Cable,
    /// A traffic model's timer.
    App(u32),
}

/// One of the service flows of a home in a direction.
#[derive(Clone, Copy, Debug)]
struct Flow {
    home: u16,
    number: u8,
}

impl Flow {
    /// The one that a packet takes.
    fn of(packet: &Packet) -> Self {
        Self { home: packet.home, number: packet.service_flow }
    }
}

/// The number of the first stage of each kind.
#[derive(Clone, Copy, Default)]
struct Numbers {
    channel: StageId,
    up_links: StageId,
    down_links: StageId,
    cmts: StageId,
    cable: StageId,
    apps: StageId,
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
    /// TCP of each traffic entry.
    configs: Vec<Config>,
    connections: Connections,
    homes: Vec<Home>,
    cmts: Option<Cmts>,
    /// The upstream channel of those modems that share one.
    channel: Option<SharedChannel>,
    cable_delay: Time,
    up_links: Vec<Link>,
    down_links: Vec<Link>,
    cable: Link,
    numbers: Numbers,

    ledger: Ledger,
    sample_interval: Time,
    /// What apps are to be told, and what they asked for: empty between events.
    to_tell: Vec<(u32, Event)>,
    commands: Vec<Command>,
    scenario: Scenario,
}

const SAMPLER: StageId = 0;

impl Simulation {
    /// A run of this scenario, which has been checked by [`crate::scenario::load`], at time zero.
    pub fn new(scenario: &Scenario) -> Self {
        let s = scenario;
        let cable_delay = Time::from_secs_f64(s.cable.delay_ms / 1e3);
        let (homes, channel) = homes(s);
        let mut simulation = Self {
            now: Time::ZERO,
            end: Time::from_secs_f64(s.duration_s),
            wake: Wake::new(2),
            timers: Wake::new(64),
            stages: Vec::new(),
            events: 0,
            fingerprint: 0,
            players: players(s),
            configs: s
                .traffic
                .values()
                .map(|entry| entry.app.tcp_config(&s.tcp, s.dialect))
                .collect(),
            connections: Connections::default(),
            homes,
            channel,
            cmts: s.cmts.as_ref().map(|spec| Cmts::new(spec, s)),
            cable_delay,
            up_links: server_links(s, Direction::Up),
            down_links: server_links(s, Direction::Down),
            cable: Link::new(None, cable_delay),
            numbers: Numbers::default(),
            ledger: Ledger::of(s),
            sample_interval: Time::from_secs_f64(s.metrics.series_interval_ms / 1e3),
            to_tell: Vec::new(),
            commands: Vec::new(),
            scenario: scenario.clone(),
        };
        simulation.number_stages();
        simulation.start_apps();
        simulation
    }

    fn number_stages(&mut self) {
        let servers = 0..self.up_links.len() as u16;
        self.stages = [Stage::Sampler].into();
        self.number_flows(Direction::Up);
        self.numbers.channel = self.stages.len() as StageId;
        self.stages.extend(self.channel.as_ref().map(|_| Stage::Channel));
        self.numbers.up_links = self.stages.len() as StageId;
        self.stages.extend(servers.clone().map(Stage::UpLink));
        self.numbers.down_links = self.stages.len() as StageId;
        self.stages.extend(servers.map(Stage::DownLink));
        self.number_flows(Direction::Down);
        self.numbers.cmts = self.stages.len() as StageId;
        self.stages.extend(self.cmts.iter().map(|_| Stage::Cmts));
        self.numbers.cable = self.stages.len() as StageId;
        self.stages.push(Stage::Cable);
        self.numbers.apps = self.stages.len() as StageId;
        self.stages.extend((0..self.players.len() as u32).map(Stage::App));
        self.wake.grow(self.stages.len());
    }

    /// Numbers the service flows of all homes in a direction, in the homes' order.
    fn number_flows(&mut self, direction: Direction) {
        for (index, home) in self.homes.iter_mut().enumerate() {
            home.stages[direction as usize] = self.stages.len() as StageId;
            let (flows, stage): (_, fn(Flow) -> Stage) = match direction {
                Direction::Up => (home.subscriber.upstream.len(), Stage::Upstream),
                Direction::Down => (home.subscriber.downstream.len(), Stage::Downstream),
            };
            let flow = |number| Flow { home: index as u16, number };
            self.stages.extend((0..flows as u8).map(|number| stage(flow(number))));
        }
    }

    fn start_apps(&mut self) {
        self.wake.set(SAMPLER, self.sample_interval);
        for app in 0..self.players.len() as u32 {
            let player = &mut self.players[app as usize];
            let at = player.app.start(&mut player.rng);
            self.wake.set(self.numbers.apps + app, at);
        }
        for stage in 0..self.stages.len() {
            match self.stages[stage] {
                Stage::Upstream(flow) => self.schedule_upstream(flow),
                Stage::Channel => self.schedule_channel(),
                Stage::Downstream(flow) => self.schedule_downstream(flow),
                Stage::Cmts => self.schedule_cmts(),
                _ => {}
            }
        }
    }

    /// What a user must know before the run: settings that do nothing, promises that cannot be kept.
    pub fn warnings(&self) -> Vec<String> {
        report::service_flows::warnings(self)
    }

    /// Simulated time reached.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The congestion window of an end of the connection in a slot, if one has been opened there.
    pub fn window(&self, slot: u32, end: End) -> Option<Window> {
        self.connections.get(slot).map(|connection| connection.ends[end as usize].window())
    }

    /// Packets with payload, and datagrams, that have been delivered.
    pub fn forwarded_packets(&self) -> u64 {
        self.ledger.data_packets()
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
            Stage::Upstream(flow) => {
                let upstream = &mut self.homes[usize::from(flow.home)].subscriber.upstream;
                let sent = upstream[usize::from(flow.number)].wake(now, &mut self.ledger);
                self.onto_up_link(flow, sent);
            }
            Stage::Channel => {
                let packet = self.channel.as_mut().and_then(|c| c.wake(now, &mut self.ledger));
                self.schedule_channel();
                packet.into_iter().for_each(|packet| self.leave_home(now, packet));
            }
            Stage::UpLink(server) => {
                let packet = self.up_links[usize::from(server)].wake();
                self.schedule_up_link(server);
                packet.into_iter().for_each(|packet| self.arrive(End::Server, packet));
            }
            Stage::DownLink(server) => {
                let packet = self.down_links[usize::from(server)].wake();
                self.schedule_down_link(server);
                packet.into_iter().for_each(|packet| self.reach_cmts(packet));
            }
            Stage::Downstream(flow) => self.wake_downstream(flow),
            Stage::Cmts => {
                let cmts = self.cmts.as_mut();
                let sent = cmts.and_then(|cmts| cmts.wake(now, &mut self.ledger));
                self.onto_cable(sent);
                self.schedule_cmts();
            }
            Stage::Cable => {
                let packet = self.cable.wake();
                self.wake.set(self.numbers.cable, self.cable.next_wake());
                packet.into_iter().for_each(|packet| self.arrive(End::Home, packet));
            }
            Stage::App(app) => {
                self.wake.set(self.numbers.apps + app, Time::NEVER);
                self.tell(app, Event::Timer);
            }
            Stage::Sampler => self.sample(),
        }
    }

    fn schedule_upstream(&mut self, flow: Flow) {
        let home = &self.homes[usize::from(flow.home)];
        let at = home.subscriber.upstream[usize::from(flow.number)].next_wake();
        self.wake.set(home.stages[Direction::Up as usize] + StageId::from(flow.number), at);
    }

    fn schedule_channel(&mut self) {
        if let Some(channel) = &self.channel {
            self.wake.set(self.numbers.channel, channel.next_wake());
        }
    }

    fn schedule_downstream(&mut self, flow: Flow) {
        let home = &self.homes[usize::from(flow.home)];
        let at = home.subscriber.downstream[usize::from(flow.number)].next_wake();
        self.wake.set(home.stages[Direction::Down as usize] + StageId::from(flow.number), at);
    }

    fn schedule_cmts(&mut self) {
        if let Some(cmts) = &self.cmts {
            self.wake.set(self.numbers.cmts, cmts.next_wake());
        }
    }

    fn schedule_up_link(&mut self, server: u16) {
        let at = self.up_links[usize::from(server)].next_wake();
        self.wake.set(self.numbers.up_links + StageId::from(server), at);
    }

    fn schedule_down_link(&mut self, server: u16) {
        let at = self.down_links[usize::from(server)].next_wake();
        self.wake.set(self.numbers.down_links + StageId::from(server), at);
    }

    /// A packet for a home comes to the CMTS.
    fn reach_cmts(&mut self, packet: Packet) {
        let (now, flow) = (self.now, Flow::of(&packet));
        self.ledger.reached_cmts(now, &packet);
        let downstream = &mut self.homes[usize::from(flow.home)].subscriber.downstream;
        match &mut downstream[usize::from(flow.number)] {
            Downstream::Link(link) => {
                let sent = link.accept(now, packet, &mut self.ledger);
                self.onto_cable(sent);
                self.schedule_downstream(flow);
            }
            Downstream::Regulator(regulator) => {
                regulator.accept(now, packet, &mut self.ledger);
                self.regulate(flow);
            }
            Downstream::Open => self.onto_channel(packet),
        }
    }

    fn wake_downstream(&mut self, flow: Flow) {
        let downstream = &mut self.homes[usize::from(flow.home)].subscriber.downstream;
        match &mut downstream[usize::from(flow.number)] {
            Downstream::Link(link) => {
                let sent = link.wake(self.now, &mut self.ledger);
                self.onto_cable(sent);
                self.schedule_downstream(flow);
            }
            Downstream::Regulator(regulator) => {
                regulator.update(self.now);
                self.regulate(flow);
            }
            Downstream::Open => {}
        }
    }

    /// Moves on to the shared channel what a regulator lets pass.
    fn regulate(&mut self, flow: Flow) {
        loop {
            let downstream = &mut self.homes[usize::from(flow.home)].subscriber.downstream;
            let Downstream::Regulator(regulator) = &mut downstream[usize::from(flow.number)] else {
                return;
            };
            let released = regulator.release(self.now, true, Beyond::default(), &mut self.ledger);
            let Some(packet) = released else { break };
            self.onto_channel(packet);
        }
        self.schedule_downstream(flow);
    }

    /// A packet comes to the channel that all homes share.
    fn onto_channel(&mut self, packet: Packet) {
        let cmts = self.cmts.as_mut().expect("packets come here only where there is one");
        let sent = cmts.accept(self.now, packet, &mut self.ledger);
        self.onto_cable(sent);
        self.schedule_cmts();
    }

    /// What the CMTS sends, if it does, and when its last byte leaves there.
    fn onto_cable(&mut self, sent: Option<(Time, Packet)>) {
        if let Some((at, packet)) = sent {
            self.ledger.passed(at, &packet);
            self.cable.accept_in_any_order(at, packet);
            self.wake.set(self.numbers.cable, self.cable.next_wake());
        }
    }

    /// What a home sends in a service flow, if it does, and when its last byte leaves there.
    fn onto_up_link(&mut self, flow: Flow, sent: Option<(Time, Packet)>) {
        if let Some((at, packet)) = sent {
            self.leave_home(at, packet);
        }
        self.schedule_upstream(flow);
    }

    /// The last byte of a packet leaves its home. The cable's delay is the same for all packets, so
    /// it can be added before the link's.
    fn leave_home(&mut self, at: Time, packet: Packet) {
        self.ledger.passed(at, &packet);
        let server = packet.server;
        let link = &mut self.up_links[usize::from(server)];
        link.accept(at + self.cable_delay, packet, &mut self.ledger);
        self.schedule_up_link(server);
    }

    /// A packet sets out from its sender.
    fn send(&mut self, mut packet: Packet) {
        self.ledger.sent(&mut packet);
        match packet.direction {
            Direction::Up => {
                let flow = Flow::of(&packet);
                let subscriber = &mut self.homes[usize::from(flow.home)].subscriber;
                if let (Some(channel), false) = (&mut self.channel, subscriber.ports.is_empty()) {
                    let port = subscriber.ports.start + u32::from(flow.number);
                    channel.accept(self.now, port, packet, &mut self.ledger);
                    return self.schedule_channel();
                }
                let modem = &mut subscriber.upstream[usize::from(flow.number)];
                let sent = modem.accept(self.now, packet, &mut self.ledger);
                self.onto_up_link(flow, sent);
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
        let config = &self.configs[usize::from(packet.traffic)];
        let endpoint = &mut connection.ends[end as usize];
        let news =
            endpoint.on_segment(self.now, &packet.segment, packet.sent_at, packet.ecn, config);
        if news.received_bytes > 0 {
            self.ledger.received(&packet, news.received_bytes);
        }
        if news.rtt > Time::ZERO {
            self.ledger.round_trip(&packet, news.rtt);
        }
        if news.echo_age > Time::ZERO {
            self.ledger.echo(&packet, news.echo_age);
        }
        // FullTcp tells the application first, and the acknowledgement rides on its answer (tcp-full.cc
        // `recv`).
        let app_first = config.is_full();
        if !app_first {
            self.pump(packet.flow, end);
        }
        let News { received_bytes, rtt, echo_age, .. } = news;
        if news != (News { received_bytes, rtt, echo_age, ..News::default() }) {
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
        let traffic = self.connections.get_mut(slot).owner.traffic;
        loop {
            let config = &self.configs[usize::from(traffic)];
            let connection = self.connections.get_mut(slot);
            let Some(departure) = connection.ends[end as usize].poll(self.now, config) else {
                break;
            };
            let packet = connection.packet(self.now, slot, end, departure);
            self.send(packet);
        }
        let connection = self.connections.get_mut(slot);
        let config = &self.configs[usize::from(traffic)];
        let endpoint = &mut connection.ends[end as usize];
        if endpoint.needs_jitter(config) {
            let draw = self.players[connection.owner.app as usize].send_jitter.uniform();
            endpoint.draw_jitter(self.now, draw, config);
        }
        self.timers.set_no_later(timer_of(slot, end), endpoint.deadline());
    }

    /// The timer of an end may have been set later since; if so, this only sets it anew.
    fn on_timer(&mut self, timer: StageId) {
        self.timers.set(timer, Time::NEVER);
        let (slot, end) =
            (timer / 2, if timer.is_multiple_of(2) { End::Home } else { End::Server });
        let connection = self.connections.get_mut(slot);
        let config = &self.configs[usize::from(connection.owner.traffic)];
        let endpoint = &mut connection.ends[end as usize];
        if endpoint.deadline() <= self.now {
            endpoint.on_timer(self.now, config);
        }
        self.pump(slot, end);
    }

    /// Tells the app of a connection what a segment brought about.
    fn pass_on(&mut self, slot: u32, end: End, news: &News) {
        let Connection { owner: Owner { app, .. }, tag, .. } = *self.connections.get_mut(slot);
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

    fn tell(&mut self, app: u32, event: Event) {
        self.to_tell.push((app, event));
        self.tell_all();
    }

    /// Tells apps what there is to tell, and carries out what they ask for, until all is quiet.
    fn tell_all(&mut self) {
        while let Some((app, event)) = self.to_tell.pop() {
            let mut commands = std::mem::take(&mut self.commands);
            let player = &mut self.players[app as usize];
            let mut desk = Desk { now: self.now, rng: &mut player.rng, commands: &mut commands };
            player.app.on_event(event, &mut desk);
            for command in commands.drain(..) {
                self.carry_out(app, command);
            }
            self.commands = commands;
        }
    }

    fn carry_out(&mut self, app: u32, command: Command) {
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
            Command::Wake(at) => self.wake.set(self.numbers.apps + app, at),
        }
    }

    fn open(&mut self, app: u32, server: u16, tag: u32) {
        let player = &mut self.players[app as usize];
        let owner = player.owner;
        let tuples = [player.ports.bits() as u32, player.ports.bits() as u32];
        let home_port = home_port(player.connections_opened);
        player.connections_opened += 1;
        let service_flows =
            classify(&self.scenario, owner.traffic, Protocol::Tcp, server, home_port);
        let route = Route { server, tuples, service_flows };
        let config = &self.configs[usize::from(owner.traffic)];
        let (id, is_new) = self.connections.open(Connection::new(owner, tag, route, config));
        if is_new {
            self.timers.grow(2 * (id.slot as usize + 1));
        }
        let home = self.homes[usize::from(owner.home)].number;
        self.ledger.opened(self.now, id.slot, id.generation, owner.traffic, home);
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
        let traffic = connection.owner.traffic;
        self.ledger.settle(slot, traffic, connection.tallies(), Some(self.now));
        self.connections.release(slot);
        for end in [End::Home, End::Server] {
            self.timers.set(timer_of(slot, end), Time::NEVER);
        }
    }

    fn send_datagram(&mut self, app: u32, server: u16, direction: Direction, size: u16) {
        let player = &mut self.players[app as usize];
        let seq = player.datagrams_sent;
        player.datagrams_sent += 1;
        let packet = Packet {
            sent_at: self.now,
            queued_at: self.now,
            segment: Segment { seq, ..Segment::default() },
            tuple: player.datagrams.tuples[direction as usize],
            flow: DATAGRAM,
            generation: 0,
            traffic: player.owner.traffic,
            server,
            home: player.owner.home,
            service_flow: player.datagrams.service_flows[direction as usize],
            size,
            direction,
            ecn: Ecn::NotEct,
            number: [0; 3],
        };
        self.send(packet);
    }

    fn sample(&mut self) {
        self.homes.iter_mut().for_each(|home| home.subscriber.sample(self.now));
        self.cmts.iter_mut().for_each(Cmts::sample);
        self.channel.iter_mut().for_each(|channel| channel.sample(self.now));
        self.ledger.sample(self.now, self.sample_interval);
        self.wake.set(SAMPLER, self.now + self.sample_interval);
    }

    /// What all stages hold.
    fn inside(&self) -> Count {
        let links = self.up_links.iter().chain(&self.down_links).chain([&self.cable]);
        links
            .map(Link::inside)
            .chain(self.homes.iter().map(|home| home.subscriber.inside()))
            .chain(self.cmts.iter().map(Cmts::inside))
            .chain(self.channel.iter().map(SharedChannel::inside))
            .fold(Count::default(), Count::plus)
    }

    /// The queues that are measured, home by home, the upstream ones first, and then the CMTS's.
    fn watched_queues(&self) -> Vec<&Queue> {
        let mut queues = Vec::new();
        for Home { subscriber, .. } in self.homes.iter().filter(|h| h.subscriber.is_watched()) {
            for port in subscriber.ports.clone() {
                queues.extend(self.channel.iter().map(|channel| channel.port(port).queue()));
            }
            queues.extend(subscriber.watched_queues());
        }
        queues.extend(self.cmts.iter().flat_map(Cmts::queues));
        queues
    }

    /// What the MAC of an upstream service flow of a home did, if it has one.
    fn mac_counters(&self, home: &Home, flow: usize) -> Option<MacCounters> {
        let subscriber = &home.subscriber;
        match (&self.channel, subscriber.ports.clone().nth(flow)) {
            (Some(channel), Some(port)) => Some(channel.port(port).counters()),
            _ => subscriber.upstream[flow].mac_counters(),
        }
    }

    /// Closes the books and gives the results.
    ///
    /// # Panics
    /// If a packet was lost or doubled on the way.
    pub fn finish(mut self) -> Results {
        self.ledger.assert_conserved(self.inside());
        for (slot, connection) in self.connections.open_ones() {
            self.ledger.settle(slot, connection.owner.traffic, connection.tallies(), None);
        }
        let (packets, modem) =
            self.ledger.take_trace().map(|trace| trace.finish()).unwrap_or_default();
        let modem = modem.map(ModemTrace::finish).unwrap_or_default();
        report::results(&self, packets, modem)
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
