//! Values that hold no other TLVs: from bytes to the user's notation, and back.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use sojourn_input::words;

/// The type of a value. Numbers are big-endian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Leaf {
    /// A number.
    Number {
        /// Size in bytes, up to 4.
        bytes: usize,
        /// Minimum.
        min: u32,
        /// Maximum.
        max: u32,
    },
    /// A list of numbers of two bytes each.
    Numbers {
        /// How many at most; at least 1 is required.
        most: usize,
    },
    /// One byte: 0 is false, 1 is true.
    Flag,
    /// One byte that stands for a word.
    Word(&'static [(u8, &'static str)]),
    /// A sequence of bytes, each a named number.
    Octets(&'static [&'static str]),
    /// Printable ASCII.
    Text {
        /// Maximum number of characters; at least 1 is required.
        max: usize,
        /// Does a zero byte end it?
        zero: bool,
    },
    /// Bytes, written as hexadecimal digits.
    Hex {
        /// Minimum number of bytes.
        min: usize,
        /// Maximum number of bytes.
        max: usize,
    },
    /// An IPv4 address or mask.
    Ipv4,
    /// An IPv6 address.
    Ipv6,
}

impl Leaf {
    /// The value of these bytes. The error says what was found and what is allowed.
    pub(super) fn read(self, bytes: &[u8]) -> Result<Value, String> {
        let (min, max) = self.length();
        if !(min..=max).contains(&bytes.len()) {
            let found = match self.read_kindly(bytes) {
                Some(value) => found_text(&value, bytes),
                None => count(bytes.len()),
            };
            return Err(format!("found {found}; allowed: {}", self.lengths()));
        }
        let value = self.value(bytes).ok_or_else(|| self.misfit(&found(self, bytes)))?;
        match self.write(&value) {
            Ok(_) => Ok(value),
            Err(message) => match self.read_kindly(bytes) {
                Some(text) => Err(self.misfit(&found_text(&text, bytes))),
                None => Err(message),
            },
        }
    }

    /// The value of these bytes where its meaning is plain, though they are not as they should be: a text
    /// with another number of zero bytes at its end.
    pub(super) fn read_kindly(self, bytes: &[u8]) -> Option<Value> {
        let Self::Text { .. } = self else { return None };
        let zeros = bytes.iter().rev().take_while(|byte| **byte == 0).count();
        let text = std::str::from_utf8(&bytes[..bytes.len() - zeros]).ok()?;
        let value = Value::from(text);
        self.write(&value).ok().map(|_| value)
    }

    /// The bytes of a value. The error says what was found and what is allowed.
    pub(super) fn write(self, value: &Value) -> Result<Vec<u8>, String> {
        self.bytes(value).ok_or_else(|| self.misfit(&words::found(value)))
    }

    fn misfit(self, found: &str) -> String {
        format!("found {found}; allowed: {}", self.allowed())
    }

    /// The value of bytes of a valid length; it may still be out of range.
    fn value(self, bytes: &[u8]) -> Option<Value> {
        let value = match self {
            Self::Number { .. } => Value::from(number(bytes)),
            Self::Numbers { .. } => {
                let pairs = bytes.chunks_exact(2);
                let whole = pairs.remainder().is_empty();
                whole.then(|| pairs.map(|pair| Value::from(number(pair))).collect())?
            }
            Self::Flag => Value::from(flag(bytes[0])?),
            Self::Word(words) => Value::from(words.iter().find(|(byte, _)| *byte == bytes[0])?.1),
            Self::Octets(names) => {
                let named = names.iter().zip(bytes);
                Value::Object(named.map(|(n, byte)| ((*n).to_owned(), (*byte).into())).collect())
            }
            Self::Text { zero, .. } => {
                let text = if zero { bytes.strip_suffix(&[0])? } else { bytes };
                Value::from(std::str::from_utf8(text).ok()?)
            }
            Self::Hex { .. } => Value::from(hex(bytes)),
            Self::Ipv4 => Value::from(std::net::Ipv4Addr::from(array(bytes)?).to_string()),
            Self::Ipv6 => Value::from(std::net::Ipv6Addr::from(array(bytes)?).to_string()),
        };
        Some(value)
    }

    /// The bytes of a value, if it is allowed.
    fn bytes(self, value: &Value) -> Option<Vec<u8>> {
        match self {
            Self::Number { bytes, min, max } => {
                let number = u32::try_from(value.as_u64()?).ok()?;
                let all = number.to_be_bytes();
                (min..=max).contains(&number).then(|| all[all.len() - bytes..].to_vec())
            }
            Self::Numbers { most } => numbers(value.as_array()?, most),
            Self::Flag => Some(vec![value.as_bool()?.into()]),
            Self::Word(words) => Some(vec![words.iter().find(|(_, word)| value == word)?.0]),
            Self::Octets(names) => octets(names, value.as_object()?),
            Self::Text { max, zero } => text(value.as_str()?, max, zero),
            Self::Hex { min, max } => {
                unhex(value.as_str()?).filter(|bytes| (min..=max).contains(&bytes.len()))
            }
            Self::Ipv4 => Some(address::<std::net::Ipv4Addr>(value)?.octets().to_vec()),
            Self::Ipv6 => Some(address::<std::net::Ipv6Addr>(value)?.octets().to_vec()),
        }
    }

    /// Minimum and maximum number of bytes.
    fn length(self) -> (usize, usize) {
        match self {
            Self::Number { bytes, .. } => (bytes, bytes),
            Self::Numbers { most } => (2, 2 * most),
            Self::Flag | Self::Word(_) => (1, 1),
            Self::Octets(names) => (names.len(), names.len()),
            Self::Text { max, zero } => (1 + usize::from(zero), max + usize::from(zero)),
            Self::Hex { min, max } => (min, max),
            Self::Ipv4 => (4, 4),
            Self::Ipv6 => (16, 16),
        }
    }

    /// The allowed number of bytes, as text.
    pub(super) fn lengths(self) -> String {
        match self.length() {
            (min, max) if min == max => count(min),
            (min, max) => format!("{min} to {}", count(max)),
        }
    }

    /// What is allowed, as text.
    pub fn allowed(self) -> String {
        match self {
            Self::Number { min, max, .. } => format!("a whole number from {min} to {max}"),
            Self::Numbers { most } => format!("1 to {most} whole numbers from 0 to 65535"),
            Self::Flag => "true, false".to_owned(),
            Self::Word(words) => words.iter().map(|(_, word)| *word).collect::<Vec<_>>().join(", "),
            Self::Octets(names) => {
                format!("a table of whole numbers from 0 to 255: {}", names.join(", "))
            }
            Self::Text { max, zero } => {
                let end = if zero { ", ended by a zero byte in the file" } else { "" };
                format!("1 to {max} printable ASCII characters{end}")
            }
            Self::Hex { .. } => format!("{} as hexadecimal digits", self.lengths()),
            Self::Ipv4 => "an IPv4 address".to_owned(),
            Self::Ipv6 => "an IPv6 address".to_owned(),
        }
    }
}

/// A number of bytes, as text.
pub(super) fn count(bytes: usize) -> String {
    if bytes == 1 { "1 byte".to_owned() } else { format!("{bytes} bytes") }
}

/// Bytes as hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The bytes of hexadecimal digits.
pub(super) fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let pairs = (0..text.len()).step_by(2).map(|i| &text[i..i + 2]);
    pairs.map(|pair| u8::from_str_radix(pair, 16).ok()).collect()
}

/// Describes bytes that are not a valid value.
fn found(leaf: Leaf, bytes: &[u8]) -> String {
    match leaf {
        Leaf::Text { .. } if leaf.read_kindly(bytes).is_some() => {
            found_text(&leaf.read_kindly(bytes).unwrap_or_default(), bytes)
        }
        Leaf::Flag | Leaf::Word(_) => number(bytes).to_string(),
        _ => format!("the bytes {}", hex(bytes)),
    }
}

/// Describes a text with too few zero bytes at its end, or too many.
fn found_text(text: &Value, bytes: &[u8]) -> String {
    let zeros = bytes.iter().rev().take_while(|byte| **byte == 0).count();
    match zeros {
        0 => format!("{text} without a zero byte at its end"),
        _ => format!("{text} with {} of zeros at its end", count(zeros)),
    }
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

fn flag(byte: u8) -> Option<bool> {
    (byte <= 1).then_some(byte == 1)
}

fn array<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.try_into().ok()
}

fn address<T: std::str::FromStr>(value: &Value) -> Option<T> {
    value.as_str()?.parse().ok()
}

fn octets(names: &[&str], table: &Map<String, Value>) -> Option<Vec<u8>> {
    if table.len() != names.len() {
        return None;
    }
    names.iter().map(|name| u8::try_from(table.get(*name)?.as_u64()?).ok()).collect()
}

fn numbers(list: &[Value], most: usize) -> Option<Vec<u8>> {
    if !(1..=most).contains(&list.len()) {
        return None;
    }
    let pairs = list.iter().map(|value| Some(u16::try_from(value.as_u64()?).ok()?.to_be_bytes()));
    Some(pairs.collect::<Option<Vec<_>>>()?.concat())
}

fn text(text: &str, max: usize, zero: bool) -> Option<Vec<u8>> {
    let printable = text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    let fits = (1..=max).contains(&text.len());
    (printable && fits).then(|| text.bytes().chain(zero.then_some(0)).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TOS: Leaf = Leaf::Octets(&["low", "high", "mask"]);
    const NAME: Leaf = Leaf::Text { max: 15, zero: true };
    const TYPE: Leaf = Leaf::Word(&[(2, "best_effort"), (6, "ugs")]);

    fn assert_both_ways(leaf: Leaf, bytes: &[u8], value: &Value) {
        assert_eq!(leaf.read(bytes).as_ref(), Ok(value));
        assert_eq!(leaf.write(value).as_deref(), Ok(bytes));
    }

    #[test]
    fn bytes_and_values() {
        let rate = Leaf::Number { bytes: 4, min: 0, max: u32::MAX };
        // 0x004c4b40 = 76 * 65536 + 75 * 256 + 64.
        assert_both_ways(rate, &[0x00, 0x4c, 0x4b, 0x40], &json!(5_000_000));
        assert_both_ways(rate, &[0xff; 4], &json!(4_294_967_295_u32));
        assert_both_ways(Leaf::Number { bytes: 2, min: 1, max: 65_535 }, &[1, 2], &json!(258));
        assert_both_ways(Leaf::Numbers { most: 15 }, &[0, 50, 1, 0], &json!([50, 256]));
        assert_both_ways(Leaf::Flag, &[1], &json!(true));
        assert_both_ways(TYPE, &[6], &json!("ugs"));
        assert_both_ways(TOS, &[0, 184, 252], &json!({"low": 0, "high": 184, "mask": 252}));
        assert_both_ways(NAME, b"gold\0", &json!("gold"));
        assert_both_ways(Leaf::Hex { min: 0, max: 4 }, &[0xab, 1], &json!("ab01"));
        assert_both_ways(Leaf::Ipv4, &[192, 0, 2, 1], &json!("192.0.2.1"));
        let documentation = [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
        assert_both_ways(Leaf::Ipv6, &documentation, &json!("2001:db8::1"));
    }

    fn refused(leaf: Leaf, bytes: &[u8]) -> String {
        leaf.read(bytes).unwrap_err()
    }

    #[test]
    fn bytes_that_are_refused() {
        let priority = Leaf::Number { bytes: 1, min: 0, max: 7 };
        assert_eq!(refused(priority, &[8]), "found 8; allowed: a whole number from 0 to 7");
        assert_eq!(refused(priority, &[0, 1]), "found 2 bytes; allowed: 1 byte");
        assert_eq!(
            refused(Leaf::Numbers { most: 2 }, &[0, 1, 0]),
            "found the bytes 000100; allowed: 1 to 2 whole numbers from 0 to 65535"
        );
        assert_eq!(refused(Leaf::Flag, &[2]), "found 2; allowed: true, false");
        assert_eq!(refused(TYPE, &[9]), "found 9; allowed: best_effort, ugs");
        let name = "1 to 15 printable ASCII characters, ended by a zero byte in the file";
        assert_eq!(
            refused(NAME, b"au"),
            format!("found \"au\" without a zero byte at its end; allowed: {name}")
        );
        assert_eq!(refused(NAME, b"a\nb\0"), format!("found a string \"a\\nb\"; allowed: {name}"));
        assert_eq!(refused(NAME, &[0xff, 0]), format!("found the bytes ff00; allowed: {name}"));
        assert_eq!(refused(NAME, b"\0"), "found 1 byte; allowed: 2 to 16 bytes");
        assert_eq!(refused(Leaf::Ipv4, &[1]), "found 1 byte; allowed: 4 bytes");
    }

    #[test]
    fn values_that_are_refused() {
        let refused = |leaf: Leaf, value: Value| leaf.write(&value).unwrap_err();
        let port = Leaf::Number { bytes: 2, min: 0, max: 65_535 };
        let allowed = "allowed: a whole number from 0 to 65535";
        assert_eq!(refused(port, json!(65_536)), format!("found 65536; {allowed}"));
        assert_eq!(refused(port, json!(-1)), format!("found -1; {allowed}"));
        assert_eq!(refused(port, json!("http")), format!("found a string \"http\"; {allowed}"));
        for edges in [json!([]), json!([1, 2, 3]), json!([65_536]), json!("0032")] {
            let refused = refused(Leaf::Numbers { most: 2 }, edges);
            assert!(
                refused.ends_with("allowed: 1 to 2 whole numbers from 0 to 65535"),
                "{refused}"
            );
        }
        assert_eq!(
            refused(TOS, json!({"low": 0, "high": 256, "mask": 255})),
            "found a table of 3 entries; allowed: a table of whole numbers from 0 to 255: low, high, mask"
        );
        assert_eq!(
            refused(Leaf::Hex { min: 2, max: 2 }, json!("0x1")),
            "found a string \"0x1\"; allowed: 2 bytes as hexadecimal digits"
        );
        assert_eq!(unhex("+1"), None);
        assert_eq!(unhex("éé"), None);
    }
}
