//! Games that a server plays and films, and remote play: frames down in bursts, inputs up.
//!
//! Frames come at a steady pace with jitter, and their sizes vary, both by truncated normal distributions (3GPP TR 38.838
//! §5.1). A frame leaves in groups of packets, one each ms, at a rate that has nothing to do with the access line: the
//! server Sunshine paces them at 80 % of 1 Gbit/s (`stream.cpp`). Parity packets follow its data, and as many packets as it
//! has data complete it. Inputs go up all the time, as those of a mouse do.
//!
//! Left out: sound, adaptation of the rate (Moonlight and Sunshine have none), parity by blocks of up to 255 packets in
//! frames that have more, and reports on losses with the frames that they ask for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_input::defaults::number;

use super::two_way::Answer;
use super::{App, AppContext, AppParameters, Command, Event, Frame, Label, Load, Model, Quality};
use super::{LEAST_PACKET, check_stop, sending_s};
use sojourn_engine::packet::Direction;
use sojourn_engine::rng::Rng;
use sojourn_engine::units::{BitRate, Time};
use sojourn_input::problem::Faults;

/// Packets of a frame leave in groups of this length.
const GROUP: Time = Time::from_ms(1);
/// A frame with parity has so many such packets at least (Moonlight: `minRequiredFecPackets`).
const LEAST_PARITY: u64 = 2;
/// Sizes are within these parts of their mean, and jitter within so many deviations (TR 38.838 table 5.1.1).
const SIZES: [f64; 2] = [0.5, 1.5];
const JITTER_DEVIATIONS: f64 = 2.0;
/// Draws until one is within its bounds.
const MOST_DRAWS: u32 = 64;

/// Parameters of a game that a server plays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CloudGame")]
pub struct Parameters {
    /// Server that plays the game. Default: the first of `servers`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(extend("x-role" = "line"))]
    pub server: String,
    /// Mean rate on the wire downstream in Mbps, with redundancy. Default: 20, that of 1080p with 60 frames per second
    /// (Moonlight); services ask for 15 to 45.
    #[serde(default = "number::<f64, 20>")]
    #[schemars(range(min = 0.1, max = 1000.0))]
    pub rate_mbps: f64,
    /// Frames per second.
    #[serde(default = "number::<f64, 60>")]
    #[schemars(range(min = 1.0, max = 240.0))]
    pub frames_per_s: f64,
    /// Size on the wire of the largest packets of a frame in bytes. Default: 1086, with 1024 bytes of video (Moonlight, from
    /// afar), RTP, UDP, IP and Ethernet.
    #[serde(default = "packet_bytes")]
    #[schemars(range(min = 200, max = 9018))]
    pub packet_bytes: u16,
    /// Parity in percent of a frame's packets, two at least (Sunshine: 20). A frame is whole with as many packets as it has
    /// without parity.
    #[serde(default = "number::<f64, 20>")]
    #[schemars(range(min = 0.0, max = 100.0))]
    pub redundancy_percent: f64,
    /// Standard deviation of frame sizes in percent of their mean; they are within half and one and a half of it (TR
    /// 38.838: 10.5).
    #[serde(default = "frame_deviation_percent")]
    #[schemars(range(min = 0.0, max = 50.0))]
    pub frame_deviation_percent: f64,
    /// Standard deviation of the times of frames about their pace in ms; they are within twice that (TR 38.838: 2).
    #[serde(default = "number::<f64, 2>")]
    #[schemars(range(min = 0.0, max = 100.0))]
    pub frame_jitter_ms: f64,
    /// Rate in Mbps at which the packets of a frame leave the server, in groups of 1 ms. Default: 800, 80 % of 1 Gbit/s
    /// (Sunshine).
    #[serde(default = "number::<f64, 800>")]
    #[schemars(range(min = 0.1, max = 100_000.0))]
    pub pacing_mbps: f64,
    /// Size on the wire of an input in bytes (TR 38.838: 100).
    #[serde(default = "input_bytes")]
    #[schemars(range(min = 64, max = 9018))]
    pub input_bytes: u16,
    /// Time between inputs in ms (TR 38.838: 4; Moonlight joins those of a mouse to 1).
    #[serde(default = "number::<f64, 4>")]
    #[schemars(range(min = 0.1, max = 10_000.0))]
    pub input_interval_ms: f64,
    /// Time of the first input in s. Default: a random point in the first interval of frames.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub start_s: Option<f64>,
    /// Time after which no frame begins and no input is sent, in s. Default: the game never stops.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub stop_s: Option<f64>,
}

fn packet_bytes() -> u16 {
    1086
}

fn input_bytes() -> u16 {
    100
}

fn frame_deviation_percent() -> f64 {
    10.5
}

impl Parameters {
    fn redundancy(&self) -> f64 {
        self.redundancy_percent / 100.0
    }

    /// Mean bytes of a frame without parity.
    fn frame_bytes(&self) -> f64 {
        self.rate_mbps * 1e6 / 8.0 / self.frames_per_s / (1.0 + self.redundancy())
    }
}

impl AppParameters for Parameters {
    one_server!();

    fn start(&self, server: &dyn Fn(&str) -> u16) -> App {
        CloudGame {
            server: server(&self.server),
            frame_bytes: self.frame_bytes(),
            interval: Time::from_secs_f64(1.0 / self.frames_per_s),
            packet_bytes: self.packet_bytes.into(),
            redundancy: self.redundancy(),
            deviation: self.frame_deviation_percent / 100.0,
            jitter_s: self.frame_jitter_ms / 1e3,
            group_bytes: BitRate::from_mbps(self.pacing_mbps).bytes_in(GROUP),
            input_bytes: self.input_bytes,
            input_interval: Time::from_secs_f64(self.input_interval_ms / 1e3),
            start: self.start_s.map(Time::from_secs_f64),
            stop: self.stop_s.map_or(Time::NEVER, Time::from_secs_f64),
            frames: 0,
            pace: None,
            next_frame: Time::ZERO,
            sending: None,
            next_input: Time::ZERO,
        }
        .into()
    }

    fn largest_datagram(&self) -> u16 {
        self.packet_bytes.max(self.input_bytes)
    }

    fn answer(&self) -> Option<Answer> {
        Some(Answer::OwnPace)
    }

    fn sends_frames(&self) -> bool {
        true
    }

    fn sends_inputs(&self) -> bool {
        true
    }

    fn load(&self, seconds: f64) -> Load {
        let sending_s = sending_s(self.start_s, self.stop_s, seconds);
        let frames = sending_s * self.frames_per_s + 1.0;
        let frame_bytes = self.frame_bytes() * (1.0 + self.redundancy());
        let packets = frames * (frame_bytes / f64::from(self.packet_bytes)).ceil();
        let inputs = sending_s / (self.input_interval_ms / 1e3) + 1.0;
        let bytes = frames * frame_bytes + inputs * f64::from(self.input_bytes);
        Load {
            packets: packets + inputs,
            packet_bytes: bytes / (packets + inputs),
            sending_s,
            ..Load::default()
        }
    }

    fn quality(&self) -> Quality {
        Quality::CloudGame
    }

    fn check(&self) -> Faults {
        Faults::from(check_stop(self.start_s.unwrap_or(0.0), self.stop_s))
    }
}

/// The packets of a frame that have not left.
struct Sending {
    frame: Frame,
    packets: u64,
    size: u64,
    /// When the next group leaves.
    next: Time,
}

/// A game in operation.
pub struct CloudGame {
    server: u16,
    frame_bytes: f64,
    interval: Time,
    packet_bytes: u64,
    redundancy: f64,
    deviation: f64,
    jitter_s: f64,
    group_bytes: f64,
    input_bytes: u16,
    input_interval: Time,
    start: Option<Time>,
    stop: Time,
    frames: u32,
    /// When the next frame is due without jitter, once the game has begun.
    pace: Option<Time>,
    next_frame: Time,
    sending: Option<Sending>,
    next_input: Time,
}

/// A normal value within bounds.
fn truncated(mean: f64, deviation: f64, [least, most]: [f64; 2], rng: &mut Rng) -> f64 {
    if deviation == 0.0 {
        return mean;
    }
    let mut draws =
        std::iter::repeat_with(|| rng.normal(mean, deviation)).take(MOST_DRAWS as usize);
    draws.find(|value| (least..=most).contains(value)).unwrap_or(mean)
}

impl CloudGame {
    fn begin(&mut self, now: Time, rng: &mut Rng) {
        if self.pace.is_none() {
            (self.pace, self.next_input) = (Some(now), now);
            self.next_frame = now + self.late(rng);
        }
    }

    /// How much later than its pace, less the earliest jitter, a frame is there.
    fn late(&self, rng: &mut Rng) -> Time {
        let most_s = JITTER_DEVIATIONS * self.jitter_s;
        Time::from_secs_f64(most_s + truncated(0.0, self.jitter_s, [-most_s, most_s], rng))
    }

    /// Makes the frame that is due.
    fn film(&mut self, context: &mut AppContext) {
        if self.sending.is_some() || self.next_frame > context.now {
            return;
        }
        let factor = truncated(1.0, self.deviation, SIZES, context.rng);
        let bytes = ((self.frame_bytes * factor).round() as u64).max(LEAST_PACKET);
        let data = bytes.div_ceil(self.packet_bytes);
        let parity = (data as f64 * self.redundancy).ceil() as u64;
        let parity = if self.redundancy > 0.0 { parity.max(LEAST_PARITY) } else { 0 };
        let frame = Frame { number: self.frames, packets: data as u32 };
        let (size, next) = (bytes.div_ceil(data).max(LEAST_PACKET), context.now);
        self.sending = Some(Sending { frame, packets: data + parity, size, next });
        self.frames += 1;
        let interval = context.sender_span(Direction::Down, self.interval);
        let pace = self.pace.map_or(context.now, |pace| pace + interval);
        self.pace = Some(pace);
        self.next_frame = (pace + self.late(context.rng)).max(context.now);
    }

    /// Sends the group of packets that is due. Returns when the next one or frame is.
    fn send_frames(&mut self, context: &mut AppContext) -> Time {
        self.film(context);
        let Some(Sending { frame, packets, size, next }) = &mut self.sending else {
            return self.next_frame;
        };
        if *next <= context.now {
            let group = ((self.group_bytes / *size as f64) as u64).clamp(1, *packets);
            for _ in 0..group {
                context.ask(Command::Datagram {
                    server: self.server,
                    direction: Direction::Down,
                    size: *size as u16,
                    frame: Some(*frame),
                    label: Label::default(),
                });
            }
            *packets -= group;
            // A group of one packet may have more bytes than fit into 1 ms.
            let length = GROUP.scaled((*size as f64 / self.group_bytes).max(1.0));
            *next += context.sender_span(Direction::Down, length);
        }
        let (is_out, next) = (*packets == 0, *next);
        if is_out {
            self.sending = None;
            return self.next_frame.max(context.now);
        }
        next
    }

    fn send_input(&mut self, context: &mut AppContext) -> Time {
        if self.next_input <= context.now {
            context.ask(Command::Datagram {
                server: self.server,
                direction: Direction::Up,
                size: self.input_bytes,
                frame: None,
                label: Label::default(),
            });
            self.next_input += self.input_interval;
        }
        self.next_input
    }
}

impl Model for CloudGame {
    fn start(&self, rng: &mut Rng) -> Time {
        self.start.unwrap_or_else(|| self.interval.scaled(rng.uniform()))
    }

    fn on_event(&mut self, event: Event, context: &mut AppContext) {
        if !matches!(event, Event::Timer) || (context.now > self.stop && self.sending.is_none()) {
            return;
        }
        self.begin(context.now, context.rng);
        if context.now > self.stop {
            self.next_frame = Time::NEVER;
            self.next_input = Time::NEVER;
        }
        let input = self.send_input(context);
        let frame = self.send_frames(context);
        context.ask(Command::Wake(input.min(frame)));
    }
}

#[cfg(test)]
mod tests {
    use super::super::at_timers;
    use super::*;

    /// What a game with these keys sends until a time: when, where and how large, with the frame.
    fn sent(keys: &str, until: Time) -> Vec<(Time, Direction, u16, Option<Frame>)> {
        let text = format!("server = 's'\nstart_s = 0\n{keys}");
        let parameters: Parameters = toml::from_str(&text).unwrap();
        let App::CloudGame(mut game) = parameters.start(&|_| 0) else { panic!("it is a game") };
        let mut sent = Vec::new();
        at_timers(&mut game, until, |now, command| {
            let Command::Datagram { size, frame, direction, .. } = command else {
                panic!("{command:?}")
            };
            sent.push((now, direction, size, frame));
        });
        sent
    }

    const STEADY: &str = "frame_deviation_percent = 0\nframe_jitter_ms = 0\n";

    /// In 10 s; of each frame data and parity fill their last packets, which the load does not know.
    #[test]
    fn the_load_is_what_a_game_sends() {
        for parity in [0, 20] {
            let keys = format!(
                "{STEADY}rate_mbps = 12\nframes_per_s = 50\nredundancy_percent = {parity}\n"
            );
            let sent = sent(&keys, Time::from_s(10));
            let parameters: Parameters =
                toml::from_str(&format!("server = 's'\nstart_s = 0\n{keys}")).unwrap();
            let load = parameters.load(10.0);
            let packets = sent.len() as f64;
            let bytes = sent.iter().map(|one| f64::from(one.2)).sum::<f64>();
            let beyond = packets - load.packets;
            assert!((-50.0..=500.0).contains(&beyond), "{packets} {}", load.packets);
            let load_bytes = load.packets * load.packet_bytes;
            assert!((load_bytes / bytes - 1.0).abs() < 0.02, "{load_bytes} {bytes}");
        }
    }

    #[test]
    fn a_frame_leaves_in_groups_of_1_ms_with_a_fifth_of_parity() {
        // 12 Mbit/s with 20 % of parity are 10 Mbit/s of data, at 50 frames per second 25 kB: 24 packets of 1042 B
        // (25 000 / 24 = 1041.7) and 5 of parity. 40 Mbit/s are 5000 B each ms: 4 packets.
        let keys = format!("{STEADY}rate_mbps = 12\nframes_per_s = 50\npacing_mbps = 40\n");
        let down = sent(&keys, Time::from_ms(20));
        let down: Vec<_> = down.iter().filter(|one| one.1 == Direction::Down).collect();
        assert_eq!(down.len(), 29);
        for (place, (at, _, size, frame)) in down.into_iter().enumerate() {
            assert_eq!((*size, *frame), (1042, Some(Frame { number: 0, packets: 24 })));
            assert_eq!(*at, Time::from_ms(place as u64 / 4), "{place}");
        }
        // At 800 Mbit/s all of it leaves at once.
        let at_once = sent(&keys.replace("= 40", "= 800"), Time::from_ms(20));
        assert!(at_once.iter().all(|one| one.1 == Direction::Up || one.0 == Time::ZERO));
    }

    #[test]
    fn inputs_go_up_at_their_own_pace() {
        let up = sent(STEADY, Time::from_ms(100)).into_iter().filter(|one| one.1 == Direction::Up);
        let times: Vec<Time> = up.map(|one| one.0).collect();
        assert_eq!(times, (0..25).map(|number| Time::from_ms(4 * number)).collect::<Vec<_>>());
    }

    #[test]
    fn a_game_keeps_its_rate_and_its_pace() {
        let all = sent("rate_mbps = 20", Time::from_s(100));
        let down = || all.iter().filter(|one| one.1 == Direction::Down);
        // 34 722 B in 32 packets and 7 of parity (21.9 % instead of 20 %, and up to a packet more): between 20 and 20.6
        // Mbit/s. 6000 sizes, each off by 10.5 %, are off by 0.14 %; four times that is allowed.
        let mbps = down().map(|one| f64::from(one.2)).sum::<f64>() * 8e-6 / 100.0;
        assert!((20.0 * 0.994..20.6).contains(&mbps), "{mbps}");
        let mut starts: Vec<(u32, Time)> =
            down().filter_map(|one| Some((one.3?.number, one.0))).collect();
        starts.dedup_by_key(|one| one.0);
        assert!((5999..=6000).contains(&starts.len()), "{}", starts.len());
        // Each is within 4 ms of its place, of which the earliest is 4 ms before it.
        for (number, at) in starts {
            let off_ms = at.ms_f64() - f64::from(number) * 1000.0 / 60.0;
            assert!((-0.001..8.001).contains(&off_ms), "{number}: {off_ms}");
        }
    }
}
