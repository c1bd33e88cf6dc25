//! A run in progress, which other threads can follow and cancel.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use pyo3::prelude::*;
use sojourn::Simulation;
use sojourn::engine::units::Time;
use sojourn::results::metrics::Results;
use sojourn_parts::{Failure, Watch};

use crate::Cancelled;
use crate::loading::require_records;
use crate::panics::caught;
use crate::part::failed;
use crate::results::RunResult;
use crate::variant::Variant;

/// Events between two checks of the job, which take some milliseconds. Parts check it at each call.
pub(crate) const SLICE_EVENTS: u64 = 2_000;

/// Follows a run and can cancel it. Every run needs a job of its own.
#[pyclass(frozen, module = "sojourn._sojourn")]
#[derive(Default)]
pub struct Job {
    cancelled: Arc<AtomicBool>,
    simulated_ps: AtomicU64,
    duration_ps: AtomicU64,
}

#[pymethods]
impl Job {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Cancels the run soon, or keeps it from starting.
    fn cancel(&self) {
        self.cancelled.store(true, Relaxed);
    }

    /// Is it cancelled?
    #[getter]
    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Relaxed)
    }

    /// Simulated time reached, in s.
    #[getter]
    fn simulated_s(&self) -> f64 {
        Time::from_ps(self.simulated_ps.load(Relaxed)).secs_f64()
    }

    /// Share of the run that is done, from 0 to 1.
    #[getter]
    fn progress(&self) -> f64 {
        match self.duration_ps.load(Relaxed) {
            0 => 0.0,
            duration => self.simulated_ps.load(Relaxed) as f64 / duration as f64,
        }
    }
}

impl Job {
    fn reached(&self, now: Time) {
        // The last event of a run may lie beyond its end.
        self.simulated_ps.store(now.ps().min(self.duration_ps.load(Relaxed)), Relaxed);
    }

    /// The results of the variant, or why there are none.
    fn simulate(&self, variant: &Variant) -> Result<Results, Stopped> {
        let duration = Time::from_secs_f64(variant.scenario.duration_s);
        self.duration_ps.store(duration.ps(), Relaxed);
        let watch = Watch::stopped_by(self.cancelled.clone());
        let is_attached = variant.calls_python;
        let mut simulation =
            slice(is_attached, || watch.within(|| Simulation::new(&variant.scenario)));
        let mut goes_on = true;
        while goes_on {
            if self.cancelled.load(Relaxed) {
                return Err(Stopped::Cancelled);
            }
            goes_on = slice(is_attached, || watch.within(|| simulation.advance(SLICE_EVENTS)));
            if let Some(failure) = watch.failure() {
                return Err(Stopped::Failed(failure));
            }
            self.reached(simulation.now());
        }
        self.reached(duration);
        let mut results = slice(is_attached, || simulation.finish());
        results.warnings.extend(watch.warnings());
        Ok(results)
    }
}

/// Why a run has no results.
enum Stopped {
    Cancelled,
    Failed(Failure),
}

/// Does a part of a run. One that calls Python keeps the interpreter's lock meanwhile, so that a call need not take it.
pub(crate) fn slice<T>(is_attached: bool, run: impl FnOnce() -> T) -> T {
    if is_attached { Python::attach(|_| run()) } else { run() }
}

/// Runs a variant without holding the interpreter's lock, unless it calls Python. Raises `Cancelled` if the job is
/// cancelled, and `PartError` if a part from outside fails.
#[pyfunction]
pub(crate) fn run(py: Python<'_>, variant: &Variant, job: &Job) -> PyResult<RunResult> {
    require_records(py, variant)?;
    let run = || {
        let mut results = job.simulate(variant)?;
        results.warnings.splice(0..0, variant.notes.iter().cloned());
        Ok(RunResult::new(&results, &variant.scenario))
    };
    py.detach(|| caught(run))?.map_err(|stopped| match stopped {
        Stopped::Cancelled => Cancelled::new_err("the run was cancelled"),
        Stopped::Failed(failure) => failed(py, &failure),
    })
}
