//! Objects of a cluster as JSON values, with a word for what varies.
//!
//! Functions make the usual object; the methods of [`Manifest`] change it, the last of them,
//! [`with`](Manifest::with), in any way.

#![expect(
    clippy::needless_pass_by_value,
    reason = "values are written where they are used"
)]

use serde_json::{Map, Value, json};

/// Manifest of an object type.
pub(crate) trait Manifest: Sized {
    /// Merges `changes` into the object: members of objects one by one, everything else replaced.
    fn with(self, changes: Value) -> Self;
    /// Puts the object into a namespace.
    fn in_namespace(self, namespace: &str) -> Self;
    /// Adds a label.
    fn labeled(self, key: &str, value: &str) -> Self;

    /// Of a pod: uses a claim under the name `name`.
    fn named_claim(self, name: &str, claim: &str) -> Self;
    /// Of a pod: uses a claim that is generated from a template.
    fn template_claim(self, name: &str, template: &str) -> Self;
    /// Of a pod: belongs to a PodGroup.
    fn in_group(self, group: &str) -> Self;
    /// Of a pod: is on a node without the scheduler's doing.
    fn on_node(self, node: &str) -> Self;
    /// Of a pod: wants an amount of an extended resource.
    fn requesting(self, resource: &str, amount: u32) -> Self;

    /// Of a request: wants that many devices.
    fn count(self, count: u32) -> Self;
    /// Of a request: wants all devices that match.
    fn all(self) -> Self;
    /// Of a request: devices must match a CEL expression, too.
    fn selecting(self, expression: &str) -> Self;
    /// Of a request: changes the part below `exactly`.
    fn exactly(self, changes: Value) -> Self;

    /// Of a claim's spec: adds a constraint.
    fn constrained(self, constraint: Value) -> Self;
}

impl Manifest for Value {
    fn with(mut self, changes: Value) -> Self {
        merge(&mut self, changes);
        self
    }

    fn in_namespace(self, namespace: &str) -> Self {
        self.with(json!({"metadata": {"namespace": namespace}}))
    }

    fn labeled(self, key: &str, value: &str) -> Self {
        self.with(json!({"metadata": {"labels": {key: value}}}))
    }

    fn named_claim(self, name: &str, claim: &str) -> Self {
        pod_claim(self, name, json!({"name": name, "resourceClaimName": claim}))
    }

    fn template_claim(self, name: &str, template: &str) -> Self {
        pod_claim(
            self,
            name,
            json!({"name": name, "resourceClaimTemplateName": template}),
        )
    }

    fn in_group(self, group: &str) -> Self {
        self.with(json!({"spec": {"schedulingGroup": {"podGroupName": group}}}))
    }

    fn on_node(self, node: &str) -> Self {
        self.with(json!({"spec": {"nodeName": node}}))
    }

    fn requesting(mut self, resource: &str, amount: u32) -> Self {
        let amounts = json!({resource: amount.to_string()});
        let main = &mut self["spec"]["containers"][0]["resources"];
        merge(main, json!({"requests": amounts, "limits": amounts}));
        self
    }

    fn count(self, count: u32) -> Self {
        self.exactly(json!({"allocationMode": "ExactCount", "count": count}))
    }

    fn all(self) -> Self {
        self.exactly(json!({"allocationMode": "All"}))
    }

    fn selecting(mut self, expression: &str) -> Self {
        // A subrequest has no `exactly` around its fields.
        let fields = if self["exactly"].is_object() {
            &mut self["exactly"]
        } else {
            &mut self
        };
        push(fields, "selectors", json!({"cel": {"expression": expression}}));
        self
    }

    fn exactly(self, changes: Value) -> Self {
        self.with(json!({"exactly": changes}))
    }

    fn constrained(mut self, constraint: Value) -> Self {
        push(&mut self["devices"], "constraints", constraint);
        self
    }
}

/// A namespace.
pub(crate) fn namespace(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
}

/// A request for one GPU, named `gpu`.
pub(crate) fn gpu() -> Value {
    request("gpu", "gpu.example.com")
}

/// A request for one device of a class.
pub(crate) fn request(name: &str, class: &str) -> Value {
    json!({"name": name, "exactly": {"deviceClassName": class}})
}

/// A request with alternatives in order of preference, each a [`subrequest`].
pub(crate) fn first_available(name: &str, subrequests: impl IntoIterator<Item = Value>) -> Value {
    json!({"name": name, "firstAvailable": array(subrequests)})
}

/// An alternative of a [`first_available`] request.
pub(crate) fn subrequest(name: &str, class: &str) -> Value {
    json!({"name": name, "deviceClassName": class})
}

/// Returns what a claim or template asks for.
pub(crate) fn claim_spec(requests: impl IntoIterator<Item = Value>) -> Value {
    json!({"devices": {"requests": array(requests)}})
}

/// Two GPUs and two NICs, each GPU behind the same PCIe root as its NIC.
pub(crate) fn aligned_spec() -> Value {
    let nic = |name| request(name, "nic.example.com");
    let gpu = |name| request(name, "gpu.example.com");
    claim_spec([gpu("gpu0"), nic("nic0"), gpu("gpu1"), nic("nic1")])
        .constrained(matching("resource.kubernetes.io/pcieRoot", &["gpu0", "nic0"]))
        .constrained(matching("resource.kubernetes.io/pcieRoot", &["gpu1", "nic1"]))
}

/// The constraint that devices have the same value of an attribute.
pub(crate) fn matching(attribute: &str, requests: &[&str]) -> Value {
    json!({"requests": requests, "matchAttribute": attribute})
}

/// A ResourceClaim.
pub(crate) fn claim(name: &str, spec: Value) -> Value {
    resource("ResourceClaim", name, spec)
}

/// A ResourceClaimTemplate.
pub(crate) fn template(name: &str, spec: Value) -> Value {
    resource("ResourceClaimTemplate", name, json!({"spec": spec}))
}

/// A DeviceClass with one selector.
pub(crate) fn class(name: &str, expression: &str) -> Value {
    resource(
        "DeviceClass",
        name,
        json!({"selectors": [{"cel": {"expression": expression}}]}),
    )
}

/// The class of all devices of `gpu.example.com`.
pub(crate) fn gpu_class() -> Value {
    class("gpu.example.com", "device.driver == 'gpu.example.com'")
}

/// The class of all devices of `nic.example.com`.
pub(crate) fn nic_class() -> Value {
    class("nic.example.com", "device.driver == 'nic.example.com'")
}

/// A ResourceSlice for one node, the only one of a pool that has the node's name.
pub(crate) fn slice(driver: &str, node: &str, devices: impl IntoIterator<Item = Value>) -> Value {
    resource(
        "ResourceSlice",
        &format!("{node}-{driver}"),
        json!({
        "driver": driver, "nodeName": node,
        "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
        "devices": array(devices)}),
    )
}

/// PCIe root complexes of an eight-GPU machine, four per NUMA node.
const PCI: [&str; 8] = ["17", "2a", "3d", "5d", "97", "aa", "bd", "dd"];

/// The first `count` of a node's eight GPUs.
pub(crate) fn gpu_slice(node: &str, count: usize) -> Value {
    slice(
        "gpu.example.com",
        node,
        PCI.iter().take(count).enumerate().map(|(index, root)| {
            json!({
        "name": format!("gpu-{index}"),
        "attributes": {
            "type": {"string": "gpu"}, "model": {"string": "H100-SXM5-80GB"},
            "uuid": {"string": format!("GPU-{node}-{index:04x}")}, "index": {"int": index},
            "architecture": {"string": "Hopper"}, "driverVersion": {"version": "580.65.6"},
            "cudaComputeCapability": {"version": "9.0.0"}, "ecc": {"bool": true},
            "numaNode": {"int": index / 4},
            "resource.kubernetes.io/pcieRoot": {"string": format!("pci0000:{root}")}},
        "capacity": {"memory": {"value": "81559Mi"}, "multiprocessors": {"value": "132"}}})
        }),
    )
}

/// The first `count` of a node's eight NICs.
pub(crate) fn nic_slice(node: &str, count: usize) -> Value {
    slice(
        "nic.example.com",
        node,
        PCI.iter().take(count).enumerate().map(|(index, root)| {
            json!({
        "name": format!("rdma{index}"),
        "attributes": {
            "type": {"string": "rdma"}, "ifName": {"string": format!("eth{}", index + 1)},
            "linkType": {"string": "infiniband"}, "mtu": {"int": 4092},
            "numaNode": {"int": index / 4},
            "resource.kubernetes.io/pcieRoot": {"string": format!("pci0000:{root}")}},
        "capacity": {"bandwidth": {"value": "400G"}}})
        }),
    )
}

/// Changes each device of a slice.
pub(crate) fn each_device(mut slice: Value, mut change: impl FnMut(&mut Value)) -> Value {
    slice["spec"]["devices"]
        .as_array_mut()
        .into_iter()
        .flatten()
        .for_each(&mut change);
    slice
}

/// A pod with one container that wants 4 CPUs and 8 GiB of memory.
pub(crate) fn pod(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {
        "restartPolicy": "Never",
        "containers": [{"name": "main", "image": "pause:3.10",
            "resources": {"requests": {"cpu": "4", "memory": "8Gi"}}}]}})
}

/// A PodGroup with the given claims (entries of `spec.resourceClaims`) and the basic policy.
pub(crate) fn pod_group(name: &str, claims: impl IntoIterator<Item = Value>) -> Value {
    json!({"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": {"name": name},
        "spec": {"schedulingPolicy": {"basic": {}}, "resourceClaims": array(claims)}})
}

/// A PodDisruptionBudget over the pods with the label `app`.
pub(crate) fn disruption_budget(name: &str, app: &str, min_available: u32) -> Value {
    json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name},
        "spec": {"minAvailable": min_available, "selector": {"matchLabels": {"app": app}}}})
}

/// A DeviceTaintRule for the devices that match `selector`.
pub(crate) fn taint_rule(name: &str, selector: Value, taint: Value) -> Value {
    resource(
        "DeviceTaintRule",
        name,
        json!({"deviceSelector": selector, "taint": taint}),
    )
}

/// A taint as it stands in slices and rules.
pub(crate) fn taint(key: &str, value: &str, effect: &str) -> Value {
    json!({"key": key, "value": value, "effect": effect})
}

fn resource(kind: &str, name: &str, spec: Value) -> Value {
    json!({"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": {"name": name}, "spec": spec})
}

/// Adds a claim to a pod's spec and to all its containers.
fn pod_claim(mut pod: Value, name: &str, entry: Value) -> Value {
    push(&mut pod["spec"], "resourceClaims", entry);
    for container in pod["spec"]["containers"].as_array_mut().into_iter().flatten() {
        push(&mut container["resources"], "claims", json!({"name": name}));
    }
    pod
}

fn array(items: impl IntoIterator<Item = Value>) -> Value {
    Value::Array(items.into_iter().collect())
}

fn push(object: &mut Value, list: &str, item: Value) {
    match &mut object[list] {
        Value::Array(items) => items.push(item),
        other => *other = json!([item]),
    }
}

fn merge(object: &mut Value, changes: Value) {
    match (object, changes) {
        (Value::Object(object), Value::Object(changes)) => {
            for (key, change) in changes {
                merge(object.entry(key).or_insert(Value::Null), change);
            }
        }
        (object, Value::Object(changes)) => {
            *object = Value::Object(Map::new());
            merge(object, Value::Object(changes));
        }
        (object, change) => *object = change,
    }
}
