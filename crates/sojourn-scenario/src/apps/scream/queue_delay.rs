//! The delay of the queue: what one-way delays have above the least one (RFC 6817 §3.4.2), its mean, and its target.

use std::collections::VecDeque;

use crate::apps::call_law::Arrival;

use super::VIRTUAL_RTT_MS;

/// The target and the most that it may become beside flows that fill the queue (§4.2.2: `QDELAY_TARGET_LO` and `_HI`).
const TARGETS_MS: [f64; 2] = [60.0, 400.0];
/// Weight of a delay above the mean in it; one below it becomes the mean at once (§4.2.1.4: `QDELAY_AVG_G`).
const WEIGHT: f64 = 1.0 / 4.0;
/// The least delays of so many minutes are remembered (RFC 6817 §3.4.2: `BASE_HISTORY`).
const MINUTES: usize = 10;
const MINUTE_MS: f64 = 60_000.0;
/// Drift of clocks: the weight of a round trip's least delay in their mean, which may be this part of the target. Above that
/// the least delay is learned anew, at half of the rate for five round trips, and 200 ms at least (§4.5.1).
const DRIFT_WEIGHT: f64 = 1.0 / 256.0;
const DRIFT: f64 = 1.0 / 4.0;
const SLOWED_RTTS: f64 = 5.0;
const SLOWED_MS: f64 = 200.0;
/// Competing flows: delays are remembered, so many that are so far apart, and the mean is of the newest of them (§4.5.4; the
/// public code of Ericsson has them 50 ms apart, `kSlowUpdateInterval_ntp`).
const REMEMBERED: usize = 200;
const NEWEST: usize = 50;
const APART_MS: f64 = 50.0;
/// Weight of a round trip in the share of those with losses, as that code has it, and what share says that others fill the queue.
const LOSSY_WEIGHT: f64 = 0.02;
const LOSSY: f64 = 0.002;
/// Below this variance, in squares of the target, delays are steady.
const STEADY: f64 = 0.2;

/// The delay of the queue on the way.
pub(super) struct QueueDelay {
    /// The least one-way delay of each of the last minutes, and when the last of these began.
    least_ms: VecDeque<f64>,
    minute_ms: f64,
    ms: f64,
    mean_ms: f64,
    averaged_ms: f64,
    target_ms: f64,
    /// The least of this round trip, and the mean of these.
    round_ms: f64,
    drift_ms: f64,
    slowed_until_ms: f64,
    /// Delays in parts of the least target, from the oldest, and when the last one was added.
    norms: VecDeque<f64>,
    added_ms: f64,
    lossy: f64,
}

impl Default for QueueDelay {
    fn default() -> Self {
        Self {
            least_ms: VecDeque::new(),
            minute_ms: 0.0,
            ms: 0.0,
            mean_ms: 0.0,
            averaged_ms: 0.0,
            target_ms: TARGETS_MS[0],
            round_ms: f64::INFINITY,
            drift_ms: 0.0,
            slowed_until_ms: 0.0,
            norms: VecDeque::from([0.0; REMEMBERED]),
            added_ms: 0.0,
            lossy: 0.0,
        }
    }
}

impl QueueDelay {
    /// The newest one.
    pub(super) fn ms(&self) -> f64 {
        self.ms
    }

    pub(super) fn mean_ms(&self) -> f64 {
        self.mean_ms
    }

    pub(super) fn target_ms(&self) -> f64 {
        self.target_ms
    }

    /// Is the rate to be half of what it may be, so that the queue empties?
    pub(super) fn is_slowed(&self, now_ms: f64) -> bool {
        now_ms < self.slowed_until_ms
    }

    /// A report has come on these packets.
    pub(super) fn hear(&mut self, now_ms: f64, arrivals: &[Arrival], rtt_ms: f64) {
        let way_ms = |one: &Arrival| one.arrived_ms - one.sent_ms;
        let Some(newest) = arrivals.last() else { return };
        let least_ms = arrivals.iter().map(way_ms).fold(f64::INFINITY, f64::min);
        if self.least_ms.is_empty() || now_ms - self.minute_ms >= MINUTE_MS {
            self.minute_ms = now_ms;
            self.least_ms.push_back(least_ms);
            if self.least_ms.len() > MINUTES {
                self.least_ms.pop_front();
            }
        }
        if let Some(minute_ms) = self.least_ms.back_mut() {
            *minute_ms = minute_ms.min(least_ms);
        }
        let base_ms = self.least_ms.iter().copied().fold(f64::INFINITY, f64::min);
        self.ms = way_ms(newest) - base_ms;
        self.round_ms = self.round_ms.min(least_ms - base_ms);
        if now_ms - self.averaged_ms >= rtt_ms.min(VIRTUAL_RTT_MS) {
            self.averaged_ms = now_ms;
            let slow_ms = (1.0 - WEIGHT) * self.mean_ms + WEIGHT * self.ms;
            self.mean_ms = if self.ms < self.mean_ms { self.ms } else { slow_ms };
        }
        if now_ms - self.added_ms >= APART_MS {
            self.added_ms = now_ms;
            self.norms.pop_front();
            self.norms.push_back(self.ms / TARGETS_MS[0]);
            self.set_target();
        }
    }

    /// A round trip is over, with losses or without.
    pub(super) fn end_round(&mut self, now_ms: f64, is_lossy: bool, rtt_ms: f64) {
        self.lossy += LOSSY_WEIGHT * (f64::from(u8::from(is_lossy)) - self.lossy);
        let round_ms = std::mem::replace(&mut self.round_ms, f64::INFINITY);
        self.drift_ms += DRIFT_WEIGHT * (round_ms - self.drift_ms);
        if self.drift_ms > DRIFT * self.target_ms {
            (self.drift_ms, self.mean_ms) = (0.0, 0.0);
            self.least_ms.clear();
            self.slowed_until_ms = now_ms + (SLOWED_RTTS * rtt_ms).max(SLOWED_MS);
        }
    }

    /// Others that fill the queue are let have it: the target becomes what the delay is and a deviation more (§4.5.4).
    fn set_target(&mut self) {
        let mean = |of: &mut dyn Iterator<Item = f64>, count: usize| of.sum::<f64>() / count as f64;
        let all = mean(&mut self.norms.iter().copied(), REMEMBERED);
        let squares = &mut self.norms.iter().map(|norm| (norm - all) * (norm - all));
        let variance = mean(squares, REMEMBERED);
        let newest = mean(&mut self.norms.range(REMEMBERED - NEWEST..).copied(), NEWEST);
        let found_ms = (newest + libm::sqrt(variance)) * TARGETS_MS[0];
        let target_ms = if self.lossy > LOSSY {
            1.5 * found_ms
        } else if variance < STEADY {
            found_ms
        } else if found_ms < TARGETS_MS[0] {
            found_ms.max(0.5 * self.target_ms)
        } else {
            0.9 * self.target_ms
        };
        self.target_ms = target_ms.clamp(TARGETS_MS[0], TARGETS_MS[1]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reports on one packet each 50 ms, from `from_s` to `to_s`, whose way took so long.
    fn hear(delay: &mut QueueDelay, [from_s, to_s]: [u32; 2], way_ms: f64, ends_rounds: bool) {
        for step in 20 * from_s..20 * to_s {
            let sent_ms = 50.0 * f64::from(step);
            let arrived_ms = sent_ms + way_ms;
            let one = Arrival { sent_ms, arrived_ms, bytes: 1000.0, is_marked: false, probe: None };
            delay.hear(sent_ms, &[one], 50.0);
            if ends_rounds {
                delay.end_round(sent_ms, false, 50.0);
            }
        }
    }

    #[test]
    fn a_queue_is_what_ways_take_above_the_least_and_its_mean_grows_slowly() {
        let mut delay = QueueDelay::default();
        hear(&mut delay, [0, 1], 1030.0, false); // clocks may be a second apart
        assert_eq!((delay.ms(), delay.mean_ms()), (0.0, 0.0));
        let one = |arrived_ms: f64| Arrival {
            sent_ms: 1000.0,
            arrived_ms,
            bytes: 1000.0,
            is_marked: false,
            probe: None,
        };
        // A quarter of 40 ms, and a quarter of what is left after 25 ms; sooner it stays.
        delay.hear(1000.0, &[one(2070.0)], 50.0);
        assert_eq!((delay.ms(), delay.mean_ms()), (40.0, 10.0));
        delay.hear(1024.0, &[one(2070.0)], 50.0);
        assert_eq!(delay.mean_ms(), 10.0);
        delay.hear(1025.0, &[one(2070.0)], 50.0);
        assert_eq!(delay.mean_ms(), 17.5);
        delay.hear(1050.0, &[one(2033.0)], 50.0);
        assert_eq!(delay.mean_ms(), 3.0);
    }

    #[test]
    fn a_least_delay_that_creeps_up_is_learned_anew_at_half_of_the_rate() {
        // 20 ms stay on each packet: the mean of the least ones is 20 * (1 - (255 / 256)^n), and above 15 ms after
        // n = ln(4) / ln(256 / 255) = 354.2 round trips of 50 ms, with the 355th report: 17.7 s later.
        let mut delay = QueueDelay::default();
        hear(&mut delay, [0, 1], 30.0, true);
        hear(&mut delay, [1, 18], 50.0, true);
        assert_eq!((delay.ms(), delay.slowed_until_ms), (20.0, 0.0));
        hear(&mut delay, [18, 19], 50.0, true);
        // From 1 s on so many steps, less one, and five round trips of 50 ms more.
        assert_eq!(delay.slowed_until_ms, 1000.0 + 354.0 * 50.0 + 250.0);
        assert_eq!(delay.ms(), 0.0);
    }

    #[test]
    fn the_target_follows_a_queue_that_others_keep_full() {
        let mut delay = QueueDelay::default();
        hear(&mut delay, [0, 10], 30.0, false);
        assert_eq!(delay.target_ms(), 60.0);
        // 100 of 200 delays are 120 ms, twice the target, and the others none: mean 1, variance 1, which is not steady.
        hear(&mut delay, [10, 15], 150.0, false);
        assert_eq!(delay.target_ms(), 60.0);
        // With a loss in one of 50 round trips or so the target is 1.5 times the newest and a deviation: 1.5 * (2 + 1) * 60 ms.
        delay.end_round(15_000.0, true, 50.0);
        hear(&mut delay, [15, 16], 150.0, false);
        assert!((delay.target_ms() / 270.0 - 1.0).abs() < 0.02, "{}", delay.target_ms());
    }
}
