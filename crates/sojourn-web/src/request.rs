//! Requests, as a page writes them in JSON: a table with a `verb`, and what the verb needs.
//!
//! | verb | needs | value of the reply |
//! | --- | --- | --- |
//! | `about` | | version, gallery, queue managers by name, schema of scenario files |
//! | `document` | `text` | a TOML text as JSON |
//! | `check` | `text` | the variants with all their defaults, and the idle line that they are compared with |
//! | `keep` | `name`, blob | keeps the blob as a file: a capture that scenarios replay, or a modem file |
//! | `part` | `number`, `functions`, `interface`, `digest`, blob | takes a part of the page: the blob is its declaration; its name, role and doc |
//! | `schema` | | schema of scenario files with these parts |
//! | `start` | `text`, `variant`, maybe `picture_until_s` | builds a simulation; records the modem's events up to there |
//! | `advance` | `events` | handles so many: whether the run goes on, and the simulated time |
//! | `finish` | | results of the run that has come to its end; columns in the blob |
//! | `judge` | `text`, `runs` | grades and verdict; a run is a `number` with the `rows` of its results |
//! | `picture` | `from_s` | a second of the queue, packet by packet; columns in the blob |
//! | `read_log` | `name`, blob, maybe `down_from_s`, `down_to_s`, `up_from_s`, `up_to_s`, `interval_s` | the answer on a log of a measured line, with its round trips and rates |
//! | `read_modem` | `name`, `text` | the service of a kept modem file, for a scenario with what the file leaves open |
//! | `write_modem` | `text`, `variant` | the modem file of a variant as the blob, and what it cannot express |
//!
//! `text` is a scenario in TOML. A variant is its number, from 0, in the reply to `check`.

use serde::Deserialize;
use serde_json::Value;
use sojourn::input::problem::{Fault, Problem};
use sojourn::results::verdict::Rows;

/// A run that has ended.
#[derive(Debug, Deserialize)]
pub struct Ran {
    /// The number of its variant.
    pub number: usize,
    /// What `finish` gave as `rows`.
    pub rows: Rows,
}

/// A request and its blob.
pub struct Request<'a> {
    keys: Value,
    /// The bytes behind the JSON.
    pub blob: &'a [u8],
}

impl<'a> Request<'a> {
    /// From the size of the JSON in four bytes, the JSON, and the blob.
    pub fn read(bytes: &'a [u8]) -> Result<Self, Problem> {
        let (size, rest) =
            bytes.split_first_chunk().ok_or_else(|| refused("request", "too short"))?;
        let (json, blob) = rest
            .split_at_checked(u32::from_le_bytes(*size) as usize)
            .ok_or_else(|| refused("request", "shorter than it says"))?;
        let keys =
            serde_json::from_slice(json).map_err(|error| refused("request", &error.to_string()))?;
        Ok(Self { keys, blob })
    }

    /// A text.
    pub fn text(&self, key: &str) -> Result<&str, Problem> {
        self.keys[key].as_str().ok_or_else(|| refused(key, "missing; allowed: a text"))
    }

    /// A whole number.
    pub fn number(&self, key: &str) -> Result<u64, Problem> {
        self.keys[key].as_u64().ok_or_else(|| refused(key, "missing; allowed: a whole number"))
    }

    /// A number that may be missing.
    pub fn measure(&self, key: &str) -> Option<f64> {
        self.keys[key].as_f64()
    }

    /// A list of texts.
    pub fn texts(&self, key: &str) -> Result<Vec<&str>, Problem> {
        let texts =
            self.keys[key].as_array().and_then(|all| all.iter().map(Value::as_str).collect());
        texts.ok_or_else(|| refused(key, "missing; allowed: a list of texts"))
    }

    /// The runs that are judged.
    pub fn runs(&self) -> Result<Vec<Ran>, Problem> {
        Vec::deserialize(&self.keys["runs"]).map_err(|error| refused("runs", &error.to_string()))
    }
}

/// A request that cannot be understood.
pub fn refused(path: &str, message: &str) -> Problem {
    Fault::new(path, message).of("")
}
