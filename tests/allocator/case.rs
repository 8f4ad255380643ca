//! A case: objects, a node, claims to allocate there, and what the Go library answers. `tests/go/internal/cases` has the format.

use std::collections::HashMap;
use std::sync::Arc;

use dra_allocator::devices::Features;
use dra_allocator::{Attempt, INVALID_POOLS, Inputs, Limits, Outcome};
use dra_model::{
    Allocation, Claim, Cluster, ClusterBuilder, Component, Environment, Evidence, Gate, GateState, Key, Kind,
    Node, Object, Quantity, with_interner,
};
use dra_testing::syntax::without_details;
use serde_json::Value;

/// A case that has been read.
pub(crate) struct Case {
    pub(crate) json: Value,
    pub(crate) features: Features,
    pub(crate) cluster: Cluster,
    pub(crate) node: Arc<Node>,
    pub(crate) claims: Vec<Arc<Claim>>,
}

/// Steps after which the plain search is not compared any more; the real one would not end in time either.
const PLAIN_STEPS: u64 = 100_000;

impl Case {
    /// Reads a line of a file.
    pub(crate) fn read(line: &str) -> Result<Self, String> {
        let json: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let release = &json["release"];
        let environment = environment(release)?;
        let features = if release.is_null() {
            features(&json["features"])
        } else {
            Features::of(&environment)
        };
        let cluster = cluster(&json["objects"], environment)?;
        let node = json["node"].as_str().ok_or("no node")?;
        let node = cluster.node(node).ok_or("the node is not there")?.clone();
        let mut claims = Vec::new();
        for name in json["claims"].as_array().ok_or("no claims")? {
            let key = key(name.as_str().unwrap_or_default());
            claims.push(cluster.claim(&key).ok_or("a claim is not there")?.clone());
        }
        Ok(Self {
            json,
            features,
            cluster,
            node,
            claims,
        })
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        self.json["name"].as_str().unwrap_or("a case without name")
    }

    /// Returns whether the real allocator did not end in time.
    pub(crate) fn timed_out(&self) -> bool {
        self.json["expect"]["outcome"] == "timeout"
    }

    /// Compares the answers of all ways to search with the expected one; says what differs.
    pub(crate) fn check(&self) -> Result<(), String> {
        let inputs = Inputs::new(&self.cluster, self.features);
        let demand = inputs.demand(&self.claims);
        for (name, limits) in [
            ("plain", Limits::plain(PLAIN_STEPS)),
            ("pruned", Limits::pruned(1_000_000)),
            ("default", Limits::default()),
        ] {
            let attempt = inputs.allocate(&self.node, &demand, limits, &());
            if name == "plain" && matches!(attempt.outcome, Outcome::GaveUp) {
                continue;
            }
            self.compare(&attempt).map_err(|why| format!("{name}: {why}"))?;
        }
        Ok(())
    }

    fn compare(&self, attempt: &Attempt) -> Result<(), String> {
        if self.timed_out() {
            return Ok(());
        }
        Answer::of(attempt).compare(&Answer::expected(&self.json["expect"]))
    }
}

/// An answer in the form in which answers are compared.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    /// As the Go library's outcomes are called.
    pub(crate) verdict: String,
    pub(crate) allocations: Value,
    pub(crate) error: String,
}

impl Answer {
    /// Ours.
    pub(crate) fn of(attempt: &Attempt) -> Self {
        let (verdict, error, allocations) = match &attempt.outcome {
            Outcome::Allocated(allocations) => (
                "allocated",
                String::new(),
                allocations.iter().map(Allocation::to_json).collect(),
            ),
            Outcome::DoesNotFit { invalid_pools: true } => ("nofit", INVALID_POOLS.to_owned(), Vec::new()),
            Outcome::DoesNotFit { .. } => ("nofit", String::new(), Vec::new()),
            Outcome::Error(error) => ("error", without_details(&error.to_string()), Vec::new()),
            Outcome::GaveUp => ("gave up", String::new(), Vec::new()),
        };
        Self {
            verdict: verdict.to_owned(),
            allocations: normalized(&Value::from(allocations)),
            error,
        }
    }

    /// The Go library's.
    pub(crate) fn expected(json: &Value) -> Self {
        let none = Value::Array(Vec::new());
        Self {
            verdict: json["outcome"].as_str().unwrap_or_default().to_owned(),
            allocations: normalized(json.get("allocations").unwrap_or(&none)),
            error: without_details(&named_devices(json["error"].as_str().unwrap_or_default())),
        }
    }

    /// Compares with the expected answer; says what differs.
    pub(crate) fn compare(&self, expected: &Self) -> Result<(), String> {
        if self.verdict != expected.verdict {
            return Err(format!(
                "{} {:?} instead of {:?} {:?}",
                self.verdict, self.error, expected.verdict, expected.error
            ));
        }
        if self.allocations != expected.allocations {
            return Err(format!(
                "\n  got    {}\n  wanted {}",
                self.allocations, expected.allocations
            ));
        }
        if self.error != expected.error {
            return Err(format!(
                "\n  error  {:?}\n  wanted {:?}",
                self.error, expected.error
            ));
        }
        Ok(())
    }
}

fn features(json: &Value) -> Features {
    let on = |name: &str| json[name] == true;
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
        ..Features::default()
    }
}

/// The release of a case for an older one, with its gates in every component.
fn environment(release: &Value) -> Result<Environment, String> {
    let mut environment = Environment::default();
    if release.is_null() {
        return Ok(environment);
    }
    let version = release["version"].as_str().ok_or("no version")?;
    environment.version = version.parse().map_err(|error| format!("{version}: {error}"))?;
    environment.emulated_minor = environment.version.minor;
    environment.min_compatibility_minor = environment.version.minor - 1;
    for (name, enabled) in release["gates"].as_object().ok_or("no gates")? {
        let gate = Gate::find(name).ok_or_else(|| format!("no gate {name}"))?;
        for component in Component::ALL {
            let state = GateState {
                enabled: *enabled == true,
                evidence: Evidence::Flag,
            };
            environment.gates.push((component, gate, state));
        }
    }
    Ok(environment)
}

fn cluster(objects: &Value, environment: Environment) -> Result<Cluster, String> {
    let mut builder = ClusterBuilder::default();
    let mut interner = dra_model::Interner::default();
    let mut slices: HashMap<String, u32> = HashMap::new();
    for object in objects.as_array().ok_or("no objects")? {
        let kind = match object["kind"].as_str() {
            Some("Node") => Kind::Node,
            Some("DeviceClass") => Kind::DeviceClass,
            Some("ResourceSlice") => Kind::ResourceSlice,
            Some("DeviceTaintRule") => Kind::DeviceTaintRule,
            Some("ResourceClaim") => Kind::ResourceClaim,
            other => return Err(format!("unexpected kind {other:?}")),
        };
        let mut object = object.clone();
        if kind == Kind::ResourceSlice {
            // Some cases of the library give several slices one name, which no API server would. They count in their order.
            let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            let times = slices.entry(name.clone()).or_default();
            if *times > 0 {
                object["metadata"]["name"] = Value::from(format!("{name}\u{1}{times}"));
            }
            *times += 1;
        }
        let read = with_interner(&mut interner, || {
            Object::from_json(kind, object.to_string().as_bytes())
        });
        builder.add(read.map_err(|error| error.to_string())?);
    }
    Ok(builder.build(environment).0)
}

fn key(text: &str) -> Key {
    let (namespace, name) = text.split_once('/').unwrap_or(("", text));
    Key {
        namespace: namespace.into(),
        name: name.into(),
    }
}

/// An error with the name of a device where upstream dumps all of it, memory addresses included.
fn named_devices(error: &str) -> String {
    let named = || {
        let (before, dumped) = error.split_once("for device &Device{Name:")?;
        let (name, _) = dumped.split_once(',')?;
        let (_, after) = dumped.split_once("} in slice ")?;
        Some(format!("{before}for device {name} in slice {after}"))
    };
    named().unwrap_or_else(|| error.to_owned())
}

/// Amounts by name as an API server has them, which reads what the library wrote.
fn as_stored(amounts: &Value) -> Value {
    let amounts = amounts.as_object().into_iter().flatten();
    let read = |text: &Value| {
        let text = text.as_str().unwrap_or_default();
        let amount = text.parse::<Quantity>();
        Value::from(amount.map_or_else(|_| text.to_owned(), |amount| amount.as_stored().to_string()))
    };
    amounts
        .map(|(name, amount)| (name.clone(), read(amount)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// The form in which results are compared: share IDs are random, and empty is like absent.
fn normalized(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let fields = map.iter().filter_map(|(name, value)| {
                let value = match name.as_str() {
                    "shareID" => Value::from("share"),
                    "consumedCapacity" => as_stored(value),
                    _ => normalized(value),
                };
                let empty = match &value {
                    Value::Null => true,
                    Value::Array(list) => list.is_empty(),
                    Value::Object(map) => map.is_empty(),
                    _ => false,
                };
                (!empty).then(|| (name.clone(), value))
            });
            fields.collect::<serde_json::Map<_, _>>().into()
        }
        Value::Array(list) => list.iter().map(normalized).collect(),
        other => other.clone(),
    }
}
