//! A latency as a distribution and over time.

use super::{Latency, Series};
use crate::units::Time;

/// The distribution of a latency, and its mean in each sampling interval.
pub struct LatencyMeter {
    latency: Latency,
    /// Sum in ps and number of the values before this interval.
    before: (u128, u64),
    series: Series,
}

impl LatencyMeter {
    /// A meter that has seen nothing; its series is called `metric`.
    pub fn new(metric: &'static str) -> Self {
        Self { latency: Latency::default(), before: (0, 0), series: Series::new(metric, "ms") }
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
        self.series.push(mean_ms);
    }

    /// The distribution of all values.
    pub fn latency(&self) -> &Latency {
        &self.latency
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
    fn a_series_has_the_mean_of_each_interval() {
        let mut meter = LatencyMeter::new("rtt");
        // Three values of 10 ms in one interval, none in the next, one of 40 ms in the third.
        (0..3).for_each(|_| meter.record(Time::from_ms(10)));
        meter.sample();
        meter.sample();
        meter.record(Time::from_ms(40));
        meter.sample();
        assert_eq!(meter.latency().mean_ms(), Some(17.5));
        let [first, none, third] = meter.series().values[..] else { panic!("three intervals") };
        assert_eq!((first, third), (10.0, 40.0));
        assert!(none.is_nan());
    }
}
