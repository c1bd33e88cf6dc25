//! Bytes choose a network, which runs to its end and keeps to its delays, rates and loads.
#![no_main]

use sojourn::scenario::estimate;
use sojourn_fuzz::queue_kit::drawer::Choices;
use sojourn_fuzz::swarm::{network, oracles};

/// Events of each run. What has many more by the clock alone is left, since apps act between events.
const MOST_EVENTS: u64 = 30_000;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut keys = network::keys(Choices::of(bytes));
    if let Ok(scenario) = network::scenario(&mut keys)
        && estimate(&scenario).events() < 100.0 * MOST_EVENTS as f64
    {
        oracles::bounds(&scenario, MOST_EVENTS);
    }
});
