//! The keys of a part: numbers by name, described and checked as its declaration says.

use std::fmt;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::ser::{Error as _, SerializeMap};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::declaration::Declaration;
use super::hook::DIGEST;
use super::parameter::Parameter;
use super::registered::Registered;
use super::setting::{Setting, digest_key};

/// The values of a part's parameters.
#[derive(Clone)]
pub(crate) struct Values {
    pub(crate) part: Arc<Registered>,
    pub(crate) settings: Box<[Setting]>,
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
        let mut setting = |of: &Parameter| {
            let given = table.shift_remove(&of.name);
            let known = table.shift_remove(digest_key(&of.name).as_str());
            let setting = of.read(given.as_ref().unwrap_or(&of.default), &declaration.folder)?;
            match (&setting, known.as_ref().and_then(Value::as_str)) {
                (Setting::File { path, digest }, Some(known)) if known != digest => Err(format!(
                    "{}: found {known}; allowed: {digest}, that of {path}, or none",
                    digest_key(&of.name)
                )),
                _ => Ok(setting),
            }
        };
        let settings = declaration.parameters.iter().map(&mut setting);
        let settings = settings.collect::<Result<_, _>>().map_err(serde_json::Error::custom)?;
        Ok(Self { part: part.clone(), settings })
    }

    /// Takes them, and what all parts of a role have beside them.
    pub(crate) fn take_beside<C: DeserializeOwned>(
        part: &Arc<Registered>,
        table: &mut Map<String, Value>,
    ) -> serde_json::Result<(C, Self)> {
        let values = Self::take(part, table)?;
        Ok((serde_json::from_value(Value::Object(std::mem::take(table)))?, values))
    }

    /// The value of the parameter of this name.
    pub(crate) fn get(&self, name: &str) -> Option<f64> {
        let place = self.part.declaration().parameters.iter().position(|of| of.name == name)?;
        match self.settings.get(place)? {
            Setting::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The table of its keys.
    pub(crate) fn table(&self) -> Map<String, Value> {
        let Declaration { parameters, digest, .. } = self.part.declaration();
        let mut table = Map::new();
        for (of, setting) in parameters.iter().zip(&self.settings) {
            table.insert(of.name.clone(), of.written(setting));
            if let Setting::File { digest, .. } = setting {
                table.insert(digest_key(&of.name), digest.clone().into());
            }
        }
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
    let digest = |of: &str| {
        let description = format!("Digest of {of}, which must be the same as then. Default: any.");
        json!({ "type": ["string", "null"], "description": description, "default": null })
    };
    for of in declaration.parameters.iter().filter(|of| of.file) {
        properties.insert(digest_key(&of.name), digest(&format!("the file of {}", of.name)));
    }
    if !declaration.digest.is_empty() {
        properties.insert(DIGEST.to_owned(), digest("the part's source"));
    }
    schemars::json_schema!({
        "type": "object",
        "description": declaration.doc,
        "properties": properties,
        "additionalProperties": false,
    })
}

/// The schema of a table that has keys beside its own values.
pub(crate) fn with_common<T: JsonSchema>(
    mut own: Schema,
    generator: &mut SchemaGenerator,
) -> Schema {
    let common = T::json_schema(generator).to_value();
    let properties = own.ensure_object()["properties"].as_object_mut();
    if let (Some(properties), Some(common)) = (properties, common["properties"].as_object()) {
        properties.extend(common.clone());
    }
    own
}
