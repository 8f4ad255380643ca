//! The allocator beside the real one: cases with the result that the Go library gave.
//!
//! The cases are those of all files called `allocator*.jsonl` in `tests/data/cases` and in the folders that the environment
//! variable `KUBECTL_DRA_CASES` names, separated by colons. Every folder must have some.

#![expect(
    clippy::disallowed_methods,
    reason = "tests read files; the ban protects the library's core"
)]

mod allocator;

use std::path::{Path, PathBuf};

use allocator::case::Case;

fn case_files() -> Vec<PathBuf> {
    let further = std::env::var_os("KUBECTL_DRA_CASES").unwrap_or_default();
    let folders = std::env::split_paths(&further).filter(|path| !path.as_os_str().is_empty());
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/cases");
    let mut files = Vec::new();
    for folder in std::iter::once(own).chain(folders) {
        let entries = std::fs::read_dir(&folder)
            .unwrap_or_else(|error| panic!("cannot read {}: {error}", folder.display()));
        let mut found: Vec<PathBuf> = entries
            .map(|entry| entry.unwrap().path())
            .filter(|path| {
                path.extension().is_some_and(|extension| extension == "jsonl")
                    && path
                        .file_name()
                        .is_some_and(|name| name.to_string_lossy().starts_with("allocator"))
            })
            .collect();
        assert!(!found.is_empty(), "no cases in {}", folder.display());
        found.sort();
        files.extend(found);
    }
    files
}

#[test]
fn every_case_has_the_result_of_the_go_library() {
    let mut count = 0;
    let mut failures = Vec::new();
    for file in case_files() {
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
    assert!(count >= 612, "{count} cases");
    assert!(
        failures.is_empty(),
        "{} of {count} cases differ:\n{}",
        failures.len(),
        failures.join("\n")
    );
}
