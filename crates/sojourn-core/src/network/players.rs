//! The people of a run: every traffic model in each of its homes, as it stands at time zero.

use super::connections::{Owner, Route};
use crate::apps::{App, AppParameters};
use crate::docsis::classifier::{Header, service_flow};
use crate::engine::rng::Rng;
use crate::scenario::Scenario;
use crate::scenario::homes::Protocol;

/// A traffic model in a home, with what belongs to it.
pub(super) struct Player {
    pub app: App,
    pub owner: Owner,
    pub rng: Rng,
    /// Draws the address and port hashes of its connections.
    pub ports: Rng,
    /// Draws the random times before its connections send.
    pub send_jitter: Rng,
    /// Hash and service flows of its datagrams.
    pub datagrams: Route,
    pub datagrams_sent: u64,
    pub connections_opened: u64,
}

/// Every entry of the traffic list in each of its homes.
pub(super) fn players(scenario: &Scenario) -> Vec<Player> {
    let mut players = Vec::new();
    for traffic in 0..scenario.traffic.len() {
        let group = scenario.group_of(&scenario.traffic[traffic]);
        let before: u16 = scenario.groups().take(group).map(|group| group.count).sum();
        for number in 0..scenario.group(group).count {
            let app = players.len() as u32;
            let owner = Owner { app, traffic: traffic as u16, home: before + number };
            players.push(player(scenario, owner, number));
        }
    }
    players
}

/// An entry in the home with this number in its group, from 0.
fn player(scenario: &Scenario, owner: Owner, number: u16) -> Player {
    let (name, entry) = scenario.traffic.get_index(owner.traffic.into()).expect("it is an entry");
    let server = |name: &str| scenario.servers.get_index_of(name).unwrap_or_default() as u16;
    let stream = |what: &str| match number {
        0 => Rng::named(scenario.seed, &format!("{what} {name}")),
        _ => Rng::named(scenario.seed, &format!("{what} {name}, home {}", number + 1)),
    };
    let mut ports = stream("ports of");
    let tuples = [ports.bits() as u32, ports.bits() as u32];
    let port = home_port(owner.traffic.into());
    let server_of_datagrams = entry.app.servers().first().map_or(0, |(_, name)| server(name));
    let service_flows = classify(scenario, owner.traffic, Protocol::Udp, server_of_datagrams, port);
    Player {
        app: entry.app.start(&server),
        owner,
        rng: stream("traffic"),
        send_jitter: stream("send jitter of"),
        datagrams: Route { server: server_of_datagrams, tuples, service_flows },
        datagrams_sent: 0,
        connections_opened: 0,
        ports,
    }
}

/// The `number`th port of a home, of the dynamic ones (RFC 6335 §6).
pub(super) fn home_port(number: u64) -> u16 {
    const FIRST: u16 = 49_152;
    FIRST + (number % u64::from(u16::MAX - FIRST + 1)) as u16
}

/// The service flows that packets of an entry take, up and down.
pub(super) fn classify(
    scenario: &Scenario,
    traffic: u16,
    protocol: Protocol,
    server: u16,
    home_port: u16,
) -> [u8; 2] {
    let (name, entry) = scenario.traffic.get_index(traffic.into()).expect("it is an entry");
    let group = scenario.group(scenario.group_of(entry));
    let up = Header {
        protocol,
        server: scenario.servers.get_index(server.into()).map_or("", |(name, _)| name),
        traffic: name,
        source: entry.labels.address,
        destination: scenario.servers.get_index(server.into()).and_then(|(_, s)| s.address),
        source_port: home_port,
        destination_port: entry.port(),
        dscp: entry.labels.dscp,
    };
    let flows = (&group.upstream.flows, &group.downstream.flows);
    [service_flow(flows.0, &up), service_flow(flows.1, &up.reversed())]
}
