//! Sojourn as a WebAssembly module: a page sends requests, and the module loads, checks and runs
//! scenarios, reads and writes modem files, and replies with JSON and columns of numbers.
//!
//! The module has one import, through which the page runs parts of a user's own (`host.rs`). [`abi`] is its C interface, [`request`] the requests, and
//! [`module::Module`] does what they say. All simulation is in `sojourn`, so a run has the same
//! fingerprint as a native one.

pub mod abi;
mod columns;
mod files;
mod gallery;
mod host;
mod line_log;
mod modem;
pub mod module;
mod parts;
mod picture;
pub mod reply;
pub mod request;
mod run;
