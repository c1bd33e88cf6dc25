//! From the bytes of a file to its text.

use std::borrow::Cow;
use std::io::Read;

use flate2::read::MultiGzDecoder;
use sojourn_input::problem::Fault;

use crate::{FORMATS, MOST_BYTES, unusable};

/// How a file that gzip has written begins (RFC 1952, section 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// How a result of Crusader begins.
const CRUSADER: [u8; 8] = [0xcb, 0x59, 0x7c, 0xae, 0x82, 0xab, 0x72, 0x53];
const OTHERS: [(&[u8], &str); 4] =
    [(b"BZh", "bzip2"), (b"\xfd7zXZ", "xz"), (b"\x28\xb5\x2f\xfd", "zstd"), (b"PK\x03\x04", "zip")];

/// The content, unpacked.
pub(crate) fn plain(content: &[u8]) -> Result<Cow<'_, [u8]>, Fault> {
    if let Some((_, packer)) = OTHERS.iter().find(|(head, _)| content.starts_with(head)) {
        let found = format!("a file that {packer} has packed");
        return Err(unusable("", &found, "one that gzip has packed, or the unpacked file"));
    }
    if content.starts_with(&CRUSADER) {
        let found = "a result of Crusader as it stores it";
        return Err(unusable("", found, "the JSON that `crusader export FILE` writes"));
    }
    let content = if content.starts_with(&GZIP) {
        let mut plain = Vec::new();
        let limit = MOST_BYTES as u64 + 1;
        let unpacked = MultiGzDecoder::new(content).take(limit).read_to_end(&mut plain);
        unpacked.map_err(|_| unusable("", "a damaged or cut gzip file", "a whole one"))?;
        Cow::Owned(plain)
    } else {
        Cow::Borrowed(content)
    };
    if content.len() > MOST_BYTES {
        let found = format!("more than {} MB", MOST_BYTES >> 20);
        return Err(unusable("", &found, "a shorter log: a minute of each load is enough"));
    }
    Ok(content)
}

/// Text in UTF-16 without a mark is known by zeros in so many bytes.
const SEEN: usize = 1024;
const FEWEST_SEEN: usize = 16;

/// The text, without a mark of its byte order, in lines. Bytes of an unknown code page are letters each.
pub(crate) fn text(content: &[u8]) -> Result<Cow<'_, str>, Fault> {
    let text = decoded(content)?;
    // As tables of old have lines.
    let is_of_returns = text.contains('\r') && !text.contains('\n');
    Ok(if is_of_returns { Cow::Owned(text.replace('\r', "\n")) } else { text })
}

fn decoded(content: &[u8]) -> Result<Cow<'_, str>, Fault> {
    let seen = &content[..content.len().min(SEEN)];
    let zeros = |first| seen.iter().skip(first).step_by(2).filter(|byte| **byte == 0).count();
    match content {
        [0xff, 0xfe, units @ ..] => return utf_16(units, u16::from_le_bytes).map(Cow::Owned),
        [0xfe, 0xff, units @ ..] => return utf_16(units, u16::from_be_bytes).map(Cow::Owned),
        units if seen.len() >= FEWEST_SEEN && zeros(1) > seen.len() / 4 && zeros(0) == 0 => {
            return utf_16(units, u16::from_le_bytes).map(Cow::Owned);
        }
        units if seen.len() >= FEWEST_SEEN && zeros(0) > seen.len() / 4 && zeros(1) == 0 => {
            return utf_16(units, u16::from_be_bytes).map(Cow::Owned);
        }
        _ => {}
    }
    match std::str::from_utf8(content) {
        Ok(text) => Ok(Cow::Borrowed(text.trim_start_matches('\u{feff}'))),
        Err(error) if content.contains(&0) => {
            let found = format!("not UTF-8 text (byte {})", error.valid_up_to());
            Err(unusable("", &found, FORMATS))
        }
        Err(_) => Ok(Cow::Owned(content.iter().copied().map(char::from).collect())),
    }
}

/// PowerShell writes what a command prints so.
fn utf_16(bytes: &[u8], of: fn([u8; 2]) -> u16) -> Result<String, Fault> {
    let units: Vec<u16> = bytes.chunks_exact(2).map(|two| of([two[0], two[1]])).collect();
    String::from_utf16(&units).map_err(|_| unusable("", "damaged UTF-16 text", FORMATS))
}
