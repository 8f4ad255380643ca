//! What can be done: a command that can be run unchanged, or a sentence that says what to do.
//!
//! Findings and explanations need the same answers: how to delete the consumers of a claim, and how to recreate what has an immutable spec
//! with other requests. They are here, once.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::script::{self, NoCommand, Script, Then};
use crate::words;
use dra_model::names::is_within;
use dra_model::{
    Claim, ClaimSpec, ClaimTemplate, Cluster, Component, ConsumerReference, Environment, Gate, Key, Kind,
    Meta, OwnerReference, Pod, Str,
};
use dra_rules::owners::{Ending, Lineage, comes_back, guard};
use dra_rules::quota::Quotas;
use dra_rules::reservation::{
    Origin, consumers_of_entry, groups_are_ignored, is_abandoned, is_former, is_group, pod_of_entry,
};
use dra_rules::scheduling::{change_of_claim, other_scheduler};

/// What can be done.
#[derive(Clone, Debug, Default)]
pub(super) struct Remedy {
    /// Can be run unchanged.
    pub(super) command: Option<Script>,
    /// What to do where there is no command, and what to know about the command.
    pub(super) notes: Vec<String>,
    /// Something has to be done that no command does.
    is_by_hand: bool,
}

impl Remedy {
    /// A command, or why a name gives none.
    pub(super) fn command(command: Result<Script, NoCommand>) -> Self {
        match command {
            Ok(script) => Self {
                command: Some(script),
                ..Self::default()
            },
            Err(why) => Self::by_hand(why.to_string()),
        }
    }

    /// No command does it. The sentence says what to do.
    pub(super) fn by_hand(who: impl Into<String>) -> Self {
        Self {
            command: None,
            notes: vec![who.into()],
            is_by_hand: true,
        }
    }

    /// What to know about it.
    pub(super) fn note(mut self, note: impl Into<String>) -> Self {
        let note = note.into();
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
        self
    }

    /// This, and then that. There is a command only where there is one for both.
    pub(super) fn and(self, next: Self) -> Self {
        let is_by_hand = self.is_by_hand || next.is_by_hand;
        let command = match (self.command, next.command) {
            _ if is_by_hand => None,
            (Some(first), Some(second)) => Some(first.then(Then::And, second)),
            (first, second) => first.or(second),
        };
        let all = Self {
            command,
            notes: self.notes,
            is_by_hand,
        };
        next.notes.into_iter().fold(all, Self::note)
    }

    /// Raises every quota of the namespace far enough that claims of these specs can be created.
    pub(super) fn raising<'s>(
        quotas: &Quotas<'_>,
        namespace: &Str,
        specs: impl IntoIterator<Item = &'s ClaimSpec>,
    ) -> Self {
        let raised = quotas
            .raised_for(namespace, specs)
            .into_iter()
            .map(|(quota, hard)| {
                let hard: serde_json::Map<String, Value> = hard
                    .into_iter()
                    .map(|(resource, amount)| (resource.to_string(), json!(amount.to_string())))
                    .collect();
                let patch = json!({"spec": {"hard": hard}});
                Self::command(script::merge(Kind::ResourceQuota, &quota.metadata.key(), &patch))
            });
        let all = raised.fold(Self::default(), Self::and);
        if all.command.is_some() {
            return all.note(words::QUOTA_OWNER);
        }
        if all.is_by_hand {
            return all;
        }
        Self::by_hand(words::QUOTA_NOT_COUNTED)
    }

    /// Its notes as one text.
    pub(super) fn text(&self) -> Option<String> {
        (!self.notes.is_empty()).then(|| self.notes.join("; "))
    }
}

/// Removes from an object those finalizers that no component of Kubernetes has set, which are returned; nothing where there is none. The
/// command is refused once another finalizer was set.
pub(super) fn drop_finalizers(kind: Kind, metadata: &Meta) -> Option<(Vec<&Str>, Remedy)> {
    let names = &metadata.finalizers;
    let (kept, foreign): (Vec<&Str>, Vec<&Str>) = names.iter().partition(|name| is_of_kubernetes(name));
    if foreign.is_empty() {
        return None;
    }
    let path = "/metadata/finalizers";
    let rest = if kept.is_empty() {
        json!({"op": "remove", "path": path})
    } else {
        json!({"op": "replace", "path": path, "value": kept})
    };
    let change = vec![json!({"op": "test", "path": path, "value": names}), rest];
    let command = script::change(kind, &metadata.key(), change);
    Some((foreign, Remedy::command(command).note(words::FOREIGN_FINALIZER)))
}

/// Whether a finalizer is one of Kubernetes' own components. Projects beside it have names below `x-k8s.io`.
fn is_of_kubernetes(finalizer: &str) -> bool {
    let Some((domain, _)) = finalizer.split_once('/') else {
        return true;
    };
    is_within(domain, "kubernetes.io") || is_within(domain, "k8s.io")
}

/// The key of the taint for a device that cannot be attached.
pub(super) const UNATTACHABLE: &str = "unattachable";

/// The key of the taint for a device that is reported unhealthy.
pub(super) const UNHEALTHY: &str = "unhealthy";

/// Whether DeviceTaintRules are served and acted on.
pub(super) fn can_taint(environment: &Environment) -> bool {
    let acts = |component| environment.enabled(component, Gate::DRADeviceTaintRules);
    !environment.not_served.contains(&Kind::DeviceTaintRule)
        && [
            Component::ApiServer,
            Component::Scheduler,
            Component::ControllerManager,
        ]
        .into_iter()
        .all(acts)
}

/// The highest owner of a pod, which undoes what is done to those below. A CronJob does nothing to its Jobs.
pub(super) fn top_owner(cluster: &Cluster, pod: &Pod) -> Option<OwnerReference> {
    let owners = Lineage::of(cluster, &pod.metadata).references();
    let mut owners = owners.into_iter().rev();
    owners.find(|owner| !is_group(owner) && owner.kind != "CronJob")
}

/// The one highest owner of the pods, which recreates them unless it ends them.
pub(super) fn only_owner(cluster: &Cluster, pods: &[&Arc<Pod>]) -> Option<OwnerReference> {
    // Nothing recreates what has ended.
    let mut owners = pods
        .iter()
        .map(|pod| top_owner(cluster, pod).filter(|_| !pod.is_terminal()));
    let owner = owners.next()??;
    owners
        .all(|other| other.as_ref() == Some(&owner))
        .then_some(owner)
}

/// Ends pods of one namespace by this change of their owner.
pub(super) fn end_by(namespace: &str, pods: &[&Arc<Pod>], ending: &Ending) -> Remedy {
    let remedy = Remedy::command(script::end_by_owner(namespace, pods, ending));
    match ending {
        Ending::Suspend(_) => remedy.note(words::RESUME),
        Ending::Fewer { at_once, .. } => remedy.note(words::run_more(*at_once)),
        Ending::Scale { .. } => remedy,
    }
}

/// Ends pods of one namespace: those of one owner by that owner, others by deletion. What recreates these is named.
pub(super) fn end_pods<'p>(
    cluster: &Cluster,
    namespace: &str,
    pods: impl IntoIterator<Item = &'p Arc<Pod>>,
) -> Remedy {
    let pods: Vec<&Arc<Pod>> = pods.into_iter().collect();
    let guards: BTreeSet<Key> = pods
        .iter()
        .filter_map(|pod| Some(guard(cluster, pod)?.metadata.key()))
        .collect();
    let owner =
        only_owner(cluster, &pods).map(|owner| (Ending::of(cluster, &pods, &BTreeSet::new(), &owner), owner));
    let remedy = match owner {
        Some((Some(ending), _)) => end_by(namespace, &pods, &ending),
        Some((None, owner)) => {
            let first = pods.first().map(|pod| words::controller(&pod.metadata, &owner));
            Remedy::by_hand(words::stop(&first.unwrap_or_default()))
        }
        None => {
            let names: BTreeSet<&Str> = pods.iter().map(|pod| &pod.metadata.name).collect();
            if names.is_empty() {
                return Remedy::default();
            }
            let owner = |pod: &&Arc<Pod>| Some(words::controller(&pod.metadata, &top_owner(cluster, pod)?));
            let mut owners: BTreeSet<String> = pods.iter().filter_map(owner).collect();
            let remedy = Remedy::command(script::delete_pods(namespace, names));
            match owners.pop_first() {
                None => remedy,
                Some(first) => remedy.note(words::recreates(&first, owners.len())),
            }
        }
    };
    guards
        .iter()
        .fold(remedy, |remedy, budget| remedy.note(words::guarded(budget)))
}

/// Deletes pods of one namespace that their controllers recreate. A pod is left to its owner unless it is sure to be recreated.
pub(super) fn replace_pods<'p>(
    cluster: &Cluster,
    namespace: &str,
    pods: impl IntoIterator<Item = &'p Arc<Pod>>,
) -> Remedy {
    let pods: Vec<&Arc<Pod>> = pods.into_iter().collect();
    let Some(stays) = pods.iter().find(|pod| !comes_back(cluster, pod)) else {
        let names: BTreeSet<&Str> = pods.iter().map(|pod| &pod.metadata.name).collect();
        return Remedy::command(script::delete_pods(namespace, names));
    };
    Remedy::by_hand(words::not_recreated(&stays.metadata))
}

/// Replaces a pod that was placed without its devices, where kube-scheduler places its successor.
pub(super) fn place_again(cluster: &Cluster, pod: &Arc<Pod>) -> Remedy {
    match other_scheduler(cluster.environment(), pod) {
        Some(other) => Remedy::by_hand(words::placed_alike(&other)),
        None => replace_pods(cluster, &pod.metadata.namespace, [pod]),
    }
}

/// The command that deallocates a claim that no pod uses. It is refused once the claim has changed.
pub(super) fn release(claim: &Claim) -> Result<Script, NoCommand> {
    release_if(
        claim,
        json!({"op": "replace", "path": "/metadata/resourceVersion", "value": claim.metadata.resource_version}),
    )
}

/// The same for a claim that changes before the command runs.
pub(super) fn release_whatever_version(claim: &Claim) -> Result<Script, NoCommand> {
    release_if(
        claim,
        json!({"op": "test", "path": "/metadata/uid", "value": claim.metadata.uid}),
    )
}

fn release_if(claim: &Claim, lock: Value) -> Result<Script, NoCommand> {
    let mut operations = vec![lock];
    if !claim.status.reserved_for.is_empty() {
        operations.push(json!({"op": "remove", "path": "/status/reservedFor"}));
    }
    operations.push(json!({"op": "remove", "path": "/status/allocation"}));
    script::patch(
        Kind::ResourceClaim,
        Some(&claim.metadata.namespace),
        &claim.metadata.name,
        &["--subresource=status", "--type=json"],
        &Value::Array(operations),
    )
}

/// Deletes PodGroups of one namespace: their pods first, since a group with members stays.
pub(super) fn end_groups<'n>(
    cluster: &Cluster,
    namespace: &Str,
    groups: impl IntoIterator<Item = &'n Str>,
) -> Remedy {
    let groups: BTreeSet<&Str> = groups.into_iter().collect();
    if cluster.gap(Kind::Pod, namespace).is_some() {
        return Remedy::by_hand(words::delete_hidden_members(namespace));
    }
    let mut members = Vec::new();
    for group in &groups {
        let key = Key::new(namespace.clone(), (*group).clone());
        members.extend(cluster.pods_of_group(&key).filter(|pod| !pod.is_terminal()));
    }
    let is_hidden = cluster.gap(Kind::PodGroup, namespace).is_some();
    if is_hidden && members.is_empty() {
        return Remedy::by_hand(words::delete_hidden_groups(namespace, &groups));
    }
    let there = groups.into_iter().filter(|group| {
        let key = Key::new(namespace.clone(), (*group).clone());
        is_hidden || cluster.pod_group(&key).is_some()
    });
    let there: Vec<&Str> = there.collect();
    let end = end_pods(cluster, namespace, members);
    if there.is_empty() {
        return end;
    }
    end.and(Remedy::command(script::delete_in(
        namespace,
        Kind::PodGroup,
        there,
    )))
}

/// How pods end that need not be deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// They are gone or have finished.
    Former,
    /// They are being deleted.
    Terminating,
}

/// Returns how all pods among the consumers of the claim end without being deleted; nothing where one of them does not, or is unknown.
pub(super) fn end_of(cluster: &Cluster, claim: &Claim, consumers: &[&ConsumerReference]) -> Option<End> {
    let mut end = End::Former;
    for entry in consumers.iter().filter(|entry| !is_former(cluster, claim, entry)) {
        match pod_of_entry(cluster, claim, entry) {
            Some(pod) if pod.metadata.is_deleting() => end = End::Terminating,
            _ => return None,
        }
    }
    Some(end)
}

/// Deletes whatever the claim is reserved for: the claim controller deallocates the claim then.
pub(super) fn end_consumers(cluster: &Cluster, claim: &Claim) -> Remedy {
    end_some(
        cluster,
        claim,
        &claim.status.reserved_for.iter().collect::<Vec<_>>(),
    )
}

/// The PodGroups among `consumers`, where the claim is reserved for nothing else and no component removes such entries: it keeps its devices
/// when the groups are deleted.
pub(super) fn ignored_groups<'e>(
    cluster: &Cluster,
    claim: &Claim,
    consumers: &[&'e ConsumerReference],
) -> Option<Vec<&'e Str>> {
    let is_all = !consumers.is_empty() && consumers.len() == claim.status.reserved_for.len();
    let are_groups = consumers.iter().all(|entry| entry.is_pod_group());
    let is_ignored = || groups_are_ignored(cluster, &claim.metadata.namespace).is_some();
    (is_all && are_groups && is_ignored()).then(|| consumers.iter().map(|entry| &entry.name).collect())
}

/// Deletes those of the consumers of the claim.
pub(super) fn end_some(cluster: &Cluster, claim: &Claim, consumers: &[&ConsumerReference]) -> Remedy {
    let namespace = &claim.metadata.namespace;
    let entries = || consumers.iter().copied();
    if let Some(foreign) = entries().find(|entry| !entry.is_pod() && !entry.is_pod_group()) {
        if is_abandoned(cluster, claim) {
            return Remedy::command(release(claim)).note(words::release_foreign(namespace, foreign));
        }
        return Remedy::by_hand(words::delete_foreign(namespace, foreign));
    }
    if cluster.gap(Kind::Pod, namespace).is_some() {
        return Remedy::by_hand(words::delete_hidden_pods(namespace, &claim.key()));
    }
    if ignored_groups(cluster, claim, consumers).is_some() {
        let users = entries().filter_map(|entry| consumers_of_entry(cluster, claim, entry).ok());
        let users: Vec<&Arc<Pod>> = users.flatten().collect();
        let freed = if users.is_empty() {
            release(claim)
        } else {
            release_whatever_version(claim)
        };
        return end_pods(cluster, namespace, users).and(Remedy::command(freed));
    }
    let pods = entries().filter_map(|entry| pod_of_entry(cluster, claim, entry));
    let pods = pods.filter(|pod| !pod.is_terminal());
    let groups = entries()
        .filter(|entry| entry.is_pod_group())
        .map(|entry| &entry.name);
    let ended = end_pods(cluster, namespace, pods).and(end_groups(cluster, namespace, groups));
    if ended.command.is_none() && !ended.is_by_hand {
        // Entries of what has finished or is gone: the claim controller removes them at its next sync of the claim.
        return Remedy::command(script::touch(Kind::ResourceClaim, &claim.key()));
    }
    ended
}

/// An object whose spec cannot be changed, with a JSON patch that changes it into the new one.
#[derive(Clone, Debug)]
pub struct Remake {
    /// Its kind.
    pub kind: Kind,
    /// Its name.
    pub key: Key,
    /// What changes; nothing where the same object is recreated.
    pub operations: Vec<Value>,
}

impl Remake {
    /// How messages call the object.
    pub fn object(&self) -> String {
        words::object(self.kind, &self.key)
    }

    fn command(self) -> Remedy {
        Remedy::command(script::remake(self.kind, &self.key, self.operations))
    }
}

/// What has to be recreated for the claim to have other requests, or else what to do.
///
/// Its own spec is immutable, and so is that of a template: the one that people created is recreated, and the claim controller creates the
/// claim from it again.
pub(super) fn asking(cluster: &Cluster, claim: &Claim, after: &ClaimSpec) -> Result<Remake, String> {
    let key = claim.key();
    let origin = Origin::of(cluster, claim);
    if claim.status.allocation.is_some() {
        return Err(words::keeps_devices(&key, &origin.object(&key)));
    }
    match origin {
        Origin::Made if claim.metadata.is_only_written() => {
            Err(words::only_written(&words::object(Kind::ResourceClaim, &key)))
        }
        Origin::Made => match change_of_claim("/spec", &claim.spec, after) {
            Some(operations) if !operations.is_empty() => Ok(Remake {
                kind: Kind::ResourceClaim,
                key,
                operations,
            }),
            _ => Err(words::recreate_it(&words::object(Kind::ResourceClaim, &key))),
        },
        Origin::Template(template) => {
            let from = template.metadata.key();
            let before = &template.spec.spec;
            let is_current =
                change_of_claim("", before, &claim.spec).is_some_and(|operations| operations.is_empty());
            let shared = claim.metadata.controller().is_some_and(|owner| {
                let pod = cluster.pod(&claim.metadata.beside(&owner.name));
                pod.is_some_and(|pod| {
                    let entries = pod.spec.resource_claims.iter();
                    let same = entries
                        .filter(|entry| entry.resource_claim_template_name.as_ref() == Some(&from.name));
                    same.count() > 1
                })
            });
            if !is_current {
                return Err(words::template_has_changed(&from, &key));
            }
            if shared {
                return Err(words::template_is_shared(&from, &key));
            }
            asking_in(template, after)
        }
        Origin::NoTemplate(template) => Err(words::no_template(template.as_ref(), &key)),
        Origin::Owner(owner) => Err(words::change_owner(
            &words::controller(&claim.metadata, owner),
            &words::object(Kind::ResourceClaim, &key),
        )),
    }
}

fn asking_in(template: &ClaimTemplate, after: &ClaimSpec) -> Result<Remake, String> {
    let key = template.metadata.key();
    let object = words::object(Kind::ResourceClaimTemplate, &key);
    if let Some(owner) = template.metadata.controller() {
        let owner = words::controller(&template.metadata, owner);
        return Err(words::change_owner(&owner, &object));
    }
    if template.metadata.is_only_written() {
        return Err(words::only_written(&object));
    }
    match change_of_claim("/spec/spec", &template.spec.spec, after) {
        Some(operations) if !operations.is_empty() => Ok(Remake {
            kind: Kind::ResourceClaimTemplate,
            key,
            operations,
        }),
        _ => Err(words::recreate_it(&object)),
    }
}

/// The command for [`asking`], and the pod that has to be recreated after it, since the claim was generated for it.
///
/// Its deletion alone may not help: for the claim controller, which looks into a cache of what it created first, a claim exists until an
/// hour after its creation (`resourceclaim/controller.go`, `claimExists`, up to v1.36 `findPodResourceClaim`, v1.37.2).
pub(super) fn ask_for<'c>(
    cluster: &'c Cluster,
    claim: &Claim,
    after: &ClaimSpec,
) -> (Remedy, Option<&'c Arc<Pod>>) {
    let again = match asking(cluster, claim, after) {
        Ok(again) => again,
        Err(who) => return (Remedy::by_hand(who), None),
    };
    let key = claim.key();
    if again.kind == Kind::ResourceClaim {
        return (again.command().note(words::claim_is_recreated(&key)), None);
    }
    let again = again_for_all(again);
    if claim.metadata.is_made_up() {
        return (again, None);
    }
    let owner = claim.metadata.controller();
    if let Some(pod) = owner.and_then(|owner| cluster.pod(&claim.metadata.beside(&owner.name)))
        && owner.is_some_and(|owner| owner.uid == pod.metadata.uid)
    {
        return (again, Some(pod));
    }
    let delete = script::delete_in(&key.namespace, Kind::ResourceClaim, [&key.name]);
    (again.and(Remedy::command(delete)), None)
}

/// Recreates a pod: its owner does, or else it is deleted and created as it was.
pub(super) fn renew(cluster: &Cluster, pod: &Arc<Pod>) -> Remedy {
    match pod.metadata.controller() {
        Some(_) => replace_pods(cluster, &pod.metadata.namespace, [pod]),
        None => Remedy::command(script::recreate_pod(&pod.key())),
    }
}

/// What claims that are created from the template later would request.
pub(super) fn ask_for_in(template: &ClaimTemplate, after: &ClaimSpec) -> Remedy {
    match asking_in(template, after) {
        Ok(again) => again_for_all(again),
        Err(who) => Remedy::by_hand(who),
    }
}

fn again_for_all(template: Remake) -> Remedy {
    let key = template.key.clone();
    template.command().note(words::template_is_recreated(&key))
}
