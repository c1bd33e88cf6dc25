//! Modem configuration files, in and out.

use serde_json::{Value, json};
use sojourn::access::modem_config::{File, ModemConfig};
use sojourn::input::problem::{Problem, Warning};
use sojourn::scenario::Variant;
use sojourn::scenario::provision;

/// The settings of a file, and its problems without effect on what is simulated.
pub(crate) fn view(content: &[u8], name: &str) -> Result<(ModemConfig, Vec<Warning>), Problem> {
    let file = File::decode(content, name)?;
    Ok((file.view(), file.notes()))
}

/// The service of a scenario that a modem file has overridden: its tables `upstream` and
/// `downstream` without what is unset, and what cannot be simulated.
pub(crate) fn service(variant: &Variant) -> Value {
    let scenario = serde_json::to_value(&variant.scenario).expect("a scenario is plain data");
    json!({
        "upstream": without_nulls(&scenario["upstream"]),
        "downstream": without_nulls(&scenario["downstream"]),
        "notes": variant.notes,
    })
}

fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(table) => {
            let set = table.iter().filter(|(_, value)| !value.is_null());
            set.map(|(key, value)| (key.clone(), without_nulls(value))).collect()
        }
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        other => other.clone(),
    }
}

/// The file for a modem in the first group of homes, and a line for each setting that files cannot
/// express.
pub(crate) fn file(variant: &Variant) -> Result<(Vec<u8>, Vec<String>), Problem> {
    let mut groups = variant.scenario.groups();
    let group = groups.next().expect("a scenario has at least one home");
    let (config, notes) = provision::modem_config(&variant.scenario, &group);
    Ok((File::from_view(&config, None)?.encode(), notes))
}
