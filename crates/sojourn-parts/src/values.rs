//! The keys of a part: numbers by name, described and checked as its declaration says.

use std::fmt;
use std::sync::Arc;

use schemars::Schema;
use serde::ser::{Error as _, SerializeMap};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::declaration::{Declaration, Number, Parameter};
use super::hook::DIGEST;
use super::registered::Registered;

/// The values of a part's parameters.
#[derive(Clone)]
pub(crate) struct Values {
    pub(crate) part: Arc<Registered>,
    pub(crate) numbers: Box<[f64]>,
}

impl Values {
    /// Takes its values from a table, and what it leaves open from the declaration.
    pub(crate) fn take(
        part: &Arc<Registered>,
        table: &mut Map<String, Value>,
    ) -> serde_json::Result<Self> {
        let declaration = part.declaration();
        let digest = table.shift_remove(DIGEST);
        let digest = digest.as_ref().and_then(Value::as_str);
        if let Some(found) = digest.filter(|found| *found != declaration.digest) {
            let (name, now) = (&declaration.name, &declaration.digest);
            let message = format!(
                "{DIGEST}: found {found}, of a {name} before it changed; allowed: {now}, or none"
            );
            return Err(serde_json::Error::custom(message));
        }
        let mut value = |of: &Parameter| {
            let given = table.shift_remove(&of.name);
            given.as_ref().and_then(Value::as_f64).unwrap_or(of.default)
        };
        let numbers = declaration.parameters.iter().map(&mut value).collect();
        Ok(Self { part: part.clone(), numbers })
    }

    /// The value of the parameter of this name.
    pub(crate) fn get(&self, name: &str) -> Option<f64> {
        let place = self.part.declaration().parameters.iter().position(|of| of.name == name)?;
        self.numbers.get(place).copied()
    }

    /// The table of its keys. Whole numbers are written as others, for who reads it again may not know the part.
    pub(crate) fn table(&self) -> Map<String, Value> {
        let Declaration { parameters, digest, .. } = self.part.declaration();
        let number = |(of, value): (&Parameter, &f64)| (of.name.clone(), (*value).into());
        let mut table: Map<_, _> = parameters.iter().zip(&self.numbers).map(number).collect();
        if !digest.is_empty() {
            table.insert(DIGEST.to_owned(), digest.clone().into());
        }
        table
    }
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let table = self.table();
        let mut map = serializer.serialize_map(Some(table.len()))?;
        table.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
        map.end()
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.table()).finish()
    }
}

/// The schema of its table.
pub(crate) fn schema(declaration: &Declaration) -> Schema {
    let property = |of: &Parameter| (of.name.clone(), of.schema());
    let mut properties: Map<_, _> = declaration.parameters.iter().map(property).collect();
    if !declaration.digest.is_empty() {
        let description =
            "Digest of the part's source, which must be the same as then. Default: any.";
        let digest =
            json!({ "type": ["string", "null"], "description": description, "default": null });
        properties.insert(DIGEST.to_owned(), digest);
    }
    schemars::json_schema!({
        "type": "object",
        "description": declaration.doc,
        "properties": properties,
        "additionalProperties": false,
    })
}

impl Parameter {
    fn schema(&self) -> Value {
        let unit = if self.unit.is_empty() { String::new() } else { format!(" In {}.", self.unit) };
        let kind = match self.number {
            Number::Real => "number",
            Number::Whole => "integer",
        };
        let mut schema = json!({
            "type": kind,
            "description": format!("{}{unit}", self.doc).trim(),
            "default": self.json(self.default),
        });
        for (key, end) in [("minimum", self.min), ("maximum", self.max)] {
            if let Some(end) = end {
                schema[key] = self.json(end);
            }
        }
        schema
    }

    fn json(&self, value: f64) -> Value {
        match self.number {
            Number::Real => value.into(),
            Number::Whole => (value as i64).into(),
        }
    }
}
