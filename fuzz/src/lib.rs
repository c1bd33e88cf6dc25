//! What the targets share with the random tests: how bytes become networks, queues and files, and what must
//! be true of them.

#![allow(dead_code, unused_imports, unused_macros, reason = "the tests use more of it")]

#[path = "../../crates/sojourn/tests/modem_config_fuzz.rs"]
pub mod modem_config_fuzz;
#[path = "../../crates/sojourn/tests/queue_fuzz.rs"]
pub mod queue_fuzz;
#[path = "../../crates/sojourn/tests/queue_kit/mod.rs"]
pub mod queue_kit;
#[path = "../../crates/sojourn/tests/swarm/mod.rs"]
pub mod swarm;
