//! Letters of DSLReports for the delay that load adds to a round trip (dslreports.com/faq/17930), of simulated lines
//! and of measured ones.

use crate::words::digits;

/// Where A+ ends, in ms.
const A_PLUS_MS: f64 = 5.0;
/// Where A ends, in ms.
pub(crate) const A_MS: f64 = 30.0;
/// Below so many ms.
const LETTERS: [(f64, &str); 5] =
    [(A_PLUS_MS, "A+"), (A_MS, "A"), (60.0, "B"), (200.0, "C"), (400.0, "D")];
const MOST_DIGITS: usize = 9;
/// From the last bound on.
const WORST: &str = "F";

/// The letter of a delay that load adds to the mean round trip.
pub(crate) fn letter(added_ms: f64) -> &'static str {
    let found = LETTERS.iter().find(|(below_ms, _)| added_ms < *below_ms);
    found.map_or(WORST, |(_, letter)| letter)
}

/// As many digits of such a delay as show on which side of a letter's bound it is.
pub fn digits_of_letter(added_ms: f64) -> String {
    let more = (0..MOST_DIGITS).map(|places| format!("{added_ms:.places$}"));
    let agrees = |text: &String| text.parse().is_ok_and(|shown| letter(shown) == letter(added_ms));
    [digits(added_ms)].into_iter().chain(more).find(agrees).unwrap_or_else(|| added_ms.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_a_letter_are_on_its_side() {
        let shown = [4.999_6, 4.996, 29.99, 30.0, 59.96, -0.000_01, 0.0].map(digits_of_letter);
        assert_eq!(shown, ["4.9996", "4.996", "29.99", "30.0", "59.96", "0", "0"]);
    }
}
