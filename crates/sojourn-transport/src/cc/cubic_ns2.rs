//! CUBIC of Linux 2.6.22 in whole numbers, which ns-2.35 uses too (tcp/linux/src/tcp_cubic.c).
//!
//! This is version 2.1 of CUBIC. It gives up a fifth of the window at a loss, not three tenths, and
//! counts acknowledgements, not segments. Left out: its table of cube roots is off by 0.2 %, and it
//! ignores round-trip times within a second after a loss.

use super::{Ack, CongestionControl, Window};
use sojourn_engine::units::Time;

/// Multiplicative decrease, times 1024.
const BETA: u64 = 819;
/// Factor of the cubic function, 0.4 segments per cubic second, times 1024.
const C: u64 = 410;
/// Ticks per second (BICTCP_HZ).
const HZ: u64 = 1024;
/// Acknowledgements per segment of Reno's growth with the same decrease at a loss, for a window of one, times
/// 8: (1 + beta) / (1 - beta) / 3 (RFC 9438 §4.3) in whole numbers.
const RENO: u64 = 23;
/// The most segments per 100 ms of growth beyond the plateau.
const MAX_INCREMENT: u64 = 16;
/// Acknowledgements per segment of growth before the first loss and after a timeout.
const BEFORE_LOSS: u64 = 50;
/// How long a growth rate is kept while the window does not change, in ms: a 32nd of a second.
const KEPT_MS: u64 = 31;

/// A period of growth between two losses.
struct Epoch {
    start: Time,
    /// Ticks until the window reaches the plateau.
    k: u64,
    /// The plateau, in segments.
    origin: u64,
    /// Acknowledgements that the Reno estimate has not used yet.
    acks: u64,
    /// Reno's window in segments.
    reno: u64,
}

/// CUBIC of Linux.
pub struct Ns2Cubic {
    /// The window before the last reduction (less with fast convergence), in segments.
    w_max: u64,
    epoch: Option<Epoch>,
    /// Acknowledgements counted, and how many add a segment.
    count: u64,
    per_segment: u64,
    /// The window and the time for which that was computed.
    computed: (u64, Time),
    /// Minimum round-trip time since the last timeout.
    min_rtt: Time,
    /// Segments per acknowledgement, smoothed, times 16.
    delayed_ack: u64,
}

impl Ns2Cubic {
    /// A controller before any loss.
    pub(super) fn new() -> Self {
        Self {
            w_max: 0,
            epoch: None,
            count: 0,
            per_segment: 0,
            computed: (0, Time::ZERO),
            min_rtt: Time::ZERO,
            delayed_ack: 2 << 4,
        }
    }

    fn measure(&mut self, ack: &Ack) {
        let is_less = self.min_rtt == Time::ZERO || ack.rtt < self.min_rtt;
        if ack.rtt > Time::ZERO && is_less {
            self.min_rtt = ack.rtt;
        }
    }

    fn begin_epoch(&mut self, cwnd: u64, now: Time) {
        let below = self.w_max.saturating_sub(cwnd);
        // W_max - cwnd = C K^3 (RFC 9438 §4.2).
        let k = libm::cbrt(below as f64 * HZ as f64 / C as f64) * HZ as f64;
        let origin = self.w_max.max(cwnd);
        self.epoch = Some(Epoch { start: now, k: k as u64, origin, acks: 1, reno: cwnd });
    }

    /// `bictcp_update`: how many acknowledgements add a segment.
    fn update(&mut self, cwnd: u64, ack: &Ack) {
        let is_kept = self.computed.0 == cwnd && millis(ack.now.since(self.computed.1)) <= KEPT_MS;
        if let Some(epoch) = &mut self.epoch {
            epoch.acks += 1;
        }
        if is_kept {
            return;
        }
        self.computed = (cwnd, ack.now);
        if self.epoch.is_none() {
            self.begin_epoch(cwnd, ack.now);
        }
        let (min_rtt_ms, is_first) = (millis(self.min_rtt), self.w_max == 0);
        let epoch = self.epoch.as_mut().expect("begun");
        let t = (millis(ack.now) + min_rtt_ms - millis(epoch.start)) * HZ / 1000;
        let is_beyond = t >= epoch.k;
        let rise = cubed(t.abs_diff(epoch.k));
        let target =
            if is_beyond { epoch.origin + rise } else { epoch.origin.saturating_sub(rise) };
        let mut per_segment = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        if min_rtt_ms > 0 && is_beyond {
            per_segment = per_segment.max(cwnd * 1000 / (10 * MAX_INCREMENT * min_rtt_ms));
        }
        if is_first {
            per_segment = BEFORE_LOSS;
        }
        if let Some(ahead) = epoch.reno_ahead(cwnd) {
            per_segment = per_segment.min(cwnd / ahead);
        }
        self.per_segment = ((per_segment << 4) / self.delayed_ack).max(1);
    }
}

impl Epoch {
    /// How much larger Reno's window is, given the same decrease at a loss (RFC 9438 §4.3).
    fn reno_ahead(&mut self, cwnd: u64) -> Option<u64> {
        let per_segment = cwnd * RENO / 8;
        let segments = (self.acks - 1) / per_segment.max(1);
        self.acks -= segments * per_segment;
        self.reno += segments;
        self.reno.checked_sub(cwnd).filter(|&ahead| ahead > 0)
    }
}

/// C t^3 in segments, for a time in ticks.
fn cubed(ticks: u64) -> u64 {
    let t = u128::from(ticks);
    ((u128::from(C) * t * t * t) >> 40) as u64
}

fn millis(time: Time) -> u64 {
    time.ps() / Time::from_ms(1).ps()
}

impl CongestionControl for Ns2Cubic {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.measure(ack);
        let cwnd = window.cwnd as u64;
        self.delayed_ack = (self.delayed_ack + ack.segments as u64) - (self.delayed_ack >> 4);
        if window.cwnd <= window.ssthresh {
            window.cwnd = (window.cwnd + 1.0).min(ack.max_window);
            return;
        }
        self.update(cwnd, ack);
        if self.count >= self.per_segment {
            self.count = 0;
            window.cwnd = (window.cwnd + 1.0).min(ack.max_window);
        } else {
            self.count += 1;
        }
    }

    fn on_loss(&mut self, window: &mut Window, _flight: f64, _now: Time) {
        let cwnd = window.cwnd as u64;
        self.epoch = None;
        self.count = 0;
        // Fast convergence (RFC 9438 §4.7): release more while the plateau is falling.
        self.w_max = if cwnd < self.w_max { cwnd * (1024 + BETA) / 2048 } else { cwnd };
        let threshold = (cwnd * BETA / 1024).max(2);
        *window = Window { cwnd: threshold as f64, ssthresh: threshold as f64 };
    }

    /// `bictcp_state`: a timeout resets everything but the threshold.
    fn on_timeout(&mut self, window: &mut Window, flight: f64, now: Time) {
        self.on_loss(window, flight, now);
        *self = Self::new();
        window.cwnd = 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A second of acknowledgements, one for each of the window's segments per round trip.
    fn grow(cubic: &mut Ns2Cubic, window: &mut Window, from_s: u64, rtt: Time) {
        let mut now = Time::from_s(from_s);
        while now < Time::from_s(from_s + 1) {
            cubic.on_ack(window, &Ack::of(now, 1.0, rtt));
            now += rtt.scaled(1.0 / window.cwnd);
        }
    }

    fn after_loss_at(cwnd: f64) -> (Ns2Cubic, Window) {
        let mut cubic = Ns2Cubic::new();
        let mut window = Window { cwnd, ssthresh: 1.0 };
        cubic.on_loss(&mut window, cwnd, Time::ZERO);
        (cubic, window)
    }

    #[test]
    fn a_loss_takes_a_fifth_and_the_plateau_is_where_it_was() {
        let (mut cubic, mut window) = after_loss_at(417.0);
        // 417 * 819 / 1024 = 333.5.
        assert_eq!(window, Window { cwnd: 333.0, ssthresh: 333.0 });
        // K = cbrt(84 / 0.4) = 5.94 s. It aims at the plateau a round trip ahead, and is there one later.
        for second in 0..6 {
            window.ssthresh = 1.0;
            grow(&mut cubic, &mut window, second, Time::from_ms(200));
        }
        assert!((415.0..=418.0).contains(&window.cwnd), "{}", window.cwnd);
    }

    /// However small the window is, the rate of its growth is computed before it grows.
    #[test]
    fn the_first_acknowledgement_of_one_segment_adds_none() {
        let mut cubic = Ns2Cubic::new();
        let mut window = Window { cwnd: 1.0, ssthresh: 0.5 };
        cubic.on_ack(&mut window, &Ack::of(Time::from_ms(1), 1.0, Time::from_ms(1)));
        assert_eq!(window.cwnd, 1.0);
    }

    #[test]
    fn before_a_loss_fifty_acknowledgements_make_a_segment() {
        let mut cubic = Ns2Cubic::new();
        let mut window = Window { cwnd: 100.0, ssthresh: 1.0 };
        let ack = |ms| Ack::of(Time::from_ms(ms), 2.0, Time::from_ms(100));
        // With two segments to each the rate of 50 is for half as many, 25, and one more begins anew.
        for n in 0..10 * 26 {
            cubic.on_ack(&mut window, &ack(n));
        }
        assert_eq!(window.cwnd, 110.0);
    }

    #[test]
    fn fast_convergence_and_a_timeout() {
        let (mut cubic, mut window) = after_loss_at(100.0);
        cubic.on_loss(&mut window, 79.0, Time::ZERO);
        // 79 < 100, so the plateau is 79 * 1843 / 2048 = 71.09 and the window 79 * 819 / 1024 = 63.2.
        assert_eq!((cubic.w_max, window.cwnd), (71, 63.0));
        (cubic.w_max, window.cwnd) = (9999, 5000.0);
        cubic.on_loss(&mut window, 5000.0, Time::ZERO);
        // 5000 * 1843 / 2048 = 4499.5, and 5000 * 819 / 1024 = 3999.02.
        assert_eq!((cubic.w_max, window.cwnd), (4499, 3999.0));
        (cubic.w_max, window.cwnd) = (71, 63.0);
        cubic.on_timeout(&mut window, 63.0, Time::ZERO);
        // 63 * 819 / 1024 = 50.4.
        assert_eq!((cubic.w_max, window), (0, Window { cwnd: 1.0, ssthresh: 50.0 }));
    }

    /// An acknowledgement of one segment at this time, with this round trip.
    fn ack(ms: u64, rtt_ms: u64) -> Ack {
        Ack::of(Time::from_ms(ms), 1.0, Time::from_ms(rtt_ms))
    }

    /// A plateau of 100, of which 80 are left: K = 3771/1024 s. The curve is at 81 at once, at 93 after 1 s, at 99 after 2 s, at
    /// 114 after 7 s and at 160 after 9 s.
    #[test]
    fn growth_follows_the_curve_a_round_trip_ahead() {
        for (ms, rtt_ms, cwnd, want) in [
            (0, 0, 80, 80),
            (1000, 0, 80, 6),
            (0, 1000, 80, 6),
            (2000, 0, 80, 4),
            (2000, 0, 99, 9900),
            (7000, 0, 100, 7),
            (9000, 0, 100, 1),
            // Beyond the plateau by 16 segments in 100 ms at most: 100 * 1000 / (160 * 100).
            (8900, 100, 100, 6),
            (8900, 1, 100, 625),
            (3583, 100, 80, 5), // at the plateau, not 4
            (3683, 0, 100, 10_000),
        ] {
            let mut cubic = Ns2Cubic { w_max: 100, delayed_ack: 16, ..Ns2Cubic::new() };
            cubic.min_rtt = Time::from_ms(rtt_ms);
            cubic.begin_epoch(80, Time::ZERO);
            cubic.computed = (0, Time::ZERO);
            cubic.update(cwnd, &ack(ms, rtt_ms));
            assert_eq!(cubic.per_segment, want, "{ms} {rtt_ms} {cwnd}");
            assert_eq!(cubic.computed, (cwnd, Time::from_ms(ms)));
        }
        // Acknowledgements of two segments are half as many; one is needed at least.
        for (delayed_ack, want) in [(32, 40), (80 * 32, 1)] {
            let mut cubic = Ns2Cubic { w_max: 100, delayed_ack, ..Ns2Cubic::new() };
            cubic.update(80, &ack(0, 0));
            assert_eq!(cubic.per_segment, want);
        }
    }

    #[test]
    fn a_growth_rate_is_kept_for_31_ms() {
        for (cwnd, ms, is_kept) in [(80, 1031, true), (80, 1032, false), (81, 1000, false)] {
            let mut cubic = Ns2Cubic { w_max: 100, ..Ns2Cubic::new() };
            cubic.update(80, &ack(1000, 0));
            cubic.per_segment = 999;
            cubic.update(cwnd, &ack(ms, 0));
            assert_eq!(cubic.per_segment == 999, is_kept);
            assert_eq!(cubic.epoch.unwrap().acks, 2);
        }
    }

    /// 23/8 of 16 are 46: the 47th acknowledgement makes a segment of Reno's window.
    #[test]
    fn reno_gains_a_segment_for_each_46_acknowledgements() {
        for (acks, cwnd, want) in [
            (46, 16, (None, 46)),
            (47, 16, (Some(1), 1)),
            (93, 16, (Some(2), 1)),
            (93, 17, (Some(0), 45)),
            (46, 18, (None, 46)),
            (1, 0, (Some(16), 1)),
        ] {
            let mut epoch = Epoch { start: Time::ZERO, k: 0, origin: 0, acks, reno: 16 };
            let ahead = epoch.reno_ahead(cwnd);
            let want = (want.0.filter(|ahead| *ahead > 0), want.1);
            assert_eq!((ahead, epoch.acks), want, "{acks} {cwnd}");
        }
        let mut cubic = Ns2Cubic { w_max: 100, delayed_ack: 16, ..Ns2Cubic::new() };
        cubic.epoch = Some(Epoch { start: Time::ZERO, k: 9999, origin: 100, acks: 1, reno: 20 });
        cubic.update(16, &ack(100, 0));
        assert_eq!(cubic.per_segment, 4);
    }

    #[test]
    fn the_least_round_trip_and_the_share_of_acknowledgements_are_measured() {
        let mut cubic = Ns2Cubic::new();
        for (rtt_ms, want) in [(0, 0), (50, 50), (60, 50), (40, 40), (0, 40)] {
            cubic.measure(&ack(0, rtt_ms));
            assert_eq!(cubic.min_rtt, Time::from_ms(want));
        }
        // 32 + 4 - 2 = 34, in sixteenths of a segment.
        let mut window = Window { cwnd: 5.0, ssthresh: 9.0 };
        let ack = Ack { segments: 4.0, ..ack(0, 0) };
        cubic.on_ack(&mut window, &ack);
        assert_eq!((cubic.delayed_ack, window.cwnd), (34, 6.0));
        window.cwnd = 9.0; // up to the threshold and with it
        cubic.on_ack(&mut window, &Ack { max_window: 9.5, ..ack });
        assert_eq!((window.cwnd, cubic.epoch.is_none()), (9.5, true));
    }

    /// A segment after as many acknowledgements as add one, and one more.
    #[test]
    fn acknowledgements_are_counted_up_to_a_segment() {
        let mut cubic = Ns2Cubic { w_max: 100, delayed_ack: 16, count: 79, ..Ns2Cubic::new() };
        let mut window = Window { cwnd: 80.0, ssthresh: 1.0 };
        cubic.on_ack(&mut window, &ack(0, 0));
        assert_eq!((window.cwnd, cubic.count), (80.0, 80));
        cubic.on_ack(&mut window, &Ack { max_window: 80.5, ..ack(0, 0) });
        assert_eq!((window.cwnd, cubic.count), (80.5, 0));
        cubic.count = 7;
        cubic.on_loss(&mut window, 1.0, Time::ZERO);
        assert!(cubic.count == 0 && cubic.epoch.is_none());
        // Two segments remain, and a loss at the plateau keeps it.
        (window.cwnd, cubic.w_max) = (2.0, 2);
        cubic.on_loss(&mut window, 1.0, Time::ZERO);
        assert_eq!((window, cubic.w_max), (Window { cwnd: 2.0, ssthresh: 2.0 }, 2));
    }
}
