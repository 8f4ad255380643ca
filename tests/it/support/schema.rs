//! Validating real output against the schemas that users get.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use jsonschema::{Registry, RegistryBuilder, Validator};
use serde_json::Value;

/// Fails unless a JSON report is valid under `docs/reference/schema/KIND.json`, KIND being its own.
///
/// ```ignore
/// assert_schema!(["claims", "--from", "claims.yaml", "-o", "json"]);
/// assert_schema!(&json);
/// ```
macro_rules! assert_schema {
    ([$($arg:expr),* $(,)?]) => {{
        let run = $crate::support::command::dra(&[$($arg),*]).run();
        $crate::support::schema::assert_valid(&run.stdout)
    }};
    ($json:expr) => {
        $crate::support::schema::assert_valid($json)
    };
}
pub(crate) use assert_schema;

/// Fails unless the report in `json` is valid, and returns it.
pub(crate) fn assert_valid(json: &str) -> Value {
    let report: Value = serde_json::from_str(json).unwrap_or_else(|error| panic!("{error} in {json:?}"));
    let kind = report["kind"]
        .as_str()
        .unwrap_or_else(|| panic!("no kind in {json}"));
    let errors: Vec<_> = validator(kind)
        .iter_errors(&report)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(
        errors.is_empty(),
        "a {kind} is not what docs/reference/schema/{kind}.json says:\n{}",
        errors.join("\n")
    );
    report
}

/// The schemas that others refer to: `envelope` has the fields of all reports, `parts` what some have in common, and a report on several
/// clusters has one of the others for each.
const REFERRED: [&str; 5] = [
    "envelope",
    "parts",
    "ClusterStatus",
    "FindingList",
    "ExplanationList",
];

/// The validator of one kind, made once: that takes longer than most runs of the program.
fn validator(kind: &str) -> Arc<Validator> {
    static MADE: Mutex<BTreeMap<String, Arc<Validator>>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let validator = made
        .entry(kind.to_owned())
        .or_insert_with(|| Arc::new(make(kind)));
    Arc::clone(validator)
}

fn make(kind: &str) -> Validator {
    let registry = REFERRED.iter().try_fold(Registry::new(), |registry, name| {
        registry.add(uri(name), read(name))
    });
    let registry = registry
        .and_then(RegistryBuilder::prepare)
        .expect("a schema with a good address");
    jsonschema::options()
        .with_registry(&registry)
        .with_base_uri(uri(kind))
        .build(&read(kind))
        .unwrap_or_else(|error| panic!("docs/reference/schema/{kind}.json: {error}"))
}

fn uri(name: &str) -> String {
    format!("https://dra.kubectl.io/schema/v1/{name}.json")
}

fn read(name: &str) -> Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("docs/reference/schema")
        .join(format!("{name}.json"));
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}
