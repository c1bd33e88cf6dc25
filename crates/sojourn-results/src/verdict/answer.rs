//! The question that results answer, and the answer in sentences. The first sentence names the setting,
//! by how much it is better, and at what cost.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::grades::{Assessment, Component};
use super::groups::{Group, Judged, judged};
use super::measures::{MEASURES, Measure};
use super::order::{Answer, Price, Question};
use super::round_trip::RoundTrip;
use super::sentences::{
    DIFFERENCES_AT_MOST, NAMED_AT_MOST, bulk_words, coupling, graded_clauses, names, remarks,
    sentences, taken,
};
use super::thresholds::{
    ADDED_DELAY, APPLICATIONS, Application, CALL, CLOUD_GAME, GAME, Grade, NAMED, SAME, UNDER_LOAD,
    VIDEO_CALL, waits_of,
};
use crate::causes::Cause;
use crate::letters::letter;
use crate::over_seeds::Value;
use crate::shares::Share;
use crate::words::{
    around, capitalised, digits, distinct, factor, from_to, grouped, listed, quoted,
};
use sojourn_engine::record::Part;
use sojourn_scenario::{IDLE_LINE, WITHOUT_BULK};

/// From this ratio to the idle line on, a sentence gives the ratio.
const NAMED_AS_FACTOR: f64 = 1.5;

/// Of a game's quantiles that which names an idle line is named, unless the load changes another so many times more.
const PLAINER: f64 = 1.5;

/// What explains so much of a difference explains it.
const MOST: f64 = 0.5;
/// What the parts are of until bandwidth is granted.
const GRANTS: [Part; 3] = [Part::RequestWait, Part::Contention, Part::GrantWait];
/// Why traffic beside an upload may be faster than alone (docs/plant.md).
const SINCE_GRANTS: &str = ", since the modem has grants already";

/// What nobody knows without one.
const WITHOUT_IDLE_LINE: &str = "Not measured, since there is no idle line: what uploads and downloads take from the others. A \
     run adds one if baseline = true, a sweep none; a variant whose bulk traffic begins after the end is one.";
/// What nobody knows of an emulation.
const EMULATED: &str = "Not measured, since an emulation has no idle line: what uploads and downloads take from the others. A \
     replay of its record adds one.";

/// A group with its measures and grades.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Graded {
    /// Its name; empty for a single run.
    pub name: String,
    /// Is it the line of another group without that group's bulk traffic?
    pub is_idle_line: bool,
    /// The number of its idle line among the groups.
    pub idle_line: Option<usize>,
    /// Its grades, in the order of [`APPLICATIONS`].
    pub assessments: Vec<Assessment>,
    /// What each transfer, torrent and stream of data gets.
    pub transfers: Vec<Transfer>,
    /// Its measures by key, in means over seeds.
    pub measures: BTreeMap<&'static str, Value>,
    /// What they are more than on its idle line.
    pub over_idle_line: BTreeMap<&'static str, f64>,
    /// The round trip of games, idle and under load; `None` on an idle line.
    pub round_trip: Option<RoundTrip>,
    /// Where the time goes of what users notice, in a sentence for each traffic entry, the longest first.
    pub causes: Vec<String>,
}

/// What a transfer, a torrent or a stream of data gets.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Transfer {
    /// Its share of its part.
    #[serde(flatten)]
    pub share: Share,
    /// Its grade over seeds; `None` if its share is not known.
    pub grade: Option<Grade>,
}

/// What runs come to.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Verdict {
    /// The question that they answer.
    pub question: String,
    /// The answer; its first sentence suffices.
    pub sentences: Vec<String>,
    /// A sentence for each direction that bulk traffic loads while nothing there measures the delay.
    pub unwatched: Vec<String>,
    /// Names the traffic without a grade, and what is unknown without an idle line, in sentences; may be empty.
    pub ungraded: String,
    /// The number of the group that does best, the first of several that do equally well; `None` where
    /// there is nothing to choose, all do equally well, or several do best in different things.
    pub best: Option<usize>,
    /// The numbers of all that do equally well with it.
    pub alike: Vec<usize>,
    /// The number of the group that it is compared with.
    pub reference: Option<usize>,
    /// What it costs against that.
    pub price: Vec<Price>,
    /// The answer for each load and, where lines differ, for each line with several settings and between lines.
    pub answers: Vec<Answer>,
    /// The groups, in the order that they were given in.
    pub groups: Vec<Graded>,
    /// What is graded in any of them, with thresholds and sources.
    pub applications: Vec<Application>,
}

/// Judges groups of runs; `keys` were swept.
///
/// # Panics If there is no group, or one without runs.
pub fn verdict(groups: &[Group<'_>], keys: &[String]) -> Verdict {
    assert!(!groups.is_empty() && groups.iter().all(|group| !group.runs.is_empty()));
    let all = judged(groups);
    let loaded: Vec<usize> = (0..all.len()).filter(|number| !all[*number].is_idle_line).collect();
    let questions = questions(&all, &loaded);
    let answers: Vec<Answer> = questions.iter().map(answer).collect();
    let sentences = match loaded.as_slice() {
        [only] => of_one(&all, *only),
        _ => of_several(&questions, &answers, keys),
    };
    let chosen = answers.first().filter(|one| answers.len() == 1 && one.is_decided());
    let unwatched = loaded.iter().flat_map(|number| &all[*number].group.runs[0].unwatched);
    let there = |a: &&Application| all.iter().any(|j| j.assessment(a.name).is_some());
    Verdict {
        question: question(&all, &loaded, keys),
        sentences,
        unwatched: BTreeSet::from_iter(unwatched.map(|one| one.warning().message))
            .into_iter()
            .collect(),
        ungraded: ungraded(&all, &loaded),
        best: chosen.and_then(|one| one.best.first().copied()),
        alike: chosen.map(|one| one.best.clone()).unwrap_or_default(),
        reference: chosen.and_then(|one| one.reference),
        price: chosen.map(|one| one.price.clone()).unwrap_or_default(),
        answers,
        groups: all.iter().map(|one| graded(one, &all)).collect(),
        applications: APPLICATIONS.iter().filter(there).cloned().collect(),
    }
}

/// Of each load a question about the settings of each line that has several and, beside several lines, one about the best
/// of each: no setting is left out, and a worse one of a line changes nothing between lines.
fn questions<'a, 'b>(all: &'a [Judged<'b>], loaded: &[usize]) -> Vec<Question<'a, 'b>> {
    let roles = |number: &usize| all[*number].group.runs[0].roles;
    let by = |numbers: &[usize], of: &dyn Fn(&usize) -> u64| {
        grouped(numbers.iter().map(|one| (of(one), *one))).into_iter().map(|(_, own)| own)
    };
    let of_load = |settings: Vec<usize>| {
        let lines = by(&settings, &|one| roles(one).line);
        let lines: Vec<_> = lines.map(|own| Question::new(all, &own)).collect();
        let best: Vec<usize> = lines.iter().flat_map(Question::best).collect();
        let are_several = lines.len() > 1;
        let own = lines.into_iter().filter(move |one| !are_several || one.settings.len() > 1);
        own.chain(are_several.then(|| Question::new(all, &best)))
    };
    by(loaded, &|one| roles(one).load).flat_map(of_load).collect()
}

fn answer(question: &Question<'_, '_>) -> Answer {
    let settings = question.settings.clone();
    let best = question.best();
    let others = question.rivals(&best);
    let is_alike = question.are_alike(&best);
    let reference = question.lost_rates(&best).first().map(|one| one.1).or(others.first().copied());
    let paid = reference.filter(|_| is_alike);
    let price = paid.map_or_else(Vec::new, |against| price(question, best[0], against, &others));
    let hair = others.iter().filter(|_| is_alike).find_map(|other| question.hair(best[0], *other));
    let unsure = question.unsure(&best);
    Answer { settings, best, is_alike, reference, price, hair, unsure }
}

/// In what the best has a worse grade than the reference, entry by entry, and who has not.
fn price(question: &Question<'_, '_>, best: usize, against: usize, others: &[usize]) -> Vec<Price> {
    let of_entry = |component: &Component<'_>| {
        let is_watched = question.of_stage(true).contains(component);
        let grade = |setting: usize| question.of(setting, component)?.grade;
        let (from, to) = (grade(against)?, grade(best)?);
        let keeps = |one: &usize| !is_watched && grade(*one).is_some_and(|it| it <= from);
        let level = |one: &usize| question.level(*one, component);
        let alternative = others.iter().copied().filter(keeps).min_by_key(level);
        let (application, traffic) = (component.0, component.1.to_owned());
        (to > from).then_some(Price { application, traffic, from, to, alternative })
    };
    question.components.iter().filter_map(of_entry).collect()
}

fn graded(one: &Judged<'_>, all: &[Judged<'_>]) -> Graded {
    let measures = |of: &Judged<'_>| -> BTreeMap<&'static str, Value> {
        MEASURES.iter().filter_map(|m| Some((m.key, of.group.value(m)?))).collect()
    };
    let idle_line = one.idle_line.map(|number| &all[number]);
    let (own, idle) = (measures(one), idle_line.map(measures).unwrap_or_default());
    let transfer = |of: &Assessment| Some(Transfer { share: of.share.clone()?, grade: of.grade });
    let more =
        |(key, value): (&&'static str, &Value)| Some((*key, value.mean? - idle.get(key)?.mean?));
    Graded {
        name: one.group.name.to_owned(),
        is_idle_line: one.is_idle_line,
        idle_line: one.idle_line,
        assessments: one.assessments.clone(),
        transfers: one.entries.iter().filter_map(transfer).collect(),
        over_idle_line: own.iter().filter_map(more).collect(),
        round_trip: RoundTrip::of(one, idle_line).filter(|_| !one.is_idle_line),
        measures: own,
        causes: one.group.causes().iter().map(Cause::sentence).collect(),
    }
}

// The question.

fn question(all: &[Judged<'_>], loaded: &[usize], keys: &[String]) -> String {
    let loaded: Vec<&Judged<'_>> = loaded.iter().map(|number| &all[*number]).collect();
    let is_tested = |a: &&Application| {
        (a.name != UNDER_LOAD && waits_of(a.name).is_none())
            && loaded.iter().any(|judged| judged.assessment(a.name).is_some())
    };
    let tests: Vec<_> = APPLICATIONS.iter().filter(is_tested).map(|a| a.name).collect();
    let purpose =
        around(tests.iter().map(|one| quoted(one)), |it| format!(" for {it}")).unwrap_or_default();
    match (loaded.len(), tests.len()) {
        (1, 0) => return "How does traffic fare?".to_owned(),
        (1, _) => return format!("How well does this service work{purpose}?"),
        _ => {}
    }
    let variants = loaded.iter().map(|judged| judged.group.variant);
    let variants = distinct(variants.filter(|variant| !variant.is_empty()));
    let settings = match variants.len() {
        2..=NAMED_AT_MOST => listed(&variants),
        _ => format!("{} settings", loaded.len()),
    };
    let vary = if keys.len() == 1 { "varies" } else { "vary" };
    let swept = around(keys.iter().map(|key| quoted(key)), |it| format!(" as {it} {vary}"));
    let swept = swept.unwrap_or_default();
    let most = all.iter().map(|judged| judged.group.runs.len()).max().unwrap_or_default();
    let seeds = if most > 1 { format!(" (mean of {most} seeds)") } else { String::new() };
    format!("Which of {settings} works best{purpose}{swept}{seeds}?")
}

/// What has no grade by its kind, and what is unknown without an idle line.
fn ungraded(all: &[Judged<'_>], loaded: &[usize]) -> String {
    let traffic = all.iter().flat_map(|one| &one.group.runs[0].traffic);
    let ungraded = traffic.filter(|entry| !entry.graded);
    let by_kind = grouped(distinct(ungraded.map(|one| (one.kind.as_str(), one.name.as_str()))));
    let clauses = by_kind.into_iter().map(|(kind, names)| match names.as_slice() {
        [name] if *name == kind => kind.to_owned(),
        names if names.len() <= NAMED_AT_MOST => format!("{kind} ({})", listed(names)),
        names => format!("{kind} ({} entries)", names.len()),
    });
    let clauses = clauses.collect::<Vec<_>>().join(", ");
    let kinds = around(Some(clauses), |it| format!("Not graded: {it}."));
    let lacking = loaded.iter().map(|number| &all[*number]).find(|one| one.lacks_idle_line());
    let idle = lacking.map(|one| match one.group.runs[0].is_emulated {
        true => EMULATED.to_owned(),
        false => WITHOUT_IDLE_LINE.to_owned(),
    });
    kinds.into_iter().chain(idle).collect::<Vec<_>>().join(" ")
}

// One setting.

fn of_one(all: &[Judged<'_>], number: usize) -> Vec<String> {
    let one = &all[number];
    let against = one.idle_line.and_then(|idle| against_idle_line(one, &all[idle]));
    let grades = one.assessments.iter().filter_map(graded_sentence);
    let letters = beyond_letters(&[one]);
    let slow = slow_cause(one, &letters).map(|(_, said)| said);
    let longest = slow.or_else(|| one.group.causes().first().map(Cause::sentence));
    let more = [taken(one), still_changing(&[(one, None)]), longest, without_grade(&[one])];
    let more = remarks(one).map(|it| capitalised(it)).chain(more.into_iter().flatten());
    letters.into_iter().chain(against).chain(grades).chain(more).collect()
}

/// What is worse than a letter says, which is of delay alone.
fn beyond_letters(settings: &[&Judged<'_>]) -> Vec<String> {
    let found = settings.iter().filter_map(|one| {
        let delay = one.assessment(UNDER_LOAD)?;
        let sounds_good = delay.grade.is_some_and(|grade| grade < Grade::Poor);
        let is_worse = |other: &&Assessment| sounds_good && other.grade > delay.grade;
        let worse = one.assessments.iter().filter(is_worse);
        let letter = letter(delay.value(ADDED_DELAY)?);
        let clauses = worse.filter_map(Assessment::beyond_delay);
        let said = |clauses| format!("{letter} is the delay alone: {clauses}.");
        Some((around(clauses, said)?, *one))
    });
    let with = |(said, of): (String, Vec<&Judged<'_>>)| match settings {
        [_] => said,
        _ => format!("With {}, {said}", names(&of)),
    };
    grouped(found).into_iter().take(DIFFERENCES_AT_MOST).map(with).collect()
}

const NOTHING: &str = "No traffic in this scenario has grades.";
/// What something is, by its grade.
const GRADED: [&str; 4] = ["is good", "is fair", "is poor", "fails"];

fn graded_sentence(found: &Assessment) -> Option<String> {
    let (noun, is) = (without_article(found.graded.noun), GRADED[found.grade? as usize]);
    Some(format!("{} {is}: {}.", capitalised(&noun), found.summary))
}

/// An application at the beginning of a sentence or in a list.
fn without_article(noun: &str) -> String {
    noun.trim_start_matches("the ").to_owned()
}

/// Why something is faster than on the idle line: what falls by most of what its packets take less on average, where that is most
/// of what its measure in ms falls. Empty if nothing does.
fn since(
    measure: &Measure,
    (idle, alone_ms): (&Judged<'_>, f64),
    (one, beside_ms): (&Judged<'_>, f64),
) -> String {
    let now = one.group.causes();
    let reason = |before: &Cause| {
        let now = now.iter().find(|now| now.traffic == before.traffic)?;
        let gain_ms = before.total_ms() - now.total_ms();
        let falls = before.parts.iter().map(|part| {
            let own = std::slice::from_ref(&part.part);
            let of = if GRANTS.contains(&part.part) { &GRANTS[..] } else { own };
            (before.ms_of(of) - now.ms_of(of), part)
        });
        let (fall_ms, part) = falls.max_by(|one, other| one.0.total_cmp(&other.0))?;
        let explains = gain_ms >= MOST * (alone_ms - beside_ms) && fall_ms >= MOST * gain_ms;
        explains.then(|| match GRANTS.contains(&part.part) {
            true => SINCE_GRANTS.to_owned(),
            false => format!(", with {} ms less {} on average", digits(fall_ms), part.words),
        })
    };
    let before = idle.group.causes();
    let is_of = |it: &Assessment, cause: &Cause| {
        (it.application, &it.traffic) == (measure.of.graded, &cause.traffic)
    };
    let own = before.iter().filter(|cause| idle.entries.iter().any(|it| is_of(it, cause)));
    own.filter(|_| measure.unit == "ms").find_map(reason).unwrap_or_default()
}

/// What the bulk traffic does to other traffic, if anything is measured that it could do.
fn against_idle_line(one: &Judged<'_>, idle: &Judged<'_>) -> Option<String> {
    let (who, are_several) = bulk_words(one.group.runs[0]);
    let slowed = MEASURES.iter().filter_map(|measure| {
        let (what, unit) = measure.of.slowed?;
        let (before, now) = (idle.group.value(measure)?.mean?, one.group.value(measure)?.mean?);
        let factor = if before > 0.0 { now / before } else { 0.0 };
        let weight = if measure.of.alone { PLAINER } else { 1.0 };
        Some((what, before, now, (measure, unit), weight * factor))
    });
    let first = slowed.clone().next().map(|one| one.0);
    // Of the median and the quantiles of a game that which the load changes most.
    let of_first = slowed.filter(|one| Some(one.0) == first);
    let plainest = of_first.reduce(|most, one| if one.4 > most.4 { one } else { most });
    let slowed = plainest.and_then(|(what, before, now, (measure, unit), _)| {
        let does = |verb| format!("{who} {verb}{} the {what}", if are_several { "" } else { "s" });
        let change = format!("{} {unit}", from_to(before, now));
        Some(if before > 0.0 && now >= NAMED_AS_FACTOR * before {
            format!("{} {} times slower: {change}", does("make"), factor(now / before))
        } else if now > (1.0 + SAME) * before {
            format!("{} a little: {change}", does("slow"))
        } else if now < (1.0 - SAME) * before {
            let since = since(measure, (idle, before), (one, now));
            format!("{} faster: {change}{since}", does("make"))
        } else if one.group.runs[0].unwatched.is_empty() {
            let them = if are_several { "them" } else { "it" };
            format!("{} as it is without {them} ({} {unit})", does("leave"), digits(now))
        } else {
            return None;
        })
    });
    let calls = one.entries.iter().filter(|call| call.application == CALL).flat_map(|call| {
        let before = idle.entries.iter().find(|other| other.component() == call.component());
        before.map(|before| graded_clauses(before, &[(call, one)])).unwrap_or_default()
    });
    let call = calls.map(|(clause, _)| clause);
    let clauses = slowed.into_iter().chain(call).collect::<Vec<_>>().join("; ");
    around(Some(clauses), |it| capitalised(&it) + ".").filter(|_| !who.is_empty())
}

// Several settings.

/// The answer or, where conditions differ, each of them; which algorithms did nothing, and what is behind the answers.
fn of_several(questions: &[Question<'_, '_>], answers: &[Answer], keys: &[String]) -> Vec<String> {
    let all = questions[0].all;
    let of = |numbers: BTreeSet<usize>| -> Vec<&Judged<'_>> {
        numbers.into_iter().map(|one| &all[one]).collect()
    };
    let settings = of(questions.iter().flat_map(|one| one.settings.clone()).collect());
    let is_asked = questions.iter().any(|one| one.settings.len() > 1);
    let mut found = Vec::from_iter(changes_with_condition(questions, answers));
    found.extend(alone(questions).filter(|_| !is_asked));
    let place = found.len() + 1;
    let asked = questions.iter().zip(answers).filter(|(one, _)| one.settings.len() > 1);
    for (question, answer) in asked.take(NAMED_AT_MOST) {
        let said = sentences(question, answer);
        let between = if question.is_between_lines() { "Between lines: " } else { "" };
        match questions.len() {
            1 => found.extend(said),
            _ => found.push(format!("{between}{}", said.join(" "))),
        }
    }
    let place = place.min(found.len());
    found.splice(place..place, beyond_letters(&settings));
    let laws = settings.iter().flat_map(|one| {
        let laws = remarks(one).chain(&one.group.runs[0].idle_laws);
        laws.map(move |law| (law, *one))
    });
    found.extend(grouped(laws).iter().map(|(law, of)| format!("With {}, {law}", names(of))));
    let with = |one: &Judged<'_>, said: String| format!("With {}, {said}", one.name());
    let best = || answers.iter().map(|one| &all[one.best[0]]);
    let taken = best().chain(settings.iter().copied()).find_map(|one| Some(with(one, taken(one)?)));
    found.extend(taken.filter(|_| keys.is_empty()));
    found.extend(coupling(&settings));
    // Of one that does best what becomes worse may change the answer, of another one what becomes better.
    let named = answers.iter().flat_map(|one| {
        let may = |is_best: bool| one.is_decided().then_some(is_best);
        let best = one.best.iter().map(move |it| (*it, may(true)));
        best.chain(one.reference.map(|it| (it, may(false))))
    });
    let named = distinct(named).into_iter().map(|(one, may)| (&all[one], may));
    found.extend(still_changing(&named.collect::<Vec<_>>()));
    let unfinished = best().flat_map(|one| one.assessments.iter().map(move |it| (it, one)));
    for (said, one) in unfinished.filter_map(|(it, one)| Some((it.unfinished()?, one))) {
        if !found.iter().any(|known| known.contains(said)) {
            found.push(with(one, format!("{said}.")));
        }
    }
    let slow = best().filter_map(|one| Some((slow_cause(one, &found)?, one)));
    let slowest = slow.max_by(|(one, _), (other, _)| one.0.total_cmp(&other.0));
    found.extend(slowest.as_ref().map(|((_, said), one)| with(one, said.clone())));
    let shown = slowest.map(|(_, one)| one).or_else(|| best().next());
    found.extend(shown.and_then(|one| idle_sentence(&all[one.idle_line?], one)));
    found.extend(alone(questions).filter(|_| is_asked));
    found.extend(without_grade(&settings));
    found
}

/// Why the game or call with the worst grade is not good, of several the one that takes longest, with its time in ms: where that
/// goes, what is lost, or both, by what keeps it from a better grade; not a loss alone that is said before.
fn slow_cause(one: &Judged<'_>, before: &[String]) -> Option<(f64, String)> {
    let is_slow = |it: &&Assessment| {
        [GAME, CALL, VIDEO_CALL, CLOUD_GAME].contains(&it.application)
            && it.grade > Some(Grade::Good)
    };
    let causes = one.group.causes();
    let cause = |it: &Assessment| causes.iter().find(|cause| cause.traffic == it.traffic);
    let slow = one.entries.iter().filter(is_slow).filter_map(|it| Some((it, cause(it)?)));
    let (worst, cause) = slow.max_by(|(one, own), (other, its)| {
        one.grade.cmp(&other.grade).then(own.total_ms().total_cmp(&its.total_ms()))
    })?;
    let lost = worst.lost().and_then(|(of, is_all)| Some((worst.said(of)?, is_all)));
    let said = match lost {
        None => cause.sentence(),
        Some((lost, false)) => format!("{} {}.", cause.sentence(), capitalised(&lost)),
        Some((lost, true)) if before.iter().any(|said| said.contains(&lost)) => return None,
        Some((lost, true)) => {
            format!("what is wrong with traffic.{} is loss, not delay: {lost}.", cause.traffic)
        }
    };
    Some((cause.total_ms(), said))
}

/// What the same other traffic gets without the bulk traffic.
fn idle_sentence(idle: &Judged<'_>, loaded: &Judged<'_>) -> Option<String> {
    let (who, are_several) = bulk_words(loaded.group.runs[0]);
    let them = if are_several { "them" } else { "it" };
    let clauses = MEASURES.iter().filter(|measure| measure.of.alone).filter_map(|measure| {
        let alone = idle.group.value(measure)?.mean?;
        let (label, unit) = (measure.label, measure.unit_after());
        let beside = loaded.group.mean(measure.key).filter(|it| measure.is_worse(*it, alone));
        let better = beside.and_then(|beside| {
            let since = since(measure, (idle, alone), (loaded, beside));
            let least = if since.is_empty() { NAMED } else { SAME };
            let is_told = (beside - alone).abs() > least * alone.abs();
            is_told.then(|| format!(" (beside {them} {}{unit}{since})", digits(beside)))
        });
        Some(format!("{label} is {}{unit}{}", digits(alone), better.unwrap_or_default()))
    });
    let is_of_all = [IDLE_LINE, WITHOUT_BULK].contains(&idle.group.name);
    let of = if is_of_all { String::new() } else { format!(" ({})", idle.group.name) };
    around(clauses, |it| format!("Without {who}{of}, {it}.")).filter(|_| !who.is_empty())
}

/// Why something has no grade.
fn without_grade(settings: &[&Judged<'_>]) -> Option<String> {
    if settings.iter().all(|one| one.entries.is_empty()) {
        return Some(NOTHING.to_owned());
    }
    let missing = settings.iter().flat_map(|one| {
        let own = one.entries.iter().filter(|found| found.grade.is_none());
        let counts = |it: &Assessment| settings.len() > 1 && it.level().is_some();
        let but = |it| if counts(it) { ", but its rate counts" } else { "" };
        let why = own.map(|it| (it.summary.clone() + but(it), without_article(&it.noun())));
        distinct(why).into_iter().map(move |why| (why, *one))
    });
    let scoped = grouped(missing).into_iter().map(|((why, noun), of)| {
        let are_all = of.len() == settings.len();
        let scope = if are_all { String::new() } else { format!("With {}, ", names(&of)) };
        ((scope, why), noun)
    });
    let by_reason = grouped(scoped).into_iter().map(|((scope, why), nouns)| ((scope, nouns), why));
    let sentences = grouped(by_reason).into_iter().map(|((scope, nouns), why)| {
        let are = if nouns.len() > 1 { "are" } else { "is" };
        let said = format!("{scope}{} {are} not graded: {}.", listed(&nouns), why.join("; "));
        capitalised(&said)
    });
    Some(sentences.collect::<Vec<_>>().join(" ")).filter(|reasons| !reasons.is_empty())
}

// Several loads or lines.

/// What a longer run may say otherwise of these settings: for the worse, for the better, or both.
fn still_changing(settings: &[(&Judged<'_>, Option<bool>)]) -> Option<String> {
    let clauses = settings.iter().flat_map(|(one, may)| {
        let clauses = one.assessments.iter().filter_map(|it| it.changing_clause(*may));
        clauses.map(move |clause| (clause, *one))
    });
    let clauses = grouped(clauses).into_iter().take(DIFFERENCES_AT_MOST).map(|(clause, with)| {
        let is_named = settings.len() > 1 || !with[0].group.variant.is_empty();
        clause + &if is_named { format!(" with {}", names(&with)) } else { String::new() }
    });
    let all = clauses.collect::<Vec<_>>().join("; ");
    around(Some(all), |it| format!("Still changing, so run longer: {it}."))
}

/// Which settings no other one is compared with.
fn alone(questions: &[Question<'_, '_>]) -> Option<String> {
    let alone = questions.iter().filter(|one| one.settings.len() == 1);
    let alone: Vec<_> = alone.map(|one| &one.all[one.settings[0]]).collect();
    let said =
        |it| format!("Compared with nothing, since no other setting has the same load: {it}.");
    Some(names(&alone)).filter(|_| !alone.is_empty()).map(said)
}

/// Whether the answer changes with what is no choice, in one sentence.
fn changes_with_condition(questions: &[Question<'_, '_>], answers: &[Answer]) -> Option<String> {
    let all = questions[0].all;
    let asked = questions.iter().zip(answers).filter(|(question, _)| !question.is_between_lines());
    let choices = asked.map(|(_, one)| one).filter(|one| one.settings.len() > 1);
    let choices: Vec<&Answer> = choices.collect();
    let [first, _, ..] = choices.as_slice() else { return None };
    let roles = |number: &usize| all[*number].group.runs[0].roles;
    let of = |all: &[usize]| all.iter().map(|it| roles(it).choice).collect::<BTreeSet<_>>();
    let load = |one: &Answer| roles(&one.settings[0]).load;
    let what = if choices.iter().all(|one| load(one) == load(first)) { "line" } else { "load" };
    let both = choices.iter().map(|one| [of(&one.settings), of(&one.best)]);
    let [tried, common] = both.reduce(|one, other| [&one[0] & &other[0], &one[1] & &other[1]])?;
    if common.is_empty() {
        // What was tried under one of them alone may be best under all.
        let is_tried = |one: &&Answer| one.is_decided() && of(&one.best).is_subset(&tried);
        let changes = || format!("Which setting does best changes with the {what}.");
        return choices.iter().all(is_tried).then(changes);
    }
    let is_common = |one: &&usize| common.contains(&roles(one).choice);
    let each = choices.iter().flat_map(|one| &one.best).filter(is_common).map(|one| &all[*one]);
    let each = names(&each.collect::<Vec<_>>());
    let are_all = choices.iter().all(|one| of(&one.best) == common);
    let do_best = if are_all { "do best" } else { "are among the best" };
    let is_any = choices.iter().any(|one| one.is_decided());
    is_any.then(|| format!("{each} {do_best}, each under its {what}."))
}
