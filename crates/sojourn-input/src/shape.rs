//! What a node of a scenario's JSON Schema allows.

use serde_json::{Number, Value};

/// The key that selects one of several kinds of table.
pub const TAG: &str = "kind";

/// The strings in a JSON list.
pub(crate) fn strings(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// The allowed names, if the schema allows only names.
pub fn choices(schema: &Value) -> Option<Vec<&str>> {
    if let Some(name) = schema["const"].as_str() {
        return Some(vec![name]);
    }
    if schema["enum"].is_array() {
        return Some(strings(&schema["enum"]).collect());
    }
    let alternatives = schema["oneOf"].as_array()?.iter().map(choices);
    Some(alternatives.collect::<Option<Vec<_>>>()?.concat())
}

/// The kinds of table, if the schema distinguishes them by [`TAG`].
pub fn kinds(schema: &Value) -> Option<Vec<(&str, &Value)>> {
    let alternatives = schema["oneOf"].as_array()?.iter();
    alternatives.map(|table| Some((table["properties"][TAG]["const"].as_str()?, table))).collect()
}

/// The schema of the allowed values, with references into `root` resolved and `null` removed.
pub(crate) fn core<'a>(root: &'a Value, mut schema: &'a Value) -> &'a Value {
    loop {
        schema = if let Some(reference) = schema["$ref"].as_str() {
            let pointer = reference.trim_start_matches('#');
            root.pointer(pointer).unwrap_or(&Value::Null)
        } else if let Some(options) = schema["anyOf"].as_array() {
            let set = options.iter().find(|option| option["type"] != "null");
            set.unwrap_or(&Value::Null)
        } else {
            return schema;
        };
    }
}

/// The allowed types.
pub(crate) fn types(schema: &Value) -> Vec<&str> {
    match schema["type"].as_str() {
        Some(name) => vec![name],
        None => strings(&schema["type"]).collect(),
    }
}

/// Does the value have this JSON type?
pub(crate) fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => false,
    }
}

/// Is a number within the bounds?
pub(crate) fn in_range(schema: &Value, number: &Number) -> bool {
    let Some(number) = number.as_f64() else {
        return false;
    };
    let above = schema["minimum"].as_f64().is_none_or(|min| number >= min);
    above && schema["maximum"].as_f64().is_none_or(|max| number <= max)
}

/// The bounds as text that follows a noun.
pub(crate) fn range(schema: &Value) -> String {
    match (schema["minimum"].as_f64(), schema["maximum"].as_f64()) {
        (None, None) => String::new(),
        (Some(min), None) => format!(", {min} or more"),
        (None, Some(max)) => format!(", {max} or less"),
        (Some(min), Some(max)) => format!(" from {min} to {max}"),
    }
}

/// How many items or entries are allowed.
pub(crate) struct Counts {
    pub min: Option<u64>,
    pub max: Option<u64>,
    noun: &'static str,
}

/// For a list.
pub(crate) fn items(schema: &Value) -> Counts {
    Counts { min: schema["minItems"].as_u64(), max: schema["maxItems"].as_u64(), noun: "items" }
}

/// For a table.
pub(crate) fn entries(schema: &Value) -> Counts {
    Counts {
        min: schema["minProperties"].as_u64(),
        max: schema["maxProperties"].as_u64(),
        noun: "entries",
    }
}

impl Counts {
    /// As text.
    pub(crate) fn text(&self) -> String {
        let noun = self.noun;
        match (self.min, self.max) {
            (None, None) => String::new(),
            (Some(min), None) => format!("{min} or more {noun}"),
            (None, Some(max)) => format!("{max} or fewer {noun}"),
            (Some(min), Some(max)) if min == max => format!("{min} {noun}"),
            (Some(min), Some(max)) => format!("{min} to {max} {noun}"),
        }
    }

    /// As text that follows a noun.
    pub(crate) fn of(&self) -> String {
        let text = self.text();
        if text.is_empty() { text } else { format!(" of {text}") }
    }
}
