//! The scenario in which packets were recorded, and whether it is the one in which they are replayed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sojourn_input::digest::digest;

use crate::apps::AppSpec;
use crate::roles;
use crate::schema::Scenario;

/// The keys of a scenario that a run of real packets depends on, and what they stand for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// The version that ran it.
    pub version: String,
    /// Digest of the seed and all keys.
    pub digest: String,
    /// The seed of its run.
    pub seed: u64,
    /// By their paths: role and value.
    keys: BTreeMap<String, (String, Value)>,
}

/// What differs between the line of a record and another one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Differences {
    /// What one may choose, such as a queue, and the seed: with these the same packets may be asked what would have been.
    pub choices: Vec<String>,
    /// All else: another line, or other traffic beside.
    pub others: Vec<String>,
}

impl Line {
    /// That of a scenario. What records of packets it replays and how long it lasts does not count, and neither do notes.
    pub fn of(scenario: &Scenario) -> Self {
        let mut scenario = scenario.clone();
        scenario.fill();
        scenario.duration_s = 1.0;
        for entry in scenario.traffic.values_mut() {
            if let AppSpec::Real(of) = &mut entry.app {
                of.forget_record();
            }
        }
        let is_kept = |path: &str| !path.ends_with(".file");
        let keys: BTreeMap<String, (String, Value)> = roles::keys(&scenario)
            .into_iter()
            .filter(|key| key.role != "note" && is_kept(&key.path))
            .map(|key| (key.path, (key.role.to_owned(), key.value)))
            .collect();
        let seed = scenario.seed;
        let text = serde_json::to_string(&(seed, &keys)).unwrap_or_default();
        let digest = digest(text.bytes().map(u64::from));
        Self { version: env!("CARGO_PKG_VERSION").to_owned(), digest, seed, keys }
    }

    /// The settings that make an entry what it was, as `key.path=value`.
    pub(super) fn entry(&self, path: &str) -> Vec<String> {
        let path = format!("{path}.");
        let own = self.keys.iter().filter(|(key, _)| key.starts_with(&path));
        let given = own.filter(|(_, (_, value))| !value.is_null());
        given.map(|(key, (_, value))| format!("{key}={value}")).collect()
    }

    /// As it stands in a record.
    pub(super) fn text(&self) -> String {
        serde_json::json!({ "sojourn_record": self }).to_string()
    }

    /// That of a record, from the text in it.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(text).ok()?;
        serde_json::from_value(value.get("sojourn_record")?.clone()).ok()
    }

    /// What differs in another line, by the paths of keys.
    pub fn differences(&self, other: &Self) -> Differences {
        let mut found = Differences::default();
        let only_here = self.keys.keys().filter(|path| !other.keys.contains_key(*path));
        for path in only_here.chain(other.keys.keys()) {
            let [here, there] = [self, other].map(|line| line.keys.get(path));
            if here == there {
                continue;
            }
            let is_choice = [here, there].into_iter().flatten().all(|(role, _)| role == "choice");
            let list = if is_choice { &mut found.choices } else { &mut found.others };
            list.push(path.clone());
        }
        if self.seed != other.seed {
            found.choices.push("seed".to_owned());
        }
        [&mut found.choices, &mut found.others].into_iter().for_each(shorten);
        found
    }
}

/// Leaves out what follows from other keys of a list: those of homes that the whole line has, and those of another kind.
fn shorten(paths: &mut Vec<String>) {
    let all = paths.clone();
    paths.retain(|path| {
        let of_all = path.splitn(3, '.').collect::<Vec<_>>();
        let is_doubled = of_all[0] == "homes"
            && of_all.get(2).is_some_and(|rest| all.iter().any(|one| one == rest));
        let kinds = all.iter().filter_map(|one| one.strip_suffix("kind"));
        let is_of_kind =
            kinds.filter(|_| !path.ends_with(".kind")).any(|table| path.starts_with(table));
        !is_doubled && !is_of_kind
    });
}
