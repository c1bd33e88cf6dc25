//! The tree of TLVs in a file: reading, writing and displaying it.

use serde_json::{Value, json};

use super::contents::{self, Shown};
use super::leaf::{Leaf, hex};
use super::table::{DATA_RATE_UNIT, Kind, RATE, Row, Table};
use super::view::FILE;
use super::{Fault, Weight, step};

/// Padding after the end marker (CM-SP-MULPI C.1.2.2).
const PAD: u8 = 0;
/// The end marker (CM-SP-MULPI C.1.2.1).
const END: u8 = 255;
/// The first byte of a file for a PacketCable adapter.
const ADAPTER: u8 = 254;
/// The type whose length has two bytes there.
const WIDE: u8 = 64;
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
    pub(super) length: Length,
    pub(super) content: Content,
}

/// The length that the file states for a TLV.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Length {
    /// That of its value, in one byte.
    Fits,
    /// That of its value, in two bytes, as type 64 of a PacketCable adapter has it.
    Wide,
    /// Another, which exceeds what holds the TLV.
    Claims(u8),
    /// None: padding, or a type that is the last byte.
    Missing,
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
            Some(Kind::Leaf(leaf)) => leaf
                .read(bytes)
                .ok()
                .or_else(|| leaf.read_kindly(bytes))
                .unwrap_or_else(|| Value::from(hex(bytes))),
            _ => Value::from(hex(bytes)),
        }
    }

    /// Can its value be read, and is it whole?
    pub(super) fn is_sound(&self) -> bool {
        let is_read = match (&self.content, self.row.map(|row| row.kind)) {
            (Content::Bytes(bytes), Some(Kind::Leaf(leaf))) => {
                leaf.read(bytes).is_ok() || leaf.read_kindly(bytes).is_some()
            }
            (Content::Bytes(bytes), Some(Kind::Digest)) => DIGEST.read(bytes).is_ok(),
            (Content::Bytes(_), Some(Kind::Nested(_))) => false,
            (Content::Nested(_), _) => return true,
            (Content::Bytes(_), None) => true,
        };
        is_read && self.length == Length::Fits
    }

    /// Does its value, in the user's notation, give its bytes?
    pub(super) fn is_exact(&self) -> bool {
        let is_exact = match (&self.content, self.row.map(|row| row.kind)) {
            (Content::Bytes(bytes), Some(Kind::Leaf(leaf))) => leaf.read(bytes).is_ok(),
            _ => self.is_sound(),
        };
        is_exact && self.length == Length::Fits
    }

    /// Is it what a list of faulty TLVs states: a type, and bytes that are not read?
    pub(super) fn is_raw(&self) -> bool {
        self.row.is_none() && self.length == Length::Missing
    }

    /// Bytes of its type and length.
    fn head(&self) -> usize {
        match self.length {
            Length::Fits | Length::Claims(_) => HEAD,
            Length::Wide => HEAD + 1,
            Length::Missing => 1,
        }
    }

    /// Bytes that it takes in the file.
    pub(super) fn size(&self) -> usize {
        self.head() + self.content_size()
    }

    fn content_size(&self) -> usize {
        match &self.content {
            Content::Bytes(bytes) => bytes.len(),
            Content::Nested(tlvs) => size(tlvs),
        }
    }

    /// Appends it to a file.
    pub(super) fn append(&self, file: &mut Vec<u8>) {
        file.push(self.number);
        match self.length {
            // Longer values are rejected before a TLV is built.
            Length::Fits => file.push(self.content_size() as u8),
            Length::Wide => file.extend((self.content_size() as u16).to_be_bytes()),
            Length::Claims(length) => file.push(length),
            Length::Missing => {}
        }
        match &self.content {
            Content::Bytes(bytes) => file.extend(bytes),
            Content::Nested(tlvs) => tlvs.iter().for_each(|tlv| tlv.append(file)),
        }
    }
}

/// Bytes that these take in the file.
pub(super) fn size(tlvs: &[Tlv]) -> usize {
    tlvs.iter().map(Tlv::size).sum()
}

/// The TLVs of a file, what follows them, and what is wrong.
pub(super) fn read_file(file: &[u8]) -> (Vec<Tlv>, Vec<u8>, Vec<Fault>) {
    let (mut tlvs, mut faults) = (Vec::new(), Vec::new());
    let is_adapter = file.first() == Some(&ADAPTER);
    if is_adapter {
        let message = "found type 254, with which files for PacketCable adapters begin; \
                       allowed: files for cable modems";
        faults.push(Fault { weight: Weight::Refused, ..Fault::at(0, message) });
    }
    let mut at = 0;
    while let Some(number) = file.get(at) {
        match *number {
            END => break,
            PAD => {
                faults.push(misplaced(at, "padding, 0"));
                tlvs.push(padding(&file[at..], at));
            }
            number => {
                let is_wide = is_adapter && number == WIDE;
                tlvs.push(read(file, at, FILE, &tlvs, is_wide, &mut faults));
            }
        }
        at += tlvs.last().map_or(1, Tlv::size);
    }
    let tail = file[at..].to_vec();
    faults.extend(fault_of_tail(&tail, at, &tlvs));
    (tlvs, tail, faults)
}

/// The zeros at the beginning of these bytes.
fn padding(bytes: &[u8], offset: usize) -> Tlv {
    let zeros = bytes.iter().take_while(|byte| **byte == PAD).count();
    let content = Content::Bytes(vec![PAD; zeros - 1]);
    Tlv { number: PAD, offset, row: None, length: Length::Missing, content }
}

/// What is wrong with the end of a file. Of a modem's file nothing is read after the end marker.
fn fault_of_tail(tail: &[u8], at: usize, tlvs: &[Tlv]) -> Option<Fault> {
    let Some((_, after)) = tail.split_first() else {
        let fault = misplaced(at, "the end of the file");
        // What has no settings is no modem's file.
        let is_empty = tlvs.iter().all(|tlv| tlv.number == PAD);
        let weight = if is_empty { Weight::Refused } else { Weight::Noted };
        return Some(Fault { weight, ..fault });
    };
    let first = after.iter().position(|byte| *byte != PAD)?;
    let message = format!("found {} after the end marker; allowed: zeros", after[first]);
    Some(Fault { weight: Weight::Noted, ..Fault::at(at + 1 + first, message) })
}

/// The end marker and this much padding.
pub(super) fn tail(padding: usize) -> Vec<u8> {
    let mut tail = vec![END];
    tail.resize(1 + padding, PAD);
    tail
}

/// The bytes of a file.
pub(super) fn file_bytes(tlvs: &[Tlv], tail: &[u8]) -> Vec<u8> {
    let mut file = Vec::with_capacity(size(tlvs) + tail.len());
    tlvs.iter().for_each(|tlv| tlv.append(&mut file));
    file.extend(tail);
    file
}

fn misplaced(at: usize, found: &str) -> Fault {
    let message = format!("found {found}; allowed: a TLV or the end marker, 255");
    Fault { weight: Weight::Noted, ..Fault::at(at, message) }
}

/// The TLVs from the top to the one that begins at an offset or holds it.
pub(super) fn path_to(tlvs: &[Tlv], offset: usize) -> Vec<&Tlv> {
    let holds = |tlv: &&Tlv| (tlv.offset..tlv.offset + tlv.size()).contains(&offset);
    let Some(tlv) = tlvs.iter().find(holds) else { return Vec::new() };
    let below = if offset == tlv.offset { Vec::new() } else { path_to(tlv.children(), offset) };
    [tlv].into_iter().chain(below).collect()
}

/// Reads the TLV at an offset of the file; `within` ends where its container does, and `before` are the
/// TLVs before it there.
fn read(
    within: &[u8],
    at: usize,
    table: Table,
    before: &[Tlv],
    is_wide: bool,
    faults: &mut Vec<Fault>,
) -> Tlv {
    let number = within[at];
    let row = table.numbered(number).filter(|_| !is_wide);
    let path = step(row, before);
    let mut report = |fault: Fault| faults.push(fault.under(&path));
    let head = if is_wide { HEAD + 1 } else { HEAD };
    let Some(lengths) = within.get(at + 1..at + head) else {
        let message = format!("found type {number} without a length; allowed: one byte of length");
        report(Fault { weight: weight_of_cut(table), ..Fault::at(at, message) });
        let content = Content::Bytes(within[at + 1..].to_vec());
        return Tlv { number, offset: at, row, length: Length::Missing, content };
    };
    let stated = lengths.iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
    let value = at + head;
    let left = within.len() - value;
    let fits = stated <= left;
    if !fits {
        let message = format!(
            "found a length of {stated}, but {left} bytes remain; allowed: {left} or less; the file \
             was cut off, or a length is wrong"
        );
        report(Fault { weight: weight_of_cut(table), ..Fault::at(at, message) });
    }
    let length = match is_wide {
        true => Length::Wide,
        false if fits => Length::Fits,
        false => Length::Claims(within[at + 1]),
    };
    let within = &within[..value + stated.min(left)];
    let first = faults.len();
    let content = content(within, value, row, fits, faults);
    for fault in &mut faults[first..] {
        // A fault in a value is reported at the start of its TLV.
        let own = Fault { offset: fault.offset.or(Some(at)), ..fault.clone() };
        *fault = own.under(&path);
    }
    Tlv { number, offset: at, row, length, content }
}

/// A file that was cut off may lack any setting; a part of it that does not fit is judged by its place.
fn weight_of_cut(table: Table) -> Weight {
    if table == FILE { Weight::Refused } else { Weight::ByPlace }
}

fn content(
    within: &[u8],
    mut at: usize,
    row: Option<&'static Row>,
    is_whole: bool,
    faults: &mut Vec<Fault>,
) -> Content {
    let bytes = &within[at..];
    let leaf = match row.map(|row| row.kind) {
        Some(Kind::Nested(table)) => {
            let mut tlvs: Vec<Tlv> = Vec::new();
            while at < within.len() {
                tlvs.push(read(within, at, table, &tlvs, false, faults));
                at += tlvs.last().map_or(1, Tlv::size);
            }
            return Content::Nested(tlvs);
        }
        Some(Kind::Leaf(leaf)) => Some(leaf),
        Some(Kind::Digest) => Some(DIGEST),
        None => None,
    };
    if let Some(Err(message)) = leaf.filter(|_| is_whole).map(|leaf| leaf.read(bytes)) {
        let is_plain = leaf.is_some_and(|leaf| leaf.read_kindly(bytes).is_some());
        let weight = if is_plain { Weight::Noted } else { Weight::ByPlace };
        faults.push(Fault { weight, ..Fault::here(message) });
    }
    Content::Bytes(bytes.to_vec())
}

/// What is wrong in the TLV at an offset.
pub(super) fn problems_at(faults: &[Fault], offset: usize) -> Vec<&str> {
    let here = faults.iter().filter(|fault| fault.offset == Some(offset));
    here.map(|fault| &*fault.fault.message).collect()
}

/// A file as plain data.
pub(super) fn shown_file(tlvs: &[Tlv], tail: &[u8], faults: &[Fault]) -> Value {
    let mut nodes = shown(tlvs, "", contents::TOP, faults);
    let end = size(tlvs);
    let problems: Vec<_> = faults
        .iter()
        .filter(|fault| fault.offset.is_some_and(|at| at >= end))
        .map(|fault| &*fault.fault.message)
        .collect();
    if !problems.is_empty() {
        nodes.push(json!({
            "type": END.to_string(), "offset": end, "name": "End of Data",
            "value": hex(tail.get(1..).unwrap_or_default()), "problems": problems,
        }));
    }
    nodes.into()
}

/// TLVs as plain data, with `outer` as the type path of their container and `rows` of what is known of those in it.
fn shown(tlvs: &[Tlv], outer: &str, rows: &'static [Shown], faults: &[Fault]) -> Vec<Value> {
    tlvs.iter().map(|tlv| shown_one(tlv, tlvs, (outer, rows), faults)).collect()
}

fn shown_one(
    tlv: &Tlv,
    beside: &[Tlv],
    (outer, rows): (&str, &'static [Shown]),
    faults: &[Fault],
) -> Value {
    let number =
        if outer.is_empty() { tlv.number.to_string() } else { format!("{outer}.{}", tlv.number) };
    let mut node = json!({ "type": number, "offset": tlv.offset });
    if tlv.number == PAD && tlv.length == Length::Missing && outer.is_empty() {
        node["name"] = "Padding".into();
    }
    if let Some(row) = tlv.row {
        node["name"] = row.name.into();
        node["key"] = row.key.into();
    }
    let known = contents::numbered(rows, tlv.number);
    match &tlv.content {
        Content::Nested(tlvs) => {
            let rows = known.map_or(&[][..], Shown::rows);
            node["children"] = shown(tlvs, &number, rows, faults).into();
        }
        Content::Bytes(bytes) => {
            node["value"] = tlv.value();
            if let Some(unit) = unit(tlv, beside).filter(|_| tlv.is_sound()) {
                node["unit"] = unit.into();
            }
            if let Some(known) = known.filter(|_| tlv.length == Length::Fits) {
                known.fill(&mut node, bytes, &number, tlv.offset + HEAD);
            }
        }
    }
    let problems = problems_at(faults, tlv.offset);
    if !problems.is_empty() {
        node["problems"] = problems.into();
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
