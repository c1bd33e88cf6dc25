//! Files that a scenario names: captures and traces.

use std::io::Read as _;
use std::path::Path;

/// Bytes of a file, as it is and unpacked.
pub(crate) const MOST_BYTES: u64 = 1 << 31;

/// Where captures and traces are read from.
pub trait Files {
    /// The content of a file.
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>>;
}

/// The files of this machine.
pub struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        // Reading a pipe or a device might never end.
        if !std::fs::metadata(path)?.is_file() {
            return Err(std::io::Error::other("not a regular file"));
        }
        let mut bytes = Vec::new();
        std::fs::File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(std::io::Error::other(format!("more than {MOST_BYTES} bytes")));
        }
        Ok(bytes)
    }
}
