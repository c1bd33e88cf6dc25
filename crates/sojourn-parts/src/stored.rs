//! Stored scenarios, which are read without the parts that ran.

use std::sync::Arc;

use serde_json::Value;

use sojourn_engine::aqm::AqmSpec;
use sojourn_scenario::Parts;
use sojourn_scenario::apps::AppSpec;
use sojourn_scenario::controllers::ControllerSpec;
use sojourn_transport::cc::CongestionSpec;

use super::declaration::Declaration;
use super::hook::{DIGEST, EXTENDED, Role};
use super::parameter::{Number, Parameter};
use super::program::{Cause, Instance, Program};
use super::register::add_program;
use super::setting::Setting;

/// Stand-ins for the parts of a stored scenario. They have the keys that it gives them and are what the metadata of the
/// results says by their digests (`parts`); they cannot run.
pub fn stand_ins(scenario: &Value, parts: &Value) -> Parts {
    let mut found = Found { parts, declarations: Vec::new() };
    found.look(&[], scenario);
    let add = |all, declaration| add_program(all, Arc::new(StandIn(declaration)));
    found.declarations.into_iter().fold(Parts::default(), add)
}

/// What results keep of a declaration, by its digest: all but its folder, and its updates, as stand-ins have none.
pub fn kept(declaration: &Declaration) -> Value {
    let kept = Declaration {
        update: None,
        folder: String::new(),
        digest: String::new(),
        ..declaration.clone()
    };
    serde_json::to_value(kept).unwrap_or_default()
}

struct Found<'a> {
    parts: &'a Value,
    declarations: Vec<Declaration>,
}

impl Found<'_> {
    /// Looks for parts in the value at a path. Stored parts have a digest, as captures of kinds that are built in do.
    fn look(&mut self, path: &[&str], value: &Value) {
        let inside: Vec<(&str, &Value)> = match value {
            Value::Object(table) => table.iter().map(|(key, value)| (&**key, value)).collect(),
            Value::Array(items) => {
                items.iter().for_each(|item| self.look(path, item));
                return;
            }
            _ => return,
        };
        if let (Some((role, built_in)), Some(kind), Some(digest)) =
            (role_at(path), value["kind"].as_str(), value[DIGEST].as_str())
            && !built_in.contains(&kind)
        {
            let parameters = inside.iter().filter_map(|(key, value)| parameter(role, key, value));
            let parameters = parameters.collect();
            self.add(role, kind, digest, parameters);
        }
        for (key, value) in inside {
            self.look(&[path, &[key]].concat(), value);
        }
    }

    /// A part may be there several times, each with other values.
    fn add(&mut self, role: Role, kind: &str, digest: &str, parameters: Vec<Parameter>) {
        let is_it = |of: &&mut Declaration| of.role == role && of.name == kind;
        let Some(known) = self.declarations.iter_mut().find(is_it) else {
            let declaration = self.declared(role, kind, digest).unwrap_or_else(|| least(role));
            let (name, digest) = (kind.to_owned(), digest.to_owned());
            self.declarations.push(Declaration { name, digest, parameters, ..declaration });
            return;
        };
        for one in parameters {
            match known.parameters.iter_mut().find(|of| of.name == one.name) {
                Some(of) => of.choices.extend(one.choices),
                None => known.parameters.push(one),
            }
        }
    }

    /// A file may have several parts.
    fn declared(&self, role: Role, kind: &str, digest: &str) -> Option<Declaration> {
        let all = self.parts[digest]["declares"].as_array()?.iter();
        let mut read = all.filter_map(|one| serde_json::from_value(one.clone()).ok());
        read.find(|of: &Declaration| of.role == role && of.name == kind)
    }
}

/// What a part at this path is, and the kinds beside it that are built in.
fn role_at(path: &[&str]) -> Option<(Role, &'static [&'static str])> {
    match path {
        ["traffic", _] => Some((Role::Traffic, AppSpec::BUILT_IN)),
        [.., "law"] => Some((Role::Law, AqmSpec::BUILT_IN)),
        [.., "congestion_control"] => Some((Role::Control, CongestionSpec::BUILT_IN)),
        [.., "controller"] => Some((Role::Controller, ControllerSpec::BUILT_IN)),
        _ => None,
    }
}

/// A part of which nothing is known: it asks the least of a scenario.
fn least(role: Role) -> Declaration {
    let hooks = role.required().iter().chain(role.one_of().first());
    Declaration {
        role,
        name: String::new(),
        doc: String::new(),
        parameters: Vec::new(),
        gauges: Vec::new(),
        hooks: hooks.copied().collect(),
        update: None,
        paced: false,
        timestamps: false,
        folder: String::new(),
        score: None,
        direction: None,
        two_way: false,
        ecn: None,
        interface: EXTENDED,
        digest: String::new(),
    }
}

fn parameter(role: Role, key: &str, value: &Value) -> Option<Parameter> {
    let is_of_part = !matches!(value, Value::Null | Value::Object(_));
    let default = Some(value.clone()).filter(|_| is_of_part && !role.reserved().contains(&key))?;
    Some(Parameter {
        name: key.to_owned(),
        doc: String::new(),
        unit: String::new(),
        choices: value.as_str().map(str::to_owned).into_iter().collect(),
        default,
        file: false,
        min: None,
        max: None,
        number: Number::Real,
    })
}

struct StandIn(Declaration);

impl Program for StandIn {
    fn declaration(&self) -> &Declaration {
        &self.0
    }

    fn start(&self, _parameters: &[Setting], _seed: u64) -> Result<Box<dyn Instance>, Cause> {
        Err("stored results name this part, and do not hold it".into())
    }
}
