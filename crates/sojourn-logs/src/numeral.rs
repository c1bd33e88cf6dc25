//! Numbers in lines of text.

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
