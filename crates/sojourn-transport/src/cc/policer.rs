//! A policer's rate, as BBR of Linux finds it ("long-term" sampling; draft-cardwell-iccrg-bbr-00 §4.1.2.1 names
//! it, Linux 6.18 has it): two intervals in a row, from loss to loss, in which a fifth of what was
//! delivered was lost and that have the same rate, tell of a token bucket. That rate is then used for 48 rounds.

use crate::rate::RateSample;
use sojourn_engine::units::Time;

/// An interval has at least so many rounds, and at most four times as many.
const LEAST_ROUNDS: u64 = 4;
/// The share lost in it: 50/256.
const LOSS_SHARE: f64 = 50.0 / 256.0;
/// Rates are the same within an eighth, or 4 kbit/s.
const SAME_SHARE: f64 = 1.0 / 8.0;
const SAME_BYTES_PER_S: f64 = 500.0;
/// For so many rounds the rate is used.
const USED_ROUNDS: u64 = 48;

/// What is known of a policer. Rates are in segments per second.
#[derive(Default)]
pub(super) struct Policer {
    rate: f64,
    is_used: bool,
    is_sampling: bool,
    rounds: u64,
    since: Time,
    delivered: u64,
    lost: u64,
}

impl Policer {
    /// The rate to use, if there is a policer.
    pub(super) fn rate(&self) -> Option<f64> {
        self.is_used.then_some(self.rate)
    }

    fn begin(&mut self, sample: &RateSample) {
        (self.since, self.rounds) = (sample.delivered_at, 0);
        (self.delivered, self.lost) = (sample.delivered, sample.lost);
    }

    /// Takes in a sample; `has_losses` also after a timeout. Says whether the rate is no longer used.
    pub(super) fn take(
        &mut self,
        sample: &RateSample,
        (is_round_start, has_losses): (bool, bool),
        is_probing: bool,
        mss: u64,
    ) -> bool {
        if self.is_used {
            self.rounds += u64::from(is_probing && is_round_start);
            let is_over = self.rounds >= USED_ROUNDS;
            if is_over {
                *self = Self::default();
            }
            return is_over;
        }
        if !self.is_sampling {
            if !has_losses {
                return false;
            }
            self.begin(sample);
            self.is_sampling = true;
        }
        if sample.rate.is_some_and(|rate| rate.is_app_limited) {
            *self = Self::default();
            return false;
        }
        self.rounds += u64::from(is_round_start);
        if self.rounds > 4 * LEAST_ROUNDS {
            *self = Self::default();
        } else if self.rounds >= LEAST_ROUNDS && has_losses {
            self.judge(sample, mss);
        }
        false
    }

    fn judge(&mut self, sample: &RateSample, mss: u64) {
        let delivered = (sample.delivered - self.delivered) as f64;
        let lost = (sample.lost - self.lost) as f64;
        let time = sample.delivered_at.since(self.since);
        if delivered == 0.0 || lost < LOSS_SHARE * delivered || time < Time::from_ms(1) {
            return;
        }
        let rate = delivered / time.secs_f64();
        let difference = (rate - self.rate).abs();
        let is_same =
            difference <= SAME_SHARE * self.rate || difference * mss as f64 <= SAME_BYTES_PER_S;
        if self.rate > 0.0 && is_same {
            self.rate = (rate + self.rate) / 2.0;
            (self.is_used, self.rounds) = (true, 0);
        } else {
            self.rate = rate;
            self.begin(sample);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each round of 100 ms delivers 100 segments and loses 25.
    #[test]
    fn two_intervals_with_one_rate_and_a_fifth_lost_are_a_policer() {
        let mut policer = Policer::default();
        let mut round = 0;
        let mut next = |policer: &mut Policer| {
            let sample = RateSample {
                delivered: 100 * round,
                delivered_at: Time::from_ms(100 * round),
                lost: 25 * round,
                ..RateSample::default()
            };
            round += 1;
            policer.take(&sample, (true, true), true, 1448)
        };
        // The first round opens the interval, and counts; four make one, then four the other.
        (0..7).for_each(|_| assert!(!next(&mut policer)));
        assert_eq!(policer.rate(), None);
        assert!(!next(&mut policer));
        assert_eq!(policer.rate(), Some(1000.0));
        (0..47).for_each(|_| assert!(!next(&mut policer)));
        assert_eq!(policer.rate(), Some(1000.0));
        assert!(next(&mut policer), "after 48 rounds the link is probed again");
        assert_eq!(policer.rate(), None);
    }

    #[test]
    fn what_the_application_limits_is_no_sample_of_a_policer() {
        use crate::rate::Rate;
        let mut policer = Policer::default();
        assert!(!policer.take(&RateSample::default(), (true, false), true, 1448));
        assert!(!policer.is_sampling, "nothing is lost");
        let (delivered, lost, delivered_at) = (500, 7, Time::from_s(1));
        let first = RateSample { delivered, lost, delivered_at, ..RateSample::default() };
        assert!(!policer.take(&first, (true, true), true, 1448));
        assert!(policer.is_sampling);
        assert_eq!((policer.delivered, policer.lost, policer.since), (500, 7, delivered_at));
        let rate = Some(Rate { is_app_limited: true, ..Rate::default() });
        let sample = RateSample { rate, ..RateSample::default() };
        assert!(!policer.take(&sample, (true, true), true, 1448));
        assert!(!policer.is_sampling);
    }

    /// An interval of at least 1 ms in which 50 of 256 or more are lost; rates are the same within an eighth, or 500 B/s.
    #[test]
    fn an_interval_is_judged_by_its_losses_and_its_rate() {
        for (rate, delivered, lost, us, mss, want) in [
            (0.0, 0, 5, 1_000_000, 1000, None),
            (0.0, 256, 49, 1_000_000, 1000, None),
            (0.0, 256, 50, 1_000_000, 1000, Some((256.0, false))),
            (0.0, 256, 50, 999, 1000, None),
            (0.0, 256, 50, 1000, 1000, Some((256_000.0, false))),
            (0.0, 256, 49, 999, 1000, None),
            (1000.0, 1125, 1125, 1_000_000, 1000, Some((1062.5, true))),
            (1000.0, 875, 875, 1_000_000, 1000, Some((937.5, true))),
            (1000.0, 1126, 1126, 1_000_000, 1000, Some((1126.0, false))),
            (1.0, 3, 3, 2_000_000, 1000, Some((1.25, true))),
            (1.0, 3, 3, 2_000_000, 1001, Some((1.5, false))),
            (0.0, 1, 1, 4_000_000, 1000, Some((0.25, false))),
            (0.25, 1, 1, 4_000_000, 1000, Some((0.25, true))),
        ] {
            let (since, before) = (Time::from_s(1), 70);
            let mut policer = Policer {
                rate,
                is_sampling: true,
                rounds: 3,
                since,
                delivered: before,
                lost: before,
                ..Policer::default()
            };
            let sample = RateSample {
                delivered: before + delivered,
                lost: before + lost,
                delivered_at: since + Time::from_us(us),
                ..RateSample::default()
            };
            assert!(!policer.take(&sample, (true, true), true, mss));
            let seen = (policer.rounds == 0).then_some((policer.rate, policer.is_used));
            assert_eq!(seen, want, "{rate} {delivered} {lost} {us} {mss}");
            let begins_anew = want.is_some_and(|(_, is_used)| !is_used);
            assert_eq!(policer.delivered, if begins_anew { before + delivered } else { before });
            assert_eq!(
                (policer.lost == before, policer.since == since),
                (!begins_anew, !begins_anew)
            );
        }
    }

    /// Four rounds at least and 16 at most, and it ends with a loss.
    #[test]
    fn an_interval_has_four_to_sixteen_rounds() {
        let sample = RateSample {
            delivered: 100,
            lost: 100,
            delivered_at: Time::from_s(1),
            ..RateSample::default()
        };
        for (rounds, starts, has_losses, want) in [
            (2, true, true, (3, 0.0, true)),
            (3, true, false, (4, 0.0, true)),
            (3, false, true, (3, 0.0, true)),
            (3, true, true, (0, 100.0, true)),
            (15, true, true, (0, 100.0, true)),
            (16, true, true, (0, 0.0, false)),
        ] {
            let mut policer = Policer { rounds, is_sampling: true, ..Policer::default() };
            assert!(!policer.take(&sample, (starts, has_losses), true, 1000));
            assert_eq!((policer.rounds, policer.rate, policer.is_sampling), want);
        }
        for (starts, is_probing, want) in [(true, true, 2), (true, false, 1), (false, true, 1)] {
            let mut policer = Policer { rounds: 1, is_used: true, ..Policer::default() };
            assert!(!policer.take(&sample, (starts, true), is_probing, 1000));
            assert_eq!(policer.rounds, want);
        }
    }
}
