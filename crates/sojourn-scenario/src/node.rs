//! What the schema says of the tables of a scenario.

use std::sync::LazyLock;

use serde_json::Value;

use super::parts::json_schema;
use sojourn_input::shape::{TAG, kinds};

/// The tables of a group of homes that take over those of the scenario.
const TAKEN_OVER: [&str; 3] = ["upstream", "downstream", "router"];

/// The schema of a scenario.
pub(super) static SCHEMA: LazyLock<Value> = LazyLock::new(json_schema);

/// A part of the schema, with the name of its definition.
#[derive(Clone)]
pub(super) struct Node {
    pub schema: &'static Value,
    pub of: String,
}

impl Node {
    /// The node of a whole scenario.
    pub(super) fn root() -> Self {
        Self { schema: &SCHEMA, of: "Scenario".to_owned() }
    }

    /// The node of what a schema says of a value: the definition that it refers to, of its kind. `None` for a kind that
    /// the schema does not have.
    pub(super) fn of(schema: &'static Value, value: &Value) -> Option<Self> {
        let Some((name, definition)) = definition(schema) else {
            return Some(Self { schema, of: String::new() });
        };
        let Some(kinds) = kinds(definition) else {
            return Some(Self { schema: definition, of: name.to_owned() });
        };
        let tag = value.get(TAG)?.as_str()?;
        let (_, its) = kinds.into_iter().find(|(kind, _)| *kind == tag)?;
        Some(Self { schema: its, of: format!("{name}/{tag}") })
    }

    /// What the schema says of a key of a table. Groups of homes have the tables of the scenario.
    pub(super) fn below(&self, key: &str) -> Option<&'static Value> {
        let of_homes = self.of == "Homes" && TAKEN_OVER.contains(&key);
        let schema = if of_homes { &*SCHEMA } else { self.schema };
        let named = schema["properties"].get(key);
        named.or_else(|| schema.get("additionalProperties").filter(|one| one.is_object()))
    }
}

/// The definition that a schema refers to, with its name.
pub(super) fn definition(schema: &'static Value) -> Option<(&'static str, &'static Value)> {
    let options = schema["anyOf"].as_array().into_iter().flatten();
    let reference = options.chain([schema]).find_map(|option| option["$ref"].as_str());
    let name = reference?.rsplit('/').next()?;
    Some((name, &SCHEMA["$defs"][name]))
}
