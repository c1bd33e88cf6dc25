//! Which setting does best, why, and at what cost.

use super::*;

#[test]
fn the_first_sentence_names_the_setting_the_gain_and_the_cost() {
    let idle = game_and_upload(11.0, 10.0, None);
    let full = game_and_upload(208.0, 190.0, Some(5.0));
    let pie = game_and_upload(20.0, 18.0, Some(4.85));
    let groups = [group("drop-tail", &full), group("PIE", &pie), group("idle line", &idle)];
    let found = verdict(&groups, &[]);
    assert_eq!(found.question, "Which of drop-tail and PIE works best for game and upload?");
    assert_eq!((found.best, found.reference), (Some(1), Some(0)));
    let expected = [
        "PIE does best: against drop-tail, game RTT p90 falls from 208 to 20.0 ms and the upload keeps 97 % of \
         its rate.",
        "Without the upload, game RTT p90 is 11.0 ms.",
        "Good on every test (game, responsiveness under load and upload): PIE.",
        "drop-tail: poor for the game and responsiveness under load.",
    ];
    assert_eq!(found.sentences, expected);
    // Load adds 190 - 10 ms to the mean round trip, and with PIE 18 - 10.
    let under_load = |number: usize| {
        let found = &found.groups[number].assessments;
        found.iter().find(|found| found.application == "under load").map(|one| one.summary.clone())
    };
    let scale = "on DSLReports' scale from A+ to F";
    assert_eq!(
        under_load(0),
        Some(format!("load adds 180.0 ms to the mean round trip: C {scale}"))
    );
    assert_eq!(under_load(1), Some(format!("load adds 8.0 ms to the mean round trip: A {scale}")));
    assert_eq!(under_load(2), None);
    assert!(found.groups[2].is_idle_line && found.groups[0].idle_line == Some(2));
    assert!((found.groups[0].over_idle_line["game_rtt_p90_ms"] - 197.0).abs() < 1e-9);
}

#[test]
fn loss_that_a_game_notices_is_a_cost() {
    let full = with(game_and_upload(208.0, 190.0, Some(5.0)), &[("game_loss_percent", 0.0)]);
    let first = |loss_percent: f64| {
        let pie = game_and_upload(36.0, 30.0, Some(4.85));
        let pie = with(pie, &[("game_loss_percent", loss_percent)]);
        first_sentence(&[group("drop-tail", &full), group("PIE", &pie)])
    };
    assert!(first(5.0).starts_with("PIE does best, at a price: "));
    assert!(first(5.0).ends_with("; but game loss rises from 0 to 5.00 %."));
    assert!(!first(0.5).contains("loss"), "{}", first(0.5));
}

/// Grades are the same, and what the game notices too: its queue is nobody's concern then.
#[test]
fn a_queue_that_a_game_watches_does_not_decide() {
    let of = |upload_mbps: f64, queue_ms: f64| {
        let facts = game_and_upload(36.0, 30.0, Some(upload_mbps));
        with(facts, &[("upstream_queue_p99_ms", queue_ms)])
    };
    let (longer, shorter) = (of(5.0, 44.0), of(4.7, 22.0));
    let found = verdict(&[group("PIE", &longer), group("half the rate", &shorter)], &[]);
    let first = &found.sentences[0];
    assert_eq!(found.best, None);
    assert!(first.starts_with("No setting does best"), "{first}");
    assert!(first.contains("Up queue p99 is 22.0 ms with half the rate"), "{first}");
}

/// Some ms of a web response that nobody feels are no reason to put up with a second of queue.
#[test]
fn what_nobody_notices_does_not_decide() {
    let of = |response_s: f64, queue_ms: f64| {
        let web = row(&json!({"traffic": "x", "quality": "responses", "direction": "up",
            "response_median_s": response_s}));
        let up = rate("upload", "up", 5.0);
        let queue = row(&json!({"queue": "upstream", "direction": "up", "sojourn_mean_ms": 20.0,
            "sojourn_p99_ms": queue_ms}));
        let traffic = "traffic.x = { kind = 'web_sessions', servers = ['near'] }";
        let rows = Rows { flows: vec![web, up], queues: vec![queue], ..Rows::default() };
        Facts::of(&scenario(&format!("{traffic}\n{UPLOAD}")), &rows)
    };
    let (short, quick) = (of(0.0599, 97.0), of(0.0512, 1099.0));
    let found = verdict(&[group("short queue", &short), group("quick", &quick)], &[]);
    assert!(found.sentences[0].starts_with("short queue does best: against quick, up queue p99"));
    let slow = of(0.3, 97.0);
    let found = verdict(&[group("short queue", &slow), group("quick", &quick)], &[]);
    assert!(found.sentences[0].starts_with("quick does best, at a price: "), "{found:?}");
}

/// A line that is slow by itself adds little: that is no merit.
#[test]
fn what_load_adds_is_no_second_grade() {
    let of = |page_s: f64, bulk: bool, rtt_ms: f64| {
        let mut flows = both_ways(
            "x",
            "game",
            &json!({"rtt_p90_ms": rtt_ms, "rtt_mean_ms": rtt_ms,
            "over_20_ms_access_percent": 100, "over_80_ms_round_trip_percent": 100,
            "loss_percent": 0}),
        );
        flows.push(row(&json!({"traffic": "p", "quality": "pages", "direction": "up"})));
        if bulk {
            flows.push(rate("upload", "up", 5.1));
        }
        let page =
            |start: f64| row(&json!({"traffic": "p", "start_s": start, "load_time_s": page_s}));
        let pages = "traffic.p = { kind = 'web', servers = ['near'], objects = { kind = 'fixed' }, \
                     users = 2, pause_s = 3600, start_spread_s = 1 }";
        let upload = if bulk { UPLOAD } else { "" };
        let rows = Rows { flows, pages: vec![page(0.0), page(1.0)], ..Rows::default() };
        Facts::of(&scenario(&format!("{GAME}\n{pages}\n{upload}")), &rows)
    };
    let (slow, quick, idle) = (of(20.0, true, 200.0), of(4.0, true, 300.0), of(20.0, false, 200.0));
    let groups = [group("slow", &slow), group("quick", &quick), group("idle line", &idle)];
    let found = verdict(&groups, &[]);
    let grade = |number: usize, name: &str| {
        let all = &found.groups[number].assessments;
        all.iter().find(|one| one.application == name).and_then(Assessment::grade)
    };
    assert_eq!(
        [grade(0, "under load"), grade(1, "under load")],
        [Some(Grade::Good), Some(Grade::Poor)]
    );
    assert_eq!([grade(0, "page"), grade(1, "page")], [Some(Grade::Poor), Some(Grade::Fair)]);
    assert!(found.sentences[0].starts_with("quick does best, at a price: "), "{found:?}");
}

/// A first measure that differs by a little does not decide before one that differs by much.
#[test]
fn what_differs_by_much_decides_first() {
    let of = |p90_ms: f64, page_s: f64| {
        with(game_and_upload(p90_ms, p90_ms, Some(5.0)), &[("page_load_median_s", page_s)])
    };
    let (one, two) = (of(300.0, 2.0), of(290.0, 6.0));
    let found = verdict(&[group("one", &one), group("two", &two)], &[]);
    assert!(found.sentences[0].starts_with("one does best: against two, "), "{found:?}");
    assert!(found.sentences[0].contains("page load falls from 6.00 to 2.00 s"), "{found:?}");
}

#[test]
fn where_nobody_notices_the_queue_is_the_reason() {
    let of = |mbps: f64, queue_ms: f64| {
        let flow = rate("upload", "up", mbps);
        let queue =
            row(&json!({"queue": "upstream", "direction": "up", "sojourn_p99_ms": queue_ms}));
        Facts::of(
            &scenario(UPLOAD),
            &Rows { flows: vec![flow], queues: vec![queue], ..Rows::default() },
        )
    };
    let (full, pie) = (of(5.0, 250.0), of(4.8, 30.0));
    let first = first_sentence(&[group("drop-tail", &full), group("PIE", &pie)]);
    assert!(
        first.contains("PIE does best: against drop-tail, up queue p99 falls from 250 to 30.0 ms"),
        "{first}"
    );
}

#[test]
fn each_kind_of_bulk_traffic_is_a_cost_of_its_own() {
    let of = |p90_ms: f64, upload_mbps: f64, torrent_mbps: f64| {
        let up = |name: &str, mbps: f64| rate(name, "up", mbps);
        let mut flows = both_ways("x", "game", &json!({"rtt_p90_ms": p90_ms}));
        flows.extend([up("upload", upload_mbps), up("torrent", torrent_mbps)]);
        let torrent = "traffic.torrent = { kind = 'torrent', servers = ['near'] }";
        of_flows(&format!("{GAME}\n{UPLOAD}\n{torrent}"), flows)
    };
    let (full, pie) = (of(208.0, 1.0, 4.0), of(20.0, 0.04, 4.8));
    let first = first_sentence(&[group("drop-tail", &full), group("PIE", &pie)]);
    let cost =
        "and the torrent gains 20 %; but the upload keeps 4 % of its rate (0.0400 of 1.00 Mbps).";
    assert!(first.ends_with(cost), "{first}");
    // What keeps less than 90 % of a rate has its price.
    assert!(
        first.starts_with("PIE does best, at a price: against drop-tail, game RTT p90"),
        "{first}"
    );
    let most = of(20.0, 0.91, 4.8);
    let first = first_sentence(&[group("drop-tail", &full), group("PIE", &most)]);
    assert!(first.starts_with("PIE does best: against drop-tail, game RTT p90"), "{first}");
    let twice = of(20.0, 1.0, 9.2);
    let first = first_sentence(&[group("drop-tail", &full), group("twice", &twice)]);
    assert!(first.ends_with("and the torrent has 2.3 times its rate."), "{first}");
}

#[test]
fn the_order_of_settings_does_not_turn_the_answer_round() {
    let full = game_and_upload(208.0, 190.0, Some(5.0));
    let pie = game_and_upload(20.0, 18.0, Some(4.85));
    for groups in [
        [group("drop-tail", &full), group("PIE", &pie)],
        [group("PIE", &pie), group("drop-tail", &full)],
    ] {
        let first = first_sentence(&groups);
        assert!(
            first.starts_with("PIE does best: against drop-tail, game RTT p90 falls"),
            "{first}"
        );
    }
    let near = game_and_upload(20.5, 18.0, Some(4.85));
    let first = first_sentence(&[group("a", &pie), group("b", &near)]);
    // 20.5 and 20.0 ms differ by more than 2 %, and by less than 10 %.
    assert_eq!(
        first,
        "No setting does best: grades and totals hardly differ. Game RTT p90 is 20.0 ms with a and 20.5 ms \
         with b."
    );
}

#[test]
fn a_difference_that_tables_hardly_show_decides_nothing() {
    // 4.36 is one unit of the last digit above 4.35, and less than 2 %: the page load decides.
    let (a, b) = ([("up", 5.0)], [("up", 5.0)]);
    let quick = call_and_uploads(4.35, 0.75, &a, 1);
    let slow = call_and_uploads(4.36, 1.13, &b, 1);
    let found = verdict(&[group("slow", &slow), group("quick", &quick)], &[]);
    assert_eq!((found.best, found.reference), (Some(1), Some(0)));
    assert!(found.sentences[0].starts_with("quick does best: against slow, "), "{found:?}");
    // Where nothing differs nothing does best.
    let found = verdict(&[group("one", &quick), group("other", &quick.clone())], &[]);
    assert_eq!((found.best, found.reference), (None, None));
    assert_eq!(found.sentences[0], "No setting does best: one and other hardly differ.");
}

#[test]
fn equal_sums_with_different_shares_are_reported_by_their_shares() {
    // 10 + 20 and 15 + 15 Mbps are the same sum.
    let unfair = call_and_uploads(4.3, 0.5, &[("first", 10.0), ("second", 20.0)], 1);
    let fair = call_and_uploads(4.3, 0.5, &[("first", 15.0), ("second", 15.0)], 1);
    let found = verdict(&[group("FIFO", &unfair), group("DRR", &fair)], &[]);
    assert_eq!(found.best, None);
    assert_eq!(
        found.sentences[0],
        "No setting does best: grades and totals hardly differ. The rate of first is 10.0 Mbps with \
         FIFO and 15.0 Mbps with DRR and the rate of second is 15.0 Mbps with DRR and 20.0 Mbps with \
         FIFO."
    );
}

#[test]
fn a_call_that_gets_worse_falls() {
    let idle = call_and_uploads(4.40, 0.5, &[], 1);
    let full = call_and_uploads(3.92, 0.5, &[("up", 5.0)], 1);
    let first = first_sentence(&[group("", &full), group("idle line", &idle)]);
    assert!(
        first.contains("; the call falls from good to fair (MOS from 4.40 to 3.92)"),
        "{first}"
    );
}

#[test]
fn a_sweep_counts_good_settings_by_variant() {
    let good = game_and_upload(12.0, 10.0, Some(5.0));
    let poor = game_and_upload(208.0, 190.0, Some(5.0));
    let points: [Vec<String>; 2] = [vec!["rate 5".to_owned()], vec!["rate 9".to_owned()]];
    let names = ["tail, rate 5", "tail, rate 9", "PIE, rate 5", "PIE, rate 9"];
    let all = [&poor, &good, &good, &good];
    let groups: Vec<_> = (0..4)
        .map(|number| Group {
            name: names[number],
            variant: if number < 2 { "tail" } else { "PIE" },
            point: &points[number % 2],
            runs: vec![all[number]],
        })
        .collect();
    let found = verdict(&groups, &["rate".to_owned()]);
    assert_eq!(
        found.sentences[0],
        "PIE does best: good on every test in 2 of 2 settings, tail in 1."
    );
    let second = &found.sentences[1];
    assert!(
        second.contains(" do best and hardly differ: against 'tail, rate 5', game RTT p90"),
        "{second}"
    );
    assert_eq!(
        found.question,
        "Which of tail and PIE works best for game and upload as rate varies?"
    );
}

#[test]
fn a_sweep_without_good_settings_does_not_count_them() {
    let poor = [208.0, 120.0].map(|p90_ms| game_and_upload(p90_ms, 110.0, Some(5.0)));
    let point = ["rate 5".to_owned()];
    let names = ["tail", "PIE"];
    let groups: Vec<_> = (0..2)
        .map(|number| Group {
            name: names[number],
            variant: names[number],
            point: &point,
            runs: vec![&poor[number]],
        })
        .collect();
    let found = verdict(&groups, &["rate".to_owned()]);
    let first = &found.sentences[0];
    assert!(first.starts_with("PIE does best: against tail, game RTT p90"), "{first}");
}

/// A call bears 130 ms of queue. A game behind it, or the next call, does not.
#[test]
fn a_queue_that_a_call_bears_is_no_best_setting() {
    let text = "
        duration_s = 30
        upstream.sustained_mbps = 5
        downstream = { sustained_mbps = 10, queue.limit_bytes = 187_000 }
        servers.near.delay_ms = 9
        traffic.call = { kind = 'stream', purpose = 'voice', server = 'near' }
        traffic.film = { kind = 'video', server = 'near', viewers = 3 }
        [compare.drop-tail]
        [compare.FQ-CoDel]
        downstream.queue = { law.kind = 'codel', scheduler.kind = 'fq', limit_bytes = 187_000 }
    ";
    let found = judged_by_name(text);
    let first = &found.sentences[0];
    assert!(first.starts_with("FQ-CoDel does best: against drop-tail, "), "{first}");
    assert!(first.contains("down queue p99 falls from "), "{first}");
    assert_eq!(queue_grade(&found, 0, "downstream queue"), Some(Grade::Poor));
    assert_eq!(queue_grade(&found, 1, "downstream queue"), None);
}

/// A queue that is shorter is no reason to take a game that loses most of its packets.
#[test]
fn a_poor_game_stands_before_the_grade_of_a_queue() {
    let found = judged_by_name(&format!(
        "{LINE}
        upstream.sustained_mbps = 0.5
        traffic.game = {{ kind = 'stream', purpose = 'game', server = 'near' }}
        traffic.get = {{ kind = 'transfer', server = 'near', direction = 'down' }}
        [compare.down]
        downstream.queue.law.kind = 'pie'
        [compare.up]
        upstream.queue.scheduler.kind = 'fq'
    "
    ));
    let first = &found.sentences[0];
    assert!(first.starts_with("up does best"), "{first}");
    assert!(first.contains("game loss falls"), "{first}");
    let but = first.split("; but ").nth(1).unwrap_or_default();
    assert!(!but.contains("upstream"), "{first}");
}

/// Fair queueing keeps a game from a queue of four seconds, which is a difference all the same.
#[test]
fn a_queue_that_stands_differs_though_it_is_watched() {
    let found = judged_by_name(&format!(
        "{LINE}
        upstream = {{ sustained_mbps = 5, queue.scheduler.kind = 'fq' }}
        traffic.game = {{ kind = 'stream', purpose = 'game', server = 'near' }}
        traffic.up = {{ kind = 'transfer', server = 'near' }}
        [compare.long]
        upstream.queue.limit_bytes = 3_000_000
        [compare.short]
    "
    ));
    assert!(
        found.sentences[0].starts_with("short does best: against long, up queue p"),
        "{found:?}"
    );
}

/// The rate of a film depends on the queue, with and without bulk traffic, and not on which setting is first.
#[test]
fn the_order_of_settings_changes_no_grade() {
    let line = format!(
        "{LINE}
        upstream.sustained_mbps = 5
        traffic.film = {{ kind = 'video', server = 'near' }}
        traffic.get = {{ kind = 'transfer', server = 'near', direction = 'down' }}
    "
    );
    let small = "[compare.small]\ndownstream.queue.limit_bytes = 6000\n";
    let fair = "[compare.fair]\ndownstream.queue.scheduler.kind = 'fq'\n";
    let grades = |text: &str| {
        let found = judged_by_name(text);
        let of = |name: &str| {
            let group = found.groups.iter().find(|group| group.name == name).unwrap();
            let all = group.assessments.iter().map(|one| (one.application, one.grade()));
            all.collect::<Vec<_>>()
        };
        [of("small"), of("fair")]
    };
    let [one, other] =
        [[small, fair], [fair, small]].map(|order| grades(&(line.clone() + &order.concat())));
    assert_eq!(one, other);
    assert!(one[0].iter().any(|(name, grade)| *name == "video rate" && grade.is_some()));
}

/// Frames that lack packets have no latency: that of the others is no gain.
#[test]
fn frames_that_do_not_come_are_named() {
    let found = judged_by_name(&format!(
        "{LINE}
        upstream = {{ sustained_mbps = 2, queue.limit_bytes = 1_000_000 }}
        traffic.x = {{ kind = 'video_call', server = 'near' }}
        [compare.long]
        [compare.small]
        upstream.queue.limit_bytes = 8000
    "
    ));
    let first = &found.sentences[0];
    assert!(first.contains("incomplete frames of the video call falls from"), "{first}");
    assert!(first.starts_with("long does best, at a price"), "{first}");
}

/// A sum hides what one transfer loses to another.
#[test]
fn a_transfer_that_loses_to_others_is_named() {
    let of = |one_mbps: f64, two_mbps: f64, p90_ms: f64| {
        let up = |name: &str, mbps: f64| rate(name, "up", mbps);
        let game = json!({"rtt_p90_ms": p90_ms});
        let mut flows = both_ways("x", "game", &game);
        flows.extend([up("upload", one_mbps), up("photos", two_mbps)]);
        let traffic =
            format!("{GAME}\n{UPLOAD}\ntraffic.photos = {{ kind = 'transfer', server = 'near' }}");
        of_flows(&traffic, flows)
    };
    let (full, fair) = (of(7.2, 2.7, 260.0), of(5.3, 4.2, 20.0));
    let found = verdict(&[group("drop-tail", &full), group("FQ", &fair)], &[]);
    let ending = "; but upload keeps 74 % of its rate (5.30 of 7.20 Mbps).";
    assert!(found.sentences[0].ends_with(ending), "{found:?}");
}

/// 9 % and 11 % of slow packets are two grades, and no difference to decide by.
#[test]
fn a_value_on_the_edge_between_two_grades_does_not_decide() {
    let of = |over_percent: f64, upload_mbps: f64| {
        let game = json!({"rtt_p90_ms": 30.0, "rtt_mean_ms": 25.0,
            "over_20_ms_access_percent": over_percent, "over_80_ms_round_trip_percent": 0.0,
            "loss_percent": 0.0});
        let mut flows = both_ways("x", "game", &game);
        flows.push(rate("upload", "up", upload_mbps));
        of_flows(&format!("{GAME}\n{UPLOAD}"), flows)
    };
    let (edge, over, far) = (of(9.6, 4.6), of(10.4, 5.1), of(13.0, 5.1));
    let found = verdict(&[group("edge", &edge), group("over", &over)], &[]);
    assert_ne!(found.groups[0].assessments[0].grade(), found.groups[1].assessments[0].grade());
    assert!(found.sentences[0].starts_with("No setting does best"), "{found:?}");
    let found = verdict(&[group("edge", &edge), group("far", &far)], &[]);
    let expected = "edge does best: against far, the game rises from fair to good (from 13.0 to \
                    9.60 % of packets that wait over 20 ms)";
    assert!(found.sentences[0].starts_with(expected), "{found:?}");
}

/// What users lose stands before the far tail.
#[test]
fn a_game_that_loses_packets_is_not_best_by_its_far_tail() {
    let of = |loss_percent: f64, p99_ms: f64| {
        with(
            game_and_upload(39.0, 35.0, Some(5.0)),
            &[("game_loss_percent", loss_percent), ("game_rtt_p99_ms", p99_ms)],
        )
    };
    let (pi2, pie) = (of(13.0, 45.0), of(1.5, 60.0));
    let found = verdict(&[group("PI2", &pi2), group("PIE", &pie)], &[]);
    assert!(found.sentences[0].starts_with("PIE does best"), "{found:?}");
}

/// Uploads do not stand before downloads, nor the other way round.
#[test]
fn no_direction_decides_before_the_other_one() {
    let of = |up_mbps: f64, down_mbps: f64| {
        let traffic = format!(
            "{UPLOAD}\ntraffic.get = {{ kind = 'transfer', direction = 'down', server = 'near' }}"
        );
        let flows = vec![rate("upload", "up", up_mbps), rate("get", "down", down_mbps)];
        of_flows(&traffic, flows)
    };
    for (one, two) in [((5.0, 19.0), (4.7, 12.0)), ((3.0, 19.0), (4.9, 18.0))] {
        let facts = [of(one.0, one.1), of(two.0, two.1)];
        let found = verdict(&[group("one", &facts[0]), group("two", &facts[1])], &[]);
        let best = if one.0 > two.0 { "one does best" } else { "two does best" };
        assert!(found.sentences[0].starts_with(best), "{found:?}");
    }
}

#[test]
fn bulk_traffic_alone_is_ranked_by_delay_too() {
    let of = |up_mbps: f64, down_mbps: f64, [up_ms, down_ms]: [f64; 2]| {
        let traffic = "traffic.up = { kind = 'transfer', server = 'near' }
                       traffic.down = { kind = 'transfer', server = 'near', direction = 'down' }";
        let flow = |name: &str, mbps: f64| rate(name, name, mbps);
        let queue = |direction: &str, ms: f64| {
            row(&json!({"queue": "q", "direction": direction, "sojourn_p99_ms": ms}))
        };
        let rows = Rows {
            flows: vec![flow("up", up_mbps), flow("down", down_mbps)],
            queues: vec![queue("up", up_ms), queue("down", down_ms)],
            ..Rows::default()
        };
        Facts::of(&scenario(traffic), &rows)
    };
    // 5 Mbps for 60 s and 10 Mbit of burst are 5.17 Mbps; 20 and 0.8 Mbit are 20.01 Mbps.
    let (full, pie) = (of(5.1, 19.0, [1500.0, 20.0]), of(4.9, 19.0, [40.0, 20.2]));
    let found = verdict(&[group("256 kB", &full), group("PIE", &pie)], &[]);
    let first = &found.sentences[0];
    assert!(
        first.starts_with("PIE does best: against 256 kB, up queue p99 falls from 1500 to 40.0")
    );
    assert!(
        found.sentences[1].starts_with("Good on what is measured (upload and download): 256 kB")
    );
    // A starved download is poor, and the grade is named with both values.
    let starved = of(5.1, 7.0, [1500.0, 20.0]);
    let found = verdict(&[group("256 kB", &starved), group("PIE", &pie)], &[]);
    let first = &found.sentences[0];
    assert!(
        first.contains("the download rises from poor to good (from 35.0 to 94.9 % of"),
        "{first}"
    );
}

#[test]
fn what_gets_worse_is_named_and_uploads_alone_are_uploads() {
    let of = |rtt_ms: f64, stalled: f64| {
        let mut flows = both_ways("x", "game", &json!({"rtt_p90_ms": rtt_ms}));
        flows.push(row(&json!({"traffic": "v", "quality": "video", "direction": "down",
            "video_start_wait_s": 1.0, "video_stalled_percent": stalled})));
        for (name, mbps) in [("upload", 0.01), ("stream", 19.81)] {
            flows.push(rate(name, "up", mbps));
        }
        let traffic = format!(
            "{GAME}\n{UPLOAD}\ntraffic.v = {{ kind = 'video', server = 'near' }}
             traffic.stream = {{ kind = 'stream', purpose = 'data', server = 'near' }}"
        );
        of_flows(&traffic, flows)
    };
    let (tail, pie) = (of(210.0, 12.0), of(234.0, 0.0));
    let found = verdict(&[group("tail", &tail), group("PIE", &pie)], &[]);
    let first = &found.sentences[0];
    let gain = "PIE does best, at a price: against tail, the share of time that video stalls falls from 12.0 to \
                0 %";
    assert!(first.starts_with(gain), "{first}");
    assert!(first.ends_with("; but game RTT p90 rises from 210 to 234 ms."), "{first}");
    assert_eq!(found.groups[0].measures["upload_mbps"].mean, Some(0.01));
    assert_eq!(found.groups[0].measures["data_up_mbps"].mean, Some(19.81));
}

#[test]
fn load_is_no_choice() {
    let of = |connections: u32, rtt_ms: f64| {
        let upload = format!(
            "traffic.upload = {{ kind = 'transfer', server = 'near', connections = {connections} }}"
        );
        let flows = both_ways("x", "game", &json!({"rtt_p90_ms": rtt_ms}));
        of_flows(&format!("{GAME}\n{upload}"), flows)
    };
    let facts = [of(1, 20.0), of(1, 60.0), of(8, 120.0), of(8, 90.0)];
    let names = ["a, 1", "b, 1", "a, 8", "b, 8"];
    let groups: Vec<_> = names.iter().zip(&facts).map(|(name, of)| group(name, of)).collect();
    let found = verdict(&groups, &[]);
    let expected = [
        "'a, 1' does best: against 'b, 1', game RTT p90 falls from 60.0 to 20.0 ms.",
        "'b, 8' does best: against 'a, 8', game RTT p90 falls from 120 to 90.0 ms.",
        "Settings are compared at equal load: there are 2 loads.",
    ];
    assert_eq!(found.sentences[..3], expected);
    // With one setting at each load there is nothing to choose.
    let found = verdict(&[groups[0].clone(), groups[2].clone()], &[]);
    assert_eq!(found.best, None);
    let first =
        "The load differs, which is no choice, so no setting does best. Game RTT p90 is 20.0 ms";
    assert!(found.sentences[0].starts_with(first), "{}", found.sentences[0]);
}

#[test]
fn seeds_show_only_differences_beyond_their_spread() {
    let (noisy, other, lower) =
        (games([20.0, 40.0, 60.0]), games([50.0, 30.0, 25.0]), games([10.0, 29.0, 51.0]));
    let judge = |one: &[Facts], two: &[Facts]| first_sentence(&[seeds("a", one), seeds("b", two)]);
    // The differences -30, 10 and 35 have a mean of 5, and a spread far beyond it.
    assert_eq!(
        judge(&noisy, &other),
        "There is no difference that 3 seeds can show between a and b."
    );
    // The differences 10, 11 and 9 have the mean 10 and the deviation 1: 4.303 / sqrt(3) = 2.48.
    let told = judge(&noisy, &lower);
    assert_eq!(
        told,
        "b does best: against a, game RTT p90 falls from 40.0 to 30.0 ms (by 10.0 ± 2.48)."
    );
}

#[test]
fn a_setting_too_uneven_to_be_shown_worse_is_not_among_the_best() {
    let (poor, steady) = (games([60.0, 61.0, 59.0]), games([30.0, 32.0, 28.0]));
    let uneven = games([30.0, 30.0, 90.0]);
    let groups = [seeds("poor", &poor), seeds("uneven", &uneven), seeds("steady", &steady)];
    let found = verdict(&groups, &[]);
    assert_eq!((found.best, found.reference), (Some(2), Some(0)));
    assert_eq!(
        found.sentences[0],
        "steady does best: against poor, game RTT p90 falls from 60.0 to 30.0 ms (by 30.0 ± 2.48). Whether \
         uneven does as well, 3 seeds cannot tell."
    );
}
