//! Groups of runs side by side: which is an idle line, which are best, and what they are compared with.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::facts::{Entry, Facts, Payload};
use super::grades::{Assessment, Grade, assess};
use super::measures::{Better, MEASURES, Measure};
use super::over_seeds::{Value, over_seeds};
use super::thresholds::{
    APPLICATIONS, Application, CALL, DOWNLOAD, DOWNSTREAM_QUEUE, GAME, PAGE, UNDER_LOAD, UPLOAD,
    UPSTREAM_QUEUE, VIDEO, VIDEO_CALL, VIDEO_RATE, queue_of,
};
use sojourn_engine::packet::Direction;
use sojourn_scenario::Unwatched;
use sojourn_scenario::apps::Bulk;

/// A smaller change than this share of a value is none to speak of.
pub(super) const SAME: f64 = 0.02;
/// If no change is greater than this and no grade differs, settings hardly differ; one for the worse is a price.
pub(super) const HARDLY: f64 = 0.10;

/// Grades of the line, of which users notice nothing at once.
const OF_THE_LINE: [&str; 5] = [VIDEO_RATE, UPSTREAM_QUEUE, DOWNSTREAM_QUEUE, UPLOAD, DOWNLOAD];

/// Grades that are shares of what the line has: they compare nothing between lines.
const OF_ITS_LINE: [&str; 3] = [VIDEO_RATE, UPLOAD, DOWNLOAD];

/// The application that a measure is of; `None` if it has no grades.
pub(super) fn application_of(measure: &Measure) -> Option<&'static str> {
    let starts = [
        ("game_", GAME),
        ("voice_", CALL),
        ("page_", PAGE),
        ("video_stalled", VIDEO),
        ("video_rate", VIDEO_RATE),
        ("video_call", VIDEO_CALL),
        ("upstream_queue", UPSTREAM_QUEUE),
        ("downstream_queue", DOWNSTREAM_QUEUE),
    ];
    starts.into_iter().find(|(start, _)| measure.key.starts_with(start)).map(|(_, name)| name)
}

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

/// The bulk traffic of a group of one sort in one direction.
pub(super) struct BulkKind {
    /// What it is, and where its payload goes.
    pub payload: Payload,
    /// The sum of its rates.
    pub mbps: f64,
    /// The number of its transfers: entries, each as often as homes have it.
    pub transfers: u32,
    is_several: bool,
    /// Does the same sort go the other way too?
    goes_both_ways: bool,
}

impl BulkKind {
    /// It in a word, with its direction where this tells it apart.
    pub(super) fn word(&self) -> String {
        self.in_words(false)
    }

    /// The noun of a sentence, and whether it is a plural.
    pub(super) fn noun(&self) -> (String, bool) {
        let is_plural = self.is_several && self.payload.sort != Bulk::Data;
        (self.in_words(is_plural), is_plural)
    }

    fn in_words(&self, is_plural: bool) -> String {
        let Payload { sort, direction } = self.payload;
        let (word, ending) = (sort.word(direction), if is_plural { "s" } else { "" });
        let way = match (self.goes_both_ways && sort != Bulk::Transfer, direction) {
            (false, _) => "",
            (true, Direction::Up) => " up",
            (true, Direction::Down) => " down",
        };
        format!("{word}{ending}{way}")
    }
}

/// How far a measure of a group is from that of another one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Difference {
    /// The mean of the other group.
    pub from: f64,
    /// The mean of this group.
    pub to: f64,
    /// Half of the 95 % interval of the paired differences, if both have the same seeds, two or more.
    pub half_width: Option<f64>,
}

impl Difference {
    /// Is it more than the seeds alone may make?
    fn is_sure(&self) -> bool {
        self.half_width.is_none_or(|half| (self.to - self.from).abs() > half)
    }

    /// Is it by more than this share of the greater value?
    pub(super) fn is_beyond(&self, share: f64) -> bool {
        (self.to - self.from).abs() > share * self.from.abs().max(self.to.abs())
    }

    /// Is it worse, by more than this share?
    pub(super) fn is_worse_by(&self, share: f64, measure: &Measure) -> bool {
        let more = match measure.better {
            Better::Lower => self.to - self.from,
            Better::Higher => self.from - self.to,
        };
        more > share * self.from.abs()
    }
}

impl Group<'_> {
    /// Is it without bulk traffic: is none meant, or was nothing of it delivered?
    fn is_idle_line_of(&self, other: &Self) -> bool {
        let is_idle = |group: &Self| group.runs.iter().all(|facts| facts.bulk().next().is_none());
        let is_meant = |group: &Self| group.runs.iter().all(|facts| facts.is_idle);
        is_idle(self)
            && (!is_idle(other) || (is_meant(self) && !is_meant(other)))
            && self.point == other.point
            && self.runs[0].line == other.runs[0].line
    }

    /// The demand of its traffic.
    pub(super) fn load(&self) -> &str {
        &self.runs[0].load
    }

    /// The directions that are loaded unwatched.
    pub(super) fn unwatched(&self) -> &[Unwatched] {
        &self.runs[0].unwatched
    }

    /// Does a queue of a direction stand in a run?
    pub(super) fn stands(&self, direction: Direction) -> bool {
        self.runs.iter().any(|facts| facts.stands(direction))
    }

    /// Is a direction loaded while nothing watches it?
    pub(super) fn is_unwatched(&self, direction: Direction) -> bool {
        self.unwatched().iter().any(|one| one.direction == direction)
    }

    /// The number of bulk transfers of a sort in a direction: entries, each as often as homes have it.
    pub(super) fn transfers(&self, sort: Bulk, direction: Direction) -> u32 {
        let those = self.bulk().into_iter().filter(|(_, of)| *of == Payload { sort, direction });
        those.map(|(entry, _)| u32::from(entry.homes)).sum()
    }

    /// Its bulk traffic by sort and direction.
    pub(super) fn bulk_kinds(&self) -> Vec<BulkKind> {
        let mut kinds: Vec<BulkKind> = Vec::new();
        for (entry, payload) in self.bulk() {
            let mbps = self.bulk_mbps(&entry.name).unwrap_or_default();
            match kinds.iter_mut().find(|kind| kind.payload == payload) {
                Some(kind) => {
                    kind.mbps += mbps;
                    kind.transfers += u32::from(entry.homes);
                    kind.is_several = true;
                }
                None => kinds.push(BulkKind {
                    payload,
                    mbps,
                    transfers: u32::from(entry.homes),
                    is_several: entry.is_several,
                    goes_both_ways: false,
                }),
            }
        }
        let payloads: Vec<Payload> = kinds.iter().map(|kind| kind.payload).collect();
        for kind in &mut kinds {
            let is_back = |of: &Payload| {
                of.sort == kind.payload.sort && of.direction != kind.payload.direction
            };
            kind.goes_both_ways = payloads.iter().any(is_back);
        }
        kinds.sort_by_key(|kind| kind.payload.direction != Direction::Up);
        kinds
    }

    /// The rate of a bulk entry, in the mean over its runs, in Mbps.
    pub(super) fn bulk_mbps(&self, entry: &str) -> Option<f64> {
        let rates = self.runs.iter().map(|facts| facts.bulk_mbps.get(entry).copied());
        over_seeds(&rates.collect::<Vec<_>>()).mean
    }

    pub(super) fn bulk(&self) -> Vec<(&Entry, Payload)> {
        self.runs[0].bulk().collect()
    }

    /// How far a measure is from that of another group, if by more than 2 %, by more than the last digit
    /// that tables show, and by more than the seeds alone may make.
    pub(super) fn difference(&self, measure: &Measure, other: &Self) -> Option<Difference> {
        let (to, from) = (self.mean(measure.key)?, other.mean(measure.key)?);
        let of = |facts: &Facts| facts.measures.get(measure.key).copied().flatten();
        let difference = Difference { from, to, half_width: self.paired(other, of) };
        (differs(measure, from, to) && difference.is_sure()).then_some(difference)
    }

    /// Half of the 95 % interval of the paired differences of a value.
    fn paired(&self, other: &Self, of: impl Fn(&Facts) -> Option<f64>) -> Option<f64> {
        let seeds = |group: &Self| group.runs.iter().map(|facts| facts.seed).collect::<Vec<_>>();
        if seeds(self) != seeds(other) {
            return None;
        }
        let pairs = self.runs.iter().zip(&other.runs);
        let differences: Vec<_> = pairs.map(|(one, two)| Some(of(one)? - of(two)?)).collect();
        over_seeds(&differences).half_width
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

/// Judges all groups. An idle line is one without bulk traffic, if another group at the same point that differs
/// in bulk traffic and queues alone has some.
pub(super) fn judged<'a>(groups: &'a [Group<'a>]) -> Vec<Judged<'a>> {
    let judge = |group: &'a Group<'a>| {
        let idle_line = groups.iter().position(|other| other.is_idle_line_of(group));
        let idle_runs = idle_line.map(|number| groups[number].runs.as_slice());
        Judged {
            group,
            assessments: assess(&group.runs, idle_runs),
            is_idle_line: groups.iter().any(|other| group.is_idle_line_of(other)),
            idle_line,
        }
    };
    groups.iter().map(judge).collect()
}

impl Judged<'_> {
    /// The grade of an application; `None` where it has none.
    pub(super) fn grade(&self, application: &str) -> Option<Grade> {
        self.assessments.iter().find(|found| found.application == application)?.grade()
    }

    /// A value that an application is graded by.
    pub(super) fn value(&self, application: &str, metric: &str) -> Option<f64> {
        let found = self.assessments.iter().find(|found| found.application == application)?;
        found.values.get(metric).copied().flatten()
    }

    /// Is it good on everything that is measured?
    pub(super) fn is_good_as_measured(&self) -> bool {
        self.assessments.iter().all(|found| found.grade() == Some(Grade::Good))
    }

    /// Is it good on every test, and is each loaded direction measured?
    pub(super) fn is_good(&self) -> bool {
        self.is_good_as_measured() && self.group.unwatched().is_empty()
    }

    /// Is it unknown what bulk traffic takes from those who would tell, since there is no idle line?
    pub(super) fn lacks_idle_line(&self) -> bool {
        let facts = self.group.runs[0];
        let would_tell = !facts.round_trips_ms.is_empty() || !facts.video_mbps.is_empty();
        self.idle_line.is_none() && would_tell && facts.bulk().next().is_some()
    }

    /// Its name in sentences.
    pub(super) fn name(&self) -> &str {
        if self.group.name.is_empty() { "this run" } else { self.group.name }
    }

    /// Does an application have another grade than in `other`, for a reason? What it rests on must differ by much
    /// and by more than the seeds alone may make: a value on the edge between two grades decides nothing.
    pub(super) fn is_told_apart(&self, other: &Self, application: &Application) -> bool {
        self.is_graded_apart(other, application, Difference::is_sure)
    }

    fn is_graded_apart(
        &self,
        other: &Self,
        application: &Application,
        counts: impl Fn(&Difference) -> bool,
    ) -> bool {
        let name = application.name;
        if OF_ITS_LINE.contains(&name) && self.group.runs[0].line != other.group.runs[0].line {
            return false;
        }
        let differs = |metric: &str| {
            let values = [self, other].map(|one| one.value(name, metric));
            let [Some(to), Some(from)] = values else { return values != [None, None] };
            let half_width = self.group.paired(other.group, |facts| facts.tested(name, metric));
            let found = Difference { from, to, half_width };
            found.is_beyond(HARDLY) && counts(&found)
        };
        let faults = [self, other].map(|one| one.fault(name));
        // What could not be measured is neither better nor worse.
        !faults.contains(&Some(None))
            && faults[0] != faults[1]
            && application.metrics().into_iter().any(|(metric, _)| differs(metric))
    }

    /// What an application is if it is not good; `Some(None)` if its grade is missing. Behind a fair queue that
    /// stands for nobody but those who fill it, the others tell what they notice of it.
    fn fault(&self, application: &str) -> Option<Option<Grade>> {
        let found = self.assessments.iter().find(|found| found.application == application)?;
        let is_own = |way: &Direction| {
            queue_of(*way).0 == application
                && self.group.runs[0].isolated.contains(way)
                && !self.group.is_unwatched(*way)
        };
        if Direction::BOTH.iter().any(is_own) {
            return None;
        }
        Some(found.grade()).filter(|grade| *grade != Some(Grade::Good))
    }

    /// Less for better grades: fewer poor ones, then fewer fair ones. What load adds is left out: games and calls
    /// have it in their own grades, and a line that is slow without load adds little.
    fn by_grades_of(&self, other: &Self, of_line: bool) -> Ordering {
        let is_meant = |one: &&Application| {
            one.name != UNDER_LOAD
                && OF_THE_LINE.contains(&one.name) == of_line
                && self.is_told_apart(other, one)
        };
        let count = |judged: &Self| {
            [Grade::Poor, Grade::Fair].map(|grade| {
                let those = APPLICATIONS.iter().filter(is_meant);
                those.filter(|one| judged.fault(one.name) == Some(Some(grade))).count()
            })
        };
        count(self).cmp(&count(other))
    }

    /// The first thing that users notice and that is much worse in one of two settings, where it is not good in
    /// both: less if it is better here.
    fn by_complaints(&self, other: &Self) -> Ordering {
        let is_good = |one: &Self, name: &str| one.grade(name) == Some(Grade::Good);
        let is_meant = |measure: &&Measure| {
            let application = application_of(measure);
            measure.decides()
                && !measure.is_far_tail()
                && measure.is_noticed()
                && application.is_none_or(|name| !is_good(self, name) || !is_good(other, name))
        };
        let mut found = MEASURES.iter().filter(is_meant).filter_map(|measure| {
            let found = self.group.difference(measure, other.group)?;
            found.is_beyond(HARDLY).then(|| found.is_worse_by(0.0, measure))
        });
        match found.next() {
            None => Ordering::Equal,
            Some(true) => Ordering::Greater,
            Some(false) => Ordering::Less,
        }
    }

    /// Does it do worse in its means, whether the seeds show it or not: in a grade, or else in the first deciding
    /// measure that differs by much?
    fn seems_worse(&self, other: &Self, deciding: &[&Measure]) -> bool {
        let has_worse_grade = |one: &Self, other: &Self| {
            APPLICATIONS.iter().any(|of| {
                of.name != UNDER_LOAD
                    && one.fault(of.name).flatten() > other.fault(of.name).flatten()
                    && one.is_graded_apart(other, of, |_| true)
            })
        };
        let by_measure = || {
            let mut found = deciding.iter().filter_map(|measure| {
                let [to, from] = [self, other].map(|one| one.group.mean(measure.key));
                let found = Difference { from: from?, to: to?, half_width: None };
                (differs(measure, found.from, found.to) && found.is_beyond(HARDLY))
                    .then(|| found.is_worse_by(0.0, measure))
            });
            found.next().unwrap_or(false)
        };
        match (has_worse_grade(self, other), has_worse_grade(other, self)) {
            (worse, better) if worse != better => worse,
            _ => by_measure(),
        }
    }

    /// Less for what is better before all measures: grades of what users notice, then what they complain of, then
    /// grades of queues and rates.
    pub(super) fn by_grades(&self, other: &Self) -> Ordering {
        self.by_grades_of(other, false)
            .then_with(|| self.by_complaints(other))
            .then_with(|| self.by_grades_of(other, true))
    }

    /// Less for what is better: the grades decide, then the decisive measure.
    pub(super) fn rank(&self, other: &Self) -> Ordering {
        let by_measure = match decisive(self.group, other.group) {
            None => Ordering::Equal,
            Some((measure, found)) if found.is_worse_by(0.0, measure) => Ordering::Greater,
            Some(_) => Ordering::Less,
        };
        self.by_grades(other).then(by_measure)
    }
}

/// The measure that decides between two groups with equal grades: the first one that differs by much, or else
/// the first one that differs at all.
pub(super) fn decisive(
    group: &Group<'_>,
    other: &Group<'_>,
) -> Option<(&'static Measure, Difference)> {
    let differing = deciding(&[group, other]).into_iter();
    let found: Vec<_> = differing.filter_map(|m| Some((m, group.difference(m, other)?))).collect();
    found.iter().find(|(_, found)| found.is_beyond(HARDLY)).or(found.first()).copied()
}

/// The measures that decide between groups with equal grades, the first one first: what users notice, then
/// the far tails of it, then the delay of queues and rates, that in which the groups differ most before the others.
/// All groups have all of these, of the same traffic. The queue of a direction that games or calls watch does not
/// decide unless it stands: they tell what is noticed of it.
pub(super) fn deciding(groups: &[&Group<'_>]) -> Vec<&'static Measure> {
    let values = |measure: &Measure| -> Option<Vec<f64>> {
        groups.iter().map(|group| group.mean(measure.key)).collect()
    };
    let span = |measure: &Measure| {
        let values = values(measure).unwrap_or_default();
        let most = values.iter().copied().fold(f64::MIN, f64::max);
        let least = values.iter().copied().fold(f64::MAX, f64::min);
        (most - least) / most.max(f64::MIN_POSITIVE)
    };
    let mut found: Vec<&Measure> = MEASURES
        .iter()
        .filter(|m| m.decides() && is_comparable(m, groups) && values(m).is_some())
        .filter(|m| {
            m.of_queues()
                .is_none_or(|way| groups.iter().any(|g| g.is_unwatched(way) || g.stands(way)))
        })
        .collect();
    found.sort_by(|one, other| {
        let of_line = |m: &Measure| m.of_bulk().is_some() || m.of_queues().is_some();
        let place = |m: &Measure| (of_line(m), m.is_far_tail());
        let by_span =
            if of_line(one) { span(other).total_cmp(&span(one)) } else { Ordering::Equal };
        place(one).cmp(&place(other)).then(by_span)
    });
    found
}

/// The best of several settings, by their numbers.
#[derive(Default)]
pub(super) struct Best {
    /// Those that do equally well.
    pub alike: Vec<usize>,
    /// Those that seem to do worse, of which the seeds do not show it.
    pub unsure: Vec<usize>,
}

/// The best of some groups, in their order. With several seeds, what is only too uneven to be shown worse does not
/// count as best.
pub(super) fn best_of(all: &[Judged<'_>], loaded: &[usize]) -> Best {
    let alike = not_worse(all, loaded);
    if loaded.iter().any(|number| all[*number].group.runs.len() < 2) {
        return Best { alike, unsure: Vec::new() };
    }
    let groups: Vec<&Group<'_>> = alike.iter().map(|number| all[*number].group).collect();
    let deciding = deciding(&groups);
    let seems_worse = |one: usize, other: usize| all[one].seems_worse(&all[other], &deciding);
    let better = |lead, number| if seems_worse(lead, number) { number } else { lead };
    let Some(lead) = alike.iter().copied().reduce(better) else { return Best::default() };
    let (unsure, alike) = alike.into_iter().partition(|number| seems_worse(*number, lead));
    Best { alike, unsure }
}

/// Those with the best grades, and of these those that no deciding measure shows to be worse, one measure after the
/// other, first by much and then at all. All of them if nothing differs.
fn not_worse(all: &[Judged<'_>], loaded: &[usize]) -> Vec<usize> {
    let better = |one: usize, other: usize| {
        if all[other].by_grades(&all[one]) == Ordering::Less { other } else { one }
    };
    let Some(top) = loaded.iter().copied().reduce(better) else { return Vec::new() };
    let is_best = |number: &usize| all[top].by_grades(&all[*number]) != Ordering::Less;
    let mut best: Vec<usize> = loaded.iter().copied().filter(is_best).collect();
    let groups: Vec<&Group<'_>> = best.iter().map(|number| all[*number].group).collect();
    let deciding = deciding(&groups);
    for (share, measure) in
        [HARDLY, SAME].into_iter().flat_map(|share| deciding.iter().map(move |m| (share, *m)))
    {
        let mean = |number: usize| all[number].group.mean(measure.key).unwrap_or_default();
        let is_better = |one: f64, other: f64| match measure.better {
            Better::Lower => one < other,
            Better::Higher => one > other,
        };
        let top = best
            .iter()
            .copied()
            .reduce(|top, number| if is_better(mean(number), mean(top)) { number } else { top });
        let Some(top) = top else { break };
        best.retain(|number| {
            let found = all[*number].group.difference(measure, all[top].group);
            found.is_none_or(|found| !found.is_beyond(share))
        });
    }
    best
}

/// Do two values of a measure differ by more than 2 %, by more than the last digit that tables show and by more
/// than nobody notices?
fn differs(measure: &Measure, one: f64, another: f64) -> bool {
    let resolution = 10f64.powi(-i32::from(measure.digits));
    let most = one.abs().max(another.abs());
    let least = (SAME * most).max(resolution).max(measure.unnoticed);
    (one - another).abs() > least
}

/// Is a measure of the same traffic in all these groups? Rates are sums over all transfers.
pub(super) fn is_comparable(measure: &Measure, groups: &[&Group<'_>]) -> bool {
    let Some((sort, direction)) = measure.of_bulk() else { return true };
    let counts: BTreeSet<u32> =
        groups.iter().map(|group| group.transfers(sort, direction)).collect();
    counts.len() <= 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(from: f64, to: f64) -> Difference {
        Difference { from, to, half_width: None }
    }

    #[test]
    fn a_difference_is_beyond_a_share_of_the_greater_value() {
        for (from, to, want) in [
            (100.0, 90.0, false),
            (100.0, 89.0, true),
            (90.0, 100.0, false),
            (89.0, 100.0, true),
            (-100.0, -90.0, false),
            (-100.0, -89.0, true),
            (0.0, 0.0, false),
        ] {
            assert_eq!(change(from, to).is_beyond(0.1), want, "{from} {to}");
        }
    }

    #[test]
    fn a_difference_is_sure_beyond_half_of_its_interval() {
        for (from, to, half_width, want) in [
            (10.0, 15.0, None, true),
            (10.0, 15.0, Some(5.0), false),
            (10.0, 15.0, Some(4.9), true),
            (15.0, 10.0, Some(5.0), false),
            (15.0, 10.0, Some(4.9), true),
        ] {
            assert_eq!(
                Difference { from, to, half_width }.is_sure(),
                want,
                "{from} {half_width:?}"
            );
        }
    }

    #[test]
    fn a_change_is_worse_by_a_share_of_what_was() {
        for (key, from, to, share, want) in [
            ("game_rtt_p90_ms", 100.0, 105.0, 0.05, false),
            ("game_rtt_p90_ms", 100.0, 106.0, 0.05, true),
            ("game_rtt_p90_ms", 100.0, 80.0, 0.05, false),
            ("game_rtt_p90_ms", 100.0, 100.0, 0.0, false),
            ("upload_mbps", 100.0, 95.0, 0.05, false),
            ("upload_mbps", 100.0, 94.0, 0.05, true),
            ("upload_mbps", 100.0, 120.0, 0.05, false),
            ("upload_mbps", -100.0, -106.0, 0.05, true),
        ] {
            let found = change(from, to).is_worse_by(share, Measure::named(key));
            assert_eq!(found, want, "{key} {from} {to}");
        }
    }

    #[test]
    fn values_differ_by_two_percent_a_digit_and_what_is_noticed() {
        for (key, one, other, want) in [
            ("game_rtt_p90_ms", 100.0, 102.0, false),
            ("game_rtt_p90_ms", 102.1, 100.0, true),
            ("game_rtt_p90_ms", 1.0, 1.095, false),
            ("game_rtt_p90_ms", 1.0, 1.11, true),
            // 5 ms of a queue, a percent of losses and a tenth of a second are not noticed.
            ("upstream_queue_p99_ms", 10.0, 15.0, false),
            ("upstream_queue_p99_ms", 10.0, 15.1, true),
            ("page_load_median_s", 1.0, 1.09, false),
            ("page_load_median_s", 1.0, 1.11, true),
            // Up to a percent of losses all are equal, more than that by as much.
            ("game_loss_percent", 0.0, 1.0, false),
            ("game_loss_percent", 0.0, 1.01, true),
            ("game_loss_percent", 1.5, 2.25, false),
        ] {
            assert_eq!(differs(Measure::named(key), one, other), want, "{key} {one} {other}");
        }
    }

    #[test]
    fn measures_are_of_the_applications_that_have_grades() {
        for (key, want) in [
            ("game_loss_percent", Some(GAME)),
            ("game_rtt_p90_ms", Some(GAME)),
            ("voice_mos", Some(CALL)),
            ("page_load_median_s", Some(PAGE)),
            ("video_stalled_percent", Some(VIDEO)),
            ("video_rate_mbps", Some(VIDEO_RATE)),
            ("video_call_latency_p90_ms", Some(VIDEO_CALL)),
            ("upstream_queue_p99_ms", Some(UPSTREAM_QUEUE)),
            ("downstream_queue_p50_ms", Some(DOWNSTREAM_QUEUE)),
            ("response_median_s", None),
            ("upload_mbps", None),
            ("low_latency_queue_p99_ms", None),
        ] {
            assert_eq!(application_of(Measure::named(key)), want, "{key}");
        }
    }
}
