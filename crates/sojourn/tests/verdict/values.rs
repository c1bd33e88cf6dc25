//! What is read from rows of tables: causes, measures and facts, each with its arithmetic.

use super::*;
use sojourn::engine::packet::Direction::{self, Down, Up};
use sojourn::engine::record::Part;
use sojourn::results::verdict::Cause;

const OURS: &str = "cable.delay_ms = 1\nhomes.ours = {}";

/// Parts of the game's time: direction, part and mean.
fn parts(packets: f64, parts: &[(Direction, &str, f64)]) -> Rows {
    let rows = parts.iter().map(|(direction, part, mean_ms)| {
        row(&json!({"traffic": "x", "direction": direction.name(), "part": part,
            "sent_packets": packets, "mean_ms": mean_ms}))
    });
    Rows { delay_parts: rows.collect(), ..Rows::default() }
}

fn causes(keys: &str, rows: &Rows) -> Vec<Cause> {
    Facts::of(&scenario(&format!("{OURS}\n{GAME}\n{keys}")), rows).causes
}

/// A queue of our home in a direction.
fn queue(name: &str, direction: &str, more: &Value) -> Row {
    let mut queue = json!({"queue": name, "direction": direction, "homes": "ours"});
    queue.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    row(&queue)
}

#[test]
fn a_cause_has_what_was_counted_the_largest_first() {
    let counted = [
        (Up, "modem_queue", 14.0),
        (Up, "grant_wait", 5.0),
        (Up, "propagation", 6.0),
        (Up, "total", 25.0),
        (Down, "propagation", 6.0),
        (Down, "router", 3.0),
        (Down, "cmts_queue", 1.0),
        (Down, "total", 10.0),
    ];
    let found = causes("", &parts(50.0, &counted)).remove(0);
    assert_eq!(found.ways_ms, [(Up, 25.0), (Down, 10.0)]);
    assert_eq!(found.total_ms(), 35.0);
    let of: Vec<_> = found.parts.iter().map(|of| (of.part, of.ms)).collect();
    assert_eq!(
        of[..3],
        [(Part::ModemQueue, 14.0), (Part::Propagation, 12.0), (Part::GrantWait, 5.0)]
    );
    assert_eq!(
        found.sentence(),
        "traffic.x takes 25.0 ms up and 10.0 ms down on average: 14.0 ms in the modem's queue, 12.0 ms of \
         propagation and 5.00 ms waiting for grants."
    );
    // Less than 50 packets have no cause, and traffic whose delay nobody notices has none.
    assert_eq!(causes("", &Rows::default()), []);
    assert_eq!(causes("", &parts(49.0, &counted)), []);
}

/// A tenth of all the time is named, less is not; queues of both directions are different ones.
#[test]
fn a_small_part_is_no_cause() {
    for (ms, queue, want) in [
        (2.0, "modem_queue", "18.0 ms of propagation and 2.00 ms in the modem's queue"),
        (1.9, "modem_queue", "18.1 ms of propagation"),
        (0.0, "modem_queue", "20.0 ms of propagation"),
        (6.0, "router_queue", "14.0 ms of propagation and 6.00 ms in the router's upstream queue"),
    ] {
        let rows =
            parts(900.0, &[(Up, queue, ms), (Up, "propagation", 20.0 - ms), (Up, "total", 20.0)]);
        let said = causes("", &rows)[0].sentence();
        assert_eq!(said, format!("traffic.x takes 20.0 ms up on average: {want}."));
    }
    let fibre = parts(900.0, &[(Up, "modem_queue", 2.0), (Up, "total", 2.0)]);
    let on_fibre = scenario(&format!("{GAME}\naccess.kind = 'fibre'"));
    let found = Facts::of(&on_fibre, &fibre).causes;
    assert_eq!(
        found[0].sentence(),
        "traffic.x takes 2.00 ms up on average: 2.00 ms in the upstream queue."
    );
}

/// The parts are of lost packets too, until these are lost.
#[test]
fn where_many_are_lost_the_time_is_that_until_then() {
    for (loss_percent, until) in [
        (0.0, ""),
        (2.0, ""),
        (2.1, " until packets arrive or are lost"),
        (31.0, " until packets arrive or are lost"),
    ] {
        let flows = both_ways("x", "game", &json!({"loss_percent": loss_percent}));
        let rows =
            Rows { flows, ..parts(900.0, &[(Up, "propagation", 20.0), (Up, "total", 20.0)]) };
        let want = format!("traffic.x takes 20.0 ms up on average{until}: 20.0 ms of propagation.");
        assert_eq!(causes("", &rows)[0].sentence(), want);
    }
}

#[test]
fn an_algorithm_that_did_nothing_is_named_with_its_target() {
    let run_of = |ways: &[(&str, f64, f64)], member: Option<&str>| {
        let row = |(way, dropped, marked): &(&str, f64, f64)| {
            let values = json!({"dropped_aqm_packets": dropped, "marked_packets": marked,
                "sojourn_p99_ms": 3.25, "member": member});
            queue(&format!("{way}stream"), way, &values)
        };
        let sets = ["upstream.queue.law.kind=codel", "downstream.queue.law.kind=codel"];
        let codel = scenario_of(&format!("{OURS}\n{UPLOAD}"), &sets);
        let queues = ways.iter().map(row).collect();
        Facts::of(&codel, &Rows { queues, ..Rows::default() })
    };
    let run = |dropped, marked, member| run_of(&[("up", dropped, marked)], member);
    let said = |one: &Facts, other: &Facts| {
        let found = verdict(&[group("a", one), group("b", other)], &[]).sentences;
        let idle = found.into_iter().filter(|one| one.contains("dropped nothing"));
        idle.collect::<Vec<_>>()
    };
    let idle = run(0.0, 0.0, None);
    let why = "codel dropped nothing: in upstream, its longest queue, 99 % of packets wait at most 3.25 ms, and its \
               target is 5.00 ms.";
    // Each setting is named once, also beside others that did something.
    assert_eq!(said(&idle, &idle), [format!("With a and b, {why}")]);
    for (dropped, marked) in [(1.0, 0.0), (0.0, 1.0), (1.0, 1.0)] {
        let busy = run(dropped, marked, None);
        assert_eq!(said(&busy, &idle), [format!("With b, {why}")]);
        assert_eq!(said(&busy, &busy), [""; 0]);
    }
    // What a router's queue does is not its doing, and a full queue is said.
    let router = |overflows: f64| {
        let sets = [
            "upstream.queue.law.kind=codel",
            "router.upstream={rate_mbps=4, queue.scheduler.kind='cake'}",
        ];
        let row = |(name, dropped, p99_ms): (&str, f64, f64)| {
            let values = json!({"dropped_aqm_packets": dropped, "marked_packets": 0.0, "homes": "home",
                "sojourn_p99_ms": p99_ms, "dropped_overflow_packets": overflows});
            queue(name, "up", &values)
        };
        let queues = [("router upstream", 9.0, 30.0), ("upstream", 0.0, 3.25)].map(row).to_vec();
        let scenario = scenario_of(&format!("{GAME}\n{UPLOAD}"), &sets);
        Facts::of(&scenario, &Rows { queues, ..Rows::default() })
    };
    assert_eq!(said(&router(0.0), &router(0.0)), [format!("With a and b, {why}")]);
    let full = why.replace("nothing: ", "nothing, and packets found the queue full: ");
    assert_eq!(said(&router(2.0), &router(2.0)), [format!("With a and b, {full}")]);
    let member = run(0.0, 0.0, Some("classic"));
    assert_eq!(said(&member, &member), [""; 0]);
    // What did something in one direction was of use.
    let other_way = run_of(&[("up", 1.0, 0.0), ("down", 0.0, 0.0)], None);
    assert_eq!(said(&other_way, &other_way), [""; 0]);
}

/// Of several queues of one algorithm that in which packets wait longest is named, as tables name it.
#[test]
fn an_algorithm_that_did_nothing_in_several_queues_is_named_once() {
    let sets = ["upstream.queue.law.kind=codel", "homes.theirs.count=2"];
    let codel = scenario_of(&format!("{OURS}\n{UPLOAD}"), &sets);
    let queue = |(name, homes, p99_ms): (&str, &str, f64)| {
        row(&json!({"queue": name, "direction": "up", "homes": homes, "marked_packets": 0.0,
            "dropped_aqm_packets": 0.0, "sojourn_p99_ms": p99_ms}))
    };
    for [one, other] in [[3.0, 7.0], [7.0, 3.0]] {
        let queues = [("upstream", "ours", one), ("theirs upstream", "theirs", other)];
        let queues = queues.map(queue).to_vec();
        let facts = Facts::of(&codel, &Rows { queues, ..Rows::default() });
        let found = verdict(&[group("a", &facts), group("b", &facts)], &[]).sentences;
        let said: Vec<_> = found.iter().filter(|one| one.contains("dropped nothing")).collect();
        let longest = if one > other { "in upstream, " } else { "in theirs upstream, " };
        assert!(said.len() == 1 && said[0].contains(longest), "{said:?}");
        assert!(said[0].contains("at most 7.00 ms, though its target"), "{said:?}");
    }
}

/// What neighbours' queue managers did is of use, and their queues are not named.
#[test]
fn an_algorithm_that_drops_at_neighbours_has_done_something() {
    let sets = ["upstream.queue.law.kind=codel", "homes.theirs.count=2", "metrics.homes=ours"];
    let codel = scenario_of(&format!("{OURS}\n{UPLOAD}"), &sets);
    let said = |at_neighbours: f64| {
        let row = |(homes, dropped): (&str, f64)| {
            row(&json!({"queue": homes, "direction": "up", "homes": homes, "marked_packets": 0.0,
                "dropped_aqm_packets": dropped, "sojourn_p99_ms": dropped + 3.25}))
        };
        let queues = [("ours", 0.0), ("theirs", at_neighbours)].map(row).to_vec();
        let facts = Facts::of(&codel, &Rows { queues, ..Rows::default() });
        let found = verdict(&[group("a", &facts), group("b", &facts)], &[]).sentences;
        found.iter().filter(|one| one.contains("dropped nothing")).count()
    };
    assert_eq!([said(0.0), said(1.0)], [1, 0]);
}

/// A measure of rows like these.
fn measured(key: &str, keys: &str, rows: &Rows) -> Option<Option<f64>> {
    let text = format!("{OURS}\n{keys}");
    Facts::of(&scenario(&text), rows).measures.get(key).copied()
}

#[test]
fn measures_are_of_the_worst_row_or_the_sum_of_rates() {
    let rows = Rows {
        flows: vec![
            flow("x", "up", &json!({"quality": "game", "rtt_p90_ms": 20.0, "rtt_p999_ms": 90.0})),
            flow("x", "down", &json!({"quality": "game", "rtt_p90_ms": 30.0})),
            flow(
                "one",
                "up",
                &json!({"quality": "game", "latency_p90_ms": 7.0, "rtt_p90_ms": 99.0,
                "latency_p999_ms": 9.0}),
            ),
            flow("x", "up", &json!({"quality": "voice", "mos": 4.3})),
            flow("x", "down", &json!({"quality": "voice", "mos": 4.1})),
            flow("up", "up", &json!({"rate_mbps": 3.0})),
            flow("more", "up", &json!({"rate_mbps": 1.5})),
            flow("up", "down", &json!({"rate_mbps": 0.25})),
            flow("get", "down", &json!({"rate_mbps": 9.0})),
        ],
        queues: vec![
            queue("upstream", "up", &json!({"sojourn_p99_ms": 40.0})),
            queue("router upstream", "up", &json!({"sojourn_p99_ms": 50.0})),
            queue("downstream", "down", &json!({"sojourn_p99_ms": 60.0})),
            queue("upstream", "up", &json!({"sojourn_p99_ms": 2.0, "member": "low_latency"})),
            queue("upstream", "up", &json!({"sojourn_p99_ms": 70.0, "member": "classic"})),
            queue("downstream", "down", &json!({"sojourn_p99_ms": 80.0, "member": "classic"})),
        ],
        ..Rows::default()
    };
    let traffic = format!(
        "{GAME}
         traffic.one = {{ kind = 'stream', purpose = 'game', server = 'near', direction = 'up' }}
         traffic.up = {{ kind = 'transfer', server = 'near' }}
         traffic.more = {{ kind = 'transfer', server = 'near' }}
         traffic.get = {{ kind = 'transfer', server = 'near', direction = 'down' }}"
    );
    for (key, want) in [
        ("game_rtt_p90_ms", Some(Some(30.0))),
        ("game_rtt_p50_ms", Some(None)),
        ("game_latency_p90_ms", Some(Some(7.0))),
        ("voice_mos", Some(Some(4.1))),
        ("upload_mbps", Some(Some(4.5))),
        ("download_mbps", Some(Some(9.0))),
        ("torrent_mbps", None),
        ("upstream_queue_p99_ms", Some(Some(50.0))),
        ("downstream_queue_p99_ms", Some(Some(60.0))),
        ("low_latency_queue_p99_ms", Some(Some(2.0))),
        ("classic_queue_p99_ms", Some(Some(70.0))),
        // The far tail of games counts beside a low-latency queue alone.
        ("game_rtt_p999_ms", Some(Some(90.0))),
        ("game_latency_p999_ms", Some(Some(9.0))),
    ] {
        assert_eq!(measured(key, &traffic, &rows), want, "{key}");
    }
    let mut apart = rows;
    apart.queues.truncate(3);
    assert_eq!(measured("game_rtt_p999_ms", &traffic, &apart), None);
    assert_eq!(measured("game_latency_p999_ms", &traffic, &apart), None);
}

#[test]
fn the_delay_of_frames_is_known_where_half_of_them_came() {
    for (incomplete, want) in [(50.0, Some(120.0)), (50.1, None)] {
        let values =
            json!({"frame_latency_p90_ms": 120.0, "frames_incomplete_percent": incomplete});
        let facts = facts(GAME, "video_call", &values);
        assert_eq!(facts.measures["video_call_latency_p90_ms"], want, "{incomplete}");
    }
}

const GET: &str = "traffic.x = { kind = 'transfer', direction = 'down', server = 'near' }";

#[test]
fn a_queue_is_graded_where_it_stands_or_is_loaded() {
    use Grade::{Fair, Good, Poor};
    let of = |traffic: &str, queues: &[(f64, f64, f64)]| {
        let queues = queues.iter().map(|(mean_ms, p90_ms, departed)| {
            row(&json!({"queue": "q", "direction": "up", "sojourn_mean_ms": mean_ms,
                "sojourn_p99_ms": 40.0, "sojourn_p90_ms": p90_ms, "departed_packets": departed}))
        });
        let flow = row(&json!({"traffic": "upload", "direction": "up"}));
        let flows = if traffic == GET { vec![] } else { vec![flow] };
        let found =
            assessed(traffic, &[], &Rows { flows, queues: queues.collect(), ..Rows::default() });
        found.iter().find(|one| one.application == "upstream queue").map(|one| one.grade.unwrap())
    };
    for (traffic, queues, want) in [
        (UPLOAD, &[(30.0, 9.0, 50.0)][..], Some(Good)),
        (UPLOAD, &[(30.1, 9.0, 50.0)], Some(Fair)),
        (UPLOAD, &[(60.0, 9.0, 50.0)], Some(Fair)),
        (UPLOAD, &[(60.1, 9.0, 50.0)], Some(Poor)),
        // The longest counts, if enough packets left it.
        (UPLOAD, &[(5.0, 9.0, 50.0), (90.0, 9.0, 50.0)], Some(Poor)),
        (UPLOAD, &[(5.0, 9.0, 50.0), (90.0, 9.0, 49.0)], Some(Good)),
        // Without a load one packet in ten waits longer than a game may, or there is no grade.
        (GET, &[(9.0, 20.1, 50.0)], Some(Good)),
        (GET, &[(9.0, 20.0, 50.0)], None),
    ] {
        assert_eq!(of(traffic, queues), want, "{queues:?}");
    }
}

#[test]
fn what_never_stalled_since_it_began_too_late_stalled_all_the_time() {
    for (stalled, start_s, want) in
        [(None, 10.1, Some(100.0)), (Some(0.5), 10.1, Some(0.5)), (None, 10.0, None)]
    {
        let values = json!({"video_stalled_percent": stalled, "video_start_wait_s": start_s});
        let found = only(&facts(GAME, "video", &values));
        assert_eq!(found.values["video_stalled_percent"], want);
    }
}

#[test]
fn entries_are_what_homes_have_of_it_and_whether_anything_came() {
    let traffic = "
        homes.ours.count = 1
        homes.theirs.count = 2
        traffic.one = { kind = 'transfer', server = 'near', home = 'ours' }
        traffic.two = { kind = 'transfer', server = 'near', home = 'ours', connections = 2 }
        traffic.many = { kind = 'transfer', server = 'near', home = 'theirs', direction = 'down' }
        traffic.none = { kind = 'torrent', servers = ['near'], home = 'ours' }
        traffic.game = { kind = 'stream', purpose = 'game', server = 'near', home = 'ours' }
    ";
    let flow = |traffic: &str, mbps: f64| rate(traffic, "up", mbps);
    let flows = vec![flow("one", 1.0), flow("two", 2.0), flow("many", 0.1), flow("none", 0.0)];
    let facts = of_flows(traffic, flows);
    let found: Vec<_> = facts
        .traffic
        .iter()
        .map(|one| (one.name.as_str(), one.is_several, one.sent, one.graded))
        .collect();
    assert_eq!(
        found,
        [
            ("one", false, true, true),
            ("two", true, true, true),
            ("many", true, true, true),
            ("none", false, true, true),
            ("game", false, false, false),
        ]
    );
    assert_eq!(facts.loaded().collect::<Vec<Direction>>(), [Up, Down]);
    let up = game_and_upload(12.0, 10.0, Some(5.0));
    assert_eq!(up.loaded().collect::<Vec<Direction>>(), [Up]);
    let none = Facts::of(&scenario(GAME), &Rows::default());
    assert_eq!(none.loaded().count(), 0);
}
