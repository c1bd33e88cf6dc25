//! Scenarios: what is simulated, as users write it.
//!
//! `schema` combines the parameter types of all modules. They are the only definition of keys,
//! units, ranges and defaults: the JSON Schema, the checks of a file and the documentation come
//! from them.

pub mod apps;
pub mod capture;
mod carried;
pub mod changes;
mod check;
mod classified;
pub mod controllers;
pub mod ecn;
pub(crate) mod estimate;
pub(crate) mod file;
mod files;
mod former;
pub mod homes;
pub(crate) mod idle_line;
pub mod labels;
pub mod live;
pub mod metrics;
mod node;
pub mod outside;
pub mod overlay;
pub(crate) mod parts;
mod presets;
pub mod provision;
mod rates;
mod remedies;
mod roles;
pub mod router;
mod ruled;
pub(crate) mod schema;
mod traces;
pub mod traffic;
mod variant;
pub(crate) mod watch;

pub use carried::Span;
pub use classified::home_port;
pub use estimate::estimate;
pub use file::{Source, load, to_toml};
pub use parts::{Parts, Readable, file_schema, json_schema};
pub use presets::presets;
pub use remedies::idle_keys;
pub use roles::Roles;
pub use ruled::Idle;
pub use schema::Scenario;
pub use watch::{Unwatched, covered_s};

pub use files::{Disk, Files};
pub use idle_line::{NAME as IDLE_LINE, WITHOUT_BULK, as_line, idle_lines, is_idle, line_of};
pub use variant::Variant;
