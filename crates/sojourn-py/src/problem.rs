//! Problems with user input, as exceptions, and warnings.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Serialize;
use sojourn::input::problem::{Code, Problems, Warning};

/// An object of a Python class, whose fields are those of the value.
pub(crate) fn object(py: Python<'_>, class: &str, value: &impl Serialize) -> PyResult<Py<PyAny>> {
    let text = serde_json::to_string(value).expect("it is plain data");
    let fields = py.import("json")?.call_method1("loads", (text,))?;
    let class = py.import("sojourn.base.errors")?.getattr(class)?;
    Ok(class.call((), Some(fields.cast::<PyDict>()?))?.unbind())
}

/// Warnings for Python.
pub(crate) fn warnings<'a>(
    py: Python<'_>,
    all: impl IntoIterator<Item = &'a Warning>,
) -> PyResult<Vec<Py<PyAny>>> {
    all.into_iter().map(|warning| object(py, "Warning", warning)).collect()
}

/// All codes of problems and warnings, with their meanings.
#[pyfunction]
pub(crate) fn all_codes() -> Vec<(&'static str, &'static str)> {
    Code::ALL.iter().map(|(_, name, meaning)| (*name, *meaning)).collect()
}

/// The exception for problems. Its attribute `problems` lists them; `source` and `path` are those of
/// the first, and `rest` says how many more there are.
pub(crate) fn about(
    py: Python<'_>,
    problems: &Problems,
    new: impl FnOnce(String) -> PyErr,
) -> PyErr {
    let error = new(problems.to_string());
    let value = error.value(py);
    let first = problems.first();
    let set = problems
        .reported()
        .map(|problem| object(py, "Problem", problem))
        .collect::<PyResult<Vec<_>>>()
        .and_then(|all| value.setattr("problems", all))
        .and_then(|()| value.setattr("rest", problems.rest()))
        .and_then(|()| value.setattr("source", &first.source))
        .and_then(|()| value.setattr("path", &first.path));
    set.err().unwrap_or(error)
}
