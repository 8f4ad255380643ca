//! What a downgrade costs, in a few numbers and names: what is stopped, converted and deleted.

use std::collections::BTreeSet;

use super::claim::PlannedAction;
use super::groups::Decision;
use super::plan::ConversionPlan;
use super::runbook::groups_go;
use dra_model::{Cluster, Key, NO_EFFECT, Str};
use dra_rules::reservation::conversion::{Code, Target};

/// The sum of a [`ConversionPlan`] with steps, and of what those delete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DowngradeCost {
    /// Groups that are stopped, by namespace and name.
    pub ending: Vec<Key>,
    /// Their pods on a node.
    pub ending_pods: usize,
    /// Their pods without one.
    pub waiting_pods: usize,
    /// Claims that are converted or freed while their pods keep running.
    pub converted: usize,
    /// Claims that can be converted once these pods have a node or are gone.
    pub later: usize,
    /// Pods without a node that those wait for.
    pub pending: BTreeSet<Str>,
    /// Claims that cannot be converted and are not freed with a group: who has to be asked is unknown here.
    pub refused: Vec<Key>,
    /// Claims that are reserved for kinds that were not selected only.
    pub foreign: Vec<Key>,
    /// DeviceTaintRules that are deleted.
    pub rules: usize,
    /// Those of them that evict pods or keep them off.
    pub enforced_rules: usize,
    /// PodGroups that are deleted.
    pub groups: usize,
    /// Workloads that are deleted.
    pub workloads: usize,
}

impl DowngradeCost {
    /// The sum of `plan`, which was created for `target` and has steps. Nothing where something was not read.
    pub fn of(cluster: &Cluster, plan: &ConversionPlan, target: Target) -> Option<Self> {
        if !plan.unknown.is_empty() || plan.steps.is_empty() {
            return None;
        }
        let mut cost = Self::default();
        let mut ends_with_group = BTreeSet::new();
        for group in plan
            .groups
            .iter()
            .filter(|group| group.decision == Decision::Drain)
        {
            cost.ending
                .push(Key::new(group.namespace.clone(), group.name.clone()));
            cost.ending_pods += group.pods.len();
            cost.waiting_pods += group.pending.len();
            ends_with_group.extend(group.claims.iter().map(|claim| (&group.namespace, claim)));
        }
        for claim in &plan.claims {
            if claim.writes() {
                cost.converted += 1;
            } else if claim.code == Code::UnscheduledMembers {
                cost.later += 1;
                cost.pending.extend(claim.unbound.iter().cloned());
            } else if !ends_with_group.contains(&(&claim.namespace, &claim.name)) {
                let list = match claim.action {
                    PlannedAction::Keep => &mut cost.foreign,
                    PlannedAction::Convert | PlannedAction::Release | PlannedAction::Refuse => {
                        &mut cost.refused
                    }
                };
                list.push(Key::new(claim.namespace.clone(), claim.name.clone()));
            }
        }
        if let Target::Minor(_) = target {
            for rule in cluster.rules() {
                cost.rules += 1;
                cost.enforced_rules += usize::from(rule.spec.taint.effect != NO_EFFECT);
            }
        }
        if groups_go(target) {
            let groups = cluster.pod_groups().map(|group| &group.metadata.namespace);
            let workloads = cluster.workloads().map(|workload| &workload.metadata.namespace);
            cost.groups = groups.filter(|namespace| plan.scope.includes(namespace)).count();
            cost.workloads = workloads
                .filter(|namespace| plan.scope.includes(namespace))
                .count();
        }
        Some(cost)
    }

    /// Whether components only have to be replaced.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}
