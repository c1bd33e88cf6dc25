//! How modems and the cable are built, as a scenario says it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::downstream_channel::Cmts;
use super::upstream_channel::UpstreamChannel;

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

/// What a scenario says of the plant.
pub struct PlantSpec<'a> {
    /// Propagation.
    pub cable: &'a Cable,
    /// The channel of all modems of kind `shared_channel`.
    pub upstream_channel: &'a UpstreamChannel,
    /// The downstream channel that all homes share, if they do.
    pub cmts: Option<&'a Cmts>,
}
