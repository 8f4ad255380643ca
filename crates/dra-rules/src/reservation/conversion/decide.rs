//! The decision about one claim.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use super::repointed::Repointed;
use super::{
    Action, ClaimGate, ClaimPlan, Kinds, Options, Refusal, Release, foreign_entries, is_for_any_pod,
};
use crate::reservation::{
    ClaimNameError, EntryStatus, GroupsKnown, Meant, PodGroups, claim_name, claim_names, groups_are_ignored,
    groups_are_known, is_consumer, is_done, meant_by, owning_group, status_of,
};
use dra_model::{Claim, ClaimPatch, Cluster, ConsumerReference, Gap, Key, Kind, MOST_CONSUMERS, Pod, Str};

/// Members of groups that wait for a node and for a claim. Each group's are looked for once, however many claims it has.
pub(super) struct Waiting<'a> {
    cluster: &'a Cluster,
    of_groups: RefCell<HashMap<Key, Rc<[Str]>>>,
}

impl<'a> Waiting<'a> {
    pub(super) fn new(cluster: &'a Cluster) -> Self {
        Self {
            cluster,
            of_groups: RefCell::default(),
        }
    }

    /// Names of the group's, in order.
    fn of(&self, group: &Key) -> Rc<[Str]> {
        let mut known = self.of_groups.borrow_mut();
        let members = known.entry(group.clone()).or_insert_with(|| {
            let members = self.cluster.pods_of_group(group);
            let waiting = members.filter(|pod| waits_for_a_node(pod) && waits_for_a_claim(pod));
            waiting.map(|pod| pod.metadata.name.clone()).collect()
        });
        Rc::clone(members)
    }
}

/// Returns what is to be done with `claim`; nothing at all for most.
pub(super) fn decide<'a>(
    cluster: &'a Cluster,
    claim: &Claim,
    options: &Options,
    gate: ClaimGate,
    repointed: &Repointed<'a>,
    waiting: &Waiting<'a>,
) -> Result<Option<ClaimPlan>, &'a Gap> {
    let repoints = options.target.is_some_and(super::Target::repoints_pods);
    let doomed = repoints && owning_group(claim).is_some();
    let for_any_pod = is_for_any_pod(claim);
    let any_pod_selected = for_any_pod && selects_any_pod(claim, &options.kinds);
    if !doomed && !for_any_pod && foreign_entries(claim).next().is_none() {
        return Ok(None);
    }
    if let Some(gap) = cluster.gap(Kind::Pod, &claim.metadata.namespace) {
        return Err(gap);
    }
    let mut question = Question::new(cluster, claim, options, gate, waiting);
    question.repointed = repointed.of(claim);
    let action = question.answer(any_pod_selected, doomed)?;
    let Question {
        unreserved,
        unbound,
        unverified,
        selected,
        kept,
        ..
    } = question;
    // A refused claim has nothing to remove or to add.
    let writes = match action {
        Action::Convert(_) | Action::Release(_) => true,
        Action::Keep | Action::Refuse(_) => false,
    };
    Ok(Some(ClaimPlan {
        remove: if writes { selected } else { Vec::new() },
        unreserved: if writes { unreserved } else { Vec::new() },
        unbound,
        unverified,
        ignored: groups_are_ignored(cluster, &claim.metadata.namespace).is_some(),
        kept,
        any_pod_stays: for_any_pod && !(any_pod_selected && writes),
        ..ClaimPlan::of(claim, action)
    }))
}

struct Question<'a, 'c> {
    cluster: &'a Cluster,
    waiting: &'c Waiting<'a>,
    claim: &'c Claim,
    options: &'c Options,
    gate: ClaimGate,
    /// Entries to convert, in order.
    selected: Vec<ConsumerReference>,
    kept: Vec<ConsumerReference>,
    /// Pods that mention the claim, by name. Looking them up is most of the work, so it is done once.
    pods: Vec<&'a Arc<Pod>>,
    /// Those of them that use the claim on a node.
    consumers: Vec<&'a Arc<Pod>>,
    /// Names of pods without a node that could begin to.
    unbound: Vec<Str>,
    /// Names of pods that may run with the devices though they name other claims.
    repointed: Vec<Str>,
    add: Vec<ConsumerReference>,
    unreserved: Vec<Str>,
    unverified: bool,
}

impl<'a, 'c> Question<'a, 'c> {
    fn new(
        cluster: &'a Cluster,
        claim: &'c Claim,
        options: &'c Options,
        gate: ClaimGate,
        waiting: &'c Waiting<'a>,
    ) -> Self {
        let (selected, kept) = foreign_entries(claim)
            .cloned()
            .partition(|entry| options.kinds.selects(entry));
        let key = claim.key();
        let pods: Vec<_> = cluster.pods_of_claim(&key).collect();
        let of = |which: &dyn Fn(&Pod) -> bool| pods.iter().copied().filter(|pod| which(pod)).collect();
        let consumers: Vec<_> = of(&|pod| is_consumer(pod, claim, PodGroups::Accepted));
        let unbound: Vec<_> = of(&|pod| may_begin_to_use(pod, &key));
        Self {
            cluster,
            waiting,
            claim,
            options,
            gate,
            selected,
            kept,
            consumers,
            unbound: unbound.into_iter().map(|pod| pod.metadata.name.clone()).collect(),
            pods,
            repointed: Vec::new(),
            add: Vec::new(),
            unreserved: Vec::new(),
            unverified: false,
        }
    }

    fn answer(&mut self, any_pod_selected: bool, doomed: bool) -> Result<Action, &'a Gap> {
        if self.selected.is_empty() && !any_pod_selected && !doomed {
            return Ok(Action::Keep);
        }
        if self.may_be_released()? {
            return Ok(Action::Release(ClaimPatch::release(self.claim)));
        }
        if let Some(group) = owning_group(self.claim)
            && (doomed || !self.options.include_generated || !self.repointed.is_empty())
        {
            return Ok(Action::Refuse(Refusal::GeneratedForPodGroup {
                group: group.clone(),
                doomed,
                repointed: self.repointed.clone(),
            }));
        }
        let mut meant: Vec<Meant<'_>> = Vec::new();
        for entry in &self.selected {
            if let Some(refusal) = self.refuses(entry)? {
                return Ok(Action::Refuse(refusal));
            }
            self.unverified |= entry.is_pod_group()
                && groups_are_known(self.cluster, &self.claim.metadata.namespace) == GroupsKnown::NotServed;
            meant.push(meant_by(self.cluster, self.claim, entry)?);
        }
        for pod in &self.consumers {
            if self.claim.lists(&pod.metadata.uid) {
                continue;
            }
            // Every pod that uses the claim must be listed by us: with the gate off no component repairs it.
            if !any_pod_selected && !meant.iter().any(|meant| meant.covers(pod)) {
                self.unreserved.push(pod.metadata.name.clone());
            }
            self.add.push(ConsumerReference::of_pod(pod));
        }
        Ok(self.write(any_pod_selected))
    }

    /// Returns why one of the selected entries cannot be converted.
    fn refuses(&self, entry: &ConsumerReference) -> Result<Option<Refusal>, &'a Gap> {
        if !entry.is_pod_group() {
            return Ok(None);
        }
        let group = || entry.name.clone();
        Ok(match status_of(self.cluster, self.claim, entry)? {
            EntryStatus::Gone => Some(Refusal::PodGroupGone { group: group() }),
            EntryStatus::OtherUid => {
                let existing = self.cluster.pod_group(&self.key_of(entry));
                Some(Refusal::PodGroupUidMismatch {
                    group: group(),
                    reserved: entry.uid.clone(),
                    existing: existing
                        .map(|group| group.metadata.uid.clone())
                        .unwrap_or_default(),
                })
            }
            EntryStatus::Running
            | EntryStatus::Pending
            | EntryStatus::Done
            | EntryStatus::Group
            | EntryStatus::UnknownKind
            | EntryStatus::Unknown => {
                let pods = if self.gate.may_be_on() {
                    self.unscheduled_members(entry)
                } else {
                    Vec::new()
                };
                (!pods.is_empty()).then(|| Refusal::UnscheduledMembers { group: group(), pods })
            }
        })
    }

    fn key_of(&self, entry: &ConsumerReference) -> Key {
        self.claim.metadata.beside(&entry.name)
    }

    /// Members of the entry's group that have no node and name the claim, or may come to: the claim controller may still tell them
    /// that a template's claim is this one.
    fn unscheduled_members(&self, entry: &ConsumerReference) -> Vec<Str> {
        let key = self.claim.key();
        let of_group = |pod: &Pod| pod.pod_group() == Some(&entry.name);
        let own = self.pods.iter();
        let own = own.filter(|pod| of_group(pod) && waits_for_a_node(pod) && names(pod, &key));
        let own = own.map(|pod| pod.metadata.name.clone());
        let mut members: BTreeSet<Str> = own.collect();
        members.extend(self.waiting.of(&self.key_of(entry)).iter().cloned());
        members.into_iter().collect()
    }

    /// Returns whether the devices can be deallocated: no pod uses the claim or could begin to, and all that it is reserved for besides
    /// pods is gone or was named by the operator.
    fn may_be_released(&self) -> Result<bool, &'a Gap> {
        let Release::Unused { entries } = &self.options.release else {
            return Ok(false);
        };
        let key = self.claim.key();
        let could_use = |pod: &Pod| !pod.is_terminal() && names(pod, &key);
        // A claim that was made for a group belongs to it even without an entry.
        if self.selected.is_empty()
            || self.claim.status.allocation.is_none()
            || !self.kept.is_empty()
            || self.pods.iter().any(|pod| could_use(pod))
            || !self.repointed.is_empty()
        {
            return Ok(false);
        }
        for entry in &self.selected {
            if entries.contains(&entry.to_string()) {
                continue;
            }
            let status = status_of(self.cluster, self.claim, entry)?;
            let not_served = entry.is_pod_group()
                && groups_are_known(self.cluster, &self.claim.metadata.namespace) == GroupsKnown::NotServed;
            let gone = matches!(status, EntryStatus::Gone | EntryStatus::OtherUid);
            if !gone && !not_served {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The write, unless something forbids it.
    fn write(&mut self, any_pod_selected: bool) -> Action {
        if self.consumers.is_empty() {
            return Action::Refuse(self.unused());
        }
        if self.claim.metadata.is_deleting() && !self.add.is_empty() {
            let pods = self.add.iter().map(|entry| entry.name.clone()).collect();
            return Action::Refuse(Refusal::ClaimDeleting { pods });
        }
        let stays = |entry: &&ConsumerReference| entry.is_pod() || !self.options.kinds.selects(entry);
        let kept: Vec<_> = self
            .claim
            .status
            .reserved_for
            .iter()
            .filter(stays)
            .cloned()
            .collect();
        let entries = kept.len() + self.add.len();
        if entries > MOST_CONSUMERS {
            return Action::Refuse(Refusal::TooManyConsumers { entries });
        }
        Action::Convert(ClaimPatch::list(
            self.claim,
            kept,
            std::mem::take(&mut self.add),
            any_pod_selected,
        ))
    }

    fn unused(&self) -> Refusal {
        let entry = self.selected.first();
        let text = entry.map_or_else(|| "any pod".to_owned(), ConsumerReference::to_string);
        if entry.is_some_and(ConsumerReference::is_pod_group) || !self.unbound.is_empty() {
            let unbound = self.unbound.clone();
            return Refusal::NoLiveConsumer { entry: text, unbound };
        }
        Refusal::UnknownKindUnused { entry: text }
    }
}

/// Returns whether that every pod may use the claim is one of the reservations to convert: KEP-5194 proposes it for a kind that the spec names.
fn selects_any_pod(claim: &Claim, kinds: &Kinds) -> bool {
    *kinds == Kinds::All
        || claim
            .spec
            .reserved_for
            .as_ref()
            .is_some_and(|of| kinds.selects(of))
}

/// Pods that name the claim and have no node yet. While the gate is on, a scheduling attempt that has begun may bind them without an
/// entry.
pub fn unbound(cluster: &Cluster, claim: &Key) -> Vec<Str> {
    cluster
        .pods_of_claim(claim)
        .filter(|pod| may_begin_to_use(pod, claim))
        .map(|pod| pod.metadata.name.clone())
        .collect()
}

/// Returns whether the pod names the claim and may yet get a node.
fn may_begin_to_use(pod: &Pod, claim: &Key) -> bool {
    waits_for_a_node(pod) && names(pod, claim)
}

/// Returns whether the pod has no node and may get one.
fn waits_for_a_node(pod: &Pod) -> bool {
    pod.node().is_none() && !is_done(pod)
}

/// Returns whether the pod refers to the claim, regardless of its owner.
fn names(pod: &Pod, claim: &Key) -> bool {
    claim_names(pod).any(|entry| entry.name() == Some(&claim.name))
}

/// Returns whether the pod does not know yet which claims its templates became.
fn waits_for_a_claim(pod: &Pod) -> bool {
    pod.spec
        .resource_claims
        .iter()
        .any(|entry| matches!(claim_name(pod, entry), Err(ClaimNameError::NotCreated { .. })))
}
