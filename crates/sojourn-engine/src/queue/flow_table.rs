//! What a scheduler treats as a flow: numbers, hashes and weights of flows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::weights::Weights;
use crate::packet::Packet;
use crate::units::BitRate;

crate::series! {
    /// DRR, WFQ, SCFQ: flows of which packets wait.
    BUSY_FLOWS = "busy_flows", in "1";
    /// DRR, WFQ, SCFQ, ABB: weight of a watched flow.
    WEIGHT = "weight", in "1";
}

/// What counts as a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// A service flow of a home, with all its traffic.
    #[default]
    ServiceFlow,
    /// A TCP connection, or the datagrams of a traffic entry in a home.
    Connection,
}

/// A flow's identity in schedulers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowKey {
    /// Its number ([`FlowTable::index`]).
    pub index: usize,
    /// Its hash.
    pub hash: u32,
    /// Its traffic entry; for a service flow, that of its first packet.
    pub traffic: u16,
    /// The number of its service flow.
    service_flow: usize,
}

/// Mixes the bits of a number (finaliser of MurmurHash3, Appleby 2011).
pub(super) fn mixed(mut x: u32) -> u32 {
    x = (x ^ (x >> 16)).wrapping_mul(0x85eb_ca6b);
    x = (x ^ (x >> 13)).wrapping_mul(0xc2b2_ae35);
    x ^ (x >> 16)
}

/// The flows of a queue, by the numbers that packets carry.
#[derive(Clone, Debug)]
pub struct FlowTable {
    unit: Unit,
    /// The number of the first service flow of each home.
    first: Vec<u32>,
    /// Weights of service flows, by number.
    service_flows: Vec<f64>,
    /// Minimum reserved rates of service flows, by number; empty if there are none.
    reserved: Vec<Option<BitRate>>,
    /// Weights of traffic entries, by number.
    traffic: Vec<f64>,
}

impl Default for FlowTable {
    fn default() -> Self {
        Self::connections()
    }
}

impl FlowTable {
    /// Connections of equal weight, for a queue within one service flow.
    pub fn connections() -> Self {
        let (first, service_flows) = (Vec::new(), Vec::new());
        let (reserved, traffic) = (Vec::new(), Vec::new());
        Self { unit: Unit::Connection, first, service_flows, reserved, traffic }
    }

    /// Flows of several homes, with each home's service-flow weights.
    pub fn of_homes(unit: Unit, weights: &[Vec<f64>]) -> Self {
        let mut table = Self { unit, ..Self::connections() };
        for of_home in weights {
            table.first.push(table.service_flows.len() as u32);
            table.service_flows.extend(of_home);
        }
        table
    }

    /// Adds each home's minimum reserved rates in Mbps, one for each service flow.
    pub fn reserving(self, minimum_mbps: &[Vec<f64>]) -> Self {
        let rates = minimum_mbps.iter().flatten();
        let reserve = |mbps: &f64| (*mbps > 0.0).then(|| BitRate::from_mbps(*mbps));
        let mut reserved: Vec<_> = rates.map(reserve).collect();
        if reserved.iter().all(Option::is_none) {
            reserved.clear();
        }
        Self { reserved, ..self }
    }

    /// Minimum reserved rates by flow, if flows are service flows; empty if there are none.
    pub fn reserved(&self) -> &[Option<BitRate>] {
        match self.unit {
            Unit::ServiceFlow => &self.reserved,
            Unit::Connection => &[],
        }
    }

    /// Adds weights of the traffic entries with these names.
    pub fn weighing(&self, weights: &Weights, names: &[&str]) -> Self {
        Self { traffic: weights.of(names), ..self.clone() }
    }

    /// The number of the packet's flow. Numbers are dense: they serve as indices.
    #[inline]
    pub fn index(&self, packet: &Packet) -> usize {
        match self.unit {
            Unit::Connection => packet.flow_index(),
            Unit::ServiceFlow => self.service_flow(packet),
        }
    }

    /// A hash of the packet's flow.
    #[inline]
    pub fn hash(&self, packet: &Packet) -> u32 {
        match self.unit {
            Unit::Connection => packet.tuple,
            // Multiplicative hashing by 2^32 over the golden ratio (Knuth, TAOCP 3 §6.4).
            Unit::ServiceFlow => (self.service_flow(packet) as u32).wrapping_mul(0x9e37_79b9) >> 7,
        }
    }

    /// The packet's flow.
    #[inline]
    pub fn key(&self, packet: &Packet) -> FlowKey {
        let (index, hash) = (self.index(packet), self.hash(packet));
        FlowKey { index, hash, traffic: packet.traffic, service_flow: self.service_flow(packet) }
    }

    /// The weight of the packet's flow.
    #[inline]
    pub fn weight(&self, packet: &Packet) -> f64 {
        self.product(packet.traffic, self.service_flow(packet))
    }

    /// The weight of a flow.
    pub fn weight_of(&self, flow: FlowKey) -> f64 {
        self.product(flow.traffic, flow.service_flow)
    }

    /// Weight of a traffic entry times weight of a service flow; each is 1 if unknown.
    #[inline]
    fn product(&self, traffic: u16, service_flow: usize) -> f64 {
        let traffic = self.traffic.get(usize::from(traffic)).copied().unwrap_or(1.0);
        traffic * self.service_flows.get(service_flow).copied().unwrap_or(1.0)
    }

    /// Does a flow's number pass to another one when a connection closes?
    pub fn has_connections(&self) -> bool {
        self.unit == Unit::Connection
    }

    #[inline]
    fn service_flow(&self, packet: &Packet) -> usize {
        let first = self.first.get(usize::from(packet.home)).copied().unwrap_or_default();
        first as usize + usize::from(packet.service_flow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::weights::Weight;

    fn packet(home: u16, service_flow: u8) -> Packet {
        Packet { home, service_flow, traffic: 1, tuple: 77, flow: 4, ..Packet::datagram(100) }
    }

    /// Three homes with two, one and three service flows: the last one is the sixth of all.
    #[test]
    fn service_flows_are_numbered_home_by_home() {
        let homes = [vec![1.0, 2.0], vec![3.0], vec![4.0, 5.0, 6.0]];
        let table = FlowTable::of_homes(Unit::ServiceFlow, &homes);
        for (home, service_flow, index) in [(0, 0, 0), (0, 1, 1), (1, 0, 2), (2, 0, 3), (2, 2, 5)] {
            let packet = packet(home, service_flow);
            let weight = index as f64 + 1.0;
            assert_eq!((table.index(&packet), table.weight(&packet)), (index, weight));
            let key = table.key(&packet);
            assert_eq!((key.index, key.traffic, table.weight_of(key)), (index, 1, weight));
        }
        // 0x9e3779b9, and twice that in 32 bits, of which 25 are left.
        let hashes = [(0, 0), (0, 1), (1, 0)].map(|(home, flow)| table.hash(&packet(home, flow)));
        assert_eq!(hashes, [0, 0x013c_6ef3, 0x0078_dde6]);
        // The 200th: 0x9e3779b9 * 200 in 32 bits is 0x9b571888, whose last bits count too.
        let many = FlowTable::of_homes(Unit::ServiceFlow, &[vec![1.0; 200], vec![1.0]]);
        assert_eq!(many.hash(&packet(1, 0)), 0x0136_ae31);
        assert!(!table.has_connections());
    }

    #[test]
    fn connections_have_their_slots_and_hashes() {
        let table = FlowTable::of_homes(Unit::Connection, &[vec![2.0]]);
        assert_eq!((table.index(&packet(0, 0)), table.hash(&packet(0, 0))), (8, 77));
        // A traffic entry's weight times the service flow's; 1 where it has none.
        let weights = Weights([("b".to_owned(), Weight(3.0))].into_iter().collect());
        let weighing = table.weighing(&weights, &["a", "b"]);
        assert_eq!(weighing.weight(&packet(0, 0)), 6.0);
        assert_eq!(weighing.weight(&Packet { traffic: 0, ..packet(0, 0) }), 2.0);
        assert_eq!(weighing.weight(&Packet { traffic: 9, ..packet(0, 5) }), 1.0);
        assert!(table.has_connections());
    }

    #[test]
    fn only_service_flows_reserve_rates() {
        let table = |unit| {
            let homes = [vec![1.0, 1.0], vec![1.0]];
            FlowTable::of_homes(unit, &homes).reserving(&[vec![0.0, 0.5], vec![3.0]])
        };
        let rates = [None, Some(BitRate::from_mbps(0.5)), Some(BitRate::from_mbps(3.0))];
        assert_eq!(table(Unit::ServiceFlow).reserved(), rates);
        assert!(table(Unit::Connection).reserved().is_empty());
        let none = FlowTable::of_homes(Unit::ServiceFlow, &[vec![1.0]]).reserving(&[vec![0.0]]);
        assert!(none.reserved().is_empty());
    }

    /// The finaliser of MurmurHash3 of 1 and of 2^32 over the golden ratio.
    #[test]
    fn numbers_are_mixed_as_murmur_hash_does() {
        assert_eq!([0, 1, 0x9e37_79b9].map(mixed), [0, 0x514e_28b7, 0x92ca_2f0e]);
    }
}
