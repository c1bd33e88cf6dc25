//! The congestion window of a QUIC sender (RFC 9002 §7), with the congestion controls of TCP.
//!
//! The window is counted in full datagrams, what is under way in bytes (RFC 9002 B.1). RFC 9002 §7.3.2 lets the
//! window fall at once; there is no proportional rate reduction.

use crate::cc::{Ack, CongestionControl, Controller, Restart, RoundTrip, Window};
use crate::config::Config;
use crate::rate::{LossPhase, RateSample};
use crate::sender_series::Shown;
use sojourn_engine::dialect::Dialect;
use sojourn_engine::rng::Seed;
use sojourn_engine::units::Time;

use super::rtt::Rtt;

/// RFC 9002 §7.2: the least window in datagrams (kMinimumWindow).
const LEAST_WINDOW: f64 = 2.0;

/// Window and congestion control of an end.
pub(super) struct Congestion {
    window: Window,
    controller: Controller,
    /// When the recovery at hand began: what left by then and is lost is the same congestion.
    recovery_since: Option<Time>,
    /// Bytes acknowledged that do not make a whole datagram yet, for controls that count in whole ones.
    rest: u64,
    /// Does the window, not the application, limit sending (RFC 9002 §7.8)?
    pub is_limited: bool,
    /// Does the recovery at hand go on: has nothing arrived that left in it?
    is_recovering: bool,
    /// Does the control want samples of the delivery rate?
    pub wants_samples: bool,
    /// Does it want single acknowledgements?
    wants_acknowledgements: bool,
    has_timers: bool,
    /// When it wants to be woken.
    pub wake_due: Time,
}

impl Congestion {
    /// The window at the start.
    pub(super) fn new(config: &Config, seed: Seed) -> Self {
        let control = config.congestion_control.parameters();
        let wants_samples = control.wants_samples();
        Self {
            window: Window { cwnd: config.initial_window, ssthresh: config.max_window },
            controller: control.start(&config.connection(), seed),
            recovery_since: None,
            rest: 0,
            is_limited: false,
            is_recovering: false,
            wants_samples,
            wants_acknowledgements: !wants_samples || control.wants_acknowledgements(),
            has_timers: control.has_timers(),
            wake_due: Time::NEVER,
        }
    }

    /// The handshake is complete at this end.
    pub(super) fn on_established(&mut self, srtt: Time, now: Time) {
        self.controller.on_established(&mut self.window, srtt, now);
        self.note_wake();
    }

    /// The control was called: it may have set its timer.
    pub(super) fn note_wake(&mut self) {
        if self.has_timers {
            self.wake_due = self.controller.due();
        }
    }

    /// The control's timer has come, with so many bytes under way.
    pub(super) fn wake(&mut self, now: Time, flight: u64, config: &Config) {
        let flight = flight as f64 / config.mss as f64;
        self.controller.on_wake(&mut self.window, flight, now);
        self.note_wake();
    }

    /// All that an acknowledgement says is known. Says whether the control sends less than the path takes.
    pub(super) fn on_sample(&mut self, sample: &RateSample) -> bool {
        self.controller.on_sample(&mut self.window, sample);
        self.controller.holds_back()
    }

    /// Where loss recovery stands.
    pub(super) fn phase(&self) -> LossPhase {
        if self.is_recovering { LossPhase::Recovery } else { LossPhase::Open }
    }

    /// A packet has arrived that left at this time.
    pub(super) fn on_delivered(&mut self, sent_at: Time) {
        self.is_recovering &= self.is_before_recovery(sent_at);
    }

    /// Bytes that may leave at once at a pacing rate.
    pub(super) fn burst(&self, rate: u64, config: &Config) -> u64 {
        match self.controller.burst_limit() {
            Some(limit) => limit.segments(rate, config.mss) * config.mss,
            // RFC 9002 §7.7: no burst is larger than the initial window.
            None => (config.initial_window * config.mss as f64) as u64,
        }
    }

    /// The window in datagrams.
    pub(super) fn window(&self) -> Window {
        self.window
    }

    /// The window in bytes.
    pub(super) fn bytes(&self, config: &Config) -> u64 {
        (self.window.cwnd * config.mss as f64) as u64
    }

    /// What it shows over time.
    pub(super) fn shown<'a>(&'a self, srtt: Time, config: &'a Config) -> Shown<'a> {
        Shown { controller: &self.controller, window: self.window, srtt, config }
    }

    /// A pacing rate that the control states, in bytes per second.
    pub(super) fn stated_rate(&self) -> Option<u64> {
        self.controller.pacing_rate()
    }

    /// Did this leave in a recovery that goes on (RFC 9002 §7.3.2)?
    pub(super) fn is_before_recovery(&self, sent_at: Time) -> bool {
        self.recovery_since.is_some_and(|since| sent_at <= since)
    }

    /// A round trip was measured.
    pub(super) fn on_round_trip(&mut self, trip: &RoundTrip) {
        self.controller.on_round_trip(&mut self.window, trip);
    }

    /// Data leaves while nothing is under way.
    pub(super) fn on_restart(&mut self, restart: &Restart) {
        self.controller.on_restart(&mut self.window, restart);
    }

    /// The last of the lost packets left at `sent_at`. Says whether this is a new congestion (RFC 9002 B.6).
    pub(super) fn on_loss(&mut self, now: Time, sent_at: Time) -> bool {
        self.on_congestion(now, sent_at, Controller::on_loss)
    }

    /// The largest number of an acknowledgement that reports marks left at `sent_at`. Says the same (RFC 9002 B.7).
    pub(super) fn on_mark(&mut self, now: Time, sent_at: Time) -> bool {
        self.on_congestion(now, sent_at, Controller::on_mark)
    }

    fn on_congestion(
        &mut self,
        now: Time,
        sent_at: Time,
        react: impl FnOnce(&mut Controller, &mut Window, f64, Time),
    ) -> bool {
        if self.is_before_recovery(sent_at) {
            return false;
        }
        (self.recovery_since, self.is_recovering) = (Some(now), true);
        // RFC 9002 §7.3.2 goes by the window, not by what is under way.
        let cwnd = self.window.cwnd;
        react(&mut self.controller, &mut self.window, cwnd, now);
        self.window.cwnd = self.window.cwnd.max(LEAST_WINDOW);
        true
    }

    /// Congestion is persistent (RFC 9002 §7.6.2): as after a timeout of TCP. The threshold is where the loss
    /// put it.
    pub(super) fn on_persistent(&mut self, now: Time) {
        let Window { cwnd, ssthresh } = self.window;
        self.controller.on_timeout(&mut self.window, cwnd, now);
        self.window = Window { cwnd: LEAST_WINDOW, ssthresh };
        (self.recovery_since, self.is_recovering) = (None, false);
    }

    /// `bytes` were acknowledged that left outside a recovery (RFC 9002 B.5).
    pub(super) fn on_ack(
        &mut self,
        now: Time,
        bytes: u64,
        flight: u64,
        rtt: &Rtt,
        config: &Config,
    ) {
        if !self.is_limited || bytes == 0 || !self.wants_acknowledgements {
            return;
        }
        let mss = config.mss as f64;
        let segments = if config.dialect == Dialect::Linux {
            self.rest += bytes;
            let whole = self.rest / config.mss;
            self.rest %= config.mss;
            whole as f64
        } else {
            bytes as f64 / mss
        };
        let ack = Ack {
            now,
            segments,
            flight: flight as f64 / mss,
            srtt: rtt.smoothed(),
            min_rtt: rtt.min(),
            rtt: rtt.latest(),
            one_way: Time::ZERO,
            max_window: config.max_window,
        };
        self.controller.on_ack(&mut self.window, &ack);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TcpOptions;
    use crate::cc::{CongestionSpec, reno};
    use crate::config::Transport;

    const MS: fn(u64) -> Time = Time::from_ms;

    fn reno(dialect: Dialect) -> (Congestion, Config) {
        let config = TcpOptions {
            transport: Some(Transport::Quic),
            congestion_control: Some(CongestionSpec::Reno(reno::Parameters {})),
            ..TcpOptions::default()
        }
        .resolve(dialect);
        (Congestion::new(&config, Seed::named(1, "test")), config)
    }

    /// RFC 9002 §7.3: half at the first loss, nothing for what left before, and 2 datagrams where congestion
    /// is persistent, with the threshold of the loss.
    #[test]
    fn one_reduction_for_what_left_before_it() {
        for dialect in [Dialect::Rfc, Dialect::Linux] {
            let (mut congestion, config) = reno(dialect);
            assert_eq!(congestion.bytes(&config), 14_520);
            assert!(congestion.on_loss(MS(100), MS(50)));
            assert_eq!(congestion.window(), Window { cwnd: 5.0, ssthresh: 5.0 });
            assert!(!congestion.on_loss(MS(110), MS(100)));
            assert_eq!(congestion.window().cwnd, 5.0);
            assert!(congestion.on_loss(MS(200), MS(101)));
            congestion.on_persistent(MS(200));
            let half = if dialect == Dialect::Linux { 2.0 } else { 2.5 };
            assert_eq!(congestion.window(), Window { cwnd: 2.0, ssthresh: half });
        }
    }

    /// In slow start the window grows by what is acknowledged, in dialect `linux` by whole datagrams: 1000 B
    /// and 2000 B are 2 of 1452, with 96 B left.
    #[test]
    fn the_window_grows_by_bytes_where_it_is_the_limit() {
        for (dialect, want) in [(Dialect::Rfc, 10.0 + 3000.0 / 1452.0), (Dialect::Linux, 12.0)] {
            let (mut congestion, config) = reno(dialect);
            let rtt = Rtt::new();
            congestion.on_ack(MS(1), 1452, 0, &rtt, &config);
            assert_eq!(congestion.window().cwnd, 10.0, "the application limits");
            congestion.is_limited = true;
            congestion.on_ack(MS(1), 1000, 0, &rtt, &config);
            congestion.on_ack(MS(1), 2000, 0, &rtt, &config);
            assert!((congestion.window().cwnd - want).abs() < 1e-9, "{dialect:?}");
        }
    }
}
