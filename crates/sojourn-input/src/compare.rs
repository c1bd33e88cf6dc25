//! Checks between keys of the same table.

use super::problem::Fault;

/// Checks that the first of two keys is not less than the second.
pub fn at_least((key, value): (&str, f64), least: (&str, f64)) -> Result<(), Fault> {
    if value >= least.1 {
        return Ok(());
    }
    let allowed = format!("{} or more, the value of {}", least.1, least.0);
    Err(Fault::found(key, value, allowed))
}

/// Checks that the values of a list do not descend.
pub fn ascending(key: &str, values: &[f64], what: &str) -> Result<(), Fault> {
    for (i, pair) in values.windows(2).enumerate() {
        if let [low, high] = pair
            && low > high
        {
            let allowed = format!("{low} or more, since {what} must ascend");
            return Err(Fault::found(format!("{key}.{}", i + 1), high, allowed));
        }
    }
    Ok(())
}
