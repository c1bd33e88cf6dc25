//! How the pipes of both transports' tests lose.

use sojourn_engine::rng::Rng;
use sojourn_testing::proptest::prelude::*;

/// Says of each packet, as it is sent, whether the pipe loses it.
pub(crate) type Loss<Packet> = Box<dyn FnMut(&Packet) -> bool>;

/// Loses nothing.
pub(crate) fn nothing<Packet>() -> Loss<Packet> {
    Box::new(|_| false)
}

/// Loses each packet with probability `p`.
pub(crate) fn at_random<Packet>(p: f64, seed: u64) -> Loss<Packet> {
    let mut rng = Rng::named(seed, "loss");
    Box::new(move |_| rng.uniform() < p)
}

/// How a pipe loses in a property test: at random, or in a pattern that repeats.
#[derive(Debug, Clone)]
pub(crate) enum LossCase {
    Random(u64, f64),
    Pattern(Vec<bool>),
}

impl LossCase {
    pub(crate) fn loss<Packet>(&self) -> Loss<Packet> {
        match self.clone() {
            Self::Random(seed, p) => at_random(p, seed),
            Self::Pattern(pattern) => {
                let mut turn = pattern.into_iter().cycle();
                Box::new(move |_| turn.next().expect("it goes on for ever"))
            }
        }
    }
}

/// Up to 30 % lost: at random, or in bursts of up to 6 every 20 packets or more.
pub(crate) fn any_loss() -> impl Strategy<Value = LossCase> {
    let burst = (0..=6_usize, 0..40_usize, 0..20_usize).prop_map(|(lost, passed, shift)| {
        let mut pattern = vec![true; lost];
        pattern.resize(20 + passed, false);
        pattern.rotate_right(shift);
        LossCase::Pattern(pattern)
    });
    prop_oneof![(any::<u64>(), 0.0..0.3).prop_map(|(seed, p)| LossCase::Random(seed, p)), burst]
}
