//! Fresh random selectors: the Go library generates and answers, the engine answers, and every difference fails. The libraries of older
//! releases answer the same selectors, as stored ones and as new ones.
//!
//! Which cases is said as `dra_testing::random_cases` says; `make fuzz-cel` does so, `RELEASE=1.35` for an older release. The seed is
//! printed. A difference is shrunk to a small case, which is kept in
//! `tests/data/cases/cel-found.jsonl`, where `tests/cel.rs` finds it from then on.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test program with an output of its own"
)]

mod cel_case;
#[path = "it/support/go.rs"]
mod go;

use std::io::Write;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use cel_case::Case;
use dra_testing::effort::by_effort;
use dra_testing::random_cases::{self, KEPT};
use serde_json::Value;

const NAME: &str = "random_selectors_have_the_result_of_the_go_library";

/// The same for older releases.
const OF_RELEASES: &str = "older_releases_have_the_result_of_their_cel_library";

/// Cases that are generated and compared at a time.
const BATCH: u64 = 5_000;

fn main() -> ExitCode {
    let newest = random_cases::run(NAME, by_effort(500, 3_000, 100_000), fuzz);
    let older = random_cases::run_known(OF_RELEASES, by_effort(100, 500, 20_000), fuzz_releases);
    if newest == ExitCode::SUCCESS {
        older
    } else {
        newest
    }
}

/// Compares `count` cases and says whether all agree and enough of them compile.
fn fuzz(count: u64, seed: u64) -> bool {
    let oracle = go::build("oracle");
    let mut tally = Tally::default();
    batches(&oracle, count, seed, |cases| {
        for line in lines(&cases) {
            tally.add(&oracle, line);
        }
    });
    tally.is_good("", count)
}

/// The same for each older release, or the one that is asked for.
fn fuzz_releases(count: u64, seed: u64) -> bool {
    let newest = go::build("oracle");
    let mut good = true;
    for minor in random_cases::releases() {
        let oracle = go::older_oracle(minor);
        let mut tally = Tally::default();
        batches(&newest, count, seed, |cases| {
            let (answered, ended) = answer_both(&oracle, lines(&cases));
            for line in answered {
                if has_text_of_old(&line) {
                    tally.left_out += 1;
                } else {
                    tally.add(&oracle, line);
                }
            }
            for case in &ended {
                println!("ends the library of 1.{minor}: {}", case["expression"]);
            }
            tally.ended += ended.len();
        });
        good &= tally.is_good(&format!("1.{minor}: "), 2 * count);
    }
    good
}

/// Number of runs answer the cases of one that ended early.
const PARTS: usize = 8;

/// The cases as stored and as new ones with the library's answers, and those that end the program: Go cannot recover from everything
/// that a selector does to an older library. Without them the others are answered.
fn answer_both(oracle: &Path, cases: Vec<Value>) -> (Vec<Value>, Vec<Value>) {
    let text: String = cases.iter().map(|case| format!("{case}\n")).collect();
    let (output, is_complete) = filter(oracle, &["cel", "--both"], text.into_bytes());
    if is_complete {
        return (lines(&output), Vec::new());
    }
    if cases.len() < 2 {
        return (Vec::new(), cases);
    }
    let parts = cases.chunks(cases.len().div_ceil(PARTS));
    let answers = parts.map(|part| answer_both(oracle, part.to_vec()));
    let (answered, ended): (Vec<_>, Vec<_>) = answers.unzip();
    (answered.concat(), ended.concat())
}

/// Returns whether the library says something that newer ones do not say any more, and that is not imitated: a second error of the parser at a
/// backquote, and one about its own types where an optional value is an address.
fn has_text_of_old(case: &Value) -> bool {
    let says = |field: &str, text: &str| {
        case["expect"][field]
            .as_str()
            .is_some_and(|error| error.contains(text))
    };
    says("compileError", "unsupported syntax: '`'")
        || says("runtimeError", "unsupported conversion to ref.Val")
}

/// Hands `count` cases to `take`, some at a time, as the newest library writes them.
fn batches(oracle: &Path, count: u64, seed: u64, mut take: impl FnMut(Vec<u8>)) {
    for start in (0..count).step_by(BATCH as usize) {
        let size = BATCH.min(count - start);
        let output = Command::new(oracle)
            .arg("generate-cel")
            .args(["--seed", &seed.to_string()])
            .args(["--start", &start.to_string()])
            .args(["--count", &size.to_string()])
            .stderr(Stdio::null())
            .output()
            .expect("the oracle can be started");
        assert!(output.status.success(), "the oracle failed: {}", output.status);
        take(output.stdout);
    }
}

/// The cases of a run.
#[derive(Default)]
struct Tally {
    compared: u64,
    compile: u64,
    different: usize,
    left_out: u64,
    /// Selectors that end the library itself.
    ended: usize,
}

impl Tally {
    /// Compares a case; `oracle` helps to shrink it.
    fn add(&mut self, oracle: &Path, line: Value) {
        self.compared += 1;
        self.compile += u64::from(line["expect"]["compiles"] == true);
        if differences(&line).is_empty() {
            return;
        }
        self.different += 1;
        if self.different <= KEPT {
            let small = shrink(oracle, line);
            let case = read(&small);
            let problem = cel_case::differences(&case);
            println!("{}: {}\n{problem}", case.name, case.expression);
            keep(&small);
        }
    }

    fn is_good(&self, what: &str, count: u64) -> bool {
        let Self {
            compared,
            compile,
            different,
            left_out,
            ended,
        } = self;
        println!(
            "{what}{compared} compared, {compile} compile, {different} differ, {left_out} left out for their texts, {ended} end the \
             library"
        );
        // Some are left out because their result varies, and a third is meant not to compile.
        let enough = compared * 10 >= count * 9 && compile * 2 >= *compared;
        if !enough {
            println!("too few cases could be compared, or too few compile");
        }
        enough && *different == 0
    }
}

fn lines(output: &[u8]) -> Vec<Value> {
    output
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).expect("the oracle writes JSON"))
        .collect()
}

fn read(case: &Value) -> Case {
    serde_json::from_value(case.clone()).expect("the oracle writes cases")
}

fn differences(case: &Value) -> String {
    cel_case::differences(&read(case))
}

/// The smallest case that still differs: tokens and attributes are left out as long as it does.
fn shrink(oracle: &Path, mut case: Value) -> Value {
    loop {
        let candidates = smaller(&case);
        let differing = answer(oracle, &candidates)
            .into_iter()
            .filter(|candidate| !differences(candidate).is_empty());
        match differing.min_by_key(|candidate| candidate.to_string().len()) {
            Some(smallest) => case = smallest,
            None => return case,
        }
    }
}

/// Cases with something left out.
fn smaller(case: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    let expression = case["expression"].as_str().unwrap_or_default();
    let tokens = tokens(expression);
    let mut width = tokens.len();
    while width > 0 && found.len() < 2_000 {
        for start in 0..=tokens.len() - width {
            let mut left = tokens[..start].concat();
            left.push_str(&tokens[start + width..].concat());
            let mut candidate = case.clone();
            candidate["expression"] = left.into();
            found.push(candidate);
        }
        width = if width > 8 { width / 2 } else { width - 1 };
    }
    for part in ["attributes", "capacity"] {
        for name in case["device"][part].as_object().into_iter().flatten() {
            let mut candidate = case.clone();
            if let Some(entries) = candidate["device"][part].as_object_mut() {
                entries.remove(name.0);
            }
            found.push(candidate);
        }
    }
    found
}

/// Words and signs.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut in_word = false;
    for character in text.chars() {
        let word = character.is_alphanumeric() || character == '_';
        match tokens.last_mut() {
            Some(last) if word && in_word => last.push(character),
            _ => tokens.push(character.to_string()),
        }
        in_word = word;
    }
    tokens
}

/// The cases with the library's answer.
fn answer(oracle: &Path, cases: &[Value]) -> Vec<Value> {
    let text: String = cases.iter().map(|case| format!("{case}\n")).collect();
    // It may end early when a candidate is no case.
    let (output, _) = filter(oracle, &["cel", "--expect"], text.into_bytes());
    lines(&output)
}

/// Returns what a program makes of its input, and whether it got to the end of it.
fn filter(program: &Path, arguments: &[&str], text: Vec<u8>) -> (Vec<u8>, bool) {
    let mut process = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the oracle can be started");
    let mut input = process.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || input.write_all(&text));
    let output = process.wait_with_output().expect("the oracle can be waited for");
    // A program that ended early did not read all of it.
    let _ = writer.join();
    (output.stdout, output.status.success())
}

fn keep(case: &Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/cases/cel-found.jsonl");
    let mut file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path)
        .unwrap_or_else(|error| panic!("cannot open {}: {error}", path.display()));
    writeln!(file, "{case}").unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
}
