//! Metrics of a run: counts, latencies, series over time, and quality of experience.
//!
//! Everything here is streaming: memory does not grow with the length of the run, except for the
//! optional traces of packets and of a modem.

pub mod column;
pub mod connections;
pub mod ledger;
pub mod ramp;
pub mod results;
pub mod rows;
pub mod tables;

pub use ledger::Ledger;
