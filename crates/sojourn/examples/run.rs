//! Runs a scenario with and without a queue manager, and prints what a game notices of an upload.
//!
//! `cargo run --release -p sojourn --example run`

use sojourn::input::problem::Problems;
use sojourn::{Simulation, load};

const HOME: &str = "
    duration_s = 20
    upstream.sustained_mbps = 20
    downstream.sustained_mbps = 200
    servers.near.delay_ms = 10

    [traffic]
    game = { kind = 'stream', purpose = 'game' }
    upload = { kind = 'transfer', direction = 'up', start_s = 5 }

    [compare]
    drop-tail = {}
    DOCSIS-PIE = { upstream.queue.law = { kind = 'docsis_pie' } }
";

fn main() -> Result<(), Problems> {
    // What `--set` does on the command line.
    let sets = ["seed=7".to_owned()];
    for variant in load(HOME, "home.toml", &sets)? {
        let results = Simulation::run(&variant.scenario);
        println!("{}", variant.name);
        for row in &results.flows {
            let delay_ms = row.latency_p99_ms.unwrap_or(0.0);
            println!(
                "  {:6} {:4}  {:7.3} Mbps, 99 % within {delay_ms:6.1} ms",
                row.traffic, row.direction, row.throughput_mbps
            );
        }
    }
    Ok(())
}
