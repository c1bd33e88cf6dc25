//! Real packets: what a simulation needs of their headers, and records of them.
//!
//! A record is a capture (pcapng) that Wireshark reads too. Its comment has the keys of the scenario in which it was made.

mod header;
mod line;
mod packets;
mod record;
mod replay;
mod writer;

pub use header::{Header, LARGEST_IP, NotIp, Tcp};
pub use line::{Differences, Line};
pub use packets::{Packets, Recorded};
pub use record::Record;
pub use writer::Writer;

use crate::apps::AppSpec;
use crate::schema::Scenario;
use sojourn_input::problem::{Fault, Problems};
use sojourn_input::words;

/// Refuses a scenario whose real packets come from nowhere.
///
/// # Errors The entries without a record, as problems of the scenario that has this name.
pub fn has_all_records(scenario: &Scenario, source: &str) -> Result<(), Problems> {
    let lacking = scenario.traffic.iter().filter_map(|(name, entry)| match &entry.app {
        AppSpec::Real(of) if of.record.is_none() => {
            let path = words::join(&words::join("traffic", name), "record");
            let message = "missing; allowed: a record of these packets (`sojourn run --replay FILE`); real packets \
                           come while `sojourn emulate` runs";
            Some(Fault::new(path, message).of(source))
        }
        _ => None,
    });
    Problems::of(lacking).map_or(Ok(()), Err)
}
