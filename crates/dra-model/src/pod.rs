//! Pods: which claims they use, where they run, what the scheduler looks at.

use macro_rules_attribute::apply;
use serde::Deserialize;

use super::{
    Condition, Key, Meta, NodeSelector, Part, PodSelector, Quantity, Repeated, SchedulerProfile, Str, Time,
    Tolerations,
};
use crate::decoded::decoded;
use dra_values::decode::{field, list, or_default};

/// `core/v1` Pod.
#[apply(decoded)]
pub struct Pod {
    /// Identity, owners, deletion.
    pub metadata: Meta,
    /// Specification.
    pub spec: PodSpec,
    /// Status.
    pub status: PodStatus,
}

impl Pod {
    /// Namespace and name.
    pub fn key(&self) -> Key {
        self.metadata.key()
    }

    /// Priority in scheduling. Mirrors `component-helpers/scheduling/corev1/helpers.go`, `PodPriority`.
    pub fn priority(&self) -> i32 {
        self.spec.priority.unwrap_or(0)
    }

    /// Returns whether the pod has ended: phase Succeeded or Failed.
    pub fn is_terminal(&self) -> bool {
        matches!(self.status.phase.as_str(), "Succeeded" | "Failed")
    }

    /// The scheduler that places the pod: the default one if it names none.
    pub fn scheduler(&self) -> &str {
        match self.spec.scheduler_name.as_str() {
            "" => SchedulerProfile::DEFAULT,
            name => name,
        }
    }

    /// The node that the pod is bound to.
    pub fn node(&self) -> Option<&Str> {
        self.spec.node_name.as_ref().filter(|name| !name.is_empty())
    }

    /// The PodGroup that the pod says it is a member of.
    pub fn pod_group(&self) -> Option<&Str> {
        self.spec.scheduling_group.as_ref()?.pod_group_name.as_ref()
    }

    /// Its condition of a type.
    pub fn condition(&self, type_: &str) -> Option<&Condition> {
        let mut conditions = self.status.conditions.iter();
        conditions.find(|condition| condition.type_ == type_)
    }

    /// Its condition that it is ready. Mirrors `pkg/api/v1/pod/util.go`, `IsPodReady`, v1.37.2.
    pub fn ready(&self) -> Option<&Condition> {
        self.condition("Ready").filter(|ready| ready.status == "True")
    }

    /// What it requires of nodes, besides their labels in its `nodeSelector`.
    pub fn required_affinity(&self) -> Option<&NodeSelector> {
        let nodes = self.spec.affinity.as_ref()?.node_affinity.as_ref()?;
        nodes.required_during_scheduling_ignored_during_execution.as_ref()
    }
}

/// Requirements of a pod.
#[apply(decoded)]
pub struct PodSpec {
    /// The node it is bound to.
    pub node_name: Option<Str>,
    /// Claims its containers may use.
    pub resource_claims: Repeated<Vec<PodClaim>>,
    /// Membership in a PodGroup.
    pub scheduling_group: Option<SchedulingGroup>,
    /// Ordinary containers.
    pub containers: Vec<Container>,
    /// Containers that run before, and sidecars.
    pub init_containers: Vec<Container>,
    /// Requests of the pod as a whole.
    pub resources: Option<Box<Resources>>,
    /// Added to the requests of the containers, sorted by resource name.
    pub overhead: Vec<(Str, Quantity)>,
    /// Labels that the node must have.
    pub node_selector: Vec<(Str, Str)>,
    /// Further demands on the node.
    pub affinity: Option<Box<Affinity>>,
    /// Node taints that do not matter.
    pub tolerations: Repeated<Tolerations>,
    /// While there is one, the scheduler does not look at the pod.
    pub scheduling_gates: Vec<Named>,
    /// Name of the responsible scheduler.
    pub scheduler_name: Str,
    /// Service account of the pod; empty for `default`.
    pub service_account_name: Str,
    /// True if there are rules of spreading over the topology.
    #[serde(rename = "topologySpreadConstraints", deserialize_with = "is_filled")]
    pub has_topology_spread: bool,
    /// Present if a RuntimeClass may have added its node selector and tolerations to those of the pod.
    pub runtime_class_name: Option<serde::de::IgnoredAny>,
    /// Relevant facts about its volumes.
    #[serde(deserialize_with = "volumes")]
    pub volumes: Repeated<Volumes>,
    /// The pod's ports are those of the node.
    pub host_network: bool,
    /// Priority in scheduling.
    pub priority: Option<i32>,
    /// `Never` keeps the scheduler from evicting others for the pod.
    pub preemption_policy: Option<Str>,
    /// Time to end in, in seconds.
    pub termination_grace_period_seconds: Option<i64>,
    /// `Always`, `OnFailure` or `Never`.
    pub restart_policy: Str,
}

/// One claim of a pod: by name or by template.
#[apply(decoded)]
#[derive(PartialEq, Eq)]
pub struct PodClaim {
    /// Name within the pod.
    pub name: Str,
    /// A claim that exists.
    #[serde(deserialize_with = "or_default")]
    pub resource_claim_name: Option<Str>,
    /// The template of a claim that is made for the pod, or for its group.
    pub resource_claim_template_name: Option<Str>,
}

/// Membership in a PodGroup.
#[apply(decoded)]
pub struct SchedulingGroup {
    /// Name of the group, in the pod's namespace.
    pub pod_group_name: Option<Str>,
}

/// Fields of a container that the scheduler and the claim rules read.
#[apply(decoded)]
pub struct Container {
    /// Name within the pod.
    pub name: Str,
    /// Requests and claims.
    pub resources: Repeated<Resources>,
    /// Ports; only those on the node matter.
    pub ports: Vec<ContainerPort>,
    /// `Always` makes an init container a sidecar.
    pub restart_policy: Option<Str>,
}

/// Requests and claims of a container.
#[apply(decoded)]
pub struct Resources {
    /// Requested amounts, sorted by resource name.
    pub requests: Vec<(Str, Quantity)>,
    /// Limits, sorted by resource name. The API server copies them into absent requests.
    pub limits: Vec<(Str, Quantity)>,
    /// Claims of the pod that the container uses.
    pub claims: Vec<ContainerClaim>,
}

impl Part for Resources {
    fn absent() -> &'static Self {
        const {
            &Self {
                requests: Vec::new(),
                limits: Vec::new(),
                claims: Vec::new(),
            }
        }
    }
}

/// A claim of the pod that a container uses.
#[apply(decoded)]
#[derive(PartialEq, Eq)]
pub struct ContainerClaim {
    /// Name of the claim within the pod.
    pub name: Str,
    /// One request of it; empty means all.
    pub request: Str,
}

/// A port of a container.
#[apply(decoded)]
#[derive(PartialEq, Eq)]
pub struct ContainerPort {
    /// Port in the container.
    pub container_port: i32,
    /// Port on the node; 0 means none.
    pub host_port: i32,
    /// Address on the node.
    #[serde(rename = "hostIP", deserialize_with = "field")]
    pub host_ip: Str,
    /// `TCP`, `UDP` or `SCTP`; empty means `TCP`.
    pub protocol: Str,
}

/// An object known by name only.
#[apply(decoded)]
pub struct Named {
    /// The name.
    pub name: Str,
}

/// Returns whether a list has an element, whatever it is.
fn is_filled<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    let elements: Vec<serde::de::IgnoredAny> = list(deserializer)?;
    Ok(!elements.is_empty())
}

/// Relevant facts about the volumes of a pod. Every pod has volumes, few have one of these, and nothing else matters.
#[derive(Clone, Debug, Default)]
pub struct Volumes {
    /// True if one can bind the pod to some nodes, as those of volume claims and ephemeral ones can.
    pub bind: bool,
    /// The PersistentVolumeClaims that it names. A redacted snapshot has no names.
    pub claims: Vec<Str>,
    /// A directory of the node where plugins register with the kubelet, if mounted: evidence that the pod may belong to
    /// a driver.
    pub plugin_folder: Option<Str>,
    /// The name of a directory of the kubelet for the sockets of one plugin, if mounted: that of a driver has its name.
    pub plugin: Option<Str>,
    /// Those with the content of an image: their names and the images.
    pub images: Vec<(Str, Str)>,
}

/// Name of the directory where the kubelet looks for plugins, as far as its name goes: what is above it is the
/// kubelet's own, `/var/lib/kubelet` as a rule. Mirrors `kubelet/config/defaults.go`,
/// `DefaultKubeletPluginsRegistrationDirName`, v1.37.2.
const PLUGINS_REGISTRY: &str = "plugins_registry";

/// Name of the directory with those of the plugins. Mirrors `kubelet/config/defaults.go`, `DefaultKubeletPluginsDirName`, v1.37.2.
const PLUGINS: &str = "plugins";

impl Part for Volumes {
    fn absent() -> &'static Self {
        const {
            &Self {
                bind: false,
                claims: Vec::new(),
                plugin_folder: None,
                plugin: None,
                images: Vec::new(),
            }
        }
    }
}

/// Volumes without any of these facts take no memory.
fn volumes<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Repeated<Volumes>, D::Error> {
    let found = Volumes::deserialize(deserializer)?;
    if found.bind || found.plugin_folder.is_some() || found.plugin.is_some() || !found.images.is_empty() {
        return Ok(found.into());
    }
    Ok(Repeated::default())
}

impl<'de> Deserialize<'de> for Volumes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Default, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        struct Volume {
            persistent_volume_claim: Option<VolumeClaim>,
            ephemeral: Option<serde::de::IgnoredAny>,
            host_path: Option<HostPath>,
            #[serde(deserialize_with = "or_default")]
            name: Str,
            image: Option<Image>,
        }
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Image {
            #[serde(deserialize_with = "or_default")]
            reference: Str,
        }
        #[derive(Default, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        struct VolumeClaim {
            #[serde(deserialize_with = "or_default")]
            claim_name: Str,
        }
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct HostPath {
            #[serde(deserialize_with = "or_default")]
            path: String,
        }
        let all: Vec<Volume> = list(deserializer)?;
        let paths = || {
            all.iter()
                .filter_map(|volume| Some(&volume.host_path.as_ref()?.path))
        };
        let plugin = |path: &String| {
            let mut parts = path.trim_end_matches('/').rsplit('/');
            let last = parts.next()?;
            (parts.next() == Some(PLUGINS)).then(|| last.into())
        };
        let claims = all
            .iter()
            .filter_map(|volume| volume.persistent_volume_claim.as_ref());
        Ok(Self {
            bind: all
                .iter()
                .any(|volume| volume.persistent_volume_claim.is_some() || volume.ephemeral.is_some()),
            claims: claims
                .map(|claim| claim.claim_name.clone())
                .filter(|name| !name.is_empty())
                .collect(),
            plugin: paths().find_map(plugin),
            plugin_folder: paths()
                .find(|path| path.split('/').any(|part| part == PLUGINS_REGISTRY))
                .map(|path| path.as_str().into()),
            images: all
                .iter()
                .filter_map(|volume| Some((volume.name.clone(), volume.image.as_ref()?.reference.clone())))
                .filter(|(_, image)| !image.is_empty())
                .collect(),
        })
    }
}

/// Demands on the node beyond plain labels.
#[apply(decoded)]
pub struct Affinity {
    /// To nodes.
    pub node_affinity: Option<NodeAffinity>,
    /// To other pods: named, not simulated.
    pub pod_affinity: Option<PodAffinity>,
    /// Away from other pods: named, not simulated.
    pub pod_anti_affinity: Option<serde::de::IgnoredAny>,
}

/// Affinity to nodes.
#[apply(decoded)]
pub struct NodeAffinity {
    /// Must match.
    pub required_during_scheduling_ignored_during_execution: Option<NodeSelector>,
}

/// Affinity to pods.
#[apply(decoded)]
pub struct PodAffinity {
    /// Must match.
    pub required_during_scheduling_ignored_during_execution: Vec<PodAffinityTerm>,
}

/// Pods: the node, or another one of its topology domain, has to have one of them.
#[apply(decoded)]
pub struct PodAffinityTerm {
    /// The pods; absent matches none.
    pub label_selector: Option<PodSelector>,
    /// The label of nodes whose value is their domain.
    pub topology_key: Str,
    /// Namespaces of the pods: that of the pod itself if there are neither these nor a selector of namespaces.
    pub namespaces: Vec<Str>,
    /// Present if the labels of namespaces select further ones.
    pub namespace_selector: Option<serde::de::IgnoredAny>,
}

/// Status of a pod.
#[apply(decoded)]
pub struct PodStatus {
    /// `Pending`, `Running`, `Succeeded`, `Failed` or `Unknown`.
    pub phase: Str,
    /// Those that a rule or a column reads: `PodScheduled`, `PodReadyToStartContainers`, `Ready`, `DisruptionTarget`.
    #[serde(deserialize_with = "pod_conditions")]
    pub conditions: Vec<Condition>,
    /// The node where the scheduler makes room for the pod, or is about to bind it.
    pub nominated_node_name: Option<Str>,
    /// Claims made from templates.
    pub resource_claim_statuses: Vec<PodClaimStatus>,
    /// The claim that the scheduler made for extended resources.
    pub extended_resource_claim_status: Option<Box<ExtendedResourceClaim>>,
    /// Containers that have health of devices, have restarted, or do not run: those that run without anything to report are left out.
    #[serde(deserialize_with = "container_statuses")]
    pub container_statuses: Box<[ContainerStatus]>,
    /// The same of containers that run before the others.
    #[serde(deserialize_with = "container_statuses")]
    pub init_container_statuses: Box<[ContainerStatus]>,
    /// Time at which the kubelet saw the pod first.
    pub start_time: Option<Time>,
    /// The reason why it failed, in a word of the component that ended it, such as `Evicted`. Few pods have it.
    pub reason: Option<Box<Str>>,
    /// The same in a sentence.
    pub message: Option<Box<Str>>,
}

/// Types of the conditions of pods that are read. Others come from controllers that nothing is known of.
pub const POD_CONDITIONS: [&str; 4] = [
    "PodScheduled",
    "PodReadyToStartContainers",
    "Ready",
    "DisruptionTarget",
];

fn pod_conditions<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<Condition>, D::Error> {
    let mut conditions: Vec<Condition> = or_default(deserializer)?;
    conditions.retain(|c| POD_CONDITIONS.contains(&c.type_.as_str()));
    conditions.shrink_to_fit();
    Ok(conditions)
}

fn container_statuses<'de, D>(deserializer: D) -> Result<Box<[ContainerStatus]>, D::Error>
where
    D: serde::Deserializer<'de>,
{
    let mut statuses: Vec<ContainerStatus> = or_default(deserializer)?;
    statuses.retain(|status| {
        let state = &status.state;
        !status.allocated_resources_status.is_empty()
            || state.waiting.is_some()
            || state.terminated.is_some()
            || status.last_state.terminated.is_some()
    });
    Ok(statuses.into_boxed_slice())
}

/// The claim behind one entry of `spec.resourceClaims`.
#[apply(decoded)]
pub struct PodClaimStatus {
    /// Name within the pod.
    pub name: Str,
    /// Absent means that no claim is needed.
    #[serde(deserialize_with = "or_default")]
    pub resource_claim_name: Option<Str>,
}

/// The claim that the scheduler made for extended resources of a pod.
#[apply(decoded)]
#[derive(PartialEq, Eq)]
pub struct ExtendedResourceClaim {
    /// Mapping of container resources to requests.
    pub request_mappings: Vec<RequestMapping>,
    /// The claim, in the pod's namespace.
    #[serde(deserialize_with = "or_default")]
    pub resource_claim_name: Str,
}

/// Mapping of a container resource to a request of the claim.
#[apply(decoded)]
#[derive(PartialEq, Eq)]
pub struct RequestMapping {
    /// The container.
    pub container_name: Str,
    /// The extended resource.
    pub resource_name: Str,
    /// The request of the claim.
    pub request_name: Str,
}

/// Status of a container, reported by the kubelet.
#[apply(decoded)]
pub struct ContainerStatus {
    /// The container.
    pub name: Str,
    /// Health of the resources it uses.
    pub allocated_resources_status: Vec<ResourceStatus>,
    /// State.
    pub state: ContainerState,
    /// Previous termination.
    pub last_state: ContainerState,
    /// Number of restarts.
    pub restart_count: i32,
}

/// State of a container: neither field is set while it runs.
#[apply(decoded)]
pub struct ContainerState {
    /// It is yet to be started.
    pub waiting: Option<Box<ContainerWaiting>>,
    /// It has ended.
    pub terminated: Option<ContainerEnd>,
}

/// Termination of a container.
#[apply(decoded)]
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub struct ContainerEnd {
    /// Not 0 for one that failed.
    pub exit_code: i32,
    /// Machine-readable cause, such as `Error` or `OOMKilled`.
    pub reason: Str,
    /// What the container wrote of its end, or the container runtime of one that it could not start. Snapshots leave it out.
    #[serde(deserialize_with = "or_default")]
    pub message: Str,
    /// Time.
    pub finished_at: Option<Time>,
}

/// The reason why a container is not started yet.
#[apply(decoded)]
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub struct ContainerWaiting {
    /// Machine-readable cause, such as `ContainerCreating` or `CreateContainerError`.
    pub reason: Str,
    /// In the words of the kubelet or the container runtime.
    #[serde(deserialize_with = "or_default")]
    pub message: Str,
}

/// Health of one resource of a container.
#[apply(decoded)]
pub struct ResourceStatus {
    /// `claim:NAME` or `claim:NAME/REQUEST` for devices.
    pub name: Str,
    /// Per device.
    pub resources: Vec<ResourceHealth>,
}

/// Health of one device.
#[apply(decoded)]
pub struct ResourceHealth {
    /// The driver's identifier: `driver/pool/device`, or a CDI name.
    #[serde(rename = "resourceID", deserialize_with = "or_default")]
    pub resource_id: Str,
    /// `Healthy`, `Unhealthy` or `Unknown`.
    pub health: Str,
    /// The driver's words.
    #[serde(deserialize_with = "or_default")]
    pub message: Option<Str>,
}

/// `scheduling.k8s.io` PodGroup.
#[apply(decoded)]
pub struct PodGroup {
    /// Identity.
    pub metadata: Meta,
    /// Its claims.
    pub spec: PodGroupSpec,
    /// Claims made from templates.
    pub status: PodGroupStatus,
}

/// Specification of a PodGroup.
#[apply(decoded)]
pub struct PodGroupSpec {
    /// Claims that the members share.
    pub resource_claims: Vec<PodClaim>,
    /// Basic, or a gang.
    pub scheduling_policy: SchedulingPolicy,
    /// Rules of where its members have to be.
    pub scheduling_constraints: Option<SchedulingConstraints>,
    /// The CompositePodGroup that it is a part of.
    pub parent_composite_pod_group_name: Option<Str>,
    /// Priority that all of its members must have.
    pub priority: Option<i32>,
}

/// Rules of where the members of a group have to be.
#[apply(decoded)]
pub struct SchedulingConstraints {
    /// All of them on nodes that have the same values of these labels.
    pub topology: Vec<TopologyConstraint>,
}

/// A label that nodes have to share.
#[apply(decoded)]
pub struct TopologyConstraint {
    /// Key of the label.
    #[serde(deserialize_with = "or_default")]
    pub key: Str,
}

/// Scheduling policy of a group.
#[apply(decoded)]
pub struct SchedulingPolicy {
    /// All or nothing.
    pub gang: Option<Gang>,
}

/// A gang.
#[apply(decoded)]
pub struct Gang {
    /// Minimum number of members that must fit together.
    pub min_count: i32,
}

/// Status of a PodGroup.
#[apply(decoded)]
pub struct PodGroupStatus {
    /// `PodGroupInitiallyScheduled`, `DisruptionTarget`.
    pub conditions: Vec<Condition>,
    /// Claims made from templates.
    pub resource_claim_statuses: Vec<PodClaimStatus>,
}

/// An object with only identity and deletion: Namespace, Workload, CompositePodGroup, and owners of pods.
#[apply(decoded)]
pub struct Bare {
    /// Identity.
    pub metadata: Meta,
}
