//! CoDel as Linux' queue disciplines have it (7.2, `codel` and `fq_codel`), beside RFC 8289's in [`super::codel`].
//!
//! It differs in arithmetic: times are whole ticks of 1024 ns, and the inverse square root of the count is kept in 16
//! bits and moved by one Newton step for each drop. From its start at almost 1 the gaps after the first drops are 100,
//! 50, 56 and 49 ms, not 100, 71, 58 and 50. It differs in state: a mark moves the time of the next one at once, an
//! episode whose first drop left the queue empty goes on, and `fq_codel` counts what it pushes out as drops.
//!
//! Left out: at most 256 drops for one packet that leaves.

use super::{Aqm, AqmSpec, Departure, Verdict};
use crate::record::Gauges;
use crate::units::Time;

crate::series! {
    /// CoDel: drops of the present dropping state, whose square root spaces them; 0 outside it.
    CODEL_COUNT = "codel_count", in "drops", from "RFC 8289, section 5.3";
}

/// A tick is 2^10 ns.
const NS_PER_TICK: u64 = 1 << 10;
/// The inverse square root has so many bits behind its point.
const BITS: u32 = 16;
/// Almost 1.
const FIRST_ROOT: u64 = (1 << BITS) - 1;

fn ticks(time: Time) -> u64 {
    time.ps() / 1000 / NS_PER_TICK
}

/// What the drop before the one at hand was, which decides about the next head.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dropped {
    /// None in this call.
    Nothing,
    /// One that began an episode: the next head leaves.
    First,
    /// Another one of an episode.
    Another,
}

/// CoDel of Linux.
pub struct LinuxCodel {
    target: u64,
    interval: u64,
    mtu_bytes: u64,
    re_entry: u64,
    first_above: Option<u64>,
    drop_next: u64,
    count: u32,
    last_count: u32,
    /// 1 over the root of the count.
    root: u64,
    dropping: bool,
    dropped: Dropped,
}

impl LinuxCodel {
    /// The algorithm in its initial state.
    pub(super) fn new(target: Time, interval: Time, mtu_bytes: u64, re_entry: Time) -> Self {
        Self {
            target: ticks(target),
            interval: ticks(interval),
            mtu_bytes,
            re_entry: ticks(re_entry),
            first_above: None,
            drop_next: 0,
            count: 0,
            last_count: 0,
            root: FIRST_ROOT,
            dropping: false,
            dropped: Dropped::Nothing,
        }
    }

    /// One Newton step towards the root: x (3 - count x^2) / 2, in 32 bits.
    fn step(&mut self) {
        let root = self.root << (32 - BITS);
        let square = (root * root) >> 32;
        let rest = (3_u64 << 32).wrapping_sub(u64::from(self.count) * square) >> 2;
        // Where a count has run ahead of its root, the kernel's product wraps too.
        self.root = (rest.wrapping_mul(root) >> 31) >> (32 - BITS) & FIRST_ROOT;
    }

    fn control_law(&self, from: u64) -> u64 {
        from + ((self.interval * (self.root << (32 - BITS))) >> 32).max(1)
    }

    fn is_late(&mut self, packet: &Departure, now: u64) -> bool {
        let sojourn = now - ticks(packet.now.since(packet.sojourn));
        if sojourn < self.target || packet.left.bytes <= self.mtu_bytes {
            self.first_above = None;
            return false;
        }
        match self.first_above {
            Some(at) => now > at,
            None => {
                self.first_above = Some(now + self.interval);
                false
            }
        }
    }

    fn enter(&mut self, now: u64) {
        self.dropping = true;
        let since = self.count.wrapping_sub(self.last_count);
        // Without an episode before nothing is recent: the kernel's clock is long past its start when a queue begins.
        let is_recent = self.last_count > 0 && now < self.drop_next.saturating_add(self.re_entry);
        if since > 1 && is_recent {
            self.count = since;
            self.step();
        } else {
            (self.count, self.root) = (1, FIRST_ROOT);
        }
        self.last_count = self.count;
        self.drop_next = self.control_law(now);
    }
}

impl Aqm for LinuxCodel {
    fn on_departure(&mut self, packet: &Departure) -> Verdict {
        let now = ticks(packet.now);
        let is_late = self.is_late(packet, now);
        match std::mem::replace(&mut self.dropped, Dropped::Nothing) {
            Dropped::First => return Verdict::Pass,
            Dropped::Another if is_late => self.drop_next = self.control_law(self.drop_next),
            Dropped::Another | Dropped::Nothing => {}
        }
        if !self.dropping {
            if !is_late {
                return Verdict::Pass;
            }
            self.enter(now);
            if !packet.is_markable {
                self.dropped = Dropped::First;
            }
            return Verdict::Signal;
        }
        if !is_late {
            self.dropping = false;
            return Verdict::Pass;
        }
        if now < self.drop_next {
            return Verdict::Pass;
        }
        self.count = self.count.wrapping_add(1);
        self.step();
        if packet.is_markable {
            self.drop_next = self.control_law(self.drop_next);
        } else {
            self.dropped = Dropped::Another;
        }
        Verdict::Signal
    }

    fn on_empty(&mut self, _now: Time) {
        self.first_above = None;
        let dropped = std::mem::replace(&mut self.dropped, Dropped::Nothing);
        self.dropping &= dropped == Dropped::First;
    }

    fn on_shed(&mut self) {
        self.count = self.count.wrapping_add(1);
    }

    fn gauges(&self, out: &mut Gauges) {
        out.show(CODEL_COUNT, if self.dropping { self.count.into() } else { 0.0 });
    }

    fn retune(&mut self, spec: &AqmSpec) {
        let AqmSpec::Codel(p) = spec else { return };
        let Self { target, interval, mtu_bytes, re_entry, .. } = p.linux();
        (self.target, self.interval) = (target, interval);
        (self.mtu_bytes, self.re_entry) = (mtu_bytes, re_entry);
    }
}

#[cfg(test)]
mod tests {
    use super::super::packets_for_tests::departure;
    use super::*;

    /// The gaps that the kernel has with an interval of 100 ms, in ms: the first of one Newton step from almost 1.
    #[test]
    fn gaps_are_those_of_one_newton_step() {
        let (target, interval) = (Time::from_ms(5), Time::from_ms(100));
        let mut codel = LinuxCodel::new(target, interval, 1514, interval.times(16));
        codel.enter(0);
        let gaps: Vec<f64> = (0..4)
            .map(|_| {
                codel.count += 1;
                codel.step();
                (codel.control_law(0) * NS_PER_TICK) as f64 / 1e6
            })
            .collect();
        for (gap, want) in gaps.iter().zip([50.00, 56.25, 48.78, 44.15]) {
            assert!((gap - want).abs() < 0.02, "{gaps:?}");
        }
    }

    #[test]
    fn a_packet_at_the_target_is_late_and_one_pushed_out_counts() {
        let (target, interval) = (Time::from_ps(5_000_192_000), Time::from_ms(100));
        let mut codel = LinuxCodel::new(target, interval, 1514, interval.times(16));
        // 4883 ticks of 1024 ns.
        assert_eq!(codel.target, 4883);
        let left = crate::count::Count { bytes: 30_000, packets: 20 };
        let waited = |ticks| Departure {
            now: Time::from_s(1),
            sojourn: Time::from_ps(ticks * NS_PER_TICK * 1000),
            size: 1500,
            left,
            own_left: left,
            alone: false,
            ecn: crate::packet::Ecn::NotEct,
            is_markable: false,
            flow: 0,
        };
        let now = ticks(Time::from_s(1));
        codel.is_late(&waited(4882), now);
        assert_eq!(codel.first_above, None);
        // `codel_should_drop` says no below the target, not at it.
        codel.is_late(&waited(4883), now);
        assert!(codel.first_above.is_some());
        codel.on_shed();
        assert_eq!(codel.count, 1);
    }

    /// The kernel's defaults: 5 ms are 4882 ticks, and 100 ms 97 656.
    fn codel() -> LinuxCodel {
        let interval = Time::from_ms(100);
        LinuxCodel::new(Time::from_ms(5), interval, 1514, interval.times(16))
    }

    fn at(tick: u64) -> Time {
        Time::from_ps(tick * NS_PER_TICK * 1000)
    }

    fn late(tick: u64) -> Departure {
        departure(at(tick), at(10_000), 30_000)
    }

    fn early(tick: u64) -> Departure {
        departure(at(tick), at(1000), 30_000)
    }

    const INTERVAL: u64 = 97_656;

    /// It after its first drop at this tick, of a packet that may be marked or not.
    fn dropping(now: u64, is_markable: bool) -> LinuxCodel {
        let mut codel = codel();
        codel.on_departure(&late(now - INTERVAL - 1));
        let packet = Departure { is_markable, ..late(now) };
        assert_eq!(codel.on_departure(&packet), Verdict::Signal);
        codel
    }

    #[test]
    fn the_first_drop_comes_after_more_than_an_interval_above_target() {
        let mut codel = codel();
        assert_eq!((codel.target, codel.interval, codel.re_entry), (4882, INTERVAL, 1_562_500));
        assert!(!codel.dropping);
        let start = 2_000_000;
        for (tick, want) in
            [(0, Verdict::Pass), (INTERVAL, Verdict::Pass), (INTERVAL + 1, Verdict::Signal)]
        {
            assert_eq!(codel.on_departure(&late(start + tick)), want, "{tick}");
        }
        // The root of a count of 1 is 65 535 of 65 536: the gap is two ticks short.
        let now = start + INTERVAL + 1;
        assert_eq!((codel.count, codel.last_count, codel.drop_next), (1, 1, now + INTERVAL - 2));
        // One packet below target, or one packet that is left, begins the interval anew.
        for spared in [early(start + 10), departure(at(start + 10), at(10_000), 1514)] {
            let mut codel = self::codel();
            codel.on_departure(&late(start));
            codel.on_departure(&spared);
            assert_eq!(codel.on_departure(&late(now)), Verdict::Pass);
        }
        let mut codel = self::codel();
        codel.on_departure(&late(start));
        codel.on_departure(&departure(at(start + 10), at(10_000), 1515));
        assert_eq!(codel.on_departure(&late(now)), Verdict::Signal);
    }

    #[test]
    fn the_head_after_the_first_drop_leaves_and_one_after_another_drop_moves_the_next() {
        let now = 2_000_000;
        let mut codel = dropping(now, false);
        let due = now + INTERVAL - 2;
        // The head behind it leaves, whatever it is.
        assert_eq!(codel.on_departure(&late(now)), Verdict::Pass);
        assert_eq!(codel.on_departure(&late(due - 1)), Verdict::Pass);
        assert_eq!(codel.on_departure(&late(due)), Verdict::Signal);
        assert_eq!((codel.count, codel.drop_next), (2, due));
        // The next head is late too: 50 ms, 48 828 ticks, from when the drop was due.
        assert_eq!(codel.on_departure(&late(due + 9)), Verdict::Pass);
        assert!((codel.drop_next - due).abs_diff(48_828) < 3, "{}", codel.drop_next - due);
        // One that is not late leaves the episode, which ends with the next: no interval above target has passed.
        let mut codel = dropping(now, false);
        assert_eq!((codel.on_departure(&early(now)), codel.dropping), (Verdict::Pass, true));
        assert_eq!((codel.on_departure(&late(due)), codel.dropping), (Verdict::Pass, false));
        // A head that is not late ends the episode and leaves the time.
        let mut codel = dropping(now, false);
        codel.on_departure(&late(now));
        codel.on_departure(&late(due));
        assert_eq!(codel.on_departure(&early(due)), Verdict::Pass);
        assert_eq!((codel.dropping, codel.drop_next), (false, due));
        assert_eq!(codel.on_departure(&early(due)), Verdict::Pass);
    }

    #[test]
    fn a_mark_moves_the_next_one_at_once() {
        let now = 2_000_000;
        let mut codel = dropping(now, true);
        let due = now + INTERVAL - 2;
        // No head is judged after it, so the next packet is judged like any other.
        let marked = Departure { is_markable: true, ..late(due) };
        assert_eq!(codel.on_departure(&marked), Verdict::Signal);
        assert_eq!(codel.count, 2);
        assert!((codel.drop_next - due).abs_diff(48_828) < 3, "{}", codel.drop_next - due);
        assert_eq!(codel.on_departure(&late(due + 1)), Verdict::Pass);
        assert!((codel.drop_next - due).abs_diff(48_828) < 3, "{}", codel.drop_next - due);
    }

    #[test]
    fn the_count_goes_on_after_a_recent_episode_of_several_drops() {
        let now = 2_000_000;
        let never = LinuxCodel { count: 9, last_count: 2, re_entry: 0, drop_next: now, ..codel() };
        let mut never = LinuxCodel { root: 1 << 15, ..never };
        never.enter(now);
        assert_eq!(never.count, 1);
        // Half a root moves to (3 - count / 4) / 2 of itself, and a count that begins anew has the first root.
        for (count, last_count, drop_next, want, root) in [
            // Within 16 intervals, of more than one drop.
            (9, 2, now - 1_562_499, 7, 20_480),
            (9, 2, now - 1_562_500, 1, FIRST_ROOT),
            (9, 7, now, 2, 40_960),
            (9, 8, now, 1, FIRST_ROOT),
            // A drop that would be due later has been now.
            (9, 2, now + 1, 7, 20_480),
            (9, 2, now + 5_000_000, 7, 20_480),
            // Drops that `fq_codel` pushed out before the first episode, with which the clock begins.
            (9, 0, 0, 1, FIRST_ROOT),
            (9, 0, now, 1, FIRST_ROOT),
        ] {
            let mut codel =
                LinuxCodel { count, last_count, drop_next, root: 1 << 15, ..self::codel() };
            codel.enter(now);
            assert_eq!((codel.count, codel.last_count, codel.root), (want, want, root));
            assert!(codel.dropping && codel.drop_next > now);
        }
    }

    #[test]
    fn a_gap_is_a_tick_at_least() {
        let codel = LinuxCodel { root: 0, ..codel() };
        assert_eq!(codel.control_law(7), 8);
        let codel = LinuxCodel { root: 1 << 15, interval: 10, ..codel };
        assert_eq!(codel.control_law(7), 12);
    }

    /// A ping each 200 ms behind uploads: each packet is late and leaves its queue empty, so none waited for an interval.
    #[test]
    fn lone_packets_that_are_late_are_no_standing_queue() {
        let mut codel = codel();
        for ping in 1..=10 {
            assert_eq!(codel.on_departure(&late(2 * INTERVAL * ping)), Verdict::Pass, "{ping}");
            codel.on_empty(at(2 * INTERVAL * ping));
        }
    }

    #[test]
    fn an_empty_queue_ends_an_episode_by_what_was_dropped_before_it() {
        let now = 2_000_000;
        let shown = |codel: &LinuxCodel| {
            let mut gauges = Gauges::default();
            codel.gauges(&mut gauges);
            gauges.get("codel_count")
        };
        // After the first drop it goes on, but the time above target ends.
        let mut codel = dropping(now, false);
        codel.on_empty(at(now));
        assert_eq!((codel.dropping, codel.first_above, shown(&codel)), (true, None, Some(1.0)));
        // After another one both end, and after a packet that left too (Linux 7.2, March 2026).
        let due = now + INTERVAL - 2;
        let mut codel = dropping(now, false);
        codel.on_departure(&late(now));
        codel.on_departure(&late(due));
        codel.on_empty(at(due));
        assert_eq!((codel.dropping, codel.first_above, shown(&codel)), (false, None, Some(0.0)));
        let mut codel = dropping(now, true);
        codel.on_empty(at(now));
        assert_eq!((codel.dropping, codel.first_above), (false, None));
    }
}
