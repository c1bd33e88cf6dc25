//! Calls of an instance, and what becomes of one that fails.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use sojourn_engine::packet::Ecn;
use sojourn_engine::record::Gauges;
use sojourn_engine::units::Time;

use super::failure::{Failure, Watch};
use super::hook::Hook;
use super::program::{Cause, Instance};
use super::registered::Registered;
use super::setting::in_short;
use super::values::Values;

/// An instance that is called, until it fails.
pub(crate) struct Worker {
    part: Arc<Registered>,
    /// Gauges are read from a part that does not change; none after a failure.
    instance: RefCell<Option<Box<dyn Instance>>>,
    answers: RefCell<Vec<f64>>,
    now: Time,
    watch: Watch,
    /// Has it changed what it is there to set? None before it was called.
    has_set: Option<bool>,
}

impl Worker {
    /// An instance of a part with these values.
    pub(crate) fn start(values: &Values, seed: u64) -> Self {
        let watch = Watch::of_thread();
        let instance = values.part.program.start(&values.settings, seed);
        let worker = Self {
            part: values.part.clone(),
            instance: RefCell::default(),
            answers: RefCell::default(),
            now: Time::ZERO,
            watch,
            has_set: None,
        };
        match instance {
            Ok(instance) => *worker.instance.borrow_mut() = Some(instance),
            Err(cause) => worker.fail(None, cause),
        }
        worker
    }

    /// When it was last called.
    pub(crate) fn now(&self) -> Time {
        self.now
    }

    /// It was called, and did or did not change what it is there to set.
    pub(crate) fn has_set(&mut self, what: &'static str, is_changed: bool) {
        if self.has_set.is_none_or(|has_set| is_changed && !has_set) {
            self.has_set = Some(is_changed);
            self.watch.was_called(self.part.program.source(), what, is_changed);
        }
    }

    pub(crate) fn has(&self, hook: Hook) -> bool {
        self.part.declaration().has(hook)
    }

    /// Calls a hook, and reads what it answers. None from a part that has failed, now or before.
    pub(crate) fn call<T>(
        &mut self,
        (hook, now): (Hook, Time),
        numbers: &[f64],
        read: impl FnOnce(&[f64]) -> Result<T, Refused>,
    ) -> Option<T> {
        if self.watch.is_stopped() {
            return None;
        }
        self.now = now;
        let answers = self.answers.get_mut();
        answers.clear();
        let called = self.instance.get_mut().as_mut()?.call(hook, numbers, answers);
        match called.and_then(|()| read(answers).map_err(Cause::from)) {
            Ok(answer) => Some(answer),
            Err(cause) => {
                self.fail(Some(hook.name()), cause);
                None
            }
        }
    }

    /// Shows what the part wants to be watched.
    pub(crate) fn gauges(&self, out: &mut Gauges) {
        let names = &self.part.gauges;
        if names.is_empty() {
            return;
        }
        let mut values = self.answers.borrow_mut();
        values.clear();
        let read = match self.instance.borrow_mut().as_mut() {
            None => Ok(()),
            Some(instance) => instance
                .gauges(&mut values)
                .and_then(|()| read_gauges(&values, names).map_err(Cause::from)),
        };
        if read.is_err() {
            values.clear();
        }
        for (place, (name, unit)) in names.iter().enumerate() {
            out.set(name, unit, values.get(place).copied().unwrap_or(f64::NAN));
        }
        if let Err(cause) = read {
            self.fail(Some("gauges"), cause);
        }
    }

    fn fail(&self, doing: Option<&'static str>, cause: Cause) {
        *self.instance.borrow_mut() = None;
        let part = self.part.program.source().to_owned();
        self.watch.report(Failure { part, doing, at: self.now, cause });
    }
}

fn read_gauges(values: &[f64], names: &[(&str, &str)]) -> Result<(), Refused> {
    let (found, declared) = (values.len(), names.len());
    if found != declared {
        return Err(Refused(format!("found {found} gauges; declared: {declared}")));
    }
    let mut named = values.iter().zip(names);
    match named.find(|(value, _)| !value.is_finite() || value.abs() > MOST_GAUGE) {
        Some((value, (name, _))) => Err(Refused(format!(
            "found {value:e} as gauge {name}; allowed: {MOST_GAUGE:e} at most"
        ))),
        None => Ok(()),
    }
}

/// Series hold floats of 32 bits, and the means of two.
const MOST_GAUGE: f64 = 1e38;

/// An answer that cannot be.
#[derive(Debug)]
pub(crate) struct Refused(pub(crate) String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

/// The answers of a hook, of which no more than these mean something.
pub(crate) fn at_most(answers: &[f64], most: usize) -> Result<&[f64], Refused> {
    match answers.len() <= most {
        true => Ok(answers),
        false => {
            let found = answers.len();
            Err(Refused(format!("found {found} answers; allowed: {most} at most")))
        }
    }
}

/// A time as hooks get it.
pub(crate) fn us(time: Time) -> f64 {
    time.us_f64()
}

/// An answer, which lies between these ends; up to `f64::MAX` are all finite numbers.
pub(crate) fn between(what: &str, found: f64, [least, most]: [f64; 2]) -> Result<f64, Refused> {
    match (least..=most).contains(&found) {
        true => Ok(found),
        false if most == f64::MAX => Err(Refused(format!(
            "found {} as {what}; allowed: a finite number from {least} on",
            in_short(found)
        ))),
        false => {
            let found = in_short(found);
            Err(Refused(format!("found {found} as {what}; allowed: {least} to {most}")))
        }
    }
}

/// A timer expires so much later than the last one at the earliest: it is not finer, so that time goes on.
pub(crate) const LEAST_TIMER: Time = Time::from_ps(1_000_000);

/// A timer that its own hook sets to the same time.
pub(crate) fn is_now(at_us: f64) -> Refused {
    Refused(format!(
        "found {} as time of the timer in us, which is now; allowed: a later one, as time does not go on",
        in_short(at_us)
    ))
}

/// The ECN field as the IP header has it (RFC 3168 §5).
pub(crate) fn field(ecn: Ecn) -> f64 {
    match ecn {
        Ecn::NotEct => 0.0,
        Ecn::Ect1 => 1.0,
        Ecn::Ect0 => 2.0,
        Ecn::Ce => 3.0,
    }
}
