//! What lets a pod continue from its stage.

mod about;
mod containers;
mod drivers;

pub(crate) use about::{Advice, logs_of, look_at_link, pods_on, with_crashing};
pub(crate) use containers::{finds_device_in_use, recreate_superseded};

use about::{About, of_pod};

use super::words::advice::{self as words, Unprepared};
use crate::remedy::{Remedy, drop_finalizers, place_again};
use crate::script::{Command, delete, describe, describe_device};
use crate::words::delete_rule;
use dra_model::{Key, Kind, Str};
use dra_rules::kubelet::{
    Cause, Due, PodStage, Problem, Stages, Unread, controllers, crashing_daemons, is_attached_elsewhere,
    is_ready, lacks_network, missing_object, refuses_host_network,
};
use dra_rules::reservation::{Lacks, Unusable, unmade};
use dra_rules::scheduling::other_scheduler;

/// Returns the advice for a stuck pod.
pub(crate) fn advise(stages: &Stages<'_>, stage: &PodStage<'_>) -> Option<Advice> {
    About::new(stages, stage).map(|about| about.advise())
}

/// Returns what helps a stuck pod, too, without the party whose turn it is.
pub(crate) fn advise_besides(stages: &Stages<'_>, stage: &PodStage<'_>) -> Option<Advice> {
    let about = About::new(stages, stage)?;
    match &about.stuck.cause {
        Cause::PreparedForDeletedClaim {
            survivor: None,
            lasts: true,
            text,
            ..
        } => about.avoid(text),
        _ => None,
    }
}

impl About<'_, '_> {
    fn advise(&self) -> Advice {
        let Self { pod, node, .. } = *self;
        match &self.stuck.cause {
            Cause::DriverNotRegistered { driver, plugin } => self.not_registered(driver, plugin),
            Cause::PrepareRefused { claim, text, behind } => self.refused(claim, text, behind.as_ref()),
            Cause::NodesMissing {
                owner,
                lacks,
                too_few: Some((maker, pods)),
                ..
            } => {
                let text = words::agree(owner, lacks.wanted, maker, *pods);
                self.of_events("GatherNodes", self.of_owner(owner), text)
            }
            Cause::NodesMissing {
                owner,
                lacks,
                others,
                too_few: None,
                kept_off,
                taken,
            } => self.nodes_missing(owner, lacks, others, kept_off.as_ref(), taken.as_ref()),
            Cause::DriverFails {
                is_left_out: true, ..
            } => self.left_out(),
            Cause::DriverFails { text, .. } => self.fails(text),
            Cause::UnprepareFails { drivers } => self.unprepare_fails(drivers),
            Cause::Claim(problem) => self.of_claim(problem),
            Cause::DriverDown { drivers, .. } => self.down(drivers),
            Cause::DevicesUnresolvable {
                down: Some((driver, plugin)),
                ..
            } => Advice {
                remedy: Remedy::by_hand(words::THEN_RECREATE),
                ..self.plugin(driver, plugin)
            },
            Cause::DevicesUnresolvable {
                has_run: false,
                rebooted: None,
                ..
            } => self.driver("", Unprepared::NoFile),
            Cause::DevicesUnresolvable { .. } | Cause::PreparationForgotten { .. } => self.lost(),
            Cause::PreparedForDeletedClaim {
                survivor: Some(survivor),
                ..
            } => self.of_conditions("RepairRuntime", words::end_survivor(survivor, node)),
            Cause::EarlierClaim { lasts: true, .. }
            | Cause::BeingUnprepared { lasts: true, .. }
            | Cause::PreparedForDeletedClaim { lasts: true, .. } => self.driver("", Unprepared::Earlier),
            Cause::EarlierClaim { .. }
            | Cause::BeingUnprepared { .. }
            | Cause::PreparedForDeletedClaim { .. } => {
                Advice::by_hand("AwaitKubelet", self.of_node(), words::await_kubelet()).look(pods_on(node))
            }
            Cause::VolumesNotMounted { text } => {
                let user = self.stages.user_of_volume(pod, text);
                let how = match missing_object(text) {
                    Some(missing) => words::create_object(pod, missing),
                    None if is_attached_elsewhere(text) => {
                        let user = user.as_ref().map(|user| (&**user.pod, user.is_stuck()));
                        words::detach(user)
                    }
                    None => words::mount(),
                };
                let advice = self.of_events("MountVolumes", self.of_pod(), how);
                match user {
                    Some(user) => advice.look(describe(Kind::Pod, &user.pod.key())),
                    None => advice,
                }
            }
            Cause::OwnershipChanges { .. } => {
                let (_, owner) = self.made_from();
                let text = words::await_ownership(owner.as_ref());
                self.of_events("AwaitKubelet", self.of_node(), text)
            }
            Cause::SandboxFails { text, .. } if lacks_network(text) => {
                self.of_events("RepairContainer", self.of_pod(), words::name_network())
            }
            Cause::SandboxFails { text, .. } if refuses_host_network(text) => {
                self.of_template("CorrectPods", words::leave_host_network)
            }
            Cause::SandboxFails {
                device: Some(device), ..
            } => {
                let target = format!("driver/{}", device.driver);
                Advice::by_hand("RepairDriver", target, words::attach_device(device))
                    .look(describe_device(device))
            }
            Cause::SandboxFails { .. } => {
                self.of_events("RepairRuntime", self.of_node(), words::sandbox(node))
            }
            Cause::RuntimeDown { .. } => self.of_conditions("RepairRuntime", words::start_runtime(node)),
            Cause::KillFails { only_sandbox, .. } => {
                let how = if *only_sandbox {
                    words::remove_sandbox(node)
                } else {
                    words::stop_containers(node)
                };
                self.of_events("RepairRuntime", self.of_node(), how)
            }
            Cause::ContainersLeft {
                container, others, ..
            } => {
                let how = words::end_the_rest(container, others);
                self.of_events("RepairContainer", self.of_pod(), how)
            }
            Cause::NotReady { container, text } => {
                let text = self.has_event().then_some(text.as_str());
                self.not_ready(container.as_ref(), text)
            }
            Cause::ProbeFails { container, text } => self.not_ready(container.as_ref(), Some(text)),
            Cause::ContainerNotStarted(container, waiting) => self.not_started(container, waiting),
            Cause::ContainerEnds(container, end) => self.ends(container, end.as_ref()),
            Cause::ImageVolumeNotPulled { volume, .. } => {
                self.of_template("MountVolumes", |owner| words::correct_image(volume, owner))
            }
            Cause::NotInjected { runtime, .. } => {
                self.of_conditions("RepairRuntime", words::enable_cdi(node, runtime))
            }
            Cause::PodFailed { reason, .. } => self.failed(reason),
            Cause::KubeletTooOld { gate, is_told, .. } => {
                let text = words::enable(gate, node, *is_told);
                Advice::by_hand("UpgradeKubelet", self.of_node(), text)
            }
            Cause::ClaimSkipped { skips, .. } => self.of_events(
                "UpgradeKubelet",
                self.of_node(),
                words::stop_skipping(skips, node),
            ),
            Cause::ClaimUnreadable {
                why: Unread::NotServed,
                ..
            } => Advice::by_hand("UpgradeKubelet", self.of_node(), words::upgrade(node)),
            Cause::ClaimUnreadable { claim, why, .. } => {
                let claim = pod.metadata.beside(claim).to_string();
                let text = words::let_read(node, &claim, *why == Unread::Refused);
                Advice::by_hand("ReadKubelet", self.of_node(), text)
            }
            Cause::PreparedForOtherClaim { pod, ends, .. } => {
                let look = Command::dra("explain").here().about(Kind::Pod, pod);
                let text = words::await_end(pod, ends.is_some());
                Advice::by_hand("WaitForDeletion", of_pod(pod), text).look(look.done())
            }
            Cause::DeviceNotPublished { are_gone: true, .. } => {
                self.again(Remedy::by_hand(words::gone(node))).look(pods_on(node))
            }
            Cause::DeviceNotPublished { devices, .. } => {
                let driver = devices.first().map_or("", |device| device.driver.as_str());
                let target = format!("driver/{driver}");
                Advice::by_hand("RestoreDriver", target, words::publish(driver, node)).look(pods_on(node))
            }
            Cause::DeviceUnhealthy { device, .. } if !self.stages.is_kept_off(pod, device) => {
                self.unhealthy(device)
            }
            Cause::DeviceUnhealthy { .. } => self.elsewhere(None),
            Cause::ToBeEvicted {
                rule,
                due: Due::PassedOver,
                ..
            } => self.elsewhere(rule.as_ref()),
            Cause::ToBeEvicted {
                rule: Some(_),
                due: Due::Unserved(_),
                ..
            } => Advice::by_hand("EnableGate", self.of_pod(), words::enable_rules()),
            Cause::ToBeEvicted {
                rule: Some(rule),
                taint,
                lacks_effect,
                ..
            } => Advice::new(
                "LiftTaint",
                format!("devicetaintrule/{rule}"),
                delete_rule(rule),
                Remedy::command(delete(Kind::DeviceTaintRule, [rule]))
                    .note(words::or_tolerate(taint, *lacks_effect)),
            ),
            Cause::ToBeEvicted {
                device,
                taint,
                lacks_effect,
                ..
            } => Advice::by_hand(
                "LiftTaint",
                format!("device/{device}"),
                words::lift_taint(device, taint, *lacks_effect),
            ),
            Cause::NodeSilent { .. } => self.of_conditions("RestoreNode", words::recover(node)),
            Cause::NodeGone { .. } => {
                self.of_events("WaitForDeletion", self.of_pod(), words::await_garbage_collector())
            }
            Cause::NodeNotReady { .. } => self.of_conditions("RestoreNode", words::make_ready(node)),
            Cause::NetworkNotReady { .. } => self.of_conditions("RestoreNode", words::network(node)),
            Cause::Finalizers(names) => self.without_finalizers(names),
            Cause::Binding {
                denied: Some(denied), ..
            } => Advice::by_hand("RepairDriver", self.of_pod(), words::permit(denied)),
            Cause::Binding {
                device, attaching, ..
            } => self.attach(device, attaching),
            Cause::Unrecognized { .. } => Advice::by_hand(
                "ReadKubelet",
                self.of_node(),
                words::read(node, words::UNRECOGNIZED),
            ),
            Cause::NotRemoved => {
                let text = words::read(node, words::NOT_REMOVED);
                let advice = self.of_events("ReadKubelet", self.of_node(), text);
                // What unmounts its volumes may be among them.
                let daemons = pod.node().filter(|_| pod.spec.volumes.bind).into_iter();
                let daemons = daemons.flat_map(|node| crashing_daemons(self.cluster(), node));
                Advice {
                    remedy: with_crashing(advice.remedy, daemons),
                    ..advice
                }
            }
            Cause::ClaimNeverMade { .. } => {
                let delete = Command::kubectl("delete").about(Kind::Pod, &pod.key());
                let delete = Remedy::command(delete.arg("--force").done()).note(words::NOTHING_PREPARED);
                Advice::new("ForceDelete", self.of_pod(), words::FORCE_DELETE, delete)
            }
            Cause::ContainersNotStopped => self.of_events(
                "ReadKubelet",
                self.of_node(),
                words::read(node, words::NOT_STOPPED),
            ),
        }
    }

    fn of_claim(&self, problem: &Problem) -> Advice {
        match problem {
            Problem::Missing(claim) if !self.is_made_again(claim) => {
                Advice::by_hand("CreateClaim", format!("claim/{claim}"), words::create_claim())
            }
            Problem::TemplateMissing(_) => {
                Advice::by_hand("CreateTemplate", self.of_pod(), words::create_template())
            }
            Problem::Unusable {
                why: Unusable::Bypassed,
                ..
            } => {
                let found = self.cluster().node(self.node);
                let label = found.and_then(|node| node.metadata.label("kubernetes.io/hostname"));
                let hostname = label.map_or(self.node, Str::as_str);
                self.of_template("RecreatePod", |owner| words::place_by_label(owner, hostname))
            }
            _ => {
                let advice = self.again(place_again(self.cluster(), self.pod));
                match other_scheduler(self.cluster().environment(), self.pod) {
                    Some(_) => Advice {
                        message: words::place_otherwise(self.pod.scheduler()),
                        ..advice
                    },
                    None => advice,
                }
            }
        }
    }

    /// Returns whether the claim controller makes a claim again that is gone, with another name. It is of no use to make it by hand.
    fn is_made_again(&self, claim: &Key) -> bool {
        let is_it = |lacks: &Lacks| matches!(lacks, Lacks::Claim(key) if key == claim);
        unmade(self.cluster(), self.pod).any(|(_, unmade)| is_it(&unmade.lacks))
    }

    /// Finalizers go with those who set them. What a component of Kubernetes set, or one that runs, it takes off itself.
    fn without_finalizers(&self, names: &[Str]) -> Advice {
        let mut domains = names.iter().filter_map(|name| Some(name.split_once('/')?.0));
        let running = |domain| controllers(self.cluster(), domain).find(|pod| is_ready(pod));
        if let Some(controller) = domains.find_map(running) {
            let key = controller.key();
            let text = words::await_controller(names, &key);
            return Advice::by_hand("AwaitFinalizer", self.of_pod(), text).look(logs_of(&key));
        }
        match drop_finalizers(Kind::Pod, &self.pod.metadata) {
            Some((foreign, remedy)) => {
                let message = words::drop_finalizer(&foreign);
                Advice::new("RemoveFinalizer", self.of_pod(), message, remedy)
            }
            None => Advice::by_hand("AwaitFinalizer", self.of_pod(), words::await_finalizer(names)),
        }
    }
}
