//! Keys that have no effect beside others: `rules.toml` says which key rules over which.
//!
//! A rule is of the tables of one definition of the schema. Its keys act only under its condition; where they are set
//! all the same, and not to their default, a warning names the ruling key.
//!
//! Homes take over keys of the scenario's service, and traffic entries its TCP options. Such a key has no effect if it has
//! none in any table that takes it over, or if each of them overrides it.

mod bounds;
mod heirs;
mod readers;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value};
use sojourn_access::ServiceFlow;
use sojourn_engine::dialect::Dialect;
use sojourn_input::problem::{Code, Remedy, Warning};
use sojourn_input::words;

use self::heirs::{Shared, TCP, inherited};
pub(super) use self::readers::{unread, unread_by_all};
use super::node::Node;
use super::schema::Scenario;

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
    /// Keys that override them, where all of these are set.
    overridden_by: Option<String>,
}

/// Keys whose defaults depend on others.
const FILLED: [&str; 2] = ["peak_mbps", "burst_bytes"];

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let mut rules: BTreeMap<String, Vec<Rule>> =
        toml::from_str(include_str!("rules.toml")).expect("the rules are checked by tests");
    rules.remove("rule").unwrap_or_default()
});

/// Why a key has no effect, and what to do.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Reason {
    /// Why, after `has no effect`.
    clause: String,
    /// Settings with which it has one, if values say so.
    pub remedy: Remedy,
    /// What to do where there are none.
    otherwise: String,
}

const LEAVE_OUT: &str = "leave it out";

impl Reason {
    fn new(clause: impl Into<String>, otherwise: impl Into<String>) -> Self {
        let (clause, otherwise) = (clause.into(), otherwise.into());
        Self { clause, remedy: Remedy::default(), otherwise }
    }

    fn without(clause: impl Into<String>, remedy: Remedy) -> Self {
        Self { remedy, ..Self::new(clause, LEAVE_OUT) }
    }
}

/// A key that is set and has no effect.
#[derive(Clone, Debug, PartialEq)]
pub struct Idle {
    /// The names in its path.
    pub(super) parts: Vec<String>,
    pub(super) reason: Reason,
    /// Must it be set all the same?
    is_required: bool,
    /// Has it none for lack of traffic that reads it? Then it is no remark on an idle line, whose traffic is less.
    is_unread: bool,
}

impl Idle {
    fn new(parts: Vec<String>, reason: Reason) -> Self {
        Self { parts, reason, is_required: false, is_unread: false }
    }

    /// Its path.
    pub(super) fn path(&self) -> String {
        path_of(&self.parts)
    }

    /// A modem's file sets it: nobody set it here, or can leave it out.
    pub(super) fn given_by(mut self, file: &str) -> Self {
        self.reason = Reason::new(self.reason.clause, format!("{file} sets it"));
        self
    }

    /// That it has none, and why.
    pub(super) fn why(&self) -> String {
        format!("{} has no effect {}", path_of(&self.parts), self.reason.clause)
    }

    /// The sentence about it.
    pub fn sentence(&self) -> String {
        let Reason { remedy, otherwise, .. } = &self.reason;
        match remedy.is_empty() {
            true => format!("{}: {otherwise}", self.why()),
            false => format!("{}; set {remedy}", self.why()),
        }
    }

    /// The warning of it.
    pub fn warning(self) -> Warning {
        let path = path_of(&self.parts);
        Warning::of_code(Code::IdleKey, path, self.sentence()).remedied(self.reason.remedy)
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

/// The keys of a scenario that are set and have no effect beside others.
pub(super) fn idle_keys(scenario: &Scenario) -> Vec<Idle> {
    let root = serde_json::to_value(scenario);
    let idle = root.map_or(Vec::new(), |root| idle_in(&root, scenario));
    idle.into_iter().filter(|one| !one.is_unread).collect()
}

/// The keys of a scenario, without those that must be set, that no traffic reads.
pub(super) fn unread_keys(scenario: &Scenario) -> Vec<Idle> {
    let root = serde_json::to_value(scenario);
    let idle = root.map_or(Vec::new(), |root| idle_in(&root, scenario));
    idle.into_iter().filter(|one| one.is_unread && !one.is_required).collect()
}

/// The scenario without the keys that have no effect, if it has such keys.
pub(super) fn without_idle_keys(scenario: &Scenario) -> Option<(Scenario, Vec<Idle>)> {
    let mut root = serde_json::to_value(scenario).ok()?;
    let idle = idle_in(&root, scenario);
    let (whole, shared) = inherited(&root, scenario);
    // What no run reads stays valid as a copy of what is read.
    let unread: Vec<_> =
        shared.iter().filter(|table| !table.is_read && table.base != TCP).collect();
    for table in &unread {
        root[table.base] = heirs::at(&whole, &table.heirs[0].parts)?.clone();
    }
    let is_left = |key: &&Idle| unread.iter().all(|table| key.parts[0] != table.base);
    for key in idle.iter().filter(is_left) {
        let (name, above) = key.parts.split_last()?;
        let table = above.iter().try_fold(&mut root, |value, part| match value {
            Value::Array(items) => items.get_mut(part.parse::<usize>().ok()?),
            table => table.get_mut(part),
        })?;
        table.as_object_mut()?.remove(name);
    }
    let bare: Scenario = (!idle.is_empty()).then(|| serde_json::from_value(root).ok())??;
    // Without these, others may have none: the switch of a law that is gone.
    let further = (bare != *scenario).then(|| without_idle_keys(&bare)).flatten();
    Some((further.map_or(bare, |(further, _)| further), idle))
}

fn idle_in(root: &Value, scenario: &Scenario) -> Vec<Idle> {
    let (whole, shared) = inherited(root, scenario);
    let mut places = Vec::new();
    collect(&whole, &Node::root(), &[], &mut places);
    let tables = Tables { whole: &whole, shared: &shared };
    let mut idle: Vec<Idle> = Vec::new();
    for place in &places {
        for rule in RULES.iter().filter(|rule| rule.of == place.node.of) {
            let Some(reason) = rule.holds(place, &tables) else { continue };
            let set = rule.keys.iter().flat_map(|key| place.set(key));
            let is_unread = rule.overridden_by.is_some();
            idle.extend(set.map(|parts| Idle { is_unread, ..Idle::new(parts, reason.clone()) }));
        }
    }
    let usual = serde_json::to_value(with_usual_bursts(scenario)).unwrap_or_default();
    idle.extend(idle_bursts(&places, &tables, &usual, scenario));
    idle.extend(bounds::all(&places, &whole, scenario));
    idle.extend(unused_servers(scenario));
    let mut all = BTreeMap::new();
    for one in idle {
        all.entry(one.parts.clone()).or_insert(one);
    }
    for table in &shared {
        of_all_heirs(table, &whole, &mut all);
        for (rest, by) in table.overridden(&whole) {
            let parts = [&[table.base.to_owned()], &rest[..]].concat();
            let is_filled = FILLED.contains(&&**rest.last().expect("a key"))
                && heirs::at(&usual, &parts) == heirs::at(&whole, &parts);
            let Some(is_required) = is_set(&parts, &whole, &places).filter(|_| !is_filled) else {
                continue;
            };
            let one = Idle::new(parts.clone(), overridden_by(&by, table.heirs.len()));
            let one = Idle { is_required, is_unread: true, ..one };
            all.insert(parts, one);
        }
    }
    all.into_values().collect()
}

/// Why a key has no effect that this and so many others together override; none where nobody takes it over.
fn overridden_by(first: &str, count: usize) -> Reason {
    match count {
        0 => Reason::new("without traffic over TCP or QUIC", LEAVE_OUT),
        1 => Reason::new(format!("beside {first}, which overrides it"), "change that"),
        2 => Reason::new(
            format!("beside {first} and one like it, which override it"),
            "change those",
        ),
        _ => Reason::new(
            format!("beside {first} and {} like it, which override it", count - 1),
            "change those",
        ),
    }
}

/// A key that is taken over is reported once, where it stands, and only if it has no effect in any table that a run reads.
fn of_all_heirs(table: &Shared, whole: &Value, idle: &mut BTreeMap<Vec<String>, Idle>) {
    let is_of_base = |parts: &[String]| parts[0] == table.base;
    let is_taken = |parts: &Vec<String>| is_of_base(parts) || table.taken(parts, whole).is_some();
    let mut all: BTreeMap<Vec<String>, Vec<Idle>> = BTreeMap::new();
    for (parts, one) in idle.extract_if(.., |parts, _| is_taken(parts)).collect::<Vec<_>>() {
        let rest = table.taken(&parts, whole).unwrap_or(&parts[1..]).to_vec();
        if table.is_read || !is_of_base(&parts) {
            all.entry(rest).or_default().push(one);
        }
    }
    for (rest, mut ones) in all {
        let takers = table.heirs.iter().filter(|heir| heir.takes_over(table.base, &rest, whole));
        let parts = [&[table.base.to_owned()], &rest[..]].concat();
        if ones.len() == takers.count() + usize::from(table.is_read) {
            idle.insert(parts.clone(), Idle { parts, ..ones.remove(0) });
        }
    }
}

/// If this key is set to another value than its default: must it be set?
fn is_set(parts: &[String], whole: &Value, places: &[Place<'_>]) -> Option<bool> {
    let (name, above) = parts.split_last()?;
    let node = &places.iter().find(|place| place.parts == above)?.node;
    let default = node.below(name)?.get("default").unwrap_or(&Value::Null);
    let is_other = heirs::at(whole, parts).is_some_and(|value| !is_same(value, default));
    let mut required = node.schema["required"].as_array().into_iter().flatten();
    is_other.then(|| required.any(|key| key == name))
}

/// Servers that no traffic names.
fn unused_servers(scenario: &Scenario) -> impl Iterator<Item = Idle> {
    let used = scenario.traffic.values().flat_map(|entry| entry.app.parameters().servers());
    let used: BTreeSet<&str> = used.map(|(_, server)| server).collect();
    let unused = scenario.servers.keys().filter(move |name| !used.contains(name.as_str()));
    unused.map(|name| {
        let reason =
            Reason::new("without traffic", "name it in an entry of traffic, or leave it out");
        let parts = vec!["servers".to_owned(), name.clone()];
        Idle { is_unread: true, ..Idle::new(parts, reason) }
    })
}

/// Bursts of more than the default where the peak rate, at which they pass, is the sustained rate. The studies state all
/// keys of their documents.
fn idle_bursts(
    places: &[Place<'_>],
    tables: &Tables<'_>,
    usual: &Value,
    scenario: &Scenario,
) -> Vec<Idle> {
    if scenario.dialect == Dialect::Ns2 {
        return Vec::new();
    }
    let number = |place: &Place<'_>, key: &str| place.table.get(key).and_then(Value::as_f64);
    let idle = |place: &&Place<'_>| {
        let [peak, sustained] = ["peak_mbps", "sustained_mbps"].map(|key| number(place, key));
        peak.is_some() && peak == sustained
    };
    // The trace of a modem shows how full its bucket is.
    let is_traced = |place: &&Place<'_>| {
        scenario.metrics.modem_trace && place.parts.iter().any(|part| part == "upstream")
    };
    let untraced = places.iter().filter(|place| !is_traced(place));
    let more_than_usual = untraced.filter(idle).filter(|place| {
        let usual = heirs::at(usual, &place.parts).and_then(|table| table["burst_bytes"].as_f64());
        number(place, "burst_bytes") > usual && usual.is_some()
    });
    let idle = more_than_usual.map(|place| {
        let [burst, peak] = ["burst_bytes", "peak_mbps"].map(|key| with(&place.parts, key));
        let (path, value) = (tables.path_of(peak), &place.table["peak_mbps"]);
        let twice = value.as_f64().unwrap_or_default() * 2.0;
        let remedy = Remedy::of(&path, twice);
        let clause = format!("where {}, the sustained rate", Remedy::of(path, value.clone()));
        Idle::new(burst, Reason::without(clause, remedy))
    });
    idle.collect()
}

/// The scenario with the default peak rate and burst of each service flow.
fn with_usual_bursts(scenario: &Scenario) -> Scenario {
    let as_usual = |flow: &mut ServiceFlow| (flow.peak_mbps, flow.burst_bytes) = (None, None);
    let mut usual = scenario.clone();
    let homes = usual.homes.values_mut();
    let (up, down): (Vec<_>, Vec<_>) =
        homes.map(|homes| (homes.upstream.as_mut(), homes.downstream.as_mut())).unzip();
    for up in up.into_iter().flatten().chain([&mut usual.upstream]) {
        (up.peak_mbps, up.burst_bytes) = (None, None);
        up.flows.values_mut().for_each(as_usual);
    }
    for down in down.into_iter().flatten().chain([&mut usual.downstream]) {
        (down.peak_mbps, down.burst_bytes) = (None, None);
        down.flows.values_mut().for_each(as_usual);
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

/// The tables that a run reads, for rules.
struct Tables<'a> {
    whole: &'a Value,
    shared: &'a [Shared],
}

impl<'a> Tables<'a> {
    /// The values of a ruling key of a rule for this table, with their paths as a reader knows them: several where it has
    /// `*`, or where homes have services of their own.
    fn values(&self, place: &Place<'_>, key: &str) -> Vec<(String, &'a Value)> {
        let names: Vec<&str> = key.trim_start_matches('/').split('.').collect();
        let mut found = Vec::new();
        if !key.starts_with('/') {
            below(self.whole, &place.parts, &names, &mut found);
        } else if let Some(table) = self.shared.iter().find(|table| table.base == names[0]) {
            for parts in table.read() {
                below(self.whole, &parts, &names[1..], &mut found);
            }
        } else {
            below(self.whole, &[], &names, &mut found);
        }
        let mut named: Vec<(String, &Value)> = Vec::new();
        for (parts, value) in found {
            let path = self.path_of(parts);
            if named.iter().all(|(other, _)| *other != path) {
                named.push((path, value));
            }
        }
        named
    }

    /// The path of a key as a reader knows it: where its value is from.
    fn path_of(&self, parts: Vec<String>) -> String {
        let origin = self.shared.iter().find_map(|table| table.origin(&parts, self.whole));
        path_of(&origin.unwrap_or(parts))
    }
}

/// Values of a key below the table with these names in its path.
fn below<'a>(
    whole: &'a Value,
    table: &[String],
    names: &[&str],
    found: &mut Vec<(Vec<String>, &'a Value)>,
) {
    let [name, rest @ ..] = names else {
        return found.push((table.to_vec(), heirs::at(whole, table).unwrap_or(&Value::Null)));
    };
    let further = |name: &str| [table, &[name.to_owned()]].concat();
    if *name == "*" {
        let all = heirs::at(whole, table).and_then(Value::as_object).into_iter().flatten();
        all.for_each(|(name, _)| below(whole, &further(name), rest, found));
    } else {
        below(whole, &further(name), rest, found);
    }
}

impl Rule {
    /// If the keys have no effect in this table: why, and what gives them one.
    fn holds(&self, place: &Place<'_>, tables: &Tables<'_>) -> Option<Reason> {
        let values = |key: &str| tables.values(place, key);
        let set = |key: &str| {
            let (all, mut set) = (values(key), values(key));
            set.retain(|(_, value)| !is_unset(value));
            (all, set)
        };
        if let Some(key) = &self.without {
            let (all, set) = set(key);
            let reason = Reason::new(format!("without {}", all[0].0), "set it too");
            return set.is_empty().then_some(reason);
        }
        if let Some(key) = &self.beside {
            let (_, set) = set(key);
            let clause = format!("beside {}", set.first()?.0);
            return Some(Reason::new(clause, "leave one of them out"));
        }
        if let Some(key) = &self.overridden_by {
            let (all, set) = set(key);
            let reason = overridden_by(&set.first()?.0, set.len());
            return (all.len() == set.len()).then_some(reason);
        }
        let is_among = |(_, value): &(String, &Value), values| is_among(value, values);
        if self.needs.is_empty() {
            let all: Vec<_> = self.under.iter().map(|(key, want)| (values(key), want)).collect();
            let holds = all.iter().all(|(found, want)| found.iter().all(|one| is_among(one, want)));
            let settings = stated(all.into_iter().flat_map(|(found, _)| found));
            return holds.then(|| Reason::new(format!("where {settings}"), LEAVE_OUT));
        }
        let needs = self.needs.iter().map(|(key, want)| (values(key), want));
        let lacking: Vec<_> =
            needs.filter(|(found, want)| !found.iter().any(|one| is_among(one, want))).collect();
        let remedy = lacking.iter().fold(Remedy::default(), |remedy, (found, want)| {
            remedy.and(&found[0].0, want.as_array().map_or(*want, |values| &values[0]).clone())
        });
        let is_lacking = !lacking.is_empty();
        let settings = stated(lacking.into_iter().flat_map(|(found, _)| found));
        is_lacking.then(|| Reason::without(format!("where {settings}"), remedy))
    }
}

/// Is a key unset, or an empty list?
fn is_unset(value: &Value) -> bool {
    value.is_null() || value.as_array().is_some_and(Vec::is_empty)
}

/// Is a value this one, or one of these? An empty table stands for any that is set.
fn is_among(value: &Value, values: &Value) -> bool {
    match values {
        Value::Object(any) if any.is_empty() => !value.is_null(),
        Value::Array(values) => values.iter().any(|one| is_same(value, one)),
        one => is_same(value, one),
    }
}

/// Settings in a sentence.
fn stated<'a>(settings: impl Iterator<Item = (String, &'a Value)>) -> String {
    let all = settings.map(|(path, value)| match value {
        Value::Null => format!("{path} is not set"),
        value => Remedy::of(path, value.clone()).to_string(),
    });
    all.collect::<Vec<_>>().join(" and ")
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
            let ruling = ruling.chain(&rule.without).chain(&rule.beside).chain(&rule.overridden_by);
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
                rule.overridden_by.is_none(),
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
