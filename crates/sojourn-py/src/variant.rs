//! Loaded and checked scenarios.

use pyo3::prelude::*;
use sojourn_core::input::setting;
use sojourn_core::network;
use sojourn_core::provision::Provision;
use sojourn_core::scenario::changes::{CHANGES, Change, Changed, SINCE};
use sojourn_core::scenario::estimate::estimate;
use sojourn_core::scenario::file::to_toml;
use sojourn_core::scenario::{self, Scenario, Source};

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
    /// What of its name in the `compare` table nothing overrides.
    #[pyo3(get)]
    kept_name: String,
    pub scenario: Scenario,
    /// Settings of a modem's configuration file that cannot be simulated.
    #[pyo3(get)]
    pub notes: Vec<String>,
    changes: Vec<Changed>,
}

impl From<scenario::Variant> for Variant {
    fn from(variant: scenario::Variant) -> Self {
        let scenario::Variant { name, kept_name, scenario, notes, changes } = variant;
        Self { name, kept_name, scenario, notes, changes }
    }
}

impl From<&Variant> for scenario::Variant {
    fn from(variant: &Variant) -> Self {
        let Variant { name, kept_name, scenario, notes, changes } = variant;
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
    /// The same with another name.
    fn named(&self, name: String) -> Self {
        let scenario::Variant { scenario, notes, changes, .. } = self.into();
        Self { kept_name: name.clone(), name, scenario, notes, changes }
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
    fn warnings(&self) -> PyResult<Vec<String>> {
        let told = caught(|| network::warnings(&self.scenario))?;
        Ok(self.notes.iter().cloned().chain(told).collect())
    }

    /// Defaults that it relies on and that differ from the last release: key, former and present default,
    /// what restores the former one, why, and all this as a sentence.
    fn changed_defaults(&self) -> Vec<(String, [&'static str; 4], String)> {
        let row = |changed: &Changed| {
            let Change { before, now, restore, why, .. } = changed.change;
            (changed.path.clone(), [*before, *now, *restore, *why], changed.sentence())
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

/// The runs that the TOML `text` describes. Each of `sets` (`key.path=value`) overrides it, and
/// `source` is its name in messages. `modem` is a modem's configuration file and its name; its
/// service overrides that of the text. A variant whose run may need more than `most_bytes` of memory is
/// refused.
#[pyfunction]
#[pyo3(signature = (text, source, sets, modem=None, most_bytes=None))]
pub fn load(
    py: Python<'_>,
    text: &str,
    source: &str,
    sets: Vec<String>,
    modem: Option<(PyRef<'_, ConfigFile>, String)>,
    most_bytes: Option<u64>,
) -> PyResult<Vec<Variant>> {
    let load = || {
        let modem = modem.as_ref().map(|(file, source)| (file.view(), source));
        let provision = modem.as_ref().map(|(config, source)| Provision { config, source });
        Source::new(text, source)
            .sets(&sets)
            .overlay(provision.as_ref().map(|provision| provision as _))
            .most_bytes(most_bytes.unwrap_or(u64::MAX))
            .load()
    };
    let variants =
        caught(load)?.map_err(|problems| about(py, &problems, ScenarioError::new_err))?;
    Ok(variants.into_iter().map(Variant::from).collect())
}

/// The complete scenario of stored results, checked and written again: the same text, if it is as it was stored.
#[pyfunction]
pub fn stored_scenario(py: Python<'_>, text: &str, source: &str) -> PyResult<String> {
    let read =
        caught(|| Source::new(text, source).load_stored().map(|scenario| to_toml(&scenario)))?;
    read.map_err(|problems| about(py, &problems, ScenarioError::new_err))
}

/// All defaults that differ from the last release, and that release. Of each: key, condition, former and
/// present default, what restores the former one, and why.
#[pyfunction]
pub fn all_changed_defaults() -> (&'static str, Vec<[&'static str; 6]>) {
    let row = |change: &Change| {
        [change.key, change.condition, change.before, change.now, change.restore, change.why]
    };
    (SINCE, CHANGES.iter().map(row).collect())
}

/// The idle lines of these variants: the same traffic without bulk traffic.
#[pyfunction]
pub fn idle_lines(variants: Vec<PyRef<'_, Variant>>) -> PyResult<Vec<Variant>> {
    let variants: Vec<_> = variants.iter().map(|variant| (&**variant).into()).collect();
    caught(|| scenario::idle_lines(&variants).into_iter().map(Variant::from).collect())
}

/// The variants without those that are equal to an earlier one, which says so in its notes.
#[pyfunction]
pub fn distinct(variants: Vec<PyRef<'_, Variant>>) -> PyResult<Vec<Variant>> {
    let variants: Vec<_> = variants.iter().map(|variant| (&**variant).into()).collect();
    caught(|| scenario::labels::distinct(variants).into_iter().map(Variant::from).collect())
}

/// `KEY.PATH=VALUE` as names of variants have it.
#[pyfunction]
pub fn set_label(py: Python<'_>, set: &str) -> PyResult<String> {
    scenario::overlay::label(set)
        .map_err(|problem| about(py, &problem.into(), ScenarioError::new_err))
}

/// The key of a `KEY.PATH=VALUE` in words, its unit (empty for none), and the value with it.
#[pyfunction]
pub fn in_words(py: Python<'_>, set: &str) -> PyResult<(String, &'static str, String)> {
    scenario::overlay::in_words(set)
        .map_err(|problem| about(py, &problem.into(), ScenarioError::new_err))
}

/// The unit that the name of a key ends with; empty for none.
#[pyfunction]
pub fn unit_of(key: &str) -> &'static str {
    setting::named(key).1
}
