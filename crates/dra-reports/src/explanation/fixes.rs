//! What would help: sets of changes that the search has found, and what nothing can prove.

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::json;

use super::absence::{absent_driver, only_driver};
use super::coming::coming_node;
use super::diagnosis::{Answer, Beside, Cause, Diagnosis, NodeDiagnosis, NodeGroup, Unserved};
use super::fact::{Brief, Evidence, Fact};
use super::helped::{Helped, Risks, restoring};
use super::items::{ClusterVerdict, DeviceCount, FixItem};
use super::user::is_unused;
use super::words::fixes as words;
use super::{gets, waiting};
use crate::remedy::{Remedy, top_owner};
use crate::script;
use crate::stage::recreate_superseded;
use crate::words::controller;
use dra_allocator::devices::{RuledOut, Taints};
use dra_allocator::{ConstraintName, Together};
use dra_model::{
    Claim, Cluster, DeviceId, DeviceRequest, Key, Kind, Node, NodeSelector, Owner, Pod, PodGroup, PoolId,
    Quantity, Str, Taint, Time, lookup,
};
use dra_rules::eviction::lacks_effect;
use dra_rules::kubelet::{
    BrokenLink, Denial, KeptOff, Stages, beside_driver, binding_timeouts, down_controllers,
    is_being_published, offered_by_plugin, scaled_down,
};
use dra_rules::owners::{OwnerName, Rollout, superseding};
use dra_rules::quota::{Quotas, Refusal, is_of_limits, lacks_use, refusing};
use dra_rules::reservation::{self, Origin, claim_names, former_pods, manager};
use dra_rules::scheduling::{
    BINDING_TIMEOUT, ClaimProblem, Fix, Fixes, Found, HOSTNAME, Kept, Obstacle, Plain, Readiness, ShortGang,
    victims,
};
use dra_rules::validation::Webhook;

impl Diagnosis {
    /// What `pod` needs that was recreated in `cluster`, so that it fits there; `made` is what it is there. Nothing further where
    /// `fits` has nodes.
    pub(super) fn add_recreation(
        &mut self,
        cluster: &Cluster,
        made: &Arc<Pod>,
        fits: Vec<Str>,
        fixes: &Fixes,
        now: Time,
    ) {
        let helped = Helped {
            cluster,
            pod: Some(made),
            is_recreated: true,
            enough: BTreeSet::new(),
            is_new: made.metadata.is_of_manifest(),
            now,
        };
        if !fits.is_empty() {
            let found = Found {
                changes: Vec::new(),
                smallest: true,
                nodes: fits,
                granted: Vec::new(),
            };
            self.fixes.push(helped.item(&found));
            return;
        }
        self.fixes
            .extend(fixes.found.iter().map(|found| helped.item(found)));
    }

    /// Has devices repaired that taints report to be unhealthy, where the pod would fit on their node with them.
    pub(super) fn repair_devices(&mut self, cluster: &Cluster) {
        let known = LazyCell::new(|| Taints::of(cluster));
        let suffices = |count: &DeviceCount| {
            let wanted = count.wanted.unwrap_or(count.matching);
            count.tainted > 0 && count.usable + count.tainted >= wanted || !count.is_short()
        };
        let broken = |node: &NodeDiagnosis| {
            let tainted = node.reasons.iter().filter_map(|reason| match &reason.fact {
                Fact::RuledOut(RuledOut::Tainted, Evidence::Taints(taints)) => {
                    let device = reason.device.as_ref()?;
                    let mut all = known.of_device(device);
                    let found = all.find(|found| taints.contains(found.taint) && found.says_unhealthy())?;
                    Some((device.clone(), found.taint.clone()))
                }
                _ => None,
            });
            let (mut devices, taints): (Vec<DeviceId>, Vec<Taint>) = tainted.unzip();
            devices.dedup();
            let taint = taints.first().filter(|_| node.devices.iter().all(suffices))?;
            FixItem::repair_devices(&devices, taint)
        };
        let fix = self.nodes.iter().find_map(broken);
        self.fixes.splice(0..0, fix);
    }

    /// What the driver of a device has to say before the pod is bound. Nothing can be simulated there.
    pub(super) fn add_binding(&mut self, cluster: &Cluster, claim: &Claim, state: &Readiness) {
        let Readiness::Pending { condition, device } = state else {
            return;
        };
        // What the stage of the pod advises comes first.
        if Denial::of_claim(cluster, claim).is_some() {
            return;
        }
        let allocation = claim.status.allocation.as_ref();
        let allocated = allocation.and_then(|allocation| allocation.allocation_timestamp);
        let until = allocated.map(|at| at.after(BINDING_TIMEOUT));
        let timeouts = binding_timeouts(cluster, claim);
        let mut results = claim.results().iter();
        let driver = results.find(|result| result.device == *device);
        let driver = driver.map_or("", |result| result.driver.as_str());
        // Who has set a condition in time is not missing.
        let scaled_down = scaled_down(cluster, driver).filter(|_| timeouts > 0).take(1);
        let scale_up = scaled_down.map(|owner| FixItem::scale_up(&owner.key, condition));
        self.fixes.extend(scale_up);
        let down = down_controllers(cluster, driver);
        let fix = FixItem::await_binding(condition, device, &claim.key(), until, timeouts, down);
        self.fixes.push(fix);
    }

    /// Why admission refuses `claim` of `pod`, if it is one's, and what every quota would have to allow for `wanted`. Whether that would help is not simulated.
    pub(super) fn add_refusal<'s>(
        &mut self,
        cluster: &Cluster,
        (claim, pod): (&str, Option<&Pod>),
        refusal: &Refusal<'_>,
        quotas: &Quotas<'_>,
        wanted: impl IntoIterator<Item = &'s dra_model::ClaimSpec>,
    ) {
        let fact = Fact::Quota(claim.to_owned(), refusal.to_string());
        self.reasons.push(fact.clone().into());
        if self.verdict() == ClusterVerdict::Waits && self.cause.is_none() {
            self.cause = Some(fact.into());
        }
        if self.verdict() == ClusterVerdict::Fits {
            let was = Box::new(self.answer.clone());
            self.conclude(Answer::KeptByQuota(claim.to_owned(), was));
        }
        let quota = &refusal.quota.metadata;
        let frees = |claim: &Arc<Claim>| {
            claim.metadata.namespace == quota.namespace && quotas.ends_without(refusal, &claim.spec)
        };
        let has_counted = |other: &Pod| {
            let mut claims = claim_names(other).filter_map(|name| name.find(cluster));
            claims.any(frees)
        };
        let owner = pod.and_then(|pod| {
            let is_beside = |other: &Arc<Pod>| other.metadata.is_sibling(&pod.metadata) && has_counted(other);
            top_owner(cluster, pod).filter(|_| cluster.pods().any(is_beside))
        });
        let owner = owner.map(|owner| (manager(&owner), owner.kind == "Job"));
        let owner = owner.as_ref().map(|(owner, ends)| (owner.as_str(), *ends));
        let remedy = Remedy::raising(quotas, &quota.namespace, wanted);
        let claims = cluster.claims_in(&quota.namespace);
        let unused: Vec<&Arc<Claim>> = claims.filter(|claim| is_unused(cluster, claim)).collect();
        self.fixes.extend(
            unused
                .iter()
                .find(|claim| frees(claim))
                .map(|claim| FixItem::delete_unused(&claim.key())),
        );
        let raise = FixItem::raise_quota_of_claims(refusal, owner, remedy);
        self.fixes.push(raise);
        self.notes
            .extend(words::unused_claims(unused.into_iter().map(|claim| claim.key())));
    }

    /// Has a pod created from the newer pod template of its owner, where it has one, before anything else is changed for it.
    pub(super) fn supersede(&mut self, cluster: &Cluster, pod: &Pod) {
        let Some(owner) = superseding(cluster, pod).filter(|_| self.cause.is_some()) else {
            return;
        };
        let fix = match owner.kind.as_str() {
            "Deployment" => FixItem::resume(&owner.key),
            _ => FixItem::of_advice(recreate_superseded(pod)),
        };
        self.add_beside(Beside::Superseded(owner.into()));
        self.fixes.insert(0, fix);
    }

    /// The same of a pod that waits for a claim or template which is not there, and which the newer pod template does not name any more.
    pub(super) fn supersede_missing(&mut self, cluster: &Cluster, pod: &Pod) {
        let ((Some(Cause::Alike(Brief::Fact(Fact::NoTemplate(missing, _)))), _)
        | (None, Answer::Obstacle(Obstacle::Claim(ClaimProblem::Missing { claim: missing })))) =
            (&self.cause, &self.answer)
        else {
            return;
        };
        let mut entries = pod.spec.resource_claims.iter();
        let is_named = entries.any(|entry| {
            let names = [&entry.resource_claim_name, &entry.resource_claim_template_name];
            names.contains(&&Some(missing.name.clone()))
        });
        let lacks = |owner: &Owner| !owner.claims.contains(&missing.name);
        if is_named && superseding(cluster, pod).is_some_and(lacks) {
            let fact = self.reasons.first().map(|reason| reason.fact.clone().into());
            self.cause = self.cause.take().or(fact);
            self.fixes.clear();
            self.supersede(cluster, pod);
        }
    }

    /// What a pool lacks whose slices are not all there, as far as it is known, and who publishes them.
    pub(super) fn add_incomplete(&mut self, cluster: &Cluster, id: &PoolId, now: Time) {
        let pool = cluster.pool(id);
        let pool = pool.filter(|pool| !pool.is_complete());
        let text = pool.as_ref().map(|pool| words::incomplete(pool, pool.newest()));
        self.notes.extend(text);
        self.fixes
            .push(if pool.is_some_and(|pool| is_being_published(&pool, now)) {
                FixItem::await_pool(id)
            } else {
                FixItem::complete_pool(id)
            });
    }

    /// What would help. Where pods have to end for each of the changes, one more node may do instead: `new_node` returns one that is like it.
    pub(super) fn add_fixes(
        &mut self,
        helped: &Helped<'_>,
        fixes: &Fixes,
        new_node: impl FnOnce(&[Str]) -> Option<Str>,
    ) {
        let Helped { cluster, pod, .. } = *helped;
        let risks = Risks::of(cluster, fixes);
        let mut items = Vec::new();
        // No running pod has to end for one that gets a node of its own.
        let is_coming = pod.is_some_and(|pod| coming_node(cluster, pod, helped.now).is_some());
        let mut ends_all = !is_coming;
        // The pod does not keep what it gets.
        let is_futile = matches!(&self.cause, Some(cause) if cause.is_evicted_again());
        for found in &fixes.found {
            let ended = helped.ended(found);
            let releases = || found.changes.iter().any(|fix| matches!(fix, Fix::Release { .. }));
            if is_coming && !ended.is_empty() || is_futile && releases() {
                continue;
            }
            ends_all &= !ended.is_empty();
            self.ended.extend(ended);
            let mut item = helped.item(found);
            item.gets = gets::of(cluster, found);
            item.risky = risks.is_risky(found);
            // What it requests itself does not matter to others.
            let makes_room = |fix: &Fix| fix.edits_claim().is_none() && !fix.edits_pod();
            if found.changes.iter().any(makes_room) {
                item.ahead = self.ahead.len();
            }
            let awaited = helped.awaited(found);
            if let Some(claims) = &awaited {
                waiting::add_deallocation(self, claims, &found.nodes);
            }
            let rank = (item.risky, gets::is_of_later(cluster, found), awaited.is_none());
            let is_easy = item.kind == "Uncordon" || helped.ends_anyway(found);
            items.push((rank, helped.ended_owner(found), item, is_easy));
        }
        items.sort_by_key(|(rank, ..)| *rank);
        let mut owners = BTreeSet::new();
        // Which of the pods of an owner ends makes no difference to the advice.
        items.retain(|(_, owner, ..)| owner.as_ref().is_none_or(|owner| owners.insert(owner.clone())));
        let first = self.fixes.len();
        let is_easy = items.first().is_some_and(|(.., is_easy)| *is_easy);
        self.fixes.extend(items.into_iter().map(|(_, _, item, _)| item));
        // What nodes have that a driver may publish something for cannot be tested.
        let untested = self.fixes.iter().position(|fix| fix.kind == "RestoreDriver");
        if let Some(place) = untested.filter(|place| is_easy && *place < first) {
            self.fixes[place..=first].rotate_right(1);
        }
        // A rollout makes the room itself.
        let of_rollout = self.fixes.iter().any(|fix| fix.kind == "ChangeStrategy");
        let waiting = self.waiting.as_ref().filter(|_| ends_all && !of_rollout);
        let nodes = waiting.map(|waiting| &waiting.nodes);
        let new_node = nodes.and_then(|nodes| new_node(nodes));
        if let Some(model) = new_node {
            let is_first = fixes.found.first().is_some_and(|found| helped.loses_work(found));
            let place = if is_first { first } else { self.fixes.len() };
            let ahead = self.ahead.len();
            let fix = FixItem {
                ahead,
                ..FixItem::add_node_like(&model)
            };
            self.fixes.insert(place, fix);
        }
        if !fixes.found.is_empty() {
            if !fixes.complete {
                self.notes.push(words::MORE_FIXES.to_owned());
            }
        } else if !self.fixes.iter().any(|fix| fix.proven)
            // What kube-scheduler is ending for the pod already makes room for it.
            && pod.is_none_or(|pod| victims(cluster, pod).is_empty())
        {
            self.notes.push(words::NO_FIX.to_owned());
        }
    }

    /// Names the constraint that keeps requests from being served together, where the search did not find it out, and a fix shows that they are
    /// served without it.
    pub(super) fn prove_limit(&mut self, cluster: &Cluster, fixes: &Fixes) {
        let Some(Cause::Alike(Brief::Fact(limit)) | Cause::OnNode(_, limit)) = &self.cause else {
            return;
        };
        if !matches!(limit, Fact::Together(Together::Unknown)) {
            return;
        }
        let dropped = |found: &Found| match found.changes.as_slice() {
            [
                Fix::DropConstraint {
                    claim,
                    place,
                    attribute,
                    instead: None,
                },
            ] => {
                let constraints = &cluster.claim(claim)?.spec.devices.constraints;
                let name = ConstraintName {
                    claim: claim.clone(),
                    place: *place,
                    attribute: attribute.clone(),
                    same: constraints.get(*place)?.match_attribute.is_some(),
                };
                Some((name, found.nodes.clone()))
            }
            _ => None,
        };
        let Some((name, nodes)) = fixes.found.iter().find_map(dropped) else {
            return;
        };
        let known = Fact::Together(Together::Constraints(vec![name], None));
        for node in self.nodes.iter_mut().filter(|node| nodes.contains(&node.node)) {
            for reason in &mut node.reasons {
                if matches!(reason.fact, Fact::Together(Together::Unknown)) {
                    reason.fact = known.clone();
                }
            }
        }
        self.node_groups = NodeGroup::of(&self.nodes);
        self.cause = match nodes.first() {
            Some(node) if self.nodes.len() > 1 => Some(Cause::OnNode(node.clone(), known)),
            _ => Some(known.into()),
        };
    }
}

impl FixItem {
    /// Has the quota raised that refuses pods of `owner`, the webhook answer that cannot be called, or the pods corrected, as these words of a
    /// refusal tell.
    pub(super) fn of_refusal(cluster: &Cluster, owner: &Owner, said: &str) -> Self {
        if let Some(webhook) = Webhook::uncallable(said) {
            return Self::restore_webhook(&webhook);
        }
        match refusing(said) {
            Some(quota) => {
                let quota = Key::new(owner.key.namespace.clone(), quota);
                Self::raise_quota(&quota, lacks_use(said))
            }
            None => {
                let owners = &cluster.environment().owners;
                let limits = owners.of_kind("", "LimitRange", &owner.key.namespace);
                let mut limits = limits.filter(|_| is_of_limits(said)).map(|limits| &limits.key);
                let first = limits.next();
                Self::correct_pods(owner, first.filter(|_| limits.next().is_none()))
            }
        }
    }

    /// Keeps a DaemonSet off nodes that are not meant to have devices, where `pod` is one of its pods, and the node of the pod is such a node.
    pub(super) fn of_daemon(unserved: &Unserved, pod: Option<&Arc<Pod>>) -> Option<Self> {
        let metadata = &pod?.metadata;
        let owner = metadata.controller().filter(|owner| owner.kind == "DaemonSet")?;
        let BrokenLink::NoPod(_, Some(KeptOff::Labels(labels))) = &unserved.link else {
            return None;
        };
        Some(Self::keep_off(
            &metadata.beside(&owner.name),
            &unserved.nodes,
            labels,
        ))
    }

    /// Labels nodes of a type that the driver serves elsewhere, where its DaemonSet asks for labels that they lack.
    pub(super) fn of_missing_labels(cluster: &Cluster, unserved: &Unserved, now: Time) -> Option<Self> {
        let BrokenLink::NoPod(set, Some(KeptOff::Labels(labels))) = &unserved.link else {
            return None;
        };
        let stages = Stages::of(cluster, now);
        let lacks_all = |node: &Node| labels.iter().all(|(key, _)| node.metadata.label(key).is_none());
        let is_meant = |name: &&Str| {
            cluster.node(name).is_some_and(|node| {
                stages.is_like_served(&unserved.driver, node)
                    && offered_by_plugin(node, &unserved.driver).next().is_none()
                    && lacks_all(node)
            })
        };
        let nodes: Vec<&Str> = unserved.nodes.iter().filter(is_meant).collect();
        (!nodes.is_empty()).then(|| Self::label_nodes(&unserved.driver, set, &nodes, labels))
    }

    /// Has a driver publish for nodes that exist, and not for `named`.
    pub(super) fn of_named(cluster: &Cluster, driver: &Str, named: &Str) -> Self {
        let is_long = |long: &str, short: &str| {
            let rest = long.strip_prefix(short);
            rest.is_some_and(|rest| rest.starts_with('.'))
        };
        let mut names = cluster.nodes().map(|node| &node.metadata.name);
        let meant = names.find(|name| is_long(name, named) || is_long(named, name));
        Self::serve_other(driver, named, meant)
    }

    /// Has the only driver that a class names publish devices of the class: it publishes none.
    pub(super) fn of_class(cluster: &Cluster, class: &Str) -> Option<Self> {
        let driver = only_driver(cluster, class)?;
        let is_absent = absent_driver(cluster, class).is_some();
        Some(Self::serve_class(&driver, class, is_absent))
    }

    /// Has the claim controller remove what pods that are gone have left in the claim, where it is something.
    pub(super) fn of_former(cluster: &Cluster, claim: &Claim) -> Option<Self> {
        let names = former_pods(cluster, claim);
        (!names.is_empty()).then(|| Self::remove_former(&claim.key(), names))
    }

    /// Has a node get the labels back that the allocation of a claim selects: of a node where a pod runs with it, if that is one.
    pub(super) fn of_labels(cluster: &Cluster, claim: &Key, selector: &NodeSelector) -> Self {
        let found = cluster.claim(claim);
        let users = found.and_then(|claim| reservation::users(cluster, claim).ok());
        let users = users.unwrap_or_default();
        let nodes: BTreeSet<&Str> = users.iter().filter_map(|pod| pod.node()).collect();
        let only = nodes.first().filter(|_| nodes.len() == 1);
        Self::restore_labels_of(claim, only.copied(), selector)
    }

    /// Has a node get the labels back that the node selector of a pod requires, where it lacks some.
    pub(super) fn of_selector(pod: &Pod, node: &Node) -> Option<Self> {
        let selector = pod.spec.node_selector.iter();
        let lacking = selector.filter(|(key, value)| node.metadata.label(key) != Some(value));
        let lacking: Vec<String> = lacking.map(|(key, value)| format!("{key}={value}")).collect();
        (!lacking.is_empty()).then(|| Self::restore_labels(&node.metadata.name, &lacking))
    }

    /// Makes a node ready whose devices are not published, and whose taint keeps the pods of a DaemonSet off that would publish them.
    pub(super) fn of_unfit(cluster: &Cluster, node: &Str, kept_off: Option<&Key>) -> Self {
        Self::restore_node(node, restoring(cluster, node), kept_off)
    }

    /// Has the toleration of the pod changed that lets it have devices which this taint evicts it from: it lacks its effect, in the claim or template,
    /// or ends.
    pub(super) fn of_toleration(cluster: &Cluster, pod: &Pod, taint: &Taint) -> Self {
        let lasts = |spec: &DeviceRequest| {
            let mut tolerations = spec.tolerations.iter();
            tolerations.all(|toleration| toleration.toleration_seconds.is_none())
        };
        let mut claims = claim_names(pod).filter_map(|name| name.find(cluster));
        let claim = claims.find(|claim| {
            let mut specs = claim.spec.asked();
            specs.any(|spec| lacks_effect(taint, &spec.tolerations) && lasts(spec))
        });
        let Some(claim) = claim else {
            return Self::drop_toleration(pod);
        };
        let object = Origin::of(cluster, claim).object(&claim.key());
        Self::set_effect(&pod.key(), &taint.key, &object)
    }

    /// Has a node get huge pages, where it has none and others have enough.
    pub(super) fn of_huge_pages(cluster: &Cluster, node: &Str, why: &Plain) -> Option<Self> {
        let Plain::NodeResourcesFit(lacks) = why else {
            return None;
        };
        let [lack] = lacks.as_slice() else { return None };
        let has_enough = |node: &Arc<Node>| {
            let there = lookup(&node.status.allocatable, &lack.resource);
            there.is_some_and(|there| *there >= lack.wanted)
        };
        let is_missing = lack.resource.starts_with("hugepages-") && lack.total == Quantity::default();
        (is_missing && cluster.nodes().any(has_enough))
            .then(|| Self::set_up_huge_pages(node, &lack.resource, &lack.wanted))
    }

    /// Has the owner of the pod create as many pods as its gang needs, where it never does.
    pub(super) fn of_gang(cluster: &Cluster, pod: &Pod, gang: &ShortGang<'_>) -> Option<Self> {
        let reference = pod.metadata.controller()?;
        let owner = cluster
            .environment()
            .owners
            .find(reference, &pod.metadata.namespace)?;
        let creates = owner.at_once.or(owner.replicas)?;
        let made_by = gang.group.metadata.controller();
        // What created the group may create more than this owner.
        let is_alone = made_by.is_none_or(|made_by| made_by.uid == owner.uid);
        let needed = i64::try_from(gang.min_count).ok()?;
        (is_alone && creates < needed).then(|| {
            let owner = OwnerName::from(owner).to_string();
            Self::complete_gang(&gang.group.metadata.key(), creates, &owner, needed)
        })
    }

    /// Lets the members of a group be in several domains of a topology, where it has one.
    pub(super) fn of_topology(group: &PodGroup) -> Option<Self> {
        let topology = &group.spec.scheduling_constraints.as_ref()?.topology;
        let keys: Vec<&Str> = topology.iter().map(|constraint| &constraint.key).collect();
        (!keys.is_empty()).then(|| Self::spread(&group.metadata.key(), &keys))
    }

    /// Returns whether the node has to be set up anew, which is not tested.
    pub(super) fn sets_up_node(&self) -> bool {
        self.kind == "RestoreNode" && !self.proven
    }

    /// Ends `other`, so that `pod` fits on `node`: its owner creates another one, which fits elsewhere, or it is created anew for that node.
    pub(super) fn make_room(
        cluster: &Cluster,
        pod: &Pod,
        other: &Pod,
        node: Str,
        elsewhere: &Str,
    ) -> Option<Self> {
        let key = other.key();
        let is_elsewhere = key.namespace != pod.metadata.namespace;
        let (message, end) = if other.metadata.controller().is_some() {
            let owner = controller(&other.metadata, &top_owner(cluster, other)?);
            let end = Remedy::command(script::delete_in(&key.namespace, Kind::Pod, [&key.name]));
            (words::make_room(&key, &owner), end)
        } else {
            let elsewhere_node = cluster.node(elsewhere)?;
            let hostname = elsewhere_node.metadata.label(HOSTNAME)?;
            // What is free there may be in use by pods that a device plugin gave it.
            let claims = claim_names(other).filter_map(|name| name.find(cluster));
            let mut results = claims.flat_map(|claim| claim.results());
            if results.any(|result| {
                beside_driver(cluster, elsewhere_node, &result.driver)
                    .next()
                    .is_some()
            }) {
                return None;
            }
            let add = if other.spec.node_selector.is_empty() {
                json!({"op": "add", "path": "/spec/nodeSelector", "value": {HOSTNAME: hostname}})
            } else {
                json!({"op": "add", "path": "/spec/nodeSelector/kubernetes.io~1hostname", "value": hostname})
            };
            let operations = vec![json!({"op": "remove", "path": "/spec/nodeName"}), add];
            let remake = Remedy::command(script::remake(Kind::Pod, &key, operations));
            (words::move_pod(&key, elsewhere), remake.note(words::RESTARTS))
        };
        let remedy = if is_elsewhere {
            end.note(words::of_others(true, None, pod.priority()))
        } else {
            end
        };
        Some(Self {
            proven: true,
            minimal: true,
            nodes: vec![node],
            ..Self::unproven("RecreatePod", format!("pod/{key}"), message, remedy)
        })
    }

    /// Has the Deployment above a pod end old pods before it makes new ones, after which the pod fits on `nodes`. What a Deployment does is
    /// known: it ends one old pod then where that is enough, else all of them.
    pub(super) fn of_strategy(cluster: &Cluster, pod: &Pod, why: Kept, nodes: &[Str]) -> Option<Self> {
        let (deployment, rollout) = Rollout::of(cluster, pod)?;
        let key = &deployment.key;
        if rollout == Rollout::Paused {
            return Some(Self::resume(key));
        }
        let one_by_one = matches!(why, Kept::Rollout { one_by_one: true, .. });
        let (message, note) = words::strategy(key, one_by_one);
        let mut remedy = Remedy::command(script::end_before(key, one_by_one)).note(note);
        if !deployment.references.is_empty() {
            remedy = remedy.note(words::MANAGED);
        }
        Some(Self {
            proven: true,
            minimal: true,
            nodes: nodes.to_vec(),
            ..Self::unproven("ChangeStrategy", format!("deployment/{key}"), message, remedy)
        })
    }
}
