//! Groups of homes that share the network.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use sojourn_access::{Downstream, Upstream};

use super::router::Router;

/// A group of identical homes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Homes {
    /// Number of homes in the group. All groups together may have 20 000.
    #[schemars(range(min = 1, max = 20_000))]
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
    pub router: Option<Router>,
    /// Length of the cable or fibre to each home in km. Default: that of `cable`, or of `access` with
    /// fibre.
    #[schemars(range(min = 0.0, max = 2000.0))]
    pub distance_km: Option<f64>,
    /// When the homes are used, so that their load changes over seconds to hours. Default: all the time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-role" = "load"))]
    pub activity: Option<Activity>,
}

/// Homes that are active and at rest by turns, each for itself: a process of two states whose stays are
/// exponentially distributed. At rest a home begins nothing: its apps' next actions wait until it is active.
/// The number of active homes has a mean of `share` of all, and its autocorrelation falls by e in
/// `time_constant_s`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Activity {
    /// The share of the time in which a home is active; also of the homes that are active at the start.
    #[serde(default = "half")]
    #[schemars(range(min = 0.01, max = 0.99))]
    pub share: f64,
    /// Time constant of changes in s. A home is active for this over 1 - `share` on average, and at rest for this
    /// over `share`.
    #[schemars(range(min = 0.001, max = 1_000_000.0))]
    pub time_constant_s: f64,
}

fn half() -> f64 {
    0.5
}

impl Default for Homes {
    fn default() -> Self {
        Self {
            count: 1,
            upstream: None,
            downstream: None,
            router: None,
            distance_km: None,
            activity: None,
        }
    }
}

/// Any table is allowed here: it is checked after it has been merged.
fn differences(_: &mut SchemaGenerator) -> Schema {
    schemars::json_schema!({ "type": ["object", "null"] })
}
