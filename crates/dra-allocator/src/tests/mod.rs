//! Tests of the allocator as a whole. Cases with the Go library's results are in `tests/allocator_cases.rs`.

mod agreement;
mod change;
mod explanation;
mod families;
mod metered;
mod releases;

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Attempt, Inputs, Limits};
use crate::devices::Features;
use dra_model::{Claim, Cluster, ClusterBuilder, Environment, Key, Kind, Object};

/// Selects devices of kind x.
const KIND_X: &str = r#"device.attributes["d"].?kind.orValue("") == "x""#;

/// Fails where the attribute `bad` is there.
const FAILS_IF_BAD: &str = r#"!has(device.attributes["d"].bad) || device.attributes["d"].why == 1"#;

/// One node with pools, and claims to allocate.
#[derive(Default)]
struct World {
    objects: Vec<(Kind, Value)>,
    claims: usize,
}

impl World {
    fn new() -> Self {
        let mut world = Self::default();
        world.add(Kind::Node, json!({ "metadata": { "name": "node" } }));
        world.add(
            Kind::DeviceClass,
            json!({ "metadata": { "name": "any" }, "spec": { "config": [{ "opaque": { "driver": "d", "parameters": { "a": 1 } } }] } }),
        );
        world.add(
            Kind::DeviceClass,
            json!({ "metadata": { "name": "x" }, "spec": { "selectors": [{ "cel": { "expression": KIND_X } }] } }),
        );
        world
    }

    fn add(&mut self, kind: Kind, object: Value) {
        self.objects.push((kind, object));
    }

    fn pool(&mut self, name: &str, devices: &[Value], counters: &[Value]) {
        let slices = 1 + u8::from(!counters.is_empty());
        let mut slice = |suffix: &str, mut spec: Value| {
            spec["driver"] = json!("d");
            spec["nodeName"] = json!("node");
            spec["pool"] = json!({ "name": name, "generation": 1, "resourceSliceCount": slices });
            self.objects.push((
                Kind::ResourceSlice,
                json!({ "metadata": { "name": format!("{name}-{suffix}") }, "spec": spec }),
            ));
        };
        slice("devices", json!({ "devices": devices }));
        if !counters.is_empty() {
            slice("counters", json!({ "sharedCounters": counters }));
        }
    }

    fn claim(&mut self, requests: &[Value], constraints: &[Value]) {
        let name = format!("claim-{}", self.claims);
        self.claims += 1;
        self.add(
            Kind::ResourceClaim,
            json!({
                "metadata": { "namespace": "default", "name": name },
                "spec": { "devices": { "requests": requests, "constraints": constraints } },
            }),
        );
    }

    /// The same, with a change of each object.
    fn changed(&self, change: impl Fn(&mut Value)) -> Self {
        let mut objects = self.objects.clone();
        for (_, object) in &mut objects {
            change(object);
        }
        Self {
            objects,
            claims: self.claims,
        }
    }

    fn cluster(&self) -> Cluster {
        let mut builder = ClusterBuilder::default();
        for (kind, object) in &self.objects {
            builder.add(Object::from_json(*kind, object.to_string().as_bytes()).unwrap());
        }
        builder.build(Environment::default()).0
    }

    fn demanded(&self, cluster: &Cluster) -> Vec<Arc<Claim>> {
        let key = |number: usize| Key {
            namespace: "default".into(),
            name: format!("claim-{number}").into(),
        };
        (0..self.claims)
            .map(|number| cluster.claim(&key(number)).unwrap().clone())
            .collect()
    }

    fn allocate(&self, features: Features, limits: Limits) -> Attempt {
        let cluster = self.cluster();
        let inputs = Inputs::new(&cluster, features);
        let demand = inputs.demand(&self.demanded(&cluster));
        inputs.allocate(cluster.node("node").unwrap(), &demand, limits, &())
    }
}

fn all_features() -> Features {
    Features {
        admin_access: true,
        compatibility_groups: true,
        consumable_capacity: true,
        derived_attributes: true,
        device_binding_and_status: true,
        device_taints: true,
        fractional_capacity_range: true,
        list_type_attributes: true,
        optional_node_operations: true,
        partitionable_devices: true,
        prioritized_list: true,
        ..Features::default()
    }
}

fn exactly(name: &str, class: &str, count: usize) -> Value {
    json!({ "name": name, "exactly": { "deviceClassName": class, "allocationMode": "ExactCount", "count": count } })
}
