//! Parts that a page has brought: WebAssembly modules, which the page itself runs.

use std::sync::Arc;

use serde_json::{Value, json};
use sojourn::Parts;
use sojourn_parts::{Cause, Declaration, Hook, Instance, Program, Setting, register};
use sojourn_wasm::abi::MOST_ANSWERS;
use sojourn_wasm::numbers_of;

use crate::host::{self, Call};

/// Parts by the names of their kinds.
#[derive(Default)]
pub(crate) struct Brought(Vec<Arc<Module>>);

impl Brought {
    /// Takes a part in the place of one of the same name, and describes it. The page knows its module by `number`.
    ///
    /// # Errors What is wrong with it.
    pub(crate) fn take(&mut self, number: u64, declaration: Declaration) -> Result<Value, String> {
        let described =
            json!({ "name": declaration.name, "role": declaration.role, "doc": declaration.doc });
        let mut parts = self.0.clone();
        parts.retain(|part| part.declaration.name != declaration.name);
        parts.push(Arc::new(Module { declaration, number: number as i32 }));
        let parts = Self(parts);
        parts.parts()?.file_schema().map_err(|problems| problems.to_string())?;
        *self = parts;
        Ok(described)
    }

    /// Kinds that scenarios may choose.
    ///
    /// # Errors What is wrong with one of them.
    pub(crate) fn parts(&self) -> Result<Parts, String> {
        self.0.iter().try_fold(Parts::default(), |parts, module| register(parts, module.clone()))
    }
}

struct Module {
    declaration: Declaration,
    number: i32,
}

impl Program for Module {
    fn declaration(&self) -> &Declaration {
        &self.declaration
    }

    fn start(&self, parameters: &[Setting], seed: u64) -> Result<Box<dyn Instance>, Cause> {
        // A float has no room for 64 bits.
        let mut numbers = vec![(seed >> 32) as f64, f64::from(seed as u32)];
        numbers.extend(numbers_of(parameters)?);
        let mut answers = Box::new([0.0; MOST_ANSWERS]);
        let number = host::call(self.number, Call::Start, &numbers, &mut answers)?;
        Ok(Box::new(Started { number, answers }))
    }
}

struct Started {
    number: i32,
    answers: Box<[f64; MOST_ANSWERS]>,
}

impl Started {
    fn ask(&mut self, call: Call, numbers: &[f64], into: &mut Vec<f64>) -> Result<(), Cause> {
        let count = host::call(self.number, call, numbers, &mut self.answers)?;
        into.extend(self.answers.iter().take(usize::try_from(count)?));
        Ok(())
    }
}

impl Instance for Started {
    fn call(&mut self, hook: Hook, numbers: &[f64], answers: &mut Vec<f64>) -> Result<(), Cause> {
        self.ask(Call::Hook(hook), numbers, answers)
    }

    fn gauges(&mut self, values: &mut Vec<f64>) -> Result<(), Cause> {
        self.ask(Call::Gauges, &[], values)
    }
}
