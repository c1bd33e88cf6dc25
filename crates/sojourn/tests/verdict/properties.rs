//! Laws of answers, on random tables of results: none depends on names, order or other settings, none hides a price,
//! and no sentence names a number that is in no table.

use super::*;
use sojourn::engine::rng::Rng;
use sojourn::results::verdict::{APPLICATIONS, Better, MEASURES};
use sojourn_testing::rounds;
use std::collections::BTreeSet;
use std::sync::LazyLock;

const NAMES: [&str; 6] = ["alder", "birch", "cedar", "elm", "fir", "hazel"];

/// A use: its name, its quality, its keys, and the columns that it is graded by, each with the range of its values.
type Use = (&'static str, &'static str, &'static str, &'static [(&'static str, f64, f64)]);

const GAME: &str = "kind = 'stream', purpose = 'game', server = 'near'";
const GAME_COLUMNS: &[(&str, f64, f64)] = &[
    ("over_20_ms_access_percent", 0.3, 90.0),
    ("over_80_ms_round_trip_percent", 0.3, 60.0),
    ("rtt_p90_ms", 10.0, 900.0),
    ("loss_percent", 0.05, 60.0),
];

/// Uses of a household.
const USES: [Use; 6] = [
    ("game", "game", GAME, GAME_COLUMNS),
    ("match", "game", GAME, GAME_COLUMNS),
    (
        "call",
        "voice",
        "kind = 'stream', purpose = 'voice', server = 'near'",
        &[("mos", 1.2, 4.4), ("late_percent", 0.1, 20.0), ("loss_percent", 0.1, 60.0)],
    ),
    (
        "talk",
        "video_call",
        "kind = 'video_call', server = 'near'",
        &[
            ("frame_latency_p90_ms", 20.0, 1500.0),
            ("frames_incomplete_percent", 0.1, 70.0),
            ("frozen_percent", 0.1, 70.0),
        ],
    ),
    (
        "console",
        "cloud_game",
        "kind = 'cloud_game', server = 'near'",
        &[
            ("game_mos", 1.4, 4.14),
            ("frames_incomplete_percent", 0.1, 70.0),
            ("frames_late_percent", 0.1, 70.0),
            ("input_to_frame_p90_ms", 30.0, 900.0),
        ],
    ),
    (
        "film",
        "video",
        "kind = 'video', server = 'near'",
        &[("video_stalled_percent", 0.1, 60.0), ("video_start_wait_s", 0.4, 20.0)],
    ),
];

/// A household of random uses, and the directions of its transfers.
struct Household {
    uses: Vec<usize>,
    ways: Vec<&'static str>,
}

impl Household {
    fn drawn(rng: &mut Rng) -> Self {
        let uses = (0..USES.len()).filter(|_| rng.below(2) == 0).collect();
        Self { uses, ways: ["up", "down"].into_iter().filter(|_| rng.below(4) > 0).collect() }
    }

    fn scenario(&self) -> Scenario {
        let of_uses = self.uses.iter().map(|one| {
            let (name, _, keys, _) = USES[*one];
            format!("traffic.{name} = {{ {keys} }}\n")
        });
        let bulk = self.ways.iter().map(|way| {
            format!("traffic.bulk_{way} = {{ kind = 'transfer', server = 'near', direction = '{way}' }}\n")
        });
        let ends = "upstream.sustained_mbps = 20\ndownstream.sustained_mbps = 20\nduration_s = 63\n\
                    servers.near.delay_ms = 9\ntraffic.web = { kind = 'web', servers = ['near'] }\n";
        loaded(&(ends.to_owned() + &of_uses.chain(bulk).collect::<String>()), &[])
    }
}

fn between(rng: &mut Rng, least: f64, most: f64) -> f64 {
    let value = least * (most / least).powf(rng.uniform());
    (value * 100.0).round() / 100.0
}

/// Random results of a setting.
fn results(of: &Household, rng: &mut Rng) -> Rows {
    let mut rows = Rows::default();
    for one in &of.uses {
        let (name, quality, _, columns) = USES[*one];
        // Of some nothing is known.
        let columns = if rng.below(8) == 0 { &[] } else { columns };
        for way in ["up", "down"] {
            let mut more = json!({"quality": quality});
            for (column, least, most) in columns {
                more[*column] = json!(between(rng, *least, *most));
            }
            rows.flows.push(flow(name, way, &more));
        }
    }
    for way in &of.ways {
        rows.flows.push(rate(&format!("bulk_{way}"), way, between(rng, 0.5, 20.0)));
    }
    let names = of.uses.iter().map(|one| USES[*one].0).chain(["web"]);
    for (name, way) in names.flat_map(|name| ["up", "down"].map(|way| (name, way))) {
        // Of some too few packets were sent.
        let own = waited(name, way, between(rng, 0.5, 500.0));
        rows.delay_parts.extend(if rng.below(8) > 0 { own } else { Vec::new() });
    }
    for way in ["up", "down"] {
        let mean_ms = between(rng, 1.0, 500.0);
        rows.queues.push(row(
            &json!({"queue": format!("{way}stream"), "direction": way, "homes": "home",
            "departed_packets": 1000.0, "dropped_aqm_packets": 0.0, "dropped_overflow_packets": 0.0,
            "sojourn_mean_ms": mean_ms, "sojourn_p50_ms": mean_ms, "sojourn_p90_ms": mean_ms * 2.0,
            "sojourn_p99_ms": between(rng, 2.0, 900.0)}),
        ));
    }
    rows.flows.push(row(&json!({"traffic": "web", "quality": "pages", "direction": "down"})));
    let took_s = between(rng, 0.5, 15.0);
    rows.pages = [0.0, 20.0]
        .map(|start_s| row(&json!({"traffic": "web", "start_s": start_s, "load_time_s": took_s})))
        .to_vec();
    // No page is loaded: it has no number, and the length of the run is none.
    if rng.below(4) == 0 {
        rows.pages.clear();
    }
    rows
}

/// Two to six settings of a random household.
fn drawn(seed: u64) -> (Household, Vec<Rows>) {
    let mut rng = Rng::named(seed, "answers");
    let of = Household::drawn(&mut rng);
    let count = 2 + rng.below(5) as usize;
    let mut all: Vec<Rows> = (0..count).map(|_| results(&of, &mut rng)).collect();
    // Settings are drawn too that are equal, or nearly so.
    match rng.below(4) {
        0 => all[1] = all[0].clone(),
        1 => all[1] = nudged(&all[0], &mut rng),
        _ => {}
    }
    (of, all)
}

/// These results, each number of a flow another by less than its third digit.
fn nudged(rows: &Rows, rng: &mut Rng) -> Rows {
    let mut rows = rows.clone();
    for value in rows.flows.iter_mut().flat_map(|row| row.0.values_mut()) {
        if let Some(number) = value.as_f64() {
            *value = json!(number * (1.0 + 4e-4 * rng.uniform()));
        }
    }
    rows
}

fn facts_of(of: &Household, rows: &[Rows]) -> Vec<Facts> {
    let scenario = of.scenario();
    rows.iter().map(|rows| Facts::of(&scenario, rows)).collect()
}

/// The verdict on some of the facts, by their numbers.
fn judged_of(facts: &[Facts], numbers: &[usize]) -> Verdict {
    let groups: Vec<_> =
        numbers.iter().map(|number| group(NAMES[*number % NAMES.len()], &facts[*number])).collect();
    verdict(&groups, &[])
}

fn best_of(found: &Verdict, numbers: &[usize]) -> BTreeSet<usize> {
    let best = found.answers.iter().flat_map(|answer| &answer.best);
    best.map(|place| numbers[*place]).collect()
}

/// The settings of each question: those of one load, none of which is another one's idle line.
pub(crate) fn questions(facts: &[Facts]) -> Vec<Vec<usize>> {
    let all: Vec<usize> = (0..facts.len()).collect();
    judged_of(facts, &all).answers.into_iter().map(|answer| answer.settings).collect()
}

/// What must be true of the answer on any settings of one line and load.
pub(crate) fn is_lawful(facts: &[Facts], is_one_line: bool) {
    let all: Vec<usize> = (0..facts.len()).collect();
    let found = judged_of(facts, &all);
    let best = best_of(&found, &all);
    assert!(!best.is_empty());
    // Order of settings.
    let back: Vec<usize> = all.iter().rev().copied().collect();
    assert_eq!(best_of(&judged_of(facts, &back), &back), best);
    // Of two settings one is before the other whatever else is there: what is best of all is before none of its
    // betters, and what is not has a better.
    for one in &all {
        let is_before = |other: &usize| {
            let pair = [*other, *one];
            let best = best_of(&judged_of(facts, &pair), &pair);
            other != one && best == BTreeSet::from([*other])
        };
        assert_eq!(all.iter().any(is_before), !best.contains(one), "{one}");
    }
    // A setting more or less, or one twice.
    for out in all.iter().filter(|one| !best.contains(one)) {
        let less: Vec<usize> = all.iter().filter(|one| *one != out).copied().collect();
        if less.len() > 1 {
            assert_eq!(best_of(&judged_of(facts, &less), &less), best, "without {out}");
        }
    }
    let twice: Vec<usize> = all.iter().copied().chain([all[0]]).collect();
    assert_eq!(best_of(&judged_of(facts, &twice), &twice), best);
    if is_one_line {
        has_its_price(&found);
        names_what_decides(&found);
    }
    has_an_advantage(&found);
    quotes_advantages(&found);
    says_no_more_than_grades(&found);
}

/// What the first sentence says of all is true of the grades of the best, and by a hair are values that differ by a
/// tenth at most.
fn says_no_more_than_grades(found: &Verdict) {
    let said = found.sentences.join(" ");
    fails_with_all_are_said(found);
    letters_are_of_delay_alone(found);
    let Some(best) = found.best else { return };
    let all = found.groups[best].assessments.iter();
    let is_noticed =
        |one: &&Assessment| one.application != "under load" && !is_of_waits(one.application);
    let worst = all.clone().filter(is_noticed).filter_map(|one| one.grade).max();
    let good = all.clone().all(|one| one.grade == Some(Grade::Good));
    for (words, holds) in [
        ("all is good.", good && found.unwatched.is_empty() && found.ungraded.is_empty()),
        ("all that is graded is good.", all.flat_map(|one| one.grade).max() <= Some(Grade::Good)),
        ("all but ", !good && worst <= Some(Grade::Good)),
        ("nothing is poor with ", worst <= Some(Grade::Fair)),
        ("nothing fails with it.", worst <= Some(Grade::Poor)),
    ] {
        assert!(holds || !found.sentences[0].contains(words), "{said}");
    }
    for hair in found.answers.iter().filter_map(|answer| answer.hair.as_ref()) {
        let numbers = numbers(hair.split_once(" is ").expect("a value").1);
        let [(value, _), (of_best, _), (bound, _)] = numbers[..] else { panic!("{hair}") };
        let (low, high) = (value.min(of_best), value.max(of_best));
        assert!(high - low <= 0.11 * high && (low..=high).contains(&bound), "{hair}");
    }
}

/// Is it what is waited in a direction?
fn is_of_waits(application: &str) -> bool {
    ["queue", "wait"].iter().any(|end| application.ends_with(end))
}

/// What fails with all settings of an answer is said before anything else.
fn fails_with_all_are_said(found: &Verdict) {
    let [answer] = &found.answers[..] else { return };
    let fails = |setting: &usize, application: &str| {
        let mut all = found.groups[*setting].assessments.iter();
        all.any(|one| one.application == application && one.grade == Some(Grade::Fails))
    };
    let uses = APPLICATIONS.iter().map(|one| one.name);
    let uses = uses.filter(|name| *name != "under load" && !is_of_waits(name));
    let with_all = uses.filter(|name| answer.settings.iter().all(|one| fails(one, name))).count();
    if answer.settings.len() > 1 {
        let first = &found.sentences[0];
        assert_eq!(first.starts_with("No setting is good: "), with_all > 0, "{first}");
        let clauses = first.split(". ").next().unwrap_or_default();
        assert_eq!(clauses.matches(" with each").count(), with_all, "{first}");
    }
}

/// Beside a letter that is better than the grade of a use which fails, or of one whose loss is above its bound, that is said.
fn letters_are_of_delay_alone(found: &Verdict) {
    let is_lossy = |name: &str, values: &serde_json::Value| {
        let graded = APPLICATIONS.iter().find(|one| one.name == name).expect("it is graded");
        graded.good.iter().any(|bound| {
            let is_loss = ["loss_percent", "frames_incomplete_percent"].contains(&bound.metric);
            is_loss && values[bound.metric].as_f64().is_some_and(|lost| !bound.is_met(lost))
        })
    };
    let is_praised = |one: &sojourn::results::verdict::Graded| {
        let letter = one.assessments.iter().find(|one| one.application == "under load");
        let sounds_good = letter.and_then(|one| one.grade).filter(|grade| *grade < Grade::Poor);
        let Some(letter) = sounds_good else { return false };
        let mut worse = one.assessments.iter().filter(|one| one.grade > Some(letter));
        worse.any(|one| {
            one.grade == Some(Grade::Fails) || is_lossy(one.application, &json!(one.values))
        })
    };
    let loaded = found.groups.iter().filter(|one| !one.is_idle_line);
    let any = loaded.into_iter().any(is_praised);
    let said = found.sentences.iter().any(|said| said.contains(" is the delay alone: "));
    assert_eq!(said, any, "{:?}", found.sentences);
}

/// Wherever the best has a worse grade than the reference, that is its price, and the answer says so.
fn has_its_price(found: &Verdict) {
    let (Some(best), Some(reference)) = (found.best, found.reference) else { return };
    let grade = |number: usize, name: &str| {
        found.groups[number].assessments.iter().find(|one| one.application == name)?.grade
    };
    let decides =
        |name: &&str| !["under load", "video", "video rate", "video call rate"].contains(name);
    for name in APPLICATIONS.iter().map(|one| one.name).filter(decides) {
        let (Some(to), Some(from)) = (grade(best, name), grade(reference, name)) else { continue };
        let is_price = found.price.iter().any(|price| price.application == name);
        // What bulk traffic does not load decides nothing and costs nothing.
        if is_of_waits(name) && !is_price {
            continue;
        }
        // Of several one may be worse where another one is as bad as before.
        assert!(is_price || to <= from, "{name}: {:?}", found.sentences);
    }
    for price in &found.price {
        let [from, to] = [price.from, price.to].map(|grade| STATES[grade as usize]);
        let falls = format!(" falls from {from} to {to}");
        let is_said =
            found.sentences[0].contains("at a price") && found.sentences[0].contains(&falls);
        assert!(is_said && price.to > price.from, "{price:?}: {}", found.sentences[0]);
    }
}

/// What something is with each grade.
const STATES: [&str; 4] = ["good", "fair", "poor", "failing"];

/// The use of a column, as its grades are named.
fn use_of(key: &str) -> Option<&'static str> {
    let starts = [
        ("game_", "game"),
        ("voice_", "call"),
        ("video_call_", "video call"),
        ("cloud_game_", "cloud game"),
        ("video_", "video"),
        ("responsiveness_", "responsiveness"),
        ("page_", "page"),
        ("upstream_queue_", "upstream queue"),
        ("downstream_queue_", "downstream queue"),
        ("upload_", "upload"),
        ("download_", "download"),
    ];
    starts.into_iter().find(|(start, _)| key.starts_with(start)).map(|(_, name)| name)
}

static SHEETS: LazyLock<serde_json::Value> = LazyLock::new(|| {
    let sheets = include_str!("../../../sojourn-results/src/verdict/grades.json");
    serde_json::from_str(sheets).expect("a test reads it")
});

/// The grade of a use and the steps that it misses inside, by the sheets of grades; `None` without a grade.
fn level_of(found: &Verdict, setting: usize, name: &str) -> Option<(Grade, usize)> {
    let of = |setting: usize| {
        found.groups[setting].assessments.iter().find(|one| one.application == name)
    };
    let own = of(setting)?;
    let is_its = |sheet: &&serde_json::Value| {
        sheet["names"].as_array().is_some_and(|names| names.iter().any(|one| one[0] == name))
    };
    let sheet = SHEETS.as_array()?.iter().find(is_its)?;
    let grade = own.grade?;
    let missed = |steps: &serde_json::Value| {
        let from: Grade = serde_json::from_value(steps["from"].clone()).expect("a grade");
        let metric = steps["metric"].as_str().unwrap_or_default();
        let Some(value) = own.values.get(metric).copied().flatten() else { return 0 };
        let is_more = ["good", "fair", "poor"].iter().any(|of| {
            let thresholds = sheet[*of].as_array().into_iter().flatten();
            thresholds.into_iter().any(|one| one["metric"] == metric && one["at_least"] == true)
        });
        let bounds =
            steps["bounds"].as_array().into_iter().flatten().filter_map(|one| one.as_f64());
        let is_missed = |bound: &f64| if is_more { value < *bound } else { value > *bound };
        if grade >= from { bounds.filter(is_missed).count() } else { 0 }
    };
    Some((grade, sheet["steps"].as_array()?.iter().map(missed).sum()))
}

/// Where more columns are better with a setting than with the best, the answer names what decides: its grade does not
/// fall. A column of what has a grade is better where that is, by a step that somebody notices, and its value too; another
/// one by a tenth. What changes against the reference is named anyway.
fn names_what_decides(found: &Verdict) {
    // Names must be different ones.
    let Some(best) = found.best.filter(|_| found.groups.len() <= NAMES.len()) else { return };
    let measures = |number: usize, key: &str| found.groups[number].measures.get(key)?.mean;
    let is_better = |one: &sojourn::results::verdict::Measure, ahead: usize, behind: usize| {
        let Some((to, from)) = measures(ahead, one.key).zip(measures(behind, one.key)) else {
            return false;
        };
        let levels = use_of(one.key)
            .and_then(|name| Some((level_of(found, ahead, name)?, level_of(found, behind, name)?)));
        let (by, digit) = ((to - from).abs(), 10f64.powi(-i32::from(one.digits)));
        let is_noticed = match levels {
            Some((ahead, behind)) => ahead < behind,
            None => by > (0.1 * to.abs().max(from.abs())).max(digit),
        };
        is_noticed && to != from && (to > from) == (one.better == Better::Higher)
    };
    // Queues tell what somebody notices where they have a grade.
    let tells = |one: &&sojourn::results::verdict::Measure| {
        let of_queue = use_of(one.key).filter(|_| one.queues.is_some());
        let mut all = found.groups.iter().flat_map(|group| &group.assessments);
        of_queue.is_none_or(|name| all.any(|it| it.application == name))
    };
    let count = |ahead: usize, behind: usize| {
        MEASURES.iter().filter(tells).filter(|one| is_better(one, ahead, behind)).count()
    };
    for other in found.answers.iter().flat_map(|one| &one.settings).copied() {
        let start = format!("What decides against {}: ", found.groups[other].name);
        let said = found.sentences.iter().find(|one| one.starts_with(&start));
        let is_meant = !found.alike.contains(&other) && found.reference != Some(other);
        let are_more = count(other, best) > count(best, other);
        assert_eq!(said.is_some(), is_meant && are_more, "{:?}", found.sentences);
        let falls = ["good", "fair", "poor"].map(|grade| format!("falls from {grade}"));
        let is_worse = |said: &String| falls.iter().any(|falls| said.contains(falls));
        assert!(!said.is_some_and(is_worse), "{said:?}");
        says_what_is_better(found, said, best, other);
    }
}

/// Of what has a better grade with a setting that is behind, its sentence says both grades, and of nothing else.
fn says_what_is_better(found: &Verdict, said: Option<&String>, best: usize, other: usize) {
    let Some(said) = said else { return };
    let grade = |of: usize, name: &str| {
        let mut all = found.groups[of].assessments.iter();
        all.find(|one| one.application == name)?.grade
    };
    let uses = APPLICATIONS.iter().map(|one| one.name);
    let uses = uses.filter(|name| *name != "under load" && !is_of_waits(name));
    let pairs = uses.filter_map(|name| grade(other, name).zip(grade(best, name)));
    let better: Vec<_> = pairs
        .filter(|(own, its)| own < its)
        .map(|(own, its)| format!(" is {} and not {}", STATES[own as usize], STATES[its as usize]))
        .collect();
    let count = STATES.map(|state| said.matches(&format!(" and not {state}")).count());
    assert_eq!(count.iter().sum::<usize>(), better.len(), "{said}");
    assert!(better.iter().all(|clause| said.contains(clause)), "{said}: {better:?}");
}

/// The best is ahead of the reference in something that is graded in both.
fn has_an_advantage(found: &Verdict) {
    let (Some(best), Some(reference)) = (found.best, found.reference) else { return };
    let ahead = |number: usize, than: usize| {
        let [own, others] = [number, than].map(|one| &found.groups[one]);
        let of_use = own.assessments.iter().any(|one| {
            let sheet = APPLICATIONS.iter().find(|sheet| sheet.name == one.application);
            let bounds = sheet.expect("it is graded").good.iter();
            let other =
                others.assessments.iter().find(|other| other.application == one.application);
            let both = |metric| {
                Some((one.values.get(metric).copied()??, other?.values.get(metric).copied()??))
            };
            let mut both = bounds.filter_map(|it| Some((both(it.metric)?, it.at_least)));
            both.any(|((own, other), is_more)| if is_more { own > other } else { own < other })
                || one.grade.zip(other.and_then(|it| it.grade)).is_some_and(|(own, it)| own < it)
        });
        let is_better = |one: &sojourn::results::verdict::Measure| {
            let [own, other] =
                [own, others].map(|of| of.measures.get(one.key).and_then(|it| it.mean));
            own.zip(other).is_some_and(|(own, other)| match one.better {
                Better::Lower => own < other,
                Better::Higher => own > other,
            })
        };
        of_use || MEASURES.iter().any(is_better)
    };
    assert!(ahead(best, reference), "{:?}", found.sentences);
}

/// What each of several different best ones is said to be ahead in is better with it than with another of them.
fn quotes_advantages(found: &Verdict) {
    let [answer] = &found.answers[..] else { return };
    let Some((_, said)) = found.sentences[0].split_once("These are in front: ") else {
        return;
    };
    for (clause, setting) in said.split("; ").zip(&answer.best) {
        let value = |number: usize, application: &str, metric: &str| {
            let mut all = found.groups[number].assessments.iter();
            all.find(|one| one.application == application)?.values.get(metric).copied()?
        };
        for sheet in SHEETS.as_array().into_iter().flatten() {
            for (name, shown) in sheet["names"].as_array().into_iter().flatten().flat_map(|name| {
                let all = sheet["values"].as_array().into_iter().flatten();
                all.map(move |shown| (name, shown))
            }) {
                let text = |of: &serde_json::Value| of.as_str().unwrap_or_default().to_owned();
                let (application, metric, unit) =
                    (text(&name[0]), text(&shown[0]), text(&shown[3]));
                let start = format!("{} ({}", text(&name[1]), text(&shown[2]));
                let Some((_, rest)) = clause.split_once(&start) else { continue };
                let number = rest.split([' ', ')']).next().unwrap_or_default();
                let Ok(quoted) = number.parse::<f64>() else { continue };
                if rest[number.len()..] != *unit
                    && !rest[number.len()..].starts_with(&format!("{unit})"))
                {
                    continue;
                }
                let is_more = ["good", "fair", "poor"].iter().any(|of| {
                    let mut all = sheet[*of].as_array().into_iter().flatten();
                    all.any(|one| one["metric"] == *metric && one["at_least"] == true)
                });
                let others = answer.best.iter().filter(|one| *one != setting);
                let mut others = others.filter_map(|one| value(*one, &application, &metric));
                let is_behind = |other: f64| if is_more { other < quoted } else { other > quoted };
                assert!(others.any(is_behind), "{application} {metric}: {:?}", found.sentences);
            }
        }
    }
}

/// Sentences have a name for each value that may decide a grade; 10 % of round trips above 80 ms are an RTT p90 above that.
#[test]
fn what_decides_a_grade_has_a_name() {
    for sheet in APPLICATIONS.iter() {
        let all = SHEETS.as_array().unwrap().iter();
        let is_it = |of: &&serde_json::Value| {
            of["names"].as_array().unwrap().iter().any(|name| name[0] == sheet.name)
        };
        let values = all.clone().find(is_it).unwrap()["values"].as_array().unwrap();
        for threshold in sheet.good.iter().chain(&sheet.fair).chain(&sheet.poor) {
            let metric = threshold.metric.replace("over_80_ms_round_trip_percent", "rtt_p90_ms");
            assert!(values.iter().any(|shown| shown[0] == *metric), "{}: {metric}", sheet.name);
        }
    }
}

/// Each bound of good and fair is a step inside other grades, too: what differs by it is not alike.
#[test]
fn bounds_of_grades_are_steps() {
    for sheet in SHEETS.as_array().expect("sheets") {
        let bounds =
            ["good", "fair"].into_iter().flat_map(|of| sheet[of].as_array().expect("bounds"));
        // A single value has its bounds in its grades.
        if bounds.clone().map(|bound| &bound["metric"]).all(|of| *of == sheet["good"][0]["metric"])
        {
            continue;
        }
        for bound in bounds {
            // Ten percent of round trips above 80 ms are an RTT p90 above that; what load adds compares nothing.
            let metric = match bound["metric"].as_str().expect("a metric") {
                "over_80_ms_round_trip_percent" | "added_delay_ms" => continue,
                metric => metric,
            };
            let mut steps = sheet["steps"].as_array().expect("steps").iter();
            let is_step = steps.any(|one| {
                let mut bounds = one["bounds"].as_array().expect("bounds").iter();
                one["metric"] == metric && bounds.any(|it| *it == bound["bound"])
            });
            assert!(is_step, "{}: {metric}", sheet["names"]);
        }
    }
}

/// What is better in one entry and worse in none is before, whatever the worst entry is.
#[test]
fn a_setting_that_is_ahead_in_one_entry_alone_does_best() {
    rounds(20, |seed| {
        let mut rng = Rng::named(seed, "entries");
        let of = Household { uses: vec![0, 1, 2], ways: vec!["up"] };
        let slow = results(&of, &mut rng);
        let with = |names: &[&str], p90_ms: f64, late: f64| {
            let mut rows = slow.clone();
            for row in rows.flows.iter_mut().filter(|row| names.contains(&row.text("traffic"))) {
                row.0.insert("rtt_p90_ms".to_owned(), json!(p90_ms));
                for column in ["over_20_ms_access_percent", "over_80_ms_round_trip_percent"] {
                    row.0.insert(column.to_owned(), json!(late));
                }
                row.0.insert("loss_percent".to_owned(), json!(0.0));
            }
            rows
        };
        // One game fails with each; the other one is good with the second.
        let both = with(&["game", "match"], 900.0, 95.0);
        let mut one = both.clone();
        let good = with(&["match"], 25.0, 0.0).flows.into_iter();
        let good: Vec<Row> = good.filter(|row| row.text("traffic") == "match").collect();
        one.flows.retain(|row| row.text("traffic") != "match");
        one.flows.extend(good);
        for all in [[both.clone(), one.clone()], [one.clone(), both.clone()]] {
            let facts = facts_of(&of, &all);
            let found = judged_of(&facts, &[0, 1]);
            let is_one = usize::from(all[1].flows == one.flows);
            assert_eq!(found.best, Some(is_one), "{:?}", found.sentences);
        }
    });
}

/// Of two entries of one use that are alike in all steps, that with the worse value is said to be the worst.
#[test]
fn the_worst_of_equal_entries_is_that_with_the_worse_value() {
    let mut tried = 0;
    for (_, quality, keys, columns) in USES {
        let sheets = SHEETS.as_array().expect("sheets");
        let sheet = sheets.iter().find(|one| one["quality"] == quality).expect("it is graded");
        let metric = sheet["values"][0][0].as_str().expect("a metric");
        let Some((_, value, _)) = columns.iter().find(|one| one.0 == metric) else { continue };
        let mut bounds = sheet["good"].as_array().expect("bounds").iter();
        let is_more = bounds.any(|one| one["metric"] == metric && one["at_least"] == true);
        let worse = value * if is_more { 0.999 } else { 1.001 };
        for names in [["a", "b"], ["b", "a"]] {
            let entry = |name: &str| {
                let mut more = json!({});
                columns.iter().for_each(|(column, least, _)| more[*column] = json!(least));
                more[metric] = json!(if name == "b" { worse } else { *value });
                both_ways(name, quality, &more)
            };
            let traffic = names.map(|name| format!("traffic.{name} = {{ {keys} }}")).join("\n");
            let found = alone(&of_flows(&traffic, names.map(entry).concat())).groups.remove(0);
            let its = found.assessments.iter().find(|one| one.values.contains_key(metric));
            assert_eq!(its.expect("a grade").traffic, "b", "{quality} {metric}");
            tried += 1;
        }
    }
    assert!(tried >= 8, "{tried}");
}

#[test]
fn answers_depend_on_nothing_but_the_settings_themselves() {
    rounds(150, |seed| {
        let (of, rows) = drawn(seed);
        is_lawful(&facts_of(&of, &rows), true);
    });
}

/// What yields comes after what the others have to send, whatever anybody gets: after nothing, another that yields, 1 Mbps
/// of data (7.5 MB in 60 s), and an upload without end. The line brings 310 Mbit in 60 s.
#[test]
fn the_part_of_what_yields_is_of_the_line_and_not_of_results() {
    let torrent =
        |name: &str| format!("traffic.{name} = {{ kind = 'torrent', servers = ['near'] }}\n");
    let data = "traffic.data = { kind = 'stream', purpose = 'data', server = 'near' }";
    rounds(20, |seed| {
        let mut rng = Rng::named(seed, "yielding");
        let mut drawn = |name: &str| rate(name, "up", between(&mut rng, 0.01, 5.0));
        let mut of_data = drawn("data");
        of_data.0.insert("sent_bytes".to_owned(), json!(7_500_000.0));
        let line_mbps = 310.0 / 60.0;
        for (others, rows, want) in [
            (String::new(), Vec::new(), line_mbps),
            (torrent("u"), vec![drawn("u")], line_mbps / 2.0),
            (data.to_owned(), vec![of_data], line_mbps - 1.0),
            (UPLOAD.to_owned(), vec![drawn("upload")], 0.0),
        ] {
            let flows = [vec![drawn("t")], rows].concat();
            let facts = of_flows(&(torrent("t") + &others), flows);
            let all = alone(&facts).groups.remove(0).transfers;
            let own = all.iter().map(|one| &one.share).find(|one| one.traffic == "t");
            let own = own.expect("it has a part");
            assert!((own.part_mbps - want).abs() < 1e-9, "{others}: {own:?}");
            assert_eq!(own.share_percent.is_some(), want > 0.0, "{others}: {own:?}");
        }
    });
}

/// A limit that a user sets is a choice, and no choice lowers a part: 5.17 Mbps alone, and half of that beside an upload
/// where neither yields.
#[test]
fn a_limit_of_its_own_leaves_a_torrent_its_part() {
    for (cc, others, mbps, want) in [
        ("ledbat", "", 1.0, 310.0 / 60.0),
        ("cubic", "", 1.0, 310.0 / 60.0),
        ("cubic", UPLOAD, 1.0, 310.0 / 120.0),
    ] {
        for limit in ["", "limit_mbps = 1,"] {
            let torrent = format!(
                "traffic.t = {{ kind = 'torrent', servers = ['near'], {limit} \
                 tcp.congestion_control.kind = '{cc}' }}\n"
            );
            let facts = of_flows(&(torrent + others), vec![rate("t", "up", mbps)]);
            let all = alone(&facts).groups.remove(0).transfers;
            let own = all.iter().map(|one| &one.share).find(|one| one.traffic == "t");
            let own = own.expect("it has a part");
            assert!((own.part_mbps - want).abs() < 1e-9, "{cc} {limit}: {own:?}");
        }
    }
}

/// The numbers of a text that stand alone.
fn numbers(text: &str) -> Vec<(f64, f64)> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || ".-".contains(c)));
    let number = |word: &str| {
        let word = word.trim_end_matches('.');
        let digits = word.split_once('.').map_or(0, |(_, after)| after.len());
        Some((word.parse::<f64>().ok()?, 0.501 * 10f64.powi(-(digits as i32))))
    };
    words.filter_map(number).collect()
}

#[test]
fn no_sentence_names_a_number_that_is_in_no_table() {
    rounds(100, |seed| {
        let (of, rows) = drawn(seed);
        let facts = facts_of(&of, &rows);
        let all: Vec<usize> = (0..facts.len()).collect();
        let found = judged_of(&facts, &all);
        // Bounds, and what labels and summaries have: quantiles, limits, the number of settings.
        let mut known =
            vec![5.0, 15.0, 25.0, 70.0, 75.0, 95.0, 99.0, 160.0, 250.0, facts.len() as f64];
        known.extend([0.2, 0.5, 1.5, 2.6, 3.6, 4.34, 100.0, 200.0, 20.0, 80.0, 90.0, 1.0, 4.0]);
        known.extend([40.0, 800.0, 1600.0, 2000.0]);
        // Propagation of both ways.
        known.push(10.0);
        let bounds = found.applications.iter().flat_map(|one| {
            [&one.good, &one.fair, &one.poor].into_iter().flatten().map(|threshold| threshold.bound)
        });
        known.extend(bounds);
        let flows = rows.iter().flat_map(|rows| rows.flows.iter().chain(&rows.delay_parts));
        known.extend(flows.flat_map(|row| row.0.values().filter_map(serde_json::Value::as_f64)));
        for graded in &found.groups {
            known.extend(graded.measures.values().filter_map(|value| value.mean));
            known.extend(graded.assessments.iter().flat_map(|one| one.values.values().flatten()));
            known.extend(graded.transfers.iter().filter_map(|one| one.share.share_percent));
            known.extend(
                graded.transfers.iter().flat_map(|one| [one.share.mbps, one.share.part_mbps]),
            );
        }
        assert!(!found.sentences.iter().any(|said| stays(said)), "{:?}", found.sentences);
        for (number, resolution) in found.sentences.iter().flat_map(|said| numbers(said)) {
            let is_known = known.iter().any(|one| (one - number).abs() <= resolution);
            assert!(is_known, "{number} in {:?}", found.sentences);
        }
    });
}

/// Does a text say that something goes from a number to the same number?
fn stays(text: &str) -> bool {
    text.split("from ").skip(1).any(|rest| {
        let mut words = rest.split(' ').map(|word| word.trim_end_matches([',', '.', ';', ')']));
        let from = words.next();
        words.next() == Some("to") && words.next() == from
    })
}

/// What yields by choice is due nothing, so that no grade says how much it should give up: it decides nothing, and the
/// answer has what it gets with each setting. The line brings 310 Mbit in 60 s, of which both are due half where neither
/// yields.
#[test]
fn whether_a_torrent_should_yield_is_said_to_be_a_choice() {
    let torrent = |cc: &str| {
        format!(
            "{UPLOAD}\ntraffic.t = {{ kind = 'torrent', servers = ['near'], tcp.congestion_control.kind = '{cc}' }}"
        )
    };
    rounds(20, |seed| {
        let mut rng = Rng::named(seed, "yielding");
        let mut facts = |cc: &str, upload: [f64; 2], own: [f64; 2]| {
            let [upload, own] = [upload, own].map(|ends| between(&mut rng, ends[0], ends[1]));
            of_flows(&torrent(cc), vec![rate("upload", "up", upload), rate("t", "up", own)])
        };
        let yields = facts("ledbat", [4.95, 5.15], [0.01, 0.2]);
        let starves = facts("cubic", [0.3, 1.2], [2.47, 4.8]);
        let shares = facts("cubic", [2.47, 2.58], [2.47, 2.58]);
        for other in [&starves, &shares] {
            for names in [["other", "yields"], ["yields", "other"]] {
                let of = |name: &str| if name == "yields" { &yields } else { other };
                let found = verdict(&names.map(|name| group(name, of(name))), &[]);
                let first = &found.sentences[0];
                assert_eq!((found.best, found.answers[0].best.len()), (None, 2), "{first}");
                let [own, its] = ["yields", "other"].map(|name| {
                    let number = names.iter().position(|one| *one == name).unwrap();
                    found.groups[number]
                        .transfers
                        .iter()
                        .find(|one| one.share.traffic == "t")
                        .unwrap()
                });
                assert!(own.grade.is_none() && its.grade.is_some());
                let is_it = |one: &&String| one.starts_with("What should yield: 't' has ");
                let rates = found.sentences.iter().find(is_it).expect("its rates");
                for (transfer, name) in [(own, " with yields"), (its, " with other")] {
                    let (before, _) = rates.split_once(name).expect("its rate");
                    let mbps = before.trim_end_matches(" Mbps").rsplit(' ').next().unwrap();
                    let mbps: f64 = mbps.parse().unwrap();
                    assert!((mbps - transfer.share.mbps).abs() < 0.005, "{rates}");
                }
                assert!(first.ends_with("What matters most decides."), "{first}");
            }
        }
    });
}

/// Waits are graded by the packets of those who wait, here a page at least: other packets of a queue, as those of bulk traffic
/// that wait behind each other, change no answer and no sentence.
#[test]
fn what_nobody_waits_changes_no_answer() {
    rounds(60, |seed| {
        let (of, mut rows) = drawn(seed);
        let all: Vec<usize> = (0..rows.len()).collect();
        let before = judged_of(&facts_of(&of, &rows), &all);
        let mut rng = Rng::named(seed, "bins");
        let loaded = |row: &&mut Row| of.ways.iter().any(|way| *way == row.text("direction"));
        for row in rows.iter_mut().flat_map(|rows| &mut rows.queues).filter(loaded) {
            for column in ["sojourn_mean_ms", "sojourn_p50_ms", "sojourn_p90_ms", "sojourn_p99_ms"]
            {
                row.0.insert(column.to_owned(), json!(between(&mut rng, 0.1, 5000.0)));
            }
        }
        let after = judged_of(&facts_of(&of, &rows), &all);
        assert_eq!((&before.answers, &before.sentences), (&after.answers, &after.sentences));
    });
}

/// The words of a text with the directions swapped.
fn swapped(text: &str) -> BTreeSet<String> {
    let swap = |word: &str| match word {
        "upstream" => "downstream".to_owned(),
        "downstream" => "upstream".to_owned(),
        "upload" => "download".to_owned(),
        "download" => "upload".to_owned(),
        "up" => "down".to_owned(),
        "down" => "up".to_owned(),
        "Up" => "Down".to_owned(),
        "Down" => "Up".to_owned(),
        "Upload" => "Download".to_owned(),
        "Download" => "Upload".to_owned(),
        other => other.to_owned(),
    };
    text.split([' ', ',', '.', ';', '(', ')', '\'']).map(swap).collect()
}

#[test]
fn swapping_up_and_down_in_the_tables_swaps_the_words() {
    rounds(100, |seed| {
        let (of, rows) = drawn(seed);
        // Pages and films are asked for upward, so who waits must be a game or call.
        if of.uses.iter().all(|one| USES[*one].1 == "video") {
            return;
        }
        let other_way = |way: &str| -> &'static str { if way == "up" { "down" } else { "up" } };
        let swap = |row: &Row| {
            let mut row = row.clone();
            let way = other_way(row.text("direction"));
            row.0.insert("direction".to_owned(), json!(way));
            let name = row.text("traffic").to_owned();
            if let Some(of) = name.strip_prefix("bulk_") {
                row.0.insert("traffic".to_owned(), json!(format!("bulk_{}", other_way(of))));
            }
            row
        };
        let turned: Vec<Rows> = rows
            .iter()
            .map(|rows| Rows {
                flows: rows.flows.iter().map(swap).collect(),
                queues: rows.queues.iter().map(swap).collect(),
                delay_parts: rows.delay_parts.iter().map(swap).collect(),
                ..rows.clone()
            })
            .collect();
        let ways = of.ways.iter().map(|way| other_way(way)).collect();
        let back = Household { uses: of.uses.clone(), ways };
        let all: Vec<usize> = (0..rows.len()).collect();
        let [one, two] =
            [(&of, &rows), (&back, &turned)].map(|(of, rows)| judged_of(&facts_of(of, rows), &all));
        assert_eq!(one.best, two.best);
        let words: BTreeSet<String> = swapped(&one.sentences[0]);
        let want: BTreeSet<String> = two.sentences[0]
            .split([' ', ',', '.', ';', '(', ')', '\''])
            .map(str::to_owned)
            .collect();
        assert_eq!(words, want, "{} | {}", one.sentences[0], two.sentences[0]);
    });
}
