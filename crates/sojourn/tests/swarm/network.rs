//! Whole networks drawn from all that the schema allows: every app, queue manager, modem, channel and
//! dialect. Most numbers are those of a house and its neighbours, so that most networks are accepted
//! and something happens in them; some are the ends of their ranges.

use serde_json::{Map, Value, json};
use sojourn::input::problem::Problems;
use sojourn::scenario::{Scenario, Source, Variant};

use crate::queue_kit::TRAFFIC;
use crate::queue_kit::drawer::{Choices, Drawer};

/// Groups of homes, and servers.
const HOMES: [&str; 3] = ["first", "second", "third"];
const SERVERS: [&str; 2] = ["near", "far"];
/// Memory that a drawn network may need.
pub const MOST_BYTES: u64 = 200_000_000;

/// Any order of magnitude from `low` to `high`.
fn between(low: f64, high: f64, choices: &mut Choices) -> f64 {
    let value = low * (high / low).powf(choices.uniform());
    // Few digits, so that a failure can be read.
    let digits = 10_f64.powf(2.0 - value.log10().floor());
    ((value * digits).round() / digits).clamp(low, high)
}

fn whole(low: f64, high: f64, choices: &mut Choices) -> Value {
    json!(between(low, high, choices).round() as u64)
}

/// What keys are drawn from, whatever table they are in. One in sixteen is left to the schema.
fn usual(key: &str, choices: &mut Choices) -> Option<Value> {
    let named = match key {
        "server" => Some(json!(choices.one_of(&SERVERS))),
        "servers" => {
            Some((0..1 + choices.below(2)).map(|_| json!(choices.one_of(&SERVERS))).collect())
        }
        "traffic" => Some(json!(choices.one_of(&TRAFFIC))),
        "home" => Some(json!(choices.one_of(&HOMES))),
        "weights" => Some(json!({})),
        "address" => Some(match choices.below(3) {
            0 => json!(format!("10.0.0.{}", 1 + choices.below(3))),
            _ => Value::Null,
        }),
        "file" | "digest" | "source" | "destination" => Some(Value::Null),
        "bonded" | "bonding_group" | "resequencing_ms" | "ranging" => Some(Value::Null), // drawn together
        _ => None,
    };
    if named.is_some() {
        return named;
    }
    if choices.below(16) == 0 {
        return None;
    }
    Some(match key {
        "sustained_mbps" | "peak_mbps" => json!(between(0.2, 40.0, choices)),
        "minimum_mbps" => json!(between(0.01, 0.2, choices)),
        "mean_mbps" => json!([between(0.01, 3.0, choices)]),
        "ladder_mbps" => json!([0.3, 1.0, 3.0]),
        "levels_mbps" => json!([1, 2, 5, 10]),
        "limit_mbps" | "mbps" => json!(between(0.1, 20.0, choices)),
        "rate_mbps" | "channel_mbps" | "line_mbps" => json!(between(20.0, 1000.0, choices)),
        "burst_bytes" => whole(3000.0, 300_000.0, choices),
        "limit_bytes"
        | "minimum_bytes"
        | "target_bytes"
        | "maximum_bytes"
        | "low_latency_buffer_bytes"
        | "classic_buffer_bytes" => whole(10_000.0, 1e6, choices),
        "limit_packets" | "flow_limit_packets" => whole(10.0, 500.0, choices),
        "bins" | "queues" => whole(1.0, 64.0, choices),
        "connections" | "sources" | "sessions" | "viewers" | "users" | "connections_per_server" => {
            whole(1.0, 5.0, choices)
        }
        "per_server" => whole(1.0, 8.0, choices),
        "packet_bytes" | "mss_bytes" => whole(64.0, 1500.0, choices),
        "file_bytes" | "piece_bytes" | "html_bytes" | "bytes" => whole(500.0, 300_000.0, choices),
        "request_bytes" | "unit_bytes" => whole(100.0, 2000.0, choices),
        "interval_ms" => json!(between(2.0, 60.0, choices)),
        "target_ms" => json!(between(2.0, 60.0, choices)),
        "delay_ms" | "reorder_ms" => json!(between(0.1, 80.0, choices)),
        "for_s" => json!(between(0.001, 0.5, choices)),
        "start_s" | "start_spread_s" | "pause_s" | "idle_s" | "interval_s" => {
            json!(between(0.01, 0.5, choices))
        }
        "stop_s" | "limit_s" | "every_s" | "think_s_mean" => json!(between(0.2, 2.0, choices)),
        "on_s" => json!([between(0.01, 1.0, choices)]),
        "off_per_on" => json!(between(0.1, 5.0, choices)),
        "map_interval_ms" => json!(between(1.0, 6.0, choices)),
        "segment_s" => json!(between(0.2, 2.0, choices)),
        "buffer_s" => json!(between(2.0, 20.0, choices)),
        "series_interval_ms" => json!(between(10.0, 500.0, choices)),
        "distance_km" | "length_km" => json!(between(0.1, 100.0, choices)),
        "count" => whole(1.0, 6.0, choices),
        "loss_percent" | "reorder_percent" | "codeword_error_percent" => {
            json!(between(0.01, 3.0, choices))
        }
        "max_window_segments" => whole(2.0, 5000.0, choices),
        "initial_window_segments" => whole(1.0, 20.0, choices),
        "duration_s" => json!(between(0.2, 2.0, choices)),
        _ => return None,
    })
}

/// Makes values agree that only together are right or wrong: a peak is not below its sustained rate, and
/// bounds of a range ascend.
fn reconcile(value: &mut Value) {
    match value {
        Value::Object(table) => {
            let number = |key: &str| table.get(key).and_then(Value::as_f64);
            if let (Some(peak), Some(sustained)) = (number("peak_mbps"), number("sustained_mbps")) {
                let least = number("minimum_mbps").unwrap_or(0.0);
                let sustained = sustained.max(least);
                table.insert("sustained_mbps".into(), json!(sustained));
                table.insert("peak_mbps".into(), json!(peak.max(sustained)));
            }
            table.retain(|_, value| !value.is_null());
            table.values_mut().for_each(reconcile);
        }
        Value::Array(items) => {
            items.iter_mut().for_each(reconcile);
            if items.iter().all(Value::is_number) {
                items.sort_by(|a, b| a.as_f64().unwrap().total_cmp(&b.as_f64().unwrap()));
            }
        }
        _ => {}
    }
}

/// A network as the keys of its scenario. It may be refused.
pub fn keys(choices: Choices) -> Value {
    let mut drawer = Drawer::usually(usual, 8, choices);
    let mut root = Map::new();
    for key in ["duration_s", "seed", "dialect", "upstream", "downstream"] {
        let value = usual(key, &mut drawer.choices).unwrap_or_else(|| drawer.key(key));
        root.insert(key.to_owned(), value);
    }
    root["seed"] = json!(drawer.choices.below(1000));
    often(&mut root, &mut drawer);
    if drawer.choices.below(2) == 0 {
        root["upstream"]["modem"] = drawer.definition("ModemSpec");
    }
    for key in ["access", "cable", "upstream_channel", "cmts", "tcp", "metrics"] {
        if drawer.choices.below(4) == 0 {
            root.insert(key.to_owned(), drawer.key(key));
        }
    }
    root.insert(
        "servers".to_owned(),
        SERVERS.iter().map(|name| server(name, &mut drawer)).collect(),
    );
    root.insert("homes".to_owned(), homes(&mut drawer));
    root.insert("traffic".to_owned(), traffic(&mut drawer));
    for key in ["router", "core"] {
        if drawer.choices.below(4) == 0 {
            let links = match key {
                "core" => json!({ "inner": drawer.definition("Bottlenecks") }),
                _ => drawer.definition("Router"),
            };
            root.insert(key.to_owned(), links);
        }
    }
    match drawer.choices.below(9) {
        0 => bond(&mut root, &mut drawer),
        1 => bond_down(&mut root, &mut drawer),
        2 => {
            bond(&mut root, &mut drawer);
            bond_down(&mut root, &mut drawer);
        }
        _ => {}
    }
    let mut root = Value::Object(root);
    reconcile(&mut root);
    root
}

/// Modems that bond channels of a table, all of them or the first.
fn bond(root: &mut Map<String, Value>, drawer: &mut Drawer) {
    let mut channel = || {
        let mut own = drawer.definition("BondedChannel");
        if drawer.choices.below(2) == 0 {
            own["phy"] = drawer.definition("Phy");
        }
        own
    };
    let bonded = json!({ "a": channel(), "b": channel(), "c": channel() });
    let mut table = json!({ "bonded": bonded });
    if drawer.choices.below(2) == 0 {
        table["resequencing_ms"] = json!(between(0.0, 20.0, &mut drawer.choices));
    }
    if drawer.choices.below(2) == 0 {
        table["ranging"] = ranging(&mut drawer.choices);
    }
    root.insert("upstream_channel".to_owned(), table);
    root.insert("cable".to_owned(), json!({ "timing": { "kind": "specification" } }));
    root.remove("access");
    let upstream = root["upstream"].as_object_mut().unwrap();
    for key in ["mac", "congestion", "shaping", "scheduling", "profile_bits", "capacity", "flows"] {
        upstream.remove(key);
    }
    upstream.insert("modem".to_owned(), json!({ "kind": "shared_channel" }));
    if drawer.choices.below(2) == 0 {
        upstream.insert("bonding_group".to_owned(), json!(["a", "b", "c"]));
    }
}

/// Ranging so often that modems lose channels and take them back.
fn ranging(choices: &mut Choices) -> Value {
    let interval_s = between(0.01, 0.5, choices);
    let t3_ms = between(0.1, 30.0, choices);
    let retry_interval_s = t3_ms / 1e3 * between(1.01, 5.0, choices) + 0.001;
    json!({
        "interval_s": interval_s,
        "t3_ms": t3_ms,
        "t4_s": interval_s.max(retry_interval_s) * between(1.1, 4.0, choices),
        "retries": 1 + choices.below(5),
        "retry_interval_s": retry_interval_s,
        "registration_s": between(0.01, 0.5, choices),
    })
}

/// Modems that receive on channels of a table, all of them or some.
fn bond_down(root: &mut Map<String, Value>, drawer: &mut Drawer) {
    let mut channel = || {
        let mut own = drawer.definition("BondedDownstream");
        own["channel"] = drawer.definition("Channel");
        own["channel"].as_object_mut().unwrap().remove("channels");
        own
    };
    let mut cmts = json!({ "bonded": { "a": channel(), "b": channel(), "c": channel() } });
    if drawer.choices.below(2) == 0 {
        cmts["resequencing_ms"] = json!(between(0.0, 20.0, &mut drawer.choices));
    }
    root.insert("cmts".to_owned(), cmts);
    root.remove("access");
    if let Some(cable) = root.get_mut("cable").and_then(Value::as_object_mut) {
        cable.remove("downstream_noise");
    }
    let downstream = root["downstream"].as_object_mut().unwrap();
    for key in ["profile_bits", "capacity", "channel_mbps"] {
        downstream.remove(key);
    }
    let Some(groups) = root["homes"].as_object_mut() else { return };
    for (group, named) in groups.values_mut().zip([json!(["a"]), json!(["b", "c"])]) {
        if let Some(down) = group.get_mut("downstream").and_then(Value::as_object_mut) {
            down.remove("profile_bits");
            down.remove("capacity");
            down.remove("channel_mbps");
            down.insert("bonding_group".to_owned(), named);
        }
    }
}

/// Gives each direction rarely any queue manager, often one, since these are many, and further flows half as
/// often as drawn.
fn often(root: &mut Map<String, Value>, drawer: &mut Drawer) {
    for direction in ["upstream", "downstream"] {
        if drawer.choices.below(2) == 0 {
            root[direction]["queue"] = drawer.definition("QueueSpec");
        }
        if drawer.choices.below(2) == 0 {
            root[direction].as_object_mut().unwrap().remove("flows");
        }
    }
}

/// The services of a home upstream and downstream. They may be refused.
pub fn services(choices: Choices) -> Map<String, Value> {
    let mut drawer = Drawer::usually(usual, 6, choices);
    let directions = ["upstream", "downstream"];
    let mut root = directions.map(|key| (key.to_owned(), drawer.key(key))).into_iter().collect();
    often(&mut root, &mut drawer);
    root.values_mut().for_each(reconcile);
    root
}

fn server(name: &str, drawer: &mut Drawer) -> (String, Value) {
    (name.to_owned(), drawer.definition("Server"))
}

/// All three groups, since entries name them, or none.
fn homes(drawer: &mut Drawer) -> Value {
    let group = |name: &str, drawer: &mut Drawer| {
        let mut group = json!({ "count": usual("count", &mut drawer.choices) });
        if drawer.choices.below(3) == 0 {
            group["upstream"] = json!({ "sustained_mbps": between(0.2, 10.0, &mut drawer.choices), "peak_mbps": 40 });
        }
        if drawer.choices.below(3) == 0 {
            group["distance_km"] = json!(between(0.1, 100.0, &mut drawer.choices));
        }
        (name.to_owned(), group)
    };
    HOMES.iter().map(|name| group(name, drawer)).collect()
}

/// One to six entries, which the names in classifiers are of.
fn traffic(drawer: &mut Drawer) -> Value {
    let count = 1 + drawer.choices.below(TRAFFIC.len() as u64) as usize;
    TRAFFIC[..count].iter().map(|name| ((*name).to_owned(), entry(drawer))).collect()
}

/// Captures are files and real packets come from programs; these networks have none.
fn entry(drawer: &mut Drawer) -> Value {
    let drawn = drawer.definition("Entry");
    if drawn["kind"] == "replay" || drawn["kind"] == "outside" {
        json!({ "kind": "stream", "purpose": "game", "server": "near" })
    } else {
        drawn
    }
}

/// The scenario of a drawn network, unless it is refused. Keys that are refused are taken out of it, as
/// long as there are others.
pub fn scenario(keys: &mut Value) -> Result<Scenario, String> {
    variant(keys).map(|variant| variant.scenario)
}

/// The same with its notes.
pub fn variant(keys: &mut Value) -> Result<Variant, String> {
    loop {
        match loaded(keys) {
            Err(problems) if take_out(keys, &problems.first().path) => {}
            other => return other.map_err(|problems| problems.to_string()),
        }
    }
}

/// The scenario of these keys.
pub fn strictly(keys: &Value) -> Result<Scenario, Problems> {
    loaded(keys).map(|variant| variant.scenario)
}

/// The same with its notes.
pub fn loaded(keys: &Value) -> Result<Variant, Problems> {
    let text = toml::to_string(keys).expect("it is a table");
    let variants = Source::new(&text, "drawn").most_bytes(MOST_BYTES).load()?;
    Ok(variants.into_iter().next().expect("there is one"))
}

/// Takes the key at a path out of its table; says whether it was there.
fn take_out(keys: &mut Value, path: &str) -> bool {
    let Some((above, key)) = path.rsplit_once('.') else {
        return keys.as_object_mut().is_some_and(|table| table.remove(path).is_some());
    };
    let above = keys.pointer_mut(&format!("/{}", above.replace('.', "/")));
    match above {
        Some(Value::Object(table)) => table.remove(key).is_some(),
        Some(Value::Array(items)) => {
            let place = key.parse::<usize>().ok().filter(|place| *place < items.len());
            place.map(|place| items.remove(place)).is_some()
        }
        _ => false,
    }
}
