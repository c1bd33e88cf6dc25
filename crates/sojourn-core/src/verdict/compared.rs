//! Groups of runs side by side: which is an idle line, which are best, and what they are compared with.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::facts::{Entry, Facts};
use super::grades::{Assessment, Grade, assess};
use super::measures::{Better, MEASURES, Measure};
use super::over_seeds::{Value, over_seeds};

/// A smaller change than this share of a value is none to speak of.
pub(super) const SAME: f64 = 0.02;

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

/// The bulk traffic of a group of one kind in one direction.
pub(super) struct BulkKind {
    /// What it is in a word.
    pub word: &'static str,
    /// Which way its payload goes.
    pub direction: &'static str,
    /// The sum of its rates.
    pub mbps: f64,
    /// The number of its transfers: entries, each as often as homes have it.
    pub transfers: u32,
    is_several: bool,
}

impl BulkKind {
    /// The noun of a sentence, and whether it is a plural.
    pub fn noun(&self) -> (String, bool) {
        let is_plural = self.is_several && !self.word.ends_with("traffic");
        (if is_plural { format!("{}s", self.word) } else { self.word.to_owned() }, is_plural)
    }
}

impl Group<'_> {
    pub(super) fn is_idle(&self) -> bool {
        self.runs.iter().all(|facts| facts.is_idle())
    }

    /// The number of bulk transfers in a direction: entries, each as often as homes have it.
    pub(super) fn transfers(&self, direction: &str) -> u32 {
        let those = self.bulk().into_iter().filter(|entry| entry.bulk_direction == direction);
        those.map(|entry| u32::from(entry.homes)).sum()
    }

    /// Its bulk traffic by kind and direction.
    pub(super) fn bulk_kinds(&self) -> Vec<BulkKind> {
        let mut kinds: Vec<BulkKind> = Vec::new();
        for entry in self.bulk() {
            let mbps = self.bulk_mbps(&entry.name).unwrap_or_default();
            let (word, direction) = (entry.bulk, entry.bulk_direction);
            match kinds.iter_mut().find(|kind| (kind.word, kind.direction) == (word, direction)) {
                Some(kind) => {
                    kind.mbps += mbps;
                    kind.transfers += u32::from(entry.homes);
                    kind.is_several = true;
                }
                None => kinds.push(BulkKind {
                    word,
                    direction,
                    mbps,
                    transfers: u32::from(entry.homes),
                    is_several: entry.is_several,
                }),
            }
        }
        kinds
    }

    /// The rate of a bulk entry, in the mean over its runs, in Mbps.
    pub(super) fn bulk_mbps(&self, entry: &str) -> Option<f64> {
        let rates = self.runs.iter().map(|facts| facts.bulk_mbps.get(entry).copied());
        over_seeds(&rates.collect::<Vec<_>>()).mean
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

/// A group with its grades, and the idle line that it is compared with.
pub(super) struct Judged<'a> {
    pub group: &'a Group<'a>,
    pub assessments: Vec<Assessment>,
    pub is_idle_line: bool,
    /// The number of its idle line among the groups.
    pub idle_line: Option<usize>,
}

/// Judges all groups. An idle line is one without bulk traffic, if another group with the same other
/// traffic at the same point has some.
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

    /// Its numbers of poor, of fair and of missing grades: the less, the better.
    fn faults(&self) -> [usize; 3] {
        let count = |grade| self.assessments.iter().filter(|a| a.grade == grade).count();
        [count(Some(Grade::Poor)), count(Some(Grade::Fair)), count(None)]
    }

    /// Less for what is better: the grades decide, then the first measure that both have.
    pub fn rank(&self, other: &Self) -> Ordering {
        let measures = deciding().filter_map(|measure| {
            let (one, another) = (self.group.mean(measure.key)?, other.group.mean(measure.key)?);
            Some(match measure.better {
                Better::Lower => one.total_cmp(&another),
                Better::Higher => another.total_cmp(&one),
            })
        });
        let faults = self.faults().cmp(&other.faults());
        faults.then_with(|| measures.into_iter().next().unwrap_or(Ordering::Equal))
    }
}

/// The measures that decide between equal grades. Of a game p90 does, which its grades use too.
fn deciding() -> impl Iterator<Item = &'static Measure> {
    MEASURES.iter().filter(|measure| measure.key != "game_latency_p50_ms")
}

/// The best of some groups, in their order: those with the best grades, and of these those that no measure
/// that all have shows to be worse, one measure after the other. All of them if nothing differs.
pub(super) fn best_of(all: &[Judged<'_>], loaded: &[usize]) -> Vec<usize> {
    let fewest = loaded.iter().map(|number| all[*number].faults()).min();
    let is_best = |number: &usize| Some(all[*number].faults()) == fewest;
    let mut best: Vec<usize> = loaded.iter().copied().filter(is_best).collect();
    for measure in deciding() {
        if !is_comparable(measure, all, &best) {
            continue;
        }
        let means = best.iter().map(|number| all[*number].group.mean(measure.key));
        let Some(means) = means.collect::<Option<Vec<f64>>>() else { continue };
        let top = means.iter().copied().reduce(match measure.better {
            Better::Lower => f64::min,
            Better::Higher => f64::max,
        });
        let mut is_near =
            means.iter().map(|mean| top.is_some_and(|top| !differs(measure, *mean, top)));
        best.retain(|_| is_near.next() == Some(true));
    }
    best
}

/// Do two values of a measure differ by more than 2 % and by more than the last digit that tables show?
pub(super) fn differs(measure: &Measure, one: f64, another: f64) -> bool {
    let resolution = 10f64.powi(-i32::from(measure.digits));
    (one - another).abs() > (SAME * one.abs().max(another.abs())).max(resolution)
}

/// Is a measure of the same traffic in all these groups? Rates are sums over all transfers.
pub(super) fn is_comparable(measure: &Measure, all: &[Judged<'_>], groups: &[usize]) -> bool {
    let Some(direction) = measure.of_transfers() else { return true };
    let counts: BTreeSet<u32> =
        groups.iter().map(|number| all[*number].group.transfers(direction.name())).collect();
    counts.len() <= 1
}
