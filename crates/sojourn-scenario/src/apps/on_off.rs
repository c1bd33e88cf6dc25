//! On/off sources that send at a steady rate for a random time and pause for a random time: the
//! exponential on/off source of ns-2 (ns-2.35 tools/expoo.cc).
//!
//! A source sends packets of one size at the interval that its rate requires. The number of packets
//! in a burst is drawn from an exponential distribution and rounded to the nearest number, but at
//! least one. A pause, also exponential, follows. A source begins with a pause.
//!
//! Over TCP a packet is a number of bytes to send; the connection sends later what it cannot carry
//! at once. Rates count payload, so headers add to them on the wire: 2.7 % with 1460 B in packets
//! of 1500 B.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_input::defaults::number;

use super::agenda::Agenda;
use super::{
    App, AppContext, AppParameters, Command, ConnectionId, End, Event, Label, Load, Model, Quality,
};
use sojourn_engine::packet::Direction;
use sojourn_engine::rng::Rng;
use sojourn_engine::units::Time;
use sojourn_input::compare::ascending;
use sojourn_input::problem::Faults;
use sojourn_transport::TcpOptions;

/// Transport protocol of the packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// A TCP connection for each source.
    #[default]
    Tcp,
    /// Datagrams. Queues that separate flows treat the datagrams of all sources of an entry as one
    /// flow.
    Datagrams,
}

/// What a list of two is, in messages.
const BOUNDS: &str = "the bounds of a range";

/// Parameters of on/off sources. Hong 2015 §5.3.2: ME1 has 36 sources of 0.5 Mbps with bursts of
/// [2, 4] s and pauses three times as long. ME2 has 180 sources of 0.1 Mbps with bursts of 2 s and
/// pauses of 3 s. ME3 has 90 of 0.1 and 90 of [0.3, 0.6] Mbps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "OnOff")]
pub struct Parameters {
    /// Server at the other end. Default: the first of `servers`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(extend("x-role" = "line"))]
    pub server: String,
    /// Direction of the data: `up` from the home or `down` to it.
    #[serde(default)]
    pub direction: Direction,
    /// Transport protocol of the packets.
    #[serde(default)]
    pub transport: Transport,
    /// Number of independent sources.
    #[serde(default = "number::<u32, 1>")]
    #[schemars(range(min = 1, max = 10_000))]
    pub sources: u32,
    /// Mean rate of a source in Mbps, over bursts and pauses. It counts payload over TCP, and bytes
    /// on the wire with datagrams. With two values each source draws its own rate uniformly between
    /// them.
    #[schemars(length(min = 1, max = 2), inner(range(min = 0.000_001, max = 100_000.0)))]
    pub mean_mbps: Vec<f64>,
    /// Mean length of a burst in s (ns-2: 0.5). With two values each source draws its own uniformly
    /// between them.
    #[serde(default = "half")]
    #[schemars(length(min = 1, max = 2), inner(range(min = 0.000_001, max = 1_000_000.0)))]
    pub on_s: Vec<f64>,
    /// Mean length of a pause as a multiple of the mean length of a burst (ns-2: 1). The rate
    /// during a burst is the mean rate times this value plus one.
    #[serde(default = "number::<f64, 1>")]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub off_per_on: f64,
    /// Size of a packet in bytes (ns-2: 210). It counts payload over TCP, where 1448 fill a packet
    /// with timestamps, and bytes on the wire with datagrams.
    #[serde(default = "full_segment")]
    #[schemars(range(min = 1, max = 9018))]
    pub packet_bytes: u16,
    /// Start of the sources in s. Each begins with a pause.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub start_s: f64,
    /// TCP options of these connections that differ from the scenario's `tcp`.
    #[serde(default)]
    pub tcp: TcpOptions,
}

fn half() -> Vec<f64> {
    vec![0.5]
}

fn full_segment() -> u16 {
    1460
}

impl AppParameters for Parameters {
    one_server!();

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

    fn tcp(&self) -> Option<&TcpOptions> {
        (self.transport == Transport::Tcp).then_some(&self.tcp)
    }

    fn largest_datagram(&self) -> u16 {
        if self.transport == Transport::Datagrams { self.packet_bytes } else { 0 }
    }

    fn load(&self, seconds: f64) -> Load {
        let mean = |(least, most): (f64, f64)| (least + most) / 2.0;
        let burst_mbps = mean(bounds(&self.mean_mbps)) * (1.0 + self.off_per_on);
        let (interval_s, on_s) =
            (f64::from(self.packet_bytes) * 8e-6 / burst_mbps, mean(bounds(&self.on_s)));
        // A burst has at least one packet.
        let in_burst = (on_s / interval_s).max(1.0);
        let bursts = seconds / (in_burst * interval_s.max(1e-12) + on_s * self.off_per_on);
        let (sources, packets) = (f64::from(self.sources), in_burst * bursts);
        let is_tcp = self.transport == Transport::Tcp;
        Load {
            connections: if is_tcp { sources } else { 0.0 },
            opened: if is_tcp { sources } else { 0.0 },
            packets: sources * packets,
            packet_bytes: self.packet_bytes.into(),
            direction: Some(self.direction),
            kept_bytes: 96.0 * sources,
            ..Load::default()
        }
    }

    fn quality(&self) -> Quality {
        Quality::Throughput
    }

    fn check(&self) -> Faults {
        let mut faults = Faults::from(ascending("mean_mbps", &self.mean_mbps, BOUNDS));
        faults.add(ascending("on_s", &self.on_s, BOUNDS));
        faults
    }
}

/// Minimum and maximum of one or two values.
fn bounds(values: &[f64]) -> (f64, f64) {
    (values[0], values[values.len() - 1])
}

/// A source and its current burst.
#[derive(Default)]
struct Source {
    /// Time between packets; zero before the source has begun.
    interval: Time,
    /// Mean number of packets in a burst, before rounding.
    burst_packets: f64,
    /// Mean length of a pause in s.
    off_s: f64,
    /// Packets still to be sent in this burst.
    left: u64,
    connection: Option<ConnectionId>,
}

/// On/off sources in operation. A source's number is the tag of its connection.
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
        let wait = self.sources[number as usize].until_next(context.rng);
        self.agenda.set(number, context.now + context.sender_span(self.direction, wait));
    }

    /// Draws the source's own rate and times.
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
            (Transport::Datagrams, _) => Command::Datagram {
                server,
                direction: self.direction,
                size,
                frame: None,
                label: Label::default(),
            },
            (Transport::Tcp, Some(connection)) => {
                Command::Send(connection, self.sender, size.into())
            }
            (Transport::Tcp, None) => Command::Open { server, tag: number },
        });
    }
}

impl Source {
    /// Time to the next packet, which starts a new burst if this one is over.
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
            // The first packet, for which the connection was opened.
            Event::Opening(number, connection) => {
                self.sources[number as usize].connection = Some(connection);
                self.send(number, context);
            }
            Event::Established(..)
            | Event::Received(..)
            | Event::Acknowledged(..)
            | Event::Datagram(_)
            | Event::Message(..)
            | Event::Shapers(_)
            | Event::Carried(..) => {}
        }
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
