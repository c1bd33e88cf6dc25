//! Grades and verdicts, on tables that are made up and on short runs.

use serde_json::{Value, json};
use sojourn_core::network::Simulation;
use sojourn_core::scenario::{Scenario, Variant, idle_lines, load};
use sojourn_core::verdict::{
    Assessment, Facts, Grade, Group, Row, Rows, Verdict, unfinished_s, verdict,
};

const HOME: &str = "
    duration_s = 60
    upstream = { sustained_mbps = 5, peak_mbps = 20, burst_bytes = 1_250_000 }
    downstream = { sustained_mbps = 20, peak_mbps = 50, burst_bytes = 100_000 }
    servers.near.delay_ms = 9
";

fn scenario(traffic: &str) -> Scenario {
    load(&format!("{HOME}\n{traffic}"), "home.toml", &[]).unwrap().remove(0).scenario
}

const GAME: &str = "traffic.x = { kind = 'stream', purpose = 'game', server = 'near' }";
const PAGES: &str = "traffic.x = { kind = 'web', servers = ['near'], objects = { kind = 'fixed' }, \
                     users = 2, pause_s = 3600, start_spread_s = 1 }";
const UPLOAD: &str = "traffic.upload = { kind = 'transfer', server = 'near' }";

fn row(value: &Value) -> Row {
    Row(value.as_object().unwrap().clone())
}

/// The rows of a flow that goes both ways, with these values at both ends.
fn both_ways(traffic: &str, quality: &str, measures: &Value) -> Vec<Row> {
    let way = |direction: &str| {
        let mut flow = json!({"traffic": traffic, "quality": quality, "direction": direction,
            "latency_mean_ms": 10.0});
        flow.as_object_mut().unwrap().extend(measures.as_object().unwrap().clone());
        row(&flow)
    };
    ["up", "down"].map(way).into()
}

/// Facts of a run with one flow of this quality.
fn facts(traffic: &str, quality: &str, measures: &Value) -> Facts {
    let rows = Rows { flows: both_ways("x", quality, measures), ..Rows::default() };
    Facts::of(&scenario(traffic), &rows)
}

fn alone(facts: &Facts) -> Verdict {
    verdict(&[Group { name: "", variant: "", point: &[], runs: vec![facts] }], &[])
}

fn only(facts: &Facts) -> Assessment {
    alone(facts).groups.remove(0).assessments.remove(0)
}

#[test]
fn grades_are_those_of_the_thresholds() {
    use Grade::{Fair, Good, Poor};
    let game = |access: f64, round_trip: f64, loss: f64| {
        let values = json!({
            "over_20_ms_access_percent": access,
            "over_80_ms_round_trip_percent": round_trip,
            "loss_percent": loss,
        });
        facts(GAME, "game", &values)
    };
    let call = |mos: Option<f64>| {
        facts(GAME, "voice", &json!({"mos": mos, "late_percent": 0.5, "loss_percent": 0.1}))
    };
    let video_call = |p90_ms: f64, incomplete: f64| {
        let values =
            json!({"frame_latency_p90_ms": p90_ms, "frames_incomplete_percent": incomplete});
        facts(GAME, "video_call", &values)
    };
    let begun = |start_s: f64, stalled: Option<f64>| {
        let values = json!({"video_stalled_percent": stalled, "video_start_wait_s": start_s});
        facts(GAME, "video", &values)
    };
    let video = |stalled: f64| begun(1.0, Some(stalled));
    // White & Rice 2013, section 4.1.3: 20 ms in the access network, 80 ms there and back.
    let cases = [
        ("game", game(10.0, 0.0, 1.0), Some(Good)),
        ("game", game(10.1, 10.0, 1.0), Some(Fair)),
        ("game", game(5.0, 0.0, 1.1), Some(Fair)),
        ("game", game(100.0, 10.1, 0.0), Some(Poor)),
        ("game", game(0.0, 0.0, 21.0), Some(Poor)),
        // The server is far: no packet waits, and every round trip takes too long.
        ("game", game(0.0, 100.0, 0.0), Some(Poor)),
        ("call", call(Some(4.0)), Some(Good)),
        ("call", call(Some(3.99)), Some(Fair)),
        ("call", call(Some(2.99)), Some(Poor)),
        ("call", call(None), None),
        ("video call", video_call(150.0, 1.0), Some(Good)),
        ("video call", video_call(151.0, 0.0), Some(Fair)),
        ("video call", video_call(20.0, 1.1), Some(Fair)),
        ("video call", video_call(401.0, 0.0), Some(Poor)),
        ("video call", video_call(20.0, 5.1), Some(Poor)),
        ("video", video(0.0), Some(Good)),
        ("video", video(0.9), Some(Fair)),
        ("video", video(1.1), Some(Poor)),
        ("video", begun(2.1, Some(0.0)), Some(Fair)),
        ("video", begun(10.1, Some(0.0)), Some(Poor)),
        // It has not begun in 10.1 s, or not yet in a second.
        ("video", begun(10.1, None), Some(Poor)),
        ("video", begun(1.0, None), None),
    ];
    for (name, facts, grade) in cases {
        let found = only(&facts);
        assert_eq!((found.application, found.grade()), (name, grade));
        assert!(!found.summary.contains('{'), "{}", found.summary);
    }
    let summary = only(&call(Some(3.456))).summary;
    assert_eq!(
        summary,
        "the mean opinion score is 3.46 on a scale from 1 (bad) to 5 (excellent); 0.5 % of packets \
         come too late, 0.1 % are lost"
    );
}

/// A run of two users who begin within a second and pause for an hour after a page.
fn pages(loaded: &[(f64, f64)]) -> (Scenario, Rows) {
    let page = |(start, took): &(f64, f64)| {
        row(&json!({"traffic": "x", "start_s": start, "load_time_s": took}))
    };
    let flow = row(&json!({"traffic": "x", "quality": "pages", "direction": "up"}));
    let rows =
        Rows { flows: vec![flow], pages: loaded.iter().map(page).collect(), ..Rows::default() };
    (scenario(PAGES), rows)
}

#[test]
fn pages_that_did_not_end_count_against_the_grade() {
    let cases = [
        (&[(0.0, 3.3), (1.0, 3.3)][..], Some(3.3), Some(Grade::Good)),
        (&[(0.0, 6.9), (1.0, 6.9)], Some(6.9), Some(Grade::Fair)),
        (&[(0.0, 7.0), (1.0, 7.0)], Some(7.0), Some(Grade::Poor)),
        // The run ends at 60 s, and the second person began at 1 s or before: 59 s of waiting.
        (&[(0.0, 1.0)], Some(f64::midpoint(1.0, 59.0)), Some(Grade::Poor)),
        // So did both; half of the pages take 59 s or more.
        (&[], Some(59.0), Some(Grade::Poor)),
    ];
    for (loaded, median_s, grade) in cases {
        let (scenario, rows) = pages(loaded);
        let found = only(&Facts::of(&scenario, &rows));
        assert_eq!((found.values["page_load_median_s"], found.grade()), (median_s, grade));
        let note = "counting pages unfinished at the end as loaded then";
        assert_eq!(found.summary.ends_with(note), loaded.len() < 2, "{}", found.summary);
    }
    // Of two people one has loaded nothing, and began within the first second.
    let (scenario, rows) = pages(&[(0.5, 2.0)]);
    assert_eq!(unfinished_s(&scenario, &rows, "x"), [59.0]);
}

#[test]
fn an_upload_is_held_against_what_rate_and_burst_allow() {
    // 5 Mbps and 1 250 000 B of burst in 10 s: 5 + 1 Mbps, below the peak of 20.
    let share = |sets: &[&str], mbps: f64| {
        let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
        let text = format!("{HOME}\n{UPLOAD}");
        let scenario = load(&text, "home.toml", &sets).unwrap().remove(0).scenario;
        let flow = json!({"traffic": "upload", "quality": "throughput", "direction": "up",
            "throughput_mbps": mbps});
        let rows = Rows { flows: vec![row(&flow)], ..Rows::default() };
        alone(&Facts::of(&scenario, &rows)).groups.remove(0).assessments
    };
    let found = &share(&["duration_s=10"], 5.4)[0];
    assert_eq!((found.application, found.grade()), ("upload", Some(Grade::Good)));
    assert!((found.values["upload_share_percent"].unwrap() - 90.0).abs() < 1e-9);
    assert_eq!(share(&["duration_s=10"], 5.3)[0].grade(), Some(Grade::Fair));
    // One that starts at 2 s has 10 s of 5 Mbps and the burst, in a run of 12 s: 60 Mbit.
    let late = share(&["duration_s=12", "traffic.upload.start_s=2"], 60.0 / 12.0);
    assert!((late[0].values["upload_share_percent"].unwrap() - 100.0).abs() < 1e-9);
    assert_eq!(share(&["duration_s=11", "traffic.upload.start_s=2"], 5.4)[0].grade(), None);
    // With a second service flow nobody knows what the upload may have.
    let flows = "upstream.flows.voice={sustained_mbps=1, peak_mbps=1, burst_bytes=3044, match=[{traffic='upload'}]}";
    let beside = &share(&["duration_s=10", flows], 5.4)[0];
    assert_eq!(beside.grade(), None);
    assert_eq!(
        beside.summary,
        "not measured: the home of the upload has several upstream service flows"
    );
    // In a short run it has not found its rate yet, and one that ends has no share.
    assert_eq!(share(&["duration_s=5"], 5.4)[0].grade(), None);
    assert_eq!(share(&["traffic.upload.file_bytes=10000"], 5.4), []);
}

/// The facts of a game at this latency beside an upload at this rate, or on an idle line.
fn game_and_upload(p90_ms: f64, mean_ms: f64, upload_mbps: Option<f64>) -> Facts {
    let over = |limit: f64| if p90_ms > limit { 50.0 } else { 0.0 };
    let game = json!({"rtt_p90_ms": p90_ms, "rtt_mean_ms": mean_ms,
        "over_20_ms_access_percent": over(21.0), "over_80_ms_round_trip_percent": over(80.0),
        "loss_percent": 0.0});
    let mut flows = both_ways("x", "game", &game);
    let mut traffic = GAME.to_owned();
    if let Some(mbps) = upload_mbps {
        flows.push(row(&json!({"traffic": "upload", "quality": "throughput", "direction": "up",
            "throughput_mbps": mbps})));
        traffic = format!("{GAME}\n{UPLOAD}");
    }
    Facts::of(&scenario(&traffic), &Rows { flows, ..Rows::default() })
}

fn group<'a>(name: &'a str, facts: &'a Facts) -> Group<'a> {
    Group { name, variant: name, point: &[], runs: vec![facts] }
}

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

/// `facts` with these values of the game and of the upstream queue.
fn with(mut facts: Facts, measures: &[(&'static str, f64)]) -> Facts {
    facts.measures.extend(measures.iter().map(|(key, value)| (*key, Some(*value))));
    facts
}

#[test]
fn loss_that_a_game_notices_is_a_cost() {
    let full = with(game_and_upload(208.0, 190.0, Some(5.0)), &[("game_loss_percent", 0.0)]);
    let first = |loss_percent: f64| {
        let pie = game_and_upload(36.0, 30.0, Some(4.85));
        let pie = with(pie, &[("game_loss_percent", loss_percent)]);
        verdict(&[group("drop-tail", &full), group("PIE", &pie)], &[]).sentences.remove(0)
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
        let up = row(&json!({"traffic": "upload", "direction": "up", "throughput_mbps": 5.0}));
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
            flows.push(row(
                &json!({"traffic": "upload", "direction": "up", "throughput_mbps": 5.1}),
            ));
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

/// A film that has just begun has not stalled yet.
#[test]
fn a_video_that_hardly_played_has_no_grade() {
    let run = |down_mbps: f64, duration_s: f64| {
        let text = format!(
            "duration_s = {duration_s}
             upstream.sustained_mbps = 5
             downstream.sustained_mbps = {down_mbps}
             servers.near.delay_ms = 9
             traffic.film = {{ kind = 'video', server = 'near', adaptation = 'always_top' }}"
        );
        judged_by_name(&text).groups[0].assessments[0].clone()
    };
    let short = run(30.0, 12.0);
    assert_eq!(short.grade(), None);
    assert_eq!(short.summary, "not measured: traffic.film played for less than 10 s");
    // Two segments of 67 Mbit take 13 s, and longer than the run.
    assert_eq!(run(10.0, 20.0).grade(), Some(Grade::Poor));
    assert_eq!(run(2.0, 60.0).grade(), Some(Grade::Poor));
    assert_eq!(run(30.0, 60.0).grade(), Some(Grade::Fair));
    assert_eq!(run(300.0, 60.0).grade(), Some(Grade::Good));
}

/// A film that adapts does not stall: what it loses is its rate.
#[test]
fn a_video_keeps_its_rate_beside_bulk_traffic_or_is_not_good() {
    let of = |traffic: &str, mbps: Option<f64>| {
        let flow = row(&json!({"traffic": "v", "quality": "video", "direction": "down",
            "video_stalled_percent": 0.0, "video_start_wait_s": 1.0, "video_rate_mbps": mbps}));
        let video = "traffic.v = { kind = 'video', server = 'near' }";
        let upload = row(&json!({"traffic": "upload", "direction": "up", "throughput_mbps": 4.0}));
        let flows = if traffic.is_empty() { vec![flow] } else { vec![flow, upload] };
        let rows = Rows { flows, ..Rows::default() };
        Facts::of(&scenario(&format!("{video}\n{traffic}")), &rows)
    };
    let idle = of("", Some(8.0));
    for (mbps, grade) in [
        (Some(7.3), Grade::Good),
        (Some(4.1), Grade::Fair),
        (Some(1.6), Grade::Poor),
        (None, Grade::Poor),
    ] {
        let loaded = of(UPLOAD, mbps);
        let found = verdict(&[group("", &loaded), group("idle line", &idle)], &[]);
        let video = found.groups[0].assessments.iter().find(|one| one.application == "video rate");
        assert_eq!(video.unwrap().grade(), Some(grade), "{mbps:?}");
        assert!(found.groups[1].assessments.iter().all(|one| one.application != "video rate"));
    }
}

#[test]
fn where_nobody_notices_the_queue_is_the_reason() {
    let of = |mbps: f64, queue_ms: f64| {
        let flow = row(&json!({"traffic": "upload", "quality": "throughput", "direction": "up",
            "throughput_mbps": mbps}));
        let queue =
            row(&json!({"queue": "upstream", "direction": "up", "sojourn_p99_ms": queue_ms}));
        Facts::of(
            &scenario(UPLOAD),
            &Rows { flows: vec![flow], queues: vec![queue], ..Rows::default() },
        )
    };
    let (full, pie) = (of(5.0, 250.0), of(4.8, 30.0));
    let first = verdict(&[group("drop-tail", &full), group("PIE", &pie)], &[]).sentences.remove(0);
    assert!(
        first.contains("PIE does best: against drop-tail, up queue p99 falls from 250 to 30.0 ms"),
        "{first}"
    );
}

#[test]
fn each_kind_of_bulk_traffic_is_a_cost_of_its_own() {
    let of = |p90_ms: f64, upload_mbps: f64, torrent_mbps: f64| {
        let up = |name: &str, mbps: f64| {
            row(&json!({"traffic": name, "quality": "throughput", "direction": "up",
                "throughput_mbps": mbps}))
        };
        let mut flows = both_ways("x", "game", &json!({"rtt_p90_ms": p90_ms}));
        flows.extend([up("upload", upload_mbps), up("torrent", torrent_mbps)]);
        let torrent = "traffic.torrent = { kind = 'torrent', servers = ['near'] }";
        let scenario = scenario(&format!("{GAME}\n{UPLOAD}\n{torrent}"));
        Facts::of(&scenario, &Rows { flows, ..Rows::default() })
    };
    let (full, pie) = (of(208.0, 1.0, 4.0), of(20.0, 0.04, 4.8));
    let first = verdict(&[group("drop-tail", &full), group("PIE", &pie)], &[]).sentences.remove(0);
    let cost =
        "and the torrent gains 20 %; but the upload keeps 4 % of its rate (0.0400 of 1.00 Mbps).";
    assert!(first.ends_with(cost), "{first}");
    // What keeps less than 90 % of a rate has its price.
    assert!(
        first.starts_with("PIE does best, at a price: against drop-tail, game RTT p90"),
        "{first}"
    );
    let most = of(20.0, 0.91, 4.8);
    let first = verdict(&[group("drop-tail", &full), group("PIE", &most)], &[]).sentences.remove(0);
    assert!(first.starts_with("PIE does best: against drop-tail, game RTT p90"), "{first}");
    let twice = of(20.0, 1.0, 9.2);
    let first =
        verdict(&[group("drop-tail", &full), group("twice", &twice)], &[]).sentences.remove(0);
    assert!(first.ends_with("and the torrent has 2.3 times its rate."), "{first}");
}

#[test]
fn the_page_load_is_one_number_in_tables_and_grades() {
    for loaded in [&[(0.0, 3.3), (1.0, 3.3)][..], &[(0.0, 1.0)], &[]] {
        let (scenario, rows) = pages(loaded);
        let facts = Facts::of(&scenario, &rows);
        let graded = only(&facts).values["page_load_median_s"];
        assert_eq!(facts.measures["page_load_median_s"], graded);
    }
}

#[test]
fn the_order_of_settings_does_not_turn_the_answer_round() {
    let full = game_and_upload(208.0, 190.0, Some(5.0));
    let pie = game_and_upload(20.0, 18.0, Some(4.85));
    for groups in [
        [group("drop-tail", &full), group("PIE", &pie)],
        [group("PIE", &pie), group("drop-tail", &full)],
    ] {
        let first = &verdict(&groups, &[]).sentences[0];
        assert!(
            first.starts_with("PIE does best: against drop-tail, game RTT p90 falls"),
            "{first}"
        );
    }
    let near = game_and_upload(20.5, 18.0, Some(4.85));
    let first = &verdict(&[group("a", &pie), group("b", &near)], &[]).sentences[0];
    // 20.5 and 20.0 ms differ by more than 2 %, and by less than 10 %.
    assert_eq!(
        first,
        "No setting does best: grades and totals hardly differ. Game RTT p90 is 20.0 ms with a and 20.5 ms \
         with b."
    );
}

/// The facts of a call with this mean opinion score and a page that takes so long, beside `uploads`.
fn call_and_uploads(mos: f64, page_s: f64, uploads: &[(&str, f64)], homes: u16) -> Facts {
    let call = json!({"mos": mos, "late_percent": 0.0, "loss_percent": 0.0});
    let mut flows = both_ways("x", "voice", &call);
    flows.push(row(&json!({"traffic": "w", "quality": "pages", "direction": "down",
        "page_load_median_s": page_s})));
    let mut traffic = format!("{GAME}\n{}", PAGES.replace("traffic.x", "traffic.w"));
    for (name, mbps) in uploads {
        flows.push(row(&json!({"traffic": name, "quality": "throughput", "direction": "up",
            "throughput_mbps": mbps})));
        traffic.push_str(&format!("\ntraffic.{name} = {{ kind = 'transfer', server = 'near'"));
        traffic.push_str(if homes > 1 { ", home = 'others' }" } else { " }" });
    }
    if homes > 1 {
        traffic.push_str(&format!("\nhomes.others.count = {homes}"));
    }
    let pages = [0.0, 10.0]
        .map(|start_s| row(&json!({"traffic": "w", "start_s": start_s, "load_time_s": page_s})));
    Facts::of(&scenario(&traffic), &Rows { flows, pages: pages.to_vec(), ..Rows::default() })
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
    let found = verdict(&[group("", &full), group("idle line", &idle)], &[]);
    let first = &found.sentences[0];
    assert!(
        first.contains("; the call falls from good to fair (MOS from 4.40 to 3.92)"),
        "{first}"
    );
}

#[test]
fn an_idle_line_is_neither_best_nor_what_others_are_compared_with() {
    // An upload that starts at the end has a row, and nothing of it is delivered.
    let idle = call_and_uploads(4.40, 0.5, &[("up", 0.0)], 1);
    let full = call_and_uploads(3.5, 0.9, &[("up", 5.0)], 1);
    let pie = call_and_uploads(4.3, 0.6, &[("up", 4.9)], 1);
    let groups = [group("idle", &idle), group("tail", &full), group("PIE", &pie)];
    let found = verdict(&groups, &[]);
    assert_eq!((found.best, found.reference), (Some(2), Some(1)));
    assert!(found.groups[0].is_idle_line);
}

/// What ended before counting began was no load, and the idle line is still the run's own.
#[test]
fn an_upload_that_ended_before_counting_makes_no_other_load() {
    let found = of_line("", "stop_s = 3", "metrics.from_s = 10");
    assert_eq!((found.groups[0].idle_line, found.groups[1].is_idle_line), (Some(1), true));
    assert!(!found.sentences.join(" ").contains("load differs"), "{found:?}");
}

#[test]
fn a_single_run_is_held_against_its_idle_line() {
    let idle = game_and_upload(11.0, 10.0, None);
    for (p90_ms, told) in [
        (
            143.0,
            "The upload makes the game 13 times slower: from 11.0 to 143 ms of round trip at p90.",
        ),
        (12.0, "The upload slows the game a little: from 11.0 to 12.0 ms of round trip at p90."),
        (11.1, "The upload leaves the game as it is without it (11.1 ms of round trip at p90)."),
    ] {
        let run = game_and_upload(p90_ms, 10.0, Some(5.0));
        let found = verdict(&[group("", &run), group("idle line", &idle)], &[]);
        assert_eq!(found.sentences[0], told);
        assert_eq!(found.question, "How well does this service work for game and upload?");
        assert_eq!(found.best, None);
    }
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

#[test]
fn what_is_not_graded_is_named() {
    let traffic = "
        traffic.backup = { kind = 'transfer', server = 'near', file_bytes = 1000 }
        traffic.torrent = { kind = 'torrent', servers = ['near'] }
    ";
    let facts = Facts::of(&scenario(traffic), &Rows::default());
    assert_eq!(alone(&facts).ungraded, "Not graded: transfer (backup), torrent.");
    assert_eq!(alone(&facts).sentences[0], "No traffic in this scenario has grades.");
}

#[test]
fn facts_are_the_same_from_a_run_and_from_its_rows_as_json() {
    let text = format!("{HOME}\n{GAME}\n{UPLOAD}");
    let sets = ["duration_s=10".to_owned()];
    let mut variants = load(&text, "home.toml", &sets).unwrap();
    variants.extend(idle_lines(&variants));
    let judged: Vec<Facts> = variants
        .iter()
        .map(|variant| {
            let rows = Rows::from(&Simulation::run(&variant.scenario));
            let scenario = serde_json::to_string(&variant.scenario).unwrap();
            let again: Scenario = serde_json::from_str(&scenario).unwrap();
            let read: Rows = serde_json::from_str(&serde_json::to_string(&rows).unwrap()).unwrap();
            assert_eq!(Facts::of(&again, &read), Facts::of(&variant.scenario, &rows));
            Facts::of(&variant.scenario, &rows)
        })
        .collect();
    let found = verdict(&[group("", &judged[0]), group("idle line", &judged[1])], &[]);
    let first = &found.sentences[0];
    assert!(
        first.starts_with("The upload makes the game ") && first.contains("times slower"),
        "{first}"
    );
    assert!(serde_json::to_value(&found).unwrap()["groups"][1]["is_idle_line"] == json!(true));
}

/// A line of 20 Mbps up and 30 Mbps down on which one direction is filled, with a game or call.
fn filled(bulk: &str, stream: &str) -> Vec<Variant> {
    let text = format!(
        "duration_s = 15
         upstream.sustained_mbps = 20
         downstream.sustained_mbps = 30
         servers.near.delay_ms = 9
         traffic.probe = {{ kind = 'stream', server = 'near', {stream} }}
         traffic.bulk = {{ kind = 'transfer', server = 'near', direction = '{bulk}' }}"
    );
    let mut variants = load(&text, "line.toml", &[]).unwrap();
    variants.extend(idle_lines(&variants));
    variants
}

/// Each sentence follows the direction that is filled: nothing is good where nothing was measured.
#[test]
fn grades_need_measurements_of_the_direction_they_speak_of() {
    for (bulk, other, stream) in [("up", "down", "upstream"), ("down", "up", "downstream")] {
        for purpose in ["game", "voice"] {
            let judge = |direction: &str| {
                let keys = format!("purpose = '{purpose}', direction = '{direction}'");
                let variants = filled(bulk, &keys);
                let runs: Vec<_> = variants.iter().map(|v| Simulation::run(&v.scenario)).collect();
                let facts: Vec<_> = variants
                    .iter()
                    .zip(&runs)
                    .map(|(v, run)| Facts::of(&v.scenario, &Rows::from(run)))
                    .collect();
                let groups = [group("", &facts[0]), group("idle line", &facts[1])];
                (verdict(&groups, &[]), runs[0].warnings.clone())
            };
            let (found, warnings) = judge("both");
            let of = |name: &str| {
                let all = &found.groups[0].assessments;
                all.iter().find(|one| one.application == name).and_then(Assessment::grade)
            };
            // A full buffer is 250 ms: neither a game nor a call is good, and load is felt.
            let watched = if purpose == "game" { "game" } else { "call" };
            assert!(of(watched) > Some(Grade::Good), "{bulk} {purpose} {found:?}");
            assert_eq!(of("under load"), Some(Grade::Poor));
            assert!(
                found.sentences.iter().any(|told| told.contains(&format!("in the {stream} queue")))
            );
            let key = format!("{stream}_queue_p99_ms");
            assert!(found.groups[0].measures[key.as_str()].mean > Some(200.0));
            assert!(warnings.is_empty(), "{warnings:?}");

            // A probe that goes the other way knows nothing of it.
            let (found, warnings) = judge(other);
            let told = found.sentences.join(" ");
            let missing = format!("nothing of traffic.probe goes {bulk}; direction = \"both\"");
            assert!(told.contains(&missing), "{told}");
            let warning = format!(
                "not measured: no traffic watches the {stream} while traffic.bulk loads it; a game or call \
                 with direction = \"both\" would"
            );
            assert_eq!((&found.unwatched, &warnings), (&vec![warning.clone()], &vec![warning]));
            assert!(!told.contains("on every test") && !told.contains("added"), "{told}");
            let graded: Vec<_> =
                found.groups[0].assessments.iter().map(|one| one.application).collect();
            assert!(!graded.contains(&"under load"), "{graded:?}");

            // One that goes the same way has no other end.
            let (found, warnings) = judge(bulk);
            assert!(found.sentences.join(" ").contains(&format!("goes {other}")));
            assert!(warnings.is_empty(), "{warnings:?}");
        }
    }
}

/// The verdict of a line of 10 Mbps with a game and an upload of these keys, and its idle line's.
fn of_line(game: &str, bulk: &str, more: &str) -> Verdict {
    let text = format!(
        "duration_s = 20
         upstream.sustained_mbps = 10
         downstream.sustained_mbps = 100
         servers.near.delay_ms = 9
         traffic.game = {{ kind = 'stream', purpose = 'game', server = 'near', {game} }}
         traffic.bulk = {{ kind = 'transfer', server = 'near', {bulk} }}
         {more}"
    );
    let text = text.replace(
        if more.contains("upstream =") { "upstream.sustained_mbps = 10" } else { "\0" },
        "",
    );
    let mut variants = load(&text, "line.toml", &[]).unwrap();
    variants.extend(idle_lines(&variants));
    let facts =
        variants.iter().map(|v| Facts::of(&v.scenario, &Rows::from(&Simulation::run(&v.scenario))));
    let facts: Vec<_> = facts.collect();
    verdict(&[group("", &facts[0]), group("idle line", &facts[1])], &[])
}

fn under_load(found: &Verdict) -> Option<&Assessment> {
    found.groups[0].assessments.iter().find(|one| one.application == "under load")
}

/// What is under load is measured at the time and in the homes of the load.
#[test]
fn a_game_at_another_time_or_in_another_home_knows_nothing_of_the_load() {
    // Before the game, and with 0.1 s of it.
    for stop_s in ["11", "12.1"] {
        let found = of_line("start_s = 12", &format!("stop_s = {stop_s}"), "");
        let told = found.sentences.join(" ");
        assert!(found.unwatched[0].contains("watches the upstream while traffic.bulk loads it"));
        assert!(!told.contains("leaves the game") && !told.contains("A+"), "{told}");
        assert_eq!(under_load(&found).unwrap().grade(), None);
    }
    // A quarter of its time: the mean of all of it is no measure of load.
    let found = of_line("", "start_s = 15", "");
    let missing = "not measured: traffic.bulk does not load the line all the time of the game or call; \
                   metrics.from_s = 15 leaves out what is before";
    assert_eq!(under_load(&found).unwrap().summary, missing);
    let found = of_line("", "start_s = 5", "metrics.from_s = 5");
    assert_eq!(under_load(&found).unwrap().grade(), Some(Grade::Poor));

    let found = of_line("home = 'a'", "home = 'b'", "homes.a = {}\nhomes.b = {}");
    let asked = "no traffic of homes.b watches the upstream while traffic.bulk loads it; a game or call \
                 with home = \"b\" and direction = \"both\" would";
    assert!(found.unwatched[0].contains(asked), "{:?}", found.unwatched);
    assert!(under_load(&found).is_none() && !found.sentences.join(" ").contains("leaves the game"));
    // The column has the longest queue of all homes.
    assert!(found.groups[0].measures["upstream_queue_p99_ms"].mean > Some(200.0));
}

/// The grade of the queue of a direction, if it has one.
fn queue_grade(found: &Verdict, number: usize, queue: &str) -> Option<Grade> {
    let all = &found.groups[number].assessments;
    all.iter().find(|one| one.application == queue).and_then(Assessment::grade)
}

/// Films, pages and acknowledgements fill a buffer too, in either direction and in any home.
#[test]
fn a_queue_that_stands_has_a_grade_of_its_own() {
    let run = |down_mbps: f64, up_mbps: f64, traffic: &str| {
        let text = format!(
            "duration_s = 20
             upstream = {{ sustained_mbps = {up_mbps} }}
             downstream = {{ sustained_mbps = {down_mbps}, queue.limit_bytes = 4_000_000 }}
             homes.a = {{}}
             homes.b = {{}}
             servers.near.delay_ms = 9
             {traffic}"
        );
        let scenario = load(&text, "line.toml", &[]).unwrap().remove(0).scenario;
        let results = Simulation::run(&scenario);
        let facts = Facts::of(&scenario, &Rows::from(&results));
        let found = verdict(&[group("", &facts)], &[]);
        ["upstream queue", "downstream queue"].map(|queue| queue_grade(&found, 0, queue))
    };
    use Grade::{Good, Poor};
    let films = "traffic.film = { kind = 'video', server = 'near', viewers = 3, home = 'b' }";
    let pages = "traffic.page = { kind = 'web', servers = ['near'], users = 3, home = 'b' }";
    let get =
        "traffic.get = { kind = 'transfer', server = 'near', direction = 'down', home = 'b' }";
    let put = "traffic.put = { kind = 'transfer', server = 'near', home = 'b' }";
    let game = "traffic.game = { kind = 'stream', purpose = 'game', server = 'near', home = 'a' }";
    for (rates, traffic, grades) in [
        ((5.0, 10.0), films, [None, Some(Poor)]),
        ((20.0, 0.5), pages, [Some(Poor), None]),
        ((1000.0, 5.0), get, [Some(Poor), Some(Good)]),
        ((5.0, 5.0), get, [None, Some(Poor)]),
        ((20.0, 5.0), put, [Some(Poor), None]),
        ((1000.0, 100.0), films, [None, None]),
    ] {
        assert_eq!(run(rates.0, rates.1, traffic), grades, "{traffic}");
        assert_eq!(run(rates.0, rates.1, &format!("{traffic}\n{game}")), grades, "{traffic}");
    }
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

/// The verdict on all variants of a scenario and their idle lines, after a run of each.
fn judged_by_name(text: &str) -> Verdict {
    let mut variants = load(text, "line.toml", &[]).unwrap();
    variants.extend(idle_lines(&variants));
    let run = |variant: &Variant| {
        Facts::of(&variant.scenario, &Rows::from(&Simulation::run(&variant.scenario)))
    };
    let facts: Vec<Facts> = variants.iter().map(run).collect();
    let groups: Vec<_> =
        variants.iter().zip(&facts).map(|(variant, facts)| group(&variant.name, facts)).collect();
    verdict(&groups, &[])
}

/// Films go on when uploads and downloads do not: such a line is not idle.
#[test]
fn a_line_on_which_films_fill_the_queue_is_no_idle_line() {
    let found = judged_by_name(
        "
        duration_s = 30
        upstream.sustained_mbps = 10
        downstream = { sustained_mbps = 10, queue.limit_bytes = 187_500 }
        servers.near.delay_ms = 2
        servers.far.delay_ms = 20
        traffic.call = { kind = 'stream', purpose = 'voice', server = 'near' }
        traffic.film = { kind = 'video', server = 'near', viewers = 3 }
        traffic.get = { kind = 'transfer', direction = 'down', server = 'far' }
    ",
    );
    let all = &found.groups[0].assessments;
    let under_load = all.iter().find(|one| one.application == "under load").unwrap();
    assert_eq!(under_load.grade(), None);
    assert_eq!(
        under_load.summary,
        "not measured: packets wait in the downstream queue without uploads and downloads too"
    );
    assert_eq!(queue_grade(&found, 0, "downstream queue"), Some(Grade::Poor));
}

const LINE: &str = "
    duration_s = 20
    downstream.sustained_mbps = 20
    servers.near.delay_ms = 9
";

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

/// What stands without bulk traffic is a queue too.
#[test]
fn a_queue_of_video_calls_is_no_wait_for_grants() {
    let line = format!(
        "{LINE}
        traffic.game = {{ kind = 'stream', purpose = 'game', server = 'near' }}
        traffic.x = {{ kind = 'video_call', server = 'near' }}
    "
    );
    for (keys, ending) in [
        (
            "upstream = { sustained_mbps = 1, queue.limit_bytes = 1_000_000 }",
            "in the upstream queue.",
        ),
        (
            "upstream.sustained_mbps = 20\n\
             router.upstream = { rate_mbps = 2, queue.limit_bytes = 400_000 }",
            "in the queue 'router upstream'.",
        ),
    ] {
        let found = judged_by_name(&format!("{line}\n{keys}"));
        let told = &found.groups[0].causes[0];
        assert!(told.ends_with(ending), "{told}");
    }
}

/// A sum hides what one transfer loses to another.
#[test]
fn a_transfer_that_loses_to_others_is_named() {
    let of = |one_mbps: f64, two_mbps: f64, p90_ms: f64| {
        let up = |name: &str, mbps: f64| {
            row(&json!({"traffic": name, "direction": "up", "throughput_mbps": mbps}))
        };
        let game = json!({"rtt_p90_ms": p90_ms});
        let mut flows = both_ways("x", "game", &game);
        flows.extend([up("upload", one_mbps), up("photos", two_mbps)]);
        let traffic =
            format!("{GAME}\n{UPLOAD}\ntraffic.photos = {{ kind = 'transfer', server = 'near' }}");
        Facts::of(&scenario(&traffic), &Rows { flows, ..Rows::default() })
    };
    let (full, fair) = (of(7.2, 2.7, 260.0), of(5.3, 4.2, 20.0));
    let found = verdict(&[group("drop-tail", &full), group("FQ", &fair)], &[]);
    let ending = "; but upload keeps 74 % of its rate (5.30 of 7.20 Mbps).";
    assert!(found.sentences[0].ends_with(ending), "{found:?}");
}

/// Without an idle line nobody knows what bulk traffic takes.
#[test]
fn a_line_without_its_idle_line_is_not_good_on_every_test() {
    let of = |baseline: bool| {
        judged_by_name(&format!(
            "{LINE}
            baseline = {baseline}
            upstream.sustained_mbps = 50
            traffic.film = {{ kind = 'video', server = 'near' }}
            traffic.call = {{ kind = 'stream', purpose = 'voice', server = 'near' }}
            traffic.get = {{ kind = 'transfer', server = 'near', direction = 'down' }}
            [compare.a]
            [compare.b]
            upstream.queue.limit_bytes = 100_000
        "
        ))
    };
    let lacks = |found: &Verdict| found.unwatched.iter().any(|told| told.contains("no idle line"));
    let (with, without) = (of(true), of(false));
    assert!(!lacks(&with) && lacks(&without), "{without:?}");
    assert!(!without.sentences.join(" ").contains("on every test"), "{without:?}");
}

/// 9 % and 11 % of slow packets are two grades, and no difference to decide by.
#[test]
fn a_value_on_the_edge_between_two_grades_does_not_decide() {
    let of = |over_percent: f64, upload_mbps: f64| {
        let game = json!({"rtt_p90_ms": 30.0, "rtt_mean_ms": 25.0,
            "over_20_ms_access_percent": over_percent, "over_80_ms_round_trip_percent": 0.0,
            "loss_percent": 0.0});
        let mut flows = both_ways("x", "game", &game);
        flows.push(row(
            &json!({"traffic": "upload", "direction": "up", "throughput_mbps": upload_mbps}),
        ));
        Facts::of(&scenario(&format!("{GAME}\n{UPLOAD}")), &Rows { flows, ..Rows::default() })
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
        let facts = with(
            game_and_upload(39.0, 35.0, Some(5.0)),
            &[("game_loss_percent", loss_percent), ("game_rtt_p99_ms", p99_ms)],
        );
        facts
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
        let rate = |name: &str, way: &str, mbps: f64| {
            row(&json!({"traffic": name, "direction": way, "throughput_mbps": mbps}))
        };
        let flows = vec![rate("upload", "up", up_mbps), rate("get", "down", down_mbps)];
        Facts::of(&scenario(&traffic), &Rows { flows, ..Rows::default() })
    };
    for (one, two) in [((5.0, 19.0), (4.7, 12.0)), ((3.0, 19.0), (4.9, 18.0))] {
        let facts = [of(one.0, one.1), of(two.0, two.1)];
        let found = verdict(&[group("one", &facts[0]), group("two", &facts[1])], &[]);
        let best = if one.0 > two.0 { "one does best" } else { "two does best" };
        assert!(found.sentences[0].starts_with(best), "{found:?}");
    }
}

#[test]
fn few_packets_are_no_measurement() {
    let found = of_line("", "", "metrics.from_s = 19.9");
    let game = &found.groups[0].assessments[0];
    assert_eq!(game.grade(), None);
    assert_eq!(game.summary, "not measured: fewer than 50 packets of traffic.game arrived");
}

/// The link of the server is what is slow, and no queue of the access network.
#[test]
fn the_wait_for_a_server_is_none_of_the_access_network() {
    let found =
        of_line("", "", "upstream.queue.limit_bytes = 1_000_000\nservers.near.rate_mbps = 2");
    let told = &found.groups[0].causes[0];
    assert!(told.ends_with("on the cable and on the links to its server."), "{told}");
}

/// Where several queues stand in a way, the sentence names the one in which packets wait.
#[test]
fn a_cause_names_its_queue_where_there_are_several() {
    for (keys, ending) in [
        ("", "in the upstream queue."),
        ("router.upstream.rate_mbps = 3", "in the queue 'router upstream'."),
        ("core.peering.upstream.rate_mbps = 3", "in the queue 'core peering upstream'."),
        (
            "servers.near.rate_mbps = 3\nservers.near.queue.limit_bytes = 100_000",
            "in the queue 'server near upstream'.",
        ),
    ] {
        let found = of_line("", "", keys);
        let told = &found.groups[0].causes[0];
        assert!(told.ends_with(ending), "{keys}: {told}");
    }
}

/// What went before a transfer began is nothing that it sends.
#[test]
fn nothing_gets_more_than_the_service_allows() {
    let found = of_line(
        "",
        "start_s = 8",
        "upstream.scheduling.kind = 'best_effort'
         traffic.data = { kind = 'on_off', server = 'near', direction = 'down', mean_mbps = [90] }
         traffic.get = { kind = 'transfer', server = 'near', direction = 'down' }",
    );
    let upload = found.groups[0].assessments.iter().find(|one| one.application == "upload");
    let share = upload.unwrap().values["upload_share_percent"].unwrap();
    assert!((50.0..=100.0).contains(&share), "{share}");
}

/// What the core does not carry is no fault of the service.
#[test]
fn a_transfer_is_judged_by_the_slowest_link_of_its_path() {
    let found = of_line("", "", "core.x.upstream.rate_mbps = 2");
    let upload = found.groups[0].assessments.iter().find(|one| one.application == "upload");
    assert!(upload.unwrap().values["upload_share_percent"] > Some(90.0), "{upload:?}");
}

#[test]
fn an_upload_that_gets_next_to_nothing_is_poor() {
    let found = of_line("", "", "upstream = { sustained_mbps = 0.05, burst_bytes = 3044 }");
    let upload = found.groups[0].assessments.iter().find(|one| one.application == "upload");
    assert_eq!(upload.unwrap().grade(), Some(Grade::Poor));
}

#[test]
fn bulk_traffic_alone_is_ranked_by_delay_too() {
    let of = |up_mbps: f64, down_mbps: f64, [up_ms, down_ms]: [f64; 2]| {
        let traffic = "traffic.up = { kind = 'transfer', server = 'near' }
                       traffic.down = { kind = 'transfer', server = 'near', direction = 'down' }";
        let flow = |name: &str, mbps: f64| {
            row(&json!({"traffic": name, "quality": "throughput", "direction": name,
                "throughput_mbps": mbps}))
        };
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
            flows.push(row(&json!({"traffic": name, "quality": "throughput", "direction": "up",
                "throughput_mbps": mbps})));
        }
        let traffic = format!(
            "{GAME}\n{UPLOAD}\ntraffic.v = {{ kind = 'video', server = 'near' }}
             traffic.stream = {{ kind = 'stream', purpose = 'data', server = 'near' }}"
        );
        Facts::of(&scenario(&traffic), &Rows { flows, ..Rows::default() })
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
        Facts::of(&scenario(&format!("{GAME}\n{upload}")), &Rows { flows, ..Rows::default() })
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

fn seeds<'a>(name: &'a str, runs: &'a [Facts]) -> Group<'a> {
    Group { name, variant: name, point: &[], runs: runs.iter().collect() }
}

#[test]
fn seeds_show_only_differences_beyond_their_spread() {
    let of = |seed: u64, rtt_ms: f64| {
        let flows = both_ways("x", "game", &json!({"rtt_p90_ms": rtt_ms}));
        let sets = [format!("seed={seed}")];
        let scenario = load(&format!("{HOME}\n{GAME}"), "home.toml", &sets);
        Facts::of(&scenario.unwrap().remove(0).scenario, &Rows { flows, ..Rows::default() })
    };
    let facts = |values: [f64; 3]| [0, 1, 2].map(|seed| of(seed, values[seed as usize]));
    let (noisy, other, lower) =
        (facts([20.0, 40.0, 60.0]), facts([50.0, 30.0, 25.0]), facts([10.0, 29.0, 51.0]));
    let judge = |one: &[Facts], two: &[Facts]| {
        verdict(&[seeds("a", one), seeds("b", two)], &[]).sentences.remove(0)
    };
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
