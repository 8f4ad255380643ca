//! PodGroups: their claims, their reservations, their members, the groups themselves.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Target;
use super::words::{self, Stored};
use crate::findings::finding::{Subject, claim_key, pod_key};
use crate::findings::reservations::{convert_groups, convert_kinds};
use crate::findings::{Code, Finding, Look};
use crate::remedy::{Remedy, end_groups, end_pods};
use crate::script::{save, save_and_delete, touch};
use dra_model::{Claim, Gate, Key, Kind, MOST_CONSUMERS, Meta, Pod, Str};
use dra_rules::reservation::{
    GroupsKnown, claim_names, consumers_of_entry, groups_are_known, is_done, owning_group,
};

pub(super) fn look(look: &mut Look<'_>, target: &Target) {
    let cluster = look.cluster;
    // 1.36 knows the gate too, but cannot read the groups that 1.37 stored.
    let goes = target.is_older_and(|release| !release.serves_groups);
    let claims_gone = goes || target.lacks(Gate::DRAWorkloadResourceClaims);
    let groups_gone = goes || target.lacks(Gate::GenericWorkload);
    for claim in cluster.claims() {
        if claims_gone {
            match owning_group(claim) {
                Some(group) => generated(look, target, claim, group),
                None => reserved(look, target, claim),
            }
        }
        if goes {
            foreign(look, target, claim);
        }
    }
    for pod in cluster.pods() {
        let Some(group) = pod.pod_group() else {
            continue;
        };
        if pod.node().is_none() && !is_done(pod) {
            pending(look, target, pod, group, groups_gone, claims_gone);
        }
        if target.is_older_and(|release| !release.has_scheduling_groups) {
            let message = words::loses_membership(&pod.metadata.beside(group), target);
            let subject = Subject::pod(pod);
            look.add(
                Finding::new(Code::GroupMember, subject, message)
                    .order(1)
                    .advice(words::RECREATE_MEMBERS),
            );
        }
    }
    if groups_gone {
        objects(look, target);
    }
}

/// Claims that were created for a group. Converting does not help: the older claim controllers create the pods claims of their own.
fn generated(look: &mut Look<'_>, target: &Target, claim: &Claim, group: &Str) {
    let of_claim = claim.key();
    let users = look.cluster.pods_of_claim(&of_claim);
    let users = users.filter(|pod| !is_done(pod)).count();
    let key = claim.metadata.beside(group);
    let message = words::group_claim_is_lost(&key, users, target);
    let namespace = &claim.metadata.namespace;
    let mut remedy = end_groups(look.cluster, namespace, [group]);
    if remedy.command.is_none() && remedy.notes.is_empty() {
        remedy = Remedy::by_hand(words::group_is_gone(&key));
    }
    look.add(
        Finding::new(Code::GroupGeneratedClaim, Subject::claim(claim), message)
            .order(1)
            .remedy(remedy),
    );
}

/// Named claims that are reserved for a group.
fn reserved(look: &mut Look<'_>, target: &Target, claim: &Claim) {
    let groups: Vec<_> = claim
        .status
        .reserved_for
        .iter()
        .filter(|entry| entry.is_pod_group())
        .collect();
    let Some(first) = groups.first() else {
        return;
    };
    let namespace = &claim.metadata.namespace;
    let end = || match end_groups(look.cluster, namespace, groups.iter().map(|entry| &entry.name)) {
        // The claim controller removes the entry of a group that is gone.
        nothing if nothing.command.is_none() && nothing.notes.is_empty() => {
            Remedy::command(touch(Kind::ResourceClaim, &claim.key()))
        }
        end => end,
    };
    if claim.metadata.is_deleting() {
        let message = words::deleting_for_group(claim, &groups);
        look.add(
            Finding::new(Code::GroupReservationDeleting, Subject::claim(claim), message)
                .order(1)
                .remedy(end())
                .note(words::WHILE_GATE_IS_ON),
        );
        return;
    }
    let members = groups
        .iter()
        .map(|entry| consumers_of_entry(look.cluster, claim, entry))
        .collect::<Result<Vec<_>, _>>();
    let members: Option<BTreeSet<_>> = members.ok().map(|members| {
        members
            .into_iter()
            .flatten()
            .map(|pod| (pod.metadata.uid.clone(), pod.key()))
            .collect()
    });
    let evidence: Vec<_> = members
        .iter()
        .flatten()
        .map(|(_, key)| pod_key(key.clone()))
        .chain([claim_key(claim.key())])
        .collect();
    let finding =
        |code, order: u32, message: String| Finding::new(code, Subject::claim(claim), message).order(order);
    let finding = match &members {
        Some(members) if members.is_empty() => finding(
            Code::GroupReservationIdle,
            1,
            words::group_is_idle(claim, &groups),
        )
        .remedy(end())
        .note(words::WHILE_GATE_IS_ON),
        Some(members) if needed_entries(claim, members.iter().map(|(uid, _)| uid)) > MOST_CONSUMERS => {
            finding(
                Code::GroupReservationTooMany,
                1,
                words::group_is_too_large(claim, &groups, members.len()),
            )
            .advice(words::shrink_group(&claim.metadata.beside(&first.name)))
        }
        members => {
            let blocks = target.is_older_and(|release| release.gives_up_at_foreign_entry);
            let members = members.as_ref().map(BTreeSet::len);
            finding(
                Code::GroupReservation,
                2,
                words::group_reservation_stays(claim, &groups, members, blocks, target),
            )
            .remedy(convert_groups(look, claim))
        }
    };
    // That a claim is reserved for a group shows in the claim alone; who is a member does not.
    look.add(if finding.code == Code::GroupReservation {
        finding
    } else {
        finding.joins(evidence)
    });
}

/// Number of entries that the claim has with each member in place of its group.
fn needed_entries<'a>(claim: &'a Claim, members: impl Iterator<Item = &'a Str>) -> usize {
    let others = claim
        .status
        .reserved_for
        .iter()
        .filter(|entry| !entry.is_pod_group())
        .map(|entry| &entry.uid);
    members.chain(others).collect::<BTreeSet<_>>().len()
}

fn foreign(look: &mut Look<'_>, target: &Target, claim: &Claim) {
    let entries: Vec<_> = claim
        .status
        .reserved_for
        .iter()
        .filter(|entry| !entry.is_pod() && !entry.is_pod_group())
        .collect();
    if entries.is_empty() {
        return;
    }
    let blocks = target.is_older_and(|release| release.gives_up_at_foreign_entry);
    let message = words::foreign_stays(claim, &entries, blocks);
    look.add(
        Finding::new(Code::ForeignReservation, Subject::claim(claim), message)
            .error_if(blocks)
            .order(4)
            .remedy(convert_kinds(look, claim, entries)),
    );
}

fn pending(
    look: &mut Look<'_>,
    target: &Target,
    pod: &Arc<Pod>,
    group: &Str,
    groups_gone: bool,
    claims_gone: bool,
) {
    let of_group = claim_names(pod)
        .filter(|name| name.is_generated())
        .filter_map(|name| name.find(look.cluster))
        .any(|claim| owning_group(claim).is_some());
    let alone = if groups_gone {
        Some(target.is_older_and(|release| !release.has_scheduling_groups))
    } else if claims_gone && of_group {
        None
    } else {
        return;
    };
    let message = words::member_is_pending(&pod.metadata.beside(group), alone);
    look.add(
        Finding::new(Code::PendingMember, Subject::pod(pod), message)
            .order(1)
            .remedy(end_pods(look.cluster, &pod.metadata.namespace, [pod]))
            .note(words::OR_WAIT_UNTIL_SCHEDULED),
    );
}

/// Saves the object and deletes it. A PodGroup stays until its pods have finished, which need not end once claims are converted.
fn save_and_end(look: &Look<'_>, kind: Kind, key: &Key) -> Remedy {
    if kind != Kind::PodGroup {
        return Remedy::command(save_and_delete(kind, key));
    }
    if look.cluster.pods_of_group(key).any(|pod| !is_done(pod)) {
        return Remedy::by_hand(words::KEEP_MEMBERS);
    }
    Remedy::command(save(kind, key)).and(end_groups(look.cluster, &key.namespace, [&key.name]))
}

/// PodGroups, Workloads and CompositePodGroups. What is stored of them cannot be decoded by 1.36, and is not served with the gate off.
fn objects(look: &mut Look<'_>, target: &Target) {
    let cluster = look.cluster;
    let kept = target.older && !target.lacks(Gate::GenericWorkload);
    let how = if kept { Stored::NeverReady } else { Stored::Hidden };
    let groups = cluster
        .pod_groups()
        .map(|group| (Kind::PodGroup, &group.metadata));
    let workloads = cluster
        .workloads()
        .map(|workload| (Kind::Workload, &workload.metadata));
    let composites = cluster
        .composite_pod_groups()
        .map(|group| (Kind::CompositePodGroup, &group.metadata));
    let objects: Vec<(Kind, &Meta)> = groups.chain(workloads).chain(composites).collect();
    let served = !objects.is_empty();
    for (kind, metadata) in objects {
        let message = if kind == Kind::CompositePodGroup && target.older {
            words::stored(&Stored::UnknownKind, target)
        } else {
            words::stored(&how, target)
        };
        look.add(
            Finding::new(Code::PodgroupObjects, Subject::of(kind, metadata), message)
                .error_if(kept)
                .order(5)
                .remedy(save_and_end(look, kind, &metadata.key()))
                .note(words::AFTER_CONVERSION),
        );
    }
    if !look.wants(Code::PodgroupObjects) || served {
        return;
    }
    if target.older && groups_are_known(cluster, &Str::default()) == GroupsKnown::NotServed {
        look.found.warnings.add(words::HIDDEN_GROUPS.to_owned());
    }
}
