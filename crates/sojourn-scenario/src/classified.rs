//! Which service flow carries what.

use super::schema::Scenario;
use super::traffic::Entry;
use sojourn_access::{Header, Protocol, service_flow};
use sojourn_engine::packet::{Direction, Ecn};
use sojourn_transport::Transport;

/// The `number`th port of a home, among the dynamic ports (RFC 6335 §6).
pub fn home_port(number: u64) -> u16 {
    const FIRST: u16 = 49_152;
    FIRST + (number % u64::from(u16::MAX - FIRST + 1)) as u16
}

impl Scenario {
    /// The service flows that packets of an entry take, upstream and downstream, by the ECN field.
    pub fn classify(
        &self,
        (name, entry): (&str, &Entry),
        (protocol, dscp): (Protocol, u8),
        server: &str,
        home_port: u16,
    ) -> [[u8; 4]; 2] {
        let ip = entry.app.parameters().tcp().and_then(|tcp| tcp.ip).unwrap_or(self.tcp.version());
        let up = Header {
            ip,
            protocol: Some(protocol),
            server,
            traffic: name,
            source: entry.labels.address,
            destination: self.servers.get(server).and_then(|server| server.address),
            source_port: Some(home_port),
            destination_port: Some(entry.port()),
            dscp,
            ecn: Ecn::NotEct,
        };
        self.service_flows(entry, &up)
    }

    /// The service flows that packets of an entry with this header take, or the opposite one, by the ECN field.
    pub fn service_flows(&self, entry: &Entry, up: &Header) -> [[u8; 4]; 2] {
        let group = self.group(self.group_of(entry));
        let by_ecn = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
        [
            by_ecn.map(|ecn| service_flow(group.upstream.classifiers(), &Header { ecn, ..*up })),
            by_ecn.map(|ecn| {
                service_flow(group.downstream.classifiers(), &Header { ecn, ..up.reversed() })
            }),
        ]
    }

    /// The service flow that an entry takes in a direction, by the number of its group and its own, of which 0 is the
    /// primary one. It is that of its first connection to its first server.
    pub fn service_flow(&self, name: &str, entry: &Entry, way: Direction) -> (usize, u8) {
        let group = self.group_of(entry);
        if self.group(group).has_one_flow(way) {
            return (group, 0);
        }
        let own = entry.app.parameters();
        let config = own.tcp().map(|_| entry.app.tcp_config(&self.tcp, self.dialect));
        let is_tcp = config.is_some_and(|config| config.transport == Transport::Tcp);
        let protocol = if is_tcp { Protocol::Tcp } else { Protocol::Udp };
        let is_ect1 = self.low_latency_mark(name, entry) == Some("ECT(1)");
        let ecn = if is_ect1 { Ecn::Ect1 } else { Ecn::NotEct };
        let server = own.servers().first().map_or("", |(_, server)| *server);
        let flows =
            self.classify((name, entry), (protocol, entry.labels.dscp), server, home_port(0));
        (group, flows[way as usize][ecn as usize])
    }

    /// All service flows of a direction, by the number of their group and their own.
    pub fn all_service_flows(&self, way: Direction) -> Vec<(usize, u8)> {
        let groups = (0..).zip(self.groups());
        let flows = groups.map(|(number, group)| (number, group.further(way).len() as u8));
        flows.flat_map(|(number, further)| (0..=further).map(move |flow| (number, flow))).collect()
    }
}
