//! Weights of traffic entries, which scenarios give by name.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Weight in proportion to others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Weight(#[schemars(range(min = 0.01, max = 1000.0))] pub f64);

/// Weights of traffic entries, by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Weights(pub IndexMap<String, Weight>);

impl Weights {
    /// The weights of these traffic entries, in their order; 1 where none is given.
    pub fn of(&self, traffic: &[&str]) -> Vec<f64> {
        let weight = |name: &&str| self.0.get(*name).map_or(1.0, |weight| weight.0);
        traffic.iter().map(weight).collect()
    }
}
