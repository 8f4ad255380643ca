//! Why a pod is stuck at its stage, and whose turn it is.

use serde::Serialize;

use super::claims::Problem;
use super::drivers::{Plugin, named};
use crate::listing::some;
use dra_model::{Cluster, DeviceId, Key, Str, Time};

/// Whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Party {
    /// Who owns the pod.
    User,
    /// Who runs the driver.
    Driver,
    /// The kubelet, which goes on by itself.
    Kubelet,
    /// Who runs the cluster.
    Administrator,
}

impl Party {
    /// The word for messages.
    pub fn text(self) -> &'static str {
        match self {
            Self::User => "the owner of the pod",
            Self::Driver => "whoever runs the driver",
            Self::Kubelet => "the kubelet",
            Self::Administrator => "an administrator of the cluster",
        }
    }
}

/// Why a pod does not go on.
#[derive(Clone, Debug)]
pub(crate) enum Cause<'c> {
    /// The kubelet knows no socket of the driver.
    DriverNotRegistered { driver: Str, plugin: Plugin<'c> },
    /// The driver did not answer as it should.
    DriverFails { text: String },
    /// The driver refuses the claim, in its own words.
    PrepareRefused { claim: Str, text: String },
    /// The claim cannot be used, by the objects.
    Claim(Problem),
    /// The kubelet has an earlier claim of that name prepared.
    EarlierClaim { claim: Str, uid: Str },
    /// The kubelet has the claim taken back before it prepares it again.
    BeingUnprepared { claim: Str },
    /// The driver refuses the claim as it has devices of it prepared for another one, which does not exist any more.
    PreparedForDeletedClaim { claim: Str, uid: Str, text: String },
    /// The container runtime does not find what the driver prepared.
    DevicesUnresolvable {
        devices: Vec<String>,
        rebooted: Option<Time>,
    },
    /// The kubelet does not know any more what it has had prepared for a pod that has its sandbox.
    PreparationForgotten { claim: Str },
    /// The kubelet lacks a feature that the claim needs.
    KubeletTooOld { version: Str, gate: String },
    /// The claim exists, but the API server does not give it to the kubelet.
    ClaimUnreadable { claim: Str, version: Str, text: String },
    /// The pod runs with devices that are not published any more.
    DeviceNotPublished { devices: Vec<DeviceId> },
    /// The pod runs with a device that is reported to be broken.
    DeviceUnhealthy { device: String, text: String },
    /// The containers have ended, and the driver does not take its devices back.
    UnprepareFails { driver: Str, plugin: Plugin<'c> },
    /// The node does not answer, so that nothing of its kubelet can be expected.
    NodeSilent { node: Str },
    /// The pod has ended and stays for these.
    Finalizers(Vec<Str>),
    /// A device is not attached yet, or will not be.
    Binding {
        device: DeviceId,
        text: String,
        code: &'static str,
    },
    /// The kubelet says something about devices that is not known here.
    Unrecognized { text: String },
}

impl Cause<'_> {
    /// In one word that stays.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::DriverNotRegistered { .. } => "DriverNotRegistered",
            Self::DriverFails { .. } => "DriverFails",
            Self::PrepareRefused { .. } => "PrepareRefused",
            Self::Claim(problem) => problem.code,
            Self::EarlierClaim { .. } => "EarlierClaim",
            Self::BeingUnprepared { .. } => "BeingUnprepared",
            Self::PreparedForDeletedClaim { .. } => "PreparedForDeletedClaim",
            Self::DevicesUnresolvable { .. } => "DevicesUnresolvable",
            Self::PreparationForgotten { .. } => "PreparationForgotten",
            Self::KubeletTooOld { .. } => "KubeletTooOld",
            Self::ClaimUnreadable { .. } => "ClaimUnreadable",
            Self::DeviceNotPublished { .. } => "DeviceNotPublished",
            Self::DeviceUnhealthy { .. } => "DeviceUnhealthy",
            Self::UnprepareFails { .. } => "UnprepareFails",
            Self::NodeSilent { .. } => "NodeSilent",
            Self::Finalizers(_) => "Finalizers",
            Self::Binding { code, .. } => code,
            Self::Unrecognized { .. } => "Unrecognized",
        }
    }

    /// Whether it keeps the pod from going on, rather than being a danger to one that runs.
    pub(crate) fn holds_up(&self) -> bool {
        !matches!(
            self,
            Self::DeviceNotPublished { .. } | Self::DeviceUnhealthy { .. }
        )
    }

    /// Whose turn it is.
    pub(crate) fn party(&self) -> Party {
        match self {
            Self::DriverNotRegistered { plugin, .. } => match plugin {
                Plugin::None {
                    kept_off: Some(_), ..
                } => Party::Administrator,
                _ => Party::Driver,
            },
            Self::DriverFails { .. }
            | Self::PrepareRefused { .. }
            | Self::UnprepareFails { .. }
            | Self::DeviceNotPublished { .. }
            | Self::DeviceUnhealthy { .. }
            | Self::Binding { .. } => Party::Driver,
            Self::Claim(_) | Self::DevicesUnresolvable { .. } | Self::PreparationForgotten { .. } => {
                Party::User
            }
            Self::EarlierClaim { .. }
            | Self::BeingUnprepared { .. }
            | Self::PreparedForDeletedClaim { .. } => Party::Kubelet,
            Self::KubeletTooOld { .. }
            | Self::ClaimUnreadable { .. }
            | Self::NodeSilent { .. }
            | Self::Finalizers(_)
            | Self::Unrecognized { .. } => Party::Administrator,
        }
    }

    /// In a sentence without a full stop that goes on from the pod's name and a colon. `node` is where the pod is.
    pub(crate) fn text(&self, node: &str) -> String {
        match self {
            Self::DriverNotRegistered { driver, plugin } => {
                let registered = format!("driver {driver} is not registered with the kubelet of {node}");
                match of_plugin(plugin, node) {
                    Some(why) => format!("{registered}: {why}"),
                    None => registered,
                }
            }
            Self::DriverFails { text } => {
                format!("the driver did not prepare the devices, and gave no reason of its own: {text}")
            }
            Self::PrepareRefused { claim, text } => {
                format!("the driver refuses to prepare claim {claim}: {text}")
            }
            Self::Claim(problem) => problem.text.clone(),
            Self::EarlierClaim { claim, uid } => format!(
                "the kubelet of {node} still has an earlier claim {claim} prepared, with UID {uid}: its pod was deleted by force, and the \
                 driver has yet to take the devices back"
            ),
            Self::BeingUnprepared { claim } => format!(
                "the driver takes back the devices of claim {claim} from an earlier pod; the kubelet prepares them again after that"
            ),
            Self::PreparedForDeletedClaim { claim, uid, text } => format!(
                "the driver refuses to prepare claim {claim}, as the kubelet of {node} has yet to give the devices back that it has for a claim \
                 with UID {uid}, which does not exist any more: its pod was deleted by force, and may still use them; the driver says: {text}"
            ),
            Self::DevicesUnresolvable { devices, rebooted } => {
                let since = match rebooted {
                    Some(at) => format!(
                        ", as {node} was started anew at {at}: what the driver had written was lost, and it has not written it again"
                    ),
                    None => String::new(),
                };
                format!("the container runtime does not find {}{since}", some(devices))
            }
            Self::PreparationForgotten { claim } => format!(
                "the kubelet of {node} does not know any more what was prepared for claim {claim}, as after it was started without its \
                 checkpoint: it does not have it prepared again for a pod that has its sandbox"
            ),
            Self::KubeletTooOld { version, gate } => {
                format!(
                    "the kubelet of {node}{} does not have the feature {gate}, which the claim needs",
                    in_brackets(version)
                )
            }
            Self::ClaimUnreadable { version, text, .. } if is_not_served(text) => format!(
                "the kubelet of {node}{} reads claims by a version of the API resource.k8s.io that the API server does not serve: {text}",
                in_brackets(version)
            ),
            Self::ClaimUnreadable { claim, text, .. } => {
                format!("the kubelet of {node} cannot read claim {claim}, which exists: {text}")
            }
            Self::DeviceNotPublished { devices } => format!(
                "{} {} not published any more: the pod keeps what it has, and does not start again",
                some(devices),
                if devices.len() == 1 { "is" } else { "are" }
            ),
            Self::DeviceUnhealthy { device, text } if text.is_empty() => {
                format!("{device} is reported to be unhealthy")
            }
            Self::DeviceUnhealthy { device, text } => format!("{device} is reported to be unhealthy: {text}"),
            Self::UnprepareFails { driver, .. } => format!(
                "its containers have ended, and driver {driver} does not take its devices back: only the logs of the kubelet and of the \
                 driver tell why"
            ),
            Self::NodeSilent { node } => {
                format!("node {node} is not ready: its kubelet does nothing for the pod until it is")
            }
            Self::Finalizers(names) => {
                format!("it has ended, and stays for the finalizer {}", some(names))
            }
            Self::Binding { text, .. } => text.clone(),
            Self::Unrecognized { text } => format!("the kubelet says what is not known here: {text}"),
        }
    }
}

fn in_brackets(version: &str) -> String {
    if version.is_empty() {
        String::new()
    } else {
        format!(" ({version})")
    }
}

/// Whether an API server does not serve the version of an API that a client asks it for, by the words of the client.
pub(super) fn is_not_served(text: &str) -> bool {
    text.contains("the server could not find the requested resource")
}

/// What is known of the driver's pod.
fn of_plugin(plugin: &Plugin<'_>, node: &str) -> Option<String> {
    Some(match plugin {
        Plugin::Hidden(_) => return None,
        Plugin::None { elsewhere: None, .. } => format!("no pod on {node} seems to be the driver's"),
        Plugin::None {
            elsewhere: Some(pod),
            kept_off,
        } => {
            let set = super::drivers::daemon_set_of(pod).map_or("", Str::as_str);
            let set = format!("daemonset/{}/{set} has no pod there", pod.metadata.namespace);
            match kept_off {
                Some(why) => format!("{set}, as {why}"),
                None => set,
            }
        }
        Plugin::Crashing(pod, why) => format!("{} crashes ({why})", named(pod)),
        Plugin::NotReady(pod) => format!("{} is not ready", named(pod)),
        Plugin::OtherFolder(pod, own, other) => format!(
            "{} registers in {own}, and the kubelet looks for plugins in {other}, where those of others register",
            named(pod)
        ),
        Plugin::Ready(pod, since, started) => {
            let since = since.map(|since| format!(" since {since}")).unwrap_or_default();
            let kubelet = match started {
                Some(started) => format!("the kubelet, which was started at {started},"),
                None => "the kubelet".to_owned(),
            };
            format!("{} is ready{since}, but {kubelet} does not know it", named(pod))
        }
    })
}

/// What a name of a claim in a text of the kubelet means: it leaves out the pod's namespace.
pub(super) fn beside(namespace: &Str, claim: &str) -> Key {
    Key::new(namespace.clone(), claim)
}

/// The version of a node's kubelet, as far as it is known.
pub(super) fn kubelet_version(cluster: &Cluster, node: &str) -> Str {
    cluster
        .node(node)
        .map(|node| node.status.node_info.kubelet_version.clone())
        .unwrap_or_default()
}
