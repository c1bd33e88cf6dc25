//! Grades: the measured values of an application against its thresholds.

use std::collections::BTreeMap;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::facts::{Facts, Values};
use super::missing::Missing;
use super::over_seeds::{Value, over_seeds};
use super::shares::Transfer;
use super::thresholds::{
    ADDED_DELAY, APPLICATIONS, Application, Grade, KEPT_RATE, LETTERS, SHARE, Sheet, Threshold,
    UNDER_LOAD, VIDEO_RATE, WORST_LETTER,
};
use super::words::digits;
use sojourn_engine::packet::Direction;
use sojourn_scenario::Load;

/// A grade, and how many steps inside it are missed: less is better.
pub(super) type Level = (Grade, usize);

/// The level of values; `None` if one that it needs is missing and nothing else fails.
fn level(application: &Application, value: impl Fn(&str) -> Option<f64>) -> Option<Level> {
    let Sheet { good, fair, poor, steps, .. } = &application.sheet;
    let is_met = |t: &Threshold| value(t.metric).is_none_or(|value| t.is_met(value));
    let meets = |thresholds: &[Threshold]| thresholds.iter().all(is_met);
    let grade = match [good, fair, poor].map(|one| meets(one)) {
        [.., false] => Grade::Fails,
        [_, false, _] => Grade::Poor,
        [false, ..] => Grade::Fair,
        _ => Grade::Good,
    };
    let needed = application.metrics().into_iter().filter(|(metric, _)| application.needs(metric));
    let is_known = needed.clone().all(|(metric, _)| value(metric).is_some());
    let missed = steps.iter().filter(|steps| grade >= steps.from).map(|steps| {
        let Some(value) = value(steps.metric) else { return 0 };
        let is_missed =
            |bound: &&f64| if steps.at_least { value < **bound } else { value > **bound };
        steps.bounds.iter().filter(is_missed).count()
    });
    (is_known || grade == Grade::Fails).then(|| (grade, missed.sum()))
}

/// An application with its values, and with its grade or why it has none.
#[derive(Clone, PartialEq, Debug)]
pub struct Assessment {
    /// What is graded.
    pub(super) graded: &'static Application,
    /// The name of the application.
    pub application: &'static str,
    /// Its level, or what is missing.
    level: Result<Level, Missing>,
    /// The values that thresholds and summary need, means over seeds; `None` where nothing was measured.
    pub values: Values,
    /// Half of the 95 % intervals of these, with several seeds.
    pub(super) half_widths: BTreeMap<&'static str, f64>,
    /// The traffic entry that the values are of, where only the worst of several counts.
    pub traffic: String,
    /// The values in words.
    pub summary: String,
}

impl Assessment {
    fn new(
        graded: &'static Application,
        over: BTreeMap<&'static str, Value>,
        missing: Option<Missing>,
        note: &str,
    ) -> Self {
        let values: Values = over.iter().map(|(metric, value)| (*metric, value.mean)).collect();
        let half_widths = over.iter().filter_map(|(m, value)| Some((*m, value.half_width?)));
        let level = match (missing, level(graded, |metric| values.get(metric).copied()?)) {
            (None, Some(level)) => Ok(level),
            (missing, _) => Err(missing.unwrap_or(Missing::Delivery)),
        };
        let mut summary = match &level {
            Ok(_) => filled(graded.sheet.summary, &values).unwrap_or_else(|| NOTHING.to_owned()),
            Err(missing) => missing.words(),
        };
        if let (Ok(_), Some(Some(added_ms))) = (&level, values.get(ADDED_DELAY)) {
            summary = format!("{summary}: {} on DSLReports' scale from A+ to F", letter(*added_ms));
        }
        if level.is_ok() && !note.is_empty() {
            summary = format!("{summary}, {note}");
        }
        let half_widths = half_widths.collect();
        let (application, traffic) = (graded.name, String::new());
        Self { graded, application, level, values, half_widths, traffic, summary }
    }

    /// Its grade; `None` if a value is missing.
    pub fn grade(&self) -> Option<Grade> {
        self.level().map(|(grade, _)| grade)
    }

    /// Its grade with the steps that it misses.
    pub(super) fn level(&self) -> Option<Level> {
        self.level.as_ref().ok().copied()
    }

    /// Its level with other values.
    pub(super) fn level_with(&self, of: impl Fn(&str, f64) -> f64) -> Option<Level> {
        self.level()?;
        level(self.graded, |metric| Some(of(metric, self.values.get(metric).copied()??)))
    }

    /// Why it has no grade.
    pub fn missing(&self) -> Option<&Missing> {
        self.level.as_ref().err()
    }
}

/// What is said of what fails without a value.
const NOTHING: &str = "next to nothing of it arrives";

impl Serialize for Assessment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_struct("Assessment", 6)?;
        map.serialize_field("application", self.application)?;
        map.serialize_field("grade", &self.grade())?;
        map.serialize_field("mark", self.grade().map_or("", Grade::mark))?;
        map.serialize_field("values", &self.values)?;
        map.serialize_field("traffic", &self.traffic)?;
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
    let single = |metric, mean| BTreeMap::from([(metric, Value { mean, half_width: None })]);
    if application.bulk.is_some() {
        return of_transfers(application, &shares_of(application, runs));
    }
    if application.name == UNDER_LOAD {
        let (added_ms, missing) = added_delay_ms(runs, idle?)?;
        return Some(Assessment::new(application, single(ADDED_DELAY, added_ms), missing, ""));
    }
    if application.name == VIDEO_RATE {
        let kept = kept_rate_percent(runs, idle?)?;
        return Some(Assessment::new(application, single(KEPT_RATE, Some(kept)), None, ""));
    }
    let tests: Vec<_> = runs
        .iter()
        .flat_map(|facts| &facts.tests)
        .filter(|test| test.application == application.name)
        .collect();
    let note = tests.iter().map(|test| test.note).max_by_key(|note| note.len())?;
    let over = |(metric, _)| {
        let values: Vec<_> =
            tests.iter().map(|test| test.values.get(metric).copied().flatten()).collect();
        (metric, over_seeds(&values))
    };
    let over: BTreeMap<&str, Value> = application.metrics().into_iter().map(over).collect();
    let missing = tests.iter().find_map(|test| test.missing.clone());
    let known = level(application, |metric| over.get(metric)?.mean);
    let is_certain = |why: &Missing| {
        matches!(
            why,
            Missing::OneWay { .. } | Missing::TooFewPackets { .. } | Missing::ShortVideo { .. }
        )
    };
    // One that is poor as far as it is measured is no better beyond.
    let is_poor = tests.iter().any(|test| test.has_both_ends)
        && known.is_some_and(|(grade, _)| grade >= Grade::Poor);
    let missing = missing.filter(|why| known.is_none() || (is_certain(why) && !is_poor));
    Some(Assessment::new(application, over, missing, note))
}

/// What a transfer, a torrent or a stream of data gets, over seeds.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Share {
    /// The traffic entry.
    pub traffic: String,
    /// What it is: the name of an application.
    pub application: &'static str,
    /// Its rate while it ran, in Mbps.
    pub mbps: f64,
    /// Its max-min fair part of the line or, if that is less, what it had to send, in Mbps.
    pub part_mbps: f64,
    /// What it gets of that, in percent.
    pub share_percent: Option<f64>,
    /// Its grade; `None` if its share is not known.
    pub grade: Option<Grade>,
    #[serde(skip)]
    pub(super) way: Direction,
    #[serde(skip)]
    half_width: Option<f64>,
    #[serde(skip)]
    unfinished_mb: Option<(f64, f64)>,
    #[serde(skip)]
    missing: Option<Missing>,
}

impl Share {
    /// Its rate as a multiple of its part.
    pub(super) fn of_part(&self) -> f64 {
        self.mbps / self.part_mbps
    }
}

/// The shares of all bulk entries.
pub(super) fn shares(runs: &[&Facts]) -> Vec<Share> {
    APPLICATIONS.iter().flat_map(|application| shares_of(application, runs)).collect()
}

fn shares_of(application: &'static Application, runs: &[&Facts]) -> Vec<Share> {
    let Some((sort, way)) = application.bulk else { return Vec::new() };
    let share = |one: &Transfer| {
        let is_it = |other: &&Transfer| (&other.name, other.way) == (&one.name, way);
        let all: Vec<&Transfer> =
            runs.iter().filter_map(|facts| facts.transfers.iter().find(is_it)).collect();
        let over = |of: &dyn Fn(&Transfer) -> f64| {
            over_seeds(&all.iter().map(|one| Some(of(one))).collect::<Vec<_>>())
        };
        let missing = all.iter().find_map(|one| one.missing.clone());
        let Value { mean, half_width } = over(&Transfer::share_percent);
        let share_percent = mean.filter(|_| missing.is_none());
        Share {
            traffic: one.name.clone(),
            application: application.name,
            mbps: over(&|one| one.mbps).mean.unwrap_or_default(),
            part_mbps: over(&|one| one.part_mbps).mean.unwrap_or_default(),
            share_percent,
            grade: level(application, |_| share_percent).map(|(grade, _)| grade),
            way,
            half_width,
            unfinished_mb: all.iter().find_map(|one| one.unfinished_mb),
            missing,
        }
    };
    let is_of_it = |one: &&Transfer| (one.sort, one.way) == (sort, way);
    runs[0].transfers.iter().filter(is_of_it).map(share).collect()
}

/// The grade of the worst of some shares, with the others in the summary.
fn of_transfers(application: &'static Application, shares: &[Share]) -> Option<Assessment> {
    let percent = |share: &Share| share.share_percent.unwrap_or_default();
    let known: Vec<&Share> = shares.iter().filter(|share| share.missing.is_none()).collect();
    let worst = known.iter().min_by(|one, other| percent(one).total_cmp(&percent(other)));
    let over = |mean, half_width| BTreeMap::from([(SHARE, Value { mean, half_width })]);
    let Some(worst) = worst else {
        let missing = shares.first()?.missing.clone();
        return Some(Assessment::new(application, over(None, None), missing, ""));
    };
    let mut notes = vec![format!("{} of {} Mbps", digits(worst.mbps), digits(worst.part_mbps))];
    if shares.len() > 1 {
        notes[0] = format!("{} for '{}'", notes[0], worst.traffic);
        let others = known.iter().filter(|share| share.traffic != worst.traffic);
        notes.extend(others.take(OTHERS_AT_MOST).map(|share| {
            let (percent, mbps) = (percent(share), digits(share.mbps));
            format!("'{}' has {percent:.1} % of its part ({mbps} Mbps)", share.traffic)
        }));
    }
    notes.extend(shares.iter().filter_map(|share| {
        let (done, all) = share.unfinished_mb?;
        Some(format!("'{}' is unfinished ({} of {} MB)", share.traffic, digits(done), digits(all)))
    }));
    let values = over(worst.share_percent, worst.half_width);
    let mut found = Assessment::new(application, values, None, &notes.join(", "));
    found.traffic.clone_from(&worst.traffic);
    Some(found)
}

/// So many transfers beside the worst are named.
const OTHERS_AT_MOST: usize = 3;

/// The letter of a delay that load adds to a round trip.
pub(super) fn letter(added_ms: f64) -> &'static str {
    let found = LETTERS.iter().find(|(below_ms, _)| added_ms < *below_ms);
    found.map_or(WORST_LETTER, |(_, letter)| letter)
}

/// A template with its values, if all are there: `{metric.2}` is a value with two digits after the point.
fn filled(template: &str, values: &Values) -> Option<String> {
    let mut parts = template.split('{');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (field, rest) = part.split_once('}').unwrap_or((part, ""));
        let (metric, digits) = field.rsplit_once('.').unwrap_or((field, "0"));
        let digits: usize = digits.parse().unwrap_or_default();
        text.push_str(&format!("{:.digits$}{rest}", values.get(metric).copied()??));
    }
    Some(text)
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
