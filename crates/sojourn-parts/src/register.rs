//! From a program to a kind that scenarios may choose.

use std::sync::Arc;

use serde_json::Value;

use sojourn_engine::aqm::{AqmParameters, AqmSpec};
use sojourn_input::parts::Kinds;
use sojourn_scenario::Parts;
use sojourn_scenario::apps::{AppParameters, AppSpec};
use sojourn_scenario::controllers::{ControllerParameters, ControllerSpec};
use sojourn_transport::cc::{CongestionParameters, CongestionSpec};

use super::controller::{self, Settings};
use super::hook::Role;
use super::program::Program;
use super::registered::Registered;
use super::traffic::{self, Source};
use super::values::{self, Values};

/// Adds a program to the parts that scenarios may choose, by the name of its declaration.
///
/// # Errors What of its declaration cannot be: what was found, and what is allowed.
pub fn register(parts: Parts, program: Arc<dyn Program>) -> Result<Parts, String> {
    program.declaration().check()?;
    Ok(add_program(parts, program))
}

/// Adds a program whose declaration has been checked, or is one that was stored.
pub(crate) fn add_program(parts: Parts, program: Arc<dyn Program>) -> Parts {
    let part = Arc::new(Registered::new(program));
    match part.declaration().role {
        Role::Law => add::<AqmSpec>(parts, part, |part, table| {
            Values::take(part, table).map(|law| Box::new(law) as Box<dyn AqmParameters>)
        }),
        Role::Control => add::<CongestionSpec>(parts, part, |part, table| {
            Values::take(part, table)
                .map(|control| Box::new(control) as Box<dyn CongestionParameters>)
        }),
        Role::Traffic => add::<AppSpec>(parts, part, |part, table| {
            Source::take(part, table).map(|source| Box::new(source) as Box<dyn AppParameters>)
        }),
        Role::Controller => add::<ControllerSpec>(parts, part, |part, table| {
            Settings::take(part, table).map(|of| Box::new(of) as Box<dyn ControllerParameters>)
        }),
    }
}

type Read<P> = serde_json::Result<Box<P>>;
type Table = serde_json::Map<String, Value>;

fn add<K: Kinds>(
    parts: Parts,
    part: Arc<Registered>,
    read: fn(&Arc<Registered>, &mut Table) -> Read<K::Parameters>,
) -> Parts {
    let kind = part.declaration().name.clone();
    let described = part.clone();
    let schema = move |generator: &mut schemars::SchemaGenerator| {
        let declaration = described.declaration();
        let own = values::schema(declaration);
        match declaration.role {
            Role::Traffic => values::with_common::<traffic::Common>(own, generator),
            Role::Controller => values::with_common::<controller::Common>(own, generator),
            Role::Law | Role::Control => own,
        }
    };
    parts.add::<K>(&kind, schema, move |table| {
        let mut table = serde_json::from_value(table)?;
        read(&part, &mut table)
    })
}
