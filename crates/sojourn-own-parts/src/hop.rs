//! A hop of your own: a Wi-Fi-like link between the devices and the modem. It wins the medium after a random
//! time, and then sends all that waits, up to a limit, at once.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn::engine::count::Count;
use sojourn::engine::hop::{HopParameters, Stage};
use sojourn::engine::packet::{DropReason, Packet};
use sojourn::engine::record::{Gauges, Recorder};
use sojourn::engine::rng::{Rng, Seed};
use sojourn::engine::units::Time;

/// Its keys in scenarios.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Parameters {
    /// Mean time in ms until the medium is won.
    #[schemars(range(min = 0.01, max = 1000.0))]
    pub mean_access_ms: f64,
    /// Packets that leave at once.
    #[schemars(range(min = 1, max = 1000))]
    pub aggregate_packets: usize,
    /// Packets that it holds.
    #[schemars(range(min = 1, max = 100_000))]
    pub limit_packets: usize,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { mean_access_ms: 2.0, aggregate_packets: 32, limit_packets: 1000 }
    }
}

impl HopParameters for Parameters {
    fn start(&self, seed: Seed) -> Box<dyn Stage + Send> {
        let (keys, rng) = (self.clone(), seed.open());
        Box::new(Wifi { keys, rng, waiting: VecDeque::new(), access: Time::NEVER, left: 0 })
    }
}

struct Wifi {
    keys: Parameters,
    rng: Rng,
    waiting: VecDeque<Packet>,
    /// When it wins the medium.
    access: Time,
    /// Packets of this access that have not left.
    left: usize,
}

impl Wifi {
    fn contend(&mut self, now: Time) {
        let wait_s = self.rng.exponential(self.keys.mean_access_ms / 1e3);
        self.access = now + Time::from_secs_f64(wait_s).max(Time::from_us(1));
    }
}

impl Stage for Wifi {
    fn accept(&mut self, now: Time, packet: Packet, recorder: &mut Recorder) {
        if self.waiting.len() >= self.keys.limit_packets {
            return recorder.dropped(now, packet, DropReason::Overflow);
        }
        if self.waiting.is_empty() {
            self.contend(now);
        }
        self.waiting.push_back(packet);
    }

    fn next_wake(&self) -> Time {
        self.access
    }

    fn wake(&mut self, now: Time, _recorder: &mut Recorder) -> Option<Packet> {
        if self.left == 0 {
            self.left = self.waiting.len().min(self.keys.aggregate_packets);
        }
        let packet = self.waiting.pop_front();
        self.left -= 1;
        if self.waiting.is_empty() {
            (self.access, self.left) = (Time::NEVER, 0);
        } else if self.left == 0 {
            self.contend(now);
        }
        packet
    }

    fn inside(&self) -> Count {
        self.waiting.iter().map(Count::of).sum()
    }

    fn gauges(&self, out: &mut Gauges) {
        out.set("wifi_waiting", "packets", self.waiting.len() as f64);
    }
}

/// A game behind an upload, by cable and by Wi-Fi.
pub const HOME: &str = "
    duration_s = 20
    upstream.sustained_mbps = 20
    downstream.sustained_mbps = 200
    servers.near.delay_ms = 10
    traffic.game = { kind = 'stream', purpose = 'game' }

    [compare]
    cable = {}
    Wi-Fi = { router.upstream = { rate_mbps = 300, hop = { kind = 'wifi', mean_access_ms = 3 } } }
";
