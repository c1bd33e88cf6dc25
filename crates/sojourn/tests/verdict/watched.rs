//! What is measured where bulk traffic goes, and against which idle line.

use super::*;
use crate::common::sentences;

#[test]
fn an_idle_line_is_neither_best_nor_what_others_are_compared_with() {
    let idle = call_and_uploads(4.40, 0.5, &[], 1);
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
    for (bulk, other, stream, queue) in [
        ("up", "down", "upstream", "in the modem's queue"),
        ("down", "up", "downstream", "in the CMTS's queue"),
    ] {
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
                (verdict(&groups, &[]), sentences(runs[0].warnings.clone()))
            };
            let (found, warnings) = judge("both");
            let of = |name: &str| {
                let all = &found.groups[0].assessments;
                all.iter().find(|one| one.application == name).and_then(|one| one.grade)
            };
            // A full buffer is 250 ms: neither a game nor a call is good, and load is felt.
            let watched = if purpose == "game" { "game" } else { "call" };
            assert!(of(watched) > Some(Grade::Good), "{bulk} {purpose} {found:?}");
            assert_eq!(of("under load"), Some(Grade::Poor));
            assert!(found.sentences.iter().any(|said| said.contains(queue)), "{found:?}");
            let key = format!("{stream}_queue_p99_ms");
            assert!(found.groups[0].measures[key.as_str()].mean > Some(200.0));
            assert!(warnings.is_empty(), "{warnings:?}");

            // A probe that goes the other way knows nothing of it.
            let (found, warnings) = judge(other);
            let said = found.sentences.join(" ");
            let missing = format!("nothing of traffic.probe goes {bulk}, where bulk traffic does");
            assert!(said.contains(&missing), "{said}");
            let warning = format!(
                "not measured: no traffic watches the {stream} while traffic.bulk loads it; a game or call \
                 with direction = \"both\" would"
            );
            assert_eq!((&found.unwatched, &warnings), (&vec![warning.clone()], &vec![warning]));
            assert!(!said.contains("on every test") && !said.contains("added"), "{said}");
            let graded: Vec<_> =
                found.groups[0].assessments.iter().map(|one| one.application).collect();
            assert!(!graded.contains(&"under load"), "{graded:?}");

            // One that goes the same way is graded by that.
            let (found, warnings) = judge(bulk);
            let all = &found.groups[0].assessments;
            let grade = all.iter().find(|one| one.application == watched).and_then(|one| one.grade);
            assert!(grade > Some(Grade::Good), "{bulk} {purpose} {found:?}");
            assert!(warnings.is_empty(), "{warnings:?}");
        }
    }
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
        let said = found.sentences.join(" ");
        assert!(found.unwatched[0].contains("watches the upstream while traffic.bulk loads it"));
        assert!(!said.contains("leaves the game") && !said.contains("A+"), "{said}");
        assert!(under_load(&found).is_none());
    }
    // A quarter of its time: what is sent then counts.
    let found = of_line("", "start_s = 15", "");
    assert_eq!(under_load(&found).unwrap().grade, Some(Grade::Poor));
    let found = of_line("", "start_s = 5", "metrics.from_s = 5");
    assert_eq!(under_load(&found).unwrap().grade, Some(Grade::Poor));

    let found = of_line("home = 'a'", "home = 'b'", "homes.a = {}\nhomes.b = {}");
    let asked = "no traffic of homes.b watches the upstream while traffic.bulk loads it; a game or call \
                 with home = \"b\" and direction = \"both\" would";
    assert!(found.unwatched[0].contains(asked), "{:?}", found.unwatched);
    assert!(under_load(&found).is_none() && !found.sentences.join(" ").contains("leaves the game"));
    // What waits in the load's own homes tells, or else its queue.
    let is_graded =
        |found: &Verdict, name: &str| named(&found.groups[0].assessments, name).is_some();
    assert!(is_graded(&found, "upstream queue") && !is_graded(&found, "upstream wait"));
    let own = "homes.a = {}\nhomes.b = {}\n
         traffic.page = { kind = 'web', servers = ['near'], home = 'b' }";
    let found = of_line("home = 'a'", "home = 'b'", own);
    assert!(is_graded(&found, "upstream wait") && !is_graded(&found, "upstream queue"));
    // The column has the longest queue of all homes.
    assert!(found.groups[0].measures["upstream_queue_p99_ms"].mean > Some(200.0));

    // And where the answer is of one group of homes, what others do is not in it.
    let homes = "homes.a = {}\nhomes.b = {}\nmetrics.homes = 'a'";
    let found = of_line("home = 'a'", "home = 'b'", homes);
    assert!(found.groups[0].measures["upstream_queue_p99_ms"].mean < Some(20.0));
    assert!(!found.groups[0].measures.contains_key("upload_mbps"));
    assert!(found.unwatched.is_empty() && !found.sentences.join(" ").contains("bulk"));
}

/// Films go on when uploads and downloads do not: what is waited beside them counts as added.
#[test]
fn a_film_that_fills_the_queue_hides_no_load() {
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
    // Beside films alone the round trip is nearly as long.
    let [idle, loaded] =
        [1, 0].map(|one| found.groups[one].measures["downstream_queue_mean_ms"].mean);
    assert!(idle > Some(0.6 * loaded.unwrap()), "{found:?}");
    assert!(under_load.values["added_delay_ms"] > Some(0.9 * loaded.unwrap()), "{under_load:?}");
    assert!(under_load.grade >= Some(Grade::Poor), "{under_load:?}");
    assert_eq!(wait_grade(&found, 0, "downstream"), Some(Grade::Poor));
}

/// With a queue for each flow nobody waits but the transfer behind itself: whoever else is there, no setting that lets them wait
/// longer is before it. A test of responsiveness has its probes.
#[test]
fn a_queue_of_its_own_for_a_transfer_is_behind_no_other() {
    for (way, stream) in [("up", "upstream"), ("down", "downstream")] {
        for who in [
            "kind = 'stream', purpose = 'voice', server = 'near'",
            "kind = 'web', servers = ['near'], objects = { kind = 'fixed' }",
            "kind = 'web_sessions', servers = ['near']",
            "kind = 'responsiveness', server = 'near', interval_s = 1",
        ] {
            let found = judged_by_name(&format!(
                "duration_s = 20
                 upstream = {{ sustained_mbps = 10, queue.limit_bytes = 256_000 }}
                 downstream = {{ sustained_mbps = 20, queue.limit_bytes = 512_000 }}
                 servers.near.delay_ms = 9
                 traffic.who = {{ {who} }}
                 traffic.bulk = {{ kind = 'transfer', server = 'near', direction = '{way}' }}
                 compare.PIE.{stream}.queue.law.kind = 'docsis_pie'
                 compare.FQ.{stream}.queue.scheduler.kind = 'fq'
                 compare.drop-tail = {{}}"
            ));
            let best = &found.answers[0].best;
            let name = |number: &usize| found.groups[*number].name.as_str();
            assert!(best.iter().any(|one| name(one) == "FQ"), "{who}: {:?}", found.sentences);
            assert!(!best.iter().any(|one| name(one) == "drop-tail"), "{:?}", found.sentences);
            // Its own packets wait there as long as in a queue that all share.
            let queue =
                |number: usize| found.groups[number].measures[&*format!("{stream}_queue_mean_ms")];
            assert!(queue(1).mean > Some(50.0), "{who}");
        }
    }
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
    let lacks = |found: &Verdict| found.ungraded.contains("since there is no idle line");
    let (with, without) = (of(true), of(false));
    assert!(!lacks(&with) && lacks(&without), "{without:?}");
    // Nothing that was loaded went without a measure: it is no failure.
    assert_eq!(without.unwatched, [""; 0]);
    assert!(!without.sentences.join(" ").contains("on every test"), "{without:?}");
}

/// A line is idle without bulk traffic that begins.
#[test]
fn an_idle_line_is_of_its_point_and_its_line_and_is_meant() {
    let of = |start_s: u32, mbps: f64, sets: &[&str]| {
        let bulk =
            format!("traffic.up = {{ kind = 'transfer', server = 'near', start_s = {start_s} }}");
        let rate = rate("up", "up", mbps);
        let mut flows = both_ways("x", "game", &json!({"rtt_p90_ms": 12.0}));
        flows.push(rate);
        let scenario = scenario_of(&format!("{GAME}\n{bulk}"), sets);
        Facts::of(&scenario, &Rows { flows, ..Rows::default() })
    };
    let (loaded, failed, meant) = (of(0, 5.0, &[]), of(0, 0.0, &[]), of(60, 0.0, &[]));
    let far = of(60, 0.0, &["servers.near.delay_ms=20"]);
    let points = ["rate 5", "rate 9"].map(|point| [point.to_owned()]);
    for (one, other, points, want) in [
        // What is meant to load the line and does not is no idle line: it failed.
        (&loaded, &failed, [0, 0], [None, None]),
        (&loaded, &meant, [0, 0], [Some(1), None]),
        (&failed, &meant, [0, 0], [Some(1), None]),
        (&meant, &failed, [0, 0], [None, Some(0)]),
        (&loaded, &loaded, [0, 0], [None, None]),
        (&failed, &failed, [0, 0], [None, None]),
        (&meant, &meant, [0, 0], [None, None]),
        // Another point of a sweep, or another line.
        (&loaded, &meant, [0, 1], [None, None]),
        (&loaded, &far, [0, 0], [None, None]),
    ]
    .map(|(one, other, of, want)| (one, other, of.map(|number| &points[number]), want))
    {
        let groups = [(one, "a", points[0]), (other, "b", points[1])]
            .map(|(facts, name, point)| Group { point, ..group(name, facts) });
        let found = verdict(&groups, &["rate".to_owned()]).groups;
        assert_eq!([found[0].idle_line, found[1].idle_line], want);
        let is_idle = [want[1] == Some(0), want[0] == Some(1)];
        assert_eq!([found[0].is_idle_line, found[1].is_idle_line], is_idle);
    }
}

/// A call beside an upload of other homes: what it is without that is no news, but a grade that changes is.
#[test]
fn a_call_that_nothing_loads_is_named_if_its_grade_changes() {
    let of = |mos: f64, upload: bool| {
        let call = json!({"mos": mos, "late_percent": 0.0, "loss_percent": 0.0});
        let mut flows = both_ways("x", "voice", &call);
        let mut traffic = "homes.a = {}\nhomes.b = {}
            traffic.x = { kind = 'stream', purpose = 'voice', server = 'near', home = 'a' }\n"
            .to_owned();
        if upload {
            traffic.push_str("traffic.up = { kind = 'transfer', server = 'near', home = 'b' }");
            flows.push(rate("up", "up", 5.0));
        }
        of_flows(&traffic, flows)
    };
    let idle = of(4.4, false);
    for (mos, want) in
        [(4.3, None), (3.5, Some("The call falls from good to fair (MOS from 4.40 to 3.50)."))]
    {
        let loaded = of(mos, true);
        let said = verdict(&[group("", &loaded), group("idle line", &idle)], &[]).sentences;
        assert_eq!(Some(said[0].as_str()).filter(|one| one.contains("MOS")), want, "{said:?}");
    }
}

/// What a game waits in queues without load counts as added, and what others wait in the same queues does not.
#[test]
fn what_a_game_waits_without_load_counts_as_added() {
    for (waited_ms, longer_ms, added_ms) in
        [(0.0, 10.0, 10.0), (5.0, 10.0, 15.0), (5.0, -3.0, 2.0), (5.0, -6.0, 0.0)]
    {
        let of = |upload: &str, rtt_ms: f64| {
            let load = if upload.is_empty() { "rtt_idle_mean_ms" } else { "rtt_up_mean_ms" };
            let mut flows = both_ways("x", "game", &json!({load: rtt_ms}));
            if !upload.is_empty() {
                flows.push(rate("upload", "up", 5.0));
            }
            let queue = row(&json!({"queue": "q", "direction": "up", "sojourn_mean_ms": 50.0,
                "sojourn_p99_ms": 90.0, "sojourn_p90_ms": 70.0}));
            let delay_parts = ["up", "down"].map(|way| waited("x", way, waited_ms / 2.0)).concat();
            let rows = Rows { flows, queues: vec![queue], delay_parts, ..Rows::default() };
            Facts::of(&scenario(&format!("{GAME}\n{upload}")), &rows)
        };
        let (loaded, idle) = (of(UPLOAD, 20.0 + longer_ms), of("", 20.0));
        let found = verdict(&[group("", &loaded), group("idle line", &idle)], &[]);
        let added = under_load(&found).unwrap().values["added_delay_ms"].unwrap();
        assert!((added - added_ms).abs() < 1e-9, "{waited_ms} {longer_ms} {added}");
    }
}
