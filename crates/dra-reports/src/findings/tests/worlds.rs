//! A cluster with each defect, and one like it without.

use serde_json::{Value, json};

use crate::findings::Code;
use dra_model::{Component, Evidence, Gate, GateState, Kind};
use dra_testing::{World, holding, status};

pub(super) const GROUP: &str = "scheduling.k8s.io/v1beta1";

pub(super) fn world() -> World {
    World::default()
}

/// Roles and bindings that let the service account `n/driver` do this with claims, and the pod of a DaemonSet that runs as it.
pub(super) fn driver_with(rules: &Value) -> World {
    let daemon = json!({"metadata": {"namespace": "n", "name": "d-plugin-x", "uid": "plugin-uid", "ownerReferences": [
        {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d-plugin", "uid": "set-uid", "controller": true}]},
        "spec": {"nodeName": "node-1", "serviceAccountName": "driver"}, "status": {"phase": "Running"}});
    let world = world()
        .slice("node-1", &json!([{"name": "x"}]))
        .with(Kind::Pod, &daemon);
    granted(
        world,
        &json!({"kind": "ServiceAccount", "namespace": "n", "name": "driver"}),
        rules,
    )
}

/// A ClusterRole with these rules for `subject`.
pub(super) fn granted(world: World, subject: &Value, rules: &Value) -> World {
    world
        .with(
            Kind::ClusterRole,
            &json!({"metadata": {"name": "granted"}, "rules": rules}),
        )
        .with(
            Kind::ClusterRoleBinding,
            &json!({"metadata": {"name": "granted"}, "roleRef": {"kind": "ClusterRole", "name": "granted"}, "subjects": [subject]}),
        )
}

/// What a driver may do that publishes slices, with `more` beside it.
pub(super) fn driver_rules(more: &[Value]) -> Value {
    let mut rules = vec![
        json!({"verbs": ["create"], "apiGroups": ["resource.k8s.io"], "resources": ["resourceslices"]}),
        json!({"verbs": ["update", "patch"], "apiGroups": ["resource.k8s.io"], "resources": ["resourceclaims/status"]}),
    ];
    rules.extend_from_slice(more);
    json!(rules)
}

/// A user who may do this.
pub(super) fn jane(rules: &Value) -> World {
    granted(world(), &json!({"kind": "User", "name": "jane"}), rules)
}

/// A request for one device of the class `d`.
pub(super) fn request(more: &Value) -> Value {
    let mut exactly = json!({"deviceClassName": "d", "allocationMode": "ExactCount", "count": 1});
    merge(&mut exactly, more);
    json!({"devices": {"requests": [{"name": "r", "exactly": exactly}]}})
}

pub(super) fn merge(object: &mut Value, more: &Value) {
    for (key, value) in more.as_object().unwrap() {
        object[key] = value.clone();
    }
}

/// A claim with metadata of its own.
pub(super) fn claim_with(world: World, metadata: &Value, spec: &Value, status: &Value) -> World {
    let mut full = json!({"namespace": "n", "name": "c", "uid": "c-uid"});
    merge(&mut full, metadata);
    world.with(
        Kind::ResourceClaim,
        &json!({"metadata": full, "spec": spec, "status": status}),
    )
}

pub(super) fn pod_from(world: World, name: &str, spec: &Value, more: &Value) -> World {
    let mut pod = json!({
        "metadata": {"namespace": "n", "name": name, "uid": format!("{name}-uid")},
        "spec": spec, "status": {"phase": "Running"},
    });
    merge(&mut pod, more);
    world.with(Kind::Pod, &pod)
}

/// A pod of group `g` that names the claim `c`.
pub(super) fn member(world: World, name: &str, node: &str) -> World {
    let spec = json!({"nodeName": node, "schedulingGroup": {"podGroupName": "g"},
                      "resourceClaims": [{"name": "c", "resourceClaimName": "c"}]});
    pod_from(world, name, &spec, &json!({}))
}

pub(super) fn group_entry() -> Value {
    json!({"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "g", "uid": "g-uid"})
}

/// The status of a claim that holds device `x`, with these entries.
pub(super) fn reserved(entries: &Value) -> Value {
    let mut status = holding(&["x"], &[]);
    status["reservedFor"] = entries.clone();
    status
}

/// A pod with one container that names the claim `c`.
fn one_container() -> Value {
    json!({"nodeName": "node-1", "containers": [{"name": "main"}], "resourceClaims": [{"name": "c", "resourceClaimName": "c"}]})
}

/// A pod on node-1 with device `x`.
fn on_node(status: &Value) -> World {
    let world = world()
        .node("node-1", &json!({}))
        .claim("c", &json!({}), &holding(&["x"], &["p"]))
        .slice("node-1", &json!([{"name": "x"}]));
    pod_from(world, "p", &one_container(), &json!({"status": status}))
}

/// A pod that is not started, where the kubelet says `text`, and one that has got further since.
fn unstarted(text: &str) -> (World, World) {
    let event = |name: &str, reason: &str, text: &str| {
        json!({
            "metadata": {"namespace": "n", "name": name}, "reason": reason, "source": {"component": "kubelet"},
            "type": if reason == "Pulling" { "Normal" } else { "Warning" },
            "involvedObject": {"kind": "Pod", "namespace": "n", "name": "p", "uid": "p-uid"},
            "message": text, "lastTimestamp": "2026-11-21T11:58:00Z",
        })
    };
    let with = || {
        let text = format!("Failed to prepare dynamic resources: prepare dynamic resources: {text}");
        on_node(&json!({"phase": "Pending"}))
            .with(Kind::Event, &event("e", "FailedPrepareDynamicResources", &text))
    };
    (
        with(),
        with().with(Kind::Event, &event("f", "Pulling", "Pulling image")),
    )
}

pub(super) fn pod_group(world: World) -> World {
    world.with(
        Kind::PodGroup,
        &json!({"metadata": {"namespace": "n", "name": "g", "uid": "g-uid"}, "spec": {"resourceClaims": [
            {"name": "c", "resourceClaimName": "c"}]}}),
    )
}

pub(super) fn owner(api: &str, kind: &str, name: &str) -> Value {
    json!({"ownerReferences": [
        {"apiVersion": api, "kind": kind, "name": name, "uid": format!("{name}-uid"), "controller": true}]})
}

pub(super) fn template(world: World, spec: &Value) -> World {
    world.with(
        Kind::ResourceClaimTemplate,
        &json!({"metadata": {"namespace": "n", "name": "t", "uid": "t-uid"}, "spec": {"spec": spec}}),
    )
}

pub(super) fn at(world: World, minor: u32) -> World {
    world.knowing(|environment| {
        environment.version = dra_model::Version::minor(minor);
        environment.emulated_minor = minor;
    })
}

pub(super) fn gate(world: World, gate: Gate, enabled: bool) -> World {
    world.knowing(|environment| {
        for component in Component::ALL {
            let state = GateState {
                enabled,
                evidence: Evidence::Flag,
            };
            environment.gates.push((component, gate, state));
        }
    })
}

/// One device `x` of pool `node-1`.
pub(super) fn device(more: &Value) -> World {
    let mut device = json!({"name": "x"});
    merge(&mut device, more);
    world().slice("node-1", &json!([device]))
}

pub(super) fn rule(selector: &Value, effect: &str) -> World {
    world().rule("rule", selector, effect)
}

/// A claim with a share of device `x` that takes `amount` of memory.
pub(super) fn share(world: World, name: &str, id: &str, amount: &str) -> World {
    let results = json!([{"request": "r", "driver": "d", "pool": "node-1", "device": "x", "shareID": id,
                          "consumedCapacity": {"memory": amount}}]);
    world
        .claim(name, &json!({}), &status(&results, &[name]))
        .pod(name, &[name])
}

pub(super) fn binding(node: &str, conditions: &Value) -> World {
    let results = json!([{"request": "r", "driver": "d", "pool": "node-1", "device": "x",
                          "bindingConditions": ["Attached"], "bindingFailureConditions": ["Failed"]}]);
    let mut status = status(&results, &["p"]);
    status["allocation"]["allocationTimestamp"] = json!("2026-11-21T11:00:00Z");
    status["devices"] = json!([{"driver": "d", "pool": "node-1", "device": "x", "conditions": conditions}]);
    let spec = json!({"nodeName": node, "resourceClaims": [{"name": "c", "resourceClaimName": "c"}]});
    pod_from(world().claim("c", &json!({}), &status), "p", &spec, &json!({}))
}

pub(super) fn quota(used: &str) -> World {
    let spec = json!({"resourceClaims": [{"name": "c", "resourceClaimTemplateName": "t"}]});
    let world = template(world().class("d"), &request(&json!({"count": 2})));
    pod_from(world, "p", &spec, &json!({})).with(
        Kind::ResourceQuota,
        &json!({"metadata": {"namespace": "n", "name": "q"}, "status": {
            "hard": {"d.deviceclass.resource.k8s.io/devices": "4"},
            "used": {"d.deviceclass.resource.k8s.io/devices": used}}}),
    )
}

/// A namespace whose label for admin access has this value, and a claim in it.
pub(super) fn admin(value: &str, spec: &Value) -> World {
    let metadata = json!({"name": "n", "labels": {"resource.kubernetes.io/admin-access": value}});
    world()
        .with(Kind::Namespace, &json!({"metadata": metadata}))
        .class("d")
        .claim("c", spec, &json!({}))
}

pub(super) fn peer_nodes(slices: &[&str]) -> World {
    let nodes = ["a", "b", "c"].into_iter().fold(world(), |world, name| {
        world.node(name, &json!({"node.kubernetes.io/instance-type": "t"}))
    });
    slices
        .iter()
        .fold(nodes, |world, name| world.slice(name, &json!([{"name": "x"}])))
}

/// The ready pod of driver `d` on a node.
pub(super) fn plugin(world: World, node: &str) -> World {
    let owner = json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d-kubelet-plugin", "uid": "set-uid", "controller": true});
    let more = json!({"metadata": {"namespace": "n", "name": format!("d-kubelet-plugin-{node}"), "uid": format!("{node}-uid"),
                                   "ownerReferences": [owner]},
                      "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
    pod_from(world, "", &json!({"nodeName": node}), &more)
}

pub(super) fn pool_part(name: &str, generation: i64, count: i64) -> Value {
    json!({"pool": {"name": name, "generation": generation, "resourceSliceCount": count}, "devices": []})
}

/// Slices of one pool, each with its own name.
pub(super) fn slices(specs: &[Value]) -> World {
    specs.iter().enumerate().fold(world(), |world, (number, more)| {
        let mut spec = json!({"driver": "d", "allNodes": true});
        merge(&mut spec, more);
        world.with(
            Kind::ResourceSlice,
            &json!({"metadata": {"name": format!("s{number}")}, "spec": spec}),
        )
    })
}

pub(super) fn selector(expression: &str) -> Value {
    json!({"selectors": [{"cel": {"expression": expression}}]})
}

pub(super) fn deleting(at: &str, entries: &Value) -> World {
    let metadata =
        json!({"deletionTimestamp": at, "finalizers": ["resource.kubernetes.io/delete-protection"]});
    claim_with(world(), &metadata, &json!({}), &reserved(entries))
}

pub(super) fn toleration(seconds: i64) -> Value {
    request(&json!({"tolerations": [
        {"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds}]}))
}

pub(super) fn driver_claim(driver: &str) -> World {
    let results = json!([{"request": "r", "driver": driver, "pool": "node-1", "device": "x"}]);
    world()
        .claim("c", &json!({}), &status(&results, &["p"]))
        .pod("p", &["c"])
}

pub(super) fn with_counters(memory: &str) -> World {
    let counters = |amount: &str| json!([{"counterSet": "set", "counters": {"memory": {"value": amount}}}]);
    world()
        .slice_with(
            "node-1",
            &json!({
                "nodeName": "node-1",
                "sharedCounters": [{"name": "set", "counters": {"memory": {"value": memory}}}],
                "devices": [{"name": "x", "consumesCounters": counters("3Gi")},
                            {"name": "y", "consumesCounters": counters("3Gi")}],
            }),
        )
        .claim("c", &json!({}), &holding(&["x", "y"], &["p"]))
        .pod("p", &["c"])
}

/// A cluster with the defect, and one like it without.
#[expect(clippy::too_many_lines, reason = "a table with a row for each code")]
pub(super) fn worlds(code: Code) -> (World, World) {
    let none = json!({});
    let pod_entry = |name: &str| json!({"resource": "pods", "name": name, "uid": format!("{name}-uid")});
    let job_entry = json!({"apiGroup": "batch", "resource": "jobs", "name": "j", "uid": "j-uid"});
    let reserved_claim = |entries: &Value| world().claim("c", &json!({}), &reserved(entries));
    let grouped = |entries: &Value| {
        let world = pod_group(gate(world(), Gate::GenericWorkload, true));
        member(world.claim("c", &json!({}), &reserved(entries)), "p", "node-1")
    };
    let generated = |world: World| {
        let owner = owner(GROUP, "PodGroup", "g");
        claim_with(world, &owner, &json!({}), &reserved(&json!([group_entry()])))
    };
    match code {
        Code::DeviceAllocatedTwice => {
            let one = || {
                world()
                    .claim("a", &none, &holding(&["x"], &["p"]))
                    .pod("p", &["a"])
            };
            let with = |device: &str| {
                one()
                    .claim("b", &none, &holding(&[device], &["q"]))
                    .pod("q", &["b"])
            };
            (with("x"), with("y"))
        }
        Code::CountersOversubscribed => (with_counters("5Gi"), with_counters("6Gi")),
        Code::CapacityOversubscribed => {
            let with = |capacity: &str| {
                let world = device(
                    &json!({"allowMultipleAllocations": true, "capacity": {"memory": {"value": capacity}}}),
                );
                share(share(world, "a", "1", "3Gi"), "b", "2", "3Gi")
            };
            (with("5Gi"), with("6Gi"))
        }
        Code::DeviceNotPublished => {
            let with = |name: &str| {
                world()
                    .slice("node-1", &json!([{"name": name}]))
                    .claim("c", &none, &holding(&["x"], &["p"]))
                    .pod("p", &["c"])
            };
            (with("y"), with("x"))
        }
        Code::DeviceUnhealthy => {
            let with = |ready: &str| {
                let mut status = holding(&["x"], &["p"]);
                status["devices"] = json!([{"driver": "d", "pool": "node-1", "device": "x",
                                            "conditions": [{"type": "Ready", "status": ready}]}]);
                world().claim("c", &none, &status).pod("p", &["c"])
            };
            (with("False"), with("True"))
        }
        Code::BrokenPartitions => {
            let draws = |amount: &str| json!([{"counterSet": "s", "counters": {"c": {"value": amount}}}]);
            let with = |key: &str| {
                let taints = json!([{"key": key, "effect": "NoSchedule"}]);
                let slice = json!({"driver": "d", "nodeName": "node-1", "pool": {"name": "q", "generation": 1, "resourceSliceCount": 2}});
                let mut counters = slice.clone();
                counters["sharedCounters"] = json!([{"name": "s", "counters": {"c": {"value": "2"}}}]);
                let mut devices = slice;
                devices["devices"] = json!([{"name": "whole", "consumesCounters": draws("2"), "taints": taints},
                    {"name": "part", "consumesCounters": draws("1")}]);
                let world = world().with(
                    Kind::ResourceSlice,
                    &json!({"metadata": {"name": "counters"}, "spec": counters}),
                );
                world.with(
                    Kind::ResourceSlice,
                    &json!({"metadata": {"name": "devices"}, "spec": devices}),
                )
            };
            (with("d/unhealthy"), with("d/reserved"))
        }
        Code::DevicesUnlisted => {
            let with = |claims: Value| {
                let containers = json!([{"name": "main", "resources": {"claims": claims}}]);
                let spec = json!({"nodeName": "node-1", "containers": containers,
                                  "resourceClaims": [{"name": "c", "resourceClaimName": "c"}]});
                let world = world().claim("c", &none, &holding(&["x"], &["p"]));
                pod_from(world, "p", &spec, &json!({}))
            };
            (with(json!([])), with(json!([{"name": "c"}])))
        }
        Code::ClaimNotMade => {
            let with = |created: &str| {
                let at = "2026-11-21T11:00:00Z";
                let metadata = json!({"namespace": "n", "name": "t", "creationTimestamp": at});
                let world = world().with(
                    Kind::ResourceClaimTemplate,
                    &json!({"metadata": metadata,
                    "spec": {"spec": request(&json!({}))}}),
                );
                let world = world.with(
                    Kind::Node,
                    &json!({"metadata": {"name": "node-1"}, "status": {"conditions": [
                    {"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-11-21T11:59:00Z"}]}}),
                );
                world.with(Kind::Pod, &json!({"metadata": {"namespace": "n", "name": "p", "uid": "p-uid", "creationTimestamp": created},
                    "spec": {"resourceClaims": [{"name": "c", "resourceClaimTemplateName": "t"}]}}))
            };
            (with("2026-11-21T11:30:00Z"), with("2026-11-21T11:58:30Z"))
        }
        Code::ReservationGone => (
            reserved_claim(&json!([pod_entry("p")])),
            reserved_claim(&json!([pod_entry("p")])).pod("p", &["c"]),
        ),
        Code::ReservationEnded => {
            let with = |phase: &str| {
                reserved_claim(&json!([pod_entry("p")])).pod_with("p", &["c"], &json!({"phase": phase}))
            };
            (with("Failed"), with("Running"))
        }
        Code::ReservationReplaced => {
            let mut other = pod_entry("p");
            other["uid"] = json!("earlier");
            let with = |entry: &Value| reserved_claim(&json!([entry])).pod("p", &["c"]);
            (with(&other), with(&pod_entry("p")))
        }
        Code::ReservationForeign => (
            reserved_claim(&json!([job_entry, pod_entry("p")])).pod("p", &["c"]),
            reserved_claim(&json!([pod_entry("p")])).pod("p", &["c"]),
        ),
        Code::ReservationMissing => {
            let with = |names: &[&str]| {
                world()
                    .claim("c", &json!({}), &holding(&["x"], names))
                    .pod("p", &["c"])
                    .pod("q", &["c"])
            };
            (with(&["p"]), with(&["p", "q"]))
        }
        Code::ReservationNone => (
            reserved_claim(&json!([])),
            reserved_claim(&json!([pod_entry("p")])).pod("p", &["c"]),
        ),
        Code::ReservationLimit => {
            let with = |count: usize| {
                let names: Vec<String> = (0..count).map(|number| format!("p{number}")).collect();
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                let world = world().claim("c", &json!({}), &holding(&["x"], &names));
                names.iter().fold(world, |world, name| world.pod(name, &["c"]))
            };
            (with(230), with(229))
        }
        Code::ReservationFlapping => {
            let with = |others: &[&str]| {
                let world = world().claim("c", &json!({}), &holding(&["x"], others)).pod_with(
                    "ended",
                    &["c"],
                    &json!({"phase": "Succeeded"}),
                );
                others
                    .iter()
                    .filter(|name| **name != "ended")
                    .fold(world, |world, name| world.pod(name, &["c"]))
            };
            (with(&["ended", "p"]), with(&["ended"]))
        }
        Code::PodOnOtherNode => {
            let with = |node: &str| {
                let spec =
                    json!({"nodeName": node, "resourceClaims": [{"name": "c", "resourceClaimName": "c"}]});
                let world = world().node("node-1", &json!({})).node("node-2", &json!({}));
                pod_from(
                    world.claim("c", &json!({}), &holding(&["x"], &["p"])),
                    "p",
                    &spec,
                    &json!({}),
                )
            };
            (with("node-2"), with("node-1"))
        }
        Code::PodWithoutAllocation => (
            world().claim("c", &none, &none).pod("p", &["c"]),
            world()
                .claim("c", &none, &holding(&["x"], &["p"]))
                .pod("p", &["c"]),
        ),
        Code::ClaimOrphaned => {
            let with = |name: &str| {
                claim_with(world(), &owner("v1", "Pod", "p"), &json!({}), &json!({})).pod(name, &[])
            };
            (with("q"), with("p"))
        }
        Code::DeletionStuck => {
            let entries = json!([job_entry]);
            (
                deleting("2026-11-21T11:00:00Z", &entries),
                deleting("2026-11-21T11:59:30Z", &entries),
            )
        }
        Code::ClaimMissing => (
            world().pod("p", &["c"]),
            world()
                .claim("c", &none, &holding(&["x"], &["p"]))
                .pod("p", &["c"]),
        ),
        Code::ClassMissing => {
            let with = |class: &str| world().class(class).claim("c", &request(&json!({})), &json!({}));
            (with("e"), with("d"))
        }
        Code::SelectorInvalid => {
            let with = |expression: &str| {
                world()
                    .class("d")
                    .claim("c", &request(&selector(expression)), &json!({}))
            };
            (with("device.nothing"), with("device.driver == 'd'"))
        }
        Code::SelectorFails => {
            let with = |expression: &str| {
                device(&json!({"attributes": {"size": {"int": 1}}}))
                    .class("d")
                    .claim("c", &request(&selector(expression)), &json!({}))
            };
            (
                with("device.attributes['d'].missing == 1"),
                with("device.attributes['d'].size == 1"),
            )
        }
        Code::QuotaExceeded => (quota("3"), quota("2")),
        Code::BindingPending => {
            let condition = |status: &str| json!([{"type": "Attached", "status": status}]);
            (binding("", &condition("False")), binding("", &condition("True")))
        }
        Code::BindingFailed => {
            let failed = |status: &str| json!([{"type": "Attached", "status": "True"}, {"type": "Failed", "status": status}]);
            (
                binding("node-1", &failed("True")),
                binding("node-1", &failed("False")),
            )
        }
        Code::TolerationSeconds => {
            let with = |seconds: i64| world().class("d").claim("c", &toleration(seconds), &json!({}));
            (with(9_223_372_037), with(9_223_372_036))
        }
        Code::PoolIncomplete => (slices(&[pool_part("p", 1, 2)]), slices(&[pool_part("p", 1, 1)])),
        Code::PoolOutdated => (
            slices(&[pool_part("p", 2, 1), pool_part("p", 1, 1)]),
            slices(&[pool_part("p", 2, 1), pool_part("q", 1, 1)]),
        ),
        Code::PoolInvalid => {
            let with = |set: &str| {
                let mut part = pool_part("p", 1, 1);
                part["sharedCounters"] = json!([{"name": set, "counters": {"memory": {"value": "1"}}}]);
                part["devices"] = json!([{"name": "x", "consumesCounters": [
                    {"counterSet": "set", "counters": {"memory": {"value": "1"}}}]}]);
                slices(&[part])
            };
            (with("other"), with("set"))
        }
        Code::DeviceDuplicate => {
            let with = |name: &str| world().slice("node-1", &json!([{"name": "x"}, {"name": name}]));
            (with("x"), with("y"))
        }
        Code::NodeMissing => {
            let with = |name: &str| device(&json!({})).node(name, &json!({}));
            (with("node-2"), with("node-1"))
        }
        Code::NodeWithoutSlices => (peer_nodes(&["a", "b"]), peer_nodes(&["a"])),
        Code::PoolWithoutDevices => {
            let with = |devices: Value| world().node("node-1", &json!({})).slice("node-1", &devices);
            (with(json!([])), with(json!([{"name": "x"}])))
        }
        Code::HardwareTwice => {
            let with = |amount: &str| {
                let slice = json!({"driver": "x.io", "nodeName": "node-1", "devices": [{"name": "x"}]});
                let node =
                    json!({"metadata": {"name": "node-1"}, "status": {"allocatable": {"x.io/gpu": amount}}});
                world().with(Kind::Node, &node).slice_with("node-1", &slice)
            };
            (with("8"), with("0"))
        }
        Code::DriverSilent => {
            let with = |slices: &[&str]| {
                let world = plugin(world().node("node-1", &json!({})).class("d"), "node-1");
                slices
                    .iter()
                    .fold(world, |world, name| world.slice(name, &json!([{"name": "x"}])))
            };
            (with(&[]), with(&["node-1"]))
        }
        Code::NodesUnmatched => {
            let with = |value: &str| {
                let requirement = json!({"key": "rack", "operator": "In", "values": [value]});
                let slice = json!({"devices": [{"name": "x"}], "nodeSelector": {"nodeSelectorTerms": [
                    {"matchExpressions": [requirement]}]}});
                world()
                    .node("node-1", &json!({"rack": "r1"}))
                    .slice_with("far", &slice)
            };
            (with("r2"), with("r1"))
        }
        Code::RuleSelectsAll => (rule(&json!({}), "NoExecute"), rule(&json!({}), "None")),
        Code::RuleWithoutSelector => (rule(&json!(null), "None"), rule(&json!({}), "None")),
        Code::TaintEffectUnknown => (rule(&json!({}), "NoMatter"), rule(&json!({}), "NoSchedule")),
        Code::RuleSelectsNothing => {
            let with =
                |pool: &str| device(&json!({})).rule("rule", &json!({"driver": "d", "pool": pool}), "None");
            (with("other"), with("node-1"))
        }
        Code::LeftoverGroupReservation => {
            let with = |world: World| {
                member(
                    world.claim("c", &json!({}), &reserved(&json!([group_entry()]))),
                    "p",
                    "node-1",
                )
            };
            (with(world()), with(pod_group(world())))
        }
        Code::LeftoverGroupClaim => (generated(world()), generated(pod_group(world()))),
        Code::LeftoverNotAttached => {
            let condition = |status: &str| json!([{"type": "Attached", "status": status}]);
            (
                binding("node-1", &condition("False")),
                binding("node-1", &condition("True")),
            )
        }
        Code::DriverInUse => (driver_claim("d"), driver_claim("e")),
        Code::DriverWanted => {
            let with = |driver: &str| {
                let slice = json!({"driver": driver, "nodeName": "node-1", "devices": [{"name": "x"}]});
                world()
                    .class_with("d", &json!([]))
                    .slice_with("node-1", &slice)
                    .claim("c", &request(&json!({})), &json!({}))
            };
            (with("d"), with("e"))
        }
        Code::DriverPublished => (
            device(&json!({})),
            device(&json!({"taints": [{"key": "k", "effect": "NoSchedule"}]})),
        ),
        Code::ExtendedResourceShared => {
            let with = |world: World, name: &str, resource: &str| {
                world.with(
                    Kind::DeviceClass,
                    &json!({"metadata": {"name": name}, "spec": {"extendedResourceName": resource}}),
                )
            };
            let two = |resource: &str| with(with(world(), "d", "x.io/gpu"), "e", resource);
            (two("x.io/gpu"), two("x.io/nic"))
        }
        Code::AdminNamespace => (admin("true", &none), admin("false", &none)),
        Code::AdminNotAllowed => {
            let admin = |value: &str| admin(value, &request(&json!({"adminAccess": true})));
            (admin("false"), admin("true"))
        }
        Code::ClaimIdle => {
            let mut status = holding(&["x"], &["p"]);
            status["allocation"]["allocationTimestamp"] = json!("2026-11-19T12:00:00Z");
            let with = |phase: &str| {
                world()
                    .claim("c", &none, &status)
                    .pod_with("p", &["c"], &json!({"phase": phase}))
            };
            (with("Pending"), with("Running"))
        }
        Code::DriverGone => {
            let with = |node: &str| {
                let metadata = json!({"namespace": "n", "name": "p", "uid": "p-uid", "deletionTimestamp": "2026-11-21T11:00:00Z"});
                let spec = json!({"nodeName": "node-1", "resourceClaims": [{"name": "c", "resourceClaimName": "c"}]});
                let world = world()
                    .node("node-1", &none)
                    .claim("c", &none, &holding(&["x"], &["p"]))
                    .slice(node, &json!([{"name": "x"}]));
                pod_from(world, "p", &spec, &json!({"metadata": metadata}))
            };
            (with("node-2"), with("node-1"))
        }
        Code::DriverNotRegistered => unstarted("DRA driver d is not registered"),
        Code::PrepareRefused => unstarted("NodePrepareResources: rpc error: code = Unavailable"),
        Code::ClaimStillPrepared => unstarted(
            "old ResourceClaim with same name c and different UID 1-2 still exists (previous pod force-deleted?!)",
        ),
        Code::StartUnexplained => unstarted("something else"),
        Code::KubeletTooOld => {
            unstarted("ResourceClaim c: DRAOptionalNodeOperations feature gate is disabled on kubelet")
        }
        Code::DevicesLost => {
            let with = |message: &str| {
                let waiting = json!({"reason": "CreateContainerError", "message": message});
                on_node(&json!({"phase": "Pending",
                    "containerStatuses": [{"name": "main", "state": {"waiting": waiting}}]}))
            };
            (
                with("unresolvable CDI devices d/gpu=x"),
                with("no space left on device"),
            )
        }
        Code::UnprepareFails => {
            let with = |state: &Value| {
                let metadata = json!({"namespace": "n", "name": "p", "uid": "p-uid", "deletionTimestamp": "2026-11-21T11:00:00Z"});
                let status =
                    json!({"phase": "Running", "containerStatuses": [{"name": "main", "state": state}]});
                let world = world()
                    .node("node-1", &none)
                    .claim("c", &none, &holding(&["x"], &["p"]))
                    .slice("node-1", &json!([{"name": "x"}]));
                pod_from(
                    world,
                    "p",
                    &one_container(),
                    &json!({"metadata": metadata, "status": status}),
                )
            };
            (
                with(&json!({"terminated": {"exitCode": 0}})),
                with(&json!({"running": {}})),
            )
        }
        Code::NodeNotReady => {
            let with = |ready: &str| {
                let pod = json!({"metadata": {"namespace": "n", "name": "p", "uid": "p-uid"}, "status": {"phase": "Pending"}});
                let world = world()
                    .with(
                        Kind::Node,
                        &json!({"metadata": {"name": "node-1"}, "status": {"conditions": [{"type": "Ready", "status": ready}]}}),
                    )
                    .claim("c", &none, &holding(&["x"], &["p"]))
                    .slice("node-1", &json!([{"name": "x"}]));
                pod_from(world, "p", &one_container(), &pod)
            };
            (with("Unknown"), with("True"))
        }
        Code::ContainerNotRunning => {
            let with = |state: &Value| {
                on_node(&json!({"phase": "Running", "containerStatuses": [{"name": "main", "state": state}]}))
            };
            (
                with(&json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}})),
                with(&json!({"running": {}})),
            )
        }
        Code::EvictionOverdue => {
            let with = |heartbeat: &str| {
                let taint = json!({"key": "k", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"});
                let ready = json!({"type": "Ready", "status": "True", "lastHeartbeatTime": heartbeat});
                let world = world()
                    .with(
                        Kind::Node,
                        &json!({"metadata": {"name": "node-1"}, "status": {"conditions": [ready]}}),
                    )
                    .claim("c", &json!({}), &holding(&["x"], &["p"]))
                    .slice("node-1", &json!([{"name": "x", "taints": [taint]}]));
                let status = json!({"phase": "Running",
                    "containerStatuses": [{"name": "main", "state": {"running": {}}}]});
                pod_from(world, "p", &one_container(), &json!({"status": status}))
            };
            (with("2026-01-01T00:02:00Z"), with("2026-01-01T00:00:30Z"))
        }
        Code::DriverAwaited => {
            let with = |phase: &str| on_node(&json!({"phase": phase}));
            (with("Pending"), with("Running"))
        }
        Code::KnownBug => {
            let with = |patch: u32| {
                let world = world().class("d").claim("c", &request(&none), &none).rule(
                    "rule",
                    &json!({"driver": "d"}),
                    "NoSchedule",
                );
                gate(at(world, 36), Gate::DRADeviceTaintRules, true)
                    .knowing(|environment| environment.version.patch = patch)
            };
            (with(2), with(3))
        }
        Code::DriverStatusForbidden => {
            let with = |verbs: &[&str]| {
                driver_with(&driver_rules(&[
                    json!({"verbs": verbs, "apiGroups": ["resource.k8s.io"], "resources": ["resourceclaims/driver"]}),
                ]))
            };
            (with(&["update", "patch"]), with(&["associated-node:patch"]))
        }
        Code::AdminAccessRights => {
            let with = |resources: &[&str]| {
                jane(&json!([{"verbs": ["create", "update"], "apiGroups": ["*"], "resources": resources}]))
            };
            (
                with(&["namespaces", "resourceclaims"]),
                with(&["namespaces/status", "resourceclaims"]),
            )
        }
        Code::ReservationRights => {
            let with = |resources: &[&str]| {
                jane(&json!([{"verbs": ["patch"], "apiGroups": ["resource.k8s.io"], "resources": resources}]))
            };
            (
                with(&["resourceclaims/status", "resourceclaims/binding"]),
                with(&["resourceclaims/status"]),
            )
        }
        Code::TaintRights => {
            let with = |verb: &str| {
                jane(
                    &json!([{"verbs": [verb], "apiGroups": ["resource.k8s.io"], "resources": ["devicetaintrules"]}]),
                )
            };
            (with("create"), with("delete"))
        }
        Code::ApiVersion => {
            let with = |version: &str| {
                let entries = json!([{"manager": "helm", "apiVersion": version, "operation": "Update", "time": "2026-10-01T00:00:00Z"}]);
                let metadata = json!({"name": "d", "managedFields": entries});
                at(world(), 35).with(Kind::DeviceClass, &json!({"metadata": metadata, "spec": {}}))
            };
            (with("resource.k8s.io/v1beta1"), with("resource.k8s.io/v1beta2"))
        }
        Code::UpgradeDriverRights => {
            let with = |more: &[Value]| at(driver_with(&driver_rules(more)), 35);
            let right =
                json!({"verbs": ["associated-node:update"], "apiGroups": ["*"], "resources": ["*/driver"]});
            (with(&[]), with(&[right]))
        }
        Code::UpgradeBindingRights => {
            let with = |resources: &[&str]| {
                let rules =
                    json!([{"verbs": ["update"], "apiGroups": ["resource.k8s.io"], "resources": resources}]);
                at(jane(&rules), 35)
            };
            (
                with(&["resourceclaims/status"]),
                with(&["resourceclaims/status", "resourceclaims/binding"]),
            )
        }
        Code::UpgradeGates => {
            let with = |which: Gate| gate(at(world(), 36), which, false);
            // 1.36 lets it be off, and 1.37 does not.
            (with(Gate::DRAPrioritizedList), with(Gate::DRAConsumableCapacity))
        }
        Code::GateDefaults => {
            let with = |minor: u32| {
                at(
                    device(&json!({"taints": [{"key": "k", "effect": "NoExecute"}]})),
                    minor,
                )
            };
            (with(35), with(36))
        }
        Code::ChangedMeaning => {
            let with = |count: i64| {
                let mut spec = request(&json!({"count": count}));
                spec["devices"]["constraints"] = json!([{"distinctAttribute": "d/a"}]);
                at(world().class("d").claim("c", &spec, &none), 36)
            };
            (with(3), with(1))
        }
        Code::AllocationTolerations => {
            let with = |tolerations: &Value| {
                let results = json!([{"request": "r", "driver": "d", "pool": "node-1", "device": "x", "tolerations": tolerations}]);
                at(world().claim("c", &toleration(10), &status(&results, &["p"])), 34)
            };
            (
                with(&json!([])),
                with(&json!([{"key": "k", "operator": "Exists", "effect": "NoExecute"}])),
            )
        }
        Code::OldCounters => {
            let with = |devices: &Value| {
                let counters = json!([{"name": "s", "counters": {"c": {"value": "1"}}}]);
                at(
                    slices(&[
                        json!({"pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}, "sharedCounters": counters, "devices": devices}),
                    ]),
                    34,
                )
            };
            (with(&json!([{"name": "x"}])), with(&json!([])))
        }
        Code::WorkloadObjects => (at(pod_group(world()), 36), pod_group(world())),
        Code::GroupGeneratedClaim => (
            generated(world()),
            claim_with(
                world(),
                &owner("v1", "Pod", "p"),
                &none,
                &reserved(&json!([pod_entry("p")])),
            ),
        ),
        Code::GroupReservation => (
            grouped(&json!([group_entry()])),
            grouped(&json!([pod_entry("p")])),
        ),
        Code::GroupReservationDeleting => {
            let with = |entries: &Value| deleting("2026-11-21T11:59:30Z", entries);
            (with(&json!([group_entry()])), with(&json!([pod_entry("p")])))
        }
        Code::GroupReservationTooMany => {
            let with = |members: usize| {
                let world =
                    pod_group(world()).claim("c", &json!({}), &reserved(&json!([group_entry(), job_entry])));
                (0..members).fold(world, |world, number| {
                    member(world, &format!("p{number}"), "node-1")
                })
            };
            (with(256), with(255))
        }
        Code::GroupReservationIdle => {
            let with = |node: &str| {
                member(
                    pod_group(world()).claim("c", &json!({}), &reserved(&json!([group_entry()]))),
                    "p",
                    node,
                )
            };
            (with(""), with("node-1"))
        }
        Code::ForeignReservation => (
            reserved_claim(&json!([job_entry])),
            reserved_claim(&json!([pod_entry("p")])),
        ),
        Code::PendingMember => (member(world(), "p", ""), member(world(), "p", "node-1")),
        Code::GroupMember => (member(world(), "p", "node-1"), world().pod("p", &[])),
        Code::PodgroupObjects => (pod_group(world()), world()),
        Code::TaintRules => (rule(&json!({}), "NoExecute"), world()),
        Code::TaintRulesStorage => (rule(&json!({}), "None"), world()),
        Code::TaintRulesNoSelector => (rule(&json!(null), "NoSchedule"), rule(&json!({}), "NoSchedule")),
        Code::ListAttributes => (
            device(&json!({"attributes": {"roots": {"strings": ["a"]}}})),
            device(&json!({"attributes": {"root": {"string": "a"}}})),
        ),
        Code::AlphaFields => {
            let with = |more: Value| world().slice_with("node-1", &more);
            (
                with(json!({"skipNodeOperations": ["Prepare"], "devices": []})),
                with(json!({"devices": []})),
            )
        }
        Code::TaintsIgnored => {
            let with = |effect: &str| device(&json!({"taints": [{"key": "k", "effect": effect}]}));
            (with("NoSchedule"), with("None"))
        }
        Code::TaintsLimit => {
            let with = |count: usize| {
                let taints: Vec<_> = (0..count)
                    .map(|number| json!({"key": number.to_string(), "effect": "NoSchedule"}))
                    .collect();
                device(&json!({"taints": taints}))
            };
            (with(5), with(4))
        }
        Code::BindingConditions => {
            let condition = |status: &str| json!([{"type": "Attached", "status": status}]);
            (
                binding("", &condition("False")),
                binding("node-1", &condition("False")),
            )
        }
        Code::Partitions => (with_counters("6Gi"), device(&json!({}))),
        Code::SharedDevices => (
            device(&json!({"allowMultipleAllocations": true})),
            device(&json!({"allowMultipleAllocations": false})),
        ),
        Code::ExtendedResources => {
            let with = |spec: Value| {
                world().with(
                    Kind::DeviceClass,
                    &json!({"metadata": {"name": "d"}, "spec": spec}),
                )
            };
            (
                with(json!({"extendedResourceName": "example.com/gpu"})),
                with(json!({})),
            )
        }
        Code::Tolerations => {
            let with = |effect: &str| {
                let spec =
                    request(&json!({"tolerations": [{"key": "k", "operator": "Exists", "effect": effect}]}));
                world().claim("c", &spec, &json!({}))
            };
            (with("NoExecute"), with("NoSchedule"))
        }
        Code::FeatureGates => {
            let with = |name: Gate| gate(world(), name, true);
            (with(Gate::DRADerivedAttributes), with(Gate::DRADeviceTaints))
        }
        // What there is does not matter.
        Code::SkippedVersion => (world(), at(world(), 35)),
    }
}
