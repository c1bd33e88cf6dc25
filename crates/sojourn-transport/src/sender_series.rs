//! What a sender shows over time.

use super::cc::{CongestionControl as _, Controller, Window};
use super::config::Config;
use sojourn_engine::record::Gauges;
use sojourn_engine::units::Time;

sojourn_engine::series! {
    /// The congestion window.
    CONGESTION_WINDOW = "congestion_window", in "B", from "RFC 5681, section 2";
    /// The window below which it grows by slow start; no value where the control has none yet.
    SLOW_START_THRESHOLD = "slow_start_threshold", in "B", from "RFC 5681, section 3.1";
    /// The round-trip time that the sender goes by, smoothed; no value before the first measurement.
    SMOOTHED_RTT = "smoothed_rtt", in "ms", from "RFC 6298, section 2; RFC 9002, section 5.3";
    /// The pacing rate, where the congestion control sets one.
    PACING_RATE = "pacing_rate", in "Mbps";
}

/// A sender at a moment.
pub(crate) struct Shown<'a> {
    pub controller: &'a Controller,
    pub window: Window,
    pub srtt: Time,
    pub config: &'a Config,
}

/// What a sender does, at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SenderState {
    /// Congestion window in bytes.
    pub window_bytes: f64,
    /// Pacing rate in bytes per second, where the congestion control sets one.
    pub pacing_bytes_per_s: Option<u64>,
    /// Smoothed round-trip time, once one has been measured.
    pub smoothed_rtt: Option<Time>,
}

impl SenderState {
    /// About what it sends in a second: a window in a round trip; nothing before the first one is measured.
    pub(crate) fn bytes_per_s(&self) -> f64 {
        self.smoothed_rtt.map_or(0.0, |rtt| self.window_bytes / rtt.secs_f64())
    }
}

impl Shown<'_> {
    /// What all senders have.
    pub(crate) fn state(&self) -> SenderState {
        SenderState {
            window_bytes: self.bytes(self.window.cwnd),
            pacing_bytes_per_s: self.controller.pacing_rate(),
            smoothed_rtt: (self.srtt > Time::ZERO).then_some(self.srtt),
        }
    }

    fn bytes(&self, segments: f64) -> f64 {
        segments * self.config.mss as f64
    }

    /// Shows its gauges, with those that all senders have if it is watched.
    pub(crate) fn show(&self, is_watched: bool, out: &mut Gauges) {
        if is_watched {
            let Window { ssthresh, .. } = self.window;
            let is_set = ssthresh < self.config.max_window;
            let threshold = if is_set { self.bytes(ssthresh) } else { f64::NAN };
            let SenderState { window_bytes, pacing_bytes_per_s, smoothed_rtt } = self.state();
            out.show(CONGESTION_WINDOW, window_bytes);
            out.show(SLOW_START_THRESHOLD, threshold);
            out.show(SMOOTHED_RTT, smoothed_rtt.map_or(f64::NAN, Time::ms_f64));
            out.show(PACING_RATE, pacing_bytes_per_s.map_or(f64::NAN, |rate| rate as f64 * 8e-6));
        }
        self.controller.gauges(out);
    }
}
