//! Runs a home with each of the parts, beside the same home without it.
//!
//! `cargo run --release -p sojourn-own-parts`

use sojourn::input::problem::Problems;
use sojourn::{Simulation, Source};
use sojourn_own_parts::{control, controller, hop, law, parts};

fn main() -> Result<(), Problems> {
    let parts = parts();
    for home in [law::HOME, control::HOME, controller::HOME, hop::HOME] {
        for variant in Source::new(home, "home.toml").parts(&parts).load()? {
            let results = Simulation::run(&variant.scenario);
            for row in results.flows.iter().filter(|row| row.direction == "up") {
                let p99_ms = row.latency_p99_ms.unwrap_or(0.0);
                let (mbps, dropped) = (row.throughput_mbps, row.dropped_aqm_packets);
                println!(
                    "{:9} {:7} {mbps:7.3} Mbps, 99 % within {p99_ms:6.1} ms, {dropped:4} dropped",
                    variant.name, row.traffic
                );
            }
        }
    }
    Ok(())
}
