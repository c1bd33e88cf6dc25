//! From TOML text to the values that are checked.

use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeFloat, DeInteger, DeTable, DeValue};

use super::problem::Fault;
use super::words;

/// The deepest nesting of tables and lists. A scenario needs about six levels.
const DEEPEST: usize = 32;

/// Parses a file.
pub(crate) fn document(text: &str) -> Result<Value, Fault> {
    let table = DeTable::parse(text).map_err(|error| not_toml(text, &error))?;
    table_value(table.get_ref(), "", 0)
}

/// Parses the value of a `--set` at `path`: TOML, or else the text itself as a string.
pub(crate) fn value(text: &str, path: &str) -> Result<Value, Fault> {
    match DeValue::parse(text) {
        Ok(value) => any_value(value.get_ref(), path, 0),
        Err(_) => Ok(Value::from(text)),
    }
}

/// The names in a dotted key.
pub(crate) fn key_path(text: &str) -> Option<Vec<String>> {
    let document = format!("{text} = 0");
    let table = DeTable::parse(&document).ok()?;
    let mut table = table.get_ref();
    let mut path = Vec::new();
    loop {
        let (key, value) = table.iter().next()?;
        path.push(key.get_ref().to_string());
        match value.get_ref() {
            DeValue::Table(inner) => table = inner,
            _ => return Some(path),
        }
    }
}

fn not_toml(text: &str, error: &toml::de::Error) -> Fault {
    let span = error.span().unwrap_or(text.len()..text.len());
    let before = text.get(..span.start).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or(before).chars().count() + 1;
    let rest = text[before.len()..].lines().next().unwrap_or_default();
    let found = match text.get(span).and_then(|found| found.lines().next()) {
        Some(found) if !found.is_empty() => words::quoted(found),
        _ if rest.is_empty() => "the end of the line".to_owned(),
        _ => words::quoted(rest),
    };
    let reason = error.message().lines().collect::<Vec<_>>().join(" ");
    let message = format!("line {line}, column {column}: not valid TOML: found {found} ({reason})");
    Fault::new("", message)
}

fn any_value(value: &DeValue, path: &str, depth: usize) -> Result<Value, Fault> {
    if depth > DEEPEST {
        let message =
            format!("found a value nested {depth} levels deep; allowed: at most {DEEPEST}");
        return Err(Fault::new("", message));
    }
    match value {
        DeValue::String(text) => Ok(Value::from(&**text)),
        DeValue::Boolean(truth) => Ok(Value::from(*truth)),
        DeValue::Integer(integer) => integer_value(integer, path),
        DeValue::Float(float) => float_value(float, path),
        DeValue::Array(items) => items_value(items.iter(), path, depth),
        DeValue::Table(table) => table_value(table, path, depth),
        DeValue::Datetime(_) => Err(Fault::new(
            path,
            "found a date or time; allowed: numbers, strings, true, false, lists, tables",
        )),
    }
}

fn integer_value(integer: &DeInteger, path: &str) -> Result<Value, Fault> {
    let (digits, radix) = (integer.as_str(), integer.radix());
    if let Ok(number) = i64::from_str_radix(digits, radix) {
        return Ok(Value::from(number));
    }
    // Beyond what TOML requires, but seeds use all 64 bits.
    u64::from_str_radix(digits, radix).map(Value::from).map_err(|_| {
        let allowed = match digits.starts_with('-') {
            true => format!("at least {}", i64::MIN),
            false => format!("at most {}", u64::MAX),
        };
        let message = format!("found {integer}; allowed: {allowed}");
        Fault::new(path, message)
    })
}

/// A float with a whole value becomes an integer, so that `10e6` is a valid number of bytes.
fn float_value(float: &DeFloat, path: &str) -> Result<Value, Fault> {
    const EXACT: f64 = (1_u64 << f64::MANTISSA_DIGITS) as f64;
    let number: f64 = float.as_str().parse().unwrap_or(f64::NAN);
    if !number.is_finite() {
        let message = format!("found {}; allowed: a finite number", float.as_str());
        return Err(Fault::new(path, message));
    }
    if number.fract() == 0.0 && number.abs() <= EXACT {
        return Ok(Value::from(number as i64));
    }
    Ok(Value::from(number))
}

fn items_value<'a>(
    items: impl Iterator<Item = &'a Spanned<DeValue<'a>>>,
    path: &str,
    depth: usize,
) -> Result<Value, Fault> {
    let item = |(i, item): (usize, &Spanned<DeValue>)| {
        any_value(item.get_ref(), &words::join(path, &i.to_string()), depth + 1)
    };
    items.enumerate().map(item).collect()
}

fn table_value(table: &DeTable, path: &str, depth: usize) -> Result<Value, Fault> {
    let mut values = Map::new();
    for (key, value) in table {
        let path = words::join(path, key.get_ref());
        let value = any_value(value.get_ref(), &path, depth + 1)?;
        values.insert(key.get_ref().to_string(), value);
    }
    Ok(Value::Object(values))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_paths() {
        let path = |text| key_path(text).map(|path| path.join("|"));
        assert_eq!(path("dialect").as_deref(), Some("dialect"));
        assert_eq!(path(" a . 'b.c'.\"d=\\u0065\".0 ").as_deref(), Some("a|b.c|d=e|0"));
        for bad in ["", " ", "a.", ".a", "a b", "[a]", "a.\"b", "é", "# a"] {
            assert_eq!(key_path(bad), None, "{bad}");
        }
    }

    #[test]
    fn set_values() {
        let parsed = |text| value(text, "").unwrap();
        assert_eq!(parsed("5"), 5);
        assert_eq!(parsed("5.0"), 5);
        assert_eq!(parsed("-1e3"), -1000);
        assert_eq!(parsed("1.5"), 1.5);
        assert_eq!(parsed("1e300"), 1e300);
        assert_eq!(parsed("true"), true);
        assert_eq!(parsed("\"5\""), "5");
        assert_eq!(parsed("ns2"), "ns2");
        assert_eq!(parsed(""), "");
        assert_eq!(parsed("[1, 0x10]"), serde_json::json!([1, 16]));
        let table = serde_json::json!({"kind": "codel", "target_ms": 1.5});
        assert_eq!(parsed("{ kind = 'codel', target_ms = 1.5 }"), table);
    }

    #[test]
    fn the_largest_seed_is_read() {
        assert_eq!(document("seed = 18446744073709551615").unwrap()["seed"], u64::MAX);
        let fault = document("a.seed = 18446744073709551616").unwrap_err();
        assert_eq!(fault.path, "a.seed");
    }

    #[test]
    fn deep_nesting_is_a_fault_and_no_overflow() {
        let key = vec!["a"; 79].join(".");
        let text = format!("{key} = {}1{}", format!("{{ {key} = ").repeat(70), " }".repeat(70));
        let fault = document(&text).unwrap_err();
        assert_eq!(fault.message, "found a value nested 33 levels deep; allowed: at most 32");
        assert!(document(&"[".repeat(100_000)).is_err());
        assert!(document(&format!("a = {}", "[".repeat(100_000))).is_err());
        assert!(document(&"a.".repeat(100_000)).is_err());
    }
}
