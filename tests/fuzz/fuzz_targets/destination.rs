//! The target `destination` of `kubectl_dra::fuzzing`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| kubectl_dra::fuzzing::run("destination", data));
