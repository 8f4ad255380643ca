//! The table of what upstream's tests of the two controllers check, and which test of ours shows it.
//!
//! `tests/data/controller-conformance.tsv` has a row for each of upstream's sub-tests and for each commit that the controllers owe a
//! behaviour to. The last column names tests of ours, or says why there is none.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

const TABLE: &str = include_str!("../data/controller-conformance.tsv");

/// States that no API server can reach, with the reason.
const NO_SERVER: &str = "live: not applicable ";

/// The test files of upstream, in its module.
const FILES: [&str; 2] = [
    "pkg/controller/resourceclaim/controller_test.go",
    "pkg/controller/devicetainteviction/device_taint_eviction_test.go",
];

struct Row {
    kind: &'static str,
    name: &'static str,
    level: &'static str,
    ours: Vec<&'static str>,
}

fn rows() -> Vec<Row> {
    let mut lines = TABLE.lines();
    let header: Vec<&str> = lines.next().expect("a header").split('\t').collect();
    assert_eq!(
        header,
        [
            "kind",
            "name",
            "gates or orders",
            "what it checks",
            "how to check from outside",
            "level",
            "ours"
        ]
    );
    lines
        .map(|line| {
            let cells: Vec<&str> = line.split('\t').collect();
            let [kind, name, _, _, _, level, ours] = cells[..] else {
                panic!("{line}");
            };
            Row {
                kind,
                name,
                level,
                ours: ours.split("; ").collect(),
            }
        })
        .collect()
}

/// The folder of the module in the version that `tests/go/go.mod` requires, downloaded if need be.
///
/// # Panics
/// When Go is missing or the module cannot be had.
fn module(path: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/go");
    let go = |args: &[&str]| {
        let output = Command::new("go").current_dir(&folder).args(args).output();
        let output = output.unwrap_or_else(|error| panic!("go cannot be started: {error}"));
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "go {}: {text}", args.join(" "));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    let find = || go(&["list", "-m", "-f", "{{.Dir}}", path]);
    let mut found = find();
    if found.is_empty() {
        go(&["mod", "download", path]);
        found = find();
    }
    assert!(!found.is_empty(), "{path} cannot be had");
    PathBuf::from(found)
}

/// Returns what is between the first two quotes.
fn quoted(text: &str) -> Option<&str> {
    text.strip_prefix('"')?.split('"').next()
}

/// The name of a sub-test that a line of a test says, in any of the ways that the two files have.
fn sub_test(line: &str) -> Option<&str> {
    let at = |indent: &str, before: &str| {
        let rest = line.strip_prefix(indent)?.strip_prefix(before)?;
        quoted(rest.trim_start())
    };
    let key = || {
        let rest = line.strip_prefix("\t\t")?;
        let name = quoted(rest)?;
        let behind = rest.get(name.len() + 2..)?;
        (behind.starts_with(':') && behind.ends_with('{') || behind == ": {},").then_some(name)
    };
    at("\t\t\t", "name:")
        .or_else(|| at("\t\t", "{").filter(|_| line.contains("DeepCopy()")))
        .or_else(key)
        .or_else(|| at("\t", "tCtx.SyncTest("))
        .or_else(|| at("\t", "tCtx.Run("))
        .filter(|name| !name.is_empty())
}

/// Upstream's sub-tests as `TestName/sub-test`, or `TestName` where it has none.
fn upstream() -> BTreeSet<String> {
    let module = module("k8s.io/kubernetes");
    let mut found = BTreeSet::new();
    for file in FILES {
        let text =
            std::fs::read_to_string(module.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        let mut tests: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut current = String::new();
        for line in text.lines() {
            if let Some(function) = line.strip_prefix("func ") {
                // The body of `TestName` is that of `testName`.
                let name = function.split('(').next().unwrap_or_default();
                let name = name
                    .strip_prefix("test")
                    .map_or(name.to_owned(), |rest| format!("Test{rest}"));
                if function.starts_with("Test") {
                    tests.entry(name.clone()).or_default();
                }
                current = name;
            } else if let (Some(tests), Some(name)) = (tests.get_mut(&current), sub_test(line)) {
                tests.insert(name.to_owned());
            }
        }
        for (test, names) in tests {
            if names.is_empty() {
                found.insert(test);
            } else {
                found.extend(names.iter().map(|name| format!("{test}/{name}")));
            }
        }
    }
    found
}

#[test]
fn the_table_has_every_test_of_upstream() {
    let ours: BTreeSet<String> = rows()
        .iter()
        .filter(|row| row.kind == "test")
        .map(|row| row.name.to_owned())
        .collect();
    let upstream = upstream();
    let differ: Vec<&String> = ours.symmetric_difference(&upstream).collect();
    assert!(differ.is_empty(), "in one of the two only: {differ:#?}");
    assert_eq!(ours.len(), 177);
}

/// The file that has the test with this path, and whether it does.
fn has_test(path: &str) -> bool {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (folder, path) = match path.strip_prefix("it::") {
        Some(path) => ("tests/it", path),
        None => match path.split_once("::") {
            Some(("dra_rules", path)) => ("crates/dra-rules/src", path),
            Some(("dra_model", path)) => ("crates/dra-model/src", path),
            Some(("dra_runner", path)) => ("crates/dra-runner/src", path),
            _ => return false,
        },
    };
    let mut parts: Vec<&str> = path.split("::").collect();
    let Some(name) = parts.pop() else { return false };
    // Modules inside of the file come behind its own path.
    (1..=parts.len()).rev().any(|count| {
        let module: PathBuf = parts[..count].iter().collect();
        let file = root.join(folder).join(&module);
        let files = [file.with_extension("rs"), file.join("mod.rs")];
        files.iter().any(|file| {
            let text = std::fs::read_to_string(file).unwrap_or_default();
            let inside = parts[count..]
                .iter()
                .all(|module| text.contains(&format!("mod {module} {{")));
            inside && text.contains(&format!("fn {name}("))
        })
    })
}

#[test]
fn every_row_is_shown_or_says_why_not() {
    for Row {
        name, level, ours, ..
    } in rows()
    {
        for shown in &ours {
            if let Some(why) = shown.strip_prefix("n/a: ") {
                assert!(why.starts_with("because "), "{name}: {shown}");
            } else if let Some(why) = shown.strip_prefix(NO_SERVER) {
                assert!(why.starts_with("because "), "{name}: {shown}");
            } else {
                assert!(has_test(shown), "{name}: there is no test {shown}");
            }
        }
        // Whoever asks for a live test has one, or does not claim it.
        let is_live = |shown: &&str| shown.starts_with("it::live::") || shown.starts_with(NO_SERVER);
        let needs_live = level.contains("live") && !ours[0].starts_with("n/a: ");
        assert_eq!(needs_live, ours.iter().any(is_live), "{name}: {level}");
    }
}
