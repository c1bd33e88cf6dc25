//! Grades: the measured values of an application against its thresholds.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::facts::{Facts, Values};
use super::over_seeds::over_seeds;
use super::pages;
use super::thresholds::{
    ADDED_DELAY, APPLICATIONS, Application, LETTERS, PAGE, UNDER_LOAD, UPLOAD, WORST_LETTER,
};
use super::uploads;

/// A grade.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Grade {
    /// Every threshold of good is met.
    Good,
    /// Every threshold of fair is met.
    Fair,
    /// Neither.
    Poor,
}

impl Grade {
    /// It in a word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Fair => "fair",
            Self::Poor => "poor",
        }
    }

    /// A mark that tells it apart without colour.
    pub const fn mark(self) -> &'static str {
        match self {
            Self::Good => "✓",
            Self::Fair => "~",
            Self::Poor => "✗",
        }
    }
}

impl Serialize for Grade {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

/// An application with its values and its grade.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Assessment {
    /// The name of the application.
    pub application: &'static str,
    /// Its grade; `None` if a value is missing.
    pub grade: Option<Grade>,
    /// The mark of the grade; empty without one.
    pub mark: &'static str,
    /// The values that thresholds and summary need, means over seeds; `None` where nothing was measured.
    pub values: Values,
    /// The values in words.
    pub summary: String,
}

/// The grades of runs that differ in their seed, beside those of an idle line if there is one.
pub(super) fn assess(runs: &[&Facts], idle: Option<&[&Facts]>) -> Vec<Assessment> {
    APPLICATIONS.iter().filter_map(|application| of(application, runs, idle)).collect()
}

fn of(application: &Application, runs: &[&Facts], idle: Option<&[&Facts]>) -> Option<Assessment> {
    if application.name == UNDER_LOAD {
        let added_ms = added_delay_ms(runs, idle?)?;
        return Some(graded(application, Values::from([(ADDED_DELAY, Some(added_ms))]), ""));
    }
    let tests: Vec<_> = runs
        .iter()
        .flat_map(|facts| &facts.tests)
        .filter(|test| test.application == application.name)
        .collect();
    let note = tests.iter().map(|test| test.note).max_by_key(|note| note.len())?;
    let mean = |(metric, _)| {
        let values: Vec<_> =
            tests.iter().map(|test| test.values.get(metric).copied().flatten()).collect();
        (metric, over_seeds(&values).mean)
    };
    Some(graded(application, application.metrics().into_iter().map(mean).collect(), note))
}

fn graded(application: &Application, values: Values, note: &str) -> Assessment {
    let is_met = |thresholds: &[super::Threshold]| {
        thresholds.iter().all(|t| values[t.metric].is_some_and(|value| t.is_met(value)))
    };
    let grade = if values.values().any(Option::is_none) {
        None
    } else if is_met(application.good) {
        Some(Grade::Good)
    } else if is_met(application.fair) {
        Some(Grade::Fair)
    } else {
        Some(Grade::Poor)
    };
    let mut summary = match grade {
        None if note.is_empty() => without_grade(application).to_owned(),
        None => note.to_owned(),
        Some(_) => filled(application.summary, &values),
    };
    if let Some(added_ms) = values.get(ADDED_DELAY).copied().flatten() {
        summary = format!("{summary}: {} on DSLReports' scale from A+ to F", letter(added_ms));
    }
    if grade.is_some() && !note.is_empty() {
        summary = format!("{summary}, {note}");
    }
    let mark = grade.map_or("", Grade::mark);
    Assessment { application: application.name, grade, mark, values, summary }
}

/// Why something has no grade, if nothing else says so.
fn without_grade(application: &Application) -> &'static str {
    match application.name {
        UPLOAD => uploads::TOO_SHORT,
        PAGE => pages::TOO_FEW,
        _ => "no packet was delivered",
    }
}

/// The letter of a delay that load adds to a round trip.
fn letter(added_ms: f64) -> &'static str {
    let found = LETTERS.iter().find(|(below_ms, _)| added_ms < *below_ms);
    found.map_or(WORST_LETTER, |(_, letter)| letter)
}

/// A template with its values: `{metric.2}` is a value with two digits after the point.
fn filled(template: &str, values: &Values) -> String {
    let mut parts = template.split('{');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (field, rest) = part.split_once('}').unwrap_or((part, ""));
        let (metric, digits) = field.rsplit_once('.').unwrap_or((field, "0"));
        let value = values.get(metric).copied().flatten().unwrap_or_default();
        let digits: usize = digits.parse().unwrap_or_default();
        text.push_str(&format!("{value:.digits$}{rest}"));
    }
    text
}

/// What load adds to the mean round trip of a game or call, in ms: of several that of the worst, over
/// seeds the mean. The round trip is the sum over the directions in which the entry sends.
fn added_delay_ms(runs: &[&Facts], idle: &[&Facts]) -> Option<f64> {
    let (loaded, unloaded) = (mean_round_trips_ms(runs), mean_round_trips_ms(idle));
    let added = loaded.iter().filter_map(|(name, ms)| Some(ms - unloaded.get(name)?));
    added.reduce(f64::max).map(|ms| ms.max(0.0))
}

fn mean_round_trips_ms<'a>(runs: &[&'a Facts]) -> BTreeMap<&'a str, f64> {
    let mut all: BTreeMap<&str, Vec<Option<f64>>> = BTreeMap::new();
    for (name, ms) in runs.iter().flat_map(|facts| &facts.round_trips_ms) {
        all.entry(name).or_default().push(Some(*ms));
    }
    all.into_iter().filter_map(|(name, ms)| Some((name, over_seeds(&ms).mean?))).collect()
}
