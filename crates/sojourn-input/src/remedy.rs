//! Settings that remedy a fault.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

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

    /// The same with another setting.
    #[must_use]
    pub fn and(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.0.insert(key.into(), value.into());
        self
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

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if f.alternate() { "to" } else { "=" };
        let settings = self.0.iter().map(|(key, value)| match value.as_f64() {
            Some(number) => format!("{key} {verb} {number}"),
            None => format!("{key} {verb} {value}"),
        });
        let settings: Vec<_> = settings.collect();
        match &*settings {
            [first @ .., before, last] => {
                f.write_str(&[first, &[format!("{before} and {last}")]].concat().join(", "))
            }
            one => f.write_str(&one.concat()),
        }
    }
}
