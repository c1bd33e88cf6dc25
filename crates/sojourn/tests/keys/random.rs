//! Keys of random networks.

use sojourn::input::problem::{Code, Warning};
use sojourn::scenario::Scenario;

use super::{tables, take};
use crate::swarm::oracles::{self, MOST_EVENTS};
use crate::swarm::{Reported, drawn, network};

/// The tables, if the network needs no more events.
fn tables_of(scenario: &Scenario) -> Option<String> {
    oracles::run(scenario, MOST_EVENTS).map(tables)
}

/// Without the keys of which warnings say that they have no effect all tables are the same.
fn idle_keys_are_idle(seed: u64) {
    let mut keys = drawn(seed);
    let Ok(scenario) = network::scenario(&mut keys) else { return };
    let _reported = Reported(&keys);
    // What counts in the turns of flows alone has an effect on these.
    let is_idle = |one: &Warning| {
        let all = one.message.contains("has no effect ") && !one.message.contains("in the turns");
        one.code == Code::IdleKey && all
    };
    let idle: Vec<_> = sojourn::warnings(&scenario).into_iter().filter(is_idle).collect();
    let mut bare = keys.clone();
    idle.iter().for_each(|one| take(&mut bare, &one.path));
    let Ok(without) = network::strictly(&bare) else { return };
    if idle.is_empty() {
        return;
    }
    let (Some(with), Some(without)) = (tables_of(&scenario), tables_of(&without)) else { return };
    assert!(with == without, "{:?}", idle.iter().map(|one| &one.message).collect::<Vec<_>>());
}

mod at_random {
    use sojourn_testing::rounds;

    #[test]
    fn swarm_keys_without_effect_have_none() {
        rounds(40, super::idle_keys_are_idle);
    }
}
