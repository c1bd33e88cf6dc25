//! CoDel (RFC 8289 §5) as a queue law in WebAssembly. Build it with
//!
//!     rustc --target wasm32-unknown-unknown --crate-type cdylib --edition 2024 -O -C panic=abort \
//!         -C strip=symbols -C link-arg=-zstack-size=16384 codel.rs -o codel-rust.wasm

use std::ffi::c_char;

type Numbers = [f64; 64];
type Answers = [f64; 256];

static mut NUMBERS: Numbers = [0.0; 64];
static mut ANSWERS: Answers = [0.0; 256];

#[unsafe(no_mangle)]
extern "C" fn sojourn_abi() -> i32 {
    1
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
        "role": "law",
        "name": "codel_rust",
        "doc": "CoDel, in Rust.",
        "parameters": [
            { "name": "target_ms", "unit": "ms", "default": 5, "min": 0.01, "max": 10000,
              "doc": "Acceptable standing sojourn time." },
            { "name": "interval_ms", "unit": "ms", "default": 100, "min": 0.1, "max": 100000,
              "doc": "Time within which the sojourn time must fall below the target." }
        ],
        "gauges": [{ "name": "count", "unit": "drops" }]
    }"#
    .as_ptr()
}

/// What `on_departure` is called with.
#[repr(C)]
struct Departure {
    now_us: f64,
    bytes: f64,
    backlog_bytes: f64,
    sojourn_us: f64,
    ecn: f64,
    flow: f64,
}

const MARK: f64 = 1.0;
/// With no more than a full packet behind it, nothing is dropped.
const MTU_BYTES: f64 = 1514.0;

#[derive(Default)]
struct Codel {
    target_us: f64,
    interval_us: f64,
    first_above_us: Option<f64>,
    drop_next_us: f64,
    count: f64,
    last_count: f64,
    dropping: bool,
    has_dropped: bool,
}

#[unsafe(no_mangle)]
extern "C" fn sojourn_start(_seed: u64, parameters: &Numbers) -> Box<Codel> {
    let [target_ms, interval_ms, ..] = *parameters;
    Box::new(Codel {
        target_us: target_ms * 1e3,
        interval_us: interval_ms * 1e3,
        ..Codel::default()
    })
}

impl Codel {
    fn control_law(&self, from_us: f64) -> f64 {
        from_us + self.interval_us / self.count.sqrt()
    }

    fn ok_to_drop(&mut self, packet: &Departure) -> bool {
        if packet.sojourn_us < self.target_us || packet.backlog_bytes <= MTU_BYTES {
            self.first_above_us = None;
            return false;
        }
        packet.now_us >= *self.first_above_us.get_or_insert(packet.now_us + self.interval_us)
    }

    /// Begins to drop, where the last episode left off if that was not long ago.
    fn enter(&mut self, now_us: f64) {
        let is_recent = now_us - self.drop_next_us < 16.0 * self.interval_us;
        self.count = if is_recent { (self.count - self.last_count).max(1.0) } else { 1.0 };
        self.last_count = self.count;
        self.drop_next_us = self.control_law(now_us);
        self.dropping = true;
    }

    fn signals(&mut self, packet: &Departure) -> bool {
        let ok = self.ok_to_drop(packet);
        let has_dropped = std::mem::take(&mut self.has_dropped);
        if !self.dropping {
            if ok {
                self.enter(packet.now_us);
            }
            return ok;
        }
        // The head after a drop.
        if has_dropped {
            self.count += 1.0;
            if ok {
                self.drop_next_us = self.control_law(self.drop_next_us);
            }
        }
        self.dropping = ok;
        self.has_dropped = ok && packet.now_us >= self.drop_next_us;
        self.has_dropped
    }
}

#[unsafe(no_mangle)]
extern "C" fn on_departure(law: &mut Codel, packet: &Departure, answers: &mut Answers) -> i32 {
    answers[0] = if law.signals(packet) { MARK } else { 0.0 };
    1
}

#[unsafe(no_mangle)]
extern "C" fn on_empty(law: &mut Codel, _: &Numbers, _: &mut Answers) -> i32 {
    if std::mem::take(&mut law.has_dropped) {
        law.count += 1.0;
    }
    law.first_above_us = None;
    law.dropping = false;
    0
}

#[unsafe(no_mangle)]
extern "C" fn gauges(law: &Codel, _: &Numbers, answers: &mut Answers) -> i32 {
    answers[0] = if law.dropping { law.count } else { 0.0 };
    1
}
