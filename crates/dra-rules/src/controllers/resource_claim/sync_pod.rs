//! Work on a pod: creates claims from templates, and reserves them if it is scheduled.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::names::from_template;
use super::{Answers, ClaimName, ClaimWrite, Owner, Plan, Questions, ResourceClaims, Stop, Warning};
use crate::reservation::{ClaimNameError, NoGroup, PodGroups, bind_to, claim_name, missing_consumer};
use dra_model::{Claim, Cluster, Gate, Key, Kind, Pod, PodClaim, PodClaimStatus, PodGroup, Str};

impl ResourceClaims {
    /// Mirrors `syncPod`.
    pub(super) fn sync_pod(
        &self,
        cluster: &Cluster,
        key: &Key,
        answers: &Answers,
        plan: &mut Plan,
    ) -> Result<(), Stop> {
        let is_served = |pod: &&Arc<Pod>| !pod.metadata.is_deleting() && self.may_get_claims(pod);
        let Some(pod) = cluster.pod(key).filter(is_served) else {
            return Ok(());
        };
        let group = self.group_of(cluster, pod).map_err(|why| {
            let text = format!("get PodGroup for Pod {key}: {why}");
            match why {
                NoGroup::Disabled(_) => Stop::Drop(text),
                NoGroup::Missing(_) => Stop::Retry(text),
            }
        })?;
        let owner = Owner::pod(pod);
        let made = self.make_claims(&owner, &pod.spec.resource_claims, plan, |entry, plan| {
            self.claim_for(cluster, pod, group, entry, answers, plan)
        })?;
        let known = &pod.status.resource_claim_statuses;
        plan.set_statuses(owner, known, made, self.features.keeps_statuses);
        if pod.node().is_some() {
            self.reserve(cluster, pod, group, plan)?;
        }
        Ok(())
    }

    /// Mirrors `handleClaim`: the claim that the pod's status has to name, if it does not yet.
    fn claim_for(
        &self,
        cluster: &Cluster,
        pod: &Arc<Pod>,
        group: Option<&Arc<PodGroup>>,
        entry: &PodClaim,
        answers: &Answers,
        plan: &mut Plan,
    ) -> Result<Option<ClaimName>, Stop> {
        let mut replaced = Str::default();
        match claim_name(pod, entry) {
            Err(ClaimNameError::NotCreated { .. }) => {}
            Err(why) => {
                return Err(Stop::Retry(format!(
                    "checking for claim before creating it: {why}"
                )));
            }
            Ok(meant) => {
                let Some(key) = meant.key() else {
                    return Ok(None);
                };
                let groups = self.features.groups;
                let is_right = |claim: &Claim| meant.may_use(claim, groups).is_ok();
                if self.claim_exists(cluster, answers, &key, is_right)? {
                    return Ok(None);
                }
                replaced = key.name;
            }
        }
        let Some(template) = &entry.resource_claim_template_name else {
            return Ok(None);
        };
        let consumer =
            bind_to(pod, group.map(|group| &**group), entry).map_err(|why| Stop::Retry(why.to_string()))?;
        if let (true, Some(group)) = (consumer.is_pod_group(), group) {
            if self.features.groups == PodGroups::Ignored {
                return Err(Stop::Drop(format!(
                    "claim {} is a PodGroup claim but the {} feature is disabled",
                    entry.name,
                    Gate::DRAWorkloadResourceClaims
                )));
            }
            let found = self.made_for(cluster, &Owner::group(group), &entry.name);
            return Ok(found.map(|claim| ClaimName::Known(claim.metadata.name.clone())));
        }
        let owner = Owner::pod(pod);
        if let Some(claim) = self.made_for(cluster, &owner, &entry.name) {
            return Ok(Some(ClaimName::Known(claim.metadata.name.clone())));
        }
        let write = from_template(cluster, self.features, &owner, &entry.name, template, &replaced)?;
        Ok(Some(plan.create(write)))
    }

    /// Plans the claims of `owner`: what `claim_for` finds or makes for each of its entries. Returns their names by entry.
    pub(super) fn make_claims(
        &self,
        owner: &Owner,
        entries: &[PodClaim],
        plan: &mut Plan,
        claim_for: impl Fn(&PodClaim, &mut Plan) -> Result<Option<ClaimName>, Stop>,
    ) -> Result<BTreeMap<Str, ClaimName>, Stop> {
        let mut made = BTreeMap::new();
        let mut questions = Questions::default();
        for entry in entries {
            match questions.note(claim_for(entry, plan)) {
                Ok(Some(Some(claim))) => {
                    made.insert(entry.name.clone(), claim);
                }
                Ok(Some(None) | None) => {}
                Err(stop) => {
                    let is_final = matches!(stop, Stop::Drop(_)) && self.features.deviations.final_errors;
                    let warning = Warning::new(owner.clone(), &entry.name, &stop.text()?);
                    let kind = if owner.kind == Kind::Pod {
                        "pod"
                    } else {
                        "PodGroup"
                    };
                    let text = format!("{kind} {}, {}", owner.key, warning.message);
                    plan.warning = Some(warning);
                    // Upstream, the text hides that some reasons are final.
                    return Err(if is_final {
                        Stop::Drop(text)
                    } else {
                        Stop::Retry(text)
                    });
                }
            }
        }
        questions.asked()?;
        Ok(made)
    }

    /// The second half of `syncPod`: a pod that another scheduler bound.
    fn reserve(
        &self,
        cluster: &Cluster,
        pod: &Arc<Pod>,
        group: Option<&Arc<PodGroup>>,
        plan: &mut Plan,
    ) -> Result<(), Stop> {
        let groups = self.features.groups;
        for entry in &pod.spec.resource_claims {
            let meant = claim_name(pod, entry).map_err(|why| Stop::Retry(why.to_string()))?;
            let Some(key) = meant.key() else { continue };
            let Some(claim) = cluster.claim(&key) else {
                return Ok(());
            };
            meant
                .may_use(claim, groups)
                .map_err(|why| Stop::Retry(why.to_string()))?;
            let missing = missing_consumer(pod, group.map(|group| &**group), entry, claim, groups);
            let Some(consumer) = missing.map_err(|why| Stop::Retry(why.to_string()))? else {
                continue;
            };
            // A second write of the same claim would be refused as out of date; the next turn finds it done.
            let again = plan.writes.iter().any(
                |write| matches!(write, ClaimWrite::Reserve { claim: other, .. } if Arc::ptr_eq(other, claim)),
            );
            if !again {
                plan.writes.push(ClaimWrite::Reserve {
                    claim: Arc::clone(claim),
                    consumer,
                });
            }
        }
        Ok(())
    }
}

impl Plan {
    /// Adds the claims that were `made`, by entry, to the status of their owner. It keeps those that it has `known` only if `are_kept`.
    pub(super) fn set_statuses(
        &mut self,
        of: Owner,
        known: &[PodClaimStatus],
        made: BTreeMap<Str, ClaimName>,
        are_kept: bool,
    ) {
        if made.is_empty() {
            return;
        }
        let mut all = BTreeMap::new();
        for status in known.iter().filter(|_| are_kept) {
            if let Some(name) = &status.resource_claim_name {
                all.insert(status.name.clone(), ClaimName::Known(name.clone()));
            }
        }
        all.extend(made);
        let statuses = all.into_iter().collect();
        self.writes.push(ClaimWrite::SetStatuses { of, statuses });
    }

    /// Adds the creation of a claim, and returns how to name it.
    pub(super) fn create(&mut self, write: ClaimWrite) -> ClaimName {
        let before = self
            .writes
            .iter()
            .filter(|write| matches!(write, ClaimWrite::Create { .. }))
            .count();
        self.writes.push(write);
        ClaimName::Created(before)
    }
}
