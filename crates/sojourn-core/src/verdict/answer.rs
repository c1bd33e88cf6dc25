//! The question that results answer, and the answer in sentences. The first sentence names the setting,
//! by how much it is better, and at what cost.

use std::collections::BTreeMap;

use serde::Serialize;

use super::compared::{Group, Judged, judged};
use super::grades::{Assessment, Grade};
use super::measures::MEASURES;
use super::over_seeds::Value;
use super::thresholds::{APPLICATIONS, Application, CALL, UNDER_LOAD};
use super::words::{capitalised, digits, factor, joined, listed, quoted};

/// More groups than these are not named one by one.
const NAMED_AT_MOST: usize = 8;
/// Nor more than these that are good.
const BEST_NAMED_AT_MOST: usize = 3;
/// A smaller change than this is none to speak of: a share of the value.
const SAME: f64 = 0.02;
/// If no change is greater than this and no grade differs, settings hardly differ.
const HARDLY: f64 = 0.10;
/// An idle line is told as a factor from here on.
const TOLD_AS_FACTOR: f64 = 1.5;

/// A group with its measures and grades.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Graded {
    /// Its name; empty for a single run.
    pub name: String,
    /// Is it what the same people have with nobody filling the line?
    pub is_idle_line: bool,
    /// The number of its idle line among the groups.
    pub idle_line: Option<usize>,
    /// Its grades, in the order of [`APPLICATIONS`].
    pub assessments: Vec<Assessment>,
    /// Its measures by key, in means over seeds.
    pub measures: BTreeMap<&'static str, Value>,
    /// What they are more than on its idle line.
    pub over_idle_line: BTreeMap<&'static str, f64>,
}

/// What runs come to.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Verdict {
    /// The question that they answer.
    pub question: String,
    /// The answer; its first sentence suffices.
    pub sentences: Vec<String>,
    /// Names the traffic without a grade, in a sentence; may be empty.
    pub ungraded: String,
    /// The number of the group that does best; `None` where there is nothing to choose.
    pub best: Option<usize>,
    /// The number of the group that it is held against.
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
    let chosen = (keys.is_empty()).then(|| choice(&all, &loaded)).flatten();
    let sentences = match (loaded.as_slice(), chosen) {
        ([only], _) => of_one(&all, *only),
        (_, Some((best, reference))) => of_several(&all, &loaded, best, reference),
        _ => of_sweep(&all, &loaded),
    };
    let there = |a: &&Application| all.iter().any(|j| is_in(j, a.name));
    Verdict {
        question: question(&all, &loaded, keys),
        sentences,
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
    }
}

/// The best of several groups, and the one that it is held against: the first, which is the state of
/// things, or the worst where the first is the best.
fn choice(all: &[Judged<'_>], loaded: &[usize]) -> Option<(usize, usize)> {
    let by_rank = |one: &&usize, other: &&usize| all[**one].rank(&all[**other]);
    let best = *loaded.iter().min_by(by_rank)?;
    let others = || loaded.iter().filter(|number| **number != best);
    let first = *others().next()?;
    let reference = if first < best { first } else { *others().max_by(by_rank)? };
    Some((best, reference))
}

// The question.

fn question(all: &[Judged<'_>], loaded: &[usize], keys: &[String]) -> String {
    let is_tested = |a: &&Application| {
        a.name != UNDER_LOAD && loaded.iter().any(|number| is_in(&all[*number], a.name))
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
    let swept =
        if keys.is_empty() { String::new() } else { format!(" as {} varies", listed(keys)) };
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
        let grade = found.grade.map_or("not graded", Grade::word);
        format!("{} is {grade}: {}.", capitalised(subject(found.application)), found.summary)
    });
    let sentences: Vec<_> = against.into_iter().flatten().chain(grades).collect();
    if sentences.is_empty() {
        return vec!["No traffic in this scenario has grades.".to_owned()];
    }
    sentences
}

/// An application as the subject of a sentence.
fn subject(application: &'static str) -> &'static str {
    if application == UNDER_LOAD { "responsiveness under load" } else { application }
}

/// What the bulk traffic does to the people on the line, if anything is measured that it could do.
fn against_idle_line(one: &Judged<'_>, idle: &Judged<'_>) -> Option<String> {
    let (who, are_several) = bulk_words(one);
    let does = |singular: &str, plural: &str| {
        format!("{who} {}", if are_several { plural } else { singular })
    };
    let slower = |key, what: &str, unit: &str| {
        let (now, before) = (one.group.mean(key)?, idle.group.mean(key)?);
        let (from, to) = (digits(before), digits(now));
        Some(if before > 0.0 && now >= TOLD_AS_FACTOR * before {
            format!(
                "{} the {what} {} times slower than on an idle line ({from} to {to} {unit})",
                does("makes", "make"),
                factor(now / before)
            )
        } else if now > (1.0 + SAME) * before {
            format!(
                "{} the {what} a little: from {from} {unit} on an idle line to {to} {unit}",
                does("slows", "slow")
            )
        } else {
            format!("{} the {what} as it is on an idle line ({to} {unit})", does("leaves", "leave"))
        })
    };
    let first = slower("game_latency_p90_ms", "game", "ms at p90")
        .or_else(|| slower("page_load_median_s", "page load", "s in the median"))
        .or_else(|| slower("response_median_s", "web response", "s in the median"));
    let call = call_clause(one, idle, "on the idle line");
    let clauses: Vec<_> = first.into_iter().chain(call).collect();
    let sentence = capitalised(&clauses.join("; "));
    (!clauses.is_empty()).then(|| format!("{sentence}."))
}

/// The bulk traffic as the subject of a sentence, and whether it is several.
fn bulk_words(judged: &Judged<'_>) -> (String, bool) {
    let mut words: Vec<(&str, usize)> = Vec::new();
    for entry in judged.group.bulk() {
        match words.iter_mut().find(|(word, _)| *word == entry.bulk) {
            Some((_, count)) => *count += 1,
            None => words.push((entry.bulk, 1)),
        }
    }
    let told: Vec<_> =
        words.iter().map(|(word, count)| format!("the {}", plural(word, *count))).collect();
    let is_one = matches!(words.as_slice(), [(word, count)] if *count == 1 || is_mass(word));
    (listed(&told), !is_one)
}

fn plural(word: &str, count: usize) -> String {
    if count > 1 && !is_mass(word) { format!("{word}s") } else { word.to_owned() }
}

/// Has the word no plural?
fn is_mass(word: &str) -> bool {
    word.ends_with("traffic")
}

// Several settings.

fn of_several(all: &[Judged<'_>], loaded: &[usize], best: usize, reference: usize) -> Vec<String> {
    let mut sentences = vec![answer(&all[best], &all[reference])];
    sentences.extend(all[best].idle_line.and_then(|idle| idle_sentence(&all[idle], &all[best])));
    sentences.extend(side_by_side(all, loaded));
    sentences
}

/// Which setting, by how much, and at what cost.
fn answer(best: &Judged<'_>, reference: &Judged<'_>) -> String {
    let (name, other) = (quoted(best.name()), quoted(reference.name()));
    let noticed = noticed(best, reference);
    let cost = [("upload_mbps", "up"), ("download_mbps", "down")]
        .into_iter()
        .filter_map(|(key, way)| cost_clause(best, reference, key, way));
    let is_same_grades = APPLICATIONS.iter().all(|a| best.grade(a.name) == reference.grade(a.name));
    let is_near = MEASURES.iter().all(|measure| {
        let pair = best.group.mean(measure.key).zip(reference.group.mean(measure.key));
        pair.is_none_or(|(one, another)| {
            (one - another).abs() <= HARDLY * one.abs().max(another.abs())
        })
    });
    if is_same_grades && is_near {
        let told =
            if noticed.is_empty() { String::new() } else { format!(": {}", noticed.join(", ")) };
        return format!("{name} and {other} hardly differ{told}.");
    }
    let clauses: Vec<_> = noticed.into_iter().chain(cost).collect();
    match clauses.as_slice() {
        [] => format!("{name} does best on the tests, against {other}."),
        clauses => format!("{name} does best: against {other}, {}.", joined(clauses)),
    }
}

/// What people notice of going from the reference to the best.
fn noticed(best: &Judged<'_>, reference: &Judged<'_>) -> Vec<String> {
    let number = |key, what: &str, unit: &str| {
        let (to, from) = (best.group.mean(key)?, reference.group.mean(key)?);
        Some(change(what, from, to, unit))
    };
    let clauses = [
        number("game_latency_p90_ms", "game p90", " ms"),
        call_clause(best, reference, &format!("with {}", quoted(reference.name()))),
        number("page_load_median_s", "the median page load", " s"),
        number("response_median_s", "the median web response", " s"),
        number("video_stalled_percent", "the share of time that video stalls", " %"),
    ];
    clauses.into_iter().flatten().collect()
}

fn change(what: &str, from: f64, to: f64, unit: &str) -> String {
    if (to - from).abs() <= SAME * from.abs().max(to.abs()) {
        return format!("{what} stays at {}{unit}", digits(to));
    }
    let verb = if to < from { "falls" } else { "rises" };
    format!("{what} {verb} from {} to {}{unit}", digits(from), digits(to))
}

/// What becomes of the call.
fn call_clause(now: &Judged<'_>, before: &Judged<'_>, where_before: &str) -> Option<String> {
    let (to, from) = (now.group.mean("voice_mos")?, before.group.mean("voice_mos")?);
    let word = match now.grade(CALL)? {
        Grade::Good => "good",
        Grade::Fair => "usable",
        Grade::Poor => "poor",
    };
    Some(if now.grade(CALL) == before.grade(CALL) {
        format!("the call stays {word} (MOS {to:.2}, {from:.2} {where_before})")
    } else {
        format!("the call becomes {word} (MOS from {from:.2} to {to:.2})")
    })
}

/// What bulk traffic in a direction keeps of its rate.
fn cost_clause(best: &Judged<'_>, reference: &Judged<'_>, key: &str, way: &str) -> Option<String> {
    let (to, from) = (best.group.mean(key)?, reference.group.mean(key)?);
    let bulk = best.group.bulk();
    let words: Vec<&str> =
        bulk.iter().filter(|entry| entry.bulk_direction == way).map(|entry| entry.bulk).collect();
    let first = words.first().filter(|_| from > 0.0)?;
    let is_alike = words.iter().all(|word| word == first);
    let word = if is_alike { first } else { "bulk traffic" };
    let (noun, are_several) = (plural(word, words.len()), words.len() > 1 && !is_mass(word));
    let share = 100.0 * to / from;
    let (keep, gain, their) =
        if are_several { ("keep", "gain", "their") } else { ("keeps", "gains", "its") };
    Some(if share >= 102.0 {
        format!("the {noun} {gain} {:.0} %", share - 100.0)
    } else {
        format!("the {noun} {keep} {:.0} % of {their} rate", share.min(100.0))
    })
}

/// What the same people have with nobody filling the line.
fn idle_sentence(idle: &Judged<'_>, loaded: &Judged<'_>) -> Option<String> {
    let values = [
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
    (!told.is_empty()).then(|| format!("On an idle line, without {who}, {}.", listed(&told)))
}

/// The grades of all settings.
fn side_by_side(all: &[Judged<'_>], loaded: &[usize]) -> Vec<String> {
    let loaded: Vec<&Judged<'_>> = loaded.iter().map(|number| &all[*number]).collect();
    if loaded.iter().all(|judged| judged.assessments.is_empty()) {
        return vec!["No traffic in this scenario has grades.".to_owned()];
    }
    let is_tested = |a: &&Application| loaded.iter().any(|judged| is_in(judged, a.name));
    let tests: Vec<_> = APPLICATIONS.iter().filter(is_tested).map(|a| a.name).collect();
    let best: Vec<_> = loaded.iter().filter(|judged| judged.is_good()).map(|j| j.name()).collect();
    let are_named = loaded.len() <= NAMED_AT_MOST || best.len() <= BEST_NAMED_AT_MOST;
    let which = match best.as_slice() {
        [] => "none".to_owned(),
        best if are_named => listed(best),
        best => format!("{} of {} settings", best.len(), loaded.len()),
    };
    let first = format!("Good on every test ({}): {which}.", listed(&tests));
    let others: Vec<_> = loaded.iter().filter(|judged| !judged.is_good()).collect();
    let others = others.iter().take(if others.len() > NAMED_AT_MOST { 0 } else { others.len() });
    let told = others.map(|judged| format!("{}: {}.", quoted(judged.name()), faults(judged)));
    std::iter::once(first).chain(told).collect()
}

/// The applications that are not good, by grade.
fn faults(judged: &Judged<'_>) -> String {
    let grades = [(Some(Grade::Poor), "poor"), (Some(Grade::Fair), "fair"), (None, "not measured")];
    let told = grades.into_iter().filter_map(|(grade, word)| {
        let of_grade = judged.assessments.iter().filter(|found| found.grade == grade);
        let names: Vec<_> = of_grade.map(|found| found.application).collect();
        (!names.is_empty()).then(|| format!("{} {word}", listed(&names)))
    });
    told.collect::<Vec<_>>().join(", ")
}

// A sweep.

fn of_sweep(all: &[Judged<'_>], loaded: &[usize]) -> Vec<String> {
    by_variant(all, loaded).into_iter().chain(side_by_side(all, loaded)).collect()
}

/// In how many settings each variant is good on every test, the best first.
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
    if others.is_empty() || counts.len() > NAMED_AT_MOST {
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
