//! All findings: one table of codes, names and titles.
//!
//! Codes are stable: scripts select by them, and each has a page under `docs/reference/findings`. A code that is no longer reported keeps its
//! place, a new one gets a new number.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use strum::{Display, IntoStaticStr};

use crate::listing::some_of;
use dra_model::Kind;

/// How bad a finding is, mildest first.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema, IntoStaticStr, Display,
)]
pub enum Severity {
    /// Good to know.
    Info,
    /// Something works less than it should, or will fail later.
    Warning,
    /// Devices or pods are unavailable or at risk.
    Error,
}

/// Which question a finding answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    /// Is anything wrong now?
    Now,
    /// Can a driver be removed now?
    Driver,
    /// What breaks with an older release, or with a gate turned off?
    Downgrade,
    /// What breaks with a newer release?
    Upgrade,
}

/// What a code stands for.
#[derive(Debug)]
pub struct Facts {
    /// `DRA001`.
    pub code: &'static str,
    /// The finding's name in words.
    pub name: &'static str,
    /// The finding in one line.
    pub title: &'static str,
    /// How bad it usually is.
    pub severity: Severity,
    /// Which question it answers.
    pub topic: Topic,
    /// Kinds of object that it is found in: without them the answer is unknown.
    pub needs: &'static [Kind],
    /// The page that explains it, as Markdown.
    pub page: &'static str,
}

macro_rules! codes {
    ($($variant:ident = $code:literal, $name:literal, $severity:ident, $topic:ident, [$($kind:ident),*], $title:literal;)*) => {
        /// A kind of finding.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
        #[schemars(rename = "FindingCode", with = "String", extend("pattern" = "^DRA[0-9]{3}$"))]
        #[expect(missing_docs, reason = "each variant is described by its title in the table")]
        pub enum Code {
            $($variant,)*
        }

        const TABLE: &[(Code, Facts)] = &[$((Code::$variant, Facts {
            code: $code,
            name: $name,
            title: $title,
            severity: Severity::$severity,
            topic: Topic::$topic,
            needs: &[$(Kind::$kind),*],
            page: include_str!(concat!("../../../../docs/reference/findings/", $code, ".md")),
        }),)*];
    };
}

codes! {
    DeviceAllocatedTwice = "DRA001", "device-allocated-twice", Error, Now, [ResourceClaim],
        "Several claims hold the same device";
    CountersOversubscribed = "DRA002", "counters-oversubscribed", Error, Now, [ResourceClaim, ResourceSlice],
        "Allocated devices consume more of a shared counter than the counter has";
    CapacityOversubscribed = "DRA003", "capacity-oversubscribed", Error, Now, [ResourceClaim, ResourceSlice],
        "Shares of a device consume more capacity than it has";
    DeviceNotPublished = "DRA004", "device-not-published", Warning, Now, [ResourceClaim, ResourceSlice],
        "A claim holds a device that no driver publishes";
    DeviceUnhealthy = "DRA005", "device-unhealthy", Error, Now, [ResourceClaim, Pod],
        "A device in use is reported as unhealthy";
    BrokenPartitions = "DRA006", "broken-partitions", Warning, Now, [ResourceSlice, DeviceTaintRule, ResourceClaim],
        "Partitions of a device with a taint that marks it as broken can be allocated";
    ReservationGone = "DRA010", "reservation-gone", Warning, Now, [ResourceClaim, Pod, PodGroup],
        "A claim is reserved for a pod or PodGroup that does not exist";
    ReservationEnded = "DRA011", "reservation-ended", Warning, Now, [ResourceClaim, Pod],
        "A claim is reserved for a pod that has finished";
    ReservationReplaced = "DRA012", "reservation-replaced", Warning, Now, [ResourceClaim, Pod, PodGroup],
        "A claim is reserved for an earlier pod or PodGroup of the same name";
    ReservationForeign = "DRA013", "reservation-foreign", Warning, Now, [ResourceClaim],
        "A claim is reserved for a consumer that is neither a pod nor a PodGroup";
    ReservationMissing = "DRA014", "reservation-missing", Error, Now, [ResourceClaim, Pod],
        "A pod uses a claim that is not reserved for it";
    ReservationNone = "DRA015", "reservation-none", Warning, Now, [ResourceClaim, Pod],
        "A claim holds devices without a consumer";
    ReservationLimit = "DRA016", "reservation-limit", Warning, Now, [ResourceClaim],
        "A claim has nearly as many reservations as it can have";
    ReservationFlapping = "DRA017", "reservation-flapping", Warning, Now, [ResourceClaim, Pod],
        "The claim controller repeatedly removes and adds a reservation";
    PodOnOtherNode = "DRA018", "pod-on-other-node", Error, Now, [ResourceClaim, Pod, Node],
        "A pod is on a node that cannot reach its devices";
    PodWithoutAllocation = "DRA019", "pod-without-allocation", Error, Now, [ResourceClaim, Pod],
        "A pod is on a node although one of its claims holds no devices";
    ClaimOrphaned = "DRA020", "claim-orphaned", Warning, Now, [ResourceClaim, Pod, PodGroup],
        "The pod or PodGroup that a claim was created for does not exist";
    DeletionStuck = "DRA021", "deletion-stuck", Warning, Now, [ResourceClaim, Pod, PodGroup],
        "An object is being deleted, and no component finishes the deletion";
    ClaimMissing = "DRA022", "claim-missing", Error, Now, [ResourceClaim, ResourceClaimTemplate, Pod],
        "A pod references a claim or template that does not exist";
    ClassMissing = "DRA023", "class-missing", Error, Now, [ResourceClaim, ResourceClaimTemplate, DeviceClass],
        "A requested device class does not exist";
    SelectorInvalid = "DRA024", "selector-invalid", Error, Now, [ResourceClaim, ResourceClaimTemplate, DeviceClass],
        "A selector does not compile";
    SelectorFails = "DRA025", "selector-fails", Error, Now, [ResourceClaim, ResourceClaimTemplate, DeviceClass, ResourceSlice],
        "A selector fails on an existing device";
    QuotaExceeded = "DRA026", "quota-exceeded", Warning, Now, [ResourceClaim, ResourceClaimTemplate, Pod, PodGroup, DeviceClass, ResourceQuota],
        "A quota blocks the creation of a claim";
    BindingPending = "DRA027", "binding-pending", Warning, Now, [ResourceClaim, Pod],
        "A pod has been pending too long for its device to be attached";
    BindingFailed = "DRA028", "binding-failed", Error, Now, [ResourceClaim],
        "A device could not be attached";
    TolerationSeconds = "DRA029", "toleration-seconds", Warning, Now, [ResourceClaim, ResourceClaimTemplate],
        "A toleration does not do what it says";
    PoolIncomplete = "DRA030", "pool-incomplete", Warning, Now, [ResourceSlice],
        "Slices of a pool are missing";
    PoolOutdated = "DRA031", "pool-outdated", Warning, Now, [ResourceSlice],
        "A pool has slices of several generations";
    PoolInvalid = "DRA032", "pool-invalid", Error, Now, [ResourceSlice],
        "The slices of a pool contradict each other";
    DeviceDuplicate = "DRA033", "device-duplicate", Error, Now, [ResourceSlice],
        "Devices of a pool have the same name";
    NodeMissing = "DRA034", "node-missing", Warning, Now, [ResourceSlice, Node],
        "Devices are published for a node that does not exist";
    NodeWithoutSlices = "DRA035", "node-without-slices", Warning, Now, [ResourceSlice, Node],
        "A node has no devices of a driver, unlike its peers";
    PoolWithoutDevices = "DRA036", "pool-without-devices", Warning, Now, [ResourceSlice, ResourceClaim, Node],
        "A driver publishes a pool without devices";
    HardwareTwice = "DRA037", "hardware-twice", Warning, Now, [ResourceSlice, Node],
        "A device plugin and a driver offer the same hardware of a node";
    DriverSilent = "DRA038", "driver-silent", Warning, Now, [DeviceClass, ResourceSlice, ResourceClaim, Pod, Node],
        "A driver does not serve nodes that it should serve";
    NodesUnmatched = "DRA039", "nodes-unmatched", Warning, Now, [ResourceSlice, Node],
        "Devices are published for labels that no node has";
    RuleSelectsAll = "DRA040", "rule-selects-all", Error, Now, [DeviceTaintRule],
        "A taint rule evicts every pod that has devices";
    RuleWithoutSelector = "DRA041", "rule-without-selector", Info, Now, [DeviceTaintRule],
        "A taint rule has no selector";
    TaintEffectUnknown = "DRA042", "taint-effect-unknown", Warning, Now, [DeviceTaintRule, ResourceSlice],
        "A taint has an unknown effect";
    RuleSelectsNothing = "DRA043", "rule-selects-nothing", Info, Now, [DeviceTaintRule, ResourceSlice, ResourceClaim],
        "A taint rule matches no device";
    LeftoverGroupReservation = "DRA050", "leftover-group-reservation", Error, Now, [ResourceClaim, Pod, PodGroup],
        "A claim is reserved for a PodGroup, but no component handles PodGroups";
    LeftoverGroupClaim = "DRA051", "leftover-group-claim", Error, Now, [ResourceClaim, Pod, PodGroup],
        "A claim was created for a PodGroup, but no component handles PodGroups";
    LeftoverNotAttached = "DRA052", "leftover-not-attached", Error, Now, [ResourceClaim, Pod],
        "A pod is on a node although its device is not attached";
    DriverInUse = "DRA060", "driver-in-use", Error, Driver, [ResourceClaim, Pod],
        "A claim holds devices of the driver";
    DriverWanted = "DRA061", "driver-wanted", Warning, Driver, [ResourceClaim, DeviceClass, ResourceSlice, Pod],
        "A claim without devices can only be served by the driver";
    DriverPublished = "DRA062", "driver-published", Info, Driver, [ResourceSlice, DeviceTaintRule, ResourceClaim],
        "Devices of the driver can still be allocated";
    DriverAwaited = "DRA063", "driver-awaited", Warning, Driver, [ResourceClaim, Pod],
        "A pod needs the driver now to start or terminate";
    ExtendedResourceShared = "DRA070", "extended-resource-shared", Warning, Now, [DeviceClass],
        "Several device classes have the same extended resource";
    AdminNamespace = "DRA071", "admin-namespace", Info, Now, [Namespace, ResourceClaim, ResourceClaimTemplate],
        "Users who can create claims in a namespace can request admin access";
    AdminNotAllowed = "DRA072", "admin-not-allowed", Warning, Now, [Namespace, ResourceClaim, ResourceClaimTemplate],
        "Admin access is requested in a namespace that does not allow it";
    ClaimIdle = "DRA073", "claim-idle", Warning, Now, [ResourceClaim, Pod, PodGroup, Event],
        "A claim has held devices for a long time without a running pod";
    DriverGone = "DRA074", "driver-gone", Warning, Now, [ResourceClaim, ResourceSlice, Pod, Node],
        "A pod does not terminate, because the driver of its devices is gone";
    DevicesUnlisted = "DRA075", "devices-unlisted", Warning, Now, [ResourceClaim, Pod],
        "A pod holds devices that none of its containers lists";
    ClaimNotMade = "DRA076", "claim-not-made", Warning, Now, [ResourceClaim, ResourceClaimTemplate, Pod, Event],
        "The claim controller does not create the claim of a pod";
    DriverNotRegistered = "DRA080", "driver-not-registered", Error, Now, [ResourceClaim, Pod, Event],
        "The kubelet does not know the driver of a pod's devices";
    PrepareRefused = "DRA081", "prepare-refused", Error, Now, [ResourceClaim, Pod, Event],
        "A driver does not prepare the devices of a pod";
    ClaimStillPrepared = "DRA082", "claim-still-prepared", Warning, Now, [ResourceClaim, Pod, Event],
        "The kubelet has yet to unprepare devices of an earlier pod";
    DevicesLost = "DRA083", "devices-lost", Error, Now, [ResourceClaim, Pod],
        "The container runtime does not find the devices of a pod";
    UnprepareFails = "DRA084", "unprepare-fails", Warning, Now, [ResourceClaim, Pod, ResourceSlice, Node],
        "A pod does not terminate, because its driver does not unprepare its devices";
    KubeletTooOld = "DRA085", "kubelet-too-old", Error, Now, [ResourceClaim, Pod, Node, Event],
        "A kubelet lacks a feature that a claim needs";
    StartUnexplained = "DRA086", "start-unexplained", Warning, Now, [ResourceClaim, Pod, Event],
        "The kubelet cannot start or terminate a pod, and the cause may not be its devices";
    NodeNotReady = "DRA087", "node-not-ready", Warning, Now, [ResourceClaim, Pod, Node],
        "Pods with devices do not start or terminate, because their node is not ready";
    ContainerNotRunning = "DRA088", "container-not-running", Warning, Now, [ResourceClaim, Pod],
        "A container of a pod with devices does not start, or exits again and again";
    EvictionOverdue = "DRA089", "eviction-overdue", Warning, Now, [ResourceClaim, ResourceSlice, DeviceTaintRule, Pod, Node],
        "A pod runs although a taint of its device should have evicted it";
    KnownBug = "DRA090", "known-bug", Error, Now, [ResourceClaim, ResourceClaimTemplate, ResourceSlice, DeviceClass, DeviceTaintRule, Pod],
        "A known bug of this release affects the cluster";
    DriverStatusForbidden = "DRA091", "driver-status-forbidden", Error, Now, [ClusterRole, ClusterRoleBinding, Role, RoleBinding, ResourceSlice, ResourceClaim, Pod],
        "A driver cannot write the status of its devices";
    AdminAccessRights = "DRA092", "admin-access-rights", Info, Now, [ClusterRole, ClusterRoleBinding, Role, RoleBinding],
        "A subject can grant itself admin access";
    ReservationRights = "DRA093", "reservation-rights", Info, Now, [ClusterRole, ClusterRoleBinding, Role, RoleBinding],
        "A subject can write allocations and reservations";
    TaintRights = "DRA094", "taint-rights", Info, Now, [ClusterRole, ClusterRoleBinding, Role, RoleBinding],
        "A subject can taint devices";
    GroupGeneratedClaim = "DRA101", "group-generated-claim", Error, Downgrade, [ResourceClaim, Pod],
        "Pods lose a claim that was created for their PodGroup";
    GroupReservation = "DRA102", "group-reservation", Error, Downgrade, [ResourceClaim, Pod, PodGroup],
        "A claim that is reserved for a PodGroup is never freed";
    GroupReservationDeleting = "DRA103", "group-reservation-deleting", Error, Downgrade, [ResourceClaim],
        "A claim that is reserved for a PodGroup can no longer be converted";
    GroupReservationTooMany = "DRA104", "group-reservation-too-many", Error, Downgrade, [ResourceClaim, Pod, PodGroup],
        "A claim's PodGroup has more members than a claim can list";
    GroupReservationIdle = "DRA105", "group-reservation-idle", Error, Downgrade, [ResourceClaim, Pod, PodGroup],
        "A claim is reserved for a PodGroup without running members";
    ForeignReservation = "DRA106", "foreign-reservation", Warning, Downgrade, [ResourceClaim],
        "A reservation for a consumer other than a pod is never removed";
    PendingMember = "DRA107", "pending-member", Warning, Downgrade, [ResourceClaim, Pod],
        "A pod that is pending with its PodGroup is scheduled alone";
    GroupMember = "DRA108", "group-member", Error, Downgrade, [Pod],
        "A pod loses its PodGroup membership for good";
    PodgroupObjects = "DRA109", "podgroup-objects", Warning, Downgrade, [PodGroup, Workload, CompositePodGroup],
        "PodGroups and Workloads can no longer be read or deleted";
    TaintRules = "DRA110", "taint-rules", Error, Downgrade, [DeviceTaintRule],
        "A taint rule is no longer enforced";
    TaintRulesStorage = "DRA111", "taint-rules-storage", Warning, Downgrade, [DeviceTaintRule],
        "A stored taint rule cannot be decoded";
    TaintRulesNoSelector = "DRA112", "taint-rules-no-selector", Warning, Downgrade, [DeviceTaintRule],
        "A taint rule without a selector blocks all scheduling";
    ListAttributes = "DRA113", "list-attributes", Error, Downgrade, [ResourceSlice],
        "A device with list attributes stops all scheduling of devices";
    AlphaFields = "DRA114", "alpha-fields-1.37", Warning, Downgrade, [ResourceSlice, ResourceClaim, ResourceClaimTemplate],
        "A field of an alpha feature is dropped";
    TaintsIgnored = "DRA115", "taints-ignored", Error, Downgrade, [ResourceSlice],
        "A tainted device is allocated";
    TaintsLimit = "DRA116", "taints-limit", Error, Downgrade, [ResourceSlice],
        "A slice cannot be written with the taints of a device";
    BindingConditions = "DRA117", "binding-conditions", Error, Downgrade, [ResourceClaim, ResourceSlice, Pod],
        "Pods are bound before their devices are attached";
    Partitions = "DRA118", "partitions", Warning, Downgrade, [ResourceSlice],
        "Partitions are not allocated";
    SharedDevices = "DRA119", "shared-devices", Warning, Downgrade, [ResourceSlice, ResourceClaim],
        "A device is allocated as a whole instead of in shares";
    ExtendedResources = "DRA120", "extended-resources", Warning, Downgrade, [DeviceClass, ResourceClaim, Pod],
        "Devices are not allocated for extended resources";
    Tolerations = "DRA121", "tolerations", Warning, Downgrade, [ResourceClaim, ResourceClaimTemplate],
        "Tolerations do not delay evictions";
    FeatureGates = "DRA122", "feature-gates", Error, Downgrade, [],
        "A component does not start with its feature gates";
    SkippedVersion = "DRA123", "skipped-version", Warning, Downgrade, [],
        "A downgrade over several releases is not supported";
    ApiVersion = "DRA130", "api-version", Error, Upgrade, [DeviceClass, ResourceSlice, DeviceTaintRule, ResourceClaimTemplate, ResourceClaim, PodGroup, Workload],
        "A client uses an API version that is no longer served";
    UpgradeDriverRights = "DRA131", "driver-rights", Error, Upgrade, [ClusterRole, ClusterRoleBinding, Role, RoleBinding, ResourceSlice, ResourceClaim, Pod],
        "A driver lacks a right that the API server requires";
    UpgradeBindingRights = "DRA132", "binding-rights", Warning, Upgrade, [ClusterRole, ClusterRoleBinding, Role, RoleBinding],
        "A subject lacks the right to allocate and reserve claims";
    UpgradeGates = "DRA133", "upgrade-gates", Error, Upgrade, [],
        "A component does not start with its current feature gates";
    GateDefaults = "DRA134", "gate-defaults", Warning, Upgrade, [ResourceSlice, ResourceClaim, DeviceClass, DeviceTaintRule],
        "A feature that is on by default treats objects differently";
    ChangedMeaning = "DRA135", "changed-meaning", Warning, Upgrade, [ResourceClaim, ResourceClaimTemplate, ResourceSlice, DeviceTaintRule, Pod],
        "A field changes its meaning";
    AllocationTolerations = "DRA136", "allocation-tolerations", Warning, Upgrade, [ResourceClaim],
        "An allocation lacks the tolerations of its request";
    OldCounters = "DRA137", "old-counters", Error, Upgrade, [ResourceSlice],
        "Counters are in the format of 1.34";
    WorkloadObjects = "DRA138", "workload-objects", Error, Upgrade, [PodGroup, Workload],
        "PodGroups and Workloads can no longer be read";
}

impl Code {
    /// Every code, in the order of the numbers.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|(code, _)| *code)
    }

    /// What the code stands for.
    pub fn facts(self) -> &'static Facts {
        &TABLE[self as usize].1
    }

    /// Whether claims and pods of every namespace matter, because any of them can hold a device or be a driver's.
    pub fn is_about_devices(self) -> bool {
        matches!(
            self,
            Self::DeviceAllocatedTwice
                | Self::CountersOversubscribed
                | Self::CapacityOversubscribed
                | Self::BrokenPartitions
                | Self::RuleSelectsNothing
                | Self::NodeWithoutSlices
                | Self::DriverSilent
                | Self::DriverInUse
                | Self::DriverPublished
                | Self::DriverGone
                | Self::DriverNotRegistered
                | Self::PrepareRefused
                | Self::ClaimStillPrepared
                | Self::UnprepareFails
        )
    }

    /// Whether claims and pods of one namespace suffice for objects in it.
    pub(super) fn is_told_in_part(self) -> bool {
        let is_of_stages = matches!(
            self,
            Self::DriverNotRegistered
                | Self::PrepareRefused
                | Self::ClaimStillPrepared
                | Self::UnprepareFails
        );
        is_of_stages || !self.is_about_devices()
    }

    /// Kinds of object that determine what can be done, besides those that it is found in. Without them it is still found.
    pub fn needed_for_fix(self) -> &'static [Kind] {
        match self {
            Self::DeviceAllocatedTwice
            | Self::CountersOversubscribed
            | Self::CapacityOversubscribed
            | Self::ReservationForeign
            | Self::ReservationNone
            | Self::ClassMissing
            | Self::SelectorInvalid
            | Self::SelectorFails
            | Self::GroupGeneratedClaim
            | Self::GroupReservationDeleting
            | Self::ForeignReservation
            | Self::PodgroupObjects
            | Self::DriverInUse => &[Kind::Pod, Kind::PodGroup],
            Self::NodeWithoutSlices => &[Kind::Pod],
            Self::DriverSilent => &[Kind::Event],
            Self::DriverNotRegistered | Self::DevicesLost => &[Kind::Node, Kind::Event],
            Self::HardwareTwice => &[Kind::DeviceClass],
            Self::TolerationSeconds => &[Kind::Pod, Kind::PodGroup, Kind::ResourceClaimTemplate],
            _ => &[],
        }
    }

    /// The page that explains it.
    pub fn docs(self) -> String {
        format!("{PAGES}/{}.md", self.facts().code)
    }
}

const PAGES: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/reference/findings");

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.facts().code)
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.facts().code)
    }
}

/// A text that is not a code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown finding `{0}`: expected a code such as `DRA001`, or a name{alike}", alike = alike(.0))]
pub struct UnknownCode(String);

/// Codes whose name has that word.
fn alike(word: &str) -> String {
    const TOLD: usize = 6;
    let word = word.to_ascii_lowercase();
    let named = |facts: &&Facts| word.len() > 2 && facts.name.contains(&word);
    let names = TABLE.iter().map(|(_, facts)| facts).filter(named);
    let names = some_of(TOLD, names.map(|facts| format!("{} {}", facts.code, facts.name)));
    if names.is_empty() {
        return names;
    }
    format!("; did you mean {names}?")
}

impl FromStr for Code {
    type Err = UnknownCode;

    /// Reads a code or the name of a finding, in any case.
    fn from_str(text: &str) -> Result<Self, UnknownCode> {
        TABLE
            .iter()
            .find(|(_, facts)| facts.code.eq_ignore_ascii_case(text) || facts.name.eq_ignore_ascii_case(text))
            .map(|(code, _)| *code)
            .ok_or_else(|| UnknownCode(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn codes_are_sorted_and_found_by_code_and_name() {
        let mut last = "";
        let mut names = BTreeSet::new();
        for code in Code::all() {
            let facts = code.facts();
            assert_eq!(TABLE[code as usize].0, code);
            assert!(facts.code > last, "{code}");
            last = facts.code;
            assert!(names.insert(facts.name), "{code}");
            assert_eq!(facts.code.parse(), Ok(code));
            assert_eq!(facts.name.to_uppercase().parse(), Ok(code));
            assert!(!facts.title.ends_with('.'), "{code}");
        }
        assert_eq!("DRA".parse::<Code>(), Err(UnknownCode("DRA".to_owned())));
        let unknown = "Unhealthy".parse::<Code>().expect_err("a part of a name");
        assert!(
            unknown
                .to_string()
                .ends_with("; did you mean DRA005 device-unhealthy?"),
            "{unknown}"
        );
    }

    #[test]
    fn every_code_has_a_page_and_every_page_a_code() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/findings");
        let pages = std::fs::read_dir(folder).expect("docs/reference/findings exists");
        let pages: BTreeSet<String> = pages
            .filter_map(|page| page.expect("a page").file_name().into_string().ok())
            .filter(|page| page != "README.md")
            .collect();
        let expected: BTreeSet<String> = Code::all().map(|code| format!("{code}.md")).collect();
        assert_eq!(pages, expected);
        for code in Code::all() {
            let facts = code.facts();
            #[expect(
                clippy::disallowed_methods,
                reason = "a test compares the table with the pages"
            )]
            let page = std::fs::read_to_string(format!("{folder}/{code}.md")).expect("a page");
            let head = format!("# {code}: {}\n\n`{}`", facts.title, facts.name);
            assert!(
                page.starts_with(&head),
                "docs/reference/findings/{code}.md begins with {head:?}"
            );
            for section in ["## What it means", "## What to do"] {
                assert!(
                    page.contains(section),
                    "docs/reference/findings/{code}.md has no `{section}`"
                );
            }
        }
    }
}
