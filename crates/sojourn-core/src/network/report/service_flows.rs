//! The rows of the `service_flows` table, and what to know of service flows before trusting results.

use super::super::Simulation;
use crate::docsis::{MacCounters, Upstream};
use crate::metrics::results::ServiceFlowRow;
use crate::packet::{Direction, DropReason};
use crate::queue::SchedulerParameters;
use crate::scenario::homes::{Group, PRIMARY, ServiceFlow};

/// One row for each group of homes, service flow and direction.
pub fn rows(run: &Simulation) -> Vec<ServiceFlowRow> {
    let mut rows = Vec::new();
    for (first, group) in groups(run) {
        let flows = [&group.upstream.flows, &group.downstream.flows];
        for (direction, flows) in Direction::BOTH.into_iter().zip(flows) {
            let names = [PRIMARY].into_iter().chain(flows.keys().map(String::as_str));
            rows.extend(
                names
                    .enumerate()
                    .map(|(flow, name)| row(run, &group, first, direction, flow, name)),
            );
        }
    }
    rows
}

/// All groups, with the number of their first home.
fn groups(run: &Simulation) -> impl Iterator<Item = (usize, Group<'_>)> {
    run.scenario.groups().scan(0, |next, group| {
        let first = *next;
        *next += usize::from(group.count);
        Some((first, group))
    })
}

fn row(
    run: &Simulation,
    group: &Group,
    first: usize,
    direction: Direction,
    flow: usize,
    name: &str,
) -> ServiceFlowRow {
    let counters = run.ledger.service_flows().get(first, direction, flow);
    let dropped = |reason: DropReason| counters.dropped[reason as usize].packets;
    let homes = &run.homes[first..][..usize::from(group.count)];
    let mac = match direction {
        Direction::Up => {
            let modems = homes.iter().map(|home| home.subscriber.upstream[flow].mac_counters());
            modems.flatten().reduce(MacCounters::plus)
        }
        Direction::Down => None,
    };
    ServiceFlowRow {
        homes: group.name.to_owned(),
        service_flow: name.to_owned(),
        direction: direction.name(),
        passed_packets: counters.passed.packets,
        passed_bytes: counters.passed.bytes,
        policed_drop_packets: dropped(DropReason::Overflow),
        policed_delay_packets: counters.delayed_packets,
        aqm_dropped_packets: dropped(DropReason::Aqm),
        superseded_packets: dropped(DropReason::Superseded),
        mac_requests: mac.map(|mac| mac.requests),
        mac_grants: mac.map(|mac| mac.grants),
        mac_granted_bytes: mac.map(|mac| mac.granted_bytes),
        mac_unused_bytes: mac.map(|mac| mac.unused_bytes),
    }
}

/// What a user must know before trusting the results.
pub fn warnings(run: &Simulation) -> Vec<String> {
    let mut warnings = Vec::new();
    for (first, group) in groups(run) {
        warnings.extend(run.homes[first].subscriber.upstream.iter().flat_map(Upstream::warnings));
        let alone = "each service flow has a channel to itself";
        let down = run.cmts.as_ref().map_or(alone, |_| "the channel's queue knows weights alone");
        for (flows, reason) in [(&group.upstream.flows, alone), (&group.downstream.flows, down)] {
            let asks = |flow: &ServiceFlow| flow.minimum_mbps > 0.0 || flow.priority > 0;
            let asking = flows.iter().filter(|(_, flow)| asks(flow));
            warnings.extend(asking.map(|(name, _)| {
                format!(
                    "service flow {name} of {}: minimum_mbps and priority do nothing here, as \
                     {reason}",
                    group.name
                )
            }));
        }
    }
    warnings.extend(idle_weights(run));
    warnings
}

/// Weights that the scheduler of the shared channel does not know.
fn idle_weights(run: &Simulation) -> Option<String> {
    let scheduler = &run.scenario.cmts.as_ref()?.queue.scheduler;
    let mut weights = run.scenario.groups().flat_map(|group| group.downstream.weights());
    let is_idle = scheduler.weights().is_none() && weights.any(|weight| weight != 1.0);
    is_idle.then(|| {
        "weights of service flows do nothing here, as the scheduler of cmts.queue knows none; drr and \
         abb do"
            .to_owned()
    })
}
