//! The question that results answer, and the answer in sentences. The first sentence names the setting,
//! by how much it is better, and at what cost.

use std::collections::BTreeMap;

use serde::Serialize;

use super::compared::{BulkKind, Group, Judged, SAME, best_of, differs, is_comparable, judged};
use super::grades::{Assessment, Grade};
use super::measures::{MEASURES, Measure};
use super::over_seeds::Value;
use super::thresholds::{APPLICATIONS, Application, CALL, UNDER_LOAD};
use super::words::{capitalised, digits, factor, joined, listed, quoted};
use crate::packet::Direction;
use crate::scenario::IDLE_LINE;

/// More groups than these are not named one by one.
const NAMED_AT_MOST: usize = 8;
/// Nor more than these that are good.
const BEST_NAMED_AT_MOST: usize = 3;
/// If no change is greater than this and no grade differs, settings hardly differ.
const HARDLY: f64 = 0.10;
/// The rates of at most so many transfers are in a sentence.
const RATES_AT_MOST: usize = 3;
/// Bulk traffic that keeps a smaller share of its rate is a price.
const PRICE_BELOW: f64 = 0.5;
/// From this ratio to the idle line on, a sentence gives the ratio.
const TOLD_AS_FACTOR: f64 = 1.5;

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
    let best = best_of(&all, &loaded);
    let chosen = choice(&all, &loaded, &best);
    let answered = chosen.map(|(_, reference)| answer(&all, &best, reference));
    let sentences = match (loaded.as_slice(), keys, answered) {
        ([only], ..) => of_one(&all, *only),
        (_, [], Some(answer)) => of_several(&all, &loaded, answer, best[0]),
        ([first, ..], [], None) => of_several(&all, &loaded, no_winner(&all, &loaded), *first),
        (_, _, answer) => {
            of_sweep(&all, &loaded, answer.filter(|_| best.len() <= BEST_NAMED_AT_MOST))
        }
    };
    let chosen = chosen.filter(|_| keys.is_empty());
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

/// The best of several groups, and the one that it is compared with: the first of the others, which is
/// the present state, or the worst where the first is among the best. `None` if they hardly differ.
fn choice(all: &[Judged<'_>], loaded: &[usize], best: &[usize]) -> Option<(usize, usize)> {
    let by_rank = |one: &&usize, other: &&usize| all[**one].rank(&all[**other]);
    let others = || loaded.iter().filter(|number| !best.contains(number));
    let (winner, first) = (*best.first()?, *others().next()?);
    if others().all(|number| hardly_differ(all, winner, *number)) {
        return None;
    }
    let reference = if first < winner { first } else { *others().max_by(by_rank)? };
    Some((winner, reference))
}

/// Have two groups the same grades, and no measure that differs by much?
fn hardly_differ(all: &[Judged<'_>], one: usize, another: usize) -> bool {
    let (a, b) = (&all[one], &all[another]);
    let is_near = |measure: &Measure| {
        let pair = a.group.mean(measure.key).zip(b.group.mean(measure.key));
        pair.is_none_or(|(x, y)| {
            !differs(measure, x, y) || (x - y).abs() <= HARDLY * x.abs().max(y.abs())
        })
    };
    APPLICATIONS.iter().all(|app| a.grade(app.name) == b.grade(app.name))
        && MEASURES.iter().filter(|m| is_comparable(m, all, &[one, another])).all(is_near)
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

/// What the bulk traffic does to other traffic, if anything is measured that it could do.
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
    let call = call_clause(one, idle);
    let clauses: Vec<_> = first.into_iter().chain(call).collect();
    let sentence = capitalised(&clauses.join("; "));
    (!clauses.is_empty()).then(|| format!("{sentence}."))
}

/// The bulk traffic as the subject of a sentence, and whether it is several.
fn bulk_words(judged: &Judged<'_>) -> (String, bool) {
    let nouns: Vec<_> = judged.group.bulk_kinds().iter().map(BulkKind::noun).collect();
    let are_several = nouns.len() > 1 || nouns.iter().any(|(_, is_plural)| *is_plural);
    let mut told: Vec<_> = nouns.into_iter().map(|(noun, _)| format!("the {noun}")).collect();
    told.dedup();
    (listed(&told), are_several)
}

// Several settings.

fn of_several(all: &[Judged<'_>], loaded: &[usize], answer: String, shown: usize) -> Vec<String> {
    let mut sentences = vec![answer];
    sentences.extend(all[shown].idle_line.and_then(|idle| idle_sentence(&all[idle], &all[shown])));
    sentences.extend(side_by_side(all, loaded));
    sentences
}

/// Which setting, by how much, and at what cost.
fn answer(all: &[Judged<'_>], winners: &[usize], reference: usize) -> String {
    let names: Vec<_> = winners.iter().map(|number| all[*number].name()).collect();
    let name = listed(&names);
    let does = if names.len() == 1 { "does best" } else { "do best and hardly differ" };
    let (best, other) = (&all[winners[0]], &all[reference]);
    let mut bulk = best.group.bulk_kinds();
    bulk.sort_by_key(|kind| kind.direction != Direction::Up.name());
    let price = if bulk.iter().any(|kind| is_costly(kind, other)) { ", at a price" } else { "" };
    let mut clauses = noticed(best, other);
    let is_noticed = !clauses.is_empty();
    clauses.extend(unnoticed(all, winners[0], reference));
    if !is_noticed {
        clauses.extend(clause_of("upstream_queue_p99_ms", "queue p99", best, other));
        clauses.dedup();
    }
    clauses.extend(bulk.iter().filter_map(|kind| cost_clause(kind, other)));
    let other = quoted(other.name());
    match clauses.as_slice() {
        [] => format!("{name} {does} on the tests, against {other}."),
        clauses => format!("{name} {does}{price}: against {other}, {}.", joined(clauses)),
    }
}

/// In what settings differ of which none does best.
fn no_winner(all: &[Judged<'_>], loaded: &[usize]) -> String {
    let groups: Vec<_> = loaded.iter().map(|number| all[*number].group).collect();
    let span =
        |values: Option<Vec<f64>>, what: &str, unit: &str, is_told: &dyn Fn(f64, f64) -> bool| {
            let values = values?;
            let least = values.iter().copied().reduce(f64::min)?;
            let most = values.iter().copied().reduce(f64::max)?;
            let name_of = |wanted: f64| {
                let place = values.iter().position(|value| *value == wanted).unwrap_or_default();
                quoted(groups[place].name)
            };
            is_told(least, most).then(|| {
                let (from, to) = (digits(least), digits(most));
                format!(
                    "{what} is {from}{unit} with {} and {to}{unit} with {}",
                    name_of(least),
                    name_of(most)
                )
            })
        };
    let measures = MEASURES.iter().filter(|m| is_comparable(m, all, loaded)).filter_map(|m| {
        let values = groups.iter().map(|group| group.mean(m.key)).collect();
        span(values, m.label, &m.unit_after(), &|least, most| differs(m, least, most))
    });
    let mut entries: Vec<&str> = groups[0].bulk().iter().map(|entry| entry.name.as_str()).collect();
    entries.dedup();
    let rates = entries.iter().filter_map(|entry| {
        let values = groups.iter().map(|group| group.bulk_mbps(entry)).collect();
        let what = format!("the rate of {}", quoted(entry));
        span(values, &what, " Mbps", &|least, most| most - least > HARDLY * most)
    });
    let told: Vec<_> = rates.take(RATES_AT_MOST).chain(measures).take(RATES_AT_MOST).collect();
    let settings = if loaded.len() > NAMED_AT_MOST {
        format!("the {} settings", loaded.len())
    } else {
        listed(&groups.iter().map(|group| group.name).collect::<Vec<_>>())
    };
    if told.is_empty() {
        return format!("No setting does best: {settings} hardly differ.");
    }
    format!(
        "No setting does best: grades and totals hardly differ. {}.",
        capitalised(&joined(&told))
    )
}

/// The measures that users notice beside the call, in words, with the least value that they notice: of loss
/// what a good game may have at most.
const NOTICED: [(&str, &str, f64); 5] = [
    ("game_latency_p90_ms", "game p90", 0.0),
    ("game_loss_percent", "game loss", 1.0),
    ("page_load_median_s", "the median page load", 0.0),
    ("response_median_s", "the median web response", 0.0),
    ("video_stalled_percent", "the share of time that video stalls", 0.0),
];

/// What users notice of going from the reference to the best.
fn noticed(best: &Judged<'_>, reference: &Judged<'_>) -> Vec<String> {
    let is_noticed = |(key, _, least): &&(&str, &str, f64)| {
        [best, reference].iter().any(|one| one.group.mean(key).is_some_and(|mean| mean >= *least))
    };
    let told = NOTICED.iter().filter(is_noticed);
    let told = told.filter_map(|(key, what, _)| clause_of(key, what, best, reference));
    told.chain(call_clause(best, reference)).collect()
}

/// How a measure changes; `None` if one of them does not have it.
fn clause_of(key: &str, what: &str, best: &Judged<'_>, reference: &Judged<'_>) -> Option<String> {
    let measure = Measure::named(key);
    let (to, from) = (best.group.mean(key)?, reference.group.mean(key)?);
    Some(change(what, from, to, &measure.unit_after()))
}

/// The first measure that differs, where users notice no difference.
fn unnoticed(all: &[Judged<'_>], best: usize, reference: usize) -> Option<String> {
    let (to, from) = (&all[best], &all[reference]);
    let differing = |measure: &&Measure| {
        let pair = to.group.mean(measure.key).zip(from.group.mean(measure.key));
        pair.is_some_and(|(x, y)| differs(measure, x, y))
    };
    // The clauses on cost have these.
    let is_cost = |measure: &&Measure| measure.of_transfers().is_some();
    let mut differing =
        MEASURES.iter().filter(differing).filter(|measure| !is_cost(measure)).peekable();
    let is_alike = APPLICATIONS.iter().all(|app| to.grade(app.name) == from.grade(app.name));
    let is_told = |measure: &Measure| NOTICED.iter().any(|(key, ..)| *key == measure.key);
    let first = differing.peek().filter(|measure| is_alike && !is_told(measure))?;
    is_comparable(first, all, &[best, reference]).then_some(())?;
    clause_of(first.key, first.label, to, from)
}

fn change(what: &str, from: f64, to: f64, unit: &str) -> String {
    if (to - from).abs() <= SAME * from.abs().max(to.abs()) {
        return format!("{what} stays at {}{unit}", digits(to));
    }
    let verb = if to < from { "falls" } else { "rises" };
    format!("{what} {verb} from {} to {}{unit}", digits(from), digits(to))
}

/// How the call changes.
fn call_clause(now: &Judged<'_>, before: &Judged<'_>) -> Option<String> {
    let (to, from) = (now.group.mean("voice_mos")?, before.group.mean("voice_mos")?);
    let grade = now.grade(CALL)?;
    let word = grade.word();
    let scores = match (format!("{from:.2}"), format!("{to:.2}")) {
        (from, to) if from == to => format!("MOS {to}"),
        (from, to) => format!("MOS from {from} to {to}"),
    };
    Some(match before.grade(CALL) {
        Some(old) if old == grade => format!("the call stays {word} ({scores})"),
        Some(old) => {
            let verb = if grade > old { "falls" } else { "rises" };
            format!("the call {verb} from {} to {word} ({scores})", old.word())
        }
        None => format!("the call is {word} ({scores})"),
    })
}

/// The same kind of bulk traffic in the reference, if it has a rate there.
fn same_kind(kind: &BulkKind, reference: &Judged<'_>) -> Option<BulkKind> {
    let mut others = reference.group.bulk_kinds().into_iter();
    let is_same = |other: &BulkKind| (other.word, other.direction) == (kind.word, kind.direction);
    others.find(is_same).filter(|other| other.mbps > 0.0)
}

/// Does a kind of bulk traffic keep so little of its rate that this is a price?
fn is_costly(kind: &BulkKind, reference: &Judged<'_>) -> bool {
    same_kind(kind, reference).is_some_and(|before| {
        kind.transfers == before.transfers && kind.mbps < PRICE_BELOW * before.mbps
    })
}

/// What a kind of bulk traffic keeps of its rate, or the mean rate of each transfer if their number
/// differs.
fn cost_clause(kind: &BulkKind, reference: &Judged<'_>) -> Option<String> {
    let before = same_kind(kind, reference)?;
    if kind.transfers != before.transfers {
        let each = |kind: &BulkKind| kind.mbps / f64::from(kind.transfers.max(1));
        let what = format!("the mean rate of each {}", kind.word);
        return Some(change(&what, each(&before), each(kind), " Mbps"));
    }
    let (noun, are_several) = kind.noun();
    let share = 100.0 * kind.mbps / before.mbps;
    let (keep, gain, have, their) = if are_several {
        ("keep", "gain", "have", "their")
    } else {
        ("keeps", "gains", "has", "its")
    };
    Some(if share >= 200.0 {
        format!("the {noun} {have} {} times {their} rate", factor(share / 100.0))
    } else if share >= 102.0 {
        format!("the {noun} {gain} {:.0} %", share - 100.0)
    } else {
        format!("the {noun} {keep} {:.0} % of {their} rate", share.min(100.0))
    })
}

/// What the same other traffic gets without the bulk traffic.
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
    (!told.is_empty()).then(|| format!("On {}, without {who}, {}.", line_of(idle), listed(&told)))
}

/// An idle line with the setting that it is of, where it is not of all.
fn line_of(idle: &Judged<'_>) -> String {
    let name = idle.group.name;
    if name.starts_with(&format!("{IDLE_LINE} of ")) {
        format!("the {name}")
    } else {
        format!("an {IDLE_LINE}")
    }
}

/// The grades of all settings.
fn side_by_side(all: &[Judged<'_>], loaded: &[usize]) -> Vec<String> {
    let loaded: Vec<&Judged<'_>> = loaded.iter().map(|number| &all[*number]).collect();
    if loaded.iter().all(|judged| judged.assessments.is_empty()) {
        return vec!["No traffic in this scenario has grades.".to_owned()];
    }
    let on_tests = on_every_test(&loaded);
    let best: Vec<_> = loaded.iter().filter(|judged| judged.is_good()).map(|j| j.name()).collect();
    let are_named = loaded.len() <= NAMED_AT_MOST || best.len() <= BEST_NAMED_AT_MOST;
    let first = match best.as_slice() {
        [] => format!("No setting is good {on_tests}."),
        best if are_named => format!("Good {on_tests}: {}.", listed(best)),
        best => format!("{} of {} settings are good {on_tests}.", best.len(), loaded.len()),
    };
    let mut others: Vec<(Vec<&str>, String)> = Vec::new();
    for judged in loaded.iter().filter(|judged| !judged.is_good()) {
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
            format!("on every test ({})", listed(&named))
        }
    }
}

/// The applications that are not good, by grade.
fn faults(judged: &Judged<'_>) -> String {
    let grades = [(Some(Grade::Poor), "poor"), (Some(Grade::Fair), "fair"), (None, "not graded")];
    let told = grades.into_iter().filter_map(|(grade, word)| {
        let of_grade = judged.assessments.iter().filter(|found| found.grade == grade);
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
