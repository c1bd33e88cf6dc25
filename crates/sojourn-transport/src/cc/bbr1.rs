//! BBR, version 1, as Linux 6.18 has it (draft-cardwell-iccrg-bbr-00; Cardwell et al., "BBR: congestion-based
//! congestion control", 2016): the sender paces at the largest rate of delivery of the last ten
//! rounds, with a window of twice what that rate has under way in the least round trip of ten seconds.
//!
//! Losses do not slow it down, except for one round of packet conservation. Sources per law on its line
//! ("draft" is draft-cardwell-iccrg-bbr-00). Where Linux differs from the draft, it does as Linux.
//!
//! Left out: the smaller burst of one segment below 1.2 Mbps. Linux draws the
//! first phase of the gain cycle at random; here it comes from the clock, so that runs repeat.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::aggregation::Aggregation;
use super::draw::mixed;
use super::policer::Policer;
use super::windowed_max::WindowedMax;
use super::{
    Ack, CongestionControl, CongestionParameters, Connection, Controller, Restart, Window,
};
use crate::bursts::BurstLimit;
use crate::rate::{LossPhase, RateSample};
use sojourn_engine::rng::Seed;
use sojourn_engine::units::Time;

/// The smallest gain that doubles the rate each round, 2/ln 2, in 1/256 as Linux has it (draft §4.2.1).
const HIGH_GAIN: f64 = 739.0 / 256.0;
/// Empties in a round what that has queued (draft §4.3.3).
const DRAIN_GAIN: f64 = 88.0 / 256.0;
/// draft §4.3.4: one phase above the bandwidth, one below it, six at it.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// draft §4.2.3: delayed acknowledgements need a window of twice the bandwidth-delay product.
const CWND_GAIN: f64 = 2.0;
/// Rounds of the bandwidth filter: a cycle and two (draft §4.1.1).
const BANDWIDTH_ROUNDS: u64 = 10;
/// The least round trip is looked for anew after this time (draft §4.1.2, §4.3.5).
const MIN_RTT_TIME: Time = Time::from_s(10);
const PROBE_RTT_TIME: Time = Time::from_ms(200);
/// draft §4.2.3.5: the smallest window, in segments, also that of ProbeRTT.
const LEAST_WINDOW: f64 = 4.0;
/// The pipe is full when the bandwidth has not grown by a quarter in three rounds (draft §4.3.2.1).
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
/// Linux paces 1 % below the rate, so that no queue stays for ever.
const PACING_SHARE: f64 = 0.99;
/// Without a round trip the first rate takes it for 1 ms.
const NOMINAL_RTT: Time = Time::from_ms(1);
/// What comes of aggregation is worth at most this time of the bandwidth.
const LARGEST_EXTRA: Time = Time::from_ms(100);
/// Bursts that the window leaves room for: one here, one at the card, one at the receiver.
const BURSTS: u64 = 3;

/// BBR version 1 has no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Bbr1")]
pub struct Parameters {}

impl CongestionParameters for Parameters {
    fn start(&self, connection: &Connection, _seed: Seed) -> Controller {
        Bbr1::new(connection).into()
    }

    fn wants_samples(&self) -> bool {
        true
    }
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
enum Mode {
    #[default]
    Startup,
    Drain,
    ProbeBandwidth,
    ProbeRtt,
}

/// BBR version 1.
#[derive(Default)]
pub struct Bbr1 {
    mode: Mode,
    mss: u64,
    initial_window: f64,
    /// Segments per second.
    bandwidth: WindowedMax,
    policer: Policer,
    aggregation: Aggregation,
    /// Rounds so far; the next begins when something is delivered that left after so much was delivered.
    rounds: u64,
    next_round: u64,
    is_round_start: bool,
    min_rtt: Option<Time>,
    min_rtt_at: Time,
    /// When ProbeRTT may end, once its window is reached, and whether a round has passed since.
    probe_rtt_until: Option<Time>,
    is_probe_rtt_round_over: bool,
    /// The phase of the gain cycle, and when it began.
    phase: usize,
    phase_at: Time,
    full_bandwidth: f64,
    full_rounds: u32,
    is_full: bool,
    prior_cwnd: f64,
    was: LossPhase,
    conserves: bool,
    /// A timeout is yet to count as a loss.
    timed_out: bool,
    is_restarting: bool,
    has_rtt: bool,
    /// Bytes per second.
    rate: u64,
}

impl Bbr1 {
    fn new(connection: &Connection) -> Self {
        let Connection { mss, initial_window, .. } = *connection;
        Self { mss, initial_window, ..Self::default() }
    }

    fn bandwidth(&self) -> f64 {
        self.policer.rate().unwrap_or(self.bandwidth.get())
    }

    fn pacing_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup => HIGH_GAIN,
            Mode::Drain => DRAIN_GAIN,
            Mode::ProbeBandwidth if self.policer.rate().is_some() => 1.0,
            Mode::ProbeBandwidth => CYCLE[self.phase],
            Mode::ProbeRtt => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup | Mode::Drain => HIGH_GAIN,
            Mode::ProbeBandwidth => CWND_GAIN,
            Mode::ProbeRtt => 1.0,
        }
    }

    /// Bytes per second for a bandwidth in segments.
    fn paced(&self, per_second: f64, gain: f64) -> u64 {
        (per_second * gain * self.mss as f64 * PACING_SHARE) as u64
    }

    fn burst(&self) -> u64 {
        BurstLimit::of_bbr(self.rate).segments(self.rate, self.mss)
    }

    /// draft §4.2.3.2: what is under way at this bandwidth in the least round trip, times the gain.
    fn product(&self, per_second: f64, gain: f64) -> f64 {
        let Some(rtt) = self.min_rtt else { return self.initial_window };
        (per_second * rtt.secs_f64() * gain).ceil()
    }

    /// Room for bursts, in pairs for delayed acknowledgements, and for the phase that probes.
    fn with_room(&self, segments: f64) -> f64 {
        let pairs = ((segments + (BURSTS * self.burst()) as f64) / 2.0).ceil() * 2.0;
        let probes = self.mode == Mode::ProbeBandwidth && self.phase == 0;
        pairs + if probes { 2.0 } else { 0.0 }
    }

    fn inflight(&self, gain: f64) -> f64 {
        self.with_room(self.product(self.bandwidth.get(), gain))
    }

    /// What will be in the network when the next burst leaves.
    fn in_network(&self, in_flight: u64, sample: &RateSample) -> f64 {
        let wait = sample.next_departure.since(sample.now);
        let delivered = (self.bandwidth() * wait.secs_f64()).floor();
        let burst = if self.pacing_gain() > 1.0 { self.burst() } else { 0 };
        ((in_flight + burst) as f64 - delivered).max(0.0)
    }

    /// draft §4.1.1.3: a round ends when something arrives that left after the round had begun.
    fn update_bandwidth(&mut self, sample: &RateSample) {
        self.is_round_start = false;
        let Some(rate) = sample.rate else { return };
        if rate.prior_delivered >= self.next_round {
            self.begin_round(sample);
            self.rounds += 1;
            self.is_round_start = true;
            self.conserves = false;
        }
        let has_losses = std::mem::take(&mut self.timed_out) || sample.newly_lost > 0;
        let seen = (self.is_round_start, has_losses);
        let is_probing = self.mode == Mode::ProbeBandwidth;
        if self.policer.take(sample, seen, is_probing, self.mss) {
            self.probe_bandwidth(sample.now);
        }
        let per_second = rate.per_second();
        // draft §4.1.1.5: what the application limits does not lower the bandwidth.
        if !rate.is_app_limited || per_second >= self.bandwidth.get() {
            self.bandwidth.take(self.rounds, per_second, BANDWIDTH_ROUNDS);
        }
    }

    fn begin_round(&mut self, sample: &RateSample) {
        self.next_round = sample.delivered;
    }

    /// draft §4.3.4.3: which phase comes first; not the one that drains.
    fn probe_bandwidth(&mut self, now: Time) {
        self.mode = Mode::ProbeBandwidth;
        let draw = (mixed(now) % 7) as usize; // 0..=6: all but one of the eight
        self.phase = (CYCLE.len() - draw) % CYCLE.len();
        self.phase_at = now;
    }

    /// draft §4.3.4.4.
    fn update_phase(&mut self, sample: &RateSample) {
        if self.mode != Mode::ProbeBandwidth {
            return;
        }
        let min_rtt = self.min_rtt.unwrap_or(Time::NEVER);
        let is_long = sample.delivered_at.since(self.phase_at) > min_rtt;
        let gain = self.pacing_gain();
        let in_network = self.in_network(sample.prior_in_flight, sample);
        let is_over = if gain > 1.0 {
            is_long && (sample.newly_lost > 0 || in_network >= self.inflight(gain))
        } else if gain < 1.0 {
            is_long || in_network <= self.inflight(1.0)
        } else {
            is_long
        };
        if is_over {
            self.phase = (self.phase + 1) % CYCLE.len();
            self.phase_at = sample.delivered_at;
        }
    }

    /// draft §4.3.2.1.
    fn check_full(&mut self, sample: &RateSample) {
        let is_limited = sample.rate.is_some_and(|rate| rate.is_app_limited);
        if self.is_full || !self.is_round_start || is_limited {
            return;
        }
        let bandwidth = self.bandwidth.get();
        if bandwidth >= self.full_bandwidth * FULL_GROWTH {
            (self.full_bandwidth, self.full_rounds) = (bandwidth, 0);
        } else {
            self.full_rounds += 1;
            self.is_full = self.full_rounds >= FULL_ROUNDS;
        }
    }

    /// draft §4.3.3.
    fn check_drain(&mut self, sample: &RateSample) {
        if self.mode == Mode::Startup && self.is_full {
            self.mode = Mode::Drain;
        }
        let in_network = self.in_network(sample.in_flight, sample);
        if self.mode == Mode::Drain && in_network <= self.inflight(1.0) {
            self.probe_bandwidth(sample.now);
        }
    }

    /// draft §4.1.2.3 and §4.3.5.
    fn update_min_rtt(&mut self, window: &mut Window, sample: &RateSample) {
        let is_old = sample.now > self.min_rtt_at + MIN_RTT_TIME;
        let is_less = self.min_rtt.is_none_or(|least| sample.rtt < least);
        if sample.rtt > Time::ZERO && (is_less || (is_old && !sample.may_be_delayed)) {
            (self.min_rtt, self.min_rtt_at) = (Some(sample.rtt), sample.now);
        }
        if is_old && !self.is_restarting && self.mode != Mode::ProbeRtt {
            self.save_cwnd(window);
            self.mode = Mode::ProbeRtt;
            self.probe_rtt_until = None;
        }
        if self.mode == Mode::ProbeRtt {
            self.probe_rtt(window, sample);
        }
        if sample.rate.is_some() {
            self.is_restarting = false;
        }
    }

    fn probe_rtt(&mut self, window: &mut Window, sample: &RateSample) {
        if self.probe_rtt_until.is_none() {
            if sample.in_flight as f64 <= LEAST_WINDOW {
                self.probe_rtt_until = Some(sample.now + PROBE_RTT_TIME);
                self.is_probe_rtt_round_over = false;
                self.begin_round(sample);
            }
            return;
        }
        self.is_probe_rtt_round_over |= self.is_round_start;
        if self.is_probe_rtt_round_over {
            self.leave_probe_rtt(window, sample.now);
        }
    }

    fn leave_probe_rtt(&mut self, window: &mut Window, now: Time) {
        if self.probe_rtt_until.is_some_and(|until| now > until) {
            self.min_rtt_at = now;
            window.cwnd = window.cwnd.max(self.prior_cwnd);
            if self.is_full {
                self.probe_bandwidth(now);
            } else {
                self.mode = Mode::Startup;
            }
        }
    }

    fn save_cwnd(&mut self, window: &Window) {
        let is_calm = self.was == LossPhase::Open && self.mode != Mode::ProbeRtt;
        self.prior_cwnd = if is_calm { window.cwnd } else { self.prior_cwnd.max(window.cwnd) };
    }

    /// Linux: the first rate is that of the first window, until a round trip is known.
    fn first_rate(&mut self, cwnd: f64, srtt: Time) {
        self.has_rtt = srtt > Time::ZERO;
        let rtt = if self.has_rtt { srtt } else { NOMINAL_RTT };
        self.rate = self.paced(cwnd / rtt.secs_f64(), HIGH_GAIN);
    }

    /// draft §4.2.1: before the pipe is full the rate does not fall.
    fn set_rate(&mut self, cwnd: f64, srtt: Time) {
        if !self.has_rtt && srtt > Time::ZERO {
            self.first_rate(cwnd, srtt);
        }
        let rate = self.paced(self.bandwidth(), self.pacing_gain());
        if self.is_full || rate > self.rate {
            self.rate = rate;
        }
    }

    /// draft §4.2.3.4: one round of packet conservation, and afterwards the window of before. Says
    /// whether the window is settled.
    fn modulate(&mut self, window: &mut Window, sample: &RateSample) -> bool {
        let enters = self.was != LossPhase::Recovery && sample.phase == LossPhase::Recovery;
        let leaves = self.was != LossPhase::Open && sample.phase == LossPhase::Open;
        window.cwnd = (window.cwnd - sample.newly_lost as f64).max(1.0);
        let conserved = (sample.in_flight + sample.newly_delivered) as f64;
        if enters {
            self.conserves = true;
            self.begin_round(sample);
            window.cwnd = conserved;
        } else if leaves {
            window.cwnd = window.cwnd.max(self.prior_cwnd);
            self.conserves = false;
        }
        self.was = sample.phase;
        if self.conserves {
            window.cwnd = window.cwnd.max(conserved);
        }
        self.conserves
    }

    /// draft §4.2.3.
    fn set_cwnd(&mut self, window: &mut Window, sample: &RateSample) {
        let acknowledged = sample.newly_delivered as f64;
        if acknowledged > 0.0 && !self.modulate(window, sample) {
            let most = self.bandwidth() * LARGEST_EXTRA.secs_f64();
            let extra = if self.is_full {
                (self.aggregation.extra() as f64).min(most.floor())
            } else {
                0.0
            };
            let product = self.product(self.bandwidth(), self.cwnd_gain());
            let target = self.with_room(product + extra);
            if self.is_full {
                window.cwnd = (window.cwnd + acknowledged).min(target);
            } else if window.cwnd < target || (sample.delivered as f64) < self.initial_window {
                window.cwnd += acknowledged;
            }
            window.cwnd = window.cwnd.max(LEAST_WINDOW);
        }
        window.cwnd = window.cwnd.min(sample.max_window);
        if self.mode == Mode::ProbeRtt {
            window.cwnd = window.cwnd.min(LEAST_WINDOW);
        }
    }
}

impl CongestionControl for Bbr1 {
    fn on_established(&mut self, window: &mut Window, srtt: Time, now: Time) {
        (self.min_rtt, self.min_rtt_at) = ((srtt > Time::ZERO).then_some(srtt), now);
        self.first_rate(window.cwnd, srtt);
    }

    fn on_sample(&mut self, window: &mut Window, sample: &RateSample) {
        self.update_bandwidth(sample);
        let bandwidth = self.bandwidth();
        self.aggregation.take(sample, bandwidth, self.is_round_start, window.cwnd);
        self.update_phase(sample);
        self.check_full(sample);
        self.check_drain(sample);
        self.update_min_rtt(window, sample);
        self.set_rate(window.cwnd, sample.srtt);
        self.set_cwnd(window, sample);
    }

    /// In ProbeRTT it sends less than the path takes (draft §4.3.5).
    fn holds_back(&self) -> bool {
        self.mode == Mode::ProbeRtt
    }

    fn on_restart(&mut self, window: &mut Window, restart: &Restart) {
        let now = restart.now;
        if restart.is_app_limited == Some(true) {
            // draft §4.3.4.5: what is sent after a silence does not fill a queue.
            self.is_restarting = true;
            self.aggregation.restart(now);
            if self.mode == Mode::ProbeBandwidth {
                self.rate = self.paced(self.bandwidth(), 1.0);
            } else if self.mode == Mode::ProbeRtt {
                self.leave_probe_rtt(window, now);
            }
        }
    }

    fn on_ack(&mut self, _window: &mut Window, _ack: &Ack) {}

    fn on_loss(&mut self, window: &mut Window, _flight: f64, _now: Time) {
        self.save_cwnd(window);
    }

    /// Losses that were none say nothing of a full pipe or a policer. The window comes back as after any recovery.
    fn on_undo(&mut self, _window: &mut Window, _before: &Window) {
        (self.full_bandwidth, self.full_rounds) = (0.0, 0);
        self.policer = Policer::default();
    }

    fn on_mark(&mut self, _window: &mut Window, _flight: f64, _now: Time) {}

    /// A timeout begins the search for the bandwidth of a full pipe anew, and restarts with one segment.
    fn on_timeout(&mut self, window: &mut Window, _flight: f64, _now: Time) {
        self.save_cwnd(window);
        self.full_bandwidth = 0.0;
        (self.was, self.timed_out) = (LossPhase::AfterTimeout, true);
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
#[path = "bbr1_tests.rs"]
mod tests;
