//! A run that is stopped, looked at and changed: keys of its scenario, while it goes on.

use serde_json::Value;

use super::Simulation;
use super::accounts::rates;
use super::hops::Placed;
use sojourn_access::AccessNetwork;
use sojourn_engine::hop::Bottleneck;
use sojourn_engine::packet::Direction;
use sojourn_engine::queue::default_limit_bytes;
use sojourn_engine::units::{BitRate, Time};
use sojourn_input::fault;
use sojourn_input::problem::{Problems, Warning};
use sojourn_results::metrics::Change;
use sojourn_scenario::live::{LiveKeys, Place};

/// What a run was told to change, and what it may.
#[derive(Default)]
pub(super) struct Changed {
    /// Found when a key is first changed.
    keys: Option<Box<LiveKeys>>,
    pub changes: Vec<Change>,
}

/// So many keys are named in a warning.
const MOST_NAMED: usize = 3;

impl Simulation {
    /// Changes keys of the scenario from now on, all of them or none: those that the schema marks with `x-live`, where
    /// the scenario gives them a value. What is derived from them follows. A packet whose sending has been fixed is sent
    /// at the old rate, and token buckets keep their tokens.
    ///
    /// # Errors Keys that cannot change, and values that the scenario may not have; nothing has changed then.
    pub fn set(&mut self, changes: &[(String, Value)]) -> Result<(), Problems> {
        let refused = |faults: sojourn_input::problem::Faults| {
            let problems = faults.into_iter().map(|fault| fault.of("change in a run"));
            Problems::of(problems).expect("a refusal has a fault")
        };
        if self.now >= self.end {
            let end_s = self.end.secs_f64();
            let fault = fault!(NotAllowed, "" =>
                "the run is over at {end_s} s; allowed: changes before its end", end_s);
            return Err(refused(fault.into()));
        }
        let mut changes = changes.to_vec();
        let Self { scenario, changed, .. } = self;
        let keys = changed.keys.get_or_insert_with(|| Box::new(LiveKeys::of(scenario)));
        let mut places = keys.change(scenario, &mut changes).map_err(refused)?;
        let at_ps = self.now.ps();
        let noted = &mut self.changed.changes;
        let call = 1 + noted.last().map_or(0, |last| last.call);
        noted.extend(changes.into_iter().map(|(key, value)| Change { at_ps, call, key, value }));
        places.dedup();
        places.iter().for_each(|place| self.retune(place));
        Ok(())
    }

    /// The keys that may change in this run.
    pub fn live_keys(&self) -> LiveKeys {
        LiveKeys::of(&self.scenario)
    }

    /// The scenario as it is now.
    pub fn scenario(&self) -> &sojourn_scenario::Scenario {
        &self.scenario
    }

    fn retune(&mut self, place: &Place) {
        match place {
            Place::Service(group, direction) => self.retune_service(*group, *direction),
            Place::Router(group, direction) => self.retune_routers(*group, *direction),
            Place::Core(number, direction) => self.retune_core(*number, *direction),
            Place::Server(number) => self.retune_server(*number),
            Place::Traffic(number) => {
                let Self { instances, scenario, .. } = self;
                let app = &scenario.traffic[*number].app;
                let own =
                    instances.iter_mut().filter(|of| usize::from(of.owner.traffic) == *number);
                own.for_each(|of| of.retune(app));
            }
        }
    }

    fn retune_service(&mut self, group: Option<usize>, direction: Direction) {
        let Self { now, scenario, access, ledger, .. } = self;
        let mut home = 0;
        for (number, of) in scenario.groups().enumerate() {
            for _ in 0..of.count {
                if group.is_none_or(|group| group == number) {
                    access.retune(*now, home, &of, direction);
                }
                home += 1;
            }
        }
        ledger.aim(&rates(scenario));
    }

    fn retune_routers(&mut self, group: Option<usize>, direction: Direction) {
        let Self { scenario, hops, wake, instances, .. } = self;
        for placed in hops[direction as usize].all_mut() {
            let Some(home) = placed.home else { continue };
            let number = scenario.group_number_of_home(home);
            if group.is_none_or(|group| group == number)
                && let Some(spec) = scenario.router(number, direction)
            {
                retune_bottleneck(placed, spec);
                let mut of_home = instances.iter().filter(|of| usize::from(of.owner.home) == home);
                let set = of_home.find_map(|of| of.shaped.as_ref()?.rate(direction));
                if let Some(rate) = set {
                    placed.hop.shape(rate); // as its controller has it
                }
                wake.set(placed.stage, placed.hop.next_wake());
            }
        }
    }

    fn retune_core(&mut self, number: usize, direction: Direction) {
        let Self { scenario, hops, wake, .. } = self;
        let Some(spec) = scenario.core[number].of(direction) else { return };
        let before = scenario.core.values().take(number);
        let before = before.filter(|link| link.of(direction).is_some()).count();
        let placed = hops[direction as usize].core_mut(before);
        retune_bottleneck(placed, spec);
        wake.set(placed.stage, placed.hop.next_wake());
    }

    fn retune_server(&mut self, number: usize) {
        let Self { scenario, hops, wake, .. } = self;
        let server = &scenario.servers[number];
        let rate = BitRate::from_mbps(server.rate_mbps);
        for hops in hops {
            let placed = hops.server_mut(number);
            placed.hop.retune(Some(rate), server.queue.as_ref(), default_limit_bytes(rate));
            wake.set(placed.stage, placed.hop.next_wake());
        }
    }

    /// A run with other settings than its scenario says so.
    pub(super) fn warning_of_changes(&self) -> Option<Warning> {
        let changes = &self.changed.changes;
        let (first, last) = (changes.first()?, changes.last()?);
        let mut keys: Vec<&str> = changes.iter().map(|change| &*change.key).collect();
        keys.sort_unstable();
        keys.dedup();
        let more = keys.len().saturating_sub(MOST_NAMED);
        let named = keys.iter().take(MOST_NAMED).copied().collect::<Vec<_>>().join(", ");
        let named = if more > 0 { format!("{named} and {more} more") } else { named };
        let [from_s, to_s] = [first, last].map(|change| Time::from_ps(change.at_ps).secs_f64());
        let (count, when) = match changes.len() {
            1 => ("once".to_owned(), format!("at {from_s} s")),
            count => (format!("{count} times"), format!("from {from_s} to {to_s} s")),
        };
        Some(fault!(ChangedInRun, "" =>
            "settings changed {count} in the run, {when}: {named}; the results are of the settings with these changes",
            count, when, named))
    }
}

fn retune_bottleneck(placed: &mut Placed, spec: &Bottleneck) {
    let rate = spec.rate_mbps.map(BitRate::from_mbps);
    placed.hop.retune(rate, Some(&spec.queue), spec.default_limit_bytes());
}
