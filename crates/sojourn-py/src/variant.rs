//! Scenarios, loaded and checked.

use pyo3::prelude::*;
use sojourn_core::scenario::Scenario;
use sojourn_core::scenario::file::to_toml;

use crate::ScenarioError;
use crate::panics::caught;
use crate::problem::about;

/// One run of a scenario file: the scenario in full, with a name where the file compares several.
#[pyclass(frozen, module = "sojourn._sojourn")]
pub struct Variant {
    /// Name in the file's `compare` table, empty where there is none.
    #[pyo3(get)]
    name: String,
    pub scenario: Scenario,
}

#[pymethods]
impl Variant {
    /// Seed of all random streams.
    #[getter]
    fn seed(&self) -> u64 {
        self.scenario.seed
    }

    /// Simulated time in s.
    #[getter]
    fn duration_s(&self) -> f64 {
        self.scenario.duration_s
    }

    /// The scenario with all its defaults, as TOML.
    fn to_toml(&self) -> PyResult<String> {
        caught(|| to_toml(&self.scenario))
    }

    /// The scenario with all its defaults, as JSON.
    fn to_json(&self) -> PyResult<String> {
        caught(|| serde_json::to_string(&self.scenario).expect("a scenario is plain data"))
    }
}

/// The runs that the TOML `text` describes, each key of `sets` (`key.path=value`) laid over it;
/// `source` names the text in messages.
#[pyfunction]
pub fn load(py: Python<'_>, text: &str, source: &str, sets: Vec<String>) -> PyResult<Vec<Variant>> {
    let variants = caught(|| sojourn_core::scenario::load(text, source, &sets))?
        .map_err(|problem| about(py, &problem, ScenarioError::new_err))?;
    Ok(variants.into_iter().map(|v| Variant { name: v.name, scenario: v.scenario }).collect())
}
