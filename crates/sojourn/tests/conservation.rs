//! Random small networks: whatever the numbers, no packet is lost or doubled, nothing comes sooner
//! than light, nothing exceeds what the service allows, and what is overloaded is not idle.
//!
//! `Simulation::run` itself panics if sent = delivered + dropped + inside does not hold at its end,
//! and debug builds check much more on the way.

use std::fmt::Write as _;

use crate::common::{flow, scenario};
use sojourn::Simulation;
use sojourn::results::metrics::Results;
use sojourn::scenario::Scenario;
use sojourn_testing::at_random;
use sojourn_testing::proptest::prelude::*;

/// One of some words.
fn word(words: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    sojourn_testing::proptest::sample::select(words)
}

/// Rates from 0.1 to 200 Mbps, as many small ones as large ones.
fn rate_mbps() -> impl Strategy<Value = f64> {
    (-1.0..2.301_f64).prop_map(|exponent| 10_f64.powf(exponent))
}

/// A limit: 2 packets to 1 MB, or the default.
fn limit() -> impl Strategy<Value = String> {
    prop_oneof![
        (3_000_u32..1_000_000).prop_map(|bytes| format!("limit_bytes = {bytes},")),
        (2_u32..600).prop_map(|packets| format!("limit_packets = {packets},")),
        Just("limit_bytes = 50_000, limit_packets = 50,".to_owned()),
    ]
}

fn queue_keys() -> impl Strategy<Value = String> {
    let scheduler = prop_oneof![
        Just("{ kind = 'fifo' }".to_owned()),
        (1_u32..2000, prop_oneof![Just(0_u32), 64_u32..4000]).prop_map(|(bins, quantum)| format!(
            "{{ kind = 'sfq', bins = {bins}, quantum_bytes = {quantum} }}"
        )),
    ];
    let law = prop_oneof![
        Just("{ kind = 'none' }".to_owned()),
        (1_u32..50, 10_u32..300, word(&["rfc8289", "ns2"])).prop_map(
            |(target, interval, variant)| format!(
                "{{ kind = 'codel', target_ms = {target}, interval_ms = {interval}, variant = '{variant}' }}"
            )
        ),
        (1_u32..50).prop_map(|target| format!("{{ kind = 'docsis_pie', target_ms = {target} }}")),
    ];
    let two_queues = word(&[
        "{ kind = 'dualq' }",
        "{ kind = 'dualq', variant = 'linux' }",
        "{ kind = 'dualq', variant = 'linux', drop_early = true }",
        "{ kind = 'low_latency' }",
        "{ kind = 'low_latency', dscp = [0], queue_protection = false }",
        "{ kind = 'low_latency', dscp = [0], weight = 1, estimator = 'coupled_l' }",
    ]);
    let own = two_queues.prop_map(|kind| (kind.to_owned(), "{ kind = 'none' }".to_owned()));
    (limit(), prop_oneof![2 => (scheduler, law), 1 => own]).prop_map(|(limit, (scheduler, law))| {
        format!("{{ {limit} scheduler = {scheduler}, law = {law} }}")
    })
}

fn tcp_keys() -> impl Strategy<Value = String> {
    prop_oneof![4 => keys_of_tcp(), 1 => keys_of_quic()]
}

fn keys_of_quic() -> impl Strategy<Value = String> {
    (
        word(&["rfc", "linux"]),
        word(&["reno", "cubic"]),
        prop_oneof![Just(1452_u16), 1200_u16..2900],
        (1_u32..30, 1_u32..4, any::<bool>()),
    )
        .prop_map(|(dialect, control, mss, (window, ack_every, pacing))| {
            format!(
                "{{ transport = 'quic', dialect = '{dialect}',
                    congestion_control = {{ kind = '{control}' }}, mss_bytes = {mss},
                    pacing = {pacing}, initial_window_segments = {window},
                    ack_every_segments = {ack_every} }}"
            )
        })
}

fn keys_of_tcp() -> impl Strategy<Value = String> {
    (
        word(&["rfc", "ns2"]),
        word(&["reno", "cubic"]),
        word(&["sack", "newreno", "reno"]),
        prop_oneof![Just(1460_u16), 64_u16..2900],
        (1_u32..30, 1_u32..4, any::<bool>()),
    )
        .prop_map(|(dialect, control, recovery, mss, (window, ack_every, timestamps))| {
            format!(
                "{{ dialect = '{dialect}', congestion_control = {{ kind = '{control}' }},
                    recovery = '{recovery}', mss_bytes = {mss}, timestamps = {timestamps},
                    initial_window_segments = {window}, ack_every_segments = {ack_every} }}"
            )
        })
}

/// An entry of the traffic list.
fn traffic() -> impl Strategy<Value = String> {
    let transfer = (
        word(&["up", "down"]),
        prop::option::of((1_u32..200_000, 0.0..1.0)),
        (1_u32..6, 0.0..0.3),
        tcp_keys(),
    )
        .prop_map(|(direction, file, (connections, spread), tcp)| {
            let file = file.map_or(String::new(), |(bytes, pause)| {
                format!("file_bytes = {bytes}, pause_s = {pause},")
            });
            format!(
                "{{ kind = 'transfer', server = 'near', direction = '{direction}', {file}
                    connections = {connections}, start_spread_s = {spread}, tcp = {tcp} }}"
            )
        });
    let web = (1_u32..30, 1_u32..40_000, 1_u32..8, 1_u32..3, tcp_keys()).prop_map(
        |(objects, bytes, connections, users, tcp)| {
            format!(
                "{{ kind = 'web', servers = ['near', 'far'], pause_s = 0.1, html_bytes = {bytes},
                    objects = {{ kind = 'fixed', per_server = {objects}, bytes = {bytes} }},
                    connections_per_server = {connections}, users = {users}, tcp = {tcp} }}"
            )
        },
    );
    let stream =
        (word(&["up", "down"]), 1_u16..2900, 1.0..50.0).prop_map(|(direction, bytes, interval)| {
            format!(
                "{{ kind = 'stream', purpose = 'data', server = 'far', direction = '{direction}',
                    packet_bytes = {bytes}, interval_ms = {interval} }}"
            )
        });
    prop_oneof![3 => transfer, 2 => web, 2 => stream]
}

/// A network of which every part is drawn.
#[derive(Debug, Clone)]
struct Case {
    up_mbps: f64,
    down_mbps: f64,
    /// Peak over sustained rate, up and down.
    peaks: (f64, f64),
    bursts: (u32, u32),
    cable_ms: f64,
    near_ms: f64,
    far_ms: f64,
    map_ms: f64,
    text: String,
}

impl Case {
    fn scenario(&self) -> Scenario {
        scenario(&self.text)
    }
}

const CONGESTION_SPREAD: f64 = 20.0;
/// Bytes of the largest segment drawn, with headers and timestamps.
const LARGEST_PACKET: f64 = 2900.0 + 52.0;

fn congestion_keys(up_mbps: f64) -> String {
    let levels = [0.3, 0.5, 1.0, 2.0].map(|factor| factor * up_mbps);
    format!(
        "congestion = {{ levels_mbps = {levels:?}, step_s = 0.3, grant_spread_percent = {CONGESTION_SPREAD} }},"
    )
}

fn cases() -> impl Strategy<Value = Case> {
    let service = (
        (rate_mbps(), rate_mbps()),
        (1.0..4.0, 1.0..4.0),
        (3000_u32..200_000, 3000_u32..200_000),
        (word(&["requests", "transmissions"]), any::<bool>(), 0.5..6.0),
    );
    let network = (0.0..3.0, 0.0..60.0, 0.0..150.0, word(&["rfc", "ns2"]), any::<u64>());
    let rest = (queue_keys(), queue_keys(), prop::collection::vec(traffic(), 1..4), 0.5..5.0);
    (service, network, rest).prop_map(|(service, network, rest)| {
        let ((up_mbps, down_mbps), peaks, bursts, (shaping, congested, map_ms)) = service;
        let (cable_ms, near_ms, far_ms, dialect, seed) = network;
        let (up_queue, down_queue, traffic, duration_s) = rest;
        let congestion = if congested { congestion_keys(up_mbps) } else { String::new() };
        // The time is cut so that no case sends more than some 20 Mbit either way.
        let most_mbps = f64::max(up_mbps * peaks.0, down_mbps * peaks.1);
        let duration_s = f64::min(duration_s, (20.0 / most_mbps).max(0.3));
        let (up_peak, down_peak) = (up_mbps * peaks.0, down_mbps * peaks.1);
        let channel = up_peak * 1.5 + 1.0;
        let seed = seed >> 1;
        let mut text = format!(
            "duration_s = {duration_s}
             seed = {seed}
             dialect = '{dialect}'
             cable.delay_ms = {cable_ms}
             upstream = {{ sustained_mbps = {up_mbps}, peak_mbps = {up_peak}, burst_bytes = {},
                           shaping = '{shaping}', queue = {up_queue}, {congestion}
                           mac = {{ map_interval_ms = {map_ms}, channel_mbps = {channel} }} }}
             downstream = {{ sustained_mbps = {down_mbps}, peak_mbps = {down_peak},
                             burst_bytes = {}, queue = {down_queue} }}
             servers.near = {{ delay_ms = {near_ms} }}
             servers.far = {{ delay_ms = {far_ms}, rate_mbps = 20 }}\n",
            bursts.0, bursts.1
        );
        for (index, entry) in traffic.iter().enumerate() {
            writeln!(text, "traffic.t{index} = {entry}").unwrap();
        }
        Case { up_mbps, down_mbps, peaks, bursts, cable_ms, near_ms, far_ms, map_ms, text }
    })
}

fn delivered_bytes(results: &Results, direction: &str) -> f64 {
    let rows = results.flows.iter().filter(|row| row.direction == direction);
    rows.map(|row| row.delivered_bytes as f64).sum()
}

at_random! {
    800;

    /// What must hold of any run:
    ///
    /// - `Simulation::run` does not panic: packets are conserved.
    /// - Delivered and dropped are not more than sent.
    /// - No packet is faster than the propagation on the cable and to the nearer server.
    /// - In T seconds, each way, at most burst + T * sustained rate bytes pass, and at most
    ///   T * peak rate + 1522, or the largest packet there is here: one that is larger than the bucket
    ///   passes when that is full.
    /// - Grants are not more than 20 % above the highest level of congestion, which is twice the
    ///   sustained rate, rounded up by a byte each.
    #[test]
    fn packets_are_conserved_and_bounds_are_kept(case in cases()) {
        let scenario = case.scenario();
        let results = Simulation::run(&scenario);
        let propagation_ms = case.cable_ms + case.near_ms.min(case.far_ms);
        for row in &results.flows {
            let dropped = row.dropped_overflow_packets + row.dropped_aqm_packets;
            prop_assert!(row.delivered_packets + dropped <= row.sent_packets);
            prop_assert!(row.delivered_bytes <= row.sent_bytes);
            if let Some(least) = row.latency_min_ms {
                prop_assert!(least >= propagation_ms - 1e-6, "{least} ms");
            }
        }
        let seconds = scenario.duration_s;
        let ways = [
            ("up", case.up_mbps, case.peaks.0, case.bursts.0),
            ("down", case.down_mbps, case.peaks.1, case.bursts.1),
        ];
        for (way, mbps, peak, burst) in ways {
            let bytes = delivered_bytes(&results, way);
            let sustained = f64::from(burst) + seconds * mbps * 1e6 / 8.0;
            let at_peak = LARGEST_PACKET + seconds * mbps * peak * 1e6 / 8.0;
            prop_assert!(bytes <= sustained.min(at_peak) + 1.0, "{way}: {bytes} B, {seconds} s");
        }
        if scenario.upstream.congestion.is_some() {
            let maps = (seconds * 1e3 / case.map_ms).ceil();
            let mean = case.up_mbps * 2.0 * case.map_ms * 1e3 / 8.0;
            let granted = maps * (mean * (1.0 + CONGESTION_SPREAD / 100.0) + 1.0);
            prop_assert!(delivered_bytes(&results, "up") <= granted);
        }
    }

    /// A stream of three times the sustained rate uses up the service: in T seconds at least
    /// burst + T * sustained rate, less what the start costs (three MAP intervals and a random place
    /// in the fourth, and the first packet's way), what is under way at the end (the same, and a
    /// packet), and the bytes that requests and grants are rounded down by (one each MAP, of 25 B or
    /// more: 4 %). The peak rate is twice the sustained rate, which uses up a burst of half a second's
    /// worth within the first half second.
    #[test]
    fn an_overloaded_modem_carries_its_service(
        mbps in rate_mbps(),
        size in prop_oneof![1_u16..200, 200_u16..1523, 1523_u16..9019],
        shaping in word(&["requests", "transmissions"]),
        dialect in word(&["rfc", "ns2"]),
        map_ms in 1.0..6.0,
        seed in 0_u32..1000,
    ) {
        let size = f64::from(size).max(mbps * 10.0).round();
        let interval_ms = size * 8.0 / (3.0 * mbps * 1e3);
        let sustained = mbps * 1e6 / 8.0;
        let burst = (sustained * 0.5).max(9018.0).round();
        // 2 s, or longer if packets are so few that one is much.
        let seconds = f64::max(2.0, 200.0 * size / sustained);
        let limit = (sustained * 0.1).max(40.0 * size).round();
        let results = Simulation::run(&scenario(&format!(
            "duration_s = {seconds}
             seed = {seed}
             dialect = '{dialect}'
             upstream = {{ sustained_mbps = {mbps}, peak_mbps = {}, burst_bytes = {burst},
                           shaping = '{shaping}', queue.limit_bytes = {limit},
                           mac = {{ map_interval_ms = {map_ms}, channel_mbps = {} }} }}
             downstream = {{ sustained_mbps = 20, peak_mbps = 50, burst_bytes = 10_000_000 }}
             servers.near = {{ delay_ms = 0 }}
             traffic.flood = {{ kind = 'stream', purpose = 'data', server = 'near',
                                packet_bytes = {size}, interval_ms = {interval_ms}, start_s = 0 }}",
            2.0 * mbps,
            4.0 * mbps + 1.0,
        )));
        let bytes = flow(&results, "flood", "up").delivered_bytes as f64;
        let budget = burst + seconds * sustained;
        let ends_s = 2.0 * 4.0 * map_ms / 1e3 + 0.002;
        let least = (budget - ends_s * 2.0 * sustained - 3.0 * size) * 0.96;
        prop_assert!(bytes <= budget + 1.0, "{bytes} of {budget} bytes");
        prop_assert!(bytes >= least, "{bytes} of {budget} bytes, at least {least}");
    }

    /// An overloaded downstream carries its service too, and a packet goes as soon as the buckets let it: less two packets, the
    /// one being sent at the end and the 1 ms of cable.
    #[test]
    fn an_overloaded_downstream_carries_its_service(
        mbps in rate_mbps(),
        size in prop_oneof![1_u16..200, 200_u16..1523, 1523_u16..9019],
    ) {
        // An Ethernet frame has 64 bytes at least.
        let size = f64::from(size.max(64)).max(mbps * 10.0).round();
        let interval_ms = size * 8.0 / (3.0 * mbps * 1e3);
        let sustained = mbps * 1e6 / 8.0;
        let burst = (sustained * 0.5).max(9018.0).round();
        let seconds = f64::max(2.0, 200.0 * size / sustained);
        let results = Simulation::run(&scenario(&format!(
            "duration_s = {seconds}
             upstream = {{ sustained_mbps = 5, peak_mbps = 20, burst_bytes = 10_000_000 }}
             downstream = {{ sustained_mbps = {mbps}, peak_mbps = {}, burst_bytes = {burst},
                             queue.limit_packets = 40 }}
             servers.near = {{ delay_ms = 0, rate_mbps = 10_000 }}
             traffic.flood = {{ kind = 'stream', purpose = 'data', server = 'near', direction = 'down',
                                packet_bytes = {size}, interval_ms = {interval_ms}, start_s = 0 }}",
            2.0 * mbps,
        )));
        let bytes = flow(&results, "flood", "down").delivered_bytes as f64;
        let budget = burst + seconds * sustained;
        let least = budget - 0.001 * 2.0 * sustained - 2.0 * size;
        prop_assert!(bytes <= budget + 1.0, "{bytes} of {budget} bytes");
        prop_assert!(bytes >= least, "{bytes} of {budget} bytes, at least {least}");
    }
}
