//! Replies: JSON, and a blob for what JSON is too large for.

use serde_json::{Value, json};
use sojourn_core::input::problem::Problem;

/// A reply: `{"value": ...}` or `{"faults": [{"source", "line", "path", "message"}]}`, and a blob.
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
        let told: Vec<_> = problems.iter().map(told).collect();
        Self { json: json!({ "faults": told }).to_string(), blob: Vec::new() }
    }
}

fn told(problem: &Problem) -> Value {
    let Problem { source, line, path, message } = problem;
    json!({ "source": source, "line": line, "path": path, "message": message })
}
