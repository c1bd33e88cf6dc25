//! The ledger of a run, as its scenario requires it.

use super::ledger::Ledger;
use super::ledger::account::Rates;
use sojourn_access::{Downstream, Upstream};
use sojourn_engine::packet::NQB;
use sojourn_engine::record::{DelayBook, ServiceFlowBook};
use sojourn_engine::record::{Recorder, Trace};
use sojourn_engine::units::Time;
use sojourn_scenario::Scenario;

/// The rates of the service of each traffic entry, up and down.
pub(super) fn rates(scenario: &Scenario) -> Vec<[Rates; 2]> {
    let of_entries = scenario.traffic.values().map(|entry| {
        let group = scenario.group(scenario.group_of(entry));
        let homes = f64::from(group.count);
        [group.upstream.terms(), group.downstream.terms()].map(|terms| Rates {
            sustained_mbps: homes * terms.sustained_mbps,
            peak_mbps: homes * terms.peak_mbps,
        })
    });
    of_entries.collect()
}

/// An empty ledger for a run of this scenario that ends then.
pub(super) fn ledger(scenario: &Scenario, end: Time) -> Ledger {
    let rates = rates(scenario);
    let groups = scenario.groups().map(|group| {
        let (Upstream { flows: up, .. }, Downstream { flows: down, .. }) =
            (group.upstream, group.downstream);
        (group.count, [1 + up.len(), 1 + down.len()])
    });
    let metrics = &scenario.metrics;
    let trace = Trace::new(metrics.packet_trace, metrics.modem_trace);
    let from = Time::from_secs_f64(metrics.from_s);
    let delays = DelayBook::new(from, rates.len(), metrics.modem_trace);
    let recorder = Recorder::new(ServiceFlowBook::new(groups), delays, trace, end);
    let mut ledger = Ledger::new(recorder, &rates, from, metrics.connections.into());
    for (number, entry) in scenario.traffic.values().enumerate() {
        let homes = scenario.group(scenario.group_of(entry)).count.into();
        let first_home = scenario.first_home_of(entry);
        if entry.app.parameters().plays_adaptively() {
            ledger.play_calls(number, first_home, homes);
        }
        if entry.app.parameters().sends_frames() {
            ledger.watch_frames(number, first_home, homes);
        }
        if entry.app.parameters().sends_inputs() {
            ledger.watch_inputs(number, first_home, homes);
        }
        if entry.labels.dscp == NQB {
            ledger.bound_nqb(number, first_home, homes);
        }
    }
    ledger
}
