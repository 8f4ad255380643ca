//! Effects of object changes on claims: pods, PodGroups and claims to process again.
//!
//! Mirrors the event handlers of `controller.go`, v1.37.2.

use super::{ResourceClaims, Subject};
use crate::controllers::Observed;
use crate::reservation::{PodGroups, claim_name, claim_names, group_claim_name, is_done, is_reserved_for};
use dra_model::{Claim, Cluster, Object, Pod, PodGroup};

impl ResourceClaims {
    /// Takes note of a change: whatever it concerns is looked at again.
    pub(super) fn note(&mut self, cluster: &Cluster, change: &Observed) {
        let Some(object) = change.after.as_ref().or(change.before.as_ref()) else {
            return;
        };
        let deleted = change.after.is_none();
        match object {
            Object::Pod(pod) => {
                if let (Some(Object::Pod(before)), false) = (&change.before, deleted)
                    && before.metadata.uid != pod.metadata.uid
                {
                    self.pod_changed(cluster, before, true);
                }
                self.pod_changed(cluster, pod, deleted);
            }
            Object::ResourceClaim(claim) => self.claim_changed(cluster, claim, deleted),
            Object::ResourceClaimTemplate(template) if !deleted => {
                let key = template.metadata.key();
                let pods: Vec<_> = cluster.pods_of_template(&key).cloned().collect();
                for pod in pods {
                    self.pod_changed(cluster, &pod, false);
                }
                if self.features.groups == PodGroups::Accepted {
                    for group in cluster.groups_of_template(&key) {
                        self.group_changed(cluster, group, false);
                    }
                }
            }
            Object::PodGroup(group) => {
                if self.features.groups == PodGroups::Accepted {
                    self.group_changed(cluster, group, deleted);
                }
                if self.features.deviations.members_of_groups && self.features.workloads && !deleted {
                    self.members_changed(cluster, group);
                }
            }
            _ => {}
        }
    }

    /// Mirrors `enqueuePod`.
    pub(super) fn pod_changed(&mut self, cluster: &Cluster, pod: &Pod, deleted: bool) {
        let extended = pod.status.extended_resource_claim_status.is_some();
        if pod.spec.resource_claims.is_empty() && !extended {
            return;
        }
        if deleted {
            self.deleted.add(&pod.metadata.uid);
            self.given_up.remove(&Subject::Pod(pod.key()));
        }
        if deleted || is_done(pod) {
            for key in claim_names(pod).filter_map(|name| name.key()) {
                self.queue.add(Subject::Claim(key));
            }
        }
        if self.pod_needs_work(cluster, pod) {
            self.queue.add(Subject::Pod(pod.key()));
        }
    }

    /// Mirrors `podNeedsWork`.
    pub(super) fn pod_needs_work(&self, cluster: &Cluster, pod: &Pod) -> bool {
        if pod.metadata.is_deleting() || !self.may_get_claims(pod) {
            return false;
        }
        pod.spec.resource_claims.iter().any(|entry| {
            let Ok(meant) = claim_name(pod, entry) else {
                return true;
            };
            let Some(key) = meant.key() else { return false };
            let Some(claim) = cluster.claim(&key) else {
                return entry.resource_claim_template_name.is_some()
                    && match self.group_of(cluster, pod) {
                        Err(_) => true,
                        Ok(group) => crate::reservation::bind_to(pod, group.map(|group| &**group), entry)
                            .is_ok_and(|consumer| !consumer.is_pod_group()),
                    };
            };
            let groups = self.features.groups;
            if meant.may_use(claim, groups).is_err() {
                return false;
            }
            pod.node().is_some() && claim.status.allocation.is_some() && !is_reserved_for(pod, claim, groups)
        })
    }

    /// Mirrors `enqueuePodGroup`.
    pub(super) fn group_changed(&mut self, cluster: &Cluster, group: &PodGroup, deleted: bool) {
        if group.spec.resource_claims.is_empty() {
            return;
        }
        let names = || {
            group
                .spec
                .resource_claims
                .iter()
                .map(|entry| group_claim_name(group, entry))
        };
        if deleted {
            self.deleted.add(&group.metadata.uid);
            for key in names().filter_map(|name| name.ok()?.key()) {
                self.queue.add(Subject::Claim(key));
            }
        }
        let needs_work = !group.metadata.is_deleting()
            && group
                .spec
                .resource_claims
                .iter()
                .zip(names())
                .any(|(entry, name)| match name.map(|name| name.key()) {
                    Err(_) => true,
                    Ok(None) => false,
                    Ok(Some(key)) => {
                        entry.resource_claim_template_name.is_some() && cluster.claim(&key).is_none()
                    }
                });
        if needs_work {
            self.queue.add(Subject::PodGroup(group.metadata.key()));
        }
        self.members_changed(cluster, group);
    }

    fn members_changed(&mut self, cluster: &Cluster, group: &PodGroup) {
        let members: Vec<_> = cluster.pods_of_group(&group.metadata.key()).cloned().collect();
        for pod in members {
            self.pod_changed(cluster, &pod, false);
        }
    }

    /// Mirrors `enqueueResourceClaim`.
    fn claim_changed(&mut self, cluster: &Cluster, claim: &Claim, deleted: bool) {
        let key = claim.key();
        if !deleted {
            self.queue.add(Subject::Claim(key.clone()));
        }
        let pods: Vec<_> = cluster.pods_of_claim(&key).cloned().collect();
        for pod in pods {
            self.pod_changed(cluster, &pod, false);
        }
        if self.features.groups == PodGroups::Accepted {
            for group in cluster.groups_of_claim(&key) {
                let entries = &group.spec.resource_claims;
                let means_it = |entry| {
                    group_claim_name(group, entry).is_ok_and(|name| name.key().as_ref() == Some(&key))
                };
                if entries.iter().any(means_it) {
                    self.group_changed(cluster, group, false);
                }
            }
        }
    }
}
