//! Warnings of ECN that does not come to pass: a peer without it, a receiver that reports nothing, or a path that
//! rewrites it.

use sojourn_input::fault;
use sojourn_input::problem::Warning;
use sojourn_scenario::Scenario;

/// All warnings.
pub(super) fn warnings(scenario: &Scenario) -> Vec<Warning> {
    let of_entries = scenario.traffic.iter().flat_map(|(name, entry)| {
        let faults = scenario.ecn_faults(name, entry).into_iter();
        faults.map(move |fault| {
            let (key, remedy) = (&fault.key, fault.remedy);
            fault!(EcnLost, key, remedy =>
                "traffic.{name} uses ECN, and {key} is {found}: {effect}; set {remedy:#}",
                found = fault.found, effect = fault.effect)
        })
    });
    of_entries.collect()
}
