//! Streaming distribution of a latency.

use super::histogram::Histogram;
use crate::units::Time;

pub use super::histogram::RELATIVE_ERROR;

const PS_PER_US: u64 = 1_000_000;

/// The distribution of a latency: count, mean, minimum and maximum exactly, quantiles to
/// [`RELATIVE_ERROR`] or 1 us, whichever is larger. Memory depends on the range of values only.
#[derive(Clone)]
pub struct Latency {
    us: Histogram,
    sum_ps: u128,
    min: Time,
    max: Time,
}

impl Default for Latency {
    fn default() -> Self {
        Self { us: Histogram::default(), sum_ps: 0, min: Time::NEVER, max: Time::ZERO }
    }
}

impl Latency {
    /// Takes in one value.
    #[inline]
    pub fn record(&mut self, value: Time) {
        self.sum_ps += u128::from(value.ps());
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.us.record(value.ps() / PS_PER_US);
    }

    /// Takes in all values of another.
    pub fn merge(&mut self, other: &Self) {
        self.sum_ps += other.sum_ps;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.us.add(&other.us);
    }

    /// What it has taken in since it was as `earlier`. Where the least or greatest value came before, that of the
    /// others lies within their first or last cell, and within what is known of all: no value is beyond either.
    pub fn since(&self, earlier: &Self) -> Self {
        let us = self.us.since(&earlier.us);
        let Some((first, last)) = us.range() else { return Self::default() };
        let at_us = |us: u64| Time::from_ps(us * PS_PER_US);
        let least = if self.min < earlier.min { self.min } else { self.min.max(at_us(first)) };
        let end = at_us(last + 1).since(Time::from_ps(1));
        let greatest = if self.max > earlier.max { self.max } else { self.max.min(end) };
        Self { us, sum_ps: self.sum_ps - earlier.sum_ps, min: least, max: greatest }
    }

    /// How many values there are.
    pub fn count(&self) -> u64 {
        self.us.count()
    }

    /// The sum of all values in ps.
    pub fn sum_ps(&self) -> u128 {
        self.sum_ps
    }

    /// The least value in ms.
    pub fn min_ms(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.min.ms_f64())
    }

    /// The greatest value in ms.
    pub fn max_ms(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.max.ms_f64())
    }

    /// The mean in ms.
    pub fn mean_ms(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum_ps as f64 / self.count() as f64 / 1e9)
    }

    /// The value in ms that a share `quantile` of all values does not exceed.
    pub fn quantile_ms(&self, quantile: f64) -> Option<f64> {
        (self.count() > 0).then(|| {
            let us = self.us.at_quantile(quantile);
            (us as f64 / 1e3).clamp(self.min.ms_f64(), self.max.ms_f64())
        })
    }

    /// How many values exceed `ms`.
    pub fn count_above_ms(&self, ms: f64) -> u64 {
        let us = (ms * 1e3) as u64;
        self.us.cells().filter(|cell| cell.last > us).map(|cell| cell.count).sum()
    }

    /// Mean in ms of the values that do not exceed `ms`.
    pub fn mean_up_to_ms(&self, ms: f64) -> Option<f64> {
        let us = (ms * 1e3) as u64;
        let (mut sum, mut count) = (0.0, 0);
        for cell in self.us.cells().filter(|cell| cell.last <= us) {
            sum += cell.middle() as f64 * cell.count as f64;
            count += cell.count;
        }
        (count > 0).then(|| sum / count as f64 / 1e3)
    }

    /// The distribution as (value in ms, number of values in that cell), ascending.
    pub fn cells(&self) -> Vec<(f64, u64)> {
        self.us.cells().map(|cell| (cell.last as f64 / 1e3, cell.count)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_testing::at_random;
    use sojourn_testing::proptest::prelude::*;

    #[test]
    fn quantiles_keep_their_stated_error() {
        let mut latency = Latency::default();
        for us in 1..=100_000_u64 {
            latency.record(Time::from_us(us));
        }
        for (q, want) in [(0.5, 50.0), (0.9, 90.0), (0.99, 99.0), (0.999, 99.9)] {
            let got = latency.quantile_ms(q).unwrap();
            assert!((got / want - 1.0).abs() <= RELATIVE_ERROR, "{q}: {got}");
        }
        assert_eq!((latency.min_ms(), latency.max_ms()), (Some(0.001), Some(100.0)));
        assert!((latency.mean_ms().unwrap() - 50.0005).abs() < 1e-9);
        assert!((latency.count_above_ms(60.0) as f64 / 40_000.0 - 1.0).abs() < 2e-3);
    }

    #[test]
    fn merged_distributions_are_one() {
        let (mut small, mut large) = (Latency::default(), Latency::default());
        (1..=3).for_each(|ms| small.record(Time::from_ms(ms)));
        large.record(Time::from_ms(1000));
        small.merge(&large);
        small.merge(&Latency::default());
        // (1 + 2 + 3 + 1000) / 4 = 251.5; half of the values do not exceed 2.
        assert_eq!((small.count(), small.mean_ms()), (4, Some(251.5)));
        assert_eq!((small.min_ms(), small.max_ms()), (Some(1.0), Some(1000.0)));
        assert!((small.quantile_ms(0.5).unwrap() - 2.0).abs() <= 2.0 * RELATIVE_ERROR);
    }

    #[test]
    fn what_came_since_is_a_distribution() {
        let mut latency = Latency::default();
        [5, 400].into_iter().for_each(|ms| latency.record(Time::from_ms(ms)));
        let earlier = latency.clone();
        assert_eq!(latency.since(&earlier).quantile_ms(0.5), None);
        [10, 20, 30].into_iter().for_each(|ms| latency.record(Time::from_ms(ms)));
        let since = latency.since(&earlier);
        assert_eq!((since.count(), since.mean_ms()), (3, Some(20.0)));
        for (got, want) in [(since.min_ms(), 10.0), (since.max_ms(), 30.0)] {
            assert!((got.unwrap() / want - 1.0).abs() <= RELATIVE_ERROR, "{got:?}");
        }
        latency.record(Time::from_us(500_001));
        assert_eq!(latency.since(&earlier).max_ms(), Some(500.001));
    }

    at_random! {
        64;

        /// Bounds, mean and quantiles of what came since are in order, and within a cell of those of these values alone.
        #[test]
        fn bounds_hold_what_came_since(
            before in prop::collection::vec(0_u64..1 << 40, 0..20),
            since in prop::collection::vec(0_u64..1 << 40, 1..20),
            shift in 0_u32..40,
        ) {
            let of = |values: &[u64]| {
                let mut latency = Latency::default();
                values.iter().for_each(|ps| latency.record(Time::from_ps(ps >> shift)));
                latency
            };
            let (earlier, alone) = (of(&before), of(&since));
            let mut whole = earlier.clone();
            whole.merge(&alone);
            let since = whole.since(&earlier);
            prop_assert!(since.min <= alone.min && since.max >= alone.max);
            for (got, want) in [(since.min, alone.min), (since.max, alone.max)] {
                let cell_ps = (want.ps() as f64 * RELATIVE_ERROR).max(PS_PER_US as f64);
                prop_assert!(got.ps().abs_diff(want.ps()) as f64 <= cell_ps, "{got:?} {want:?}");
            }
            prop_assert_eq!(since.mean_ms(), alone.mean_ms());
            let quantiles = [0.01, 0.5, 0.99, 1.0].map(|quantile| since.quantile_ms(quantile));
            let shown = [&[since.min_ms()], &quantiles[..], &[since.max_ms()]].concat();
            prop_assert!(shown.is_sorted(), "{shown:?}");
        }
    }

    #[test]
    fn a_cell_has_whole_microseconds_up_to_its_edge() {
        let of = |values: &[u64]| {
            let mut latency = Latency::default();
            values.iter().for_each(|ps| latency.record(Time::from_ps(*ps)));
            latency.cells()
        };
        // One microsecond until the next begins.
        assert_eq!(of(&[1_000_000, 1_999_999]), [(0.001, 2)]);
        assert_eq!(of(&[1_999_999, 2_000_000]), [(0.001, 1), (0.002, 1)]);
        // From 2^16 us on a cell has 64 of them: 65 536 to 65 599, then 65 600.
        let us = |us: u64| us * 1_000_000;
        assert_eq!(of(&[us(65_536), us(65_599)]), [(65.599, 2)]);
        assert_eq!(of(&[us(65_599), us(65_600)]), [(65.599, 1), (65.663, 1)]);
    }

    #[test]
    fn an_empty_distribution_has_no_quantiles() {
        let latency = Latency::default();
        assert_eq!((latency.quantile_ms(0.5), latency.mean_ms()), (None, None));
    }
}
