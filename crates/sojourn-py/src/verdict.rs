//! Grades and the verdict of runs.

use std::collections::BTreeMap;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sojourn::engine::packet::Direction;
use sojourn::results::verdict::{self as core, APPLICATIONS, Group, MEASURES, Rows};
use sojourn::scenario::Scenario;
use sojourn_parts::stand_ins;

use crate::loading::described;
use crate::panics::caught;

/// What a run contributes to a verdict.
#[pyclass(frozen, module = "sojourn._sojourn")]
#[derive(Clone)]
pub struct Facts {
    facts: core::Facts,
    unfinished_s: BTreeMap<String, Vec<f64>>,
}

impl Facts {
    pub(crate) fn of(scenario: &Scenario, rows: &Rows) -> Self {
        let of_entry = |name: &String| (name.clone(), core::unfinished_s(scenario, rows, name));
        Self {
            facts: core::Facts::of(scenario, rows),
            unfinished_s: scenario.traffic.keys().map(of_entry).collect(),
        }
    }
}

#[pymethods]
impl Facts {
    /// The facts of a run: its complete scenario, and its tables flows, queues and pages as
    /// lists of rows, both as JSON. `parts_json` has what its metadata says of parts from outside.
    #[new]
    fn new(scenario_json: &str, tables_json: &str, parts_json: &str) -> PyResult<Self> {
        let scenario: Value = parsed(scenario_json)?;
        let mut scenario: Scenario = stand_ins(&scenario, &described(parts_json))
            .within(|| serde_json::from_value(scenario))
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        let rows: Rows = parsed(tables_json)?;
        // Probes of controllers are never written.
        scenario.fill();
        caught(|| Self::of(&scenario, &rows))
    }

    /// The measures that apply to the run, by key; `None` where nothing was measured.
    #[getter]
    fn measures(&self) -> BTreeMap<&'static str, Option<f64>> {
        self.facts.measures.clone()
    }

    /// The directions in which bulk traffic goes.
    #[getter]
    fn loaded(&self) -> Vec<&'static str> {
        self.facts.loaded().map(Direction::name).collect()
    }

    /// The traffic entries that are graded and answered for, by name.
    #[getter]
    fn traffic(&self) -> Vec<&str> {
        self.facts.traffic.iter().map(|entry| &*entry.name).collect()
    }

    /// How long each unfinished page of a traffic entry had been loading at the end, in s.
    fn unfinished_s(&self, traffic: &str) -> Vec<f64> {
        self.unfinished_s.get(traffic).cloned().unwrap_or_default()
    }
}

/// A group: its name, its variant, the values of the swept keys, and the facts of its runs.
type Given<'py> = (String, String, Vec<String>, Vec<PyRef<'py, Facts>>);

/// The verdict on groups of runs, as JSON. `keys` were swept.
#[pyfunction]
pub(crate) fn verdict(groups: Vec<Given<'_>>, keys: Vec<String>) -> PyResult<String> {
    if groups.is_empty() || groups.iter().any(|(.., runs)| runs.is_empty()) {
        return Err(PyValueError::new_err(
            "groups: found one without runs; allowed: 1 run or more",
        ));
    }
    let group = |(name, variant, point, runs): &Given<'_>| {
        let runs = runs.iter().map(|facts| facts.facts.clone()).collect();
        (name.clone(), variant.clone(), point.clone(), runs)
    };
    let owned: Vec<(String, String, Vec<String>, Vec<core::Facts>)> =
        groups.iter().map(group).collect();
    caught(|| {
        let groups: Vec<_> = owned
            .iter()
            .map(|(name, variant, point, runs)| Group {
                name,
                variant,
                point,
                runs: runs.iter().collect(),
            })
            .collect();
        json(&core::verdict(&groups, &keys))
    })?
}

/// What is graded, with thresholds and sources, as JSON.
#[pyfunction]
pub(crate) fn applications_json() -> PyResult<String> {
    json(&*APPLICATIONS)
}

/// The measures of runs side by side, as JSON.
#[pyfunction]
pub(crate) fn measures_json() -> PyResult<String> {
    json(&*MEASURES)
}

fn parsed<T: DeserializeOwned>(json: &str) -> PyResult<T> {
    serde_json::from_str(json).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}
