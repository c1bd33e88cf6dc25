//! From a modem's configuration file to the upstream and downstream of a scenario, and back.
//!
//! A file contains the service that the operator sells: rates, buffers, AQM and classifiers. The
//! scenario keeps everything else: the kind of modem, other traffic on the channel, servers and
//! traffic.

mod channel_rate;
mod class_of_service;
mod lost;
mod low_latency;
mod notes;
mod read;
mod scheduling;
mod write;

pub use read::Provision;
pub use write::modem_config;
