//! Checks a scenario against its JSON Schema, the only definition of keys and ranges.
//!
//! It knows only the part of JSON Schema that describes a scenario. A test ensures that this is
//! enough.

use serde_json::{Map, Value};

use super::problem::Fault;
use super::shape::{self, TAG};
use super::words;

/// Checks values against a JSON Schema.
pub(crate) struct Checker {
    schema: Value,
}

impl Checker {
    /// A checker for this schema, which is also the root of its references.
    pub fn new(schema: Value) -> Self {
        Self { schema }
    }

    /// Checks the value at `path` and returns its first fault.
    pub fn check(&self, value: &Value, path: &str) -> Result<(), Fault> {
        self.node(&self.schema, value, path)
    }

    /// Checks the value at `path` against the schema of the root's key `key` and returns its first
    /// fault.
    pub fn check_key(&self, key: &str, value: &Value, path: &str) -> Result<(), Fault> {
        self.node(&self.schema["properties"][key], value, path)
    }

    fn node(&self, schema: &Value, value: &Value, path: &str) -> Result<(), Fault> {
        let schema = self.core(schema);
        if let Some(names) = shape::choices(schema) {
            return choice(&names, value, path);
        }
        if let Some(kinds) = shape::kinds(schema) {
            return self.tagged(schema, &kinds, value, path);
        }
        if !shape::types(schema).is_empty()
            && !shape::types(schema).iter().any(|t| shape::has_type(value, t))
        {
            return Err(self.misfit(schema, value, path));
        }
        match value {
            Value::Number(number) if !shape::in_range(schema, number) => {
                Err(self.misfit(schema, value, path))
            }
            Value::Array(list) => {
                count(list.len(), &shape::items(schema), value, path)?;
                self.list(schema, list, path)
            }
            Value::Object(table) => {
                count(table.len(), &shape::entries(schema), value, path)?;
                self.table(schema, table, path)
            }
            _ => Ok(()),
        }
    }

    /// The schema of the allowed values, with references resolved and `null` removed.
    fn core<'a>(&'a self, mut schema: &'a Value) -> &'a Value {
        loop {
            schema = if let Some(reference) = schema["$ref"].as_str() {
                let pointer = reference.trim_start_matches('#');
                self.schema.pointer(pointer).unwrap_or(&Value::Null)
            } else if let Some(options) = schema["anyOf"].as_array() {
                let set = options.iter().find(|option| option["type"] != "null");
                set.unwrap_or(&Value::Null)
            } else {
                return schema;
            };
        }
    }

    fn misfit(&self, schema: &Value, value: &Value, path: &str) -> Fault {
        let (found, allowed) = (words::found(value), self.allowed(schema));
        Fault::new(path, format!("found {found}; allowed: {allowed}"))
    }

    /// Checks a table whose `kind` selects its schema.
    fn tagged(
        &self,
        schema: &Value,
        kinds: &[(&str, &Value)],
        value: &Value,
        path: &str,
    ) -> Result<(), Fault> {
        let Value::Object(table) = value else {
            return Err(self.misfit(schema, value, path));
        };
        let tag_path = words::join(path, TAG);
        let names: Vec<_> = kinds.iter().map(|(name, _)| *name).collect();
        let Some(tag) = table.get(TAG) else {
            let message = format!("missing; allowed: {}", names.join(", "));
            return Err(Fault::new(tag_path, message));
        };
        choice(&names, tag, &tag_path)?;
        match kinds.iter().find(|(name, _)| tag == name) {
            Some((_, schema)) => self.table(schema, table, path),
            None => Ok(()),
        }
    }

    fn table(&self, schema: &Value, table: &Map<String, Value>, path: &str) -> Result<(), Fault> {
        let others = &schema["additionalProperties"];
        let property = |key: &str| schema["properties"].get(key);
        if others == false
            && let Some(key) = table.keys().find(|key| property(key).is_none())
        {
            return Err(unknown(schema, path, key));
        }
        for key in shape::strings(&schema["required"]) {
            if !table.contains_key(key) {
                return Err(self.missing(&schema["properties"][key], path, key));
            }
        }
        for (key, value) in table {
            if key.chars().any(char::is_control) {
                let message = "found a name with a control character; allowed: a name without";
                return Err(Fault::new(words::join(path, key), message));
            }
            let schema = property(key).unwrap_or(others);
            self.node(schema, value, &words::join(path, key))?;
        }
        Ok(())
    }

    fn list(&self, schema: &Value, list: &[Value], path: &str) -> Result<(), Fault> {
        for (i, item) in list.iter().enumerate() {
            self.node(&schema["items"], item, &words::join(path, &i.to_string()))?;
        }
        Ok(())
    }

    fn missing(&self, schema: &Value, path: &str, key: &str) -> Fault {
        let description = schema["description"].as_str();
        let description = description.or_else(|| self.core(schema)["description"].as_str());
        let meaning = words::first_sentence(description.unwrap_or_default());
        let mut message = format!("missing; allowed: {}", self.allowed(schema));
        if !meaning.is_empty() {
            message += &format!(" ({meaning})");
        }
        Fault::new(words::join(path, key), message)
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

fn unknown(schema: &Value, path: &str, key: &str) -> Fault {
    let properties = schema["properties"].as_object();
    let known: Vec<_> = properties.into_iter().flatten().map(|(k, _)| &**k).collect();
    Fault::new(words::join(path, key), words::unknown_key(key, &known))
}

fn choice(names: &[&str], value: &Value, path: &str) -> Result<(), Fault> {
    let found = match value {
        Value::String(name) if names.contains(&&**name) => return Ok(()),
        Value::String(name) => words::quoted(name),
        other => words::found(other),
    };
    let mut message = format!("found {found}; allowed: {}", names.join(", "));
    if let Some(close) = value.as_str().and_then(|name| words::closest(name, names)) {
        message += &words::did_you_mean(close);
    }
    Err(Fault::new(path, message))
}

fn count(len: usize, counts: &shape::Counts, value: &Value, path: &str) -> Result<(), Fault> {
    let len = len as u64;
    if counts.min.is_none_or(|min| len >= min) && counts.max.is_none_or(|max| len <= max) {
        return Ok(());
    }
    let (found, allowed) = (words::found(value), counts.text());
    Err(Fault::new(path, format!("found {found}; allowed: {allowed}")))
}
