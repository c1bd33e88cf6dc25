//! Real programs on a line that is simulated in real time.

use std::fs::File;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use serde_json::{Value, json};
use sojourn::input::fault;
use sojourn::input::problem::Warning;
use sojourn::outside::{Arrived, Direction, Header, Lost, Time, Writer};
use sojourn::{Observation, Simulation};
use sojourn_emulate::{
    Background, Emulation as Loop, End, Error, Line, Outcome, Place, Streams, Uplink,
};
use sojourn_parts::{Failure, Watch};

use crate::InputError;
use crate::job::slice;
use crate::panics::caught;
use crate::part::failed;
use crate::results::RunResult;
use crate::stepped::{Observed, check, observed};
use crate::variant::Variant;

/// Network namespaces of homes and of a server, and between them the line of a scenario once it has been started.
#[pyclass(frozen, module = "sojourn._sojourn")]
pub struct Emulation {
    variant: Variant,
    /// The traffic entry of each home.
    entries: Vec<String>,
    homes: Vec<End>,
    server: End,
    _uplink: Option<Uplink>,
    watch: Watch,
    view: Arc<View>,
    /// Where a record of the packets goes, and whether with payloads.
    record: Option<(PathBuf, bool)>,
    line: Mutex<Option<Loop<Simulated>>>,
}

/// What a watcher wants to see of the line, and sees.
#[derive(Default)]
struct View {
    is_wanted: AtomicBool,
    seen: Mutex<Option<Observation>>,
}

#[pymethods]
impl Emulation {
    /// Makes the namespaces. Each home has the traffic entry of kind `outside` that its packets are of, and the names by which
    /// programs know it; `record` is a file for a record of them, and whether it has payloads. With `uplink` the server's network leads into that of this process.
    #[new]
    #[pyo3(signature = (variant, homes, record=None, uplink=false))]
    fn new(
        py: Python<'_>,
        variant: &Variant,
        homes: Vec<(String, Vec<String>)>,
        record: Option<(PathBuf, bool)>,
        uplink: bool,
    ) -> PyResult<Self> {
        let (entries, names): (Vec<_>, Vec<_>) = homes.into_iter().unzip();
        let (homes, server, uplink) = py.detach(|| ends(names, uplink)).map_err(refused)?;
        Ok(Self {
            variant: variant.clone(),
            entries,
            homes,
            server,
            _uplink: uplink,
            watch: Watch::default(),
            view: Arc::default(),
            record,
            line: Mutex::default(),
        })
    }

    /// Starts a program in a home, by its number, or at the server, with descriptors of its standard streams, where it has
    /// others than this process.
    #[pyo3(signature = (home, words, streams=(None, None, None)))]
    fn spawn(
        &self,
        py: Python<'_>,
        home: Option<usize>,
        words: Vec<String>,
        streams: (Option<i32>, Option<i32>, Option<i32>),
    ) -> PyResult<Program> {
        let streams = Streams::copies(streams)?;
        let program = py.detach(|| self.end(home).start(words, streams)).map_err(refused)?;
        Ok(Program(Mutex::new(program)))
    }

    /// Does a program there wait at a port?
    fn listens(&self, py: Python<'_>, home: Option<usize>) -> bool {
        py.detach(|| self.end(home).listens())
    }

    /// Starts the line: simulated time begins.
    fn start(&self, py: Python<'_>) -> PyResult<()> {
        let simulated = py.detach(|| caught(|| self.simulated()))??;
        check(py, &self.watch)?;
        let homes: Vec<_> = self.homes.iter().collect();
        let line = Loop::start(simulated, &homes, &self.server).map_err(refused)?;
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

    /// Ends the line, if it goes on.
    fn close(&self, py: Python<'_>) {
        let line = self.lock().take();
        py.detach(|| drop(line));
    }

    /// Ends the line. Returns the results, whose meta data say how well time was kept, the variant of which they are, and why
    /// its record could not be written.
    fn finish(
        &self,
        py: Python<'_>,
        max_late_ms: f64,
    ) -> PyResult<(RunResult, Variant, Option<PyErr>)> {
        let line = self.lock().take().ok_or_else(|| PyRuntimeError::new_err("no line goes on"))?;
        let dropped_up = self.homes.iter().map(End::dropped_packets).sum();
        let dropped = [dropped_up, self.server.dropped_packets()];
        let stop = || line.stop().unwrap_or_else(|panic| resume_unwind(panic));
        let (mut simulated, outcome) = py.detach(|| caught(stop))?;
        if let Some(failure) = simulated.failure.take() {
            return Err(failed(py, &failure));
        }
        check(py, &self.watch)?;
        if let Some(slept) = outcome.suspended {
            let slept_s = slept.as_secs_f64();
            let message = format!(
                "found a clock that jumped: the machine slept for {slept_s:.1} s; allowed: a machine that stays awake"
            );
            return Err(InputError::new_err(message));
        }
        let (now_s, from_s) = (simulated.now().secs_f64(), self.variant.scenario.metrics.from_s);
        if now_s <= from_s {
            let message = if from_s > 0.0 {
                format!(
                    "found a line that ended after {now_s:.3} s; allowed: a longer time than metrics.from_s = {from_s} s, from when on packets count"
                )
            } else {
                "found a line that ended at once, before anything could cross it; allowed: one that lasts, as long as a program runs".to_owned()
            };
            return Err(InputError::new_err(message));
        }
        let now = simulated.now();
        let record = simulated.record.take();
        let written = py.detach(|| record.map_or(Ok(()), |of| of.finish(now)?.finish().map(drop)));
        let finish = || slice(self.variant.calls_python, || simulated.run.finish());
        let mut results = py.detach(|| caught(finish))?;
        check(py, &self.watch)?;
        let notes = self.variant.notes.iter().cloned();
        results.warnings.splice(0..0, notes.chain(warnings(&outcome, dropped, max_late_ms)));
        results.warnings.extend(self.watch.warnings());
        let variant = self.variant.ended(results.duration_s);
        let result = RunResult::new(&results, &variant.scenario);
        let mut kept = kept_time(&outcome, dropped, max_late_ms);
        kept["homes"] = self.entry_of_each_group();
        let result = result.noting("emulation", kept);
        Ok((result, variant, written.err().map(PyErr::from)))
    }
}

impl Emulation {
    fn end(&self, home: Option<usize>) -> &End {
        home.map_or(&self.server, |number| &self.homes[number])
    }

    /// By the groups of the homes, of which traffic entry their packets are.
    fn entry_of_each_group(&self) -> Value {
        let scenario = &self.variant.scenario;
        let group = |entry: &String| scenario.group(scenario.group_of(&scenario.traffic[entry]));
        self.entries.iter().map(|entry| (group(entry).name.to_owned(), json!(entry))).collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Loop<Simulated>>> {
        self.line.lock().expect("no thread panics with it")
    }

    fn simulated(&self) -> PyResult<Simulated> {
        let calls_python = self.variant.calls_python;
        let start = || self.watch.within(|| Simulation::endless(&self.variant.scenario));
        let run = slice(calls_python, start);
        let number = |entry: &String| {
            run.outside(entry).ok_or_else(|| {
                PyRuntimeError::new_err(format!("{entry}: no traffic entry of kind outside"))
            })
        };
        let entries = self.entries.iter().map(number).collect::<PyResult<_>>()?;
        let (watch, view) = (self.watch.clone(), Arc::clone(&self.view));
        let record = self.record.as_ref().map(|(file, has_payloads)| {
            Writer::new(Background::new(File::create(file)?)?, run.scenario(), *has_payloads)
        });
        let record = record.transpose()?;
        let (run, failure) = (Box::new(run), None);
        Ok(Simulated { run, entries, watch, failure, calls_python, view, record })
    }
}

/// The ends of homes with these names, that of the server, and its way out if it has one.
fn ends(
    names: Vec<Vec<String>>,
    has_uplink: bool,
) -> sojourn_emulate::Result<(Vec<End>, End, Option<Uplink>)> {
    let homes = (0..).zip(names).map(|(number, names)| Place::home(number, names));
    let places: Arc<[Place]> = homes.chain([Place::server()]).collect();
    let out = has_uplink.then_some(Place::server().ipv4);
    let mut ends = Vec::new();
    for place in &*places {
        ends.push(End::new(place, &places, out)?);
    }
    let server = ends.pop().expect("that of the server is the last");
    if ends.len() > 1 || has_uplink {
        server.forward()?;
    }
    let uplink = has_uplink.then(|| server.lead_out()).transpose()?;
    Ok((ends, server, uplink))
}

/// What says whether all packets were in time.
const MOST: f64 = 0.999;

fn is_too_late(outcome: &Outcome, max_late_ms: f64) -> bool {
    outcome.lateness.quantile_ms(MOST).is_some_and(|late_ms| late_ms > max_late_ms)
}

/// How late packets were, and what else a reader must know to trust the run.
fn kept_time(outcome: &Outcome, [up, down]: [u64; 2], max_late_ms: f64) -> Value {
    let late = &outcome.lateness;
    json!({
        "is_too_late": is_too_late(outcome, max_late_ms),
        "max_late_ms": max_late_ms,
        "packets": late.packets(),
        "late_p50_ms": late.quantile_ms(0.5),
        "late_p90_ms": late.quantile_ms(0.9),
        "late_p99_ms": late.quantile_ms(0.99),
        "late_p999_ms": late.quantile_ms(MOST),
        "latest_ms": late.max_ms(),
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

fn warnings(outcome: &Outcome, unread: [u64; 2], max_late_ms: f64) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let late_ms = outcome.lateness.quantile_ms(MOST).unwrap_or(0.0);
    if is_too_late(outcome, max_late_ms) {
        let (late_ms, packets) = (round(late_ms), outcome.lateness.packets());
        let share = match packets {
            0..ONE_IN => format!(
                "the latest of {packets} packets of the real programs came {late_ms} ms late"
            ),
            _ => format!(
                "one packet in a thousand of the real programs came {late_ms} ms late or later"
            ),
        };
        let cure = lacking(outcome).map_or_else(
            || "run it on a machine with less to do".to_owned(),
            |missing| format!("let it have {missing}: run it as root, or give this user the limits rtprio and memlock"),
        );
        warnings.push(fault!(TooLate, "" => "too late to trust: {share}; allowed: up to {max_late_ms} ms; {cure}", share, max_late_ms, cure));
    }
    let (behind_s, lasted_s) = (outcome.behind.secs_f64(), outcome.lasted.secs_f64());
    if behind_s > SHARE_BEHIND * lasted_s {
        let (behind_s, longest_ms) = (round(behind_s), round(outcome.most_behind.ms_f64()));
        warnings.push(fault!(BehindTheClock, "" => "the simulation was behind the wall clock for {behind_s} s, at most {longest_ms} ms at once; what packets waited meanwhile is no delay of the line", behind_s, longest_ms));
    }
    let packets = unread[0] + unread[1];
    if packets > 0 {
        warnings.push(fault!(UnreadPackets, "" => "{packets} packets of the real programs never reached the line: they were sent faster than this machine could read them", packets));
    }
    let Some(missing) = lacking(outcome) else { return warnings };
    warnings.push(fault!(NotInRealTime, "" => "found no permission for {missing}, so that packets may be late; allowed: root, or the limits rtprio and memlock of this user", missing));
    warnings
}

/// What the system did not permit.
fn lacking(outcome: &Outcome) -> Option<&'static str> {
    match (outcome.has_priority, outcome.has_locked_memory) {
        (true, true) => None,
        (true, false) => Some("locked memory"),
        (false, true) => Some("real-time priority"),
        (false, false) => Some("real-time priority and locked memory"),
    }
}

/// Of fewer packets one in a thousand is the latest.
const ONE_IN: u64 = 1000;

/// A smaller share of time behind the clock is nothing that a reader must know.
const SHARE_BEHIND: f64 = 0.001;

/// With three digits behind the point.
fn round(number: f64) -> f64 {
    (number * 1e3).round() / 1e3
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
    /// The traffic entry of each home.
    entries: Vec<u32>,
    watch: Watch,
    /// Of a part, which ends the line.
    failure: Option<Failure>,
    calls_python: bool,
    view: Arc<View>,
    record: Option<Writer<Background<File>>>,
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

    fn inject(
        &mut self,
        at: Time,
        home: usize,
        direction: Direction,
        packet: &[u8],
        handle: u64,
    ) -> bool {
        let Ok(header) = Header::read(packet) else { return false };
        let entry = self.entries[home];
        let at = self.going(|run| run.inject(at, entry, direction, &header, handle));
        if let Some(record) = &mut self.record {
            // What the disk refuses is said at the end.
            let _ = record.packet(at, (entry, direction), &header, packet);
        }
        true
    }

    fn run_until(&mut self, at: Time) -> bool {
        self.going(|run| run.run_until(at));
        self.failure = self.watch.failure();
        self.failure.is_none()
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
