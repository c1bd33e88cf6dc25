//! Gives a traffic entry the packets of a record.

use super::line::{Differences, Line};
use super::record::Record;
use crate::apps::outside::Parameters;
use sojourn_input::fault;
use sojourn_input::problem::{Fault, Warning};
use sojourn_input::words;

/// So many keys are named in a message.
const MOST_NAMED: usize = 5;

impl Parameters {
    /// Takes its packets from a record, for a run on this line. Says what a user must know.
    pub(crate) fn fill(
        &mut self,
        record: &Record,
        line: &Line,
        name: &str,
        path: &str,
    ) -> Result<Option<Warning>, Fault> {
        let Some(packets) = record.entries.get(name) else {
            let known: Vec<&str> = record.entries.keys().map(String::as_str).collect();
            let known = known.join(", ");
            let message = format!(
                "found a record without packets of {name:?}; allowed: one of this entry, or an entry with a name that it has: {known}"
            );
            return Err(Fault::new(format!("{path}.record"), message));
        };
        let digest = packets.digest();
        if let Some(other) = self.digest.as_ref().filter(|other| **other != digest) {
            let message = format!(
                "found {}; allowed: {digest:?}, that of the record, or none",
                words::quoted(other)
            );
            return Err(Fault::new(format!("{path}.digest"), message));
        }
        let Differences { choices, others } = record.line.differences(line);
        if !others.is_empty() && !self.anyway {
            let keys = named(&others);
            return Err(
                fault!(OtherLine, format!("{path}.record") => "found a record of another scenario, which differs in {keys}; allowed: a record of this one, in which only what one may choose differs, such as queues, or {path}.anyway = true (`--replay-anyway`)", keys),
            );
        }
        (self.digest, self.packets) = (Some(digest), packets.clone());
        let different = [choices, others].concat();
        Ok((!different.is_empty()).then(|| {
            let keys = named(&different);
            fault!(OpenLoop, path => "{path}: the packets were recorded with other settings ({keys}) and are sent when they came there: an open loop, in which no program reacts to what happens here", keys)
        }))
    }
}

/// The first of these keys, and how many more there are.
fn named(keys: &[String]) -> String {
    let more = keys.len().saturating_sub(MOST_NAMED);
    let first = keys.iter().take(MOST_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{first} and {more} more") } else { first }
}
