//! Parts from outside: classes of Python, and WebAssembly modules.

use std::fmt;
use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyList, PyTuple};
use sojourn::Parts;
use sojourn_parts::{Cause, Declaration, Failure, Hook, Instance, Program, Role, register};

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
    /// The part that `make(values, seed)` makes instances of. Raises `ValueError` with what is wrong in its
    /// declaration, which is JSON.
    #[new]
    fn new(declaration: &str, make: Py<PyAny>) -> PyResult<Self> {
        let refused = |message: String| PyValueError::new_err(message);
        let declaration: Declaration =
            serde_json::from_str(declaration).map_err(|error| refused(error.to_string()))?;
        declaration.check().map_err(refused)?;
        Ok(Self { program: Arc::new(Class { declaration, make }), calls_python: true })
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
}

impl Program for Class {
    fn declaration(&self) -> &Declaration {
        &self.declaration
    }

    fn start(&self, parameters: &[f64], seed: u64) -> Result<Box<dyn Instance>, Cause> {
        let started = Python::attach(|py| {
            let object = self.make.bind(py).call1((parameters.to_vec(), seed))?;
            Object::new(&self.declaration, &object)
        });
        Ok(Box::new(started.map_err(Raised)?))
    }
}

/// An instance of the class. Its methods are looked up once.
struct Object {
    role: Role,
    object: Py<PyAny>,
    methods: Vec<(Hook, Py<PyAny>)>,
    gauges: Vec<String>,
}

impl Object {
    fn new(declaration: &Declaration, object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let method = |hook: &Hook| Ok((*hook, object.getattr(hook.name())?.unbind()));
        let methods = declaration.hooks.iter().map(method).collect::<PyResult<_>>()?;
        let gauges = declaration.gauges.iter().map(|gauge| gauge.name.clone()).collect();
        Ok(Self { role: declaration.role, object: object.clone().unbind(), methods, gauges })
    }

    fn ask(
        &self,
        py: Python<'_>,
        hook: Hook,
        numbers: &[f64],
        answers: &mut Vec<f64>,
    ) -> PyResult<()> {
        let Some((_, method)) = self.methods.iter().find(|(of, _)| *of == hook) else {
            return Ok(());
        };
        let object = self.object.bind(py);
        if self.role == Role::Control {
            let window = if hook == Hook::OnStart { numbers[0] } else { numbers[1] };
            object.setattr(pyo3::intern!(py, "window_bytes"), window)?;
        }
        let answer = method.bind(py).call1(arguments(py, hook, numbers)?)?;
        match self.role {
            Role::Law if answer.is_none() => {}
            Role::Law if hook != Hook::OnUpdate && answer.is_instance_of::<PyBool>() => {
                let allowed = "PASS, MARK or DROP";
                let message = format!("found {answer} from {}; allowed: {allowed}", hook.name());
                return Err(PyTypeError::new_err(message));
            }
            Role::Law => answers.push(number(&answer, hook.name())?),
            Role::Control => {
                let named = |name| number(&object.getattr(name)?, "an attribute");
                answers.push(named(pyo3::intern!(py, "window_bytes"))?);
                answers.push(named(pyo3::intern!(py, "pacing_bps"))?);
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

/// The numbers of a hook, whole ones as `int`.
fn arguments<'py>(py: Python<'py>, hook: Hook, numbers: &[f64]) -> PyResult<Bound<'py, PyTuple>> {
    let argument = |(name, number): (&&str, &f64)| match *name {
        "bytes" | "backlog_bytes" | "ecn" | "flow" | "connection" | "end" => {
            PyInt::new(py, *number as i64).into_any()
        }
        _ => PyFloat::new(py, *number).into_any(),
    };
    PyTuple::new(py, hook.numbers().iter().zip(numbers).map(argument))
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
