//! Random numbers: one named stream for each purpose.
//!
//! A stream is keyed by (seed, name), so that adding a flow to a scenario does not shift the draws
//! of the others. The generator is xoshiro256++ (Blackman & Vigna 2021) from `rand_xoshiro`, whose
//! output is a fixed function of its seed. Real-valued draws are computed here, from its integers
//! and with `libm`, so that they have the same bits on every platform and in every version.

use rand_core::{Rng as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The seed of a stream of random numbers. A part that draws none leaves it unopened.
#[derive(Clone, Copy, Debug)]
pub struct Seed {
    /// FNV-1a, 64 bit: a hash whose value is fixed for good, unlike the standard library's.
    hash: u64,
}

impl Seed {
    /// The stream called `name` of the run with this seed.
    pub fn named(seed: u64, name: &str) -> Self {
        Self { hash: 0xcbf2_9ce4_8422_2325 }.with(&seed.to_le_bytes()).with(name.as_bytes())
    }

    /// The stream of this number among those of the same name.
    pub fn numbered(self, number: u64) -> Self {
        self.with(&number.to_le_bytes())
    }

    fn with(self, bytes: &[u8]) -> Self {
        let next =
            |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        Self { hash: bytes.iter().fold(self.hash, next) }
    }

    /// Its random numbers, from the first one on.
    pub fn open(self) -> Rng {
        Rng(Source::Xoshiro(Xoshiro256PlusPlus::seed_from_u64(self.hash)))
    }
}

/// One stream of random numbers.
pub struct Rng(Source);

enum Source {
    Xoshiro(Xoshiro256PlusPlus),
    SplitMix(u64),
}

impl Rng {
    /// The stream called `name` of the run with this seed.
    pub fn named(seed: u64, name: &str) -> Self {
        Seed::named(seed, name).open()
    }

    /// SplitMix64 (Steele, Lea & Flood 2014) from this state: the generator of reference data that other programs
    /// made.
    pub fn split_mix(state: u64) -> Self {
        Self(Source::SplitMix(state))
    }

    /// A random 64-bit integer.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        match &mut self.0 {
            Source::Xoshiro(generator) => generator.next_u64(),
            Source::SplitMix(state) => split_mix(state),
        }
    }

    /// Uniform in [0, 1), with 53 random bits.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// A uniform integer in [0, n), for n well below 2^53; 0 if n is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        (self.uniform() * n as f64) as u64
    }

    /// An exponentially distributed number with this mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.uniform())
    }

    /// A normally distributed number, by the method of Box & Muller 1958.
    pub fn normal(&mut self, mean: f64, deviation: f64) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.uniform()));
        mean + deviation * radius * libm::cos(2.0 * std::f64::consts::PI * self.uniform())
    }

    /// A Laplace-distributed number of mean 0: its distance from there is exponential.
    pub fn laplace(&mut self, scale: f64) -> f64 {
        let distance = self.exponential(scale);
        if self.uniform() < 0.5 { -distance } else { distance }
    }

    /// A Pareto-distributed number with this mean and shape, which must be above 1. It is scale *
    /// U^(-1/shape), where scale = mean * (shape - 1) / shape is the least value (ns-2.35
    /// tools/ranvar.cc).
    pub fn pareto(&mut self, mean: f64, shape: f64) -> f64 {
        mean * (shape - 1.0) / shape * libm::pow(1.0 - self.uniform(), -1.0 / shape)
    }
}

#[cold]
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_draws(seed: u64, name: &str) -> Vec<u64> {
        let mut rng = Rng::named(seed, name);
        (0..4).map(|_| rng.bits()).collect()
    }

    #[test]
    fn a_stream_depends_on_seed_and_name_alone() {
        assert_eq!(first_draws(1, "mac"), first_draws(1, "mac"));
        assert_ne!(first_draws(1, "mac"), first_draws(1, "aqm"));
        assert_ne!(first_draws(1, "mac"), first_draws(2, "mac"));
    }

    #[test]
    fn normal_and_laplace_numbers_have_their_moments() {
        // 160 000 draws of mean 5. Normal, deviation 2: the mean is off by 2/400 = 0.005, the variance
        // of 4 by 4 sqrt(2)/400 = 0.014. Laplace, scale 2: variance 8, so 0.007, and the variance is
        // off by sqrt(5) * 8/400 = 0.045. Four times that is allowed.
        let mut rng = Rng::named(7, "moments");
        let mut moments = |draw: &mut dyn FnMut(&mut Rng) -> f64| {
            let draws: Vec<f64> = (0..160_000).map(|_| draw(&mut rng)).collect();
            let mean = draws.iter().sum::<f64>() / 160_000.0;
            (mean, draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 160_000.0)
        };
        let (mean, variance) = moments(&mut |rng| rng.normal(5.0, 2.0));
        assert!((mean - 5.0).abs() < 0.02 && (variance - 4.0).abs() < 0.056, "{mean} {variance}");
        let (mean, variance) = moments(&mut |rng| 5.0 + rng.laplace(2.0));
        assert!((mean - 5.0).abs() < 0.028 && (variance - 8.0).abs() < 0.18, "{mean} {variance}");
    }

    #[test]
    fn uniform_fills_its_interval_evenly() {
        // Chi-square over 16 cells of 160 000 draws: 15 degrees of freedom, 99.9 % point 37.7.
        let mut rng = Rng::named(7, "chi-square");
        let mut cells = [0_u32; 16];
        for _ in 0..160_000 {
            cells[rng.below(16) as usize] += 1;
        }
        let chi2: f64 = cells.iter().map(|&n| (f64::from(n) - 1e4).powi(2) / 1e4).sum();
        assert!(chi2 < 37.7, "{chi2}");
    }
}
