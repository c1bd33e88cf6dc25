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
const BURST: Time = Time::from_ps(244_140_625);
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
        window.cwnd = goal.clamp(window.cwnd - 1.0, window.cwnd + 1.0);
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

    fn on_undo(&mut self, window: &mut Window, before: &Window) {
        window.raise_to(before);
        (self.exact, self.set) = (window.cwnd, window.cwnd);
        (self.grows_from, self.reacts_from) = (Time::ZERO, Time::ZERO);
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

    /// A needless reduction gives back window and threshold, and the window grows at once.
    #[test]
    fn a_needless_reduction_is_undone() {
        let (mut prague, mut window) = prague(None, 40.0);
        window.ssthresh = 30.0;
        let before = window;
        prague.on_loss(&mut window, 40.0, MS(10));
        prague.on_undo(&mut window, &before);
        assert_eq!(window, before);
        prague.follow(&window);
        assert_eq!((prague.exact, prague.grows_from), (40.0, Time::ZERO));
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

    /// The endpoint may set a smaller window after a recovery; a larger one does not count.
    #[test]
    fn it_follows_a_window_that_was_made_smaller() {
        for (cwnd, exact, want) in [(20.0, 40.0, 20.0), (30.0, 25.5, 25.5), (40.0, 30.0, 30.0)] {
            let (mut prague, mut window) = prague(Some(0.0), 40.0);
            (prague.exact, window.cwnd) = (exact, cwnd);
            prague.follow(&window);
            assert_eq!((prague.exact, prague.set), (want, cwnd));
        }
        let (mut prague, mut window) = prague(Some(0.0), 40.0);
        prague.exact = 45.0; // its own window is no reason to follow it
        prague.follow(&window);
        assert_eq!(prague.exact, 45.0);
        window.cwnd = 20.0;
        prague.on_feedback(
            &mut window,
            &EcnFeedback { is_recovering: true, ..feedback(MS(1), 1.0, 1.0) },
        );
        assert_eq!((prague.exact, window.cwnd), (45.0, 20.0));
        prague.alpha = Some(1.0);
        prague.on_feedback(&mut window, &feedback(MS(1), 1.0, 0.0)); // nor does anything but a mark
        assert_eq!((prague.exact, window.cwnd), (20.0, 20.0));
    }

    /// A round is over when all is acknowledged that was sent at its start, and the pace of 25 ms has passed. The first four
    /// rounds after slow start have the pace of the round trip.
    #[test]
    fn the_share_is_measured_in_rounds() {
        for (una, ms, rounds, (delivered, marked), in_slow_start, want) in [
            (150, 125, 9, (6.0, 1.0), false, (0.1, 10)), // 4 + 6, of which 2: 0.1 + (0.2 - 0.1)/16
            (149, 125, 9, (6.0, 1.0), false, (0.1, 9)),
            (150, 124, 9, (6.0, 1.0), false, (0.1, 9)),
            (150, 124, 4, (6.0, 1.0), false, (0.1, 4)),
            (150, 124, 3, (6.0, 1.0), false, (0.1, 4)),
            (150, 110, 3, (6.0, 1.0), false, (0.1, 4)),
            (150, 109, 3, (6.0, 1.0), false, (0.1, 3)),
            (150, 125, 9, (-4.0, 0.0), false, (0.1, 9)), // nothing was delivered
            (150, 125, 9, (6.0, 1.0), true, (0.1, 0)),
            (150, 125, 9, (6.0, 99.0), false, (0.1, 10)),
        ] {
            let (mut prague, mut window) = prague(Some(0.1), 40.0);
            window.ssthresh = if in_slow_start { 1e3 } else { 1.0 };
            (prague.srtt, prague.rounds) = (MS(10), rounds);
            prague.round = Round { start: MS(100), end: 150, delivered: 4.0, marked: 1.0 };
            let given = EcnFeedback { una, ..feedback(MS(ms), delivered, marked) };
            prague.measure(&window, &given);
            let is_over = want.1 != rounds;
            let share = if marked > 9.0 { 1.0 } else { 0.2 };
            let alpha = if is_over { 0.1 + (share - 0.1) / 16.0 } else { want.0 };
            assert!((prague.alpha.unwrap() - alpha).abs() < 1e-9, "{una} {ms} {rounds}");
            assert_eq!(prague.rounds, want.1);
            let Round { start, end, delivered: left, .. } = prague.round;
            let round = if is_over { (MS(ms), 200, 0.0) } else { (MS(100), 150, 4.0 + delivered) };
            assert_eq!((start, end, left), round);
        }
    }

    /// Half the share, two segments at least, and nothing before the pace has passed.
    #[test]
    fn a_reaction_is_bounded_and_paced() {
        for (alpha, exact, now, want) in [
            (Some(0.5), 40.0, 200, (30.0, Some(0.5), 225)),
            (Some(0.5), 40.0, 199, (40.0, Some(0.5), 200)),
            (Some(1.0), 3.0, 200, (2.0, Some(1.0), 225)),
            (None, 40.0, 200, (20.0, Some(0.25), 225)),
        ] {
            let (mut prague, mut window) = prague(alpha, exact);
            (prague.srtt, prague.reacts_from, prague.initial_alpha) = (MS(10), MS(200), 0.25);
            prague.react(&mut window, MS(now));
            assert_eq!(
                (prague.exact, prague.alpha, prague.reacts_from),
                (want.0, want.1, MS(want.2))
            );
            assert_eq!(window.ssthresh, if now < 200 { 1.0 } else { want.0 });
        }
    }

    /// (5/25)^2 of a segment; one where the round trip is as long as the virtual one, where there is none, and at first.
    #[test]
    fn growth_is_that_of_the_virtual_round_trip() {
        for (srtt, rounds, independent, want) in [
            (5, 4, true, 0.04),
            (25, 4, true, 1.0),
            (30, 4, true, 1.0),
            (5, 3, true, 1.0),
            (5, 4, false, 1.0),
        ] {
            let config = TcpOptions::default().resolve(Dialect::Linux);
            let keys = Parameters { rtt_independence: independent, ..Parameters::default() };
            let mut prague = Prague::new(&keys, &config.connection());
            (prague.srtt, prague.rounds) = (MS(srtt), rounds);
            assert!((prague.growth() - want).abs() < 1e-9, "{srtt} {rounds}");
        }
    }

    #[test]
    fn the_window_moves_by_one_segment_at_a_time() {
        for (exact, cwnd, want) in [
            (40.2, 40.0, 41.0),
            (50.0, 40.0, 41.0),
            (30.0, 40.0, 39.0),
            (1.0, 1.0, 2.0),
            (0.5, 1.5, 2.0),
            (2.0, 2.0, 2.0),
        ] {
            let (mut prague, mut window) = prague(Some(0.0), exact);
            window.cwnd = cwnd;
            prague.apply(&mut window);
            assert_eq!((window.cwnd, prague.set), (want, want), "{exact} {cwnd}");
        }
    }

    /// 40 * 1448 B in 10 ms, twice that below half of the threshold; two segments and 100 kb/s at least. The first half of the
    /// pace of 25 ms has 3.125 % more, the second less.
    #[test]
    fn the_pace_is_a_window_in_a_round_trip() {
        for (exact, ssthresh, srtt_ms, ms, want) in [
            (40.0, 80.0, 10, 112, Some(5_973_000)),
            (40.0, 80.0, 10, 113, Some(5_611_000)),
            (40.0, 81.0, 10, 112, Some(11_946_000)),
            (1.0, 2.0, 10, 112, Some(298_650)),
            (2.0, 2.0, 1000, 112, Some(12_500)),
            (40.0, 80.0, 0, 112, None),
        ] {
            let (mut prague, mut window) = prague(Some(0.0), exact);
            (window.cwnd, window.ssthresh, prague.srtt) =
                (40.0_f64.min(exact), ssthresh, MS(srtt_ms));
            prague.round.start = MS(100);
            prague.set_rate(&window, MS(ms));
            assert_eq!(prague.pacing_rate(), want, "{exact} {ssthresh} {srtt_ms} {ms}");
        }
    }

    /// Slow start ends at the threshold, growth at the receiver's window; a mark is taken off what grows once.
    #[test]
    fn growth_has_its_bounds() {
        for (cwnd, ssthresh, max_window, want) in [
            (40.0, 1e4, 1e4, 44.0),
            (40.0, 42.5, 1e4, 42.5),
            (40.0, 1e4, 41.0, 41.0),
            (40.0, 1.0, 40.05, 40.05),
        ] {
            let (mut prague, mut window) = prague(Some(0.0), cwnd);
            (window.ssthresh, prague.rounds, prague.marked) = (ssthresh, 0, 1.0);
            let ack = Ack { max_window, ..Ack::of(MS(9), 5.0, MS(10)) };
            prague.on_ack(&mut window, &ack);
            assert!(
                (prague.exact - want).abs() < 1e-9,
                "{ssthresh} {max_window}: {}",
                prague.exact
            );
            assert_eq!((window.cwnd, prague.set, prague.marked), (want.ceil(), want.ceil(), 0.0));
            assert!(prague.pacing_rate().is_some());
        }
        let (mut prague, mut window) = prague(Some(0.0), 40.0);
        (prague.rounds, prague.marked) = (0, 9.0); // more marks than segments
        prague.on_ack(&mut window, &Ack::of(MS(9), 5.0, MS(10)));
        assert_eq!(prague.exact, 40.0);
    }

    #[test]
    fn a_loss_keeps_two_segments_and_a_timeout_one() {
        let (mut prague, mut window) = prague(Some(0.0), 3.0);
        (prague.srtt, prague.rounds) = (MS(10), 9);
        prague.on_loss(&mut window, 7.0, MS(100));
        assert_eq!((window, prague.exact), (Window { cwnd: 2.0, ssthresh: 2.0 }, 2.0));
        assert_eq!((prague.grows_from, prague.reacts_from), (MS(110), MS(125)));
        (window.cwnd, prague.exact) = (8.0, 9.0); // made smaller by the endpoint
        prague.on_timeout(&mut window, 7.0, MS(100));
        assert_eq!(window, Window { cwnd: 1.0, ssthresh: 4.0 });
        assert_eq!((prague.exact, prague.set), (1.0, 1.0));
        // 244 us, a segment at least.
        let burst = prague.burst_limit().unwrap();
        assert_eq!((burst.time, burst.least), (Time::from_ps(244_140_625), 1));
    }
}
