//! Common parts of the PIE variants.

use super::Verdict;
use crate::rng::Rng;

crate::series! {
    /// PIE and its kin, PI2: probability of dropping or marking a packet; with PI2 of a classic one.
    DROP_PROBABILITY = "drop_probability", in "1", from "RFC 8033, section 4.2";
}

/// No drop happens until the probability accumulated since the last one reaches this (RFC 8033
/// §5.4, RFC 8034 §4.6).
pub(crate) const PROB_LOW: f64 = 0.85;
/// A drop is forced when the accumulated probability reaches this.
pub(crate) const PROB_HIGH: f64 = 8.5;

/// Spaces drops: after a drop the next one comes neither at once nor very late.
#[derive(Default)]
pub struct Derandomiser {
    accumulated: f64,
}

impl Derandomiser {
    /// Resets the accumulated probability, after a drop or while there is nothing to drop.
    pub fn reset(&mut self) {
        self.accumulated = 0.0;
    }

    /// Adds the probability of an arrival, even one that may not be dropped.
    pub fn accumulate(&mut self, probability: f64) {
        self.accumulated += probability;
    }

    /// Is an arrival with this probability to be dropped? Never with probability zero.
    pub fn says_drop(&self, probability: f64, rng: &mut Rng) -> bool {
        if self.accumulated < PROB_LOW || probability == 0.0 {
            return false;
        }
        self.accumulated >= PROB_HIGH || rng.uniform() <= probability
    }
}

/// Signals congestion by a mark below `max_mark_probability`. At higher probabilities marks have
/// proved too weak, and packets are dropped.
pub(crate) fn signal_or_drop(probability: f64, max_mark_probability: f64) -> Verdict {
    // RFC 8033 §5.1: marked below MAX_ECNTH.
    if probability < max_mark_probability { Verdict::Signal } else { Verdict::Drop }
}

/// Divisor of the controller's step where the drop probability is small (RFC 8033 §4.2); 1 above
/// 0.1.
pub(crate) fn tuning_divisor(probability: f64) -> f64 {
    match probability {
        p if p < 1e-6 => 2048.0,
        p if p < 1e-5 => 512.0,
        p if p < 1e-4 => 128.0,
        p if p < 1e-3 => 32.0,
        p if p < 1e-2 => 8.0,
        p if p < 0.1 => 2.0,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lengths of the runs of arrivals, each ended by a drop, at a constant probability.
    fn run_lengths(p: f64, drops: usize) -> Vec<u64> {
        let mut derandomiser = Derandomiser::default();
        let mut rng = Rng::named(3, "runs");
        let mut runs = Vec::new();
        let mut run = 0;
        while runs.len() < drops {
            run += 1;
            derandomiser.accumulate(p);
            if derandomiser.says_drop(p, &mut rng) {
                derandomiser.reset();
                runs.push(run);
                run = 0;
            }
        }
        runs
    }

    #[test]
    fn runs_between_drops_stay_within_085_and_85_over_p() {
        // p = 0.05: the sum reaches 0.85 at packet 17 and 8.5 at packet 170, give or take one for
        // the rounding of a sum of floats. p_eff/p = 0.5557 (White 2014 appendix B, exact form);
        // the mean of 40 000 runs, of standard deviation about 19, is good to 0.1 of 36.
        let runs = run_lengths(0.05, 40_000);
        assert!((17..=18).contains(runs.iter().min().unwrap()));
        assert!(*runs.iter().max().unwrap() <= 171);
        let mean = runs.iter().sum::<u64>() as f64 / runs.len() as f64;
        let ratio = 1.0 / mean / 0.05;
        assert!((ratio - 0.5557).abs() < 0.008, "{ratio}");
    }

    #[test]
    fn a_sum_of_8_5_is_certain_and_one_of_0_85_a_draw_up_to_the_probability() {
        let draw = Rng::named(1, "drop").uniform();
        for (sum, probability, want) in [
            (8.5, 1e-300, true),
            (8.49, 1e-300, false),
            (8.5, 0.0, false),
            (0.84, 1.0, false),
            (0.85, 1.0, true),
            (0.85, draw, true),
            (0.85, draw - 1e-12, false),
        ] {
            let derandomiser = Derandomiser { accumulated: sum };
            let found = derandomiser.says_drop(probability, &mut Rng::named(1, "drop"));
            assert_eq!(found, want, "{sum} {probability}");
        }
    }

    #[test]
    fn divisors_grow_by_four_with_each_decade_and_marks_end_at_their_probability() {
        for (probability, below, from) in [
            (1e-6, 2048.0, 512.0),
            (1e-5, 512.0, 128.0),
            (1e-4, 128.0, 32.0),
            (1e-3, 32.0, 8.0),
            (1e-2, 8.0, 2.0),
            (0.1, 2.0, 1.0),
        ] {
            assert_eq!(tuning_divisor(probability * 0.999), below, "{probability}");
            assert_eq!(tuning_divisor(probability), from, "{probability}");
        }
        assert_eq!(signal_or_drop(0.0999, 0.1), Verdict::Signal);
        assert_eq!(signal_or_drop(0.1, 0.1), Verdict::Drop);
    }
}
