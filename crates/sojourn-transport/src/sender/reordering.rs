//! What a sender learns from segments that come late or twice: how long it waits for what is late (RFC 8985 §6.2
//! steps 3 and 4), and whether a reduction was needless (RFC 3708 by duplicates, RFC 3522 by timestamps; Linux 6.18
//! has both).

use sojourn_engine::packet::{SACK_BLOCKS, SackBlock};
use sojourn_engine::units::Time;

/// RFC 8985 §6.2 step 4: the share of the least round trip that segments may be late by, for each step.
const STEP: f64 = 0.25;
/// RFC 8985 §6.2 step 4: after so many recoveries without a duplicate the window is a step again.
const PERSISTENT_RECOVERIES: u32 = 16;
/// Linux 6.18: segments late by more than so many let the window grow for what is held beyond a hole
/// (net.ipv4.tcp_reordering).
const USUAL_DISTANCE: u64 = 3;

/// The reordering that a path has shown.
pub(super) struct Reordering {
    /// An original came after one that was sent later (RACK.reordering_seen).
    pub is_seen: bool,
    /// And by more segments than usual.
    pub is_wide: bool,
    /// Steps of the window (RACK.reo_wnd_mult).
    steps: u32,
    /// Duplicates count as one until all is acknowledged up to here (RACK.dsack_round).
    round_end: u64,
    /// Recoveries until the window is a step again (RACK.reo_wnd_persist).
    recoveries_left: u32,
}

impl Default for Reordering {
    fn default() -> Self {
        let (is_seen, is_wide) = (false, false);
        Self { is_seen, is_wide, steps: 1, round_end: 0, recoveries_left: 0 }
    }
}

impl Reordering {
    /// An original was delivered so many bytes below the highest that was delivered before.
    pub(super) fn note_late(&mut self, bytes: u64, mss: u64) {
        self.is_seen |= bytes > 0;
        self.is_wide |= bytes > USUAL_DISTANCE * mss;
    }

    /// Something was sent again needlessly; all is acknowledged up to `una` and sent up to `nxt`.
    pub(super) fn widen(&mut self, una: u64, nxt: u64) {
        if una >= self.round_end {
            self.round_end = nxt;
            self.steps += 1;
            self.recoveries_left = PERSISTENT_RECOVERIES;
        }
    }

    /// A recovery ended that was not needless.
    pub(super) fn end_recovery(&mut self) {
        self.recoveries_left = self.recoveries_left.saturating_sub(1);
        if self.recoveries_left == 0 {
            self.steps = 1;
        }
    }

    /// How late a segment may be.
    pub(super) fn window(&self, min_rtt: Time, srtt: Time) -> Time {
        min_rtt.scaled(STEP * f64::from(self.steps)).min(srtt)
    }
}

/// What a sender knows where the path may change the order.
#[derive(Default)]
pub(super) struct Order {
    /// The reordering so far.
    pub reordering: Reordering,
    /// The last reduction.
    pub reduction: Option<Reduction>,
}

impl Order {
    /// A segment is sent again.
    pub(super) fn note_repeat(&mut self, now: Time) {
        self.reduction.iter_mut().for_each(|reduction| reduction.repeat(now));
    }

    /// These bytes came twice.
    pub(super) fn take_duplicate(&mut self, duplicate: (u64, u64), mss: u64) {
        self.reduction.iter_mut().for_each(|reduction| reduction.take_duplicate(duplicate, mss));
    }
}

/// The last reduction, which may prove needless.
pub(super) struct Reduction {
    /// What was acknowledged when it began.
    from: u64,
    /// What has been sent again and has not come twice.
    unanswered: u64,
    /// When the first of it left.
    repeated_at: Option<Time>,
}

impl Reduction {
    /// It begins with so many segments under way that were sent again before.
    pub(super) fn new(una: u64, repeats: u64) -> Self {
        Self { from: una, unanswered: repeats, repeated_at: None }
    }

    /// A segment is sent again.
    pub(super) fn repeat(&mut self, now: Time) {
        self.unanswered += 1;
        self.repeated_at.get_or_insert(now);
    }

    /// These bytes came twice.
    pub(super) fn take_duplicate(&mut self, (start, end): (u64, u64), mss: u64) {
        if end > self.from {
            self.unanswered = self.unanswered.saturating_sub((end - start).div_ceil(mss));
        }
    }

    /// Has all come twice that was sent again (RFC 3708 §2)?
    pub(super) fn is_all_duplicate(&self) -> bool {
        self.repeated_at.is_some() && self.unanswered == 0
    }

    /// Does an acknowledgement echo what left before the first of it: an original (RFC 3522 §3.2)?
    pub(super) fn is_of_original(&self, echo: Time) -> bool {
        self.repeated_at.is_some_and(|at| echo < at)
    }
}

/// The bytes that an acknowledgement reports as having come twice: its first block, below what it acknowledges or
/// within the second one (RFC 2883 §4).
pub(super) fn duplicate_in(ack: u64, blocks: &[SackBlock; SACK_BLOCKS]) -> Option<(u64, u64)> {
    let [first, second, _] = blocks;
    let is_within = second.start <= first.start && first.end <= second.end;
    first.bytes(ack).filter(|_| first.is_below() || is_within)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_ms;

    /// A least round trip of 40 ms: a step is 10 ms. Duplicates in three rounds make four steps, more within one count
    /// for nothing, and the smoothed round trip bounds them.
    #[test]
    fn each_round_with_a_duplicate_adds_a_quarter_of_the_round_trip() {
        let mut reordering = Reordering::default();
        let window = |reordering: &Reordering| reordering.window(MS(40), MS(45));
        assert_eq!(window(&reordering), MS(10));
        for (una, nxt, want) in
            [(100, 500, 20), (200, 600, 20), (499, 700, 20), (500, 900, 30), (950, 1000, 40)]
        {
            reordering.widen(una, nxt);
            assert_eq!(window(&reordering), MS(want), "{una}");
        }
        reordering.widen(1000, 2000);
        assert_eq!(window(&reordering), MS(45));
    }

    /// After 16 recoveries without a duplicate the window is a step again; a duplicate begins the count anew.
    #[test]
    fn sixteen_recoveries_reset_the_window() {
        let mut reordering = Reordering::default();
        reordering.widen(0, 10);
        (0..15).for_each(|_| reordering.end_recovery());
        assert_eq!(reordering.window(MS(40), MS(99)), MS(20));
        reordering.widen(10, 20);
        (0..15).for_each(|_| reordering.end_recovery());
        assert_eq!(reordering.window(MS(40), MS(99)), MS(30));
        reordering.end_recovery();
        assert_eq!(reordering.window(MS(40), MS(99)), MS(10));
    }

    #[test]
    fn late_by_more_than_three_segments_is_wide() {
        for (bytes, want) in [(0, (false, false)), (3000, (true, false)), (3001, (true, true))] {
            let mut reordering = Reordering::default();
            reordering.note_late(bytes, 1000);
            assert_eq!((reordering.is_seen, reordering.is_wide), want);
        }
    }

    /// Two segments sent again, beside one that was under way so before: three must come twice, of what was not
    /// acknowledged then. Their timestamps are 7 ms and later.
    #[test]
    fn a_reduction_is_needless_once_all_came_twice_or_an_original_did() {
        let mut reduction = Reduction::new(5000, 1);
        reduction.take_duplicate((5000, 6000), 1000);
        assert!(!reduction.is_all_duplicate(), "nothing was sent again");
        let mut reduction = Reduction::new(5000, 1);
        reduction.repeat(MS(7));
        reduction.repeat(MS(8));
        reduction.take_duplicate((4000, 5000), 1000);
        reduction.take_duplicate((5000, 7000), 1000);
        assert!(!reduction.is_all_duplicate());
        reduction.take_duplicate((7000, 7500), 1000);
        assert!(reduction.is_all_duplicate());
        let echoes = [6, 7, 8].map(|ms| reduction.is_of_original(MS(ms)));
        assert_eq!(echoes, [true, false, false]);
        assert!(!Reduction::new(0, 0).is_of_original(MS(1)));
    }

    /// RFC 2883 §4: below the acknowledgement, or within the second block; any other first block is news.
    #[test]
    fn the_first_block_reports_a_duplicate() {
        let block = |start, end| SackBlock { start, end };
        let none = SackBlock::default();
        for (blocks, want) in [
            ([block(500, 0), none, none], Some((9500, 10_000))),
            ([block(3000, 2000), block(100, 200), none], Some((7000, 8000))),
            ([block(100, 200), block(50, 200), none], Some((10_100, 10_200))),
            ([block(100, 200), block(101, 300), none], None),
            ([block(100, 200), none, none], None),
            ([none, none, none], None),
        ] {
            assert_eq!(duplicate_in(10_000, &blocks), want, "{blocks:?}");
        }
    }
}
