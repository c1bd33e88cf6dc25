//! The tree of TLVs in a file: reading, writing and displaying it.

use serde_json::{Value, json};

use super::leaf::{Leaf, hex};
use super::table::{DATA_RATE_UNIT, FILE, Kind, RATE, Row, Table};
use super::{Fault, step};

/// Padding after the end marker (CM-SP-MULPI C.1.2.2).
const PAD: u8 = 0;
/// The end marker (CM-SP-MULPI C.1.2.1).
const END: u8 = 255;
/// The first byte of a file for a PacketCable adapter.
const ADAPTER: u8 = 254;
/// Bytes of type and length.
const HEAD: usize = 2;
/// Bytes of a digest.
pub(super) const DIGEST: Leaf = Leaf::Hex { min: 16, max: 16 };

/// One TLV.
#[derive(Clone, Debug, PartialEq)]
pub struct Tlv {
    pub(super) number: u8,
    pub(super) offset: usize,
    pub(super) row: Option<&'static Row>,
    pub(super) content: Content,
}

/// What a TLV holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// The bytes of its value, which are valid if the type is known.
    Bytes(Vec<u8>),
    /// Other TLVs.
    Nested(Vec<Tlv>),
}

impl Tlv {
    /// The number of its type.
    pub fn number(&self) -> u8 {
        self.number
    }

    /// Its offset in the file, in bytes.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The table's row for its type, if known.
    pub fn row(&self) -> Option<&'static Row> {
        self.row
    }

    /// What it holds.
    pub fn content(&self) -> &Content {
        &self.content
    }

    /// The TLVs in it.
    pub(super) fn children(&self) -> &[Tlv] {
        match &self.content {
            Content::Nested(tlvs) => tlvs,
            Content::Bytes(_) => &[],
        }
    }

    /// Its value in the user's notation, if it has one.
    pub(super) fn value(&self) -> Value {
        let Content::Bytes(bytes) = &self.content else {
            return Value::Null;
        };
        match self.row.map(|row| row.kind) {
            Some(Kind::Leaf(leaf)) => leaf.read(bytes).expect("checked when it was made"),
            _ => Value::from(hex(bytes)),
        }
    }

    /// Bytes that it takes in the file.
    pub(super) fn size(&self) -> usize {
        HEAD + match &self.content {
            Content::Bytes(bytes) => bytes.len(),
            Content::Nested(tlvs) => size(tlvs),
        }
    }

    /// Appends it to a file.
    pub(super) fn append(&self, file: &mut Vec<u8>) {
        // Longer values are rejected before a TLV is built.
        file.extend([self.number, (self.size() - HEAD) as u8]);
        match &self.content {
            Content::Bytes(bytes) => file.extend(bytes),
            Content::Nested(tlvs) => tlvs.iter().for_each(|tlv| tlv.append(file)),
        }
    }
}

/// Sets the offsets of TLVs of which the first is at `at`.
pub(super) fn place(tlvs: &mut [Tlv], mut at: usize) {
    for tlv in tlvs {
        tlv.offset = at;
        at += tlv.size();
        if let Content::Nested(inner) = &mut tlv.content {
            place(inner, tlv.offset + HEAD);
        }
    }
}

/// Bytes that these take in the file.
pub(super) fn size(tlvs: &[Tlv]) -> usize {
    tlvs.iter().map(Tlv::size).sum()
}

/// The TLVs of a file and how many zeros follow the end marker.
pub(super) fn read_file(file: &[u8]) -> Result<(Vec<Tlv>, usize), Fault> {
    if file.first() == Some(&ADAPTER) {
        let message = "found type 254, with which files for PacketCable adapters begin; \
                       allowed: files for cable modems";
        return Err(Fault::at(0, message));
    }
    let mut tlvs = Vec::new();
    let mut at = 0;
    loop {
        match file.get(at) {
            Some(&END) => return Ok((tlvs, padding(file, at + 1)?)),
            Some(&PAD) => return Err(misplaced(at, "padding, 0")),
            Some(_) => at = push(&mut tlvs, file, at, FILE)?,
            None => return Err(misplaced(at, "the end of the file")),
        }
    }
}

/// The bytes of a file.
pub(super) fn file_bytes(tlvs: &[Tlv], padding: usize) -> Vec<u8> {
    let mut file = Vec::with_capacity(size(tlvs) + 1 + padding);
    tlvs.iter().for_each(|tlv| tlv.append(&mut file));
    file.push(END);
    file.resize(file.len() + padding, PAD);
    file
}

fn misplaced(at: usize, found: &str) -> Fault {
    Fault::at(at, format!("found {found}; allowed: a TLV or the end marker, 255"))
}

fn padding(file: &[u8], start: usize) -> Result<usize, Fault> {
    match file[start..].iter().position(|byte| *byte != PAD) {
        None => Ok(file.len() - start),
        Some(i) => {
            let found = file[start + i];
            let message = format!("found {found} after the end marker; allowed: zeros");
            Err(Fault::at(start + i, message))
        }
    }
}

/// The types of the TLV that begins at an offset or holds it, as in 24.8; `at` is where the first one
/// of its container begins.
pub(super) fn types_at(
    within: &[u8],
    mut at: usize,
    offset: usize,
    table: Table,
) -> Option<String> {
    loop {
        let number = *within.get(at).filter(|number| ![PAD, END].contains(number))?;
        let end = at + HEAD + usize::from(*within.get(at + 1).unwrap_or(&0));
        if offset == at {
            return Some(number.to_string());
        }
        if offset < end {
            let inner = match table.numbered(number)?.kind {
                Kind::Nested(inner) => types_at(within, at + HEAD, offset, inner)?,
                _ => return None,
            };
            return Some(format!("{number}.{inner}"));
        }
        at = end;
    }
}

/// Reads the TLV at an offset. Returns the offset of the next one.
fn push(tlvs: &mut Vec<Tlv>, file: &[u8], at: usize, table: Table) -> Result<usize, Fault> {
    let row = table.numbered(file[at]);
    let tlv = read(file, at, row).map_err(|fault| fault.under(&step(row, tlvs)))?;
    let next = at + tlv.size();
    tlvs.push(tlv);
    Ok(next)
}

/// Reads the TLVs from an offset to the end of their container.
fn read_all(within: &[u8], mut at: usize, table: Table) -> Result<Vec<Tlv>, Fault> {
    let mut tlvs = Vec::new();
    while at < within.len() {
        at = push(&mut tlvs, within, at, table)?;
    }
    Ok(tlvs)
}

/// Reads the TLV at an offset of the file; `within` ends where its container does.
fn read(within: &[u8], at: usize, row: Option<&'static Row>) -> Result<Tlv, Fault> {
    let number = within[at];
    let value = at + HEAD;
    let Some(length) = within.get(at + 1) else {
        let message = format!("found type {number} without a length; allowed: one byte of length");
        return Err(Fault::at(at, message));
    };
    let end = value + usize::from(*length);
    let Some(within) = within.get(..end) else {
        let left = within.len() - value;
        let message = format!(
            "found a length of {length}, but {left} bytes remain; allowed: {left} or less; the file \
             was cut off, or a length is wrong"
        );
        return Err(Fault::at(at, message));
    };
    let content = content(within, value, row).map_err(|fault| Fault {
        // A fault in a value is reported at the start of its TLV.
        offset: fault.offset.or(Some(at)),
        ..fault
    })?;
    Ok(Tlv { number, offset: at, row, content })
}

fn content(within: &[u8], at: usize, row: Option<&'static Row>) -> Result<Content, Fault> {
    let bytes = &within[at..];
    let check = |leaf: Leaf| leaf.read(bytes).map_err(Fault::here).map(|_| ());
    match row.map(|row| row.kind) {
        Some(Kind::Nested(table)) => return Ok(Content::Nested(read_all(within, at, table)?)),
        Some(Kind::Leaf(leaf)) => check(leaf)?,
        Some(Kind::Digest) => check(DIGEST)?,
        None => {}
    }
    Ok(Content::Bytes(bytes.to_vec()))
}

/// TLVs as plain data, with `outer` as the type path of their container.
pub(super) fn shown(tlvs: &[Tlv], outer: &str) -> Value {
    tlvs.iter().map(|tlv| shown_one(tlv, tlvs, outer)).collect()
}

fn shown_one(tlv: &Tlv, beside: &[Tlv], outer: &str) -> Value {
    let number =
        if outer.is_empty() { tlv.number.to_string() } else { format!("{outer}.{}", tlv.number) };
    let mut node = json!({ "type": number, "offset": tlv.offset });
    if let Some(row) = tlv.row {
        node["name"] = row.name.into();
        node["key"] = row.key.into();
    }
    match &tlv.content {
        Content::Nested(tlvs) => node["children"] = shown(tlvs, &number),
        Content::Bytes(_) => {
            node["value"] = tlv.value();
            if let Some(unit) = unit(tlv, beside) {
                node["unit"] = unit.into();
            }
        }
    }
    node
}

/// The unit of a number. A rate's unit depends on a TLV beside it.
fn unit(tlv: &Tlv, beside: &[Tlv]) -> Option<&'static str> {
    let unit = tlv.row.map(|row| row.unit).filter(|unit| !unit.is_empty())?;
    let scale = || beside.iter().find(|tlv| tlv.number == DATA_RATE_UNIT).map(Tlv::value);
    if unit != RATE {
        return Some(unit);
    }
    Some(match scale().as_ref().and_then(Value::as_str) {
        Some("kbps") => "kbit/s",
        Some("mbps") => "Mbit/s",
        Some("gbps") => "Gbit/s",
        _ => RATE,
    })
}
