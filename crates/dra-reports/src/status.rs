//! `kubectl dra status`: a cluster on one screen.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;

use super::findings::{CheckRequest, Counts, check_by};
use super::node_room::BlockedCount;
use super::stage::StageCount;
use super::usage::{Counting, FreeByNode, Measures, UnitSums};
use super::{IdleClaim, Selection, Units, UsageBy, UsageItem, Warnings, words};
use dra_allocator::devices::{DeviceState, Inventory, Nodes, PoolFacts, Taints, Unavailable, node_of};
use dra_model::{
    Cluster, Component, Device, DeviceId, Evidence, Gate, Kind, Node, NodeSelector, Pool, Slice, Str, Time,
};
use dra_rules::health::{Health, HealthIndex};
use dra_rules::reservation::ClaimState;
use dra_rules::scheduling::Run;

/// The report.
#[macro_rules_attribute::apply(report)]
pub struct ClusterStatus {
    /// By name.
    pub drivers: Vec<DriverStatus>,
    /// Claims of the namespaces that were looked at. Absent when they could not be read.
    pub claims: Option<ClaimCounts>,
    /// What `usage` is grouped by.
    pub usage_by: UsageBy,
    /// Who uses how much, by name; absent when claims or slices could not be read.
    pub usage: Option<Vec<UsageItem>>,
    /// Claims that have devices while no pod runs with them, by namespace and name; absent when claims or pods could not be read.
    pub idle: Option<Vec<IdleClaim>>,
    /// Pods with devices by how far they are on their nodes; absent when pods or claims could not be read.
    pub pod_stages: Option<Vec<StageCount>>,
    /// Releases of the kubelets, oldest first.
    pub kubelets: Vec<KubeletCount>,
    /// Numbers of defects that `check` finds in the whole cluster; none that it cannot find without what could not be read.
    pub findings: Counts,
    /// Whether there may be more findings.
    #[serde(skip)]
    pub findings_are_incomplete: bool,
    /// Whether the version of Kubernetes is only assumed.
    #[serde(skip)]
    pub version_is_assumed: bool,
    /// The version.
    #[serde(skip)]
    pub version: String,
    /// Gates with more evidence than the default.
    #[serde(skip)]
    pub gates: Vec<GateLine>,
    /// The time that ages count from.
    #[serde(skip)]
    pub now: Time,
    /// What is unknown.
    #[serde(skip)]
    pub warnings: Warnings,
}

/// One driver.
#[macro_rules_attribute::apply(report)]
#[derive(Default, PartialEq, Eq)]
pub struct DriverStatus {
    /// Its name.
    pub driver: Str,
    /// Nodes that reach a device of it.
    pub nodes: usize,
    /// Pools that it publishes.
    pub pools: usize,
    /// Pools with missing slices.
    pub incomplete_pools: usize,
    /// Its published devices. `total` is the sum of `allocated`, `shared`, `free`, `unavailable` and `unknown`.
    pub devices: DeviceCounts,
    /// Why unallocated devices are unavailable. A device may be unavailable for several reasons.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unavailable_reasons: Vec<BlockedCount>,
    /// The largest number of free devices that one node reaches; absent when it is unknown.
    pub most_free_on_one_node: Option<usize>,
    /// How much hardware there is behind the devices. A set of shared counters is a unit, and so is a device that draws from none.
    pub units: Units,
}

/// Numbers of devices. `total` is the sum of `allocated`, `shared`, `free`, `unavailable` and `unknown`.
#[macro_rules_attribute::apply(report)]
#[derive(Default, PartialEq, Eq)]
pub struct DeviceCounts {
    /// All that are published.
    pub total: usize,
    /// A claim holds all of it.
    pub allocated: usize,
    /// Claims hold shares of it.
    pub shared: usize,
    /// No claim holds it, and it can be allocated.
    pub free: usize,
    /// No claim holds it, but it cannot be allocated: counters are used up, or its pool is incomplete or invalid.
    pub unavailable: usize,
    /// Whether anybody holds it is unknown.
    pub unknown: usize,
    /// With a taint.
    pub tainted: usize,
    /// Reported as unhealthy.
    pub unhealthy: usize,
    /// Held, but not published. Not part of the total. Absent when slices could not be read.
    pub unpublished: Option<usize>,
}

/// What is counted of a published device.
pub(super) struct SeenDevice {
    state: DeviceState,
    /// Why it cannot be allocated, if no claim holds it.
    pub(super) unavailable: Vec<Unavailable>,
    is_tainted: bool,
    is_unhealthy: bool,
}

impl SeenDevice {
    pub(super) fn of(
        (inventory, taints, health): (&Inventory<'_>, &Taints<'_>, &HealthIndex<'_>),
        facts: &PoolFacts,
        id: &DeviceId,
        published: (&Slice, &Device),
    ) -> Self {
        let state = inventory.state(id);
        let unavailable = match state {
            DeviceState::Free => inventory.unavailable(facts, id, published),
            DeviceState::Allocated | DeviceState::Shared | DeviceState::Unknown => Vec::new(),
        };
        Self {
            state,
            unavailable,
            is_tainted: taints.of_device(id).next().is_some(),
            is_unhealthy: health.health(inventory, id) == Some(Health::Unhealthy),
        }
    }

    fn is_free(&self) -> bool {
        self.state == DeviceState::Free && self.unavailable.is_empty()
    }
}

impl DeviceCounts {
    /// Counts a published device.
    pub(super) fn count(&mut self, seen: &SeenDevice) {
        self.total += 1;
        match seen.state {
            DeviceState::Allocated => self.allocated += 1,
            DeviceState::Shared => self.shared += 1,
            DeviceState::Unknown => self.unknown += 1,
            DeviceState::Free if seen.is_free() => self.free += 1,
            DeviceState::Free => self.unavailable += 1,
        }
        self.tainted += usize::from(seen.is_tainted);
        self.unhealthy += usize::from(seen.is_unhealthy);
    }
}

/// Numbers of claims.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct ClaimCounts {
    /// All.
    pub total: usize,
    /// Those of each state that occurs.
    pub states: Vec<StateCount>,
}

/// Number of claims in one state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct StateCount {
    /// What `kubectl get resourceclaims` shows.
    pub state: ClaimState,
    /// How many.
    pub count: usize,
}

/// Number of kubelets of one release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct KubeletCount {
    /// The release, as the kubelet writes it.
    pub version: Str,
    /// How many nodes run it.
    pub nodes: usize,
}

/// A gate of one component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateLine {
    /// The gate.
    pub gate: Gate,
    /// The component.
    pub component: Component,
    /// Whether it is on.
    pub enabled: bool,
    /// How that is known.
    pub evidence: Evidence,
}

/// Kinds that the report needs.
pub const STATUS_NEEDS: [Kind; 11] = [
    Kind::Namespace,
    Kind::Node,
    Kind::DeviceClass,
    Kind::ResourceSlice,
    Kind::DeviceTaintRule,
    Kind::ResourceClaimTemplate,
    Kind::ResourceClaim,
    Kind::Pod,
    Kind::PodGroup,
    Kind::ResourceQuota,
    Kind::Event,
];

/// The status of `cluster` at `now`. Of `selection` the namespace and labels choose the claims that are counted by state, and those whose
/// usage is grouped `by` something. The most work is done on the threads of `run`.
pub fn status(
    cluster: &Cluster,
    selection: &Selection,
    by: UsageBy,
    now: Time,
    run: Run<'_>,
) -> ClusterStatus {
    let environment = cluster.environment();
    let mut warnings = Warnings::default();
    warnings.unknown_without(cluster, &words::UNKNOWN_STATUS);
    // The other kinds are read for the findings alone.
    for gap in &environment.gaps {
        let is_shown = words::UNKNOWN_STATUS.iter().any(|(kind, _)| *kind == gap.kind);
        if STATUS_NEEDS.contains(&gap.kind) && !is_shown {
            warnings.unknown(words::MORE_FINDINGS, gap);
        }
    }
    let line = |(component, gate, _): &(Component, Gate, _)| {
        let state = environment.gate(*component, *gate);
        GateLine {
            gate: *gate,
            component: *component,
            enabled: state.enabled,
            evidence: state.evidence,
        }
    };
    let mut gates: Vec<GateLine> = environment.gates.iter().map(line).collect();
    gates.sort_by_key(|line| (line.gate.name(), line.component));
    gates.dedup();
    let request = CheckRequest::now(now).told_of(cluster, &[]);
    let findings = check_by(cluster, &request, run);
    let namespace = selection.namespace.as_deref().unwrap_or_default();
    let knows_claims = cluster.gap(Kind::ResourceClaim, namespace).is_none();
    let (drivers, usage, idle) = drivers(cluster, selection, by, &mut warnings);
    ClusterStatus {
        drivers,
        claims: knows_claims.then(|| claims(cluster, selection)),
        usage_by: by,
        usage: knows_usage(cluster, selection).then_some(usage),
        idle: idle.filter(|_| knows_claims),
        pod_stages: (knows_claims && cluster.gap(Kind::Pod, namespace).is_none()).then(|| {
            StageCount::of(cluster, now, |pod| {
                let wanted = selection.namespace.as_ref();
                wanted.is_none_or(|namespace| *namespace == pod.metadata.namespace)
            })
        }),
        now,
        kubelets: kubelets(cluster),
        findings: findings.counts,
        findings_are_incomplete: !findings.unknown.is_empty(),
        version_is_assumed: environment.git_version.is_none(),
        version: environment
            .git_version
            .clone()
            .unwrap_or_else(|| format!("v{}", environment.version)),
        gates,
        warnings,
    }
}

/// The usage in [`status`] alone, grouped `by` something; nothing when claims or slices could not be read.
pub fn usage_by(cluster: &Cluster, selection: &Selection, by: UsageBy) -> Option<Vec<UsageItem>> {
    knows_usage(cluster, selection).then(|| drivers(cluster, selection, by, &mut Warnings::default()).1)
}

fn knows_usage(cluster: &Cluster, selection: &Selection) -> bool {
    let namespace = selection.namespace.as_deref().unwrap_or_default();
    cluster.gap(Kind::ResourceClaim, namespace).is_none() && cluster.gap(Kind::ResourceSlice, "").is_none()
}

fn claims(cluster: &Cluster, selection: &Selection) -> ClaimCounts {
    let mut counts: BTreeMap<ClaimState, usize> = BTreeMap::new();
    for claim in selection.claims(cluster) {
        *counts.entry(ClaimState::of(claim)).or_default() += 1;
    }
    ClaimCounts {
        total: counts.values().sum(),
        states: counts
            .into_iter()
            .map(|(state, count)| StateCount { state, count })
            .collect(),
    }
}

fn kubelets(cluster: &Cluster) -> Vec<KubeletCount> {
    let mut counts: BTreeMap<&Str, usize> = BTreeMap::new();
    for node in cluster.nodes() {
        let version = &node.status.node_info.kubelet_version;
        if !version.is_empty() {
            *counts.entry(version).or_default() += 1;
        }
    }
    let mut kubelets: Vec<_> = counts
        .into_iter()
        .map(|(version, nodes)| KubeletCount {
            version: version.clone(),
            nodes,
        })
        .collect();
    kubelets.sort_by_cached_key(|count| count.version.parse::<dra_model::Version>().ok());
    kubelets
}

/// A driver while it is counted.
#[derive(Default)]
struct Counted<'a> {
    status: DriverStatus,
    reached: Reached<'a>,
    free: FreeByNode<'a>,
    sums: UnitSums,
    unavailable: BTreeMap<Unavailable, usize>,
}

impl Counted<'_> {
    fn new(cluster: &Cluster, driver: &Str) -> Self {
        let devices = DeviceCounts {
            unpublished: cluster.gap(Kind::ResourceSlice, "").is_none().then_some(0),
            ..DeviceCounts::default()
        };
        let status = DriverStatus {
            driver: driver.clone(),
            devices,
            ..DriverStatus::default()
        };
        Self {
            status,
            ..Self::default()
        }
    }

    fn finish(self, cluster: &Cluster, warnings: &mut Warnings) -> DriverStatus {
        let Self {
            status,
            reached,
            free,
            sums,
            unavailable,
        } = self;
        let is_known = status.devices.unknown == 0 && cluster.gap(Kind::ResourceClaim, "").is_none();
        DriverStatus {
            nodes: reached.count(cluster, &status.driver, warnings),
            unavailable_reasons: BlockedCount::all(unavailable),
            most_free_on_one_node: free.most(cluster).filter(|_| is_known),
            units: sums.units(is_known),
            ..status
        }
    }
}

/// The drivers by name, who uses what of them, and claims that do so without a pod that runs.
pub(super) fn drivers(
    cluster: &Cluster,
    selection: &Selection,
    by: UsageBy,
    warnings: &mut Warnings,
) -> (Vec<DriverStatus>, Vec<UsageItem>, Option<Vec<IdleClaim>>) {
    let inventory = Inventory::of(cluster);
    let taints = Taints::of(cluster);
    let health = HealthIndex::of(cluster);
    let mut usage = Counting::new(cluster, selection, by);
    let mut drivers: BTreeMap<Str, Counted<'_>> = BTreeMap::new();
    let mut free = BTreeSet::new();
    for pool in cluster.pools() {
        let counted = drivers
            .entry(pool.id.driver.clone())
            .or_insert_with(|| Counted::new(cluster, &pool.id.driver));
        counted.status.pools += 1;
        counted.status.incomplete_pools += usize::from(!pool.is_complete());
        counted.reached.add(&pool);
        let facts = inventory.pool_facts(&pool);
        let measures = Measures::of(&pool, &facts, &mut counted.sums);
        let mut node = None;
        for (slice, device) in pool.devices() {
            let id = pool.device_id(&device.name);
            let seen = SeenDevice::of((&inventory, &taints, &health), &facts, &id, (slice, device));
            counted.status.devices.count(&seen);
            let is_free = seen.is_free();
            if is_free {
                counted.free.add(Nodes::of_device(slice, device));
            }
            for reason in seen.unavailable {
                *counted.unavailable.entry(reason).or_default() += 1;
            }
            let (of_device, _) = node_of(slice, device);
            free.extend(
                of_device
                    .clone()
                    .filter(|_| is_free)
                    .map(|node| (id.driver.clone(), node)),
            );
            usage.device(
                &inventory,
                (&id, device),
                of_device.as_ref(),
                &measures,
                &mut counted.sums,
            );
            node = node.or(of_device);
        }
        usage.sets(&pool.id.driver, node.as_ref(), &measures);
    }
    for id in inventory.unpublished() {
        let counted = drivers
            .entry(id.driver.clone())
            .or_insert_with(|| Counted::new(cluster, &id.driver));
        if let Some(unpublished) = &mut counted.status.devices.unpublished {
            *unpublished += 1;
        }
        usage.unpublished(&inventory, &id, &mut counted.sums);
    }
    warnings.beside_plugins(cluster, free);
    // Of a driver that only claims name, nothing is known where slices were not read.
    let are_read = cluster.gap(Kind::ResourceSlice, "").is_none();
    let drivers: Vec<DriverStatus> = drivers
        .into_values()
        .filter(|counted| are_read || counted.status.pools > 0)
        .map(|counted| counted.finish(cluster, warnings))
        .collect();
    let units_of = |driver: &Str| {
        let place = drivers.binary_search_by(|status| status.driver.cmp(driver));
        place.map_or(0, |place| drivers[place].units.total)
    };
    let (items, idle) = usage.finish(units_of);
    (drivers, items, idle)
}

/// The nodes that slices of a driver are for.
#[derive(Default)]
struct Reached<'a> {
    names: BTreeSet<&'a Str>,
    all: bool,
    /// Those that a selector matches; devices of a pool mostly share one.
    selectors: Vec<&'a NodeSelector>,
}

impl<'a> Reached<'a> {
    fn add(&mut self, pool: &Pool<'a>) {
        for slice in pool.slices.iter().copied() {
            if !slice.spec.per_device_node_selection {
                self.add_nodes(Nodes::of_slice(slice));
                continue;
            }
            for device in &slice.spec.devices {
                self.add_nodes(Nodes::of_device(slice, device));
            }
        }
    }

    fn add_nodes(&mut self, nodes: Nodes<'a>) {
        if let Some(name) = nodes.only() {
            self.names.insert(name);
        } else if nodes.all {
            self.all = true;
        } else if let Some(selector) = nodes.selector
            && self.selectors.last() != Some(&selector)
        {
            self.selectors.push(selector);
        }
    }

    /// How many there are: named ones, and those of the cluster that a selector matches.
    fn count(self, cluster: &'a Cluster, driver: &Str, warnings: &mut Warnings) -> usize {
        let Self {
            mut names,
            all,
            selectors,
        } = self;
        if all {
            names.extend(cluster.nodes().map(|node| &node.metadata.name));
            return names.len();
        }
        let mut left: Vec<&Arc<Node>> = cluster
            .nodes()
            .filter(|node| !names.contains(&node.metadata.name))
            .collect();
        for selector in selectors {
            if let Some(why) = cluster.meter().exhausted() {
                warnings.add(words::nodes_not_counted(driver, &why));
                break;
            }
            cluster.meter().look(left.len());
            left.retain(|node| {
                let matches = selector.matches(&node.metadata).unwrap_or_else(|invalid| {
                    warnings.add(words::nodes_not_counted(driver, &invalid));
                    false
                });
                if matches {
                    names.insert(&node.metadata.name);
                }
                !matches
            });
        }
        names.len()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::warnings::texts;
    use dra_rules::scheduling::in_order;
    use dra_testing::{World, holding, json_of, now, status as holding_results};

    #[test]
    fn devices_and_claims_are_counted_by_state() {
        let share =
            json!([{"request": "r", "driver": "d", "pool": "node-1", "device": "shared", "shareID": "1"}]);
        let zone = json!({"nodeSelectorTerms": [{"matchExpressions": [
            {"key": "zone", "operator": "Exists"}]}]});
        let cluster = World::default()
            .node("node-1", &json!({"zone": "a"}))
            .node("node-2", &json!({}))
            .slice(
                "node-1",
                &json!([{"name": "held"}, {"name": "shared"}, {"name": "free"}, {"name": "broken"}]),
            )
            .slice_with(
                "half",
                &json!({
                    "pool": {"name": "half", "generation": 1, "resourceSliceCount": 2},
                    "nodeSelector": zone, "devices": [{"name": "x"}],
                }),
            )
            .slice_with("other", &json!({"driver": "e", "allNodes": true, "devices": []}))
            .rule("drain", &json!({"device": "held"}), "NoExecute")
            .claim("1", &json!({}), &holding(&["held", "gone"], &["p"]))
            .claim("2", &json!({}), &holding_results(&share, &[]))
            .claim("3", &json!({}), &json!({}))
            .claim(
                "4",
                &json!({}),
                &json!({
                    "allocation": {"devices": {"results": [
                        {"request": "r", "driver": "d", "pool": "node-1", "device": "broken"}]}},
                    "devices": [{"driver": "d", "pool": "node-1", "device": "broken",
                                 "conditions": [{"type": "Ready", "status": "False"}]}],
                }),
            )
            .build();
        let report = status(
            &cluster,
            &Selection::default(),
            UsageBy::Namespace,
            now(),
            &in_order,
        );
        assert_eq!(
            json_of(&report),
            json!({
                "drivers": [
                    {"driver": "d", "nodes": 1, "pools": 2, "incompletePools": 1, "devices": {
                        "total": 5, "allocated": 2, "shared": 1, "free": 1, "unavailable": 1, "unknown": 0,
                        "tainted": 1, "unhealthy": 1, "unpublished": 1},
                     "mostFreeOnOneNode": 1,
                     "unavailableReasons": [{"reason": "PoolIncomplete", "devices": 1}],
                     "units": {"total": 6, "used": "4"}},
                    {"driver": "e", "nodes": 2, "pools": 1, "incompletePools": 0, "devices": {
                        "total": 0, "allocated": 0, "shared": 0, "free": 0, "unavailable": 0, "unknown": 0,
                        "tainted": 0, "unhealthy": 0, "unpublished": 0},
                     "mostFreeOnOneNode": 0, "units": {"total": 0, "used": "0"}},
                ],
                "claims": {"total": 4, "states": [
                    {"state": "pending", "count": 1},
                    {"state": "allocated", "count": 2},
                    {"state": "allocated,reserved", "count": 1}]},
                "podStages": [],
                "usageBy": "Namespace",
                "usage": [{"namespace": "n", "claims": 3, "pendingClaims": 1, "idleClaims": 3, "drivers": [
                    {"driver": "d", "devices": 4, "shares": 1, "units": "4", "ofUnits": 6, "idleDevices": 4}]}],
                "idle": [
                    {"namespace": "n", "name": "1", "uid": "1-uid", "devices": 2, "creationTimestamp": "2026-11-21T11:00:00Z"},
                    {"namespace": "n", "name": "2", "uid": "2-uid", "devices": 1, "creationTimestamp": "2026-11-21T11:00:00Z"},
                    {"namespace": "n", "name": "4", "uid": "4-uid", "devices": 1, "creationTimestamp": "2026-11-21T11:00:00Z"}],
                "kubelets": [],
                "findings": {"errors": 1, "warnings": 5, "infos": 1},
            })
        );
        assert!(report.version_is_assumed);
    }

    #[test]
    fn claims_that_were_not_read_are_not_counted() {
        let cluster = World::default()
            .slice("node-1", &json!([{"name": "a"}]))
            .without(Kind::ResourceClaim)
            .build();
        let report = status(
            &cluster,
            &Selection::default(),
            UsageBy::Namespace,
            now(),
            &in_order,
        );
        assert_eq!(report.claims, None);
        assert_eq!(
            (report.drivers[0].devices.unknown, report.drivers[0].devices.free),
            (1, 0)
        );
        assert_eq!(
            texts(&report.warnings),
            ["claims and free devices are unknown: resourceclaims could not be read: forbidden"]
        );
    }

    #[test]
    fn kubelets_are_counted_by_release() {
        let node = |name: &str, version: &str| json!({"metadata": {"name": name}, "status": {"nodeInfo": {"kubeletVersion": version}}});
        let cluster = World::default()
            .with(Kind::Node, &node("a", "v1.37.1"))
            .with(Kind::Node, &node("b", "v1.9.0"))
            .with(Kind::Node, &node("c", "v1.37.1"))
            .with(Kind::Node, &node("d", ""))
            .build();
        let counts: Vec<_> = kubelets(&cluster)
            .into_iter()
            .map(|count| (count.version.to_string(), count.nodes))
            .collect();
        assert_eq!(counts, [("v1.9.0".to_owned(), 1), ("v1.37.1".to_owned(), 2)]);
    }
}
