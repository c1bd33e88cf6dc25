//! A key and its value in words, as names of settings and axes of figures have them: `limit 64 kB` is
//! `upstream.queue.limit_bytes = 64000`.

use serde_json::Value;

use super::shape::TAG;

/// How the names of keys end, and the unit that this stands for.
const UNITS: [(&str, &str); 17] = [
    ("bits", "bits"),
    ("bytes", "bytes"),
    ("hz", "1/s"),
    ("kbps", "kbps"),
    ("km", "km"),
    ("ksps", "ksps"),
    ("mbps", "Mbps"),
    ("minislots", "minislots"),
    ("ms", "ms"),
    ("packets", "packets"),
    ("per_s", "1/s"),
    ("percent", "%"),
    ("s", "s"),
    ("samples", "samples"),
    ("segments", "segments"),
    ("symbols", "symbols"),
    ("us", "us"),
];

/// The name of a key in words and its unit, which is empty if the name has none: `limit` and `bytes`.
pub fn named(key: &str) -> (String, &'static str) {
    let without = |end| key.strip_suffix(end)?.strip_suffix('_');
    let found = UNITS.iter().find_map(|(end, unit)| Some((without(end)?, *unit)));
    let (name, unit) = found.unwrap_or((key, ""));
    (name.replace('_', " "), unit)
}

/// The path of a part, of which `kind` names what it is: a kind is named as its part.
fn without_kind(path: &[String]) -> &[String] {
    match path {
        [above @ .., last] if last == TAG && !above.is_empty() => above,
        _ => path,
    }
}

/// All of a dotted key in words and its unit: `upstream queue limit` and `bytes`.
pub fn path_in_words(path: &[String]) -> (String, &'static str) {
    let Some((last, above)) = without_kind(path).split_last() else {
        return (String::new(), "");
    };
    let (name, unit) = named(last);
    let above = above.iter().map(|key| key.replace('_', " "));
    (above.chain([name]).collect::<Vec<_>>().join(" "), unit)
}

/// A value with its unit: `64 kB` is 64000 bytes. No digit is lost. A table is its kind with its other settings:
/// `codel, target 5 ms`.
pub fn value_in_words(value: &Value, unit: &str) -> String {
    if let Value::Object(table) = value
        && !table.is_empty()
    {
        let kind = table.get(TAG).map(|kind| value_in_words(kind, ""));
        let others = table.iter().filter(|(key, _)| *key != TAG);
        let others = others.map(|(key, value)| setting(std::slice::from_ref(key), value));
        return kind.into_iter().chain(others).collect::<Vec<_>>().join(", ");
    }
    let number = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match (unit, value.as_f64()) {
        ("", _) => number,
        ("bytes", Some(bytes)) if bytes >= 1e6 => format!("{} MB", bytes / 1e6),
        ("bytes", Some(bytes)) if bytes >= 1e4 => format!("{} kB", bytes / 1e3),
        _ => format!("{number} {unit}"),
    }
}

/// The last part of a key with its value: `limit 64 kB`, `law docsis_pie`. A table without a kind is named by
/// what is in it.
pub fn setting(path: &[String], value: &Value) -> String {
    if let Value::Object(table) = value
        && !table.contains_key(TAG)
        && !table.is_empty()
    {
        let reported = table
            .iter()
            .map(|(key, value)| setting(&[path, std::slice::from_ref(key)].concat(), value));
        return reported.collect::<Vec<_>>().join(", ");
    }
    let (value, path) = match value.get(TAG) {
        Some(kind) => (kind, path),
        None => (value, without_kind(path)),
    };
    let (name, unit) = named(path.last().map_or("", String::as_str));
    format!("{name} {}", value_in_words(value, unit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn path(key: &str) -> Vec<String> {
        key.split('.').map(str::to_owned).collect()
    }

    #[test]
    fn keys_and_values_are_told_in_words() {
        for (key, value, words, whole, unit) in [
            (
                "upstream.queue.limit_bytes",
                json!(64_000),
                "limit 64 kB",
                "upstream queue limit",
                "bytes",
            ),
            ("limit_bytes", json!(3044), "limit 3044 bytes", "limit", "bytes"),
            ("limit_bytes", json!(31_250), "limit 31.25 kB", "limit", "bytes"),
            ("limit_bytes", json!(1_000_000), "limit 1 MB", "limit", "bytes"),
            ("limit_bytes", json!(1_000_001), "limit 1.000001 MB", "limit", "bytes"),
            (
                "upstream.sustained_mbps",
                json!(2.5),
                "sustained 2.5 Mbps",
                "upstream sustained",
                "Mbps",
            ),
            ("upstream.queue.law.kind", json!("pie"), "law pie", "upstream queue law", ""),
            ("upstream.queue.law", json!({"kind": "pie"}), "law pie", "upstream queue law", ""),
            ("traffic.web.users", json!(3), "users 3", "traffic web users", ""),
            (
                "upstream.queue",
                json!({"scheduler": {"kind": "fq"}, "limit_bytes": 64_000}),
                "scheduler fq, limit 64 kB",
                "upstream queue",
                "",
            ),
            ("servers.s.loss_percent", json!(1), "loss 1 %", "servers s loss", "%"),
            ("frames_per_s", json!(30), "frames 30 1/s", "frames", "1/s"),
        ] {
            assert_eq!(setting(&path(key), &value), words);
            assert_eq!(path_in_words(&path(key)), (whole.to_owned(), unit));
        }
    }

    #[test]
    fn tables_are_told_by_their_kind_and_what_they_set() {
        for (table, words) in [
            (json!({"kind": "codel"}), "codel"),
            (json!({"kind": "codel", "target_ms": 5, "ecn": true}), "codel, target 5 ms, ecn true"),
            (json!({"limit_bytes": 64_000}), "limit 64 kB"),
            (json!({}), "{}"),
        ] {
            assert_eq!(value_in_words(&table, ""), words);
        }
    }
}
