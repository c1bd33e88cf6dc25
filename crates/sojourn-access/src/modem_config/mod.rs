//! Configuration files of cable modems: from bytes to a tree of TLVs, to a typed view, and back.
//!
//! A file is a sequence of TLVs, followed by an end marker and padding (CM-SP-MULPI Annex C and D).
//! A TLV has a byte for its type, a byte for the length of its value, and the value, which may be a
//! sequence of TLVs itself. `table` lists the known types; unknown ones are preserved unchanged.
//!
//! This module does not know scenarios.
//!
//! Left out: files of PacketCable adapters, whose type 64 has two bytes of length, and the extended
//! CMTS MIC of DOCSIS 3.0.

mod contents;
mod digest;
pub(crate) mod leaf;
mod origin;
mod rules;
mod schema;
mod settings;
pub(crate) mod table;
mod tlvs;
mod tree;
pub mod view;

pub use leaf::Leaf;
pub use schema::{fault as settings_fault, schema as settings_schema};
pub use table::{Kind, Row, Table};

use origin::Origin;
use serde_json::Value;

pub use digest::Secret;
pub use tree::{Content, Tlv};
pub use view::{FILE, ModemConfig};

use sojourn_input::problem::{self, Code, Problem, Problems, Warning};
use sojourn_input::text::Document;
use sojourn_input::words;

/// A file: its TLVs, the end marker with the zeros after it, and what is wrong with them.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    tlvs: Vec<Tlv>,
    /// The end marker and what follows it.
    tail: Vec<u8>,
    faults: Vec<Fault>,
}

impl File {
    /// Reads a file whose settings are clear. `source` is its name in messages.
    ///
    /// # Errors The byte and the key of the TLV at fault, what was found and what is allowed.
    pub fn decode(bytes: &[u8], source: &str) -> Result<Self, Problem> {
        let file = Self::open(bytes, source)?;
        file.refusal(source).map_or(Ok(file), Err)
    }

    /// Reads a file as far as it can be read; [`File::problems`] says what is wrong with it.
    ///
    /// # Errors Text, such as a scenario, is no modem's file.
    pub fn open(bytes: &[u8], source: &str) -> Result<Self, Problem> {
        let file = Self::read(bytes);
        if !file.faults.is_empty() && is_text(bytes) {
            return Err(text_fault().of(source));
        }
        Ok(file)
    }

    fn read(bytes: &[u8]) -> Self {
        let (tlvs, tail, mut faults) = tree::read_file(bytes);
        faults.extend(rules::check(&tlvs));
        faults.extend(digest::fault(&tlvs));
        Self { tlvs, tail, faults }
    }

    /// What is wrong, in the order in which it was found.
    pub fn problems(&self, source: &str) -> Vec<Problem> {
        self.faults.iter().map(|fault| self.problem(fault, source)).collect()
    }

    /// The first problem for which it is not clear what a modem would do, in what is simulated.
    pub fn refusal(&self, source: &str) -> Option<Problem> {
        let refused = self.faults.iter().find(|fault| !self.is_note(fault))?;
        Some(self.problem(refused, source))
    }

    /// The problems without effect on what is simulated.
    pub fn notes(&self) -> Vec<Warning> {
        let notes = self.faults.iter().filter(|fault| self.is_note(fault));
        let as_warning =
            |problem: Problem| Warning { message: problem.to_string(), ..problem.fault };
        notes.map(|fault| as_warning(self.problem(fault, ""))).collect()
    }

    fn problem(&self, fault: &Fault, source: &str) -> Problem {
        let path = fault.offset.map_or_else(Vec::new, |at| tree::path_to(&self.tlvs, at));
        let types: Vec<_> = path.iter().map(|tlv| tlv.number.to_string()).collect();
        fault.clone().of_tlv((!types.is_empty()).then(|| types.join(".")), source)
    }

    fn is_note(&self, fault: &Fault) -> bool {
        match (fault.weight, fault.offset) {
            (Weight::Noted, _) => true,
            (Weight::ByPlace, Some(at)) => {
                let path = tree::path_to(&self.tlvs, at);
                path.iter().any(|tlv| tlv.row.is_some_and(|row| row.is_aside))
            }
            _ => false,
        }
    }

    /// The bytes of the file. A decoded file encodes to the bytes it was read from.
    pub fn encode(&self) -> Vec<u8> {
        tree::file_bytes(&self.tlvs, &self.tail)
    }

    /// The TLVs in the file's order.
    pub fn tlvs(&self) -> &[Tlv] {
        &self.tlvs
    }

    /// The settings of the file, typed. They contain neither the digests nor the order of types.
    pub fn view(&self) -> ModemConfig {
        let settings = Value::Object(settings::of(&self.tlvs));
        serde_json::from_value(settings).expect("a test holds the view to the table")
    }

    /// A file with these settings and a CM MIC, and with a CMTS MIC if its secret is known.
    ///
    /// # Errors As for [`File::decode`], with the key of the setting instead of a byte.
    pub fn from_view(view: &ModemConfig, secret: Option<Secret>) -> Result<Self, Problem> {
        let settings = serde_json::to_value(view).expect("a view is plain data");
        Self::from_settings(&settings, secret).map_err(|fault| fault.of(""))
    }

    /// The settings as TOML. If nothing else would give the bytes of this file again, the order of
    /// its TLVs and a table `file` with its digests and padding are stated too.
    pub fn to_toml(&self) -> String {
        let mut settings = settings::in_order(&self.tlvs);
        let plain = Value::Object(settings.clone());
        if Self::from_settings(&plain, None).ok().as_ref() != Some(self) {
            let origin = serde_json::to_value(Origin::of(&self.tlvs, &self.tail));
            settings.insert(origin::FILE.to_owned(), origin.expect("an origin is plain data"));
        }
        let said = self.faults.iter().map(|fault| format!("# {}\n", self.problem(fault, "")));
        let said: String = said.collect();
        let head = if said.is_empty() {
            ""
        } else {
            "# What is wrong with the file. It is kept: `faulty` lists TLVs that no other key can state.\n"
        };
        head.to_owned() + &said + &toml::to_string_pretty(&settings).expect("settings have no null")
    }

    /// A file with the settings of a TOML text. `source` is its name in messages; digests are as in
    /// [`File::from_view`]. The text of [`File::to_toml`] gives the same bytes for any file; [`File::problems`]
    /// then says what is wrong with them.
    ///
    /// # Errors As for [`File::decode`], with the key of the setting instead of a byte.
    pub fn from_toml(text: &str, source: &str, secret: Option<Secret>) -> Result<Self, Problems> {
        let document = Document::parse(text, source)?;
        Self::from_settings(&document.value, secret)
            .map_err(|fault| document.placed(fault.of(source)).into())
    }

    fn from_settings(settings: &Value, secret: Option<Secret>) -> Result<Self, Fault> {
        let mut settings = settings.clone();
        let stated = settings.as_object_mut().and_then(|table| table.shift_remove(origin::FILE));
        let origin = stated.map(|table| Origin::read(&table)).transpose()?;
        let mut tlvs = settings::tlvs(&settings)?;
        let (unchanged, changed) = match &origin {
            Some(origin) if origin.is_of(&tlvs) => (Some(origin), None),
            other => (None, other.as_ref()),
        };
        if unchanged.is_none()
            && let Some(fault) = rules::check(&tlvs).into_iter().next()
        {
            return Err(Fault { offset: None, ..fault });
        }
        match (unchanged, secret) {
            (Some(origin), None) => origin.append(&mut tlvs),
            _ => digest::append(&mut tlvs, secret),
        }
        if let Some(order) = settings.get(settings::ORDER).filter(|_| unchanged.is_some()) {
            settings::reorder(&mut tlvs, order)?;
        }
        // CM-SP-MULPI C.1.2.2: padded to a whole number of 32-bit words, after the end marker.
        let size = tree::size(&tlvs) + 1;
        let to_words = size.next_multiple_of(4) - size;
        let tail = unchanged.map_or_else(|| tree::tail(to_words), Origin::tail);
        let mut file = Self::read(&tree::file_bytes(&tlvs, &tail));
        file.faults.extend(changed.and_then(Origin::lost));
        Ok(file)
    }

    /// The tree as plain data: lists of tables with `type` (24.8), `offset`, `name`, `key`, and
    /// either `value` with its `unit` or `children`. Unknown types have neither name nor key. A table whose TLV
    /// is not as it should be has `problems`.
    pub fn to_json(&self) -> Value {
        tree::shown_file(&self.tlvs, &self.tail, &self.faults)
    }

    /// Checks both digests.
    ///
    /// # Errors The digest that is missing or differs, as for [`File::decode`].
    pub fn verify(&self, secret: Secret, source: &str) -> Result<(), Problem> {
        digest::verify(&self.tlvs, secret).map_err(|fault| fault.of(source))
    }
}

/// What is wrong, before the file's name is known.
#[derive(Clone, Debug, PartialEq)]
struct Fault {
    /// Offset in a binary file.
    offset: Option<usize>,
    weight: Weight,
    fault: problem::Fault,
}

/// What a fault means for a simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Weight {
    /// Nothing: it is clear what a modem does.
    Noted,
    /// Nothing if its TLV has no effect on what is simulated.
    ByPlace,
    /// It is not clear what would be simulated.
    Refused,
}

impl Fault {
    /// A fault of a TLV at an offset, before its key is known.
    fn at(offset: usize, message: impl Into<String>) -> Self {
        Self { offset: Some(offset), ..Self::here(message) }
    }

    /// A fault of a setting.
    fn here(message: impl Into<String>) -> Self {
        problem::Fault::of_code(Code::ModemFile, "", message).into()
    }

    /// This fault with its path below the TLV with this key path.
    fn under(self, outer: &str) -> Self {
        Self { fault: self.fault.under(outer), ..self }
    }

    fn of(self, source: &str) -> Problem {
        self.of_tlv(None, source)
    }

    /// The problem, with the types of the TLV at fault if they are known and it has a key.
    fn of_tlv(self, types: Option<String>, source: &str) -> Problem {
        let fault = self.fault;
        let types = types.filter(|_| !fault.path.is_empty());
        let types = types.map_or_else(String::new, |types| format!(", TLV {types}"));
        let byte = self.offset.map(|offset| format!("byte {offset}{types}"));
        let key = (!fault.path.is_empty()).then_some(fault.path);
        let path = byte.into_iter().chain(key).collect::<Vec<_>>().join(": ");
        problem::Fault { path, ..fault }.of(source)
    }
}

impl From<problem::Fault> for Fault {
    fn from(fault: problem::Fault) -> Self {
        Self { offset: None, weight: Weight::ByPlace, fault }
    }
}

/// Is it text, such as a scenario? Text in any encoding of bytes has no control characters but those of lines and
/// tabs, which the first types and lengths of a modem's file are, and lacks the end marker, 255.
fn is_text(bytes: &[u8]) -> bool {
    let is_printed = |c: char| !c.is_control() || c.is_whitespace();
    let wide = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units = bytes.as_chunks().0.iter().map(|pair| unit(*pair));
        char::decode_utf16(units).all(|c| c.is_ok_and(is_printed))
    };
    match bytes {
        [] => false,
        [0xff, 0xfe, text @ ..] if !text.is_empty() => wide(text, u16::from_le_bytes),
        [0xfe, 0xff, text @ ..] if !text.is_empty() => wide(text, u16::from_be_bytes),
        _ => bytes.iter().all(|byte| match byte {
            0..0x80 => is_printed(char::from(*byte)),
            _ => *byte != 0xff,
        }),
    }
}

fn text_fault() -> Fault {
    Fault::here(
        "found a text file; allowed: a modem's binary configuration file, which `sojourn config write` \
         makes of a scenario or of settings in TOML",
    )
}

/// The key path of the next TLV of this type, after those before it.
fn step(row: Option<&table::Row>, before: &[Tlv]) -> String {
    let alike = before.iter().filter(|tlv| tlv.row == row).count();
    match row {
        Some(row) if !row.repeats() => row.key.to_owned(),
        _ => words::join(row.map_or(settings::UNKNOWN, |row| row.key), &alike.to_string()),
    }
}
