//! Scenario keys of modems and of the cable plant.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_input::defaults::number;

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
        #[serde(default = "number::<u64, 32>")]
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

/// Request-grant MAC of a modem on its own channel (White & Rice 2013 §3.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("x-role" = "choice"))]
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
        let map_delivery = self.cmts.and_then(Cmts::map_delivery);
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
                // A channel of OFDMA takes longer than single carriers.
                ModemSpec::SharedChannel if !self.upstream_channel.bonded.is_empty() => {
                    let frames = self
                        .upstream_channel
                        .group(&[])
                        .filter_map(|channel| Framing::of(&channel).frame());
                    frames.max_by_key(|frame| frame.time)
                }
                ModemSpec::SharedChannel => Framing::of(self.upstream_channel).frame(),
                _ => spec.own_frame(),
            };
            self.timing(self.cable.delay(distance_km)).least_advance(frame)
        };
        let least_us = modems.map(least).max()?.secs_f64() * 1e6;
        (set_us + 1e-6 < least_us).then_some((set_us, least_us))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ethernet adds 18 bytes to an IP packet, and a frame has 64 at least.
    #[test]
    fn sizes_are_counted_with_ip_or_ethernet() {
        let (ip, ethernet) = (ByteCount::Ip, ByteCount::Ethernet);
        assert_eq!([40, 46, 47, 1500].map(|bytes| ethernet.of_ip(bytes)), [64, 64, 65, 1518]);
        assert_eq!([40, 64, 65].map(|bytes| ethernet.of_frame(bytes)), [64, 64, 65]);
        assert_eq!((ip.of_ip(40), ip.of_frame(40)), (40, 40));
        assert_eq!((ip.uncounted(), ethernet.uncounted()), (18, 0));
    }

    /// White & Padden 2012: 32 packets.
    #[test]
    fn a_transmit_queue_has_32_places() {
        let Ok(ModemSpec::TwoQueues { transmit_packets, .. }) =
            toml::from_str("kind = 'two_queues'")
        else {
            panic!()
        };
        assert_eq!(transmit_packets, 32);
    }

    /// 5 us per km: of the home, else as named in ms, else of the plant; 8 km, or 1 ms with the documents' timing.
    #[test]
    fn the_nearest_key_gives_the_delay() {
        for (of_documents, delay_ms, distance_km, own_km, want_us) in [
            (true, None, None, None, 1000),
            (false, None, None, None, 40),
            (false, None, Some(20.0), None, 100),
            (false, Some(0.3), Some(20.0), None, 300),
            (true, Some(0.3), Some(20.0), Some(2.0), 10),
        ] {
            let mut cable = Cable { delay_ms, distance_km, ..Cable::default() };
            assert_eq!(cable.byte_count(), ByteCount::Ip);
            cable.fill(of_documents);
            assert_eq!(cable.delay(own_km), Time::from_us(want_us));
            assert_eq!(cable.specification().is_none(), of_documents);
            let count = if of_documents { ByteCount::Ip } else { ByteCount::Ethernet };
            assert_eq!(cable.byte_count(), count);
        }
    }

    /// The interconnect takes part in the loop like the cable, with its jitter. MAPs pass an OFDM channel in 112.5 us. The least
    /// lookahead is 200 + 112.5 + 600 + 157.5 us and both ways of 40 + 100 + 30 us, 1410 us.
    #[test]
    fn the_lookahead_covers_the_farthest_modem() {
        let spec = |map_advance_us| Specification { map_advance_us, ..Specification::default() };
        let cable = |advance| Cable {
            timing: Some(TimingSpec::Specification(spec(advance))),
            interconnect: Interconnect { delay_us: 100.0, jitter_us: 30.0 },
            ..Cable::default()
        };
        let (channel, cmts) = (UpstreamChannel::default(), Cmts::default());
        let late = |advance: Option<f64>, modems: &[(&ModemSpec, Option<f64>)]| {
            let cable = cable(advance);
            let plant = PlantSpec { cable: &cable, upstream_channel: &channel, cmts: Some(&cmts) };
            let timing = plant.timing(Time::from_us(40));
            assert_eq!(timing.propagation, Time::from_us(170));
            assert_eq!(timing.map_delivery, Some(Time::from_ps(112_500_000)));
            plant.late_advance(modems.iter().copied()).map(|(set, least)| (set, least.round()))
        };
        let (own, shared) = (ModemSpec::SingleQueue, ModemSpec::SharedChannel);
        assert_eq!(late(None, &[(&own, None)]), None);
        assert_eq!(late(Some(1410.0), &[(&own, None)]), None);
        assert_eq!(late(Some(1409.0), &[(&own, None)]), Some((1409.0, 1410.0)));
        // 20 km are 60 us more each way; a single carrier has no frames.
        assert_eq!(late(Some(1410.0), &[(&own, None), (&own, Some(20.0))]), Some((1410.0, 1530.0)));
        assert_eq!(late(Some(1252.5), &[(&shared, None)]), None);
        assert_eq!(late(Some(1251.0), &[(&shared, None)]), Some((1251.0, 1253.0)));
    }
}
