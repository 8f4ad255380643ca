//! Device handling of a node's kubelet, as far as the API shows it.
//!
//! The kubelet reports its state only through the pod's status and events. So a stage is read off the containers and
//! conditions, and a cause is named only where something shows it: the objects, which contradict what the kubelet
//! needs, or the kubelet's own newest word, which `said` recognizes. What nothing shows is unknown, with what could not
//! be seen.

mod cause;
mod container;
mod drivers;
mod ending;
mod gathering;
mod halted;
mod heartbeat;
mod plugin;
mod problems;
mod publishing;
mod reach;
mod refusal;
mod running;
mod said;
mod starting;

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use strum::{Display, IntoStaticStr};

use self::container::{containers, has_completed, stage_of};
use self::said::Said;
use crate::reservation::{ClaimName, PodGroups, claim_names, is_reserved_for};
use crate::scheduling::{DeviceBinding, binding_timed_out, is_sidecar};
use dra_allocator::devices::Taints;
use dra_model::{
    AllocatedDevice, Claim, Cluster, Container, ContainerStatus, Event, Gap, Key, Kind, Node, Pod, PoolId,
    Str, Time,
};

pub use cause::{Attaching, Cause, Denial, Due, Evidence, Party, lacks_network, refuses_host_network};
pub use container::{Restarted, Waiting, has_logs, has_run, has_stopped, is_ready, is_start_error, last_end};
use drivers::Drivers;
pub use drivers::{
    Failure, KeptOff, MIG_STATE, PUBLISHING_SECONDS, Plugin, Unplaced, controllers,
    crashing_cloud_controllers, crashing_daemons, daemon_set_of, down_controllers, is_being_published,
    is_called_like, is_called_plugin, is_over, is_pod_of, kept_off, republishing, scaled_down, unscheduled,
};
pub use heartbeat::{Heartbeat, ailment, without_network};
use heartbeat::{is_of_runtime, why_not_ready};
pub use plugin::{beside_driver, offered_by_plugin, users_of_plugin};
pub use problems::{Problem, Problems, problems, rests_on};
pub use publishing::{BrokenLink, Maker, Refused, fewer_than_alike, known_drivers, tells_hardware};
use reach::Reach;
pub use reach::{nodes_of_devices, nodes_of_slice};
pub use refusal::{Behind, Newer};
pub use said::{Unread, has_word, injects_own, is_attached_elsewhere, missing_object, unreachable_registry};

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

/// The init container that waits until the pods with devices of the node are gone.
const DRIVER_MANAGER: &str = "k8s-driver-manager";

/// So many words of a pod's name in a text are not there by chance.
const NAMING_WORDS: usize = 3;

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
    reached: RefCell<HashMap<Str, Reach<'c>>>,
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
            reached: RefCell::default(),
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

    /// Returns the time that they are of.
    pub fn now(&self) -> Time {
        self.now
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

    /// Returns whether a driver publishes devices for a node. Nothing if it publishes only for several nodes, because that
    /// proves nothing about a single one.
    pub fn publishes_for(&self, driver: &Str, node: &Str) -> Option<bool> {
        let mut reached = self.reached.borrow_mut();
        let reach = reached.entry(driver.clone());
        reach.or_insert_with(|| Reach::of(self.cluster, driver)).has(node)
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

    /// The pod that uses a volume of `pod` on another node, as far as the controller that attaches volumes says so in `text`.
    pub fn user_of_volume(&self, pod: &Pod, text: &str) -> Option<PodStage<'c>> {
        let name = said::user_of_volume(text)?;
        self.of_any(self.cluster.pod(&pod.metadata.beside(&name.into()))?)
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
            let binding = DeviceBinding::of(claim, result);
            let stuck = |attaching, since, evidence| {
                let device = result.id();
                let denied = Denial::of_claim(self.cluster, claim);
                let denied = denied.filter(|_| !matches!(attaching, Attaching::Failed(_)));
                let cause = Cause::Binding {
                    device,
                    attaching,
                    denied,
                };
                Some(Stuck::new(cause, since, evidence))
            };
            if let Some(failed) = binding.failed {
                let since = failed.last_transition_time.or(since);
                return stuck(
                    Attaching::Failed(failed.clone()),
                    since,
                    Evidence::BindingFailed(claim, failed),
                );
            }
            let missing = binding.unmet();
            if missing.is_empty() {
                return None;
            }
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
        let has_device =
            |pod: &&Arc<Pod>| !pod.is_terminal() && self.claims(pod).any(|claim| claim.has_device_of(driver));
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

    /// The pod on the node of `pod`, which is being deleted, that waits for its end to install what drivers need: that of NVIDIA's kernel driver with
    /// `k8s-driver-manager` (NVIDIA/k8s-driver-manager#213), which exits when it has waited for long, and is started again.
    pub fn awaits_end(&self, pod: &Pod) -> Option<&'c Arc<Pod>> {
        let backs_off = |status: &ContainerStatus| {
            let waiting = status.state.waiting.as_ref();
            status.name == DRIVER_MANAGER && waiting.is_some_and(|waiting| has_logs(&waiting.reason))
        };
        let is_waiting = |other: &&Arc<Pod>| {
            other.status.init_container_statuses.iter().any(backs_off)
                || matches!(self.doing(other), Some(Doing::Initializing(container, _)) if container == DRIVER_MANAGER)
        };
        let node = pod.node().filter(|_| pod.metadata.is_deleting())?;
        self.cluster.pods_of_node(node).find(is_waiting)
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
