//! Claims without an owner or with a deletion that is stuck, devices that are not attached, tolerations that do not do what they say.

use std::collections::BTreeSet;
use std::sync::Arc;

use itertools::Itertools;

use super::facts::Unbound;
use super::finding::{Subject, claim_key, pod_key};
use super::{Code, Finding, Look, words};
use crate::remedy::{
    Remedy, UNATTACHABLE, ask_for, ask_for_in, can_taint, drop_finalizers, release, renew, replace_pods,
};
use crate::script::{Command, NoCommand, Resource, Script, delete_in, keep_off_device, merge, no_finalizers};
use dra_model::{
    Claim, ClaimSpec, ClaimTemplate, FINALIZER, Key, Kind, Meta, NO_EXECUTE, PodGroup, Toleration,
};
use dra_rules::eviction::LONGEST_TOLERATION;
use dra_rules::kubelet::{Denial, MANY_TIMEOUTS, binding_timeouts};
use dra_rules::reservation::{
    GroupsKnown, PodGroups, groups_are_known, is_done, is_group, judge, resolves_to, users,
};
use dra_rules::scheduling::{BINDING_TIMEOUT, DeviceBinding, binding_timed_out};

/// What a group with members is kept by.
const GROUP_FINALIZER: &str = "scheduling.k8s.io/podgroup-protection";

/// A deletion without hindrance ends within seconds.
const DELETION_SECONDS: u64 = 60;

pub(super) fn look(look: &mut Look<'_>) {
    let cluster = look.cluster;
    let orphans = look.wants(Code::ClaimOrphaned);
    let stuck = look.wants(Code::DeletionStuck);
    let binding = look.wants_any(&[
        Code::BindingPending,
        Code::BindingFailed,
        Code::LeftoverNotAttached,
    ]);
    let tolerations = look.wants(Code::TolerationSeconds);
    for claim in cluster.claims() {
        if orphans {
            orphaned(look, claim);
        }
        if stuck {
            claim_is_stuck(look, claim);
        }
        if binding {
            bindings(look, claim);
        }
        if tolerations {
            let of_results = claim.results().iter().flat_map(|result| &result.tolerations);
            let all: Vec<_> = tolerations_of(&claim.spec).chain(of_results).collect();
            if let Some(finding) = toleration_seconds(&all, &claim.metadata, Kind::ResourceClaim) {
                look.add(finding.remedy(for_good(look, claim).note(words::TOLERATED_FOREVER)));
            }
        }
    }
    if tolerations {
        for template in cluster.templates() {
            let all: Vec<_> = tolerations_of(&template.spec.spec).collect();
            let kind = Kind::ResourceClaimTemplate;
            if let Some(finding) = toleration_seconds(&all, &template.metadata, kind) {
                look.add(finding.remedy(for_good_in(template).note(words::TOLERATED_FOREVER)));
            }
        }
    }
    if stuck {
        for group in cluster.pod_groups() {
            group_is_stuck(look, group);
        }
    }
}

pub(super) fn describe(claim: &Claim) -> Result<Script, NoCommand> {
    Command::dra("describe")
        .here()
        .object(Resource::called("claim"), &claim.metadata.name)
        .namespace(&claim.metadata.namespace)
        .done()
}

/// A claim whose owner does not exist. Garbage collection deletes it, if it runs and knows the owner's kind.
fn orphaned(look: &mut Look<'_>, claim: &Claim) {
    let Some(owner) = claim.metadata.controller() else {
        return;
    };
    if claim.metadata.is_deleting() {
        return;
    }
    let key = claim.metadata.beside(&owner.name);
    let (kind, uid) = match (owner.api_version.as_str(), owner.kind.as_str()) {
        ("v1", "Pod") if !look.is_hidden(Kind::Pod, &key.namespace) => {
            (Kind::Pod, look.cluster.pod(&key).map(|pod| &pod.metadata.uid))
        }
        _ if is_group(owner) && groups_are_known(look.cluster, &key.namespace) == GroupsKnown::Yes => (
            Kind::PodGroup,
            look.cluster.pod_group(&key).map(|group| &group.metadata.uid),
        ),
        _ => return,
    };
    if uid == Some(&owner.uid) {
        return;
    }
    let message = words::orphaned(kind, &key, uid.is_some());
    look.add(
        Finding::new(Code::ClaimOrphaned, Subject::claim(claim), message)
            .fix(delete_in(
                &key.namespace,
                Kind::ResourceClaim,
                [&claim.metadata.name],
            ))
            .joins([claim_key(claim.key()), (kind, key)]),
    );
}

/// A claim that is being deleted, has the finalizer of the claim controller, and is used by no pod.
fn claim_is_stuck(look: &mut Look<'_>, claim: &Claim) {
    kept_by_others(look, claim);
    if !is_stuck(look, &claim.metadata, FINALIZER) || look.is_hidden(Kind::Pod, &claim.metadata.namespace) {
        return;
    }
    let used = claim
        .status
        .reserved_for
        .iter()
        .any(|entry| judge(look.cluster, claim, entry).consumer != Some(false))
        || users(look.cluster, claim).is_ok_and(|users| !users.is_empty());
    if used {
        return;
    }
    let message = words::claim_is_stuck(claim);
    let fix = if claim.status.allocation.is_some() {
        release(claim)
    } else {
        merge(Kind::ResourceClaim, &claim.key(), &no_finalizers())
    };
    look.add(
        Finding::new(Code::DeletionStuck, Subject::claim(claim), message)
            .fix(fix)
            .joins([claim_key(claim.key())]),
    );
}

/// A claim that is being deleted, holds nothing, and has a finalizer of another component, such as the controller of a driver.
fn kept_by_others(look: &mut Look<'_>, claim: &Claim) {
    let metadata = &claim.metadata;
    let is_held = claim.status.allocation.is_some() || claim.is_protected();
    if is_held || !metadata.is_deleting() || !look.has_lasted(metadata.deletion_timestamp, DELETION_SECONDS) {
        return;
    }
    let Some((names, remedy)) = drop_finalizers(Kind::ResourceClaim, metadata) else {
        return;
    };
    let message = words::has_finalizers(&names);
    look.add(
        Finding::new(Code::DeletionStuck, Subject::claim(claim), message)
            .remedy(remedy)
            .joins([claim_key(claim.key())]),
    );
}

fn is_stuck(look: &Look<'_>, metadata: &Meta, finalizer: &str) -> bool {
    metadata.is_deleting()
        && metadata.finalizers.iter().any(|known| *known == finalizer)
        && look.has_lasted(metadata.deletion_timestamp, DELETION_SECONDS)
}

/// A group that is being deleted and has no member that has not ended. No component removes its finalizer where `GenericWorkload` is off.
fn group_is_stuck(look: &mut Look<'_>, group: &Arc<PodGroup>) {
    let key = group.metadata.key();
    if !is_stuck(look, &group.metadata, GROUP_FINALIZER) || look.is_hidden(Kind::Pod, &key.namespace) {
        return;
    }
    if look.cluster.pods_of_group(&key).any(|pod| !pod.is_terminal()) {
        return;
    }
    look.add(
        Finding::new(
            Code::DeletionStuck,
            Subject::of(Kind::PodGroup, &group.metadata),
            words::GROUP_IS_STUCK.to_owned(),
        )
        .fix(merge(Kind::PodGroup, &key, &no_finalizers()))
        .joins([(Kind::PodGroup, key)]),
    );
}

/// Devices that were not attached, or not in time, while pods without a node are pending for them.
fn bindings(look: &mut Look<'_>, claim: &Claim) {
    let mut failed = Vec::new();
    let mut broken = BTreeSet::new();
    let mut pending = Vec::new();
    for result in claim.results() {
        let binding = DeviceBinding::of(claim, result);
        if let Some(condition) = binding.failed {
            failed.push(words::binding_failed(
                &result.id(),
                &condition.type_,
                &condition.message,
            ));
            broken.insert(result.id());
        } else if !binding.missing.is_empty() {
            pending.push(Unbound {
                id: result.id(),
                missing: binding.missing,
            });
        }
    }
    if !failed.is_empty() {
        let message = words::never_attached(&failed);
        let key = claim.key();
        let users = look.cluster.pods_of_claim(&key).filter(|pod| !is_done(pod));
        let users: Vec<Key> = users.map(|pod| pod.key()).collect();
        let only = broken.iter().next().filter(|_| broken.len() == 1);
        let remedy = match only.filter(|_| can_taint(look.cluster.environment())) {
            Some(device) => Remedy::command(keep_off_device(device, UNATTACHABLE)),
            None => Remedy::by_hand(words::ASK_WHY_NOT_ATTACHED),
        };
        let remedy = remedy
            .note(words::allocated_anew(&users))
            .note(words::ASK_WHY_NOT_ATTACHED);
        look.add(
            Finding::new(Code::BindingFailed, Subject::claim(claim), message)
                .remedy(remedy)
                .look(describe(claim)),
        );
    }
    if pending.is_empty() {
        return;
    }
    let key = claim.key();
    let users = look
        .cluster
        .pods_of_claim(&key)
        .filter(|pod| !is_done(pod) && resolves_to(pod, claim, PodGroups::Accepted))
        .map(|pod| (pod.node().is_some(), pod.key()));
    let (bound, waiting): (Vec<_>, Vec<_>) = users.partition(|(is_bound, _)| *is_bound);
    if !bound.is_empty() {
        not_attached(
            look,
            claim,
            &pending,
            bound.into_iter().map(|(_, key)| key).collect(),
        );
    }
    // Each attempt allocates the claim anew.
    let timeouts = binding_timeouts(look.cluster, claim);
    if waiting.is_empty() || timeouts < MANY_TIMEOUTS && !binding_timed_out(claim, look.request.now) {
        return;
    }
    let waiting: Vec<_> = waiting.into_iter().map(|(_, key)| key).collect();
    let advice = match Denial::of_claim(look.cluster, claim) {
        Some(denied) => crate::words::permit(&denied),
        // A scheduler that gives up again and again runs.
        None if timeouts >= MANY_TIMEOUTS => words::ASK_WHY_NOT_ATTACHED.to_owned(),
        None => words::ATTACH_OR_RESTART.to_owned(),
    };
    let message = words::binding_is_late(&pending, &waiting, BINDING_TIMEOUT.as_secs() / 60, timeouts);
    look.add(
        Finding::new(Code::BindingPending, Subject::claim(claim), message)
            .advice(advice)
            .look(describe(claim))
            .joins(waiting.into_iter().map(pod_key))
            .joins([claim_key(claim.key())]),
    );
}

/// Pods that were bound before their device was attached. A scheduler with binding conditions does not do that.
fn not_attached(look: &mut Look<'_>, claim: &Claim, pending: &[Unbound<'_>], pods: Vec<Key>) {
    let cluster = look.cluster;
    let placed = pods.iter().filter_map(|key| cluster.pod(key));
    let remedy = replace_pods(cluster, &claim.metadata.namespace, placed);
    let message = words::bound_too_early(pending, &pods);
    look.add(
        Finding::new(Code::LeftoverNotAttached, Subject::claim(claim), message)
            .remedy(remedy)
            .joins([claim_key(claim.key())])
            .joins(pods.into_iter().map(pod_key)),
    );
}

/// Tolerations of all requests and their alternatives.
pub(super) fn tolerations_of(spec: &ClaimSpec) -> impl Iterator<Item = &Toleration> {
    spec.asked().flat_map(|request| &request.tolerations)
}

/// Whether a toleration for a time is for none, or for one that overflows.
fn means_something_else(toleration: &Toleration) -> bool {
    toleration.effect == NO_EXECUTE
        && toleration
            .toleration_seconds
            .is_some_and(|seconds| !(0..=LONGEST_TOLERATION).contains(&seconds))
}

/// Tolerations that expire immediately although they name a time.
fn toleration_seconds(tolerations: &[&Toleration], metadata: &Meta, kind: Kind) -> Option<Finding> {
    let told = tolerations
        .iter()
        .filter(|toleration| means_something_else(toleration))
        .filter_map(|toleration| Some((toleration.toleration_seconds?, &toleration.key)))
        .unique()
        .collect_vec();
    if told.is_empty() {
        return None;
    }
    Some(Finding::new(
        Code::TolerationSeconds,
        Subject::of(kind, metadata),
        words::toleration_seconds(&told),
    ))
}

/// Tolerates the taint forever, which is what a time that overflows is meant to do. Specs of claims and templates are immutable, so the
/// object is recreated without the time.
fn for_good(look: &Look<'_>, claim: &Claim) -> Remedy {
    let mut after = claim.spec.clone();
    leave_out_seconds(&mut after);
    match ask_for(look.cluster, claim, &after) {
        (again, Some(pod)) => again.and(renew(look.cluster, pod)),
        (again, None) => again,
    }
}

fn for_good_in(template: &ClaimTemplate) -> Remedy {
    let mut after = template.spec.spec.clone();
    leave_out_seconds(&mut after);
    ask_for_in(template, &after)
}

fn leave_out_seconds(spec: &mut ClaimSpec) {
    for request in &mut spec.devices.requests {
        for request in request.exactly.iter_mut().chain(&mut request.first_available) {
            let for_good = request.tolerations.iter().map(|toleration| Toleration {
                toleration_seconds: toleration
                    .toleration_seconds
                    .filter(|_| !means_something_else(toleration)),
                ..toleration.clone()
            });
            request.tolerations = for_good.collect();
        }
    }
}
