//! Loaded and checked scenarios.

use pyo3::prelude::*;
use sojourn::scenario;
use sojourn::scenario::changes::{Change, Changed};
use sojourn::scenario::estimate;
use sojourn::scenario::to_toml;

use std::ops::Deref;

use crate::ScenarioError;
use crate::panics::caught;
use crate::problem::{about, object, warnings};

/// Its key; its former default, that of now, what restores the former one, and why; a warning of it.
type ChangedDefault = (String, [&'static str; 4], Py<PyAny>);

/// One run of a scenario file: the resolved scenario, with a name if the file compares variants.
#[pyclass(frozen, module = "sojourn._sojourn")]
#[derive(Clone)]
pub struct Variant {
    pub of: scenario::Variant,
    /// May its run call classes of Python?
    #[pyo3(get)]
    pub calls_python: bool,
}

impl Deref for Variant {
    type Target = scenario::Variant;

    fn deref(&self) -> &scenario::Variant {
        &self.of
    }
}

impl Variant {
    pub(crate) fn of(of: scenario::Variant, calls_python: bool) -> Self {
        Self { of, calls_python }
    }

    /// This variant, ended at this time.
    pub(crate) fn ended(&self, at_s: f64) -> Self {
        let mut ended = self.clone();
        ended.of.scenario.duration_s = at_s;
        ended
    }
}

#[pymethods]
impl Variant {
    /// Name in the file's `compare` table; empty if there is none.
    #[getter]
    fn name(&self) -> &str {
        &self.of.name
    }

    /// What of its name in the `compare` table nothing overrides.
    #[getter]
    fn kept_name(&self) -> &str {
        &self.of.kept_name
    }

    /// This variant with another name.
    fn named(&self, name: String) -> Self {
        let mut variant = self.clone();
        (variant.of.kept_name, variant.of.name) = (name.clone(), name);
        variant
    }

    /// This variant with other keys, as `load` would give it, without reading its file again.
    #[pyo3(signature = (*, seed=None, duration_s=None, set=None))]
    fn replace(
        &self,
        py: Python<'_>,
        seed: Option<u64>,
        duration_s: Option<f64>,
        set: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let mut sets: Vec<String> = match set {
            Some(set) => {
                let scenario = py.import("sojourn.runs.scenario")?;
                scenario.call_method1("assignments", (set,))?.extract()?
            }
            None => Vec::new(),
        };
        sets.extend(duration_s.map(|duration_s| format!("duration_s={duration_s:?}")));
        let mut variant = self.of.clone();
        if !sets.is_empty() {
            let replaced = caught(|| variant.replace(&sets))?;
            variant = replaced.map_err(|problems| about(py, &problems, ScenarioError::new_err))?;
        }
        if let Some(seed) = seed {
            variant = variant.with_seed(seed);
        }
        Ok(Self::of(variant, self.calls_python))
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
