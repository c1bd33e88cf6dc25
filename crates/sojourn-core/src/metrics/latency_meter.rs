//! A latency as a distribution and over time.

use super::{Latency, Series};
use crate::units::Time;

/// The distribution of a latency, and its mean in each sampling interval.
pub struct LatencyMeter {
    latency: Latency,
    /// Sum in ps and number of the values before this interval.
    before: (u128, u64),
    /// Of the means of all intervals that had a value.
    sum_ms: f64,
    intervals: u64,
    series: Series,
}

impl LatencyMeter {
    /// A meter that has seen nothing; its series is called `metric`.
    pub fn new(metric: &'static str) -> Self {
        Self {
            latency: Latency::default(),
            before: (0, 0),
            sum_ms: 0.0,
            intervals: 0,
            series: Series::new(metric, "ms"),
        }
    }

    /// Takes in one value.
    #[inline]
    pub fn record(&mut self, value: Time) {
        self.latency.record(value);
    }

    /// Ends a sampling interval.
    pub fn sample(&mut self) {
        let (sum_ps, count) = (self.latency.sum_ps(), self.latency.count());
        let (sum_before, count_before) = std::mem::replace(&mut self.before, (sum_ps, count));
        let mean_ms = match count - count_before {
            0 => f64::NAN,
            values => (sum_ps - sum_before) as f64 / values as f64 / 1e9,
        };
        if !mean_ms.is_nan() {
            self.sum_ms += mean_ms;
            self.intervals += 1;
        }
        self.series.push(mean_ms);
    }

    /// The distribution of all values.
    pub fn latency(&self) -> &Latency {
        &self.latency
    }

    /// Mean in ms over time: every interval that had a value counts the same, however many it had.
    pub fn time_mean_ms(&self) -> Option<f64> {
        (self.intervals > 0).then(|| self.sum_ms / self.intervals as f64)
    }

    /// The mean of each interval in ms.
    pub fn series(&self) -> &Series {
        &self.series
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_over_time_weighs_intervals_and_not_values() {
        let mut meter = LatencyMeter::new("rtt");
        // Three values of 10 ms in one interval, none in the next, one of 40 ms in the third.
        (0..3).for_each(|_| meter.record(Time::from_ms(10)));
        meter.sample();
        meter.sample();
        meter.record(Time::from_ms(40));
        meter.sample();
        // (3 * 10 + 40) / 4 = 17.5 and (10 + 40) / 2 = 25.
        assert_eq!(meter.latency().mean_ms(), Some(17.5));
        assert_eq!(meter.time_mean_ms(), Some(25.0));
        assert_eq!(meter.series().values.len(), 3);
        assert!(meter.series().values[1].is_nan());
    }

    #[test]
    fn a_meter_that_saw_nothing_has_no_mean() {
        let mut meter = LatencyMeter::new("rtt");
        meter.sample();
        assert_eq!(meter.time_mean_ms(), None);
    }
}
