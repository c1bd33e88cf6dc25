//! Files that a page has brought. A module has no disk.

use std::collections::BTreeMap;
use std::io::{Error, ErrorKind};
use std::path::Path;

use sojourn::scenario::Files;

/// Files by name.
#[derive(Default)]
pub(crate) struct Kept(BTreeMap<String, Vec<u8>>);

impl Kept {
    /// Keeps a file, in place of one of the same name.
    pub(crate) fn keep(&mut self, name: String, content: Vec<u8>) {
        self.0.insert(name, content);
    }

    /// The content of a file.
    pub(crate) fn get(&self, name: &str) -> Option<&[u8]> {
        self.0.get(name).map(Vec::as_slice)
    }
}

impl Files for Kept {
    /// Files have no directories here, so the last part of a path is its name.
    fn read(&self, path: &Path, _: u64) -> Result<Vec<u8>, Error> {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        self.get(name).map(<[u8]>::to_vec).ok_or_else(|| {
            Error::new(ErrorKind::NotFound, "a page reads no disk; drop the file on the page")
        })
    }
}
