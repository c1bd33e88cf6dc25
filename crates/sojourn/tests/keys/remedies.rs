//! Remedies of warnings help: with them the warning is gone, and what it promises comes.

use serde::Deserialize;
use sojourn::input::problem::Warning;
use sojourn::results::metrics::Results;
use sojourn::scenario::{Scenario, load};

use super::{run, tables};
use crate::common::{flow, queue};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    code: String,
    path: String,
    promise: String,
    text: String,
}

impl Case {
    fn scenario(&self, sets: &[String]) -> Scenario {
        let loaded = load(&self.text, "case.toml", sets);
        loaded.unwrap_or_else(|why| panic!("{} {sets:?}: {why}", self.path)).remove(0).scenario
    }

    fn warning<'a>(&self, results: &'a Results) -> Option<&'a Warning> {
        let is_meant = |warning: &&Warning| {
            let code = serde_json::to_value(warning.code).unwrap();
            code == *self.code && warning.path == self.path
        };
        results.warnings.iter().find(is_meant)
    }

    fn is_kept(&self, before: Results, after: Results) -> bool {
        let of = |results: &Results| {
            let (up, waiting) = (flow(results, "upload", "up"), queue(results, "upstream"));
            match self.promise.split_once(' ').unwrap().1 {
                "goodput" => up.goodput_mbps,
                "delay" => waiting.sojourn_mean_ms.unwrap(),
                "tail" => waiting.sojourn_p99_ms.unwrap(),
                "drops" => waiting.dropped_aqm_packets as f64,
                other => panic!("unknown promise of {other}"),
            }
        };
        match self.promise.split_once(' ').unwrap() {
            ("other", "tables") => tables(before) != tables(after),
            ("more", _) => of(&after) > 1.1 * of(&before),
            ("less", _) => of(&after) < 0.9 * of(&before),
            other => panic!("unknown promise {other:?}"),
        }
    }
}

/// Settings as `--set` takes them.
fn sets(warning: &Warning) -> Vec<String> {
    let remedy = serde_json::to_value(&warning.remedy).unwrap();
    let settings = remedy.as_object().unwrap().iter();
    settings.map(|(key, value)| format!("{key}={value}")).collect()
}

#[test]
fn remedies_do_what_they_promise() {
    let table: Table = toml::from_str(include_str!("remedies.toml")).unwrap();
    for case in table.case {
        let before = run(&case.scenario(&[]));
        let Some(warning) = case.warning(&before) else {
            panic!("no warning {} of {}: {:?}", case.code, case.path, before.warnings)
        };
        let sets = sets(warning);
        assert!(!sets.is_empty(), "{warning:?}");
        let after = run(&case.scenario(&sets));
        assert!(case.warning(&after).is_none(), "{} stays with {sets:?}", case.path);
        assert!(case.is_kept(before, after), "{} with {sets:?}: no {}", case.path, case.promise);
    }
}
