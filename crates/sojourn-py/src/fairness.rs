//! Weighted max-min fair division and fairness indices.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sojourn::engine::fairness::{self, Demand};

/// Divides a capacity by weighted max-min fairness and returns each flow's share. A demand may be
/// infinite. All rates are in the same unit.
#[pyfunction]
pub(crate) fn max_min(capacity: f64, demands: Vec<f64>, weights: Vec<f64>) -> PyResult<Vec<f64>> {
    if demands.len() != weights.len() {
        let (demands, weights) = (demands.len(), weights.len());
        return Err(PyValueError::new_err(format!(
            "weights: found {weights} for {demands} demands; allowed: {demands}"
        )));
    }
    all_at_least_zero("capacity", &[capacity])?;
    all_at_least_zero("demands", &demands)?;
    if let Some(weight) = weights.iter().find(|w| !(w.is_finite() && **w > 0.0)) {
        return Err(PyValueError::new_err(format!("weights: found {weight}; allowed: above 0")));
    }
    let demands: Vec<_> =
        demands.into_iter().zip(weights).map(|(rate, weight)| Demand::new(rate, weight)).collect();
    Ok(fairness::max_min(capacity, &demands))
}

/// Jain's fairness index: 1 if all values are equal, `None` if all are zero or there are none.
#[pyfunction]
pub(crate) fn jfi(x: Vec<f64>) -> PyResult<Option<f64>> {
    all_at_least_zero("x", &x)?;
    Ok(fairness::jfi(&x))
}

/// Minimum over maximum; `None` if all values are zero or there are none.
#[pyfunction]
pub(crate) fn mmr(x: Vec<f64>) -> PyResult<Option<f64>> {
    all_at_least_zero("x", &x)?;
    Ok(fairness::mmr(&x))
}

fn all_at_least_zero(name: &str, values: &[f64]) -> PyResult<()> {
    match values.iter().find(|value| value.is_nan() || **value < 0.0) {
        None => Ok(()),
        Some(value) => {
            Err(PyValueError::new_err(format!("{name}: found {value}; allowed: 0 or more")))
        }
    }
}
