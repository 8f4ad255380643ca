//! Checks of kube-scheduler for pods, each once around the allocator.

use serde_json::{Value, json};

use super::*;
use dra_allocator::Limits;
use dra_model::{
    Cluster, ClusterBuilder, Component, Environment, Evidence, Gap, Gate, GateState, Kind, Object, Time,
};

/// Two nodes with a GPU each, a class for them, and more.
struct World {
    objects: Vec<(Kind, Value)>,
    environment: Environment,
}

impl World {
    fn new() -> Self {
        let mut world = Self {
            objects: Vec::new(),
            environment: Environment::default(),
        };
        world.add(
            Kind::DeviceClass,
            json!({ "metadata": { "name": "gpu" }, "spec": { "extendedResourceName": "x.io/gpu" } }),
        );
        for node in ["node-1", "node-2"] {
            world.add(
                Kind::Node,
                json!({ "metadata": { "name": node, "labels": { "name": node } },
                    "status": { "allocatable": { "cpu": "4", "pods": "10" } } }),
            );
            world.add(
                Kind::ResourceSlice,
                json!({ "metadata": { "name": format!("{node}-gpus") }, "spec": {
                    "driver": "d", "nodeName": node, "devices": [{ "name": "gpu-0" }],
                    "pool": { "name": node, "generation": 1, "resourceSliceCount": 1 } } }),
            );
        }
        world
    }

    fn add(&mut self, kind: Kind, object: Value) -> &mut Self {
        self.objects.push((kind, object));
        self
    }

    fn gate(&mut self, gate: Gate) -> &mut Self {
        let state = GateState {
            enabled: true,
            evidence: Evidence::Flag,
        };
        self.environment.gates.push((Component::Scheduler, gate, state));
        self
    }

    /// A claim for one GPU, with `status` and whatever else is put over it.
    fn claim(&mut self, name: &str, metadata: &Value, status: &Value) -> &mut Self {
        let mut claim = json!({ "metadata": { "namespace": "n", "name": name },
            "spec": { "devices": { "requests": [{ "name": "r", "exactly": { "deviceClassName": "gpu", "count": 1 } }] } },
            "status": status });
        for (key, value) in metadata.as_object().unwrap() {
            claim["metadata"][key] = value.clone();
        }
        self.add(Kind::ResourceClaim, claim)
    }

    fn cluster(&self) -> Cluster {
        let mut builder = ClusterBuilder::default();
        for (kind, object) in &self.objects {
            builder.add(Object::from_json(*kind, object.to_string().as_bytes()).unwrap());
        }
        builder.build(self.environment.clone()).0
    }

    /// Returns where the pod with that spec fits, or what the scheduler says.
    fn said(&self, spec: Value) -> String {
        let pod = json!({ "metadata": { "namespace": "n", "name": "p", "uid": "pod-uid" }, "spec": spec,
            "status": { "resourceClaimStatuses": [{ "name": "made", "resourceClaimName": "p-made-x" }, { "name": "unneeded" }] } });
        let pod = serde_json::from_value(pod).unwrap();
        let cluster = self.cluster();
        let scheduler = Scheduler::new(&cluster, "2026-11-21T12:00:00Z".parse::<Time>().unwrap());
        match scheduler.pod(&pod) {
            Start::Unknown(gaps) => format!("unknown without {:?}", gaps[0].kind),
            Start::Obstacle(obstacle) => {
                let message = message_of_obstacle(&cluster, Some(&pod), &obstacle);
                match message.text() {
                    None => format!("waits: {}", obstacle.text()),
                    Some(text) => text.to_owned(),
                }
            }
            Start::Cycle(cycle) => {
                let verdicts: Vec<_> = cluster
                    .nodes()
                    .map(|node| (node, cycle.judge(node, Limits::default(), &()).verdict))
                    .collect();
                match message(&cycle, &verdicts) {
                    Some(message) => message.text().unwrap().to_owned(),
                    None => {
                        let fits = verdicts.iter().filter(|(_, verdict)| verdict.fits());
                        let names: Vec<&str> = fits.map(|(node, _)| node.metadata.name.as_str()).collect();
                        format!("fits {}", names.join(","))
                    }
                }
            }
        }
    }
}

fn named(claim: &str) -> Value {
    json!({ "resourceClaims": [{ "name": "gpu", "resourceClaimName": claim }] })
}

fn made() -> Value {
    json!({ "resourceClaims": [{ "name": "made", "resourceClaimTemplateName": "t" }] })
}

/// The status of a claim that has the GPU of a node.
fn allocated(node: &str) -> Value {
    json!({ "allocation": {
        "devices": { "results": [{ "request": "r", "driver": "d", "pool": node, "device": "gpu-0" }] },
        "nodeSelector": { "nodeSelectorTerms": [{ "matchFields": [{ "key": "metadata.name", "operator": "In", "values": [node] }] }] } } })
}

const UNHELPFUL: &str = "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.";

#[test]
fn claims_that_are_not_there_keep_a_pod_out_of_the_queue() {
    let mut world = World::new();
    world
        .claim("good", &json!({}), &json!({}))
        .claim("going", &json!({ "deletionTimestamp": "2026-11-21T10:00:00Z" }), &json!({}))
        .claim("p-made-x", &json!({ "ownerReferences": [{ "kind": "Pod", "name": "p", "uid": "other", "controller": true }] }), &json!({}));
    for (spec, expected) in [
        (named("good"), "fits node-1,node-2"),
        (json!({}), "fits node-1,node-2"),
        (
            named("missing"),
            "waits: could not find ResourceClaim \"n/missing\"",
        ),
        (named("going"), "waits: resourceclaim \"going\" is being deleted"),
        (
            made(),
            "waits: ResourceClaim n/p-made-x was not created for Pod n/p (Pod is not owner)",
        ),
        (
            json!({ "resourceClaims": [{ "name": "new", "resourceClaimTemplateName": "t" }] }),
            "waits: pod \"n/p\": ResourceClaim not created yet",
        ),
        (
            json!({ "resourceClaims": [{ "name": "unneeded", "resourceClaimTemplateName": "t" }] }),
            "fits node-1,node-2",
        ),
        (
            json!({ "schedulingGates": [{ "name": "a" }, { "name": "b" }] }),
            "waits: waiting for scheduling gates: [a b]",
        ),
    ] {
        assert_eq!(world.said(spec.clone()), expected, "{spec}");
    }
}

#[test]
fn requests_that_no_node_can_serve_reject_all_nodes_together() {
    let mut world = World::new();
    let claim = |name: &str, request: Value| json!({ "metadata": { "namespace": "n", "name": name }, "spec": { "devices": { "requests": [request] } } });
    world
        .add(Kind::ResourceClaim, claim("tpu", json!({ "name": "r", "exactly": { "deviceClassName": "tpu", "count": 1 } })))
        .add(
            Kind::ResourceClaim,
            claim("list", json!({ "name": "r", "firstAvailable": [{ "name": "s", "deviceClassName": "tpu", "count": 1 }] })),
        )
        .add(Kind::ResourceClaim, claim("odd", json!({ "name": "r" })))
        .add(Kind::ResourceClaim, claim("classless", json!({ "name": "r", "exactly": {} })));
    let all = |why: &str| format!("0/2 nodes are available: {why}. {UNHELPFUL}");
    assert_eq!(
        world.said(named("tpu")),
        all("request r: device class tpu does not exist")
    );
    assert_eq!(
        world.said(named("list")),
        all("request r/s: device class tpu does not exist")
    );
    assert_eq!(
        world.said(named("odd")),
        all("resource claim n/odd, request r: unknown request type")
    );
    assert_eq!(
        world.said(named("classless")),
        "running PreFilter plugin \"DynamicResources\": request r: unsupported request type"
    );
    let term = |names: [&str; 1]| json!({ "matchFields": names.map(|name| json!({ "key": "metadata.name", "operator": "In", "values": [name] })) });
    let conflict = json!({ "matchFields": [term(["a"])["matchFields"][0], term(["b"])["matchFields"][0]] });
    let affinity = |terms: Value| json!({ "affinity": { "nodeAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": { "nodeSelectorTerms": terms } } } });
    assert_eq!(
        world.said(affinity(json!([conflict]))),
        all("pod affinity terms conflict")
    );
    assert_eq!(world.said(affinity(json!([term(["node-2"])]))), "fits node-2");
    assert_eq!(
        world.said(affinity(json!([term(["node-3"])]))),
        all("2 node(s) didn't satisfy plugin(s) [NodeAffinity]")
    );
}

#[test]
fn an_allocated_claim_decides_the_node_and_is_given_up_when_idle() {
    let on_node_1 = json!({ "nodeSelector": { "name": "node-1" } });
    let mut pinned = named("idle");
    pinned["nodeSelector"] = on_node_1["nodeSelector"].clone();
    let refused = "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, \
        1 resourceclaim not available on the node.";
    for (reserved, expected) in [
        (
            json!([]),
            format!("{refused} deallocation of ResourceClaim completed, {UNHELPFUL}"),
        ),
        (
            json!([{ "resource": "pods", "name": "p", "uid": "pod-uid" }]),
            format!("{refused} deallocation of ResourceClaim completed, {UNHELPFUL}"),
        ),
        (
            json!([{ "resource": "pods", "name": "q", "uid": "q-uid" }]),
            format!("{refused} {UNHELPFUL}"),
        ),
    ] {
        let mut world = World::new();
        let mut status = allocated("node-2");
        status["reservedFor"] = reserved.clone();
        world.claim("idle", &json!({}), &status);
        assert_eq!(world.said(named("idle")), "fits node-2");
        assert_eq!(world.said(pinned.clone()), expected, "{reserved}");
    }
}

#[test]
fn devices_that_failed_to_get_ready_are_given_up() {
    let status = |at: &str, conditions: Value| {
        let mut status = allocated("node-1");
        status["allocation"]["allocationTimestamp"] = json!(at);
        status["allocation"]["devices"]["results"][0]["bindingConditions"] = json!(["ready"]);
        status["allocation"]["devices"]["results"][0]["bindingFailureConditions"] = json!(["broken"]);
        status["devices"] =
            json!([{ "driver": "d", "pool": "node-1", "device": "gpu-0", "conditions": conditions }]);
        status
    };
    let given_up = format!(
        "0/2 nodes are available: 2 resourceclaim not available on the node. deallocation of ResourceClaim completed, {UNHELPFUL}"
    );
    for (status, expected) in [
        (status("2026-11-21T11:55:00Z", json!([])), "fits node-1"),
        (status("2026-11-21T11:45:00Z", json!([])), &*given_up),
        (
            status(
                "2026-11-21T11:45:00Z",
                json!([{ "type": "ready", "status": "True" }]),
            ),
            "fits node-1",
        ),
        (
            status(
                "2026-11-21T11:55:00Z",
                json!([{ "type": "broken", "status": "True" }]),
            ),
            &given_up,
        ),
    ] {
        let mut world = World::new();
        world.claim("c", &json!({}), &status);
        assert_eq!(world.said(named("c")), expected, "{status}");
    }
}

#[test]
fn extended_resources_come_from_the_node_or_from_a_class() {
    let wants = |name: &str, count: &str| json!({ "containers": [{ "name": "c", "resources": { "requests": { name: count } } }] });
    let mut world = World::new();
    world.add(
        Kind::Node,
        json!({ "metadata": { "name": "node-3" }, "status": { "allocatable": { "pods": "10", "x.io/gpu": "2" } } }),
    );
    assert_eq!(world.said(wants("x.io/gpu", "1")), "fits node-1,node-2,node-3");
    assert_eq!(world.said(wants("x.io/gpu", "2")), "fits node-3");
    assert_eq!(
        world.said(wants("deviceclass.resource.kubernetes.io/gpu", "1")),
        "fits node-1,node-2"
    );
    let preemption = "preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.";
    assert_eq!(
        world.said(wants("x.io/gpu", "3")),
        format!(
            "0/3 nodes are available: 1 Insufficient x.io/gpu, 2 cannot allocate all claims. {preemption}"
        )
    );
    let left = json!({ "ownerReferences": [{ "kind": "Pod", "name": "p", "uid": "pod-uid", "controller": true }],
        "annotations": { "resource.kubernetes.io/extended-resource-claim": "true" } });
    world.claim("p-extended-resources-x", &left, &json!({}));
    assert_eq!(
        world.said(wants("x.io/gpu", "1")),
        format!(
            "0/3 nodes are available: 3 cannot schedule extended resource claim. deletion of ResourceClaim completed, {preemption}"
        )
    );
}

#[test]
fn preemption_is_tried_where_pods_take_what_is_missing() {
    let mut world = World::new();
    world.claim("c", &json!({}), &json!({}));
    let mut wants = named("c");
    let cpu = |amount: &str| json!([{ "name": "c", "resources": { "requests": { "cpu": amount } } }]);
    wants["containers"] = cpu("3");
    world.add(
        Kind::Pod,
        json!({ "metadata": { "namespace": "n", "name": "other" }, "spec": { "nodeName": "node-1", "containers": cpu("2") } }),
    );
    assert_eq!(world.said(wants.clone()), "fits node-2");
    world.claim("holder", &json!({}), &allocated("node-2"));
    assert_eq!(
        world.said(wants.clone()),
        "0/2 nodes are available: 1 Insufficient cpu, 1 cannot allocate all claims. preemption: 0/2 nodes are available: \
         1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling."
    );
    wants["preemptionPolicy"] = json!("Never");
    assert_eq!(
        world.said(wants.clone()),
        "0/2 nodes are available: 1 Insufficient cpu, 1 cannot allocate all claims. \
         preemption: not eligible due to preemptionPolicy=Never."
    );
    wants["priority"] = json!(7);
    // Whether evicting the other pod helps is not simulated, so nothing is said of it.
    assert_eq!(
        world.said(wants.clone()),
        "0/2 nodes are available: 1 Insufficient cpu, 1 cannot allocate all claims."
    );
}

#[test]
fn members_of_a_group_wait_for_it_and_for_each_other() {
    let mut world = World::new();
    let mut member = named("c");
    member["schedulingGroup"] = json!({ "podGroupName": "g" });
    world.claim("c", &json!({}), &json!({}));
    assert_eq!(world.said(member.clone()), "fits node-1,node-2");
    world.gate(Gate::GenericWorkload);
    assert_eq!(
        world.said(member.clone()),
        "waits: waiting for pods's pod group \"g\" to appear in scheduling queue"
    );
    world.add(
        Kind::PodGroup,
        json!({ "metadata": { "namespace": "n", "name": "g" }, "spec": { "schedulingPolicy": { "gang": { "minCount": 2 } } } }),
    );
    assert_eq!(
        world.said(member.clone()),
        "waits: waiting for minCount pods from a gang to appear in scheduling queue"
    );
    for name in ["p", "q"] {
        let mut spec = member.clone();
        spec["nodeSelector"] = json!({});
        world.add(
            Kind::Pod,
            json!({ "metadata": { "namespace": "n", "name": name }, "spec": spec }),
        );
    }
    assert_eq!(world.said(member.clone()), "fits node-1,node-2");
    member["nodeSelector"] = json!({ "name": "node-3" });
    // What happens after failed filters is the group's business.
    assert_eq!(
        world.said(member),
        "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector."
    );
}

#[test]
fn what_could_not_be_read_makes_the_answer_unknown() {
    for (kind, namespace, expected) in [
        (Kind::ResourceSlice, "", "unknown without ResourceSlice"),
        (Kind::DeviceClass, "", "unknown without DeviceClass"),
        (Kind::Node, "", "unknown without Node"),
        (Kind::ResourceClaim, "other", "unknown without ResourceClaim"),
        (Kind::DeviceTaintRule, "", "unknown without DeviceTaintRule"),
        (Kind::Pod, "other", "unknown without Pod"),
        (Kind::Event, "", "fits node-1,node-2"),
    ] {
        let mut world = World::new();
        world.claim("c", &json!({}), &json!({}));
        world.environment.gaps.push(Gap {
            kind,
            namespace: namespace.into(),
            except: "".into(),
            is_forbidden: false,
            reason: "forbidden".to_owned(),
        });
        assert_eq!(world.said(named("c")), expected);
        // What shows in the pod's namespace does so all the same.
        let missing = "waits: could not find ResourceClaim \"n/missing\"";
        assert_eq!(world.said(named("missing")), missing, "{kind:?}");
    }
}

#[test]
fn a_device_s_error_ends_the_attempt_on_all_nodes() {
    let mut world = World::new();
    let request = json!({ "name": "r", "exactly": { "deviceClassName": "gpu", "count": 1,
        "selectors": [{ "cel": { "expression": "device.attributes['d'].missing == 1" } }] } });
    world.add(
        Kind::ResourceClaim,
        json!({ "metadata": { "namespace": "n", "name": "c" }, "spec": { "devices": { "requests": [request] } } }),
    );
    let said = world.said(named("c"));
    let expected = "running \"DynamicResources\" filter plugin: claim n/c: selector #0 on device d/node-1/gpu-0: CEL runtime error: ";
    assert!(said.starts_with(expected), "{said}");
}
