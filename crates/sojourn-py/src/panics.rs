//! A panic of the simulator is a defect. Python gets an exception, and its process survives.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};

use pyo3::PyErr;

use crate::Defect;

thread_local! {
    static WHERE: Cell<String> = const { Cell::new(String::new()) };
}

/// Makes panics record their location for [`caught`], instead of printing a message on stderr.
pub(crate) fn remember_where() {
    set_hook(Box::new(|panic| {
        WHERE.set(panic.location().map(ToString::to_string).unwrap_or_default());
    }));
}

/// Returns the result of `work`, or its panic as an exception.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, PyErr> {
    // State that a panic leaves half-done is dropped with the closure, so nobody sees it.
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let message = text_of(payload.as_ref());
        let place = WHERE.take();
        Defect::new_err(format!("a defect in sojourn, please report it: {message} ({place})"))
    })
}

fn text_of(payload: &(dyn Any + Send)) -> &str {
    match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (_, Some(text)) => text,
        _ => "no message",
    }
}
