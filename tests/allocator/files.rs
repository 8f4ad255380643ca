//! Paths of the allocator cases.

use std::path::{Path, PathBuf};

/// The files called `allocator*.jsonl` in `tests/data/cases` and in the folders that `KUBECTL_DRA_CASES` names, separated by colons.
pub(crate) fn case_files() -> Vec<PathBuf> {
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
