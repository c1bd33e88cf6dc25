//! Reading user input: TOML, checks against a JSON Schema, and wording of messages.

pub mod aliases;
mod code;
pub mod compare;
pub mod defaults;
pub mod digest;
pub mod document;
mod kinds;
pub mod parts;
mod places;
pub mod problem;
mod remedy;
pub mod schema_check;
pub mod setting;
pub mod shape;
pub mod text;
pub mod words;
