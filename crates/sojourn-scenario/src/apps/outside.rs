//! Real packets that come from outside the simulation, between a home and a server.
//!
//! They are those of the first home of the entry's group. Each is classified by its own header.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{App, AppContext, AppParameters, Event, Load, Model, Quality};
use sojourn_engine::rng::Rng;
use sojourn_engine::units::Time;

/// Parameters of real packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Outside")]
pub struct Parameters {
    /// Server at the other end. Default: the first of `servers`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(extend("x-role" = "line"))]
    pub server: String,
}

impl AppParameters for Parameters {
    one_server!();

    fn start(&self, _server: &dyn Fn(&str) -> u16) -> App {
        Real.into()
    }

    fn load(&self, _seconds: f64) -> Load {
        Load::default()
    }

    fn acts_on_its_own(&self) -> bool {
        true
    }

    fn quality(&self) -> Quality {
        Quality::Unscored
    }
}

/// Somebody else sends.
pub struct Real;

impl Model for Real {
    fn start(&self, _rng: &mut Rng) -> Time {
        Time::NEVER
    }

    fn on_event(&mut self, _event: Event, _context: &mut AppContext) {}
}
