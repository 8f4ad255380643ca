//! Writes, carried out in memory as the API server does.

use std::sync::Arc;

use super::World;
use super::nodes::is_lost;
use super::reason::{DeviceReference, reasons};
use super::record::name_of;
use super::replacement::made_up_uid;
use super::timeline::What;
use crate::controllers::{
    Action, Actor, ClaimName, ClaimWrite, ControllerName, Outcome, Owner, Plan, PodRef,
};
use crate::eviction::{DISRUPTION_TARGET, EVICTION_IN_PROGRESS, Eviction, disruption};
use crate::owners::Replacing;
use dra_model::{
    Change, Claim, ClaimStatus, Condition, FINALIZER, Key, Kind, Object, Pod, PodClaimStatus, Str,
};

/// Time that a pod has to end when it does not say otherwise, in seconds.
const DEFAULT_GRACE_SECONDS: i64 = 30;

impl World<'_> {
    /// The pod is marked for deletion, unless it is already.
    pub(super) fn evict(&mut self, pod: &PodRef, eviction: &Eviction) -> Outcome {
        let Some(current) = self.pod(pod) else {
            return Outcome::Gone;
        };
        if current.metadata.is_deleting() {
            return Outcome::Done;
        }
        let grace_seconds = grace_seconds(&current);
        self.note(
            &pod.key,
            &pod.uid,
            What::PodDeleted {
                eviction: eviction.clone(),
                grace_seconds,
            },
        );
        self.record(
            Actor::Controller(ControllerName::DeviceTaintEviction),
            Action::EvictPod,
            (Kind::Pod, &pod.key),
            || reasons(eviction),
        );
        self.delete_pod(&current, grace_seconds);
        Outcome::Done
    }

    /// The rule gets the condition.
    pub(super) fn set_condition(&mut self, rule: &Str, uid: &Str, condition: &Condition) -> Outcome {
        let Some(current) = self
            .cluster()
            .rule(rule)
            .filter(|found| found.metadata.uid == *uid)
        else {
            return Outcome::Gone;
        };
        let mut changed = (**current).clone();
        changed
            .status
            .conditions
            .retain(|known| known.type_ != EVICTION_IN_PROGRESS);
        changed.status.conditions.push(condition.clone());
        let key = changed.metadata.key();
        self.note(
            &key,
            uid,
            What::RuleStatus {
                condition: Box::new(condition.clone()),
            },
        );
        self.record(
            Actor::Controller(ControllerName::DeviceTaintEviction),
            Action::UpdateCondition,
            (Kind::DeviceTaintRule, &key),
            || format!("{}: {}", condition.reason, condition.message),
        );
        self.apply(Change::Put(Object::DeviceTaintRule(Arc::new(changed))));
        Outcome::Done
    }

    fn pod(&self, pod: &PodRef) -> Option<Arc<Pod>> {
        let found = self.cluster().pod(&pod.key)?;
        (found.metadata.uid == pod.uid).then(|| Arc::clone(found))
    }

    /// Marks the pod for deletion, or removes it where there is nothing to wait for.
    fn delete_pod(&mut self, pod: &Arc<Pod>, grace_seconds: i64) {
        let mut leaving = (**pod).clone();
        let at = self
            .now
            .add_nanoseconds(grace_seconds.saturating_mul(1_000_000_000));
        leaving.metadata.deletion_timestamp = Some(at.whole_seconds());
        leaving.metadata.deletion_grace_period_seconds = Some(grace_seconds);
        let conditions = &mut leaving.status.conditions;
        let is_it = |condition: &Condition| condition.type_ == DISRUPTION_TARGET;
        if let Some(condition) = disruption(conditions.iter().find(|known| is_it(known)), self.now) {
            conditions.retain(|known| !is_it(known));
            conditions.push(condition);
        }
        let reference = PodRef::of(&leaving);
        self.apply(Change::Put(Object::Pod(Arc::new(leaving))));
        if grace_seconds == 0 {
            self.remove_pod(&reference);
        } else if !is_lost(self.cluster(), pod) {
            self.ending.entry(at).or_default().push(reference);
        }
        self.replace(pod, Replacing::AtOnce);
    }

    /// The kubelet has confirmed the end of the pod.
    pub(super) fn remove_pod(&mut self, reference: &PodRef) {
        let Some(pod) = self.pod(reference) else { return };
        self.note(&reference.key, &reference.uid, What::PodGone);
        self.record(
            Actor::Kubelet,
            Action::RemovePod,
            (Kind::Pod, &reference.key),
            String::new,
        );
        self.apply(Change::Delete(Kind::Pod, reference.key.clone()));
        if self.cluster().claims_of_owner(&reference.uid).next().is_some() {
            self.garbage.insert(reference.uid.clone());
        }
        self.replace(&pod, Replacing::OnceGone);
    }

    /// Carries out the writes of `plan`.
    ///
    /// # Errors
    /// Why a write fails. Those behind it are not tried.
    pub(super) fn write_all(&mut self, plan: &Plan) -> Result<(), String> {
        let mut created = Vec::new();
        for (number, write) in plan.writes.iter().enumerate() {
            let intended = self.intended(write, &created);
            self.write(write, plan.writes.get(number + 1), &mut created)?;
            for wish in intended {
                self.record_write(wish);
            }
        }
        if let Some(warning) = &plan.warning {
            self.warn(&warning.about, &warning.message);
        }
        Ok(())
    }

    /// Carries out a write; `next` is the one behind it.
    fn write(
        &mut self,
        write: &ClaimWrite,
        next: Option<&ClaimWrite>,
        created: &mut Vec<Arc<Claim>>,
    ) -> Result<(), String> {
        match write {
            ClaimWrite::Create { claim, template } => {
                let made = self.create(claim);
                self.record_template(made.key(), template.metadata.key());
                created.push(made);
            }
            ClaimWrite::SetStatuses { of, statuses } => self.set_statuses(of, statuses, created),
            ClaimWrite::Reserve { claim, consumer } => {
                self.check_unchanged(claim)?;
                let mut changed = (**claim).clone();
                changed.status.reserved_for.push(consumer.clone());
                self.put_claim(changed);
            }
            ClaimWrite::Release {
                claim,
                remaining,
                deallocate,
            } => {
                self.check_unchanged(claim)?;
                let reserved_for = remaining.clone();
                if *deallocate {
                    let devices: Arc<[DeviceReference]> = claim
                        .results()
                        .iter()
                        .filter(|result| result.takes())
                        .map(|result| DeviceReference::from(result.id()))
                        .collect();
                    if !devices.is_empty() {
                        self.note(&claim.key(), &claim.metadata.uid, What::ClaimReleased { devices });
                    }
                }
                // An allocation that goes is not copied first.
                let status = if *deallocate {
                    ClaimStatus {
                        allocation: None,
                        reserved_for,
                        devices: Vec::new(),
                    }
                } else {
                    ClaimStatus {
                        reserved_for,
                        ..claim.status.clone()
                    }
                };
                let mut metadata = claim.metadata.clone();
                // No controller sees the claim between this write and the next one, so both are one change. A claim that is being deleted
                // goes with its finalizer: it loses the allocation first, which the controllers see.
                if !metadata.is_deleting()
                    && matches!(next, Some(ClaimWrite::RemoveFinalizer(next)) if Arc::ptr_eq(next, claim))
                {
                    metadata.finalizers.retain(|name| name != FINALIZER);
                }
                self.put_claim(Claim {
                    metadata,
                    spec: claim.spec.clone(),
                    status,
                });
            }
            ClaimWrite::RemoveFinalizer(claim) => {
                let key = &claim.key();
                let claim = self.cluster().claim(key);
                if let Some(claim) = claim.filter(|claim| claim.is_protected()) {
                    let mut changed = (**claim).clone();
                    changed.metadata.finalizers.retain(|name| name != FINALIZER);
                    if changed.metadata.is_deleting() && changed.metadata.finalizers.is_empty() {
                        self.remove_claim(key);
                    } else {
                        self.put_claim(changed);
                    }
                }
            }
            ClaimWrite::Delete(claim) => {
                let key = &claim.key();
                if !self.delete_claim(key) {
                    return Err(format!(
                        "resourceclaims.resource.k8s.io \"{}\" not found",
                        key.name
                    ));
                }
            }
        }
        Ok(())
    }

    /// Only a claim that is as it was read is written.
    fn check_unchanged(&self, claim: &Arc<Claim>) -> Result<(), String> {
        match self.cluster().claim(&claim.key()) {
            Some(current) if Arc::ptr_eq(current, claim) => Ok(()),
            _ => Err("the object has been modified".to_owned()),
        }
    }

    fn put_claim(&mut self, claim: Claim) {
        self.apply(Change::Put(Object::ResourceClaim(Arc::new(claim))));
    }

    fn create(&mut self, claim: &Arc<Claim>) -> Arc<Claim> {
        let number = self.number();
        let mut made = (**claim).clone();
        // What a rehearsal makes has the name that it would get.
        if !self.is_rehearsal() {
            made.metadata.name = format!("{}sim-{number}", made.metadata.generate_name).into();
        }
        made.metadata.uid = made_up_uid("claim", number);
        made.metadata.creation_timestamp = Some(self.now.whole_seconds());
        let owner = made
            .metadata
            .controller()
            .map(|owner| made.metadata.beside(&owner.name));
        let made = Arc::new(made);
        self.note(
            &made.key(),
            &made.metadata.uid,
            What::ClaimCreated {
                owner: owner.unwrap_or_default(),
            },
        );
        self.apply(Change::Put(Object::ResourceClaim(Arc::clone(&made))));
        made
    }

    fn set_statuses(&mut self, of: &Owner, statuses: &[(Str, ClaimName)], created: &[Arc<Claim>]) {
        let statuses = statuses
            .iter()
            .filter_map(|(entry, claim)| {
                Some(PodClaimStatus {
                    name: entry.clone(),
                    resource_claim_name: Some(name_of(claim, created)?.clone()),
                })
            })
            .collect();
        let changed = match of.kind {
            Kind::Pod => self.cluster().pod(&of.key).map(|pod| {
                let mut changed = (**pod).clone();
                changed.status.resource_claim_statuses = statuses;
                Object::Pod(Arc::new(changed))
            }),
            _ => self.cluster().pod_group(&of.key).map(|group| {
                let mut changed = (**group).clone();
                changed.status.resource_claim_statuses = statuses;
                Object::PodGroup(Arc::new(changed))
            }),
        };
        if let Some(object) = changed {
            self.apply(Change::Put(object));
        }
    }

    /// Deletes the claim, which its finalizers may delay. Says whether there was one.
    pub(super) fn delete_claim(&mut self, key: &Key) -> bool {
        let Some(claim) = self.cluster().claim(key) else {
            return false;
        };
        if claim.metadata.finalizers.is_empty() {
            self.remove_claim(key);
        } else if !claim.metadata.is_deleting() {
            let mut changed = (**claim).clone();
            changed.metadata.deletion_timestamp = Some(self.now.whole_seconds());
            self.put_claim(changed);
        }
        true
    }

    fn remove_claim(&mut self, key: &Key) {
        if let Some(uid) = self.cluster().claim(key).map(|claim| claim.metadata.uid.clone()) {
            self.note(key, &uid, What::ClaimDeleted);
        }
        self.apply(Change::Delete(Kind::ResourceClaim, key.clone()));
    }
}

/// Returns how long the pod may take to end. Mirrors `pkg/registry/core/pod/strategy.go`, `CheckGracefulDelete`,
/// v1.37.2: a pod without a node, or that has ended, is deleted immediately; a negative time counts as 1 s.
fn grace_seconds(pod: &Pod) -> i64 {
    if pod.node().is_none() || pod.is_terminal() {
        return 0;
    }
    match pod.spec.termination_grace_period_seconds {
        None => DEFAULT_GRACE_SECONDS,
        Some(seconds) if seconds < 0 => 1,
        Some(seconds) => seconds,
    }
}
