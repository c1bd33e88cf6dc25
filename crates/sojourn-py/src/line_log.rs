//! Logs of measured lines.

use pyo3::prelude::*;
use sojourn::input::problem::Fault;
use sojourn::logs::{self, Load, Log, MOST_BYTES, Probe};
use sojourn::results::measured::{measured, trips_ms};

use crate::ScenarioError;
use crate::panics::caught;
use crate::problem::about;

/// A log of a measured line: probes, rates, and when a load ran. Times are in ms of the log's own clock, without its steps.
#[pyclass(frozen, module = "sojourn._sojourn")]
pub struct LineLog {
    source: String,
    log: Log,
}

const NAMES: [(Load, &str); 4] =
    [(Load::Idle, "idle"), (Load::Down, "down"), (Load::Up, "up"), (Load::Both, "both")];

impl LineLog {
    fn changed(&self, py: Python<'_>, log: Result<Log, Fault>) -> PyResult<Self> {
        let log = log.map_err(|fault| self.refused(py, fault))?;
        Ok(Self { source: self.source.clone(), log })
    }

    fn refused(&self, py: Python<'_>, fault: Fault) -> PyErr {
        about(py, &fault.of(&self.source).into(), ScenarioError::new_err)
    }
}

#[pymethods]
impl LineLog {
    /// Reads the content of a file of any tool that is known. `source` is its name in messages.
    ///
    /// Raises `ScenarioError` for what is no log.
    #[new]
    fn new(py: Python<'_>, content: &[u8], source: &str) -> PyResult<Self> {
        let read = py.detach(|| caught(|| logs::read(source, content)))?;
        let log = read.map_err(|problem| about(py, &problem.into(), ScenarioError::new_err))?;
        Ok(Self { source: source.to_owned(), log })
    }

    /// The same log with the loads of these times, in s after its first probe.
    ///
    /// Raises `ScenarioError` for times that it does not have.
    fn with_loads(
        &self,
        py: Python<'_>,
        down_s: Vec<(f64, f64)>,
        up_s: Vec<(f64, f64)>,
    ) -> PyResult<Self> {
        self.changed(py, self.log.clone().with_loads(&down_s, &up_s))
    }

    /// The same log with probes that left so many s after each other.
    ///
    /// Raises `ScenarioError` if it has times.
    fn with_interval(&self, py: Python<'_>, interval_s: f64) -> PyResult<Self> {
        self.changed(py, self.log.clone().with_interval(1e3 * interval_s))
    }

    /// Does each probe have a time, or is a steady interval supposed?
    #[getter]
    fn is_timed(&self) -> bool {
        self.log.untimed.is_none()
    }

    /// Is each stream of another host?
    #[getter]
    fn has_hosts(&self) -> bool {
        self.log.has_hosts
    }

    /// Times in s after the first probe.
    fn elapsed_s(&self, times_ms: Vec<f64>) -> Vec<f64> {
        let start_ms = self.log.start_ms();
        times_ms.into_iter().map(|at| (at - start_ms) / 1e3).collect()
    }

    /// To what its format rounds times, or 0.
    #[getter]
    fn resolution_ms(&self) -> f64 {
        self.log.resolution_ms
    }

    /// For each stream the send times, delays up and down, and round trips of its probes; NaN where one is not known.
    fn streams(&self) -> Vec<[Vec<f64>; 4]> {
        let column = |stream: &[Probe], of: fn(&Probe) -> Option<f64>| {
            stream.iter().map(|probe| of(probe).unwrap_or(f64::NAN)).collect()
        };
        let columns = |stream: &Vec<Probe>| {
            let delays: [fn(&Probe) -> Option<f64>; 4] =
                [|one| Some(one.sent_ms), |one| one.up_ms, |one| one.down_ms, |one| one.rtt_ms];
            delays.map(|of| column(stream, of))
        };
        self.log.streams.iter().map(columns).collect()
    }

    /// For each stream the round trips of its probes as the answer counts them; NaN for what it leaves out.
    fn trips(&self) -> Vec<Vec<f64>> {
        let or_nan = |trips: Vec<Option<f64>>| trips.into_iter().map(|ms| ms.unwrap_or(f64::NAN));
        trips_ms(&self.log).into_iter().map(|trips| or_nan(trips).collect()).collect()
    }

    /// Down and up: ends of the times that each rate counts, and the rates in Mbps.
    fn rates(&self) -> [(Vec<f64>, Vec<f64>); 2] {
        let ways = self.log.ways.each_ref();
        ways.map(|way| way.rates.iter().map(|rate| (rate.at_ms, rate.mbps)).unzip())
    }

    /// Down and up: from when to when a load ran.
    fn loaded_ms(&self) -> [Vec<(f64, f64)>; 2] {
        self.log.ways.each_ref().map(|way| way.loaded_ms.clone())
    }

    /// What ran at each time: `idle`, `down`, `up` or `both`, or `None` where that is not known.
    fn load_at(&self, times_ms: Vec<f64>) -> Vec<Option<&'static str>> {
        let name = |load| NAMES.iter().find(|(one, _)| *one == load).map(|(_, name)| *name);
        times_ms.into_iter().map(|at| self.log.load_at(at).and_then(name)).collect()
    }

    /// The answer as JSON, beside other logs of the line with these loads: a letter, round trips, what each load did, and
    /// sentences.
    ///
    /// Raises `ScenarioError` for times that cannot be right.
    fn measured_json(&self, py: Python<'_>, elsewhere: Vec<String>) -> PyResult<String> {
        let known = NAMES.iter().filter(|(_, name)| elsewhere.iter().any(|one| one == name));
        let elsewhere: Vec<Load> = known.map(|(load, _)| *load).collect();
        let found = caught(|| measured(&self.log, &elsewhere))?;
        let found = found.map_err(|fault| self.refused(py, fault))?;
        Ok(serde_json::to_string(&found).expect("it is plain data"))
    }

    /// The most bytes of a file, as it is and unpacked.
    #[classattr]
    const MOST_BYTES: usize = MOST_BYTES;
}
