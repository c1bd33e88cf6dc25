//! Datagrams at a steady pace: voice calls, games, pings, constant bit rate; in one direction or both.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_input::defaults::number;

use super::two_way::{Answer, StreamDirection};
use super::{App, AppContext, AppParameters, AppSpec, Command, Event, Label, Load, Model, Quality};
use super::{check_stop, sending_s};
use sojourn_engine::packet::{Direction, LARGEST_PACKET};
use sojourn_engine::rng::Rng;
use sojourn_engine::units::Time;
use sojourn_input::named;
use sojourn_input::problem::{Fault, Faults};

named! {
    /// What a stream is. This also selects how it is graded.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum Purpose {
        /// A voice call, scored by the E-model.
        Voice = "voice",
        /// An online game, modelled with the packets of a voice call (White & Rice 2013 §3.6) and
        /// scored by latency and loss.
        Game = "game",
        /// Constant-bit-rate data, scored by throughput.
        Data = "data",
    }
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
    /// What the stream is. This also selects how it is graded.
    pub purpose: Purpose,
    /// Server at the other end. Default: the first of `servers`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(extend("x-role" = "line"))]
    pub server: String,
    /// Direction of the packets: `up` from the home, `down` to it, or `both`. With `both` each end
    /// echoes the times of the packets that it receives, as RTCP does (RFC 3550 §6.4.1), and the other
    /// end measures round-trip times: the columns `rtt_*` of `flows`. Default: `both` for games and
    /// calls, `up` for data.
    #[serde(default)]
    pub direction: Option<StreamDirection>,
    /// How the server answers with `direction = "both"`. Default: `own_pace`. `each_packet` returns each
    /// packet at once, a ping.
    #[serde(default)]
    pub answer: Option<Answer>,
    /// Size of a packet on the wire in bytes. With `cable.byte_count = "ethernet"` padding brings less than 64
    /// bytes to 64. G.711 with 20 ms of voice: 160 voice + 12 RTP + 8 UDP
    /// + 20 IP + 18 Ethernet = 218 (White & Padden 2012 §3.2.2). Hong 2015 §3.2.2.2 uses 238.
    #[serde(default = "voice_bytes")]
    #[schemars(range(min = 1, max = 9018), extend("x-live" = true))]
    pub packet_bytes: u16,
    /// Time between packets in ms (White & Padden 2012 §3.2.2: 20). That study's datagrams at a
    /// constant 1 Mbps are 1000 bytes every 8 ms.
    #[serde(default = "number::<f64, 20>")]
    #[schemars(range(min = 0.001, max = 1_000_000.0), extend("x-live" = true))]
    pub interval_ms: f64,
    /// Size of the packets to the home in bytes, with `direction = "both"`. Default: `packet_bytes`.
    #[serde(default)]
    #[schemars(range(min = 1, max = 9018), extend("x-live" = true))]
    pub down_packet_bytes: Option<u16>,
    /// Time between the packets to the home in ms, with `direction = "both"`. Default: `interval_ms`.
    #[serde(default)]
    #[schemars(range(min = 0.001, max = 1_000_000.0), extend("x-live" = true))]
    pub down_interval_ms: Option<f64>,
    /// Standard deviation of the packets' sizes in percent of their mean; they are distributed normally
    /// between 1 byte and twice the mean. Default: 0, all alike.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 100.0))]
    pub packet_deviation_percent: f64,
    /// Standard deviation of the intervals in percent of their mean; they are distributed normally
    /// between 0 and twice the mean. Default: 0, all alike. Without variation, a device whose
    /// interval is a multiple of the MAP interval sends at the same point of each MAP interval.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 100.0))]
    pub interval_deviation_percent: f64,
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
    #[schemars(extend("x-role" = "choice"))]
    pub playout: Option<PlayoutRule>,
}

fn voice_bytes() -> u16 {
    218
}

impl Parameters {
    /// Where it sends: both ways where people talk or play with each other.
    pub fn direction(&self) -> StreamDirection {
        self.direction.unwrap_or(match self.purpose {
            Purpose::Voice | Purpose::Game => StreamDirection::Both,
            Purpose::Data => StreamDirection::Up,
        })
    }

    /// Names the direction, if the scenario does not.
    pub(crate) fn fill(&mut self) {
        self.direction = Some(self.direction());
    }

    /// What it sends in a direction.
    fn way(&self, direction: Direction) -> Option<Way> {
        let answers = direction == Direction::Down && self.direction().is_both();
        if !self.direction().includes(direction) || (answers && self.returns_each_packet()) {
            return None;
        }
        let (bytes, interval_ms) = if answers { self.of_answers() } else { self.of_home() };
        Some(Way { bytes, interval: Time::from_secs_f64(interval_ms / 1e3), next: None })
    }

    fn of_home(&self) -> (u16, f64) {
        (self.packet_bytes, self.interval_ms)
    }

    fn of_answers(&self) -> (u16, f64) {
        let (bytes, interval_ms) = self.of_home();
        (self.down_packet_bytes.unwrap_or(bytes), self.down_interval_ms.unwrap_or(interval_ms))
    }

    fn returns_each_packet(&self) -> bool {
        self.answer == Some(Answer::EachPacket)
    }

    /// Keys that say something of answers need answers.
    fn check_answers(&self) -> Result<(), Fault> {
        let of_pace = [
            ("down_packet_bytes", self.down_packet_bytes.is_some()),
            ("down_interval_ms", self.down_interval_ms.is_some()),
        ];
        let given = |keys: &[(&'static str, bool)]| {
            keys.iter().find(|(_, is_given)| *is_given).map(|(key, _)| *key)
        };
        if !self.direction().is_both() {
            let keys = [("answer", self.answer.is_some()), of_pace[0], of_pace[1]];
            return given(&keys).map_or(Ok(()), |key| {
                Err(Fault::found(key, "with another direction", "only with direction both"))
            });
        }
        if !self.returns_each_packet() {
            return Ok(());
        }
        given(&of_pace).map_or(Ok(()), |key| {
            Err(Fault::found(key, "with answer each_packet", "only with answer own_pace"))
        })
    }
}

impl AppParameters for Parameters {
    one_server!();

    fn start(&self, server: &dyn Fn(&str) -> u16) -> App {
        Stream {
            server: server(&self.server),
            ways: Direction::BOTH.map(|direction| self.way(direction)),
            size_deviation: self.packet_deviation_percent / 100.0,
            interval_deviation: self.interval_deviation_percent / 100.0,
            start: self.start_s.map(Time::from_secs_f64),
            stop: self.stop_s.map_or(Time::NEVER, Time::from_secs_f64),
        }
        .into()
    }

    fn largest_datagram(&self) -> u16 {
        let mean = self.packet_bytes.max(self.down_packet_bytes.unwrap_or_default());
        if self.packet_deviation_percent > 0.0 { most(mean) } else { mean }
    }

    fn answer(&self) -> Option<Answer> {
        self.direction().is_both().then(|| self.answer.unwrap_or_default())
    }

    fn load(&self, seconds: f64) -> Load {
        let sending_s = sending_s(self.start_s, self.stop_s, seconds);
        let sent = |interval_ms: f64| sending_s / (interval_ms / 1e3) + 1.0;
        let (home_bytes, home_ms) = self.of_home();
        let (answer_bytes, answer_ms) = self.of_answers();
        let packets = sent(home_ms);
        let answers = if self.direction().is_both() { sent(answer_ms) } else { 0.0 };
        let bytes = packets * f64::from(home_bytes) + answers * f64::from(answer_bytes);
        Load {
            packets: packets + answers,
            packet_bytes: bytes / (packets + answers),
            sending_s,
            direction: self.direction().only(),
            ..Load::default()
        }
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

    fn packet_interval(&self, direction: Direction) -> Option<Time> {
        let answers = direction == Direction::Down && self.direction().is_both();
        let (_, ms) = if answers { self.of_answers() } else { self.of_home() };
        Some(Time::from_secs_f64(ms / 1e3))
    }

    fn check(&self) -> Faults {
        let mut faults = Faults::from(check_stop(self.start_s.unwrap_or(0.0), self.stop_s));
        if self.playout.is_some() && self.purpose != Purpose::Voice {
            faults.add(Fault::found("playout", "with another purpose", "only with purpose voice"));
        }
        faults.add(self.check_answers());
        faults
    }
}

/// The largest packet whose size varies about this mean.
fn most(mean: u16) -> u16 {
    mean.saturating_mul(2).min(LARGEST_PACKET)
}

/// What a stream sends in a direction.
struct Way {
    bytes: u16,
    interval: Time,
    /// When the next packet is sent, once the stream has begun.
    next: Option<Time>,
}

/// A stream in operation.
pub struct Stream {
    server: u16,
    ways: [Option<Way>; 2],
    /// Standard deviations, as shares of the means.
    size_deviation: f64,
    interval_deviation: f64,
    start: Option<Time>,
    stop: Time,
}

/// A factor of mean 1, from 0 to 2, with this standard deviation (but for what is cut off).
fn factor(deviation: f64, rng: &mut Rng) -> f64 {
    if deviation == 0.0 { 1.0 } else { rng.normal(1.0, deviation).clamp(0.0, 2.0) }
}

impl Stream {
    /// The way that sends first: up, if it sends both ways.
    fn leading(&self) -> Option<&Way> {
        self.ways.iter().flatten().next()
    }

    /// The stream begins now. The other way begins within its first interval.
    fn begin(&mut self, now: Time, rng: &mut Rng) {
        for (number, way) in self.ways.iter_mut().flatten().enumerate() {
            let phase = if number == 0 { Time::ZERO } else { way.interval.scaled(rng.uniform()) };
            way.next.get_or_insert(now + phase);
        }
    }

    /// Sends what is due in a direction. Returns when the next packet is.
    fn send_due(&mut self, direction: Direction, context: &mut AppContext) -> Time {
        let (server, interval_deviation) = (self.server, self.interval_deviation);
        let Some(way) = &mut self.ways[direction as usize] else { return Time::NEVER };
        let next = way.next.unwrap_or(context.now);
        if next > context.now {
            return next;
        }
        let mean = way.bytes;
        let bytes = f64::from(mean) * factor(self.size_deviation, context.rng);
        let size = (bytes.round() as u16).clamp(1, most(mean));
        context.ask(Command::Datagram {
            server,
            direction,
            size,
            frame: None,
            label: Label::default(),
        });
        let interval = way.interval.scaled(factor(interval_deviation, context.rng));
        let next = context.now + context.sender_span(direction, interval);
        way.next = Some(next);
        next
    }
}

impl Model for Stream {
    fn start(&self, rng: &mut Rng) -> Time {
        let interval = self.leading().map_or(Time::ZERO, |way| way.interval);
        self.start.unwrap_or_else(|| interval.scaled(rng.uniform()))
    }

    fn on_event(&mut self, event: Event, context: &mut AppContext) {
        if !matches!(event, Event::Timer) || context.now > self.stop {
            return;
        }
        self.begin(context.now, context.rng);
        let [up, down] = Direction::BOTH.map(|direction| self.send_due(direction, context));
        context.ask(Command::Wake(up.min(down)));
    }

    /// The next packet comes when it was to come; the interval after it is the new one.
    fn retune(&mut self, spec: &AppSpec) {
        let AppSpec::Stream(p) = spec else { return };
        for (direction, way) in Direction::BOTH.into_iter().zip(&mut self.ways) {
            if let (Some(way), Some(Way { bytes, interval, .. })) = (way, p.way(direction)) {
                (way.bytes, way.interval) = (bytes, interval);
            }
        }
    }

    fn is_under_way(&self, now: Time) -> bool {
        now <= self.stop
    }
}
