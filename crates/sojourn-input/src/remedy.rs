//! Settings that remedy a fault.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::shape::TAG;
use super::words::below;

/// Settings by their keys, in their order. Their text is `KEY = VALUE, KEY = VALUE and KEY = VALUE`, with `to`
/// for the signs in the alternate form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Remedy(Map<String, Value>);

impl Remedy {
    /// This setting.
    pub fn of(key: impl Into<String>, value: impl Into<Value>) -> Self {
        Self::default().and(key, value)
    }

    /// The table of this kind with its defaults.
    pub fn of_kind(key: impl Into<String>, kind: &str) -> Self {
        Self::of(key, json!({ TAG: kind }))
    }

    /// The same with another setting.
    #[must_use]
    pub fn and(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.0.insert(key.into(), value.into());
        self
    }

    /// Are there no settings?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The same with these settings too.
    #[must_use]
    pub fn with(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// The settings as `--set` takes them.
    pub fn sets(&self) -> Vec<String> {
        self.0.iter().map(|(key, value)| format!("{key}={}", inline(value))).collect()
    }

    /// The same settings of keys with other paths.
    #[must_use]
    pub fn with_keys(self, path_of: &dyn Fn(&str) -> String) -> Self {
        Self(self.0.into_iter().map(|(key, value)| (path_of(&key), value)).collect())
    }

    /// The same settings with their keys below the table or list at `path`.
    #[must_use]
    pub fn under(self, path: &str) -> Self {
        Self(self.0.into_iter().map(|(key, value)| (below(path, &key), value)).collect())
    }
}

/// A value as TOML has it within a line.
fn inline(value: &Value) -> String {
    match value {
        Value::Object(table) if !table.is_empty() => {
            let keys = table.iter().map(|(key, value)| format!("{key} = {}", inline(value)));
            format!("{{ {} }}", keys.collect::<Vec<_>>().join(", "))
        }
        value => value.as_f64().map_or_else(|| value.to_string(), |number| number.to_string()),
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if f.alternate() { "to" } else { "=" };
        let settings = self.0.iter().map(|(key, value)| format!("{key} {verb} {}", inline(value)));
        let settings: Vec<_> = settings.collect();
        match &*settings {
            [first @ .., before, last] => {
                f.write_str(&[first, &[format!("{before} and {last}")]].concat().join(", "))
            }
            one => f.write_str(&one.concat()),
        }
    }
}
