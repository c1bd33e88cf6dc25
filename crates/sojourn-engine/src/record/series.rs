//! Values over time, in bounded memory.

use super::Definition;

/// Values kept of a series before neighbours are merged and its interval doubles.
const MAX_VALUES: usize = 4096;

/// One value per sampling interval. When there are too many, neighbours are averaged and the
/// interval doubles, so that a run of any length keeps between 2048 and 4096 values.
#[derive(Clone, Debug)]
pub struct Series {
    /// What was measured.
    pub metric: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// The values, `NaN` where there was nothing to measure.
    pub values: Vec<f32>,
    /// Sampling intervals per value.
    pub stride: u32,
    /// Is a value the sum over its sampling intervals, and not their mean?
    is_sum: bool,
    sum: f64,
    counted: u32,
    taken: u32,
}

impl Series {
    /// A series without values.
    pub fn new(metric: &'static str, unit: &'static str) -> Self {
        Self {
            metric,
            unit,
            values: Vec::new(),
            stride: 1,
            is_sum: false,
            sum: 0.0,
            counted: 0,
            taken: 0,
        }
    }

    /// A series of this definition without values.
    pub fn of(definition: Definition) -> Self {
        Self::new(definition.name, definition.unit)
    }

    /// As [`Self::of`], of counts: where intervals are merged, theirs are added.
    pub fn of_counts(definition: Definition) -> Self {
        Self { is_sum: true, ..Self::of(definition) }
    }

    /// The value of the sampling interval that ends now; `NaN` for none.
    pub fn push(&mut self, value: f64) {
        if !value.is_nan() {
            self.sum += value;
            self.counted += 1;
        }
        self.taken += 1;
        if self.taken < self.stride {
            return;
        }
        let parts = if self.is_sum { 1.0 } else { f64::from(self.counted) };
        let value = if self.counted == 0 { f64::NAN } else { self.sum / parts };
        self.values.push(value as f32);
        (self.sum, self.counted, self.taken) = (0.0, 0, 0);
        if self.values.len() == MAX_VALUES {
            self.halve();
        }
    }

    fn halve(&mut self) {
        let parts = if self.is_sum { 1.0 } else { 2.0 };
        let merge = |pair: &[f32]| match (pair[0].is_nan(), pair[1].is_nan()) {
            (true, _) => pair[1],
            (_, true) => pair[0],
            _ => (pair[0] + pair[1]) / parts,
        };
        self.values = self.values.chunks_exact(2).map(merge).collect();
        self.stride *= 2;
    }
}

/// Named values of a moment, as a law or scheduler shows its state.
#[derive(Default)]
pub struct Gauges(pub(crate) Vec<(&'static str, &'static str, f64)>);

impl Gauges {
    /// Shows the value of a series that Sojourn defines.
    pub fn show(&mut self, series: Definition, value: f64) {
        self.set(series.name, series.unit, value);
    }

    /// Shows `value` under `name`, in `unit`: a part from outside has series of its own.
    pub fn set(&mut self, name: &'static str, unit: &'static str, value: f64) {
        self.0.push((name, unit, value));
    }

    /// All that is shown: name, unit and value.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &'static str, f64)> {
        self.0.iter().copied()
    }

    /// What is shown under `name`, if anything is.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|(shown, _, _)| *shown == name).map(|(_, _, value)| *value)
    }
}

/// The series of gauges that are shown once per sampling interval, always in the same order.
#[derive(Default)]
pub struct GaugeSeries {
    series: Vec<Series>,
    scratch: Gauges,
    /// Sampling intervals that ended before the first.
    missed: u64,
}

impl GaugeSeries {
    /// Series that begin after so many sampling intervals.
    pub fn after(missed: u64) -> Self {
        Self { missed, ..Self::default() }
    }

    /// Ends a sampling interval with what is shown.
    pub fn sample(&mut self, show: impl FnOnce(&mut Gauges)) {
        self.scratch.0.clear();
        show(&mut self.scratch);
        for (index, &(metric, unit, value)) in self.scratch.0.iter().enumerate() {
            if index == self.series.len() {
                let mut series = Series::new(metric, unit);
                (0..self.missed).for_each(|_| series.push(f64::NAN));
                self.series.push(series);
            }
            assert!(
                !value.is_infinite(),
                "found {value} as gauge {metric}; allowed: a finite number"
            );
            self.series[index].push(value);
        }
    }

    /// All of them.
    pub fn iter(&self) -> std::slice::Iter<'_, Series> {
        self.series.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::queue_meter;

    #[test]
    fn a_long_series_doubles_its_interval_and_keeps_its_mean() {
        let mut series = Series::new("x", "1");
        for n in 0..20_000 {
            series.push(f64::from(n));
        }
        assert_eq!(series.stride, 8);
        assert_eq!(series.values.len(), 2500);
        // Value k is the mean of 8k .. 8k+7.
        assert_eq!(series.values[10], 83.5);
    }

    #[test]
    fn a_long_series_of_counts_keeps_its_sum() {
        let mut series = Series::of_counts(queue_meter::MARKS);
        (0..20_000).for_each(|n| series.push(f64::from(n % 3)));
        assert_eq!(series.stride, 8);
        // 0, 1, 2 and again: three values of 8 intervals have 0 to 2 eight times.
        assert_eq!(series.values[..3].iter().sum::<f32>(), 24.0);
        assert_eq!(series.values[0], 7.0);
    }

    #[test]
    fn gaps_are_left_out_of_means() {
        let mut series = Series::new("x", "1");
        for n in 0..MAX_VALUES {
            series.push(if n % 2 == 0 { 4.0 } else { f64::NAN });
        }
        assert!(series.values.iter().all(|v| *v == 4.0));
    }
}
