//! A rate controller of your own: the shaper's rate upstream rises by a step with each update, and falls by a share when a
//! probe takes longer than the fastest one and a target.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn::engine::rng::Seed;
use sojourn::engine::units::Time;
use sojourn::scenario::controllers::{
    Answer, Controller, ControllerParameters, PROBE_BYTES, Probing, Rates, Update,
};

/// Its keys in scenarios.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Parameters {
    /// Server that answers the probes. Default: the first of `servers`.
    pub server: String,
    /// Delay to hold, in ms beyond the fastest round trip.
    #[schemars(range(min = 1.0, max = 1000.0))]
    pub target_ms: f64,
    /// What each 100 ms add to the rate, in Mbps.
    #[schemars(range(min = 0.001, max = 1000.0))]
    pub step_mbps: f64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { server: String::new(), target_ms: 15.0, step_mbps: 0.05 }
    }
}

impl ControllerParameters for Parameters {
    fn start(&self, _rates: Rates, _seed: Seed) -> Box<dyn Controller + Send> {
        Box::new(Additive { keys: self.clone(), least_us: f64::INFINITY, fell_us: 0.0 })
    }

    fn probing(&self) -> Probing<'_> {
        let (interval, update) = (Time::from_ms(20), Time::from_ms(100));
        Probing { server: &self.server, interval, bytes: PROBE_BYTES, update }
    }

    fn server_mut(&mut self) -> &mut String {
        &mut self.server
    }
}

struct Additive {
    keys: Parameters,
    /// The fastest round trip.
    least_us: f64,
    /// When the rate fell last.
    fell_us: f64,
}

impl Controller for Additive {
    fn on_probe(&mut self, answer: &Answer) -> Rates {
        self.least_us = self.least_us.min(answer.rtt_us);
        let is_late = answer.rtt_us > self.least_us + 1e3 * self.keys.target_ms;
        if !is_late || answer.now_us - self.fell_us < answer.rtt_us {
            return Rates::default();
        }
        self.fell_us = answer.now_us;
        Rates { up_bps: answer.rates.up_bps.map(|bps| 0.85 * bps), down_bps: None }
    }

    fn on_update(&mut self, update: &Update) -> Rates {
        let risen = update.rates.up_bps.map(|bps| bps + 1e6 * self.keys.step_mbps);
        Rates { up_bps: risen, down_bps: None }
    }
}

/// A line whose rate falls to a half for 10 s of 20, behind a router with a fixed shaper and with this controller.
pub const HOME: &str = "
    duration_s = 30
    upstream = { sustained_mbps = 10, modem.kind = 'link',
                 capacity.steps = [{ for_s = 10, mbps = 10 }, { for_s = 10, mbps = 5 }] }
    downstream.sustained_mbps = 100
    router.upstream = { rate_mbps = 9, queue.scheduler.kind = 'cake' }
    servers.near.delay_ms = 10

    [traffic]
    game = { kind = 'stream', purpose = 'game' }
    upload = { kind = 'transfer', direction = 'up' }

    [compare]
    fixed = {}
    own.router.controller.kind = 'additive'
";
