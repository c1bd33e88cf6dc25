//! Problems with user input, as exceptions.

use pyo3::prelude::*;
use sojourn::input::problem::{self, Problems};

/// One problem with a file: where it is, what was found and what is allowed.
#[pyclass(frozen, get_all, module = "sojourn._sojourn")]
pub struct Problem {
    /// The file or `--set` with the problem.
    source: String,
    /// Line of the file, from 1, where one is known.
    line: Option<usize>,
    /// Key path; empty for the whole file.
    path: String,
    /// What was found and what is allowed.
    message: String,
}

#[pymethods]
impl Problem {
    #[new]
    #[pyo3(signature = (source, path, message, line=None))]
    fn new(source: String, path: String, message: String, line: Option<usize>) -> Self {
        Self { source, line, path, message }
    }

    /// As one line of text: `FILE:LINE: KEY: MESSAGE`.
    fn __str__(&self) -> String {
        let source = match self.line {
            Some(line) => format!("{}:{line}", self.source),
            None => self.source.clone(),
        };
        let parts = [&source, &self.path, &self.message];
        let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).cloned().collect();
        parts.join(": ")
    }

    fn __repr__(&self) -> String {
        format!("<Problem {}>", self.__str__())
    }
}

impl From<&problem::Problem> for Problem {
    fn from(problem: &problem::Problem) -> Self {
        let problem::Problem { source, line, path, message } = problem.clone();
        Self { source, line, path, message }
    }
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
    let told: Vec<_> = problems.told().map(Problem::from).collect();
    let set = value
        .setattr("problems", told)
        .and_then(|()| value.setattr("rest", problems.rest()))
        .and_then(|()| value.setattr("source", &first.source))
        .and_then(|()| value.setattr("path", &first.path));
    set.err().unwrap_or(error)
}
