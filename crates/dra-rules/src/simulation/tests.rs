//! Scenarios on the virtual clock, each told as its timeline.

mod rehearsal;
mod replacements;

use serde_json::{Value, json};

use super::{EventType, World};
use dra_model::{
    Change, Cluster, ClusterBuilder, Component, Environment, Evidence, Gap, Gate, GateState, Kind, Object,
    Str, Time, Version,
};

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

/// Returns what happens, as `SECONDS TYPE NAME DETAIL`.
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
                EventType::from(&happening.what),
                happening.key.name
            )
            .trim_end()
            .to_owned()
        })
        .collect()
}

/// Returns what happens in `cluster` after `changes` at the start.
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
    let claim = world.cluster().claim(&dra_model::Key::new("n", "one")).unwrap();
    assert!(claim.status.allocation.is_none() && claim.status.reserved_for.is_empty());
    assert!(claim.metadata.finalizers.is_empty());
}

#[test]
fn a_rule_reports_its_progress() {
    let cluster = Scene::new()
        .claim("one", "a", &json!([]), &["x"])
        .claim("two", "b", &tolerates(15), &["y"])
        .claim("three", "c", &tolerates(3600), &["w"])
        .pod("x", &["one"], &Value::Null)
        .pod("y", &["two"], &Value::Null)
        .pod("w", &["three"], &Value::Null)
        .build();
    // The texts and distances of a real control plane: immediately, and 10 s after an eviction.
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
    let key = |name: &str| dra_model::Key::new("", name);
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
    // The reservation is deleted. The claim controller sees a scheduled pod without one, and recreates it.
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
fn finished_members_of_a_group_are_deleted_immediately() {
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
fn a_running_controller_continues_where_it_is() {
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
fn overflowing_tolerations_evict_immediately() {
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

/// A node with this `Ready` condition and these taints.
fn node(ready: &str, taints: &Value) -> Value {
    json!({"metadata": {"name": "node"}, "spec": {"taints": taints},
        "status": {"conditions": [{"type": "Ready", "status": ready}]}})
}

#[test]
fn a_pod_stays_where_no_kubelet_confirms_its_end() {
    let scene = |ready: &str, taints: &Value| {
        Scene::new()
            .with(Kind::Node, &node(ready, taints))
            .claim("c", "a", &json!([]), &["x"])
            .pod("x", &["c"], &json!({}))
            .build()
    };
    let tainted = [(Kind::ResourceSlice, slice(1, &[("a", Some("k"))]))];
    let whole = ["0 PodDeleted x", "30 PodGone x", "30 ClaimReleased c"];
    assert_eq!(play(&scene("True", &json!([])), &tainted), whole);
    // Its kubelet says so itself, so it is there.
    assert_eq!(play(&scene("False", &json!([])), &tainted), whole);
    let silent = scene("Unknown", &json!([]));
    assert_eq!(play(&silent, &tainted), ["0 PodDeleted x"]);
    let given_up = json!([{"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"}]);
    assert_eq!(play(&scene("Unknown", &given_up), &tainted), whole);

    let mut world = World::new(silent, now(), None);
    for (kind, json) in &tainted {
        world.apply(Change::Put(object(*kind, json)));
    }
    let report = super::report(&mut world, false);
    assert_eq!(
        report.warnings,
        [
            "node/node is not responding: 1 deleted pod stays there, with claims, until it responds or is marked out of service"
        ]
    );
    assert_eq!(report.pods[0].gone_at, None);
}

#[test]
fn what_was_being_deleted_on_a_silent_node_stays_too() {
    let leaving = json!({"metadata": {"deletionTimestamp": "2026-11-21T10:00:10Z"}});
    let play_on = |ready: &str| {
        let cluster = Scene::new()
            .with(Kind::Node, &node(ready, &json!([])))
            .claim("c", "a", &json!([]), &["x"])
            .pod("x", &["c"], &leaving)
            .build();
        play(&cluster, &[])
    };
    assert_eq!(play_on("True"), ["10 PodGone x", "10 ClaimReleased c"]);
    assert!(play_on("Unknown").is_empty());
}

/// A client touches a claim whose consumer cannot be read: the claim controller asks for it, and fails.
fn with_an_unreadable_consumer(at: Time) -> World<'static> {
    let mut scene = Scene::new().claim("c", "a", &json!([]), &["hidden"]);
    scene.environment.gaps.push(Gap {
        kind: Kind::Pod,
        namespace: Str::default(),
        except: Str::default(),
        is_forbidden: false,
        reason: "forbidden".to_owned(),
    });
    let mut world = World::new(scene.build(), at, None);
    let touched = object(Kind::ResourceClaim, &claim("c", "a", &json!([]), &["hidden"]));
    world.apply(Change::Put(touched));
    world
}

#[test]
fn what_cannot_be_read_is_not_asked_for_without_end() {
    for at in [now(), Time::from_unix_seconds(i64::MAX)] {
        let mut world = with_an_unreadable_consumer(at);
        world.run();
        // An hour is over long before the retries of a controller, which come less and less often, would be.
        assert!(world.now.since(at) < std::time::Duration::from_secs(3_600));
    }
}

#[test]
fn a_simulation_that_goes_in_circles_gives_up_and_says_so() {
    let cluster = Scene::new()
        .claim("c", "a", &json!([]), &["p"])
        .pod("p", &["c"], &json!({}))
        .build();
    let mut world = World::new(cluster, now(), None);
    world.tasks = 2;
    world.apply(Change::Put(object(
        Kind::ResourceSlice,
        &slice(1, &[("a", Some("k"))]),
    )));
    let report = super::report(&mut world, false);
    assert!(report.gave_up);
    assert!(
        report
            .warnings
            .iter()
            .any(|warning| warning.contains("the simulation stopped at"))
    );
}
