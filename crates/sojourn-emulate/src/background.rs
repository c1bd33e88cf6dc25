//! A file that another thread writes: the loop must not wait for a disk.

use std::io::{self, Write};
use std::mem;
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};

const CHUNK_BYTES: usize = 1 << 16;

/// Takes bytes at once, which a thread writes into another writer in pieces.
pub struct Background<W> {
    chunk: Vec<u8>,
    /// None when all has been sent.
    to: Option<Sender<Vec<u8>>>,
    thread: JoinHandle<io::Result<W>>,
}

impl<W: Write + Send + 'static> Background<W> {
    /// Writes into this.
    ///
    /// # Errors If there is no thread for it.
    pub fn new(mut writer: W) -> io::Result<Self> {
        let (to, from) = mpsc::channel::<Vec<u8>>();
        let write = move || {
            // What it cannot write is read on, so that memory does not grow.
            let mut all = Ok(());
            for chunk in from {
                all = all.and_then(|()| writer.write_all(&chunk));
            }
            all.and_then(|()| writer.flush()).map(|()| writer)
        };
        let thread = thread::Builder::new().name("sojourn-record".to_owned()).spawn(write)?;
        Ok(Self { chunk: Vec::new(), to: Some(to), thread })
    }

    /// Writes the rest and gives the writer back.
    ///
    /// # Errors The first that there was.
    pub fn finish(mut self) -> io::Result<W> {
        self.send();
        self.to = None;
        self.thread.join().map_err(|_| io::Error::other("its thread has failed"))?
    }

    fn send(&mut self) {
        let chunk = mem::take(&mut self.chunk);
        if let Some(to) = &self.to {
            let _ = to.send(chunk);
        }
    }
}

impl<W: Write + Send + 'static> Write for Background<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.chunk.extend_from_slice(bytes);
        if self.chunk.len() >= CHUNK_BYTES {
            self.send();
        }
        Ok(bytes.len())
    }

    /// There is nothing to wait for before the end.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_arrive_in_order() {
        let all: Vec<u8> = (0..300_000_u32).map(|n| (n / 251) as u8).collect();
        let mut file = Background::new(Vec::new()).unwrap();
        all.chunks(1000).for_each(|bytes| file.write_all(bytes).unwrap());
        assert!(file.finish().unwrap() == all);
    }

    #[test]
    fn the_error_of_the_disk_comes_at_the_end() {
        let full = std::fs::File::create("/dev/full").unwrap();
        let mut file = Background::new(full).unwrap();
        for _ in 0..4 {
            file.write_all(&[0; CHUNK_BYTES]).unwrap();
        }
        assert_eq!(file.finish().unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}
