//! What is wrong with user input, and where.

use std::collections::HashSet;
use std::fmt;

/// One problem with a scenario.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Problem {
    /// The file or `--set` with the problem.
    pub source: String,
    /// Line of the file, from 1, where one is known.
    pub line: Option<usize>,
    /// Key path, with the prefix `variant NAME: ` if only one variant is concerned. Empty for the
    /// whole file.
    pub path: String,
    /// What was found and what is allowed.
    pub message: String,
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
    /// How many more there are than are told.
    left_out: usize,
}

impl Problems {
    /// The most problems that are told of one file.
    const MOST: usize = 30;

    /// These problems, each told once, or `None` if there are none.
    pub fn of(problems: impl IntoIterator<Item = Problem>) -> Option<Self> {
        let mut told: Vec<Problem> = Vec::new();
        let mut all = HashSet::new();
        for problem in problems {
            if all.insert(problem.clone()) && told.len() < Self::MOST {
                told.push(problem);
            }
        }
        let left_out = all.len() - told.len();
        let mut told = told.into_iter();
        Some(Self { first: told.next()?, others: told.collect(), left_out })
    }

    /// Those that are told, in order.
    pub fn told(&self) -> impl Iterator<Item = &Problem> {
        [&self.first].into_iter().chain(&self.others)
    }

    /// The first problem.
    pub fn first(&self) -> &Problem {
        &self.first
    }

    /// A sentence about the problems that are not told, if there are any.
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
        let lines = self.told().map(ToString::to_string).chain(self.rest());
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

/// What is wrong at a key, before it is known which file or `--set` gave its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Key path, empty for the whole.
    pub path: String,
    /// What was found and what is allowed.
    pub message: String,
}

impl Fault {
    /// A fault at a key.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }

    /// This fault with its path below the table or list at `path`.
    pub fn under(self, path: &str) -> Self {
        let path = [path, &self.path].into_iter().filter(|part| !part.is_empty());
        Self { path: path.collect::<Vec<_>>().join("."), ..self }
    }

    /// The problem that this fault is in the file or `--set` named `source`.
    pub fn of(self, source: &str) -> Problem {
        Problem { source: source.to_owned(), line: None, path: self.path, message: self.message }
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
        let mut told = Self::default();
        for fault in self {
            if told.0.iter().all(|other| other.path != fault.path) {
                told.add(fault);
            }
        }
        told
    }

    /// Is nothing wrong?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
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
