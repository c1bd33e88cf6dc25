//! No key is silent: what a random network names changes a table of its results, or a warning says that it has no effect.
//!
//! A key is changed one step after another, until one changes a table: to other words, twice and half a number and the
//! ends of its range, and at last it is left out.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use sojourn::engine::packet::Direction;
use sojourn::engine::rng::Rng;
use sojourn::input::problem::Warning;
use sojourn::scenario::{Scenario, Variant};

use super::{Key, SCHEMA, all_keys, others, put, resolved, tables, take};
use crate::swarm::{Reported, drawn, network, oracles};

/// Events of a network; a change may make more of them.
const MOST_EVENTS: u64 = 60_000;

/// Tables of homes that take over those of the scenario.
const OF_HOMES: [&str; 3] = ["upstream", "downstream", "router"];

/// Keys that may be silent in a random network, with what they wait for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Silent {
    wait: Vec<Wait>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wait {
    #[serde(rename = "for")]
    reason: String,
    /// Keys of the schema; `*` at the end stands for anything.
    keys: Vec<String>,
    /// Tables of the schema, one of which has to be there; none if any will do.
    #[serde(default)]
    beside: Vec<String>,
}

static SILENT: LazyLock<Vec<Wait>> = LazyLock::new(|| {
    toml::from_str::<Silent>(include_str!("silent.toml")).expect("it is such a table").wait
});

fn is_meant(pattern: &str, key: &Key) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => key.path().starts_with(start),
        None => key.path() == pattern,
    }
}

/// Does a key wait for an event in a network with these tables of the schema?
fn waits(key: &Key, tables: &BTreeSet<&str>) -> bool {
    let is_there = |wait: &&Wait| {
        wait.beside.is_empty() || wait.beside.iter().any(|table| tables.contains(table.as_str()))
    };
    let keys = SILENT.iter().filter(is_there).flat_map(|wait| &wait.keys);
    keys.into_iter().any(|pattern| is_meant(pattern, key))
}

/// A key that a scenario names: the kind of a table too.
struct Named {
    path: String,
    key: Key,
    schema: &'static Value,
    now: Value,
}

/// All keys of a scenario, with their definitions in the schema.
fn named(keys: &Value) -> Vec<Named> {
    let mut found = Vec::new();
    below(keys.as_object().expect("it is a table"), &SCHEMA, "", "", &mut found);
    found
}

fn below(
    table: &Map<String, Value>,
    schema: &'static Value,
    of: &str,
    path: &str,
    found: &mut Vec<Named>,
) {
    for (name, now) in table.iter().filter(|(name, _)| *name != "kind") {
        let of_homes = of == "Homes" && OF_HOMES.contains(&name.as_str());
        let properties = &(if of_homes { &SCHEMA } else { schema })["properties"];
        let schema = properties.get(name).unwrap_or(&schema["additionalProperties"]);
        let path = format!("{path}.{name}").trim_start_matches('.').to_owned();
        at(Named { path, key: Key::new(of, name), schema, now: now.clone() }, found);
    }
}

/// The keys of a table or of the tables in a list, or the key itself.
fn at(one: Named, found: &mut Vec<Named>) {
    let inner = |name: &str, schema, now: &Value| Named {
        path: format!("{}.{name}", one.path),
        key: one.key.clone(),
        schema,
        now: now.clone(),
    };
    let (of, definition) = definition(one.schema, &one.now);
    let further = &definition["additionalProperties"];
    match &one.now {
        Value::Object(table) if definition["properties"].is_object() => {
            below(table, definition, &of, &one.path, found);
            if of.contains('/') {
                found.push(Named { key: Key::new(&of, "kind"), ..one });
            }
        }
        Value::Object(table) if further["$ref"].is_string() => {
            table.iter().for_each(|(name, now)| at(inner(name, further, now), found));
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            let items = items.iter().enumerate();
            items.for_each(|(number, now)| {
                at(inner(&number.to_string(), &definition["items"], now), found);
            });
        }
        _ => found.push(one),
    }
}

/// The definition that a schema refers to, of the kind of this value, with its name.
fn definition(schema: &'static Value, value: &Value) -> (String, &'static Value) {
    let Some(name) = reference(schema) else { return (String::new(), schema) };
    let mut kinds = SCHEMA["$defs"][name]["oneOf"].as_array().into_iter().flatten();
    let its = kinds.find(|kind| kind["properties"]["kind"]["const"] == value["kind"]);
    match value["kind"].as_str().zip(its) {
        Some((kind, its)) => (format!("{name}/{kind}"), its),
        None => (name.to_owned(), &SCHEMA["$defs"][name]),
    }
}

fn reference(schema: &Value) -> Option<&str> {
    let options = schema["anyOf"].as_array().into_iter().flatten();
    let reference = options.chain([schema]).find_map(|option| option["$ref"].as_str());
    reference?.rsplit('/').next()
}

impl Named {
    /// Other values, the farthest from this last.
    fn others(&self) -> Vec<Value> {
        let Self { key, now, .. } = self;
        let schema = resolved(self.schema);
        let mut all = if key.name == "kind" { self.other_kinds() } else { others(schema, now) };
        if let Some(numbers) = now.as_array().filter(|items| items.iter().all(Value::is_number)) {
            let times = |factor: f64| {
                let scaled = numbers.iter().map(|number| match number.as_u64() {
                    Some(whole) => json!((whole as f64 * factor) as u64),
                    None => json!(number.as_f64().map(|number| number * factor)),
                });
                scaled.collect::<Value>()
            };
            all.extend([times(2.0), times(0.5)]);
        }
        if now.is_number() {
            let ends = ["minimum", "maximum"].map(|end| schema.get(end).and_then(Value::as_f64));
            let ends = ends.into_iter().flatten();
            all.extend(ends.map(|end| if now.is_u64() { json!(end as u64) } else { json!(end) }));
        }
        match &*key.name {
            "server" => all.extend([json!("near"), json!("far")]),
            "servers" => all.extend([json!(["near"]), json!(["far"])]),
            "home" => all.extend([json!("first"), json!("second"), json!("third")]),
            _ => {}
        }
        all.retain(|other| {
            other != now && other.as_f64().is_none_or(|one| Some(one) != now.as_f64())
        });
        all
    }

    /// Tables of other kinds, with their defaults.
    fn other_kinds(&self) -> Vec<Value> {
        let name = reference(self.schema).expect("it has kinds");
        let kinds = SCHEMA["$defs"][name]["oneOf"].as_array().into_iter().flatten();
        let words = kinds.map(|kind| kind["properties"]["kind"]["const"].clone());
        let others = words.filter(|word| *word != self.now["kind"]);
        others.map(|word| json!({ "kind": word })).take(4).collect()
    }

    /// Does a warning say that this key, or the table that it is in, has no effect?
    fn is_told<'a>(&self, warnings: impl IntoIterator<Item = &'a Warning>) -> bool {
        let is_its = |path: &str| self.path == path || self.path.starts_with(&format!("{path}."));
        let mut its = warnings.into_iter().filter(|one| !one.path.is_empty() && is_its(&one.path));
        its.any(|one| {
            let code = serde_json::to_value(one.code).expect("it is a word");
            code.as_str().is_some_and(|code| SAY_SO.contains(&code))
        })
    }
}

/// Warnings of keys and tables without effect.
const SAY_SO: [&str; 13] = [
    "idle-key",
    "idle-channel",
    "idle-router",
    "homes-without-traffic",
    "late-outage",
    "late-traffic",
    "lost-on-noise",
    "never-polled",
    "outage-of-the-run",
    "silent-traffic",
    "slow-server",
    "uncounted-traffic",
    "unknown-address",
];

/// A run of a network: its tables and warnings.
struct Ran<'a> {
    keys: &'a Value,
    scenario: &'a Scenario,
    /// The traffic entries that carried data, with directions and bytes.
    carrying: Vec<(String, &'static str, u64)>,
    tables: String,
    warnings: Vec<Warning>,
}

impl<'a> Ran<'a> {
    fn of(keys: &'a Value, variant: &'a Variant, most_events: u64) -> Option<Self> {
        let results = oracles::run(&variant.scenario, most_events)?;
        let warnings = results.warnings.iter().chain(&variant.notes).cloned().collect();
        let flows = results.flows.iter().filter(|row| row.delivered_packets >= LEAST_PACKETS);
        let carrying =
            flows.map(|row| (row.traffic.clone(), row.direction, row.delivered_bytes)).collect();
        let (scenario, tables) = (&variant.scenario, tables(results));
        Some(Self { keys, scenario, carrying, tables, warnings })
    }

    /// Changes a key step by step.
    fn fate(&self, named: &Named) -> Fate {
        let mut fate = Fate::Refused;
        let others = named.others().into_iter().map(Some);
        for change in others.chain([None]) {
            let mut changed = self.keys.clone();
            match &change {
                Some(value) => put(&mut changed, &named.path, value.clone()),
                None => take(&mut changed, &named.path),
            }
            let Ok(variant) = network::loaded(&changed) else { continue };
            // What is left out is the default, which needs no warning.
            let is_default = change.is_none() && fate == Fate::Refused;
            if variant.scenario == *self.scenario || is_default {
                continue;
            }
            let Some(other) = Ran::of(&changed, &variant, 4 * MOST_EVENTS) else {
                return Fate::Acts;
            };
            if other.tables != self.tables {
                return Fate::Acts;
            }
            let is_told = named.is_told(self.warnings.iter().chain(&other.warnings));
            if fate != Fate::Silent && change.is_some() {
                fate = if is_told { Fate::Told } else { Fate::Silent };
            }
        }
        if fate == Fate::Silent && !self.carries(&named.path) { Fate::Waits } else { fate }
    }

    /// Did data pass what a key is of: a server, an entry or a direction of homes, more than half its rate lets pass?
    fn carries(&self, path: &str) -> bool {
        let parts: Vec<&str> = path.split('.').collect();
        let way = if path.contains("upstream") { Direction::Up } else { Direction::Down };
        let entry = |name: &str| &self.scenario.traffic[name];
        let group_of = |name: &str| self.scenario.group(self.scenario.group_of(entry(name)));
        // Then half the rate would hold some of it up.
        let is_more = |name: &str, bytes: u64| {
            let (terms, homes) = (group_of(name).terms(way), f64::from(group_of(name).count));
            let half = terms.sustained_mbps / 2.0 * 1e6 / 8.0 * self.scenario.duration_s;
            bytes as f64 > (terms.burst_bytes as f64 + half) * homes
        };
        let passes = |is_meant: &dyn Fn(&str) -> bool, either: bool| {
            self.carrying.iter().any(|(name, of, bytes)| {
                is_meant(name) && (either || *of == way.name() && is_more(name, *bytes))
            })
        };
        let group = |name: &str| group_of(name).name;
        match &*parts {
            ["homes", name, "upstream" | "downstream", ..] => {
                passes(&|it| group(it) == *name, false)
            }
            ["homes", name, ..] => passes(&|it| group(it) == *name, true),
            [table @ ("upstream" | "downstream"), key, ..] => {
                let rest = format!("/{}", parts[1..].join("/"));
                let takes_over =
                    |it: &str| self.keys["homes"][group(it)][*table].pointer(&rest).is_none();
                // What all homes override has a warning, unless it must be set.
                let is_overridden = !self.scenario.traffic.keys().any(|it| takes_over(it));
                is_overridden && *key != "sustained_mbps" || passes(&takes_over, false)
            }
            ["cable" | "access", "distance_km" | "delay_ms" | "length_km"] => {
                let takes_over = |it: &str| self.keys["homes"][group(it)]["distance_km"].is_null();
                let mut groups = self.scenario.groups();
                groups.all(|group| group.distance_km.is_some()) || passes(&takes_over, true)
            }
            ["cmts", ..] => passes(&|_| true, false),
            ["servers", name, ..] => {
                // Where an entry has several, it chooses some of them.
                let alone = |it: &str| {
                    let servers = entry(it).app.parameters().servers();
                    servers.iter().all(|(_, server)| server == name)
                };
                passes(&alone, true)
            }
            ["tcp", key, ..] => {
                let takes_over = |it: &str| {
                    let own = self.keys["traffic"][it]["tcp"].get(key);
                    entry(it).app.parameters().tcp().is_some() && own.is_none()
                };
                let is_overridden = !self.scenario.traffic.keys().any(|it| takes_over(it));
                is_overridden || passes(&takes_over, true)
            }
            ["traffic", name, ..] => passes(&|it| it == *name, true),
            _ => passes(&|_| true, true),
        }
    }
}

/// Packets that an entry delivers at least if it carries data, and not only opens connections.
const LEAST_PACKETS: u64 = 10;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// A table changes.
    Acts,
    /// No other value is accepted.
    Refused,
    /// A warning says that it has no effect.
    Told,
    /// It is of what carries nothing in this run.
    Waits,
    Silent,
}

/// What each key that a random network names does, or one in so many of them.
fn fates(seed: u64, one_in: u64, mut with: impl FnMut(&Named, Fate)) {
    let mut keys = drawn(seed);
    let Ok(variant) = network::variant(&mut keys) else { return };
    let Some(ran) = Ran::of(&keys, &variant, MOST_EVENTS) else { return };
    let _reported = Reported(&keys);
    let mut rng = Rng::named(seed, "keys");
    let all = named(&keys);
    let tables: BTreeSet<&str> = all.iter().map(|named| &*named.key.of).collect();
    for named in &all {
        if rng.below(one_in) == 0 && !waits(&named.key, &tables) {
            with(named, ran.fate(named));
        }
    }
}

/// The list of what waits is of keys that there are, each once.
#[test]
fn keys_that_wait_are_those_of_the_schema() {
    let all = all_keys();
    let mut seen = BTreeSet::new();
    for Wait { reason, keys, .. } in SILENT.iter() {
        for pattern in keys {
            let its: Vec<_> = all.iter().filter(|key| is_meant(pattern, key)).collect();
            assert!(!its.is_empty(), "no key {pattern} waits for {reason}");
            for key in its {
                assert!(
                    seen.insert(key),
                    "{} waits for {reason}, and for something else",
                    key.path()
                );
            }
        }
    }
}

mod at_random {
    use super::{Fate, fates};
    use sojourn_testing::rounds;

    #[test]
    fn swarm_no_key_is_silent() {
        let one_in = if std::env::var_os("FUZZ_SECONDS").is_some() { 1 } else { 8 };
        rounds(12, |seed| {
            fates(seed, one_in, |named, fate| {
                let (key, path, now) = (named.key.path(), &named.path, &named.now);
                assert!(fate != Fate::Silent, "{path} = {now} ({key}) changes nothing");
            });
        });
    }
}
