//! Device handling of a node's kubelet, as far as the API shows it.
//!
//! The kubelet reports its state only through the pod's status and events. So a stage is read off the containers and
//! conditions, and a cause is named only where something shows it: the objects, which contradict what the kubelet
//! needs, or the kubelet's own newest word, which `said` recognizes. What nothing shows is unknown, with what could not
//! be seen.

mod cause;
mod drivers;
mod ending;
mod heartbeat;
mod plugin;
mod problems;
mod publishing;
mod reach;
mod running;
mod said;

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use strum::{Display, IntoStaticStr};

use self::ending::{end_before_restart, has_completed};
use self::said::Said;
use crate::owners::{gathered_with, gathering, incomplete, too_few_pods, unready};
use crate::reservation::{ClaimName, PodGroups, claim_names, is_reserved_for, owning_group};
use crate::scheduling::{DeviceBinding, binding_timed_out, is_sidecar, skips};
use dra_allocator::devices::Taints;
use dra_model::{
    AllocatedDevice, AttributeValue, Claim, Cluster, Component, Container, ContainerEnd, ContainerStatus,
    ContainerWaiting, DeviceId, Event, Gap, Gate, Key, Kind, Node, Owner, Pod, PoolId, Str, Time, Version,
};

pub use cause::{Attaching, Cause, Due, Evidence, Party, lacks_network, refuses_host_network};
use drivers::Drivers;
pub use drivers::{
    Failure, KeptOff, MIG_STATE, PUBLISHING_SECONDS, Plugin, Unplaced, controllers,
    crashing_cloud_controllers, crashing_daemons, daemon_set_of, down_controllers, is_being_published,
    is_called_like, is_called_plugin, is_over, is_pod_of, is_ready, kept_off, republishing, unscheduled,
};
pub use ending::{has_run, has_stopped, last_end};
pub use heartbeat::{Heartbeat, ailment, without_network};
use heartbeat::{is_of_runtime, why_not_ready};
pub use plugin::{offered_by_plugin, users_of_plugin};
pub use problems::{Problem, Problems, problems, rests_on};
use publishing::untolerated;
pub use publishing::{BrokenLink, Maker, Refused, fewer_than_alike, known_drivers};
pub use reach::{nodes_of_devices, nodes_of_slice, publishes_for};
pub use said::{Unread, has_word, injects_own, unreachable_registry};

/// Progress of a pod's devices on its node.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema, IntoStaticStr, Display,
)]
pub enum Stage {
    /// The claims are reserved for it, and nothing shows that the kubelet has had them prepared.
    Reserved,
    /// The devices are prepared, and no container has been made yet.
    Prepared,
    /// Containers are being made or started.
    Starting,
    /// Its containers run.
    Running,
    /// It is to end: containers stop, then drivers take the devices back.
    Unpreparing,
    /// It has ended.
    Gone,
    /// Unknown, because something could not be read or seen.
    Unknown,
}

/// A pod that waits without a word for this long is worth a question. The kubelet tries again every minute or two at most.
const SILENT_SECONDS: u64 = 300;

/// The label with the UID of the ComputeDomain that a node is in. It is set by `cmd/compute-domain-kubelet-plugin/computedomain.go`, `AddNodeLabel`, of NVIDIA's
/// driver, which refuses a node that has another one's.
pub const DOMAIN_LABEL: &str = "resource.nvidia.com/computeDomain";

/// Time that the kubelet needs to mount the volumes of a pod.
const MOUNTING_SECONDS: u64 = 60;

/// Seconds within which the kubelet reports again that it changes the group of files: every minute, and the limit for its events lets at least each fifth through.
const OWNERSHIP_SECONDS: u64 = 600;

/// The init container that waits until the pods with devices of the node are gone.
const DRIVER_MANAGER: &str = "k8s-driver-manager";

/// So many words of a pod's name in a text are not there by chance.
const NAMING_WORDS: usize = 3;

/// A container that ended within this time, and runs again, may not stay.
const RESTART_SECONDS: u64 = 3600;

/// Time that the device taint eviction controller needs to delete a pod.
const EVICTING: Duration = Duration::from_secs(60);

/// Time that a driver's pod needs to become ready, and then to publish.
pub const STARTING_SECONDS: u64 = 300;

/// Time that a driver's pod and the kubelet need to find each other, and the kubelet to try again.
const REGISTERING_SECONDS: u64 = 120;

/// Time beyond its grace period after which a pod counts as stuck.
pub const ENDING_SECONDS: u64 = 60;

/// Returns whether the node is known not to exist. Where there is none at all, nodes were hardly read. Mirrors
/// `pkg/controller/podgc/gc_controller.go`, `gcOrphaned`, v1.37.2, which deletes the pods of such nodes.
pub fn node_is_gone(cluster: &Cluster, node: &Str) -> bool {
    cluster.node(node).is_none() && cluster.gap(Kind::Node, "").is_none() && cluster.nodes().next().is_some()
}

/// Operations that a driver tells the kubelet to skip. Mirrors `api/resource/v1/types.go`, `SkipNodeOperation`,
/// v1.37.2.
const NO_UNPREPARE: [&str; 2] = ["NodeUnprepareResources", "*"];

/// Returns whether the kubelet asks the driver to take the device back.
pub fn needs_unprepare(result: &AllocatedDevice) -> bool {
    let mut skipped = result.skip_node_operations.iter();
    !skipped.any(|operation| NO_UNPREPARE.contains(&operation.as_str()))
}

/// Reason that keeps a pod at its stage.
#[derive(Clone, Debug)]
pub struct Stuck<'c> {
    /// Cause.
    pub cause: Cause,
    /// Since when, as far as it shows.
    pub since: Option<Time>,
    /// Evidence.
    pub evidence: Vec<Evidence<'c>>,
}

impl<'c> Stuck<'c> {
    fn new(cause: Cause, since: Option<Time>, evidence: Evidence<'c>) -> Self {
        Self {
            cause,
            since,
            evidence: vec![evidence],
        }
    }

    /// Returns what the kubelet told in an event.
    fn told(cause: Cause, event: &'c Event) -> Self {
        Self::new(cause, event.first_seen(), Evidence::Event(event))
    }

    /// Returns how often the kubelet has told it.
    pub fn times(&self) -> i32 {
        let events = self.evidence.iter().filter_map(|evidence| match evidence {
            Evidence::Event(event) => Some(event.times()),
            _ => None,
        });
        events.max().unwrap_or(1)
    }
}

/// The stage of a pod.
#[derive(Clone, Debug)]
pub struct PodStage<'c> {
    /// The pod.
    pub pod: &'c Arc<Pod>,
    /// Stage.
    pub stage: Stage,
    /// Blocker, or danger while it runs.
    pub stuck: Option<Stuck<'c>>,
    /// That it waits for its containers to end.
    pub waits: Option<Waits>,
    /// Missing data.
    pub unknown: Vec<Unknown<'c>>,
}

impl PodStage<'_> {
    /// Returns whether something blocks the pod. A failed pod has terminated, unless the kubelet rejected it: its
    /// replacement would meet the same, unless it runs.
    pub fn is_stuck(&self) -> bool {
        let Some(stuck) = &self.stuck else { return false };
        match &stuck.cause {
            Cause::PodFailed {
                reason, is_replaced, ..
            } => is_refusal(reason) && !is_replaced,
            _ => stuck.cause.holds_up(),
        }
    }
}

/// Reasons of pods that the kubelet refused, beside those that begin with `OutOf`: filters of the scheduler that it runs again, and resources
/// that it cannot align. Those of a node that shuts down are left out, since another pod may be let in.
const REFUSALS: [&str; 11] = [
    "InvalidNodeInfo",
    "NodeAffinity",
    "NodeName",
    "NodePorts",
    "PodOSNotSupported",
    "PodOSSelectorNodeLabelDoesNotMatch",
    OF_CORES,
    "SysctlForbidden",
    "TaintToleration",
    "TopologyAffinityError",
    "UnexpectedAdmissionError",
];

/// Returns whether this is the reason of a pod that the kubelet refused for what would keep out its replacement, too. Mirrors
/// `kubelet/lifecycle/predicate.go`, `Admit`, and the other `PodAdmitHandler`s, v1.37.2.
pub fn is_refusal(reason: &str) -> bool {
    reason.starts_with("OutOf") || REFUSALS.contains(&reason)
}

/// The reason of pods that request parts of cores where the kubelet allocates whole ones (`kubelet/cm/cpumanager/policy_static.go`,
/// `ErrorSMTAlignment`, v1.37.2).
pub const OF_CORES: &str = "SMTAlignmentError";

/// Returns whether this is the reason of a pod whose resources the kubelet cannot align: a pod like it meets the same on every such node.
pub fn is_of_alignment(reason: &str) -> bool {
    reason == OF_CORES || reason == "TopologyAffinityError"
}

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
    fn of(container: &ContainerStatus) -> Option<Self> {
        let waiting = container.state.waiting.as_ref()?;
        let says = !BEGINNING.contains(&waiting.reason.as_str());
        says.then(|| Self::for_reason(container, waiting))
    }

    fn for_reason(container: &ContainerStatus, waiting: &ContainerWaiting) -> Self {
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
        }
    }
}

/// A pod that is to end waits for its containers, and no more is known of that.
#[derive(Clone, Copy, Debug)]
pub struct Waits {
    /// True if its node is ready.
    pub node_is_ready: bool,
}

/// Work of a pod that is starting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doing {
    /// This init container runs, of a pod that was started then.
    Initializing(Str, Option<Time>),
    /// An image is pulled, in the kubelet's words, since then.
    Pulling(Str, Option<Time>),
    /// The kubelet fails to start it, in its words, so often, last then.
    Failing(Str, i32, Option<Time>),
}

/// Missing data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown<'c> {
    /// Objects that were not read.
    Gap(&'c Gap),
    /// Pods of other namespaces that may belong to a driver and were not read.
    OtherNamespaces,
    /// The reason why the kubelet says, in these words, that the pod may not use a claim: the claim is reserved for it.
    NotAllowed(&'c str),
    /// The reason why the containers of the pod are not made: no event of the kubelet is left.
    NoEvents,
    /// The same, and the kubelet has said nothing, as others have.
    Silent,
}

/// The stages of pods. What concerns all of them is made once, by the first that needs it.
pub struct Stages<'c> {
    cluster: &'c Cluster,
    now: Time,
    reads_all: bool,
    drivers: OnceCell<Drivers<'c>>,
    published: RefCell<HashMap<PoolId, HashSet<Str>>>,
    /// Drivers, and whether they publish devices in use.
    shown: RefCell<HashMap<Str, bool>>,
    claims: OnceCell<HashSet<&'c Str>>,
    taints: OnceCell<Taints<'c>>,
    /// Service accounts, and whether they may not create slices.
    refused: RefCell<BTreeMap<Key, bool>>,
    /// The types of the machines that drivers publish devices for.
    served: RefCell<BTreeMap<Str, BTreeSet<&'c Str>>>,
}

impl<'c> Stages<'c> {
    /// Those of `cluster` at the time `now`.
    pub fn of(cluster: &'c Cluster, now: Time) -> Self {
        Self {
            cluster,
            now,
            reads_all: true,
            drivers: OnceCell::new(),
            published: RefCell::default(),
            shown: RefCell::default(),
            claims: OnceCell::new(),
            taints: OnceCell::new(),
            refused: RefCell::new(BTreeMap::new()),
            served: RefCell::new(BTreeMap::new()),
        }
    }

    /// The same, where only pods of one namespace were read: nothing is said of pods that are not there.
    pub fn of_part(cluster: &'c Cluster, now: Time) -> Self {
        Self {
            reads_all: false,
            ..Self::of(cluster, now)
        }
    }

    /// Returns what they are the stages of.
    pub fn cluster(&self) -> &'c Cluster {
        self.cluster
    }

    /// Every pod that has devices, or is to have them on its node, in order.
    pub fn all(&self) -> impl Iterator<Item = PodStage<'c>> {
        self.cluster.pods().filter_map(|pod| self.pod(pod))
    }

    /// Pods that may be drivers'.
    fn drivers(&self) -> &Drivers<'c> {
        self.drivers
            .get_or_init(|| Drivers::of(self.cluster, self.reads_all))
    }

    /// Returns how the pod of `driver` on `node` is doing.
    pub fn plugin(&self, driver: &str, node: &Str) -> Plugin {
        match self.drivers().plugin(self.cluster, driver, node) {
            Plugin::NotReady(pod) if let Some(since) = self.starting_since(&pod) => {
                Plugin::Starting(pod, since)
            }
            plugin => plugin,
        }
    }

    /// The time at which a pod was created that is not ready, if that was just now and no container of it has ended.
    fn starting_since(&self, pod: &Key) -> Option<Time> {
        let pod = self.cluster.pod(pod)?;
        let since = pod.metadata.creation_timestamp;
        let is_first = containers(pod).all(|container| container.restart_count == 0);
        since.filter(|_| is_first && !self.lasts(since))
    }

    /// The pod that the state of a driver is about.
    pub fn pod_of(&self, plugin: &Plugin) -> Option<&'c Arc<Pod>> {
        self.cluster.pod(plugin.pod()?)
    }

    /// The stage of the pod; nothing for one that has no claims, or that the scheduler has yet to give its devices.
    pub fn pod(&self, pod: &'c Arc<Pod>) -> Option<PodStage<'c>> {
        let has_claims =
            !pod.spec.resource_claims.is_empty() || pod.status.extended_resource_claim_status.is_some();
        has_claims.then(|| self.of_any(pod)).flatten()
    }

    /// What keeps a pod on a node, which may have no claims, from running.
    pub fn stuck(&self, pod: &'c Arc<Pod>) -> Option<PodStage<'c>> {
        let found = self.of_any(pod).filter(|_| pod.node().is_some());
        found.filter(PodStage::is_stuck)
    }

    /// What a pod that is starting does, as far as the kubelet says.
    pub fn doing(&self, pod: &Pod) -> Option<Doing> {
        let mut statuses = pod.status.container_statuses.iter();
        let waiting = |status: &ContainerStatus| status.state.waiting.clone();
        let is_initializing =
            statuses.any(|status| waiting(status).is_some_and(|waiting| waiting.reason == "PodInitializing"));
        // Of one that runs there is no status.
        let runs = |container: &&Container| {
            let mut all = pod.status.init_container_statuses.iter();
            let is_told = |status: &ContainerStatus| {
                status.name == container.name
                    && (status.state.waiting.is_some() || status.state.terminated.is_some())
            };
            !is_sidecar(container) && !all.any(is_told)
        };
        let running = pod.spec.init_containers.iter().find(runs);
        if let Some(running) = running.filter(|_| is_initializing) {
            return Some(Doing::Initializing(running.name.clone(), pod.status.start_time));
        }
        let events = self.cluster.events_of(Kind::Pod, &pod.metadata).into_iter();
        let pulls = events.filter(|event| matches!(event.reason.as_str(), "Pulling" | "Pulled"));
        let last = pulls.max_by_key(|event| (event.last_seen(), event.reason == "Pulled"))?;
        (last.reason == "Pulling").then(|| Doing::Pulling(last.message.clone(), last.last_seen()))
    }

    /// What the kubelet fails at before it starts a container of the pod.
    fn failing(&self, pod: &Pod) -> Option<Doing> {
        match self.newest(pod)? {
            (event, Some(Said::NoSandbox { .. } | Said::NoNetwork { .. } | Said::NotMounted { .. })) => Some(
                Doing::Failing(event.message.clone(), event.times(), event.last_seen()),
            ),
            _ => None,
        }
    }

    /// The pod on the node of `pod` that a driver says in `text` it waits for, as far as the first words of its name are words of that, and what
    /// keeps it: drivers run daemons for claims. The names of the claims begin with that of the pod.
    pub fn awaited(&self, pod: &Pod, text: &str) -> Option<PodStage<'c>> {
        let apart = |character: char| !character.is_ascii_alphanumeric();
        let claims = self.claims(pod).map(|claim| claim.metadata.name.as_str());
        let own = claims.chain([pod.metadata.name.as_str()]);
        let said = own
            .fold(text.to_ascii_lowercase(), |said, name| said.replace(name, ""))
            .replace(apart, "-");
        let is_named = |other: &&Arc<Pod>| {
            let words: Vec<&str> = other.metadata.name.split('-').take(NAMING_WORDS).collect();
            words.len() == NAMING_WORDS && said.contains(&format!("-{}-", words.join("-")))
        };
        let others = self.cluster.pods().filter(|other| other.node() == pod.node());
        others.filter(is_named).find_map(|other| self.stuck(other))
    }

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

    fn of_any(&self, pod: &'c Arc<Pod>) -> Option<PodStage<'c>> {
        let mut found = PodStage {
            pod,
            stage: Stage::Unknown,
            stuck: None,
            waits: None,
            unknown: Vec::new(),
        };
        if pod.is_terminal() {
            found.stage = Stage::Gone;
            let kept = self.kept_by_finalizers(pod).or_else(|| self.not_removed(pod));
            found.stuck = kept.or_else(|| self.failed(pod));
            return Some(found);
        }
        let Some(node) = pod.node() else {
            if pod.metadata.is_deleting() {
                // No scheduler gives it a node any more.
                found.stage = Stage::Gone;
                found.stuck = Some(self.kept_by_finalizers(pod)?);
                return Some(found);
            }
            return self.attaching(found);
        };
        if self.reads_all && node_is_gone(self.cluster, node) {
            if pod.metadata.is_deleting() {
                found.stage = Stage::Unpreparing;
            }
            found.stuck = Some(Stuck {
                cause: Cause::NodeGone { node: node.clone() },
                since: None,
                evidence: Vec::new(),
            });
            return Some(found);
        }
        if let Some(since) = pod.metadata.deletion_timestamp {
            found.stage = Stage::Unpreparing;
            self.ends(&mut found, node, since, Evidence::ToEnd(since));
        } else if has_completed(pod) {
            found.stage = Stage::Unpreparing;
            if let Some(since) = last_end(pod) {
                self.ends(&mut found, node, since, Evidence::LastContainerEnded(since));
            }
        } else {
            self.starts(&mut found, node);
        }
        Some(found)
    }

    /// A pod without a node whose claims are reserved for it waits for its devices to be attached.
    fn attaching(&self, mut found: PodStage<'c>) -> Option<PodStage<'c>> {
        let pod = found.pod;
        let claims: Vec<&Arc<Claim>> = claim_names(pod)
            .filter_map(|name| name.find(self.cluster))
            .collect();
        let is_reserved = |claim: &&Arc<Claim>| is_reserved_for(pod, claim, PodGroups::Accepted);
        if claims.is_empty() || !claims.iter().all(is_reserved) {
            return None;
        }
        found.stage = Stage::Reserved;
        found.stuck = claims.iter().find_map(|claim| self.binding(claim));
        Some(found)
    }

    fn binding(&self, claim: &'c Claim) -> Option<Stuck<'c>> {
        let since = claim.status.allocation.as_ref()?.allocation_timestamp;
        claim.results().iter().find_map(|result| {
            let DeviceBinding { failed, missing } = DeviceBinding::of(claim, result);
            let stuck = |attaching, since, evidence| {
                let device = result.id();
                Some(Stuck::new(Cause::Binding { device, attaching }, since, evidence))
            };
            if let Some(failed) = failed {
                let since = failed.last_transition_time.or(since);
                return stuck(
                    Attaching::Failed(failed.clone()),
                    since,
                    Evidence::BindingFailed(claim, failed),
                );
            }
            if missing.is_empty() {
                return None;
            }
            let missing = missing.into_iter().cloned().collect();
            let attaching = if binding_timed_out(claim, self.now) || binding_timeouts(self.cluster, claim) > 0
            {
                Attaching::TimedOut(missing)
            } else {
                Attaching::Pending(missing)
            };
            stuck(attaching, since, Evidence::BindingMissing(claim))
        })
    }

    /// Returns what the node of a pod says of its kubelet.
    fn heartbeat(&self, node: &Str) -> Heartbeat {
        let node: Option<&Arc<Node>> = self.cluster.node(node);
        node.map_or(Heartbeat::Ready, |node| Heartbeat::of(node))
    }

    /// Returns whether the node shows that the kubelet has reported since then.
    fn has_reported(&self, node: &Str, since: Time) -> bool {
        let node: Option<&Arc<Node>> = self.cluster.node(node);
        let reported = node.and_then(|node| heartbeat::reported(node));
        reported.is_some_and(|reported| reported >= since)
    }

    /// A pod that is on its node and is not to end.
    fn starts(&self, found: &mut PodStage<'c>, node: &Str) {
        let pod = found.pod;
        found.stage = stage_of(pod);
        let problems = problems(self.cluster, pod);
        if let Some(problem) = problems.found.into_iter().next() {
            let evidence = Evidence::Problem(problem.clone());
            let since = pod.status.start_time;
            found.stuck = Some(Stuck::new(Cause::Claim(problem), since, evidence));
            return;
        }
        if let Some(gap) = problems.hidden {
            found.unknown.push(Unknown::Gap(gap));
        }
        if found.stage == Stage::Running {
            found.stuck = self.endangered(pod, node);
            return;
        }
        if let Some(stuck) = self.unresolvable(pod, node) {
            found.stuck = Some(stuck);
            return;
        }
        if let Some(gap) = self.cluster.gap(Kind::Event, &pod.metadata.namespace) {
            found.unknown.push(Unknown::Gap(gap));
        }
        let newest = self.newest(pod);
        let halted = || {
            let halted = containers(pod).find_map(|container| halted(pod, container))?;
            let halted = self.ended_by_kubelet(pod, halted);
            Some(self.not_injected(pod, node, halted))
        };
        // A container that does not run says more than the probe of another.
        let is_told = |said: &Said<'_>| matches!(said, Said::Unhealthy { .. }) && halted().is_some();
        if let Some((event, said)) = &newest
            && let Some(said) = said
            && !is_told(said)
        {
            found.stuck = self.judge(pod, node, event, said);
            // A kubelet that reads the same claim again and again would have got it by now.
            if found.stuck.is_none()
                && matches!(said, Said::NotAllowed { .. })
                && event
                    .first_seen()
                    .is_some_and(|first| self.now.since(first).as_secs() >= SILENT_SECONDS)
            {
                found.unknown.push(Unknown::NotAllowed(&event.message));
            }
            if found.stuck.is_some() {
                found.stage = match event.reason.as_str() {
                    said::PREPARE => Stage::Reserved,
                    said::SANDBOX => Stage::Prepared,
                    _ => found.stage,
                };
                return;
            }
        }
        found.stuck = halted().or_else(|| self.not_ready(node));
        if found.stuck.is_some() {
            return;
        }
        let since = pod.status.start_time.or(pod.metadata.creation_timestamp);
        let is_late = since.is_some_and(|since| self.now.since(since).as_secs() >= SILENT_SECONDS);
        // Without a word of the kubelet, what is known to keep the driver from preparing anything is the reason.
        if found.stage == Stage::Reserved
            && is_late
            && let Some(cause) = self.nodes_missing(pod)
        {
            found.stuck = Some(Stuck {
                cause,
                since,
                evidence: Vec::new(),
            });
            return;
        }
        if found.stage == Stage::Reserved && is_late && newest.is_none() && found.unknown.is_empty() {
            let events = self.cluster.events_of(Kind::Pod, &pod.metadata);
            let is_told = events
                .into_iter()
                .any(|event| event.involved_object.uid == pod.metadata.uid);
            found.unknown.push(if is_told {
                Unknown::Silent
            } else {
                Unknown::NoEvents
            });
        }
        if found.stage == Stage::Reserved && !found.unknown.is_empty() {
            found.stage = Stage::Unknown;
        }
    }

    /// The newest event of the kubelet about how it starts this very pod, with what it says of devices: nothing where it has got further.
    fn newest(&self, pod: &Pod) -> Option<(&'c Arc<Event>, Option<Said<'c>>)> {
        let events = self.cluster.events_of(Kind::Pod, &pod.metadata);
        let attached = events
            .iter()
            .filter(|event| event.reason == "SuccessfulAttachVolume");
        let attached = attached.filter_map(|event| event.last_seen()).max();
        let allocated = self
            .claims(pod)
            .filter_map(|claim| claim.status.allocation.as_ref()?.allocation_timestamp)
            .max();
        let of_start = events.into_iter().filter_map(|event| {
            let is_of_start = event.component() == "kubelet" || event.reason == said::ATTACH;
            if !is_of_start || event.involved_object.uid != pod.metadata.uid {
                return None;
            }
            let seen = event.last_seen();
            if seen
                .zip(allocated)
                .is_some_and(|(seen, allocated)| seen < allocated)
            {
                return None;
            }
            let said = Said::of_event(event);
            let is_progress = matches!(
                event.reason.as_str(),
                "Pulling" | "Pulled" | "Created" | "Started" | "BackOff" | "Failed"
            );
            (said.is_some() || is_progress).then_some((seen, said::step(&event.reason), event, said))
        });
        let mut of_start: Vec<_> = of_start.collect();
        of_start.sort_by_key(|(seen, step, ..)| (*seen, *step));
        let (_, _, event, said) = of_start.pop()?;
        // The kubelet only times out where a volume is not attached: the controller says why.
        if event.reason == said::MOUNT
            && let Some((_, _, attach, why)) = of_start
                .into_iter()
                .rfind(|(seen, _, event, _)| event.reason == said::ATTACH && *seen > attached)
        {
            return Some((attach, why));
        }
        Some((event, said))
    }

    /// Returns what the kubelet's word means, unless the objects show that it is over.
    fn judge(&self, pod: &'c Arc<Pod>, node: &Str, event: &'c Event, said: &Said<'_>) -> Option<Stuck<'c>> {
        let namespace = &pod.metadata.namespace;
        let age = event.first_seen().map(|first| self.now.since(first).as_secs());
        let lasts = age.is_some_and(|age| age >= SILENT_SECONDS);
        let is_new = age.is_some_and(|age| age < MOUNTING_SECONDS);
        let cause = match said {
            Said::NotRegistered { driver } => {
                let driver = Str::from(*driver);
                let plugin = self.plugin(&driver, node);
                Cause::DriverNotRegistered { driver, plugin }
            }
            Said::Refused { claim, text } => {
                let (claim, text) = (Str::from(*claim), (*text).to_owned());
                let named = said::claims_named(&text);
                let gone = named.iter().find(|uid| self.is_gone(uid)).copied();
                let other = || named.iter().find_map(|uid| self.prepared(pod, node, uid));
                if let Some(uid) = gone.map(Str::from) {
                    Cause::PreparedForDeletedClaim {
                        claim,
                        uid,
                        survivor: self.survivor(node),
                        text,
                        lasts,
                    }
                } else if let Some((other, holder, ends)) = other() {
                    Cause::PreparedForOtherClaim {
                        claim,
                        other,
                        pod: holder,
                        ends,
                        text,
                    }
                } else {
                    // Where it only waits for the pod's own node, its words may be about something else.
                    let is_of_all = |cause: &Cause| matches!(cause, Cause::NodesMissing { lacks, .. } if lacks.wanted > 0);
                    match self.nodes_missing(pod).filter(is_of_all) {
                        // They get ready one after the other.
                        Some(Cause::NodesMissing {
                            others,
                            kept_off: None,
                            taken: None,
                            ..
                        }) if !lasts && others.is_empty() => return None,
                        Some(missing) => missing,
                        None => Cause::PrepareRefused { claim, text },
                    }
                }
            }
            Said::NoAnswer { text } if said::is_unanswered(text) => Cause::DriverDown {
                drivers: self.drivers_named(pod, text),
                text: (*text).to_owned(),
            },
            Said::NoAnswer { text } => {
                let is_left_out = said::is_left_out(text);
                let missing = is_left_out.then(|| self.nodes_missing(pod)).flatten();
                missing.unwrap_or_else(|| Cause::DriverFails {
                    text: (*text).to_owned(),
                    is_left_out,
                })
            }
            Said::NotAllowed { claim } => {
                let claim = self.cluster.claim(&beside(namespace, claim))?;
                // The objects let the pod have it now. If only as a member of its group, the kubelet may not know of groups.
                if is_reserved_for(pod, claim, PodGroups::Ignored) {
                    return None;
                }
                self.too_old(node, Gate::DRAWorkloadResourceClaims.name())
            }
            Said::NotOwner => {
                let of_group = |claim: &Arc<Claim>| owning_group(claim).is_some();
                if !self.claims(pod).any(of_group) {
                    return None;
                }
                self.too_old(node, Gate::DRAWorkloadResourceClaims.name())
            }
            Said::FeatureOff { gate } => self.too_old(node, gate),
            // What the objects contradict is over: the kubelet has yet to try again.
            Said::NotCreated | Said::NotAllocated { .. } => return None,
            Said::NotFetched { claim, text } if text.ends_with(&format!("\"{claim}\" not found")) => {
                return None;
            }
            Said::NotFetched { claim, text } => Cause::ClaimUnreadable {
                claim: (*claim).into(),
                version: kubelet_version(self.cluster, node),
                why: Unread::of(text),
                text: (*text).to_owned(),
            },
            Said::EarlierClaim { claim, uid } => {
                let claim = Str::from(*claim);
                let current = self.cluster.claim(&beside(namespace, &claim));
                if current.is_some_and(|current| current.metadata.uid == *uid) {
                    return None;
                }
                Cause::EarlierClaim {
                    claim,
                    uid: (*uid).into(),
                    lasts,
                }
            }
            Said::BeingUnprepared { claim } => Cause::BeingUnprepared {
                claim: (*claim).into(),
                lasts,
            },
            Said::RuntimeDown { text } => Cause::RuntimeDown {
                text: (*text).to_owned(),
            },
            Said::NoSandbox { text } => Cause::SandboxFails {
                text: (*text).to_owned(),
                device: self.device_named(pod, text),
            },
            Said::NoNetwork { text } => Cause::NetworkNotReady {
                text: (*text).to_owned(),
            },
            // Volumes come with the pod: what they lack is mostly there the next time.
            Said::NotMounted { .. } if is_new => return None,
            Said::NotMounted { text } => Cause::VolumesNotMounted {
                text: (*text).to_owned(),
            },
            // It says so again and again, as long as it does.
            Said::OwnershipChanges { .. }
                if event
                    .last_seen()
                    .is_none_or(|last| self.now.since(last).as_secs() >= OWNERSHIP_SECONDS) =>
            {
                return None;
            }
            Said::OwnershipChanges { text } => Cause::OwnershipChanges {
                text: (*text).to_owned(),
            },
            Said::Unhealthy { text } => Cause::ProbeFails {
                container: event.container().map(Str::from),
                text: (*text).to_owned(),
            },
            Said::Unresolvable { .. } | Said::NotPrepared { .. } => self.lost(pod, node, said)?,
            Said::Else { text } => Cause::Unrecognized {
                text: (*text).to_owned(),
            },
        };
        Some(Stuck::told(cause, event))
    }

    /// Returns the claim with this UID, if it is another pod's that is on the node, with that pod, and since when it is to end.
    fn prepared(&self, pod: &Pod, node: &Str, uid: &str) -> Option<(Key, Key, Option<Time>)> {
        let mut claims = self.cluster.claims();
        let key = claims.find(|claim| claim.metadata.uid == *uid)?.key();
        let users = || self.cluster.pods_of_claim(&key);
        if users().any(|user| user.metadata.uid == pod.metadata.uid) {
            return None;
        }
        let user = users().find(|user| user.node() == Some(node) && !user.is_terminal())?;
        Some((key, user.key(), user.metadata.deletion_timestamp))
    }

    /// Returns what gathers the pod's node with those of others, where it lacks some: the driver refuses the claim until then.
    fn nodes_missing(&self, pod: &Pod) -> Option<Cause> {
        let owner = gathering(self.cluster, pod)?;
        let lacks = incomplete(owner).or_else(|| unready(owner, pod.node()?))?;
        let others = gathered_with(self.cluster, pod, owner).into_iter();
        let node = pod.node().and_then(|node| self.cluster.node(node));
        let mut sets = self.daemon_sets(owner);
        let kept_off = node
            .and_then(|node| sets.find_map(|set| Some((set.key.clone(), untolerated(set, node)?.clone()))));
        let taken = node
            .and_then(|node| node.metadata.label(DOMAIN_LABEL))
            .filter(|uid| **uid != owner.uid);
        let domain = |uid: &Str| {
            let mut owners = self.cluster.environment().owners.iter();
            owners
                .find(|other| other.uid == *uid)
                .map(|other| other.key.clone())
        };
        Some(Cause::NodesMissing {
            owner: owner.into(),
            taken: taken.map(|uid| (uid.clone(), domain(uid))),
            others: others
                .filter(|other| other.node().is_none() && lacks.wanted > 0)
                .map(|other| other.key())
                .collect(),
            too_few: too_few_pods(self.cluster, pod, owner),
            kept_off,
            lacks,
        })
    }

    /// Returns whether what keeps a pod from starting ends soon as things are: its driver starts, or has yet to prepare devices and reports no error.
    pub fn is_passing(&self, found: &PodStage<'_>) -> bool {
        let Some(stuck) = &found.stuck else { return false };
        if found.stage == Stage::Unpreparing {
            return false;
        }
        let is_young = stuck.since.is_some() && !self.lasts(stuck.since);
        match &stuck.cause {
            Cause::DriverNotRegistered { plugin, .. } => {
                matches!(plugin, Plugin::Starting(..)) || self.is_registering(plugin)
            }
            Cause::DriverFails { is_left_out, .. } => *is_left_out && is_young,
            Cause::NodesMissing {
                others,
                too_few: None,
                kept_off: None,
                taken: None,
                ..
            } => is_young && others.is_empty() && self.daemon(found.pod).is_none(),
            _ => false,
        }
    }

    /// Returns whether no kubelet of several nodes has prepared a device of the driver for the pods that have its devices.
    pub fn is_registered_nowhere(&self, driver: &str) -> bool {
        let has_device = |pod: &&Arc<Pod>| {
            let mut results = self.claims(pod).flat_map(|claim| claim.results());
            !pod.is_terminal() && results.any(|result| result.driver == driver)
        };
        let mut nodes = BTreeSet::new();
        for pod in self.cluster.pods().filter(has_device) {
            let Some(node) = pod.node() else { continue };
            if stage_of(pod) != Stage::Reserved {
                return false;
            }
            nodes.insert(node);
        }
        nodes.len() > 1
    }

    /// The DaemonSets that run for what gathers nodes: their nodeSelector has its UID.
    fn daemon_sets(&self, owner: &'c Owner) -> impl Iterator<Item = &'c Owner> {
        self.cluster.environment().owners.iter().filter(move |set| {
            let mut labels = set.node_selector.iter();
            set.kind == "DaemonSet" && !owner.uid.is_empty() && labels.any(|(_, value)| *value == owner.uid)
        })
    }

    /// The pod on the node of `pod` that runs for what gathers its node, and what keeps it.
    pub fn daemon(&self, pod: &Pod) -> Option<PodStage<'c>> {
        self.daemon_pods(pod).find_map(|other| self.stuck(other))
    }

    /// The pods on the node of `pod` that run for what gathers its node.
    pub fn daemon_pods<'p>(&'p self, pod: &'p Pod) -> impl Iterator<Item = &'c Arc<Pod>> + 'p {
        let owner = gathering(self.cluster, pod).into_iter();
        let sets = owner.flat_map(|owner| self.daemon_sets(owner));
        sets.flat_map(move |set| {
            let is_its = move |other: &&Arc<Pod>| {
                let made_by = daemon_set_of(other);
                other.metadata.namespace == set.key.namespace
                    && made_by == Some(&set.key.name)
                    && other.node() == pod.node()
            };
            self.cluster.pods().filter(is_its)
        })
    }

    /// The pod on the node of `pod`, which is being deleted, that waits for its end to install what drivers need: that of NVIDIA's kernel driver with
    /// `k8s-driver-manager` (NVIDIA/k8s-driver-manager#213).
    pub fn awaits_end(&self, pod: &Pod) -> Option<&'c Arc<Pod>> {
        let is_waiting = |other: &&Arc<Pod>| matches!(self.doing(other), Some(Doing::Initializing(container, _)) if container == DRIVER_MANAGER);
        let node = pod.node().filter(|_| pod.metadata.is_deleting())?;
        self.cluster.pods_of_node(node).find(is_waiting)
    }

    /// The drivers of the pod that a text of gRPC may be about: the name of the socket has that of the driver, where there is one.
    fn drivers_named(&self, pod: &Pod, text: &str) -> Vec<Str> {
        let drivers = self.claims(pod).flat_map(|claim| claim.results());
        let drivers: BTreeSet<&Str> = drivers.map(|result| &result.driver).collect();
        let is_named = |driver: &&&Str| text.contains(driver.as_str());
        let named: Vec<Str> = drivers.iter().filter(is_named).copied().cloned().collect();
        if named.is_empty() {
            drivers.into_iter().cloned().collect()
        } else {
            named
        }
    }

    /// The device of the pod that a text names, by its name or by one that it has on the node, such as that of a network interface.
    fn device_named(&self, pod: &Pod, text: &str) -> Option<DeviceId> {
        let is_named = |name: &str| name.contains(|c: char| c.is_ascii_digit()) && has_word(text, name);
        let mut results = self.claims(pod).flat_map(|claim| claim.results());
        let named = results.find(|result| {
            let id = result.id();
            let pool = self.cluster.pool(&id.pool_id());
            let device = pool.as_ref().and_then(|pool| pool.device(&id.device));
            is_named(&id.device)
                || device.is_some_and(|(_, device)| {
                    let mut attributes = device.attributes.iter();
                    attributes
                        .any(|(_, value)| matches!(value, AttributeValue::String(value) if is_named(value)))
                })
        });
        named.map(|result| result.id())
    }

    /// Returns whether no claim of any namespace has this UID, for all that was read.
    fn is_gone(&self, uid: &str) -> bool {
        let claims = || self.cluster.claims().map(|claim| &claim.metadata.uid).collect();
        self.reads_all
            && self.cluster.gap(Kind::ResourceClaim, "").is_none()
            && !self.claims.get_or_init(claims).contains(&Str::from(uid))
    }

    fn too_old(&self, node: &Str, gate: &str) -> Cause {
        Cause::KubeletTooOld {
            version: kubelet_version(self.cluster, node),
            gate: gate.to_owned(),
            is_told: true,
        }
    }

    /// Returns the feature that the claims of a pod need and that its kubelet has off by default, which then starts containers without devices.
    pub fn feature_off(&self, pod: &Pod) -> Option<Cause> {
        let version = kubelet_version(self.cluster, pod.node()?);
        let minor = version.parse::<Version>().ok()?.minor;
        let extended = pod.status.extended_resource_claim_status.as_ref();
        let gate = match extended {
            Some(_) => Gate::DRAExtendedResource,
            None => Gate::DynamicResourceAllocation,
        };
        let state = self.cluster.environment().gate(Component::Kubelet, gate);
        let is_on = state.enabled && state.evidence.is_of_now();
        let is_needed = extended.is_some() || !pod.spec.resource_claims.is_empty();
        (is_needed && !is_on && gate.default_in(minor, minor) != Some(true)).then(|| Cause::KubeletTooOld {
            version,
            gate: gate.name().to_owned(),
            is_told: false,
        })
    }

    /// The same, where the control plane has the feature on by default: nothing suggests that it was enabled for the kubelet, and no driver has reported that
    /// it prepared a claim of the pod. Such a kubelet ignores claims for extended resources (`kubelet/cm/dra/manager.go`, v1.35.8).
    pub fn lags_behind(&self, pod: &Pod) -> Option<Stuck<'c>> {
        let cause = self.feature_off(pod)?;
        let environment = self.cluster.environment();
        let Cause::KubeletTooOld { gate, .. } = &cause else {
            return None;
        };
        let gate: Gate = gate.parse().ok()?;
        let is_default = gate.default_in(environment.emulated_minor, environment.min_compatibility_minor);
        let is_prepared = self.claims(pod).any(|claim| !claim.status.devices.is_empty());
        (is_default == Some(true) && !is_prepared).then(|| Stuck {
            cause,
            since: None,
            evidence: Vec::new(),
        })
    }

    /// Containers that cannot be made as what was prepared for them is lost. The status tells it as long as the pod waits, events for an hour.
    fn unresolvable(&self, pod: &'c Arc<Pod>, node: &Str) -> Option<Stuck<'c>> {
        let (container, waiting, said) = containers(pod).find_map(|container| {
            let waiting = container.state.waiting.as_ref()?;
            Some((container, waiting, Said::of_container(&waiting.message)?))
        })?;
        let evidence = Evidence::Waiting(Waiting::for_reason(container, waiting));
        Some(Stuck::new(self.lost(pod, node, &said)?, None, evidence))
    }

    /// Returns what was prepared and is not there any more.
    fn lost(&self, pod: &Pod, node: &Str, said: &Said<'_>) -> Option<Cause> {
        Some(match said {
            // The runtime class asks for them, and no claim.
            Said::Unresolvable { devices }
                if pod.spec.runtime_class_name.is_some() && said::are_of_runtime(devices) =>
            {
                return None;
            }
            Said::Unresolvable { devices } => Cause::DevicesUnresolvable {
                devices: devices.iter().map(|device| (*device).to_owned()).collect(),
                has_run: self.has_run_here(pod, node),
                rebooted: self.rebooted(pod, node),
                down: self.down(pod, node),
            },
            Said::NotPrepared { claim } => {
                // What has run was prepared.
                let skips = || skips(self.cluster, pod, Some(claim));
                let skips = (!has_run(pod)).then(skips).flatten();
                let claim = Str::from(*claim);
                match skips {
                    Some(skips) => Cause::ClaimSkipped { claim, skips },
                    None => Cause::PreparationForgotten { claim },
                }
            }
            _ => return None,
        })
    }

    /// Returns true if the kubelet reports that its container runtime is down. It neither starts nor ends pods then.
    fn lacks_runtime(&self, node: &Str, heartbeat: Heartbeat) -> bool {
        matches!(heartbeat, Heartbeat::NotReady { .. }) && is_of_runtime(self.why_not_ready(node))
    }

    fn why_not_ready(&self, node: &Str) -> &'c str {
        let text = self.cluster.node(node).and_then(|node| why_not_ready(node));
        text.unwrap_or_default()
    }

    /// Returns why nothing can be expected of the kubelet of `node`, where the pod is not made yet.
    pub fn not_ready(&self, node: &Str) -> Option<Stuck<'c>> {
        let heartbeat = self.heartbeat(node);
        let text = self.why_not_ready(node).to_owned();
        let cause = match heartbeat {
            Heartbeat::Ready => return None,
            Heartbeat::NotReady { .. } if self.lacks_runtime(node, heartbeat) => Cause::RuntimeDown { text },
            Heartbeat::NotReady { .. } => Cause::NodeNotReady {
                node: node.clone(),
                text,
            },
            Heartbeat::Silent { .. } => Cause::NodeSilent { node: node.clone() },
        };
        let evidence = Evidence::Heartbeat(node.clone(), heartbeat);
        Some(Stuck::new(cause, None, evidence))
    }

    /// Returns whether the pod, or another one with one of its claims, has run on the node.
    fn has_run_here(&self, pod: &Pod, node: &Str) -> bool {
        let ran = |pod: &Pod| pod.status.phase == "Running" || has_run(pod);
        let mut keys = self.claims(pod).map(|claim| claim.key());
        ran(pod)
            || keys.any(|key| {
                let mut others = self.cluster.pods_of_claim(&key);
                others.any(|other| other.node() == Some(node) && ran(other))
            })
    }

    /// The same, where the kubelet ends the container for its hook or its probe. Mirrors `kuberuntime/kuberuntime_container.go`,
    /// `startContainer`, v1.37.2.
    fn ended_by_kubelet(&self, pod: &Pod, halted: Stuck<'c>) -> Stuck<'c> {
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

    /// The first driver of the pod's devices whose pod on the node is there and does not run.
    fn down(&self, pod: &Pod, node: &Str) -> Option<(Str, Plugin)> {
        let claims: Vec<_> = self.claims(pod).collect();
        let results = claims.iter().flat_map(|claim| claim.results());
        let drivers: BTreeSet<&Str> = results.map(|result| &result.driver).collect();
        let mut plugins = drivers
            .into_iter()
            .map(|driver| (driver.clone(), self.plugin(driver, node)));
        plugins.find(|(_, plugin)| {
            matches!(
                plugin,
                Plugin::Crashing(..) | Plugin::Pending(..) | Plugin::Failed(..)
            )
        })
    }

    /// The same, where the container runtime of the node has CDI off, which gives containers the devices that drivers prepare: containerd before 2.0 has it
    /// off by default (`internal/cri/config`, `EnableCDI`). What shows it is that a pod of the same owner runs elsewhere, or that the container misses what
    /// comes with devices; that a pod with devices runs on the node shows the opposite.
    fn not_injected(&self, pod: &Pod, node: &Str, halted: Stuck<'c>) -> Stuck<'c> {
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
        let is_old = |runtime: &&Str| runtime.starts_with(OLD_CONTAINERD);
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

    /// Returns when the node rebooted after the pod started, as the kubelet reports it. An event of another boot is no
    /// evidence.
    fn rebooted(&self, pod: &Pod, node: &Str) -> Option<Time> {
        let node = self.cluster.node(node)?;
        let began = pod.status.start_time?;
        let events = self.cluster.events_of(Kind::Node, &node.metadata);
        let reboots = events
            .into_iter()
            .filter(|event| event.reason == "Rebooted" && event.component() == "kubelet")
            .filter_map(|event| event.last_seen());
        reboots.filter(|at| *at >= began).max()
    }

    /// The claims that the pod may use.
    pub fn claims(&self, pod: &Pod) -> impl Iterator<Item = &'c Arc<Claim>> {
        let cluster = self.cluster;
        let named = |name: ClaimName<'_>| {
            let claim = name.find(cluster)?;
            name.may_use(claim, PodGroups::Accepted).is_ok().then_some(claim)
        };
        let claims: Vec<_> = claim_names(pod).filter_map(named).collect();
        claims.into_iter()
    }
}

/// Attempts to attach a device that time out are no chance once there are so many.
pub const MANY_TIMEOUTS: i64 = 2;

/// How often the scheduler has given up binding a pod of the claim: each attempt allocates the claim anew. Mirrors
/// `dynamicresources.go`, `ErrDeviceBindingTimeout`, v1.37.2.
pub fn binding_timeouts(cluster: &Cluster, claim: &Claim) -> i64 {
    let key = claim.key();
    let pods = cluster.pods_of_claim(&key);
    let events = pods.flat_map(|pod| cluster.events_of(Kind::Pod, &pod.metadata));
    let timeouts = events.filter(|event| event.message.contains("device binding timeout"));
    timeouts.map(|event| i64::from(event.times().max(1))).sum()
}

/// What the versions of containerd begin with that have CDI off by default.
const OLD_CONTAINERD: &str = "containerd://1.";

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

/// Seconds between the failure of a hook or probe and the end of its container, at most.
const HOOK_SECONDS: u64 = 60;

/// The last failure of a hook or probe that has made the kubelet end the container.
fn why_ended<'c>(
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

/// Returns why a container does not run that is to run.
fn halted<'c>(pod: &Pod, container: &'c ContainerStatus) -> Option<Stuck<'c>> {
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

/// The containers that have something to tell.
fn containers(pod: &Pod) -> impl Iterator<Item = &ContainerStatus> {
    let status = &pod.status;
    status
        .container_statuses
        .iter()
        .chain(status.init_container_statuses.iter())
}

/// Words for containers that wait as every container does at first.
const BEGINNING: [&str; 3] = ["", "ContainerCreating", "PodInitializing"];

/// Returns how far a pod that is on its node and is not to end has got.
fn stage_of(pod: &Pod) -> Stage {
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

/// Returns what a name of a claim in a text of the kubelet means: it leaves out the pod's namespace.
fn beside(namespace: &Str, claim: &str) -> Key {
    Key::new(namespace.clone(), claim)
}

/// The version of a node's kubelet, as far as it is known.
fn kubelet_version(cluster: &Cluster, node: &str) -> Str {
    cluster
        .node(node)
        .map(|node| node.status.node_info.kubelet_version.clone())
        .unwrap_or_default()
}
