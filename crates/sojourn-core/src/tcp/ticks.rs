//! Timers of the Linux kernel, which fire at ticks of 4 ms (250 a second).

use crate::units::Time;

/// A tick.
pub const TICK: Time = Time::from_ms(4);

/// When a timer fires that is set now to this wait: it is rounded up to whole ticks, and counted from
/// the tick at hand.
pub fn fires_at(now: Time, wait: Time) -> Time {
    TICK.times(now.ps() / TICK.ps() + wait.ps().div_ceil(TICK.ps()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_rounded_up_and_begins_at_the_last_tick() {
        let ms = Time::from_ms;
        for (now, wait, want) in [(0, 40, 40), (3, 40, 40), (5, 41, 48), (4, 0, 4)] {
            assert_eq!(fires_at(ms(now), ms(wait)), ms(want));
        }
    }
}
