//! Warnings of servers whose link is no faster than a service: what fills the service then waits before that link, in a
//! queue without limit.

use super::distinct;
use sojourn_engine::dialect::Dialect;
use sojourn_engine::hop::Bottleneck;
use sojourn_engine::packet::Direction;
use sojourn_input::fault;
use sojourn_input::problem::{Remedy, Warning};
use sojourn_input::words;
use sojourn_scenario::Scenario;
use sojourn_scenario::traffic::Entry;

/// Keeps a server's link from being the bottleneck.
const ENOUGH: f64 = 10.0;

/// All warnings. A server with a queue of its own is meant to be slow, and tables show that queue.
pub(super) fn warnings(scenario: &Scenario) -> Vec<Warning> {
    if scenario.dialect == Dialect::Ns2 {
        return Vec::new(); // the studies' servers have the links that the documents say
    }
    // Datagrams have a rate of their own; TCP takes what it gets.
    let tcp = scenario.traffic.iter().filter(|(_, entry)| entry.app.parameters().tcp().is_some());
    let ways = tcp.flat_map(|entry| Direction::BOTH.map(|way| (entry, way)));
    let loaded = ways.filter(|((_, entry), way)| entry.app.loads(*way));
    distinct(loaded.flat_map(|((name, entry), way)| of_way(scenario, name, entry, way)))
}

fn of_way(scenario: &Scenario, name: &str, entry: &Entry, way: Direction) -> Vec<Warning> {
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
            let remedy = Remedy::of(&key, ENOUGH * service_mbps);
            fault!(SlowServer, &key, remedy =>
                "{key} is {rate_mbps}, and the service {direction} has {service_mbps} Mbps: what of traffic.{name} comes \
                 faster waits before the server's link, in a queue without limit (server_queue in delay_parts); set \
                 {remedy:#} or more", rate_mbps = link.rate_mbps, direction = way.stream(), service_mbps)
        })
    });
    slow.collect()
}
