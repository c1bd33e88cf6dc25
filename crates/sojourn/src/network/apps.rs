//! The apps of a run: every traffic model in each of its homes, its events and its commands.

use super::Simulation;
use super::connections::{Connection, Owner, Route};
use super::shapers::Shaped;
use super::under_way::UnderWay;
use sojourn_access::Protocol;
use sojourn_engine::clock::Clock;
use sojourn_engine::packet::{DATAGRAM, Direction, Ecn, Own, Packet, Segment};
use sojourn_engine::record::Gauges;
use sojourn_engine::rng::{Rng, Seed};
use sojourn_engine::units::Time;
use sojourn_scenario::apps::{
    Answered, App, AppContext, AppSpec, Arrived, Command, Done, End, Event, Frame, Label, Model,
};
use sojourn_scenario::{Scenario, home_port};
use sojourn_transport::{Config, Ends, SegmentEvents, Transport};

/// The ends of games and calls send a few times in each such time.
const HELD_AT_MOST: Time = Time::from_ms(250);

/// A traffic model in one home, with its state in the network.
pub(super) struct AppInstance {
    pub app: App,
    pub owner: Owner,
    pub rng: Rng,
    /// Random numbers for the addresses and ports of its connections.
    pub ports: Rng,
    /// Seed of the congestion controls of its connections, which count from 0.
    pub controls: Seed,
    /// Random numbers for the delays before its connections send.
    pub send_jitter: Rng,
    /// Hashes and service flows of its datagrams.
    pub datagrams: Route,
    /// The ECN field of its datagrams.
    pub ecn: Ecn,
    /// Number of the home within its group, from 1.
    pub home_number: u16,
    pub datagrams_sent: u64,
    pub connections_opened: u64,
    /// When it sends in bulk; `None` if it never does.
    pub under_way: Option<Box<UnderWay>>,
    /// The rates that it has set, if it is the controller of a router.
    pub shaped: Option<Box<Shaped>>,
    /// The clock of its device, which is right when it starts, and that of the server of its datagrams as the device
    /// measures it.
    pub clock: Clock,
    pub server_clock: Clock,
}

impl AppInstance {
    /// When it acts first.
    pub(super) fn start(&mut self) -> Time {
        let at = self.app.start(&mut self.rng);
        self.clock = self.clock.set_right(at);
        at
    }

    /// From now on its app has other parameters.
    pub(super) fn retune(&mut self, spec: &AppSpec) {
        self.app.retune(spec);
    }

    /// Shows what its app does.
    pub(super) fn gauges(&self, out: &mut Gauges) {
        self.app.gauges(out);
    }

    /// What it achieved up to now.
    pub(super) fn done(&self, now: Time) -> Done {
        self.app.done(self.clock.reading(now)).by(self.clock)
    }
}

/// The clock of each server.
pub(super) fn server_clocks(scenario: &Scenario) -> Vec<Clock> {
    let seed = |name| Seed::named(scenario.seed, &format!("clock of server {name}"));
    scenario.servers.keys().map(|name| scenario.host_clock(seed(name))).collect()
}

/// Every traffic entry in each of its homes.
pub(super) fn instances(scenario: &Scenario, server_clocks: &[Clock]) -> Vec<AppInstance> {
    let mut instances = Vec::new();
    for traffic in 0..scenario.traffic.len() {
        let group = scenario.group_of(&scenario.traffic[traffic]);
        let before: u16 = scenario.groups().take(group).map(|group| group.count).sum();
        for number in 0..scenario.group(group).count {
            let app = u32::try_from(instances.len()).expect("entries and homes are limited");
            let traffic = u16::try_from(traffic).expect("the schema limits entries");
            let owner = Owner { app, traffic, home: before + number };
            instances.push(instance(scenario, owner, number, server_clocks));
        }
    }
    instances
}

/// The number of the first instance of each traffic entry.
pub(super) fn first_of_entries(scenario: &Scenario, instances: &[AppInstance]) -> Vec<u32> {
    let first = |traffic| instances.partition_point(|of| usize::from(of.owner.traffic) < traffic);
    (0..scenario.traffic.len()).map(|traffic| first(traffic) as u32).collect()
}

/// The instances in each home that send in bulk.
pub(super) fn bulk_of_homes(scenario: &Scenario, instances: &[AppInstance]) -> Vec<Vec<u32>> {
    let homes = scenario.groups().map(|group| usize::from(group.count)).sum();
    let mut bulk = vec![Vec::new(); homes];
    for AppInstance { owner, .. } in instances.iter().filter(|of| of.under_way.is_some()) {
        bulk[usize::from(owner.home)].push(owner.app);
    }
    bulk
}

/// A traffic entry in the home with this number in its group, from 0.
fn instance(
    scenario: &Scenario,
    owner: Owner,
    number: u16,
    server_clocks: &[Clock],
) -> AppInstance {
    let (name, entry) = scenario.traffic.get_index(owner.traffic.into()).expect("it is an entry");
    let server = |name: &str| {
        let index = scenario.servers.get_index_of(name).unwrap_or_default();
        u16::try_from(index).expect("the schema limits servers")
    };
    let seed = |what: &str| match number {
        0 => Seed::named(scenario.seed, &format!("{what} {name}")),
        _ => Seed::named(scenario.seed, &format!("{what} {name}, home {}", number + 1)),
    };
    let mut ports = seed("ports of").open();
    let tuples = [ports.bits() as u32, ports.bits() as u32];
    let port = home_port(owner.traffic.into());
    let server_of_datagrams =
        entry.app.parameters().servers().first().map_or(0, |(_, name)| server(name));
    let service_flows = classify(
        scenario,
        owner.traffic,
        (Protocol::Udp, entry.labels.dscp),
        server_of_datagrams,
        port,
    );
    let dscp = entry.labels.dscp;
    let clock = scenario.host_clock(seed("clock of"));
    let server_clock = server_clocks.get(usize::from(server_of_datagrams)).unwrap_or(&Clock::TRUE);
    AppInstance {
        app: entry.app.parameters().start(&server),
        owner,
        rng: seed("traffic").open(),
        send_jitter: seed("send jitter of").open(),
        datagrams: Route { server: server_of_datagrams, tuples, service_flows, dscp },
        ecn: entry.datagram_ecn(),
        home_number: number + 1,
        datagrams_sent: 0,
        connections_opened: 0,
        under_way: UnderWay::of(&entry.app, scenario.metrics.from_s).map(Box::new),
        shaped: entry
            .app
            .parameters()
            .is_of_router()
            .then(|| Box::new(Shaped::of(scenario, scenario.group_of(entry)))),
        ports,
        controls: seed("congestion control of"),
        clock,
        server_clock: server_clock.seen_by(clock),
    }
}

/// The service flows that an entry's packets take, upstream and downstream, by the ECN field.
pub(super) fn classify(
    scenario: &Scenario,
    traffic: u16,
    (protocol, dscp): (Protocol, u8),
    server: u16,
    home_port: u16,
) -> [[u8; 4]; 2] {
    let (name, entry) = scenario.traffic.get_index(traffic.into()).expect("it is an entry");
    let server = scenario.servers.get_index(server.into()).map_or("", |(name, _)| name);
    scenario.classify((name, entry), (protocol, dscp), server, home_port)
}

impl Simulation {
    /// Reports to the app of a connection what a segment changed.
    pub(super) fn report_segment(&mut self, slot: u32, end: End, events: &SegmentEvents) {
        let Connection { owner: Owner { app, .. }, tag, .. } = *self.connections.get_mut(slot);
        let id = self.connections.id(slot);
        if events.established && end == End::Home {
            self.pending_events.push_back((app, Event::Established(tag, id)));
        }
        if events.received_all {
            let ends = &mut self.connections.get_mut(slot).ends;
            if ends.has_streams() {
                while let Some(stream) = ends.next_message(end as usize) {
                    self.pending_events.push_back((app, Event::Message(tag, id, end, stream)));
                }
            } else {
                self.pending_events.push_back((app, Event::Received(tag, id, end)));
            }
        }
        if events.acknowledged_all {
            self.pending_events.push_back((app, Event::Acknowledged(tag, id, end)));
        }
        self.deliver_events();
    }

    pub(super) fn deliver(&mut self, app: u32, event: Event) {
        self.pending_events.push_back((app, event));
        self.deliver_events();
    }

    /// Delivers pending events to apps and executes their commands until no event is left.
    fn deliver_events(&mut self) {
        while let Some((app, event)) = self.pending_events.pop_front() {
            let mut commands = std::mem::take(&mut self.commands);
            let instance = &mut self.instances[app as usize];
            let mut context = AppContext {
                now: instance.clock.reading(self.now),
                server_clock: instance.server_clock,
                ecn: instance.ecn,
                rng: &mut instance.rng,
                commands: &mut commands,
            };
            instance.app.on_event(event, &mut context);
            if let Some(under_way) = &mut instance.under_way {
                let turn = under_way.set(instance.app.is_under_way(context.now), self.now);
                let traffic = instance.owner.traffic;
                self.turned(traffic, turn);
            }
            for command in commands.drain(..) {
                self.carry_out(app, command);
            }
            self.commands = commands;
        }
    }

    fn carry_out(&mut self, app: u32, command: Command) {
        match command {
            Command::Open { server, tag } => {
                let config = self.instances[app as usize].owner.traffic;
                self.open(app, server, tag, config, Ends::open);
            }
            Command::OpenStreams { server, tag, over, is_resumed, unsent } => {
                let entry = self.instances[app as usize].owner.traffic;
                let quic = self.quic_configs[usize::from(entry)];
                let config = quic.filter(|_| over == Transport::Quic).unwrap_or(entry);
                let open = |config: &Config, seed: Seed| {
                    Ends::open_streams(config, seed, is_resumed, unsent)
                };
                self.open(app, server, tag, config, open);
            }
            Command::Write(id, end, message) => {
                if let Some(connection) = self.connections.current(id) {
                    connection.ends.write(end as usize, message);
                    self.pump(id.slot, end);
                }
            }
            Command::Send(id, end, bytes) => {
                if let Some(connection) = self.connections.current(id) {
                    let config = &self.configs[usize::from(connection.config)];
                    connection.ends.send(end as usize, bytes, config);
                    self.pump(id.slot, end);
                }
            }
            Command::Expect(id, end, bytes) => {
                if let Some(connection) = self.connections.current(id) {
                    connection.ends.expect(end as usize, bytes);
                }
            }
            Command::ReadReceived(id, end) => {
                if let Some(connection) = self.connections.current(id) {
                    let carried =
                        Event::Carried(connection.tag, connection.ends.received(end as usize));
                    self.pending_events.push_back((app, carried));
                }
            }
            Command::Close(id, end) => {
                if let Some(connection) = self.connections.current(id) {
                    connection.ends.close(end as usize);
                    self.pump(id.slot, end);
                }
            }
            Command::Abort(id) => {
                if self.connections.current(id).is_some() {
                    self.release(id.slot);
                }
            }
            Command::Datagram { server, direction, size, frame, label } => {
                self.send_datagram(app, (server, direction), size, (frame, label));
            }
            Command::Wake(at) => {
                self.timers.set(app, self.instances[app as usize].clock.instant(at));
            }
            Command::ReadShapers => self.read_shapers(app),
            Command::Shape(way, bps) => self.shape(app, way, bps),
        }
    }

    fn open(
        &mut self,
        app: u32,
        server: u16,
        tag: u32,
        number: u16,
        ends: impl FnOnce(&Config, Seed) -> Ends,
    ) {
        let instance = &mut self.instances[app as usize];
        let (owner, home_number) = (instance.owner, instance.home_number);
        let tuples = [instance.ports.bits() as u32, instance.ports.bits() as u32];
        let home_port = home_port(instance.connections_opened);
        let seed = instance.controls.numbered(instance.connections_opened);
        instance.connections_opened += 1;
        let dscp = instance.datagrams.dscp;
        let config = &self.configs[usize::from(number)];
        let protocol = match config.transport {
            Transport::Tcp => Protocol::Tcp,
            Transport::Quic => Protocol::Udp,
        };
        let service_flows =
            classify(&self.scenario, owner.traffic, (protocol, dscp), server, home_port);
        let route = Route { server, tuples, service_flows, dscp };
        let clocks = [instance.clock, self.server_clocks[usize::from(server)]];
        let ends = (number, ends(config, seed));
        let (id, is_new) = self.connections.open(Connection::new(owner, tag, route, clocks, ends));
        if is_new {
            self.timers.grow(self.timer_of(id.slot + 1, End::Home) as usize);
        }
        self.ledger.opened(self.now, id.slot, id.generation, owner.traffic, home_number);
        self.pending_events.push_back((app, Event::Opening(tag, id)));
        self.pump(id.slot, End::Home);
    }

    /// A datagram has arrived: it may complete a round trip, and may be answered at once.
    #[inline]
    pub(super) fn hear(&mut self, packet: &Packet) {
        let Some(reaction) = self.conversations.hear(self.now, packet) else { return };
        if let Some(round_trip) = reaction.round_trip {
            // Half of one whose echo was held for long tells of another time.
            let is_of_now = reaction.held <= HELD_AT_MOST;
            let began = self.now.since(round_trip + reaction.held);
            let load = is_of_now.then(|| self.load_at(packet.home, began)).flatten();
            if began >= self.counts_from && self.outside.loads(packet.home, began, self.now) {
                self.outside.unjudged_round_trips += 1;
            }
            self.ledger.probed(self.now, packet, round_trip, load);
        }
        if let Some(app) = reaction.answered_by {
            let way = (packet.server, packet.direction.reversed());
            self.send_datagram(app, way, packet.size, (None, Label::default()));
        }
        if let Some(app) = reaction.heard_by {
            let clock = self.instances[app as usize].clock;
            let server_clock = self.server_clocks[usize::from(packet.server)];
            let arrived = Arrived {
                number: packet.segment.seq,
                direction: packet.direction,
                size: packet.size,
                sent_at: clock.reading(packet.sent_at),
                ecn: packet.ecn,
                dscp: packet.segment.dscp,
                answers: reaction.round_trip.map(|_| Answered {
                    sent_at: clock.reading(packet.segment.echo),
                    left_at: server_clock.reading(packet.sent_at),
                }),
            };
            self.deliver(app, Event::Datagram(arrived));
        }
    }

    /// The service flow of a datagram whose header fields are not those of its entry.
    fn service_flow_of(
        &self,
        owner: Owner,
        (server, direction): (u16, Direction),
        (dscp, ecn): (u8, Ecn),
    ) -> u8 {
        let port = home_port(owner.traffic.into());
        let flows = classify(&self.scenario, owner.traffic, (Protocol::Udp, dscp), server, port);
        flows[direction as usize][ecn as usize]
    }

    /// The service flow of a packet whose ECN field another hop may have changed since it was sent.
    pub(super) fn service_flow(&mut self, packet: &Packet) -> u8 {
        let slot = self.connections.get(packet.flow);
        let route = match packet.flow {
            _ if packet.ecn != Ecn::Ce && !self.hops[packet.direction as usize].rewrites_ecn() => {
                None
            }
            DATAGRAM if packet.segment.dscp != self.entry_dscp(packet.traffic) => {
                let owner = Owner { app: 0, traffic: packet.traffic, home: packet.home };
                let fields = (packet.segment.dscp, packet.ecn);
                return self.service_flow_of(owner, (packet.server, packet.direction), fields);
            }
            _ if packet.is_outside() => return self.service_flow_again(packet),
            DATAGRAM => {
                let key = (packet.traffic, packet.home);
                let before = |of: &AppInstance| (of.owner.traffic, of.owner.home) < key;
                let number = self.instances.partition_point(before);
                self.instances.get(number).map(|instance| &instance.datagrams)
            }
            _ => slot.filter(|of| of.generation == packet.generation).map(|of| &of.route),
        };
        let of_route = |route: &Route| route.service_flows[packet.direction as usize];
        route.map_or(packet.service_flow, |route| of_route(route)[packet.ecn as usize])
    }

    fn entry_dscp(&self, traffic: u16) -> u8 {
        self.scenario.traffic[usize::from(traffic)].labels.dscp
    }

    fn send_datagram(
        &mut self,
        app: u32,
        (server, direction): (u16, Direction),
        size: u16,
        (frame, label): (Option<Frame>, Label),
    ) {
        let size = self.byte_count.of_frame(size);
        let of = &self.instances[app as usize];
        let (dscp, ecn) = (label.dscp.unwrap_or(of.datagrams.dscp), label.ecn.unwrap_or(of.ecn));
        let service_flow = if dscp == of.datagrams.dscp {
            of.datagrams.service_flows[direction as usize][ecn as usize]
        } else {
            self.service_flow_of(of.owner, (server, direction), (dscp, ecn))
        };
        let instance = &mut self.instances[app as usize];
        let seq = instance.datagrams_sent;
        instance.datagrams_sent += 1;
        let Owner { traffic, home, .. } = instance.owner;
        let echo = self.conversations.echo(self.now, traffic, home, direction);
        let packet = Packet {
            sent_at: self.now,
            queued_at: self.now,
            segment: Segment {
                seq,
                echo,
                own: Own::of_frame(frame.unwrap_or_default()),
                dscp,
                ..Segment::default()
            },
            tuple: instance.datagrams.tuples[direction as usize],
            flow: DATAGRAM,
            generation: 0,
            traffic: instance.owner.traffic,
            server,
            home: instance.owner.home,
            service_flow,
            size,
            direction,
            ecn,
            number: [0; 3],
        };
        self.send(packet);
    }
}
