//! What the tests of several packages use: tests at random, and what a test found, kept as a text file.
//!
//! Tests at random have the same cases in every run, or with `FUZZ_SEED` those of another seed.
//!
//! With `FUZZ_SECONDS` each test goes on for so long, with the seeds that follow. A failure prints the
//! `FUZZ_SEED` that reproduces it.

use std::path::Path;
use std::time::{Duration, Instant};

#[doc(hidden)]
pub use proptest;
use proptest::test_runner::{Config, RngSeed};

fn from_environment(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    let number = value.trim().parse();
    Some(number.unwrap_or_else(|_| panic!("{name}: found {value}; allowed: a whole number")))
}

/// Says on a failure how to come back to it.
struct Round(u64);

impl Drop for Round {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("FUZZ_SEED={} reproduces it", self.0);
        }
    }
}

/// Runs what so many seeds give, or as many as there is time for in `FUZZ_SECONDS`.
pub fn rounds(count: u64, mut round: impl FnMut(u64)) {
    let first = from_environment("FUZZ_SEED").unwrap_or(0);
    let span = from_environment("FUZZ_SECONDS").map(Duration::from_secs);
    let start = Instant::now();
    let mut done = 0;
    while done == 0 || span.map_or(done < count, |span| start.elapsed() < span) {
        let seed = Round(first.wrapping_add(done));
        round(seed.0);
        done += 1;
    }
    println!("{:.1} s for {done} from seed {first} on", start.elapsed().as_secs_f64());
}

/// Runs a property on so many cases of each seed.
pub fn property(cases: u32, mut run: impl FnMut(Config)) {
    rounds(1, |seed| {
        let rng_seed = RngSeed::Fixed(seed);
        run(Config { cases, rng_seed, failure_persistence: None, ..Config::default() });
    });
}

/// Properties, each a test of so many cases: `at_random! { 60; #[test] fn name(x in 0..9) { .. } }`.
#[macro_export]
macro_rules! at_random {
    ($cases:literal; $($(#[$meta:meta])* fn $name:ident($($drawn:tt)*) $body:block)+) => {
        mod at_random {
            use super::*;
            $($(#[$meta])* fn $name() {
                $crate::property($cases, |config| {
                    $crate::proptest::proptest!(config, |($($drawn)*)| $body);
                });
            })+
        }
    };
}

/// Asserts that `now` is what `tests/snapshots/FILE` of a package says, and prints the lines that are not. With
/// `UPDATE_SNAPSHOTS=1` the file is rewritten first.
#[track_caller]
pub fn compare_with_snapshot(package: &str, file: &str, now: &str) {
    let file = Path::new(package).join("tests/snapshots").join(file);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, now).unwrap();
    }
    let then = std::fs::read_to_string(&file).expect("run with UPDATE_SNAPSHOTS=1 once");
    let differing = then.lines().zip(now.lines()).filter(|(then, now)| then != now);
    let mut changed = 0;
    for (then, now) in differing {
        println!("- {then}\n+ {now}");
        changed += 1;
    }
    let file = file.display();
    assert_eq!(changed, 0, "lines of {file} have changed; the head of this test says what to do");
    assert_eq!(now.lines().count(), then.lines().count(), "lines of {file}");
}

/// Asserts that the text is what `tests/snapshots/FILE` of this package says: `assert_snapshot!(file, now)`.
#[macro_export]
macro_rules! assert_snapshot {
    ($file:expr, $now:expr) => {
        $crate::compare_with_snapshot(env!("CARGO_MANIFEST_DIR"), $file, $now)
    };
}
