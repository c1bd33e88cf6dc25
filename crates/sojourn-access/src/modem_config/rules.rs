//! Rules between the TLVs of a file.

use std::collections::BTreeMap;

use super::table::{Kind, Table};
use super::tree::{Content, Tlv};
use super::view::FILE;
use super::{Fault, step};

/// A path of types: 24.1 is `[24, 1]`.
type Path = &'static [u8];

/// References that must be unique (CM-SP-MULPI C.2.2.5.1, C.2.1.4.1). The specification requires
/// classifier references to be unique in a file. Files that count each direction separately are
/// accepted.
const UNIQUE: &[&[Path]] =
    &[&[&[24, 1], &[25, 1]], &[&[70, 1], &[71, 1]], &[&[22, 1]], &[&[23, 1]], &[&[60, 1]]];

/// References that must exist among others.
const KNOWN: &[(Path, Path)] = &[
    (&[22, 3], &[24, 1]),
    (&[23, 3], &[25, 1]),
    (&[24, 36], &[70, 1]),
    (&[25, 36], &[71, 1]),
    (&[70, 42, 1], &[24, 1]),
    (&[71, 42, 1], &[25, 1]),
];

/// Rates of one flow or aggregate of which the second must not be below the first. A rate of zero
/// means that none is set (CM-SP-MULPI C.2.2.7.2, C.2.2.7.4, C.2.2.7.10).
const ASCENDING_RATES: (&[u8], &[[Path; 2]]) =
    (&[24, 25, 70, 71], &[[&[8], &[27]], [&[10], &[8]], [&[10], &[27]]]);

/// Rates of a class of service of DOCSIS 1.0 of which the second must not be below the first.
const ASCENDING_CLASS_RATES: (&[u8], &[[Path; 2]]) = (&[4], &[[&[5], &[3]]]);

/// Buffer sizes and port ranges of which the second must not be below the first.
const ASCENDING: &[(&[u8], &[[Path; 2]])] = &[
    (&[24, 25], &[[&[35, 1], &[35, 2]], [&[35, 2], &[35, 3]], [&[35, 1], &[35, 3]]]),
    (&[22, 23, 60], &[[&[9, 7], &[9, 8]], [&[9, 9], &[9, 10]]]),
];

/// The faults of the TLVs of a file.
pub(super) fn check(tlvs: &[Tlv]) -> Vec<Fault> {
    let mut faults = Vec::new();
    counts(tlvs, FILE, 0, &mut faults);
    UNIQUE.iter().for_each(|paths| unique(tlvs, paths, &mut faults));
    KNOWN.iter().for_each(|(path, among)| known(tlvs, path, among, &mut faults));
    faults.extend(two_kinds_of_service(tlvs));
    ascending(tlvs, ASCENDING_RATES, |rate| rate > 0, &mut faults);
    ascending(tlvs, ASCENDING_CLASS_RATES, |rate| rate > 0, &mut faults);
    members(tlvs, &mut faults);
    ASCENDING.iter().for_each(|pairs| ascending(tlvs, *pairs, |_| true, &mut faults));
    faults
}

/// A file has classes of service or service flows (CM-SP-MULPI C.1.1.4, from memory).
fn two_kinds_of_service(tlvs: &[Tlv]) -> Option<Fault> {
    let first = |numbers: &[u8]| tlvs.iter().find(|tlv| numbers.contains(&tlv.number));
    let (class, flow) = (first(&[4])?, first(&[24, 25])?);
    let message = format!(
        "found beside TLV {}, a service flow; allowed: classes of service or service flows, not both",
        flow.number
    );
    Some(Fault::at(class.offset, message).under(&step(class.row, &[])))
}

/// The maximum sustained rate of an aggregate bounds those of its members (CM-SP-MULPI C.2.2.7).
fn members(tlvs: &[Tlv], faults: &mut Vec<Fault>) {
    let first = |tlvs: &[Tlv], number| numbers(tlvs, &[number]).into_iter().next();
    let bps = |tlvs: &[Tlv]| {
        let unit = tlvs.iter().find(|tlv| tlv.number == 41).map(|tlv| match &tlv.content {
            Content::Bytes(bytes) => bytes.first().copied().unwrap_or_default(),
            Content::Nested(_) => 0,
        });
        let rate = first(tlvs, 8)?;
        let bps = rate.number.saturating_mul(1000_u64.saturating_pow(unit.unwrap_or(0).into()));
        Some((bps, rate)).filter(|(bps, _)| *bps > 0)
    };
    for (i, tlv) in tlvs.iter().enumerate() {
        let aggregate = match tlv.number {
            24 => 70,
            25 => 71,
            _ => continue,
        };
        let Some(reference) = first(tlv.children(), 36) else { continue };
        let is_its = |other: &&Tlv| {
            let own = first(other.children(), 1).map(|own| own.number);
            other.number == aggregate && own == Some(reference.number)
        };
        let whole = tlvs.iter().find(is_its).and_then(|whole| bps(whole.children()));
        let (Some((most, _)), Some((own, rate))) = (whole, bps(tlv.children())) else { continue };
        if own > most {
            let flow = first(tlv.children(), 1).map_or(0, |own| own.number);
            let message = format!(
                "found {own} bps in service flow {flow}; allowed: {most} or less, the rate of its \
                 aggregate {}",
                reference.number
            );
            faults.push(rate.fault(message).under(&step(tlv.row, &tlvs[..i])));
        }
    }
}

/// Checks how many TLVs there are of each type.
fn counts(tlvs: &[Tlv], table: Table, offset: usize, faults: &mut Vec<Fault>) {
    for row in table.rows() {
        if row.required && tlvs.iter().all(|tlv| tlv.number != row.number) {
            let message = format!("missing; allowed: {}", row.allowed());
            faults.push(Fault::at(offset, message).under(row.key));
        }
        let mut alike = tlvs.iter().filter(|tlv| tlv.number == row.number && !tlv.is_raw());
        if let Some(extra) = alike.nth(row.most) {
            let message = match row.most {
                1 => format!("second TLV {}; allowed: one", row.number),
                most => format!("found {} TLVs {} or more; allowed: {most}", most + 1, row.number),
            };
            faults.push(Fault::at(extra.offset, message).under(row.key));
        }
    }
    for (i, tlv) in tlvs.iter().enumerate() {
        if let Some(Kind::Nested(table)) = tlv.row.map(|row| row.kind) {
            let mut inside = Vec::new();
            counts(tlv.children(), table, tlv.offset, &mut inside);
            let path = step(tlv.row, &tlvs[..i]);
            faults.extend(inside.into_iter().map(|fault| fault.under(&path)));
        }
    }
}

/// A number in a file.
struct Number {
    number: u64,
    offset: usize,
    path: String,
}

impl Number {
    fn fault(&self, message: String) -> Fault {
        Fault::at(self.offset, message).under(&self.path)
    }
}

fn unique(tlvs: &[Tlv], paths: &[Path], faults: &mut Vec<Fault>) {
    let mut used = BTreeMap::new();
    for reference in paths.iter().flat_map(|path| numbers(tlvs, path)) {
        let number = reference.number;
        if let Some(first) = used.get(&number) {
            let message =
                format!("found {number}, which {first} already uses; allowed: another number");
            faults.push(reference.fault(message));
            continue;
        }
        used.insert(number, reference.path);
    }
}

fn known(tlvs: &[Tlv], path: Path, among: Path, faults: &mut Vec<Fault>) {
    let there: Vec<_> = numbers(tlvs, among).iter().map(|other| other.number).collect();
    let lost = numbers(tlvs, path).into_iter().filter(|r| !there.contains(&r.number));
    faults.extend(lost.map(|reference| {
        let key = FILE.numbered(among[0]).map_or("", |row| row.key);
        let there: Vec<_> = there.iter().map(u64::to_string).collect();
        let allowed = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
        let found = reference.number;
        reference.fault(format!("found {found}; allowed: a reference of {key}: {allowed}"))
    }));
}

/// Checks that in each TLV of these types the numbers at the two paths ascend.
fn ascending(
    tlvs: &[Tlv],
    (outer, pairs): (&[u8], &[[Path; 2]]),
    counts: fn(u64) -> bool,
    faults: &mut Vec<Fault>,
) {
    for (i, tlv) in tlvs.iter().enumerate().filter(|(_, tlv)| outer.contains(&tlv.number)) {
        for pair in pairs {
            let [low, high] = pair.map(|path| numbers(tlv.children(), path).into_iter().next());
            let (Some(low), Some(high)) = (low, high) else { continue };
            if low.number > high.number && counts(high.number) {
                let Number { number, path, .. } = low;
                let message = format!(
                    "found {}; allowed: {number} or more, the value of {path}",
                    high.number
                );
                faults.push(high.fault(message).under(&step(tlv.row, &tlvs[..i])));
            }
        }
    }
}

/// The numbers at a path of types.
fn numbers(tlvs: &[Tlv], path: &[u8]) -> Vec<Number> {
    let at_path = tlvs.iter().enumerate().filter(|(_, tlv)| tlv.number == path[0]);
    at_path
        .flat_map(|(i, tlv)| {
            let key = step(tlv.row, &tlvs[..i]);
            match &tlv.content {
                Content::Nested(inner) => numbers(inner, &path[1..])
                    .into_iter()
                    .map(|inner| Number { path: format!("{key}.{}", inner.path), ..inner })
                    .collect(),
                Content::Bytes(_) => {
                    let number = tlv.value().as_u64().filter(|_| tlv.is_sound());
                    let found = |number| Number { number, offset: tlv.offset, path: key };
                    number.map(found).into_iter().collect::<Vec<_>>()
                }
            }
        })
        .collect()
}
