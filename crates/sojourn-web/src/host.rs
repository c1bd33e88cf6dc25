//! The one import of the module: through it the page runs parts that are modules of their own.

#![allow(unsafe_code, reason = "an import is declared; there is no unsafe block")]

use sojourn_parts::{Cause, Hook};
use sojourn_wasm::abi::MOST_ANSWERS;

/// What a page is to do with a part.
#[derive(Clone, Copy)]
pub(crate) enum Call {
    /// Start an instance: the numbers are the two halves of its seed, then its parameters.
    Start,
    /// Call a hook of an instance.
    Hook(Hook),
    /// Read the gauges of an instance.
    Gauges,
}

impl Call {
    /// The number of the call for the page; hooks have theirs.
    fn number(self) -> i32 {
        match self {
            Self::Start => -1,
            Self::Gauges => -2,
            Self::Hook(hook) => i32::from(hook as u8),
        }
    }
}

#[cfg(target_arch = "wasm32")]
#[link(wasm_import_module = "parts")]
unsafe extern "C" {
    /// Calls a part, by its number, or an instance, by its own, with `count` numbers. What it answers is put into
    /// `answers`. Returns the number of the new instance, or how many answers there are. Below 0 it has failed, and the
    /// first `-n` bytes of `answers` say why.
    #[link_name = "call"]
    safe fn call_part(
        whose: i32,
        call: i32,
        numbers: *const f64,
        count: usize,
        answers: *mut f64,
    ) -> i32;
}

/// Outside a page nothing runs parts.
#[cfg(not(target_arch = "wasm32"))]
fn call_part(_: i32, _: i32, _: *const f64, _: usize, _: *mut f64) -> i32 {
    -1
}

/// Has the page call a part or an instance.
///
/// # Errors If that fails.
pub(crate) fn call(
    whose: i32,
    call: Call,
    numbers: &[f64],
    answers: &mut [f64; MOST_ANSWERS],
) -> Result<i32, Cause> {
    let count =
        call_part(whose, call.number(), numbers.as_ptr(), numbers.len(), answers.as_mut_ptr());
    if count >= 0 {
        return Ok(count);
    }
    let bytes: Vec<u8> = answers.iter().flat_map(|answer| answer.to_le_bytes()).collect();
    let size = (count.unsigned_abs() as usize).min(bytes.len());
    Err(String::from_utf8_lossy(&bytes[..size]).into())
}
