//! What a scenario file describes: one run, or several variants of it.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::changes::Changed;
use super::parts::Parts;
use super::schema::Scenario;
use sojourn_input::problem::Warning;

/// One run of a scenario file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Variant {
    /// Its name: that in the `compare` table, with what overrides the keys that it is named for; empty
    /// where there is no such table.
    pub name: String,
    /// What of its name in the `compare` table holds: all of it, or nothing if every key of the variant
    /// is overridden.
    pub kept_name: String,
    /// The scenario in full.
    pub scenario: Scenario,
    /// What a user must know of its files: what a modem's configuration file sets that cannot be simulated, and
    /// what captures have.
    pub notes: Vec<Warning>,
    /// Defaults that it relies on and that are others than in the last release.
    pub changes: Vec<Changed>,
    /// What it was read from; `None` if it was made of others.
    pub(crate) origin: Option<Origin>,
}

/// What a variant was read from. It does not distinguish variants.
#[derive(Clone)]
pub(crate) struct Origin(Arc<Read>);

impl Origin {
    pub(crate) fn new(read: Read) -> Self {
        Self(Arc::new(read))
    }

    pub(crate) fn read(&self) -> &Read {
        &self.0
    }
}

impl PartialEq for Origin {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Origin")
    }
}

/// A variant's keys as they were before defaults were filled in, with what they were read with.
pub(crate) struct Read {
    pub source: String,
    pub keys: Value,
    pub parts: Parts,
    pub most_bytes: u64,
}

impl Variant {
    /// This variant with another seed.
    #[must_use]
    pub fn with_seed(&self, seed: u64) -> Self {
        let mut variant = self.clone();
        variant.scenario.seed = seed;
        variant.origin = variant.origin.map(|origin| origin.with_seed(seed));
        variant
    }
}

impl Origin {
    fn with_seed(&self, seed: u64) -> Self {
        let Read { source, keys, parts, most_bytes } = self.read();
        let mut keys = keys.clone();
        keys["seed"] = seed.into();
        Self::new(Read {
            source: source.clone(),
            keys,
            parts: parts.clone(),
            most_bytes: *most_bytes,
        })
    }
}
