//! The sentences about the stage of a pod on its node.

pub(super) mod advice;

use super::fact::{StageFact, Subject};
use crate::allocation::words::claim;
use crate::listing::{selector_terms, some};
use crate::warnings::missing;
use crate::words::{counted, tainted};
use dra_model::{ContainerEnd, DeviceId, Gate, Key, Pod, Str, Time};
use dra_rules::kubelet::{
    Attaching, Behind, BrokenLink, Cause, Denial, Doing, Due, Evidence, Failure, Heartbeat, KeptOff,
    MIG_STATE, Party, Plugin, Problem, Refused, Restarted, Unknown, Unplaced, Unread, Waiting, Waits,
    has_logs,
};
use dra_rules::owners::{Incomplete, OwnerName};
use dra_rules::reservation::{Unlisted, UnlistedDevices};
use dra_rules::scheduling::unmet_text;
use dra_rules::simulation::PASSED_OVER;

/// Whose turn it is.
pub fn party_text(party: Party) -> &'static str {
    match party {
        Party::User => "the owner of the pod",
        Party::Driver => "the driver's owner",
        Party::Kubelet => "the kubelet",
        Party::Administrator => "an administrator",
    }
}

/// Why a pod is stuck, as [`cause_text`] has it, with how often the kubelet has told it and since when.
pub(crate) fn stuck_text(fact: &StageFact) -> String {
    let cause = cause_text(&fact.cause, &fact.subject);
    match fact.told {
        Some((times, since)) => format!("{cause} ({times} times since {since})"),
        None => cause,
    }
}

/// Why `pod` is stuck, in a sentence without a full stop that follows the pod's name and a colon.
pub(crate) fn cause_text(cause: &Cause, subject: &Subject) -> String {
    let Subject { pod, node, due, .. } = subject;
    let named = |claim: &Str| match claim.as_str() {
        "" => "its claim".to_owned(),
        claim => format!("claim/{}/{claim}", pod.namespace),
    };
    match cause {
        Cause::DriverNotRegistered { driver, plugin } => {
            let registered = format!("driver {driver} is not registered with the kubelet on {node}");
            match of_plugin(plugin, node) {
                Some(why) => format!("{registered}: {why}"),
                None => registered,
            }
        }
        Cause::DriverFails {
            text,
            is_left_out: true,
        } => format!("the driver has not prepared the devices yet, and reports no error: {text}"),
        Cause::DriverFails { text, .. } => {
            format!("the driver failed to prepare the devices and gave no reason: {text}")
        }
        Cause::PrepareRefused { claim, text, behind } => {
            let refuses = format!("the driver refuses to prepare {}: {text}", named(claim));
            match behind {
                Some(Behind::Reboot(at)) => {
                    format!("the node rebooted at {at}, after the pod had run, and {refuses}")
                }
                Some(Behind::Helper(_, refused)) => format!(
                    "{refuses}; {}/{}, which the driver needs for the claim, gets no pod: {}",
                    refused.kind.resource(),
                    refused.maker,
                    refused.message
                ),
                Some(Behind::Shared(other)) => format!("{refuses}; pod/{other} uses the claim, too"),
                Some(Behind::OlderPod { .. }) | None => refuses,
            }
        }
        Cause::NodesMissing {
            owner,
            lacks,
            others,
            too_few,
            kept_off,
            taken,
        } => {
            let too_few = too_few.as_ref().map(|(maker, pods)| {
                format!(
                    "; all its pods are of {maker}, which runs {}",
                    counted(usize::try_from(*pods).unwrap_or_default(), "pod", "pods")
                )
            });
            let why = kept_off.as_ref().map(|(set, taint)| {
                let why = kept_off_text(&KeptOff::Taint(taint.clone()));
                format!("; daemonset/{set} has no pod on {node}: {why}")
            });
            let taken = taken.as_ref().map(|(uid, other)| {
                format!(
                    "; {node} is in {} already, and a node can be in one only",
                    domain_text(uid, other.as_ref())
                )
            });
            let missing = match (lacks.is_of_node, node.as_str()) {
                (true, "") => format!(
                    "{owner} is not ready on their nodes, and its pods do not start there until it is"
                ),
                (true, node) => {
                    format!("{owner} is not ready on {node}, and its pods do not start there until it is")
                }
                _ => nodes_missing(owner, lacks, others),
            };
            [Some(missing), too_few, why, taken]
                .into_iter()
                .flatten()
                .collect()
        }
        Cause::Claim(problem) => problem_text(problem, subject),
        Cause::DriverDown { drivers, text } => {
            let drivers = either(drivers.iter().map(|driver| format!("driver {driver}")));
            format!(
                "{drivers} does not respond to the kubelet on {node}: its process is not running, or just exited: {text}"
            )
        }
        Cause::PreparedForOtherClaim {
            claim,
            other,
            pod,
            ends,
            text,
        } => {
            let ends = ends
                .map(|at| format!(", which was to be gone at {at}"))
                .unwrap_or_default();
            format!(
                "the driver refuses to prepare {}: its device is prepared for {} of pod/{pod}{ends}; driver: {text}",
                named(claim),
                self::claim(other)
            )
        }
        Cause::EarlierClaim { claim, uid, lasts } => {
            let claim = named(claim);
            let why = if *lasts {
                "the driver fails to unprepare its devices"
            } else {
                "its pod was force-deleted, and the driver has not unprepared its devices yet"
            };
            format!("the kubelet on {node} still has an earlier {claim} prepared (UID {uid}): {why}")
        }
        Cause::BeingUnprepared { claim, .. } => format!(
            "the driver is still unpreparing the devices of {} for an earlier pod; the kubelet prepares them again afterwards",
            named(claim)
        ),
        Cause::PreparedForDeletedClaim {
            claim,
            uid,
            text,
            survivor: Some(survivor),
            ..
        } => format!(
            "the driver refuses to prepare {}: it still has the devices prepared for a deleted claim (UID {uid}). pod/{survivor} was deleted by force, and the kubelet on {node} could not end its containers, which may still use them; driver: {text}",
            named(claim)
        ),
        Cause::PreparedForDeletedClaim {
            claim,
            uid,
            text,
            lasts: true,
            ..
        } => format!(
            "the driver refuses to prepare {}: its records still assign the devices to a deleted claim (UID {uid}); driver: \
             {text}",
            named(claim)
        ),
        Cause::PreparedForDeletedClaim { claim, uid, text, .. } => format!(
            "the driver refuses to prepare {}: the kubelet on {node} has not released the devices of a deleted claim (UID \
             {uid}) yet. Its pod was force-deleted and may still use them; driver: {text}",
            named(claim)
        ),
        Cause::DevicesUnresolvable {
            devices,
            has_run: false,
            rebooted: None,
            down: None,
        } => format!(
            "the container runtime cannot find {}: the driver wrote no CDI file for it where the runtime looks",
            some(devices)
        ),
        Cause::DevicesUnresolvable {
            devices,
            rebooted,
            down,
            ..
        } => {
            let driver = down.as_ref().map_or_else(
                || "the driver".to_owned(),
                |(driver, _)| format!("driver {driver}"),
            );
            let since = rebooted.map_or_else(String::new, |at| {
                format!(
                    ": {node} rebooted at {at}, which deleted the driver's CDI files, and {driver} has not rewritten them"
                )
            });
            let why = down.as_ref().and_then(|(_, plugin)| of_plugin(plugin, node));
            let why = why.map_or_else(String::new, |why| format!(": {why}"));
            format!("the container runtime cannot find {}{since}{why}", some(devices))
        }
        Cause::PreparationForgotten { claim } => format!(
            "the kubelet on {node} has no record of preparing {}, as after a restart without its checkpoint; it does not \
             prepare claims again for a pod that already has a sandbox",
            named(claim)
        ),
        Cause::ClaimSkipped { claim, skips } => format!(
            "the kubelet on {node} skipped {}, behind {}, which was already prepared for pod/{}: a known bug of kubelets before {} \
             (kubernetes/kubernetes#{})",
            named(claim),
            self::claim(&skips.prepared),
            skips.user,
            skips.fix,
            skips.issue
        ),
        Cause::NetworkNotReady { text } => {
            format!("the network of {node} is not ready, so the kubelet starts no pods: {text}")
        }
        Cause::VolumesNotMounted { text } => format!("the kubelet cannot mount its volumes: {text}"),
        Cause::OwnershipChanges { text } => format!(
            "the kubelet is changing the group of the files of a volume (fsGroup), which comes before devices, and is slow with many files: {text}"
        ),
        Cause::SandboxFails { text, device } => {
            let device = device
                .as_ref()
                .map_or_else(String::new, |device| format!(" with device {device}"));
            format!(
                "the container runtime fails to create its sandbox{device}, after its devices were prepared: {text}"
            )
        }
        Cause::RuntimeDown { text } => {
            format!("the container runtime on {node} does not respond to the kubelet: {text}")
        }
        Cause::ProbeFails { container, text } => {
            let name = container
                .as_ref()
                .map_or_else(|| "a container".to_owned(), |name| format!("container {name}"));
            let awaited = if subject.has_one {
                ""
            } else {
                ", which others wait for,"
            };
            format!("{name}{awaited} is not healthy: {text}")
        }
        Cause::ContainerNotStarted(container, waiting) => {
            // Pods of one cause may call it differently.
            let container = if container.is_empty() {
                "a container".to_owned()
            } else {
                format!("container {container}")
            };
            format!(
                "{container} has not started: {}{}",
                waiting.reason,
                said(&pull_error(&waiting.message))
            )
        }
        Cause::ImageVolumeNotPulled { volume, text } => {
            format!("the image of volume {volume} is not pulled{}", said(text))
        }
        Cause::NotInjected {
            container,
            text,
            runtime,
            elsewhere,
        } => {
            let elsewhere = elsewhere.as_ref().map_or_else(String::new, |(pod, other)| {
                format!(", and pod/{pod} runs on a node with {}", runtime_text(other))
            });
            let why = if is_docker(runtime) {
                "and cri-dockerd before its release with Mirantis/cri-dockerd#522 starts containers without the devices that drivers prepare"
            } else {
                "where CDI is off by default, so containers start without the devices that drivers prepare"
            };
            let runtime = runtime_text(runtime);
            format!(
                "container {container} does not find its devices: {text}; {node} has {runtime}, {why}{elsewhere}"
            )
        }
        Cause::ContainerEnds(container, end) => match end {
            Some(end) => format!("container {container} is not running: {}", end_text(end)),
            None => format!("container {container} keeps exiting"),
        },
        Cause::PodFailed { reason, message, .. } => {
            let message = message.as_deref().unwrap_or_default();
            match message.strip_prefix("Pod was rejected: ") {
                // Pods of several nodes have it in common.
                Some(why) if node.is_empty() => format!("the kubelet rejected it: {reason}: {why}"),
                Some(why) => format!("the kubelet on {node} rejected it: {reason}: {why}"),
                None => format!("it failed: {reason}{}", said(message)),
            }
        }
        Cause::KillFails { text, only_sandbox } => {
            let what = if *only_sandbox {
                "remove its sandbox"
            } else {
                "stop its containers"
            };
            format!("the kubelet on {node} cannot {what}: {text}")
        }
        Cause::ContainersNotStopped => {
            format!(
                "the kubelet on {node} has not stopped its containers{}",
                was_due(*due)
            )
        }
        Cause::NotRemoved => {
            format!(
                "it has finished, but the kubelet on {node} has not removed it{}",
                was_due(*due)
            )
        }
        Cause::ClaimNeverMade { entry } => format!(
            "it was deleted before its claim {entry} was created, and the kubelet on {node} fails to unprepare a claim without a name \
             (kubernetes/kubernetes#139772)"
        ),
        Cause::KubeletTooOld {
            version,
            gate,
            is_told: false,
        } => format!(
            "the kubelet on {node}{} has feature {gate} off by default; without it, containers start without their devices",
            in_brackets(version)
        ),
        Cause::KubeletTooOld { version, gate, .. } => {
            format!(
                "the kubelet on {node}{} lacks feature {gate}, which the claim needs",
                in_brackets(version)
            )
        }
        Cause::ClaimUnreadable {
            why: Unread::NotServed,
            version,
            text,
            ..
        } => format!(
            "the kubelet on {node}{} reads claims through an API version of resource.k8s.io that the API server does not serve: {text}",
            in_brackets(version)
        ),
        Cause::ClaimUnreadable { claim, text, .. } => {
            format!(
                "the kubelet on {node} cannot read {}, although it exists: {text}",
                named(claim)
            )
        }
        Cause::DeviceNotPublished {
            devices,
            are_gone: true,
        } => {
            let (are, them) = if devices.len() == 1 {
                ("is", "it")
            } else {
                ("are", "them")
            };
            let devices = some(devices);
            format!(
                "{devices} {are} gone: the driver publishes devices in use, and no longer publishes {them}"
            )
        }
        Cause::DeviceNotPublished { devices, .. } => format!(
            "{} {} no longer in the driver's slices. The pod keeps its devices; some drivers do not publish devices that are in use",
            some(devices),
            if devices.len() == 1 { "is" } else { "are" }
        ),
        Cause::DeviceUnhealthy { device, text } if text.is_empty() => {
            format!("{device} is reported unhealthy")
        }
        Cause::DeviceUnhealthy { device, text } => format!("{device} is reported unhealthy: {text}"),
        Cause::ToBeEvicted {
            device,
            taint,
            rule,
            lacks_effect,
            due,
        } => format!(
            "{}, which {}{}",
            tainted(device, taint, rule.as_ref()),
            evicts(*due),
            if *lacks_effect {
                "; it is tolerated without effect NoExecute, which does not stop the eviction"
            } else {
                ""
            }
        ),
        Cause::ContainersLeft {
            container,
            end,
            others,
        } => {
            let rest = if others.len() == 1 {
                "container"
            } else {
                "containers"
            };
            let at = end.finished_at.map(|at| format!(" at {at}")).unwrap_or_default();
            format!(
                "container {container} {}{at}, and the pod does not end before {rest} {}",
                exited(end),
                some(others)
            )
        }
        Cause::NotReady { container, text } => {
            let name = container
                .as_ref()
                .map_or_else(String::new, |name| format!(" (container {name})"));
            format!("it is not ready{}{name}", said(text))
        }
        Cause::UnprepareFails { drivers } => format!(
            "its containers have exited, but {} does not unprepare its devices; only the logs of the kubelet and the driver report why",
            either(drivers.iter().map(|(driver, _)| format!("driver {driver}")))
        ),
        Cause::NodeSilent { node } => {
            format!(
                "node/{node} is not ready: its kubelet has stopped reporting, and does nothing for the pod until it responds"
            )
        }
        Cause::NodeGone { node } => format!(
            "node/{node} does not exist; kube-controller-manager deletes the pods of such nodes within a minute or two"
        ),
        Cause::NodeNotReady { node, text } => format!("node/{node} is not ready{}", said(text)),
        Cause::Finalizers(names) => {
            format!(
                "none of its containers is running, but finalizer {} keeps the pod",
                some(names)
            )
        }
        Cause::Binding {
            device,
            attaching,
            denied,
        } => {
            let denied = denied.as_ref().map_or_else(String::new, |denied| {
                let Denial {
                    user, verb, resource, ..
                } = denied;
                format!(", as user {user} cannot {verb} {resource}")
            });
            attaching_text(device, attaching) + &denied
        }
        Cause::Unrecognized { text } => format!("the kubelet reports an unrecognized problem: {text}"),
    }
}

/// A ComputeDomain that a node is in.
pub(super) fn domain_text(uid: &str, domain: Option<&Key>) -> String {
    domain.map_or_else(
        || format!("the ComputeDomain with UID {uid}"),
        |domain| format!("computedomain/{domain}"),
    )
}

/// What gathers nodes and lacks some.
fn nodes_missing(owner: &OwnerName, lacks: &Incomplete, others: &[Key]) -> String {
    let nodes: Vec<String> = lacks
        .there
        .iter()
        .map(|(name, status)| match status.as_str() {
            "" => name.to_string(),
            status => format!("{name}: {status}"),
        })
        .collect();
    let nodes = if nodes.is_empty() {
        String::new()
    } else {
        format!(" ({})", some(&nodes))
    };
    let names = some(others.iter().map(|other| format!("pod/{other}")));
    let rest = match others.len() {
        0 => String::new(),
        1 => format!("; {names} has no node yet"),
        _ => format!("; {names} have no node yet"),
    };
    let there = i64::try_from(lacks.there.len()).unwrap_or(i64::MAX);
    let (has, ready) = if there < lacks.wanted {
        (there, "")
    } else {
        (lacks.ready, " ready")
    };
    format!(
        "{owner} has {has} of {} nodes{ready}{nodes}, and its pods do not start until it has all{rest}",
        lacks.wanted
    )
}

/// Why a node does nothing for its pods, in a sentence without a full stop that follows the node's name and a colon.
pub(crate) fn cause_of_node(cause: &Cause) -> String {
    match cause {
        Cause::NodeNotReady { text, .. } => format!("is not ready{}", said(text)),
        _ => "is not ready: its kubelet has stopped reporting, and does nothing for pods until it responds"
            .to_owned(),
    }
}

fn evicts(due: Due) -> String {
    match due {
        Due::Later(at) => format!("evicts the pod at {at}"),
        Due::Now => "evicts the pod".to_owned(),
        Due::PassedOver => format!("is to evict the pod, but {PASSED_OVER}"),
        Due::Overdue(at) => format!(
            "was due to evict the pod at {at}: the device-taint-eviction-controller of kube-controller-manager may not be running"
        ),
        Due::Unserved(at) => format!(
            "was due to evict the pod at {at}: gate {} may be off in kube-controller-manager, as it is by default in this release, so that the rule does nothing",
            Gate::DRADeviceTaintRules
        ),
    }
}

/// What is wrong with a claim of `pod`.
fn problem_text(problem: &Problem, subject: &Subject) -> String {
    match problem {
        Problem::TemplateMissing(template) => template_missing(template, &subject.pod),
        Problem::NotCreated(why) => why.to_string(),
        Problem::Missing(key) => format!("{} not found", claim(key)),
        Problem::Unusable { claim: key, why } => {
            format!("{} {why}: {}", claim(key), why.consequence(subject.may_run))
        }
    }
}

/// That there is no template for claims of the pod; the empty key stands for the subject.
pub(crate) fn template_missing(template: &Key, pod: &Key) -> String {
    let pod = if *pod == Key::default() {
        "the pod".to_owned()
    } else {
        format!("pod/{pod}")
    };
    format!("resourceclaimtemplate/{template} not found; {pod} needs it for its claims")
}

fn was_due(due: Option<Time>) -> String {
    due.map_or_else(String::new, |due| format!(", which was due at {due}"))
}

fn attaching_text(device: &DeviceId, attaching: &Attaching) -> String {
    let (words, missing) = match attaching {
        Attaching::Failed(condition) => {
            let said = said(&condition.message);
            return format!("{device} cannot be attached ({}){said}", condition.type_);
        }
        Attaching::TimedOut(missing) => ("was not attached in time", missing),
        Attaching::Pending(missing) => ("is not attached yet", missing),
    };
    format!("{device} {words}: {}", unmet_text(missing))
}

/// What shows why the pod is stuck.
pub(super) fn evidence_text(evidence: &Evidence<'_>, subject: &Subject) -> String {
    match evidence {
        Evidence::ToBeGone(since) => format!("the pod should have been gone at {since}"),
        Evidence::ToEnd(since) => format!("the pod should have terminated at {since}"),
        Evidence::LastContainerEnded(since) => format!("its last container exited at {since}"),
        Evidence::Stopped => "none of its containers is running".to_owned(),
        Evidence::BindingFailed(claim, condition) => format!(
            "claim/{} has condition {} for the device",
            claim.key(),
            condition.type_
        ),
        Evidence::BindingMissing(claim) => {
            format!("claim/{} lacks the condition for the device", claim.key())
        }
        Evidence::Heartbeat(node, heartbeat) => heartbeat_text(node, *heartbeat),
        Evidence::Problem(problem) => problem_text(problem, subject),
        Evidence::Event(event) => {
            let when = match (event.times(), event.first_timestamp, event.last_seen()) {
                (times @ 2.., Some(first), Some(last)) => {
                    format!(" ({times}×, first at {first}, last at {last})")
                }
                (_, _, Some(last)) => format!(" (at {last})"),
                _ => String::new(),
            };
            format!("{}{when}: {}", event.component(), event.message.trim())
        }
        Evidence::Waiting(Waiting {
            container, reason, ..
        }) => {
            format!("container {container} is waiting: {reason}")
        }
        Evidence::Ended(container) => format!("the pod's status reports container {container} as terminated"),
        Evidence::Failed => "the pod's phase is Failed".to_owned(),
        Evidence::Status(container) => {
            format!("the pod's status reports it for container {}", container.name)
        }
        Evidence::Condition(claim, condition) => {
            format!("claim/{} reports {}=False for it", claim.key(), condition.type_)
        }
        Evidence::Tainted(Some(since)) => format!("the device has had the taint since {since}"),
        Evidence::Tainted(None) => "the device has the taint".to_owned(),
        Evidence::Unready(condition) => format!("the pod has condition Ready={}", condition.status),
        Evidence::NoSlice => "no ResourceSlice of the newest generation lists it".to_owned(),
    }
}

fn heartbeat_text(node: &Str, heartbeat: Heartbeat) -> String {
    let (word, since) = match heartbeat {
        Heartbeat::Ready => ("True", None),
        Heartbeat::NotReady { since } => ("False", since),
        Heartbeat::Silent { since } => ("Unknown", since),
    };
    let since = since.map(|at| format!(" since {at}")).unwrap_or_default();
    format!("node/{node} has condition Ready={word}{since}")
}

/// What `pod` waits for, where that is not about devices.
pub(crate) fn waits_text(waits: Waits, pod: &Pod) -> String {
    if waits.node_is_ready {
        "containers are still running".to_owned()
    } else {
        format!(
            "containers are still running, and node/{} is not ready",
            pod.node().map_or("", Str::as_str)
        )
    }
}

/// How a container ended.
fn end_text(end: &ContainerEnd) -> String {
    format!(
        "it {}, and is restarted{}",
        exited(end),
        said(last_line(&end.message))
    )
}

/// The last line of what a program wrote: of a trace, the error.
fn last_line(message: &str) -> &str {
    message.trim().lines().next_back().unwrap_or_default()
}

/// That a container has ended, and how.
pub(crate) fn ended_text(container: &str, end: &ContainerEnd) -> String {
    format!(
        "container {container} {}{}",
        exited(end),
        said(last_line(&end.message))
    )
}

fn exited(end: &ContainerEnd) -> String {
    let reason = match end.reason.as_str() {
        "" | "Error" | "Completed" => String::new(),
        reason => format!(" ({reason})"),
    };
    format!("exited with code {}{reason}", end.exit_code)
}

/// That a container runs which has ended before.
pub(crate) fn restarted_text(
    Restarted {
        status,
        end,
        ended_for,
    }: &Restarted<'_>,
) -> String {
    let why = ended_for.map_or_else(String::new, |event| said(last_line(&event.message)));
    let at = end.finished_at.map(|at| format!(" at {at}")).unwrap_or_default();
    let times = counted(
        usize::try_from(status.restart_count).unwrap_or_default(),
        "time",
        "times",
    );
    format!(
        "container {} was restarted {times}; before, it {}{at}{why}",
        status.name,
        exited(end)
    )
}

/// What is said, behind what it is about.
fn said(message: &str) -> String {
    match message.trim() {
        "" => String::new(),
        message => format!(": {message}"),
    }
}

/// What a message about an image reports, without the steps of containerd (`client/pull.go`, `core/remotes/docker/resolver.go`) around it, which
/// repeat the image.
fn pull_error(message: &str) -> String {
    const STEPS: [&str; 2] = [
        "failed to resolve reference \"",
        "failed to pull and unpack image \"",
    ];
    let last = STEPS.iter().find_map(|step| Some(message.rsplit_once(step)?.1));
    let Some((image, why)) = last.and_then(|last| last.split_once("\": ")) else {
        return message.to_owned();
    };
    let why = why
        .strip_prefix(image)
        .and_then(|why| why.strip_prefix(": "))
        .unwrap_or(why);
    format!("{image}: {why}")
}

fn waiting_text(waiting: &Waiting) -> String {
    let Waiting {
        container,
        reason,
        message,
        end,
        ended_for,
        stops: _,
    } = waiting;
    let why = match end {
        Some(end) if has_logs(reason) => {
            let why = ended_for.as_ref().unwrap_or(&end.message);
            format!(": {}{}", exited(end), said(last_line(why)))
        }
        _ if has_logs(reason) => String::new(),
        _ => said(&pull_error(message)),
    };
    format!("container {container}: {reason}{why}")
}

/// What would have to be known.
pub(crate) fn unknown_text(unknown: Unknown<'_>) -> String {
    match unknown {
        Unknown::Gap(gap) => missing(gap),
        Unknown::OtherNamespaces => {
            "pods of other namespaces were not read, and one of them may be the driver's; `kubectl dra explain` reads them"
                .to_owned()
        }
        Unknown::NotAllowed(message) => {
            format!("the kubelet contradicts the claim, which is reserved for the pod: {}", message.trim())
        }
        Unknown::Silent => "why its containers are not created: the kubelet has reported nothing that says why".to_owned(),
        Unknown::NoEvents => {
            "why its containers are not created: no event of the kubelet was found (events are kept for an hour, and a file may lack them)"
                .to_owned()
        }
    }
}

/// What keeps a pod of a DaemonSet off a node.
pub(crate) fn kept_off_text(kept_off: &KeptOff) -> String {
    match kept_off {
        KeptOff::Labels(_) | KeptOff::Affinity(_) => {
            format!("its {}, which the node lacks", required_text(kept_off))
        }
        KeptOff::Paused { has_failed, .. } => {
            let why = if *has_failed {
                format!(", which has failed ({MIG_STATE}=failed)")
            } else {
                String::new()
            };
            let label = asked_text(kept_off);
            format!("the node's label {label} keeps it off during a change of the node{why}")
        }
        KeptOff::Taint(taint) => format!("it does not tolerate the node's taint {taint}"),
    }
}

/// What the pods of a DaemonSet ask of nodes.
fn required_text(kept_off: &KeptOff) -> String {
    match kept_off {
        KeptOff::Labels(_) => format!("nodeSelector requires {}", asked_text(kept_off)),
        _ => format!("node affinity requires {}", asked_text(kept_off)),
    }
}

/// What a node has to have for the pods of a DaemonSet.
pub(crate) fn asked_text(kept_off: &KeptOff) -> String {
    match kept_off {
        KeptOff::Labels(labels) => labels_text(labels),
        KeptOff::Paused { label, value, .. } => format!("{label}={value}"),
        KeptOff::Affinity(selector) => selector_terms(selector).join(" or "),
        KeptOff::Taint(taint) => format!("taint {taint}"),
    }
}

pub(crate) fn labels_text(labels: &[(Str, Str)]) -> String {
    some(labels.iter().map(|(key, value)| format!("{key}={value}")))
}

/// One of several.
fn either(names: impl Iterator<Item = String>) -> String {
    names.collect::<Vec<String>>().join(" or ")
}

fn in_brackets(version: &str) -> String {
    if version.is_empty() {
        String::new()
    } else {
        format!(" ({version})")
    }
}

/// What is known of the driver's pod.
fn of_plugin(plugin: &Plugin, node: &str) -> Option<String> {
    Some(match plugin {
        Plugin::Hidden => return None,
        Plugin::None { elsewhere: None, .. } => format!("no pod on {node} appears to be the driver's"),
        Plugin::None {
            elsewhere: Some((pod, set)),
            kept_off,
        } => no_pod(&Key::new(pod.namespace.clone(), set.clone()), kept_off.as_ref()),
        Plugin::Crashing(pod, waiting) => crashing_text(pod, waiting),
        Plugin::Pending(pod, why) => is_pending(pod, why),
        Plugin::NotReady(pod) => format!("pod/{pod} is not ready"),
        Plugin::Starting(pod, since) => format!("pod/{pod} is starting (created at {since})"),
        Plugin::Failed(pod, failure) => has_failed(pod, failure),
        Plugin::OtherFolder(pod, own, other) => format!(
            "pod/{pod} registers in {own}, but the kubelet looks for plugins in {other}, where other drivers register"
        ),
        Plugin::Ready(pod, since, started) => {
            let since = since.map(|since| format!(" since {since}")).unwrap_or_default();
            let kubelet = match started {
                Some(started) => format!("the kubelet (started at {started})"),
                None => "the kubelet".to_owned(),
            };
            format!("pod/{pod} is ready{since}, but {kubelet} has no registration of it")
        }
    })
}

/// A container runtime and its version, which nodes write as a URL: `containerd://2.1.4`.
pub(super) fn runtime_text(runtime: &str) -> String {
    runtime.replacen("://", " ", 1)
}

/// Whether that is Docker, which the kubelet uses by cri-dockerd.
pub(super) fn is_docker(runtime: &str) -> bool {
    runtime.starts_with("docker://")
}

/// That a DaemonSet has no pod on a node.
fn no_pod(set: &Key, kept_off: Option<&KeptOff>) -> String {
    let set = format!("daemonset/{set} has no pod there");
    match kept_off {
        Some(why) => format!("{set}: {}", kept_off_text(why)),
        None => set,
    }
}

/// That `who` publishes again what the start of kubelets deleted.
pub(crate) fn republishing_text(nodes: &[Str], since: Time, who: &str) -> String {
    let names = some(nodes);
    match nodes {
        [_] => format!(
            "the kubelet on {names} started at {since}, which deleted the node's slices: {who} them again within a minute"
        ),
        _ => format!(
            "the kubelets on {names} started at {since}, which deleted the nodes' slices: {who} them again within a minute"
        ),
    }
}

/// Why a driver publishes nothing for a node.
pub(crate) fn broken_link_text(link: &BrokenLink) -> String {
    match link {
        BrokenLink::Refused(refused) => {
            let Refused {
                kind,
                maker,
                component,
                message,
                times,
                last,
            } = refused;
            let maker = format!("{}/{maker}", kind.resource());
            let said = said_by(component, *times, *last, message);
            format!("the API server rejects the pods of {maker}: {said}")
        }
        BrokenLink::NoPod(set, kept_off) => no_pod(set, kept_off.as_ref()),
        BrokenLink::Unselected(set, kept_off) => format!(
            "daemonset/{set} has no pods: its {}, which no node has",
            required_text(kept_off)
        ),
        BrokenLink::Crashing(pod, waiting) => crashing_text(pod, waiting),
        BrokenLink::Pending(pod, why) => is_pending(pod, why),
        BrokenLink::Circle(waiting, pod) => format!(
            "pod/{waiting} waits until pod/{pod} is gone before it installs what the driver needs, and that pod ends only with the driver"
        ),
        BrokenLink::NotReady(pod, None) => format!("pod/{pod} is not ready"),
        BrokenLink::NotReady(pod, Some(doing)) => format!("pod/{pod} is not ready: {}", doing_text(doing)),
        BrokenLink::Failed(pod, failure) => has_failed(pod, failure),
        BrokenLink::Forbidden(pod, account) => format!(
            "pod/{pod} uses serviceaccount/{}/{account}, which is not allowed to create resourceslices",
            pod.namespace
        ),
        BrokenLink::Silent(pod) => format!("pod/{pod} is ready but publishes nothing"),
        BrokenLink::NoDevices(pod) => {
            format!("pod/{pod} is ready but its slices for the node have no devices")
        }
    }
}

/// That a pod is crashing, and how its container ended.
pub(crate) fn crashing_text(pod: &Key, waiting: &Waiting) -> String {
    let stops = waiting.stops.as_ref().map_or_else(String::new, |set| {
        format!(
            ", so the update of daemonset/{}/{set} has stopped at it",
            pod.namespace
        )
    });
    format!(
        "pod/{pod} {} ({}){stops}",
        crashing(&waiting.reason),
        waiting_text(waiting)
    )
}

/// What a component says, how often, and when it did so last.
fn said_by(component: &str, times: i32, last: Option<Time>, message: &str) -> String {
    let times = match times {
        1 => String::new(),
        times => format!(", {times} times"),
    };
    let last = last.map(|last| format!(", last at {last}")).unwrap_or_default();
    format!("{component}{times}{last}: {message}")
}

/// Why a pod has failed, in the kubelet's words.
fn has_failed(pod: &Key, failure: &Failure) -> String {
    let said = [&failure.reason, &failure.message].into_iter();
    let said: String = said
        .filter(|text| !text.is_empty())
        .map(|text| format!(": {}", text.trim_end()))
        .collect();
    format!("pod/{pod} has failed{said}")
}

/// What a pod that is starting does.
pub(crate) fn doing_text(doing: &Doing) -> String {
    match doing {
        Doing::Initializing(container, since) => {
            let since = since.map_or_else(String::new, |since| format!(", of a pod that started at {since}"));
            format!("init container {container} is running{since}")
        }
        Doing::Pulling(said, since) => {
            let since = since.map_or_else(String::new, |since| format!(" (since {since})"));
            format!("{said}{since}")
        }
        Doing::Failing(message, times, last) => said_by("kubelet", *times, *last, message),
    }
}

/// What a pod does whose container waits for this reason.
fn crashing(reason: &str) -> &'static str {
    if has_logs(reason) {
        "is crashing"
    } else {
        "does not start"
    }
}

fn is_pending(pod: &Key, why: &Unplaced) -> String {
    match &why.port {
        Some((port, user)) => {
            format!("pod/{pod} is pending: it needs port {port} of the node, which pod/{user} has there")
        }
        None => format!("pod/{pod} is pending{}", said(&why.said)),
    }
}

/// Which devices of a pod reach no container of it, and why.
pub(crate) fn unlisted_text(unlisted: &UnlistedDevices) -> String {
    let UnlistedDevices {
        entry,
        claim,
        why,
        devices,
        is_of_network,
    } = unlisted;
    let of = if entry.is_empty() {
        format!("claim/{claim}")
    } else {
        format!("claim {entry}")
    };
    let devices = some(devices);
    let network = if *is_of_network {
        "; this is correct if the driver configures the network of the whole pod"
    } else {
        ""
    };
    match why {
        Unlisted::Claim if entry.is_empty() => {
            format!("no container maps to a request of {of}, so none gets {devices}")
        }
        Unlisted::Claim if unlisted.devices.is_empty() => format!(
            "no container lists {of} under resources.claims, so none will get its devices, unless the driver serves the pod as a whole"
        ),
        Unlisted::Claim => {
            format!("no container lists {of} under resources.claims, so none gets {devices}{network}")
        }
        Unlisted::Request(request) => {
            format!("no container lists request {request} of {of}, so none gets {devices}{network}")
        }
        Unlisted::Finished(container) => format!(
            "only init container {container}, which has finished, lists {of} under resources.claims, so no running container uses {devices}{network}"
        ),
        Unlisted::NoSuchRequest { container, request } => {
            format!(
                "container {container} lists request {request}, but {of} has no such request: the container gets no device for it"
            )
        }
    }
}
