//! What a module has too much of.

/// A limit that a module has reached.
pub(crate) enum Limit {
    /// [`crate::abi::MOST_INSTRUCTIONS`] of a call.
    Instructions,
    /// [`crate::abi::MOST_MEMORY_BYTES`] of an instance.
    Memory,
}
