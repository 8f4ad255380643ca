//! What the containers of a pod tell: how far they have got, and how they ended.

use std::sync::Arc;

use super::{Stage, Stages, said};
use crate::scheduling::is_sidecar;
use dra_model::{
    Cluster, Container, ContainerEnd, ContainerStatus, ContainerWaiting, Event, Kind, Pod, Str, Time,
};

/// Seconds between the failure of a hook or probe and the end of its container, at most.
const HOOK_SECONDS: u64 = 60;

/// A container that ended within this time, and runs again, may not stay.
const RESTART_SECONDS: u64 = 3600;

/// Words for containers that wait as every container does at first.
const BEGINNING: [&str; 3] = ["", "ContainerCreating", "PodInitializing"];

/// A container that does not run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Waiting {
    /// Its name.
    pub container: Str,
    /// The kubelet's reason.
    pub reason: Str,
    /// What the kubelet says about that.
    pub message: Str,
    /// How it ended before, without the time.
    pub end: Option<ContainerEnd>,
    /// The failure of its hook or probe that made the kubelet end it, if that is known.
    pub ended_for: Option<Str>,
    /// The DaemonSet whose update has stopped at its pod.
    pub stops: Option<Str>,
}

/// A container that runs again.
pub struct Restarted<'c> {
    /// The container.
    pub status: &'c ContainerStatus,
    /// How it ended before.
    pub end: &'c ContainerEnd,
    /// The failure of its hook or probe that made the kubelet end it, if that is known.
    pub ended_for: Option<&'c Arc<Event>>,
}

impl Waiting {
    /// Returns why a container waits; nothing for one that does not, or that waits as every container does at first.
    pub(super) fn of(container: &ContainerStatus) -> Option<Self> {
        let waiting = container.state.waiting.as_ref()?;
        let says = !BEGINNING.contains(&waiting.reason.as_str());
        says.then(|| Self::for_reason(container, waiting))
    }

    pub(super) fn for_reason(container: &ContainerStatus, waiting: &ContainerWaiting) -> Self {
        let last = container.last_state.terminated.as_ref();
        Self {
            container: container.name.clone(),
            reason: waiting.reason.clone(),
            message: waiting.message.clone(),
            end: last.map(|end| ContainerEnd {
                finished_at: None,
                ..end.clone()
            }),
            ended_for: None,
            stops: None,
        }
    }
}

impl<'c> Stages<'c> {
    /// The containers of a pod that run, and ended less than an hour ago, with how they did.
    pub fn restarted(&self, pod: &'c Pod) -> impl Iterator<Item = Restarted<'c>> {
        let (cluster, now) = (self.cluster, self.now);
        let runs = |status: &ContainerStatus| {
            let state = &status.state;
            state.waiting.is_none() && state.terminated.is_none() && status.restart_count > 0
        };
        containers(pod).filter_map(move |status| {
            let end = status.last_state.terminated.as_ref().filter(|_| runs(status))?;
            let is_recent = now.since(end.finished_at?).as_secs() < RESTART_SECONDS;
            is_recent.then(|| Restarted {
                status,
                end,
                ended_for: why_ended(cluster, pod, &status.name, end),
            })
        })
    }
}

/// The last failure of a hook or probe that has made the kubelet end the container.
pub(super) fn why_ended<'c>(
    cluster: &'c Cluster,
    pod: &Pod,
    container: &Str,
    end: &ContainerEnd,
) -> Option<&'c Arc<Event>> {
    let events = cluster.events_of(Kind::Pod, &pod.metadata).into_iter();
    let of_end = events.filter(|event| {
        let is_its = event.container().is_none_or(|name| *container == name);
        // The kubelet reports it before it ends the container, which takes at most the grace period of most pods.
        let is_of_end = end.finished_at.zip(event.last_seen());
        let is_of_end = is_of_end.is_none_or(|(at, seen)| at.since(seen).as_secs() <= HOOK_SECONDS);
        let is_ending = event.reason == said::POST_START || said::is_of_restarting_probe(event);
        is_ending && is_its && is_of_end
    });
    of_end.max_by_key(|event| event.last_seen())
}

/// Returns whether the container runtime gives this reason for a container that it could not start.
pub fn is_start_error(reason: &str) -> bool {
    matches!(reason, "StartError" | "ContainerCannotRun")
}

/// Returns whether a container that waits for this reason has run, so that it has logs.
pub fn has_logs(reason: &str) -> bool {
    reason == "CrashLoopBackOff"
}

/// The containers that have something to tell.
pub(super) fn containers(pod: &Pod) -> impl Iterator<Item = &ContainerStatus> {
    let status = &pod.status;
    status
        .container_statuses
        .iter()
        .chain(status.init_container_statuses.iter())
}

/// Returns how far a pod that is on its node and is not to end has got.
pub(super) fn stage_of(pod: &Pod) -> Stage {
    let is_held_up = containers(pod)
        .any(|container| container.state.waiting.is_some() || end_before_restart(pod, container).is_some());
    if pod.status.phase == "Running" && (is_ready(pod) || !is_held_up) {
        return Stage::Running;
    }
    let has_begun = containers(pod).any(|container| {
        let waiting = container.state.waiting.as_ref();
        waiting.is_none_or(|waiting| !BEGINNING.contains(&waiting.reason.as_str()))
    });
    let has_sandbox = pod
        .condition("PodReadyToStartContainers")
        .is_some_and(|condition| condition.status == "True");
    match (has_begun, has_sandbox) {
        (true, _) => Stage::Starting,
        (false, true) => Stage::Prepared,
        (false, false) => Stage::Reserved,
    }
}

/// Returns whether the pod is ready.
pub fn is_ready(pod: &Pod) -> bool {
    pod.ready().is_some()
}

/// Returns whether no container of the pod runs any more, as far as its status tells: those that run tell nothing.
pub fn has_stopped(pod: &Pod) -> bool {
    let stopped = |name: &Str| {
        let mut own = pod.status.container_statuses.iter();
        own.any(|status| {
            status.name == *name && (status.state.terminated.is_some() || status.state.waiting.is_some())
        })
    };
    // One that was never started has no status.
    let never_began = pod.status.phase == "Pending" && pod.status.container_statuses.is_empty();
    never_began
        || pod
            .spec
            .containers
            .iter()
            .all(|container| stopped(&container.name))
}

/// Returns whether a container of the pod has run, or runs, as far as its status tells: those that run tell nothing, once others do.
pub fn has_run(pod: &Pod) -> bool {
    let is_told = |container: &Container| containers(pod).any(|status| status.name == container.name);
    let spec = &pod.spec;
    let mut all = spec.containers.iter().chain(&spec.init_containers);
    containers(pod).any(|status| status.state.waiting.is_none())
        || containers(pod).next().is_some() && !all.all(is_told)
}

/// Returns whether a container that ended so stays as it is.
fn is_final(policy: &str, end: &ContainerEnd) -> bool {
    match policy {
        "Never" => true,
        "OnFailure" => end.exit_code == 0,
        _ => false,
    }
}

/// Returns how a container ended that the kubelet starts again. Mirrors `kubelet/container/helpers.go`, `ShouldContainerBeRestarted`, v1.37.2.
pub(super) fn end_before_restart<'c>(pod: &Pod, status: &'c ContainerStatus) -> Option<&'c ContainerEnd> {
    let end = status.state.terminated.as_ref()?;
    let of_pod = &pod.spec.restart_policy;
    let mut first = pod.spec.init_containers.iter();
    let is_over = if let Some(first) = first.find(|container| container.name == status.name) {
        match &first.restart_policy {
            Some(policy) => is_final(policy, end),
            None => end.exit_code == 0 || is_final(of_pod, end),
        }
    } else {
        let mut own = pod.spec.containers.iter();
        let own = own.find(|container| container.name == status.name);
        let policy = own.and_then(|container| container.restart_policy.as_ref());
        is_final(policy.unwrap_or(of_pod), end)
    };
    (!is_over).then_some(end)
}

/// Returns whether the containers of a pod that was not deleted have terminated permanently. The kubelet has drivers
/// unprepare the devices before it reports the end, and until then the pod has the phase that it had. Mirrors
/// `kubelet.go`, `SyncTerminatingPod`, v1.37.2.
pub(super) fn has_completed(pod: &Pod) -> bool {
    let of_pod = &pod.spec.restart_policy;
    let end_of = |container: &Container| {
        let mut own = containers(pod).filter(|status| status.name == container.name);
        own.find_map(|status| status.state.terminated.as_ref())
    };
    let rest_is_over = pod
        .spec
        .init_containers
        .iter()
        .filter(|container| is_sidecar(container))
        .all(|sidecar| {
            let mut own = containers(pod).filter(|status| status.name == sidecar.name);
            own.any(|status| status.state.terminated.is_some() || status.state.waiting.is_some())
        });
    // One that fails before the others is the end of the pod too.
    let has_failed_before = || {
        let mut first = pod
            .spec
            .init_containers
            .iter()
            .filter(|container| !is_sidecar(container));
        *of_pod == "Never" && first.any(|container| end_of(container).is_some_and(|end| end.exit_code != 0))
    };
    let mut own = pod.spec.containers.iter();
    let all_ended = !pod.spec.containers.is_empty()
        && own.all(|container| {
            let policy = container.restart_policy.as_ref().unwrap_or(of_pod);
            end_of(container).is_some_and(|end| is_final(policy, end))
        });
    rest_is_over && (all_ended || has_failed_before())
}

/// Returns the container that ended last of those that are not started again, and how, with the others that a pod waits for, if there are
/// such: sidecars end with the pod.
pub(super) fn outlasted(pod: &Pod) -> Option<(&Str, &ContainerEnd, Vec<&Str>)> {
    let end_of = |container: &Container| {
        let mut own = pod.status.container_statuses.iter();
        let status = own.find(|status| status.name == container.name)?;
        let end = status.state.terminated.as_ref()?;
        end_before_restart(pod, status).is_none().then_some(end)
    };
    let all = pod.spec.containers.iter();
    let ended = all
        .clone()
        .filter_map(|container| Some((&container.name, end_of(container)?)));
    let (container, end) = ended.max_by_key(|(_, end)| end.finished_at)?;
    let others: Vec<&Str> = all
        .filter(|container| end_of(container).is_none())
        .map(|container| &container.name)
        .collect();
    (!others.is_empty()).then_some((container, end, others))
}

/// Returns when the last container ended.
pub fn last_end(pod: &Pod) -> Option<Time> {
    let ends = containers(pod).filter_map(|container| container.state.terminated.as_ref()?.finished_at);
    ends.max()
}
