//! The plain fibre, and what plain links in place of modems share with it: several senders that know ahead
//! when their packets leave.

use crate::common::{flow, queue, scenario};
use sojourn::Simulation;
use sojourn::results::metrics::Results;
use sojourn_testing::at_random;

fn run(text: &str) -> Results {
    Simulation::run(&scenario(text))
}

const SERVICE: &str = "
    upstream = { sustained_mbps = 100, peak_mbps = 200, burst_bytes = 100_000 }
    downstream = { sustained_mbps = 500, peak_mbps = 800, burst_bytes = 1_000_000 }
";

/// A packet of 218 B takes 1.744 us on a line of 1 Gbps, as long on the server's link, and light takes
/// 10 km * 1.468 / 299 792.458 km/s = 48.967 us. Together 52.455 us, each way and for every packet.
#[test]
fn a_stream_alone_has_the_latency_of_line_glass_and_link() {
    let results = run(&format!(
        "duration_s = 5
         access.kind = 'fibre'
         {SERVICE}
         servers.peer = {{ delay_ms = 0 }}
         traffic.up = {{ kind = 'stream', purpose = 'voice', server = 'peer', direction = 'up' }}
         traffic.down = {{ kind = 'stream', purpose = 'voice', server = 'peer', direction = 'down' }}"
    ));
    for (name, direction) in [("up", "up"), ("down", "down")] {
        let row = flow(&results, name, direction);
        assert!(row.sent_packets > 240);
        for ms in [row.latency_min_ms, row.latency_mean_ms, row.latency_max_ms] {
            let ms = ms.unwrap();
            // The histogram is good to 0.1 % or 1 us.
            assert!((ms - 0.052_455).abs() < 0.001_1, "{name}: {ms}");
        }
    }
    assert!(results.warnings.is_empty(), "{:?}", results.warnings);
}

/// The service's rate and not the line's is the limit: 100 Mbps, and a burst of 100 000 B that is less
/// than 1 % of what passes in 10 s.
#[test]
fn an_upload_has_the_sustained_rate_of_its_service() {
    let results = run(&format!(
        "duration_s = 10
         access = {{ kind = 'fibre', length_km = 2 }}
         {SERVICE}
         servers.files = {{ delay_ms = 5 }}
         traffic.upload = {{ kind = 'transfer', server = 'files' }}"
    ));
    let row = flow(&results, "upload", "up");
    assert!((97.0..101.0).contains(&row.throughput_mbps), "{}", row.throughput_mbps);
    assert!(queue(&results, "upstream").departed_packets > 70_000);
    assert!(queue(&results, "downstream").departed_packets > 0);
}

/// A neighbour at 0.1 Mbps, who sends 1250 B every 90 ms, more than its rate lets pass, does not stand in the way of
/// another home's packets at the server, on fibre or behind plain links.
#[test]
fn a_slow_home_does_not_hold_back_another_one() {
    let plain_link = "upstream.modem.kind = 'link'";
    for access in ["access.kind = 'fibre'", plain_link] {
        let results = run(&format!(
            "duration_s = 20
             {access}
             upstream.sustained_mbps = 100
             upstream.peak_mbps = 200
             upstream.burst_bytes = 100_000
             downstream = {{ sustained_mbps = 500, peak_mbps = 800, burst_bytes = 1_000_000 }}
             servers.peer = {{ delay_ms = 0 }}
             [homes.quick]
             [homes.slow.upstream]
             {}
             sustained_mbps = 0.1
             peak_mbps = 0.1
             burst_bytes = 1522
             [traffic.game]
             kind = 'stream'
             server = 'peer'
             purpose = 'game'
             home = 'quick'
             [traffic.bulk]
             kind = 'stream'
             server = 'peer'
             purpose = 'data'
             packet_bytes = 1250
             interval_ms = 90
             home = 'slow'",
            access.strip_prefix("upstream.").unwrap_or_default()
        ));
        let worst = flow(&results, "game", "up").latency_max_ms.unwrap();
        assert!(worst < 1.2, "{access}: {worst}");
        assert!(flow(&results, "bulk", "up").latency_max_ms.unwrap() > 100.0);
    }
}

at_random! {
    40;
    /// Homes on fibre share nothing but servers: one more home, with traffic of its own, changes
    /// nothing of the first one's upload where the server's links are far from busy.
    #[test]
    fn another_home_changes_nothing(
        seed in 0_u32..1000,
        sustained_mbps in 1_u32..50,
        length_km in 0_u32..40,
        limit_packets in 2_u32..200,
    ) {
        let network = |more: &str| run(&format!(
            "duration_s = 2
             seed = {seed}
             access = {{ kind = 'fibre', length_km = {length_km} }}
             downstream = {{ sustained_mbps = 100, peak_mbps = 100, burst_bytes = 3044 }}
             servers.files = {{ delay_ms = 4, rate_mbps = 1_000_000 }}
             [upstream]
             sustained_mbps = {sustained_mbps}
             peak_mbps = {sustained_mbps}
             burst_bytes = 3044
             queue.limit_packets = {limit_packets}
             [homes.first]
             [traffic.upload]
             kind = 'transfer'
             server = 'files'
             {more}"
        ));
        let (alone, with) = (
            network(""),
            network("[homes.second]\ncount = 2\n[traffic.other]\nkind = 'transfer'\n\
                     server = 'files'\nhome = 'second'"),
        );
        let (alone, with) = (flow(&alone, "upload", "up"), flow(&with, "upload", "up"));
        assert_eq!(alone.sent_packets, with.sent_packets);
        assert_eq!(alone.delivered_bytes, with.delivered_bytes);
        assert_eq!(alone.dropped_overflow_packets, with.dropped_overflow_packets);
    }
}

/// A group's own distance is its fibre's: 100 km at 299 792.458 km/s over 1.468 take 0.4897 ms, 10 km a
/// tenth of it.
#[test]
fn a_group_of_homes_has_its_own_distance() {
    let results = run(
        "duration_s = 1
         access = { kind = 'fibre', line_mbps = 1000 }
         upstream = { sustained_mbps = 100, peak_mbps = 100, burst_bytes = 10_000 }
         downstream = { sustained_mbps = 100, peak_mbps = 100, burst_bytes = 10_000 }
         servers.near = { delay_ms = 0 }
         homes.far = { count = 1, distance_km = 100 }
         homes.usual = { count = 1 }
         traffic.far = { kind = 'stream', purpose = 'data', server = 'near', packet_bytes = 100, home = 'far' }
         traffic.usual = { kind = 'stream', purpose = 'data', server = 'near', packet_bytes = 100, home = 'usual' }",
    );
    let latency = |name| flow(&results, name, "up").latency_min_ms.expect("packets came");
    let extra = 90.0 * 1.468 / 299_792.458 * 1e3;
    assert!((latency("far") - latency("usual") - extra).abs() < 1e-6);
}
