//! Mean and confidence interval over the runs of several seeds.

use serde::Serialize;

/// The mean over seeds, with its 95 % confidence interval if there are several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Value {
    /// The mean; `None` if nothing was measured.
    pub mean: Option<f64>,
    /// Half of the interval's width; `None` with a single seed.
    pub half_width: Option<f64>,
}

/// 97.5 % quantiles of Student's t with 1 to 30 degrees of freedom, and of the normal distribution.
#[rustfmt::skip]
const T: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
];
const Z: f64 = 1.960;

/// The mean of the known values, with its 95 % interval from Student's t distribution.
pub fn over_seeds(values: &[Option<f64>]) -> Value {
    let known: Vec<f64> = values.iter().copied().flatten().collect();
    let count = known.len() as f64;
    if known.is_empty() {
        return Value::default();
    }
    let mean = known.iter().sum::<f64>() / count;
    let squares: f64 = known.iter().map(|value| (value - mean).powi(2)).sum();
    let half_width =
        student_t(known.len()).map(|t| t * (squares / (count - 1.0)).sqrt() / count.sqrt());
    Value { mean: Some(mean), half_width }
}

/// The 97.5 % quantile of Student's t distribution for the mean of so many seeds; `None` below two.
pub fn student_t(seeds: usize) -> Option<f64> {
    let freedom = seeds.checked_sub(1).filter(|freedom| *freedom > 0)?;
    // 2.042 at 30 and 1.984 at 100, as tabled.
    Some(T.get(freedom - 1).copied().unwrap_or(Z + 2.4 / freedom as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_that_of_students_t() {
        // Of 1, 2 and 3 the mean is 2, the deviation 1, and t with 2 degrees of freedom 4.303.
        let value = over_seeds(&[Some(1.0), None, Some(2.0), Some(3.0)]);
        assert_eq!(value.mean, Some(2.0));
        assert!((value.half_width.unwrap() - 4.303 / 3f64.sqrt()).abs() < 1e-12);
        assert_eq!(over_seeds(&[None; 2]), Value::default());
        assert_eq!(over_seeds(&[Some(5.0)]), Value { mean: Some(5.0), half_width: None });
        assert_eq!(over_seeds(&[None]), Value::default());
    }

    #[test]
    fn the_quantile_falls_with_each_degree_of_freedom_towards_the_normal_one() {
        assert_eq!((student_t(0), student_t(1)), (None, None));
        let t = |freedom: usize| student_t(freedom + 1).unwrap();
        for (freedom, want) in [(1, 12.706), (2, 4.303), (10, 2.228), (30, 2.042), (100, 1.984)] {
            assert!((t(freedom) - want).abs() < 1e-9, "{freedom}: {}", t(freedom));
        }
        for freedom in 1..60 {
            assert!(t(freedom) > t(freedom + 1) && t(freedom) > 1.96, "{freedom}");
        }
    }
}
