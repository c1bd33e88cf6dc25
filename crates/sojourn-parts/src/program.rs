//! What a language provides.

use std::error::Error;

use super::declaration::Declaration;
use super::hook::Hook;
use super::setting::Setting;

/// Why a program could not go on, in the words of its language.
pub type Cause = Box<dyn Error + Send + Sync>;

/// A part in another language. It may run in several threads at once.
pub trait Program: Send + Sync {
    /// What it is.
    fn declaration(&self) -> &Declaration;

    /// Where it is from, as its user knows it; by default its kind.
    fn source(&self) -> &str {
        &self.declaration().name
    }

    /// A new instance with the values of the declared parameters, in order. All its random numbers come from `seed`.
    ///
    /// # Errors If it cannot be made.
    fn start(&self, parameters: &[Setting], seed: u64) -> Result<Box<dyn Instance>, Cause>;
}

/// An instance of a program: one for each queue or bin, connection, or traffic entry in a home.
pub trait Instance: Send {
    /// Calls a hook that the program has with the hook's numbers, and puts what it answers into `answers`, which is
    /// empty.
    ///
    /// # Errors If the program fails. It is not called again.
    fn call(&mut self, hook: Hook, numbers: &[f64], answers: &mut Vec<f64>) -> Result<(), Cause>;

    /// Puts the values of the declared gauges, in order, into `values`, which is empty.
    ///
    /// # Errors If the program fails. It is not called again.
    fn gauges(&mut self, _values: &mut Vec<f64>) -> Result<(), Cause> {
        Ok(())
    }
}
