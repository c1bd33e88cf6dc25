//! What is graded, with the thresholds of each grade and their sources: the data of `grades.json`.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use sojourn_engine::packet::Direction;
use sojourn_scenario::apps::{Bulk, Quality};

/// A grade.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// Every threshold of good is met.
    Good,
    /// Every threshold of fair is met.
    Fair,
    /// Every threshold of poor is met.
    Poor,
    /// None of these: it is of no use.
    Fails,
}

impl Grade {
    /// It in a word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Fair => "fair",
            Self::Poor => "poor",
            Self::Fails => "fails",
        }
    }

    /// What something becomes with it.
    pub(super) const fn state(self) -> &'static str {
        match self {
            Self::Fails => "failing",
            other => other.word(),
        }
    }

    /// A mark that distinguishes it without colour.
    pub const fn mark(self) -> &'static str {
        match self {
            Self::Good => "✓",
            Self::Fair => "~",
            Self::Poor => "✗",
            Self::Fails => "✗✗",
        }
    }
}

/// The bound of a metric that a grade requires.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Threshold {
    /// The metric: a column of `flows`, or one that [`super::Facts`] compute.
    pub metric: &'static str,
    /// Its greatest value, or its least if `at_least`.
    pub bound: f64,
    /// Is the bound the least value?
    pub at_least: bool,
    /// The requirement in words.
    pub text: &'static str,
    /// Who says so.
    pub source: &'static str,
}

impl Threshold {
    /// Does a value meet it?
    pub fn is_met(&self, value: f64) -> bool {
        if self.at_least { value >= self.bound } else { value <= self.bound }
    }
}

/// Steps inside grades: bounds of a metric, of which a setting may meet more than another with the same grade.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub(super) struct Steps {
    pub metric: &'static str,
    pub at_least: bool,
    /// They count from this grade on.
    pub from: Grade,
    pub bounds: Vec<f64>,
}

/// A value as sentences have it: its metric, what it is of, and what follows the number.
pub(super) type Shown = (&'static str, &'static str, &'static str);

/// Something of the household that is graded.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Application {
    /// Its name in tables and sentences.
    pub name: &'static str,
    /// The quality of the flows that it is graded by, if it is of flows of one quality.
    #[serde(skip)]
    pub quality: Option<Quality>,
    /// The bulk traffic that it is of, if it is of some.
    #[serde(skip)]
    pub bulk: Option<(Bulk, Direction)>,
    /// What its grades require.
    #[serde(flatten)]
    pub sheet: Sheet,
}

/// What the grades of applications require, and how they are worded.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Sheet {
    /// The applications.
    #[serde(skip_serializing)]
    names: Vec<&'static str>,
    #[serde(skip_serializing, default)]
    quality: &'static str,
    /// What good requires: all of them.
    pub good: Vec<Threshold>,
    /// What fair requires: all of them.
    pub fair: Vec<Threshold>,
    /// What poor requires: what does not meet one of them fails.
    pub poor: Vec<Threshold>,
    /// Steps inside grades.
    #[serde(skip_serializing)]
    pub(super) steps: Vec<Steps>,
    /// What sentences say of it, the first first.
    #[serde(skip_serializing)]
    pub(super) values: Vec<Shown>,
    /// Metrics that the summary shows and no threshold needs: the less, the better.
    #[serde(skip_serializing)]
    shown: Vec<&'static str>,
    /// The measured values in words; `{metric.2}` is a value with two digits.
    #[serde(skip_serializing)]
    pub(super) summary: &'static str,
}

/// What is graded, in the order of reports.
pub static APPLICATIONS: LazyLock<Vec<Application>> = LazyLock::new(|| {
    let sheets: Vec<Sheet> =
        serde_json::from_str(include_str!("grades.json")).expect("a test reads it");
    let of_sheet = |sheet: Sheet| {
        let of_name = |name: &&'static str| Application {
            name,
            quality: Quality::ALL.into_iter().find(|one| one.name() == sheet.quality),
            bulk: bulk_of(name),
            sheet: sheet.clone(),
        };
        sheet.names.iter().map(of_name).collect::<Vec<_>>()
    };
    sheets.into_iter().flat_map(of_sheet).collect()
});

fn bulk_of(application: &str) -> Option<(Bulk, Direction)> {
    Some(match application {
        "upload" => (Bulk::Transfer, Direction::Up),
        "download" => (Bulk::Transfer, Direction::Down),
        "torrent" => (Bulk::Torrent, Direction::Up),
        "torrent down" => (Bulk::Torrent, Direction::Down),
        "data up" => (Bulk::Data, Direction::Up),
        "data down" => (Bulk::Data, Direction::Down),
        _ => return None,
    })
}

impl Application {
    /// The metrics of thresholds, summary and steps, each once, with whether more is better.
    pub(super) fn metrics(&self) -> Vec<(&'static str, bool)> {
        let Sheet { good, fair, poor, steps, shown, .. } = &self.sheet;
        let thresholds = fair.iter().chain(good).chain(poor).map(|t| (t.metric, t.at_least));
        let steps = steps.iter().map(|steps| (steps.metric, steps.at_least));
        let mut metrics: Vec<(&'static str, bool)> = Vec::new();
        for (metric, at_least) in thresholds.chain(shown.iter().map(|m| (*m, false))).chain(steps) {
            if metrics.iter().all(|(known, _)| *known != metric) {
                metrics.push((metric, at_least));
            }
        }
        metrics
    }

    /// Is more of a metric better?
    pub(super) fn is_better_more(&self, metric: &str) -> bool {
        self.metrics().into_iter().any(|(name, at_least)| name == metric && at_least)
    }

    /// Is a value needed for a grade? Without others there is one.
    pub(super) fn needs(&self, metric: &str) -> bool {
        let all = self.sheet.good.iter().chain(&self.sheet.fair);
        all.map(|one| one.metric).chain(self.sheet.shown.iter().copied()).any(|m| m == metric)
    }

    /// The bounds of a metric in grades and steps, with whether it is to be at least so much.
    pub(super) fn bounds(&self, metric: &str) -> Vec<(f64, bool)> {
        let Sheet { good, fair, poor, steps, .. } = &self.sheet;
        let of_grades = good.iter().chain(fair).chain(poor).filter(|one| one.metric == metric);
        let of_steps = steps.iter().filter(|steps| steps.metric == metric);
        let of_steps = of_steps.flat_map(|s| s.bounds.iter().map(|bound| (*bound, s.at_least)));
        of_grades.map(|one| (one.bound, one.at_least)).chain(of_steps).collect()
    }
}

/// Names of applications that sentences speak of.
pub(super) const GAME: &str = "game";
pub(super) const CALL: &str = "call";
pub(super) const VIDEO_CALL: &str = "video call";
pub(super) const PAGE: &str = "page";
pub(super) const VIDEO: &str = "video";
pub(super) const VIDEO_RATE: &str = "video rate";
pub(super) const UNDER_LOAD: &str = "under load";
pub(super) const UPSTREAM_QUEUE: &str = "upstream queue";
pub(super) const DOWNSTREAM_QUEUE: &str = "downstream queue";

/// Metrics that are no columns of `flows`.
pub(super) const SHARE: &str = "share_percent";
pub(super) const KEPT_RATE: &str = "kept_video_rate_percent";
pub(super) const ADDED_DELAY: &str = "added_delay_ms";
pub(super) const QUEUE_MEAN: &str = "queue_mean_ms";
pub(super) const QUEUE_P99: &str = "queue_p99_ms";
pub(super) const QUEUE_LOST: &str = "queue_lost_percent";
pub(super) const PAGE_LOAD: &str = "page_load_median_s";
/// Metrics that are columns.
pub(super) const VIDEO_START: &str = "video_start_wait_s";
pub(super) const VIDEO_STALLED: &str = "video_stalled_percent";

/// Later than that a film has begun too late.
pub(super) const SLOW_START_S: f64 = 10.0;
/// A good queue adds no more to the mean round trip.
pub(super) const GOOD_QUEUE_MS: f64 = 30.0;
/// Longer than that a page is poor, so one that has taken longer and is not loaded counts.
pub(super) const POOR_PAGE_S: f64 = 6.9;

/// The queue of a direction as it is graded.
pub(super) const fn queue_of(direction: Direction) -> &'static str {
    match direction {
        Direction::Up => UPSTREAM_QUEUE,
        Direction::Down => DOWNSTREAM_QUEUE,
    }
}

/// Letters of DSLReports for the delay that load adds to a round trip: below so many ms.
pub(super) const LETTERS: [(f64, &str); 5] =
    [(5.0, "A+"), (30.0, "A"), (60.0, "B"), (200.0, "C"), (400.0, "D")];
/// The letter from the last bound on.
pub(super) const WORST_LETTER: &str = "F";
