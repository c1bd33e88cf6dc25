//! Which settings do best: a strict partial order by counts of grades, then by steps inside them. Where these are
//! equal, queues that games and calls watch decide in the same way. It knows no names, and of two settings nothing but
//! their own levels.

use std::cmp::Ordering::{self, Equal, Less};
use std::collections::BTreeSet;
use std::ops::Range;

use serde::Serialize;

use super::facts::Facts;
use super::grades::{Assessment, Component, Level};
use super::groups::Judged;
use super::measures::{MEASURES, Measure};
use super::thresholds::{
    APPLICATIONS, Application, Grade, KEPT_CALL_RATE, KEPT_RATE, NAMED, SHARE, Shown, UNDER_LOAD,
    waits_of,
};
use crate::shares::Share;
use crate::words::{apart, digits, distinct, grouped};

/// What the best setting costs against the reference: an entry of an application that has a worse grade with it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Price {
    /// The application.
    pub application: &'static str,
    /// The entry; empty for what is waited.
    pub traffic: String,
    /// Its grade with the reference.
    pub from: Grade,
    /// Its grade with the best.
    pub to: Grade,
    /// The number of a setting that is not behind the reference there.
    pub alternative: Option<usize>,
}

/// Which settings do best under one load. All numbers are those of groups.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Answer {
    /// The settings that are compared.
    pub settings: Vec<usize>,
    /// Those that nothing is before.
    pub best: Vec<usize>,
    /// Do these equally well in all steps?
    pub is_alike: bool,
    /// The first of the others, with which the best are compared.
    pub reference: Option<usize>,
    /// What the best cost against it.
    pub price: Vec<Price>,
    /// On what it only just rests, in a sentence.
    pub hair: Option<String>,
    /// Those of which the seeds do not show whether they are among the best.
    pub unsure: Vec<usize>,
}

impl Answer {
    /// Is there a best one, or several that do equally well, and not all?
    pub(super) fn is_decided(&self) -> bool {
        self.is_alike && self.best.len() < self.settings.len()
    }
}

/// The levels of a setting in all components that are compared; `None` where that is not known.
pub(super) type Standing = Vec<Option<Level>>;

/// The settings of an answer, and in what they are compared.
pub(super) struct Question<'a, 'b> {
    pub all: &'a [Judged<'b>],
    /// The numbers of the settings.
    pub settings: Vec<usize>,
    pub components: Vec<Component<'a>>,
    /// So many of these are noticed; the others decide where the grades of these are equal in number.
    noticed: usize,
}

impl<'a, 'b> Question<'a, 'b> {
    pub(super) fn new(all: &'a [Judged<'b>], settings: &[usize]) -> Self {
        let facts = |number: &usize| all[*number].group.runs[0];
        let first = facts(&settings[0]);
        let is_of_first = |one: &Facts| {
            one.roles.line == first.roles.line || one.carried_mbit == first.carried_mbit
        };
        let is_one_line = settings.iter().all(|number| is_of_first(facts(number)));
        // A share of its line compares nothing between lines.
        let is_share = |name| {
            [SHARE, KEPT_RATE, KEPT_CALL_RATE].contains(&Application::named(name).good[0].metric)
        };
        let of = |watched: bool| -> Vec<Component<'a>> {
            let uses = APPLICATIONS.iter().map(|one| one.name).filter(|name| {
                (is_one_line || !is_share(name)) && all[settings[0]].watched(name) == Some(watched)
            });
            let entries = settings.iter().flat_map(|number| &all[*number].entries);
            let known = distinct(entries.map(Assessment::component));
            uses.flat_map(|name| known.iter().copied().filter(move |one| one.0 == name)).collect()
        };
        let components = of(false);
        let noticed = components.len();
        let components = [components, of(true)].concat();
        Self { all, settings: settings.to_vec(), components, noticed }
    }

    /// Are lines compared, and not settings of one?
    pub(super) fn is_between_lines(&self) -> bool {
        let line = |number: &usize| self.all[*number].group.runs[0].roles.line;
        self.settings.windows(2).any(|pair| line(&pair[0]) != line(&pair[1]))
    }

    /// The settings with which the best are compared: between lines those of other lines than the first of them.
    pub(super) fn rivals(&self, best: &[usize]) -> Vec<usize> {
        let line = |number: usize| self.all[number].group.runs[0].roles.line;
        let is_other = |one: usize| !self.is_between_lines() || line(one) != line(best[0]);
        self.settings.iter().copied().filter(|one| !best.contains(one) && is_other(*one)).collect()
    }

    /// Is it a rate without a grade that compares? It decides nothing, and is named where it differs.
    pub(super) fn is_rate(&self, measure: &Measure, best: usize) -> bool {
        let mut its = self.components.iter().filter(|one| one.0 == measure.of.bulk);
        let is_graded = |one| self.of(best, one).is_some_and(|found| found.grade.is_some());
        !measure.of.bulk.is_empty() && !its.any(is_graded)
    }

    /// The rates of which another line has more than each of the best, with the setting that has most.
    pub(super) fn lost_rates(&self, best: &[usize]) -> Vec<(&'static Measure, usize)> {
        let of = |setting: usize| self.all[setting].group;
        let lost = |measure: &'static Measure| {
            let mbps = |one: &usize| of(*one).mean(measure.key).unwrap_or_default();
            let most = self.rivals(best).into_iter().max_by(|a, b| mbps(a).total_cmp(&mbps(b)))?;
            let differs = |one: &usize| of(*one).named_difference(measure, of(most));
            let is_less = |one: &usize| differs(one).is_some_and(|(from, to)| to < from);
            best.iter().all(is_less).then_some((measure, most))
        };
        let rates = MEASURES.iter().filter(|one| self.is_rate(one, best[0]));
        rates.filter_map(lost).filter(|_| self.is_between_lines()).collect()
    }

    /// The components that decide between two standings: by grades those that are noticed first, and by steps too.
    fn deciding(&self, one: &Standing, other: &Standing) -> Range<usize> {
        let [noticed, watched] = [false, true].map(|stage| self.compared(one, other, stage));
        let are_equal = one[..self.noticed] == other[..self.noticed];
        let is_later = noticed == Equal && (are_equal || watched != Equal);
        if is_later { self.noticed..one.len() } else { 0..self.noticed }
    }

    /// Those that are noticed, or those that others watch.
    pub(super) fn of_stage(&self, are_watched: bool) -> &[Component<'a>] {
        let (noticed, watched) = self.components.split_at(self.noticed);
        if are_watched { watched } else { noticed }
    }

    /// What a setting has of a component.
    pub(super) fn of(&self, setting: usize, component: &Component<'_>) -> Option<&'a Assessment> {
        self.all[setting].entries.iter().find(|one| one.component() == *component)
    }

    /// What a setting has of a component that is a transfer.
    pub(super) fn share(&self, setting: usize, component: &Component<'_>) -> Option<&'a Share> {
        self.of(setting, component)?.share.as_ref()
    }

    /// Is it due nothing, since it leaves the line to others?
    pub(super) fn yields(&self, component: &Component<'_>) -> bool {
        let mut shares = self.settings.iter().filter_map(|one| self.share(*one, component));
        shares.any(Share::yields)
    }

    pub(super) fn level(&self, setting: usize, component: &Component<'_>) -> Option<Level> {
        self.of(setting, component)?.level()
    }

    /// Is a column better with one setting than with another? Where it is of something with a grade, that has a better level
    /// too; else it differs by much.
    pub(super) fn is_better(&self, column: &Measure, one: usize, other: usize) -> bool {
        let [group, of_other] = [one, other].map(|number| self.all[number].group);
        let level = |number: usize| self.all[number].assessment(column.of.graded)?.level();
        let levels = level(one).zip(level(other)).filter(|_| !self.is_between_lines());
        let values = match levels {
            Some((ahead, behind)) if ahead >= behind => None,
            Some(_) => of_other.mean(column.key).zip(group.mean(column.key)),
            None => group.named_difference(column, of_other),
        };
        values.is_some_and(|(from, to)| from != to && !column.is_worse(from, to))
    }

    /// Does a column tell what somebody notices? Where those who wait in a direction tell it, its queues do not: they may hold
    /// packets of bulk traffic that wait behind each other.
    pub(super) fn tells(&self, column: &Measure) -> bool {
        let is_graded = |one: &usize| self.all[*one].assessment(column.of.graded).is_some();
        column.queues.is_none() || self.settings.iter().any(is_graded)
    }

    fn standing(&self, setting: usize) -> Standing {
        self.components.iter().map(|one| self.level(setting, one)).collect()
    }

    /// The settings that nothing is before.
    pub(super) fn best(&self) -> Vec<usize> {
        let standings: Vec<_> = self.settings.iter().map(|one| self.standing(*one)).collect();
        self.first_of(&standings)
    }

    /// The settings that nothing is before, with these standings.
    fn first_of(&self, standings: &[Standing]) -> Vec<usize> {
        let is_first = |one: &Standing| !standings.iter().any(|other| self.are_ordered(other, one));
        let all = self.settings.iter().zip(standings);
        all.filter(|(_, one)| is_first(one)).map(|(setting, _)| *setting).collect()
    }

    /// Is the first before the other? Fewer uses that fail decide, then fewer poor, then fewer fair ones, then so of what is
    /// watched; with equal counts, being nowhere behind and somewhere ahead. What is known of one of them alone may be anything in
    /// the other.
    fn are_ordered(&self, one: &Standing, other: &Standing) -> bool {
        let [noticed, watched] = [false, true].map(|stage| self.compared(one, other, stage));
        match noticed.then(watched) {
            Equal => {
                let place = self.deciding(one, other);
                is_ahead(&one[place.clone()], &other[place])
            }
            order => order == Less,
        }
    }

    /// The counts of grades of the first, where they may be as bad as any, beside those of the other, which may be as good as any.
    fn compared(&self, one: &Standing, other: &Standing, are_watched: bool) -> Ordering {
        let place = if are_watched { self.noticed..one.len() } else { 0..self.noticed };
        let grades = |of: &Standing| -> Vec<Option<Grade>> {
            // What yields hides no grade of the others.
            let key = |at: usize| (self.components[at].0, self.yields(&self.components[at]));
            let all = place.clone().map(|at| (key(at), of[at]));
            let worst = |(_, own): (_, Vec<Option<Level>>)| {
                own.into_iter().collect::<Option<Vec<_>>>()?.into_iter().max().map(|it| it.0)
            };
            grouped(all).into_iter().map(worst).collect()
        };
        let (own, others) = (grades(one), grades(other));
        counts(&own, &others, Grade::Fails).cmp(&counts(&others, &own, Grade::Good))
    }

    /// Are settings equal in all steps?
    pub(super) fn are_alike(&self, settings: &[usize]) -> bool {
        settings.windows(2).all(|pair| self.standing(pair[0]) == self.standing(pair[1]))
    }

    /// In what a setting is behind the best of what decides between them.
    fn behind(&self, best: usize, other: usize) -> Vec<usize> {
        let (ahead, behind) = (self.standing(best), self.standing(other));
        let is_behind = |place: &usize| {
            ahead[*place].zip(behind[*place]).is_some_and(|(ahead, behind)| ahead < behind)
        };
        self.deciding(&ahead, &behind).filter(is_behind).collect()
    }

    /// Of that the worst, with the best and with the other setting.
    pub(super) fn decisive(&self, best: usize, other: usize) -> Option<[&'a Assessment; 2]> {
        let places = self.behind(best, other).into_iter();
        let of = |place: usize| {
            let component = &self.components[place];
            Some([self.of(best, component)?, self.of(other, component)?])
        };
        places.filter_map(of).max_by_key(|[_, behind]| behind.level())
    }

    /// What only just decides between the best and another setting, in a sentence: the first of all that decides, if
    /// with equal values where these differ by no more than a tenth the best is no longer before the other.
    pub(super) fn hair(&self, best: usize, other: usize) -> Option<String> {
        let (ahead, behind) = (self.standing(best), self.standing(other));
        let mut moved = behind.clone();
        for place in self.behind(best, other) {
            let [of_best, of_other] = [best, other].map(|it| self.of(it, &self.components[place]));
            let near = |metric: &str, value: f64| {
                let of_best = of_best.and_then(|one| one.value(metric));
                of_best.filter(|best| is_near(*best, value)).unwrap_or(value)
            };
            moved[place] = of_other?.level_with(near);
            if moved[place] > ahead[place] {
                return None;
            }
        }
        if self.are_ordered(&ahead, &moved) {
            return None;
        }
        let [ahead_in, behind_in] = self.decisive(best, other)?;
        let graded = behind_in.graded;
        // The bound that the value only just misses and that of the best meets.
        let just_missed = |shown: &'static Shown| {
            let [value, of_best] = [behind_in, ahead_in].map(|one| one.measured(shown.metric));
            let (value, of_best) = value.zip(of_best).filter(|(one, two)| is_near(*one, *two))?;
            let place = value.min(of_best)..=value.max(of_best);
            let mut bounds = graded.bounds(shown.metric).filter(|it| *it != value);
            let bound = bounds.find(|bound| place.contains(bound))?;
            let texts = apart(&[value, of_best, bound]);
            ahead_in.is_ahead(behind_in, shown.metric).then_some((shown, texts, bound))
        };
        let (shown, texts, bound) = graded.values.iter().find_map(just_missed)?;
        let [best, other] = [best, other].map(|number| self.all[number].name());
        Some(format!(
            "By a hair: {} is {}{} with {other} and {} with {best}, and the bound of {} is between them.",
            behind_in.label(shown),
            texts[0],
            shown.unit,
            texts[1],
            digits(bound)
        ))
    }

    /// What users notice with a setting, also where it compares nothing.
    pub(super) fn noticed(&self, setting: usize) -> impl Iterator<Item = &'a Assessment> {
        let setting = &self.all[setting];
        let is_noticed = |one: &&Assessment| setting.watched(one.application) == Some(false);
        setting.assessments.iter().filter(is_noticed)
    }

    /// The settings that would be among the best, or would be no longer, if a mean were elsewhere in its interval:
    /// where that holds a bound, this one grade moves and the question is asked again.
    pub(super) fn unsure(&self, best_now: &[usize]) -> Vec<usize> {
        let standings: Vec<_> = self.settings.iter().map(|one| self.standing(*one)).collect();
        let mut unsure = BTreeSet::new();
        let all = (0..self.settings.len())
            .flat_map(|of| (0..self.components.len()).map(move |c| (of, c)));
        for ((place, number), sign) in all.flat_map(|one| [(one, -1.0), (one, 1.0)]) {
            let found = self.of(self.settings[place], &self.components[number]);
            let half = |metric: &str| *found?.half_widths.get(metric)?;
            let at_end = |of: &str, value: f64| value + sign * half(of).unwrap_or_default();
            let moved = found.and_then(|one| one.level_with(at_end));
            if moved != standings[place][number] {
                let mut standings = standings.clone();
                standings[place][number] = moved;
                let then = self.first_of(&standings);
                let is_changed = |one: &&usize| then.contains(one) != best_now.contains(one);
                unsure.extend(self.settings.iter().filter(is_changed));
            }
        }
        unsure.into_iter().collect()
    }
}

/// Do two values differ by so little that they may be on one side of a bound in another run?
fn is_near(one: f64, other: f64) -> bool {
    (one - other).abs() <= NAMED * one.abs().max(other.abs())
}

impl Judged<'_> {
    /// Does it decide only where the grades of all else are equal in number: what load adds, and what is waited where games and calls
    /// watch it? `None` if it never does: what is waited is in the grades of traffic with grades, unless bulk traffic makes it:
    /// then the next game would feel it.
    fn watched(&self, application: &str) -> Option<bool> {
        let loads = &self.group.runs[0].loads;
        match waits_of(application) {
            Some((way, _)) => loads.iter().find(|(of, _)| *of == way).map(|(_, watched)| *watched),
            None => Some(application == UNDER_LOAD),
        }
    }
}

/// How many uses fail, are poor, are fair, if one that only the others know is as good as that.
fn counts(own: &[Option<Grade>], others: &[Option<Grade>], unknown: Grade) -> [usize; 3] {
    let pairs = own.iter().zip(others);
    let grades = pairs.map(|(own, other)| own.or(other.map(|_| unknown)));
    [Grade::Fails, Grade::Poor, Grade::Fair]
        .map(|grade| grades.clone().filter(|one| *one == Some(grade)).count())
}

/// Is one nowhere behind the other and somewhere ahead, whatever that is which is not known?
fn is_ahead(one: &[Option<Level>], other: &[Option<Level>]) -> bool {
    let pairs = || one.iter().copied().zip(other.iter().copied());
    let is_never_behind = |(one, other): (Option<Level>, Option<Level>)| match (one, other) {
        (None, other) => other.is_none(),
        (Some(one), None) => one == (Grade::Good, 0),
        (one, other) => one <= other,
    };
    let ahead = |(one, other): (Option<Level>, Option<Level>)| one.zip(other);
    pairs().all(is_never_behind) && pairs().filter_map(ahead).any(|(one, other)| one < other)
}
