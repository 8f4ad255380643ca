//! Entries of `status.reservedFor` that are wrong, missing or too many, and pods that are on a node without what they need.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::finding::{Subject, claim_key, pod_key, scoped_key};
use super::{Code, Finding, Look, words};
use crate::remedy::{Remedy, end_consumers, end_pods, place_again, release};
use crate::script::{NoCommand, Script, convert_claim, delete_pods, touch};
use dra_model::{Claim, Cluster, Component, ConsumerReference, Gate, Key, Kind, MOST_CONSUMERS, Pod, Str};
use dra_rules::reservation::conversion::{self, Kinds, kind_word};
use dra_rules::reservation::{
    EntryStatus, PodGroups, claim_name, claim_names, group_of_member, is_done, is_kept, is_reserved_for,
    judge, looked_up_kind, missing_consumer, users,
};

/// The reported minimum: nine tenths.
const MANY_ENTRIES: usize = 230;

const CODES: &[Code] = &[
    Code::ReservationGone,
    Code::ReservationEnded,
    Code::ReservationReplaced,
    Code::ReservationForeign,
    Code::ReservationNone,
    Code::ReservationLimit,
    Code::ReservationFlapping,
];

pub(super) fn look(look: &mut Look<'_>) {
    let cluster = look.cluster;
    if look.wants_any(CODES) {
        for claim in cluster.claims() {
            of_claim(look, claim);
        }
    }
    if look.wants_any(&[
        Code::ReservationMissing,
        Code::PodOnOtherNode,
        Code::PodWithoutAllocation,
    ]) {
        for pod in cluster.pods() {
            of_pod(look, pod);
        }
    }
}

fn of_claim(look: &mut Look<'_>, claim: &Arc<Claim>) {
    let flapping = flapping_pods(look, claim);
    if !flapping.is_empty() {
        look.add(flaps(claim, &flapping));
    }
    for entry in &claim.status.reserved_for {
        if entry.is_pod() && flapping.iter().any(|pod| pod.metadata.uid == entry.uid) {
            continue;
        }
        of_entry(look, claim, entry);
    }
    let entries = claim.status.reserved_for.len();
    if entries >= MANY_ENTRIES {
        let message = words::many_reservations(entries);
        look.add(
            Finding::new(Code::ReservationLimit, Subject::claim(claim), message)
                .error_if(entries >= MOST_CONSUMERS)
                .advice(words::SPLIT_CLAIM),
        );
    }
    if claim
        .status
        .allocation
        .as_ref()
        .is_some_and(|allocation| !allocation.reserved_for_any_pod)
        && claim.status.reserved_for.is_empty()
        && !claim.metadata.is_deleting()
        && users(look.cluster, claim).is_ok_and(|users| users.is_empty())
    {
        look.add(
            Finding::new(
                Code::ReservationNone,
                Subject::claim(claim),
                words::no_reservation(claim),
            )
            .fix(release(claim))
            .joins([claim_key(claim.key())]),
        );
    }
}

/// Deallocates the claim: deletes what it is reserved for, and where that is nothing, the pods that use it nevertheless.
pub(super) fn free(cluster: &Cluster, claim: &Claim) -> Remedy {
    if !claim.status.reserved_for.is_empty() {
        return end_consumers(cluster, claim);
    }
    match users(cluster, claim) {
        Err(_) => Remedy::by_hand(crate::words::delete_hidden_pods(
            &claim.metadata.namespace,
            &claim.key(),
        )),
        Ok(users) => end_pods(cluster, &claim.metadata.namespace, users).and(Remedy::command(release(claim))),
    }
}

/// Converts the entries of the kinds that `kinds` selects, as `convert` itself plans it: the command, or why there is none.
fn convert(look: &Look<'_>, claim: &Claim, kinds: Kinds, command: Result<Script, NoCommand>) -> Remedy {
    let options = conversion::Options {
        kinds,
        ..conversion::Options::default()
    };
    let plan = conversion::plan(look.cluster, [claim], &options);
    if let Some(gap) = plan.unknown.first() {
        return Remedy::by_hand(words::convert_unread(gap.kind, &claim.key()));
    }
    match plan.claims.first() {
        Some(plan) if plan.patch().is_some() => Remedy::command(command),
        Some(plan) if plan.code() == conversion::Code::UnknownKindUnused => {
            end_consumers(look.cluster, claim)
        }
        Some(plan) => Remedy::by_hand(words::convert_refuses(plan.reason(), plan.way_out())),
        None => Remedy::command(command),
    }
}

/// Converts the entries for PodGroups.
pub(super) fn convert_groups(look: &Look<'_>, claim: &Claim) -> Remedy {
    let command = convert_claim(claim).arg("--yes").done();
    convert(look, claim, Kinds::PodGroups, command)
}

/// Converts the entries of the kinds of `entries`. A kind that is ambiguous gives no command.
pub(super) fn convert_kinds<'e>(
    look: &Look<'_>,
    claim: &Claim,
    entries: impl IntoIterator<Item = &'e ConsumerReference>,
) -> Remedy {
    let mut kinds = BTreeSet::new();
    let mut command = convert_claim(claim);
    for entry in entries {
        let kind = entry.group_resource();
        // The first dot ends the resource.
        let is_another = entry.resource.contains('.') || kind_word(&kind).as_ref() != Ok(&kind);
        command = command.unless(is_another, "a kind", &kind);
        if kinds.insert(kind.clone()) {
            command = command.option("--kind", &kind);
        }
    }
    convert(look, claim, Kinds::Named(kinds), command.arg("--yes").done())
}

fn of_entry(look: &mut Look<'_>, claim: &Claim, entry: &ConsumerReference) {
    let key = claim.metadata.beside(&entry.name);
    let kind = if entry.is_pod() { Kind::Pod } else { Kind::PodGroup };
    let evidence = [claim_key(claim.key()), (kind, key)];
    let status = judge(look.cluster, claim, entry).status;
    let code = match status {
        EntryStatus::Gone => Code::ReservationGone,
        EntryStatus::Done => Code::ReservationEnded,
        EntryStatus::OtherUid => Code::ReservationReplaced,
        EntryStatus::UnknownKind => {
            look.add(foreign(look, claim, entry));
            return;
        }
        EntryStatus::Running | EntryStatus::Pending | EntryStatus::Group | EntryStatus::Unknown => return,
    };
    let message = words::former_consumer(claim, entry, status);
    look.add(
        Finding::new(code, Subject::claim(claim), message)
            // Any write makes the claim controller sync the claim.
            .fix(touch(Kind::ResourceClaim, &claim.key()))
            .joins(evidence),
    );
}

/// An entry of a kind that no release acts on. Before 1.36 the claim controller fails on it: `unsupported ReservedFor entry`.
fn foreign(look: &Look<'_>, claim: &Claim, entry: &ConsumerReference) -> Finding {
    let blocks_controller = look.cluster.environment().release().gives_up_at_foreign_entry;
    let is_unused = users(look.cluster, claim).is_ok_and(|users| users.is_empty());
    let message = words::foreign_consumer(claim, entry, blocks_controller, is_unused);
    Finding::new(Code::ReservationForeign, Subject::claim(claim), message)
        .error_if(blocks_controller)
        .remedy(convert_kinds(look, claim, [entry]))
}

/// Pods whose entry the claim controller removes, because they have finished, and adds again, because they have a node
/// (kubernetes/kubernetes#141274). It takes another entry: a list that becomes empty frees the claim, and that ends it.
fn flapping_pods(look: &Look<'_>, claim: &Arc<Claim>) -> Vec<Arc<Pod>> {
    let cluster = look.cluster;
    let environment = cluster.environment();
    let groups = PodGroups::of(environment, Component::ControllerManager);
    let ended = |pod: &&Arc<Pod>| pod.is_terminal() && !pod.metadata.is_deleting() && pod.node().is_some();
    let key = claim.key();
    let mut ended = cluster.pods_of_claim(&key).filter(ended).peekable();
    let entries = &claim.status.reserved_for;
    let gives_up =
        environment.release().gives_up_at_foreign_entry && entries.iter().any(|entry| !entry.is_pod());
    if ended.peek().is_none() || gives_up {
        return Vec::new();
    }
    let stays = |entry: &&ConsumerReference| {
        looked_up_kind(entry, groups).is_none_or(|kind| {
            let kept = is_kept(cluster, claim, entry, kind);
            kept.unwrap_or_else(|| cluster.gap(kind, &claim.metadata.namespace).is_some())
        })
    };
    let mut after = Claim::clone(claim);
    after.status.reserved_for = entries.iter().filter(stays).cloned().collect();
    if after.status.reserved_for.is_empty() {
        return Vec::new();
    }
    let is_added_again = |pod: &&Arc<Pod>| {
        let group = if environment.release().needs_groups {
            let workloads = environment.enabled(Component::ControllerManager, Gate::GenericWorkload);
            group_of_member(cluster, pod, workloads)
        } else {
            Ok(groups.group_of(cluster, pod))
        };
        let Ok(group) = group else { return false };
        pod.spec.resource_claims.iter().any(|entry| {
            claim_name(pod, entry).is_ok_and(|name| name.resolves_to(claim, groups))
                && missing_consumer(pod, group.map(|group| &**group), entry, &after, groups)
                    .is_ok_and(|consumer| consumer.is_some_and(|consumer| consumer.is_pod()))
        })
    };
    ended.filter(is_added_again).cloned().collect()
}

fn flaps(claim: &Claim, pods: &[Arc<Pod>]) -> Finding {
    let keys: Vec<Key> = pods.iter().map(|pod| pod.key()).collect();
    let message = words::flapping(&keys);
    let all = pods.iter().map(|pod| &pod.metadata.name);
    Finding::new(Code::ReservationFlapping, Subject::claim(claim), message)
        .fix(delete_pods(&claim.metadata.namespace, all))
        .joins([claim_key(claim.key())])
        .joins(keys.into_iter().map(pod_key))
}

/// A pod with a node, and each claim that it may use.
fn of_pod(look: &mut Look<'_>, pod: &Arc<Pod>) {
    let Some(node) = pod.node() else {
        return;
    };
    if is_done(pod) {
        return;
    }
    for name in claim_names(pod) {
        let Some(claim) = name.find(look.cluster) else {
            continue;
        };
        let key = claim.key();
        // What was created for another owner is reported for that claim.
        if name.may_use(claim, PodGroups::Accepted).is_err() {
            continue;
        }
        let evidence = [claim_key(key.clone()), pod_key(pod.key())];
        let about = Subject::pod(pod);
        let Some(allocation) = &claim.status.allocation else {
            look.add(without_allocation(look, pod, node, claim).joins(evidence));
            continue;
        };
        if !allocation.reserved_for_any_pod && !is_reserved_for(pod, claim, PodGroups::Accepted) {
            let message = words::not_reserved(pod, node, &key);
            look.add(
                Finding::new(Code::ReservationMissing, about.clone(), message)
                    .remedy(place_again(look.cluster, pod))
                    .joins(evidence.clone()),
            );
        }
        let elsewhere = allocation.node_selector.as_ref().is_some_and(|selector| {
            let node = look.cluster.node(node);
            node.is_some_and(|node| selector.matches(&node.metadata) == Ok(false))
        });
        if elsewhere {
            let message = words::on_other_node(node, &key);
            look.add(
                Finding::new(Code::PodOnOtherNode, about, message)
                    .remedy(place_again(look.cluster, pod))
                    .joins([scoped_key(Kind::Node, node)])
                    .joins(evidence),
            );
        }
    }
}

/// A pod on a node with a claim without devices. Older claim controllers leave such pods behind: they create a new claim for a pod whose
/// claim belongs to its PodGroup.
fn without_allocation(look: &Look<'_>, pod: &Arc<Pod>, node: &Str, claim: &Claim) -> Finding {
    let made_for_pod = claim
        .metadata
        .controller()
        .is_some_and(|owner| owner.kind == "Pod" && owner.uid == pod.metadata.uid);
    let earlier = made_for_pod.then(|| earlier_claim(look, pod, claim)).flatten();
    let earlier = earlier.map(|earlier| earlier.key());
    let message = words::not_allocated(pod, node, &claim.key(), earlier.as_ref());
    Finding::new(Code::PodWithoutAllocation, Subject::pod(pod), message)
        .remedy(place_again(look.cluster, pod))
}

/// The claim of the pod's group that was created for the same entry. For a pod that lost its membership with the downgrade, the only one
/// that there can be.
fn earlier_claim<'a>(look: &Look<'a>, pod: &Pod, claim: &Claim) -> Option<&'a Arc<Claim>> {
    let entry = pod
        .status
        .resource_claim_statuses
        .iter()
        .find(|status| status.resource_claim_name.as_ref() == Some(&claim.metadata.name))?;
    let key = (pod.metadata.namespace.clone(), entry.name.clone());
    let candidates = look.group_claims().get(&key)?;
    match pod.pod_group() {
        Some(group) => candidates
            .iter()
            .find(|claim| {
                claim
                    .metadata
                    .controller()
                    .is_some_and(|owner| owner.name == *group)
            })
            .copied(),
        None => match candidates.as_slice() {
            [only] => Some(only),
            _ => None,
        },
    }
}
