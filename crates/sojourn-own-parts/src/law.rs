//! An AQM algorithm of your own: CoDel (RFC 8289 §5), written with nothing but the published faces. It gives
//! the results of the built-in one to the bit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn::engine::aqm::{Aqm, AqmAlgorithm, AqmParameters, Departure, Verdict};
use sojourn::engine::record::Gauges;
use sojourn::engine::rng::Seed;
use sojourn::engine::units::Time;

/// Its keys in scenarios, with ranges and defaults: they are checked as those of built-in algorithms are.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Parameters {
    /// Acceptable standing sojourn time in ms.
    #[schemars(range(min = 0.01, max = 10_000.0))]
    pub target_ms: f64,
    /// Time in ms within which the sojourn time must fall below the target.
    #[schemars(range(min = 0.1, max = 100_000.0))]
    pub interval_ms: f64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { target_ms: 5.0, interval_ms: 100.0 }
    }
}

impl AqmParameters for Parameters {
    fn start(&self, _seed: Seed) -> AqmAlgorithm {
        let time = |ms: f64| Time::from_secs_f64(ms / 1e3);
        AqmAlgorithm::Outside(Box::new(OwnCodel {
            target: time(self.target_ms),
            interval: time(self.interval_ms),
            ..OwnCodel::default()
        }))
    }

    /// One instance must not judge several bins.
    fn judges_sojourns(&self) -> bool {
        true
    }

    fn target_ms(&self) -> Option<f64> {
        Some(self.target_ms)
    }
}

/// A packet of the link's MTU on the wire: with no more behind it, nothing is dropped.
const MTU_BYTES: u64 = 1514;

#[derive(Default)]
struct OwnCodel {
    target: Time,
    interval: Time,
    first_above: Option<Time>,
    drop_next: Time,
    count: u64,
    last_count: u64,
    dropping: bool,
    has_dropped: bool,
}

impl OwnCodel {
    fn control_law(&self, from: Time) -> Time {
        from + self.interval.scaled(1.0 / (self.count as f64).sqrt())
    }

    fn ok_to_drop(&mut self, packet: &Departure) -> bool {
        if packet.sojourn < self.target || packet.left.bytes <= MTU_BYTES {
            self.first_above = None;
            return false;
        }
        let deadline = *self.first_above.get_or_insert(packet.now + self.interval);
        packet.now >= deadline
    }

    fn enter(&mut self, now: Time) {
        let is_recent = now.since(self.drop_next) < self.interval.scaled(16.0);
        let dropped = self.count - self.last_count;
        self.count = if is_recent { dropped.max(1) } else { 1 };
        self.last_count = self.count;
        self.drop_next = self.control_law(now);
        self.dropping = true;
    }
}

impl Aqm for OwnCodel {
    fn on_departure(&mut self, packet: &Departure) -> Verdict {
        let ok = self.ok_to_drop(packet);
        let has_dropped = std::mem::take(&mut self.has_dropped);
        if !self.dropping {
            if ok {
                self.enter(packet.now);
                return Verdict::Signal;
            }
            return Verdict::Pass;
        }
        // The head after a drop.
        if has_dropped {
            self.count += 1;
            if ok {
                self.drop_next = self.control_law(self.drop_next);
            }
        }
        self.dropping = ok;
        if !ok || packet.now < self.drop_next {
            return Verdict::Pass;
        }
        self.has_dropped = true;
        Verdict::Signal
    }

    fn on_empty(&mut self, _now: Time) {
        self.count += u64::from(std::mem::take(&mut self.has_dropped));
        self.first_above = None;
        self.dropping = false;
    }

    /// What `sojourn run` records over time and draws.
    fn gauges(&self, out: &mut Gauges) {
        out.set("codel_count", "drops", if self.dropping { self.count as f64 } else { 0.0 });
    }
}

/// A home with the built-in CoDel, and with this one.
pub const HOME: &str = "
    duration_s = 20
    upstream.sustained_mbps = 20
    downstream.sustained_mbps = 200
    servers.near.delay_ms = 10

    [traffic]
    game = { kind = 'stream', purpose = 'game' }
    upload = { kind = 'transfer', direction = 'up', start_s = 5 }

    [compare]
    built-in = { upstream.queue.law = { kind = 'codel', target_ms = 15 } }
    own = { upstream.queue.law = { kind = 'own_codel', target_ms = 15 } }
";
