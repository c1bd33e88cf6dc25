//! Stored scenarios, which are read without the parts that ran.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use sojourn_scenario::Parts;

use super::declaration::Declaration;
use super::hook::{DIGEST, EXTENDED, Hook, Role};
use super::parameter::{Number, Parameter};
use super::program::{Cause, Instance, Program};
use super::register::register;
use super::setting::Setting;

/// Stand-ins for the parts of a stored scenario. They have the keys that it gives them, and cannot run.
pub fn stand_ins(scenario: &Value) -> Parts {
    let mut found = Found::default();
    found.look("", scenario);
    found.parts
}

#[derive(Default)]
struct Found {
    names: BTreeSet<(&'static str, String)>,
    parts: Parts,
}

impl Found {
    /// Looks for parts in the value of a key. Stored parts have a digest.
    fn look(&mut self, key: &str, value: &Value) {
        let inside: Vec<(&str, &Value)> = match value {
            Value::Object(table) => table.iter().map(|(key, value)| (&**key, value)).collect(),
            Value::Array(items) => items.iter().map(|item| (key, item)).collect(),
            _ => return,
        };
        if let (Some(kind), Some(digest)) = (value["kind"].as_str(), value[DIGEST].as_str()) {
            let role = match key {
                "law" => Role::Law,
                "congestion_control" => Role::Control,
                "controller" => Role::Controller,
                _ => Role::Traffic,
            };
            let parameters = inside.iter().filter_map(|(key, value)| parameter(role, key, value));
            self.add(declaration(role, kind, digest, parameters.collect()));
        }
        inside.into_iter().for_each(|(key, value)| self.look(key, value));
    }

    fn add(&mut self, declaration: Declaration) {
        let name = (declaration.role.name(), declaration.name.clone());
        let parts = register(self.parts.clone(), Arc::new(StandIn(declaration)));
        // What cannot be a part stays unknown, and whoever reads the scenario says so.
        if let (Ok(parts), true) = (parts, self.names.insert(name)) {
            self.parts = parts;
        }
    }
}

fn declaration(role: Role, kind: &str, digest: &str, parameters: Vec<Parameter>) -> Declaration {
    let hooks = match role {
        Role::Law => vec![Hook::OnEmpty],
        Role::Controller => vec![Hook::OnProbe],
        Role::Control | Role::Traffic => role.hooks().to_vec(),
    };
    Declaration {
        role,
        name: kind.to_owned(),
        doc: String::new(),
        parameters,
        gauges: Vec::new(),
        hooks,
        update: None,
        paced: false,
        timestamps: false,
        folder: String::new(),
        score: None,
        direction: None,
        two_way: false,
        ecn: None,
        interface: EXTENDED,
        digest: digest.to_owned(),
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
