//! Placement of replacements: a dry run of kube-scheduler for one pod after the other.

use std::sync::Arc;

use super::replacement::replacement;
use super::world::{Placement, Scheduler};
use crate::scheduling::{
    self, IN_MEMORY_CLAIM, Start, Verdict, generate_claims, message, message_of_obstacle, remove_pod,
};
use dra_allocator::Budget;
use dra_model::{Cluster, Kind, Pod, Time};

/// Answers as kube-scheduler would, pod by pod, on the cluster as it is at that moment.
///
/// Other pods that wait do not compete, and no pod is preempted.
#[derive(Debug)]
pub struct DryRun {
    /// Number of objects that may still be looked at: every question looks at all that.
    objects: usize,
    budget: Budget,
}

impl DryRun {
    /// One that answers until it has looked at so many objects, and its searches have taken so many steps; what is asked then is
    /// unknown.
    pub fn new(objects: usize, steps: u64) -> Self {
        Self {
            objects,
            budget: Budget::new(steps),
        }
    }
}

impl DryRun {
    /// Finds out where the successor of a pod fits, once the pod and what it alone has are gone.
    pub fn place_anew(&mut self, cluster: &Cluster, pod: &Arc<Pod>, now: Time) -> Placement {
        let mut cluster = cluster.clone();
        remove_pod(&mut cluster, &pod.key());
        match generate_claims(&mut cluster, &replacement(pod, 0, now)) {
            Ok(made) => self.place(&cluster, &made, now),
            Err(why) => Placement::Unknown { why: why.to_string() },
        }
    }
}

impl Scheduler for DryRun {
    fn place(&mut self, cluster: &Cluster, pod: &Arc<Pod>, now: Time) -> Placement {
        let kinds = [Kind::Node, Kind::ResourceSlice, Kind::ResourceClaim, Kind::Pod];
        let cost: usize = kinds.into_iter().map(|kind| cluster.count(kind)).sum();
        match self.objects.checked_sub(cost) {
            Some(left) => self.objects = left,
            None => {
                return Placement::Unknown {
                    why: "too many replacements to try them all in a cluster of this size".to_owned(),
                };
            }
        }
        let scheduler = scheduling::Scheduler::new(cluster, now);
        let cycle = match scheduler.pod(pod) {
            Start::Cycle(cycle) => cycle,
            Start::Obstacle(obstacle) => {
                let message = message_of_obstacle(cluster, Some(pod), &obstacle);
                return Placement::DoesNotFit {
                    message: message.text().map_or_else(|| obstacle.text(), str::to_owned),
                };
            }
            Start::Unknown(gaps) => {
                let kinds: Vec<_> = gaps.iter().map(|gap| gap.kind.plural()).collect();
                return Placement::Unknown {
                    why: format!("{} could not be read", kinds.join(", ")),
                };
            }
        };
        let nodes: Vec<_> = cluster.nodes().collect();
        let verdicts: Vec<_> =
            scheduling::judge_all(&cycle, &nodes, &self.budget, &(), &scheduling::in_order)
                .into_iter()
                .map(|(node, judgment)| (node, judgment.verdict))
                .collect();
        let nodes: Vec<_> = verdicts
            .iter()
            .filter(|(_, verdict)| verdict.fits())
            .map(|(node, _)| node.metadata.name.clone())
            .collect();
        let granted = verdicts.iter().find_map(|(_, verdict)| match verdict {
            Verdict::Fits(granted) => Some(granted),
            _ => None,
        });
        if let Some(granted) = granted {
            return Placement::Fits {
                nodes,
                allocations: granted
                    .iter()
                    .filter(|granted| !granted.existing && granted.claim.name != IN_MEMORY_CLAIM)
                    .map(|granted| (granted.claim.clone(), granted.allocation.clone()))
                    .collect(),
            };
        }
        match message(&cycle, &verdicts) {
            Some(message) => Placement::DoesNotFit {
                message: message.text().unwrap_or_default().to_owned(),
            },
            None => Placement::Unknown {
                why: "the search for devices was too expensive".to_owned(),
            },
        }
    }
}
