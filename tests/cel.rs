//! Compares the engine with expectations that Kubernetes' own code produced.
//!
//! The cases are those of the files called `cel*.jsonl` in `tests/data/cases` and in the folders that the environment variable
//! `KUBECTL_DRA_CASES` names, separated by colons.

#![expect(
    clippy::disallowed_methods,
    reason = "tests read files; the ban protects the library's core"
)]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use kubectl_dra::cel::{DeviceInput, Environment, Features, Mode};
use kubectl_dra::model::{AttributeValue, Quantity};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    name: String,
    expression: String,
    device: Device,
    #[serde(default)]
    list_type_attributes: bool,
    #[serde(default)]
    disable_consumable_capacity: bool,
    /// Kubernetes version.
    #[serde(default = "last_minor")]
    minor: u32,
    /// Whether the API server checks it, instead of kube-scheduler.
    #[serde(default)]
    new: bool,
    expect: Expectation,
}

fn last_minor() -> u32 {
    37
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Device {
    driver: String,
    #[serde(default)]
    attributes: BTreeMap<String, AttributeValue>,
    #[serde(default)]
    capacity: BTreeMap<String, Capacity>,
    #[serde(default)]
    allow_multiple_allocations: bool,
}

#[derive(Deserialize)]
struct Capacity {
    value: Quantity,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Expectation {
    compiles: bool,
    #[serde(default)]
    compile_error: String,
    #[serde(default)]
    matches: bool,
    #[serde(default)]
    runtime_error: String,
    #[serde(default)]
    cost: u64,
    #[serde(default)]
    cost_varies: bool,
    #[serde(default)]
    result_varies: bool,
    max_cost: Option<u64>,
}

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

/// What differs from the expectation, empty if nothing does.
fn differences(case: &Case) -> String {
    let mut out = String::new();
    let expect = &case.expect;
    let environment = Environment::new(
        case.minor,
        Features {
            consumable_capacity: !case.disable_consumable_capacity,
            list_type_attributes: case.list_type_attributes,
        },
    );
    let mode = if case.new { Mode::New } else { Mode::Stored };
    let program = match environment.compile(&case.expression, mode) {
        Ok(program) => program,
        Err(error) => {
            let text = error.to_string();
            if expect.compiles {
                let _ = writeln!(out, "  does not compile: {text}");
            } else if text != expect.compile_error {
                let _ = writeln!(
                    out,
                    "  compile error: {text}\n  expected:      {}",
                    expect.compile_error
                );
            }
            return out;
        }
    };
    if !expect.compiles {
        let _ = writeln!(out, "  compiles, expected: {}", expect.compile_error);
        return out;
    }
    if let Some(max_cost) = expect.max_cost
        && max_cost.min(i64::MAX as u64) != program.max_cost().min(i64::MAX as u64)
    {
        let _ = writeln!(out, "  estimate {}, expected {max_cost}", program.max_cost());
    }
    let device = DeviceInput::new(
        &case.device.driver,
        case.device
            .attributes
            .iter()
            .map(|(name, value)| (name.as_str(), value)),
        case.device
            .capacity
            .iter()
            .map(|(name, capacity)| (name.as_str(), &capacity.value)),
        case.device.allow_multiple_allocations,
    );
    let evaluation = program.evaluate(&device);
    let expected = if expect.runtime_error.is_empty() {
        Ok(expect.matches)
    } else {
        Err(expect.runtime_error.clone())
    };
    let found = evaluation.result.map_err(|error| error.to_string());
    if found != expected && !expect.result_varies {
        let _ = writeln!(out, "  result   {found:?}\n  expected {expected:?}");
    }
    let cost_fits = if expect.cost_varies {
        evaluation.cost <= expect.cost
    } else {
        evaluation.cost == expect.cost
    };
    if !cost_fits {
        let _ = writeln!(out, "  cost {}, expected {}", evaluation.cost, expect.cost);
    }
    out
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
            let differences = differences(&case);
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
