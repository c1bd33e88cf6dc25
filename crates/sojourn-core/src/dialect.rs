//! Which set of rules the parts follow where documents and simulators differ.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which set of rules the parts follow where the published studies' ns-2 differs from the documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// As the RFCs and the DOCSIS specification say.
    #[default]
    Rfc,
    /// As the ns-2 code of the studies did.
    Ns2,
}
