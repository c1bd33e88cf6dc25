//! Defaults of keys, written where the key is: `#[serde(default = "number::<u32, 25>")]`.

/// This whole number, in the type of the key.
pub fn number<T: From<u32>, const N: u32>() -> T {
    T::from(N)
}

/// A switch that is on unless the file says otherwise.
pub fn yes() -> bool {
    true
}
