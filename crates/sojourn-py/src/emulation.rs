//! Real programs on a line that is simulated in real time.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use serde_json::{Value, json};
use sojourn::outside::{Arrived, Direction, Header, Lost, Time};
use sojourn::{Observation, Simulation};
use sojourn_emulate::{Emulation as Loop, End, Error, HOME, Line, Outcome, Place, SERVER, Streams};
use sojourn_parts::Watch;

use crate::InputError;
use crate::job::slice;
use crate::panics::caught;
use crate::part::failed;
use crate::results::RunResult;
use crate::stepped::{Observed, observed};
use crate::variant::Variant;

/// Two network namespaces, and between them the line of a scenario once it has been started.
#[pyclass(frozen, module = "sojourn._sojourn")]
pub struct Emulation {
    variant: Variant,
    entry: String,
    home: End,
    server: End,
    watch: Watch,
    view: Arc<View>,
    line: Mutex<Option<Loop<Simulated>>>,
}

const PLACES: &[Place] = &[HOME, SERVER];

/// What a watcher wants to see of the line, and sees.
#[derive(Default)]
struct View {
    is_wanted: AtomicBool,
    seen: Mutex<Option<Observation>>,
}

#[pymethods]
impl Emulation {
    /// Makes the namespaces. `entry` is the traffic entry of kind `outside` that the packets are of.
    #[new]
    fn new(py: Python<'_>, variant: &Variant, entry: String) -> PyResult<Self> {
        let end = |place| py.detach(|| End::new(place, PLACES)).map_err(refused);
        Ok(Self {
            variant: variant.clone(),
            entry,
            home: end(HOME)?,
            server: end(SERVER)?,
            watch: Watch::default(),
            view: Arc::default(),
            line: Mutex::default(),
        })
    }

    /// Starts a program, with descriptors of its standard streams, where it has others than this process.
    #[pyo3(signature = (at_home, words, streams=(None, None, None)))]
    fn spawn(
        &self,
        py: Python<'_>,
        at_home: bool,
        words: Vec<String>,
        streams: (Option<i32>, Option<i32>, Option<i32>),
    ) -> PyResult<Program> {
        let streams = Streams::copies(streams)?;
        let program = py.detach(|| self.end(at_home).start(words, streams)).map_err(refused)?;
        Ok(Program(Mutex::new(program)))
    }

    /// Does a program there wait at a port?
    fn listens(&self, py: Python<'_>, at_home: bool) -> bool {
        py.detach(|| self.end(at_home).listens())
    }

    /// Starts the line: simulated time begins.
    fn start(&self, py: Python<'_>) -> PyResult<()> {
        let simulated = py.detach(|| caught(|| self.simulated()))??;
        let line = Loop::start(simulated, &self.home, &self.server).map_err(refused)?;
        *self.lock() = Some(line);
        Ok(())
    }

    /// Has the line ended by itself?
    fn has_ended(&self) -> bool {
        self.lock().as_ref().is_some_and(Loop::has_ended)
    }

    /// What happened on the line since the last observation, and the longest lateness since then in ms; none if nothing
    /// new has been seen.
    fn observe(&self) -> Option<(Observed, f64)> {
        let late_ms = self.lock().as_ref()?.carried().latest_ms();
        let seen = self.view.seen.lock().ok()?.take();
        self.view.is_wanted.store(true, Relaxed);
        seen.map(|seen| (observed(seen), late_ms))
    }

    /// Ends the line. Returns the results, the variant of which they are, and how well time was kept, as JSON.
    fn finish(&self, py: Python<'_>) -> PyResult<(RunResult, Variant, String)> {
        let line = self.lock().take().ok_or_else(|| PyRuntimeError::new_err("no line goes on"))?;
        let dropped = [&self.home, &self.server].map(End::dropped_packets);
        let stop = || line.stop().unwrap_or_else(|panic| resume_unwind(panic));
        let (simulated, outcome) = py.detach(|| caught(stop))?;
        if let Some(failure) = self.watch.failure() {
            return Err(failed(py, &failure));
        }
        if let Some(slept) = outcome.suspended {
            let slept_s = slept.as_secs_f64();
            let message = format!(
                "found a clock that jumped: the machine slept for {slept_s:.1} s; allowed: a machine that stays awake"
            );
            return Err(InputError::new_err(message));
        }
        let finish = || slice(self.variant.calls_python, || simulated.run.finish());
        let mut results = py.detach(|| caught(finish))?;
        results.warnings.splice(0..0, self.variant.notes.iter().cloned());
        let variant = self.variant.ended(results.duration_s);
        let result = RunResult::new(&results, &variant.scenario);
        Ok((result, variant, kept_time(&outcome, dropped).to_string()))
    }
}

impl Emulation {
    fn end(&self, at_home: bool) -> &End {
        if at_home { &self.home } else { &self.server }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Loop<Simulated>>> {
        self.line.lock().expect("no thread panics with it")
    }

    fn simulated(&self) -> PyResult<Simulated> {
        let calls_python = self.variant.calls_python;
        let start = || self.watch.within(|| Simulation::endless(&self.variant.scenario));
        let run = slice(calls_python, start);
        let entry = run.outside(&self.entry).ok_or_else(|| {
            PyRuntimeError::new_err(format!("{}: no traffic entry of kind outside", self.entry))
        })?;
        let (watch, view) = (self.watch.clone(), Arc::clone(&self.view));
        Ok(Simulated { run: Box::new(run), entry, watch, calls_python, view })
    }
}

/// How late packets were, and what else a reader must know to trust the run.
fn kept_time(outcome: &Outcome, [up, down]: [u64; 2]) -> Value {
    let late = &outcome.lateness;
    json!({
        "packets": late.packets(),
        "late_p50_ms": late.quantile_ms(0.5),
        "late_p90_ms": late.quantile_ms(0.9),
        "late_p99_ms": late.quantile_ms(0.99),
        "late_p99.9_ms": late.quantile_ms(0.999),
        "late_max_ms": late.max_ms(),
        "behind_s": outcome.behind.secs_f64(),
        "longest_behind_ms": outcome.most_behind.ms_f64(),
        "real_time_priority": outcome.has_priority,
        "locked_memory": outcome.has_locked_memory,
        "unread_packets": { "up": up, "down": down },
        "unwritten_packets": outcome.unwritten_packets,
        "refused_packets": outcome.refused_packets,
        "link_packets": outcome.link_packets,
    })
}

fn refused(error: Error) -> PyErr {
    InputError::new_err(error.to_string())
}

/// A program in one of the namespaces.
#[pyclass(frozen, module = "sojourn._sojourn")]
pub struct Program(Mutex<sojourn_emulate::Program>);

#[pymethods]
impl Program {
    /// Its exit status, when it has ended.
    fn poll(&self) -> Option<i32> {
        self.lock().poll()
    }

    /// Asks it and its children to end.
    fn terminate(&self) {
        self.lock().terminate();
    }

    /// Ends it and its children.
    fn kill(&self, py: Python<'_>) {
        py.detach(|| self.lock().kill());
    }
}

impl Program {
    fn lock(&self) -> std::sync::MutexGuard<'_, sojourn_emulate::Program> {
        self.0.lock().expect("no thread panics with it")
    }
}

/// A simulation as a line.
struct Simulated {
    run: Box<Simulation>,
    entry: u32,
    watch: Watch,
    calls_python: bool,
    view: Arc<View>,
}

impl Simulated {
    /// Goes on, with the parts of the user's own watched.
    fn going<T>(&mut self, go: impl FnOnce(&mut Simulation) -> T) -> T {
        let Self { run, watch, calls_python, .. } = self;
        slice(*calls_python, || watch.within(|| go(run)))
    }
}

impl Line for Simulated {
    fn now(&self) -> Time {
        self.run.now()
    }

    fn inject(&mut self, at: Time, direction: Direction, packet: &[u8], handle: u64) -> bool {
        let Ok(header) = Header::read(packet) else { return false };
        let entry = self.entry;
        self.going(|run| run.inject(at, entry, direction, &header, handle));
        true
    }

    fn run_until(&mut self, at: Time) -> bool {
        self.going(|run| run.run_until(at));
        self.watch.failure().is_none()
    }

    fn next_wake(&self) -> Time {
        self.run.next_wake()
    }

    fn arrived(&mut self, into: &mut Vec<Arrived>) {
        self.run.arrived(into);
    }

    fn lost(&mut self, into: &mut Vec<Lost>) {
        self.run.lost(into);
    }

    fn look(&mut self) {
        if self.view.is_wanted.swap(false, Relaxed)
            && let Ok(mut seen) = self.view.seen.lock()
        {
            *seen = Some(self.run.observe());
        }
    }
}
