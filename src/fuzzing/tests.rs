//! The kept inputs of the fuzzer, and random ones: every target takes all of them.

use std::path::Path;

use super::TARGETS;
use dra_testing::effort::by_effort;

#[test]
fn kept_inputs_break_no_promise() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus");
    for (name, target) in TARGETS {
        let folder = corpus.join(name);
        let mut inputs: Vec<_> = std::fs::read_dir(&folder)
            .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
            .map(|entry| entry.expect("an entry").path())
            .collect();
        inputs.sort();
        assert!(!inputs.is_empty(), "{} is empty", folder.display());
        for input in inputs {
            println!("{}", input.display());
            target(&std::fs::read(&input).expect("a file"));
        }
    }
}

#[test]
fn random_inputs_break_no_promise() {
    // A generator of its own (splitmix64): the same inputs in each run.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    for (name, target) in TARGETS {
        for round in 0..by_effort(16, 64, 640) {
            let length = next() % 400;
            let data: Vec<u8> = (0..length).map(|_| (next() >> 24) as u8).collect();
            println!("{name} {round}");
            target(&data);
        }
    }
}
