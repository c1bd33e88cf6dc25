//! Sources that send at a steady rate for a random time and pause for a random time: the exponential
//! on/off source of ns-2 (ns-2.35 tools/expoo.cc).
//!
//! A source sends packets of one size at the interval that its rate gives. The packets of a burst are
//! drawn from an exponential distribution and rounded to the nearest number, but at least one; after
//! them comes a pause, exponential too. A source begins with a pause.
//!
//! Over TCP a packet is so many bytes to send, and the connection carries them as it can: what it
//! cannot is sent later. Rates count payload, so the wire carries more by the headers: with 1460 B in
//! packets of 1500 B, 2.7 %.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agenda::Agenda;
use super::{
    App, AppContext, AppParameters, Command, ConnectionId, Done, End, Event, Model, Quality,
};
use crate::engine::rng::Rng;
use crate::input::compare::ascending;
use crate::input::problem::Fault;
use crate::packet::Direction;
use crate::tcp::TcpOptions;
use crate::units::Time;

/// What carries the packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// A TCP connection for each source.
    #[default]
    Tcp,
    /// Datagrams. Those of all sources of an entry are one flow to queues that separate flows.
    Datagrams,
}

/// Parameters of sources that pause. Hong 2015 §5.3.2: ME1 has 36 sources of 0.5 Mbps, bursts of
/// [2, 4] s and pauses three times as long; ME2 180 of 0.1 Mbps, bursts of 2 and pauses of 3 s; ME3
/// 90 of 0.1 and 90 of [0.3, 0.6] Mbps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "OnOff")]
pub struct Parameters {
    /// The server at the other end.
    pub server: String,
    /// Which way the data goes.
    #[serde(default)]
    pub direction: Direction,
    /// What carries the packets.
    #[serde(default)]
    pub transport: Transport,
    /// Sources, each on its own.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 10_000))]
    pub sources: u32,
    /// Mean rate of a source over bursts and pauses in Mbps: of payload over TCP, on the wire with
    /// datagrams. Two values are the bounds of a range in which each source draws its own, evenly.
    #[schemars(length(min = 1, max = 2), inner(range(min = 0.000_001, max = 100_000.0)))]
    pub mean_mbps: Vec<f64>,
    /// Mean length of a burst in s (ns-2: 0.5). Two values as with `mean_mbps`.
    #[serde(default = "half")]
    #[schemars(length(min = 1, max = 2), inner(range(min = 0.000_001, max = 1_000_000.0)))]
    pub on_s: Vec<f64>,
    /// Mean length of a pause as a multiple of that of a burst; a burst is sent at the mean rate
    /// times one more than this (ns-2: 1).
    #[serde(default = "unity")]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub off_per_on: f64,
    /// Bytes of a packet: of payload over TCP, where 1448 fill one that has timestamps; on the wire
    /// with datagrams (ns-2: 210).
    #[serde(default = "full_segment")]
    #[schemars(range(min = 1, max = 9018))]
    pub packet_bytes: u16,
    /// When the sources begin with a pause, in s.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub start_s: f64,
    /// TCP keys in which these connections differ from the scenario's.
    #[serde(default)]
    pub tcp: TcpOptions,
}

fn one() -> u32 {
    1
}

fn half() -> Vec<f64> {
    vec![0.5]
}

fn unity() -> f64 {
    1.0
}

fn full_segment() -> u16 {
    1460
}

impl AppParameters for Parameters {
    fn start(&self, server: &dyn Fn(&str) -> u16) -> App {
        OnOff {
            server: server(&self.server),
            direction: self.direction,
            sender: End::sending(self.direction),
            transport: self.transport,
            packet_bytes: self.packet_bytes,
            mean_mbps: bounds(&self.mean_mbps),
            on_s: bounds(&self.on_s),
            off_per_on: self.off_per_on,
            agenda: Agenda::new(self.sources, self.start_s, 0.0),
            sources: (0..self.sources).map(|_| Source::default()).collect(),
        }
        .into()
    }

    fn servers(&self) -> Vec<(String, &str)> {
        vec![("server".to_owned(), &self.server)]
    }

    fn tcp(&self) -> Option<&TcpOptions> {
        (self.transport == Transport::Tcp).then_some(&self.tcp)
    }

    fn largest_datagram(&self) -> u16 {
        if self.transport == Transport::Datagrams { self.packet_bytes } else { 0 }
    }

    fn quality(&self) -> Quality {
        Quality::Throughput
    }

    fn check(&self) -> Result<(), Fault> {
        ascending("mean_mbps", &self.mean_mbps, "the bounds of a range")?;
        ascending("on_s", &self.on_s, "the bounds of a range")
    }
}

/// The least and the greatest of one or two values.
fn bounds(values: &[f64]) -> (f64, f64) {
    (values[0], values[values.len() - 1])
}

/// A source and its burst.
#[derive(Default)]
struct Source {
    /// From packet to packet; zero before the source has begun.
    interval: Time,
    /// Mean packets of a burst, before rounding.
    burst_packets: f64,
    /// Mean length of a pause in s.
    off_s: f64,
    /// Packets of the burst still to be sent.
    left: u64,
    connection: Option<ConnectionId>,
}

/// Sources at work. The number of a source is the tag of its connection.
pub struct OnOff {
    server: u16,
    direction: Direction,
    sender: End,
    transport: Transport,
    packet_bytes: u16,
    mean_mbps: (f64, f64),
    on_s: (f64, f64),
    off_per_on: f64,
    /// When each source sends its next packet.
    agenda: Agenda,
    sources: Vec<Source>,
}

impl OnOff {
    fn act(&mut self, number: u32, context: &mut AppContext) {
        if self.sources[number as usize].interval == Time::ZERO {
            self.begin(number, context);
        } else {
            self.send(number, context);
        }
        let at = context.now + self.sources[number as usize].until_next(context.rng);
        self.agenda.set(number, at);
    }

    /// Draws what is the source's own.
    fn begin(&mut self, number: u32, context: &mut AppContext) {
        let mut draw = |(least, most)| least + (most - least) * context.rng.uniform();
        let burst_mbps = draw(self.mean_mbps) * (1.0 + self.off_per_on);
        let on_s = draw(self.on_s);
        let interval_s = f64::from(self.packet_bytes) * 8e-6 / burst_mbps;
        let source = &mut self.sources[number as usize];
        source.interval = Time::from_secs_f64(interval_s).max(Time::from_ps(1));
        source.burst_packets = on_s / interval_s;
        source.off_s = on_s * self.off_per_on;
    }

    fn send(&self, number: u32, context: &mut AppContext) {
        let (server, size) = (self.server, self.packet_bytes);
        context.ask(match (self.transport, self.sources[number as usize].connection) {
            (Transport::Datagrams, _) => {
                Command::Datagram { server, direction: self.direction, size }
            }
            (Transport::Tcp, Some(connection)) => {
                Command::Send(connection, self.sender, size.into())
            }
            (Transport::Tcp, None) => Command::Open { server, tag: number },
        });
    }
}

impl Source {
    /// Time to the next packet, which is that of a new burst if this one is over.
    fn until_next(&mut self, rng: &mut Rng) -> Time {
        let mut wait = self.interval;
        if self.left == 0 {
            self.left = (rng.exponential(self.burst_packets).round() as u64).max(1);
            wait += Time::from_secs_f64(rng.exponential(self.off_s));
        }
        self.left -= 1;
        wait
    }
}

impl Model for OnOff {
    fn start(&self, _rng: &mut Rng) -> Time {
        self.agenda.start()
    }

    fn on_event(&mut self, event: Event, context: &mut AppContext) {
        match event {
            Event::Timer => {
                while let Some(number) = self.agenda.take(context) {
                    self.act(number, context);
                }
                self.agenda.ask(context);
            }
            // The first packet, for which it is opened.
            Event::Opening(number, connection) => {
                self.sources[number as usize].connection = Some(connection);
                self.send(number, context);
            }
            Event::Established(..) | Event::Received(..) | Event::Acknowledged(..) => {}
        }
    }

    fn done(&self, _now: Time) -> Done {
        Done::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean packets of a burst of mean `m`: X exponential, rounded, at least 1. The sum over k >= 1 of
    /// P(X > k - 1/2) is e^(-1/2m) / (1 - e^(-1/m)), and the share below 1/2, 1 - e^(-1/2m), counts as
    /// one packet instead of none. m = 1: 0.60653 / 0.63212 + 0.39347 = 1.3530. m = 5: 0.90484 /
    /// 0.18127 + 0.09516 = 5.0869. m = 125: 0.99601 / 0.0079681 + 0.00399 = 125.004.
    ///
    /// The deviation of a burst is below m, so the mean of 200 000 is off by m / 447; four times that
    /// is allowed.
    #[test]
    fn bursts_are_rounded_and_have_at_least_a_packet() {
        let mut rng = Rng::named(1, "bursts");
        for (mean, want) in [(1.0, 1.3530), (5.0, 5.0869), (125.0, 125.004)] {
            let mut source = Source { burst_packets: mean, ..Source::default() };
            source.interval = Time::from_ms(1);
            let (bursts, mut packets) = (200_000, 0);
            for _ in 0..bursts {
                source.left = 0;
                source.until_next(&mut rng);
                packets += source.left + 1;
            }
            let got = packets as f64 / f64::from(bursts);
            assert!((got - want).abs() < 4.0 * mean / 447.0, "{mean}: {got}, expected {want}");
        }
    }
}
