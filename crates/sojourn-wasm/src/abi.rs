//! What a module exports, and what it may use.

/// The versions of this interface; the second has more hooks, numbers and answers.
pub const VERSIONS: [u32; 2] = [1, sojourn_parts::EXTENDED];
/// Its memory.
pub const MEMORY: &str = "memory";
/// `() -> i32`: the version of the interface that it has.
pub const ABI: &str = "sojourn_abi";
/// `() -> i32`: the address of its declaration, JSON that ends with a zero byte.
pub const DECLARATION: &str = "sojourn_declaration";
/// `() -> i32`: the address of [`MOST_NUMBERS`] floats of 64 bits, with which hooks are called.
pub const NUMBERS: &str = "sojourn_numbers";
/// `() -> i32`: the address of [`MOST_ANSWERS`] floats of 64 bits, for what hooks answer.
pub const ANSWERS: &str = "sojourn_answers";
/// `(i64, i32) -> i32`: starts an instance with a seed and the address of the numbers, which are the values of its
/// parameters. Returns what the hooks of this instance are called with, such as its address.
pub const START: &str = "sojourn_start";
/// A hook for the values of the declared gauges. As all hooks it is `(i32, i32, i32) -> i32`: called with the
/// instance, the address of the numbers and that of the answers, it returns how many answers there are.
pub const GAUGES: &str = "gauges";

/// Numbers that hooks and starts are called with, at most.
pub const MOST_NUMBERS: usize = 64;
/// Numbers that a hook answers, at most.
pub const MOST_ANSWERS: usize = 256;
/// Bytes of a declaration, at most.
pub const MOST_DECLARATION_BYTES: usize = 0x1_0000;
/// Bytes of a module, at most.
pub const MOST_MODULE_BYTES: usize = 1 << 20;
/// Bytes of the memory of an instance, at most.
pub const MOST_MEMORY_BYTES: usize = 16 << 20;
/// Elements of a table, at most.
pub const MOST_TABLE_ELEMENTS: usize = 10_000;
/// Instructions of a call, about.
pub const MOST_INSTRUCTIONS: u64 = 20_000_000;
