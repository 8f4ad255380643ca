//! The allocator beside the real one: cases with the result that the Go library gave.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kubectl_dra::allocator::{
    Attempt, AttemptError, Features, INVALID_POOLS, Inputs, Limits, Outcome, SelectorEngine, SelectorError,
};
use kubectl_dra::model::{
    AttributeValue, Claim, Cluster, ClusterBuilder, Device, Environment, Key, Kind, Object, Quantity,
};
use serde_json::Value;

fn files() -> Vec<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/cases");
    let more = std::env::var("KUBECTL_DRA_CASES").unwrap_or_default();
    let folders = std::iter::once(own).chain(
        more.split(':')
            .filter(|folder| !folder.is_empty())
            .map(PathBuf::from),
    );
    let mut files = Vec::new();
    for folder in folders {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with("allocator") && name.ends_with(".jsonl") {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    files
}

fn features(case: &Value) -> Features {
    let on = |name: &str| case["features"][name].as_bool().unwrap_or(false);
    Features {
        admin_access: on("adminAccess"),
        compatibility_groups: on("compatibilityGroups"),
        consumable_capacity: on("consumableCapacity"),
        derived_attributes: on("derivedAttributes"),
        device_binding_and_status: on("deviceBindingAndStatus"),
        device_taints: on("deviceTaints"),
        fractional_capacity_range: on("fractionalCapacityRange"),
        list_type_attributes: on("listTypeAttributes"),
        optional_node_operations: on("optionalNodeOperations"),
        partitionable_devices: on("partitionableDevices"),
        prioritized_list: on("prioritizedList"),
    }
}

fn cluster(case: &Value) -> Cluster {
    let mut builder = ClusterBuilder::default();
    let mut names: HashMap<String, u32> = HashMap::new();
    for object in case["objects"].as_array().expect("objects") {
        let mut object = object.clone();
        if object["kind"] == "ResourceSlice" {
            // Some cases of the library give several slices one name, which no API server would. They are taken in their order.
            let name = object["metadata"]["name"].as_str().expect("a name").to_owned();
            let times = names.entry(name.clone()).or_default();
            if *times > 0 {
                object["metadata"]["name"] = Value::from(format!("{name}\u{1}{times}"));
            }
            *times += 1;
        }
        let kind = object["kind"].as_str().expect("kind");
        let kind = match kind {
            "Node" => Kind::Node,
            "DeviceClass" => Kind::DeviceClass,
            "ResourceSlice" => Kind::ResourceSlice,
            "DeviceTaintRule" => Kind::DeviceTaintRule,
            "ResourceClaim" => Kind::ResourceClaim,
            _ => panic!("unexpected kind {kind}"),
        };
        builder.add(Object::from_json(kind, object.to_string().as_bytes()).expect("an object"));
    }
    builder.build(Environment::default()).0
}

fn key(text: &str) -> Key {
    let (namespace, name) = text.split_once('/').unwrap_or(("", text));
    Key {
        namespace: namespace.into(),
        name: name.into(),
    }
}

/// The form in which results are compared: without random parts, quantities by value, empty like absent.
fn normalized(value: &Value) -> Value {
    match value {
        Value::Object(map) => map
            .iter()
            .filter_map(|(name, value)| {
                let value = match name.as_str() {
                    "shareID" => Value::from("share"),
                    "consumedCapacity" => value
                        .as_object()
                        .into_iter()
                        .flatten()
                        .map(|(name, amount)| {
                            let amount: Quantity = amount.as_str().unwrap().parse().unwrap();
                            (name.clone(), Value::from(format!("{:?}", amount.nanos())))
                        })
                        .collect::<serde_json::Map<_, _>>()
                        .into(),
                    _ => normalized(value),
                };
                let empty = match &value {
                    Value::Null => true,
                    Value::Array(list) => list.is_empty(),
                    Value::Object(map) => map.is_empty(),
                    _ => false,
                };
                (!empty).then(|| (name.clone(), value))
            })
            .collect::<serde_json::Map<_, _>>()
            .into(),
        Value::Array(list) => list.iter().map(normalized).collect(),
        other => other.clone(),
    }
}

struct Table {
    results: HashMap<(String, String), (String, String, bool)>,
    derived: HashMap<(String, String), (String, String, Value)>,
}

impl SelectorEngine for Table {
    fn matches(&self, expression: &str, driver: &str, device: &Device) -> Result<bool, SelectorError> {
        let found = self
            .results
            .get(&(expression.to_owned(), format!("{driver}{device:?}")));
        let (compile, runtime, matches) = found.unwrap_or_else(|| panic!("{expression} {device:?}"));
        if !compile.is_empty() {
            return Err(SelectorError::Compile(compile.clone()));
        }
        if !runtime.is_empty() {
            return Err(SelectorError::Runtime(runtime.clone()));
        }
        Ok(*matches)
    }
    fn derive(
        &self,
        expression: &str,
        driver: &str,
        device: &Device,
    ) -> Result<AttributeValue, SelectorError> {
        let found = self
            .derived
            .get(&(expression.to_owned(), format!("{driver}{device:?}")));
        let (compile, runtime, value) = found.unwrap_or_else(|| panic!("{expression} {device:?}"));
        if !compile.is_empty() {
            return Err(SelectorError::Compile(compile.clone()));
        }
        if !runtime.is_empty() {
            return Err(SelectorError::Runtime(runtime.clone()));
        }
        Ok(serde_json::from_value(value.clone()).unwrap())
    }
}

fn tables() -> HashMap<String, Vec<Value>> {
    let mut tables: HashMap<String, Vec<Value>> = HashMap::new();
    let files = std::env::var("CEL_TABLE").unwrap_or_default();
    for file in files.split(':') {
        for line in std::fs::read_to_string(file).unwrap_or_default().lines() {
            let value: Value = serde_json::from_str(line).unwrap();
            tables
                .entry(value["case"].as_str().unwrap().to_owned())
                .or_default()
                .push(value);
        }
    }
    tables
}

fn engine(cluster: &Cluster, table: &[Value]) -> Arc<Table> {
    let mut results = HashMap::new();
    let mut derived = HashMap::new();
    for row in table {
        let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        let slice = cluster.slice(&text("slice")).unwrap();
        for device in slice
            .spec
            .devices
            .iter()
            .filter(|device| *device.name == *text("device"))
        {
            if row["derive"] == true {
                derived.insert(
                    (text("expr"), format!("{}{device:?}", slice.spec.driver)),
                    (text("compile"), text("runtime"), row["attr"].clone()),
                );
                continue;
            }
            results.insert(
                (text("expr"), format!("{}{device:?}", slice.spec.driver)),
                (text("compile"), text("runtime"), row["matches"] == true),
            );
        }
    }
    Arc::new(Table { results, derived })
}

/// Runs a case and says what differs.
fn run(case: &Value, table: &[Value]) -> Result<(), String> {
    let cluster = cluster(case);
    let node = cluster.node(case["node"].as_str().unwrap()).expect("the node");
    let claims: Vec<Arc<Claim>> = case["claims"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| {
            cluster
                .claim(&key(name.as_str().unwrap()))
                .expect("the claim")
                .clone()
        })
        .collect();
    let inputs = Inputs::new(&cluster, features(case), engine(&cluster, table));
    let demand = inputs.demand(&claims);
    let mut steps = Vec::new();
    for (name, limits) in [
        ("plain", Limits::plain(100_000)),
        ("pruned", Limits::pruned(1_000_000)),
        ("default", Limits::default()),
    ] {
        let attempt = inputs.allocate(node, &demand, limits, &());
        steps.push(attempt.steps);
        if name == "plain" && matches!(attempt.outcome, Outcome::GaveUp) {
            continue;
        }
        compare(case, &attempt).map_err(|why| format!("{name}: {why}"))?;
    }
    Ok(())
}

fn compare(case: &Value, attempt: &Attempt) -> Result<(), String> {
    let expect = &case["expect"];
    if expect["outcome"] == "timeout" {
        return Ok(());
    }
    let (outcome, error, allocations) = match &attempt.outcome {
        Outcome::Allocated(allocations) => (
            "allocated",
            String::new(),
            allocations
                .iter()
                .map(kubectl_dra::model::Allocation::to_json)
                .collect(),
        ),
        Outcome::DoesNotFit { invalid_pools } => (
            "nofit",
            if *invalid_pools {
                INVALID_POOLS.to_owned()
            } else {
                String::new()
            },
            Vec::new(),
        ),
        Outcome::Error(error @ AttemptError { .. }) => ("error", error.to_string(), Vec::new()),
        Outcome::GaveUp => ("gave up", String::new(), Vec::new()),
    };
    if outcome != expect["outcome"] {
        return Err(format!(
            "{outcome} ({error}) instead of {} ({})",
            expect["outcome"], expect["error"]
        ));
    }
    let wanted = expect["allocations"].as_array().cloned().unwrap_or_default();
    let (got, wanted) = (normalized(&allocations.into()), normalized(&wanted.into()));
    if got != wanted {
        return Err(format!("got    {got}\n  wanted {wanted}"));
    }
    let wanted = expect["error"].as_str().unwrap_or_default();
    if error.is_empty() != wanted.is_empty() {
        return Err(format!("error {error:?} instead of {wanted:?}"));
    }
    if error != wanted && std::env::var("ERROR_TEXTS").is_ok() {
        return Err(format!("error\n  {error:?} instead of\n  {wanted:?}"));
    }
    Ok(())
}

#[test]
fn every_case_has_the_result_of_the_go_library() {
    let mut failures = Vec::new();
    let mut count = 0;
    let tables = tables();
    for file in files() {
        let text = std::fs::read_to_string(&file).expect("a readable file");
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let case: Value = serde_json::from_str(line).expect("a case");
            count += 1;
            let name = case["name"].as_str().unwrap();
            if let Err(why) = run(&case, tables.get(name).map_or(&[], Vec::as_slice)) {
                failures.push(format!("{name}: {why}"));
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {count}:\n{}",
        failures.len(),
        failures.join("\n")
    );
}
