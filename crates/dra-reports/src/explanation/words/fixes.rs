//! The sentences of fixes: what to change, and what to know before.

use dra_model::{Component, Condition, Event, Gate, Key, Kind, Pool, PoolId, Quantity, Str, Taint, Time};
use dra_rules::kubelet::KeptOff;
use dra_rules::owners::{Ending, Retry};
use dra_rules::reservation::{Unlisted, UnlistedDevices};
use dra_rules::scheduling::{Fix, OtherToleration, Unsimulated};

use super::super::coming::NoNode;
use super::super::items::GetsItem;
use super::super::namesake::Namesake;
use super::one_or_many;
use crate::listing::some;
use crate::stage::{asked_text, labels_text};
use crate::words::{delete_rule, pool_is_incomplete};

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
    /// The claim is reserved for PodGroups with these names alone, whose entries no component removes, and no pod uses it.
    Ignored(Vec<Str>),
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
            effect,
            other,
            ..
        } => format!(
            "tolerate device taint {key}:{effect} in {}{}",
            of(request),
            other_toleration(*other)
        ),
        Fix::TolerateNode {
            key,
            effect,
            has_other,
        } => format!(
            "tolerate node taint {key}:{effect} in {pod}{}",
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

/// That a node lacks huge pages that others have.
pub(in super::super) fn set_up_huge_pages(node: &str, resource: &str, wanted: &Quantity) -> String {
    format!("set up {resource} on node/{node}, which has none: the pod requests {wanted}")
}

/// How a node gets huge pages.
pub(in super::super) const SET_UP_HUGE_PAGES: &str = "ask an administrator: compare the kernel arguments, or the profile that sets them, with those of nodes that have huge pages";

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

/// What can be done to a rule that selects devices of every pool.
pub(in super::super) const NARROW_RULE: &str =
    "to taint only some of these devices, set spec.deviceSelector.pool of the rule instead";

/// When a claim without a pod may be deleted.
pub(in super::super) const IF_UNUSED: &str = "only if no pod is to use it later";

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
        Before::Ignored(groups) => format!(
            "remove the reservation of claim/{claim} for {}, which no component removes",
            some(
                groups
                    .iter()
                    .map(|name| format!("podgroup/{}/{name}", claim.namespace))
            )
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

/// That the slices of a pool have to be there.
pub(in super::super) fn complete(pool: &PoolId) -> String {
    format!("ask the driver's owner to publish all slices of pool/{pool}")
}

/// Slices that contradict each other.
pub(in super::super) fn correct_pool(pool: &PoolId) -> String {
    format!("ask the driver's owner to correct the slices of pool/{pool}")
}

/// Why that is needed.
pub(in super::super) const CORRECT_POOL: &str =
    "kube-scheduler allocates no device of a pool that contradicts itself";

/// That a node has to match the allocation of a claim again.
pub(in super::super) fn restore_labels(node: Option<&Str>, claim: &Key, terms: &str) -> String {
    match node {
        Some(node) => format!("restore the labels of node/{node}: {terms}"),
        None => format!("restore the labels of the node that has the devices of claim/{claim}: {terms}"),
    }
}

/// Who sets labels of nodes.
pub(in super::super) const RESTORE_LABELS: &str = "ask an administrator which labels the node should have";

/// What shows that a node had other labels.
pub(in super::super) const HAD_LABELS: &str = "pods of the same owner were there";

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

/// That a controller creates a template.
pub(in super::super) fn await_template(template: &str, kind: &str, owner: &Key) -> String {
    let kind = kind.to_ascii_lowercase();
    format!("wait until the controller of {kind}/{owner} creates {template}")
}

/// That a controller has to run.
pub(in super::super) fn start_controller(pod: &Key, why: Option<&Str>, kind: &str, owner: &Key) -> String {
    let kind = kind.to_ascii_lowercase();
    let why = why.map_or_else(|| "is not ready".to_owned(), |why| format!("is pending: {why}"));
    format!("get the controller of {kind}/{owner} running: pod/{pod} {why}")
}

/// That what makes a template is being deleted.
pub(in super::super) fn recreate_maker(template: &str, kind: &str, owner: &Key) -> String {
    let kind = kind.to_ascii_lowercase();
    format!(
        "create {kind}/{owner} again: it is being deleted, and its controller creates no {template} for it"
    )
}

/// When it can be created again.
pub(in super::super) const RECREATE_MAKER: &str =
    "wait until it is gone first; its finalizers tell what it waits for";

/// That a template needs what makes one of the same name in another namespace.
pub(in super::super) fn create_maker(template: &str, kind: &str, other: &Key) -> String {
    format!(
        "create the {kind} that makes {template}, as one makes resourceclaimtemplate/{other}, or create the pod in namespace {}",
        other.namespace
    )
}

/// Why the template is not enough.
pub(in super::super) const CREATE_MAKER: &str =
    "a copy of the template is not enough: its configuration is for the other namespace";

/// What to do if it does not.
pub(in super::super) const START_CONTROLLER: &str =
    "ask the driver's owner; the controller creates the template once it runs";

pub(in super::super) const AWAIT_TEMPLATE: &str =
    "if it does not within a minute, check that the controller is running";

pub(in super::super) fn allow_admin_access(namespace: &str, value: Option<&str>) -> String {
    let value = value.map(|value| format!(", whose label has the value {value:?}: only \"true\" counts"));
    format!(
        "allow admin access in namespace/{namespace}{}",
        value.unwrap_or_default()
    )
}

/// What the label means.
pub(in super::super) const ALLOW_ADMIN_ACCESS: &str = "ask a cluster administrator: all users who can create claims in the namespace can then access all devices";

/// What follows once a webhook answers.
pub(in super::super) const RESTORE_WEBHOOK_HOW: &str =
    "ask its owner or an administrator; what the API server rejects now is created once the webhook answers";

/// The controllers are down, as far as their silence tells.
pub(in super::super) const RESTORE_CONTROLLER: &str =
    "ask an administrator to check that kube-controller-manager is running";

/// What follows.
pub(in super::super) const RESTORE_CONTROLLER_HOW: &str =
    "it creates the claim once it runs; if it is running, check its log";

/// The pods of a Job that fail one after the other, or that the kubelet rejects.
pub(in super::super) fn failing_pods(last: &str, are_rejected: bool) -> (String, &'static str) {
    if are_rejected {
        let how = "the pods that the Job creates next have the same template: it may request more than its node has left";
        return (format!("fix why the kubelet rejects {last}"), how);
    }
    (
        format!("fix what fails in {last}"),
        "check its logs; the pods that the Job creates next have the same template",
    )
}

/// A gang that never has enough members: the most that its owner creates.
pub(in super::super) fn complete_gang(group: &Key, creates: i64, owner: &str, needed: i64) -> String {
    format!(
        "reduce minCount of podgroup/{group} from {needed} to {creates}, or let {owner} create {needed} pods at a time, rather than {creates}"
    )
}

/// What to know of that.
pub(in super::super) const COMPLETE_GANG_HOW: &str =
    "none of the pods is scheduled before: waiting does not help";

/// A group whose members have to be close to each other.
pub(in super::super) fn spread(group: &Key, keys: &[&Str]) -> String {
    format!(
        "remove the topology constraint from podgroup/{group}, or provide nodes with the same {} that have room for all of its pods",
        some(keys)
    )
}

/// What to know of that.
pub(in super::super) const SPREAD_HOW: &str =
    "kube-scheduler places the pods of the group only on nodes with the same value of the label";

/// A gate that components lack, and the first release 1.x that has it on.
pub(in super::super) fn enable(gate: Gate, components: &[Component], since: Option<u32>) -> (String, String) {
    let components = some(components.iter().map(ToString::to_string));
    let or = since.map_or_else(String::new, |minor| {
        format!(", or to upgrade to 1.{minor}, which enables it by default")
    });
    (
        format!("ask an administrator to enable {gate} in {components}{or}"),
        if matches!(gate, Gate::DRAExtendedResource | Gate::DRAOptionalNodeOperations) {
            "kube-apiserver has it enabled, or had; kube-controller-manager and the kubelets need it, too"
                .to_owned()
        } else {
            "kube-apiserver has it enabled, or had: it needs it, too".to_owned()
        },
    )
}

/// What to do about a pod that tolerates a taint for a time that is over.
pub(in super::super) const DROP_TOLERATION: &str =
    "remove the toleration with tolerationSeconds from the request";

/// What to know of that.
pub(in super::super) const DROP_TOLERATION_HOW: &str = "tolerationSeconds count from when the taint was added, and are over; without the toleration, the pod gets another device, or waits for one";

/// What to do about a pod that kube-scheduler may not bind.
pub(in super::super) const LET_BIND: &str = "let kube-scheduler bind the pod";

/// What to know of that.
pub(in super::super) const LET_BIND_HOW: &str = "act on its message; kube-scheduler retries automatically";

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
        Unsimulated::PodAffinity => (
            format!("check the podAffinity of {target}"),
            "a required term leaves only nodes whose topology domain has a matching pod; a preferred term rejects no node",
        ),
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
pub(in super::super) const TERMINATING: &str = "no action needed: it is being deleted";

/// That an autoscaler adds a node.
pub(in super::super) fn await_scale_up(component: &str) -> String {
    format!("wait for the node that {component} is adding for the pod")
}

/// That nodes were added just now.
pub(in super::super) fn await_nodes(nodes: &[Str]) -> String {
    let (was, is) = one_or_many(nodes.len(), ("was", "is"), ("were", "are"));
    let named = some(nodes.iter().map(|node| format!("node/{node}")));
    format!("wait until {named}, which {was} added less than 10 minutes ago, {is} ready for the pod")
}

/// That drivers on nodes were started just now.
pub(in super::super) fn await_drivers(nodes: &[Str]) -> String {
    let named = some(nodes.iter().map(|node| format!("node/{node}")));
    format!(
        "wait until the driver has published its devices for {named}: its pod there started less than 5 minutes ago"
    )
}

/// What to do if they do not publish.
pub(in super::super) const AWAIT_DRIVER: &str =
    "no action needed; if this takes longer, check the logs of the driver's pod there";

/// That a node is cordoned for the time in which an operator updates it.
pub(in super::super) fn await_update(node: &Str, key: &Str, state: &Str) -> String {
    format!("wait until node/{node} is updated; it is cordoned meanwhile ({key}: {state})")
}

/// What to do if a node stays cordoned.
pub(in super::super) const AWAIT_UPDATE: &str = "no action needed: the operator that updates the node uncordons it; check that operator if this takes long";

/// That a node has been cordoned for longer than its update takes, with the pod of the operator that does not run.
pub(in super::super) fn finish_update(node: &Str, key: &Str, state: &Str, operator: Option<&Key>) -> String {
    let operator = operator.map_or_else(
        || format!("what sets {key} on node/{node}"),
        |pod| format!("pod/{pod}, which is not running"),
    );
    format!(
        "ask an administrator to check {operator}: the node is still cordoned for an update that began at {state}"
    )
}

/// Who uncordons a node that has been updated.
pub(in super::super) const FINISH_UPDATE: &str = "the operator that updates the node uncordons it; an administrator can uncordon it by hand once the node is updated";

/// That pods which must not be on one node have one claim.
pub(in super::super) fn share_no_claim(claim: &Key, owner: &str) -> String {
    format!("give each pod of {owner} a claim of its own, from a claim template, instead of claim/{claim}")
}

/// Why that is needed.
pub(in super::super) const SHARE_NO_CLAIM: &str =
    "the devices of the claim are on one node, and not all of the pods can be there";

/// The same of the pods of a migration.
pub(in super::super) const STOP_MIGRATION: &str = "the devices of the claim are on one node, so the virtual machine cannot migrate with it: delete its VirtualMachineInstanceMigration, which removes this pod and keeps the virtual machine running";

/// A leader that may wait for workers which are created once it is ready.
pub(in super::super) fn start_workers(set: &str) -> String {
    format!(
        "set startupPolicy of LeaderWorkerSet {set} to LeaderCreated, if the pod is ready only with its workers"
    )
}

/// Why that may help.
pub(in super::super) const START_WORKERS: &str = "with LeaderReady, the workers are created once their leader is ready, so that each would wait for the other";

/// That a driver is publishing a pool.
pub(in super::super) fn await_pool(pool: &PoolId) -> String {
    format!(
        "wait until the driver has published all slices of pool/{pool}, which it usually does within a minute"
    )
}

/// What to do if it does not.
pub(in super::super) const AWAIT_POOL: &str =
    "no action needed, unless this takes longer: then check the logs of the driver's pods";

/// What a container has to list.
pub(in super::super) fn list(unlisted: &UnlistedDevices) -> String {
    let entry = &unlisted.entry;
    match &unlisted.why {
        Unlisted::Claim => {
            format!("list claim {entry} under resources.claims of the container that needs its devices")
        }
        Unlisted::Request(request) => format!(
            "list request {request} of claim {entry} under resources.claims of the container that needs its devices"
        ),
        Unlisted::Finished(_) => {
            format!("list claim {entry} under resources.claims of the container that needs its devices, too")
        }
        Unlisted::NoSuchRequest { container, request } => format!(
            "list a request that claim {entry} has under resources.claims of container {container}, instead of {request}"
        ),
    }
}

/// What is changed for that.
pub(in super::super) const LIST_HOW: &str =
    "change the pod template, or recreate the pod: resources of its containers cannot be changed";

/// That a node has to be added, and who does that.
pub(in super::super) fn add_node_like(model: &str) -> String {
    format!("add a node like {model}")
}

pub(in super::super) const ADD_NODE_LIKE: &str =
    "with the same labels, resources and devices: ask an administrator of the cluster";

/// Why an autoscaler adds no node, with the event of an attempt that failed, and who can change that.
pub(in super::super) fn add_node(
    component: &str,
    why: NoNode,
    failure: Option<&Event>,
) -> (String, &'static str) {
    let said = failure.map_or_else(String::new, |event| {
        let said = event.message.trim();
        let said = said
            .strip_suffix("Pod is at risk of not being scheduled.")
            .unwrap_or(said);
        format!(": {}", said.trim_end().trim_end_matches('.'))
    });
    let (why, how) = match why {
        NoNode::Maximum => (
            "because a node group has reached its maximum size",
            "ask an administrator of the cluster to raise the maximum size of the node group",
        ),
        NoNode::Failed => (
            "because its last attempt has failed",
            "ask an administrator of the cluster why nodes of the node group cannot be added; where the cloud has no such machines left, nodes of another zone or type may do, or a reservation",
        ),
        NoNode::Limits => (
            "because a NodePool has reached its limits",
            "ask an administrator of the cluster to raise spec.limits of the NodePool",
        ),
        NoNode::Devices => (
            "because it knows no type of node with such devices",
            "ask an administrator of the cluster for a node group with a fixed size, or for a NodePool with such devices",
        ),
        NoNode::Claims => (
            "because the pod has claims",
            "ask an administrator of the cluster for a node group with a fixed size",
        ),
    };
    (
        format!("add a node with such devices: {component} adds none, {why}{said}"),
        how,
    )
}

/// What to do if a node does not come.
/// That kube-scheduler ends a pod for this one.
pub(in super::super) fn await_victim(victim: &Key, due: Time) -> String {
    format!("wait until pod/{victim} ends, which is due at {due}")
}

/// That preemption needs no help.
pub(in super::super) const AWAIT_VICTIM: &str = "no action needed: kube-scheduler is ending it for this pod";

pub(in super::super) const AWAIT_NODE: &str = "no action needed, unless this takes longer than new nodes usually need: then check the node, its taints and the pods of the driver there";

/// That a node has to be ready before its devices are known.
pub(in super::super) fn restore_node(node: &Str) -> String {
    format!("make node/{node} ready; its devices are not published until then")
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

/// That a taint may wait for what it keeps off.
pub(in super::super) fn may_wait_for(set: &Key) -> String {
    format!(
        "daemonset/{set} does not tolerate the taint: let it, if the taint is removed only once the driver runs"
    )
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

/// Timeouts after which waiting for another one is no advice.
const MANY_TIMEOUTS: i64 = 3;

/// Target and message of the wait for a binding condition, and who sets it.
pub(in super::super) fn binding(
    condition: &str,
    device: &str,
    claim: &Key,
    until: Option<Time>,
    timeouts: i64,
) -> [String; 3] {
    let target = format!("condition {condition} of device {device} in claim/{claim}");
    let message = if timeouts < MANY_TIMEOUTS {
        format!("wait until the driver sets {target} to true")
    } else {
        format!("ask the driver's owner why nothing sets {target} to true: {timeouts} attempts timed out")
    };
    let until = until.map_or_else(String::new, |until| {
        format!(
            "; otherwise kube-scheduler deallocates the claim at {until} and retries (bindingTimeout, 10 minutes by default)"
        )
    });
    let who = format!("the driver of device {device} attaches it and sets the condition{until}");
    [target, message, who]
}

/// That a quota has to be raised.
pub(in super::super) fn raise(quota: &str, counted: &str) -> String {
    format!("raise {quota}, or wait until {counted} that count against it are gone")
}

/// The same where other pods of the owner have such claims, which end where it is a Job.
pub(in super::super) fn raise_or_run_fewer(quota: &str, owner: &str, ends: bool) -> String {
    if ends {
        format!("wait until a pod of {owner} ends whose claim counts against {quota}, or raise {quota}")
    } else {
        format!("run fewer pods of {owner}, whose claims count against {quota}, or raise {quota}")
    }
}

/// Devices that a taint reports to be unhealthy.
pub(in super::super) fn repair_devices(devices: &[String], taint: &Taint) -> String {
    format!(
        "ask an administrator to repair {}, reported unhealthy by taint {taint}",
        some(devices.iter().map(|device| format!("device/{device}")))
    )
}

/// What to know of that.
pub(in super::super) const REPAIR_DEVICES: &str = "what taints the devices removes the taint once they are healthy: a driver automatically, a DeviceTaintRule by its owner";

/// What makes pods that the API server rejects.
pub(in super::super) fn correct_pods(owner: &str) -> String {
    format!("change the pod template of {owner} as the message says, or create what it names")
}

/// The same of claims.
pub(in super::super) fn correct_template(template: &str) -> String {
    format!("change {template} as the message says")
}

/// That a pod names an object of another kind than there is.
pub(in super::super) fn name_other_kind(name: &Key, missing: Kind) -> String {
    let (there, field, wrong) = match missing {
        Kind::ResourceClaim => ("template", "resourceClaimTemplateName", "resourceClaimName"),
        _ => ("claim", "resourceClaimName", "resourceClaimTemplateName"),
    };
    format!("name {there}/{name}, which exists, in {field} instead of {wrong}")
}

/// What to know of that.
pub(in super::super) const CORRECT: &str =
    "its controller tries again automatically; an administrator can tell which policies apply";

/// That a quota has to be raised which admits no pod that requests as much.
pub(in super::super) fn raise_or_request_less(quota: &str) -> String {
    format!("request less in each pod, or raise {quota}, which has nothing in use")
}

/// That no pod uses some of the claims that count against a quota.
pub(in super::super) fn unused_claims(claims: impl Iterator<Item = Key>) -> Option<String> {
    let claims: Vec<String> = claims.map(|claim| format!("claim/{claim}")).collect();
    (!claims.is_empty()).then(|| format!("no pod uses {}, which the quota counts", some(claims)))
}

/// Who raises a quota, and what follows.
pub(in super::super) const RAISE_HOW: &str = "ask an administrator of the namespace; the owner creates its pods automatically once the quota admits them";

/// That no fix was found.
pub(in super::super) const NO_FIX: &str = "no tested change makes it fit";

/// That more fixes may exist.
pub(in super::super) const MORE_FIXES: &str = "other changes of the same size may exist";

/// That a driver has to publish devices.
pub(in super::super) fn publish(driver: &str, nodes: &[Str]) -> String {
    format!(
        "ask the owner of driver {driver} to publish its devices for {}",
        some(nodes)
    )
}

/// That a driver has to publish devices at all.
pub(in super::super) fn publish_any(driver: &str) -> String {
    format!("have driver {driver} publish devices")
}

/// How it does.
pub(in super::super) const INSTALL: &str = "install the driver, or enable these devices in its installation";

/// That a driver has to publish devices of a class.
pub(in super::super) fn publish_class(driver: &str, class: &str) -> String {
    format!("have driver {driver} publish devices of class {class}, or request another class")
}

/// How it does.
pub(in super::super) fn set_up(class: &str) -> String {
    format!(
        "no device that the driver publishes is of class {class}: check how the devices of its nodes are set up, such as their partitions"
    )
}

/// That the pod template does not have what the pod has.
pub(in super::super) fn added_later(owner: &str) -> String {
    format!(
        "the pod template of {owner} does not request it: correct what changes its pods when they are created, such as a \
         VerticalPodAutoscaler, a webhook, a LimitRange, or the node selector of the namespace"
    )
}

/// That a kubelet has to be restarted.
pub(in super::super) fn restart_kubelet(node: &str) -> String {
    format!("restart the kubelet of node/{node}, and upgrade it")
}

/// Who does that, and what follows.
pub(in super::super) const RESTART_KUBELET: &str =
    "ask an administrator; the bug comes back until the kubelet is upgraded, and a new pod is stuck, too";

/// That a driver publishes for a node that does not exist, and the node that it may mean.
pub(in super::super) fn publish_elsewhere(driver: &str, named: &str, meant: Option<&Str>) -> String {
    let instead = meant.map_or_else(String::new, |meant| format!(", such as node/{meant}"));
    format!("have driver {driver} publish its devices for nodes that exist{instead}: node/{named} does not")
}

/// How it does.
pub(in super::super) const NAME_NODES: &str =
    "a driver gets the name of its node from spec.nodeName of its pod; a host name may be another one";

/// That no node has the labels of a driver's DaemonSet.
pub(in super::super) fn add_nodes(set: &Key, kept_off: &KeptOff) -> String {
    format!(
        "add a node with {}, which daemonset/{set} selects, or label the nodes that have devices",
        asked_text(kept_off)
    )
}

/// That a DaemonSet is not meant for nodes without devices.
pub(in super::super) fn keep_off(set: &str, nodes: &[Str]) -> String {
    format!(
        "keep {set} off {}, which the driver is not meant to serve",
        some(nodes)
    )
}

/// How it is kept off.
pub(in super::super) fn keep_off_how(labels: &[(Str, Str)]) -> String {
    format!("set nodeSelector {} in its pod template", labels_text(labels))
}

/// That drivers publish again.
pub(in super::super) fn await_publishing(nodes: &[Str]) -> String {
    format!(
        "wait until drivers publish their devices for {} again",
        some(nodes)
    )
}

/// That a Deployment has to delete old pods first.
pub(in super::super) fn strategy(deployment: &Key) -> String {
    format!(
        "set strategy Recreate in deployment/{deployment}, which deletes old pods before creating new ones"
    )
}

/// That the rollout of a Deployment has to be resumed.
pub(in super::super) fn resume(deployment: &Key) -> String {
    format!("resume the rollout of deployment/{deployment}")
}

/// What may keep old pods after that.
pub(in super::super) const RESUMED: &str =
    "the rollout may still keep old pods until new ones are ready: check again after it was resumed";

/// What else the strategy changes.
pub(in super::super) const STRATEGY: &str = "until the new pods are ready, none runs";

/// What changes less.
pub(in super::super) const POD_BY_POD: &str = "maxSurge 0 with maxUnavailable 1 does the same pod by pod";

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

/// That something has to be created.
pub(in super::super) fn create(target: &str, found: Option<&Namesake>) -> String {
    match found {
        Some(Namesake::Similar(key)) => format!("name {} instead, or create {target}", key.name),
        _ => format!("create {target}"),
    }
}

/// What to know before creating it, where this may be meant.
pub(in super::super) fn create_how(kind: Kind, found: Option<&Namesake>) -> &'static str {
    match kind {
        _ if matches!(found, Some(Namesake::Elsewhere(_))) => {
            "copy that of the other namespace, or create the pod in that namespace instead"
        }
        Kind::DeviceClass => "ask an administrator for it (usually installed with the driver)",
        Kind::ResourceClaimTemplate => "ask the owner of the pod what its claims should request",
        _ => "ask the owner of the pod what the claim should request",
    }
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

/// That Kueue does not do its work.
pub(in super::super) fn check_kueue(gate: &str) -> String {
    format!(
        "ask an administrator to check the log of kueue-controller-manager for why it does not remove gate {gate}"
    )
}

/// Why it should have removed a gate.
pub(in super::super) fn unremoved(workload: &Key, since: Time) -> String {
    format!("workload/{workload} has been admitted since {since}; removing the gate by hand bypasses Kueue")
}

/// Message and way to the admission of a Workload.
pub(in super::super) fn requeued(workload: &Key, retry: Retry) -> (String, &'static str) {
    match retry {
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
        Retry::Never => (
            format!("act on Kueue's message about workload/{workload}, then recreate it"),
            "waiting will not help: Kueue does not retry an unchanged workload. Its message names what to change: Kueue's configuration or \
             queues (ask their administrator), or what the pods request (ask their owner)",
        ),
    }
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
