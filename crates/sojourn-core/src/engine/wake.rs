//! Who is due next: one entry per stage, kept as a tournament.
//!
//! Each stage on the path has one pending wake-up, not one per packet in flight. The stages are the
//! leaves of a complete binary tree and each inner node holds the earlier of its two children, so
//! setting a wake-up replays one path of matches and the next stage to wake stands at the root.
//! Overwriting a wake-up costs the same as setting it; nothing is ever cancelled.
//!
//! **Order at equal times: the stage with the lower number wakes first.** Stages are numbered along
//! the path (see `network.rs`), so this is a fixed, documented order.

use crate::units::Time;

/// The number of a stage in the tournament.
pub type StageId = u32;

/// A wake-up: its time above its stage in one integer, so that comparing two takes both into
/// account.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(u128);

impl Entry {
    fn new(at: Time, stage: StageId) -> Self {
        Self(u128::from(at.ps()) << 32 | u128::from(stage))
    }

    fn at(self) -> Time {
        Time::from_ps((self.0 >> 32) as u64)
    }

    fn stage(self) -> StageId {
        self.0 as StageId
    }
}

/// The pending wake-ups of all stages.
pub struct Wake {
    /// The tree in heap order: the root at 1, the children of `n` at `2n` and `2n + 1`, and the
    /// leaves in the last half.
    nodes: Vec<Entry>,
}

impl Wake {
    /// A tournament of at least `stages` stages, none of which wants to be woken.
    pub fn new(stages: usize) -> Self {
        let leaves = stages.max(2).next_power_of_two();
        let mut nodes = vec![Entry::new(Time::NEVER, 0); leaves];
        nodes.extend((0..leaves).map(|leaf| Entry::new(Time::NEVER, leaf as StageId)));
        let mut wake = Self { nodes };
        wake.replay_all();
        wake
    }

    fn leaves(&self) -> usize {
        self.nodes.len() / 2
    }

    fn replay_all(&mut self) {
        for node in (1..self.leaves()).rev() {
            self.nodes[node] = self.nodes[2 * node].min(self.nodes[2 * node + 1]);
        }
    }

    /// Makes room for stage numbers below `stages`; wake-ups already set stay.
    pub fn grow(&mut self, stages: usize) {
        if stages <= self.leaves() {
            return;
        }
        let mut grown = Self::new(stages);
        let (from, to) = (self.leaves(), grown.leaves());
        for leaf in 0..from {
            grown.nodes[to + leaf] = self.nodes[from + leaf];
        }
        grown.replay_all();
        *self = grown;
    }

    /// Sets the wake-up of `stage`, in place of the one it had.
    #[inline]
    pub fn set(&mut self, stage: StageId, at: Time) {
        let nodes = &mut self.nodes[..];
        let mut node = nodes.len() / 2 + stage as usize;
        let mut winner = Entry::new(at, stage);
        if nodes[node] == winner {
            return;
        }
        nodes[node] = winner;
        while node > 1 {
            winner = winner.min(nodes[node ^ 1]);
            node /= 2;
            if winner == nodes[node] {
                return;
            }
            nodes[node] = winner;
        }
    }

    /// Brings the wake-up of `stage` forward to `at`, if it is not yet that early. For timers that
    /// move later all the time: they are left in place and look again when they fire.
    #[inline]
    pub fn set_no_later(&mut self, stage: StageId, at: Time) {
        if at < self.nodes[self.leaves() + stage as usize].at() {
            self.set(stage, at);
        }
    }

    /// The earliest wake-up and whose it is; `Time::NEVER` when no stage wants one.
    #[inline]
    pub fn next(&self) -> (Time, StageId) {
        (self.nodes[1].at(), self.nodes[1].stage())
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
        while wake.next().0 != Time::NEVER {
            let (_, stage) = wake.next();
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
        assert_eq!(wake.next(), (Time::from_ps(7), 1));
    }

    #[test]
    fn set_no_later_never_postpones() {
        let mut wake = Wake::new(2);
        wake.set_no_later(1, Time::from_ps(5));
        wake.set_no_later(1, Time::from_ps(8));
        assert_eq!(wake.next(), (Time::from_ps(5), 1));
    }

    #[test]
    fn growing_keeps_wake_ups_and_order() {
        let mut wake = Wake::new(2);
        wake.set(1, Time::from_ps(5));
        wake.grow(100);
        wake.set(99, Time::from_ps(5));
        assert_eq!(wake.next(), (Time::from_ps(5), 1));
        wake.set(1, Time::NEVER);
        assert_eq!(wake.next(), (Time::from_ps(5), 99));
    }
}
