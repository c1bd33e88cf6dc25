//! A modem's configuration file: it is refused in one message, or written again as it was read, and
//! simulated.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    sojourn_fuzz::modem_config_fuzz::check(bytes);
});
