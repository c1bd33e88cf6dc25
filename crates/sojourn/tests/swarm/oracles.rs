//! What must be true of any network. That packets are conserved, each run asserts itself.

use serde_json::{Value, json};
use sojourn::Simulation;
use sojourn::access::{Downstream, Terms, Upstream};
use sojourn::engine::packet::LARGEST_PACKET;
use sojourn::results::metrics::Results;
use sojourn::results::metrics::rows::ServiceFlowRow;
use sojourn::scenario::Scenario;
use sojourn::scenario::apps::AppSpec;
use sojourn::scenario::traffic::Entry;

use super::network;

/// Events of a run of a drawn network; what needs more is left.
pub const MOST_EVENTS: u64 = 400_000;

/// The results, if the network needs no more events.
pub fn run(scenario: &Scenario, most_events: u64) -> Option<Results> {
    let mut simulation = Simulation::new(scenario);
    let goes_on = simulation.advance(most_events);
    let results = simulation.finish();
    (!goes_on).then_some(results)
}

/// Latencies are not below the configured delays, service flows not above their rates, and steady senders
/// send what they are asked for.
pub fn bounds(scenario: &Scenario, most_events: u64) {
    let Some(results) = run(scenario, most_events) else { return };
    delays(scenario, &results);
    rates(scenario, &results);
    offered(scenario, &results);
}

/// No packet is faster than the link to the nearest of its servers and the cable to its home.
fn delays(scenario: &Scenario, results: &Results) {
    for row in &results.flows {
        let entry = &scenario.traffic[&row.traffic];
        let servers = entry.app.parameters().servers();
        let nearest = servers.iter().map(|(_, name)| scenario.servers[*name].delay_ms);
        let group = scenario.group(scenario.group_of(entry));
        let access_ms = scenario.network().propagation(group.distance_km).ms_f64();
        let least_ms = nearest.fold(f64::INFINITY, f64::min) + access_ms;
        if let Some(found_ms) = row.latency_min_ms {
            assert!(
                found_ms >= least_ms - 1e-6,
                "{} {}: {found_ms} ms, at least {least_ms} ms",
                row.traffic,
                row.direction
            );
        }
    }
}

/// In T seconds a service flow carries burst + T * sustained rate bytes at most, and T * peak rate and a
/// packet; all homes of a group together so many times that.
fn rates(scenario: &Scenario, results: &Results) {
    for row in &results.service_flows {
        let groups: Vec<_> = scenario.groups().collect();
        let group = groups.iter().find(|group| group.name == row.homes).expect("it is a group");
        let most = match row.direction {
            "up" => most_up(scenario, group.upstream, row),
            _ => most_down(scenario, group.downstream, row),
        };
        let Some(most) = most else { continue };
        let most = most * f64::from(group.count);
        let carried = row.forwarded_bytes as f64;
        assert!(
            carried <= most + 1.0,
            "{} {} {}: {carried} bytes, at most {most}",
            row.homes,
            row.direction,
            row.service_flow
        );
    }
}

fn most_bytes(seconds: f64, terms: Terms) -> f64 {
    let bytes = |mbps: f64| mbps * seconds * 1e6 / 8.0;
    let burst = terms.burst_bytes as f64;
    (burst + bytes(terms.sustained_mbps)).min(bytes(terms.peak_mbps))
        + 2.0 * f64::from(LARGEST_PACKET)
}

fn most_up(scenario: &Scenario, up: &Upstream, row: &ServiceFlowRow) -> Option<f64> {
    let flows: Vec<_> = up.flow_names().map(str::to_owned).zip(up.service_flows()).collect();
    let name = if row.service_flow == "primary" { "" } else { &row.service_flow };
    let (_, flow) = flows.iter().find(|(flow, _)| flow == name).expect("it is a service flow");
    // Unsolicited grants are not shaped (MULPI §7.2.3.1).
    let is_shaped = flow.scheduling.is_best_effort();
    let most = most_bytes(scenario.duration_s, flow.terms());
    is_shaped.then_some(most)
}

fn most_down(scenario: &Scenario, down: &Downstream, row: &ServiceFlowRow) -> Option<f64> {
    if scenario.cmts.is_some() && !down.regulator {
        return None;
    }
    let flows: Vec<_> = down.flow_names().map(str::to_owned).zip(down.service_flows()).collect();
    let name = if row.service_flow == "primary" { "" } else { &row.service_flow };
    let (_, flow) = flows.iter().find(|(flow, _)| flow == name).expect("it is a service flow");
    Some(most_bytes(scenario.duration_s, flow.terms()))
}

/// A stream sends a packet in each interval of its time.
fn offered(scenario: &Scenario, results: &Results) {
    for (name, entry) in &scenario.traffic {
        let AppSpec::Stream(stream) = &entry.app else { continue };
        if stream.direction().is_both() || stream.interval_deviation_percent > 0.0 {
            continue;
        }
        let homes = homes_of(scenario, entry);
        let start_s = stream.start_s.unwrap_or(0.0);
        let end_s = stream.stop_s.unwrap_or(f64::INFINITY).min(scenario.duration_s);
        let intervals = (end_s - start_s) * 1e3 / stream.interval_ms;
        let sent = results.flows.iter().filter(|row| row.traffic == *name);
        let sent: u64 = sent.map(|row| row.sent_packets).sum();
        // Begun at once, or at a random place in the first interval.
        let least =
            if stream.start_s.is_some() { intervals.floor() } else { (intervals - 1.0).floor() };
        let (least, most) =
            (least.max(0.0) * homes, (intervals + 1.0 + 1e-6).max(0.0).floor() * homes);
        let sent = sent as f64;
        assert!(least <= sent && sent <= most, "{name}: {sent} packets, {least} to {most}");
        // The estimate before a run is of the same packets.
        let estimate = entry.app.parameters().load(scenario.duration_s).packets * homes;
        assert!(estimate >= sent - homes, "{name}: {sent} packets, estimated {estimate}");
    }
}

fn homes_of(scenario: &Scenario, entry: &Entry) -> f64 {
    scenario.group(scenario.group_of(entry)).count.into()
}

/// A server that nobody uses, a home in which nothing happens and an entry that begins after the end change
/// no result of the others.
pub fn unused_parts(keys: &Value, scenario: &Scenario) {
    // A home with unsolicited grants, or that ranges, takes of the channel though nothing happens in it.
    let text = keys["upstream"].to_string();
    let ranges = keys["upstream_channel"].get("ranging").is_some();
    if ranges || ["ugs", "polling", "proactive"].iter().any(|service| text.contains(service)) {
        return;
    }
    let mut more = keys.clone();
    // The default is the first server, or all, so entries name theirs.
    let full = serde_json::to_value(scenario).expect("a scenario is plain data");
    for (name, entry) in more["traffic"].as_object_mut().expect("it is a table") {
        for key in ["server", "servers"] {
            if let Some(named) = full["traffic"][name].get(key) {
                entry[key] = named.clone();
            }
        }
    }
    more["servers"]["unused"] = json!({ "delay_ms": 1 });
    // It is like the first group, so that the same modems share the same channels.
    let mut idle = more["homes"]["first"].clone();
    idle["count"] = json!(1);
    more["homes"]["idle"] = idle;
    more["traffic"]["late"] = json!({
        "kind": "stream", "purpose": "game", "server": "unused", "home": "idle",
        "packet_bytes": 64, "start_s": scenario.duration_s + 1.0,
    });
    let Ok(with_more) = network::strictly(&more) else { return };
    let (Some(plain), Some(with_more)) = (run(scenario, MOST_EVENTS), run(&with_more, MOST_EVENTS))
    else {
        return;
    };
    let rows = |results: &Results| {
        let rows = results.flows.iter().map(|row| format!("{row:?}"));
        let connections = results.connections.iter().map(|row| format!("{row:?}"));
        rows.chain(connections).collect::<Vec<_>>()
    };
    for (before, after) in rows(&plain).iter().zip(&rows(&with_more)) {
        assert_eq!(before, after);
    }
}

/// All rates divided and all times multiplied by a factor: the same packets, later by that factor. Only
/// networks in which every time is a key.
pub fn scaling(seed: u64) {
    let keys = [1.0, 4.0].map(|factor| steady(seed, factor));
    let [one, scaled] = keys.each_ref().map(|keys| {
        let scenario = network::strictly(keys).unwrap_or_else(|problem| panic!("{problem}"));
        Simulation::run(&scenario)
    });
    let _reported = super::Reported(&keys[0]);
    assert_eq!(one.flows.len(), scaled.flows.len());
    for (row, slow) in one.flows.iter().zip(&scaled.flows) {
        assert_eq!(row.sent_packets, slow.sent_packets, "{}", row.traffic);
        let off = row.delivered_packets.abs_diff(slow.delivered_packets);
        assert!(off <= 1 + row.sent_packets / 100, "{}: {row:?} {slow:?}", row.traffic);
        let (Some(mean), Some(later)) = (row.latency_mean_ms, slow.latency_mean_ms) else {
            continue;
        };
        assert!((later / mean - 4.0).abs() < 0.04, "{}: {mean} ms, {later} ms", row.traffic);
    }
}

/// Streams of datagrams over a plain link or a modem with the documents' timing, slower by a factor.
fn steady(seed: u64, factor: f64) -> Value {
    let mut rng = sojourn::engine::rng::Rng::named(seed, "steady");
    let mut between = |low: f64, high: f64| low * (high / low).powf(rng.uniform());
    let kbps = |mbps: f64| (mbps * 1000.0).round().max(1.0) * 4.0;
    let (up, down) = (kbps(between(0.5, 20.0)), kbps(between(0.5, 50.0)));
    let (peak, burst) = (between(1.0, 3.0).round(), between(3000.0, 50_000.0) as u64);
    let (map_ms, near, far) = (between(1.0, 5.0), between(1.0, 50.0), between(1.0, 50.0));
    let limit = between(5.0, 100.0) as u64;
    let entries = 1 + (between(1.0, 4.0) as usize);
    let traffic = (0..entries).map(|number| {
        let (bytes, interval) = (between(64.0, 1500.0) as u64, between(0.5, 20.0));
        let direction = if between(1.0, 4.0) < 2.0 { "up" } else { "down" };
        let server = if between(1.0, 4.0) < 2.0 { "near" } else { "far" };
        let entry = json!({
            "kind": "stream", "purpose": "data", "server": server, "direction": direction,
            "packet_bytes": bytes, "interval_ms": interval * factor,
        });
        (format!("t{number}"), entry)
    });
    let traffic: Value = traffic.collect();
    let modem = if between(1.0, 4.0) < 2.0 { "link" } else { "single_queue" };
    let mut keys = json!({
        "duration_s": 2.0 * factor,
        "seed": seed,
        "cable": { "delay_ms": 2.0 * factor, "byte_count": "ethernet" },
        "upstream": {
            "sustained_mbps": up / 1000.0 / factor, "peak_mbps": peak * up / 1000.0 / factor,
            "burst_bytes": burst, "queue": { "limit_packets": limit }, "modem": { "kind": modem },
        },
        "downstream": {
            "sustained_mbps": down / 1000.0 / factor, "peak_mbps": peak * down / 1000.0 / factor,
            "burst_bytes": burst, "queue": { "limit_packets": limit },
        },
        "servers": {
            "near": { "delay_ms": near * factor, "rate_mbps": 100.0 / factor },
            "far": { "delay_ms": far * factor, "rate_mbps": 1000.0 / factor },
        },
        "metrics": { "series_interval_ms": 100.0 * factor },
        "traffic": traffic,
    });
    if modem == "single_queue" {
        keys["cable"]["timing"] = json!({ "kind": "documents" });
        keys["upstream"]["mac"] =
            json!({ "map_interval_ms": map_ms * factor, "channel_mbps": 100.0 / factor });
    }
    keys
}
