//! Rates of a scenario as they are simulated: in whole bits per second.

use serde_json::Value;

use sojourn_engine::units::BitRate;

/// Rounds all rates as the simulation does, so that the resolved scenario has those of the run.
pub(super) fn in_whole_bits(value: &mut Value) {
    match value {
        Value::Object(table) => {
            for (key, inner) in table {
                let is_rate = key == "mbps" || key.ends_with("_mbps");
                let round = if is_rate { rounded } else { in_whole_bits };
                round(inner);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(in_whole_bits),
        _ => {}
    }
}

fn rounded(rate: &mut Value) {
    match rate {
        // Zero is none, and not the least rate there is.
        Value::Number(number) => match number.as_f64() {
            Some(mbps) if number.is_f64() && mbps > 0.0 => {
                *rate = Value::from(BitRate::from_mbps(mbps).bps() as f64 / 1e6);
            }
            _ => {}
        },
        Value::Array(rates) => rates.iter_mut().for_each(rounded),
        named => in_whole_bits(named),
    }
}
