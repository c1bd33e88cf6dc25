//! What overrides a scenario before it is checked: `--set` values, variants, modem files.

use serde_json::{Map, Value, json};

use sojourn_input::fault;
use sojourn_input::problem::{Code, Fault, Problem, Warning};
use sojourn_input::shape::TAG;
use sojourn_input::{setting, text, words};

/// The table of variants in a scenario file.
pub(super) const COMPARE: &str = "compare";

/// The JSON Schema of a scenario with the table of variants, which files may have.
pub(crate) fn with_variants(mut schema: Value) -> Value {
    schema["properties"][COMPARE] = variants_schema();
    schema
}

pub(crate) fn variants_schema() -> Value {
    json!({
        "type": "object",
        "additionalProperties": { "type": "object" },
        "minProperties": 1,
        "maxProperties": 10_000,
        "description": "Variants of the scenario to compare, by name. Each holds the keys in which it \
            differs from the scenario. Its tables are merged into the scenario's key by key, but a \
            table with its own `kind` and any other value replace the scenario's.",
    })
}

/// Something that overrides a scenario before it is checked, such as a modem's configuration file.
pub trait Overlay {
    /// Its name in messages.
    fn source(&self) -> &str;
    /// Overrides keys of the scenario. Returns a warning for each setting that cannot be simulated.
    fn apply(&self, scenario: &mut Value) -> Vec<Warning>;
}

/// Merges a partial scenario into another. Tables merge key by key; any other value replaces the
/// old one. A table with its own `kind` replaces the old table too, since the keys of one kind mean
/// nothing to another.
pub(crate) fn merge(base: &mut Value, overlay: &Value) {
    match (base, overlay) {
        (Value::Object(base), Value::Object(overlay)) if !has_kind(overlay) => {
            for (key, value) in overlay {
                match base.get_mut(key) {
                    Some(below) => merge(below, value),
                    None => {
                        base.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        (base, overlay) => *base = overlay.clone(),
    }
}

/// What [`merge`] makes the second of the first with, if they differ. The first has no keys that the second
/// lacks.
pub(crate) fn differences(base: &Value, whole: &Value) -> Option<Value> {
    match (base, whole) {
        (Value::Object(base), Value::Object(whole)) if !has_kind(whole) => {
            let differing = whole.iter().filter_map(|(key, value)| {
                let below =
                    base.get(key).map_or_else(|| Some(value.clone()), |b| differences(b, value));
                Some((key.clone(), below?))
            });
            Some(Value::Object(differing.collect()))
                .filter(|table| table != &Value::Object(Map::new()))
        }
        (base, whole) => (base != whole).then(|| whole.clone()),
    }
}

/// A traffic entry or server that is named `kind` is a table, not a kind.
fn has_kind(table: &Map<String, Value>) -> bool {
    table.get(TAG).is_some_and(Value::is_string)
}

/// A `key.path=value` as names of variants have it: `limit 250 kB`, `law docsis_pie`.
///
/// # Errors What is wrong with it.
pub fn label(set: &str) -> Result<String, Problem> {
    Set::parse(set).map(|set| set.label())
}

/// The key of a `key.path=value` in words, its unit, and the value with it: `upstream queue limit`, `bytes` and `250 kB`.
///
/// # Errors What is wrong with it.
pub fn in_words(set: &str) -> Result<(String, &'static str, String), Problem> {
    let Set { path, value, .. } = Set::parse(set)?;
    let (key, unit) = setting::path_in_words(&path);
    Ok((key, unit, setting::value_in_words(&value, unit)))
}

/// One `key.path=value`.
pub(super) struct Set {
    /// Its name in problems.
    pub source: String,
    path: Vec<String>,
    value: Value,
}

impl Set {
    /// Parses `key.path=value`.
    pub(crate) fn parse(set: &str) -> Result<Self, Problem> {
        const ALLOWED: &str = "allowed: KEY=VALUE with a dotted TOML key, \
                               such as upstream.queue.limit_bytes=250000";
        let source = format!("--set {set}");
        let bad = |message: String| Fault::of_code(Code::NotASetting, "", message).of(&source);
        // A quoted key may contain an equals sign.
        let mut splits = set.match_indices('=');
        let split = splits.find_map(|(i, _)| Some((text::key_path(&set[..i])?, &set[i + 1..])));
        let Some((path, value)) = split else {
            return Err(bad(match set.split_once('=') {
                None => format!("found no equals sign; {ALLOWED}"),
                Some((key, _)) => format!("found the key {}; {ALLOWED}", words::quoted(key)),
            }));
        };
        let value = text::value(value.trim(), &joined(&path)).map_err(|fault| fault.of(&source))?;
        Ok(Self { source, path, value })
    }

    /// Does it change the table of variants?
    pub(crate) fn is_for_variants(&self) -> bool {
        self.path.first().is_some_and(|key| key == COMPARE)
    }

    /// If it changed the kind of the table with the key at `path`, how to replace the whole table.
    pub(crate) fn whole_table(&self, path: &str, variant: &str) -> Option<String> {
        let (tag, table) = self.path.split_last().filter(|(tag, _)| *tag == TAG)?;
        let own = joined(own(table, variant));
        let key = path.strip_prefix(&own)?.strip_prefix('.')?;
        let kind = self.value.as_str().filter(|_| !key.contains('.'))?;
        let table = joined(table);
        Some(format!(
            "{} keeps the table's other keys; to replace the whole table: \
             --set '{table}={{{tag}=\"{kind}\"}}'",
            self.source
        ))
    }

    /// Sets the value in `root`.
    pub(crate) fn apply(&self, root: &mut Value) -> Result<(), Problem> {
        let mut place = root;
        for (depth, key) in self.path.iter().enumerate() {
            let above = joined(&self.path[..depth]);
            place = step(place, key, &above).map_err(|fault| fault.of(&self.source))?;
        }
        *place = self.value.clone();
        Ok(())
    }

    /// It as names of variants have it: `limit 250 kB`, `law docsis_pie`.
    pub(crate) fn label(&self) -> String {
        setting::setting(&self.path, &self.value)
    }

    /// Does it change this variant in the table of variants?
    pub(crate) fn is_of(&self, variant: &str) -> bool {
        matches!(&*self.path, [compare, name, ..] if compare == COMPARE && name == variant)
    }

    /// Did this set give the value at `path` in this variant, or a part of it?
    pub(crate) fn gave(&self, path: &str, variant: &str) -> bool {
        let own = joined(own(&self.path, variant));
        let holds = |above: &str, below: &str| {
            let rest = below.strip_prefix(above);
            !above.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        holds(&own, path) || holds(path, &own)
    }
}

/// A path as the variant sees it, without its place in the table of variants.
fn own<'a>(path: &'a [String], variant: &str) -> &'a [String] {
    match path {
        [compare, name, own @ ..] if compare == COMPARE && name == variant => own,
        whole => whole,
    }
}

fn joined(path: &[String]) -> String {
    path.iter().fold(String::new(), |path, key| words::join(&path, key))
}

/// From the table or list at `path` to one of its values; a table gets a missing key.
fn step<'a>(place: &'a mut Value, key: &str, path: &str) -> Result<&'a mut Value, Fault> {
    match place {
        Value::Object(table) => Ok(table.entry(key).or_insert_with(|| Map::new().into())),
        Value::Array(items) => {
            let allowed = match items.len() {
                0 => "nothing, the list is empty".to_owned(),
                n => format!("0 to {}", n - 1),
            };
            let item = key.parse::<usize>().ok().and_then(|i| items.get_mut(i));
            item.ok_or_else(|| {
                let path = words::join(path, key);
                fault!(OutOfRange, path => "no such item; allowed: {allowed}", allowed)
            })
        }
        other => {
            let found = words::found(other);
            Err(Fault::found(path, found, "a table or a list").coded(Code::WrongType))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(mut base: Value, overlay: Value) -> Value {
        merge(&mut base, &overlay);
        base
    }

    #[test]
    fn tables_merge_and_all_else_replaces() {
        let base = json!({"a": {"x": 1, "y": [1, 2], "z": {"deep": 1}}, "b": "s"});
        let overlay = json!({"a": {"y": [3], "w": 4, "z": 5}, "c": {"new": true}});
        let expected =
            json!({"a": {"x": 1, "y": [3], "z": 5, "w": 4}, "b": "s", "c": {"new": true}});
        assert_eq!(merged(base, overlay), expected);
    }

    #[test]
    fn a_table_with_a_kind_replaces() {
        let base = json!({"law": {"kind": "codel", "target_ms": 10}});
        let pie = json!({"law": {"kind": "docsis_pie"}});
        assert_eq!(merged(base.clone(), pie.clone()), pie);
        let tuned = merged(base, json!({"law": {"target_ms": 5}}));
        assert_eq!(tuned, json!({"law": {"kind": "codel", "target_ms": 5}}));
    }

    #[test]
    fn differences_are_what_merging_adds() {
        let base =
            json!({"a": {"x": 1, "y": 2}, "law": {"kind": "codel", "target_ms": 10}, "b": [1]});
        for overlay in [
            json!({}),
            json!({"a": {"y": 3, "z": {"w": 4}}}),
            json!({"law": {"kind": "codel", "target_ms": 5}, "b": [1, 2]}),
            json!({"law": {"kind": "docsis_pie"}, "b": [1]}),
        ] {
            let whole = merged(base.clone(), overlay);
            let differing = differences(&base, &whole);
            assert_eq!(differing.is_none(), base == whole);
            assert_eq!(merged(base.clone(), differing.unwrap_or(json!({}))), whole);
        }
        let faster = merged(base.clone(), json!({"a": {"x": 7}}));
        assert_eq!(differences(&base, &faster), Some(json!({"a": {"x": 7}})));
    }

    #[test]
    fn an_entry_named_kind_is_an_entry() {
        let base = json!({"files": {"delay_ms": 1}});
        let both = merged(base, json!({"kind": {"delay_ms": 2}}));
        assert_eq!(both, json!({"files": {"delay_ms": 1}, "kind": {"delay_ms": 2}}));
    }

    #[test]
    fn merged_keys_keep_their_place() {
        let both = merged(json!({"b": 1, "a": {"x": 1}}), json!({"a": {"x": 2}, "b": 3}));
        assert_eq!(both.to_string(), r#"{"b":3,"a":{"x":2}}"#);
    }

    #[test]
    fn a_set_makes_tables_and_reaches_into_lists() {
        let mut root = json!({"list": [1, {"x": 2}]});
        for set in ["a.\"b c\".d = [1]", "list.0=7", "list.1.x=ns2"] {
            Set::parse(set).unwrap().apply(&mut root).unwrap();
        }
        let expected = json!({"list": [7, {"x": "ns2"}], "a": {"b c": {"d": [1]}}});
        assert_eq!(root, expected);
    }

    #[test]
    fn a_set_knows_what_it_gave() {
        let set = Set::parse("a.b=1").unwrap();
        assert!(set.gave("a.b", "") && set.gave("a.b.c", "X"));
        assert!(set.gave("a", ""));
        assert!(!set.gave("a.bc", "") && !set.gave("b", "") && !set.gave("", ""));
        let set = Set::parse("compare.X.a=1").unwrap();
        assert!(set.gave("a", "X") && !set.gave("a", "Y") && set.gave("compare.X.a", ""));
    }
}
