//! PIE as Linux' queue disciplines have it (7.2, `pie` and `fq_pie`), which is not RFC 8033's in [`super::pie`].
//!
//! Queue delay is the sojourn time of the last packet that left, zero once the queue is empty. The probability is not
//! limited to 1, grows by 2 % more an update while the delay exceeds 250 ms, decays by 1/64 only at no delay, and the
//! controller runs through the burst allowance, which departures use up. It never rests, and its first update comes half
//! a second after the start. All is counted in integers: times in ticks of 64 ns, probabilities in 2^-56.
//!
//! Left out: the departure rate (`dq_rate_estimator`) and `bytemode`.

use super::{Aqm, Arrival, Departure, DrainRate, Verdict};
use crate::count::Count;
use crate::record::Gauges;
use crate::rng::Rng;
use crate::units::Time;

/// A probability of 1.
const ONE: u64 = u64::MAX >> 8;
/// A tick is 2^6 ns.
const NS_PER_TICK: u64 = 1 << 6;
const TICKS_PER_S: u64 = 1_000_000_000 / NS_PER_TICK;
/// Below two of these nothing is dropped.
const MTU_BYTES: u64 = 1514;
/// The gains are counted in sixteenths.
const SIXTEENTHS: f64 = 16.0;

fn ticks(time: Time) -> u64 {
    time.ps() / 1000 / NS_PER_TICK
}

/// What it is built from.
pub(super) struct Terms {
    pub target: Time,
    pub interval: Time,
    pub alpha_hz: f64,
    pub beta_hz: f64,
    pub max_burst: Time,
    pub max_mark_probability: f64,
    pub first_update: Time,
}

/// PIE of Linux.
pub struct LinuxPie {
    target: u64,
    interval: Time,
    alpha: u64,
    beta: u64,
    max_burst: u64,
    most_marked: u64,
    /// Updates before the first one that counts.
    idle_updates: u64,
    probability: u64,
    accumulated: u64,
    burst: u64,
    delay: u64,
    delay_old: u64,
    /// When the last packet left.
    left_at: Option<u64>,
}

impl LinuxPie {
    /// The algorithm in its initial state.
    pub(super) fn new(terms: &Terms) -> Self {
        let gain = |hz: f64| ((hz * SIXTEENTHS).round() as u64 * (ONE / TICKS_PER_S)) >> 4;
        let updates = terms.first_update.ps().div_ceil(terms.interval.ps());
        // Hundredths, as the kernel counts this probability.
        let most_marked = ONE / 100 * (terms.max_mark_probability * 100.0).round() as u64;
        let max_burst = ticks(terms.max_burst);
        Self {
            target: ticks(terms.target),
            interval: terms.interval,
            alpha: gain(terms.alpha_hz),
            beta: gain(terms.beta_hz),
            max_burst,
            most_marked,
            idle_updates: updates.saturating_sub(1),
            probability: 0,
            accumulated: 0,
            burst: max_burst,
            delay: 0,
            delay_old: 0,
            left_at: None,
        }
    }

    fn drops_early(&mut self, packet: &Arrival, rng: &mut Rng) -> bool {
        let is_low = self.delay < self.target / 2 && self.probability < ONE / 5;
        if self.burst > 0 || is_low || packet.backlog.bytes < 2 * MTU_BYTES {
            return false;
        }
        self.accumulated =
            if self.probability == 0 { 0 } else { self.accumulated.wrapping_add(self.probability) };
        if self.accumulated < ONE / 100 * 85 {
            return false;
        }
        if self.accumulated >= ONE / 2 * 17 {
            return true;
        }
        let drops = rng.bits() >> 8 < self.probability;
        if drops {
            self.accumulated = 0;
        }
        drops
    }

    /// The step of the controller, smaller where the probability is small.
    fn step(&self) -> i64 {
        let (mut alpha, mut beta) = (self.alpha, self.beta);
        if self.probability < ONE / 10 {
            (alpha, beta) = (alpha >> 1, beta >> 1);
            let mut power = 100;
            while power <= 1_000_000 && self.probability < ONE / power {
                (alpha, beta, power) = (alpha >> 2, beta >> 2, power * 10);
            }
        }
        let part = |gain: u64, from: u64| gain.wrapping_mul(self.delay.wrapping_sub(from)) as i64;
        let mut step = part(alpha, self.target).wrapping_add(part(beta, self.delay_old));
        if step > (ONE / 50) as i64 && self.probability >= ONE / 10 {
            step = (ONE / 100 * 2) as i64;
        }
        if self.delay > ticks(Time::from_ms(250)) {
            step = step.wrapping_add((ONE / 50) as i64);
        }
        step
    }

    fn control(&mut self, backlog: Count) {
        let mut may_decay = backlog.bytes == 0;
        let step = self.step();
        match self.probability.checked_add_signed(step) {
            Some(sum) => self.probability = sum,
            None if step.is_positive() => (self.probability, may_decay) = (ONE, false),
            None => self.probability = 0,
        }
        if self.delay == 0 && self.delay_old == 0 && may_decay {
            self.probability -= self.probability / 64;
        }
        let half = self.target / 2;
        if self.delay < half && self.delay_old < half && self.probability == 0 {
            (self.burst, self.left_at, self.accumulated) = (self.max_burst, None, 0);
        }
        self.delay_old = self.delay;
    }

    fn state(&self) -> (u64, u64, u64, u64, Option<u64>) {
        (self.probability, self.accumulated, self.burst, self.delay_old, self.left_at)
    }
}

impl Aqm for LinuxPie {
    fn on_arrival(&mut self, packet: &Arrival, _outlet: &DrainRate, rng: &mut Rng) -> Verdict {
        if !self.drops_early(packet, rng) {
            return Verdict::Pass;
        }
        let marks = packet.is_markable && self.probability <= self.most_marked;
        if !marks {
            self.accumulated = 0;
        }
        if marks { Verdict::Signal } else { Verdict::Drop }
    }

    fn on_overflow(&mut self) {
        self.accumulated = 0;
    }

    fn on_departure(&mut self, packet: &Departure) -> Verdict {
        let now = ticks(packet.now);
        self.delay = now - ticks(packet.now.since(packet.sojourn));
        if packet.own_left.bytes == 0 {
            self.delay = 0;
        }
        let since = self.left_at.replace(now).map_or(0, |at| now - at);
        self.burst = self.burst.saturating_sub(since);
        Verdict::Pass
    }

    fn update_interval(&self) -> Time {
        self.interval
    }

    fn update(&mut self, _now: Time, backlog: Count, _outlet: &DrainRate) -> bool {
        if self.idle_updates > 0 {
            self.idle_updates -= 1;
            return true;
        }
        let before = self.state();
        self.control(backlog);
        self.state() != before
    }

    fn gauges(&self, out: &mut Gauges) {
        out.set("drop_probability", "1", self.probability as f64 / ONE as f64);
    }
}
