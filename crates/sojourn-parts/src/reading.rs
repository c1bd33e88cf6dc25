//! Reading a declaration: each key that cannot be has one message, in the words of who writes parts.

use serde_json::{Map, Value};

use sojourn_input::words;

use super::declaration::Declaration;
use super::setting::shown;

/// What the value of a key may be.
enum Takes {
    Text,
    Flag,
    Number,
    Texts,
    Default,
    Update,
    Score,
    OneOf(&'static [&'static str]),
    Tables(&'static [(&'static str, Takes)]),
}

use Takes::{Default, Flag, Number, OneOf, Score, Tables, Text, Texts, Update};

const KEYS: [(&str, Takes); 12] = [
    ("role", OneOf(&["law", "control", "traffic", "controller"])),
    ("name", Text),
    ("doc", Text),
    ("parameters", Tables(&PARAMETER)),
    ("gauges", Tables(&[("name", Text), ("unit", Text)])),
    ("update", Update),
    ("paced", Flag),
    ("timestamps", Flag),
    ("ecn", OneOf(&["off", "classic", "accecn", "l4s"])),
    ("score", Score),
    ("direction", OneOf(&["up", "down"])),
    ("two_way", Flag),
];

const PARAMETER: [(&str, Takes); 9] = [
    ("name", Text),
    ("doc", Text),
    ("unit", Text),
    ("default", Default),
    ("choices", Texts),
    ("file", Flag),
    ("min", Number),
    ("max", Number),
    ("number", OneOf(&["real", "whole"])),
];

const SCORES: &str =
    "call, game, frames, pages, or a scale of its own with gauge, good, fair and poor";

/// What only the program that reads a part says of it.
const OF_READERS: [&str; 4] = ["hooks", "digest", "interface", "folder"];

impl Declaration {
    /// A declaration, from a table that may have keys of its reader too.
    ///
    /// # Errors What was found, and what is allowed.
    pub fn read(declaration: Value) -> Result<Self, String> {
        let table = declaration.as_object().ok_or("found no table; allowed: a table in JSON")?;
        check_keys("", table, &KEYS, &OF_READERS)?;
        for (key, whose) in [("role", "what it is"), ("name", "its kind in scenarios")] {
            if !table.contains_key(key) {
                return Err(format!("found no {key}; allowed: {whose}"));
            }
        }
        serde_json::from_value(declaration)
            .map_err(|error| format!("found what cannot be read ({error}); allowed: another value"))
    }
}

fn check_keys(
    path: &str,
    table: &Map<String, Value>,
    known: &[(&str, Takes)],
    others: &[&str],
) -> Result<(), String> {
    for (key, value) in table.iter().filter(|(key, _)| !others.contains(&&***key)) {
        let Some((_, takes)) = known.iter().find(|(name, _)| name == key) else {
            let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
            let (key, names) = (words::quoted(key), names.join(", "));
            return Err(format!("{path}found the key {key}; allowed: {names}"));
        };
        check(&format!("{path}{key}: "), value, takes)?;
    }
    Ok(())
}

fn check(path: &str, value: &Value, takes: &Takes) -> Result<(), String> {
    let allowed = match (takes, value) {
        (Number | Score | OneOf(_), Value::Null)
        | (Text, Value::String(_))
        | (Flag, Value::Bool(_))
        | (Number, Value::Number(_))
        | (Update, Value::Number(_) | Value::String(_))
        | (Default, _) => return Ok(()),
        (Texts, Value::Array(texts)) if texts.iter().all(Value::is_string) => return Ok(()),
        (OneOf(names), Value::String(text)) if names.contains(&&**text) => return Ok(()),
        (Score, Value::String(text)) if SCORES.split(", ").any(|name| name == text) => {
            return Ok(());
        }
        (Score, Value::Object(of)) if of.get("own").is_some_and(is_scale) && of.len() == 1 => {
            return Ok(());
        }
        (Tables(keys), Value::Array(tables)) if tables.iter().all(Value::is_object) => {
            return tables.iter().filter_map(Value::as_object).try_for_each(|table| {
                let name = table.get("name").and_then(Value::as_str);
                let path = name.map_or(path.to_owned(), |name| format!("{name}: "));
                check_keys(&path, table, keys, &[])?;
                match (name, table.get("default")) {
                    (None, _) => Err(format!("{path}found no name; allowed: a text")),
                    (_, None) if keys.iter().any(|(key, _)| *key == "default") => {
                        Err(format!("{path}found no default; allowed: its usual value"))
                    }
                    _ => Ok(()),
                }
            });
        }
        (Text, _) => "a text".to_owned(),
        (Flag, _) => "true, false".to_owned(),
        (Number, _) => "a number".to_owned(),
        (Texts, _) => "a list of texts".to_owned(),
        (Update, _) => "a time in us, or the name of a parameter".to_owned(),
        (Score, _) => SCORES.to_owned(),
        (OneOf(names), _) => names.join(", "),
        (Tables(_), _) => "a list of tables".to_owned(),
    };
    Err(format!("{path}found {}; allowed: {allowed}", shown(value)))
}

fn is_scale(scale: &Value) -> bool {
    let has = |key: &&str| scale[*key].is_number();
    scale.as_object().is_some_and(|of| of.len() == 4)
        && scale["gauge"].is_string()
        && ["good", "fair", "poor"].iter().all(has)
}
