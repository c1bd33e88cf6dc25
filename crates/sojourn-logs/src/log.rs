//! What a log says of a line: probes, rates, and when a load ran.

use serde::Serialize;

/// The tool that wrote a log.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// JSON of flent, with probes and rates.
    Flent,
    /// JSON of irtt, with delays of both directions.
    Irtt,
    /// Lines of ping.
    Ping,
    /// Lines of fping.
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
    /// From when to when a load ran, in ms.
    pub loaded_ms: Vec<(f64, f64)>,
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
    /// Are lost probes known?
    pub has_losses: bool,
    /// Does each probe have a time, or is a steady interval supposed?
    pub is_timed: bool,
    /// To what times are rounded as the format says, or 0.
    pub resolution_ms: f64,
    /// What it says without single probes.
    pub summary: Option<Summary>,
}

/// Before a load's first rate it may have begun already.
const BEFORE_MS: f64 = 500.0;
/// After a load its queue drains.
const AFTER_MS: f64 = 2_000.0;

impl Log {
    pub(crate) fn new(format: Format, streams: Vec<Vec<Probe>>) -> Self {
        Self {
            format,
            streams,
            ways: Default::default(),
            has_loads: false,
            has_losses: true,
            is_timed: true,
            resolution_ms: 0.0,
            summary: None,
        }
    }

    /// With loads as the user knows them, in s after the first probe.
    #[must_use]
    pub fn with_loads(mut self, down_s: &[(f64, f64)], up_s: &[(f64, f64)]) -> Self {
        let start_ms = self.start_ms();
        for (way, spans) in self.ways.iter_mut().zip([down_s, up_s]) {
            let span = |(from, to): &(f64, f64)| (start_ms + from * 1e3, start_ms + to * 1e3);
            way.loaded_ms = spans.iter().map(span).collect();
        }
        self.has_loads = true;
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
            way.loaded_ms.iter().any(|(from, to)| from - before <= at_ms && at_ms < to + after)
        };
        let inside = self.ways.each_ref().map(|way| is_in(way, 0.0, 0.0));
        let near = self.ways.each_ref().map(|way| is_in(way, BEFORE_MS, AFTER_MS));
        (inside == near).then(|| Load::of(inside[0], inside[1]))
    }
}
