//! Queue managers by name, which commands and pages offer: `presets.toml`.

use serde_json::Value;

use sojourn_input::document::parse;

/// The presets by name, in their order: each is a table of `label`, `queue` and maybe `only_for` and `note`, as
/// `presets.toml` describes them. A `queue` has keys of a scenario's queue.
pub fn presets() -> Value {
    parse(include_str!("presets.toml"), "presets.toml").expect("a test reads them")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use sojourn_engine::queue::QueueSpec;

    fn kinds(key: &str) -> BTreeSet<String> {
        let schema = crate::file_schema();
        let kinds = schema["$defs"][key]["oneOf"].as_array().unwrap().iter();
        let kind = |kind: &Value| kind["properties"]["kind"]["const"].as_str().unwrap().to_owned();
        kinds.map(kind).collect()
    }

    #[test]
    fn presets_are_queues_of_every_kind_with_labels_of_their_own() {
        let presets = presets();
        let presets = presets.as_object().unwrap();
        let mut labels = BTreeSet::new();
        let mut found = [BTreeSet::new(), BTreeSet::new()];
        for (name, preset) in presets {
            assert!(labels.insert(preset["label"].as_str().unwrap()), "{name}");
            let queue: QueueSpec = serde_json::from_value(preset["queue"].clone()).unwrap();
            let queue = serde_json::to_value(queue).unwrap();
            for (found, key) in found.iter_mut().zip(["law", "scheduler"]) {
                found.insert(queue[key]["kind"].as_str().unwrap().to_owned());
            }
        }
        assert_eq!(found, [kinds("AqmSpec"), kinds("SchedulerSpec")]);
    }
}
