//! What fuzz tests share: sequences of steps, each from a seed.

use std::time::{Duration, Instant};

fn from_environment(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(value) => value.parse().unwrap_or_else(|_| panic!("{name}: found {value}")),
        Err(_) => default,
    }
}

/// Runs one sequence after the other for `FUZZ_SECONDS`, from that of `FUZZ_SEED` on; `sequence` says
/// how many steps of what kind it had.
pub fn run(steps: &str, mut sequence: impl FnMut(u64) -> u64) {
    let first = from_environment("FUZZ_SEED", 0);
    let span = Duration::from_secs(from_environment("FUZZ_SECONDS", 3));
    let start = Instant::now();
    let (mut seed, mut count) = (first, 0);
    while seed == first || start.elapsed() < span {
        count += sequence(seed);
        seed += 1;
    }
    println!("seeds {first} to {}: {} sequences, {count} {steps}", seed - 1, seed - first);
}
