//! Loaded and checked scenarios.

use pyo3::prelude::*;
use sojourn_core::network::Simulation;
use sojourn_core::provision::Provision;
use sojourn_core::provision::load_for;
use sojourn_core::scenario::Scenario;
use sojourn_core::scenario::file::to_toml;

use crate::ScenarioError;
use crate::modem_config::ConfigFile;
use crate::panics::caught;
use crate::problem::about;

/// One run of a scenario file: the resolved scenario, with a name if the file compares variants.
#[pyclass(frozen, module = "sojourn._sojourn")]
pub struct Variant {
    /// Name in the file's `compare` table; empty if there is none.
    #[pyo3(get)]
    name: String,
    pub scenario: Scenario,
    /// Settings of a modem's configuration file that cannot be simulated.
    #[pyo3(get)]
    pub notes: Vec<String>,
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

    /// Warnings before a run: settings without effect, rates that cannot be kept, and settings of a
    /// modem's configuration file that cannot be simulated.
    fn warnings(&self) -> PyResult<Vec<String>> {
        let told = caught(|| Simulation::new(&self.scenario).warnings())?;
        Ok(self.notes.iter().cloned().chain(told).collect())
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

/// The runs that the TOML `text` describes. Each of `sets` (`key.path=value`) overrides it, and
/// `source` is its name in messages. `modem` is a modem's configuration file and its name; its
/// service overrides that of the text.
#[pyfunction]
#[pyo3(signature = (text, source, sets, modem=None))]
pub fn load(
    py: Python<'_>,
    text: &str,
    source: &str,
    sets: Vec<String>,
    modem: Option<(PyRef<'_, ConfigFile>, String)>,
) -> PyResult<Vec<Variant>> {
    let load = || {
        let modem = modem.as_ref().map(|(file, source)| (file.view(), source));
        let provision = modem.as_ref().map(|(config, source)| Provision { config, source });
        load_for(text, source, &sets, provision.as_ref())
    };
    let variants =
        caught(load)?.map_err(|problems| about(py, &problems, ScenarioError::new_err))?;
    let variants = variants.into_iter();
    Ok(variants.map(|v| Variant { name: v.name, scenario: v.scenario, notes: v.notes }).collect())
}
