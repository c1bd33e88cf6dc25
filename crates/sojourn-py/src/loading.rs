//! From scenario files to variants, and what their settings are called.

use std::path::PathBuf;

use pyo3::prelude::*;
use serde_json::Value;
use sojourn::input::fault;
use sojourn::input::setting;
use sojourn::input::text::Document;
use sojourn::outside::{Record, has_all_records};
use sojourn::scenario::changes::{CHANGES, Change, SINCE};
use sojourn::scenario::provision::Provision;
use sojourn::scenario::to_toml;
use sojourn::scenario::{self, Source};
use sojourn_parts::stand_ins;

use crate::ScenarioError;
use crate::modem_config::ConfigFile;
use crate::panics::caught;
use crate::part::{Part, parts_of};
use crate::problem::about;
use crate::variant::Variant;

/// The runs that the TOML `text` describes. Each of `sets` (`key.path=value`) overrides it, and
/// `source` is its name in messages. `modem` is a modem's configuration file and its name; its
/// service overrides that of the text. A variant whose run may need more than `most_bytes` of memory is
/// refused. `parts` are kinds that it may choose beside the built-in ones.
#[pyfunction]
#[pyo3(signature = (text, source, sets, modem=None, most_bytes=None, parts=Vec::new()))]
pub(crate) fn load(
    py: Python<'_>,
    text: &str,
    source: &str,
    sets: Vec<String>,
    modem: Option<(PyRef<'_, ConfigFile>, String)>,
    most_bytes: Option<u64>,
    parts: Vec<PyRef<'_, Part>>,
) -> PyResult<Vec<Variant>> {
    let known = parts_of(&parts)?;
    if let Some((file, source)) = &modem {
        file.check(py, source)?;
    }
    let load = || {
        let modem = modem.as_ref().map(|(file, source)| (file.view(), file.notes(), source));
        let provision = modem.as_ref();
        let provision =
            provision.map(|(config, problems, source)| Provision { config, problems, source });
        Source::new(text, source)
            .sets(&sets)
            .overlay(provision.as_ref().map(|provision| provision as _))
            .most_bytes(most_bytes.unwrap_or(u64::MAX))
            .parts(&known)
            .load()
    };
    let variants =
        caught(load)?.map_err(|problems| about(py, &problems, ScenarioError::new_err))?;
    let calls_python = parts.iter().any(|part| part.calls_python);
    Ok(variants.into_iter().map(|variant| Variant::of(variant, calls_python)).collect())
}

/// The settings with which a scenario replays a record of real packets, as `key.path=value`.
#[pyfunction]
pub(crate) fn record_settings(py: Python<'_>, file: PathBuf) -> PyResult<Vec<String>> {
    let name = file.display().to_string();
    let read = || Record::open(&file).map(|record| record.settings(&name));
    caught(read)?.map_err(|reason| {
        let fault = fault!(UnusableFile, "" => "found {name:?}, {reason}", name, reason);
        about(py, &fault.of("--replay").into(), ScenarioError::new_err)
    })
}

/// Raises `ScenarioError` if real packets of a variant have no record.
#[pyfunction]
pub(crate) fn require_records(py: Python<'_>, variant: &Variant) -> PyResult<()> {
    has_all_records(&variant.scenario, &variant.name)
        .map_err(|problems| about(py, &problems, ScenarioError::new_err))
}

/// The complete scenario of stored results, checked and written again: the same text, if it is as it was stored.
/// Its parts from outside need not be there; `parts_json` has what metadata says of them.
#[pyfunction]
pub(crate) fn stored_scenario(
    py: Python<'_>,
    text: &str,
    source: &str,
    parts_json: &str,
) -> PyResult<String> {
    let read = || {
        let table = Document::parse(text, source)?.into_parts().0;
        let parts = stand_ins(&table, &described(parts_json));
        Source::new(text, source).parts(&parts).load_stored().map(|scenario| to_toml(&scenario))
    };
    caught(read)?.map_err(|problems| about(py, &problems, ScenarioError::new_err))
}

/// What metadata says of parts, by their digests.
pub(crate) fn described(parts_json: &str) -> Value {
    serde_json::from_str(parts_json).unwrap_or_default()
}

/// All defaults that differ from the last release, and that release. Of each: key, condition, former and
/// present default, what restores the former one, and why.
#[pyfunction]
pub(crate) fn all_changed_defaults() -> (&'static str, Vec<[&'static str; 6]>) {
    let row = |change: &Change| {
        [change.key, change.condition, change.before, change.now, change.restore, change.why]
    };
    (SINCE, CHANGES.iter().map(row).collect())
}

/// The idle lines of these variants: the same traffic without bulk traffic.
#[pyfunction]
pub(crate) fn idle_lines(variants: Vec<PyRef<'_, Variant>>) -> PyResult<Vec<Variant>> {
    let calls_python = variants.iter().any(|variant| variant.calls_python);
    let variants: Vec<_> = variants.iter().map(|variant| variant.of.clone()).collect();
    let made = |variant| Variant::of(variant, calls_python);
    caught(|| scenario::idle_lines(&variants).into_iter().map(made).collect())
}

/// The variants without those that are equal to an earlier one, which says so in its notes.
#[pyfunction]
pub(crate) fn distinct(variants: Vec<PyRef<'_, Variant>>) -> PyResult<Vec<Variant>> {
    let calls_python = variants.iter().any(|variant| variant.calls_python);
    let variants: Vec<_> = variants.iter().map(|variant| variant.of.clone()).collect();
    let made = |variant| Variant::of(variant, calls_python);
    caught(|| scenario::labels::distinct(variants).into_iter().map(made).collect())
}

/// `KEY.PATH=VALUE` as names of variants have it.
#[pyfunction]
pub(crate) fn set_label(py: Python<'_>, set: &str) -> PyResult<String> {
    scenario::overlay::label(set)
        .map_err(|problem| about(py, &problem.into(), ScenarioError::new_err))
}

/// The key of a `KEY.PATH=VALUE` in words, its unit (empty for none), and the value with it.
#[pyfunction]
pub(crate) fn in_words(py: Python<'_>, set: &str) -> PyResult<(String, &'static str, String)> {
    scenario::overlay::in_words(set)
        .map_err(|problem| about(py, &problem.into(), ScenarioError::new_err))
}

/// The unit that the name of a key ends with; empty for none.
#[pyfunction]
pub(crate) fn unit_of(key: &str) -> &'static str {
    setting::named(key).1
}
