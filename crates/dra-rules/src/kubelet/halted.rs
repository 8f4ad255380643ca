//! Containers that do not run, and the causes.

use std::sync::Arc;

use super::cause::{Cause, Evidence};
use super::container::{Waiting, end_before_restart, has_logs, is_ready, is_start_error, why_ended};
use super::said::unreachable_registry;
use super::{Stages, Stuck, said};
use dra_model::{ContainerEnd, ContainerStatus, ContainerWaiting, Pod, Str};

/// What the versions of container runtimes begin with that may not give containers their CDI devices: containerd has CDI off by default
/// before 2.0, and cri-dockerd, between the kubelet and Docker, leaves these devices out before Mirantis/cri-dockerd#522. Nodes have the
/// version of Docker alone.
const WITHOUT_CDI: [&str; 2] = ["containerd://1.", "docker://"];

/// What containers miss that have no devices: libraries, programs and files that come with them.
const OF_DEVICES: [&str; 7] = [
    "NVIDIA driver",
    "CUDA-capable device",
    "libcuda.so",
    "libnvidia-ml.so",
    "nvidia-smi",
    "/dev/dri",
    "/dev/kfd",
];

impl<'c> Stages<'c> {
    /// Returns why a container does not run, where the kubelet has ended it for its hook or its probe. Mirrors `kuberuntime/kuberuntime_container.go`,
    /// `startContainer`, v1.37.2.
    pub(super) fn ended_by_kubelet(&self, pod: &Pod, halted: Stuck<'c>) -> Stuck<'c> {
        let Cause::ContainerEnds(container, Some(end)) = &halted.cause else {
            return halted;
        };
        match why_ended(self.cluster, pod, container, end) {
            Some(event) if event.reason == said::POST_START => {
                let waiting = ContainerWaiting {
                    reason: "PostStartHookError".into(),
                    message: event.message.clone(),
                };
                Stuck::told(Cause::ContainerNotStarted(container.clone(), waiting), event)
            }
            Some(event) => {
                let cause = Cause::ProbeFails {
                    container: Some(container.clone()),
                    text: event.message.to_string(),
                };
                Stuck::told(cause, event)
            }
            None => halted,
        }
    }

    /// Returns why a container does not run, where the container runtime of the node may do without CDI, which gives containers the devices
    /// that drivers prepare (`internal/cri/config`, `EnableCDI`, of containerd). What shows it is that a pod of the same owner runs
    /// elsewhere, or that the container misses what comes with devices; that a pod with devices runs on the node shows the opposite.
    pub(super) fn not_injected(&self, pod: &Pod, node: &Str, halted: Stuck<'c>) -> Stuck<'c> {
        let (container, text) = match &halted.cause {
            Cause::ContainerEnds(container, Some(end)) if end.exit_code != 0 => (container, &end.message),
            Cause::ContainerNotStarted(container, waiting) if is_start_error(&waiting.reason) => {
                (container, &waiting.message)
            }
            _ => return halted,
        };
        let runtime_of = |node: &Str| {
            Some(
                &self
                    .cluster
                    .node(node)?
                    .status
                    .node_info
                    .container_runtime_version,
            )
        };
        let is_old = |runtime: &&Str| WITHOUT_CDI.iter().any(|old| runtime.starts_with(old));
        let Some(runtime) = runtime_of(node).filter(is_old) else {
            return halted;
        };
        let runs = |other: &&Arc<Pod>| is_ready(other) && self.claims(other).next().is_some();
        let mut here = self.cluster.pods_of_node(node);
        if self.claims(pod).next().is_none() || here.any(|other| runs(&other)) {
            return halted;
        }
        let mut siblings = self
            .cluster
            .pods()
            .filter(|other| other.metadata.is_sibling(&pod.metadata) && runs(other));
        let elsewhere = siblings.find_map(|other| {
            let other_runtime = runtime_of(other.node()?).filter(|runtime| !is_old(runtime))?;
            Some((other.key(), other_runtime.clone()))
        });
        if elsewhere.is_none() && !OF_DEVICES.iter().any(|part| text.contains(part)) {
            return halted;
        }
        let cause = Cause::NotInjected {
            container: container.clone(),
            text: text.to_string(),
            runtime: runtime.clone(),
            elsewhere,
        };
        Stuck { cause, ..halted }
    }
}

/// Returns why a container does not run that is to run.
pub(super) fn halted<'c>(pod: &Pod, container: &'c ContainerStatus) -> Option<Stuck<'c>> {
    let name = &container.name;
    // The container runtime could not start it.
    let not_started = |end: &ContainerEnd| {
        let waiting = ContainerWaiting {
            reason: end.reason.clone(),
            message: end.message.clone(),
        };
        is_start_error(&end.reason).then(|| Cause::ContainerNotStarted(name.clone(), waiting))
    };
    let ends = |end: Option<&ContainerEnd>| Cause::ContainerEnds(name.clone(), end.cloned());
    let Some(waiting) = &container.state.waiting else {
        let end = end_before_restart(pod, container)?;
        let cause = not_started(end).unwrap_or_else(|| ends(Some(end)));
        return Some(Stuck::new(cause, end.finished_at, Evidence::Ended(name)));
    };
    let evidence = Evidence::Waiting(Waiting::of(container)?);
    let last = container.last_state.terminated.as_ref();
    let cause = if has_logs(&waiting.reason) {
        last.and_then(not_started).unwrap_or_else(|| ends(last))
    } else if said::is_unanswered(&waiting.message) {
        Cause::RuntimeDown {
            text: waiting.message.to_string(),
        }
    } else if let Some(volume) = image_volume(pod, &waiting.message) {
        Cause::ImageVolumeNotPulled {
            volume: volume.clone(),
            text: waiting.message.clone(),
        }
    } else {
        Cause::ContainerNotStarted(name.clone(), ContainerWaiting::clone(waiting))
    };
    Some(Stuck::new(cause, None, evidence))
}

/// The volume of the pod whose image a text names, unless its registry does not answer, which concerns more than that. The kubelet reports it for each
/// container (`kuberuntime/kuberuntime_manager.go`, `getImageVolumes`, v1.37.2).
fn image_volume<'p>(pod: &'p Pod, text: &str) -> Option<&'p Str> {
    let mut images = pod.spec.volumes.images.iter();
    let (volume, _) = images.find(|(_, image)| text.contains(&format!("\"{image}\"")))?;
    unreachable_registry(text).is_none().then_some(volume)
}
