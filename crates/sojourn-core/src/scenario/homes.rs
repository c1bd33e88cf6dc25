//! Who shares the network: groups of homes.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use crate::access::service::{Downstream, Upstream};

/// A group of homes that are all alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Homes {
    /// How many there are; all groups together may have 10 000.
    #[schemars(range(min = 1, max = 10_000))]
    pub count: u16,
    /// The keys in which their upstream differs from the scenario's, laid over that as a variant is.
    #[schemars(schema_with = "differences")]
    pub upstream: Option<Upstream>,
    /// The keys in which their downstream differs from the scenario's.
    #[schemars(schema_with = "differences")]
    pub downstream: Option<Downstream>,
}

impl Default for Homes {
    fn default() -> Self {
        Self { count: 1, upstream: None, downstream: None }
    }
}

/// What is laid over a table is checked with it, when both are one.
fn differences(_: &mut SchemaGenerator) -> Schema {
    schemars::json_schema!({ "type": ["object", "null"] })
}
