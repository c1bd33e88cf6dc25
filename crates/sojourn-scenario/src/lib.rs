//! Scenarios: what is simulated, as users write it.
//!
//! `schema` combines the parameter types of all modules. They are the only definition of keys,
//! units, ranges and defaults: the JSON Schema, the checks of a file and the documentation come
//! from them.

pub mod apps;
pub mod capture;
pub mod changes;
mod check;
pub mod estimate;
pub mod file;
pub mod homes;
pub mod idle_line;
pub mod labels;
pub mod metrics;
pub mod overlay;
pub mod provision;
mod rates;
pub mod schema;
mod traces;
pub mod traffic;
mod variant;
pub mod watch;

pub use capture::{Disk, Files};
pub use file::{Source, load};
pub use idle_line::{NAME as IDLE_LINE, WITHOUT_BULK, idle_lines, is_idle, line_of};
pub use schema::Scenario;
pub use variant::Variant;
