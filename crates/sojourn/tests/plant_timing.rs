//! The request-grant loop with the specification's timing, in closed form and against docsis-ns3.

use crate::common::{flow, latencies, loaded, refused, sentences};
use sojourn::Simulation;
use sojourn::input::problem::{Code, Warning};
use sojourn::results::metrics::Results;

/// Frames of docsis-ns3's upstream: six symbols of 22.5 us.
const FRAME_MS: f64 = 0.135;
/// 8 km of cable.
const CABLE_MS: f64 = 0.04;

/// A stream of 218 B alone on an OFDMA channel like docsis-ns3's, to a server at no distance. Its
/// interval is an irrational multiple of the MAP interval, so that its phase runs through all.
fn lone_stream(map_ms: f64, keys: &str) -> Results {
    run(&format!(
        "duration_s = 200
         cable.timing.kind = 'specification'
         upstream.modem.kind = 'shared_channel'
         upstream_channel = {{ map_interval_ms = {map_ms}, channels = 1, phy.kind = 'ofdma' }}
         traffic.game = {{ kind = 'stream', purpose = 'game', direction = 'up', interval_ms = {} }}
         {keys}",
        map_ms * 20.6180339887498
    ))
}

fn text(keys: &str) -> String {
    format!(
        "upstream.sustained_mbps = 50
         upstream.peak_mbps = 100
         upstream.burst_bytes = 100_000
         downstream = {{ sustained_mbps = 100, peak_mbps = 100, burst_bytes = 100_000 }}
         servers.near = {{ delay_ms = 0, rate_mbps = 1_000_000 }}
         {keys}"
    )
}

fn run(keys: &str) -> Results {
    Simulation::run(&loaded(&text(keys), &[]))
}

/// docsis-ns3 v1.3 with a MAP interval of 7 frames, 0.945 ms, and 8 km: 1.94, 3.33, 4.58 and 4.90
/// ms. The mean and the 99th percentile agree within 5 %.
///
/// In closed form, with F = 0.135 ms and everything where frames begin: the request is made in one
/// of the 7 frames of an interval. It is sent and decoded (2 F) and the MAP is made 1.15 ms ahead:
/// 1.42 ms, which with waiting for the next MAP make 11 to 17 F. Then the burst is built in one of
/// the 7 frames of the interval, sent and decoded (3 F), and 0.04 ms are the cable.
/// - At least 0 + 11 F + 0 + 3 F + 0.04 ms = 1.93 ms.
/// - At most: a request in frame 4 of an interval after one in frame 0 of that before is 11 F away,
///   and waits 17 F for its MAP. With 6 F until its burst and 3 F: 37 F + 0.04 ms = 5.035 ms.
///
/// docsis-ns3 sends a request one frame later than drawn, so that its longest way is one frame
/// shorter; means are equal.
#[test]
fn a_lone_stream_has_the_latency_of_docsis_ns3() {
    let [min, mean, p99, max] = latencies(flow(&lone_stream(0.945, ""), "game", "up"));
    println!("{min:.3} {mean:.3} {p99:.3} {max:.3}");
    for (ours, theirs) in [(mean, 3.33), (p99, 4.58)] {
        assert!((ours / theirs - 1.0).abs() < 0.05, "{ours} {theirs}");
    }
    assert!((14.0 * FRAME_MS + CABLE_MS - 1e-9..1.97).contains(&min));
    assert!(max <= 37.0 * FRAME_MS + CABLE_MS + 1e-3 && max > 4.7);
}

/// The mean in closed form, for n frames of F in a MAP interval M. Requests are made in frame k of
/// each interval, k uniform in 0 to n - 1. More packets wait for a late request than for an early
/// one: (n + k - (n - 1) / 2) F of arrivals in the mean.
/// - Until the request: (M^2 + (n^2 - 1) F^2 / 6) / (2 M), near 7/12 M.
/// - From it to the MAP: 1.42 ms = 10.5 F, and then the next MAP, averaged over k with those weights.
/// - Until the burst: (n - 1)/2 F; sent and decoded, 3 F; and the cable.
///
/// In all about 1.58 M + 1.8 ms, which docsis-ns3 shows as well. The request region takes 16 of the
/// 235 minislots of a frame and the packet 5, so the burst ends up to 0.1 F later in the mean. The
/// deviation is below M, over 200 s / 20.6 M packets.
#[test]
fn longer_maps_cost_what_the_arithmetic_says() {
    for frames in [7_u32, 15, 30, 45] {
        let (n, map) = (f64::from(frames), f64::from(frames) * FRAME_MS);
        let request = (map * map + (n * n - 1.0) * FRAME_MS * FRAME_MS / 6.0) / 2.0 / map;
        let to_map = (0..frames).map(f64::from).map(|k| {
            let weight = (n + k - (n - 1.0) / 2.0) / n / n;
            let granted = ((k + 1.42 / FRAME_MS) / n).ceil() * n;
            weight * (granted - k)
        });
        let rest = to_map.sum::<f64>() + (n - 1.0) / 2.0 + 3.0;
        let expected = request + rest * FRAME_MS + CABLE_MS;
        let [_, mean, ..] = latencies(flow(&lone_stream(map, ""), "game", "up"));
        println!("{frames}: {mean:.4} {expected:.4} {:.4}", 1.58 * map + 1.8);
        let error = 4.0 * map / (200.0 / 0.0206 / map).sqrt();
        assert!((mean - expected).abs() < 0.1 * FRAME_MS + error, "{mean} {expected}");
        assert!((mean / (1.58 * map + 1.8) - 1.0).abs() < 0.05);
    }
}

/// With no fixed times at all and no frames, the next MAP grants a request. In parts of M = 2 ms a
/// packet waits 7/12 for its request, which then is 7/12 into the interval (as above, for many
/// frames), so 5/12 for the MAP; and half for its burst.
#[test]
fn without_fixed_times_the_next_map_grants() {
    let keys = "duration_s = 200
         cable = { distance_km = 0, timing = { kind = 'specification', modem_map_us = 0,
                   cmts_map_us = 0, map_delivery_us = 0, build_frames = 0, decode_frames = 0,
                   frame_symbols = 0 } }
         traffic.game = { kind = 'stream', purpose = 'game', direction = 'up', server = 'near',
                          interval_ms = 41.2360679774998 }";
    let [min, mean, _, max] = latencies(flow(&run(keys), "game", "up"));
    println!("{min:.4} {mean:.4} {max:.4}");
    assert!(min >= 0.0 && max <= 8.0 + 0.01);
    // Its deviation is below M; 4850 packets: 0.02 ms, four times that is allowed.
    assert!((mean - 1.5 * 2.0).abs() < 0.08);
}

/// Fixed times add up. One more millisecond of processing in either place is one more in all, where
/// MAPs are so frequent (0.27 ms) that waiting for them hides nothing.
#[test]
fn each_fixed_time_is_in_the_loop() {
    let mean = |keys: &str| latencies(flow(&lone_stream(0.27, keys), "game", "up"))[1];
    let timing = |key: &str| mean(&format!("cable.timing.{key}"));
    let base = mean("");
    for (key, more_ms) in [
        ("modem_map_us = 1600", 1.0),
        ("cmts_map_us = 1200", 1.0),
        ("map_delivery_us = 1112.5", 1.0),
        ("map_advance_us = 2150", 1.0),
        ("decode_frames = 5", 2.0 * 4.0 * FRAME_MS),
        ("build_frames = 5", 4.0 * FRAME_MS),
    ] {
        let got = timing(key) - base;
        println!("{key}: {got:.4} {more_ms:.4}");
        // The rounding to frames and MAPs may shift by a frame.
        assert!((got - more_ms).abs() < FRAME_MS, "{key}: {got}");
    }
    // 160 km are 0.8 ms each way: 1.52 ms more in the loop, and 0.76 ms more for the burst.
    let far = mean("cable.distance_km = 160") - base;
    assert!((far - 3.0 * 0.76).abs() < FRAME_MS, "{far}");
}

/// Homes at 0 and 80 km (0.4 ms) share a channel: both wait for the MAPs of the farther one, and
/// its packets take 0.4 ms more. At the same distance they are alike.
#[test]
fn homes_have_their_own_distance() {
    let mean = |far_km: u32| {
        let results = lone_stream(
            0.945,
            &format!(
                "homes.near = {{ distance_km = 0 }}
                 homes.far = {{ distance_km = {far_km} }}
                 traffic.other = {{ kind = 'stream', purpose = 'game', direction = 'up', server = 'near',
                                    home = 'far', interval_ms = 21.2360679774998 }}"
            ),
        );
        ["game", "other"].map(|name| latencies(flow(&results, name, "up"))[1])
    };
    let ([near, far], [alike, twin]) = (mean(80), mean(0));
    println!("{near:.3} {far:.3}; {alike:.3} {twin:.3}");
    // A deviation of 0.6 ms over 10 000 packets: 6 us for each; four times the root of two.
    assert!((far - near - 0.4).abs() < 0.04);
    assert!((twin - alike).abs() < 0.04);
    // In both directions of the loop: 0.8 ms, rounded by the wait for a MAP.
    assert!(near > alike + 0.6 && near < alike + 1.0);
}

/// The documents' timing is what names none used to be: two intervals, whatever the plant.
#[test]
fn the_documents_timing_knows_no_plant() {
    let keys = |km: &str| {
        format!(
            "duration_s = 20
             cable = {{ {km} timing.kind = 'documents' }}
             traffic.game = {{ kind = 'stream', purpose = 'game', direction = 'up', server = 'near' }}"
        )
    };
    let [at_default, at_200_km] =
        ["", "distance_km = 200,"].map(|km| latencies(flow(&run(&keys(km)), "game", "up")));
    for (one, other) in at_default.iter().zip(at_200_km) {
        assert!((one - other).abs() < 0.01, "200 km are 1 ms too: {one} {other}");
    }
    assert!(at_default[0] >= 5.0);
}

/// A full segment is 1500 bytes of IP and 1518 from destination address to CRC, its acknowledgement
/// of 52 bytes 70, a voice packet 218 either way: they say what they hold. On the shared channel a
/// packet is the same number of bytes either way: the MAC header, 10, is what the Ethernet count
/// lacks. So 50 Mbps carry 1518/1500 times as much of IP's bytes if these alone are counted.
#[test]
fn service_flows_count_ethernet_frames() {
    let upload = |byte_count: &str| {
        run(&format!(
            "duration_s = 40
             cable.byte_count = '{byte_count}'
             traffic.save = {{ kind = 'transfer', server = 'near', tcp.mss_bytes = 1460 }}
             traffic.call = {{ kind = 'stream', purpose = 'voice', direction = 'up', server = 'near' }}"
        ))
    };
    let size = |results: &Results, traffic: &str, direction: &str| {
        let row = flow(results, traffic, direction);
        row.delivered_bytes as f64 / row.delivered_packets as f64
    };
    let [ip, ethernet] = ["ip", "ethernet"].map(upload);
    assert_eq!((size(&ip, "call", "up"), size(&ethernet, "call", "up")), (218.0, 218.0));
    let full = [&ip, &ethernet].map(|results| size(results, "save", "up"));
    assert!((full[1] - full[0] - 18.0).abs() < 0.05, "{full:?}");
    let packets = [&ip, &ethernet].map(|r| flow(r, "save", "up").delivered_packets as f64);
    assert!((packets[0] / packets[1] - 1518.0 / 1500.0).abs() < 0.002, "{packets:?}");
}

#[test]
fn impossible_lookaheads_and_two_lengths_are_refused() {
    for (keys, message) in [
        (
            "cable.timing = { kind = 'specification', map_advance_us = 1149 }",
            "cable.timing.map_advance_us: found 1149; allowed: 1150.0 or more, the sum of the fixed \
             times and of the longest cable, there and back",
        ),
        (
            "cable.timing = { kind = 'specification', map_advance_us = 1150 }
             homes.far.distance_km = 80",
            "cable.timing.map_advance_us: found 1150; allowed: 1870.0 or more",
        ),
        (
            "cable = { delay_ms = 1, distance_km = 8 }",
            "cable.distance_km: found together with delay_ms; allowed: one of them",
        ),
    ] {
        let text = format!(
            "duration_s = 1
             upstream = {{ sustained_mbps = 5, peak_mbps = 5, burst_bytes = 3000 }}
             downstream = {{ sustained_mbps = 5, peak_mbps = 5, burst_bytes = 3000 }}
             traffic.game = {{ kind = 'stream', server = 'near', purpose = 'game', direction = 'up' }}
             servers.near.delay_ms = 0\n{keys}"
        );
        let problem = refused(&text, &[]);
        assert!(problem.contains(message), "{problem}");
    }
}

/// On a shared channel 50 Mbps with a burst of 3044 bytes are far from reached, and a warning names
/// the burst that would do: 2 MAP intervals of 2 ms at 50 Mbps are 25 000 bytes, and a frame of 1522.
/// With it the rate is reached, and nothing is said.
#[test]
fn a_starving_burst_is_told_with_the_one_that_would_do() {
    let flood = |burst_bytes: u32| {
        let keys = "duration_s = 10
            upstream.modem.kind = 'shared_channel'
            traffic.flood = { kind = 'stream', purpose = 'data', packet_bytes = 1500, interval_ms = 0.2 }";
        let burst = format!("upstream.burst_bytes={burst_bytes}");
        let results = Simulation::run(&loaded(&text(keys), &[&burst]));
        let mbps = flow(&results, "flood", "up").throughput_mbps;
        let is_of_burst = |one: &Warning| one.code == Code::BurstOnSharedChannel;
        (mbps, sentences(results.warnings.into_iter().filter(is_of_burst)))
    };
    let (mbps, warnings) = flood(3044);
    assert!(mbps < 25.0, "{mbps}");
    assert_eq!(
        warnings,
        [
            "upstream.burst_bytes is 3044: on the shared channel the service flow cannot reach 50 Mbps, \
          since grants of two MAPs may be 4.0 ms apart; set upstream.burst_bytes to 26522 or more"
        ]
    );
    let (mbps, warnings) = flood(26_522);
    assert!(mbps > 0.98 * 50.0 && warnings.is_empty(), "{mbps} {warnings:?}");
}

/// CAKE's target is a 20th of `rtt_ms`, here 5 ms. With a cable of 1 ms the loop takes 3.5 ms, MAPs come every 2 ms, and a
/// packet waits half of that for its request, its MAP and its grant each, whatever the load: a warning says what
/// to set. What one upload then gets, more of them need not lose.
#[test]
fn a_target_below_the_grant_wait_is_told_with_the_one_that_would_do() {
    let upload = |scheduler: &str| {
        let keys =
            "traffic.upload = { kind = 'transfer', server = 'far' }\nservers.far.delay_ms = 49";
        let sets = [
            "duration_s=20",
            "cable.delay_ms=1",
            "upstream.sustained_mbps=10",
            "upstream.peak_mbps=10",
            &format!("upstream.queue.scheduler={scheduler}"),
        ];
        let results = Simulation::run(&loaded(&text(keys), &sets));
        let mbps = flow(&results, "upload", "up").throughput_mbps;
        let is_of_target = |one: &Warning| one.code == Code::TargetBelowGrant;
        (mbps, sentences(results.warnings.into_iter().filter(is_of_target)))
    };
    let (mbps, warnings) = upload("{ kind = 'cake' }");
    assert!(mbps < 4.0, "{mbps}");
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].starts_with("upstream.queue.scheduler.rtt_ms is 100"), "{warnings:?}");
    assert!(warnings[0].ends_with("set upstream.queue.scheduler.rtt_ms to 200 or more"));
    let (mbps, warnings) = upload("{ kind = 'cake', rtt_ms = 200 }");
    assert!(mbps > 5.0 && warnings.is_empty(), "{mbps} {warnings:?}");
}

/// In a router that sends 9 Mbps before this modem the upload comes in bursts of request and grant, so a twentieth of
/// `rtt_ms` is as short there.
#[test]
fn a_target_of_a_router_below_the_grant_wait_is_told_too() {
    let upload = |router_mbps: u32, rtt_ms: u32| {
        let keys = format!(
            "duration_s = 30
             upstream = {{ sustained_mbps = 10 }}
             downstream = {{ sustained_mbps = 50 }}
             servers.far.delay_ms = 24
             traffic.upload = {{ kind = 'transfer', server = 'far' }}
             router.upstream.rate_mbps = {router_mbps}
             router.upstream.queue.scheduler = {{ kind = 'cake', rtt_ms = {rtt_ms} }}"
        );
        let results = Simulation::run(&loaded(&keys, &[]));
        let mbps = flow(&results, "upload", "up").throughput_mbps;
        let is_of_target = |one: &Warning| one.code == Code::TargetBelowGrant;
        (mbps, sentences(results.warnings.into_iter().filter(is_of_target)))
    };
    let (short, warnings) = upload(9, 100);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(
        warnings[0].starts_with("router.upstream.queue.scheduler.rtt_ms is 100"),
        "{warnings:?}"
    );
    assert!(warnings[0].ends_with("set router.upstream.queue.scheduler.rtt_ms to 200 or more"));
    let (enough, warnings) = upload(9, 200);
    assert!(enough > 1.05 * short && warnings.is_empty(), "{short} {enough} {warnings:?}");
    assert!(upload(11, 100).1.is_empty());
}

/// Managers whose lower threshold is a number of packets, or a delay that is too short. At 1 Mbps a packet alone takes
/// 12 ms, so a higher target changes nothing and no warning says so.
#[test]
fn thresholds_below_the_grant_wait() {
    let warnings = |mbps: u32, queue: &str| {
        let keys = "traffic.upload = { kind = 'transfer', server = 'near' }";
        let sets = [
            &*format!("upstream.sustained_mbps={mbps}"),
            &format!("upstream.peak_mbps={mbps}"),
            &format!("upstream.queue={{ {queue} }}"),
        ];
        let warnings = sojourn::warnings(&loaded(&text(keys), &sets)).into_iter();
        sentences(warnings.filter(|warning| warning.code == Code::TargetBelowGrant))
    };
    for (queue, key, set) in [
        ("law.kind = 'red'", "law.target_delay_ms is 5", "law.target_delay_ms to 12 or more"),
        (
            "law = { kind = 'afd', target_ms = 3 }",
            "law.target_ms is 3",
            "law.target_ms to 6 or more",
        ),
        (
            "law = { kind = 'blue', threshold_ms = 2 }",
            "law.threshold_ms is 2",
            "law.threshold_ms to 6 or more",
        ),
        (
            "law = { kind = 'gsp', threshold_ms = 2 }",
            "law.threshold_ms is 2",
            "law.threshold_ms to 6 or more",
        ),
        (
            "scheduler = { kind = 'choke', target_delay_ms = 3 }",
            "scheduler.target_delay_ms is 3",
            "scheduler.target_delay_ms to 6 or more",
        ),
        // 5.5 ms at 100 Mbps are 68 750 bytes or 45.2 packets.
        (
            "scheduler.kind = 'sfb'",
            "scheduler.target_packets is 20",
            "scheduler.target_packets to 50, upstream.queue.scheduler.max_packets to 100 and \
             upstream.queue.scheduler.decrement to 0.001 or more",
        ),
    ] {
        let fast = warnings(100, queue);
        assert_eq!(fast.len(), 1, "{queue}: {fast:?}");
        assert!(
            fast[0].starts_with(&format!("upstream.queue.{key}, so packets are to wait")),
            "{fast:?}"
        );
        assert!(fast[0].ends_with(&format!("set upstream.queue.{set}")), "{fast:?}");
        assert!(warnings(1, queue).is_empty(), "{queue}");
    }
    assert!(warnings(1, "scheduler.kind = 'cake'").is_empty());
    for law in ["afd", "blue", "gsp", "codel", "pie"] {
        assert!(warnings(100, &format!("law.kind = '{law}'")).is_empty(), "{law}");
    }
}

/// A packet alone on an OFDM channel waits half a symbol in the mean, is encoded, sent and decoded
/// in one symbol each, and deinterleaved in two: 5.5 * 22.5 us, and 8 km of cable: 0.16 ms, as in
/// docsis-ns3. It is gathered in less than a symbol: 218 B and 10 of header at 1714 Mbps take 1 us,
/// which moves it to the next symbol in 5 of 100 cases.
#[test]
fn an_ofdm_channel_delays_by_its_symbols() {
    let results = run("duration_s = 50
        cmts.channel = { kind = 'ofdm' }
        traffic.hear = { kind = 'stream', purpose = 'voice', server = 'near', direction = 'down',
                         interval_ms = 20.0061803398875 }");
    let [min, mean, _, max] = latencies(flow(&results, "hear", "down"));
    println!("{min:.4} {mean:.4} {max:.4}");
    let symbol = 0.0225;
    assert!(min >= 5.0 * symbol + CABLE_MS && max <= 6.05 * symbol + CABLE_MS + 1e-3);
    assert!((mean - 5.55 * symbol - CABLE_MS).abs() < 0.1 * symbol);
    assert!((mean - 0.16).abs() < 0.01);
}
