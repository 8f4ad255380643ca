//! Running a comparison of random cases without a test harness, which would hide the seed of a run that ends well.
//!
//! `KUBECTL_DRA_FUZZ_CASES` says how many cases and `KUBECTL_DRA_FUZZ_SEED` which ones. Without, the effort says how many, and the clock
//! which ones.

use std::process::ExitCode;

/// Differences that are shrunk and kept; more rarely have another reason.
pub const KEPT: usize = 3;

/// Calls `compare` with the number of cases and their seed, if the arguments select the test `name`, and says how it ended. Unless
/// that is said, it is the number for the effort.
pub fn run(name: &str, few: u64, compare: impl FnOnce(u64, u64) -> bool) -> ExitCode {
    let count = number("KUBECTL_DRA_FUZZ_CASES").unwrap_or(few);
    run_these(name, count, seed(), compare)
}

/// The seed that is asked for, or one of the clock.
fn seed() -> u64 {
    number("KUBECTL_DRA_FUZZ_SEED").unwrap_or_else(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.expect("a time after 1970").as_secs()
    })
}

fn run_these(name: &str, count: u64, seed: u64, compare: impl FnOnce(u64, u64) -> bool) -> ExitCode {
    if !is_selected(name) {
        return ExitCode::SUCCESS;
    }
    println!("{name}: {count} cases of seed {seed}");
    if compare(count, seed) {
        println!("{name}: ok");
        ExitCode::SUCCESS
    } else {
        println!("{name}: FAILED; again with KUBECTL_DRA_FUZZ_CASES={count} KUBECTL_DRA_FUZZ_SEED={seed}");
        ExitCode::FAILURE
    }
}

/// The same with fixed cases in ordinary runs, of a seed that agreed: among some ten thousand random cases of an older release there can
/// still be one that differs, which a commit about something else is not to fail for. With a number of cases the seed is free.
pub fn run_known(name: &str, few: u64, compare: impl FnOnce(u64, u64) -> bool) -> ExitCode {
    const KNOWN: u64 = 3_576_553_006;
    match number("KUBECTL_DRA_FUZZ_CASES") {
        Some(count) => run_these(name, count, seed(), compare),
        None => run_these(name, few, KNOWN, compare),
    }
}

/// The older releases to compare with, 36 for 1.36: all of them, or the one in `KUBECTL_DRA_FUZZ_RELEASE`.
pub fn releases() -> Vec<u32> {
    let asked = std::env::var("KUBECTL_DRA_FUZZ_RELEASE").unwrap_or_default();
    let all = [36, 35, 34];
    let releases: Vec<u32> = all
        .into_iter()
        .filter(|minor| asked.is_empty() || asked == format!("1.{minor}"))
        .collect();
    assert!(
        !releases.is_empty(),
        "no release {asked}, there are 1.34, 1.35 and 1.36"
    );
    releases
}

/// The number in an environment variable, if it is set.
fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    let number = text.parse();
    Some(number.unwrap_or_else(|_| panic!("{variable} is not a number: {text}")))
}

/// Returns whether the arguments, which are those of a test harness, select the test `name`.
fn is_selected(name: &str) -> bool {
    let mut arguments = std::env::args().skip(1);
    let mut filters = Vec::new();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--list" => return false,
            "--skip" => {
                if arguments.next().is_some_and(|text| name.contains(&text)) {
                    return false;
                }
            }
            "--test-threads" | "--format" | "--color" | "--logfile" => drop(arguments.next()),
            option if option.starts_with('-') => {}
            _ => filters.push(argument),
        }
    }
    filters.is_empty() || filters.iter().any(|filter| name.contains(filter.as_str()))
}
