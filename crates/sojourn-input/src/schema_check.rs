//! Checks a scenario against its JSON Schema, the only definition of keys and ranges.
//!
//! It knows only the part of JSON Schema that describes a scenario. A test ensures that this is
//! enough.

use std::sync::OnceLock;

use serde_json::{Map, Value};

use super::aliases;
use super::places::{NAME, Places};
use super::problem::{Code, Fault, Faults};
use super::shape::{self, TAG};
use super::words;
use crate::fault;

/// Checks values against a JSON Schema.
pub struct Checker {
    schema: Value,
    /// Where its keys are, once one is looked for.
    places: OnceLock<Places>,
}

impl Checker {
    /// A checker for this schema, which is also the root of its references.
    pub fn new(schema: Value) -> Self {
        Self { schema, places: OnceLock::new() }
    }

    /// All faults of the value at `path`.
    pub fn check(&self, value: &Value, path: &str) -> Faults {
        self.faults(&self.schema, value, path)
    }

    /// All faults of the value at `path`, which is checked against this part of the schema.
    pub fn check_node(&self, node: &Value, value: &Value, path: &str) -> Faults {
        self.faults(node, value, path)
    }

    /// All faults of the value at `path`, which is checked as the root's key `key`.
    pub fn check_key(&self, key: &str, value: &Value, path: &str) -> Faults {
        self.faults(&self.schema["properties"][key], value, path)
    }

    fn faults(&self, schema: &Value, value: &Value, path: &str) -> Faults {
        let mut faults = Faults::default();
        self.node(schema, value, path, &mut faults);
        faults
    }

    fn node(&self, schema: &Value, value: &Value, path: &str, faults: &mut Faults) {
        let schema = self.core(schema);
        if let Some(names) = shape::choices(schema) {
            return faults.add(choice(&names, value, path));
        }
        if let Some(kinds) = shape::kinds(schema) {
            return self.tagged(schema, &kinds, value, path, faults);
        }
        let types = shape::types(schema);
        if !types.is_empty() && !types.iter().any(|t| shape::has_type(value, t)) {
            return faults.add(self.misfit(schema, value, path));
        }
        match value {
            Value::Number(number) if !shape::in_range(schema, number) => {
                faults.add(self.misfit(schema, value, path));
            }
            Value::Array(list) => {
                let counts = shape::items(schema);
                faults.add(count(list.len(), &counts, value, path));
                if counts.max.is_some_and(|most| list.len() as u64 > most) {
                    return;
                }
                for (i, item) in list.iter().enumerate() {
                    if faults.are_enough() {
                        return;
                    }
                    self.node(&schema["items"], item, &words::join(path, &i.to_string()), faults);
                }
            }
            Value::Object(table) => {
                faults.add(count(table.len(), &shape::entries(schema), value, path));
                self.table(schema, table, path, faults);
            }
            _ => {}
        }
    }

    fn core<'a>(&'a self, schema: &'a Value) -> &'a Value {
        shape::core(&self.schema, schema)
    }

    fn places(&self) -> &Places {
        self.places.get_or_init(|| Places::of(&self.schema))
    }

    fn misfit(&self, schema: &Value, value: &Value, path: &str) -> Fault {
        let is_of_type = shape::types(schema).iter().any(|t| shape::has_type(value, t));
        let code = if is_of_type { Code::OutOfRange } else { Code::WrongType };
        misfit(code, path, value, &words::found(value), &self.allowed(schema))
    }

    /// Checks a table whose `kind` selects its schema.
    fn tagged(
        &self,
        schema: &Value,
        kinds: &[(&str, &Value)],
        value: &Value,
        path: &str,
        faults: &mut Faults,
    ) {
        let names: Vec<_> = kinds.iter().map(|(name, _)| *name).collect();
        let Value::Object(table) = value else {
            let mut fault = self.misfit(schema, value, path);
            if let Some(kind) = value.as_str().and_then(|kind| words::closest(kind, &names)) {
                let meant = format!("{{ {TAG} = \"{kind}\" }}");
                fault.message += &words::did_you_mean(&meant);
                fault = fault.with("meant", meant);
            }
            return faults.add(fault);
        };
        let tag_path = words::join(path, TAG);
        let Some(tag) = table.get(TAG) else {
            let allowed = names.join(", ");
            return faults.add(fault!(Missing, tag_path => "missing; allowed: {allowed}", allowed));
        };
        faults.add(choice(&names, tag, &tag_path).map_err(|fault| {
            let meant = tag.as_str().map(|kind| self.places().of_kind(kind, path));
            let setting = |place| format!("{place} = {tag}");
            let meant: Vec<_> = meant.into_iter().flatten().map(setting).collect();
            fault.meaning_one_of(&meant)
        }));
        if let Some((_, schema)) = kinds.iter().find(|(name, _)| tag == name) {
            self.table(schema, table, path, faults);
        }
    }

    fn table(&self, schema: &Value, table: &Map<String, Value>, path: &str, faults: &mut Faults) {
        let others = &schema["additionalProperties"];
        for (key, value) in table {
            if faults.are_enough() {
                return;
            }
            if let Some(hidden) = words::hidden(key) {
                faults.add(fault!(HiddenCharacter, words::join(path, key) =>
                    "found a name with the invisible character U+{found:04X}; allowed: a name without",
                    found = u32::from(hidden)));
                continue;
            }
            if key.trim().is_empty() && others.is_object() {
                faults.add(fault!(NotAllowed, words::join(path, key) =>
                    "found an empty name; allowed: a name of at least 1 character"));
                continue;
            }
            match schema["properties"].get(key) {
                None if others == false => faults.add(self.unknown(schema, path, key)),
                None if !value.is_object() && self.places().is_of_each(key, path) => {
                    let (key_path, found) = (words::join(path, key), words::found(value));
                    let meant = words::join(&words::join(path, NAME), key);
                    let fault = misfit(Code::WrongType, &key_path, value, &found, "a table");
                    faults.add(fault.meaning_one_of(&[meant]));
                }
                known => {
                    self.node(known.unwrap_or(others), value, &words::join(path, key), faults);
                }
            }
        }
        for key in shape::strings(&schema["required"]).filter(|key| !table.contains_key(*key)) {
            faults.add(self.missing(&schema["properties"][key], path, key));
        }
    }

    fn unknown(&self, schema: &Value, path: &str, key: &str) -> Fault {
        let properties = schema["properties"].as_object();
        let known: Vec<_> = properties.into_iter().flatten().map(|(k, _)| &**k).collect();
        let places = self.places().of_key(key, path);
        let mut fault = Fault::unknown_key(words::join(path, key), key, &known, &places);
        if !path.is_empty() && !self.schema["properties"][key].is_null() {
            fault.message +=
                &format!("; if {key} is the file's, put it above the first line with [");
        }
        fault
    }

    fn missing(&self, schema: &Value, path: &str, key: &str) -> Fault {
        let description = schema["description"].as_str();
        let description = description.or_else(|| self.core(schema)["description"].as_str());
        let meaning = words::first_sentence(description.unwrap_or_default());
        let allowed = self.allowed(schema);
        let mut fault =
            fault!(Missing, words::join(path, key) => "missing; allowed: {allowed}", allowed);
        if !meaning.is_empty() {
            fault.message += &format!(" ({meaning})");
        }
        fault
    }

    /// What a schema allows, as text.
    fn allowed(&self, schema: &Value) -> String {
        let schema = self.core(schema);
        if let Some(names) = shape::choices(schema) {
            return names.join(", ");
        }
        if let Some(kinds) = shape::kinds(schema) {
            let names: Vec<_> = kinds.iter().map(|(name, _)| *name).collect();
            return format!("a table with a {TAG}: {}", names.join(", "));
        }
        let types: Vec<_> = shape::types(schema)
            .into_iter()
            .filter(|t| *t != "null")
            .map(|t| match t {
                "integer" => format!("a whole number{}", shape::range(schema)),
                "number" => format!("a number{}", shape::range(schema)),
                "string" => "a string".to_owned(),
                "boolean" => "true, false".to_owned(),
                "array" => format!("a list{}", shape::items(schema).of()),
                "object" => format!("a table{}", shape::entries(schema).of()),
                other => other.to_owned(),
            })
            .collect();
        types.join(", ")
    }
}

fn choice(names: &[&str], value: &Value, path: &str) -> Result<(), Fault> {
    let found = match value {
        Value::String(name) if names.contains(&&**name) => return Ok(()),
        Value::String(name) => words::quoted(name),
        other => words::found(other),
    };
    let mut fault = misfit(Code::UnknownChoice, path, value, &found, &names.join(", "));
    if let Some(meant) = value.as_str().and_then(|name| aliases::meaning(name, names)) {
        fault.message += &format!("; write {meant}");
    } else if let Some(close) = value.as_str().and_then(|name| words::closest(name, names)) {
        fault = fault.meaning_one_of(&[close.to_owned()]);
    }
    Err(fault)
}

/// A value, described as `found`, where others are allowed.
fn misfit(code: Code, path: &str, value: &Value, found: &str, allowed: &str) -> Fault {
    Fault::found(path, found, allowed).coded(code).with("found", value)
}

fn count(len: usize, counts: &shape::Counts, value: &Value, path: &str) -> Result<(), Fault> {
    let len = len as u64;
    if counts.min.is_none_or(|min| len >= min) && counts.max.is_none_or(|max| len <= max) {
        return Ok(());
    }
    Err(misfit(Code::WrongCount, path, value, &words::found(value), &counts.text()))
}
