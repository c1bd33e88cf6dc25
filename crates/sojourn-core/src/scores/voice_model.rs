//! How calls are scored.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{g107, qoe};

/// The E-model of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum VoiceModel {
    /// The reduced model of Cole and Rosenbluth 2001 for G.711 (White & Padden 2012 §3.2.2, Hong 2015
    /// §3.2.2.2).
    #[default]
    ColeRosenbluth,
    /// ITU-T G.107 with its default values: R is 93.2 without delay and loss.
    G107 {
        /// The codec's packet-loss robustness factor Bpl. G.711 has 4.3 without concealment (G.107)
        /// and 25.1 with the concealment of its appendix I.
        #[serde(default = "loss_robustness")]
        #[schemars(range(min = 1.0, max = 40.0))]
        loss_robustness: f64,
    },
}

fn loss_robustness() -> f64 {
    4.3
}

impl VoiceModel {
    /// R from the one-way delay in ms and the share of packets lost, 0 to 1.
    pub fn r_value(self, delay_ms: f64, loss: f64) -> f64 {
        match self {
            Self::ColeRosenbluth => qoe::r_value(delay_ms, loss),
            Self::G107 { loss_robustness } => g107::r_value(delay_ms, loss, loss_robustness),
        }
    }
}
