//! Files that a scenario names: captures and traces. Nothing else opens a file here.

use std::io::{Error, Read as _, Result};
use std::path::Path;

/// Bytes of a capture, as it is and unpacked.
pub(crate) const MOST_CAPTURE_BYTES: u64 = 1 << 31;
/// Bytes of a capacity trace.
pub(crate) const MOST_TRACE_BYTES: u64 = 1 << 27;

/// Where captures and traces are read from.
pub trait Files {
    /// The content of a file of at most so many bytes.
    fn read(&self, path: &Path, most_bytes: u64) -> Result<Vec<u8>>;
}

/// The files of this machine.
pub struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path, most_bytes: u64) -> Result<Vec<u8>> {
        let about = std::fs::metadata(path)?;
        // Reading a pipe or a device might never end.
        if !about.is_file() {
            return Err(Error::other("not a regular file"));
        }
        let mut bytes = Vec::new();
        if about.len() <= most_bytes {
            std::fs::File::open(path)?.take(most_bytes + 1).read_to_end(&mut bytes)?;
        }
        if about.len().max(bytes.len() as u64) > most_bytes {
            return Err(Error::other(format!("more than {most_bytes} bytes")));
        }
        Ok(bytes)
    }
}
