//! Compares the engine with expectations that Kubernetes' own code produced.
//!
//! The cases are those of the files called `cel*.jsonl` in `tests/data/cases` and in the folders that the environment variable
//! `KUBECTL_DRA_CASES` names, separated by colons.

#![expect(
    clippy::disallowed_methods,
    reason = "tests read files; the ban protects the library's core"
)]

mod cel_case;

use std::path::{Path, PathBuf};

use cel_case::Case;

/// The cases in the repository, and those in the folders that `KUBECTL_DRA_CASES` names.
fn case_files() -> Vec<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/cases");
    let further = std::env::var_os("KUBECTL_DRA_CASES").unwrap_or_default();
    let folders: Vec<PathBuf> = std::iter::once(own)
        .chain(std::env::split_paths(&further).filter(|path| !path.as_os_str().is_empty()))
        .collect();
    let mut files = Vec::new();
    for folder in folders {
        let entries = std::fs::read_dir(&folder)
            .unwrap_or_else(|error| panic!("cannot read {}: {error}", folder.display()));
        let mut found: Vec<PathBuf> = entries
            .map(|entry| entry.unwrap().path())
            .filter(|path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                name.starts_with("cel") && name.ends_with(".jsonl")
            })
            .collect();
        found.sort();
        files.extend(found);
    }
    files
}

/// Fewer cases than that mean that files are missing.
const MIN_CASES: usize = 1_400;

#[test]
fn agrees_with_kubernetes() {
    let mut count = 0;
    let mut failures = Vec::new();
    for file in case_files() {
        let text = std::fs::read_to_string(&file)
            .unwrap_or_else(|error| panic!("cannot read {}: {error}", file.display()));
        assert!(!text.trim().is_empty(), "{} has no cases", file.display());
        for line in text.lines().filter(|line| !line.is_empty()) {
            let case: Case = serde_json::from_str(line)
                .unwrap_or_else(|error| panic!("{}: {error}: {line}", file.display()));
            count += 1;
            let differences = cel_case::differences(&case);
            if !differences.is_empty() {
                failures.push(format!("{}: {}\n{differences}", case.name, case.expression));
            }
        }
    }
    assert!(count >= MIN_CASES, "only {count} cases");
    assert!(
        failures.is_empty(),
        "{} of {count} cases differ:\n{}",
        failures.len(),
        failures
            .iter()
            .take(100)
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join("\n")
    );
}
