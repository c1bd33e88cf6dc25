//! What a cable and the network between CMTS and nodes do to packets: errors, noise bursts, and the
//! delay and jitter of a converged interconnect network.
//!
//! Left out: errors in requests and MAPs, and retransmission, which DOCSIS has not.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use sojourn_engine::packet::{Direction, Packet};
use sojourn_engine::rng::Rng;
use sojourn_engine::units::Time;

/// Errors on the cable in one direction. A packet is lost if a byte of it is in a codeword that
/// cannot be corrected, or if a noise burst hits its reception.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Noise {
    /// Share of codewords that cannot be corrected, in percent (DOCS-IF-MIB:
    /// docsIfSigQUncorrectables divided by all codewords). Default: 0.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub codeword_error_percent: f64,
    /// Data bytes of a codeword. Each packet begins a new codeword, with its headers. Default: 220, as on a single
    /// carrier upstream; OFDM downstream has 1777.
    #[schemars(range(min = 16, max = 2025))]
    pub codeword_bytes: Option<u32>,
    /// Mean time in s between the starts of noise bursts, which come at random (Poisson). Default:
    /// no bursts.
    #[schemars(range(min = 0.001, max = 1_000_000.0))]
    pub burst_interval_s: Option<f64>,
    /// Length of a burst in ms. Default: 10.
    #[schemars(range(min = 0.001, max = 100_000.0))]
    pub burst_ms: Option<f64>,
}

/// Data bytes of a Reed-Solomon codeword (`upstream_channel.phy.codeword_bytes`).
const CODEWORD_BYTES: u32 = 220;
/// Length of a burst in ms.
const BURST_MS: f64 = 10.0;

/// A noise burst, and those after it.
struct Bursts {
    mean_s: f64,
    length: Time,
    start: Time,
}

/// Noise in one direction.
pub(crate) struct NoiseSource {
    /// Probability that a codeword passes.
    passes: f64,
    codeword_bytes: u64,
    bursts: Option<Bursts>,
    rng: Rng,
}

impl NoiseSource {
    /// The noise of a scenario, if it has any.
    pub(crate) fn of(spec: &Noise, seed: u64, direction: Direction) -> Option<Self> {
        let mut rng = Rng::named(seed, &format!("noise {}", direction.name()));
        let bursts = spec.burst_interval_s.map(|mean_s| Bursts {
            mean_s,
            length: Time::from_secs_f64(spec.burst_ms.unwrap_or(BURST_MS) / 1e3),
            start: Time::from_secs_f64(rng.exponential(mean_s)),
        });
        let passes = 1.0 - spec.codeword_error_percent / 100.0;
        let codeword_bytes = spec.codeword_bytes.unwrap_or(CODEWORD_BYTES).into();
        let is_any = passes < 1.0 || bursts.is_some();
        is_any.then_some(Self { passes, codeword_bytes, bursts, rng })
    }

    /// The noise of one channel, if it has any.
    pub(super) fn of_channel(spec: &Noise, seed: u64) -> Option<Self> {
        Self::of(spec, seed, Direction::Up)
    }

    /// How many bytes of a segment come before the first that an error or a burst takes, if it is sent from `from` to
    /// `until`. Its first codeword has its header.
    pub(super) fn intact(&mut self, from: Time, until: Time, byte: Time) -> u64 {
        let span = until.since(from);
        let all = if byte > Time::ZERO { span.ps() / byte.ps() } else { 0 };
        let hit = self.hit_within(from, until).map(|at| at.since(from).ps() / byte.ps().max(1));
        let mut good = 0;
        if self.passes < 1.0 {
            while good < all && self.rng.uniform() < self.passes {
                good += self.codeword_bytes;
            }
        } else {
            good = u64::MAX;
        }
        match hit {
            Some(bytes) if bytes < good => bytes / self.codeword_bytes * self.codeword_bytes,
            _ if good >= all => u64::MAX,
            _ => good,
        }
    }

    /// When a noise burst begins to take what is sent in this time.
    fn hit_within(&mut self, from: Time, until: Time) -> Option<Time> {
        if self.in_burst(from) {
            return Some(from);
        }
        let start = self.bursts.as_ref()?.start;
        (start < until).then_some(start)
    }

    /// Is a packet lost that is received at `at`, with headers of so many bytes?
    pub(crate) fn hits(&mut self, at: Time, packet: &Packet, header_bytes: u64) -> bool {
        self.in_burst(at) || self.has_error(u64::from(packet.size) + header_bytes)
    }

    fn has_error(&mut self, size: u64) -> bool {
        if self.passes >= 1.0 {
            return false;
        }
        let codewords = size.div_ceil(self.codeword_bytes);
        let passes: f64 = (0..codewords).map(|_| self.passes).product();
        self.rng.uniform() >= passes
    }

    fn in_burst(&mut self, at: Time) -> bool {
        let Self { bursts: Some(bursts), rng, .. } = self else { return false };
        while at >= bursts.start + bursts.length {
            bursts.start += Time::from_secs_f64(rng.exponential(bursts.mean_s));
        }
        at >= bursts.start
    }
}

/// The converged interconnect network between the CMTS and the nodes with the PHY (remote PHY).
/// Packets, requests and MAPs cross it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Interconnect {
    /// Least one-way delay in us. Each packet takes it once; the request-grant loop includes it
    /// twice.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub delay_us: f64,
    /// Greatest additional delay of a packet in us. The delay is drawn at random from 0 to this
    /// value; packets of a home keep their order, so that dense ones take more than half of it on
    /// average. The lookahead of MAPs includes all of it.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub jitter_us: f64,
}

impl Interconnect {
    fn us(us: f64) -> Time {
        Time::from_secs_f64(us * 1e-6)
    }

    /// The longest that anything takes.
    pub fn longest(&self) -> Time {
        Self::us(self.delay_us) + Self::us(self.jitter_us)
    }
}

/// One direction of it.
pub(crate) struct InterconnectWay {
    delay: Time,
    jitter: Time,
    /// When the last packet of each home arrives.
    last: Vec<Time>,
    rng: Rng,
}

impl InterconnectWay {
    /// The way in this direction, if it takes any time.
    pub(crate) fn of(spec: &Interconnect, seed: u64, direction: Direction) -> Option<Self> {
        let (delay, jitter) = (Interconnect::us(spec.delay_us), Interconnect::us(spec.jitter_us));
        let rng = Rng::named(seed, &format!("interconnect {}", direction.name()));
        (spec.longest() > Time::ZERO).then_some(Self { delay, jitter, last: Vec::new(), rng })
    }

    /// The least that a packet takes.
    pub(crate) fn delay(&self) -> Time {
        self.delay
    }

    /// When a packet arrives that enters at `at`.
    pub(crate) fn cross(&mut self, at: Time, home: usize) -> Time {
        if self.last.len() <= home {
            self.last.resize(home + 1, Time::ZERO);
        }
        let arrival = at + self.delay + self.jitter.scaled(self.rng.uniform());
        self.last[home] = arrival.max(self.last[home]);
        self.last[home]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(spec: &Noise) -> NoiseSource {
        NoiseSource::of(spec, 1, Direction::Up).unwrap()
    }

    /// A packet of 1518 B has 7 codewords of 220 B, of which 1 % fail: 1 - 0.99^7 = 6.79 % are lost.
    /// Of 40 000 packets: 4 * sqrt(0.0679 * 0.932 / 40 000) = 0.5 %.
    #[test]
    fn a_packet_is_lost_with_any_of_its_codewords() {
        let mut noise = source(&Noise { codeword_error_percent: 1.0, ..Noise::default() });
        for (size, expected) in [(1518, 0.0679), (218, 0.01)] {
            let lost = (0..40_000).filter(|_| noise.has_error(size)).count() as f64 / 4e4;
            assert!((lost - expected).abs() < 0.005, "{size}: {lost}");
        }
    }

    /// A draw is below the probability that a packet passes, or it is lost.
    #[test]
    fn a_draw_that_is_the_probability_itself_is_an_error() {
        let draw = Rng::named(1, "noise up").uniform();
        for (passes, is_lost) in [(draw.next_down(), true), (draw, true), (draw.next_up(), false)] {
            let mut noise = source(&Noise { codeword_error_percent: 1.0, ..Noise::default() });
            noise.passes = passes;
            assert_eq!(noise.has_error(220), is_lost);
        }
    }

    /// Bursts of 20 ms begin every 500 ms in the mean, at random: an instant is in one unless none
    /// began in the 20 ms before it, 1 - exp(-0.04) = 3.92 %. Over 10 000 s there are 20 000 bursts:
    /// 4 / sqrt(20 000) = 2.8 % of it.
    #[test]
    fn bursts_cover_their_share_of_time() {
        let keys = Noise { burst_interval_s: Some(0.5), burst_ms: Some(20.0), ..Noise::default() };
        let mut noise = source(&keys);
        let hit = (0..1_000_000).filter(|i| noise.in_burst(Time::from_ms(10 * i))).count();
        let share = hit as f64 / 1e6;
        assert!((share / 0.0392 - 1.0).abs() < 0.03, "{share}");
    }

    #[test]
    fn no_noise_is_none() {
        assert!(NoiseSource::of(&Noise::default(), 1, Direction::Up).is_none());
        assert!(InterconnectWay::of(&Interconnect::default(), 1, Direction::Up).is_none());
    }

    /// 100 us, and up to 50 more; packets of a home keep their order, and those of another do not wait for them.
    #[test]
    fn an_interconnect_delays_and_keeps_the_order_of_a_home() {
        let spec = Interconnect { delay_us: 100.0, jitter_us: 50.0 };
        assert_eq!(spec.longest(), Time::from_us(150));
        let mut way = InterconnectWay::of(&spec, 1, Direction::Up).unwrap();
        let mut last = Time::ZERO;
        for n in 0..200 {
            let at = Time::from_us(10 * n);
            let arrival = way.cross(at, 2);
            assert!(arrival >= (at + Time::from_us(100)).max(last));
            assert!(arrival <= (at + Time::from_us(150)).max(last));
            last = arrival;
        }
        assert!(way.cross(Time::ZERO, 0) <= Time::from_us(150));
        let steady = Interconnect { jitter_us: 0.0, ..spec };
        let mut way = InterconnectWay::of(&steady, 1, Direction::Up).unwrap();
        assert_eq!((way.cross(Time::from_ms(1), 1), way.last.len()), (Time::from_us(1100), 2));
    }

    /// Bursts of 10 ms where none are named; a packet in one is lost, and headers count among its bytes.
    #[test]
    fn noise_hits_in_bursts_and_by_codewords() {
        let bursts = Noise { burst_interval_s: Some(1e6), ..Noise::default() };
        let mut noise = source(&bursts);
        noise.bursts.as_mut().unwrap().start = Time::from_ms(100);
        let packet = Packet::datagram(200);
        for (ms, hit) in [(99, false), (100, true), (109, true), (110, false)] {
            assert_eq!(noise.hits(Time::from_ms(ms), &packet, 20), hit, "{ms}");
        }
        // 220 B are one codeword, 221 two; one passes of two.
        let mut noise = source(&Noise { codeword_error_percent: 50.0, ..Noise::default() });
        assert_eq!(noise.codeword_bytes, 220);
        for (header, expected) in [(20, 0.5), (21, 0.75)] {
            let hits = (0..4000).filter(|_| noise.hits(Time::ZERO, &packet, header)).count();
            assert!((hits as f64 / 4000.0 - expected).abs() < 0.04, "{header}: {hits}");
        }
    }
}
