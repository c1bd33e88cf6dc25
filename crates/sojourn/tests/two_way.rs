//! Streams whose ends send to each other: pings, games and video calls, with round-trip times by
//! arithmetic.

use crate::common::{flow, scenario};
use sojourn::Simulation;
use sojourn::results::metrics::Results;
use sojourn::results::metrics::rows::FlowRow;

/// Plain links of 10 Mbps up and 20 Mbps down, a server 10 ms away at 1 Gbps, and no cable.
fn on_links(keys: &str) -> Results {
    Simulation::run(&scenario(&format!(
        "duration_s = 60
         cable.distance_km = 0
         upstream = {{ sustained_mbps = 10, peak_mbps = 10, burst_bytes = 100_000, modem.kind = 'link' }}
         downstream = {{ sustained_mbps = 20, peak_mbps = 20, burst_bytes = 100_000 }}
         servers.near.delay_ms = 10
         servers.near.host_jitter_us = 0
         {keys}"
    )))
}

fn round_trip(row: &FlowRow) -> [f64; 3] {
    [row.rtt_min_ms, row.rtt_p50_ms, row.rtt_mean_ms].map(Option::unwrap)
}

#[test]
fn a_ping_takes_what_both_ways_take() {
    // Each way the packet's latency, since it is answered at once; both are constant.
    let results = on_links(
        "traffic.ping = { kind = 'stream', purpose = 'game', server = 'near', direction = 'both',
                          answer = 'each_packet', packet_bytes = 100, interval_ms = 50 }",
    );
    let (up, down) = (flow(&results, "ping", "up"), flow(&results, "ping", "down"));
    let there_and_back = up.latency_max_ms.unwrap() + down.latency_max_ms.unwrap();
    assert!(there_and_back > 20.0);
    for got in round_trip(up) {
        assert!((got - there_and_back).abs() < 0.002, "{got} {there_and_back}");
    }
    // All but one or two under way were answered, and the server measures nothing: nobody answers it.
    assert_eq!(up.sent_packets, 1200);
    assert!(down.delivered_packets >= 1199);
    assert_eq!(down.rtt_mean_ms, None);
    assert_eq!(up.over_80_ms_round_trip_percent, Some(0.0));
}

#[test]
fn both_ends_of_a_game_measure_without_the_time_that_echoes_wait() {
    let results = on_links(
        "traffic.game = { kind = 'stream', purpose = 'game', server = 'near', direction = 'both',
                          packet_bytes = 128, interval_ms = 33, down_packet_bytes = 450,
                          down_interval_ms = 47.3 }",
    );
    let (up, down) = (flow(&results, "game", "up"), flow(&results, "game", "down"));
    let there_and_back = up.latency_max_ms.unwrap() + down.latency_max_ms.unwrap();
    for got in round_trip(up).into_iter().chain(round_trip(down)) {
        assert!((got - there_and_back).abs() < 0.002, "{got} {there_and_back}");
    }
    // 60 s / 33 ms = 1818.2, 60 s / 47.3 ms = 1268.5, from a random point in the first interval.
    assert!(up.sent_packets.abs_diff(1818) <= 1 && down.sent_packets.abs_diff(1268) <= 1);
    assert_eq!((up.sent_bytes / up.sent_packets, down.sent_bytes / down.sent_packets), (128, 450));
}

#[test]
fn sizes_and_intervals_vary_as_told() {
    // 1818 packets, so the mean size is off by 16 % / 42.6, and their number by 9 % * 42.6 = 4; four times
    // that is allowed.
    let results = on_links(
        "traffic.game = { kind = 'stream', purpose = 'game', direction = 'up', server = 'near', packet_bytes = 128,
                          interval_ms = 33, packet_deviation_percent = 16,
                          interval_deviation_percent = 9 }",
    );
    let row = flow(&results, "game", "up");
    let bytes = row.sent_bytes as f64 / row.sent_packets as f64;
    assert!((bytes / 128.0 - 1.0).abs() < 4.0 * 0.16 / 42.6, "{bytes}");
    assert!(row.sent_packets.abs_diff(1818) < 16, "{}", row.sent_packets);
    assert_ne!(row.sent_bytes, 128 * row.sent_packets);
}

#[test]
fn a_round_trip_beside_an_upload_is_longer_than_alone() {
    let game = "traffic.game = { kind = 'stream', purpose = 'game', server = 'near',
                                 direction = 'both', interval_ms = 20.618 }";
    let upload = "traffic.upload = { kind = 'transfer', server = 'near', direction = 'up' }";
    let alone = on_links(game);
    let beside = on_links(&format!("{game}\n{upload}"));
    let p50 = |results: &Results| flow(results, "game", "up").rtt_p50_ms.unwrap();
    let over =
        |results: &Results| flow(results, "game", "up").over_80_ms_round_trip_percent.unwrap();
    assert!(p50(&beside) > p50(&alone) + 50.0, "{} {}", p50(&alone), p50(&beside));
    assert_eq!(over(&alone), 0.0);
    assert!(over(&beside) > 80.0, "{}", over(&beside));
}

#[test]
fn they_work_on_every_access_network_and_in_every_home() {
    for access in [
        "cable.distance_km = 5",
        "access.kind = 'fibre'",
        "cable.timing.kind = 'specification'\ncmts.channel = { kind = 'rate', rate_mbps = 500 }",
        "upstream.modem.kind = 'shared_channel'",
    ] {
        let results = Simulation::run(&scenario(&format!(
            "duration_s = 5
             {access}
             upstream.sustained_mbps = 10
             upstream.peak_mbps = 10
             upstream.burst_bytes = 100_000
             downstream = {{ sustained_mbps = 20, peak_mbps = 20, burst_bytes = 100_000 }}
             servers.near = {{ delay_ms = 10, host_jitter_us = 0 }}
             homes.first = {{ count = 1 }}
             homes.other = {{ count = 3 }}
             traffic.theirs = {{ kind = 'stream', purpose = 'game', server = 'near', home = 'other',
                                 direction = 'both', answer = 'each_packet' }}
             traffic.game = {{ kind = 'stream', purpose = 'voice', server = 'near', home = 'other',
                               direction = 'both' }}
             traffic.call = {{ kind = 'video_call', server = 'near' }}"
        )));
        for name in ["theirs", "game", "call"] {
            let (up, down) = (flow(&results, name, "up"), flow(&results, name, "down"));
            let [least, median, _] = round_trip(up);
            let possible = up.latency_min_ms.unwrap() + down.latency_min_ms.unwrap();
            assert!(least > possible - 1e-6 && median < 60.0, "{access} {name}: {least} {median}");
            if name == "game" {
                assert!(up.mos.unwrap() > 4.0 && down.mos.unwrap() > 4.0);
            }
        }
    }
}

#[test]
fn a_frame_takes_as_long_as_its_last_packet() {
    // Frames of 2.4 Mb/s / 30 = 10 000 B in ten packets of 1000 B, each 0.8 ms at 10 Mb/s: the median
    // packet is the fifth or sixth, and the frame has 3.6 or 4.4 ms more.
    let results = on_links(
        "traffic.call = { kind = 'video_call', server = 'near', direction = 'up', rate_mbps = 2.4,
                          packet_bytes = 1000, frame_scale_percent = 0, interval_scale_percent = 0 }",
    );
    let row = flow(&results, "call", "up");
    let [frame, packet, first] =
        [row.frame_latency_p50_ms, row.latency_max_ms, row.latency_min_ms].map(Option::unwrap);
    assert!((frame - packet).abs() < 0.02, "{frame} {packet}");
    // Nine packets more than the first one: 7.2 ms, and as long as they take at 1 Gb/s less.
    assert!((frame - first - 7.2).abs() < 0.1, "{frame} {first}");
    assert_eq!(row.frames_incomplete_percent, Some(0.0));
    // With half of all packets lost nearly no frame of ten is whole: 0.1 %.
    let lossy = on_links(
        "servers.near.loss_percent = 50
         traffic.call = { kind = 'video_call', server = 'near', direction = 'up', rate_mbps = 2.4,
                          packet_bytes = 1000, frame_scale_percent = 0 }",
    );
    let incomplete = flow(&lossy, "call", "up").frames_incomplete_percent.unwrap();
    assert!((99.0..=100.0).contains(&incomplete), "{incomplete}");
}
