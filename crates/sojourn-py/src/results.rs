//! The results of a run, as tables.

use std::collections::HashMap;

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use serde_json::{Value, json};
use sojourn::results::metrics::Results;
use sojourn::results::metrics::Visitor;
use sojourn::results::metrics::column::Table;
use sojourn::scenario::Scenario;

use crate::table::{ArrowTable, arrow_table};
use crate::verdict::Facts;

/// What a run reports: its meta data, and its tables by their names.
#[pyclass(frozen, module = "sojourn._sojourn")]
pub struct RunResult {
    /// Version, seed, counts, fingerprint and warnings, as JSON.
    #[pyo3(get)]
    meta: String,
    /// What it contributes to measures, grades and verdicts.
    #[pyo3(get)]
    facts: Facts,
    tables: HashMap<&'static str, ArrowTable>,
}

#[pymethods]
impl RunResult {
    /// A table by its name.
    fn table(&self, name: &str) -> PyResult<ArrowTable> {
        self.tables.get(name).cloned().ok_or_else(|| PyKeyError::new_err(name.to_owned()))
    }
}

/// All tables without rows, by their names.
#[pyfunction]
pub(crate) fn empty_tables() -> HashMap<&'static str, ArrowTable> {
    tables(&Results::default())
}

impl RunResult {
    /// The results of a run of this scenario.
    pub fn new(results: &Results, scenario: &Scenario) -> Self {
        Self {
            meta: meta(results, scenario.seed),
            facts: Facts::of(scenario, &results.into()),
            tables: tables(results),
        }
    }
}

impl RunResult {
    /// The same with one more entry in its meta data.
    pub(crate) fn noting(mut self, key: &str, value: Value) -> Self {
        if let Ok(Value::Object(mut meta)) = serde_json::from_str(&self.meta) {
            meta.insert(key.to_owned(), value);
            self.meta = Value::Object(meta).to_string();
        }
        self
    }
}

fn tables(results: &Results) -> HashMap<&'static str, ArrowTable> {
    let mut tables = Tables::default();
    results.tables(&mut tables);
    tables.0
}

#[derive(Default)]
struct Tables(HashMap<&'static str, ArrowTable>);

impl Visitor for Tables {
    fn table<Row: Table>(&mut self, rows: &[Row]) {
        self.0.insert(Row::NAME, arrow_table(rows));
    }
}

fn meta(results: &Results, seed: u64) -> String {
    let mut meta = json!({
        "version": results.version,
        "seed": seed,
        "duration_s": results.duration_s,
        "events": results.events,
        "forwarded_packets": results.forwarded_packets,
        "fingerprint": format!("{:016x}", results.fingerprint),
        "warnings": results.warnings,
    });
    if let Some(planned_s) = results.planned_s {
        meta["planned_s"] = planned_s.into();
    }
    if !results.changes.is_empty() {
        meta["changes"] = json!(results.changes);
    }
    meta.to_string()
}
