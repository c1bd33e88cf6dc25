//! What is wrong with user input, and where.

use std::collections::HashSet;
use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use super::code::Code;
pub use super::remedy::Remedy;
use super::{aliases, words};

/// One problem with a scenario: a fault in a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Problem {
    /// The file or `--set` with the problem.
    pub source: String,
    /// Line of the file, from 1, where one is known.
    pub line: Option<usize>,
    /// The fault. Its path has the prefix `variant NAME: ` if only one variant is concerned.
    #[serde(flatten)]
    pub fault: Fault,
}

impl Deref for Problem {
    type Target = Fault;

    fn deref(&self) -> &Fault {
        &self.fault
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [&*self.source, &*self.path, &*self.message];
        let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        f.write_str(&parts.join(": "))
    }
}

impl std::error::Error for Problem {}

/// All problems of a file, at least one. Their text has a line for each.
#[derive(Clone, PartialEq)]
pub struct Problems {
    first: Problem,
    others: Vec<Problem>,
    /// How many more there are than are reported.
    left_out: usize,
}

impl Problems {
    /// The most problems that are reported of one file.
    const MOST: usize = 30;

    /// These problems, each reported once, or `None` if there are none.
    pub fn of(problems: impl IntoIterator<Item = Problem>) -> Option<Self> {
        let mut reported: Vec<Problem> = Vec::new();
        let mut all = HashSet::new();
        for problem in problems {
            if all.insert(problem.clone()) && reported.len() < Self::MOST {
                reported.push(problem);
            }
        }
        let left_out = all.len() - reported.len();
        let mut reported = reported.into_iter();
        Some(Self { first: reported.next()?, others: reported.collect(), left_out })
    }

    /// Those that are reported, in order.
    pub fn reported(&self) -> impl Iterator<Item = &Problem> {
        [&self.first].into_iter().chain(&self.others)
    }

    /// The first problem.
    pub fn first(&self) -> &Problem {
        &self.first
    }

    /// A sentence about the problems that are not reported, if there are any.
    pub fn rest(&self) -> Option<String> {
        match self.left_out {
            0 => None,
            1 => Some("and 1 more problem".to_owned()),
            more => Some(format!("and {more} more problems")),
        }
    }
}

impl From<Problem> for Problems {
    fn from(first: Problem) -> Self {
        Self { first, others: Vec::new(), left_out: 0 }
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.reported().map(ToString::to_string).chain(self.rest());
        f.write_str(&lines.collect::<Vec<_>>().join("\n"))
    }
}

/// As their text, which a `main` that returns them prints.
impl fmt::Debug for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Problems {}

/// What is wrong at a key, before it is known which file or `--set` gave its value: as data, and as the
/// sentence that is made of it. [`fault!`](crate::fault!) makes one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// The kind of fault, by which programs decide.
    pub code: Code,
    /// Key path, empty for the whole.
    pub path: String,
    /// What was found and what is allowed.
    pub message: String,
    /// The values in the message, by their names.
    pub values: Map<String, Value>,
    /// Settings without the fault, where the message proposes some.
    pub remedy: Remedy,
}

/// What a user should know of a scenario that runs all the same. Its message is a whole sentence, which names the key
/// where there is one. Two warnings differ in numbers alone if their codes, their paths and the texts among their values
/// are equal.
pub type Warning = Fault;

/// A fault or warning: its code, its path, its remedy where it has one, its sentence, and the values in it by their
/// names.
///
/// ```
/// use sojourn_input::{fault, problem::Remedy};
///
/// let (found, remedy) = (3, Remedy::of("seeds", 2));
/// let fault = fault!(NotAllowed, "seeds", remedy => "found {found}; write {remedy}", found);
/// assert_eq!((&*fault.message, &fault.values["found"]), ("found 3; write seeds = 2", &3.into()));
/// assert_eq!(fault.remedy, Remedy::of("seeds", 2));
/// ```
#[macro_export]
macro_rules! fault {
    (@ $name:ident) => { &$name };
    (@ $name:ident $value:expr) => { &$value };
    ($code:ident, $path:expr $(, $remedy:ident)? => $text:literal $(, $name:ident $(= $value:expr)?)*) => {{
        $(let $name = $crate::fault!(@ $name $($value)?);)*
        let message = format!($text, $($name = $name),*);
        $crate::problem::Fault::of_code($crate::problem::Code::$code, $path, message)
            $(.with(stringify!($name), $name))*
            $(.remedied($remedy))?
    }};
}

impl Fault {
    /// A fault at a key of a value that is not allowed.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::of_code(Code::NotAllowed, path, message)
    }

    /// A fault at a key where something else than this is allowed.
    pub fn found(
        path: impl Into<String>,
        found: impl fmt::Display + Serialize,
        allowed: impl fmt::Display + Serialize,
    ) -> Self {
        let message = format!("found {found}; allowed: {allowed}");
        Self::new(path, message).with("found", found).with("allowed", allowed)
    }

    /// The same fault as one of this kind.
    #[must_use]
    pub fn coded(self, code: Code) -> Self {
        Self { code, ..self }
    }

    /// A fault of this kind at a key.
    pub fn of_code(code: Code, path: impl Into<String>, message: impl Into<String>) -> Self {
        let (path, message) = (path.into(), message.into());
        Self { code, path, message, values: Map::new(), remedy: Remedy::default() }
    }

    /// A key that is none of the known ones, though it may stand at these places or misspell one of them.
    pub fn unknown_key(
        path: impl Into<String>,
        key: &str,
        known: &[&str],
        places: &[String],
    ) -> Self {
        let allowed = known.join(", ");
        let mut fault = fault!(UnknownKey, path => "unknown key; allowed here: {allowed}", allowed);
        if let Some(meant) = aliases::meaning(key, known) {
            fault.message += &format!("; write {meant}");
            return fault;
        }
        match words::closest(key, known).filter(|_| places.is_empty()) {
            Some(close) => fault.meaning_one_of(&[close.to_owned()]),
            None => fault.meaning_one_of(places),
        }
    }

    /// The same with a question whether one of these names is meant, if there are any.
    #[must_use]
    pub fn meaning_one_of(mut self, names: &[String]) -> Self {
        if names.is_empty() {
            return self;
        }
        let meant = names.join(" or ");
        self.message += &words::did_you_mean(&meant);
        self.with("meant", meant)
    }

    /// A value that the message has.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Serialize) -> Self {
        let value = serde_json::to_value(value).expect("values are plain data");
        self.values.insert(name.to_owned(), value);
        self
    }

    /// The settings that the message proposes.
    #[must_use]
    pub fn remedied(self, remedy: Remedy) -> Self {
        Self { remedy, ..self }
    }

    /// This fault with its path below the table or list at `path`.
    pub fn under(self, path: &str) -> Self {
        Self { remedy: self.remedy.under(path), path: words::below(path, &self.path), ..self }
    }

    /// This fault of keys with other paths: its own, those of its remedy, and those that its message names.
    #[must_use]
    pub fn with_keys(self, path_of: &dyn Fn(&str) -> String) -> Self {
        let word = |word: &str| {
            let key = word.trim_end_matches([',', ';', ':']);
            path_of(key) + &word[key.len()..]
        };
        let words: Vec<_> = self.message.split(' ').map(word).collect();
        Self {
            path: path_of(&self.path),
            remedy: self.remedy.with_keys(path_of),
            message: words.join(" "),
            ..self
        }
    }

    /// The warning whose sentence names the key and goes on with the message.
    pub fn about_its_key(self) -> Warning {
        Self { message: format!("{} {}", self.path, self.message), ..self }
    }

    /// The problem that this fault is in the file or `--set` named `source`.
    pub fn of(self, source: &str) -> Problem {
        Problem { source: source.to_owned(), line: None, fault: self }
    }
}

/// Faults in the order in which they were found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults(Vec<Fault>);

impl Faults {
    /// Adds what another check found.
    pub fn add(&mut self, more: impl Into<Self>) {
        self.0.extend(more.into().0);
    }

    /// Adds what another check found in the table or list at `path`.
    pub fn add_under(&mut self, path: &str, more: impl Into<Self>) {
        self.add(more.into().under(path));
    }

    /// These faults with their paths below the table or list at `path`.
    pub fn under(self, path: &str) -> Self {
        self.into_iter().map(|fault| fault.under(path)).collect()
    }

    /// Those that are not among `others`.
    pub fn without(self, others: &Self) -> Self {
        self.into_iter().filter(|fault| !others.0.contains(fault)).collect()
    }

    /// The first fault of each key: what else is wrong with its value follows from it, mostly.
    pub fn one_per_key(self) -> Self {
        let mut reported = Self::default();
        for fault in self {
            if reported.0.iter().all(|other| other.path != fault.path) {
                reported.add(fault);
            }
        }
        reported
    }

    /// Is nothing wrong?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Are there so many that nobody reads more? A file could hold millions.
    pub fn are_enough(&self) -> bool {
        self.0.len() >= 1000
    }
}

impl From<Fault> for Faults {
    fn from(fault: Fault) -> Self {
        Self(vec![fault])
    }
}

impl From<Option<Fault>> for Faults {
    fn from(fault: Option<Fault>) -> Self {
        fault.into_iter().collect()
    }
}

impl From<Result<(), Fault>> for Faults {
    fn from(checked: Result<(), Fault>) -> Self {
        checked.err().into()
    }
}

impl FromIterator<Fault> for Faults {
    fn from_iter<I: IntoIterator<Item = Fault>>(faults: I) -> Self {
        Self(faults.into_iter().collect())
    }
}

impl IntoIterator for Faults {
    type Item = Fault;
    type IntoIter = std::vec::IntoIter<Fault>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
