//! Video calls: frames at a steady pace, each of several packets (the statistical model of RFC 8593 §5).
//!
//! Sizes of frames and the times between them vary about their means by Laplace distributions. The packets
//! of a frame are sent at once, or at a rate of the sender's. A frame is shown when its last packet has
//! come, so that is what is measured.
//!
//! With a control the sizes follow the rate that it allows, packets leave at the pace that it sets, and the receiver reports on
//! them (`control.rs`). A camera takes its next picture when the last one is on its way, or has not waited for long.
//!
//! Left out: key frames, sending again what was lost, and how an encoder misses a new rate for some frames (RFC 8593 §5.2).

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_input::defaults::number;

use super::call_law::{Arrival, Inside, Law, Rates};
use super::control::{AnyLaw, Controlled};
use super::feedback::Reports;
use super::gcc::Gcc;
use super::pictures::Picture;
use super::scream::Scream;
use super::two_way::{Answer, StreamDirection};
use super::{
    App, AppContext, AppParameters, Arrived, Command, Done, Event, Frame, Label, Load, Model,
    Quality,
};
use super::{LEAST_PACKET, check_stop, sending_s};
use sojourn_engine::packet::{Direction, Ecn};
use sojourn_engine::record::Gauges;
use sojourn_engine::rng::Rng;
use sojourn_engine::units::{BitRate, Time};
use sojourn_input::compare::at_least;
use sojourn_input::problem::{Fault, Faults};

sojourn_engine::series! {
    /// Video call: the rate that the control of the call allows upstream, in the first home.
    TARGET_UP = "call_target_up", in "Mbps", from "draft-ietf-rmcat-gcc-02; draft-ietf-ccwg-rfc8298bis-screamv2-01, section 4.4";
    /// Video call: the rate that the control of the call allows downstream, in the first home.
    TARGET_DOWN = "call_target_down", in "Mbps", from "draft-ietf-rmcat-gcc-02; draft-ietf-ccwg-rfc8298bis-screamv2-01, section 4.4";
    /// Video call with SCReAM: the reference window upstream, in the first home.
    WINDOW_UP = "call_window_up", in "B", from "draft-ietf-ccwg-rfc8298bis-screamv2-01, section 4.2.2";
    /// Video call with SCReAM: the reference window downstream, in the first home.
    WINDOW_DOWN = "call_window_down", in "B", from "draft-ietf-ccwg-rfc8298bis-screamv2-01, section 4.2.2";
    /// Video call with SCReAM: what the newest report says of the delay of queues upstream, in the first home.
    QUEUE_UP = "call_queue_up", in "ms", from "draft-ietf-ccwg-rfc8298bis-screamv2-01, section 4.2.1.4";
    /// Video call with SCReAM: what the newest report says of the delay of queues downstream, in the first home.
    QUEUE_DOWN = "call_queue_down", in "ms", from "draft-ietf-ccwg-rfc8298bis-screamv2-01, section 4.2.1.4";
}

/// What sets the rate of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Control {
    /// Nothing: the call keeps `rate_mbps`.
    #[default]
    None,
    /// Google congestion control, as browsers have it (draft-ietf-rmcat-gcc-02, with the constants of libwebrtc).
    Gcc,
    /// SCReAM, version 2 (draft-ietf-ccwg-rfc8298bis-screamv2-01): a window by losses, delays and marks; with `ecn = "ect1"`
    /// by the share of marks, as L4S asks for.
    Scream,
}

impl Control {
    /// Its name in a scenario.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Gcc => "gcc",
            Self::Scream => "scream",
        }
    }

    /// How a receiver reports to it.
    fn reports(self) -> Reports {
        match self {
            Self::None | Self::Gcc => Reports::TransportWide,
            Self::Scream => Reports::PerFrame,
        }
    }
}

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
    /// What sets the rate: nothing, or Google congestion control (`gcc`) or SCReAM (`scream`), with which the call adapts to the
    /// line.
    #[serde(default)]
    #[schemars(extend("x-role" = "choice"))]
    pub control: Control,
    /// Mean rate on the wire in each direction in Mbps, without a control. The default is the rate of the call in
    /// Heist's L4S tests of 2021.
    #[serde(default = "rate_mbps")]
    #[schemars(range(min = 0.01, max = 1000.0))]
    pub rate_mbps: f64,
    /// Control: the largest picture. A call that has less than its least rate sends a smaller one.
    #[serde(default = "picture")]
    pub picture: Picture,
    /// Control: how many sizes of the picture are sent at once, each half as high as the one above it (simulcast); up to 3
    /// from 540p on, 2 of 360p and 270p, 1 of 180p. A call between two sends one.
    #[serde(default = "number::<u32, 1>")]
    #[schemars(range(min = 1, max = 3))]
    pub layers: u32,
    /// Control: the rate in Mbps at the start. Default: 0.3 (libwebrtc), or the nearest from `min_mbps` to `max_mbps`.
    #[serde(default)]
    #[schemars(range(min = 0.01, max = 1000.0))]
    pub start_mbps: Option<f64>,
    /// Control: the least rate in Mbps. The default is that of the smallest picture, 180p (libwebrtc: 0.03).
    #[serde(default = "min_mbps")]
    #[schemars(range(min = 0.01, max = 1000.0))]
    pub min_mbps: f64,
    /// Control: the greatest rate in Mbps. Default: what the pictures take at most (libwebrtc: 5 for 1080p, 2.5 for 720p,
    /// 1.2 for 540p, 0.7 for 360p, 0.45 for 270p, 0.2 for 180p).
    #[serde(default)]
    #[schemars(range(min = 0.01, max = 1000.0))]
    pub max_mbps: Option<f64>,
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
    /// Rate in Mbps at which the packets of a frame leave their sender. Default: all at once; with a control, 2.5 times
    /// the rate that it allows (`gcc`), or 1.5 to 6 times that (`scream`).
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

fn picture() -> Picture {
    Picture::P720
}

/// The rate at which calls of libwebrtc begin.
const START_MBPS: f64 = 0.3;

fn min_mbps() -> f64 {
    0.03
}

impl Parameters {
    /// Does its rate follow the network?
    pub fn adapts(&self) -> bool {
        self.control != Control::None
    }

    pub(crate) fn max_mbps(&self) -> f64 {
        self.max_mbps.unwrap_or_else(|| self.picture.most_bps(self.layers) / 1e6)
    }

    fn start_mbps(&self) -> f64 {
        self.start_mbps.unwrap_or_else(|| START_MBPS.max(self.min_mbps).min(self.max_mbps()))
    }

    /// The greatest rate that it sends at for long, in Mbps.
    fn most_mbps(&self) -> f64 {
        if self.adapts() { self.max_mbps() } else { self.rate_mbps }
    }

    fn controlled(&self) -> Option<Box<Controlled>> {
        let rates = Rates {
            start_bps: self.start_mbps() * 1e6,
            least_bps: self.min_mbps * 1e6,
            most_bps: self.max_mbps() * 1e6,
        };
        let law: AnyLaw = match self.control {
            Control::None => return None,
            Control::Gcc => Gcc::new(rates).into(),
            Control::Scream => {
                Scream::new(rates, self.frames_per_s, self.packet_bytes.into()).into()
            }
        };
        let pictures = (self.picture, self.layers);
        Some(Box::new(Controlled::new(law, self.control.reports(), pictures)))
    }

    /// The rates of a control contain each other.
    fn check_rates(&self) -> Faults {
        let (least, most) = (self.min_mbps, self.max_mbps());
        let mut faults = Faults::from(at_least(("max_mbps", most), ("min_mbps", least)));
        if let Some(start_mbps) = self.start_mbps.filter(|_| faults.is_empty()) {
            faults.add(at_least(("start_mbps", start_mbps), ("min_mbps", least)));
            faults.add(at_least(("max_mbps", most), ("start_mbps", start_mbps)));
        }
        let layers = self.picture.most_layers();
        if self.layers > layers {
            let height = self.picture.height();
            let (found, allowed) =
                (self.layers, format!("1 to {layers} with a picture of {height}p"));
            faults.add(Fault::found("layers", found, allowed));
        }
        faults
    }

    fn frame_bytes(&self) -> f64 {
        self.rate_mbps * 1e6 / 8.0 / self.frames_per_s
    }
}

impl AppParameters for Parameters {
    one_server!();

    fn start(&self, server: &dyn Fn(&str) -> u16) -> App {
        let camera = |direction| {
            let films = self.direction.includes(direction);
            films.then(|| Camera { control: self.controlled(), ..Camera::default() })
        };
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
            datagrams: 0,
            arrivals: Vec::new(),
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

    fn hears_datagrams(&self) -> bool {
        self.adapts()
    }

    fn heeds_marks(&self) -> bool {
        self.control == Control::Scream
    }

    fn load(&self, seconds: f64) -> Load {
        let sending_s = sending_s(self.start_s, self.stop_s, seconds);
        let ways = if self.direction.is_both() { 2.0 } else { 1.0 };
        let frames = ways * (sending_s * self.frames_per_s + 1.0);
        let frame_bytes = self.most_mbps() * 1e6 / 8.0 / self.frames_per_s;
        let packets = frames * (frame_bytes / f64::from(self.packet_bytes)).ceil();
        let (reports, report_bytes) = if self.adapts() {
            let packets_per_s = packets / (ways * sending_s).max(f64::MIN_POSITIVE);
            let most_bps = (self.most_mbps() * 1e6) as u64;
            self.control.reports().load(most_bps, self.frames_per_s, packets_per_s)
        } else {
            (0.0, 0.0)
        };
        let reports = ways * sending_s * reports;
        let bytes = frames * frame_bytes + reports * report_bytes;
        Load {
            packets: packets + reports,
            packet_bytes: bytes / (packets + reports),
            sending_s,
            direction: self.direction.only().filter(|_| !self.adapts()),
            ..Load::default()
        }
    }

    fn quality(&self) -> Quality {
        Quality::VideoCall
    }

    fn check(&self) -> Faults {
        let mut faults = Faults::from(check_stop(self.start_s.unwrap_or(0.0), self.stop_s));
        if self.adapts() {
            faults.add(self.check_rates());
        } else if self.frame_bytes() < LEAST_PACKET as f64 {
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

/// A picture on its way.
struct Filmed {
    frame: Frame,
    /// Bytes of it that have not been sent.
    left: u64,
    at: Time,
}

/// What an end of the call films.
#[derive(Default)]
struct Camera {
    frames: u32,
    /// When the next frame is there, once the call has begun.
    next_frame: Option<Time>,
    /// Frames that have not been sent whole.
    waiting: VecDeque<Filmed>,
    /// When the next packet is sent.
    next_packet: Time,
    /// What sets its rate, if something does.
    control: Option<Box<Controlled>>,
}

impl Camera {
    /// The size of the next packet, of a frame or of padding.
    fn next_bytes(&self, packet_bytes: u64) -> Option<u64> {
        let Some(Filmed { left, .. }) = self.waiting.front() else {
            let pads = self.control.as_deref().is_some_and(|control| control.pads(packet_bytes));
            return pads.then_some(packet_bytes);
        };
        Some(left.div_ceil(left.div_ceil(packet_bytes)))
    }

    /// Takes it: the frame that it is a part of, if it is no padding, and whether it ends that.
    fn take(&mut self, size: u64) -> (Option<Frame>, bool) {
        let Some(filmed) = self.waiting.front_mut() else {
            if let Some(control) = &mut self.control {
                control.pad(size);
            }
            return (None, false);
        };
        filmed.left -= size;
        let (frame, ends_frame) = (filmed.frame, filmed.left == 0);
        if ends_frame {
            self.waiting.pop_front();
        }
        (Some(frame), ends_frame)
    }

    /// How long its oldest packet has waited.
    fn waited(&self, now: Time) -> Option<Time> {
        self.waiting.front().map(|filmed| now - filmed.at)
    }

    /// Is there room for a picture then, in a call that stops at some time?
    fn has_room(&self, at: Time, stop: Time) -> bool {
        let patience_ms = self.control.as_ref().map_or(0.0, |control| control.law.patience_ms());
        let is_short = |waited: Time| at <= stop && waited.ms_f64() < patience_ms;
        self.waited(at).is_none_or(is_short)
    }
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
    /// Datagrams that it has sent, which are numbered.
    datagrams: u64,
    /// What the last report said.
    arrivals: Vec<Arrival>,
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

    /// Takes the picture that is due in a direction. Returns whether the call goes on.
    fn film(&mut self, direction: Direction, context: &mut AppContext) -> bool {
        let Self { packet_bytes, interval_s, .. } = *self;
        let Some(camera) = &mut self.cameras[direction as usize] else { return false };
        let is_due = camera.next_frame.is_some_and(|next| next <= context.now);
        if !is_due || !camera.has_room(context.now, self.stop) {
            return true;
        }
        if context.now > self.stop {
            return false;
        }
        let sent_at = context.sender_reading(direction);
        let mean = match &mut camera.control {
            Some(control) => control.frame_bytes(sent_at, interval_s),
            None => self.frame_bytes,
        };
        let bytes = mean * factor(self.frame_scale, 3.0, context.rng);
        let bytes = (bytes.round() as u64).max(LEAST_PACKET);
        let packets = bytes.div_ceil(packet_bytes) as u32;
        let waited = camera.waited(context.now).unwrap_or_default();
        if let Some(control) = &mut camera.control {
            control.law.film(bytes as f64, waited.ms_f64());
        }
        let frame = Frame { number: camera.frames, packets };
        camera.waiting.push_back(Filmed { frame, left: bytes, at: context.now });
        camera.frames += 1;
        let paced = camera.control.is_some().then_some(camera.next_packet);
        camera.next_packet = paced.map_or(context.now, |next| next.max(context.now));
        let interval_s = interval_s * factor(self.interval_scale, 2.0, context.rng);
        let interval = Time::from_secs_f64(interval_s);
        camera.next_frame = Some(context.now + context.sender_span(direction, interval));
        true
    }

    /// Sends what is due in a direction. Returns when the next packet or frame is.
    fn send_due(&mut self, direction: Direction, context: &mut AppContext) -> Time {
        if !self.film(direction, context) {
            return Time::NEVER;
        }
        let Self { packet_bytes, server, pacing, .. } = *self;
        let Some(camera) = &mut self.cameras[direction as usize] else { return Time::NEVER };
        let mut held = Time::ZERO;
        while camera.next_packet <= context.now
            && let Some(size) = camera.next_bytes(packet_bytes)
        {
            let sent_at = context.sender_reading(direction);
            let hold = camera.control.as_ref().map_or(Time::ZERO, |of| of.hold(sent_at, size));
            held = context.sender_span(direction, hold);
            if held > Time::ZERO {
                break;
            }
            let (frame, ends_frame) = camera.take(size);
            let (size_bytes, label) = (size as u16, Label::default());
            context.ask(Command::Datagram { server, direction, size: size_bytes, frame, label });
            let wait = match &mut camera.control {
                Some(control) => {
                    let wait = control.send(self.datagrams, sent_at, size, ends_frame);
                    context.sender_span(direction, wait)
                }
                None => pacing.map_or(Time::ZERO, |rate| rate.time_for(size)),
            };
            self.datagrams += 1;
            camera.next_packet += wait;
        }
        let next_packet = match camera.next_bytes(packet_bytes) {
            Some(_) => camera.next_packet.max(context.now + held),
            None => Time::NEVER,
        };
        let next_frame = camera.next_frame.unwrap_or(Time::NEVER).max(context.now);
        match camera.has_room(next_frame, self.stop) {
            true => next_packet.min(next_frame),
            false => next_packet,
        }
    }

    /// A datagram has arrived: a report, or what one is due on.
    fn hear(&mut self, arrived: &Arrived, context: &AppContext) {
        let Arrived { number, direction, .. } = *arrived;
        let reported = direction.reversed();
        if let Some(control) = control(&mut self.cameras, reported) {
            let reading = context.sender_reading(reported);
            if control.hear(number, reading, context.ecn, &mut self.arrivals) {
                return;
            }
        }
        if let Some(control) = control(&mut self.cameras, direction) {
            let reading = context.sender_reading(reported);
            let interval = control.feedback.interval(control.law.target_bps());
            let interval = context.sender_span(reported, interval);
            let packet = (number, arrived.ecn == Ecn::Ce);
            control.feedback.arrive(packet, context.now, reading, interval);
        }
    }

    /// Sends the report on a direction that is due. Returns when the next one is.
    fn report(&mut self, direction: Direction, context: &mut AppContext) -> Time {
        let Some(control) = control(&mut self.cameras, direction) else { return Time::NEVER };
        if control.feedback.due() <= context.now {
            let size = control.feedback.report(self.datagrams, context.now);
            self.datagrams += 1;
            context.ask(Command::Datagram {
                server: self.server,
                direction: direction.reversed(),
                size,
                frame: None,
                label: Label::default(),
            });
        }
        control.feedback.due()
    }

    fn controlled(&self) -> [Option<&Controlled>; 2] {
        self.cameras.each_ref().map(|camera| camera.as_ref()?.control.as_deref())
    }
}

/// What sets the rate of a direction.
fn control(cameras: &mut [Option<Camera>; 2], direction: Direction) -> Option<&mut Controlled> {
    cameras[direction as usize].as_mut()?.control.as_deref_mut()
}

impl Model for VideoCall {
    fn start(&self, rng: &mut Rng) -> Time {
        self.start.unwrap_or_else(|| Time::from_secs_f64(self.interval_s * rng.uniform()))
    }

    fn on_event(&mut self, event: Event, context: &mut AppContext) {
        match event {
            Event::Timer => self.begin(context.now, context.rng),
            Event::Datagram(arrived) => self.hear(&arrived, context),
            _ => return,
        }
        let reports = Direction::BOTH.map(|direction| self.report(direction, context));
        let frames = Direction::BOTH.map(|direction| self.send_due(direction, context));
        let next = reports.into_iter().chain(frames).fold(Time::NEVER, Time::min);
        context.ask(Command::Wake(next));
    }

    fn done(&self, _now: Time) -> Done {
        Done { filmed: self.controlled().map(|of| of.map(|of| of.filmed)), ..Done::default() }
    }

    fn gauges(&self, out: &mut Gauges) {
        let up = (TARGET_UP, WINDOW_UP, QUEUE_UP);
        let down = (TARGET_DOWN, WINDOW_DOWN, QUEUE_DOWN);
        for (of, (target, window, queue)) in self.controlled().into_iter().zip([up, down]) {
            let Some(of) = of else { continue };
            out.show(target, of.law.target_bps() as f64 / 1e6);
            if let Some(Inside { window_bytes, queue_ms }) = of.law.inside() {
                out.show(window, window_bytes);
                out.show(queue, queue_ms);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::at_timers;
    use super::*;

    /// The sizes of a frame's packets and when each is sent, of one frame of 3000 bytes.
    fn packets_of_a_frame(keys: &str) -> Vec<(u64, u16)> {
        let text = format!(
            "server = 's'\ndirection = 'up'\nrate_mbps = 0.72\nstart_s = 0\n{keys}
             frame_scale_percent = 0\ninterval_scale_percent = 0"
        );
        let parameters: Parameters = toml::from_str(&text).unwrap();
        let App::VideoCall(mut call) = parameters.start(&|_| 0) else { panic!("it is a call") };
        let mut sent = Vec::new();
        let next = at_timers(&mut call, Time::from_ms(33), |now, command| {
            let Command::Datagram { size, frame, .. } = command else { panic!("{command:?}") };
            assert_eq!(frame, Some(Frame { number: 0, packets: 3 }));
            sent.push((now.ps() / 1_000_000, size));
        });
        assert_eq!(next.ps() / 1_000_000, 33_333);
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
        let mut bytes = 0;
        at_timers(&mut call, Time::from_s(300), |_, command| {
            let Command::Datagram { size, .. } = command else { panic!("{command:?}") };
            bytes += u64::from(size);
        });
        // 9000 frames, each off by sqrt(2) * 15 % = 21 % in size and in time: sqrt(2) * 21 % / 95 =
        // 0.3 % of the rate; four times that is allowed.
        let mbps = bytes as f64 * 8e-6 / 300.0;
        assert!((mbps / 2.3 - 1.0).abs() < 0.012, "{mbps}");
    }
}
