//! What went wrong in a part while a run went on.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};

use sojourn_engine::units::Time;
use sojourn_input::fault;
use sojourn_input::problem::Warning;

use super::program::Cause;

/// A part that failed.
#[derive(Debug)]
pub struct Failure {
    /// Where it is from, or its kind in scenarios.
    pub part: String,
    /// What it was at: a hook, its gauges; none where the instance was made.
    pub doing: Option<&'static str>,
    /// The simulated time, as far as the part knew it.
    pub at: Time,
    /// What the language says.
    pub cause: Cause,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { part, doing, at, cause } = self;
        let doing = doing.map_or(String::new(), |doing| format!("{doing}, "));
        write!(f, "part {part}: {doing}at {:.6} s: {cause}", at.secs_f64())
    }
}

impl std::error::Error for Failure {}

scoped_tls::scoped_thread_local!(static WATCHED: Watch);

/// Watches the parts of a run. The first that fails is kept, and parts that failed let everything pass. So who runs a
/// simulation asks from time to time.
///
/// ```
/// # use sojourn_parts::Watch;
/// let watch = Watch::default();
/// watch.within(|| { /* make the simulation, or go on with it */ });
/// assert!(watch.failure().is_none());
/// ```
#[derive(Clone, Default)]
pub struct Watch {
    first: Arc<Mutex<Option<Failure>>>,
    stop: Arc<AtomicBool>,
    /// What parts are there to set, and whether they ever changed it, by where they are from.
    sets: Arc<Mutex<BTreeMap<String, (&'static str, bool)>>>,
}

impl Watch {
    /// Parts are no longer called once this is set, and let everything pass: a slice of the run then ends soon, however
    /// long its parts take.
    pub fn stopped_by(stop: Arc<AtomicBool>) -> Self {
        Self { stop, ..Self::default() }
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }

    /// Does something with a simulation. Parts that start meanwhile are watched.
    pub fn within<T>(&self, run: impl FnOnce() -> T) -> T {
        WATCHED.set(self, run)
    }

    /// Warnings of parts that were called and changed nothing of what they are there to set.
    pub fn warnings(&self) -> Vec<Warning> {
        let sets = self.sets.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = sets.iter().filter(|(_, (_, has_set))| !has_set);
        let said = idle.map(|(part, (what, _))| {
            fault!(IdlePart, "" =>
                "part {part} was called and never changed {what}, so that what it computes has no effect", part, what)
        });
        said.collect()
    }

    pub(crate) fn was_called(&self, part: &str, what: &'static str, has_set: bool) {
        let mut sets = self.sets.lock().unwrap_or_else(PoisonError::into_inner);
        sets.entry(part.to_owned()).or_insert((what, false)).1 |= has_set;
    }

    /// Takes what went wrong first.
    pub fn failure(&self) -> Option<Failure> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The watch of this thread. Where nobody watches, failures are lost: before a run a network is built only to
    /// see what it is like.
    pub(crate) fn of_thread() -> Self {
        if WATCHED.is_set() { WATCHED.with(Self::clone) } else { Self::default() }
    }

    pub(crate) fn report(&self, failure: Failure) {
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(failure);
    }
}
