//! TCP and QUIC: connections whose ends react to segments and timers.
//!
//! The caller hands an end segments and the time, and polls it for segments to send until there are
//! none. An end reads no clock and knows no network.

pub(crate) mod accecn;
mod ack_policy;
pub mod bursts;
pub mod cc;
pub mod check;
pub(crate) mod config;
mod departures;
mod ecn_checks;
pub(crate) mod endpoint;
pub(crate) mod ends;
mod idle;
pub(crate) mod moderation;
mod options;
mod pacer;
pub(crate) mod quic;
mod ranges;
pub mod rate;
mod receiver;
mod rtt;
pub(crate) mod rules;
mod sender;
mod sender_series;
pub(crate) mod streams;
mod ticks;
pub mod tls;
mod window_use;

pub use accecn::EcnMode;
pub use config::{Config, Transport};
pub use endpoint::{Departure, Endpoint, SegmentEvents};
pub use ends::Ends;
pub use options::TcpOptions;
pub use streams::Message;

/// Definitions of the series of senders.
pub fn series() -> &'static [sojourn_engine::record::Definition] {
    sender_series::SERIES
}

#[cfg(test)]
mod loss_cases;
#[cfg(test)]
mod pair_tests;
pub use rules::{Recovery, Rules};
pub use sender_series::SenderState;
