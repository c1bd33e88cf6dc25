//! The Python module `sojourn._sojourn`. It loads scenarios, runs them without the interpreter's
//! lock, returns results as Arrow tables, and reads modem configuration files. All simulation is in
//! the crate `sojourn`.

mod aqm;
#[cfg(target_os = "linux")]
mod emulation;
mod fairness;
mod job;
mod line_log;
mod loading;
mod modem_config;
mod panics;
mod part;
mod problem;
mod results;
mod stepped;
mod table;
mod variant;
mod verdict;

use pyo3::exceptions::{PyException, PyRuntimeError};
use pyo3::{create_exception, import_exception};

import_exception!(sojourn.base.errors, InputError);
create_exception!(
    sojourn,
    ScenarioError,
    InputError,
    "A scenario that cannot be run. `problems` lists what is wrong; `source` and `path` are those of the first."
);
create_exception!(
    sojourn,
    ConfigError,
    InputError,
    "A modem configuration file that cannot be read or written. `problems` has what is wrong, as in ScenarioError."
);
create_exception!(
    sojourn,
    PartError,
    PyException,
    "A part from outside that failed in a run. Its cause is the exception of the part."
);
create_exception!(sojourn, Cancelled, PyException, "The run was cancelled by its job.");
create_exception!(sojourn, Defect, PyRuntimeError, "An invariant of the simulator does not hold.");

#[pyo3::pymodule]
mod _sojourn {
    use pyo3::exceptions::{PyRuntimeError, PyValueError};
    use pyo3::prelude::*;
    use sojourn::input::document;
    use sojourn::results::metrics::definitions;
    use sojourn::scenario::presets;

    use crate::part::parts_of;
    use crate::problem::about;

    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use super::emulation::{Emulation, Program};
    #[pymodule_export]
    use super::fairness::{jfi, max_min, mmr};
    #[pymodule_export]
    use super::job::{Job, run};
    #[pymodule_export]
    use super::line_log::LineLog;
    #[pymodule_export]
    use super::loading::{
        all_changed_defaults, distinct, idle_lines, in_words, load, record_settings,
        require_records, set_label, stored_scenario, unit_of,
    };
    #[pymodule_export]
    use super::modem_config::ConfigFile;
    #[pymodule_export]
    use super::part::Part;
    #[pymodule_export]
    use super::problem::all_codes;
    #[pymodule_export]
    use super::results::{RunResult, empty_tables};
    #[pymodule_export]
    use super::stepped::Stepped;
    #[pymodule_export]
    use super::table::ArrowTable;
    #[pymodule_export]
    use super::variant::Variant;
    #[pymodule_export]
    use super::verdict::{Facts, applications_json, measures_json, verdict};
    #[pymodule_export]
    use super::{Cancelled, ConfigError, Defect, PartError, ScenarioError};

    /// What only studies of algorithms by themselves need.
    #[pymodule]
    mod studies {
        #[pymodule_export]
        use super::super::aqm::{derandomiser_runs, open_loop};
    }

    /// The JSON Schema of a scenario file with these parts, as text.
    ///
    /// Raises `ScenarioError` if a part has the name of another one.
    #[pyfunction]
    #[pyo3(signature = (parts=Vec::new()))]
    fn schema_json(py: Python<'_>, parts: Vec<PyRef<'_, Part>>) -> PyResult<String> {
        let schema = parts_of(&parts)?
            .file_schema()
            .map_err(|problems| about(py, &problems, ScenarioError::new_err))?;
        serde_json::to_string_pretty(&schema)
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// Names and texts of the scenarios that come with sojourn, those of the gallery last.
    #[pyfunction]
    fn shipped() -> Vec<(&'static str, &'static str)> {
        [sojourn::shipped::SCENARIOS, sojourn::shipped::GALLERY].concat()
    }

    /// As many digits of what load adds to a round trip as show on which side of a letter's bound it is.
    #[pyfunction]
    fn digits_of_letter(added_ms: f64) -> String {
        sojourn::results::digits_of_letter(added_ms)
    }

    /// A number with three significant digits, at most four of them behind the point; digits before it are never cut.
    #[pyfunction]
    fn digits(value: f64) -> String {
        sojourn::results::digits(value)
    }

    /// The 97.5 % quantile of Student's t distribution for the mean of so many seeds; `None` below two.
    #[pyfunction]
    fn student_t(seeds: usize) -> Option<f64> {
        sojourn::results::student_t(seeds)
    }

    /// Queue managers by name, with label and keys of a queue, as JSON.
    #[pyfunction]
    fn presets_json() -> String {
        presets().to_string()
    }

    /// A TOML document as JSON text, checked against a JSON Schema; `source` is the file it is from.
    ///
    /// Raises `ScenarioError` with the file and key at fault.
    #[pyfunction]
    fn read_document(
        py: Python<'_>,
        text: &str,
        schema_json: &str,
        source: &str,
    ) -> PyResult<String> {
        let schema = serde_json::from_str(schema_json)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        document::read_document(text, schema, source)
            .map(|document| document.to_string())
            .map_err(|problems| about(py, &problems, ScenarioError::new_err))
    }

    /// What all tables of results have, and what is sampled over time, as JSON.
    #[pyfunction]
    fn definitions_json() -> PyResult<String> {
        serde_json::to_string(&(definitions(), sojourn::series()))
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::panics::remember_where();
        module.add("version", sojourn::VERSION)
    }
}
