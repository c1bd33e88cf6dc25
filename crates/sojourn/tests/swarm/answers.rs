//! Answers on drawn networks and shipped scenarios, held against what must be true of any.

use serde_json::json;
use sojourn::results::verdict::{Facts, Rows};
use sojourn::scenario::{Roles, Scenario, Variant, load};
use sojourn::shipped::{GALLERY, SCENARIOS};

use super::oracles::{MOST_EVENTS, run};
use super::{drawn, network};
use crate::verdict::properties::{is_lawful, questions};

/// Events of a shipped scenario that is run here; longer ones are left.
const SHIPPED_EVENTS: u64 = 20_000_000;

/// Queue managers of a home's upstream.
fn queues() -> [serde_json::Value; 4] {
    [
        json!({ "limit_packets": 200 }),
        json!({ "limit_packets": 8 }),
        json!({ "law": { "kind": "codel", "target_ms": 5 } }),
        json!({ "law": { "kind": "docsis_pie" } }),
    ]
}

fn facts(scenario: &Scenario, most_events: u64) -> Option<Facts> {
    run(scenario, most_events).map(|results| Facts::of(scenario, &Rows::from(&results)))
}

/// A drawn network with each of these queue managers.
pub fn of_network(seed: u64) {
    let with = |queue| {
        let mut keys = drawn(seed);
        keys["upstream"]["queue"] = queue;
        facts(&network::scenario(&mut keys).ok()?, MOST_EVENTS)
    };
    let all: Vec<Facts> = queues().into_iter().filter_map(with).collect();
    if all.len() > 1 {
        is_lawful(&all, true);
    }
}

/// The variants of a shipped scenario. Shares of different lines compare nothing, so that they have no price.
pub fn of_shipped(seed: u64) {
    let all: Vec<_> = SCENARIOS.iter().chain(GALLERY).collect();
    let (name, text) = all[seed as usize % all.len()];
    let sets = ["duration_s=20".to_owned()];
    let variants = load(text, name, &sets).expect("a shipped scenario is valid");
    let run = |variant: &Variant| {
        let line = Roles::of(&variant.scenario).line;
        Some((line, facts(&variant.scenario, SHIPPED_EVENTS)?))
    };
    let (lines, facts): (Vec<u64>, Vec<Facts>) = variants.iter().take(6).filter_map(run).unzip();
    for settings in questions(&facts).iter().filter(|settings| settings.len() > 1) {
        let own: Vec<Facts> = settings.iter().map(|one| facts[*one].clone()).collect();
        is_lawful(&own, settings.iter().all(|one| lines[*one] == lines[settings[0]]));
    }
}
