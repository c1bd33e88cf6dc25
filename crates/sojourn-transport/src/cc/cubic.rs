//! CUBIC (RFC 9438). The ns-2 dialect has Linux 2.6.22's version (`cubic_ns2`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hystart::HyStart;
use super::reno::slow_start;
use super::{
    Ack, CongestionControl, CongestionParameters, Connection, Controller, LinuxCubic, Ns2Cubic,
    Restart, Window,
};
use sojourn_engine::dialect::Dialect;
use sojourn_engine::rng::Seed;
use sojourn_engine::units::Time;

/// Segments per cubic second (RFC 9438 §5.1).
const C: f64 = 0.4;
/// Multiplicative decrease (RFC 9438 §4.6).
const BETA: f64 = 0.7;

/// Parameters of CUBIC.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Cubic")]
pub struct Parameters {
    /// End the first slow start when round-trip times grow (HyStart++, RFC 9406; RFC 9438 §4.10
    /// recommends it; in the `linux` dialect the older HyStart). Default: `true`; it has no effect in
    /// the `ns2` dialect.
    pub hystart: Option<bool>,
}

impl CongestionParameters for Parameters {
    fn start(&self, connection: &Connection, _seed: Seed) -> Controller {
        match connection.dialect {
            Dialect::Rfc => {
                let hystart = self.hystart.unwrap_or(true).then(HyStart::new);
                Cubic { hystart, ..Cubic::default() }.into()
            }
            Dialect::Ns2 => Ns2Cubic::new().into(),
            Dialect::Linux => LinuxCubic::new(self.hystart.unwrap_or(true)).into(),
        }
    }
}

/// Segments per round trip by which Reno grows, with the same decrease at a loss (RFC 9438 §4.3).
const RENO_ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

/// A period of growth between two losses.
struct Epoch {
    start: Time,
    /// Seconds until the window is back at `origin`.
    k_s: f64,
    /// Plateau of the cubic function in segments.
    origin: f64,
    /// Reno's window in segments.
    reno: f64,
}

/// CUBIC. Before any loss it has a plain slow start by default.
#[derive(Default)]
pub struct Cubic {
    /// Window before the last reduction (less with fast convergence), in segments.
    w_max: f64,
    /// Window just before the last reduction.
    prior: f64,
    epoch: Option<Epoch>,
    /// Present until the first loss.
    hystart: Option<HyStart>,
    /// As it was before the last reduction (RFC 9438 §4.9.2).
    before: Option<Box<Cubic>>,
}

impl Cubic {
    fn epoch(&mut self, cwnd: f64, now: Time) -> &mut Epoch {
        let w_max = self.w_max;
        self.epoch.get_or_insert_with(|| {
            // RFC 9438 §4.2: K = cbrt((W_max - cwnd_epoch) / C).
            let k_s = libm::cbrt((w_max - cwnd).max(0.0) / C);
            Epoch { start: now, k_s, origin: w_max.max(cwnd), reno: cwnd }
        })
    }

    /// RFC 9438 §4.2-4.5, for one acknowledgement of `ack.segments`.
    fn grow(&mut self, window: &mut Window, ack: &Ack) {
        let (prior, cwnd) = (self.prior, window.cwnd);
        let epoch = self.epoch(cwnd, ack.now);
        // §4.3: Reno's estimate, with full growth once it has passed the old window.
        epoch.reno += if epoch.reno >= prior { 1.0 } else { RENO_ALPHA } * ack.segments / cwnd;
        let t = ack.now.since(epoch.start).secs_f64();
        let cubic = |t: f64| C * cube(t - epoch.k_s) + epoch.origin;
        if cubic(t) < epoch.reno {
            window.cwnd = epoch.reno.max(cwnd);
        } else {
            let target = cubic(t + ack.srtt.secs_f64()).clamp(cwnd, 1.5 * cwnd);
            window.cwnd += (target - cwnd) / cwnd * ack.segments;
        }
    }
}

/// Not `powi`: its last bits may differ between builds.
fn cube(x: f64) -> f64 {
    x * x * x
}

impl CongestionControl for Cubic {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(hystart) = self.hystart.as_mut().filter(|_| window.in_slow_start()) {
            hystart.on_ack(window, ack);
        } else if slow_start(window, ack.segments, ack.max_window) > 0.0 {
            self.grow(window, ack);
        }
        window.cwnd = window.cwnd.min(ack.max_window);
    }

    fn on_restart(&mut self, _window: &mut Window, restart: &Restart) {
        let Restart { now, idle, .. } = *restart;
        if let Some(epoch) = &mut self.epoch {
            epoch.start = (epoch.start + idle).min(now);
        }
    }

    fn on_loss(&mut self, window: &mut Window, _flight: f64, _now: Time) {
        let before = Self { before: None, ..std::mem::take(self) };
        self.prior = window.cwnd;
        // Fast convergence (RFC 9438 §4.7): release more while the plateau is falling.
        self.w_max =
            if window.cwnd < before.w_max { window.cwnd * (1.0 + BETA) / 2.0 } else { window.cwnd };
        self.before = Some(Box::new(before));
        window.ssthresh = (window.cwnd * BETA).max(2.0);
        window.cwnd = window.ssthresh;
    }

    fn on_undo(&mut self, window: &mut Window, before: &Window) {
        window.raise_to(before);
        if let Some(before) = self.before.take() {
            *self = *before;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::RoundTrip;
    use super::*;

    fn after_loss_at(w: f64) -> (Cubic, Window) {
        let mut cubic = Cubic::default();
        let mut window = Window { cwnd: w, ssthresh: 1.0 };
        cubic.on_loss(&mut window, w, Time::ZERO);
        (cubic, window)
    }

    #[test]
    fn the_plateau_is_reached_after_k() {
        // K = cbrt(W (1 - beta) / C): W = 100: cbrt(75) = 4.217 s; W = 417: 6.788 s.
        for (w, want) in [(100.0, 4.217), (417.0, 6.788)] {
            let (mut cubic, window) = after_loss_at(w);
            let k = cubic.epoch(window.cwnd, Time::ZERO).k_s;
            assert!((k - want).abs() < 2e-3, "{w}: {k}");
        }
    }

    #[test]
    fn a_long_round_trip_follows_the_cubic_curve() {
        // At 200 ms Reno is far behind: after K the window must be near W_max again.
        let (mut cubic, mut window) = after_loss_at(400.0);
        let srtt = Time::from_ms(200);
        let mut now = Time::ZERO;
        while now.secs_f64() < 6.694 {
            // One round trip: the window's segments, acknowledged two at a time, evenly spaced.
            let acks = (window.cwnd / 2.0).round();
            for n in 1..=acks as u64 {
                let at = now + srtt.scaled(n as f64 / acks);
                cubic.on_ack(&mut window, &Ack::of(at, 2.0, srtt));
            }
            now += srtt;
        }
        // K = cbrt(400 * 0.3 / 0.4) = 6.694 s.
        assert!((window.cwnd - 400.0).abs() < 2.0, "{}", window.cwnd);
    }

    /// A second without anything to send does not count: 10 s on the curve come at 11 s.
    #[test]
    fn silence_stops_the_curve() {
        let at = |silent: u64| {
            let (mut cubic, mut window) = after_loss_at(400.0);
            let srtt = Time::from_ms(200);
            cubic.on_ack(&mut window, &Ack::of(Time::ZERO, 1.0, srtt));
            cubic.on_restart(
                &mut window,
                &Restart::after(Time::from_s(9 + silent), Time::from_s(silent)),
            );
            cubic.on_ack(&mut window, &Ack::of(Time::from_s(10 + silent), 1.0, srtt));
            window.cwnd
        };
        assert!(at(0) > 280.1 && (at(1) - at(0)).abs() < 1e-9, "{} {}", at(0), at(1));
    }

    /// RFC 9438 §4.9.2: the curve of before the reduction goes on, where a new one would begin at 100 s.
    #[test]
    fn a_needless_reduction_leaves_the_curve() {
        let (mut cubic, mut window) = after_loss_at(400.0);
        let srtt = Time::from_ms(200);
        cubic.on_ack(&mut window, &Ack::of(Time::ZERO, 1.0, srtt));
        cubic.on_ack(&mut window, &Ack::of(Time::from_s(5), 1.0, srtt));
        let before = Window { ssthresh: 300.0, ..window };
        cubic.on_loss(&mut window, 1.0, Time::from_s(5));
        cubic.on_undo(&mut window, &before);
        assert_eq!(window, before);
        assert!(cubic.w_max == 400.0 && cubic.epoch.is_some() && cubic.before.is_none());
        let epoch = cubic.epoch(window.cwnd, Time::from_s(100));
        assert!(epoch.start == Time::ZERO && (epoch.k_s - 6.694).abs() < 1e-3);
    }

    #[test]
    fn fast_convergence_lowers_the_plateau() {
        let (mut cubic, mut window) = after_loss_at(100.0);
        cubic.on_loss(&mut window, 70.0, Time::ZERO);
        // 70 < 100, so W_max = 70 * 1.7 / 2 = 59.5 and cwnd = 49.
        assert!((cubic.w_max - 59.5).abs() < 1e-9);
        assert!((window.cwnd - 49.0).abs() < 1e-9);
    }

    /// From 100 to 70 segments with K = 4.2172 s. At first Reno's estimate is ahead: 70 + 0.5294/70. After 3 s with 100 ms of round
    /// trip the target is 100 - 0.4 * 1.1172^3 = 99.4423: (99.4423 - 70.0076)/70.0076 of a segment more.
    #[test]
    fn the_window_follows_the_larger_of_reno_and_the_curve() {
        let (mut cubic, mut window) = after_loss_at(100.0);
        let srtt = Time::from_ms(100);
        cubic.on_ack(&mut window, &Ack::of(Time::ZERO, 1.0, srtt));
        assert!((window.cwnd - 70.007_563).abs() < 1e-6, "{}", window.cwnd);
        cubic.on_ack(&mut window, &Ack::of(Time::from_s(3), 1.0, srtt));
        assert!((window.cwnd - 70.428).abs() < 1e-3, "{}", window.cwnd);
        // Far beyond the plateau half a segment for each at most.
        let before = window.cwnd;
        cubic.on_ack(&mut window, &Ack::of(Time::from_s(20), 2.0, srtt));
        assert!((window.cwnd - before - 1.0).abs() < 1e-9);
        cubic
            .on_ack(&mut window, &Ack { max_window: 71.0, ..Ack::of(Time::from_s(20), 2.0, srtt) });
        assert_eq!(window.cwnd, 71.0);
        // Nor does it shrink to the curve.
        window.cwnd = 9e4;
        cubic.on_ack(&mut window, &Ack { max_window: 1e6, ..Ack::of(Time::from_s(20), 2.0, srtt) });
        assert_eq!(window.cwnd, 9e4);
    }

    /// Once Reno's estimate has reached the old window it grows by a segment a round trip.
    #[test]
    fn reno_grows_by_a_whole_segment_beyond_the_old_window() {
        for (reno, want) in [(10.0, 10.0 + 1.0 / 7.0), (9.9, 9.9 + 0.529_411_76 / 7.0)] {
            let (mut cubic, mut window) = after_loss_at(10.0);
            window.cwnd = 7.0;
            cubic.epoch(7.0, Time::ZERO).reno = reno;
            cubic.on_ack(&mut window, &Ack::of(Time::ZERO, 1.0, Time::from_ms(10)));
            assert!((window.cwnd - want).abs() < 1e-6, "{}", window.cwnd);
        }
        // It does not shrink to it.
        let (mut cubic, mut window) = after_loss_at(10.0);
        cubic.epoch(7.0, Time::ZERO).reno = 8.0;
        window.cwnd = 9.5;
        cubic.on_ack(&mut window, &Ack::of(Time::ZERO, 1.0, Time::from_ms(10)));
        assert_eq!(window.cwnd, 9.5);
    }

    #[test]
    fn a_loss_at_the_plateau_keeps_it_and_two_segments_remain() {
        let (mut cubic, mut window) = after_loss_at(100.0);
        window.cwnd = 100.0;
        cubic.hystart = Some(HyStart::new());
        cubic.on_loss(&mut window, 1.0, Time::ZERO);
        assert_eq!((cubic.w_max, cubic.prior, cubic.hystart.is_none()), (100.0, 100.0, true));
        window.cwnd = 2.5;
        cubic.on_timeout(&mut window, 1.0, Time::ZERO);
        assert_eq!(window, Window { cwnd: 1.0, ssthresh: 2.0 });
        // Before the first loss there is no plateau to return to.
        let mut first = Cubic::default();
        assert_eq!(
            (first.epoch(10.0, Time::ZERO).k_s, first.epoch(10.0, Time::ZERO).origin),
            (0.0, 10.0)
        );
    }

    /// Eight segments for an acknowledgement with HyStart++, and two without; a silence does not begin in the future.
    #[test]
    fn slow_start_has_the_limit_of_its_kind() {
        for (hystart, want) in [(Some(HyStart::new()), 18.0), (None, 12.0)] {
            let mut cubic = Cubic { hystart, ..Cubic::default() };
            let mut window = Window { cwnd: 10.0, ssthresh: 1e9 };
            cubic.on_ack(&mut window, &Ack::of(Time::ZERO, 9.0, Time::from_ms(10)));
            assert_eq!(window.cwnd, want);
        }
        let (mut cubic, mut window) = after_loss_at(100.0);
        cubic.epoch(70.0, Time::from_s(5));
        for (silent, want) in [(1, 6), (9, 8)] {
            cubic.on_restart(&mut window, &Restart::after(Time::from_s(8), Time::from_s(silent)));
            assert_eq!(cubic.epoch(70.0, Time::ZERO).start, Time::from_s(want));
        }
    }

    /// HyStart is on where nothing is said, in the dialects that have it.
    #[test]
    fn hystart_may_be_switched_off() {
        for (hystart, want) in [(None, true), (Some(true), true), (Some(false), false)] {
            let start = |dialect| {
                let connection =
                    Connection { dialect, mss: 1000, initial_window: 10.0, max_window: 1e4 };
                Parameters { hystart }.start(&connection, Seed::named(1, ""))
            };
            let Controller::Cubic(cubic) = start(Dialect::Rfc) else { panic!("another") };
            assert_eq!(cubic.hystart.is_some(), want);
            let Controller::LinuxCubic(mut cubic) = start(Dialect::Linux) else {
                panic!("another")
            };
            let mut window = Window { cwnd: 20.0, ssthresh: 1e9 };
            for n in 0..12 {
                let (now, rtt) =
                    (Time::from_ms(9 * n), Time::from_ms(if n == 0 { 20 } else { 40 }));
                let (una, nxt) = (n + 1, if n == 0 { 1 } else { 1000 });
                let trip = RoundTrip { now, rtt, una, nxt, ..RoundTrip::default() };
                cubic.on_round_trip(&mut window, &trip);
            }
            assert_eq!(window.ssthresh == 20.0, want);
            assert!(matches!(start(Dialect::Ns2), Controller::Ns2Cubic(_)));
        }
    }
}
