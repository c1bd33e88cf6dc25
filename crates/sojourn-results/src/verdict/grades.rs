//! Grades: the measured values of an application against its thresholds.

use std::collections::BTreeMap;

use serde::Serialize;

use super::facts::{Facts, Tested, Values};
use super::thresholds::{
    ADDED_DELAY, APPLICATIONS, Application, Grade, LOSSES, NAMED, PAGE, SAME, SHARE, Shown,
    Threshold, UNDER_LOAD,
};
use crate::letters::letter;
use crate::over_seeds::{Value, over_seeds};
use crate::shares::Share;
use crate::words::{apart, digits, distinct};
use sojourn_logs::Load;

/// A grade, and how many steps inside it are missed: less is better.
pub(super) type Level = (Grade, usize);

/// What is compared: a use or queue and its entry. Entries of one use stand together.
pub(super) type Component<'a> = (&'static str, &'a str);

/// The level of values; `None` if one that it needs is missing and nothing else fails.
fn level(application: &Application, value: impl Fn(&str) -> Option<f64>) -> Option<Level> {
    let Application { good, fair, poor, steps, .. } = application;
    let is_met = |t: &Threshold| value(t.metric).is_none_or(|value| t.is_met(value));
    let grade = match [good, fair, poor].map(|thresholds| thresholds.iter().all(is_met)) {
        [.., false] => Grade::Fails,
        [_, false, _] => Grade::Poor,
        [false, ..] => Grade::Fair,
        _ => Grade::Good,
    };
    let is_known = |metric: &&str| !application.needs(metric) || value(metric).is_some();
    let missed = steps.iter().filter(|steps| grade >= steps.from).map(|steps| {
        let Some(value) = value(steps.metric) else { return 0 };
        let at_least = application.is_better_more(steps.metric);
        let is_missed = |bound: &&f64| value != **bound && (value < **bound) == at_least;
        steps.bounds.iter().filter(is_missed).count()
    });
    (grade == Grade::Fails || application.metrics().iter().all(is_known))
        .then(|| (grade, missed.sum()))
}

/// An application with its values, and with its grade or why it has none.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Assessment {
    /// What is graded.
    #[serde(skip)]
    pub(super) graded: &'static Application,
    /// The name of the application.
    pub application: &'static str,
    /// Its grade; `None` if a value is missing.
    pub grade: Option<Grade>,
    /// A mark for its grade.
    mark: &'static str,
    /// What it counts in a comparison: its grade with the steps that it misses; of a transfer also where the time is too
    /// short for a grade.
    #[serde(skip)]
    level: Option<Level>,
    /// The values that thresholds and summary need, means over seeds; `None` where nothing was measured.
    pub values: Values,
    /// Times that are longer than these: what they are of had not come when the run ended.
    #[serde(skip)]
    more_than: Values,
    /// Half of the 95 % intervals of these, with several seeds.
    #[serde(skip)]
    pub(super) half_widths: Values,
    /// The values over the first half of the time that counts.
    pub first_half: Values,
    /// The values that are still changing: a longer run may have others, or another grade.
    pub changing: Vec<&'static str>,
    /// Those of them that may change the grade.
    #[serde(skip)]
    turning: Vec<&'static str>,
    /// The traffic entry that the values are of: of several the worst.
    pub traffic: String,
    /// Are there several entries that are graded as this?
    #[serde(skip)]
    pub(super) is_of_several: bool,
    /// Its share of the line, if it is a transfer, a torrent or a stream of data.
    #[serde(skip)]
    pub(super) share: Option<Share>,
    /// The values in words, or what is missing.
    pub summary: String,
}

impl Assessment {
    fn new(
        application: &'static Application,
        (traffic, over): (&str, &BTreeMap<&'static str, Value>),
        cut: Option<(&str, f64)>,
        missing: Option<String>,
    ) -> Self {
        let values: Values = over.iter().map(|(metric, value)| (*metric, value.mean)).collect();
        let value = |metric: &str| values.get(metric).copied().flatten();
        // What had not come by the end may be worse than it is now, and no better.
        let at_most = |metric: &str| cut.filter(|one| one.0 == metric).map(|one| one.1);
        let most = level(application, |metric| at_most(metric).or_else(|| value(metric)));
        let is_same = |grade| grade >= Grade::Poor || most.is_some_and(|most| most.0 == grade);
        let is_known = |grade| missing.is_none() && (cut.is_none() || is_same(grade));
        let level = level(application, value).filter(|(grade, _)| is_known(*grade));
        let nothing = match application.name {
            PAGE => "fewer than two pages were loaded",
            _ => "no packet was delivered",
        };
        let unfinished = cut.and_then(|(of, most)| {
            let texts = apart(&[value(of)?, most]);
            let shown = application.values.iter().find(|shown| shown.metric == of)?;
            Some(match most.is_finite() {
                false => application.unfinished.to_owned(),
                true => format!(
                    "{} is between {} and {}{}, since not all had come when the run ended",
                    shown.label, texts[0], texts[1], shown.unit
                ),
            })
        });
        let mut summary = match level {
            None => missing.or(unfinished).unwrap_or_else(|| nothing.to_owned()),
            Some(_) => unfinished
                .or_else(|| filled(application.summary, &values))
                .unwrap_or_else(|| "next to nothing of it arrives".to_owned()),
        };
        if let (Some(_), Some(Some(added_ms))) = (level, values.get(ADDED_DELAY)) {
            summary = format!("{summary}: {} on DSLReports' scale from A+ to F", letter(*added_ms));
        }
        let grade = level.map(|(grade, _)| grade);
        let (more_than, values) = values.into_iter().partition(|(of, _)| at_most(of).is_some());
        Self {
            graded: application,
            application: application.name,
            grade,
            mark: grade.map_or("", Grade::mark),
            level,
            values,
            more_than,
            half_widths: over.iter().map(|(metric, value)| (*metric, value.half_width)).collect(),
            first_half: Values::new(),
            changing: Vec::new(),
            turning: Vec::new(),
            traffic: traffic.to_owned(),
            is_of_several: false,
            share: None,
            summary,
        }
    }

    /// Takes in the first half of the run. A value is still changing that has come far since then, by a tenth of its
    /// nearest bound and of itself, or whose grade was another, or will be if it goes on so; but not if seeds alone may
    /// make that.
    pub(super) fn compare(&mut self, halves: &[Self]) {
        let Some(half) = halves.iter().find(|one| one.component() == self.component()) else {
            return;
        };
        let change = |metric: &'static str| {
            let (was, is) = (half.value(metric)?, self.value(metric)?);
            let seeds = self.half_widths.get(metric).copied().flatten().unwrap_or_default();
            let far = Some((is - was).abs()).filter(|far| *far > seeds)?;
            let distance = |bound: &f64| (bound - is).abs().min((bound - was).abs());
            let bounds = self.graded.bounds_of_grades(metric).filter(|bound| *bound != 0.0);
            let bound = bounds.min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
            let moves = |to: f64| {
                let moved = self.level_with(|of, value| if of == metric { to } else { value });
                moved.map(|level| level.0) != self.grade
            };
            let is_worse = (is < was) == self.graded.is_better_more(metric);
            let grows = self.grade >= Some(Grade::Poor)
                && is_worse
                && far > (GROWS * was.abs()).max(NAMED * bound);
            let turns = grows || far > SAME * bound && (moves(was) || moves(is + is - was));
            let is_far = far > NAMED * bound.abs().max(is.abs());
            (self.grade.is_some() && (is_far || turns)).then_some((metric, turns))
        };
        let changes: Vec<_> = self.values.keys().copied().filter_map(change).collect();
        self.changing = changes.iter().map(|(metric, _)| *metric).collect();
        self.turning = changes.iter().filter(|one| one.1).map(|(metric, _)| *metric).collect();
        self.first_half = half.values.clone();
    }

    /// What is still changing and may change its grade, for the worse if that is said, or for the better, in a clause.
    pub(super) fn changing_clause(&self, for_worse: Option<bool>) -> Option<String> {
        let is_named = |one: &&Shown| self.turning.contains(&one.metric);
        let shown = self.graded.values.iter().find(is_named).or(self.graded.values.first())?;
        let was = self.first_half.get(shown.metric).copied().flatten()?;
        let is = self.measured(shown.metric).filter(|_| !self.turning.is_empty())?;
        let (label, unit) = (self.label(shown), shown.unit);
        let is_worse = (is < was) == self.graded.is_better_more(shown.metric);
        let texts = apart(&[was, is]);
        let said = format!(
            "{label} was {}{unit} in the first half of the run and is {} in all",
            texts[0], texts[1]
        );
        (texts[0] != texts[1] && for_worse.is_none_or(|it| it == is_worse)).then_some(said)
    }

    /// What it is, and of which entry.
    pub(super) fn component(&self) -> Component<'_> {
        (self.application, &self.traffic)
    }

    /// Is it ahead of another one in a metric?
    pub(super) fn is_ahead(&self, other: &Self, metric: &str) -> bool {
        let values = self.measured(metric).zip(other.measured(metric));
        let is_more = self.graded.is_better_more(metric);
        values.is_some_and(|(own, other)| if is_more { own > other } else { own < other })
    }

    /// Is a bound of a metric between its value and that of another one?
    pub(super) fn passes(&self, other: &Self, metric: &str) -> bool {
        let values = self.measured(metric).zip(other.measured(metric));
        let is_between = |bound| values.is_some_and(|(own, it)| (own <= bound) != (it <= bound));
        self.graded.bounds(metric).any(is_between)
    }

    /// It as the subject of a clause.
    pub(super) fn noun(&self) -> String {
        let of = if self.is_of_several { format!(" '{}'", self.traffic) } else { String::new() };
        format!("{}{of}", self.graded.noun)
    }

    /// The name of a value.
    pub(super) fn label(&self, shown: &Shown) -> String {
        let of = if self.is_of_several { format!(" of '{}'", self.traffic) } else { String::new() };
        format!("{}{of}", shown.label.replace("{}", self.graded.noun))
    }

    /// What it counts in a comparison.
    pub(super) fn level(&self) -> Option<Level> {
        self.level
    }

    /// A value, or what it is more than.
    pub(super) fn value(&self, metric: &str) -> Option<f64> {
        self.more_than.get(metric).or_else(|| self.values.get(metric)).copied().flatten()
    }

    /// A value that was measured, which the time of what has not come is not.
    pub(super) fn measured(&self, metric: &str) -> Option<f64> {
        self.values.get(metric).copied().flatten()
    }

    /// What of it had not come when the run ended, in words: no table has a number of that.
    pub(super) fn unfinished(&self) -> Option<&str> {
        let is_cut = self.more_than.values().any(Option::is_some);
        (is_cut && self.grade.is_some()).then_some(&self.summary)
    }

    /// The value that keeps it from a better grade, or else the first that sentences say.
    pub(super) fn deciding(&self) -> &'static Shown {
        let values = &self.graded.values;
        let is_unmet = |shown: &&Shown| self.unmet().any(|t| t.metric == shown.metric);
        values.iter().find(is_unmet).unwrap_or(&values[0])
    }

    /// What keeps it from a better grade.
    fn unmet(&self) -> impl Iterator<Item = &'static Threshold> {
        let Application { good, fair, poor, .. } = self.graded;
        let better = [good, good, fair, poor][self.grade.map_or(0, |grade| grade as usize)];
        better.iter().filter(|t| self.measured(t.metric).is_some_and(|it| !t.is_met(it)))
    }

    /// The loss that keeps it from a better grade, and whether nothing else does.
    pub(super) fn lost(&self) -> Option<(&'static str, bool)> {
        let is_loss = |t: &Threshold| LOSSES.contains(&t.metric);
        Some((self.unmet().find(|t| is_loss(t))?.metric, self.unmet().all(is_loss)))
    }

    /// A value that sentences have, in words.
    pub(super) fn said(&self, metric: &str) -> Option<String> {
        let shown = self.graded.values.iter().find(|shown| shown.metric == metric)?;
        let value = digits(self.measured(metric)?);
        Some(format!("{} is {value}{}", self.label(shown), shown.unit))
    }

    /// What is wrong with it that is no delay: a loss above its bound, or else that it fails.
    pub(super) fn beyond_delay(&self) -> Option<String> {
        let is_over = |t: &&Threshold| {
            LOSSES.contains(&t.metric) && self.measured(t.metric).is_some_and(|it| !t.is_met(it))
        };
        let fails = || Some(format!("{} fails", self.graded.noun));
        let lost = self.graded.good.iter().find(is_over).and_then(|t| self.said(t.metric));
        lost.or_else(|| fails().filter(|_| self.grade == Some(Grade::Fails)))
    }

    /// Its level with other values.
    pub(super) fn level_with(&self, of: impl Fn(&str, f64) -> f64) -> Option<Level> {
        self.level?;
        self.stepped(level(self.graded, |metric| Some(of(metric, self.value(metric)?))))
    }

    /// A level that counts no grade where it has none.
    fn stepped(&self, level: Option<Level>) -> Option<Level> {
        level.map(|(grade, steps)| (self.grade.map_or(Grade::Good, |_| grade), steps))
    }
}

/// The grades of runs that differ in their seed, beside those of an idle line if there is one: of each entry, and of queues.
pub(super) fn assess(runs: &[&Facts], idle: Option<&[&Facts]>) -> Vec<Assessment> {
    APPLICATIONS.iter().flat_map(|application| of(application, runs, idle)).collect()
}

fn of(one: &'static Application, runs: &[&Facts], idle: Option<&[&Facts]>) -> Vec<Assessment> {
    let mut all = match idle {
        Some(idle) if one.name == UNDER_LOAD => added_delays(one, runs, idle),
        _ => of_flows(one, runs),
    };
    let are_several = all.len() > 1;
    all.iter_mut().for_each(|one| one.is_of_several = are_several);
    all
}

/// By what load adds to the round trips of games and calls. What their packets wait in queues without it counts as added:
/// a film that fills the queue hides no load.
fn added_delays(one: &'static Application, runs: &[&Facts], idle: &[&Facts]) -> Vec<Assessment> {
    let of_entry = |name: &(bool, String)| {
        let waited_ms: f64 = idle.iter().map(|facts| facts.waited_ms(&name.1)).sum();
        let added_ms = round_trips(runs, Some(idle), name).1? + waited_ms / idle.len() as f64;
        let value = Value { mean: Some(added_ms.max(0.0)), half_width: None };
        Some(Assessment::new(one, (&name.1, &BTreeMap::from([(ADDED_DELAY, value)])), None, None))
    };
    runs[0].round_trips.keys().filter_map(of_entry).collect()
}

/// By what was measured of flows, queues and transfers.
fn of_flows(one: &'static Application, runs: &[&Facts]) -> Vec<Assessment> {
    let of_entry = |traffic: &str| {
        let is_it = |test: &&Tested| test.application == one.name && test.traffic == traffic;
        let tests: Vec<_> = runs.iter().flat_map(|facts| &facts.tests).filter(is_it).collect();
        let over = |metric| {
            let values: Vec<_> =
                tests.iter().map(|test| test.values.get(metric).copied()?).collect();
            (metric, over_seeds(&values))
        };
        let over: BTreeMap<&str, Value> = one.metrics().into_iter().map(over).collect();
        let known = level(one, |metric| over.get(metric)?.mean);
        // One that is poor as far as it is measured is no better beyond.
        let is_poor = tests.iter().any(|test| test.has_both_ends)
            && known.is_some_and(|(grade, _)| grade >= Grade::Poor);
        let missing = tests.iter().find_map(|test| test.missing.clone()).filter(|_| !is_poor);
        let cut = tests.iter().find_map(|test| test.cut).map(|(metric, _)| {
            let most = |test: &&Tested| match test.cut {
                Some((_, most)) => most,
                None => test.values.get(metric).copied().flatten().unwrap_or(f64::INFINITY),
            };
            (metric, tests.iter().map(most).sum::<f64>() / tests.len() as f64)
        });
        Assessment::new(one, (traffic, &over), cut, missing)
    };
    let tests = runs.iter().flat_map(|facts| &facts.tests);
    let own = tests.filter(|test| test.application == one.name).map(|test| test.traffic.as_str());
    let entries = distinct(own).into_iter().map(of_entry);
    let shares = runs[0].transfers.iter().filter(|share| share.application == one.name);
    let seeds = || runs.iter().flat_map(|facts| &facts.transfers);
    let transfers = shares.map(|share| of_transfer(one, share.over_seeds(seeds())));
    entries.chain(transfers).collect()
}

/// What is graded as one, by the worst of its entries: one that is not known may be worse than what is fair, but a transfer
/// without a grade leaves the grade to others.
pub(super) fn worst_of(entries: &[Assessment]) -> Vec<Assessment> {
    let rank = |one: &Assessment| match one.grade {
        None => 2 * u8::from(!one.graded.is_share()),
        Some(grade) => 1 + 2 * u8::from(grade >= Grade::Poor),
    };
    let is_worse = |one: &Assessment, than: &Assessment| {
        let [own, other] = [one, than].map(|it| (rank(it), it.level()));
        own > other || own == other && than.is_ahead(one, than.deciding().metric)
    };
    let worst = |of: &Application| {
        let own = entries.iter().filter(|one| one.application == of.name);
        let worst = own.clone().reduce(|most, one| if is_worse(one, most) { one } else { most });
        let mut worst = worst?.clone();
        if worst.is_of_several && worst.grade.is_some() {
            worst.summary += &format!(" for '{}', the worst of {}", worst.traffic, own.count());
        }
        Some(worst)
    };
    APPLICATIONS.iter().filter_map(worst).collect()
}

/// The assessment of a transfer, a torrent or a stream of data.
fn of_transfer(application: &'static Application, share: Share) -> Assessment {
    let Share { mbps, part_mbps, .. } = share;
    let is_due = part_mbps > 0.0;
    let mean = is_due.then_some((100.0 * share.of_part()).min(100.0));
    let value = Value { mean: share.share_percent.or(mean), half_width: share.half_width };
    let over = BTreeMap::from([(SHARE, value)]);
    let missing = share.missing.map(|why| format!("{why} traffic.{}", share.traffic));
    let is_known = missing.is_none();
    let mut found = Assessment::new(application, (&share.traffic, &over), None, missing);
    // Where the time is too short for a grade, its steps compare alone.
    found.level = found.stepped(level(application, |_| value.mean));
    if is_known {
        // More than its part is what another one left.
        let texts = apart(&[mbps, part_mbps]);
        let of = if mbps < part_mbps { format!(" of {}", texts[1]) } else { String::new() };
        found.summary += &format!(", {}{of} Mbps", texts[0]);
    }
    if let Some((done, all)) = share.unfinished_mb {
        let (done, all) = (digits(done), digits(all));
        found.summary += &format!(", '{}' is unfinished ({done} of {all} MB)", share.traffic);
    }
    found.share = Some(share);
    found
}

/// What is poor and becomes worse by this share of its first half is said to, unless that is little beside its bounds.
const GROWS: f64 = 0.5;

/// A template with its values, if all are there: `{metric.2}` is a value with two digits after the point.
fn filled(template: &str, values: &Values) -> Option<String> {
    let mut parts = template.split('{');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (field, rest) = part.split_once('}').unwrap_or((part, ""));
        let (metric, digits) = field.rsplit_once('.').unwrap_or((field, "0"));
        let value = values.get(metric).copied()??;
        let digits = if value < 99.95 { digits.parse().unwrap_or_default() } else { 0 };
        text.push_str(&format!("{value:.digits$}{rest}"));
    }
    Some(text)
}

/// The medians over seeds of a game or call, with those of the idle line in place of its own idle ones; and what the load
/// that adds most adds to its mean, if a load was measured.
pub(super) fn round_trips(
    runs: &[&Facts],
    idle: Option<&[&Facts]>,
    name: &(bool, String),
) -> ([Option<f64>; 4], Option<f64>) {
    let over = |runs: &[&Facts], load: Load, of: usize| {
        let one = |facts: &&Facts| facts.round_trips.get(name)?[load as usize][of];
        over_seeds(&runs.iter().map(one).collect::<Vec<_>>()).mean
    };
    let at_rest = |of| over(idle.unwrap_or(runs), Load::Idle, of);
    let loads = [Load::Down, Load::Up, Load::Both];
    let means = loads.iter().filter_map(|load| over(runs, *load, 0));
    let added = means.reduce(f64::max).and_then(|most| Some(most - at_rest(0)?));
    let [down, up, both] = loads.map(|load| over(runs, load, 1));
    ([at_rest(1), down, up, both], added)
}
