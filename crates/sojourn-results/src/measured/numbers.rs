//! Means and quantiles.

/// The mean; `None` without values.
pub(super) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The value that this share of the sorted values does not exceed, between the two nearest ones.
pub(super) fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share * sorted.len().checked_sub(1)? as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    Some(low + (high - low) * place.fract())
}

/// The median of values in any order.
pub(super) fn median(values: &[f64]) -> Option<f64> {
    quantile(&sorted(values.to_vec()), 0.5)
}

pub(super) fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_values() {
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.5), Some(2.0));
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.75), Some(3.0));
        assert_eq!(
            (median(&[]), median(&[4.0, 1.0, 2.0, 8.0]), mean(&[1.0, 2.0])),
            (None, Some(3.0), Some(1.5))
        );
    }
}
