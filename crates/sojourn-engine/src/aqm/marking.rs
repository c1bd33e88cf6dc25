//! Common parts of the AQM algorithms of L4S: the base controller, spaced signals, the ramp.

use crate::rng::Rng;
use crate::units::Time;

crate::series! {
    /// PI2, DualQ, Low Latency DOCSIS: the base probability p', whose square is the probability of dropping or marking a classic packet.
    BASE_PROBABILITY = "base_probability", in "1", from "RFC 9332, section 2.1";
}

/// Spaces signals evenly: `recur()` of RFC 9332 appendix A.1.
#[derive(Default)]
pub(crate) struct Spacer {
    accumulated: f64,
}

impl Spacer {
    /// Is there a signal for a packet with this likelihood?
    #[inline]
    pub(crate) fn says_signal(&mut self, likelihood: f64) -> bool {
        self.accumulated += likelihood;
        let signal = self.accumulated > 1.0;
        if signal {
            self.accumulated -= 1.0;
        }
        signal
    }

    /// Signals with this likelihood: evenly spaced, or by a draw for each packet if that is requested.
    #[inline]
    pub(crate) fn chooses(&mut self, likelihood: f64, at_random: bool, rng: &mut Rng) -> bool {
        if at_random { rng.uniform() < likelihood } else { self.says_signal(likelihood) }
    }
}

/// The proportional-integral controller of PI2 (RFC 9332 appendix A.1): unlike PIE's, its gains are
/// constant, since its output is squared before it is applied to classic traffic.
pub(crate) struct PiController {
    target_s: f64,
    alpha_hz: f64,
    beta_hz: f64,
    /// Its output never exceeds this.
    most: f64,
    delay_old_s: f64,
    p: f64,
}

impl PiController {
    /// A controller whose output is 0.
    pub(crate) fn new(target_ms: f64, alpha_hz: f64, beta_hz: f64, most: f64) -> Self {
        Self { target_s: target_ms / 1e3, alpha_hz, beta_hz, most, delay_old_s: 0.0, p: 0.0 }
    }

    /// The base probability p'.
    #[inline]
    pub(crate) fn p(&self) -> f64 {
        self.p
    }

    /// From now on its target, gains and bound are those of another.
    pub(crate) fn retune(&mut self, other: &Self) {
        *self = Self { delay_old_s: self.delay_old_s, p: self.p.min(other.most), ..*other };
    }

    /// Updates the base probability for the queue delay of now. Returns whether anything changed.
    pub(crate) fn update(&mut self, delay_s: f64) -> bool {
        let before = (self.p, self.delay_old_s);
        let error = self.alpha_hz * (delay_s - self.target_s);
        let growth = self.beta_hz * (delay_s - self.delay_old_s);
        self.p = (self.p + error + growth).clamp(0.0, self.most);
        self.delay_old_s = delay_s;
        before != (self.p, self.delay_old_s)
    }
}

/// The PI controller in the integers of Linux' sch_dualpi2 (7.2): times in ns, probabilities in 2^-32, gains in 64ths.
pub(crate) struct LinuxPi {
    target_ns: i64,
    alpha: i64,
    beta: i64,
    most: u32,
    delay_old_ns: i64,
    p: u32,
}

impl LinuxPi {
    /// From now on its target, gains and bound are those of another.
    pub(crate) fn retune(&mut self, other: &Self) {
        *self = Self { delay_old_ns: self.delay_old_ns, p: self.p.min(other.most), ..*other };
    }

    /// A controller whose output is 0. The kernel takes its gains in 256ths of 1/s.
    pub(crate) fn new(target: Time, alpha_hz: f64, beta_hz: f64, most: f64) -> Self {
        let gain = |hz: f64| {
            let of_256 = (hz * 256.0).round() as u64;
            ((of_256 * u64::from(u32::MAX)) >> 2) as i64 / 1_000_000_000
        };
        let most = (most * f64::from(u32::MAX)) as u32;
        let (alpha, beta) = (gain(alpha_hz), gain(beta_hz));
        Self { target_ns: ns(target), alpha, beta, most, delay_old_ns: 0, p: 0 }
    }

    /// The base probability p', in 2^-32.
    #[inline]
    pub(crate) fn p(&self) -> u32 {
        self.p
    }

    /// Updates the base probability for the queue delay of now. Returns whether anything changed.
    pub(crate) fn update(&mut self, delay: Time) -> bool {
        let before = (self.p, self.delay_old_ns);
        let delay_ns = ns(delay);
        let part = |gain: i64, from_ns: i64| i128::from(delay_ns - from_ns) * i128::from(gain);
        let step = part(self.alpha, self.target_ns) + part(self.beta, self.delay_old_ns);
        // Not copied: the kernel scales the magnitude in 32 bits, which wraps from a step of 1 on, so that its
        // probability falls by a part of it alone. With its gains that is where the delay falls by 313 ms in one update.
        let scaled = u32::try_from(step.unsigned_abs() / 64).unwrap_or(u32::MAX);
        let p = match step.is_positive() {
            true => self.p.saturating_add(scaled),
            false => self.p.saturating_sub(scaled),
        };
        self.p = p.min(self.most);
        self.delay_old_ns = delay_ns;
        before != (self.p, self.delay_old_ns)
    }
}

fn ns(time: Time) -> i64 {
    (time.ps() / 1000) as i64
}

/// Does a packet with this probability, in 2^-32, get a signal? It does with probability zero too, once in 2^32.
#[inline]
pub(crate) fn rolls(probability: u32, rng: &mut Rng) -> bool {
    (rng.bits() >> 32) as u32 <= probability
}

/// A marking likelihood that rises from 0 to 1 between two delays; a step if they are equal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ramp {
    /// Up to this delay nothing is marked.
    pub min: Time,
    /// Beyond this delay, and at it if it is more than `min`, everything is marked.
    pub max: Time,
}

impl Ramp {
    /// The likelihood at this delay (RFC 9332 appendix A.1; RFC 9957 §4.2.4).
    #[inline]
    pub(crate) fn likelihood(&self, delay: Time) -> f64 {
        if delay <= self.min {
            0.0
        } else if delay >= self.max {
            1.0
        } else {
            delay.since(self.min).secs_f64() / self.max.since(self.min).secs_f64()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_below_the_likelihood_is_a_signal() {
        let draw = Rng::split_mix(1).uniform();
        for (likelihood, is_signal) in [(draw, false), (draw.next_up(), true)] {
            let chosen = Spacer::default().chooses(likelihood, true, &mut Rng::split_mix(1));
            assert_eq!(chosen, is_signal);
        }
    }

    #[test]
    fn signals_are_spaced_evenly() {
        // 0.3, 0.6, 0.9, 1.2 -> 0.2, 0.5, 0.8, 1.1 -> 0.1: the fourth, then the seventh.
        let mut spacer = Spacer::default();
        let signals: Vec<_> = (1..=9).filter(|_| spacer.says_signal(0.3)).collect();
        assert_eq!(signals, [4, 7]);
        let mut always = Spacer::default();
        assert_eq!((0..10).filter(|_| always.says_signal(1.0)).count(), 9);
        let mut never = Spacer::default();
        assert!((0..10).all(|_| !never.says_signal(0.0)));
    }

    #[test]
    fn a_base_probability_moves_by_constant_gains() {
        // 0.15 (0.025 - 0.015) + 3 * 0.025 = 0.0765; then 0.15 * 0.010 = 0.0015 more each time.
        let mut controller = PiController::new(15.0, 0.15, 3.0, 1.0);
        assert!(controller.update(0.025));
        assert!((controller.p() - 0.0765).abs() < 1e-12);
        controller.update(0.025);
        assert!((controller.p() - 0.0780).abs() < 1e-12);
        // 0.078 - 0.15 * 0.015 - 3 * 0.025 = 0.00075.
        controller.update(0.0);
        assert!((controller.p() - 0.000_75).abs() < 1e-12);
        controller.update(0.0);
        assert!(!controller.update(0.0), "an idle controller rests");
    }

    #[test]
    fn an_output_stays_between_zero_and_its_bound() {
        let mut controller = PiController::new(15.0, 0.15, 3.0, 0.25);
        for (delay_s, want) in [(1.0, 0.25), (0.0, 0.0)] {
            controller.update(delay_s);
            assert_eq!(controller.p(), want);
        }
    }

    #[test]
    fn draws_and_spaced_signals_have_the_likelihood() {
        let mut rng = Rng::named(1, "marks");
        let mut spacer = Spacer::default();
        let spaced = (1..=9).filter(|_| spacer.chooses(0.3, false, &mut rng)).collect::<Vec<_>>();
        assert_eq!(spaced, [4, 7]);
        let mut spacer = Spacer::default();
        assert!((0..10).all(|_| spacer.chooses(1.0, true, &mut rng)));
        assert!((0..10).all(|_| !spacer.chooses(0.0, true, &mut rng)));
    }

    #[test]
    fn a_roll_marks_up_to_its_probability() {
        let draw = (Rng::named(1, "roll").bits() >> 32) as u32;
        let roll = |probability| rolls(probability, &mut Rng::named(1, "roll"));
        assert!(roll(draw) && !roll(draw - 1));
        let mut rng = Rng::named(1, "rolls");
        let marks = (0..10_000).filter(|_| rolls(u32::MAX / 10 * 3, &mut rng)).count();
        assert!(marks.abs_diff(3000) < 183, "{marks}");
    }

    /// Of 256ths of 1/s: 41 and 819, so 41 * (2^32 - 1) / 4 and 819 * (2^32 - 1) / 4 over 10^9.
    #[test]
    fn the_kernels_gains_are_whole_numbers_and_its_steps_64ths() {
        let mut controller = LinuxPi::new(Time::from_ms(15), 0.16, 3.2, 1.0);
        assert_eq!((controller.alpha, controller.beta), (44, 879));
        assert_eq!((controller.target_ns, controller.most), (15_000_000, u32::MAX));
        // 37 455 256ths are 40 217.000 01.
        assert_eq!(LinuxPi::new(Time::ZERO, 37_455.0 / 256.0, 0.0, 1.0).alpha, 40_217);
        // 10 ms over the target and 25 more than before: (44 * 10^7 + 879 * 2.5 * 10^7) / 64; then the first alone.
        // At no delay (44 * 1.5 * 10^7 + 879 * 2.5 * 10^7) / 64 less, and 0 at least.
        for (ms, want, changes) in [
            (25, 350_234_375, true),
            (25, 357_109_375, true),
            (0, 3_437_500, true),
            (0, 0, true),
            (0, 0, false),
            (15, 206_015_625, true),
            (15, 206_015_625, false),
        ] {
            assert_eq!(controller.update(Time::from_ms(ms)), changes, "{ms}");
            assert_eq!(controller.p(), want, "{ms}");
        }
    }

    #[test]
    fn the_kernels_output_stays_in_its_bounds_however_large_the_step() {
        // 10 s are a step beyond 2^32, in either direction and from any output.
        let mut controller = LinuxPi::new(Time::from_ms(15), 0.16, 3.2, 0.25);
        assert_eq!(controller.most, 1_073_741_823);
        for (ms, want) in [(10_000, 1_073_741_823), (20_000, 1_073_741_823), (0, 0)] {
            controller.update(Time::from_ms(ms));
            assert_eq!(controller.p(), want, "{ms}");
        }
    }

    #[test]
    fn a_ramp_rises_and_a_step_jumps() {
        // RFC 9332 figure 2: from 800 us to 1200 us; 900 us is a quarter of the way.
        let ramp = Ramp { min: Time::from_us(800), max: Time::from_us(1200) };
        let at = |us| ramp.likelihood(Time::from_us(us));
        assert_eq!([at(800), at(900), at(1000), at(1200), at(5000)], [0.0, 0.25, 0.5, 1.0, 1.0]);
        let step = Ramp { min: Time::from_ms(1), max: Time::from_ms(1) };
        assert_eq!(step.likelihood(Time::from_ms(1)), 0.0);
        assert_eq!(step.likelihood(Time::from_us(1001)), 1.0);
    }
}
