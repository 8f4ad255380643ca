//! PodGroups: their claims, their reservations, their members, the groups themselves.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Target;
use crate::Consumer;
use crate::findings::finding::{Subject, claim_key, counted, pod_key, some};
use crate::findings::reservations::{convert_groups, convert_kinds};
use crate::findings::{Code, Finding, Look, Severity};
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
            let message = format!(
                "is a member of podgroup/{group}: {} drops spec.schedulingGroup for good when it writes the pod, and a later upgrade does \
                 not bring it back",
                target.name()
            );
            let subject = Subject::of(Kind::Pod, &pod.metadata);
            look.add(Finding::new(Code::GroupMember, subject, message).order(1).advice(
                "whoever owns the pods makes them again after a later upgrade; there is nothing to do where the groups are given up",
            ));
        }
    }
    if groups_gone {
        objects(look, target);
    }
}

fn subject(claim: &Claim) -> Subject {
    Subject::of(Kind::ResourceClaim, &claim.metadata)
}

/// Claims that were made for a group. Converting is no way out: the older claim controllers make the pods claims of their own.
fn generated(look: &mut Look<'_>, target: &Target, claim: &Claim, group: &Str) {
    let pods: Vec<&Arc<Pod>> = look
        .cluster
        .pods_of_claim(&claim.key())
        .filter(|pod| !is_done(pod))
        .collect();
    let naming = counted(pods.len(), "pod", "pods");
    let message = if target.older {
        format!(
            "was made for podgroup/{group} and is used by {naming}: the claim controller of {} gives each of them a new claim without \
             devices while it runs, converted or not",
            target.name()
        )
    } else {
        format!(
            "was made for podgroup/{group} and is used by {naming}: without the gate no new sandbox of theirs starts, taints do not evict \
             them, and the claim is never freed while it is reserved for the group"
        )
    };
    let namespace = &claim.metadata.namespace;
    let mut remedy = end_groups(look.cluster, namespace, [group]);
    if remedy.command.is_none() && remedy.notes.is_empty() {
        remedy = Remedy::by_hand(format!(
            "podgroup/{group} and its pods are gone: garbage collection deletes the claim"
        ));
    }
    look.add(
        Finding::new(Code::GroupGeneratedClaim, subject(claim), message)
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
    let who = some(groups.iter().map(|entry| Consumer(entry)));
    let namespace = &claim.metadata.namespace;
    let end = || match end_groups(look.cluster, namespace, groups.iter().map(|entry| &entry.name)) {
        // The claim controller removes the entry of a group that is gone.
        nothing if nothing.command.is_none() && nothing.notes.is_empty() => {
            Remedy::command(touch(Kind::ResourceClaim, &claim.key()))
        }
        end => end,
    };
    if claim.metadata.is_deleting() {
        let message = format!(
            "is reserved for {who} and is being deleted, so that no entry can be added: it cannot be converted, and is stuck afterwards"
        );
        look.add(
            Finding::new(Code::GroupReservationDeleting, subject(claim), message)
                .order(1)
                .remedy(end())
                .note("before the gate goes off"),
        );
        return;
    }
    let members = groups
        .iter()
        .map(|entry| consumers_of_entry(look.cluster, claim, entry).map(Iterator::collect::<Vec<_>>))
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
        |code, order: u32, message: String| Finding::new(code, subject(claim), message).order(order);
    let finding = match &members {
        Some(members) if members.is_empty() => finding(
            Code::GroupReservationIdle,
            1,
            format!("is reserved for {who}, of which no member runs: it is never freed afterwards"),
        )
        .remedy(end())
        .note("before the gate goes off"),
        Some(members) if needed_entries(claim, members.iter().map(|(uid, _)| uid)) > MOST_CONSUMERS => finding(
            Code::GroupReservationTooMany,
            1,
            format!(
                "is reserved for {who}, whose {} members and the other entries are more than the {MOST_CONSUMERS} that a claim can have",
                members.len()
            ),
        )
        .advice(format!(
            "whoever owns podgroup/{} ends pods of it until {MOST_CONSUMERS} entries are enough, or splits the group",
            first.name
        )),
        members => {
            let running = members.as_ref().map_or_else(
                || "an unknown number of pods".to_owned(),
                |members| counted(members.len(), "running pod", "running pods"),
            );
            let also = if target.is_older_and(|release| release.gives_up_at_foreign_entry) {
                "; before that no consumer of it is ever removed"
            } else {
                ""
            };
            finding(
                Code::GroupReservation,
                2,
                format!(
                    "is reserved for {who} with {running}: with {} the entry stays for ever, and the claim and its namespace are never freed{also}",
                    target.name()
                ),
            )
            .remedy(convert_groups(look, claim))
        }
    };
    // That a claim is reserved for a group is told by the claim alone; who is a member is not.
    look.add(if finding.code == Code::GroupReservation {
        finding
    } else {
        finding.joins(evidence)
    });
}

/// How many entries the claim has with each member in the place of its group.
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
    let who = some(entries.iter().map(|entry| Consumer(entry)));
    let (severity, what) = if target.is_older_and(|release| release.gives_up_at_foreign_entry) {
        (
            Severity::Error,
            "at which its claim controller gives up: no entry of the claim is ever removed",
        )
    } else {
        (Severity::Warning, "which stays for ever, as it does now")
    };
    let message = format!("is reserved for {who}, {what}");
    look.add(
        Finding::new(Code::ForeignReservation, subject(claim), message)
            .severity(severity)
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
    let message = if groups_gone {
        let member = if target.is_older_and(|release| !release.has_scheduling_groups) {
            ", and it loses its membership"
        } else {
            ""
        };
        format!(
            "waits for podgroup/{group}: it is scheduled alone, without the gang and without the claims of the group{member}"
        )
    } else if claims_gone && of_group {
        format!("waits for podgroup/{group} and uses a claim that was made for it: it stays pending")
    } else {
        return;
    };
    look.add(
        Finding::new(
            Code::PendingMember,
            Subject::of(Kind::Pod, &pod.metadata),
            message,
        )
        .order(1)
        .remedy(end_pods(&pod.metadata.namespace, [pod]))
        .note("letting it be scheduled does, too"),
    );
}

/// Saves the object and deletes it. A PodGroup stays until its pods have ended.
fn save_and_end(look: &Look<'_>, kind: Kind, key: &Key) -> Remedy {
    if kind != Kind::PodGroup {
        return Remedy::command(save_and_delete(kind, key));
    }
    Remedy::command(save(kind, key)).and(end_groups(look.cluster, &key.namespace, [&key.name]))
}

/// PodGroups, Workloads and CompositePodGroups. What is stored of them cannot be decoded by 1.36, and is not served with the gate off.
fn objects(look: &mut Look<'_>, target: &Target) {
    let cluster = look.cluster;
    let kept = target.older && !target.lacks(Gate::GenericWorkload);
    let (severity, message) = if kept {
        (
            Severity::Error,
            format!(
                "is stored in a form that {} cannot decode: with GenericWorkload its API server never becomes ready",
                target.name()
            ),
        )
    } else {
        (
            Severity::Warning,
            format!(
                "cannot be seen or deleted with {}, but stays stored and comes back with the gate",
                target.name()
            ),
        )
    };
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
            format!(
                "is of a kind that {} does not know: it cannot be seen or deleted there, but stays stored and comes back later",
                target.name()
            )
        } else {
            message.clone()
        };
        look.add(
            Finding::new(Code::PodgroupObjects, Subject::of(kind, metadata), message)
                .severity(severity)
                .order(5)
                .remedy(save_and_end(look, kind, &metadata.key()))
                .note("only after its claims were converted"),
        );
    }
    if !look.wants(Code::PodgroupObjects) || served {
        return;
    }
    if target.older && groups_are_known(cluster, &Str::default()) == GroupsKnown::NotServed {
        look.found.warnings.add(
            "PodGroups and Workloads are not served; some may lie hidden in etcd from a time when GenericWorkload was on".to_owned(),
        );
    }
}
