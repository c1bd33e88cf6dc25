//! Datagrams at a steady pace: voice calls, games, constant bit rate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check_stop;
use super::{App, AppContext, AppParameters, Command, Done, Event, Model, Quality, ServerKeys};
use crate::engine::rng::Rng;
use crate::input::problem::{Fault, Faults};
use crate::packet::Direction;
use crate::tcp::TcpOptions;
use crate::units::Time;

/// What a stream is; this also selects how it is scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// A voice call, scored by the E-model.
    Voice,
    /// An online game, modelled with the packets of a voice call (White & Rice 2013 §3.6) and
    /// scored by latency and loss.
    Game,
    /// Constant-bit-rate data, scored by throughput.
    Data,
}

/// When the packets of a voice call are played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlayoutRule {
    /// By a buffer that follows the network, after WebRTC's NetEQ.
    Adaptive,
    /// Up to 60 ms after the fastest packet of the run; later ones are lost (White & Padden 2012
    /// §3.2.2).
    Fixed,
}

/// Parameters of a stream of datagrams.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Stream")]
pub struct Parameters {
    /// What the stream is; this also selects how it is scored.
    pub purpose: Purpose,
    /// Server at the other end. Default: the first of `servers`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub server: String,
    /// Direction of the packets: `up` from the home or `down` to it.
    #[serde(default)]
    pub direction: Direction,
    /// Size of a packet on the wire in bytes. G.711 with 20 ms of voice: 160 voice + 12 RTP + 8 UDP
    /// + 20 IP + 18 Ethernet = 218 (White & Padden 2012 §3.2.2). Hong 2015 §3.2.2.2 uses 238.
    #[serde(default = "voice_bytes")]
    #[schemars(range(min = 1, max = 9018))]
    pub packet_bytes: u16,
    /// Time between packets in ms (White & Padden 2012 §3.2.2: 20). That study's datagrams at a
    /// constant 1 Mbps are 1000 bytes every 8 ms.
    #[serde(default = "voice_interval_ms")]
    #[schemars(range(min = 0.001, max = 1_000_000.0))]
    pub interval_ms: f64,
    /// Time at which the first packet is sent, in s. Default: a random point in the first interval,
    /// so that the streams of a home are not synchronised.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub start_s: Option<f64>,
    /// Time after which no packet is sent, in s. Default: the stream never stops.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub stop_s: Option<f64>,
    /// When packets are played; only for `purpose = "voice"`. Default: `adaptive`.
    #[serde(default)]
    pub playout: Option<PlayoutRule>,
}

fn voice_bytes() -> u16 {
    218
}

fn voice_interval_ms() -> f64 {
    20.0
}

impl AppParameters for Parameters {
    fn start(&self, server: &dyn Fn(&str) -> u16) -> App {
        Stream {
            server: server(&self.server),
            direction: self.direction,
            size: self.packet_bytes,
            interval: Time::from_secs_f64(self.interval_ms / 1e3),
            start: self.start_s.map(Time::from_secs_f64),
            stop: self.stop_s.map_or(Time::NEVER, Time::from_secs_f64),
        }
        .into()
    }

    fn server_keys(&mut self) -> ServerKeys<'_> {
        ServerKeys::One(&mut self.server)
    }

    fn servers(&self) -> Vec<(String, &str)> {
        vec![("server".to_owned(), &self.server)]
    }

    fn tcp(&self) -> Option<&TcpOptions> {
        None
    }

    fn largest_datagram(&self) -> u16 {
        self.packet_bytes
    }

    fn quality(&self) -> Quality {
        match self.purpose {
            Purpose::Voice => Quality::Voice,
            Purpose::Game => Quality::Game,
            Purpose::Data => Quality::Throughput,
        }
    }

    fn plays_adaptively(&self) -> bool {
        self.purpose == Purpose::Voice && self.playout != Some(PlayoutRule::Fixed)
    }

    fn packet_interval(&self) -> Time {
        Time::from_secs_f64(self.interval_ms / 1e3)
    }

    fn check(&self) -> Faults {
        let mut faults = Faults::from(check_stop(self.start_s.unwrap_or(0.0), self.stop_s));
        if self.playout.is_some() && self.purpose != Purpose::Voice {
            let message = "found with another purpose; allowed: only with purpose voice";
            faults.add(Fault::new("playout", message));
        }
        faults
    }
}

/// A stream in operation.
pub struct Stream {
    server: u16,
    direction: Direction,
    size: u16,
    interval: Time,
    start: Option<Time>,
    stop: Time,
}

impl Model for Stream {
    fn start(&self, rng: &mut Rng) -> Time {
        self.start.unwrap_or_else(|| self.interval.scaled(rng.uniform()))
    }

    fn on_event(&mut self, event: Event, context: &mut AppContext) {
        if !matches!(event, Event::Timer) || context.now > self.stop {
            return;
        }
        context.ask(Command::Datagram {
            server: self.server,
            direction: self.direction,
            size: self.size,
        });
        context.ask(Command::Wake(context.now + self.interval));
    }

    fn done(&self, _now: Time) -> Done {
        Done::default()
    }
}
