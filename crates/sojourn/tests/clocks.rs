//! Clocks that drift: timers of hosts wander past the MAPs of the CMTS, and results stay in simulated time.

use crate::common::{flow, refused, scenario};
use sojourn::Simulation;
use sojourn::engine::packet::Direction;
use sojourn::results::metrics::Results;
use sojourn::results::metrics::rows::FlowRow;
use sojourn::scenario::Scenario;

const LINE: &str = "upstream.sustained_mbps = 20
downstream.sustained_mbps = 100
servers.near.delay_ms = 5
";

fn run(keys: &str, clock_drift_ppm: f64, seed: u64) -> Results {
    let clock_drift_ppm = Some(clock_drift_ppm);
    Simulation::run(&Scenario { clock_drift_ppm, seed, ..scenario(&format!("{LINE}{keys}")) })
}

/// A game that sends every 20 ms on an idle line with a MAP every 2 ms, where the place of requests and grants in the MAP
/// interval is not random.
fn game(clock_drift_ppm: f64, seed: u64) -> FlowRow {
    let keys = "duration_s = 300
        upstream.modem.kind = 'shared_channel'
        upstream_channel = { map_interval_ms = 2, phy.kind = 'sc_qam', grant_place = 'start' }
        cable.timing.kind = 'documents'
        traffic.game = { kind = 'stream', purpose = 'game', direction = 'up', interval_ms = 20 }";
    flow(&run(keys, clock_drift_ppm, seed), "game", "up").clone()
}

/// The standard deviation over seeds of the mean latency in ms.
fn spread(games: &[FlowRow]) -> f64 {
    let means: Vec<f64> = games.iter().map(|game| game.latency_mean_ms.unwrap()).collect();
    let count = means.len() as f64;
    let mean = means.iter().sum::<f64>() / count;
    (means.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / (count - 1.0)).sqrt()
}

#[test]
fn a_game_keeps_its_place_within_the_map_interval_without_drift_alone() {
    let games = |drift_ppm| (1..=8).map(|seed| game(drift_ppm, seed)).collect::<Vec<_>>();
    let (locked, drifting) = (games(0.0), games(50.0));
    for (locked, drifting) in locked.iter().zip(&drifting) {
        assert_eq!(locked.latency_p90_ms, locked.latency_p999_ms);
        assert_ne!(drifting.latency_p90_ms, drifting.latency_p99_ms);
    }
    // A place that lasts is uniform over 2 ms: 2 / sqrt(12) = 0.58 ms, and a quarter of that off with 8 seeds. One that
    // moves by 25 us a second in the mean passes 3.75 intervals in 300 s.
    let (of_locked, of_drifting) = (spread(&locked), spread(&drifting));
    assert!((of_locked - 0.58).abs() < 0.2, "{of_locked}");
    assert!(of_drifting < of_locked / 3.0, "{of_drifting}");
}

#[test]
fn each_host_sends_by_its_own_clock_from_its_start_on() {
    let keys = "duration_s = 13
        metrics.packet_trace = true
        traffic.game = { kind = 'stream', purpose = 'game', start_s = 3, interval_ms = 20 }";
    let results = run(keys, 1000.0, 1);
    let [up, down] = Direction::BOTH.map(|direction| {
        let packets = results.packets.iter().filter(|packet| packet.direction == direction);
        packets.map(|packet| packet.sent.ps()).collect::<Vec<_>>()
    });
    assert_eq!(up[0], 3_000_000_000_000);
    let intervals = [up, down].map(|sent| {
        let gaps: Vec<_> = sent.windows(2).map(|pair| pair[1] - pair[0]).collect();
        // Up to 2 ps are rounded at each end.
        assert!(gaps.iter().all(|gap| gap.abs_diff(gaps[0]) <= 4), "{gaps:?}");
        gaps[0]
    });
    // 1000 ppm of 20 ms are 20 us.
    let drifts = intervals.map(|interval| interval.abs_diff(20_000_000_000));
    assert!(drifts.iter().all(|drift| (1_000_000..=20_100_000).contains(drift)), "{drifts:?}");
    assert!(intervals[0].abs_diff(intervals[1]) > 1_000_000, "{intervals:?}");
}

/// Pages take as long as without drift, but for the timers of TCP: what the clocks of hosts measured would be off by up
/// to 1 in 1000.
#[test]
fn results_are_in_simulated_time() {
    let measured = |drift_ppm, seed| {
        let results = run(
            "duration_s = 20
             dialect = 'rfc'
             upstream.modem.kind = 'link'
             servers.near.host_jitter_us = 0
             traffic.read = { kind = 'web', servers = ['near'], html_bytes = 100_000, objects = { kind = 'fixed' },
                              pause_s = 3 }", drift_ppm, seed);
        let row = flow(&results, "read", "down");
        [row.page_load_median_s.unwrap(), row.rtt_mean_ms.unwrap()]
    };
    for seed in 1..=4 {
        for (drifting, without) in measured(1000.0, seed).iter().zip(measured(0.0, seed)) {
            assert!((drifting / without - 1.0).abs() < 1e-9, "{drifting} {without}");
        }
    }
}

#[test]
fn a_drift_is_within_its_range() {
    let keys =
        format!("duration_s = 1\n{LINE}traffic.game = {{ kind = 'stream', purpose = 'game' }}");
    for (value, found) in [("-1", "-1"), ("1001", "1001"), ("'fast'", "a string \"fast\"")] {
        let refused = refused(&keys, &[&format!("clock_drift_ppm = {value}")]);
        let meant = format!("clock_drift_ppm: found {found}; allowed: a number from 0 to 1000");
        assert!(refused.ends_with(&meant), "{refused}");
    }
}
