//! The numbers of a run that tables show side by side, each computed from rows of its tables.

use serde::Serialize;

use super::pages::page_load;
use super::rows::{Row, Rows};
use super::thresholds::PAGE_LOAD;
use crate::packet::Direction;
use crate::scenario::Scenario;

/// Which way a number is better.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// The less.
    Lower,
    /// The more.
    Higher,
}

/// The rows that a measure is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Of {
    /// Flows of a quality.
    Quality(&'static str),
    /// The same, in a scenario with a low-latency queue: there the far tail is what it is about.
    NearLowLatency(&'static str),
    /// Bulk transfers in a direction, without their acknowledgements.
    Transfers(Direction),
    /// A queue, by its name.
    Queue(&'static str),
}

/// The members of an upstream queue with a low-latency and a classic one.
const LOW_LATENCY: &str = "upstream low_latency";
const CLASSIC: &str = "upstream classic";

/// How several rows become one number: the worst counts, and rates are summed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Merge {
    Max,
    Min,
    Sum,
}

/// A number of a run.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Measure {
    /// Its name, with its unit at the end.
    pub key: &'static str,
    /// Its name in words, without its unit.
    pub label: &'static str,
    /// Its unit; empty where there is none.
    pub unit: &'static str,
    /// Digits after the point that tables show.
    pub digits: u8,
    /// Which way it is better.
    pub better: Better,
    #[serde(skip)]
    of: Of,
    #[serde(skip)]
    column: &'static str,
    #[serde(skip)]
    merge: Merge,
}

const fn measure(
    (key, label, unit, digits): (&'static str, &'static str, &'static str, u8),
    of: Of,
    column: &'static str,
    merge: Merge,
) -> Measure {
    let better = if matches!(merge, Merge::Max) { Better::Lower } else { Better::Higher };
    Measure { key, label, unit, digits, better, of, column, merge }
}

use Merge::{Max, Min, Sum};
use Of::{NearLowLatency, Quality, Queue, Transfers};

/// All measures, in the order of tables.
pub const MEASURES: [Measure; 19] = [
    measure(("game_latency_p50_ms", "game p50", "ms", 1), Quality("game"), "latency_p50_ms", Max),
    measure(("game_latency_p90_ms", "game p90", "ms", 1), Quality("game"), "latency_p90_ms", Max),
    measure(("game_latency_p99_ms", "game p99", "ms", 1), Quality("game"), "latency_p99_ms", Max),
    measure(
        ("game_latency_p999_ms", "game p99.9", "ms", 1),
        NearLowLatency("game"),
        "latency_p999_ms",
        Max,
    ),
    measure(
        ("game_latency_p9999_ms", "game p99.99", "ms", 1),
        NearLowLatency("game"),
        "latency_p9999_ms",
        Max,
    ),
    measure(("game_loss_percent", "game loss", "%", 2), Quality("game"), "loss_percent", Max),
    measure(("voice_mos", "voice MOS", "", 2), Quality("voice"), "mos", Min),
    measure(("page_load_median_s", "page load", "s", 2), Quality("pages"), PAGE_LOAD, Max),
    measure(
        ("response_median_s", "web response", "s", 3),
        Quality("responses"),
        "response_median_s",
        Max,
    ),
    measure(("video_rate_mbps", "video", "Mbps", 2), Quality("video"), "video_rate_mbps", Min),
    measure(
        ("video_stalled_percent", "video stalled", "%", 1),
        Quality("video"),
        "video_stalled_percent",
        Max,
    ),
    measure(
        ("video_call_latency_p90_ms", "video call p90", "ms", 1),
        Quality("video_call"),
        "frame_latency_p90_ms",
        Max,
    ),
    measure(("upload_mbps", "upload", "Mbps", 2), Transfers(Direction::Up), "throughput_mbps", Sum),
    measure(
        ("download_mbps", "download", "Mbps", 2),
        Transfers(Direction::Down),
        "throughput_mbps",
        Sum,
    ),
    measure(
        ("upstream_queue_p50_ms", "queue p50", "ms", 1),
        Queue("upstream"),
        "sojourn_p50_ms",
        Max,
    ),
    measure(
        ("upstream_queue_p99_ms", "queue p99", "ms", 1),
        Queue("upstream"),
        "sojourn_p99_ms",
        Max,
    ),
    measure(
        ("low_latency_queue_p99_ms", "low-latency p99", "ms", 2),
        Queue(LOW_LATENCY),
        "sojourn_p99_ms",
        Max,
    ),
    measure(
        ("low_latency_queue_p999_ms", "low-latency p99.9", "ms", 2),
        Queue(LOW_LATENCY),
        "sojourn_p999_ms",
        Max,
    ),
    measure(
        ("classic_queue_p99_ms", "classic p99", "ms", 1),
        Queue(CLASSIC),
        "sojourn_p99_ms",
        Max,
    ),
];

impl Measure {
    /// The measure of this name.
    ///
    /// # Panics If there is none.
    pub fn named(key: &str) -> &'static Self {
        MEASURES.iter().find(|measure| measure.key == key).expect("a measure that there is")
    }

    /// The direction of the transfers that it sums up; `None` if it does not.
    pub(super) fn of_transfers(&self) -> Option<Direction> {
        if let Transfers(direction) = self.of { Some(direction) } else { None }
    }

    /// Its unit as it follows a number.
    pub(super) fn unit_after(&self) -> String {
        if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) }
    }

    /// Its value in a run, and `None` in it if nothing was measured; `None` if the run has no such rows.
    pub(super) fn value(&self, scenario: &Scenario, rows: &Rows) -> Option<Option<f64>> {
        let mut found = self.rows(scenario, rows).peekable();
        found.peek()?;
        let values = found.filter_map(|row| match self.column {
            // As grades have it: pages that did not load before the end count.
            PAGE_LOAD => page_load(scenario, rows, row.text("traffic")).median_s,
            column => row.number(column),
        });
        Some(match self.merge {
            Merge::Max => values.reduce(f64::max),
            Merge::Min => values.reduce(f64::min),
            Merge::Sum => values.reduce(|sum, value| sum + value),
        })
    }

    fn rows<'a>(
        &self,
        scenario: &'a Scenario,
        rows: &'a Rows,
    ) -> Box<dyn Iterator<Item = &'a Row> + 'a> {
        match self.of {
            Of::Quality(quality) => {
                Box::new(rows.flows.iter().filter(move |row| row.text("quality") == quality))
            }
            Of::NearLowLatency(_)
                if !rows.queues.iter().any(|row| row.text("queue") == LOW_LATENCY) =>
            {
                Box::new(std::iter::empty())
            }
            Of::NearLowLatency(quality) => {
                Box::new(rows.flows.iter().filter(move |row| row.text("quality") == quality))
            }
            Of::Transfers(direction) => Box::new(rows.flows.iter().filter(move |row| {
                let entry = scenario.traffic.get(row.text("traffic"));
                row.text("quality") == "throughput"
                    && row.text("direction") == direction.name()
                    && entry.is_some_and(|entry| entry.app.bulk_direction() == Some(direction))
            })),
            Of::Queue(name) => {
                Box::new(rows.queues.iter().filter(move |row| row.text("queue") == name))
            }
        }
    }
}
