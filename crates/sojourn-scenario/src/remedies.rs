//! Remedies that work: a scenario accepts them, and with them a key has an effect.

use super::file::{Source, toml_of};
use super::overlay::differences;
use super::ruled::{self, Idle, unread, unread_keys};
use super::schema::Scenario;
use sojourn_input::problem::Remedy;

/// The keys of a scenario that are set and have no effect beside others, with remedies that work.
pub fn idle_keys(scenario: &Scenario) -> Vec<Idle> {
    let given = &scenario.provisioned;
    let told = |one: Idle| match given.keys.contains(&one.path()) {
        true => one.given_by(&given.file),
        false => tried(one, scenario),
    };
    ruled::idle_keys(scenario).into_iter().map(told).collect()
}

/// The same with a remedy that the scenario accepts and with which no rule leaves the key without effect: that of its
/// reason, and of those that show then. With none, if there is no such remedy.
fn tried(mut idle: Idle, scenario: &Scenario) -> Idle {
    let mut remedy = std::mem::take(&mut idle.reason.remedy);
    while !remedy.is_empty() {
        let Some(other) = remedied(scenario, &remedy) else {
            remedy = scenario.accepted(remedy);
            break;
        };
        let mut all = [ruled::idle_keys(&other), unread_keys(&other), unread(&other)].concat();
        all.retain(|one| one.parts == idle.parts);
        let Some(next) = all.into_iter().next() else { break };
        let more = remedy.clone().with(next.reason.remedy);
        if more == remedy {
            return idle;
        }
        remedy = more;
    }
    idle.reason.remedy = remedy;
    idle
}

impl Scenario {
    /// These settings if the scenario accepts them, else none. Where it has parts from outside, which are not here to be
    /// read again, they stand.
    pub fn accepted(&self, remedy: Remedy) -> Remedy {
        let is_refused = !remedy.is_empty()
            && remedied(self, &remedy).is_none()
            && remedied(self, &Remedy::default()).is_some();
        if is_refused { Remedy::default() } else { remedy }
    }
}

/// The scenario with these settings, if it accepts them.
fn remedied(scenario: &Scenario, remedy: &Remedy) -> Option<Scenario> {
    let mut keys = serde_json::to_value(scenario).ok()?;
    let base = keys.clone();
    for home in keys["homes"].as_object_mut()?.values_mut() {
        // What homes take over changes with the scenario's.
        for key in ["upstream", "downstream", "router"] {
            if home[key].is_object() && base[key].is_object() {
                home[key] = differences(&base[key], &home[key]).unwrap_or_default();
            }
        }
    }
    let (text, sets) = (toml_of(keys), remedy.sets());
    Source::new(&text, "").sets(&sets).load_stored().ok()
}
