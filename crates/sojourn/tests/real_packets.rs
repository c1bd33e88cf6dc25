//! Real packets cross simulated networks: each comes back once, and a record of them has the same fates.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde_json::{Value, json};
use sojourn::Simulation;
use sojourn::engine::rng::Rng;
use sojourn::outside::{Arrived, Direction, Ecn, Header, Lost, Time, Writer};
use sojourn::results::metrics::Results;
use sojourn::scenario::{Files, Scenario, Source};
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
                within.push(((20 + self.options.len()) / 4 << 4) as u8);
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

/// The same scenario with its packets from a record.
fn replayed(keys: &Value, record: &[u8]) -> Scenario {
    let text = toml::to_string(keys).expect("it is a table");
    let found = sojourn::outside::Record::read(record).expect("it is a record");
    let files = Memory(record.to_vec());
    let source = Source::new(&text, "replayed.toml").files(&files);
    let sets = found.settings("live.pcapng");
    let variants = source.sets(&sets).load().unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(
        variants[0].notes.iter().filter(|note| note.message.contains("open loop")).count(),
        0
    );
    variants[0].scenario.clone()
}

/// Packets at random times come, and all of them come back once or are inside. Then their record is replayed.
fn carries(keys: &Value, scenario: &Scenario, seed: u64) {
    let mut rng = Rng::named(seed, "packets");
    let mut live = Live::new(scenario);
    let mut at = Time::ZERO;
    for _ in 0..300 {
        at += Time::from_ps(1000 * rng.below(4_000_000));
        if rng.below(20) == 0 {
            live.until(at);
        }
        if rng.below(4) > 0 {
            at = live.run.now().max(at);
        }
        let direction = Direction::BOTH[rng.below(2) as usize];
        live.send(at, "real", direction, &Sent::drawn(&mut rng, direction));
    }
    let more = Time::from_ms(rng.below(50));
    live.until(at + more);
    let (results, fates, record) = live.finish();
    let flows = results.flows.iter().filter(|row| row.traffic == "real");
    let sent: u64 = flows.clone().map(|row| row.sent_packets).sum();
    let delivered: u64 = flows.map(|row| row.delivered_packets).sum();
    let arrived = fates.values().filter(|(_, what)| what.contains(' ')).count() as u64;
    if scenario.metrics.from_s == 0.0 {
        assert_eq!((sent, delivered), (300, arrived));
    }

    let mut again = replayed(keys, &record);
    again.metrics.packet_trace = true;
    let replay = Simulation::run(&again);
    assert_eq!((replay.fingerprint, replay.events), (results.fingerprint, results.events));
    assert_eq!(format!("{:?}", replay.flows), format!("{:?}", results.flows));
    let entry = again.traffic.get_index_of("real").unwrap() as u16;
    let own = replay.packets.iter().filter(|packet| packet.traffic == entry);
    let traced: BTreeMap<u64, Time> =
        own.map(|packet| (packet.segment.seq, packet.ended)).collect();
    assert_eq!(traced, fates.iter().map(|(handle, (at, _))| (*handle, *at)).collect());
}

#[test]
fn random_networks_carry_them_and_a_replay_does_the_same() {
    let mut carried = 0;
    rounds(40, |seed| {
        let mut keys = swarm::drawn(seed);
        keys["traffic"]["real"] = json!({ "kind": "outside", "server": "near" });
        keys["clock_drift_ppm"] = json!(0);
        if let Ok(scenario) = swarm::network::scenario(&mut keys) {
            let reported = swarm::Reported(&keys);
            carries(reported.0, &scenario, seed);
            carried += 1;
        }
    });
    assert!(carried > 10, "{carried}");
}
