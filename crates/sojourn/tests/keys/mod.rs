//! No key is silent: each changes a table of results in a case of its own. Where a warning says that a key has no effect,
//! it has none in random networks, and remedies of warnings help.

mod cases;
mod drawn;
mod kinds;
mod live;
mod named;
mod random;
mod remedies;

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Map, Value};
use sojourn::Simulation;
use sojourn::access::modem_config::File;
use sojourn::input::problem::Problems;
use sojourn::results::metrics::Results;
use sojourn::scenario::provision::Provision;
use sojourn::scenario::{Scenario, Source, json_schema};
use std::sync::LazyLock;

use crate::{real_packets, replay};

static SCHEMA: LazyLock<Value> = LazyLock::new(json_schema);

/// Keys that all kinds of traffic have, as those of a definition.
const LABELS: [&str; 5] = ["home", "dscp", "ecn", "port", "address"];

/// A key of a definition of the schema, the kind of a table too.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Key {
    of: String,
    name: String,
}

impl Key {
    fn new(of: &str, name: &str) -> Self {
        let of = if of.starts_with("Entry/") && LABELS.contains(&name) { "Labels" } else { of };
        Self { of: of.to_owned(), name: name.to_owned() }
    }

    fn path(&self) -> String {
        format!("{}.{}", self.of, self.name)
    }
}

/// Each key of the schema, once.
fn all_keys() -> Vec<Key> {
    let keys = definitions().into_iter().flat_map(|(of, properties)| {
        properties.keys().map(move |name| Key::new(&of, name)).collect::<Vec<_>>()
    });
    keys.collect::<BTreeSet<_>>().into_iter().collect()
}

/// The tables of the schema: each definition, and each kind of those that have kinds.
fn definitions() -> Vec<(String, &'static Map<String, Value>)> {
    let mut found = vec![(String::new(), properties(&SCHEMA))];
    for (name, definition) in SCHEMA["$defs"].as_object().expect("it is a table") {
        let kinds = definition["oneOf"].as_array().into_iter().flatten();
        found.extend(kinds.filter_map(|kind| {
            let word = kind["properties"]["kind"]["const"].as_str()?;
            Some((format!("{name}/{word}"), properties(kind)))
        }));
        if definition["properties"].is_object() {
            found.push((name.clone(), properties(definition)));
        }
    }
    found
}

fn properties(schema: &'static Value) -> &'static Map<String, Value> {
    schema["properties"].as_object().expect("it is a table")
}

/// What the schema says of a key.
fn schema_of(key: &Key) -> &'static Value {
    let of = if key.of == "Labels" { "Entry/stream" } else { &key.of };
    let (_, properties) =
        definitions().into_iter().find(|(name, _)| name == of).expect("it exists");
    resolved(&properties[&key.name])
}

/// The definition that a schema refers to, without null.
fn resolved(schema: &'static Value) -> &'static Value {
    let options = schema["anyOf"].as_array().into_iter().flatten();
    let some = options.clone().find(|option| option["type"] != "null").unwrap_or(schema);
    match some["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        Some(name) => resolved(&SCHEMA["$defs"][name]),
        None => some,
    }
}

/// Other values of a key than this, by its type: the other truth value, the other words, twice and half a number.
fn others(schema: &Value, now: &Value) -> Vec<Value> {
    let words = schema["oneOf"].as_array().into_iter().flatten().filter_map(|one| one.get("const"));
    let words = words.chain(schema["enum"].as_array().into_iter().flatten());
    let words: Vec<_> = words.filter(|word| *word != now && !word.is_null()).cloned().collect();
    if !words.is_empty() {
        return words;
    }
    if let Some(now) = now.as_bool() {
        return vec![(!now).into()];
    }
    let Some(now) = now.as_f64().filter(|now| *now > 0.0) else { return Vec::new() };
    let bound = |key: &str, default| schema[key].as_f64().unwrap_or(default);
    let range = bound("minimum", f64::MIN)..=bound("maximum", f64::MAX);
    let is_whole = |kind: &Value| kind == "integer" || kind[0] == "integer";
    let both = [now * 2.0, now / 2.0].into_iter().filter(|value| range.contains(value));
    both.map(|value| if is_whole(&schema["type"]) { (value as u64).into() } else { value.into() })
        .collect()
}

/// Puts a value at a path, into tables that may be new.
fn put(root: &mut Value, path: &str, new: Value) {
    let mut value = root;
    for part in path.split('.') {
        value = match value {
            Value::Array(items) => &mut items[part.parse::<usize>().expect("a place in a list")],
            table => &mut table[part],
        };
    }
    *value = new;
}

/// Takes out the key at a path.
fn take(root: &mut Value, path: &str) {
    let (above, last) = path.rsplit_once('.').unwrap_or(("", path));
    let pointer =
        if above.is_empty() { String::new() } else { format!("/{}", above.replace('.', "/")) };
    match root.pointer_mut(&pointer) {
        Some(Value::Object(table)) => drop(table.remove(last)),
        Some(Value::Array(items)) => drop(items.remove(last.parse().expect("a place in a list"))),
        _ => {}
    }
}

/// The name of a scenario beside the captures that some name.
static BESIDE: LazyLock<String> = LazyLock::new(|| {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("keys");
    std::fs::create_dir_all(&directory).unwrap();
    replay::write_pcap(&directory.join("replayed.pcap"), &replay::PACKETS);
    remedies::write_captures(&directory);
    for (name, packets) in [("real.pcapng", 500), ("fewer.pcapng", 100)] {
        std::fs::write(directory.join(name), real_packets::recorded("it", packets)).unwrap();
    }
    directory.join("case.toml").to_str().unwrap().to_owned()
});

/// The scenario of these keys.
fn scenario(keys: &Value) -> Result<Scenario, Problems> {
    scenario_with(keys, None)
}

/// A scenario, with a modem's file of these settings if there are any.
fn scenario_with(keys: &Value, modem: Option<&str>) -> Result<Scenario, Problems> {
    let text = toml::to_string(keys).expect("it is a table");
    let config = modem.map(|settings| File::from_toml(settings, "modem.toml", None));
    let config = config.transpose()?.map(|file| file.view());
    let overlay =
        config.as_ref().map(|config| Provision { config, problems: &[], source: "modem.cfg" });
    let source = Source::new(&text, &BESIDE).overlay(overlay.as_ref().map(|modem| modem as _));
    let variants = source.most_bytes(crate::swarm::network::MOST_BYTES).load()?;
    Ok(variants.into_iter().next().expect("there is one").scenario)
}

fn run(scenario: &Scenario) -> Results {
    Simulation::run(scenario)
}

/// All tables of a run, without what counts events, without warnings, and without what copies the scenario.
fn tables(results: Results) -> String {
    let mut bare = Results { events: 0, fingerprint: 0, warnings: Vec::new(), ..results };
    (bare.servers, bare.ports, bare.timestamps) = Default::default();
    format!("{bare:?}")
}
