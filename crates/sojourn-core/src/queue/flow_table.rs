//! What a scheduler tells apart: how flows are numbered, hashed and weighed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::weights::Weights;
use crate::packet::Packet;
use crate::units::BitRate;

/// What is a flow to a scheduler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// A service flow of a home, whatever is in it.
    #[default]
    ServiceFlow,
    /// A TCP connection, or the datagrams of a traffic entry in a home.
    Connection,
}

/// A flow, as schedulers know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowKey {
    /// Its number ([`FlowTable::index`]).
    pub index: usize,
    /// Its hash.
    pub hash: u32,
    /// The traffic entry it belongs to; of a service flow, that of its first packet.
    pub traffic: u16,
    /// The number of its service flow.
    service_flow: usize,
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
    /// Connections of equal weight: what a queue tells apart that belongs to one service flow.
    pub fn connections() -> Self {
        let (first, service_flows) = (Vec::new(), Vec::new());
        let (reserved, traffic) = (Vec::new(), Vec::new());
        Self { unit: Unit::Connection, first, service_flows, reserved, traffic }
    }

    /// Flows of several homes: of each, the weights of its service flows.
    pub fn of_homes(unit: Unit, weights: &[Vec<f64>]) -> Self {
        let mut table = Self { unit, ..Self::connections() };
        for of_home in weights {
            table.first.push(table.service_flows.len() as u32);
            table.service_flows.extend(of_home);
        }
        table
    }

    /// The same with minimum reserved rates: of each home, those of its service flows in Mbps.
    pub fn reserving(self, minimum_mbps: &[Vec<f64>]) -> Self {
        let rates = minimum_mbps.iter().flatten();
        let reserve = |mbps: &f64| (*mbps > 0.0).then(|| BitRate::from_mbps(*mbps));
        let mut reserved: Vec<_> = rates.map(reserve).collect();
        if reserved.iter().all(Option::is_none) {
            reserved.clear();
        }
        Self { reserved, ..self }
    }

    /// Minimum reserved rates by flow, where service flows are told apart; empty if there are none.
    pub fn reserved(&self) -> &[Option<BitRate>] {
        match self.unit {
            Unit::ServiceFlow => &self.reserved,
            Unit::Connection => &[],
        }
    }

    /// The same with weights of traffic entries, which have these names.
    pub fn weighing(&self, weights: &Weights, names: &[&str]) -> Self {
        Self { traffic: weights.of(names), ..self.clone() }
    }

    /// A number of the packet's flow that few others lie between.
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

    /// The weight of a traffic entry times that of a service flow, each 1 where none is known.
    #[inline]
    fn product(&self, traffic: u16, service_flow: usize) -> f64 {
        let traffic = self.traffic.get(usize::from(traffic)).copied().unwrap_or(1.0);
        traffic * self.service_flows.get(service_flow).copied().unwrap_or(1.0)
    }

    /// Do the packets of a flow change when a connection is closed?
    pub fn has_connections(&self) -> bool {
        self.unit == Unit::Connection
    }

    #[inline]
    fn service_flow(&self, packet: &Packet) -> usize {
        let first = self.first.get(usize::from(packet.home)).copied().unwrap_or_default();
        first as usize + usize::from(packet.service_flow)
    }
}
