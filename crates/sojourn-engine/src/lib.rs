//! The parts of a packet-level simulation: packets, the order of wake-ups, links, queue managers with their AQM
//! algorithms, and what all of them record.
//!
//! Time and randomness are arguments: nothing here reads a clock, a file or a global variable. Every stage has
//! three verbs: accept a packet, say when it next wants to be woken, wake.

pub mod address;
pub mod aqm;
pub mod capacity;
pub mod clock;
pub mod count;
pub mod dialect;
pub mod ecn_path;
pub mod fairness;
pub mod hop;
pub mod link;
pub mod packet;
pub mod queue;
pub mod record;
pub mod rng;
pub mod token_bucket;
pub(crate) mod tournament;
pub mod units;
pub mod wake;
