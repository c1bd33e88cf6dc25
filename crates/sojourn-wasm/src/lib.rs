//! Parts in WebAssembly: modules whose functions answer the hooks of a queue law, a congestion control or a
//! traffic model.
//!
//! A module is a core module without imports; `docs/how-to/wasm-parts.md` has its interface. It can compute
//! and nothing else: its memory and the instructions of a call are limited, and its floats have the same bits everywhere.
//! Modules are interpreted, or with the feature `compiler` compiled, with the same results.

pub mod abi;
#[cfg(feature = "compiler")]
mod compiler;
mod declaration;
#[cfg(any(feature = "interpreter", feature = "compiler"))]
mod floats;
#[cfg(all(feature = "interpreter", any(test, not(feature = "compiler"))))]
mod interpreter;
#[cfg(any(feature = "interpreter", feature = "compiler"))]
mod limit;
#[cfg(any(feature = "interpreter", feature = "compiler"))]
mod native;
#[cfg(all(test, feature = "interpreter"))]
mod tests;

pub use declaration::{declaration_of, numbers_of};
#[cfg(any(feature = "interpreter", feature = "compiler"))]
pub use native::read;
