//! Parts from outside: classes of Python, and WebAssembly modules.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use sojourn::Parts;
use sojourn_parts::{
    Cause, Declaration, EXTENDED, Failure, Hook, Instance, Number, Parameter, Program, Role,
    Setting, register,
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
    /// The part that `make(values, seed)` makes instances of. `taken` has the names of the numbers that each method
    /// takes, in its order; the last may be `**`, for all by name. Raises `ValueError` with what is wrong in its
    /// declaration, which is JSON.
    #[new]
    fn new(
        declaration: &str,
        make: Py<PyAny>,
        taken: HashMap<String, Vec<String>>,
    ) -> PyResult<Self> {
        let refused = |message: String| PyValueError::new_err(message);
        let declaration: Declaration =
            serde_json::from_str(declaration).map_err(|error| refused(error.to_string()))?;
        declaration.check().map_err(refused)?;
        let role = declaration.role;
        let methods = declaration.hooks.iter().map(|hook| Method::new((*hook, role), &taken));
        let methods = methods.collect::<Result<_, _>>().map_err(refused)?;
        Ok(Self { program: Arc::new(Class { declaration, make, methods }), calls_python: true })
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

    /// The part that is a WebAssembly module, the content of a file with this digest. Raises `ValueError` with what
    /// is wrong in it.
    #[staticmethod]
    fn of_module(py: Python<'_>, module: &[u8], digest: &str) -> PyResult<Self> {
        let program = py.detach(|| sojourn_wasm::read(module, digest));
        Ok(Self { program: program.map_err(PyValueError::new_err)?, calls_python: false })
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

/// These parts, for scenarios to choose from.
pub(crate) fn parts_of(parts: &[PyRef<'_, Part>]) -> PyResult<Parts> {
    let add = |all, part: &PyRef<'_, Part>| register(all, part.program.clone());
    parts.iter().try_fold(Parts::default(), add).map_err(PyValueError::new_err)
}

/// The exception for a part that failed. Its cause is that of the part itself.
pub(crate) fn failed(py: Python<'_>, failure: &Failure) -> PyErr {
    let error = PartError::new_err(failure.to_string());
    if let Some(Raised(raised)) = failure.cause.downcast_ref() {
        error.set_cause(py, Some(raised.clone_ref(py)));
    }
    error
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
        let started = Python::attach(|py| {
            let described = self.declaration.parameters.iter().zip(parameters);
            let values = described.map(|(of, setting)| value(py, of, setting));
            let values = values.collect::<PyResult<Vec<_>>>()?;
            let object = self.make.bind(py).call1((values, seed))?;
            Object::new(self, &object)
        });
        Ok(Box::new(started.map_err(Raised)?))
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
            answers.push(number(&object.getattr(name)?, "an attribute")?);
        }
        if !self.is_extended {
            return Ok(());
        }
        for name in [
            pyo3::intern!(py, "threshold_bytes"),
            pyo3::intern!(py, "burst_us"),
            pyo3::intern!(py, "burst_bytes"),
            pyo3::intern!(py, "holds_back"),
            pyo3::intern!(py, "_wake_us"),
        ] {
            answers.push(said(&object.getattr(name)?, name)?);
        }
        if !answers[answers.len() - 1].is_nan() {
            object.setattr(pyo3::intern!(py, "_wake_us"), py.None())?;
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
        match self.role {
            Role::Control => self.show(object, hook, numbers)?,
            Role::Controller => {
                for name in [pyo3::intern!(py, "up_bps"), pyo3::intern!(py, "down_bps")] {
                    let place = of.numbers.iter().position(|of| name.eq(of));
                    let bps = place.map_or(f64::NAN, |place| numbers[place]);
                    object.setattr(name, Kind::Real.argument(py, bps))?;
                }
            }
            Role::Law | Role::Traffic => {}
        }
        let answer = of.call(method.bind(py), numbers)?;
        match self.role {
            Role::Law if answer.is_none() => {}
            Role::Law if hook != Hook::OnUpdate && answer.is_instance_of::<PyBool>() => {
                let allowed = "PASS, MARK or DROP";
                let message = format!("found {answer} from {}; allowed: {allowed}", hook.name());
                return Err(PyTypeError::new_err(message));
            }
            Role::Law => answers.push(number(&answer, hook.name())?),
            Role::Control => self.wanted(object, answers)?,
            Role::Controller => {
                for name in [pyo3::intern!(py, "up_bps"), pyo3::intern!(py, "down_bps")] {
                    answers.push(said(&object.getattr(name)?, name)?);
                }
            }
            Role::Traffic => {
                let commands = object.getattr(pyo3::intern!(py, "_commands"))?;
                let commands = commands.cast_into::<PyList>()?;
                for command in &commands {
                    answers.push(number(&command, "a command")?);
                }
                commands.set_slice(0, commands.len(), PyList::empty(py).as_any())?;
            }
        }
        Ok(())
    }

    fn read(&self, py: Python<'_>, values: &mut Vec<f64>) -> PyResult<()> {
        for gauge in &self.gauges {
            values.push(number(&self.object.bind(py).getattr(&**gauge)?, gauge)?);
        }
        Ok(())
    }
}

impl Instance for Object {
    fn call(&mut self, hook: Hook, numbers: &[f64], answers: &mut Vec<f64>) -> Result<(), Cause> {
        Ok(Python::attach(|py| self.ask(py, hook, numbers, answers)).map_err(Raised)?)
    }

    fn gauges(&mut self, values: &mut Vec<f64>) -> Result<(), Cause> {
        Ok(Python::attach(|py| self.read(py, values)).map_err(Raised)?)
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

/// A number that need not be there.
fn said(value: &Bound<'_, PyAny>, name: &Bound<'_, PyString>) -> PyResult<f64> {
    if value.is_none() { Ok(f64::NAN) } else { number(value, name.to_str()?) }
}

fn number(found: &Bound<'_, PyAny>, what: &str) -> PyResult<f64> {
    found.extract().map_err(|_| {
        let kind = found.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!("found {kind} from {what}; allowed: a number"))
    })
}

/// An exception of a part.
struct Raised(PyErr);

impl fmt::Debug for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl std::error::Error for Raised {}
