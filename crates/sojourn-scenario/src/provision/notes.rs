//! What a user learns of a modem file.

use serde_json::json;
use sojourn_input::problem::{Code, Warning};

/// Warnings of settings that cannot be simulated.
pub(super) struct Notes<'a> {
    /// The file's name.
    pub source: &'a str,
    /// The warnings.
    pub warnings: Vec<Warning>,
}

/// The types of unknown TLVs, which have no keys.
fn types_of(value: &serde_json::Value) -> String {
    let types = value.as_array().into_iter().flatten().filter_map(|of| of.get("type"));
    let types: Vec<_> = types.map(ToString::to_string).collect();
    match types.len() {
        0 => String::new(),
        _ => format!("type {} ", types.join(", ")),
    }
}

impl Notes<'_> {
    /// Adds a warning of the setting at `path`, once.
    pub(super) fn add(&mut self, path: &str, text: &str) {
        self.add_of(path, "", text);
    }

    /// Adds a warning of the key of a setting, of which the text names the path.
    pub(super) fn add_of(&mut self, path: &str, key: &str, text: &str) {
        let line = format!("{}: {path}: {text}", self.source);
        let warning = Warning::of_code(Code::ModemSetting, key, line).under(path);
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Notes every key that is set and not among those in `done`.
    pub(super) fn note_others(&mut self, table: impl serde::Serialize, path: &str, done: &[&str]) {
        let table = serde_json::to_value(table).unwrap_or_default();
        for (key, value) in table.as_object().into_iter().flatten() {
            let is_set = !value.is_null() && *value != json!([]);
            if is_set && !done.contains(&&**key) {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                self.add(&path, &format!("{}is not simulated", types_of(value)));
            }
        }
    }
}
