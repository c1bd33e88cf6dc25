//! The C interface, through which bytes come and go.
//!
//! A page calls `reserve(n)`, writes a request of `n` bytes at the address that it returns, and calls
//! `handle`. The reply is JSON of `reply_size` bytes at `reply_at`, and a blob of `blob_size` bytes at
//! `blob_at`. A request has the size of its JSON in four bytes (little endian), the JSON, and a blob.
//!
//! A panic stops the module with a trap. Then `defect_at` and `defect_size` have its message, and the
//! page must load the module again.

#![allow(unsafe_code, reason = "names of exports must be kept; there is no unsafe block")]

use std::cell::RefCell;
use std::panic::set_hook;

use crate::module::Module;
use crate::reply::Reply;

/// What lives between two calls. A module has one thread.
#[derive(Default)]
struct State {
    request: Vec<u8>,
    reply: Reply,
    module: Module,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
    static DEFECT: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Makes room for a request and returns where it belongs.
#[unsafe(no_mangle)]
pub extern "C" fn reserve(bytes: usize) -> *mut u8 {
    set_hook(Box::new(|panic| DEFECT.set(panic.to_string())));
    STATE.with_borrow_mut(|state| {
        state.request = vec![0; bytes];
        state.request.as_mut_ptr()
    })
}

/// Does what the request says.
#[unsafe(no_mangle)]
pub extern "C" fn handle() {
    STATE.with_borrow_mut(|state| {
        let request = std::mem::take(&mut state.request);
        state.reply = state.module.handle(&request);
    });
}

/// Where the JSON of the reply is.
#[unsafe(no_mangle)]
pub extern "C" fn reply_at() -> *const u8 {
    STATE.with_borrow(|state| state.reply.json.as_ptr())
}

/// Its size in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn reply_size() -> usize {
    STATE.with_borrow(|state| state.reply.json.len())
}

/// Where the blob of the reply is.
#[unsafe(no_mangle)]
pub extern "C" fn blob_at() -> *const u8 {
    STATE.with_borrow(|state| state.reply.blob.as_ptr())
}

/// Its size in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn blob_size() -> usize {
    STATE.with_borrow(|state| state.reply.blob.len())
}

/// Where the message of the last panic is.
#[unsafe(no_mangle)]
pub extern "C" fn defect_at() -> *const u8 {
    DEFECT.with_borrow(|message| message.as_ptr())
}

/// Its size in bytes, 0 without a panic.
#[unsafe(no_mangle)]
pub extern "C" fn defect_size() -> usize {
    DEFECT.with_borrow(String::len)
}
