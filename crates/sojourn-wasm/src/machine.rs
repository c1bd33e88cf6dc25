//! Modules in an engine: the interpreter or the compiler, whose faces are the same.

use std::sync::Arc;

use sojourn_parts::{Cause, Declaration, Hook, Instance as PartInstance, Program, Setting};

use super::{
    Engine, Error, Instance, Memory, Module, Store, StoreLimits, StoreLimitsBuilder, TypedFunc,
    WasmParams, engine, limit, one_line,
};
use crate::abi::{self, MOST_ANSWERS, MOST_NUMBERS};
use crate::declaration::{declaration_of, hooks, numbers_of};
use crate::floats::{FLOAT_BYTES, read_floats, text_at, write_floats};
use crate::limit::Limit;

/// The start: gets a seed and the address of the parameters, returns a number for the instance.
type StartFunction = TypedFunc<(i64, i32), i32>;
/// A hook: gets its instance and the addresses of numbers and answers, returns how many it answers.
type HookFunction = TypedFunc<(i32, i32, i32), i32>;

/// A module that has been read.
struct Part {
    engine: Engine,
    module: Module,
    declaration: Declaration,
}

const READABLE: &str = "allowed: a whole one, with what compilers of C and Rust use by default, \
                        no SIMD, threads or tail calls";

/// Reads a module.
///
/// # Errors What was found, and what is allowed.
pub(crate) fn read(bytes: &[u8], digest: &str) -> Result<Arc<dyn Program>, String> {
    if bytes.len() > abi::MOST_MODULE_BYTES {
        let (found, most) = (bytes.len(), abi::MOST_MODULE_BYTES);
        return Err(format!("found {found} bytes; allowed: {most} at most"));
    }
    if !bytes.starts_with(b"\0asm") {
        return Err("found no WebAssembly module; allowed: a file that begins as one".to_owned());
    }
    let engine = engine();
    let module = Module::new(&engine, bytes).map_err(|error| {
        format!("found a module that cannot be read: {}; {READABLE}", one_line(&error))
    })?;
    refuse_imports(&module)?;
    refuse_memory(&module)?;
    let mut machine = Machine::new(&engine, &module)?;
    let version = machine.get(abi::ABI)?.cast_unsigned();
    let at = machine.get(abi::DECLARATION)?;
    let json = text_at(machine.memory.data(&machine.store), at)
        .map_err(|fault| format!("{}: {fault}", abi::DECLARATION))?
        .to_owned();
    let functions = module.exports().filter(|of| of.ty().func().is_some());
    let functions: Vec<_> = functions.map(|of| of.name()).collect();
    let declaration = declaration_of(&json, digest, &functions, version)?;
    // Whatever its functions lack shows now, not when a run has begun.
    Started::of(machine, &declaration)?;
    Ok(Arc::new(Part { engine, module, declaration }))
}

fn refuse_imports(module: &Module) -> Result<(), String> {
    let names = module.imports().map(|of| format!("{}.{}", of.module(), of.name()));
    let names: Vec<_> = names.take(5).map(|name| name.escape_debug().to_string()).collect();
    if names.is_empty() {
        return Ok(());
    }
    Err(format!("found the imports {}; allowed: a module without imports", names.join(", ")))
}

/// A module that begins with more memory than it may have.
fn refuse_memory(module: &Module) -> Result<(), String> {
    let mut memories = module.exports().filter_map(|of| of.ty().memory().map(|of| of.minimum()));
    let most = abi::MOST_MEMORY_BYTES as u64 / PAGE_BYTES;
    match memories.find(|pages| *pages > most) {
        Some(_) => Err(too_much_memory()),
        None => Ok(()),
    }
}

const PAGE_BYTES: u64 = 1 << 16;

fn too_much_memory() -> String {
    let most = abi::MOST_MEMORY_BYTES >> 20;
    format!("found more than {most} MiB of memory; allowed: {most} MiB at most")
}

impl Program for Part {
    fn declaration(&self) -> &Declaration {
        &self.declaration
    }

    fn start(&self, parameters: &[Setting], seed: u64) -> Result<Box<dyn PartInstance>, Cause> {
        let numbers = numbers_of(parameters)?;
        let machine = Machine::new(&self.engine, &self.module)?;
        let (mut started, start) = Started::of(machine, &self.declaration)?;
        started.write(&numbers);
        started.number = started.machine.call(&start, (seed.cast_signed(), started.numbers_at))?;
        Ok(Box::new(started))
    }
}

/// An instance of the module in its engine.
struct Machine {
    store: Store<StoreLimits>,
    instance: Instance,
    memory: Memory,
}

impl Machine {
    fn new(engine: &Engine, module: &Module) -> Result<Self, String> {
        let limits = StoreLimitsBuilder::new()
            .memory_size(abi::MOST_MEMORY_BYTES)
            .table_elements(abi::MOST_TABLE_ELEMENTS)
            .trap_on_grow_failure(true);
        let mut store = Store::new(engine, limits.build());
        store.limiter(|limits| limits);
        refuel(&mut store);
        let instance = Instance::new(&mut store, module, &[]).map_err(|error| why(&error))?;
        let memory = instance.get_memory(&mut store, abi::MEMORY);
        let memory = memory.ok_or_else(|| format!("found no memory called {}", abi::MEMORY))?;
        Ok(Self { store, instance, memory })
    }

    /// A function of this type, which returns a whole number.
    fn function<P: WasmParams>(
        &mut self,
        name: &str,
        of: &str,
    ) -> Result<TypedFunc<P, i32>, String> {
        let found = self.instance.get_typed_func(&mut self.store, name);
        found.map_err(|_| format!("found no function {name}: ({of}) -> i32"))
    }

    fn call<P: WasmParams>(
        &mut self,
        function: &TypedFunc<P, i32>,
        with: P,
    ) -> Result<i32, String> {
        refuel(&mut self.store);
        function.call(&mut self.store, with).map_err(|error| why(&error))
    }

    /// What a function without arguments returns.
    fn get(&mut self, name: &str) -> Result<i32, String> {
        let function = self.function(name, "")?;
        self.call(&function, ()).map_err(|fault| format!("{name}: {fault}"))
    }

    /// The address of so many floats.
    fn floats(&mut self, name: &str, count: usize) -> Result<i32, String> {
        let at = self.get(name)?;
        let has_room = read_floats(self.memory.data(&self.store), at, count).is_some();
        if has_room && at.cast_unsigned().is_multiple_of(FLOAT_BYTES as u32) {
            return Ok(at);
        }
        let at = at.cast_unsigned();
        Err(format!(
            "{name}: found no room for {count} floats at {at}; allowed: a multiple of {FLOAT_BYTES}"
        ))
    }
}

/// An instance that answers hooks.
struct Started {
    machine: Machine,
    /// By the number of the hook.
    hooks: Vec<Option<HookFunction>>,
    gauges: Option<HookFunction>,
    numbers_at: i32,
    answers_at: i32,
    /// What the start returned.
    number: i32,
}

impl Started {
    /// All but its start.
    fn of(
        mut machine: Machine,
        declaration: &Declaration,
    ) -> Result<(Self, StartFunction), String> {
        let start = machine.function(abi::START, "i64, i32")?;
        let numbers_at = machine.floats(abi::NUMBERS, MOST_NUMBERS)?;
        let answers_at = machine.floats(abi::ANSWERS, MOST_ANSWERS)?;
        let mut hook = |name: &str| machine.function(name, "i32, i32, i32");
        let gauges = (!declaration.gauges.is_empty()).then(|| hook(abi::GAUGES)).transpose()?;
        let found = hooks().map(|of| declaration.has(of).then(|| hook(of.name())).transpose());
        let hooks = found.collect::<Result<_, _>>()?;
        Ok((Self { machine, hooks, gauges, numbers_at, answers_at, number: 0 }, start))
    }

    fn write(&mut self, numbers: &[f64]) {
        let room = self.machine.memory.data_mut(&mut self.machine.store);
        write_floats(room, self.numbers_at, numbers);
    }
}

impl Machine {
    /// Calls a hook, and adds what it answers to the answers.
    fn answer(
        &mut self,
        hook: &HookFunction,
        (number, numbers_at, answers_at): (i32, i32, i32),
        answers: &mut Vec<f64>,
    ) -> Result<(), Cause> {
        let count = self.call(hook, (number, numbers_at, answers_at))?;
        let room = self.memory.data(&self.store);
        let found = usize::try_from(count).ok().filter(|count| *count <= MOST_ANSWERS);
        match found.and_then(|count| read_floats(room, answers_at, count)) {
            Some(found) => answers.extend(found),
            None => {
                return Err(format!("found {count} answers; allowed: 0 to {MOST_ANSWERS}").into());
            }
        }
        Ok(())
    }
}

impl PartInstance for Started {
    fn call(&mut self, hook: Hook, numbers: &[f64], answers: &mut Vec<f64>) -> Result<(), Cause> {
        self.write(numbers);
        let with = (self.number, self.numbers_at, self.answers_at);
        let function = self.hooks[hook as usize].as_ref();
        function.map_or(Ok(()), |function| self.machine.answer(function, with, answers))
    }

    fn gauges(&mut self, values: &mut Vec<f64>) -> Result<(), Cause> {
        let with = (self.number, self.numbers_at, self.answers_at);
        let function = self.gauges.as_ref();
        function.map_or(Ok(()), |function| self.machine.answer(function, with, values))
    }
}

/// Each call has the same number of instructions.
fn refuel(store: &mut Store<StoreLimits>) {
    store.set_fuel(abi::MOST_INSTRUCTIONS).expect("the engine counts instructions");
}

/// Why a module could not go on.
fn why(error: &Error) -> String {
    match limit(error) {
        Some(Limit::Instructions) => {
            let most = abi::MOST_INSTRUCTIONS / 1_000_000;
            format!("found no end after {most} million instructions; allowed: fewer in a call")
        }
        Some(Limit::Memory) => too_much_memory(),
        None => format!("the module trapped: {}", one_line(error)),
    }
}
