//! Who shares the network: groups of homes, their further service flows, and what sends packets into
//! these.

use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::address::{Address, Network};
use super::schema::{Downstream, Scenario, Upstream};
use crate::apps::AppSpec;
use crate::aqm::LawSpec;
use crate::queue::{QueueSpec, default_limit_bytes};
use crate::units::BitRate;

/// Homes that a network may have, all groups together.
pub const MOST_HOMES: usize = 10_000;
/// What results call the service flow that the table itself describes.
pub const PRIMARY: &str = "primary";
/// The group of a scenario that names none.
const LONE_HOME: &str = "home";

/// A group of homes that are all alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Homes {
    /// How many there are; all groups together may have 10 000.
    #[schemars(range(min = 1, max = 10_000))]
    pub count: u16,
    /// The keys in which their upstream differs from the scenario's, laid over that as a variant is.
    #[schemars(schema_with = "differences")]
    pub upstream: Option<Upstream>,
    /// The keys in which their downstream differs from the scenario's.
    #[schemars(schema_with = "differences")]
    pub downstream: Option<Downstream>,
}

impl Default for Homes {
    fn default() -> Self {
        Self { count: 1, upstream: None, downstream: None }
    }
}

/// What is laid over a table is checked with it, when both are one.
fn differences(_: &mut SchemaGenerator) -> Schema {
    schemars::json_schema!({ "type": ["object", "null"] })
}

/// A group of homes as a run sees it.
#[derive(Clone, Copy, Debug)]
pub struct Group<'a> {
    /// Its name.
    pub name: &'a str,
    /// How many homes it has.
    pub count: u16,
    /// The upstream of each.
    pub upstream: &'a Upstream,
    /// The downstream of each.
    pub downstream: &'a Downstream,
}

impl Scenario {
    /// All groups of homes, in their order; one home called `home` where the scenario names none.
    pub fn groups(&self) -> impl Iterator<Item = Group<'_>> {
        (0..self.homes.len().max(1)).map(|index| self.group(index))
    }

    /// The group of this number.
    pub fn group(&self, index: usize) -> Group<'_> {
        let (upstream, downstream) = (&self.upstream, &self.downstream);
        match self.homes.get_index(index) {
            None => Group { name: LONE_HOME, count: 1, upstream, downstream },
            Some((name, homes)) => Group {
                name,
                count: homes.count,
                upstream: homes.upstream.as_ref().unwrap_or(upstream),
                downstream: homes.downstream.as_ref().unwrap_or(downstream),
            },
        }
    }

    /// How many homes there are.
    pub fn homes_in_all(&self) -> usize {
        self.groups().map(|group| usize::from(group.count)).sum()
    }

    /// Of each home, what its downstream service flows are told apart by on a shared channel.
    pub fn of_downstream_flows<T: Clone>(
        &self,
        what: impl Fn(&Downstream) -> Vec<T>,
    ) -> Vec<Vec<T>> {
        let of_group = |group: Group| vec![what(group.downstream); usize::from(group.count)];
        self.groups().flat_map(of_group).collect()
    }

    /// The number of the group in whose homes an entry of the traffic list runs: the first, unless it
    /// names another.
    pub fn group_of(&self, entry: &Entry) -> usize {
        let name = entry.labels.home.as_deref();
        name.and_then(|name| self.homes.get_index_of(name)).unwrap_or_default()
    }
}

/// A service flow besides the primary one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServiceFlow {
    /// Maximum sustained traffic rate in Mbps.
    #[schemars(range(min = 0.001, max = 100_000.0))]
    pub sustained_mbps: f64,
    /// Peak traffic rate in Mbps, at least the sustained rate.
    #[schemars(range(min = 0.001, max = 100_000.0))]
    pub peak_mbps: f64,
    /// Maximum traffic burst in bytes.
    #[schemars(range(min = 1522, max = 4_294_967_295_u64))]
    pub burst_bytes: u64,
    /// Minimum reserved traffic rate in Mbps, at most the sustained rate. It matters where flows
    /// share a channel: upstream with `modem.kind = "shared_channel"`, as in the modems of the studies
    /// each flow has one to itself, downstream with `cmts`, whose scheduler `drr` keeps it.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub minimum_mbps: f64,
    /// Traffic priority, 7 the highest. It matters where flows share a channel, as above.
    #[serde(default)]
    #[schemars(range(min = 0, max = 7))]
    pub priority: u8,
    /// Share of the channel of `cmts`, in proportion to others. Unset: that of the primary flow.
    #[serde(default)]
    #[schemars(range(min = 0.01, max = 1000.0))]
    pub weight: Option<f64>,
    /// Buffer control.
    #[serde(default)]
    pub buffer: Buffer,
    /// Queue manager of this flow; its law is the flow's AQM, with a latency target of its own, and
    /// without a law it has none (White 2014 §9).
    #[serde(default)]
    pub queue: QueueSpec,
    /// What is sent through this flow: packets that fit any of these classifiers. All others take the
    /// primary flow.
    #[serde(default, rename = "match")]
    pub classifiers: Vec<Classifier>,
}

/// Buffer control of a service flow: what its queue may hold, in place of `queue.limit_bytes`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Buffer {
    /// The least size in bytes.
    #[schemars(range(min = 1, max = 4_000_000_000_u64))]
    pub minimum_bytes: Option<u64>,
    /// The size in bytes. Unset: 250 ms at the sustained rate (White 2014 §9), or the nearest size
    /// that the other two keys allow.
    #[schemars(range(min = 1, max = 4_000_000_000_u64))]
    pub target_bytes: Option<u64>,
    /// The greatest size in bytes.
    #[schemars(range(min = 1, max = 4_000_000_000_u64))]
    pub maximum_bytes: Option<u64>,
}

impl Buffer {
    /// The size in bytes of the buffer of a flow with this sustained rate, if it is controlled. A
    /// modem that meets its target needs neither bound.
    pub fn bytes(&self, sustained_mbps: f64) -> Option<u64> {
        if *self == Self::default() {
            return None;
        }
        let default = default_limit_bytes(BitRate::from_mbps(sustained_mbps));
        let least = self.minimum_bytes.unwrap_or(1);
        let greatest = self.maximum_bytes.unwrap_or(u64::MAX);
        Some(self.target_bytes.unwrap_or_else(|| default.max(least).min(greatest)))
    }
}

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

/// A service flow's keys, laid into those of the primary flow: so every flow is made alike.
macro_rules! service_flows {
    ($way:ty) => {
        impl $way {
            /// Every service flow as a table of its own, the primary one first.
            pub fn service_flows(&self) -> Vec<Self> {
                let alone = Self { flows: IndexMap::new(), ..self.clone() };
                let further = self.flows.values().map(|flow| Self {
                    sustained_mbps: flow.sustained_mbps,
                    peak_mbps: flow.peak_mbps,
                    burst_bytes: flow.burst_bytes,
                    minimum_mbps: flow.minimum_mbps,
                    priority: flow.priority,
                    buffer: flow.buffer,
                    queue: flow.queue.clone(),
                    ..alone.clone()
                });
                [alone.clone()].into_iter().chain(further).map(Self::with_buffer_and_aqm).collect()
            }

            /// Buffer control and the switch for all AQM, as the queue sees them.
            fn with_buffer_and_aqm(mut self) -> Self {
                let controlled = self.buffer.bytes(self.sustained_mbps);
                self.queue.limit_bytes = controlled.or(self.queue.limit_bytes);
                if !self.aqm {
                    self.queue.law = LawSpec::default();
                }
                self
            }
        }
    };
}

service_flows!(Upstream);
service_flows!(Downstream);

impl Downstream {
    /// The weights of all service flows, that of the primary one first.
    pub fn weights(&self) -> Vec<f64> {
        let further = self.flows.values().map(|flow| flow.weight.unwrap_or(self.weight));
        [self.weight].into_iter().chain(further).collect()
    }

    /// The minimum reserved rates of all service flows in Mbps, that of the primary one first.
    pub fn minimum_mbps(&self) -> Vec<f64> {
        let further = self.flows.values().map(|flow| flow.minimum_mbps);
        [self.minimum_mbps].into_iter().chain(further).collect()
    }

    /// The traffic priorities of all service flows, that of the primary one first.
    pub fn priorities(&self) -> Vec<u8> {
        let further = self.flows.values().map(|flow| flow.priority);
        [self.priority].into_iter().chain(further).collect()
    }
}

/// What an entry of the traffic list says besides what it does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Labels {
    /// The group of homes in each of which it runs. Unset: the first.
    pub home: Option<String>,
    /// DSCP of its packets, both ways (RFC 2474 §3).
    #[schemars(range(min = 0, max = 63))]
    pub dscp: u8,
    /// Port of its servers. Unset: 443 for what comes from the web and for transfers, 5004 for voice,
    /// 3074 for games, 6881 for torrents, 9 for all else. The home's ports count up from 49 152.
    #[schemars(range(min = 1, max = 65_535))]
    pub port: Option<u16>,
    /// IPv4 address of the device in the home, for classifiers that look at it.
    #[schemars(with = "Option<String>")]
    pub address: Option<Address>,
}

/// An entry of the traffic list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Map<String, Value>", into = "Map<String, Value>")]
pub struct Entry {
    /// What it does.
    pub app: AppSpec,
    /// Where it does it, and by what its packets are told.
    pub labels: Labels,
}

impl Entry {
    /// The port of its servers.
    pub fn port(&self) -> u16 {
        self.labels.port.unwrap_or_else(|| self.app.default_port())
    }
}

impl TryFrom<Map<String, Value>> for Entry {
    type Error = serde_json::Error;

    fn try_from(mut table: Map<String, Value>) -> Result<Self, Self::Error> {
        let labels = ["home", "dscp", "port", "address"].map(|key| (key, table.shift_remove(key)));
        let given = labels.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
        let labels = serde_json::from_value(given.collect())?;
        Ok(Self { app: serde_json::from_value(table.into())?, labels })
    }
}

impl From<Entry> for Map<String, Value> {
    fn from(entry: Entry) -> Self {
        let tables = [serde_json::to_value(entry.app), serde_json::to_value(entry.labels)];
        tables
            .into_iter()
            .flatten()
            .filter_map(|table| Some(table.as_object()?.clone()))
            .flatten()
            .collect()
    }
}

impl JsonSchema for Entry {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Entry".into()
    }

    /// Every kind of app, with the labels among its keys.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = AppSpec::json_schema(generator);
        let labels = Labels::json_schema(generator);
        let labels = labels.get("properties").and_then(Value::as_object);
        let kinds = schema.ensure_object().get_mut("oneOf").and_then(Value::as_array_mut);
        for kind in kinds.into_iter().flatten() {
            if let Some(keys) = kind["properties"].as_object_mut() {
                keys.extend(labels.cloned().unwrap_or_default());
            }
        }
        schema
    }
}
