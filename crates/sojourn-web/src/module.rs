//! What requests do.

use serde_json::{Value, json};
use sojourn::access::modem_config::ModemConfig;
use sojourn::input::document::parse;
use sojourn::input::problem::{Problem, Problems, Warning};
use sojourn::outside::has_all_records;
use sojourn::results::verdict::{Facts, Group, verdict};
use sojourn::scenario::estimate;
use sojourn::scenario::file_schema;
use sojourn::scenario::provision::Provision;
use sojourn::scenario::{Source, Variant, idle_lines, presets};
use sojourn::{Parts, VERSION};
use sojourn_wasm::declaration_of;

use crate::columns::Blob;
use crate::files::Kept;
use crate::gallery::cases;
use crate::line_log;
use crate::modem;
use crate::parts::Brought;
use crate::picture;
use crate::reply::{Reply, exact};
use crate::request::{Ran, Request, refused};
use crate::run::{Run, shown};

/// Memory that the runs of a page may need together; each has a module of its own.
const MOST_BYTES: u64 = 1_500_000_000;
/// Name of a scenario's text in messages.
const SCENARIO: &str = "scenario.toml";

/// The files and parts that a page has brought, and the run in progress.
#[derive(Default)]
pub struct Module {
    files: Kept,
    parts: Brought,
    run: Option<Run>,
}

type Replied = Result<(Value, Vec<u8>), Vec<Problem>>;

impl Module {
    /// Replies to a request; [`crate::request`] has its form.
    pub fn handle(&mut self, bytes: &[u8]) -> Reply {
        let replied = Request::read(bytes).map_err(one).and_then(|request| self.replied(&request));
        match replied {
            Ok((value, blob)) => Reply::value(&value, blob),
            Err(faults) => Reply::faults(&faults),
        }
    }

    fn replied(&mut self, request: &Request) -> Replied {
        let text = || request.text("text").map_err(one);
        let value = match request.text("verb").map_err(one)? {
            "about" => about(),
            "document" => exact(parse(text()?, "").map_err(all)?),
            "check" => self.check(text()?)?,
            "keep" => {
                let name = request.text("name").map_err(one)?;
                self.files.keep(name.to_owned(), request.blob.to_vec());
                Value::Null
            }
            "part" => self.take_part(request).map_err(one)?,
            "schema" => self.parts().map_err(one)?.file_schema().map_err(all)?,
            "start" => {
                let variant = self.variant(text()?, request)?;
                // The old simulation goes first, so that there is memory for one alone.
                self.run = None;
                self.run = Some(Run::new(variant, request.measure("picture_until_s")));
                Value::Null
            }
            "advance" => {
                let events = request.number("events").map_err(one)?;
                self.run()?.advance(events).map_err(|failure| one(refused("", &failure)))?
            }
            "finish" => return self.finish(),
            "judge" => self.judge(text()?, &request.runs().map_err(one)?)?,
            "picture" => return self.picture(request.measure("from_s").unwrap_or_default()),
            "read_log" => {
                let name = request.text("name").map_err(one)?;
                let span = |from, to| request.measure(from).zip(request.measure(to));
                let down_s = span("down_from_s", "down_to_s");
                let up_s = span("up_from_s", "up_to_s");
                let interval_s = request.measure("interval_s");
                line_log::answer(name, request.blob, down_s, up_s, interval_s).map_err(one)?
            }
            "read_modem" => self.read_modem(request.text("name").map_err(one)?, text()?)?,
            "write_modem" => {
                let variant = self.variant(text()?, request)?;
                let (bytes, notes) = modem::file(&variant).map_err(one)?;
                return Ok((json!({ "notes": notes }), bytes));
            }
            verb => return Err(one(refused("verb", &format!("found {verb:?}")))),
        };
        Ok((value, Vec::new()))
    }

    fn take_part(&mut self, request: &Request) -> Result<Value, Problem> {
        let (number, digest) = (request.number("number")?, request.text("digest")?);
        let interface = u32::try_from(request.number("interface")?).unwrap_or_default();
        let functions = request.texts("functions")?;
        let declaration = declaration_of(request.blob, digest, &functions, interface);
        let taken = declaration.and_then(|declaration| self.parts.take(number, declaration));
        taken.map_err(|fault| refused("", &fault))
    }

    fn parts(&self) -> Result<Parts, Problem> {
        self.parts.parts().map_err(|fault| refused("", &fault))
    }

    fn check(&self, text: &str) -> Result<Value, Vec<Problem>> {
        let own = self.load(text, SCENARIO, None)?;
        let idle = idle_lines(&own);
        let variants = own.iter().map(|variant| described(variant, false));
        Ok(variants.chain(idle.iter().map(|variant| described(variant, true))).collect())
    }

    fn load(
        &self,
        text: &str,
        name: &str,
        modem: Option<&(ModemConfig, Vec<Warning>)>,
    ) -> Result<Vec<Variant>, Vec<Problem>> {
        let provision =
            modem.map(|(config, problems)| Provision { config, problems, source: name });
        Source::new(text, name)
            .overlay(provision.as_ref().map(|provision| provision as _))
            .files(&self.files)
            .parts(&self.parts().map_err(one)?)
            .most_bytes(MOST_BYTES)
            .load()
            .and_then(|variants| {
                let lack = |one: &Variant| has_all_records(&one.scenario, name);
                variants.iter().try_for_each(lack).map(|()| variants)
            })
            .map_err(all)
    }

    /// The variants of a scenario, and their idle lines last.
    fn variants(&self, text: &str) -> Result<Vec<Variant>, Vec<Problem>> {
        let mut variants = self.load(text, SCENARIO, None)?;
        variants.extend(idle_lines(&variants));
        Ok(variants)
    }

    fn variant(&self, text: &str, request: &Request) -> Result<Variant, Vec<Problem>> {
        let number = request.number("variant").map_err(one)?;
        let variants = self.variants(text)?;
        variants.into_iter().nth(number as usize).ok_or_else(no_such_variant)
    }

    fn run(&mut self) -> Result<&mut Run, Vec<Problem>> {
        self.run.as_mut().ok_or_else(|| one(refused("run", "no run has started")))
    }

    fn finish(&mut self) -> Replied {
        let run = self.run()?;
        let seed = run.variant().scenario.seed;
        let results = run.results().ok_or_else(not_at_the_end)?;
        let mut blob = Blob::default();
        Ok((shown(results, seed, &mut blob), blob.into_bytes()))
    }

    fn picture(&mut self, from_s: f64) -> Replied {
        let run = self.run()?;
        let scenario = run.variant().scenario.clone();
        let results = run.results().ok_or_else(not_at_the_end)?;
        let mut blob = Blob::default();
        let value = picture::picture(results, &scenario, from_s, &mut blob);
        Ok((value, blob.into_bytes()))
    }

    fn judge(&self, text: &str, runs: &[Ran]) -> Result<Value, Vec<Problem>> {
        let variants = self.variants(text)?;
        let of = |run: &Ran| {
            let variant = variants.get(run.number).ok_or_else(no_such_variant)?;
            Ok((variant.name.as_str(), Facts::of(&variant.scenario, &run.rows)))
        };
        let facts = runs.iter().map(of).collect::<Result<Vec<_>, Vec<Problem>>>()?;
        let group = |(name, facts)| Group { name, variant: name, point: &[], runs: vec![facts] };
        let groups: Vec<_> = facts.iter().map(|(name, facts)| group((*name, facts))).collect();
        Ok(serde_json::to_value(verdict(&groups, &[])).expect("a verdict is plain data"))
    }

    fn read_modem(&self, name: &str, text: &str) -> Result<Value, Vec<Problem>> {
        let content =
            self.files.get(name).ok_or_else(|| one(refused(name, "the file was not brought")))?;
        let modem = modem::view(content, name).map_err(one)?;
        let variants = self.load(text, name, Some(&modem))?;
        Ok(modem::service(variants.first().ok_or_else(no_such_variant)?))
    }
}

fn about() -> Value {
    json!({
        "version": VERSION,
        "gallery": cases(),
        "presets": presets(),
        "schema": file_schema(),
        "most_bytes": MOST_BYTES,
    })
}

/// A variant for a page: what it needs to know before it runs.
fn described(variant: &Variant, is_baseline: bool) -> Value {
    let scenario = &variant.scenario;
    json!({
        "name": variant.name,
        "is_baseline": is_baseline,
        "notes": variant.notes,
        "scenario": scenario,
        "duration_s": scenario.duration_s,
        "memory_bytes": estimate(scenario).bytes(),
        "homes": scenario.groups().map(|group| u64::from(group.count)).sum::<u64>(),
        "picture_until_s": picture::latest_s(scenario),
    })
}

fn all(problems: Problems) -> Vec<Problem> {
    problems.reported().cloned().collect()
}

fn one(problem: Problem) -> Vec<Problem> {
    vec![problem]
}

fn no_such_variant() -> Vec<Problem> {
    one(refused("variant", "there is none of this number"))
}

fn not_at_the_end() -> Vec<Problem> {
    one(refused("run", "it has not come to its end"))
}
