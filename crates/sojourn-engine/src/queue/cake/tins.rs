//! The tins of CAKE: classes by code point, each with a share of the rate (Linux 7.2).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cobalt::Terms;
use super::lists::List;
use crate::units::BitRate;

/// How packets are classified by their differentiated services code point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Diffserv {
    /// All are alike.
    BestEffort,
    /// Best effort, bulk and voice.
    #[default]
    Diffserv3,
    /// Best effort, bulk, video and voice.
    Diffserv4,
    /// Eight classes, from background to network control.
    Diffserv8,
    /// Eight classes by the upper three bits.
    Precedence,
}

/// The tin of each code point with eight of them.
const OF_8: [u8; 64] = [
    2, 0, 1, 2, 4, 2, 2, 2, 1, 2, 1, 2, 1, 2, 1, 2, 5, 2, 4, 2, 4, 2, 4, 2, 3, 2, 3, 2, 3, 2, 3, 2,
    6, 2, 3, 2, 3, 2, 3, 2, 6, 2, 2, 2, 6, 2, 6, 2, 7, 2, 2, 2, 2, 2, 2, 2, 7, 2, 2, 2, 2, 2, 2, 2,
];

impl Diffserv {
    /// The tin of a code point. Bulk is LE and CS1; voice is what is sensitive to delay.
    pub(super) fn tin(self, dscp: u8) -> usize {
        match (self, dscp) {
            (Self::BestEffort, _) => 0,
            (Self::Precedence, dscp) => usize::from(dscp >> 3) % 8,
            (Self::Diffserv8, dscp) => usize::from(OF_8[usize::from(dscp) % 64]),
            (_, 1 | 8) => 1,
            (Self::Diffserv3, 4 | 44 | 46 | 48 | 56) => 2,
            (Self::Diffserv4, 32 | 40 | 44 | 46 | 48 | 56) => 3,
            (Self::Diffserv4, 4 | 16 | 18 | 20 | 22 | 24 | 26 | 28 | 30 | 34 | 36 | 38) => 2,
            _ => 0,
        }
    }

    /// The rate and the weight of each tin in parts of the whole: tin 0 has all of it. In the classes of three and
    /// four these are halves, quarters and sixteenths; in those of eight each has 7/8 of the one before.
    fn shares(self) -> Vec<Share> {
        let shifted = |shift: u32| Share { shift, eighths: 0 };
        match self {
            Self::BestEffort => vec![shifted(0)],
            Self::Diffserv3 => [0, 4, 2].map(shifted).to_vec(),
            Self::Diffserv4 => [0, 4, 1, 2].map(shifted).to_vec(),
            Self::Diffserv8 | Self::Precedence => {
                (0..8).map(|eighths| Share { shift: 0, eighths }).collect()
            }
        }
    }

    /// How many tins there are.
    pub(super) fn count(self) -> usize {
        self.shares().len()
    }

    /// The tins at a rate in bytes per second; 0 is none, where the link behind is the limit.
    pub(super) fn tins(self, rate: u64, target: i64, interval: i64) -> Vec<Tin> {
        // A weight of 65 535 for one tin alone, of 1024 for three or four, of 256 for eight.
        let weight = match self {
            Self::BestEffort => 65_535,
            Self::Diffserv3 | Self::Diffserv4 => 1024,
            Self::Diffserv8 | Self::Precedence => 256,
        };
        let tin =
            |share: Share| Tin::new(share.of(rate), share.of(weight) as i64, target, interval);
        self.shares().into_iter().map(tin).collect()
    }
}

#[derive(Clone, Copy)]
struct Share {
    /// Halvings.
    shift: u32,
    /// How often an eighth is taken off, each time rounding down.
    eighths: u32,
}

impl Share {
    fn of(self, whole: u64) -> u64 {
        (0..self.eighths).fold(whole >> self.shift, |rest, _| (rest * 7) >> 3)
    }
}

/// A rate, as the time of a byte in fixed point; without one there is no time between bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    ns: u64,
    shift: u32,
}

/// Slower than so many bytes per second is no rate.
const LEAST_RATE: u64 = 64;

impl Pace {
    pub(super) fn new(bytes_per_s: u64) -> Self {
        if bytes_per_s == 0 {
            return Self::default();
        }
        let mut pace = Self { ns: (1_000_000_000 << 34) / bytes_per_s.max(LEAST_RATE), shift: 34 };
        while pace.ns >> 34 > 0 {
            pace = Self { ns: pace.ns >> 1, shift: pace.shift - 1 };
        }
        pace
    }

    pub(super) fn is_some(self) -> bool {
        self.ns > 0
    }

    /// The time of so many bytes in ns.
    pub(super) fn of(self, bytes: u64) -> i64 {
        ((bytes * self.ns) >> self.shift) as i64
    }
}

/// A full frame without its check sequence.
const FRAME: u64 = 1514;

/// A class of packets.
pub(super) struct Tin {
    pub pace: Pace,
    /// What a flow may send in a turn, in bytes: the rate over 4096, between these.
    pub flow_quantum: u64,
    /// What the tin may send in a turn where there is no rate.
    pub quantum: i64,
    pub deficit: i64,
    pub terms: Terms,
    /// From when on its packets are on schedule, in ns.
    pub next: i64,
    pub backlog_bytes: u64,
    pub sparse: u32,
    pub bulk: u32,
    pub fresh: List,
    pub old: List,
    pub decaying: List,
}

impl Tin {
    fn new(rate: u64, quantum: i64, target: i64, interval: i64) -> Self {
        let pace = Pace::new(rate);
        let packet = pace.of(FRAME);
        let longer = (3 * packet / 2).max(target);
        Self {
            pace,
            flow_quantum: if rate == 0 { FRAME } else { (rate >> 12).clamp(300, FRAME) },
            quantum,
            deficit: 0,
            terms: Terms {
                target: longer,
                interval: (interval + longer - target).max(2 * longer),
                packet,
            },
            next: 0,
            backlog_bytes: 0,
            sparse: 0,
            bulk: 0,
            fresh: List::default(),
            old: List::default(),
            decaying: List::default(),
        }
    }

    /// From now on it has the rate and the terms of another.
    pub(super) fn retune(&mut self, other: &Self) {
        (self.pace, self.flow_quantum) = (other.pace, other.flow_quantum);
        (self.quantum, self.terms) = (other.quantum, other.terms);
    }

    /// Has it flows with packets?
    pub(super) fn is_busy(&self) -> bool {
        self.sparse + self.bulk > 0
    }
}

/// Bytes per second of a rate.
pub(super) fn bytes_per_s(rate: BitRate) -> u64 {
    rate.bps() / 8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_points_have_the_tins_of_tc_cake() {
        let of = |diffserv: Diffserv| [0, 1, 8, 34, 40, 46, 48].map(|dscp| diffserv.tin(dscp));
        assert_eq!(of(Diffserv::BestEffort), [0; 7]);
        assert_eq!(of(Diffserv::Diffserv3), [0, 1, 1, 0, 0, 2, 2]);
        assert_eq!(of(Diffserv::Diffserv4), [0, 1, 1, 2, 3, 3, 3]);
        assert_eq!(of(Diffserv::Diffserv8), [2, 0, 1, 3, 6, 6, 7]);
        assert_eq!(of(Diffserv::Precedence), [0, 0, 1, 4, 5, 5, 6]);
    }

    /// At 1 Mbps a full frame takes 12.112 ms: the target is 1.5 of them, and the interval longer by as much.
    /// The bulk tin has a sixteenth.
    #[test]
    fn targets_follow_the_time_of_a_frame() {
        let tins = Diffserv::Diffserv3.tins(125_000, 5_000_000, 100_000_000);
        assert_eq!(tins[0].terms.target / 1000, 18_168);
        assert_eq!(tins[0].terms.interval / 1000, 113_168);
        assert_eq!(tins[1].terms.target / 1000, 290_706);
        assert_eq!(tins[1].terms.interval, 2 * tins[1].terms.target);
        let weights: Vec<i64> = tins.iter().map(|tin| tin.quantum).collect();
        assert_eq!(weights, [1024, 64, 256]);
        assert_eq!(Pace::new(125_000).of(1514) / 1000, 12_112);
    }

    /// diffserv8 of tc-cake: every code point that it does not name is in the tin of best effort.
    #[test]
    fn code_points_without_a_name_are_best_effort_of_eight() {
        let named: [&[u8]; 8] = [
            &[1],
            &[2, 8, 10, 12, 14],
            &[],
            &[24, 26, 28, 30, 34, 36, 38],
            &[4, 18, 20, 22],
            &[16],
            &[32, 40, 44, 46],
            &[48, 56],
        ];
        for dscp in 0..64 {
            let tin = named.iter().position(|points| points.contains(&dscp)).unwrap_or(2);
            assert_eq!(Diffserv::Diffserv8.tin(dscp), tin, "{dscp}");
        }
    }

    #[test]
    fn code_points_of_fewer_classes() {
        let of = |diffserv: Diffserv, tin: usize| -> Vec<u8> {
            (0..64).filter(|dscp| diffserv.tin(*dscp) == tin).collect()
        };
        assert_eq!(of(Diffserv::Diffserv3, 1), [1, 8]);
        assert_eq!(of(Diffserv::Diffserv3, 2), [4, 44, 46, 48, 56]);
        assert_eq!(of(Diffserv::Diffserv4, 1), [1, 8]);
        assert_eq!(of(Diffserv::Diffserv4, 2), [4, 16, 18, 20, 22, 24, 26, 28, 30, 34, 36, 38]);
        assert_eq!(of(Diffserv::Diffserv4, 3), [32, 40, 44, 46, 48, 56]);
        for tin in 0..8 {
            assert!(of(Diffserv::Precedence, tin.into()).into_iter().eq(8 * tin..8 * tin + 8));
        }
    }

    /// A whole, 1/16, 1/2 and 1/4; of eight classes each has 7/8 of the one before, weights rounded down.
    #[test]
    fn tins_have_their_parts_of_weight_and_rate() {
        let eighths: Vec<f64> = (0..8).map(|n| 0.875_f64.powi(n)).collect();
        let eight = [256, 224, 196, 171, 149, 130, 113, 98];
        for (diffserv, weights, shares) in [
            (Diffserv::BestEffort, &[65_535][..], &[1.0][..]),
            (Diffserv::Diffserv3, &[1024, 64, 256], &[1.0, 0.0625, 0.25]),
            (Diffserv::Diffserv4, &[1024, 64, 512, 256], &[1.0, 0.0625, 0.5, 0.25]),
            (Diffserv::Diffserv8, &eight, &eighths),
            (Diffserv::Precedence, &eight, &eighths),
        ] {
            let tins = diffserv.tins(8_000_000, 5_000_000, 100_000_000);
            assert!(tins.iter().map(|tin| tin.quantum).eq(weights.iter().copied()));
            assert_eq!(tins.len(), shares.len());
            for (tin, share) in tins.iter().zip(shares) {
                let found = tin.pace.of(8_000_000) as f64 / 1e9 * share;
                assert!((found - 1.0).abs() < 1e-5, "{diffserv:?} {share}: {found} s");
            }
        }
    }

    /// The module outside the kernel's tree gave the voice tin of three an interval of twice its target, 10 ms.
    #[test]
    fn all_tins_have_the_same_interval() {
        for diffserv in [Diffserv::Diffserv3, Diffserv::Diffserv4, Diffserv::Diffserv8] {
            let tins = diffserv.tins(0, 5_000_000, 100_000_000);
            assert!(tins.iter().all(|tin| tin.terms.interval == 100_000_000), "{diffserv:?}");
        }
    }

    #[test]
    fn a_flow_sends_a_4096th_of_the_rate_in_a_turn() {
        let of = |rate| {
            let tin = Tin::new(rate, 1, 5_000_000, 100_000_000);
            (tin.flow_quantum, tin.terms.target, tin.terms.packet)
        };
        assert_eq!(of(0), (1514, 5_000_000, 0));
        // 1514 bytes at 1.2288 MB/s are 1.232 ms, and 1.5 of them less than the target.
        assert_eq!((of(1_228_799).0, of(1_232_896)), (300, (301, 5_000_000, 1_228_003)));
        assert_eq!([of(6_201_343).0, of(100_000_000).0], [1513, 1514]);
    }

    #[test]
    fn a_pace_is_the_time_of_a_byte_rounded_down() {
        assert!(!Pace::new(0).is_some() && Pace::new(1).is_some());
        assert!(Pace { ns: 1, shift: 34 }.is_some());
        assert_eq!(Pace::new(0).of(1000), 0);
        // 64 B/s at least; 125 MB/s are 8 ns; a third of 10 ns.
        assert_eq!(
            [1, 63, 64, 65].map(|rate| Pace::new(rate).of(64) / 1_000_000),
            [1000, 1000, 1000, 984]
        );
        assert_eq!(Pace::new(125_000_000).of(1514), 12_112);
        assert_eq!(Pace::new(300_000_000).of(3_000_000), 9_999_999);
        // 34 bits of a byte's time are kept, and no more.
        for rate in [64, 1_000_000, 1_000_000_000, 5_000_000_000] {
            let pace = Pace::new(rate);
            assert!(pace.ns < 1 << 34 && (pace.ns >= 1 << 33 || pace.shift == 34), "{pace:?}");
        }
    }

    #[test]
    fn a_tin_is_busy_with_flows_of_either_kind() {
        let mut tin = Tin::new(0, 1, 1, 1);
        assert!(!tin.is_busy());
        for (sparse, bulk) in [(1, 0), (0, 1), (1, 1), (2, 1)] {
            (tin.sparse, tin.bulk) = (sparse, bulk);
            assert!(tin.is_busy());
        }
    }
}
