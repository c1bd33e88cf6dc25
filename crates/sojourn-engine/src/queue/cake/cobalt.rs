//! COBALT, the AQM algorithm of CAKE (Høiland-Jørgensen et al. 2018 §II-D; Linux 7.2): CoDel for flows that heed
//! signals, and BLUE for those that do not.
//!
//! CoDel here returns from an episode step by step: while packets wait less than the target, the count goes down at
//! the times at which it would have gone up. BLUE's probability rises when the flow's queue overflows and falls when it
//! runs empty. Times are whole ns. The inverse square root of the count is from a table below 16 and by one Newton
//! step above; it is 0 until a first signal, so that one comes at the second late packet and not an interval later.

use crate::rng::Rng;

/// What BLUE adds at an overflow: 1/256.
const INCREMENT: u32 = 1 << 24;
/// What it takes off when the queue is empty: 1/4096.
const DECREMENT: u32 = 1 << 20;
/// Counts below this have their root in a table.
const TABLE: usize = 16;

/// One over the root of each count, in 1/2^32, as Linux rounds it; those of 0 and 1 are as close to 1 as there is.
const ROOTS: [u32; TABLE] = [
    u32::MAX,
    u32::MAX,
    3_037_000_500,
    2_479_700_525,
    2_147_483_647,
    1_920_767_767,
    1_753_413_056,
    1_623_345_051,
    1_518_500_250,
    1_431_655_765,
    1_358_187_914,
    1_294_981_364,
    1_239_850_263,
    1_191_209_601,
    1_147_878_294,
    1_108_955_788,
];

/// x (3 - count x^2) / 2.
fn newton(root: u32, count: u32) -> u32 {
    let square = (u64::from(root) * u64::from(root)) >> 32;
    let rest = (3_u64 << 32).wrapping_sub(u64::from(count) * square) >> 2;
    (rest.wrapping_mul(u64::from(root)) >> 31) as u32
}

/// The times that it goes by, in ns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    pub target: i64,
    pub interval: i64,
    /// What a full packet takes at the tin's rate.
    pub packet: i64,
}

/// What is to be done with a packet that may leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Judged {
    pub is_marked: bool,
    pub is_dropped: bool,
}

/// Its state in a flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cobalt {
    count: u32,
    root: u32,
    is_dropping: bool,
    /// When the next signal is due; without a count, until when the flow is remembered.
    next: i64,
    probability: u32,
    /// When the probability last changed.
    changed: i64,
}

impl Cobalt {
    pub(super) const NEW: Self = Self {
        count: 0,
        root: 0,
        is_dropping: false,
        next: 0,
        probability: 0,
        changed: i64::MIN / 2,
    };

    fn count_to(&mut self, count: u32) {
        self.count = count;
        let of_table = ROOTS.get(count as usize).copied();
        self.root = of_table.unwrap_or_else(|| newton(self.root, count));
    }

    fn after(&self, from: i64, terms: &Terms) -> i64 {
        from + ((i128::from(terms.interval) * i128::from(self.root)) >> 32) as i64
    }

    /// A packet may leave that has waited for `sojourn`.
    pub(super) fn judge(
        &mut self,
        terms: &Terms,
        now: i64,
        sojourn: i64,
        is_markable: bool,
        rng: &mut Rng,
    ) -> Judged {
        let mut schedule = now - self.next;
        // With so few packets a queue cannot be shorter.
        let is_late = sojourn > terms.target && sojourn > 4 * terms.packet;
        let mut is_due = self.count > 0 && schedule >= 0;
        if is_late && !self.is_dropping {
            self.next = self.after(now, terms);
            self.count = self.count.max(1);
        }
        self.is_dropping = is_late;
        let mut judged = Judged::default();
        if is_due && is_late {
            judged = Judged { is_marked: is_markable, is_dropped: !is_markable };
            self.count_to(self.count.saturating_add(1));
            self.next = self.after(self.next, terms);
            schedule = now - self.next;
        } else {
            while is_due {
                self.count_to(self.count - 1);
                self.next = self.after(self.next, terms);
                schedule = now - self.next;
                is_due = self.count > 0 && schedule >= 0;
            }
        }
        if self.probability > 0 && !judged.is_dropped {
            judged.is_dropped = ((rng.bits() >> 32) as u32) < self.probability;
        }
        if self.count == 0 {
            self.next = now + terms.interval;
        } else if schedule > 0 && !judged.is_dropped {
            self.next = now;
        }
        judged
    }

    /// Its queue was the longest when there was no room.
    pub(super) fn on_overflow(&mut self, terms: &Terms, now: i64) {
        if now - self.changed > terms.target {
            self.probability = self.probability.saturating_add(INCREMENT);
            self.changed = now;
        }
        self.is_dropping = true;
        self.next = now;
        self.count = self.count.max(1);
    }

    /// Its queue was found empty. Says whether the flow is to be remembered.
    pub(super) fn on_empty(&mut self, terms: &Terms, now: i64) -> bool {
        if self.probability > 0 && now - self.changed > terms.target {
            self.probability = self.probability.saturating_sub(DECREMENT);
            self.changed = now;
        }
        self.is_dropping = false;
        if self.count > 0 && now >= self.next {
            self.count_to(self.count - 1);
            self.next = self.after(self.next, terms);
        }
        self.probability > 0 || self.count > 0 || now < self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;
    const TERMS: Terms = Terms { target: 5 * MS, interval: 100 * MS, packet: MS / 10 };

    fn judge(cobalt: &mut Cobalt, now_ms: i64, sojourn_ms: i64) -> Judged {
        let mut rng = Rng::split_mix(1);
        cobalt.judge(&TERMS, now_ms * MS, sojourn_ms * MS, false, &mut rng)
    }

    #[test]
    fn roots_are_right_to_the_last_digit() {
        for (count, root) in (1..).zip(&ROOTS[1..]) {
            let want = 1.0 / f64::from(count).sqrt();
            let got = f64::from(*root) / 4_294_967_296.0;
            assert!((got / want - 1.0).abs() < 1e-9, "{count}: {got}");
        }
    }

    /// The first late packet begins an episode and the second is dropped; the next come 71 and 58 ms later.
    #[test]
    fn gaps_are_an_interval_over_the_root_of_the_count() {
        let mut cobalt = Cobalt::NEW;
        let dropped: Vec<i64> =
            (0..200).filter(|ms| judge(&mut cobalt, 1000 + ms, 6).is_dropped).collect();
        assert_eq!(dropped, [1, 71, 129, 179]);
    }

    /// After three drops at 0, 71 and 128 ms the count is 4 and goes down by one at each time at which another would
    /// have come: the next at 178 ms.
    #[test]
    fn a_short_wait_brings_the_count_down_and_no_drop() {
        let mut cobalt = Cobalt::NEW;
        for ms in 0..130 {
            judge(&mut cobalt, ms, 6);
        }
        assert_eq!(cobalt.count, 4);
        judge(&mut cobalt, 178, 1);
        assert_eq!(cobalt.count, 4);
        judge(&mut cobalt, 179, 1);
        assert_eq!(cobalt.count, 3);
    }

    #[test]
    fn blue_rises_by_a_256th_and_falls_by_a_4096th_once_a_target() {
        let mut cobalt = Cobalt::NEW;
        for ms in [1, 2, 7] {
            cobalt.on_overflow(&TERMS, ms * MS);
        }
        assert_eq!(cobalt.probability, 2 * INCREMENT);
        for ms in [8, 13, 14] {
            assert!(cobalt.on_empty(&TERMS, ms * MS));
        }
        assert_eq!(cobalt.probability, 2 * INCREMENT - DECREMENT);
    }
}
