//! Numbers and lists as sentences have them.

/// A number with three significant digits, at most four of them behind the point; digits before it are never cut.
pub fn digits(value: f64) -> String {
    // What rounds up to the next power of ten has a digit less behind the point.
    let rounded = format!("{value:.2e}");
    let size: i32 = rounded.rsplit('e').next().and_then(|size| size.parse().ok()).unwrap_or(0);
    let text = format!("{value:.*}", (2 - size).clamp(0, 4).unsigned_abs() as usize);
    if text.parse() == Ok(0.0) { "0".to_owned() } else { text }
}

/// A factor such as 13 or 1.6.
pub(crate) fn factor(value: f64) -> String {
    if value < 9.95 { format!("{value:.1}") } else { format!("{value:.0}") }
}

/// `a, b and c`; names with a comma are in quotes.
pub(crate) fn listed<T: AsRef<str>>(words: &[T]) -> String {
    joined(words.iter().map(|word| quoted(word.as_ref())))
}

/// `a, b and c` of parts without commas of their own, or that may have them.
pub(crate) fn joined(parts: impl IntoIterator<Item = String>) -> String {
    let parts: Vec<String> = parts.into_iter().collect();
    match parts.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [several @ .., last] => format!("{} and {last}", several.join(", ")),
    }
}

/// A text around such parts, if there are any.
pub(crate) fn around(
    parts: impl IntoIterator<Item = String>,
    text: impl FnOnce(String) -> String,
) -> Option<String> {
    Some(joined(parts)).filter(|parts| !parts.is_empty()).map(text)
}

/// A name for use in a list of names.
pub(crate) fn quoted(name: &str) -> String {
    if name.contains(',') { format!("'{name}'") } else { name.to_owned() }
}

/// With a capital letter at its beginning.
pub(crate) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Each once, in the order of the first.
pub(crate) fn distinct<K: PartialEq>(all: impl Iterator<Item = K>) -> Vec<K> {
    grouped(all.map(|one| (one, ()))).into_iter().map(|(one, _)| one).collect()
}

/// What belongs to each key, in the order of the first.
pub(crate) fn grouped<K: PartialEq, V>(
    pairs: impl IntoIterator<Item = (K, V)>,
) -> Vec<(K, Vec<V>)> {
    let mut found: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in pairs {
        match found.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => found.push((key, vec![value])),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        let clauses = [0.0, 0.01234, 1.234, 36.44, 208.4, 12_345.0].map(digits);
        assert_eq!(clauses, ["0", "0.0123", "1.23", "36.4", "208", "12345"]);
        assert_eq!([-1.234, 0.001_234, 0.000_01].map(digits), ["-1.23", "0.0012", "0"]);
        assert_eq!([9.994, 9.996, 99.94, 99.95].map(digits), ["9.99", "10.0", "99.9", "100"]);
        assert_eq!([1.62, 9.94, 9.95, 12.96].map(factor), ["1.6", "9.9", "10", "13"]);
    }

    #[test]
    fn lists_end_with_and() {
        assert_eq!(listed(&["a"]), "a");
        assert_eq!(listed(&["a", "b, c", "d"]), "a, 'b, c' and d");
        assert_eq!(capitalised("the upload"), "The upload");
    }
}
