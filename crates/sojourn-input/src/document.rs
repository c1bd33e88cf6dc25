//! A TOML document that is checked against a JSON Schema of the caller's.

use serde_json::Value;

use super::problem::Problems;
use super::schema_check::Checker;
use super::text::Document;

/// Parses `text`. A problem names `source` as the file.
pub fn parse(text: &str, source: &str) -> Result<Value, Problems> {
    Document::parse(text, source).map(|document| document.value)
}

/// Parses `text` and checks it against `schema`. A problem names `source` as the file.
///
/// The schema may use the part of JSON Schema that describes a scenario: types, ranges, numbers of
/// items and entries, required keys, names, tables that a `kind` distinguishes.
pub fn read_document(text: &str, schema: Value, source: &str) -> Result<Value, Problems> {
    let document = Document::parse(text, source)?;
    let faults = Checker::new(schema).check(&document.value, "");
    let problems = faults.into_iter().map(|fault| document.placed(fault.of(source)));
    Problems::of(problems.collect::<Vec<_>>()).map_or(Ok(document.value), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Value, String> {
        let schema = serde_json::json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["seeds"],
            "properties": {"seeds": {"type": "integer", "minimum": 1, "description": "Runs."}},
        });
        read_document(text, schema, "a.toml").map_err(|problem| problem.to_string())
    }

    #[test]
    fn a_document_is_given_or_its_problem_with_file_and_key() {
        assert_eq!(read("seeds = 2"), Ok(serde_json::json!({"seeds": 2})));
        let refused = |text| read(text).unwrap_err();
        let allowed = "allowed: a whole number, 1 or more";
        assert_eq!(refused("seeds = 0"), format!("a.toml: seeds: found 0; {allowed}"));
        assert_eq!(refused(""), format!("a.toml: seeds: missing; {allowed} (Runs)"));
        assert!(refused("seeds =").starts_with("a.toml: line 1, column 8: "));
    }
}
