//! Grades against thresholds, and what has none.

use super::*;

#[test]
fn grades_are_those_of_the_thresholds() {
    use Grade::{Fails, Fair, Good, Poor};
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
    let call_with = |p90_ms: f64, incomplete: f64, frozen: f64, picture: Option<f64>| {
        let values = json!({"frame_latency_p90_ms": p90_ms, "frames_incomplete_percent": incomplete,
            "frozen_percent": frozen, "picture_height_percent": picture});
        facts(GAME, "video_call", &values)
    };
    let video_call = |p90_ms: f64, incomplete: f64| call_with(p90_ms, incomplete, 0.0, None);
    let cloud_game = |mos: f64, incomplete: f64| {
        let values = json!({"game_mos": mos, "frames_incomplete_percent": incomplete,
            "input_to_frame_p90_ms": 60.0, "frames_late_percent": 0.0});
        facts(GAME, "cloud_game", &values)
    };
    let test = |rpm: f64| facts(GAME, "responsiveness", &json!({ "rpm": rpm }));
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
        ("video call", call_with(20.0, 0.0, 1.1, None), Some(Fair)),
        ("video call", call_with(20.0, 0.0, 0.0, Some(90.0)), Some(Good)),
        // A rate that falls to its least leaves a small picture.
        ("video call", call_with(20.0, 0.0, 0.0, Some(50.0)), Some(Fair)),
        ("video call", call_with(20.0, 0.0, 0.0, Some(25.0)), Some(Poor)),
        ("cloud game", cloud_game(4.0, 0.0), Some(Good)),
        ("cloud game", cloud_game(3.9, 0.0), Some(Fair)),
        ("cloud game", cloud_game(2.9, 0.0), Some(Poor)),
        ("cloud game", cloud_game(4.1, 5.1), Some(Fair)),
        ("cloud game", cloud_game(4.1, 15.1), Some(Poor)),
        ("cloud game", cloud_game(3.0, 50.1), Some(Fails)),
        // draft-ietf-ippm-responsiveness-09, section 1.2: 300 and 1000.
        ("responsiveness", test(1000.0), Some(Good)),
        ("responsiveness", test(999.0), Some(Fair)),
        ("responsiveness", test(299.0), Some(Poor)),
        ("responsiveness", test(59.0), Some(Fails)),
        ("video", video(0.0), Some(Good)),
        ("video", video(0.9), Some(Fair)),
        ("video", video(1.1), Some(Poor)),
        ("video", begun(2.1, Some(0.0)), Some(Fair)),
        ("video", begun(10.1, Some(0.0)), Some(Poor)),
        // It has not begun in 10.1 s, or not yet in a second.
        ("video", begun(10.1, None), Some(Fails)),
        ("video", video(50.1), Some(Fails)),
        ("call", call(Some(1.99)), Some(Fails)),
        ("video call", video_call(1001.0, 0.0), Some(Fails)),
        ("video call", video_call(20.0, 50.1), Some(Fails)),
        ("game", game(100.0, 100.0, 50.1), Some(Fails)),
        ("video", begun(1.0, None), None),
    ];
    for (name, facts, grade) in cases {
        let found = only(&facts);
        assert_eq!((found.application, found.grade), (name, grade));
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
        (&[(0.0, 1.0)], None, Some(Grade::Fails)),
        // So did both; half of the pages take 59 s or more.
        (&[], None, Some(Grade::Fails)),
    ];
    for (loaded, median_s, grade) in cases {
        let (scenario, rows) = pages(loaded);
        let facts = Facts::of(&scenario, &rows);
        let found = only(&facts);
        let of_grade = found.values.get("page_load_median_s").copied().flatten();
        assert_eq!((of_grade, found.grade), (median_s, grade));
        assert_eq!(
            facts.measures["page_load_median_s"], median_s,
            "one number in tables and grades"
        );
        let is_over = found.summary.starts_with("half of all pages load within");
        assert_eq!(is_over, median_s.is_some(), "{}", found.summary);
    }
    assert_eq!(
        only(&Facts::of(&pages(&[]).0, &pages(&[]).1)).summary,
        "half of the pages are not loaded when the run ends"
    );
    // Of two people one has loaded nothing, and began within the first second.
    let (scenario, rows) = pages(&[(0.5, 2.0)]);
    assert_eq!(unfinished_s(&scenario, &rows, "x"), [59.0]);
}

#[test]
fn an_upload_is_held_against_what_rate_and_burst_allow() {
    // 5 Mbps and 1 250 000 B of burst in 10 s: 5 + 1 Mbps, below the peak of 20.
    let share = |sets: &[&str], mbps: f64| {
        let scenario = scenario_of(UPLOAD, sets);
        let flow = json!({"traffic": "upload", "quality": "throughput", "direction": "up",
            "rate_mbps": mbps});
        let rows = Rows { flows: vec![row(&flow)], ..Rows::default() };
        alone(&Facts::of(&scenario, &rows)).groups.remove(0).assessments
    };
    let found = &share(&["duration_s=10"], 5.4)[0];
    assert_eq!((found.application, found.grade), ("upload", Some(Grade::Good)));
    assert!((found.values["share_percent"].unwrap() - 90.0).abs() < 1e-9);
    assert_eq!(share(&["duration_s=10"], 5.3)[0].grade, Some(Grade::Fair));
    // One that starts at 2 s has 10 s of 5 Mbps and the burst, in a run of 12 s: 60 Mbit.
    let late = share(&["duration_s=12", "traffic.upload.start_s=2"], 60.0 / 10.0);
    assert!((late[0].values["share_percent"].unwrap() - 100.0).abs() < 1e-9);
    assert_eq!(share(&["duration_s=11", "traffic.upload.start_s=2"], 5.4)[0].grade, None);
    // A second service flow is a choice: the line is what the primary one carries.
    let flows = "upstream.flows.voice={sustained_mbps=1, peak_mbps=1, burst_bytes=3044, match=[{traffic='upload'}]}";
    let beside = &share(&["duration_s=10", flows], 5.4)[0];
    assert_eq!((beside.application, beside.grade), ("upload", Some(Grade::Good)));
    // In a short run it has not found its rate yet, and has no share.
    assert_eq!(share(&["duration_s=5"], 5.4)[0].grade, None);
    // A file that is not finished is said; files with pauses are due the line while they are under way.
    let file = &share(&["traffic.upload.file_bytes=100000000"], 5.4)[0];
    assert!(file.summary.ends_with("'upload' is unfinished (0 of 100 MB)"), "{file:?}");
    let files = ["traffic.upload.file_bytes=10000000", "traffic.upload.pause_s=1"];
    assert_eq!(share(&files, 5.4)[0].grade, Some(Grade::Good));
    assert_eq!(share(&files, 2.0)[0].grade, Some(Grade::Poor));
    // One that was there before counting began has no share.
    assert_eq!(share(&["traffic.upload.file_bytes=10000", "metrics.from_s=10"], 0.0), []);
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
    assert_eq!(short.grade, None);
    assert_eq!(short.summary, "traffic.film played for less than 10 s");
    // Two segments of 67 Mbit take 13 s, and longer than the run.
    assert!(run(10.0, 20.0).grade >= Some(Grade::Poor));
    assert!(run(2.0, 60.0).grade >= Some(Grade::Poor));
    let never = run(0.5, 20.0);
    assert_eq!(never.grade, Some(Grade::Fails));
    assert_eq!(never.summary, "playback has not begun when the run ends");
    assert_eq!(never.values.get("video_start_wait_s"), None, "it is no time");
    assert_eq!(run(30.0, 60.0).grade, Some(Grade::Fair));
    assert_eq!(run(300.0, 60.0).grade, Some(Grade::Good));
}

/// The level of a film rises for 20 s here. Before that its stalls and its rate are those of a start.
#[test]
fn a_video_whose_quality_rises_has_no_grade() {
    let run = |duration_s: f64| {
        let text = format!(
            "duration_s = {duration_s}
             upstream.sustained_mbps = 5
             downstream.sustained_mbps = 40
             servers.near.delay_ms = 9
             traffic.film = {{ kind = 'video', server = 'near', ladder = 'hong2015' }}
             traffic.upload = {{ kind = 'transfer', server = 'near' }}"
        );
        let found = judged_by_name(&text);
        ["video", "video rate"].map(|name| {
            let mut all = found.groups[0].assessments.iter();
            let one = all.find(|one| one.application == name).expect(name);
            (one.grade, one.summary.clone())
        })
    };
    let longer = |state: &str, s: u32| {
        let said = format!("traffic.film is still starting: its quality {state}");
        (None, format!("{said}; duration_s = {s} may be enough"))
    };
    assert_eq!(run(16.0), [(); 2].map(|()| longer("rises", 58)));
    assert!(run(60.0).iter().all(|(grade, _)| grade.is_some()));
}

/// A film that adapts does not stall: what it loses is its rate. Its line gives it all, whatever the household chooses.
#[test]
fn a_video_keeps_its_rate_or_is_not_good() {
    let of = |mbps: Option<f64>, more: &[&str]| {
        let flow = row(&json!({"traffic": "v", "quality": "video", "direction": "down",
            "video_stalled_percent": 0.0, "video_start_wait_s": 1.0, "video_rate_mbps": mbps}));
        let video = "traffic.v = { kind = 'video', server = 'near', ladder_mbps = [8] }";
        let rows = Rows { flows: vec![flow, rate("upload", "up", 4.0)], ..Rows::default() };
        let facts = Facts::of(&scenario_of(&format!("{video}\n{UPLOAD}"), more), &rows);
        named(&alone(&facts).groups[0].assessments, "video rate").unwrap().grade
    };
    for (mbps, grade) in [
        (Some(7.3), Grade::Good),
        (Some(4.9), Grade::Fair),
        (Some(4.1), Grade::Fair),
        (Some(1.6), Grade::Poor),
        (Some(0.7), Grade::Fails),
        (None, Grade::Fails),
    ] {
        assert_eq!(of(mbps, &[]), Some(grade), "{mbps:?}");
        assert_eq!(of(mbps, &["router.downstream.rate_mbps=1"]), Some(grade));
        assert_eq!(of(mbps, &["downstream.queue.limit_bytes=3000"]), Some(grade));
    }
}

/// A film is due the level at which its player stays on the line: it goes up where a segment comes in less than 1 / 2.07 of
/// its time (the steps of the ladder), so that 20 Mbps hold 11.6 and 24.5 are needed for 16.8.
#[test]
fn a_video_is_due_the_level_of_its_line() {
    for (down_mbps, due_mbps) in [(3, 1.6), (20, 11.6), (24, 11.6), (27, 16.8), (500, 16.8)] {
        let sets = ["sustained", "peak"].map(|of| format!("downstream.{of}_mbps={down_mbps}"));
        let film = "traffic.v = { kind = 'video', server = 'near' }";
        let scenario = scenario_of(film, &sets.each_ref().map(|set| set.as_str()));
        let flow = json!({"traffic": "v", "quality": "video", "direction": "down",
            "video_rate_mbps": due_mbps / 2.0});
        let rows = Rows { flows: vec![row(&flow)], ..Rows::default() };
        let found = alone(&Facts::of(&scenario, &rows));
        let kept = named(&found.groups[0].assessments, "video rate").unwrap();
        let percent = kept.values["kept_video_rate_percent"].unwrap();
        assert!((percent - 50.0).abs() < 1e-9, "{down_mbps}: {percent}");
    }
}

#[test]
fn what_is_not_graded_is_named() {
    let traffic = "
        traffic.news = { kind = 'web_sessions', servers = ['near'] }
        traffic.sensors = { kind = 'on_off', server = 'near', mean_mbps = [1] }
    ";
    let facts = Facts::of(&scenario(traffic), &Rows::default());
    assert_eq!(alone(&facts).ungraded, "Not graded: web sessions (news), on off (sensors).");
    assert_eq!(alone(&facts).sentences[0], "No traffic in this scenario has grades.");
}

/// Requests and acknowledgements fill a buffer too, and whose packets wait for each other has grades of its own for that.
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
        let scenario = loaded(&text, &[]);
        let results = Simulation::run(&scenario);
        let facts = Facts::of(&scenario, &Rows::from(&results));
        let found = verdict(&[group("", &facts)], &[]);
        ["upstream", "downstream"].map(|stream| wait_grade(&found, 0, stream))
    };
    use Grade::{Fails, Good, Poor};
    let films = "traffic.film = { kind = 'video', server = 'near', viewers = 3, home = 'b' }";
    let pages = "traffic.page = { kind = 'web', servers = ['near'], users = 3, home = 'b' }";
    let get =
        "traffic.get = { kind = 'transfer', server = 'near', direction = 'down', home = 'b' }";
    let put = "traffic.put = { kind = 'transfer', server = 'near', home = 'b' }";
    let game = "traffic.game = { kind = 'stream', purpose = 'game', server = 'near', home = 'a' }";
    for (rates, traffic, grades) in [
        ((5.0, 10.0), films, [None, None]),
        ((20.0, 0.5), pages, [Some(Poor), None]),
        ((1000.0, 1.0), get, [Some(Poor), Some(Good)]),
        ((5.0, 5.0), get, [None, Some(Fails)]),
        ((20.0, 5.0), put, [Some(Poor), None]),
        ((1000.0, 100.0), films, [None, None]),
    ] {
        assert_eq!(run(rates.0, rates.1, traffic), grades, "{traffic}");
        assert_eq!(run(rates.0, rates.1, &format!("{traffic}\n{game}")), grades, "{traffic}");
    }
}

/// What went before a transfer began is nothing that it sends, what the core does not carry is no fault of the service,
/// and next to nothing has a share too.
#[test]
fn a_transfer_gets_no_more_than_all_of_its_part() {
    let beside = "upstream.scheduling.kind = 'best_effort'
         traffic.data = { kind = 'on_off', server = 'near', direction = 'down', mean_mbps = [90] }
         traffic.get = { kind = 'transfer', server = 'near', direction = 'down' }";
    for (bulk, more, least) in [
        ("start_s = 8", beside, 50.0),
        ("", "core.x.upstream.rate_mbps = 2", 90.0),
        ("", "upstream = { sustained_mbps = 0.05, burst_bytes = 3044 }", 0.0),
    ] {
        let found = of_line("", bulk, more);
        let upload = found.groups[0].assessments.iter().find(|one| one.application == "upload");
        let share = upload.unwrap().values["share_percent"].unwrap();
        assert!((least..=100.0).contains(&share), "{more}: {share}");
        assert!(upload.unwrap().grade >= Some(Grade::Good));
    }
}
