//! The table of cases: complete against the schema, and each key acts in its case.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

use super::{Key, all_keys, others, put, run, scenario_with, schema_of, tables, take};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    base: BTreeMap<String, String>,
    case: Vec<Case>,
    to: BTreeMap<String, Value>,
    exempt: Exempt,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exempt {
    keys: BTreeSet<String>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    of: String,
    keys: Option<Vec<String>>,
    base: String,
    at: String,
    #[serde(default)]
    set: toml::Table,
    #[serde(default)]
    to: BTreeMap<String, Value>,
    #[serde(rename = "else")]
    other: Option<Value>,
    /// Settings of the modem's file with which the scenario is read.
    modem: Option<String>,
}

/// All cases, each of one definition and with its keys.
pub(super) struct Cases {
    table: Table,
    pub(super) of_keys: Vec<(Key, Case)>,
}

pub(super) fn cases() -> Cases {
    let table: Table = toml::from_str(include_str!("cases.toml")).unwrap();
    let whole: BTreeSet<_> =
        table.case.iter().filter(|case| case.keys.is_none()).map(|case| case.of.clone()).collect();
    let single = |case: &Case| {
        let keys = case.keys.iter().flatten();
        keys.map(|key| (Key::new(&case.of, key), case.clone())).collect::<Vec<_>>()
    };
    let mut of_keys: Vec<_> = table.case.iter().flat_map(single).collect();
    let own: BTreeSet<_> = of_keys.iter().map(|(key, _)| key.clone()).collect();
    let all: Vec<Key> = all_keys();
    for case in table.case.iter().filter(|case| case.keys.is_none()) {
        let is_its = |of: &str| match case.of.strip_suffix('*') {
            Some(kinds) => of.starts_with(kinds) && !whole.contains(of),
            None => of == case.of,
        };
        let its = all.iter().filter(|key| is_its(&key.of) && !own.contains(key));
        let its = its.filter(|key| !table.exempt.keys.contains(&key.path()));
        of_keys.extend(its.map(|key| (key.clone(), Case { of: key.of.clone(), ..case.clone() })));
    }
    Cases { table, of_keys }
}

impl Case {
    /// Where a key is.
    pub(super) fn path_of(&self, key: &Key) -> String {
        format!("{}.{}", self.at, key.name).trim_start_matches('.').to_owned()
    }
}

impl Cases {
    /// The scenario of a case.
    pub(super) fn keys_of(&self, case: &Case) -> Value {
        let mut keys = toml::from_str(&self.table.base[&case.base]).unwrap();
        let kind = case.of.split_once('/').map(|(_, kind)| kind);
        if let Some(kind) = kind
            && !case.of.starts_with("Entry/")
            && !case.set.keys().any(|path| case.at.starts_with(path))
        {
            put(&mut keys, &case.at, serde_json::json!({ "kind": kind }));
        }
        for (path, value) in &case.set {
            put(&mut keys, path, serde_json::to_value(value).unwrap());
        }
        keys
    }

    /// What the scenario of a case becomes if a key changes.
    pub(super) fn changed(&self, key: &Key, case: &Case, keys: &Value, full: &Value) -> Vec<Value> {
        let mut changed = keys.clone();
        if key.name == "kind" {
            match &case.other {
                Some(other) => put(&mut changed, &case.at, other.clone()),
                None => take(&mut changed, &case.at),
            }
            return vec![changed];
        }
        let path = &*case.path_of(key);
        let now = full.pointer(&format!("/{}", path.replace('.', "/"))).unwrap_or(&Value::Null);
        let given = case.to.get(&key.name).or_else(|| self.table.to.get(&key.path()));
        let others = given.map_or_else(|| others(schema_of(key), now), |to| vec![to.clone()]);
        assert!(!others.is_empty(), "no other value of {}; `to` may name one", key.path());
        let with = |other| {
            let mut changed = keys.clone();
            put(&mut changed, path, other);
            changed
        };
        others.into_iter().map(with).collect()
    }

    /// The key of this number changes a table of results.
    fn acts(&self, number: usize) {
        let (key, case) = &self.of_keys[number];
        let keys = self.keys_of(case);
        let scenario_of = |keys: &Value| {
            scenario_with(keys, case.modem.as_deref()).map_err(|problems| problems.to_string())
        };
        let base = scenario_of(&keys).unwrap_or_else(|why| panic!("{}: {why}", key.path()));
        let full = serde_json::to_value(&base).unwrap();
        let before = tables(run(&base));
        let mut silent = Vec::new();
        for changed in self.changed(key, case, &keys, &full) {
            match scenario_of(&changed) {
                Ok(other) if tables(run(&other)) != before => return,
                Ok(_) => silent.push("no table changes".to_owned()),
                Err(why) => silent.push(why),
            }
        }
        panic!("{} in {}: {silent:?}\n{}", key.path(), case.at, toml::to_string(&keys).unwrap());
    }
}

#[test]
fn each_key_of_the_schema_has_a_case() {
    let Cases { table, of_keys } = cases();
    let with_case: BTreeSet<_> = of_keys.into_iter().map(|(key, _)| key).collect();
    let all: BTreeSet<_> = all_keys().into_iter().collect();
    let missing: Vec<_> = all.difference(&with_case).map(Key::path).collect();
    assert_eq!(missing.into_iter().collect::<BTreeSet<_>>(), table.exempt.keys);
    let unknown: Vec<_> = with_case.difference(&all).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

mod at_random {
    use sojourn_testing::rounds;

    /// Numbers that follow each other are of keys far apart; all come in turn.
    #[test]
    fn swarm_each_key_acts_in_its_case() {
        const STRIDE: u64 = 7919;
        let cases = super::cases();
        let count = cases.of_keys.len() as u64;
        rounds(30, |seed| cases.acts((seed.wrapping_mul(STRIDE) % count) as usize));
    }
}
