//! The table of known TLV types: their names, contents and allowed values. Reading, writing,
//! display, messages and `docs/modem-config.md` follow it. Its rows are stated in [`super::view`].

use std::fmt;

use super::leaf::Leaf;

/// What a TLV holds.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    /// A value.
    Leaf(Leaf),
    /// A digest over the other TLVs, which is computed, not set.
    Digest,
    /// Other TLVs.
    Nested(Table),
}

/// A type of TLV.
#[derive(Clone, Copy, PartialEq)]
pub struct Row {
    /// The type byte of a TLV.
    pub number: u8,
    /// Key in TOML, and name of the field in the typed view.
    pub key: &'static str,
    /// Name in the specification.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Unit of the number; empty if there is none.
    pub unit: &'static str,
    /// How many TLVs of this type may be side by side.
    pub most: usize,
    /// Is the TLV required?
    pub required: bool,
    /// Does nothing that is simulated depend on it?
    pub is_aside: bool,
    /// Section in Annex C.
    pub section: &'static str,
    pub(super) part: Part,
}

/// What a row belongs to, in the order in which rows are listed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// Several structs of the view.
    Common,
    /// One struct.
    Own,
    /// Service flows upstream.
    Upstream,
    /// Service flows downstream.
    Downstream,
}

impl Row {
    /// The row with its type number and key.
    pub(super) const fn of(mut self, number: u8, key: &'static str) -> Self {
        (self.number, self.key) = (number, key);
        self
    }

    pub(super) const fn unit(mut self, unit: &'static str) -> Self {
        self.unit = unit;
        self
    }

    pub(super) const fn most(mut self, most: usize) -> Self {
        self.most = most;
        self
    }

    pub(super) const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    pub(super) const fn aside(mut self) -> Self {
        self.is_aside = true;
        self
    }

    /// May there be several?
    pub fn repeats(&self) -> bool {
        self.most > 1
    }

    /// What is allowed, as text.
    pub fn allowed(&self) -> String {
        match self.kind {
            Kind::Leaf(leaf) => leaf.allowed(),
            Kind::Digest => "16 bytes, computed".to_owned(),
            Kind::Nested(_) => "a table".to_owned(),
        }
    }
}

// A row contains its nested rows; printing all of them would make a failing test unreadable.
impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key)
    }
}

/// The types that may be side by side.
#[derive(Clone, Copy, PartialEq)]
pub struct Table {
    rows: &'static [Row],
    /// Rows that it lacks.
    but: Option<Part>,
}

impl Table {
    pub(super) const fn new(rows: &'static [Row]) -> Self {
        Self { rows, but: None }
    }

    /// This table without the rows of a part.
    pub(super) const fn but(mut self, part: Part) -> Self {
        self.but = Some(part);
        self
    }

    fn unsorted(self) -> impl Iterator<Item = &'static Row> {
        self.rows.iter().filter(move |row| self.but != Some(row.part))
    }

    /// All types.
    pub fn rows(self) -> impl Iterator<Item = &'static Row> {
        let mut rows: Vec<_> = self.unsorted().collect();
        rows.sort_by_key(|row| (row.part, row.number));
        rows.into_iter()
    }

    /// The type with this number.
    pub fn numbered(self, number: u8) -> Option<&'static Row> {
        self.unsorted().find(|row| row.number == number)
    }

    /// The type with this key.
    pub fn keyed(self, key: &str) -> Option<&'static Row> {
        self.unsorted().find(|row| row.key == key)
    }
}

/// Unit of a rate, which the data rate unit multiplies.
pub(crate) const RATE: &str = "bit/s";
/// Type number of a service flow's data rate unit.
pub(crate) const DATA_RATE_UNIT: u8 = 41;
/// The digest that the modem checks.
pub(crate) const CM_MIC: u8 = 6;
/// The digest that the CMTS checks.
pub(crate) const CMTS_MIC: u8 = 7;
/// The most service flows in each direction of a file; a limit of this simulator.
pub(crate) const MOST_SERVICE_FLOWS: usize = 32;
