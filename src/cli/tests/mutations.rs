//! Snapshots that are damaged in every way: whatever stands in a file, commands answer or say why not.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use crate::error::Failure;
use crate::fuzzing::program::result_on;
use dra_testing::effort::by_effort;

/// Lines that get every damaged snapshot.
const LINES: [&str; 15] = [
    "status",
    "diff example:gpus -o wide",
    "claims -A -o wide",
    "claims -A -o json --node gpu-node-1",
    "claims -A --sort-by AGE --pod p",
    "reserved -A -o wide",
    "devices -o wide",
    "devices -o yaml --class gpu.example.com",
    "devices --selector device.driver.startsWith('gpu')",
    "taints -A -o wide",
    "taints -o name",
    "describe node/gpu-node-1",
    "describe class/gpu.example.com",
    "describe pool/gpu-node-1",
    "describe device/gpu-0 -o yaml",
];

/// Snapshots with different things in them.
const SNAPSHOTS: [&str; 6] = [
    "bound-pods",
    "taint-rules-noexecute",
    "consumable-capacity",
    "partitionable",
    "podgroups",
    "binding-conditions",
];

pub(super) fn file_of(snapshot: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/snapshots")
        .join(format!("{snapshot}.yaml"))
}

#[expect(clippy::disallowed_methods, reason = "tests read files")]
pub(super) fn snapshot(name: &str) -> Value {
    serde_saphyr::from_str(&std::fs::read_to_string(file_of(name)).unwrap()).unwrap()
}

/// Runs a line on the file. It may not panic, and fails only as a file that is no good makes it.
fn run(line: &str, file: &Path) {
    if let Err(error) = result_on(line, file) {
        // A name that several things have is a matter of usage.
        let failure = Failure::of(&error);
        assert!(
            matches!(failure, Failure::World | Failure::Usage | Failure::Unknown),
            "{line}: {error:#}"
        );
    }
}

/// Returns how many values there are in `value`, itself included.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum(),
        _ => 0,
    }
}

/// Puts `new` in the place of the value that is number `at` of all in `value`.
fn replace(value: &mut Value, at: &mut usize, new: &Value) {
    if *at == 0 {
        *value = new.clone();
    }
    let Some(rest) = at.checked_sub(1) else {
        // Far from every other one.
        *at = usize::MAX;
        return;
    };
    *at = rest;
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, at, new)),
        Value::Object(fields) => fields.values_mut().for_each(|field| replace(field, at, new)),
        _ => {}
    }
}

/// Returns what may stand where something else is expected.
fn anything() -> impl Strategy<Value = Value> {
    let nested = (0..200).fold(json!(1), |inner, _| json!([inner]));
    prop_oneof![
        Just(Value::Null),
        Just(json!("")),
        Just(json!({})),
        Just(json!([])),
        Just(json!([null])),
        Just(json!({"": null})),
        Just(json!(-1)),
        Just(json!(u64::MAX)),
        Just(json!(i64::MIN)),
        Just(json!(1e300)),
        Just(json!(true)),
        Just(nested),
        Just(json!("/")),
        Just(json!("1e999999999")),
        Just(json!("9999-12-31T23:59:59Z")),
        Just(json!("gpu-node-1")),
        "\\PC{0,12}".prop_map(Value::String),
        any::<String>().prop_map(Value::String),
    ]
}

fn run_all(bytes: &[u8], name: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    std::fs::write(&file, bytes).unwrap();
    for line in LINES {
        run(line, &file);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: by_effort(3, 8, 200), max_shrink_iters: 50, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_command_panics_on_values_that_do_not_belong_there(
        name in proptest::sample::select(&SNAPSHOTS[..]),
        changes in proptest::collection::vec((any::<Index>(), anything()), 1..60),
    ) {
        let mut objects = snapshot(name);
        for (at, new) in changes {
            // Not the list itself, which would leave nothing.
            for item in objects["items"].as_array_mut().unwrap() {
                let mut place = at.index(count(item) * 4);
                replace(item, &mut place, &new);
            }
        }
        run_all(objects.to_string().as_bytes(), "objects.json");
    }

    #[test]
    fn no_command_panics_on_damaged_bytes(
        name in proptest::sample::select(&SNAPSHOTS[..]),
        json in any::<bool>(),
        changes in proptest::collection::vec((any::<Index>(), any::<u8>()), 1..20),
        end in proptest::option::of(any::<Index>()),
    ) {
        let objects = snapshot(name);
        let (mut bytes, file) = if json {
            (objects.to_string().into_bytes(), "objects.json")
        } else {
            (serde_saphyr::to_string(&objects).unwrap().into_bytes(), "objects.yaml")
        };
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(end) = end {
            bytes.truncate(end.index(bytes.len()));
        }
        run_all(&bytes, file);
    }
}
