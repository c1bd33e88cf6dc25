//! What a line of ping or fping says, and the numbers in it.

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

/// Digits with a point or comma.
pub(crate) fn number(text: &str) -> Option<f64> {
    let is_plain = text.bytes().all(|one| one.is_ascii_digit() || one == b'.' || one == b',');
    let text = text.replace(',', ".");
    text.parse().ok().filter(|_| is_plain)
}

/// The number at the beginning.
pub(crate) fn leading(text: &str) -> Option<(f64, &str)> {
    let is_part = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
    let (digits, rest) = text.split_at(text.find(|c| !is_part(c)).unwrap_or(text.len()));
    Some((number(digits)?, rest))
}
