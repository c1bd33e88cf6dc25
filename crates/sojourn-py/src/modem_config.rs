//! Configuration files of modems.

use pyo3::prelude::*;
use sojourn::access::modem_config::{File, ModemConfig, Secret};
use sojourn::input::problem::{Code, Fault, Problem, Warning};
use sojourn::scenario::provision;

use crate::ConfigError;
use crate::panics::caught;
use crate::problem::{about, object};
use crate::variant::Variant;

/// A modem's configuration file, with what is wrong in it.
#[pyclass(frozen, module = "sojourn._sojourn")]
pub struct ConfigFile(File);

#[pymethods]
impl ConfigFile {
    /// Reads a binary file as far as it can be read. `source` is its name in messages.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, content: &[u8], source: &str) -> PyResult<Self> {
        caught(|| File::open(content, source))?.map(Self).map_err(|problem| refused(py, problem))
    }

    /// Builds a file from settings in TOML. `source` is the text's name in messages. The file has a
    /// CMTS MIC if the secret is given.
    #[staticmethod]
    #[pyo3(signature = (text, source, secret=None))]
    fn from_toml(
        py: Python<'_>,
        text: &str,
        source: &str,
        secret: Option<&[u8]>,
    ) -> PyResult<Self> {
        caught(|| File::from_toml(text, source, secret.map(Secret)))?
            .map(Self)
            .map_err(|problems| about(py, &problems, ConfigError::new_err))
    }

    /// The file for a modem in the homes of a group of a scenario (default: the first group), and a
    /// line for each setting that files cannot express.
    #[staticmethod]
    #[pyo3(signature = (variant, home=None, secret=None))]
    fn from_scenario(
        py: Python<'_>,
        variant: &Variant,
        home: Option<&str>,
        secret: Option<&[u8]>,
    ) -> PyResult<(Self, Vec<String>)> {
        let scenario = &variant.scenario;
        let groups: Vec<_> = scenario.groups().collect();
        let Some(group) = groups.iter().find(|group| home.is_none_or(|name| name == group.name))
        else {
            let names: Vec<_> = groups.iter().map(|group| group.name).collect();
            let found = home.unwrap_or_default();
            let allowed = names.join(", ");
            let fault = Fault::found("homes", format!("{found:?}"), allowed);
            let fault = fault.coded(Code::UnknownName);
            return Err(refused(py, fault.of("")));
        };
        let made = caught(|| {
            let (config, notes) = provision::modem_config(scenario, group);
            File::from_view(&config, secret.map(Secret)).map(|file| (Self(file), notes))
        })?;
        made.map_err(|problem| refused(py, problem))
    }

    /// What is wrong, in the order in which it was found.
    fn problems(&self, py: Python<'_>, source: &str) -> PyResult<Vec<Py<PyAny>>> {
        let problems = caught(|| self.0.problems(source))?;
        problems.iter().map(|problem| object(py, "Problem", problem)).collect()
    }

    /// Refuses a file with a problem that leaves unclear what would be simulated.
    pub fn check(&self, py: Python<'_>, source: &str) -> PyResult<()> {
        let refusal = caught(|| self.0.refusal(source))?;
        refusal.map_or(Ok(()), |problem| Err(refused(py, problem)))
    }

    /// Checks both digests.
    fn verify(&self, py: Python<'_>, secret: &[u8], source: &str) -> PyResult<()> {
        caught(|| self.0.verify(Secret(secret), source))?.map_err(|problem| refused(py, problem))
    }

    /// The binary file.
    fn to_bytes(&self) -> PyResult<Vec<u8>> {
        caught(|| self.0.encode())
    }

    /// The settings, as TOML.
    fn to_toml(&self) -> PyResult<String> {
        caught(|| self.0.to_toml())
    }

    /// The tree of TLVs, as JSON.
    fn to_json(&self) -> PyResult<String> {
        caught(|| self.0.to_json().to_string())
    }
}

impl ConfigFile {
    /// The settings of the file.
    pub fn view(&self) -> ModemConfig {
        self.0.view()
    }

    /// The problems without effect on what is simulated.
    pub fn notes(&self) -> Vec<Warning> {
        self.0.notes()
    }
}

fn refused(py: Python<'_>, problem: Problem) -> PyErr {
    about(py, &problem.into(), ConfigError::new_err)
}
