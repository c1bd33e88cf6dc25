//! Reading a module where no browser runs it.

use std::sync::Arc;

use sojourn_parts::Program;

#[cfg(feature = "compiler")]
use crate::compiler as engine;
#[cfg(not(feature = "compiler"))]
use crate::interpreter as engine;

/// Reads a module, the content of a file. Results are stored with `digest`, that of the file.
///
/// # Errors If it is no module, does not have the interface, or its declaration cannot be: what was found, and what
/// is allowed.
pub fn read(module: &[u8], digest: &str) -> Result<Arc<dyn Program>, String> {
    engine::machine::read(module, digest)
}
