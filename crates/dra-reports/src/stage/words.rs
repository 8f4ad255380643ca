//! The sentences about the stage of a pod on its node.

use crate::listing::some;
use crate::warnings::missing;
use dra_model::{ContainerEnd, DeviceId, Key, Pod, Str, Time};
use dra_rules::kubelet::{
    Attaching, BrokenLink, Cause, Evidence, Heartbeat, KeptOff, Party, Plugin, Problem, Refused, Stuck,
    Unknown, Unread, Waiting, Waits, daemon_set_of,
};
use dra_rules::reservation::{Unlisted, UnlistedDevices};

/// Whose turn it is.
pub fn party_text(party: Party) -> &'static str {
    match party {
        Party::User => "the owner of the pod",
        Party::Driver => "whoever runs the driver",
        Party::Kubelet => "the kubelet",
        Party::Administrator => "an administrator of the cluster",
    }
}

/// Why `pod` is stuck, as [`cause_text`] has it, with how often the kubelet has told it and since when.
pub(crate) fn stuck_text(stuck: &Stuck<'_>, pod: &Pod) -> String {
    let cause = cause_text(&stuck.cause, pod);
    match (stuck.times(), stuck.since) {
        (2.., Some(since)) => format!("{cause} ({} times since {since})", stuck.times()),
        _ => cause,
    }
}

/// Why `pod` is stuck, in a sentence without a full stop that goes on from the pod's name and a colon.
pub(crate) fn cause_text(cause: &Cause<'_>, pod: &Pod) -> String {
    let node = pod.node().map_or("", Str::as_str);
    match cause {
        Cause::DriverNotRegistered { driver, plugin } => {
            let registered = format!("driver {driver} is not registered with the kubelet of {node}");
            match of_plugin(plugin, node) {
                Some(why) => format!("{registered}: {why}"),
                None => registered,
            }
        }
        Cause::DriverFails { text } => {
            format!("the driver did not prepare the devices, and gave no reason of its own: {text}")
        }
        Cause::PrepareRefused { claim, text } => {
            format!("the driver refuses to prepare claim {claim}: {text}")
        }
        Cause::Claim(problem) => problem_text(problem, pod),
        Cause::DriverDown { drivers, text } => {
            let drivers = either(drivers.iter().map(|driver| format!("driver {driver}")));
            format!(
                "{drivers} does not answer the kubelet of {node}: its process is not running, or has just ended: {text}"
            )
        }
        Cause::EarlierClaim { claim, uid, lasts } => {
            let why = if *lasts {
                "the driver does not take the devices back"
            } else {
                "its pod was deleted by force, and the driver has yet to take the devices back"
            };
            format!(
                "the kubelet of {node} still has an earlier claim {claim} prepared, with UID {uid}: {why}"
            )
        }
        Cause::BeingUnprepared { claim, .. } => format!(
            "the driver takes back the devices of claim {claim} from an earlier pod; the kubelet prepares them again after that"
        ),
        Cause::PreparedForDeletedClaim {
            claim,
            uid,
            text,
            lasts: true,
        } => format!(
            "the driver refuses to prepare claim {claim}, as it still has the devices on its list for a claim with UID {uid}, which does not \
                 exist any more; the driver says: {text}"
        ),
        Cause::PreparedForDeletedClaim { claim, uid, text, .. } => format!(
            "the driver refuses to prepare claim {claim}, as the kubelet of {node} has yet to give the devices back that it has for a claim \
                 with UID {uid}, which does not exist any more: its pod was deleted by force, and may still use them; the driver says: {text}"
        ),
        Cause::DevicesUnresolvable {
            devices,
            has_run: false,
            rebooted: None,
        } => format!(
            "the container runtime does not find {}: the driver has not written a CDI file for it that the container runtime reads",
            some(devices)
        ),
        Cause::DevicesUnresolvable {
            devices, rebooted, ..
        } => {
            let since = match rebooted {
                Some(at) => format!(
                    ", as {node} was started anew at {at}: what the driver had written was lost, and it has not written it again"
                ),
                None => String::new(),
            };
            format!("the container runtime does not find {}{since}", some(devices))
        }
        Cause::PreparationForgotten { claim } => format!(
            "the kubelet of {node} does not know any more what was prepared for claim {claim}, as after it was started without its \
                 checkpoint: it does not have it prepared again for a pod that has its sandbox"
        ),
        Cause::NetworkNotReady { text } => {
            format!("the network of {node} is not ready, without which the kubelet makes no pod: {text}")
        }
        Cause::VolumesNotMounted { text } => format!("the kubelet does not get its volumes mounted: {text}"),
        Cause::SandboxFails { text } => {
            format!("its devices are prepared, and the container runtime does not make its sandbox: {text}")
        }
        Cause::RuntimeDown { text } => {
            format!("the container runtime of {node} does not answer the kubelet: {text}")
        }
        Cause::ContainerNotStarted(container, waiting) => {
            format!(
                "container {container} is not started: {}{}",
                waiting.reason,
                said(&waiting.message)
            )
        }
        Cause::ContainerEnds(container, end) => match end {
            Some(end) => format!("container {container} does not run: {}", end_text(end)),
            None => format!("container {container} ends again and again"),
        },
        Cause::PodFailed { reason, message } => {
            let message = message.map(Str::as_str).unwrap_or_default();
            match message.strip_prefix("Pod was rejected: ") {
                Some(why) => format!("the kubelet of {node} refused it: {reason}: {why}"),
                None => format!("it has failed: {reason}{}", said(message)),
            }
        }
        Cause::KillFails { text } => {
            format!("the kubelet of {node} does not get its containers ended: {text}")
        }
        Cause::KubeletTooOld { version, gate } => {
            format!(
                "the kubelet of {node}{} does not have the feature {gate}, which the claim needs",
                in_brackets(version)
            )
        }
        Cause::ClaimUnreadable {
            why: Unread::NotServed,
            version,
            text,
            ..
        } => format!(
            "the kubelet of {node}{} reads claims by a version of the API resource.k8s.io that the API server does not serve: {text}",
            in_brackets(version)
        ),
        Cause::ClaimUnreadable { claim, text, .. } => {
            format!("the kubelet of {node} cannot read claim {claim}, which exists: {text}")
        }
        Cause::DeviceNotPublished { devices } => format!(
            "{} {} not in the slices of the driver any more: the pod keeps what it has; some drivers leave devices out that are in use",
            some(devices),
            if devices.len() == 1 { "is" } else { "are" }
        ),
        Cause::DeviceUnhealthy { device, text } if text.is_empty() => {
            format!("{device} is reported to be unhealthy")
        }
        Cause::DeviceUnhealthy { device, text } => format!("{device} is reported to be unhealthy: {text}"),
        Cause::UnprepareFails { drivers } => format!(
            "its containers have ended, and {} does not take its devices back: only the logs of the kubelet and of the driver tell why",
            either(drivers.iter().map(|(driver, _)| format!("driver {driver}")))
        ),
        Cause::NodeSilent { node } => {
            format!("node {node} is not ready: its kubelet does nothing for the pod until it is")
        }
        Cause::NodeNotReady { node, text } => format!("node {node} is not ready{}", said(text)),
        Cause::Finalizers(names) => {
            format!("it has ended, and stays for the finalizer {}", some(names))
        }
        Cause::Binding { device, attaching } => attaching_text(device, attaching),
        Cause::Unrecognized { text } => format!("the kubelet says what is not known here: {text}"),
    }
}

/// Why a node does nothing for its pods, in a sentence without a full stop that goes on from the node's name and a colon.
pub(crate) fn cause_of_node(cause: &Cause<'_>) -> String {
    match cause {
        Cause::NodeNotReady { text, .. } => format!("is not ready{}", said(text)),
        _ => "is not ready: its kubelet is silent, and does nothing for pods until it is back".to_owned(),
    }
}

/// What is wrong with a claim of `pod`.
pub(crate) fn problem_text(problem: &Problem, pod: &Pod) -> String {
    match problem {
        Problem::TemplateMissing(template) => template_missing(template, &format!("pod/{}", pod.key())),
        Problem::NotCreated(why) => why.to_string(),
        Problem::Missing(claim) => format!("claim/{claim} not found"),
        Problem::Unusable { claim, why } => format!("claim/{claim} {why}: {}", why.consequence(pod)),
    }
}

/// That there is no template for claims of the pod.
pub(crate) fn template_missing(template: &Key, pod: &str) -> String {
    format!("resource claim template {template} not found, from which claims of {pod} are made")
}

fn attaching_text(device: &DeviceId, attaching: &Attaching<'_>) -> String {
    let (words, missing) = match attaching {
        Attaching::Failed(condition) => {
            let said = said(&condition.message);
            return format!("{device} cannot be attached ({}){said}", condition.type_);
        }
        Attaching::TimedOut(missing) => ("was not attached in time", missing),
        Attaching::Pending(missing) => ("is not attached yet", missing),
    };
    let missing: Vec<&str> = missing.iter().map(|type_| type_.as_str()).collect();
    format!(
        "{device} {words}: its driver has yet to set {}",
        missing.join(", ")
    )
}

/// What shows why the pod is stuck.
pub(super) fn evidence_text(evidence: &Evidence<'_>, pod: &Pod) -> String {
    match evidence {
        Evidence::ToBeGone(since) => format!("the pod was to be gone at {since}"),
        Evidence::ToEnd(since) => format!("the pod was to end at {since}"),
        Evidence::LastContainerEnded(since) => format!("its last container ended at {since}"),
        Evidence::Stopped => "no container of it runs any more".to_owned(),
        Evidence::BindingFailed(claim, condition) => format!(
            "claim/{} has the condition {} of the device",
            claim.key(),
            condition.type_
        ),
        Evidence::BindingMissing(claim) => format!("claim/{} lacks the condition of the device", claim.key()),
        Evidence::Heartbeat(node, heartbeat) => heartbeat_text(node, *heartbeat),
        Evidence::Problem(problem) => problem_text(problem, pod),
        Evidence::Event(event) => {
            let seen = event.last_seen();
            let when = seen.map(|at| format!(" at {at}")).unwrap_or_default();
            let often = match (event.times(), event.first_timestamp) {
                (times @ 2.., Some(first)) => format!(", {times} times since {first}"),
                _ => String::new(),
            };
            format!("the kubelet said{when}{often}: {}", event.message.trim())
        }
        Evidence::Waiting(Waiting { container, reason }) => format!("container {container} waits: {reason}"),
        Evidence::Ended(container) => format!("the status of the pod has container {container} as ended"),
        Evidence::Failed => "the pod has the phase Failed".to_owned(),
        Evidence::Status(container) => format!("the kubelet reports it for container {}", container.name),
        Evidence::Condition(claim, condition) => {
            format!("claim/{} has {}=False of it", claim.key(), condition.type_)
        }
        Evidence::NoSlice => "no ResourceSlice of the newest generation has it".to_owned(),
    }
}

fn heartbeat_text(node: &Str, heartbeat: Heartbeat) -> String {
    let (word, since) = match heartbeat {
        Heartbeat::Ready => ("True", None),
        Heartbeat::NotReady { since } => ("False", since),
        Heartbeat::Silent { since } => ("Unknown", since),
    };
    let since = since.map(|at| format!(" since {at}")).unwrap_or_default();
    format!("node/{node} has the condition Ready={word}{since}")
}

/// What `pod` waits for, where that is not about devices.
pub(crate) fn waits_text(waits: Waits, pod: &Pod) -> String {
    if waits.node_is_ready {
        "containers have not ended".to_owned()
    } else {
        format!(
            "containers have not ended, and node {} is not ready",
            pod.node().map_or("", Str::as_str)
        )
    }
}

/// How a container ended.
fn end_text(end: &ContainerEnd) -> String {
    let reason = match end.reason.as_str() {
        "" | "Error" | "Completed" => String::new(),
        reason => format!(" ({reason})"),
    };
    format!(
        "it ended with exit code {}{reason}, and is started again",
        end.exit_code
    )
}

/// What is said, behind what it is about.
fn said(message: &str) -> String {
    match message.trim() {
        "" => String::new(),
        message => format!(": {message}"),
    }
}

fn waiting_text(waiting: &Waiting<'_>) -> String {
    format!("container {}: {}", waiting.container, waiting.reason)
}

/// What would have to be known.
pub(crate) fn unknown_text(unknown: Unknown<'_>) -> String {
    match unknown {
        Unknown::Gap(gap) => missing(gap),
        Unknown::OtherNamespaces => {
            "pods of other namespaces, of which one may be the driver's, were not read: `kubectl dra explain` does"
                .to_owned()
        }
        Unknown::NoEvents => {
            "why its containers are not made: no event of the kubelet is left, as they are kept for an hour"
                .to_owned()
        }
    }
}

/// What keeps a pod of a DaemonSet off a node.
pub(crate) fn kept_off_text(kept_off: &KeptOff) -> String {
    match kept_off {
        KeptOff::Labels(labels) => format!(
            "its nodeSelector asks for {}, which the node lacks",
            some(labels.iter().map(|(key, value)| format!("{key}={value}")))
        ),
        KeptOff::Taint(taint) => format!("it does not tolerate the taint {taint} of the node"),
    }
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
fn of_plugin(plugin: &Plugin<'_>, node: &str) -> Option<String> {
    Some(match plugin {
        Plugin::Hidden(_) => return None,
        Plugin::None { elsewhere: None, .. } => format!("no pod on {node} seems to be the driver's"),
        Plugin::None {
            elsewhere: Some(pod),
            kept_off,
        } => {
            let set = daemon_set_of(pod).cloned().unwrap_or_default();
            no_pod(&Key::new(pod.metadata.namespace.clone(), set), kept_off.as_ref())
        }
        Plugin::Crashing(pod, waiting) => format!("{} crashes ({})", named(pod), waiting_text(waiting)),
        Plugin::NotReady(pod) => format!("{} is not ready", named(pod)),
        Plugin::OtherFolder(pod, own, other) => format!(
            "{} registers in {own}, and the kubelet looks for plugins in {other}, where those of others register",
            named(pod)
        ),
        Plugin::Ready(pod, since, started) => {
            let since = since.map(|since| format!(" since {since}")).unwrap_or_default();
            let kubelet = match started {
                Some(started) => format!("the kubelet, which was started at {started},"),
                None => "the kubelet".to_owned(),
            };
            format!("{} is ready{since}, but {kubelet} does not know it", named(pod))
        }
    })
}

/// That a DaemonSet has no pod on a node.
fn no_pod(set: &Key, kept_off: Option<&KeptOff>) -> String {
    let set = format!("daemonset/{set} has no pod there");
    match kept_off {
        Some(why) => format!("{set}, as {}", kept_off_text(why)),
        None => set,
    }
}

/// That `who` publishes again what the start of kubelets deleted.
pub(crate) fn republishing_text(nodes: &[Str], since: Time, who: &str) -> String {
    let names = some(nodes);
    match nodes {
        [_] => format!(
            "the kubelet of {names} was started at {since}, which deleted what was published for the node: {who} it again within a minute"
        ),
        _ => format!(
            "the kubelets of {names} were started at {since}, which deleted what was published for the nodes: {who} it again within a minute"
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
            let times = match times {
                1 => String::new(),
                times => format!(" {times} times"),
            };
            let last = last.map(|last| format!(", last at {last}")).unwrap_or_default();
            let maker = format!("{}/{maker}", kind.resource());
            format!("the API server refuses the pods of {maker}: {component} said{times}{last}: {message}")
        }
        BrokenLink::NoPod(set, kept_off) => no_pod(set, kept_off.as_ref()),
        BrokenLink::Crashing {
            pod,
            container,
            reason,
        } => format!("pod/{pod} crashes (container {container}: {reason})"),
        BrokenLink::NotReady(pod) => format!("pod/{pod} is not ready"),
        BrokenLink::Forbidden(pod, account) => format!(
            "pod/{pod} runs with serviceaccount/{}/{account}, which may not create resourceslices",
            pod.namespace
        ),
        BrokenLink::Silent(pod) => format!("pod/{pod} is ready, and publishes nothing"),
    }
}

/// The pod's name for messages.
fn named(pod: &Pod) -> String {
    format!("pod/{}", pod.key())
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
        "; that is right where the driver gives the pod as a whole its network"
    } else {
        ""
    };
    match why {
        Unlisted::Claim if entry.is_empty() => {
            format!("no container is mapped to a request of {of}, so that none gets {devices}")
        }
        Unlisted::Claim => {
            format!("no container lists {of} under resources.claims, so that none gets {devices}{network}")
        }
        Unlisted::Request(request) => {
            format!("no container lists request {request} of {of}, so that none gets {devices}{network}")
        }
        Unlisted::NoSuchRequest { container, request } => {
            format!(
                "container {container} lists request {request} of {of}, which has no such request: it gets no device for it"
            )
        }
    }
}
