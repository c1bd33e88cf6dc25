//! What requests do.

use serde_json::{Value, json};
use sojourn_core::VERSION;
use sojourn_core::input::document::parse;
use sojourn_core::input::problem::{Problem, Problems};
use sojourn_core::metrics::tables::definitions;
use sojourn_core::provision::{Provision, load_from};
use sojourn_core::scenario::Variant;
use sojourn_core::scenario::file::file_schema;

use crate::columns::Blob;
use crate::files::Kept;
use crate::gallery::cases;
use crate::modem;
use crate::picture::{self, SHOWN_S};
use crate::reply::Reply;
use crate::request::{Request, Source};
use crate::run::{Run, shown};

/// Memory that a run may need: half of what a module of 32 bits can have.
const MOST_BYTES: u64 = 1 << 31;

/// The files that a page has brought, and the run in progress.
#[derive(Default)]
pub struct Module {
    files: Kept,
    run: Option<Run>,
}

type Replied = Result<(Value, Vec<u8>), Vec<Problem>>;

impl Module {
    /// Replies to a request: the size of its JSON in four bytes, the JSON, and a blob.
    pub fn handle(&mut self, bytes: &[u8]) -> Reply {
        let replied = read(bytes).and_then(|(request, blob)| self.replied(request, blob));
        replied.map_or_else(
            |faults| Reply::faults(&faults),
            |(value, blob)| Reply::value(&value, blob),
        )
    }

    fn replied(&mut self, request: Request, blob: &[u8]) -> Replied {
        let plain = |value| Ok((value, Vec::new()));
        match request {
            Request::About => plain(about()),
            Request::Document { text } => plain(parse(&text, "").map_err(all)?),
            Request::Check(source) => plain(self.check(&source)?),
            Request::Keep { name } => {
                self.files.keep(name, blob.to_vec());
                plain(Value::Null)
            }
            Request::Start { source, variant, picture_until_s } => {
                let variant = self.variant(&source, variant)?;
                // The old simulation goes first, so that there is memory for one alone.
                self.run = None;
                self.run = Some(Run::new(variant, picture_until_s));
                plain(Value::Null)
            }
            Request::Advance { events } => plain(self.run()?.advance(events)),
            Request::Finish => self.finish(),
            Request::Picture { from_s } => self.picture(from_s),
            Request::ReadModem { name, text } => {
                let source = Source { text, name: name.clone(), modem: Some(name) };
                plain(modem::service(&self.variant(&source, 0)?))
            }
            Request::WriteModem { source, variant } => {
                let variant = self.variant(&source, variant)?;
                let (bytes, notes) = modem::file(&variant).map_err(one)?;
                Ok((json!({ "notes": notes }), bytes))
            }
        }
    }

    fn variants(&self, source: &Source) -> Result<Vec<Variant>, Vec<Problem>> {
        let modem = source.modem.as_deref().map(|name| self.modem(name)).transpose()?;
        let provision = modem.as_ref().map(|(config, source)| Provision { config, source });
        load_from(&source.text, &source.name, &[], provision.as_ref(), &self.files, MOST_BYTES)
            .map_err(all)
    }

    fn modem<'a>(
        &self,
        name: &'a str,
    ) -> Result<(sojourn_core::modem_config::ModemConfig, &'a str), Vec<Problem>> {
        let content =
            self.files.get(name).ok_or_else(|| refused(name, "the file was not brought"))?;
        Ok((modem::view(content, name).map_err(one)?, name))
    }

    fn variant(&self, source: &Source, number: usize) -> Result<Variant, Vec<Problem>> {
        let mut variants = self.variants(source)?;
        if number >= variants.len() {
            return Err(refused("variant", "no such variant"));
        }
        Ok(variants.swap_remove(number))
    }

    fn check(&self, source: &Source) -> Result<Value, Vec<Problem>> {
        let variants = self.variants(source)?;
        Ok(variants.iter().map(described).collect())
    }

    fn run(&mut self) -> Result<&mut Run, Vec<Problem>> {
        self.run.as_mut().ok_or_else(|| refused("run", "no run has started"))
    }

    fn finish(&mut self) -> Replied {
        let run = self.run()?;
        let seed = run.variant().scenario.seed;
        let results = run.results().ok_or_else(|| refused("run", "it has not come to its end"))?;
        let mut blob = Blob::default();
        Ok((shown(results, seed, &mut blob), blob.into_bytes()))
    }

    fn picture(&mut self, from_s: f64) -> Replied {
        let run = self.run()?;
        let scenario = run.variant().scenario.clone();
        let results = run.results().ok_or_else(|| refused("run", "it has not come to its end"))?;
        let mut blob = Blob::default();
        let value = picture::picture(results, &scenario, from_s, &mut blob);
        Ok((value, blob.into_bytes()))
    }
}

/// A request and its blob.
fn read(bytes: &[u8]) -> Result<(Request, &[u8]), Vec<Problem>> {
    let (size, rest) = bytes.split_first_chunk().ok_or_else(|| refused("request", "too short"))?;
    let size = u32::from_le_bytes(*size) as usize;
    let (json, blob) =
        rest.split_at_checked(size).ok_or_else(|| refused("request", "shorter than it says"))?;
    let request =
        serde_json::from_slice(json).map_err(|error| refused("request", &error.to_string()))?;
    Ok((request, blob))
}

fn about() -> Value {
    json!({
        "version": VERSION,
        "gallery": cases(),
        "schema": file_schema(),
        "tables": definitions(),
        "picture_s": SHOWN_S,
    })
}

/// A variant for a page: what it needs to know before it runs.
fn described(variant: &Variant) -> Value {
    let scenario = &variant.scenario;
    json!({
        "name": variant.name,
        "notes": variant.notes,
        "scenario": scenario,
        "duration_s": scenario.duration_s,
        "homes": scenario.groups().map(|group| u64::from(group.count)).sum::<u64>(),
        "picture_until_s": picture::latest_s(scenario),
    })
}

fn all(problems: Problems) -> Vec<Problem> {
    problems.told().cloned().collect()
}

fn one(problem: Problem) -> Vec<Problem> {
    vec![problem]
}

fn refused(path: &str, message: &str) -> Vec<Problem> {
    let (path, message) = (path.to_owned(), message.to_owned());
    one(Problem { source: String::new(), line: None, path, message })
}
