//! Calls that adapt, in the test cases of RFC 8867 with each control, and games that a server plays, by arithmetic.

use crate::common::{flow, scenario, sentences};
use sojourn::Simulation;
use sojourn::results::metrics::Results;
use sojourn::scenario::json_schema;

/// A path with 50 ms one way, as RFC 8867 §4.2 has it, whose rate upstream follows these steps of seconds and Mbps. Its
/// queue takes 300 ms of 1 Mbps.
fn path(steps: &[(f64, f64)], keys: &str) -> Results {
    let duration_s: f64 = steps.iter().map(|step| step.0).sum();
    let steps =
        steps.iter().map(|(for_s, mbps)| format!("{{ for_s = {for_s:?}, mbps = {mbps:?} }}"));
    Simulation::run(&scenario(&format!(
        "duration_s = {duration_s}
         cable.distance_km = 0
         upstream = {{ sustained_mbps = 100, peak_mbps = 100, modem.kind = 'link' }}
         downstream = {{ sustained_mbps = 100, peak_mbps = 100 }}
         router.upstream = {{ capacity.steps = [{}], queue.limit_bytes = 37_500 }}
         servers.far = {{ delay_ms = 50, host_jitter_us = 0 }}
         {keys}",
        steps.collect::<Vec<_>>().join(", ")
    )))
}

/// Every control of a call.
const CONTROLS: [&str; 2] = ["gcc", "scream"];

/// A call up with a control, up to 1.5 Mbps (RFC 8867 §4.3), that begins at this time.
fn call(control: &str, name: &str, start_s: f64, keys: &str) -> String {
    format!(
        "traffic.{name} = {{ kind = 'video_call', control = '{control}', direction = 'up', server = 'far',
                             max_mbps = 1.5, start_s = {start_s:?}{keys} }}\n"
    )
}

#[track_caller]
fn assert_near(found: Option<f64>, want: f64, tolerance: f64) {
    let found = found.unwrap();
    assert!((found - want).abs() <= tolerance, "{found} instead of {want}");
}

/// The mean rate of a call on its way between these times in Mbps.
fn mbps(results: &Results, name: &str, [from_s, to_s]: [f64; 2]) -> f64 {
    let subject = format!("{name} up");
    let is_it = |of: &&sojourn::results::metrics::SeriesRow| {
        of.subject == subject && of.series.metric == "throughput"
    };
    let row = results.series.iter().find(is_it).unwrap();
    let [from, to] = [from_s, to_s].map(|s| (s / row.interval_s).round() as usize);
    let values = &row.series.values[from..to.min(row.series.values.len())];
    values.iter().map(|value| f64::from(*value)).sum::<f64>() / values.len() as f64
}

/// What a call has of a rate, in parts of it.
#[track_caller]
fn assert_has(results: &Results, name: &str, times: [f64; 2], of_mbps: f64, least: f64) {
    let part = mbps(results, name, times) / of_mbps;
    // Sizes of frames vary, and there may be reports on what comes back.
    assert!((least..=1.03).contains(&part), "{name} from {times:?} s: {part:.3} of {of_mbps} Mbps");
}

/// RFC 8867 §5.1: the rate is to follow the capacity, and the delay and the loss are to stay low. 2.5 Mbps are more than
/// the call takes.
#[test]
fn one_call_follows_the_capacity() {
    for control in CONTROLS {
        let results = path(
            &[(40.0, 1.0), (20.0, 2.5), (20.0, 0.6), (20.0, 1.0)],
            &call(control, "one", 0.0, ""),
        );
        // Within seconds of the start it has found the rate, by probes.
        assert_has(&results, "one", [5.0, 40.0], 1.0, 0.75);
        assert_has(&results, "one", [50.0, 60.0], 1.5, 0.75);
        assert_has(&results, "one", [65.0, 80.0], 0.6, 0.7);
        assert_has(&results, "one", [90.0, 100.0], 1.0, 0.6);
        let row = flow(&results, "one", "up");
        // 53 ms are the path and the rest of it; half of the packets wait little, and the queue of 0.5 s at 0.6 Mbps was full
        // after the drop alone.
        assert!(row.latency_p50_ms < Some(90.0), "{:?}", row.latency_p50_ms);
        assert!(row.loss_percent < Some(1.0), "{:?}", row.loss_percent);
        let dn = flow(&results, "one", "down");
        assert!(dn.frame_latency_p50_ms.is_none() && dn.frames_incomplete_percent.is_none());
        // A report each 50 ms, as 5 % of the rate is more than that takes: 2000 in 100 s. SCReAM has one with each of 30 frames a
        // second, and at most one each 40 ms beside these.
        let reports = if control == "gcc" { 1900..=2000 } else { 2900..=5500 };
        assert!(reports.contains(&dn.delivered_packets), "{}", dn.delivered_packets);
    }
}

/// RFC 8867 §5.2: two calls share 4, 2, 3.5, 1 and 2 Mbps.
#[test]
fn two_calls_share_a_capacity_that_varies() {
    for control in CONTROLS {
        let steps = [(25.0, 4.0), (25.0, 2.0), (25.0, 3.5), (25.0, 1.0), (25.0, 2.0)];
        let results =
            path(&steps, &(call(control, "one", 0.0, "") + &call(control, "two", 0.0, "")));
        for (times, of_mbps) in [([5.0, 25.0], 3.0), ([30.0, 50.0], 2.0), ([80.0, 100.0], 1.0)] {
            let both = mbps(&results, "one", times) + mbps(&results, "two", times);
            assert!((0.7..=1.01).contains(&(both / of_mbps)), "{times:?}: {both} of {of_mbps}");
        }
        for name in ["one", "two"] {
            let loss = flow(&results, name, "up").loss_percent;
            assert!(loss < Some(5.0), "{name}: {loss:?}");
        }
    }
}

/// RFC 8867 §5.3: calls in both directions, whose reports share the way with frames. The path back has the steps.
#[test]
fn reports_may_wait_in_a_queue_of_frames() {
    for control in CONTROLS {
        let both = format!(
        "traffic.one = {{ kind = 'video_call', control = '{control}', server = 'far', max_mbps = 1.5 }}
         router.downstream = {{ rate_mbps = 2, queue.limit_bytes = 75_000 }}"
    );
        let steps = [(20.0, 2.0), (20.0, 1.0), (20.0, 0.5), (40.0, 2.0)];
        let results = path(&steps, &both);
        assert_has(&results, "one", [5.0, 20.0], 1.5, 0.75);
        assert_has(&results, "one", [25.0, 40.0], 1.0, 0.65);
        assert_has(&results, "one", [45.0, 60.0], 0.5, 0.6);
        // What comes down is not slowed by what its reports meet.
        assert!(flow(&results, "one", "down").throughput_mbps > 1.1);
    }
}

/// RFC 8867 §5.4: calls that begin one after the other on 3.5 Mbps come to parts of the same size, for which GCC needs
/// minutes: after two minutes nobody has less than a third of the greatest.
#[test]
fn calls_that_join_get_a_part() {
    for control in CONTROLS {
        let calls: String = [0.0, 20.0, 40.0]
            .iter()
            .zip(["a", "b", "c"])
            .map(|(at, name)| call(control, name, *at, ""))
            .collect();
        let results = path(&[(120.0, 3.5)], &calls);
        let parts = ["a", "b", "c"].map(|name| mbps(&results, name, [90.0, 120.0]));
        let [least, most] = [f64::min, f64::max].map(|of| parts.into_iter().reduce(of).unwrap());
        assert!(parts.iter().sum::<f64>() > 0.7 * 3.5 && least > most / 3.0, "{parts:?}");
    }
}

/// RFC 8867 §5.5: calls whose paths take 10 to 150 ms one way begin one after the other on 4 Mbps. None starves, whatever its
/// path: after some minutes each has more than a quarter of the greatest part with GCC. The window of SCReAM grows by a packet in
/// a round trip, and its rate is that window in a round trip: with some 20 ms of queue 40 ms have 8 times what 320 ms have.
#[test]
fn calls_over_paths_of_other_lengths_get_a_part() {
    for control in CONTROLS {
        let ways_ms = [10, 25, 50, 100, 150];
        let calls = ways_ms.iter().enumerate().map(|(number, ms)| {
            let call = call(control, &format!("after_{ms}"), 10.0 * number as f64, "");
            let call = call.replace("'far'", &format!("'s{ms}'"));
            format!("{call}servers.s{ms} = {{ delay_ms = {ms}, host_jitter_us = 0 }}\n")
        });
        let keys: String = calls.collect();
        let results = path(&[(300.0, 4.0)], &keys);
        let parts = ways_ms.map(|ms| mbps(&results, &format!("after_{ms}"), [200.0, 300.0]));
        let [least, most] = [f64::min, f64::max].map(|of| parts.into_iter().reduce(of).unwrap());
        let times = if control == "gcc" { 4.0 } else { 12.0 };
        assert!(parts.iter().sum::<f64>() > 0.7 * 4.0 && least > most / times, "{parts:?}");
    }
}

/// RFC 8867 §5.6: a call beside a long TCP upload on 2 Mbps is not to starve, as the threshold of over-use, or the target of
/// SCReAM, follows the queue that TCP keeps.
#[test]
fn a_call_does_not_starve_beside_an_upload() {
    for control in CONTROLS {
        let keys = call(control, "one", 0.0, "")
            + "traffic.up = { kind = 'transfer', server = 'far', start_s = 5 }";
        let results = path(&[(120.0, 2.0)], &keys);
        let has = mbps(&results, "one", [30.0, 120.0]);
        assert!((0.1..1.3).contains(&has), "{has}");
    }
}

/// RFC 8867 §5.7: a call on 2 Mbps beside ten senders of files of 100 kB to 1 MB with pauses of some 10 s. These want 44 Mbit
/// in each 15 s or so, more than the line, so the call falls to a part of it. When they end GCC grows by 8 % a second: from
/// 0.05 to 1.5 Mbps in ln(30) / ln(1.08) = 44 s. SCReAM adds a packet in a round trip.
#[test]
fn a_call_outlives_many_short_files() {
    for control in CONTROLS {
        let files = (1..=10).map(|number| {
            format!(
            "traffic.f{number} = {{ kind = 'transfer', server = 'far', file_bytes = {number}00_000,
                                   pause_s = {}, start_spread_s = 20, stop_s = 100 }}\n",
            5 + number
        )
        });
        let results =
            path(&[(180.0, 2.0)], &(files.collect::<String>() + &call(control, "one", 0.0, "")));
        let beside = mbps(&results, "one", [30.0, 100.0]);
        assert!((0.03..0.5).contains(&beside), "{beside}");
        assert_has(&results, "one", [150.0, 180.0], 1.5, 0.75);
        let loss = flow(&results, "one", "up").loss_percent;
        assert!(loss < Some(3.0), "{loss:?}");
    }
}

/// RFC 8867 §5.8: a call that pauses leaves its part to the others.
#[test]
fn a_call_that_stops_leaves_its_part() {
    for control in CONTROLS {
        let calls = call(control, "one", 0.0, "") + &call(control, "two", 0.0, ", stop_s = 40");
        let results = path(&[(80.0, 1.6)], &calls);
        assert!(mbps(&results, "one", [20.0, 40.0]) < 1.2);
        assert_has(&results, "one", [60.0, 80.0], 1.5, 0.75);
        assert_eq!(mbps(&results, "two", [41.0, 80.0]), 0.0);
        // Nothing is shown of a call that is over, so nothing is frozen then.
        assert!(flow(&results, "two", "up").frozen_percent < Some(5.0));
    }
}

/// On an idle line a call takes what its pictures need; layers take theirs too, and a line that is too slow for one has
/// padding up to where it begins.
#[test]
fn pictures_and_layers_follow_the_rate() {
    for control in CONTROLS {
        let of = |mbps: f64, keys: &str| {
            let call = format!(
            "traffic.one = {{ kind = 'video_call', control = '{control}', direction = 'up', server = 'far'{keys} }}
             metrics.from_s = 20"
        );
            let results = path(&[(60.0, mbps)], &call);
            let row = flow(&results, "one", "up");
            (row.throughput_mbps, row.picture_height_percent.unwrap())
        };
        let (mbps, height) = of(10.0, "");
        assert!((2.4..2.6).contains(&mbps) && height == 100.0, "{mbps} {height}");
        // Three layers take 0.15 + 0.5 + 2.5 Mbps.
        let (mbps, height) = of(10.0, ", layers = 3");
        assert!((3.0..3.25).contains(&mbps) && height == 100.0, "{mbps} {height}");
        // 0.5 Mbps: a picture alone has 360 to 540 lines of 720; of three layers 360.
        let (mbps, height) = of(0.5, "");
        assert!((0.35..0.5).contains(&mbps) && (49.0..76.0).contains(&height), "{mbps} {height}");
        let (mbps, height) = of(1.0, ", layers = 3");
        assert!((0.7..1.0).contains(&mbps) && (40.0..51.0).contains(&height), "{mbps} {height}");
    }
}

/// What holds of a control holds of each that the schema has.
#[test]
fn every_control_sets_the_rate() {
    let schema = json_schema();
    let words = schema["$defs"]["Control"]["oneOf"].as_array().unwrap();
    let words = words.iter().filter_map(|word| word["const"].as_str());
    assert_eq!(words.filter(|word| *word != "none").collect::<Vec<_>>(), CONTROLS);
    let idle = |control: &str| {
        let keys = ", rate_mbps = 2, pacing_mbps = 9, layers = 2, min_mbps = 0.1";
        let warnings = sentences(path(&[(1.0, 2.0)], &call(control, "one", 0.0, keys)).warnings);
        let of_call = warnings.into_iter().filter_map(|said| {
            let (key, _) = said.strip_prefix("traffic.one.")?.split_once(" has no effect")?;
            Some(key.to_owned())
        });
        of_call.collect::<Vec<_>>()
    };
    for control in CONTROLS {
        assert_eq!(idle(control), ["pacing_mbps", "rate_mbps"], "{control}");
    }
    assert_eq!(idle("none"), ["layers", "max_mbps", "min_mbps"]);
}

/// A control whose least and greatest rates are the same keeps that, whatever the line carries. What a window holds back is not
/// sent: the camera of SCReAM skips pictures.
#[test]
fn a_control_keeps_to_its_bounds() {
    let sent = |control: &str| {
        let keys = ", min_mbps = 0.5, start_mbps = 0.5";
        let results = path(&[(30.0, 0.4)], &call(control, "one", 0.0, keys));
        let row = flow(&results, "one", "up");
        (row.sent_bytes as f64 * 8e-6 / 30.0, row.loss_percent.unwrap())
    };
    let (mbps, loss) = sent("gcc");
    assert!((0.49..0.6).contains(&mbps), "{mbps}");
    assert!(loss > 15.0, "0.1 of 0.5 Mbps are too much: {loss}");
    let (mbps, loss) = sent("scream");
    assert!((0.38..0.42).contains(&mbps) && loss == 0.0, "{mbps} {loss}");
}

/// L4S: a call with ECT(1) is in the low-latency queue of a DualQ, which marks all that has waited for 1.2 ms there. So nearly
/// all packets take the way of 10 ms, 0.1 ms at 100 Mbps, 0.5 ms at 20 Mbps and at most twice that time. Without marks the queue is
/// what the target of 60 ms leaves of it, from half of which on the window falls.
#[test]
fn a_call_with_l4s_keeps_the_low_latency_queue_short() {
    let of = |ecn: &str, beside: &str| {
        let results = Simulation::run(&scenario(&format!(
            "duration_s = 60
             cable.distance_km = 0
             upstream = {{ sustained_mbps = 100, peak_mbps = 100, modem.kind = 'link' }}
             downstream = {{ sustained_mbps = 100, peak_mbps = 100 }}
             router.upstream = {{ rate_mbps = 20, queue.scheduler.kind = 'dualq' }}
             servers.near = {{ delay_ms = 10, host_jitter_us = 0 }}
             metrics.from_s = 10
             traffic.call = {{ kind = 'video_call', control = 'scream', direction = 'up', server = 'near',
                               max_mbps = 100, ecn = '{ecn}' }}
             {beside}"
        )));
        let row = flow(&results, "call", "up");
        (row.throughput_mbps, row.latency_p99_ms.unwrap(), row.loss_percent)
    };
    let way_ms = 10.0 + 0.1 + 0.5;
    let upload = "traffic.up = { kind = 'transfer', server = 'near' }";
    // It leaves room for frames that are larger, and a classic upload has its part beside it.
    for (beside, least_mbps) in [("", 10.0), (upload, 5.0)] {
        let (mbps, p99_ms, loss) = of("ect1", beside);
        assert!(mbps > least_mbps && p99_ms < way_ms + 2.4, "{mbps} {p99_ms}");
        assert_eq!(loss, Some(0.0));
    }
    let (mbps, p99_ms, _) = of("ect0", "");
    assert!(mbps > 10.0 && (way_ms + 15.0..way_ms + 60.0).contains(&p99_ms), "{mbps} {p99_ms}");
}

/// Plain links without a cable, with a server 10 ms away.
fn on_links(keys: &str) -> Results {
    Simulation::run(&scenario(&format!(
        "duration_s = 20
         cable.distance_km = 0
         upstream = {{ sustained_mbps = 10, peak_mbps = 10, burst_bytes = 100_000, modem.kind = 'link' }}
         downstream.sustained_mbps = 100
         downstream.peak_mbps = 100
         downstream.burst_bytes = 100_000
         servers.near.delay_ms = 10
         servers.near.host_jitter_us = 0
         {keys}"
    )))
}

const GAME: &str = "traffic.game = { kind = 'cloud_game', server = 'near', rate_mbps = 24, frames_per_s = 50,
                                     packet_bytes = 1000, frame_deviation_percent = 0, frame_jitter_ms = 0 }";

#[test]
fn a_frame_and_an_input_take_what_the_links_take() {
    // 24 Mbps with a fifth of parity are 20 Mbps, at 50 frames per second 50 000 B: 50 packets of 1000 B and 10 of parity.
    // The 50th packet is the last one that the frame needs. The first one takes 8 us at 1 Gbps and 10 ms. The bucket of the
    // peak rate has 1522 B, so the last one waits for 50 000 - 1522 B at 100 Mbps, 3.878 ms, and takes 8 us on its channel.
    let results = on_links(GAME);
    let row = flow(&results, "game", "down");
    let frame_ms = 0.008 + 10.0 + (50_000.0 - 1522.0) * 8e-5 + 0.008;
    assert_near(row.frame_latency_p50_ms, frame_ms, 0.02);
    assert_near(row.frame_latency_p99_ms, frame_ms, 0.02);
    assert_eq!((row.frames_incomplete_percent, row.frames_late_percent), (Some(0.0), Some(0.0)));
    assert_eq!((row.freezes, row.frozen_percent), (Some(0), Some(0.0)));
    assert_near(Some(row.throughput_mbps), 24.0, 0.05);
    // An input of 100 B finds tokens: 10 ms and what its bytes take, less than the 80 us at 10 Mbps and 1 us at 1 Gbps. Five
    // come in the 20 ms between frames, and wait for the next one in steps of 4 ms, by where the first one falls.
    let up_ms = flow(&results, "game", "up").latency_mean_ms.unwrap();
    assert!((10.0..10.1).contains(&up_ms), "{up_ms}");
    assert_near(row.input_and_frame_mean_ms, up_ms + frame_ms, 0.02);
    let wait_ms = row.input_to_frame_p50_ms.unwrap() - up_ms - frame_ms;
    assert!((8.0 - 0.05..=12.05).contains(&wait_ms), "{wait_ms}");
    // 24 ms there and back: R at its most, 4.14.
    assert_near(row.game_mos, 4.14, 0.001);
    assert!(flow(&results, "game", "up").game_mos.is_none());
}

/// The line stops after 12 of 20 s and drops nothing: 7.6 s of frames are given up, and what was sent in the last 0.4 s may still
/// come, which is 7.6 of 19.6 s or 38.8 %.
#[test]
fn frames_that_never_come_are_incomplete() {
    let stops = "router.downstream = { queue.limit_bytes = 100_000_000,
                                       capacity.steps = [{ for_s = 12, mbps = 100 }, { for_s = 100, mbps = 0 }] }";
    let results = on_links(&format!("{GAME}\n{stops}"));
    let row = flow(&results, "game", "down");
    assert_eq!((row.loss_percent, row.freezes), (Some(0.0), Some(1)));
    assert_near(row.frames_incomplete_percent, 38.8, 0.3);
    assert!(row.game_mos < Some(3.3), "{:?}", row.game_mos);
}

/// The rate at the start follows the bounds where it is not set: a small picture has less than 0.3 Mbps at most.
#[test]
fn a_call_begins_within_its_bounds() {
    for (keys, least, most) in [(", min_mbps = 1", 0.7, 1.6), (", picture = '180p'", 0.0, 0.25)] {
        let keys =
            if keys.contains("180p") { keys.to_owned() } else { format!("{keys}, max_mbps = 1.5") };
        let text = format!(
            "traffic.one = {{ kind = 'video_call', control = 'gcc', direction = 'up', server = 'far'{keys} }}"
        );
        let results = path(&[(5.0, 10.0)], &text);
        let rate = mbps(&results, "one", [0.0, 1.0]);
        assert!((least..most).contains(&rate), "{keys}: {rate}");
    }
}

#[test]
fn parity_makes_up_for_losses_that_are_few() {
    // 10 of 60 packets may be missing. At 5 % a frame lacks 3 on average, with a deviation of 1.7: 11 or more are lost of
    // one in 10 000. At 30 % it lacks 18, with a deviation of 3.5: nearly all lack more than 10.
    let lossy = |percent: u32| on_links(&format!("{GAME}\nservers.near.loss_percent = {percent}"));
    let few = lossy(5);
    let few = flow(&few, "game", "down");
    assert!(few.frames_incomplete_percent < Some(0.5) && few.loss_percent > Some(4.0), "{few:?}");
    let many = lossy(30);
    let many = flow(&many, "game", "down");
    assert!(many.frames_incomplete_percent > Some(95.0), "{many:?}");
    // No frame in time: R is 100 - 8.64 - 11.3 - 26.1 - 2, and the score 2.9, to which the model goes no further.
    assert!(many.game_mos < Some(3.0), "{:?}", many.game_mos);
    // Without parity one lost packet of 50 is one too many: 1 - 0.95^50 = 92 %.
    let bare = on_links(&format!(
        "{}\nservers.near.loss_percent = 5",
        GAME.replace("rate_mbps = 24", "rate_mbps = 20, redundancy_percent = 0")
    ));
    let incomplete = flow(&bare, "game", "down").frames_incomplete_percent.unwrap();
    assert!((89.0..95.0).contains(&incomplete), "{incomplete}");
}

#[test]
fn a_burst_does_not_fit_into_a_small_buffer_unless_it_is_paced() {
    // 60 packets of 1000 B at once, of which 100 Mbps take a tenth while they come from 1 Gbps: a buffer of 30 000 B has
    // room for half. At 50 Mbps nothing waits.
    let small = "downstream.queue.limit_bytes = 30_000";
    let burst = on_links(&format!("{GAME}\n{small}"));
    assert!(flow(&burst, "game", "down").frames_incomplete_percent > Some(99.0));
    let paced = GAME.replace("frame_jitter_ms = 0", "frame_jitter_ms = 0, pacing_mbps = 50");
    let paced = on_links(&format!("{paced}\n{small}"));
    assert_eq!(flow(&paced, "game", "down").frames_incomplete_percent, Some(0.0));
}
