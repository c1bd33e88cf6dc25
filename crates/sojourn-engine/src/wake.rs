//! The order of wake-ups: one entry per stage, kept as a tournament.
//!
//! Each stage has one pending wake-up, not one per packet in flight. Overwriting a wake-up costs
//! the same as setting it; nothing is ever cancelled.
//!
//! **Order at equal times: the stage with the lower number wakes first.** Stages are numbered along
//! the path (see `network/mod.rs`), so this order is fixed and documented.

use super::tournament::{ABSENT, Tournament};
use crate::units::Time;

/// The number of a stage in the tournament.
pub type StageId = u32;

// A stage without a wake-up does not compete.
const _: () = assert!(Time::NEVER.ps() == ABSENT);

/// The pending wake-ups of all stages.
pub struct Wake(Tournament);

impl Wake {
    /// Room for at least `stages` stages, none of which has a wake-up.
    pub fn new(stages: usize) -> Self {
        Self(Tournament::new(stages))
    }

    /// Makes room for stage numbers below `stages`; wake-ups already set stay.
    pub fn grow(&mut self, stages: usize) {
        self.0.grow(stages);
    }

    /// Sets the wake-up of `stage`, replacing the old one.
    #[inline]
    pub fn set(&mut self, stage: StageId, at: Time) {
        self.0.set(stage, at.ps());
    }

    /// Moves the wake-up of `stage` forward to `at`, unless it is already that early. Timers that
    /// keep moving later are left in place, and are set again when they fire.
    #[inline]
    pub fn set_no_later(&mut self, stage: StageId, at: Time) {
        if at.ps() < self.0.key(stage) {
            self.set(stage, at);
        }
    }

    /// The earliest wake-up; `Time::NEVER` if there is none.
    #[inline]
    pub fn next(&self) -> Time {
        Time::from_ps(self.0.least())
    }

    /// The stage that the earliest wake-up is of.
    #[inline]
    pub fn next_stage(&self) -> StageId {
        self.0.winner()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wakes_in_time_order_and_by_stage_number_at_equal_times() {
        let mut wake = Wake::new(5);
        for (stage, at) in [(4, 10), (2, 30), (0, 30), (3, 20), (1, 10)] {
            wake.set(stage, Time::from_ps(at));
        }
        let mut order = Vec::new();
        while wake.next() != Time::NEVER {
            let stage = wake.next_stage();
            order.push(stage);
            wake.set(stage, Time::NEVER);
        }
        assert_eq!(order, [1, 4, 3, 0, 2]);
    }

    #[test]
    fn a_wake_up_is_overwritten_not_added() {
        let mut wake = Wake::new(2);
        wake.set(0, Time::from_ps(5));
        wake.set(0, Time::from_ps(9));
        wake.set(1, Time::from_ps(7));
        assert_eq!((wake.next(), wake.next_stage()), (Time::from_ps(7), 1));
    }

    #[test]
    fn set_no_later_never_postpones() {
        let mut wake = Wake::new(2);
        wake.set_no_later(1, Time::from_ps(5));
        wake.set_no_later(1, Time::from_ps(8));
        assert_eq!((wake.next(), wake.next_stage()), (Time::from_ps(5), 1));
    }

    #[test]
    fn growing_keeps_wake_ups_and_order() {
        let mut wake = Wake::new(2);
        wake.set(1, Time::from_ps(5));
        wake.grow(100);
        wake.set(99, Time::from_ps(5));
        assert_eq!((wake.next(), wake.next_stage()), (Time::from_ps(5), 1));
        wake.set(1, Time::NEVER);
        assert_eq!((wake.next(), wake.next_stage()), (Time::from_ps(5), 99));
    }
}
