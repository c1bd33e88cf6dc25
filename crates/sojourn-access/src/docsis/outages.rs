//! Times in which something does not work: a modem that has lost its ranging, a channel that is
//! lost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use sojourn_engine::units::Time;

/// A time without service.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Outage {
    /// When it begins, in s from the start of the run.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub start_s: f64,
    /// How long it lasts, in s.
    #[schemars(range(min = 0.001, max = 1_000_000.0))]
    pub length_s: f64,
}

impl Outage {
    /// Its start and end.
    pub fn span(&self) -> (Time, Time) {
        (Time::from_secs_f64(self.start_s), Time::from_secs_f64(self.start_s + self.length_s))
    }
}

/// Outages, of which there are few.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outages(Vec<(Time, Time)>);

impl Outages {
    /// Those of a scenario.
    pub(crate) fn new(outages: &[Outage]) -> Self {
        Self(outages.iter().map(Outage::span).collect())
    }

    /// Is there one now?
    #[inline]
    pub(crate) fn at(&self, now: Time) -> bool {
        !self.0.is_empty() && self.0.iter().any(|(from, until)| (*from..*until).contains(&now))
    }
}
