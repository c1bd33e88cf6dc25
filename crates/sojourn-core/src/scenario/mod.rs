//! Scenarios: what is simulated, as people write it.
//!
//! `schema` puts together the parameter types of all rooms, which are the one truth about keys, units,
//! ranges and defaults; the JSON Schema, the checks of a file and the documentation all come from
//! them.

mod capture;
mod check;
pub mod file;
pub mod homes;
pub mod overlay;
pub mod schema;
pub mod traffic;

pub use file::{Variant, load};
pub use schema::Scenario;
