//! From a modem's configuration file to the upstream and downstream of a scenario, and back.
//!
//! A file says what the operator sells: rates, buffers, AQM and classifiers. How the modem is built,
//! what else is on the channel, servers and traffic stay those of the scenario.

mod read;
mod write;

use crate::input::problem::Problem;
use crate::scenario::Variant;
use crate::scenario::file::load_with;

pub use read::Provision;
pub use write::modem_config;

/// The runs of a scenario file with a modem that has a file of its own. That wins over the scenario file
/// and its variants, and each of `sets` over all.
///
/// # Errors
/// The first problem: where it is, what was found and what is allowed.
pub fn load_for(
    text: &str,
    source: &str,
    sets: &[String],
    modem: Option<&Provision>,
) -> Result<Vec<Variant>, Problem> {
    load_with(text, source, sets, modem.map(|modem| modem as _))
}
