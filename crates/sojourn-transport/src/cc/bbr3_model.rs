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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Feedback {
    /// None are waited for.
    #[default]
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
    /// A search begins with this sample.
    pub(super) fn reset(&mut self, rate: Option<&Rate>) {
        self.bandwidth = rate.map_or(0.0, Rate::per_second);
        (self.count, self.is_now) = (0, false);
    }

    /// A round begins with this sample.
    pub(super) fn take(&mut self, rate: &Rate) {
        if self.is_now || rate.is_app_limited {
            return;
        }
        if rate.per_second() >= self.bandwidth * FULL_GROWTH {
            self.reset(Some(rate));
            return;
        }
        self.count += 1;
        self.is_now = self.count >= FULL_ROUNDS;
        self.is_reached |= self.is_now;
    }
}

/// The least round trip, and the least of the last five seconds, which decides when to probe
/// (draft "UpdateMinRTT").
pub(super) struct MinRtt {
    least: Option<Time>,
    least_at: Time,
    recent: Time,
    recent_at: Time,
    /// Is the recent one too old?
    pub is_expired: bool,
}

impl Default for MinRtt {
    fn default() -> Self {
        Self::new(None, Time::ZERO)
    }
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

    /// draft "SaveStateUponLoss".
    pub(super) fn saved(&self) -> [f64; 3] {
        [self.bandwidth_short, self.inflight_short, self.inflight_long]
    }

    /// Losses that were none leave the bounds where they were saved.
    pub(super) fn restore(&mut self, [bandwidth_short, inflight_short, inflight_long]: [f64; 3]) {
        self.is_loss_in_round = false;
        self.bandwidth_short = self.bandwidth_short.max(bandwidth_short);
        self.inflight_short = self.inflight_short.max(inflight_short);
        self.inflight_long = self.inflight_long.max(inflight_long);
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

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_ms;

    /// So many segments in two seconds.
    fn rate(delivered: u64, is_app_limited: bool) -> Rate {
        Rate { delivered, interval: Time::from_s(2), is_app_limited, ..Rate::default() }
    }

    /// Half a segment a second, a quarter where nothing limits it, and half where the application does.
    #[test]
    fn the_largest_rate_is_that_of_two_cycles() {
        let slow = Rate { interval: Time::from_s(4), ..rate(1, false) };
        let slower = Rate { is_app_limited: true, ..slow };
        let mut max = MaxBandwidth::default();
        max.take(&rate(1, false));
        max.advance();
        max.advance();
        assert_eq!(max.get(), 0.5);
        max.take(&slower);
        max.advance();
        assert_eq!(max.get(), 0.5);
        max.take(&slow);
        max.take(&rate(1, true));
        max.advance();
        assert_eq!(max.get(), 0.5);
        max.take(&slow);
        max.advance();
        assert_eq!(max.get(), 0.25);
    }

    /// 1250 are a quarter more than 1000, and 1249 are not.
    #[test]
    fn three_rounds_without_a_quarter_more_fill_the_pipe() {
        let mut full = FullPipe::default();
        for (delivered, is_app_limited, want) in [
            (2000, false, (1000.0, 0, false, false)),
            (2498, false, (1000.0, 1, false, false)),
            (2498, true, (1000.0, 1, false, false)),
            (2498, false, (1000.0, 2, false, false)),
            (2500, false, (1250.0, 0, false, false)),
            (2500, false, (1250.0, 1, false, false)),
            (2500, false, (1250.0, 2, false, false)),
            (2500, false, (1250.0, 3, true, true)),
            (9999, false, (1250.0, 3, true, true)),
        ] {
            full.take(&rate(delivered, is_app_limited));
            assert_eq!((full.bandwidth, full.count, full.is_now, full.is_reached), want);
        }
        full.reset(None);
        assert_eq!((full.bandwidth, full.is_now), (0.0, false));
        full.reset(Some(&rate(1400, true)));
        assert_eq!(
            (full.bandwidth, full.count, full.is_now, full.is_reached),
            (700.0, 0, false, true)
        );
        full.take(&rate(1500, false));
        assert!(full.is_reached);
    }

    /// The least of 5 s decides when to probe; what is used is the least of 10 s.
    #[test]
    fn round_trips_are_kept_for_five_and_ten_seconds() {
        let (start, ps) = (Time::from_s(1), Time::from_ps(1));
        let (s6, s11) = (Time::from_s(6), Time::from_s(11));
        let mut min = MinRtt::new(Some(MS(40)), start);
        for (now, rtt_ms, want) in [
            (MS(1500), 40, (40, start, 40, start, false)),
            (MS(1500), 41, (40, start, 40, start, false)),
            (s6, 41, (40, start, 40, start, false)),
            (s6 + ps, 0, (40, start, 40, start, true)),
            (s6 + ps, 41, (40, start, 41, s6 + ps, true)),
            (s6 + ps, 41, (40, start, 41, s6 + ps, false)),
            (s11, 41, (40, start, 41, s6 + ps, false)),
            (s11 + ps, 41, (41, s6 + ps, 41, s6 + ps, false)),
            (s11 + ps, 39, (39, s11 + ps, 39, s11 + ps, false)),
        ] {
            min.take(now, MS(rtt_ms));
            let MinRtt { least, least_at, recent, recent_at, is_expired } = min;
            let seen = (least, least_at, recent, recent_at, is_expired);
            assert_eq!(seen, (Some(MS(want.0)), want.1, MS(want.2), want.3, want.4));
        }
        min.probed(Time::from_s(20));
        min.take(Time::from_s(25), MS(50));
        assert_eq!((min.is_expired, min.get(), min.recent), (false, Some(MS(39)), MS(39)));
        let mut none = MinRtt::default();
        none.take(MS(1), Time::ZERO);
        assert_eq!(none.get(), None);
        none.take(MS(1), MS(30));
        assert_eq!(none.get(), Some(MS(30)));
    }

    /// More than 2 of 100. Of 100 in flight of which 5 are lost the threshold was crossed 2.02/0.98 segments before the last
    /// 99: 99 + (1.98 - 4) / 0.98 = 96.939.
    #[test]
    fn losses_are_too_many_above_two_percent() {
        assert_eq!(
            [(2, 100), (3, 100), (1, 49)].map(|(l, n)| Bounds::is_too_high(l, n)),
            [false, true, true]
        );
        assert!((Bounds::inflight_at_loss(5, 100) - 96.939).abs() < 5e-4);
    }

    #[test]
    fn neighbours_are_one_loss() {
        let mut bounds = Bounds::default();
        assert_eq!((bounds.bandwidth_latest, bounds.inflight_latest), (0.0, 0.0));
        for (number, is_first, losses) in
            [(0, true, 1), (1, false, 1), (3, false, 2), (5, false, 3), (6, false, 3)]
        {
            assert_eq!((bounds.note_loss(number, 70), bounds.separate_losses), (is_first, losses));
            assert_eq!(bounds.round_end, 70);
        }
        // In the next round they are counted anew, and a neighbour is one too.
        bounds.is_loss_in_round = false;
        assert_eq!(
            (bounds.note_loss(7, 90), bounds.separate_losses, bounds.round_end),
            (true, 1, 90)
        );
        assert_eq!((bounds.note_loss(0, 90), bounds.separate_losses), (false, 2));
    }

    /// A round of 60 segments and 100 a second after one with a loss: 0.7 of a window of 100, of 70 the next time, and 0.7 of the
    /// rate of 200.
    #[test]
    fn a_round_with_a_loss_lowers_the_short_bounds() {
        let sample = |delivered: u64, prior_delivered: u64| {
            let rate = Rate { prior_delivered, ..rate(delivered, false) };
            RateSample { delivered: 500, rate: Some(rate), ..RateSample::default() }
        };
        let short = |bounds: &Bounds| (bounds.bandwidth_short, bounds.inflight_short);
        let mut bounds = Bounds { round_end: 300, is_loss_in_round: true, ..Bounds::default() };
        bounds.update_latest(&sample(60, 299));
        bounds.adapt(false, 200.0, 100.0);
        assert!(
            !bounds.is_round_start
                && bounds.is_loss_in_round
                && bounds.inflight_short.is_infinite()
        );
        bounds.update_latest(&sample(40, 300));
        assert_eq!((bounds.is_round_start, bounds.round_end), (true, 500));
        assert_eq!((bounds.bandwidth_latest, bounds.inflight_latest), (30.0, 60.0));
        bounds.adapt(false, 200.0, 100.0);
        assert_eq!((short(&bounds), bounds.is_loss_in_round), ((140.0, 70.0), false));
        bounds.adapt(false, 200.0, 100.0); // nothing was lost
        assert_eq!(short(&bounds), (140.0, 70.0));
        bounds.is_loss_in_round = true;
        bounds.adapt(true, 200.0, 100.0); // a probe may lose something
        assert_eq!((short(&bounds), bounds.is_loss_in_round), ((140.0, 70.0), false));
        bounds.is_loss_in_round = true;
        bounds.adapt(false, 200.0, 100.0);
        assert!((bounds.bandwidth_short - 98.0).abs() < 1e-9);
        assert_eq!(bounds.inflight_short, 60.0); // what was delivered, more than 49
        bounds.advance_latest(&sample(40, 0));
        assert_eq!((bounds.bandwidth_latest, bounds.inflight_latest), (20.0, 40.0));
        bounds.is_round_start = false;
        bounds.advance_latest(&sample(80, 0));
        assert_eq!((bounds.bandwidth_latest, bounds.inflight_latest), (20.0, 40.0));
        bounds.is_round_start = true;
        bounds.update_latest(&RateSample::default());
        assert!(!bounds.is_round_start);
        bounds.is_loss_in_round = true;
        bounds.reset_signals();
        assert_eq!(
            (bounds.bandwidth_latest, bounds.inflight_latest, bounds.is_loss_in_round),
            (0.0, 0.0, false)
        );
        bounds.reset_short();
        assert!(bounds.bandwidth_short.is_infinite() && bounds.inflight_short.is_infinite());
    }

    /// 15 % are left for others, a segment at least, and four remain.
    #[test]
    fn headroom_is_left_below_the_long_bound() {
        for (inflight_long, want) in
            [(100.0, 85.0), (6.0, 5.0), (4.5, 4.0), (f64::INFINITY, f64::INFINITY)]
        {
            let bounds = Bounds { inflight_long, ..Bounds::default() };
            assert_eq!(bounds.with_headroom(4.0), want);
        }
    }
}
