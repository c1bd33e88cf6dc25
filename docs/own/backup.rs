//! A device that uploads a file from time to time: a traffic model in WebAssembly. Build it with
//!
//!     rustc --target wasm32-unknown-unknown --crate-type cdylib --edition 2024 -O -C panic=abort \
//!         -C strip=symbols -C link-arg=-zstack-size=16384 backup.rs -o backup-rust.wasm

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
        "role": "traffic",
        "name": "backup_rust",
        "doc": "Uploads of a file at random times, each over a connection of its own, in Rust.",
        "parameters": [
            { "name": "file_bytes", "unit": "bytes", "default": 500000, "min": 1, "max": 1e12,
              "number": "whole", "doc": "Size of a file." },
            { "name": "mean_pause_s", "unit": "s", "default": 5, "min": 0.001, "max": 1e6,
              "doc": "Mean time between them." }
        ]
    }"#
    .as_ptr()
}

const HOME: f64 = 0.0;
const WAKE: f64 = 1.0;
const OPEN: f64 = 2.0;
const SEND: f64 = 3.0;
const CLOSE: f64 = 5.0;
const DATAGRAM: f64 = 6.0;

struct Backup {
    file_bytes: f64,
    mean_pause_us: f64,
    /// How many connections there were.
    opened: f64,
    random: u64,
}

#[unsafe(no_mangle)]
extern "C" fn sojourn_start(seed: u64, parameters: &Numbers) -> Box<Backup> {
    let [file_bytes, mean_pause_s, ..] = *parameters;
    Box::new(Backup { file_bytes, mean_pause_us: mean_pause_s * 1e6, opened: 0.0, random: seed })
}

impl Backup {
    /// A random number from 0 to 1: SplitMix64.
    fn uniform(&mut self) -> f64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.random;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Answers commands, and returns how many numbers they are.
fn answer<const N: usize>(answers: &mut Answers, commands: [[f64; 4]; N]) -> i32 {
    answers.iter_mut().zip(commands.as_flattened()).for_each(|(answer, number)| *answer = *number);
    (N * 4) as i32
}

#[unsafe(no_mangle)]
extern "C" fn on_timer(traffic: &mut Backup, now_us: &f64, answers: &mut Answers) -> i32 {
    let at_us = now_us + 2.0 * traffic.mean_pause_us * traffic.uniform();
    let connection = traffic.opened;
    traffic.opened += 1.0;
    answer(answers, [[OPEN, connection, 0.0, 0.0], [WAKE, at_us, 0.0, 0.0]])
}

/// What `on_open` is called with, and `on_acknowledged`, which has the end behind them.
#[repr(C)]
struct Event {
    now_us: f64,
    connection: f64,
}

#[unsafe(no_mangle)]
extern "C" fn on_open(traffic: &mut Backup, event: &Event, answers: &mut Answers) -> i32 {
    answer(answers, [[SEND, event.connection, HOME, traffic.file_bytes]])
}

#[unsafe(no_mangle)]
extern "C" fn on_acknowledged(_: &mut Backup, event: &Event, answers: &mut Answers) -> i32 {
    answer(answers, [[DATAGRAM, HOME, 100.0, 0.0], [CLOSE, event.connection, 0.0, 0.0]])
}
