//! Digests of what files hold.

/// A hash of numbers (FNV-1a, 64 bit) in 16 hexadecimal digits. It distinguishes files but does not protect
/// against forgery.
pub fn digest(numbers: impl Iterator<Item = u64>) -> String {
    let bytes = numbers.flat_map(u64::to_le_bytes);
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{hash:016x}")
}
