//! A congestion control of your own: additive increase, and a decrease by a random factor from a stream of
//! random numbers of its own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn::engine::rng::{Rng, Seed};
use sojourn::engine::units::Time;
use sojourn::transport::cc::{
    Ack, CongestionControl, CongestionParameters, Connection, Controller, Window,
};

/// Its keys in scenarios.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Parameters {
    /// Segments gained per round trip.
    #[schemars(range(min = 0.01, max = 100.0))]
    pub gain_segments: f64,
    /// The least share of the window that a loss leaves; the most is 0.9.
    #[schemars(range(min = 0.1, max = 0.9))]
    pub least_left: f64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { gain_segments: 1.0, least_left: 0.5 }
    }
}

impl CongestionParameters for Parameters {
    fn start(&self, _connection: &Connection, seed: Seed) -> Controller {
        Controller::Outside(Box::new(RandomDecrease { keys: self.clone(), rng: seed.open() }))
    }
}

struct RandomDecrease {
    keys: Parameters,
    rng: Rng,
}

impl CongestionControl for RandomDecrease {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if window.in_slow_start() {
            window.cwnd += ack.segments;
        } else {
            window.cwnd += self.keys.gain_segments * ack.segments / window.cwnd;
        }
    }

    fn on_loss(&mut self, window: &mut Window, flight: f64, _now: Time) {
        let least = self.keys.least_left;
        let left = least + (0.9 - least).max(0.0) * self.rng.uniform();
        window.ssthresh = (flight * left).max(2.0);
        window.cwnd = window.ssthresh;
    }

    fn on_timeout(&mut self, window: &mut Window, flight: f64, _now: Time) {
        window.ssthresh = (flight / 2.0).max(2.0);
        window.cwnd = 1.0;
    }
}

/// Two uploads share a line.
pub const HOME: &str = "
    duration_s = 30
    upstream.sustained_mbps = 20
    downstream.sustained_mbps = 200
    servers.near.delay_ms = 10

    [traffic]
    cubic = { kind = 'transfer', direction = 'up', tcp.congestion_control.kind = 'cubic' }
    own = { kind = 'transfer', direction = 'up', tcp.congestion_control = { kind = 'own', least_left = 0.6 } }
";
