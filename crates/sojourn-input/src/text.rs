//! From TOML text to the values that are checked.

use std::collections::HashMap;

use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeFloat, DeInteger, DeTable, DeValue};

use super::problem::{Code, Fault, Faults, Problem, Problems};
use super::words;
use crate::fault;

/// The deepest nesting of tables and lists. A scenario needs about six levels.
const DEEPEST: usize = 32;

/// A file's values, and the lines on which they stand.
#[derive(Debug)]
pub struct Document {
    /// The root table.
    pub value: Value,
    lines: Lines,
}

impl Document {
    /// Parses the text of the file `source`.
    pub fn parse(text: &str, source: &str) -> Result<Self, Problems> {
        let (table, errors) = DeTable::parse_recoverable(text);
        let lines = Lines::of(text);
        let errors = errors.iter().map(|error| not_toml(text, &lines, error).of(source));
        if let Some(problems) = Problems::of(errors) {
            return Err(problems);
        }
        let mut reader = Reader { lines, faults: Faults::default() };
        let value = reader.table(table.get_ref(), "", 0);
        let Reader { lines, faults } = reader;
        let document = Self { value, lines };
        let problems = faults.into_iter().map(|fault| document.placed(fault.of(source)));
        Problems::of(problems.collect::<Vec<_>>()).map_or(Ok(document), Err)
    }

    /// The problem with the line of its key, or of the table that lacks it.
    pub fn placed(&self, problem: Problem) -> Problem {
        Problem { line: self.lines.near(&problem.path), ..problem }
    }

    /// The lines of the file's keys.
    pub fn into_parts(self) -> (Value, Lines) {
        (self.value, self.lines)
    }
}

/// The lines of keys, by their paths.
#[derive(Debug, Default)]
pub struct Lines {
    /// Offsets at which lines end.
    ends: Vec<usize>,
    keys: HashMap<String, usize>,
}

impl Lines {
    fn of(text: &str) -> Self {
        let ends = text.match_indices('\n').map(|(offset, _)| offset).collect();
        Self { ends, keys: HashMap::new() }
    }

    fn note(&mut self, path: &str, offset: usize) {
        let line = self.number(offset);
        self.keys.entry(path.to_owned()).or_insert(line);
    }

    /// The number of the line, from 1, in which a byte is.
    fn number(&self, offset: usize) -> usize {
        self.ends.partition_point(|end| *end < offset) + 1
    }

    /// The offset of the first byte of the line of this number.
    fn start(&self, number: usize) -> usize {
        number.checked_sub(2).map_or(0, |before| self.ends[before] + 1)
    }

    /// The line of exactly this key.
    pub fn at(&self, path: &str) -> Option<usize> {
        self.keys.get(path).copied()
    }

    /// The line of this key, or of the nearest table or list above it.
    pub fn near(&self, path: &str) -> Option<usize> {
        let above = || path.rsplit_once('.').and_then(|(above, _)| self.near(above));
        self.at(path).or_else(above)
    }
}

/// Parses the value of a `--set` at `path`: TOML, or else the text itself as a string.
pub fn value(text: &str, path: &str) -> Result<Value, Fault> {
    match DeValue::parse(text) {
        Ok(value) => {
            let mut reader = Reader::default();
            let value = reader.any(value.get_ref(), path, 0);
            reader.faults.into_iter().next().map_or(Ok(value), Err)
        }
        Err(_) => Ok(Value::from(text)),
    }
}

/// The names in a dotted key.
pub fn key_path(text: &str) -> Option<Vec<String>> {
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

fn not_toml(text: &str, lines: &Lines, error: &toml::de::Error) -> Fault {
    let span = error.span().unwrap_or(text.len()..text.len());
    let at = if text.is_char_boundary(span.start) { span.start } else { text.len() };
    let line = lines.number(at);
    let column = text[lines.start(line)..at].chars().count() + 1;
    let rest = text[at..].lines().next().unwrap_or_default();
    let found = match text.get(span).and_then(|found| found.lines().next()) {
        Some(found) if !found.is_empty() => words::quoted(found),
        _ if rest.is_empty() => "the end of the line".to_owned(),
        _ => words::quoted(rest),
    };
    let reason = error.message().lines().collect::<Vec<_>>().join(" ");
    fault!(NotToml, "" =>
        "line {line}, column {column}: not valid TOML: found {found} ({reason})", line, column, found, reason)
}

/// Reads values, and notes where they stand and what is wrong with them.
#[derive(Default)]
struct Reader {
    lines: Lines,
    faults: Faults,
}

impl Reader {
    fn any(&mut self, value: &DeValue, path: &str, depth: usize) -> Value {
        if depth > DEEPEST {
            let found = format!("a value nested {depth} levels deep");
            let fault = Fault::found("", found, format!("at most {DEEPEST}"));
            return self.unread(fault.coded(Code::OutOfRange));
        }
        match value {
            DeValue::String(text) => Value::from(&**text),
            DeValue::Boolean(truth) => Value::from(*truth),
            DeValue::Integer(number) => {
                integer_value(number, path).unwrap_or_else(|fault| self.unread(fault))
            }
            DeValue::Float(number) => {
                float_value(number, path).unwrap_or_else(|fault| self.unread(fault))
            }
            DeValue::Array(items) => {
                let items = items.iter().enumerate();
                items.map(|(i, item)| self.inner(item, &i.to_string(), path, depth)).collect()
            }
            DeValue::Table(table) => self.table(table, path, depth),
            DeValue::Datetime(_) => {
                let allowed = "numbers, strings, true, false, lists, tables";
                let fault = Fault::found(path, "a date or time", allowed);
                self.unread(fault.coded(Code::WrongType))
            }
        }
    }

    fn table(&mut self, table: &DeTable, path: &str, depth: usize) -> Value {
        let mut values = Map::new();
        for (key, value) in table {
            self.lines.note(&words::join(path, key.get_ref()), key.span().start);
            let value = self.inner(value, key.get_ref(), path, depth);
            values.insert(key.get_ref().to_string(), value);
        }
        Value::Object(values)
    }

    fn inner(&mut self, value: &Spanned<DeValue>, key: &str, path: &str, depth: usize) -> Value {
        let path = words::join(path, key);
        self.lines.note(&path, value.span().start);
        self.any(value.get_ref(), &path, depth + 1)
    }

    fn unread(&mut self, fault: Fault) -> Value {
        self.faults.add(fault);
        Value::Null
    }
}

fn integer_value(integer: &DeInteger, path: &str) -> Result<Value, Fault> {
    let (digits, radix) = (integer.as_str(), integer.radix());
    if let Ok(number) = i64::from_str_radix(digits, radix) {
        return Ok(Value::from(number));
    }
    // Beyond what TOML requires, but seeds use all 64 bits.
    u64::from_str_radix(digits, radix).map(Value::from).map_err(|_| {
        let is_digit = |digit: char| digit.is_digit(radix);
        let (allowed, code) = if !digits.trim_start_matches('-').chars().all(is_digit) {
            ("a number without a unit, or text in quotes".to_owned(), Code::WrongType)
        } else if digits.starts_with('-') {
            (format!("at least {}", i64::MIN), Code::OutOfRange)
        } else {
            (format!("at most {}", u64::MAX), Code::OutOfRange)
        };
        let found = words::cut(&integer.to_string());
        Fault::found(path, found, allowed).coded(code)
    })
}

/// A float with a whole value becomes an integer, so that `10e6` is a valid number of bytes.
fn float_value(float: &DeFloat, path: &str) -> Result<Value, Fault> {
    const EXACT: f64 = (1_u64 << f64::MANTISSA_DIGITS) as f64;
    let number: f64 = float.as_str().parse().unwrap_or(f64::NAN);
    if !number.is_finite() {
        let found = words::cut(float.as_str());
        return Err(Fault::found(path, found, "a finite number").coded(Code::OutOfRange));
    }
    if number.fract() == 0.0 && number.abs() <= EXACT {
        return Ok(Value::from(number as i64));
    }
    Ok(Value::from(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(text: &str) -> Result<Document, Problems> {
        Document::parse(text, "a.toml")
    }

    #[test]
    fn key_paths() {
        let path = |text| key_path(text).map(|path| path.join("|"));
        assert_eq!(path("dialect").as_deref(), Some("dialect"));
        assert_eq!(path(" a . 'b.c'.\"d=\\u0065\".0 ").as_deref(), Some("a|b.c|d=e|0"));
        for bad in ["", " ", "a.", ".a", "a b", "[a]", "a.\"b", "é", "# a"] {
            assert_eq!(key_path(bad), None, "{bad}");
        }
    }

    /// Each error is reported with its line and column, in one pass, however many there are.
    #[test]
    fn a_file_that_is_no_toml_is_refused_line_by_line() {
        let of = |text: &str| {
            let problems = document(text).unwrap_err();
            let places = problems
                .reported()
                .map(|problem| problem.message.split(": ").next().unwrap_or_default().to_owned());
            (places.collect::<Vec<_>>(), problems.rest())
        };
        let places = |at: &[&str]| at.iter().map(|at| (*at).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            of("é x\na = 1\n\nb c\n").0,
            places(&["line 1, column 3", "line 4, column 3", "line 1, column 1"])
        );
        assert_eq!(of("a = ").0, places(&["line 1, column 5"]));
        let (reported, rest) = of(&"1 x\n".repeat(100_000));
        assert_eq!((reported.len(), reported[29].as_str()), (30, "line 30, column 3"));
        assert_eq!(rest.as_deref(), Some("and 99970 more problems"));
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
        assert_eq!(document("seed = 18446744073709551615").unwrap().value["seed"], u64::MAX);
        let fault = document("a.seed = 18446744073709551616").unwrap_err();
        assert_eq!(fault.first().path, "a.seed");
        let message = |text: &str| document(text).unwrap_err().first().message.clone();
        assert!(
            message("a = -9223372036854775809").ends_with("allowed: at least -9223372036854775808")
        );
        assert_eq!(
            message("a = 10_000kbps"),
            "found 10000kbps; allowed: a number without a unit, or text in quotes"
        );
    }

    #[test]
    fn deep_nesting_is_a_fault_and_no_overflow() {
        let key = vec!["a"; 79].join(".");
        let text = format!("{key} = {}1{}", format!("{{ {key} = ").repeat(70), " }".repeat(70));
        let fault = document(&text).unwrap_err();
        assert_eq!(
            fault.first().message,
            "found a value nested 33 levels deep; allowed: at most 32"
        );
        assert!(document(&"[".repeat(100_000)).is_err());
        assert!(document(&format!("a = {}", "[".repeat(100_000))).is_err());
        assert!(document(&"a.".repeat(100_000)).is_err());
    }
}
