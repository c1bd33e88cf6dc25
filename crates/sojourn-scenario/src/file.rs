//! Scenario files: from text to scenarios, and back.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::capture::Captures;
use super::estimate::estimate;
use super::files::{Disk, Files};
use super::labels::{Overridden, at, distinct, file_name};
use super::overlay::{COMPARE, Overlay, Set, merge, variants_schema};
use super::parts::Parts;
use super::rates::in_whole_bits;
use super::ruled::{Idle, unread_by_all, unread_keys};
use super::schema::Scenario;
use super::variant::{Origin, Read, Variant};
use super::{changes, check, former};
use sojourn_input::fault;
use sojourn_input::problem::{Code, Fault, Faults, Problem, Problems, Warning};
use sojourn_input::schema_check::Checker;
use sojourn_input::text::{Document, Lines};
use sojourn_input::words;

/// The scenario's table of groups of homes.
pub(crate) const HOMES: &str = "homes";
/// What groups of homes may have of their own beside their service.
const ROUTER: &str = "router";
/// The scenario's tables of a home's service, which groups of homes may override.
pub(crate) const DIRECTIONS: [&str; 2] = ["upstream", "downstream"];

/// Values of all variants together; these take half a minute.
const MOST_VALUES: usize = 1_000_000;

/// Reads a scenario file: its runs, checked.
///
/// `text` is the file's text and `source` its name in messages; paths of captures are relative to
/// the directory of `source`. Each of `sets` is `key.path=value` and overrides the file and its
/// variants; a set that begins with `compare.` changes a variant.
///
/// # Errors All problems of the file, or those of the text itself.
pub fn load(text: &str, source: &str, sets: &[String]) -> Result<Vec<Variant>, Problems> {
    Source::new(text, source).sets(sets).load()
}

/// The text of a scenario file, and what it is read with.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    text: &'a str,
    name: &'a str,
    sets: &'a [String],
    overlay: Option<&'a dyn Overlay>,
    files: &'a dyn Files,
    parts: Option<&'a Parts>,
    most_bytes: u64,
}

impl<'a> Source<'a> {
    /// A text with its name in messages. Paths in it are relative to the directory of that name.
    pub fn new(text: &'a str, name: &'a str) -> Self {
        let (overlay, parts) = (None, None);
        Self { text, name, sets: &[], overlay, files: &Disk, parts, most_bytes: u64::MAX }
    }

    /// With settings that override everything, each as `key.path=value`.
    pub fn sets(self, sets: &'a [String]) -> Self {
        Self { sets, ..self }
    }

    /// With an overlay that overrides the file and its variants.
    pub fn overlay(self, overlay: Option<&'a dyn Overlay>) -> Self {
        Self { overlay, ..self }
    }

    /// With captures and traces from there instead of this machine's disk.
    pub fn files(self, files: &'a dyn Files) -> Self {
        Self { files, ..self }
    }

    /// With kinds from outside beside the built-in ones.
    pub fn parts(self, parts: &'a Parts) -> Self {
        Self { parts: Some(parts), ..self }
    }

    /// A variant whose run may need more bytes of memory is refused.
    pub fn most_bytes(self, most_bytes: u64) -> Self {
        Self { most_bytes, ..self }
    }

    /// Reads and checks the scenario, with all its variants.
    ///
    /// # Errors All problems: where each is, what was found and what is allowed.
    pub fn load(self) -> Result<Vec<Variant>, Problems> {
        let Self { text, name: source, sets, overlay, files, parts, most_bytes } = self;
        let parts = parts.cloned().unwrap_or_default();
        let sets = all_of(sets.iter().map(|set| Set::parse(set).map_err(Problems::from)))?;
        let (mut base, lines) = Document::parse(text, source)?.into_parts();
        if base.get("scenario").is_some_and(Value::is_string) {
            let message = "found a sweep file; allowed: a scenario; `sojourn sweep` runs sweeps";
            let fault = Fault::of_code(Code::NotAScenario, "scenario", message);
            return Err(fault.of(source).into());
        }
        let written = base.clone();
        for set in &sets {
            set.apply(&mut base)?;
        }
        let compare = base.as_object_mut().and_then(|table| table.shift_remove(COMPARE));
        // Without variants, an unknown-key message should list `compare` among the allowed keys.
        let checker = parts.checker(compare.is_none())?;
        let captures = Some(Captures::beside(source, files));
        let (shared, compared) = Default::default();
        let file = File {
            source,
            lines,
            sets,
            base,
            written,
            overlay,
            parts,
            checker,
            captures,
            most_bytes,
            shared,
            compared,
        };
        let mut variants = match compare {
            None => vec![file.variant("", &json!({}))?],
            Some(compare) => file.variants(&compare)?,
        };
        let unread = unread_by_all(variants.iter().map(|variant| &variant.scenario));
        let unread: Vec<Warning> = unread.into_iter().map(Idle::warning).collect();
        variants.iter_mut().for_each(|variant| variant.notes.extend(unread.iter().cloned()));
        Ok(variants)
    }

    /// Reads the complete scenario of stored results, and checks it. Its captures and traces are not read, for
    /// they may be gone.
    ///
    /// # Errors All problems of the scenario, or those of the text itself.
    pub fn load_stored(self) -> Result<Scenario, Problems> {
        let Self { text, name: source, sets, parts, .. } = self;
        let parts = parts.cloned().unwrap_or_default();
        let (mut base, lines) = Document::parse(text, source)?.into_parts();
        for set in sets {
            Set::parse(set)?.apply(&mut base)?;
        }
        let file = File {
            source,
            lines,
            sets: Vec::new(),
            base,
            written: Value::Null,
            overlay: None,
            checker: parts.checker(false)?,
            parts,
            captures: None,
            most_bytes: u64::MAX,
            shared: OnceCell::new(),
            compared: OnceCell::new(),
        };
        match file.scenario(&file.base) {
            Ok((scenario, _)) => Ok(scenario),
            Err(faults) => Err(file.reported(faults, "").expect_err("a refusal has a fault")),
        }
    }
}

impl Variant {
    /// This variant with other keys: what [`Source::sets`] would make of its file, without reading that again. Each of
    /// `sets` is a `key.path=value`. Its name stays.
    ///
    /// # Errors As [`Source::load`]; a variant that was not read from a file has no keys to replace.
    pub fn replace(&self, sets: &[impl AsRef<str>]) -> Result<Self, Problems> {
        let Some(read) = self.origin.as_ref().map(Origin::read) else {
            let message = "found a variant that was made from others, as an idle line; allowed: one of a scenario";
            return Err(Fault::new("", message).of(&self.name).into());
        };
        let sets = sets.iter().map(|set| Set::parse(set.as_ref()).map_err(Problems::from));
        let sets = all_of(sets)?;
        let mut keys = read.keys.clone();
        for set in &sets {
            if set.is_for_variants() {
                let message = "found the table of variants; allowed: keys of this one";
                return Err(Fault::new(COMPARE, message).of(&set.source).into());
            }
            set.apply(&mut keys)?;
        }
        let file = File {
            source: &read.source,
            lines: Lines::default(),
            sets,
            base: keys.clone(),
            written: Value::Null,
            overlay: None,
            parts: read.parts.clone(),
            checker: read.parts.checker(false)?,
            captures: Some(Captures::beside(&read.source, &Disk)),
            most_bytes: read.most_bytes,
            shared: OnceCell::new(),
            compared: OnceCell::new(),
        };
        let Self { name, kept_name, .. } = self.clone();
        let (scenario, mut notes) = match file.scenario(&keys) {
            Ok(read) => read,
            Err(faults) => {
                return Err(file.reported(faults, "").expect_err("a refusal has a fault"));
            }
        };
        notes.extend(scenario.without_traffic());
        notes.extend(unread_keys(&scenario).into_iter().map(Idle::warning));
        let changes = changes::relied_on(&keys);
        Ok(Self { name, kept_name, scenario, notes, changes, origin: Some(file.origin(keys)) })
    }
}

/// The paths of keys that another table has not, or with other values.
fn changed(value: &Value, other: Option<&Value>, path: &str, into: &mut BTreeSet<String>) {
    match value {
        Value::Object(table) => {
            for (key, value) in table {
                let other = other.and_then(|other| other.get(key));
                changed(value, other, &words::join(path, key), into);
            }
        }
        value if other != Some(value) => drop(into.insert(path.to_owned())),
        _ => {}
    }
}

/// Numbers, strings and others that are no tables or lists.
fn values_in(value: &Value) -> usize {
    match value {
        Value::Object(table) => table.values().map(values_in).sum(),
        Value::Array(items) => items.iter().map(values_in).sum(),
        _ => 1,
    }
}

/// A record is of the variants on whose line it was made: the others are left out, if there are such, which say so.
fn of_the_record(
    read: Vec<(&String, Result<Variant, Problems>)>,
) -> Vec<Result<Variant, Problems>> {
    let is_of_another = |of: &Result<Variant, Problems>| {
        let problems = of.as_ref().err();
        problems.is_some_and(|all| all.reported().all(|one| one.code == Code::OtherLine))
    };
    let (others, mut own): (Vec<_>, Vec<_>) =
        read.into_iter().partition(|(_, of)| is_of_another(of));
    if others.is_empty() || own.is_empty() {
        return others.into_iter().chain(own).map(|(_, of)| of).collect();
    }
    let left_out: Vec<_> = others.iter().map(|(name, _)| format!("{name:?}")).collect();
    let left_out = left_out.join(", ");
    let note = fault!(OtherLine, COMPARE =>
        "the record is of another line than that of {left_out}, where its packets are not sent; allowed: \
         `--replay-anyway`, which sends them there too", left_out);
    for variant in own.iter_mut().filter_map(|(_, of)| of.as_mut().ok()) {
        variant.notes.push(note.clone());
    }
    own.into_iter().map(|(_, of)| of).collect()
}

/// What all succeed in giving, or the problems of all that fail.
fn all_of<T>(results: impl Iterator<Item = Result<T, Problems>>) -> Result<Vec<T>, Problems> {
    let (mut values, mut problems) = (Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok(value) => values.push(value),
            Err(more) => problems.extend(more.reported().cloned()),
        }
    }
    Problems::of(problems).map_or(Ok(values), Err)
}

/// A scenario with all its defaults as TOML. Loading it gives an equal scenario.
pub fn to_toml(scenario: &Scenario) -> String {
    match serde_json::to_value(scenario) {
        Ok(value) => toml_of(value),
        Err(error) => format!("# cannot be written as TOML: {error}\n"),
    }
}

/// Keys as TOML, without those that are unset.
pub(crate) fn toml_of(keys: Value) -> String {
    let text = toml::to_string_pretty(&without_nulls(keys));
    text.unwrap_or_else(|error| format!("# cannot be written as TOML: {error}\n"))
}

/// TOML has no null, so keys that are unset are left out.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(table) => {
            let set = table.into_iter().filter(|(_, value)| !value.is_null());
            set.map(|(key, value)| (key, without_nulls(value))).collect()
        }
        Value::Array(items) => items.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

/// A file with `--set` values applied and its variants split off.
struct File<'a> {
    source: &'a str,
    lines: Lines,
    sets: Vec<Set>,
    base: Value,
    /// The file as it is written: with its variants, without `--set` values.
    written: Value,
    overlay: Option<&'a dyn Overlay>,
    /// Kinds from outside.
    parts: Parts,
    checker: Arc<Checker>,
    /// Where captures are read; `None` if they stay unread.
    captures: Option<Captures<'a>>,
    most_bytes: u64,
    /// Faults of the scenario without its variants, once they are asked for.
    shared: OnceCell<Vec<Fault>>,
    /// The scenario and its variants as they are written, and with the overlay.
    compared: OnceCell<(Vec<Value>, Vec<Value>)>,
}

impl File<'_> {
    fn variants(&self, compare: &Value) -> Result<Vec<Variant>, Problems> {
        self.reported(Checker::new(variants_schema()).check(compare, COMPARE), "")?;
        let variants = compare.as_object().into_iter().flatten();
        let (count, each) = (variants.clone().count(), values_in(&self.base));
        if count * each > MOST_VALUES {
            let fault = fault!(TooLarge, COMPARE =>
                "found {count} variants of a scenario of {each} values; allowed: {allowed} values or fewer in all \
                 variants together", count, each, allowed = MOST_VALUES);
            return Err(fault.of(self.source).into());
        }
        let read = variants.map(|(name, overlay)| (name, self.variant(name, overlay)));
        all_of(of_the_record(read.collect()).into_iter()).map(distinct)
    }

    fn variant(&self, name: &str, own: &Value) -> Result<Variant, Problems> {
        let mut value = self.base.clone();
        merge(&mut value, own);
        let variants = &self.written[COMPARE];
        let mut overridden =
            Overridden::of(variants.get(name).unwrap_or(own), variants, &self.written);
        let within = self.sets.iter().filter(|set| set.is_of(name));
        within.for_each(|set| overridden.within(&set.label(), own));
        // The base has all sets already: what each of them changes shows in the file as it is written.
        let mut written = self.written.clone();
        merge(&mut written, own);
        let mut own_keys = value.clone();
        let mut notes = self.overlay.map_or_else(Vec::new, |overlay| {
            overlay.apply(&mut written);
            let overrides = |path: &str| self.is_levelled(overlay, path);
            overridden.by(&file_name(overlay.source()), &written, overrides);
            overlay.apply(&mut value)
        });
        for set in self.sets.iter().filter(|set| !set.is_for_variants()) {
            set.apply(&mut value)?;
            set.apply(&mut own_keys)?;
            set.apply(&mut written)?;
            overridden.by(&set.label(), &written, |_| false);
        }
        let scenario = match self.scenario(&value) {
            Ok((mut scenario, reported)) => {
                if let Some(overlay) = self.overlay {
                    scenario.provisioned.file = file_name(overlay.source());
                    let keys = &mut scenario.provisioned.keys;
                    changed(&value, Some(&own_keys), "", keys);
                }
                notes.extend(reported);
                notes.extend(scenario.without_traffic());
                notes.extend(unread_keys(&scenario).into_iter().map(Idle::warning));
                notes.extend(scenario.provisioning.unused(self.overlay.is_some()));
                scenario
            }
            Err(faults) => {
                return Err(self.reported(faults, name).expect_err("a refusal has a fault"));
            }
        };
        let (name, kept_name) = overridden.names(name);
        let changes = changes::relied_on(&value);
        let origin = Some(self.origin(value));
        Ok(Variant { name, kept_name, scenario, notes, changes, origin })
    }

    /// What the keys of a variant are read from.
    fn origin(&self, keys: Value) -> Origin {
        let source = self.source.to_owned();
        Origin::new(Read { source, keys, parts: self.parts.clone(), most_bytes: self.most_bytes })
    }

    /// Do the variants differ in this key as they are written, and not with a modem's file?
    fn is_levelled(&self, overlay: &dyn Overlay, path: &str) -> bool {
        let (without, with) = self.compared.get_or_init(|| {
            let mut without = vec![self.written.clone()];
            for (_, own) in self.written[COMPARE].as_object().into_iter().flatten() {
                let mut variant = self.written.clone();
                merge(&mut variant, own);
                without.push(variant);
            }
            let mut with = without.clone();
            for variant in &mut with {
                overlay.apply(variant);
            }
            (without, with)
        });
        let differ = |all: &[Value]| all.iter().any(|one| at(one, path) != at(&all[0], path));
        differ(without) && !differ(with)
    }

    /// The scenario and what a user must know of its captures, or its faults: those of single keys, or else
    /// those between keys.
    fn scenario(&self, value: &Value) -> Result<(Scenario, Vec<Warning>), Faults> {
        let mut value = value.clone();
        let mut notes = former::renew(&mut value, "");
        let mut faults = self.checker.check(&value, "");
        if faults.is_empty() {
            faults = self.merge_homes(&mut value, &mut notes);
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        in_whole_bits(&mut value);
        let read = self.parts.within(|| serde_path_to_error::deserialize(&value));
        let mut scenario: Scenario = read.map_err(|error| {
            let path = error.path().to_string();
            Fault::new(path.trim_start_matches('.'), error.inner().to_string())
        })?;
        let mut faults = Faults::default();
        let filled = self.captures.as_ref().map(|captures| captures.fill(&mut scenario));
        match filled.unwrap_or(Ok(Vec::new())) {
            Ok(more) => notes.extend(more),
            Err(more) => faults.add(more),
        }
        scenario.fill();
        faults.add(check::check(&scenario));
        if faults.is_empty() {
            faults.add(estimate(&scenario).check(self.most_bytes));
        }
        if faults.is_empty() { Ok((scenario, notes)) } else { Err(faults) }
    }

    /// Merges what homes set for their upstream, downstream and router into copies of the scenario's tables.
    fn merge_homes(&self, value: &mut Value, notes: &mut Vec<Warning>) -> Faults {
        let base = value.clone();
        let mut faults = Faults::default();
        let homes = value.get_mut(HOMES).and_then(Value::as_object_mut);
        for (name, home) in homes.into_iter().flatten() {
            for key in DIRECTIONS.into_iter().chain([ROUTER]) {
                let Some(own) = home.get_mut(key).filter(|own| own.is_object()) else {
                    continue;
                };
                let mut merged = base.get(key).cloned().unwrap_or_else(|| Map::new().into());
                merge(&mut merged, own);
                let path = [HOMES, name, key]
                    .iter()
                    .fold(String::new(), |path, key| words::join(&path, key));
                notes.extend(former::renew(&mut merged, &path));
                faults.add(self.checker.check_key(key, &merged, &path));
                *own = merged;
            }
        }
        faults
    }

    /// The file or files in which a fault lies.
    fn source_of(&self, fault: &Fault) -> String {
        let is_of = |direction: &str| match *fault.path.split('.').collect::<Vec<_>>() {
            [first, ..] if first == direction => true,
            [homes, .., _] => homes == HOMES && fault.path.contains(&format!(".{direction}.")),
            _ => false,
        };
        match self.overlay {
            Some(overlay) if DIRECTIONS.into_iter().any(is_of) => {
                format!("{} with {}", self.source, overlay.source())
            }
            _ => self.source.to_owned(),
        }
    }

    /// The faults of a variant as problems, if there are any.
    fn reported(&self, faults: Faults, variant: &str) -> Result<(), Problems> {
        let problems = faults.into_iter().map(|fault| self.problem(fault, variant));
        Problems::of(problems).map_or(Ok(()), Err)
    }

    /// Names the origin of a fault: a `--set`, one variant, or the scenario that all variants
    /// share.
    fn problem(&self, fault: Fault, variant: &str) -> Problem {
        let is_shared = variant.is_empty() || self.is_shared(&fault);
        let given = if self.is_missing_from_a_new_table(&fault, variant) {
            fault.path.rsplit_once('.').map_or("", |(table, _)| table)
        } else {
            &fault.path
        };
        let set = self.sets.iter().rev().find(|set| set.gave(given, variant));
        let source = set.map_or_else(|| self.source_of(&fault), |set| set.source.clone());
        let fault = self.with_hint(fault, variant);
        let is_of_file = set.is_none() && !self.is_overlaid(&fault.path);
        let line = is_of_file.then(|| self.line_of(&fault.path, variant)).flatten();
        let path = match is_shared {
            true => fault.path.clone(),
            false => format!("variant {variant}: {}", fault.path),
        };
        Problem { line, ..Fault { path, ..fault }.of(&source) }
    }

    /// Does the overlay give a key, so that no line of the file does?
    fn is_overlaid(&self, path: &str) -> bool {
        self.overlay.is_some_and(|overlay| {
            let mut with = self.base.clone();
            overlay.apply(&mut with);
            at(&with, path) != at(&self.base, path)
        })
    }

    /// Is a key missing from a table that the file does not have, so that a `--set` made it?
    fn is_missing_from_a_new_table(&self, fault: &Fault, variant: &str) -> bool {
        let table = fault.path.rsplit_once('.').map(|(table, _)| table);
        fault.code == Code::Missing
            && table.is_some_and(|table| self.own_line_of(table, variant).is_none())
    }

    /// An unknown key may be one of the kind that a `--set` replaced: then it says how to replace all keys.
    fn with_hint(&self, fault: Fault, variant: &str) -> Fault {
        let is_unknown = fault.code == Code::UnknownKey;
        let hint = |set: &Set| set.whole_table(&fault.path, variant);
        match self.sets.iter().rev().find_map(hint).filter(|_| is_unknown) {
            None => fault,
            Some(hint) => Fault { message: format!("{}; {hint}", fault.message), ..fault },
        }
    }

    /// Is the scenario at fault, and not a variant of it?
    fn is_shared(&self, fault: &Fault) -> bool {
        let faults = || self.scenario(&self.base).err().into_iter().flatten().collect();
        self.shared.get_or_init(faults).contains(fault)
    }

    /// The line of the file that gives a key in a variant.
    fn line_of(&self, path: &str, variant: &str) -> Option<usize> {
        self.own_line_of(path, variant).or_else(|| self.lines.near(path))
    }

    /// The line that gives exactly this key in a variant, or in the scenario without variants.
    fn own_line_of(&self, path: &str, variant: &str) -> Option<usize> {
        let own = words::join(&words::join("", COMPARE), variant);
        let own = (!variant.is_empty()).then(|| self.lines.at(&format!("{own}.{path}"))).flatten();
        own.or_else(|| self.lines.at(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::file_schema;
    use sojourn_input::shape;

    /// Keywords that constrain nothing.
    const NOTES: &[&str] =
        &["title", "description", "default", "format", "$schema", "$defs", "x-role", "x-live"];
    #[rustfmt::skip]
    const CHECKED: &[&str] = &[
        "type", "minimum", "maximum", "minItems", "maxItems", "items", "minProperties",
        "maxProperties", "required", "properties", "additionalProperties", "const", "enum",
    ];

    fn assert_known(schema: &Value) {
        let Some(node) = schema.as_object() else {
            assert!(schema.is_boolean(), "{schema}");
            return;
        };
        let alone = ["$ref", "anyOf", "oneOf"].iter().find(|key| node.contains_key(**key));
        for key in node.keys().map(String::as_str) {
            let checked = alone.map_or(CHECKED.contains(&key), |alone| *alone == key);
            assert!(NOTES.contains(&key) || checked, "{key} is not checked in {schema}");
        }
        if let Some(options) = node.get("oneOf") {
            assert!(
                shape::choices(schema).is_some() || shape::kinds(schema).is_some(),
                "{options}"
            );
        }
        let lists = ["anyOf", "oneOf"].iter().filter_map(|key| node.get(*key)?.as_array());
        lists.flatten().for_each(assert_known);
        let tables = ["properties", "$defs"].iter().filter_map(|key| node.get(*key)?.as_object());
        tables.flat_map(|table| table.values()).for_each(assert_known);
        let nodes = ["items", "additionalProperties"].iter().filter_map(|key| node.get(*key));
        nodes.for_each(assert_known);
    }

    #[test]
    fn every_keyword_of_the_schema_is_checked() {
        assert_known(&file_schema());
    }
}
