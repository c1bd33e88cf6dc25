//! Groups of runs side by side, their grades, and which is an idle line.

use super::facts::Facts;
use super::grades::{Assessment, assess, worst_of};
use super::measures::Measure;
use super::thresholds::{Grade, NAMED};
use crate::causes::Cause;
use crate::over_seeds::{Value, over_seeds};
use crate::shares::Share;
use crate::words::quoted;

/// Runs that differ in their seed alone.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// Its name, which no other group has; empty for a single run.
    pub name: &'a str,
    /// The variant that it is of.
    pub variant: &'a str,
    /// The values of the swept keys, as they stand in names.
    pub point: &'a [String],
    /// The facts of its runs: one at least.
    pub runs: Vec<&'a Facts>,
}

impl Group<'_> {
    /// Is it what is left of the other without bulk traffic, or does that begin after the end? One of which nothing arrives has
    /// failed, and is no idle line.
    fn is_idle_line_of(&self, other: &Self) -> bool {
        let is_idle = |group: &Self| group.runs.iter().all(|facts| facts.is_idle);
        let [own, of_other] = [self, other].map(|group| &group.runs[0].lines);
        let is_left = own[1] == of_other[0];
        let is_meant = is_idle(self) && own[0] == of_other[0];
        (is_left || is_meant) && !is_idle(other) && self.point == other.point
    }

    /// The values of a measure in another group and in this one, if they differ by more than 10 %, of its least bound too,
    /// by more than the last digit that says something, and by more than the seeds alone may make.
    pub(super) fn named_difference(&self, measure: &Measure, other: &Self) -> Option<(f64, f64)> {
        let of = |facts: &Facts| facts.measures.get(measure.key).copied().flatten();
        let (to, from) = (self.value(measure)?.mean?, other.value(measure)?.mean?);
        let digit = 10f64.powi(-i32::from(measure.digits));
        let bound = measure.least_bound().unwrap_or_default();
        let least = (NAMED * from.abs().max(to.abs()).max(bound)).max(digit);
        let seeds = |group: &Self| group.runs.iter().map(|facts| facts.seed).collect::<Vec<_>>();
        let pairs = self.runs.iter().zip(&other.runs);
        let differences: Vec<_> = pairs.map(|(one, two)| Some(of(one)? - of(two)?)).collect();
        let half_width =
            over_seeds(&differences).half_width.filter(|_| seeds(self) == seeds(other));
        let by = (to - from).abs();
        (by > least && half_width.is_none_or(|half| by > half)).then_some((from, to))
    }

    /// A measure over its runs; `None` if they have no such rows.
    pub(super) fn value(&self, measure: &Measure) -> Option<Value> {
        let found = self.runs.iter().filter_map(|facts| facts.measures.get(measure.key).copied());
        let values: Vec<Option<f64>> = found.collect();
        (!values.is_empty()).then(|| over_seeds(&values))
    }

    /// Where the time goes in the mean over its runs, the longest first; what one of them does not know is left out.
    pub(super) fn causes(&self) -> Vec<Cause> {
        let mean = |first: &Cause| {
            let mut sum = first.clone();
            for of in &self.runs[1..] {
                let one = of.causes.iter().find(|one| one.traffic == first.traffic)?;
                sum.ways_ms.iter_mut().zip(&one.ways_ms).for_each(|(sum, way)| sum.1 += way.1);
                one.parts.iter().for_each(|of| sum.add(of.part, of.words, of.ms));
            }
            let runs = self.runs.len() as f64;
            sum.ways_ms.iter_mut().for_each(|way| way.1 /= runs);
            sum.parts.iter_mut().for_each(|part| part.ms /= runs);
            sum.parts.sort_by(|one, other| other.ms.total_cmp(&one.ms));
            Some(sum)
        };
        let mut means: Vec<Cause> = self.runs[0].causes.iter().filter_map(mean).collect();
        means.sort_by(|one, other| other.total_ms().total_cmp(&one.total_ms()));
        means
    }

    /// The mean of a measure over its runs.
    pub(super) fn mean(&self, key: &str) -> Option<f64> {
        self.value(Measure::named(key))?.mean
    }
}

/// A group with its grades, and the idle line that it is compared with.
pub(super) struct Judged<'a> {
    pub group: &'a Group<'a>,
    /// What is graded, by its worst entry.
    pub assessments: Vec<Assessment>,
    /// Each entry that is graded, and queues.
    pub entries: Vec<Assessment>,
    pub is_idle_line: bool,
    /// The number of its idle line among the groups.
    pub idle_line: Option<usize>,
}

/// Judges all groups. An idle line is one without bulk traffic, if another group at the same point that differs
/// in bulk traffic and queues alone has some.
pub(super) fn judged<'a>(groups: &'a [Group<'a>]) -> Vec<Judged<'a>> {
    let judge = |group: &'a Group<'a>| {
        let idle_line = groups.iter().position(|other| other.is_idle_line_of(group));
        let idle_runs = idle_line.map(|number| groups[number].runs.as_slice());
        let mut entries = assess(&group.runs, idle_runs);
        let halves = |runs: &[&'a Facts]| {
            runs.iter().map(|facts| facts.first_half.as_deref()).collect::<Option<Vec<_>>>()
        };
        let idle_half = idle_runs.and_then(halves);
        let half = halves(&group.runs).map(|runs| assess(&runs, idle_half.as_deref()));
        entries.iter_mut().for_each(|one| one.compare(half.as_deref().unwrap_or_default()));
        let assessments = worst_of(&entries);
        Judged {
            group,
            assessments,
            entries,
            is_idle_line: groups.iter().any(|other| group.is_idle_line_of(other)),
            idle_line,
        }
    };
    groups.iter().map(judge).collect()
}

impl Judged<'_> {
    /// The grade of an application; `None` where it has none.
    pub(super) fn grade(&self, application: &str) -> Option<Grade> {
        self.assessment(application)?.grade
    }

    /// An application with its grade.
    pub(super) fn assessment(&self, application: &str) -> Option<&Assessment> {
        self.assessments.iter().find(|found| found.application == application)
    }

    /// What each transfer, torrent and stream of data gets.
    pub(super) fn transfers(&self) -> impl Iterator<Item = &Share> {
        self.entries.iter().filter_map(|one| one.share.as_ref())
    }

    /// Is it unknown what bulk traffic takes from those who would tell, since there is no idle line?
    pub(super) fn lacks_idle_line(&self) -> bool {
        let facts = self.group.runs[0];
        self.idle_line.is_none() && !facts.round_trips.is_empty() && facts.bulk().next().is_some()
    }

    /// Is all known that its traffic could measure?
    pub(super) fn is_whole(&self) -> bool {
        let facts = self.group.runs[0];
        let has_grades = facts.traffic.iter().all(|entry| entry.graded);
        facts.unwatched.is_empty() && has_grades && !self.lacks_idle_line()
    }

    /// Its name in sentences.
    pub(super) fn name(&self) -> String {
        quoted(if self.group.name.is_empty() { "this run" } else { self.group.name })
    }
}
