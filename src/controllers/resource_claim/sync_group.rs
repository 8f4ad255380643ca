//! What a PodGroup needs: claims from templates, once for all members.

use std::collections::BTreeMap;

use super::names::from_template;
use super::{ClaimName, ClaimWrite, Owner, Plan, ResourceClaims, Stop, Warning};
use crate::model::{Cluster, Key, PodClaim, PodGroup};
use crate::reservation::{GroupClaimNameError, group_claim_name};

impl ResourceClaims {
    /// Mirrors `syncPodGroup`.
    pub(super) fn sync_group(&self, cluster: &Cluster, key: &Key, plan: &mut Plan) -> Result<(), Stop> {
        let Some(group) = cluster
            .pod_group(key)
            .filter(|group| !group.metadata.is_deleting())
        else {
            return Ok(());
        };
        let mut made = BTreeMap::new();
        for entry in &group.spec.resource_claims {
            match self.claim_for_group(cluster, group, entry, plan) {
                Ok(Some(claim)) => {
                    made.insert(entry.name.clone(), claim);
                }
                Ok(None) => {}
                Err(stop) => {
                    let why = stop.text()?;
                    let message = format!("PodGroupResourceClaim {}: {why}", entry.name);
                    plan.warning = Some(Warning {
                        about: Owner::group(group),
                        message: message.clone(),
                    });
                    return Err(Stop::Retry(format!("PodGroup {key}, {message}")));
                }
            }
        }
        if !made.is_empty() {
            plan.writes.push(ClaimWrite::SetStatuses {
                of: Owner::group(group),
                statuses: made.into_iter().collect(),
            });
        }
        Ok(())
    }

    /// Mirrors `handlePodGroupClaim`.
    fn claim_for_group(
        &self,
        cluster: &Cluster,
        group: &PodGroup,
        entry: &PodClaim,
        plan: &mut Plan,
    ) -> Result<Option<ClaimName>, Stop> {
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
                if self.claim_exists(cluster, &key, |claim| meant.may_use(claim).is_ok())? {
                    return Ok(None);
                }
            }
        }
        let Some(template) = &entry.resource_claim_template_name else {
            return Ok(None);
        };
        let owner = Owner::group(group);
        if let Some(claim) = self.made_for(cluster, &owner, &entry.name) {
            return Ok(Some(ClaimName::Known(claim.metadata.name.clone())));
        }
        let claim = from_template(cluster, self.features, &owner, &entry.name, template)?;
        Ok(Some(plan.create(claim)))
    }
}
