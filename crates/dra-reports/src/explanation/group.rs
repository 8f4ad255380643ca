//! What the PodGroup of a pod does to it: its members are placed together, and what is reserved for it is given up.

use std::sync::Arc;

use super::diagnosis::{Answer, Beside, Cause, Diagnosis, GangCause, NodeDiagnosis, Reason};
use super::fact::Fact;
use super::items::ClusterVerdict;
use super::{Explained, Settings, words};
use crate::allocation::words::HANGS_ON_NODES;
use crate::allocation::{Exactness, GANG, Gang};
use dra_model::{Component, Node, Pod};
use dra_rules::reservation::PodGroups;
use dra_rules::scheduling::{
    Cycle, GroupCycle, GroupResult, Scheduler, Stage, Start, Unavailable, Verdict, releasable,
    remaining_consumers, unavailable,
};

/// The cycle of the pod's PodGroup; nothing where the pod is placed alone.
pub(super) fn cycle(scheduler: &Scheduler, pod: &Arc<Pod>, settings: &Settings<'_>) -> Option<GroupCycle> {
    let members = scheduler.members(pod)?;
    Some(members.judge(scheduler, &pod.key(), settings.into()))
}

/// The scheduler at the turn of the pod, when the members of its PodGroup before it have their nodes and devices.
pub(super) fn at_turn(scheduler: &Scheduler, cycle: Option<&GroupCycle>, pod: &Pod) -> Scheduler {
    let turn = cycle.and_then(|cycle| cycle.turn(&pod.key()));
    let cluster = turn.map_or_else(|| scheduler.cluster(), |turn| &turn.cluster);
    scheduler.fork(cluster)
}

impl Explained<'_> {
    /// Takes in what becomes of the pod's PodGroup.
    pub(super) fn see_group(&self, report: &mut Diagnosis, cycle: &GroupCycle) {
        let Some(pod) = self.pod else { return };
        let before = cycle.turns.iter().take_while(|turn| turn.pod.key() != pod.key());
        let before = before.filter(|turn| turn.got.is_some()).count();
        if before > 0 && cycle.turn(&pod.key()).is_some() {
            report.notes.push(words::placed_before(&cycle.group, before));
        }
        let hanging = cycle.hangs_on_nodes.then(|| HANGS_ON_NODES.to_owned());
        for doubt in cycle.doubt.iter().cloned().chain(hanging) {
            report.exactness = report.exactness.max(Some(Exactness::FitOnly));
            report.notes.push(doubt);
        }
        if let GroupResult::Unknown(why) = &cycle.result {
            if matches!(
                report.verdict(),
                ClusterVerdict::Fits | ClusterVerdict::DoesNotFit
            ) {
                report.conclude(Answer::Open(why.clone()));
                report.exactness = Some(Exactness::FitOnly);
                report.unknown.push(why.clone());
            }
            return;
        }
        if !matches!(report.verdict(), ClusterVerdict::GaveUp | ClusterVerdict::Unknown)
            && cycle.holds_back(&pod.key())
        {
            self.held_back(report, cycle, pod);
        }
    }

    /// The pod fits, but not with so many others of its PodGroup as have to.
    fn held_back(&self, report: &mut Diagnosis, cycle: &GroupCycle, pod: &Pod) {
        let gang = Gang::of(cycle);
        let message = cycle.message(&pod.key());
        report.conclude(Answer::Gang(gang.clone()));
        report.message = message.and_then(|message| message.text().map(str::to_owned));
        let reason = Reason::from(Fact::Gang(gang.clone()));
        for node in &mut report.nodes {
            *node = NodeDiagnosis {
                node: node.node.clone(),
                fits: false,
                plugin: Some(GANG),
                message: report.message.clone(),
                reasons: vec![reason.clone()],
                devices: Vec::new(),
            };
        }
        report.filters.clear();
        report.node_groups.clear();
        report.fixes.clear();
        report.reasons.push(reason);
        let mut rejected = cycle.rejected();
        let Some(first) = rejected.next() else {
            report.cause = Some(Cause::Gang(gang, self.not_queued(cycle)));
            return;
        };
        // What the other lacks when those before it have their devices is what all of them lack.
        let scheduler = self.scheduler.fork(&first.cluster);
        let other = Explained {
            has_fixes: self.has_fixes,
            ..Explained::of_pod(&scheduler, &first.pod, self.settings)
        };
        let mut of_other = Diagnosis::new(crate::allocation::Target::pod(&first.pod.key()));
        other.start(&mut of_other, &scheduler.pod(&first.pod));
        let why = GangCause::Why(Box::new(of_other.why()));
        report.cause = Some(Cause::Gang(gang, Some(why)));
        report.waiting = of_other.waiting;
        if rejected.next().is_none() && cycle.untried.is_empty() && cycle.scheduled + 1 == cycle.min_count {
            report.fixes = of_other.fixes;
        }
    }

    /// The first pod of the group that the scheduler does not look at yet, and why.
    fn not_queued(&self, cycle: &GroupCycle) -> Option<GangCause> {
        let mut members = self.cluster().pods_of_group(&cycle.group);
        members.find_map(|member| {
            if member.node().is_some() || member.is_terminal() {
                return None;
            }
            match self.scheduler.pod(member) {
                Start::Obstacle(obstacle) if obstacle.stage() == Stage::PreEnqueue => {
                    Some(GangCause::Waits(member.key(), obstacle))
                }
                _ => None,
            }
        })
    }

    /// Says which claims of a pod that fits nowhere the scheduler deallocates automatically, and which not though they are reserved for its
    /// own PodGroup.
    pub(super) fn releases(
        &self,
        report: &mut Diagnosis,
        cycle: &Cycle<'_>,
        verdicts: &[(&Arc<Node>, Verdict)],
    ) {
        let claims = cycle.user_claims();
        let released = releasable(cycle, verdicts);
        for Unavailable { place, why } in &released {
            let claim = &claims[*place];
            let group = claim
                .status
                .reserved_for
                .iter()
                .find(|entry| entry.is_pod_group());
            let group = group.map(|group| claim.metadata.beside(&group.name));
            report
                .reasons
                .push(Reason::of_claim(claim.key(), Fact::Released(*why, group)));
        }
        let all = unavailable(verdicts);
        if !released.is_empty() && released.len() == all.len() {
            report.add_beside(Beside::Deallocated);
        }
        let Some(pod) = self.pod else { return };
        for Unavailable { place, .. } in all {
            let claim = &claims[place];
            let own = claim.status.reserved_for.iter().find(|entry| {
                let is_own = pod.pod_group().is_some_and(|group| *group == entry.name);
                entry.is_pod_group() && is_own
            });
            let (Some(own), false) = (own, released.iter().any(|released| released.place == place)) else {
                continue;
            };
            let group = claim.metadata.beside(&own.name);
            let remaining = remaining_consumers(self.cluster(), Some(pod), claim);
            let fact = if remaining.iter().any(|entry| entry.uid == own.uid) {
                let groups = PodGroups::of(self.cluster().environment(), Component::Scheduler);
                Fact::ReservedForGroup(group, groups == PodGroups::Accepted)
            } else {
                let others = remaining.iter();
                let others = others.map(|entry| crate::Consumer(entry).to_string());
                Fact::UnreservedByScheduler(group, others.collect())
            };
            report.reasons.push(Reason::of_claim(claim.key(), fact));
        }
    }
}
