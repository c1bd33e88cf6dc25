//! Pieces of queue managers by themselves, for the figures that show how they behave.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sojourn_core::aqm::pie_parts::Derandomiser;
use sojourn_core::engine::rng::Rng;

/// Arrivals up to and with each of so many drops, at a constant drop probability, by the
/// de-randomiser of PIE and DOCSIS-PIE.
#[pyfunction]
pub fn derandomiser_runs(probability: f64, drops: usize, seed: u64) -> PyResult<Vec<u64>> {
    if !(probability > 0.0 && probability <= 1.0) {
        return Err(PyValueError::new_err(format!(
            "probability: found {probability}; allowed: above 0, up to 1"
        )));
    }
    let mut derandomiser = Derandomiser::default();
    let mut rng = Rng::named(seed, "de-randomiser");
    Ok((0..drops).map(|_| run_length(&mut derandomiser, probability, &mut rng)).collect())
}

fn run_length(derandomiser: &mut Derandomiser, probability: f64, rng: &mut Rng) -> u64 {
    derandomiser.reset();
    let mut length = 0;
    loop {
        length += 1;
        derandomiser.accumulate(probability);
        if derandomiser.says_drop(probability, rng) {
            return length;
        }
    }
}
