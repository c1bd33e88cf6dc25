//! What a home is sold: the service flows of each direction, with their rates, buffers and queue
//! managers.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::classifier::Classifier;
use super::docsis::congestion::Congestion;
use super::docsis::parameters::{Mac, ModemSpec, Shaping};
use crate::aqm::AqmSpec;
use crate::queue::{QueueSpec, default_limit_bytes};
use crate::units::BitRate;

/// What results call the service flow that the table itself describes.
pub const PRIMARY: &str = "primary";

fn yes() -> bool {
    true
}

fn weight_of_one() -> f64 {
    1.0
}

/// The modem's upstream service flow: a rate service with bursts (White 2014 appendix C).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Upstream {
    /// Maximum sustained traffic rate in Mbps.
    #[schemars(range(min = 0.001, max = 100_000.0))]
    pub sustained_mbps: f64,
    /// Peak traffic rate in Mbps, at least the sustained rate.
    #[schemars(range(min = 0.001, max = 100_000.0))]
    pub peak_mbps: f64,
    /// Maximum traffic burst in bytes: what may pass at the peak rate after a long idle time.
    #[schemars(range(min = 1522, max = 4_294_967_295_u64))]
    pub burst_bytes: u64,
    /// Minimum reserved traffic rate in Mbps of the primary flow, at most the sustained rate. It matters
    /// on a channel that flows share (`modem.kind = "shared_channel"`).
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub minimum_mbps: f64,
    /// Traffic priority of the primary flow, 7 the highest, where flows share a channel.
    #[serde(default)]
    #[schemars(range(min = 0, max = 7))]
    pub priority: u8,
    /// What the token buckets hold back: requests for bandwidth, as the studies' ns-2 did, or
    /// transmissions, as White 2014 appendix C says. Unset: by dialect.
    #[serde(default)]
    pub shaping: Option<Shaping>,
    /// One queue, two, one on a channel shared with others, or no modem at all.
    #[serde(default)]
    pub modem: ModemSpec,
    /// Request and grant.
    #[serde(default)]
    pub mac: Mac,
    /// Capacity left by other modems on the channel. Unset: enough for the peak rate.
    #[serde(default)]
    pub congestion: Option<Congestion>,
    /// Queue manager of the modem.
    #[serde(default)]
    pub queue: QueueSpec,
    /// Buffer control of the primary flow.
    #[serde(default)]
    pub buffer: Buffer,
    /// AQM of all flows; `false` switches off the laws of all their queues (White 2014 §9).
    #[serde(default = "yes")]
    pub aqm: bool,
    /// Further service flows, by name, each with queue and rates of its own. What fits none of their
    /// classifiers takes the primary flow, which is this table itself.
    #[serde(default)]
    #[schemars(extend("maxProperties" = 31))]
    pub flows: IndexMap<String, ServiceFlow>,
}

/// The downstream service flow at the CMTS.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Downstream {
    /// Maximum sustained traffic rate in Mbps.
    #[schemars(range(min = 0.001, max = 100_000.0))]
    pub sustained_mbps: f64,
    /// Peak traffic rate in Mbps, at least the sustained rate.
    #[schemars(range(min = 0.001, max = 100_000.0))]
    pub peak_mbps: f64,
    /// Maximum traffic burst in bytes.
    #[schemars(range(min = 1522, max = 4_294_967_295_u64))]
    pub burst_bytes: u64,
    /// Minimum reserved traffic rate in Mbps of the primary flow, at most the sustained rate. It matters
    /// where homes share the channel (`cmts`) and its scheduler, `drr`, tells service flows apart.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub minimum_mbps: f64,
    /// Traffic priority of the primary flow, 7 the highest, where flows share a channel.
    #[serde(default)]
    #[schemars(range(min = 0, max = 7))]
    pub priority: u8,
    /// Rate of the channels together in Mbps. Unset: ten times the peak rate, so that the service
    /// and not the channel is the limit.
    #[serde(default)]
    #[schemars(range(min = 0.001, max = 1_000_000.0))]
    pub channel_mbps: Option<f64>,
    /// With `cmts`: whether the token buckets hold packets back before the channel, in a queue of their
    /// own. If not, packets go to the channel's queue at once, and the rates are but what times to the
    /// sustained and peak rate refer to.
    #[serde(default = "yes")]
    pub regulator: bool,
    /// With `cmts`: share of the channel, in proportion to others, of each service flow; it counts where
    /// the scheduler knows weights (`drr`, `abb`), and is multiplied with that of the traffic entry.
    #[serde(default = "weight_of_one")]
    #[schemars(range(min = 0.01, max = 1000.0))]
    pub weight: f64,
    /// Queue manager at the CMTS; with `cmts`, that of the regulator.
    #[serde(default)]
    pub queue: QueueSpec,
    /// Buffer control of the primary flow.
    #[serde(default)]
    pub buffer: Buffer,
    /// AQM of all flows; `false` switches off the laws of all their queues (White 2014 §9).
    #[serde(default = "yes")]
    pub aqm: bool,
    /// Further service flows, by name, each with queue and rates of its own. What fits none of their
    /// classifiers takes the primary flow, which is this table itself.
    #[serde(default)]
    #[schemars(extend("maxProperties" = 31))]
    pub flows: IndexMap<String, ServiceFlow>,
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

            /// The primary flow alone.
            pub fn primary(&self) -> Self {
                Self { flows: IndexMap::new(), ..self.clone() }.with_buffer_and_aqm()
            }

            /// Names of the flows, an empty one for the primary flow first.
            pub fn flow_names(&self) -> impl Iterator<Item = &str> {
                [""].into_iter().chain(self.flows.keys().map(String::as_str))
            }

            /// The classifiers of the further flows.
            pub fn classifiers(&self) -> impl Iterator<Item = &[Classifier]> {
                self.flows.values().map(|flow| flow.classifiers.as_slice())
            }

            /// Buffer control and the switch for all AQM, as the queue sees them.
            fn with_buffer_and_aqm(mut self) -> Self {
                let controlled = self.buffer.bytes(self.sustained_mbps);
                self.queue.limit_bytes = controlled.or(self.queue.limit_bytes);
                if !self.aqm {
                    self.queue.law = AqmSpec::default();
                }
                self
            }
        }
    };
}

service_flows!(Upstream);
service_flows!(Downstream);

impl Upstream {
    /// The first key set of those that only homes on a cable have.
    pub fn cable_key(&self) -> Option<&'static str> {
        let has_modem = self.modem != ModemSpec::default();
        if has_modem { Some("modem") } else { self.mac_key() }
    }

    /// The first key set of those that only a modem with a MAC of its own has.
    pub fn mac_key(&self) -> Option<&'static str> {
        let given = [
            ("mac", self.mac != Mac::default()),
            ("congestion", self.congestion.is_some()),
            ("shaping", self.shaping.is_some()),
        ];
        given.iter().find(|(_, is_given)| *is_given).map(|(key, _)| *key)
    }
}

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
