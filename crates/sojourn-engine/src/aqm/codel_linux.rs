//! CoDel as Linux' queue disciplines have it (7.2, `codel` and `fq_codel`), beside RFC 8289's in [`super::codel`].
//!
//! It differs in arithmetic: times are whole ticks of 1024 ns, and the inverse square root of the count is kept in 16
//! bits and moved by one Newton step for each drop. From its start at almost 1 the gaps after the first drops are 100,
//! 50, 56 and 49 ms, not 100, 71, 58 and 50. It differs in state: a mark moves the time of the next one at once, an
//! empty queue ends an episode and leaves the time above target, and `fq_codel` counts what it pushes out as drops.
//!
//! Left out: at most 256 drops for one packet that leaves.

use super::{Aqm, Departure, Verdict};
use crate::record::Gauges;
use crate::units::Time;

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
        // An episode in the future is none that has just ended; the kernel's clock of 32 bits tells it so too.
        let is_recent = now.wrapping_sub(self.drop_next) < self.re_entry || now < self.drop_next;
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
        match std::mem::replace(&mut self.dropped, Dropped::Nothing) {
            Dropped::Nothing => self.dropping = false,
            Dropped::First => self.first_above = None,
            Dropped::Another => (self.first_above, self.dropping) = (None, false),
        }
    }

    fn on_shed(&mut self) {
        self.count = self.count.wrapping_add(1);
    }

    fn gauges(&self, out: &mut Gauges) {
        out.set("codel_count", "drops", if self.dropping { self.count.into() } else { 0.0 });
    }
}

#[cfg(test)]
mod tests {
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
}
