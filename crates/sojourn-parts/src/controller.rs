//! A program as a rate controller of a router.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use sojourn_engine::record::Gauges;
use sojourn_engine::rng::Seed;
use sojourn_engine::units::Time;
use sojourn_scenario::controllers::{
    Answer, Controller, ControllerParameters, PROBE_BYTES, PROBE_INTERVAL_MS, Probing, Rates,
    Update,
};

use super::answers::{Refused, Worker, at_most, between};
use super::hook::Hook;
use super::registered::Registered;
use super::setting::in_short;
use super::values::Values;

/// What controllers of all programs have.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Common {
    /// Server that answers the probes. Default: the first of `servers`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    server: String,
    /// Time between probes in ms.
    #[serde(default = "interval_ms")]
    #[schemars(range(min = 1.0, max = 60_000.0))]
    probe_interval_ms: f64,
    /// Size of a probe and of its answer on the wire in bytes. Default: 98, of which 56 are data, as ping(8) sends.
    #[serde(default = "bytes")]
    #[schemars(range(min = 1, max = 1518))]
    probe_bytes: u16,
}

fn interval_ms() -> f64 {
    PROBE_INTERVAL_MS
}

fn bytes() -> u16 {
    PROBE_BYTES
}

/// The parameters of a controller.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Settings {
    #[serde(flatten)]
    common: Common,
    #[serde(flatten)]
    values: Values,
}

impl Settings {
    pub(crate) fn take(
        part: &Arc<Registered>,
        table: &mut Map<String, Value>,
    ) -> serde_json::Result<Self> {
        let (common, values) = Values::take_beside(part, table)?;
        Ok(Self { common, values })
    }
}

impl ControllerParameters for Settings {
    fn start(&self, _rates: Rates, seed: Seed) -> Box<dyn Controller + Send> {
        Box::new(Program { worker: Worker::start(&self.values, seed.open().bits()) })
    }

    fn probing(&self) -> Probing<'_> {
        let Common { server, probe_interval_ms, probe_bytes } = &self.common;
        let update_us = self.values.part.declaration().update_us(&self.values.settings);
        Probing {
            server,
            interval: Time::from_secs_f64(probe_interval_ms / 1e3),
            bytes: *probe_bytes,
            update: update_us.map_or(Time::NEVER, |us| Time::from_secs_f64(us / 1e6)),
        }
    }

    fn server_mut(&mut self) -> &mut String {
        &mut self.common.server
    }
}

/// A controller of plain numbers.
struct Program {
    worker: Worker,
}

impl Program {
    fn call(&mut self, hook: Hook, numbers: &[f64], rates: Rates) -> Rates {
        if !self.worker.has(hook) {
            return Rates::default();
        }
        let now = Time::from_secs_f64(numbers[0] / 1e6);
        let read = |answers: &[f64]| read_rates(answers, rates);
        let Some(wanted) = self.worker.call((hook, now), numbers, read) else {
            return Rates::default();
        };
        let is_other = |wanted: Option<f64>, now| wanted.is_some() && wanted != now;
        let is_changed =
            is_other(wanted.up_bps, rates.up_bps) || is_other(wanted.down_bps, rates.down_bps);
        self.worker.has_set("up_bps or down_bps", is_changed);
        wanted
    }
}

impl Controller for Program {
    fn on_probe(&mut self, answer: &Answer) -> Rates {
        let Answer { now_us, probe, rtt_us, up_us, down_us, rates } = *answer;
        let [up_bps, down_bps] = both(rates);
        let numbers = [now_us, rtt_us, up_us, down_us, up_bps, down_bps, probe as f64];
        self.call(Hook::OnProbe, &numbers, rates)
    }

    fn on_update(&mut self, update: &Update) -> Rates {
        let Update { now_us, interval_us, bytes, waiting, rates } = *update;
        let [up_bps, down_bps] = both(rates);
        let [up, down] = bytes.map(|bytes| bytes.map_or(f64::NAN, |bytes| bytes as f64));
        let numbers = [now_us, interval_us, up, down, up_bps, down_bps, waiting as f64];
        self.call(Hook::OnUpdate, &numbers, rates)
    }

    fn gauges(&self, out: &mut Gauges) {
        self.worker.gauges(out);
    }
}

fn both(rates: Rates) -> [f64; 2] {
    [rates.up_bps, rates.down_bps].map(|bps| bps.unwrap_or(f64::NAN))
}

/// The answers in order; those that are missing or NaN say nothing.
fn read_rates(answers: &[f64], now: Rates) -> Result<Rates, Refused> {
    let answers = at_most(answers, 2)?;
    let rate = |place: usize, way, now: Option<f64>| {
        let said = answers.get(place).copied().filter(|bps| !bps.is_nan());
        let read = |bps| match now {
            Some(_) => between(&format!("rate {way} in bit/s"), bps, [0.0, f64::MAX]),
            None => Err(Refused(format!(
                "found {} as rate {way} in bit/s; allowed: none, as the router has no shaper {way}",
                in_short(bps)
            ))),
        };
        said.map(read).transpose()
    };
    Ok(Rates { up_bps: rate(0, "up", now.up_bps)?, down_bps: rate(1, "down", now.down_bps)? })
}
