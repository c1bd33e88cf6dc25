//! When AQM algorithms are updated: at whole multiples of their interval, but not while nothing
//! waits and nothing would change. An idle queue has no events.

use crate::units::Time;

/// The clock of a queue's AQM algorithms.
pub(super) struct UpdateClock {
    interval: Time,
    next: Time,
}

impl UpdateClock {
    /// A clock with this interval; `Time::NEVER` for algorithms without updates.
    pub(super) fn new(interval: Time) -> Self {
        Self { interval, next: interval }
    }

    /// When the next update is due.
    #[inline]
    pub(super) fn next(&self) -> Time {
        self.next
    }

    /// Records an update. `matters` says whether another update may change something.
    pub(super) fn ticked(&mut self, now: Time, matters: bool) {
        self.next = if matters { now + self.interval } else { Time::NEVER };
    }

    /// Resumes updates after the arrival of a packet.
    #[inline]
    pub(super) fn wake(&mut self, now: Time) {
        if self.next == Time::NEVER && self.interval != Time::NEVER {
            self.next = self.interval.times(now.ps() / self.interval.ps() + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_updates_leave_the_others_where_they_would_have_been() {
        let mut clock = UpdateClock::new(Time::from_ms(16));
        assert_eq!(clock.next(), Time::from_ms(16));
        clock.ticked(Time::from_ms(16), true);
        assert_eq!(clock.next(), Time::from_ms(32));
        clock.ticked(Time::from_ms(32), false);
        assert_eq!(clock.next(), Time::NEVER);
        clock.wake(Time::from_ms(100));
        assert_eq!(clock.next(), Time::from_ms(112));
        // The one at the time of an arrival came before it.
        clock.ticked(Time::from_ms(112), false);
        clock.wake(Time::from_ms(128));
        assert_eq!(clock.next(), Time::from_ms(144));
    }

    #[test]
    fn algorithms_without_an_interval_are_never_updated() {
        let mut clock = UpdateClock::new(Time::NEVER);
        clock.wake(Time::from_ms(5));
        assert_eq!(clock.next(), Time::NEVER);
    }

    #[test]
    fn an_arrival_moves_no_update_that_is_due() {
        let mut clock = UpdateClock::new(Time::from_ms(16));
        clock.wake(Time::from_ms(100));
        assert_eq!(clock.next(), Time::from_ms(16));
    }
}
