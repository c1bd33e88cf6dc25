//! What AQM algorithms note of themselves where they do less than they are for.

use crate::units::{BitRate, Time};

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
}

impl Rest {
    /// The rest of an algorithm with this target.
    pub(crate) fn before(target: Time) -> Self {
        Self { target, ..Self::default() }
    }

    /// At an update of an algorithm that rests, or does not, with this delay in s.
    pub(crate) fn follow(&mut self, rests: bool, delay_s: f64, buffer_bytes: u64, rate: BitRate) {
        self.buffer_bytes = buffer_bytes;
        self.usual_bytes = rate.bytes_in(Time::from_ms(250)) as u64;
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
    }
}
