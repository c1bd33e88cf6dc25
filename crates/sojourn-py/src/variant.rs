//! Loaded and checked scenarios.

use pyo3::prelude::*;
use sojourn::input::problem::Warning;
use sojourn::scenario::changes::{Change, Changed};
use sojourn::scenario::estimate;
use sojourn::scenario::to_toml;
use sojourn::scenario::{self, Scenario};

use crate::panics::caught;
use crate::problem::{object, warnings};

/// Its key; its former default, that of now, what restores the former one, and why; a warning of it.
type ChangedDefault = (String, [&'static str; 4], Py<PyAny>);

/// One run of a scenario file: the resolved scenario, with a name if the file compares variants.
#[pyclass(frozen, module = "sojourn._sojourn")]
pub struct Variant {
    /// Name in the file's `compare` table; empty if there is none.
    #[pyo3(get)]
    name: String,
    /// What of its name in the `compare` table nothing overrides.
    #[pyo3(get)]
    kept_name: String,
    pub scenario: Scenario,
    pub notes: Vec<Warning>,
    changes: Vec<Changed>,
    /// May its run call classes of Python?
    #[pyo3(get)]
    pub calls_python: bool,
}

impl Variant {
    pub(crate) fn of(variant: scenario::Variant, calls_python: bool) -> Self {
        let scenario::Variant { name, kept_name, scenario, notes, changes } = variant;
        Self { name, kept_name, scenario, notes, changes, calls_python }
    }
}

impl From<&Variant> for scenario::Variant {
    fn from(variant: &Variant) -> Self {
        let Variant { name, kept_name, scenario, notes, changes, .. } = variant;
        Self {
            name: name.clone(),
            kept_name: kept_name.clone(),
            scenario: scenario.clone(),
            notes: notes.clone(),
            changes: changes.clone(),
        }
    }
}

#[pymethods]
impl Variant {
    /// This variant with another name.
    fn named(&self, name: String) -> Self {
        let scenario::Variant { scenario, notes, changes, .. } = self.into();
        let calls_python = self.calls_python;
        Self { kept_name: name.clone(), name, scenario, notes, changes, calls_python }
    }

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

    /// Bytes of memory that the run needs, at most: an estimate.
    #[getter]
    fn memory_bytes(&self) -> u64 {
        estimate(&self.scenario).bytes()
    }

    /// Warnings before a run: settings without effect, rates that cannot be kept, and settings of a
    /// modem's configuration file that cannot be simulated.
    fn warnings(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        let of_run = caught(|| sojourn::warnings(&self.scenario))?;
        warnings(py, self.notes.iter().chain(&of_run))
    }

    /// Settings of a modem's configuration file that cannot be simulated, and what captures have.
    #[getter]
    fn notes(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        warnings(py, &self.notes)
    }

    /// Defaults that it relies on and that differ from the last release: key, former and present default,
    /// what restores the former one, why, and all this as a warning.
    fn changed_defaults(&self, py: Python<'_>) -> PyResult<Vec<ChangedDefault>> {
        let row = |changed: &Changed| {
            let Change { before, now, restore, why, .. } = changed.change;
            let warning = object(py, "Warning", &changed.warning())?;
            Ok((changed.path.clone(), [*before, *now, *restore, *why], warning))
        };
        self.changes.iter().map(row).collect()
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
