//! The target `records` of `kubectl_dra::fuzzing`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| kubectl_dra::fuzzing::run("records", data));
