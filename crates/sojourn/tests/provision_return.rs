//! Services that are written to a modem's file and read again: what does not come back, a line says.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use sojourn::Simulation;
use sojourn::access::modem_config::File;
use sojourn::engine::rng::Rng;
use sojourn::scenario::provision::{Provision, modem_config};
use sojourn::scenario::{Scenario, Source, json_schema};

use crate::queue_kit::drawer::Choices;
use crate::swarm::network;

/// The service that the file of another replaces.
const BASE: &str = "
    duration_s = 0.3
    upstream.sustained_mbps = 3
    downstream.sustained_mbps = 9
    servers.near.delay_ms = 5
    traffic.up = { kind = 'transfer', direction = 'up', server = 'near', port = 443 }
    traffic.down = { kind = 'transfer', direction = 'down', server = 'near' }
    traffic.call = { kind = 'stream', purpose = 'voice', direction = 'up', server = 'near', dscp = 46 }
    ";

/// The base with these services, unless they are refused.
fn with(services: &Map<String, Value>) -> Option<Scenario> {
    let mut keys: Value = toml::from_str(BASE).unwrap();
    for (direction, service) in services {
        keys[direction] = service.clone();
    }
    let text = toml::to_string(&keys).unwrap();
    let variants = Source::new(&text, "home.toml").load().ok()?;
    variants.into_iter().next().map(|variant| variant.scenario)
}

/// The base with a modem that has this file.
fn with_file(bytes: &[u8]) -> Scenario {
    let config = File::decode(bytes, "modem.cfg").unwrap().view();
    let modem = Provision { config: &config, problems: &[], source: "modem.cfg" };
    let variants = Source::new(BASE, "home.toml").overlay(Some(&modem)).load();
    variants.unwrap_or_else(|problem| panic!("{problem}")).remove(0).scenario
}

/// Writes the service and reads it, and returns the lines about it. Without one it is the same service, which
/// a run shows; those of the fastest lines would take long.
fn check(scenario: &Scenario) -> Vec<String> {
    let (config, notes) = modem_config(scenario, &scenario.group(0));
    let file = File::from_view(&config, None).unwrap_or_else(|problem| panic!("{problem}"));
    let fastest = scenario.upstream.sustained_mbps.max(scenario.downstream.sustained_mbps);
    if notes.is_empty() && fastest < 200.0 {
        let read = with_file(&file.encode());
        let runs = [scenario, &read].map(|scenario| Simulation::run(scenario).fingerprint);
        assert_eq!(runs[0], runs[1], "{scenario:?}\n{read:?}");
    }
    notes
}

#[test]
fn a_service_comes_back_or_a_line_says_what_does_not() {
    let mut returned = 0;
    for seed in 0..300 {
        let choices = Choices::Random(Rng::named(seed, "service"));
        let Some(scenario) = with(&network::services(choices)) else { continue };
        returned += u32::from(check(&scenario).is_empty());
    }
    assert!(returned > 10, "{returned}");
}

/// Each key alone, so that no other line can stand for its own.
#[test]
fn every_key_comes_back_or_has_its_line() {
    let definitions = json_schema()["$defs"].take();
    let keys = |of: &str| -> BTreeSet<_> {
        definitions[of]["properties"].as_object().unwrap().keys().cloned().collect()
    };
    let mut tried: BTreeMap<String, BTreeMap<String, u32>> = BTreeMap::new();
    for seed in 0..500 {
        let choices = Choices::Random(Rng::named(seed, "service"));
        for (direction, service) in network::services(choices) {
            for (key, value) in service.as_object().unwrap() {
                let often = tried.entry(direction.clone()).or_default();
                let times = often.entry(key.clone()).or_default();
                if *times == 15 {
                    continue;
                }
                let mut service = json!({ "sustained_mbps": 3, key: value });
                if key == "capacity" && direction == "upstream" {
                    service["modem"] = json!({ "kind": "link" });
                }
                let alone = Map::from_iter([(direction.clone(), service)]);
                let Some(scenario) = with(&alone) else { continue };
                let path = format!("{direction}.{key}");
                let of_key = |note: &String| note.starts_with(&*path);
                let notes = check(&scenario);
                assert!(notes.is_empty() || notes.iter().any(of_key), "{alone:?}: {notes:?}");
                *times += 1;
            }
        }
    }
    for (direction, definition) in [("upstream", "Upstream"), ("downstream", "Downstream")] {
        let is_tried = |key: &String| tried[direction].get(key).is_some_and(|times| *times > 0);
        let left: Vec<_> = keys(definition).into_iter().filter(|key| !is_tried(key)).collect();
        // These mean something on a channel of several homes alone.
        let of_channel = ["bonding_group", "profile_bits", "weight"];
        assert!(left.iter().all(|key| of_channel.contains(&&**key)), "{direction}: {left:?}");
    }
}
