//! Keys that have no effect beside others: `rules.toml` says which key rules over which.
//!
//! A rule is of the tables of one definition of the schema. Its keys act only under its condition; where they are set
//! all the same, and not to their default, a warning names the ruling key.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value};
use sojourn_engine::dialect::Dialect;
use sojourn_input::problem::{Code, Remedy, Warning};
use sojourn_input::words;

use super::node::Node;
use super::schema::Scenario;

/// The groups of homes.
const HOMES: &str = "homes";

/// One rule of the table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    /// The definition of the schema that describes the tables, with the kind where it has kinds.
    of: String,
    /// The keys that are ruled over, below the table; `*` is any name.
    keys: Vec<String>,
    /// Settings without which the keys have no effect: what a key must be, or be one of.
    #[serde(default)]
    needs: BTreeMap<String, Value>,
    /// Settings that together leave the keys without effect; a list has several such values.
    #[serde(default)]
    under: BTreeMap<String, Value>,
    /// A key without which they have no effect.
    without: Option<String>,
    /// A key beside which they have no effect.
    beside: Option<String>,
}

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let mut rules: BTreeMap<String, Vec<Rule>> =
        toml::from_str(include_str!("rules.toml")).expect("the rules are checked by tests");
    rules.remove("rule").unwrap_or_default()
});

/// A key that is set and has no effect.
#[derive(Clone, Debug, PartialEq)]
pub struct Idle {
    /// The names in its path.
    parts: Vec<String>,
    /// Why, after `has no effect`.
    why: String,
    /// Settings with which it has one, if values say so.
    remedy: Remedy,
}

impl Idle {
    /// The sentence about it.
    pub fn sentence(&self) -> String {
        format!("{} has no effect {}", path_of(&self.parts), self.why)
    }

    /// The warning of it.
    pub fn warning(self) -> Warning {
        let path = path_of(&self.parts);
        Warning::of_code(Code::IdleKey, path, self.sentence()).remedied(self.remedy)
    }
}

/// The path of these names.
fn path_of(parts: &[String]) -> String {
    parts.iter().fold(String::new(), |path, part| words::join(&path, part))
}

/// These names and further ones.
fn with(parts: &[String], more: &str) -> Vec<String> {
    parts.iter().cloned().chain(more.split('.').map(str::to_owned)).collect()
}

/// The keys of a scenario that are set and have no effect.
pub fn idle_keys(scenario: &Scenario) -> Vec<Idle> {
    let root = serde_json::to_value(scenario);
    root.map_or(Vec::new(), |root| idle_in(&root, scenario))
}

/// The scenario without the keys that have no effect, if it has such keys.
pub(super) fn without_idle_keys(scenario: &Scenario) -> Option<(Scenario, Vec<Idle>)> {
    let mut root = serde_json::to_value(scenario).ok()?;
    let idle = idle_in(&root, scenario);
    for key in &idle {
        let (name, above) = key.parts.split_last()?;
        let table = above.iter().try_fold(&mut root, |value, part| match value {
            Value::Array(items) => items.get_mut(part.parse::<usize>().ok()?),
            table => table.get_mut(part),
        })?;
        table.as_object_mut()?.remove(name);
    }
    let bare = (!idle.is_empty()).then(|| serde_json::from_value(root).ok())??;
    Some((bare, idle))
}

fn idle_in(root: &Value, scenario: &Scenario) -> Vec<Idle> {
    let mut places = Vec::new();
    collect(root, &Node::root(), &[], &mut places);
    let mut idle: Vec<Idle> = Vec::new();
    for place in &places {
        for rule in RULES.iter().filter(|rule| rule.of == place.node.of) {
            let Some((why, remedy)) = rule.holds(place, root) else { continue };
            let set = rule.keys.iter().flat_map(|key| place.set(key));
            idle.extend(set.map(|parts| Idle { parts, why: why.clone(), remedy: remedy.clone() }));
        }
    }
    idle.extend(idle_bursts(&places, scenario));
    idle.sort_by(|one, other| one.parts.cmp(&other.parts));
    idle.dedup_by(|one, other| one.parts == other.parts);
    let all: BTreeSet<_> = idle.iter().map(|one| one.parts.clone()).collect();
    idle.retain(|one| is_idle_in_all_homes(&one.parts, root, &all));
    let of_homes: Vec<_> = idle.extract_if(.., |one| one.parts[0] == HOMES).collect();
    // What homes take over from the scenario is reported once.
    let own = |one: &Idle| idle.iter().all(|other| other.parts != one.parts[2..]);
    let own: Vec<_> = of_homes.into_iter().filter(own).collect();
    idle.extend(own);
    idle
}

/// Groups of homes take over keys of the scenario's service: these have no effect if they have none in any group.
fn is_idle_in_all_homes(parts: &[String], root: &Value, idle: &BTreeSet<Vec<String>>) -> bool {
    let value_in = |table| parts.iter().try_fold(table, |value: &Value, part| value.get(part));
    let own = value_in(root);
    let homes = root[HOMES].as_object().into_iter().flatten();
    let mut taken_over = homes.filter(|(_, homes)| own.is_some() && value_in(homes) == own);
    taken_over.all(|(name, _)| idle.contains(&[&[HOMES.to_owned(), name.clone()], parts].concat()))
}

/// Bursts of more than the default where the peak rate, at which they pass, is the sustained rate. The studies state all
/// keys of their documents.
fn idle_bursts(places: &[Place<'_>], scenario: &Scenario) -> Vec<Idle> {
    if scenario.dialect == Dialect::Ns2 {
        return Vec::new();
    }
    let number = |place: &Place<'_>, key: &str| place.table.get(key).and_then(Value::as_f64);
    let idle = |place: &&Place<'_>| {
        let [peak, sustained] = ["peak_mbps", "sustained_mbps"].map(|key| number(place, key));
        peak.is_some() && peak == sustained
    };
    let candidates: Vec<_> = places.iter().filter(idle).collect();
    if candidates.is_empty() {
        return Vec::new();
    }
    let usual = serde_json::to_value(with_usual_bursts(scenario)).unwrap_or_default();
    let more_than_usual = candidates.into_iter().filter(|place| {
        let pointer: String =
            place.parts.iter().map(|part| format!("/{}", escaped(part))).collect();
        let usual = usual.pointer(&pointer).and_then(|table| table["burst_bytes"].as_f64());
        number(place, "burst_bytes") > usual && usual.is_some()
    });
    let idle = more_than_usual.map(|place| {
        let [burst, peak] = ["burst_bytes", "peak_mbps"].map(|key| with(&place.parts, key));
        let (path, value) = (path_of(&peak), &place.table["peak_mbps"]);
        let twice = value.as_f64().unwrap_or_default() * 2.0;
        let remedy = Remedy::of(&path, twice);
        let why =
            format!("where {}, the sustained rate; set {remedy}", Remedy::of(path, value.clone()));
        Idle { parts: burst, why, remedy }
    });
    idle.collect()
}

/// A part of a JSON pointer.
fn escaped(part: &str) -> String {
    part.replace('~', "~0").replace('/', "~1")
}

/// The scenario with the default burst of each service flow.
fn with_usual_bursts(scenario: &Scenario) -> Scenario {
    let mut usual = scenario.clone();
    let homes = usual.homes.values_mut();
    let (up, down): (Vec<_>, Vec<_>) =
        homes.map(|homes| (homes.upstream.as_mut(), homes.downstream.as_mut())).unzip();
    for up in up.into_iter().flatten().chain([&mut usual.upstream]) {
        up.burst_bytes = None;
        up.flows.values_mut().for_each(|flow| flow.burst_bytes = None);
    }
    for down in down.into_iter().flatten().chain([&mut usual.downstream]) {
        down.burst_bytes = None;
        down.flows.values_mut().for_each(|flow| flow.burst_bytes = None);
    }
    usual.fill();
    usual
}

/// A table of a scenario.
struct Place<'a> {
    parts: Vec<String>,
    table: &'a Map<String, Value>,
    node: Node,
}

/// All tables of a value, with their definitions.
fn collect<'a>(value: &'a Value, node: &Node, parts: &[String], places: &mut Vec<Place<'a>>) {
    let below = |name: &str| [parts, &[name.to_owned()]].concat();
    match value {
        Value::Object(table) => {
            for (key, value) in table {
                let its = node.below(key).and_then(|schema| Node::of(schema, value));
                if let Some(its) = its {
                    collect(value, &its, &below(key), places);
                }
            }
            places.push(Place { parts: parts.to_vec(), table, node: node.clone() });
        }
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                if let Some(its) = Node::of(&node.schema["items"], item) {
                    collect(item, &its, &below(&number.to_string()), places);
                }
            }
        }
        _ => {}
    }
}

impl Place<'_> {
    /// The names in the paths of a key below this table, where it is set to another value than its default.
    fn set(&self, key: &str) -> Vec<Vec<String>> {
        let mut found = Vec::new();
        let names: Vec<&str> = key.split('.').collect();
        set_below(self.table, &self.node, &names, &self.parts, &mut found);
        found
    }
}

fn set_below(
    table: &Map<String, Value>,
    node: &Node,
    names: &[&str],
    parts: &[String],
    found: &mut Vec<Vec<String>>,
) {
    let [name, rest @ ..] = names else { return };
    for (key, value) in table.iter().filter(|(key, _)| *name == "*" || key == name) {
        let Some(schema) = node.below(key) else { continue };
        let parts = [parts, std::slice::from_ref(key)].concat();
        if rest.is_empty() {
            let default = schema.get("default").unwrap_or(&Value::Null);
            if !value.is_null() && !is_same(value, default) {
                found.push(parts);
            }
        } else if let (Value::Object(below), Some(node)) = (value, Node::of(schema, value)) {
            set_below(below, &node, rest, &parts, found);
        }
    }
}

/// Are values equal, where 1 is 1.0 and what a table leaves out is null?
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let keys = one.keys().chain(other.keys());
            keys.into_iter().all(|key| is_same(of(one, key), of(other, key)))
        }
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        _ => one == other,
    }
}

fn of<'a>(table: &'a Map<String, Value>, key: &str) -> &'a Value {
    table.get(key).unwrap_or(&Value::Null)
}

impl Rule {
    /// If the keys have no effect in this table: why, and what gives them one.
    fn holds(&self, place: &Place<'_>, root: &Value) -> Option<(String, Remedy)> {
        let value_of = |key: &str| match key.strip_prefix('/') {
            Some(key) => (
                path_of(&with(&[], key)),
                root.as_object().map_or(&Value::Null, |all| at(all, key)),
            ),
            None => (path_of(&with(&place.parts, key)), at(place.table, key)),
        };
        if let Some(key) = &self.without {
            let (path, value) = value_of(key);
            let why = format!("without {path}: set it too");
            return is_unset(value).then_some((why, Remedy::default()));
        }
        if let Some(key) = &self.beside {
            let (path, value) = value_of(key);
            let why = format!("beside {path}: leave one of them out");
            return (!is_unset(value)).then_some((why, Remedy::default()));
        }
        if self.needs.is_empty() {
            let all = self.under.iter().all(|(key, values)| is_among(value_of(key).1, values));
            let settings = self.under.keys().map(|key| stated(value_of(key)));
            let why = format!("where {}: leave it out", settings.collect::<Vec<_>>().join(" and "));
            return all.then(|| (why, Remedy::default()));
        }
        let lacking = self.needs.iter().filter(|(key, values)| !is_among(value_of(key).1, values));
        let lacking: Vec<_> = lacking.map(|(key, values)| (value_of(key), values)).collect();
        let remedy = lacking.iter().fold(Remedy::default(), |remedy, ((path, _), values)| {
            remedy.and(path, values.as_array().map_or(*values, |values| &values[0]).clone())
        });
        let settings = lacking.iter().map(|((path, value), _)| stated((path.clone(), value)));
        let why = format!("where {}; set {remedy}", settings.collect::<Vec<_>>().join(" and "));
        (!lacking.is_empty()).then_some((why, remedy))
    }
}

/// Is a key unset, or an empty list?
fn is_unset(value: &Value) -> bool {
    value.is_null() || value.as_array().is_some_and(Vec::is_empty)
}

/// The value of a key below a table.
fn at<'a>(table: &'a Map<String, Value>, key: &str) -> &'a Value {
    let (first, rest) =
        key.split_once('.').map_or((key, None), |(first, rest)| (first, Some(rest)));
    let value = of(table, first);
    rest.map_or(value, |rest| value.as_object().map_or(&Value::Null, |below| at(below, rest)))
}

/// Is a value this one, or one of these? An empty table stands for any.
fn is_among(value: &Value, values: &Value) -> bool {
    match values {
        Value::Object(any) if any.is_empty() => value.is_object(),
        Value::Array(values) => values.iter().any(|one| is_same(value, one)),
        one => is_same(value, one),
    }
}

/// A setting in a sentence.
fn stated((path, value): (String, &Value)) -> String {
    match value {
        Value::Null => format!("{path} is not set"),
        value => Remedy::of(path, value.clone()).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::node::definition as definition_of;
    use super::*;

    /// What the schema says of the tables of a rule.
    fn definition(of: &str) -> Node {
        let (name, kind) = of.split_once('/').map_or((of, None), |(name, kind)| (name, Some(kind)));
        let value = kind.map_or(Value::Null, |kind| serde_json::json!({ "kind": kind }));
        let reference =
            Box::leak(Box::new(serde_json::json!({ "$ref": format!("#/$defs/{name}") })));
        let node = Node::of(reference, &value).unwrap_or_else(|| panic!("no {of}"));
        assert_eq!(node.of, of);
        node
    }

    /// Does the schema have this key below a table, of one of the kinds where there are several?
    fn has(node: &Node, key: &str) -> bool {
        let (first, rest) = key.split_once('.').map_or((key, None), |(a, b)| (a, Some(b)));
        let Some(schema) = node.below(first) else { return false };
        let Some(rest) = rest else { return true };
        let kinds = definition_of(schema).and_then(|(_, one)| one["oneOf"].as_array());
        let Some(kinds) = kinds else {
            return has(&Node::of(schema, &Value::Null).unwrap(), rest);
        };
        rest == "kind"
            || kinds.iter().any(|kind| has(&Node { schema: kind, of: String::new() }, rest))
    }

    #[test]
    fn rules_are_of_keys_that_the_schema_has() {
        let root = Node::root();
        for rule in RULES.iter() {
            let node = definition(&rule.of);
            let ruling = rule.needs.keys().chain(rule.under.keys());
            let ruling = ruling.chain(&rule.without).chain(&rule.beside);
            for key in rule.keys.iter().chain(ruling) {
                let is_there = match key.strip_prefix('/') {
                    Some(key) => has(&root, key),
                    None => has(&node, key),
                };
                assert!(is_there, "{}: {key}", rule.of);
            }
            let kinds = [
                rule.needs.is_empty(),
                rule.under.is_empty(),
                rule.without.is_none(),
                rule.beside.is_none(),
            ];
            assert_eq!(
                kinds.into_iter().filter(|is_empty| !is_empty).count(),
                1,
                "{:?}",
                rule.keys
            );
        }
    }
}
