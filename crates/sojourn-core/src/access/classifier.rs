//! Which service flow a packet takes: the classifiers of a modem and of the CMTS (DOCSIS 3.1 MULPI
//! §7.5.2). Asked once for each connection and direction, never for a packet.
//!
//! Left out: IPv6; classifiers that look below IP.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::address::{Address, Network};

/// The protocol of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// Connections.
    Tcp,
    /// Datagrams.
    Udp,
}

/// A classifier: a packet fits if it fits every key that is set. Of all classifiers that a packet fits
/// that of the highest priority counts, and of equal ones the first in the scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Classifier {
    /// Rule priority, 255 the highest.
    pub priority: u8,
    /// The protocol.
    pub protocol: Option<Protocol>,
    /// The server that the packet comes from or goes to.
    pub server: Option<String>,
    /// The entry of the traffic list it belongs to.
    pub traffic: Option<String>,
    /// The network, or the one address, that its source is in: `"203.0.113.0/24"`. What has no
    /// address is in none.
    #[schemars(with = "Option<String>")]
    pub source: Option<Network>,
    /// The same of its destination.
    #[schemars(with = "Option<String>")]
    pub destination: Option<Network>,
    /// First and last port of its source.
    #[schemars(length(min = 2, max = 2))]
    pub source_ports: Option<Vec<u16>>,
    /// First and last port of its destination.
    #[schemars(length(min = 2, max = 2))]
    pub destination_ports: Option<Vec<u16>>,
    /// Lowest and highest DSCP, and the mask that is put over the packet's first: 63 if it is left out.
    #[schemars(length(min = 2, max = 3), inner(range(min = 0, max = 63)))]
    pub dscp: Option<Vec<u8>>,
}

/// What classifiers look at.
#[derive(Clone, Copy, Debug)]
pub struct Header<'a> {
    /// TCP or UDP.
    pub protocol: Protocol,
    /// The server at one of its ends.
    pub server: &'a str,
    /// The entry of the traffic list it belongs to.
    pub traffic: &'a str,
    /// Address that it comes from, if that has one.
    pub source: Option<Address>,
    /// Address that it goes to, if that has one.
    pub destination: Option<Address>,
    /// Port that it comes from.
    pub source_port: u16,
    /// Port that it goes to.
    pub destination_port: u16,
    /// Differentiated services code point.
    pub dscp: u8,
}

impl Header<'_> {
    /// That of an answer.
    pub fn reversed(self) -> Self {
        let (source_port, destination_port) = (self.destination_port, self.source_port);
        let (source, destination) = (self.destination, self.source);
        Self { source, destination, source_port, destination_port, ..self }
    }

    fn fits(&self, classifier: &Classifier) -> bool {
        let Classifier { priority: _, protocol, server, traffic, .. } = classifier;
        let Classifier { source, destination, source_ports, destination_ports, dscp, .. } =
            classifier;
        protocol.is_none_or(|protocol| protocol == self.protocol)
            && server.as_ref().is_none_or(|server| server == self.server)
            && traffic.as_ref().is_none_or(|traffic| traffic == self.traffic)
            && source.is_none_or(|network| holds(network, self.source))
            && destination.is_none_or(|network| holds(network, self.destination))
            && source_ports.as_ref().is_none_or(|ports| within(ports, self.source_port))
            && destination_ports.as_ref().is_none_or(|ports| within(ports, self.destination_port))
            && dscp.as_ref().is_none_or(|range| {
                let mask = range.get(2).copied().unwrap_or(u8::MAX);
                within(&range[..2], self.dscp & mask)
            })
    }
}

/// Is there an address, and does the network hold it?
fn holds(network: Network, address: Option<Address>) -> bool {
    address.is_some_and(|address| network.holds(address))
}

/// Is it between the two bounds of a range?
fn within<T: PartialOrd>(range: &[T], value: T) -> bool {
    range.first().is_none_or(|low| *low <= value) && range.get(1).is_none_or(|high| value <= *high)
}

/// The number of the flow that such packets take, of further flows with these classifiers: that of the fitting classifier with the highest
/// priority, the first of equal ones, plus one; 0, the primary flow, if none fits.
pub fn service_flow<'a>(flows: impl Iterator<Item = &'a [Classifier]>, header: &Header) -> u8 {
    let mut best = (0, None);
    for (number, classifiers) in (1..).zip(flows) {
        let fitting = classifiers.iter().filter(|classifier| header.fits(classifier));
        let highest = fitting.map(|classifier| classifier.priority).max();
        if highest > best.1 {
            best = (number, highest);
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use indexmap::IndexMap;

    use super::*;

    const CALL: Header = Header {
        protocol: Protocol::Udp,
        server: "peer",
        traffic: "call",
        source: None,
        destination: Some(Address(Ipv4Addr::new(203, 0, 113, 5))),
        source_port: 49_152,
        destination_port: 5004,
        dscp: 46,
    };

    fn flow_of(header: &Header, flows: &[&str]) -> u8 {
        let classifiers = |list: &&str| -> Vec<Classifier> {
            let table: IndexMap<String, Vec<Classifier>> =
                toml::from_str(&format!("match = [{list}]")).unwrap();
            table["match"].clone()
        };
        let flows: Vec<_> = flows.iter().map(classifiers).collect();
        service_flow(flows.iter().map(Vec::as_slice), header)
    }

    #[test]
    fn every_key_must_fit_and_any_classifier_will_do() {
        for (classifiers, flow) in [
            ("", 0),
            ("{}", 1),
            ("{ protocol = 'tcp' }", 0),
            ("{ protocol = 'tcp' }, { server = 'peer', traffic = 'call' }", 1),
            ("{ server = 'other', traffic = 'call' }", 0),
            ("{ destination_ports = [5000, 5004] }", 1),
            ("{ destination_ports = [5005, 5010] }", 0),
            ("{ source_ports = [49152, 65535], destination_ports = [5004, 5004] }", 1),
            ("{ destination = '203.0.113.0/29' }", 1),
            ("{ destination = '203.0.113.8/29' }", 0),
            // The device has no address.
            ("{ source = '0.0.0.0/0' }", 0),
            ("{ dscp = [46, 46] }", 1),
            ("{ dscp = [40, 45] }", 0),
            // 46 = 0b101110; with the mask 0b111000 it is 40, the class selector 5.
            ("{ dscp = [40, 40, 56] }", 1),
        ] {
            assert_eq!(flow_of(&CALL, &[classifiers]), flow, "{classifiers}");
        }
    }

    #[test]
    fn the_highest_priority_counts_and_of_equal_ones_the_first() {
        let low = "{ priority = 1, protocol = 'udp' }";
        let high = "{ priority = 9, dscp = [46, 46] }";
        assert_eq!(flow_of(&CALL, &[low, high]), 2);
        assert_eq!(flow_of(&CALL, &[high, low]), 1);
        assert_eq!(flow_of(&CALL, &[low, low]), 1);
        // Of the second flow's classifiers the better one counts.
        assert_eq!(flow_of(&CALL, &[low, &format!("{low}, {high}")]), 2);
        // High priority, but it does not fit.
        assert_eq!(flow_of(&Header { dscp: 0, ..CALL }, &[low, high]), 1);
    }

    #[test]
    fn an_answer_goes_from_the_server_s_port_to_the_home_s() {
        let answer = CALL.reversed();
        assert_eq!(flow_of(&answer, &["{ source_ports = [5004, 5004] }"]), 1);
        assert_eq!(flow_of(&answer, &["{ destination_ports = [5004, 5004] }"]), 0);
        assert_eq!(flow_of(&answer, &["{ source = '203.0.113.5' }"]), 1);
    }
}
