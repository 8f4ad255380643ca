//! Wanted state of the controller, as lines of text.

use serde_json::{Value, json};

use super::{
    Answer, ClaimName, ClaimWrite, Deviations, Ending, Features, Outcome, Plan, ResourceClaims, Subject, Work,
};
use crate::controllers::{ControllerName, Engine, Origin, QueueEvent};
use crate::reservation::PodGroups;
use dra_model::{Change, Cluster, ClusterBuilder, Environment, Key, Kind, Object, Time};

pub(super) const ALL: Features = Features {
    admin_access: true,
    prioritized_list: true,
    workloads: true,
    groups: PodGroups::Accepted,
    needs_groups: true,
    keeps_statuses: true,
    deviations: Deviations {
        terminal_reservations: false,
        members_of_groups: false,
        final_errors: false,
        group_statuses: false,
        oldest_claim: false,
        deleted_claims: false,
        extended_resource_eviction: false,
    },
};

/// As the program does it itself.
pub(super) const BETTER: Features = Features {
    deviations: Deviations::ON,
    ..ALL
};

pub(super) fn now() -> Time {
    Time::from_unix_seconds(0)
}

pub(super) fn object(kind: Kind, json: &Value) -> Object {
    Object::from_json(kind, json.to_string().as_bytes()).unwrap()
}

pub(super) fn cluster(objects: &[(Kind, Value)]) -> Cluster {
    let mut builder = ClusterBuilder::default();
    for (kind, json) in objects {
        builder.add(object(*kind, json));
    }
    builder.build(Environment::default()).0
}

fn pod(name: &str, more: &Value, entries: &Value) -> (Kind, Value) {
    let mut pod = json!({"metadata": {"namespace": "n", "name": name, "uid": format!("{name}-uid")},
        "spec": {"resourceClaims": entries}, "status": {"phase": "Running"}});
    for part in ["metadata", "spec", "status"] {
        for (key, value) in more[part].as_object().into_iter().flatten() {
            pod[part][key] = value.clone();
        }
    }
    (Kind::Pod, pod)
}

fn from_template(names: &[&str]) -> Value {
    names
        .iter()
        .map(|name| json!({"name": name, "resourceClaimTemplateName": "t"}))
        .collect()
}

fn named(claim: &str) -> Value {
    json!([{"name": "gpu", "resourceClaimName": claim}])
}

fn template() -> (Kind, Value) {
    let spec = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"devices": {"requests": [{"name": "r",
        "exactly": {"deviceClassName": "c", "adminAccess": true}}]}}});
    (
        Kind::ResourceClaimTemplate,
        json!({"metadata": {"namespace": "n", "name": "t"}, "spec": spec}),
    )
}

fn claim(name: &str, more: &Value, entries: &Value) -> (Kind, Value) {
    let mut claim = json!({"metadata": {"namespace": "n", "name": name, "uid": format!("{name}-uid"),
                                        "finalizers": ["resource.kubernetes.io/delete-protection"]},
        "status": {"allocation": {}, "reservedFor": entries}});
    for part in ["metadata", "status"] {
        for (key, value) in more[part].as_object().into_iter().flatten() {
            claim[part][key] = value.clone();
        }
    }
    (Kind::ResourceClaim, claim)
}

fn entry(name: &str, uid: &str) -> Value {
    json!({"resource": "pods", "name": name, "uid": uid})
}

fn group_entry(name: &str, uid: &str) -> Value {
    json!({"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": name, "uid": uid})
}

fn group(entries: &Value) -> (Kind, Value) {
    (
        Kind::PodGroup,
        json!({"metadata": {"namespace": "n", "name": "g", "uid": "g-uid"}, "spec": {"resourceClaims": entries}}),
    )
}

fn told(plan: &Plan) -> Vec<String> {
    let mut lines: Vec<String> = plan
        .writes
        .iter()
        .map(|write| match write {
            ClaimWrite::Create { claim, .. } => format!(
                "create {}… for {}",
                claim.metadata.generate_name, claim.metadata.owner_references[0].name
            ),
            ClaimWrite::SetStatuses { of, statuses } => {
                let statuses: Vec<String> = statuses
                    .iter()
                    .map(|(entry, claim)| match claim {
                        ClaimName::Known(name) => format!("{entry}={name}"),
                        ClaimName::Created(index) => format!("{entry}=#{index}"),
                    })
                    .collect();
                format!("status of {} {}", of.key.name, statuses.join(" "))
            }
            ClaimWrite::Reserve { claim, consumer } => {
                format!(
                    "reserve {} for {}/{}",
                    claim.metadata.name, consumer.resource, consumer.name
                )
            }
            ClaimWrite::Release {
                claim,
                remaining,
                deallocate,
            } => {
                let names: Vec<&str> = remaining.iter().map(|entry| entry.name.as_str()).collect();
                let free = if *deallocate { " and free it" } else { "" };
                format!("keep [{}] of {}{free}", names.join(" "), claim.metadata.name)
            }
            ClaimWrite::RemoveFinalizer(claim) => format!("unprotect {}", claim.metadata.name),
            ClaimWrite::Delete(claim) => format!("delete {}", claim.metadata.name),
        })
        .collect();
    lines.extend(
        plan.warning
            .iter()
            .map(|warning| format!("event {}", warning.message)),
    );
    match &plan.ending {
        Ending::Done => {}
        Ending::Retry(why) => lines.push(format!("retry: {why}")),
        Ending::Drop(why) => lines.push(format!("drop: {why}")),
    }
    lines
}

/// Everything that is wanted initially for the state that the controller starts with. Objects that it requests do not
/// exist.
fn wanted(features: Features, objects: &[(Kind, Value)]) -> Vec<String> {
    all(&mut engine(features, objects))
}

fn engine(features: Features, objects: &[(Kind, Value)]) -> Engine {
    let cluster = cluster(objects);
    let controller = ResourceClaims::start(&cluster, features);
    Engine::new(cluster, Some(controller), None)
}

fn all(engine: &mut Engine) -> Vec<String> {
    let mut lines = Vec::new();
    while let Some(job) = engine.next(now()) {
        let outcome = match job.work {
            Work::Look(lookups) => {
                let names = lookups
                    .iter()
                    .map(|lookup| format!(" {} {}", lookup.kind, lookup.key.name));
                lines.push(format!("look for{}", names.collect::<String>()));
                Outcome::Answers(
                    lookups
                        .into_iter()
                        .map(|lookup| (lookup, Answer::Absent))
                        .collect(),
                )
            }
            Work::Carry(plan) => {
                lines.extend(told(&plan));
                Outcome::Done
            }
            other => panic!("{other:?}"),
        };
        engine.done(job.id, outcome, now());
    }
    lines
}

fn put(engine: &mut Engine, (kind, json): (Kind, Value)) {
    engine.see(Change::Put(object(kind, &json)), Origin::Watch, now());
}

#[test]
fn of_the_claims_that_are_there_only_those_that_need_something_enter_the_queue() {
    let none = json!([]);
    let objects = [
        pod("p", &json!({}), &none),
        pod("q", &json!({}), &none),
        claim("kept", &json!({}), &json!([entry("p", "p-uid")])),
        claim("left", &json!({}), &json!([entry("q", "q-uid")])),
    ];
    let mut engine = engine(BETTER, &objects);
    engine.queue(ControllerName::ResourceClaim).unwrap().begin_log();
    assert_eq!(engine.next_due(now()), Some(now()));
    // A pod that does not say that it has the claim goes before anybody looks, as while a replica waits for its lease.
    engine.see(
        Change::Delete(Kind::Pod, Key::new("n", "q")),
        Origin::Watch,
        now(),
    );
    assert_eq!(
        all(&mut engine),
        ["look for Pod q", "keep [] of left and free it", "unprotect left"]
    );
    assert_eq!(engine.next_due(now()), None);
    let queue = engine.queue(ControllerName::ResourceClaim).unwrap();
    let left = Subject::Claim(Key::new("n", "left"));
    assert_eq!(
        queue.take_log(),
        [
            QueueEvent::Added(left.clone()),
            QueueEvent::Begun(left.clone()),
            QueueEvent::Ended(left)
        ]
    );
}

#[test]
fn claims_are_made_once_for_each_entry() {
    let twice = pod("p", &json!({}), &from_template(&["gpu", "nic"]));
    assert_eq!(
        wanted(ALL, &[template(), twice.clone()]),
        [
            "create p-gpu-… for p",
            "create p-nic-… for p",
            "status of p gpu=#0 nic=#1"
        ]
    );
    // One is there already, under a name that the status does not tell.
    let made = claim(
        "made",
        &json!({"metadata": {"annotations": {"resource.kubernetes.io/pod-claim-name": "gpu"},
            "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "p-uid", "controller": true}]}}),
        &json!([]),
    );
    assert_eq!(
        wanted(ALL, &[template(), twice, made.clone()]),
        ["create p-nic-… for p", "status of p gpu=made nic=#0"]
    );
    // What the status tells stays in it, from 1.37 on.
    let told = json!({"status": {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "made"}]}});
    let half = pod("p", &told, &from_template(&["gpu", "nic"]));
    assert_eq!(
        wanted(ALL, &[template(), half.clone(), made.clone()]),
        ["create p-nic-… for p", "status of p gpu=made nic=#0"]
    );
    let older = Features {
        keeps_statuses: false,
        ..ALL
    };
    assert_eq!(
        wanted(older, &[template(), half.clone(), made]),
        ["create p-nic-… for p", "status of p nic=#0"]
    );
    // A claim in the status that no list has shown may just be late.
    assert_eq!(
        wanted(ALL, &[template(), half]),
        [
            "look for ResourceClaim made",
            "create p-gpu-… for p",
            "create p-nic-… for p",
            "status of p gpu=#0 nic=#1"
        ]
    );
}

#[test]
fn claims_that_cannot_be_created_are_reported_and_retried() {
    let waiting = pod("p", &json!({}), &from_template(&["gpu"]));
    let missing = "PodResourceClaim gpu: resource claim template \"t\": resourceclaimtemplate.resource.k8s.io \"t\" not found";
    assert_eq!(
        wanted(ALL, std::slice::from_ref(&waiting)),
        [format!("event {missing}"), format!("retry: pod n/p, {missing}")]
    );
    let off = Features {
        admin_access: false,
        ..ALL
    };
    assert_eq!(
        wanted(off, &[template(), waiting])[0],
        "event PodResourceClaim gpu: admin access is requested, but the feature is disabled"
    );
    // The retry comes after some time, and a new template brings it forward.
    let mut engine = engine(ALL, &[pod("p", &json!({}), &from_template(&["gpu"]))]);
    all(&mut engine);
    assert!(engine.next_due_of(ControllerName::ResourceClaim, now()).unwrap() > now());
    put(&mut engine, template());
    assert_eq!(all(&mut engine)[0], "create p-gpu-… for p");
}

#[test]
fn groups_have_claims_of_their_own() {
    let member = json!({"spec": {"schedulingGroup": {"podGroupName": "g"}}});
    let objects = [
        template(),
        group(&from_template(&["gpu"])),
        pod("p", &member, &from_template(&["gpu", "own"])),
    ];
    assert_eq!(
        wanted(ALL, &objects),
        [
            "create p-own-… for p",
            "status of p own=#0",
            "create g-gpu-… for g",
            "status of g gpu=#0"
        ]
    );
    let claims_off = Features {
        groups: PodGroups::Ignored,
        ..ALL
    };
    let off = "PodResourceClaim gpu: claim gpu is a PodGroup claim but the DRAWorkloadResourceClaims feature is disabled";
    assert_eq!(
        wanted(claims_off, &objects),
        [format!("event {off}"), format!("retry: pod n/p, {off}")]
    );
    // Without the group's API nothing is done for a member, and no event reports it.
    let all_off = Features {
        workloads: false,
        ..claims_off
    };
    assert!(wanted(all_off, &objects).is_empty());
}

#[test]
fn a_pod_that_has_a_node_gets_its_reservation() {
    let bound = json!({"spec": {"nodeName": "node"}});
    let reserved = |features, more: &Value, objects: &[(Kind, Value)]| {
        let mut all = vec![claim("c", &json!({}), &json!([])), pod("p", more, &named("c"))];
        all.extend(objects.iter().cloned());
        wanted(features, &all)
    };
    assert_eq!(reserved(ALL, &bound, &[]), ["reserve c for pods/p"]);
    assert!(reserved(ALL, &json!({}), &[]).is_empty());
    let deleting =
        json!({"metadata": {"deletionTimestamp": "2026-11-21T10:00:00Z"}, "spec": {"nodeName": "node"}});
    assert!(reserved(ALL, &deleting, &[]).is_empty());
    // The phase is not asked: this is how an ended pod gets its entry back.
    let ended = json!({"spec": {"nodeName": "node"}, "status": {"phase": "Failed"}});
    assert_eq!(reserved(ALL, &ended, &[]), ["reserve c for pods/p"]);
    let member = json!({"spec": {"nodeName": "node", "schedulingGroup": {"podGroupName": "g"}}});
    let of_group = [group(&named("c"))];
    assert_eq!(reserved(ALL, &member, &of_group), ["reserve c for podgroups/g"]);
    let off = Features {
        groups: PodGroups::Ignored,
        ..ALL
    };
    assert!(reserved(off, &member, &of_group).is_empty());
}

#[test]
fn entries_go_with_their_consumers() {
    let ended = json!({"spec": {"nodeName": "node"}, "status": {"phase": "Succeeded"}});
    let leaving =
        json!({"metadata": {"deletionTimestamp": "2026-11-21T10:00:00Z"}, "spec": {"nodeName": "node"}});
    let never = json!({"metadata": {"deletionTimestamp": "2026-11-21T10:00:00Z"}});
    for (entries, objects, expected) in [
        // The pod runs, leaves, has ended, was never bound, was replaced, is gone.
        (
            json!([entry("p", "p-uid")]),
            vec![pod("p", &json!({"spec": {"nodeName": "node"}}), &named("c"))],
            vec![],
        ),
        (
            json!([entry("p", "p-uid")]),
            vec![pod("p", &leaving, &named("c"))],
            vec![],
        ),
        (
            json!([entry("p", "p-uid")]),
            vec![pod("p", &never, &named("c"))],
            vec!["keep [] of c and free it", "unprotect c"],
        ),
        (
            json!([entry("p", "older")]),
            vec![pod("p", &json!({}), &named("c"))],
            vec!["keep [] of c and free it", "unprotect c"],
        ),
        (
            json!([entry("gone", "gone-uid")]),
            vec![],
            vec!["look for Pod gone", "keep [] of c and free it", "unprotect c"],
        ),
        // With another consumer the claim stays allocated; unknown kinds stay.
        (
            json!([entry("gone", "gone-uid"), {"apiGroup": "batch", "resource": "jobs", "name": "j", "uid": "j"}]),
            vec![],
            vec!["look for Pod gone", "keep [j] of c"],
        ),
        (
            json!([group_entry("g", "g-uid")]),
            vec![group(&named("c"))],
            vec![],
        ),
        (
            json!([group_entry("g", "older")]),
            vec![group(&named("c"))],
            vec!["keep [] of c and free it", "unprotect c"],
        ),
        // An allocated claim that is reserved for no consumer is left alone.
        (json!([]), vec![], vec![]),
    ] {
        let mut all = vec![claim("c", &json!({}), &entries)];
        all.extend(objects);
        assert_eq!(wanted(ALL, &all), expected, "{entries}");
    }
    // A pod that ended is taken out, though its object would have it put in again.
    let objects = [
        claim("c", &json!({}), &json!([entry("p", "p-uid")])),
        pod("p", &ended, &named("c")),
    ];
    assert_eq!(wanted(ALL, &objects), ["keep [] of c and free it", "unprotect c"]);
    // Groups are not judged with the gate off.
    let off = Features {
        groups: PodGroups::Ignored,
        ..ALL
    };
    let objects = [claim("c", &json!({}), &json!([group_entry("g", "gone")]))];
    assert!(wanted(off, &objects).is_empty());
}

#[test]
fn claims_that_are_deleted_are_freed_and_those_of_ended_pods_deleted() {
    let deleting = json!({"metadata": {"deletionTimestamp": "2026-11-21T10:00:00Z"}});
    assert_eq!(
        wanted(ALL, &[claim("c", &deleting, &json!([]))]),
        ["keep [] of c and free it", "unprotect c"]
    );
    let unallocated =
        json!({"metadata": {"deletionTimestamp": "2026-11-21T10:00:00Z"}, "status": {"allocation": null}});
    assert_eq!(
        wanted(ALL, &[claim("c", &unallocated, &json!([]))]),
        ["unprotect c"]
    );
    let owned = json!({"metadata": {"ownerReferences": [
        {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "p-uid", "controller": true}]}});
    let ended = json!({"spec": {"nodeName": "node"}, "status": {"phase": "Failed"}});
    assert_eq!(
        wanted(
            ALL,
            &[
                claim("c", &owned, &json!([entry("p", "p-uid")])),
                pod("p", &ended, &named("other"))
            ]
        ),
        ["keep [] of c and free it", "unprotect c", "delete c"]
    );
    // Of a pod that is gone the garbage collector takes care.
    assert_eq!(
        wanted(ALL, &[claim("c", &owned, &json!([entry("p", "p-uid")]))]),
        ["look for Pod p", "keep [] of c and free it", "unprotect c"]
    );
}

#[test]
fn what_upstream_does_wrong_is_done_better_where_it_is_wanted() {
    // An ended pod is not reserved for again.
    let ended = json!({"spec": {"nodeName": "node"}, "status": {"phase": "Failed"}});
    let objects = [claim("c", &json!({}), &json!([])), pod("p", &ended, &named("c"))];
    assert_eq!(wanted(ALL, &objects), ["reserve c for pods/p"]);
    assert!(wanted(BETTER, &objects).is_empty());

    // What the gates forbid is final.
    let member = json!({"spec": {"schedulingGroup": {"podGroupName": "g"}}});
    let objects = [
        group(&from_template(&["gpu"])),
        template(),
        pod("p", &member, &from_template(&["gpu"])),
    ];
    let off = |features| Features {
        groups: PodGroups::Ignored,
        ..features
    };
    assert!(wanted(off(ALL), &objects)[1].starts_with("retry: "));
    assert!(wanted(off(BETTER), &objects)[1].starts_with("drop: "));

    // A member waits for its group, not for its back-off.
    for (features, expected) in [(ALL, false), (BETTER, true)] {
        let mut engine = engine(
            features,
            &[template(), pod("p", &member, &from_template(&["gpu"]))],
        );
        assert!(all(&mut engine).is_empty());
        put(&mut engine, group(&json!([])));
        assert_eq!(!all(&mut engine).is_empty(), expected);
    }

    // The status of a group keeps what it tells.
    let made = |name: &str, entry: &str, created: &str| {
        claim(
            name,
            &json!({"metadata": {"creationTimestamp": created,
                "annotations": {"resource.kubernetes.io/pod-claim-name": entry},
                "ownerReferences": [{"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "name": "g", "uid": "g-uid",
                                     "controller": true}]}}),
            &json!([]),
        )
    };
    let (kind, mut half) = group(&from_template(&["gpu", "nic"]));
    half["status"] = json!({"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "made"}]});
    let at = "2026-11-21T10:00:00Z";
    let objects = [template(), (kind, half), made("made", "gpu", at)];
    let last = |features| wanted(features, &objects).pop().unwrap();
    assert_eq!(last(ALL), "status of g nic=#0");
    assert_eq!(last(BETTER), "status of g gpu=made nic=#0");

    // Of two claims for one entry the older one counts.
    let twice = [
        group(&from_template(&["gpu"])),
        template(),
        made("a", "gpu", "2026-11-21T10:00:01Z"),
        made("b", "gpu", at),
    ];
    assert_eq!(wanted(ALL, &twice), ["status of g gpu=a"]);
    assert_eq!(wanted(BETTER, &twice), ["status of g gpu=b"]);
}

#[test]
fn all_lookups_of_an_item_are_requested_together() {
    let entries = json!([entry("a", "a"), entry("b", "b"), group_entry("g", "g")]);
    let objects = [claim("c", &json!({}), &entries)];
    assert_eq!(
        wanted(ALL, &objects),
        [
            "look for Pod a Pod b PodGroup g",
            "keep [] of c and free it",
            "unprotect c"
        ]
    );
}

#[test]
fn a_member_of_a_group_was_any_pod_to_older_controllers_without_groups() {
    let member = json!({"spec": {"schedulingGroup": {"podGroupName": "g"}}});
    let waiting = [template(), pod("p", &member, &from_template(&["gpu"]))];
    let off = Features {
        workloads: false,
        groups: PodGroups::Ignored,
        ..ALL
    };
    let disabled = "Pod is a member of PodGroup g but GenericWorkload feature is disabled";
    let mut controller = ResourceClaims::idle(off);
    let cluster = cluster(&waiting);
    let key = dra_model::Key::new("n", "p");
    let plan = controller.plan(&super::Subject::Pod(key), &super::Answers::new(), &cluster);
    let Ok(Plan {
        ending: Ending::Drop(why),
        ..
    }) = plan
    else {
        panic!("it is final");
    };
    assert_eq!(why, format!("get PodGroup for Pod n/p: {disabled}"));
    let older = Features {
        needs_groups: false,
        ..off
    };
    assert_eq!(
        wanted(older, &waiting),
        ["create p-gpu-… for p", "status of p gpu=#0"]
    );
}
