//! Prague (draft-briscoe-iccrg-prague-congestion-control) as a congestion control in WebAssembly, with what controls of
//! the interface's version 2 are called with. Build it with
//!
//!     rustc --target wasm32-unknown-unknown --crate-type cdylib --edition 2024 -O -C panic=abort \
//!         -C strip=symbols -C link-arg=-zstack-size=16384 prague.rs -o prague-rust.wasm

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
        "role": "control",
        "name": "prague_rust",
        "doc": "Prague, in Rust.",
        "paced": true,
        "ecn": "l4s",
        "parameters": [
            { "name": "virtual_rtt_ms", "unit": "ms", "default": 25, "min": 1, "max": 100,
              "doc": "Round trip below which the rate no longer depends on it." },
            { "name": "dependent_rounds", "default": 4, "min": 0, "max": 1000000, "number": "whole",
              "doc": "Rounds after slow start in which it still does." }
        ]
    }"#
    .as_ptr()
}

/// Weight of a round's share of marks in their average.
const GAIN: f64 = 1.0 / 16.0;
/// In bytes per second.
const LEAST_RATE: f64 = 12_500.0;
/// In segments.
const LEAST_WINDOW: f64 = 2.0;
const PS_PER_S: f64 = 1e12;

/// A time in whole picoseconds, as the simulator has it; none before the first measurement is zero.
fn ps(us: f64) -> u64 {
    (us * 1e6).round() as u64
}

#[derive(Default)]
struct Round {
    start: u64,
    end: f64,
    delivered: f64,
    marked: f64,
}

#[derive(Default)]
struct Prague {
    virtual_rtt: u64,
    dependent_rounds: u32,
    mss: f64,
    most: f64,
    /// Window and threshold in segments, as TCP has them.
    cwnd: f64,
    threshold: f64,
    /// The window as a real number; what is used of it is in whole segments.
    exact: f64,
    /// The window as it was last set.
    was: f64,
    alpha: Option<f64>,
    round: Round,
    rounds: u32,
    srtt: u64,
    reacts_from: u64,
    grows_from: u64,
    marked: f64,
    /// In bytes per second; zero where it is not known.
    rate: f64,
}

#[unsafe(no_mangle)]
extern "C" fn sojourn_start(_seed: u64, parameters: &Numbers) -> Box<Prague> {
    let [virtual_rtt_ms, dependent_rounds, ..] = *parameters;
    Box::new(Prague {
        virtual_rtt: (virtual_rtt_ms / 1e3 * PS_PER_S).round() as u64,
        dependent_rounds: dependent_rounds as u32,
        ..Prague::default()
    })
}

impl Prague {
    fn see(&mut self, window_bytes: f64, threshold_bytes: f64) {
        self.cwnd = window_bytes / self.mss;
        self.threshold = threshold_bytes / self.mss;
    }

    fn set(&mut self, cwnd: f64) {
        // As it comes back.
        self.cwnd = cwnd * self.mss / self.mss;
        self.was = self.cwnd * self.mss / self.mss;
    }

    fn answer(&self, answers: &mut Answers) -> i32 {
        answers[0] = self.cwnd * self.mss;
        answers[1] = self.rate * 8.0;
        answers[2] = self.threshold * self.mss;
        answers[3] = 1e6 / 4096.0;
        4
    }

    fn is_dependent(&self) -> bool {
        self.rounds < self.dependent_rounds
    }

    fn pace(&self) -> u64 {
        if self.is_dependent() { self.srtt } else { self.srtt.max(self.virtual_rtt) }
    }

    /// TCP too sets the window, after a recovery or an idle time. What is smaller holds.
    fn follow(&mut self) {
        if self.cwnd != self.was {
            self.exact = self.exact.min(self.cwnd);
            self.was = self.cwnd;
        }
    }

    fn measure(&mut self, now: u64, feedback: &Feedback) {
        let pace = self.pace();
        self.round.delivered += feedback.delivered_bytes / self.mss;
        self.round.marked += feedback.marked_bytes / self.mss;
        let is_over =
            feedback.una_bytes >= self.round.end && now.saturating_sub(self.round.start) >= pace;
        if !is_over || self.round.delivered == 0.0 {
            return;
        }
        let share = (self.round.marked / self.round.delivered).min(1.0);
        self.alpha = self.alpha.map(|alpha| alpha + GAIN * (share - alpha));
        self.rounds = if self.cwnd < self.threshold { 0 } else { self.rounds.saturating_add(1) };
        self.round = Round { start: now, end: feedback.nxt_bytes, ..Round::default() };
    }

    fn react(&mut self, now: u64) {
        if now < self.reacts_from {
            return;
        }
        let share = self.alpha.unwrap_or(1.0);
        self.alpha.get_or_insert(0.0);
        self.exact = (self.exact * (1.0 - share / 2.0)).max(LEAST_WINDOW);
        self.threshold = self.exact;
        self.reacts_from = now + self.pace();
    }

    fn growth(&self) -> f64 {
        if self.srtt >= self.virtual_rtt || self.is_dependent() {
            return 1.0;
        }
        let ratio = (self.srtt as f64 / PS_PER_S) / (self.virtual_rtt as f64 / PS_PER_S);
        ratio * ratio
    }

    fn apply(&mut self) {
        let goal = self.exact.ceil().max(LEAST_WINDOW);
        self.set(goal.clamp(self.cwnd - 1.0, self.cwnd + 1.0));
    }

    fn set_rate(&mut self, now: u64) {
        if self.srtt == 0 {
            return;
        }
        let per_rtt =
            self.exact.max(LEAST_WINDOW) * self.mss / (self.srtt as f64 / PS_PER_S);
        let gain = if self.cwnd < self.threshold / 2.0 { 2.0 } else { 1.0 };
        let half = (self.pace() as f64 * 0.5 + 0.5) as u64;
        let is_early = now.saturating_sub(self.round.start) < half;
        let wobble = if is_early { 1.0 + 4.0 / 128.0 } else { 1.0 - 4.0 / 128.0 };
        self.rate = (per_rtt * gain * wobble).max(LEAST_RATE).trunc();
    }

    fn lose(&mut self, now: u64) {
        self.follow();
        self.exact = (self.exact / 2.0).max(LEAST_WINDOW);
        self.threshold = self.exact;
        self.set(self.exact);
        self.grows_from = now + self.srtt;
        self.reacts_from = now + self.pace();
    }
}

/// What `on_start` is called with.
#[repr(C)]
struct Start {
    window_bytes: f64,
    mss_bytes: f64,
    max_window_bytes: f64,
}

#[unsafe(no_mangle)]
extern "C" fn on_start(prague: &mut Prague, start: &Start, answers: &mut Answers) -> i32 {
    prague.mss = start.mss_bytes;
    prague.most = start.max_window_bytes / start.mss_bytes;
    prague.see(start.window_bytes, start.max_window_bytes);
    (prague.exact, prague.was) = (prague.cwnd, prague.cwnd);
    prague.answer(answers)
}

/// What `on_feedback` is called with.
#[repr(C)]
struct Feedback {
    now_us: f64,
    window_bytes: f64,
    threshold_bytes: f64,
    delivered_bytes: f64,
    marked_bytes: f64,
    srtt_us: f64,
    una_bytes: f64,
    nxt_bytes: f64,
    is_recovering: f64,
}

#[unsafe(no_mangle)]
extern "C" fn on_feedback(prague: &mut Prague, feedback: &Feedback, answers: &mut Answers) -> i32 {
    let now = ps(feedback.now_us);
    prague.see(feedback.window_bytes, feedback.threshold_bytes);
    prague.srtt = ps(feedback.srtt_us);
    prague.marked = feedback.marked_bytes / prague.mss;
    prague.measure(now, feedback);
    if feedback.is_recovering == 0.0 {
        prague.follow();
        if prague.marked > 0.0 {
            prague.react(now);
        }
        prague.apply();
    }
    prague.set_rate(now);
    prague.answer(answers)
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
    threshold_bytes: f64,
    srtt_us: f64,
    one_way_us: f64,
}

#[unsafe(no_mangle)]
extern "C" fn on_ack(prague: &mut Prague, ack: &Ack, answers: &mut Answers) -> i32 {
    let now = ps(ack.now_us);
    prague.see(ack.window_bytes, ack.threshold_bytes);
    prague.srtt = ps(ack.srtt_us);
    prague.follow();
    let unmarked = (ack.acked_bytes / prague.mss - std::mem::take(&mut prague.marked)).max(0.0);
    if prague.cwnd < prague.threshold {
        prague.exact = (prague.exact + unmarked).min(prague.threshold).min(prague.most);
        prague.set(prague.exact.ceil());
    } else if now >= prague.grows_from {
        prague.exact = (prague.exact + unmarked * prague.growth() / prague.exact).min(prague.most);
        prague.apply();
    }
    prague.set_rate(now);
    prague.answer(answers)
}

/// What `on_loss` and `on_timeout` are called with.
#[repr(C)]
struct Loss {
    now_us: f64,
    window_bytes: f64,
    flight_bytes: f64,
    threshold_bytes: f64,
}

#[unsafe(no_mangle)]
extern "C" fn on_loss(prague: &mut Prague, loss: &Loss, answers: &mut Answers) -> i32 {
    prague.see(loss.window_bytes, loss.threshold_bytes);
    prague.lose(ps(loss.now_us));
    prague.answer(answers)
}

#[unsafe(no_mangle)]
extern "C" fn on_timeout(prague: &mut Prague, loss: &Loss, answers: &mut Answers) -> i32 {
    prague.see(loss.window_bytes, loss.threshold_bytes);
    prague.lose(ps(loss.now_us));
    prague.exact = 1.0;
    prague.set(1.0);
    prague.answer(answers)
}

/// What `on_undo` is called with.
#[repr(C)]
struct Undo {
    now_us: f64,
    window_bytes: f64,
    threshold_bytes: f64,
    previous_window_bytes: f64,
    previous_threshold_bytes: f64,
}

#[unsafe(no_mangle)]
extern "C" fn on_undo(prague: &mut Prague, undo: &Undo, answers: &mut Answers) -> i32 {
    prague.see(undo.window_bytes, undo.threshold_bytes);
    prague.threshold = prague.threshold.max(undo.previous_threshold_bytes / prague.mss);
    prague.set(prague.cwnd.max(undo.previous_window_bytes / prague.mss));
    prague.exact = prague.cwnd;
    (prague.grows_from, prague.reacts_from) = (0, 0);
    prague.answer(answers)
}
