//! A small cluster for the tests of reports, written object by object.

#[path = "../../tests/support/names.rs"]
mod names;

use std::cell::RefCell;

use serde_json::{Value, json};

use self::names::rename;
use crate::model::{
    Cluster, ClusterBuilder, Component, Environment, Evidence, Gap, Gate, GateState, Kind, Object, Time,
    Version,
};

/// Collects objects of a test's cluster.
#[derive(Default)]
pub(crate) struct World {
    builder: ClusterBuilder,
    environment: Environment,
}

pub(crate) fn now() -> Time {
    "2026-11-21T12:00:00Z".parse().unwrap()
}

thread_local! {
    /// What stands before and behind each name.
    static AROUND: RefCell<(String, String)> = RefCell::default();
}

/// In the worlds that `work` makes every name begins and ends like this.
pub(crate) fn with_names<T>(begin: &str, end: &str, work: impl FnOnce() -> T) -> T {
    AROUND.set((begin.to_owned(), end.to_owned()));
    let result = work();
    AROUND.take();
    result
}

/// The name as it is in worlds made now.
pub(crate) fn called(name: &str) -> String {
    AROUND.with_borrow(|(begin, end)| format!("{begin}{name}{end}"))
}

impl World {
    pub(crate) fn with(mut self, kind: Kind, object: &Value) -> Self {
        let mut object = object.clone();
        rename(&mut object, &["key"], &called);
        let object = Object::from_json(kind, object.to_string().as_bytes()).unwrap();
        self.builder.add(object);
        self
    }

    pub(crate) fn claim(self, name: &str, spec: &Value, status: &Value) -> Self {
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
    pub(crate) fn pod(self, name: &str, claims: &[&str]) -> Self {
        self.pod_with(name, claims, &json!({"phase": "Running"}))
    }

    pub(crate) fn pod_with(self, name: &str, claims: &[&str], status: &Value) -> Self {
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
    pub(crate) fn slice(self, pool: &str, devices: &Value) -> Self {
        self.slice_with(pool, &json!({"nodeName": pool, "devices": devices}))
    }

    pub(crate) fn slice_with(self, pool: &str, more: &Value) -> Self {
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

    pub(crate) fn rule(self, name: &str, selector: &Value, effect: &str) -> Self {
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
    pub(crate) fn class(self, driver: &str) -> Self {
        let expression = format!("device.driver == '{driver}'");
        self.class_with(driver, &json!([{"cel": {"expression": expression}}]))
    }

    pub(crate) fn class_with(self, name: &str, selectors: &Value) -> Self {
        self.with(
            Kind::DeviceClass,
            &json!({"metadata": {"name": name}, "spec": {"selectors": selectors}}),
        )
    }

    pub(crate) fn node(self, name: &str, labels: &Value) -> Self {
        self.with(Kind::Node, &json!({"metadata": {"name": name, "labels": labels}}))
    }

    /// Of release 1.`minor`, with the gates that evict pods.
    pub(crate) fn version(mut self, minor: u32) -> Self {
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
    pub(crate) fn without(mut self, kind: Kind) -> Self {
        self.environment.gaps.push(Gap {
            kind,
            namespace: crate::model::Str::default(),
            except: crate::model::Str::default(),
            reason: "forbidden".to_owned(),
        });
        self
    }

    /// Another release, or gates of which something is known.
    pub(crate) fn knowing(mut self, change: impl FnOnce(&mut Environment)) -> Self {
        change(&mut self.environment);
        self
    }

    pub(crate) fn build(self) -> Cluster {
        self.builder.build(self.environment).0
    }
}

/// The status of a claim that holds `devices` of pool `node-1` on that node, for pods of these names.
pub(crate) fn holding(devices: &[&str], pods: &[&str]) -> Value {
    let results: Vec<_> = devices
        .iter()
        .map(|device| json!({"request": "r", "driver": "d", "pool": "node-1", "device": device}))
        .collect();
    status(&json!(results), pods)
}

/// The status of a claim with these results on node `node-1`, for pods of these names.
pub(crate) fn status(results: &Value, pods: &[&str]) -> Value {
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
pub(crate) fn json_of(report: &impl serde::Serialize) -> Value {
    serde_json::to_value(report).unwrap()
}

/// Choices made by bytes, so that a failing problem shrinks towards first choices.
pub(crate) struct Dice {
    bytes: Vec<u8>,
    next: usize,
}

impl Dice {
    pub(crate) fn of_bytes(bytes: Vec<u8>) -> Self {
        Self { bytes, next: 0 }
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let byte = self.bytes.get(self.next).copied().unwrap_or(0);
        self.next += 1;
        usize::from(byte) % bound
    }

    pub(crate) fn of(&mut self, choices: &[&'static str]) -> &'static str {
        choices[self.below(choices.len())]
    }

    pub(crate) fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == bound - 1
    }
}
