//! Keys that may change in a run: a change at its beginning makes the run of a scenario with that value, and acts.

use serde_json::Value;
use sojourn::Simulation;
use sojourn::engine::units::Time;
use sojourn::scenario::Scenario;
use sojourn::scenario::live::{LiveKeys, MARK};

use super::cases::{Cases, cases};
use super::{Key, others, put, run, scenario, schema_of, tables};
use crate::swarm::{Reported, drawn, network};

const MOST_EVENTS: u64 = 60_000;

/// A scenario that has a value for a key, and other values for it.
struct Tried {
    keys: Value,
    path: String,
    values: Vec<Value>,
}

fn tried(cases: &Cases, number: usize) -> Tried {
    let (key, case) = &cases.of_keys[number];
    let (mut written, path) = (cases.keys_of(case), case.path_of(key));
    if key.of == "Entry/stream" {
        // How calls and games are scored depends on their pace; and the first packet has its time before a change.
        let (above, _) = path.rsplit_once('.').expect("it is in a table");
        put(&mut written, &format!("{above}.purpose"), "data".into());
        put(&mut written, &format!("{above}.start_s"), 0.1.into());
    }
    let pointer = format!("/{}", path.replace('.', "/"));
    let full = resolved(&scenario(&written).unwrap_or_else(|why| panic!("{path}: {why}")));
    let of = |keys: Value| keys.pointer(&pointer).cloned().unwrap_or_default();
    let mut values: Vec<Value> =
        cases.changed(key, case, &written, &full).into_iter().map(of).collect();
    let now = of(full.clone());
    if !now.is_null() {
        return Tried { keys: full, path, values };
    }
    // It is unset, so the scenario gets the first value.
    let first = values.remove(0);
    let mut keys = written;
    put(&mut keys, &path, first.clone());
    values.extend(others(schema_of(key), &first));
    if values.is_empty() {
        values.push(1.into());
    }
    let keys = resolved(&scenario(&keys).unwrap_or_else(|why| panic!("{path}: {why}")));
    Tried { keys, path, values }
}

fn resolved(scenario: &Scenario) -> Value {
    let text = sojourn::scenario::to_toml(scenario);
    toml::from_str(&text).unwrap()
}

/// At 0, before anything has happened, a change is a scenario; and one of its values acts.
fn is_that_of_a_scenario(cases: &Cases, number: usize) {
    let Tried { keys, path, values } = tried(cases, number);
    let base = scenario(&keys).unwrap_or_else(|why| panic!("{path}: {why}"));
    let before = tables(run(&base));
    let mut said = Vec::new();
    for value in values {
        let mut keys = keys.clone();
        put(&mut keys, &path, value.clone());
        let mut simulation = Simulation::new(&base);
        let changed = simulation.set(&[(path.clone(), value.clone())]);
        let other = match scenario(&keys) {
            Ok(other) => other,
            Err(why) => {
                let refused = changed.map_err(|problems| problems.to_string());
                assert!(refused.is_err(), "{path} = {value}: {why}");
                said.push(why.to_string());
                continue;
            }
        };
        changed.unwrap_or_else(|why| panic!("{path} = {value}: {why}"));
        assert!(!simulation.run_until(Time::NEVER));
        let mut live = simulation.finish();
        assert_eq!(live.changes.len(), 1);
        live.changes.clear();
        let whole = run(&other);
        assert_eq!(live.fingerprint, whole.fingerprint, "{path} = {value}");
        let (live, whole) = (tables(live), tables(whole));
        assert!(live == whole, "{path} = {value}: a table differs");
        if live != before {
            return;
        }
        said.push(format!("{value} changes no table"));
    }
    panic!("{path}: {said:?}");
}

/// The same in a random network, for one of its keys.
fn holds_in_a_network(seed: u64) {
    let mut keys = drawn(seed);
    let Ok(base) = network::scenario(&mut keys) else { return };
    let live = LiveKeys::of(&base);
    let paths: Vec<&str> = live.paths().collect();
    let Some(path) = paths.get(seed as usize % paths.len().max(1)) else { return };
    let mut keys = resolved(&base);
    if let Some((above, "interval_ms" | "down_interval_ms")) = path.rsplit_once('.') {
        put(&mut keys, &format!("{above}.start_s"), 0.1.into()); // or it has been drawn
    }
    let base = network::strictly(&keys).unwrap();
    let now = live.value(&base, path).unwrap();
    let schema = serde_json::json!({ "type": if now.is_u64() { "integer" } else { "number" } });
    let Some(value) = others(&schema, &now).pop() else { return };
    put(&mut keys, path, value.clone());
    let Ok(other) = network::strictly(&keys) else { return };
    let mut simulation = Simulation::new(&base);
    if simulation.set(&[((*path).to_owned(), value.clone())]).is_err() {
        return;
    }
    let mut whole = Simulation::new(&other);
    if simulation.advance(MOST_EVENTS) | whole.advance(MOST_EVENTS) {
        return;
    }
    let reported = Reported(&keys);
    let (mut live, whole) = (simulation.finish(), whole.finish());
    live.changes.clear();
    assert_eq!(live.fingerprint, whole.fingerprint, "{path} = {value}");
    assert!(tables(live) == tables(whole), "{path} = {value}");
    drop(reported);
}

fn live_keys(cases: &Cases) -> Vec<usize> {
    let is_live = |key: &Key| key.name != "kind" && schema_of(key)[MARK] == true;
    let all = cases.of_keys.iter().enumerate();
    all.filter(|(_, (key, _))| is_live(key)).map(|(number, _)| number).collect()
}

mod at_random {
    use sojourn_testing::rounds;

    #[test]
    fn swarm_a_change_of_a_network_at_the_beginning_is_another_network() {
        rounds(40, super::holds_in_a_network);
    }

    /// All keys come in turn. The arithmetic of changes in the middle is in `tests/stepped.rs`.
    #[test]
    fn swarm_a_change_at_the_beginning_is_a_scenario() {
        const STRIDE: u64 = 7919;
        let cases = super::cases();
        let keys = super::live_keys(&cases);
        assert!(keys.len() > 50, "{}", keys.len());
        rounds(20, |seed| {
            let place = seed.wrapping_mul(STRIDE) % keys.len() as u64;
            super::is_that_of_a_scenario(&cases, keys[place as usize]);
        });
    }
}

/// Every marked key that has a value is found, and no other.
#[test]
fn the_keys_that_may_change_are_those_of_the_schema() {
    let cases = cases();
    for number in live_keys(&cases) {
        let Tried { keys, path, .. } = tried(&cases, number);
        let scenario = scenario(&keys).unwrap();
        let live = LiveKeys::of(&scenario);
        assert!(live.paths().any(|other| other == path), "{path} is not among {live:?}");
        let at = format!("/{}", path.replace('.', "/"));
        assert_eq!(live.value(&scenario, &path).ok().as_ref(), resolved(&scenario).pointer(&at));
    }
}
