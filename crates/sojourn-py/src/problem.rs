//! Problems with what people wrote, as exceptions.

use pyo3::prelude::*;
use sojourn_core::input::problem::Problem;

/// The exception about a problem, which tells its `source` and `path` too.
pub fn about(py: Python<'_>, problem: &Problem, new: impl FnOnce(String) -> PyErr) -> PyErr {
    let error = new(problem.to_string());
    let attributes = [("source", &problem.source), ("path", &problem.path)];
    let set = attributes.iter().try_for_each(|(name, text)| error.value(py).setattr(*name, text));
    set.err().unwrap_or(error)
}
