//! Capacity traces that a scenario names. They are read when the scenario is loaded, as captures are.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::files::{Files, MOST_TRACE_BYTES};
use super::schema::Scenario;
use sojourn_engine::capacity::{ALLOWED, Gaps, Step, Trace, parse};
use sojourn_engine::hop::Bottleneck;
use sojourn_input::digest::digest;
use sojourn_input::fault;
use sojourn_input::problem::{Fault, Faults};
use sojourn_input::words;

/// What has been read, by the file and what its gaps mean.
type Read = BTreeMap<(PathBuf, Option<Gaps>), Arc<[Step]>>;

/// The traces of one scenario file's runs, each read once.
#[derive(Default)]
pub(super) struct Traces(RefCell<Read>);

impl Traces {
    /// Fills each trace of a scenario that is in a file: its rates, their digest, and the path they came from.
    ///
    /// # Errors The faults of all traces.
    pub(super) fn fill(
        &self,
        scenario: &mut Scenario,
        directory: &Path,
        files: &dyn Files,
    ) -> Faults {
        let mut faults = Faults::default();
        for (path, trace) in traces(scenario) {
            faults.add_under(
                &path,
                fill_one(trace, directory, |file, gaps| self.read(file, gaps, files)),
            );
        }
        faults
    }

    fn read(
        &self,
        file: &Path,
        gaps: Option<Gaps>,
        files: &dyn Files,
    ) -> Result<Arc<[Step]>, String> {
        let key = (file.to_owned(), gaps);
        if let Some(steps) = self.0.borrow().get(&key) {
            return Ok(steps.clone());
        }
        let bytes = files
            .read(file, MOST_TRACE_BYTES)
            .map_err(|error| format!("which cannot be read ({error}); {ALLOWED}"))?;
        let text = String::from_utf8(bytes).map_err(|_| format!("which is no text; {ALLOWED}"))?;
        let steps: Arc<[_]> = parse(&text, gaps)?.into();
        self.0.borrow_mut().insert(key, steps.clone());
        Ok(steps)
    }
}

/// All traces with their paths.
fn traces(scenario: &mut Scenario) -> Vec<(String, &mut Trace)> {
    let mut found = Vec::new();
    let Scenario { upstream, downstream, homes, router, core, .. } = scenario;
    found.extend(own("", upstream.capacity.as_mut(), downstream.capacity.as_mut()));
    found.extend(
        router
            .iter_mut()
            .flat_map(|of| of_both("router", of.upstream.as_mut(), of.downstream.as_mut())),
    );
    for (name, home) in homes {
        let path = words::join("homes", name);
        let up = home.upstream.as_mut().and_then(|up| up.capacity.as_mut());
        let down = home.downstream.as_mut().and_then(|down| down.capacity.as_mut());
        found.extend(own(&path, up, down));
        let router = home.router.iter_mut();
        found.extend(router.flat_map(|of| {
            let path = words::join(&path, "router");
            of_both(&path, of.upstream.as_mut(), of.downstream.as_mut())
        }));
    }
    for (name, both) in core {
        let path = words::join("core", name);
        found.extend(of_both(&path, both.upstream.as_mut(), both.downstream.as_mut()));
    }
    found
}

fn of_both<'a>(
    path: &str,
    up: Option<&'a mut Bottleneck>,
    down: Option<&'a mut Bottleneck>,
) -> Vec<(String, &'a mut Trace)> {
    let trace = |link: Option<&'a mut Bottleneck>| link.and_then(|link| link.capacity.as_mut());
    own(path, trace(up), trace(down))
}

fn own<'a>(
    path: &str,
    up: Option<&'a mut Trace>,
    down: Option<&'a mut Trace>,
) -> Vec<(String, &'a mut Trace)> {
    let ways = [("upstream", up), ("downstream", down)];
    let named = ways.into_iter().filter_map(|(way, trace)| {
        Some((words::join(&words::join(path, way), "capacity"), trace?))
    });
    named.collect()
}

fn fill_one(
    trace: &mut Trace,
    directory: &Path,
    read: impl Fn(&Path, Option<Gaps>) -> Result<Arc<[Step]>, String>,
) -> Result<(), Fault> {
    let Some(name) = &trace.file else {
        let useless = |_| Fault::new("gaps", "found without file; allowed: only beside file");
        return trace.gaps.map(useless).map_or(Ok(()), Err);
    };
    let wrong = |why: String| fault!(UnusableFile, "file" => "found {name:?}, {why}", name, why);
    let file = directory.join(name);
    let file = std::path::absolute(&file).unwrap_or(file);
    let read = read(&file, trace.gaps).map_err(wrong)?;
    let digest = digest(read.iter().flat_map(digested));
    if let Some(other) = trace.digest.as_ref().filter(|other| **other != digest) {
        let other = words::quoted(other);
        return Err(Fault::found(
            "digest",
            other,
            format!("{digest:?}, that of {name:?}, or none"),
        ));
    }
    trace.read = read;
    trace.digest = Some(digest);
    if let Some(file) = file.to_str() {
        trace.file = Some(file.to_owned());
    }
    Ok(())
}

/// What a digest is of; a step without a delay counts as in files that have none.
fn digested(step: &Step) -> impl Iterator<Item = u64> + use<> {
    let delay = Some(step.delay_ms).filter(|ms| *ms > 0.0);
    [step.for_s, step.mbps].into_iter().chain(delay).map(f64::to_bits)
}
