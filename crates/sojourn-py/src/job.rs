//! A run in progress, which other threads can follow and cancel.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use pyo3::prelude::*;
use sojourn::Simulation;
use sojourn::engine::units::Time;
use sojourn::results::metrics::Results;
use sojourn::scenario::Scenario;

use crate::Cancelled;
use crate::panics::caught;
use crate::results::RunResult;
use crate::variant::Variant;

/// Events between two checks of the job, which take some tens of milliseconds.
const SLICE_EVENTS: u64 = 200_000;

/// Follows a run and can cancel it. Every run needs a job of its own.
#[pyclass(frozen, module = "sojourn._sojourn")]
#[derive(Default)]
pub struct Job {
    cancelled: AtomicBool,
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

    /// The results of the scenario, or `None` if the job is cancelled.
    fn simulate(&self, scenario: &Scenario) -> Option<Results> {
        let duration = Time::from_secs_f64(scenario.duration_s);
        self.duration_ps.store(duration.ps(), Relaxed);
        let mut simulation = Simulation::new(scenario);
        let mut goes_on = true;
        while goes_on {
            if self.cancelled.load(Relaxed) {
                return None;
            }
            goes_on = simulation.advance(SLICE_EVENTS);
            self.reached(simulation.now());
        }
        self.reached(duration);
        Some(simulation.finish())
    }
}

/// Runs a variant without holding the interpreter's lock. Raises `Cancelled` if the job is
/// cancelled.
#[pyfunction]
pub(crate) fn run(py: Python<'_>, variant: &Variant, job: &Job) -> PyResult<RunResult> {
    let run = || {
        let mut results = job.simulate(&variant.scenario)?;
        results.warnings.splice(0..0, variant.notes.iter().cloned());
        Some(RunResult::new(results, variant.scenario.seed))
    };
    py.detach(|| caught(run))?.ok_or_else(|| Cancelled::new_err("the run was cancelled"))
}
