//! Problems with user input, as exceptions.

use pyo3::prelude::*;
use sojourn_core::input::problem::Problem;

/// The exception for a problem, with the attributes `source` and `path`.
pub fn about(py: Python<'_>, problem: &Problem, new: impl FnOnce(String) -> PyErr) -> PyErr {
    let error = new(problem.to_string());
    let attributes = [("source", &problem.source), ("path", &problem.path)];
    let set = attributes.iter().try_for_each(|(name, text)| error.value(py).setattr(*name, text));
    set.err().unwrap_or(error)
}
