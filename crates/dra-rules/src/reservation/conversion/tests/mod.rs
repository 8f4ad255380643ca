//! Every decision about one claim, on small clusters written as JSON.

mod release;

use serde_json::{Value, json};

use super::*;
use dra_model::{ClusterBuilder, Environment, Evidence, GateState, Object};

/// A claim named `c` in namespace `n` with these entries.
fn claim(entries: &Value) -> Value {
    json!({"metadata": {"namespace": "n", "name": "c", "uid": "uc", "resourceVersion": "7"},
        "status": {"allocation": {}, "reservedFor": entries}})
}

fn group_entry() -> Value {
    json!({"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "g", "uid": "ug"})
}

fn job_entry() -> Value {
    json!({"apiGroup": "batch", "resource": "jobs", "name": "j", "uid": "uj", "since": 3})
}

fn pod_entry(name: &str) -> Value {
    json!({"resource": "pods", "name": name, "uid": format!("u{name}")})
}

/// A pod that names the claim; a member of the group when its name begins with `m`.
fn pod(name: &str, node: &str, phase: &str) -> Object {
    let group = name.starts_with('m').then(|| json!({"podGroupName": "g"}));
    object(
        Kind::Pod,
        &json!({"metadata": {"namespace": "n", "name": name, "uid": format!("u{name}")},
            "spec": {"nodeName": node, "schedulingGroup": group,
                "resourceClaims": [{"name": "c", "resourceClaimName": "c"}]},
            "status": {"phase": phase}}),
    )
}

fn running(name: &str) -> Object {
    pod(name, "a", "Running")
}

fn group() -> Object {
    object(
        Kind::PodGroup,
        &json!({"metadata": {"namespace": "n", "name": "g", "uid": "ug"}}),
    )
}

fn object(kind: Kind, json: &Value) -> Object {
    Object::from_json(kind, json.to_string().as_bytes()).expect("an object")
}

/// The claim gate as given, in a cluster that serves PodGroups.
fn gates(enabled: bool) -> Environment {
    let state = |enabled| GateState {
        enabled,
        evidence: Evidence::Flag,
    };
    let gate = Gate::DRAWorkloadResourceClaims;
    Environment {
        gates: vec![
            (Component::ApiServer, Gate::GenericWorkload, state(true)),
            (Component::Scheduler, gate, state(enabled)),
            (Component::ControllerManager, gate, state(enabled)),
        ],
        ..Environment::default()
    }
}

fn cluster(claim: &Value, others: impl IntoIterator<Item = Object>, environment: Environment) -> Cluster {
    let mut builder = ClusterBuilder::default();
    builder.add(object(Kind::ResourceClaim, claim));
    others.into_iter().for_each(|other| builder.add(other));
    builder.build(environment).0
}

fn planned(cluster: &Cluster, options: &Options) -> Plan {
    plan(cluster, cluster.claims().map(|claim| &**claim), options)
}

/// The only claim's plan in short: `Convert [entries]`, `Refuse Code`, `Keep`, `Release`, `nothing`.
fn short(claim: &Value, others: Vec<Object>, environment: Environment, options: &Options) -> String {
    let plan = planned(&cluster(claim, others, environment), options);
    assert_eq!(plan.unknown, []);
    let Some(planned) = plan.claims.first() else {
        return "nothing".to_owned();
    };
    match &planned.action {
        Action::Convert(patch) => {
            let patch = patch.to_json();
            let names: Vec<_> = patch[1]["value"]
                .as_array()
                .expect("a list")
                .iter()
                .map(|entry| entry["name"].as_str().expect("a name"))
                .collect();
            format!("Convert {}", names.join(","))
        }
        Action::Release(_) => "Release".to_owned(),
        Action::Keep => "Keep".to_owned(),
        Action::Refuse(refusal) => format!("Refuse {}", refusal.code()),
    }
}

#[test]
fn members_take_the_groups_place() {
    let on = || gates(true);
    let default = Options::default();
    let deleting = object(
        Kind::Pod,
        &json!({"metadata": {"namespace": "n", "name": "md", "uid": "umd", "deletionTimestamp": "2026-11-21T10:00:00Z"},
            "spec": {"nodeName": "a", "schedulingGroup": {"podGroupName": "g"},
                "resourceClaims": [{"name": "c", "resourceClaimName": "c"}]}}),
    );
    let group_first = claim(&json!([group_entry(), pod_entry("x"), job_entry()]));
    for (what, entries, others, expected) in [
        (
            "members by name",
            json!([group_entry()]),
            vec![running("m2"), running("m1")],
            "Convert m1,m2",
        ),
        (
            "a deleting member counts",
            json!([group_entry()]),
            vec![deleting],
            "Convert md",
        ),
        (
            "an ended one does not",
            json!([group_entry()]),
            vec![running("m1"), pod("m2", "a", "Succeeded")],
            "Convert m1",
        ),
        (
            "who has an entry gets no other",
            json!([pod_entry("m1"), group_entry()]),
            vec![running("m1"), running("m2")],
            "Convert m1,m2",
        ),
        (
            "a pod without an entry is not left out",
            json!([group_entry()]),
            vec![running("m1"), running("x")],
            "Convert m1,x",
        ),
        (
            "only pods",
            json!([pod_entry("x")]),
            vec![running("x")],
            "nothing",
        ),
        (
            "another kind only",
            json!([job_entry()]),
            vec![running("x")],
            "Keep",
        ),
    ] {
        let others = others.into_iter().chain([group()]).collect();
        assert_eq!(
            short(&claim(&entries), others, on(), &default),
            expected,
            "{what}"
        );
    }
    assert_eq!(
        short(
            &group_first,
            vec![group(), running("m1"), running("x")],
            on(),
            &default
        ),
        "Convert x,j,m1",
        "other entries keep their order"
    );
}

#[test]
fn the_patch_is_locked_and_keeps_unknown_fields() {
    let claim = claim(&json!([group_entry(), job_entry()]));
    let plan = planned(
        &cluster(&claim, [group(), running("m1")], gates(true)),
        &Options::default(),
    );
    let Action::Convert(patch) = &plan.claims[0].action else {
        panic!("{plan:?}");
    };
    assert_eq!(
        patch.to_json(),
        json!([
            {"op": "replace", "path": "/metadata/resourceVersion", "value": "7"},
            {"op": "replace", "path": "/status/reservedFor", "value": [job_entry(), pod_entry("m1")]},
        ])
    );
    assert_eq!(plan.claims[0].unreserved, [] as [Str; 0]);
    assert_eq!(plan.claims[0].kept.len(), 1);
}

#[test]
fn what_cannot_be_converted_is_refused() {
    let entries = json!([group_entry()]);
    let on = || gates(true);
    let other_group = || {
        object(
            Kind::PodGroup,
            &json!({"metadata": {"namespace": "n", "name": "g", "uid": "newer"}}),
        )
    };
    let many: Vec<_> = (0..257)
        .map(|number| running(&format!("m{number}")))
        .chain([group()])
        .collect();
    let just: Vec<_> = (0..256)
        .map(|number| running(&format!("m{number:03}")))
        .chain([group()])
        .collect();
    for (what, others, expected) in [
        ("no member", vec![group()], "Refuse NoLiveConsumer"),
        (
            "all ended",
            vec![group(), pod("m1", "a", "Failed")],
            "Refuse NoLiveConsumer",
        ),
        ("gone", vec![running("m1")], "Refuse PodGroupGone"),
        (
            "replaced",
            vec![other_group(), running("m1")],
            "Refuse PodGroupUIDMismatch",
        ),
        (
            "a member without a node",
            vec![group(), running("m1"), pod("m2", "", "Pending")],
            "Refuse UnscheduledMembers",
        ),
        ("too many", many, "Refuse TooManyConsumers"),
    ] {
        assert_eq!(
            short(&claim(&entries), others, on(), &Options::default()),
            expected,
            "{what}"
        );
    }
    assert!(short(&claim(&entries), just, on(), &Options::default()).starts_with("Convert m000,"));

    let mut deleting = claim(&entries);
    deleting["metadata"]["deletionTimestamp"] = json!("2026-11-21T10:00:00Z");
    let members = || vec![group(), running("m1")];
    assert_eq!(
        short(&deleting, members(), on(), &Options::default()),
        "Refuse ClaimDeleting"
    );
    deleting["status"]["reservedFor"] = json!([group_entry(), pod_entry("m1")]);
    assert_eq!(
        short(&deleting, members(), on(), &Options::default()),
        "Convert m1",
        "only additions are forbidden"
    );
}

#[test]
fn with_the_gate_off_late_members_do_not_matter() {
    let entries = json!([group_entry()]);
    let others = || vec![group(), running("m1"), pod("m2", "", "Pending")];
    let options = Options::default();
    assert_eq!(
        short(&claim(&entries), others(), gates(false), &options),
        "Convert m1"
    );
    assert_eq!(
        short(&claim(&entries), others(), Environment::default(), &options),
        "Refuse UnscheduledMembers",
        "a gate that is merely assumed counts as on"
    );
    let plan = planned(&cluster(&claim(&entries), others(), gates(false)), &options);
    assert_eq!(plan.claims[0].unbound, ["m2"]);
    assert_eq!(plan.gate, ClaimGate::Off);
}

#[test]
fn groups_that_are_not_served_are_taken_at_the_pods_word() {
    let environment = Environment {
        not_served: vec![Kind::PodGroup],
        ..Environment::default()
    };
    let plan = planned(
        &cluster(&claim(&json!([group_entry()])), [running("x")], environment),
        &Options::default(),
    );
    assert!(plan.claims[0].unverified);
    assert_eq!(plan.claims[0].add().len(), 1);
}

#[test]
fn claims_made_for_a_group_need_the_operators_word_and_a_target_that_leaves_them_alone() {
    let mut generated = claim(&json!([group_entry()]));
    generated["metadata"]["ownerReferences"] = json!([{"apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup", "name": "g", "uid": "ug", "controller": true}]);
    let member = || {
        object(
            Kind::Pod,
            &json!({"metadata": {"namespace": "n", "name": "m1", "uid": "um1"},
                "spec": {"nodeName": "a", "schedulingGroup": {"podGroupName": "g"},
                    "resourceClaims": [{"name": "c", "resourceClaimTemplateName": "t"}]},
                "status": {"phase": "Running", "resourceClaimStatuses": [{"name": "c", "resourceClaimName": "c"}]}}),
        )
    };
    let gate_off = Target::GateOff(Gate::DRAWorkloadResourceClaims);
    for (target, include_generated, expected) in [
        (None, false, "Refuse GeneratedForPodGroup"),
        (None, true, "Convert m1"),
        (Some(gate_off), true, "Convert m1"),
        (Some(Target::Minor(36)), true, "Refuse GeneratedForPodGroup"),
        (Some(Target::Minor(34)), false, "Refuse GeneratedForPodGroup"),
    ] {
        let options = Options {
            target,
            include_generated,
            ..Options::default()
        };
        let others = vec![group(), member()];
        assert_eq!(
            short(&generated, others, gates(true), &options),
            expected,
            "{target:?} {include_generated}"
        );
    }
    // With such a target it is listed even when only pods are in the list.
    generated["status"]["reservedFor"] = json!([pod_entry("m1")]);
    let options = Options {
        target: Some(Target::Minor(36)),
        ..Options::default()
    };
    assert_eq!(
        short(&generated, vec![group(), member()], gates(true), &options),
        "Refuse GeneratedForPodGroup"
    );
    assert_eq!(
        short(
            &generated,
            vec![group(), member()],
            gates(true),
            &Options::default()
        ),
        "nothing"
    );
}

#[test]
fn other_kinds_are_converted_when_selected() {
    let jobs = Options {
        kinds: Kinds::Named(["jobs.batch".to_owned()].into()),
        ..Options::default()
    };
    let all = Options {
        kinds: Kinds::All,
        ..Options::default()
    };
    let both = json!([group_entry(), job_entry()]);
    let others = || vec![group(), running("m1"), running("x")];
    for (options, entries, expected) in [
        (&jobs, json!([job_entry()]), "Convert m1,x"),
        (&jobs, both.clone(), "Convert g,m1,x"),
        (&all, both, "Convert m1,x"),
    ] {
        assert_eq!(short(&claim(&entries), others(), gates(true), options), expected);
    }
    assert_eq!(
        short(&claim(&json!([job_entry()])), vec![], gates(true), &jobs),
        "Refuse UnknownKindUnused"
    );
    assert_eq!(
        short(
            &claim(&json!([job_entry()])),
            vec![pod("x", "", "Pending")],
            gates(true),
            &jobs
        ),
        "Refuse NoLiveConsumer",
        "somebody could begin to use it"
    );
}

#[test]
fn what_a_proposal_puts_elsewhere_is_converted_too() {
    let mut claim = claim(&json!(null));
    claim["spec"] = json!({"reservedFor": job_entry()});
    claim["status"]["allocation"] = json!({"reservedForAnyPod": true});
    let all = Options {
        kinds: Kinds::All,
        ..Options::default()
    };
    let plan = planned(&cluster(&claim, [running("x")], gates(true)), &all);
    let Action::Convert(patch) = &plan.claims[0].action else {
        panic!("{plan:?}");
    };
    assert_eq!(
        patch.to_json(),
        json!([
            {"op": "replace", "path": "/metadata/resourceVersion", "value": "7"},
            {"op": "add", "path": "/status/reservedFor", "value": [pod_entry("x")]},
            {"op": "remove", "path": "/status/allocation/reservedForAnyPod"},
        ])
    );
    assert_eq!(
        short(&claim, vec![running("x")], gates(true), &Options::default()),
        "Keep"
    );
}

#[test]
fn what_was_not_selected_stays_beside_what_was() {
    let mut claim = claim(&json!([group_entry()]));
    claim["status"]["allocation"] = json!({"reservedForAnyPod": true});
    for (kinds, stays, operations) in [(Kinds::PodGroups, true, 2), (Kinds::All, false, 3)] {
        let options = Options {
            kinds,
            ..Options::default()
        };
        let others = [group(), running("m1")];
        let plan = planned(&cluster(&claim, others, gates(true)), &options);
        let Action::Convert(patch) = &plan.claims[0].action else {
            panic!("{plan:?}");
        };
        let patch = patch.to_json();
        assert_eq!(patch.as_array().map(Vec::len), Some(operations), "{patch}");
        assert_eq!(plan.claims[0].any_pod_stays, stays);
        assert_eq!(plan.claims[0].reason().is_some(), stays);
    }
}

#[test]
fn pods_that_could_not_be_read_make_the_plan_unknown() {
    let gap = Gap {
        kind: Kind::Pod,
        namespace: "n".into(),
        except: "".into(),
        is_forbidden: false,
        reason: "forbidden".to_owned(),
    };
    let environment = Environment {
        gaps: vec![gap.clone()],
        ..gates(true)
    };
    let cluster = cluster(&claim(&json!([group_entry()])), [group()], environment);
    let plan = planned(&cluster, &Options::default());
    assert_eq!(plan.unknown, std::slice::from_ref(&gap));
    assert!(plan.claims.is_empty());
    let claim = cluster.claims().next().expect("the claim");
    assert_eq!(verify(&cluster, claim), Err(&gap));
}

#[test]
fn verification_names_each_defect() {
    let entries = json!([group_entry(), pod_entry("m1"), pod_entry("gone")]);
    let cluster = cluster(
        &claim(&entries),
        [group(), running("m1"), running("m2")],
        gates(true),
    );
    let claim = cluster.claims().next().expect("the claim");
    let defects = verify(&cluster, claim).expect("everything is known");
    let texts: Vec<_> = defects
        .iter()
        .map(|defect| format!("{}: {defect}", DefectCode::from(defect)))
        .collect();
    assert_eq!(
        texts,
        [
            "NonPodEntry: still reserved for podgroups.scheduling.k8s.io/g",
            "ConsumerNotListed: pod m2 uses it without an entry",
            "EntryWithoutConsumer: reserved for pod gone, which does not exist",
        ]
    );
}

#[test]
fn the_old_list_comes_back_only_into_the_old_world() {
    let references =
        |entries: Value| -> Vec<ConsumerReference> { serde_json::from_value(entries).expect("entries") };
    let saved = Saved {
        key: Key {
            namespace: "n".into(),
            name: "c".into(),
        },
        uid: "uc".into(),
        before: references(json!([group_entry()])),
        after: references(json!([pod_entry("m1")])),
    };
    let restored = |entries: Value, others: Vec<Object>, exists: bool| {
        let cluster = cluster(&claim(&entries), others, gates(true));
        match restore(&cluster, &saved, &|_| exists).expect("everything is known") {
            Restoration::Write(patch) => patch.to_json()[1]["value"].to_string(),
            Restoration::Nothing => "nothing".to_owned(),
            Restoration::Refuse(difference) => difference.to_string(),
        }
    };
    let after = || json!([pod_entry("m1")]);
    let members = || vec![group(), running("m1")];
    assert_eq!(
        restored(after(), members(), true),
        json!([group_entry()]).to_string()
    );
    assert_eq!(restored(json!([group_entry()]), members(), true), "nothing");
    assert_eq!(
        restored(after(), members(), false),
        "podgroups.scheduling.k8s.io g with UID ug no longer exists"
    );
    assert_eq!(
        restored(json!([pod_entry("m1"), pod_entry("x")]), members(), true),
        "the list has changed since: +pods/x"
    );
    assert_eq!(
        restored(after(), vec![group(), running("m1"), running("x")], true),
        "the old list does not include pods that use the claim: x"
    );
    // It was reserved between two conversions, and is bound next.
    let later = Saved {
        after: references(json!([pod_entry("m1"), pod_entry("x")])),
        ..saved.clone()
    };
    let entries = json!([pod_entry("m1"), pod_entry("x")]);
    for (phase, covered) in [("Pending", false), ("Failed", true)] {
        let others = vec![group(), running("m1"), pod("x", "", phase)];
        let cluster = cluster(&claim(&entries), others, gates(true));
        let restoration = restore(&cluster, &later, &|_| true).expect("everything is known");
        assert_eq!(matches!(restoration, Restoration::Write(_)), covered, "{phase}");
    }
}

#[test]
fn a_consumer_that_came_in_late_is_listed() {
    let entries = json!([pod_entry("m1")]);
    let late = || {
        vec![
            running("m1"),
            running("m2"),
            pod("m3", "", "Pending"),
            pod("m4", "a", "Failed"),
        ]
    };
    let completed = |claim: &Value, others: Vec<Object>| {
        let cluster = cluster(claim, others, gates(false));
        let claim = cluster.claims().next().expect("the claim").clone();
        complete(&cluster, &claim).expect("no gap")
    };
    let planned = completed(&claim(&entries), late()).expect("a plan");
    let Action::Convert(patch) = &planned.action else {
        panic!("{:?}", planned.action);
    };
    let patch = patch.to_json();
    assert_eq!(
        patch[0],
        json!({"op": "replace", "path": "/metadata/resourceVersion", "value": "7"})
    );
    assert_eq!(patch[1]["value"], json!([pod_entry("m1"), pod_entry("m2")]));
    assert_eq!(planned.unreserved, ["m2"]);

    assert!(completed(&claim(&entries), vec![running("m1")]).is_none());
    // Claims with other entries are for the plan.
    assert!(completed(&claim(&json!([group_entry()])), late()).is_none());
    let mut deleting = claim(&entries);
    deleting["metadata"]["deletionTimestamp"] = json!("2026-11-21T10:00:00Z");
    let refused = completed(&deleting, late()).expect("a plan");
    assert!(matches!(
        refused.action,
        Action::Refuse(Refusal::ClaimDeleting { .. })
    ));
}
