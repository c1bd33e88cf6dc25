//! Packet-level simulation of cable broadband (DOCSIS) and of its active queue management.
//!
//! A [`scenario::Scenario`] describes homes, modems, the CMTS, servers and traffic.
//! [`network::Simulation`] runs it, and [`metrics::results::Results`] reports the quality of
//! experience of its users. A run is a pure function of scenario, seed and version: it reads no
//! clock, no file and no global variable, and starts no threads. Only [`scenario::load`] reads
//! files: the captures that a scenario names.
//!
//! ```
//! use sojourn_core::network::Simulation;
//! use sojourn_core::scenario;
//!
//! let text = "
//!     duration_s = 2
//!     upstream = { sustained_mbps = 10, peak_mbps = 10, burst_bytes = 3044 }
//!     downstream = { sustained_mbps = 50, peak_mbps = 50, burst_bytes = 3044 }
//!     servers.friend.delay_ms = 14
//!     traffic.game = { kind = 'stream', purpose = 'game', server = 'friend' }
//! ";
//! let variants = scenario::load(text, "my-home.toml", &["seed=2".to_owned()])?;
//! let results = Simulation::run(&variants[0].scenario);
//! let game = &results.flows[0];
//! assert!(game.latency_p50_ms.is_some_and(|ms| ms > 14.0));
//! # Ok::<(), sojourn_core::input::problem::Problems>(())
//! ```

pub mod access;
pub mod address;
pub mod apps;
pub mod aqm;
pub mod capacity;
pub mod count;
pub mod dialect;
pub mod engine;
pub mod hop;
pub mod input;
pub mod link;
pub mod metrics;
pub mod modem_config;
pub mod network;
pub mod packet;
pub mod provision;
pub mod queue;
pub mod record;
pub mod scenario;
pub mod scores;
pub mod tcp;
pub mod token_bucket;
pub mod units;
pub mod verdict;

#[cfg(test)]
#[path = "../tests/at_random.rs"]
mod at_random;

/// Version of this library, part of every result.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
