//! The upstream channel that modems share: its MAPs, its request region, and how bytes become
//! minislots on it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The upstream channel of all homes whose modem is of kind `shared_channel`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UpstreamChannel {
    /// Time between MAPs in ms (White & Padden 2012 §2.2.2: 2), of which the whole minislots or
    /// frames that come nearest are taken.
    #[schemars(range(min = 0.1, max = 100.0))]
    pub map_interval_ms: f64,
    /// Channels that are bonded: a modem sends on all of them.
    #[schemars(range(min = 1, max = 64))]
    pub channels: u32,
    /// Request opportunities at the beginning of each MAP interval.
    #[schemars(range(min = 1, max = 1024))]
    pub request_opportunities: u32,
    /// Minislots of an opportunity.
    #[schemars(range(min = 1, max = 64))]
    pub request_minislots: u32,
    /// Data backoff start of MAPs (DOCSIS 3.1 MULPI §7.2.1): a modem skips 0 to 2^start - 1
    /// opportunities before it asks for the first time. Motorola's BSR 64000 has 2.
    #[schemars(range(min = 0, max = 15))]
    pub backoff_start: u8,
    /// Data backoff end: the window doubles with each collision up to 2^end. BSR 64000: 8.
    #[schemars(range(min = 0, max = 15))]
    pub backoff_end: u8,
    /// Bytes that a packet takes beside its own: Ethernet's header and checksum (18), and the MAC
    /// header (10 in CableLabs' docsis-ns3). The rates of service flows do not count them.
    #[schemars(range(min = 0, max = 264))]
    pub packet_overhead_bytes: u32,
    /// Bytes before what a grant carries on each channel: the segment header (DOCSIS 3.1 MULPI
    /// §6.3: 8).
    #[schemars(range(min = 0, max = 64))]
    pub segment_header_bytes: u32,
    /// Bytes that a service flow is granted in its turn, where there is more than one turn's worth
    /// to be shared.
    #[schemars(range(min = 64, max = 1_000_000))]
    pub quantum_bytes: u32,
    /// Modulation and minislots.
    pub phy: Phy,
}

impl Default for UpstreamChannel {
    fn default() -> Self {
        Self {
            map_interval_ms: 2.0,
            channels: 4,
            request_opportunities: 8,
            request_minislots: 2,
            backoff_start: 2,
            backoff_end: 8,
            packet_overhead_bytes: 28,
            segment_header_bytes: 8,
            quantum_bytes: 1550,
            phy: Phy::default(),
        }
    }
}

/// How a channel carries bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Phy {
    /// One carrier, on which bursts follow each other (A-TDMA of DOCSIS 2.0 and 3.0).
    ScQam(ScQam),
    /// Many subcarriers (DOCSIS 3.1).
    Ofdma(Ofdma),
}

impl Default for Phy {
    fn default() -> Self {
        Self::ScQam(ScQam::default())
    }
}

/// A single-carrier channel. What a burst needs beside its bytes is that of a long data grant in
/// ARRIS' C4 CMTS (User Guide 8.3, p. 313).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "ScQam")]
pub struct ScQam {
    /// Thousand symbols per second: 5120 in 6.4 MHz.
    #[schemars(range(min = 160, max = 5120))]
    pub symbol_rate_ksps: u32,
    /// Bits of a symbol: 6 with 64-QAM.
    #[schemars(range(min = 2, max = 8))]
    pub symbol_bits: u32,
    /// Symbols of a minislot: 64 are 12.5 us at 5120 ksps.
    #[schemars(range(min = 8, max = 4096))]
    pub minislot_symbols: u32,
    /// Symbols before each burst: 192 bits with 2 bits each.
    #[schemars(range(min = 0, max = 1536))]
    pub preamble_symbols: u32,
    /// Symbols of silence after each burst.
    #[schemars(range(min = 0, max = 255))]
    pub guard_symbols: u32,
    /// Data bytes of a Reed-Solomon codeword; the last one of a burst is shortened.
    #[schemars(range(min = 16, max = 253))]
    pub codeword_bytes: u32,
    /// Its parity bytes, two for each that can be corrected.
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

/// An OFDMA channel, by default that of CableLabs' docsis-ns3. A minislot is 400 kHz wide and a
/// frame long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Ofdma")]
pub struct Ofdma {
    /// Active subcarriers.
    #[schemars(range(min = 16, max = 3800))]
    pub subcarriers: u32,
    /// Their spacing.
    pub spacing: Spacing,
    /// Symbols of a frame.
    #[schemars(range(min = 6, max = 36))]
    pub frame_symbols: u32,
    /// Cyclic prefix of a symbol, in samples of 1/102.4 us.
    #[schemars(range(min = 96, max = 640))]
    pub prefix_samples: u32,
    /// Bits that a subcarrier carries in a symbol: their mean, less what pilots and codes take.
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

/// Spacing of subcarriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Spacing {
    /// 25 kHz.
    #[serde(rename = "25_khz")]
    TwentyFive,
    /// 50 kHz.
    #[serde(rename = "50_khz")]
    Fifty,
}
