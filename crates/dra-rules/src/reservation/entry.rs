//! Meaning of an entry of `status.reservedFor`.
//!
//! The API server looks none of the entries up, so each may name a pod that runs, has ended or never existed, a PodGroup, or
//! anything else.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use strum::IntoStaticStr;

use super::{PodGroups, is_consumer, is_done};
use dra_model::{Claim, Cluster, Component, ConsumerReference, Evidence, Gap, Gate, Key, Kind, Pod, Str};

/// Status of an entry of `status.reservedFor`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema, IntoStaticStr)]
pub enum EntryStatus {
    /// A pod with a node that has not ended.
    Running,
    /// A pod whose containers do not run yet.
    Pending,
    /// A pod that has ended, or was deleted before it got a node.
    Done,
    /// A pod or group that does not exist.
    Gone,
    /// A pod or group of that name exists, but is another one.
    #[serde(rename = "OtherUID")]
    #[strum(serialize = "OtherUID")]
    OtherUid,
    /// A PodGroup.
    Group,
    /// A kind that no release of Kubernetes reserves for.
    UnknownKind,
    /// The object could not be read.
    Unknown,
}

/// The judgement of one entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Status.
    pub status: EntryStatus,
    /// True if a pod uses the claim through it; absent if unknown. A pod's own entry counts as long as the claim
    /// controller keeps it.
    pub consumer: Option<bool>,
    /// Data missing for a better answer.
    pub gap: Option<&'a Gap>,
}

/// Availability of the PodGroups of a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupsKnown<'a> {
    /// All that exist are there.
    Yes,
    /// The API server does not serve them: they may lie in etcd, and whether they do is unknown.
    NotServed,
    /// They could not be read.
    Hidden(&'a Gap),
}

/// Returns whether PodGroups of `namespace` can be looked up.
///
/// A source that holds no group at all where the gate `GenericWorkload` is off, or assumed to be, counts as one without the API.
pub fn groups_are_known<'a>(cluster: &'a Cluster, namespace: &Str) -> GroupsKnown<'a> {
    let environment = cluster.environment();
    if environment.not_served.contains(&Kind::PodGroup) {
        return GroupsKnown::NotServed;
    }
    if let Some(gap) = cluster.gap(Kind::PodGroup, namespace) {
        return GroupsKnown::Hidden(gap);
    }
    if cluster.count(Kind::PodGroup) == 0 && !environment.enabled(Component::ApiServer, Gate::GenericWorkload)
    {
        return GroupsKnown::NotServed;
    }
    GroupsKnown::Yes
}

/// The reason why no component acts on PodGroups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupsIgnored {
    /// The API server does not serve them.
    NotServed,
    /// The claim controller is known to have the gate `DRAWorkloadResourceClaims` off. A default is no reason to accuse it.
    GateOff,
}

/// Returns why no component removes reservations for PodGroups of `namespace`; nothing where one may.
pub fn groups_are_ignored(cluster: &Cluster, namespace: &Str) -> Option<GroupsIgnored> {
    if groups_are_known(cluster, namespace) == GroupsKnown::NotServed {
        return Some(GroupsIgnored::NotServed);
    }
    let environment = cluster.environment();
    let gate = environment.gate(Component::ControllerManager, Gate::DRAWorkloadResourceClaims);
    (!gate.enabled && gate.evidence != Evidence::Assumed).then_some(GroupsIgnored::GateOff)
}

/// Judges `entry` of `claim`.
pub fn judge<'a>(cluster: &'a Cluster, claim: &Claim, entry: &ConsumerReference) -> Entry<'a> {
    let (status, gap) = match status_of(cluster, claim, entry) {
        Ok(status) => (status, None),
        Err(gap) => (EntryStatus::Unknown, Some(gap)),
    };
    let (consumer, gap) = match consumers_of_entry(cluster, claim, entry) {
        Ok(pods) => (gap.is_none().then_some(!pods.is_empty()), gap),
        Err(missing) => (None, gap.or(Some(missing))),
    };
    Entry {
        status,
        consumer,
        gap,
    }
}

/// Returns what `entry` of `claim` is, without asking who uses the claim by it.
///
/// # Errors
/// The gap that keeps the entry's object from being known.
pub fn status_of<'a>(
    cluster: &'a Cluster,
    claim: &Claim,
    entry: &ConsumerReference,
) -> Result<EntryStatus, &'a Gap> {
    if entry.is_pod() {
        pod_of(cluster, claim, entry)
    } else if entry.is_pod_group() {
        group_of(cluster, claim, entry)
    } else {
        Ok(EntryStatus::UnknownKind)
    }
}

/// Returns whether `entry` of `claim` is of a pod that has ended or is gone: the claim controller removes it at its next sync of the claim.
pub fn is_former(cluster: &Cluster, claim: &Claim, entry: &ConsumerReference) -> bool {
    let status = entry.is_pod().then(|| status_of(cluster, claim, entry));
    matches!(
        status,
        Some(Ok(EntryStatus::Done | EntryStatus::Gone | EntryStatus::OtherUid))
    )
}

/// Returns whether no pod uses an allocated claim, or is to, and no controller of Kubernetes ever takes its devices back: that of claims
/// does so as it removes the last entry, and keeps entries for what it does not know.
pub fn is_abandoned(cluster: &Cluster, claim: &Claim) -> bool {
    let is_foreign = |entry: &ConsumerReference| !entry.is_pod() && !entry.is_pod_group();
    let entries = &claim.status.reserved_for;
    let allocation = claim.status.allocation.as_ref();
    allocation.is_some_and(|allocation| !allocation.reserved_for_any_pod)
        && cluster.gap(Kind::Pod, &claim.metadata.namespace).is_none()
        && cluster.pods_of_claim(&claim.key()).all(|pod| is_done(pod))
        && if entries.is_empty() {
            // The garbage collector deletes what belongs to a pod that is gone, and a deleted claim without consumers is released.
            claim.metadata.owner_references.is_empty() && !claim.metadata.is_deleting()
        } else {
            let is_left = |entry| is_foreign(entry) || is_former(cluster, claim, entry);
            entries.iter().all(is_left) && entries.iter().any(is_foreign)
        }
}

/// The pods of entries that are left over in `claim`, as [`is_former`] says.
pub fn former_pods(cluster: &Cluster, claim: &Claim) -> Vec<Str> {
    let entries = claim.status.reserved_for.iter();
    let former = entries.filter(|entry| is_former(cluster, claim, entry));
    former.map(|entry| entry.name.clone()).collect()
}

/// The pod that `entry` of `claim` is for: it has the entry's name and UID.
pub fn pod_of_entry<'a>(
    cluster: &'a Cluster,
    claim: &Claim,
    entry: &ConsumerReference,
) -> Option<&'a Arc<Pod>> {
    let pod = named_pod(cluster, claim, entry).filter(|_| entry.is_pod());
    pod.filter(|pod| pod.metadata.uid == entry.uid)
}

/// The pod that has the name of the entry.
fn named_pod<'a>(cluster: &'a Cluster, claim: &Claim, entry: &ConsumerReference) -> Option<&'a Arc<Pod>> {
    cluster.pod(&key_of(claim, entry))
}

fn key_of(claim: &Claim, entry: &ConsumerReference) -> Key {
    claim.metadata.beside(&entry.name)
}

/// The kind of the entry's object, if the claim controller looks at such entries: all others stay.
///
/// Mirrors `resourceclaim/controller.go`, `syncClaim`, v1.37.2, its loop over the entries, with [`is_kept`].
pub fn looked_up_kind(entry: &ConsumerReference, groups: PodGroups) -> Option<Kind> {
    if entry.is_pod() {
        Some(Kind::Pod)
    } else if entry.is_pod_group() && groups == PodGroups::Accepted {
        Some(Kind::PodGroup)
    } else {
        None
    }
}

/// Returns whether the claim controller keeps the entry, whose object is of `kind`; absent where there is no such object.
pub fn is_kept(cluster: &Cluster, claim: &Claim, entry: &ConsumerReference, kind: Kind) -> Option<bool> {
    if kind == Kind::Pod {
        named_pod(cluster, claim, entry).map(|pod| pod.metadata.uid == entry.uid && !is_done(pod))
    } else {
        let group = cluster.pod_group(&key_of(claim, entry));
        group.map(|group| group.metadata.uid == entry.uid)
    }
}

fn pod_of<'a>(
    cluster: &'a Cluster,
    claim: &Claim,
    entry: &ConsumerReference,
) -> Result<EntryStatus, &'a Gap> {
    let Some(pod) = named_pod(cluster, claim, entry) else {
        return match cluster.gap(Kind::Pod, &claim.metadata.namespace) {
            Some(gap) => Err(gap),
            None => Ok(EntryStatus::Gone),
        };
    };
    Ok(if pod.metadata.uid != entry.uid {
        EntryStatus::OtherUid
    } else if is_done(pod) {
        EntryStatus::Done
    } else if pod.node().is_none() || pod.status.phase == "Pending" {
        EntryStatus::Pending
    } else {
        EntryStatus::Running
    })
}

fn group_of<'a>(
    cluster: &'a Cluster,
    claim: &Claim,
    entry: &ConsumerReference,
) -> Result<EntryStatus, &'a Gap> {
    if let Some(group) = cluster.pod_group(&key_of(claim, entry)) {
        return Ok(if group.metadata.uid == entry.uid {
            EntryStatus::Group
        } else {
            EntryStatus::OtherUid
        });
    }
    match groups_are_known(cluster, &claim.metadata.namespace) {
        GroupsKnown::Yes => Ok(EntryStatus::Gone),
        GroupsKnown::NotServed => Ok(EntryStatus::Group),
        GroupsKnown::Hidden(gap) => Err(gap),
    }
}

/// Consumers of a claim that a non-pod entry stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meant<'a> {
    /// None: it is about another group, or one that does not exist.
    NoPod,
    /// All, as nothing tells which.
    Everyone,
    /// Members of the group of this name.
    Members(&'a Str),
}

impl Meant<'_> {
    /// Returns whether a consumer of the claim is among them.
    pub(super) fn covers(self, consumer: &Pod) -> bool {
        match self {
            Self::NoPod => false,
            Self::Everyone => true,
            Self::Members(group) => consumer.pod_group() == Some(group),
        }
    }
}

/// Returns which of the claim's consumers `entry` stands for, which is not a pod.
///
/// # Errors
/// The gap that keeps groups from being known.
pub(super) fn meant_by<'a, 'e>(
    cluster: &'a Cluster,
    claim: &Claim,
    entry: &'e ConsumerReference,
) -> Result<Meant<'e>, &'a Gap> {
    if !entry.is_pod_group() {
        return Ok(Meant::Everyone);
    }
    Ok(match group_of(cluster, claim, entry)? {
        EntryStatus::Group if cluster.pod_group(&key_of(claim, entry)).is_none() => Meant::Everyone,
        EntryStatus::Group => Meant::Members(&entry.name),
        _ => Meant::NoPod,
    })
}

/// The pods that use the claim by `entry`, by name.
///
/// For a pod's entry that pod, as long as the claim controller keeps the entry. For a PodGroup's entry the members among the
/// claim's consumers, if the group is the one meant; where PodGroups are not served, and for an unknown kind, every
/// consumer, as nothing tells which are meant.
///
/// # Errors
/// The gap that keeps pods or groups from being known.
pub fn consumers_of_entry<'a>(
    cluster: &'a Cluster,
    claim: &Claim,
    entry: &ConsumerReference,
) -> Result<Vec<&'a Arc<Pod>>, &'a Gap> {
    let named = named_pod(cluster, claim, entry).filter(|_| entry.is_pod());
    if let (None, Some(gap)) = (named, cluster.gap(Kind::Pod, &claim.metadata.namespace)) {
        return Err(gap);
    }
    if entry.is_pod() {
        let own = named.filter(|_| is_kept(cluster, claim, entry, Kind::Pod) == Some(true));
        return Ok(own.into_iter().collect());
    }
    let meant = meant_by(cluster, claim, entry)?;
    if meant == Meant::NoPod {
        return Ok(Vec::new());
    }
    let is_meant = |pod: &&Arc<Pod>| meant.covers(pod) && is_consumer(pod, claim, PodGroups::Accepted);
    Ok(cluster.pods_of_claim(&claim.key()).filter(is_meant).collect())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{claim, cluster, group, pod};
    use super::*;
    use dra_model::{Environment, Evidence, GateState, Object};

    fn bound(name: &str, phase: &str, more: &str) -> Object {
        Object::Pod(pod(&format!(
            r#"{{"metadata":{{"namespace":"n","name":"{name}","uid":"{name}-uid"}},
                "spec":{{"nodeName":"a"{more},"resourceClaims":[{{"name":"c","resourceClaimName":"c"}}]}},
                "status":{{"phase":"{phase}"}}}}"#
        )))
    }

    fn pod_entry(name: &str) -> String {
        format!(r#"{{"resource":"pods","name":"{name}","uid":"{name}-uid"}}"#)
    }

    fn group_entry(name: &str) -> String {
        format!(
            r#"{{"apiGroup":"scheduling.k8s.io","resource":"podgroups","name":"{name}","uid":"{name}-uid"}}"#
        )
    }

    fn answer(cluster: &Cluster, entry: &str) -> (EntryStatus, Option<bool>) {
        let claim = claim(&format!(
            r#"{{"metadata":{{"namespace":"n","name":"c"}},"status":{{"reservedFor":[{entry}]}}}}"#
        ));
        let entry = judge(cluster, &claim, &claim.status.reserved_for[0]);
        (entry.status, entry.consumer)
    }

    #[test]
    fn pods_are_distinguished() {
        let known = cluster(
            [
                bound("running", "Running", ""),
                bound("starting", "Pending", ""),
                bound("done", "Succeeded", ""),
                Object::Pod(pod(
                    r#"{"metadata":{"namespace":"n","name":"waiting","uid":"waiting-uid"},"status":{"phase":"Pending"}}"#,
                )),
                Object::Pod(pod(
                    r#"{"metadata":{"namespace":"n","name":"cancelled","uid":"cancelled-uid",
                        "deletionTimestamp":"2026-11-21T10:13:06Z"},"status":{"phase":"Pending"}}"#,
                )),
                Object::Pod(pod(
                    r#"{"metadata":{"namespace":"n","name":"again","uid":"new"}}"#,
                )),
            ],
            Environment::default(),
        );
        for (name, status, consumer) in [
            ("running", EntryStatus::Running, true),
            ("starting", EntryStatus::Pending, true),
            ("waiting", EntryStatus::Pending, true),
            ("done", EntryStatus::Done, false),
            ("cancelled", EntryStatus::Done, false),
            ("gone", EntryStatus::Gone, false),
            ("again", EntryStatus::OtherUid, false),
        ] {
            assert_eq!(
                answer(&known, &pod_entry(name)),
                (status, Some(consumer)),
                "{name}"
            );
        }
        let job = r#"{"apiGroup":"batch","resource":"jobs","name":"j","uid":"u"}"#;
        assert_eq!(answer(&known, job), (EntryStatus::UnknownKind, Some(true)));
        let without_users = cluster([bound("done", "Failed", "")], Environment::default());
        assert_eq!(
            answer(&without_users, job),
            (EntryStatus::UnknownKind, Some(false))
        );
    }

    #[test]
    fn groups_count_by_their_live_members() {
        let member = r#","schedulingGroup":{"podGroupName":"live"}"#;
        let ended = r#","schedulingGroup":{"podGroupName":"ended"}"#;
        let known = cluster(
            [
                bound("a", "Running", member),
                bound("b", "Succeeded", ended),
                Object::PodGroup(group(
                    r#"{"metadata":{"namespace":"n","name":"live","uid":"live-uid"}}"#,
                )),
                Object::PodGroup(group(
                    r#"{"metadata":{"namespace":"n","name":"ended","uid":"ended-uid"}}"#,
                )),
                Object::PodGroup(group(
                    r#"{"metadata":{"namespace":"n","name":"again","uid":"new"}}"#,
                )),
            ],
            Environment::default(),
        );
        for (name, status, consumer) in [
            ("live", EntryStatus::Group, true),
            ("ended", EntryStatus::Group, false),
            ("again", EntryStatus::OtherUid, false),
            ("gone", EntryStatus::Gone, false),
        ] {
            assert_eq!(
                answer(&known, &group_entry(name)),
                (status, Some(consumer)),
                "{name}"
            );
        }
    }

    #[test]
    fn groups_that_are_not_served_cannot_be_gone() {
        let late = || bound("late", "Running", "");
        let silent = cluster([late()], Environment::default());
        assert_eq!(
            answer(&silent, &group_entry("g")),
            (EntryStatus::Group, Some(true))
        );

        let mut environment = Environment::default();
        let on = GateState {
            enabled: true,
            evidence: Evidence::Flag,
        };
        environment
            .gates
            .push((Component::ApiServer, Gate::GenericWorkload, on));
        let served = cluster([late()], environment.clone());
        assert_eq!(
            answer(&served, &group_entry("g")),
            (EntryStatus::Gone, Some(false))
        );

        environment.not_served.push(Kind::PodGroup);
        let not_served = cluster([late()], environment);
        assert_eq!(
            answer(&not_served, &group_entry("g")),
            (EntryStatus::Group, Some(true))
        );
    }

    #[test]
    fn what_could_not_be_read_is_unknown() {
        let hiding = |kind| Environment {
            gaps: vec![Gap {
                kind,
                namespace: Str::default(),
                except: Str::default(),
                is_forbidden: false,
                reason: "forbidden".to_owned(),
            }],
            ..Environment::default()
        };
        let unknown = (EntryStatus::Unknown, None);
        let no_pods = cluster([], hiding(Kind::Pod));
        assert_eq!(answer(&no_pods, &pod_entry("p")), unknown);
        assert_eq!(answer(&no_pods, &group_entry("g")), (EntryStatus::Group, None));
        // A pod that was found by another way is known.
        let one_pod = cluster([bound("p", "Running", "")], hiding(Kind::Pod));
        assert_eq!(
            answer(&one_pod, &pod_entry("p")),
            (EntryStatus::Running, Some(true))
        );
        let no_groups = cluster([], hiding(Kind::PodGroup));
        assert_eq!(answer(&no_groups, &group_entry("g")), unknown);
    }
}
