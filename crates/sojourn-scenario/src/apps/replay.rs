//! Replay of a capture's packets with their sizes and times: cross-traffic that does not react to
//! congestion.
//!
//! A run reads no files. The capture is read when the scenario is loaded (`scenario/capture.rs`),
//! and its packets are part of the loaded scenario.
//!
//! Left out: ports and contents. All packets of a direction are one flow to queues that separate flows.

use sojourn_input::defaults::number;
use std::fmt;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use super::{App, AppContext, AppParameters, Command, Event, Label, Load, Model, Quality};
use sojourn_engine::address::{Address, Network};
use sojourn_engine::packet::Direction;
use sojourn_engine::rng::Rng;
use sojourn_engine::units::Time;
use sojourn_input::digest::digest;
use sojourn_input::problem::{Fault, Faults};

/// A packet of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Captured {
    /// Time after the first packet of the capture.
    pub at: Time,
    /// Bytes on the wire.
    pub size: u16,
    /// From the home or to it.
    pub direction: Direction,
}

/// The addresses of a home: one or several, or whole networks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "OneOrSeveral", into = "OneOrSeveral")]
pub struct Home(pub Vec<Network>);

impl Home {
    /// Is this one of its addresses?
    pub fn holds(&self, address: Address) -> bool {
        self.0.iter().any(|network| network.holds(address))
    }
}

impl fmt::Display for Home {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let networks: Vec<_> = self.0.iter().map(Network::to_string).collect();
        f.write_str(&networks.join(", "))
    }
}

/// A home as users write it.
#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum OneOrSeveral {
    One(String),
    Several(Vec<String>),
}

impl TryFrom<OneOrSeveral> for Home {
    type Error = String;

    fn try_from(written: OneOrSeveral) -> Result<Self, String> {
        let networks = match written {
            OneOrSeveral::One(network) => vec![network],
            OneOrSeveral::Several(networks) => networks,
        };
        let networks = networks.into_iter().map(Network::try_from).collect::<Result<_, _>>();
        networks.map(Self).map_err(|error| format!("home_address: {error}"))
    }
}

impl From<Home> for OneOrSeveral {
    fn from(home: Home) -> Self {
        match &home.0[..] {
            [network] => Self::One(network.to_string()),
            networks => Self::Several(networks.iter().map(Network::to_string).collect()),
        }
    }
}

fn home_schema(_: &mut SchemaGenerator) -> Schema {
    schemars::json_schema!({
        "type": ["string", "array", "null"],
        "items": { "type": "string" },
        "minItems": 1,
    })
}

/// The packets of a capture in the order of their times, the first at time zero. All runs of a file
/// share them.
#[derive(Clone, Default, PartialEq)]
pub struct Capture(pub Arc<[Captured]>);

impl Capture {
    /// A digest of times, sizes and directions.
    pub fn digest(&self) -> String {
        let first = self.0.first().map(|packet| packet.direction);
        let is_one_way = self.0.iter().all(|packet| Some(packet.direction) == first);
        // Captures of one direction have the digests that they had when there were no others.
        let way = |packet: &Captured| if is_one_way { 0 } else { 1 + packet.direction as u64 };
        let values = self
            .0
            .iter()
            .flat_map(|packet| [packet.at.ps(), u64::from(packet.size) | way(packet) << u16::BITS]);
        digest(values)
    }
}

impl fmt::Debug for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} packets", self.0.len())
    }
}

/// Parameters of a replay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Replay")]
pub struct Parameters {
    /// Capture file: pcap or pcapng, also compressed by gzip, of Ethernet, Linux cooked
    /// (`tcpdump -i any`), loopback, PPP or raw IP packets. The path is relative to the scenario
    /// file, or to the working directory if the scenario does not come from a file. The resolved
    /// scenario has the absolute path.
    pub file: String,
    /// Digest of the capture's packets, 16 hexadecimal digits. It is filled in when the scenario is
    /// loaded. If it is set, a capture with another digest is rejected.
    #[serde(default)]
    pub digest: Option<String>,
    /// Server at the other end. Default: the first of `servers`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(extend("x-role" = "line"))]
    pub server: String,
    /// Direction of all packets: `up` from the home or `down` to it. Default: each has its own, by
    /// `home_address`; a capture without addresses goes up.
    #[serde(default)]
    pub direction: Option<Direction>,
    /// The home's end of the captured packets: an address or network such as `"192.168.1.0/24"`, or a
    /// list of these. Packets from it are sent up, packets to it down, and others left out. Default:
    /// what the capture shows to be the home; if that is not clear, the scenario is rejected.
    #[serde(default)]
    #[schemars(schema_with = "home_schema")]
    pub home_address: Option<Home>,
    /// Largest IP packet in bytes: larger ones, which segmentation offload joined, are split, and
    /// each part gets the headers. Default: 1500 if the capture has a frame of more than 9018
    /// bytes, and otherwise none is split.
    #[serde(default)]
    #[schemars(range(min = 576, max = 9000))]
    pub mtu_bytes: Option<u16>,
    /// Time at which the first packet is sent, in s.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub start_s: f64,
    /// Time in s from the last packet to the first of the next round. Default: one round only.
    #[serde(default)]
    #[schemars(range(min = 0.000_001, max = 1_000_000.0))]
    pub pause_s: Option<f64>,
    /// Speed factor: gaps between packets are divided by it.
    #[serde(default = "number::<f64, 1>")]
    #[schemars(range(min = 0.001, max = 1000.0))]
    pub speed: f64,
    /// Bytes added to the captured size of each Ethernet frame, or to each IP packet of other link
    /// types. Default: 0 for Ethernet, whose frames usually lack their 4-byte check sequence, and 18
    /// for others: Ethernet header and check sequence.
    #[serde(default)]
    #[schemars(range(min = 0, max = 200))]
    pub framing_bytes: Option<u16>,
    /// The packets, once the file has been read.
    #[serde(skip)]
    #[schemars(skip)]
    pub capture: Capture,
}

impl AppParameters for Parameters {
    one_server!();

    fn start(&self, server: &dyn Fn(&str) -> u16) -> App {
        Replay {
            server: server(&self.server),
            capture: self.capture.clone(),
            speed: self.speed,
            pause: self.pause_s.map(Time::from_secs_f64),
            round_start: Time::from_secs_f64(self.start_s),
            next: 0,
        }
        .into()
    }

    fn largest_datagram(&self) -> u16 {
        self.capture.0.iter().map(|packet| packet.size).max().unwrap_or(0)
    }

    fn load(&self, seconds: f64) -> Load {
        let packets = self.capture.0.len() as f64;
        let bytes: f64 = self.capture.0.iter().map(|packet| f64::from(packet.size)).sum();
        let span_s = self.capture.0.last().map_or(0.0, |last| last.at.secs_f64()) / self.speed;
        let rounds = self.pause_s.map_or(1.0, |pause| 1.0 + seconds / (span_s + pause));
        Load {
            packets: packets * rounds,
            packet_bytes: bytes / packets.max(1.0),
            direction: self.direction,
            ..Load::default()
        }
    }

    fn acts_on_its_own(&self) -> bool {
        true
    }

    fn quality(&self) -> Quality {
        Quality::Throughput
    }

    fn check(&self) -> Faults {
        let is_double = self.home_address.is_some() && self.direction.is_some();
        Faults::from(is_double.then(|| {
            Fault::found("home_address", "it beside a direction for all packets", "one of them")
        }))
    }
}

/// A replay in operation.
pub struct Replay {
    server: u16,
    capture: Capture,
    speed: f64,
    pause: Option<Time>,
    round_start: Time,
    /// Index of the next packet.
    next: usize,
}

impl Replay {
    /// When the next packet is due; exact to the picosecond at the captured speed.
    fn due(&self) -> Time {
        let Some(packet) = self.capture.0.get(self.next) else { return Time::NEVER };
        let after = if self.speed == 1.0 { packet.at } else { packet.at.scaled(1.0 / self.speed) };
        self.round_start + after
    }

    fn begin_round(&mut self, now: Time) {
        if let Some(pause) = self.pause {
            self.round_start = now + pause;
            self.next = 0;
        }
    }
}

impl Model for Replay {
    fn start(&self, _rng: &mut Rng) -> Time {
        self.due()
    }

    fn on_event(&mut self, event: Event, context: &mut AppContext) {
        let (Event::Timer, Some(packet)) = (event, self.capture.0.get(self.next)) else { return };
        context.ask(Command::Datagram {
            server: self.server,
            direction: packet.direction,
            size: packet.size,
            frame: None,
            label: Label::default(),
        });
        self.next += 1;
        if self.next == self.capture.0.len() {
            self.begin_round(context.now);
        }
        context.ask(Command::Wake(self.due()));
    }

    fn is_under_way(&self, _now: Time) -> bool {
        self.due() != Time::NEVER
    }
}
