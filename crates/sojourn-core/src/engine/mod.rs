//! The simulation engine, independent of networks: the order of wake-ups, and random numbers.

pub mod rng;
pub mod tournament;
pub mod wake;
