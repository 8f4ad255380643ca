//! Known bugs of the control plane in dealing with devices: which patch releases have them, what exposes a cluster, and where they were
//! reported. What a bug does is not imitated unless the table says so.

#[cfg(test)]
mod tests;
mod view;

pub(super) use self::view::is_for_several_nodes;
use self::view::{Ask, View};
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::eviction;
use crate::reservation::{PodGroups, claim_names, resolves_to};
use dra_allocator::devices::Taints;
use dra_model::{Claim, Cluster, Component, Gate, Key, Node, Pod, ReleaseEvidence, Str, Version, lookup};

/// Harm of a bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Harm {
    /// The status of claims is not as it should be.
    Status,
    /// Pods stay pending that could run, or keep devices although they should be evicted.
    Pending,
    /// Devices are allocated that should not be, pods are evicted that should stay, or kube-scheduler can crash.
    Outage,
    /// The scheduler ends whenever it looks at such a pod, so that none is scheduled any more.
    Panic,
}

/// A bug that makes a component deviate from its rules.
#[derive(Debug)]
pub struct Bug {
    /// Report or fix: an issue or pull request of kubernetes/kubernetes.
    pub issue: u32,
    /// Component: kube-scheduler by default.
    pub component: Component,
    /// First release of 1.x that has it, as minor release and patch.
    since: (u32, u32),
    /// Patch releases of 1.x that fixed it, by minor release. Older releases without one never got the fix, newer ones had it from
    /// the beginning.
    fixed: &'static [(u32, u32)],
    /// It shows only with all of these on in the component. A gate that the release does not have yet does not count.
    gates: &'static [Gate],
    /// Harm.
    pub harm: Harm,
    /// The allocator does the same in these releases, so that its answer is the scheduler's all the same; or nothing is granted otherwise.
    is_imitated: bool,
    /// Trigger.
    shows: fn(&View<'_>) -> Vec<String>,
    /// Behavior of the component, after its name.
    pub what: &'static str,
}

/// Pods stay on tainted devices that they have for extended resources.
const PASSED_OVER: u32 = 141_290;

/// A pod is evicted that tolerates the taint.
const TOLERATION_LOST: u32 = 134_479;

/// A kubelet does not reach a driver any more.
const IDLE_DRIVER: u32 = 133_920;

/// A kubelet counts an extended resource that DRA provides as one of its node.
const COUNTED: u32 = 135_669;

/// A kubelet does not prepare the claims of a pod behind one that is prepared already.
const SKIPPED: u32 = 135_901;

/// What most of them have in common.
const BUG: Bug = Bug {
    issue: 0,
    component: Component::Scheduler,
    since: (34, 0),
    fixed: &[],
    gates: &[],
    harm: Harm::Pending,
    is_imitated: true,
    shows: |_| Vec::new(),
    what: "",
};

/// The bugs, newest first.
const BUGS: &[Bug] = &[
    Bug {
        issue: 141_998,
        fixed: &[(37, 1)],
        gates: &[Gate::DRADeviceTaints, Gate::DRADeviceTaintRules],
        harm: Harm::Outage,
        shows: |view| view.bare_rules(),
        what: "applies a DeviceTaintRule without a selector to every device, so that no pod with claims is \
              scheduled",
        ..BUG
    },
    Bug {
        issue: 141_922,
        fixed: &[(34, 12), (35, 9), (36, 5), (37, 1)],
        harm: Harm::Panic,
        is_imitated: false,
        shows: |view| view.huge_counts(),
        what: "panics when the counts of a claim overflow 64 bits",
        ..BUG
    },
    Bug {
        issue: 141_898,
        fixed: &[(38, 0)],
        shows: |view| view.all_of_broken_pools(),
        what: "rejects a pod on every node when a request wants all devices and the pool of one node is \
              incomplete or invalid",
        ..BUG
    },
    Bug {
        issue: PASSED_OVER,
        component: Component::ControllerManager,
        fixed: &[(37, 2)],
        gates: &[Gate::DRADeviceTaints],
        shows: |view| with_taints(view.cluster, eviction::passed_over(view.cluster)),
        what: "never evicts a pod from a tainted device that it uses through an extended resource",
        ..BUG
    },
    Bug {
        issue: 140_769,
        fixed: &[(37, 0)],
        gates: &[Gate::DRAConsumableCapacity],
        harm: Harm::Outage,
        shows: |view| view.all_of_shareable(),
        what: "skips fully used devices when a request wants all devices and some can be shared",
        ..BUG
    },
    Bug {
        issue: 140_702,
        fixed: &[(37, 0)],
        gates: &[Gate::DRAConsumableCapacity],
        harm: Harm::Outage,
        is_imitated: false,
        shows: |view| view.amounts_that_change(),
        what: "adds the pod's other consumption of a device to the requested amount itself when the amount is \
              stored as decimal digits",
        ..BUG
    },
    // Fixed by kubernetes/kubernetes#142202.
    Bug {
        issue: 140_650,
        fixed: &[(38, 0)],
        gates: &[Gate::DRAConsumableCapacity],
        shows: |view| view.capacities_named_otherwise(),
        what: "skips a device unless the request spells its capacity exactly as the device does, with or \
              without the driver's domain",
        ..BUG
    },
    Bug {
        issue: 140_518,
        fixed: &[(37, 0)],
        gates: &[Gate::DRAPartitionableDevices],
        harm: Harm::Outage,
        is_imitated: false,
        shows: |view| view.counters_that_change(),
        what: "modifies counters while it reads them when they are stored as decimal digits",
        ..BUG
    },
    Bug {
        issue: 140_442,
        fixed: &[(37, 0)],
        gates: &[Gate::DRAConsumableCapacity],
        harm: Harm::Outage,
        shows: |view| view.odd_capacities(),
        what: "accepts a negative amount of capacity, or one that overflows 64 bits",
        ..BUG
    },
    Bug {
        issue: 140_438,
        fixed: &[(37, 0)],
        gates: &[Gate::DRAConsumableCapacity],
        harm: Harm::Outage,
        shows: |view| view.distinct_in_request(),
        what: "compares only some of the devices when a constraint wants distinct values within one request",
        ..BUG
    },
    Bug {
        issue: 140_437,
        // Before, the counters of shares did not count at all.
        since: (36, 2),
        fixed: &[(37, 0)],
        gates: &[Gate::DRAPartitionableDevices, Gate::DRAConsumableCapacity],
        shows: |view| view.bare_shares(),
        what: "charges the counters of a shared device again for each additional share, if no claim consumes \
              its capacity",
        ..BUG
    },
    Bug {
        issue: 140_435,
        since: (35, 0),
        fixed: &[(36, 4)],
        gates: &[Gate::DRAPartitionableDevices],
        harm: Harm::Outage,
        is_imitated: false,
        shows: |view| view.pools_of_one_name(),
        what: "mixes up the counters of two drivers whose pools share a name",
        ..BUG
    },
    Bug {
        issue: 140_431,
        fixed: &[(36, 3)],
        is_imitated: false,
        shows: |view| view.can_leak(),
        what: "does not return what a rejected device took from counters and constraints, so that a pod that \
              fits can stay pending",
        ..BUG
    },
    Bug {
        issue: 139_732,
        fixed: &[(37, 0)],
        harm: Harm::Status,
        shows: |view| view.repeated_configs(),
        what: "copies a configuration into the allocation once for each request that it names",
        ..BUG
    },
    Bug {
        issue: 139_681,
        since: (36, 0),
        fixed: &[(36, 3)],
        gates: &[Gate::DRADeviceTaints, Gate::DRADeviceTaintRules],
        harm: Harm::Outage,
        is_imitated: false,
        shows: |view| view.rules(),
        what: "can panic on DeviceTaintRules, or ignore them",
        ..BUG
    },
    Bug {
        issue: 139_332,
        since: (36, 0),
        fixed: &[(37, 0)],
        gates: &[Gate::DRAListTypeAttributes],
        shows: |view| view.lists_compared(),
        what: "does not support list attributes in constraints, whatever the feature gate says",
        ..BUG
    },
    Bug {
        issue: 139_040,
        fixed: &[(36, 2)],
        gates: &[Gate::DRAPartitionableDevices, Gate::DRAConsumableCapacity],
        harm: Harm::Outage,
        is_imitated: false,
        shows: |view| view.shareable_partitions(),
        what: "does not charge counters for shared devices, so that it allocates partitions that exclude each \
              other",
        ..BUG
    },
    Bug {
        issue: 139_016,
        since: (35, 0),
        fixed: &[(35, 6), (36, 2)],
        gates: &[Gate::DRAPrioritizedList],
        is_imitated: false,
        shows: |view| view.mixed_pods(),
        what: "can leave a pod pending forever if it uses a claim that is allocated for several nodes beside \
              an unallocated one",
        ..BUG
    },
    Bug {
        issue: 138_917,
        since: (35, 0),
        fixed: &[(37, 0)],
        gates: &[Gate::DRAPartitionableDevices],
        shows: |view| view.all_beside_broken_counters(),
        what: "treats slices with counters as slices of every node, so that a request for all devices fails \
              when the pool of another node is incomplete",
        ..BUG
    },
    Bug {
        issue: 138_885,
        since: (35, 0),
        fixed: &[(35, 6), (36, 2)],
        gates: &[Gate::DRAPartitionableDevices],
        harm: Harm::Panic,
        is_imitated: false,
        shows: |view| view.all_with_counters(),
        what: "panics when a request wants all devices and some consume counters",
        ..BUG
    },
    Bug {
        issue: 137_347,
        fixed: &[(36, 0)],
        gates: &[Gate::DRAPrioritizedList],
        shows: |view| view.all_as_later_alternative(),
        what: "loses its place when an alternative after the first one wants all devices, so that the \
              alternative is not allocated",
        ..BUG
    },
    Bug {
        issue: 136_566,
        fixed: &[(34, 4), (35, 1)],
        harm: Harm::Outage,
        shows: |view| view.claims_in_use(),
        what: "can allocate one device to two claims when it schedules many pods in a short time",
        ..BUG
    },
    // Fixed by kubernetes/kubernetes#135919.
    Bug {
        issue: SKIPPED,
        component: Component::Kubelet,
        fixed: &[(34, 4), (35, 1), (36, 0)],
        shows: skipped_pods,
        what: "skips the claims of a pod behind one that is already prepared for another pod",
        ..BUG
    },
    Bug {
        issue: COUNTED,
        component: Component::Kubelet,
        fixed: &[(36, 0)],
        shows: counted_pods,
        what: "rejects a pod with `OutOf…` if its node still lists the extended resource that the pod has through DRA",
        ..BUG
    },
    Bug {
        issue: 135_098,
        fixed: &[(34, 2)],
        harm: Harm::Status,
        shows: |view| view.classes_with_config(),
        what: "does not record in the allocation which requests the configuration of a class applies to",
        ..BUG
    },
    Bug {
        issue: TOLERATION_LOST,
        fixed: &[(35, 0)],
        gates: &[Gate::DRADeviceTaints],
        harm: Harm::Outage,
        shows: |view| view.tolerations_lost(),
        what: "does not copy tolerations into the allocation, so that the pod is evicted even if its request \
              tolerates the taint",
        ..BUG
    },
    Bug {
        issue: 134_466,
        fixed: &[(35, 0)],
        shows: |view| view.all_of_pools_for_several_nodes(),
        what: "treats a pool as incomplete when it has slices for other nodes, so that a request for all \
              devices fails",
        ..BUG
    },
    Bug {
        issue: IDLE_DRIVER,
        component: Component::Kubelet,
        fixed: &[(34, 2)],
        shows: idle_nodes,
        what: "stops preparing and unpreparing devices once its connection to a driver has been idle for 30 minutes, \
              until it is restarted",
        ..BUG
    },
    Bug {
        issue: 133_706,
        fixed: &[(35, 0)],
        gates: &[Gate::DRAConsumableCapacity],
        harm: Harm::Outage,
        is_imitated: false,
        shows: |view| view.compared_by_number(),
        what: "checks the capacity of the wrong device after the first one of a request, and may panic",
        ..BUG
    },
];

impl Bug {
    /// The release that has the fix, where `version` has not.
    pub fn fix_for(&self, version: Version) -> Option<Version> {
        let here = self.fixed.iter().find(|(minor, _)| *minor == version.minor);
        let newest = self.fixed.iter().map(|(minor, _)| *minor).max()?;
        let is_open = match here {
            Some((_, patch)) => version.patch < *patch,
            None => version.minor < newest,
        };
        let (minor, patch) = *here.or_else(|| self.fixed.iter().find(|(minor, _)| *minor > version.minor))?;
        let fix = Version {
            major: version.major,
            minor,
            patch,
        };
        let own = (version.minor, version.patch);
        (own >= self.since && is_open).then_some(fix)
    }

    /// Returns whether a release of 1.`minor` has it, and one of them is fixed: then the patch decides.
    pub fn depends_on_patch(&self, minor: u32) -> bool {
        self.fixed
            .iter()
            .any(|(fixed, patch)| *fixed == minor && *patch > 0)
    }

    fn applies(&self, cluster: &Cluster) -> Option<Version> {
        if self.component == Component::Kubelet {
            return cluster.nodes().find_map(|node| self.fix_for_node(node));
        }
        let environment = cluster.environment();
        let on = |gate: &Gate| {
            let exists = gate.stage_in(environment.emulated_minor).is_some();
            !exists || environment.enabled(self.component, *gate)
        };
        self.fix_for(environment.version)
            .filter(|_| self.gates.iter().all(on))
    }
}

impl Bug {
    /// The release that has the fix, where the kubelet of the node has not.
    fn fix_for_node(&self, node: &Node) -> Option<Version> {
        let version = node.status.node_info.kubelet_version.parse().ok()?;
        self.fix_for(version)
    }
}

/// The bug of the kubelet of `node`, and the release that has the fix.
fn bug_of_kubelet(issue: u32, node: &Node) -> Option<(&'static Bug, Version)> {
    let bug = BUGS.iter().find(|bug| bug.issue == issue)?;
    Some((bug, bug.fix_for_node(node)?))
}

/// The nodes with pods with claims whose kubelet may lose its connection to a driver.
fn idle_nodes(view: &View<'_>) -> Vec<String> {
    let cluster = view.cluster;
    let pods = cluster
        .pods()
        .filter(|pod| !pod.spec.resource_claims.is_empty() && !pod.is_terminal());
    let used: BTreeSet<&Str> = pods.filter_map(|pod| pod.node()).collect();
    let nodes = used.into_iter().filter_map(|name| cluster.node(name));
    let nodes = nodes.filter(|node| bug_of_kubelet(IDLE_DRIVER, node).is_some());
    nodes.map(|node| format!("node/{}", node.metadata.name)).collect()
}

/// Returns whether the kubelet rejects the pod, or has rejected it, as its node has too little of a resource that DRA provides.
///
/// Mirrors `kubelet/lifecycle/predicate.go`, `removeMissingExtendedResources`, v1.35.8: a resource that the node does not list is of no interest.
fn is_counted(pod: &Pod, node: &Node) -> bool {
    let mut mappings = pod
        .status
        .extended_resource_claim_status
        .iter()
        .flat_map(|status| &status.request_mappings);
    mappings.any(|mapping| {
        let name = &mapping.resource_name;
        let reason = pod.status.reason.as_ref();
        let is_rejected = || reason.is_some_and(|reason| reason.as_str() == format!("OutOf{name}"));
        lookup(&node.status.allocatable, name)
            .is_some_and(|left| is_rejected() || left.is_zero() && pod.status.phase == "Pending")
    })
}

fn counted_pods(view: &View<'_>) -> Vec<String> {
    let cluster = view.cluster;
    names(cluster.pods().filter(|pod| of_rejected(cluster, pod).is_some()))
}

/// A claim of a pod that was prepared for another one before, so that the kubelet skips the claims behind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skips {
    /// The claim.
    pub prepared: Key,
    /// The other pod.
    pub user: Key,
    /// The bug.
    pub issue: u32,
    /// The release of the kubelet that has the fix.
    pub fix: Str,
}

/// Returns at which claim of the pod its kubelet, by its version, stops before the one with the name `skipped`, or before the last.
pub fn skips(cluster: &Cluster, pod: &Pod, skipped: Option<&str>) -> Option<Skips> {
    let (bug, fix) = bug_of_kubelet(SKIPPED, cluster.node(pod.node()?)?)?;
    let claims: Vec<&Claim> = claim_names(pod)
        .filter_map(|name| name.find(cluster).map(|claim| &**claim))
        .collect();
    let end = match skipped {
        Some(name) => claims.iter().position(|claim| claim.metadata.name == *name)?,
        None => claims.len().checked_sub(1)?,
    };
    claims[..end].iter().find_map(|claim| {
        let key = claim.key();
        let mut others = cluster.pods_of_claim(&key).filter(|other| {
            other.metadata.uid != pod.metadata.uid
                && other.node() == pod.node()
                && other.status.phase == "Running"
                && resolves_to(other, claim, PodGroups::Accepted)
        });
        Some(Skips {
            prepared: key.clone(),
            user: others.next()?.key(),
            issue: bug.issue,
            fix: fixed_in(fix).into(),
        })
    })
}

fn skipped_pods(view: &View<'_>) -> Vec<String> {
    let cluster = view.cluster;
    let is_waiting = |pod: &&Arc<Pod>| pod.status.phase == "Pending" && skips(cluster, pod, None).is_some();
    names(cluster.pods().filter(is_waiting))
}

/// The bug of the kubelet that rejects the pod, in a sentence.
pub fn of_rejected(cluster: &Cluster, pod: &Pod) -> Option<String> {
    let node = cluster.node(pod.node()?)?;
    let (bug, fix) = bug_of_kubelet(COUNTED, node).filter(|_| is_counted(pod, node))?;
    let by = vec![format!("pod/{}", pod.key())];
    Some(Exposure { bug, fix, by }.text(cluster))
}

/// The bug of the kubelet of `node` that can keep its pods from starting and ending, in a sentence.
pub fn of_kubelet(cluster: &Cluster, node: &Str) -> Option<String> {
    let node = cluster.node(node)?;
    let (bug, fix) = bug_of_kubelet(IDLE_DRIVER, node)?;
    let by = vec![format!("node/{}", node.metadata.name)];
    Some(Exposure { bug, fix, by }.text(cluster))
}

/// A bug that a cluster can meet.
#[derive(Debug)]
pub struct Exposure {
    /// The bug.
    pub bug: &'static Bug,
    /// The release that has the fix; that of a minor release which is not out yet ends in 0.
    pub fix: Version,
    /// Triggers, as `claim/NAMESPACE/NAME`.
    pub by: Vec<String>,
}

impl Exposure {
    /// The bug in a sentence, for a note.
    pub fn text(&self, cluster: &Cluster) -> String {
        let Self { bug, fix, .. } = self;
        format!(
            "a known bug: {} before {} {} (kubernetes/kubernetes#{}){}",
            bug.component,
            fixed_in(*fix),
            bug.what,
            bug.issue,
            vendor(cluster).map_or_else(String::new, |vendor| format!("; {vendor}")),
        )
    }

    /// The same of a bug of [`of_placed`], with the pods that it is about, of `namespace` alone if one is given; nothing where there are
    /// none.
    pub fn of_pods(&self, cluster: &Cluster, namespace: Option<&Str>) -> Option<String> {
        const NAMED: usize = 3;
        let prefix = namespace.map_or_else(|| "pod/".to_owned(), |namespace| format!("pod/{namespace}/"));
        let pods: Vec<&str> = (self.by.iter().map(String::as_str))
            .filter(|pod| pod.starts_with(&prefix))
            .collect();
        let is_stay = self.bug.issue == PASSED_OVER;
        let does = match (pods.len(), is_stay) {
            (0, _) => return None,
            (1, true) => "stays on a tainted device",
            (_, true) => "stay on tainted devices",
            (1, false) => "is evicted although its request tolerates the taint",
            (_, false) => "are evicted although their requests tolerate the taint",
        };
        let rest = match pods.len().saturating_sub(NAMED) {
            0 => String::new(),
            rest => format!(" and {rest} more"),
        };
        let named = pods.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
        Some(format!("{named}{rest} {does}: {}", self.text(cluster)))
    }
}

/// Bugs that change the effect of taints on pods with devices: pods stay on tainted devices that they have for extended
/// resources, and pods are evicted although they tolerate the taint. Only for `pod`, if given.
pub fn of_placed(cluster: &Cluster, pod: Option<&Pod>) -> Vec<Exposure> {
    let exposure = |bug: &'static Bug| {
        let fix = bug.applies(cluster)?;
        let pods = match bug.issue {
            PASSED_OVER => eviction::passed_over(cluster),
            TOLERATION_LOST => eviction::evicted_despite_request(cluster),
            _ => return None,
        };
        let mut by = names(pods.into_iter().map(|(pod, _)| pod));
        if let Some(pod) = pod {
            by.retain(|name| *name == format!("pod/{}", pod.key()));
        }
        (!by.is_empty()).then_some(Exposure { bug, fix, by })
    };
    BUGS.iter().filter_map(exposure).collect()
}

/// The pods, with the taints that evict them.
fn with_taints(cluster: &Cluster, pods: Vec<(&Arc<Pod>, &Arc<Claim>)>) -> Vec<String> {
    if pods.is_empty() {
        return Vec::new();
    }
    let taints = Taints::of(cluster);
    let name = |(pod, claim): (&Arc<Pod>, &Arc<Claim>)| {
        let pod = format!("pod/{}", pod.key());
        match eviction::evicting_taint(claim.results(), &taints) {
            Some((_, taint, Some(rule))) => format!("{pod} (taint {taint} by rule/{rule})"),
            Some((_, taint, None)) => format!("{pod} (taint {taint})"),
            None => pod,
        }
    };
    pods.into_iter().map(name).collect()
}

fn names<'c>(pods: impl Iterator<Item = &'c Arc<Pod>>) -> Vec<String> {
    pods.map(|pod| format!("pod/{}", pod.key())).collect()
}

/// The bugs that the release of `cluster` has and that its objects can bring to show: claims that have no devices yet, templates, pods,
/// pools, rules and classes.
pub fn exposures(cluster: &Cluster) -> Vec<Exposure> {
    let claims = cluster
        .claims()
        .filter(|claim| claim.status.allocation.is_none() && !claim.metadata.is_deleting());
    let claims = claims.map(|claim| Ask {
        name: format!("claim/{}", claim.key()),
        spec: &claim.spec,
    });
    let templates = cluster.templates().map(|template| Ask {
        name: format!("template/{}", template.metadata.key()),
        spec: &template.spec.spec,
    });
    let pods = cluster
        .pods()
        .filter(|pod| pod.node().is_none() && !pod.is_terminal());
    let view = View::new(
        cluster,
        claims.chain(templates).collect(),
        pods.map(|pod| &**pod).collect(),
    );
    exposed(&view)
}

fn exposed(view: &View<'_>) -> Vec<Exposure> {
    // One pod that is to be scheduled does not concern other components.
    let concerns = |bug: &&Bug| bug.component == Component::Scheduler || !view.is_of_one_pod;
    BUGS.iter()
        .filter(concerns)
        .filter_map(|bug| {
            let fix = bug.applies(view.cluster)?;
            let by = (bug.shows)(view);
            (!by.is_empty()).then_some(Exposure { bug, fix, by })
        })
        .collect()
}

/// Messages about the bugs that affect the answer for `pod`, or for claims, when `wanted` are allocated: bugs that can
/// change the answer, and bugs that the answer shows.
#[derive(Debug, Default)]
pub struct Told {
    /// The answer may be another one.
    pub doubts: Vec<String>,
    /// The answer is the scheduler's, bug and all.
    pub notes: Vec<String>,
    /// The bugs that some of that is about.
    pub bugs: Vec<KnownBug>,
    /// The bug that crashes kube-scheduler when it evaluates the pod.
    pub panic: Option<Panic>,
}

/// A bug of kube-scheduler that bears on an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownBug {
    /// Its issue or pull request.
    pub issue: u32,
    /// The release that has the fix.
    pub fix: Version,
}

/// That the scheduler ends when it looks at a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Panic {
    /// The issue or pull request of the bug.
    pub issue: u32,
    /// True if the release is known to have the bug, rather than a patch of it.
    pub is_known: bool,
}

/// The bugs that bear on an answer. `mixed` says that a claim of the pod is allocated for several nodes.
pub(super) fn told(cluster: &Cluster, pod: Option<&Pod>, wanted: &[&Claim], mixed: bool) -> Told {
    let asks = wanted.iter().map(|claim| Ask {
        name: format!("claim/{}", claim.key()),
        spec: &claim.spec,
    });
    let mut view = View::new(cluster, asks.collect(), pod.into_iter().collect());
    view.is_mixed = mixed;
    view.is_of_one_pod = true;
    let mut told = Told::default();
    for exposure in exposed(&view) {
        let bug = exposure.bug;
        // Races and what a status says are nothing that one answer shows.
        if bug.harm == Harm::Status || bug.issue == 136_566 {
            continue;
        }
        told.bugs.push(KnownBug {
            issue: bug.issue,
            fix: exposure.fix,
        });
        let text = exposure.text(cluster);
        if bug.harm == Harm::Panic {
            let environment = cluster.environment();
            let is_patch_known = environment.release_evidence == ReleaseEvidence::Patch;
            told.panic.get_or_insert(Panic {
                issue: bug.issue,
                is_known: is_patch_known || !bug.depends_on_patch(environment.version.minor),
            });
        }
        if bug.is_imitated {
            told.notes.push(text);
        } else {
            told.doubts.push(text);
        }
    }
    told
}

/// `1.36.2`; a minor release that is not out yet, and that this program was not compared with, without a patch.
pub fn fixed_in(fix: Version) -> String {
    if fix.minor > Version::NEWEST_MINOR {
        format!("{}.{}", fix.major, fix.minor)
    } else {
        fix.to_string()
    }
}

/// The release is a vendor build with unknown bugs.
pub fn vendor(cluster: &Cluster) -> Option<String> {
    let environment = cluster.environment();
    let said = environment.git_version.as_deref()?;
    let own = environment.version;
    let plain = said.trim_start_matches('v') == own.to_string();
    (!plain).then(|| format!("{said} is treated as {own}; its vendor may have backported fixes"))
}
