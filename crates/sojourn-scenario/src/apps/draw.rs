//! Random quantities: the random variables of ns-2's traffic models (ns-2.35 tools/ranvar.cc).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use sojourn_engine::rng::Rng;
use sojourn_engine::units::Time;

/// The longest time drawn in s. It lies beyond the end of every run, and sums with it do not
/// overflow.
const LONGEST_S: f64 = 1e7;
/// The largest number drawn, for the same reason.
const MOST: f64 = 1e12;

/// A random quantity, chosen by `kind`. It is drawn anew for each use.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Draw {
    /// A constant.
    Constant {
        /// The value.
        #[schemars(range(min = 0.0, max = 1_000_000_000.0))]
        value: f64,
    },
    /// An exponential distribution.
    Exponential {
        /// Mean of the distribution.
        #[schemars(range(min = 0.0, max = 1_000_000_000.0))]
        mean: f64,
    },
    /// A Pareto distribution. Its least value is mean * (shape - 1) / shape; above that, x is
    /// exceeded with a probability proportional to x^(-shape).
    Pareto {
        /// Mean of the distribution.
        #[schemars(range(min = 0.0, max = 1_000_000_000.0))]
        mean: f64,
        /// Shape of the distribution. With 1 or less there is no mean, and with up to 2 no
        /// variance.
        #[schemars(range(min = 1.001, max = 1000.0))]
        shape: f64,
    },
}

impl Draw {
    /// Its mean.
    pub fn mean(&self) -> f64 {
        match *self {
            Self::Constant { value } => value,
            Self::Exponential { mean } | Self::Pareto { mean, .. } => mean,
        }
    }

    fn value(&self, rng: &mut Rng) -> f64 {
        match *self {
            Self::Constant { value } => value,
            Self::Exponential { mean } => rng.exponential(mean),
            Self::Pareto { mean, shape } => rng.pareto(mean, shape),
        }
    }

    /// A random time, for a quantity in s.
    pub fn time(&self, rng: &mut Rng) -> Time {
        Time::from_secs_f64(self.value(rng).min(LONGEST_S))
    }

    /// A random number of things: rounded up, at least one.
    pub fn count(&self, rng: &mut Rng) -> u64 {
        self.value(rng).ceil().clamp(1.0, MOST) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The objects of a page of Hong 2015 §4.2.3, Pareto of mean 4 and shape 1.2, rounded up. The
    /// least value is 4 * 0.2 / 1.2 = 2/3, so the number exceeds k = 1, 2, ... with probability
    /// (2/3 / k)^1.2 = 0.6147, 0.2676, 0.1645, ... The mean is 1 + 0.6147 * zeta(1.2) = 4.44, but
    /// the variance is infinite; cut at 100 it is finite and the mean is
    /// 1 + 0.6147 * (1 + 2^-1.2 + ... + 99^-1.2) = 1 + 0.6147 * 3.5991 = 3.2125.
    ///
    /// The variance of the cut number is E[x^2] - 3.2125^2, with E[x^2] the sum over k = 0 to 99 of
    /// (2k + 1) P(x > k) = 1 + 0.6147 * (2 * sum k^-0.2 + sum k^-1.2) = 1 + 0.6147 * (2 * 48.83 +
    /// 3.60) = 63.2, so the deviation is 7.3. The mean of 400 000 draws is off by 7.3 / 632 = 0.0115;
    /// four times that is allowed.
    #[test]
    fn objects_of_a_page_have_the_mean_of_a_pareto_rounded_up() {
        let objects = Draw::Pareto { mean: 4.0, shape: 1.2 };
        let mut rng = Rng::named(1, "objects");
        let draws: Vec<u64> = (0..400_000).map(|_| objects.count(&mut rng)).collect();
        let share = |k| draws.iter().filter(|x| **x > k).count() as f64 / draws.len() as f64;
        // A share of 400 000 draws is off by at most sqrt(0.25 / 400 000) = 0.0008.
        for (k, want) in [(0, 1.0), (1, 0.6147), (2, 0.2676), (3, 0.1645), (99, 0.00248)] {
            assert!((share(k) - want).abs() < 4.0 * 0.0008, "above {k}: {}", share(k));
        }
        let mean = draws.iter().map(|x| *x.min(&100) as f64).sum::<f64>() / draws.len() as f64;
        assert!((mean - 3.2125).abs() < 4.0 * 0.0115, "{mean}");
    }

    /// Mean 2 s; the deviation of an exponential is its mean, so 100 000 draws are off by 0.0063 s.
    #[test]
    fn exponential_times_have_their_mean_and_memory() {
        let mut rng = Rng::named(1, "times");
        let times = Draw::Exponential { mean: 2.0 };
        let draws: Vec<f64> = (0..100_000).map(|_| times.time(&mut rng).secs_f64()).collect();
        let mean = draws.iter().sum::<f64>() / 1e5;
        assert!((mean - 2.0).abs() < 4.0 * 0.0063, "{mean}");
        // exp(-1) = 0.3679 of them exceed the mean; sqrt(0.3679 * 0.6321 / 1e5) = 0.0015.
        let above = draws.iter().filter(|s| **s > 2.0).count() as f64 / 1e5;
        assert!((above - 0.3679).abs() < 4.0 * 0.0015, "{above}");
    }

    #[test]
    fn extremes_stay_in_range() {
        let mut rng = Rng::named(1, "extremes");
        let wild = Draw::Pareto { mean: 1e9, shape: 1.001 };
        for _ in 0..10_000 {
            assert!(wild.count(&mut rng) <= MOST as u64);
            assert!(wild.time(&mut rng) <= Time::from_secs_f64(LONGEST_S));
        }
        assert_eq!(Draw::Constant { value: 0.0 }.count(&mut rng), 1);
        assert_eq!(Draw::Constant { value: 20.0 }.count(&mut rng), 20);
    }
}
