//! The upstream channel that modems share, against arithmetic and against the modem of the studies.

mod common;

use common::{flow, queue, series};
use proptest::prelude::*;
use sojourn_core::metrics::results::{Fate, Results, ServiceFlowRow};
use sojourn_core::network::Simulation;
use sojourn_core::packet::Direction;
use sojourn_core::scenario::load;

/// A service of 5/20 Mbps on a shared channel, by default four times 30.72 Mbps.
const SHARED: &str = "
    upstream.sustained_mbps = 5
    upstream.peak_mbps = 20
    upstream.burst_bytes = 100_000
    downstream.sustained_mbps = 100
    downstream.peak_mbps = 100
    downstream.burst_bytes = 100_000
    servers.near = { delay_ms = 0 }
    ";

fn run_of(modem: &str, keys: &str) -> Results {
    let text = format!("upstream.modem.kind = '{modem}'\n{SHARED}{keys}");
    let mut variants =
        load(&text, "shared.toml", &[]).unwrap_or_else(|problem| panic!("{problem}\n{text}"));
    Simulation::run(&variants.remove(0).scenario)
}

fn run(keys: &str) -> Results {
    run_of("shared_channel", keys)
}

fn row<'a>(results: &'a Results, homes: &str, flow: &str) -> &'a ServiceFlowRow {
    let is_meant = |row: &&ServiceFlowRow| {
        (&*row.homes, &*row.service_flow, row.direction) == (homes, flow, "up")
    };
    results.service_flows.iter().find(is_meant).expect("there is such a service flow")
}

/// A flood of packets of 1000 B from a home of each group that is named.
fn floods(names: &[&str], interval_ms: f64) -> String {
    let entry = |name: &&str| {
        format!(
            "traffic.{name} = {{ kind = 'stream', purpose = 'data', server = 'near', start_s = 0,
                                 home = '{name}', packet_bytes = 1000, interval_ms = {interval_ms} }}\n"
        )
    };
    names.iter().map(entry).collect()
}

/// A lone packet waits for the next MAP (0 to 2 ms), is asked for in its request region, granted two
/// intervals on (4 ms) and sent anywhere in that interval behind its request region.
///
/// The region is 8 * 2 of 640 minislots: 50 us. The packet of 218 B is 246 B on the channel, with the
/// segment header 254 B, with two codewords' parity 294 B: 392 symbols of 6 bits, 496 with preamble
/// and guard, 8 minislots or 25 us, of which 246 whole bytes take 246 * floor(25 us / 246). So the wait
/// is (0 to 2 ms) + 4 ms + 0.05 + (0 to 1.925 ms) + 0.025 ms: 4.075 to 8 ms, in the mean 6.0375 ms. To
/// it come 1 ms of cable and 1.744 us on the link of 1 Gbps.
///
/// As in the test of the modem of the studies (closed_form.rs), the stream's interval runs through all
/// phases, and the mean of 5650 packets is off by 0.56 ms / sqrt(5650) = 7.4 us; four times that.
#[test]
fn a_stream_alone_has_the_latency_of_request_and_grant() {
    let stream = "duration_s = 120
         traffic.game = { kind = 'stream', purpose = 'game', server = 'near', interval_ms = 21.2360679774998 }";
    let results = run(stream);
    let up = flow(&results, "game", "up");
    let fixed_ms = 1.001744;
    let [min, mean, max] =
        [up.latency_min_ms, up.latency_mean_ms, up.latency_max_ms].map(Option::unwrap);
    println!("{min:.4} to {max:.4} ms, mean {mean:.4}");
    assert!(min >= fixed_ms + 4.075 - 1e-3 && max <= fixed_ms + 8.0 + 1e-9);
    assert!((mean - fixed_ms - 6.0375).abs() < 0.03);
    let counted = row(&results, "home", "primary");
    assert_eq!(
        counted.mac_requests,
        counted.mac_grants.map(|grants| grants + up.sent_packets - counted.passed_packets)
    );
    assert_eq!((counted.mac_collisions, counted.mac_unused_bytes), (Some(0), Some(0)));
    // The modem of the studies: 4 to 8 ms less 0.0872 ms of burst; the means differ by the arithmetic
    // of both, 6.0375 - (6 - 0.0436 + 0.01744), and by the noise of both.
    let studied = run_of("single_queue", stream);
    let other = flow(&studied, "game", "up").latency_mean_ms.unwrap();
    println!("single queue {other:.4}");
    assert!((mean - other - 0.064).abs() < 0.06, "{mean} and {other}");
}

/// One flow that wants more than a channel carries: of 160 minislots of a MAP 16 are the request region,
/// 144 * 64 = 9216 symbols are left, less 104 for preamble and guard 9112, that is 6834 B: 28 codewords of
/// 240 B and one of 114 B, so 28 * 220 + 94 = 6254 B, less 8 of header 6246 B in 2 ms: 24.984 Mbps. Packets of
/// 1000 B take 1028 there: 24.30 Mbps of them.
#[test]
fn a_channel_carries_what_its_framing_leaves() {
    let keys = "duration_s = 5
         upstream_channel.channels = 1
         upstream.sustained_mbps = 100
         upstream.peak_mbps = 100
         homes.a = {}\n";
    let text = format!("{}{}", keys, floods(&["a"], 0.25));
    let results = run(&text
        .replace("upstream.sustained_mbps = 100\n         upstream.peak_mbps = 100\n", "")
        .replace("homes.a = {}", "homes.a.upstream = { sustained_mbps = 100, peak_mbps = 100 }"));
    let carried = flow(&results, "a", "up").throughput_mbps;
    let want = 6246.0 * 8.0 / 2e3 * 1000.0 / 1028.0;
    println!("{carried:.3} Mbps, expected {want:.3}");
    // The first packets come after 4 ms and more of 5 s.
    assert!((carried / want - 1.0).abs() < 0.003);
    let channel = &results.channels[0];
    // 144 of 160 minislots.
    assert!((channel.utilisation_percent - 90.0).abs() < 0.3, "{}", channel.utilisation_percent);
    assert!(series(&results, "upstream channel", "utilisation").series.values.len() >= 49);
}

/// The same of OFDMA: 235 minislots of 60 B in each of 15 frames, less 16, are 3509 * 60 - 8 = 210 532 B in
/// 2.025 ms, 831.7 Mbps.
#[test]
fn ofdma_carries_what_its_frames_hold() {
    let results = run(&format!(
        "duration_s = 0.5
         upstream_channel = {{ channels = 1, phy = {{ kind = 'ofdma' }} }}
         homes.a.upstream = {{ sustained_mbps = 1000, peak_mbps = 1000, burst_bytes = 1_000_000 }}
         servers.near.rate_mbps = 10_000\n{}",
        floods(&["a"], 0.008).replace("'near'", "'near'"),
    )
    .replace("servers.near.rate_mbps = 10_000\n", "\n"));
    let carried = flow(&results, "a", "up").throughput_mbps;
    let want = 210_532.0 * 8.0 / 2025.0 * 1000.0 / 1028.0;
    println!("{carried:.3} Mbps, expected {want:.3}");
    // Nothing passes in the first four of 247 intervals.
    assert!(carried < want && carried > want * 0.975);
}

/// Modems that all want more than there is get the same, whatever their number.
#[test]
fn saturated_modems_share_alike() {
    for modems in [2_usize, 7, 40] {
        let names: Vec<String> = (0..modems).map(|n| format!("h{n}")).collect();
        let mut keys = String::from(
            "duration_s = 20\nupstream_channel.channels = 1\nmetrics.connections = 0\n",
        );
        for name in &names {
            keys += &format!("homes.{name}.upstream = {{ sustained_mbps = 30, peak_mbps = 30 }}\n");
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let results = run(&format!("{keys}{}", floods(&names, 0.3)));
        let rates: Vec<f64> =
            names.iter().map(|name| flow(&results, name, "up").throughput_mbps).collect();
        let mean = rates.iter().sum::<f64>() / modems as f64;
        let [least, most] = [f64::min as fn(f64, f64) -> f64, f64::max]
            .map(|f| rates.iter().copied().reduce(f).unwrap());
        println!(
            "{modems} modems: {least:.4} to {most:.4} Mbps, {:.2} in all",
            mean * modems as f64
        );
        assert!(least > 0.98 * mean && most < 1.02 * mean);
    }
}
