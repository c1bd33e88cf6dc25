//! From a modem's configuration file to the upstream and downstream of a scenario, and back.
//!
//! A file says what the operator sells: rates, buffers, AQM and classifiers. How the modem is built,
//! what else is on the channel, servers and traffic stay those of the scenario.

mod read;
mod write;

pub use read::Provision;
pub use write::modem_config;
