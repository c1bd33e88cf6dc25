//! CUBIC: RFC 9438, and in the ns-2 dialect the code of Linux 2.6.22 that ns-2.35 carries
//! (tcp/linux/src/tcp_cubic.c).
//!
//! In the ns-2 dialect the window moves by fractions of a segment where Linux counts acknowledgements
//! up to whole ones. Left out: what Linux does about windows after idle times.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hystart::HyStart;
use super::reno::slow_start;
use super::{Ack, CongestionControl, CongestionParameters, Controller, Window};
use crate::scenario::Dialect;
use crate::tcp::options::Config;
use crate::units::Time;

/// Segments per cubic second (RFC 9438 §5.1; Linux: 410/1024).
const C: f64 = 0.4;
/// Multiplicative decrease (RFC 9438 §4.6).
const BETA_RFC: f64 = 0.7;
/// Multiplicative decrease in Linux 2.6.22.
const BETA_LINUX: f64 = 819.0 / 1024.0;

/// Parameters of CUBIC.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Cubic")]
pub struct Parameters {
    /// The first slow start ends when round trips grow (RFC 9406, which RFC 9438 §4.10 recommends).
    /// Default: on; off in ns-2, and without effect there.
    pub hystart: Option<bool>,
}

impl CongestionParameters for Parameters {
    fn start(&self, config: &Config) -> Controller {
        let is_rfc = config.dialect == Dialect::Rfc;
        let hystart = self.hystart.unwrap_or(is_rfc) && is_rfc;
        Cubic { hystart: hystart.then(HyStart::new), ..Cubic::new(config.dialect) }.into()
    }
}

/// A stretch of growth between two losses.
struct Epoch {
    start: Time,
    /// Seconds until the window is back at `origin`.
    k_s: f64,
    /// Plateau of the cubic function, in segments.
    origin: f64,
    /// What Reno would have, in segments.
    reno: f64,
}

/// CUBIC.
pub struct Cubic {
    dialect: Dialect,
    beta: f64,
    /// Window before the last reduction (less with fast convergence), in segments.
    w_max: f64,
    /// Window just before the last reduction.
    prior: f64,
    epoch: Option<Epoch>,
    /// Segments per acknowledgement, smoothed (Linux: starts at 2).
    delayed_ack: f64,
    /// Until the first loss.
    hystart: Option<HyStart>,
}

impl Cubic {
    /// A controller that has seen no loss, with plain slow start.
    pub fn new(dialect: Dialect) -> Self {
        let beta = if dialect == Dialect::Rfc { BETA_RFC } else { BETA_LINUX };
        Self { dialect, beta, w_max: 0.0, prior: 0.0, epoch: None, delayed_ack: 2.0, hystart: None }
    }

    /// Reno's growth that loses `1 - beta` at each loss (RFC 9438 §4.3).
    fn reno_alpha(&self) -> f64 {
        3.0 * (1.0 - self.beta) / (1.0 + self.beta)
    }

    fn epoch(&mut self, cwnd: f64, now: Time) -> &mut Epoch {
        let w_max = self.w_max;
        self.epoch.get_or_insert_with(|| {
            // RFC 9438 §4.2: K = cbrt((W_max - cwnd_epoch) / C).
            let k_s = libm::cbrt((w_max - cwnd).max(0.0) / C);
            Epoch { start: now, k_s, origin: w_max.max(cwnd), reno: cwnd }
        })
    }

    /// RFC 9438 §4.2-4.5, for one acknowledgement of `ack.segments`.
    fn grow_rfc(&mut self, window: &mut Window, ack: &Ack) {
        let (alpha, prior, cwnd) = (self.reno_alpha(), self.prior, window.cwnd);
        let epoch = self.epoch(cwnd, ack.now);
        // §4.3: Reno's estimate, at full speed once it has passed the old window.
        epoch.reno += if epoch.reno >= prior { 1.0 } else { alpha } * ack.segments / cwnd;
        let t = ack.now.since(epoch.start).secs_f64();
        let cubic = |t: f64| C * cube(t - epoch.k_s) + epoch.origin;
        if cubic(t) < epoch.reno {
            window.cwnd = epoch.reno.max(cwnd);
        } else {
            let target = cubic(t + ack.srtt.secs_f64()).clamp(cwnd, 1.5 * cwnd);
            window.cwnd += (target - cwnd) / cwnd * ack.segments;
        }
    }

    /// Linux 2.6.22 `bictcp_update`: one segment per `cnt` acknowledgements.
    fn grow_linux(&mut self, window: &mut Window, ack: &Ack) {
        let (beta, cwnd, no_loss_yet) = (self.beta, window.cwnd, self.w_max == 0.0);
        let delayed_ack = self.delayed_ack;
        let epoch = self.epoch(cwnd, ack.now);
        let t = (ack.now.since(epoch.start) + ack.min_rtt).secs_f64();
        let target = epoch.origin + C * cube(t - epoch.k_s);
        let mut cnt = if target > cwnd { cwnd / (target - cwnd) } else { 100.0 * cwnd };
        if ack.min_rtt > Time::ZERO && t >= epoch.k_s {
            // At most 16 segments per 100 ms beyond the plateau.
            cnt = cnt.max(cwnd * 10.0 / (16.0 * ack.min_rtt.secs_f64() * 100.0));
        }
        if no_loss_yet {
            cnt = cnt.min(50.0);
        }
        // Reno's estimate: one segment more per (1 + beta) / (3 (1 - beta)) windows.
        epoch.reno += 3.0 * (1.0 - beta) / (1.0 + beta) / cwnd;
        if epoch.reno > cwnd {
            cnt = cnt.min(cwnd / (epoch.reno - cwnd));
        }
        window.cwnd += delayed_ack / cnt.max(delayed_ack);
    }
}

/// Not `powi`, whose last bits may differ between builds.
fn cube(x: f64) -> f64 {
    x * x * x
}

impl CongestionControl for Cubic {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        match self.dialect {
            Dialect::Rfc => {
                if let Some(hystart) = self.hystart.as_mut().filter(|_| window.in_slow_start()) {
                    hystart.on_ack(window, ack);
                } else if slow_start(window, ack.segments, ack.max_window) > 0.0 {
                    self.grow_rfc(window, ack);
                }
            }
            Dialect::Ns2 => {
                self.delayed_ack += (ack.segments - self.delayed_ack) / 16.0;
                if slow_start(window, 1.0, ack.max_window) > 0.0 {
                    self.grow_linux(window, ack);
                }
            }
        }
        window.cwnd = window.cwnd.min(ack.max_window);
    }

    fn on_loss(&mut self, window: &mut Window, _flight: f64, _now: Time) {
        self.epoch = None;
        self.hystart = None;
        self.prior = window.cwnd;
        // Fast convergence (RFC 9438 §4.7): release more where the plateau is falling.
        self.w_max = if window.cwnd < self.w_max {
            window.cwnd * (1.0 + self.beta) / 2.0
        } else {
            window.cwnd
        };
        window.ssthresh = (window.cwnd * self.beta).max(2.0);
        window.cwnd = window.ssthresh;
    }

    fn on_timeout(&mut self, window: &mut Window, flight: f64, now: Time) {
        self.on_loss(window, flight, now);
        if self.dialect == Dialect::Ns2 {
            // Linux resets everything on a timeout (`bictcp_state`, TCP_CA_Loss).
            self.w_max = 0.0;
        }
        window.cwnd = 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after_loss_at(dialect: Dialect, w: f64) -> (Cubic, Window) {
        let mut cubic = Cubic::new(dialect);
        let mut window = Window { cwnd: w, ssthresh: 1.0 };
        cubic.on_loss(&mut window, w, Time::ZERO);
        (cubic, window)
    }

    #[test]
    fn the_plateau_is_reached_after_k() {
        // K = cbrt(W (1 - beta) / C): W = 100: cbrt(75) = 4.217 s, cbrt(50.05) = 3.684 s with 0.8;
        // W = 417: 6.788 s and 5.930 s.
        for (dialect, w, want) in [
            (Dialect::Rfc, 100.0, 4.217),
            (Dialect::Ns2, 100.0, 3.684),
            (Dialect::Rfc, 417.0, 6.788),
            (Dialect::Ns2, 417.0, 5.930),
        ] {
            let (mut cubic, window) = after_loss_at(dialect, w);
            let k = cubic.epoch(window.cwnd, Time::ZERO).k_s;
            assert!((k - want).abs() < 2e-3, "{dialect:?} {w}: {k}");
        }
    }

    #[test]
    fn a_long_round_trip_follows_the_cubic_curve() {
        // At 200 ms Reno is far behind: after K the window must be near W_max again.
        let (mut cubic, mut window) = after_loss_at(Dialect::Rfc, 400.0);
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

    #[test]
    fn fast_convergence_lowers_the_plateau() {
        let (mut cubic, mut window) = after_loss_at(Dialect::Rfc, 100.0);
        cubic.on_loss(&mut window, 70.0, Time::ZERO);
        // 70 < 100, so W_max = 70 * 1.7 / 2 = 59.5 and cwnd = 49.
        assert!((cubic.w_max - 59.5).abs() < 1e-9);
        assert!((window.cwnd - 49.0).abs() < 1e-9);
    }
}
