//! Claims that a pod has yet to get from templates, which the claim controller makes or finds.

use super::diagnosis::{Cause, Diagnosis, StatusProblem};
use super::fact::Fact;
use super::items::FixItem;
use super::words::Upcoming;
use super::{Explained, word, words};
use crate::remedy::Remedy;
use dra_model::{Cluster, Key, Kind};
use dra_rules::reservation::{Lacks, Next, Unmade, owning_group, unmade};
use dra_rules::scheduling::ClaimProblem;

impl Explained<'_> {
    /// What is to be done about the claims of the pod that come from templates; nothing where `problem` is about none of them.
    fn unmade(&self, problem: &ClaimProblem) -> Option<(Unmade<'_>, Vec<Unmade<'_>>)> {
        let all = unmade(self.cluster(), self.pod?).map(|(_, unmade)| unmade);
        let (mut about, others): (Vec<_>, Vec<_>) = all.partition(|unmade| is_about(problem, &unmade.lacks));
        (!about.is_empty()).then(|| (about.remove(0), about.into_iter().chain(others).collect()))
    }

    /// Explains what becomes of a claim that is to come from a template, where `problem` is about one.
    pub(super) fn told_unmade(&self, report: &mut Diagnosis, problem: &ClaimProblem) -> bool {
        let (Some(pod), Some((own, others))) = (self.pod, self.unmade(problem)) else {
            return false;
        };
        // What was made for the pod's group in a release that knows groups is in use by others as a rule.
        if let Lacks::Owner(key) = &own.lacks
            && let Some(group) = self.cluster().claim(key).and_then(|claim| owning_group(claim))
            && pod.pod_group().is_none_or(|own| own == group)
        {
            return false;
        }
        // The controller names claims in the status of a pod once it has all of them.
        let mut all = std::iter::once(&own).chain(&others);
        if let Some(template) = all.clone().find_map(|unmade| match &unmade.next {
            Next::NoTemplate(template) => Some(template),
            _ => None,
        }) {
            report.add_missing_template(self.cluster(), template, &pod.key());
            return true;
        }
        if let Some(why) = all.clone().find_map(|unmade| match &unmade.next {
            Next::Nothing(why) => Some(why),
            _ => None,
        }) {
            report.cause = Some(Cause::NotMade(why.clone()));
            report.reasons.push(Fact::NotMade(why.clone()).into());
            return true;
        }
        let hidden = all.find_map(|unmade| match unmade.next {
            Next::Unknown(gap) => Some(gap),
            _ => None,
        });
        let namespace = &pod.metadata.namespace;
        let deciding = [
            Kind::ResourceClaimTemplate,
            Kind::ResourceClaim,
            Kind::ResourceQuota,
        ];
        let mut gaps = deciding
            .into_iter()
            .filter_map(|kind| self.cluster().gap(kind, namespace));
        if let Some(gap) = hidden.or_else(|| gaps.next()) {
            report.tell_unknown(self.cluster(), gap);
            return true;
        }
        let status = StatusProblem::of(self.cluster(), pod, &own.lacks).map(Cause::Status);
        report.cause = report.cause.take().or(status);
        if self.is_refused {
            return true;
        }
        let group = own.group.map(|group| group.metadata.key());
        let key;
        let next = match (&own.lacks, &own.next) {
            (lacks, Next::Adopt(claim)) => {
                key = claim.key();
                Upcoming::Name {
                    claim: &key,
                    replaces: !matches!(lacks, Lacks::Name),
                }
            }
            (Lacks::Name, _) => Upcoming::Create,
            (lacks, Next::Make(template)) => {
                key = template.metadata.key();
                match lacks {
                    Lacks::Claim(_) => Upcoming::CreateLater(&key, group.as_ref()),
                    _ => Upcoming::CreateAnother(&key),
                }
            }
            _ => return true,
        };
        report.upcoming = Some(words::upcoming(&next));
        if let (Lacks::Claim(_), Next::Make(_), None) = (&own.lacks, &own.next, group) {
            self.recreated(report);
        }
        true
    }

    /// Takes back that the claim controller is to make a claim, where it says itself that it cannot.
    pub(super) fn doubt_unmade(&self, report: &mut Diagnosis, problem: &ClaimProblem) {
        let (Some(pod), Some((own, others))) = (self.pod, self.unmade(problem)) else {
            return;
        };
        let mut changed = None;
        for unmade in std::iter::once(&own).chain(&others) {
            changed = changed.max(match &unmade.next {
                Next::Make(template) => template.metadata.creation_timestamp,
                Next::Adopt(claim) => claim.metadata.creation_timestamp,
                Next::NoTemplate(_) | Next::Nothing(_) | Next::Unknown(_) => return,
            });
        }
        word::of_claim_controller(report, self.cluster(), pod, changed);
    }
}

impl Diagnosis {
    /// That there is no template for claims of the pod, and who has to create it.
    fn add_missing_template(&mut self, cluster: &Cluster, template: &Key, pod: &Key) {
        self.cause = Some(Cause::NoTemplate(template.clone(), pod.clone()));
        self.reasons
            .push(Fact::NoTemplate(template.clone(), pod.clone()).into());
        let target = format!("resourceclaimtemplate/{template}");
        let mut gathering = cluster.environment().owners.gathering(&template.namespace);
        let maker = gathering.find(|(_, gathers)| gathers.template == template.name);
        let (message, how) = match maker {
            Some((owner, _)) => (
                words::fixes::await_template(&target, &owner.kind, &owner.key),
                words::fixes::AWAIT_TEMPLATE,
            ),
            None => (
                words::fixes::create(&target),
                words::fixes::create_how(Kind::ResourceClaimTemplate),
            ),
        };
        let fix = FixItem::unproven("CreateTemplate", target, message, Remedy::by_hand(how));
        self.fixes.push(fix);
    }
}

/// Returns whether the scheduler says `problem` of a pod that lacks this.
fn is_about(problem: &ClaimProblem, lacks: &Lacks) -> bool {
    match (problem, lacks) {
        (ClaimProblem::Name(_), Lacks::Name) => true,
        (ClaimProblem::Owner { claim, .. }, Lacks::Owner(key))
        | (ClaimProblem::Missing { claim }, Lacks::Claim(key)) => claim == key,
        _ => false,
    }
}
