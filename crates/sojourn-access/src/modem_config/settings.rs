//! Settings as plain tables with the keys of [`super::table`]. They are the step between TLVs on
//! one side and the typed view and TOML on the other.

use serde_json::{Map, Value, json};

use super::leaf::{Leaf, count, hex};
use super::table::{Kind, Row, Table};
use super::tree::{Content, Length, Tlv, file_bytes, size};
use super::view::FILE;
use super::{Fault, problem, words};

/// Key of the list of TLVs of unknown type.
pub(super) const UNKNOWN: &str = "unknown";
/// Key of the list of TLVs that no other key states byte for byte, each as its bytes.
pub(super) const FAULTY: &str = "faulty";
/// Key of the order of TLVs: their types, with spaces between them, and [`FAULTY`] for each of those.
pub(super) const ORDER: &str = "order";

/// The longest value that a length byte allows.
const LONGEST: usize = 255;
const TYPE: Leaf = Leaf::Number { bytes: 1, min: 0, max: 255 };
/// At the top level, padding and the end marker are not types.
const TYPE_AT_TOP: Leaf = Leaf::Number { bytes: 1, min: 1, max: 254 };
const HEX: Leaf = Leaf::Hex { min: 0, max: LONGEST };
/// A file is far smaller.
const RAW: Leaf = Leaf::Hex { min: 1, max: 65_535 };

/// The settings of TLVs, without digests.
pub(super) fn of(tlvs: &[Tlv]) -> Map<String, Value> {
    settings(tlvs, false)
}

/// The settings of TLVs, with the order of the TLVs in each table in which TOML would change it.
pub(super) fn in_order(tlvs: &[Tlv]) -> Map<String, Value> {
    settings(tlvs, true)
}

fn settings(tlvs: &[Tlv], with_order: bool) -> Map<String, Value> {
    let mut settings = Map::new();
    if let Some(order) = changed_order(tlvs).filter(|_| with_order) {
        settings.insert(ORDER.to_owned(), order.into());
    }
    let setting = |tlv: &Tlv| match &tlv.content {
        Content::Nested(inner) => Value::Object(self::settings(inner, with_order)),
        Content::Bytes(_) => tlv.value(),
    };
    for (tlv, key) in tlvs.iter().zip(keys(tlvs)) {
        if key == FAULTY && with_order {
            append(&mut settings, FAULTY, hex(&file_bytes(std::slice::from_ref(tlv), &[])).into());
            continue;
        }
        if key == FAULTY && !tlv.is_sound() {
            continue;
        }
        match tlv.row {
            None => {
                let unknown = json!({ "type": tlv.number, "hex": tlv.value() });
                append(&mut settings, UNKNOWN, unknown);
            }
            Some(Row { kind: Kind::Digest, .. }) => {}
            Some(row) if row.repeats() => append(&mut settings, row.key, setting(tlv)),
            Some(row) => {
                settings.insert(row.key.to_owned(), setting(tlv));
            }
        }
    }
    settings
}

fn append(settings: &mut Map<String, Value>, key: &str, value: Value) {
    let list = settings.entry(key).or_insert_with(|| json!([]));
    list.as_array_mut().into_iter().for_each(|list| list.push(value.clone()));
}

/// The key that states each of these TLVs.
fn keys(tlvs: &[Tlv]) -> Vec<&'static str> {
    let mut keys: Vec<&str> = Vec::new();
    for tlv in tlvs {
        let count = |key| keys.iter().filter(|other| **other == key).count();
        keys.push(match tlv.row {
            None if tlv.length == Length::Fits => UNKNOWN,
            Some(row) if tlv.is_exact() && count(row.key) < row.most => row.key,
            _ => FAULTY,
        });
    }
    keys
}

/// The types of the TLVs, if TOML has them in another order: it has lists together, tables after
/// plain values, and no digests.
fn changed_order(tlvs: &[Tlv]) -> Option<String> {
    let keys = keys(tlvs);
    // All TLVs of a key are in one list.
    let first = |key| keys.iter().position(|other| *other == key);
    let places = tlvs.iter().zip(&keys).map(|(tlv, key)| match tlv.row.map(|row| row.kind) {
        _ if *key == FAULTY => (0, first(*key), 0),
        Some(Kind::Digest) => (2, None, tlv.number),
        None | Some(Kind::Nested(_) | Kind::Leaf(Leaf::Octets(_))) => (1, first(*key), 0),
        Some(Kind::Leaf(_)) => (0, first(*key), 0),
    });
    let types = tlvs.iter().zip(&keys).map(|(tlv, key)| match *key {
        FAULTY => FAULTY.to_owned(),
        _ => tlv.number.to_string(),
    });
    (!places.is_sorted()).then(|| types.collect::<Vec<_>>().join(" "))
}

/// Puts TLVs in the order of a list of types, with [`FAULTY`] for what stands there. Those that it lacks come last.
pub(super) fn reorder(tlvs: &mut Vec<Tlv>, order: &Value) -> Result<(), Fault> {
    // None is a faulty one.
    let parsed = |word: &str| (word != FAULTY).then(|| word.parse()).transpose();
    let types = order.as_str().map(|text| text.split_whitespace().map(parsed).collect());
    let Some(Ok(types)) = types else {
        let allowed = "types from 1 to 254 and the word faulty, with spaces between them";
        return Err(misfit(order, allowed).under(ORDER));
    };
    let types: Vec<Option<u8>> = types;
    let mut ordered = Vec::with_capacity(tlvs.len());
    for number in types {
        let is_of = |tlv: &Tlv| number == (!tlv.is_raw()).then_some(tlv.number);
        if let Some(at) = tlvs.iter().position(is_of) {
            ordered.push(tlvs.remove(at));
        }
    }
    ordered.append(tlvs);
    *tlvs = ordered;
    Ok(())
}

/// The TLVs of a file's settings, in the order that these state or else that of their keys.
pub(super) fn tlvs(settings: &Value) -> Result<Vec<Tlv>, Fault> {
    nested(settings, FILE)
}

pub(super) fn nested(settings: &Value, table: Table) -> Result<Vec<Tlv>, Fault> {
    let settings = settings.as_object().ok_or_else(|| misfit(settings, "a table"))?;
    let mut tlvs = Vec::new();
    let is_set = |(key, value): &(&String, &Value)| *key != ORDER && !value.is_null();
    for (key, value) in settings.iter().filter(is_set) {
        let row = if key == FAULTY { None } else { known(table, key)? };
        let list = row.is_none_or(Row::repeats);
        let values = if list {
            value.as_array().ok_or_else(|| misfit(value, "a list").under(key))?
        } else {
            std::slice::from_ref(value)
        };
        for (i, value) in values.iter().enumerate() {
            let path = if list { words::join(key, &i.to_string()) } else { key.clone() };
            let made = match row {
                Some(row) => tlv(row, value),
                None if key == FAULTY => raw(value),
                None => unknown(table, value),
            };
            tlvs.push(made.map_err(|fault| fault.under(&path))?);
        }
    }
    if let Some(order) = settings.get(ORDER) {
        reorder(&mut tlvs, order)?;
    }
    Ok(tlvs)
}

fn misfit(value: &Value, allowed: &str) -> Fault {
    Fault::here(format!("found {}; allowed: {allowed}", words::found(value)))
}

/// The type with this key, or `None` for the key of unknown types.
fn known(table: Table, key: &str) -> Result<Option<&'static Row>, Fault> {
    match table.keyed(key) {
        None if key == UNKNOWN => Ok(None),
        None => {
            let settable = table.rows().filter(|row| row.kind != Kind::Digest);
            let keys: Vec<_> = settable.map(|row| row.key).chain([UNKNOWN, FAULTY]).collect();
            Err(problem::Fault::unknown_key(words::join("", key), key, &keys, &[]).into())
        }
        Some(Row { kind: Kind::Digest, .. }) => {
            let message =
                "found a digest; allowed: unset, since digests are computed when a file is written";
            Err(Fault::here(message).under(key))
        }
        row => Ok(row),
    }
}

fn tlv(row: &'static Row, value: &Value) -> Result<Tlv, Fault> {
    let content = match row.kind {
        Kind::Nested(table) => Content::Nested(nested(value, table)?),
        Kind::Leaf(leaf) => Content::Bytes(leaf.write(value).map_err(Fault::here)?),
        Kind::Digest => Content::Bytes(Vec::new()),
    };
    if let Content::Nested(tlvs) = &content
        && size(tlvs) > LONGEST
    {
        let found = count(size(tlvs));
        return Err(Fault::here(format!("found {found} in total; allowed: {LONGEST} or fewer")));
    }
    Ok(Tlv { number: row.number, offset: 0, row: Some(row), length: Length::Fits, content })
}

/// Builds a TLV that is as its bytes say.
fn raw(value: &Value) -> Result<Tlv, Fault> {
    let bytes = RAW.write(value).map_err(Fault::here)?;
    let content = Content::Bytes(bytes[1..].to_vec());
    Ok(Tlv { number: bytes[0], offset: 0, row: None, length: Length::Missing, content })
}

/// Builds a TLV of unknown type from a table of its number and its bytes.
fn unknown(table: Table, value: &Value) -> Result<Tlv, Fault> {
    let entry = value.as_object().filter(|entry| entry.len() == 2);
    let part = |key| entry.and_then(|entry| entry.get(key));
    let (Some(kind), Some(bytes)) = (part("type"), part("hex")) else {
        return Err(misfit(value, "a table of type, hex"));
    };
    let types = if table == FILE { TYPE_AT_TOP } else { TYPE };
    let number = types.write(kind).map_err(|message| Fault::here(message).under("type"))?[0];
    if let Some(row) = table.numbered(number) {
        let message = format!("found {number}, the known type {}; allowed: unknown types", row.key);
        return Err(Fault::here(message).under("type"));
    }
    let bytes = HEX.write(bytes).map_err(|message| Fault::here(message).under("hex"))?;
    Ok(Tlv { number, offset: 0, row: None, length: Length::Fits, content: Content::Bytes(bytes) })
}
