//! How an owner lets one of its pods end for good: it recreates a pod that is deleted.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::lineage::LEADER_WORKER_SET;
use super::rollout::readiness;
use super::{KUEUE, Lineage, is_ready};
use dra_model::{Cluster, Key, Owner, OwnerReference, Pod, Time};

/// The label of pods of a LeaderWorkerSet that has the number of their group.
const GROUP_INDEX: &str = "leaderworkerset.sigs.k8s.io/group-index";

/// The other pods of the group of `pod`, where their owner recreates the whole group once one of them is gone. Mirrors
/// `pkg/controllers/pod_controller.go` of LeaderWorkerSet, `handleRestartPolicy`.
pub fn restarted_with<'c>(cluster: &'c Cluster, pod: &Pod) -> Vec<&'c Arc<Pod>> {
    let group = |pod: &Pod| [LEADER_WORKER_SET, GROUP_INDEX].map(|label| pod.metadata.label(label).cloned());
    let own = group(pod);
    if own.contains(&None)
        || !Lineage::of_pod(cluster, pod)
            .known(cluster)
            .any(|owner| owner.recreates_group)
    {
        return Vec::new();
    }
    let others = cluster.pods_in(&pod.metadata.namespace).filter(|other| {
        other.metadata.uid != pod.metadata.uid && group(other) == own && !other.is_terminal()
    });
    others.collect()
}

/// When a pod has its turn among those of a Job that end, the first being the least.
pub(crate) type Turn = (bool, u8, bool, Newest, Reverse<i32>, Newest);

/// What has no time comes first, and then the newest.
type Newest = (bool, Reverse<Option<Time>>);

/// When the pod has its turn, if its Job is to run fewer at a time. Mirrors `controller_utils.go`, `ActivePods.Less`, v1.37.2.
pub(crate) fn turn(pod: &Pod) -> Turn {
    let ready = readiness(pod).filter(|condition| condition.status == "True");
    let phase = match pod.status.phase.as_str() {
        "Pending" => 0,
        "Running" => 2,
        _ => 1,
    };
    let restarts = pod
        .status
        .container_statuses
        .iter()
        .map(|status| status.restart_count);
    let newest_first = |time: Option<Time>| (time.is_some(), Reverse(time));
    let since = ready.and_then(|ready| ready.last_transition_time);
    (
        pod.node().is_some(),
        phase,
        ready.is_some(),
        newest_first(since),
        Reverse(restarts.max().unwrap_or_default()),
        newest_first(pod.metadata.creation_timestamp),
    )
}

/// A change of the owner of pods after which these end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The owner gets fewer replicas, and just these pods end.
    Scale {
        /// `deployment`, `replicaset`, `replicationcontroller`, `statefulset` or `leaderworkerset`.
        kind: &'static str,
        /// The owner.
        owner: Key,
        /// Replicas that it has now.
        replicas: i64,
        /// Replicas that are left.
        left: i64,
        /// Whether the pods need the lowest deletion cost, so that no others end.
        is_marked: bool,
    },
    /// The Job runs fewer pods at a time, which ends those that have their turn first.
    Fewer {
        /// The Job.
        job: Key,
        /// Pods that it runs at a time now.
        at_once: i64,
        /// Pods that it then runs at a time.
        left: i64,
        /// Pods that end.
        ends: i64,
        /// True if another pod may end instead of the one that is meant, and is enough.
        is_any: bool,
    },
    /// The Job is suspended, which ends all of its pods.
    Suspend(Key),
}

impl Ending {
    /// Returns the change of `top`, the highest owner above all `pods`, that ends them, or one of `enough` where the end of any one of these does as
    /// well; nothing where others could end in their place, or what the owner does is unknown.
    ///
    /// Mirrors `controller_utils.go`, `ActivePodsWithRanks.Less`: pods that are not ready end first, and the deletion cost decides among
    /// those that are; `stateful_set_control.go`, `updateStatefulSet`: the highest ordinal ends first; `job/job_controller.go`, `manageJob`: a
    /// Job that is suspended, or is to run fewer pods at a time, deletes them without counting them as failed; v1.37.2.
    pub fn of(
        cluster: &Cluster,
        pods: &[&Arc<Pod>],
        enough: &BTreeSet<Key>,
        top: &OwnerReference,
    ) -> Option<Self> {
        let first = &pods.first()?.metadata;
        let owner = cluster.environment().owners.find(top, &first.namespace)?;
        let replicas = owner.replicas.unwrap_or(1);
        let scale = |kind, by: i64, is_marked| {
            (replicas >= by).then(|| Self::Scale {
                kind,
                owner: owner.key.clone(),
                replicas,
                left: replicas - by,
                is_marked: is_marked && replicas > by,
            })
        };
        let count = i64::try_from(pods.len()).ok()?;
        // The last of the replicas, by the numbers of the pods.
        let last = |kind, by: i64, number: &dyn Fn(&Pod) -> Option<i64>| {
            let change = scale(kind, by, false)?;
            // Numbers that do not begin with 0 tell nothing.
            let last = replicas - by..replicas;
            let are_last = pods
                .iter()
                .all(|pod| number(pod).is_some_and(|number| last.contains(&number)));
            are_last.then_some(change)
        };
        let any = |kind| {
            let is_one_of = |other: &Pod| pods.iter().any(|pod| pod.metadata.uid == other.metadata.uid);
            let others = cluster.pods_in(&first.namespace).filter(|other| {
                let metadata = &other.metadata;
                // The ReplicaSets of a Deployment are called after it: most other pods need no further look.
                let controller = metadata.controller();
                controller.is_some_and(|controller| controller.name.starts_with(owner.key.name.as_str()))
                    && !is_one_of(other)
                    && !other.is_terminal()
                    && !metadata.is_deleting()
                    && Lineage::of(cluster, metadata).has(top, &first.namespace)
            });
            let others: Vec<&Arc<Pod>> = others.collect();
            let are_alike = others
                .iter()
                .all(|other| is_ready(other) && other.metadata.is_sibling(first));
            let are_all = i64::try_from(others.len()).ok()? + count == replicas;
            scale(kind, count, true).filter(|_| are_alike && are_all)
        };
        match (owner.group.as_str(), owner.kind.as_str()) {
            ("apps", "Deployment") => any("deployment"),
            ("apps", "ReplicaSet") => any("replicaset"),
            ("", "ReplicationController") => any("replicationcontroller"),
            ("apps", "StatefulSet") => last("statefulset", count, &|pod| {
                let ordinal = pod.metadata.name.strip_prefix(owner.key.name.as_str())?;
                ordinal.strip_prefix('-')?.parse().ok()
            }),
            ("leaderworkerset.x-k8s.io", "LeaderWorkerSet") => last("leaderworkerset", 1, &|pod| {
                pod.metadata.label(GROUP_INDEX)?.parse().ok()
            }),
            ("batch", "Job") => {
                let mut labels = first.labels.iter();
                let is_queued = labels.any(|(label, _)| {
                    let domain = label.split_once('/').map(|(domain, _)| domain);
                    domain == Some(KUEUE)
                });
                let is_its_own = owner.managed_by.is_none() && !owner.is_suspended && !is_queued;
                is_its_own.then(|| {
                    let fewer = Self::fewer(cluster, pods, enough, owner);
                    fewer.unwrap_or_else(|| Self::Suspend(owner.key.clone()))
                })
            }
            _ => None,
        }
    }

    /// Has a Job run fewer pods at a time; nothing where all run at the same time, as these may need each other.
    fn fewer(cluster: &Cluster, pods: &[&Arc<Pod>], enough: &BTreeSet<Key>, job: &Owner) -> Option<Self> {
        let first = &pods.first()?.metadata;
        let at_once = job.at_once?;
        if job.completions.is_none_or(|all| all <= at_once) {
            return None;
        }
        let siblings = cluster.pods().filter(|other| {
            let metadata = &other.metadata;
            metadata.is_sibling(first) && !other.is_terminal() && !metadata.is_deleting()
        });
        let mut active: Vec<(Turn, Key)> = siblings.map(|other| (turn(other), other.key())).collect();
        active.sort();
        let up_to = |last: &Turn| active.partition_point(|(turn, _)| turn <= last);
        let begin = up_to(&active.first()?.0);
        let meant = up_to(&pods.iter().map(|pod| turn(pod)).max()?);
        let is_enough = |key: &Key| enough.contains(key);
        let is_any = meant > 1
            && matches!(pods, [only] if is_enough(&only.key()))
            && active.iter().take(begin).all(|(_, key)| is_enough(key));
        let ends = i64::try_from(if is_any { 1 } else { meant }).ok()?;
        let active = i64::try_from(active.len()).ok()?;
        let left = active - ends;
        (0 < left && active <= at_once).then(|| Self::Fewer {
            job: job.key.clone(),
            at_once,
            left,
            ends,
            is_any,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use dra_model::{Kind, Owners};
    use dra_testing::World;

    fn reference(kind: &str, name: &str) -> Value {
        let version = if kind == "Job" { "batch/v1" } else { "apps/v1" };
        json!({"apiVersion": version, "kind": kind, "name": name, "uid": format!("{name}-uid"), "controller": true})
    }

    /// The change that ends the first `count` of pods with these names of the owner, of which those in `unready` are not ready, where one of `enough` is enough.
    fn ending(
        kind: &str,
        spec: &Value,
        count: usize,
        pods: &[&str],
        unready: &[&str],
        enough: &[&str],
    ) -> Option<Ending> {
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
        let ended = pods
            .iter()
            .take(count)
            .map(|name| cluster.pod(&Key::new("n", *name)));
        let ended: Vec<&Arc<Pod>> = ended.collect::<Option<_>>()?;
        let top = serde_json::from_value(reference(kind, "web")).ok()?;
        Ending::of(
            &cluster,
            &ended,
            &enough.iter().map(|name| Key::new("n", *name)).collect(),
            &top,
        )
    }

    #[test]
    fn an_owner_ends_just_the_pods_that_are_meant() {
        let scale = |kind, replicas, left, is_marked| {
            let owner = Key::new("n", "web");
            Some(Ending::Scale {
                kind,
                owner,
                replicas,
                left,
                is_marked,
            })
        };
        let suspend = || Some(Ending::Suspend(Key::new("n", "web")));
        let fewer = || {
            let job = Key::new("n", "web");
            let (at_once, left, ends) = (2, 1, 1);
            let is_any = false;
            Some(Ending::Fewer {
                job,
                at_once,
                left,
                ends,
                is_any,
            })
        };
        let queue = |completions: i64| json!({"parallelism": 2, "completions": completions});
        let replicas = |count: i64| json!({"replicas": count});
        let (a, ab, b): (&[_], &[_], &[_]) = (&["web-1-a"], &["web-1-a", "web-1-b"], &["web-1-b"]);
        for (kind, spec, count, pods, unready, expected) in [
            (
                "Deployment",
                replicas(1),
                1,
                a,
                &[][..],
                scale("deployment", 1, 0, false),
            ),
            (
                "Deployment",
                replicas(2),
                1,
                ab,
                &[],
                scale("deployment", 2, 1, true),
            ),
            (
                "Deployment",
                replicas(2),
                2,
                ab,
                &[],
                scale("deployment", 2, 0, false),
            ),
            // The pod that is not ready would end.
            ("Deployment", replicas(2), 1, ab, b, None),
            (
                "Deployment",
                replicas(2),
                1,
                ab,
                a,
                scale("deployment", 2, 1, true),
            ),
            // The owner is about to make another one.
            ("ReplicaSet", replicas(3), 1, ab, &[], None),
            (
                "StatefulSet",
                replicas(2),
                1,
                &["web-1", "web-0"],
                &[],
                scale("statefulset", 2, 1, false),
            ),
            (
                "StatefulSet",
                replicas(2),
                2,
                &["web-0", "web-1"],
                &[],
                scale("statefulset", 2, 0, false),
            ),
            ("StatefulSet", replicas(2), 1, &["web-0", "web-1"], &[], None),
            // Its ordinals begin with 5: the other pod would end.
            ("StatefulSet", replicas(2), 1, &["web-5", "web-6"], &[], None),
            ("DaemonSet", json!({}), 1, a, &[], None),
            ("Job", json!({}), 1, ab, &[], suspend()),
            // The pod that is not ready ends first, and both where neither is before the other.
            ("Job", queue(5), 1, ab, a, fewer()),
            ("Job", queue(5), 1, ab, b, suspend()),
            ("Job", queue(5), 1, ab, &[], suspend()),
            // They run at the same time, as those of a training do that need each other.
            ("Job", queue(2), 1, ab, a, suspend()),
            ("Job", json!({"managedBy": "example.com/other"}), 1, a, &[], None),
        ] {
            assert_eq!(
                ending(kind, &spec, count, pods, unready, &[]),
                expected,
                "{kind} {spec} {count} of {pods:?} {unready:?}"
            );
        }
        // Neither is before the other, and either is enough, or only one is.
        for (enough, is_any) in [(ab, true), (a, false)] {
            let found = ending("Job", &queue(5), 1, ab, &[], enough);
            assert_eq!(matches!(found, Some(Ending::Fewer { is_any: true, .. })), is_any);
        }
    }
}
