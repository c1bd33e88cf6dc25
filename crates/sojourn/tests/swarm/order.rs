//! Networks in which theory says which of two is better: streams over plain links.

use serde_json::{Value, json};
use sojourn::Simulation;
use sojourn::engine::rng::Rng;
use sojourn::results::metrics::Results;

use super::network;

const PACKET_BYTES: u64 = 500;

/// More room loses no more, a faster line delays no packet more, and a longer one delays all alike.
pub fn streams(seed: u64) {
    let mut rng = Rng::named(seed, "order");
    let mut between = |low: f64, high: f64| low * (high / low).powf(rng.uniform());
    let limit = between(2.0, 40.0) as u64;
    let mbps = (between(0.5, 4.0) * 100.0).round() / 100.0;
    let peak = mbps * between(1.0, 3.0).round();
    let km = between(1.0, 100.0).round();
    let access = if between(1.0, 4.0) < 2.0 { "fibre" } else { "docsis" };
    let direction = if between(1.0, 4.0) < 2.0 { "up" } else { "down" };
    let entries = (0..1 + (between(1.0, 4.0) as usize)).map(|number| {
        let entry = json!({
            "kind": "stream", "purpose": "data", "server": "s", "direction": direction,
            "packet_bytes": PACKET_BYTES, "interval_ms": between(1.0, 10.0),
            "interval_deviation_percent": between(1.0, 30.0), "start_s": between(0.01, 0.2),
        });
        (format!("t{number}"), entry)
    });
    let traffic: Value = entries.collect();
    let burst = between(2000.0, 50_000.0) as u64;
    let scenario = |limit: u64, factor: f64, km: f64| {
        let service = json!({
            "sustained_mbps": mbps * factor, "peak_mbps": peak * factor, "burst_bytes": burst,
            "queue": { "limit_packets": limit },
        });
        let mut keys = json!({
            "duration_s": 2, "seed": seed, "upstream": service, "downstream": service,
            "servers": { "s": { "delay_ms": 5 } }, "traffic": traffic,
        });
        if access == "fibre" {
            keys["access"] = json!({ "kind": "fibre", "length_km": km });
        } else {
            keys["upstream"]["modem"] = json!({ "kind": "link" });
            keys["cable"] = json!({ "distance_km": km });
        }
        keys
    };
    let run = |keys: &Value| {
        let scenario = network::strictly(keys).unwrap_or_else(|problem| panic!("{problem}"));
        Simulation::run(&scenario)
    };
    let keys = scenario(limit, 1.0, km);
    let reported = super::Reported(&keys);
    let [base, roomy] = [limit, 2 * limit].map(|limit| run(&scenario(limit, 1.0, km)));
    assert!(
        lost(&roomy) <= lost(&base),
        "lost {} with twice the room, not {}",
        lost(&roomy),
        lost(&base)
    );
    let [slow, fast, far] = [(1.0, km), (1.3, km), (1.0, km + 100.0)]
        .map(|(factor, km)| run(&scenario(1_000_000, factor, km)));
    for ((slow, fast), far) in slow.flows.iter().zip(&fast.flows).zip(&far.flows) {
        let (mean, least) = (slow.latency_mean_ms.unwrap(), slow.latency_min_ms.unwrap());
        // What is delivered in time is more, and has waited longer.
        if fast.delivered_packets == slow.delivered_packets {
            assert!(fast.latency_mean_ms.unwrap() <= mean + 1e-9, "{fast:?} {slow:?}");
        }
        assert!(fast.latency_min_ms.unwrap() <= least + 1e-9);
        let more = far.latency_min_ms.unwrap() - least;
        let way_ms = 100.0 * propagation_ms_per_km(access);
        assert!((more - way_ms).abs() < 1e-6, "{more} ms over 100 km, not {way_ms}");
    }
    drop(reported);
}

fn propagation_ms_per_km(access: &str) -> f64 {
    if access == "fibre" { 1.468 / 299.792_458 } else { 0.005 }
}

fn lost(results: &Results) -> u64 {
    results.flows.iter().map(|row| row.dropped_overflow_packets).sum()
}
