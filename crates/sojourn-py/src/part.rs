//! Parts from outside: classes of Python, and WebAssembly modules.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use pyo3::exceptions::{PyAttributeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use sojourn::Parts;
use sojourn::input::problem::Problems;
use sojourn_parts::{
    Cause, Declaration, EXTENDED, Failure, Hook, Instance, Number, Parameter, Program, Role,
    Setting, digest_of, kept, register,
};

use crate::PartError;

/// A part from outside, for scenarios that are loaded with it.
#[pyclass(frozen, module = "sojourn._sojourn")]
pub struct Part {
    program: Arc<dyn Program>,
    /// Does a run with it call a class of Python?
    #[pyo3(get)]
    pub(crate) calls_python: bool,
}

#[pymethods]
impl Part {
    /// The digest of a file's content that scenarios have beside its name.
    #[staticmethod]
    fn digest_of(content: &[u8]) -> String {
        digest_of(content)
    }

    /// The part that `make(values, seed)` makes instances of. `taken` has the names of the numbers that each method
    /// takes, in its order; the last may be `**`, for all by name. Raises `ValueError` with what is wrong in its
    /// declaration, which is JSON. `source` is what messages call it.
    #[new]
    fn new(
        declaration: &str,
        make: Py<PyAny>,
        taken: HashMap<String, Vec<String>>,
        source: String,
    ) -> PyResult<Self> {
        let refused = |message: String| PyValueError::new_err(message);
        let declaration = serde_json::from_str(declaration)
            .map_err(|_| refused("found no declaration in JSON; allowed: one".to_owned()))?;
        let declaration = Declaration::read(declaration).map_err(refused)?;
        declaration.check().map_err(refused)?;
        let role = declaration.role;
        let methods = declaration.hooks.iter().map(|hook| Method::new((*hook, role), &taken));
        let methods = methods.collect::<Result<_, _>>().map_err(refused)?;
        let class = Box::new(Class { declaration, make, methods });
        Self::made(Sourced { source, program: class }, true)
    }

    /// The hooks of a role: the numbers that each may take, how many of them come first, and since which version of
    /// the interface there is the hook.
    #[staticmethod]
    fn hooks(role: &str) -> Vec<(&'static str, &'static [&'static str], usize, u32)> {
        let roles = Role::ALL.into_iter().filter(|one| one.name() == role);
        let of = |role: Role| {
            let hooks = role.hooks().iter();
            hooks.map(move |hook| {
                let since = hook.interface().max(role.interface());
                (hook.name(), hook.numbers(role), hook.first(role), since)
            })
        };
        roles.flat_map(of).collect()
    }

    /// A method of a part in this thread has done what it may not. Its call fails with this exception, whatever
    /// becomes of it meanwhile.
    #[staticmethod]
    fn refuse(error: Bound<'_, PyAny>) {
        REFUSED.with_borrow_mut(|refused| _ = refused.get_or_insert(PyErr::from_value(error)));
    }

    /// Takes what was refused since the last call of a method.
    #[staticmethod]
    fn refused(py: Python<'_>) -> Option<Py<PyAny>> {
        REFUSED.take().map(|error| error.into_value(py).into_any())
    }

    /// The part that is a WebAssembly module, the content of a file with this digest. Raises `ValueError` with what
    /// is wrong in it.
    #[staticmethod]
    fn of_module(py: Python<'_>, module: &[u8], digest: &str, source: String) -> PyResult<Self> {
        let program = py.detach(|| sojourn_wasm::read(module, digest));
        let program = program.map_err(PyValueError::new_err)?;
        Self::made(Sourced { source, program }, false)
    }

    /// What results keep of what it says of itself, as JSON.
    #[getter]
    fn declares(&self) -> String {
        kept(self.program.declaration()).to_string()
    }

    /// What it is: a law, a control or traffic.
    #[getter]
    fn role(&self) -> &'static str {
        self.program.declaration().role.name()
    }

    /// The `kind` by which scenarios choose it.
    #[getter]
    fn kind(&self) -> &str {
        &self.program.declaration().name
    }
}

impl Part {
    /// Scenarios can choose it: no part of Sojourn has its name.
    fn made(program: impl Program + 'static, calls_python: bool) -> PyResult<Self> {
        let part = Self { program: Arc::new(program), calls_python };
        let parts =
            register(Parts::default(), part.program.clone()).map_err(PyValueError::new_err)?;
        let refused = |problems: Problems| PyValueError::new_err(problems.first().message.clone());
        parts.json_schema().map_err(refused)?;
        Ok(part)
    }
}

/// These parts, for scenarios to choose from.
pub(crate) fn parts_of(parts: &[PyRef<'_, Part>]) -> PyResult<Parts> {
    let add = |all, part: &PyRef<'_, Part>| register(all, part.program.clone());
    parts.iter().try_fold(Parts::default(), add).map_err(PyValueError::new_err)
}

thread_local! {
    /// What was refused first since the last call of a method.
    static REFUSED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Calls lines of a part. What was refused meanwhile fails it: libraries swallow exceptions.
fn within_bounds<T>(call: impl FnOnce(Python<'_>) -> PyResult<T>) -> Result<T, Raised> {
    Python::attach(|py| {
        let done = call(py);
        REFUSED.take().map_or(done, Err)
    })
    .map_err(Raised)
}

/// The exception for a part that failed. Its cause is that of the part itself.
pub(crate) fn failed(py: Python<'_>, failure: &Failure) -> PyErr {
    let error = PartError::new_err(failure.to_string());
    if let Some(Raised(raised)) = failure.cause.downcast_ref() {
        error.set_cause(py, Some(raised.clone_ref(py)));
    }
    error
}

/// A program, and what messages call it.
struct Sourced<P> {
    source: String,
    program: P,
}

impl<P: Deref<Target: Program> + Send + Sync> Program for Sourced<P> {
    fn declaration(&self) -> &Declaration {
        self.program.declaration()
    }

    fn source(&self) -> &str {
        &self.source
    }

    fn start(&self, parameters: &[Setting], seed: u64) -> Result<Box<dyn Instance>, Cause> {
        self.program.start(parameters, seed)
    }
}

struct Class {
    declaration: Declaration,
    make: Py<PyAny>,
    methods: Vec<Method>,
}

/// Which numbers of its hook a method takes.
#[derive(Clone)]
struct Method {
    hook: Hook,
    /// All of them.
    numbers: &'static [&'static str],
    /// Their places.
    takes: Vec<(usize, Kind)>,
    /// It takes all by name.
    by_name: bool,
}

impl Method {
    fn new(
        (hook, role): (Hook, Role),
        taken: &HashMap<String, Vec<String>>,
    ) -> Result<Self, String> {
        let numbers = hook.numbers(role);
        let names = taken.get(hook.name()).ok_or_else(|| format!("found no {}", hook.name()))?;
        let by_name = names.last().is_some_and(|name| name == "**");
        let place = |name: &String| {
            let place = numbers.iter().position(|number| number == name)?;
            Some((place, Kind::of(name)))
        };
        let places = names[..names.len() - usize::from(by_name)].iter().map(place);
        let takes = places.collect::<Option<_>>();
        let takes = takes.ok_or_else(|| format!("{}: found another number", hook.name()))?;
        Ok(Self { hook, numbers, takes, by_name })
    }

    /// Calls it with its numbers: whole ones as `int`, flags as `bool`, those that are not known as `None`.
    fn call<'py>(
        &self,
        method: &Bound<'py, PyAny>,
        numbers: &[f64],
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = method.py();
        let places = self.takes.iter();
        let arguments = places.map(|(place, kind)| kind.argument(py, numbers[*place]));
        let arguments = PyTuple::new(py, arguments)?;
        if !self.by_name {
            return method.call1(arguments);
        }
        let others = PyDict::new(py);
        for (place, (name, number)) in self.numbers.iter().zip(numbers).enumerate() {
            if self.takes.iter().all(|(taken, _)| *taken != place) {
                others.set_item(name, Kind::of(name).argument(py, *number))?;
            }
        }
        method.call(arguments, Some(&others))
    }
}

impl Program for Class {
    fn declaration(&self) -> &Declaration {
        &self.declaration
    }

    fn start(&self, parameters: &[Setting], seed: u64) -> Result<Box<dyn Instance>, Cause> {
        let started = within_bounds(|py| {
            let described = self.declaration.parameters.iter().zip(parameters);
            let values = described.map(|(of, setting)| value(py, of, setting));
            let values = values.collect::<PyResult<Vec<_>>>()?;
            let object = self.make.bind(py).call1((values, seed))?;
            Object::new(self, &object)
        });
        Ok(Box::new(started?))
    }
}

/// An instance of the class. Its methods are looked up once.
struct Object {
    role: Role,
    /// A control of the interface with all hooks: it sets more than window and pace.
    is_extended: bool,
    /// Has it been shown its threshold? What its class says comes first.
    is_shown: Cell<bool>,
    object: Py<PyAny>,
    methods: Vec<(Method, Py<PyAny>)>,
    gauges: Vec<String>,
}

impl Object {
    fn new(class: &Class, object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let declaration = &class.declaration;
        let method = |of: &Method| Ok((of.clone(), object.getattr(of.hook.name())?.unbind()));
        let methods = class.methods.iter().map(method).collect::<PyResult<_>>()?;
        let gauges = declaration.gauges.iter().map(|gauge| gauge.name.clone()).collect();
        let is_extended = declaration.interface == EXTENDED;
        let (role, object) = (declaration.role, object.clone().unbind());
        Ok(Self { role, is_extended, is_shown: Cell::new(false), object, methods, gauges })
    }

    /// Shows a control its window, and its threshold if it has set one.
    fn show(&self, object: &Bound<'_, PyAny>, hook: Hook, numbers: &[f64]) -> PyResult<()> {
        let py = object.py();
        let number =
            |name| hook.numbers(Role::Control).iter().zip(numbers).find(|(of, _)| **of == name);
        if let Some((_, window)) = number("window_bytes") {
            object.setattr(pyo3::intern!(py, "window_bytes"), window)?;
        }
        let is_first = !self.is_shown.replace(true);
        if self.is_extended
            && !is_first
            && let Some((_, threshold)) = number("threshold_bytes")
        {
            let name = pyo3::intern!(py, "threshold_bytes");
            if !object.getattr(name)?.is_none() {
                object.setattr(name, threshold)?;
            }
        }
        Ok(())
    }

    /// What a control wants: the answers in their order.
    fn wanted(&self, object: &Bound<'_, PyAny>, answers: &mut Vec<f64>) -> PyResult<()> {
        let py = object.py();
        for name in [pyo3::intern!(py, "window_bytes"), pyo3::intern!(py, "pacing_bps")] {
            answers.push(number(&attribute(object, name)?, || of_self(name))?);
        }
        if !self.is_extended {
            return Ok(());
        }
        for name in [
            pyo3::intern!(py, "threshold_bytes"),
            pyo3::intern!(py, "burst_us"),
            pyo3::intern!(py, "burst_bytes"),
        ] {
            answers.push(said(&attribute(object, name)?, name)?);
        }
        let name = pyo3::intern!(py, "holds_back");
        answers.push(flag(&attribute(object, name)?, || of_self(name))?);
        let name = pyo3::intern!(py, "_wake_us");
        let wake = attribute(object, name)?;
        answers.push(said(&wake, name)?);
        if !wake.is_none() {
            object.setattr(name, py.None())?;
        }
        Ok(())
    }

    fn ask(
        &self,
        py: Python<'_>,
        hook: Hook,
        numbers: &[f64],
        answers: &mut Vec<f64>,
    ) -> PyResult<()> {
        let Some((of, method)) = self.methods.iter().find(|(of, _)| of.hook == hook) else {
            return Ok(());
        };
        let object = self.object.bind(py);
        let rates = [pyo3::intern!(py, "up_bps"), pyo3::intern!(py, "down_bps")];
        let rate = |name: &Bound<'_, PyString>| {
            let place = of.numbers.iter().position(|of| name.eq(of));
            place.map_or(f64::NAN, |place| numbers[place])
        };
        match self.role {
            Role::Control => self.show(object, hook, numbers)?,
            Role::Controller => {
                for name in rates {
                    object.setattr(name, Kind::Real.argument(py, rate(name)))?;
                }
            }
            Role::Law | Role::Traffic => {}
        }
        let answer = of.call(method.bind(py), numbers)?;
        if let Some(instead) = instead_of_answer(self.role, hook) {
            if !answer.is_none() {
                let found = shown(&answer);
                let message =
                    format!("found {found} as what it returns; allowed: nothing; {instead}");
                return Err(PyTypeError::new_err(message));
            }
        } else if hook == Hook::OnUpdate {
            answers.push(number(&answer, || "probability".to_owned())?);
        } else if !answer.is_none() {
            answers.push(verdict(&answer)?);
        }
        match self.role {
            Role::Law => {}
            Role::Control => self.wanted(object, answers)?,
            Role::Controller => {
                for name in rates {
                    let found = attribute(object, name)?;
                    // There is none where the router has no shaper.
                    let is_open = found.is_none() && rate(name).is_nan();
                    answers.push(if is_open {
                        f64::NAN
                    } else {
                        known(number(&found, || of_self(name))?, || of_self(name))?
                    });
                }
            }
            Role::Traffic => {
                let commands = object.getattr(pyo3::intern!(py, "_commands"))?;
                let commands = commands.cast_into::<PyList>()?;
                for command in &commands {
                    answers.push(number(&command, || "number of a command".to_owned())?);
                }
                commands.set_slice(0, commands.len(), PyList::empty(py).as_any())?;
            }
        }
        Ok(())
    }

    fn read(&self, py: Python<'_>, values: &mut Vec<f64>) -> PyResult<()> {
        for gauge in &self.gauges {
            let name = PyString::new(py, gauge);
            let value = attribute(self.object.bind(py), &name)?;
            values.push(number(&value, || format!("gauge {gauge}"))?);
        }
        Ok(())
    }
}

impl Instance for Object {
    fn call(&mut self, hook: Hook, numbers: &[f64], answers: &mut Vec<f64>) -> Result<(), Cause> {
        Ok(within_bounds(|py| self.ask(py, hook, numbers, answers))?)
    }

    fn gauges(&mut self, values: &mut Vec<f64>) -> Result<(), Cause> {
        Ok(within_bounds(|py| self.read(py, values))?)
    }
}

/// The value of a parameter.
fn value<'py>(py: Python<'py>, of: &Parameter, setting: &Setting) -> PyResult<Bound<'py, PyAny>> {
    Ok(match setting {
        Setting::Number(number) if of.number == Number::Whole => {
            PyInt::new(py, *number as i64).into_any()
        }
        Setting::Number(number) => PyFloat::new(py, *number).into_any(),
        Setting::Flag(flag) => PyBool::new(py, *flag).to_owned().into_any(),
        Setting::Choice(place) => PyString::new(py, &of.choices[*place]).into_any(),
        Setting::List(list) => PyTuple::new(py, list)?.into_any(),
        Setting::File { path, .. } => PyString::new(py, path).into_any(),
    })
}

/// What a number of a hook is in Python.
#[derive(Clone, Copy)]
enum Kind {
    Whole,
    Flag,
    Real,
}

impl Kind {
    fn of(name: &str) -> Self {
        match name {
            "bytes" | "backlog_bytes" | "ecn" | "flow" | "connection" | "end" | "recovery"
            | "number" | "dscp" | "probe" | "waiting" | "up_bytes" | "down_bytes" => Self::Whole,
            "may_be_delayed" => Self::Flag,
            _ if name.starts_with("is_") => Self::Flag,
            _ => Self::Real,
        }
    }

    /// A number of this kind.
    fn argument(self, py: Python<'_>, number: f64) -> Bound<'_, PyAny> {
        match self {
            _ if number.is_nan() => py.None().into_bound(py),
            Self::Whole => PyInt::new(py, number as i64).into_any(),
            Self::Flag => PyBool::new(py, number != 0.0).to_owned().into_any(),
            Self::Real => PyFloat::new(py, number).into_any(),
        }
    }
}

/// What a hook of which the return value means nothing has in its place; none where it means something.
fn instead_of_answer(role: Role, hook: Hook) -> Option<&'static str> {
    match role {
        Role::Law if hook == Hook::OnEmpty => Some("there is no packet to judge"),
        Role::Law => None,
        Role::Control => Some("set self.window_bytes"),
        Role::Controller => Some("set self.up_bps and self.down_bps"),
        Role::Traffic => Some("call self.send, self.datagram or another command"),
    }
}

fn of_self(name: &Bound<'_, PyString>) -> String {
    format!("self.{}", name.to_string_lossy().trim_start_matches('_'))
}

/// An attribute of an instance, which its class may have deleted.
fn attribute<'py>(
    object: &Bound<'py, PyAny>,
    name: &Bound<'py, PyString>,
) -> PyResult<Bound<'py, PyAny>> {
    object.getattr(name).map_err(|error| {
        if error.is_instance_of::<PyAttributeError>(object.py()) {
            let name = of_self(name);
            PyAttributeError::new_err(format!("found no {name}; allowed: a number"))
        } else {
            error
        }
    })
}

/// A number that need not be there.
fn said(value: &Bound<'_, PyAny>, name: &Bound<'_, PyString>) -> PyResult<f64> {
    if value.is_none() {
        return Ok(f64::NAN);
    }
    known(number(value, || of_self(name))?, || of_self(name))
}

/// Programs of plain numbers leave something open with NaN. Classes have `None` for that.
fn known(number: f64, what: impl Fn() -> String) -> PyResult<f64> {
    if number.is_nan() {
        let message = format!("found nan as {}; allowed: a number", what());
        return Err(PyValueError::new_err(message));
    }
    Ok(number)
}

fn number(found: &Bound<'_, PyAny>, what: impl Fn() -> String) -> PyResult<f64> {
    if let Ok(number) = found.cast_exact::<PyFloat>() {
        return Ok(number.value());
    }
    match found.extract() {
        Ok(number) if !is_flag(found) => Ok(number),
        _ => {
            let message = format!("found {} as {}; allowed: a number", shown(found), what());
            Err(PyTypeError::new_err(message))
        }
    }
}

fn verdict(found: &Bound<'_, PyAny>) -> PyResult<f64> {
    const WHAT: &str = "what to do with a packet";
    match found.extract() {
        Ok(number) if !is_flag(found) => Ok(number),
        _ => {
            let found = shown(found);
            let message = format!("found {found} as {WHAT}; allowed: PASS, MARK or DROP");
            Err(PyTypeError::new_err(message))
        }
    }
}

/// `True` or `False`, of NumPy too.
fn is_flag(found: &Bound<'_, PyAny>) -> bool {
    !found.is_instance_of::<PyFloat>()
        && !found.is_exact_instance_of::<PyInt>()
        && found.extract::<bool>().is_ok()
}

fn flag(found: &Bound<'_, PyAny>, what: impl Fn() -> String) -> PyResult<f64> {
    found.extract::<bool>().map(|is_so| f64::from(u8::from(is_so))).map_err(|_| {
        let message = format!("found {} as {}; allowed: True, False", shown(found), what());
        PyTypeError::new_err(message)
    })
}

/// A value as messages show it.
fn shown(found: &Bound<'_, PyAny>) -> String {
    let is_plain = found.is_none() || is_flag(found) || found.is_instance_of::<PyFloat>();
    let text = if is_plain || found.is_instance_of::<PyInt>() || found.is_instance_of::<PyString>()
    {
        found.repr().map(|text| text.to_string()).ok()
    } else {
        None
    };
    match text {
        Some(text) if text.len() <= MOST_SHOWN => text,
        Some(text) if found.is_instance_of::<PyInt>() => format!("an int of {} digits", text.len()),
        _ => {
            let kind = found.get_type().name();
            kind.map_or_else(|_| "?".to_owned(), |kind| format!("a value of type {kind}"))
        }
    }
}

/// Letters of a value in a message.
const MOST_SHOWN: usize = 40;

/// An exception of a part.
struct Raised(PyErr);

impl fmt::Debug for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Many an exception has no text.
        f.write_str(self.0.to_string().trim_end_matches(": "))
    }
}

impl std::error::Error for Raised {}
