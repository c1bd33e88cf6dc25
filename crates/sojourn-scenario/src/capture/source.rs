//! The bytes of a capture file in order, unpacked if they are compressed.

use std::io::{ErrorKind, Read};

use crate::files::MOST_CAPTURE_BYTES;
use flate2::read::MultiGzDecoder;

/// How a file that gzip has written begins (RFC 1952 §2.3.1).
const GZIP: [u8; 3] = [0x1f, 0x8b, 8];
const CHUNK_BYTES: u64 = 1 << 16;
/// Bytes of a header, packet or block. The buffer holds one whole.
const LARGEST_PIECE: usize = 1 << 26;

/// Why there is no next piece.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The bytes end within it.
    Cut,
    /// It is not what it should be.
    Damaged,
    /// This, which continues a sentence that starts with the file's name.
    Refused(String),
}

/// What a parser makes of bytes: a value and how many bytes it has, or an error, which may be that more
/// bytes are needed.
pub(crate) type Parsed<T> = Result<(T, usize), IsIncomplete>;

/// Would more bytes help?
pub(crate) struct IsIncomplete(pub bool);

/// A file of which a part is in memory.
pub(crate) struct Source<'a> {
    /// What is not in the buffer yet.
    rest: Box<dyn Read + 'a>,
    buffer: Vec<u8>,
    /// Bytes of the buffer that have been parsed.
    done: usize,
    /// Bytes that were in the buffer so far.
    read_bytes: u64,
    /// What is wrong with the compressed data after those in the buffer.
    fault: Option<Stop>,
}

impl<'a> Source<'a> {
    /// The content of a file.
    pub(crate) fn of(bytes: &'a [u8]) -> Self {
        let is_compressed = bytes.starts_with(&GZIP);
        let rest: Box<dyn Read> =
            if is_compressed { Box::new(MultiGzDecoder::new(bytes)) } else { Box::new(bytes) };
        Self { rest, buffer: Vec::new(), done: 0, read_bytes: 0, fault: None }
    }

    /// What `parse` finds at the beginning of the bytes that are left.
    pub(crate) fn next<T>(&mut self, mut parse: impl FnMut(&[u8]) -> Parsed<T>) -> Result<T, Stop> {
        loop {
            match parse(&self.buffer[self.done..]) {
                Ok((value, length)) => {
                    self.done += length;
                    return Ok(value);
                }
                Err(IsIncomplete(false)) => return Err(Stop::Damaged),
                Err(IsIncomplete(true)) if self.fill()? => {}
                Err(IsIncomplete(true)) => return Err(Stop::Cut),
            }
        }
    }

    /// Is nothing left?
    pub(crate) fn is_at_end(&mut self) -> Result<bool, Stop> {
        Ok(self.done == self.buffer.len() && !self.fill()?)
    }

    /// Doubles what is left in the buffer, or adds a chunk to it. Returns whether there was any more.
    fn fill(&mut self) -> Result<bool, Stop> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        self.buffer.drain(..self.done);
        self.done = 0;
        let held = self.buffer.len();
        if held > LARGEST_PIECE {
            return Err(Stop::Damaged);
        }
        let chunk = CHUNK_BYTES.max(held as u64);
        self.fault = match self.rest.by_ref().take(chunk).read_to_end(&mut self.buffer) {
            Ok(_) => None,
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Some(Stop::Cut),
            Err(_) => Some(Stop::Damaged),
        };
        let added = self.buffer.len() - held;
        self.read_bytes += added as u64;
        if self.read_bytes > MOST_CAPTURE_BYTES {
            let message =
                format!("which unpacks to more bytes; allowed: {MOST_CAPTURE_BYTES} or less");
            return Err(Stop::Refused(message));
        }
        match self.fault.take_if(|_| added == 0) {
            Some(fault) => Err(fault),
            None => Ok(added > 0),
        }
    }
}
