//! The mean of times whose distribution is not kept.

use crate::units::Time;

/// Sum and number of times.
#[derive(Clone, Copy, Debug, Default)]
pub struct TimeMean {
    sum_ps: u128,
    count: u64,
}

impl TimeMean {
    /// Takes in one time.
    #[inline]
    pub fn add(&mut self, value: Time) {
        self.sum_ps += u128::from(value.ps());
        self.count += 1;
    }

    /// The mean in ms; `None` if there was no time.
    pub fn ms(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ps as f64 / self.count as f64 / 1e9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_counts_the_same() {
        let mut mean = TimeMean::default();
        assert_eq!(mean.ms(), None);
        [1, 2, 6].into_iter().for_each(|ms| mean.add(Time::from_ms(ms)));
        assert_eq!(mean.ms(), Some(3.0));
    }
}
