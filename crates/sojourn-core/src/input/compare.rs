//! Checks of keys that stand beside each other.

use super::problem::Fault;

/// The first of two keys must not be less than the second.
pub(crate) fn at_least((key, value): (&str, f64), least: (&str, f64)) -> Result<(), Fault> {
    if value >= least.1 {
        return Ok(());
    }
    Err(Fault::new(key, format!("found {value}; allowed: {} or more, by {}", least.1, least.0)))
}

/// The values of a list must not descend.
pub(crate) fn ascending(key: &str, values: &[f64], what: &str) -> Result<(), Fault> {
    for (i, pair) in values.windows(2).enumerate() {
        if let [low, high] = pair
            && low > high
        {
            let message = format!("found {high}; allowed: {low} or more, as {what} ascend");
            return Err(Fault::new(format!("{key}.{}", i + 1), message));
        }
    }
    Ok(())
}
