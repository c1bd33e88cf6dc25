//! Packet-level simulation of cable broadband (DOCSIS) and of its active queue management.
//!
//! A [`Scenario`] describes homes, modems, the CMTS, servers and traffic.
//! [`Simulation`] runs it, and [`Results`] reports the quality of
//! experience of its users. A run is a pure function of scenario, seed and version: it reads no
//! clock, no file and no global variable, and starts no threads. Only [`load`] reads
//! files: the captures that a scenario names.
//!
//! ```
//! use sojourn::{Simulation, load};
//!
//! let text = "
//!     duration_s = 2
//!     upstream = { sustained_mbps = 10, peak_mbps = 10, burst_bytes = 3044 }
//!     downstream = { sustained_mbps = 50, peak_mbps = 50, burst_bytes = 3044 }
//!     servers.friend.delay_ms = 14
//!     traffic.game = { kind = 'stream', purpose = 'game', server = 'friend' }
//! ";
//! let variants = load(text, "my-home.toml", &["seed=2".to_owned()])?;
//! let results = Simulation::run(&variants[0].scenario);
//! let game = &results.flows[0];
//! assert!(game.latency_p50_ms.is_some_and(|ms| ms > 14.0));
//! # Ok::<(), sojourn::input::problem::Problems>(())
//! ```

mod network;
pub mod shipped;

pub use schemars;
pub use serde;
pub use serde_json;
pub use sojourn_access as access;
pub use sojourn_engine as engine;
pub use sojourn_input as input;
pub use sojourn_logs as logs;
pub use sojourn_results as results;
pub use sojourn_scenario as scenario;
pub use sojourn_transport as transport;

pub use network::{
    ConnectionObservation, GaugeObservation, HopObservation, Observation, QueueObservation,
    Simulation, TrafficObservation, outside, series, warnings,
};
pub use results::metrics::Results;
pub use scenario::{Parts, Scenario, Source, Variant, load};

/// Version of this library, part of every result.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
