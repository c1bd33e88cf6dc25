//! A program that scenarios may choose.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use super::declaration::{Declaration, Gauge};
use super::program::Program;

/// A program that scenarios may choose.
pub(crate) struct Registered {
    pub(crate) program: Arc<dyn Program>,
    /// Names and units of the series of its gauges.
    pub(crate) gauges: Vec<(&'static str, &'static str)>,
}

impl Registered {
    pub(crate) fn new(program: Arc<dyn Program>) -> Self {
        let Declaration { name, gauges, .. } = program.declaration();
        let series = |of: &Gauge| (kept(&format!("{name}_{}", of.name)), kept(&of.unit));
        let gauges = gauges.iter().map(series).collect();
        Self { program, gauges }
    }

    pub(crate) fn declaration(&self) -> &Declaration {
        self.program.declaration()
    }
}

/// The names of series are kept for good, each once.
fn kept(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return known;
    }
    let name: &'static str = Box::leak(name.into());
    names.insert(name);
    name
}
