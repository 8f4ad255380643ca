//! Messages of other schedulers about a pod's group.

use super::Lineage;
use dra_model::{Cluster, Event, Owner, Pod, Str, Time, is_similar};

/// Groups of schedulers that place pods together: API group and kind.
const GROUPS: [(&str, &str); 2] = [
    ("scheduling.volcano.sh", "PodGroup"),
    ("scheduling.run.ai", "PodGroup"),
];

/// Annotations with the name of a pod's group, of Volcano and of KAI.
const GROUP_NAMES: [&str; 2] = ["scheduling.k8s.io/group-name", "pod-group-name"];

/// What another scheduler says of a group that it does not place.
#[derive(Clone, Copy, Debug)]
pub struct GroupWord<'c> {
    /// The message.
    pub message: &'c Str,
    /// The time, if known.
    pub at: Option<Time>,
    /// The event, if it is one and not a condition of the group.
    pub event: Option<&'c Event>,
}

/// What the scheduler of `pod`, which is not kube-scheduler, says is wrong with the group of the pod: a condition of the group, or else a
/// warning about it.
pub fn unplaced_group<'c>(cluster: &'c Cluster, pod: &Pod) -> Option<GroupWord<'c>> {
    let group = group_of(cluster, pod)?;
    let said = group
        .condition("Unschedulable", "True")
        .or_else(|| group.condition("UnschedulableOnNodePool", "True"))
        .or_else(|| group.condition("Scheduled", "False"));
    if let Some(said) = said {
        return Some(GroupWord {
            message: &said.message,
            at: said.last_transition_time,
            event: None,
        });
    }
    let mut events = cluster.events_of_owner(group).into_iter().rev();
    let event = events.find(|event| event.type_ == "Warning")?;
    Some(GroupWord {
        message: &event.message,
        at: event.last_seen(),
        event: Some(event),
    })
}

/// A queue that its scheduler takes no group from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShutQueue {
    /// Its name.
    pub name: Str,
    /// Its state; nothing for one that does not exist.
    pub state: Option<Str>,
    /// Queues with names like that of one that does not exist.
    pub alike: Vec<Str>,
}

/// The queue of the pod's group, if it does not exist, or is closed and the group was not let out of it before; nothing where no queues were read.
///
/// Mirrors `plugins/capacity/capacity.go`, `AddJobEnqueueableFn`, of Volcano, and `cluster_info/cluster_info.go`, `validatePodgroupQueue`, of KAI.
pub fn shut_queue(cluster: &Cluster, pod: &Pod) -> Option<ShutQueue> {
    let group = group_of(cluster, pod)?;
    let name = group.queue.as_ref()?;
    let owners = &cluster.environment().owners;
    let all: Vec<&Owner> = owners.of_kind(&group.group, "Queue", &Str::default()).collect();
    all.first()?;
    let state = match all.iter().find(|queue| queue.key.name == *name) {
        Some(queue) => {
            let is_closed = matches!(queue.state.as_str(), "Closed" | "Closing");
            let waits = matches!(group.state.as_str(), "" | "Pending");
            Some(queue.state.clone()).filter(|_| is_closed && waits)?.into()
        }
        None => None,
    };
    let names = all.iter().map(|queue| &queue.key.name);
    let is_like = |other: &&Str| {
        is_similar(name, other) || name.contains(other.as_str()) || other.contains(name.as_str())
    };
    Some(ShutQueue {
        name: name.clone(),
        alike: names
            .filter(is_like)
            .filter(|_| state.is_none())
            .cloned()
            .collect(),
        state,
    })
}

fn group_of<'c>(cluster: &'c Cluster, pod: &Pod) -> Option<&'c Owner> {
    let lineage = Lineage::of_pod(cluster, pod);
    let uids = lineage.uids_with(pod);
    let owners = &cluster.environment().owners;
    let namespace = &pod.metadata.namespace;
    let mut groups = GROUPS
        .iter()
        .flat_map(|(group, kind)| owners.of_kind(group, kind, namespace));
    let names = GROUP_NAMES.map(|annotation| pod.metadata.annotation(annotation));
    groups.find(|group| group.refers_to(&uids) || names.contains(&Some(&group.key.name)))
}
