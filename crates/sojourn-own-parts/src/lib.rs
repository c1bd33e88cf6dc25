//! Parts of one's own in Rust: a law, a congestion control, a rate controller and a hop, each in a file. Copy one to begin with.

pub mod control;
pub mod controller;
pub mod hop;
pub mod law;

use sojourn::Parts;

/// The parts, by the names that scenarios have for them.
pub fn parts() -> Parts {
    Parts::default()
        .aqm::<law::Parameters>("own_codel")
        .congestion_control::<control::Parameters>("own")
        .controller::<controller::Parameters>("additive")
        .hop::<hop::Parameters>("wifi")
}
