//! Classifiers of the modem and of the CMTS: they choose the service flow of a packet (DOCSIS 3.1
//! MULPI §7.5.2).
//!
//! They are evaluated once for each connection, direction and value of the ECN field, not for each
//! packet; of packets from outside once for each conversation and code point. Left out: classifiers that look below IP,
//! and IPv6's flow label.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use sojourn_engine::address::{Address, Network};
use sojourn_engine::packet::Ecn;

/// Transport protocol of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// TCP connections.
    Tcp,
    /// UDP datagrams.
    Udp,
}

/// A classifier: a packet matches if it matches every key that is set. Of all classifiers that
/// match, the one with the highest priority decides; among equal priorities, the first in the
/// scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Classifier {
    /// Rule priority, 255 being the highest.
    pub priority: u8,
    /// IP version, 4 or 6: that of `tcp.ip`.
    #[schemars(range(min = 4, max = 6))]
    pub ip: Option<u8>,
    /// Transport protocol.
    pub protocol: Option<Protocol>,
    /// Name of the server that the packet comes from or goes to.
    pub server: Option<String>,
    /// Name of the traffic entry that the packet belongs to.
    pub traffic: Option<String>,
    /// Source network or single address, such as `"203.0.113.0/24"`. A packet from a host without
    /// an address never matches.
    #[schemars(with = "Option<String>")]
    pub source: Option<Network>,
    /// Destination network or single address. A packet to a host without an address never matches.
    #[schemars(with = "Option<String>")]
    pub destination: Option<Network>,
    /// First and last source port of a range.
    #[schemars(length(min = 2, max = 2))]
    pub source_ports: Option<Vec<u16>>,
    /// First and last destination port of a range.
    #[schemars(length(min = 2, max = 2))]
    pub destination_ports: Option<Vec<u16>>,
    /// Lowest and highest DSCP, and optionally a mask that is applied to the packet's DSCP first.
    /// Default mask: 63.
    #[schemars(length(min = 2, max = 3), inner(range(min = 0, max = 63)))]
    pub dscp: Option<Vec<u8>>,
    /// Lowest and highest type of service or traffic class, the whole byte of DSCP and ECN field, and
    /// optionally a mask that is applied to the packet's byte first. Default mask: 255.
    #[schemars(length(min = 2, max = 3))]
    pub tos: Option<Vec<u8>>,
}

/// The properties of a packet that classifiers look at.
#[derive(Clone, Copy, Debug)]
pub struct Header<'a> {
    /// IP version.
    pub ip: u8,
    /// TCP, UDP or neither.
    pub protocol: Option<Protocol>,
    /// Name of the server at one end.
    pub server: &'a str,
    /// Name of the traffic entry it belongs to.
    pub traffic: &'a str,
    /// Source address, if the host has one.
    pub source: Option<Address>,
    /// Destination address, if the host has one.
    pub destination: Option<Address>,
    /// Source port, if it has ports.
    pub source_port: Option<u16>,
    /// Destination port, if it has ports.
    pub destination_port: Option<u16>,
    /// Differentiated services code point.
    pub dscp: u8,
    /// ECN field.
    pub ecn: Ecn,
}

impl Header<'_> {
    /// The type of service of IPv4 or traffic class of IPv6.
    fn tos(&self) -> u8 {
        self.dscp << 2 | self.ecn as u8
    }

    /// The header of packets in the other direction.
    pub fn reversed(self) -> Self {
        let (source_port, destination_port) = (self.destination_port, self.source_port);
        let (source, destination) = (self.destination, self.source);
        Self { source, destination, source_port, destination_port, ..self }
    }

    fn fits(&self, classifier: &Classifier) -> bool {
        let Classifier { priority: _, ip, protocol, server, traffic, .. } = classifier;
        let Classifier { source, destination, source_ports, destination_ports, .. } = classifier;
        let Classifier { dscp, tos, .. } = classifier;
        ip.is_none_or(|ip| ip == self.ip)
            && protocol.is_none_or(|protocol| Some(protocol) == self.protocol)
            && server.as_ref().is_none_or(|server| server == self.server)
            && traffic.as_ref().is_none_or(|traffic| traffic == self.traffic)
            && source.is_none_or(|network| holds(network, self.source))
            && destination.is_none_or(|network| holds(network, self.destination))
            && source_ports.as_ref().is_none_or(|ports| has_port(ports, self.source_port))
            && destination_ports.as_ref().is_none_or(|ports| has_port(ports, self.destination_port))
            && dscp.as_ref().is_none_or(|range| within_masked(range, self.dscp))
            && tos.as_ref().is_none_or(|range| within_masked(range, self.tos()))
    }
}

/// Is there an address, and is it in the network?
fn holds(network: Network, address: Option<Address>) -> bool {
    address.is_some_and(|address| network.holds(address))
}

/// Is there a port, and is it in the range?
fn has_port(range: &[u16], port: Option<u16>) -> bool {
    port.is_some_and(|port| within(range, port))
}

/// Is the value, after the mask if there is one, between the two bounds of a range (DOCSIS 3.1 MULPI
/// C.2.1.6.1)?
fn within_masked(range: &[u8], value: u8) -> bool {
    within(range, value & range.get(2).copied().unwrap_or(u8::MAX))
}

/// Is the value between the two bounds of a range?
fn within<T: PartialOrd>(range: &[T], value: T) -> bool {
    range.first().is_none_or(|low| *low <= value) && range.get(1).is_none_or(|high| value <= *high)
}

/// The number of the service flow that packets with this header take. `flows` lists the classifiers
/// of the further flows; the result is the index of the deciding classifier's flow plus one, or 0,
/// the primary flow, if none matches.
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
    use std::net::{IpAddr, Ipv4Addr};

    use indexmap::IndexMap;

    use super::*;

    const CALL: Header = Header {
        ip: 4,
        protocol: Some(Protocol::Udp),
        server: "peer",
        traffic: "call",
        source: None,
        destination: Some(Address(IpAddr::V4(Ipv4Addr::new(203, 0, 113, 5)))),
        source_port: Some(49_152),
        destination_port: Some(5004),
        dscp: 46,
        ecn: Ecn::NotEct,
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
            ("{ destination = '::/0' }", 0),
            ("{ ip = 4 }", 1),
            ("{ ip = 6 }", 0),
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

    /// Every range with these bounds, and every mask, for every byte.
    #[test]
    fn the_whole_byte_is_matched_with_any_mask() {
        let ecns = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
        for (low, high) in [(0, 0), (1, 3), (184, 184), (184, 187), (185, 190), (255, 255), (9, 3)]
        {
            for mask in 0..=255_u8 {
                let classifier =
                    Classifier { tos: Some(vec![low, high, mask]), ..Default::default() };
                for byte in 0..=255_u8 {
                    let ecn = ecns[usize::from(byte & 3)];
                    let header = Header { dscp: byte >> 2, ecn, ..CALL };
                    let expected = low <= byte & mask && byte & mask <= high;
                    assert_eq!(header.fits(&classifier), expected, "{low} {high} {mask} {byte}");
                }
            }
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
