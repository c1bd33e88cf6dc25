//! The rows of the `service_flows` table, and what to know of service flows before trusting results.

use super::super::Simulation;
use sojourn_access::AccessNetwork;
use sojourn_access::Classifier;
use sojourn_access::Group;
use sojourn_access::docsis::MacCounters;
use sojourn_access::docsis::SchedulingService;
use sojourn_access::{PRIMARY, flow_path};
use sojourn_engine::address::{Address, Network};
use sojourn_engine::aqm::AqmSpec;
use sojourn_engine::packet::{Direction, DropReason};
use sojourn_input::fault;
use sojourn_input::problem::Warning;
use sojourn_results::metrics::rows::ServiceFlowRow;
use sojourn_scenario::Scenario;

/// One row for each group of homes, service flow and direction.
pub(crate) fn rows(run: &Simulation, macs: &[Option<MacCounters>]) -> Vec<ServiceFlowRow> {
    let (mut rows, mut macs) = (Vec::new(), macs.iter());
    for (first, group) in groups(run) {
        let flows = [&group.upstream.flows, &group.downstream.flows];
        for (direction, flows) in Direction::BOTH.into_iter().zip(flows) {
            let names = [PRIMARY].into_iter().chain(flows.keys().map(String::as_str));
            for (flow, name) in names.enumerate() {
                let mac = (direction == Direction::Up).then(|| *macs.next()?).flatten();
                rows.push(row(run, &group, (first, direction, flow), name, mac));
            }
        }
    }
    rows
}

/// The counters of the MAC of each upstream service flow, all homes of a group together.
pub(crate) fn macs(run: &Simulation) -> Vec<Option<MacCounters>> {
    let mut macs = Vec::new();
    for (first, group) in groups(run) {
        for flow in 0..=group.upstream.flows.len() {
            let homes = first..first + usize::from(group.count);
            let modems = homes.filter_map(|home| run.access.mac_counters(home, flow));
            macs.push(modems.reduce(MacCounters::plus));
        }
    }
    macs
}

/// All groups, with the number of their first home.
fn groups(run: &Simulation) -> impl Iterator<Item = (usize, Group<'_>)> {
    run.scenario.groups().scan(0, |next, group| {
        let first = *next;
        *next += usize::from(group.count);
        Some((first, group))
    })
}

fn has_proactive_grants(group: &Group, flow: usize) -> bool {
    let further = group.upstream.flows.values().map(|flow| &flow.scheduling);
    let service = [&group.upstream.scheduling].into_iter().chain(further).nth(flow);
    matches!(service, Some(SchedulingService::ProactiveGrants(_)))
}

fn row(
    run: &Simulation,
    group: &Group,
    (first, direction, flow): (usize, Direction, usize),
    name: &str,
    mac: Option<MacCounters>,
) -> ServiceFlowRow {
    let counters = run.ledger.recorder.service_flows().get(first, direction, flow);
    let dropped = |reason: DropReason| counters.dropped[reason as usize].packets;
    ServiceFlowRow {
        homes: group.name.to_owned(),
        service_flow: name.to_owned(),
        direction: direction.name(),
        forwarded_packets: counters.forwarded.packets,
        forwarded_bytes: counters.forwarded.bytes,
        policed_drop_packets: dropped(DropReason::Overflow),
        policed_delay_packets: counters.delayed_packets,
        dropped_aqm_packets: dropped(DropReason::Aqm),
        marked_packets: counters.marked_packets,
        superseded_packets: dropped(DropReason::Superseded),
        contention_dropped_packets: dropped(DropReason::Contention),
        mac_requests: mac.map(|mac| mac.requests),
        mac_collisions: mac.map(|mac| mac.collisions),
        mac_grants: mac.map(|mac| mac.grants),
        mac_granted_bytes: mac.map(|mac| mac.granted_bytes),
        mac_unused_bytes: mac.map(|mac| mac.unused_bytes),
        mac_unused_proactive_bytes: mac
            .filter(|_| has_proactive_grants(group, flow))
            .map(|mac| mac.unused_proactive_bytes),
    }
}

/// Further service flows that no packet took, though its homes have traffic.
pub(super) fn unused(scenario: &Scenario, rows: &[ServiceFlowRow]) -> Vec<Warning> {
    let strange = strange_addresses(scenario);
    let mut warnings = Vec::new();
    for (number, group) in scenario.groups().enumerate() {
        let is_own = |row: &&ServiceFlowRow| {
            let carried = row.forwarded_packets
                + row.policed_drop_packets
                + row.dropped_aqm_packets
                + row.superseded_packets
                + row.contention_dropped_packets;
            row.homes == group.name && row.service_flow != PRIMARY && carried == 0
        };
        let has_traffic = scenario.traffic.values().any(|entry| scenario.group_of(entry) == number);
        let own = rows.iter().filter(|row| has_traffic && is_own(row));
        warnings.extend(own.filter_map(|row| {
            let way = Direction::BOTH.into_iter().find(|way| way.name() == row.direction)?;
            let path = format!("{}.match", flow_path(way.stream(), &row.service_flow));
            let is_said = strange.iter().any(|one| one.path.contains(&path));
            (!is_said).then(|| {
                group.own(fault!(UnusedFlow, &path =>
                    "{path} met no packet, so the keys of its service flow have no effect: change it, or leave the flow out"))
            })
        }));
    }
    warnings
}

/// Laws of service flows that dropped and marked nothing, since most of what goes in their loaded direction takes others.
pub(super) fn passed_by(scenario: &Scenario, rows: &[ServiceFlowRow]) -> Vec<Warning> {
    let ways = scenario.groups().enumerate().flat_map(|one| Direction::BOTH.map(|way| (one, way)));
    let mut warnings = Vec::new();
    for ((number, group), way) in ways {
        let (up, down) = (group.upstream, group.downstream);
        let (has_laws, primary, flows) = match way {
            Direction::Up => (up.aqm, &up.queue, &up.flows),
            Direction::Down => (down.aqm && scenario.cmts.is_none(), &down.queue, &down.flows),
        };
        let own = scenario.traffic.values().filter(|entry| scenario.group_of(entry) == number);
        let is_loaded = own.map(|entry| &entry.app).any(|app| app.loads(way));
        let is_own = |row: &&ServiceFlowRow| row.homes == group.name && row.direction == way.name();
        let rows: Vec<_> = rows.iter().filter(is_own).collect();
        let all: u64 = rows.iter().map(|row| row.forwarded_bytes).sum();
        let Some(most) = rows.iter().max_by_key(|row| row.forwarded_bytes) else { continue };
        let path = |name: &str| {
            let name = if name == PRIMARY { "" } else { name };
            format!("{}.queue.law", flow_path(way.stream(), name))
        };
        let laws = [primary].into_iter().chain(flows.values().map(|flow| &flow.queue));
        for (row, queue) in rows.iter().zip(laws).filter(|_| has_laws && is_loaded) {
            let acted = row.dropped_aqm_packets + row.marked_packets > 0;
            let is_named = row.service_flow != PRIMARY && row.forwarded_packets == 0;
            let is_passed_by = 2 * row.forwarded_bytes < all;
            if queue.law == AqmSpec::default() || acted || is_named || !is_passed_by {
                continue;
            }
            let [path, other] =
                [&row.service_flow, &most.service_flow].map(|name| path(name.as_str()));
            let percent = 100.0 * row.forwarded_bytes as f64 / all as f64;
            warnings.push(group.own(fault!(AqmNeverActed, path.as_str() =>
                "{path}: {law} dropped and marked nothing, for its service flow carried {percent:.1} % of the bytes \
                 {way}: most take that of {other}",
                path, law = queue.law.name(), percent, way = way.name(), other)));
        }
    }
    warnings
}

/// Classifiers that fit nothing, as nobody has such an address.
pub(crate) fn strange_addresses(scenario: &Scenario) -> Vec<Warning> {
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
                    let path = format!("{}.match.{number}", flow_path(way, name));
                    let both = [("source", source, from), ("destination", destination, to)];
                    let strange = both.into_iter().filter_map(|(key, network, addresses)| {
                        strange_address(&format!("{path}.{key}"), network, addresses)
                    });
                    warnings.extend(strange.map(|one| group.own(one)));
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
) -> Option<Warning> {
    let network = (*network)?;
    let is_strange = !addresses.iter().any(|address| network.holds(*address));
    is_strange.then(|| {
        fault!(UnknownAddress, path =>
            "{path} fits nothing: no address of {table} is in {network}", network = network.to_string())
    })
}
