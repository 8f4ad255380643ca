//! The sentences of the findings, by family. Each message follows the name of the finding's object. Nothing reads them again.

use std::collections::BTreeSet;

use dra_model::{
    Claim, ConsumerReference, Device, DeviceId, Gate, Key, Kind, MOST_CONSUMERS, Meta, Pod, Pool, Quantity,
    Slice, Str, TOO_MUCH_WORK, Taint, TaintSelector, Time,
};
use dra_rules::kubelet::{BrokenLink, Cause, PodStage, Stage, Stuck};
use dra_rules::quota::Refusal;
use dra_rules::reservation::{EntryStatus, GroupsIgnored, Unusable, may_run};
use dra_rules::scheduling::Exposure;

use super::Code;
use super::facts::{Changed, Fault, Lacking, Likeness, PluginPod, Request, Similar, Unbound};
use crate::HealthReport;
use crate::listing::some;
use crate::stage::{StageFact, broken_link_text, cause_of_node, kept_off_text, stuck_text};
use crate::words::{consumer, consumers, counted, object};

pub(super) fn claims<'k>(keys: impl IntoIterator<Item = &'k Key>) -> String {
    some(keys.into_iter().map(|key| format!("claim/{key}")))
}

pub(super) fn pods<'k>(keys: impl IntoIterator<Item = &'k Key>) -> String {
    some(keys.into_iter().map(|key| format!("pod/{key}")))
}

fn nodes<'n>(names: impl IntoIterator<Item = &'n Str>) -> String {
    some(names.into_iter().map(|name| format!("node/{name}")))
}

fn is(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

fn has(count: usize) -> &'static str {
    if count == 1 { "has" } else { "have" }
}

fn does(count: usize) -> &'static str {
    if count == 1 { "does" } else { "do" }
}

fn it(count: usize) -> &'static str {
    if count == 1 { "it" } else { "them" }
}

/// A pod, or how many there are.
fn pod_or_count(pods: &[Key]) -> String {
    match pods {
        [one] => format!("pod/{one}"),
        several => format!("{} pods", several.len()),
    }
}

/// What some component said, in brackets.
fn said(text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!(" ({text})")
    }
}

/// What a driver's owner can do.
pub(super) fn ask_driver(driver: &str, what: &str) -> String {
    format!("ask the owner of driver {driver} {what}")
}

// What was not checked.

/// Codes whose checks lack objects.
/// That the claim controller does nothing for a pod and for so many others.
pub(super) fn claim_not_made(since: Time, others: usize) -> String {
    let others = same_for(others);
    format!(
        "the claim controller has neither created its claim nor reported a problem since {since}: kube-controller-manager may not be running{others}"
    )
}

pub(super) fn claim_not_accepted(why: &str) -> String {
    format!("needs a claim that the API server does not accept: {why}")
}

pub(super) const DO_AS_SAID: &str = "change what the claim is made from, or what refuses it, as the message says: kube-controller-manager tries again";

/// That the claim controller makes no claim without a gate, for a pod and so many others.
pub(super) fn claim_needs_gate(gate: Gate, others: usize) -> String {
    format!(
        "kube-controller-manager does not create its claim, which needs {gate}: the gate is off there{}",
        same_for(others)
    )
}

/// What to do about that.
pub(super) fn enable_in_controller(gate: Gate) -> String {
    format!("ask an administrator to enable {gate} in kube-controller-manager")
}

pub(super) fn remove_gate(gate: &str, and_groups: bool) -> String {
    let groups = if and_groups {
        ", and scheduling.k8s.io/v1beta1 and v1alpha3 from --runtime-config"
    } else {
        ""
    };
    format!("ask the control plane's owner to remove {gate} from --feature-gates{groups}")
}

/// So many other pods, if any.
fn same_for(others: usize) -> String {
    match others {
        0 => String::new(),
        _ => format!(
            "; the same holds for {}",
            counted(others, "other pod", "other pods")
        ),
    }
}

/// What to do about that.
pub(super) const START_CLAIM_CONTROLLER: &str = "ask an administrator to check that kube-controller-manager is running: it creates the claims once it runs";

pub(super) fn not_checked(codes: &BTreeSet<Code>) -> String {
    let codes: Vec<&Code> = codes.iter().collect();
    match codes.as_slice() {
        [] => String::new(),
        [one] => format!("{one} was not fully checked"),
        [one, other] => format!("{one} and {other} were not fully checked"),
        [first, .., last] => format!(
            "{} codes from {first} to {last} were not fully checked",
            codes.len()
        ),
    }
}

pub(super) fn not_evaluated(count: usize, one: &str, many: &str) -> String {
    format!(
        "selectors of {} were not evaluated on all devices: {TOO_MUCH_WORK}",
        counted(count, one, many)
    )
}

// Admin access.

pub(super) fn admin_is_open(label: &str, askers: &[(Kind, Key)], all_are_known: bool) -> String {
    let begins = format!(
        "has the label {label}=true: users who can create claims, templates or pods in it can request devices that other claims hold"
    );
    match askers {
        [] if all_are_known => format!("{begins}. No claim or template in it does"),
        [] => begins,
        askers => {
            let names = askers.iter().map(|(kind, key)| object(*kind, key));
            format!("{begins}; {} {} so", some(names), does(askers.len()))
        }
    }
}

pub(super) const ADMIN_IS_UNUSED: &str = "only if nothing in the namespace has to access devices of others; an administrator can set the label again";

pub(super) const ADMIN_IS_USED: &str = "ask a cluster administrator to restrict who can create claims, templates and pods in the namespace, and label namespaces, to \
     users who may access all devices";

/// What a claim or template has or requests that its namespace does not allow.
pub(super) enum Forbidden<'a> {
    Held(&'a BTreeSet<DeviceId>),
    Template,
    Claim,
}

pub(super) fn admin_is_forbidden(label: &str, namespace: &Str, what: &Forbidden<'_>) -> String {
    let lacks = format!("namespace/{namespace} does not have the label {label}=true");
    match what {
        Forbidden::Held(devices) => format!(
            "has admin access to {}, but {lacks}: it keeps the devices until its consumers finish",
            some(*devices)
        ),
        Forbidden::Template => format!(
            "requests admin access, but {lacks}: the API server rejects every claim that is created from it, and its pods stay pending"
        ),
        Forbidden::Claim => format!(
            "requests admin access, but {lacks}: the API server rejects its allocation, and its pods stay pending"
        ),
    }
}

pub(super) fn allow_admin(what: &Forbidden<'_>) -> &'static str {
    match what {
        Forbidden::Held(_) => {
            "delete the pods that use it, or ask a cluster administrator to set the label of the namespace again"
        }
        Forbidden::Template | Forbidden::Claim => {
            "recreate it without admin access, or ask a cluster administrator to set the label of the namespace, if all users who can create \
             claims in it may access all devices"
        }
    }
}

pub(super) fn unknown_namespaces(names: &[&Str]) -> String {
    format!(
        "it is unknown whether admin access is allowed: {} not found",
        some(names.iter().map(|name| format!("namespace/{name}")))
    )
}

// Known bugs.

pub(super) fn known_bug(exposure: &Exposure, fix: &str, is_certain: bool, vendor: Option<&str>) -> String {
    let Exposure { bug, by, .. } = exposure;
    let release = if is_certain {
        format!("{} before {fix}", bug.component)
    } else {
        format!("{} before {fix} (possibly this one)", bug.component)
    };
    let vendor = vendor.map_or_else(String::new, |vendor| format!("; {vendor}"));
    format!("{release} {}: {} can trigger it{vendor}", bug.what, some(by))
}

pub(super) fn update_to(fix: &str, issue: u32) -> String {
    format!("ask the control plane's owner to update it to {fix} or later; see kubernetes/kubernetes#{issue}")
}

// Claims.

pub(super) fn orphaned(kind: Kind, owner: &Key, is_replaced: bool) -> String {
    let owner = format!("{}/{owner}", kind.singular());
    let why = if is_replaced {
        format!("was created for an earlier {owner}")
    } else {
        format!("was created for {owner}, which does not exist")
    };
    format!("{why}: garbage collection should have deleted it")
}

pub(super) fn claim_is_stuck(claim: &Claim) -> String {
    let entries = &claim.status.reserved_for;
    let why = match entries.len() {
        0 => "the claim controller has not removed its finalizer".to_owned(),
        count => format!(
            "it is reserved for {}, which {} not use it",
            consumers(&claim.metadata.namespace, entries),
            does(count)
        ),
    };
    format!("is being deleted and no pod uses it, but {why}")
}

pub(super) fn has_finalizers(names: &[&Str]) -> String {
    format!(
        "is being deleted and holds no devices, but keeps the finalizer {}",
        some(names)
    )
}

pub(super) const GROUP_IS_STUCK: &str = "is being deleted and all of its members have finished, but no component removes its finalizer: feature gate GenericWorkload \
     may be off in kube-controller-manager";

/// A device that reports a binding failure condition.
pub(super) fn binding_failed(device: &DeviceId, condition: &str, message: &str) -> String {
    format!("{device} reports {condition}{}", said(message))
}

pub(super) fn never_attached(failed: &[String]) -> String {
    format!("{}: the device will not be attached", some(failed))
}

/// What kube-scheduler does about a device that was not attached, for pods that have no node.
pub(super) fn allocated_anew(pods: &[Key]) -> String {
    match pods {
        [] => "kube-scheduler allocates the device again unless it is tainted".to_owned(),
        pods => format!(
            "kube-scheduler allocates new devices for {} automatically, possibly the same one unless it is tainted",
            self::pods(pods)
        ),
    }
}

pub(super) const ASK_WHY_NOT_ATTACHED: &str = "ask the driver's owner why the device could not be attached";

fn unbound(devices: &[Unbound<'_>]) -> String {
    some(devices.iter().map(|device| {
        let missing = some(&device.missing);
        format!("{} has not reported {missing}", device.id)
    }))
}

pub(super) fn binding_is_late(devices: &[Unbound<'_>], pods: &[Key], minutes: u64, timeouts: i64) -> String {
    let (unbound, pods, are) = (unbound(devices), self::pods(pods), is(pods.len()));
    if timeouts > 0 {
        return format!(
            "{unbound}, so {pods} {are} still pending: {timeouts} attempts of kube-scheduler timed out"
        );
    }
    format!(
        "{unbound} for more than {minutes} minutes, so {pods} {are} still pending: kube-scheduler should have given up by now"
    )
}

pub(super) const ATTACH_OR_RESTART: &str = "ask the driver's owner to attach the device and report it, or ask an administrator to restart kube-scheduler";

pub(super) fn bound_too_early(devices: &[Unbound<'_>], pods: &[Key]) -> String {
    format!(
        "{}, but {} {} already on a node: a scheduler without DRADeviceBindingConditions bound {} too early",
        unbound(devices),
        pod_or_count(pods),
        is(pods.len()),
        it(pods.len())
    )
}

/// Tolerations by their seconds and the key of the taint.
pub(super) fn toleration_seconds(tolerations: &[(i64, &Str)]) -> String {
    let each = tolerations.iter().map(|(seconds, key)| {
        let key = if key.is_empty() { "any taint" } else { key.as_str() };
        if *seconds < 0 {
            format!("{seconds} seconds for {key} count as 0")
        } else {
            format!(
                "{seconds} seconds for {key} overflow 64 bits of nanoseconds, and usually expire immediately"
            )
        }
    });
    format!("tolerationSeconds: {}", some(each))
}

pub(super) const TOLERATED_FOREVER: &str = "without tolerationSeconds the taint is tolerated forever";

// Classes.

pub(super) const RESOURCE_IS_TAKEN: &str = "removes the name from the ignored classes, and then writes the class that keeps it again, because kube-scheduler forgets a name that \
     any class drops";

// Devices.

pub(super) fn broken_partitions(taint: &Taint, free: &[&DeviceId]) -> String {
    format!(
        "has the taint {taint}, which marks it as broken, but {} can still be allocated, because no taint keeps pods off: {}",
        counted(free.len(), "partition of it", "partitions of it"),
        some(free),
    )
}

pub(super) const TAINT_PARTITIONS: &str =
    "to taint the partitions as well; until then, taint them with a DeviceTaintRule";

/// Devices that no slice lists; `node` is where their driver publishes others.
pub(super) fn not_published(
    devices: &[DeviceId],
    driver: &Str,
    node: Option<&Str>,
    are_gone: bool,
) -> String {
    let why = match node {
        Some(node) if are_gone => {
            format!(
                "driver {driver} publishes devices in use, and others for node/{node}, so the device is gone"
            )
        }
        Some(node) => format!(
            "driver {driver} still publishes devices for node/{node}, so it omits devices in use, as some drivers do, or the device is gone"
        ),
        None => "the driver does not run there, omits devices in use, or the device is gone".to_owned(),
    };
    format!(
        "holds {}, which no ResourceSlice of the newest generation lists: {why}",
        some(devices)
    )
}

pub(super) fn replace(driver: &Str, node: &Str) -> String {
    format!(
        "check the device on node/{node} and the log of driver {driver} there, then delete the pods that use the claim: recreated with a \
         new claim, they get another device"
    )
}

pub(super) fn publish_again(driver: &Str) -> String {
    format!(
        "no action needed if driver {driver} omits devices in use; otherwise ask the driver's owner to publish the device again, or, if the \
         device is gone for good, delete the pods that use the claim"
    )
}

/// More than there is of an amount.
pub(super) fn overdrawn(taken: &Quantity, total: &Quantity, name: &dyn std::fmt::Display) -> String {
    format!("{taken} of {name} (total: {total})")
}

pub(super) fn counters_overdrawn(overdrawn: &[String], holders: &BTreeSet<Key>) -> String {
    format!(
        "allocated devices consume {}; they are allocated to {}",
        some(overdrawn),
        claims(holders)
    )
}

pub(super) fn capacity_overdrawn(overdrawn: &[String], holders: &BTreeSet<Key>) -> String {
    format!(
        "its shares consume {}; they are allocated to {}",
        some(overdrawn),
        claims(holders)
    )
}

pub(super) fn unhealthy(report: &HealthReport, holders: &BTreeSet<Key>) -> String {
    format!(
        "{} reports it as unhealthy{}; it is allocated to {}",
        report.reporter,
        said(&report.message),
        claims(holders)
    )
}

pub(super) const TAINT_AND_DELETE: &str = "to taint the device, and then delete the pods that use it";

// A driver that is to be removed.

/// Devices that a claim holds, and the pods that use it, where those could be read.
pub(super) fn driver_in_use(devices: &BTreeSet<DeviceId>, users: Option<&[Key]>) -> String {
    let holds = format!("holds {}", some(devices));
    match users {
        None => format!("{holds}; it is unknown which pods use it"),
        Some([]) => format!("{holds}, but no pod uses it"),
        Some(users) => format!("{holds}; used by {}", pods(users)),
    }
}

pub(super) fn driver_awaited(is_ending: bool) -> String {
    let what = if is_ending {
        "is terminating, and its devices are not unprepared yet"
    } else {
        "is on its node, and its devices are not prepared yet"
    };
    format!("{what}: without the driver it is stuck until the driver is back and the kubelet has retried")
}

pub(super) const STOP_DRIVER_LATER: &str = "wait until the pod is running or gone before you stop the driver; running pods are not affected while a driver is away, and the kubelet \
     keeps its ResourceSlices for 30 seconds";

pub(super) fn driver_wanted(request: &Str, driver: &Str, pending: &[Key]) -> String {
    let pods = match pending {
        [] => String::new(),
        pods => format!("; {} {} pending", pod_or_count(pods), is(pods.len())),
    };
    format!("request {request} needs a class that only driver {driver} serves{pods}")
}

pub(super) const LEAVE_PENDING: &str = "or leave it pending for another driver that serves the class";

pub(super) fn classes_not_judged(classes: &BTreeSet<Str>) -> String {
    format!(
        "it is unknown which drivers serve class {}: {TOO_MUCH_WORK}",
        some(classes)
    )
}

pub(super) fn still_allocated(free: &[DeviceId]) -> String {
    format!(
        "{} can still be allocated{}: taint them first, so that no new pod gets one",
        counted(free.len(), "device", "devices"),
        free.first()
            .map(|device| format!(", such as {device}"))
            .unwrap_or_default(),
    )
}

pub(super) const KEEPS_OFF_DRIVER: &str =
    "keeps new pods off the devices until the DeviceTaintRule is deleted";

pub(super) const TAINT_OR_CORDON: &str =
    "to taint the devices, or ask a cluster administrator to cordon the nodes";

// Pods that do not terminate.

pub(super) fn driver_is_gone(pod: &Pod, node: &Str, driver: &Str, holders: &BTreeSet<Key>) -> String {
    let due = pod
        .metadata
        .deletion_timestamp
        .map_or_else(String::new, |time| format!(" at {time}"));
    format!(
        "should have terminated{due}. It is on node/{node} with devices of driver {driver} ({}), where the driver has no ResourceSlice and no \
         pod: the kubelet needs the driver to unprepare the devices, and retries forever",
        claims(holders)
    )
}

pub(super) fn restore_driver(driver: &Str, node: &Str) -> String {
    format!(
        "ask the owner of driver {driver} to run it on node/{node} again, and the pod terminates automatically; if the driver is gone for \
         good, ask a cluster administrator to make sure that nothing of the pod runs on the node, and then to force-delete the pod"
    )
}

pub(super) fn driver_may_be_gone(pod: &Key, node: &Str, driver: &Str) -> String {
    format!(
        "it is unknown whether pod/{pod} terminates late because driver {driver} is gone from node/{node}"
    )
}

// Idle claims.

pub(super) fn idle(claim: &Claim, entries: &[&ConsumerReference], since: Time) -> String {
    format!(
        "holds {} for {}, but no pod has run with it since {since}, as far as the existing objects show",
        counted(claim.results().len(), "device", "devices"),
        consumers(&claim.metadata.namespace, entries.iter().copied()),
    )
}

pub(super) const OR_FIND_OUT_WHY: &str =
    "or keep the devices allocated, and find out why the consumers do not run";

/// Why the pods of an idle claim are not deleted.
pub(super) fn find_out_why(pods: &[Key], events_are_hidden: bool) -> String {
    let why = if events_are_hidden {
        "their events could not be read"
    } else {
        "no controller is known to recreate them after a deletion"
    };
    format!(
        "find out why {} {} not run: {why}",
        self::pods(pods),
        does(pods.len())
    )
}

// Leftovers of PodGroups.

fn ignored(why: GroupsIgnored) -> &'static str {
    match why {
        GroupsIgnored::NotServed => "PodGroups are not served",
        GroupsIgnored::GateOff => "feature gate DRAWorkloadResourceClaims is off in kube-controller-manager",
    }
}

/// A claim that is reserved for a group, with the pods that use it and those of them that have no entry of their own.
pub(super) fn group_reservation(
    claim: &Claim,
    group: &Str,
    why: GroupsIgnored,
    users: usize,
    uncovered: &[Key],
) -> String {
    let used = counted(users, "pod uses it", "pods use it");
    let users = match (users, uncovered) {
        (0, _) => "no pod uses it".to_owned(),
        (1, []) => format!("{used} through its own entry"),
        (_, []) => format!("{used} through their own entries"),
        (_, uncovered) => format!(
            "{used}, but {} {} no entry of {} own",
            pods(uncovered),
            has(uncovered.len()),
            if uncovered.len() == 1 { "its" } else { "their" }
        ),
    };
    let stuck = if claim.metadata.is_deleting() {
        "its deletion never finishes"
    } else {
        "its devices stay allocated"
    };
    format!(
        "is reserved for podgroup/{}, but {}: {stuck} until the entry is removed; {users}",
        claim.metadata.beside(group),
        ignored(why)
    )
}

/// A claim that was created for a group, with the pods that name it.
pub(super) fn group_claim(claim: &Claim, group: &Str, why: GroupsIgnored, users: &[Key]) -> String {
    let users = match users {
        [] => "no pod references it".to_owned(),
        [one] => {
            format!("pod/{one} references it; its sandbox cannot be recreated, and taints do not evict it")
        }
        several => format!(
            "{} pods reference it; their sandboxes cannot be recreated, and taints do not evict them",
            several.len()
        ),
    };
    format!(
        "was created for podgroup/{} and holds {}, but {}: {users}",
        claim.metadata.beside(group),
        counted(claim.results().len(), "device", "devices"),
        ignored(why)
    )
}

// Nodes.

pub(super) fn node_is_missing(slice: &Slice, nodes: &[&Str]) -> String {
    format!(
        "publishes {} of driver {} for {}, which {} not exist",
        counted(slice.spec.devices.len(), "device", "devices"),
        slice.spec.driver,
        self::nodes(nodes.iter().copied()),
        does(nodes.len())
    )
}

fn unlike(likeness: &Likeness<'_>) -> String {
    let Likeness { with, of, similar } = likeness;
    let similar = match similar {
        Similar::Type(name) => format!("of type {name}"),
        Similar::Labels(labels) => {
            let labels = labels.iter().map(|(key, value)| format!("{key}={value}"));
            format!("with {}", some(labels))
        }
    };
    format!("unlike {with} of the {of} nodes {similar}")
}

/// A pool without devices, where so many other pools of its driver have some.
pub(super) fn pool_is_empty(
    driver: &Str,
    node: Option<&Str>,
    others: usize,
    likeness: Option<&Likeness<'_>>,
) -> String {
    let place = match node {
        Some(node) => format!("publishes no devices for node/{node}"),
        None => "has no devices".to_owned(),
    };
    match likeness {
        _ if others == 0 => format!(
            "{place}, and no other pool of driver {driver} has any: the driver found nothing to publish"
        ),
        Some(likeness) => format!("{place}, {}: the driver found nothing there", unlike(likeness)),
        None => format!(
            "{place}, while {} of driver {driver} {} some: the driver found nothing there, which is fine if the node has no such hardware",
            counted(others, "other pool", "other pools"),
            has(others)
        ),
    }
}

pub(super) const FINDS_NOTHING: &str = "why it finds no device: check the logs of its pod";

/// A node without slices of a driver.
pub(super) fn without_slices(
    driver: &Str,
    likeness: Option<&Likeness<'_>>,
    plugin: Option<(String, PluginPod<'_>)>,
) -> String {
    let unlike = likeness.map_or_else(String::new, |likeness| format!(", {}", unlike(likeness)));
    let plugin = plugin.map_or_else(String::new, |(set, pod)| {
        let wherever = "which runs on every node where the driver has devices";
        match pod {
            PluginPod::There(pod, is_ready) => format!(
                "; pod/{pod} of {set}, {wherever}, is {}",
                if is_ready { "ready" } else { "not ready" }
            ),
            PluginPod::Missing(why) => {
                let why = why.map_or_else(String::new, |why| format!(": {}", kept_off_text(&why)));
                format!("; {set}, {wherever}, has no pod there{why}")
            }
        }
    });
    format!("has no ResourceSlice of driver {driver}{unlike}{plugin}")
}

pub(super) const SERVES_NOT: &str =
    "why it does not serve the node: check whether its pod runs there, and the pod's logs";

pub(super) fn driver_is_silent(nodes: &[&Str], link: &BrokenLink, publishes: bool) -> String {
    let (nodes, why) = (self::nodes(nodes.iter().copied()), broken_link_text(link));
    if publishes {
        crate::words::unprepared(&nodes, &why)
    } else {
        format!("publishes no devices for {nodes}: {why}")
    }
}

pub(super) fn no_node_matches(slice: &Slice, selector: &dra_model::NodeSelector) -> String {
    let devices = crate::words::for_no_node(slice, selector);
    format!("has {devices}: no pod can use them")
}

pub(super) const LABEL_NODES: &str = "which nodes should reach the devices, and label those nodes";

pub(super) fn hardware_twice(
    resource: &Str,
    amount: &Quantity,
    driver: &Str,
    users: &[Key],
    class: Option<&Str>,
) -> String {
    let users = match users {
        [] => String::new(),
        users => format!(
            " ({} {} some of the plugin's)",
            self::pods(users),
            if users.len() == 1 { "has" } else { "have" }
        ),
    };
    let class = class.map_or_else(String::new, |class| {
        format!(
            ". A pod that requests {resource} gets it from the device plugin here, because kube-scheduler uses deviceclass/{class} only on \
             nodes that report none"
        )
    });
    format!(
        "reports {amount} {resource} of a device plugin, and driver {driver} publishes devices for the same hardware: neither knows what the \
         other has allocated, so two pods can get the same hardware{users}{class}"
    )
}

pub(super) fn keep_one_off(driver: &Str) -> String {
    format!(
        "ask a cluster administrator to keep the device plugin or driver {driver} off the node, unless they split the hardware between them"
    )
}

// Pools.

/// A pool whose slices declare that there are none of them. No API server stores such slices (`validation.go`, `validateResourcePool`,
/// v1.37.2), but who simulates scheduling with slices from elsewhere meets them.
pub(super) fn declares_none(pool: &Pool<'_>) -> String {
    format!(
        "publishes {} but declares {}: the API server rejects such slices (`resourceSliceCount` must be greater than zero), so they come from \
         a file, such as the template of a node that an autoscaler may add. Schedulers treat the pool as incomplete and allocate none of its \
         devices",
        counted(pool.slices.len(), "slice", "slices"),
        pool.expected_slices,
    )
}

pub(super) fn declare(there: usize) -> String {
    format!("set resourceSliceCount to {there} in the file, if the pool has no other slices")
}

pub(super) fn pool_is_outdated(pool: &Pool<'_>) -> String {
    let count = pool.outdated.len();
    let names = some(pool.outdated.iter().map(|slice| &slice.metadata.name));
    let (slices, it) = (if count == 1 { "slice" } else { "slices" }, it(count));
    let ignores = match pool.only_outdated().as_slice() {
        [] => format!("kube-scheduler ignores {it}"),
        nodes => format!(
            "For {}, no slice is of that generation, and kube-scheduler may use the outdated ones there",
            some(nodes)
        ),
    };
    format!(
        "has outdated {slices} {names} (current generation: {}). {ignores}; the driver should have deleted {it}",
        pool.generation,
    )
}

pub(super) fn counts_disagree(counts: &BTreeSet<i64>) -> String {
    format!(
        "has slices that declare different numbers of slices: {}. Which number applies depends on the node",
        counts.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")
    )
}

pub(super) const NAME_POOLS: &str =
    "to give the pool of each node a name of its own, such as that of the node";

// Requests.

/// What has to change for other claims, and how they should be.
pub(super) fn change(changed: &Changed, how: &str) -> String {
    match changed {
        Changed::Owner(owner) => format!("change {owner}, which creates it, to create it {how}"),
        Changed::Object(object) => {
            format!("recreate {object} {how}: specs of claims and templates are immutable")
        }
    }
}

pub(super) fn class_is_missing(kind: Kind, classes: &BTreeSet<&Str>) -> String {
    format!(
        "requests {} {}, which {} not exist: pods that use it {}",
        if classes.len() == 1 {
            "device class"
        } else {
            "device classes"
        },
        some(classes),
        does(classes.len()),
        if kind == Kind::ResourceClaim {
            "stay pending"
        } else {
            "will stay pending"
        }
    )
}

pub(super) fn class_or_other(classes: &BTreeSet<&Str>, changed: &Changed) -> String {
    format!(
        "ask an administrator for {} (usually installed with the driver), or {}",
        some(classes.iter().map(|class| format!("deviceclass/{class}"))),
        change(changed, "with an existing class")
    )
}

pub(super) fn selector_fault(selector: usize, fault: &Fault) -> String {
    // An error of several lines shows where in the expression it is.
    let one_line = |text: &str| text.lines().next().unwrap_or_default().trim_end().to_owned();
    match fault {
        Fault::NoExpression => format!("selector #{selector} has no CEL expression"),
        Fault::Invalid(error) => format!("selector #{selector} does not compile: {}", one_line(error)),
        Fault::Fails(error) => format!("selector #{selector} fails: {}", one_line(error)),
    }
}

fn and_more(devices: usize) -> String {
    match devices.saturating_sub(1) {
        0 => String::new(),
        1 => " and 1 more device".to_owned(),
        more => format!(" and {more} more devices"),
    }
}

pub(super) fn class_is_invalid(fault: &str) -> String {
    format!("{fault}; no device can be allocated through the class")
}

pub(super) fn class_fails(fault: &str, device: &DeviceId, devices: usize) -> String {
    format!(
        "{fault}, on {device}{}: a pod that requests the class fits on no node once kube-scheduler evaluates such a device",
        and_more(devices)
    )
}

pub(super) const CORRECT_CLASS: &str =
    "ask a cluster administrator to correct the selector: the spec of a device class can be changed in place";

pub(super) fn request_is_invalid(request: &Request, fault: &str) -> String {
    format!("request {request}: {fault}; every scheduling attempt fails with an error")
}

pub(super) fn request_fails(request: &Request, fault: &str, device: &DeviceId, devices: usize) -> String {
    format!(
        "request {request}: {fault}, on {device}{}: scheduling fails with an error when kube-scheduler evaluates such a device",
        and_more(devices)
    )
}

pub(super) fn correct_request(changed: &Changed) -> String {
    change(changed, "with a selector that works")
}

pub(super) fn reference_is_missing(pod: &Pod, kind: Kind, key: &Key) -> String {
    let then = if pod.node().is_some() {
        "its containers cannot be restarted"
    } else {
        "it stays pending"
    };
    format!("references {}, which does not exist: {then}", object(kind, key))
}

/// What helps a pod without a claim or template. A claim that `is_generated` cannot be created by hand: it would not be the pod's.
pub(super) fn create_reference(pod: &Pod, kind: Kind, key: &Key, is_generated: bool) -> String {
    match (is_generated, pod.node().is_some()) {
        (true, true) => "recreate the pod, so that it gets a claim with devices".to_owned(),
        (true, false) => {
            "restart kube-controller-manager, which then creates another claim from the template, or recreate the pod".to_owned()
        }
        (false, _) => format!(
            "create {}, or recreate the pod with the name of an existing one",
            object(kind, key)
        ),
    }
}

pub(super) fn quota_refuses(template: &Meta, refusal: &Refusal<'_>) -> String {
    format!("needs a claim from template/{}, which {refusal}", template.key())
}

// Reservations.

pub(super) fn many_reservations(entries: usize) -> String {
    format!(
        "has {entries} reservations of at most {MOST_CONSUMERS}; a pod beyond that stays pending with a scheduler error"
    )
}

pub(super) const SPLIT_CLAIM: &str =
    "give further pods their own claim, through a ResourceClaimTemplate or a second claim";

pub(super) fn no_reservation(claim: &Claim) -> String {
    format!(
        "holds {} but is reserved for no consumer: no pod on a node uses it, and no controller deallocates it",
        counted(claim.results().len(), "device", "devices")
    )
}

/// An entry that names what uses the claim no more.
pub(super) fn former_consumer(claim: &Claim, entry: &ConsumerReference, status: EntryStatus) -> String {
    let who = consumer(&claim.metadata.namespace, entry);
    let what = match status {
        EntryStatus::OtherUid => format!("an earlier {who} with UID {}", entry.uid),
        EntryStatus::Done => format!("{who}, which has finished"),
        _ => format!("{who}, which does not exist"),
    };
    let kept = if claim.status.reserved_for.len() == 1 {
        "its devices stay allocated, unused, until"
    } else {
        "its devices stay allocated after its other consumers finish, until"
    };
    format!("is reserved for {what}: {kept} the claim controller removes the entry")
}

pub(super) fn foreign_consumer(
    claim: &Claim,
    entry: &ConsumerReference,
    blocks_controller: bool,
    is_unused: bool,
) -> String {
    let who = consumer(&claim.metadata.namespace, entry);
    if blocks_controller {
        format!(
            "is reserved for {who}, which the claim controller of this release does not support: it never removes any entry of the claim"
        )
    } else {
        let then = if is_unused { " and deletes the claim" } else { "" };
        format!(
            "is reserved for {who}, which no controller of Kubernetes removes: its devices stay allocated until its owner removes the entry{then}"
        )
    }
}

pub(super) fn flapping(pods: &[Key]) -> String {
    format!(
        "is used by {}, which {} finished but still {}, and by others: the claim controller repeatedly removes and adds the reservation, \
         some twenty times a second (kubernetes/kubernetes#141274)",
        self::pods(pods),
        has(pods.len()),
        if pods.len() == 1 { "exists" } else { "exist" },
    )
}

pub(super) fn not_reserved(pod: &Pod, node: &Str, claim: &Key) -> String {
    format!(
        "is on node/{node} and uses claim/{claim}, which is not reserved for it: {}",
        Unusable::NotReserved.consequence(may_run(pod))
    )
}

pub(super) fn on_other_node(node: &Str, claim: &Key) -> String {
    format!("is on node/{node}, which cannot reach the devices of claim/{claim}")
}

/// A pod whose claim has no devices; `earlier` is the claim whose devices the pod got.
pub(super) fn not_allocated(pod: &Pod, node: &Str, claim: &Key, earlier: Option<&Key>) -> String {
    let why = match earlier {
        Some(earlier) => format!(
            "it was created after claim/{earlier}, whose devices the pod got. The pod does not start again once its sandbox is recreated"
        ),
        None => Unusable::NotAllocated.consequence(may_run(pod)).to_owned(),
    };
    format!("is on node/{node}, but claim/{claim} holds no devices: {why}")
}

pub(super) fn convert_unread(kind: Kind, claim: &Key) -> String {
    format!(
        "ask a user who can read {} in namespace/{} to convert claim/{claim}",
        kind.plural(),
        claim.namespace
    )
}

/// That `convert` does not write a claim, for that reason, and what resolves it.
pub(super) fn convert_refuses(reason: Option<String>, way_out: Option<String>) -> String {
    match (reason, way_out) {
        (Some(reason), Some(way_out)) => {
            format!("`convert` leaves the claim alone ({reason}); to resolve: {way_out}")
        }
        (reason, way_out) => way_out
            .or(reason)
            .unwrap_or_else(|| "`convert` leaves the claim alone".to_owned()),
    }
}

// Rights.

/// `since` is the minor release that requires the rights, if it is a later one.
pub(super) fn cannot_write_status(lacking: &Lacking, since: Option<u32>) -> String {
    let Lacking {
        accounts,
        namespaces,
        verbs,
        is_shown,
        ..
    } = lacking;
    let place = match namespaces.as_slice() {
        [] => String::new(),
        names => format!(
            " in {}",
            some(names.iter().map(|name| format!("namespace/{name}")))
        ),
    };
    let since = since.map_or_else(String::new, |minor| format!(" from 1.{minor} on"));
    let consequence = if *is_shown {
        "the API server rejects its device status, and pods that depend on it stay pending"
    } else {
        "the API server rejects its device status, if it writes any"
    };
    format!(
        "cannot write status.devices of claims{place}{since}: {} can update resourceclaims/status, but {} none of {} on \
         resourceclaims/driver; {consequence}",
        some(accounts.iter().map(|account| format!("serviceaccount/{account}"))),
        has(accounts.len()),
        verbs.join(", "),
    )
}

pub(super) fn add_driver_rule(group: &str, lacking: &Lacking) -> String {
    format!(
        "add a rule to the ClusterRole of the driver: apiGroups {group}, resources resourceclaims/driver, resourceNames {}, verbs {}",
        lacking.driver,
        lacking.verbs.join(" or ")
    )
}

pub(super) fn unknown_rights(driver: &Str) -> String {
    format!("it is unknown whether driver {driver} can write status.devices")
}

pub(super) fn unknown_account(driver: &Str) -> String {
    format!(
        "{}: no DaemonSet is known to be the driver's, so neither is its service account",
        unknown_rights(driver)
    )
}

/// What subjects that `code` reports can do.
pub(super) fn can(code: Code, bindings: &BTreeSet<String>) -> String {
    let what = match code {
        Code::AdminAccessRights => {
            "can label namespaces and create claims in them, and so can get admin access to devices that others hold"
        }
        Code::ReservationRights => {
            "can write allocations and reservations of claims, as the scheduler does: it can take devices from pods and allocate them to others"
        }
        _ => {
            "can taint devices with DeviceTaintRules: a rule with the effect NoExecute evicts pods of others"
        }
    };
    format!("{what} (through {})", some(bindings))
}

pub(super) const REVOKE: &str = "ask a cluster administrator to revoke the right where it is not needed, or accept the finding (`--suppressions`)";

pub(super) fn cannot_bind(verbs: &[&str]) -> String {
    format!(
        "can {} resourceclaims/status, but not resourceclaims/binding: from 1.36 on the API server rejects its writes if it allocates or \
         reserves claims",
        verbs.join(" and ")
    )
}

pub(super) fn add_binding_rule(group: &str, verbs: &[&str]) -> String {
    format!(
        "if it is a scheduler, add a rule to a ClusterRole that a ClusterRoleBinding grants it: apiGroups {group}, resources \
         resourceclaims/binding, verbs {}",
        verbs.join(" and ")
    )
}

// Taint rules.

pub(super) fn unknown_effect(effect: &str) -> String {
    if effect.is_empty() {
        "sets no effect, so it neither evicts pods nor keeps them off".to_owned()
    } else {
        format!("has the effect {effect}, which neither evicts pods nor keeps them off")
    }
}

pub(super) const MAKES_EFFECT_EXPLICIT: &str = "states what the rule does now; use NoSchedule or NoExecute instead if it is to keep pods off or evict them";

pub(super) fn selects_all(taint: &Taint) -> String {
    format!(
        "has an empty selector and the effect NoExecute: every pod with devices of any driver is evicted unless it tolerates {taint}"
    )
}

pub(super) fn no_selector(blocks: bool) -> &'static str {
    if blocks {
        "has no deviceSelector, which the scheduler of this release treats as every device: no pod with claims is scheduled"
    } else {
        "has no deviceSelector: it matches no device"
    }
}

pub(super) fn unknown_effects(devices: &[&Device], taint: Option<&Taint>) -> String {
    format!(
        "{} {} a taint with an unknown effect{}",
        some(devices.iter().map(|device| &device.name)),
        has(devices.len()),
        taint.map(|taint| format!(": {taint}")).unwrap_or_default(),
    )
}

pub(super) const PUBLISH_KNOWN_EFFECTS: &str = "to publish NoExecute, NoSchedule or None";

pub(super) fn selects_nothing(selector: &TaintSelector, pools: usize) -> String {
    let parts = [
        ("driver", &selector.driver),
        ("pool", &selector.pool),
        ("device", &selector.device),
    ];
    let wanted: Vec<String> = parts
        .into_iter()
        .filter_map(|(part, value)| Some(format!("{part} {}", value.as_ref()?)))
        .collect();
    format!(
        "selects {}, but no device in {} matches: it has no effect until such a device is published",
        wanted.join(", "),
        counted(pools, "pool", "pools"),
    )
}

// Stages.

/// A node that is not ready, with the pods that do not start or terminate there, or were running there.
pub(super) fn node_keeps(
    stuck: &Stuck<'_>,
    starting: &[Key],
    running: &[Key],
    terminating: &[Key],
) -> String {
    let kept = [
        (starting, ["does not start", "do not start"]),
        (running, ["was running", "were running"]),
        (terminating, ["does not terminate", "do not terminate"]),
    ];
    let kept = kept.iter().filter(|(pods, _)| !pods.is_empty());
    let kept: Vec<String> = kept
        .map(|(pods, [one, many])| {
            let count = counted(pods.len(), "pod with devices", "pods with devices");
            let what = if pods.len() == 1 { one } else { many };
            format!("{count} {what} there: {}", self::pods(*pods))
        })
        .collect();
    format!("{}. {}", cause_of_node(&stuck.cause), kept.join(". "))
}

pub(super) fn list_claim(names_no_request: bool) -> &'static str {
    if names_no_request {
        "use the name of an existing request of the claim in the pod's containers, and recreate the pod"
    } else {
        "list the claim under resources.claims of the container that needs the devices, and recreate the pod"
    }
}

pub(super) fn pod_is_stuck(found: &PodStage<'_>, stuck: &Stuck<'_>, has_failed: bool) -> String {
    let pod = found.pod;
    let node = pod.node().map_or("", Str::as_str);
    let what = match found.stage {
        Stage::Gone if has_failed => format!("failed on node/{node}"),
        Stage::Gone => "is not gone".to_owned(),
        _ if matches!(stuck.cause, Cause::NodeGone { .. }) => "has lost its node".to_owned(),
        Stage::Running if !stuck.cause.holds_up() => format!("runs on node/{node}"),
        Stage::Unpreparing | Stage::Running => format!("does not terminate on node/{node}"),
        _ => format!("does not start on node/{node}"),
    };
    let since = match stuck.since {
        Some(since) if stuck.times() == 1 => format!(" (since {since})"),
        _ => String::new(),
    };
    format!("{what}: {}{since}", stuck_text(&StageFact::of(stuck, pod)))
}

// Suppressions.

pub(super) fn stale(code: Code, object: &str, has_expired: bool) -> String {
    if has_expired {
        format!("the suppression of {code} for {object} has expired: the finding is reported again")
    } else {
        format!("the suppression of {code} for {object} is stale: it matches no finding; remove it")
    }
}
