//! What grades read from rows, each at its bound and with its arithmetic.

use super::*;
use sojourn::results::verdict::Transfer;

#[test]
fn a_call_is_as_good_as_its_worse_end() {
    let end = |way, mos, late, loss| {
        flow(
            "x",
            way,
            &json!({"quality": "voice", "latency_mean_ms": 10.0, "mos": mos,
            "late_percent": late, "loss_percent": loss}),
        )
    };
    for flows in [
        vec![end("up", 4.3, 0.5, 1.5), end("down", 3.5, 2.5, 0.1)],
        vec![end("up", 3.5, 2.5, 0.1), end("down", 4.3, 0.5, 1.5)],
    ] {
        let found = assessed(GAME, &[], &Rows { flows, ..Rows::default() });
        assert_eq!(
            found[0].summary,
            "the mean opinion score is 3.50 on a scale from 1 (bad) to 5 (excellent); 2.5 % of packets come too \
             late, 1.5 % are lost"
        );
    }
}

#[test]
fn a_video_has_to_play_for_ten_seconds_of_those_that_are_counted() {
    // It begins within 10 to 12 s, or had begun, and after 4 s of waiting 10 are left.
    let traffic =
        "traffic.x = { kind = 'video', server = 'near', start_s = 10, start_spread_s = 2 }";
    for (from, until) in [(0, 26), (5, 26), (11, 26), (15, 29)] {
        for (wait_s, grade) in [(4.0, Some(Grade::Fair)), (4.5, None), (10.1, Some(Grade::Poor))] {
            let values = json!({"video_stalled_percent": 0.0, "video_start_wait_s": wait_s});
            let rows = Rows { flows: both_ways("x", "video", &values), ..Rows::default() };
            let sets = [format!("metrics.from_s={from}"), format!("duration_s={until}")];
            let found = assessed(traffic, &sets.each_ref().map(String::as_str), &rows);
            assert_eq!(named(&found, "video").unwrap().grade, grade, "{from} {wait_s}");
        }
    }
}

#[test]
fn a_queue_is_loaded_in_the_direction_of_the_payload_alone() {
    let download = "traffic.get = { kind = 'transfer', server = 'near', direction = 'down' }";
    for (traffic, name, way, want) in [
        (UPLOAD, "upload", "up", Some(Grade::Good)),
        (download, "get", "up", None),
        (GAME, "x", "up", None),
    ] {
        let queue = row(
            &json!({"queue": "q", "direction": "up", "sojourn_mean_ms": 9.0, "sojourn_p99_ms": 20.0}),
        );
        let rows = Rows {
            flows: vec![flow(name, way, &json!({}))],
            queues: vec![queue],
            ..Rows::default()
        };
        let found = assessed(traffic, &[], &rows);
        let found = named(&found, "upstream queue").map(|one| one.grade.unwrap());
        assert_eq!(found, want, "{name} {way}");
    }
}

/// What an upload gets in percent of what it may have.
fn share_percent(traffic: &str, sets: &[&str], rates: &[(&str, &str, f64)]) -> f64 {
    let rows = Rows {
        flows: rates.iter().map(|(name, way, mbps)| rate(name, way, *mbps)).collect(),
        ..Rows::default()
    };
    let found = assessed(traffic, sets, &rows);
    named(&found, "upload").unwrap().values["share_percent"].unwrap()
}

const GOLD: [&str; 1] = ["upstream.flows.gold.sustained_mbps=2"];

#[test]
fn an_upload_may_have_what_each_part_of_its_way_carries() {
    // 5 Mbps and 10 Mbit of burst are 310 Mbit in 60 s.
    let far = "servers.far = { delay_ms = 9, rate_mbps = 1 }
               traffic.more = { kind = 'transfer', server = 'far' }";
    let again = "traffic.more = { kind = 'transfer', server = 'near' }";
    for (more, sets, rates, allowed_mbit) in [
        ("", &[][..], &[("upload", "up", 1.0)][..], 310.0),
        ("", &["upstream.peak_mbps=5.1"], &[("upload", "up", 1.0)], 306.0),
        ("", &["core.x.upstream.rate_mbps=2"], &[("upload", "up", 1.0)], 120.0),
        ("", &["core.x.downstream.rate_mbps=2"], &[("upload", "up", 1.0)], 310.0),
        ("", &["servers.near.rate_mbps=2"], &[("upload", "up", 1.0)], 120.0),
        // An access line that carries less over time: 25 s of 2 and 10 of 4 Mbps, and 25 of 2 again.
        (
            "",
            &[
                "upstream.modem.kind=link",
                "upstream.capacity.steps=[{for_s=25,mbps=2},{for_s=10,mbps=4}]",
            ],
            &[("upload", "up", 1.0)],
            140.0,
        ),
        (
            "",
            &["upstream.modem.kind=link", "upstream.capacity.steps=[{for_s=60,mbps=80}]"],
            &[("upload", "up", 1.0)],
            310.0,
        ),
        ("", &["upstream.stalls=[{start_s=10,length_s=15}]"], &[("upload", "up", 1.0)], 232.5),
        (
            "",
            &["upstream.stalls=[{start_s=10,length_s=5,every_s=20}]"],
            &[("upload", "up", 1.0)],
            232.5,
        ),
        (
            "",
            &["upstream.congestion.steps=[{for_s=10,mbps=2},{for_s=10,mbps=4}]"],
            &[("upload", "up", 1.0)],
            180.0,
        ),
        (
            "",
            &["upstream.congestion={levels_mbps=[1,2,3,4],step_s=5}"],
            &[("upload", "up", 1.0)],
            150.0,
        ),
        // A router's shaper is a choice and no part of the line.
        ("", &["router.upstream.rate_mbps=2"], &[("upload", "up", 1.0)], 310.0),
        // A service flow carries what classifiers give it, and the primary one the rest.
        (
            "",
            &[GOLD[0], "upstream.flows.gold.match=[{traffic='upload'}]"],
            &[("upload", "up", 1.0)],
            120.0,
        ),
        (
            "",
            &[GOLD[0], "upstream.flows.gold.match=[{dscp=[46,46]}]"],
            &[("upload", "up", 1.0)],
            310.0,
        ),
        (
            again,
            &[GOLD[0], "upstream.flows.gold.match=[{traffic='more'}]"],
            &[("upload", "up", 1.0), ("more", "up", 0.5)],
            310.0,
        ),
        // Each is due what its own server carries, and both a fair part of what they share.
        (far, &["servers.near.rate_mbps=2"], &[("upload", "up", 1.0), ("more", "up", 0.9)], 120.0),
        (again, &["servers.near.rate_mbps=2"], &[("upload", "up", 1.0), ("more", "up", 1.0)], 60.0),
    ] {
        let found = share_percent(&format!("{UPLOAD}\n{more}"), sets, rates);
        assert!((found - 6000.0 / allowed_mbit).abs() < 1e-9, "{sets:?} {more}: {found}");
    }
}

/// On a channel a home is due what its own profile lets the channel carry.
#[test]
fn a_part_of_a_channel_follows_the_profile() {
    let due_mbps = |bits: f64| {
        let bits = format!("upstream.profile_bits={bits}");
        let sets = ["upstream={sustained_mbps=3000, modem.kind='shared_channel'}", &bits];
        let ofdma = "upstream_channel.phy.kind = 'ofdma'\nservers.near.rate_mbps = 9000";
        let traffic = format!("{UPLOAD}\n{ofdma}");
        1.0 / (share_percent(&traffic, &sets, &[("upload", "up", 1.0)]) / 100.0)
    };
    let whole_mbps = due_mbps(10.0);
    for bits in [2.0, 4.0, 5.0, 8.0] {
        let ratio = due_mbps(bits) / whole_mbps;
        assert!((ratio / (bits / 10.0) - 1.0).abs() < 0.12, "{bits} bits: {ratio}");
    }
}

/// What pauses, or runs in homes that begin when they like, is measured while others rest: no rate is more than its part,
/// and no sentence says that it is.
#[test]
fn what_takes_turns_has_no_more_than_its_part() {
    for keys in
        ["file_bytes = 300_000, pause_s = 5", "file_bytes = 9_000_000", "start_spread_s = 20"]
    {
        let traffic = format!(
            "homes.ours.count = 3\ntraffic.upload = {{ kind = 'transfer', server = 'near', {keys} }}"
        );
        for mbps in [0.5, 5.0, 14.0, 15.6, 40.0] {
            let mut own = rate("upload", "up", mbps);
            own.0.extend(
                json!({"under_way_s": 11.0, "transfer_time_mean_s": 1.0})
                    .as_object()
                    .unwrap()
                    .clone(),
            );
            let facts = of_flows(&traffic, vec![own]);
            let found = alone(&facts).groups.remove(0);
            let [Transfer { share, .. }] = &found.transfers[..] else { panic!("{keys}") };
            assert!(share.mbps <= share.part_mbps, "{keys}: {share:?}");
            let said = &named(&found.assessments, "upload").unwrap().summary;
            let rate = said.split(", ").nth(1).expect("a rate behind the share");
            assert_eq!(rate.contains(" of "), share.mbps < share.part_mbps, "{keys}: {said}");
        }
    }
}

#[test]
fn an_upload_is_due_what_light_traffic_of_its_direction_and_homes_leaves() {
    let torrent = "traffic.t = { kind = 'torrent', servers = ['near'] }";
    let homes = "homes.a.count = 1\nhomes.b.count = 2
                 traffic.b = { kind = 'transfer', server = 'near', home = 'b' }
                 traffic.a = { kind = 'transfer', server = 'near', home = 'a' }
                 traffic.light = { kind = 'stream', purpose = 'game', server = 'near', home = 'b' }";
    let game = format!("{GAME}\n{UPLOAD}");
    let late =
        &format!("{UPLOAD}\ntraffic.late = {{ kind = 'transfer', server = 'near', start_s = 20 }}");
    for (traffic, sets, rates, want) in [
        // 310 Mbit, of which 39 go to the game.
        (game.as_str(), &[][..], &[("upload", "up", 4.0), ("x", "up", 0.65)][..], 24_000.0 / 271.0),
        (&game, &[], &[("upload", "up", 4.65), ("x", "down", 9.0)], 90.0),
        // Light traffic excuses half at most, and nothing is more than all.
        (&game, &[], &[("upload", "up", 0.5), ("x", "up", 4.0)], 3000.0 / 155.0),
        (&game, &[], &[("upload", "up", 9.0)], 100.0),
        // Alone for 20 s it is due 110 Mbit, and then 100 of 200; the later one has 60 of its 100.
        (late, &[], &[("upload", "up", 3.0), ("late", "up", 1.5)], 60.0),
        // A torrent yields, so what it takes the upload lacks.
        (&format!("{UPLOAD}\n{torrent}"), &[], &[("upload", "up", 2.325), ("t", "up", 2.0)], 45.0),
        // One home may have 310 Mbit and two 620; what is worse counts.
        (homes, &[], &[("a", "up", 2.325), ("b", "up", 9.3)], 45.0),
        (homes, &[], &[("a", "up", 4.65), ("b", "up", 4.65)], 45.0),
        (
            homes,
            &[],
            &[("a", "up", 4.65), ("b", "up", 2.325), ("light", "up", 2.325)],
            13_950.0 / 480.5,
        ),
        // From 20 s on 40 s of 5 Mbps and the burst are 210 Mbit, of which 50 counted seconds have 168.
        (
            UPLOAD,
            &["traffic.upload.start_s=20", "metrics.from_s=10"],
            &[("upload", "up", 4.2)],
            80.0,
        ),
    ] {
        let found = share_percent(traffic, sets, rates);
        assert!((found - want).abs() < 1e-9, "{rates:?}: {found}");
    }
}

/// Files are due a part of the line while they are under way, less what each takes to begin, and leave it to others then.
#[test]
fn a_file_that_is_late_has_less_of_its_part() {
    let shares = |keys: &str, under_way_s: f64, mbps: [f64; 2]| {
        let traffic = format!(
            "{UPLOAD}\ntraffic.file = {{ kind = 'transfer', server = 'near', file_bytes = 1_875_000, {keys} }}"
        );
        let mut file = rate("file", "up", mbps[1]);
        let times = json!({"under_way_s": under_way_s, "transfer_time_mean_s": 1.0});
        file.0.extend(times.as_object().unwrap().clone());
        let facts = of_flows(&traffic, vec![rate("upload", "up", mbps[0]), file]);
        let all = alone(&facts).groups.remove(0).transfers;
        assert_eq!([0, 1].map(|one| all[one].share.traffic.as_str()), ["upload", "file"]);
        [0, 1].map(|number| all[number].share.share_percent.unwrap())
    };
    // In its 10 s both are due 30 of 60 Mbit; of the 250 that follow all are the upload's. At 3 Mbps the file takes 5 s and
    // round trips of 28 ms: two, and those in which ten segments become 84 kbit.
    let start_up_s = 0.028 * (2.0 + (1.0 + 0.084 / 0.115_84_f64).log2());
    let file_mbps = 15.0 / (5.0 + start_up_s);
    for mbps in [0.5, 1.5, 2.5] {
        let [upload, file] = shares("", 10.0, [1.4, mbps]);
        assert!((upload - 30.0).abs() < 1e-9 && (file - 100.0 * mbps / file_mbps).abs() < 1e-9);
    }
    // Twice as late is half as good.
    let [[_, soon], [_, late]] =
        [(4.0, 2.0), (8.0, 1.0)].map(|(s, mbps)| shares("", s, [1.0, mbps]));
    assert!(late < 0.6 * soon, "{soon} {late}");
    // With pauses it sends 45 Mbit in 30 s, of which the upload lacks these alone.
    let [upload, file] = shares("pause_s = 1", 30.0, [2.65, 1.5]);
    assert!((upload - 60.0).abs() < 1e-9 && (58.0..61.0).contains(&file), "{upload} {file}");
}

/// A game with these mean round trips at its ends.
fn game_of(up_ms: f64, down_ms: f64, bulk: &str) -> Facts {
    let load = if bulk.is_empty() { "rtt_idle_mean_ms" } else { "rtt_up_mean_ms" };
    let end = |way, ms| flow("x", way, &json!({"quality": "game", load: ms}));
    let mut flows = vec![end("up", up_ms), end("down", down_ms)];
    if !bulk.is_empty() {
        flows.push(rate("upload", "up", 5.0));
    }
    of_flows(&format!("{GAME}\n{bulk}"), flows)
}

#[test]
fn a_letter_is_that_of_what_load_adds_at_the_end_that_is_slower() {
    let idle = game_of(8.0, 10.0, "");
    for (up_ms, down_ms, added, letter) in [
        (9.0, 8.0, "0.0", "A+"),
        (14.0, 9.0, "4.0", "A+"),
        (9.0, 15.0, "5.0", "A"),
        (15.0, 39.0, "29.0", "A"),
        (40.0, 15.0, "30.0", "B"),
        (40.0, 69.0, "59.0", "B"),
        (70.0, 69.0, "60.0", "C"),
        (70.0, 209.0, "199", "C"),
        (210.0, 209.0, "200", "D"),
        (210.0, 409.0, "399", "D"),
        (410.0, 409.0, "400", "F"),
    ] {
        let loaded = game_of(up_ms, down_ms, UPLOAD);
        let found = verdict(&[group("", &loaded), group("idle line", &idle)], &[]);
        let said = &named(&found.groups[0].assessments, "under load").unwrap().summary;
        let want = format!(
            "load adds {added} ms to the mean round trip of empty queues: {letter} on DSLReports' scale from A+ to F"
        );
        assert_eq!(said, &want);
    }
}

#[test]
fn of_several_films_the_one_counts_that_keeps_least_of_what_it_is_due() {
    let films = [("v", 8), ("w", 4)].map(|(name, mbps)| {
        format!("traffic.{name} = {{ kind = 'video', server = 'near', ladder_mbps = [{mbps}] }}")
    });
    for (rates, want) in
        [([Some(8.0), Some(3.0)], 75.0), ([Some(4.0), Some(4.0)], 50.0), ([Some(4.0), None], 0.0)]
    {
        let film = |(name, mbps)| {
            flow(name, "down", &json!({"quality": "video", "video_rate_mbps": mbps}))
        };
        let flows = ["v", "w"].into_iter().zip(rates).map(film).collect();
        let found = alone(&of_flows(&films.join("\n"), flows));
        let rate = named(&found.groups[0].assessments, "video rate").unwrap();
        assert_eq!(rate.values["kept_video_rate_percent"], Some(want));
    }
}

/// One of which few packets came has no grade, unless the other end is poor already. One that goes one way is graded by it,
/// unless bulk traffic goes the other way, of which it knows nothing.
#[test]
fn what_is_half_known_is_poor_or_has_no_grade() {
    let game = |name: &str, over_percent: f64, delivered: f64| {
        let values = json!({"over_20_ms_access_percent": 0.0, "delivered_packets": delivered,
            "over_80_ms_round_trip_percent": over_percent, "loss_percent": 0.0});
        both_ways(name, "game", &values)
    };
    let one_way =
        "traffic.one = { kind = 'stream', purpose = 'game', server = 'near', direction = 'up' }";
    let both = format!("{GAME}\n{one_way}");
    let with = |way: &str| {
        format!(
            "{one_way}\ntraffic.bulk = {{ kind = 'transfer', server = 'near', direction = '{way}' }}"
        )
    };
    for (traffic, flows, want) in [
        (GAME, game("x", 0.0, 50.0), Some(Grade::Good)),
        (GAME, game("x", 0.0, 49.0), None),
        (GAME, game("x", 20.0, 49.0), Some(Grade::Poor)),
        (one_way, game("one", 0.0, 50.0), Some(Grade::Good)),
        (one_way, game("one", 20.0, 50.0), Some(Grade::Poor)),
        (&with("up"), game("one", 0.0, 50.0), Some(Grade::Good)),
        (&with("down"), game("one", 0.0, 50.0), None),
        (&with("down"), game("one", 20.0, 50.0), None),
        (&both, [game("x", 0.0, 50.0), game("one", 0.0, 50.0)].concat(), Some(Grade::Good)),
        (&both, [game("x", 20.0, 50.0), game("one", 0.0, 50.0)].concat(), Some(Grade::Poor)),
    ] {
        let found = assessed(traffic, &[], &Rows { flows, ..Rows::default() });
        let game = named(&found, "game").unwrap();
        assert_eq!(game.grade, want, "{traffic}");
        let few = "fewer than 50 packets of traffic.x arrived";
        assert_eq!(game.summary == few, want.is_none() && traffic == GAME);
    }
}

/// A line that stops drops nothing. Of 50 packets a second 1 000 had come when it stopped, 20 s before the end: what was sent
/// in the last 0.4 s may still come, and 980 of 1 980 are given up.
#[test]
fn what_never_comes_is_lost() {
    for (delivered, summary) in [
        (1_980, "0.00 % are lost"),
        (1_979, "0.05 % are lost"),
        (1_000, "49.49 % are lost"),
        (0, "100 % are lost"),
    ] {
        let game = json!({"sent_packets": 2_000, "delivered_packets": delivered, "rtt_p90_ms": 24.0,
            "over_20_ms_access_percent": 0.0, "over_80_ms_round_trip_percent": 0.0, "loss_percent": 0.0});
        let rows = Rows { flows: both_ways("x", "game", &game), ..Rows::default() };
        let found = &assessed(GAME, &["duration_s=40"], &rows)[0];
        assert!(found.summary.contains(summary), "{delivered}: {}", found.summary);
    }
}

/// Nor does the listener of a call hear it, whose buffer does not adapt. Of 2 000 packets 1 200 had come, with R at 90; 2 000 / 40 *
/// 0.4 = 20 may still come, and 780 of 1 980 are given up. R falls by 30 * ln(1 + 15 * 0.394) = 58.0 (Cole & Rosenbluth), and at 32.0
/// the score is 1 + 0.035 * 32 + 32 * (32 - 60) * (100 - 32) * 7e-6 = 1.69. Of a buffer that adapts the score is as measured.
#[test]
fn what_never_comes_is_not_heard() {
    for (playout, summary) in [("fixed", "opinion score is 1.69"), ("adaptive", "score is 4.34")] {
        let call = json!({"sent_packets": 2_000, "delivered_packets": 1_200, "loss_percent": 0.0, "late_percent": 0.0,
            "concealed_percent": 0.0, "r_value": 90.0, "mos": 4.34});
        let rows = Rows { flows: both_ways("x", "voice", &call), ..Rows::default() };
        let traffic = format!(
            "traffic.x = {{ kind = 'stream', purpose = 'voice', server = 'near', playout = '{playout}' }}"
        );
        let found = &assessed(&traffic, &["duration_s=40"], &rows)[0];
        assert!(found.summary.contains(summary), "{playout}: {}", found.summary);
        assert!(found.summary.contains("39.4 % are lost"), "{}", found.summary);
    }
}

/// Nothing is due on a line that carries nothing, and a share of nothing is none.
#[test]
fn a_line_that_carries_nothing_gives_no_grade() {
    let outage = "upstream.ranging_outages=[{ start_s = 0, length_s = 1000 }]";
    let rows = Rows { flows: vec![rate("upload", "up", 0.0002)], ..Rows::default() };
    let found = alone(&Facts::of(&scenario_of(UPLOAD, &[outage]), &rows));
    let upload = named(&found.groups[0].assessments, "upload").unwrap();
    assert_eq!((upload.grade, found.groups[0].transfers[0].grade), (None, None));
    assert!(upload.summary.starts_with("the line carries nothing in the time of traffic.upload"));
}

/// Packets may arrive and belong to no frame: then frames are what is missing.
#[test]
fn a_call_without_frames_says_so_where_its_packets_arrive() {
    let traffic = "traffic.x = { kind = 'video_call', server = 'near' }";
    for (packets, why) in [
        (900.0, "no datagram of traffic.x has the number of a frame (frame=)"),
        (0.0, "no packet was delivered"),
    ] {
        let found = facts(traffic, "video_call", &json!({"delivered_packets": packets}));
        let said = alone(&found).sentences;
        let want = format!("Video call is not graded: {why}.");
        assert!(said.contains(&want), "{said:?}");
    }
}

/// Probes may take a part of the goodput of the slower direction: a longer run is no remedy where that allows few.
#[test]
fn a_test_of_responsiveness_says_why_it_has_few_probes() {
    let test = |limit_s: u32| {
        let keys = format!(
            "kind = 'responsiveness', server = 'near', interval_s = 1, limit_s = {limit_s}"
        );
        format!("traffic.x = {{ {keys} }}")
    };
    let said_of = |limit_s: u32, up_mbps: f64, down_mbps: f64| {
        let row = |(way, mbps): (&str, f64)| {
            // Counted over 60 s, of which it goes on for 10.
            flow(
                "x",
                way,
                &json!({"quality": "responsiveness", "rpm_confidence": "low",
                "goodput_mbps": mbps / 6.0, "under_way_s": 10.0}),
            )
        };
        let flows = [("up", up_mbps), ("down", down_mbps)].map(row).to_vec();
        only(&of_flows(&test(limit_s), flows)).summary
    };
    let said = |up_mbps, down_mbps| said_of(10, up_mbps, down_mbps);
    let few = "traffic.x had fewer than 4 intervals with probes";
    let more = "or a shorter interval_s, gives it more";
    assert_eq!(said(5.0, 15.0), format!("{few}; a larger limit_s, {more}"));
    assert_eq!(said_of(100, 5.0, 15.0), format!("{few}; a longer run, {more}"));
    // Two probes of 24 kbit in an interval of a second are 48 of 270 kbps.
    let since = format!("{few}, since these may take 5 % (probe_percent) of its goodput");
    assert_eq!(said(0.27, 15.0), format!("{since} up, 0.270 Mbps"));
    assert_eq!(said(15.0, 0.27), format!("{since} down, 0.270 Mbps"));
}
