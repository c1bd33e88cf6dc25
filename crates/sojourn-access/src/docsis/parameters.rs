//! Scenario keys of modems and of the cable plant.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::downstream_channel::Cmts;
use super::framing::Framing;
use super::impairments::{Interconnect, Noise};
use super::timing::{PlantTiming, Specification, TimingSpec, propagation};
use super::upstream_channel::UpstreamChannel;
use sojourn_engine::units::Time;

/// One-way delay of the cable in the published studies, in ms (White & Padden 2012 §2.3).
const DOCUMENTS_DELAY_MS: f64 = 1.0;
/// Length of the cable in km (docsis-ns3's default).
const DISTANCE_KM: f64 = 8.0;

/// Propagation and request-grant timing on the cable plant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Cable {
    /// One-way propagation delay between modem and CMTS in ms. Default: the delay of `distance_km`;
    /// with timing `documents` 1 (White & Padden 2012 §2.3).
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub delay_ms: Option<f64>,
    /// Length of the cable between modem and CMTS in km. Propagation takes 5 us per km. Default: 8,
    /// as in docsis-ns3; with timing `documents` `delay_ms` applies instead. DOCSIS allows 160 km
    /// (0.8 ms). Groups in `homes` may have another length.
    #[schemars(range(min = 0.0, max = 2000.0))]
    pub distance_km: Option<f64>,
    /// Timing of request and grant, chosen by `kind`: `documents` or `specification`. Default:
    /// `documents` in the `ns2` dialect and on a plain link, otherwise `specification`.
    pub timing: Option<TimingSpec>,
    /// Size of a TCP packet for rates, buffers and results: `ip`, the IP packet, or `ethernet`, the
    /// frame from destination address to CRC, 64 bytes at least. Datagrams have the size that their
    /// traffic says, `packet_bytes` for example; with `ethernet` padding brings them to 64 bytes.
    /// Default: `ip` in the `ns2` dialect and on a plain link, otherwise `ethernet`.
    pub byte_count: Option<ByteCount>,
    /// Errors on the cable toward the CMTS. Packets that are lost count as `dropped_link_packets`.
    /// Default: none.
    pub upstream_noise: Noise,
    /// Errors on the cable toward the homes. Default: none.
    pub downstream_noise: Noise,
    /// The network between the CMTS and the nodes where modulation is done (remote PHY). Default: no
    /// delay.
    pub interconnect: Interconnect,
}

/// Which bytes the size of a TCP packet includes. The scenario gives the sizes of datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ByteCount {
    /// The IP packet, as in the studies' ns-2.
    Ip,
    /// The Ethernet frame from destination address to CRC, as service flows count (DOCSIS 3.1 MULPI
    /// §C.2.2.7.2, DOCS-QOS3-MIB): 18 bytes more than the IP packet, and 64 at least.
    Ethernet,
}

impl ByteCount {
    /// Ethernet header and CRC (IEEE 802.3 §3: 14 and 4), and the shortest frame.
    const ETHERNET: (u16, u16) = (18, 64);

    /// The counted size of an IP packet.
    #[inline]
    pub fn of_ip(self, bytes: u16) -> u16 {
        let (framing, least) = Self::ETHERNET;
        match self {
            Self::Ip => bytes,
            Self::Ethernet => (bytes + framing).max(least),
        }
    }

    /// The counted size of a frame whose size is stated as the cable counts it: short ones are padded
    /// (IEEE 802.3 §3.2.8).
    #[inline]
    pub fn of_frame(self, bytes: u16) -> u16 {
        match self {
            Self::Ip => bytes,
            Self::Ethernet => bytes.max(Self::ETHERNET.1),
        }
    }

    /// Bytes of Ethernet that a channel carries in addition to the counted size.
    pub fn uncounted(self) -> u32 {
        match self {
            Self::Ip => Self::ETHERNET.0.into(),
            Self::Ethernet => 0,
        }
    }
}

impl Cable {
    /// Chooses timing and byte count, where the scenario does not: the documents' or the
    /// specification's.
    pub fn fill(&mut self, of_documents: bool) {
        let (count, timing) = match of_documents {
            true => (ByteCount::Ip, TimingSpec::Documents),
            false => (ByteCount::Ethernet, TimingSpec::Specification(Specification::default())),
        };
        self.byte_count.get_or_insert(count);
        self.timing.get_or_insert(timing);
    }

    /// What the sizes of TCP packets count.
    pub fn byte_count(&self) -> ByteCount {
        self.byte_count.unwrap_or(ByteCount::Ip)
    }

    /// The specification's fixed times; `None` with the documents' timing.
    pub fn specification(&self) -> Option<&Specification> {
        match &self.timing {
            Some(TimingSpec::Specification(spec)) => Some(spec),
            Some(TimingSpec::Documents) | None => None,
        }
    }

    /// The one-way propagation delay to a home, whose group may have a distance of its own.
    pub fn delay(&self, own_distance_km: Option<f64>) -> Time {
        let common = || self.delay_ms.map(|ms| Time::from_secs_f64(ms / 1e3));
        let default = || match self.specification() {
            Some(_) => propagation(DISTANCE_KM),
            None => Time::from_secs_f64(DOCUMENTS_DELAY_MS / 1e3),
        };
        let of_distance = own_distance_km.map(propagation);
        of_distance.or_else(common).or(self.distance_km.map(propagation)).unwrap_or_else(default)
    }
}

/// What the upstream token buckets limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Shaping {
    /// They limit requests for bandwidth, as in the studies' ns-2 code.
    Requests,
    /// They limit transmissions (White 2014 appendix C).
    Transmissions,
}

/// How the modem is built.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ModemSpec {
    /// One queue for rate shaping and for request and grant (White & Rice 2013 §3.1).
    #[default]
    SingleQueue,
    /// A rate-shaping queue with the queue manager, followed by a drop-tail transmit queue. The
    /// transmit queue requests bandwidth and sends from the start of a MAP interval (White & Padden
    /// 2012 §2.2).
    TwoQueues {
        /// Packets that the transmit queue may hold, if `transmit_bytes` is unset (White & Padden
        /// 2012 §3.1.2: 32).
        #[serde(default = "thirty_two")]
        #[schemars(range(min = 2, max = 1_000_000))]
        transmit_packets: u64,
        /// Bytes that the transmit queue may hold. Default: `transmit_packets` is the limit.
        #[serde(default)]
        #[schemars(range(min = 3036, max = 1_000_000_000))]
        transmit_bytes: Option<u64>,
        /// Whether a full transmit queue holds packets back in the rate-shaping queue instead of
        /// dropping them (White & Padden 2012 §2.2.3, second alternative).
        #[serde(default)]
        back_pressure: bool,
        /// Whether the AQM algorithm looks at both queues (White & Padden 2012 §2.2.3, first
        /// alternative). The sojourn time is then the packet's time in the rate-shaping queue plus
        /// the time that the last packet spent in the transmit queue. The backlog is the sum of
        /// both queues.
        #[serde(default)]
        sojourn_across_both: bool,
    },
    /// One queue on the upstream channel that all such modems share (`upstream_channel`). Modems
    /// request in contention and the CMTS grants according to all requests. `mac`, `congestion` and
    /// `shaping` are not allowed: other modems cause the congestion and the CMTS enforces the
    /// rates.
    SharedChannel,
    /// No modem: a queue, the token buckets and a link at the peak rate, without request and grant,
    /// to simulate a plain dumbbell network. `mac`, `congestion` and `shaping` are not allowed.
    Link,
}

fn thirty_two() -> u64 {
    32
}

/// Request-grant MAC of a modem on its own channel (White & Rice 2013 §3.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Mac {
    /// Time between MAPs in ms (White & Padden 2012 §2.2.2: 2).
    #[schemars(range(min = 0.1, max = 100.0))]
    pub map_interval_ms: f64,
    /// Total rate of the upstream channels in Mbps; bursts are sent at this rate. Default: 100, as
    /// in CableLabs' ns-2 script, or twice the peak rate if that is more.
    #[schemars(range(min = 0.1, max = 1_000_000.0))]
    pub channel_mbps: Option<f64>,
    /// Random variation of the largest grant in a MAP around its mean, in percent, on a channel
    /// without congestion (CableLabs' ns-2 script: 1).
    #[schemars(range(min = 0.0, max = 100.0))]
    pub grant_spread_percent: f64,
}

impl Default for Mac {
    fn default() -> Self {
        Self { map_interval_ms: 2.0, channel_mbps: None, grant_spread_percent: 1.0 }
    }
}

/// The scenario's keys of the cable plant.
pub struct PlantSpec<'a> {
    /// Propagation.
    pub cable: &'a Cable,
    /// The upstream channel shared by all modems of kind `shared_channel`.
    pub upstream_channel: &'a UpstreamChannel,
    /// The downstream channel shared by all homes, if there is one.
    pub cmts: Option<&'a Cmts>,
}

impl<'a> PlantSpec<'a> {
    /// The timing of a channel whose farthest modem has this propagation delay.
    pub fn timing(&self, propagation: Time) -> PlantTiming<'a> {
        let pipeline = self.cmts.and_then(|cmts| cmts.channel.pipeline());
        let map_delivery = pipeline.map(|pipeline| pipeline.delivery());
        // Requests and MAPs cross the interconnect as they do the cable.
        let propagation = propagation + self.cable.interconnect.longest();
        PlantTiming { spec: self.cable.specification(), map_delivery, propagation }
    }

    /// The lookahead that is set, in us, and the least one that these modems with their distances
    /// allow, if that is more.
    pub fn late_advance<'b>(
        &self,
        modems: impl Iterator<Item = (&'b ModemSpec, Option<f64>)>,
    ) -> Option<(f64, f64)> {
        let spec = self.cable.specification()?;
        let set_us = spec.map_advance_us?;
        let least = |(modem, distance_km): (&ModemSpec, Option<f64>)| {
            let frame = match modem {
                ModemSpec::SharedChannel => Framing::of(self.upstream_channel).frame(),
                _ => spec.own_frame(),
            };
            self.timing(self.cable.delay(distance_km)).least_advance(frame)
        };
        let least_us = modems.map(least).max()?.secs_f64() * 1e6;
        (set_us + 1e-6 < least_us).then_some((set_us, least_us))
    }
}
