//! TCP: connections whose two ends react to segments and timers.
//!
//! An end is driven from outside: it is handed segments and the time, and asked for what it wants
//! to send until it has nothing more. It reads no clock and knows no network.

pub mod cc;
pub(crate) mod check;
pub mod config;
pub mod endpoint;
pub mod options;
mod ranges;
mod receiver;
mod rtt;
mod sender;

pub use config::{Config, Recovery};
pub use endpoint::{Departure, Endpoint, SegmentEvents};
pub use options::TcpOptions;

#[cfg(test)]
mod pair_tests;
