//! Video in segments of adaptive quality (HTTP adaptive streaming): the client of Hong 2015
//! §3.2.2.1.
//!
//! The player requests segments over one connection, one at a time. It starts with requests back to
//! back. When `start_segments` are in its buffer it begins to play, and takes one from the buffer
//! every segment time. If the buffer is empty, playback stalls until `start_segments` are there
//! again.
//!
//! While it plays, the thesis has one request per segment time (§4.2.2). Requesting whenever fewer
//! than `start_segments` are in the buffer or in transit is the same, and is what this code does.
//! It also defines what happens when a fetch takes longer than a segment lasts: the overdue request
//! follows at once. The buffer of 240 s then never fills. It did not in the thesis either: with one
//! competitor the video of 5 Mbps took 4.99 Mbps, while 12 % of the channel was idle (tables 4.11
//! and 4.12, DRR). With `fill_buffer` it does.
//!
//! Before each request the player computes mu, the time that a segment lasts over the time that the
//! last fetch took (equation 3.3). It goes one level up, stays, or goes down as far as it must
//! (equations 3.4 to 3.7). The thesis does not state the level of the first segment; the lowest is
//! assumed.
//!
//! Left out: audio, several connections, seeking, the end of a video.

use sojourn_input::defaults::number;
use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agenda::Agenda;
use super::{
    App, AppContext, AppParameters, Command, ConnectionId, Done, End, Event, Load, Mean, Model,
    Quality, Viewing,
};
use sojourn_engine::dialect::Dialect;
use sojourn_engine::rng::Rng;
use sojourn_engine::units::Time;
use sojourn_input::problem::{Fault, Faults};
use sojourn_transport::TcpOptions;

/// How the quality level of the next segment is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Adaptation {
    /// By the time that the last segment took to fetch (Hong 2015 §3.2.2.1).
    #[default]
    FetchTime,
    /// Always the highest level (Hong 2015 §4.2.2, max-always).
    AlwaysTop,
}

/// A published list of quality levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ladder {
    /// The twelve rates for HEVC from 0.145 to 16.8 Mbps, the last for 4K, of Apple's HLS Authoring
    /// Specification for Apple Devices.
    #[default]
    AppleHls,
    /// Hong 2015 §4.2.2: 0.5, 1, 2, 3, 4, 5 Mbps.
    Hong2015,
}

impl Ladder {
    const fn mbps(self) -> &'static [f64] {
        match self {
            // Video average bit rates of 16:9 at 30 frames per second and standard dynamic range.
            Self::AppleHls => &[0.145, 0.3, 0.6, 0.9, 1.6, 2.4, 3.4, 4.5, 5.8, 8.1, 11.6, 16.8],
            Self::Hong2015 => &[0.5, 1.0, 2.0, 3.0, 4.0, 5.0],
        }
    }
}

/// Parameters of adaptive video streaming.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Video")]
pub struct Parameters {
    /// Server at the other end. Default: the first of `servers`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(extend("x-role" = "line"))]
    pub server: String,
    /// Number of viewers, each with a video and a connection.
    #[serde(default = "number::<u32, 1>")]
    #[schemars(range(min = 1, max = 10_000))]
    pub viewers: u32,
    /// Quality levels by name. Default: `apple_hls`, unless `ladder_mbps` lists the rates.
    #[serde(default)]
    pub ladder: Option<Ladder>,
    /// Rates of the quality levels in Mbps, in ascending order, instead of a named ladder (Hong 2015
    /// §5.4.3 has 1.5, 3, 6, 9, 12, 15).
    #[serde(default)]
    #[schemars(length(min = 1, max = 100), inner(range(min = 0.001, max = 10_000.0)))]
    pub ladder_mbps: Option<Vec<f64>>,
    /// Quality level of the first segment; 1 is the lowest.
    #[serde(default = "number::<u32, 1>")]
    #[schemars(range(min = 1, max = 100))]
    pub first_level: u32,
    /// How the quality level of the next segment is chosen.
    #[serde(default)]
    pub adaptation: Adaptation,
    /// Go to a lower level if mu, the duration of a segment over the time of its fetch, is below
    /// this (Hong 2015 §3.2.2.1: 0.67).
    #[serde(default = "down_below")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub down_below: f64,
    /// Duration of a segment in s (Hong 2015 §4.2.2).
    #[serde(default = "number::<f64, 4>")]
    #[schemars(range(min = 0.01, max = 1000.0))]
    pub segment_s: f64,
    /// Segments in the buffer at which playback starts, and resumes after a stall (Hong 2015
    /// §3.2.2.1).
    #[serde(default = "number::<u32, 2>")]
    #[schemars(range(min = 1, max = 1000))]
    pub start_segments: u32,
    /// Capacity of the buffer in s, at least `start_segments` (Hong 2015 §4.2.2). The player sends
    /// no request while the buffer is full; without `fill_buffer` it never is.
    #[serde(default = "number::<f64, 240>")]
    #[schemars(range(min = 0.01, max = 1_000_000.0))]
    pub buffer_s: f64,
    /// Request segments until the buffer is full, instead of one per segment time.
    #[serde(default)]
    pub fill_buffer: bool,
    /// Size of a request in bytes. The sources do not state it; 300 is a small GET of today.
    #[serde(default = "number::<u64, 300>")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub request_bytes: u64,
    /// Earliest start of the first viewer in s.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub start_s: f64,
    /// Viewers start at random times within this many seconds after `start_s`.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub start_spread_s: f64,
    /// TCP options of these connections that differ from the scenario's `tcp`.
    #[serde(default)]
    pub tcp: TcpOptions,
}

fn down_below() -> f64 {
    0.67
}

impl Parameters {
    /// Rates of the quality levels.
    fn levels_mbps(&self) -> &[f64] {
        self.ladder_mbps.as_deref().unwrap_or_else(|| self.ladder.unwrap_or_default().mbps())
    }

    fn bytes(&self, mbps: f64) -> u64 {
        ((mbps * self.segment_s * 1e6 / 8.0).round() as u64).max(1)
    }

    /// Segments that fit into the buffer. 0.3 s hold three of 0.1 s, despite rounding of binary
    /// fractions.
    pub fn buffer_segments(&self) -> usize {
        (self.buffer_s / self.segment_s + 1e-9) as usize
    }

    /// The rate of the level at which a viewer stays on a steady line on which a segment of so many Mbit takes so many s.
    pub(crate) fn settled_mbps(&self, fetch_s: impl Fn(f64) -> f64) -> f64 {
        let (chooser, levels_mbps) = (self.chooser(), self.levels_mbps());
        let mu = |level: usize| self.segment_s / fetch_s(levels_mbps[level] * self.segment_s);
        let mut level = self.first();
        for _ in 0..2 * levels_mbps.len() {
            level = chooser.next(level, mu(level));
        }
        levels_mbps[level]
    }

    /// The level of the first segment.
    fn first(&self) -> usize {
        let top = self.levels_mbps().len() - 1;
        match self.adaptation {
            Adaptation::FetchTime => top.min(self.first_level as usize - 1),
            Adaptation::AlwaysTop => top,
        }
    }

    fn chooser(&self) -> Chooser {
        Chooser {
            up_above: 1.0 + greatest_step(self.levels_mbps()),
            down_below: self.down_below,
            ladder_mbps: self.levels_mbps().to_vec(),
            adaptation: self.adaptation,
        }
    }

    /// When the quality of the last viewer has stopped rising, in s from the start of the run, if it rises with each
    /// segment, of which one is requested in each segment's time.
    pub fn rises_until_s(&self) -> f64 {
        let segments = self.levels_mbps().len() - 1 + AT_REST + self.start_segments as usize;
        self.start_s + self.start_spread_s + self.segment_s * segments as f64
    }

    /// Segments in the buffer at which the player stops requesting.
    fn wanted(&self) -> usize {
        if self.fill_buffer { self.buffer_segments() } else { self.start_segments as usize }
    }
}

impl AppParameters for Parameters {
    one_server!();
    own_tcp!();

    fn start(&self, server: &dyn Fn(&str) -> u16) -> App {
        Video {
            server: server(&self.server),
            bytes: self.levels_mbps().iter().map(|mbps| self.bytes(*mbps)).collect(),
            chooser: self.chooser(),
            segment: Time::from_secs_f64(self.segment_s),
            start_segments: self.start_segments as usize,
            wanted: self.wanted(),
            request_bytes: self.request_bytes,
            agenda: Agenda::new(self.viewers, self.start_s, self.start_spread_s),
            viewers: (0..self.viewers).map(|_| Viewer::new(self.first())).collect(),
        }
        .into()
    }

    /// Hong 2015 §4.1: FullTCP/Sack in the experiments with video.
    fn usual_tcp(&self, dialect: Dialect) -> TcpOptions {
        match dialect {
            Dialect::Ns2 => TcpOptions::full_sack(),
            Dialect::Rfc | Dialect::Linux => TcpOptions::default(),
        }
    }

    fn load(&self, _seconds: f64) -> Load {
        let viewers = f64::from(self.viewers);
        Load {
            connections: viewers,
            opened: viewers,
            stream_bytes: f64::INFINITY,
            kept_bytes: 640.0 * viewers,
            ..Load::default()
        }
    }

    fn quality(&self) -> Quality {
        Quality::Video
    }

    fn check(&self) -> Faults {
        let mut faults = Faults::default();
        if self.ladder.is_some() && self.ladder_mbps.is_some() {
            faults.add(Fault::found("ladder", "it beside ladder_mbps", "one of them"));
        }
        let levels_mbps = self.levels_mbps();
        for (i, pair) in levels_mbps.windows(2).enumerate() {
            if pair[1] <= pair[0] {
                let message = format!(
                    "found {}; allowed: more than {}, since levels must ascend",
                    pair[1], pair[0]
                );
                faults.add(Fault::new(format!("ladder_mbps.{}", i + 1), message));
            }
        }
        let levels = levels_mbps.len();
        if self.first_level as usize > levels {
            let message = format!(
                "found {}; allowed: 1 to {levels}, the levels of the ladder",
                self.first_level
            );
            faults.add(Fault::new("first_level", message));
        }
        let (held, wanted) = (self.buffer_segments(), self.start_segments);
        if held < wanted as usize {
            let message = format!(
                "found {}, room for whole segments: {held}; allowed: {wanted} or more, the value \
             of start_segments",
                self.buffer_s,
            );
            faults.add(Fault::new("buffer_s", message));
        }
        faults
    }
}

/// Epsilon of equation 3.5: the largest relative step from one level to the next.
fn greatest_step(ladder_mbps: &[f64]) -> f64 {
    let steps = ladder_mbps.windows(2).map(|pair| (pair[1] - pair[0]) / pair[0]);
    steps.fold(0.0, f64::max)
}

/// Chooses the level of the next segment.
struct Chooser {
    ladder_mbps: Vec<f64>,
    adaptation: Adaptation,
    /// Go one level up where mu is above this.
    up_above: f64,
    down_below: f64,
}

impl Chooser {
    fn top(&self) -> usize {
        self.ladder_mbps.len() - 1
    }

    /// The next level after a segment of this level came with this mu.
    fn next(&self, level: usize, mu: f64) -> usize {
        if self.adaptation == Adaptation::AlwaysTop {
            self.top()
        } else if mu > self.up_above {
            // Equation 3.4.
            self.top().min(level + 1)
        } else if mu < self.down_below {
            // Equation 3.7: the highest level below the rate of the last fetch.
            let affordable = mu * self.ladder_mbps[level];
            self.ladder_mbps.iter().rposition(|mbps| *mbps < affordable).unwrap_or(0)
        } else {
            level
        }
    }
}

/// A viewer.
struct Viewer {
    connection: Option<ConnectionId>,
    /// Level of the segment requested last.
    level: usize,
    /// When that was requested, while it is in transit.
    asked_at: Option<Time>,
    last_fetch: Option<Time>,
    /// The segments in the buffer.
    buffer: VecDeque<Segment>,
    is_playing: bool,
    begun: Option<Time>,
    rise: Rise,
    play_begun: Option<Time>,
    stalled_since: Option<Time>,
    stalled: Time,
    adaptations: u64,
    /// Segments taken from the buffer.
    played: Mean,
    /// Those of them that were requested since the level stopped rising.
    played_settled: Mean,
}

/// A segment in the buffer.
struct Segment {
    level: usize,
    asked_at: Time,
}

/// The rise of a viewer's level from the first segment on. Where no new level comes in the five segments after one, or
/// where it is the top, that one was the end of the rise.
#[derive(Default)]
struct Rise {
    highest: Option<usize>,
    /// When that was first requested.
    ended_at: Time,
    /// Segments requested since.
    segments: usize,
    is_over: bool,
}

const AT_REST: usize = 5;

impl Rise {
    /// A segment of this level is requested. Is it a new highest?
    fn on_request(&mut self, now: Time, level: usize, is_top: bool) -> bool {
        let is_new = !self.is_over && self.highest.is_none_or(|highest| level > highest);
        if is_new {
            (self.highest, self.ended_at, self.segments) = (Some(level), now, 0);
        } else {
            self.segments += 1;
        }
        self.is_over |= is_top || self.segments == AT_REST;
        is_new
    }

    fn end(&self) -> Option<Time> {
        self.is_over.then_some(self.ended_at)
    }
}

impl Viewer {
    fn new(level: usize) -> Self {
        Self {
            connection: None,
            level,
            asked_at: None,
            last_fetch: None,
            buffer: VecDeque::new(),
            is_playing: false,
            begun: None,
            rise: Rise::default(),
            play_begun: None,
            stalled_since: None,
            stalled: Time::ZERO,
            adaptations: 0,
            played: Mean::default(),
            played_settled: Mean::default(),
        }
    }

    fn play(&mut self, now: Time) {
        self.is_playing = true;
        self.play_begun.get_or_insert(now);
        self.stalled += self.stalled_until(now);
        self.stalled_since = None;
    }

    fn stall(&mut self, now: Time) {
        self.is_playing = false;
        self.stalled_since = Some(now);
    }

    /// Stalled time up to now, including the current stall.
    fn stalled_until(&self, now: Time) -> Time {
        self.stalled_since.map_or(Time::ZERO, |since| now - since)
    }
}

/// Videos in operation. A viewer's number is the tag of the connection.
pub struct Video {
    server: u16,
    chooser: Chooser,
    /// Bytes of a segment, by level.
    bytes: Vec<u64>,
    segment: Time,
    start_segments: usize,
    wanted: usize,
    request_bytes: u64,
    /// When each viewer starts, and then when the player needs the next segment.
    agenda: Agenda,
    viewers: Vec<Viewer>,
}

impl Video {
    fn act_due(&mut self, context: &mut AppContext) {
        while let Some(number) = self.agenda.take(context) {
            match self.viewers[number as usize].connection {
                None => context.ask(Command::Open { server: self.server, tag: number }),
                Some(_) => {
                    self.take_segment(number, context);
                    self.ask_for_segment(number, context);
                }
            }
        }
        self.agenda.ask(context);
    }

    /// The player needs a segment.
    fn take_segment(&mut self, number: u32, context: &mut AppContext) {
        let viewer = &mut self.viewers[number as usize];
        match viewer.buffer.pop_front() {
            Some(segment) => {
                let mbps = self.chooser.ladder_mbps[segment.level];
                viewer.played.add(mbps);
                if segment.asked_at >= viewer.rise.ended_at {
                    viewer.played_settled.add(mbps);
                }
                self.agenda.set(number, context.now + self.segment);
            }
            None => viewer.stall(context.now),
        }
    }

    fn ask_for_segment(&mut self, number: u32, context: &mut AppContext) {
        let viewer = &mut self.viewers[number as usize];
        let Some(connection) = viewer.connection else { return };
        if viewer.asked_at.is_some() || viewer.buffer.len() >= self.wanted {
            return;
        }
        // Equation 3.3.
        let mu = |fetch: Time| self.segment.secs_f64() / fetch.secs_f64();
        let next = |fetch| self.chooser.next(viewer.level, mu(fetch));
        let level = viewer.last_fetch.map_or(viewer.level, next);
        if viewer.rise.on_request(context.now, level, level == self.chooser.top()) {
            viewer.played_settled = Mean::default();
        }
        viewer.adaptations += u64::from(level != viewer.level);
        viewer.level = level;
        viewer.asked_at = Some(context.now);
        context.request(connection, self.request_bytes, self.bytes[viewer.level]);
    }

    fn segment_is_there(&mut self, number: u32, context: &mut AppContext) {
        let viewer = &mut self.viewers[number as usize];
        let Some(asked_at) = viewer.asked_at.take() else { return };
        viewer.last_fetch = Some(context.now - asked_at);
        viewer.buffer.push_back(Segment { level: viewer.level, asked_at });
        if !viewer.is_playing && viewer.buffer.len() >= self.start_segments {
            viewer.play(context.now);
            self.take_segment(number, context);
            self.agenda.ask(context);
        }
        self.ask_for_segment(number, context);
    }

    fn viewing(&self, now: Time) -> Viewing {
        let sum = |of: &dyn Fn(&Viewer) -> f64| self.viewers.iter().map(of).sum::<f64>();
        let count = |of: &dyn Fn(&Viewer) -> bool| sum(&|v| f64::from(u8::from(of(v))));
        let played = |of: &dyn Fn(&Viewer) -> Mean| Mean {
            count: sum(&|v| of(v).count),
            sum: sum(&|v| of(v).sum),
        };
        let span = |begun: Option<Time>, end: Time| begun.map_or(0.0, |b| (end - b).secs_f64());
        let since = |begun| span(begun, now);
        Viewing {
            played: played(&|v| v.played),
            played_settled: played(&|v| v.played_settled),
            adaptations: sum(&|v| v.adaptations as f64),
            viewers: count(&|v| v.begun.is_some()),
            settled: count(&|v| v.rise.is_over),
            watched_s: sum(&|v| since(v.begun)),
            rising_s: sum(&|v| span(v.begun, v.rise.end().unwrap_or(now))),
            playing_s: sum(&|v| since(v.play_begun)),
            stalled_s: sum(&|v| (v.stalled + v.stalled_until(now)).secs_f64()),
        }
    }
}

impl Model for Video {
    fn start(&self, _rng: &mut Rng) -> Time {
        self.agenda.start()
    }

    fn on_event(&mut self, event: Event, context: &mut AppContext) {
        match event {
            Event::Timer => self.act_due(context),
            Event::Established(number, connection) => {
                let viewer = &mut self.viewers[number as usize];
                viewer.connection = Some(connection);
                viewer.begun = Some(context.now);
                self.ask_for_segment(number, context);
            }
            Event::Received(number, connection, End::Server) => {
                let bytes = self.bytes[self.viewers[number as usize].level];
                context.ask(Command::Send(connection, End::Server, bytes));
            }
            Event::Received(number, _, End::Home) => self.segment_is_there(number, context),
            Event::Opening(..)
            | Event::Acknowledged(..)
            | Event::Datagram(_)
            | Event::Message(..)
            | Event::Shapers(_)
            | Event::Carried(..) => {}
        }
    }

    fn done(&self, now: Time) -> Done {
        Done { viewing: Some(self.viewing(now)), ..Done::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chooser(ladder_mbps: &[f64]) -> Chooser {
        Chooser {
            ladder_mbps: ladder_mbps.to_vec(),
            adaptation: Adaptation::FetchTime,
            up_above: 1.0 + greatest_step(ladder_mbps),
            down_below: 0.67,
        }
    }

    /// Steps of 0.5, 1, 2, 3, 4, 5: 1, 1, 0.5, 0.33, 0.25. Of 1.5, 3, 6, 9, 12, 15: the same. So up
    /// above mu = 2.
    #[test]
    fn the_ladders_of_the_thesis_go_up_above_two() {
        assert_eq!(chooser(Ladder::Hong2015.mbps()).up_above, 2.0);
        assert_eq!(chooser(&[1.5, 3.0, 6.0, 9.0, 12.0, 15.0]).up_above, 2.0);
        // 2, 3, 4: 0.5 and 0.33.
        assert_eq!(chooser(&[2.0, 3.0, 4.0]).up_above, 1.5);
    }

    #[test]
    fn levels_by_mu() {
        let chooser = chooser(Ladder::Hong2015.mbps());
        for (level, mu, want) in [
            (0, 2.0, 0),  // not above 2
            (0, 2.1, 1),  // one level, not more
            (3, 80.0, 4), // one level, not more
            (5, 3.74, 5), // at the top
            (5, 0.67, 5), // not below 0.67
            (5, 0.66, 3), // 0.66 * 5 = 3.3: 3 is the highest below
            (5, 0.6, 2),  // 0.6 * 5 = 3.0: 3 is not below, 2 is
            (5, 0.15, 0), // 0.75
            (2, 0.2, 0),  // 0.4: none is below, so the lowest
            (0, 0.1, 0),  // at the bottom
        ] {
            assert_eq!(chooser.next(level, mu), want, "level {level}, mu {mu}");
        }
    }

    /// One viewer whose segments come when `fetch` says, given their bytes.
    struct Bench {
        video: Video,
        rng: Rng,
        now: Time,
        wake: Time,
        /// When a segment was requested and its bytes.
        asked: Vec<(Time, u64)>,
        arrival: Option<Time>,
        fetch: fn(u64) -> Time,
    }

    const CONNECTION: ConnectionId = ConnectionId { slot: 0, generation: 0 };

    impl Bench {
        fn new(keys: &str, fetch: fn(u64) -> Time) -> Self {
            let text = format!("server = 'cdn'\n{keys}");
            let mut spec: Parameters = toml::from_str(&text).unwrap();
            spec.ladder = spec.ladder.or(Some(Ladder::Hong2015));
            let App::Video(video) = spec.start(&|_| 0) else {
                unreachable!("parameters of a video start one");
            };
            let mut bench = Self {
                video,
                rng: Rng::named(1, ""),
                now: Time::ZERO,
                wake: Time::NEVER,
                asked: Vec::new(),
                arrival: None,
                fetch,
            };
            bench.tell(Event::Timer);
            bench.tell(Event::Established(0, CONNECTION));
            bench
        }

        fn tell(&mut self, event: Event) {
            let mut commands = Vec::new();
            let mut context = AppContext::of_true_clock(self.now, &mut self.rng, &mut commands);
            self.video.on_event(event, &mut context);
            for command in commands {
                match command {
                    Command::Expect(_, End::Home, bytes) => {
                        self.asked.push((self.now, bytes));
                        self.arrival = Some(self.now + (self.fetch)(bytes));
                    }
                    Command::Wake(at) => self.wake = at,
                    _ => {}
                }
            }
        }

        /// Runs to the end and gives the requests: when, in s, and for what rate, in Mbps.
        fn requests_until(&mut self, end_s: f64) -> Vec<(f64, f64)> {
            let end = Time::from_secs_f64(end_s);
            loop {
                let arrival = self.arrival.unwrap_or(Time::NEVER);
                let next = arrival.min(self.wake);
                if next > end {
                    break;
                }
                self.now = next;
                if arrival <= self.wake {
                    self.arrival = None;
                    self.tell(Event::Received(0, CONNECTION, End::Home));
                } else {
                    self.wake = Time::NEVER;
                    self.tell(Event::Timer);
                }
            }
            self.now = end;
            self.asked.iter().map(|(at, b)| (at.secs_f64(), *b as f64 * 8e-6 / 4.0)).collect()
        }

        fn viewing(&self) -> Viewing {
            self.video.done(self.now).viewing.unwrap()
        }
    }

    /// Segments come at 8 Mbps: a byte takes 1 us. The first, of 0.5 Mbps, is 250 000 B and takes
    /// 0.25 s: mu = 16, up. The second, of 1 Mbps, takes 0.5 s and is there at 0.75 s: playing begins,
    /// the first is taken, and the third requested: mu = 8, up to 2 Mbps, 1 s. From then on one request
    /// every 4 s, as the player takes a segment: mu = 4, up to 3 Mbps, 1.5 s; mu = 2.67, up to 4 Mbps,
    /// 2 s; mu = 2, not above 2: stays.
    #[test]
    fn start_and_steady_state() {
        let mut bench = Bench::new("", Time::from_us);
        let requests = bench.requests_until(24.0);
        assert_eq!(
            requests,
            [
                (0.0, 0.5),
                (0.25, 1.0),
                (0.75, 2.0),
                (4.75, 3.0),
                (8.75, 4.0),
                (12.75, 4.0),
                (16.75, 4.0),
                (20.75, 4.0)
            ]
        );
        // Played from 0.75 s on, every 4 s: 0.5, 1, 2, 3, 4, 4: 14.5 / 6. Four changes in 24 s.
        let viewing = bench.viewing();
        assert!((viewing.whole_rate_mbps().unwrap() - 14.5 / 6.0).abs() < 1e-12);
        assert!((viewing.adaptations_per_hour().unwrap() - 4.0 * 3600.0 / 24.0).abs() < 1e-9);
        // Of the five segments that show the end of a rise three have been requested.
        assert_eq!((viewing.rate_mbps(), viewing.rise_s()), (None, None));
        assert_eq!(viewing.stalled_percent(), Some(0.0));
        assert_eq!(viewing.start_wait_s(), Some(0.75));
        let mut bench = Bench::new("", Time::from_us);
        bench.requests_until(32.0);
        let viewing = bench.viewing();
        assert_eq!((viewing.rate_mbps(), viewing.rise_s()), (Some(4.0), Some(8.75)));
    }

    /// Always 5 Mbps, 2 500 000 B, over 4 Mbps: a fetch takes 5 s. Segments are there at 5 and 10 s;
    /// playing begins at 10 s, takes the first, takes the second at 14 s, and the third, which comes
    /// at 15 s, is not there at 18 s? It is: 15 < 18. The player takes the k-th segment at 10 + 4k s
    /// and it comes at 5 + 5k s (k = 0, 1, ...), so the first that is late has 5 + 5k > 10 + 4k,
    /// k = 6: it comes at 35 s and is needed at 34 s (k = 5 is there at 30 s, just when it is needed;
    /// what comes is seen first). From 34 s it stands still until two are there: at 35 and 40 s. Again
    /// it plays at 40 s segments that come at 35 + 5j s for 40 + 4j s: the same as before, 24 s of
    /// playing and 6 s of standing, so a fifth of the time.
    #[test]
    fn always_the_top_level_stalls() {
        let mut bench = Bench::new("adaptation = 'always_top'", |bytes| Time::from_us(2 * bytes));
        let requests = bench.requests_until(130.0);
        assert!(requests.iter().all(|(_, mbps)| *mbps == 5.0));
        let times: Vec<_> = requests.iter().map(|(at, _)| *at).collect();
        // Back to back, as the buffer never has two: 26 fetches in 130 s and the one that begins then.
        assert_eq!(times, (0..27).map(|k| 5.0 * f64::from(k)).collect::<Vec<_>>());
        let viewing = bench.viewing();
        assert_eq!(viewing.rate_mbps(), Some(5.0));
        assert_eq!(viewing.adaptations_per_hour(), Some(0.0));
        // 120 s since playing began: four rounds of 30 s.
        assert!((viewing.stalled_percent().unwrap() - 20.0).abs() < 1e-9, "{viewing:?}");
    }

    /// A buffer of 12 s holds three segments; to fill it takes requests back to back, from then on one
    /// as each segment is taken. Segments of 0.5 Mbps alone, 0.25 s each: there at 0.25 and 0.5 s,
    /// when playing begins and takes one; at 0.75 and 1 s there are two and three in the buffer.
    #[test]
    fn a_buffer_that_is_filled_stops_the_requests() {
        let keys = "fill_buffer = true\nbuffer_s = 12\nladder_mbps = [0.5]";
        let requests = Bench::new(keys, Time::from_us).requests_until(9.0);
        let times: Vec<_> = requests.iter().map(|(at, _)| *at).collect();
        assert_eq!(times, [0.0, 0.25, 0.5, 0.75, 4.5, 8.5]);
    }

    /// Without any limit one level up with each segment, to 4K.
    #[test]
    fn the_default_ladder_is_of_today() {
        let spec: Parameters = toml::from_str("server = 'cdn'").unwrap();
        assert_eq!(spec.levels_mbps().len(), 12);
        assert!(spec.levels_mbps().is_sorted() && spec.levels_mbps().last() >= Some(&16.0));
        let requests =
            Bench::new("ladder = 'apple_hls'", |_| Time::from_us(1)).requests_until(60.0);
        let levels = requests.iter().zip(Ladder::AppleHls.mbps());
        assert!(levels.clone().all(|((_, got), want)| (got - want).abs() < 1e-9));
        assert_eq!(levels.count(), 12);
        let own: Parameters = toml::from_str("server = 'cdn'\nladder_mbps = [1, 2]").unwrap();
        assert_eq!((own.levels_mbps(), own.check().is_empty()), (&[1.0, 2.0][..], true));
        assert!(!Parameters { ladder: Some(Ladder::Hong2015), ..own }.check().is_empty());
    }

    #[test]
    fn decimal_fractions_fill_a_buffer() {
        let spec = |keys| toml::from_str::<Parameters>(keys).unwrap();
        // 0.3 / 0.1 is 2.9999999999999996.
        let short = spec("server = 'cdn'\nsegment_s = 0.1\nbuffer_s = 0.3");
        assert_eq!(short.buffer_segments(), 3);
        assert_eq!(spec("server = 'cdn'\nbuffer_s = 7.9").buffer_segments(), 1);
    }

    #[test]
    fn a_segment_has_a_byte_at_least() {
        let parameters: Parameters = toml::from_str("server = 's'\nsegment_s = 0.1").unwrap();
        // 8 bit/s and 160 bit/s in 0.1 s.
        assert_eq!([8e-6, 160e-6].map(|mbps| parameters.bytes(mbps)), [1, 2]);
    }

    #[test]
    fn the_first_level_is_counted_from_the_lowest() {
        let requests = Bench::new("first_level = 3", Time::from_us).requests_until(0.0);
        assert_eq!(requests, [(0.0, 2.0)]);
    }
}
