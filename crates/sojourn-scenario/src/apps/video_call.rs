//! Video calls: frames at a steady pace, each of several packets (the statistical model of RFC 8593 §5).
//!
//! Sizes of frames and the times between them vary about their means by Laplace distributions. The packets
//! of a frame are sent at once, or at a rate of the sender's. A frame is shown when its last packet has
//! come, so that is what is measured.
//!
//! Left out: control of the rate by the network, and its transient states (RFC 8593 §5.2 and §5.3).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_input::defaults::number;

use super::check_stop;
use super::two_way::{Answer, StreamDirection};
use super::{App, AppContext, AppParameters, Command, Event, Frame, Label, Load, Model, Quality};
use sojourn_engine::packet::Direction;
use sojourn_engine::rng::Rng;
use sojourn_engine::units::{BitRate, Time};
use sojourn_input::problem::{Fault, Faults};

/// Bytes on the wire of the smallest packet: an Ethernet frame.
const LEAST_PACKET: u64 = 64;

/// Parameters of a video call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "VideoCall")]
pub struct Parameters {
    /// Server at the other end. Default: the first of `servers`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(extend("x-role" = "line"))]
    pub server: String,
    /// Direction of the frames: `up` from the home, `down` to it, or `both`. With `both` the ends measure
    /// round-trip times too.
    #[serde(default = "both")]
    pub direction: StreamDirection,
    /// Mean rate on the wire in each direction in Mbps. The default is the rate of the call in
    /// Heist's L4S tests of 2021.
    #[serde(default = "rate_mbps")]
    #[schemars(range(min = 0.01, max = 1000.0))]
    pub rate_mbps: f64,
    /// Frames per second.
    #[serde(default = "number::<f64, 30>")]
    #[schemars(range(min = 1.0, max = 240.0))]
    pub frames_per_s: f64,
    /// Size on the wire of the largest packets in bytes. Default: 1246, with 1200 bytes of RTP (WebRTC's
    /// limit), UDP, IP and Ethernet.
    #[serde(default = "packet_bytes")]
    #[schemars(range(min = 200, max = 9018))]
    pub packet_bytes: u16,
    /// Scale of the Laplace distribution of frame sizes in percent of their mean (RFC 8593 §5: 15). No
    /// frame is larger than three times the mean.
    #[serde(default = "number::<f64, 15>")]
    #[schemars(range(min = 0.0, max = 100.0))]
    pub frame_scale_percent: f64,
    /// Scale of the Laplace distribution of the times between frames in percent of their mean (RFC 8593
    /// §5: 15).
    #[serde(default = "number::<f64, 15>")]
    #[schemars(range(min = 0.0, max = 100.0))]
    pub interval_scale_percent: f64,
    /// Rate in Mbps at which the packets of a frame leave their sender. Default: all at once.
    #[serde(default)]
    #[schemars(range(min = 0.01, max = 100_000.0))]
    pub pacing_mbps: Option<f64>,
    /// Time of the first frame in s. Default: a random point in the first interval.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub start_s: Option<f64>,
    /// Time after which no frame begins, in s. Default: the call never stops.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub stop_s: Option<f64>,
}

fn both() -> StreamDirection {
    StreamDirection::Both
}

fn rate_mbps() -> f64 {
    2.3
}

fn packet_bytes() -> u16 {
    1246
}

impl Parameters {
    fn frame_bytes(&self) -> f64 {
        self.rate_mbps * 1e6 / 8.0 / self.frames_per_s
    }
}

impl AppParameters for Parameters {
    one_server!();

    fn start(&self, server: &dyn Fn(&str) -> u16) -> App {
        let camera = |direction| self.direction.includes(direction).then(Camera::default);
        VideoCall {
            server: server(&self.server),
            cameras: Direction::BOTH.map(camera),
            frame_bytes: self.frame_bytes(),
            interval_s: 1.0 / self.frames_per_s,
            packet_bytes: self.packet_bytes.into(),
            frame_scale: self.frame_scale_percent / 100.0,
            interval_scale: self.interval_scale_percent / 100.0,
            pacing: self.pacing_mbps.map(BitRate::from_mbps),
            start: self.start_s.map(Time::from_secs_f64),
            stop: self.stop_s.map_or(Time::NEVER, Time::from_secs_f64),
        }
        .into()
    }

    fn largest_datagram(&self) -> u16 {
        self.packet_bytes
    }

    fn answer(&self) -> Option<Answer> {
        self.direction.is_both().then_some(Answer::OwnPace)
    }

    fn sends_frames(&self) -> bool {
        true
    }

    fn load(&self, seconds: f64) -> Load {
        let start = self.start_s.unwrap_or_default();
        let sending_s = (self.stop_s.unwrap_or(seconds).min(seconds) - start).max(0.0);
        let ways = if self.direction.is_both() { 2.0 } else { 1.0 };
        let frames = ways * (sending_s * self.frames_per_s + 1.0);
        let packets = frames * (self.frame_bytes() / f64::from(self.packet_bytes)).ceil();
        Load {
            packets,
            packet_bytes: frames * self.frame_bytes() / packets,
            sending_s,
            direction: self.direction.only(),
            ..Load::default()
        }
    }

    fn quality(&self) -> Quality {
        Quality::VideoCall
    }

    fn check(&self) -> Faults {
        let mut faults = Faults::from(check_stop(self.start_s.unwrap_or(0.0), self.stop_s));
        if self.frame_bytes() < LEAST_PACKET as f64 {
            let message = format!(
                "found {}; allowed: {:.3} or more, so that a frame has {LEAST_PACKET} bytes",
                self.rate_mbps,
                LEAST_PACKET as f64 * 8e-6 * self.frames_per_s
            );
            faults.add(Fault::new("rate_mbps", message));
        }
        faults
    }
}

/// What an end of the call films.
#[derive(Default)]
struct Camera {
    frames: u32,
    /// When the next frame is there, once the call has begun.
    next_frame: Option<Time>,
    /// The frame being sent, and the bytes of it that have not been sent.
    sending: Option<(Frame, u64)>,
    /// When its next packet is sent.
    next_packet: Time,
}

/// A video call in operation.
pub struct VideoCall {
    server: u16,
    cameras: [Option<Camera>; 2],
    frame_bytes: f64,
    interval_s: f64,
    packet_bytes: u64,
    frame_scale: f64,
    interval_scale: f64,
    pacing: Option<BitRate>,
    start: Option<Time>,
    stop: Time,
}

/// A factor of mean 1, from 0 to `most`, with a Laplace distribution (but for what is cut off).
fn factor(scale: f64, most: f64, rng: &mut Rng) -> f64 {
    if scale == 0.0 { 1.0 } else { (1.0 + rng.laplace(scale)).clamp(0.0, most) }
}

impl VideoCall {
    fn begin(&mut self, now: Time, rng: &mut Rng) {
        for (number, camera) in self.cameras.iter_mut().flatten().enumerate() {
            let phase = if number == 0 { 0.0 } else { self.interval_s * rng.uniform() };
            camera.next_frame.get_or_insert(now + Time::from_secs_f64(phase));
        }
    }

    /// Sends what is due in a direction. Returns when the next packet or frame is.
    fn send_due(&mut self, direction: Direction, context: &mut AppContext) -> Time {
        let Self { frame_bytes, packet_bytes, .. } = *self;
        let Some(camera) = &mut self.cameras[direction as usize] else { return Time::NEVER };
        if camera.sending.is_none() && camera.next_frame.is_some_and(|next| next <= context.now) {
            if context.now > self.stop {
                return Time::NEVER;
            }
            let bytes = frame_bytes * factor(self.frame_scale, 3.0, context.rng);
            let bytes = (bytes.round() as u64).max(LEAST_PACKET);
            let packets = bytes.div_ceil(packet_bytes) as u32;
            camera.sending = Some((Frame { number: camera.frames, packets }, bytes));
            camera.frames += 1;
            camera.next_packet = context.now;
            let interval_s = self.interval_s * factor(self.interval_scale, 2.0, context.rng);
            let interval = Time::from_secs_f64(interval_s);
            camera.next_frame = Some(context.now + context.sender_span(direction, interval));
        }
        while let Some((frame, left)) = camera.sending
            && camera.next_packet <= context.now
        {
            let size = left.div_ceil(left.div_ceil(packet_bytes));
            context.ask(Command::Datagram {
                server: self.server,
                direction,
                size: size as u16,
                frame: Some(frame),
                label: Label::default(),
            });
            camera.sending = (left > size).then_some((frame, left - size));
            camera.next_packet += self.pacing.map_or(Time::ZERO, |rate| rate.time_for(size));
        }
        let next_frame = camera.next_frame.unwrap_or(Time::NEVER).max(context.now);
        if camera.sending.is_some() { camera.next_packet } else { next_frame }
    }
}

impl Model for VideoCall {
    fn start(&self, rng: &mut Rng) -> Time {
        self.start.unwrap_or_else(|| Time::from_secs_f64(self.interval_s * rng.uniform()))
    }

    fn on_event(&mut self, event: Event, context: &mut AppContext) {
        if !matches!(event, Event::Timer) {
            return;
        }
        self.begin(context.now, context.rng);
        let [up, down] = Direction::BOTH.map(|direction| self.send_due(direction, context));
        context.ask(Command::Wake(up.min(down)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes of a frame's packets and when each is sent, of one frame of 3000 bytes.
    fn packets_of_a_frame(keys: &str) -> Vec<(u64, u16)> {
        let text = format!(
            "server = 's'\ndirection = 'up'\nrate_mbps = 0.72\nstart_s = 0\n{keys}
             frame_scale_percent = 0\ninterval_scale_percent = 0"
        );
        let parameters: Parameters = toml::from_str(&text).unwrap();
        let App::VideoCall(mut call) = parameters.start(&|_| 0) else { panic!("it is a call") };
        let mut rng = Rng::named(1, "call");
        let (mut now, mut sent) = (call.start(&mut rng), Vec::new());
        while now < Time::from_ms(33) {
            let mut commands = Vec::new();
            let mut context = AppContext::of_true_clock(now, &mut rng, &mut commands);
            call.on_event(Event::Timer, &mut context);
            let at = now.ps() / 1_000_000;
            for command in commands {
                match command {
                    Command::Datagram { size, frame, .. } => {
                        assert_eq!(frame, Some(Frame { number: 0, packets: 3 }));
                        sent.push((at, size));
                    }
                    Command::Wake(at) => now = at,
                    _ => panic!("{command:?}"),
                }
            }
        }
        assert_eq!(now.ps() / 1_000_000, 33_333);
        sent
    }

    #[test]
    fn a_frame_is_divided_evenly_and_sent_at_once_or_paced() {
        // 0.72 Mb/s at 30 frames per second: 3000 B, three packets of 1000 B, of which each takes 4 ms
        // at 2 Mb/s.
        assert_eq!(packets_of_a_frame(""), [(0, 1000), (0, 1000), (0, 1000)]);
        assert_eq!(packets_of_a_frame("pacing_mbps = 2"), [(0, 1000), (4000, 1000), (8000, 1000)]);
    }

    #[test]
    fn a_call_keeps_its_rate() {
        let parameters: Parameters = toml::from_str("server = 's'\ndirection = 'up'").unwrap();
        let App::VideoCall(mut call) = parameters.start(&|_| 0) else { panic!("it is a call") };
        let mut rng = Rng::named(1, "call");
        let (mut now, mut bytes) = (call.start(&mut rng), 0);
        while now < Time::from_s(300) {
            let mut commands = Vec::new();
            let mut context = AppContext::of_true_clock(now, &mut rng, &mut commands);
            call.on_event(Event::Timer, &mut context);
            for command in commands {
                match command {
                    Command::Datagram { size, .. } => bytes += u64::from(size),
                    Command::Wake(at) => now = at,
                    _ => panic!("{command:?}"),
                }
            }
        }
        // 9000 frames, each off by sqrt(2) * 15 % = 21 % in size and in time: sqrt(2) * 21 % / 95 =
        // 0.3 % of the rate; four times that is allowed.
        let mbps = bytes as f64 * 8e-6 / 300.0;
        assert!((mbps / 2.3 - 1.0).abs() < 0.012, "{mbps}");
    }
}
