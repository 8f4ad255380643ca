//! How an owner lets one of its pods end for good: it recreates a pod that is deleted.

use super::{KUEUE, Lineage, is_ready};
use dra_model::{Cluster, Key, OwnerReference, Pod};

/// A change of a pod's owner after which exactly that pod ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The owner gets one replica less.
    Scale {
        /// `deployment`, `replicaset`, `replicationcontroller` or `statefulset`.
        kind: &'static str,
        /// The owner.
        owner: Key,
        /// Replicas that it has now.
        replicas: i64,
        /// Whether the pod needs the lowest deletion cost, so that no other one ends.
        is_marked: bool,
    },
    /// The Job is suspended.
    Suspend(Key),
}

impl Ending {
    /// Returns the change of the highest owner above `pod` that ends just this pod; nothing where another one could end, or what the owner does is
    /// unknown.
    ///
    /// Mirrors `controller_utils.go`, `ActivePodsWithRanks.Less`: pods that are not ready end first, and the deletion cost decides among
    /// those that are; `stateful_set_control.go`, `updateStatefulSet`: the highest ordinal ends first; `job/job_controller.go`, `syncJob`: a
    /// suspended Job deletes its pods without counting them as failed; v1.37.2.
    pub fn of(cluster: &Cluster, pod: &Pod, top: &OwnerReference) -> Option<Self> {
        let namespace = &pod.metadata.namespace;
        let owner = cluster.environment().owners.find(top, namespace)?;
        let others = || {
            cluster.pods().filter(|other| {
                other.metadata.namespace == *namespace
                    && other.metadata.uid != pod.metadata.uid
                    && !other.is_terminal()
                    && !other.metadata.is_deleting()
                    && Lineage::of(cluster, &other.metadata).has(top, namespace)
            })
        };
        let kind = match (owner.group.as_str(), owner.kind.as_str()) {
            ("apps", "Deployment") => "deployment",
            ("apps", "ReplicaSet") => "replicaset",
            ("", "ReplicationController") => "replicationcontroller",
            ("apps", "StatefulSet") => "statefulset",
            ("batch", "Job") => {
                let is_queued = pod.metadata.labels.iter().any(|(label, _)| {
                    let domain = label.split_once('/').map(|(domain, _)| domain);
                    domain == Some(KUEUE)
                });
                let is_its_own = owner.managed_by.is_none() && !owner.is_suspended && !is_queued;
                return (is_its_own && others().next().is_none()).then(|| Self::Suspend(owner.key.clone()));
            }
            _ => return None,
        };
        let replicas = owner.replicas.filter(|replicas| *replicas > 0)?;
        let is_marked = replicas > 1 && kind != "statefulset";
        let is_last = if kind == "statefulset" {
            pod.metadata.name.strip_prefix(owner.key.name.as_str()) == Some(&format!("-{}", replicas - 1))
        } else {
            let are_alike = |other: &Pod| is_ready(other) && other.metadata.is_sibling(&pod.metadata);
            i64::try_from(others().count()) == Ok(replicas - 1) && others().all(|other| are_alike(other))
        };
        is_last.then(|| Self::Scale {
            kind,
            owner: owner.key.clone(),
            replicas,
            is_marked,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::*;
    use dra_model::{Kind, Owners};
    use dra_testing::World;

    fn reference(kind: &str, name: &str) -> Value {
        let version = if kind == "Job" { "batch/v1" } else { "apps/v1" };
        json!({"apiVersion": version, "kind": kind, "name": name, "uid": format!("{name}-uid"), "controller": true})
    }

    /// The change that ends the first of pods with these names of the owner, of which those in `unready` are not ready.
    fn ending(kind: &str, spec: &Value, pods: &[&str], unready: &[&str]) -> Option<Ending> {
        let mut owners = Owners::default();
        let owner = json!({"metadata": {"namespace": "n", "name": "web", "uid": "web-uid"}, "spec": spec});
        let version = if kind == "Job" { "batch/v1" } else { "apps/v1" };
        owners.add(version, kind, owner.to_string().as_bytes());
        let controller = if kind == "Deployment" {
            let set = json!({"metadata": {"namespace": "n", "name": "web-1", "uid": "web-1-uid", "ownerReferences": [reference(kind, "web")]}});
            owners.add("apps/v1", "ReplicaSet", set.to_string().as_bytes());
            reference("ReplicaSet", "web-1")
        } else {
            reference(kind, "web")
        };
        let mut world = World::default();
        for name in pods {
            let ready = if unready.contains(name) { "False" } else { "True" };
            world = world.with(
                Kind::Pod,
                &json!({"metadata": {"namespace": "n", "name": name, "uid": name, "ownerReferences": [controller]},
                        "spec": {"nodeName": "node-1"},
                        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]}}),
            );
        }
        let cluster = world
            .knowing(|environment| environment.owners = Arc::new(owners))
            .build();
        let pod = cluster.pod(&Key::new("n", *pods.first()?))?;
        let top = serde_json::from_value(reference(kind, "web")).ok()?;
        Ending::of(&cluster, pod, &top)
    }

    #[test]
    fn an_owner_ends_just_the_pod_that_is_meant() {
        let scale = |kind, replicas, is_marked| {
            let owner = Key::new("n", "web");
            Some(Ending::Scale {
                kind,
                owner,
                replicas,
                is_marked,
            })
        };
        let replicas = |count: i64| json!({"replicas": count});
        for (kind, spec, pods, unready, expected) in [
            (
                "Deployment",
                replicas(1),
                &["web-1-a"][..],
                &[][..],
                scale("deployment", 1, false),
            ),
            (
                "Deployment",
                replicas(2),
                &["web-1-a", "web-1-b"],
                &[],
                scale("deployment", 2, true),
            ),
            // The pod that is not ready would end.
            (
                "Deployment",
                replicas(2),
                &["web-1-a", "web-1-b"],
                &["web-1-b"],
                None,
            ),
            (
                "Deployment",
                replicas(2),
                &["web-1-a", "web-1-b"],
                &["web-1-a"],
                scale("deployment", 2, true),
            ),
            // The owner is about to make another one.
            ("ReplicaSet", replicas(3), &["web-a", "web-b"], &[], None),
            (
                "StatefulSet",
                replicas(2),
                &["web-1", "web-0"],
                &[],
                scale("statefulset", 2, false),
            ),
            ("StatefulSet", replicas(2), &["web-0", "web-1"], &[], None),
            ("DaemonSet", json!({}), &["web-a"], &[], None),
            (
                "Job",
                json!({}),
                &["web-a"],
                &[],
                Some(Ending::Suspend(Key::new("n", "web"))),
            ),
            ("Job", json!({}), &["web-a", "web-b"], &[], None),
            (
                "Job",
                json!({"managedBy": "example.com/other"}),
                &["web-a"],
                &[],
                None,
            ),
        ] {
            assert_eq!(
                ending(kind, &spec, pods, unready),
                expected,
                "{kind} {spec} {pods:?} {unready:?}"
            );
        }
    }
}
