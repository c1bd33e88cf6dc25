//! What BBR version 3 knows of the path (draft-ietf-ccwg-bbr "Network Path Model Parameters"): the largest
//! rate, the least round trip, whether the pipe is full, and the bounds that losses move.

use crate::rate::{Rate, RateSample};
use sojourn_engine::units::Time;

/// draft "Full pipe": three rounds without a quarter more.
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
/// draft "ProbeRTTInterval" and "MinRTTFilterLen".
const PROBE_RTT_INTERVAL: Time = Time::from_s(5);
const MIN_RTT_TIME: Time = Time::from_s(10);
/// draft "LossThresh", "Beta" and "Headroom".
pub(super) const LOSS_SHARE: f64 = 0.02;
pub(super) const BETA: f64 = 0.7;
const HEADROOM: f64 = 0.15;

/// Where the samples of a bandwidth probe stand (draft "BBR.ack_phase").
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Feedback {
    /// None are waited for.
    None,
    /// The pipe is filled first.
    Refilling,
    /// The probe has begun.
    Starting,
    /// Samples of it come.
    Coming,
    /// The last of them come.
    Stopping,
}

/// The largest rate of this probing cycle and of the one before (draft "MaxBwFilterLen").
#[derive(Default)]
pub(super) struct MaxBandwidth([f64; 2]);

impl MaxBandwidth {
    /// That rate in segments per second.
    pub(super) fn get(&self) -> f64 {
        self.0[0].max(self.0[1])
    }

    /// draft "UpdateMaxBw": what the application limits does not lower it.
    pub(super) fn take(&mut self, rate: &Rate) {
        let per_second = rate.per_second();
        if per_second >= self.get() || !rate.is_app_limited {
            self.0[0] = self.0[0].max(per_second);
        }
    }

    /// draft "AdvanceMaxBwFilter". A cycle without a sample leaves the one before.
    pub(super) fn advance(&mut self) {
        if self.0[0] > 0.0 {
            self.0 = [0.0, self.0[0]];
        }
    }
}

/// Is the pipe full? (draft "CheckFullBWReached")
#[derive(Default)]
pub(super) struct FullPipe {
    bandwidth: f64,
    count: u32,
    /// By the search at hand, and ever.
    pub is_now: bool,
    /// Ever.
    pub is_reached: bool,
}

impl FullPipe {
    /// A search begins at this bandwidth.
    pub(super) fn reset(&mut self, bandwidth: f64) {
        (self.bandwidth, self.count, self.is_now) = (bandwidth, 0, false);
    }

    /// A round begins with this sample.
    pub(super) fn take(&mut self, rate: &Rate) {
        if self.is_now || rate.is_app_limited {
            return;
        }
        if rate.per_second() >= self.bandwidth * FULL_GROWTH {
            self.reset(rate.per_second());
            return;
        }
        self.count += 1;
        self.is_now = self.count >= FULL_ROUNDS;
        self.is_reached |= self.is_now;
    }
}

/// The least round trip, and the least of the last five seconds, which tells when to probe
/// (draft "UpdateMinRTT").
pub(super) struct MinRtt {
    least: Option<Time>,
    least_at: Time,
    recent: Time,
    recent_at: Time,
    /// Is the recent one too old?
    pub is_expired: bool,
}

impl MinRtt {
    /// Begins with the round trip of the handshake.
    pub(super) fn new(least: Option<Time>, now: Time) -> Self {
        let (recent, recent_at) = (least.unwrap_or(Time::NEVER), now);
        Self { least, least_at: now, recent, recent_at, is_expired: false }
    }

    /// The least round trip.
    pub(super) fn get(&self) -> Option<Time> {
        self.least
    }

    /// Takes in a round trip, zero for none.
    pub(super) fn take(&mut self, now: Time, rtt: Time) {
        self.is_expired = now > self.recent_at + PROBE_RTT_INTERVAL;
        if rtt > Time::ZERO && (rtt < self.recent || self.is_expired) {
            (self.recent, self.recent_at) = (rtt, now);
        }
        let is_less = self.least.is_none_or(|least| self.recent < least);
        if self.recent < Time::NEVER && (is_less || now > self.least_at + MIN_RTT_TIME) {
            (self.least, self.least_at) = (Some(self.recent), self.recent_at);
        }
    }

    /// A probe has ended: the next is due an interval later.
    pub(super) fn probed(&mut self, now: Time) {
        self.recent_at = now;
    }
}

/// What losses say (draft "Updating the Model Upon Packet Loss").
pub(super) struct Bounds {
    /// What may be in flight for long, and for a while, in segments, and the rate for a while.
    pub inflight_long: f64,
    /// For a while.
    pub inflight_short: f64,
    /// The rate for a while.
    pub bandwidth_short: f64,
    /// Of the round at hand.
    bandwidth_latest: f64,
    /// Of the round at hand.
    pub inflight_latest: f64,
    is_loss_in_round: bool,
    round_end: u64,
    /// Has such a round ended with this acknowledgement?
    pub is_round_start: bool,
    /// Separate losses of the round, and the number of the last segment lost.
    pub separate_losses: u64,
    last_lost: Option<u64>,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            inflight_long: f64::INFINITY,
            inflight_short: f64::INFINITY,
            bandwidth_short: f64::INFINITY,
            bandwidth_latest: 0.0,
            inflight_latest: 0.0,
            is_loss_in_round: false,
            round_end: 0,
            is_round_start: false,
            separate_losses: 0,
            last_lost: None,
        }
    }
}

impl Bounds {
    /// draft "IsInflightTooHigh".
    pub(super) fn is_too_high(lost: u64, in_flight: u64) -> bool {
        lost as f64 > in_flight as f64 * LOSS_SHARE
    }

    /// draft "InflightAtLoss": where in flight the losses crossed the threshold.
    pub(super) fn inflight_at_loss(lost: u64, in_flight: u64) -> f64 {
        let (before, lost_before) = (in_flight as f64 - 1.0, lost as f64 - 1.0);
        before + (LOSS_SHARE * before - lost_before) / (1.0 - LOSS_SHARE)
    }

    /// draft "NoteLoss"; says whether it is the first of a round.
    pub(super) fn note_loss(&mut self, number: u64, delivered: u64) -> bool {
        let is_first = !self.is_loss_in_round;
        if is_first {
            self.round_end = delivered;
            self.separate_losses = 0;
        }
        self.is_loss_in_round = true;
        let is_next = number > 0 && self.last_lost == Some(number - 1);
        self.separate_losses += u64::from(is_first || !is_next);
        self.last_lost = Some(number);
        is_first
    }

    /// draft "UpdateLatestDeliverySignals".
    pub(super) fn update_latest(&mut self, sample: &RateSample) {
        self.is_round_start = false;
        let Some(rate) = &sample.rate else { return };
        self.bandwidth_latest = self.bandwidth_latest.max(rate.per_second());
        self.inflight_latest = self.inflight_latest.max(rate.delivered as f64);
        if rate.prior_delivered >= self.round_end {
            self.round_end = sample.delivered;
            self.is_round_start = true;
        }
    }

    /// draft "AdaptLowerBoundsFromCongestion": once a round with a loss, if nothing is probed.
    pub(super) fn adapt(&mut self, is_probing: bool, max_bandwidth: f64, cwnd: f64) {
        if !self.is_round_start {
            return;
        }
        if !is_probing && self.is_loss_in_round {
            let or = |bound: f64, first: f64| if bound.is_infinite() { first } else { bound };
            let bandwidth = or(self.bandwidth_short, max_bandwidth);
            let inflight = or(self.inflight_short, cwnd);
            self.bandwidth_short = self.bandwidth_latest.max(BETA * bandwidth);
            self.inflight_short = self.inflight_latest.max(BETA * inflight);
        }
        self.is_loss_in_round = false;
    }

    /// draft "AdvanceLatestDeliverySignals".
    pub(super) fn advance_latest(&mut self, sample: &RateSample) {
        if let Some(rate) = sample.rate.filter(|_| self.is_round_start) {
            self.bandwidth_latest = rate.per_second();
            self.inflight_latest = rate.delivered as f64;
        }
    }

    /// draft "ResetCongestionSignals".
    pub(super) fn reset_signals(&mut self) {
        self.is_loss_in_round = false;
        (self.bandwidth_latest, self.inflight_latest) = (0.0, 0.0);
    }

    /// draft "ResetShortTermModel".
    pub(super) fn reset_short(&mut self) {
        (self.bandwidth_short, self.inflight_short) = (f64::INFINITY, f64::INFINITY);
    }

    /// draft "InflightWithHeadroom".
    pub(super) fn with_headroom(&self, least: f64) -> f64 {
        let headroom = (HEADROOM * self.inflight_long).max(1.0);
        if self.inflight_long.is_infinite() {
            return f64::INFINITY;
        }
        (self.inflight_long - headroom).max(least)
    }
}
