//! RED as Linux has it (7.2 `sch_red` and `sch_choke`), beside ns-2's in [`super::red`].
//!
//! The average is a whole number with as many bits behind its point as the weight is a power of two; an idle queue ages
//! it by a table of 256 entries. Between the thresholds signals are spaced: after one, the next is due when what the
//! average is above the lower threshold, summed over arrivals, exceeds a random number. Above the upper threshold each
//! packet is signalled, which marks where the transport can.
//!
//! Left out: adaptation of `max_p`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::red::{AVERAGE_BYTES, TARGET_DELAY_MS, Thresholds};
use super::{Aqm, AqmAlgorithm, AqmParameters, Arrival, DrainRate, Threshold, Verdict};
use crate::record::Gauges;
use crate::rng::{Rng, Seed};
use crate::units::{BitRate, Time};
use sojourn_input::fault;
use sojourn_input::problem::{Fault, Faults, Remedy};

/// Parameters of Linux' RED.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "RedLinux")]
pub struct Parameters {
    /// Lower threshold of the average queue length in packets (tc-red(8), `min`). Default: `target_delay_ms` at half
    /// the link's rate, and at least 5.
    #[schemars(range(min = 0.1, max = 1_000_000.0))]
    pub min_threshold_packets: Option<f64>,
    /// Upper threshold of the average queue length in packets (tc-red(8), `max`). Default: three times the lower
    /// threshold.
    #[schemars(range(min = 0.1, max = 10_000_000.0))]
    pub max_threshold_packets: Option<f64>,
    /// Weight of an arrival in the moving average, which is rounded to a power of two. Default: that of tc for a burst
    /// between the thresholds.
    #[schemars(range(min = 1e-9, max = 1.0))]
    pub weight: Option<f64>,
    /// Drop probability at the upper threshold (tc-red(8), `probability`).
    #[schemars(range(min = 1e-6, max = 1.0))]
    pub max_p: f64,
    /// Mean packet size in bytes (tc-red(8), `avpkt`), which each packet of the thresholds counts as.
    #[schemars(range(min = 1, max = 9018))]
    pub mean_packet_bytes: u64,
    /// Queue delay in ms from which the lower threshold is derived, if that is unset.
    #[schemars(range(min = 0.01, max = 10_000.0))]
    pub target_delay_ms: f64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            min_threshold_packets: None,
            max_threshold_packets: None,
            weight: None,
            max_p: 0.1,
            mean_packet_bytes: 500,
            target_delay_ms: TARGET_DELAY_MS,
        }
    }
}

impl AqmParameters for Parameters {
    fn start(&self, _seed: Seed) -> AqmAlgorithm {
        LinuxRed { p: self.clone(), average: None }.into()
    }

    fn check(&self, _packet: Time) -> Faults {
        self.thresholds().check().into()
    }

    fn target_ms(&self) -> Option<f64> {
        Some(self.target_delay_ms)
    }

    fn threshold(&self, rate: BitRate) -> Option<Threshold> {
        Some(self.thresholds().signalling(self.mean_packet_bytes, rate))
    }

    fn remarks(&self, rate: BitRate) -> Faults {
        let mut remarks = self.thresholds().remarks(self.mean_packet_bytes, rate);
        if self.min_threshold_packets.is_some() && self.weight.is_none() {
            let terms = self.terms(&DrainRate::steady(rate, 0));
            remarks.add(terms.remark("min_threshold_packets", 2));
        }
        remarks
    }
}

impl Parameters {
    fn thresholds(&self) -> Thresholds {
        Thresholds {
            min_packets: self.min_threshold_packets,
            max_packets: self.max_threshold_packets,
            target_delay_ms: self.target_delay_ms,
            mean_packet_bytes: self.mean_packet_bytes,
        }
    }

    /// What the kernel goes by. Without a weight it is that of `tc` for a burst between the thresholds.
    fn terms(&self, drain_rate: &DrainRate) -> Terms {
        let share = drain_rate.share.unwrap_or(1.0);
        let mean = self.mean_packet_bytes as f64;
        let (min_packets, max_packets) = self.thresholds().on(drain_rate.line_bps());
        let (min, max) = (min_packets * mean, max_packets * mean);
        let burst = (2.0 * min + max) / 3.0;
        let usual = || log_weight((burst / mean).floor() + 1.0, min / mean);
        let stated = |weight: f64| (-libm::log2(weight) + 0.5) as u32;
        Terms {
            min: (min * share) as u64,
            max: (max * share) as u64,
            max_p: self.max_p,
            log_weight: self.weight.map_or_else(usual, |weight| stated(weight).clamp(1, 31)),
            mean_packet_bytes: self.mean_packet_bytes,
        }
    }
}

/// A weight of a millionth: beyond that the average takes minutes to move.
const MOST_LOG_WEIGHT: u32 = 20;

/// What the averaging goes by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// Thresholds in the unit of the queue length.
    pub min: u64,
    pub max: u64,
    pub max_p: f64,
    /// The weight is 1 over 2 to the power of this.
    pub log_weight: u32,
    pub mean_packet_bytes: u64,
}

impl Terms {
    /// A remark on a key that gives the average so small a weight that it never moves.
    pub(crate) fn remark(&self, key: &str, enough: u64) -> Option<Fault> {
        (self.log_weight > MOST_LOG_WEIGHT).then(|| {
            let remedy = Remedy::of(key, enough);
            fault!(SlowAverage, key, remedy =>
                "gives the average a weight of 1 over 2 to the {log_weight}, so that it stays at 0 and nothing is \
                 dropped early; set {remedy:#} or more", log_weight = self.log_weight)
        })
    }
}

/// The weight with which a burst of so many packets just stays below the lower threshold of `min` packets, as `tc`
/// computes it: a power of two.
pub(crate) fn log_weight(burst: f64, min: f64) -> u32 {
    let room = burst + 1.0 - min;
    let fits = |log: &u32| {
        let weight = libm::pow(0.5, f64::from(*log));
        room <= (1.0 - libm::pow(1.0 - weight, burst)) / weight
    };
    (1..32).find(fits).unwrap_or(9)
}

/// What becomes of a packet by the average.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Region {
    Below,
    /// Whether it is signalled.
    Between(bool),
    Above,
}

/// The average and the spacing of signals.
pub(crate) struct Average {
    min: i64,
    max: i64,
    log_weight: u32,
    /// A random number is divided by this.
    step: u32,
    /// How many halvings idle time is, in cells of 2^`log_cell` us.
    ages: [u8; 256],
    log_cell: u32,
    scaled: i64,
    count: i64,
    random: u32,
    idle_since_us: Option<u64>,
}

fn us(time: Time) -> u64 {
    time.ps() / 1_000_000
}

impl Average {
    pub(crate) fn new(terms: &Terms, line: BitRate) -> Self {
        // tc: halvings per us of the small packets that could have left; cells so wide that 31 halvings are 512 of them.
        let packet_us = line.time_for(terms.mean_packet_bytes).ps() as f64 / 1e6;
        let weight = libm::pow(0.5, f64::from(terms.log_weight));
        let halvings = -libm::log(1.0 - weight) / packet_us;
        let wide = |log: &u32| 31.0 / halvings / libm::pow(2.0, f64::from(*log)) < 512.0;
        let log_cell = (0..32).find(wide).unwrap_or(31);
        let cell = libm::pow(2.0, f64::from(log_cell));
        let mut ages = [31; 256];
        for (number, age) in ages.iter_mut().enumerate().take(255) {
            *age = (number as f64 * cell * halvings).min(31.0) as u8;
        }
        let span = terms.max.saturating_sub(terms.min).max(1);
        let scale = |threshold: u64| (threshold as i64) << terms.log_weight;
        Self {
            min: scale(terms.min),
            max: scale(terms.max),
            log_weight: terms.log_weight,
            step: (((terms.max_p * 4_294_967_296.0) as u64 / span) as u32).max(1),
            ages,
            log_cell,
            scaled: 0,
            count: -1,
            random: 0,
            idle_since_us: Some(0),
        }
    }

    /// The average, in the unit of the queue length.
    pub(crate) fn value(&self) -> f64 {
        self.scaled as f64 / libm::pow(2.0, f64::from(self.log_weight))
    }

    /// Nothing waits and a packet was requested.
    pub(crate) fn on_empty(&mut self, now: Time) {
        self.idle_since_us.get_or_insert(us(now));
    }

    /// A packet has come to a queue of this length.
    pub(crate) fn arrive(&mut self, now: Time, length: u64) {
        let Some(since) = self.idle_since_us.take() else {
            self.scaled += length as i64 - (self.scaled >> self.log_weight);
            return;
        };
        let idle_us = (us(now) - since).min(255 << self.log_cell);
        let age = self.ages[(idle_us >> self.log_cell) as usize & 255];
        self.scaled >>= age;
        if age == 0 {
            let lost = ((self.scaled as u128 * u128::from(idle_us)) >> self.log_cell) as i64;
            let half = self.scaled >> 1;
            self.scaled = if lost < half { self.scaled - lost } else { half };
        }
    }

    /// Is it above the lower threshold?
    pub(crate) fn is_above_min(&self) -> bool {
        self.scaled > self.min
    }

    /// What the average says of the packet that has come. `strict`: a threshold itself is below.
    pub(crate) fn judge(&mut self, strict: bool, rng: &mut Rng) -> Region {
        let above =
            |threshold: i64| self.scaled > threshold || (!strict && self.scaled == threshold);
        if !above(self.min) {
            self.count = -1;
            return Region::Below;
        }
        if above(self.max) {
            self.count = -1;
            return Region::Above;
        }
        self.count += 1;
        let sum = ((self.scaled - self.min) >> self.log_weight) * self.count;
        let is_due = self.count > 0 && sum >= i64::from(self.random);
        if is_due || self.count == 0 {
            self.count = 0;
            self.random = (rng.bits() >> 32) as u32 / self.step;
        }
        Region::Between(is_due)
    }
}

/// RED of Linux, in bytes.
pub struct LinuxRed {
    p: Parameters,
    /// Known from the first arrival, which brings the line's rate.
    average: Option<Box<Average>>,
}

impl Aqm for LinuxRed {
    fn on_arrival(&mut self, packet: &Arrival, outlet: &DrainRate, rng: &mut Rng) -> Verdict {
        let new = || Box::new(Average::new(&self.p.terms(outlet), outlet.sustained));
        let average = self.average.get_or_insert_with(new);
        average.arrive(packet.now, packet.backlog.bytes);
        match average.judge(false, rng) {
            Region::Below | Region::Between(false) => Verdict::Pass,
            Region::Between(true) | Region::Above => Verdict::Signal,
        }
    }

    fn on_empty(&mut self, now: Time) {
        if let Some(average) = &mut self.average {
            average.on_empty(now);
        }
    }

    fn gauges(&self, out: &mut Gauges) {
        let average = self.average.as_ref().map_or(0.0, |average| average.value());
        out.show(AVERAGE_BYTES, average);
    }
}

#[cfg(test)]
mod tests {
    use super::super::packets_for_tests::arrival;
    use super::*;

    /// tc's own: 30 and 90 kB of 1000 B, burst 55; 83 packets and burst 138. At 10 Mbps a packet takes 800 us: a
    /// weight of 1/32 halves, in natural units, 0.03175 / 800 per us, and 31 of them take 781 ms: 382 cells of 2^11 us.
    #[test]
    fn thresholds_are_in_bytes_and_the_weight_is_that_of_tc() {
        let p = Parameters {
            min_threshold_packets: Some(10.0),
            max_threshold_packets: Some(30.0),
            mean_packet_bytes: 500,
            ..Parameters::default()
        };
        let line = DrainRate::steady(BitRate::from_mbps(38.0), 1_000_000);
        let terms = p.terms(&line);
        assert_eq!((terms.min, terms.max), (5_000, 15_000));
        // tc's burst: (2 * 10 + 30) / 3 = 16.7 packets, so 17. 17 + 1 - 10 = 8 is more than
        // (1 - (1 - w)^17) / w at w = 1/8 (7.17), and less at 1/16 (10.66).
        assert_eq!(terms.log_weight, 4);
        // (2 * 22 + 88) / 3 = 44, so 45: 45 + 1 - 22 = 24 just fits below the 24.3 of 1/32.
        let tight = Parameters {
            min_threshold_packets: Some(22.0),
            max_threshold_packets: Some(88.0),
            ..p.clone()
        };
        assert_eq!(tight.terms(&line).log_weight, 5);
        // A stated weight is rounded to a power of two: log2(500) = 8.97.
        // 8.4, 8.6; from 1 to 31.
        for (weight, log_weight) in
            [(0.002, 9), (0.002_96, 8), (0.002_58, 9), (1.0, 1), (0.5, 1), (1e-10, 31)]
        {
            let stated = Parameters { weight: Some(weight), ..p.clone() };
            assert_eq!(stated.terms(&line).log_weight, log_weight, "{weight}");
        }
        // A bin with a quarter of the queue has a quarter of the thresholds.
        let quarter = p.terms(&DrainRate { share: Some(0.25), ..line });
        assert_eq!((quarter.min, quarter.max, quarter.log_weight), (1_250, 3_750, 4));
    }

    #[test]
    fn weights_and_cells_are_those_of_tc() {
        assert_eq!((log_weight(55.0, 30.0), log_weight(138.0, 83.0)), (5, 6));
        let terms =
            Terms { min: 30_000, max: 90_000, max_p: 0.02, log_weight: 5, mean_packet_bytes: 1000 };
        let average = Average::new(&terms, BitRate::from_mbps(10.0));
        // 0.02 * 2^32 / 60 000 = 1431.66
        assert_eq!((average.log_cell, average.step), (11, 1431));
        // 2^11 us * 0.03175 / 800 us = 0.08: after 13 cells it is more than 1.
        assert_eq!((average.ages[12], average.ages[13]), (0, 1));
    }

    #[test]
    fn it_moves_by_the_weight_and_halves_at_most_in_a_short_pause() {
        let terms =
            Terms { min: 1000, max: 2000, max_p: 0.1, log_weight: 2, mean_packet_bytes: 500 };
        let mut average = Average::new(&terms, BitRate::from_mbps(4.0));
        average.arrive(Time::ZERO, 0);
        for want in [250.0, 437.5] {
            average.arrive(Time::from_ms(1), 1000);
            assert_eq!(average.value(), want);
        }
        average.on_empty(Time::from_ms(2));
        average.arrive(Time::from_us(2500), 0);
        assert!((218.75..437.5).contains(&average.value()), "{}", average.value());
    }

    #[test]
    fn tc_tries_weights_from_a_half_to_one_in_two_to_the_31() {
        // A burst of one packet at a threshold of one: (1 - 0.5) / 0.5 = 1. No weight is small enough where the
        // threshold is below a packet. At 1.000 17 packets only 2^-32 would be.
        for (burst, min, want) in [(1.0, 1.0, 1), (2.0, 0.5, 9), (1000.0, 1.000_17, 9)] {
            assert_eq!(log_weight(burst, min), want);
        }
        let terms = |log_weight| Terms { log_weight, ..FLAT };
        assert!(terms(20).remark("key", 2).is_none());
        let reported = terms(21).remark("key", 2).unwrap();
        assert_eq!(reported.path, "key");
        assert!(reported.message.starts_with("gives the average a weight of 1 over 2 to the 21, "));
    }

    /// At 4 Mbps 500 bytes take 1000 us; a weight of 1/4 has ln(4/3) = 0.2877 halvings in each.
    const FLAT: Terms =
        Terms { min: 1000, max: 2000, max_p: 0.1, log_weight: 2, mean_packet_bytes: 500 };

    fn flat() -> Average {
        Average::new(&FLAT, BitRate::from_mbps(4.0))
    }

    #[test]
    fn ages_are_those_of_the_small_packets_that_could_have_left() {
        // 31 halvings take 107.76 ms: 421 cells of 2^8 us, 842 of 2^7. Each cell of 256 us has 0.073 65 halvings; cell
        // 253 has 18.6, and the last one is 31 for all that is beyond.
        let average = flat();
        assert_eq!((average.scaled, average.count, average.random), (0, -1, 0));
        assert_eq!(average.log_cell, 8);
        for (cell, age) in [(0, 0), (13, 0), (14, 1), (27, 1), (28, 2), (254, 18), (255, 31)] {
            assert_eq!(average.ages[cell], age, "{cell}");
        }
        // Thresholds are scaled as the average is; 0.1 * 2^32 / 1000 = 429 496.7.
        assert_eq!((average.min, average.max, average.step), (4000, 8000, 429_496));
        // Without a span the whole of max_p, and at least 1.
        let line = BitRate::from_mbps(4.0);
        assert_eq!(Average::new(&Terms { max: 1000, ..FLAT }, line).step, 429_496_729);
        assert_eq!(Average::new(&Terms { max: 1 << 40, ..FLAT }, line).step, 1);
        // Cells are 2^31 us wide at most: at 84 kbps 31 halvings of 2^-20 take 721 of these, and at 1 bps more.
        for (log_weight, bps) in [(20, 83_886), (31, 1)] {
            let slow = Average::new(&Terms { log_weight, ..FLAT }, BitRate::from_bps(bps));
            assert_eq!(slow.log_cell, 31);
        }
        // 31 halvings of a large weight are no more than 31.
        let quick = Average::new(&Terms { log_weight: 1, ..FLAT }, BitRate::from_mbps(400.0));
        assert_eq!((quick.log_cell, quick.ages[254]), (0, 17));
        let quick = Average::new(&Terms { log_weight: 1, ..FLAT }, BitRate::from_mbps(4000.0));
        assert_eq!((quick.ages[44], quick.ages[45], quick.ages[254]), (30, 31, 31));
    }

    #[test]
    fn an_idle_time_ages_the_average_by_its_cells() {
        let after_of = |scaled, idle_us| {
            let mut average = flat();
            (average.scaled, average.idle_since_us) = (scaled, None);
            average.on_empty(Time::from_ms(3));
            // An arrival ends the idle time; what came empty again meanwhile does not begin it anew.
            average.on_empty(Time::from_ms(3) + Time::from_us(idle_us / 2));
            average.arrive(Time::from_ms(3) + Time::from_us(idle_us), 7000);
            assert_eq!(average.idle_since_us, None);
            average.scaled
        };
        assert_eq!(us(Time::from_s(9)), 9_000_000);
        let whole = 1 << 20;
        let after = |idle_us| after_of(whole, idle_us);
        // In the first cells a part of itself is lost for each 256 us, and half at most: 64 us are a fourth of a cell.
        assert_eq!(after(0), whole);
        assert_eq!(after(64), whole - whole / 4);
        assert_eq!(after(200), whole / 2);
        // Half a cell costs 50 of 101, which is half already, and what is left is rounded down.
        assert_eq!([after_of(101, 126), after_of(101, 128)], [52, 50]);
        // From cell 14 on it is halved once, from cell 28 on twice, and from cell 255 on 31 times.
        assert_eq!(after(14 * 256 - 1), whole / 2);
        assert_eq!([after(14 * 256), after(28 * 256)], [whole / 2, whole / 4]);
        assert_eq!([after(254 * 256), after(255 * 256), after(10_000_000)], [whole >> 18, 0, 0]);
    }

    #[test]
    fn regions_are_below_between_and_above_their_thresholds() {
        let mut rng = Rng::named(1, "red");
        let mut judged = |scaled: i64, strict: bool| {
            let mut average = Average { scaled, count: 5, random: u32::MAX, ..flat() };
            (average.judge(strict, &mut rng), average.count)
        };
        use Region::{Above, Below, Between};
        for (scaled, strict, loose) in [
            (3999, (Below, -1), (Below, -1)),
            (4000, (Below, -1), (Between(false), 6)),
            (4001, (Between(false), 6), (Between(false), 6)),
            (7999, (Between(false), 6), (Between(false), 6)),
            (8000, (Between(false), 6), (Above, -1)),
            (8001, (Above, -1), (Above, -1)),
        ] {
            assert_eq!(judged(scaled, true), strict, "{scaled}");
            assert_eq!(judged(scaled, false), loose, "{scaled}");
        }
        assert!(Average { scaled: 4001, ..flat() }.is_above_min());
        assert!(!Average { scaled: 4000, ..flat() }.is_above_min());
    }

    #[test]
    fn a_signal_is_due_when_the_sum_over_the_threshold_reaches_the_draw() {
        let mut rng = Rng::named(1, "red");
        // 250 over the threshold of 1000, three times: 750.
        let mut judged = |random: u32| {
            let mut average = Average { scaled: 5000, count: 2, random, ..flat() };
            (average.judge(false, &mut rng), average.count)
        };
        assert_eq!(judged(751), (Region::Between(false), 3));
        assert_eq!(judged(750), (Region::Between(true), 0));
        // The first one between the thresholds draws, and is not signalled whatever was drawn before: 2^32 over the
        // step of 429 496 is 10 000.
        let mut average = Average { scaled: 5000, count: -1, random: 0, ..flat() };
        assert_eq!(average.judge(false, &mut rng), Region::Between(false));
        assert_eq!(average.count, 0);
        let draws = (0..1000).map(|_| {
            (average.count, average.random) = (-1, 0);
            average.judge(false, &mut rng);
            average.random
        });
        let draws: Vec<u32> = draws.collect();
        assert!(draws.iter().all(|draw| *draw <= 10_000));
        // Of 1000 the mean deviates by 10 000 / sqrt(12 * 1000) = 91.
        let mean = draws.iter().sum::<u32>() / 1000;
        assert!(mean.abs_diff(5000) < 365, "{mean}");
    }

    #[test]
    fn linux_signals_between_and_above_and_shows_its_average() {
        let p = Parameters {
            min_threshold_packets: Some(2.0),
            max_threshold_packets: Some(4.0),
            weight: Some(0.25),
            ..Parameters::default()
        };
        let mut law = LinuxRed { p, average: None };
        let line = DrainRate::steady(BitRate::from_mbps(4.0), 1_000_000);
        let mut rng = Rng::named(1, "red");
        let shown = |law: &LinuxRed| {
            let mut gauges = Gauges::default();
            law.gauges(&mut gauges);
            gauges.get("average_queue").unwrap()
        };
        assert_eq!(shown(&law), 0.0);
        law.on_empty(Time::ZERO);
        let mut arrive =
            |law: &mut LinuxRed, bytes| law.on_arrival(&arrival(bytes), &line, &mut rng);
        // The first one ends an idle time; then a fourth of 9000, and more than the upper threshold.
        assert_eq!([arrive(&mut law, 0), arrive(&mut law, 500)], [Verdict::Pass; 2]);
        assert_eq!(shown(&law), 125.0);
        assert_eq!(arrive(&mut law, 9000), Verdict::Signal);
        assert!(shown(&law) > 2000.0);
        // An average that is the upper threshold itself is above it: 8000 / 4 = 2000, and as much comes.
        law.average.as_mut().unwrap().scaled = 8000;
        assert_eq!((arrive(&mut law, 2000), shown(&law)), (Verdict::Signal, 2000.0));
        // An empty queue ages it.
        law.on_empty(Time::from_ms(1));
        let packet = Arrival { now: Time::from_s(9), ..arrival(0) };
        assert_eq!(law.on_arrival(&packet, &line, &mut rng), Verdict::Pass);
        assert_eq!(shown(&law), 0.0);
    }
}
