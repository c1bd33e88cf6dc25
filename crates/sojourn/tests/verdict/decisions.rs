//! What decides between settings, and what does not.

use super::*;

/// Two settings in either order, of which the second is best by its response.
fn second_is_best(one: &Facts, two: &Facts) {
    for groups in [[group("one", one), group("two", two)], [group("two", two), group("one", one)]] {
        let found = verdict(&groups, &[]);
        assert!(found.sentences[0].starts_with("two does best"), "{:?}", found.sentences);
    }
}

#[test]
fn what_is_good_in_both_is_no_complaint() {
    let of = |p90_ms, response_s| {
        let facts = game_and_upload(p90_ms, 10.0, Some(5.0));
        with(facts, &[("response_median_s", response_s)])
    };
    second_is_best(&of(12.0, 10.0), &of(15.0, 5.0));
}

#[test]
fn what_users_notice_decides_before_its_far_tail_and_that_before_queues() {
    let of = |page_s, p99_ms, queue_ms| {
        let facts = call_and_uploads(4.3, page_s, &[("up", 5.0)], 1);
        with(facts, &[("game_rtt_p99_ms", p99_ms), ("classic_queue_p99_ms", queue_ms)])
    };
    second_is_best(&of(2.0, 40.0, 20.0), &of(1.0, 60.0, 90.0));
    second_is_best(&of(1.0, 60.0, 20.0), &of(1.0, 40.0, 90.0));
}

/// Rates of another number of transfers are no totals to compare.
#[test]
fn sums_over_other_transfers_decide_nothing() {
    let uploads = |b_mbps| game_and_uploads(12.0, 10.0, &[("a", 5.0), ("b", b_mbps)]);
    let (both, one) = (uploads(5.0), uploads(0.0));
    assert_eq!(verdict(&[group("both", &both), group("one", &one)], &[]).best, None);
    let less = uploads(2.0);
    assert_eq!(verdict(&[group("both", &both), group("less", &less)], &[]).best, Some(0));
}

/// Against the first that is given, which is the state of today; where that is best itself, against the worst.
#[test]
fn the_best_is_held_against_the_first_or_else_the_worst() {
    let [good, fair, poor] =
        [12.0, 30.0, 200.0].map(|p90_ms| game_and_upload(p90_ms, 10.0, Some(5.0)));
    for (runs, want) in [
        ([&good, &fair, &poor], (0, 2)),
        ([&good, &poor, &fair], (0, 1)),
        ([&fair, &good, &poor], (1, 0)),
        ([&poor, &good, &fair], (1, 0)),
        ([&fair, &poor, &good], (2, 0)),
    ] {
        let groups: Vec<_> =
            ["a", "b", "c"].into_iter().zip(runs).map(|(n, f)| group(n, f)).collect();
        let found = verdict(&groups, &[]);
        assert_eq!((found.best, found.reference), (Some(want.0), Some(want.1)));
    }
}

#[test]
fn the_question_tells_the_most_seeds_that_a_setting_has() {
    let (one, three) = (games([12.0]), games([30.0, 31.0, 29.0]));
    for groups in [[seeds("a", &one), seeds("b", &three)], [seeds("b", &three), seeds("a", &one)]] {
        let found = verdict(&groups, &[]).question;
        assert!(found.ends_with(" (mean of 3 seeds)?"), "{found}");
    }
    let two = games([12.0, 30.0]);
    for (runs, is_mean) in [(&one[..], false), (&two[..], true)] {
        let found = verdict(&[seeds("a", runs), group("b", &one[0])], &[]).question;
        assert_eq!(found.ends_with(" (mean of 2 seeds)?"), is_mean, "{found}");
        assert_eq!(found.contains("mean"), is_mean, "{found}");
    }
}

/// A measure of the game by seed, with the same 90 % quantile for all.
fn by_seed<const N: usize>(key: &'static str, values: [f64; N]) -> [Facts; N] {
    let facts = games([20.0; N]).into_iter().zip(values);
    let facts: Vec<_> = facts.map(|(facts, value)| with(facts, &[(key, value)])).collect();
    facts.try_into().unwrap_or_else(|_| unreachable!())
}

/// Of two settings with equal means the first is what others are held against: the third is worse than that by as
/// much with each seed, and than the second by a spread.
#[test]
fn of_equal_means_the_first_given_is_the_best() {
    for (key, [first, second, third]) in [
        ("game_rtt_p99_ms", [[50.0, 60.0, 70.0], [60.0, 60.0, 60.0], [60.0, 70.0, 80.0]]),
        ("upload_mbps", [[50.0, 60.0, 70.0], [60.0, 60.0, 60.0], [40.0, 50.0, 60.0]]),
    ] {
        let runs = [first, second, third].map(|values| by_seed(key, values));
        let groups = [seeds("a", &runs[0]), seeds("b", &runs[1]), seeds("c", &runs[2])];
        let told = first_sentence(&groups);
        assert!(told.starts_with("a and b do best and hardly differ"), "{told}");
        assert!(!told.contains("cannot tell"), "{told}");
    }
}

/// Two seeds have an interval, and one has none.
#[test]
fn what_seeds_cannot_tell_needs_two_of_them() {
    let (poor, steady) = (games([60.0, 61.0]), games([30.0, 31.0]));
    let uneven = games([30.0, 90.0]);
    let groups = [seeds("poor", &poor), seeds("uneven", &uneven), seeds("steady", &steady)];
    let told = first_sentence(&groups);
    assert!(told.starts_with("steady does best: against poor, "), "{told}");
    assert!(told.ends_with(" Whether uneven does as well, 2 seeds cannot tell."), "{told}");
    let groups = [seeds("a", &uneven), seeds("b", &steady)];
    let told = first_sentence(&groups);
    assert_eq!(told, "There is no difference that 2 seeds can show between a and b.");
    // Of two settings the one with fewer seeds tells how many can show a difference.
    for groups in [
        [seeds("a", &steady), seeds("b", &steady[..1])],
        [seeds("a", &steady[..1]), seeds("b", &steady)],
    ] {
        let told = first_sentence(&groups);
        assert_eq!(told, "No setting does best: a and b hardly differ.");
    }
}

/// What load adds to the round trip is named where nothing else is.
#[test]
fn what_load_adds_is_named_alone() {
    let idle = game_and_upload(11.0, 10.0, None);
    let told = |best: Facts, other: Facts| {
        let groups = [group("a", &best), group("b", &other), group("idle line", &idle)];
        first_sentence(&groups)
    };
    let of = |p90_ms, mean_ms, mbps| game_and_upload(p90_ms, mean_ms, Some(mbps));
    assert_eq!(
        told(of(12.0, 18.0, 5.1), of(12.0, 190.0, 4.7)),
        "a does best: against b, load adds 8.00 instead of 180 ms to the round trip and the upload gains 9 %."
    );
    let response = |facts, response_s| with(facts, &[("response_median_s", response_s)]);
    assert_eq!(
        told(response(of(11.0, 18.0, 5.0), 10.7), response(of(12.0, 190.0, 5.0), 10.0)),
        "a does best: against b, game RTT p90 falls from 12.0 to 11.0 ms and the upload keeps its rate; but the \
         median web response rises from 10.0 to 10.7 s."
    );
}

/// A far tail that decides is named beside what users notice, if grades do not decide.
#[test]
fn the_measure_that_decides_is_named() {
    let of = |p90_ms, p99_ms| {
        with(game_and_upload(p90_ms, 10.0, Some(5.0)), &[("game_rtt_p99_ms", p99_ms)])
    };
    for (best, want) in [
        (
            (11.5, 40.0),
            "game RTT p90 falls from 12.0 to 11.5 ms, game RTT p99 falls from 60.0 to 40.0 ms",
        ),
        ((9.0, 40.0), "game RTT p90 falls from 12.0 to 9.00 ms"),
    ] {
        let (one, two) = (of(12.0, 60.0), of(best.0, best.1));
        let told = first_sentence(&[group("one", &one), group("two", &two)]);
        assert_eq!(
            told,
            format!("two does best: against one, {want} and the upload keeps its rate.")
        );
    }
}

/// A game whose grade rises though its 90 % quantile is a little longer: no clause says that twice.
#[test]
fn nothing_is_told_twice() {
    let of = |p90_ms: f64, over_percent: f64| facts(GAME, "game", &slow_game(p90_ms, over_percent));
    let (one, two) = (of(60.0, 25.0), of(64.0, 5.0));
    let told = first_sentence(&[group("one", &one), group("two", &two)]);
    assert!(told.starts_with("two does best"), "{told}");
    assert_eq!(told.matches("game RTT p90 rises from 60.0 to 64.0 ms").count(), 1, "{told}");
}

/// A run of an upload with an upstream queue of this kind, mean and 99 % quantile, with a game or without.
fn queued(scheduler: &str, game: &str, [mean_ms, p99_ms]: [f64; 2]) -> Facts {
    let set = format!("upstream.queue.scheduler.kind='{scheduler}'");
    let queue = row(&json!({"queue": "upstream", "direction": "up",
        "sojourn_mean_ms": mean_ms, "sojourn_p99_ms": p99_ms}));
    let up = rate("upload", "up", 5.0);
    let mut flows = vec![up];
    if game == GAME {
        flows.extend(both_ways("x", "game", &json!({"rtt_p90_ms": 12.0})));
    }
    let rows = Rows { flows, queues: vec![queue], ..Rows::default() };
    Facts::of(&scenario_of(&format!("{game}\n{UPLOAD}"), &[&set]), &rows)
}

/// A fair queue keeps the game from what stands in it. Where nobody watches, its grade counts.
#[test]
fn the_grade_of_a_fair_queue_counts_where_nothing_watches_it() {
    let graded = "packets wait 20.0 instead of 90.0 ms in the upstream queue on average";
    let measured = "up queue p99 falls from 200 to 50.0 ms";
    for (scheduler, game, want) in
        [("fifo", GAME, graded), ("fq", GAME, measured), ("fifo", "", graded), ("fq", "", graded)]
    {
        let [long, short] = [[90.0, 200.0], [20.0, 50.0]].map(|of| queued(scheduler, game, of));
        let told = first_sentence(&[group("long", &long), group("short", &short)]);
        assert_eq!(
            told,
            format!("short does best: against long, {want} and the upload keeps its rate."),
            "{scheduler} {game}"
        );
    }
    // The far tail may be longer all the same.
    let (long, short) = (queued("fifo", GAME, [90.0, 100.0]), queued("fifo", GAME, [20.0, 150.0]));
    let told = first_sentence(&[group("long", &long), group("short", &short)]);
    let end = " and the upload keeps its rate; but up queue p99 rises from 100 to 150 ms.";
    assert_eq!(told, format!("short does best, at a price: against long, {graded}{end}"));
    // Its grade is that of the other queue, in which the game waits: the difference is described as it is.
    for (fair, want) in [
        (
            [70.0, 150.0],
            "fair does best: against fifo, packets wait 70.0 instead of 90.0 ms in the upstream queue on average \
             and the upload keeps its rate.",
        ),
        (
            [120.0, 200.0],
            "fair does best, at a price: against fifo, the upload keeps its rate; but packets wait 120 instead of \
             90.0 ms in the upstream queue on average.",
        ),
    ] {
        let (fifo, fair) = (queued("fifo", GAME, [90.0, 200.0]), queued("fq", GAME, fair));
        let told = first_sentence(&[group("fifo", &fifo), group("fair", &fair)]);
        assert_eq!(told, want);
    }
}

/// What nobody watches is compared by the share of it that differs, not by its size: one is better by that than two, and
/// both are better than the worst.
#[test]
fn of_rates_the_one_decides_that_differs_by_the_greater_share() {
    let of = |(up_mbps, down_mbps): (f64, f64)| {
        let get = "traffic.get = { kind = 'transfer', direction = 'down', server = 'near' }";
        let flows = vec![rate("upload", "up", up_mbps), rate("get", "down", down_mbps)];
        of_flows(&format!("{UPLOAD}\n{get}"), flows)
    };
    for (worst, one, two) in
        [((0.40, 18.5), (0.80, 18.5), (0.76, 19.0)), ((4.9, 15.0), (4.88, 20.0), (5.0, 19.0))]
    {
        let facts = [worst, one, two].map(of);
        for order in [[0, 1, 2], [0, 2, 1], [2, 1, 0]] {
            let groups = order.map(|number| group(["worst", "one", "two"][number], &facts[number]));
            let best = verdict(&groups, &[]).best.map(|found| order[found]);
            assert_eq!(best, Some(1), "{order:?}");
        }
    }
}

/// How traffic is sent is a choice of those who send it. What they want is not.
#[test]
fn what_users_choose_is_no_other_load() {
    let of = |set: &str, p90_ms: f64| {
        let flows = both_ways("x", "game", &json!({"rtt_p90_ms": p90_ms}));
        let scenario = scenario_of(&format!("{GAME}\n{UPLOAD}"), &[set]);
        Facts::of(&scenario, &Rows { flows, ..Rows::default() })
    };
    for (set, is_choice) in [
        ("traffic.upload.dscp=46", true),
        ("traffic.upload.port=443", true),
        ("traffic.upload.tcp.congestion_control.kind='reno'", true),
        ("traffic.upload.connections=2", false),
        ("traffic.upload.start_s=1", false),
        ("traffic.x.packet_bytes=100", false),
    ] {
        let (one, two) = (of("seed=1", 60.0), of(set, 20.0));
        let told = first_sentence(&[group("one", &one), group("two", &two)]);
        let want = if is_choice { "two does best" } else { "The load differs" };
        assert!(told.starts_with(want), "{set}: {told}");
    }
}

/// Grades of means, and then means, tell which of those is the lead that seeds do not tell apart.
#[test]
fn the_lead_of_those_that_seeds_cannot_tell_has_the_better_grade() {
    let of = |runs: [(f64, f64); 3]| {
        games_of(runs.map(|(p90_ms, over_percent)| slow_game(p90_ms, over_percent)))
    };
    let poor = of([(70.0, 90.0), (71.0, 90.0), (69.0, 90.0)]);
    let steady = of([(30.0, 5.0), (30.0, 5.0), (30.0, 5.0)]);
    // On average 20 % of packets are slow, and 23 ms at p90; or 5 % and 40 ms.
    let uneven = of([(10.0, 0.0), (10.0, 0.0), (50.0, 60.0)]);
    let longer = of([(30.0, 5.0), (30.0, 5.0), (60.0, 5.0)]);
    for other in [&uneven, &longer] {
        let [poor, steady, other] = [("poor", &poor), ("steady", &steady), ("other", other)]
            .map(|(name, runs)| seeds(name, runs));
        for groups in [[poor.clone(), steady.clone(), other.clone()], [poor, other, steady]] {
            let told = first_sentence(&groups);
            assert!(told.starts_with("steady does best: against poor, "), "{told}");
            assert!(told.ends_with(" Whether other does as well, 3 seeds cannot tell."), "{told}");
        }
    }
}

/// The tail of the round trips is what users notice, whether the game is good in both or not.
#[test]
fn the_median_of_a_game_decides_nothing() {
    for (p50_ms, p90_ms) in [([5.0, 9.0], [12.0, 10.0]), ([10.0, 25.0], [40.0, 30.0])] {
        let [one, two] = [0, 1].map(|number| {
            let facts = game_and_upload(p90_ms[number], 10.0, Some(5.0));
            with(facts, &[("game_rtt_p50_ms", p50_ms[number])])
        });
        assert_eq!(verdict(&[group("one", &one), group("two", &two)], &[]).best, Some(1));
    }
}

/// 9.6 and 10.4 % of slow packets are no reason, but a longer round trip is, even before the grade of an upload.
#[test]
fn what_users_complain_of_decides_before_grades_of_the_line() {
    let of = |over_percent: f64, p90_ms: f64, mbps: f64| {
        let mut flows = both_ways("x", "game", &slow_game(p90_ms, over_percent));
        flows.push(rate("upload", "up", mbps));
        of_flows(&format!("{GAME}\n{UPLOAD}"), flows)
    };
    let (one, two) = (of(9.6, 30.0, 3.0), of(10.4, 40.0, 5.1));
    assert_eq!(verdict(&[group("one", &one), group("two", &two)], &[]).best, Some(0));
    let (one, two) = (of(9.6, 30.0, 3.0), of(9.5, 40.0, 5.1));
    assert_eq!(verdict(&[group("one", &one), group("two", &two)], &[]).best, Some(1));
}

#[test]
fn where_nothing_differs_by_much_the_greatest_shares_are_told_first() {
    let of = |p90_ms: f64, response_s: f64, mbps: f64| {
        let facts = game_and_upload(p90_ms, 10.0, Some(mbps));
        with(facts, &[("response_median_s", response_s)])
    };
    let (one, two) = (of(20.0, 2.0, 5.0), of(20.9, 2.15, 5.1));
    let told = first_sentence(&[group("a", &one), group("b", &two)]);
    assert_eq!(
        told,
        "No setting does best: grades and totals hardly differ. Web response is 2.00 s with a and 2.15 s with b and \
         game RTT p90 is 20.0 ms with a and 20.9 ms with b."
    );
}
