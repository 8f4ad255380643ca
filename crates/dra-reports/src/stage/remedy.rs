//! What lets a pod continue from its stage.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::words::advice::{self as words, Exit, Restore, Text, Unprepared};
use super::words::crashing_text;
use crate::remedy::{Remedy, UNATTACHABLE, can_taint, drop_finalizers, place_again, replace_pods, top_owner};
use crate::script::{
    Command, NoCommand, Resource, Script, delete, delete_in, describe_device, field_selector,
    keep_off_device, patch,
};
use crate::words::{controller, delete_rule};
use dra_model::{Cluster, DeviceId, Key, Kind, Pod, Str, Taint};
use dra_rules::kubelet::{
    Attaching, Behind, BrokenLink, Cause, Doing, Due, Evidence, KeptOff, Maker, OF_CORES, Party, Plugin,
    PodStage, Problem, Stages, Unread, Waiting, controllers, crashing_daemons, has_logs, has_stopped,
    has_word, injects_own, is_of_alignment, is_ready, lacks_network, missing_object, refuses_host_network,
    unreachable_registry,
};
use dra_rules::owners::{OwnerName, is_superseded, replacement};
use dra_rules::reservation::{Lacks, Origin, Unusable, may_run, unmade, users};
use dra_rules::scheduling::{daemon_tolerations, other_scheduler};
use dra_rules::validation::Webhook;

/// Crashing pods that are named beside advice.
const MOST_CRASHING: usize = 2;

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
    fn new(kind: &'static str, target: String, message: impl Into<String>, remedy: Remedy) -> Self {
        Self {
            kind,
            target,
            message: message.into(),
            remedy,
            look: None,
        }
    }

    /// Advice without a command.
    fn by_hand(kind: &'static str, target: String, text: Text) -> Self {
        Self::new(kind, target, text.message, Remedy::by_hand(text.how))
    }

    fn look(self, look: Result<Script, NoCommand>) -> Self {
        Self {
            look: look.ok(),
            ..self
        }
    }
}

/// Returns the advice for a stuck pod.
pub(crate) fn advise(stages: &Stages<'_>, stage: &PodStage<'_>) -> Option<Advice> {
    let pod = stage.pod;
    let stuck = stage.stuck.as_ref()?;
    let node = pod.node().map_or("", Str::as_str);
    let of_pod = || format!("pod/{}", pod.key());
    let of_node = || format!("node/{node}");
    let of_owner = |owner: &OwnerName| {
        let key = pod.metadata.beside(&owner.name);
        format!("{}/{key}", owner.kind.to_ascii_lowercase())
    };
    let describe_node = || describe_node(node);
    let of_events = |kind, target, text| Advice::by_hand(kind, target, text).look(describe(&pod.key()));
    let of_conditions = |kind, text| Advice::by_hand(kind, of_node(), text).look(describe_node());
    Some(match &stuck.cause {
        Cause::DriverNotRegistered { driver, .. } if let Some(waiting) = stages.awaits_end(pod) => {
            let has_ended = has_stopped(pod);
            Advice::by_hand(
                "RestoreDriver",
                of_node(),
                words::break_circle(driver, &waiting.key(), has_ended),
            )
            .look(describe(&waiting.key()))
        }
        Cause::DriverNotRegistered { driver, plugin } => of_plugin(stages, driver, plugin, node),
        Cause::PrepareRefused { text, .. } if let Some(awaited) = stages.awaited(pod, text) => {
            let key = awaited.pod.key();
            Advice::by_hand("RepairContainer", format!("pod/{key}"), words::get_ready(&key))
                .look(describe(&key))
        }
        Cause::NodesMissing {
            owner,
            lacks,
            too_few: Some((maker, pods)),
            ..
        } => {
            let text = words::agree(owner, lacks.wanted, maker, *pods);
            of_events("GatherNodes", of_owner(owner), text)
        }
        Cause::NodesMissing { kept_off: None, .. } if let Some(daemon) = stages.daemon(pod) => {
            let key = daemon.pod.key();
            Advice::by_hand(
                "RepairContainer",
                format!("pod/{key}"),
                words::get_daemon_ready(&key),
            )
            .look(logs_of(&key))
        }
        Cause::DriverFails {
            is_left_out: true, ..
        }
        | Cause::NodesMissing { .. }
            if stages.is_passing(stage) =>
        {
            let owner = match &stuck.cause {
                Cause::NodesMissing { owner, .. } => Some(owner),
                _ => None,
            };
            let daemon = stages.daemon_pods(pod).find(|daemon| !is_ready(daemon));
            let daemon = daemon.map(|daemon| daemon.key());
            let text = words::await_devices(node, owner, daemon.as_ref());
            of_events("AwaitDriver", of_node(), text)
        }
        Cause::NodesMissing {
            taken: Some((uid, other)),
            ..
        } => {
            let target = other
                .as_ref()
                .map_or_else(of_node, |other| format!("computedomain/{other}"));
            let text = words::leave_domain(node, uid, other.as_ref());
            Advice::by_hand("GatherNodes", target, text).look(describe_node())
        }
        Cause::DriverFails {
            is_left_out: true, ..
        } => of_driver(stages, stage, node, Unprepared::LeftOut),
        Cause::PrepareRefused {
            behind: Some(Behind::Reboot(_)),
            ..
        } => lost(stages, pod),
        Cause::PrepareRefused {
            behind: Some(Behind::Helper(driver, refused)),
            ..
        } => {
            let target = format!("{}/{}", refused.kind.resource(), refused.maker);
            let message = words::link(driver, &BrokenLink::Refused((**refused).clone()));
            Advice::new("AdmitDriver", target, message, Remedy::by_hand(words::RETRIES))
        }
        Cause::PrepareRefused {
            behind:
                Some(Behind::OlderPod {
                    pod: own,
                    since,
                    other,
                }),
            ..
        } => {
            let text = words::restart_older(own, node, *since, other);
            let restart =
                replace_pods(stages.cluster(), &own.namespace, stages.cluster().pod(own)).note(text.how);
            Advice::new("RestartDriver", format!("pod/{own}"), text.message, restart).look(logs_of(own))
        }
        Cause::DriverFails { .. } | Cause::PrepareRefused { .. } => {
            let configured = configured(stages, stage);
            let why = configured.map_or(Unprepared::Refused, Unprepared::Configured);
            of_driver(stages, stage, node, why)
        }
        Cause::NodesMissing {
            kept_off: Some((set, taint)),
            ..
        } => {
            let text = words::tolerate(&set.namespace, &set.name, taint, node);
            let look =
                Command::kubectl("describe").object(Resource::called(Maker::DaemonSet.resource()), &set.name);
            Advice::by_hand("AdmitDriver", format!("daemonset/{set}"), text)
                .look(look.namespace(&set.namespace).done())
        }
        Cause::NodesMissing {
            owner, lacks, others, ..
        } => {
            let others: Vec<String> = others.iter().map(|other| format!("pod/{other}")).collect();
            let node = (lacks.wanted == 0).then_some(node);
            let text = words::gather(&owner.to_string(), &others, node);
            of_events("GatherNodes", of_owner(owner), text)
        }
        Cause::UnprepareFails { drivers } => {
            let names = drivers.iter().map(|(driver, _)| driver.as_str());
            let names = names.collect::<Vec<_>>().join(" or ");
            let (target, pod) = match drivers.as_slice() {
                [(driver, plugin)] => (format!("driver/{driver}"), plugin.pod()),
                _ => (of_node(), None),
            };
            Advice::by_hand("RepairDriver", target, words::unprepare(&names)).look(logs(pod, node))
        }
        Cause::Claim(Problem::Missing(claim)) if !is_made_again(stages, pod, claim) => {
            Advice::by_hand("CreateClaim", format!("claim/{claim}"), words::create_claim())
        }
        Cause::Claim(Problem::TemplateMissing(_)) => {
            Advice::by_hand("CreateTemplate", of_pod(), words::create_template())
        }
        Cause::Claim(Problem::Unusable {
            why: Unusable::Bypassed,
            ..
        }) => {
            let (target, owner) = made_from(stages.cluster(), pod);
            let found = stages.cluster().node(node);
            let label = found.and_then(|node| node.metadata.label("kubernetes.io/hostname"));
            let text = words::place_by_label(owner.as_ref(), label.map_or(node, Str::as_str));
            Advice::by_hand("RecreatePod", target, text).look(describe(&pod.key()))
        }
        Cause::Claim(_) => {
            let advice = again(pod, place_again(stages.cluster(), pod));
            match other_scheduler(stages.cluster().environment(), pod) {
                Some(_) => Advice {
                    message: words::place_otherwise(pod.scheduler()),
                    ..advice
                },
                None => advice,
            }
        }
        Cause::DriverDown { drivers, .. } => {
            let first = drivers.first().zip(pod.node());
            let plugin = first.map(|(driver, node)| stages.plugin(driver, node));
            let names = drivers.iter().map(Str::as_str).collect::<Vec<_>>().join(" or ");
            Advice::by_hand("RestoreDriver", of_node(), words::start_driver(&names, node))
                .look(logs(plugin.as_ref().and_then(Plugin::pod), node))
        }
        Cause::DevicesUnresolvable {
            down: Some((driver, plugin)),
            ..
        } => Advice {
            remedy: Remedy::by_hand(words::THEN_RECREATE),
            ..of_plugin(stages, driver, plugin, node)
        },
        Cause::DevicesUnresolvable {
            has_run: false,
            rebooted: None,
            ..
        } => of_driver(stages, stage, node, Unprepared::NoFile),
        Cause::PreparedForDeletedClaim {
            survivor: Some(survivor),
            ..
        } => Advice::by_hand("RepairRuntime", of_node(), words::end_survivor(survivor, node))
            .look(describe_node()),
        Cause::EarlierClaim { lasts: true, .. }
        | Cause::BeingUnprepared { lasts: true, .. }
        | Cause::PreparedForDeletedClaim { lasts: true, .. } => {
            of_driver(stages, stage, node, Unprepared::Earlier)
        }
        Cause::VolumesNotMounted { text } if let Some(missing) = missing_object(text) => {
            of_events("MountVolumes", of_pod(), words::create_object(pod, missing))
        }
        Cause::VolumesNotMounted { text } => {
            // Of `attachdetach/reconciler/reconciler.go`, `reportMultiAttachError`, v1.37.2.
            let is_elsewhere = text.starts_with("Multi-Attach error");
            let how = if is_elsewhere {
                words::detach()
            } else {
                words::mount()
            };
            of_events("MountVolumes", of_pod(), how)
        }
        Cause::OwnershipChanges { .. } => {
            let (_, owner) = made_from(stages.cluster(), pod);
            of_events("AwaitKubelet", of_node(), words::await_ownership(owner.as_ref()))
        }
        Cause::SandboxFails { text, .. } if lacks_network(text) => {
            of_events("RepairContainer", of_pod(), words::name_network())
        }
        Cause::SandboxFails { text, .. } if refuses_host_network(text) => {
            let (target, owner) = made_from(stages.cluster(), pod);
            of_events("CorrectPods", target, words::leave_host_network(owner.as_ref()))
        }
        Cause::SandboxFails {
            device: Some(device), ..
        } => Advice::by_hand(
            "RepairDriver",
            format!("driver/{}", device.driver),
            words::attach_device(device),
        )
        .look(describe_device(device)),
        Cause::SandboxFails { .. } => of_events("RepairRuntime", of_node(), words::sandbox(node)),
        Cause::RuntimeDown { .. } => of_conditions("RepairRuntime", words::start_runtime(node)),
        Cause::KillFails { only_sandbox, .. } => {
            let how = if *only_sandbox {
                words::remove_sandbox(node)
            } else {
                words::stop_containers(node)
            };
            of_events("RepairRuntime", of_node(), how)
        }
        Cause::ContainersLeft {
            container, others, ..
        } => of_events(
            "RepairContainer",
            of_pod(),
            words::end_the_rest(container, others),
        ),
        Cause::ContainerNotStarted(..)
        | Cause::ContainerEnds(..)
        | Cause::ProbeFails { .. }
        | Cause::NotReady { .. }
            if is_superseded(stages.cluster(), pod) =>
        {
            recreate_superseded(pod)
        }
        Cause::NotReady { .. }
            if !stuck
                .evidence
                .iter()
                .any(|found| matches!(found, Evidence::Event(_))) =>
        {
            of_events("RepairContainer", of_pod(), words::make_pod_ready())
        }
        Cause::ProbeFails { container, text } | Cause::NotReady { container, text } => {
            // Of `kubelet/prober/prober_manager.go` and `prober.go`, `probe`, v1.37.2.
            let restarts = text.starts_with("Startup probe") || text.starts_with("Liveness probe");
            let text = words::probe(container.as_ref(), restarts);
            of_events("RepairContainer", of_pod(), text)
        }
        Cause::ContainerNotStarted(_, waiting)
            if pod.spec.runtime_class_name.is_some() && injects_own(&waiting.message) =>
        {
            let (target, owner) = made_from(stages.cluster(), pod);
            of_events("CorrectPods", target, words::drop_runtime_class(owner.as_ref()))
        }
        Cause::ContainerNotStarted(_, waiting)
            if let Some((host, error)) = unreachable_registry(&waiting.message)
                && error.contains("x509: ") =>
        {
            let elsewhere = runs_elsewhere(stages.cluster(), pod);
            let text = words::trust_registry(host, node, error, elsewhere.as_ref());
            of_events("RepairRuntime", of_node(), text)
        }
        Cause::ContainerNotStarted(_, waiting)
            if let Some((host, _)) = unreachable_registry(&waiting.message) =>
        {
            of_events("RepairContainer", of_pod(), words::reach_registry(host))
        }
        Cause::ContainerNotStarted(_, waiting) if let Some(exit) = exit_of(stages, pod, &waiting.message) => {
            exits(stages, pod, node, exit)
        }
        Cause::ContainerNotStarted(_, waiting) if let Some(missing) = missing_object(&waiting.message) => {
            of_events("RepairContainer", of_pod(), words::create_object(pod, missing))
        }
        Cause::ContainerNotStarted(container, waiting)
            if let Some((claim, other)) = of_other_container(stages, pod, container, &waiting.message) =>
        {
            let (target, owner) = made_from(stages.cluster(), pod);
            let text = words::one_container(&claim, container, &other, owner.as_ref());
            of_events("CorrectPods", target, text)
        }
        Cause::ContainerNotStarted(container, waiting) => {
            let is_named = |uid: &Str| !uid.is_empty() && waiting.message.contains(uid.as_str());
            let mut claims = stages.claims(pod);
            let is_of_pod = waiting.message.contains("NRI adjustment")
                || is_named(&pod.metadata.uid)
                || claims.any(|claim| is_named(&claim.metadata.uid));
            let how = match stuck.cause.party() {
                Party::User => words::start_container(container),
                party => words::start_for(party, node, container, is_of_pod),
            };
            of_events("RepairContainer", of_pod(), how)
        }
        Cause::ImageVolumeNotPulled { volume, .. } => {
            let (target, owner) = made_from(stages.cluster(), pod);
            of_events(
                "MountVolumes",
                target,
                words::correct_image(volume, owner.as_ref()),
            )
        }
        Cause::NotInjected { runtime, .. } => {
            of_conditions("RepairRuntime", words::enable_cdi(node, runtime))
        }
        Cause::ContainerEnds(container, Some(end)) if end.reason == "OOMKilled" => {
            of_events("RepairContainer", of_pod(), words::out_of_memory(container))
        }
        Cause::ContainerEnds(container, Some(end))
            if lacks_device_memory(&end.message) && !beside(stages, pod).is_empty() =>
        {
            let (target, owner) = made_from(stages.cluster(), pod);
            let others = named(&beside(stages, pod));
            of_events(
                "RepairContainer",
                target,
                words::own_device(container, owner.as_ref(), &others),
            )
        }
        Cause::ContainerEnds(_, Some(end)) if let Some(exit) = exit_of(stages, pod, &end.message) => {
            exits(stages, pod, node, exit)
        }
        Cause::ContainerEnds(container, end) => {
            let is_done = end.as_ref().is_some_and(|end| end.exit_code == 0);
            let how = if is_done {
                words::ends_without_error(container)
            } else {
                words::keeps_exiting(container)
            };
            Advice::by_hand("RepairContainer", of_pod(), how).look(
                Command::kubectl("logs")
                    .about(Kind::Pod, &pod.key())
                    .option("--container", container)
                    .args(&["--previous", "--tail=50"])
                    .done(),
            )
        }
        Cause::PodFailed { reason, .. } => match replacement(stages.cluster(), pod) {
            Some(other) => {
                let message = words::replaced_by(&other.key());
                Advice::new("RecreatePod", of_pod(), message, Remedy::by_hand(words::REPLACED))
                    .look(describe(&other.key()))
            }
            None if is_of_alignment(reason) => {
                let (target, owner) = made_from(stages.cluster(), pod);
                let how = words::align(reason == OF_CORES, owner.as_ref());
                Advice::by_hand("CorrectPods", target, how).look(describe_node())
            }
            None => match failed_job(stages.cluster(), pod) {
                Some(job) => Advice::new(
                    "RecreatePod",
                    format!("job/{job}"),
                    words::recreate_job(&job.to_string()),
                    Remedy::by_hand(words::JOB_FAILED),
                ),
                None => again(pod, Remedy::by_hand(words::FAILED)),
            },
        },
        Cause::DevicesUnresolvable { .. } | Cause::PreparationForgotten { .. } => lost(stages, pod),
        Cause::EarlierClaim { .. }
        | Cause::BeingUnprepared { .. }
        | Cause::PreparedForDeletedClaim { .. } => {
            Advice::by_hand("AwaitKubelet", of_node(), words::await_kubelet()).look(pods_on(node))
        }
        Cause::KubeletTooOld { gate, is_told, .. } => {
            Advice::by_hand("UpgradeKubelet", of_node(), words::enable(gate, node, *is_told))
        }
        Cause::ClaimSkipped { skips, .. } => {
            of_events("UpgradeKubelet", of_node(), words::stop_skipping(skips, node))
        }
        Cause::ClaimUnreadable {
            why: Unread::NotServed,
            ..
        } => Advice::by_hand("UpgradeKubelet", of_node(), words::upgrade(node)),
        Cause::ClaimUnreadable { claim, why, .. } => {
            let is_rejected = *why == Unread::Refused;
            Advice::by_hand(
                "ReadKubelet",
                of_node(),
                words::let_read(node, &pod.metadata.beside(claim).to_string(), is_rejected),
            )
        }
        Cause::PreparedForOtherClaim { pod, ends, .. } => {
            let look = Command::dra("explain").here().about(Kind::Pod, pod);
            let text = words::await_end(pod, ends.is_some());
            Advice::by_hand("WaitForDeletion", format!("pod/{pod}"), text).look(look.done())
        }
        Cause::DeviceNotPublished { are_gone: true, .. } => {
            again(pod, Remedy::by_hand(words::gone(node))).look(pods_on(node))
        }
        Cause::DeviceNotPublished { devices, .. } => {
            let driver = devices.first().map_or("", |device| device.driver.as_str());
            let target = format!("driver/{driver}");
            Advice::by_hand("RestoreDriver", target, words::publish(driver, node)).look(pods_on(node))
        }
        Cause::DeviceUnhealthy { device, .. } if stages.is_kept_off(pod, device) => {
            again(pod, place_again(stages.cluster(), pod).note(words::KEPT_OFF))
        }
        Cause::DeviceUnhealthy { device, .. } => again(pod, Remedy::by_hand(words::unhealthy(device))),
        Cause::ToBeEvicted {
            due: Due::PassedOver, ..
        } => again(pod, place_again(stages.cluster(), pod).note(words::KEPT_OFF)),
        Cause::ToBeEvicted {
            rule: Some(_),
            due: Due::Unserved(_),
            ..
        } => Advice::by_hand("EnableGate", of_pod(), words::enable_rules()),
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
        Cause::NodeSilent { .. } => of_conditions("RestoreNode", words::recover(node)),
        Cause::NodeGone { .. } => of_events("WaitForDeletion", of_pod(), words::await_garbage_collector()),
        Cause::NodeNotReady { .. } => of_conditions("RestoreNode", words::make_ready(node)),
        Cause::NetworkNotReady { .. } => of_conditions("RestoreNode", words::network(node)),
        Cause::Finalizers(names) => without_finalizers(stages, pod, names),
        Cause::Binding {
            denied: Some(denied), ..
        } => Advice::by_hand("RepairDriver", of_pod(), words::permit(denied)),
        Cause::Binding {
            device, attaching, ..
        } => attach(stages, pod, device, attaching),
        Cause::Unrecognized { .. } => {
            Advice::by_hand("ReadKubelet", of_node(), words::read(node, words::UNRECOGNIZED))
        }
        Cause::NotRemoved => {
            let advice = Advice::by_hand("ReadKubelet", of_node(), words::read(node, words::NOT_REMOVED));
            // What unmounts its volumes may be among them.
            let daemons = pod.node().filter(|_| pod.spec.volumes.bind).into_iter();
            let daemons = daemons.flat_map(|node| crashing_daemons(stages.cluster(), node));
            Advice {
                remedy: with_crashing(advice.remedy, daemons),
                ..advice
            }
            .look(describe(&pod.key()))
        }
        Cause::ClaimNeverMade { .. } => {
            let delete = Command::kubectl("delete").about(Kind::Pod, &pod.key());
            Advice::new(
                "ForceDelete",
                of_pod(),
                words::FORCE_DELETE,
                Remedy::command(delete.arg("--force").done()).note(words::NOTHING_PREPARED),
            )
        }
        Cause::ContainersNotStopped => {
            of_events("ReadKubelet", of_node(), words::read(node, words::NOT_STOPPED))
        }
    })
}

/// The end of a pod of an earlier revision of its StatefulSet.
pub(crate) fn recreate_superseded(pod: &Pod) -> Advice {
    let key = pod.key();
    let delete = Remedy::command(delete_in(&key.namespace, Kind::Pod, [&key.name]));
    let kind = pod.metadata.controller().map(|owner| &owner.kind);
    let (message, why) = words::superseded(&key, kind.map_or("owner", Str::as_str));
    Advice::new("RecreatePod", format!("pod/{key}"), message, delete.note(why))
}

/// Returns whether the claim controller makes a claim again that is gone, with another name. It is of no use to make it by hand.
fn is_made_again(stages: &Stages<'_>, pod: &Pod, claim: &Key) -> bool {
    let is_it = |lacks: &Lacks| matches!(lacks, Lacks::Claim(key) if key == claim);
    unmade(stages.cluster(), pod).any(|(_, unmade)| is_it(&unmade.lacks))
}

/// What has to change so that pods like this one do, and the owner that it belongs to, if that is not the pod itself.
fn made_from(cluster: &Cluster, pod: &Pod) -> (String, Option<OwnerName>) {
    let Some(owner) = top_owner(cluster, pod) else {
        return (format!("pod/{}", pod.key()), None);
    };
    let target = controller(&pod.metadata, &owner);
    let name = OwnerName {
        kind: owner.kind,
        name: owner.name,
    };
    (target, Some(name))
}

/// The Job of the pod, if it has failed for good.
fn failed_job(cluster: &Cluster, pod: &Pod) -> Option<Key> {
    let owner = pod.metadata.controller().filter(|owner| owner.kind == "Job")?;
    let job = cluster
        .environment()
        .owners
        .find(owner, &pod.metadata.namespace)?;
    job.condition("Failed", "True").map(|_| job.key.clone())
}

/// The claim of the pod whose UID a text about container `own` has, and the other container of the pod that it names: a driver that serves one
/// container with a claim has bound it to that.
fn of_other_container(stages: &Stages<'_>, pod: &Pod, own: &str, text: &str) -> Option<(Key, Str)> {
    let mut claims = stages.claims(pod);
    let claim = claims.find(|claim| has_word(text, &claim.metadata.uid))?;
    let mut others = pod.spec.containers.iter().filter(|other| other.name != *own);
    let other = others.find(|other| !other.resources.claims.is_empty() && has_word(text, &other.name))?;
    Some((claim.key(), other.name.clone()))
}

/// The other pods on the node of `pod` that use its claims.
fn beside<'c>(stages: &Stages<'c>, pod: &Pod) -> Vec<&'c Arc<Pod>> {
    let users = |claim| users(stages.cluster(), claim).unwrap_or_default();
    let users = stages.claims(pod).flat_map(|claim| users(claim));
    users
        .filter(|other| other.node() == pod.node() && other.metadata.uid != pod.metadata.uid)
        .collect()
}

/// Pods as commands and sentences name them.
fn named(pods: &[&Arc<Pod>]) -> Vec<String> {
    pods.iter().map(|pod| format!("pod/{}", pod.key())).collect()
}

/// Returns whether a program found too little memory of its device, in the words of CUDA or ROCm, or of PyTorch for them.
fn lacks_device_memory(text: &str) -> bool {
    const WORDS: [&str; 4] = [
        "CUDA out of memory",
        "CUDA_ERROR_OUT_OF_MEMORY",
        "cudaErrorMemoryAllocation",
        "HIP out of memory",
    ];
    WORDS.iter().any(|words| text.contains(words))
}

/// What a program has said at its end, where that shows what is wrong: of the kernel, and of CUDA with its number or the name of that.
fn exit_of(stages: &Stages<'_>, pod: &Pod, text: &str) -> Option<Exit> {
    const SAID: [(&str, Exit); 7] = [
        ("exec format error", Exit::Architecture),
        ("system not yet initialized", Exit::Fabric),
        ("cudaErrorSystemNotReady", Exit::Fabric),
        (
            "forward compatibility was attempted on non supported HW",
            Exit::NewerDriver,
        ),
        ("cudaErrorCompatNotSupportedOnDevice", Exit::NewerDriver),
        (
            "CUDA-capable device(s) is/are busy or unavailable",
            Exit::Exclusive,
        ),
        ("cudaErrorDevicesUnavailable", Exit::Exclusive),
    ];
    let (_, exit) = SAID.iter().find(|(said, _)| text.contains(said))?;
    let is_so = match exit {
        Exit::Exclusive => !beside(stages, pod).is_empty(),
        Exit::Architecture => architecture(stages, pod).is_some(),
        Exit::Fabric | Exit::NewerDriver => true,
    };
    is_so.then_some(*exit)
}

/// The architecture of the pod's node.
fn architecture<'c>(stages: &Stages<'c>, pod: &Pod) -> Option<&'c Str> {
    let node = stages.cluster().node(pod.node()?)?;
    node.metadata.label("kubernetes.io/arch")
}

/// Advice about a program that has said what is wrong.
fn exits(stages: &Stages<'_>, pod: &Arc<Pod>, node: &str, exit: Exit) -> Advice {
    let cluster = stages.cluster();
    let (target, owner) = made_from(cluster, pod);
    let arch = architecture(stages, pod).map_or("", Str::as_str);
    let text = words::exits(exit, owner.as_ref(), node, arch, &named(&beside(stages, pod)));
    let (kind, target) = match exit {
        Exit::Fabric => ("RestoreNode", format!("node/{node}")),
        _ => ("CorrectPods", target),
    };
    Advice::by_hand(kind, target, text).look(describe(&pod.key()))
}

/// A ready pod of the same owner on another node.
fn runs_elsewhere(cluster: &Cluster, pod: &Pod) -> Option<Key> {
    let owner = pod.metadata.controller()?;
    let is_alike = |other: &&Arc<Pod>| {
        let same = other.metadata.controller();
        same.is_some_and(|same| same.uid == owner.uid) && other.node() != pod.node() && is_ready(other)
    };
    cluster.pods().find(is_alike).map(|other| other.key())
}

/// Advice to recreate the pod.
fn again(pod: &Arc<Pod>, remedy: Remedy) -> Advice {
    let target = format!("pod/{}", pod.key());
    Advice::new("RecreatePod", target, words::RECREATE, remedy)
}

/// A driver that has the claim on its list prepares it anew once it has taken it back, which is when no pod of the node has it any more. One
/// that runs with it is not ended for this one.
fn lost(stages: &Stages<'_>, pod: &Arc<Pod>) -> Advice {
    let others = beside(stages, pod);
    let has_lost = |pod: &Pod| {
        let found = stages.cluster().pod(&pod.key()).and_then(|pod| stages.stuck(pod));
        let cause = found.and_then(|found| found.stuck).map(|stuck| stuck.cause);
        matches!(
            cause,
            Some(
                Cause::DevicesUnresolvable { .. }
                    | Cause::PreparationForgotten { .. }
                    | Cause::PrepareRefused {
                        behind: Some(Behind::Reboot(_)),
                        ..
                    }
            )
        )
    };
    let mut running = others.clone();
    running.retain(|pod| may_run(pod) && !has_lost(pod));
    if !running.is_empty() {
        return again(pod, Remedy::by_hand(words::unused_first(&named(&running))));
    }
    let is_alone = others.is_empty();
    let pods = std::iter::once(pod).chain(others);
    let advice = again(pod, replace_pods(stages.cluster(), &pod.metadata.namespace, pods));
    if is_alone {
        return advice;
    }
    Advice {
        message: words::RECREATE_ALL.to_owned(),
        ..advice
    }
}

/// Finalizers go with those who set them. What a component of Kubernetes set, or one that runs, it takes off itself.
fn without_finalizers(stages: &Stages<'_>, pod: &Arc<Pod>, names: &[Str]) -> Advice {
    let target = format!("pod/{}", pod.key());
    let mut domains = names.iter().filter_map(|name| Some(name.split_once('/')?.0));
    let running = |domain| controllers(stages.cluster(), domain).find(|pod| is_ready(pod));
    if let Some(controller) = domains.find_map(running) {
        let key = controller.key();
        return Advice::by_hand("AwaitFinalizer", target, words::await_controller(names, &key))
            .look(logs_of(&key));
    }
    match drop_finalizers(Kind::Pod, &pod.metadata) {
        Some((foreign, remedy)) => {
            Advice::new("RemoveFinalizer", target, words::drop_finalizer(&foreign), remedy)
        }
        None => Advice::by_hand("AwaitFinalizer", target, words::await_finalizer(names)),
    }
}

/// The driver attaches the device, or the scheduler gives it up: automatically, but for the same device again if it still can.
fn attach(stages: &Stages<'_>, pod: &Arc<Pod>, device: &DeviceId, attaching: &Attaching) -> Advice {
    let of_pod = format!("pod/{}", pod.key());
    let advice = match attaching {
        Attaching::Failed(_) => {
            let can_taint = can_taint(stages.cluster().environment());
            let text = words::unattachable(device, can_taint);
            if can_taint {
                let taint = Remedy::command(keep_off_device(device, UNATTACHABLE)).note(text.how);
                Advice::new("TaintDevice", format!("device/{device}"), text.message, taint)
            } else {
                Advice::by_hand("AwaitBinding", of_pod, text)
            }
        }
        Attaching::TimedOut(_) => {
            Advice::by_hand("AwaitBinding", of_pod, words::attach_in_time(&device.driver))
        }
        Attaching::Pending(_) => Advice::by_hand("AwaitBinding", of_pod, words::attach()),
    };
    advice.look(describe_device(device))
}

/// The object with the configuration that users have written for the drivers of the pod's devices, as messages call it.
fn configured(stages: &Stages<'_>, stage: &PodStage<'_>) -> Option<String> {
    stages.claims(stage.pod).find_map(|claim| {
        let of_claim = claim.spec.devices.config.iter();
        let mut configs = of_claim.filter_map(|config| config.opaque.as_ref());
        configs
            .any(|config| {
                claim
                    .results()
                    .iter()
                    .any(|result| result.driver == config.driver)
            })
            .then(|| Origin::of(stages.cluster(), claim).object(&claim.key()))
    })
}

/// The driver has to prepare the devices.
fn of_driver(stages: &Stages<'_>, stage: &PodStage<'_>, node: &str, why: Unprepared) -> Advice {
    let results = || stages.claims(stage.pod).flat_map(|claim| claim.results());
    let said = match stage.stuck.as_ref().map(|stuck| &stuck.cause) {
        Some(Cause::PrepareRefused { text, .. }) => text.as_str(),
        _ => "",
    };
    let drivers: BTreeSet<&Str> = results().map(|result| &result.driver).collect();
    // The kubelet does not name the driver, whose words may name a device of it.
    let named = results().filter(|result| has_word(said, &result.device));
    let named: BTreeSet<&Str> = named.map(|result| &result.driver).collect();
    let drivers = if named.is_empty() { drivers } else { named };
    let only = drivers.iter().next().copied().filter(|_| drivers.len() == 1);
    let plugin = only
        .zip(stage.pod.node())
        .map(|(driver, node)| stages.plugin(driver, node));
    let target = only.map_or_else(|| format!("node/{node}"), |driver| format!("driver/{driver}"));
    Advice::by_hand("RepairDriver", target, words::prepare(&drivers, why))
        .look(logs(plugin.as_ref().and_then(Plugin::pod), node))
}

fn of_plugin(stages: &Stages<'_>, driver: &Str, plugin: &Plugin, node: &str) -> Advice {
    let target = format!("driver/{driver}");
    let restore = |what: Restore<'_>| {
        let text = words::restore(driver, node, &what);
        Advice::by_hand("RestoreDriver", target.clone(), text)
    };
    match plugin {
        Plugin::None {
            elsewhere: Some((pod, set)),
            kept_off: Some(KeptOff::Taint(taint)),
        } => {
            let has_own = stages.cluster().pod(pod).is_some_and(|pod| has_tolerations(pod));
            tolerate(
                &Key::new(pod.namespace.clone(), set.clone()),
                has_own,
                taint,
                node,
            )
        }
        Plugin::None {
            kept_off: Some(KeptOff::Labels(labels)),
            ..
        } => restore(Restore::Labels(labels)).look(describe_node(node)),
        Plugin::None { .. } | Plugin::Hidden => restore(Restore::Run).look(pods_on(node)),
        Plugin::Crashing(pod, waiting) if let Some(set) = &waiting.stops => {
            let undo = Command::kubectl("rollout").arg("undo");
            let undo = undo.object(Resource::called(Maker::DaemonSet.resource()), set);
            let text = words::undo_update(&pod.namespace, set);
            let undo = Remedy::command(undo.namespace(&pod.namespace).done()).note(text.how);
            Advice::new("RestoreDriver", target.clone(), text.message, undo).look(describe(pod))
        }
        Plugin::Crashing(pod, waiting) if !has_logs(&waiting.reason) => {
            restore(Restore::Pod).look(describe(pod))
        }
        Plugin::Pending(pod, _) | Plugin::Failed(pod, _) => restore(Restore::Pod).look(describe(pod)),
        Plugin::Crashing(pod, _) | Plugin::NotReady(pod) => restore(Restore::Pod).look(logs(Some(pod), node)),
        Plugin::OtherFolder(pod, own, other) => {
            restore(Restore::Directory { own, other }).look(logs(Some(pod), node))
        }
        Plugin::Starting(pod, _) => {
            Advice::by_hand("AwaitDriver", target.clone(), words::await_start(driver, node))
                .look(describe(pod))
        }
        Plugin::Ready(pod, ..) if stages.is_registering(plugin) => {
            Advice::by_hand("AwaitDriver", target.clone(), words::await_driver(driver, node))
                .look(logs(Some(pod), node))
        }
        // What a restart helps against does not befall all nodes.
        Plugin::Ready(pod, ..) if stages.is_registered_nowhere(driver) => {
            let own = stages.pod_of(plugin);
            let own = own.and_then(|pod| pod.spec.volumes.plugin_folder.as_ref());
            restore(Restore::Anywhere(own)).look(logs(Some(pod), node))
        }
        Plugin::Ready(pod, ..) => {
            let text = words::restart(driver, node);
            let restart =
                replace_pods(stages.cluster(), &pod.namespace, stages.pod_of(plugin)).note(text.how);
            Advice::new("RestartDriver", target.clone(), text.message, restart).look(logs(Some(pod), node))
        }
    }
}

/// Whether the template of the pod's DaemonSet has tolerations: what its controller adds is only in the pod.
fn has_tolerations(pod: &Pod) -> bool {
    let added = daemon_tolerations(pod);
    let mut own = pod.spec.tolerations.iter();
    own.any(|toleration| !added.contains(toleration))
}

/// A DaemonSet tolerates one taint more.
fn tolerate(set: &Key, has_own: bool, taint: &Taint, node: &str) -> Advice {
    let Key { namespace, name } = set;
    let mut toleration = json!({"key": taint.key, "operator": "Exists", "effect": taint.effect});
    if !taint.value.is_empty() {
        toleration["operator"] = json!("Equal");
        toleration["value"] = json!(taint.value);
    }
    let change: Value = if has_own {
        json!([{"op": "add", "path": "/spec/template/spec/tolerations/-", "value": toleration}])
    } else {
        json!([{"op": "add", "path": "/spec/template/spec/tolerations", "value": [toleration]}])
    };
    let text = words::tolerate(namespace, name, taint, node);
    let resource = Resource::called("daemonset");
    let patch = patch(resource, Some(namespace), name, &["--type=json"], &change);
    Advice::new(
        "AdmitDriver",
        format!("daemonset/{namespace}/{name}"),
        text.message,
        Remedy::command(patch).note(text.how),
    )
    .look(pods_on(node))
}

/// What the cluster has of the pod, with the events about it.
fn describe(pod: &Key) -> Result<Script, NoCommand> {
    Command::kubectl("describe").about(Kind::Pod, pod).done()
}

/// What the cluster has of a node.
fn describe_node(node: &str) -> Result<Script, NoCommand> {
    Command::kubectl("describe").object(Kind::Node, node).done()
}

/// The logs of the driver's pod, or else what is on the node.
fn logs(pod: Option<&Key>, node: &str) -> Result<Script, NoCommand> {
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
    Command::kubectl("describe")
        .object(Resource::called(kind), &maker.name)
        .namespace(&maker.namespace)
        .done()
}

/// The pods of a node.
pub(crate) fn pods_on(node: &str) -> Result<Script, NoCommand> {
    Command::kubectl("get")
        .args(&["pods", "-A"])
        .option("--field-selector", &field_selector("spec.nodeName", node))
        .done()
}
