//! A panic of the simulator is a defect in it: Python sees an exception, never a dead process.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};

use pyo3::PyErr;

use crate::Defect;

thread_local! {
    static WHERE: Cell<String> = const { Cell::new(String::new()) };
}

/// From now on a panic leaves its place for [`caught`] instead of a message on stderr.
pub fn remember_where() {
    set_hook(Box::new(|panic| {
        WHERE.set(panic.location().map(ToString::to_string).unwrap_or_default());
    }));
}

/// What `work` gives, or its panic as an exception.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, PyErr> {
    // What a panic leaves half-done is dropped with the closure, so no one sees it.
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let message = text_of(payload.as_ref());
        let place = WHERE.take();
        Defect::new_err(format!("a defect in sojourn, please report: {message} ({place})"))
    })
}

fn text_of(payload: &(dyn Any + Send)) -> &str {
    match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (_, Some(text)) => text,
        _ => "no message",
    }
}
