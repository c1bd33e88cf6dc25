//! Scenarios: what is simulated, as people write it.
//!
//! `schema` holds the types, which are the one truth about keys, units, ranges and defaults; the JSON
//! Schema, the checks of a file and the documentation all come from them.

pub mod address;
mod capture;
pub mod channel;
pub mod check;
pub mod cmts;
mod cross;
pub mod file;
pub mod homes;
mod overlay;
pub mod schema;
mod shape;
pub(crate) mod text;
pub(crate) mod words;

pub use check::Problem;
pub use file::{Variant, load, load_for};
pub use schema::{Dialect, Scenario, json_schema};
