//! Weights of traffic entries, by name in scenarios and by number on the data path.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A weight, in proportion to others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Weight(#[schemars(range(min = 0.01, max = 1000.0))] pub f64);

/// Weights of the entries of the traffic list, by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Weights(pub IndexMap<String, Weight>);

impl Weights {
    /// The weights of these traffic entries, in their order.
    pub fn of(&self, traffic: &[&str]) -> WeightTable {
        let weight = |name: &&str| self.0.get(*name).map_or(1.0, |weight| weight.0);
        WeightTable(traffic.iter().map(weight).collect())
    }
}

/// Weights by the number of the traffic entry that packets carry; 1 where none is known.
#[derive(Default)]
pub struct WeightTable(Vec<f64>);

impl WeightTable {
    /// The weight of what belongs to a traffic entry.
    #[inline]
    pub fn of(&self, traffic: u16) -> f64 {
        self.0.get(usize::from(traffic)).copied().unwrap_or(1.0)
    }
}
