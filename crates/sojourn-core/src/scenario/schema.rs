//! The scenario: the one definition of its keys, units, ranges and defaults.
//!
//! Doc comments here are what users read in the JSON Schema; ranges are checked from there too.

use indexmap::IndexMap;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Deserialize, Serialize};

use super::address::Address;
use super::channel::UpstreamChannel;
use super::cmts::Cmts;
use super::homes::{Buffer, Entry, Homes, ServiceFlow};
use crate::queue::QueueSpec;
use crate::tcp::TcpOptions;

/// Which set of rules the parts follow where the published studies' ns-2 differs from the documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// As the RFCs and the DOCSIS specification say.
    #[default]
    Rfc,
    /// As the ns-2 code of the studies did.
    Ns2,
}

/// Homes on cable modems, the servers they talk to, and what their people do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// A line to head tables and reports.
    #[serde(default)]
    pub title: String,
    /// What the scenario is for and where its values come from.
    #[serde(default)]
    pub description: String,
    /// Simulated time in s.
    #[schemars(range(min = 0.001, max = 1_000_000.0))]
    pub duration_s: f64,
    /// Seed of all random streams.
    #[serde(default = "one")]
    pub seed: u64,
    /// Rules that the parts follow unless they say otherwise.
    #[serde(default)]
    pub dialect: Dialect,
    /// Propagation on the cable plant.
    #[serde(default)]
    pub cable: Cable,
    /// The modem's upstream service flow. Others are in its `flows`.
    pub upstream: Upstream,
    /// The downstream service flow at the CMTS. Others are in its `flows`.
    pub downstream: Downstream,
    /// The upstream channel of all modems of kind `shared_channel`.
    #[serde(default)]
    pub upstream_channel: UpstreamChannel,
    /// The downstream channel that all homes share. None given: each service flow has one to itself.
    #[serde(default)]
    pub cmts: Option<Cmts>,
    /// Groups of homes, by name. None given: one home, called `home`, with the above.
    #[serde(default)]
    pub homes: IndexMap<String, Homes>,
    /// Hosts beyond the CMTS, by name.
    #[serde(default)]
    pub servers: IndexMap<String, Server>,
    /// TCP of all connections; entries of the traffic list may differ in single keys.
    #[serde(default)]
    pub tcp: TcpOptions,
    /// Who does what, by name.
    #[schemars(extend("minProperties" = 1))]
    pub traffic: IndexMap<String, Entry>,
    /// What is measured.
    #[serde(default)]
    pub metrics: Metrics,
}

fn one() -> u64 {
    1
}

fn yes() -> bool {
    true
}

fn weight_of_one() -> f64 {
    1.0
}

/// Propagation on the cable plant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Cable {
    /// One-way delay between modem and CMTS in ms, besides the MAC (White & Padden 2012 §2.3: 1).
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub delay_ms: f64,
}

impl Default for Cable {
    fn default() -> Self {
        Self { delay_ms: 1.0 }
    }
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

/// What the upstream token buckets hold back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Shaping {
    /// Requests for bandwidth.
    Requests,
    /// Transmissions.
    Transmissions,
}

/// How the modem is built.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ModemSpec {
    /// One queue does rate shaping, request and grant (White & Rice 2013 §3.1).
    #[default]
    SingleQueue,
    /// A rate-shaping queue with the queue manager, and behind it a drop-tail transmit queue that
    /// requests and sends, from the start of a MAP interval on (White & Padden 2012 §2.2).
    TwoQueues {
        /// Packets the transmit queue may hold (§3.1.2: 32), if `transmit_bytes` is unset.
        #[serde(default = "thirty_two")]
        #[schemars(range(min = 2, max = 1_000_000))]
        transmit_packets: u64,
        /// Bytes the transmit queue may hold, in place of a number of packets.
        #[serde(default)]
        #[schemars(range(min = 3036, max = 1_000_000_000))]
        transmit_bytes: Option<u64>,
        /// A full transmit queue makes packets wait in the rate-shaping queue rather than dropping
        /// them (§2.2.3, the second alternative).
        #[serde(default)]
        back_pressure: bool,
        /// The queue manager judges a packet by its time in the rate-shaping queue and that of the
        /// packet that last left the transmit queue there, and by the backlog of both (§2.2.3, the
        /// first alternative).
        #[serde(default)]
        sojourn_across_both: bool,
    },
    /// One queue on the upstream channel that all such modems share (`upstream_channel`), with
    /// requests in contention and grants by what others need. `mac`, `congestion` and `shaping`
    /// have no place then: neighbours make the congestion, and the CMTS keeps the rates.
    SharedChannel,
    /// No modem: a link at the peak rate behind the queue and the token buckets, without request and
    /// grant, so that a plain dumbbell can be simulated. `mac`, `congestion` and `shaping` have no
    /// place then.
    Link,
}

fn thirty_two() -> u64 {
    32
}

/// Request-grant MAC of the modem (White & Rice 2013 §3.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Mac {
    /// Time between MAPs in ms (White & Padden 2012 §2.2.2: 2).
    #[schemars(range(min = 0.1, max = 100.0))]
    pub map_interval_ms: f64,
    /// Rate at which a burst is sent in Mbps: the channels' together. Unset: 100, as in CableLabs'
    /// ns-2 script, or twice the peak rate where that is more.
    #[schemars(range(min = 0.1, max = 1_000_000.0))]
    pub channel_mbps: Option<f64>,
    /// How far the greatest grant of a MAP wanders around its mean without congestion, in percent
    /// (CableLabs' ns-2 script: 1).
    #[schemars(range(min = 0.0, max = 100.0))]
    pub grant_spread_percent: f64,
}

impl Default for Mac {
    fn default() -> Self {
        Self { map_interval_ms: 2.0, channel_mbps: None, grant_spread_percent: 1.0 }
    }
}

/// A channel whose free capacity changes in steps: in the pattern of the CableLabs studies, with
/// four levels and each of the twelve changes between two of them once per cycle (White & Rice 2013
/// §3.3), or in any other one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Congestion {
    /// The four levels of free capacity in Mbps, ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 4, max = 4), inner(range(min = 0.001, max = 100_000.0)))]
    pub levels_mbps: Vec<f64>,
    /// In place of levels: what is free for how long, one after the other, and again from the
    /// first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 10_000))]
    pub steps: Vec<Step>,
    /// Time at each of the levels in s; the pattern repeats after 12 of them (White 2014 §2.3: 10).
    #[serde(default = "ten")]
    #[schemars(range(min = 0.1, max = 100_000.0))]
    pub step_s: f64,
    /// How far the greatest grant wanders around its mean, in percent (White & Padden 2012 §3.1.3:
    /// 20).
    #[serde(default = "twenty")]
    #[schemars(range(min = 0.0, max = 100.0))]
    pub grant_spread_percent: f64,
}

/// A time of the same free capacity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// How long it lasts, in s.
    #[schemars(range(min = 0.001, max = 1_000_000.0))]
    pub for_s: f64,
    /// Free capacity in Mbps.
    #[schemars(range(min = 0.001, max = 100_000.0))]
    pub mbps: f64,
}

fn ten() -> f64 {
    10.0
}

fn twenty() -> f64 {
    20.0
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

/// A host beyond the CMTS, on a link of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// One-way delay of its link in ms. The round trip of a packet is twice this, twice the cable's
    /// delay and the MAC's.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub delay_ms: f64,
    /// Rate of its link in Mbps.
    #[serde(default = "gigabit")]
    #[schemars(range(min = 0.001, max = 1_000_000.0))]
    pub rate_mbps: f64,
    /// Chance of a packet to be lost on its link, either way, in percent, each by itself.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 100.0))]
    pub loss_percent: f64,
    /// Its IPv4 address, for classifiers that look at it.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub address: Option<Address>,
}

fn gigabit() -> f64 {
    1000.0
}

/// What is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Metrics {
    /// Time between the values of all series in ms (White & Rice 2013 §4.4: 100). Doubles by itself
    /// where a run is so long that a series would have more than 4096 values.
    #[schemars(range(min = 1.0, max = 1_000_000.0))]
    pub series_interval_ms: f64,
    /// Keep headers, times and fate of every packet. Memory then grows with the run: about 130 bytes a
    /// packet.
    pub packet_trace: bool,
    /// Keep what happens at the primary upstream service flow of the first home, event by event, and
    /// the parts of its packets' delay. Memory then grows with the run: about 600 bytes a packet.
    pub modem_trace: bool,
    /// How many flows of each queue are watched one by one, the first that come: series of the bin,
    /// weight, deficit and law's state of each, where the queue manager tells flows apart.
    #[schemars(range(min = 0, max = 64))]
    pub watch_flows: u32,
    /// Connections of each traffic entry that get an account of their own: a row of `connections`
    /// and a throughput series for each direction, at most 33 kB together. Connections that an entry
    /// opens after these are in the account of the entry alone, so that memory does not grow with
    /// simulated time. The default is what the largest entry of White & Rice 2013 §3.6 opens at once.
    #[schemars(range(min = 0, max = 100_000))]
    pub connections: u32,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            series_interval_ms: 100.0,
            packet_trace: false,
            modem_trace: false,
            watch_flows: 0,
            connections: 32,
        }
    }
}

/// The JSON Schema (draft 2020-12) of a scenario, from the types of this module.
pub fn json_schema() -> serde_json::Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    generator.into_root_schema_for::<Scenario>().to_value()
}
