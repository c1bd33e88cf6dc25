//! Reading user input: TOML, checks against a JSON Schema, and wording of messages.

pub(crate) mod compare;
pub(crate) mod digest;
pub mod document;
pub mod problem;
pub(crate) mod schema_check;
pub mod setting;
pub(crate) mod shape;
pub(crate) mod text;
pub(crate) mod words;
