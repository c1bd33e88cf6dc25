//! Tests of responsiveness against closed forms: what probes take, and both rules for round trips per minute.

use crate::common::{flow, refused, scenario};
use sojourn::Simulation;
use sojourn::results::metrics::Results;
use sojourn::results::metrics::rows::FlowRow;

/// A test whose intervals last a second, to a server 40 ms away by a round trip, over plain links without jitter.
fn test([up_mbps, down_mbps]: [f64; 2], queue: &str, keys: &str, more: &str) -> Results {
    Simulation::run(&scenario(&format!(
        "duration_s = 40
         cable.distance_km = 0
         upstream = {{ sustained_mbps = {up_mbps}, peak_mbps = {up_mbps}, burst_bytes = 3000, modem.kind = 'link'{queue} }}
         downstream = {{ sustained_mbps = {down_mbps}, peak_mbps = {down_mbps}, burst_bytes = 3000 }}
         servers.s = {{ delay_ms = 20, rate_mbps = 100_000, host_jitter_us = 0 }}
         traffic.rpm = {{ kind = 'responsiveness', server = 's', interval_s = 1{keys} }}
         {more}\n"
    )))
}

fn foreign_ms(row: &FlowRow) -> f64 {
    let parts = [row.probe_tcp_ms, row.probe_tls_ms, row.probe_http_ms].map(Option::unwrap);
    parts.iter().sum::<f64>() / 3.0
}

#[track_caller]
fn assert_within(found: Option<f64>, [least, most]: [f64; 2]) {
    let found = found.unwrap();
    assert!((least..=most).contains(&found), "{found} is not within {least} and {most}");
}

/// The load is limited by windows of 100 segments, 35 Mbps of 1000 in the direction that it has. So nothing waits, and each
/// step of a probe takes its round trip of 40 ms: 60 000 / 40 = 1500 round trips per minute without the load and on
/// connections of their own. The largest step, 2.4 kB of the server's handshake, adds 19 us at 1 Gbps.
#[test]
fn probes_take_their_round_trips_where_nothing_waits() {
    for way in ["up", "down"] {
        let of = |unsent_ms: f64| {
            let keys = format!(
                ", direction = '{way}', most_connections = 1, unsent_ms = {unsent_ms:?},
                 tcp = {{ max_window_segments = 100, pacing = true }}"
            );
            test([1000.0; 2], "", &keys, "")
        };
        let results = of(0.0);
        let row = flow(&results, "rpm", way);
        for part in [row.probe_tcp_ms, row.probe_tls_ms, row.probe_http_ms] {
            assert_within(part, [40.0, 40.1]);
        }
        assert_within(row.rpm_before_load, [1496.0, 1500.0]);
        // Packets leave every 0.4 ms, and wait for acknowledgements of two.
        assert_within(row.probe_loaded_http_ms, [40.0, 42.0]);
        assert_within(row.rpm, [(1496.0 + 60_000.0 / 42.0) / 2.0, 1500.0]);
        assert_eq!(row.rpm_confidence, Some("high"));
        // 100 segments of 1448 B in 40 ms: 29 Mbps.
        assert_within(row.load_mbps, [27.0, 29.1]);
        let other = flow(&results, "rpm", if way == "up" { "down" } else { "up" });
        assert!(other.rpm.is_none() && other.load_mbps.is_none());
        // A sender that may hold unsent what it sends in 50 ms has room for a frame each 25 ms. A request or its answer waits for
        // that, 12.5 ms in the mean, then for a frame of the load, whose turn it is, and behind what is unsent, up to 25 ms.
        let late = of(50.0);
        let late = flow(&late, "rpm", way);
        assert_within(late.probe_tcp_ms, [40.0, 40.1]);
        assert_within(late.probe_loaded_http_ms, [40.0 + 12.5 + 25.0, 42.0 + 12.5 + 25.0 + 25.0]);
    }
}

/// A drop-tail buffer of 125 000 B at 10 Mbps holds 100 ms. A sender by CUBIC falls to 0.7 of what is on the way, 125 000 B and
/// 50 000 B of 40 ms: the buffer has 72 500 to 125 000 B, 58 to 100 ms. All probes wait in it once in each round trip.
#[test]
fn probes_wait_in_a_standing_queue() {
    let game =
        "traffic.game = { kind = 'stream', purpose = 'game', server = 's', direction = 'both' }";
    let keys = ", direction = 'up', most_connections = 1, probe_percent = 2, start_s = 2";
    let results = test([10.0, 40.0], ", queue.limit_bytes = 125_000", keys, game);
    let row = flow(&results, "rpm", "up");
    for part in [row.probe_tcp_ms, row.probe_tls_ms, row.probe_http_ms, row.probe_loaded_http_ms] {
        assert_within(part, [40.0 + 58.0, 40.0 + 100.0 + 12.0]);
    }
    assert_within(row.rpm_before_load, [1450.0, 1500.0]);
    // Both rules are alike where both kinds of probes wait: 60 000 / 140 to 60 000 / 98.
    assert_within(row.rpm, [60_000.0 / 152.0, 60_000.0 / 98.0]);
    assert_within(row.mean_delay_rpm, [row.rpm.unwrap() * 0.99, row.rpm.unwrap()]);
    assert_within(row.load_mbps, [8.5, 10.0]);
    // A game beside it has the round trips that handshakes have.
    let game_ms = flow(&results, "game", "up").rtt_up_mean_ms.unwrap();
    assert_within(row.probe_tcp_ms, [0.9 * game_ms, 1.1 * game_ms]);
}

/// With a queue for each flow, probes on connections of their own pass that of the load. The two rules are those of the parts,
/// and the mean of rates is the greater one by far.
#[test]
fn fair_queueing_looks_better_by_the_mean_of_rates() {
    let queue = ", queue = { scheduler.kind = 'fq', limit_bytes = 500_000 }";
    let results = test([10.0, 40.0], queue, ", direction = 'up', most_connections = 1", "");
    let row = flow(&results, "rpm", "up");
    let (foreign, loaded) = (foreign_ms(row), row.probe_loaded_http_ms.unwrap());
    assert!(foreign < 45.0 && loaded > 250.0, "{foreign} ms and {loaded} ms");
    let near = |value: f64| [0.999 * value, 1.001 * value];
    assert_within(row.rpm, near((60_000.0 / foreign + 60_000.0 / loaded) / 2.0));
    assert_within(row.mean_delay_rpm, near(60_000.0 / ((foreign + loaded) / 2.0)));
    assert!(row.rpm > row.mean_delay_rpm.map(|older| 2.0 * older), "{row:?}");
}

/// A load of both directions has one result, and the draft's greatest number of connections in each.
#[test]
fn a_load_of_both_directions_has_one_result() {
    let results = test(
        [10.0, 40.0],
        "",
        ", tcp.congestion_control.kind = 'prague', added_connections = 5",
        "",
    );
    let [up, down] = ["up", "down"].map(|way| flow(&results, "rpm", way));
    assert_eq!((up.rpm, up.rpm_confidence), (down.rpm, down.rpm_confidence));
    assert!(up.load_mbps < down.load_mbps, "{:?}, {:?}", up.load_mbps, down.load_mbps);
    assert_eq!((up.load_connections, down.load_connections), (Some(16.0), Some(16.0)));
}

/// No more than so many probes, and no more than so much of the goodput: at 10 Mbps 1 % is 12 500 B in a second, about 4 of 3000 B,
/// of which 2 are foreign and open connections.
#[test]
fn probes_are_limited() {
    let opened = |keys: &str| {
        let keys = format!(
            ", direction = 'up', most_connections = 1, idle_s = 0, limit_s = 5, tolerance_percent = 0, {keys}"
        );
        flow(&test([10.0, 40.0], "", &keys, ""), "rpm", "up").connections
    };
    // Four of five seconds have probes.
    let few = opened("probe_percent = 1");
    assert!((5..=10).contains(&few), "{few}");
    let by_number = opened("probe_percent = 100, probes_per_s = 20");
    assert!((38..=44).contains(&by_number), "{by_number}");
}

#[test]
fn keys_that_do_not_agree_are_refused() {
    let text = "duration_s = 5
                upstream.sustained_mbps = 5
                downstream.sustained_mbps = 20
                servers.s.delay_ms = 5
                traffic.rpm = { kind = 'responsiveness' }\n";
    for (set, place, found) in [
        ("traffic.rpm.connections=20", "most_connections", "20 or more"),
        ("traffic.rpm.tcp.transport=quic", "tcp.transport", "left out"),
        ("traffic.rpm.average_intervals=1", "average_intervals", "2"),
        ("traffic.rpm.direction=sideways", "direction", "both"),
    ] {
        let message = refused(text, &[set]);
        assert!(message.contains(place) && message.contains(found), "{message}");
    }
}
