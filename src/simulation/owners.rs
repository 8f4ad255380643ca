//! How owners replace their pods, as far as a pod tells.

use std::sync::Arc;

use crate::model::{Meta, Pod, PodSpec, PodStatus, Str, Time};

/// What the owner of a pod does once the pod is evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub enum Replacing {
    /// It makes another pod at once: a ReplicaSet, a ReplicationController, a Job. Pods that are being deleted do not count for them.
    AtOnce,
    /// It makes a pod once the old one is gone: a StatefulSet, with the same name, and a DaemonSet, on the same node.
    OnceGone,
    /// The pod has no owner.
    Never,
    /// The pod has ended already, so it needs no replacement.
    Ended,
    /// The kind is not known here.
    Unknown,
}

impl Replacing {
    /// What happens to `pod` when it is evicted.
    pub fn of(pod: &Pod) -> Self {
        let Some(owner) = pod.metadata.controller() else {
            return Self::Never;
        };
        if pod.is_terminal() {
            return Self::Ended;
        }
        let group = owner.api_version.split_once('/').map_or("", |(group, _)| group);
        match (group, owner.kind.as_str()) {
            ("apps", "ReplicaSet") | ("", "ReplicationController") | ("batch", "Job") => Self::AtOnce,
            ("apps", "StatefulSet" | "DaemonSet") => Self::OnceGone,
            _ => Self::Unknown,
        }
    }
}

/// The pod that takes the place of `pod`: the same spec without a node. The name and UID are made up from `number`, except that a
/// StatefulSet keeps the name.
pub(super) fn replacement(pod: &Pod, number: usize, now: Time) -> Arc<Pod> {
    let keeps_name = pod
        .metadata
        .controller()
        .is_some_and(|owner| owner.kind == "StatefulSet");
    let name = if keeps_name {
        pod.metadata.name.clone()
    } else {
        let base = pod.metadata.generate_name().map_or_else(
            || {
                let owner = pod.metadata.controller().map(|owner| owner.name.as_str());
                format!("{}-", owner.unwrap_or_default())
            },
            str::to_owned,
        );
        format!("{base}sim-{number}").into()
    };
    Arc::new(Pod {
        metadata: Meta {
            namespace: pod.metadata.namespace.clone(),
            name,
            generate_name: pod.metadata.generate_name.clone(),
            uid: made_up_uid("pod", number),
            creation_timestamp: Some(now),
            labels: pod.metadata.labels.clone(),
            owner_references: pod.metadata.owner_references.clone(),
            ..Meta::default()
        },
        spec: PodSpec {
            node_name: None,
            ..pod.spec.clone()
        },
        status: PodStatus {
            phase: "Pending".into(),
            ..PodStatus::default()
        },
    })
}

/// A UID that no API server gives.
pub(super) fn made_up_uid(kind: &str, number: usize) -> Str {
    format!("simulated-{kind}-{number}").into()
}
