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

    /// Had the packet that it judged last waited longer than the target?
    pub(super) fn is_late(&self) -> bool {
        self.is_dropping
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
        let mut sum = 0;
        for count in 1..16 {
            let mut cobalt = Cobalt::NEW;
            cobalt.count_to(count);
            let want = 4_294_967_296.0 / f64::from(count).sqrt();
            assert!((f64::from(cobalt.root) - want).abs() <= 1.0, "{count}: {}", cobalt.root);
            sum += u64::from(cobalt.root);
        }
        // Which of two digits it is Linux' table says; this is the sum of its entries.
        assert_eq!(sum, 27_547_897_080);
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

    /// A state of this count, with the root of it, whose next signal is due at `next_ms`.
    fn at(count: u32, is_dropping: bool, next_ms: i64) -> Cobalt {
        let mut cobalt = Cobalt { is_dropping, next: next_ms * MS, ..Cobalt::NEW };
        cobalt.count_to(count);
        cobalt
    }

    /// The nearest whole us: roots are rounded down.
    fn next_us(cobalt: &Cobalt) -> i64 {
        (cobalt.next + 500) / 1000
    }

    /// Gaps are 100 ms over the root: 70.711 for 2, 57.735 for 3, 50 for 4. With another signal comes another count.
    #[test]
    fn a_late_packet_is_signalled_when_that_is_due() {
        let (drop, mark) = ((true, false), (false, true));
        for (before, now_ms, is_markable, signal, count, next) in [
            (at(3, true, 1000), 999, false, None, 3, 1_000_000),
            (at(3, true, 1000), 1000, false, Some(drop), 4, 1_050_000),
            (at(3, true, 1000), 1000, true, Some(mark), 4, 1_050_000),
            (at(3, true, 1000), 1020, true, Some(mark), 4, 1_050_000),
            // What is behind its time catches up with drops, but not with marks.
            (at(3, true, 1000), 1200, false, Some(drop), 4, 1_050_000),
            (at(3, true, 1000), 1200, true, Some(mark), 4, 1_200_000),
            (at(3, true, 1000), 1050, true, Some(mark), 4, 1_050_000),
            // A new episode goes on with the count of the last one, and begins a gap from now.
            (at(2, false, 2000), 1000, false, None, 2, 1_070_711),
            (at(0, false, 2000), 1000, false, None, 1, 1_100_000),
            // A signal that was due in the last episode comes at once.
            (at(2, false, 900), 1000, false, Some(drop), 3, 1_128_446),
        ] {
            let (mut cobalt, mut rng) = (before, Rng::split_mix(1));
            let Judged { is_dropped, is_marked } =
                cobalt.judge(&TERMS, now_ms * MS, 6 * MS, is_markable, &mut rng);
            let found = (is_dropped || is_marked).then_some((is_dropped, is_marked));
            assert_eq!(
                (found, cobalt.count, next_us(&cobalt)),
                (signal, count, next),
                "{before:?}"
            );
            assert!(cobalt.is_dropping);
            assert_eq!(rng.bits(), Rng::split_mix(1).bits(), "nothing is drawn");
        }
    }

    /// The root of four in the table makes a gap of 49 999 999 ns, so that a mark after 50 ms is late by one.
    #[test]
    fn a_mark_that_is_late_by_a_nanosecond_begins_the_next_gap() {
        let mut cobalt = at(3, true, 1000);
        assert!(cobalt.judge(&TERMS, 1050 * MS, 6 * MS, true, &mut Rng::split_mix(1)).is_marked);
        assert_eq!(cobalt.next, 1050 * MS);
    }

    #[test]
    fn a_packet_in_time_brings_the_count_down_for_each_gap() {
        for (before, now_ms, count, next) in [
            (at(3, true, 1000), 999, 3, 1_000_000),
            (at(3, true, 1000), 1000, 2, 1_070_711),
            (at(3, true, 1000), 1071, 1, 1_170_711),
            // Without a count it is remembered for an interval.
            (at(2, true, 1000), 1100, 0, 1_200_000),
            (at(3, true, 1000), 1300, 0, 1_400_000),
            (at(0, false, 1000), 1300, 0, 1_400_000),
        ] {
            let mut cobalt = before;
            assert_eq!(judge(&mut cobalt, now_ms, 1), Judged::default());
            assert_eq!((cobalt.count, next_us(&cobalt)), (count, next), "{before:?}");
            assert!(!cobalt.is_dropping);
        }
    }

    /// Late is more than the target, 5 ms, and more than four packets: at 2 ms a packet, 8 ms.
    #[test]
    fn a_queue_of_four_packets_is_not_late() {
        let slow = Terms { packet: 2 * MS, ..TERMS };
        for (terms, sojourn, is_late) in [
            (TERMS, 5 * MS, false),
            (TERMS, 5 * MS + 1, true),
            (slow, 8 * MS, false),
            (slow, 8 * MS + 1, true),
        ] {
            let mut cobalt = Cobalt::NEW;
            cobalt.judge(&terms, 0, sojourn, false, &mut Rng::split_mix(1));
            assert_eq!(cobalt.is_dropping, is_late, "{sojourn}");
        }
    }

    /// The first draw of SplitMix64 from 1 begins with 0x910a2dec.
    #[test]
    fn blue_drops_where_a_draw_is_below_its_probability() {
        for (probability, is_dropped) in [(0, false), (0x910a_2dec, false), (0x910a_2ded, true)] {
            let mut cobalt = Cobalt { probability, ..at(2, true, 0) };
            let judged = judge(&mut cobalt, 1, 1);
            assert_eq!(judged, Judged { is_dropped, is_marked: false });
        }
        // One that is dropped anyway takes no draw.
        let (mut cobalt, mut rng) =
            (Cobalt { probability: 1, ..at(2, true, 0) }, Rng::split_mix(1));
        assert!(cobalt.judge(&TERMS, MS, 6 * MS, false, &mut rng).is_dropped);
        assert_eq!(rng.bits(), Rng::split_mix(1).bits());
        // A mark does, and the packet may be both.
        let mut cobalt = Cobalt { probability: u32::MAX, ..at(2, true, 0) };
        let both = cobalt.judge(&TERMS, MS, 6 * MS, true, &mut Rng::split_mix(1));
        assert_eq!(both, Judged { is_dropped: true, is_marked: true });
    }

    /// From 16 on a Newton step: x (3 - n x^2) / 2 of 1 / sqrt(15) is 29/30 of it, and of 1/4 for 17 it is 31/128.
    #[test]
    fn roots_beyond_the_table_are_a_step_from_those_before() {
        let mut cobalt = at(15, true, 0);
        cobalt.count_to(16);
        let near = |found: u32, want: f64| {
            let found = f64::from(found) / 4_294_967_296.0;
            assert!((found / want - 1.0).abs() < 1e-8, "{found} {want}");
        };
        near(cobalt.root, 29.0 / 30.0 / 15_f64.sqrt());
        near(newton(1 << 30, 17), 31.0 / 128.0);
    }

    #[test]
    fn an_overflow_begins_an_episode_at_once() {
        for (count, after) in [(0, 1), (7, 7)] {
            let mut cobalt = at(count, false, 5000);
            cobalt.on_overflow(&TERMS, 1000 * MS);
            assert_eq!((cobalt.count, cobalt.next, cobalt.is_dropping), (after, 1000 * MS, true));
            // Not again within a target of 5 ms.
            cobalt.on_overflow(&TERMS, 1005 * MS);
            assert_eq!(cobalt.probability, INCREMENT);
            cobalt.on_overflow(&TERMS, 1005 * MS + 1);
            assert_eq!(cobalt.probability, 2 * INCREMENT);
        }
    }

    #[test]
    fn an_empty_queue_is_remembered_until_its_state_is_at_rest() {
        for (before, probability, now_ms, count, next, left, is_remembered) in [
            (at(2, true, 1000), 0, 999, 2, 1_000_000, 0, true),
            (at(2, true, 1000), 0, 1000, 1, 1_100_000, 0, true),
            // Once a call, however late it is.
            (at(2, true, 1000), 0, 1500, 1, 1_100_000, 0, true),
            (at(1, true, 1000), 0, 1000, 0, 1_100_000, 0, true),
            (at(0, false, 1000), 0, 999, 0, 1_000_000, 0, true),
            (at(0, false, 1000), 0, 1000, 0, 1_000_000, 0, false),
            (at(0, false, 1000), 2 * DECREMENT, 1000, 0, 1_000_000, DECREMENT, true),
            (at(0, false, 1000), DECREMENT, 1000, 0, 1_000_000, 0, false),
        ] {
            let mut cobalt = Cobalt { probability, ..before };
            assert_eq!(cobalt.on_empty(&TERMS, now_ms * MS), is_remembered, "{before:?}");
            assert_eq!((cobalt.count, next_us(&cobalt), cobalt.probability), (count, next, left));
            assert!(!cobalt.is_dropping);
        }
        // Within a target of the last change, 5 ms, it does not fall.
        let mut cobalt = Cobalt { probability: INCREMENT, changed: 0, ..at(0, false, 0) };
        for (now, left) in [(5 * MS, INCREMENT), (5 * MS + 1, INCREMENT - DECREMENT)] {
            cobalt.on_empty(&TERMS, now);
            assert_eq!(cobalt.probability, left);
        }
    }
}
