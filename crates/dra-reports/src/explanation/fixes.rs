//! What would help: sets of changes that the search has found, and what nothing can prove.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::absence::{absent_driver, only_driver};
use super::coming::NoNode;
use super::diagnosis::{Answer, Beside, Cause, Diagnosis, NodeDiagnosis, NodeGroup, Unserved};
use super::fact::{Brief, Evidence, Fact};
use super::helped::{Helped, Risks, restoring};
use super::items::{ClusterVerdict, DeviceCount, FixItem};
use super::user::is_unused;
use super::words::fixes::{self as words, Before};
use super::{gets, waiting};
use crate::listing::selector_terms;
use crate::remedy::{Remedy, top_owner};
use crate::script::{self, Command, NoCommand, Resource, Script, delete_in, describe_pool};
use crate::stage::{Subject, cause_text, logs_of, look_at_link, mend_link, recreate_superseded};
use crate::words::{republish, restore_webhook};
use dra_allocator::devices::{RuledOut, says_unhealthy};
use dra_allocator::{ConstraintName, Together};
use dra_model::{
    Claim, Cluster, Component, DeviceId, Event, Gate, Key, Kind, Node, NodeSelector, Owner, Pod, PodGroup,
    PoolId, Quantity, Str, Strategy, Taint, Time, lookup,
};
use dra_rules::kubelet::{BrokenLink, KeptOff, PUBLISHING_SECONDS, PodStage, binding_timeouts};
use dra_rules::owners::{OwnerName, Rollout, superseding};
use dra_rules::quota::{Quotas, Refusal, lacks_use, refusing};
use dra_rules::reservation::{self, UnlistedDevices, claim_names, former_pods, manager};
use dra_rules::scheduling::{BINDING_TIMEOUT, Fix, Fixes, Found, Plain, Readiness, ShortGang, victims};
use dra_rules::validation::{ADMIN_ACCESS, Webhook};

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
    pub(super) fn repair_devices(&mut self) {
        let suffices = |count: &DeviceCount| {
            let wanted = count.wanted.unwrap_or(count.matching);
            count.tainted > 0 && count.usable + count.tainted >= wanted || !count.is_short()
        };
        let broken = |node: &NodeDiagnosis| {
            let tainted = node.reasons.iter().filter_map(|reason| match &reason.fact {
                Fact::RuledOut(RuledOut::Tainted, Evidence::Taints(taints)) => {
                    let taint = taints.iter().find(|taint| says_unhealthy(taint))?;
                    Some((reason.device.clone()?, taint.clone()))
                }
                _ => None,
            });
            let mut broken: Vec<(DeviceId, Taint)> = tainted.collect();
            broken.dedup_by(|(one, _), (other, _)| one == other);
            (!broken.is_empty() && node.devices.iter().all(suffices)).then_some(broken)
        };
        let fix = self.nodes.iter().find_map(broken).and_then(|broken| {
            let (first, taint) = broken.first()?;
            let devices: Vec<String> = broken.iter().map(|(device, _)| device.to_string()).collect();
            let message = words::repair_devices(&devices, taint);
            let how = Remedy::by_hand(words::REPAIR_DEVICES);
            let fix = FixItem::unproven("RepairDevice", format!("device/{first}"), message, how);
            Some(fix.look(script::describe_device(first)))
        });
        self.fixes.splice(0..0, fix);
    }

    /// What the driver of a device has to say before the pod is bound. Nothing can be simulated there.
    pub(super) fn add_binding(&mut self, cluster: &Cluster, claim: &Claim, state: &Readiness) {
        let Readiness::Pending { condition, device } = state else {
            return;
        };
        let allocation = claim.status.allocation.as_ref();
        let allocated = allocation.and_then(|allocation| allocation.allocation_timestamp);
        let until = allocated.map(|at| at.after(BINDING_TIMEOUT));
        let [target, message, who] = words::binding(
            condition,
            device,
            &claim.key(),
            until,
            binding_timeouts(cluster, claim),
        );
        let fix = FixItem::unproven("AwaitBinding", target, message, Remedy::by_hand(who));
        let look = Command::dra("describe")
            .here()
            .claim(&claim.metadata.namespace, &claim.metadata.name);
        self.fixes.push(fix.look(look.done()));
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
        let target = format!("resourcequota/{}", quota.key());
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
        let message = match owner {
            Some(owner) => words::raise_or_run_fewer(&target, &manager(&owner), owner.kind == "Job"),
            None => words::raise(&target, "claims"),
        };
        let remedy = Remedy::raising(quotas, &quota.namespace, wanted);
        let raise = FixItem::unproven("RaiseQuota", target, message, remedy);
        let claims = cluster
            .claims()
            .filter(|claim| claim.metadata.namespace == quota.namespace);
        let unused: Vec<&Arc<Claim>> = claims.filter(|claim| is_unused(cluster, claim)).collect();
        self.fixes.extend(
            unused
                .iter()
                .find(|claim| frees(claim))
                .map(|claim| FixItem::of_unused(&claim.key())),
        );
        self.fixes.push(raise.look(describe_quota(&quota.key())));
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

    /// What a pool lacks whose slices are not all there, as far as it is known, and who publishes them.
    pub(super) fn add_incomplete(&mut self, cluster: &Cluster, id: &PoolId, now: Time) {
        let pool = cluster.pool(id);
        let pool = pool.filter(|pool| !pool.is_complete());
        let text = pool.as_ref().map(|pool| words::incomplete(pool, pool.newest()));
        self.notes.extend(text);
        let newest = pool.and_then(|pool| pool.newest());
        if newest.is_some_and(|newest| now.since(newest).as_secs() < PUBLISHING_SECONDS) {
            self.fixes.push(FixItem::unproven(
                "AwaitNode",
                format!("pool/{id}"),
                words::await_pool(id),
                Remedy::default().note(words::AWAIT_POOL),
            ));
            return;
        }
        let driver = &id.driver;
        let fix = FixItem::unproven(
            "RestoreDriver",
            format!("driver/{driver}"),
            words::complete(id),
            Remedy::by_hand(republish(driver)),
        );
        self.fixes.push(fix.look(describe_pool(id)));
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
        let mut ends_all = true;
        for found in &fixes.found {
            let ended = helped.ended(found);
            ends_all &= !ended.is_empty();
            self.ended.extend(ended);
            let mut item = helped.item(found);
            item.gets = gets::of(cluster, found);
            item.risky = risks.is_risky(found);
            let awaited = helped.awaited(found);
            if let Some(claims) = &awaited {
                waiting::add_deallocation(self, claims, &found.nodes);
            }
            items.push((awaited.is_some(), helped.ended_owner(found), item));
        }
        items.sort_by_key(|(is_wait, _, item)| (item.risky, !is_wait));
        let mut owners = BTreeSet::new();
        // Which of the pods of an owner ends makes no difference to the advice.
        items.retain(|(_, owner, _)| owner.as_ref().is_none_or(|owner| owners.insert(owner.clone())));
        let first = self.fixes.len();
        self.fixes.extend(items.into_iter().map(|(_, _, item)| item));
        // A rollout makes the room itself.
        let of_rollout = self.fixes.iter().any(|fix| fix.kind == "ChangeStrategy");
        let waiting = self.waiting.as_ref().filter(|_| ends_all && !of_rollout);
        let nodes = waiting.map(|waiting| &waiting.nodes);
        let new_node = nodes.and_then(|nodes| new_node(nodes));
        if let Some(model) = new_node {
            let is_first = fixes.found.first().is_some_and(|found| helped.loses_work(found));
            let place = if is_first { first } else { self.fixes.len() };
            self.fixes.insert(place, FixItem::add_node_like(&model));
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

fn describe_quota(key: &Key) -> Result<Script, NoCommand> {
    let describe = Command::kubectl("describe").object(Kind::ResourceQuota, &key.name);
    describe.namespace(&key.namespace).done()
}

fn show_labels() -> Result<Script, NoCommand> {
    Command::kubectl("get").args(&["nodes", "--show-labels"]).done()
}

impl FixItem {
    /// Deletes a claim that no pod uses.
    fn of_unused(claim: &Key) -> Self {
        let delete = Remedy::command(delete_in(&claim.namespace, Kind::ResourceClaim, [&claim.name]));
        Self::unproven(
            "ReleaseClaim",
            format!("claim/{claim}"),
            words::release(claim, &Before::Idle),
            delete.note(words::IF_UNUSED),
        )
    }

    /// Has the quota raised that refuses pods of `owner`, the webhook answer that cannot be called, or the pods corrected, as these words of a
    /// refusal tell.
    pub(super) fn of_refusal(owner: &Owner, said: &str) -> Self {
        if let Some(webhook) = Webhook::uncallable(said) {
            return Self::restore_webhook(&webhook);
        }
        let Some(quota) = refusing(said) else {
            let target = format!("{}/{}", owner.kind.to_ascii_lowercase(), owner.key);
            let message = words::correct_pods(&target);
            return Self::correct(target, message);
        };
        let quota = Key::new(owner.key.namespace.clone(), quota);
        let target = format!("resourcequota/{quota}");
        let message = if lacks_use(said) {
            words::raise_or_request_less(&target)
        } else {
            words::raise(&target, "pods")
        };
        let fix = Self::unproven("RaiseQuota", target, message, Remedy::by_hand(words::RAISE_HOW));
        fix.look(describe_quota(&quota))
    }

    /// Has a driver publish its devices. Which it would publish cannot be known, so it cannot be proven to help.
    pub(super) fn of_driver(unserved: &Unserved) -> Self {
        let Unserved { driver, nodes, link } = unserved;
        let message = match link {
            BrokenLink::Unselected(set, kept_off) => words::add_nodes(set, kept_off),
            _ => words::publish(driver, nodes),
        };
        Self::unproven(
            "RestoreDriver",
            format!("driver/{driver}"),
            message,
            Remedy::by_hand(mend_link(driver, link)),
        )
        .look(look_at_link(link))
    }

    /// Has a driver correct the slices of a pool that contradict each other.
    pub(super) fn correct_pool(id: &PoolId) -> Self {
        let target = format!("driver/{}", id.driver);
        let remedy = Remedy::by_hand(words::CORRECT_POOL);
        Self::unproven("RestoreDriver", target, words::correct_pool(id), remedy).look(describe_pool(id))
    }

    /// Keeps a DaemonSet off nodes that are not meant to have devices, where `pod` is one of its pods, and the node of the pod is such a node.
    pub(super) fn keep_off(unserved: &Unserved, pod: Option<&Arc<Pod>>) -> Option<Self> {
        let pod = pod?;
        let owner = pod
            .metadata
            .controller()
            .filter(|owner| owner.kind == "DaemonSet")?;
        let BrokenLink::NoPod(_, Some(KeptOff::Labels(labels))) = &unserved.link else {
            return None;
        };
        let target = format!("daemonset/{}", pod.metadata.beside(&owner.name));
        let message = words::keep_off(&target, &unserved.nodes);
        let how = words::keep_off_how(labels);
        Some(Self::unproven(
            "RelaxPlacement",
            target,
            message,
            Remedy::by_hand(how),
        ))
    }

    /// Has a kubelet restarted that does not reach a driver any more, until it is a release without the bug.
    pub(super) fn restart_kubelet(node: &Str) -> Self {
        Self::unproven(
            "UpgradeKubelet",
            format!("node/{node}"),
            words::restart_kubelet(node),
            Remedy::by_hand(words::RESTART_KUBELET),
        )
    }

    /// Has a driver publish for nodes that exist, and not for `named`.
    pub(super) fn of_named(cluster: &Cluster, driver: &Str, named: &Str) -> Self {
        let is_long = |long: &str, short: &str| {
            let rest = long.strip_prefix(short);
            rest.is_some_and(|rest| rest.starts_with('.'))
        };
        let mut names = cluster.nodes().map(|node| &node.metadata.name);
        let meant = names.find(|name| is_long(name, named) || is_long(named, name));
        Self::unproven(
            "RestoreDriver",
            format!("driver/{driver}"),
            words::publish_elsewhere(driver, named, meant),
            Remedy::by_hand(words::NAME_NODES),
        )
    }

    /// Has what makes pods, or claims, changed as the API server's refusal of them says.
    pub(super) fn correct(maker: String, message: String) -> Self {
        Self::unproven("CorrectPods", maker, message, Remedy::by_hand(words::CORRECT))
    }

    /// Has the only driver that a class names publish devices of the class: it publishes none.
    pub(super) fn of_class(cluster: &Cluster, class: &Str) -> Option<Self> {
        let driver = only_driver(cluster, class)?;
        let is_absent = absent_driver(cluster, class).is_some();
        let (message, how) = if is_absent {
            (words::publish_any(&driver), words::INSTALL.to_owned())
        } else {
            (words::publish_class(&driver, class), words::set_up(class))
        };
        let target = format!("driver/{driver}");
        let fix = Self::unproven("RestoreDriver", target, message, Remedy::by_hand(how));
        let look = Command::dra("explain").here();
        Some(fix.look(look.object(Resource::called("driver"), &driver).done()))
    }

    /// Has the claim controller remove what pods that are gone have left in the claim, where it is something.
    pub(super) fn of_former(cluster: &Cluster, claim: &Claim) -> Option<Self> {
        let names = former_pods(cluster, claim);
        let key = claim.key();
        (!names.is_empty()).then(|| {
            Self::unproven(
                "ReleaseClaim",
                format!("claim/{key}"),
                words::release(&key, &Before::Former(names)),
                Remedy::command(script::touch(Kind::ResourceClaim, &key)),
            )
        })
    }

    /// Has a node get the labels back that the allocation of a claim selects: of a node where a pod runs with it, if that is one.
    pub(super) fn of_labels(cluster: &Cluster, claim: &Key, selector: &NodeSelector) -> Self {
        let found = cluster.claim(claim);
        let users = found.and_then(|claim| reservation::users(cluster, claim).ok());
        let users = users.unwrap_or_default();
        let nodes: BTreeSet<&Str> = users.iter().filter_map(|pod| pod.node()).collect();
        let only = nodes.first().filter(|_| nodes.len() == 1);
        let target = only.map_or_else(|| format!("claim/{claim}"), |node| format!("node/{node}"));
        let terms = selector_terms(selector).join(" or ");
        Self::unproven(
            "RestoreNode",
            target,
            words::restore_labels(only.copied(), claim, &terms),
            Remedy::by_hand(words::RESTORE_LABELS),
        )
        .look(show_labels())
    }

    /// Has a node get the labels back that the node selector of a pod requires, where it lacks some.
    pub(super) fn restore_labels(pod: &Pod, node: &Node) -> Option<Self> {
        let name = &node.metadata.name;
        let selector = pod.spec.node_selector.iter();
        let lacking = selector.filter(|(key, value)| node.metadata.label(key) != Some(value));
        let lacking: Vec<String> = lacking.map(|(key, value)| format!("{key}={value}")).collect();
        (!lacking.is_empty()).then(|| {
            Self::unproven(
                "RestoreNode",
                format!("node/{name}"),
                words::restore_labels(Some(name), &pod.key(), &lacking.join(", ")),
                Remedy::by_hand(words::RESTORE_LABELS).note(words::HAD_LABELS),
            )
            .look(show_labels())
        })
    }

    /// Has a node get huge pages, where it has none and others have enough.
    pub(super) fn set_up_huge_pages(cluster: &Cluster, node: &Str, why: &Fact) -> Option<Self> {
        let Fact::Plain(Plain::NodeResourcesFit(lacks)) = why else {
            return None;
        };
        let [lack] = lacks.as_slice() else { return None };
        let has_enough = |node: &Arc<Node>| {
            let there = lookup(&node.status.allocatable, &lack.resource);
            there.is_some_and(|there| *there >= lack.wanted)
        };
        let is_missing = lack.resource.starts_with("hugepages-") && lack.total == Quantity::default();
        (is_missing && cluster.nodes().any(has_enough)).then(|| {
            Self::unproven(
                "RestoreNode",
                format!("node/{node}"),
                words::set_up_huge_pages(node, &lack.resource, &lack.wanted),
                Remedy::by_hand(words::SET_UP_HUGE_PAGES),
            )
        })
    }

    /// Waits for the node that an autoscaler is adding for the pod.
    pub(super) fn await_scale_up(event: &Event) -> Self {
        Self::await_node("node".to_owned(), words::await_scale_up(event.component()))
    }

    /// Waits for nodes that were added just now, `first` among them.
    pub(super) fn await_nodes(first: &Str, nodes: &[Str]) -> Self {
        let look = Command::kubectl("describe").object(Kind::Node, first);
        Self::await_node(format!("node/{first}"), words::await_nodes(nodes)).look(look.done())
    }

    /// Makes a node ready whose devices are not published, and whose taint keeps the pods of a DaemonSet off that would publish them.
    pub(super) fn restore_node(cluster: &Cluster, node: &Str, kept_off: Option<&Key>) -> Self {
        let look = Command::kubectl("describe").object(Kind::Node, node);
        let how = restoring(cluster, node);
        Self::unproven(
            "RestoreNode",
            format!("node/{node}"),
            words::restore_node(node),
            kept_off.map_or(how.clone(), |set| how.note(words::may_wait_for(set))),
        )
        .look(look.done())
    }

    /// Waits for what drivers that were started just now publish for nodes.
    pub(super) fn await_drivers(nodes: &[Str]) -> Self {
        let target = nodes.first().map(|node| format!("node/{node}"));
        Self::unproven(
            "AwaitDriver",
            target.unwrap_or_default(),
            words::await_drivers(nodes),
            Remedy::default().note(words::AWAIT_DRIVER),
        )
    }

    /// Waits until an operator has updated a node.
    pub(super) fn await_update(node: &Str, key: &Str, state: &Str) -> Self {
        Self::unproven(
            "AwaitNode",
            format!("node/{node}"),
            words::await_update(node, key, state),
            Remedy::default().note(words::AWAIT_UPDATE),
        )
    }

    /// Has an operator finish the update of a node, with its pod that does not run.
    pub(super) fn finish_update(node: &Str, key: &Str, state: &Str, operator: Option<&PodStage<'_>>) -> Self {
        let pod = operator.map(|found| found.pod.key());
        let look = match &pod {
            Some(pod) => logs_of(pod),
            None => Command::kubectl("describe").object(Kind::Node, node).done(),
        };
        let why = operator.and_then(|found| {
            let stuck = found.stuck.as_ref()?;
            Some(cause_text(&stuck.cause, &Subject::of(found.pod)))
        });
        let how = Remedy::by_hand(words::FINISH_UPDATE);
        Self::unproven(
            "RestoreNode",
            format!("node/{node}"),
            words::finish_update(node, key, state, pod.as_ref()),
            why.into_iter().fold(how, Remedy::note),
        )
        .look(look)
    }

    /// Has a container of `pod` list what it needs of a claim.
    pub(super) fn list(pod: &Pod, unlisted: &UnlistedDevices) -> Self {
        Self::unproven(
            "RepairContainer",
            format!("pod/{}", pod.key()),
            words::list(unlisted),
            Remedy::by_hand(words::LIST_HOW),
        )
    }

    /// Has the pod not tolerate a taint for a time that is over.
    pub(super) fn drop_toleration(pod: &Pod) -> Self {
        Self::unproven(
            "DropToleration",
            format!("pod/{}", pod.key()),
            words::DROP_TOLERATION,
            Remedy::by_hand(words::DROP_TOLERATION_HOW),
        )
    }

    /// Has the owner of the pod create as many pods as its gang needs, where it never does.
    pub(super) fn complete(cluster: &Cluster, pod: &Pod, gang: &ShortGang<'_>) -> Option<Self> {
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
            let key = gang.group.metadata.key();
            Self::unproven(
                "CompleteGang",
                format!("podgroup/{key}"),
                words::complete_gang(&key, creates, &OwnerName::from(owner).to_string(), needed),
                Remedy::by_hand(words::COMPLETE_GANG_HOW),
            )
        })
    }

    /// Lets the members of a group be in several domains of a topology.
    pub(super) fn spread(group: &PodGroup) -> Option<Self> {
        let topology = &group.spec.scheduling_constraints.as_ref()?.topology;
        let keys: Vec<&Str> = topology.iter().map(|constraint| &constraint.key).collect();
        let key = group.metadata.key();
        (!keys.is_empty()).then(|| {
            Self::unproven(
                "RelaxPlacement",
                format!("podgroup/{key}"),
                words::spread(&key, &keys),
                Remedy::by_hand(words::SPREAD_HOW),
            )
        })
    }

    /// Enables a gate in components that lack it, of release 1.`minor`.
    pub(super) fn enable(gate: Gate, components: &[Component], minor: u32) -> Self {
        let (message, how) = words::enable(gate, components, gate.on_since(minor));
        let target = components.first().copied().map_or("", Into::into);
        Self::unproven("EnableGate", target, message, Remedy::by_hand(how))
    }

    /// Has a LeaderWorkerSet create workers before `leader` is ready.
    pub(super) fn start_workers(leader: &Pod, set: &Str) -> Self {
        let namespace = &leader.metadata.namespace;
        Self::unproven(
            "RepairContainer",
            format!("leaderworkerset/{namespace}/{set}"),
            words::start_workers(set),
            Remedy::by_hand(words::START_WORKERS),
        )
    }

    /// Adds a node like `model`, which a simulation shows to help.
    fn add_node_like(model: &Str) -> Self {
        let fix = Self::unproven(
            "AddNode",
            format!("node/{model}"),
            words::add_node_like(model),
            Remedy::by_hand(words::ADD_NODE_LIKE),
        );
        Self {
            proven: true,
            minimal: true,
            ..fix
        }
    }

    /// Adds a node, which an autoscaler does not do, with what it said of its last attempt.
    pub(super) fn add_node(event: &Event, why: NoNode, failure: Option<&Event>) -> Self {
        let pod = &event.involved_object;
        let (message, how) = words::add_node(event.component(), why, failure);
        Self::unproven(
            "AddNode",
            format!("pod/{}/{}", pod.namespace, pod.name),
            message,
            Remedy::by_hand(how),
        )
    }

    /// Waits for what drivers publish again for nodes whose kubelets have just started.
    pub(super) fn await_publishing(nodes: &[Str]) -> Option<Self> {
        let first = nodes.first()?;
        Some(Self::await_node(
            format!("node/{first}"),
            words::await_publishing(nodes),
        ))
    }

    fn await_node(target: String, message: String) -> Self {
        Self::unproven(
            "AwaitNode",
            target,
            message,
            Remedy::default().note(words::AWAIT_NODE),
        )
    }

    /// Waits for the end of a pod that kube-scheduler ends for this one, due at that time.
    pub(super) fn await_end(victim: &Key, due: Time) -> Self {
        Self::unproven(
            "WaitForDeletion",
            format!("pod/{victim}"),
            words::await_victim(victim, due),
            Remedy::default().note(words::AWAIT_VICTIM),
        )
    }

    /// Lets the users of a namespace ask for admin access.
    pub(super) fn allow_admin_access(cluster: &Cluster, namespace: &Str) -> Self {
        let known = cluster.namespace(namespace);
        // kubectl changes an existing label only with that option.
        let value = known.and_then(|known| known.metadata.label(ADMIN_ACCESS));
        let label = Command::kubectl("label")
            .object(Kind::Namespace, namespace)
            .args(if value.is_some() { &["--overwrite"] } else { &[] })
            .arg("resource.kubernetes.io/admin-access=true");
        Self::unproven(
            "AllowAdminAccess",
            format!("namespace/{namespace}"),
            words::allow_admin_access(namespace, value.map(Str::as_str)),
            Remedy::command(label.done()).note(words::ALLOW_ADMIN_ACCESS),
        )
    }

    /// Has a webhook answer that the API server has to ask.
    pub(super) fn restore_webhook(webhook: &Webhook) -> Self {
        let target = match &webhook.service {
            Some(service) => format!("service/{service}"),
            None => webhook.name.to_string(),
        };
        let message = restore_webhook(webhook);
        let fix = Self::unproven(
            "RestoreWebhook",
            target,
            message,
            Remedy::by_hand(words::RESTORE_WEBHOOK_HOW),
        );
        match &webhook.service {
            Some(service) => fix.look(
                Command::kubectl("describe")
                    .object(Resource::called("service"), &service.name)
                    .namespace(&service.namespace)
                    .done(),
            ),
            None => fix,
        }
    }

    /// Has kube-controller-manager run again.
    pub(super) fn restore_controllers() -> Self {
        let look = Command::kubectl("get").arg("pods").namespace("kube-system");
        Self::unproven(
            "RestoreController",
            Component::ControllerManager.to_string(),
            words::RESTORE_CONTROLLER.to_owned(),
            Remedy::by_hand(words::RESTORE_CONTROLLER_HOW),
        )
        .look(
            look.option("--selector", "component=kube-controller-manager")
                .done(),
        )
    }

    /// Resumes the rollout of a Deployment.
    fn resume(key: &Key) -> Self {
        let resume = Command::kubectl("rollout").arg("resume");
        let resume = resume.object(Resource::called("deployment"), &key.name);
        Self::unproven(
            "ChangeStrategy",
            format!("deployment/{key}"),
            words::resume(key),
            Remedy::command(resume.namespace(&key.namespace).done()).note(words::RESUMED),
        )
    }

    /// Has the Deployment above a pod end old pods before it makes new ones, after which the pod fits on `nodes`. What a Deployment does is
    /// known: it ends all old ones then.
    pub(super) fn of_strategy(cluster: &Cluster, pod: &Pod, nodes: &[Str]) -> Option<Self> {
        let (deployment, rollout) = Rollout::of(cluster, pod)?;
        let key = &deployment.key;
        if rollout == Rollout::Paused {
            return Some(Self::resume(key));
        }
        let command = script::recreate_strategy(key);
        let mut remedy = Remedy::command(command).note(words::STRATEGY);
        if !matches!(
            deployment.strategy,
            Some(Strategy::RollingUpdate { surge: 0, .. })
        ) {
            remedy = remedy.note(words::POD_BY_POD);
        }
        if !deployment.references.is_empty() {
            remedy = remedy.note(words::MANAGED);
        }
        Some(Self {
            proven: true,
            minimal: true,
            nodes: nodes.to_vec(),
            ..Self::unproven(
                "ChangeStrategy",
                format!("deployment/{key}"),
                words::strategy(key),
                remedy,
            )
        })
    }
}
