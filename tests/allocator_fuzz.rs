//! Fresh random cases: the Go library generates and decides, the allocator decides, and every difference fails.
//!
//! `allocator/release.rs` does the same for older releases.
//!
//! Which cases is said as `dra_testing::random_cases` says; `make fuzz` does so. The seed and what the cases cover are printed, and
//! short coverage fails. A difference is shrunk to a small case, which is kept in `tests/data/cases/allocator-found.jsonl`, where
//! `tests/allocator_cases.rs` finds it from then on.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test program with an output of its own"
)]

mod allocator;
#[path = "allocator/files.rs"]
mod files;
#[path = "it/support/go.rs"]
mod go;
#[path = "allocator/release.rs"]
mod release;

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use allocator::case::Case;
use dra_testing::effort::by_effort;
use dra_testing::random_cases::{self, KEPT};

const NAME: &str = "random_cases_have_the_result_of_the_go_library";

/// The same for older releases.
const OF_RELEASES: &str = "older_releases_have_the_result_of_their_go_library";

/// Set for the runs of this program that shrinking makes: it reads a case and succeeds if the answer differs.
const DIFFERS: &str = "KUBECTL_DRA_FUZZ_DIFFERS";

fn main() -> ExitCode {
    if std::env::var_os(DIFFERS).is_some() {
        return differs();
    }
    // Each says how it ended.
    let newest = random_cases::run(NAME, by_effort(500, 3_000, 100_000), fuzz);
    // Each is tried in many orders.
    let older = random_cases::run_known(OF_RELEASES, by_effort(100, 2_000, 100_000), release::compare);
    if newest == ExitCode::SUCCESS {
        older
    } else {
        newest
    }
}

/// Hands each case that the oracle writes to `take`, with its line, on as many threads as there are processors.
fn each_case(output: impl Read + Send, take: impl Fn(&Case, String) + Sync) {
    let lines = Mutex::new(BufReader::new(output).lines());
    let next = || lines.lock().expect("no thread has panicked").next();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(line) = next() {
                    let line = line.expect("the oracle writes text");
                    let case = Case::read(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
                    take(&case, line);
                }
            });
        }
    });
}

/// Compares `count` cases and says whether all agree and cover enough.
fn fuzz(count: u64, seed: u64) -> bool {
    let oracle = go::build("oracle");
    let mut generator = Command::new(&oracle)
        .args(["generate", "--expect", "--coverage"])
        .args(["--seed", &seed.to_string(), "--count", &count.to_string()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the oracle can be started");
    let mut report = generator.stderr.take().expect("it is a pipe");
    let report = std::thread::spawn(move || {
        let mut text = String::new();
        report.read_to_string(&mut text).map(|_| text)
    });
    let (compared, timeouts) = (AtomicU64::new(0), AtomicU64::new(0));
    let differences = Mutex::new(Vec::new());
    let output = generator.stdout.take().expect("it is a pipe");
    each_case(output, |case, line| {
        if case.timed_out() {
            timeouts.fetch_add(1, Ordering::Relaxed);
            return;
        }
        compared.fetch_add(1, Ordering::Relaxed);
        if let Err(why) = case.check() {
            println!("{}: {why}", case.name());
            let mut differences = differences.lock().expect("no thread has panicked");
            differences.push((line, case.name().to_owned()));
        }
    });
    let covered = generator.wait().expect("the oracle ends").success();
    let report = report.join().expect("no panic").expect("the report is text");
    println!("{report}");
    if !covered {
        println!("the oracle failed, or the cases do not cover enough");
    }
    let mut differences = differences.into_inner().expect("no thread has panicked");
    let (compared, timeouts) = (compared.into_inner(), timeouts.into_inner());
    println!(
        "{compared} cases compared, {timeouts} skipped because the real search did not end, {} different",
        differences.len()
    );
    differences.sort_by_key(|(line, _)| line.len());
    for (line, name) in differences.iter().take(KEPT) {
        keep(&oracle, line, name);
    }
    let complete = compared + timeouts == count;
    if !complete {
        println!("the oracle did not write all cases");
    }
    covered && complete && compared > 0 && differences.is_empty()
}

/// Shrinks a case that differs and adds it to those that are compared from now on.
fn keep(oracle: &Path, line: &str, name: &str) {
    let own = std::env::current_exe().expect("this program has a path");
    let mut shrink = Command::new(oracle)
        .args(["shrink", "--test"])
        .arg(&own)
        .env(DIFFERS, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the oracle can be started");
    let mut input = shrink.stdin.take().expect("it is a pipe");
    // If it ends early its result says so.
    let _ = input.write_all(line.as_bytes());
    drop(input);
    let output = shrink.wait_with_output().expect("the oracle ends");
    let small = String::from_utf8_lossy(&output.stdout);
    let small = if output.status.success() {
        small.trim()
    } else {
        line
    };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/cases/allocator-found.jsonl");
    let mut file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path)
        .unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
    writeln!(file, "{small}").unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
    println!("{name}, kept in {}:\n{small}", path.display());
}

/// Reads a case and succeeds if the answer is not the expected one.
fn differs() -> ExitCode {
    let mut line = String::new();
    std::io::stdin()
        .read_to_string(&mut line)
        .expect("the case is text");
    let differs = Case::read(&line).is_ok_and(|case| !case.timed_out() && case.check().is_err());
    if differs {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
