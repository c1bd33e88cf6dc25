//! BBR, version 3, by draft-ietf-ccwg-bbr (August 2026): a model of the path with the largest rate of delivery
//! of two probing cycles, the least round trip, and bounds on what may be in flight, which losses move.
//!
//! The laws are named by the draft's sections. All volumes are in segments and all rates in segments per
//! second, as the sender of dialect `linux` counts; the draft has bytes. The bounds that losses move and what
//! probing does with them are in bbr3_model.rs.
//!
//! Left out: anything about ECN, of which the draft says nothing. The wait for the next probe, which the draft
//! draws at random, comes from the clock, so that runs repeat.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bbr3_model::{BETA, Bounds, Feedback, FullPipe, MaxBandwidth, MinRtt};
use super::draw::{fraction, mixed};
use super::windowed_max::WindowedMax;
use super::{
    Ack, CongestionControl, CongestionParameters, Connection, Controller, Restart, Window,
};
use crate::bursts::BurstLimit;
use crate::rate::{LossPhase, LostSegment, RateSample};
use sojourn_engine::rng::Seed;
use sojourn_engine::units::Time;

/// draft "Startup Dynamics": 4 ln 2.
const STARTUP_GAIN: f64 = 2.77;
/// draft "Drain".
const DRAIN_GAIN: f64 = 0.5;
/// draft "Summary of Control Behavior".
const DOWN_GAIN: f64 = 0.9;
const UP_GAIN: f64 = 1.25;
const CWND_GAIN: f64 = 2.0;
const UP_CWND_GAIN: f64 = 2.25;
const PROBE_RTT_CWND_GAIN: f64 = 0.5;
/// draft "MinPipeCwnd", in segments.
pub(super) const LEAST_WINDOW: f64 = 4.0;
/// draft "PacingMarginPercent".
const PACING_SHARE: f64 = 0.99;
/// draft "Drain": it ends after three rounds at the latest.
const DRAIN_ROUNDS: u64 = 3;
/// draft "BBRStartupFullLossCnt": separate losses of a round that end Startup.
const STARTUP_LOSSES: u64 = 6;
/// draft "ProbeRTTDuration".
const PROBE_RTT_TIME: Time = Time::from_ms(200);
/// draft "ExtraAckedFilterLen".
const EXTRA_ROUNDS: u64 = 10;
/// draft "Time Scale for Bandwidth Probing": at the latest after so many rounds, as Reno would probe, or
/// after this time and up to a second more.
const RENO_ROUNDS: u64 = 63;
const PROBE_WAIT: Time = Time::from_s(2);
/// draft "TCP Offload Budget".
const BUDGET_BURSTS: u64 = 3;
/// draft "InitPacingRate": without a round trip.
const NOMINAL_RTT: Time = Time::from_ms(1);

/// BBR version 3 has no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Bbr3")]
pub struct Parameters {}

impl CongestionParameters for Parameters {
    fn start(&self, connection: &Connection, _seed: Seed) -> Controller {
        Bbr3::new(connection).into()
    }

    fn wants_samples(&self) -> bool {
        true
    }
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) enum State {
    #[default]
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

/// BBR version 3.
#[derive(Default)]
pub struct Bbr3 {
    pub(super) state: State,
    mss: u64,
    initial_window: f64,
    rounds: u64,
    next_round: u64,
    is_round_start: bool,
    pub(super) max_bandwidth: MaxBandwidth,
    bandwidth: f64,
    min_rtt: MinRtt,
    pub(super) full: FullPipe,
    pub(super) bounds: Bounds,
    feedback: Feedback,
    is_probe_sample: bool,
    was_too_high: bool,
    was_precautionary: bool,
    /// Segments delivered for each segment that the long bound grows by; what counts towards the next.
    per_step: f64,
    towards_step: f64,
    probe_rounds: u32,
    rounds_since_probe: u64,
    probe_wait: Time,
    cycle_at: Time,
    drain_round: u64,
    probe_rtt_until: Option<Time>,
    is_probe_rtt_round_over: bool,
    pub(super) extra: WindowedMax,
    extra_since: Time,
    extra_delivered: u64,
    prior_cwnd: f64,
    /// The state and the bounds before the first loss of a round.
    unreduced: (State, [f64; 3]),
    was: LossPhase,
    pub(super) is_restarting: bool,
    has_rtt: bool,
    /// Bytes per second.
    rate: u64,
}

impl Bbr3 {
    pub(super) fn new(connection: &Connection) -> Self {
        let Connection { mss, initial_window, .. } = *connection;
        Self { mss, initial_window, ..Self::default() }
    }

    /// draft "Summary of Control Behavior in the State Machine".
    pub(super) fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => STARTUP_GAIN,
            State::Drain => DRAIN_GAIN,
            State::Down => DOWN_GAIN,
            State::Up => UP_GAIN,
            State::Cruise | State::Refill | State::ProbeRtt => 1.0,
        }
    }

    pub(super) fn cwnd_gain(&self) -> f64 {
        match self.state {
            State::Up => UP_CWND_GAIN,
            State::ProbeRtt => PROBE_RTT_CWND_GAIN,
            _ => CWND_GAIN,
        }
    }

    fn is_cycling(&self) -> bool {
        matches!(self.state, State::Down | State::Cruise | State::Refill | State::Up)
    }

    /// draft "BDPMultiple".
    fn product(&self, per_second: f64, gain: f64) -> f64 {
        let rtt = self.min_rtt.get();
        rtt.map_or(self.initial_window, |rtt| gain * per_second * rtt.secs_f64())
    }

    /// draft "QuantizationBudget".
    fn with_room(&self, segments: f64) -> f64 {
        let budget = BUDGET_BURSTS * BurstLimit::of_bbr(self.rate).segments(self.rate, self.mss);
        let room = segments.max(budget as f64).max(LEAST_WINDOW);
        if self.state == State::Up { room + 2.0 } else { room }
    }

    /// draft "Inflight".
    pub(super) fn inflight(&self, per_second: f64) -> f64 {
        self.with_room(self.product(per_second, 1.0))
    }

    /// draft "TargetInflight".
    fn target(&self, cwnd: f64) -> f64 {
        self.product(self.bandwidth, 1.0).min(cwnd)
    }

    /// draft "HandleLostPacket".
    fn on_segment_lost(&mut self, lost: &LostSegment, window: &Window, sample: &RateSample) {
        let is_first = self.bounds.note_loss(lost.number, sample.delivered);
        if is_first {
            self.save_cwnd(window);
            self.unreduced = (self.state, self.bounds.saved());
        }
        let LostSegment { in_flight_then, lost_since, is_app_limited, .. } = *lost;
        if self.is_probe_sample && Bounds::is_too_high(lost_since, in_flight_then) {
            let inflight = Bounds::inflight_at_loss(lost_since, in_flight_then);
            self.on_inflight_too_high(inflight, is_app_limited, window, sample);
        }
    }

    /// draft "HandleInflightTooHigh": once per probe.
    fn on_inflight_too_high(
        &mut self,
        inflight: f64,
        is_app_limited: bool,
        window: &Window,
        sample: &RateSample,
    ) {
        self.was_too_high = true;
        self.is_probe_sample = false;
        if !is_app_limited {
            self.bounds.inflight_long = inflight.max(self.target(window.cwnd) * BETA).floor();
        }
        if self.state == State::Up {
            self.start_down(sample.now, sample.delivered);
        }
    }

    /// draft "UpdateRound".
    fn update_round(&mut self, sample: &RateSample) {
        self.is_round_start = false;
        if sample.rate.is_some_and(|rate| rate.prior_delivered >= self.next_round) {
            self.next_round = sample.delivered;
            self.rounds += 1;
            self.rounds_since_probe += 1;
            self.is_round_start = true;
        }
    }

    /// draft "UpdateACKAggregation".
    fn update_aggregation(&mut self, sample: &RateSample, cwnd: f64) {
        let expect = |since: Time| (sample.now.since(since).secs_f64() * self.bandwidth).floor();
        let mut expected = expect(self.extra_since);
        if self.extra_delivered as f64 <= expected {
            (self.extra_since, self.extra_delivered) = (sample.now, 0);
            expected = 0.0;
        }
        self.extra_delivered += sample.newly_delivered;
        let extra = (self.extra_delivered as f64 - expected).min(cwnd);
        let window = if self.full.is_reached { EXTRA_ROUNDS } else { 1 };
        self.extra.take(self.rounds, extra, window);
    }

    /// draft "Exiting Startup Based on Packet Loss".
    fn check_startup(&mut self, sample: &RateSample) {
        if self.state != State::Startup {
            return;
        }
        let is_too_high =
            sample.rate.is_some_and(|r| Bounds::is_too_high(r.lost_since, r.in_flight_then));
        let has_many = self.bounds.separate_losses >= STARTUP_LOSSES;
        let is_recovering = sample.phase == LossPhase::Recovery;
        if self.bounds.is_round_start && is_recovering && has_many && is_too_high {
            (self.full.is_now, self.full.is_reached) = (true, true);
            let product = self.product(self.bandwidth, 1.0);
            self.bounds.inflight_long = product.max(self.bounds.inflight_latest).floor();
        }
        if self.full.is_reached {
            (self.state, self.drain_round) = (State::Drain, self.rounds);
        }
    }

    /// draft "CheckDrainDone".
    fn check_drain(&mut self, sample: &RateSample) {
        let is_drained = sample.in_flight as f64 <= self.inflight(self.bandwidth);
        let is_over = is_drained || self.rounds > self.drain_round + DRAIN_ROUNDS;
        if self.state == State::Drain && is_over {
            self.start_down(sample.now, sample.delivered);
        }
    }

    /// draft "StartProbeBW_DOWN" and "PickProbeWait".
    fn start_down(&mut self, now: Time, delivered: u64) {
        self.bounds.reset_signals();
        self.per_step = f64::INFINITY;
        self.rounds_since_probe = mixed(now) % 2;
        self.probe_wait = PROBE_WAIT + Time::from_s(1).scaled(fraction(now));
        self.cycle_at = now;
        self.feedback = Feedback::Stopping;
        self.next_round = delivered;
        self.state = State::Down;
    }

    fn start_refill(&mut self, sample: &RateSample) {
        self.bounds.reset_short();
        (self.probe_rounds, self.towards_step) = (0, 0.0);
        self.was_precautionary = false;
        self.feedback = Feedback::Refilling;
        self.next_round = sample.delivered;
        self.state = State::Refill;
    }

    fn start_up(&mut self, sample: &RateSample, cwnd: f64) {
        self.next_round = sample.delivered;
        self.full.reset(sample.rate.as_ref());
        self.begin_up(cwnd);
    }

    fn begin_up(&mut self, cwnd: f64) {
        self.is_probe_sample = true;
        self.feedback = Feedback::Starting;
        self.state = State::Up;
        self.steepen(cwnd);
    }

    /// draft "RaiseInflightLongtermSlope".
    fn steepen(&mut self, cwnd: f64) {
        self.per_step = (cwnd / f64::from(1u32 << self.probe_rounds)).max(1.0);
        self.probe_rounds = (self.probe_rounds + 1).min(30);
    }

    /// draft "ProbeInflightLongtermUpward".
    fn probe_upward(&mut self, sample: &RateSample, cwnd: f64) {
        if !sample.is_window_limited || cwnd < self.bounds.inflight_long {
            return;
        }
        self.towards_step += sample.newly_delivered as f64;
        if self.towards_step >= self.per_step {
            let steps = (self.towards_step / self.per_step).floor();
            self.towards_step -= steps * self.per_step;
            self.bounds.inflight_long += steps;
        }
        if self.is_round_start {
            self.steepen(cwnd);
        }
    }

    /// draft "AdaptLongTermModel"; says whether the state is decided.
    fn adapt_long(&mut self, sample: &RateSample, cwnd: f64) -> bool {
        let rate = sample.rate.unwrap_or_default();
        if self.feedback == Feedback::Starting && self.is_round_start {
            self.feedback = Feedback::Coming;
        }
        if self.feedback == Feedback::Stopping && self.is_round_start {
            self.is_probe_sample = false;
            self.feedback = Feedback::None;
            if self.is_cycling() && !rate.is_app_limited {
                self.max_bandwidth.advance();
            }
            if self.is_cycling() && self.was_precautionary && !self.was_too_high {
                self.start_refill(sample);
                return true;
            }
        }
        let is_too_high = Bounds::is_too_high(rate.lost_since, rate.in_flight_then);
        if !is_too_high && self.bounds.inflight_long.is_finite() {
            let bound = &mut self.bounds.inflight_long;
            *bound = bound.max(rate.in_flight_then as f64);
            if self.state == State::Up {
                self.probe_upward(sample, cwnd);
            }
        }
        false
    }

    /// draft "UpdateProbeBWCyclePhase".
    fn update_cycle(&mut self, sample: &RateSample, window: &Window) {
        if !self.full.is_reached || self.adapt_long(sample, window.cwnd) {
            return;
        }
        match self.state {
            State::Down | State::Cruise if self.is_time_to_probe(sample.now, window.cwnd) => {
                self.start_refill(sample);
            }
            State::Down if self.is_time_to_cruise(sample) => self.state = State::Cruise,
            State::Refill if self.is_round_start => self.start_up(sample, window.cwnd),
            State::Up => self.check_up(sample, window),
            _ => {}
        }
    }

    /// draft "IsTimeToProbeBW".
    fn is_time_to_probe(&self, now: Time, cwnd: f64) -> bool {
        let rounds = self.target(cwnd).min(RENO_ROUNDS as f64);
        now > self.cycle_at + self.probe_wait || self.rounds_since_probe as f64 >= rounds
    }

    /// draft "IsTimeToCruise".
    fn is_time_to_cruise(&self, sample: &RateSample) -> bool {
        let in_flight = sample.in_flight as f64;
        in_flight <= self.bounds.with_headroom(LEAST_WINDOW)
            && in_flight <= self.inflight(self.max_bandwidth.get())
    }

    /// draft "IsTimeToGoDown".
    fn check_up(&mut self, sample: &RateSample, window: &Window) {
        let bound = self.bounds.inflight_long;
        let is_cautious = self.was_too_high && sample.in_flight as f64 >= bound;
        self.was_precautionary |= is_cautious;
        if !is_cautious && sample.is_window_limited && window.cwnd >= bound {
            self.full.reset(sample.rate.as_ref());
        } else if is_cautious || self.full.is_now {
            self.was_too_high = false;
            self.start_down(sample.now, sample.delivered);
        }
    }

    /// draft "CheckProbeRTT".
    fn check_probe_rtt(&mut self, window: &mut Window, sample: &RateSample) {
        if self.state != State::ProbeRtt && self.min_rtt.is_expired && !self.is_restarting {
            self.save_cwnd(window);
            self.state = State::ProbeRtt;
            self.probe_rtt_until = None;
            self.feedback = Feedback::Stopping;
            self.next_round = sample.delivered;
        }
        if self.state == State::ProbeRtt {
            if self.probe_rtt_until.is_some() {
                self.is_probe_rtt_round_over |= self.is_round_start;
                if self.is_probe_rtt_round_over {
                    self.leave_probe_rtt(window, sample.now, sample.delivered);
                }
            } else if sample.in_flight as f64 <= self.probe_rtt_cwnd() {
                self.probe_rtt_until = Some(sample.now + PROBE_RTT_TIME);
                self.is_probe_rtt_round_over = false;
                self.next_round = sample.delivered;
            }
        }
        if sample.rate.is_some() {
            self.is_restarting = false;
        }
    }

    /// draft "CheckProbeRTTDone" and "ExitProbeRTT".
    fn leave_probe_rtt(&mut self, window: &mut Window, now: Time, delivered: u64) {
        if self.probe_rtt_until.is_none_or(|until| now <= until) {
            return;
        }
        self.min_rtt.probed(now);
        window.cwnd = window.cwnd.max(self.prior_cwnd);
        self.bounds.reset_short();
        if self.full.is_reached {
            self.start_down(now, delivered);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }

    fn probe_rtt_cwnd(&self) -> f64 {
        self.product(self.bandwidth, PROBE_RTT_CWND_GAIN).max(LEAST_WINDOW)
    }

    /// draft "SaveCwnd".
    fn save_cwnd(&mut self, window: &Window) {
        let is_calm = self.was == LossPhase::Open && self.state != State::ProbeRtt;
        self.prior_cwnd = if is_calm { window.cwnd } else { self.prior_cwnd.max(window.cwnd) };
    }

    fn paced(&self, per_second: f64, gain: f64) -> u64 {
        (gain * per_second * self.mss as f64 * PACING_SHARE) as u64
    }

    /// draft "InitPacingRate", which has no margin.
    fn first_rate(&mut self, srtt: Time) {
        self.has_rtt = srtt > Time::ZERO;
        let rtt = if self.has_rtt { srtt } else { NOMINAL_RTT };
        self.rate = (STARTUP_GAIN * self.initial_window * self.mss as f64 / rtt.secs_f64()) as u64;
    }

    /// draft "SetPacingRate".
    fn set_rate(&mut self, gain: f64) {
        let rate = self.paced(self.bandwidth, gain);
        if self.full.is_reached || rate > self.rate {
            self.rate = rate;
        }
    }

    /// draft "SetCwnd"; a recovery that ends gives back the window of before it.
    fn set_cwnd(&mut self, window: &mut Window, sample: &RateSample) {
        if self.was != LossPhase::Open && sample.phase == LossPhase::Open {
            window.cwnd = window.cwnd.max(self.prior_cwnd);
        }
        self.was = sample.phase;
        let product = self.product(self.bandwidth, self.cwnd_gain());
        let most = self.with_room(product + self.extra.get());
        let acknowledged = sample.newly_delivered as f64;
        if self.full.is_reached {
            window.cwnd = (window.cwnd + acknowledged).min(most);
        } else if window.cwnd < most || (sample.delivered as f64) < self.initial_window {
            window.cwnd += acknowledged;
        }
        window.cwnd = window.cwnd.max(LEAST_WINDOW);
        if self.state == State::ProbeRtt {
            window.cwnd = window.cwnd.min(self.probe_rtt_cwnd());
        }
        window.cwnd = window.cwnd.min(self.cap()).min(sample.max_window).floor();
    }

    /// draft "BoundCwndForModel", whose table gives Startup no bound and Drain the long one.
    fn cap(&self) -> f64 {
        let long = match self.state {
            State::Startup => return f64::INFINITY,
            State::Drain | State::Down | State::Refill | State::Up => self.bounds.inflight_long,
            State::Cruise | State::ProbeRtt => self.bounds.with_headroom(LEAST_WINDOW),
        };
        long.min(self.bounds.inflight_short).max(LEAST_WINDOW)
    }
}

impl CongestionControl for Bbr3 {
    fn on_established(&mut self, _window: &mut Window, srtt: Time, now: Time) {
        self.min_rtt = MinRtt::new((srtt > Time::ZERO).then_some(srtt), now);
        self.extra_since = now;
        self.first_rate(srtt);
    }

    /// draft "Per-ACK Steps".
    fn on_sample(&mut self, window: &mut Window, sample: &RateSample) {
        for lost in sample.losses {
            self.on_segment_lost(lost, window, sample);
        }
        self.bounds.update_latest(sample);
        self.update_round(sample);
        if let Some(rate) = &sample.rate {
            self.max_bandwidth.take(rate);
            if self.is_round_start {
                self.full.take(rate);
            }
        }
        self.check_startup(sample);
        let is_probing = matches!(self.state, State::Startup | State::Refill | State::Up);
        self.bounds.adapt(is_probing, self.max_bandwidth.get(), window.cwnd);
        self.update_aggregation(sample, window.cwnd);
        self.check_drain(sample);
        self.update_cycle(sample, window);
        self.min_rtt.take(sample.now, sample.rtt);
        self.check_probe_rtt(window, sample);
        self.bounds.advance_latest(sample);
        self.bandwidth = self.max_bandwidth.get().min(self.bounds.bandwidth_short);
        if !self.has_rtt && sample.srtt > Time::ZERO {
            self.first_rate(sample.srtt);
        }
        self.set_rate(self.pacing_gain());
        self.set_cwnd(window, sample);
    }

    /// draft "HandleProbeRTT": what is sent in ProbeRTT says nothing of the path.
    fn holds_back(&self) -> bool {
        self.state == State::ProbeRtt
    }

    /// draft "HandleRestartFromIdle".
    fn on_restart(&mut self, window: &mut Window, restart: &Restart) {
        let now = restart.now;
        if restart.is_app_limited == Some(true) {
            self.is_restarting = true;
            self.extra_since = now;
            if self.is_cycling() {
                self.set_rate(1.0);
            } else if self.state == State::ProbeRtt {
                self.leave_probe_rtt(window, now, self.next_round);
            }
        }
    }

    fn on_ack(&mut self, _window: &mut Window, _ack: &Ack) {}

    fn on_loss(&mut self, window: &mut Window, _flight: f64, _now: Time) {
        self.save_cwnd(window);
    }

    /// draft "HandleSpuriousLossDetection". The window comes back as after any recovery.
    fn on_undo(&mut self, window: &mut Window, _before: &Window) {
        let (state, bounds) = self.unreduced;
        self.bounds.restore(bounds);
        self.full.reset(None);
        match state {
            _ if self.state == State::ProbeRtt || self.state == state => {}
            State::Startup => self.state = State::Startup,
            State::Up => self.begin_up(window.cwnd),
            _ => {}
        }
    }

    fn on_mark(&mut self, _window: &mut Window, _flight: f64, _now: Time) {}

    /// draft "OnEnterRTO": nothing is in flight then.
    fn on_timeout(&mut self, window: &mut Window, _flight: f64, _now: Time) {
        self.save_cwnd(window);
        self.was = LossPhase::AfterTimeout;
        window.cwnd = 1.0;
    }

    fn pacing_rate(&self) -> Option<u64> {
        Some(self.rate)
    }

    fn burst_limit(&self) -> Option<BurstLimit> {
        Some(BurstLimit::of_bbr(self.rate))
    }
}

#[cfg(test)]
#[path = "bbr3_law_tests.rs"]
mod tests;
