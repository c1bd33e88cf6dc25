//! What is in the memory of a module.

use super::abi::MOST_DECLARATION_BYTES;

/// Bytes of a float.
pub(crate) const FLOAT_BYTES: usize = size_of::<f64>();

/// The bytes at an address up to the first zero byte.
///
/// # Errors Where there are too many of them, or none.
pub(crate) fn text_at(memory: &[u8], at: i32) -> Result<&[u8], String> {
    let at = at.cast_unsigned() as usize;
    let found = memory.get(at..).unwrap_or_default();
    let found = &found[..found.len().min(MOST_DECLARATION_BYTES)];
    let end = found.iter().position(|byte| *byte == 0);
    end.map(|end| &found[..end]).ok_or_else(|| {
        let allowed = format!("{MOST_DECLARATION_BYTES} bytes at most, the last of them zero");
        format!("found no text with an end in the memory at {at}; allowed: {allowed}")
    })
}

/// So many floats at an address.
pub(crate) fn read_floats(
    memory: &[u8],
    at: i32,
    count: usize,
) -> Option<impl Iterator<Item = f64>> {
    let at = at.cast_unsigned() as usize;
    let found = memory.get(at..at.checked_add(count * FLOAT_BYTES)?)?;
    let (floats, _) = found.as_chunks();
    Some(floats.iter().map(|bytes| f64::from_le_bytes(*bytes)))
}

/// Writes floats to an address that has room for them.
pub(crate) fn write_floats(memory: &mut [u8], at: i32, floats: &[f64]) {
    let room = &mut memory[at.cast_unsigned() as usize..][..floats.len() * FLOAT_BYTES];
    let (room, _) = room.as_chunks_mut();
    room.iter_mut().zip(floats).for_each(|(place, float)| *place = float.to_le_bytes());
}
