//! Framing on the shared upstream channel: from bytes to minislots, and from minislots to time.
//!
//! Bonded channels are modelled as one channel on which the minislots of all follow each other.
//! This is exact for capacity; a grant is sent faster by a factor of the number of its channels. A
//! grant is spread over the channels in segments (continuous concatenation and fragmentation,
//! DOCSIS 3.1 MULPI §7.2.5), each with a header. Packets follow each other in it regardless of
//! segment boundaries.
//!
//! Left out: the framing of DOCSIS 2.0 and before, with concatenation and fragment headers; and in
//! OFDMA pilots and codewords, which the mean number of bits per subcarrier includes.

use crate::docsis::timing::Frame;
use crate::docsis::upstream_channel::{Ofdma, Phy, ScQam, Spacing, UpstreamChannel};
use sojourn_engine::units::Time;
use sojourn_input::compare::at_least;
use sojourn_input::problem::{Fault, Faults};

/// A grant uses another channel for every full Ethernet frame that it carries. Shorter segments
/// would consist mostly of headers.
const SEGMENT_BYTES: u64 = 1522;
/// Width of an OFDMA minislot (DOCSIS 3.1 PHY §7.4).
const OFDMA_MINISLOT_KHZ: u32 = 400;
/// Picoseconds in a millisecond.
const PS_PER_MS: u64 = 1_000_000_000;

/// Framing parameters of a channel.
#[derive(Clone, Debug)]
pub struct Framing {
    /// What a segment takes, by profile; the first is the channel's own.
    bursts: Vec<Burst>,
    segment_header: u64,
    channels: u64,
    map_interval: Time,
    minislots: u64,
    /// Frame time of OFDMA, whose receiver has a minislot only when its frame ends.
    frame: Option<Frame>,
}

/// What a segment takes on its channel.
#[derive(Clone, Debug, PartialEq)]
enum Burst {
    ScQam(ScQam),
    /// Bits of a minislot.
    Ofdma(u64),
}

impl Framing {
    /// The framing of a scenario's channel.
    pub fn of(spec: &UpstreamChannel) -> Self {
        let (slots_at_once, slot, frame) = match &spec.phy {
            Phy::ScQam(phy) => {
                let symbols = u64::from(phy.minislot_symbols);
                let slot = Time::from_ps(symbols * PS_PER_MS / u64::from(phy.symbol_rate_ksps));
                (1, slot, None)
            }
            Phy::Ofdma(phy) => {
                let (_, slots) = ofdma_minislots(phy);
                let frame = ofdma_frame(phy);
                let symbols = phy.frame_symbols.into();
                (slots, frame, Some(Frame { symbols, time: frame }))
            }
        };
        let channels = u64::from(spec.channels);
        let wanted_ps = Time::from_secs_f64(spec.map_interval_ms / 1e3).ps();
        let slots = ((wanted_ps + slot.ps() / 2) / slot.ps()).max(1);
        Self {
            bursts: vec![Burst::of(&spec.phy)],
            segment_header: spec.segment_header_bytes.into(),
            channels,
            map_interval: slot.times(slots),
            minislots: slots * slots_at_once * channels,
            frame,
        }
    }

    /// The number of the profile with so many bits per symbol, and subcarrier; `None` is the
    /// channel's own.
    pub fn profile(&mut self, phy: &Phy, bits: Option<f64>) -> u8 {
        let Some(bits) = bits else { return 0 };
        let burst = Burst::of(&phy.with_bits(bits));
        let known = self.bursts.iter().position(|other| *other == burst);
        let number = known.unwrap_or_else(|| {
            self.bursts.push(burst);
            self.bursts.len() - 1
        });
        number as u8
    }

    /// This framing with another number of channels, of which some may be lost.
    pub fn with_channels(&self, channels: u32) -> Self {
        let channels = u64::from(channels);
        let minislots = self.minislots / self.channels * channels;
        Self { channels, minislots, ..self.clone() }
    }

    /// Time between MAPs.
    pub fn map_interval(&self) -> Time {
        self.map_interval
    }

    /// The frames of OFDMA.
    pub fn frame(&self) -> Option<Frame> {
        self.frame
    }

    /// Minislots of all channels in a MAP interval.
    pub fn minislots(&self) -> u64 {
        self.minislots
    }

    /// The highest rate, including packet headers: one grant fills what the request region leaves of
    /// each MAP interval.
    pub fn greatest_mbps(&self, request_minislots: u64) -> f64 {
        let bytes = self.bytes_in(0, self.minislots.saturating_sub(request_minislots)) as f64;
        bytes * 8e-6 / self.map_interval.secs_f64()
    }

    /// How long this many minislots take.
    pub fn time_of(&self, minislots: u64) -> Time {
        Time::from_ps(self.map_interval.ps() * minislots / self.minislots)
    }

    /// The first minislot that begins no earlier than this long after the MAP interval does.
    pub fn minislot_at(&self, offset: Time) -> u64 {
        let (all, interval) = (u128::from(self.minislots), u128::from(self.map_interval.ps()));
        (u128::from(offset.ps()) * all).div_ceil(interval) as u64
    }

    /// When the receiver has everything that was sent by now.
    pub fn received_at(&self, now: Time) -> Time {
        self.frame.map_or(now, |frame| frame.time.times(now.ps().div_ceil(frame.time.ps())))
    }

    /// The minislots of a grant of `bytes` in this profile.
    pub fn minislots_for(&self, profile: u8, bytes: u64) -> u64 {
        if bytes == 0 {
            return 0;
        }
        let segments = bytes.div_ceil(SEGMENT_BYTES).min(self.channels);
        let burst = &self.bursts[usize::from(profile)];
        segments * burst.minislots_for(bytes.div_ceil(segments) + self.segment_header)
    }

    /// The bytes of the largest grant in this profile that fits into this many minislots.
    pub fn bytes_in(&self, profile: u8, minislots: u64) -> u64 {
        let bits = self.bursts[usize::from(profile)].bits_of_minislot();
        let (mut fits, mut too_many) = (0, minislots * bits / 8 + 1);
        while too_many - fits > 1 {
            let bytes = u64::midpoint(fits, too_many);
            if self.minislots_for(profile, bytes) <= minislots {
                fits = bytes
            } else {
                too_many = bytes
            }
        }
        fits
    }
}

impl Burst {
    fn of(phy: &Phy) -> Self {
        match phy {
            Phy::ScQam(phy) => Self::ScQam(phy.clone()),
            Phy::Ofdma(phy) => Self::Ofdma(ofdma_minislots(phy).0),
        }
    }

    fn minislots_for(&self, bytes: u64) -> u64 {
        match self {
            Self::ScQam(phy) => {
                let codewords = bytes.div_ceil(phy.codeword_bytes.into());
                let coded = bytes + codewords * u64::from(phy.parity_bytes);
                let around = u64::from(phy.preamble_symbols + phy.guard_symbols);
                let symbols = around + (8 * coded).div_ceil(phy.symbol_bits.into());
                symbols.div_ceil(phy.minislot_symbols.into())
            }
            Self::Ofdma(bits) => (8 * bytes).div_ceil(*bits),
        }
    }

    fn bits_of_minislot(&self) -> u64 {
        match self {
            Self::ScQam(phy) => u64::from(phy.minislot_symbols * phy.symbol_bits),
            Self::Ofdma(bits) => *bits,
        }
    }
}

/// Bits of a minislot, and minislots of a frame.
fn ofdma_minislots(phy: &Ofdma) -> (u64, u64) {
    let khz = match phy.spacing {
        Spacing::TwentyFive => 25,
        Spacing::Fifty => 50,
    };
    let width = OFDMA_MINISLOT_KHZ / khz;
    let bits = f64::from(width * phy.frame_symbols) * phy.subcarrier_bits;
    (bits as u64, u64::from(phy.subcarriers / width))
}

fn ofdma_frame(phy: &Ofdma) -> Time {
    let useful_us = match phy.spacing {
        Spacing::TwentyFive => 40.0,
        Spacing::Fifty => 20.0,
    };
    let symbol_us = useful_us + f64::from(phy.prefix_samples) / 102.4;
    Time::from_secs_f64(f64::from(phy.frame_symbols) * symbol_us * 1e-6)
}

impl UpstreamChannel {
    /// Checks that the shared channel can carry data.
    pub fn check(&self) -> Faults {
        let (start, end) = self.backoff().unwrap_or_default();
        let backoffs = (("backoff_end", f64::from(end)), ("backoff_start", f64::from(start)));
        let mut faults = Faults::from(at_least(backoffs.0, backoffs.1));
        faults.add(self.check_partial_service());
        faults.add(self.check_bonded());
        let framing = Framing::of(self);
        let (all, requests) = (framing.minislots(), self.least_region());
        if framing.bytes_in(0, all.saturating_sub(requests)) > 0 {
            return faults;
        }
        let message = format!(
            "found {}: the request region takes {requests} of the {all} minislots of a MAP \
             interval; allowed: fewer, so that a grant fits",
            requests / u64::from(self.request_minislots)
        );
        faults.add(Fault::new("request_opportunities", message));
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::super::for_tests::plain_channel;
    use super::*;
    use sojourn_testing::at_random;
    use sojourn_testing::proptest::prelude::*;

    fn sc_qam(channels: u32) -> Framing {
        Framing::of(&UpstreamChannel { channels, ..UpstreamChannel::default() })
    }

    fn ofdma() -> Framing {
        let phy = Phy::Ofdma(Ofdma::default());
        Framing::of(&UpstreamChannel { channels: 1, phy, ..UpstreamChannel::default() })
    }

    #[test]
    fn a_burst_of_one_carrier() {
        // 64 symbols at 5.12 Msym/s are 12.5 us: 160 in 2 ms, 640 on four channels.
        assert_eq!(sc_qam(1).map_interval(), Time::from_ms(2));
        assert_eq!((sc_qam(1).minislots(), sc_qam(4).minislots()), (160, 640));
        // 1528 B and 8 of header: 7 codewords, 1536 + 140 B = 13 408 bits = 2235 symbols of 6;
        // with 104 of preamble and guard 2339, 36.5 minislots of 64.
        assert_eq!(sc_qam(1).minislots_for(0, 1528), 37);
        // On four channels two segments of 764 + 8 B: 4 codewords, 852 B = 1136 symbols, with 104
        // 1240: 19.4 minislots each.
        assert_eq!(sc_qam(4).minislots_for(0, 1528), 40);
        // One byte needs a header, a parity and a preamble: 29 B = 39 symbols, 143 in all.
        assert_eq!(sc_qam(4).minislots_for(0, 1), 3);
        assert_eq!(sc_qam(4).minislots_for(0, 0), 0);
    }

    /// A part of a byte takes a byte, and a part of a symbol a symbol.
    #[test]
    fn grants_and_symbols_are_rounded_up() {
        // Two segments of 794.5 B: with 8 of header 803 B, 4 codewords, 883 B = 1177.3 symbols, with 104 around 1282,
        // and 20.03 minislots each. Those of 794 B have 1280, 20 minislots.
        assert_eq!(sc_qam(4).minislots_for(0, 1588), 40);
        assert_eq!(sc_qam(4).minislots_for(0, 1589), 42);
        let (preamble_symbols, guard_symbols, minislot_symbols) = (0, 0, 1);
        let (codeword_bytes, parity_bytes) = (2, 1);
        let phy = ScQam { preamble_symbols, guard_symbols, minislot_symbols, ..ScQam::default() };
        let burst = Burst::ScQam(ScQam { codeword_bytes, parity_bytes, ..phy });
        // 1 + 1 B are 16 bits, 2.7 symbols of 6; 2 + 1 B are 4 symbols; 3 + 2 B are 6.7.
        assert_eq!([1, 2, 3].map(|bytes| burst.minislots_for(bytes)), [3, 4, 7]);
    }

    #[test]
    fn a_frame_of_many_carriers() {
        // A symbol is 20 us + 256/102.4 = 2.5 us, a frame of six 135 us; of these 15 are nearest to
        // 2 ms. 1880 subcarriers are 235 minislots of 8, with 8 * 6 * 10 bits = 60 B each.
        let framing = ofdma();
        assert_eq!(framing.map_interval(), Time::from_us(2025));
        assert_eq!(framing.minislots(), 15 * 235);
        assert_eq!(framing.minislots_for(0, 1528), 26); // 1536 / 60 = 25.6
        assert_eq!(framing.received_at(Time::from_us(136)), Time::from_us(270));
        assert_eq!(framing.received_at(Time::from_us(135)), Time::from_us(135));
    }

    at_random! {
        256;

        /// `bytes_in` inverts `minislots_for`.
        #[test]
        fn the_greatest_grant_fits_and_one_byte_more_does_not(
            channels in 1_u32..9,
            minislots in 1_u64..700,
        ) {
            for framing in [sc_qam(channels), ofdma()] {
                let bytes = framing.bytes_in(0, minislots);
                prop_assert!(framing.minislots_for(0, bytes) <= minislots);
                prop_assert!(framing.minislots_for(0, bytes + 1) > minislots);
            }
        }
    }

    /// Profiles are numbered as they come, the channel's own first, and equal ones are the same.
    #[test]
    fn profiles_differ_in_bits() {
        let phy = UpstreamChannel::default().phy;
        let mut framing = sc_qam(1);
        for (bits, number) in
            [(None, 0), (Some(6.0), 0), (Some(4.0), 1), (Some(2.0), 2), (Some(4.0), 1)]
        {
            assert_eq!(framing.profile(&phy, bits), number);
        }
        // 2235 symbols of 6 bits are 3352 of 4 and 6704 of 2; with 104 around them 54 and 107 minislots.
        assert_eq!([0, 1, 2].map(|profile| framing.minislots_for(profile, 1528)), [37, 54, 107]);
        let mut framing = ofdma();
        assert_eq!(framing.profile(&Phy::Ofdma(Ofdma::default()), Some(5.0)), 1);
        assert_eq!(framing.minislots_for(1, 1528), 52); // 30 B each
    }

    /// Minislots of 12.5 us: the first that begins no earlier.
    #[test]
    fn minislots_and_times_are_one_scale() {
        let framing = sc_qam(1);
        for (us, number) in [(0, 0), (1, 1), (12, 1), (13, 2), (25, 2), (2000, 160)] {
            assert_eq!(framing.minislot_at(Time::from_us(us)), number);
        }
        assert_eq!(
            (framing.time_of(3), framing.received_at(Time::from_us(7))),
            (Time::from_ps(37_500_000), Time::from_us(7))
        );
        let lost = sc_qam(4).with_channels(3);
        assert_eq!(
            (lost.minislots(), lost.minislots_for(0, 9000)),
            (480, sc_qam(3).minislots_for(0, 9000))
        );
        assert_eq!(framing.frame(), None);
        assert_eq!(
            ofdma().frame().map(|frame| (frame.symbols, frame.time)),
            Some((6, Time::from_us(135)))
        );
        // 1522 B are one segment, 1523 two.
        assert_eq!(sc_qam(2).minislots_for(0, 1522), sc_qam(1).minislots_for(0, 1522));
        assert_eq!(sc_qam(2).minislots_for(0, 1523), 2 * sc_qam(1).minislots_for(0, 762));
    }

    /// Of a minislot of 8 B a header of 7 leaves one byte, and one of 8 none. Of 1000 minislots requests take 998 to 1000.
    #[test]
    fn a_grant_of_a_byte_is_enough() {
        for (segment_header_bytes, request_opportunities, fits) in
            [(7, 999, true), (8, 999, false), (8, 998, true), (0, 1000, false)]
        {
            let spec = UpstreamChannel {
                request_minislots: 1,
                request_opportunities: Some(request_opportunities),
                segment_header_bytes,
                ..plain_channel()
            };
            let found: Vec<_> = spec.check().into_iter().map(|fault| fault.path).collect();
            let want: &[&str] = if fits { &[] } else { &["request_opportunities"] };
            assert_eq!(found, want, "{segment_header_bytes} {request_opportunities}");
        }
    }

    /// A MAP interval is the nearest number of minislots, one at least; 25 kHz have twice the subcarriers of twice the length.
    #[test]
    fn a_map_interval_is_of_whole_slots() {
        let of = |map_interval_ms, phy| {
            Framing::of(&UpstreamChannel {
                map_interval_ms,
                phy,
                channels: 1,
                ..UpstreamChannel::default()
            })
        };
        let slow =
            Phy::ScQam(ScQam { symbol_rate_ksps: 160, minislot_symbols: 160, ..ScQam::default() });
        for (ms, slots) in [(0.4, 1), (1.49, 1), (1.5, 2), (2.4, 2)] {
            let framing = of(ms, slow.clone());
            assert_eq!(
                (framing.map_interval(), framing.minislots()),
                (Time::from_ms(slots), slots)
            );
        }
        // 40 us and 2.5 of prefix, six times: 255 us; 16 subcarriers of 25 kHz a minislot: 117 of them, of 16 * 6 * 10 bits.
        let narrow =
            of(2.0, Phy::Ofdma(Ofdma { spacing: Spacing::TwentyFive, ..Ofdma::default() }));
        assert_eq!((narrow.map_interval(), narrow.minislots()), (Time::from_us(2040), 8 * 117));
        assert_eq!((narrow.minislots_for(0, 112), narrow.minislots_for(0, 113)), (1, 2));
        // All but 16 minislots in 2 ms.
        let one = sc_qam(1);
        let mbps = one.bytes_in(0, 144) as f64 * 8.0 / 2000.0;
        assert!((one.greatest_mbps(16) - mbps).abs() < 1e-9);
        assert_eq!((one.greatest_mbps(160), one.greatest_mbps(161)), (0.0, 0.0));
    }
}
