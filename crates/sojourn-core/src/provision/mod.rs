//! From a modem's configuration file to the upstream and downstream of a scenario, and back.
//!
//! A file contains the service that the operator sells: rates, buffers, AQM and classifiers. The
//! scenario keeps everything else: the kind of modem, other traffic on the channel, servers and
//! traffic.

mod channel_rate;
mod low_latency;
mod notes;
mod read;
mod scheduling;
mod write;

use crate::input::problem::Problems;
use crate::scenario::file;
use crate::scenario::{Disk, Files, Variant};

pub use read::Provision;
pub use write::modem_config;

/// Reads a scenario file, with the service of a modem's configuration file. That overrides the
/// scenario file and its variants; `sets` override everything.
///
/// # Errors All problems: where each is, what was found and what is allowed.
pub fn load_for(
    text: &str,
    source: &str,
    sets: &[String],
    modem: Option<&Provision>,
) -> Result<Vec<Variant>, Problems> {
    load_from(text, source, sets, modem, &Disk, u64::MAX)
}

/// As [`load_for`], with captures from `files` instead of this machine's disk. A variant whose run may
/// need more than `most_bytes` of memory is refused.
///
/// # Errors As [`load_for`].
pub fn load_from(
    text: &str,
    source: &str,
    sets: &[String],
    modem: Option<&Provision>,
    files: &dyn Files,
    most_bytes: u64,
) -> Result<Vec<Variant>, Problems> {
    file::load_from(text, source, sets, modem.map(|modem| modem as _), files, most_bytes)
}
