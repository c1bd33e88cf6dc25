//! TCP: connections whose two ends react to segments and timers.
//!
//! An end is driven from outside: it is handed segments and the time, and asked for what it wants
//! to send until it has nothing more. It reads no clock and knows no network.

pub mod cc;
pub mod options;

pub use options::{Config, Recovery, TcpOptions};
