//! LEDBAT: RFC 6817. In the ns-2 dialect: the code of Rossi and Valenti for ns-2's TCP-Linux
//! (tcp_ledbat.c), which counts acknowledgements up to whole segments.
//!
//! One-way delay is measured by timestamps (RFC 6817 §2.2): the time at which an acknowledgement
//! was sent minus the time it echoes. All clocks agree here. The measurement includes the delay of
//! delayed acknowledgements; the minimum of the last few is used, as the RFC advises.
//!
//! Left out: slow start, which neither version has. Loss recovery already halves the window at most
//! once per round trip.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Ack, CongestionControl, CongestionParameters, Connection, Controller, Window};
use sojourn_engine::dialect::Dialect;
use sojourn_engine::rng::Seed;
use sojourn_engine::units::Time;

/// Parameters of LEDBAT.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Ledbat")]
pub struct Parameters {
    /// Target queue delay in ms (RFC 6817 §2.5: at most 100). Default: 100; 25 in the `ns2`
    /// dialect.
    #[schemars(range(min = 1.0, max = 1000.0))]
    pub target_ms: Option<f64>,
}

impl CongestionParameters for Parameters {
    fn start(&self, connection: &Connection, _seed: Seed) -> Controller {
        let default_ms = if connection.dialect == Dialect::Ns2 { 25.0 } else { 100.0 };
        let target_s = self.target_ms.unwrap_or(default_ms) / 1e3;
        Ledbat::new(connection.dialect, target_s).into()
    }

    fn needs_timestamps(&self) -> bool {
        true
    }
}

/// RFC 6817 §2.5: segments gained per round trip without queue delay.
const GAIN: f64 = 1.0;
/// RFC 6817 §2.4.2: segments by which the window may exceed the flight size.
const ALLOWED_INCREASE: f64 = 1.0;
/// RFC 6817 §2.4.2, in segments.
const MIN_CWND: f64 = 2.0;
const MINUTE: Time = Time::from_s(60);
/// Minutes over which the base delay is the minimum: RFC 6817 §2.4.2, BASE_HISTORY.
const HISTORY_RFC: usize = 10;
/// As above in tcp_ledbat.c.
const HISTORY_NS2: usize = 6;
/// Measurements whose minimum is the current delay: RFC 6817 §2.4.2 suggests at least 4.
const FILTER_RFC: usize = 4;
/// As above in tcp_ledbat.c.
const FILTER_NS2: usize = 3;

/// LEDBAT.
pub struct Ledbat {
    dialect: Dialect,
    target_s: f64,
    /// Minimum delay in each of the last minutes, the current one first.
    base: [Time; HISTORY_RFC],
    minute_ends: Time,
    /// The last measurements, in a ring.
    recent: [Time; FILTER_RFC],
    measured: usize,
    /// ns-2: seconds below the target, summed over acknowledgements.
    credit: f64,
}

impl Ledbat {
    /// A controller without measurements.
    pub fn new(dialect: Dialect, target_s: f64) -> Self {
        Self {
            dialect,
            target_s,
            base: [Time::NEVER; HISTORY_RFC],
            minute_ends: MINUTE,
            recent: [Time::NEVER; FILTER_RFC],
            measured: 0,
            credit: 0.0,
        }
    }

    /// Adds a measurement. Returns the queue delay in seconds.
    fn queueing_delay(&mut self, now: Time, one_way: Time) -> f64 {
        let (history, filter) = match self.dialect {
            Dialect::Rfc | Dialect::Linux => (HISTORY_RFC, FILTER_RFC),
            Dialect::Ns2 => (HISTORY_NS2, FILTER_NS2),
        };
        while now >= self.minute_ends {
            self.base.rotate_right(1);
            self.base[0] = Time::NEVER;
            self.minute_ends += MINUTE;
        }
        self.base[0] = self.base[0].min(one_way);
        self.recent[self.measured % filter] = one_way;
        self.measured += 1;
        let least = |times: &[Time]| times.iter().copied().min().unwrap_or(Time::ZERO);
        least(&self.recent).since(least(&self.base[..history])).secs_f64()
    }

    /// RFC 6817 §2.4.2.
    fn move_rfc(&self, window: &mut Window, ack: &Ack, delay_s: f64) {
        let off_target = (self.target_s - delay_s) / self.target_s;
        let wanted = window.cwnd + GAIN * off_target * ack.segments / window.cwnd;
        let under_way = ack.flight + ack.segments;
        window.cwnd = wanted.min(under_way + ALLOWED_INCREASE).max(MIN_CWND);
    }

    /// tcp_ledbat.c: adds a segment for a window's worth of target delays below the target; removes
    /// one at once above it.
    fn move_ns2(&mut self, window: &mut Window, delay_s: f64) {
        self.credit += (self.target_s - delay_s).min(self.target_s);
        if self.credit >= self.target_s * window.cwnd {
            window.cwnd += 1.0;
            self.credit = 0.0;
        } else if self.credit < 0.0 {
            window.cwnd = (window.cwnd - 1.0).max(1.0);
            self.credit = (window.cwnd - 1.0) * self.target_s;
        }
    }
}

impl CongestionControl for Ledbat {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let delay_s = self.queueing_delay(ack.now, ack.one_way);
        match self.dialect {
            Dialect::Rfc | Dialect::Linux => self.move_rfc(window, ack, delay_s),
            Dialect::Ns2 => self.move_ns2(window, delay_s),
        }
        window.cwnd = window.cwnd.min(ack.max_window);
    }

    fn on_loss(&mut self, window: &mut Window, _flight: f64, _now: Time) {
        window.cwnd = (window.cwnd / 2.0).max(MIN_CWND);
        window.ssthresh = window.cwnd;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acked(one_way_ms: u64) -> Ack {
        Ack { one_way: Time::from_ms(one_way_ms), ..Ack::of(Time::ZERO, 1.0, Time::from_ms(100)) }
    }

    #[test]
    fn the_window_moves_by_the_distance_from_the_target() {
        let mut ledbat = Ledbat::new(Dialect::Rfc, 0.1);
        let mut window = Window { cwnd: 10.0, ssthresh: 1e9 };
        // No queue: one tenth of a segment more for each.
        let mut two = Window { cwnd: 10.0, ssthresh: 1e9 };
        Ledbat::new(Dialect::Rfc, 0.1).on_ack(&mut two, &Ack { segments: 2.0, ..acked(20) });
        assert!((two.cwnd - 10.2).abs() < 1e-9);
        ledbat.on_ack(&mut window, &acked(20));
        assert!((window.cwnd - 10.1).abs() < 1e-9);
        // 70 ms are 50 above the base; the least of four is still 20, for two more.
        (0..3).for_each(|_| ledbat.on_ack(&mut window, &acked(70)));
        let before = window.cwnd;
        ledbat.on_ack(&mut window, &acked(70));
        assert!((window.cwnd - before - 0.5 / before).abs() < 1e-9);
        // 170 ms are 150 above the base: half a segment less per window.
        (0..3).for_each(|_| ledbat.on_ack(&mut window, &acked(170)));
        let before = window.cwnd;
        ledbat.on_ack(&mut window, &acked(170));
        assert!((window.cwnd - before + 0.5 / before).abs() < 1e-9);
    }

    #[test]
    fn ns2_counts_up_to_whole_segments() {
        let mut ledbat = Ledbat::new(Dialect::Ns2, 0.025);
        let mut window = Window { cwnd: 4.0, ssthresh: 1e9 };
        // Four acknowledgements at no delay are a window's worth of the target.
        for want in [4.0, 4.0, 4.0, 5.0] {
            ledbat.on_ack(&mut window, &acked(20));
            assert_eq!(window.cwnd, want);
        }
        // 34 ms above the base, seen from the third measurement on: 9 ms too many, six times, of the
        // 2 * 25 ms that the first two save up.
        for want in [5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 4.0] {
            ledbat.on_ack(&mut window, &acked(54));
            assert_eq!(window.cwnd, want);
        }
    }

    #[test]
    fn the_base_delay_is_forgotten_after_ten_minutes() {
        let mut ledbat = Ledbat::new(Dialect::Rfc, 0.1);
        ledbat.queueing_delay(Time::ZERO, Time::from_ms(20));
        assert_eq!((ledbat.recent[0], ledbat.measured), (Time::from_ms(20), 1));
        for _ in 0..4 {
            ledbat.queueing_delay(Time::from_s(599), Time::from_ms(50));
        }
        let delay = ledbat.queueing_delay(Time::from_s(599), Time::from_ms(50));
        assert!((delay - 0.03).abs() < 1e-9);
        assert_eq!(ledbat.queueing_delay(Time::from_s(601), Time::from_ms(50)), 0.0);
    }

    #[test]
    fn a_loss_halves_the_window_and_two_segments_remain() {
        let mut ledbat = Ledbat::new(Dialect::Rfc, 0.1);
        for (cwnd, want) in [(10.0, 5.0), (3.0, 2.0)] {
            let mut window = Window { cwnd, ssthresh: 1e9 };
            ledbat.on_loss(&mut window, cwnd, Time::ZERO);
            assert_eq!(window, Window { cwnd: want, ssthresh: want });
        }
        let mut window = Window { cwnd: 10.0, ssthresh: 1e9 };
        ledbat.on_timeout(&mut window, 10.0, Time::ZERO);
        assert_eq!(window, Window { cwnd: 1.0, ssthresh: 5.0 });
    }

    /// One segment more than what was under way, and two at least.
    #[test]
    fn the_window_is_bounded_by_what_is_under_way() {
        for (cwnd, flight, one_way_ms, max_window, want) in
            [(10.0, 6.0, 20, 1e4, 8.0), (2.1, 1e4, 900, 1e4, 2.0), (10.0, 1e4, 20, 9.0, 9.0)]
        {
            let mut ledbat = Ledbat::new(Dialect::Rfc, 0.1);
            ledbat.queueing_delay(Time::ZERO, Time::from_ms(20));
            ledbat.measured = 4;
            ledbat.recent = [Time::NEVER; FILTER_RFC];
            let mut window = Window { cwnd, ssthresh: 1e9 };
            ledbat.on_ack(&mut window, &Ack { flight, max_window, ..acked(one_way_ms) });
            assert_eq!(window.cwnd, want);
        }
    }

    /// ns-2's has six minutes and three measurements: the base of 20 ms, seen in the first minute, lasts until 6 min.
    #[test]
    fn ns2_forgets_sooner() {
        for (dialect, minutes, filter) in [(Dialect::Ns2, 6, 3), (Dialect::Rfc, 10, 4)] {
            let mut ledbat = Ledbat::new(dialect, 0.1);
            ledbat.queueing_delay(Time::ZERO, Time::from_ms(20));
            let later = Time::from_s(60 * minutes - 1);
            for n in 1..=filter {
                let delay_s = ledbat.queueing_delay(later, Time::from_ms(50));
                let want = if n < filter { 0.0 } else { 0.03 };
                assert!((delay_s - want).abs() < 1e-9, "{dialect:?} {n}: {delay_s}");
            }
            assert_eq!(ledbat.queueing_delay(later + Time::from_s(1), Time::from_ms(50)), 0.0);
        }
    }

    /// One segment at least; the target is 100 ms, or 25 in ns-2.
    #[test]
    fn ns2_keeps_a_segment() {
        let mut ledbat = Ledbat { credit: 0.5, ..Ledbat::new(Dialect::Ns2, 0.25) };
        let mut window = Window { cwnd: 1.5, ssthresh: 1e9 };
        ledbat.move_ns2(&mut window, 1.0); // 0.5 - 0.75
        assert_eq!((window.cwnd, ledbat.credit), (1.0, 0.0));
        (ledbat.credit, window.cwnd) = (0.5, 3.0);
        ledbat.move_ns2(&mut window, 0.75);
        assert_eq!((window.cwnd, ledbat.credit), (3.0, 0.0));
        ledbat.credit = -1.0;
        ledbat.move_ns2(&mut window, 0.0);
        assert_eq!((window.cwnd, ledbat.credit), (2.0, 0.25));
        for (dialect, target_s) in [(Dialect::Ns2, 0.025), (Dialect::Linux, 0.1)] {
            let connection =
                Connection { dialect, mss: 1000, initial_window: 2.0, max_window: 1e4 };
            let of = |keys: Parameters| match keys.start(&connection, Seed::named(1, "")) {
                Controller::Ledbat(ledbat) => ledbat.target_s,
                _ => panic!("another"),
            };
            assert_eq!(of(Parameters::default()), target_s);
            assert_eq!(of(Parameters { target_ms: Some(50.0) }), 0.05);
        }
    }
}
