//! What AQM algorithms note of themselves where they do less than they are for, or more.

use crate::packet::FULL_PACKET;
use crate::units::{BitRate, Time};

/// What an algorithm did, from the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lapses {
    /// Updates of a controller while it acts, at delays that it has no other rule for.
    pub updates: u64,
    /// Its delays in s at these, each less the target.
    pub excess_s: f64,
    /// How much of that it did not answer, in s, since its steps are limited.
    pub unanswered_s: f64,
    /// Packets that were dropped though they had waited no longer than the target.
    pub needless_drops: u64,
}

impl Lapses {
    /// What it did since it was as `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            updates: self.updates - earlier.updates,
            excess_s: self.excess_s - earlier.excess_s,
            unanswered_s: self.unanswered_s - earlier.unanswered_s,
            needless_drops: self.needless_drops - earlier.needless_drops,
        }
    }
}

/// The rest of an algorithm that waits until a third of the buffer is full, and what gathers meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rest {
    /// Its target.
    pub target: Time,
    /// Up to which delay the queue has grown while it rested: for ever while it rests, and zero once the delay has
    /// come down to the target.
    pub grown: Time,
    /// The buffer.
    pub buffer_bytes: u64,
    /// The usual buffer, 250 ms at the rate (White 2014 §9).
    pub usual_bytes: u64,
    /// The time of a full packet at the rate.
    pub packet: Time,
}

impl Rest {
    /// The rest of an algorithm with this target.
    pub(crate) fn before(target: Time) -> Self {
        Self { target, ..Self::default() }
    }

    /// From now on the algorithm has another target.
    pub(crate) fn set_target(&mut self, target: Time) {
        self.target = target;
    }

    /// At an update of an algorithm that rests, or does not, with this delay in s.
    pub(crate) fn follow(&mut self, rests: bool, delay_s: f64, buffer_bytes: u64, rate: BitRate) {
        self.buffer_bytes = buffer_bytes;
        self.usual_bytes = rate.bytes_in(Time::from_ms(250)) as u64;
        self.packet = rate.time_for(FULL_PACKET);
        let delay = Time::from_secs_f64(delay_s);
        self.grown = match rests {
            true => Time::NEVER,
            false if delay <= self.target => Time::ZERO,
            false if self.grown == Time::NEVER => delay,
            false => self.grown,
        };
    }

    /// Did a packet with this sojourn time wait most of it for what has grown?
    #[inline]
    pub(crate) fn made(&self, sojourn: Time) -> bool {
        sojourn <= self.grown.times(2) && sojourn > self.target
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With a target of 10 ms: what waits longer while it rests, and then up to twice what had gathered until the queue
    /// is at its target once.
    #[test]
    fn a_rest_has_made_what_gathers_until_the_target_is_reached() {
        let ms = Time::from_ms;
        let mut rest = Rest::before(ms(10));
        let mut made = |rests, delay_s| {
            rest.follow(rests, delay_s, 900_000, BitRate::from_mbps(8.0));
            [10, 11, 180, 181, 500].map(|sojourn| rest.made(ms(sojourn)))
        };
        let none = [false; 5];
        assert_eq!(made(false, 0.011), none);
        for (rests, delay_s, all) in [
            (true, 0.005, [false, true, true, true, true]),
            (true, 0.080, [false, true, true, true, true]),
            (false, 0.090, [false, true, true, false, false]),
            (false, 0.400, [false, true, true, false, false]),
            (false, 0.011, [false, true, true, false, false]),
            (false, 0.010, none),
            (false, 0.090, none),
        ] {
            assert_eq!(made(rests, delay_s), all, "{rests} {delay_s}");
        }
        // A byte per us.
        assert_eq!((rest.buffer_bytes, rest.usual_bytes), (900_000, 250_000));
        assert_eq!(rest.packet, Time::from_us(1522));
    }

    #[test]
    fn lapses_count_from_a_reading_on() {
        let of = |updates, excess_s| {
            let (unanswered_s, needless_drops) = (2.0 * excess_s, 3 * updates);
            Lapses { updates, excess_s, unanswered_s, needless_drops }
        };
        assert_eq!(of(5, 1.5).since(of(2, 0.5)), of(3, 1.0));
    }
}
