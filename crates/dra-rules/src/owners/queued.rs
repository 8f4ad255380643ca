//! Messages of a queue about pods, or their owners, that it holds back.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Lineage, OwnerName};
use dra_model::names::is_within;
use dra_model::{Cluster, Condition, Key, Kind, Meta, Owner, Pod, Str, Time};

/// The API group of Kueue.
pub const KUEUE: &str = "kueue.x-k8s.io";

/// Label with the name of the Workload of several pods.
pub const POD_GROUP: &str = "kueue.x-k8s.io/pod-group-name";

/// Annotation with the number of these pods.
const TOTAL_COUNT: &str = "kueue.x-k8s.io/pod-group-total-count";

/// Annotation that has Kueue admit the first of them without the others.
const FAST_ADMISSION: &str = "kueue.x-k8s.io/pod-group-fast-admission";

/// Labels with the name of a Workload: that of several pods, and one that was made before.
const NAMES: [&str; 2] = [PREBUILT, POD_GROUP];

/// Label with the name of a Workload that another client created.
pub const PREBUILT: &str = "kueue.x-k8s.io/prebuilt-workload-name";

/// Returns whether a gate of Kueue holds the pod back.
pub fn is_queued(pod: &Pod) -> bool {
    let mut gates = pod.spec.scheduling_gates.iter();
    gates.any(|gate| is_within(gate.name.split('/').next().unwrap_or_default(), KUEUE))
}

/// What the pods of Kueue are called.
const CONTROLLER: &str = "kueue-controller-manager";

/// When Kueue tries a Workload again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Retry {
    /// When room may have become free.
    Automatic,
    /// When the queue that it names is there, and active.
    WithQueue,
    /// When what it is for names a queue: it names none.
    WithName,
    /// When the queue may have as much as it requests: that is more than all that there is for the queue.
    WithQuota,
    /// When it is activated.
    WhenActive,
    /// When its pods name templates: they name claims themselves.
    WithTemplate,
    /// When Kueue is started with a configuration that maps the classes of its claims.
    WithMapping,
    /// The same, and Kueue was started since. Without its integration of DRA it does not look at what it has refused before
    /// (kubernetes-sigs/kueue#13969).
    Anew,
    /// When all pods of the pod group are there: it makes no Workload for them before.
    WithPods {
        /// Number of those that are there.
        there: usize,
        /// Number that the pods want.
        total: usize,
    },
    /// Not as it is.
    Never,
}

/// A Workload of Kueue that is not admitted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Queued {
    /// The Workload.
    pub workload: Key,
    /// What it stands for.
    pub of: Option<OwnerName>,
    /// When Kueue tries it again.
    pub retry: Retry,
    /// The code that Kueue gives as the reason, or the AdmissionCheck that it waits for; empty where it gives none.
    pub reason: Str,
    /// Kueue's message.
    pub message: Str,
    /// Since when.
    pub since: Option<Time>,
    /// How often Kueue has put it back into its queue, and when it tries again.
    pub requeued: Option<(i64, Time)>,
}

impl Queued {
    /// The Workload in the place of `pod`, or of what is above it.
    pub fn of_pod(cluster: &Cluster, pod: &Pod) -> Option<Self> {
        let lineage = Lineage::of_pod(cluster, pod);
        match Self::workload(cluster, &pod.metadata, &lineage.uids_with(pod)) {
            Some(workload) => Self::of(cluster, workload),
            None => Self::short_group(cluster, pod),
        }
    }

    /// The pod group of `pod` that lacks pods, in the place of its Workload.
    ///
    /// Mirrors `pkg/controller/jobs/pod/pod_controller.go` of Kueue, `validatePodGroupMetadata` and `isPodRunnableOrSucceeded`.
    fn short_group(cluster: &Cluster, pod: &Pod) -> Option<Self> {
        let metadata = &pod.metadata;
        let name = metadata.label(POD_GROUP)?;
        let total: usize = metadata.annotation(TOTAL_COUNT)?.parse().ok()?;
        if metadata
            .annotation(FAST_ADMISSION)
            .is_some_and(|value| value == "true")
            || cluster.gap(Kind::Pod, &metadata.namespace).is_some()
        {
            return None;
        }
        let is_runnable = |other: &&Arc<Pod>| {
            other.metadata.label(POD_GROUP) == Some(name)
                && other.status.phase != "Failed"
                && (other.node().is_some() || !other.metadata.is_deleting())
        };
        let there = cluster.pods_in(&metadata.namespace).filter(is_runnable).count();
        (there < total).then(|| Self {
            workload: metadata.beside(name),
            of: None,
            retry: Retry::WithPods { there, total },
            reason: Str::default(),
            message: Str::default(),
            since: None,
            requeued: None,
        })
    }

    /// The same with what the pods of Kueue show.
    fn seen(mut self, cluster: &Cluster) -> Self {
        let has_restarted = |pod: &Arc<Pod>| {
            pod.ready().is_some()
                && pod.metadata.name.starts_with(CONTROLLER)
                && pod.status.start_time > self.since
        };
        if self.retry == Retry::WithMapping && self.since.is_some() && cluster.pods().any(has_restarted) {
            self.retry = Retry::Anew;
        }
        self
    }

    /// The Workload in the place of an owner, or that it is itself.
    pub fn of_owner(cluster: &Cluster, owner: &Owner) -> Option<Self> {
        if owner.group == KUEUE && owner.kind == "Workload" {
            return Self::of(cluster, owner);
        }
        let metadata = Meta {
            namespace: owner.key.namespace.clone(),
            ..Meta::default()
        };
        let workload = Self::workload(cluster, &metadata, &BTreeSet::from([&owner.uid]))?;
        Self::of(cluster, workload)
    }

    /// The admitted Workload in the place of `pod`, or of what is above it, and since when it is admitted.
    pub fn admitted(cluster: &Cluster, pod: &Pod) -> Option<(Key, Time)> {
        let lineage = Lineage::of_pod(cluster, pod);
        let workload = Self::workload(cluster, &pod.metadata, &lineage.uids_with(pod))?;
        let admitted = workload.condition("Admitted", "True")?;
        Some((workload.key.clone(), admitted.last_transition_time?))
    }

    fn workload<'c>(cluster: &'c Cluster, metadata: &Meta, uids: &BTreeSet<&Str>) -> Option<&'c Owner> {
        let named: Vec<&Str> = NAMES.iter().filter_map(|label| metadata.label(label)).collect();
        let owners = &cluster.environment().owners;
        let mut all = owners.of_kind(KUEUE, "Workload", &metadata.namespace);
        all.find(|workload| named.contains(&&workload.key.name) || workload.refers_to(uids))
    }

    /// Returns what Kueue says of the Workload; nothing where it is admitted. Mirrors `apis/kueue/v1beta2/workload_types.go` of Kueue.
    fn of(cluster: &Cluster, workload: &Owner) -> Option<Self> {
        if workload.condition("Admitted", "True").is_some()
            || workload.condition("Finished", "True").is_some()
        {
            return None;
        }
        let is_inadmissible = |condition: &&Condition| {
            condition.status == "False"
                && (condition.reason == "Inadmissible" || condition.reason == "Misconfigured")
        };
        let inadmissible = workload.conditions.iter().find(is_inadmissible);
        let said = inadmissible
            .or_else(|| {
                workload
                    .condition("Evicted", "True")
                    .filter(|_| workload.is_suspended)
            })
            .or_else(|| workload.condition("QuotaReserved", "False"))
            .or_else(|| workload.checks.iter().find(|check| check.status != "Ready"))
            .or_else(|| workload.condition("Evicted", "True"))
            .or_else(|| workload.condition("Admitted", "False"));
        // Mirrors `pkg/controller/core/workload_controller.go` of Kueue, `Reconcile`.
        let lacks_queue = |condition: &Condition| {
            let mut kinds = ["LocalQueue ", "ClusterQueue "].iter();
            kinds.any(|kind| condition.message.starts_with(kind))
        };
        // Mirrors `pkg/scheduler/flavorassigner/flavorassigner.go` of Kueue, `fitsResourceQuota`.
        let exceeds = |condition: &Condition| condition.message.contains("> maximum capacity (");
        let retry = match inadmissible {
            _ if workload.is_suspended => Retry::WhenActive,
            Some(condition) if condition.message.starts_with("LocalQueue  ") => Retry::WithName,
            Some(condition) if lacks_queue(condition) => Retry::WithQueue,
            // Mirrors `pkg/controller/core/workload_controller.go` of Kueue, `handleDRA`.
            Some(condition)
                if condition
                    .message
                    .contains("does not support use of resource claims") =>
            {
                Retry::WithTemplate
            }
            // Mirrors `pkg/dra/claims.go` of Kueue, `GetResourceRequestsForResourceClaimTemplates`.
            Some(condition) if condition.message.contains("is not mapped in DRA configuration") => {
                Retry::WithMapping
            }
            Some(_) => Retry::Never,
            None if said.is_some_and(exceeds) => Retry::WithQuota,
            None => Retry::Automatic,
        };
        let found = Self {
            workload: workload.key.clone(),
            of: workload.references.first().map(Into::into),
            retry,
            reason: said.map(|said| said.reason.clone()).unwrap_or_default(),
            message: said.map(|said| said.message.clone()).unwrap_or_default(),
            since: said.and_then(|said| said.last_transition_time),
            requeued: workload.requeued,
        };
        Some(found.seen(cluster))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use dra_model::Owners;
    use dra_testing::World;

    /// Returns what is said of a pod, of a Job if one is named, beside a Workload with this spec, these conditions and this owner.
    fn queued(job: Option<&str>, labels: Value, workload: &Value) -> Option<Queued> {
        let mut owners = Owners::default();
        owners.add(
            "kueue.x-k8s.io/v1beta2",
            "Workload",
            workload.to_string().as_bytes(),
        );
        let references = job.map_or(json!([]), |job| {
            json!([{"apiVersion": "batch/v1", "kind": "Job", "name": job, "uid": format!("{job}-uid"), "controller": true}])
        });
        let pod = json!({"metadata": {"namespace": "n", "name": "p", "uid": "p-uid", "labels": labels, "ownerReferences": references}});
        let cluster = World::default()
            .with(Kind::Pod, &pod)
            .knowing(|environment| environment.owners = Arc::new(owners))
            .build();
        let pod = cluster.pod(&Key::new("n", "p")).unwrap();
        Queued::of_pod(&cluster, pod)
    }

    fn workload(owner: &str, spec: &Value, conditions: &[[&str; 4]]) -> Value {
        let conditions: Vec<Value> = conditions
            .iter()
            .map(|[type_, status, reason, message]| {
                json!({"type": type_, "status": status, "reason": reason, "message": message})
            })
            .collect();
        json!({"metadata": {"namespace": "n", "name": "w", "ownerReferences": [{"kind": "X", "name": "x", "uid": owner}]},
               "spec": spec, "status": {"conditions": conditions}})
    }

    #[test]
    fn a_workload_is_tried_again_as_its_conditions_tell() {
        let active = json!({});
        let pending = ["QuotaReserved", "False", "Pending", "couldn't assign flavors"];
        let inadmissible = ["Requeued", "False", "Inadmissible", "not mapped"];
        let no_queue = [
            "QuotaReserved",
            "False",
            "Inadmissible",
            "LocalQueue x doesn't exist",
        ];
        let evicted = ["Evicted", "True", "Deactivated", "deactivated"];
        let admitted = ["Admitted", "True", "Admitted", "admitted"];
        let of = |spec: &Value, conditions: &[[&str; 4]]| {
            let found = queued(None, json!({}), &workload("p-uid", spec, conditions))?;
            Some((found.retry, found.message.to_string()))
        };
        for (spec, conditions, expected) in [
            (
                &active,
                &[pending][..],
                Some((Retry::Automatic, "couldn't assign flavors")),
            ),
            (
                &active,
                &[[
                    "QuotaReserved",
                    "False",
                    "Pending",
                    "request (16) > maximum capacity (8)",
                ]],
                Some((Retry::WithQuota, "request (16) > maximum capacity (8)")),
            ),
            (
                &active,
                &[pending, inadmissible],
                Some((Retry::Never, "not mapped")),
            ),
            (
                &active,
                &[no_queue],
                Some((Retry::WithQueue, "LocalQueue x doesn't exist")),
            ),
            (
                &json!({"active": false}),
                &[pending, evicted],
                Some((Retry::WhenActive, "deactivated")),
            ),
            (&active, &[], Some((Retry::Automatic, ""))),
            (&active, &[admitted], None),
        ] {
            let expected = expected.map(|(retry, message)| (retry, message.to_owned()));
            assert_eq!(of(spec, conditions), expected, "{conditions:?}");
        }
    }

    #[test]
    fn the_workload_of_a_pod_is_that_of_its_owner_or_of_its_label() {
        let of = |owner: &str| workload(owner, &json!({}), &[]);
        assert!(queued(Some("job"), json!({}), &of("job-uid")).is_some());
        assert!(queued(Some("job"), json!({}), &of("other-uid")).is_none());
        assert!(
            queued(
                None,
                json!({"kueue.x-k8s.io/pod-group-name": "w"}),
                &of("other-uid")
            )
            .is_some()
        );
    }
}
