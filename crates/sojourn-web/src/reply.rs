//! Replies: JSON, and a blob for what JSON is too large for.

use serde_json::{Number, Value, json};
use sojourn::input::problem::Problem;

/// A reply: `{"value": ...}` or `{"faults": [{"source", "line", "code", "path", "message", "values",
/// "remedy"}]}`, and a blob.
#[derive(Default)]
pub struct Reply {
    /// JSON text.
    pub json: String,
    /// Columns of numbers, or a file.
    pub blob: Vec<u8>,
}

impl Reply {
    /// What was asked for.
    pub fn value(value: &Value, blob: Vec<u8>) -> Self {
        Self { json: json!({ "value": value }).to_string(), blob }
    }

    /// What is wrong with the request.
    pub fn faults(problems: &[Problem]) -> Self {
        Self { json: json!({ "faults": problems }).to_string(), blob: Vec::new() }
    }
}

/// The value with whole numbers that JavaScript would round as `{"$integer": "9007199254740993"}`.
pub fn exact(value: Value) -> Value {
    match value {
        Value::Number(number) if size_of_whole(&number) > MOST_EXACT => {
            json!({ "$integer": number.to_string() })
        }
        Value::Array(items) => items.into_iter().map(exact).collect(),
        Value::Object(entries) => {
            entries.into_iter().map(|(key, inner)| (key, exact(inner))).collect()
        }
        other => other,
    }
}

fn size_of_whole(number: &Number) -> u64 {
    number.as_u64().or(number.as_i64().map(i64::unsigned_abs)).unwrap_or(0)
}

/// The largest number below which JavaScript's numbers have all whole ones.
const MOST_EXACT: u64 = (1 << 53) - 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_whole_numbers_stay_exact() {
        let found = exact(
            json!({ "seed": u64::MAX, "rest": [9_007_199_254_740_991_i64, i64::MIN, 1e300] }),
        );
        assert_eq!(
            found,
            json!({
                "seed": { "$integer": "18446744073709551615" },
                "rest": [9_007_199_254_740_991_i64, { "$integer": "-9223372036854775808" }, 1e300],
            })
        );
    }
}
