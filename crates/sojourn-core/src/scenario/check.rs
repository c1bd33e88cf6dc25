//! stub
use std::fmt;
/// One problem with a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// File or other source.
    pub source: String,
    /// Key path, empty for the whole file.
    pub path: String,
    /// What was found and what is allowed.
    pub message: String,
}
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.source, self.path, self.message)
    }
}
impl std::error::Error for Problem {}
