//! CUBIC as Linux has it (6.18): RFC 9438 in whole segments and ticks of 4 ms, with the older HyStart.
//!
//! Left out: the kernel's table of cube roots is off by 0.2 %; its clock starts anywhere in a tick.

use super::hystart_classic::ClassicHyStart;
use super::whole::{Avoidance, slow_start};
use super::{Ack, CongestionControl, Restart, RoundTrip, Window};
use crate::ticks::TICK;
use sojourn_engine::units::Time;

/// Multiplicative decrease, times 1024: 0.7 (RFC 9438 §4.6).
const BETA: u64 = 717;
/// Factor of the cubic function, times 1024: 0.4 segments per cubic second.
const C: u64 = 410;
/// Units per second of the time in the cubic function.
const UNITS: u64 = 1024;
/// How long a growth rate is kept while the window does not change: a 32nd of a second, in ticks.
const KEPT_TICKS: u64 = 250 / 32;
/// Segments delivered per segment of growth, at most, before the first loss.
const BEFORE_LOSS: u64 = 20;
/// And at least: growth by half a round trip.
const FASTEST: u64 = 2;
/// Segments per segment of Reno's growth with the same decrease at a loss, for a window of one, times
/// 8: (1 + beta) / (1 - beta) / 3 (RFC 9438 §4.3) in whole numbers.
const RENO: u64 = 15;
/// For so long after a reduction round trips are not measured.
const DISCARDED: Time = Time::from_s(1);

/// Whole ticks of the clock.
fn ticks(time: Time) -> u64 {
    time.ps() / TICK.ps()
}

/// Units until the window is back at the plateau: `below` = C K^3 (RFC 9438 §4.2).
pub(super) fn k_units(below: u64) -> u64 {
    libm::cbrt(below as f64 * 1024.0 / C as f64 * (UNITS * UNITS * UNITS) as f64) as u64
}

/// The cubic function: the window in segments, `t` units after the reduction.
pub(super) fn cubic(plateau: u64, k: u64, t: u64) -> u64 {
    let offset = u128::from(t.abs_diff(k));
    let rise = ((u128::from(C) * offset * offset * offset) >> 40) as u64;
    if t < k { plateau.saturating_sub(rise) } else { plateau + rise }
}

/// A period of growth between two losses.
struct Epoch {
    /// In ticks.
    start: u64,
    k: u64,
    plateau: u64,
    /// Segments delivered that Reno's estimate has not used yet.
    delivered: u64,
    /// Reno's window.
    reno: u64,
}

impl Epoch {
    /// Segments by which Reno's window is ahead of this one (RFC 9438 §4.3).
    fn reno_ahead(&mut self, cwnd: u64) -> u64 {
        let per_segment = (cwnd * RENO / 8).max(1);
        let grown = self.delivered.saturating_sub(1) / per_segment;
        self.delivered -= grown * per_segment;
        self.reno += grown;
        self.reno.saturating_sub(cwnd)
    }
}

/// CUBIC of Linux.
#[derive(Default)]
pub struct LinuxCubic {
    /// The window before the last reduction (less with fast convergence); zero before the first.
    w_max: u64,
    epoch: Option<Epoch>,
    avoidance: Avoidance,
    /// Segments delivered for one of growth.
    per_segment: u64,
    /// The window and the tick for which that was computed.
    computed: (u64, u64),
    min_rtt: Option<Time>,
    has_hystart: bool,
    /// A slow start that HyStart may end.
    hystart: Option<ClassicHyStart>,
}

impl LinuxCubic {
    /// A controller before any loss.
    pub(super) fn new(has_hystart: bool) -> Self {
        let hystart = has_hystart.then(ClassicHyStart::default);
        Self { has_hystart, hystart, ..Self::default() }
    }

    fn begin_epoch(&mut self, cwnd: u64, tick: u64, delivered: u64) {
        let k = k_units(self.w_max.saturating_sub(cwnd));
        let plateau = self.w_max.max(cwnd);
        self.epoch = Some(Epoch { start: tick, k, plateau, delivered, reno: cwnd });
    }

    /// How many segments delivered make one of growth.
    fn update(&mut self, cwnd: u64, now: Time, delivered: u64) {
        let tick = ticks(now);
        if let Some(epoch) = &mut self.epoch {
            epoch.delivered += delivered;
        }
        if self.computed.0 == cwnd && tick - self.computed.1 <= KEPT_TICKS {
            return;
        }
        if self.epoch.is_none() || self.computed.1 != tick {
            self.computed = (cwnd, tick);
            self.by_cubic(cwnd, tick, delivered);
        }
        let ahead = self.epoch.as_mut().map_or(0, |epoch| epoch.reno_ahead(cwnd));
        let by_reno = cwnd.checked_div(ahead).unwrap_or(u64::MAX);
        self.per_segment = self.per_segment.min(by_reno).max(FASTEST);
    }

    fn by_cubic(&mut self, cwnd: u64, tick: u64, delivered: u64) {
        if self.epoch.is_none() {
            self.begin_epoch(cwnd, tick, delivered);
        }
        let Some(epoch) = &self.epoch else { return };
        let ahead = self.min_rtt.map_or(0, |rtt| rtt.ps().div_ceil(TICK.ps()));
        let t = (tick + ahead - epoch.start) * UNITS * TICK.ps() / Time::from_s(1).ps();
        let target = cubic(epoch.plateau, epoch.k, t);
        self.per_segment = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        if self.w_max == 0 {
            self.per_segment = self.per_segment.min(BEFORE_LOSS);
        }
    }

    fn is_just_reduced(&self, now: Time) -> bool {
        let discarded = ticks(DISCARDED);
        self.epoch.as_ref().is_some_and(|epoch| ticks(now) - epoch.start < discarded)
    }
}

impl CongestionControl for LinuxCubic {
    fn on_round_trip(&mut self, window: &mut Window, trip: &RoundTrip) {
        if self.is_just_reduced(trip.now) {
            return;
        }
        let min_rtt = self.min_rtt.map_or(trip.rtt, |min| min.min(trip.rtt));
        self.min_rtt = Some(min_rtt);
        if let Some(hystart) = self.hystart.as_mut().filter(|_| window.in_slow_start())
            && hystart.ends(window, trip, min_rtt)
        {
            window.ssthresh = window.cwnd;
            self.hystart = None;
        }
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let left = slow_start(window, ack.segments as u64, ack.max_window);
        if left > 0 {
            self.update(window.cwnd as u64, ack.now, left);
            self.avoidance.grow(window, left, self.per_segment, ack.max_window);
        }
    }

    fn on_restart(&mut self, _window: &mut Window, restart: &Restart) {
        let Restart { now, idle, .. } = *restart;
        if let Some(epoch) = &mut self.epoch {
            epoch.start = (epoch.start + ticks(idle)).min(ticks(now));
        }
    }

    fn on_loss(&mut self, window: &mut Window, _flight: f64, _now: Time) {
        let cwnd = window.cwnd as u64;
        self.epoch = None;
        // Fast convergence (RFC 9438 §4.7): release more while the plateau is falling.
        self.w_max = if cwnd < self.w_max { cwnd * (1024 + BETA) / 2048 } else { cwnd };
        window.ssthresh = (cwnd * BETA / 1024).max(2) as f64;
        window.cwnd = window.ssthresh;
        self.avoidance.reset();
    }

    /// A timeout resets everything but the threshold; the slow start after it may end by HyStart.
    fn on_timeout(&mut self, window: &mut Window, flight: f64, now: Time) {
        self.on_loss(window, flight, now);
        *self = Self::new(self.has_hystart);
        window.cwnd = 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cubic_function_in_whole_numbers() {
        // K = cbrt(30 / (410/1024)) = 4.2153 s, 4316 units of 1/1024 s.
        assert_eq!(k_units(30), 4316);
        // At K the plateau; 2 s later 0.4004 * 8 = 3.2 more; at the reduction 29.99 less, so 29.
        assert_eq!(cubic(100, 4316, 4316), 100);
        assert_eq!(cubic(100, 4316, 4316 + 2048), 103);
        assert_eq!(cubic(100, 4316, 0), 71);
    }

    #[test]
    fn a_loss_takes_three_tenths_and_fast_convergence_more_of_the_plateau() {
        let (mut cubic, mut window) =
            (LinuxCubic::new(true), Window { cwnd: 100.0, ssthresh: 1e9 });
        cubic.on_loss(&mut window, 1.0, Time::ZERO);
        // 100 * 717 / 1024 = 70.02.
        assert_eq!((window, cubic.w_max), (Window { cwnd: 70.0, ssthresh: 70.0 }, 100));
        window.cwnd = 90.0;
        cubic.on_loss(&mut window, 1.0, Time::ZERO);
        // 90 * 1741 / 2048 = 76.5; 90 * 717 / 1024 = 63.02.
        assert_eq!((window.cwnd, cubic.w_max), (63.0, 76));
        cubic.begin_epoch(63, 0, 0);
        (cubic.w_max, window.cwnd) = (9999, 5000.0);
        cubic.on_loss(&mut window, 1.0, Time::ZERO);
        // 5000 * 1741 / 2048 = 4250.5; 5000 * 717 / 1024 = 3500.98.
        assert_eq!((window.cwnd, cubic.w_max, cubic.epoch.is_none()), (3500.0, 4250, true));
    }

    /// Before a loss at most 20 segments delivered make one of growth.
    #[test]
    fn before_a_loss_it_grows_by_a_twentieth() {
        let (mut cubic, mut window) =
            (LinuxCubic::new(true), Window { cwnd: 100.0, ssthresh: 1.0 });
        for n in 0..50 {
            cubic.on_ack(&mut window, &Ack::of(Time::from_ms(n), 2.0, Time::from_ms(100)));
        }
        assert_eq!(window.cwnd, 105.0);
    }

    /// A window of 24 falls to 16. K = cbrt(8 * 1024 / 410) = 2.71 s, but at 20 ms Reno's estimate is
    /// ahead: it gains a segment for each 15/8 * 16 = 30 delivered, two windows.
    #[test]
    fn a_short_round_trip_grows_as_reno() {
        let (mut cubic, mut window) = (LinuxCubic::new(true), Window { cwnd: 24.0, ssthresh: 1e9 });
        cubic.on_loss(&mut window, 1.0, Time::ZERO);
        assert_eq!(window.cwnd, 16.0);
        let acks = (0..).take_while(|&n| {
            let at = Time::from_us(2500 * n);
            cubic.on_ack(&mut window, &Ack::of(at, 2.0, Time::from_ms(20)));
            window.cwnd < 18.0
        });
        // Near 30 + 32 segments two at a time, and what the count per segment adds: 16 and 17 more.
        let delivered = 2 * acks.count();
        assert!((60..120).contains(&delivered), "{delivered}");
    }

    fn at(tick: u64) -> Time {
        TICK.times(tick)
    }

    /// From 100 to 70 segments, K = 4316/1024 s: the curve is at 71 at once, at 72 after 48 ms (0.4004 * 4.168^3 = 28.99), at
    /// 100 after 4 s and at 104 after 6.4 s. The round trip is counted in whole ticks of 4 ms.
    #[test]
    fn growth_follows_the_curve_a_round_trip_ahead() {
        for (tick, rtt, cwnd, want) in [
            (0, None, 70, 70),
            (0, Some(Time::from_ms(44)), 70, 70),
            (0, Some(Time::from_us(44_001)), 70, 35),
            (0, Some(Time::from_s(1)), 70, 4), // 87
            (1000, None, 80, 4),
            (1600, None, 80, 3),
            (1600, None, 104, 10_400),
            (1000, None, 110, 11_000),
            (1600, None, 103, 103),
            (1000, None, 60, 2), // by half a round trip at most
        ] {
            let mut cubic = LinuxCubic { w_max: 100, min_rtt: rtt, ..LinuxCubic::new(false) };
            cubic.begin_epoch(70, 0, 0);
            cubic.computed = (0, 9999);
            cubic.update(cwnd, at(tick) + Time::from_ps(1), 0);
            assert_eq!(cubic.per_segment, want, "{tick} {rtt:?} {cwnd}");
            assert_eq!(cubic.computed, (cwnd, tick));
        }
        // Without an epoch one begins, with what was delivered in it.
        let mut cubic = LinuxCubic { w_max: 100, ..LinuxCubic::new(false) };
        cubic.update(70, at(5), 3);
        let Epoch { start, k, plateau, delivered, reno } = cubic.epoch.unwrap();
        assert_eq!(
            (start, k, plateau, delivered, reno, cubic.per_segment),
            (5, 4316, 100, 3, 70, 70)
        );
    }

    /// A growth rate is kept for seven ticks with the same window, and within a tick with any.
    #[test]
    fn a_growth_rate_is_kept_for_a_while() {
        for (cwnd, tick, want) in [(70, 17, 999), (70, 18, 50), (71, 10, 999), (71, 11, 51)] {
            let mut cubic = LinuxCubic { w_max: 100, ..LinuxCubic::new(false) };
            cubic.update(70, at(10), 1);
            cubic.per_segment = 999;
            cubic.epoch.as_mut().unwrap().plateau = 100 + 1;
            cubic.epoch.as_mut().unwrap().k = 4316;
            cubic.update(cwnd, at(tick), 2);
            let is_kept = want == 999;
            assert_eq!(cubic.per_segment == 999, is_kept, "{cwnd} {tick}");
            assert_eq!(cubic.epoch.as_ref().unwrap().delivered, 3);
            let computed = if is_kept { (70, 10) } else { (cwnd, tick) };
            assert_eq!(cubic.computed, computed);
        }
    }

    /// 15/8 of 16 segments are 30: the 31st delivered makes one of Reno's window.
    #[test]
    fn reno_gains_a_segment_for_each_thirty_delivered() {
        for (delivered, cwnd, want) in [
            (30, 16, (0, 30)),
            (31, 16, (1, 1)),
            (61, 16, (2, 1)),
            (61, 17, (0, 30)),
            (0, 16, (0, 0)),
            (5, 0, (20, 1)),
        ] {
            let mut epoch = Epoch { start: 0, k: 0, plateau: 0, delivered, reno: 16 };
            assert_eq!((epoch.reno_ahead(cwnd), epoch.delivered), want, "{delivered} {cwnd}");
        }
        let mut cubic = LinuxCubic { w_max: 100, ..LinuxCubic::new(false) };
        cubic.epoch = Some(Epoch { start: 0, k: 9999, plateau: 100, delivered: 0, reno: 20 });
        cubic.update(16, at(1), 0);
        assert_eq!(cubic.per_segment, 4); // Reno is four ahead of 16
        cubic.epoch = Some(Epoch { start: 0, k: 9999, plateau: 100, delivered: 0, reno: 40 });
        cubic.update(16, at(100), 0);
        assert_eq!(cubic.per_segment, 2); // 24 ahead, but no faster than that
    }

    /// For a second after a reduction round trips say nothing.
    #[test]
    fn round_trips_are_discarded_after_a_reduction() {
        let window = &mut Window { cwnd: 8.0, ssthresh: 1.0 };
        let trip = |now, ms| RoundTrip { now, rtt: Time::from_ms(ms), ..RoundTrip::default() };
        let mut cubic = LinuxCubic::new(true);
        cubic.on_round_trip(window, &trip(at(1), 50));
        cubic.on_round_trip(window, &trip(at(1), 60));
        assert_eq!(cubic.min_rtt, Some(Time::from_ms(50)));
        cubic.begin_epoch(10, 100, 0);
        for (tick, want) in [(349, 50), (350, 40)] {
            cubic.on_round_trip(window, &trip(at(tick), 40));
            assert_eq!(cubic.min_rtt, Some(Time::from_ms(want)));
        }
    }

    /// Nine round trips of 25 ms, 20 ms being the least, end a slow start, and only that.
    #[test]
    fn hystart_ends_slow_start_once() {
        for (ssthresh, has_hystart, want) in
            [(1e9, true, 20.0), (1e9, false, 1e9), (10.0, true, 10.0)]
        {
            let mut cubic = LinuxCubic::new(has_hystart);
            cubic.min_rtt = Some(Time::from_ms(20));
            let mut window = Window { cwnd: 20.0, ssthresh };
            for n in 0..12 {
                let (now, rtt) = (Time::from_ms(100 + 5 * n), Time::from_ms(25));
                let trip = RoundTrip { now, rtt, una: 1 + n, nxt: 1000, ..RoundTrip::default() };
                cubic.on_round_trip(&mut window, &trip);
            }
            assert_eq!(window.ssthresh, want);
            assert_eq!(cubic.hystart.is_some(), has_hystart && want != 20.0);
        }
    }

    /// A silence of 2 s moves the start of the epoch, but not beyond now; two segments remain after a loss.
    #[test]
    fn silences_and_timeouts() {
        let mut cubic = LinuxCubic::new(true);
        let mut window = Window { cwnd: 2.0, ssthresh: 1.0 };
        cubic.on_restart(&mut window, &Restart::after(at(9), at(5))); // no epoch to move
        cubic.begin_epoch(10, 100, 0);
        for (now, want) in [(9999, 600), (700, 700)] {
            cubic.on_restart(&mut window, &Restart::after(at(now), at(500)));
            assert_eq!(cubic.epoch.as_ref().unwrap().start, want);
        }
        cubic.hystart = None;
        cubic.on_loss(&mut window, 1.0, Time::ZERO);
        assert_eq!((window, cubic.w_max), (Window { cwnd: 2.0, ssthresh: 2.0 }, 2));
        window.cwnd = 2.0;
        cubic.on_loss(&mut window, 1.0, Time::ZERO);
        assert_eq!(cubic.w_max, 2, "the plateau does not fall");
        cubic.avoidance.grow(&mut window, 5, 7, 1e9);
        cubic.on_timeout(&mut window, 1.0, Time::ZERO);
        assert_eq!((window, cubic.w_max), (Window { cwnd: 1.0, ssthresh: 2.0 }, 0));
        assert!(cubic.hystart.is_some() && cubic.epoch.is_none());
        assert!(LinuxCubic::new(false).hystart.is_none());
    }

    /// Slow start counts all that is delivered, up to the threshold; the rest is for avoidance. After a loss the count begins anew.
    #[test]
    fn what_slow_start_leaves_is_for_avoidance() {
        let mut cubic = LinuxCubic { w_max: 100, ..LinuxCubic::new(false) };
        let mut window = Window { cwnd: 18.0, ssthresh: 20.0 };
        let ack = |segments| Ack::of(Time::ZERO, segments, Time::from_ms(20));
        cubic.on_ack(&mut window, &ack(2.0));
        assert!(window.cwnd == 20.0 && cubic.epoch.is_none());
        window = Window { cwnd: 19.0, ssthresh: 20.0 };
        cubic.on_ack(&mut window, &ack(3.0));
        assert_eq!((window.cwnd, cubic.epoch.as_ref().unwrap().delivered), (20.0, 2));
        cubic.avoidance.grow(&mut window, 5, 7, 1e9);
        cubic.on_loss(&mut window, 1.0, Time::ZERO);
        let before = window.cwnd;
        cubic.avoidance.grow(&mut window, 6, 7, 1e9);
        assert_eq!(window.cwnd, before);
    }
}
