//! Groups of runs side by side: which is an idle line, which is best, and what it is held against.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::facts::{Entry, Facts};
use super::grades::{Assessment, Grade, assess};
use super::measures::{Better, MEASURES, Measure};
use super::over_seeds::{Value, over_seeds};

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
    pub(super) fn is_idle(&self) -> bool {
        self.runs.iter().all(|facts| facts.is_idle())
    }

    fn people(&self) -> BTreeSet<&str> {
        self.runs[0].people()
    }

    pub(super) fn bulk(&self) -> Vec<&Entry> {
        self.runs[0].bulk().collect()
    }

    /// A measure over its runs; `None` if they have no such rows.
    pub(super) fn value(&self, measure: &Measure) -> Option<Value> {
        let found = self.runs.iter().map(|facts| facts.measures.get(measure.key).copied());
        let found: Vec<_> = found.collect();
        let is_there = found.iter().any(Option::is_some);
        let values: Vec<_> = found.into_iter().map(Option::flatten).collect();
        is_there.then(|| over_seeds(&values))
    }

    /// The mean of a measure over its runs.
    pub(super) fn mean(&self, key: &str) -> Option<f64> {
        self.value(Measure::named(key))?.mean
    }
}

/// A group with its grades, and the idle line that it is held against.
pub(super) struct Judged<'a> {
    pub group: &'a Group<'a>,
    pub assessments: Vec<Assessment>,
    pub is_idle_line: bool,
    /// The number of its idle line among the groups.
    pub idle_line: Option<usize>,
}

/// Judges all groups. An idle line is one without bulk traffic, beside a group of the same people at the
/// same point that has some.
pub(super) fn judged<'a>(groups: &'a [Group<'a>]) -> Vec<Judged<'a>> {
    let is_of = |idle: &Group, loaded: &Group| {
        idle.is_idle()
            && !loaded.is_idle()
            && idle.point == loaded.point
            && idle.people() == loaded.people()
    };
    let judge = |group: &'a Group<'a>| {
        let idle_line = groups.iter().position(|other| is_of(other, group));
        let idle_runs = idle_line.map(|number| groups[number].runs.as_slice());
        Judged {
            group,
            assessments: assess(&group.runs, idle_runs),
            is_idle_line: groups.iter().any(|other| is_of(group, other)),
            idle_line,
        }
    };
    groups.iter().map(judge).collect()
}

impl Judged<'_> {
    /// The grade of an application; `None` where it has none.
    pub fn grade(&self, application: &str) -> Option<Grade> {
        self.assessments.iter().find(|found| found.application == application)?.grade
    }

    /// Is it good on every test?
    pub fn is_good(&self) -> bool {
        self.assessments.iter().all(|found| found.grade == Some(Grade::Good))
    }

    /// Its name in sentences.
    pub fn name(&self) -> &str {
        if self.group.name.is_empty() { "this run" } else { self.group.name }
    }

    /// Less for what is better: fewer poor grades, then fewer fair ones, then fewer missing ones, then
    /// the first measure of people that both have.
    pub fn rank(&self, other: &Self) -> Ordering {
        let faults = |judged: &Self| {
            let count = |grade| judged.assessments.iter().filter(|a| a.grade == grade).count();
            [count(Some(Grade::Poor)), count(Some(Grade::Fair)), count(None)]
        };
        faults(self).cmp(&faults(other)).then_with(|| self.rank_of_measures(other))
    }

    fn rank_of_measures(&self, other: &Self) -> Ordering {
        // Of a game the p90 is told, which its grades are about too.
        let told = MEASURES.iter().filter(|m| !["game_latency_p50_ms"].contains(&m.key));
        let first = told.filter_map(|measure| {
            let (one, another) = (self.group.mean(measure.key)?, other.group.mean(measure.key)?);
            Some(match measure.better {
                Better::Lower => one.total_cmp(&another),
                Better::Higher => another.total_cmp(&one),
            })
        });
        first.into_iter().next().unwrap_or(Ordering::Equal)
    }
}
