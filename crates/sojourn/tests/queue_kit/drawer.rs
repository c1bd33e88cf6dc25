//! Values drawn from all that the schema of scenarios allows.

use serde_json::{Map, Value, json};
use sojourn::engine::queue::QueueSpec;
use sojourn::engine::rng::Rng;
use sojourn::scenario::json_schema;

use super::TRAFFIC;
use std::sync::LazyLock;

/// Made once: making it takes longer than most of what is drawn from it.
static SCHEMA: LazyLock<Value> = LazyLock::new(json_schema);

/// What decides: random numbers, or bytes that somebody else chose, with zeros after the last one.
pub enum Choices {
    Random(Rng),
    Bytes(std::vec::IntoIter<u8>),
}

impl Choices {
    /// These bytes choose.
    pub fn of(bytes: &[u8]) -> Self {
        Self::Bytes(Vec::from(bytes).into_iter())
    }

    /// A whole number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        match self {
            Self::Random(rng) => rng.below(n),
            Self::Bytes(bytes) => match n {
                0 | 1 => 0,
                2..=256 => u64::from(bytes.next().unwrap_or(0)) % n,
                _ => u64::from_le_bytes(std::array::from_fn(|_| bytes.next().unwrap_or(0))) % n,
            },
        }
    }

    /// From 0 to 1.
    pub fn uniform(&mut self) -> f64 {
        match self {
            Self::Random(rng) => rng.uniform(),
            Self::Bytes(bytes) => {
                let number = u16::from_le_bytes(std::array::from_fn(|_| bytes.next().unwrap_or(0)));
                f64::from(number) / f64::from(u16::MAX)
            }
        }
    }

    /// One of these.
    pub fn one_of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len() as u64) as usize]
    }
}

/// What a key is drawn from instead of its schema.
pub type Usual = fn(&str, &mut Choices) -> Option<Value>;

/// Draws values that a schema allows.
pub struct Drawer {
    pub choices: Choices,
    usual: Usual,
    /// Of so many keys that may be left out one is set.
    rarity: u64,
}

impl Drawer {
    /// Draws from the whole of the schema, with about half of the keys.
    pub fn new(seed: u64) -> Self {
        let choices = Choices::Random(Rng::named(seed, "parameters"));
        Self::usually(|_, _| None, 2, choices)
    }

    /// Draws keys as `usual` says, where it says anything.
    pub fn usually(usual: Usual, rarity: u64, choices: Choices) -> Self {
        Self { choices, usual, rarity }
    }

    /// A value of a definition of the schema.
    pub fn definition(&mut self, name: &str) -> Value {
        self.value(&SCHEMA["$defs"][name])
    }

    /// A value of each kind of a definition of the schema.
    pub fn each_kind(&mut self, name: &str) -> Vec<Value> {
        let kinds = SCHEMA["$defs"][name]["oneOf"].as_array().expect("it has kinds");
        kinds.iter().map(|kind| self.value(kind)).collect()
    }

    /// A value of a key of the scenario.
    pub fn key(&mut self, name: &str) -> Value {
        self.value(&SCHEMA["properties"][name])
    }

    fn value(&mut self, schema: &Value) -> Value {
        if let Some(reference) = schema["$ref"].as_str() {
            return self.definition(reference.rsplit('/').next().unwrap());
        }
        if let Some(options) = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array()) {
            let option = self.choices.one_of(options);
            return self.value(option);
        }
        if let Some(word) = schema.get("const") {
            return word.clone();
        }
        if let Some(words) = schema["enum"].as_array() {
            return self.choices.one_of(words).clone();
        }
        match schema["type"].as_str().or_else(|| schema["type"][0].as_str()) {
            Some("object") => self.table(schema),
            Some("boolean") => json!(self.choices.below(2) == 1),
            Some("array") => self.list(schema),
            Some("string") => json!(""),
            Some("null") => Value::Null,
            Some("integer") => json!(self.number(schema).round() as u64),
            Some("number") => json!(self.number(schema)),
            other => panic!("{other:?} in {schema}"),
        }
    }

    /// Often an end of the range, else any order of magnitude in it.
    fn number(&mut self, schema: &Value) -> f64 {
        let bound = |key: &str, default| schema[key].as_f64().unwrap_or(default);
        let (min, max) = (bound("minimum", 0.0), bound("maximum", 1e9));
        let low = min.max(max * 1e-9);
        match self.choices.below(6) {
            0 => min,
            1 => max,
            _ => (low * (max / low).powf(self.choices.uniform())).clamp(min, max),
        }
    }

    /// Some of the keys that may be left out are.
    fn table(&mut self, schema: &Value) -> Value {
        let empty = Map::new();
        let properties = schema["properties"].as_object().unwrap_or(&empty);
        let required =
            |key: &str| schema["required"].as_array().is_some_and(|r| r.contains(&json!(key)));
        let mut table = Map::new();
        for (key, schema) in properties {
            let is_set = schema.get("const").is_some() || required(key);
            if is_set || self.choices.below(self.rarity) == 0 {
                let usual = (self.usual)(key, &mut self.choices);
                let value = usual.unwrap_or_else(|| self.value(schema));
                table.insert(key.clone(), value);
            }
        }
        if schema["additionalProperties"].is_object() {
            for name in TRAFFIC {
                if self.choices.below(self.rarity) == 0 {
                    table.insert(name.to_owned(), self.value(&schema["additionalProperties"]));
                }
            }
        }
        Value::Object(table)
    }

    /// Few values, or none.
    fn list(&mut self, schema: &Value) -> Value {
        let most = schema["maxItems"].as_u64().unwrap_or(4).min(4);
        let least = schema["minItems"].as_u64().unwrap_or(0);
        let count = least + self.choices.below(most - least + 1);
        (0..count).map(|_| self.value(&schema["items"])).collect()
    }

    /// A queue manager with any parameters; the limits may be too small for a packet.
    pub fn queue(&mut self) -> QueueSpec {
        let spec = self.definition("QueueSpec");
        serde_json::from_value(spec).expect("the schema allows it")
    }
}
