//! What a pod needs: claims from templates, and reservations where it already has a node.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::names::from_template;
use super::{ClaimName, ClaimWrite, Owner, Plan, ResourceClaims, Stop, Warning};
use crate::model::{Cluster, Gate, Key, Pod, PodClaim, PodGroup, Str};
use crate::reservation::{ClaimNameError, NoGroup, PodGroups, bind_to, claim_name, missing_consumer};

impl ResourceClaims {
    /// Mirrors `syncPod`.
    pub(super) fn sync_pod(&self, cluster: &Cluster, key: &Key, plan: &mut Plan) -> Result<(), Stop> {
        let Some(pod) = cluster.pod(key).filter(|pod| !pod.metadata.is_deleting()) else {
            return Ok(());
        };
        let group = self.group_of(cluster, pod).map_err(|why| {
            let text = format!("get PodGroup for Pod {key}: {why}");
            match why {
                NoGroup::Disabled(_) => Stop::Drop(text),
                NoGroup::Missing(_) => Stop::Retry(text),
            }
        })?;
        let mut made = BTreeMap::new();
        for entry in &pod.spec.resource_claims {
            match self.claim_for(cluster, pod, group, entry, plan) {
                Ok(Some(claim)) => {
                    made.insert(entry.name.clone(), claim);
                }
                Ok(None) => {}
                Err(stop) => {
                    let why = stop.text()?;
                    let message = format!("PodResourceClaim {}: {why}", entry.name);
                    plan.warning = Some(Warning {
                        about: Owner::pod(pod),
                        message: message.clone(),
                    });
                    // The text hides that some reasons are final, here as upstream.
                    return Err(Stop::Retry(format!("pod {key}, {message}")));
                }
            }
        }
        if !made.is_empty() {
            plan.writes.push(ClaimWrite::SetStatuses {
                of: Owner::pod(pod),
                statuses: self.statuses(pod, made),
            });
        }
        if pod.node().is_some() {
            self.reserve(cluster, pod, group, plan)?;
        }
        Ok(())
    }

    fn statuses(&self, pod: &Pod, made: BTreeMap<Str, ClaimName>) -> Vec<(Str, ClaimName)> {
        let mut all = BTreeMap::new();
        if self.features.keeps_statuses {
            for status in &pod.status.resource_claim_statuses {
                if let Some(name) = &status.resource_claim_name {
                    all.insert(status.name.clone(), ClaimName::Known(name.clone()));
                }
            }
        }
        all.extend(made);
        all.into_iter().collect()
    }

    /// Mirrors `handleClaim`: the claim that the pod's status has to name, if it does not yet.
    fn claim_for(
        &self,
        cluster: &Cluster,
        pod: &Arc<Pod>,
        group: Option<&Arc<PodGroup>>,
        entry: &PodClaim,
        plan: &mut Plan,
    ) -> Result<Option<ClaimName>, Stop> {
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
                if self.claim_exists(cluster, &key, |claim| meant.may_use(claim, groups).is_ok())? {
                    return Ok(None);
                }
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
        let claim = from_template(cluster, self.features, &owner, &entry.name, template)?;
        Ok(Some(plan.create(claim)))
    }

    /// The second half of `syncPod`: a pod that got its node from somebody else than the scheduler.
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
    /// Adds the creation of `claim`, and returns how to name it.
    pub(super) fn create(&mut self, claim: Arc<crate::model::Claim>) -> ClaimName {
        let before = self
            .writes
            .iter()
            .filter(|write| matches!(write, ClaimWrite::Create(_)))
            .count();
        self.writes.push(ClaimWrite::Create(claim));
        ClaimName::Created(before)
    }
}
