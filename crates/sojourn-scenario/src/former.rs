//! Former spellings of kinds: what was a variant of a kind and is a kind of its own now.

use serde_json::{Map, Value};

use sojourn_input::problem::Warning;
use sojourn_input::{fault, words};

/// A kind with `variant`, as scenarios may still have it.
struct Former {
    kind: &'static str,
    variant: &'static str,
    /// The kind that it is now.
    now: &'static str,
    /// Keys that had no effect in the variant, and that the kind does not have.
    idle: &'static [&'static str],
    /// Switches that the kind does not have, as they had to be off.
    off: &'static [&'static str],
}

const FORMER: [Former; 6] = [
    Former {
        kind: "pie",
        variant: "linux",
        now: "pie_linux",
        idle: &["estimate", "rate_threshold_bytes", "rests"],
        off: &[],
    },
    Former { kind: "pie", variant: "rfc8033", now: "pie", idle: &["first_update_ms"], off: &[] },
    Former {
        kind: "red",
        variant: "linux",
        now: "red_linux",
        idle: &["gentle", "wait", "in_bytes", "by_size", "interval_s", "bottom", "top"],
        off: &["adaptive"],
    },
    Former { kind: "red", variant: "ns2", now: "red", idle: &[], off: &[] },
    Former { kind: "sfq", variant: "linux", now: "sfq_linux", idle: &[], off: &["one_law"] },
    Former { kind: "sfq", variant: "white2013", now: "sfq", idle: &[], off: &["head_drop"] },
];

impl Former {
    fn is_in(&self, table: &Map<String, Value>) -> bool {
        let is = |key, name| table.get(key).is_some_and(|value: &Value| value == name);
        is("kind", self.kind) && is("variant", self.variant)
    }

    /// Makes a table that of the present kind, and says what to write.
    fn renew(&self, table: &mut Map<String, Value>, path: &str) -> Warning {
        let Self { kind, variant, now, idle, off } = self;
        table.shift_remove("variant");
        table.insert("kind".to_owned(), (*now).into());
        let is_gone = |key: &str, value: &Value| {
            idle.contains(&key) || off.contains(&key) && value == &Value::Bool(false)
        };
        let gone = table.iter().filter(|(key, value)| is_gone(key, value));
        let gone: Vec<_> = gone.map(|(key, _)| key.clone()).collect();
        table.retain(|key, _| !gone.contains(key));
        let without = match &*gone {
            [] => String::new(),
            keys => format!(", without {}", keys.join(", ")),
        };
        fault!(FormerSpelling, path =>
            "{path}: write kind = \"{now}\" for kind = \"{kind}\" with variant = \"{variant}\"{without}",
            kind, variant, now)
    }
}

/// Gives each table with a former spelling its present one. Returns a note on each.
pub(crate) fn renew(value: &mut Value, path: &str) -> Vec<Warning> {
    match value {
        Value::Object(table) => {
            let former = FORMER.iter().find(|former| former.is_in(table));
            let mut notes: Vec<_> =
                former.map(|former| former.renew(table, path)).into_iter().collect();
            for (key, value) in table {
                notes.extend(renew(value, &words::join(path, key)));
            }
            notes
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_variant_of_linux_is_a_kind_of_its_own() {
        let law = |keys: Value| json!({ "homes": { "a b": { "law": keys } } });
        let renewed = |keys: Value| {
            let mut value = law(keys);
            let notes = renew(&mut value, "");
            (value["homes"]["a b"]["law"].take(), notes)
        };
        let (table, notes) = renewed(json!({
            "kind": "red", "variant": "linux", "max_p": 0.02, "gentle": false, "adaptive": false
        }));
        assert_eq!(table, json!({ "kind": "red_linux", "max_p": 0.02 }));
        assert_eq!(
            notes.into_iter().map(|note| note.message).collect::<Vec<_>>(),
            [
                "homes.\"a b\".law: write kind = \"red_linux\" for kind = \"red\" with variant = \"linux\", \
                 without gentle, adaptive"
            ]
        );
        // What was refused stays, so that the schema refuses it.
        let (table, _) = renewed(json!({ "kind": "red", "variant": "linux", "adaptive": true }));
        assert_eq!(table, json!({ "kind": "red_linux", "adaptive": true }));
        let (table, notes) = renewed(json!({ "kind": "pie", "variant": "rfc8033" }));
        assert_eq!((table, notes.len()), (json!({ "kind": "pie" }), 1));
        for same in [json!({ "kind": "pie" }), json!({ "kind": "codel", "variant": "linux" })] {
            assert_eq!(renewed(same.clone()), (same, Vec::new()));
        }
    }
}
