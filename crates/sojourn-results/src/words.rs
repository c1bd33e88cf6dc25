//! Numbers and lists as sentences have them.

/// A number with three significant digits, at most four of them behind the point; digits before it are never cut.
pub fn digits(value: f64) -> String {
    with_digits(value, 3)
}

/// A number with so many significant digits, at most one more of them behind the point.
fn with_digits(value: f64, count: u8) -> String {
    let behind_first = i32::from(count) - 1;
    // What rounds up to the next power of ten has a digit less behind the point.
    let rounded = format!("{value:.*e}", behind_first.unsigned_abs() as usize);
    let size: i32 = rounded.rsplit('e').next().and_then(|size| size.parse().ok()).unwrap_or(0);
    let places = (behind_first - size).clamp(0, behind_first + 2).unsigned_abs() as usize;
    let text = format!("{value:.places$}");
    if text.parse() == Ok(0.0) { "0".to_owned() } else { text }
}

/// Numbers that are compared: three significant digits, or as many as show which differ. Those that differ by less than
/// a millionth are equal.
pub(crate) fn apart(values: &[f64]) -> Vec<String> {
    compared(values, values.len())
}

/// As [`apart`], each compared with the first alone.
pub(crate) fn apart_from_first(values: &[f64]) -> Vec<String> {
    compared(values, 1)
}

/// Numbers of which each is compared with so many of the first.
fn compared(values: &[f64], first: usize) -> Vec<String> {
    let with = |count| values.iter().map(|value| with_digits(*value, count)).collect::<Vec<_>>();
    let is_shown = |texts: &Vec<String>| {
        let hidden = |(one, other): (usize, usize)| {
            texts[one] == texts[other] && differ(values[one], values[other])
        };
        !(1..values.len()).any(|other| (0..other.min(first)).any(|one| hidden((one, other))))
    };
    (3..=MOST_DIGITS).map(with).find(is_shown).unwrap_or_else(|| with(3))
}

/// Do texts of two numbers show that they differ?
pub(crate) fn differ(one: f64, other: f64) -> bool {
    (one - other).abs() > SAME * one.abs().max(other.abs())
}

/// `from 12.0 to 35.1`.
pub(crate) fn from_to(from: f64, to: f64) -> String {
    let texts = apart(&[from, to]);
    format!("from {} to {}", texts[0], texts[1])
}

const SAME: f64 = 1e-6;
/// So many show a difference of a millionth.
const MOST_DIGITS: u8 = 8;

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
    use sojourn_engine::rng::Rng;

    #[test]
    fn numbers_have_three_digits() {
        let clauses = [0.0, 0.01234, 1.234, 36.44, 208.4, 12_345.0].map(digits);
        assert_eq!(clauses, ["0", "0.0123", "1.23", "36.4", "208", "12345"]);
        assert_eq!([-1.234, 0.001_234, 0.000_01].map(digits), ["-1.23", "0.0012", "0"]);
        assert_eq!([9.994, 9.996, 99.94, 99.95].map(digits), ["9.99", "10.0", "99.9", "100"]);
        assert_eq!([1.62, 9.94, 9.95, 12.96].map(factor), ["1.6", "9.9", "10", "13"]);
    }

    /// What differs by more than a millionth has different texts.
    #[test]
    fn numbers_that_differ_look_different() {
        assert_eq!(apart(&[9.375, 9.376]), ["9.375", "9.376"]);
        assert_eq!(apart(&[89.96, 90.0, 90.04]), ["89.96", "90.00", "90.04"]);
        assert_eq!(apart(&[2.0, 2.0 + 1e-9]), ["2.00", "2.00"]);
        assert_eq!(from_to(0.0, 0.000_01), "from 0 to 0.00001");
        assert_eq!(apart_from_first(&[2.0, 107.1, 107.101]), ["2.00", "107", "107"]);
        assert_eq!(apart_from_first(&[107.1, 2.0, 107.101]), ["107.100", "2.00000", "107.101"]);
        let mut rng = Rng::named(1, "numbers");
        for _ in 0..1000 {
            let one = 10f64.powf(7.0 * rng.uniform() - 1.0);
            let by = 10f64.powf(-8.0 * rng.uniform());
            let texts = apart(&[one, one * (1.0 + by)]);
            assert!(texts[0] != texts[1] || by / (1.0 + by) <= SAME, "{texts:?} {by}");
            assert!(by < 0.01 || texts[0] == digits(one), "{texts:?}");
        }
    }

    #[test]
    fn lists_end_with_and() {
        assert_eq!(listed(&["a"]), "a");
        assert_eq!(listed(&["a", "b, c", "d"]), "a, 'b, c' and d");
        assert_eq!(capitalised("the upload"), "The upload");
    }
}
