//! TCP: connections whose ends react to segments and timers.
//!
//! The caller hands an end segments and the time, and polls it for segments to send until there are
//! none. An end reads no clock and knows no network.

mod ack_policy;
mod bursts;
pub mod cc;
pub(crate) mod check;
pub mod config;
mod departures;
pub mod endpoint;
mod idle;
pub mod options;
mod pacer;
mod ranges;
mod rate;
mod receiver;
mod rtt;
mod sender;
mod ticks;
mod window_use;

pub use config::{Config, Recovery};
pub use endpoint::{Departure, Endpoint, SegmentEvents};
pub use options::TcpOptions;

#[cfg(test)]
mod pair_tests;
