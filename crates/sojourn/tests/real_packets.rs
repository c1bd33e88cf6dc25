//! Real packets cross simulated networks: each comes back once, and a record of them has the same fates.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde_json::json;
use sojourn::engine::rng::Rng;
use sojourn::input::problem::{Code, Problems};
use sojourn::outside::{Arrived, Direction, Ecn, Flags, Header, Lost, NotIp, Record, Time, Writer};
use sojourn::results::metrics::{Results, Rows};
use sojourn::results::verdict::{Facts, Group, verdict};
use sojourn::scenario::{Files, Scenario, Source, Variant, idle_lines};
use sojourn::{Simulation, shipped};
use sojourn_testing::rounds;

use crate::swarm;

pub const TCP: u8 = 6;
pub const UDP: u8 = 17;
pub const ICMP: u8 = 1;

/// A packet as a program would send it.
#[derive(Clone)]
pub struct Sent {
    pub ends: [IpAddr; 2],
    pub protocol: u8,
    pub ports: [u16; 2],
    pub tos: u8,
    pub payload: usize,
    /// Of TCP: flags, what is acknowledged, and options.
    pub flags: u8,
    pub ack: u32,
    pub options: Vec<u8>,
}

pub const SYN: u8 = 2;
pub const RST: u8 = 4;
pub const PSH: u8 = 8;
pub const ACK: u8 = 16;
pub const ECE: u8 = 64;

pub const HOME: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));
pub const SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(203, 0, 113, 5));

impl Sent {
    pub fn udp(payload: usize) -> Self {
        let (ends, ports) = ([HOME, SERVER], [40_000, 9]);
        Self { ends, protocol: UDP, ports, tos: 0, payload, flags: 0, ack: 0, options: vec![] }
    }

    pub fn ack(ack: u32) -> Self {
        Self { protocol: TCP, ports: [40_000, 443], flags: ACK, ack, ..Self::udp(0) }
    }

    /// The packet of the other direction.
    pub fn back(mut self) -> Self {
        self.ends.reverse();
        self.ports.reverse();
        self
    }

    /// Its bytes. Checksums are nobody's business here.
    pub fn bytes(&self) -> Vec<u8> {
        let mut within = self.ports.map(u16::to_be_bytes).concat();
        match self.protocol {
            TCP => {
                within.extend([0; 4]);
                within.extend(self.ack.to_be_bytes());
                within.push((((20 + self.options.len()) / 4) << 4) as u8);
                within.extend([self.flags, 0xff, 0xff, 0, 0, 0, 0]);
                within.extend(&self.options);
            }
            UDP => {
                within.extend((8 + self.payload as u16).to_be_bytes());
                within.extend([0; 2]);
            }
            _ => within = vec![8, 0, 0, 0, 0, 1, 0, 1],
        }
        within.resize(within.len() + self.payload, 0x5a);
        let mut packet = match self.ends {
            [IpAddr::V4(from), IpAddr::V4(to)] => {
                let mut header = vec![0x45, self.tos];
                header.extend((20 + within.len() as u16).to_be_bytes());
                header.extend([0, 0, 0x40, 0, 64, self.protocol, 0, 0]);
                header.extend([from.octets(), to.octets()].concat());
                header
            }
            [IpAddr::V6(from), IpAddr::V6(to)] => {
                let mut header = vec![0x60 | self.tos >> 4, self.tos << 4, 0, 0];
                header.extend((within.len() as u16).to_be_bytes());
                header.extend([self.protocol, 64]);
                header.extend([from.octets(), to.octets()].concat());
                header
            }
            _ => panic!("ends are of one version"),
        };
        packet.extend(within);
        packet
    }

    pub fn header(&self) -> Header {
        Header::read(&self.bytes()).expect("it is a packet")
    }

    /// Any packet of a few conversations.
    fn drawn(rng: &mut Rng, direction: Direction) -> Self {
        let number = 1 + rng.below(3) as u16;
        let ends = match rng.below(3) {
            0 => [0, 5]
                .map(|host| IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, host, number))),
            _ => [HOME, SERVER],
        };
        let protocol = [TCP, TCP, UDP, UDP, ICMP, 50][rng.below(6) as usize];
        let payload = if rng.below(3) == 0 { 0 } else { rng.below(1400) as usize };
        let flags =
            [ACK, ACK, ACK, SYN, SYN | ACK, ACK | PSH, RST | ACK, ACK | ECE][rng.below(8) as usize];
        let tos = [0, 1, 2, 3, 45 << 2, 46 << 2 | 1, 8 << 2][rng.below(7) as usize];
        let ports = [40_000 + number, [443, 9, 5004][rng.below(3) as usize]];
        let ack = rng.below(1 << 17) as u32 ^ 0xffff_0000;
        let one = Self { ends, protocol, ports, tos, payload, flags, ack, options: vec![] };
        if direction == Direction::Down { one.back() } else { one }
    }
}

/// What became of each packet by its number: when it arrived with what code points, or when it was lost and why.
pub type Fates = BTreeMap<u64, (Time, String)>;

/// A live run as a program drives it, without devices.
pub struct Live {
    pub run: Simulation,
    pub fates: Fates,
    record: Option<Writer<Vec<u8>>>,
    sent: u64,
}

impl Live {
    pub fn new(scenario: &Scenario) -> Self {
        let record = Writer::new(Vec::new(), scenario, false).expect("memory takes all");
        let run = Simulation::endless(scenario);
        Self { run, fates: Fates::new(), record: Some(record), sent: 0 }
    }

    pub fn send(&mut self, at: Time, entry: &str, direction: Direction, packet: &Sent) -> u64 {
        let entry = self.run.outside(entry).expect("it is of kind outside");
        let (bytes, handle) = (packet.bytes(), self.sent);
        let header = Header::read(&bytes).expect("it is a packet");
        let at = self.run.inject(at, entry, direction, &header, handle);
        let record = self.record.as_mut().expect("it is recorded");
        record.packet(at, (entry, direction), &header, &bytes).expect("memory takes all");
        self.sent += 1;
        self.take();
        handle
    }

    pub fn until(&mut self, at: Time) {
        self.run.run_until(at);
        self.take();
    }

    fn take(&mut self) {
        let (mut arrived, mut lost) = (Vec::new(), Vec::new());
        self.run.arrived(&mut arrived);
        self.run.lost(&mut lost);
        let came =
            |Arrived { handle, ecn, dscp, at, .. }| (handle, (at, format!("{ecn:?} {dscp}")));
        let went = |Lost { handle, reason, at, .. }| (handle, (at, reason.name().to_owned()));
        for (handle, fate) in arrived.into_iter().map(came).chain(lost.into_iter().map(went)) {
            assert!(handle < self.sent);
            assert_eq!(self.fates.insert(handle, fate), None, "{handle} comes back twice");
        }
    }

    /// The results, the fates of all packets, and the record.
    pub fn finish(mut self) -> (Results, Fates, Vec<u8>) {
        self.until(self.run.now());
        let record = self.record.take().expect("it is recorded");
        let record = record.finish(self.run.now()).expect("memory takes all");
        (self.run.finish(), self.fates, record)
    }
}

/// Files that are only here.
pub struct Memory(pub Vec<u8>);

impl Files for Memory {
    fn read(&self, _path: &std::path::Path, _most: u64) -> std::io::Result<Vec<u8>> {
        Ok(self.0.clone())
    }
}

/// A scenario as its user writes it, of whose variants one is meant.
struct Case {
    text: String,
    sets: Vec<String>,
    variant: usize,
}

impl Case {
    fn of(text: &str, sets: &[&str]) -> Self {
        let sets = sets.iter().map(|set| (*set).to_owned()).collect();
        Self { text: text.to_owned(), sets, variant: 0 }
    }

    fn load(&self, record: &[u8], more: &[String]) -> Result<Vec<Variant>, Problems> {
        let files = Memory(record.to_vec());
        let sets = [self.sets.as_slice(), more].concat();
        Source::new(&self.text, "case.toml").files(&files).sets(&sets).load()
    }

    fn scenario(&self) -> Scenario {
        self.load(&[], &[]).unwrap_or_else(|problems| panic!("{problems}"))[self.variant]
            .scenario
            .clone()
    }

    /// The same with its packets from a record, and what its user must know of that.
    fn replayed(&self, record: &[u8], more: &[&str]) -> Result<(Scenario, Vec<String>), Problems> {
        let found = Record::read(record).expect("it is a record");
        let mut sets = found.settings("live.pcapng");
        sets.extend(more.iter().map(|set| (*set).to_owned()));
        let variant = self.load(record, &sets)?.swap_remove(self.variant);
        let notes = variant.notes.into_iter().filter(|note| note.code == Code::OpenLoop);
        Ok((variant.scenario, notes.map(|note| note.message).collect()))
    }
}

/// A record of so many packets at an entry with this name, one a millisecond.
pub fn recorded(entry: &str, packets: u64) -> Vec<u8> {
    let text = LINE.replace("traffic.real", &format!("traffic.{entry}"));
    let mut live = Live::new(&Case::of(&text, &[]).scenario());
    for number in 0..packets {
        live.send(Time::from_ms(number), entry, Direction::Up, &Sent::udp(1000));
    }
    live.finish().2
}

/// Packets at random times come, and all of them come back once or are inside. Then their record is replayed.
fn carries(case: &Case, seed: u64) {
    let mut rng = Rng::named(seed, "packets");
    let scenario = case.scenario();
    let mut live = Live::new(&scenario);
    let mut at = Time::ZERO;
    for _ in 0..300 {
        at += Time::from_ps(1000 * rng.below(4_000_000));
        if rng.below(20) == 0 {
            live.until(at + Time::from_us(rng.below(3)));
        }
        let direction = Direction::BOTH[rng.below(2) as usize];
        live.send(at, "real", direction, &Sent::drawn(&mut rng, direction));
    }
    live.until(at + Time::from_ms(rng.below(50)));
    let (results, fates, record) = live.finish();
    let flows = results.flows.iter().filter(|row| row.traffic == "real");
    let sent: u64 = flows.clone().map(|row| row.sent_packets).sum();
    let delivered: u64 = flows.map(|row| row.delivered_packets).sum();
    let arrived = fates.values().filter(|(_, what)| what.contains(' ')).count() as u64;
    if scenario.metrics.from_s == 0.0 {
        assert_eq!((sent, delivered), (300, arrived));
    }

    let (mut again, notes) = case
        .replayed(&record, &["traffic.real.anyway = true"])
        .unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(notes, [""; 0]);
    again.metrics.packet_trace = true;
    let replay = Simulation::run(&again);
    assert_eq!((replay.fingerprint, replay.events), (results.fingerprint, results.events));
    assert_eq!(format!("{:?}", replay.flows), format!("{:?}", results.flows));
    assert_eq!(format!("{:?}", replay.queues), format!("{:?}", results.queues));
    let entry = again.traffic.get_index_of("real").unwrap() as u16;
    let own = replay.packets.iter().filter(|packet| packet.traffic == entry);
    let traced: BTreeMap<u64, Time> =
        own.map(|packet| (packet.segment.seq, packet.ended)).collect();
    assert_eq!(traced, fates.iter().map(|(handle, (at, _))| (*handle, *at)).collect());
}

const REAL: &str = "traffic.real.kind = outside";

#[test]
fn random_networks_carry_them_and_a_replay_does_the_same() {
    let mut carried = 0;
    rounds(15, |seed| {
        let mut keys = swarm::drawn(seed);
        keys["traffic"]["real"] = json!({ "kind": "outside", "server": "near" });
        if swarm::network::scenario(&mut keys).is_ok() {
            let reported = swarm::Reported(&keys);
            carries(&Case::of(&toml::to_string(reported.0).expect("it is a table"), &[]), seed);
            carried += 1;
        }
    });
    assert!(carried > 5, "{carried}");
}

/// Every modem, queue and access of the shipped scenarios: fibre, low latency, CAKE in the router, neighbours.
#[test]
fn shipped_scenarios_carry_them_and_a_replay_does_the_same() {
    for (name, text) in [shipped::SCENARIOS, shipped::GALLERY].concat() {
        let variants = sojourn::load(text, name, &[]).unwrap();
        for variant in [0, variants.len() - 1] {
            carries(&Case { variant, ..Case::of(text, &[REAL]) }, variant as u64);
        }
    }
}

/// A line of 10 Mbps for IP packets, with nothing around them and no delay but transmission.
const LINE: &str = "
    duration_s = 1
    clock_drift_ppm = 0
    upstream = { modem.kind = 'link', sustained_mbps = 10, peak_mbps = 10, burst_bytes = 1600, queue.limit_bytes = 15_000 }
    downstream = { sustained_mbps = 100, peak_mbps = 100, burst_bytes = 1600 }
    cable = { byte_count = 'ip', distance_km = 0 }
    servers.near = { delay_ms = 0, host_jitter_us = 0 }
    traffic.real = { kind = 'outside' }
";

/// 1500 B each ms are 12 Mbps. Of 10 000 packets 10 Mbps carry 10 s x 10e6 / 12e3 = 8333; the queue holds 10, so that
/// 10 000 - 8333 are lost but for these, the burst and the one that is being sent.
#[test]
fn a_load_of_1_2_times_the_rate_loses_a_sixth() {
    let mut live = Live::new(&Case::of(LINE, &[]).scenario());
    for number in 0..10_000 {
        live.send(Time::from_ms(number), "real", Direction::Up, &Sent::udp(1472));
    }
    live.until(Time::from_s(10));
    let (results, fates, _) = live.finish();
    let lost = fates.values().filter(|(_, what)| what == "overflow").count();
    assert!((1653..=1667).contains(&lost), "{lost}");
    let up = results.flows.iter().find(|row| row.direction == "up").unwrap();
    assert_eq!(up.dropped_overflow_packets, lost as u64);
    assert_eq!(up.quality, "unscored");
    assert!((up.throughput_mbps - 10.0).abs() < 0.05, "{}", up.throughput_mbps);
    // It waits for ten others at most and for one that was taken from the queue, 1.2 ms each, then takes 1.2 ms itself.
    let p99_ms = up.latency_p99_ms.unwrap();
    assert!((13.2..14.4).contains(&p99_ms), "{p99_ms}");
}

/// A game beside a program on a line of 10 Mbps up and 100 Mbps down, which is idle but for the program.
const GAME: &str = "traffic.game = { kind = 'stream', purpose = 'game', server = 'near' }";

/// The game's mean round trip and its idle one, and the codes of warnings, of 6 s in which a program sends packets of so many
/// bytes, one in so many us, from second 1 to 4.
fn beside_a_program(way: Direction, bytes: usize, each_us: u64) -> ([Option<f64>; 2], Vec<Code>) {
    let mut live = Live::new(&Case::of(LINE, &[GAME]).scenario());
    let one = match way {
        Direction::Up => Sent::udp(bytes),
        Direction::Down => Sent::udp(bytes).back(),
    };
    let mut at = Time::from_s(1);
    while at < Time::from_s(4) {
        live.send(at, "real", way, &one);
        at += Time::from_us(each_us);
    }
    live.until(Time::from_s(6));
    let (results, ..) = live.finish();
    let game = results.flows.iter().find(|row| row.traffic == "game" && row.direction == "up");
    let game = game.unwrap();
    let codes = results.warnings.iter().map(|warning| warning.code).collect();
    assert_eq!([game.rtt_up_mean_ms, game.rtt_down_mean_ms], [None; 2]);
    ([game.rtt_mean_ms, game.rtt_idle_mean_ms], codes)
}

/// 5 % of the line are 0.5 Mbps up and 5 Mbps down. While a program takes more, nobody measures an idle line; while it takes
/// less, as a ping or a call does, the line is idle.
#[test]
fn round_trips_beside_a_programs_load_are_not_those_of_an_idle_line() {
    let none = beside_a_program(Direction::Up, 100, 10_000_000);
    let idle_ms = none.0[1].unwrap();
    assert_eq!(none.0[0], none.0[1]);
    // 1028 B each 20 ms are 0.41 Mbps; 1428 B each 2.5 ms are 4.6 Mbps.
    for (way, bytes, each_us) in [(Direction::Up, 1000, 20_000), (Direction::Down, 1400, 2500)] {
        let ([all, idle], codes) = beside_a_program(way, bytes, each_us);
        assert!(all == idle && !codes.contains(&Code::ProgramLoad), "{way:?} {all:?} {idle:?}");
    }
    // 12 and 120 Mbps, of which the queues keep packets waiting for 12 ms and more; 0.57 and 5.7 Mbps.
    for (way, bytes, each_us, waits) in [
        (Direction::Up, 1472, 1000, true),
        (Direction::Down, 1472, 100, true),
        (Direction::Up, 1400, 20_000, false),
        (Direction::Down, 1400, 2000, false),
    ] {
        let ([all, idle], codes) = beside_a_program(way, bytes, each_us);
        let (all, idle) = (all.unwrap(), idle.unwrap());
        assert!((idle - idle_ms).abs() < 0.05, "{way:?} {idle} {idle_ms}");
        assert!(!waits || all > idle_ms + 4.0, "{way:?} {all}");
        assert!(codes.contains(&Code::ProgramLoad), "{way:?} {codes:?}");
    }
}

/// A neighbour's program fills the neighbour's line: of the game there no round trip is idle, and of the one here each is.
#[test]
fn a_program_is_a_load_of_its_own_home_alone() {
    let real = "kind = 'outside', home = 'next'";
    let line = LINE.replace("kind = 'outside'", real);
    let theirs = GAME.replace("traffic.game = {", "traffic.theirs = { home = 'next',");
    let homes = "homes = { ours = {}, next = {} }";
    let mut live = Live::new(&Case::of(&line, &[GAME, &theirs, homes]).scenario());
    for number in 0..4000 {
        live.send(Time::from_ms(number), "real", Direction::Up, &Sent::udp(1472));
    }
    live.until(Time::from_s(4));
    let (results, ..) = live.finish();
    let means = |game| {
        let row = results.flows.iter().find(|row| row.traffic == game && row.direction == "up");
        row.map(|row| (row.rtt_mean_ms, row.rtt_idle_mean_ms)).unwrap()
    };
    let (ours, next) = (means("game"), means("theirs"));
    assert!(ours.0.is_some() && ours.0 == ours.1, "{ours:?}");
    assert!(next.0.unwrap() > ours.0.unwrap() + 4.0 && next.1.is_none(), "{next:?}");
}

/// Of 10 Mbps up and 100 down a program takes more than 5 % in one direction or in none: what an upload and a film are due beside
/// it is not known. 1518 B each 20 ms are 0.6 Mbps and each 2 ms 6 Mbps; each 30 ms are 0.4 Mbps.
#[test]
fn a_part_of_the_line_beside_a_programs_load_is_not_graded() {
    let line = LINE.replace("duration_s = 1", "duration_s = 20");
    let upload = "traffic.up = { kind = 'transfer', server = 'near' }";
    let film = "traffic.film = { kind = 'video', server = 'near' }";
    let unknown = |way, each_ms| {
        let scenario = Case::of(&line, &[upload, film]).scenario();
        let mut live = Live::new(&scenario);
        let one = Sent::udp(1472);
        let one = if way == Direction::Up { one } else { one.back() };
        for at in (0..20_000).step_by(each_ms) {
            live.send(Time::from_ms(at), "real", way, &one);
        }
        live.until(Time::from_s(20));
        let facts = Facts::of(&scenario, &Rows::from(&live.finish().0));
        let group = Group { name: "", variant: "", point: &[], runs: vec![&facts] };
        let found = verdict(&[group], &[]);
        let why = "a real program takes an unknown part of the line beside traffic.";
        let all = found.groups[0].assessments.iter().filter(|one| one.summary.contains(why));
        all.map(|one| (one.application, one.grade)).collect::<Vec<_>>()
    };
    assert_eq!(unknown(Direction::Up, 20), [("upload", None)]);
    assert_eq!(unknown(Direction::Down, 2), [("video rate", None)]);
    assert_eq!(unknown(Direction::Up, 30), []);
    assert_eq!(unknown(Direction::Down, 20), []);
}

/// What a replayed program did is not the upload's doing, and the idle line lacks both.
#[test]
fn an_answer_on_a_replay_names_the_program_beside_the_upload() {
    let upload = "traffic.up = { kind = 'transfer', server = 'near' }";
    let case = Case::of(LINE, &[GAME, upload, "baseline = true"]);
    let mut live = Live::new(&case.scenario());
    for number in 0..50_000 {
        let at = Time::from_us(100 * number);
        live.send(at, "real", Direction::Down, &Sent::udp(1472).back());
    }
    let record = live.finish().2;
    let settings = Record::read(&record).unwrap().settings("live.pcapng");
    let mut variants = case.load(&record, &settings).unwrap();
    variants.extend(idle_lines(&variants));
    let runs: Vec<_> = variants.iter().map(|one| Simulation::run(&one.scenario)).collect();
    let facts = variants.iter().zip(&runs);
    let facts: Vec<_> =
        facts.map(|(one, run)| Facts::of(&one.scenario, &Rows::from(run))).collect();
    let groups = variants.iter().zip(&facts).map(|(variant, facts)| Group {
        name: &variant.name,
        variant: &variant.name,
        point: &[],
        runs: vec![facts],
    });
    let found = verdict(&groups.collect::<Vec<_>>(), &[]);
    // All of them were measured beside the program.
    assert_eq!(found.groups[0].round_trip, None);
    let said = found.sentences.join(" ");
    assert!(said.contains("The upload and real make the game"), "{said}");
    assert!(!said.contains("The upload makes"), "{said}");
}

/// The service flow that a real packet takes is that which its own header is given, and its ECN field the one that
/// queues made of it.
#[test]
fn each_packet_takes_the_service_flow_of_its_own_header() {
    let flow = |name: &str, matches: &str| {
        format!(
            "upstream.flows.{name} = {{ sustained_mbps = 5, burst_bytes = 3044, match = [{{ {matches} }}] }}"
        )
    };
    let flows = [
        flow("ports", "protocol = 'udp', destination_ports = [5004, 5004]"),
        flow("tcp", "protocol = 'tcp', source_ports = [40000, 40010]"),
        flow("dscp", "priority = 9, dscp = [46, 46]"),
        flow("ect1", "priority = 10, tos = [1, 1, 3]"),
        flow("six", "priority = 8, destination = '2001:db8::/32'"),
    ];
    let sets: Vec<&str> =
        flows.iter().map(String::as_str).chain(["metrics.packet_trace = true"]).collect();
    let mut live = Live::new(&Case::of(LINE, &sets).scenario());
    let six = |host| IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, host));
    let to = |port| Sent { ports: [40_000, port], ..Sent::udp(100) };
    let mut fragment = to(5004).bytes();
    fragment[6] |= 0x20; // more fragments
    let fragment = Header::read(&fragment).unwrap();
    let cases = [
        (to(5004).header(), 1),
        (to(5005).header(), 0),
        (fragment, 0),
        (Sent::ack(1).header(), 2),
        (Sent { ports: [39_999, 443], ..Sent::ack(1) }.header(), 0),
        (Sent { tos: 46 << 2, ..to(5004) }.header(), 3),
        (Sent { tos: 46 << 2 | 1, ..to(5004) }.header(), 4),
        (Sent { tos: 2, ..to(9) }.header(), 0),
        (Sent { ends: [six(1), six(2)], ..to(5004) }.header(), 5),
        (Sent { protocol: ICMP, ..to(9) }.header(), 0),
    ];
    let entry = live.run.outside("real").unwrap();
    for (number, (header, _)) in cases.iter().enumerate() {
        live.run.inject(
            Time::from_ms(10 * number as u64),
            entry,
            Direction::Up,
            header,
            number as u64,
        );
    }
    live.run.run_until(Time::from_s(1));
    let rows = live.run.finish().service_flows;
    for flow in 0..=5 {
        let want = cases.iter().filter(|(_, of)| *of == flow).count() as u64;
        let names = ["primary", "ports", "tcp", "dscp", "ect1", "six"];
        let row = rows.iter().find(|row| row.direction == "up" && row.service_flow == names[flow]);
        assert_eq!(row.map(|row| row.forwarded_packets), Some(want), "{}", names[flow]);
    }
}

/// Bare acknowledgements come faster than the line carries them. Of `Sent`s in turn, which were superseded?
fn superseded(queue: &str, sent: &[Sent]) -> Vec<u64> {
    let sets = [queue, "upstream.sustained_mbps = 0.1", "upstream.peak_mbps = 0.1"];
    let mut live = Live::new(&Case::of(LINE, &sets).scenario());
    // It occupies the line, so that the others wait for each other.
    live.send(Time::ZERO, "real", Direction::Up, &Sent::udp(1400));
    live.send(Time::ZERO, "real", Direction::Up, &Sent::udp(1400));
    for one in sent {
        live.send(Time::from_ms(1), "real", Direction::Up, one);
    }
    live.until(Time::from_s(5));
    let (_, fates, _) = live.finish();
    let gone = fates.iter().filter(|(_, (_, what))| !what.contains(' '));
    gone.map(|(handle, _)| *handle - 2).collect()
}

/// Kind 5: SACK (RFC 2018 §3), behind two of kind 1.
fn sack(blocks: &[[u32; 2]]) -> Vec<u8> {
    let mut option = vec![1, 1, 5, 2 + 8 * blocks.len() as u8];
    option.extend(blocks.iter().flatten().flat_map(|number| number.to_be_bytes()));
    option
}

#[test]
fn a_modem_replaces_what_the_real_header_lets_it() {
    let modem = "upstream.queue.acks = 'aggregated'";
    let ack = Sent::ack;
    let of = |sent: &[Sent]| superseded(modem, sent);
    assert_eq!(of(&[ack(1000), ack(2000), ack(3000)]), [0, 1]);
    // The numbers wrap.
    assert_eq!(of(&[ack(0xffff_ff00), ack(0x100), ack(0x200)]), [0, 1]);
    // Duplicates count losses; other connections, payload and other protocols are none of its business.
    assert_eq!(of(&[ack(1000), ack(1000)]), [0; 0]);
    let other = Sent { ports: [40_001, 443], ..ack(2000) };
    assert_eq!(of(&[ack(1000), other, Sent { payload: 1, ..ack(2000) }, Sent::udp(0)]), [0; 0]);
    // What holds bytes beyond stays, as does what says more than filters read.
    let holding = Sent { options: sack(&[[5000, 6000]]), ..ack(1000) };
    assert_eq!(of(&[holding, ack(2000)]), [0; 0]);
    for flags in [RST | ACK, PSH | ACK, SYN | ACK] {
        let special = Sent { flags, ..ack(1000) };
        assert_eq!(of(&[special, ack(2000), ack(3000)]), [1], "{flags}");
    }
    let unknown = Sent { options: vec![30, 4, 0, 0], ..ack(1000) };
    assert_eq!(of(&[unknown, ack(2000), ack(3000)]), [1]);
    let stamped =
        |number: u32| Sent { options: vec![1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 1], ..ack(number) };
    assert_eq!(of(&[stamped(1000), stamped(2000)]), [0]);
}

#[test]
fn cake_drops_what_the_real_header_lets_it() {
    let cake = "upstream.queue.scheduler = { kind = 'cake', ack_filter = 'aggressive' }";
    let ack = Sent::ack;
    let of = |sent: &[Sent]| superseded(cake, sent);
    assert_eq!(of(&[ack(1000), ack(2000), ack(3000)]).len(), 2);
    assert_eq!(of(&[ack(0xffff_ff00), ack(0x100)]), [0]);
    assert_eq!(of(&[ack(1000), Sent { flags: ACK | ECE, ..ack(2000) }]), [0; 0]);
    let holding = |end| Sent { options: sack(&[[5000, end]]), ..ack(1000) };
    assert_eq!(of(&[holding(6000), holding(7000)]), [0]);
    assert_eq!(of(&[holding(7000), holding(6000)]), [0; 0]);
    // A fourth block is not read, so that nobody knows whether a later packet has it too.
    let four = sack(&[[5000, 6000], [7000, 8000], [9000, 9500], [9600, 9700]]);
    assert_eq!(of(&[Sent { options: four, ..ack(1000) }, ack(9800)]), [0; 0]);
    assert_eq!(of(&[Sent { flags: RST | ACK, ..ack(1000) }, ack(2000)]), [0; 0]);
}

#[test]
fn the_same_packets_have_the_tins_of_simulated_ones() {
    let case = |traffic: &str| {
        let cake = "queue = { limit_bytes = 1_000_000, scheduler = { kind = 'cake', diffserv = 'diffserv4' } }";
        Case::of(&LINE.replace("queue.limit_bytes = 15_000", cake), &[traffic]).scenario()
    };
    let stream = "traffic.stream = { kind = 'stream', purpose = 'data', packet_bytes = 1000, interval_ms = 10, dscp = 46 }";
    let mut simulated = case(stream);
    simulated.traffic.shift_remove("real");
    let simulated = Simulation::run(&simulated);
    let mut run = Simulation::endless(&case("seed = 1"));
    for number in 0..100 {
        let packet = Sent { tos: 46 << 2, ..Sent::udp(1000 - 28) };
        run.inject(Time::from_ms(10 * number), 0, Direction::Up, &packet.header(), number);
    }
    run.run_until(Time::from_s(1));
    let real = run.finish();
    let tins = |results: &Results| -> Vec<(String, u64)> {
        let of_tin = |row: &&sojourn::results::metrics::rows::QueueRow| row.direction == "up";
        results
            .queues
            .iter()
            .filter(of_tin)
            .map(|row| (row.queue.clone(), row.departed_packets))
            .collect()
    };
    assert_eq!(tins(&real), tins(&simulated));
}

#[test]
fn another_queue_is_an_open_loop_and_another_line_is_refused() {
    let case = Case::of(LINE, &[]);
    let mut live = Live::new(&case.scenario());
    for number in 0..500 {
        live.send(Time::from_ms(number), "real", Direction::Up, &Sent::udp(1472));
    }
    let (results, _, record) = live.finish();
    let (same, notes) =
        case.replayed(&record, &["duration_s = 3", "metrics.packet_trace = true"]).unwrap();
    assert_eq!(notes, [""; 0]);
    assert_eq!(Simulation::run(&same).fingerprint, results.fingerprint);
    let (other, notes) = case.replayed(&record, &["upstream.queue.law.kind = codel"]).unwrap();
    assert!(notes[0].contains("upstream.queue.law") && notes[0].contains("open loop"), "{notes:?}");
    let other = Simulation::run(&other);
    let up = other.flows.iter().find(|row| row.direction == "up").unwrap();
    assert_eq!(up.sent_packets, 500);
    assert!(up.dropped_aqm_packets > 0);
    let (_, notes) = case.replayed(&record, &["seed = 99"]).unwrap();
    assert!(notes[0].contains("(seed)"), "{notes:?}");
    for other in ["upstream.sustained_mbps = 9", "servers.near.delay_ms = 3"] {
        let problems = case.replayed(&record, &[other]).unwrap_err().to_string();
        let key = other.split(' ').next().unwrap();
        assert!(problems.contains(key) && problems.contains("traffic.real.record"), "{problems}");
        let (_, notes) = case.replayed(&record, &[other, "traffic.real.anyway = true"]).unwrap();
        assert!(notes[0].contains(key), "{notes:?}");
    }
    let refused =
        case.replayed(&record, &["traffic.real.digest = '0123456789abcdef'"]).unwrap_err();
    assert!(refused.to_string().contains("0123456789abcdef"), "{refused}");
}

/// Where the blocks of a record are: a type, the length of all, what is in it, and the length again.
fn blocks(record: &[u8]) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut begin = 0;
    while begin < record.len() {
        let length = u32::from_le_bytes(record[begin + 4..begin + 8].try_into().unwrap());
        found.push(begin..begin + length as usize);
        begin += length as usize;
    }
    found
}

/// As former versions wrote it: all times, each two numbers of 32 bits, in picoseconds.
fn in_picoseconds(record: &[u8]) -> Vec<u8> {
    let mut old = record.to_vec();
    let scale = |bytes: &mut [u8]| {
        let [high, low] =
            [0, 4].map(|at| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()));
        let ps = 1000 * (u64::from(high) << 32 | u64::from(low));
        bytes[..4].copy_from_slice(&((ps >> 32) as u32).to_le_bytes());
        bytes[4..8].copy_from_slice(&(ps as u32).to_le_bytes());
    };
    for block in blocks(record) {
        let block = &mut old[block];
        match block[0] {
            1 => {
                let resolution = block.windows(5).position(|five| five == [9, 0, 1, 0, 9]).unwrap();
                block[resolution + 4] = 12;
            }
            5 => {
                scale(&mut block[12..20]);
                scale(&mut block[24..32]);
            }
            6 => scale(&mut block[12..20]),
            _ => {}
        }
    }
    old
}

/// Readers of captures know nanoseconds, and some none that are shorter. What a time has beyond them is kept too, and records
/// of former versions are read.
#[test]
fn times_are_in_nanoseconds_and_exact() {
    let record = |times: &[u64]| {
        let mut live = Live::new(&Case::of(LINE, &[]).scenario());
        for ps in times {
            live.send(Time::from_ps(*ps), "real", Direction::Up, &Sent::udp(200));
        }
        live.finish().2
    };
    let read = |record: &[u8]| Record::read(record).unwrap().entries["real"].clone();
    let times = |record: &[u8]| read(record).all.iter().map(|one| one.at.ps()).collect::<Vec<_>>();
    let odd = [0, 1, 999, 1000, 5_000_000_000_123, 5_000_000_000_124];
    let found = read(&record(&odd));
    assert_eq!((times(&record(&odd)), found.end.ps()), (odd.to_vec(), odd[5]));
    // An hour is 3.6e15 ps.
    let whole = [7000, 3_600_000_000_000_000];
    let new = record(&whole);
    let time = &new[blocks(&new)[4].clone()][12..20];
    assert_eq!(
        u32::from_le_bytes(time[..4].try_into().unwrap()),
        (3_600_000_000_000_u64 >> 32) as u32
    );
    let old = in_picoseconds(&new);
    assert_eq!(times(&old), whole);
    assert_eq!(read(&old), read(&new));
}

/// A record of one of several variants is replayed in it and those of its line, and they say that the others are left out.
#[test]
fn a_record_is_of_the_variants_on_its_line() {
    let variants = "[compare.slow]\n[compare.other.upstream.queue]\nlimit_bytes = 9000\n\
                    [compare.fast.upstream]\nsustained_mbps = 20\npeak_mbps = 20";
    let text = format!("{LINE}\n{variants}");
    for (variant, want, left) in
        [(0, &["slow", "other"][..], "\"fast\""), (2, &["fast"], "\"slow\", \"other\"")]
    {
        let case = Case { variant, ..Case::of(&text, &[]) };
        let mut live = Live::new(&case.scenario());
        live.send(Time::ZERO, "real", Direction::Up, &Sent::udp(200));
        let record = live.finish().2;
        let mut settings = Record::read(&record).unwrap().settings("live.pcapng");
        let found = case.load(&record, &settings).unwrap();
        assert_eq!(found.iter().map(|one| &*one.name).collect::<Vec<_>>(), want);
        for one in &found {
            let said = one.notes.iter().find(|note| note.code == Code::OtherLine);
            assert!(said.is_some_and(|note| note.message.contains(left)), "{:?}", one.notes);
        }
        settings.push("traffic.real.anyway = true".to_owned());
        assert_eq!(case.load(&record, &settings).unwrap().len(), 3);
    }
    // One of none is refused with all.
    let elsewhere = Case::of(&text, &["downstream.sustained_mbps = 50"]);
    let record = recorded("real", 1);
    let settings = Record::read(&record).unwrap().settings("live.pcapng");
    let refused = elsewhere.load(&record, &settings).unwrap_err();
    assert!(refused.reported().all(|one| one.code == Code::OtherLine), "{refused}");
}

/// A record that was cut at any place, or has other bytes, is refused or read, and never breaks the reader.
#[test]
fn a_damaged_record_is_refused() {
    let mut live = Live::new(&Case::of(LINE, &[]).scenario());
    for number in 0..20 {
        live.send(Time::from_ms(number), "real", Direction::Up, &Sent::udp(200));
    }
    let (_, _, record) = live.finish();
    let whole = Record::read(&record).unwrap();
    assert_eq!((whole.entries.len(), whole.entries["real"].all.len()), (1, 20));
    assert_eq!(whole.entries["real"].end, Time::from_ms(19));
    let borders = blocks(&record);
    assert_eq!(borders.len(), 1 + 2 + 20 + 2);
    for border in borders {
        let refused = Record::read(&record[..border.start]).unwrap_err();
        assert!(refused.contains("allowed: a complete record"), "{refused}");
    }
    let mut rng = Rng::named(1, "damage");
    for _ in 0..2000 {
        let mut damaged = record.clone();
        match rng.below(2) {
            0 => damaged.truncate(rng.below(record.len() as u64) as usize),
            _ => damaged[rng.below(record.len() as u64) as usize] = rng.below(256) as u8,
        }
        let _ = Record::read(&damaged);
    }
    assert!(Record::read(&record[..record.len() - 5]).unwrap_err().contains("after packet 20"));
    assert!(Record::read(b"not a record").is_err());
}

/// The traffic model `replay` reads a record as the capture that it is: who sent what is in the flags.
#[test]
fn a_record_is_a_capture_too() {
    let mut live = Live::new(&Case::of(LINE, &[]).scenario());
    for (number, direction) in
        [Direction::Down, Direction::Up, Direction::Up].into_iter().enumerate()
    {
        let packet =
            if direction == Direction::Up { Sent::udp(200) } else { Sent::udp(300).back() };
        live.send(Time::from_ms(5 * number as u64), "real", direction, &packet);
    }
    let (_, _, record) = live.finish();
    let reading = sojourn::scenario::capture::parse(&record, &Default::default()).unwrap();
    // 18 bytes of Ethernet around 28 bytes of headers.
    let packets: Vec<_> =
        reading.capture.0.iter().map(|one| (one.at, one.size, one.direction)).collect();
    let ms = Time::from_ms;
    let want =
        [(ms(0), 346, Direction::Down), (ms(5), 246, Direction::Up), (ms(10), 246, Direction::Up)];
    assert_eq!(packets, want);
}

#[test]
fn headers_say_what_the_bytes_do() {
    let one = Sent { tos: 46 << 2 | 1, ..Sent::udp(100) }.header();
    assert_eq!((one.ip_bytes, one.header_bytes, one.payload_bytes()), (128, 28, 100));
    assert_eq!(
        (one.dscp, one.ecn, one.protocol, one.ports),
        (46, Ecn::Ect1, UDP, Some([40_000, 9]))
    );
    let six = [1, 2].map(|host| IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, host)));
    let six = Sent { ends: six, tos: 0xb6, ..Sent::ack(7) }.header();
    assert_eq!((six.ip_bytes, six.header_bytes, six.version()), (60, 60, 6));
    assert_eq!((six.dscp, six.ecn), (0xb6 >> 2, Ecn::Ect0));
    let tcp = six.tcp.unwrap();
    assert_eq!((tcp.ack, tcp.flags), (7, Flags::ACK));
    let held = Sent { options: sack(&[[500, 700], [2000, 3000]]), ..Sent::ack(1000) }
        .header()
        .tcp
        .unwrap();
    // The first came twice: it is below what is acknowledged.
    assert_eq!(
        held.blocks.map(|block| block.bytes(1000)),
        [Some((500, 700)), Some((2000, 3000)), None]
    );
    assert_eq!(held.flags, Flags::ACK);
    assert_eq!(Header::read(&[]), Err(NotIp::Malformed));
    assert_eq!(Header::read(&[0x55; 40]), Err(NotIp::Version));
    assert_eq!(Header::read(&Sent::udp(100).bytes()[..19]), Err(NotIp::Malformed));
    assert_eq!(Header::read(&Sent::udp(9000).bytes()), Err(NotIp::TooLarge(9028)));
}

/// Of any bytes: nothing panics, and the headers alone say the same as the whole packet.
#[test]
fn headers_are_enough() {
    let mut rng = Rng::named(1, "headers");
    let mut read = 0;
    for _ in 0..200_000 {
        let direction = Direction::BOTH[rng.below(2) as usize];
        let mut sent = Sent::drawn(&mut rng, direction);
        sent.payload = sent.payload.min(40);
        if rng.below(2) == 0 {
            sent.options = sack(&[[rng.bits() as u32, rng.bits() as u32]]);
        }
        let mut bytes = sent.bytes();
        for _ in 0..rng.below(4) {
            let place = rng.below(bytes.len() as u64) as usize;
            bytes[place] = rng.bits() as u8;
        }
        bytes.truncate(bytes.len() - rng.below(8) as usize);
        let Ok(whole) = Header::read(&bytes) else { continue };
        read += 1;
        let kept = usize::from(whole.header_bytes).min(bytes.len());
        assert_eq!(Header::read(&bytes[..kept]).as_ref(), Ok(&whole), "{bytes:02x?}");
    }
    assert!(read > 100_000, "{read}");
}
