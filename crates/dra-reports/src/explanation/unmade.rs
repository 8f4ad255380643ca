//! Claims that a pod has yet to get from templates, which the claim controller makes or finds.

use std::sync::Arc;

use super::diagnosis::{Cause, Diagnosis};
use super::fact::{Brief, Fact, NotMade};
use super::helped::name_other_kind;
use super::items::FixItem;
use super::namesake::{Namesake, namesake};
use super::words::Upcoming;
use super::{Explained, word, words};
use dra_model::{ClaimTemplate, Cluster, Component, Gate, Key, Kind, Object, Owner, Pod, Str};
use dra_rules::kubelet::{controllers, is_called_plugin, is_ready};
use dra_rules::reservation::{Lacks, Next, Unmade, owning_group, refused_creation, unmade};
use dra_rules::scheduling::ClaimProblem;
use dra_rules::validation::{ADMIN_ACCESS, AdminAccess, Webhook, admin_access, is_of_policy};

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
            report.not_made(NotMade::Rule(why.clone()));
            return true;
        }
        if let Some(gate) = all.clone().find_map(|unmade| match unmade.next {
            Next::GateOff(gate, _) => Some(gate),
            _ => None,
        }) {
            report.lacks_gate(self.cluster(), gate);
            return true;
        }
        if let Some(why) = self.refused_admin_access(all.clone()) {
            report
                .fixes
                .push(self.allow_admin_access(&pod.metadata.namespace));
            report.not_made(NotMade::Refused(why));
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
        let status = Cause::of_status(self.cluster(), pod, &own.lacks);
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
        // The controller makes a claim within seconds. One that is gone since is another matter: how long ago is unknown.
        if let (Lacks::Name, Next::Make(template)) = (&own.lacks, &own.next)
            && let Some(since) = word::unmade_since(self.cluster(), pod, template, self.settings.now)
        {
            report.fixes.push(FixItem::restore_controllers());
            report.not_made(NotMade::Silent(Some(since)));
            return true;
        }
        report.upcoming = Some(words::upcoming(&next));
        if let (Lacks::Claim(_), Next::Make(_), None) = (&own.lacks, &own.next, group) {
            self.recreated(report);
        }
        true
    }

    /// Why the API server refuses each claim that is to be made from a template of `all`, where one asks for admin access.
    fn refused_admin_access<'u>(&self, all: impl Iterator<Item = &'u Unmade<'u>>) -> Option<String> {
        let cluster = self.cluster();
        // Without the gate the API server drops the field.
        let is_on = cluster
            .environment()
            .enabled(Component::ApiServer, Gate::DRAAdminAccess);
        let mut templates = all.filter_map(|unmade| match &unmade.next {
            Next::Make(template) => Some(Object::ResourceClaimTemplate(Arc::clone(template))),
            _ => None,
        });
        let refused = templates.find_map(|template| match admin_access(cluster, &template) {
            AdminAccess::Refused(why) => Some(why),
            AdminAccess::Granted | AdminAccess::Unknown(_) => None,
        });
        refused.filter(|_| is_on)
    }

    /// Lets the users of a namespace ask for admin access.
    fn allow_admin_access(&self, namespace: &Str) -> FixItem {
        let known = self.cluster().namespace(namespace);
        let value = known.and_then(|known| known.metadata.label(ADMIN_ACCESS));
        FixItem::allow_admin_access(namespace, value.map(Str::as_str))
    }

    /// Takes back that the claim controller is to make a claim, where it says itself that it cannot.
    pub(super) fn doubt_unmade(&self, report: &mut Diagnosis, problem: &ClaimProblem) {
        let (Some(pod), Some((own, others))) = (self.pod, self.unmade(problem)) else {
            return;
        };
        // The same, or more, by the objects.
        if let Some(Cause::Alike(Brief::Fact(Fact::NotMade(_)))) = report.cause {
            return;
        }
        let (mut changed, mut first) = (None, None);
        for unmade in std::iter::once(&own).chain(&others) {
            changed = changed.max(match &unmade.next {
                Next::Make(template) => {
                    first = first.or(Some(template));
                    template.metadata.creation_timestamp
                }
                Next::Adopt(claim) => claim.metadata.creation_timestamp,
                Next::NoTemplate(_) | Next::Nothing(_) | Next::GateOff(..) | Next::Unknown(_) => return,
            });
        }
        let Some(word) = word::of_claim_controller(self.cluster(), pod, changed) else {
            return;
        };
        // What an admission plugin decides is in no object, and namespaces are not read of a cluster.
        let refused = refused_creation(&word.said);
        let is_admin_access = refused.is_some_and(|why| why.contains(ADMIN_ACCESS));
        let is_unknown = !is_admin_access || self.cluster().namespace(&pod.metadata.namespace).is_none();
        let webhook = refused.and_then(Webhook::uncallable);
        let is_certain = |why: &str| is_admin_access || webhook.is_some() || is_of_policy(why);
        match refused.filter(|why| is_unknown && is_certain(why)) {
            Some(why) => {
                report.upcoming = None;
                if is_admin_access {
                    report
                        .fixes
                        .push(self.allow_admin_access(&pod.metadata.namespace));
                }
                let of_policy = first.filter(|_| webhook.is_none() && !is_admin_access);
                let is_of_labels = ["label", "annotation"].iter().any(|word| why.contains(word));
                let correct = |template: &ClaimTemplate| {
                    FixItem::correct_template(&template.metadata.key(), is_of_labels)
                };
                report.fixes.extend(of_policy.map(|template| correct(template)));
                report
                    .fixes
                    .extend(webhook.as_ref().map(FixItem::restore_webhook));
                report.not_made(NotMade::Refused(why.to_owned()));
            }
            None => {
                let off = Gate::said_to_be_off(&word.said).next();
                match off {
                    Some(gate) => report.lacks_gate(self.cluster(), gate),
                    None => report.contradict(word, word::Since::Unknown),
                }
            }
        }
    }
}

impl Diagnosis {
    /// That kube-controller-manager makes no claim without a gate that it has off.
    fn lacks_gate(&mut self, cluster: &Cluster, gate: Gate) {
        self.upcoming = None;
        let minor = cluster.environment().emulated_minor;
        let fix = FixItem::enable(gate, &[Component::ControllerManager], minor);
        self.fixes.push(fix);
        self.not_made(NotMade::GateOff(gate));
    }

    /// That no claim is made from a template of the pod.
    fn not_made(&mut self, why: NotMade) {
        self.because(Fact::NotMade(why));
    }

    /// That this is why the scheduler looks at no node.
    fn because(&mut self, fact: Fact) {
        self.cause = Some(fact.clone().into());
        self.reasons.push(fact.into());
    }

    /// Notes what may be meant by an object that does not exist, and returns it.
    pub(super) fn tell_namesake(&mut self, cluster: &Cluster, kind: Kind, missing: &Key) -> Option<Namesake> {
        let found = namesake(cluster, kind, missing)?;
        self.notes.push(words::may_be_meant(kind, &found));
        Some(found)
    }

    /// That there is no template for claims of the pod, and who has to create it.
    fn add_missing_template(&mut self, cluster: &Cluster, template: &Key, pod: &Key) {
        self.because(Fact::NoTemplate(template.clone(), pod.clone()));
        let named = cluster.pod(pod);
        self.fixes.extend(
            named.and_then(|pod| name_other_kind(cluster, pod, template, Kind::ResourceClaimTemplate)),
        );
        let found = self.tell_namesake(cluster, Kind::ResourceClaimTemplate, template);
        self.fixes.push(match maker(cluster, template) {
            Some(owner) if owner.stops => FixItem::recreate_maker(template, owner),
            Some(owner) if let Some(controller) = stopped_controller(cluster, owner) => {
                FixItem::start_controller(template, owner, controller)
            }
            Some(owner) => FixItem::await_template(template, owner),
            None => match maker_elsewhere(cluster, template) {
                Some((owner, other)) => FixItem::create_maker(template, owner, &other),
                None => FixItem::create(Kind::ResourceClaimTemplate, template, found.as_ref()),
            },
        });
    }
}

/// What a template of this name in another namespace belongs to, and that template.
fn maker_elsewhere<'c>(cluster: &'c Cluster, missing: &Key) -> Option<(&'c Owner, Key)> {
    let Some(Namesake::Elsewhere(key)) = namesake(cluster, Kind::ResourceClaimTemplate, missing) else {
        return None;
    };
    Some((maker(cluster, &key)?, key))
}

/// The pod that runs the controller of an owner, as a part of a driver, if it is not ready.
fn stopped_controller<'c>(cluster: &'c Cluster, owner: &Owner) -> Option<&'c Arc<Pod>> {
    let mut pods = controllers(cluster, &owner.group).filter(|pod| is_called_plugin(&pod.metadata.name));
    let first = pods.next()?;
    // One of several is enough.
    let any_is_ready = is_ready(first) || pods.any(|pod| is_ready(pod));
    (!any_is_ready).then_some(first)
}

/// What makes a template of this name.
fn maker<'c>(cluster: &'c Cluster, template: &Key) -> Option<&'c Owner> {
    let mut gathering = cluster.environment().owners.gathering(&template.namespace);
    let found = gathering.find(|(_, gathers)| gathers.template == template.name);
    found.map(|(owner, _)| owner)
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
