//! Which end of a capture's packets is the home.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use indexmap::IndexMap;

use super::link::{Ends, Passage};
use crate::apps::replay::Home;
use sojourn_engine::address::{Address, Network};
use sojourn_engine::packet::Direction;

/// Addresses that homes use among themselves: RFC 1918, RFC 6598 (behind a carrier's NAT), RFC 4193.
const PRIVATE: [(Ipv4Addr, u32); 4] = [
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
];
const PRIVATE_V6: (Ipv6Addr, u32) = (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7);
/// The part of an IPv6 address that all hosts of a link share (RFC 4291 §2.5.4).
const LINK_PREFIX: u32 = 64;

/// Packets by their ends.
pub(super) type Conversations = IndexMap<Ends, u64>;

/// What is known of the home.
#[derive(Debug, PartialEq)]
pub(super) enum Found {
    /// It is this, and what shows it.
    Home(Home, String),
    /// No packet has an answer, and nothing shows which end is the home.
    OneWay,
    /// No packet has addresses of two hosts.
    Nothing,
    /// It is one of these addresses of so many packets, most first.
    OneOf(Vec<(IpAddr, u64)>),
}

/// The direction of a packet, if it passes between the home and others.
pub(super) fn direction(home: &Home, ends: &Ends) -> Option<Direction> {
    if !passes(ends) {
        return None;
    }
    match [ends.from, ends.to].map(|end| home.holds(Address(end))) {
        [true, false] => Some(Direction::Up),
        [false, true] => Some(Direction::Down),
        _ => None,
    }
}

/// The home of these conversations, by the first of these that settles it: how the capturing host saw the
/// packets, or for IPv4 and IPv6 each private addresses against others, or the one host in all packets.
pub(super) fn find(conversations: &Conversations) -> Found {
    let passing: Conversations =
        conversations.iter().filter(|(ends, _)| passes(ends)).map(|(e, n)| (*e, *n)).collect();
    if passing.is_empty() {
        return Found::Nothing;
    }
    if let Some(home) = of_capturing_host(&passing) {
        return Found::Home(home, "the host that captured, by its packets in and out".to_owned());
    }
    let (v4, v6): (Conversations, Conversations) =
        passing.iter().map(|(e, n)| (*e, *n)).partition(|(ends, _)| ends.from.is_ipv4());
    let families: Vec<_> = [v4, v6].into_iter().filter(|one| !one.is_empty()).collect();
    let found: Vec<_> =
        families.iter().map(|family| of_private(family).or_else(|| of_common(family))).collect();
    if let Some(all) = found.iter().cloned().collect::<Option<Vec<_>>>() {
        let networks = all.iter().flat_map(|(networks, _)| networks.clone()).collect();
        let mut reasons: Vec<_> = all.iter().map(|(_, reason)| *reason).collect();
        reasons.dedup();
        return Found::Home(Home(networks), reasons.join("; "));
    }
    if found.iter().all(Option::is_none) && !has_answers(&passing) {
        return Found::OneWay;
    }
    let unknown = families.iter().zip(&found).find(|(_, found)| found.is_none());
    Found::OneOf(unknown.map_or_else(Vec::new, |(family, _)| candidates(family)))
}

/// The addresses of these conversations and their packets, most first.
pub(super) fn candidates(conversations: &Conversations) -> Vec<(IpAddr, u64)> {
    let mut packets = BTreeMap::<IpAddr, u64>::new();
    for (ends, count) in conversations.iter().filter(|(ends, _)| passes(ends)) {
        for end in [ends.from, ends.to] {
            *packets.entry(end).or_default() += count;
        }
    }
    let mut all: Vec<_> = packets.into_iter().collect();
    all.sort_by_key(|(_, packets)| std::cmp::Reverse(*packets));
    all
}

/// Is it between two hosts that a router would bring together?
fn passes(ends: &Ends) -> bool {
    let is_of_link = |end: IpAddr| match end {
        IpAddr::V4(v4) => v4.is_link_local() || v4.is_broadcast(),
        IpAddr::V6(v6) => v6.is_unicast_link_local(),
    };
    let is_host = |end: IpAddr| {
        !(end.is_multicast() || end.is_loopback() || end.is_unspecified() || is_of_link(end))
    };
    ends.from != ends.to && is_host(ends.from) && is_host(ends.to)
}

/// What sent the packets that went out and got those that came in, if no packet contradicts that.
fn of_capturing_host(conversations: &Conversations) -> Option<Home> {
    let own = |ends: &Ends| match ends.passage {
        Passage::Out => Some(ends.from),
        Passage::In => Some(ends.to),
        Passage::Unknown => None,
    };
    let hosts: BTreeSet<IpAddr> = conversations.keys().filter_map(own).collect();
    let home = Home(hosts.into_iter().map(only).collect());
    let agrees = |ends: &Ends| match ends.passage {
        Passage::Out => direction(&home, ends) == Some(Direction::Up),
        Passage::In => direction(&home, ends) == Some(Direction::Down),
        Passage::Unknown => false,
    };
    conversations.keys().all(agrees).then_some(home)
}

/// Networks of the home, and what shows it.
type Evidence = (BTreeSet<Network>, &'static str);

/// Private addresses, if each packet is between one of them and another address, or between two of them.
fn of_private(family: &Conversations) -> Option<Evidence> {
    let is_private = |end: IpAddr| private_network(end).is_some();
    let sides = |ends: &Ends| [ends.from, ends.to].map(is_private);
    let is_clear = family.keys().all(|ends| sides(ends) != [false, false])
        && family.keys().any(|ends| sides(ends) != [true, true]);
    let hosts = hosts(family, is_private);
    let networks: BTreeSet<_> = match hosts.len() {
        1 => hosts.into_iter().map(only).collect(),
        _ => hosts.into_iter().filter_map(private_network).collect(),
    };
    is_clear.then_some((networks, "private among public addresses"))
}

/// The one address in all packets, or the one link of IPv6 with several.
fn of_common(family: &Conversations) -> Option<Evidence> {
    let links = family.keys().map(|ends| BTreeSet::from([ends.from, ends.to].map(link_of)));
    let common = links.reduce(|common, own| &common & &own)?;
    let mut links = common.iter();
    let (Some(link), None) = (links.next(), links.next()) else { return None };
    let hosts = hosts(family, |end| link.holds(Address(end)));
    let network = if hosts.len() == 1 { only(*hosts.first()?) } else { *link };
    Some(([network].into(), "in all packets"))
}

fn hosts(family: &Conversations, is_one: impl Fn(IpAddr) -> bool) -> BTreeSet<IpAddr> {
    family.keys().flat_map(|ends| [ends.from, ends.to]).filter(|end| is_one(*end)).collect()
}

/// Does any pair of hosts have packets in both directions?
fn has_answers(conversations: &Conversations) -> bool {
    let pairs: BTreeSet<_> = conversations.keys().map(|ends| (ends.from, ends.to)).collect();
    pairs.iter().any(|(from, to)| pairs.contains(&(*to, *from)))
}

fn only(host: IpAddr) -> Network {
    match host {
        IpAddr::V4(host) => Network::new(host, Ipv4Addr::BROADCAST),
        IpAddr::V6(host) => Network::of_prefix(host, 128),
    }
}

/// The hosts that are one with this: those of its link, or of IPv4 itself alone.
fn link_of(host: IpAddr) -> Network {
    match host {
        IpAddr::V4(_) => only(host),
        IpAddr::V6(host) => Network::of_prefix(host, LINK_PREFIX),
    }
}

fn private_network(host: IpAddr) -> Option<Network> {
    let v4 = PRIVATE.map(|(network, prefix)| {
        Network::new(network, Ipv4Addr::from_bits(u32::MAX << (32 - prefix)))
    });
    let v6 = Network::of_prefix(PRIVATE_V6.0, PRIVATE_V6.1);
    v4.into_iter().chain([v6]).find(|network| network.holds(Address(host)))
}
