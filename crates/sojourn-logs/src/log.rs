//! What a log says of a line: probes, rates, and when a load ran.

use serde::Serialize;
use sojourn_input::problem::Fault;

use crate::unusable;

/// The tool that wrote a log.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// JSON of flent, with probes and rates.
    Flent,
    /// JSON or lines of irtt, with delays of both directions.
    Irtt,
    /// Lines of ping.
    Ping,
    /// Lines of fping, also in JSON.
    Fping,
    /// JSON that Crusader exports.
    Crusader,
    /// JSON of networkQuality, a summary.
    NetworkQuality,
    /// Columns with names.
    Csv,
}

impl Format {
    /// The tool as sentences name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Flent => "flent",
            Self::Irtt => "irtt",
            Self::Ping => "ping",
            Self::Fping => "fping",
            Self::Crusader => "Crusader",
            Self::NetworkQuality => "networkQuality",
            Self::Csv => "CSV",
        }
    }

    /// What its rates count, if it has any.
    pub fn rates_count(self) -> Option<&'static str> {
        match self {
            Self::Flent | Self::Crusader | Self::NetworkQuality => {
                Some("bytes that arrive at applications")
            }
            Self::Csv => Some("what the file's columns count"),
            Self::Irtt | Self::Ping | Self::Fping => None,
        }
    }
}

/// A probe and its delays in ms; without any it was lost. One-way delays hold the unknown difference of two clocks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Probe {
    /// When it was sent, in ms of any clock.
    pub sent_ms: f64,
    /// To the server.
    pub up_ms: Option<f64>,
    /// From the server.
    pub down_ms: Option<f64>,
    /// There and back.
    pub rtt_ms: Option<f64>,
}

impl Probe {
    pub(crate) fn lost(sent_ms: f64) -> Self {
        Self { sent_ms, up_ms: None, down_ms: None, rtt_ms: None }
    }

    pub(crate) fn answered(sent_ms: f64, rtt_ms: f64) -> Self {
        Self { rtt_ms: Some(rtt_ms), ..Self::lost(sent_ms) }
    }

    /// Was there no answer?
    pub fn is_lost(&self) -> bool {
        self.up_ms.is_none() && self.rtt_ms.is_none()
    }
}

/// The mean rate since the rate before it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rate {
    /// The end of the time that it counts, in ms of the probes' clock.
    pub at_ms: f64,
    /// In Mbps.
    pub mbps: f64,
}

/// What bulk traffic goes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// None.
    Idle,
    /// Downloads.
    Down,
    /// Uploads.
    Up,
    /// Downloads and uploads at once.
    Both,
}

impl Load {
    /// By the directions that are loaded.
    pub fn of(has_down: bool, has_up: bool) -> Self {
        match (has_down, has_up) {
            (false, false) => Self::Idle,
            (true, false) => Self::Down,
            (false, true) => Self::Up,
            (true, true) => Self::Both,
        }
    }
}

/// What a direction carried.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Way {
    /// The rates of all its transfers together.
    pub rates: Vec<Rate>,
    /// From when to when a load ran, in ms, in order.
    pub loaded_ms: Vec<(f64, f64)>,
    /// Are these known from rates of all that the line carried alone?
    pub is_inferred: bool,
    /// The highest mean rate of what was too little for a load.
    pub light_mbps: Option<f64>,
}

/// What a test says without single probes. Delays are in ms.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Summary {
    /// Round trips on the idle line.
    pub idle_ms: Vec<f64>,
    /// What is known of each load.
    pub loads: Vec<LoadSummary>,
    /// The number of the draft of responsiveness whose rules the test follows.
    pub draft: Option<u64>,
}

/// What a summary says of one load.
#[derive(Clone, PartialEq, Debug)]
pub struct LoadSummary {
    /// What ran.
    pub load: Load,
    /// Round trips of new connections beside the load.
    pub foreign_ms: Vec<f64>,
    /// Round trips of requests on connections of the load.
    pub own_ms: Vec<f64>,
    /// Round trips a minute, as the test gives them.
    pub rpm: Option<f64>,
    /// Mean rates in Mbps, down and up.
    pub mbps: [Option<f64>; 2],
}

/// What was read of a log. It holds no address, host or place.
#[derive(Clone, PartialEq, Debug)]
pub struct Log {
    /// The tool that wrote it.
    pub format: Format,
    /// Streams of probes, in the order of the log.
    pub streams: Vec<Vec<Probe>>,
    /// Down and up.
    pub ways: [Way; 2],
    /// Does the log say when a load ran?
    pub has_loads: bool,
    /// Are the streams of several hosts?
    pub has_hosts: bool,
    /// Are lost probes of each stream known?
    pub has_losses: Vec<bool>,
    /// The interval that is supposed where probes have no times.
    pub untimed: Option<Untimed>,
    /// To what times are rounded as the format says, or 0.
    pub resolution_ms: f64,
    /// When clocks were set. Those of the home are taken out of all times.
    pub steps: Vec<Step>,
    /// What it says without single probes.
    pub summary: Option<Summary>,
    /// What its tool says against the test.
    pub doubts: Vec<String>,
}

/// Probes without times are supposed to have left at a steady interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Untimed {
    /// In ms.
    pub interval_ms: f64,
    /// Who says so.
    pub from: IntervalFrom,
}

/// From where an interval is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IntervalFrom {
    /// Most tools have it by default.
    Nowhere,
    /// The last line of the log.
    Log,
    /// The user.
    User,
}

/// What a clock did between two probes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Step {
    /// The last time before it, in ms.
    pub after_ms: f64,
    /// By how much it went forward, in ms.
    pub by_ms: f64,
    /// Which one.
    pub clock: Clock,
}

/// A clock of a measurement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clock {
    /// That of the send times; the step is a time without probes.
    Home,
    /// The server's against the home's: a step in one-way delays.
    Server,
}

/// Before a load's first rate it may have begun already.
const BEFORE_MS: f64 = 500.0;
/// After a load its queue drains.
pub(crate) const AFTER_MS: f64 = 2_000.0;
/// Times of a load may end so long after the last probe, in s.
const BEYOND_S: f64 = 5.0;
/// Below it nothing is a load that nobody calls one.
pub const LEAST_MBPS: f64 = 0.5;

const INTERVALS_MS: std::ops::RangeInclusive<f64> = 0.1..=3.6e6;

impl Log {
    pub(crate) fn new(format: Format, streams: Vec<Vec<Probe>>) -> Self {
        Self {
            format,
            ways: Default::default(),
            has_loads: false,
            has_hosts: false,
            has_losses: vec![true; streams.len()],
            untimed: None,
            resolution_ms: 0.0,
            steps: Vec::new(),
            summary: None,
            doubts: Vec::new(),
            streams,
        }
    }

    /// With loads as the user knows them, in s after the first probe. In a direction of which they say something the
    /// file's own loads do not count; in the other one they do. A fault names times that the log does not have.
    pub fn with_loads(mut self, down_s: &[(f64, f64)], up_s: &[(f64, f64)]) -> Result<Self, Fault> {
        let start_ms = self.start_ms();
        let last = self.streams.iter().flatten().map(|probe| probe.sent_ms - start_ms);
        let end_s = last.fold(0.0, f64::max) / 1e3;
        for (way, (name, spans)) in
            self.ways.iter_mut().zip([("download", down_s), ("upload", up_s)])
        {
            for (from, to) in spans {
                if !(*from >= 0.0 && from < to && *from < end_s && *to <= end_s + BEYOND_S) {
                    let found = format!("{from} to {to} s");
                    let allowed =
                        format!("times within the log, 0 to {end_s:.1} s after its first probe");
                    return Err(unusable(&format!("times of the {name}"), &found, &allowed));
                }
            }
            if self.has_loads {
                let own = &way.loaded_ms;
                let own_s = own.iter().map(|(from, to)| (from - start_ms, to - start_ms));
                self.doubts.extend(overridden(name, !spans.is_empty(), &own_s.collect::<Vec<_>>()));
            }
            if !spans.is_empty() {
                let span = |(from, to): &(f64, f64)| (start_ms + from * 1e3, start_ms + to * 1e3);
                way.loaded_ms = joined(spans.iter().map(span).collect());
                (way.is_inferred, way.light_mbps) = (false, None);
            }
        }
        self.has_loads = true;
        Ok(self)
    }

    /// With another interval than the supposed one. It is a fault where probes have times.
    pub fn with_interval(mut self, ms: f64) -> Result<Self, Fault> {
        let Some(untimed) = self.untimed else {
            let found = "an interval for a log whose probes have times";
            return Err(unusable("interval", found, "none: the times count"));
        };
        if !INTERVALS_MS.contains(&ms) {
            return Err(unusable("interval", &format!("{} s", ms / 1e3), "0.0001 to 3600 s"));
        }
        for probe in self.streams.iter_mut().flatten() {
            probe.sent_ms *= ms / untimed.interval_ms;
        }
        self.untimed = Some(Untimed { interval_ms: ms, from: IntervalFrom::User });
        Ok(self)
    }

    /// Without loads whose rates are too small for such. What a tool or its user calls a load is one.
    pub(crate) fn without_light_loads(mut self) -> Self {
        for way in self.ways.iter_mut().filter(|way| way.is_inferred) {
            let mean = |span: &(f64, f64)| mean_mbps(&way.rates, *span);
            let is_light = |span: &(f64, f64)| mean(span).is_some_and(|mbps| mbps < LEAST_MBPS);
            let light = way.loaded_ms.iter().filter(|span| is_light(span)).filter_map(mean);
            way.light_mbps = light.reduce(f64::max);
            way.loaded_ms = way.loaded_ms.iter().filter(|span| !is_light(span)).copied().collect();
        }
        self
    }

    /// When the first probe was sent.
    pub fn start_ms(&self) -> f64 {
        let probes = self.streams.iter().flatten().map(|probe| probe.sent_ms);
        let first = probes.fold(f64::INFINITY, f64::min);
        if first.is_finite() { first } else { 0.0 }
    }

    /// What ran at this time; `None` where it is not known, or where a load begins or ends.
    pub fn load_at(&self, at_ms: f64) -> Option<Load> {
        if !self.has_loads {
            return None;
        }
        let is_in = |way: &Way, before: f64, after: f64| {
            let next = way.loaded_ms.partition_point(|(from, _)| from - before <= at_ms);
            next > 0 && at_ms < way.loaded_ms[next - 1].1 + after
        };
        let inside = self.ways.each_ref().map(|way| is_in(way, 0.0, 0.0));
        let near = self.ways.each_ref().map(|way| is_in(way, BEFORE_MS, AFTER_MS));
        (inside == near).then(|| Load::of(inside[0], inside[1]))
    }
}

/// So many times are said.
const MOST_SPANS: usize = 4;

/// Whose times of a load count where the file has its own, in ms after the first probe.
fn overridden(name: &str, is_given: bool, own_ms: &[(f64, f64)]) -> Option<String> {
    let span = |(from, to): &(f64, f64)| format!("{:.1} to {:.1} s", from / 1e3, to / 1e3);
    let mut spans: Vec<String> = own_ms.iter().take(MOST_SPANS).map(span).collect();
    spans.extend((own_ms.len() > MOST_SPANS).then(|| "others".to_owned()));
    match (is_given, spans.is_empty()) {
        (true, true) => Some(format!("Your times of the {name} count; the file has none.")),
        (true, false) => Some(format!(
            "Your times of the {name} count, and not those of the file, {}.",
            spans.join(", ")
        )),
        (false, true) => None,
        (false, false) => {
            Some(format!("The times of the {name} are those of the file, {}.", spans.join(", ")))
        }
    }
}

/// A shorter pause does not end a load.
const PAUSE_MS: f64 = 2_000.0;

/// The median of these, the upper one of two.
pub(crate) fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Spans that overlap or nearly follow each other, as one each.
pub(crate) fn joined(mut spans: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    spans.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut joined: Vec<(f64, f64)> = Vec::new();
    for (from, to) in spans {
        match joined.last_mut() {
            Some((_, end)) if from < *end + PAUSE_MS => *end = end.max(to),
            _ => joined.push((from, to)),
        }
    }
    joined
}

/// The mean of the rates of a span, if it has any.
pub(crate) fn mean_mbps(rates: &[Rate], (from, to): (f64, f64)) -> Option<f64> {
    let first = rates.partition_point(|rate| rate.at_ms <= from);
    let inside = rates[first..].iter().take_while(|rate| rate.at_ms <= to);
    let (count, sum) = inside.fold((0, 0.0), |(count, sum), rate| (count + 1, sum + rate.mbps));
    (count > 0).then(|| sum / f64::from(count))
}
