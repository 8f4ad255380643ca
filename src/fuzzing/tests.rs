//! The kept inputs of the fuzzer, pieces of them put together, and random ones: every target takes all of them.

use std::path::Path;

use super::TARGETS;
use dra_testing::effort::by_effort;

/// A generator of its own (splitmix64): the same inputs in each run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % (end as u64).max(1)) as usize
    }

    /// The beginning of `first`, one to four random bytes, and the end of `second`: often what is well formed up to there.
    fn crossed(&mut self, first: &[u8], second: &[u8]) -> Vec<u8> {
        let mut crossed = first[..self.below(first.len() + 1)].to_vec();
        crossed.extend((0..=self.below(4)).map(|_| self.next() as u8));
        crossed.extend(&second[self.below(second.len() + 1)..]);
        crossed
    }
}

#[test]
fn kept_inputs_break_no_promise() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus");
    let mut random = Random(0);
    for (name, target) in TARGETS {
        let folder = corpus.join(name);
        let mut paths: Vec<_> = std::fs::read_dir(&folder)
            .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
            .map(|entry| entry.expect("an entry").path())
            .collect();
        paths.sort();
        assert!(!paths.is_empty(), "{} is empty", folder.display());
        let inputs: Vec<_> = paths
            .iter()
            .map(|path| std::fs::read(path).expect("a file"))
            .collect();
        for (path, input) in paths.iter().zip(&inputs) {
            println!("{}", path.display());
            target(input);
            for round in 0..by_effort(4, 64, 640) {
                println!("crossed {round}");
                let other = &inputs[random.below(inputs.len())];
                target(&random.crossed(input, other));
            }
        }
    }
}

#[test]
fn random_inputs_break_no_promise() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for (name, target) in TARGETS {
        for round in 0..by_effort(16, 64, 640) {
            let data: Vec<u8> = (0..random.below(400)).map(|_| random.next() as u8).collect();
            println!("{name} {round}");
            target(&data);
        }
    }
}
