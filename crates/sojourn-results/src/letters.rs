//! Letters of DSLReports for the delay that load adds to a round trip (dslreports.com/faq/17930), of simulated lines
//! and of measured ones.

/// Where A ends, in ms.
pub(crate) const A_MS: f64 = 30.0;
/// Below so many ms.
const LETTERS: [(f64, &str); 5] =
    [(5.0, "A+"), (A_MS, "A"), (60.0, "B"), (200.0, "C"), (400.0, "D")];
/// From the last bound on.
const WORST: &str = "F";

/// The letter of a delay that load adds to the mean round trip.
pub(crate) fn letter(added_ms: f64) -> &'static str {
    let found = LETTERS.iter().find(|(below_ms, _)| added_ms < *below_ms);
    found.map_or(WORST, |(_, letter)| letter)
}

/// Where letters end, in ms.
pub fn letter_bounds_ms() -> [f64; 5] {
    LETTERS.map(|(below_ms, _)| below_ms)
}
