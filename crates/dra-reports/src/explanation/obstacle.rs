//! What keeps an attempt from looking at nodes at all, and what has to be there first.

use std::sync::Arc;

use super::diagnosis::{Answer, Cause, Diagnosis, Reason};
use super::helped::name_other_kind;
use super::items::FixItem;
use super::{Explained, gates, words};
use crate::remedy::{Remedy, drop_finalizers, end_consumers};
use crate::script::{Command, replace_saved, save_without_finalizers};
use dra_model::{Key, Kind, Node, Pod, Str};
use dra_rules::owners::Queued;
use dra_rules::reservation::{Origin, users};
use dra_rules::scheduling::{
    ClaimProblem, Fixes, Obstacle, RequestProblem, Start, Subject, generate_claims, judge_all,
    message_of_obstacle, other_scheduler, smallest, spared,
};

impl Explained<'_> {
    /// Says what the obstacle is, and what removes it.
    pub(super) fn obstacle(&self, report: &mut Diagnosis, obstacle: &Obstacle) {
        let message = message_of_obstacle(self.cluster(), self.pod.map(|pod| &**pod), obstacle);
        report.message = message.text().map(str::to_owned);
        report.conclude(Answer::Obstacle(obstacle.clone()));
        report.reasons.push(Reason::of_obstacle(obstacle));
        self.unproven(report, obstacle);
        if matches!(obstacle, Obstacle::Request(_)) {
            self.fixes(report);
        }
    }

    /// What has to be there first. What it would hold cannot be known, so it cannot be proven to help.
    fn unproven(&self, report: &mut Diagnosis, obstacle: &Obstacle) {
        let fix = match obstacle {
            Obstacle::Claim(problem) if self.told_unmade(report, problem) => return,
            Obstacle::Claim(ClaimProblem::Missing { claim }) => {
                let found = report.tell_namesake(self.cluster(), Kind::ResourceClaim, claim);
                let pod = self.pod;
                report.fixes.extend(
                    pod.and_then(|pod| name_other_kind(self.cluster(), pod, claim, Kind::ResourceClaim)),
                );
                FixItem::create(Kind::ResourceClaim, claim, found.as_ref())
            }
            Obstacle::Claim(ClaimProblem::Deleting { claim }) => self.awaited(claim),
            Obstacle::Claim(ClaimProblem::Owner { .. }) => {
                self.recreated(report);
                return;
            }
            Obstacle::Request(RequestProblem::NoClass { class, .. }) => {
                let look = Command::kubectl("get").arg("deviceclasses").done();
                FixItem::create(Kind::DeviceClass, &Key::new("", class.clone()), None).look(look)
            }
            Obstacle::Group(_) => {
                let gang = self
                    .pod
                    .and_then(|pod| Some((pod, self.scheduler.short_gang(pod)?)));
                let Some((pod, gang)) = gang else {
                    let name = |pod: &Arc<Pod>| Some(pod.metadata.beside(pod.pod_group()?));
                    if let Some(missing) = self.pod.and_then(name) {
                        report.notes.push(words::no_group(&missing));
                        report.tell_namesake(self.cluster(), Kind::PodGroup, &missing);
                    }
                    return;
                };
                report.notes.push(words::short_gang(&gang));
                match FixItem::of_gang(self.cluster(), pod, &gang) {
                    Some(fix) => fix,
                    None => return,
                }
            }
            Obstacle::Gated(gates) => {
                let Some(pod) = self.pod else { return };
                let queued = Queued::of_pod(self.cluster(), pod);
                let admitted = Queued::admitted(self.cluster(), pod);
                let now = self.settings.now;
                let fixes = gates::lifted(pod, gates, queued.as_ref(), admitted, now);
                report.fixes.extend(fixes);
                report.cause = queued.map(Cause::Queued);
                return;
            }
            _ => return,
        };
        report.fixes.push(fix);
    }

    /// A claim that is being deleted, which a pod needs again.
    fn awaited(&self, key: &Key) -> FixItem {
        let target = format!("claim/{key}");
        let claim = self.cluster().claim(key);
        let origin = claim.map(|claim| (claim, Origin::of(self.cluster(), claim)));
        let kept = claim.and_then(|claim| drop_finalizers(Kind::ResourceClaim, &claim.metadata));
        // As long as it is held, Kubernetes keeps it, too.
        let is_held = claim.is_some_and(|claim| claim.status.allocation.is_some() || claim.is_protected());
        let (names, dropped) = kept.unwrap_or_default();
        let gone = words::fixes::gone(&target, &names, is_held);
        let only_kept = !names.is_empty() && !is_held;
        let (message, remedy) = match origin {
            Some((claim, Origin::Made)) => {
                // With the end of its last consumer the claim is gone: it is saved before.
                let saved = Remedy::command(save_without_finalizers(Kind::ResourceClaim, key));
                let again = Remedy::command(replace_saved(Kind::ResourceClaim, key));
                let group = self.pod.and_then(|pod| pod.pod_group());
                let mut entries = claim.status.reserved_for.iter();
                let end = if claim.status.reserved_for.is_empty() {
                    Remedy::default()
                } else if entries.any(|entry| entry.is_pod_group() && group == Some(&entry.name)) {
                    Remedy::by_hand(words::fixes::of_own_group(&target))
                } else if spared(self.cluster(), self.pod, claim).is_some() {
                    Remedy::by_hand(words::fixes::of_own_owner(&target))
                } else {
                    end_consumers(self.cluster(), claim)
                };
                let ends = end
                    .command
                    .is_some()
                    .then(|| users(self.cluster(), claim).unwrap_or_default());
                let ends = ends.unwrap_or_default();
                let ends: Vec<String> = ends.iter().map(|pod| format!("pod/{}", pod.key())).collect();
                let dropped = if only_kept { dropped } else { Remedy::default() };
                (
                    words::fixes::recreated(&gone, &ends),
                    saved.and(end).and(dropped).and(again),
                )
            }
            _ if only_kept => (words::fixes::new_one(&gone), dropped),
            _ => (
                words::fixes::new_one(&gone),
                Remedy::command(
                    Command::kubectl("wait")
                        .arg("--for=delete")
                        .object(Kind::ResourceClaim, &key.name)
                        .namespace(&key.namespace)
                        .done(),
                ),
            ),
        };
        let kind = if only_kept {
            "RemoveFinalizer"
        } else {
            "WaitForDeletion"
        };
        FixItem::unproven(kind, target, message, remedy)
    }

    /// Finds fixes for the pod once it is recreated with its own claims.
    pub(super) fn recreated(&self, report: &mut Diagnosis) {
        let Some(pod) = self.pod else { return };
        if let Some(other) = other_scheduler(self.cluster().environment(), pod) {
            return report.notes.push(words::unknown_recreated(&other));
        }
        let mut cluster = self.cluster().clone();
        let mut fresh = Pod::clone(pod);
        fresh.status.resource_claim_statuses.clear();
        let made = match generate_claims(&mut cluster, &Arc::new(fresh)) {
            Ok(made) => made,
            Err(why) => {
                report.notes.push(why.to_string());
                return;
            }
        };
        let scheduler = self.scheduler.fork(&cluster);
        let cycle = match scheduler.pod(&made) {
            Start::Cycle(cycle) => cycle,
            Start::Obstacle(obstacle) => {
                report.notes.push(words::not_even_recreated(&obstacle.text()));
                return;
            }
            Start::Unknown(gaps) => {
                report.notes.push(words::unread_recreated(&gaps));
                return;
            }
        };
        let nodes: Vec<&Arc<Node>> = cluster.nodes().collect();
        let answers = judge_all(
            &cycle,
            &nodes,
            self.settings.budget,
            self.settings.observer,
            self.settings.run,
        );
        let fits = answers.iter().filter(|(_, judgment)| judgment.verdict.fits());
        let fits: Vec<Str> = fits.map(|(node, _)| node.metadata.name.clone()).collect();
        let fixes = if fits.is_empty() {
            smallest(&scheduler, &Subject::Pod(Arc::clone(&made)), &self.effort(false))
        } else {
            Fixes::default()
        };
        report.add_recreation(&cluster, &made, fits, &fixes, self.settings.now);
    }
}
