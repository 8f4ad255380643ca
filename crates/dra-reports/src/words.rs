//! The sentences of the reports that are one file each, and those that several reports share. Nothing reads them again.

use std::collections::BTreeSet;
use std::sync::Arc;

use dra_model::{
    Class, ConsumerReference, DeviceId, Evidence, Gap, Gate, Key, Kind, Meta, NodeSelector, OwnerReference,
    Pool, PoolId, Quantity, Slice, Str, TOO_MUCH_WORK, Taint,
};

use dra_allocator::devices::PoolFault;
use dra_rules::kubelet::Denial;
use dra_rules::validation::Webhook;

use crate::listing::{selector_terms, some};
use crate::references::Consumer;

/// `count` with the word for one or for several.
pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// The consumer that an entry of a claim in `namespace` names.
pub(crate) fn consumer(namespace: &Str, entry: &ConsumerReference) -> String {
    format!("{}/{namespace}/{}", Consumer(entry).prefix(), entry.name)
}

/// The consumers that entries of a claim in `namespace` name.
pub(crate) fn consumers<'e>(
    namespace: &Str,
    entries: impl IntoIterator<Item = &'e ConsumerReference>,
) -> String {
    some(entries.into_iter().map(|entry| consumer(namespace, entry)))
}

/// A device and its taint, with the rule that it is from, unless the driver published it.
pub(crate) fn tainted(device: &DeviceId, taint: &Taint, rule: Option<&Str>) -> String {
    let by = match rule {
        Some(rule) => format!("devicetaintrule/{rule}"),
        None => "its driver".to_owned(),
    };
    format!("{device} has taint {taint} from {by}")
}

/// That so many claims have a device that is to be allocated once.
pub(crate) fn allocated_twice(holders: &BTreeSet<Key>, as_a_whole: bool) -> String {
    let how = if as_a_whole {
        "as a whole"
    } else {
        "with the same share ID"
    };
    format!(
        "is allocated {how} to {}: {}. kube-scheduler counts the device once, so it allocates the device again as soon as one of them is \
         deallocated",
        counted(holders.len(), "claim", "claims"),
        some(holders.iter().map(|key| format!("claim/{key}"))),
    )
}

/// What lets the API server call a webhook again.
pub(crate) fn restore_webhook(webhook: &Webhook) -> String {
    let Webhook {
        name,
        service,
        is_down,
    } = webhook;
    match service {
        Some(service) if *is_down => {
            format!("start the pods of service/{service}: the API server cannot call its webhook {name}")
        }
        Some(service) => format!("fix webhook {name} of service/{service}, which the API server cannot call"),
        None => format!("fix webhook {name}, which the API server cannot call"),
    }
}

/// That a driver cannot prepare devices on these nodes, which it publishes.
pub(crate) fn unprepared(nodes: &str, why: &str) -> String {
    format!("cannot prepare devices for pods on {nodes}: {why}")
}

/// That slices of a pool are missing.
pub(crate) fn pool_is_incomplete(pool: &Pool<'_>) -> String {
    let there = pool.slices.len();
    let declared = pool.expected_slices;
    let counts = if there as i64 > declared {
        format!(
            "publishes {} but declares {declared}",
            counted(there, "slice", "slices")
        )
    } else {
        format!("publishes {there} of {declared} slices")
    };
    format!(
        "{counts} (generation {}): the driver is still publishing, or stopped halfway. kube-scheduler allocates none of its devices, and \
         requests for all devices fail",
        pool.generation
    )
}

/// That slices of a pool contradict each other.
pub(crate) fn pool_is_invalid(fault: &PoolFault) -> String {
    format!("is invalid, so kube-scheduler allocates none of its devices: {fault}")
}

/// That devices of a pool have the same name.
pub(crate) fn duplicates(names: &BTreeSet<&Str>) -> String {
    format!(
        "has several devices named {}: on a node that reaches more than one of them, kube-scheduler allocates no device of the pool",
        some(names)
    )
}

/// What a driver publishes, and what is wrong with a pool of it.
pub(super) fn publishes_in_part(serves: &str, pool: &PoolId, why: &str) -> String {
    format!("{serves}, but pool/{pool} {why}")
}

/// What a class does with an extended resource that `others` name, too; it is the first that counts.
pub(crate) fn shared_resource(resource: &Str, first: &Class, others: &[&Arc<Class>]) -> String {
    let several = others.len() > 1;
    let created = |class: &Class| class.metadata.creation_timestamp;
    let is_newest = others.iter().all(|class| created(class) < created(first));
    let names = others
        .iter()
        .map(|class| format!("deviceclass/{}", class.metadata.name));
    format!(
        "provides {resource}, which {} {} too: kube-scheduler uses this class, {}, and ignores the {}",
        some(names),
        if several { "provide" } else { "provides" },
        if is_newest {
            "the newest"
        } else {
            "the first by name among the newest"
        },
        if several { "others" } else { "other" },
    )
}

/// How a driver publishes a pool again.
pub(crate) fn republish(driver: &Str) -> String {
    format!(
        "ask the owner of driver {driver} to check the logs of its pods; a restart of the driver republishes the pool"
    )
}

/// What follows where nodes publish a pool of the same name, each for itself, with devices of the same names; nothing for other pools.
pub(crate) fn same_pool(pool: &Pool<'_>) -> Option<String> {
    let parts = pool.parts();
    let names = pool.duplicate_devices();
    let nodes = parts
        .iter()
        .filter_map(|part| part.slices.first()?.spec.node_name.as_ref());
    (parts.len() > 1 && !names.is_empty()).then(|| {
        format!(
            "is a pool of its own on each of {}, with devices of the same names ({}): kube-scheduler identifies a device by driver, pool and \
             name, so a device that is allocated on a node counts as in use on the others, too",
            some(nodes),
            some(names)
        )
    })
}

/// Has an administrator permit what the API server does not let a user do.
pub(crate) fn permit(
    Denial {
        user, verb, resource, ..
    }: &Denial,
) -> String {
    format!("add a rule for {verb} of {resource} to a role of user {user}")
}

/// That a rule is deleted.
pub(crate) fn delete_rule(rule: &str) -> String {
    format!("delete devicetaintrule/{rule}")
}

/// The controller of the object with `metadata`.
pub(crate) fn controller(metadata: &Meta, owner: &OwnerReference) -> String {
    let kind = owner.kind.to_ascii_lowercase();
    format!("{kind}/{}", metadata.beside(&owner.name))
}

/// An object that can be recreated.
pub(crate) fn object(kind: Kind, key: &Key) -> String {
    let kind = match kind {
        Kind::ResourceClaim => "claim",
        Kind::ResourceClaimTemplate => "template",
        _ => "pod",
    };
    format!("{kind}/{key}")
}

// What can be done.

/// What stands for the deletion of pods that could not be read.
pub(crate) fn delete_hidden_pods(namespace: &Str, claim: &Key) -> String {
    format!("ask a user who can read pods in namespace/{namespace} to delete those that use claim/{claim}")
}

pub(super) fn delete_hidden_members(namespace: &Str) -> String {
    format!(
        "ask a user who can read pods in namespace/{namespace} to delete those of the group, and then the group"
    )
}

/// What stands for the deletion of groups without pods that could not be read.
pub(super) fn delete_hidden_groups(namespace: &Str, groups: &BTreeSet<&Str>) -> String {
    format!(
        "podgroups could not be read: delete {} if {}; if not, the claim stays reserved until the entry is removed by hand, as `kubectl dra \
         check` reports once it can read podgroups",
        some(groups.iter().map(|group| format!("podgroup/{namespace}/{group}"))),
        if groups.len() == 1 {
            "it exists"
        } else {
            "they exist"
        }
    )
}

pub(super) const QUOTA_OWNER: &str = "the owner of the namespace's quotas must agree";

pub(super) const QUOTA_NOT_COUNTED: &str =
    "wait until the quota controller of kube-controller-manager has counted the usage";

pub(super) const FOREIGN_FINALIZER: &str =
    "only if the controller that set the finalizer is gone for good: otherwise its cleanup would be skipped";

/// That controllers recreate the pods that are deleted, unless they are stopped.
pub(super) fn recreates(first: &str, others: usize) -> String {
    match others {
        0 => format!("first stop {first}, or it recreates its pods"),
        others => format!("first stop {first} and {others} more, or they recreate their pods"),
    }
}

/// That the owner of pods has to be stopped for them to end.
pub(super) fn stop(owner: &str) -> String {
    format!("ask the owner of {owner} to stop it: it recreates a pod that is deleted")
}

/// That a Job which runs fewer pods at a time keeps doing so.
pub(super) fn run_more(at_once: i64) -> String {
    format!("set spec.parallelism to {at_once} afterwards to run as many again")
}

/// That a Job which is suspended stays so.
pub(super) const RESUME: &str = "set spec.suspend to false afterwards to run it again";

/// That a disruption budget guards pods that are to end.
pub(super) fn guarded(budget: &Key) -> String {
    format!("poddisruptionbudget/{budget} allows no further pod to end: ask its owner first")
}

/// Why the deletion of a pod is not all that replaces it.
pub(super) fn not_recreated(pod: &Meta) -> String {
    let key = pod.key();
    match pod.controller() {
        None => format!(
            "no controller recreates pod/{key}: delete it, and apply its original manifest again, without spec.nodeName"
        ),
        Some(owner) => format!(
            "it is unknown whether {} recreates pod/{key}: ask the owner of the pod to replace it",
            controller(pod, owner)
        ),
    }
}

/// Why a new pod would be placed without its devices, too.
pub(super) fn placed_alike(other: &str) -> String {
    format!(
        "a new pod would be placed the same way: {other}; first enable dynamic resource allocation in that scheduler, or let \
         default-scheduler place the pod (spec.schedulerName)"
    )
}

pub(super) fn delete_foreign(namespace: &Str, entry: &ConsumerReference) -> String {
    format!(
        "ask the owner of {} to delete it and to remove the entry: no controller of Kubernetes does",
        consumer(namespace, entry)
    )
}

/// What to know before the devices of a claim are taken back that is only reserved for what Kubernetes does not look at.
pub(super) fn release_foreign(namespace: &Str, entry: &ConsumerReference) -> String {
    format!(
        "make sure first that {} is gone or does not need it; without the entry alone, the claim keeps its devices until it is deleted",
        consumer(namespace, entry)
    )
}

pub(super) fn keeps_devices(claim: &Key, changed: &str) -> String {
    format!(
        "claim/{claim} is allocated and keeps its devices: delete its pods, and change {changed} before they start again"
    )
}

pub(super) fn only_written(object: &str) -> String {
    format!("{object} does not exist yet: change its manifest")
}

pub(super) fn recreate_it(object: &str) -> String {
    format!("ask the owner of {object} to recreate it")
}

pub(super) fn template_has_changed(template: &Key, claim: &Key) -> String {
    format!(
        "template/{template} was recreated after claim/{claim} was created from it: delete the claim, so that a new one is created"
    )
}

pub(super) fn template_is_shared(template: &Key, claim: &Key) -> String {
    format!(
        "several claims of the pod are created from template/{template}: create a separate template for claim/{claim}, and recreate the pod"
    )
}

pub(super) fn no_template(template: Option<&Key>, claim: &Key) -> String {
    match template {
        Some(template) => {
            format!("template/{template} does not exist: recreate it, and then delete claim/{claim}")
        }
        None => {
            format!("the template of claim/{claim} is unknown: recreate the template, and then the pod")
        }
    }
}

/// That the controller of an object decides what it requests.
pub(super) fn change_owner(owner: &str, object: &str) -> String {
    format!("{owner} creates {object}: change its requests there")
}

pub(super) fn claim_is_recreated(claim: &Key) -> String {
    format!("deletes and recreates claim/{claim}")
}

pub(super) fn template_is_recreated(template: &Key) -> String {
    format!("deletes and recreates template/{template}: later claims change, too")
}

// What is unknown.

/// Gaps of one place and one reason.
pub(super) fn missing(gaps: &[&Gap]) -> String {
    let Some(gap) = gaps.first() else {
        return String::new();
    };
    let kinds: Vec<&str> = gaps.iter().map(|gap| gap.kind.plural()).collect();
    let place = if gap.namespace != Str::default() {
        format!(" in namespace/{}", gap.namespace)
    } else if gap.except != Str::default() {
        format!(" outside namespace/{}", gap.except)
    } else {
        String::new()
    };
    format!("{}{place} could not be read: {}", kinds.join(", "), gap.reason)
}

/// Gaps of one place and one reason, as what an answer is without.
pub(super) fn without(gaps: &[&Gap]) -> String {
    let kinds: Vec<&str> = gaps.iter().map(|gap| gap.kind.plural()).collect();
    let reason = gaps.first().map_or("", |gap| gap.reason.as_str());
    format!("without {}: {reason}", kinds.join(", "))
}

/// `nothing`, the text for an empty list, where some objects could not be read.
pub(super) fn qualified(nothing: &str) -> String {
    format!("{nothing}; some objects could not be read")
}

pub(super) fn left_out(what: &str, count: usize, objects: &str, first: &str, why: &str) -> String {
    format!(
        "{what} is unknown for {count} of the {objects}, which are not listed; for example {first}: {why}"
    )
}

/// What a rule does that taints a device which pods use.
pub(super) const EVICTS_FROM_DEVICE: &str = "evicts the pods that use the device immediately, and keeps other pods off it until the DeviceTaintRule is deleted";

/// That pods may have devices of a driver from a device plugin, which no claim shows.
pub(super) fn beside_plugins(driver: &Str, nodes: &[Str], pods: &[Key]) -> String {
    format!(
        "devices of driver {driver} on {} that no claim holds may be in use: {} {} such hardware from a device plugin (DRA037)",
        some(nodes),
        some(pods.iter().map(|pod| format!("pod/{pod}"))),
        if pods.len() == 1 { "has" } else { "have" }
    )
}

// The chain of a driver.

pub(super) fn publishes_nothing(nodes: &[Str], why: &str) -> String {
    format!("publishes no devices for {}: {why}", some(nodes))
}

pub(super) fn publishes_unprepared(serves: &str, nodes: &[Str], why: &crate::Sentence) -> String {
    format!("{serves}, but {}", unprepared(&some(nodes), &why.to_string()))
}

/// What a driver publishes for so many nodes; for none where several share the devices.
pub(super) fn publishes(devices: usize, nodes: usize) -> String {
    let devices = counted(devices, "device", "devices");
    match nodes {
        0 => format!("publishes {devices} for several nodes"),
        nodes => format!("publishes {devices} for {}", counted(nodes, "node", "nodes")),
    }
}

/// Why a driver publishes no device.
pub(super) enum NoDevices<'a> {
    /// Not everything was read.
    Unknown,
    /// It has yet to publish again what the start of a kubelet deleted, which this sentence says.
    Awaited(&'a str),
    /// No pod seems to be its own.
    NoPods,
    /// These create its pods.
    Of(&'a [&'a String]),
}

pub(super) fn no_devices(why: &NoDevices<'_>) -> String {
    match why {
        NoDevices::Unknown => "publishes no device that could be read, for an unknown reason".to_owned(),
        NoDevices::Awaited(why) => format!("publishes no devices: {why}"),
        NoDevices::NoPods => "publishes no devices, and no pod appears to be its own".to_owned(),
        NoDevices::Of(workloads) => {
            format!("publishes no devices; its pods are those of {}", some(*workloads))
        }
    }
}

// Room on a node.

/// The devices of a slice whose node selector matches no node.
pub(super) fn for_no_node(slice: &Slice, selector: &NodeSelector) -> String {
    format!(
        "{} for nodes with {}, but no node matches",
        counted(slice.spec.devices.len(), "device", "devices"),
        selector_terms(selector).join(" or "),
    )
}

/// What keeps pods off a node, whatever they request.
#[derive(Clone, Copy)]
pub(super) enum NodeObstacle {
    Cordoned,
    Deleting,
    /// To be removed, as one of its taints tells.
    Marked,
    Unfit,
    Unprepared,
}

pub(super) fn obstacle(obstacle: NodeObstacle) -> &'static str {
    match obstacle {
        NodeObstacle::Cordoned => "the node is cordoned",
        NodeObstacle::Deleting => "the node is being deleted",
        NodeObstacle::Marked => "the node is marked for removal",
        NodeObstacle::Unfit => "the node is not ready for pods",
        NodeObstacle::Unprepared => "no driver of its devices is running there, so they cannot be prepared",
    }
}

/// So many devices of a class fit on a node; at the limit of what a claim can have, more may.
pub(super) struct Fit<'a> {
    pub(super) class: &'a Str,
    pub(super) devices: u64,
    /// What a request gets instead where that is none.
    pub(super) share: &'a [(Str, Quantity)],
    pub(super) at_limit: bool,
}

/// How much room there is on a node.
pub(super) enum Room<'a> {
    /// What is published again within a minute may be of any class, which this sentence says.
    Republishing(String),
    Unknown,
    NoDevices,
    Full,
    Closed(NodeObstacle),
    For(Vec<Fit<'a>>),
}

pub(super) fn room(room: &Room<'_>) -> String {
    match room {
        Room::Republishing(why) => why.clone(),
        Room::Unknown => "unknown what could still be scheduled there".to_owned(),
        Room::NoDevices => "no device of any class is available to it".to_owned(),
        Room::Full => "no request for devices fits".to_owned(),
        Room::Closed(why) => format!("accepts no new pods: {}", obstacle(*why)),
        Room::For(fits) => {
            let fits = fits.iter().map(|fit| {
                if !fit.share.is_empty() {
                    let amounts: Vec<String> = (fit.share.iter())
                        .map(|(name, amount)| format!("{name} {amount}"))
                        .collect();
                    return format!("a share of {} ({})", fit.class, amounts.join(", "));
                }
                let or_more = if fit.at_limit { " or more" } else { "" };
                format!("{}{or_more} of {}", fit.devices, fit.class)
            });
            let fits: Vec<String> = fits.collect();
            format!("room for {}", fits.join(", or "))
        }
    }
}

pub(super) const GAVE_UP: &str = "undecided within the search budget";

// Taints.

/// What is unknown of taints without a kind.
pub(super) const UNKNOWN_TAINTS: [(Kind, &str); 4] = [
    (Kind::ResourceSlice, "taints of slices are unknown"),
    (Kind::DeviceTaintRule, "taints of rules are unknown"),
    (
        Kind::ResourceClaim,
        "it is unknown which claims hold tainted devices",
    ),
    (Kind::Pod, "it is unknown which pods use tainted devices"),
];

pub(super) fn rules_are_off(evidence: &Evidence) -> String {
    format!(
        "{} is off in kube-controller-manager ({evidence}): its rules evict no pods",
        Gate::DRADeviceTaintRules
    )
}

pub(super) fn bare_rule(rule: &str) -> String {
    format!(
        "kube-scheduler before 1.37.1 applies devicetaintrule/{rule}, which has no selector, to every device, so that no pod with claims is scheduled (kubernetes/kubernetes#141998)"
    )
}

pub(super) fn wide_rule(rule: &str, drivers: &BTreeSet<Str>) -> String {
    format!(
        "devicetaintrule/{rule} selects devices of {} drivers ({}), as it names none: set spec.deviceSelector.driver, unless all are meant",
        drivers.len(),
        some(drivers)
    )
}

pub(super) fn rules_are_guessed(evidence: &Evidence) -> String {
    format!(
        "{} is off by default in this release, and assumed to be on in kube-controller-manager ({evidence}): if it is off, rules evict no pods",
        Gate::DRADeviceTaintRules
    )
}

pub(super) fn taints_left_out(count: usize, most: usize) -> String {
    format!(
        "{count} taints are not listed, because the others already affect more than {most} devices, claims and pods: select rules and \
         slices by their labels with -l"
    )
}

// The status.

/// What is unknown of a cluster's status without a kind.
pub(super) const UNKNOWN_STATUS: [(Kind, &str); 5] = [
    (Kind::ResourceSlice, "devices are unknown"),
    (Kind::ResourceClaim, "claims and free devices are unknown"),
    (Kind::Pod, "the health of devices in use is unknown"),
    (Kind::DeviceTaintRule, "taints of rules are unknown"),
    (Kind::Node, "only nodes named in slices are known"),
];

pub(super) const MORE_FINDINGS: &str = "some checks were incomplete";

pub(super) fn nodes_not_counted(driver: &Str, why: &dyn std::fmt::Display) -> String {
    format!("some nodes of driver {driver} are not counted: {why}")
}

// Reservations.

pub(super) const UNKNOWN_RESERVATIONS: &str = "the status of some reservations is unknown";

pub(super) const GROUPS_NOT_SERVED: &str =
    "PodGroups are not served: it is unknown whether the groups that claims are reserved for still exist";

pub(super) const UNLISTED_PODS: &str = "pods without a reservation are not listed";

/// That so many devices were not judged.
pub(super) fn more_devices(count: usize) -> String {
    format!(
        "it is unknown whether {} more belong to the class: {TOO_MUCH_WORK}",
        counted(count, "device", "devices")
    )
}
