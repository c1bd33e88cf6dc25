//! Where the time goes.

use super::*;

/// What a sentence names first.
fn first_part(said: &str) -> &str {
    let parts = said.split_once(" on average").and_then(|(_, of)| of.split_once(": "));
    let parts = parts.expect("it has parts").1;
    let words = parts.split(" ms ").nth(1).expect("a part has words");
    words.split([',', '.']).next().and_then(|words| words.split(" and ").next()).unwrap_or(words)
}

/// What stands without bulk traffic is a queue too.
#[test]
fn a_queue_of_video_calls_is_no_wait_for_grants() {
    let line = format!(
        "{LINE}
        traffic.game = {{ kind = 'stream', purpose = 'game', server = 'near' }}
        traffic.x = {{ kind = 'video_call', server = 'near' }}
    "
    );
    for (keys, want) in [
        (
            "upstream = { sustained_mbps = 1, queue.limit_bytes = 1_000_000 }",
            "in the modem's queue",
        ),
        (
            "upstream.sustained_mbps = 20\n\
             router.upstream = { rate_mbps = 2, queue.limit_bytes = 400_000 }",
            "in the router's upstream queue",
        ),
    ] {
        let found = judged_by_name(&format!("{line}\n{keys}"));
        assert_eq!(first_part(&found.groups[0].causes[0]), want, "{keys}");
    }
}

/// Where several queues stand in a way, the sentence names the one in which packets wait.
#[test]
fn a_cause_names_its_queue_where_there_are_several() {
    for (keys, want) in [
        ("", "in the modem's queue"),
        ("router.upstream.rate_mbps = 3", "in the router's upstream queue"),
        (
            "upstream.queue.limit_bytes = 1_000_000\nservers.near.rate_mbps = 2",
            "in the queue to the server",
        ),
        ("core.peering.upstream.rate_mbps = 3", "in the core's upstream queues"),
        (
            "servers.near.rate_mbps = 3\nservers.near.queue.limit_bytes = 100_000",
            "in the queue to the server",
        ),
    ] {
        let found = of_line("", "", keys);
        assert_eq!(first_part(&found.groups[0].causes[0]), want, "{keys}");
    }
}

/// A queue waits for its first packets, those of all traffic of the home: what these spend their time on is said.
#[test]
fn a_queue_says_what_holds_its_first_packets() {
    let (own, shared) = (&[][..], &["upstream.modem.kind=shared_channel"][..]);
    let other = GAME.replace("traffic.x", "traffic.y");
    let said = |keys: &[&str], parts: &[(&str, f64)]| {
        let part = |traffic: &str, part: &str, mean_ms: f64| {
            let sent = json!({"traffic": traffic, "direction": "up", "part": part, "mean_ms": mean_ms,
                "sent_packets": 900});
            row(&sent)
        };
        let mut rows = Rows {
            flows: both_ways("x", "game", &json!({"rtt_p90_ms": 900.0})),
            delay_parts: vec![part("x", "total", 900.0), part("x", "modem_queue", 800.0)],
            ..Rows::default()
        };
        rows.delay_parts.extend(parts.iter().map(|(name, ms)| part("y", name, *ms)));
        let scenario = scenario_of(&format!("{GAME}\n{other}"), keys);
        alone(&Facts::of(&scenario, &rows)).groups[0].causes[0].clone()
    };
    let behind = |what: &str| format!("800 ms in the modem's queue{what}.");
    for (keys, parts, want) in [
        (
            own,
            [("contention", 60.0), ("transmission", 3.0)],
            ", behind packets whose requests collide",
        ),
        (own, [("contention", 1.0), ("transmission", 3.0)], ""),
        (
            own,
            [("request_wait", 9.0), ("shaping", 3.0)],
            ", behind packets that wait to request bandwidth",
        ),
        // A modem of its own channel gets grants at the rate of its service.
        (own, [("grant_wait", 9.0), ("transmission", 3.0)], ""),
        (
            shared,
            [("grant_wait", 9.0), ("transmission", 3.0)],
            ", behind packets that wait for grants",
        ),
        (shared, [("grant_wait", 1.0), ("transmission", 3.0)], ""),
    ] {
        let found = said(keys, &parts);
        assert!(found.contains(&behind(want)), "{found}");
    }
}

/// Of several seeds the sentence has the means that the tables have.
#[test]
fn a_cause_is_a_mean_over_seeds() {
    let run = |queue_ms: f64, stall_ms: f64| {
        let part = |(part, mean_ms): (&str, f64)| {
            row(&json!({"traffic": "x", "direction": "up", "part": part, "mean_ms": mean_ms,
                "sent_packets": 900}))
        };
        let parts =
            [("modem_queue", queue_ms), ("stall", stall_ms), ("total", queue_ms + stall_ms)];
        let delay_parts = parts.into_iter().filter(|(_, ms)| *ms > 0.0).map(part).collect();
        let flows = both_ways("x", "game", &json!({"rtt_p90_ms": 900.0}));
        Facts::of(&scenario(GAME), &Rows { flows, delay_parts, ..Rows::default() })
    };
    let runs = [run(100.0, 0.0), run(200.0, 90.0)];
    let found = verdict(&[seeds("", &runs)], &[]);
    let want = "traffic.x takes 195 ms up on average: 150 ms in the modem's queue and 45.0 ms in stalls of the modem.";
    assert_eq!(found.groups[0].causes, [want]);
}

/// A game and another one whose packets take so long on average, with this share of slow ones.
fn two_games(over_percent: f64) -> Facts {
    let game = |name, mean_ms| {
        let values = json!({"rtt_p90_ms": 9.0 + over_percent, "over_20_ms_access_percent": over_percent, "over_80_ms_round_trip_percent": 0.0,
            "loss_percent": 0.0});
        let part = |direction| {
            row(
                &json!({"traffic": name, "direction": direction, "part": "total", "mean_ms": mean_ms,
                "sent_packets": 900}),
            )
        };
        (both_ways(name, "game", &values), ["up", "down"].map(part))
    };
    let [(x, parts_of_x), (y, parts_of_y)] = [game("x", 10.0), game("y", 15.5)];
    let rows = Rows {
        flows: [x, y].concat(),
        delay_parts: [parts_of_x, parts_of_y].concat(),
        ..Rows::default()
    };
    let other = GAME.replace("traffic.x", "traffic.y");
    Facts::of(&scenario(&format!("{GAME}\n{other}")), &rows)
}

/// Of the setting that does best, and of none that is good: of the traffic that takes longest.
#[test]
fn the_longest_delay_of_the_best_setting_is_told_unless_it_is_good() {
    let said = |facts: [&Facts; 2]| {
        let groups = [group("one", facts[0]), group("two", facts[1])];
        verdict(&groups, &[]).sentences
    };
    let [good, fair, worse] = [0.0, 20.0, 60.0].map(two_games);
    let of_cause = |said: &String| said.contains(" on average: ");
    assert!(!said([&good, &fair]).iter().any(of_cause));
    let found = said([&worse, &fair]);
    let causes: Vec<_> = found.iter().filter(|said| of_cause(said)).collect();
    assert_eq!(causes.len(), 1, "{found:?}");
    assert!(
        causes[0].starts_with("With two, traffic.y takes 15.5 ms up and 15.5 ms down"),
        "{causes:?}"
    );
    let all = alone(&fair);
    assert_eq!(all.groups[0].causes.len(), 2);
    assert!(all.groups[0].causes[0].starts_with("traffic.y takes 15.5 ms up"), "{all:?}");
    assert!(all.sentences.contains(&all.groups[0].causes[0]), "{all:?}");
}

/// The sentence is about the use with the worst grade, though another one takes longer, and of loss where that is what is wrong.
#[test]
fn the_worst_grade_is_what_is_explained() {
    let said = |over_percent: f64, lost_percent: f64| {
        let game = |name, over_percent: f64, lost_percent: f64, mean_ms: f64| {
            let values = json!({"rtt_p90_ms": 2.0 * mean_ms, "over_20_ms_access_percent": over_percent,
                "over_80_ms_round_trip_percent": over_percent, "loss_percent": lost_percent});
            let part = |way| {
                row(&json!({"traffic": name, "direction": way, "part": "total", "mean_ms": mean_ms,
                    "sent_packets": 900}))
            };
            (both_ways(name, "game", &values), ["up", "down"].map(part))
        };
        let games = [game("x", over_percent, lost_percent, 15.0), game("y", 0.0, 3.0, 90.0)];
        let [flows, delay_parts] = [
            games.iter().flat_map(|one| one.0.clone()).collect::<Vec<_>>(),
            games.iter().flat_map(|one| one.1.clone()).collect(),
        ];
        let traffic = format!("{GAME}\n{}", GAME.replace("traffic.x", "traffic.y"));
        let rows = Rows { flows, delay_parts, ..Rows::default() };
        alone(&Facts::of(&scenario(&traffic), &rows)).sentences.join(" ")
    };
    // x is poor and y is fair, and y takes longer.
    let found = said(60.0, 0.0);
    assert!(found.contains("traffic.x takes 15.0 ms up"), "{found}");
    assert!(!found.contains("traffic.y takes"), "{found}");
    let lost = "he game's loss of 'x' is 30.0 %.";
    let found = said(60.0, 30.0);
    assert!(
        found.contains(&format!(
            "15.0 ms down on average until packets arrive or are lost: . T{lost}"
        )),
        "{found}"
    );
    let found = said(0.0, 30.0);
    let want = format!("what is wrong with traffic.x is loss, not delay: t{lost}");
    assert!(found.contains(&want), "{found}");
}

/// A loss that stands beside a letter is said once.
#[test]
fn a_loss_that_a_letter_hides_is_said_once() {
    let game = |mean_ms: f64| {
        let key = if mean_ms > 20.0 { "rtt_up_mean_ms" } else { "rtt_idle_mean_ms" };
        json!({"rtt_p90_ms": 25.0, "over_20_ms_access_percent": 0.0, "loss_percent": 7.0,
            "over_80_ms_round_trip_percent": 0.0, key: mean_ms})
    };
    let part = |way| {
        row(&json!({"traffic": "x", "direction": way, "part": "total", "mean_ms": 9.0,
        "sent_packets": 900}))
    };
    let of = |mean_ms: f64, upload: &str| {
        let mut flows = both_ways("x", "game", &game(mean_ms));
        flows.extend((!upload.is_empty()).then(|| rate("upload", "up", 5.0)));
        let rows = Rows { flows, delay_parts: ["up", "down"].map(part).into(), ..Rows::default() };
        Facts::of(&scenario(&format!("{GAME}\n{upload}")), &rows)
    };
    let (idle, loaded) = (of(20.0, ""), of(21.0, UPLOAD));
    for all in [
        vec![group("", &loaded), group("idle line", &idle)],
        vec![group("a", &loaded), group("b", &loaded), group("idle line", &idle)],
    ] {
        let said = verdict(&all, &[]).sentences.join(" ");
        assert!(said.contains("A+ is the delay alone: the game's loss is 7.00 %."), "{said}");
        assert_eq!(said.matches("loss is 7.00 %").count(), 1, "{said}");
    }
}
