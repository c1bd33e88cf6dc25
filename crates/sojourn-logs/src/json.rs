//! JSON of several tools, known by its keys.

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use sojourn_input::problem::Fault;

use crate::log::Log;
use crate::{FORMATS, crusader, flent, irtt, network_quality, unusable};

/// A message of the parser may quote the file at length.
const MOST_LETTERS: usize = 160;

/// The keys by which tools are known; a file has those of one.
#[derive(Deserialize)]
struct Keys {
    round_trips: Option<IgnoredAny>,
    raw_values: Option<IgnoredAny>,
    x_values: Option<IgnoredAny>,
    stream_groups: Option<IgnoredAny>,
    base_rtt: Option<IgnoredAny>,
    responsiveness: Option<IgnoredAny>,
    dl_throughput: Option<IgnoredAny>,
    ul_throughput: Option<IgnoredAny>,
    error_code: Option<IgnoredAny>,
}

/// What a text in JSON says.
pub(crate) fn read(text: &str) -> Result<Log, Fault> {
    let keys: Keys = serde_json::from_str(text)
        .map_err(|error| unusable("", &format!("damaged JSON ({})", reason(&error)), FORMATS))?;
    if keys.round_trips.is_some() {
        return Ok(irtt::log(document(text, "irtt")?));
    }
    if keys.raw_values.is_some() || keys.x_values.is_some() {
        return flent::log(document(text, "flent")?);
    }
    if keys.stream_groups.is_some() {
        return Ok(crusader::log(document(text, "crusader export")?));
    }
    let rates = keys.dl_throughput.or(keys.ul_throughput);
    if rates.or(keys.base_rtt).or(keys.responsiveness).or(keys.error_code).is_some() {
        return network_quality::log(&document(text, "networkQuality -c")?);
    }
    let found = "JSON without round_trips (irtt), raw_values (flent), stream_groups (Crusader) or base_rtt \
                 (networkQuality)";
    Err(unusable("", found, FORMATS))
}

fn document<T: DeserializeOwned>(text: &str, tool: &str) -> Result<T, Fault> {
    serde_json::from_str(text).map_err(|error| {
        let found = format!("JSON that is not as {tool} writes it ({})", reason(&error));
        unusable("", &found, "a file that the tool wrote")
    })
}

fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.char_indices().nth(MOST_LETTERS) {
        None => text,
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}
