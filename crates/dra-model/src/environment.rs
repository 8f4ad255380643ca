//! What is known of a cluster besides its objects: versions, feature gates with their evidence, time, gaps.

use std::collections::BTreeSet;
use std::sync::Arc;

use Stage::{Alpha, Beta, Stable};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use super::{Kind, Owners, Str, Time, Version};

/// A component whose feature gates can differ from those of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr, Display, EnumString)]
pub enum Component {
    /// kube-apiserver.
    #[strum(serialize = "kube-apiserver")]
    ApiServer,
    /// kube-scheduler: decides allocation.
    #[strum(serialize = "kube-scheduler")]
    Scheduler,
    /// kube-controller-manager: cleans up claims and evicts pods.
    #[strum(serialize = "kube-controller-manager")]
    ControllerManager,
    /// The kubelets.
    #[strum(serialize = "kubelet")]
    Kubelet,
}

impl Component {
    /// Every component.
    pub const ALL: [Self; 4] = [
        Self::ApiServer,
        Self::Scheduler,
        Self::ControllerManager,
        Self::Kubelet,
    ];
}

/// How a gate's state is known, weakest first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, derive_more::Display)]
pub enum Evidence {
    /// The default of the server's release.
    #[display("assumed")]
    Assumed,
    /// An object that the component writes only with the gate on. It may have been turned off since.
    #[display("objects: {_0}")]
    Objects(String),
    /// The snapshot says so.
    #[display("recorded")]
    Recorded,
    /// Something the API server serves only with the gate on, or only with it off.
    #[display("served: {_0}")]
    Served(String),
    /// The component's own metrics.
    #[display("metrics")]
    Metrics,
    /// Arguments of the component's static pod, which do not name the gate.
    #[display("arguments of {_0}")]
    Implied(String),
    /// Arguments of the component's static pod, which name the gate.
    #[display("arguments of {_0}")]
    Arguments(String),
    /// A flag of this command.
    #[display("flag")]
    Flag,
}

impl Evidence {
    /// Returns whether it tells how the component runs now. Objects tell only how it once ran, and a default tells nothing.
    pub fn is_of_now(&self) -> bool {
        !matches!(self, Self::Assumed | Self::Objects(_))
    }
}

/// How much is known of the release of a cluster, least first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReleaseEvidence {
    /// Nothing: the newest one that this build knows is assumed.
    #[default]
    Assumed,
    /// Its objects: the newest kubelet, which is not newer than the control plane, or a field that older releases drop.
    Objects,
    /// The minor release, whose patch is assumed.
    Minor,
    /// The release and its patch, by the control plane or by a flag.
    Patch,
}

/// State of a gate in a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateState {
    /// True if the feature is on.
    pub enabled: bool,
    /// How that is known.
    pub evidence: Evidence,
}

struct Defaults {
    /// First minor release of 1.x that knows the gate, and those in which its stage or default changes.
    since: &'static [(u32, Stage, bool)],
    /// First minor release in which the gate cannot be set to anything but its default.
    locked: Option<u32>,
    /// First minor release that does not know the gate any more.
    removed: Option<u32>,
}

/// How mature a feature is. `AllAlpha` and `AllBeta` switch the gates of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Off unless asked for.
    Alpha,
    /// Usually on.
    Beta,
    /// Here to stay.
    Stable,
}

macro_rules! gates {
    (@option) => { None };
    (@option $minor:literal) => { Some($minor) };
    ($($name:ident [$($since:expr),+] $(locked $locked:literal)? $(removed $removed:literal)?;)+) => {
        /// Feature gates that decide something about devices.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(IntoStaticStr, Display, EnumString, VariantArray)]
        #[expect(
            missing_docs,
            reason = "each variant is the gate of its name in `pkg/features/kube_features.go`"
        )]
        pub enum Gate {
            $($name),+
        }

        /// The gates, in the order of [`Gate`].
        const GATES: &[Defaults] = &[
            $(Defaults {
                since: &[$($since),+],
                locked: gates!(@option $($locked)?),
                removed: gates!(@option $($removed)?),
            }),+
        ];
    };
}

// Stage and default by minor release. Mirrors `kube_features.go`, `defaultVersionedKubernetesFeatureGates`, v1.37.2.
gates! {
    CompositePodGroup [(37, Alpha, false)];
    DRAAdminAccess [(32, Alpha, false), (34, Beta, true), (36, Stable, true)] locked 36;
    DRAConsumableCapacity [(34, Alpha, false), (36, Beta, true)];
    DRADerivedAttributes [(37, Alpha, false)];
    DRADeviceBindingConditions [(34, Alpha, false), (36, Beta, true)];
    DRADeviceCompatibilityGroups [(37, Alpha, false)];
    DRADeviceTaintRules [(35, Alpha, false), (36, Beta, false), (37, Stable, true)];
    DRADeviceTaints [(33, Alpha, false), (36, Beta, true), (37, Stable, true)];
    DRAExtendedResource [(34, Alpha, false), (36, Beta, true), (37, Stable, true)] locked 37;
    // On only where the minimum compatibility version is 1.37 too: see `Gate::default_in`.
    DRAFractionalCapacityRange [(37, Beta, false)];
    DRAListTypeAttributes [(36, Alpha, false)];
    DRANodeAllocatableResources [(36, Alpha, false)];
    DRAOptionalNodeOperations [(37, Alpha, false)];
    DRAPartitionableDevices [(33, Alpha, false), (36, Beta, true)];
    DRAPartitionableDevicesType [(37, Alpha, false)];
    DRAPrioritizedList [(33, Alpha, false), (34, Beta, true), (36, Stable, true)] locked 37;
    DRAResourceClaimDeviceStatus [(32, Alpha, false), (33, Beta, true), (37, Stable, true)] locked 37;
    DRAResourceClaimGranularStatusAuthorization [(36, Beta, true)];
    DRAResourcePoolStatus [(36, Alpha, false)];
    DRASchedulerFilterTimeout [(34, Beta, true)];
    DRAWorkloadResourceClaims [(36, Alpha, false), (37, Beta, false)];
    DynamicResourceAllocation [(26, Alpha, false), (32, Beta, false), (34, Stable, true)] locked 35;
    EvictionRequestAPI [(37, Alpha, false)];
    // Gangs come with GenericWorkload from 1.37 on.
    GangScheduling [(35, Alpha, false)] removed 37;
    GenericWorkload [(35, Alpha, false), (37, Beta, false)];
    PodGroupPreemptionPolicy [(37, Alpha, false)];
    ResourceHealthStatus [(31, Alpha, false), (36, Beta, true)];
    ResourceHealthStatusMessage [(36, Beta, true)];
    TopologyAwareWorkloadScheduling [(36, Alpha, false)];
    WorkloadWithJob [(36, Alpha, false)];
}

/// What follows the name of a gate in messages about claims that need it.
const OFF: &str = " feature is disabled";

impl Gate {
    /// Every gate.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::VARIANTS.iter().copied()
    }

    fn defaults(self) -> &'static Defaults {
        &GATES[self as usize]
    }

    /// The name as `--feature-gates` takes it.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The gate of that name, if it decides something about devices.
    pub fn find(name: &str) -> Option<Self> {
        name.parse().ok()
    }

    /// The gates that are off in a component, as its message reports: `… but the GATE feature is disabled`.
    pub fn said_to_be_off(message: &str) -> impl Iterator<Item = Self> {
        let says = message.contains(OFF);
        let is_named = move |gate: &Self| message.contains(&format!("{}{OFF}", gate.name()));
        Self::all().filter(move |gate| says && is_named(gate))
    }

    /// The default in the release 1.`minor` with that minimum compatibility version; absent where the gate does not exist.
    pub fn default_in(self, minor: u32, min_compatibility: u32) -> Option<bool> {
        let (_, enabled) = self.in_release(minor)?;
        let compatible = self == Self::DRAFractionalCapacityRange && minor >= 37 && min_compatibility >= 37;
        Some(enabled || compatible)
    }

    /// The first release 1.x after 1.`minor` in which it is on by default, as far as this build knows.
    pub fn on_since(self, minor: u32) -> Option<u32> {
        let mut later = minor + 1..=Version::NEWEST_MINOR;
        later.find(|later| self.default_in(*later, *later) == Some(true))
    }

    /// Returns how mature the feature is in the release 1.`minor`; absent where the gate does not exist.
    pub fn stage_in(self, minor: u32) -> Option<Stage> {
        self.in_release(minor).map(|(stage, _)| stage)
    }

    /// Returns whether the release 1.`minor` locks the gate to its default: a component started with another value
    /// exits immediately. Upstream's table says `LockToDefault` there.
    pub fn is_locked_in(self, minor: u32) -> bool {
        self.stage_in(minor).is_some() && self.defaults().locked.is_some_and(|locked| locked <= minor)
    }

    /// Gates that this one requires: a component started without them exits immediately. Mirrors `kube_features.go`,
    /// `defaultKubernetesFeatureGateDependencies`, v1.37.2, as far as this table knows the gates.
    pub fn needs(self) -> &'static [Self] {
        match self {
            Self::CompositePodGroup => &[Self::GenericWorkload, Self::TopologyAwareWorkloadScheduling],
            Self::DRADeviceBindingConditions | Self::DRAResourceClaimGranularStatusAuthorization => {
                &[Self::DRAResourceClaimDeviceStatus]
            }
            Self::DRADeviceCompatibilityGroups => &[Self::DRAPartitionableDevices],
            Self::DRADeviceTaintRules => &[Self::DRADeviceTaints],
            Self::DRAFractionalCapacityRange => &[Self::DRAConsumableCapacity],
            Self::DRAPartitionableDevicesType => {
                &[Self::DRAPartitionableDevices, Self::DRAResourcePoolStatus]
            }
            Self::DRAWorkloadResourceClaims
            | Self::GangScheduling
            | Self::PodGroupPreemptionPolicy
            | Self::TopologyAwareWorkloadScheduling
            | Self::WorkloadWithJob => &[Self::GenericWorkload],
            Self::ResourceHealthStatusMessage => &[Self::ResourceHealthStatus],
            _ => &[],
        }
    }

    fn in_release(self, minor: u32) -> Option<(Stage, bool)> {
        if self.defaults().removed.is_some_and(|removed| removed <= minor) {
            return None;
        }
        let (_, stage, enabled) = self
            .defaults()
            .since
            .iter()
            .rev()
            .find(|(since, ..)| *since <= minor)?;
        Some((*stage, *enabled))
    }
}

/// Objects that could not be read. Verdicts that depend on them are unknown.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gap {
    /// What is missing.
    pub kind: Kind,
    /// In which namespace; empty means in all.
    pub namespace: Str,
    /// Where objects of all namespaces are missing, the one namespace whose objects are known after all; empty for none.
    pub except: Str,
    /// The user may not read it, and could with another role.
    pub is_forbidden: bool,
    /// The reason, for people.
    pub reason: String,
}

impl Gap {
    /// Objects of `kind` may be unknown in every namespace.
    pub fn of_kind(kind: Kind, reason: String) -> Self {
        Self {
            kind,
            namespace: Str::default(),
            except: Str::default(),
            is_forbidden: false,
            reason,
        }
    }

    /// Returns what one namespace does not show about the others.
    pub fn elsewhere(kind: Kind, namespace: &str) -> Self {
        let reason = format!("the snapshot contains namespace `{namespace}` only");
        Self {
            except: namespace.into(),
            ..Self::of_kind(kind, reason)
        }
    }

    /// Returns whether the gap hides objects of `kind` in `namespace` (empty: in any namespace).
    pub fn hides(&self, kind: Kind, namespace: &str) -> bool {
        let hidden = self.namespace.is_empty() || namespace.is_empty() || self.namespace == namespace;
        let known = !self.except.is_empty() && self.except == namespace;
        self.kind == kind && hidden && !known
    }
}

/// A profile of kube-scheduler, as its configuration has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchedulerProfile {
    /// Name in pods.
    pub name: Str,
    /// Plugins that affect devices and nodes here, and that the profile disables.
    pub disabled: Vec<Str>,
}

impl SchedulerProfile {
    /// The profile that kube-scheduler has by default, and the scheduler of pods that name none. Mirrors `core/v1/types.go`,
    /// `DefaultSchedulerName`, v1.37.2.
    pub const DEFAULT: &str = "default-scheduler";
}

/// Answer of the API server to an access review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessReview {
    /// User.
    pub user: String,
    /// Verb, API group, resource, subresource, namespace and name.
    pub request: [String; 6],
    /// True if any authorizer of the API server allows it.
    pub allowed: bool,
}

/// Facts about a cluster besides its objects.
#[derive(Clone, Debug)]
pub struct Environment {
    /// Release of the API server; of the file's server for a snapshot.
    pub version: Version,
    /// Source of the release.
    pub release_evidence: ReleaseEvidence,
    /// The version as the server says it, or absent when it was assumed.
    pub git_version: Option<String>,
    /// Minor release that the server emulates; its own without emulation.
    pub emulated_minor: u32,
    /// Oldest minor release that the server stays compatible with.
    pub min_compatibility_minor: u32,
    /// Gates with more evidence than the default, by component.
    pub gates: Vec<(Component, Gate, GateState)>,
    /// The profiles of kube-scheduler, where its configuration can be seen.
    pub scheduler_profiles: Option<Vec<SchedulerProfile>>,
    /// Objects of other kinds that the source has, as owners.
    pub owners: Arc<Owners>,
    /// Time at which the state was read.
    pub read_at: Option<Time>,
    /// The newest time of the objects, where that is not recorded and they show that it was long ago.
    pub assumed_now: Option<Time>,
    /// Source, for people: `cluster prod`, `file gpus.yaml`.
    pub source: String,
    /// Kinds that could not be read, in order.
    pub gaps: Vec<Gap>,
    /// Kinds of the gaps that a warning about the files has told together.
    pub told: Vec<Kind>,
    /// Kinds that the API server does not serve at all: there are none, rather than none known.
    pub not_served: Vec<Kind>,
    /// Versions beside the best one of a kind that the API server serves, as far as it shows: `resource.k8s.io/v1beta1`.
    pub old_versions: BTreeSet<String>,
    /// Permissions, as far as the API server was asked.
    pub reviews: Vec<AccessReview>,
}

impl Default for Environment {
    fn default() -> Self {
        let version = Version::LATEST;
        Self {
            version,
            release_evidence: ReleaseEvidence::Assumed,
            git_version: None,
            emulated_minor: version.minor,
            min_compatibility_minor: version.minor - 1,
            gates: Vec::new(),
            scheduler_profiles: None,
            owners: Arc::default(),
            read_at: None,
            assumed_now: None,
            source: String::new(),
            gaps: Vec::new(),
            told: Vec::new(),
            not_served: Vec::new(),
            old_versions: BTreeSet::new(),
            reviews: Vec::new(),
        }
    }
}

impl Environment {
    /// The state of `gate` in `component`: the strongest evidence, else the default of the release. A gate that the release does
    /// not know is off.
    pub fn gate(&self, component: Component, gate: Gate) -> GateState {
        let known = self
            .gates
            .iter()
            .filter(|(of, which, _)| *of == component && *which == gate);
        if let Some((_, _, state)) = known.max_by(|(_, _, a), (_, _, b)| a.evidence.cmp(&b.evidence)) {
            return state.clone();
        }
        let enabled = gate
            .default_in(self.emulated_minor, self.min_compatibility_minor)
            .unwrap_or(false);
        GateState {
            enabled,
            evidence: Evidence::Assumed,
        }
    }

    /// Takes `version` for that of the cluster, without emulation.
    pub fn assume(&mut self, version: Version, evidence: ReleaseEvidence) {
        self.version = version;
        self.release_evidence = evidence;
        self.git_version = None;
        self.emulated_minor = version.minor;
        self.min_compatibility_minor = version.minor.saturating_sub(1);
    }

    /// Returns whether `gate` is on in `component`.
    pub fn enabled(&self, component: Component, gate: Gate) -> bool {
        self.gate(component, gate).enabled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_have_the_defaults_of_their_release() {
        for gate in Gate::all() {
            assert_eq!(Gate::find(gate.name()), Some(gate));
            assert_eq!(format!("{gate:?}"), gate.name());
        }
        for (gate, minor, expected) in [
            (Gate::DRADeviceTaints, 35, Some(false)),
            (Gate::DRADeviceTaints, 36, Some(true)),
            (Gate::DRADeviceTaintRules, 34, None),
            (Gate::DRADeviceTaintRules, 36, Some(false)),
            (Gate::DRADeviceTaintRules, 37, Some(true)),
            (Gate::DRAWorkloadResourceClaims, 37, Some(false)),
            (Gate::DRAFractionalCapacityRange, 37, Some(false)),
        ] {
            assert_eq!(gate.default_in(minor, minor - 1), expected, "{gate} in 1.{minor}");
        }
        assert_eq!(Gate::DRAFractionalCapacityRange.default_in(37, 37), Some(true));
        assert_eq!(Gate::GangScheduling.default_in(36, 35), Some(false));
        assert_eq!(Gate::GangScheduling.default_in(37, 36), None);
        assert!(!Gate::DRAAdminAccess.is_locked_in(35) && Gate::DRAAdminAccess.is_locked_in(36));
        assert!(!Gate::DRADeviceTaints.is_locked_in(37));
        assert_eq!(Gate::DRADeviceTaintRules.stage_in(34), None);
        assert_eq!(Gate::DRADeviceTaintRules.stage_in(36), Some(Stage::Beta));
        assert_eq!(Gate::DRAListTypeAttributes.stage_in(37), Some(Stage::Alpha));
    }

    #[test]
    fn a_gap_hides_its_namespace_and_whatever_covers_it() {
        let gap = |namespace: &str, except: &str| Gap {
            kind: Kind::Pod,
            namespace: namespace.into(),
            except: except.into(),
            is_forbidden: false,
            reason: String::new(),
        };
        for (gap, namespace, hides) in [
            (gap("", ""), "", true),
            (gap("", ""), "a", true),
            (gap("a", ""), "a", true),
            (gap("a", ""), "b", false),
            (gap("a", ""), "", true),
            (gap("", "a"), "a", false),
            (gap("", "a"), "b", true),
            (gap("", "a"), "", true),
        ] {
            assert_eq!(gap.hides(Kind::Pod, namespace), hides, "{gap:?} {namespace}");
            assert!(!gap.hides(Kind::Node, namespace));
        }
    }

    #[test]
    fn the_strongest_evidence_decides() {
        let state = |enabled, evidence| GateState { enabled, evidence };
        let mut environment = Environment::default();
        let gate = Gate::DRAWorkloadResourceClaims;
        assert_eq!(
            environment.gate(Component::Scheduler, gate),
            state(false, Evidence::Assumed)
        );
        environment
            .gates
            .push((Component::Scheduler, gate, state(false, Evidence::Flag)));
        environment
            .gates
            .push((Component::Scheduler, gate, state(true, Evidence::Metrics)));
        assert_eq!(
            environment.gate(Component::Scheduler, gate),
            state(false, Evidence::Flag)
        );
        assert!(!environment.enabled(Component::ControllerManager, gate));
    }
}
