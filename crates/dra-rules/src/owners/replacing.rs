//! Replacement of pods by their owners, as far as a pod shows it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Lineage;
use dra_model::{Cluster, Event, Owner, Pod, Str};

/// Reaction of a pod's owner to its eviction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema)]
pub enum Replacing {
    /// It creates a replacement immediately: a ReplicaSet, a ReplicationController, a Job. Pods that are being deleted
    /// do not count for them.
    AtOnce,
    /// It makes a pod once the old one is gone: a StatefulSet, with the same name, and a DaemonSet, on the same node.
    OnceGone,
    /// The pod has no owner, or that of a Job fails with it.
    Never,
    /// The pod has ended already, so it needs no replacement.
    Ended,
    /// An unknown kind.
    Unknown,
}

impl Replacing {
    /// Returns what happens to `pod` when it is evicted.
    pub fn of(cluster: &Cluster, pod: &Pod) -> Self {
        if pod.is_terminal() {
            return Self::Ended;
        }
        let Some(owner) = pod.metadata.controller() else {
            return Self::Never;
        };
        let known = cluster.owner(&pod.metadata);
        match (owner.group(), owner.kind.as_str()) {
            ("batch", "Job") if known.is_some_and(|job| job.fails_next) => Self::Never,
            ("apps", "ReplicaSet") | ("", "ReplicationController") | ("batch", "Job") => Self::AtOnce,
            ("apps", "StatefulSet" | "DaemonSet") => Self::OnceGone,
            _ => Self::Unknown,
        }
    }
}

/// Returns whether the owner of `pod` makes another one when it is deleted, as far as that is known: a Job does within its limits, and no pod tells
/// how many of its pods have failed.
pub fn comes_back(cluster: &Cluster, pod: &Pod) -> bool {
    let metadata = &pod.metadata;
    let replaces = matches!(
        Replacing::of(cluster, pod),
        Replacing::AtOnce | Replacing::OnceGone
    );
    let Some(owner) = metadata.controller().filter(|_| replaces) else {
        return false;
    };
    match cluster.owner(metadata) {
        Some(owner) => !owner.stops,
        None => owner.kind != "Job",
    }
}

/// Returns whether `pod` is of a Job that may fail for good once the pod is deleted: it counts that as a failure.
pub fn fails_with(cluster: &Cluster, pod: &Pod) -> bool {
    let metadata = &pod.metadata;
    let is_of_job = metadata.controller().is_some_and(|owner| owner.kind == "Job");
    let owner = cluster.owner(metadata).filter(|_| is_of_job);
    owner.is_some_and(|job| job.stops && !job.is_suspended)
}

/// Returns whether `pod` is of an earlier revision of its StatefulSet, which waits until it is ready before it replaces the pod.
///
/// Mirrors `statefulset/stateful_set_control.go`, `updateStatefulSet`, v1.37.2.
pub fn is_superseded(cluster: &Cluster, pod: &Pod) -> bool {
    let metadata = &pod.metadata;
    let set = cluster.owner(metadata);
    let wanted = set.and_then(|set| set.update_revision.as_ref());
    let own = metadata.label("controller-revision-hash");
    own.zip(wanted).is_some_and(|(own, wanted)| own != wanted)
}

/// The StatefulSet, the paused Deployment, or the DaemonSet with `OnDelete`, of `pod` that has a newer pod template: the revision shows that, or
/// the claims do.
pub fn superseding<'c>(cluster: &'c Cluster, pod: &Pod) -> Option<&'c Owner> {
    let lineage = Lineage::of_pod(cluster, pod);
    let mut owners = lineage.known(cluster);
    let owner = owners.find(|owner| owner.kind == "StatefulSet" || owner.is_paused)?;
    let names = pod.spec.resource_claims.iter().filter_map(|entry| {
        entry
            .resource_claim_name
            .as_ref()
            .or(entry.resource_claim_template_name.as_ref())
    });
    let names: BTreeSet<&Str> = names.collect();
    // What admission adds to pods is not in the template.
    let lacks = owner.claims.iter().any(|name| !names.contains(name));
    let has_others = lacks && names.iter().any(|name| !owner.claims.contains(*name));
    (has_others || is_superseded(cluster, pod)).then_some(owner)
}

/// The oldest pod that was created after the failed `pod` by the same owner and has not ended, where the owner replaces its failed pods: they do
/// not count as its pods (`controller_utils.go`, `IsPodActive`, v1.37.2).
pub fn replacement<'c>(cluster: &'c Cluster, pod: &Pod) -> Option<&'c Arc<Pod>> {
    let owner = pod.metadata.controller()?;
    let replaces = matches!(
        (owner.group(), owner.kind.as_str()),
        ("apps", "ReplicaSet") | ("", "ReplicationController") | ("batch", "Job")
    );
    if !replaces {
        return None;
    }
    let created = pod.metadata.creation_timestamp?;
    let newer = cluster.pods_in(&pod.metadata.namespace).filter(|other| {
        let metadata = &other.metadata;
        metadata.controller().is_some_and(|other| other.uid == owner.uid)
            && !other.is_terminal()
            && !metadata.is_deleting()
            && metadata.creation_timestamp.is_some_and(|at| at > created)
    });
    newer.min_by_key(|other| (other.metadata.creation_timestamp, other.key()))
}

/// The last warning of `events` that repeats what a condition of `owner` gives as the reason for being False: what its controller fails at.
pub fn complaint<'e>(owner: &Owner, events: &[&'e Arc<Event>]) -> Option<&'e Arc<Event>> {
    let is_repeated = |event: &Event| {
        let mut conditions = owner
            .conditions
            .iter()
            .filter(|condition| condition.status == "False");
        conditions.any(|condition| {
            !event.message.is_empty() && condition.message.starts_with(event.message.trim_end_matches('.'))
        })
    };
    let warnings = events
        .iter()
        .copied()
        .filter(|event| event.type_ == "Warning" && is_repeated(event));
    warnings.max_by_key(|event| (event.last_seen(), event.metadata.key()))
}

/// The last attempt to create a pod according to `events`, if it was rejected. Mirrors the reasons of
/// `controller_utils.go`, `createPods`, v1.37.2.
pub fn refused_last<'e>(events: impl IntoIterator<Item = &'e Arc<Event>>) -> Option<&'e Arc<Event>> {
    let attempts = events
        .into_iter()
        .filter(|event| event.reason == "SuccessfulCreate" || is_refusal(event));
    let last = attempts.max_by_key(|event| (event.last_seen(), event.metadata.key()))?;
    (last.reason != "SuccessfulCreate").then_some(last)
}

/// Returns whether an event says that the API server did not accept a pod: controllers of other projects have reasons of their own, and repeat
/// its words (`apimachinery/pkg/api/errors/errors.go`, `NewInvalid` and `NewForbidden`, v1.37.2).
fn is_refusal(event: &Event) -> bool {
    let has = |start: &str, why: &str| event.message.contains(start) && event.message.contains(why);
    let is_quoted = has("Pod \"", "\" is invalid: ") || has("pods \"", "\" is forbidden: ");
    event.reason == "FailedCreate" || event.type_ == "Warning" && is_quoted
}
