//! Scenarios on the virtual clock, each told as its timeline.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Placement, Scheduler, World};
use crate::model::{
    Allocation, Change, Cluster, ClusterBuilder, Component, Environment, Evidence, Gate, GateState, Kind,
    Object, Pod, Time, Version,
};
use crate::reservation::claim_names;

const START: &str = "2026-11-21T10:00:00Z";

fn now() -> Time {
    START.parse().unwrap()
}

fn object(kind: Kind, json: &Value) -> Object {
    Object::from_json(kind, json.to_string().as_bytes()).unwrap()
}

/// A small cluster: driver `d`, pool `p`, devices `a`, `b` and `c`.
struct Scene {
    builder: ClusterBuilder,
    environment: Environment,
}

impl Scene {
    fn new() -> Self {
        Self {
            builder: ClusterBuilder::default(),
            environment: Environment::default(),
        }
        .with(
            Kind::ResourceSlice,
            &slice(1, &[("a", None), ("b", None), ("c", None)]),
        )
    }

    fn with(mut self, kind: Kind, json: &Value) -> Self {
        self.builder.add(object(kind, json));
        self
    }

    fn gate(mut self, gate: Gate) -> Self {
        let state = GateState {
            enabled: true,
            evidence: Evidence::Flag,
        };
        self.environment
            .gates
            .push((Component::ControllerManager, gate, state));
        self
    }

    /// A claim on `device` for these pods, protected by the finalizer.
    fn claim(self, name: &str, device: &str, tolerations: &Value, pods: &[&str]) -> Self {
        self.with(Kind::ResourceClaim, &claim(name, device, tolerations, pods))
    }

    /// A running pod that names these claims.
    fn pod(self, name: &str, claims: &[&str], more: &Value) -> Self {
        self.with(Kind::Pod, &pod(name, claims, more))
    }

    fn build(self) -> Cluster {
        self.builder.build(self.environment).0
    }
}

fn slice(generation: i64, devices: &[(&str, Option<&str>)]) -> Value {
    let devices: Vec<_> = devices
        .iter()
        .map(|(name, taint)| {
            let taints: Vec<_> = taint
                .iter()
                .map(|key| json!({"key": key, "effect": "NoExecute", "timeAdded": START}))
                .collect();
            json!({"name": name, "taints": taints})
        })
        .collect();
    json!({"metadata": {"name": format!("s-{generation}")},
        "spec": {"driver": "d", "pool": {"name": "p", "generation": generation, "resourceSliceCount": 1},
                 "nodeName": "node", "devices": devices}})
}

fn claim(name: &str, device: &str, tolerations: &Value, pods: &[&str]) -> Value {
    let entries: Vec<_> = pods
        .iter()
        .map(|pod| json!({"resource": "pods", "name": pod, "uid": format!("{pod}-uid")}))
        .collect();
    json!({"metadata": {"namespace": "n", "name": name, "uid": format!("{name}-uid"),
                        "finalizers": ["resource.kubernetes.io/delete-protection"]},
        "status": {"reservedFor": entries, "allocation": {"devices": {"results": [
            {"request": "r", "driver": "d", "pool": "p", "device": device, "tolerations": tolerations}]}}}})
}

fn pod(name: &str, claims: &[&str], more: &Value) -> Value {
    let claims: Vec<_> = claims
        .iter()
        .map(|claim| json!({"name": claim, "resourceClaimName": claim}))
        .collect();
    let mut pod = json!({"metadata": {"namespace": "n", "name": name, "uid": format!("{name}-uid")},
        "spec": {"nodeName": "node", "terminationGracePeriodSeconds": 30, "resourceClaims": claims},
        "status": {"phase": "Running"}});
    for part in ["metadata", "spec", "status"] {
        for (key, value) in more[part].as_object().into_iter().flatten() {
            pod[part][key] = value.clone();
        }
    }
    pod
}

fn rule(name: &str, effect: &str, added: &str, generation: i64) -> Value {
    json!({"metadata": {"name": name, "uid": format!("{name}-uid"), "generation": generation},
        "spec": {"deviceSelector": {"driver": "d"}, "taint": {"key": "k", "effect": effect, "timeAdded": added}}})
}

fn tolerates(seconds: i64) -> Value {
    json!([{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds}])
}

/// What happens, as `SECONDS TYPE NAME DETAIL`.
fn timeline(world: &World<'_>) -> Vec<String> {
    world
        .happenings()
        .iter()
        .map(|happening| {
            let seconds = happening.at.since(now()).as_secs();
            let detail = match &happening.what {
                super::What::RuleStatus { condition } => {
                    format!(" {} {} {}", condition.status, condition.reason, condition.message)
                }
                super::What::PodReplaced { original } => format!(" for {}", original.name),
                super::What::PodScheduled { nodes } => format!(" {}", nodes.join(",")),
                super::What::ClaimFailed { message } | super::What::PodUnschedulable { message } => {
                    format!(" {message}")
                }
                _ => String::new(),
            };
            format!(
                "{seconds} {} {}{detail}",
                happening.what.name(),
                happening.key.name
            )
            .trim_end()
            .to_owned()
        })
        .collect()
}

/// What happens in `cluster` after `changes` at the start.
fn play(cluster: &Cluster, changes: &[(Kind, Value)]) -> Vec<String> {
    let mut world = World::new(cluster.clone(), now(), None);
    for (kind, json) in changes {
        world.apply(Change::Put(object(*kind, json)));
    }
    world.run();
    timeline(&world)
}

#[test]
fn a_tainted_device_frees_itself_of_its_pods() {
    let cluster = Scene::new()
        .claim("one", "a", &json!([]), &["x"])
        .claim("two", "b", &tolerates(20), &["y", "z"])
        .claim("three", "c", &json!([]), &["w"])
        .pod("x", &["one"], &Value::Null)
        .pod("y", &["two"], &Value::Null)
        .pod(
            "z",
            &["two"],
            &json!({"spec": {"terminationGracePeriodSeconds": 5}}),
        )
        .pod("w", &["three"], &Value::Null)
        .build();
    assert_eq!(
        play(
            &cluster,
            &[(
                Kind::ResourceSlice,
                slice(1, &[("a", Some("k")), ("b", Some("k")), ("c", None)])
            )]
        ),
        [
            "0 PodDeleted x",
            "20 PodDeleted y",
            "20 PodDeleted z",
            "25 PodGone z",
            "30 PodGone x",
            "30 ClaimReleased one",
            "50 PodGone y",
            "50 ClaimReleased two",
        ]
    );
    let mut world = World::new(cluster, now(), None);
    world.apply(Change::Put(object(
        Kind::ResourceSlice,
        &slice(1, &[("a", Some("k"))]),
    )));
    world.run();
    let claim = world
        .cluster()
        .claim(&crate::model::Key::new("n", "one"))
        .unwrap();
    assert!(claim.status.allocation.is_none() && claim.status.reserved_for.is_empty());
    assert!(claim.metadata.finalizers.is_empty());
}

#[test]
fn a_rule_tells_how_far_it_is() {
    let cluster = Scene::new()
        .claim("one", "a", &json!([]), &["x"])
        .claim("two", "b", &tolerates(15), &["y"])
        .claim("three", "c", &tolerates(3600), &["w"])
        .pod("x", &["one"], &Value::Null)
        .pod("y", &["two"], &Value::Null)
        .pod("w", &["three"], &Value::Null)
        .build();
    // The texts and distances that a real control plane has: at once, and 10 s after an eviction.
    assert_eq!(
        play(
            &cluster,
            &[(Kind::DeviceTaintRule, rule("drain", "NoExecute", START, 1))]
        ),
        [
            "0 RuleStatus drain True PodsPendingEviction 3 pods need to be evicted in 1 namespace.",
            "0 PodDeleted x",
            "10 RuleStatus drain True PodsPendingEviction 2 pods need to be evicted in 1 namespace. 1 pod evicted since starting \
             the controller.",
            "15 PodDeleted y",
            "25 RuleStatus drain True PodsPendingEviction 1 pod needs to be evicted in 1 namespace. 2 pods evicted since starting \
             the controller.",
            "30 PodGone x",
            "30 ClaimReleased one",
            "45 PodGone y",
            "45 ClaimReleased two",
            "3600 PodDeleted w",
            "3610 RuleStatus drain False Completed 3 pods evicted since starting the controller.",
            "3630 PodGone w",
            "3630 ClaimReleased three",
        ]
    );
}

#[test]
fn effect_none_only_counts() {
    let cluster = Scene::new()
        .claim("one", "a", &json!([]), &["x"])
        .pod("x", &["one"], &Value::Null)
        .build();
    assert_eq!(
        play(
            &cluster,
            &[(Kind::DeviceTaintRule, rule("look", "None", START, 1))]
        ),
        [
            "0 RuleStatus look False NoEffect 3 published devices selected. 1 allocated device selected. 1 pod would be evicted in 1 \
             namespace if the effect was NoExecute. This information will not be updated again. Recreate the DeviceTaintRule to \
             trigger an update."
        ]
    );
    assert_eq!(
        play(
            &cluster,
            &[(Kind::DeviceTaintRule, rule("look", "NoSchedule", START, 1))]
        ),
        ["0 RuleStatus look False OtherEffect Eviction only happens for the NoExecute effect."]
    );
}

#[test]
fn what_takes_the_taint_away_calls_the_eviction_off() {
    let cluster = Scene::new()
        .with(Kind::DeviceTaintRule, &rule("drain", "NoExecute", START, 1))
        .claim("one", "a", &tolerates(60), &["x"])
        .pod("x", &["one"], &Value::Null)
        .build();
    let later = START
        .parse::<Time>()
        .unwrap()
        .after(std::time::Duration::from_secs(5));
    let cancelled = |change: Change| {
        let mut world = World::new(cluster.clone(), now(), None);
        world.run_until(later);
        world.apply(change);
        world.run();
        timeline(&world)
            .into_iter()
            .filter(|line| !line.contains("RuleStatus"))
            .collect::<Vec<_>>()
    };
    let called_off = ["5 EvictionCancelled x"];
    let key = |name: &str| crate::model::Key::new("", name);
    // The rule is gone, or no longer NoExecute, or about other devices.
    assert_eq!(
        cancelled(Change::Delete(Kind::DeviceTaintRule, key("drain"))),
        called_off
    );
    let put = |json: &Value| Change::Put(object(Kind::DeviceTaintRule, json));
    assert_eq!(cancelled(put(&rule("drain", "None", START, 2))), called_off);
    let mut elsewhere = rule("drain", "NoExecute", START, 2);
    elsewhere["spec"]["deviceSelector"]["driver"] = json!("e");
    assert_eq!(cancelled(put(&elsewhere)), called_off);
    // The reservation is gone. The claim controller sees a pod on a node without one, and makes it again.
    let unreserved = object(Kind::ResourceClaim, &claim("one", "a", &tolerates(60), &[]));
    assert_eq!(
        cancelled(Change::Put(unreserved)),
        [
            "5 EvictionCancelled x",
            "60 PodDeleted x",
            "90 PodGone x",
            "90 ClaimReleased one"
        ]
    );
    // A slice that no longer has the device changes nothing: the rule is about the name.
    assert_eq!(
        cancelled(Change::Put(object(Kind::ResourceSlice, &slice(2, &[])))),
        ["60 PodDeleted x", "90 PodGone x", "90 ClaimReleased one"]
    );
    // A replaced pod of the same name is none of its business.
    let mut other = pod("x", &["one"], &Value::Null);
    other["metadata"]["uid"] = json!("other");
    assert!(
        !cancelled(Change::Put(object(Kind::Pod, &other)))
            .iter()
            .any(|line| line.contains("PodDeleted"))
    );
}

#[test]
fn slice_taints_count_for_the_newest_generation() {
    let cluster = Scene::new()
        .with(
            Kind::ResourceSlice,
            &slice(2, &[("a", Some("k")), ("b", Some("k"))]),
        )
        .claim("one", "a", &tolerates(60), &["x"])
        .claim("two", "b", &tolerates(60), &["y"])
        .pod("x", &["one"], &Value::Null)
        .pod("y", &["two"], &Value::Null)
        .build();
    // The first slice of the next generation has only one of the devices: the other counts as untainted for now.
    let half = slice(3, &[("b", Some("k"))]);
    assert_eq!(
        play(&cluster, &[(Kind::ResourceSlice, half)]),
        [
            "0 EvictionCancelled x",
            "60 PodDeleted y",
            "90 PodGone y",
            "90 ClaimReleased two"
        ]
    );
}

#[test]
fn a_missing_pod_in_the_list_hides_others_for_a_time_up_to_1_35() {
    let scene = |minor: u32| {
        let mut scene = Scene::new()
            .gate(Gate::DRADeviceTaints)
            .gate(Gate::DRADeviceTaintRules)
            .claim("one", "a", &json!([]), &["x", "gone", "y"])
            .pod("x", &["one"], &Value::Null)
            .pod("y", &["one"], &Value::Null);
        scene.environment.version = Version::minor(minor);
        scene.environment.emulated_minor = minor;
        scene.build()
    };
    let deleted = |minor: u32| {
        let lines = play(
            &scene(minor),
            &[(Kind::DeviceTaintRule, rule("drain", "NoExecute", START, 1))],
        );
        let deleted = lines.iter().filter(|line| line.contains("PodDeleted"));
        deleted.cloned().collect::<Vec<_>>()
    };
    assert_eq!(deleted(36), ["0 PodDeleted x", "0 PodDeleted y"]);
    // With the first pod the claim controller takes out the missing one too, and then the list is looked at again.
    assert_eq!(deleted(35), ["0 PodDeleted x", "30 PodDeleted y"]);
}

#[test]
fn finished_members_of_a_group_go_at_once() {
    let mut shared = claim("shared", "a", &json!([]), &[]);
    shared["status"]["reservedFor"] =
        json!([{"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "g", "uid": "g-uid"}]);
    let member = json!({"spec": {"schedulingGroup": {"podGroupName": "g"}}});
    let mut done = member.clone();
    done["status"] = json!({"phase": "Succeeded"});
    let cluster = Scene::new()
        .gate(Gate::GenericWorkload)
        .gate(Gate::DRAWorkloadResourceClaims)
        .with(Kind::ResourceClaim, &shared)
        .with(
            Kind::PodGroup,
            &json!({"metadata": {"namespace": "n", "name": "g", "uid": "g-uid"},
                "spec": {"resourceClaims": [{"name": "shared", "resourceClaimName": "shared"}]}}),
        )
        .pod("m-0", &["shared"], &member)
        .pod("m-1", &["shared"], &done)
        .build();
    // The group keeps the claim.
    assert_eq!(
        play(&cluster, &[(Kind::ResourceSlice, slice(1, &[("a", Some("k"))]))]),
        [
            "0 PodDeleted m-0",
            "0 PodDeleted m-1",
            "0 PodGone m-1",
            "30 PodGone m-0"
        ]
    );
}

/// Lets every pod go to these nodes, and gives its claims nothing.
struct Anywhere(Vec<&'static str>);

impl Scheduler for Anywhere {
    fn place(&mut self, cluster: &Cluster, pod: &Arc<Pod>, _: Time) -> Placement {
        let claims: Vec<_> = claim_names(pod)
            .filter_map(|name| name.name().cloned())
            .map(|name| crate::model::Key {
                namespace: pod.metadata.namespace.clone(),
                name,
            })
            .collect();
        if claims.len() < pod.spec.resource_claims.len() {
            return Placement::Unknown {
                why: "claims are to come".to_owned(),
            };
        }
        if self.0.is_empty() {
            return Placement::DoesNotFit {
                message: "cannot allocate all claims".to_owned(),
            };
        }
        let allocations = claims
            .into_iter()
            .filter(|key| {
                cluster
                    .claim(key)
                    .is_some_and(|claim| claim.status.allocation.is_none())
            })
            .map(|key| (key, Allocation::default()))
            .collect();
        Placement::Fits {
            nodes: self.0.iter().map(|node| (*node).into()).collect(),
            allocations,
        }
    }
}

fn owned_by(api_version: &str, kind: &str) -> Value {
    json!({"metadata": {"generateName": "web-", "ownerReferences": [
        {"apiVersion": api_version, "kind": kind, "name": "web", "uid": "web-uid", "controller": true}]}})
}

/// A pod of that owner with a claim of its own made from a template.
fn templated(owner: (&str, &str)) -> Cluster {
    let mut made = claim("made", "a", &json!([]), &["x"]);
    made["metadata"]["ownerReferences"] =
        json!([{"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": "x-uid", "controller": true}]);
    made["metadata"]["annotations"] = json!({"resource.kubernetes.io/pod-claim-name": "gpu"});
    let mut more = owned_by(owner.0, owner.1);
    more["spec"] = json!({"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "t"}]});
    more["status"] = json!({"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "made"}]});
    Scene::new()
        .with(Kind::ResourceClaim, &made)
        .with(
            Kind::ResourceClaimTemplate,
            &json!({"metadata": {"namespace": "n", "name": "t"}}),
        )
        .pod("x", &[], &more)
        .build()
}

fn play_with(cluster: Cluster, nodes: &[&'static str]) -> Vec<String> {
    let mut scheduler = Anywhere(nodes.to_vec());
    let mut world = World::new(cluster, now(), Some(&mut scheduler));
    world.apply(Change::Put(object(
        Kind::ResourceSlice,
        &slice(1, &[("a", Some("k"))]),
    )));
    world.run();
    timeline(&world)
}

#[test]
fn owners_replace_pods_with_claims_and_all() {
    assert_eq!(
        play_with(templated(("apps/v1", "ReplicaSet")), &["m", "n"]),
        [
            "0 PodDeleted x",
            "0 PodReplaced web-sim-1 for x",
            "0 ClaimCreated web-sim-1-gpu-sim-2",
            "0 PodScheduled web-sim-1 m,n",
            "30 PodGone x",
            "30 ClaimReleased made",
            "30 ClaimDeleted made",
        ]
    );
    assert_eq!(
        play_with(templated(("apps/v1", "StatefulSet")), &["m"]),
        [
            "0 PodDeleted x",
            "30 PodGone x",
            "30 PodReplaced x for x",
            "30 ClaimReleased made",
            "30 ClaimDeleted made",
            "30 ClaimCreated x-gpu-sim-2",
            "30 PodScheduled x m",
        ]
    );
    assert_eq!(
        play_with(templated(("batch/v1", "Job")), &[]),
        [
            "0 PodDeleted x",
            "0 PodReplaced web-sim-1 for x",
            "0 ClaimCreated web-sim-1-gpu-sim-2",
            "0 PodUnschedulable web-sim-1 cannot allocate all claims",
            "30 PodGone x",
            "30 ClaimReleased made",
            "30 ClaimDeleted made",
        ]
    );
    // Nobody knows what this one does.
    assert_eq!(
        play_with(templated(("example.com/v1", "Trainer")), &["m"]),
        [
            "0 PodDeleted x",
            "30 PodGone x",
            "30 ClaimReleased made",
            "30 ClaimDeleted made"
        ]
    );
}

#[test]
fn a_missing_template_ends_the_simulation_all_the_same() {
    let cluster = {
        let mut cluster = templated(("apps/v1", "ReplicaSet"));
        cluster.apply(Change::Delete(
            Kind::ResourceClaimTemplate,
            crate::model::Key::new("n", "t"),
        ));
        cluster
    };
    let lines = play_with(cluster, &["m"]);
    assert!(
        lines.contains(
            &"0 ClaimFailed web-sim-1 PodResourceClaim gpu: resource claim template \"t\": \
              resourceclaimtemplate.resource.k8s.io \"t\" not found"
                .to_owned()
        ),
        "{lines:#?}"
    );
    assert!(!lines.iter().any(|line| line.contains("PodScheduled")));
}

#[test]
fn an_ended_pod_beside_a_running_one_does_not_keep_the_clock() {
    let cluster = Scene::new()
        .claim("shared", "a", &json!([]), &["done", "x", "y"])
        .claim("own", "b", &json!([]), &["x"])
        .pod("done", &["shared"], &json!({"status": {"phase": "Succeeded"}}))
        .pod("x", &["shared", "own"], &Value::Null)
        .pod("y", &["shared"], &Value::Null)
        .build();
    let mut world = World::new(cluster, now(), None);
    world.apply(Change::Put(object(
        Kind::ResourceSlice,
        &slice(1, &[("a", None), ("b", Some("k"))]),
    )));
    world.run();
    assert_eq!(
        timeline(&world),
        ["0 PodDeleted x", "30 PodGone x", "30 ClaimReleased own"]
    );
    assert_eq!(world.looping().len(), 1);
}

#[test]
fn a_running_controller_goes_on_where_it_is() {
    // Three pods were marked since the condition was written, one tolerates the taint for some time.
    let mut drain = rule("drain", "NoExecute", START, 2);
    drain["status"] = json!({"conditions": [{"type": "EvictionInProgress", "status": "True", "reason": "PodsPendingEviction",
        "message": "4 pods need to be evicted in 1 namespace. 1 pod evicted since starting the controller.",
        "lastTransitionTime": START, "observedGeneration": 2}]});
    let marked = json!({"metadata": {"deletionTimestamp": "2026-11-21T10:00:30Z"}, "status": {"conditions": [
        {"type": "DisruptionTarget", "status": "True", "reason": "DeletionByDeviceTaintManager", "lastTransitionTime": START}]}});
    let cluster = Scene::new()
        .with(Kind::DeviceTaintRule, &drain)
        .claim("one", "a", &json!([]), &["x", "y", "z"])
        .claim("two", "b", &tolerates(3600), &["w"])
        .pod("x", &["one"], &marked)
        .pod("y", &["one"], &marked)
        .pod("z", &["one"], &marked)
        .pod("w", &["two"], &Value::Null)
        .build();
    assert_eq!(
        play(&cluster, &[])[..2],
        [
            "10 RuleStatus drain True PodsPendingEviction 1 pod needs to be evicted in 1 namespace. 4 pods evicted since starting \
             the controller.",
            "30 PodGone x"
        ]
    );
}

#[test]
fn overflowing_tolerations_evict_at_once() {
    let cluster = Scene::new()
        .claim("one", "a", &tolerates(9_300_000_000), &["x"])
        .claim("two", "b", &tolerates(-5), &["y"])
        .pod("x", &["one"], &Value::Null)
        .pod("y", &["two"], &Value::Null)
        .build();
    let lines = play(
        &cluster,
        &[(Kind::DeviceTaintRule, rule("drain", "NoExecute", START, 1))],
    );
    assert!(lines.contains(&"0 PodDeleted x".to_owned()) && lines.contains(&"0 PodDeleted y".to_owned()));
}
