//! Deallocation of claims that no pod uses.

use super::*;
use dra_model::FINALIZER;

#[test]
fn devices_are_taken_back_only_where_no_pod_could_use_them() {
    let entries = json!([group_entry()]);
    let unused = Options {
        release: Release::Unused {
            entries: BTreeSet::new(),
        },
        ..Options::default()
    };
    let by_name = Options {
        release: Release::Unused {
            entries: ["podgroups.scheduling.k8s.io/g".to_owned()].into(),
        },
        ..Options::default()
    };
    let keeps = json!([group_entry(), job_entry()]);
    for (what, entries, others, options, expected) in [
        ("gone", &entries, vec![], &unused, "Release"),
        (
            "its pod has ended",
            &entries,
            vec![pod("m1", "a", "Succeeded")],
            &unused,
            "Release",
        ),
        (
            "it exists",
            &entries,
            vec![group()],
            &unused,
            "Refuse NoLiveConsumer",
        ),
        (
            "it exists and is named",
            &entries,
            vec![group()],
            &by_name,
            "Release",
        ),
        (
            "a pod waits",
            &entries,
            vec![pod("m1", "", "Pending")],
            &unused,
            "Refuse PodGroupGone",
        ),
        (
            "something else holds it",
            &keeps,
            vec![],
            &unused,
            "Refuse PodGroupGone",
        ),
    ] {
        assert_eq!(
            short(&claim(entries), others, gates(true), options),
            expected,
            "{what}"
        );
    }
    let claim = object(
        Kind::ResourceClaim,
        &json!({"metadata": {"resourceVersion": "8", "finalizers": ["a.io/x", FINALIZER]}}),
    );
    let Object::ResourceClaim(claim) = claim else {
        unreachable!()
    };
    assert_eq!(
        ClaimPatch::without_finalizer(&claim).map(|patch| patch.to_json()),
        Some(json!([
            {"op": "replace", "path": "/metadata/resourceVersion", "value": "8"},
            {"op": "replace", "path": "/metadata/finalizers", "value": ["a.io/x"]},
        ]))
    );
}

/// A claim controller that does not know PodGroups gives their pods claims of their own, and the pods run on with the old devices.
#[test]
fn devices_of_pods_that_were_given_other_claims_are_not_taken_back() {
    let mut old = claim(&json!([group_entry()]));
    old["metadata"]["annotations"] = json!({"resource.kubernetes.io/pod-claim-name": "gpu"});
    old["metadata"]["ownerReferences"] = json!([{"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "name": "g", "uid": "ug", "controller": true}]);
    let older = || Environment {
        not_served: vec![Kind::PodGroup],
        ..Environment::default()
    };
    // A pod with one template, whose claim is `new` or unknown. The group is shown by 1.36 and not by 1.35.
    let given = |group: Value, entry: &str, phase: &str, new: Value| {
        object(
            Kind::Pod,
            &json!({"metadata": {"namespace": "n", "name": "p", "uid": "up"},
                "spec": {"nodeName": "a", "schedulingGroup": group,
                    "resourceClaims": [{"name": entry, "resourceClaimTemplateName": "t"}]},
                "status": {"phase": phase, "resourceClaimStatuses": new}}),
        )
    };
    let member = || json!({"podGroupName": "g"});
    let new = || json!([{"name": "gpu", "resourceClaimName": "new"}]);
    let allocated = |allocation: Value| {
        object(
            Kind::ResourceClaim,
            &json!({"metadata": {"namespace": "n", "name": "new", "uid": "un"}, "status": {"allocation": allocation}}),
        )
    };
    let free = || allocated(Value::Null);
    let refused = "Refuse GeneratedForPodGroup";
    for (what, others, expected) in [
        (
            "a member",
            vec![given(member(), "gpu", "Running", new()), free()],
            refused,
        ),
        (
            "no group is shown",
            vec![given(json!(null), "gpu", "Running", new()), free()],
            refused,
        ),
        (
            "the new claim is gone",
            vec![given(member(), "gpu", "Running", new())],
            refused,
        ),
        (
            "the new claim is not made yet",
            vec![given(member(), "gpu", "Running", json!([]))],
            refused,
        ),
        (
            "it has ended",
            vec![given(member(), "gpu", "Succeeded", new()), free()],
            "Release",
        ),
        (
            "its claim is its own",
            vec![given(json!(null), "gpu", "Running", new()), allocated(json!({}))],
            "Release",
        ),
        (
            "another entry",
            vec![given(member(), "nic", "Running", json!([])), free()],
            "Release",
        ),
        (
            "another group",
            vec![
                given(json!({"podGroupName": "h"}), "gpu", "Running", new()),
                free(),
            ],
            "Release",
        ),
    ] {
        for include_generated in [false, true] {
            let options = Options {
                release: Release::Unused {
                    entries: BTreeSet::new(),
                },
                include_generated,
                ..Options::default()
            };
            let others = others.clone();
            assert_eq!(short(&old, others, older(), &options), expected, "{what}");
        }
    }
    let cluster = cluster(&old, [given(member(), "gpu", "Running", new()), free()], older());
    let plan = planned(&cluster, &Options::default());
    assert_eq!(
        plan.claims[0].reason().as_deref(),
        Some(
            "created for PodGroup g; pod p may still use its devices, although an older claim controller created other claims for them"
        )
    );
    assert_eq!(
        plan.claims[0].way_out().as_deref(),
        Some("delete pod p, then release the devices with --release-unused")
    );
}
