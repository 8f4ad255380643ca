//! The families of metrics: one table of names, labels and meanings, and the samples of each.

use std::collections::BTreeMap;

use dra_model::Str;

/// Series of one family. A label that takes a value for each object of a large cluster is a mistake in the table or in the cluster, and
/// Prometheus keeps every series in memory.
pub const MOST_SERIES: usize = 10_000;

/// Fixed facts about a family.
#[derive(Debug)]
pub struct Facts {
    /// Name.
    pub name: &'static str,
    /// Names of its labels, in the order of the values of its samples.
    pub labels: &'static [&'static str],
    /// Meaning, without a full stop.
    pub help: &'static str,
}

macro_rules! families {
    ($($variant:ident = $name:literal, [$($label:literal),*], $help:literal;)+) => {
        /// A family of metrics. All are gauges: each is the state at one time.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "each variant is described by its help in the table")]
        pub enum Family {
            $($variant,)+
        }

        impl Family {
            /// All of them, in the order in which they are printed.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Fixed facts.
            pub const fn facts(self) -> &'static Facts {
                match self {
                    $(Self::$variant => &Facts { name: $name, labels: &[$($label),*], help: $help },)+
                }
            }
        }
    };
}

families! {
    ClusterInfo = "dra_cluster_info", ["version"], "Release of Kubernetes, 1 for the current one";
    Unread = "dra_unread", ["resource", "namespace"], "Kinds that could not be read, 1 for each; what depends on one is missing here, not zero";
    Devices = "dra_devices", ["driver", "node_pool", "state"], "Published devices by state; each device has one";
    DevicesUnavailable = "dra_devices_unavailable", ["driver", "node_pool", "reason"], "Devices that no claim has and that cannot be allocated; a device can have several reasons";
    DevicesTainted = "dra_devices_tainted", ["driver", "node_pool"], "Published devices with a taint";
    DevicesUnhealthy = "dra_devices_unhealthy", ["driver", "node_pool"], "Published devices that a kubelet or driver reports as unhealthy";
    DevicesUnpublished = "dra_devices_unpublished", ["driver"], "Devices that claims have and no slice publishes";
    ClassDevices = "dra_class_devices", ["class", "driver", "state"], "Published devices by class and state; a device counts in each of its classes";
    ClassErrors = "dra_class_devices_unknown", ["class"], "Devices that the selectors of the class fail on, so that it is unknown whether they belong to it";
    Pools = "dra_pools", ["driver"], "Pools";
    PoolsIncomplete = "dra_pools_incomplete", ["driver"], "Pools with missing slices";
    PoolsOutdated = "dra_pools_outdated", ["driver"], "Pools with slices of an older generation";
    Units = "dra_units", ["driver"], "Sets of shared counters, and devices that consume none";
    UnitsUsed = "dra_units_used", ["driver"], "Units in use, in parts where parts of one are";
    Counters = "dra_shared_counters", ["driver", "counter", "unit"], "Amount of the shared counters of all pools";
    CountersUsed = "dra_shared_counters_used", ["driver", "counter", "unit"], "Amount of the shared counters that allocated devices consume";
    Capacity = "dra_shareable_capacity", ["driver", "capacity", "unit"], "Capacity of the devices that allow multiple allocations";
    CapacityUsed = "dra_shareable_capacity_used", ["driver", "capacity", "unit"], "Capacity that claims consume of devices that allow multiple allocations";
    NamespaceDevices = "dra_namespace_devices", ["namespace", "driver"], "Devices of the claims of a namespace, shared ones included";
    NamespaceUnits = "dra_namespace_units", ["namespace", "driver"], "Units that the claims of a namespace use";
    NamespaceIdle = "dra_namespace_idle_devices", ["namespace", "driver"], "Devices of claims of a namespace without a running pod";
    OwnerDevices = "dra_owner_kind_devices", ["owner_kind", "driver"], "Devices by kind of the owner of the pod, such as Job";
    OwnerUnits = "dra_owner_kind_units", ["owner_kind", "driver"], "Units by kind of the owner of the pod";
    OwnerIdle = "dra_owner_kind_idle_devices", ["owner_kind", "driver"], "Devices of claims without a running pod, by kind of the owner of the pod";
    RequestedDevices = "dra_requested_class_devices", ["class", "driver"], "Allocated devices by the class that their request names";
    RequestedUnits = "dra_requested_class_units", ["class", "driver"], "Units in use by the class that their request names";
    RequestedIdle = "dra_requested_class_idle_devices", ["class", "driver"], "Devices of claims without a running pod, by the class that their request names";
    Claims = "dra_claims", ["namespace", "state"], "ResourceClaims by state, as in kubectl get resourceclaims";
    OldestClaim = "dra_claims_oldest_created_timestamp_seconds", ["namespace", "state"], "Creation time of the oldest claim";
    IdleClaims = "dra_idle_claims", ["namespace"], "Claims that have devices without a running pod";
    OldestIdle = "dra_idle_claims_oldest_allocated_timestamp_seconds", ["namespace"], "Allocation time of the idle claim with the oldest allocation, or its creation time where that is not recorded";
    Reservations = "dra_reservations", ["consumer", "status"], "Entries of status.reservedFor by kind of the consumer and status";
    Unreserved = "dra_pods_without_reservation", [], "Pods on nodes that use a claim that is not reserved for them";
    Stages = "dra_pods_with_devices", ["stage"], "Pods with devices by progress on their node";
    Stuck = "dra_pods_with_devices_stuck", ["stage"], "Pods with devices that do not continue, or are in danger";
    PlannedEvictions = "dra_evictions_planned", ["namespace"], "Pods that device taints will evict";
    NextEviction = "dra_evictions_next_timestamp_seconds", ["namespace"], "Time of the next eviction by a device taint";
    Evicted = "dra_taint_rule_evicted_pods", ["rule"], "Pods that a DeviceTaintRule has evicted, as its condition reports";
    Findings = "dra_findings", ["code", "name", "severity"], "Findings of kubectl dra check";
    ChecksIncomplete = "dra_checks_incomplete", [], "Checks of kubectl dra check that could not run";
    Pending = "dra_pending_pods", ["cause"], "Pods that wait for devices, by cause";
    OldestPending = "dra_pending_pods_oldest_created_timestamp_seconds", ["cause"], "Creation time of the oldest pending pod";
    Disturbed = "dra_disturbed_pods", ["cause"], "Pods that run, terminate or have failed with a problem of their devices, by cause";
    PendingClaims = "dra_pending_claims", ["cause"], "Claims without devices that no pod uses, by cause";
    NotJudged = "dra_pending_not_judged", [], "Pending pods and claims whose cause was not determined, since there are too many different ones";
    WithoutDevices = "dra_pending_pods_without_devices", [], "Pending pods without a node that request no devices";
    ClaimInfo = "dra_claim_info", ["namespace", "claim", "state", "node"], "ResourceClaim, 1 for each";
    ClaimDevices = "dra_claim_devices", ["namespace", "claim", "driver"], "Devices of the claim";
    ClaimCreated = "dra_claim_created_timestamp_seconds", ["namespace", "claim"], "Creation time of the claim";
    SeriesOmitted = "dra_series_omitted", ["family"], "Series beyond the limit of the family, which are not exported";
}

/// Samples by family.
#[derive(Debug, Default)]
pub struct Samples {
    families: BTreeMap<Family, BTreeMap<Vec<Str>, f64>>,
}

impl Samples {
    /// Sets a sample.
    pub(super) fn set<const N: usize>(&mut self, family: Family, labels: [&str; N], value: f64) {
        *self.sample(family, labels) = value;
    }

    /// Adds a number to a sample, which begins with zero.
    pub(super) fn add<const N: usize>(&mut self, family: Family, labels: [&str; N], count: usize) {
        self.sum(family, labels, count as f64);
    }

    /// Adds to a sample, which begins with zero.
    pub(super) fn sum<const N: usize>(&mut self, family: Family, labels: [&str; N], value: f64) {
        *self.sample(family, labels) += value;
    }

    /// Lowers a sample to `value`, which becomes the first one.
    pub(super) fn least<const N: usize>(&mut self, family: Family, labels: [&str; N], value: f64) {
        let sample = self.families.entry(family).or_default();
        let least = sample.entry(labels.map(Str::from).to_vec()).or_insert(value);
        *least = least.min(value);
    }

    fn sample<const N: usize>(&mut self, family: Family, labels: [&str; N]) -> &mut f64 {
        let samples = self.families.entry(family).or_default();
        samples.entry(labels.map(Str::from).to_vec()).or_default()
    }

    /// Drops the series of each family that are too many, the last by their labels, and counts them.
    pub(super) fn limit(&mut self, most: usize) {
        let mut omitted = Vec::new();
        for (family, samples) in &mut self.families {
            if let Some(first) = samples.keys().nth(most).cloned() {
                omitted.push((*family, samples.split_off(&first).len()));
            }
        }
        for (family, count) in omitted {
            self.add(Family::SeriesOmitted, [family.facts().name], count);
        }
    }

    /// Families with samples, in the order of [`Family::ALL`]; the samples of each by their labels.
    pub fn iter(&self) -> impl Iterator<Item = (&'static Facts, &BTreeMap<Vec<Str>, f64>)> {
        self.families
            .iter()
            .map(|(family, samples)| (family.facts(), samples))
    }
}
