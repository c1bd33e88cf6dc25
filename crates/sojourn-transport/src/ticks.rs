//! Short timers of the Linux kernel, which fire at ticks of 4 ms (250 a second). Left out: beyond 252 ms its
//! ticks are coarser.

use sojourn_engine::units::Time;

/// A tick.
pub(crate) const TICK: Time = Time::from_ms(4);

/// When a timer fires that is set now to this wait: it is rounded up to whole ticks, counted from the tick at
/// hand, and one more, because the wheel of timers must not be early (kernel/time/timer.c, calc_index).
pub(crate) fn fires_at(now: Time, wait: Time) -> Time {
    TICK.times(now.ps() / TICK.ps() + wait.ps().div_ceil(TICK.ps()) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_rounded_up_and_one_tick_longer_from_the_last_tick_on() {
        let ms = Time::from_ms;
        for (now, wait, want) in [(0, 40, 44), (3, 40, 44), (5, 41, 52), (4, 0, 8)] {
            assert_eq!(fires_at(ms(now), ms(wait)), ms(want));
        }
    }
}
