//! The sentences of fixes: what to change, and what to know before.

use dra_model::{Condition, Key, OwnerReference, Pool, PoolId, Quantity, Str, Taint, Time};
use dra_rules::owners::{Ending, Queued, Retry};
use dra_rules::scheduling::{Fix, Near, OtherToleration, Unsimulated};

use super::super::items::GetsItem;
use super::one_or_many;
use crate::listing::{pod_selector, some};
use crate::words::{counted, delete_rule, pool_is_incomplete};

/// The state that a change replaces.
pub(in super::super) enum Before {
    /// A number or an amount.
    Amount(String),
    /// All devices.
    All,
    /// A constraint that wants different values.
    Distinct,
    /// A node whose network is not set up.
    NoNetwork,
    /// Pods with these names use the claim.
    Pods(Vec<Str>),
    /// Pods use the claim whose owner recreates them unless it ends them.
    Owned {
        /// Their names.
        pods: Vec<Str>,
        /// Their owner.
        owner: String,
        /// How the owner ends them, if that is known.
        ending: Option<Ending>,
        /// How many pods that ends, if known.
        ends: Option<usize>,
    },
    /// Pods with these names use the claim, and are being deleted.
    Terminating(Vec<Str>),
    /// The claim is reserved only for pods with these names that are gone or have finished.
    Former(Vec<Str>),
    /// The claim is reserved for these alone, whose entries no component removes, and no pod uses it.
    Ignored(Vec<String>),
    /// kube-scheduler deallocates the claim automatically.
    Deallocated,
    /// No pod uses the claim.
    Idle,
    /// No pod uses the claim, and pods with these names wait for it.
    Named(Vec<Str>),
    /// Nothing that the sentence names.
    Unknown,
}

/// Names of what a change is about.
pub(in super::super) struct About {
    /// `pod/NAMESPACE/NAME` of the pod that is helped; empty for claims alone.
    pub(in super::super) pod: String,
    /// The claim or template that has to change; empty where it is neither.
    pub(in super::super) object: String,
    /// Value that the change replaces.
    pub(in super::super) before: Before,
}

/// The change, as an instruction.
pub(in super::super) fn change(fix: &Fix, About { pod, object, before }: &About) -> String {
    let of = |request: &str| format!("request {request} of {object}");
    match fix {
        Fix::Release { claim, .. } => release(claim, before),
        Fix::RenewClaim { claim, template } => {
            format!("delete claim/{claim}: it is recreated from template/{template}, which has changed since")
        }
        Fix::Tolerate {
            request,
            key,
            value,
            effect,
            other,
            ..
        } => format!(
            "tolerate device taint {}:{effect} in {}{}",
            of_value(key, value),
            of(request),
            other_toleration(*other)
        ),
        Fix::TolerateNode {
            key,
            value,
            effect,
            has_other,
            ..
        } => format!(
            "tolerate node taint {}:{effect} in {pod}{}",
            of_value(key, value),
            other_toleration(has_other.then_some(OtherToleration::OfRequest))
        ),
        Fix::Fewer { request, count, .. } => reduce(&of(request), &count.to_string(), before),
        Fix::LessResource {
            container,
            resource,
            amount,
        } => reduce(
            &match container {
                Some(container) => format!("{resource} in container {container} of {pod}"),
                None => format!("{resource} in spec.resources of {pod}"),
            },
            &amount.to_string(),
            before,
        ),
        Fix::DropExtended { container, resource } => format!(
            "remove {resource} from container {container} of {pod}, whose claims request such devices already"
        ),
        Fix::UseResource {
            container,
            resource,
            instead,
        } => format!("replace {resource} with {instead} in container {container} of {pod}"),
        Fix::LessCapacity {
            request,
            capacity,
            amount,
            ..
        } => reduce(
            &format!("{capacity} in {}", of(request)),
            &amount.to_string(),
            before,
        ),
        Fix::DropTerm { request, term, .. } => format!("remove `{term}` from {}", of(request)),
        Fix::ReplaceTerm {
            request,
            term,
            replacement,
            ..
        } => format!("replace `{term}` with `{replacement}` in {}", of(request)),
        Fix::DropConstraint {
            attribute,
            instead: Some(other),
            ..
        } => format!("compare {other} instead of {attribute} in {object}"),
        Fix::DropConstraint { attribute, .. } => format!(
            "remove the constraint on {attribute} from {object}, which gives up {}",
            if matches!(before, Before::Distinct) {
                "that the devices differ in it"
            } else {
                "the alignment of the devices"
            }
        ),
        Fix::UseClass { request, class, .. } => format!("use class {class} in {}", of(request)),
        Fix::DropNodeLabel { key } => match before {
            Before::Amount(value) => {
                format!("remove node selector {key} from {pod}, or set it to {value}, which nodes have")
            }
            _ => format!("remove node selector {key} from {pod}"),
        },
        Fix::DropNodeAffinity => format!("remove the required node affinity from {pod}"),
        Fix::LiftTaint { pool, key, effect } => {
            format!("ask the driver's owner to remove taint {key}:{effect} from the devices of pool {pool}")
        }
        Fix::DeleteRule { rule } => delete_rule(rule),
        Fix::OfferResource { class, resource } => {
            format!("set extendedResourceName of deviceclass/{class} to {resource}")
        }
        Fix::Uncordon { node } => format!("uncordon node/{node}"),
        Fix::RestoreNode { node } if matches!(before, Before::NoNetwork) => {
            format!("set up the network of node/{node}")
        }
        Fix::RestoreNode { node } => format!("make node/{node} ready"),
        Fix::LiftNodeTaint { node, key, effect } => format!("remove taint {key}:{effect} from node/{node}"),
    }
}

/// That the admission of a pod may add again what was removed. Mirrors `plugin/pkg/admission/runtimeclass/admission.go`, `setScheduling`,
/// v1.37.2.
pub(in super::super) const OF_RUNTIME_CLASS: &str = "the RuntimeClass of the pod may add it to the new pod again: if it does, use another \
     runtimeClassName, or label a node";

fn of_value(key: &str, value: &str) -> String {
    if value.is_empty() {
        key.to_owned()
    } else {
        format!("{key}={value}")
    }
}

fn other_toleration(other: Option<OtherToleration>) -> &'static str {
    match other {
        Some(OtherToleration::OfRequest) => ", whose toleration of this key does not match the taint",
        Some(OtherToleration::OfAlternative) => ", as another alternative of the request does",
        Some(OtherToleration::OfPod) => ": tolerations of the pod are for taints of nodes",
        None => "",
    }
}

fn reduce(what: &str, to: &str, before: &Before) -> String {
    match before {
        Before::Amount(from) => format!("reduce {what} from {from} to {to}"),
        Before::All => format!("reduce {what} from all devices to {to}"),
        _ => format!("reduce {what} to {to}"),
    }
}

/// Why a node may not take pods.
pub(in super::super) const CORDONED: &str = "find out first why it is cordoned";

/// What a pod needs on a node of another architecture or operating system.
pub(in super::super) const OTHER_PLATFORM: &str =
    "only if the images of its containers are built for such nodes, too";

/// Why a rule is not just deleted.
pub(in super::super) const RULE_IS_MEANT: &str = "find out first why the rule is there";

/// Why a taint is not just removed.
pub(in super::super) const TAINT_IS_MEANT: &str = "find out first why the node has the taint";

/// What to do before a taint is removed that the cluster autoscaler has left on a node.
pub(in super::super) fn left_by_autoscaler(marked: Time) -> String {
    format!(
        "ask an administrator to check cluster-autoscaler first: it marked the node for removal at {marked}, has not removed it since, and removes such taints itself when it starts"
    )
}

/// Whose pods are to end: those of another namespace, or of a higher priority than that of the pod.
pub(in super::super) fn of_others(is_elsewhere: bool, higher: Option<i32>, own: i32) -> String {
    let elsewhere = is_elsewhere.then(|| "it is in another namespace".to_owned());
    let priority =
        higher.map(|higher| format!("its priority ({higher}) is higher than that of the pod ({own})"));
    let what: Vec<String> = elsewhere.into_iter().chain(priority).collect();
    let what = what.join(", and ");
    format!("ask its owner first: {what}")
}

/// That so many pods which are to end do not come back.
pub(in super::super) fn of_bare(pods: usize) -> Option<String> {
    let it = one_or_many(pods, "it", "them");
    (pods > 0).then(|| format!("no controller recreates {it}"))
}

/// That a pod without devices makes room, whose owner runs it elsewhere.
pub(in super::super) fn make_room(pod: &Key, owner: &str) -> String {
    format!("delete pod/{pod}, which has no devices: {owner} recreates it, and another node can take it")
}

/// That a pod without an owner makes room, and runs on another node.
pub(in super::super) fn move_pod(pod: &Key, node: &str) -> String {
    format!("recreate pod/{pod} on {node}, which can take it, too")
}

/// What that does to its work.
pub(in super::super) const RESTARTS: &str =
    "this ends the pod and starts it again there: ask its owner first";

/// What can be done to a rule that selects devices of every pool.
pub(in super::super) const NARROW_RULE: &str = "to taint only some of these devices, set spec.deviceSelector.pool of the rule instead, and .device for one of them";

/// What releases a claim.
pub(in super::super) fn release(claim: &Key, before: &Before) -> String {
    let named = |pods: &[Str]| some(pods.iter().map(|name| format!("pod/{}/{name}", claim.namespace)));
    match before {
        Before::Pods(pods) => {
            let use_it = one_or_many(pods.len(), "uses", "use");
            format!("delete {}, which {use_it} claim/{claim}", named(pods))
        }
        Before::Owned {
            pods,
            owner,
            ending,
            ends,
        } => {
            let change = match ending {
                Some(Ending::Scale { replicas, left, .. }) => {
                    format!("scale {owner} from {replicas} to {left}")
                }
                Some(Ending::Fewer { at_once, left, .. }) => {
                    format!("lower spec.parallelism of {owner} from {at_once} to {left}")
                }
                Some(Ending::Suspend(_)) => format!("suspend {owner}"),
                None => format!("stop {owner}"),
            };
            let names = named(pods);
            let ended = match ends {
                _ if matches!(ending, Some(Ending::Fewer { is_any: true, .. })) => {
                    return format!(
                        "{change}, which ends one of its pods, such as {names}, and releases its claim"
                    );
                }
                Some(count) if *count == pods.len() => names,
                Some(count) if matches!(ending, Some(Ending::Fewer { .. })) => {
                    format!("{count} of its pods, {names} among them,")
                }
                Some(count) => format!("its {count} pods, {names} among them,"),
                None => format!("its pods, such as {names},"),
            };
            format!("{change}, which ends {ended} and releases claim/{claim}")
        }
        Before::Terminating(pods) => {
            let use_it = one_or_many(pods.len(), "uses", "use");
            format!(
                "wait for the end of {}, which {use_it} claim/{claim}",
                named(pods)
            )
        }
        Before::Former(pods) => {
            let (reservation, are) = one_or_many(
                pods.len(),
                ("reservation", "is gone or has finished"),
                ("reservations", "are gone or have finished"),
            );
            format!(
                "have the claim controller remove the {reservation} of claim/{claim} for {}, which {are}",
                named(pods)
            )
        }
        Before::Ignored(consumers) => format!(
            "remove the reservation of claim/{claim} for {}, which no component removes",
            some(consumers)
        ),
        Before::Deallocated => {
            format!("wait until kube-scheduler deallocates claim/{claim}, which no other pod uses")
        }
        Before::Idle => format!("delete claim/{claim}, which no pod uses"),
        Before::Named(pods) => {
            let wait = one_or_many(pods.len(), "waits", "wait");
            format!(
                "delete and recreate claim/{claim}, which no pod uses yet; {} {wait} for it",
                named(pods)
            )
        }
        _ => format!("stop the consumers of claim/{claim}"),
    }
}

/// Who stops the consumers of a claim that is not reserved for them.
pub(in super::super) const STOP_CONSUMERS: &str = "ask the owner of the pods that use it";

/// That slices of a pool are missing, and when the newest of those that are there was created.
pub(in super::super) fn incomplete(pool: &Pool<'_>, newest: Option<Time>) -> String {
    let newest = newest.map_or_else(String::new, |newest| {
        format!("; the newest slice was created at {newest}")
    });
    format!("pool/{} {}{newest}", pool.id, pool_is_incomplete(pool))
}

/// That the driver's owner has to remove a taint.
pub(in super::super) fn taint_of_driver(pool: &PoolId, key: &str) -> String {
    format!(
        "driver {} publishes taint {key}: only the driver can remove it",
        pool.driver
    )
}

/// What else a class that offers an extended resource changes.
pub(in super::super) fn offered(resource: &str, class: &str) -> String {
    format!("afterwards, every pod that requests {resource} gets devices of class {class}")
}

/// How affinity to pods works.
const NEAR: &str = "a required term leaves only nodes whose topology domain has a matching pod; a preferred term rejects no node";

/// The pods that a pod has to be near, and where that leaves it.
pub(super) fn kept_near(near: &Near) -> String {
    let selected = pod_selector(&near.selector);
    let domains: Vec<&str> = near.domains.iter().map(Str::as_str).collect();
    match near.pods.as_slice() {
        [] => format!("it has to be near a pod with {selected}, and no such pod has a node"),
        [first, more @ ..] => {
            let more = if more.is_empty() {
                String::new()
            } else {
                format!(" and {} more", more.len())
            };
            format!(
                "it has to be near pod/{first}{more} ({selected}), so in {} {}",
                near.topology_key,
                some(domains)
            )
        }
    }
}

/// What has to run where else for a pod that has to be near it; `owner` makes the first of these pods.
pub(in super::super) fn near(
    target: &str,
    near: &Near,
    owner: Option<&OwnerReference>,
) -> (String, &'static str) {
    let selected = pod_selector(&near.selector);
    let other = match near.pods.first().zip(owner) {
        Some((pod, owner)) => format!(
            "another pod of {}/{}/{} ({selected}) in a further {}",
            owner.kind.to_lowercase(),
            pod.namespace,
            owner.name,
            near.topology_key
        ),
        None if near.pods.is_empty() => format!("a pod with {selected}"),
        None => format!("another pod with {selected} in a further {}", near.topology_key),
    };
    (
        format!("run {other}, or make the podAffinity of {target} a preferred one"),
        NEAR,
    )
}

/// What to look at where a filter that is not simulated rejects nodes, and what to know of it; `users` also use the volumes.
pub(in super::super) fn placement(
    filter: Unsimulated,
    target: &str,
    users: &[Key],
) -> (String, &'static str) {
    let named = some(users.iter().map(|user| format!("pod/{user}")));
    let (use_it, it) = one_or_many(users.len(), ("uses", "it"), ("use", "them"));
    match filter {
        Unsimulated::PodTopologySpread => (
            format!("check the topologySpreadConstraints of {target}"),
            "a constraint with whenUnsatisfiable: ScheduleAnyway rejects no node; DoNotSchedule leaves only nodes whose topology domain has \
             few enough matching pods, compared with all domains that the pod's nodeSelector and node affinity leave, even those without such \
             devices",
        ),
        Unsimulated::PodAffinity => (format!("check the podAffinity of {target}"), NEAR),
        Unsimulated::PodAntiAffinity => (
            format!("check the podAntiAffinity of {target}"),
            "a required term rejects nodes whose topology domain has a matching pod; a preferred term rejects no node",
        ),
        Unsimulated::OthersAntiAffinity => (
            format!("check the podAntiAffinity of other pods, which matches {target}"),
            "a required term of a pod rejects others in its topology domain as long as that pod exists",
        ),
        Unsimulated::DeletedVolumeClaim if users.is_empty() => {
            (format!("wait until {target} is deleted"), DELETED_VOLUME)
        }
        Unsimulated::DeletedVolumeClaim => (
            format!("wait for the end of {named}, which still {use_it} {target}, or delete {it}"),
            DELETED_VOLUME,
        ),
        Unsimulated::VolumeRestrictions if users.is_empty() => (
            format!("check which pod uses the volumes of {target}"),
            "the volume can be used by one pod at a time: wait for its end",
        ),
        Unsimulated::VolumeRestrictions => (
            format!("wait for the end of {named}, which {use_it} {target}, too"),
            "the volume can be used by one pod at a time",
        ),
        Unsimulated::NoVolumeClaim => (
            format!("create what is missing of {target}"),
            "a pod starts only once all of its PersistentVolumeClaims exist",
        ),
        Unsimulated::NodeVolumeLimits => (
            format!("check the volumes of {target}"),
            "the nodes have as many volumes as their CSI driver attaches, or run no such driver",
        ),
        Unsimulated::VolumeBinding => (
            format!("check the volumes of {target}"),
            "a PersistentVolumeClaim has to be bound, and its PersistentVolume has to allow the node (spec.nodeAffinity)",
        ),
        Unsimulated::VolumeZone => (
            format!("check the volumes of {target}"),
            "a PersistentVolume with the label of a zone can only be used there",
        ),
    }
}

/// What follows the end of the pods that use a volume claim which is being deleted.
const DELETED_VOLUME: &str = "the claim is gone then, with its data as a rule: a deletion cannot be undone; a StatefulSet creates it again, others have to be created";

/// That pods end without further action.
pub(in super::super) fn terminating(due: Option<Time>) -> String {
    let due = due.map_or_else(String::new, |due| format!(", due at {due}"));
    format!("no action needed: it is being deleted{due}")
}

/// Who makes a node ready.
pub(in super::super) const RESTORE_NODE: &str =
    "ask an administrator to check the node and its kubelet; the taint is removed automatically";

/// Who initializes a node of a cloud.
pub(in super::super) const INITIALIZE: &str = "ask an administrator to check the cloud controller manager: it initializes new nodes, and removes the taint then";

/// Who sets up the network of a node.
pub(in super::super) const SET_UP_NETWORK: &str = "ask an administrator to check what does that, the cloud provider's route controller or the network plugin; the taint is removed automatically";

/// Who removes a taint that is not the node controller's.
pub(in super::super) fn unfit(taint: &Taint) -> String {
    if taint.key == "karpenter.sh/unregistered" {
        return "ask an administrator why Karpenter does not register the node: its NodeClaim and the log of Karpenter have the reason, and Karpenter deletes the node 15 minutes after its launch".to_owned();
    }
    format!("ask the owner of what sets taint {taint}: it is removed once the node is ready for pods")
}

/// What a condition of a node says.
pub(in super::super) fn ailing(node: &Str, condition: &Condition) -> String {
    let Condition {
        type_,
        status,
        message,
        ..
    } = condition;
    format!("node/{node} has condition {type_}={status}: {message}")
}

/// That a pod runs together with others.
pub(in super::super) fn ends_gang(group: &Key) -> String {
    format!(
        "podgroup/{group} runs its pods together: ask its owner whether the others can continue without this one"
    )
}

/// That pods may not be deleted for a manifest that is not applied.
pub(in super::super) const NOT_APPLIED: &str =
    "ask the owner of the pod first: the manifest is not applied yet";

/// That kube-scheduler does it.
pub(in super::super) fn deallocated(key: &Key) -> String {
    format!("no action needed: kube-scheduler deallocates claim/{key} automatically")
}

/// That no pod uses some of the claims that count against a quota.
pub(in super::super) fn unused_claims(claims: impl Iterator<Item = Key>) -> Option<String> {
    let claims: Vec<String> = claims.map(|claim| format!("claim/{claim}")).collect();
    (!claims.is_empty()).then(|| format!("no pod uses {}, which the quota counts", some(claims)))
}

/// That no fix was found.
pub(in super::super) const NO_FIX: &str = "no tested change makes it fit";

/// That more fixes may exist.
pub(in super::super) const MORE_FIXES: &str = "other changes of the same size may exist";

/// That the pod template does not have what the pod has.
pub(in super::super) fn added_later(owner: &str) -> String {
    format!(
        "the pod template of {owner} does not request it: correct what changes its pods when they are created, such as a \
         VerticalPodAutoscaler, a webhook, a LimitRange, or the node selector of the namespace"
    )
}

/// That a Deployment has to delete old pods first, one by one or all of them, and what else that changes.
pub(in super::super) fn strategy(deployment: &Key, one_by_one: bool) -> (String, &'static str) {
    let (set, deletes, note) = if one_by_one {
        (
            "maxSurge 0 and maxUnavailable 1",
            "an old pod before creating a new one",
            "meanwhile one pod less is ready",
        )
    } else {
        (
            "strategy Recreate",
            "old pods before creating new ones",
            "until the new pods are ready, none runs",
        )
    };
    (
        format!("set {set} in deployment/{deployment}, which deletes {deletes}"),
        note,
    )
}

/// That the Deployment has a manager.
pub(in super::super) const MANAGED: &str = "if a manager resets the deployment's strategy, change it there";

/// Warning about a change that allocates devices reported unhealthy.
pub const RISKY: &str = "risky: devices reported unhealthy";

/// That a pod gets its own claims when it is recreated.
pub(in super::super) fn recreate(pod: &Key, owner: Option<&str>) -> String {
    match owner {
        Some(owner) => format!("delete pod/{pod}: {owner} recreates it with its own claims"),
        None => format!("delete and recreate pod/{pod}, so that it gets its own claims"),
    }
}

/// That a pod which nothing recreates is created again with a change.
pub(in super::super) fn create_changed(pod: &Key) -> String {
    format!("delete pod/{pod}, and create it again with the change")
}

/// That an object is only in a manifest.
pub(in super::super) fn in_manifest(pod: &Key) -> String {
    format!("pod/{pod} does not exist yet: change its manifest")
}

/// That the owner creates other pods as before.
pub(in super::super) fn others_without(owner: &str) -> String {
    format!("{owner} creates further pods without it: change its pod template, too")
}

/// That the change belongs in the pod template of the owner.
pub(in super::super) fn in_template(pod: &Key, owner: &str) -> String {
    format!("{owner} creates pod/{pod}: change the pod template there")
}

/// The same of an owner that may have one.
pub(in super::super) fn in_template_above(pod: &Key, owner: &str) -> String {
    format!("{}, or in the owner of {owner}", in_template(pod, owner))
}

/// That the change belongs in a new Job.
pub(in super::super) fn in_new_job(pod: &Key, owner: &str) -> String {
    format!(
        "{owner} creates pod/{pod}, and the pod template of a Job is immutable: recreate the Job with the change"
    )
}

/// That the pod is recreated.
pub(in super::super) fn pod_is_recreated(pod: &Key) -> String {
    format!("deletes and recreates pod/{pod}")
}

/// How a claim that is being deleted goes; `finalizers` of other components keep it, alone unless it `is_held`.
pub(in super::super) fn gone(target: &str, finalizers: &[&Str], is_held: bool) -> String {
    match finalizers {
        [] => format!("wait until {target} is gone"),
        names if is_held => format!(
            "wait until {target} is gone, which finalizer {} keeps, too",
            some(names)
        ),
        names => format!(
            "remove finalizer {} from {target}, if its controller is gone for good",
            some(names)
        ),
    }
}

/// That a claim that users made is recreated once it is gone.
pub(in super::super) fn recreated(gone: &str, pods: &[String]) -> String {
    match pods {
        [] => format!("{gone}, then recreate it"),
        pods => format!("delete {}, {gone}, then recreate it", some(pods)),
    }
}

/// That the claim controller creates a new claim.
pub(in super::super) fn new_one(gone: &str) -> String {
    format!("{gone}; a new one is created then")
}

/// That the pod's own group uses the claim.
pub(in super::super) fn of_own_group(target: &str) -> String {
    format!("the pod's own PodGroup uses {target}: ask the group's owner to delete it with its pods")
}

/// That pods of the same owner use the claim.
pub(in super::super) fn of_own_owner(target: &str) -> String {
    format!("pods that may have the same owner use {target}: ask that owner to delete them")
}

/// Message and way to the admission of a pod by Kueue.
pub(in super::super) fn admitted(pod: &Key, gate: &str) -> (String, String) {
    (
        format!("wait until Kueue admits pod/{pod} and removes its gate {gate}"),
        "see the pod's Workload (workloads.kueue.x-k8s.io) for what Kueue is waiting for; removing the gate by hand bypasses the queue and \
         its quota"
            .to_owned(),
    )
}

/// Message and way to the removal of a gate that a controller has set.
pub(in super::super) fn ungated(
    pod: &Key,
    gate: &str,
    domain: &str,
    owner: Option<&str>,
) -> (String, String) {
    let look = match owner {
        Some(owner) => format!("see pod/{pod} and its owner {owner}"),
        None => format!("see the labels, annotations and events of pod/{pod}"),
    };
    (
        format!("wait until the controller of {domain} removes gate {gate} from pod/{pod}"),
        format!("the controller of {domain} removes the gate when the pod may start: {look}"),
    )
}

/// Message and way to the admission of a Workload.
pub(in super::super) fn requeued(queued: &Queued) -> (String, &'static str) {
    let workload = &queued.workload;
    let of = queued
        .of
        .as_ref()
        .map_or_else(|| "what it stands for".to_owned(), ToString::to_string);
    match queued.retry {
        Retry::Automatic => (
            format!("wait until Kueue admits workload/{workload}"),
            "its pods are created once Kueue admits the Workload",
        ),
        Retry::WithQueue => (
            format!("create or activate the queue of workload/{workload}"),
            "Kueue retries the Workload once its queue exists and is active: ask the administrator of the queues, or use another queue",
        ),
        Retry::WithName => (
            format!(
                "name a LocalQueue in label kueue.x-k8s.io/queue-name of the owner of workload/{workload}"
            ),
            "Kueue manages it without the label, too, and admits it only from a LocalQueue of its namespace",
        ),
        Retry::WithQuota => (
            format!("raise the quota of the ClusterQueue, or request less in workload/{workload}"),
            "waiting will not help: it requests more than the queue may have. Ask the administrator of the queues, or change the owner of its pods",
        ),
        Retry::WhenActive => (
            format!("activate workload/{workload}"),
            "it was deactivated, by a user or by Kueue after too many attempts: Kueue does not retry it until spec.active is true",
        ),
        Retry::WithPods { there, total } => (
            format!(
                "create {} of pod group {workload}, or recreate its pods with a lower kueue.x-k8s.io/pod-group-total-count",
                counted(total.saturating_sub(there), "missing pod", "missing pods")
            ),
            "Kueue makes no Workload of the pods before; pods that have failed, or were deleted before they got a node, do not count",
        ),
        Retry::WithTemplate => (
            format!("recreate {of} with resourceClaimTemplateName instead of resourceClaimName"),
            "Kueue counts no claims that exist already. Where the pods have to share a claim, create them without the label of its queue",
        ),
        Retry::WithMapping => (
            "add the DeviceClass to deviceClassMappings in the configuration of kueue-controller-manager, and restart it".to_owned(),
            "if the class is there already, only restart it: it reads its configuration when it starts, and tries the Workload again. Ask the administrator of Kueue",
        ),
        Retry::Anew => (
            format!(
                "delete workload/{workload} if deviceClassMappings in the configuration of kueue-controller-manager has the DeviceClass by now; otherwise add it"
            ),
            "kueue-controller-manager was started after it had refused the Workload, and may not look at it again: Kueue creates it anew for what it stands for",
        ),
        Retry::Never => (
            format!("act on Kueue's message about workload/{workload}, then recreate {of}"),
            "waiting will not help: Kueue does not retry an unchanged workload. Its message names what to change: Kueue's configuration or \
             queues (ask their administrator), or what the pods request (ask their owner)",
        ),
    }
}

/// Message and way to the removal of a gate that Kueue should have removed.
pub(in super::super) fn overdue(gate: &str, workload: &Key, since: Time) -> (String, String) {
    (
        format!(
            "ask an administrator to check the log of kueue-controller-manager for why it does not remove gate {gate}"
        ),
        format!(
            "workload/{workload} has been admitted since {since}; removing the gate by hand bypasses Kueue"
        ),
    )
}

/// That gates have to be removed.
pub(in super::super) fn remove_gates(gates: &str) -> String {
    format!("remove the scheduling gates {gates}")
}

/// That gates are only in a manifest.
pub(in super::super) fn gates_in_manifest(pod: &Key) -> String {
    format!("pod/{pod} does not exist yet: remove them from its manifest")
}

/// When gates may be removed.
pub(in super::super) const GATES: &str =
    "only if their owner agrees: they hold the pod back until something is ready";

/// `memory 10Gi instead of 80Gi`.
pub(in super::super) fn differs(name: &str, value: &Quantity, other: &Quantity) -> String {
    format!("{name} {value} instead of {other}")
}

/// `model is X`.
pub(in super::super) fn sees(name: &str, value: &str) -> String {
    format!("{name} is {value}")
}

impl GetsItem {
    /// `gets gpu-1, memory 10Gi instead of 80Gi`.
    pub fn text(&self) -> String {
        let device = self.device.rsplit('/').next().unwrap_or(&self.device);
        let more = match self.more {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let differs: String = self.differs.iter().map(|text| format!(", {text}")).collect();
        format!("gets {device}{more}{differs}")
    }
}
