//! Parameters of queue managers, drawn from all that the schema allows.

use serde_json::{Map, Value, json};
use sojourn_core::engine::rng::Rng;
use sojourn_core::queue::QueueSpec;
use sojourn_core::scenario::schema::json_schema;

use super::TRAFFIC;

/// Draws values that a schema allows.
pub struct Drawer {
    defs: Value,
    pub rng: Rng,
}

impl Drawer {
    pub fn new(seed: u64) -> Self {
        Self { defs: json_schema()["$defs"].take(), rng: Rng::named(seed, "parameters") }
    }

    fn one_of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.rng.below(list.len() as u64) as usize]
    }

    fn value(&mut self, schema: &Value) -> Value {
        if let Some(reference) = schema["$ref"].as_str() {
            let name = reference.rsplit('/').next().unwrap();
            return self.value(&self.defs[name].clone());
        }
        if let Some(options) = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array()) {
            let option = self.one_of(options);
            return self.value(option);
        }
        if let Some(word) = schema.get("const") {
            return word.clone();
        }
        if let Some(words) = schema["enum"].as_array() {
            return self.one_of(words).clone();
        }
        match schema["type"].as_str().or_else(|| schema["type"][0].as_str()) {
            Some("object") => self.table(schema),
            Some("boolean") => json!(self.rng.below(2) == 1),
            Some("array") => self.list(schema),
            Some("null") => Value::Null,
            Some("integer") => json!(self.number(schema).round() as u64),
            Some("number") => json!(self.number(schema)),
            other => panic!("{other:?} in {schema}"),
        }
    }

    /// Often an end of the range, else any order of magnitude in it.
    fn number(&mut self, schema: &Value) -> f64 {
        let bound = |key: &str| schema[key].as_f64().expect("every number has a range");
        let (min, max) = (bound("minimum"), bound("maximum"));
        let low = min.max(max * 1e-9);
        match self.rng.below(6) {
            0 => min,
            1 => max,
            _ => (low * (max / low).powf(self.rng.uniform())).clamp(min, max),
        }
    }

    /// About half of the keys that may be left out are.
    fn table(&mut self, schema: &Value) -> Value {
        let empty = Map::new();
        let properties = schema["properties"].as_object().unwrap_or(&empty);
        let mut table = Map::new();
        for (key, schema) in properties {
            if schema.get("const").is_some() || self.rng.below(2) == 0 {
                table.insert(key.clone(), self.value(schema));
            }
        }
        if schema["additionalProperties"].is_object() {
            for name in TRAFFIC {
                if self.rng.below(2) == 0 {
                    table.insert(name.to_owned(), self.value(&schema["additionalProperties"]));
                }
            }
        }
        Value::Object(table)
    }

    /// Few values, or none.
    fn list(&mut self, schema: &Value) -> Value {
        let most = schema["maxItems"].as_u64().expect("every list has a greatest length").min(4);
        let least = schema["minItems"].as_u64().unwrap_or(0);
        let count = least + self.rng.below(most - least + 1);
        (0..count).map(|_| self.value(&schema["items"])).collect()
    }

    /// A queue manager with any parameters; the limits may be too small for a packet.
    pub fn queue(&mut self) -> QueueSpec {
        let spec = self.value(&json!({ "$ref": "#/$defs/QueueSpec" }));
        serde_json::from_value(spec).expect("the schema allows it")
    }
}
