//! Scores of what users notice: calls, games, pages and video, and whether senders keep to a code point.
//!
//! Functions and small states that know neither accounts nor tables.

pub mod frames;
pub mod g107;
pub mod g1072;
pub mod inputs;
pub mod nqb;
pub mod playout;
pub mod qoe;
pub mod voice_model;

/// Who waits longer than this for a packet of a game or call has given it up: then it has failed (`grades.json`).
pub(crate) const GIVEN_UP_S: f64 = 0.4;
