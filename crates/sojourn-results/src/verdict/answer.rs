//! The question that results answer, and the answer in sentences. The first sentence names the setting,
//! by how much it is better, and at what cost.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::causes::Cause;
use super::grades::{Assessment, Share};
use super::groups::{Group, Judged, SAME, judged};
use super::measures::MEASURES;
use super::order::{Answer, Price, Question};
use super::over_seeds::Value;
use super::round_trip::RoundTrip;
use super::sentences::{NAMED_AT_MOST, bulk_words, call_clause, sentences, taken, value_of};
use super::thresholds::{
    APPLICATIONS, Application, CALL, DOWNSTREAM_QUEUE, Grade, UNDER_LOAD, UPSTREAM_QUEUE,
};
use super::words::{capitalised, digits, factor, joined, listed, quoted};
use sojourn_scenario::{IDLE_LINE, WITHOUT_BULK};

/// Settings that are good are named if they are not more than these.
const BEST_NAMED_AT_MOST: usize = 3;
/// From this ratio to the idle line on, a sentence gives the ratio.
const NAMED_AS_FACTOR: f64 = 1.5;

/// What is said of the round trips of a game; the first unless the load changes another one much more.
const GAME_QUANTILES: [(&str, &str); 3] = [
    ("game_rtt_p90_ms", "ms of round trip at p90"),
    ("game_rtt_p50_ms", "ms of round trip in the median"),
    ("game_rtt_p99_ms", "ms of round trip at p99"),
];
/// From this ratio on, a change is plainer than another one.
const PLAINER: f64 = 1.5;

/// Why traffic beside an upload may be faster than alone (docs/plant.md).
const GRANTS: &str = "the modem has grants already";

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
    pub transfers: Vec<Share>,
    /// Its measures by key, in means over seeds.
    pub measures: BTreeMap<&'static str, Value>,
    /// What they are more than on its idle line.
    pub over_idle_line: BTreeMap<&'static str, f64>,
    /// The round trip of games, idle and under load; `None` on an idle line.
    pub round_trip: Option<RoundTrip>,
    /// Where the time goes of what users notice, in a sentence for each traffic entry, the longest first.
    pub causes: Vec<String>,
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
    /// Names the traffic without a grade, in a sentence; may be empty.
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
    /// The answer for each load.
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
    let answers: Vec<Answer> = conditions_of(&all, &loaded, keys)
        .iter()
        .map(|settings| answer(&Question::new(&all, settings)))
        .collect();
    let sentences = match (loaded.as_slice(), answers.as_slice()) {
        ([only], _) => of_one(&all, *only),
        (_, [only]) => of_several(&all, only, keys),
        _ => of_conditions(&all, &loaded, &answers),
    };
    let only = <&[Answer; 1]>::try_from(answers.as_slice()).ok().map(|[only]| only);
    let chosen = only.filter(|one| one.is_alike && one.best.len() < one.settings.len());
    let there = |a: &&Application| all.iter().any(|j| is_in(j, a.name));
    Verdict {
        question: question(&all, &loaded, keys),
        sentences,
        unwatched: unwatched(&all, &loaded),
        ungraded: ungraded(groups),
        best: chosen.and_then(|one| one.best.first().copied()),
        alike: chosen.map(|one| one.best.clone()).unwrap_or_default(),
        reference: chosen.and_then(|one| one.reference),
        price: chosen.map(|one| one.price.clone()).unwrap_or_default(),
        answers,
        groups: all.iter().map(|one| graded(one, groups)).collect(),
        applications: APPLICATIONS.iter().filter(there).cloned().collect(),
    }
}

fn is_in(judged: &Judged<'_>, application: &str) -> bool {
    judged.assessments.iter().any(|found| found.application == application)
}

/// The settings of each question: those of one load. Where lines were swept beside choices, of one line too.
fn conditions_of(all: &[Judged<'_>], loaded: &[usize], keys: &[String]) -> Vec<Vec<usize>> {
    let by = |of_line: bool| {
        let mut found: Vec<((u64, u64), Vec<usize>)> = Vec::new();
        for number in loaded {
            let roles = all[*number].group.runs[0].roles;
            let condition = (roles.load, if of_line { roles.line } else { 0 });
            match found.iter_mut().find(|(known, _)| *known == condition) {
                Some((_, numbers)) => numbers.push(*number),
                None => found.push((condition, vec![*number])),
            }
        }
        found.into_iter().map(|(_, numbers)| numbers).collect::<Vec<_>>()
    };
    let lines = by(true);
    let has_choices = !keys.is_empty() && lines.iter().all(|settings| settings.len() > 1);
    if has_choices { lines } else { by(false) }
}

fn answer(question: &Question<'_, '_>) -> Answer {
    let settings = question.settings.clone();
    let best = question.best();
    let others: Vec<usize> =
        settings.iter().copied().filter(|number| !best.contains(number)).collect();
    let is_alike = question.are_alike(&best);
    let reference = others.first().copied();
    let price = match reference {
        Some(reference) if is_alike => price(question, best[0], reference, &others),
        _ => Vec::new(),
    };
    let hair = others.iter().filter(|_| is_alike).find_map(|other| {
        let hair = question.hair(best[0], *other)?;
        let label = value_of(hair.application, hair.label);
        let (unit, (value, of_best)) = (hair.unit, hair.values);
        Some(format!(
            "By a hair: with {}, {label} is {}{unit}, and the bound is {} ({} with {}).",
            quoted(hair.other),
            digits(value),
            digits(hair.bound),
            digits(of_best),
            quoted(question.all[best[0]].name())
        ))
    });
    let unsure = question.unsure(&best);
    Answer { settings, best, is_alike, reference, price, hair, unsure }
}

/// In what the best has a worse grade than the reference, and who has not.
fn price(
    question: &Question<'_, '_>,
    best: usize,
    reference: usize,
    others: &[usize],
) -> Vec<Price> {
    let of_component = |component: &&'static [&'static str]| {
        let (from, to) = (question.level(reference, component)?, question.level(best, component)?);
        let keeps = |number: &&usize| {
            question.level(**number, component).is_some_and(|level| level <= from)
        };
        let better = |one: &'_ usize, other: &'_ usize| {
            if question.is_before(*other, *one) { *other } else { *one }
        };
        let alternative =
            others.iter().filter(keeps).copied().reduce(|one, other| better(&one, &other));
        let application = component
            .iter()
            .copied()
            .find(|name| question.all[best].grade(name) == Some(to.0))
            .unwrap_or(component[0]);
        (to.0 > from.0).then_some(Price { application, from: from.0, to: to.0, alternative })
    };
    question.components().iter().filter_map(of_component).collect()
}

fn graded(judged: &Judged<'_>, groups: &[Group<'_>]) -> Graded {
    let measures = |group: &Group<'_>| -> BTreeMap<&'static str, Value> {
        MEASURES.iter().filter_map(|m| Some((m.key, group.value(m)?))).collect()
    };
    let own = measures(judged.group);
    let idle = judged.idle_line.map(|number| measures(&groups[number])).unwrap_or_default();
    let more =
        |(key, value): (&&'static str, &Value)| Some((*key, value.mean? - idle.get(key)?.mean?));
    let over_idle_line = own.iter().filter_map(more).collect();
    Graded {
        name: judged.group.name.to_owned(),
        is_idle_line: judged.is_idle_line,
        idle_line: judged.idle_line,
        assessments: judged.assessments.clone(),
        transfers: judged.transfers.clone(),
        over_idle_line,
        round_trip: (!judged.is_idle_line)
            .then(|| RoundTrip::of(&own, &idle, &judged.assessments))
            .flatten(),
        measures: own,
        causes: causes(judged).into_iter().map(Cause::sentence).collect(),
    }
}

/// Where the time goes in the run of the first seed, the longest first.
fn causes<'a>(judged: &Judged<'a>) -> Vec<&'a Cause> {
    let mut causes: Vec<&Cause> = judged.group.runs[0].causes.iter().collect();
    causes.sort_by(|one, other| other.total_ms().total_cmp(&one.total_ms()));
    causes
}

// The question.

fn question(all: &[Judged<'_>], loaded: &[usize], keys: &[String]) -> String {
    let is_tested = |a: &&Application| {
        ![UNDER_LOAD, UPSTREAM_QUEUE, DOWNSTREAM_QUEUE].contains(&a.name)
            && loaded.iter().any(|number| is_in(&all[*number], a.name))
    };
    let tests: Vec<_> = APPLICATIONS.iter().filter(is_tested).map(|a| a.name).collect();
    let (purpose, tests) = (if tests.is_empty() { "" } else { " for " }, listed(&tests));
    if loaded.len() == 1 {
        return match purpose {
            "" => "How does traffic fare?".to_owned(),
            _ => format!("How well does this service work for {tests}?"),
        };
    }
    let mut variants: Vec<&str> = Vec::new();
    for variant in loaded.iter().map(|number| all[*number].group.variant) {
        if !variant.is_empty() && !variants.contains(&variant) {
            variants.push(variant);
        }
    }
    let settings = if (2..=NAMED_AT_MOST).contains(&variants.len()) {
        listed(&variants)
    } else {
        format!("{} settings", loaded.len())
    };
    let swept = match keys {
        [] => String::new(),
        [key] => format!(" as {} varies", quoted(key)),
        keys => format!(" as {} vary", listed(keys)),
    };
    let most = all.iter().map(|judged| judged.group.runs.len()).max().unwrap_or_default();
    let seeds = if most > 1 { format!(" (mean of {most} seeds)") } else { String::new() };
    format!("Which of {settings} works best{purpose}{tests}{swept}{seeds}?")
}

fn ungraded(groups: &[Group<'_>]) -> String {
    let mut by_kind: Vec<(&str, Vec<&str>)> = Vec::new();
    let traffic = groups.iter().flat_map(|group| &group.runs[0].traffic);
    for entry in traffic.filter(|entry| !entry.graded) {
        let found = by_kind.iter().position(|(kind, _)| *kind == entry.kind);
        let place = found.unwrap_or_else(|| {
            by_kind.push((&entry.kind, Vec::new()));
            by_kind.len() - 1
        });
        if !by_kind[place].1.contains(&entry.name.as_str()) {
            by_kind[place].1.push(&entry.name);
        }
    }
    let clauses = by_kind.iter().map(|(kind, names)| match names.as_slice() {
        [name] if name == kind => (*kind).to_owned(),
        names if names.len() <= NAMED_AT_MOST => format!("{kind} ({})", listed(names)),
        names => format!("{kind} ({} entries)", names.len()),
    });
    let clauses: Vec<_> = clauses.collect();
    if clauses.is_empty() { String::new() } else { format!("Not graded: {}.", clauses.join(", ")) }
}

// One setting.

fn of_one(all: &[Judged<'_>], number: usize) -> Vec<String> {
    let one = &all[number];
    let against = one.idle_line.map(|idle| against_idle_line(one, &all[idle]));
    let grades = one.assessments.iter().map(|found| {
        let is = match found.grade() {
            None => "is not graded".to_owned(),
            Some(Grade::Fails) => "fails".to_owned(),
            Some(grade) => format!("is {}", grade.word()),
        };
        format!("{} {is}: {}.", capitalised(subject(found.application)), found.summary)
    });
    let longest = causes(one).first().map(|cause| cause.sentence());
    let sentences: Vec<_> =
        against.into_iter().flatten().chain(grades).chain(taken(one)).chain(longest).collect();
    if sentences.is_empty() {
        return vec!["No traffic in this scenario has grades.".to_owned()];
    }
    sentences
}

/// An application as the subject of a sentence.
fn subject(application: &'static str) -> &'static str {
    if application == UNDER_LOAD { "responsiveness under load" } else { application }
}

/// What the bulk traffic does to other traffic, if anything is measured that it could do.
fn against_idle_line(one: &Judged<'_>, idle: &Judged<'_>) -> Option<String> {
    let (who, are_several) = bulk_words(one);
    if who.is_empty() {
        return None;
    }
    let is_watched = one.group.unwatched().is_empty();
    let does = |singular: &str, plural: &str| {
        format!("{who} {}", if are_several { plural } else { singular })
    };
    let values = |key: &str| Some((one.group.mean(key)?, idle.group.mean(key)?));
    let slower = |key, what: &str, unit: &str| {
        let (now, before) = values(key)?;
        let (from, to) = (digits(before), digits(now));
        Some(if before > 0.0 && now >= NAMED_AS_FACTOR * before {
            let does = does("makes", "make");
            format!(
                "{does} the {what} {} times slower: from {from} to {to} {unit}",
                factor(now / before)
            )
        } else if now > (1.0 + SAME) * before {
            format!("{} the {what} a little: from {from} to {to} {unit}", does("slows", "slow"))
        } else if now < (1.0 - SAME) * before && one.group.runs[0].brings_grants {
            format!(
                "{} the {what} faster: from {from} to {to} {unit}, since {GRANTS}",
                does("makes", "make")
            )
        } else if is_watched {
            let alone = if are_several { "without them" } else { "without it" };
            format!("{} the {what} as it is {alone} ({to} {unit})", does("leaves", "leave"))
        } else {
            return None;
        })
    };
    // Of the median and the quantiles that which the load changes most.
    let factor_of = |(key, _): &(&str, &str)| {
        values(key).map_or(0.0, |(now, before)| if before > 0.0 { now / before } else { 0.0 })
    };
    let (game, unit) = GAME_QUANTILES
        .into_iter()
        .reduce(|most, one| if factor_of(&one) > PLAINER * factor_of(&most) { one } else { most })
        .expect("a quantile");
    let first = slower(game, "game", unit)
        .or_else(|| slower("page_load_median_s", "page load", "s in the median"))
        .or_else(|| slower("response_median_s", "web response", "s in the median"));
    let is_changed = one.grade(CALL) != idle.grade(CALL);
    let call = call_clause(one, idle).filter(|_| is_watched || is_changed);
    let clauses: Vec<_> = first.into_iter().chain(call).collect();
    let sentence = capitalised(&clauses.join("; "));
    (!clauses.is_empty()).then(|| format!("{sentence}."))
}

// Several settings.

/// The answer, why algorithms did nothing if all do equally well, and what is behind it.
fn of_several(all: &[Judged<'_>], answer: &Answer, keys: &[String]) -> Vec<String> {
    let settings = &answer.settings;
    let mut found = sentences(&Question::new(all, settings), answer);
    if answer.best.len() == settings.len() {
        let runs = settings.iter().map(|number| all[*number].group.runs[0]);
        let idle: BTreeSet<&String> = runs.flat_map(|facts| &facts.idle_laws).collect();
        found.extend(idle.into_iter().cloned());
    }
    let shown = &all[answer.best[0]];
    let of_taker = std::iter::once(&answer.best[0]).chain(settings).find_map(|number| {
        Some(format!("With {}, {}", quoted(all[*number].name()), taken(&all[*number])?))
    });
    found.extend(of_taker.filter(|_| keys.is_empty()));
    if !shown.is_good_as_measured() {
        let longest = causes(shown).first().map(|cause| cause.sentence());
        found.extend(longest.map(|cause| format!("With {}, {cause}", quoted(shown.name()))));
    }
    found.extend(shown.idle_line.and_then(|idle| idle_sentence(&all[idle], shown)));
    found.extend(side_by_side(all, settings));
    found
}

/// What the same other traffic gets without the bulk traffic.
fn idle_sentence(idle: &Judged<'_>, loaded: &Judged<'_>) -> Option<String> {
    let values = [
        ("game_rtt_p90_ms", "game RTT p90 is", " ms"),
        ("game_latency_p90_ms", "game p90 is", " ms"),
        ("voice_mos", "the call has an MOS of", ""),
        ("page_load_median_s", "the median page load is", " s"),
        ("response_median_s", "the median web response is", " s"),
    ];
    let clauses = values.into_iter().filter_map(|(key, what, unit)| {
        let (alone, beside) = (idle.group.mean(key)?, loaded.group.mean(key));
        let is_faster = key.starts_with("game") && beside < Some((1.0 - SAME) * alone);
        let faster = match beside {
            Some(beside) if is_faster && loaded.group.runs[0].brings_grants => {
                format!(" (beside it {}{unit}, since {GRANTS})", digits(beside))
            }
            _ => String::new(),
        };
        Some(format!("{what} {}{unit}{faster}", digits(alone)))
    });
    let clauses: Vec<_> = clauses.collect();
    let (who, _) = bulk_words(loaded);
    let is_of_all = [IDLE_LINE, WITHOUT_BULK].contains(&idle.group.name);
    let of = if is_of_all { String::new() } else { format!(" ({})", idle.group.name) };
    (!clauses.is_empty() && !who.is_empty())
        .then(|| format!("Without {who}{of}, {}.", joined(&clauses)))
}

/// The grades of all settings.
fn side_by_side(all: &[Judged<'_>], loaded: &[usize]) -> Vec<String> {
    let loaded: Vec<&Judged<'_>> = loaded.iter().map(|number| &all[*number]).collect();
    if loaded.iter().all(|judged| judged.assessments.is_empty()) {
        return vec!["No traffic in this scenario has grades.".to_owned()];
    }
    let on_tests = on_every_test(&loaded);
    let is_best = |judged: &&&Judged<'_>| judged.is_good_as_measured();
    let best: Vec<_> = loaded.iter().filter(is_best).map(|judged| judged.name()).collect();
    let are_named = loaded.len() <= NAMED_AT_MOST || best.len() <= BEST_NAMED_AT_MOST;
    let first = match best.as_slice() {
        [] => format!("No setting is good {on_tests}."),
        best if are_named => format!("Good {on_tests}: {}.", listed(best)),
        best => format!("{} of {} settings are good {on_tests}.", best.len(), loaded.len()),
    };
    let mut others: Vec<(Vec<&str>, String)> = Vec::new();
    for judged in loaded.iter().filter(|judged| !judged.is_good_as_measured()) {
        let faults = faults(judged);
        match others.iter_mut().find(|(_, known)| *known == faults) {
            Some((names, _)) => names.push(judged.name()),
            None => others.push((vec![judged.name()], faults)),
        }
    }
    let are_few = loaded.len() - best.len() <= NAMED_AT_MOST;
    let clauses = others.into_iter().filter(|_| are_few);
    let clauses = clauses.map(|(names, faults)| format!("{}: {faults}.", listed(&names)));
    std::iter::once(first).chain(clauses).collect()
}

/// All tests of some settings, as what a setting is good on.
fn on_every_test(loaded: &[&Judged<'_>]) -> String {
    let is_tested = |a: &&Application| loaded.iter().any(|judged| is_in(judged, a.name));
    let tests: Vec<_> = APPLICATIONS.iter().filter(is_tested).map(|a| a.name).collect();
    match tests.as_slice() {
        [only] => conditions(&[only]),
        several => {
            let named: Vec<_> = several.iter().map(|name| subject(name)).collect();
            let is_whole = loaded
                .iter()
                .all(|judged| judged.group.unwatched().is_empty() && !judged.lacks_idle_line());
            let what = if is_whole { "on every test" } else { "on what is measured" };
            format!("{what} ({})", listed(&named))
        }
    }
}

/// The applications that are not good, by grade.
fn faults(judged: &Judged<'_>) -> String {
    let grades = [
        (Some(Grade::Fails), "failing"),
        (Some(Grade::Poor), "poor"),
        (Some(Grade::Fair), "fair"),
        (None, "not graded"),
    ];
    let clauses = grades.into_iter().filter_map(|(grade, word)| {
        let of_grade = judged.assessments.iter().filter(|found| found.grade() == grade);
        let names: Vec<_> = of_grade.map(|found| found.application).collect();
        (!names.is_empty()).then(|| format!("{word} {}", conditions(&names)))
    });
    clauses.collect::<Vec<_>>().join("; ")
}

/// Applications behind a grade: `for the game and responsiveness under load`.
fn conditions(names: &[&'static str]) -> String {
    let clauses = names.iter().map(|name| match *name {
        UNDER_LOAD => subject(name).to_owned(),
        name => format!("the {name}"),
    });
    format!("for {}", joined(&clauses.collect::<Vec<_>>()))
}

/// What is said of directions that bulk traffic loads while nothing there measures the delay.
fn unwatched(all: &[Judged<'_>], loaded: &[usize]) -> Vec<String> {
    let found = loaded.iter().flat_map(|number| all[*number].group.unwatched());
    let messages: BTreeSet<String> = found.map(|one| one.warning().message).collect();
    let lacks = loaded.iter().any(|number| all[*number].lacks_idle_line());
    let idle = "not measured: what uploads and downloads take from the others, since there is no idle line: \
                baseline = true adds one to a run, and a variant whose bulk traffic begins after the end is one";
    messages.into_iter().chain(lacks.then(|| idle.to_owned())).collect()
}

// Several loads or lines.

/// Conditions are no choice: settings are compared under each, and one sentence says whether the answer changes.
fn of_conditions(all: &[Judged<'_>], loaded: &[usize], answers: &[Answer]) -> Vec<String> {
    let choices: Vec<&Answer> = answers.iter().filter(|one| one.settings.len() > 1).collect();
    let answered = |one: &&Answer| {
        let mut found = sentences(&Question::new(all, &one.settings), one);
        found.retain(|sentence| one.hair.as_ref() != Some(sentence));
        found.join(" ")
    };
    let mut found = vec![changes_with_condition(all, answers, &choices)];
    found.extend(choices.iter().take(NAMED_AT_MOST).map(answered));
    found.extend(side_by_side(all, loaded));
    found
}

fn changes_with_condition(all: &[Judged<'_>], answers: &[Answer], choices: &[&Answer]) -> String {
    let count = answers.len();
    if choices.is_empty() {
        return format!(
            "No setting does best: each of the {count} has another load or line, which is no choice."
        );
    }
    let best = |one: &Answer| -> BTreeSet<u64> {
        one.best.iter().map(|number| all[*number].group.runs[0].roles.choice).collect()
    };
    let is_same = choices.iter().all(|one| best(one) == best(choices[0]));
    let loads: BTreeSet<u64> =
        choices.iter().map(|one| all[one.settings[0]].group.runs[0].roles.load).collect();
    let what = if loads.len() > 1 { "load" } else { "line" };
    if !is_same {
        return format!("Which setting does best changes with the {what}.");
    }
    let variant = all[choices[0].best[0]].group.variant;
    let named = choices[0].best.len() == 1 && !variant.is_empty();
    let who = if named { quoted(variant) } else { "The same".to_owned() };
    let under = if choices.len() == count { "" } else { " that have a choice" };
    format!("{who} does best under each of the {} {what}s{under}.", choices.len())
}
