//! RED as Linux has it (7.2 `sch_red` and `sch_choke`), beside ns-2's in [`super::red`].
//!
//! The average is a whole number with as many bits behind its point as the weight is a power of two; an idle queue ages
//! it by a table of 256 entries. Between the thresholds signals are spaced: after one, the next is due when what the
//! average is above the lower threshold, summed over arrivals, exceeds a random number. Above the upper threshold each
//! packet is signalled, which marks where the transport can.
//!
//! Left out: adaptation of `max_p`.

use super::{Aqm, Arrival, DrainRate, Verdict};
use crate::record::Gauges;
use crate::rng::Rng;
use crate::units::{BitRate, Time};
use sojourn_input::problem::Fault;

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
    pub(crate) fn remark(&self, key: &str, enough: &str) -> Option<Fault> {
        (self.log_weight > MOST_LOG_WEIGHT).then(|| {
            let message = format!(
                "gives the average a weight of 1 over 2 to the {}, so that it stays at 0 and nothing is dropped \
                 early; set it to {enough} or more",
                self.log_weight
            );
            Fault::new(key, message)
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
        if age > 0 {
            self.scaled >>= age;
        } else {
            let lost = ((self.scaled as u128 * u128::from(idle_us)) >> self.log_cell) as i64;
            self.scaled -= lost.min(self.scaled - (self.scaled >> 1));
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
    terms: Box<dyn Fn(&DrainRate) -> Terms + Send>,
    /// Known from the first arrival, which brings the line's rate.
    average: Option<Box<Average>>,
}

impl LinuxRed {
    /// The algorithm in its initial state.
    pub(super) fn new(terms: impl Fn(&DrainRate) -> Terms + Send + 'static) -> Self {
        Self { terms: Box::new(terms), average: None }
    }
}

impl Aqm for LinuxRed {
    fn on_arrival(&mut self, packet: &Arrival, outlet: &DrainRate, rng: &mut Rng) -> Verdict {
        let new = || Box::new(Average::new(&(self.terms)(outlet), outlet.sustained));
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
        out.set("average_queue", "B", average);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// tc's own: 30 and 90 kB of 1000 B, burst 55; 83 packets and burst 138. At 10 Mbps a packet takes 800 us: a
    /// weight of 1/32 halves, in natural units, 0.03175 / 800 per us, and 31 of them take 781 ms: 382 cells of 2^11 us.
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
}
