//! TCP: connections whose ends react to segments and timers.
//!
//! The caller hands an end segments and the time, and polls it for segments to send until there are
//! none. An end reads no clock and knows no network.

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
