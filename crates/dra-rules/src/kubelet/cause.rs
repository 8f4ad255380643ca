//! The reason why a pod is stuck at its stage, what shows it, and whose turn it is.

use serde::Serialize;

use super::drivers::Plugin;
use super::heartbeat::Heartbeat;
use super::problems::Problem;
use super::refusal::Behind;
use super::said::Unread;
use super::{Waiting, is_of_alignment};
use crate::owners::{Incomplete, OwnerName};
use crate::scheduling::Skips;
use dra_model::{
    Claim, Cluster, Condition, ContainerEnd, ContainerStatus, ContainerWaiting, DeviceId, Event, Key, Kind,
    Str, Taint, Time,
};

/// Party that has to act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
pub enum Party {
    /// Owner of the pod.
    User,
    /// Owner of the driver.
    Driver,
    /// The kubelet itself, without action.
    Kubelet,
    /// Operator of the cluster.
    Administrator,
}

/// Progress of a device that must be attached before its pod is bound.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Attaching {
    /// It will not be attached.
    Failed(Condition),
    /// It was not attached in time: conditions that its driver has yet to set to true.
    TimedOut(Vec<Condition>),
    /// It is not attached yet: conditions that its driver has yet to set to true.
    Pending(Vec<Condition>),
}

/// What the API server does not let a user do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Denial {
    /// `system:serviceaccount:NAMESPACE:NAME`, or another user.
    pub user: Str,
    /// The verb.
    pub verb: Str,
    /// `RESOURCE` or `RESOURCE/SUBRESOURCE`.
    pub resource: Str,
    /// The API group.
    pub group: Str,
}

impl Denial {
    /// The newest one of claims that an event about the claim names, since the claim was allocated.
    pub fn of_claim(cluster: &Cluster, claim: &Claim) -> Option<Self> {
        let allocated = claim.status.allocation.as_ref()?.allocation_timestamp;
        let events = cluster.events_of(Kind::ResourceClaim, &claim.metadata);
        let mut newer = events
            .into_iter()
            .rev()
            .filter(|event| event.last_seen() >= allocated);
        let is_of_claims = |denied: &Self| denied.resource.starts_with("resourceclaims");
        newer.find_map(|event| Self::of_text(&event.message).filter(is_of_claims))
    }

    /// By the words of the API server: `responsewriters/errors.go`, `forbiddenMessage`, v1.37.2.
    fn of_text(text: &str) -> Option<Self> {
        let (_, said) = text.split_once("User \"")?;
        let (user, said) = said.split_once("\" cannot ")?;
        let (verb, said) = said.split_once(" resource \"")?;
        let (resource, said) = said.split_once("\" in API group \"")?;
        let (group, _) = said.split_once('"')?;
        Some(Self {
            user: user.into(),
            verb: verb.into(),
            resource: resource.into(),
            group: group.into(),
        })
    }
}

/// The reason why a pod does not make progress.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr)]
pub enum Cause {
    /// The kubelet knows no socket of the driver.
    DriverNotRegistered {
        /// The driver.
        driver: Str,
        /// Its pod.
        plugin: Plugin,
    },
    /// The driver did not answer as it should.
    DriverFails {
        /// In the words of gRPC or the kubelet.
        text: String,
        /// True if the driver only left the claim out of its answer, without an error.
        is_left_out: bool,
    },
    /// The process of the driver does not answer: it does not run, or has ended in the call.
    DriverDown {
        /// Candidate drivers: the kubelet does not say which one.
        drivers: Vec<Str>,
        /// In the words of gRPC.
        text: String,
    },
    /// The driver refuses the claim.
    PrepareRefused {
        /// The claim.
        claim: Str,
        /// In the driver's words.
        text: String,
        /// What it goes back to.
        behind: Option<Behind>,
    },
    /// The driver prepares nothing before what gathers the nodes of pods has all of them.
    NodesMissing {
        /// What gathers them.
        owner: OwnerName,
        /// What it lacks.
        lacks: Incomplete,
        /// Its other pods that have no node.
        others: Vec<Key>,
        /// What has made all its pods, with their number, where these are fewer than the nodes.
        too_few: Option<(OwnerName, i64)>,
        /// The DaemonSet that runs for it on its nodes, and the taint that keeps its pods off the pod's node.
        kept_off: Option<(Key, Taint)>,
        /// The UID of another one that the pod's node is in, as the node's label has it, and its key if it was read: a node is in one at most.
        taken: Option<(Str, Option<Key>)>,
    },
    /// The claim cannot be used, by the objects.
    Claim(Problem),
    /// The kubelet has an earlier claim of that name prepared.
    EarlierClaim {
        /// The claim.
        claim: Str,
        /// The UID of the earlier one.
        uid: Str,
        /// True if that has lasted for longer than the kubelet and the driver need.
        lasts: bool,
    },
    /// The kubelet has the claim taken back before it prepares it again.
    BeingUnprepared {
        /// The claim.
        claim: Str,
        /// True if that has lasted for longer than the kubelet and the driver need.
        lasts: bool,
    },
    /// The driver refuses the claim as it has devices of it prepared for another one, which does not exist any more.
    PreparedForDeletedClaim {
        /// The claim.
        claim: Str,
        /// The UID of the other one.
        uid: Str,
        /// A pod that was deleted by force while the kubelet of the node could not end its containers.
        survivor: Option<Key>,
        /// In the driver's words.
        text: String,
        /// True if that has lasted for longer than the kubelet and the driver need.
        lasts: bool,
    },
    /// The driver refuses the claim as it has devices of it prepared for that of another pod, which is on the node.
    PreparedForOtherClaim {
        /// The claim.
        claim: Str,
        /// The other one.
        other: Key,
        /// Its pod.
        pod: Key,
        /// Since when that is to be gone, if it is being deleted.
        ends: Option<Time>,
        /// In the driver's words.
        text: String,
    },
    /// The container runtime does not find what the driver prepared.
    DevicesUnresolvable {
        /// The names of the CDI devices.
        devices: Vec<String>,
        /// True if a container of the pod has run, so that the driver had written them.
        has_run: bool,
        /// Time at which the node was started anew, if it was since the pod began.
        rebooted: Option<Time>,
        /// A driver of its devices that does not run there.
        down: Option<(Str, Plugin)>,
    },
    /// The kubelet does not know any more what it has had prepared for a pod that has its sandbox.
    PreparationForgotten {
        /// The claim.
        claim: Str,
    },
    /// The kubelet has not prepared a claim, by a known bug.
    ClaimSkipped {
        /// The claim.
        claim: Str,
        /// What made it skip the claim.
        skips: Skips,
    },
    /// The kubelet does not get the volumes of the pod mounted, which it needs before the devices.
    VolumesNotMounted {
        /// In the kubelet's words.
        text: String,
    },
    /// The kubelet changes the group of the files of a volume, one after the other, and prepares devices after that.
    OwnershipChanges {
        /// In the kubelet's words.
        text: String,
    },
    /// The network of the node is not ready. The kubelet prepares devices after that.
    NetworkNotReady {
        /// In the words of the container runtime.
        text: String,
    },
    /// The container runtime does not make the sandbox of the pod. The devices are prepared before.
    SandboxFails {
        /// In the words of the container runtime.
        text: String,
        /// The device of the pod that these name.
        device: Option<DeviceId>,
    },
    /// The container runtime of the node does not answer the kubelet.
    RuntimeDown {
        /// In the words of gRPC or the kubelet.
        text: String,
    },
    /// A probe fails of a container that others wait for.
    ProbeFails {
        /// The container, if the kubelet names it.
        container: Option<Str>,
        /// In the kubelet's words.
        text: String,
    },
    /// A container is not made or not started.
    ContainerNotStarted(Str, ContainerWaiting),
    /// The image of a volume is not pulled, and containers wait for it.
    ImageVolumeNotPulled {
        /// The volume.
        volume: Str,
        /// In the words of the kubelet.
        text: Str,
    },
    /// A container has ended, and is started again; how it ended, where that is known.
    ContainerEnds(Str, Option<ContainerEnd>),
    /// A container does not find its devices, as its container runtime does not know CDI.
    NotInjected {
        /// The container.
        container: Str,
        /// In the words of the container, or of the container runtime.
        text: String,
        /// The container runtime with its version.
        runtime: Str,
        /// A pod of the same owner that runs on another node, with the container runtime of that.
        elsewhere: Option<(Key, Str)>,
    },
    /// The pod has failed as a whole: the kubelet refused it, or ended it.
    PodFailed {
        /// One word for the actor.
        reason: Str,
        /// In a sentence.
        message: Option<Str>,
        /// Whether the pod that its owner created in its place is ready.
        is_replaced: bool,
    },
    /// The containers of the pod are to end, and the kubelet does not get them ended.
    KillFails {
        /// In the kubelet's words.
        text: String,
        /// Its containers have ended, and only its sandbox is left.
        only_sandbox: bool,
    },
    /// The containers of the pod are to end, and long after that the kubelet has told nothing of them.
    ContainersNotStopped,
    /// The pod has ended and was deleted, and long after that the kubelet has not removed it.
    NotRemoved,
    /// The pod was deleted before it had a claim, and the kubelet does not unprepare devices without the name of one.
    ClaimNeverMade {
        /// The entry of the pod without a claim.
        entry: Str,
    },
    /// The kubelet lacks a feature that the claim needs.
    KubeletTooOld {
        /// Its version, as far as it is known.
        version: Str,
        /// The feature.
        gate: String,
        /// True if the kubelet says so, false if it only has the feature off by default.
        is_told: bool,
    },
    /// The claim exists, but the kubelet cannot read it.
    ClaimUnreadable {
        /// The claim.
        claim: Str,
        /// The kubelet's version, as far as it is known.
        version: Str,
        /// The reason.
        why: Unread,
        /// In the words of the client.
        text: String,
    },
    /// The pod runs with devices that are not published any more.
    DeviceNotPublished {
        /// The devices.
        devices: Vec<DeviceId>,
        /// True if their driver publishes devices in use.
        are_gone: bool,
    },
    /// The pod runs with a device that is reported to be broken.
    DeviceUnhealthy {
        /// The name that the reporter has for it.
        device: String,
        /// In the reporter's words.
        text: String,
    },
    /// The pod runs with a device whose taint evicts it.
    ToBeEvicted {
        /// The device.
        device: DeviceId,
        /// The first of its taints that evicts the pod.
        taint: Taint,
        /// The rule that the taint is from, unless the driver published it.
        rule: Option<Str>,
        /// True if a toleration is meant for the taint and does not count, as it has no effect.
        lacks_effect: bool,
        /// When the pod is to be gone.
        due: Due,
    },
    /// A container of the pod has ended for good, and the pod does not end before others do, which run.
    ContainersLeft {
        /// The container that ended last.
        container: Str,
        /// How it ended.
        end: ContainerEnd,
        /// The others.
        others: Vec<Str>,
    },
    /// The containers of the pod run, and it is not ready.
    NotReady {
        /// The container with a probe that fails, if the kubelet names it.
        container: Option<Str>,
        /// In the kubelet's words.
        text: String,
    },
    /// The containers have ended, and a driver does not take its devices back.
    UnprepareFails {
        /// Candidate drivers with their pods: the kubelet only logs which one.
        drivers: Vec<(Str, Plugin)>,
    },
    /// The node does not answer, so that nothing of its kubelet can be expected.
    NodeSilent {
        /// The node.
        node: Str,
    },
    /// The node does not exist, and no kubelet does anything for the pod.
    NodeGone {
        /// The node.
        node: Str,
    },
    /// The kubelet answers, and says that its node is not ready.
    NodeNotReady {
        /// The node.
        node: Str,
        /// In the kubelet's words.
        text: String,
    },
    /// The pod has ended, or never had a node, and stays for these.
    Finalizers(Vec<Str>),
    /// A device is not attached yet, or will not be.
    Binding {
        /// The device.
        device: DeviceId,
        /// Progress.
        attaching: Attaching,
        /// What keeps its driver from setting the conditions, as an event about the claim says.
        denied: Option<Denial>,
    },
    /// An unrecognized message of the kubelet about devices.
    Unrecognized {
        /// In the kubelet's words.
        text: String,
    },
}

/// When the device taint eviction controller deletes a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Due {
    /// It tolerates the taint until then.
    Later(Time),
    /// The controller is about to.
    Now,
    /// It should have done so then.
    Overdue(Time),
    /// The same, and the rule shows no trace of it: its gate is off by default in the release.
    Unserved(Time),
    /// Never: the controller passes by what the pod has for extended resources (kubernetes/kubernetes#141290).
    PassedOver,
}

impl Cause {
    /// In one word that stays.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Claim(problem) => problem.code(),
            Self::Binding { attaching, .. } => match attaching {
                Attaching::Failed(_) => "BindingFailed",
                Attaching::TimedOut(_) => "BindingTimedOut",
                Attaching::Pending(_) => "BindingPending",
            },
            _ => self.into(),
        }
    }

    /// Returns whether it blocks the pod, rather than endangering a running one.
    pub fn holds_up(&self) -> bool {
        !matches!(
            self,
            Self::DeviceNotPublished { .. }
                | Self::DeviceUnhealthy { .. }
                | Self::ToBeEvicted { .. }
                | Self::ContainersLeft { .. }
                | Self::KubeletTooOld { is_told: false, .. }
                | Self::NotReady { .. }
        )
    }

    /// Returns whether it lies with the node of the pod, so that pods of other nodes do not have the same.
    pub fn is_of_node(&self) -> bool {
        match self {
            Self::PodFailed { reason, .. } => !is_of_alignment(reason),
            Self::DriverNotRegistered { .. }
            | Self::DriverDown { .. }
            | Self::NodesMissing { taken: Some(_), .. }
            | Self::EarlierClaim { .. }
            | Self::PreparedForDeletedClaim { .. }
            | Self::PreparedForOtherClaim { .. }
            | Self::DevicesUnresolvable {
                rebooted: Some(_), ..
            }
            | Self::PreparationForgotten { .. }
            | Self::ClaimSkipped { .. }
            | Self::NetworkNotReady { .. }
            | Self::RuntimeDown { .. }
            | Self::KillFails { .. }
            | Self::ContainersNotStopped
            | Self::NotRemoved
            | Self::NotInjected { .. }
            | Self::ClaimNeverMade { .. }
            | Self::KubeletTooOld { .. }
            | Self::ClaimUnreadable { .. }
            | Self::NodeSilent { .. }
            | Self::NodeGone { .. }
            | Self::NodeNotReady { .. } => true,
            Self::DriverFails { .. }
            | Self::PrepareRefused { .. }
            | Self::NodesMissing { .. }
            | Self::Claim(_)
            | Self::BeingUnprepared { .. }
            | Self::DevicesUnresolvable { .. }
            | Self::VolumesNotMounted { .. }
            | Self::OwnershipChanges { .. }
            | Self::SandboxFails { .. }
            | Self::ProbeFails { .. }
            | Self::ContainerNotStarted(..)
            | Self::ImageVolumeNotPulled { .. }
            | Self::ContainerEnds(..)
            | Self::DeviceNotPublished { .. }
            | Self::DeviceUnhealthy { .. }
            | Self::ToBeEvicted { .. }
            | Self::ContainersLeft { .. }
            | Self::NotReady { .. }
            | Self::UnprepareFails { .. }
            | Self::Finalizers(_)
            | Self::Binding { .. }
            | Self::Unrecognized { .. } => false,
        }
    }

    /// Returns whose turn it is.
    pub fn party(&self) -> Party {
        match self {
            Self::DriverNotRegistered { plugin, .. } => match plugin {
                Plugin::None {
                    kept_off: Some(_), ..
                } => Party::Administrator,
                Plugin::Starting(..) => Party::Kubelet,
                _ => Party::Driver,
            },
            Self::PrepareRefused {
                behind: Some(Behind::Shared(_)),
                ..
            } => Party::User,
            Self::DriverFails { .. }
            | Self::DriverDown { .. }
            | Self::PrepareRefused { .. }
            | Self::UnprepareFails { .. }
            | Self::DeviceNotPublished { .. }
            | Self::DeviceUnhealthy { .. }
            | Self::Binding { .. }
            // What the driver has not written yet is not there for a new pod either.
            | Self::DevicesUnresolvable {
                has_run: false,
                rebooted: None,
                ..
            }
            | Self::DevicesUnresolvable { down: Some(_), .. }
            | Self::SandboxFails { device: Some(_), .. } => Party::Driver,
            Self::NodesMissing { .. }
            | Self::Claim(_)
            | Self::PreparedForOtherClaim { .. }
            | Self::DevicesUnresolvable { .. }
            | Self::PreparationForgotten { .. }
            | Self::VolumesNotMounted { .. }
            | Self::ProbeFails { .. }
            | Self::ImageVolumeNotPulled { .. }
            | Self::ContainerEnds(..)
            | Self::ContainersLeft { .. }
            | Self::NotReady { .. }
            | Self::PodFailed { .. } => Party::User,
            Self::OwnershipChanges { .. } => Party::Kubelet,
            Self::ContainerNotStarted(_, waiting) => refused_by(&waiting.message),
            Self::PreparedForDeletedClaim { survivor: Some(_), .. } => Party::Administrator,
            Self::EarlierClaim { lasts, .. }
            | Self::BeingUnprepared { lasts, .. }
            | Self::PreparedForDeletedClaim { lasts, .. } => {
                if *lasts {
                    Party::Driver
                } else {
                    Party::Kubelet
                }
            }
            Self::SandboxFails { text, .. } if lacks_network(text) || refuses_host_network(text) => Party::User,
            Self::NetworkNotReady { .. }
            | Self::SandboxFails { .. }
            | Self::RuntimeDown { .. }
            | Self::KillFails { .. }
            | Self::ContainersNotStopped
            | Self::NotRemoved
            | Self::NotInjected { .. }
            | Self::ClaimNeverMade { .. }
            | Self::ClaimSkipped { .. }
            | Self::KubeletTooOld { .. }
            | Self::ClaimUnreadable { .. }
            | Self::ToBeEvicted { .. }
            | Self::NodeSilent { .. }
            | Self::NodeGone { .. }
            | Self::NodeNotReady { .. }
            | Self::Finalizers(_)
            | Self::Unrecognized { .. } => Party::Administrator,
        }
    }
}

/// Evidence for a stuck pod.
#[derive(Clone, Debug)]
pub enum Evidence<'c> {
    /// The pod was to be gone then.
    ToBeGone(Time),
    /// The pod was to end then.
    ToEnd(Time),
    /// Its last container ended then.
    LastContainerEnded(Time),
    /// No container of it runs any more.
    Stopped,
    /// The claim has the condition of a device that it waits for.
    BindingFailed(&'c Claim, &'c Condition),
    /// The claim lacks a condition of a device that it waits for.
    BindingMissing(&'c Claim),
    /// Its node says this of the kubelet.
    Heartbeat(Str, Heartbeat),
    /// Problem of a claim.
    Problem(Problem),
    /// The kubelet said this.
    Event(&'c Event),
    /// A container waits.
    Waiting(Waiting),
    /// A container has ended.
    Ended(&'c Str),
    /// The pod has the phase `Failed`.
    Failed,
    /// The kubelet reports it in the status of a container.
    Status(&'c ContainerStatus),
    /// A driver reports it in the claim.
    Condition(&'c Claim, &'c Condition),
    /// No ResourceSlice of the newest generation has it.
    NoSlice,
    /// A slice or a rule has the taint, since then.
    Tainted(Option<Time>),
    /// The condition `Ready` of the pod is not true.
    Unready(&'c Condition),
}

/// Returns whether a network is missing that the pod names in its annotations, in the words of Multus.
pub fn lacks_network(text: &str) -> bool {
    text.contains("network-attachment-definition") && text.contains("not found")
}

/// Returns whether the pod is in the network of its node and so gets no network device of its own, in the words of DRANET.
pub fn refuses_host_network(text: &str) -> bool {
    text.contains("using host network can not claim host devices")
}

/// What the hook of NVIDIA's container toolkit says of an image that is built for a newer driver: that on the node, or the image, has to change.
const NEEDS_OTHER_IMAGE: &str = "unsatisfied condition: ";

/// What the driver of CPUs says of a container with a claim that another one has (`kubernetes-sigs/dra-driver-cpu`, `pkg/store/claim_tracker.go`).
const NEEDS_OTHER_CLAIM: &str = "already bound to pod ";

/// Returns who keeps a container from starting, as far as the words of the container runtime tell: a driver whose devices it does not find, what is
/// installed on the node, or what the pod asks for.
fn refused_by(text: &str) -> Party {
    const OF_NODE: [&str; 5] = [
        "NRI",
        "no space left on device",
        "is reserved for",
        " hook #",
        "\"cdi\"",
    ];
    if text.contains("CDI device injection failed") {
        Party::Driver
    } else if [NEEDS_OTHER_IMAGE, NEEDS_OTHER_CLAIM]
        .iter()
        .any(|words| text.contains(words))
    {
        Party::User
    } else if OF_NODE.iter().any(|words| text.contains(words)) {
        Party::Administrator
    } else {
        Party::User
    }
}
