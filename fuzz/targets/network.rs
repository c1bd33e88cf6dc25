//! Bytes choose a network, which runs to its end and keeps to its delays, rates and loads.
#![no_main]

use sojourn_fuzz::queue_kit::drawer::Choices;
use sojourn_fuzz::swarm::{network, oracles};

/// Events of each run.
const MOST_EVENTS: u64 = 30_000;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut keys = network::keys(Choices::of(bytes));
    if let Ok(scenario) = network::scenario(&mut keys) {
        oracles::bounds(&scenario, MOST_EVENTS);
    }
});
