//! Keys of random networks.

use serde_json::Value;
use sojourn::engine::rng::Rng;
use sojourn::input::problem::{Code, Warning};
use sojourn::scenario::Scenario;

use super::{others, put, tables, take};
use crate::swarm::oracles::{self, MOST_EVENTS};
use crate::swarm::{Reported, drawn, network};

/// Parts of paths of keys that may wait for an event: for a queue, an overflow or a signal, a loss, a fault of the cable, a
/// packet of a kind, of a flow or of a home, a timer of TCP, or an end. Each has a case in which it comes.
const WAITS: &[&str] = &include!("waits.in");

/// The tables, if the network needs no more events.
fn tables_of(scenario: &Scenario) -> Option<String> {
    oracles::run(scenario, MOST_EVENTS).map(tables)
}

/// Without the keys of which warnings say that they have no effect all tables are the same.
fn idle_keys_are_idle(seed: u64) {
    let mut keys = drawn(seed);
    let Ok(scenario) = network::scenario(&mut keys) else { return };
    let _reported = Reported(&keys);
    // What counts in the turns of flows alone has an effect on these.
    let is_idle = |one: &Warning| {
        let all = one.message.contains("has no effect ") && !one.message.contains("in the turns");
        one.code == Code::IdleKey && all
    };
    let idle: Vec<_> = sojourn::warnings(&scenario).into_iter().filter(is_idle).collect();
    let mut bare = keys.clone();
    idle.iter().for_each(|one| take(&mut bare, &one.path));
    let Ok(without) = network::strictly(&bare) else { return };
    if idle.is_empty() {
        return;
    }
    let (Some(with), Some(without)) = (tables_of(&scenario), tables_of(&without)) else { return };
    assert!(with == without, "{:?}", idle.iter().map(|one| &one.message).collect::<Vec<_>>());
}

/// The paths of all values that are no tables or lists.
fn named(value: &Value, path: &str, found: &mut Vec<String>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::Object(table) => {
            table.iter().for_each(|(key, value)| named(value, &below(key), found));
        }
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(at, value)| named(value, &below(&at.to_string()), found));
        }
        _ => found.push(path.to_owned()),
    }
}

/// A key of a network changes a table, or is refused, or a warning names it, or it waits for an event.
fn a_key_is_not_silent(seed: u64) {
    let mut keys = drawn(seed);
    let Ok(scenario) = network::scenario(&mut keys) else { return };
    let _reported = Reported(&keys);
    let mut paths = Vec::new();
    named(&keys, "", &mut paths);
    paths.retain(|path| !WAITS.iter().any(|part| path.contains(part)));
    let path = &paths[Rng::named(seed, "key").below(paths.len() as u64) as usize];
    let now = keys.pointer(&format!("/{}", path.replace('.', "/"))).unwrap();
    let Some(before) = tables_of(&scenario) else { return };
    let is_silent = |other: Value| {
        let mut changed = keys.clone();
        put(&mut changed, path, other);
        let Ok(other) = network::strictly(&changed) else { return false };
        let is_named = |one: &Warning| path.starts_with(&one.path) && !one.path.is_empty();
        let is_reported =
            [&scenario, &other].into_iter().any(|of| sojourn::warnings(of).iter().any(is_named));
        !is_reported && tables_of(&other).is_some_and(|after| after == before)
    };
    let others = others(&Value::Null, now);
    let silent = !others.is_empty() && others.into_iter().all(is_silent);
    assert!(!silent, "{path} changes no table, and no warning says why");
}

mod at_random {
    use sojourn_testing::rounds;

    #[test]
    fn swarm_keys_without_effect_have_none() {
        rounds(40, super::idle_keys_are_idle);
    }

    #[test]
    fn swarm_no_named_key_is_silent() {
        rounds(30, super::a_key_is_not_silent);
    }
}
