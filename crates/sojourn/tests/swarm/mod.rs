//! Swarm tests: random networks of all parts, held against what must be true of any network.

pub mod accounts;
#[cfg(test)]
mod answers;
pub mod network;
pub mod oracles;
pub mod order;
pub mod pairs;

use crate::queue_kit::drawer::Choices;
use serde_json::Value;
use sojourn::engine::rng::Rng;
use sojourn::scenario::Scenario;

/// Says on a failure what it was that failed.
pub struct Reported<'a>(pub &'a Value);

impl Drop for Reported<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", toml::to_string(self.0).expect("it is a table"));
        }
    }
}

pub fn drawn(seed: u64) -> Value {
    network::keys(Choices::Random(Rng::named(seed, "network")))
}

/// Draws a network, and holds it against an oracle if it is accepted.
fn held(seed: u64, oracle: impl Fn(&Value, &Scenario)) {
    let mut keys = drawn(seed);
    if let Ok(scenario) = network::scenario(&mut keys) {
        let reported = Reported(&keys);
        oracle(reported.0, &scenario);
    }
}

mod at_random {
    use super::{accounts, held, oracles, order, pairs};
    use sojourn_testing::rounds;

    #[test]
    fn swarm_keeps_to_delays_rates_and_what_is_asked_for() {
        rounds(40, |seed| {
            held(seed, |_, scenario| oracles::bounds(scenario, oracles::MOST_EVENTS))
        });
    }

    #[test]
    fn swarm_does_not_change_with_what_is_not_used() {
        rounds(25, |seed| held(seed, oracles::unused_parts));
    }

    #[test]
    fn swarm_reports_what_its_packets_say() {
        rounds(40, |seed| held(seed, |_, scenario| accounts::agree_with_the_trace(scenario)));
    }

    #[test]
    fn swarm_does_not_change_with_what_is_recorded() {
        rounds(20, |seed| {
            held(seed, |_, scenario| {
                pairs::recording(scenario);
                pairs::sampling(scenario);
            })
        });
    }

    #[test]
    fn swarm_does_not_change_with_what_cannot_act() {
        rounds(20, |seed| {
            held(seed, pairs::nothing_that_acts);
            pairs::idle_queue_managers(seed);
        });
    }

    #[test]
    fn swarm_does_not_change_with_steps_and_looks() {
        rounds(20, |seed| held(seed, |_, scenario| crate::stepped::is_as_whole(scenario, seed)));
    }

    #[test]
    fn swarm_of_answers_is_lawful() {
        rounds(6, |seed| {
            super::answers::of_network(seed);
            if std::env::var_os("FUZZ_SECONDS").is_some() {
                super::answers::of_shipped(seed);
            }
        });
    }

    #[test]
    fn swarm_of_streams_is_in_order() {
        rounds(20, order::streams);
    }

    #[test]
    fn swarm_scales_with_rates_and_times() {
        rounds(60, oracles::scaling);
    }
}

/// Bytes decide as well as random numbers; after the last one come zeros.
#[test]
fn bytes_are_a_network_too() {
    let bytes: Vec<u8> = (0..=255).cycle().take(5000).collect();
    let mut kinds = std::collections::BTreeSet::new();
    for start in (0..4000).step_by(13) {
        let keys = network::keys(Choices::of(&bytes[start..]));
        kinds.insert(keys["traffic"]["a"]["kind"].to_string());
    }
    assert!(kinds.len() >= 3, "{kinds:?}");
    assert!(network::keys(Choices::of(&[]))["traffic"].is_object());
}

/// A fair share of the drawn networks is accepted, or the oracles would see nothing; and all parts are.
#[test]
fn many_networks_are_accepted() {
    let (mut accepted, mut refused) = (0, std::collections::BTreeMap::<String, u32>::new());
    let mut seen = String::new();
    for seed in 0..250 {
        match network::scenario(&mut drawn(seed)) {
            Ok(scenario) => {
                accepted += 1;
                seen += &sojourn::scenario::to_toml(&scenario);
            }
            Err(problem) => {
                let key = problem.split(": ").nth(1).unwrap_or_default();
                *refused.entry(key.to_owned()).or_default() += 1;
            }
        }
    }
    assert!(accepted >= 125, "{accepted} of 250; refused: {refused:?}");
    let kinds = [
        "stream",
        "transfer",
        "web",
        "web_sessions",
        "video",
        "torrent",
        "on_off",
        "sfq",
        "fq",
        "drr",
        "wfq",
        "scfq",
    ];
    let more = [
        "abb",
        "dualq",
        "low_latency",
        "codel",
        "docsis_pie",
        "pie",
        "pi2",
        "red",
        "fifo",
        "fibre",
    ];
    let modems = ["single_queue", "two_queues", "shared_channel", "link"];
    let all = kinds.iter().chain(&more).chain(&modems);
    let missing: Vec<_> =
        all.filter(|kind| !seen.contains(&format!("kind = \"{kind}\""))).collect();
    assert!(missing.len() <= 4, "not among those that are accepted: {missing:?}");
    for word in ["dialect = \"ns2\"", "dialect = \"rfc\"", "router", "core.inner"] {
        assert!(seen.contains(word), "no {word} among those that are accepted");
    }
}
