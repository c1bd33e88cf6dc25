//! Logs of measured lines.

use pyo3::prelude::*;
use sojourn::logs::{self, Load, Log, MOST_BYTES, Probe};
use sojourn::results::measured::measured;

use crate::ScenarioError;
use crate::panics::caught;
use crate::problem::about;

/// A log of a measured line: probes, rates, and when a load ran. Times are in ms of the log's own clock.
#[pyclass(frozen, module = "sojourn._sojourn")]
pub struct LineLog {
    source: String,
    log: Log,
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
    fn with_loads(&self, down_s: Vec<(f64, f64)>, up_s: Vec<(f64, f64)>) -> Self {
        let log = self.log.clone().with_loads(&down_s, &up_s);
        Self { source: self.source.clone(), log }
    }

    /// Does each probe have a time, or is a steady interval supposed?
    #[getter]
    fn is_timed(&self) -> bool {
        self.log.is_timed
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
        let name = |load| match load {
            Load::Idle => "idle",
            Load::Down => "down",
            Load::Up => "up",
            Load::Both => "both",
        };
        times_ms.into_iter().map(|at| self.log.load_at(at).map(name)).collect()
    }

    /// The answer as JSON: a letter, round trips, what each load did, and sentences.
    ///
    /// Raises `ScenarioError` for times that cannot be right.
    fn measured_json(&self, py: Python<'_>) -> PyResult<String> {
        let found = caught(|| measured(&self.log))?.map_err(|fault| fault.of(&self.source));
        let found = found.map_err(|problem| about(py, &problem.into(), ScenarioError::new_err))?;
        Ok(serde_json::to_string(&found).expect("it is plain data"))
    }

    /// The most bytes of a file, as it is and unpacked.
    #[classattr]
    const MOST_BYTES: usize = MOST_BYTES;
}
