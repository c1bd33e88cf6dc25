//! Values of parameters: numbers, flags, texts of a choice, lists of numbers, and files.

use std::fs;

use serde_json::Value;
use sojourn_input::digest::digest;
use sojourn_input::words;
use sojourn_scenario::{Disk, Files as _};

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// A number.
    Number(f64),
    /// True or false.
    Flag(bool),
    /// The place of a text among those of the choice.
    Choice(usize),
    /// Numbers.
    List(Vec<f64>),
    /// A file, which belongs to what the part is.
    File {
        /// Its whole path.
        path: String,
        /// A digest of its content.
        digest: String,
    },
}

impl Setting {
    /// Values as a program of plain numbers gets them: a flag is 0 or 1, a text its place in the choice, and of a list
    /// there is its length, and what is in it behind all others.
    pub fn numbers(settings: &[Self]) -> Vec<f64> {
        let one = |setting: &Self| match setting {
            Self::Number(number) => *number,
            Self::Flag(flag) => f64::from(u8::from(*flag)),
            Self::Choice(place) => *place as f64,
            Self::List(list) => list.len() as f64,
            Self::File { .. } => f64::NAN,
        };
        let lists = settings.iter().filter_map(|setting| match setting {
            Self::List(list) => Some(list),
            _ => None,
        });
        settings.iter().map(one).chain(lists.flatten().copied()).collect()
    }
}

/// The key with the digest of a file.
pub(crate) fn digest_key(name: &str) -> String {
    format!("{name}_digest")
}

/// Bytes of a file.
const MOST_FILE_BYTES: u64 = 100_000_000;

/// A file that lies in the part's folder, or has a whole path.
pub(crate) fn file(path: &str, folder: &str) -> Result<Setting, String> {
    let found = fs::canonicalize(std::path::Path::new(folder).join(path))
        .map_err(|error| format!("which cannot be read in {folder}: {}", error.kind()))?;
    let content = Disk.read(&found, MOST_FILE_BYTES).map_err(|error| {
        format!(
            "which cannot be read ({error}); allowed: a file of {MOST_FILE_BYTES} bytes at most"
        )
    })?;
    let path = found.into_os_string().into_string();
    let path = path.map_err(|_| "whose path is no text; allowed: one in UTF-8".to_owned())?;
    Ok(Setting::File { path, digest: digest_of(&content) })
}

/// The digest of a file's content that scenarios have beside its name.
pub fn digest_of(content: &[u8]) -> String {
    let size = content.len() as u64;
    digest([size].into_iter().chain(content.iter().map(|byte| u64::from(*byte))))
}

/// A value as messages show it.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => words::quoted(text),
        Value::Array(list) => format!("a list of {}", list.len()),
        Value::Object(_) => "a table".to_owned(),
        other => other.to_string(),
    }
}

/// A number as messages show it: one of 300 digits by its power of ten.
pub(crate) fn in_short(number: f64) -> String {
    let is_short = number == 0.0 || (1e-6..1e16).contains(&number.abs());
    if is_short || !number.is_finite() { number.to_string() } else { format!("{number:e}") }
}
