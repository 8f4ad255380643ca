//! Treatment of old pods by a Deployment while a new one is unscheduled.

use std::sync::Arc;

use super::Lineage;
use dra_model::{Cluster, Condition, Owner, Pod, Strategy};

/// The condition that says whether the pod is ready.
pub(super) fn readiness(pod: &Pod) -> Option<&Condition> {
    pod.condition("Ready")
}

/// Returns whether the pod runs, and nothing says that it is not ready.
pub fn is_ready(pod: &Pod) -> bool {
    pod.status.phase == "Running" && readiness(pod).is_none_or(|ready| ready.status == "True")
}

/// Returns whether the pod has its node and is not ready yet.
pub fn is_starting(pod: &Pod) -> bool {
    pod.node().is_some() && !pod.is_terminal() && !is_ready(pod)
}

/// Progress of a rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rollout {
    /// So many of so many old pods end, whether new ones are ready or not.
    Ends(usize, usize),
    /// No old pod ends before a new one is ready.
    Keeps {
        /// So many pods may be there beyond those that are wanted.
        surge: i64,
        /// So many of those that are wanted may be unavailable.
        unavailable: i64,
    },
    /// So many of so many old pods end once the new ones that have a node are ready.
    Continues(usize, usize),
    /// Nothing ends before the rollout is resumed.
    Paused,
}

impl Rollout {
    /// Returns the next step of the Deployment that owns the unscheduled `pod`; nothing if there is none or it is
    /// unknown.
    ///
    /// Mirrors `deployment/deployment_controller.go`, `syncDeployment`, `rolling.go`, `reconcileOldReplicaSets`, and `recreate.go`,
    /// `rolloutRecreate`, v1.37.2.
    pub fn of<'c>(cluster: &'c Cluster, pod: &Pod) -> Option<(&'c Owner, Self)> {
        let lineage = Lineage::of_pod(cluster, pod);
        let deployment = lineage.known(cluster).find(|owner| owner.strategy.is_some())?;
        let strategy = deployment.strategy?;
        if deployment.is_paused {
            return Some((deployment, Self::Paused));
        }
        Some((deployment, Self::by(cluster, pod, deployment, strategy)))
    }

    /// Returns the next step of the Deployment if it had this strategy.
    pub fn by(cluster: &Cluster, pod: &Pod, deployment: &Owner, strategy: Strategy) -> Self {
        let reference = deployment.reference();
        let is_new = |other: &Pod| other.metadata.is_sibling(&pod.metadata);
        let namespace = &pod.metadata.namespace;
        let is_of_it = |other: &&Arc<Pod>| {
            !other.is_terminal() && Lineage::of_pod(cluster, other).has(&reference, namespace)
        };
        let (new, old): (Vec<&Arc<Pod>>, Vec<&Arc<Pod>>) = cluster
            .pods_in(namespace)
            .filter(is_of_it)
            .partition(|other| is_new(other));
        let (surge, unavailable) = match strategy {
            Strategy::Recreate => return Self::Ends(old.len(), old.len()),
            Strategy::RollingUpdate { surge, unavailable } => (surge, unavailable),
        };
        let count = |pods: &[&Arc<Pod>], is: fn(&Pod) -> bool| {
            i64::try_from(pods.iter().filter(|pod| is(pod)).count()).unwrap_or(i64::MAX)
        };
        let all = |_: &Pod| true;
        let lowest = deployment.replicas.unwrap_or(1) - unavailable;
        let (new_ready, old_ready) = (count(&new, is_ready), count(&old, is_ready));
        let ends = |new_ready: i64| {
            let may_end = count(&old, all) + new_ready - lowest;
            let are_spare = (new_ready + old_ready - lowest).max(0);
            let ends = may_end.min(count(&old, all) - old_ready + are_spare);
            usize::try_from(ends).unwrap_or(0).min(old.len())
        };
        let starting = count(&new, is_starting);
        match (ends(new_ready), ends(new_ready + starting)) {
            (0, 0) => Self::Keeps { surge, unavailable },
            (0, then) => Self::Continues(then, old.len()),
            (now, _) => Self::Ends(now, old.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use dra_model::{Kind, Owners};
    use dra_testing::World;

    fn owner(kind: &str, name: &str) -> Value {
        json!({"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": format!("{name}-uid"), "controller": true})
    }

    /// Returns the next step of a Deployment with `replicas`, this many old and new pods, ready and not, and one new
    /// pod without a node.
    fn rollout(replicas: i64, strategy: &Value, old: [usize; 2], new: [usize; 2]) -> Rollout {
        let mut owners = Owners::default();
        for set in ["old", "new"] {
            let set = json!({"metadata": {"namespace": "n", "name": set, "ownerReferences": [owner("Deployment", "web")]}});
            owners.add("apps/v1", "ReplicaSet", set.to_string().as_bytes());
        }
        let web = json!({"metadata": {"namespace": "n", "name": "web", "uid": "web-uid"},
                         "spec": {"replicas": replicas, "strategy": strategy}});
        owners.add("apps/v1", "Deployment", web.to_string().as_bytes());
        let mut world = World::default();
        for (set, counts) in [("old", old), ("new", new)] {
            for (ready, count) in ["True", "False"].into_iter().zip(counts) {
                for number in 0..count {
                    let name = format!("{set}-{ready}-{number}").to_lowercase();
                    world = world.with(
                        Kind::Pod,
                        &json!({"metadata": {"namespace": "n", "name": name, "uid": name, "ownerReferences": [owner("ReplicaSet", set)]},
                                "spec": {"nodeName": "node-1"},
                                "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]}}),
                    );
                }
            }
        }
        let waits = json!({"metadata": {"namespace": "n", "name": "waits", "uid": "w", "ownerReferences": [owner("ReplicaSet", "new")]}});
        let cluster = world
            .with(Kind::Pod, &waits)
            .knowing(|environment| environment.owners = Arc::new(owners))
            .build();
        let pod = cluster.pod(&dra_model::Key::new("n", "waits")).unwrap();
        let (deployment, rollout) = Rollout::of(&cluster, pod).unwrap();
        assert_eq!(deployment.key.name, "web");
        rollout
    }

    #[test]
    fn a_rollout_ends_old_pods_as_far_as_enough_stay_available() {
        let parts = |surge: Value, unavailable: Value| json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}});
        let keeps = |surge, unavailable| Rollout::Keeps { surge, unavailable };
        let quarter = json!({});
        for (replicas, strategy, old, new, expected) in [
            // One replica by default: 25 % are one pod more, and none less.
            (1, quarter.clone(), [1, 0], [0, 0], keeps(1, 0)),
            (1, parts(json!("25%"), json!("25%")), [1, 0], [0, 0], keeps(1, 0)),
            (1, parts(json!(1), json!(0)), [1, 0], [0, 0], keeps(1, 0)),
            (1, parts(json!(0), json!(1)), [1, 0], [0, 0], Rollout::Ends(1, 1)),
            // Parts that both come to nothing let one be unavailable.
            (
                3,
                parts(json!(0), json!("25%")),
                [3, 0],
                [0, 0],
                Rollout::Ends(1, 3),
            ),
            (
                1,
                json!({"type": "Recreate"}),
                [1, 0],
                [0, 0],
                Rollout::Ends(1, 1),
            ),
            (4, quarter.clone(), [4, 0], [0, 0], Rollout::Ends(1, 4)),
            (4, quarter.clone(), [3, 0], [0, 0], keeps(1, 1)),
            // One that is not ready does not count as available, and goes first.
            (4, quarter.clone(), [3, 1], [0, 0], Rollout::Ends(1, 4)),
            (1, quarter.clone(), [0, 1], [0, 0], keeps(1, 0)),
            // A new one that is about to be ready lets an old one go.
            (
                2,
                parts(json!(1), json!(0)),
                [2, 0],
                [0, 1],
                Rollout::Continues(1, 2),
            ),
            (2, parts(json!(1), json!(0)), [2, 0], [1, 0], Rollout::Ends(1, 2)),
        ] {
            let found = rollout(replicas, &strategy, old, new);
            assert_eq!(found, expected, "{replicas} {strategy} {old:?} {new:?}");
        }
    }
}
