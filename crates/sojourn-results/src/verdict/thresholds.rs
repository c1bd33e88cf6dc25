//! What is graded, with the thresholds of each grade and their sources: the data of `grades.json`.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::metrics::Row;
use sojourn_engine::packet::Direction;

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
        ["good", "fair", "poor", "fails"][self as usize]
    }

    /// What something becomes with it.
    pub(super) const fn state(self) -> &'static str {
        ["good", "fair", "poor", "failing"][self as usize]
    }

    /// A mark that distinguishes it without colour.
    pub const fn mark(self) -> &'static str {
        ["✓", "~", "✗", "✗✗"][self as usize]
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

/// Steps inside grades: bounds of a metric of thresholds, of which a setting may meet more than another with the same
/// grade.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Steps {
    /// The metric.
    pub metric: &'static str,
    /// They count from this grade on.
    pub from: Grade,
    /// The bounds, the best first.
    pub bounds: Vec<f64>,
}

/// A value as sentences have it.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub(super) struct Shown {
    pub metric: &'static str,
    /// Its name, in which `{}` is the application.
    pub label: &'static str,
    /// What precedes the number, behind the name of the application.
    pub short: &'static str,
    /// What follows the number.
    pub unit: &'static str,
}

/// Something of the household that is graded, what its grades require, and how they are worded.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Application {
    /// Its name in tables and sentences.
    #[serde(default)]
    pub name: &'static str,
    /// It as the subject of a clause.
    #[serde(skip_serializing, default)]
    pub(super) noun: &'static str,
    #[serde(skip_serializing)]
    names: Vec<(&'static str, &'static str)>,
    /// The quality of the flows that it is graded by, if it is of flows of one quality.
    #[serde(skip_serializing, default)]
    pub(super) quality: &'static str,
    /// What good requires: all of them.
    pub good: Vec<Threshold>,
    /// What fair requires: all of them.
    pub fair: Vec<Threshold>,
    /// What poor requires: what does not meet one of them fails.
    pub poor: Vec<Threshold>,
    /// Steps inside grades, of which a setting may meet more than another with the same grade.
    pub steps: Vec<Steps>,
    /// What sentences say of it, the first first.
    #[serde(skip_serializing)]
    pub(super) values: Vec<Shown>,
    /// Metrics of thresholds that only some of its traffic has: others are graded without them.
    #[serde(skip_serializing, default)]
    optional: Vec<&'static str>,
    /// Metrics that the summary shows and no threshold needs: the less, the better.
    #[serde(skip_serializing)]
    shown: Vec<&'static str>,
    /// The measured values in words; `{metric.2}` is a value with two digits.
    #[serde(skip_serializing)]
    pub(super) summary: &'static str,
    /// The words where a time is that of what had not come when the run ended.
    #[serde(skip_serializing, default)]
    pub(super) unfinished: &'static str,
}

/// What is graded, in the order of reports.
pub static APPLICATIONS: LazyLock<Vec<Application>> = LazyLock::new(|| {
    let sheets: Vec<Application> =
        serde_json::from_str(include_str!("grades.json")).expect("a test reads it");
    let named = |sheet: &Application| {
        let names = sheet.names.iter();
        let of_name = names.map(|(name, noun)| Application { name, noun, ..sheet.clone() });
        of_name.collect::<Vec<_>>()
    };
    sheets.iter().flat_map(named).collect()
});

impl Application {
    /// The application of this name.
    pub(super) fn named(name: &str) -> &'static Self {
        APPLICATIONS.iter().find(|one| one.name == name).expect("an application that there is")
    }

    /// Is it what the flow of a row is graded as?
    pub(super) fn is_of(&self, row: &Row) -> bool {
        !self.quality.is_empty() && row.text("quality") == self.quality
    }

    pub(super) fn thresholds(&self) -> impl Iterator<Item = &Threshold> {
        self.good.iter().chain(&self.fair).chain(&self.poor)
    }

    /// The metrics of thresholds and summary.
    pub(crate) fn metrics(&self) -> BTreeSet<&'static str> {
        self.thresholds().map(|one| one.metric).chain(self.shown.iter().copied()).collect()
    }

    /// Is more of a metric better?
    pub(super) fn is_better_more(&self, metric: &str) -> bool {
        self.thresholds().any(|one| one.metric == metric && one.at_least)
    }

    /// Is a value needed for a grade? Without others there is one.
    pub(super) fn needs(&self, metric: &str) -> bool {
        let all = self.good.iter().chain(&self.fair).map(|one| one.metric);
        let mut all = all.chain(self.shown.iter().copied());
        all.any(|needed| needed == metric) && !self.optional.contains(&metric)
    }

    /// The bounds of a metric in grades.
    pub(super) fn bounds_of_grades(&self, metric: &str) -> impl Iterator<Item = f64> {
        self.thresholds().filter(move |one| one.metric == metric).map(|one| one.bound)
    }

    /// The bounds of a metric in grades and steps.
    pub(super) fn bounds(&self, metric: &str) -> impl Iterator<Item = f64> {
        let of_steps = self.steps.iter().filter(move |steps| steps.metric == metric);
        self.bounds_of_grades(metric).chain(of_steps.flat_map(|steps| steps.bounds.clone()))
    }

    /// Is it a part of the line that a transfer gets?
    pub(super) fn is_share(&self) -> bool {
        self.good[0].metric == SHARE
    }
}

/// Names of applications that sentences speak of.
pub(super) const GAME: &str = "game";
pub(super) const CALL: &str = "call";
pub(super) const VIDEO_CALL: &str = "video call";
pub(super) const CALL_RATE: &str = "video call rate";
pub(super) const CLOUD_GAME: &str = "cloud game";
pub(super) const PAGE: &str = "page";
pub(super) const VIDEO_RATE: &str = "video rate";
pub(super) const UNDER_LOAD: &str = "under load";

/// Metrics that are no columns of `flows`.
pub(super) const SHARE: &str = "share_percent";
pub(super) const KEPT_RATE: &str = "kept_video_rate_percent";
pub(super) const KEPT_CALL_RATE: &str = "kept_call_rate_percent";
pub(super) const ADDED_DELAY: &str = "added_delay_ms";
pub(super) const WAIT_MEAN: &str = "wait_mean_ms";
pub(super) const PAGE_LOAD: &str = "page_load_median_s";
/// Metrics that are columns.
pub(super) const VIDEO_START: &str = "video_start_wait_s";
pub(super) const VIDEO_STALLED: &str = "video_stalled_percent";
pub(super) const LOSSES: [&str; 2] = ["loss_percent", "frames_incomplete_percent"];

/// A smaller change than this share of a value is none to speak of.
pub(super) const SAME: f64 = 0.02;
/// A smaller one is not named between settings.
pub(super) const NAMED: f64 = 0.10;

/// What is waited in a direction as it is graded: by those who wait there, and by its queues.
const WAITS: [[&str; 2]; 2] =
    [["upstream wait", "upstream queue"], ["downstream wait", "downstream queue"]];

/// The direction of which an application is what is waited, if it is, and whether it goes by the queues there.
pub(super) fn waits_of(application: &str) -> Option<(Direction, bool)> {
    let of = |way: &Direction| WAITS[*way as usize].iter().position(|one| *one == application);
    Direction::BOTH.into_iter().find_map(|way| Some((way, of(&way)? == 1)))
}
