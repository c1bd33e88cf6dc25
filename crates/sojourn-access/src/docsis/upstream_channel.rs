//! The shared upstream channel: its MAPs, its request region, and its physical layer.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bonding::bonded_channel;
use super::impairments::Noise;
use super::outages::Outage;
use super::ranging_parameters::RangingSpec;

/// The upstream channel shared by all homes whose modem is of kind `shared_channel`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UpstreamChannel {
    /// Time between MAPs in ms (White & Padden 2012 §2.2.2: 2). It is rounded to whole minislots or
    /// frames.
    #[schemars(range(min = 0.1, max = 100.0))]
    #[schemars(extend("x-role" = "choice"))]
    pub map_interval_ms: f64,
    /// Number of bonded channels. A modem sends on all of them.
    #[schemars(range(min = 1, max = 64))]
    pub channels: u32,
    /// Times in which some of the channels are lost and modems use the remaining ones (partial
    /// service). Default: none.
    #[schemars(extend("maxItems" = 100))]
    pub partial_service: Vec<PartialService>,
    /// Number of request opportunities in each MAP interval. They must leave minislots for a grant.
    /// Default: all that grants leave idle, and at least two; the CMTS keeps more of them where it sees
    /// many requests and collisions.
    #[schemars(range(min = 1, max = 1024))]
    pub request_opportunities: Option<u32>,
    /// Length of a request opportunity in minislots.
    #[schemars(range(min = 1, max = 64))]
    pub request_minislots: u32,
    /// Initial backoff exponent: the Data Backoff Start of MAPs (DOCSIS 3.1 MULPI §7.2.1). A modem
    /// skips 0 to 2^start - 1 opportunities before its first request. Default: the whole request region
    /// of a MAP; with `request_opportunities` or `backoff_end` 2 (Motorola's BSR 64000).
    #[schemars(range(min = 0, max = 15))]
    pub backoff_start: Option<u8>,
    /// Maximum backoff exponent: the Data Backoff End of MAPs. The window doubles with each
    /// collision up to 2^end. Default: the whole request region of a MAP; with `request_opportunities` or
    /// `backoff_start` 8 (Motorola's BSR 64000).
    #[schemars(range(min = 0, max = 15))]
    pub backoff_end: Option<u8>,
    /// Where the grants of a MAP begin. Default: `uniform` for a modem alone on the channel, and `start`
    /// from two modems on.
    #[schemars(extend("x-role" = "choice"))]
    pub grant_place: Option<GrantPlace>,
    /// Bytes that each packet takes on the channel in addition to those that the rates of service
    /// flows count. Default: the MAC header (10 in CableLabs' docsis-ns3), and with
    /// `cable.byte_count = "ip"` the Ethernet header and CRC (18).
    #[schemars(range(min = 0, max = 264))]
    pub packet_overhead_bytes: Option<u32>,
    /// Header bytes of a grant's segment on each channel (DOCSIS 3.1 MULPI §6.3: 8).
    #[schemars(range(min = 0, max = 64))]
    pub segment_header_bytes: u32,
    /// Bytes granted to a service flow in its turn when several flows compete (deficit round
    /// robin).
    #[schemars(range(min = 64, max = 1_000_000))]
    pub quantum_bytes: u32,
    /// Modulation and minislots, chosen by `kind`: `sc_qam` or `ofdma`.
    pub phy: Phy,
    /// Channels of different kinds, rates and MAPs, by name, that modems bond in groups (`upstream.bonding_group`), instead
    /// of `channels` alike. Default: none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 64))]
    pub bonded: BTreeMap<String, BondedChannel>,
    /// With `bonded`: how long the CMTS waits for a missing segment of a flow when a later one has come, in ms. Default:
    /// 18, as long as a modem may wait downstream (MULPI Annex B, from memory).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub resequencing_ms: Option<f64>,
    /// With `bonded`: ranging of modems on its channels. A modem then gives a channel up when its ranging requests have no answer
    /// (`signal_losses`, `noise`) or there are no opportunities (`outages`), goes on with the others, and takes it back when it has
    /// ranged again. Default: none, so that modems learn of outages at once, and of `signal_losses` never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranging: Option<RangingSpec>,
}

impl Default for UpstreamChannel {
    fn default() -> Self {
        Self {
            map_interval_ms: 2.0,
            channels: 4,
            partial_service: Vec::new(),
            request_opportunities: None,
            request_minislots: 2,
            backoff_start: None,
            backoff_end: None,
            grant_place: None,
            packet_overhead_bytes: None,
            segment_header_bytes: 8,
            quantum_bytes: 1550,
            phy: Phy::default(),
            bonded: BTreeMap::new(),
            resequencing_ms: None,
            ranging: None,
        }
    }
}

/// Where the grants of a MAP begin in its interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GrantPlace {
    /// At a random place at which all of them fit (docsis-ns3; White & Rice 2013 §3.1): it stands for
    /// grants to modems that are not simulated.
    Uniform,
    /// At its start, one behind the other.
    Start,
}

bonded_channel! {
    /// One of the upstream channels that modems bond. What it does not name is as `upstream_channel` says.
    pub struct BondedChannel {
        /// Modulation and minislots, chosen by `kind`: `sc_qam` or `ofdma`. Default: that of `upstream_channel`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub phy: Option<Phy>,
        /// Time between its MAPs in ms. Default: that of `upstream_channel`.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 0.1, max = 100.0), extend("x-role" = "choice"))]
        pub map_interval_ms: Option<f64>,
        /// How much later its MAP intervals begin than those of a channel without this key, in ms, rounded to whole
        /// frames. Of more than an interval the rest counts.
        #[schemars(range(min = 0.0, max = 100.0), extend("x-role" = "choice"))]
        pub map_offset_ms: f64,
        /// How long before its interval a MAP is made, in us. Default: `cable.timing.map_advance_us`.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 0.0, max = 1_000_000.0))]
        pub map_advance_us: Option<f64>,
        /// Times in which the CMTS receives nothing on this channel, while it goes on making MAPs: ingress, or a broken
        /// amplifier. Requests and segments on it are lost. Modems that range give the channel up; without
        /// `upstream_channel.ranging` they go on sending. Default: none.
        #[schemars(extend("maxItems" = 100))]
        pub signal_losses: Vec<Outage>,
    }
}

/// A time in which some of the bonded channels are lost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartialService {
    /// When it begins, in s from the start of the run.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub start_s: f64,
    /// How long it lasts, in s.
    #[schemars(range(min = 0.001, max = 1_000_000.0))]
    pub length_s: f64,
    /// How many channels are left.
    #[schemars(range(min = 1, max = 64))]
    pub channels: u32,
}

/// MAC header of an upstream packet in bytes (docsis-ns3's default).
const MAC_HEADER_BYTES: u32 = 10;

impl UpstreamChannel {
    /// Bytes that each packet adds on the channel, `uncounted` of them Ethernet's.
    pub fn overhead_bytes(&self, uncounted: u32) -> u64 {
        self.packet_overhead_bytes.unwrap_or(MAC_HEADER_BYTES + uncounted).into()
    }
}

/// The physical layer of the channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Phy {
    /// A single carrier with one burst after another (A-TDMA of DOCSIS 2.0 and 3.0).
    ScQam(ScQam),
    /// Many subcarriers (OFDMA of DOCSIS 3.1).
    Ofdma(Ofdma),
}

impl Phy {
    /// This channel with so many bits per symbol, and subcarrier.
    pub fn with_bits(&self, bits: f64) -> Self {
        match self.clone() {
            Self::ScQam(phy) => Self::ScQam(ScQam { symbol_bits: bits as u32, ..phy }),
            Self::Ofdma(phy) => Self::Ofdma(Ofdma { subcarrier_bits: bits, ..phy }),
        }
    }

    /// Minislots of a modem's ranging opportunity. On a single carrier a burst of Cisco's default profile: QPSK, a preamble of 128
    /// bits, a codeword of 34 B with 10 B of parity, and 48 symbols of guard time. With OFDMA a probe: one symbol of all subcarriers
    /// (MULPI §7.4, from memory: not checked).
    pub(super) fn ranging_minislots(&self, minislots_in_frame: u64) -> u64 {
        const STATION_SYMBOLS: u32 = 128 / 2 + (34 + 10) * 8 / 2 + 48;
        match self {
            Self::ScQam(phy) => STATION_SYMBOLS.div_ceil(phy.minislot_symbols).into(),
            Self::Ofdma(phy) => minislots_in_frame.div_ceil(phy.frame_symbols.into()),
        }
    }
}

impl Default for Phy {
    fn default() -> Self {
        Self::ScQam(ScQam::default())
    }
}

/// A single-carrier channel. The defaults for a burst are those of a long data grant in ARRIS' C4
/// CMTS (User Guide 8.3, p. 313).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "ScQam")]
pub struct ScQam {
    /// Symbol rate in thousand symbols per second (6.4 MHz: 5120).
    #[schemars(range(min = 160, max = 5120))]
    pub symbol_rate_ksps: u32,
    /// Bits per symbol (64-QAM: 6).
    #[schemars(range(min = 2, max = 8))]
    pub symbol_bits: u32,
    /// Symbols per minislot (64 take 12.5 us at 5120 ksps).
    #[schemars(range(min = 8, max = 4096))]
    pub minislot_symbols: u32,
    /// Preamble symbols before each burst: 192 bits with 2 bits each.
    #[schemars(range(min = 0, max = 1536))]
    pub preamble_symbols: u32,
    /// Guard time after each burst in symbols.
    #[schemars(range(min = 0, max = 255))]
    pub guard_symbols: u32,
    /// Data bytes of a Reed-Solomon codeword. The last codeword of a burst is shortened.
    #[schemars(range(min = 16, max = 253))]
    pub codeword_bytes: u32,
    /// Parity bytes of a Reed-Solomon codeword, two for each byte that can be corrected.
    #[schemars(range(min = 0, max = 32))]
    pub parity_bytes: u32,
}

impl Default for ScQam {
    fn default() -> Self {
        Self {
            symbol_rate_ksps: 5120,
            symbol_bits: 6,
            minislot_symbols: 64,
            preamble_symbols: 96,
            guard_symbols: 8,
            codeword_bytes: 220,
            parity_bytes: 20,
        }
    }
}

/// An OFDMA channel: carriers, spacing, frames and prefix as CableLabs' docsis-ns3 has them by
/// default. A minislot is 400 kHz wide and one frame long: 60 bytes, and 831.7 Mbps in all. docsis-ns3
/// takes a fifth of them for codes, 48 bytes and 668.4 Mbps, which is `subcarrier_bits = 8` here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Ofdma")]
pub struct Ofdma {
    /// Number of active subcarriers.
    #[schemars(range(min = 16, max = 3800))]
    pub subcarriers: u32,
    /// Subcarrier spacing.
    pub spacing: Spacing,
    /// Symbols per frame.
    #[schemars(range(min = 6, max = 36))]
    pub frame_symbols: u32,
    /// Cyclic prefix of a symbol in samples of 1/102.4 us.
    #[schemars(range(min = 96, max = 640))]
    pub prefix_samples: u32,
    /// Mean bits per subcarrier and symbol after pilots and coding. For example, 1024-QAM has 10
    /// bits, and docsis-ns3's code rate of 0.8 leaves 8 of them.
    #[schemars(range(min = 1.0, max = 12.0))]
    pub subcarrier_bits: f64,
}

impl Default for Ofdma {
    fn default() -> Self {
        Self {
            subcarriers: 1880,
            spacing: Spacing::Fifty,
            frame_symbols: 6,
            prefix_samples: 256,
            subcarrier_bits: 10.0,
        }
    }
}

/// Subcarrier spacing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Spacing {
    /// 25 kHz.
    #[serde(rename = "25_khz")]
    TwentyFive,
    /// 50 kHz.
    #[serde(rename = "50_khz")]
    Fifty,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The defaults that the keys name, with the header of 10 B.
    #[test]
    fn defaults_are_those_of_the_sources() {
        let channel: UpstreamChannel = toml::from_str("").unwrap();
        assert_eq!(channel, UpstreamChannel::default());
        assert_eq!(
            (channel.map_interval_ms, channel.channels, channel.request_minislots),
            (2.0, 4, 2)
        );
        assert_eq!((channel.segment_header_bytes, channel.quantum_bytes), (8, 1550));
        assert_eq!((channel.overhead_bytes(0), channel.overhead_bytes(18)), (10, 28));
        let named = UpstreamChannel { packet_overhead_bytes: Some(5), ..channel };
        assert_eq!(named.overhead_bytes(18), 5);
        // ARRIS' C4: 192 bits of preamble of 2 bits each, codewords of 220 and 20 B.
        let ScQam { symbol_rate_ksps, symbol_bits, minislot_symbols, .. } = ScQam::default();
        assert_eq!((symbol_rate_ksps, symbol_bits, minislot_symbols), (5120, 6, 64));
        let ScQam { preamble_symbols, guard_symbols, codeword_bytes, parity_bytes, .. } =
            ScQam::default();
        assert_eq!(
            (preamble_symbols, guard_symbols, codeword_bytes, parity_bytes),
            (96, 8, 220, 20)
        );
        // docsis-ns3: 94 MHz of 50 kHz, frames of six symbols with 2.5 us of prefix.
        let Ofdma { subcarriers, spacing, frame_symbols, prefix_samples, subcarrier_bits } =
            Ofdma::default();
        assert_eq!((subcarriers, spacing, frame_symbols), (1880, Spacing::Fifty, 6));
        assert_eq!((prefix_samples, subcarrier_bits), (256, 10.0));
    }
}
