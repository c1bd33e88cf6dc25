//! Which setting does best, what it costs, and when nothing decides.

use super::*;

/// A household with a game and transfers, the grades of which are set one by one.
fn home(game: (f64, f64, f64), shares: &[(&str, f64)]) -> Facts {
    let (over_20, over_80, p90_ms) = game;
    let values = json!({"over_20_ms_access_percent": over_20, "over_80_ms_round_trip_percent": over_80,
        "rtt_p90_ms": p90_ms, "loss_percent": 0.0});
    let mut flows = both_ways("x", "game", &values);
    let mut traffic = GAME.to_owned();
    for (name, percent) in shares {
        // 5 Mbps for 60 s and 10 Mbit of burst are 310 Mbit.
        let each = 310.0 / 60.0 / shares.len() as f64;
        flows.push(rate(name, "up", each * percent / 100.0));
        traffic.push_str(&format!("\ntraffic.{name} = {{ kind = 'transfer', server = 'near' }}"));
    }
    of_flows(&traffic, flows)
}

const GOOD_GAME: (f64, f64, f64) = (0.5, 0.0, 25.0);
const FAIR_GAME: (f64, f64, f64) = (30.0, 0.0, 60.0);
const POOR_GAME: (f64, f64, f64) = (90.0, 40.0, 200.0);
const FAILED_GAME: (f64, f64, f64) = (100.0, 90.0, 500.0);

/// The names of the best, in the order of the settings.
fn best(settings: &[(&'static str, &Facts)]) -> Vec<&'static str> {
    let groups: Vec<_> = settings.iter().map(|(name, facts)| group(name, facts)).collect();
    let found = verdict(&groups, &[]);
    found.answers[0].best.iter().map(|number| settings[*number].0).collect()
}

#[test]
fn fewer_fails_decide_before_fewer_poor_and_these_before_fewer_fair() {
    let of = |game, percent| home(game, &[("up", percent)]);
    for (better, worse) in [
        (of(POOR_GAME, 40.0), of(GOOD_GAME, 9.9)),
        (of(FAIR_GAME, 60.0), of(GOOD_GAME, 49.9)),
        (of(GOOD_GAME, 60.0), of(FAIR_GAME, 60.0)),
        (of(FAILED_GAME, 95.0), of(FAILED_GAME, 9.9)),
        // Equal counts: nowhere behind and somewhere ahead in steps.
        (of(GOOD_GAME, 71.0), of(GOOD_GAME, 69.0)),
        (of(GOOD_GAME, 96.0), of((1.1, 0.0, 25.0), 96.0)),
        (of((30.0, 0.0, 49.0), 80.0), of((30.0, 0.0, 51.0), 80.0)),
        // What fails is worse the longer it takes, and the less it gets.
        (of((100.0, 90.0, 700.0), 9.0), of((100.0, 90.0, 900.0), 9.0)),
        (of(FAILED_GAME, 6.0), of(FAILED_GAME, 4.0)),
    ] {
        assert_eq!(best(&[("worse", &worse), ("better", &better)]), ["better"]);
        assert_eq!(best(&[("better", &better), ("worse", &worse)]), ["better"]);
    }
}

#[test]
fn what_is_within_a_step_is_alike_and_what_is_ahead_elsewhere_is_no_better() {
    let of = |game, percent| home(game, &[("up", percent)]);
    let alike = [of(GOOD_GAME, 96.0), of((0.9, 0.0, 12.0), 99.0)];
    assert_eq!(best(&[("a", &alike[0]), ("b", &alike[1])]), ["a", "b"]);
    let found = verdict(&[group("a", &alike[0]), group("b", &alike[1])], &[]);
    assert_eq!((found.best, found.reference), (None, None));
    assert!(
        found.sentences[0].starts_with("No setting does best: a and b do equally well."),
        "{found:?}"
    );
    let front = [of(GOOD_GAME, 89.0), of(FAIR_GAME, 96.0)];
    let groups = [group("a", &front[0]), group("b", &front[1])];
    let found = verdict(&groups, &[]);
    assert_eq!(found.answers[0].best, [0, 1]);
    assert!(!found.answers[0].is_alike && found.best.is_none());
    assert!(found.sentences[0].starts_with(
        "No setting does best at everything. These are in front: a, ahead in the game (share of game packets over 20 ms \
         0.500 %); b, ahead in the upload ("
    ), "{found:?}");
}

#[test]
fn a_transfer_measured_for_too_short_a_time_has_no_grade_and_compares() {
    // 5 Mbps for 9 s and 10 Mbit of burst are 55 Mbit, 6.11 Mbps.
    let of = |mbps: f64| {
        let scenario = scenario_of(UPLOAD, &["duration_s=9"]);
        Facts::of(&scenario, &Rows { flows: vec![rate("upload", "up", mbps)], ..Rows::default() })
    };
    let (starved, whole) = (of(0.4), of(6.0));
    let found = verdict(&[group("starves", &starved), group("whole", &whole)], &[]);
    assert_eq!(found.answers[0].best, [1]);
    assert_eq!(found.groups[0].assessments[0].grade, None);
    let first = "whole does best: nothing that is noticed has a grade. Against starves, ";
    assert!(found.sentences[0].starts_with(first), "{found:?}");
    // No sentence gives it the grade that it has not.
    let beside = |mbps: f64| {
        let scenario = scenario_of(&format!("{GAME}\n{UPLOAD}"), &["duration_s=9"]);
        let values = json!({"over_20_ms_access_percent": 0.0, "over_80_ms_round_trip_percent": 0.0,
            "rtt_p90_ms": 25.0, "loss_percent": 0.0});
        let flows = [both_ways("x", "game", &values), vec![rate("upload", "up", mbps)]].concat();
        Facts::of(&scenario, &Rows { flows, ..Rows::default() })
    };
    let (starved, half) = (beside(0.4), beside(4.0));
    let found = verdict(&[group("starves", &starved), group("half", &half)], &[]);
    let first = "half does best: all that is graded is good. Against starves, ";
    assert!(found.sentences[0].starts_with(first), "{found:?}");
    let said =
        "Upload is not graded: less than 10 s are measured of traffic.upload, but its rate counts.";
    assert!(found.sentences.contains(&said.to_owned()), "{found:?}");
    let (fair, good) = (of(4.0), of(6.1));
    assert_eq!(best(&[("fair", &fair), ("good", &good)]), ["good"]);
}

#[test]
fn the_first_sentence_names_the_setting_what_changes_its_price_and_an_alternative() {
    let (tail, cake) = (home(POOR_GAME, &[("up", 99.0)]), home(GOOD_GAME, &[("up", 86.0)]));
    let found = verdict(&[group("drop-tail", &tail), group("CAKE", &cake)], &[]);
    assert_eq!(
        found.sentences[0],
        "CAKE does best, at a price: nothing is poor with it. Against drop-tail, the game rises from poor to good (RTT p90 from 200 to 25.0 ms), but the \
         upload falls from good to fair (from 99.0 to 86.0 % of its part of the line). If the upload matters most: \
         drop-tail."
    );
    assert_eq!((found.best, found.reference), (Some(1), Some(0)));
    assert_eq!(found.price[0].application, "upload");
    assert_eq!((found.price[0].from, found.price[0].to), (Grade::Good, Grade::Fair));
    assert_eq!(found.price[0].alternative, Some(0));
}

#[test]
fn several_that_do_equally_well_are_named_with_their_values() {
    let of = |p90_ms| home((0.5, 0.0, p90_ms), &[("up", 99.0)]);
    let (tail, one, two) = (home(POOR_GAME, &[("up", 99.0)]), of(25.0), of(14.0));
    let found = verdict(&[group("tail", &tail), group("a", &one), group("b", &two)], &[]);
    assert_eq!((found.best, found.alike.as_slice()), (Some(1), &[1, 2][..]));
    assert!(
        found.sentences[0].starts_with(
            "a and b do equally well: all is good. Against tail, the game rises from poor to good (RTT p90 from \
             200 to 25.0 and 14.0 ms)"
        ),
        "{found:?}"
    );
    // Each name has its value, though some are equal; what is not named has a range.
    let game = |all: &[&Facts]| {
        let names: Vec<_> = (0..all.len()).map(|number| number.to_string()).collect();
        let groups = names.iter().zip(all).map(|(name, facts)| group(name, facts));
        let said = verdict(&Vec::from_iter(groups), &[]).sentences.remove(0);
        said.split_once("(RTT p90 ").unwrap().1.split_once(')').unwrap().0.to_owned()
    };
    assert_eq!(game(&[&tail, &one, &two, &one]), "from 200 to 25.0, 14.0 and 25.0 ms");
    assert_eq!(game(&[&tail, &one, &one]), "from 200 to 25.0 ms");
    let many = [[&two; 4], [&one; 4], [&two; 4]].concat();
    assert_eq!(game(&[&[&tail], &many[..]].concat()), "from 200 to between 14.0 and 25.0 ms");
}

#[test]
fn an_answer_that_rests_on_a_bound_is_by_a_hair() {
    let of = |percent| home(GOOD_GAME, &[("up", percent)]);
    let (fq, codel) = (of(88.5), of(90.8));
    let found = verdict(&[group("FQ", &fq), group("CoDel", &codel)], &[]);
    assert!(
        found.sentences[0].starts_with("CoDel does best, by a hair: all is good."),
        "{found:?}"
    );
    assert_eq!(
        found.sentences[1],
        "By a hair: the upload's share is 88.5 % of its part of the line with FQ and 90.8 with CoDel, and \
         the bound of 90.0 is between them."
    );
    // The difference must be close, not the value to the bound alone.
    for (behind, ahead) in [(60.0, 90.8), (87.5, 99.2)] {
        let (behind, ahead) = (of(behind), of(ahead));
        let found = verdict(&[group("far", &behind), group("CoDel", &ahead)], &[]);
        assert_eq!((found.answers[0].best.as_slice(), &found.answers[0].hair), (&[1][..], &None));
    }
    // And all that decides must be.
    let slow = home(FAIR_GAME, &[("up", 88.5)]);
    let found = verdict(&[group("slow", &slow), group("CoDel", &codel)], &[]);
    assert_eq!(found.answers[0].hair, None);
}

/// Of a setting that is behind though more is better with it the answer says what decides.
#[test]
fn what_is_better_with_a_setting_that_is_behind_is_said_beside_what_decides() {
    let of = |game, percent| home(game, &[("up", percent)]);
    let settings = [of(POOR_GAME, 95.0), of(FAIR_GAME, 99.0), of(GOOD_GAME, 8.0)];
    let groups: Vec<_> =
        ["a", "b", "c"].into_iter().zip(&settings).map(|(n, s)| group(n, s)).collect();
    let found = verdict(&groups, &[]).sentences;
    let said = "What decides against c: the upload rises from failing to good (from 8.00 to 99.0 % of its part of \
                the line), though with it the game is good and not fair.";
    assert!(found[0].starts_with("b does best") && found.iter().any(|it| it == said), "{found:?}");
}

/// All is said to be good where it is: a queue that a game watches may be poor, and what nothing watches is not
/// measured.
#[test]
fn all_is_good_where_nothing_else_is_said() {
    let of = |(over_20, over_80, p90_ms): (f64, f64, f64), mean_ms: f64| {
        let queue = row(&json!({"queue": "q", "direction": "up", "sojourn_mean_ms": mean_ms,
            "sojourn_p99_ms": 95.0, "departed_packets": 900.0}));
        let traffic = format!("{GAME}\ntraffic.up = {{ kind = 'transfer', server = 'near' }}");
        let values = json!({"over_20_ms_access_percent": over_20, "loss_percent": 0.0,
            "over_80_ms_round_trip_percent": over_80, "rtt_p90_ms": p90_ms});
        let flows = [both_ways("x", "game", &values), vec![rate("up", "up", 5.1)]].concat();
        let delay_parts = waited("x", "up", mean_ms);
        let rows = Rows { flows, queues: vec![queue], delay_parts, ..Rows::default() };
        Facts::of(&scenario(&traffic), &rows)
    };
    let tail = of(POOR_GAME, 10.0);
    let said = |facts: &Facts| {
        let found = verdict(&[group("tail", &tail), group("best", facts)], &[]);
        found.sentences[0].split(". ").next().unwrap().to_owned()
    };
    assert_eq!(said(&of(GOOD_GAME, 10.0)), "best does best: all is good");
    let stands = of(GOOD_GAME, 90.0);
    assert_eq!(said(&stands), "best does best, at a price: all but the upstream wait is good");
}

/// An interval over a bound is no knowledge of the side.
#[test]
fn what_seeds_cannot_tell_is_said() {
    let runs = |percents: [f64; 3]| percents.map(|percent| home(GOOD_GAME, &[("up", percent)]));
    let (sure, torn) = (runs([98.0, 97.9, 98.1]), runs([80.0, 96.0, 85.0]));
    let found = verdict(&[seeds("a", &sure), seeds("b", &torn)], &[]);
    assert_eq!(found.answers[0].unsure, [1]);
    let said = "Whether b does best, 3 seeds cannot tell; more may.".to_owned();
    assert!(found.sentences.contains(&said), "{found:?}");
    assert!(found.sentences[0].starts_with("a does best on average"), "{found:?}");
    // Settings that are equal in their means are not said to be equally well besides.
    let found = verdict(&[seeds("a", &torn), seeds("b", &torn)], &[]).sentences;
    assert!(
        found[0].starts_with("3 seeds cannot tell which of a and b does best; more may."),
        "{found:?}"
    );
    assert!(!found.iter().any(|said| said.contains("equally well") || said.contains("Whether")));
    let low = runs([60.0, 60.1, 59.9]);
    let found = verdict(&[seeds("a", &sure), seeds("b", &low)], &[]);
    assert!(found.answers[0].unsure.is_empty(), "{found:?}");
}

/// Each has a grade of its own, and the worst decides.
#[test]
fn of_two_uploads_one_that_starves_fails() {
    let found = alone(&home(GOOD_GAME, &[("a", 190.0), ("b", 2.0)]));
    let upload = &found.groups[0].assessments[1];
    assert_eq!((upload.application, upload.grade), ("upload", Some(Grade::Fails)));
    assert_eq!(upload.traffic, "b");
    let grades: Vec<_> = found.groups[0].transfers.iter().map(|one| one.grade).collect();
    assert_eq!(grades, [Some(Grade::Good), Some(Grade::Fails)]);
    let said =
        "'a' has 1.9 times its part (4.91 of 2.58 Mbps), and 'b' has 2 % of its own (0.0517 Mbps).";
    assert!(found.sentences.contains(&said.to_owned()), "{found:?}");
}

/// What a third one lacks is nobody's doing alone.
#[test]
fn all_that_have_more_than_their_part_are_named() {
    let found = alone(&home(GOOD_GAME, &[("a", 120.0), ("b", 10.0), ("c", 130.0)]));
    let said = "'c' has 1.3 times its part (2.24 of 1.72 Mbps), 'a' has 1.2 times its part (2.07 of 1.72 Mbps), and \
                'b' has 10 % of its own (0.172 Mbps).";
    assert!(found.sentences.contains(&said.to_owned()), "{:?}", found.sentences);
}

/// A call beside an upload, and what it waits.
fn waiting_call(mos: f64, percent: f64, mean_ms: f64) -> Facts {
    let call = json!({"mos": mos, "late_percent": 0.0, "loss_percent": 0.0});
    let mut flows = both_ways("x", "voice", &call);
    flows.push(rate("up", "up", 310.0 / 60.0 * percent / 100.0));
    let queue = row(&json!({"queue": "q", "direction": "up", "departed_packets": 900.0,
        "sojourn_mean_ms": mean_ms, "sojourn_p99_ms": mean_ms}));
    let traffic = format!(
        "{}\ntraffic.up = {{ kind = 'transfer', server = 'near' }}",
        GAME.replace("game", "voice")
    );
    let delay_parts = waited("x", "up", mean_ms);
    Facts::of(
        &scenario(&traffic),
        &Rows { flows, queues: vec![queue], delay_parts, ..Rows::default() },
    )
}

/// A call does not notice a tenth of a second, nor an upload a twentieth of its rate.
#[test]
fn what_a_call_waits_decides_where_all_else_is_alike() {
    let of = waiting_call;
    let (tail, codel) = (of(4.36, 99.0, 130.0), of(4.39, 91.0, 20.0));
    for settings in [[("tail", &tail), ("CoDel", &codel)], [("CoDel", &codel), ("tail", &tail)]] {
        assert_eq!(best(&settings), ["CoDel"]);
    }
    let found = verdict(&[group("tail", &tail), group("CoDel", &codel)], &[]);
    assert_eq!(
        found.sentences[0],
        "CoDel does best: all is good. Against tail, the upstream wait rises from poor to good (mean from 130 to 20.0 \
         ms)."
    );
    // Grades decide before, and what the wait then costs is said.
    let slow = of(4.39, 89.0, 20.0);
    assert_eq!(best(&[("tail", &tail), ("slow", &slow)]), ["tail"]);
    let found = verdict(&[group("tail", &tail), group("slow", &slow)], &[]);
    assert_eq!(found.price[0].application, "upstream wait");
    // So does a step of the call.
    assert_eq!(best(&[("tail", &of(4.33, 99.0, 10.0)), ("CoDel", &codel)]), ["CoDel"]);
}

/// What fails with every setting is said, whatever is alike.
#[test]
fn what_fails_with_all_settings_is_said() {
    let of = |game, percent| home(game, &[("up", percent)]);
    let first = |one: &Facts, other: &Facts| {
        verdict(&[group("a", one), group("b", other)], &[]).sentences.remove(0)
    };
    let share = |percent| {
        format!(
            "No setting is good: the upload fails with each ({percent} % of its part of the line with a). "
        )
    };
    for (a, b, percent, then) in [
        (
            (GOOD_GAME, 3.0),
            (GOOD_GAME, 4.0),
            "3.00",
            "No setting does best: a and b do equally well.",
        ),
        (
            (GOOD_GAME, 3.0),
            (FAIR_GAME, 3.0),
            "3.00",
            "a does best: nothing fails with it but the upload.",
        ),
        (
            ((1.5, 0.0, 25.0), 6.0),
            (GOOD_GAME, 4.0),
            "6.00",
            "No setting does best at everything. These are in front: ",
        ),
    ] {
        let found = first(&of(a.0, a.1), &of(b.0, b.1));
        assert!(found.starts_with(&(share(percent) + then)), "{found}");
    }
    let one = first(&of(GOOD_GAME, 3.0), &of((90.0, 90.0, 900.0), 99.0));
    assert!(one.starts_with("No setting does best at everything"), "{one}");
}

/// The answer about drop-tail and PIE, `a` and `b` with one upload, `c` and `d` with four, that give their uploads so much.
fn of_two_loads(percents: [f64; 4]) -> Verdict {
    let (tail, law) = ("upstream.queue.limit_packets=100", "upstream.queue.law.kind=pie");
    let of = |(set, connections): (&str, u32), percent: f64| {
        let flows = vec![rate("upload", "up", 310.0 / 60.0 * percent / 100.0)];
        let sets = [set.to_owned(), format!("traffic.upload.connections={connections}")];
        let scenario = scenario_of(UPLOAD, &sets.each_ref().map(String::as_str));
        Facts::of(&scenario, &Rows { flows, ..Rows::default() })
    };
    let settings = [(tail, 1), (law, 1), (tail, 4), (law, 4)];
    let all: Vec<Facts> = settings.into_iter().zip(percents).map(|(one, at)| of(one, at)).collect();
    let groups: Vec<_> =
        ["a", "b", "c", "d"].iter().zip(&all).map(|(name, facts)| group(name, facts)).collect();
    verdict(&groups, &[])
}

/// Where the loads agree on some setting, the answer does not change with the load.
#[test]
fn an_answer_changes_with_the_load_only_where_no_setting_is_best_under_all() {
    let found = of_two_loads([99.0, 99.0, 60.0, 99.0]);
    assert_eq!(found.sentences[0], "b and d are among the best, each under its load.");
}

/// It is named behind the answers of the others, or alone if there is none.
#[test]
fn a_setting_of_a_load_of_its_own_is_compared_with_nothing() {
    let of = |connections: u32| {
        let set = format!("traffic.upload.connections={connections}");
        let flows = vec![rate("upload", "up", 4.0 + f64::from(connections) / 9.0)];
        Facts::of(&scenario_of(UPLOAD, &[&set]), &Rows { flows, ..Rows::default() })
    };
    let (one, two, four) = (of(1), of(2), of(4));
    let said = "Compared with nothing, since no other setting has the same load:";
    let several = verdict(&[group("a", &one), group("b", &one), group("c", &four)], &[]).sentences;
    assert!(
        several[0].starts_with("No setting does best: a and b do equally well."),
        "{several:?}"
    );
    assert!(several[1..].contains(&format!("{said} c.")), "{several:?}");
    let alone = verdict(&[group("a", &one), group("b", &two), group("c", &four)], &[]).sentences;
    assert_eq!(alone[0], format!("{said} a, b and c."));
}

/// An answer changes only where each load has one, and these have no setting in common.
#[test]
fn an_answer_that_there_is_not_does_not_change() {
    let levels = [20.0, 60.0, 99.0];
    for number in 0..81_usize {
        let percents = [0, 1, 2, 3].map(|place| levels[number / 3_usize.pow(place) % 3]);
        let found = of_two_loads(percents);
        let is_decided = |pair: &[f64]| pair[0] != pair[1];
        let decided = percents.chunks(2).filter(|pair| is_decided(pair)).count();
        let prefers = percents.chunks(2).map(|pair| pair[0] > pair[1]).collect::<Vec<_>>();
        let [changes, common] = ["changes with the load", "each under its load"]
            .map(|it| found.sentences[0].contains(it));
        assert_eq!(changes, decided == 2 && prefers[0] != prefers[1], "{percents:?}");
        assert_eq!(common, decided > 0 && !changes, "{percents:?} {:?}", found.sentences);
    }
}

/// What does best under one load may do so under another, where it was not tried: no answer changes for that.
#[test]
fn a_setting_that_was_tried_under_one_load_changes_no_answer() {
    let laws = ["pie", "codel", "red"].map(|kind| format!("upstream.queue.law.kind={kind}"));
    let of = |law: &str, connections: u32, percent: f64| {
        let flows = vec![rate("upload", "up", 310.0 / 60.0 * percent / 100.0)];
        let count = format!("traffic.upload.connections={connections}");
        Facts::of(&scenario_of(UPLOAD, &[law, &count]), &Rows { flows, ..Rows::default() })
    };
    let [a, b] = [(&laws[0], 60.0), (&laws[1], 99.0)].map(|(law, at)| of(law, 1, at));
    let [c, d] = [(&laws[0], 60.0), (&laws[1], 70.0)].map(|(law, at)| of(law, 4, at));
    for (law, percent) in [(&laws[2], 99.0), (&laws[0], 99.0)] {
        let (e, is_new) = (of(law, 4, percent), law == &laws[2]);
        let names = [("a", &a), ("b", &b), ("d", &d), ("e", &e), ("c", &c)];
        let all = names.iter().take(if is_new { 5 } else { 4 });
        let groups: Vec<_> = all.map(|(name, facts)| group(name, facts)).collect();
        let said = verdict(&groups, &[]).sentences;
        assert_eq!(said[0].contains("changes with the load"), !is_new, "{said:?}");
    }
}

/// The value is named that decides a grade.
#[test]
fn a_grade_that_a_tail_decides_is_named_with_the_tail() {
    let of = |mean_ms: f64, p99_ms: f64| {
        let queue = row(&json!({"queue": "q", "direction": "up", "departed_packets": 900.0,
            "sojourn_mean_ms": mean_ms, "sojourn_p99_ms": p99_ms}));
        let flows = vec![rate("upload", "up", 5.0)];
        Facts::of(&scenario(UPLOAD), &Rows { flows, queues: vec![queue], ..Rows::default() })
    };
    for (slow, fast, want) in [
        ((28.0, 506.0), (10.0, 90.0), "(wait of 99 % of packets from 506 to 90.0 ms)"),
        ((45.0, 99.0), (10.0, 50.0), "(mean wait from 45.0 to 10.0 ms)"),
    ] {
        let (slow, fast) = (of(slow.0, slow.1), of(fast.0, fast.1));
        let found = verdict(&[group("slow", &slow), group("fast", &fast)], &[]).sentences;
        assert!(found[0].contains(want), "{found:?}");
    }
}

/// The loads have an answer each, and one sentence says whether it changes.
#[test]
fn settings_of_several_loads_are_compared_load_by_load() {
    for (last, want) in [
        (99.0, "b and d do best, each under its load."),
        (20.0, "Which setting does best changes with the load."),
    ] {
        let found = of_two_loads([60.0, 99.0, 60.0, last]);
        assert_eq!(found.best, None);
        assert_eq!(found.answers.len(), 2);
        assert_eq!(found.sentences[0], want);
    }
}

/// Shares of lines that carry another rate compare nothing; the rates are named.
#[test]
fn of_several_lines_the_rates_are_named_and_no_shares_compared() {
    let of = |mbps: u32, percent: f64, choice: &[&str]| {
        let values = json!({"over_20_ms_access_percent": 0.5, "over_80_ms_round_trip_percent": 0.0,
            "rtt_p90_ms": 25.0, "loss_percent": 0.0});
        let mut flows = both_ways("x", "game", &values);
        flows.push(rate("up", "up", f64::from(mbps) * percent / 100.0));
        let traffic = format!("{GAME}\ntraffic.up = {{ kind = 'transfer', server = 'near' }}");
        let set = format!("upstream.sustained_mbps={mbps}");
        let scenario = scenario_of(&traffic, &[&[set.as_str()], choice].concat());
        Facts::of(&scenario, &Rows { flows, ..Rows::default() })
    };
    let (slow, fast) = (of(5, 99.0, &[]), of(20, 60.0, &[]));
    let found = verdict(&[group("slow", &slow), group("fast", &fast)], &[]);
    assert!(found.sentences[0].starts_with("No setting does best"), "{found:?}");
    assert!(
        found.sentences[0].contains("Upload is 4.95 Mbps with slow and 12.0 Mbps with fast"),
        "{found:?}"
    );
    let left_out = "Not compared, since the lines differ: the shares of the upload.";
    assert!(found.sentences.contains(&left_out.to_owned()), "{found:?}");
    // Where a line has several settings, one of another line changes nothing between them.
    let weak = of(5, 20.0, &["upstream.queue.limit_bytes=6000"]);
    let late = of(5, 99.0, &["metrics.from_s=2"]);
    for other in [&fast, &late] {
        let found = verdict(&[group("slow", &slow), group("weak", &weak), group("x", other)], &[]);
        let of_weak = found.answers.iter().find(|one| one.settings.contains(&1)).unwrap();
        assert!(of_weak.settings.contains(&0) && !of_weak.best.contains(&1), "{found:?}");
    }
    // And lines are compared by the best of each, with their rates.
    let between = |names: &[(&str, &Facts)]| {
        let groups: Vec<_> = names.iter().map(|(name, facts)| group(name, facts)).collect();
        let found = verdict(&groups, &[]).sentences;
        found.into_iter().find(|said| said.starts_with("Between lines: "))
    };
    let three = [("slow", &slow), ("weak", &weak), ("fast", &fast)];
    let said = between(&three).expect("both lines are compared");
    assert!(said.contains("Upload is 4.95 Mbps with slow and 12.0 Mbps with fast"), "{said}");
    assert!(said.ends_with(left_out) && !said.contains("weak"), "{said}");
    assert_eq!(between(&three[..2]), None);
}

/// The best of a line is compared with other lines, first with that which carries most of what it lacks: a game that is
/// good costs here most of the upload.
#[test]
fn between_lines_the_reference_is_another_line_and_lost_rates_are_named() {
    let of = |line_mbps: u32, late_percent: f64, mbps: f64, choice: &[&str]| {
        let values = json!({"over_20_ms_access_percent": late_percent, "loss_percent": 0.0,
            "over_80_ms_round_trip_percent": 0.0, "rtt_p90_ms": 25.0});
        let flows = [both_ways("x", "game", &values), vec![rate("up", "up", mbps)]].concat();
        let traffic = format!("{GAME}\ntraffic.up = {{ kind = 'transfer', server = 'near' }}");
        let set = format!("upstream.sustained_mbps={line_mbps}");
        let scenario = scenario_of(&traffic, &[&[set.as_str()], choice].concat());
        Facts::of(&scenario, &Rows { flows, ..Rows::default() })
    };
    let two = of(2, 0.5, 1.8, &[]);
    let full = of(2, 60.0, 4.0, &["upstream.queue.limit_bytes=6000"]);
    let others = [(5, 4.9), (20, 19.4), (10, 9.8)].map(|(line, mbps)| of(line, 60.0, mbps, &[]));
    let named = ["5", "20", "10"].into_iter().zip(&others).map(|(name, of)| group(name, of));
    let groups: Vec<_> =
        [group("2", &two), group("full", &full)].into_iter().chain(named).collect();
    let found = verdict(&groups, &[]);
    let between = found.answers.last().expect("lines are compared");
    assert_eq!((between.best.as_slice(), between.reference), (&[0][..], Some(3)), "{found:?}");
    let said = found.sentences.iter().find(|one| one.starts_with("Between lines: 2 does best"));
    let said = said.expect("the game decides");
    assert!(said.contains("Against 20, ") && !said.contains("full"), "{said}");
    assert!(said.contains(", but upload falls from 19.4 to 1.80 Mbps."), "{said}");
    assert!(said.contains(" If the upload matters most: 20."), "{said}");
}

/// What coupling is for, where both queues carry an upload and a setting without it is compared.
#[test]
fn what_coupling_gives_the_classic_queue_is_said() {
    let prague = "traffic.prague = { kind = 'transfer', server = 'near', tcp.congestion_control.kind = 'prague' }
                  traffic.cubic = { kind = 'transfer', server = 'near' }";
    let of = |traffic: &str, keys: &str, mbps: [f64; 2]| {
        let queue = format!("upstream.queue.scheduler={{kind='low_latency', {keys}}}");
        let rates = ["prague", "cubic"].into_iter().zip(mbps);
        let flows = rates.map(|(name, mbps)| rate(name, "up", mbps)).collect();
        let scenario = scenario_of(traffic, &[queue.as_str()]);
        Facts::of(&scenario, &Rows { flows, ..Rows::default() })
    };
    let said = |one: &Facts, other: &Facts| {
        let found = verdict(&[group("LLD", one), group("alone", other)], &[]).sentences;
        found.into_iter().find(|said| said.starts_with("Coupling "))
    };
    let [coupled, alone] = [("coupled=true", [2.4, 2.7]), ("coupled=false", [4.0, 1.1])]
        .map(|(keys, mbps)| of(prague, keys, mbps));
    let want = "Coupling lets the classic queue slow the low-latency one: beside 'prague', 'cubic' has 2.70 Mbps with it (LLD) and 1.10 without (alone).";
    assert_eq!(said(&coupled, &alone).as_deref(), Some(want));
    assert_eq!(said(&coupled, &coupled), None);
    // What differs in more is no witness.
    for keys in
        ["coupled=false, weight=255", "coupled=false, classic_aqm=false", "classic_aqm=false"]
    {
        assert_eq!(said(&coupled, &of(prague, keys, [4.0, 1.1])), None, "{keys}");
    }
    let classic = prague.replace("kind = 'prague'", "kind = 'reno'");
    let [coupled, alone] =
        ["coupled=true", "coupled=false"].map(|keys| of(&classic, keys, [2.4, 2.7]));
    assert_eq!(said(&coupled, &alone), None);
}

/// Keys that leave a queue little are named where a transfer has little.
#[test]
fn keys_of_low_latency_that_starve_are_named() {
    let of = |keys: &str, percent: f64| {
        let queue = format!("upstream.queue.scheduler={{kind='low_latency', {keys}}}");
        let flows = vec![rate("upload", "up", 310.0 / 60.0 * percent / 100.0)];
        let scenario = scenario_of(UPLOAD, &[queue.as_str()]);
        Facts::of(&scenario, &Rows { flows, ..Rows::default() })
    };
    let named = |facts: &Facts| {
        let said = alone(facts).sentences.into_iter();
        said.filter(|said| said.contains(" is left ")).collect::<Vec<_>>()
    };
    for (keys, percent, want) in [
        ("classic_mbps = 2", 40.0, Some("classic queue is left 2 of 5 Mbps by K.classic_mbps.")),
        ("classic_mbps = 2", 60.0, None),
        ("classic_mbps = 2.5", 40.0, None),
        (
            "low_latency_mbps = 1",
            9.0,
            Some("low-latency queue is left 1 of 5 Mbps by K.low_latency_mbps."),
        ),
        (
            "weight = 231, coupled = false",
            40.0,
            Some(
                "classic queue is left 25 of 256 turns beside a full low-latency one, by K.weight.",
            ),
        ),
        ("weight = 230, coupled = false", 40.0, None),
        ("weight = 231", 40.0, None),
        (
            "weight = 25",
            40.0,
            Some(
                "low-latency queue is left 25 of 256 turns beside a full classic one, by K.weight.",
            ),
        ),
        ("weight = 26", 40.0, None),
    ] {
        let want = want.map(|it| format!("The {}", it.replace('K', "upstream.queue.scheduler")));
        assert_eq!(named(&of(keys, percent)), Vec::from_iter(want), "{keys}");
    }
    let (one, other) = (of("classic_mbps = 2", 9.0), of("classic_mbps = 2", 20.0));
    let found = verdict(&[group("a", &one), group("b", &other)], &[]).sentences;
    let said = "With a and b, the classic queue is left 2 of 5 Mbps by upstream.queue.scheduler.classic_mbps.";
    assert!(found.iter().any(|one| one == said), "{found:?}");
}

/// An AQM of such a queue that is off is named, and so is who was moved out of the low-latency queue.
#[test]
fn what_low_latency_queues_lack_and_move_is_named() {
    let said = |keys: &str, sanctioned: f64| {
        let queue = format!("upstream.queue.scheduler={{kind='low_latency', {keys}}}");
        let mut upload = rate("upload", "up", 5.0);
        upload.0.insert("sanctioned_packets".to_owned(), json!(sanctioned));
        let rows = Rows { flows: vec![upload], ..Rows::default() };
        alone(&Facts::of(&scenario_of(UPLOAD, &[queue.as_str()]), &rows)).sentences.join(" ")
    };
    for (member, key) in [("classic", "classic_aqm"), ("low-latency", "low_latency_aqm")] {
        let want = format!("The {member} queue has no AQM, by upstream.queue.scheduler.{key}.");
        assert!(said(&format!("{key} = false"), 0.0).contains(&want), "{want}");
        assert!(!said(&format!("{key} = true"), 0.0).contains("has no AQM"));
    }
    let moved = "Queue protection moved packets of upload to the classic queue, since they fill the low-latency one.";
    assert_eq!([0.0, 3.0].map(|packets| said("", packets).contains(moved)), [false, true]);
}

/// What an entry loses is a price, though another one of its kind is as bad with both.
#[test]
fn each_entry_with_a_worse_grade_is_a_price() {
    let of = |near: f64, upload: f64| {
        let game = |name: &str, over: f64| {
            let values = json!({"over_20_ms_access_percent": over, "loss_percent": 0.0, "rtt_p90_ms": 60.0,
                "over_80_ms_round_trip_percent": 0.0});
            both_ways(name, "game", &values)
        };
        let traffic = format!("{GAME}\n{}\n{UPLOAD}", GAME.replace("traffic.x", "traffic.far"));
        let up = vec![rate("upload", "up", 310.0 / 60.0 * upload / 100.0)];
        of_flows(&traffic, [game("x", near), game("far", 60.0), up].concat())
    };
    let [law, tail] = [of(40.0, 99.0), of(1.0, 60.0)];
    let found = verdict(&[group("tail", &tail), group("law", &law)], &[]);
    let price = &found.price[0];
    assert_eq!(
        (price.application, price.traffic.as_str(), price.alternative),
        ("game", "x", Some(0))
    );
    assert!(found.sentences[0].starts_with("law does best, at a price"), "{:?}", found.sentences);
    assert!(
        found.sentences[0].ends_with(" If the game 'x' matters most: tail."),
        "{:?}",
        found.sentences
    );
}

/// Lines that carry the same are compared by shares, whatever they lose on the way.
#[test]
fn a_setting_that_loses_a_tenth_of_the_packets_is_behind() {
    let found = judged_by_name(
        "duration_s = 20
         upstream.sustained_mbps = 10
         downstream.sustained_mbps = 50
         servers.near.delay_ms = 9
         traffic.down = { kind = 'transfer', server = 'near', direction = 'down' }
         compare.CoDel.downstream.queue.law.kind = 'codel'
         compare.lossy.servers.near.loss_percent = 10",
    );
    assert_eq!(found.best, Some(0), "{:?}", found.sentences);
}

/// A setting wins by something, which is said before what it costs: also where a use has the same grade, and the value that
/// sentences name first is worse.
#[test]
fn what_the_best_wins_is_said_first() {
    let of = |p90_ms: f64, lost_percent: f64| {
        let values = json!({"over_20_ms_access_percent": 100.0, "over_80_ms_round_trip_percent": 50.0,
            "rtt_p90_ms": p90_ms, "loss_percent": lost_percent});
        of_flows(GAME, both_ways("x", "game", &values))
    };
    // Both are poor: by the delay, and one by its loss too. It misses steps at 5 and 20 %, the other one at 160 ms.
    let (codel, plain) = (of(105.0, 44.0), of(255.0, 0.07));
    for settings in [[("codel", &codel), ("plain", &plain)], [("plain", &plain), ("codel", &codel)]]
    {
        let groups = settings.map(|(name, facts)| group(name, facts));
        let found = verdict(&groups, &[]);
        let want = "plain does best: nothing fails with it. Against codel, the game's loss falls from 44.0 to 0.0700 %, but game \
                    RTT p90 rises from 105 to 255 ms.";
        assert_eq!(found.sentences[0], want);
    }
}

/// Each in front says of whom it is ahead in what, with the value that decides, and what fails with it alone.
#[test]
fn those_in_front_say_of_whom_they_are_ahead() {
    let of = |mos, page_s, mbps| call_and_uploads(mos, page_s, &[("up", mbps)], 1);
    let (a, b, c) = (of(4.4, 1.0, 3.0), of(3.5, 1.0, 5.0), of(4.4, 5.0, 5.0));
    let said = verdict(&[group("a", &a), group("b", &b), group("c", &c)], &[]).sentences.remove(0);
    let want = "No setting does best at everything. These are in front: \
                a, ahead of b in the call (MOS 4.40), ahead of c in the page load (median 1.00 s); \
                b, ahead of c in the page load (median 1.00 s), ahead of a in the upload (96.8 % of its part of the line); \
                c, ahead of b in the call (MOS 4.40), ahead of a in the upload (96.8 % of its part of the line). \
                What matters most decides.";
    assert_eq!(said, want);
    // The queue is good by its tail: 15 ms between the means is a step inside the grade.
    let of = |mean_ms: f64, p99_ms: f64, mbps: f64| {
        let queue = row(&json!({"queue": "q", "direction": "up", "departed_packets": 900.0,
            "sojourn_mean_ms": mean_ms, "sojourn_p99_ms": p99_ms}));
        let flows = vec![rate("upload", "up", mbps)];
        Facts::of(&scenario(UPLOAD), &Rows { flows, queues: vec![queue], ..Rows::default() })
    };
    let (short, full) = (of(13.4, 82.0, 3.0), of(15.8, 150.0, 5.0));
    let said = verdict(&[group("short", &short), group("full", &full)], &[]).sentences.remove(0);
    let want = "short, ahead in the upstream queue (wait of 99 % of packets 82.0 ms); full, ahead in the upload (96.8 ";
    assert!(said.contains(want), "{said}");
}
