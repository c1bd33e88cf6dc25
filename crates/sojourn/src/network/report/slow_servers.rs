//! Warnings of servers whose link is no faster than a service: what fills the service then waits before that link, where
//! nothing limits the queue and no table shows it.

use std::collections::BTreeSet;

use sojourn_engine::dialect::Dialect;
use sojourn_engine::hop::Bottleneck;
use sojourn_engine::packet::Direction;
use sojourn_input::words;
use sojourn_scenario::Scenario;
use sojourn_scenario::traffic::Entry;

/// Keeps a server's link from being the bottleneck.
const ENOUGH: f64 = 10.0;

/// All warnings. A server with a queue of its own is meant to be slow, and tables show that queue.
pub(super) fn warnings(scenario: &Scenario) -> BTreeSet<String> {
    if scenario.dialect == Dialect::Ns2 {
        return BTreeSet::new(); // the studies' servers have the links that the documents say
    }
    // Datagrams have a rate of their own; TCP takes what it gets.
    let tcp = scenario.traffic.iter().filter(|(_, entry)| entry.app.parameters().tcp().is_some());
    let ways = tcp.flat_map(|entry| Direction::BOTH.map(|way| (entry, way)));
    let loaded = ways.filter(|((_, entry), way)| entry.app.loads(*way));
    loaded.flat_map(|((name, entry), way)| of_way(scenario, name, entry, way)).collect()
}

fn of_way(scenario: &Scenario, name: &str, entry: &Entry, way: Direction) -> Vec<String> {
    let number = scenario.group_of(entry);
    let service_mbps = scenario.group(number).terms(way).sustained_mbps;
    let core = scenario.core.values().filter_map(|both| both.of(way));
    let others = core.chain(scenario.router(number, way)).map(Bottleneck::least_mbps);
    let least_mbps = others.fold(service_mbps, f64::min);
    let servers = entry.app.parameters().servers();
    let slow = servers.iter().filter_map(|(_, server)| {
        let link = scenario.servers.get(*server)?;
        let is_slow = link.queue.is_none() && link.rate_mbps <= least_mbps;
        let key = format!("{}.rate_mbps", words::join("servers", server));
        is_slow.then(|| {
            format!(
                "{key} is {}, and the service {} has {service_mbps} Mbps: packets of traffic.{name} wait before \
                 the server's link, in a queue without limit that no table shows; set {key} to {} or more",
                link.rate_mbps,
                way.stream(),
                ENOUGH * service_mbps,
            )
        })
    });
    slow.collect()
}
