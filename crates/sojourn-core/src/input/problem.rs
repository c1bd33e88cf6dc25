//! What is wrong with user input, and where.

use std::fmt;

/// One problem with a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// The file or `--set` with the problem.
    pub source: String,
    /// Key path, with the prefix `variant NAME: ` if only one variant is concerned. Empty for the
    /// whole file.
    pub path: String,
    /// What was found and what is allowed.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [&*self.source, &*self.path, &*self.message];
        let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        f.write_str(&parts.join(": "))
    }
}

impl std::error::Error for Problem {}

/// What is wrong at a key, before it is known which file or `--set` gave its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Key path, empty for the whole.
    pub path: String,
    /// What was found and what is allowed.
    pub message: String,
}

impl Fault {
    /// A fault at a key.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }

    /// The same fault with its path below the table or list at `path`.
    pub fn under(self, path: &str) -> Self {
        let path = [path, &self.path].into_iter().filter(|part| !part.is_empty());
        Self { path: path.collect::<Vec<_>>().join("."), ..self }
    }

    /// The problem that this fault is in the file or `--set` named `source`.
    pub fn of(self, source: &str) -> Problem {
        Problem { source: source.to_owned(), path: self.path, message: self.message }
    }
}
