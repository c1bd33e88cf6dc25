//! What every simulation needs and no network knows of: who is due next, and random numbers.

pub mod rng;
pub mod tournament;
pub mod wake;
