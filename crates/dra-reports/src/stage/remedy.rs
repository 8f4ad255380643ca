//! What lets a pod go on from its stage.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::listing::some;
use crate::remedy::{Remedy, UNATTACHABLE, can_taint, drop_finalizers, end_pods, place_again, replace_pods};
use crate::script::{
    Command, NoCommand, Resource, Script, describe_device, field_selector, keep_off_device, patch,
};
use dra_model::{DeviceId, Key, Kind, Pod, Str, Taint};
use dra_rules::kubelet::{
    Attaching, BrokenLink, Cause, KeptOff, Maker, Plugin, PodStage, Problem, Stages, Unread, daemon_set_of,
};
use dra_rules::reservation::{Lacks, may_run, unmade, users};
use dra_rules::scheduling::daemon_tolerations;

/// What lets the pod go on.
pub(crate) struct Advice {
    /// In one word that stays.
    pub(crate) kind: &'static str,
    /// What is changed.
    pub(crate) target: String,
    /// For people.
    pub(crate) message: String,
    /// The command, or who can do it.
    pub(crate) remedy: Remedy,
    /// A command that shows more and changes nothing.
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

    fn look(self, look: Result<Script, NoCommand>) -> Self {
        Self {
            look: look.ok(),
            ..self
        }
    }
}

/// What lets a stuck pod go on; nothing for one that is not stuck.
pub(crate) fn advise(stages: &Stages<'_>, stage: &PodStage<'_>) -> Option<Advice> {
    let pod = stage.pod;
    let stuck = stage.stuck.as_ref()?;
    let node = pod.node().map_or("", Str::as_str);
    let of_pod = format!("pod/{}", pod.key());
    Some(match &stuck.cause {
        Cause::DriverNotRegistered { driver, plugin } => of_plugin(driver, plugin, node),
        Cause::DriverFails { .. } | Cause::PrepareRefused { .. } => of_driver(
            stages,
            stage,
            node,
            "does what its words ask for; the kubelet tries again by itself",
        ),
        Cause::UnprepareFails { drivers } => {
            let name = drivers
                .iter()
                .map(|(driver, _)| driver.as_str())
                .collect::<Vec<_>>()
                .join(" or ");
            let (target, pod) = match drivers.as_slice() {
                [(driver, plugin)] => (format!("driver/{driver}"), plugin.pod()),
                _ => (format!("node/{node}"), None),
            };
            let advice = Advice::new(
                "RepairDriver",
                target,
                format!("have driver {name} take the devices back"),
                Remedy::by_hand(format!(
                    "whoever runs the driver {name} finds out why it does not take the devices back: the kubelet tries again until it does"
                )),
            );
            advice.look(logs(pod, node))
        }
        Cause::Claim(Problem::Missing(claim)) if !is_made_again(stages, pod, claim) => Advice::new(
            "CreateClaim",
            format!("claim/{claim}"),
            "create the claim",
            Remedy::by_hand("the owner of the pod decides what the claim is to ask for"),
        ),
        Cause::Claim(Problem::TemplateMissing(_)) => Advice::new(
            "CreateTemplate",
            of_pod,
            "create the template",
            Remedy::by_hand("the owner of the pod decides what its claims are to ask for"),
        ),
        Cause::Claim(_) => again(pod, place_again(stages.cluster(), pod)),
        Cause::DriverDown { drivers, .. } => {
            let of_node = drivers.first().zip(pod.node());
            let plugin = of_node.map(|(driver, node)| stages.plugin(driver, node));
            let name = drivers.iter().map(Str::as_str).collect::<Vec<_>>().join(" or ");
            Advice::new(
                "RestoreDriver",
                format!("node/{node}"),
                format!("have driver {name} run on {node}"),
                Remedy::by_hand(format!(
                    "whoever runs the driver {name} finds out why its process ended; the kubelet tries again by itself"
                )),
            )
            .look(logs(plugin.as_ref().and_then(Plugin::pod), node))
        }
        Cause::DevicesUnresolvable {
            has_run: false,
            rebooted: None,
            ..
        } => of_driver(
            stages,
            stage,
            node,
            "writes a CDI file for what it prepares, in a folder that the container runtime reads: a new pod does not help before that",
        ),
        Cause::EarlierClaim { lasts: true, .. }
        | Cause::BeingUnprepared { lasts: true, .. }
        | Cause::PreparedForDeletedClaim { lasts: true, .. } => of_driver(
            stages,
            stage,
            node,
            "finds out why it still has the devices of the earlier claim, and has it give them up: waiting does not help",
        ),
        Cause::VolumesNotMounted { .. } => Advice::new(
            "MountVolumes",
            of_pod,
            "have the volumes of the pod mounted",
            Remedy::by_hand("the owner of the pod finds out what its volumes lack; the kubelet tries again by itself"),
        )
        .look(describe(pod)),
        Cause::SandboxFails { .. } => Advice::new(
            "RepairRuntime",
            format!("node/{node}"),
            format!("have the container runtime of {node} make the sandbox"),
            Remedy::by_hand(format!(
                "an administrator of the cluster finds out what keeps the container runtime of {node}, or what it calls for a sandbox, \
                 from it; the kubelet tries again by itself"
            )),
        )
        .look(describe(pod)),
        Cause::RuntimeDown { .. } => Advice::new(
            "RepairRuntime",
            format!("node/{node}"),
            format!("have the container runtime of {node} run"),
            Remedy::by_hand(
                "an administrator of the cluster starts it again: the kubelet goes on by itself once it answers",
            ),
        )
        .look(Command::kubectl("describe").object(Kind::Node, node).done()),
        Cause::KillFails { .. } => Advice::new(
            "RepairRuntime",
            format!("node/{node}"),
            "have the containers of the pod ended",
            Remedy::by_hand(format!(
                "an administrator of the cluster finds out why the container runtime of {node} does not end them"
            )),
        )
        .look(describe(pod)),
        Cause::ContainerNotStarted(container, _) => Advice::new(
            "RepairContainer",
            of_pod,
            format!("have container {container} started"),
            Remedy::by_hand("the owner of the pod does what the words of the kubelet ask for"),
        )
        .look(describe(pod)),
        Cause::ContainerEnds(container, _) => Advice::new(
            "RepairContainer",
            of_pod,
            format!("find out why container {container} ends"),
            Remedy::by_hand("the owner of the pod finds it in the logs of the container"),
        )
        .look(
            Command::kubectl("logs")
                .object(Kind::Pod, &pod.metadata.name)
                .namespace(&pod.metadata.namespace)
                .option("--container", container)
                .args(&["--previous", "--tail=50"])
                .done(),
        ),
        Cause::PodFailed { .. } => again(
            pod,
            Remedy::by_hand("its phase is final: the owner of the pod has another one made, once what it failed for is over"),
        ),
        Cause::DevicesUnresolvable { .. } | Cause::PreparationForgotten { .. } => lost(stages, pod),
        Cause::EarlierClaim { .. }
        | Cause::BeingUnprepared { .. }
        | Cause::PreparedForDeletedClaim { .. } => {
            let who = "no action is needed while the driver of the devices is there: the kubelet has it take back what an earlier pod \
                       had within a minute, then starts the pod";
            Advice::new(
                "AwaitKubelet",
                format!("node/{node}"),
                "wait for the kubelet",
                Remedy::by_hand(who),
            )
            .look(pods_on(node))
        }
        Cause::KubeletTooOld { gate, .. } => Advice::new(
            "UpgradeKubelet",
            format!("node/{node}"),
            format!("give the kubelet of {node} the feature {gate}"),
            Remedy::by_hand(format!(
                "an administrator of the cluster upgrades the kubelet of {node} or turns the gate {gate} on there, or keeps such pods off it"
            )),
        ),
        Cause::ClaimUnreadable {
            why: Unread::NotServed,
            ..
        } => Advice::new(
            "UpgradeKubelet",
            format!("node/{node}"),
            format!("upgrade the kubelet of {node}"),
            Remedy::by_hand(format!(
                "an administrator of the cluster upgrades the kubelet of {node} to the release of the API server, or lets the API server serve \
                 the version that it reads (--runtime-config); kubelets before 1.34 read v1beta1"
            )),
        ),
        Cause::ClaimUnreadable { claim, why, .. } => {
            let why = if *why == Unread::Refused {
                "why the API server refuses it: the Node authorizer allows the claims of pods that are bound to the node"
            } else {
                "why it does not get the claim from the API server"
            };
            Advice::new(
                "ReadKubelet",
                format!("node/{node}"),
                format!("let the kubelet of {node} read claim {claim}"),
                Remedy::by_hand(format!("an administrator of the cluster finds out {why}")),
            )
        }
        Cause::DeviceNotPublished { devices } => {
            let driver = devices.first().map_or("", |device| device.driver.as_str());
            Advice::new(
                "RestoreDriver",
                format!("driver/{driver}"),
                format!("have driver {driver} publish its devices of {node} again"),
                Remedy::by_hand(format!(
                    "whoever runs the driver {driver} finds out why it does not publish them"
                )),
            )
            .look(pods_on(node))
        }
        Cause::DeviceUnhealthy { device, .. } => again(
            pod,
            Remedy::by_hand(format!(
                "{device} is allocated again unless it is tainted: taint it, then have the owner of the pod replace it"
            )),
        ),
        Cause::NodeSilent { node } => Advice::new(
            "RestoreNode",
            format!("node/{node}"),
            format!("bring node {node} back"),
            Remedy::by_hand("an administrator of the cluster finds out why its kubelet is silent"),
        )
        .look(Command::kubectl("describe").object(Kind::Node, node).done()),
        Cause::NodeNotReady { node, .. } => Advice::new(
            "RestoreNode",
            format!("node/{node}"),
            format!("have node {node} ready"),
            Remedy::by_hand("an administrator of the cluster does what the words of the kubelet ask for"),
        )
        .look(Command::kubectl("describe").object(Kind::Node, node).done()),
        Cause::NetworkNotReady { .. } => Advice::new(
            "RestoreNode",
            format!("node/{node}"),
            format!("have the network of {node} ready"),
            Remedy::by_hand(format!(
                "an administrator of the cluster finds out why the network plugin of {node} is not ready; the kubelet tries again by itself"
            )),
        )
        .look(Command::kubectl("describe").object(Kind::Node, node).done()),
        Cause::Finalizers(names) => without_finalizers(pod, names),
        Cause::Binding { device, attaching } => attach(stages, pod, device, attaching),
        Cause::Unrecognized { .. } => Advice::new(
            "ReadKubelet",
            format!("node/{node}"),
            format!("read what the kubelet of {node} says"),
            Remedy::by_hand("an administrator of the cluster finds more in the logs of the kubelet"),
        ),
    })
}

/// Whether the claim controller makes a claim again that is gone, with another name. It is of no use to make it by hand.
fn is_made_again(stages: &Stages<'_>, pod: &Pod, claim: &Key) -> bool {
    let is_it = |lacks: &Lacks| matches!(lacks, Lacks::Claim(key) if key == claim);
    unmade(stages.cluster(), pod).any(|(_, unmade)| is_it(&unmade.lacks))
}

/// Advice to recreate the pod.
fn again(pod: &Arc<Pod>, remedy: Remedy) -> Advice {
    let target = format!("pod/{}", pod.key());
    Advice::new("RecreatePod", target, "recreate the pod", remedy)
}

/// A driver that has the claim on its list prepares it anew once it has taken it back, which is when no pod of the node has it any more. One
/// that runs with it is not ended for this one.
fn lost(stages: &Stages<'_>, pod: &Arc<Pod>) -> Advice {
    let mut pods: Vec<&Arc<Pod>> = vec![pod];
    for claim in stages.claims(pod) {
        let others = users(stages.cluster(), claim).unwrap_or_default();
        let here = others
            .into_iter()
            .filter(|other| other.node() == pod.node() && other.metadata.uid != pod.metadata.uid);
        pods.extend(here);
    }
    let running: Vec<String> = pods[1..]
        .iter()
        .filter(|pod| may_run(pod))
        .map(|pod| format!("pod/{}", pod.key()))
        .collect();
    if !running.is_empty() {
        let why = format!(
            "the driver prepares the claim again once no pod of the node has it: the owner of {} decides when that is",
            some(&running)
        );
        return again(pod, Remedy::by_hand(why));
    }
    let several = pods.len() > 1;
    let advice = again(pod, replace_pods(stages.cluster(), &pod.metadata.namespace, pods));
    if !several {
        return advice;
    }
    Advice {
        message: "recreate the pods that have the claim on this node".to_owned(),
        ..advice
    }
}

/// Finalizers go with those who set them. What a component of Kubernetes set it takes off itself.
fn without_finalizers(pod: &Arc<Pod>, names: &[Str]) -> Advice {
    let target = format!("pod/{}", pod.key());
    match drop_finalizers(Kind::Pod, &pod.metadata) {
        Some((foreign, remedy)) => Advice::new(
            "RemoveFinalizer",
            target,
            format!(
                "take the finalizer {} from the pod, if whoever set it is gone for good",
                some(&foreign)
            ),
            remedy,
        ),
        None => Advice::new(
            "AwaitFinalizer",
            target,
            "wait for the controller that set the finalizer",
            Remedy::by_hand(format!("the controller that set {} removes it", some(names))),
        ),
    }
}

/// The driver attaches the device, or the scheduler gives it up: by itself, but for the same device again if it still can.
fn attach(stages: &Stages<'_>, pod: &Arc<Pod>, device: &DeviceId, attaching: &Attaching<'_>) -> Advice {
    const GIVES_UP: &str = "kube-scheduler takes the allocation back by itself and tries again";
    let of_pod = format!("pod/{}", pod.key());
    let driver = &device.driver;
    let advice = match attaching {
        Attaching::Failed(_) => {
            let again = format!(
                "{GIVES_UP}: it gives out the same device unless that is tainted until whoever runs the driver {driver} has repaired it"
            );
            if can_taint(stages.cluster().environment()) {
                Advice::new(
                    "TaintDevice",
                    format!("device/{device}"),
                    format!("keep pods off {device} until it can be attached"),
                    Remedy::command(keep_off_device(device, UNATTACHABLE)).note(again),
                )
            } else {
                Advice::new(
                    "AwaitBinding",
                    of_pod,
                    "wait until the scheduler has tried again",
                    Remedy::by_hand(again),
                )
            }
        }
        Attaching::TimedOut(_) => {
            let who = format!(
                "whoever runs the driver {driver} finds out why it does not; {GIVES_UP}, unless it does not run or has a longer bindingTimeout"
            );
            Advice::new(
                "AwaitBinding",
                of_pod,
                format!("have driver {driver} attach the device in time"),
                Remedy::by_hand(who),
            )
        }
        Attaching::Pending(_) => Advice::new(
            "AwaitBinding",
            of_pod,
            "wait until the driver has attached the device",
            Remedy::by_hand("the controller of the driver attaches the device and sets the condition"),
        ),
    };
    advice.look(describe_device(device))
}

/// Whoever runs the driver does that.
fn of_driver(stages: &Stages<'_>, stage: &PodStage<'_>, node: &str, does: &str) -> Advice {
    let drivers = stages.claims(stage.pod).flat_map(|claim| claim.results());
    let drivers: std::collections::BTreeSet<&Str> = drivers.map(|result| &result.driver).collect();
    let name = match drivers.iter().next() {
        Some(driver) if drivers.len() == 1 => format!("driver {driver}"),
        _ => "the driver".to_owned(),
    };
    let node_name = stage.pod.node();
    let only = drivers.iter().next().filter(|_| drivers.len() == 1);
    let plugin = only
        .zip(node_name)
        .map(|(driver, node)| stages.plugin(driver, node));
    Advice::new(
        "RepairDriver",
        only.map_or_else(|| format!("node/{node}"), |driver| format!("driver/{driver}")),
        format!("have {name} prepare the devices"),
        Remedy::by_hand(format!("whoever runs {name} {does}")),
    )
    .look(logs(plugin.as_ref().and_then(Plugin::pod), node))
}

fn of_plugin(driver: &Str, plugin: &Plugin<'_>, node: &str) -> Advice {
    let target = format!("driver/{driver}");
    let who = |does: &str| Remedy::by_hand(format!("whoever runs the driver {driver} {does}"));
    let restore = |remedy| {
        Advice::new(
            "RestoreDriver",
            target.clone(),
            format!("have driver {driver} run on {node}"),
            remedy,
        )
    };
    match plugin {
        Plugin::None {
            elsewhere: Some(pod),
            kept_off: Some(KeptOff::Taint(taint)),
        } => tolerate(pod, taint, node),
        Plugin::None { .. } | Plugin::Hidden(_) => {
            restore(who("has it run on this node")).look(pods_on(node))
        }
        Plugin::Crashing(pod, _) | Plugin::NotReady(pod) => {
            restore(who("finds out why its pod does not run")).look(logs(Some(pod), node))
        }
        Plugin::OtherFolder(pod, own, other) => restore(who(&format!(
            "has it mount {other} in place of {own}, which its installation takes as the kubelet's folder"
        )))
        .look(logs(Some(pod), node)),
        Plugin::Ready(pod, ..) => Advice::new(
            "RestartDriver",
            target.clone(),
            format!("restart the pod of driver {driver} on {node}, so that it registers again"),
            end_pods(&pod.metadata.namespace, [*pod]).note(
                "if the pod became ready just now, the kubelet goes on by itself within a minute or two",
            ),
        )
        .look(logs(Some(pod), node)),
    }
}

/// A DaemonSet tolerates one taint more.
fn tolerate(pod: &Arc<Pod>, taint: &Taint, node: &str) -> Advice {
    let name = daemon_set_of(pod).map_or("", Str::as_str);
    let namespace = &pod.metadata.namespace;
    let mut toleration = json!({"key": taint.key, "operator": "Exists", "effect": taint.effect});
    if !taint.value.is_empty() {
        toleration["operator"] = json!("Equal");
        toleration["value"] = json!(taint.value);
    }
    // What the controller of DaemonSets adds is in the pod, and not in the template.
    let added = daemon_tolerations(pod);
    let has_own = pod
        .spec
        .tolerations
        .iter()
        .any(|toleration| !added.contains(toleration));
    let change: Value = if has_own {
        json!([{"op": "add", "path": "/spec/template/spec/tolerations/-", "value": toleration}])
    } else {
        json!([{"op": "add", "path": "/spec/template/spec/tolerations", "value": [toleration]}])
    };
    let set = Resource::called("daemonset");
    Advice::new(
        "AdmitDriver",
        format!("daemonset/{namespace}/{name}"),
        format!("let daemonset/{namespace}/{name} tolerate the taint {taint} of {node}"),
        Remedy::command(patch(set, Some(namespace), name, &["--type=json"], &change))
            .note("whoever runs the driver decides whether it is to serve such nodes"),
    )
    .look(pods_on(node))
}

/// What the cluster has of the pod, with the events about it.
fn describe(pod: &Pod) -> Result<Script, NoCommand> {
    Command::kubectl("describe")
        .object(Kind::Pod, &pod.metadata.name)
        .namespace(&pod.metadata.namespace)
        .done()
}

/// The logs of the driver's pod, or else what is on the node.
fn logs(pod: Option<&Arc<Pod>>, node: &str) -> Result<Script, NoCommand> {
    match pod {
        Some(pod) => logs_of(&pod.key()),
        None => pods_on(node),
    }
}

fn logs_of(pod: &Key) -> Result<Script, NoCommand> {
    Command::kubectl("logs")
        .object(Kind::Pod, &pod.name)
        .namespace(&pod.namespace)
        .args(&["--all-containers", "--tail=50"])
        .done()
}

/// What shows more of a broken link: the logs of the driver's pod, or what makes its pods, with its events.
pub(crate) fn look_at_link(link: &BrokenLink) -> Result<Script, NoCommand> {
    let (kind, maker) = match link {
        BrokenLink::Refused(refused) => (refused.kind.resource(), &refused.maker),
        BrokenLink::NoPod(set, _) => (Maker::DaemonSet.resource(), set),
        BrokenLink::Crashing { pod, .. }
        | BrokenLink::NotReady(pod)
        | BrokenLink::Forbidden(pod, _)
        | BrokenLink::Silent(pod) => return logs_of(pod),
    };
    Command::kubectl("describe")
        .object(Resource::called(kind), &maker.name)
        .namespace(&maker.namespace)
        .done()
}

/// Who mends a broken link of a driver, and how.
pub(crate) fn mend_link(driver: &str, link: &BrokenLink) -> String {
    let what = match link {
        BrokenLink::Refused(_) => {
            "has its namespace allow its pods, such as by a ResourceQuota for their priority class"
        }
        BrokenLink::NoPod(..) => "decides whether it is to serve such nodes",
        BrokenLink::Crashing { .. } | BrokenLink::NotReady(_) => "finds out why its pod does not run",
        BrokenLink::Forbidden(..) => {
            "lets its service account write resourceslices by a ClusterRole and its binding"
        }
        BrokenLink::Silent(_) => "finds out why it publishes nothing: what do the logs of its pod say?",
    };
    format!("whoever runs the driver {driver} {what}")
}

/// The pods of a node.
pub(crate) fn pods_on(node: &str) -> Result<Script, NoCommand> {
    Command::kubectl("get")
        .args(&["pods", "-A"])
        .option("--field-selector", &field_selector("spec.nodeName", node))
        .done()
}
