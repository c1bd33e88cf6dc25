//! A home's service: the service flows of each direction with their rates, buffers and queue
//! managers.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_input::defaults::{number, yes};

use super::classifier::Classifier;
use super::docsis::congestion::Congestion;
use super::docsis::outages::Outage;
use super::docsis::parameters::{Mac, ModemSpec, Shaping};
use super::docsis::scheduling_service::SchedulingService;
use sojourn_engine::capacity::Trace;
use sojourn_engine::queue::{QueueSpec, default_limit_bytes};
use sojourn_engine::units::BitRate;
use sojourn_input::problem::Fault;
use sojourn_input::words;

/// Name, in results, of the service flow that the table itself describes.
pub const PRIMARY: &str = "primary";

/// The modem's primary upstream service flow: a rate service with bursts (White 2014 appendix C).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Upstream {
    /// Maximum sustained traffic rate in Mbps.
    #[schemars(range(min = 0.001, max = 100_000.0), extend("x-live" = true))]
    pub sustained_mbps: f64,
    /// Peak traffic rate in Mbps. It must be at least `sustained_mbps`. Default: `sustained_mbps`.
    #[serde(default)]
    #[schemars(range(min = 0.001, max = 100_000.0), extend("x-live" = true))]
    pub peak_mbps: Option<f64>,
    /// Maximum traffic burst in bytes: what may pass at the peak rate after a long idle time.
    /// Default: 3044 (DOCSIS MULPI §C.2.2.7.3); if it is more, the bytes that the sustained rate
    /// brings in two MAP intervals plus a full frame. With less the flow could not reach its
    /// sustained rate.
    #[serde(default)]
    #[schemars(range(min = 1522, max = 4_294_967_295_u64))]
    pub burst_bytes: Option<u64>,
    /// Minimum reserved traffic rate of the primary flow in Mbps. It must not exceed
    /// `sustained_mbps`. It has an effect only with `modem.kind = "shared_channel"`, where flows
    /// share the channel.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub minimum_mbps: f64,
    /// Traffic priority of the primary flow, 7 being the highest. It has an effect only where flows
    /// share a channel.
    #[serde(default)]
    #[schemars(range(min = 0, max = 7))]
    pub priority: u8,
    /// What the token buckets limit: requests or transmissions. Default: `requests` in the `ns2`
    /// dialect, as in the studies' ns-2 code, and `transmissions` in the others (White 2014
    /// appendix C).
    #[serde(default)]
    #[schemars(extend("x-role" = "choice"))]
    pub shaping: Option<Shaping>,
    /// How the modem is built, chosen by `kind`: one queue, two queues, one queue on a shared
    /// channel, or a plain link.
    #[serde(default)]
    #[schemars(extend("x-role" = "choice"))]
    pub modem: ModemSpec,
    /// The modem's request-grant MAC.
    #[serde(default)]
    pub mac: Mac,
    /// Scheduling service of the primary flow, chosen by `kind`: `best_effort`, `ugs`,
    /// `ugs_with_activity_detection`, `real_time_polling`, `non_real_time_polling` or
    /// `proactive_grants` (DOCSIS 3.1 MULPI §7.2.3). All but best effort need a modem of kind
    /// `single_queue` or `shared_channel`.
    #[serde(default)]
    #[schemars(extend("x-role" = "choice"))]
    pub scheduling: SchedulingService,
    /// Bits per symbol of the profile with which this modem sends on the shared channel; with OFDMA
    /// per symbol and subcarrier. Default: that of `upstream_channel.phy`.
    #[serde(default)]
    #[schemars(range(min = 1.0, max = 12.0))]
    pub profile_bits: Option<f64>,
    /// The channels of `upstream_channel.bonded` on which this modem sends: its bonding group. Default: all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("maxItems" = 64))]
    pub bonding_group: Vec<String>,
    /// Times in which the modem has lost its ranging. It sends nothing, not even requests, and
    /// packets wait in its queues. Default: none.
    #[serde(default)]
    #[schemars(extend("maxItems" = 100))]
    pub ranging_outages: Vec<Outage>,
    /// Times in which the modem's processor stalls and it sends nothing, not even requests. Default:
    /// none. For both directions, name them in `downstream` too.
    #[serde(default)]
    #[schemars(extend("maxItems" = 100))]
    pub stalls: Vec<Outage>,
    /// What a plain link (`modem.kind = "link"`) carries over time, below the rates of the service. Default: the
    /// peak rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Trace>,
    /// Upstream capacity that other modems leave free. Default: no congestion.
    #[serde(default)]
    pub congestion: Option<Congestion>,
    /// Queue manager of the modem's primary flow.
    #[serde(default)]
    pub queue: QueueSpec,
    /// Buffer control of the primary flow (White 2014 §9).
    #[serde(default)]
    pub buffer: Buffer,
    /// Whether the upstream queues use their AQM algorithms. `false` switches `law` and the algorithms of the scheduler
    /// `low_latency` off (White 2014 §9). Schedulers that are AQM algorithms themselves are refused beside it.
    #[serde(default = "yes")]
    #[schemars(extend("x-role" = "choice"))]
    pub aqm: bool,
    /// Further upstream service flows, by name, each with its own queue and rates. Packets that
    /// match no classifier take the primary flow, which the table around `flows` describes.
    #[serde(default)]
    #[schemars(extend("maxProperties" = 31))]
    #[schemars(extend("x-role" = "choice"))]
    pub flows: IndexMap<String, ServiceFlow>,
}

/// The home's primary downstream service flow at the CMTS.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Downstream {
    /// Maximum sustained traffic rate in Mbps.
    #[schemars(range(min = 0.001, max = 100_000.0), extend("x-live" = true))]
    pub sustained_mbps: f64,
    /// Peak traffic rate in Mbps. It must be at least `sustained_mbps`. Default: `sustained_mbps`.
    #[serde(default)]
    #[schemars(range(min = 0.001, max = 100_000.0), extend("x-live" = true))]
    pub peak_mbps: Option<f64>,
    /// Maximum traffic burst in bytes: what may pass at the peak rate after a long idle time.
    /// Default: 3044 (DOCSIS MULPI §C.2.2.7.3).
    #[serde(default)]
    #[schemars(range(min = 1522, max = 4_294_967_295_u64))]
    pub burst_bytes: Option<u64>,
    /// Times in which the modem's processor stalls: what the modem receives comes to the home when the
    /// stall is over. Default: none. For both directions, name them in `upstream` too.
    #[serde(default)]
    #[schemars(extend("maxItems" = 100))]
    pub stalls: Vec<Outage>,
    /// Minimum reserved traffic rate of the primary flow in Mbps. It must not exceed
    /// `sustained_mbps`. It has an effect only where homes share the channel (`cmts`) and the CMTS
    /// runs the `drr` scheduler on service flows.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub minimum_mbps: f64,
    /// Traffic priority of the primary flow, 7 being the highest. It has an effect only where flows
    /// share a channel.
    #[serde(default)]
    #[schemars(range(min = 0, max = 7))]
    pub priority: u8,
    /// Total rate of the downstream channels in Mbps. Default: ten times the peak rate, so the
    /// channel is never the bottleneck.
    #[serde(default)]
    #[schemars(range(min = 0.001, max = 1_000_000.0))]
    pub channel_mbps: Option<f64>,
    /// What the downstream channels carry over time, instead of `channel_mbps`. It is not allowed where homes
    /// share the channel (`cmts`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Trace>,
    /// Bits per symbol and subcarrier of the profile in which this modem receives on the OFDM channel
    /// of `cmts`. Default: that of the channel.
    #[serde(default)]
    #[schemars(range(min = 4.0, max = 14.0))]
    pub profile_bits: Option<f64>,
    /// The channels of `cmts.bonded` on which this modem receives: its bonding group. Default: all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("maxItems" = 64))]
    pub bonding_group: Vec<String>,
    /// With `cmts`: whether each service flow passes its own token buckets and queue before the
    /// shared channel. With `false`, packets go straight to the channel's queue, and the rates only
    /// serve as reference values in results.
    #[serde(default = "yes")]
    #[schemars(extend("x-role" = "choice"))]
    pub regulator: bool,
    /// With `cmts`: weight of each service flow on the channel. It has an effect with the
    /// schedulers `drr`, `wfq`, `scfq` and `abb`, which multiply it by the weight of the traffic entry.
    #[serde(default = "number::<f64, 1>")]
    #[schemars(range(min = 0.01, max = 1000.0))]
    #[schemars(extend("x-role" = "choice"))]
    pub weight: f64,
    /// Queue manager of the primary flow at the CMTS. With `cmts` it is the queue of the regulator.
    #[serde(default)]
    pub queue: QueueSpec,
    /// Buffer control of the primary flow (White 2014 §9).
    #[serde(default)]
    pub buffer: Buffer,
    /// Whether the downstream queues use their AQM algorithms. `false` switches `law` and the algorithms of the scheduler
    /// `low_latency` off (White 2014 §9). Schedulers that are AQM algorithms themselves are refused beside it.
    #[serde(default = "yes")]
    #[schemars(extend("x-role" = "choice"))]
    pub aqm: bool,
    /// Further downstream service flows, by name, each with its own queue and rates. Packets that
    /// match no classifier take the primary flow, which the table around `flows` describes.
    #[serde(default)]
    #[schemars(extend("maxProperties" = 31))]
    #[schemars(extend("x-role" = "choice"))]
    pub flows: IndexMap<String, ServiceFlow>,
}

/// A service flow in addition to the primary one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServiceFlow {
    /// Maximum sustained traffic rate in Mbps.
    #[schemars(range(min = 0.001, max = 100_000.0), extend("x-live" = true))]
    pub sustained_mbps: f64,
    /// Peak traffic rate in Mbps. It must be at least `sustained_mbps`. Default: `sustained_mbps`.
    #[serde(default)]
    #[schemars(range(min = 0.001, max = 100_000.0), extend("x-live" = true))]
    pub peak_mbps: Option<f64>,
    /// Maximum traffic burst in bytes: what may pass at the peak rate after a long idle time.
    /// Default: by the same rule as for the primary flow of its direction, with this flow's
    /// sustained rate.
    #[serde(default)]
    #[schemars(range(min = 1522, max = 4_294_967_295_u64))]
    pub burst_bytes: Option<u64>,
    /// Minimum reserved traffic rate in Mbps. It must not exceed `sustained_mbps`. It has an effect
    /// only where flows share a channel: upstream with `modem.kind = "shared_channel"`, downstream
    /// with `cmts` and its `drr` scheduler.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub minimum_mbps: f64,
    /// Traffic priority, 7 being the highest. It has an effect only where flows share a channel.
    #[serde(default)]
    #[schemars(range(min = 0, max = 7))]
    pub priority: u8,
    /// Scheduling service of an upstream flow, with the same choices as for the primary flow.
    #[serde(default)]
    pub scheduling: SchedulingService,
    /// Weight of this flow on the channel of `cmts`. Default: the weight of the primary flow.
    #[serde(default)]
    #[schemars(range(min = 0.01, max = 1000.0))]
    pub weight: Option<f64>,
    /// Buffer control of this flow (White 2014 §9).
    #[serde(default)]
    pub buffer: Buffer,
    /// Queue manager of this flow. Its `law` is the flow's own AQM algorithm with its own latency
    /// target; without one the flow has no AQM (White 2014 §9).
    #[serde(default)]
    pub queue: QueueSpec,
    /// Classifiers that select the packets of this flow. A packet that matches any of them takes
    /// this flow, all others the primary flow.
    #[serde(default, rename = "match")]
    pub classifiers: Vec<Classifier>,
}

/// Buffer control of a service flow: the size of its queue, in place of `queue.limit_bytes` (White
/// 2014 §9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-role" = "choice"))]
#[serde(deny_unknown_fields, default)]
pub struct Buffer {
    /// Minimum buffer size in bytes.
    #[schemars(range(min = 1, max = 4_000_000_000_u64))]
    pub minimum_bytes: Option<u64>,
    /// Target buffer size in bytes. Default: 250 ms at the sustained rate (White 2014 §9), kept
    /// within `minimum_bytes` and `maximum_bytes`.
    #[schemars(range(min = 1, max = 4_000_000_000_u64))]
    pub target_bytes: Option<u64>,
    /// Maximum buffer size in bytes.
    #[schemars(range(min = 1, max = 4_000_000_000_u64))]
    pub maximum_bytes: Option<u64>,
}

impl Buffer {
    /// The buffer size in bytes of a flow with this sustained rate, or `None` without buffer
    /// control. A modem that meets its target needs neither bound.
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

/// The maximum traffic burst of a flow that sets none, in bytes (DOCSIS MULPI §C.2.2.7.3).
pub const DEFAULT_BURST_BYTES: u64 = 3044;

/// The rates and the burst of a service flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// Maximum sustained traffic rate in Mbps.
    pub sustained_mbps: f64,
    /// Peak traffic rate in Mbps.
    pub peak_mbps: f64,
    /// Minimum reserved traffic rate in Mbps.
    pub minimum_mbps: f64,
    /// Maximum traffic burst in bytes.
    pub burst_bytes: u64,
}

/// The key path of a service flow in the direction at `path`. The primary flow has no name, and is the
/// direction itself.
pub fn flow_path(path: &str, name: &str) -> String {
    match name {
        "" => path.to_owned(),
        name => words::join(&words::join(path, "flows"), name),
    }
}

/// What all tables of a service flow have.
macro_rules! terms {
    ($($table:ty),*) => {$(
        impl $table {
            /// The flow's rates and burst.
            pub fn terms(&self) -> Terms {
                Terms {
                    sustained_mbps: self.sustained_mbps,
                    peak_mbps: self.peak_mbps.unwrap_or(self.sustained_mbps),
                    minimum_mbps: self.minimum_mbps,
                    burst_bytes: self.burst_bytes.unwrap_or(DEFAULT_BURST_BYTES),
                }
            }

            /// Names the defaults of the peak rate and of the burst, which holds `least` bytes.
            fn fill_own(&mut self, least: &dyn Fn(f64) -> u64) {
                self.peak_mbps.get_or_insert(self.sustained_mbps);
                let least = least(self.sustained_mbps);
                self.burst_bytes.get_or_insert(DEFAULT_BURST_BYTES.max(least));
            }
        }
    )*};
}

terms!(Upstream, Downstream, ServiceFlow);

/// Copies a further flow's keys into a table like that of the primary flow, so that every flow is
/// built in the same way.
macro_rules! service_flows {
    ($way:ty $(, $own:ident)*) => {
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
                    $($own: flow.$own.clone(),)*
                    buffer: flow.buffer,
                    queue: flow.queue.clone(),
                    ..alone.clone()
                });
                [alone.clone()].into_iter().chain(further).map(Self::with_buffer_and_aqm).collect()
            }

            /// Names the defaults of peak rates and bursts. `least` is the burst that a sustained
            /// rate in Mbps needs, in bytes.
            pub fn fill(&mut self, least: &dyn Fn(f64) -> u64) {
                self.fill_own(least);
                self.flows.values_mut().for_each(|flow| flow.fill_own(least));
            }

            /// The primary flow alone.
            pub fn primary(&self) -> Self {
                Self { flows: IndexMap::new(), ..self.clone() }.with_buffer_and_aqm()
            }

            /// Names of the flows; the primary flow comes first, with an empty name.
            pub fn flow_names(&self) -> impl Iterator<Item = &str> {
                [""].into_iter().chain(self.flows.keys().map(String::as_str))
            }

            /// The classifiers of the further flows.
            pub fn classifiers(&self) -> impl Iterator<Item = &[Classifier]> {
                self.flows.values().map(|flow| flow.classifiers.as_slice())
            }

            /// What the `aqm` switch cannot switch off.
            pub(crate) fn check_aqm(&self) -> Result<(), Fault> {
                let queues = self.flows.values().map(|flow| &flow.queue);
                let mut on = [&self.queue].into_iter().chain(queues).filter(|_| !self.aqm);
                on.try_for_each(QueueSpec::check_aqm_off)
            }

            /// Applies buffer control and the `aqm` switch to the queue.
            fn with_buffer_and_aqm(mut self) -> Self {
                let controlled = self.buffer.bytes(self.sustained_mbps);
                self.queue.limit_bytes = controlled.or(self.queue.limit_bytes);
                if !self.aqm {
                    self.queue.switch_aqm_off();
                }
                self
            }
        }
    };
}

service_flows!(Upstream, scheduling);
service_flows!(Downstream);

impl Upstream {
    /// The first key that is set and means something only on a cable.
    pub fn cable_key(&self) -> Option<&'static str> {
        let further = self.flows.values().map(|flow| &flow.scheduling);
        let given = [
            ("modem", self.modem != ModemSpec::default()),
            ("profile_bits", self.profile_bits.is_some()),
            ("ranging_outages", !self.ranging_outages.is_empty()),
            ("stalls", !self.stalls.is_empty()),
            (
                "scheduling",
                [&self.scheduling].into_iter().chain(further).any(|s| !s.is_best_effort()),
            ),
        ];
        let found = given.iter().find(|(_, is_given)| *is_given).map(|(key, _)| *key);
        found.or_else(|| self.mac_key())
    }

    /// The first key that is set and means something only for a modem with its own MAC.
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
    /// Weights of all service flows, the primary flow first.
    pub fn weights(&self) -> Vec<f64> {
        let further = self.flows.values().map(|flow| flow.weight.unwrap_or(self.weight));
        [self.weight].into_iter().chain(further).collect()
    }

    /// Minimum reserved rates of all service flows in Mbps, the primary flow first.
    pub fn minimum_mbps(&self) -> Vec<f64> {
        let further = self.flows.values().map(|flow| flow.minimum_mbps);
        [self.minimum_mbps].into_iter().chain(further).collect()
    }

    /// Traffic priorities of all service flows, the primary flow first.
    pub fn priorities(&self) -> Vec<u8> {
        let further = self.flows.values().map(|flow| flow.priority);
        [self.priority].into_iter().chain(further).collect()
    }
}
