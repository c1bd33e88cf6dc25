//! The interpreter, which is built in seconds.

pub(crate) use wasmi::{
    Engine, Error, Instance, Memory, Module, Store, StoreLimits, StoreLimitsBuilder, TypedFunc,
    WasmParams,
};

use crate::limit::Limit;

#[allow(clippy::duplicate_mod, reason = "both engines have the same face")]
#[path = "../machine.rs"]
pub(crate) mod machine;

/// The interpreter, with what compilers of C and Rust use by default.
pub(crate) fn engine() -> Engine {
    let mut config = wasmi::Config::default();
    config
        .consume_fuel(true)
        .wasm_multi_memory(false)
        .wasm_tail_call(false)
        .wasm_extended_const(false);
    Engine::new(&config)
}

/// The limit that a module has reached.
pub(crate) fn limit(error: &Error) -> Option<Limit> {
    match error.as_trap_code()? {
        wasmi::TrapCode::OutOfFuel => Some(Limit::Instructions),
        wasmi::TrapCode::GrowthOperationLimited => Some(Limit::Memory),
        _ => None,
    }
}

/// What an error says, in one line.
pub(crate) fn one_line(error: &Error) -> String {
    error.to_string().replace("\n", " ")
}
