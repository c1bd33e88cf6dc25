//! Dialects: `linux` (the default), `rfc` or `ns2`, the set of rules that parts follow where Linux, the
//! standards and the studies' simulator differ.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The set of rules to follow where Linux, the standards and the published studies' ns-2 differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// The rules of the RFCs and of the DOCSIS specification.
    Rfc,
    /// The rules of the studies' ns-2 code.
    Ns2,
    /// TCP as the Linux kernel does it; all other rules are those of `rfc`.
    #[default]
    Linux,
}
