//! Advice for a stuck pod, and what all of it is about.

use std::sync::Arc;

use super::super::words::advice::{self as words, Text};
use super::super::words::crashing_text;
use crate::remedy::{Remedy, place_again, top_owner};
use crate::script::{Command, NoCommand, Resource, Script, describe, describe_node, field_selector};
use crate::words::controller;
use dra_model::{Cluster, Key, Kind, Pod, Str};
use dra_rules::kubelet::{BrokenLink, Doing, Maker, PodStage, Stages, Stuck, Waiting, has_logs};
use dra_rules::owners::OwnerName;
use dra_rules::reservation::users;
use dra_rules::simulation::{DryRun, Placement};
use dra_rules::validation::Webhook;

/// Crashing pods that are named beside advice.
const MOST_CRASHING: usize = 2;

/// Objects that are looked at to place the successor of a pod.
const MOST_OBJECTS: usize = 1_000_000;

/// Steps of the search that places the successor of a pod.
const MOST_STEPS: u64 = 1_000_000;

/// Advice for a stuck pod.
pub(crate) struct Advice {
    /// Stable code.
    pub(crate) kind: &'static str,
    /// Object of the change.
    pub(crate) target: String,
    /// Message.
    pub(crate) message: String,
    /// The command, or who can do it.
    pub(crate) remedy: Remedy,
    /// A read-only command that shows more.
    pub(crate) look: Option<Script>,
}

impl Advice {
    pub(super) fn new(
        kind: &'static str,
        target: String,
        message: impl Into<String>,
        remedy: Remedy,
    ) -> Self {
        Self {
            kind,
            target,
            message: message.into(),
            remedy,
            look: None,
        }
    }

    /// Advice without a command.
    pub(super) fn by_hand(kind: &'static str, target: String, text: Text) -> Self {
        Self::new(kind, target, text.message, Remedy::by_hand(text.how))
    }

    pub(super) fn look(self, look: Result<Script, NoCommand>) -> Self {
        Self {
            look: look.ok(),
            ..self
        }
    }
}

/// A stuck pod that needs advice.
#[derive(Clone, Copy)]
pub(super) struct About<'s, 'c> {
    pub(super) stages: &'s Stages<'c>,
    pub(super) stage: &'s PodStage<'s>,
    pub(super) stuck: &'s Stuck<'s>,
    pub(super) pod: &'s Arc<Pod>,
    /// The name of its node, which is empty if it has none.
    pub(super) node: &'s str,
}

impl<'s, 'c> About<'s, 'c> {
    pub(super) fn new(stages: &'s Stages<'c>, stage: &'s PodStage<'s>) -> Option<Self> {
        Some(Self {
            stages,
            stage,
            stuck: stage.stuck.as_ref()?,
            pod: stage.pod,
            node: stage.pod.node().map_or("", Str::as_str),
        })
    }

    pub(super) fn cluster(&self) -> &'c Cluster {
        self.stages.cluster()
    }

    pub(super) fn of_pod(&self) -> String {
        of_pod(&self.pod.key())
    }

    pub(super) fn of_node(&self) -> String {
        format!("node/{}", self.node)
    }

    /// Advice that the events of the pod are behind.
    pub(super) fn of_events(&self, kind: &'static str, target: String, text: Text) -> Advice {
        Advice::by_hand(kind, target, text).look(describe(Kind::Pod, &self.pod.key()))
    }

    /// Advice that the conditions of the node are behind.
    pub(super) fn of_conditions(&self, kind: &'static str, text: Text) -> Advice {
        Advice::by_hand(kind, self.of_node(), text).look(describe_node(self.node))
    }

    /// What has to change so that pods like this one do, and the owner that it belongs to, if that is not the pod itself.
    pub(super) fn made_from(&self) -> (String, Option<OwnerName>) {
        let Some(owner) = top_owner(self.cluster(), self.pod) else {
            return (self.of_pod(), None);
        };
        let target = controller(&self.pod.metadata, &owner);
        (target, Some((&owner).into()))
    }

    /// Advice to correct what the pod is made from.
    pub(super) fn of_template(
        &self,
        kind: &'static str,
        text: impl FnOnce(Option<&OwnerName>) -> Text,
    ) -> Advice {
        let (target, owner) = self.made_from();
        self.of_events(kind, target, text(owner.as_ref()))
    }

    /// Advice to recreate the pod.
    pub(super) fn again(&self, remedy: Remedy) -> Advice {
        Advice::new("RecreatePod", self.of_pod(), words::RECREATE, remedy)
    }

    /// Advice to recreate a pod whose device has a taint, by that rule, if any: tried where another device is left for it.
    pub(super) fn elsewhere(&self, rule: Option<&Str>) -> Advice {
        let mut dry_run = DryRun::new(MOST_OBJECTS, MOST_STEPS);
        let remedy = place_again(self.cluster(), self.pod);
        self.again(
            match dry_run.place_anew(self.cluster(), self.pod, self.stages.now()) {
                Placement::Fits { .. } => remedy.note(words::KEPT_OFF),
                Placement::DoesNotFit { .. } => remedy.note(words::kept_out(rule)),
                Placement::Unknown { .. } => remedy,
            },
        )
    }

    /// The other pods on the node that use the pod's claims.
    pub(super) fn beside(&self) -> Vec<&'c Arc<Pod>> {
        let users = |claim| users(self.cluster(), claim).unwrap_or_default();
        let users = self.stages.claims(self.pod).flat_map(|claim| users(claim));
        users
            .filter(|other| other.node() == self.pod.node() && other.metadata.uid != self.pod.metadata.uid)
            .collect()
    }
}

/// A pod as commands and sentences name it.
pub(super) fn of_pod(pod: &Key) -> String {
    format!("pod/{pod}")
}

/// Pods as commands and sentences name them.
pub(super) fn named(pods: &[&Arc<Pod>]) -> Vec<String> {
    pods.iter().map(|pod| of_pod(&pod.key())).collect()
}

/// The logs of the driver's pod, or else what is on the node.
pub(super) fn logs(pod: Option<&Key>, node: &str) -> Result<Script, NoCommand> {
    match pod {
        Some(pod) => logs_of(pod),
        None => pods_on(node),
    }
}

/// Names crashing pods that may be the reason.
pub(crate) fn with_crashing(how: Remedy, pods: impl Iterator<Item = (Key, Waiting)>) -> Remedy {
    let named = pods
        .take(MOST_CRASHING)
        .map(|(pod, waiting)| crashing_text(&pod, &waiting));
    named.fold(how, Remedy::note)
}

/// The last lines that the containers of a pod have written.
pub(crate) fn logs_of(pod: &Key) -> Result<Script, NoCommand> {
    Command::kubectl("logs")
        .about(Kind::Pod, pod)
        .args(&["--all-containers", "--tail=50"])
        .done()
}

/// What shows more of a broken link: the logs of the driver's pod, or what makes its pods, with its events.
pub(crate) fn look_at_link(link: &BrokenLink) -> Result<Script, NoCommand> {
    let service;
    let (kind, maker) = match link {
        BrokenLink::Refused(refused)
            if let Some(of) = Webhook::uncallable(&refused.message).and_then(|webhook| webhook.service) =>
        {
            service = of;
            ("service", &service)
        }
        BrokenLink::Refused(refused) => (refused.kind.resource(), &refused.maker),
        BrokenLink::NoPod(set, _) | BrokenLink::Unselected(set, _) => (Maker::DaemonSet.resource(), set),
        BrokenLink::Crashing(pod, waiting) if !has_logs(&waiting.reason) => ("pod", pod),
        BrokenLink::Circle(pod, _)
        | BrokenLink::Pending(pod, _)
        | BrokenLink::Failed(pod, _)
        | BrokenLink::NotReady(pod, Some(Doing::Failing(..) | Doing::Pulling(..))) => ("pod", pod),
        BrokenLink::Crashing(pod, _)
        | BrokenLink::NotReady(pod, _)
        | BrokenLink::Forbidden(pod, _)
        | BrokenLink::Silent(pod)
        | BrokenLink::NoDevices(pod) => return logs_of(pod),
    };
    describe(Resource::called(kind), maker)
}

/// The pods of a node.
pub(crate) fn pods_on(node: &str) -> Result<Script, NoCommand> {
    Command::kubectl("get")
        .args(&["pods", "-A"])
        .option("--field-selector", &field_selector("spec.nodeName", node))
        .done()
}
