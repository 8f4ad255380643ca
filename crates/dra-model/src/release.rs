//! Differences between Kubernetes releases in devices.

use super::{Environment, Version};

/// Declares the facts, each with the releases that it holds in.
macro_rules! release {
    ($(#[$attribute:meta])* pub struct Release { $($(#[doc = $doc:literal])* $fact:ident: $releases:expr;)+ }) => {
        $(#[$attribute])*
        pub struct Release {
            $($(#[doc = $doc])* pub $fact: bool,)+
        }

        impl Release {
            /// The rules of `version`.
            pub fn of(version: Version) -> Self {
                Self {
                    $($fact: ($releases).contains(&version),)+
                }
            }
        }
    };
}

release! {
    /// The rules of one release, as facts with names. This is the only place that compares versions for a rule: code asks for the fact.
    ///
    /// Code follows the binary, whatever release it emulates, so the facts are those of [`Environment::version`], its patch included.
    /// What gates decide follows the emulated release and is [`Environment::gate`]. A release that is older or newer than those that are
    /// known has the rules of the nearest.
    ///
    /// A fact is a rule that a release has and the newest one has not, or the other way round. A mistake that a patch of a release fixes is
    /// a fact only where whole controllers or rules behave differently without the fix; all are rows of the known bugs.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Release {
        /// The allocator takes pools and slices in whatever order they come, rather than by name (`GatherPools`).
        takes_pools_as_they_come: ..minor(36);
        /// A pool is what reaches the node: whether it is complete is asked of those slices alone, an incomplete one is used, and one
        /// that contradicts itself ends the attempt where the search meets it (`GatherPools`, `allocateOne`).
        pool_is_of_node: ..minor(35);
        /// Slices with counter sets belong to their pool on every node, whichever nodes they name (`GatherPools`).
        counter_slices_reach_all: minor(35)..minor(37);
        /// Counter sets stand in the slice of the devices that draw from them, and count for that slice alone.
        counters_are_of_slice: ..minor(35);
        /// A claim that is allocated on a share without any amount does not keep the next share from drawing counters again
        /// (`deviceCapacityInUse`).
        bare_shares_use_nothing: ..minor(37);
        /// The next device of a request is looked for from the first on, so that one that can be shared is taken again (`allocateOne`).
        starts_over_in_request: ..minor(36);
        /// An alternative in mode All continues as the first alternative once it has one device, and the second alternative
        /// takes the devices that the first one would have, if both are in mode All (`allocateOne`,
        /// `validateDeviceRequest`).
        loses_subrequest_in_all: ..minor(36);
        /// A `distinctAttribute` is compared with the last device of each request only (`distinctAttributeConstraint`).
        compares_distinct_per_request: ..minor(37);
        /// A `distinctAttribute` keeps off only devices that do not have it (`distinctAttributeConstraint`, which compares pointers).
        compares_distinct_with_nothing: ..minor(35);
        /// Constraints do not know values that are lists, whatever the gate is (`AllocatorFeatures`).
        constraints_know_no_lists: ..minor(37);
        /// An amount that is negative or cannot be represented does not end the attempt (`CmpRequestOverCapacity`).
        capacity_errors_skip: ..minor(37);
        /// An amount that is rounded up to a step is written with binary suffixes, whatever the step is written with (`roundUpRange`).
        rounds_to_binary: ..minor(37);
        /// In mode All, a device counts only if enough of its capacity is left (`validateDeviceRequest`).
        all_drops_full_devices: ..minor(37);
        /// A device may have four taints at most, and none with the effect None (`validateDevice`).
        limits_taints: ..minor(35);
        /// A taint keeps pods off whatever its effect is (`allTaintsTolerated`).
        any_effect_blocks: ..minor(35);
        /// What is allocated does not say which taints the request tolerates.
        omits_tolerations: ..minor(35);
        /// A configuration of the claim stands in the allocation once for each request that it names.
        repeats_configs: ..minor(37);
        /// A configuration for all requests keeps the names of those that it names.
        keeps_covering_requests: ..minor(37);
        /// Errors of selectors name the device and say how to repair them (`selectorsMatch`).
        selector_errors_name_devices: minor(37)..;
        /// The stable implementation of the allocator supports no gate at all, and the incubating one neither shares nor binding
        /// conditions (`SupportedFeatures`).
        implementations_lag: ..minor(36);
        /// `DRAResourceClaimDeviceStatus` is a feature of the allocator, which only the experimental implementation has.
        status_selects_experimental: ..minor(35);

        /// A node that takes the allocator too long is unschedulable; otherwise that ends the attempt (`Filter`).
        timeout_is_node_only: ..minor(36);
        /// A class that names an extended resource does without the name that it has of its own (`extendedresourcecache`).
        explicit_name_replaces: ..minor(35);
        /// Nodes are ranked by the alternatives that they grant (`computeScore`).
        scores: minor(35)..;
        /// DeviceTaintRules need no gate of their own.
        rules_need_only_taints: ..minor(35);
        /// A DeviceTaintRule without a selector is about all devices.
        bare_rule_is_all: ..patch(37, 1);
        /// The plugin says so where it finds no claim to deallocate for a pod that fits nowhere (`PostFilter`).
        says_nothing_to_deallocate: ..minor(37);
        /// There is one text for every way in which a claim may not belong to a pod (`IsForPod`).
        owner_has_one_text: ..minor(36);
        /// The cycle of a PodGroup ends as soon as too few members are left (`PlacementFeasible`), and a gang needs no gate of its own.
        groups_end_early: minor(37)..;
        /// Devices say in `nodeAllocatableResources` what they take of their node; in 1.36 another field does.
        node_allocatable_resources: minor(37)..;

        /// The claim controller looks up the PodGroup of a pod before it reserves a claim for the pod.
        needs_groups: minor(37)..;
        /// The claim controller keeps the status of a claim that it makes for extended resources.
        keeps_statuses: minor(37)..;
        /// The claim controller leaves a claim alone for good that is reserved for something other than pods.
        gives_up_at_foreign_entry: ..minor(36);
        /// The first entry of `status.reservedFor` whose pod is missing hides those behind it from evictions.
        stops_at_missing_pod: ..minor(36);
        /// Taints of devices for extended resources evict pods too (`podEvictionTime`).
        evicts_for_extended_resources: patch(37, 2)..;
        /// A claim for extended resources keeps its devices after its pod has ended, until the pod is deleted, if the gate is off.
        keeps_claims_of_extended_resources: ..minor(35);
        /// The API server serves PodGroups with their claims unless that is turned off. Older ones may have their traces left over.
        serves_groups: minor(37)..;
        /// Pods name the PodGroup that they belong to; an API server without the field drops it with its next write.
        has_scheduling_groups: minor(36)..;
        /// The API server reads DeviceTaintRules that were stored as v1beta2.
        reads_rules_of_v1beta2: minor(36)..;
        /// The API server stores DeviceTaintRules as v1beta2.
        stores_rules_of_v1beta2: minor(37)..;
        /// The API server serves `resource.k8s.io/v1`, and older versions only where they are enabled.
        serves_v1: minor(34)..;
        /// The same of DeviceTaintRules.
        serves_rules_of_v1: minor(37)..;
        /// The API server asks those that write the status of a claim for the rights to what they write of it
        /// (`DRAResourceClaimGranularStatusAuthorization`).
        asks_for_status_rights: minor(36)..;
    }
}

/// 1.`minor` without a patch.
fn minor(minor: u32) -> Version {
    Version::minor(minor)
}

/// The patch `patch` of 1.`minor`.
fn patch(minor: u32, patch: u32) -> Version {
    Version {
        patch,
        ..Version::minor(minor)
    }
}

impl Default for Release {
    /// The newest one.
    fn default() -> Self {
        Self::of(Version::LATEST)
    }
}

impl Release {
    /// The rules of a release that is still to come to a cluster: those of the newest patch of 1.`minor`.
    pub fn of_minor(minor: u32) -> Self {
        Self::of(Version {
            patch: u32::MAX,
            ..Version::minor(minor)
        })
    }
}

impl Environment {
    /// The rules of the cluster's release.
    pub fn release(&self) -> Release {
        Release::of(self.version)
    }

    /// Returns whether the API server serves PodGroups unless that is turned off: as the release that it emulates.
    pub fn serves_groups(&self) -> bool {
        Release::of(Version::minor(self.emulated_minor)).serves_groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Release {
        Release::of(text.parse().unwrap())
    }

    /// A fact, and the releases at which it begins and ends.
    type Row = (&'static str, fn(&Release) -> bool, &'static str, &'static str);

    #[test]
    fn facts_begin_and_end_with_their_release() {
        const ALWAYS: &str = "1.0";
        const STILL: &str = "1.99";
        let rows: [Row; 43] = [
            (
                "takes_pools_as_they_come",
                |of| of.takes_pools_as_they_come,
                ALWAYS,
                "1.36",
            ),
            ("pool_is_of_node", |of| of.pool_is_of_node, ALWAYS, "1.35"),
            (
                "counter_slices_reach_all",
                |of| of.counter_slices_reach_all,
                "1.35",
                "1.37",
            ),
            (
                "counters_are_of_slice",
                |of| of.counters_are_of_slice,
                ALWAYS,
                "1.35",
            ),
            (
                "bare_shares_use_nothing",
                |of| of.bare_shares_use_nothing,
                ALWAYS,
                "1.37",
            ),
            (
                "starts_over_in_request",
                |of| of.starts_over_in_request,
                ALWAYS,
                "1.36",
            ),
            (
                "loses_subrequest_in_all",
                |of| of.loses_subrequest_in_all,
                ALWAYS,
                "1.36",
            ),
            (
                "compares_distinct_per_request",
                |of| of.compares_distinct_per_request,
                ALWAYS,
                "1.37",
            ),
            (
                "compares_distinct_with_nothing",
                |of| of.compares_distinct_with_nothing,
                ALWAYS,
                "1.35",
            ),
            (
                "constraints_know_no_lists",
                |of| of.constraints_know_no_lists,
                ALWAYS,
                "1.37",
            ),
            (
                "capacity_errors_skip",
                |of| of.capacity_errors_skip,
                ALWAYS,
                "1.37",
            ),
            ("rounds_to_binary", |of| of.rounds_to_binary, ALWAYS, "1.37"),
            (
                "all_drops_full_devices",
                |of| of.all_drops_full_devices,
                ALWAYS,
                "1.37",
            ),
            ("limits_taints", |of| of.limits_taints, ALWAYS, "1.35"),
            ("any_effect_blocks", |of| of.any_effect_blocks, ALWAYS, "1.35"),
            ("omits_tolerations", |of| of.omits_tolerations, ALWAYS, "1.35"),
            ("repeats_configs", |of| of.repeats_configs, ALWAYS, "1.37"),
            (
                "keeps_covering_requests",
                |of| of.keeps_covering_requests,
                ALWAYS,
                "1.37",
            ),
            (
                "selector_errors_name_devices",
                |of| of.selector_errors_name_devices,
                "1.37",
                STILL,
            ),
            ("implementations_lag", |of| of.implementations_lag, ALWAYS, "1.36"),
            (
                "status_selects_experimental",
                |of| of.status_selects_experimental,
                ALWAYS,
                "1.35",
            ),
            (
                "timeout_is_node_only",
                |of| of.timeout_is_node_only,
                ALWAYS,
                "1.36",
            ),
            (
                "explicit_name_replaces",
                |of| of.explicit_name_replaces,
                ALWAYS,
                "1.35",
            ),
            ("scores", |of| of.scores, "1.35", STILL),
            (
                "rules_need_only_taints",
                |of| of.rules_need_only_taints,
                ALWAYS,
                "1.35",
            ),
            ("bare_rule_is_all", |of| of.bare_rule_is_all, ALWAYS, "1.37.1"),
            (
                "says_nothing_to_deallocate",
                |of| of.says_nothing_to_deallocate,
                ALWAYS,
                "1.37",
            ),
            ("owner_has_one_text", |of| of.owner_has_one_text, ALWAYS, "1.36"),
            ("groups_end_early", |of| of.groups_end_early, "1.37", STILL),
            (
                "node_allocatable_resources",
                |of| of.node_allocatable_resources,
                "1.37",
                STILL,
            ),
            ("needs_groups", |of| of.needs_groups, "1.37", STILL),
            ("keeps_statuses", |of| of.keeps_statuses, "1.37", STILL),
            (
                "gives_up_at_foreign_entry",
                |of| of.gives_up_at_foreign_entry,
                ALWAYS,
                "1.36",
            ),
            (
                "stops_at_missing_pod",
                |of| of.stops_at_missing_pod,
                ALWAYS,
                "1.36",
            ),
            (
                "evicts_for_extended_resources",
                |of| of.evicts_for_extended_resources,
                "1.37.2",
                STILL,
            ),
            (
                "keeps_claims_of_extended_resources",
                |of| of.keeps_claims_of_extended_resources,
                ALWAYS,
                "1.35",
            ),
            ("serves_groups", |of| of.serves_groups, "1.37", STILL),
            (
                "has_scheduling_groups",
                |of| of.has_scheduling_groups,
                "1.36",
                STILL,
            ),
            (
                "reads_rules_of_v1beta2",
                |of| of.reads_rules_of_v1beta2,
                "1.36",
                STILL,
            ),
            (
                "stores_rules_of_v1beta2",
                |of| of.stores_rules_of_v1beta2,
                "1.37",
                STILL,
            ),
            ("serves_v1", |of| of.serves_v1, "1.34", STILL),
            ("serves_rules_of_v1", |of| of.serves_rules_of_v1, "1.37", STILL),
            (
                "asks_for_status_rights",
                |of| of.asks_for_status_rights,
                "1.36",
                STILL,
            ),
        ];
        let releases = [
            "1.33", "1.34.0", "1.34.13", "1.35.0", "1.35.10", "1.36.0", "1.36.6", "1.37.0", "1.37.1",
            "1.37.2", "1.38.0",
        ];
        for release in releases {
            let version: Version = release.parse().unwrap();
            for (name, fact, since, until) in &rows {
                let [since, until] = [since, until].map(|text| text.parse::<Version>().unwrap());
                let expected = (since..until).contains(&version);
                assert_eq!(fact(&of(release)), expected, "{name} in {release}");
            }
        }
        // A fact without a row would go untested.
        let shown = format!("{:?}", of("1.37"));
        assert_eq!(shown.matches(": ").count(), rows.len());
        for (name, ..) in rows {
            assert!(shown.contains(&format!("{name}: ")), "{name}");
        }
    }

    #[test]
    fn what_is_to_come_has_the_newest_patch() {
        assert!(!Release::of_minor(37).bare_rule_is_all);
        assert!(Release::of_minor(36).bare_rule_is_all);
    }

    #[test]
    fn code_follows_the_binary_whatever_it_emulates() {
        let environment = Environment {
            emulated_minor: 34,
            ..Environment::default()
        };
        assert_eq!(environment.release(), Release::default());
    }
}
