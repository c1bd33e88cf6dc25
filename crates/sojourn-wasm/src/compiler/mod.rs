//! The compiler.

pub(crate) use wasmtime::{
    Engine, Error, Instance, Memory, Module, Store, StoreLimits, StoreLimitsBuilder, TypedFunc,
    WasmParams,
};

use crate::limit::Limit;

#[allow(clippy::duplicate_mod, reason = "both engines have the same face")]
#[path = "../machine.rs"]
pub(crate) mod machine;

/// The compiler, with what compilers of C and Rust use by default.
pub(crate) fn engine() -> Engine {
    let mut config = wasmtime::Config::new();
    config
        .consume_fuel(true)
        .cranelift_nan_canonicalization(true)
        .wasm_multi_memory(false)
        .wasm_tail_call(false)
        .wasm_extended_const(false)
        .wasm_memory64(false)
        .wasm_simd(false)
        .wasm_relaxed_simd(false)
        // Each queue of a thousand has a memory of its own, so it must not take more addresses than it may use.
        .memory_reservation(crate::abi::MOST_MEMORY_BYTES as u64)
        .memory_guard_size(0x1_0000)
        .memory_may_move(false);
    Engine::new(&config).expect("these settings do not contradict each other")
}

/// The limit that a module has reached. That of memory has no type of its own.
pub(crate) fn limit(error: &Error) -> Option<Limit> {
    if error.downcast_ref() == Some(&wasmtime::Trap::OutOfFuel) {
        return Some(Limit::Instructions);
    }
    error
        .root_cause()
        .to_string()
        .starts_with("forcing trap when growing memory")
        .then_some(Limit::Memory)
}

/// What an error says, in one line.
pub(crate) fn one_line(error: &Error) -> String {
    error.root_cause().to_string().trim_start_matches("wasm trap: ").replace("\n", " ")
}
