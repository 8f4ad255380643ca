//! Work on a PodGroup: creates claims from templates, once for all members.

use super::names::from_template;
use super::{Answers, ClaimName, Owner, Plan, ResourceClaims, Stop};
use crate::reservation::{GroupClaimNameError, group_claim_name};
use dra_model::{Cluster, Key, PodClaim, PodGroup, Str};

impl ResourceClaims {
    /// Mirrors `syncPodGroup`.
    pub(super) fn sync_group(
        &self,
        cluster: &Cluster,
        key: &Key,
        answers: &Answers,
        plan: &mut Plan,
    ) -> Result<(), Stop> {
        let Some(group) = cluster
            .pod_group(key)
            .filter(|group| !group.metadata.is_deleting())
        else {
            return Ok(());
        };
        let owner = Owner::group(group);
        let made = self.make_claims(&owner, &group.spec.resource_claims, plan, |entry, plan| {
            self.claim_for_group(cluster, group, entry, answers, plan)
        })?;
        let known = &group.status.resource_claim_statuses;
        plan.set_statuses(owner, known, made, self.features.deviations.group_statuses);
        Ok(())
    }

    /// Mirrors `handlePodGroupClaim`.
    fn claim_for_group(
        &self,
        cluster: &Cluster,
        group: &PodGroup,
        entry: &PodClaim,
        answers: &Answers,
        plan: &mut Plan,
    ) -> Result<Option<ClaimName>, Stop> {
        let mut replaced = Str::default();
        match group_claim_name(group, entry) {
            Err(GroupClaimNameError::NotCreated { .. }) => {}
            Err(why) => {
                return Err(Stop::Retry(format!(
                    "checking for claim before creating it: {why}"
                )));
            }
            Ok(meant) => {
                let Some(key) = meant.key() else {
                    return Ok(None);
                };
                if self.claim_exists(cluster, answers, &key, |claim| meant.may_use(claim).is_ok())? {
                    return Ok(None);
                }
                replaced = key.name;
            }
        }
        let Some(template) = &entry.resource_claim_template_name else {
            return Ok(None);
        };
        let owner = Owner::group(group);
        if let Some(claim) = self.made_for(cluster, &owner, &entry.name) {
            return Ok(Some(ClaimName::Known(claim.metadata.name.clone())));
        }
        let write = from_template(cluster, self.features, &owner, &entry.name, template, &replaced)?;
        Ok(Some(plan.create(write)))
    }
}
