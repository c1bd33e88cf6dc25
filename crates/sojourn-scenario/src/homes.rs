//! Groups of homes that share the network.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use sojourn_access::{Downstream, Upstream};
use sojourn_engine::hop::Bottlenecks;

/// A group of identical homes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Homes {
    /// Number of homes in the group. All groups together may have 10 000.
    #[schemars(range(min = 1, max = 10_000))]
    #[schemars(extend("x-role" = "load"))]
    pub count: u16,
    /// Upstream keys in which this group differs from the scenario's `upstream`. They are merged
    /// into it key by key, like the keys of a variant.
    #[schemars(schema_with = "differences")]
    pub upstream: Option<Upstream>,
    /// Downstream keys in which this group differs from the scenario's `downstream`. They are
    /// merged into it key by key.
    #[schemars(schema_with = "differences")]
    pub downstream: Option<Downstream>,
    /// Router keys in which this group differs from the scenario's `router`. They are merged into it key
    /// by key.
    #[schemars(schema_with = "differences")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-role" = "choice"))]
    pub router: Option<Bottlenecks>,
    /// Length of the cable or fibre to each home in km. Default: that of `cable`, or of `access` with
    /// fibre.
    #[schemars(range(min = 0.0, max = 2000.0))]
    pub distance_km: Option<f64>,
}

impl Default for Homes {
    fn default() -> Self {
        Self { count: 1, upstream: None, downstream: None, router: None, distance_km: None }
    }
}

/// Any table is allowed here: it is checked after it has been merged.
fn differences(_: &mut SchemaGenerator) -> Schema {
    schemars::json_schema!({ "type": ["object", "null"] })
}
