//! How calls are scored.

use sojourn_scenario::metrics::VoiceModel;

use super::{g107, qoe};

/// R by a model from the one-way delay in ms and the share of packets lost, 0 to 1.
pub fn r_value(model: VoiceModel, delay_ms: f64, loss: f64) -> f64 {
    match model {
        VoiceModel::ColeRosenbluth => qoe::r_value(delay_ms, loss),
        VoiceModel::G107 { loss_robustness } => g107::r_value(delay_ms, loss, loss_robustness),
    }
}
