//! How [`super::view`] states the known types: a macro, and what its rows are made of.

use super::leaf::Leaf;
use super::table::{Kind, Part, Row, Table};

/// A struct of the typed view together with its rows of the table. A line is a doc comment, the
/// type number, the key, the Rust type, and the row. Lines under `computed` are rows without a field.
macro_rules! tlvs {
    (
        $(#[$about:meta])*
        pub struct $name:ident {
            $($(#[$doc:meta])* $number:literal $key:ident: $type:ty = $row:expr;)*
        } $(computed { $($digest:ident $digest_key:ident = $digest_row:expr;)* })?
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct $name {
            $($(#[$doc])* pub $key: $type,)*
            /// TLVs of unknown type.
            pub unknown: Vec<Unknown>,
        }

        impl $name {
            /// Its rows of the table.
            pub(super) const ROWS: &'static [Row] = &[
                $($row.of($number, stringify!($key)),)*
                $($($digest_row.of($digest, stringify!($digest_key)),)*)?
            ];
        }
    };
}
pub(super) use tlvs;

pub(super) const ANY: usize = usize::MAX;

/// A row of one struct.
pub(super) const fn row(name: &'static str, kind: Kind, section: &'static str) -> Row {
    part(Part::Own, name, kind, section)
}

/// A row of several structs.
pub(super) const fn common(name: &'static str, kind: Kind, section: &'static str) -> Row {
    part(Part::Common, name, kind, section)
}

/// A row of upstream service flows.
pub(super) const fn upstream(name: &'static str, kind: Kind, section: &'static str) -> Row {
    part(Part::Upstream, name, kind, section)
}

/// A row of downstream service flows.
pub(super) const fn downstream(name: &'static str, kind: Kind, section: &'static str) -> Row {
    part(Part::Downstream, name, kind, section)
}

const fn part(part: Part, name: &'static str, kind: Kind, section: &'static str) -> Row {
    let (unit, most, required, is_aside) = ("", 1, false, false);
    Row { number: 0, key: "", name, kind, unit, most, required, is_aside, section, part }
}

pub(super) const fn number(bytes: usize, min: u32, max: u32) -> Kind {
    Kind::Leaf(Leaf::Number { bytes, min, max })
}

pub(super) const fn numbers(most: usize) -> Kind {
    Kind::Leaf(Leaf::Numbers { most })
}

pub(super) const fn word(words: &'static [(u8, &'static str)]) -> Kind {
    Kind::Leaf(Leaf::Word(words))
}

pub(super) const fn hex(min: usize, max: usize) -> Kind {
    Kind::Leaf(Leaf::Hex { min, max })
}

pub(super) const fn text(max: usize) -> Kind {
    Kind::Leaf(Leaf::Text { max, zero: false })
}

pub(super) const fn name(max: usize) -> Kind {
    Kind::Leaf(Leaf::Text { max, zero: true })
}

pub(super) const fn octets(names: &'static [&'static str]) -> Kind {
    Kind::Leaf(Leaf::Octets(names))
}

pub(super) const fn nested(rows: &'static [Row]) -> Kind {
    Kind::Nested(Table::new(rows))
}

/// TLVs inside a TLV, without the rows of one direction.
pub(super) const fn nested_but(part: Part, rows: &'static [Row]) -> Kind {
    Kind::Nested(Table::new(rows).but(part))
}

pub(super) const FLAG: Kind = Kind::Leaf(Leaf::Flag);
pub(super) const BYTE: Kind = number(1, 0, 255);
pub(super) const SHORT: Kind = number(2, 0, 65_535);
pub(super) const LONG: Kind = number(4, 0, u32::MAX);
pub(super) const REFERENCE: Kind = number(2, 1, 65_535);
pub(super) const IDENTIFIER: Kind = number(4, 1, u32::MAX);
pub(super) const IPV4: Kind = Kind::Leaf(Leaf::Ipv4);
pub(super) const IPV6: Kind = Kind::Leaf(Leaf::Ipv6);
pub(super) const OPAQUE: Kind = hex(0, 255);
pub(super) const TOS: Kind = octets(&["low", "high", "mask"]);
/// 256 matches any protocol, 257 both TCP and UDP.
pub(super) const PROTOCOL: Kind = number(2, 0, 257);
pub(super) const PREFIX: Kind = number(1, 0, 128);
