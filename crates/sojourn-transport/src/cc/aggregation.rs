//! How many segments more than the bandwidth explains are acknowledged at once, where links or receivers
//! collect acknowledgements (Linux 6.18 bbr; draft-ietf-ccwg-bbr "BBR.extra_acked").

use crate::rate::RateSample;
use sojourn_engine::units::Time;

/// An epoch ends at the latest after so many segments.
const LARGEST_EPOCH: u64 = 1 << 20;
/// Rounds of each of the two slots whose larger counts.
const SLOT_ROUNDS: u64 = 5;

/// The largest such number of the last five to ten rounds.
#[derive(Default)]
pub(super) struct Aggregation {
    since: Time,
    acknowledged: u64,
    slots: [u64; 2],
    slot: usize,
    rounds: u64,
}

impl Aggregation {
    /// That number.
    pub(super) fn extra(&self) -> u64 {
        self.slots[0].max(self.slots[1])
    }

    /// Sending begins after a silence.
    pub(super) fn restart(&mut self, now: Time) {
        (self.since, self.acknowledged) = (now, 0);
    }

    /// Takes in a sample, at a bandwidth in segments per second.
    pub(super) fn take(
        &mut self,
        sample: &RateSample,
        per_second: f64,
        is_round_start: bool,
        cwnd: f64,
    ) {
        if sample.newly_delivered == 0 || sample.rate.is_none() {
            return;
        }
        if is_round_start {
            self.rounds += 1;
            if self.rounds >= SLOT_ROUNDS {
                (self.rounds, self.slot) = (0, 1 - self.slot);
                self.slots[self.slot] = 0;
            }
        }
        let expect =
            |since: Time| (sample.delivered_at.since(since).secs_f64() * per_second) as u64;
        let mut expected = expect(self.since);
        let is_full = self.acknowledged + sample.newly_delivered >= LARGEST_EPOCH;
        if self.acknowledged <= expected || is_full {
            self.restart(sample.delivered_at);
            expected = 0;
        }
        self.acknowledged += sample.newly_delivered;
        let extra = (self.acknowledged - expected).min(cwnd as u64);
        self.slots[self.slot] = self.slots[self.slot].max(extra);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate::Rate;

    /// At 1000 segments a second 20 come at once, and 20 more 5 ms later: 40 - 5 = 35 are extra.
    #[test]
    fn what_comes_at_once_is_extra_for_five_to_ten_rounds() {
        let mut aggregation = Aggregation::default();
        let mut take = |ms: u64, newly_delivered: u64, starts: bool| {
            let sample = RateSample {
                delivered_at: Time::from_ms(ms),
                newly_delivered,
                rate: Some(Rate::default()),
                ..RateSample::default()
            };
            aggregation.take(&sample, 1000.0, starts, 100.0);
            aggregation.extra()
        };
        assert_eq!(take(1000, 20, true), 20);
        assert_eq!(take(1005, 20, false), 35);
        // From 1000 to 1100 ms 100 are expected and 40 came: a new epoch.
        assert_eq!(take(1100, 2, true), 35);
        assert_eq!((0..7).map(|i| take(2000 + 100 * i, 1, true)).last(), Some(35));
        assert_eq!(take(3000, 1, true), 1);
    }

    /// Nothing delivered, or no rate, says nothing; the window is the most, and 2^20 segments end a count.
    #[test]
    fn a_count_has_bounds() {
        let sample = |ms: u64, newly_delivered: u64| RateSample {
            delivered_at: Time::from_ms(ms),
            newly_delivered,
            rate: Some(Rate::default()),
            ..RateSample::default()
        };
        let mut aggregation = Aggregation::default();
        aggregation.take(&sample(1000, 0), 1000.0, true, 100.0);
        aggregation.take(&RateSample { rate: None, ..sample(1000, 7) }, 1000.0, true, 100.0);
        assert_eq!(
            (aggregation.extra(), aggregation.rounds, aggregation.since),
            (0, 0, Time::ZERO)
        );
        aggregation.take(&sample(1000, 300), 1000.0, false, 100.5);
        assert_eq!((aggregation.extra(), aggregation.acknowledged), (100, 300));
        for (before, want) in [((1 << 20) - 8, (1 << 20) - 1), ((1 << 20) - 7, 7)] {
            aggregation.acknowledged = before;
            aggregation.take(&sample(1001, 7), 1000.0, false, 100.0);
            assert_eq!(aggregation.acknowledged, want);
        }
        // As many as were expected begin a new count, one more does not.
        for (before, want) in [(30, 7), (31, 38)] {
            (aggregation.since, aggregation.acknowledged) = (Time::from_ms(1000), before);
            aggregation.take(&sample(1030, 7), 1000.0, false, 100.0);
            assert_eq!(aggregation.acknowledged, want);
        }
    }

    /// Each slot has five rounds.
    #[test]
    fn slots_change_every_five_rounds() {
        let mut aggregation = Aggregation { slots: [9, 8], ..Aggregation::default() };
        let mut slots = Vec::new();
        for n in 0..10 {
            let sample = RateSample {
                delivered_at: Time::from_ms(100 * n),
                newly_delivered: 1,
                rate: Some(Rate::default()),
                ..RateSample::default()
            };
            aggregation.take(&sample, 1000.0, true, 100.0);
            slots.push((aggregation.slot, aggregation.slots));
        }
        assert_eq!((slots[3], slots[4], slots[8]), ((0, [9, 8]), (1, [9, 1]), (1, [9, 1])));
        assert_eq!(slots[9], (0, [1, 1]));
    }
}
