//! Additive increase, multiplicative decrease: a congestion control in WebAssembly. Build it with
//!
//!     rustc --target wasm32-unknown-unknown --crate-type cdylib --edition 2024 -O -C panic=abort \
//!         -C strip=symbols -C link-arg=-zstack-size=16384 aimd.rs -o aimd-rust.wasm

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
        "role": "control",
        "name": "aimd_rust",
        "doc": "Slow start, then additive increase and multiplicative decrease, in Rust.",
        "parameters": [
            { "name": "gain", "default": 1, "min": 0.01, "max": 100,
              "doc": "Segments gained per round trip." },
            { "name": "left", "default": 0.5, "min": 0.1, "max": 0.95,
              "doc": "Share of the flight that a loss leaves." }
        ]
    }"#
    .as_ptr()
}

struct Aimd {
    gain: f64,
    left: f64,
    mss_bytes: f64,
    threshold_bytes: f64,
}

#[unsafe(no_mangle)]
extern "C" fn sojourn_start(_seed: u64, parameters: &Numbers) -> Box<Aimd> {
    let [gain, left, ..] = *parameters;
    Box::new(Aimd { gain, left, mss_bytes: 0.0, threshold_bytes: f64::INFINITY })
}

/// What `on_start` is called with.
#[repr(C)]
struct Start {
    window_bytes: f64,
    mss_bytes: f64,
}

/// What `on_ack` is called with.
#[repr(C)]
struct Ack {
    now_us: f64,
    window_bytes: f64,
    flight_bytes: f64,
    acked_bytes: f64,
    rtt_us: f64,
    min_rtt_us: f64,
}

/// What `on_loss` and `on_timeout` are called with; there could be an `on_ecn`, too.
#[repr(C)]
struct Loss {
    now_us: f64,
    window_bytes: f64,
    flight_bytes: f64,
}

#[unsafe(no_mangle)]
extern "C" fn on_start(control: &mut Aimd, start: &Start, _: &mut Answers) -> i32 {
    control.mss_bytes = start.mss_bytes;
    0
}

#[unsafe(no_mangle)]
extern "C" fn on_ack(control: &mut Aimd, ack: &Ack, answers: &mut Answers) -> i32 {
    let gained_bytes = if ack.window_bytes < control.threshold_bytes {
        ack.acked_bytes
    } else {
        control.gain * control.mss_bytes * ack.acked_bytes / ack.window_bytes
    };
    answers[0] = ack.window_bytes + gained_bytes;
    1
}

#[unsafe(no_mangle)]
extern "C" fn on_loss(control: &mut Aimd, loss: &Loss, answers: &mut Answers) -> i32 {
    control.threshold_bytes = (control.left * loss.flight_bytes).max(2.0 * control.mss_bytes);
    answers[0] = control.threshold_bytes;
    1
}

#[unsafe(no_mangle)]
extern "C" fn on_timeout(control: &mut Aimd, loss: &Loss, answers: &mut Answers) -> i32 {
    control.threshold_bytes = (loss.flight_bytes / 2.0).max(2.0 * control.mss_bytes);
    answers[0] = control.mss_bytes;
    1
}
