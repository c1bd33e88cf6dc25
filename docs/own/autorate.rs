//! The law of cake-autorate for a router's shapers: a rate controller in WebAssembly. Build it with
//!
//!     rustc --target wasm32-unknown-unknown --crate-type cdylib --edition 2024 -O -C panic=abort \
//!         -C strip=symbols -C link-arg=-zstack-size=16384 autorate.rs -o autorate-rust.wasm

use std::ffi::c_char;

type Numbers = [f64; 64];
type Answers = [f64; 256];

static mut NUMBERS: Numbers = [0.0; 64];
static mut ANSWERS: Answers = [0.0; 256];

#[unsafe(no_mangle)]
extern "C" fn sojourn_abi() -> i32 {
    2
}

#[unsafe(no_mangle)]
extern "C" fn sojourn_numbers() -> *mut Numbers {
    &raw mut NUMBERS
}

#[unsafe(no_mangle)]
extern "C" fn sojourn_answers() -> *mut Answers {
    &raw mut ANSWERS
}

#[unsafe(no_mangle)]
extern "C" fn sojourn_declaration() -> *const c_char {
    cr#"{
        "role": "controller",
        "name": "autorate_rust",
        "doc": "The law of cake-autorate, in Rust.",
        "update": "update_ms",
        "parameters": [
            { "name": "update_ms", "unit": "ms", "default": 200, "min": 10, "max": 60000,
              "doc": "Time between measurements of the load." },
            { "name": "up_mbps", "default": [5, 20, 35], "min": 0.01, "max": 100000,
              "doc": "Least, base and greatest rate upstream in Mbps." },
            { "name": "down_mbps", "default": [5, 20, 80], "min": 0.01, "max": 100000,
              "doc": "Least, base and greatest rate downstream in Mbps." }
        ]
    }"#
    .as_ptr()
}

/// Reflectors that are asked in turn, and the delays that are looked at.
const SIX: usize = 6;

/// A direction: times in us, rates in bit/s.
struct Way {
    limits: [f64; 3],
    baselines: [Option<f64>; SIX],
    /// The last delays, the oldest first, and whether they are bloat.
    delays: [(f64, bool); SIX],
    achieved: f64,
    is_measured: bool,
    decreased: f64,
    returned: f64,
}

/// Where a value is between two ends, from 0 to 1.
fn share(value: f64, least: f64, most: f64) -> f64 {
    if value >= most { 1.0 } else { ((value - least) / (most - least)).max(0.0) }
}

impl Way {
    fn new(limits: &[f64]) -> Self {
        Self {
            limits: [0, 1, 2].map(|place| limits.get(place).map_or(1e6, |mbps| 1e6 * mbps)),
            baselines: [None; SIX],
            delays: [(0.0, false); SIX],
            achieved: 0.0,
            is_measured: false,
            decreased: f64::NEG_INFINITY,
            returned: 0.0,
        }
    }

    fn sample(&mut self, reflector: usize, sample: f64, bps: f64) {
        let before = self.baselines[reflector].unwrap_or(sample);
        let weight = if sample > before { 0.001 } else { 0.9 };
        let baseline = weight * sample + (1.0 - weight) * before;
        self.baselines[reflector] = Some(baseline);
        let delay = sample - baseline;
        self.delays.rotate_left(1);
        self.delays[SIX - 1] = (delay, delay > 30_000.0 + 1e6 * 12_000.0 / bps);
    }

    fn rate(&mut self, now: f64, bps: f64) -> f64 {
        let [least, base, most] = self.limits;
        let mean_ms = self.delays.iter().fold(0.0, |sum, (delay, _)| sum + delay) / 6.0 / 1e3;
        let is_calm = now - self.decreased >= 300_000.0;
        let rate = if self.delays.iter().filter(|(_, is_bloat)| *is_bloat).count() >= 3 {
            if !is_calm {
                return bps;
            }
            self.decreased = now;
            bps * (0.99 - (0.99 - 0.75) * share(mean_ms, 30.0, 60.0))
        } else if 100.0 * self.achieved > 75.0 * bps {
            if !is_calm || !self.is_measured {
                return bps;
            }
            self.is_measured = false;
            bps * (1.0 + (1.04 - 1.0) * (1.0 - share(mean_ms, 10.0, 30.0)))
        } else {
            if now - self.returned < 1e6 {
                return bps;
            }
            self.returned = now;
            if bps > base { (bps * 0.99).max(base) } else { (bps * 1.01).min(base) }
        };
        rate.max(least).min(most)
    }
}

struct Autorate {
    ways: [Way; 2],
}

#[unsafe(no_mangle)]
extern "C" fn sojourn_start(_seed: u64, parameters: &Numbers) -> Box<Autorate> {
    let [_, up, down, ..] = *parameters;
    // What is in lists stands behind all parameters, of which there are three.
    let (_, lists) = parameters.split_at(3);
    let (up, rest) = lists.split_at(up as usize);
    Box::new(Autorate { ways: [Way::new(up), Way::new(&rest[..down as usize])] })
}

/// What `on_probe` is called with. A rate is NaN where there is no shaper.
#[repr(C)]
struct Probe {
    now_us: f64,
    rtt_us: f64,
    up_us: f64,
    down_us: f64,
    bps: [f64; 2],
    probe: f64,
}

/// What `on_update` is called with.
#[repr(C)]
struct Update {
    now_us: f64,
    interval_us: f64,
    bytes: [f64; 2],
}

#[unsafe(no_mangle)]
extern "C" fn on_probe(own: &mut Autorate, probe: &Probe, answers: &mut Answers) -> i32 {
    let reflector = probe.probe as usize % SIX;
    for (place, way) in own.ways.iter_mut().enumerate() {
        let bps = probe.bps[place];
        way.sample(reflector, probe.rtt_us / 2.0, bps);
        answers[place] = if bps.is_nan() { bps } else { way.rate(probe.now_us, bps) };
    }
    2
}

#[unsafe(no_mangle)]
extern "C" fn on_update(own: &mut Autorate, update: &Update, _: &mut Answers) -> i32 {
    for (way, bytes) in own.ways.iter_mut().zip(update.bytes) {
        way.achieved = 8e6 * bytes / update.interval_us;
        way.is_measured = true;
    }
    0
}
