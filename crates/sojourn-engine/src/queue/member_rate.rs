//! The rate of the low-latency flow of an aggregate, which the classic flow cannot have (MULPI annex O).

use crate::units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Weight of the newest sample in the mean: about 16 samples of 16 ms, longer than the swings of what
/// leaves the low-latency flow, and shorter than those of a PI controller's drop probability.
const GAIN: f64 = 1.0 / 16.0;

/// How the rate of the low-latency flow is estimated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RateEstimate {
    /// The mean of about 16 samples.
    #[default]
    Mean,
    /// The last sample (docsis-ns3).
    Raw,
}

/// Counts what leaves the low-latency flow.
pub(super) struct MemberRate {
    gain: f64,
    interval: Time,
    /// Bytes since the last sample.
    bytes: u64,
    bps: f64,
    /// Samples so far, with those of an idle queue.
    samples: u64,
}

impl MemberRate {
    /// No rate yet; samples are so far apart.
    pub(super) fn new(estimate: RateEstimate, interval: Time) -> Self {
        let gain = match estimate {
            RateEstimate::Mean => GAIN,
            RateEstimate::Raw => 1.0,
        };
        Self { gain, interval, bytes: 0, bps: 0.0, samples: 0 }
    }

    /// A packet leaves.
    #[inline]
    pub(super) fn sent(&mut self, bytes: u64) {
        self.bytes += bytes;
    }

    /// Takes a sample. Samples that were left out had no bytes. Returns whether this one has any.
    pub(super) fn sample(&mut self, now: Time) -> bool {
        let due = now.ps() / self.interval.ps();
        let past = due.saturating_sub(self.samples).min(i32::MAX as u64) as i32;
        let old = (1.0 - self.gain).powi(past);
        self.samples = due;
        let bytes = std::mem::take(&mut self.bytes);
        self.bps = old * self.bps + self.gain * 8.0 * bytes as f64 / self.interval.secs_f64();
        bytes > 0
    }

    /// The estimate in bits per second.
    pub(super) fn bps(&self) -> f64 {
        self.bps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The estimate after 2000 B, which are 1 Mbps of a sample, in each of the samples of these numbers.
    fn after(estimate: RateEstimate, samples: impl IntoIterator<Item = u64>) -> f64 {
        let mut rate = MemberRate::new(estimate, Time::from_ms(16));
        for sample in samples {
            rate.sent(2000);
            assert!(rate.sample(Time::from_ms(16).times(sample)));
        }
        rate.bps() / 1e6
    }

    #[test]
    fn a_mean_follows_with_sixteen_samples() {
        // 1 - (15/16)^16 = 0.6439.
        assert!((after(RateEstimate::Mean, 1..=16) - 0.6439).abs() < 1e-4);
        assert_eq!(after(RateEstimate::Raw, 1..=1), 1.0);
    }

    #[test]
    fn idle_samples_are_left_out_and_count() {
        // (15/16)^9 / 16 + 1/16 = 0.0975: eight samples are left out, the tenth is taken.
        let want = (0.9375_f64.powi(9) + 1.0) / 16.0;
        assert!((after(RateEstimate::Mean, [1, 10]) - want).abs() < 1e-12);
        assert_eq!(after(RateEstimate::Raw, [1, 10]), 1.0);
    }

    #[test]
    fn a_sample_says_whether_anything_was_sent() {
        let mut rate = MemberRate::new(RateEstimate::Mean, Time::from_ms(16));
        assert!(!rate.sample(Time::from_ms(16)));
        rate.sent(1);
        assert!(rate.sample(Time::from_ms(32)));
        assert!(!rate.sample(Time::from_ms(48)));
    }
}
