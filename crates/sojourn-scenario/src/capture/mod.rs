//! Packet captures that a scenario replays. They are read when the scenario is loaded, so that a
//! run reads no file.
//!
//! All forms of pcap and pcapng are read (draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng), also
//! compressed by gzip. Of a packet count its time, its size on the wire, and the addresses that give its
//! direction; not its captured bytes.

mod home;
mod link;
mod reader;
mod reading;
mod source;
mod split;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::files::{Files, MOST_CAPTURE_BYTES};
use super::schema::Scenario;
use super::traces::Traces;
use crate::apps::AppSpec;
use crate::apps::replay::Parameters;
use crate::outside::{Line, Record};
use crate::traffic::Entry;
use sojourn_engine::units::Time;
use sojourn_input::fault;
use sojourn_input::problem::{Fault, Faults, Warning};
use sojourn_input::words;

pub(crate) use reader::next_block;
pub use reading::{How, Reading, Refusal, parse};
pub(crate) use source::{Source, Stop};

/// A run that lasts no time is none.
const LEAST_S: f64 = 1e-6;

/// The captures of one scenario file's runs, each read once.
pub(super) struct Captures<'a> {
    files: &'a dyn Files,
    directory: PathBuf,
    traces: Traces,
    read: RefCell<BTreeMap<(PathBuf, How), Reading>>,
    records: RefCell<BTreeMap<PathBuf, Record>>,
}

impl<'a> Captures<'a> {
    /// Captures with paths relative to the directory of the scenario file `source`.
    pub(crate) fn beside(source: &str, files: &'a dyn Files) -> Self {
        let directory = Path::new(source).parent().unwrap_or(Path::new("")).to_owned();
        let traces = Traces::default();
        Self { files, directory, traces, read: RefCell::default(), records: RefCell::default() }
    }

    /// Fills each replay of a scenario: its packets, their digest and directions, and the path they came
    /// from. So it does with capacity traces. Returns what a user must know of them.
    ///
    /// # Errors The faults of all replays and traces.
    pub(crate) fn fill(&self, scenario: &mut Scenario) -> Result<Vec<Warning>, Faults> {
        let mut notes = Vec::new();
        let mut faults = self.traces.fill(scenario, &self.directory, self.files);
        for (name, entry) in &mut scenario.traffic {
            if let AppSpec::Replay(replay) = &mut entry.app {
                let path = words::join("traffic", name);
                match self.fill_one(replay, &path) {
                    Ok(own) => notes.extend(own.into_iter().map(|note| Warning {
                        message: format!("{path}: {}", note.message),
                        ..note.under(&path)
                    })),
                    Err(fault) => faults.add(fault),
                }
            }
        }
        faults.add(self.fill_records(scenario, &mut notes));
        if faults.is_empty() { Ok(notes) } else { Err(faults) }
    }

    /// Fills each entry of packets from outside that has a record, and the time that the run takes.
    fn fill_records(&self, scenario: &mut Scenario, notes: &mut Vec<Warning>) -> Faults {
        let mut faults = Faults::default();
        let is_recorded =
            |entry: &Entry| matches!(&entry.app, AppSpec::Real(of) if of.record.is_some());
        if !scenario.traffic.values().any(is_recorded) {
            return faults;
        }
        let line = Line::of(scenario);
        let mut end = Time::ZERO;
        for (name, entry) in &mut scenario.traffic {
            let AppSpec::Real(of) = &mut entry.app else { continue };
            let Some(file) = of.record.clone() else { continue };
            let path = words::join("traffic", name);
            let at = self.directory.join(&file);
            let at = std::path::absolute(&at).unwrap_or(at);
            let filled = self.record(&at).map_err(|reason| {
                fault!(UnusableFile, format!("{path}.record") => "found {file:?}, {reason}", file, reason)
            });
            match filled.and_then(|record| of.fill(&record, &line, name, &path)) {
                Ok(note) => notes.extend(note),
                Err(fault) => {
                    faults.add(fault);
                    continue;
                }
            }
            end = end.max(of.packets.end);
            of.record = at.to_str().map_or(of.record.take(), |at| Some(at.to_owned()));
        }
        scenario.duration_s = end.secs_f64().max(LEAST_S);
        faults
    }

    fn record(&self, file: &Path) -> Result<Record, String> {
        if let Some(record) = self.records.borrow().get(file) {
            return Ok(record.clone());
        }
        let record = Record::from(self.files, file)?;
        self.records.borrow_mut().insert(file.to_owned(), record.clone());
        Ok(record)
    }

    fn fill_one(&self, replay: &mut Parameters, path: &str) -> Result<Vec<Warning>, Fault> {
        let file = self.directory.join(&replay.file);
        let file = std::path::absolute(&file).unwrap_or(file);
        let reading = self.reading(&file, How::of(replay)).map_err(|refusal| {
            let name = format!("{:?}", replay.file);
            match refusal {
                Refusal::File(reason) => {
                    fault!(UnusableFile, format!("{path}.file") => "found {name}, {reason}", name, reason)
                }
                Refusal::Home(reason) => {
                    Fault::new(format!("{path}.home_address"), format!("{reason}, in {name}"))
                }
            }
        })?;
        let digest = reading.capture.digest();
        if let Some(other) = replay.digest.as_ref().filter(|other| **other != digest) {
            let other = words::quoted(other);
            let message =
                format!("found {other}; allowed: {digest:?}, that of {:?}, or none", replay.file);
            return Err(Fault::new(format!("{path}.digest"), message));
        }
        replay.digest = Some(digest);
        replay.capture = reading.capture;
        replay.direction = reading.direction;
        replay.home_address = reading.home;
        if let Some(file) = file.to_str() {
            file.clone_into(&mut replay.file);
        }
        Ok(reading.notes)
    }

    fn reading(&self, file: &Path, how: How) -> Result<Reading, Refusal> {
        let key = (file.to_owned(), how);
        if let Some(reading) = self.read.borrow().get(&key) {
            return Ok(reading.clone());
        }
        let unreadable =
            |error| Refusal::File(format!("which cannot be read ({error}); {}", reader::ALLOWED));
        let bytes = self.files.read(file, MOST_CAPTURE_BYTES).map_err(unreadable)?;
        let reading = parse(&bytes, &key.1)?;
        self.read.borrow_mut().insert(key, reading.clone());
        Ok(reading)
    }
}

#[cfg(test)]
mod capture_tests;
