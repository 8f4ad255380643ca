//! Test support for all crates: small clusters written object by object, renaming and damaging them, repetition of proofs.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "tests read the environment and the clock, and print their seed"
)]

pub mod damage;
pub mod effort;
pub mod names;
pub mod random_cases;
pub mod syntax;

use std::cell::RefCell;

use serde_json::{Value, json};

use crate::names::rename;
use dra_model::{
    Cluster, ClusterBuilder, Component, Environment, Evidence, Gap, Gate, GateState, Kind, Object, Time,
    Version,
};

/// A release in which `component` runs with these gates, as flags say, and the others with the defaults.
pub fn of_release(version: Version, component: Component, gates: &[(Gate, bool)]) -> Environment {
    let state = |enabled| GateState {
        enabled,
        evidence: Evidence::Flag,
    };
    Environment {
        version,
        emulated_minor: version.minor,
        min_compatibility_minor: version.minor - 1,
        gates: gates
            .iter()
            .map(|(gate, enabled)| (component, *gate, state(*enabled)))
            .collect(),
        ..Environment::default()
    }
}

/// Collects objects of a test's cluster.
#[derive(Default)]
#[must_use]
pub struct World {
    builder: ClusterBuilder,
    environment: Environment,
}

/// The time in all reports of these tests.
pub fn now() -> Time {
    "2026-11-21T12:00:00Z".parse().unwrap()
}

thread_local! {
    /// Prefix and suffix of each name.
    static AROUND: RefCell<(String, String)> = RefCell::default();
}

/// In the worlds that `work` makes every name begins and ends like this.
pub fn with_names<T>(begin: &str, end: &str, work: impl FnOnce() -> T) -> T {
    AROUND.set((begin.to_owned(), end.to_owned()));
    let result = work();
    AROUND.take();
    result
}

/// The name as it is in worlds made now.
pub fn called(name: &str) -> String {
    AROUND.with_borrow(|(begin, end)| format!("{begin}{name}{end}"))
}

impl World {
    /// Adds an object, with names as `with_names` wants them.
    pub fn with(mut self, kind: Kind, object: &Value) -> Self {
        let mut object = object.clone();
        rename(&mut object, &["key"], &called);
        let object = Object::from_json(kind, object.to_string().as_bytes()).unwrap();
        self.builder.add(object);
        self
    }

    /// A claim of the namespace `n` that is an hour old.
    pub fn claim(self, name: &str, spec: &Value, status: &Value) -> Self {
        self.with(
            Kind::ResourceClaim,
            &json!({
                "metadata": {"namespace": "n", "name": name, "uid": format!("{name}-uid"),
                             "creationTimestamp": "2026-11-21T11:00:00Z"},
                "spec": spec, "status": status,
            }),
        )
    }

    /// A running pod that names the claims.
    pub fn pod(self, name: &str, claims: &[&str]) -> Self {
        self.pod_with(name, claims, &json!({"phase": "Running"}))
    }

    /// A pod on `node-1` that names the claims.
    pub fn pod_with(self, name: &str, claims: &[&str], status: &Value) -> Self {
        let claims: Vec<_> = claims
            .iter()
            .map(|claim| json!({"name": claim, "resourceClaimName": claim}))
            .collect();
        self.with(
            Kind::Pod,
            &json!({
                "metadata": {"namespace": "n", "name": name, "uid": format!("{name}-uid")},
                "spec": {"nodeName": "node-1", "resourceClaims": claims},
                "status": status,
            }),
        )
    }

    /// The only slice of the pool `pool` of driver `d` on the node of the same name.
    pub fn slice(self, pool: &str, devices: &Value) -> Self {
        self.slice_with(pool, &json!({"nodeName": pool, "devices": devices}))
    }

    /// The only slice of that pool, with more of its spec.
    pub fn slice_with(self, pool: &str, more: &Value) -> Self {
        let mut spec = json!({
            "driver": "d", "pool": {"name": pool, "generation": 1, "resourceSliceCount": 1},
        });
        for (key, value) in more.as_object().unwrap() {
            spec[key] = value.clone();
        }
        self.with(
            Kind::ResourceSlice,
            &json!({"metadata": {"name": format!("{pool}-slice")}, "spec": spec}),
        )
    }

    /// A DeviceTaintRule whose taint has its name as the key; `null` selects no device in particular.
    pub fn rule(self, name: &str, selector: &Value, effect: &str) -> Self {
        let mut spec = json!({
            "taint": {"key": name, "effect": effect, "timeAdded": "2026-11-21T11:30:00Z"},
        });
        if !selector.is_null() {
            spec["deviceSelector"] = selector.clone();
        }
        self.with(
            Kind::DeviceTaintRule,
            &json!({"metadata": {"name": name}, "spec": spec}),
        )
    }

    /// A class of the devices whose driver has this name.
    pub fn class(self, driver: &str) -> Self {
        let expression = format!("device.driver == '{driver}'");
        self.class_with(driver, &json!([{"cel": {"expression": expression}}]))
    }

    /// A class with these selectors.
    pub fn class_with(self, name: &str, selectors: &Value) -> Self {
        self.with(
            Kind::DeviceClass,
            &json!({"metadata": {"name": name}, "spec": {"selectors": selectors}}),
        )
    }

    /// A node with these labels.
    pub fn node(self, name: &str, labels: &Value) -> Self {
        self.with(Kind::Node, &json!({"metadata": {"name": name, "labels": labels}}))
    }

    /// Of release 1.`minor`, with the gates that evict pods.
    pub fn version(mut self, minor: u32) -> Self {
        self.environment.version = Version::minor(minor);
        self.environment.emulated_minor = minor;
        let on = GateState {
            enabled: true,
            evidence: Evidence::Flag,
        };
        for gate in [Gate::DRADeviceTaints, Gate::DRADeviceTaintRules] {
            self.environment
                .gates
                .push((Component::ControllerManager, gate, on.clone()));
        }
        self
    }

    /// Objects of `kind` could not be read.
    pub fn without(mut self, kind: Kind) -> Self {
        self.environment.gaps.push(Gap {
            kind,
            namespace: dra_model::Str::default(),
            except: dra_model::Str::default(),
            is_forbidden: false,
            reason: "forbidden".to_owned(),
        });
        self
    }

    /// Another release, or gates with evidence.
    pub fn knowing(mut self, change: impl FnOnce(&mut Environment)) -> Self {
        change(&mut self.environment);
        self
    }

    /// The cluster.
    pub fn build(self) -> Cluster {
        self.builder.build(self.environment).0
    }
}

/// The status of a claim that holds `devices` of pool `node-1` on that node, for pods of these names.
pub fn holding(devices: &[&str], pods: &[&str]) -> Value {
    let results: Vec<_> = devices
        .iter()
        .map(|device| json!({"request": "r", "driver": "d", "pool": "node-1", "device": device}))
        .collect();
    status(&json!(results), pods)
}

/// The status of a claim with these results on node `node-1`, for pods of these names.
pub fn status(results: &Value, pods: &[&str]) -> Value {
    let entries: Vec<_> = pods
        .iter()
        .map(|pod| json!({"resource": "pods", "name": pod, "uid": format!("{pod}-uid")}))
        .collect();
    json!({
        "allocation": {
            "devices": {"results": results},
            "nodeSelector": {"nodeSelectorTerms": [
                {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-1"]}]}]},
        },
        "reservedFor": entries,
    })
}

/// The report as it is serialized, without the header of every report.
pub fn json_of(report: &impl serde::Serialize) -> Value {
    serde_json::to_value(report).unwrap()
}

/// Choices made by bytes, so that a failing problem shrinks towards first choices.
pub struct Dice {
    bytes: Vec<u8>,
    next: usize,
}

impl Dice {
    /// Choices that these bytes make; the first ones where they end.
    pub fn of_bytes(bytes: Vec<u8>) -> Self {
        Self { bytes, next: 0 }
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        let byte = self.bytes.get(self.next).copied().unwrap_or(0);
        self.next += 1;
        usize::from(byte) % bound
    }

    /// One of the choices.
    pub fn of(&mut self, choices: &[&'static str]) -> &'static str {
        choices[self.below(choices.len())]
    }

    /// True once in `bound` times.
    pub fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == bound - 1
    }
}
