//! From a modem's configuration file to the upstream and downstream of a scenario, and back.
//!
//! A file contains the service that the operator sells: rates, buffers, AQM and classifiers. The
//! scenario keeps everything else: the kind of modem, other traffic on the channel, servers and
//! traffic.

mod catalog;
mod channel_rate;
mod class_of_service;
mod expand;
mod lost;
mod low_latency;
mod notes;
mod read;
mod scheduling;
mod write;

pub use catalog::Provisioning;
pub use read::Provision;

use super::schema::Scenario;
use sojourn_access::Group;
use sojourn_access::modem_config::ModemConfig;
use write::{Note, written};

/// The configuration file for the modems of a scenario's group of homes, and a line for each setting of these homes that
/// files cannot express.
pub fn modem_config(scenario: &Scenario, group: &Group) -> (ModemConfig, Vec<String>) {
    let mut notes = Vec::new();
    let config = written(group, &mut notes);
    notes.extend(lost::notes(group, &config, &notes));
    notes.extend(lost::beside_the_modem(scenario, group));
    (config, notes.into_iter().map(|Note { path, text }| format!("{path}: {text}")).collect())
}
