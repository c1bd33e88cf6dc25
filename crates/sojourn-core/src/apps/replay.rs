//! The packets of a capture, sent again with the sizes and at the times they had: cross-traffic that
//! answers to nothing.
//!
//! A run reads no files: the capture is read when the scenario is loaded (`scenario/capture.rs`), and
//! its packets are part of the loaded scenario.
//!
//! Left out: addresses, ports and contents. All packets go one way and are one flow to queues that
//! separate flows; a filter such as `tcpdump -r all.pcap -w up.pcap src 192.168.0.2` cuts a capture to
//! one direction.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{App, AppContext, AppParameters, Command, Done, Event, Model, Quality};
use crate::engine::rng::Rng;
use crate::packet::Direction;
use crate::tcp::TcpOptions;
use crate::units::Time;

/// A packet of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Captured {
    /// After the first of the capture.
    pub at: Time,
    /// Bytes on the wire.
    pub size: u16,
}

/// The packets of a capture, the first at time zero, in the order of their times. Shared by all runs
/// of a file.
#[derive(Clone, Default, PartialEq)]
pub struct Capture(pub Arc<[Captured]>);

impl Capture {
    /// A hash of times and sizes (FNV-1a, 64 bit), in 16 hexadecimal digits: it tells captures apart,
    /// not forgeries.
    pub fn digest(&self) -> String {
        let values = self.0.iter().flat_map(|packet| [packet.at.ps(), packet.size.into()]);
        let bytes = values.flat_map(u64::to_le_bytes);
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        format!("{hash:016x}")
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
    /// The capture: pcap or pcapng, of Ethernet or of bare IP packets. The path is relative to the
    /// scenario file, or to the working directory where the scenario comes from no file. The loaded
    /// scenario has the absolute path.
    pub file: String,
    /// Digest of the packets, 16 hexadecimal digits, filled in when the scenario is loaded. Where a
    /// file gives it, another capture is refused.
    #[serde(default)]
    pub digest: Option<String>,
    /// The server at the other end.
    pub server: String,
    /// Which way the packets go.
    #[serde(default)]
    pub direction: Direction,
    /// When the first packet is sent, in s.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub start_s: f64,
    /// Time from the last packet to the first of the next round in s. Unset: one round.
    #[serde(default)]
    #[schemars(range(min = 0.000_001, max = 1_000_000.0))]
    pub pause_s: Option<f64>,
    /// How many times faster than captured: gaps are divided by it.
    #[serde(default = "unity")]
    #[schemars(range(min = 0.001, max = 1000.0))]
    pub speed: f64,
    /// Bytes added to the captured size of each packet. Unset: 0 for Ethernet, whose frames are taken
    /// as they were captured (usually without the 4 B of their check sequence), and 18 for bare IP
    /// packets: an Ethernet header and check sequence.
    #[serde(default)]
    #[schemars(range(min = 0, max = 200))]
    pub framing_bytes: Option<u16>,
    /// The packets, once the file has been read.
    #[serde(skip)]
    #[schemars(skip)]
    pub capture: Capture,
}

fn unity() -> f64 {
    1.0
}

impl AppParameters for Parameters {
    fn start(&self, server: &dyn Fn(&str) -> u16) -> App {
        Replay {
            server: server(&self.server),
            direction: self.direction,
            capture: self.capture.clone(),
            speed: self.speed,
            pause: self.pause_s.map(Time::from_secs_f64),
            round_start: Time::from_secs_f64(self.start_s),
            next: 0,
        }
        .into()
    }

    fn servers(&self) -> Vec<(String, &str)> {
        vec![("server".to_owned(), &self.server)]
    }

    fn tcp(&self) -> Option<&TcpOptions> {
        None
    }

    fn largest_datagram(&self) -> u16 {
        self.capture.0.iter().map(|packet| packet.size).max().unwrap_or(0)
    }

    fn quality(&self) -> Quality {
        Quality::Throughput
    }
}

/// A replay at work.
pub struct Replay {
    server: u16,
    direction: Direction,
    capture: Capture,
    speed: f64,
    pause: Option<Time>,
    round_start: Time,
    /// The packet that is next.
    next: usize,
}

impl Replay {
    /// When the next packet is due; at the captured speed to the picosecond.
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
            direction: self.direction,
            size: packet.size,
        });
        self.next += 1;
        if self.next == self.capture.0.len() {
            self.begin_round(context.now);
        }
        context.ask(Command::Wake(self.due()));
    }

    fn done(&self, _now: Time) -> Done {
        Done::default()
    }
}
