//! Grades: the measured values of an application against its thresholds.

use std::collections::BTreeMap;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::facts::{Facts, Values};
use super::missing::Missing;
use super::over_seeds::over_seeds;
use super::thresholds::{
    ADDED_DELAY, APPLICATIONS, Application, KEPT_RATE, LETTERS, Threshold, UNDER_LOAD, VIDEO_RATE,
    WORST_LETTER,
};
use sojourn_engine::packet::Direction;
use sojourn_scenario::Load;

/// A grade.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
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

/// All values that an application is graded by.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Measured(BTreeMap<&'static str, f64>);

impl Measured {
    /// The values, if none of them is missing.
    fn of(values: &Values) -> Option<Self> {
        values
            .iter()
            .map(|(metric, value)| Some((*metric, (*value)?)))
            .collect::<Option<_>>()
            .map(Self)
    }

    fn meet(&self, thresholds: &[Threshold]) -> bool {
        thresholds.iter().all(|threshold| threshold.is_met(self.0[threshold.metric]))
    }
}

/// A grade with the values that it rests on: there is no other way to make one.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Graded {
    grade: Grade,
    measured: Measured,
}

impl Graded {
    fn new(application: &Application, measured: Measured) -> Self {
        let grade = if !measured.meet(application.fair) {
            Grade::Poor
        } else if measured.meet(application.good) {
            Grade::Good
        } else {
            Grade::Fair
        };
        Self { grade, measured }
    }
}

/// An application with its values, and with its grade or why it has none.
#[derive(Clone, PartialEq, Debug)]
pub struct Assessment {
    /// The name of the application.
    pub application: &'static str,
    /// The grade, or what is missing.
    graded: Result<Graded, Missing>,
    /// The values that thresholds and summary need, means over seeds; `None` where nothing was measured.
    pub values: Values,
    /// The values in words.
    pub summary: String,
}

impl Assessment {
    fn new(
        application: &'static Application,
        values: Values,
        missing: Option<Missing>,
        note: &str,
    ) -> Self {
        let graded = match (missing, Measured::of(&values)) {
            (None, Some(measured)) => Ok(Graded::new(application, measured)),
            (missing, _) => Err(missing.unwrap_or(Missing::Delivery)),
        };
        let mut summary = match &graded {
            Ok(graded) => filled(application.summary, &graded.measured.0),
            Err(missing) => missing.words(),
        };
        if let (Ok(graded), ADDED_DELAY) = (&graded, application.metrics()[0].0) {
            let letter = letter(graded.measured.0[ADDED_DELAY]);
            summary = format!("{summary}: {letter} on DSLReports' scale from A+ to F");
        }
        if graded.is_ok() && !note.is_empty() {
            summary = format!("{summary}, {note}");
        }
        Self { application: application.name, graded, values, summary }
    }

    /// Its grade; `None` if a value is missing.
    pub fn grade(&self) -> Option<Grade> {
        self.graded.as_ref().ok().map(|graded| graded.grade)
    }

    /// Why it has no grade.
    pub fn missing(&self) -> Option<&Missing> {
        self.graded.as_ref().err()
    }
}

impl Serialize for Assessment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_struct("Assessment", 5)?;
        map.serialize_field("application", self.application)?;
        map.serialize_field("grade", &self.grade())?;
        map.serialize_field("mark", self.grade().map_or("", Grade::mark))?;
        map.serialize_field("values", &self.values)?;
        map.serialize_field("summary", &self.summary)?;
        map.end()
    }
}

/// The grades of runs that differ in their seed, beside those of an idle line if there is one.
pub(super) fn assess(runs: &[&Facts], idle: Option<&[&Facts]>) -> Vec<Assessment> {
    APPLICATIONS.iter().filter_map(|application| of(application, runs, idle)).collect()
}

fn of(
    application: &'static Application,
    runs: &[&Facts],
    idle: Option<&[&Facts]>,
) -> Option<Assessment> {
    if application.name == UNDER_LOAD {
        let (added_ms, missing) = added_delay_ms(runs, idle?)?;
        let values = Values::from([(ADDED_DELAY, added_ms)]);
        return Some(Assessment::new(application, values, missing, ""));
    }
    if application.name == VIDEO_RATE {
        let values = Values::from([(KEPT_RATE, Some(kept_rate_percent(runs, idle?)?))]);
        return Some(Assessment::new(application, values, None, ""));
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
    let values: Values = application.metrics().into_iter().map(mean).collect();
    let missing = tests.iter().find_map(|test| test.missing.clone());
    let is_measured = values.values().all(Option::is_some);
    let is_certain = |why: &Missing| {
        matches!(
            why,
            Missing::OneWay { .. } | Missing::TooFewPackets { .. } | Missing::ShortVideo { .. }
        )
    };
    // One that is poor as far as it is measured is no better beyond.
    let is_poor = tests.iter().any(|test| test.has_both_ends)
        && Measured::of(&values).is_some_and(|all| !all.meet(application.fair));
    let missing = missing.filter(|why| !is_measured || (is_certain(why) && !is_poor));
    Some(Assessment::new(application, values, missing, note))
}

/// The letter of a delay that load adds to a round trip.
fn letter(added_ms: f64) -> &'static str {
    let found = LETTERS.iter().find(|(below_ms, _)| added_ms < *below_ms);
    found.map_or(WORST_LETTER, |(_, letter)| letter)
}

/// A template with its values: `{metric.2}` is a value with two digits after the point.
fn filled(template: &str, values: &BTreeMap<&'static str, f64>) -> String {
    let mut parts = template.split('{');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (field, rest) = part.split_once('}').unwrap_or((part, ""));
        let (metric, digits) = field.rsplit_once('.').unwrap_or((field, "0"));
        let digits: usize = digits.parse().unwrap_or_default();
        text.push_str(&format!("{:.digits$}{rest}", values[metric]));
    }
    text
}

/// What load adds to the mean round trip that games and calls measure, in ms: of several that of the worst,
/// over seeds the mean. Those count that are under load all the time, and if there are none, why there is no
/// value. `None` where nothing measures round trips in homes with bulk traffic. A line on which queues stand
/// without load is not idle.
fn added_delay_ms(runs: &[&Facts], idle: &[&Facts]) -> Option<(Option<f64>, Option<Missing>)> {
    let [loaded, unloaded] = [runs, idle].map(|all| means(all, |facts| &facts.round_trips_ms));
    let load = |name: &&str| runs.iter().find_map(|facts| facts.loads.get(*name));
    let added = loaded.iter().filter(|(name, _)| load(name) == Some(&Load::Whole));
    let added = added.filter_map(|(name, ms)| Some(ms - unloaded.get(name)?));
    if let Some(worst_ms) = added.reduce(f64::max) {
        let stands = |way: &Direction| idle.iter().any(|facts| facts.stands(*way));
        if let Some(way) = Direction::BOTH.into_iter().find(stands) {
            return Some((None, Some(Missing::NotIdle(way))));
        }
        return Some((Some(worst_ms.max(0.0)), None));
    }
    loaded.keys().find_map(|name| match load(name)? {
        Load::Part { traffic, from_s } => {
            let (traffic, from_s) = (traffic.clone(), *from_s);
            Some((None, Some(Missing::PartlyLoaded { traffic, from_s })))
        }
        Load::None | Load::Whole => None,
    })
}

/// What videos keep of their mean rate, in percent: of several the least. One that shows nothing keeps nothing.
/// `None` without videos.
fn kept_rate_percent(runs: &[&Facts], idle: &[&Facts]) -> Option<f64> {
    let loaded = means(runs, |facts| &facts.video_mbps);
    let unloaded = means(idle, |facts| &facts.video_mbps).into_iter();
    let kept = unloaded
        .filter(|(_, mbps)| *mbps > 0.0)
        .map(|(name, mbps)| 100.0 * loaded.get(name).copied().unwrap_or_default() / mbps);
    kept.reduce(f64::min)
}

/// The mean over runs of what each has by name.
fn means<'a>(
    runs: &[&'a Facts],
    of: impl Fn(&'a Facts) -> &'a BTreeMap<String, f64>,
) -> BTreeMap<&'a str, f64> {
    let mut all: BTreeMap<&str, Vec<Option<f64>>> = BTreeMap::new();
    for (name, value) in runs.iter().flat_map(|facts| of(facts)) {
        all.entry(name).or_default().push(Some(*value));
    }
    all.into_iter().filter_map(|(name, values)| Some((name, over_seeds(&values).mean?))).collect()
}
