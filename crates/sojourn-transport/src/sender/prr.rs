//! Proportional rate reduction (RFC 9937): how much may be sent for each acknowledgement while the window
//! shrinks to its threshold.

/// A reduction that goes on. All counts are in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Prr {
    /// What was under way when the reduction began (RFC 9937 §5: RecoverFS).
    pub recover_flight: u64,
    /// Delivered since.
    pub delivered: u64,
    /// Sent since.
    pub out: u64,
}

/// What an acknowledgement says to the reduction, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Step {
    /// Newly delivered by it.
    pub delivered: u64,
    /// It acknowledges new data and reveals no further loss (RFC 9937 §5: SafeACK).
    pub is_safe: bool,
    /// Thought to be in the network after it.
    pub pipe: u64,
    /// What the window shrinks to.
    pub threshold: u64,
    /// A full segment.
    pub mss: u64,
}

impl Prr {
    /// Takes in an acknowledgement; gives what may be in the network from now on (RFC 9937 §6.2).
    pub(super) fn limit(&mut self, step: Step) -> u64 {
        let Step { delivered, is_safe, pipe, threshold, mss } = step;
        self.delivered += delivered;
        let sendable = if pipe > threshold {
            // Proportionally: as much of the threshold as is delivered of what was under way.
            let share = self.delivered * threshold;
            share.div_ceil(self.recover_flight.max(1)).saturating_sub(self.out)
        } else {
            let by_delivery = self.delivered.saturating_sub(self.out).max(delivered);
            (by_delivery + if is_safe { mss } else { 0 }).min(threshold - pipe)
        };
        // The fast retransmit leaves at once.
        let least = if self.out == 0 { mss } else { 0 };
        pipe + sendable.max(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    fn step(delivered: u64, is_safe: bool, pipe: u64) -> Step {
        Step { delivered, is_safe, pipe, threshold: 7000, mss: MSS }
    }

    /// Ten segments were under way, the threshold is 7. Of two delivered, 2 * 7/10 = 1.4 may leave.
    #[test]
    fn above_the_threshold_it_is_proportional() {
        let mut prr = Prr { recover_flight: 10 * MSS, ..Prr::default() };
        assert_eq!(prr.limit(step(1000, false, 9000)), 10_000, "the fast retransmit");
        prr.out += 1000;
        // 2000 * 7000 / 10000 = 1400, less the 1000 sent.
        assert_eq!(prr.limit(step(1000, false, 8600)), 9000);
    }

    /// Below it, without a safe acknowledgement, what is delivered may be replaced and no more; with
    /// one, a segment more, as in slow start, up to the threshold.
    #[test]
    fn below_the_threshold_it_conserves_or_catches_up() {
        let mut prr = Prr { recover_flight: 10 * MSS, delivered: 5000, out: 5000 };
        assert_eq!(prr.limit(step(1000, false, 4000)), 5000);
        prr.out += 1000;
        assert_eq!(prr.limit(step(1000, true, 4000)), 6000);
        prr.out += 2000;
        assert_eq!(prr.limit(step(2000, true, 6500)), 7000);
    }
}
