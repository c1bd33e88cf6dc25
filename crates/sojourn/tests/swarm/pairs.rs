//! Pairs of runs that must be one: what records does not act, nor does what is set so that it cannot act.

use serde_json::{Value, json};
use sojourn::engine::rng::Rng;
use sojourn::results::metrics::Results;
use sojourn::results::metrics::rows::FlowRow;
use sojourn::scenario::Scenario;

use super::network;
use super::oracles::{MOST_EVENTS, run};
use crate::queue_kit::drawer::Choices;

/// Traces, watched flows and accounts of connections change no event.
pub fn recording(scenario: &Scenario) {
    let with = |traces: bool, watch_flows: u32, connections: u32| {
        let mut scenario = scenario.clone();
        scenario.metrics.packet_trace = traces;
        scenario.metrics.modem_trace = traces;
        scenario.metrics.watch_flows = watch_flows;
        scenario.metrics.connections = connections;
        run(&scenario, MOST_EVENTS)
    };
    let (Some(without), Some(with)) = (with(false, 0, 0), with(true, 8, 1000)) else { return };
    assert_eq!(without.fingerprint, with.fingerprint);
    let tables = |of: &Results| {
        let rows = format!("{:?} {:?} {:?}", of.traffic_classes, of.service_flows, of.channels);
        format!("{:?} {rows} {:?} {:?} {:?}", of.flows, of.queues, of.latency_histogram, of.pages)
    };
    assert_eq!(tables(&without), tables(&with));
    let recorded: Vec<_> = with.series.iter().map(|row| format!("{row:?}")).collect();
    for row in &without.series {
        assert!(recorded.contains(&format!("{row:?}")), "{}", row.subject);
    }
}

/// Series of other intervals change nothing but the times that are found in them.
pub fn sampling(scenario: &Scenario) {
    let mut often = scenario.clone();
    often.metrics.series_interval_ms = 7.3;
    let (Some(one), Some(other)) = (run(scenario, MOST_EVENTS), run(&often, MOST_EVENTS)) else {
        return;
    };
    same_flows(&one, &other, "series");
}

/// Every flow has the same row.
fn same_flows(one: &Results, other: &Results, what: &str) {
    let rows = |of: &Results| {
        let timeless = |row: &FlowRow| FlowRow {
            time_to_sustained_rate_s: None,
            time_to_peak_rate_s: None,
            ..row.clone()
        };
        of.flows.iter().map(|row| format!("{:?}", timeless(row))).collect::<Vec<_>>()
    };
    let (one, other) = (rows(one), rows(other));
    assert_eq!(one.len(), other.len(), "{what}");
    for (one, other) in one.iter().zip(&other) {
        assert_eq!(one, other, "{what}");
    }
}

/// A queue manager that cannot act beside the one that it then is.
fn idle_queues(packets: u64) -> Vec<[Value; 2]> {
    let limit = json!({ "limit_packets": packets });
    let with = |more: Value| {
        let mut queue = limit.clone();
        queue.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        queue
    };
    let never = 10_000;
    let drop_tails = [
        json!({ "ecn": false }),
        json!({ "limit_bytes": 4_000_000_000_u64 }),
        json!({ "law": { "kind": "codel", "target_ms": never, "interval_ms": 100_000 } }),
        json!({ "law": { "kind": "codel_dt", "target_ms": never, "interval_ms": 100_000 } }),
        json!({ "law": { "kind": "pie", "target_ms": never, "beta_hz": 0 } }),
        json!({ "law": { "kind": "pi2", "target_ms": never, "beta_hz": 0 } }),
        json!({ "law": { "kind": "pie_early", "target_ms": never, "beta_hz": 0 } }),
        json!({ "law": {
            "kind": "red", "min_threshold_packets": 1e5, "max_threshold_packets": 1e6,
        } }),
        json!({ "law": { "kind": "gsp", "threshold_ms": never } }),
        json!({ "scheduler": { "kind": "dualq", "target_ms": never, "beta_hz": 0 } }),
    ];
    // A single bin, which drops others than the arriving packet, without a limit.
    let endless = json!({ "limit_packets": 10_000_000 });
    let one_bin = [
        json!({ "kind": "sfq", "bins": 1, "quantum_bytes": 300 }),
        json!({ "kind": "sfq", "bins": 1, "quantum_bytes": 0 }),
        json!({ "kind": "fq", "queues": 1 }),
    ];
    let one_bin = one_bin.map(|scheduler| {
        [endless.clone(), json!({ "limit_packets": 10_000_000, "scheduler": scheduler })]
    });
    let drop_tails = drop_tails.map(|more| [limit.clone(), with(more)]);
    drop_tails.into_iter().chain(one_bin).collect()
}

/// Two low-latency flows without their laws are one queue, where nothing is requested for each of them.
fn idle_aggregate(packets: u64) -> [Value; 2] {
    let scheduler = json!({
        "kind": "low_latency", "dscp": [], "classic_aqm": false, "low_latency_aqm": false,
        "queue_protection": false, "classic_buffer_bytes": 4_000_000_000_u64,
    });
    [
        json!({ "limit_packets": packets }),
        json!({ "limit_packets": packets, "scheduler": scheduler }),
    ]
}

/// A queue manager that cannot act changes nothing. Packets are not marked, nor of low latency.
pub fn idle_queue_managers(seed: u64) {
    let mut choices = Choices::Random(Rng::named(seed, "idle"));
    let packets = 10 + choices.below(60);
    let mut keys = super::drawn(seed);
    without(&mut keys, &["queue", "ecn", "dscp", "congestion_control"]);
    let pairs = idle_queues(packets);
    let pair = match pairs.get(choices.below(pairs.len() as u64 + 1) as usize) {
        Some(pair) => pair.clone(),
        None => {
            keys["upstream"]["modem"] = json!({ "kind": "link" });
            idle_aggregate(packets)
        }
    };
    let with = |queue: &Value| {
        let mut keys = keys.clone();
        for direction in ["upstream", "downstream"] {
            keys[direction]["queue"] = queue.clone();
        }
        let scenario = network::scenario(&mut keys).ok()?;
        let is_as_meant = |direction: &str| keys[direction]["queue"] == *queue;
        (is_as_meant("upstream") && is_as_meant("downstream")).then_some(scenario)
    };
    let [Some(plain), Some(idle)] = pair.each_ref().map(with) else { return };
    let (Some(one), Some(other)) = (run(&plain, MOST_EVENTS), run(&idle, MOST_EVENTS)) else {
        return;
    };
    let _reported = super::Reported(&keys);
    same_flows(&one, &other, &pair[1].to_string());
}

/// Takes these keys out of all tables.
fn without(value: &mut Value, names: &[&str]) {
    if let Value::Object(table) = value {
        table.retain(|key, _| !names.contains(&key.as_str()));
    }
    match value {
        Value::Object(table) => table.values_mut().for_each(|value| without(value, names)),
        Value::Array(items) => items.iter_mut().for_each(|value| without(value, names)),
        _ => {}
    }
}

/// Loss and errors of nothing, and keys in another order.
pub fn nothing_that_acts(keys: &Value, scenario: &Scenario) {
    let Some(one) = run(scenario, MOST_EVENTS) else { return };
    let changed = |what: &str, change: &dyn Fn(&mut Value)| {
        let mut keys = keys.clone();
        change(&mut keys);
        if let Ok(scenario) = network::strictly(&keys)
            && let Some(other) = run(&scenario, MOST_EVENTS)
        {
            same_flows(&one, &other, what);
        }
    };
    changed("noise without errors", &|keys| {
        for noise in ["upstream_noise", "downstream_noise"] {
            if keys["cable"].get(noise).is_none() {
                keys["cable"][noise] = json!({ "codeword_error_percent": 0 });
            }
        }
    });
    changed("no loss", &|keys| {
        for server in keys["servers"].as_object_mut().into_iter().flat_map(|all| all.values_mut()) {
            if server.get("loss_percent").is_none() {
                server["loss_percent"] = json!(0);
            }
        }
    });
    changed("keys in another order", &reverse);
}

/// Turns the order of keys around, where it means nothing. That of entries, homes and servers decides at
/// equal times.
fn reverse(value: &mut Value) {
    const MEANS_SOMETHING: [&str; 5] = ["traffic", "homes", "flows", "servers", "weights"];
    if let Value::Object(table) = value {
        *table = std::mem::take(table).into_iter().rev().collect();
        for (key, value) in table.iter_mut() {
            if MEANS_SOMETHING.contains(&key.as_str()) {
                value
                    .as_object_mut()
                    .into_iter()
                    .flat_map(|all| all.values_mut())
                    .for_each(reverse);
            } else {
                reverse(value);
            }
        }
    }
}
