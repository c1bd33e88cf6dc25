//! The text of a scenario file: it is refused in a line for each problem, or each of its runs goes on for a while and
//! loses no packet.
#![no_main]

use sojourn::Simulation;
use sojourn::scenario::Source;
use sojourn_fuzz::swarm::network::MOST_BYTES;

/// Events of each run.
const MOST_EVENTS: u64 = 20_000;

libfuzzer_sys::fuzz_target!(|text: &str| {
    match Source::new(text, "file").most_bytes(MOST_BYTES).load() {
        Err(problems) => {
            assert!(
                problems.reported().all(|problem| !problem.to_string().contains('\n')),
                "{problems}"
            );
        }
        Ok(variants) => {
            for variant in variants.iter().take(3) {
                let mut simulation = Simulation::new(&variant.scenario);
                simulation.advance(MOST_EVENTS);
                simulation.finish();
            }
        }
    }
});
