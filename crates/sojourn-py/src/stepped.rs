//! A run that Python stops, looks at and changes.

use std::sync::{Mutex, MutexGuard};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBool;
use serde_json::Value;
use sojourn::engine::units::{Time, mbps};
use sojourn::outside::{Arrived, Direction, Header, LARGEST_IP, Lost, NotIp, Writer};
use sojourn::scenario::live::LiveKeys;
use sojourn::{
    ConnectionObservation, GaugeObservation, Observation, QueueObservation, Simulation,
    TrafficObservation,
};
use sojourn_parts::Watch;

use crate::ScenarioError;
use crate::job::{SLICE_EVENTS, slice};
use crate::panics::caught;
use crate::part::failed;
use crate::problem::about;
use crate::results::RunResult;
use crate::variant::Variant;

/// Names of series, and their values now.
type Gauges = Vec<(&'static str, Option<f64>)>;
/// Queue and direction; bytes, packets; departed packets, their mean delay in ms; dropped packets, and those of an AQM
/// algorithm; marked packets; gauges.
type Queue = (String, &'static str, u64, u64, u64, Option<f64>, u64, u64, u64, Gauges);
/// Traffic entry and direction; rates sent and delivered in Mbps; packets sent, delivered and lost; mean delay and
/// round-trip time in ms; mean opinion score.
type Measured =
    (String, &'static str, f64, f64, u64, u64, u64, Option<f64>, Option<f64>, Option<f64>);
/// And its own score with its level; gauges.
type Traffic = (Measured, Option<f64>, Option<f64>, Gauges);
/// Traffic entry, number, direction; window in bytes, pacing rate in Mbps, smoothed round-trip time in ms; gauges.
type Connection = (String, u64, &'static str, f64, Option<f64>, Option<f64>, Gauges);
pub(crate) type Observed = (f64, f64, Vec<Queue>, Vec<Traffic>, Vec<Connection>);

/// A run in progress.
#[pyclass(frozen, module = "sojourn._sojourn")]
pub struct Stepped {
    variant: Variant,
    keys: LiveKeys,
    /// Parts start in a run too, with connections.
    watch: Watch,
    run: Mutex<Stage>,
    real: Mutex<Real>,
}

/// The real packets that came.
struct Real {
    sent: u64,
    record: Option<Writer<Vec<u8>>>,
    /// The record of a run that is finished.
    recorded: Option<Vec<u8>>,
}

enum Stage {
    Goes(Box<Simulation>),
    Finished,
    /// A part failed, or an invariant does not hold.
    Broken,
}

#[pymethods]
impl Stepped {
    /// At its start. With `records` it keeps a record of the packets that come from outside.
    #[new]
    #[pyo3(signature = (variant, records=false))]
    fn new(py: Python<'_>, variant: &Variant, records: bool) -> PyResult<Self> {
        let watch = Watch::default();
        let start = || watch.within(|| Simulation::new(&variant.scenario));
        let start = || slice(variant.calls_python, start);
        let simulation = py.detach(|| caught(start))?;
        check(py, &watch)?;
        let keys = LiveKeys::of(&variant.scenario);
        let record = records.then(|| Writer::new(Vec::new(), simulation.scenario(), false));
        let real = Mutex::new(Real { sent: 0, record: record.transpose()?, recorded: None });
        let run = Mutex::new(Stage::Goes(Box::new(simulation)));
        Ok(Self { variant: variant.clone(), keys, watch, run, real })
    }

    /// Simulated time in s.
    #[getter]
    fn now_s(&self) -> PyResult<f64> {
        self.with(|run| Ok(run.now().secs_f64()))
    }

    /// The keys that may change.
    fn keys(&self) -> Vec<String> {
        self.keys.paths().map(str::to_owned).collect()
    }

    /// The value of a key now, as JSON.
    fn value(&self, py: Python<'_>, key: &str) -> PyResult<String> {
        self.with(|run| {
            let value = self.keys.value(run.scenario(), key).map_err(|fault| {
                about(py, &fault.of("change in a run").into(), ScenarioError::new_err)
            })?;
            Ok(value.to_string())
        })
    }

    /// Goes on to a time in s. Signals are handled meanwhile, and after one the run may go on.
    fn run_until(&self, py: Python<'_>, at_s: f64) -> PyResult<()> {
        self.run_until_ps(py, Time::from_secs_f64(at_s).ps())
    }

    /// The same with a time in ps.
    fn run_until_ps(&self, py: Python<'_>, at_ps: u64) -> PyResult<()> {
        let (at, watch) = (Time::from_ps(at_ps), &self.watch);
        let mut stage = self.lock()?;
        loop {
            let run = stage.simulation()?;
            refuse_the_past(at, run.now())?;
            let go_on = || watch.within(|| run.advance_until(at, SLICE_EVENTS));
            let is_there = py.detach(|| caught(|| slice(self.variant.calls_python, go_on)));
            let is_there = is_there.and_then(|is_there| check(py, watch).map(|()| is_there));
            match is_there {
                Ok(true) => return Ok(()),
                Ok(false) => py.check_signals()?,
                Err(error) => {
                    *stage = Stage::Broken;
                    return Err(error);
                }
            }
        }
    }

    /// What happened since the last observation, as plain values.
    fn observe(&self, py: Python<'_>) -> PyResult<Observed> {
        let (mut stage, watch) = (self.lock()?, &self.watch);
        let run = stage.simulation()?;
        // Parts show their gauges.
        let seen = watch.within(|| run.observe());
        match check(py, watch) {
            Ok(()) => Ok(observed(seen)),
            Err(error) => {
                *stage = Stage::Broken;
                Err(error)
            }
        }
    }

    /// Changes keys from now on, each with its value as JSON.
    fn set(&self, py: Python<'_>, changes: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<()> {
        let changes: Vec<(String, Value)> =
            changes.into_iter().map(|(key, value)| (key, plain(&value))).collect();
        self.with(|run| {
            run.set(&changes).map_err(|problems| about(py, &problems, ScenarioError::new_err))
        })
    }

    /// A packet comes from outside at a time in s, or now. Returns its handle.
    #[pyo3(signature = (entry, direction, packet, at_s=None))]
    fn inject(
        &self,
        py: Python<'_>,
        entry: &str,
        direction: &str,
        packet: &[u8],
        at_s: Option<f64>,
    ) -> PyResult<u64> {
        let refused = |found: String| PyValueError::new_err(format!("inject: found {found}"));
        let header = Header::read(packet).map_err(|fault| refused(not_ip(fault)))?;
        let way = Direction::BOTH.into_iter().find(|way| way.name() == direction);
        let way =
            way.ok_or_else(|| refused(format!("direction {direction:?}; allowed: up, down")))?;
        if let Some(at_s) = at_s {
            self.run_until_ps(py, Time::from_secs_f64(at_s).ps())?;
        }
        self.with(|run| {
            let number = run.outside(entry).ok_or_else(|| {
                refused(format!(
                    "{entry:?}; allowed: a traffic entry of kind \"outside\" without a record"
                ))
            })?;
            let now_s = run.now().secs_f64();
            if now_s >= run.scenario().duration_s {
                return Err(refused(format!(
                    "{now_s} s, when the run is over; allowed: an earlier time"
                )));
            }
            let mut real = self.real.lock().expect("no call panics here");
            let handle = real.sent;
            let at = run.inject(run.now(), number, way, &header, handle);
            real.sent += 1;
            if let Some(record) = &mut real.record {
                record.packet(at, (number, way), &header, packet)?;
            }
            Ok(handle)
        })
    }

    /// The packets from outside that arrived since the last call: handle, entry, direction, ECN field, code point, time.
    fn arrived(&self) -> PyResult<Vec<Arrival>> {
        self.with(|run| {
            let mut arrived = Vec::new();
            run.arrived(&mut arrived);
            let traffic = &run.scenario().traffic;
            let name = |entry| traffic.get_index(entry as usize).map_or("", |(name, _)| name);
            let plain = arrived.into_iter().map(|one| {
                let Arrived { handle, entry, direction, ecn, dscp, at, .. } = one;
                (handle, name(entry).to_owned(), direction.name(), ecn.name(), dscp, at.secs_f64())
            });
            Ok(plain.collect())
        })
    }

    /// Those that were lost since the last call: handle, entry, direction, reason, time.
    fn lost(&self) -> PyResult<Vec<Loss>> {
        self.with(|run| {
            let mut lost = Vec::new();
            run.lost(&mut lost);
            let traffic = &run.scenario().traffic;
            let name = |entry| traffic.get_index(entry as usize).map_or("", |(name, _)| name);
            let plain = lost.into_iter().map(|one| {
                let Lost { handle, entry, direction, at, reason } = one;
                (handle, name(entry).to_owned(), direction.name(), reason.name(), at.secs_f64())
            });
            Ok(plain.collect())
        })
    }

    /// When something happens next, in s.
    fn next_wake_s(&self) -> PyResult<f64> {
        self.with(|run| Ok(run.next_wake().secs_f64()))
    }

    /// The record of a finished run, if one was kept.
    fn record(&self) -> Option<Vec<u8>> {
        self.real.lock().expect("no call panics here").recorded.take()
    }

    /// Ends the run, and gives its results and the variant of which they are.
    fn finish(&self, py: Python<'_>) -> PyResult<(RunResult, Variant)> {
        let mut stage = self.lock()?;
        let run = stage.simulation()?;
        let (now_s, from_s) = (run.now().secs_f64(), self.variant.scenario.metrics.from_s);
        if now_s < LEAST_S || now_s <= from_s {
            let least = if from_s > 0.0 {
                format!("after metrics.from_s = {from_s} s")
            } else {
                format!("from {LEAST_S} s on")
            };
            return Err(PyValueError::new_err(format!(
                "finish: found {now_s} s simulated; allowed: {least}"
            )));
        }
        let Stage::Goes(simulation) = std::mem::replace(&mut *stage, Stage::Finished) else {
            return Err(over());
        };
        let mut real = self.real.lock().expect("no call panics here");
        real.recorded =
            real.record.take().map(|record| record.finish(simulation.now())).transpose()?;
        drop(real);
        let finish = || slice(self.variant.calls_python, || simulation.finish());
        let mut results = py.detach(|| caught(finish))?;
        check(py, &self.watch)?;
        results.warnings.splice(0..0, self.variant.notes.iter().cloned());
        results.warnings.extend(self.watch.warnings());
        let variant = self.variant.ended(results.duration_s);
        Ok((RunResult::new(&results, &variant.scenario), variant))
    }
}

/// Handle, entry, direction, ECN field, code point, time in s.
type Arrival = (u64, String, &'static str, &'static str, u8, f64);
/// Handle, entry, direction, reason, time in s.
type Loss = (u64, String, &'static str, &'static str, f64);

fn not_ip(fault: NotIp) -> String {
    let what = match fault {
        NotIp::Version => "bytes that are neither of IPv4 nor of IPv6".to_owned(),
        NotIp::Malformed => {
            "bytes that end before their IP header does, or contradict it".to_owned()
        }
        NotIp::TooLarge(bytes) => format!("a packet of {bytes} bytes"),
    };
    format!("{what}; allowed: an IP packet of {LARGEST_IP} bytes or less")
}

/// The shortest run that a scenario may have, in s.
const LEAST_S: f64 = 0.001;

impl Stepped {
    fn lock(&self) -> PyResult<MutexGuard<'_, Stage>> {
        self.run.try_lock().map_err(|_| {
            PyRuntimeError::new_err(
                "found a call while another thread runs this simulation; allowed: one at a time",
            )
        })
    }

    fn with<T>(&self, look: impl FnOnce(&mut Simulation) -> PyResult<T>) -> PyResult<T> {
        look(self.lock()?.simulation()?)
    }
}

impl Stage {
    fn simulation(&mut self) -> PyResult<&mut Simulation> {
        match self {
            Self::Goes(simulation) => Ok(simulation),
            Self::Finished => Err(over()),
            Self::Broken => Err(PyRuntimeError::new_err(
                "the run has failed; allowed: a new Simulation, from the start",
            )),
        }
    }
}

fn over() -> PyErr {
    PyRuntimeError::new_err(
        "the run is finished; allowed: its result, or a new Simulation, from the start",
    )
}

fn refuse_the_past(at: Time, now: Time) -> PyResult<()> {
    if at >= now {
        return Ok(());
    }
    let (at_s, now_s) = (at.secs_f64(), now.secs_f64());
    Err(PyValueError::new_err(format!(
        "run_until: found {at_s} s, and it is {now_s} s already; allowed: {now_s} s or later"
    )))
}

/// Raises `PartError` if a part has failed since the last call.
pub(crate) fn check(py: Python<'_>, watch: &Watch) -> PyResult<()> {
    watch.failure().map_or(Ok(()), |failure| Err(failed(py, &failure)))
}

/// A number, a truth value or a text; null for all else, which no key may have.
fn plain(value: &Bound<'_, PyAny>) -> Value {
    if let Ok(value) = value.cast::<PyBool>() {
        return value.is_true().into();
    }
    if let Ok(value) = value.extract::<i64>() {
        return value.into();
    }
    if let Ok(value) = value.extract::<f64>() {
        return value.into();
    }
    value.extract::<String>().map_or(Value::Null, Value::from)
}

/// What a run shows, as plain values.
pub(crate) fn observed(seen: Observation) -> Observed {
    let span = seen.span;
    (
        seen.at.secs_f64(),
        span.secs_f64(),
        seen.queues.into_iter().map(queue).collect(),
        seen.traffic.into_iter().map(|of| traffic(of, span)).collect(),
        seen.connections.into_iter().map(connection).collect(),
    )
}

fn queue(of: QueueObservation) -> Queue {
    let QueueObservation {
        name,
        direction,
        backlog,
        departed_packets,
        sojourn,
        counts,
        gauges,
        ..
    } = of;
    let dropped = counts.dropped_overflow + counts.dropped_aqm;
    (
        name,
        direction.name(),
        backlog.bytes,
        backlog.packets,
        departed_packets,
        sojourn.map(Time::ms_f64),
        dropped,
        counts.dropped_aqm,
        counts.marked,
        values(gauges),
    )
}

fn values(gauges: Vec<GaugeObservation>) -> Gauges {
    gauges.into_iter().map(|of| (of.metric, of.value)).collect()
}

fn traffic(of: TrafficObservation, span: Time) -> Traffic {
    let rate = |bytes: u64| if span > Time::ZERO { mbps(bytes, span) } else { 0.0 };
    let measured = (
        of.traffic,
        of.direction.name(),
        rate(of.sent.bytes),
        rate(of.delivered.bytes),
        of.sent.packets,
        of.delivered.packets,
        of.lost_packets,
        of.delay.map(Time::ms_f64),
        of.round_trip.map(Time::ms_f64),
        of.network_mos,
    );
    let own = of.own_score;
    (measured, own.map(|own| own.value), own.map(|own| own.level), values(of.gauges))
}

fn connection(of: ConnectionObservation) -> Connection {
    (
        of.traffic,
        of.number,
        of.direction.name(),
        of.window_bytes,
        of.pacing_bytes_per_s.map(|rate| rate as f64 * 8e-6),
        of.smoothed_rtt.map(Time::ms_f64),
        values(of.gauges),
    )
}
