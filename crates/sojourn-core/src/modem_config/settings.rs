//! Settings as plain tables with the keys of [`super::table`]. They are the step between TLVs on
//! one side and the typed view and TOML on the other.

use serde_json::{Map, Value, json};

use super::leaf::{Leaf, count};
use super::table::{FILE, Kind, Row, Table};
use super::tree::{Content, Tlv, size};
use super::{Fault, words};

/// Key of the list of TLVs of unknown type.
pub(super) const UNKNOWN: &str = "unknown";

/// The longest value that a length byte allows.
const LONGEST: usize = 255;
const TYPE: Leaf = Leaf::Number { bytes: 1, min: 0, max: 255 };
/// At the top level, padding and the end marker are not types.
const TYPE_AT_TOP: Leaf = Leaf::Number { bytes: 1, min: 1, max: 254 };
const HEX: Leaf = Leaf::Hex { min: 0, max: LONGEST };

/// The settings of TLVs, without digests.
pub(super) fn of(tlvs: &[Tlv]) -> Map<String, Value> {
    let mut settings = Map::new();
    for tlv in tlvs {
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

fn setting(tlv: &Tlv) -> Value {
    match &tlv.content {
        Content::Nested(tlvs) => Value::Object(of(tlvs)),
        Content::Bytes(_) => tlv.value(),
    }
}

/// The TLVs of a file's settings, in the order of their keys.
pub(super) fn tlvs(settings: &Value) -> Result<Vec<Tlv>, Fault> {
    nested(settings, 0, FILE)
}

fn nested(settings: &Value, mut at: usize, table: Table) -> Result<Vec<Tlv>, Fault> {
    let settings = settings.as_object().ok_or_else(|| misfit(settings, "a table"))?;
    let mut tlvs = Vec::new();
    for (key, value) in settings.iter().filter(|(_, value)| !value.is_null()) {
        let row = known(table, key)?;
        let list = row.is_none_or(Row::repeats);
        let values = if list {
            value.as_array().ok_or_else(|| misfit(value, "a list").under(key))?
        } else {
            std::slice::from_ref(value)
        };
        for (i, value) in values.iter().enumerate() {
            let path = if list { words::join(key, &i.to_string()) } else { key.clone() };
            let made = match row {
                Some(row) => tlv(row, value, at),
                None => unknown(table, value, at),
            };
            let tlv = made.map_err(|fault| fault.under(&path))?;
            at += tlv.size();
            tlvs.push(tlv);
        }
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
            let keys: Vec<_> = settable.map(|row| row.key).chain([UNKNOWN]).collect();
            Err(Fault::here(words::unknown_key(key, &keys)).under(&words::join("", key)))
        }
        Some(Row { kind: Kind::Digest, .. }) => {
            let message =
                "found a digest; allowed: unset, since digests are computed when a file is written";
            Err(Fault::here(message).under(key))
        }
        row => Ok(row),
    }
}

fn tlv(row: &'static Row, value: &Value, at: usize) -> Result<Tlv, Fault> {
    let content = match row.kind {
        Kind::Nested(table) => Content::Nested(nested(value, at + 2, table)?),
        Kind::Leaf(leaf) => Content::Bytes(leaf.write(value).map_err(Fault::here)?),
        Kind::Digest => Content::Bytes(Vec::new()),
    };
    if let Content::Nested(tlvs) = &content
        && size(tlvs) > LONGEST
    {
        let found = count(size(tlvs));
        return Err(Fault::here(format!("found {found} in total; allowed: {LONGEST} or fewer")));
    }
    Ok(Tlv { number: row.number, offset: at, row: Some(row), content })
}

/// Builds a TLV of unknown type from a table of its number and its bytes.
fn unknown(table: Table, value: &Value, at: usize) -> Result<Tlv, Fault> {
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
    Ok(Tlv { number, offset: at, row: None, content: Content::Bytes(bytes) })
}
