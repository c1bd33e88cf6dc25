//! The rows of the `service_flows` table, and what to know of service flows before trusting results.

use indexmap::IndexMap;

use super::super::Simulation;
use crate::docsis::{MacCounters, Upstream};
use crate::metrics::results::ServiceFlowRow;
use crate::packet::{Direction, DropReason};
use crate::queue::{SchedulerParameters, Unit};
use crate::scenario::Scenario;
use crate::scenario::address::{Address, Network};
use crate::scenario::channel::UpstreamChannel;
use crate::scenario::homes::{Classifier, Group, PRIMARY, ServiceFlow};
use crate::scenario::schema::{Downstream, ModemSpec};

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
            let modems = homes.iter().map(|home| run.mac_counters(home, flow));
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
        contention_dropped_packets: dropped(DropReason::Contention),
        mac_requests: mac.map(|mac| mac.requests),
        mac_collisions: mac.map(|mac| mac.collisions),
        mac_grants: mac.map(|mac| mac.grants),
        mac_granted_bytes: mac.map(|mac| mac.granted_bytes),
        mac_unused_bytes: mac.map(|mac| mac.unused_bytes),
    }
}

/// Above this many of the requests sent in contention lost, modems do little but contend.
const MANY_COLLISIONS: f64 = 0.5;

/// What a user must know of the shared channel after a run.
pub fn crowding(run: &Simulation) -> Option<String> {
    let counters = run.channel.as_ref()?.counters();
    let lost = counters.collisions as f64 / counters.contention_requests.max(1) as f64;
    (lost > MANY_COLLISIONS).then(|| {
        format!(
            "{:.0} % of the requests in contention collided: fewer do with more \
             upstream_channel.request_opportunities or a greater upstream_channel.backoff_end",
            100.0 * lost
        )
    })
}

/// Is the shared channel there for nothing, or promised to more than it carries?
fn channel_warning(run: &Simulation) -> Option<String> {
    let Some(channel) = &run.channel else {
        let is_default = run.scenario.upstream_channel == UpstreamChannel::default();
        return (!is_default).then(|| {
            "upstream_channel does nothing, as no modem is of kind shared_channel".to_owned()
        });
    };
    let shared = groups(run).filter(|(_, g)| g.upstream.modem == ModemSpec::SharedChannel);
    let promised = shared.map(|(_, group)| {
        let flows = group.upstream.service_flows();
        f64::from(group.count) * flows.iter().map(|flow| flow.minimum_mbps).sum::<f64>()
    });
    overbooked("upstream", promised.sum(), channel.greatest_mbps())
}

/// Is more promised than the channel carries?
fn overbooked(way: &str, promised_mbps: f64, most_mbps: f64) -> Option<String> {
    (promised_mbps > most_mbps).then(|| {
        format!(
            "minimum_mbps is {promised_mbps} in all on the {way} channel, which carries at most \
             {most_mbps:.1}"
        )
    })
}

/// Minimum reserved rates that the scheduler of the shared channel does not know, or that it cannot keep.
fn downstream_promises(run: &Simulation) -> Option<String> {
    let cmts = run.scenario.cmts.as_ref()?;
    let minimum_mbps = run.scenario.of_downstream_flows(Downstream::minimum_mbps);
    let promised_mbps: f64 = minimum_mbps.iter().flatten().sum();
    let is_kept = cmts.unit == Unit::ServiceFlow && cmts.queue.scheduler.keeps_promises();
    if promised_mbps > 0.0 && !is_kept {
        return Some(
            "minimum_mbps of service flows does nothing downstream: of the schedulers of cmts.queue only \
             drr keeps it, with cmts.unit = \"service_flow\""
                .to_owned(),
        );
    }
    let most_mbps = cmts.channel.rate_mbps() * f64::from(cmts.channel.count());
    overbooked("downstream", promised_mbps, most_mbps)
}

/// What a user must know before a run.
pub fn warnings(run: &Simulation) -> Vec<String> {
    let mut warnings: Vec<_> = channel_warning(run).into_iter().collect();
    for (first, group) in groups(run) {
        warnings.extend(run.homes[first].subscriber.upstream.iter().flat_map(Upstream::warnings));
        let shares = group.upstream.modem == ModemSpec::SharedChannel;
        let (up, down) = (group.upstream, group.downstream);
        let own = (up.minimum_mbps, up.priority);
        warnings.extend(idle_terms("upstream", own, &up.flows, [shares, shares]));
        let own = (down.minimum_mbps, down.priority);
        warnings.extend(idle_terms("downstream", own, &down.flows, [run.cmts.is_some(); 2]));
    }
    warnings.extend(idle_weights(run));
    warnings.extend(downstream_promises(run));
    warnings.extend(strange_addresses(&run.scenario));
    warnings
}

/// Classifiers that fit nothing, as nobody has such an address.
fn strange_addresses(scenario: &Scenario) -> Vec<String> {
    let devices = scenario.traffic.values().filter_map(|entry| entry.labels.address);
    let devices = ("traffic", devices.collect::<Vec<_>>());
    let servers = scenario.servers.values().filter_map(|server| server.address);
    let servers = ("servers", servers.collect());
    let mut warnings = Vec::new();
    for group in scenario.groups() {
        for (way, flows, from, to) in [
            ("upstream", &group.upstream.flows, &devices, &servers),
            ("downstream", &group.downstream.flows, &servers, &devices),
        ] {
            for (name, flow) in flows {
                for (number, Classifier { source, destination, .. }) in (0..).zip(&flow.classifiers)
                {
                    let path = format!("{way}.flows.{name}.match.{number}");
                    warnings.extend(strange_address(&format!("{path}.source"), source, from));
                    warnings.extend(strange_address(
                        &format!("{path}.destination"),
                        destination,
                        to,
                    ));
                }
            }
        }
    }
    warnings
}

fn strange_address(
    path: &str,
    network: &Option<Network>,
    (table, addresses): &(&str, Vec<Address>),
) -> Option<String> {
    let network = (*network)?;
    let is_strange = !addresses.iter().any(|address| network.holds(*address));
    is_strange.then(|| format!("{path} fits nothing: no address of {table} is in {network}"))
}

/// Minimum reserved rates and priorities, of the primary flow and of others, of which the channel of their
/// direction `knows` nothing.
fn idle_terms(
    way: &str,
    own: (f64, u8),
    flows: &IndexMap<String, ServiceFlow>,
    knows: [bool; 2],
) -> Vec<String> {
    let further = flows
        .iter()
        .map(|(name, flow)| (format!("{way}.flows.{name}"), (flow.minimum_mbps, flow.priority)));
    let mut warnings = Vec::new();
    for (path, (minimum_mbps, priority)) in [(way.to_owned(), own)].into_iter().chain(further) {
        let set = [("minimum_mbps", minimum_mbps > 0.0), ("priority", priority > 0)];
        for ((key, is_set), knows) in set.into_iter().zip(knows) {
            if is_set && !knows {
                warnings.push(format!("{path}.{key} does nothing on this channel"));
            }
        }
    }
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
