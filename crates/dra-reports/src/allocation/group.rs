//! Pods whose PodGroup is placed together.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::exactness::Exactness;
use super::gang::Gang;
use super::report::{Fit, NodeResult};
use super::{Judged, Settings, judge, words};
use dra_model::{Cluster, Key, Pod};
use dra_rules::scheduling::{GroupCycle, GroupResult, Judging, Message, Scheduler, generate_claims};

/// The plugin of the scheduler that keeps a gang together.
pub(crate) const GANG: &str = "GangScheduling";

impl<'s> From<&Settings<'s>> for Judging<'s> {
    fn from(settings: &Settings<'s>) -> Self {
        Self {
            budget: settings.budget,
            observer: settings.observer,
            run: settings.run,
        }
    }
}

/// Judges a pod in the cycle of its PodGroup, as if the claims of all its members were made; nothing where it is placed alone, or its group
/// is one of those that are `agreed` to be placed. One that is placed becomes one of them.
pub(super) fn judge_member(
    cluster: &Cluster,
    pod: &Arc<Pod>,
    agreed: &mut BTreeSet<Key>,
    settings: &Settings<'_>,
) -> Option<Judged> {
    let group = pod.metadata.beside(pod.pod_group()?);
    if agreed.contains(&group) {
        return None;
    }
    let mut cluster = cluster.clone();
    let members: Vec<Arc<Pod>> = cluster.pods_of_group(&group).cloned().collect();
    for member in members {
        if member.node().is_none() && !member.is_terminal() && member.key() != pod.key() {
            // What cannot be made keeps the member from the queue.
            generate_claims(&mut cluster, &member).ok();
        }
    }
    let scheduler = Scheduler::new(&cluster, settings.now);
    let cycle = scheduler
        .members(pod)?
        .judge(&scheduler, &pod.key(), settings.into());
    let turn = cycle.turn(&pod.key());
    let scheduler = turn.map_or_else(|| scheduler.fork(&cluster), |turn| scheduler.fork(&turn.cluster));
    let mut judged = judge(&scheduler, &scheduler.pod(pod), Some(pod), settings);
    if cycle.result == GroupResult::Placed {
        agreed.insert(group);
    }
    judged.see_group(&cycle, &pod.key());
    Some(judged)
}

impl Judged {
    /// Takes in what becomes of the PodGroup of the pod.
    fn see_group(&mut self, cycle: &GroupCycle, pod: &Key) {
        self.trust
            .lower(Exactness::FitOnly, cycle.doubt.iter().cloned().collect());
        if cycle.hangs_on_nodes {
            self.trust
                .lower(Exactness::FitOnly, vec![words::HANGS_ON_NODES.to_owned()]);
        }
        self.notes.append(&mut self.trust.notes);
        if let GroupResult::Unknown(why) = &cycle.result {
            self.fit = Fit::Unknown;
            self.unknown.push(why.clone());
            self.first = None;
            return;
        }
        if !cycle.holds_back(pod) {
            return;
        }
        let message = cycle.message(pod);
        self.fit = match &message {
            Some(Message::Error(_)) => Fit::Error,
            _ => Fit::DoesNotFit,
        };
        self.message = message.and_then(|message| message.text().map(str::to_owned));
        self.first = None;
        for node in &mut self.nodes {
            *node = NodeResult {
                result: self.fit,
                plugin: Some(GANG),
                message: self.message.clone(),
                ..NodeResult::open(&node.node)
            };
        }
        self.notes.push(words::of_gang(&Gang::of(cycle)));
    }
}
