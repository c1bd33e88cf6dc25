//! DCTCP (RFC 8257): the window shrinks by half the share of marks, averaged over windows of data.
//!
//! Growth, and the reaction to a loss, are Reno's of dialect `linux`. The feedback is AccECN's counters
//! (RFC 9768), which say what DCTCP's own echo of each change says (RFC 8257 §3.2).
//!
//! Left out: that echo; pacing of its own and independence of the round trip, which it never had.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reno_linux::LinuxReno;
use super::{
    Ack, CongestionControl, CongestionParameters, Connection, Controller, EcnFeedback, Window,
};
use crate::accecn::EcnMode;
use sojourn_engine::rng::Seed;
use sojourn_engine::units::Time;

/// Parameters of DCTCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Dctcp")]
pub struct Parameters {
    /// Weight of a window's share of marks in their average (RFC 8257 §4.2: g).
    #[schemars(range(min = 0.001, max = 1.0))]
    pub gain: f64,
    /// The average at the start (RFC 8257 §3.3: 1, the reaction to a loss).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub initial_alpha: f64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { gain: 1.0 / 16.0, initial_alpha: 1.0 }
    }
}

impl CongestionParameters for Parameters {
    fn start(&self, _connection: &Connection, _seed: Seed) -> Controller {
        Dctcp::new(self).into()
    }

    fn is_scalable(&self) -> bool {
        true
    }

    fn usual_ecn(&self) -> EcnMode {
        EcnMode::Accecn
    }
}

/// DCTCP.
pub struct Dctcp {
    reno: LinuxReno,
    gain: f64,
    alpha: f64,
    /// Delivered and marked in the window of data under way (RFC 8257 §3.3).
    delivered: f64,
    marked: f64,
    /// The end of that window (DCTCP.WindowEnd).
    window_end: u64,
    /// The end of what was sent when the window was last reduced for marks; it grows again after it.
    slowed_until: u64,
    is_slowed: bool,
}

impl Dctcp {
    fn new(parameters: &Parameters) -> Self {
        Self {
            reno: LinuxReno::default(),
            gain: parameters.gain,
            alpha: parameters.initial_alpha,
            delivered: 0.0,
            marked: 0.0,
            window_end: 0,
            slowed_until: 0,
            is_slowed: false,
        }
    }

    /// RFC 8257 §3.3 steps 5 to 8.
    fn end_window(&mut self, nxt: u64) {
        if self.delivered > 0.0 {
            let share = (self.marked / self.delivered).min(1.0);
            self.alpha = (1.0 - self.gain) * self.alpha + self.gain * share;
        }
        (self.delivered, self.marked, self.window_end) = (0.0, 0.0, nxt);
    }
}

impl CongestionControl for Dctcp {
    fn on_feedback(&mut self, window: &mut Window, feedback: &EcnFeedback) {
        self.delivered += feedback.delivered;
        self.marked += feedback.marked;
        if feedback.una >= self.window_end {
            self.end_window(feedback.nxt);
        }
        self.is_slowed = feedback.una < self.slowed_until;
        if feedback.marked == 0.0 || self.is_slowed || feedback.is_recovering {
            return;
        }
        // RFC 8257 §3.3: cwnd = cwnd * (1 - alpha / 2), at most once a window of data.
        // Linux counts the reduction in whole segments, rounded down, and so reduces by less than one not at all.
        let reduction = (window.cwnd * self.alpha / 2.0).floor();
        window.cwnd = (window.cwnd - reduction).max(2.0);
        window.ssthresh = window.cwnd;
        self.slowed_until = feedback.nxt;
        self.is_slowed = true;
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if !self.is_slowed {
            self.reno.on_ack(window, ack);
        }
    }

    /// RFC 8257 §3.4: as any TCP.
    fn on_loss(&mut self, window: &mut Window, flight: f64, now: Time) {
        self.reno.on_loss(window, flight, now);
    }

    fn on_timeout(&mut self, window: &mut Window, flight: f64, now: Time) {
        self.reno.on_timeout(window, flight, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feedback(delivered: f64, marked: f64, una: u64, nxt: u64) -> EcnFeedback {
        let (now, srtt) = (Time::ZERO, Time::from_ms(10));
        EcnFeedback { now, delivered, marked, una, nxt, srtt, is_recovering: false }
    }

    /// alpha = 15/16 alpha + M/16. From 1 with M = 0: 0.9375. Then M = 4/16 = 1/4:
    /// 0.9375 * 0.9375 + 0.015625 = 0.89453125.
    #[test]
    fn alpha_is_the_average_share_of_marks_in_windows_of_data() {
        let mut dctcp = Dctcp::new(&Parameters::default());
        let mut window = Window { cwnd: 16.0, ssthresh: 1.0 };
        dctcp.on_feedback(&mut window, &feedback(0.0, 0.0, 1, 161)); // the first window ends at once
        dctcp.on_feedback(&mut window, &feedback(16.0, 0.0, 161, 321));
        assert_eq!(dctcp.alpha, 0.9375);
        dctcp.on_feedback(&mut window, &feedback(12.0, 0.0, 281, 400));
        assert_eq!(dctcp.alpha, 0.9375);
        dctcp.on_feedback(&mut window, &feedback(4.0, 4.0, 321, 441));
        assert_eq!(dctcp.alpha, 0.894_531_25);
        // 16 * 0.89453125 / 2 = 7.15625 less, in whole segments 7.
        assert_eq!(window, Window { cwnd: 9.0, ssthresh: 9.0 });
    }

    /// With alpha 0.25 and g = 0: 100 / 8 = 12.5, so 12 less. A second mark before 1001 changes nothing, and the
    /// window does not grow until then; a mark beyond reduces again, by 88 / 8 = 11.
    #[test]
    fn it_slows_once_a_window_and_does_not_grow_in_it() {
        let mut dctcp = Dctcp::new(&Parameters { gain: 0.0, initial_alpha: 0.25 });
        let mut window = Window { cwnd: 100.0, ssthresh: 1.0 };
        dctcp.on_feedback(&mut window, &feedback(2.0, 1.0, 1, 1001));
        assert_eq!(window.cwnd, 88.0);
        for una in [11, 991] {
            dctcp.on_feedback(&mut window, &feedback(2.0, 2.0, una, 1900));
            dctcp.on_ack(&mut window, &Ack::of(Time::ZERO, 500.0, Time::from_ms(10)));
            assert_eq!(window.cwnd, 88.0);
        }
        dctcp.on_feedback(&mut window, &feedback(2.0, 1.0, 1001, 1900));
        assert_eq!(window.cwnd, 77.0);
        // Unmarked and beyond the next window: 77 segments make one more.
        dctcp.on_feedback(&mut window, &feedback(77.0, 0.0, 1900, 2700));
        dctcp.on_ack(&mut window, &Ack::of(Time::ZERO, 77.0, Time::from_ms(10)));
        assert_eq!(window.cwnd, 78.0);
    }

    #[test]
    fn a_loss_halves_the_window() {
        let mut dctcp = Dctcp::new(&Parameters::default());
        let mut window = Window { cwnd: 41.0, ssthresh: 1.0 };
        dctcp.on_loss(&mut window, 41.0, Time::ZERO);
        assert_eq!(window, Window { cwnd: 20.0, ssthresh: 20.0 });
    }

    /// Two segments remain; a recovery reduces by itself. All of what was delivered is marked at most.
    #[test]
    fn marks_have_their_bounds() {
        for (cwnd, is_recovering, want) in
            [(3.0, false, 2.0), (30.0, true, 30.0), (30.0, false, 15.0)]
        {
            let mut dctcp = Dctcp::new(&Parameters::default());
            let mut window = Window { cwnd, ssthresh: 1.0 };
            let marked = EcnFeedback { is_recovering, ..feedback(1.0, 5.0, 1, 161) };
            dctcp.on_feedback(&mut window, &marked);
            assert_eq!((window.cwnd, dctcp.alpha), (want, 1.0));
        }
    }

    /// A window of data in which nothing is delivered leaves the average, and a timeout one segment.
    #[test]
    fn nothing_delivered_says_nothing() {
        let mut dctcp = Dctcp::new(&Parameters { gain: 0.5, initial_alpha: 0.25 });
        let mut window = Window { cwnd: 16.0, ssthresh: 1.0 };
        dctcp.on_feedback(&mut window, &feedback(0.0, 0.0, 0, 161));
        assert_eq!((dctcp.alpha, dctcp.window_end), (0.25, 161));
        dctcp.on_feedback(&mut window, &feedback(0.5, 0.0, 161, 321));
        assert_eq!((dctcp.alpha, dctcp.window_end), (0.125, 321));
        dctcp.on_timeout(&mut window, 16.0, Time::ZERO);
        assert_eq!(window, Window { cwnd: 1.0, ssthresh: 8.0 });
    }

    /// Half of 1, as nothing is marked before.
    #[test]
    fn the_first_feedback_is_all_of_its_window() {
        let mut dctcp = Dctcp::new(&Parameters { gain: 0.5, initial_alpha: 1.0 });
        let mut window = Window { cwnd: 16.0, ssthresh: 1.0 };
        dctcp.on_feedback(&mut window, &feedback(16.0, 0.0, 1, 161));
        assert_eq!(dctcp.alpha, 0.5);
    }

    #[test]
    fn a_window_grows_before_there_is_feedback() {
        let mut dctcp = Dctcp::new(&Parameters::default());
        let mut window = Window { cwnd: 10.0, ssthresh: 1e9 };
        dctcp.on_ack(&mut window, &Ack::of(Time::ZERO, 2.0, Time::from_ms(10)));
        assert_eq!(window.cwnd, 12.0);
    }
}
