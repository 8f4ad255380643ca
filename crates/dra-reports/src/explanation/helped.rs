//! How a set of changes reads that the search has found, and the commands that make it.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::json;

use super::bound::stuck_users;
use super::items::{FixChange, FixItem};
use super::namesake::differs_in_digits;
use super::words::fixes::{self as words, About, Before};
use crate::remedy::{
    End, Remake, Remedy, ask_for, asking, end_by, end_of, end_some, ignored_groups, only_owner, renew,
    top_owner,
};
use crate::script::{
    self, Command, delete, delete_in, lift_node_taint, patch, replace_saved, save_without_finalizers,
};
use crate::stage::with_crashing;
use crate::words::{consumer, controller};
use dra_allocator::devices::{rule_says_unhealthy, says_unhealthy};
use dra_model::{
    AllocatedDevice, AllocationMode, Claim, Cluster, ConsumerReference, Key, Kind, OwnerReference, Pod, Str,
    Time, is_similar, lookup,
};
use dra_rules::health::{Health, HealthIndex};
use dra_rules::kubelet::{
    self, Stages, ailment, crashing_cloud_controllers, crashing_daemons, without_network,
};
use dra_rules::owners::{Ending, Lineage};
use dra_rules::reservation::{
    self, Origin, PodGroups, claim_names, is_abandoned, is_done, is_former, manager, pod_of_entry,
    resolves_to,
};
use dra_rules::scheduling::{
    Edited, Fix, Fixes, Found, Rewording, change_of_pod, is_extended, marked_for_removal,
    remaining_consumers, unfit_taint,
};

/// Labels of nodes that tell which images run there.
const PLATFORM: [&str; 2] = ["kubernetes.io/arch", "kubernetes.io/os"];

/// Reported health of devices.
pub(super) struct Risks<'a> {
    cluster: &'a Cluster,
    /// Keys and effects of taints of devices that say so.
    taints: BTreeSet<(&'a Str, &'a Str)>,
    /// Other reports; only if a taint may matter.
    health: Option<HealthIndex<'a>>,
}

impl<'a> Risks<'a> {
    pub(super) fn of(cluster: &'a Cluster, fixes: &Fixes) -> Self {
        let mut risks = Self {
            cluster,
            taints: BTreeSet::new(),
            health: None,
        };
        if !fixes.found.iter().any(passes_taint) {
            return risks;
        }
        let devices = cluster.slices().flat_map(|slice| &slice.spec.devices);
        let of_rules = cluster.rules().filter(|rule| rule_says_unhealthy(rule));
        let of_slices = devices.flat_map(|device| &device.taints);
        let of_slices = of_slices.filter(|taint| says_unhealthy(taint));
        let unhealthy = of_slices.chain(of_rules.map(|rule| &rule.spec.taint));
        risks
            .taints
            .extend(unhealthy.map(|taint| (&taint.key, &taint.effect)));
        risks.health = Some(HealthIndex::of(cluster));
        risks
    }

    /// Reports whether `found` ignores a taint of unhealthy devices, or allocates a device that is reported unhealthy elsewhere.
    pub(super) fn is_risky(&self, found: &Found) -> bool {
        let says = |fix: &Fix| match fix {
            Fix::Tolerate { key, effect, .. } | Fix::LiftTaint { key, effect, .. } => {
                self.taints.contains(&(key, effect))
            }
            Fix::DeleteRule { rule } => {
                let rule = self.cluster.rule(rule);
                rule.is_some_and(|rule| rule_says_unhealthy(rule))
            }
            _ => false,
        };
        let is_reported = |result: &AllocatedDevice| {
            let health = self.health.as_ref();
            health.and_then(|health| health.reported(&result.id())) == Some(Health::Unhealthy)
        };
        let mut granted = found
            .granted
            .iter()
            .flat_map(|granted| &granted.allocation.devices.results);
        let is_of_admin = |fix: &Fix| fix.tolerates_for_admin(self.cluster);
        !found.changes.iter().any(is_of_admin)
            && (found.changes.iter().any(says) || passes_taint(found) && granted.any(is_reported))
    }
}

fn passes_taint(found: &Found) -> bool {
    found.changes.iter().any(|fix| {
        matches!(
            fix,
            Fix::Tolerate { .. } | Fix::LiftTaint { .. } | Fix::DeleteRule { .. }
        )
    })
}

/// Returns whether other containers alone keep the pod running: its work is done.
fn is_work_done<'c>(stages: &Stages<'c>, pod: &'c Arc<Pod>) -> bool {
    let stuck = stages.pod(pod).and_then(|found| found.stuck);
    stuck.is_some_and(|stuck| matches!(stuck.cause, kubelet::Cause::ContainersLeft { .. }))
}

/// The pod or claims that a fix is for.
pub(super) struct Helped<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) pod: Option<&'a Arc<Pod>>,
    /// The pod was given another consumer's claim, and gets its own when it is recreated.
    pub(super) is_recreated: bool,
    /// Pods such that the end of any one of them is enough.
    pub(super) enough: BTreeSet<Key>,
    /// A manifest has it: nothing that runs ends for what is not there.
    pub(super) is_new: bool,
    pub(super) now: Time,
}

impl Helped<'_> {
    /// What readers get of a set of changes.
    pub(super) fn item(&self, found: &Found) -> FixItem {
        let recreation = self.pod.filter(|_| self.is_recreated);
        let recreation = recreation.map(|pod| self::recreation(self.cluster, pod));
        let single = |fix: &Fix| {
            let remedy = self.remedy(std::slice::from_ref(fix), false);
            let (kind, target) = self.target(fix);
            FixChange::new(kind, target, words::change(fix, &self.about(fix)), remedy)
        };
        let mut changes: Vec<FixChange> = recreation
            .into_iter()
            .chain(found.changes.iter().map(single))
            .collect();
        let join = |part: fn(&FixChange) -> &str, with: &str| {
            let parts: Vec<&str> = changes.iter().map(part).collect();
            parts.join(with)
        };
        let target = join(|change| &change.target, ", ");
        let message = join(|change| &change.message, "; ");
        let kind = match changes.as_slice() {
            [one] => one.kind,
            _ => "Several",
        };
        if changes.len() == 1 {
            changes.clear();
        }
        let mut remedy = self.remedy(&found.changes, self.is_recreated);
        let is_selector = |fix: &Fix| matches!(fix, Fix::DropNodeLabel { .. });
        let may_be_undone = self.pod.is_some_and(|pod| pod.spec.runtime_class_name.is_some())
            && found.changes.iter().any(is_selector);
        if may_be_undone {
            remedy = remedy.note(words::OF_RUNTIME_CLASS);
        }
        let is_of_platform =
            |fix: &Fix| matches!(fix, Fix::DropNodeLabel { key } if PLATFORM.contains(&key.as_str()));
        if found.changes.iter().any(is_of_platform) {
            remedy = remedy.note(words::OTHER_PLATFORM);
        }
        let is_reserved = |fix: &Fix| {
            matches!(
                fix,
                Fix::TolerateNode {
                    is_reserved: true,
                    ..
                }
            )
        };
        if found.changes.iter().any(is_reserved) {
            remedy = remedy.note(words::TAINT_IS_MEANT);
        }
        FixItem {
            proven: !may_be_undone,
            minimal: found.smallest,
            changes,
            nodes: found.nodes.clone(),
            remakes: self.remakes(&found.changes).unwrap_or_default(),
            ..FixItem::unproven(kind, target, message, remedy)
        }
    }

    /// How all of these changes are made.
    ///
    /// Changes of one object are one command. What asks for something else comes first: where pods end before it, others could get what
    /// they had.
    fn remedy(&self, fixes: &[Fix], recreates: bool) -> Remedy {
        let edited = Edited::by(self.cluster, self.pod, fixes);
        let claims: BTreeSet<&Key> = fixes.iter().filter_map(Fix::edits_claim).collect();
        let of_claims = claims.into_iter().filter_map(|key| {
            let claim = self.cluster.claim(key)?;
            Some(ask_for(self.cluster, claim, edited.claim(key)?))
        });
        let (of_claims, generated): (Vec<Remedy>, Vec<_>) = of_claims.unzip();
        let mut renewed = generated.into_iter().flatten();
        let of_pod = match self.pod.zip(edited.pod()) {
            Some((before, after)) => {
                let fixes: Vec<&Fix> = fixes.iter().filter(|fix| fix.edits_pod()).collect();
                let recreates = recreates || renewed.any(|pod| pod.key() == before.key());
                Some(change_pod(self.cluster, before, after, &fixes, recreates))
            }
            None => renewed.next().map(|pod| renew(self.cluster, pod)),
        };
        let others = fixes
            .iter()
            .filter(|fix| fix.edits_claim().is_none() && !fix.edits_pod())
            .map(|fix| self.other(fix));
        of_claims
            .into_iter()
            .chain(of_pod)
            .chain(others)
            .fold(Remedy::default(), Remedy::and)
    }

    /// The objects that have to be recreated for `fixes`, templates first; nothing where that is not all, or not enough.
    fn remakes(&self, fixes: &[Fix]) -> Option<Vec<Remake>> {
        if self.is_recreated
            || fixes
                .iter()
                .any(|fix| fix.edits_claim().is_none() && !fix.edits_pod())
        {
            return None;
        }
        let edited = Edited::by(self.cluster, self.pod, fixes);
        let claims: BTreeSet<&Key> = fixes.iter().filter_map(Fix::edits_claim).collect();
        let mut remakes = Vec::new();
        for key in claims {
            remakes.push(asking(self.cluster, self.cluster.claim(key)?, edited.claim(key)?).ok()?);
        }
        let of_template = |remake: &Remake| remake.kind == Kind::ResourceClaimTemplate;
        // A pod gets a claim from the new template only when it is recreated, too.
        let is_recreated = remakes.iter().any(of_template)
            || fixes.iter().any(|fix| fix.edits_pod() && !fix.is_made_in_place());
        if !is_recreated && fixes.iter().any(Fix::edits_pod) {
            return None;
        }
        if is_recreated {
            let before = self.pod?;
            // Its owner creates another one as soon as this one goes.
            if before.metadata.controller().is_some() || before.metadata.is_only_written() {
                return None;
            }
            remakes.push(Remake {
                kind: Kind::Pod,
                key: before.key(),
                operations: change_of_pod(before, edited.pod()?),
            });
        }
        Some(remakes)
    }

    /// How a change is made that is none of what the pod asks for.
    fn other(&self, fix: &Fix) -> Remedy {
        match fix {
            Fix::Release { claim, .. } => self.release(claim),
            Fix::RenewClaim { claim, .. } => {
                Remedy::command(delete_in(&claim.namespace, Kind::ResourceClaim, [&claim.name]))
            }
            Fix::LiftTaint { pool, key, .. } => Remedy::by_hand(words::taint_of_driver(pool, key)),
            Fix::DeleteRule { rule } => {
                let delete =
                    Remedy::command(delete(Kind::DeviceTaintRule, [rule])).note(words::RULE_IS_MEANT);
                let rule = self.cluster.rule(rule);
                let selector = rule.and_then(|rule| rule.spec.device_selector.as_ref());
                if selector.is_some_and(|selector| selector.pool.is_none()) {
                    return delete.note(words::NARROW_RULE);
                }
                delete
            }
            Fix::OfferResource { class, resource } => {
                let change = json!({"spec": {"extendedResourceName": resource}});
                Remedy::command(patch(Kind::DeviceClass, None, class, &["--type=merge"], &change))
                    .note(words::offered(resource, class))
            }
            Fix::Uncordon { node } => {
                let uncordon = Command::kubectl("uncordon").object(Kind::Node, node);
                Remedy::command(uncordon.done()).note(words::CORDONED)
            }
            Fix::RestoreNode { node } => restoring(self.cluster, node),
            Fix::LiftNodeTaint { node, key, effect } => {
                let lift = Remedy::command(lift_node_taint(node, key, effect));
                let node = self.cluster.node(node).into_iter();
                let taints = node.flat_map(|node| &node.spec.taints);
                let mut marks = taints
                    .filter(|taint| taint.key == *key)
                    .filter_map(marked_for_removal);
                match marks.next() {
                    Some(marked) => lift.note(words::left_by_autoscaler(marked)),
                    None => lift.note(words::TAINT_IS_MEANT),
                }
            }
            _ => Remedy::default(),
        }
    }

    /// A claim is deallocated once its consumers are gone.
    fn release(&self, key: &Key) -> Remedy {
        let Some(claim) = self.cluster.claim(key) else {
            return Remedy::default();
        };
        let others = self.others(claim);
        if !others.is_empty() {
            if let Some(End::Terminating) = end_of(self.cluster, claim, &others) {
                let stuck = stuck_users(self.cluster, claim, self.now);
                return if stuck.is_empty() {
                    let pods = self.pods_of(claim, &others);
                    let due = pods.filter_map(|pod| pod.metadata.deletion_timestamp).max();
                    Remedy::default().note(words::terminating(due))
                } else {
                    stuck
                        .into_iter()
                        .map(Remedy::by_hand)
                        .fold(Remedy::default(), Remedy::and)
                };
            }
            if self.is_new {
                return Remedy::by_hand(words::NOT_APPLIED);
            }
            let ending = match self.owned(claim, &others) {
                Some(Before::Owned { ending, .. }) => ending,
                _ => None,
            };
            let stages = Stages::of(self.cluster, self.now);
            let is_done = || self.pods_of(claim, &others).all(|pod| is_work_done(&stages, pod));
            let end = match &ending {
                Some(ending @ Ending::Fewer { .. }) => end_by(&key.namespace, &[], ending),
                // What is done is not to run again.
                Some(ending @ Ending::Suspend(_)) if is_done() => {
                    Remedy::command(script::end_by_owner(&key.namespace, &[], ending))
                }
                _ => end_some(self.cluster, claim, &others),
            };
            let lost = stuck_users(self.cluster, claim, self.now);
            let is_bare = |pod: &&Arc<Pod>| pod.metadata.controller().is_none();
            let bare = self.pods_of(claim, &others).filter(is_bare).count();
            let mut gangs = self.gangs(claim, &others);
            // All of them end then.
            if matches!(ending, Some(Ending::Suspend(_))) {
                gangs.clear();
            }
            return gangs
                .iter()
                .map(words::ends_gang)
                .chain(self.of_others(claim, &others))
                .chain(words::of_bare(bare))
                .chain(lost)
                .fold(end, Remedy::note);
        }
        if self.is_own(key) {
            // The scheduler deallocates it in `PostFilter`. Without the claim the pod could not run at all.
            return Remedy::default().note(words::deallocated(key));
        }
        let named_by = self.named_by(claim);
        if named_by.iter().any(|pod| pod.node().is_some()) {
            return Remedy::by_hand(words::STOP_CONSUMERS);
        }
        if !named_by.is_empty() && !matches!(Origin::of(self.cluster, claim), Origin::Template(_)) {
            // No controller creates it again.
            let saved = Remedy::command(save_without_finalizers(Kind::ResourceClaim, key));
            return saved.and(Remedy::command(replace_saved(Kind::ResourceClaim, key)));
        }
        // The controller deallocates what no pod uses only when it is deleted.
        Remedy::command(delete_in(&key.namespace, Kind::ResourceClaim, [&key.name]))
    }

    /// The pods that have to end for a change.
    pub(super) fn ended(&self, found: &Found) -> Vec<Key> {
        let claims = found.changes.iter().filter_map(|fix| match fix {
            Fix::Release { claim, in_use: true } => self.cluster.claim(claim),
            _ => None,
        });
        let keys = |claim: &Arc<Claim>| -> Vec<Key> {
            let others = self.others(claim);
            self.pods_of(claim, &others).map(|pod| pod.key()).collect()
        };
        claims.flat_map(keys).collect()
    }

    /// Returns whether the pods that have to end for a change are being deleted: it takes no action.
    pub(super) fn ends_anyway(&self, found: &Found) -> bool {
        found.changes.iter().all(|fix| {
            matches!(fix, Fix::Release { claim, .. } if matches!(self.consumers(claim), Before::Terminating(_)))
        })
    }

    /// The highest owner of the pods that have to end, and their namespace, where nothing else is changed.
    pub(super) fn ended_owner(&self, found: &Found) -> Option<(OwnerReference, Str)> {
        let [Fix::Release { in_use: true, .. }] = found.changes.as_slice() else {
            return None;
        };
        let keys = self.ended(found);
        let pods: Vec<&Arc<Pod>> = keys.iter().filter_map(|key| self.cluster.pod(key)).collect();
        let owner = only_owner(self.cluster, &pods)?;
        Some((owner, keys.first()?.namespace.clone()))
    }

    /// Returns whether pods end for a change that are not the pod's own owner's to end, or whose work no other pod takes up. Those of a lower
    /// priority are there to make room, and those that cannot start have done no work.
    pub(super) fn loses_work(&self, found: &Found) -> bool {
        let pods = self.ended(found);
        let stages = Stages::of(self.cluster, self.now);
        let loses = |key: &Key| {
            let pods = self.pod.zip(self.cluster.pod(key));
            pods.is_some_and(|(own, other)| match other.priority().cmp(&own.priority()) {
                Ordering::Less => false,
                Ordering::Greater => true,
                Ordering::Equal => {
                    let owner = other.metadata.controller();
                    let is_elsewhere = key.namespace != own.metadata.namespace;
                    let never_ran = other.status.phase == "Pending" && stages.stuck(other).is_some();
                    !never_ran
                        && !is_work_done(&stages, other)
                        && (is_elsewhere || owner.is_none_or(|owner| owner.kind == "Job"))
                }
            })
        };
        pods.iter().any(loses)
    }

    /// That consumers are not the pod's own owner's to end: they are in another namespace, or have a higher priority.
    fn of_others(&self, claim: &Claim, consumers: &[&ConsumerReference]) -> Option<String> {
        let pod = self.pod?;
        let is_elsewhere = pod.metadata.namespace != claim.metadata.namespace;
        let most = self.pods_of(claim, consumers).map(|other| other.priority()).max();
        let higher = most.filter(|priority| *priority > pod.priority());
        (is_elsewhere || higher.is_some()).then(|| words::of_others(is_elsewhere, higher, pod.priority()))
    }

    /// The pods among the consumers.
    fn pods_of(&self, claim: &Claim, consumers: &[&ConsumerReference]) -> impl Iterator<Item = &Arc<Pod>> {
        let entries = consumers.iter();
        entries.filter_map(|entry| pod_of_entry(self.cluster, claim, entry))
    }

    /// The gangs of the pods among the consumers.
    fn gangs(&self, claim: &Claim, consumers: &[&ConsumerReference]) -> BTreeSet<Key> {
        let keys = self
            .pods_of(claim, consumers)
            .filter_map(|pod| Some(pod.metadata.beside(pod.pod_group()?)));
        keys.filter(|key| {
            let group = self.cluster.pod_group(key);
            group.is_some_and(|group| group.spec.scheduling_policy.gang.is_some())
        })
        .collect()
    }

    /// The consumers of the claim that have to end for the pod to get what it holds.
    fn others<'c>(&self, claim: &'c Claim) -> Vec<&'c ConsumerReference> {
        let mut others = remaining_consumers(self.cluster, self.pod.map(|pod| &**pod), claim);
        // With the last of those that are there the claim controller removes all.
        let is_there = |entry: &&ConsumerReference| !is_former(self.cluster, claim, entry);
        if others.iter().any(is_there) {
            others.retain(is_there);
        }
        others
    }

    /// The claims that kube-scheduler deallocates, where there is nothing to do but wait for that.
    pub(super) fn awaited<'f>(&self, found: &'f Found) -> Option<Vec<&'f Key>> {
        let idle = |fix: &'f Fix| match fix {
            Fix::Release { claim, .. } if self.is_own(claim) => {
                let found = self.cluster.claim(claim)?;
                self.others(found).is_empty().then_some(claim)
            }
            _ => None,
        };
        let claims: Option<Vec<_>> = found.changes.iter().map(idle).collect();
        claims.filter(|claims| !claims.is_empty())
    }

    fn is_own(&self, key: &Key) -> bool {
        self.pod.is_some_and(|pod| {
            pod.metadata.namespace == key.namespace
                && claim_names(pod).any(|name| name.name() == Some(&key.name))
        })
    }

    /// What has to be changed for the claim to ask for something else, as messages call it.
    fn object(&self, claim: &Key) -> String {
        let found = self.cluster.claim(claim);
        found.map_or_else(
            || format!("claim/{claim}"),
            |found| Origin::of(self.cluster, found).object(claim),
        )
    }

    /// Returns whether the constraint wants different values.
    fn is_distinct(&self, claim: &Key, place: usize) -> bool {
        let found = self.cluster.claim(claim);
        let constraint = found.and_then(|claim| claim.spec.devices.constraints.get(place));
        constraint.is_some_and(|constraint| constraint.distinct_attribute.is_some())
    }

    /// `pod/NAMESPACE/NAME`; empty for claims alone.
    fn own(&self) -> String {
        self.pod
            .map_or_else(String::new, |pod| format!("pod/{}", pod.key()))
    }

    /// Kind and target of a change.
    fn target(&self, fix: &Fix) -> (&'static str, String) {
        let of_request = |claim: &Key, request: &str| format!("claim/{claim} request {request}");
        let of_selector =
            |claim, request, place: &usize| format!("{} selector #{place}", of_request(claim, request));
        let own = || self.own();
        let of_container = |container: &Str| format!("{} container {container}", self.own());
        match fix {
            Fix::Release { claim, .. } => ("ReleaseClaim", format!("claim/{claim}")),
            Fix::RenewClaim { claim, .. } => ("RenewClaim", format!("claim/{claim}")),
            Fix::Tolerate { claim, request, .. } => ("TolerateTaint", of_request(claim, request)),
            Fix::TolerateNode { .. } => ("TolerateNodeTaint", own()),
            Fix::Fewer { claim, request, .. } => ("FewerDevices", of_request(claim, request)),
            Fix::LessResource {
                container, resource, ..
            } => (
                if is_extended(resource) {
                    "FewerDevices"
                } else {
                    "LessResource"
                },
                container.as_ref().map_or_else(own, of_container),
            ),
            Fix::DropExtended { container, .. } => ("FewerDevices", of_container(container)),
            Fix::UseResource { container, .. } => ("UseResource", of_container(container)),
            Fix::LessCapacity { claim, request, .. } => ("LessCapacity", of_request(claim, request)),
            Fix::DropTerm {
                claim,
                request,
                selector,
                ..
            } => ("RelaxSelector", of_selector(claim, request, selector)),
            Fix::ReplaceTerm {
                claim,
                request,
                selector,
                rewording,
                ..
            } => (
                match rewording {
                    Rewording::Guarded => "GuardSelector",
                    Rewording::Corrected | Rewording::Published => "CorrectSelector",
                },
                of_selector(claim, request, selector),
            ),
            Fix::DropConstraint { claim, place, .. } => {
                ("DropConstraint", format!("claim/{claim} constraint #{place}"))
            }
            Fix::UseClass { claim, request, .. } => ("UseClass", of_request(claim, request)),
            Fix::DropNodeLabel { .. } => ("RelaxNodeSelector", own()),
            Fix::DropNodeAffinity => ("RelaxNodeAffinity", own()),
            Fix::LiftTaint { pool, .. } => ("LiftTaint", format!("pool/{pool}")),
            Fix::DeleteRule { rule } => ("LiftTaint", format!("devicetaintrule/{rule}")),
            Fix::OfferResource { class, .. } => ("OfferResource", format!("deviceclass/{class}")),
            Fix::Uncordon { node } => ("Uncordon", format!("node/{node}")),
            Fix::RestoreNode { node } => ("RestoreNode", format!("node/{node}")),
            Fix::LiftNodeTaint { node, .. } => ("LiftNodeTaint", format!("node/{node}")),
        }
    }

    /// What the sentence of a change names.
    fn about(&self, fix: &Fix) -> About {
        About {
            pod: self.own(),
            object: fix
                .edits_claim()
                .map_or_else(String::new, |claim| self.object(claim)),
            before: self.before(fix),
        }
    }

    /// The state that a change replaces.
    fn before(&self, fix: &Fix) -> Before {
        let spec = |claim: &Key, request: &str| self.cluster.claim(claim)?.asked_for(request);
        let amount = |amount: Option<String>| amount.map_or(Before::Unknown, Before::Amount);
        match fix {
            Fix::Release { claim, .. } => self.consumers(claim),
            Fix::Fewer { claim, request, .. } => match spec(claim, request) {
                Some(spec) if spec.allocation_mode == AllocationMode::All => Before::All,
                spec => amount(spec.map(|spec| spec.count.to_string())),
            },
            Fix::LessCapacity {
                claim,
                request,
                capacity,
                ..
            } => {
                let wanted = spec(claim, request).and_then(|spec| spec.capacity.as_ref());
                let wanted = wanted.and_then(|wanted| lookup(&wanted.requests, capacity));
                amount(wanted.map(ToString::to_string))
            }
            Fix::LessResource {
                container, resource, ..
            } => {
                let spec = self.pod.map(|pod| &pod.spec);
                let mut all = spec
                    .into_iter()
                    .flat_map(|spec| spec.containers.iter().chain(&spec.init_containers));
                let resources = match container {
                    Some(container) => all
                        .find(|known| known.name == *container)
                        .map(|container| &*container.resources),
                    None => spec.and_then(|spec| spec.resources.as_deref()),
                };
                let wanted = resources.and_then(|resources| lookup(&resources.requests, resource));
                amount(wanted.map(ToString::to_string))
            }
            Fix::DropConstraint { claim, place, .. } if self.is_distinct(claim, *place) => Before::Distinct,
            Fix::DropNodeLabel { key } => {
                let wanted = self.pod.and_then(|pod| lookup(&pod.spec.node_selector, key));
                let mut known = self.cluster.nodes().filter_map(|node| node.metadata.label(key));
                let is_meant = |value: &str, wanted: &str| {
                    is_similar(value, wanted) && !differs_in_digits(value, wanted)
                };
                let similar = known.find(|value| wanted.is_some_and(|wanted| is_meant(value, wanted)));
                amount(similar.map(ToString::to_string))
            }
            Fix::RestoreNode { node }
                if self
                    .cluster
                    .node(node)
                    .is_some_and(|node| without_network(node).is_some()) =>
            {
                Before::NoNetwork
            }
            _ => Before::Unknown,
        }
    }

    /// Consumers of the claim that a change releases.
    fn consumers(&self, key: &Key) -> Before {
        let claim = self.cluster.claim(key);
        let users = claim.map_or_else(Vec::new, |claim| self.others(claim));
        let names = || users.iter().map(|entry| entry.name.clone()).collect();
        let ignored = claim.and_then(|claim| {
            let groups = ignored_groups(self.cluster, claim, &users)?;
            let is_idle = reservation::users(self.cluster, claim).is_ok_and(|pods| pods.is_empty());
            let named = |group| format!("podgroup/{}/{group}", key.namespace);
            is_idle.then(|| groups.into_iter().map(named).collect())
        });
        if let Some(groups) = ignored {
            Before::Ignored(groups)
        } else if let Some(claim) =
            claim.filter(|claim| !users.is_empty() && is_abandoned(self.cluster, claim))
        {
            let entries = users
                .iter()
                .map(|entry| consumer(&claim.metadata.namespace, entry));
            Before::Ignored(entries.collect())
        } else if users.iter().any(|entry| !entry.is_pod()) {
            Before::Unknown
        } else if !users.is_empty() {
            match claim.and_then(|claim| end_of(self.cluster, claim, &users)) {
                Some(End::Former) => Before::Former(names()),
                Some(End::Terminating) => Before::Terminating(names()),
                None => claim
                    .and_then(|claim| self.owned(claim, &users))
                    .unwrap_or_else(|| Before::Pods(names())),
            }
        } else if self.is_own(key) {
            Before::Deallocated
        } else {
            let named_by = claim.map_or_else(Vec::new, |claim| self.named_by(claim));
            if named_by.is_empty() {
                Before::Idle
            } else if named_by.iter().any(|pod| pod.node().is_some()) {
                Before::Unknown
            } else {
                Before::Named(named_by.iter().map(|pod| pod.metadata.name.clone()).collect())
            }
        }
    }

    /// The only owner of the pods among the consumers that have not ended.
    fn owned(&self, claim: &Claim, consumers: &[&ConsumerReference]) -> Option<Before> {
        let pods = self.pods_of(claim, consumers);
        let pods: Vec<&Arc<Pod>> = pods.filter(|pod| !pod.is_terminal()).collect();
        let owner = only_owner(self.cluster, &pods)?;
        let ending = Ending::of(self.cluster, &pods, &self.enough, &owner);
        let is_of_job = |pod: &&Arc<Pod>| {
            let mut made_by = pod.metadata.controller().into_iter();
            made_by.any(|made_by| made_by.uid == owner.uid) && !pod.is_terminal()
        };
        Some(Before::Owned {
            ends: match &ending {
                Some(Ending::Scale { kind, .. }) => (*kind != "leaderworkerset").then_some(pods.len()),
                Some(Ending::Fewer { ends, .. }) => usize::try_from(*ends).ok(),
                Some(Ending::Suspend(_)) => Some(self.cluster.pods().filter(is_of_job).count()),
                None => None,
            },
            pods: pods.iter().map(|pod| pod.metadata.name.clone()).collect(),
            owner: controller(&pods.first()?.metadata, &owner),
            ending,
        })
    }

    /// The pods that use an idle claim, or will.
    fn named_by(&self, claim: &Claim) -> Vec<&Arc<Pod>> {
        let key = claim.key();
        let pods = self.cluster.pods_of_claim(&key);
        pods.filter(|pod| !is_done(pod) && resolves_to(pod, claim, PodGroups::Accepted))
            .collect()
    }
}

/// A pod that was given another consumer's claim gets its own when it is recreated.
fn recreation(cluster: &Cluster, pod: &Arc<Pod>) -> FixChange {
    let key = pod.key();
    let owner = pod.metadata.controller().map(manager);
    let message = words::recreate(&key, owner.as_deref());
    let remedy = change_pod(cluster, pod, pod, &[], true);
    FixChange::new("RecreatePod", format!("pod/{key}"), message, remedy)
}

/// How `before` becomes `after` by `fixes`, and is created again where it has to be.
fn change_pod(cluster: &Cluster, before: &Arc<Pod>, after: &Pod, fixes: &[&Fix], recreates: bool) -> Remedy {
    if fixes.is_empty() && !recreates {
        return Remedy::default();
    }
    let key = before.key();
    if before.metadata.is_only_written() {
        return Remedy::by_hand(words::in_manifest(&key));
    }
    let operations = change_of_pod(before, after);
    let in_place = fixes.iter().all(|fix| fix.is_made_in_place());
    match maker(cluster, before) {
        owner if in_place && !recreates => {
            let change = Remedy::command(script::change(Kind::Pod, &key, operations));
            let others = owner.map(|owner| words::others_without(&manager(&owner)));
            others.into_iter().fold(change, Remedy::note)
        }
        Some(owner) if !fixes.is_empty() => {
            Remedy::by_hand(if fixes.iter().any(|fix| is_added_later(cluster, before, fix)) {
                words::added_later(&manager(&owner))
            } else {
                in_owner(&key, &owner)
            })
        }
        _ if operations.is_empty() => renew(cluster, before),
        _ => Remedy::command(script::remake(Kind::Pod, &key, operations)).note(words::pod_is_recreated(&key)),
    }
}

/// The highest owner that has made the pod, or else the one that it names.
fn maker(cluster: &Cluster, pod: &Pod) -> Option<OwnerReference> {
    top_owner(cluster, pod).or_else(|| pod.metadata.controller().cloned())
}

/// Where a change of a pod goes that `owner` has made.
fn in_owner(pod: &Key, owner: &OwnerReference) -> String {
    let name = manager(owner);
    match owner.kind.as_str() {
        "Job" => words::in_new_job(pod, &name),
        // What has made it may be unknown.
        "ReplicaSet" => words::in_template_above(pod, &name),
        _ => words::in_template(pod, &name),
    }
}

/// Has the pod name `missing`, which is no claim, as a template, or the other way round, where there is such an object.
pub(super) fn name_other_kind(cluster: &Cluster, pod: &Pod, missing: &Key, kind: Kind) -> Option<FixItem> {
    let is_there = match kind {
        Kind::ResourceClaim => cluster.template(missing).is_some(),
        // One that was made for a pod is meant by nothing else.
        _ => cluster
            .claim(missing)
            .is_some_and(|claim| claim.metadata.controller().is_none()),
    };
    let key = pod.key();
    let how = || match maker(cluster, pod) {
        Some(owner) => in_owner(&key, &owner),
        None if pod.metadata.is_only_written() => words::in_manifest(&key),
        None => words::create_changed(&key),
    };
    is_there.then(|| FixItem::name_other_kind(&key, missing, kind, how()))
}

/// Returns whether the pod template of the pod's owner lacks already what the change takes from the pod, which something has added.
fn is_added_later(cluster: &Cluster, pod: &Pod, fix: &Fix) -> bool {
    let lineage = Lineage::of_pod(cluster, pod);
    let mut makers = lineage.known(cluster);
    let Some((maker, requests)) = makers.find_map(|maker| Some((maker, maker.requests.as_ref()?))) else {
        return false;
    };
    match fix {
        Fix::DropNodeLabel { key } => lookup(&maker.node_selector, key).is_none(),
        Fix::LessResource {
            container: Some(container),
            resource,
            amount,
        } => {
            let wanted = requests.get(&(container.clone(), resource.clone()));
            wanted.is_none_or(|wanted| wanted <= amount)
        }
        _ => false,
    }
}

/// Key of the taint of nodes that no cloud controller manager has seen. Mirrors `cloud-provider/api/well_known_taints.go`,
/// `TaintExternalCloudProvider`.
const UNINITIALIZED: &str = "node.cloudprovider.kubernetes.io/uninitialized";

/// How a node gets ready that cannot run pods, and what it says of itself.
pub(super) fn restoring(cluster: &Cluster, name: &Str) -> Remedy {
    let node = cluster.node(name);
    let network = node.and_then(|node| without_network(node));
    // What sets the node up may be among them.
    let agents = |how: String| with_crashing(Remedy::by_hand(how), crashing_daemons(cluster, name));
    let how = match (network, node.and_then(|node| unfit_taint(node))) {
        (Some(_), _) => agents(words::SET_UP_NETWORK.to_owned()),
        (None, Some(taint)) if taint.key == UNINITIALIZED => {
            let how = Remedy::by_hand(words::INITIALIZE);
            with_crashing(how, crashing_cloud_controllers(cluster))
        }
        (None, Some(taint)) => agents(words::unfit(taint)),
        (None, None) => Remedy::by_hand(words::RESTORE_NODE),
    };
    match network.or_else(|| ailment(node?)) {
        Some(condition) => how.note(words::ailing(name, condition)),
        None => how,
    }
}
