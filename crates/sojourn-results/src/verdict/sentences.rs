//! An answer in sentences: which setting does best, what changes, its price, and on what it rests.

use std::cmp::Reverse;

use super::facts::{Facts, Payload};
use super::grades::{Assessment, Component};
use super::groups::{Group, Judged};
use super::measures::{MEASURES, Measure};
use super::order::{Answer, Price, Question};
use super::thresholds::{ADDED_DELAY, Application, Grade, NAMED, Shown, UNDER_LOAD, waits_of};
use crate::letters::letter;
use crate::shares::Share;
use crate::words::{
    apart, apart_from_first, around, capitalised, differ, digits, distinct, factor, grouped,
    joined, listed,
};
use sojourn_engine::packet::Direction;
use sojourn_scenario::apps::Bulk;

/// More groups than these are not named one by one.
pub(super) const NAMED_AT_MOST: usize = 8;
/// So many differences without a grade are named, values that are still changing, and things that letters do not say.
pub(super) const DIFFERENCES_AT_MOST: usize = 3;

/// The answer to a question.
pub(super) fn sentences(question: &Question<'_, '_>, answer: &Answer) -> Vec<String> {
    let first = match answer.best.as_slice() {
        best if !answer.is_alike => front(question, best),
        best if best.len() == question.settings.len() => none(question, answer),
        best => named(question, answer, best),
    };
    let first = nothing_good(question, answer.best[0]) + &first;
    let more = [answer.hair.clone(), among(question, answer), unsure(question, answer)];
    let more = more.into_iter().chain([yielding(question, answer), left_out(question)]);
    // What changes against the reference is named already.
    let rivals = question.rivals(&answer.best[..1]);
    let others = rivals.into_iter().filter(|one| Some(*one) != answer.reference);
    let decided = others.filter_map(|other| decided(question, answer, other));
    let against = decided.filter(|_| answer.is_alike);
    std::iter::once(first).chain(more.flatten()).chain(against).collect()
}

/// Settings by their names, or how many they are.
pub(super) fn names(settings: &[&Judged<'_>]) -> String {
    match settings.len() {
        0..=NAMED_AT_MOST => joined(distinct(settings.iter().map(|one| one.name()))),
        several => format!("{several} settings"),
    }
}

fn of_numbers<'a, 'b>(question: &Question<'a, 'b>, numbers: &[usize]) -> Vec<&'a Judged<'b>> {
    numbers.iter().map(|number| &question.all[*number]).collect()
}

/// One setting does best, or several equally well.
fn named(question: &Question<'_, '_>, answer: &Answer, best: &[usize]) -> String {
    let does = if best.len() == 1 { "does best" } else { "do equally well" };
    let average = if answer.unsure.is_empty() { "" } else { " on average" };
    let hair = if answer.hair.is_some() { ", by a hair" } else { "" };
    let price = if answer.price.is_empty() { "" } else { ", at a price" };
    let names = names(&of_numbers(question, best));
    let head = format!("{names} {does}{average}{hair}{price}: {}.", state(question, best));
    let Some(reference) = answer.reference else { return head };
    let (worse, better): (Vec<_>, Vec<_>) =
        changes(question, best, reference).into_iter().partition(|(_, is_worse)| *is_worse);
    let [better, worse] =
        [better, worse].map(|of| around(of.into_iter().map(|one| one.0), |it| it));
    let clauses = [better, worse].into_iter().flatten().collect::<Vec<_>>().join(", but ");
    let against = |it| format!(" Against {}, {it}.", question.all[reference].name());
    let against = around(Some(clauses), against).unwrap_or_default();
    format!("{head}{against}{}", alternatives(question, answer))
}

/// What differs between several that do equally well, where others do worse.
fn among(question: &Question<'_, '_>, answer: &Answer) -> Option<String> {
    let ranges = ranges(question, &of_numbers(question, &answer.best));
    around(Some(ranges), |it| format!("Among the best, {it}.")).filter(|_| answer.is_decided())
}

/// How well a setting does in all, but for what is worse than the rest.
fn state(question: &Question<'_, '_>, best: &[usize]) -> String {
    let (setting, them) = (&question.all[best[0]], if best.len() == 1 { "it" } else { "them" });
    let noticed = question.noticed(best[0]).filter_map(|one| one.grade).max();
    let worst = noticed.min(Some(Grade::Poor));
    let is_worse = |one: &&Assessment| worst.is_some() && one.grade > worst;
    let worse = worse_ones(setting.assessments.iter().filter(is_worse).collect());
    let is_whole = setting.is_whole() && setting.assessments.iter().all(|one| one.grade.is_some());
    let said = match worst {
        None => "nothing that is noticed has a grade".to_owned(),
        Some(Grade::Good) if !worse.is_empty() => return format!("all but {worse} is good"),
        Some(Grade::Good) if is_whole => "all is good".to_owned(),
        Some(Grade::Good) => "all that is graded is good".to_owned(),
        Some(Grade::Fair) => format!("nothing is poor with {them}"),
        Some(_) => format!("nothing fails with {them}"),
    };
    if worse.is_empty() { said } else { format!("{said} but {worse}") }
}

/// What is worse than the rest: the worst first, and of many it alone with their number.
fn worse_ones(mut all: Vec<&Assessment>) -> String {
    all.sort_by_key(|one| Reverse(one.level()));
    match all.as_slice() {
        [first, others @ ..] if all.len() > DIFFERENCES_AT_MOST => {
            let value = in_brackets(first, first.deciding());
            format!("{}{value} and {} others", first.noun(), others.len())
        }
        _ => joined(all.iter().map(|one| one.noun())),
    }
}

/// The value of an application that decides its grade behind its name, or what is said in its place.
fn in_brackets(found: &Assessment, shown: &Shown) -> String {
    let said = |value| format!(" ({}{}{})", shown.short, digits(value), shown.unit);
    found.measured(shown.metric).map_or_else(|| format!(" ({})", found.summary), said)
}

/// What fails with every setting, with the values of the best.
fn nothing_good(question: &Question<'_, '_>, best: usize) -> String {
    let fails = |one: &&Assessment| {
        let grade = |setting: &usize| question.all[*setting].grade(one.application);
        question.settings.iter().all(|setting| grade(setting) == Some(Grade::Fails))
    };
    let found = question.noticed(best).filter(fails);
    let with = question.all[best].name();
    let clauses = found.map(|it| {
        let value = in_brackets(it, it.deciding());
        let value = value.trim_end_matches(')');
        format!("{} fails with each{value} with {with})", it.graded.noun)
    });
    around(clauses, |it| format!("No setting is good: {it}. ")).unwrap_or_default()
}

/// What yields by choice, which is due nothing: no grade says how much it should give up.
fn yielding(question: &Question<'_, '_>, answer: &Answer) -> Option<String> {
    let clause = |component: &Component<'_>| {
        let of = |one: &usize| Some((question.share(*one, component)?.mbps, *one));
        let mut rates: Vec<_> = question.settings.iter().filter_map(of).collect();
        rates.sort_by(|one, other| other.0.total_cmp(&one.0));
        let ((most, high), (least, low)) = (*rates.first()?, *rates.last()?);
        let [high, low] = [high, low].map(|one| question.all[one].name());
        let texts = apart(&[most, least]);
        (!answer.is_alike || least < (1.0 - NAMED) * most).then(|| {
            format!(
                "'{}' has {} Mbps with {high} and {} with {low}",
                component.1, texts[0], texts[1]
            )
        })
    };
    let yields = question.components.iter().filter(|one| question.yields(one));
    around(yields.filter_map(clause), |it| format!("What should yield: {it}."))
}

/// What compares nothing, since it is a share of another line with each setting.
fn left_out(question: &Question<'_, '_>) -> Option<String> {
    let all = question.settings.iter().flat_map(|setting| question.noticed(*setting));
    let is_out = |one: &&Assessment| !question.components.iter().any(|c| c.0 == one.application);
    let nouns = distinct(all.filter(is_out).map(|one| one.graded.noun.to_owned()));
    around(nouns, |it| format!("Not compared, since the lines differ: the shares of {it}."))
}

/// What decides against a setting with which more columns are better than with the best, though something is better with it.
fn decided(question: &Question<'_, '_>, answer: &Answer, other: usize) -> Option<String> {
    let best = answer.best[0];
    let [ahead, behind] = question.decisive(best, other)?;
    let columns = || MEASURES.iter().filter(|it| question.tells(it));
    let better = |one, than| columns().filter(|it| question.is_better(it, one, than)).count();
    let though = though(question, best, other);
    let is_said = answer.hair.is_some() && answer.hair == question.hair(best, other);
    let is_better = better(other, best) > better(best, other);
    (is_better && !(is_said && though.is_empty())).then(|| {
        let ahead = [(ahead, &question.all[best])];
        let changed = changed_values(behind, &ahead).into_iter();
        let small = changed.map(|one| (one.said[0].clone(), one.is_worse));
        let mut changes = graded_clauses(behind, &ahead).into_iter().chain(small);
        let change = changes.find(|(_, is_worse)| !is_worse).map(|(said, _)| said);
        let change = change.filter(|_| !is_said).unwrap_or_else(|| behind.noun());
        format!("What decides against {}: {change}{though}.", question.all[other].name())
    })
}

/// In what users notice a setting has a better grade or letter than the best, in a clause.
fn though(question: &Question<'_, '_>, best: usize, other: usize) -> String {
    let state = |of: &Assessment| match of.application == UNDER_LOAD {
        true => of.value(ADDED_DELAY).map(letter),
        false => of.grade.map(Grade::state),
    };
    let clause = |one: &Assessment| {
        let than = question.all[best].assessment(one.application)?;
        let is_compared = question.components.iter().any(|it| it.0 == one.application);
        let is_better = is_compared
            && waits_of(one.application).is_none()
            && (one.level()? < than.level()? || one.is_ahead(than, ADDED_DELAY));
        let (is, not) = state(one).zip(state(than)).filter(|(is, not)| is_better && is != not)?;
        Some(format!("{} is {is} and not {not}", one.noun()))
    };
    let clauses = question.all[other].assessments.iter().filter_map(clause);
    around(clauses, |it| format!(", though with it {it}")).unwrap_or_default()
}

/// If what the best costs matters most.
fn alternatives(question: &Question<'_, '_>, answer: &Answer) -> String {
    let rates = question.lost_rates(&answer.best).into_iter().map(|(one, of)| (of, one.of.bulk));
    let noun = |one: &Price| {
        question.of(answer.best[0], &(one.application, one.traffic.as_str())).map(Assessment::noun)
    };
    let priced = answer.price.iter().filter_map(|one| Some((one.alternative?, noun(one)?)));
    let rates = rates.map(|(of, name)| (of, Application::named(name).noun.to_owned()));
    let by_setting = grouped(priced.chain(rates));
    let clauses = by_setting.into_iter().map(|(setting, whats)| {
        let matter = if whats.len() == 1 { "matters" } else { "matter" };
        format!(" If {} {matter} most: {}.", joined(whats), question.all[setting].name())
    });
    clauses.collect()
}

/// Several do best, each in something else, or since of one of them something is not known.
fn front(question: &Question<'_, '_>, best: &[usize]) -> String {
    let all = |component: &Component<'_>| -> Vec<&Assessment> {
        best.iter().filter_map(|one| question.of(*one, component)).collect()
    };
    let clause = |setting: &usize| {
        let others: Vec<usize> = best.iter().copied().filter(|one| one != setting).collect();
        let behind = |component: &Component<'_>| -> Vec<usize> {
            let own = question.level(*setting, component);
            let is_behind = |one: &&usize| own.is_some() && question.level(**one, component) > own;
            others.iter().filter(is_behind).copied().collect()
        };
        let ahead = grouped(question.components.iter().map(|one| (behind(one), one)));
        let ahead = ahead.into_iter().filter(|(behind, _)| !behind.is_empty());
        let ahead: String = ahead
            .map(|(behind, components)| {
                let of = around([names(&of_numbers(question, &behind))], |it| format!(" of {it}"));
                let of = of.filter(|_| others.len() > 1).unwrap_or_default();
                let in_what =
                    components.iter().filter_map(|it| ahead_by(question, (*setting, &behind), it));
                format!(", ahead{of} in {}", joined(in_what))
            })
            .collect();
        let fails = question.noticed(*setting).filter(|one| {
            let grade = |of: &usize| question.all[*of].grade(one.application);
            let fails = |of: &usize| grade(of) == Some(Grade::Fails);
            fails(setting) && !question.settings.iter().all(fails)
        });
        let fails = around(fails.map(|one| one.noun()), |it| format!(", failing in {it}"));
        let fails = fails.unwrap_or_default();
        let is_known_elsewhere = |component: &&Component<'_>| {
            let is_known = |one: &&Assessment| one.level().is_some();
            let is_unknown = question.level(*setting, component).is_none();
            is_unknown && all(component).iter().any(is_known) && !question.yields(component)
        };
        let unknown = question.components.iter().filter(is_known_elsewhere);
        let unknown = unknown.filter_map(|one| Some(all(one).first()?.noun()));
        let unknown = around(unknown, |it| format!(", not graded in {it}")).unwrap_or_default();
        format!("{}{ahead}{fails}{unknown}", question.all[*setting].name())
    };
    let said: Vec<_> = best.iter().take(NAMED_AT_MOST).map(clause).collect();
    let is_known = |one: &Component<'_>| {
        question.yields(one) || best.iter().all(|of| question.level(*of, one).is_some())
    };
    let are_known = question.components.iter().all(is_known);
    let decides = if are_known { " What matters most decides." } else { "" };
    format!("No setting does best at everything. These are in front: {}.{decides}", said.join("; "))
}

/// In what a setting is ahead of others, with the value that decides: one that keeps them from its grade, or passes a step.
fn ahead_by(
    question: &Question<'_, '_>,
    (setting, behind): (usize, &[usize]),
    component: &Component<'_>,
) -> Option<String> {
    let own = question.of(setting, component)?;
    let others = || behind.iter().filter_map(|one| question.of(*one, component));
    let decides = |metric: &str, it: &Assessment| match it.grade > own.grade {
        true => it.deciding().metric == metric,
        false => own.passes(it, metric),
    };
    let is_ahead = |shown: &&Shown| others().all(|it| own.is_ahead(it, shown.metric));
    let is_decisive =
        |shown: &&Shown| is_ahead(shown) && others().all(|it| decides(shown.metric, it));
    let values = &own.graded.values;
    let shown = values.iter().find(is_decisive).or_else(|| values.iter().find(is_ahead));
    let value = shown.map(|shown| in_brackets(own, shown)).unwrap_or_default();
    Some(own.noun() + &value)
}

/// All settings do equally well, or lines differ in rates alone.
fn none(question: &Question<'_, '_>, answer: &Answer) -> String {
    let settings = of_numbers(question, &question.settings);
    let ranges = around(Some(ranges(question, &settings)), |it| format!(" {}.", capitalised(&it)));
    let clauses = ranges.unwrap_or_default();
    let (names, seeds) = (names(&settings), settings[0].group.runs.len());
    let has_more = |one: &usize| !question.lost_rates(&[*one]).is_empty();
    match answer.unsure.is_empty() {
        true if question.settings.iter().any(has_more) => {
            format!("No setting does best: the grades of {names} are equal.{clauses}")
        }
        true => format!("No setting does best: {names} do equally well.{clauses}"),
        false => {
            format!("{seeds} seeds cannot tell which of {names} does best; more may.{clauses}")
        }
    }
}

fn unsure(question: &Question<'_, '_>, answer: &Answer) -> Option<String> {
    let seeds = question.all[0].group.runs.len();
    let names = names(&of_numbers(question, &answer.unsure));
    let does = if answer.unsure.len() == 1 { "does" } else { "do" };
    let are_some = answer.best.len() < answer.settings.len() || !answer.is_alike;
    (are_some && !answer.unsure.is_empty())
        .then(|| format!("Whether {names} {does} best, {seeds} seeds cannot tell; more may."))
}

/// What changes between settings, in words, and whether it is for the worse.
type Change = (String, bool);

/// What changes from one setting to others.
fn changes(question: &Question<'_, '_>, best: &[usize], reference: usize) -> Vec<Change> {
    let graded = |component: &Component<'_>| {
        let with = |one: &usize| Some((question.of(*one, component)?, &question.all[*one]));
        let after: Vec<_> = best.iter().filter_map(with).collect();
        let before = question.of(reference, component);
        before.map(|before| graded_clauses(before, &after)).unwrap_or_default()
    };
    let of = |watched| question.of_stage(watched).iter().flat_map(graded).collect::<Vec<_>>();
    let mut changes = of(false);
    // A queue that something watches is named where it decides, and where it is worse.
    let decides = changes.iter().all(|(_, is_worse)| *is_worse);
    changes.extend(of(true).into_iter().filter(|(_, is_worse)| decides || *is_worse));
    // A value without a grade is named if it differs by much, and a rate with a grade, as a price, where that is still the same.
    let is_named = |one: &&Measure| {
        let mut own = question.components.iter().filter(|it| it.0 == one.of.graded);
        own.any(|it| !graded(it).is_empty())
    };
    let (rates, others): (Vec<_>, Vec<_>) = MEASURES
        .iter()
        .filter(|one| !is_named(one) && (one.of.headline || !one.of.bulk.is_empty()))
        .partition(|one| !one.of.bulk.is_empty());
    let more = rates.into_iter().chain(others).filter_map(|measure| {
        let found = change(question, best, reference, measure)?;
        let is_meant = found.1 || measure.of.bulk.is_empty() || question.is_rate(measure, best[0]);
        is_meant.then_some(found)
    });
    changes.extend(more.take(DIFFERENCES_AT_MOST));
    changes
}

/// A measure that is more with each of the best than with the reference, or less with each.
fn change(
    question: &Question<'_, '_>,
    best: &[usize],
    reference: usize,
    measure: &Measure,
) -> Option<Change> {
    let of = |number: usize| question.all[number].group;
    let differences = best.iter().map(|one| of(*one).named_difference(measure, of(reference)));
    let all: Vec<(f64, f64)> = differences.collect::<Option<_>>()?;
    let (from, to) = (all[0].0, all.into_iter().map(|one| one.1).collect::<Vec<_>>());
    let clause = format!("{} {}{}", measure.label, moves(from, &to), measure.unit_after());
    let are_alike = to.iter().all(|it| (*it < from) == (to[0] < from));
    are_alike.then(|| (clause, measure.is_worse(from, to[0])))
}

/// `falls from 20.0 to 12.0 and 13.0`.
fn moves(from: f64, to: &[f64]) -> String {
    let verb = match (to.iter().any(|to| *to < from), to.iter().any(|to| *to > from)) {
        (true, true) => "changes",
        (true, false) => "falls",
        _ => "rises",
    };
    let texts = apart_from_first(&[&[from], to].concat());
    format!("{verb} from {} to {}", texts[0], of_each(to, &texts[1..]))
}

/// Values of settings in the order of their names: one that all have, each or, where names are not told, the range.
fn of_each(values: &[f64], texts: &[String]) -> String {
    let is_one = texts.iter().all(|text| *text == texts[0]);
    let mut all: Vec<_> = values.iter().zip(texts).collect();
    all.sort_by(|one, other| one.0.total_cmp(other.0));
    match all.as_slice() {
        [(_, only), ..] if is_one => (*only).clone(),
        [(_, least), .., (_, most)] if all.len() > NAMED_AT_MOST => {
            format!("between {least} and {most}")
        }
        _ => joined(texts.iter().cloned()),
    }
}

/// What is graded with a setting.
type With<'a, 'b> = (&'a Assessment, &'a Judged<'b>);

/// A value that is another with other settings.
struct Changed {
    said: [String; 2],
    is_worse: bool,
    /// Does it change by more than a tenth, also of its least bound?
    is_much: bool,
    /// Does it pass a bound?
    passes: bool,
}

/// Those that have changed; where the worse one fails for what does not come, or is kept from a better grade by that alone, that
/// is the first.
fn changed_values(before: &Assessment, after: &[With<'_, '_>]) -> Vec<Changed> {
    let graded = before.graded;
    let worse = after.iter().map(|one| one.0).chain([before]).max_by_key(|one| one.grade);
    let is_first = |it: &Assessment, all| all || it.grade == Some(Grade::Fails);
    let lost = worse.and_then(|it| it.lost().filter(|one| is_first(it, one.1)));
    let mut values: Vec<&Shown> = graded.values.iter().collect();
    values.sort_by_key(|shown| lost.is_none_or(|lost| lost.0 != shown.metric));
    let changed = values.into_iter().filter_map(|shown| {
        let from = before.measured(shown.metric)?;
        let all = after.iter().map(|(it, with)| Some((it.measured(shown.metric)?, *with)));
        let mut all: Vec<(f64, &Judged<'_>)> = all.collect::<Option<_>>()?;
        all.retain(|(to, _)| differ(from, *to));
        let (to, with): (Vec<f64>, Vec<_>) = all.into_iter().unzip();
        let of =
            if to.len() < after.len() { format!(" with {}", names(&with)) } else { String::new() };
        let first = *to.first()?;
        let moves = format!("{}{}{of}", moves(from, &to), shown.unit);
        let bounds = || graded.bounds_of_grades(shown.metric);
        let least = bounds().filter(|bound| *bound > 0.0).reduce(f64::min).unwrap_or_default();
        // Grades that need no value of this name go by another one beside it, and its steps are their bounds.
        let steps = graded.bounds(shown.metric).filter(|_| !graded.needs(shown.metric));
        let values = moves.split_once(' ').map_or("", |(_, values)| values);
        Some(Changed {
            said: [
                format!("{} {moves}", before.label(shown)),
                format!(" ({}{values})", shown.short),
            ],
            is_worse: (first < from) == graded.is_better_more(shown.metric),
            is_much: (first - from).abs() > NAMED * least.max(first.abs()).max(from.abs()),
            passes: bounds().chain(steps).any(|bound| (from <= bound) != (first <= bound)),
        })
    });
    changed.collect()
}

/// What changes from one grade or value to others: the grade with a value that goes with it, or else a value that passes a
/// step or changes by much; and beside that a value that changes by much the other way.
pub(super) fn graded_clauses(before: &Assessment, after: &[With<'_, '_>]) -> Vec<Change> {
    let changed = changed_values(before, after);
    let plain = |one: &Changed| (one.said[0].clone(), one.is_worse);
    let Some((was, is)) = before.grade.zip(after.first().and_then(|one| one.0.grade)) else {
        return Vec::new();
    };
    let first = if is == was {
        changed
            .iter()
            .filter(|one| one.is_much || one.passes)
            .min_by_key(|one| !one.passes)
            .map(plain)
    } else {
        let with = changed.iter().filter(|one| one.is_worse == (is > was));
        let text =
            with.min_by_key(|one| (!one.passes, !one.is_much)).map_or("", |one| &one.said[1]);
        let verb = if is > was { "falls" } else { "rises" };
        Some((
            format!("{} {verb} from {} to {}{text}", before.noun(), was.state(), is.state()),
            is > was,
        ))
    };
    let is_worse = first.as_ref().map(|one| one.1);
    let is_other = |one: &&Changed| one.is_much && is_worse.is_some_and(|it| one.is_worse != it);
    let other = changed.iter().find(is_other).map(plain);
    first.into_iter().chain(other).collect()
}

/// What an idle line has not, bulk traffic and real programs, as the subject of a sentence, and whether it is several.
pub(super) fn bulk_words(facts: &Facts) -> (String, bool) {
    let mut bulk: Vec<_> = facts.bulk().collect();
    bulk.sort_by_key(|(_, payload)| payload.direction != Direction::Up);
    let word = |Payload { sort, direction }: Payload| (sort, sort.word(direction));
    let kinds = grouped(bulk.into_iter().map(|(entry, of)| (word(of), entry.is_several)));
    let is_plural =
        |sort: Bulk, several: &[bool]| sort != Bulk::Data && (several.len() > 1 || several[0]);
    let noun = |((sort, word), several): &((Bulk, &str), Vec<bool>)| {
        format!("the {word}{}", if is_plural(*sort, several) { "s" } else { "" })
    };
    let programs = facts.programs().map(str::to_owned);
    let nouns: Vec<_> = kinds.iter().map(noun).chain(programs).collect();
    let are_several =
        nouns.len() > 1 || kinds.iter().any(|(one, several)| is_plural(one.0, several));
    (listed(&nouns), are_several)
}

/// Who has more than its part where a transfer of the same direction gets little of its own.
pub(super) fn taken(judged: &Judged<'_>) -> Option<String> {
    let of_part = |one: &Share| one.of_part();
    let known = || judged.transfers().filter(|one| !one.is_beside_program());
    let poor = known().min_by(|a, b| of_part(a).total_cmp(&of_part(b)))?;
    let excess = |one: &Share| one.mbps - one.part_mbps;
    let takes = |one: &&Share| one.way == poor.way && excess(one) > -NAMED * excess(poor);
    let mut takers: Vec<&Share> = known().filter(takes).collect();
    takers.sort_by(|a, b| excess(b).total_cmp(&excess(a)));
    let clause = |one: &&Share| {
        let (times, name) = (factor(of_part(one)), &one.traffic);
        let texts = apart(&[one.mbps, one.part_mbps]);
        let (mbps, part) = (&texts[0], &texts[1]);
        let mark = one.mark.map_or_else(String::new, |mark| format!(", marked {mark},"));
        match of_part(one).is_finite() {
            true => format!("'{name}'{mark} has {times} times its part ({mbps} of {part} Mbps)"),
            false => format!("'{name}'{mark} should yield and has {mbps} Mbps"),
        }
    };
    let clauses: Vec<_> = takers.iter().take(DIFFERENCES_AT_MOST).map(clause).collect();
    let (percent, mbps) = (100.0 * of_part(poor), digits(poor.mbps));
    let left = format!("'{}' has {percent:.0} % of its own ({mbps} Mbps)", poor.traffic);
    let is_said = poor.is_starved() && !clauses.is_empty();
    is_said.then(|| format!("{}, and {left}.", clauses.join(", ")))
}

/// What coupling is for, where a setting that differs in nothing else is compared and both queues carry an upload.
pub(super) fn coupling(settings: &[&Judged<'_>]) -> Option<String> {
    let without = |with: &Judged<'_>| {
        let roles = with.group.runs[0].uncoupled?;
        settings.iter().find(|one| one.group.runs[0].roles == roles)
    };
    let (with, without) = settings.iter().find_map(|one| Some((one, without(one)?)))?;
    let uploads = || with.transfers().filter(|one| one.way == Direction::Up);
    let low = uploads().find(|one| one.mark.is_some())?;
    let classic = uploads().find(|one| one.mark.is_none())?;
    let is_classic = |one: &&Share| (&one.traffic, one.way) == (&classic.traffic, classic.way);
    let texts = [classic.mbps, without.transfers().find(is_classic)?.mbps];
    let is_told = texts[0] > (1.0 + NAMED) * texts[1];
    let (texts, names) = (apart(&texts), [with, without].map(|one| one.name()));
    is_told.then(|| {
        format!(
            "Coupling lets the classic queue slow the low-latency one: beside '{}', '{}' \
             has {} Mbps with it ({}) and {} without ({}).",
            low.traffic, classic.traffic, texts[0], names[0], texts[1], names[1]
        )
    })
}

/// Why queues carry nothing or little in all runs.
pub(super) fn remarks<'a>(judged: &Judged<'a>) -> impl Iterator<Item = &'a String> {
    let runs = judged.group.runs.clone();
    let own = runs[0].remarks.iter();
    own.filter(move |it| runs.iter().all(|one| one.remarks.contains(it)))
}

/// What differs between settings most plainly, what is noticed first, in clauses; empty if nothing does.
fn ranges(question: &Question<'_, '_>, settings: &[&Judged<'_>]) -> String {
    let clauses = MEASURES.iter().filter(|one| question.tells(one)).filter_map(|measure| {
        let values = settings.iter().map(|one| Some((one.group.mean(measure.key)?, one.group)));
        let all: Vec<(f64, &Group<'_>)> = values.collect::<Option<_>>()?;
        let by = |(one, _): &&(f64, _), (other, _): &&(f64, _)| one.total_cmp(other);
        let ((least, low), (most, high)) = (all.iter().min_by(by)?, all.iter().max_by(by)?);
        high.named_difference(measure, low)?;
        let (what, unit) = (measure.label, measure.unit_after());
        let [low, high] = [low, high].map(|group| listed(&[group.name]));
        let texts = apart(&[*least, *most]);
        let clause =
            format!("{what} is {}{unit} with {low} and {}{unit} with {high}", texts[0], texts[1]);
        let is_noticed = question.of_stage(false).iter().any(|one| one.0 == measure.of.graded);
        let of = [measure.of.quality, measure.of.graded, measure.key];
        let of = of.into_iter().find(|of| !of.is_empty())?;
        Some((of, (clause, is_noticed, (most - least) / most)))
    });
    // Of several numbers of one use that which differs most.
    let most = |(_, all): (&str, Vec<(String, bool, f64)>)| {
        all.into_iter().max_by(|one, other| one.2.total_cmp(&other.2))
    };
    let mut clauses: Vec<_> = grouped(clauses).into_iter().filter_map(most).collect();
    clauses.sort_by(|one, other| other.1.cmp(&one.1).then(other.2.total_cmp(&one.2)));
    joined(clauses.into_iter().take(DIFFERENCES_AT_MOST).map(|(clause, ..)| clause))
}
