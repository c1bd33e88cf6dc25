//! What can go wrong with the system, each in one sentence.

use std::fmt;

/// What went wrong, what is allowed and what to do.
#[derive(Clone, Debug)]
pub struct Error(String);

/// A result whose error is a sentence.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error with this sentence.
    pub fn new(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
    }

    /// An error of the system, with what was tried.
    pub(crate) fn of(what: &str) -> impl FnOnce(nix::Error) -> Self {
        move |errno| Self(format!("{what}: {}", errno.desc()))
    }

    /// The same of an error of the standard library.
    pub(crate) fn of_io(what: &str) -> impl FnOnce(std::io::Error) -> Self {
        move |error| Self(format!("{what}: {error}"))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}
