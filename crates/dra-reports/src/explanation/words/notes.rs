//! The sentences of notes: what else is known of the answer.

use std::sync::Arc;

use dra_model::{Class, Condition, DeviceId, Gap, Gate, Key, Kind, Quantity, Str, TaintRule};
use dra_rules::scheduling::ShortGang;

use super::super::fact::Speaker;
use super::super::namesake::Namesake;
use super::{listed, one_or_many, speaker};
use crate::allocation::words::{claim, pod};
use crate::listing::some;
use crate::script::Resource;
use crate::words::shared_resource;

/// Why a claim that fits is not allocated.
pub(in super::super) const UNUSED: &str = "no pod uses the claim: it is allocated once one does";

/// What helps beside a claim that has the most consumers.
pub(in super::super) const FULL: &str = "kube-scheduler reserves it once one of its pods has ended; with another claim, or a claim template, the pod does not depend on them";

/// That kube-scheduler places no pod where the claim fits.
pub(in super::super) const CORDONED_ONLY: &str =
    "the nodes where it fits are cordoned: kube-scheduler places no pod there";

/// Which pod of a manifest is explained.
pub(in super::super) fn nth_pod(number: usize, all: usize) -> String {
    match number {
        1 => format!("pod 1 of {all}"),
        2 => format!("pod 2 of {all}; pod 1 fits, assumed to be on its first fitting node by name"),
        _ => format!(
            "pod {number} of {all}; pods 1–{} fit, each assumed to be on its first fitting node by name",
            number - 1
        ),
    }
}

/// That other pods of the group are placed first.
pub(in super::super) fn placed_before(group: &Key, pods: usize) -> String {
    let (are, their) = one_or_many(pods, ("is", "its"), ("are", "their"));
    format!(
        "the pods of podgroup/{group} are placed together: {pods} before it {are} assumed to have {their} devices"
    )
}

/// That kube-scheduler is ending pods on this node for the pod.
pub(in super::super) fn preempting(victims: &[Key], node: &str) -> String {
    let (are, they) = one_or_many(victims.len(), ("is", "it is"), ("are", "they are"));
    format!(
        "preemption is under way: {} {are} being deleted on {node}, which kube-scheduler has nominated for this pod; it tries again once {they} \
         gone",
        some(victims.iter().map(pod))
    )
}

/// What keeps a pod from fitting once its gates are removed.
pub(in super::super) fn without_gates(why: &str) -> String {
    format!("without its scheduling gates it does not fit either: {why}")
}

/// That a request policy makes more of a requested amount.
pub(in super::super) fn rounded(capacity: &str, asked: &Quantity, wanted: &Quantity) -> String {
    format!("the devices' request policy rounds {asked} of {capacity} up to {wanted}")
}

/// That a claim has all of a capacity without a request for an amount of it.
pub(in super::super) fn took_all(claim: &Key, maker: &str, capacity: &str, total: &Quantity) -> String {
    format!(
        "claim/{claim} requests no amount of {capacity}, so it has all of {total}: an amount in {maker} would leave the rest to others"
    )
}

/// That a pod which another one needs does not run.
pub(in super::super) fn idle(other: &Key, why: &str) -> String {
    format!("{} is not running: {why}", pod(other))
}

/// That a driver may need a ComputeDomain that is gone.
pub(in super::super) fn unread_domain(key: &Key, uid: &str) -> String {
    format!(
        "{} is for the ComputeDomain with UID {uid}, which was not read: if it does not exist any more, that may be why the driver does not unprepare the devices",
        claim(key)
    )
}

/// That a pod which has devices does not run.
pub(in super::super) fn idle_holder(holder: &Key, why: &str) -> String {
    format!("{}, which has devices, is not running: {why}", pod(holder))
}

/// That a pod which has devices does not end with its work.
pub(in super::super) fn lasting_holder(holder: &Key, why: &str) -> String {
    format!("{}: {why}", pod(holder))
}

/// That a gate is assumed on, as a scheduler is silent, or else as the API server had it on when it took the pod, which fits otherwise.
pub(in super::super) fn assumed_on(gate: Gate, silent: Option<&str>) -> String {
    let why = match silent {
        Some(scheduler) => {
            format!("{scheduler} has reported nothing about the pod, and with the gate off it would have")
        }
        None => "with it off in kube-apiserver the pod would have no schedulingGroup; if it is off in kube-scheduler, the pod fits"
            .to_owned(),
    };
    format!("{gate} is assumed on in kube-scheduler: {why}")
}

/// That kube-scheduler is ending the pod for others.
pub(in super::super) fn preempted(others: &[Key]) -> String {
    format!(
        "preemption: kube-scheduler is deleting the pod, and has nominated its node for {}",
        some(others.iter().map(pod))
    )
}

/// That an allocated claim is being deleted.
pub(in super::super) const CLAIM_IS_DELETED: &str = "the claim is being deleted";

/// That a claim that is being deleted stays as long as these pods.
pub(in super::super) fn kept_claim(pods: &[Key]) -> String {
    let have = one_or_many(pods.len(), "has", "have");
    format!(
        "{CLAIM_IS_DELETED}: it stays until {} {have} finished, and is not recreated then",
        some(pods.iter().map(pod))
    )
}

/// That these pods use the claim and have no node.
pub(in super::super) fn pending_users(pods: &[Key]) -> String {
    let (use_it, each) = one_or_many(
        pods.len(),
        ("uses the claim, is", "the pod"),
        ("use the claim, are", "each pod"),
    );
    format!(
        "{}, which {use_it} pending: explain {each} to see why",
        some(pods.iter().map(pod))
    )
}

/// A condition that a driver reports of devices, and that only the driver understands.
pub(in super::super) fn told_by_driver(condition: &Condition, devices: &[DeviceId]) -> String {
    let Condition {
        type_,
        status,
        reason,
        message,
        last_transition_time,
        ..
    } = condition;
    let since = last_transition_time.map_or_else(String::new, |since| format!(" since {since}"));
    let said = [reason, message].into_iter().filter(|text| !text.is_empty());
    let said: String = said.map(|text| format!(": {text}")).collect();
    format!(
        "the driver reports condition {type_} of {} as {status}{since}{said}",
        some(devices)
    )
}

/// That a pod with the claim does not end; `why` says what keeps it, and `how` what ends that.
pub(in super::super) fn stuck_user(key: &Key, claim: &Key, why: &str, how: &str) -> String {
    format!(
        "{}, which uses claim/{claim}, is being deleted, but does not end: {why}; {how}",
        pod(key)
    )
}

/// That the node of a pod with the claim does not exist, as `why` says.
pub(in super::super) fn lost_user(key: &Key, claim: &Key, why: &str) -> String {
    format!("{}, which uses claim/{claim}, has lost its node: {why}", pod(key))
}

/// That no pod uses an allocated claim, and what ends that.
pub(in super::super) fn abandoned(claim: &Key) -> String {
    format!(
        "no pod uses claim/{claim}, and no controller of Kubernetes takes its devices back: they are free once it is deleted without entries \
         in status.reservedFor"
    )
}

/// That the claim is reserved for pods that are gone or have finished.
pub(in super::super) fn former_users(claim: &Key, names: &[Str]) -> String {
    let (are, it) = one_or_many(
        names.len(),
        ("is gone or has finished", "this reservation"),
        ("are gone or have finished", "these reservations"),
    );
    format!(
        "{} {are}: the claim controller should remove {it}",
        some(names.iter().map(|name| format!("pod/{}/{name}", claim.namespace)))
    )
}

/// That a node may have lost devices, as another one of the same type has more.
pub(in super::super) fn lost_devices(
    node: &Str,
    driver: &Str,
    own: usize,
    other: &Str,
    most: usize,
) -> String {
    format!(
        "node/{node} has {own} devices of driver {driver}, but node/{other}, which is of the same type, has {most}: the others may be broken"
    )
}

/// That a device plugin may give the hardware of a pod's devices to another pod.
pub(in super::super) fn offered_twice(
    node: &Str,
    resource: &Str,
    amount: &Quantity,
    driver: &Str,
    users: &[Key],
) -> String {
    let who = match users {
        [] => "another pod".to_owned(),
        users => listed(users.iter().map(pod), "and"),
    };
    format!(
        "node/{node} offers {amount} {resource} of a device plugin beside driver {driver}: {who} may use the same hardware (DRA037)"
    )
}

/// Which devices a rule taints.
pub(in super::super) fn tainting(rule: &TaintRule) -> String {
    let selector = rule.spec.device_selector.clone().unwrap_or_default();
    let devices = match &selector.device {
        Some(device) => format!("device {device}"),
        None => "all devices".to_owned(),
    };
    let pool = match (&selector.pool, &selector.device) {
        (Some(pool), _) => format!(" of pool {pool}"),
        (None, Some(_)) => " of every pool".to_owned(),
        (None, None) => String::new(),
    };
    let driver = selector.driver.map(|driver| format!(" of driver {driver}"));
    format!(
        "devicetaintrule/{} taints {devices}{pool}{} ({})",
        rule.metadata.name,
        driver.unwrap_or_default(),
        rule.spec.taint
    )
}

/// That every attempt fails where gates have their defaults; `gate` says which gate contradicts that.
pub(in super::super) fn fails_by_default(gate: &str) -> String {
    format!("with default gates, every attempt fails; {gate}")
}

/// That it is unknown whether a recreated pod fits.
pub(in super::super) fn unknown_recreated(why: &str) -> String {
    format!("unknown whether it fits once recreated: {why}")
}

/// That it is unknown whether a recreated pod fits, as kinds could not be read.
pub(in super::super) fn unread_recreated(gaps: &[Gap]) -> String {
    let kinds: Vec<&str> = gaps.iter().map(|gap| gap.kind.plural()).collect();
    unknown_recreated(&format!("{} could not be read", kinds.join(", ")))
}

/// That a recreated pod does not fit either.
pub(in super::super) fn not_even_recreated(why: &str) -> String {
    format!("it would not fit once recreated, either: {why}")
}

/// What the claim controller does for a pod that lacks a claim.
pub(in super::super) enum Upcoming<'a> {
    /// It names this claim in the pod's status, which already names another one where `replaces` says so.
    Name {
        /// The claim.
        claim: &'a Key,
        /// Whether the status names another claim.
        replaces: bool,
    },
    /// It creates the claim.
    Create,
    /// It creates another claim from this template.
    CreateAnother(&'a Key),
    /// It creates another claim from this template, at the latest after an hour or when this object is recreated.
    CreateLater(&'a Key, Option<&'a Key>),
}

/// What the claim controller does next.
pub(in super::super) fn upcoming(next: &Upcoming<'_>) -> String {
    match next {
        Upcoming::Name { claim, replaces } => {
            let instead = if *replaces { " instead" } else { "" };
            format!(
                "no action needed: the claim controller will name claim/{claim}, which was created for the pod, in the pod's status{instead}"
            )
        }
        Upcoming::Create => {
            "no action needed: the claim controller will create the claim from its template".to_owned()
        }
        Upcoming::CreateAnother(template) => format!(
            "no action needed: the claim controller will create another claim from template/{template} and name it in the pod's status"
        ),
        Upcoming::CreateLater(template, group) => {
            let again = group.map_or_else(|| "the pod".to_owned(), |group| format!("podgroup/{group}"));
            format!(
                "the claim controller will create another claim from template/{template}, under another name; if the same process created \
                 the old one, only after an hour: restart kube-controller-manager or recreate {again} to have it now"
            )
        }
    }
}

/// What may be meant by an object that does not exist.
pub(in super::super) fn may_be_meant(kind: Kind, found: &Namesake) -> String {
    let resource = Resource::from(kind);
    match found {
        Namesake::Similar(key) if !kind.is_namespaced() => format!("did you mean {resource}/{}?", key.name),
        Namesake::Similar(key) => format!("did you mean {resource}/{key}?"),
        Namesake::Elsewhere(key) => {
            format!("{resource}/{key} exists, but a pod can only use those of its own namespace")
        }
    }
}

/// That a class does not exist, and those that do.
pub(in super::super) fn other_classes<'n>(class: &str, all: impl Iterator<Item = &'n Str>) -> String {
    let all: Vec<String> = all.map(ToString::to_string).collect();
    let others = match all.as_slice() {
        [] => "there is no class at all".to_owned(),
        [only] => format!("the only one is {only}"),
        _ => format!("there are {}", some(all)),
    };
    format!("class {class} does not exist; {others}")
}

/// That a class is for a driver that publishes nothing, beside one of a similar name.
pub(in super::super) fn misspelled_driver(class: &str, driver: &str, other: &str) -> String {
    format!(
        "class {class} selects devices of driver {driver}, which publishes none; did you mean driver {other}?"
    )
}

/// That the state may have changed since a component reported something.
pub(in super::super) fn may_have_changed(who: &Speaker) -> String {
    let not_yet = match who {
        Speaker::Scheduler | Speaker::OtherScheduler(_) => "the scheduler",
        Speaker::Kubelet => "the kubelet",
        Speaker::ClaimController | Speaker::Component(_) => "the controller",
    };
    format!("possible cause: the state has changed since then, and {not_yet} has not retried")
}

/// That what kube-scheduler said is over.
pub(in super::super) const HAS_CHANGED: &str = "the state has changed since then, as no node has such a taint or is cordoned now: the scheduler retries within minutes";

/// That kube-scheduler has cleaned up after an earlier attempt just now.
pub(in super::super) const RETRIES: &str =
    "kube-scheduler has just released a claim of an earlier attempt, and tries again: no action needed";

/// The same, and that it has not tried again.
pub(in super::super) const CLEANED_UP: &str = "the state has changed since then: kube-scheduler released a claim of an earlier attempt, and is to try again";

/// Why pods that are not on one node share no claim.
pub(in super::super) const ON_ONE_NODE: &str =
    "the devices of the claim are on one node, and not all of the pods can be there";

/// The same of a virtual machine, which is not stopped for that.
pub(in super::super) const NO_MIGRATION: &str = "the devices of the claim are on one node, so the virtual machine cannot migrate with it: delete its VirtualMachineInstanceMigration, which removes this pod and keeps the virtual machine running";

/// Why no pods share a claim whose devices stand for a part of their node.
pub(in super::super) const FOR_ONE_POD: &str =
    "kube-scheduler lets no second pod use a claim whose devices stand for resources of the node";

/// That kube-scheduler deletes a claim of an earlier attempt before it looks for devices.
pub(in super::super) fn left_behind(claim: &Key) -> String {
    format!("kube-scheduler first deletes claim/{claim} of an earlier attempt, which it does automatically")
}

/// Which of the classes that name a resource counts.
pub(in super::super) fn shared_class(resource: &Str, first: &Class, others: &[&Arc<Class>]) -> String {
    format!(
        "deviceclass/{} {}",
        first.metadata.name,
        shared_resource(resource, first, others)
    )
}

/// That claims of other namespaces may hold the devices.
pub(in super::super) fn may_lack_namespaces(only: &str) -> String {
    format!(
        "possible cause: claims of other namespaces hold the devices, as all pods that were read are in namespace {only}"
    )
}

/// That all pods of an owner have one claim.
pub(in super::super) fn shared_by_all(owner: &str, claim: &Key) -> String {
    format!(
        "the pods of {owner} share claim/{claim}, so all of them need the node of its devices; a claim template gives each its own claim"
    )
}

/// That pods share nothing by a template that configures sharing.
pub(in super::super) fn shares_alone(template: &Key) -> String {
    format!(
        "each pod gets a claim of its own from template/{template}, whose sharing configuration counts within a claim: pods share devices \
         where they name the same ResourceClaim"
    )
}

/// That a gang lacks members.
pub(in super::super) fn short_gang(gang: &ShortGang<'_>) -> String {
    format!(
        "podgroup/{} needs {} pods before any is scheduled (minCount), and has {}",
        gang.group.metadata.key(),
        gang.min_count,
        gang.members
    )
}

/// That the group of a pod is missing.
pub(in super::super) fn no_group(group: &Key) -> String {
    format!("podgroup/{group} does not exist: its pods are scheduled once it is created")
}

/// That a component may have a bug.
pub(in super::super) fn may_be_a_bug(who: &Speaker) -> String {
    format!(
        "possible cause: an unknown bug in this release of {}",
        speaker(who)
    )
}

/// That something of the scheduler may decide which is not simulated.
pub(in super::super) fn may_not_be_simulated(filters: &[String]) -> String {
    if filters.is_empty() {
        "possible cause: a kube-scheduler plugin or extender that is not simulated".to_owned()
    } else {
        let filters = filters.join(", ");
        format!("possible cause: filters that are not simulated: {filters}")
    }
}
