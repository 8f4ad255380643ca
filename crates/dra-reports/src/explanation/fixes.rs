//! How changes that help read, and the commands that make them.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::json;

use super::bound::stuck_users;
use super::diagnosis::{Answer, Cause, Diagnosis, NodeGroup, Unserved};
use super::fact::{Brief, Fact, Together};
use super::items::{ClusterVerdict, FixChange, FixItem, KINDS};
use super::words::fixes::{self as words, About, Before};
use super::{gets, waiting};
use crate::remedy::{
    End, Remake, Remedy, ask_for, asking, end_of, end_some, ignored_groups, renew, top_owner,
};
use crate::script::{
    self, Command, Resource, delete, delete_in, describe_pool, lift_node_taint, patch, replace_saved,
    save_without_finalizers,
};
use crate::stage::{look_at_link, mend_link};
use crate::words::republish;
use dra_allocator::ConstraintName;
use dra_allocator::devices::says_unhealthy;
use dra_model::{
    AllocatedDevice, AllocationMode, Claim, Cluster, Component, ConsumerReference, Key, Kind, NodeSelector,
    Pod, PoolId, Str, Time, lookup,
};
use dra_rules::health::{Health, HealthIndex};
use dra_rules::owners::Rollout;
use dra_rules::quota::{Quotas, Refusal};
use dra_rules::reservation::{
    self, Origin, PodGroups, claim_names, former_pods, is_done, is_former, manager, resolves_to,
};
use dra_rules::scheduling::{
    BINDING_TIMEOUT, Edited, Fix, Fixes, Found, Readiness, change_of_pod, remaining_consumers, victims,
};

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

    /// What the driver of a device has to say before the pod is bound. Nothing can be simulated there.
    pub(super) fn add_binding(&mut self, claim: &Claim, state: &Readiness) {
        let Readiness::Pending { condition, device } = state else {
            return;
        };
        let allocation = claim.status.allocation.as_ref();
        let allocated = allocation.and_then(|allocation| allocation.allocation_timestamp);
        let until = allocated.map(|at| at.after(BINDING_TIMEOUT));
        let [target, message, who] = words::binding(condition, device, &claim.key(), until);
        let fix = FixItem::unproven("AwaitBinding", target, message, Remedy::by_hand(who));
        let look = Command::dra("describe")
            .here()
            .claim(&claim.metadata.namespace, &claim.metadata.name);
        self.fixes.push(fix.look(look.done()));
    }

    /// Why admission refuses `claim`, and what every quota would have to allow for `wanted`. Whether that would help is not simulated.
    pub(super) fn add_refusal<'s>(
        &mut self,
        claim: &str,
        refusal: &Refusal<'_>,
        quotas: &Quotas<'_>,
        wanted: impl IntoIterator<Item = &'s dra_model::ClaimSpec>,
    ) {
        let fact = Fact::Quota(claim.to_owned(), refusal.to_string());
        self.reasons.push(fact.into());
        if self.verdict() == ClusterVerdict::Waits && self.cause.is_none() {
            self.cause = Some(Cause::Quota(claim.to_owned(), refusal.to_string()));
        }
        if self.verdict() == ClusterVerdict::Fits {
            let was = Box::new(self.answer.clone());
            self.conclude(Answer::KeptByQuota(claim.to_owned(), was));
        }
        let quota = &refusal.quota.metadata;
        let target = format!("resourcequota/{}", quota.key());
        let message = words::raise(&target);
        let remedy = Remedy::raising(quotas, &quota.namespace, wanted);
        let look = Command::kubectl("describe")
            .object(Kind::ResourceQuota, &quota.name)
            .namespace(&quota.namespace);
        let fix = FixItem::unproven("RaiseQuota", target, message, remedy);
        self.fixes.push(fix.look(look.done()));
    }

    /// What a pool lacks whose slices are not all there, as far as it is known, and who publishes them.
    pub(super) fn add_incomplete(&mut self, cluster: &Cluster, id: &PoolId) {
        let pool = cluster.pool(id);
        let pool = pool.filter(|pool| !pool.is_complete());
        let text = pool.map(|pool| words::incomplete(&pool, pool.newest()));
        self.notes.extend(text);
        let driver = &id.driver;
        let fix = FixItem::unproven(
            "RestoreDriver",
            format!("driver/{driver}"),
            words::complete(id),
            Remedy::by_hand(republish(driver)),
        );
        self.fixes.push(fix.look(describe_pool(id)));
    }

    /// What would help `pod`, or claims without one, which are a manifest's where `is_new` says so.
    pub(super) fn add_fixes(
        &mut self,
        cluster: &Cluster,
        pod: Option<&Arc<Pod>>,
        is_new: bool,
        fixes: &Fixes,
        now: Time,
    ) {
        let helped = Helped {
            cluster,
            pod,
            is_recreated: false,
            is_new,
            now,
        };
        let risks = Risks::of(cluster, fixes);
        let mut items: Vec<(bool, FixItem)> = Vec::new();
        for found in &fixes.found {
            let mut item = helped.item(found);
            item.gets = gets::of(cluster, found);
            item.risky = risks.is_risky(found);
            let awaited = helped.awaited(found);
            if let Some(claims) = &awaited {
                waiting::add_deallocation(self, claims, &found.nodes);
            }
            items.push((awaited.is_some(), item));
        }
        items.sort_by_key(|(is_wait, item)| (item.risky, !is_wait));
        self.fixes.extend(items.into_iter().map(|(_, item)| item));
        if fixes.found.is_empty() {
            // What kube-scheduler is ending for the pod already makes room for it.
            let is_preempting = pod.is_some_and(|pod| !victims(cluster, pod).is_empty());
            if !is_preempting && !self.fixes.iter().any(|fix| fix.proven) {
                self.notes.push(words::NO_FIX.to_owned());
            }
        } else if !fixes.complete {
            self.notes.push(words::MORE_FIXES.to_owned());
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
            _ => Some(Cause::Alike(Brief::Fact(known))),
        };
    }
}

impl FixItem {
    /// Has a driver publish its devices. Which it would publish cannot be known, so it cannot be proven to help.
    pub(super) fn of_driver(unserved: &Unserved) -> Self {
        let Unserved { driver, nodes, link } = unserved;
        Self::unproven(
            "RestoreDriver",
            format!("driver/{driver}"),
            words::publish(driver, nodes),
            Remedy::by_hand(mend_link(driver, link)),
        )
        .look(look_at_link(link))
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
        let message = words::restore_labels(only.copied(), claim, selector);
        let look = Command::kubectl("get").args(&["nodes", "--show-labels"]).done();
        Self::unproven(
            "RestoreNode",
            target,
            message,
            Remedy::by_hand(words::RESTORE_LABELS),
        )
        .look(look)
    }

    /// Lets the users of a namespace ask for admin access.
    pub(super) fn allow_admin_access(namespace: &Str) -> Self {
        let label = Command::kubectl("label")
            .object(Kind::Namespace, namespace)
            .arg("resource.kubernetes.io/admin-access=true")
            .done();
        Self::unproven(
            "AllowAdminAccess",
            format!("namespace/{namespace}"),
            words::allow_admin_access(namespace),
            Remedy::command(label).note(words::ALLOW_ADMIN_ACCESS),
        )
    }

    /// Has kube-controller-manager run again.
    pub(super) fn restore_controllers() -> Self {
        let look = Command::kubectl("get").arg("pods").namespace("kube-system");
        Self::unproven(
            "RestoreController",
            Component::ControllerManager.name().to_owned(),
            words::RESTORE_CONTROLLER.to_owned(),
            Remedy::by_hand(words::RESTORE_CONTROLLER_HOW),
        )
        .look(
            look.option("--selector", "component=kube-controller-manager")
                .done(),
        )
    }

    /// Has the Deployment above a pod end old pods before it makes new ones, after which the pod fits on `nodes`. What a Deployment does is
    /// known: it ends all old ones then.
    pub(super) fn of_strategy(cluster: &Cluster, pod: &Pod, nodes: &[Str]) -> Option<Self> {
        let (deployment, rollout) = Rollout::of(cluster, pod)?;
        let key = &deployment.key;
        if rollout == Rollout::Paused {
            let resume = Command::kubectl("rollout").arg("resume");
            let resume = resume.object(Resource::called("deployment"), &key.name);
            return Some(Self::unproven(
                "ChangeStrategy",
                format!("deployment/{key}"),
                words::resume(key),
                Remedy::command(resume.namespace(&key.namespace).done()).note(words::RESUMED),
            ));
        }
        let command = script::recreate_strategy(key);
        let mut remedy = Remedy::command(command).note(words::STRATEGY);
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

/// Reported health of devices.
struct Risks<'a> {
    cluster: &'a Cluster,
    /// Keys and effects of taints of devices that say so.
    taints: BTreeSet<(&'a Str, &'a Str)>,
    /// Other reports; only if a taint may matter.
    health: Option<HealthIndex<'a>>,
}

impl<'a> Risks<'a> {
    fn of(cluster: &'a Cluster, fixes: &Fixes) -> Self {
        let mut risks = Self {
            cluster,
            taints: BTreeSet::new(),
            health: None,
        };
        if !fixes.found.iter().any(passes_taint) {
            return risks;
        }
        let devices = cluster.slices().flat_map(|slice| &slice.spec.devices);
        let of_rules = cluster.rules().map(|rule| &rule.spec.taint);
        let all = devices.flat_map(|device| &device.taints).chain(of_rules);
        let unhealthy = all.filter(|taint| says_unhealthy(taint));
        risks
            .taints
            .extend(unhealthy.map(|taint| (&taint.key, &taint.effect)));
        risks.health = Some(HealthIndex::of(cluster));
        risks
    }

    /// Reports whether `found` ignores a taint of unhealthy devices, or allocates a device that is reported unhealthy elsewhere.
    fn is_risky(&self, found: &Found) -> bool {
        let says = |fix: &Fix| match fix {
            Fix::Tolerate { key, effect, .. } | Fix::LiftTaint { key, effect, .. } => {
                self.taints.contains(&(key, effect))
            }
            Fix::DeleteRule { rule } => {
                let rule = self.cluster.rule(rule);
                rule.is_some_and(|rule| says_unhealthy(&rule.spec.taint))
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
        found.changes.iter().any(says) || passes_taint(found) && granted.any(is_reported)
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

/// The pod or claims that a fix is for.
struct Helped<'a> {
    cluster: &'a Cluster,
    pod: Option<&'a Arc<Pod>>,
    /// The pod was given another consumer's claim, and gets its own when it is recreated.
    is_recreated: bool,
    /// A manifest has it: nothing that runs ends for what is not there.
    is_new: bool,
    now: Time,
}

impl Helped<'_> {
    /// What readers get of a set of changes.
    fn item(&self, found: &Found) -> FixItem {
        let recreation = self.pod.filter(|_| self.is_recreated);
        let recreation = recreation.map(|pod| self::recreation(self.cluster, pod));
        let single = |fix: &Fix| {
            let remedy = self.remedy(std::slice::from_ref(fix), false);
            let (kind, target) = self.target(fix);
            let message = words::change(fix, &self.about(fix));
            FixChange {
                kind,
                target,
                message,
                note: remedy.text(),
                command: remedy.command,
            }
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
        debug_assert!(KINDS.contains(&kind), "{kind} is none of the kinds");
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
        FixItem {
            kind,
            target,
            message,
            note: remedy.text(),
            command: remedy.command,
            look: None,
            proven: !may_be_undone,
            minimal: found.smallest,
            changes,
            nodes: found.nodes.clone(),
            gets: Vec::new(),
            risky: false,
            remakes: self.remakes(&found.changes).unwrap_or_default(),
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
            Fix::DeleteRule { rule } => Remedy::command(delete(Kind::DeviceTaintRule, [rule])),
            Fix::OfferResource { class, resource } => {
                let change = json!({"spec": {"extendedResourceName": resource}});
                Remedy::command(patch(Kind::DeviceClass, None, class, &["--type=merge"], &change))
                    .note(words::offered(resource, class))
            }
            Fix::Uncordon { node } => {
                Remedy::command(Command::kubectl("uncordon").object(Kind::Node, node).done())
            }
            Fix::RestoreNode { .. } => Remedy::by_hand(words::RESTORE_NODE),
            Fix::LiftNodeTaint { node, key, effect } => Remedy::command(lift_node_taint(node, key, effect)),
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
                    Remedy::default().note(words::TERMINATING)
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
            let end = end_some(self.cluster, claim, &others);
            let lost = stuck_users(self.cluster, claim, self.now);
            return lost.into_iter().fold(end, Remedy::note);
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
    fn awaited<'f>(&self, found: &'f Found) -> Option<Vec<&'f Key>> {
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

    /// Kind and target of a change.
    fn target(&self, fix: &Fix) -> (&'static str, String) {
        let of_request = |claim: &Key, request: &str| format!("claim/{claim} request {request}");
        let own = || {
            self.pod
                .map_or_else(String::new, |pod| format!("pod/{}", pod.key()))
        };
        match fix {
            Fix::Release { claim, .. } => ("ReleaseClaim", format!("claim/{claim}")),
            Fix::RenewClaim { claim, .. } => ("RenewClaim", format!("claim/{claim}")),
            Fix::Tolerate { claim, request, .. } => ("TolerateTaint", of_request(claim, request)),
            Fix::TolerateNode { .. } => ("TolerateNodeTaint", own()),
            Fix::Fewer { claim, request, .. } => ("FewerDevices", of_request(claim, request)),
            Fix::FewerExtended { container, .. } => {
                ("FewerDevices", format!("{} container {container}", own()))
            }
            Fix::LessCapacity { claim, request, .. } => ("LessCapacity", of_request(claim, request)),
            Fix::DropTerm {
                claim,
                request,
                selector,
                ..
            } => (
                "RelaxSelector",
                format!("{} selector #{selector}", of_request(claim, request)),
            ),
            Fix::ReplaceTerm {
                claim,
                request,
                selector,
                is_renamed,
                ..
            } => (
                if *is_renamed {
                    "CorrectSelector"
                } else {
                    "GuardSelector"
                },
                format!("{} selector #{selector}", of_request(claim, request)),
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
            pod: self
                .pod
                .map_or_else(String::new, |pod| format!("pod/{}", pod.key())),
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
            Fix::FewerExtended {
                container, resource, ..
            } => {
                let spec = self.pod.map(|pod| &pod.spec);
                let mut all = spec
                    .into_iter()
                    .flat_map(|spec| spec.containers.iter().chain(&spec.init_containers));
                let container = all.find(|known| known.name == *container);
                let wanted = container.and_then(|container| lookup(&container.resources.requests, resource));
                amount(wanted.map(ToString::to_string))
            }
            Fix::DropConstraint { claim, place, .. } if self.is_distinct(claim, *place) => Before::Distinct,
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
            is_idle.then(|| groups.into_iter().cloned().collect())
        });
        if let Some(groups) = ignored {
            Before::Ignored(groups)
        } else if users.iter().any(|entry| !entry.is_pod()) {
            Before::Unknown
        } else if !users.is_empty() {
            match claim.and_then(|claim| end_of(self.cluster, claim, &users)) {
                Some(End::Former) => Before::Former(names()),
                Some(End::Terminating) => Before::Terminating(names()),
                None => Before::Pods(names()),
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
    FixChange {
        kind: "RecreatePod",
        target: format!("pod/{key}"),
        message,
        note: remedy.text(),
        command: remedy.command,
    }
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
    match before.metadata.controller() {
        owner if in_place && !recreates => {
            let change = Remedy::command(script::change(Kind::Pod, &key, operations));
            match owner {
                None => change,
                Some(owner) => change.note(words::others_without(&manager(owner))),
            }
        }
        Some(owner) if !fixes.is_empty() => {
            let owner = top_owner(cluster, before).unwrap_or_else(|| owner.clone());
            let name = manager(&owner);
            Remedy::by_hand(match owner.kind.as_str() {
                "Job" => words::in_new_job(&key, &name),
                // What has made it may be unknown.
                "ReplicaSet" => words::in_template_above(&key, &name),
                _ => words::in_template(&key, &name),
            })
        }
        _ if operations.is_empty() => renew(cluster, before),
        _ => Remedy::command(script::remake(Kind::Pod, &key, operations)).note(words::pod_is_recreated(&key)),
    }
}
