//! An answer in sentences: which setting does best, what changes, its price, and on what it rests.

use super::grades::{Assessment, Share};
use super::groups::{Group, Judged, NAMED, SAME};
use super::measures::{Better, MEASURES, Measure};
use super::order::{Answer, Component, Price, Question};
use super::thresholds::{CALL, GAME, Grade, PAGE, VIDEO_RATE};
use super::words::{capitalised, digits, factor, joined, listed, quoted};

/// More groups than these are not named one by one.
pub(super) const NAMED_AT_MOST: usize = 8;
/// So many differences without a grade are named.
const DIFFERENCES_AT_MOST: usize = 3;

/// What has no grade of its own and is named if it differs by much.
const HEADLINES: [&str; 6] = [
    "game_rtt_p99_ms",
    "game_latency_p90_ms",
    "response_median_s",
    "video_rate_mbps",
    "low_latency_queue_p99_ms",
    "classic_queue_p99_ms",
];
/// Rates, which are named where shares of the line compare nothing.
const RATES: [&str; 4] = ["upload_mbps", "download_mbps", "torrent_mbps", "torrent_down_mbps"];

/// The answer to a question.
pub(super) fn sentences(question: &Question<'_, '_>, answer: &Answer) -> Vec<String> {
    let first = match answer.best.as_slice() {
        best if !answer.is_alike => front(question, best),
        best if best.len() == question.settings.len() => none(question),
        best => named(question, answer, best),
    };
    [Some(first), answer.hair.clone(), unsure(question, answer)].into_iter().flatten().collect()
}

fn names(question: &Question<'_, '_>, numbers: &[usize]) -> String {
    if numbers.len() > NAMED_AT_MOST {
        return format!("{} settings", numbers.len());
    }
    let names: Vec<_> = numbers.iter().map(|number| question.all[*number].name()).collect();
    listed(&names)
}

/// One setting does best, or several equally well.
fn named(question: &Question<'_, '_>, answer: &Answer, best: &[usize]) -> String {
    let does = if best.len() == 1 { "does best" } else { "do equally well" };
    let hair = if answer.hair.is_some() { ", by a hair" } else { "" };
    let price = if answer.price.is_empty() { "" } else { ", at a price" };
    let head =
        format!("{} {does}{hair}{price}: {}.", names(question, best), state(question, best[0]));
    let Some(reference) = answer.reference else { return head };
    let Changes { better, worse } = changes(question, best, reference);
    let clauses = [joined(&better), joined(&worse)].into_iter().filter(|one| !one.is_empty());
    let clauses = clauses.collect::<Vec<_>>().join(", but ");
    let against = quoted(question.all[reference].name());
    let changes =
        if clauses.is_empty() { String::new() } else { format!(" Against {against}, {clauses}.") };
    format!("{head}{changes}{}", alternatives(question, &answer.price))
}

/// How well a setting does in all.
fn state(question: &Question<'_, '_>, best: usize) -> String {
    let levels = question.components().iter().filter_map(|one| question.level(best, one));
    let worst = levels.map(|(grade, _)| grade).max();
    let setting = &question.all[best];
    let all = match (setting.group.unwatched().is_empty(), setting.is_good_as_measured()) {
        (false, _) => "all that is measured",
        (true, false) => "all that users notice",
        (true, true) => "all",
    };
    match worst {
        None => "nothing has a grade".to_owned(),
        Some(Grade::Good) => format!("{all} is good"),
        Some(Grade::Fair) => "nothing is poor with it".to_owned(),
        Some(Grade::Poor) => "nothing fails with it".to_owned(),
        Some(Grade::Fails) => "the least fails with it".to_owned(),
    }
}

/// If what the best costs matters most.
fn alternatives(question: &Question<'_, '_>, price: &[Price]) -> String {
    let mut by_setting: Vec<(usize, Vec<String>)> = Vec::new();
    for one in price {
        let Some(setting) = one.alternative else { continue };
        let what = noun(one.application);
        match by_setting.iter_mut().find(|(known, _)| *known == setting) {
            Some((_, whats)) => whats.push(what),
            None => by_setting.push((setting, vec![what])),
        }
    }
    let clauses = by_setting.into_iter().map(|(setting, whats)| {
        let matter = if whats.len() == 1 { "matters" } else { "matter" };
        let name = quoted(question.all[setting].name());
        format!(" If {} {matter} most: {name}.", joined(&whats))
    });
    clauses.collect()
}

/// Several do best, each in something else.
fn front(question: &Question<'_, '_>, best: &[usize]) -> String {
    let clause = |setting: &usize| {
        let is_ahead = |component: &&Component| {
            let level = question.level(*setting, component);
            let mut others = best.iter().map(|other| question.level(*other, component));
            level.is_some()
                && others.clone().all(|other| level <= other)
                && others.any(|o| o != level)
        };
        let ahead = question.components().iter().filter(is_ahead);
        let clauses = ahead.filter_map(|component| {
            let found = question.assessments(*setting, component);
            let worst = found.into_iter().max_by_key(|one| one.level())?;
            let (metric, label, unit) = worst.graded.sheet.values.first()?;
            let value = digits(worst.values.get(metric).copied()??);
            let (noun, label) = (noun(worst.application), short(worst.application, label));
            Some(format!("{noun} ({label}{value}{unit})"))
        });
        let clauses: Vec<_> = clauses.collect();
        let name = quoted(question.all[*setting].name());
        (!clauses.is_empty()).then(|| format!("{name} for {}", joined(&clauses)))
    };
    let clauses: Vec<_> = best.iter().take(NAMED_AT_MOST).filter_map(clause).collect();
    format!("No setting does best at everything. Best are {}.", clauses.join("; "))
}

/// All settings do equally well.
fn none(question: &Question<'_, '_>) -> String {
    let names = names(question, &question.settings);
    let clauses = ranges(question.all, &question.settings);
    let clauses = if clauses.is_empty() { String::new() } else { format!(" {clauses}.") };
    format!("No setting does best: {names} do equally well.{clauses}")
}

fn unsure(question: &Question<'_, '_>, answer: &Answer) -> Option<String> {
    let seeds = question.settings.iter().map(|number| question.all[*number].group.runs.len());
    let seeds = seeds.max().unwrap_or_default();
    let names = names(question, &answer.unsure);
    let does = if answer.unsure.len() == 1 { "does" } else { "do" };
    (!answer.unsure.is_empty())
        .then(|| format!("Whether {names} {does} best, {seeds} seeds cannot tell."))
}

/// What changes from one setting to others, in clauses.
#[derive(Default)]
struct Changes {
    better: Vec<String>,
    worse: Vec<String>,
}

impl Changes {
    /// Adds clauses, each with whether it is for the worse.
    fn add(&mut self, clauses: impl IntoIterator<Item = (String, bool)>) {
        for (clause, is_worse) in clauses {
            if is_worse { self.worse.push(clause) } else { self.better.push(clause) }
        }
    }
}

fn changes(question: &Question<'_, '_>, best: &[usize], reference: usize) -> Changes {
    let mut changes = Changes::default();
    for name in question.components().iter().flat_map(|component| component.iter()) {
        let after: Vec<&Assessment> =
            best.iter().filter_map(|one| question.assessment(*one, name)).collect();
        let found = match question.assessment(reference, name) {
            Some(before) => graded_clause(before, &after),
            None => after.first().and_then(|after| new_clause(after)),
        };
        changes.add(found);
    }
    let [group, other] = [best[0], reference].map(|number| question.all[number].group);
    let rates: &[&str] = if question.compares_lines { &RATES } else { &[] };
    let game = question
        .assessment(reference, GAME)
        .and_then(|before| graded_clause(before, &[question.assessment(best[0], GAME)?]));
    let is_new = |key: &&&str| game.is_none() || !key.starts_with(GAME);
    let clauses = HEADLINES.iter().chain(rates).filter(is_new).filter_map(|key| {
        let measure = Measure::named(key);
        let (from, to) = group.named_difference(key, other)?;
        let is_worse = (to < from) == (measure.better == Better::Higher);
        Some((change(measure.label, from, &[to], &measure.unit_after()), is_worse))
    });
    changes.add(clauses.take(DIFFERENCES_AT_MOST));
    if !question.compares_lines {
        let [now, before] = [best[0], reference].map(|number| &question.all[number].transfers);
        changes.add(single_rates(now, before));
    }
    changes
}

/// A queue that does not stand in the reference.
fn new_clause(after: &Assessment) -> Option<(String, bool)> {
    let grade = after.grade().filter(|grade| *grade > Grade::Good)?;
    let (noun, state) = (noun(after.application), grade.state());
    Some((format!("{noun} falls from good to {state} ({})", after.summary), true))
}

/// What changes from one grade or value to others, and whether it is for the worse.
fn graded_clause(before: &Assessment, after: &[&Assessment]) -> Option<(String, bool)> {
    let first = after.first()?;
    let (was, is) = (before.grade()?, first.grade()?);
    let changed = before.graded.sheet.values.iter().filter_map(|(metric, label, unit)| {
        let from = before.values.get(metric).copied()??;
        let to: Option<Vec<f64>> =
            after.iter().map(|one| one.values.get(metric).copied()?).collect();
        let to = to?;
        let by = (to[0] - from).abs() / to[0].abs().max(from.abs()).max(f64::MIN_POSITIVE);
        Some((metric, label, unit, from, to, by))
    });
    let mut changed: Vec<_> = changed.collect();
    let is_much = |by: f64| by > NAMED;
    let at_least = |metric: &str| before.graded.is_better_more(metric);
    // A value that goes with the change of the grade, and that which changes by much.
    if is != was {
        changed.retain(|(metric, _, _, from, to, _)| {
            to[0] == *from || ((to[0] < *from) == at_least(metric)) == (is > was)
        });
    }
    let place = changed.iter().position(|(.., by)| is_much(*by)).unwrap_or_default();
    let value = changed.get(place);
    if is == was {
        let (metric, label, unit, from, to, by) = value?;
        let what = value_of(before.application, label);
        let is_worse = (to[0] < *from) == at_least(metric);
        return is_much(*by).then(|| (change(&what, *from, to, unit), is_worse));
    }
    let values = value.map(|(_, label, unit, from, to, _)| {
        let label = short(before.application, label);
        format!(" ({label}from {} to {}{unit})", digits(*from), several(to))
    });
    let verb = if is > was { "falls" } else { "rises" };
    let of =
        if first.traffic.is_empty() || first.traffic == before.traffic { "" } else { "worst " };
    let noun = noun(before.application).replacen("the ", &format!("the {of}"), 1);
    let values = values.unwrap_or_default();
    Some((format!("{noun} {verb} from {} to {}{values}", was.state(), is.state()), is > was))
}

/// Transfers whose rates change by much, where there are several in a direction: what one gains another may lose.
fn single_rates(now: &[Share], before: &[Share]) -> Vec<(String, bool)> {
    let is_beside = |one: &&Share| now.iter().filter(|other| other.way == one.way).count() > 1;
    let clauses = now.iter().filter(is_beside).filter_map(|one| {
        let is_it = |other: &&Share| (&other.traffic, other.way) == (&one.traffic, one.way);
        let from = before.iter().find(is_it)?.mbps;
        let is_much = (one.mbps - from).abs() > NAMED * one.mbps.max(from);
        let what = format!("the rate of '{}'", one.traffic);
        is_much.then(|| (change(&what, from, &[one.mbps], " Mbps"), one.mbps < from))
    });
    clauses.take(DIFFERENCES_AT_MOST).collect()
}

/// A value as the subject of a clause.
pub(super) fn value_of(application: &str, label: &str) -> String {
    if label.is_empty() {
        format!("{}'s share", noun(application))
    } else if label.ends_with(" the") {
        format!("{label} {application}")
    } else {
        label.to_owned()
    }
}

/// What a value is of, with a space behind it, where its application stands before.
fn short(application: &str, label: &str) -> String {
    let possessive = format!("the {application}'s ");
    let of = [possessive.as_str(), application, "the "];
    let short = of.iter().fold(label, |label, part| label.strip_prefix(part).unwrap_or(label));
    let short = short.strip_suffix(" in the").unwrap_or(short).trim();
    if short.is_empty() { String::new() } else { format!("{short} ") }
}

/// What is graded, as the subject of a clause.
pub(super) fn noun(application: &str) -> String {
    match application {
        PAGE => "the page load".to_owned(),
        VIDEO_RATE => "the video's rate".to_owned(),
        "data up" => "the data sent".to_owned(),
        "data down" => "the data received".to_owned(),
        "torrent down" => "the torrent's download".to_owned(),
        other => format!("the {other}"),
    }
}

fn several(values: &[f64]) -> String {
    let mut texts: Vec<_> = values.iter().map(|value| digits(*value)).collect();
    texts.dedup();
    joined(&texts)
}

pub(super) fn change(what: &str, from: f64, to: &[f64], unit: &str) -> String {
    if (to[0] - from).abs() <= SAME * from.abs().max(to[0].abs()) {
        return format!("{what} stays at {}{unit}", several(to));
    }
    let verb = if to[0] < from { "falls" } else { "rises" };
    format!("{what} {verb} from {} to {}{unit}", digits(from), several(to))
}

/// How the call changes.
pub(super) fn call_clause(now: &Judged<'_>, before: &Judged<'_>) -> Option<String> {
    let (to, from) = (now.group.mean("voice_mos")?, before.group.mean("voice_mos")?);
    let grade = now.grade(CALL)?;
    let word = grade.state();
    let scores = match (format!("{from:.2}"), format!("{to:.2}")) {
        (from, to) if from == to => format!("MOS {to}"),
        (from, to) => format!("MOS from {from} to {to}"),
    };
    Some(match before.grade(CALL) {
        Some(old) if old == grade => format!("the call stays {word} ({scores})"),
        Some(old) => {
            let verb = if grade > old { "falls" } else { "rises" };
            format!("the call {verb} from {} to {word} ({scores})", old.state())
        }
        None => format!("the call is {word} ({scores})"),
    })
}

/// The bulk traffic as the subject of a sentence, and whether it is several.
pub(super) fn bulk_words(judged: &Judged<'_>) -> (String, bool) {
    let nouns: Vec<_> = judged.group.bulk_kinds().iter().map(|kind| kind.noun()).collect();
    let are_several = nouns.len() > 1 || nouns.iter().any(|(_, is_plural)| *is_plural);
    let clauses: Vec<_> = nouns.into_iter().map(|(noun, _)| format!("the {noun}")).collect();
    (listed(&clauses), are_several)
}

/// Whose doing it is that a transfer gets little: another one that takes more than its part of the same direction.
pub(super) fn taken(judged: &Judged<'_>) -> Option<String> {
    let by_part = |one: &&Share, other: &&Share| one.of_part().total_cmp(&other.of_part());
    let poor = judged.transfers.iter().min_by(by_part)?;
    let most = judged.transfers.iter().filter(|one| one.way == poor.way).max_by(by_part)?;
    let mark = judged.group.runs[0].marks.get(&most.traffic);
    let mark = mark.map_or_else(String::new, |mark| format!(", marked {mark},"));
    (poor.of_part() < STARVED && most.of_part() > 1.0 + NAMED).then(|| {
        format!(
            "'{}'{mark} takes {} times its part ({} of {} Mbps), and '{}' is left {:.0} % of its own ({} Mbps).",
            most.traffic,
            factor(most.of_part()),
            digits(most.mbps),
            digits(most.part_mbps),
            poor.traffic,
            100.0 * poor.of_part(),
            digits(poor.mbps)
        )
    })
}

/// What has less of its part lacks what another one takes.
const STARVED: f64 = 0.5;

/// What differs between settings most plainly, in clauses with a capital letter; empty if nothing does.
pub(super) fn ranges(all: &[Judged<'_>], loaded: &[usize]) -> String {
    let groups: Vec<&Group<'_>> = loaded.iter().map(|number| all[*number].group).collect();
    let clauses = MEASURES.iter().filter_map(|measure| {
        let values: Option<Vec<f64>> = groups.iter().map(|group| group.mean(measure.key)).collect();
        let values = values?;
        let place = |wanted: f64| values.iter().position(|value| *value == wanted);
        let least = values.iter().copied().reduce(f64::min)?;
        let most = values.iter().copied().reduce(f64::max)?;
        let (low, high) = (groups[place(least)?], groups[place(most)?]);
        high.named_difference(measure.key, low)?;
        let (what, unit) = (measure.label, measure.unit_after());
        let clause = format!(
            "{what} is {}{unit} with {} and {}{unit} with {}",
            digits(least),
            quoted(low.name),
            digits(most),
            quoted(high.name)
        );
        Some((clause, (most - least) / most))
    });
    let mut clauses: Vec<_> = clauses.collect();
    clauses.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let clauses: Vec<_> =
        clauses.into_iter().take(DIFFERENCES_AT_MOST).map(|(clause, _)| clause).collect();
    capitalised(&joined(&clauses))
}
