//! The allocator beside the real one: cases with the result that the Go library gave.
//!
//! The cases are those of all files called `allocator*.jsonl` in `tests/data/cases` and in the folders that the environment
//! variable `KUBECTL_DRA_CASES` names, separated by colons. Every folder must have some.

#![expect(
    clippy::disallowed_methods,
    reason = "tests read files; the ban protects the library's core"
)]

mod allocator;
#[path = "allocator/files.rs"]
mod files;

use allocator::case::Case;

#[test]
fn every_case_has_the_result_of_the_go_library() {
    let mut count = 0;
    let mut failures = Vec::new();
    for file in files::case_files() {
        let text = std::fs::read_to_string(&file)
            .unwrap_or_else(|error| panic!("cannot read {}: {error}", file.display()));
        let before = count;
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            count += 1;
            let case = Case::read(line).unwrap_or_else(|error| panic!("{}: {error}: {line}", file.display()));
            if let Err(why) = case.check() {
                failures.push(format!("{}: {why}", case.name()));
            }
        }
        assert!(count > before, "{} is empty", file.display());
    }
    assert!(count >= 642, "{count} cases");
    assert!(
        failures.is_empty(),
        "{} of {count} cases differ:\n{}",
        failures.len(),
        failures.join("\n")
    );
}
