//! Bytes choose a queue manager and what happens to it: no packet is lost or doubled, limits are kept, and
//! what waits leaves.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    sojourn_fuzz::queue_fuzz::run_bytes(bytes);
});
