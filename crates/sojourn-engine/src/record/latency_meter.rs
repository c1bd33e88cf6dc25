//! A latency as a distribution and over time.

use super::{Definition, Latency, Series};
use crate::units::Time;

/// The distribution of a latency, and its mean in each sampling interval.
pub struct LatencyMeter {
    latency: Latency,
    /// Sum in ps and number of the values that are in the series alone.
    left_out: (u128, u64),
    /// Sum in ps and number of the values before this interval.
    before: (u128, u64),
    series: Series,
}

impl LatencyMeter {
    /// A meter that has seen nothing, with this series, in ms.
    pub fn new(series: Definition) -> Self {
        let series = Series::of(series);
        Self { latency: Latency::default(), left_out: (0, 0), before: (0, 0), series }
    }

    /// Takes in one value.
    #[inline]
    pub fn record(&mut self, value: Time) {
        self.latency.record(value);
    }

    /// Takes in one value, which counts in the distribution or not.
    #[inline]
    pub fn record_if(&mut self, counts: bool, value: Time) {
        if counts { self.record(value) } else { self.leave_out(value) }
    }

    /// Takes in one value that does not count in the distribution.
    #[cold]
    pub fn leave_out(&mut self, value: Time) {
        self.left_out.0 += u128::from(value.ps());
        self.left_out.1 += 1;
    }

    /// Ends a sampling interval.
    pub fn sample(&mut self) {
        let (sum_ps, count) = self.left_out;
        let (sum_ps, count) = (sum_ps + self.latency.sum_ps(), count + self.latency.count());
        let (sum_before, count_before) = std::mem::replace(&mut self.before, (sum_ps, count));
        let mean_ms = match count - count_before {
            0 => f64::NAN,
            values => (sum_ps - sum_before) as f64 / values as f64 / 1e9,
        };
        self.series.push(mean_ms);
    }

    /// Has it taken in nothing?
    pub fn is_empty(&self) -> bool {
        self.latency.count() + self.left_out.1 == 0
    }

    /// The distribution of all values but those left out.
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
    use crate::record::queue_meter::QUEUE_DELAY;

    #[test]
    fn a_series_has_the_mean_of_each_interval() {
        let mut meter = LatencyMeter::new(QUEUE_DELAY);
        // Three values of 10 ms in one interval, none in the next, two of 40 ms in the third, of which one
        // is left out of the distribution.
        (0..3).for_each(|_| meter.record(Time::from_ms(10)));
        meter.sample();
        meter.sample();
        meter.record(Time::from_ms(40));
        meter.leave_out(Time::from_ms(40));
        meter.sample();
        assert_eq!(meter.latency().mean_ms(), Some(17.5));
        let [first, none, third] = meter.series().values[..] else { panic!("three intervals") };
        assert_eq!((first, third), (10.0, 40.0));
        assert!(none.is_nan());
    }
}
