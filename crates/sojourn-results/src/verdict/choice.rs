//! Which of several settings does best, what decided, and what it costs.

use super::compared::{
    Best, BulkKind, Difference, Group, HARDLY, Judged, SAME, application_of, deciding, decisive,
    is_comparable,
};
use super::facts::Entry;
use super::grades::Grade;
use super::measures::{MEASURES, Measure};
use super::thresholds::{
    ADDED_DELAY, APPLICATIONS, CALL, DOWNLOAD_SHARE, DOWNSTREAM_QUEUE_MEAN, KEPT_RATE, PAGE,
    PAGE_LOAD, UNDER_LOAD, UPLOAD_SHARE, UPSTREAM_QUEUE_MEAN, VIDEO_START, queue_of,
};
use super::words::{capitalised, digits, factor, joined, listed, quoted};
use crate::scores::qoe::GAME_ACCESS_MS;
use sojourn_engine::packet::Direction;

/// More groups than these are not named one by one.
pub(super) const NAMED_AT_MOST: usize = 8;
/// The rates of at most so many transfers are in a sentence.
const RATES_AT_MOST: usize = 3;
/// What gets worse by more than this share is named.
const WORSE: f64 = 0.05;
/// A queue with a shorter delay costs nobody anything: a game has as much for the whole access network.
const LITTLE_WAIT_MS: f64 = GAME_ACCESS_MS;

/// The best of several groups, and the one that it is compared with: the first of the others, which is
/// the present state, or the worst where the first is among the best. `None` if they hardly differ.
pub(super) fn choice(
    all: &[Judged<'_>],
    loaded: &[usize],
    Best { alike, unsure }: &Best,
) -> Option<(usize, usize)> {
    let by_rank = |one: &&usize, other: &&usize| all[**one].rank(&all[**other]);
    let is_other = |number: &&usize| !alike.contains(number) && !unsure.contains(number);
    let others = || loaded.iter().filter(is_other);
    let (winner, first) = (*alike.first()?, *others().next()?);
    if others().all(|number| hardly_differ(&all[winner], &all[*number])) {
        return None;
    }
    let reference = if first < winner { first } else { *others().max_by(by_rank)? };
    Some((winner, reference))
}

/// Have two groups the same grades, and no measure that decides and differs by much?
fn hardly_differ(a: &Judged<'_>, b: &Judged<'_>) -> bool {
    let is_near = |measure: &&Measure| {
        a.group.difference(measure, b.group).is_none_or(|found| !found.is_beyond(HARDLY))
    };
    !APPLICATIONS.iter().any(|application| a.is_told_apart(b, application))
        && deciding(&[a.group, b.group]).iter().all(is_near)
}

/// Which setting, what decided, and at what cost.
pub(super) fn answer(all: &[Judged<'_>], winners: &Best, reference: usize) -> String {
    let told = against(all, &winners.alike, reference);
    let seeds = all[reference].group.runs.len();
    let in_doubt = match winners.unsure.as_slice() {
        [] => return told,
        few if few.len() <= NAMED_AT_MOST => names(all, few),
        many => format!("{} others", many.len()),
    };
    let do_so = if winners.unsure.len() == 1 { "does" } else { "do" };
    format!("{told} Whether {in_doubt} {do_so} as well, {seeds} seeds cannot tell.")
}

fn names(all: &[Judged<'_>], numbers: &[usize]) -> String {
    let names: Vec<_> = numbers.iter().map(|number| all[*number].name()).collect();
    listed(&names)
}

fn against(all: &[Judged<'_>], winners: &[usize], reference: usize) -> String {
    let name = names(all, winners);
    let does = if winners.len() == 1 { "does best" } else { "do best and hardly differ" };
    let (best, other) = (&all[winners[0]], &all[reference]);
    let bulk = best.group.bulk_kinds();
    let Changes { mut better, mut worse, is_costly: for_users, .. } = changes(best, other);
    let for_bulk = bulk.iter().any(|kind| is_costly(kind, other));
    let price = if for_users || for_bulk { ", at a price" } else { "" };
    for kind in &bulk {
        let Some((clause, is_worse)) = cost_clause(kind, other) else { continue };
        if is_worse { worse.push(clause) } else { better.push(clause) }
    }
    worse.extend(single_losses(best, other));
    let other = quoted(other.name());
    let (better, worse) = (joined(&better), joined(&worse));
    match (better.as_str(), worse.as_str()) {
        ("", "") => format!("{name} {does} on the tests, against {other}."),
        (_, "") => format!("{name} {does}{price}: against {other}, {better}."),
        ("", _) => format!("{name} {does}{price}: against {other}, {worse}."),
        _ => format!("{name} {does}{price}: against {other}, {better}; but {worse}."),
    }
}

/// Single transfers that keep less than 90 % of their rate, where there are several and their sum keeps more.
fn single_losses(best: &Judged<'_>, reference: &Judged<'_>) -> Vec<String> {
    let kinds = best.group.bulk_kinds();
    let entries = best.group.bulk();
    let several = entries.iter().filter(|(_, payload)| {
        let of_kind = entries.iter().filter(|(_, other)| other == payload).count();
        let keeps = |kind: &BulkKind| kind.payload == *payload && !is_costly(kind, reference);
        of_kind > 1 && kinds.iter().any(keeps)
    });
    let lost = several.filter_map(|(entry, _)| {
        let [now, before] = [best, reference].map(|one| one.group.bulk_mbps(&entry.name));
        let (now, before) = now.zip(before)?;
        let name = quoted(&entry.name);
        (now < (1.0 - HARDLY) * before).then(|| {
            let share = 100.0 * now / before;
            format!(
                "{name} keeps {share:.0} % of its rate ({} of {} Mbps)",
                digits(now),
                digits(before)
            )
        })
    });
    lost.take(RATES_AT_MOST).collect()
}

/// What changes from one setting to another, in clauses.
#[derive(Default)]
struct Changes {
    better: Vec<String>,
    worse: Vec<String>,
    /// Is something worse by so much that it is a price?
    is_costly: bool,
    /// The measures that clauses name.
    told: Vec<&'static str>,
}

impl Changes {
    fn add(&mut self, measure: &Measure, found: &Difference) {
        self.told.push(measure.key);
        let of = if found.is_worse_by(0.0, measure) { &mut self.worse } else { &mut self.better };
        of.push(clause_of(measure, found));
    }

    fn is_told(&self, application: &str) -> bool {
        let is_of_it = |key: &&str| application_of(Measure::named(key)) == Some(application);
        application == CALL || self.told.iter().any(is_of_it)
    }
}

/// The measures that users notice beside the call.
const NOTICED: [&str; 9] = [
    "game_rtt_p90_ms",
    "game_latency_p90_ms",
    "game_loss_percent",
    "page_load_median_s",
    "response_median_s",
    "video_rate_mbps",
    "video_stalled_percent",
    "video_call_incomplete_percent",
    "video_call_latency_p90_ms",
];

/// What users notice of going from the reference to the best, what decided, and what got worse by over 5 %.
fn changes(best: &Judged<'_>, reference: &Judged<'_>) -> Changes {
    let mut changes = Changes::default();
    let decisive = decisive(best.group, reference.group);
    let is_alike = best.by_grades(reference).is_eq();
    for measure in MEASURES.iter().filter(|measure| is_meant(measure, best, reference)) {
        let Some(found) = best.group.difference(measure, reference.group) else { continue };
        let is_decisive = decisive.is_some_and(|(one, _)| one == measure)
            && (is_alike || measure.of_queues().is_some());
        let is_felt = measure
            .of_queues()
            .is_none_or(|way| found.to >= LITTLE_WAIT_MS && best.grade(queue_of(way).0).is_some());
        let is_graded = measure.queues.is_some_and(|way| says_so(way, best, reference));
        if found.is_worse_by(WORSE, measure) && is_felt {
            changes.is_costly |= found.is_worse_by(HARDLY, measure);
            changes.add(measure, &found);
        } else if !found.is_worse_by(0.0, measure)
            && !is_graded
            && (is_decisive
                || NOTICED.contains(&measure.key)
                || measure.queues.is_some_and(|way| is_apart(way, best, reference)))
        {
            changes.add(measure, &found);
        }
    }
    add_graded(&mut changes, best, reference);
    if let Some((measure, found)) = decisive.filter(|_| changes.better.is_empty())
        && measure.of_bulk().is_none()
        && !found.is_worse_by(0.0, measure)
    {
        changes.add(measure, &found);
    }
    changes
}

/// Has a measure a clause of its own? The call and the rates have others, pages need enough of them, and grades
/// of queues say more.
fn is_meant(measure: &Measure, best: &Judged<'_>, reference: &Judged<'_>) -> bool {
    let both = [best, reference];
    let is_graded = |name: &'static str| both.iter().all(|one| one.grade(name).is_some());
    measure.decides()
        && measure.of_bulk().is_none()
        && measure.key != "voice_mos"
        && (measure.key != PAGE_LOAD || is_graded(PAGE))
        && measure.queues.is_none_or(|way| {
            let (name, metric) = queue_of(way);
            let [to, from] = both.map(|one| one.value(name, metric));
            !says_so(way, best, reference) || to < from
        })
}

/// Do the grades of the queue of a direction tell two settings apart, and say how long packets wait there?
fn says_so(way: Direction, best: &Judged<'_>, reference: &Judged<'_>) -> bool {
    let is_graded = [best, reference].iter().all(|one| one.grade(queue_of(way).0).is_some());
    is_graded && is_apart(way, best, reference)
}

/// Have the queues of a direction other grades?
fn is_apart(way: Direction, one: &Judged<'_>, other: &Judged<'_>) -> bool {
    let queue = APPLICATIONS.iter().find(|application| application.name == queue_of(way).0);
    queue.is_some_and(|queue| one.is_told_apart(other, queue))
}

/// The call, and the grades that changed of what no clause names yet.
fn add_graded(changes: &mut Changes, best: &Judged<'_>, reference: &Judged<'_>) {
    let scores = [best, reference].map(|one| one.group.mean("voice_mos"));
    if let (Some(clause), [Some(now), Some(before)]) = (call_clause(best, reference), scores) {
        let is_same =
            best.grade(CALL) == reference.grade(CALL) && (now - before).abs() <= WORSE * before;
        if !is_same {
            if now < before { changes.worse.push(clause) } else { changes.better.push(clause) }
        }
    }
    for application in &APPLICATIONS {
        let name = application.name;
        let is_of = |way: &Direction| queue_of(*way).0 == name && says_so(*way, best, reference);
        let is_told = (changes.is_told(name) && !Direction::BOTH.iter().any(is_of))
            || (name == UNDER_LOAD && changes.better.len() + changes.worse.len() > 0);
        if is_told || !best.is_told_apart(reference, application) {
            continue;
        }
        let grades = (best.grade(name), reference.grade(name));
        let found = application.metrics().into_iter().find_map(|(metric, _)| {
            let [to, from] = [best, reference].map(|one| one.value(name, metric));
            let found = Difference { from: from?, to: to?, half_width: None };
            found.is_beyond(HARDLY).then_some((metric, found.from, found.to))
        });
        let ((Some(now), Some(before)), Some((metric, from, to))) = (grades, found) else {
            continue;
        };
        let clause = graded_clause(name, (before, now), metric, (digits(from), digits(to)));
        // Of a queue that is fair the grade may be the same.
        if now < before || (now == before && to < from) {
            changes.better.push(clause);
        } else {
            changes.is_costly = true;
            changes.worse.push(clause);
        }
    }
}

/// How a grade changes, and a value that it rests on.
fn graded_clause(
    name: &str,
    (before, now): (Grade, Grade),
    metric: &str,
    (from, to): (String, String),
) -> String {
    let of = match metric {
        ADDED_DELAY => return format!("load adds {to} instead of {from} ms to the round trip"),
        UPSTREAM_QUEUE_MEAN | DOWNSTREAM_QUEUE_MEAN => {
            return format!("packets wait {to} instead of {from} ms in the {name} on average");
        }
        UPLOAD_SHARE | DOWNLOAD_SHARE => "% of what its service allows",
        KEPT_RATE => "% of the rate on an idle line",
        "over_20_ms_access_percent" => "% of packets that wait over 20 ms",
        "over_80_ms_round_trip_percent" => "% of round trips over 80 ms",
        "frames_incomplete_percent" => "% of frames that lack a packet",
        "loss_percent" => "% of packets lost",
        VIDEO_START => "s until it begins",
        _ => "",
    };
    let verb = if now < before { "rises" } else { "falls" };
    format!("the {name} {verb} from {} to {} (from {from} to {to} {of})", before.word(), now.word())
}

/// How a measure changes.
fn clause_of(measure: &Measure, found: &Difference) -> String {
    let what = match measure.key {
        "page_load_median_s" => "the median page load",
        "response_median_s" => "the median web response",
        "video_stalled_percent" => "the share of time that video stalls",
        "video_call_incomplete_percent" => "the share of incomplete frames of the video call",
        _ => measure.label,
    };
    let by = found
        .half_width
        .map(|half| format!(" (by {} ± {})", digits((found.to - found.from).abs()), digits(half)));
    let clause = change(what, found.from, found.to, &measure.unit_after());
    format!("{clause}{}", by.unwrap_or_default())
}

fn change(what: &str, from: f64, to: f64, unit: &str) -> String {
    if (to - from).abs() <= SAME * from.abs().max(to.abs()) {
        return format!("{what} stays at {}{unit}", digits(to));
    }
    let verb = if to < from { "falls" } else { "rises" };
    format!("{what} {verb} from {} to {}{unit}", digits(from), digits(to))
}

/// How the call changes.
pub(super) fn call_clause(now: &Judged<'_>, before: &Judged<'_>) -> Option<String> {
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

/// Bulk traffic of this kind in the reference, if it has a rate there.
fn same_kind(kind: &BulkKind, reference: &Judged<'_>) -> Option<BulkKind> {
    let mut others = reference.group.bulk_kinds().into_iter();
    others.find(|other| other.payload == kind.payload).filter(|other| other.mbps > 0.0)
}

/// Does a kind of bulk traffic keep so little of its rate that this is a price?
fn is_costly(kind: &BulkKind, reference: &Judged<'_>) -> bool {
    same_kind(kind, reference).is_some_and(|before| {
        kind.transfers == before.transfers && kind.mbps < (1.0 - HARDLY) * before.mbps
    })
}

/// What a kind of bulk traffic keeps of its rate, or the mean rate of each transfer if their number
/// differs; and whether that is worse by over 5 %.
fn cost_clause(kind: &BulkKind, reference: &Judged<'_>) -> Option<(String, bool)> {
    let before = same_kind(kind, reference)?;
    if kind.transfers != before.transfers {
        let each = |kind: &BulkKind| kind.mbps / f64::from(kind.transfers.max(1));
        let what = format!("the mean rate of each {}", kind.word());
        let (from, to) = (each(&before), each(kind));
        return Some((change(&what, from, to, " Mbps"), to < (1.0 - WORSE) * from));
    }
    let (noun, are_several) = kind.noun();
    let share = 100.0 * kind.mbps / before.mbps;
    let (keep, gain, have, their) = if are_several {
        ("keep", "gain", "have", "their")
    } else {
        ("keeps", "gains", "has", "its")
    };
    let is_worse = share < 100.0 * (1.0 - WORSE);
    let clause = if share >= 200.0 {
        format!("the {noun} {have} {} times {their} rate", factor(share / 100.0))
    } else if share >= 102.0 {
        format!("the {noun} {gain} {:.0} %", share - 100.0)
    } else if share >= 99.5 {
        format!("the {noun} {keep} {their} rate")
    } else if is_worse {
        let (now, of) = (digits(kind.mbps), digits(before.mbps));
        format!("the {noun} {keep} {share:.0} % of {their} rate ({now} of {of} Mbps)")
    } else {
        format!("the {noun} {keep} {share:.0} % of {their} rate")
    };
    Some((clause, is_worse))
}

/// The bulk traffic as the subject of a sentence, and whether it is several.
pub(super) fn bulk_words(judged: &Judged<'_>) -> (String, bool) {
    let nouns: Vec<_> = judged.group.bulk_kinds().iter().map(BulkKind::noun).collect();
    let are_several = nouns.len() > 1 || nouns.iter().any(|(_, is_plural)| *is_plural);
    let told: Vec<_> = nouns.into_iter().map(|(noun, _)| format!("the {noun}")).collect();
    (listed(&told), are_several)
}

/// In what settings differ of which none does best.
pub(super) fn no_winner(all: &[Judged<'_>], loaded: &[usize]) -> String {
    let told = ranges(all, loaded);
    if !told.is_empty() {
        return format!("No setting does best: grades and totals hardly differ. {told}.");
    }
    let groups = || loaded.iter().map(|number| all[*number].group);
    let settings = if loaded.len() > NAMED_AT_MOST {
        format!("the {} settings", loaded.len())
    } else {
        listed(&groups().map(|group| group.name).collect::<Vec<_>>())
    };
    let seeds = groups().map(|group| group.runs.len()).min().unwrap_or_default();
    if seeds > 1 {
        return format!("There is no difference that {seeds} seeds can show between {settings}.");
    }
    format!("No setting does best: {settings} hardly differ.")
}

/// What differs between settings most plainly, in clauses with a capital letter; empty if nothing does.
pub(super) fn ranges(all: &[Judged<'_>], loaded: &[usize]) -> String {
    let groups: Vec<&Group<'_>> = loaded.iter().map(|number| all[*number].group).collect();
    let span = |values: Option<Vec<f64>>, what: &str, unit: &str| {
        let values = values?;
        let place = |wanted: f64| values.iter().position(|value| *value == wanted);
        let least = values.iter().copied().reduce(f64::min)?;
        let most = values.iter().copied().reduce(f64::max)?;
        let (low, high) = (groups[place(least)?], groups[place(most)?]);
        let told = format!(
            "{what} is {}{unit} with {} and {}{unit} with {}",
            digits(least),
            quoted(low.name),
            digits(most),
            quoted(high.name)
        );
        Some((told, low, high, (most - least) / most))
    };
    let measures = MEASURES.iter().filter(|m| is_comparable(m, &groups)).filter_map(|m| {
        let values = groups.iter().map(|group| group.mean(m.key)).collect();
        let (told, low, high, share) = span(values, m.label, &m.unit_after())?;
        high.difference(m, low).map(|_| (told, share))
    });
    let mut measures: Vec<_> = measures.collect();
    measures.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let measures = measures.into_iter().map(|(told, _)| told);
    let rates = groups[0].bulk().into_iter().filter_map(|(Entry { name, .. }, _)| {
        let values = groups.iter().map(|group| group.bulk_mbps(name)).collect();
        let what = format!("the rate of {}", quoted(name));
        span(values, &what, " Mbps").and_then(|(told, .., share)| (share > HARDLY).then_some(told))
    });
    let told: Vec<_> = rates.take(RATES_AT_MOST).chain(measures).take(RATES_AT_MOST).collect();
    capitalised(&joined(&told))
}
