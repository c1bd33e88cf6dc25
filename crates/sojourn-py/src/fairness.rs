//! Max-min fair division and the indices of fairness.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sojourn_core::metrics::fairness::{self, Demand};

/// What each flow gets of a capacity in a weighted max-min fair division; a demand may be infinite.
/// All rates are in the same unit.
#[pyfunction]
pub fn max_min(capacity: f64, demands: Vec<f64>, weights: Vec<f64>) -> PyResult<Vec<f64>> {
    if demands.len() != weights.len() {
        let (demands, weights) = (demands.len(), weights.len());
        return Err(PyValueError::new_err(format!(
            "weights: found {weights} for {demands} demands; allowed: as many"
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

/// Jain's fairness index, 1 where all values are equal; nothing if all are zero or there is none.
#[pyfunction]
pub fn jfi(x: Vec<f64>) -> PyResult<Option<f64>> {
    all_at_least_zero("x", &x)?;
    Ok(fairness::jfi(&x))
}

/// Least value over greatest; nothing if all are zero or there is none.
#[pyfunction]
pub fn mmr(x: Vec<f64>) -> PyResult<Option<f64>> {
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
