//! Prague, the reference congestion control of L4S (RFC 9331 §4; draft-briscoe-iccrg-prague-congestion-control
//! §2.4; Linux's prague of L4STeam): the window shrinks by half the share of marks, and grows and shrinks
//! at a pace that does not depend on the round trip where that is short.
//!
//! Without accurate feedback no marks come, and what is left is Reno (RFC 9331 §4.2).
//!
//! Left out: the rate form for windows below four segments, and smaller segments below 100 kb/s (the
//! window is two at least); the undo of a reduction for segments that were only late (paths here keep the
//! order); the fallback where a queue marks as RFC 3168 has it, which Linux's has not by default either.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Ack, CongestionControl, CongestionParameters, Connection, Controller, EcnFeedback, Window,
};
use crate::accecn::EcnMode;
use crate::bursts::BurstLimit;
use sojourn_engine::rng::Seed;
use sojourn_engine::units::Time;

/// Weight of a round's share of marks in their average.
const GAIN: f64 = 1.0 / 16.0;
/// What is sent at once: the bytes of 2^-12 s, 244 us, at the pacing rate.
const BURST: Time = Time::from_ps(1_000_000_000_000 >> 12);
/// The least rate: 100 kb/s in bytes per second.
const LEAST_RATE: f64 = 12_500.0;
/// The least window in segments.
const LEAST_WINDOW: f64 = 2.0;

/// Parameters of Prague.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Prague")]
pub struct Parameters {
    /// Whether a connection with a round trip below `virtual_rtt_ms` grows and reacts as if its
    /// round trip were that long.
    pub rtt_independence: bool,
    /// Round trip in ms below which the rate no longer depends on the round trip.
    #[schemars(range(min = 1.0, max = 100.0))]
    pub virtual_rtt_ms: f64,
    /// The average share of marks from the first mark on, at which the window is halved: Linux begins
    /// with 0, and the draft also allows 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub initial_alpha: f64,
    /// Rounds after slow start in which growth still depends on the round trip (Linux' version 0.7: 4;
    /// 0.6: 500).
    #[schemars(range(min = 0, max = 1_000_000))]
    pub dependent_rounds: u32,
    /// Variation of the pacing rate in percent: in the first half of a round it is above its mean
    /// by this much, in the second half below (Linux' version 0.7: 4/128; 0.6: 0).
    #[schemars(range(min = 0.0, max = 50.0))]
    pub wobble_percent: f64,
    /// Segments that leave together even if they take longer than 244 us at the pacing rate (Linux'
    /// version 0.7: 1; 0.6: 2, its net.ipv4.tcp_min_tso_segs).
    #[schemars(range(min = 1, max = 100))]
    pub least_burst_segments: u32,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            rtt_independence: true,
            virtual_rtt_ms: 25.0,
            initial_alpha: 0.0,
            dependent_rounds: 4,
            wobble_percent: 100.0 * 4.0 / 128.0,
            least_burst_segments: 1,
        }
    }
}

impl CongestionParameters for Parameters {
    fn start(&self, connection: &Connection, _seed: Seed) -> Controller {
        Prague::new(self, connection).into()
    }

    fn is_scalable(&self) -> bool {
        true
    }

    fn is_paced(&self) -> bool {
        true
    }

    fn usual_ecn(&self) -> EcnMode {
        EcnMode::L4s
    }
}

/// A round, in which the share of marks is measured.
#[derive(Default)]
struct Round {
    start: Time,
    /// The end of what was sent at its start.
    end: u64,
    delivered: f64,
    marked: f64,
}

/// Prague.
pub struct Prague {
    virtual_rtt: Time,
    initial_alpha: f64,
    dependent_rounds: u32,
    wobble: f64,
    burst: BurstLimit,
    mss: f64,
    /// The window as a real number; what is used of it is in whole segments.
    exact: f64,
    /// The window as it was last set.
    set: f64,
    /// The average share of marks; none before the first mark.
    alpha: Option<f64>,
    round: Round,
    /// Rounds since slow start.
    rounds: u32,
    srtt: Time,
    /// When marks may reduce the window again.
    reacts_from: Time,
    /// Until when it does not grow after a loss.
    grows_from: Time,
    /// Of the acknowledgement at hand.
    marked: f64,
    rate: Option<u64>,
}

impl Prague {
    fn new(parameters: &Parameters, connection: &Connection) -> Self {
        let virtual_rtt = Time::from_secs_f64(parameters.virtual_rtt_ms / 1e3);
        Self {
            virtual_rtt: if parameters.rtt_independence { virtual_rtt } else { Time::ZERO },
            initial_alpha: parameters.initial_alpha,
            dependent_rounds: parameters.dependent_rounds,
            wobble: parameters.wobble_percent / 100.0,
            burst: BurstLimit { time: BURST, least: parameters.least_burst_segments.into() },
            mss: connection.mss as f64,
            exact: connection.initial_window,
            set: connection.initial_window,
            alpha: None,
            round: Round::default(),
            rounds: 0,
            srtt: Time::ZERO,
            reacts_from: Time::ZERO,
            grows_from: Time::ZERO,
            marked: 0.0,
            rate: None,
        }
    }

    /// Does it depend on the round trip, as in the first rounds after slow start?
    fn is_dependent(&self) -> bool {
        self.rounds < self.dependent_rounds
    }

    /// The round trip that paces the control: the measured one, or the virtual one if that is longer.
    fn pace(&self) -> Time {
        if self.is_dependent() { self.srtt } else { self.srtt.max(self.virtual_rtt) }
    }

    /// The endpoint too sets the window: after a recovery, or an idle time. What is smaller holds.
    fn follow(&mut self, window: &Window) {
        if window.cwnd != self.set {
            self.exact = self.exact.min(window.cwnd);
            self.set = window.cwnd;
        }
    }

    /// The share of marks, once a round trip and the virtual one have passed.
    fn measure(&mut self, window: &Window, feedback: &EcnFeedback) {
        let pace = self.pace();
        let round = &mut self.round;
        round.delivered += feedback.delivered;
        round.marked += feedback.marked;
        let is_over = feedback.una >= round.end && feedback.now.since(round.start) >= pace;
        if !is_over || round.delivered == 0.0 {
            return;
        }
        let share = (round.marked / round.delivered).min(1.0);
        self.alpha = self.alpha.map(|alpha| alpha + GAIN * (share - alpha));
        self.rounds = if window.in_slow_start() { 0 } else { self.rounds.saturating_add(1) };
        self.round = Round { start: feedback.now, end: feedback.nxt, ..Round::default() };
    }

    /// By half the share of marks, once a round; the first mark ends slow start with half the window.
    fn react(&mut self, window: &mut Window, now: Time) {
        if now < self.reacts_from {
            return;
        }
        let share = self.alpha.unwrap_or(1.0);
        self.alpha.get_or_insert(self.initial_alpha);
        self.exact = (self.exact * (1.0 - share / 2.0)).max(LEAST_WINDOW);
        window.ssthresh = self.exact;
        self.reacts_from = now + self.pace();
    }

    /// Segments of growth per window: one, or less in a round trip shorter than the virtual one.
    fn growth(&self) -> f64 {
        if self.srtt >= self.virtual_rtt || self.is_dependent() {
            return 1.0;
        }
        let ratio = self.srtt.secs_f64() / self.virtual_rtt.secs_f64();
        ratio * ratio
    }

    /// Whole segments, moved by one at a time.
    fn apply(&mut self, window: &mut Window) {
        let goal = self.exact.ceil().max(LEAST_WINDOW);
        window.cwnd = goal.clamp((window.cwnd - 1.0).max(1.0), window.cwnd + 1.0);
        self.set = window.cwnd;
    }

    /// A window per round trip, twice that while it doubles, and a little more and then less in a round,
    /// so that a queue that marks by a step marks part of it.
    fn set_rate(&mut self, window: &Window, now: Time) {
        if self.srtt == Time::ZERO {
            return;
        }
        let per_rtt = self.exact.max(LEAST_WINDOW) * self.mss / self.srtt.secs_f64();
        let gain = if window.cwnd < window.ssthresh / 2.0 { 2.0 } else { 1.0 };
        let is_early = now.since(self.round.start) < self.pace().scaled(0.5);
        let wobble = if is_early { 1.0 + self.wobble } else { 1.0 - self.wobble };
        self.rate = Some((per_rtt * gain * wobble).max(LEAST_RATE) as u64);
    }
}

impl CongestionControl for Prague {
    fn on_feedback(&mut self, window: &mut Window, feedback: &EcnFeedback) {
        self.srtt = feedback.srtt;
        self.marked = feedback.marked;
        self.measure(window, feedback);
        if !feedback.is_recovering {
            self.follow(window);
            if feedback.marked > 0.0 {
                self.react(window, feedback.now);
            }
            self.apply(window);
        }
        self.set_rate(window, feedback.now);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.srtt = ack.srtt;
        self.follow(window);
        let unmarked = (ack.segments - std::mem::take(&mut self.marked)).max(0.0);
        if window.in_slow_start() {
            self.exact = (self.exact + unmarked).min(window.ssthresh);
            self.exact = self.exact.min(ack.max_window);
            window.cwnd = self.exact.ceil();
            self.set = window.cwnd;
        } else if ack.now >= self.grows_from {
            self.exact += unmarked * self.growth() / self.exact;
            self.exact = self.exact.min(ack.max_window);
            self.apply(window);
        }
        self.set_rate(window, ack.now);
    }

    fn on_loss(&mut self, window: &mut Window, _flight: f64, now: Time) {
        self.follow(window);
        self.exact = (self.exact / 2.0).max(LEAST_WINDOW);
        window.ssthresh = self.exact;
        window.cwnd = self.exact;
        self.grows_from = now + self.srtt;
        self.reacts_from = now + self.pace();
    }

    fn on_timeout(&mut self, window: &mut Window, flight: f64, now: Time) {
        self.on_loss(window, flight, now);
        (self.exact, self.set, window.cwnd) = (1.0, 1.0, 1.0);
    }

    fn pacing_rate(&self) -> Option<u64> {
        self.rate
    }

    fn burst_limit(&self) -> Option<BurstLimit> {
        Some(self.burst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TcpOptions;
    use sojourn_engine::dialect::Dialect;

    const MS: fn(u64) -> Time = Time::from_ms;

    fn prague(alpha: Option<f64>, cwnd: f64) -> (Prague, Window) {
        let config = TcpOptions::default().resolve(Dialect::Linux);
        let mut prague = Prague::new(&Parameters::default(), &config.connection());
        (prague.alpha, prague.exact, prague.set, prague.rounds) = (alpha, cwnd, cwnd, 9);
        (prague, Window { cwnd, ssthresh: 1.0 })
    }

    fn feedback(now: Time, delivered: f64, marked: f64) -> EcnFeedback {
        let (una, nxt, srtt) = (100, 200, MS(10));
        EcnFeedback { now, delivered, marked, una, nxt, srtt, is_recovering: false }
    }

    /// 40 * (1 - 0.1/2) = 38; the next 25 ms marks change nothing but their share: of 4 + 6 delivered in 25
    /// ms 2 were marked, 0.1 + (0.2 - 0.1)/16 = 0.10625. Then 38 * (1 - 0.053125) = 35.98.
    #[test]
    fn it_reacts_to_half_the_share_once_a_virtual_round_trip() {
        let (mut prague, mut window) = prague(Some(0.1), 40.0);
        prague.round.start = MS(100);
        prague.on_feedback(&mut window, &feedback(MS(101), 4.0, 1.0));
        assert!((prague.exact - 38.0).abs() < 1e-9);
        assert_eq!(window.cwnd, 39.0, "one at a time");
        prague.on_feedback(&mut window, &feedback(MS(125), 6.0, 1.0));
        assert!((prague.exact - 38.0).abs() < 1e-9);
        assert!((prague.alpha.unwrap() - 0.10625).abs() < 1e-9);
        assert_eq!(window.cwnd, 38.0);
        prague.on_feedback(&mut window, &feedback(MS(126), 2.0, 1.0));
        assert!((prague.exact - 35.98125).abs() < 1e-9);
    }

    /// In the first four rounds the measured 10 ms count: 38 * (1 - 0.1/2) after a second reaction.
    #[test]
    fn at_first_it_reacts_once_a_round_trip() {
        let (mut prague, mut window) = prague(Some(0.1), 40.0);
        prague.rounds = 0;
        prague.round = Round { start: MS(100), end: 900, ..Round::default() };
        for (now, want) in [(MS(101), 38.0), (MS(110), 38.0), (MS(111), 36.1)] {
            prague.on_feedback(&mut window, &feedback(now, 4.0, 1.0));
            assert!((prague.exact - want).abs() < 1e-9, "{now:?}: {}", prague.exact);
        }
    }

    /// Slow start counts what is not marked; the first mark halves the window and begins the average.
    #[test]
    fn the_first_mark_ends_slow_start_with_half_the_window() {
        let (mut prague, mut window) = prague(None, 40.0);
        window.ssthresh = 1e4;
        prague.on_ack(&mut window, &Ack::of(MS(1), 2.0, MS(10)));
        assert_eq!(window.cwnd, 42.0);
        prague.on_feedback(&mut window, &feedback(MS(2), 2.0, 1.0));
        assert_eq!((prague.exact, window.ssthresh, prague.alpha), (21.0, 21.0, Some(0.0)));
        assert!(!window.in_slow_start());
    }

    /// With 40 segments, one of which was marked: 39/40 of a segment in the first rounds; later
    /// (10/25)^2 = 0.16 of that.
    #[test]
    fn growth_is_for_what_is_unmarked_and_as_in_a_round_trip_of_25_ms() {
        for (rounds, want) in [(3, 0.975), (4, 0.156)] {
            let (mut prague, mut window) = prague(Some(0.0), 40.0);
            (prague.rounds, prague.reacts_from) = (rounds, MS(500));
            prague.round.start = MS(100);
            prague.on_feedback(&mut window, &feedback(MS(101), 40.0, 1.0));
            prague.on_ack(&mut window, &Ack::of(MS(101), 40.0, MS(10)));
            assert!((prague.exact - 40.0 - want).abs() < 1e-9, "{rounds}: {}", prague.exact);
            assert_eq!(window.cwnd, 41.0);
        }
    }

    /// 40 * 1448 B in 10 ms are 5.792 MB/s: 3.125 % more in the first 12.5 ms of a round, less later.
    #[test]
    fn the_pace_wobbles_in_a_round() {
        let (mut prague, mut window) = prague(Some(0.0), 40.0);
        prague.round = Round { start: MS(100), end: 150, ..Round::default() };
        for (now, want) in [(MS(112), 5_973_000), (MS(113), 5_611_000)] {
            prague.on_feedback(&mut window, &feedback(now, 0.0, 0.0));
            assert_eq!(prague.pacing_rate(), Some(want));
        }
    }

    /// Half the window, and none of the growth of the next round trip.
    #[test]
    fn a_loss_halves_the_window() {
        let (mut prague, mut window) = prague(Some(0.0), 41.0);
        (prague.srtt, prague.rounds) = (MS(10), 0);
        prague.on_loss(&mut window, 7.0, MS(100));
        assert_eq!(window, Window { cwnd: 20.5, ssthresh: 20.5 });
        prague.on_ack(&mut window, &Ack::of(MS(109), 20.0, MS(10)));
        assert_eq!(prague.exact, 20.5);
        prague.on_ack(&mut window, &Ack::of(MS(110), 20.0, MS(10)));
        assert!((prague.exact - 20.5 - 20.0 / 20.5).abs() < 1e-9);
    }
}
