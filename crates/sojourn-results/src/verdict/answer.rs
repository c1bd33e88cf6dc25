//! The question that results answer, and the answer in sentences. The first sentence names the setting,
//! by how much it is better, and at what cost.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::causes::Cause;
use super::choice::{NAMED_AT_MOST, answer, bulk_words, call_clause, choice, no_winner, ranges};
use super::compared::{Best, Group, Judged, SAME, best_of, judged};
use super::grades::{Assessment, Grade};
use super::measures::MEASURES;
use super::over_seeds::Value;
use super::thresholds::{
    APPLICATIONS, Application, CALL, DOWNSTREAM_QUEUE, UNDER_LOAD, UPSTREAM_QUEUE,
};
use super::words::{capitalised, digits, factor, joined, listed, quoted};
use sojourn_scenario::{IDLE_LINE, WITHOUT_BULK};

/// Settings that are good are named if they are not more than these.
const BEST_NAMED_AT_MOST: usize = 3;
/// From this ratio to the idle line on, a sentence gives the ratio.
const TOLD_AS_FACTOR: f64 = 1.5;

/// What is said of the round trips of a game; the first unless the load changes another one much more.
const GAME_QUANTILES: [(&str, &str); 3] = [
    ("game_rtt_p90_ms", "ms of round trip at p90"),
    ("game_rtt_p50_ms", "ms of round trip in the median"),
    ("game_rtt_p99_ms", "ms of round trip at p99"),
];
/// From this ratio on, a change is plainer than another one.
const PLAINER: f64 = 1.5;

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
    /// Its measures by key, in means over seeds.
    pub measures: BTreeMap<&'static str, Value>,
    /// What they are more than on its idle line.
    pub over_idle_line: BTreeMap<&'static str, f64>,
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
    /// there is nothing to choose or nothing differs.
    pub best: Option<usize>,
    /// The number of the group that it is compared with.
    pub reference: Option<usize>,
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
    let loads = loads(&all, &loaded);
    let best = if loads.len() == 1 { best_of(&all, &loaded) } else { Best::default() };
    let chosen = choice(&all, &loaded, &best);
    let answered = chosen.map(|(_, reference)| answer(&all, &best, reference));
    let sentences = match (loaded.as_slice(), keys, answered) {
        ([only], ..) => of_one(&all, *only),
        _ if loads.len() > 1 => of_loads(&all, &loaded, &loads, keys),
        (_, [], Some(answer)) => of_several(&all, &loaded, vec![answer], best.alike[0]),
        ([first, ..], [], None) => of_several(&all, &loaded, why_none(&all, &loaded), *first),
        (_, _, answer) => {
            of_sweep(&all, &loaded, answer.filter(|_| best.alike.len() <= BEST_NAMED_AT_MOST))
        }
    };
    let chosen = chosen.filter(|_| keys.is_empty());
    let there = |a: &&Application| all.iter().any(|j| is_in(j, a.name));
    Verdict {
        question: question(&all, &loaded, keys),
        sentences,
        unwatched: unwatched(&all, &loaded),
        ungraded: ungraded(groups),
        best: chosen.map(|(best, _)| best),
        reference: chosen.map(|(_, reference)| reference),
        groups: all.iter().map(|one| graded(one, groups)).collect(),
        applications: APPLICATIONS.iter().filter(there).copied().collect(),
    }
}

fn is_in(judged: &Judged<'_>, application: &str) -> bool {
    judged.assessments.iter().any(|found| found.application == application)
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
        over_idle_line,
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
    let told = by_kind.iter().map(|(kind, names)| match names.as_slice() {
        [name] if name == kind => (*kind).to_owned(),
        names if names.len() <= NAMED_AT_MOST => format!("{kind} ({})", listed(names)),
        names => format!("{kind} ({} entries)", names.len()),
    });
    let told: Vec<_> = told.collect();
    if told.is_empty() { String::new() } else { format!("Not graded: {}.", told.join(", ")) }
}

// One setting.

fn of_one(all: &[Judged<'_>], number: usize) -> Vec<String> {
    let one = &all[number];
    let against = one.idle_line.map(|idle| against_idle_line(one, &all[idle]));
    let grades = one.assessments.iter().map(|found| {
        let grade = found.grade().map_or("not graded", Grade::word);
        format!("{} is {grade}: {}.", capitalised(subject(found.application)), found.summary)
    });
    let longest = causes(one).first().map(|cause| cause.sentence());
    let sentences: Vec<_> = against.into_iter().flatten().chain(grades).chain(longest).collect();
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
        Some(if before > 0.0 && now >= TOLD_AS_FACTOR * before {
            let does = does("makes", "make");
            format!(
                "{does} the {what} {} times slower: from {from} to {to} {unit}",
                factor(now / before)
            )
        } else if now > (1.0 + SAME) * before {
            format!("{} the {what} a little: from {from} to {to} {unit}", does("slows", "slow"))
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

/// In what settings differ of which none does best, and which algorithms did nothing.
fn why_none(all: &[Judged<'_>], loaded: &[usize]) -> Vec<String> {
    let runs = loaded.iter().map(|number| all[*number].group.runs[0]);
    let idle: BTreeSet<&String> = runs.flat_map(|facts| &facts.idle_laws).collect();
    std::iter::once(no_winner(all, loaded)).chain(idle.into_iter().cloned()).collect()
}

fn of_several(
    all: &[Judged<'_>],
    loaded: &[usize],
    mut sentences: Vec<String>,
    shown: usize,
) -> Vec<String> {
    if !all[shown].is_good_as_measured() {
        let longest = causes(&all[shown]).first().map(|cause| cause.sentence());
        sentences.extend(longest.map(|told| format!("With {}, {told}", quoted(all[shown].name()))));
    }
    sentences.extend(all[shown].idle_line.and_then(|idle| idle_sentence(&all[idle], &all[shown])));
    sentences.extend(side_by_side(all, loaded));
    sentences
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
    let told = values.into_iter().filter_map(|(key, what, unit)| {
        Some(format!("{what} {}{unit}", digits(idle.group.mean(key)?)))
    });
    let told: Vec<_> = told.collect();
    let (who, _) = bulk_words(loaded);
    let is_of_all = [IDLE_LINE, WITHOUT_BULK].contains(&idle.group.name);
    let of = if is_of_all { String::new() } else { format!(" ({})", idle.group.name) };
    (!told.is_empty() && !who.is_empty()).then(|| format!("Without {who}{of}, {}.", listed(&told)))
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
    let told = others.into_iter().filter(|_| are_few);
    let told = told.map(|(names, faults)| format!("{}: {faults}.", listed(&names)));
    std::iter::once(first).chain(told).collect()
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
    let grades = [(Some(Grade::Poor), "poor"), (Some(Grade::Fair), "fair"), (None, "not graded")];
    let told = grades.into_iter().filter_map(|(grade, word)| {
        let of_grade = judged.assessments.iter().filter(|found| found.grade() == grade);
        let names: Vec<_> = of_grade.map(|found| found.application).collect();
        (!names.is_empty()).then(|| format!("{word} {}", conditions(&names)))
    });
    told.collect::<Vec<_>>().join("; ")
}

/// Applications behind a grade: `for the game and responsiveness under load`.
fn conditions(names: &[&'static str]) -> String {
    let told = names.iter().map(|name| match *name {
        UNDER_LOAD => subject(name).to_owned(),
        name => format!("the {name}"),
    });
    format!("for {}", joined(&told.collect::<Vec<_>>()))
}

/// What is said of directions that bulk traffic loads while nothing there measures the delay.
fn unwatched(all: &[Judged<'_>], loaded: &[usize]) -> Vec<String> {
    let found = loaded.iter().flat_map(|number| all[*number].group.unwatched());
    let told: BTreeSet<String> = found.map(|one| one.warning().message).collect();
    let lacks = loaded.iter().any(|number| all[*number].lacks_idle_line());
    let idle = "not measured: what uploads and downloads take from the others, since there is no idle line: \
                baseline = true adds one to a run, and a variant whose bulk traffic begins after the end is one";
    told.into_iter().chain(lacks.then(|| idle.to_owned())).collect()
}

// Several loads.

/// The groups of each load, in the order of their first ones.
fn loads(all: &[Judged<'_>], loaded: &[usize]) -> Vec<Vec<usize>> {
    let mut loads: Vec<(&str, Vec<usize>)> = Vec::new();
    for number in loaded {
        let load = all[*number].group.load();
        match loads.iter_mut().find(|(known, _)| *known == load) {
            Some((_, numbers)) => numbers.push(*number),
            None => loads.push((load, vec![*number])),
        }
    }
    loads.into_iter().map(|(_, numbers)| numbers).collect()
}

/// Load is no choice: settings are compared at equal load, one load after the other.
fn of_loads(
    all: &[Judged<'_>],
    loaded: &[usize],
    loads: &[Vec<usize>],
    keys: &[String],
) -> Vec<String> {
    let choices: Vec<&Vec<usize>> = loads.iter().filter(|numbers| numbers.len() > 1).collect();
    let told = choices.iter().take(NAMED_AT_MOST).map(|numbers| {
        let best = best_of(all, numbers);
        match choice(all, numbers, &best) {
            Some((_, reference)) => answer(all, &best, reference),
            None => no_winner(all, numbers),
        }
    });
    let mut sentences: Vec<String> = told.collect();
    if sentences.is_empty() {
        let differ = ranges(all, loaded);
        let told = if differ.is_empty() { String::new() } else { format!(" {differ}.") };
        sentences
            .push(format!("The load differs, which is no choice, so no setting does best.{told}"));
    } else {
        let how = if keys.is_empty() { "" } else { " of the sweep" };
        sentences.push(format!(
            "Settings are compared at equal load: there are {} loads{how}.",
            loads.len()
        ));
    }
    sentences.extend(side_by_side(all, loaded));
    sentences
}

// A sweep.

/// How often each variant does well, which point does best if few do, and the grades.
fn of_sweep(all: &[Judged<'_>], loaded: &[usize], best: Option<String>) -> Vec<String> {
    by_variant(all, loaded).into_iter().chain(best).chain(side_by_side(all, loaded)).collect()
}

/// In how many settings each variant is good on every test, the best first, if any is in one.
fn by_variant(all: &[Judged<'_>], loaded: &[usize]) -> Option<String> {
    let mut counts: Vec<(&str, usize, usize)> = Vec::new();
    for judged in loaded.iter().map(|number| &all[*number]) {
        let variant = judged.group.variant;
        let found = counts.iter().position(|(known, ..)| *known == variant);
        let place = found.unwrap_or_else(|| {
            counts.push((variant, 0, 0));
            counts.len() - 1
        });
        counts[place].1 += usize::from(judged.is_good());
        counts[place].2 += 1;
    }
    counts.sort_by_key(|(_, good, _)| std::cmp::Reverse(*good));
    let ((best, most, of), others) = counts.split_first().map(|(first, rest)| (*first, rest))?;
    if most == 0 || others.is_empty() || counts.len() > NAMED_AT_MOST {
        return None;
    }
    let told = others.iter().map(|(variant, good, _)| format!("{} in {good}", quoted(variant)));
    let told = told.collect::<Vec<_>>().join(", ");
    let verb = if others.iter().all(|(_, good, _)| *good == most) {
        "is good on every test in"
    } else {
        "does best: good on every test in"
    };
    Some(format!("{} {verb} {most} of {of} settings, {told}.", quoted(best)))
}
