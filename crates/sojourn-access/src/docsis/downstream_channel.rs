//! The downstream channel that all homes share: its rate, its framing, and its queue.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bonding::{RESEQUENCING_MS, bonded_channel, is_bonded};
use super::impairments::Noise;
use super::outages::Outage;
use sojourn_engine::queue::{QueueSpec, Unit};
use sojourn_engine::units::Time;
use sojourn_input::defaults::number;

/// The CMTS: one queue manager and one downstream channel (or one bonding group) for all homes.
/// Before the queue each service flow has a regulator: the token buckets and queue of its
/// `downstream`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cmts {
    /// The downstream channel, or the channels of one bonding group, chosen by `kind`.
    /// Default: one OFDM channel.
    #[serde(default)]
    pub channel: Channel,
    /// Bytes that framing adds to each packet on the channel.
    #[serde(default)]
    pub framing: Framing,
    /// Queue manager of the shared channel. Its default limit is 250 ms at the channel's rate.
    #[serde(default)]
    pub queue: QueueSpec,
    /// What the scheduler treats as a flow: a service flow or a connection.
    #[serde(default)]
    #[schemars(extend("x-role" = "choice"))]
    pub unit: Unit,
    /// Channels of different kinds, rates and delays, by name, that modems bond in groups (`downstream.bonding_group`),
    /// instead of `channel`. Default: none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 64))]
    pub bonded: BTreeMap<String, BondedDownstream>,
    /// With `bonded`: how long a modem waits for a missing packet of a flow when a later one has come, in ms. Default:
    /// 18, the longest that it may (MULPI Annex B, from memory).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub resequencing_ms: Option<f64>,
}

bonded_channel! {
    /// One of the downstream channels that modems bond. What it does not name is as `cmts` says.
    pub struct BondedDownstream {
        /// The channel, or several alike that stand in the table once, chosen by `kind`. Default: that of `cmts`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub channel: Option<Channel>,
    }
}

// An OFDM channel unless a scenario says otherwise: docsis-ns3's.
const CHANNELS: u32 = 1;
const SUBCARRIERS: u32 = 3745;
const MODULATION_BITS: u32 = 12;
const CYCLIC_PREFIX_SAMPLES: u32 = 512;
const INTERLEAVER_DEPTH: u32 = 3;
const CODING_SYMBOLS: u32 = 2;
const NCP_BITS_PER_SUBCARRIER: u32 = 4;
const CODEWORD_FILL_PERCENT: u32 = 99;

/// A downstream channel, chosen by `kind`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Channel {
    /// Channels of a given rate.
    Rate {
        /// Rate of each channel in Mbps.
        #[schemars(range(min = 0.001, max = 1_000_000.0))]
        rate_mbps: f64,
        /// Share of the rate that framing below the MAC takes, in percent (Hong 2015 §5.4: 5, as
        /// about 950 Mbps of 1 Gbps remain).
        #[serde(default)]
        #[schemars(range(min = 0.0, max = 99.0))]
        overhead_percent: f64,
        /// Number of channels in the bonding group. Each packet takes one of them.
        #[serde(default = "number::<u32, CHANNELS>")]
        #[schemars(range(min = 1, max = 64))]
        channels: u32,
    },
    /// Single-carrier channels with 256-QAM (ITU-T J.83).
    ScQam {
        /// Annex of ITU-T J.83: it sets width, symbol rate and coding.
        #[serde(default)]
        annex: Annex,
        /// Number of channels in the bonding group. Each packet takes one of them.
        #[serde(default = "number::<u32, CHANNELS>")]
        #[schemars(range(min = 1, max = 64))]
        channels: u32,
    },
    /// OFDM channels of DOCSIS 3.1, with the same modulation on all subcarriers.
    Ofdm {
        /// Number of active subcarriers (docsis-ns3's default: 3745, which is 190 MHz at 50 kHz).
        #[serde(default = "number::<u32, SUBCARRIERS>")]
        #[schemars(range(min = 1, max = 7537))]
        subcarriers: u32,
        /// Subcarrier spacing.
        #[serde(default)]
        spacing: Spacing,
        /// Bits per subcarrier and symbol: the modulation order, or its mean (docsis-ns3's default:
        /// 12, which is 4096-QAM).
        #[serde(default = "number::<f64, MODULATION_BITS>")]
        #[schemars(range(min = 4.0, max = 14.0))]
        modulation_bits: f64,
        /// Cyclic prefix in samples of 1/204.8 MHz (docsis-ns3's default: 512).
        #[serde(default = "number::<u32, CYCLIC_PREFIX_SAMPLES>")]
        #[schemars(range(min = 192, max = 1024))]
        cyclic_prefix_samples: u32,
        /// Depth of the time interleaver in symbols; 1 means none (docsis-ns3's default: 3). The
        /// last bits of a symbol arrive (depth - 1) symbols later.
        #[serde(default = "number::<u32, INTERLEAVER_DEPTH>")]
        #[schemars(range(min = 1, max = 32))]
        interleaver_depth: u32,
        /// Number of symbols that encoding at the CMTS and decoding in the modem take together
        /// (docsis-ns3's defaults: 1 and 1).
        #[serde(default = "number::<u32, CODING_SYMBOLS>")]
        #[schemars(range(min = 0, max = 100))]
        coding_symbols: u32,
        /// Bits per subcarrier of the next-codeword pointers. Each codeword and each symbol has a
        /// pointer of 48 bits (docsis-ns3's default: 4, which is 16-QAM).
        #[serde(default = "number::<u32, NCP_BITS_PER_SUBCARRIER>")]
        #[schemars(range(min = 2, max = 6))]
        ncp_bits: u32,
        /// How full codewords are on average, in percent (docsis-ns3's default: 99).
        #[serde(default = "number::<f64, CODEWORD_FILL_PERCENT>")]
        #[schemars(range(min = 1.0, max = 100.0))]
        codeword_fill_percent: f64,
        /// Number of channels in the bonding group. Each packet takes one of them.
        #[serde(default = "number::<u32, CHANNELS>")]
        #[schemars(range(min = 1, max = 64))]
        channels: u32,
    },
}

impl Default for Channel {
    /// One OFDM channel, docsis-ns3's.
    fn default() -> Self {
        Self::Ofdm {
            subcarriers: SUBCARRIERS,
            spacing: Spacing::default(),
            modulation_bits: f64::from(MODULATION_BITS),
            cyclic_prefix_samples: CYCLIC_PREFIX_SAMPLES,
            interleaver_depth: INTERLEAVER_DEPTH,
            coding_symbols: CODING_SYMBOLS,
            ncp_bits: NCP_BITS_PER_SUBCARRIER,
            codeword_fill_percent: f64::from(CODEWORD_FILL_PERCENT),
            channels: CHANNELS,
        }
    }
}

/// Annexes of ITU-T J.83.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Annex {
    /// Annex A: 8 MHz, Europe.
    A,
    /// Annex B: 6 MHz, North America.
    #[default]
    B,
}

/// Subcarrier spacing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Spacing {
    /// 25 kHz.
    #[serde(rename = "25_khz")]
    Narrow,
    /// 50 kHz.
    #[default]
    #[serde(rename = "50_khz")]
    Wide,
}

/// Bits of a next-codeword pointer, and bytes of an LDPC codeword with and without LDPC and BCH
/// parity (docsis-ns3).
const NCP_BITS: f64 = 48.0;
const CODEWORD_BYTES: [f64; 2] = [2025.0, 1777.0];

/// How packets pass an OFDM channel: they are gathered in one symbol, then encoded, sent, decoded
/// and deinterleaved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pipeline {
    symbol: Time,
    /// Symbols after the one in which a packet is gathered.
    symbols: u64,
}

impl Pipeline {
    /// When the modem has what filled the channel by `gathered`, without propagation.
    #[inline]
    pub fn received_at(&self, gathered: Time) -> Time {
        self.symbol.times(gathered.ps().div_ceil(self.symbol.ps()) + self.symbols)
    }

    /// How long a MAP takes, which does not wait for a symbol to begin (docsis-ns3).
    pub fn delivery(&self) -> Time {
        self.symbol.times(self.symbols)
    }
}

impl Channel {
    /// The pipeline of OFDM channels.
    pub fn pipeline(&self) -> Option<Pipeline> {
        let Self::Ofdm {
            interleaver_depth, coding_symbols, spacing, cyclic_prefix_samples, ..
        } = self
        else {
            return None;
        };
        let symbol = Time::from_secs_f64(spacing.symbol_us(*cyclic_prefix_samples) * 1e-6);
        Some(Pipeline { symbol, symbols: u64::from(interleaver_depth + coding_symbols) })
    }

    /// This channel with so many bits per symbol and subcarrier; only OFDM has profiles.
    pub fn with_bits(&self, bits: f64) -> Self {
        let mut channel = self.clone();
        if let Self::Ofdm { modulation_bits, .. } = &mut channel {
            *modulation_bits = bits;
        }
        channel
    }

    /// Number of channels in the bonding group.
    pub fn count(&self) -> u32 {
        let (Self::Rate { channels, .. }
        | Self::ScQam { channels, .. }
        | Self::Ofdm { channels, .. }) = self;
        *channels
    }

    /// Rate at which one channel carries MAC frames, in Mbps.
    pub fn rate_mbps(&self) -> f64 {
        match self {
            Self::Rate { rate_mbps, overhead_percent, .. } => {
                rate_mbps * (1.0 - overhead_percent / 100.0)
            }
            Self::ScQam { annex, .. } => annex.rate_mbps(),
            Self::Ofdm {
                subcarriers,
                modulation_bits,
                ncp_bits,
                codeword_fill_percent,
                spacing,
                cyclic_prefix_samples,
                ..
            } => {
                let [coded, payload] = CODEWORD_BYTES;
                let pointer = NCP_BITS / f64::from(*ncp_bits);
                let codeword = 8.0 * coded / modulation_bits + pointer;
                let codewords = (f64::from(*subcarriers) - pointer) / codeword;
                let bytes = codewords * payload * codeword_fill_percent / 100.0;
                8.0 * bytes / spacing.symbol_us(*cyclic_prefix_samples)
            }
        }
    }
}

impl Annex {
    /// Rate of 256-QAM after coding and the headers of MPEG-2 transport packets, 4 of 188 bytes
    /// (Hong 2015 §2.3).
    fn rate_mbps(self) -> f64 {
        let (symbol_rate, coding) = match self {
            // J.83 annex A: RS(204, 188).
            Self::A => (6.952, 188.0 / 204.0),
            // J.83 annex B: trellis 19/20, RS(128, 122), and 40 bits of sync after 88 RS blocks of
            // 128 symbols of 7 bits.
            Self::B => (5.360_537, 19.0 / 20.0 * 122.0 / 128.0 * 78_848.0 / 78_888.0),
        };
        8.0 * symbol_rate * coding * 184.0 / 188.0
    }
}

impl Spacing {
    fn khz(self) -> f64 {
        match self {
            Self::Narrow => 25.0,
            Self::Wide => 50.0,
        }
    }

    /// Time of a symbol in us: the useful part lasts one over the spacing.
    fn symbol_us(self, prefix_samples: u32) -> f64 {
        1e3 / self.khz() + f64::from(prefix_samples) / 204.8
    }
}

/// Bytes that framing adds to the counted size of each packet on the downstream channel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Framing {
    /// Ethernet bytes that the counted size of a packet does not include. Default: 18 with
    /// `cable.byte_count = "ip"` (IEEE 802.3 §3: header 14, CRC 4), otherwise 0.
    #[schemars(range(min = 0, max = 1000))]
    pub ethernet_bytes: Option<u32>,
    /// MAC header in bytes, including extended headers; 6 without any (DOCSIS MULPI §6.2.1).
    /// Default: 10; 16 with bonding, which numbers packets (typical values in docsis-ns3).
    #[schemars(range(min = 0, max = 246))]
    pub mac_header_bytes: Option<u32>,
}

impl Cmts {
    /// How long a modem waits for a missing packet.
    pub(super) fn resequencing_ms(&self) -> f64 {
        self.resequencing_ms.unwrap_or(RESEQUENCING_MS)
    }

    /// A channel of the table.
    pub fn bonded_channel(&self, name: &str) -> &Channel {
        self.bonded[name].channel.as_ref().unwrap_or(&self.channel)
    }

    /// The rate of the channels of a bonding group, in Mbps; without a table that of all.
    pub fn carries_mbps(&self, group: &[String]) -> f64 {
        let mbps = |channel: &Channel| channel.rate_mbps() * f64::from(channel.count());
        if self.bonded.is_empty() {
            return mbps(&self.channel);
        }
        let names = self.bonded.keys().filter(|name| is_bonded(group, name));
        names.map(|name| mbps(self.bonded_channel(name))).sum()
    }

    /// How long a MAP takes, if a channel says so: with a table, over the one that brings it first.
    pub(super) fn map_delivery(&self) -> Option<Time> {
        let of = |channel: &Channel| channel.pipeline().map(|pipeline| pipeline.delivery());
        if self.bonded.is_empty() {
            return of(&self.channel);
        }
        self.bonded.keys().filter_map(|name| of(self.bonded_channel(name))).min()
    }

    /// Bytes that framing adds to the counted size of each packet on the channel, `uncounted` of
    /// them Ethernet's.
    pub fn framing_bytes(&self, uncounted: u32) -> u64 {
        self.framing_of(self.channel.count(), uncounted)
    }

    /// The same where a modem bonds so many channels.
    pub(super) fn framing_of(&self, channels: u32, uncounted: u32) -> u64 {
        let typical = if channels > 1 { 16 } else { 10 };
        let header = self.framing.mac_header_bytes.unwrap_or(typical);
        u64::from(self.framing.ethernet_bytes.unwrap_or(uncounted) + header)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mbps(channel: &str) -> f64 {
        toml::from_str::<Channel>(channel).unwrap().rate_mbps()
    }

    #[test]
    fn what_a_6_mhz_channel_of_42_88_mbps_carries_is_38() {
        // 5.360537 * 8 = 42.8843; * 0.95 = 40.7401; * 122/128 = 38.8304; * 78848/78888 = 38.8107;
        // * 184/188 = 37.985.
        assert!((mbps("kind = 'sc_qam'") - 37.985).abs() < 5e-4);
        // 8 MHz: 6.952 * 8 = 55.616; * 188/204 = 51.254; * 184/188 = 50.163.
        assert!((mbps("kind = 'sc_qam'\nannex = 'a'") - 50.163).abs() < 5e-4);
    }

    #[test]
    fn of_a_gigabit_950_mbps_are_left() {
        assert!(
            (mbps("kind = 'rate'\nrate_mbps = 1000\noverhead_percent = 5") - 950.0).abs() < 1e-9
        );
    }

    #[test]
    fn what_an_ofdm_channel_carries() {
        // A pointer of 48 bits takes 12 subcarriers of 4 bits, a codeword of 16 200 bits 1350 of 12:
        // (3745 - 12) / 1362 = 2.74082 codewords, 99 % full of 1777 B: 4821.74 B in 20 us and 512/204.8
        // = 2.5 us: 1714.40 Mbps. docsis-ns3 takes 4 B a symbol for MAPs as well.
        assert!((mbps("kind = 'ofdm'") - 1714.40).abs() < 5e-3);
        // Full codewords without pointers to speak of: 3745 * 12 bits in 22.5 us: 1997.33 Mbps; *
        // 1777/2025 = 1752.72; a pointer of 8 subcarriers for each of 2.77 codewords and one more.
        let full = mbps("kind = 'ofdm'\nncp_bits = 6\ncodeword_fill_percent = 100");
        assert!((full / (1752.72 * 1350.0 / 1358.0 * 3737.0 / 3745.0) - 1.0).abs() < 1e-5);
        // 1620 + 12 subcarriers a codeword: 1868 / 1632 = 1.14461, 2013.63 B in 40 us + 1024/204.8 =
        // 5 us: 357.98.
        let narrow = "kind = 'ofdm'\nsubcarriers = 1880\nspacing = '25_khz'\nmodulation_bits = 10\n\
                      cyclic_prefix_samples = 1024";
        assert!((mbps(narrow) - 357.98).abs() < 5e-3);
    }

    #[test]
    fn bonded_packets_have_longer_headers() {
        for (keys, bytes) in [
            ("channel = { kind = 'sc_qam' }", 18 + 10),
            ("channel = { kind = 'sc_qam', channels = 4 }", 18 + 16),
            // Hong 2015 counts 1500 bytes where 1524 are sent.
            ("channel = { kind = 'sc_qam' }\nframing = { mac_header_bytes = 6 }", 24),
        ] {
            let cmts = toml::from_str::<Cmts>(keys).unwrap();
            assert_eq!(cmts.framing_bytes(18), bytes, "{keys}");
        }
    }

    /// docsis-ns3's channel: symbols of 22.5 us, of which encoding and decoding take one each and the interleaver three.
    #[test]
    fn packets_pass_an_ofdm_channel_in_symbols() {
        let pipeline = Channel::default().pipeline().unwrap();
        let symbols = |number: u64| Time::from_ps(22_500_000 * number);
        assert_eq!((pipeline.delivery(), symbols(1)), (symbols(5), pipeline.symbol));
        for (us, number) in [(0, 5), (1, 6), (22, 6), (23, 7), (45, 7)] {
            assert_eq!(pipeline.received_at(Time::from_us(us)), symbols(number));
        }
        assert_eq!(toml::from_str::<Channel>("kind = 'ofdm'").unwrap(), Channel::default());
        let slow = "kind = 'ofdm'\nspacing = '25_khz'\ninterleaver_depth = 1\ncoding_symbols = 0";
        let slow = toml::from_str::<Channel>(slow).unwrap().pipeline().unwrap();
        assert_eq!(slow.delivery(), Time::from_ps(42_500_000));
        assert!(toml::from_str::<Channel>("kind = 'sc_qam'").unwrap().pipeline().is_none());
    }

    #[test]
    fn a_group_has_one_channel_or_more_and_profiles_if_they_are_ofdm() {
        for kind in ["kind = 'sc_qam'", "kind = 'rate'\nrate_mbps = 100", "kind = 'ofdm'"] {
            let of = |keys: &str| toml::from_str::<Channel>(&format!("{kind}\n{keys}")).unwrap();
            assert_eq!((of("").count(), of("channels = 3").count()), (1, 3));
            let faster = of("").with_bits(6.0).rate_mbps() / of("").rate_mbps();
            let is_ofdm = kind == "kind = 'ofdm'";
            assert_eq!(is_ofdm, (0.45..0.55).contains(&faster), "{kind}: {faster}");
            assert_eq!(!is_ofdm, faster == 1.0);
        }
        let two = toml::from_str::<Cmts>("channel = { kind = 'sc_qam', channels = 2 }").unwrap();
        assert_eq!((two.framing_bytes(0), two.framing_bytes(18)), (16, 34));
        let named = toml::from_str::<Cmts>("framing = { ethernet_bytes = 4 }").unwrap();
        assert_eq!(named.framing_bytes(18), 14);
    }
}
