//! What a line of ping or fping says.

use crate::stamp::Came;

/// A line that says what became of a probe.
pub(crate) struct Reply<'a> {
    /// Names its stream.
    pub(crate) host: &'a str,
    /// When the line was printed, if it says so.
    pub(crate) came: Option<Came>,
    pub(crate) number: Option<f64>,
    /// `None` for a lost probe.
    pub(crate) rtt_ms: Option<f64>,
}
