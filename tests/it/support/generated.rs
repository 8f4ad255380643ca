//! Generated files that are committed: regenerated, compared, and written anew on request.

use std::path::Path;

/// Fails if the committed file at `path`, from the root of the repository, is not `expected`. With
/// `UPDATE_GENERATED=1` in the environment it is written instead.
pub(crate) fn check(path: &str, expected: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        std::fs::write(&file, expected).unwrap_or_else(|error| panic!("cannot write {path}: {error}"));
        return;
    }
    let committed = std::fs::read_to_string(&file).unwrap_or_default();
    // Not `assert_eq!`, which would print both files.
    assert!(
        committed.replace("\r\n", "\n") == expected,
        "{path} is not what the program generates; run the tests with UPDATE_GENERATED=1 and commit it"
    );
}
