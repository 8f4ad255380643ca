//! Reactions of the owners of evicted pods, and their results.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Scene, claim, now, object, slice, timeline};
use crate::reservation::claim_names;
use crate::simulation::{Placement, Scheduler, World};
use dra_model::{Allocation, Change, Cluster, Kind, Pod, Time};

/// Lets every pod go to these nodes, and gives its claims nothing.
struct Anywhere(Vec<&'static str>);

impl Scheduler for Anywhere {
    fn place(&mut self, cluster: &Cluster, pod: &Arc<Pod>, _: Time) -> Placement {
        let claims: Vec<_> = claim_names(pod)
            .filter_map(|name| name.name().cloned())
            .map(|name| dra_model::Key {
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
    // What this one does is unknown.
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
            dra_model::Key::new("n", "t"),
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
