//! Controllers that start over a cluster, told by their record.

use serde_json::{Value, json};

use super::{START, Scene, World, claim, now, object, pod, rule, slice, tolerates};
use dra_model::{Change, Cluster, Gate, Kind};

/// Returns what is done in `seconds`, as `SECOND ACTOR ACTION OBJECT (DETAIL) xCOUNT`.
fn rehearse(cluster: &Cluster, seconds: u64) -> (Vec<String>, World<'static>) {
    let mut world = World::restarted(cluster.clone(), now());
    world.run_until(now().after(std::time::Duration::from_secs(seconds)));
    let told = world.traced().iter().map(|traced| {
        let at = traced.at.since(now()).as_secs();
        let actor = <&str>::from(traced.actor).split('-').next().unwrap_or_default();
        let detail = match traced.detail.as_str() {
            "" => String::new(),
            detail => format!(" ({detail})"),
        };
        let count = if traced.count > 1 {
            format!(" x{}", traced.count)
        } else {
            String::new()
        };
        format!(
            "{at} {actor} {} {}{detail}{count}",
            <&str>::from(traced.action),
            traced.object.1.name
        )
    });
    (told.collect(), world)
}

fn template() -> Value {
    json!({"metadata": {"namespace": "n", "name": "t"}, "spec": {"spec": {"devices": {"requests": [
        {"name": "r", "exactly": {"deviceClassName": "c"}}]}}}})
}

fn of_template(name: &str, more: &Value) -> Value {
    let mut pod = pod(name, &[], more);
    pod["spec"]["resourceClaims"] = json!([{"name": "gpu", "resourceClaimTemplateName": "t"}]);
    pod
}

/// A claim that was made for the pod.
fn made_for(name: &str, owner: &str, consumers: &[&str]) -> Value {
    let mut claim = claim(name, "a", &json!([]), consumers);
    claim["metadata"]["annotations"] = json!({"resource.kubernetes.io/pod-claim-name": "gpu"});
    claim["metadata"]["ownerReferences"] = json!([{"apiVersion": "v1", "kind": "Pod", "name": owner, "uid": format!("{owner}-uid"), "controller": true}]);
    claim
}

#[test]
fn what_is_undone_at_the_start_is_done() {
    let cluster = Scene::new()
        .with(Kind::ResourceClaimTemplate, &template())
        .with(
            Kind::Pod,
            &of_template("fresh", &json!({"spec": {"nodeName": null}})),
        )
        .claim("stale", "a", &json!([]), &["gone"])
        .claim("missing", "b", &json!([]), &[])
        .pod("preset", &["missing"], &Value::Null)
        .build();
    let (told, world) = rehearse(&cluster, 60);
    assert_eq!(
        told,
        [
            "0 resourceclaim create claim fresh (claim fresh-gpu-NAME from template t)",
            "0 resourceclaim update status fresh (gpu is fresh-gpu-NAME)",
            "0 resourceclaim add reservation missing (pods preset)",
            "0 resourceclaim remove reservation stale (pods gone)",
            "0 resourceclaim deallocate stale (d/p/a)",
            "0 resourceclaim remove finalizer stale",
        ]
        .map(|line| line.replace("NAME", "jwbgt"))
    );
    // A restart finds no work.
    let again = rehearse(world.cluster(), 60).0;
    assert_eq!(again, [""; 0]);
}

#[test]
fn kubelets_end_pods_and_their_claims_follow() {
    let leaving = json!({"metadata": {"deletionTimestamp": "2026-11-21T10:00:20Z"}});
    let cluster = Scene::new()
        .with(Kind::ResourceClaimTemplate, &template())
        .with(Kind::Pod, &{
            let mut pod = of_template("x", &leaving);
            pod["status"]["resourceClaimStatuses"] = json!([{"name": "gpu", "resourceClaimName": "made"}]);
            pod
        })
        .with(Kind::ResourceClaim, &made_for("made", "x", &["x"]))
        .with(Kind::ResourceClaim, &made_for("orphan", "long-gone", &[]))
        .build();
    assert_eq!(
        rehearse(&cluster, 60).0,
        [
            "0 garbage delete claim orphan (its pod no longer exists)",
            "0 resourceclaim deallocate orphan (d/p/a)",
            "0 resourceclaim remove finalizer orphan",
            "20 kubelet remove pod x",
            "20 resourceclaim remove reservation made (pods x)",
            "20 resourceclaim deallocate made (d/p/a)",
            "20 resourceclaim remove finalizer made",
            "20 garbage delete claim made (its pod no longer exists)",
        ]
    );
}

#[test]
fn evictions_come_when_they_are_due_and_the_pods_are_not_recreated() {
    let owned = json!({"metadata": {"ownerReferences": [
        {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "web", "controller": true}]}});
    let cluster = Scene::new()
        .gate(Gate::DRADeviceTaints)
        .gate(Gate::DRADeviceTaintRules)
        .with(Kind::DeviceTaintRule, &rule("drain", "NoExecute", START, 1))
        .claim("one", "a", &tolerates(5), &["x"])
        .pod("x", &["one"], &owned)
        .build();
    assert_eq!(
        rehearse(&cluster, 10).0,
        [
            "0 device update condition drain (PodsPendingEviction: 1 pod needs to be evicted in 1 namespace.)",
            "5 device evict pod x (rule/drain)",
        ]
    );
    let (told, _) = rehearse(&cluster, 3600);
    assert!(told.contains(&"35 kubelet remove pod x".to_owned()), "{told:?}");
    assert!(!told.iter().any(|line| line.contains("web-")), "{told:?}");
}

#[test]
fn writes_that_go_in_circles_end() {
    let cluster = Scene::new()
        .claim("shared", "a", &json!([]), &["done", "x"])
        .pod("done", &["shared"], &json!({"status": {"phase": "Succeeded"}}))
        .pod("x", &["shared"], &Value::Null)
        .build();
    let (told, world) = rehearse(&cluster, 1800);
    assert_eq!(
        told,
        [
            "0 resourceclaim remove reservation shared (pods done) x10",
            "0 resourceclaim add reservation shared (pods done) x10",
        ]
    );
    assert_eq!(world.troubles().len(), 1);
    assert!(!world.gave_up());
}

#[test]
fn the_deleted_claim_of_a_finished_pod_is_recreated_once() {
    let ended = json!({"status": {"phase": "Succeeded",
        "resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "deleted-long-ago"}]}});
    let cluster = Scene::new()
        .with(Kind::ResourceClaimTemplate, &template())
        .with(Kind::Pod, &of_template("done", &ended))
        .build();
    let (told, world) = rehearse(&cluster, 1800);
    let actions: Vec<&str> = told
        .iter()
        .filter_map(|line| line.split(" done").next())
        .collect();
    assert_eq!(
        actions[..2],
        ["0 resourceclaim create claim", "0 resourceclaim update status"]
    );
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(
        told[2].starts_with("0 resourceclaim delete claim done-gpu-"),
        "{told:?}"
    );
    assert_eq!(world.troubles(), [""; 0]);
}

#[test]
fn statuses_of_groups_that_go_in_circles_end() {
    let entries = json!([{"name": "a", "resourceClaimTemplateName": "t"}, {"name": "b", "resourceClaimTemplateName": "t"}]);
    let mut group = json!({"metadata": {"namespace": "n", "name": "g", "uid": "g-uid"},
        "spec": {"resourceClaims": entries}, "status": {"resourceClaimStatuses": [{"name": "a", "resourceClaimName": "g-a"}]}});
    let claim = |entry: &str| {
        json!({"metadata": {"namespace": "n", "name": format!("g-{entry}"), "uid": format!("g-{entry}-uid"),
            "annotations": {"resource.kubernetes.io/pod-claim-name": entry},
            "ownerReferences": [{"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "name": "g", "uid": "g-uid",
                "controller": true}]}})
    };
    let scene = || {
        Scene::new()
            .gate(Gate::GenericWorkload)
            .gate(Gate::DRAWorkloadResourceClaims)
            .with(Kind::ResourceClaimTemplate, &template())
            .with(Kind::ResourceClaim, &claim("a"))
            .with(Kind::ResourceClaim, &claim("b"))
    };
    let (told, world) = rehearse(&scene().with(Kind::PodGroup, &group).build(), 1800);
    assert_eq!(
        told,
        [
            "0 resourceclaim update status g (b is g-b) x10",
            "0 resourceclaim update status g (a is g-a) x10",
        ]
    );
    assert!(!world.gave_up());
    let loops: Vec<_> = world.looping().iter().map(|(kind, _)| *kind).collect();
    assert_eq!(loops, [Kind::PodGroup]);
    group["status"] = Value::Null;
    let (told, _) = rehearse(&scene().with(Kind::PodGroup, &group).build(), 1800);
    assert_eq!(told, ["0 resourceclaim update status g (a is g-a, b is g-b)"]);
}

#[test]
fn a_planned_eviction_that_is_called_off_is_an_event() {
    let cluster = Scene::new()
        .with(Kind::ResourceSlice, &slice(1, &[("a", Some("k"))]))
        .claim("one", "a", &tolerates(60), &["x"])
        .pod("x", &["one"], &Value::Null)
        .build();
    let mut world = World::restarted(cluster, now());
    world.run_until(now());
    world.apply(Change::Put(object(
        Kind::ResourceSlice,
        &slice(1, &[("a", None)]),
    )));
    world.run();
    let [event] = world.traced() else {
        panic!("{:?}", world.traced());
    };
    assert_eq!(event.detail, "DeviceTaintManagerEviction: Cancelling deletion");
}
