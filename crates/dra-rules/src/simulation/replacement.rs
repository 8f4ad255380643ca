//! The pods that owners make in the place of others.

use std::sync::Arc;

use dra_model::{Meta, Pod, PodSpec, PodStatus, Str, Time};

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
