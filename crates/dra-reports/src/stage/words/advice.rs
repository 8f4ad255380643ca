//! The sentences of advice: what to do about a stuck pod, and who can do it.

use std::collections::BTreeSet;

use crate::listing::some;
use crate::words::{EVICTS_FROM_DEVICE, restore_webhook};
use dra_model::{DeviceId, Gate, Key, Pod, Str, Taint, Time};
use dra_rules::kubelet::{
    BrokenLink, DOMAIN_LABEL, Denial, Doing, KeptOff, Newer, Party, STARTING_SECONDS, Unplaced,
};
use dra_rules::owners::OwnerName;
use dra_rules::scheduling::Skips;
use dra_rules::validation::Webhook;

/// What to do, and how where no command does it.
pub(in super::super) struct Text {
    /// The instruction.
    pub(in super::super) message: String,
    /// What to know, or who can do it.
    pub(in super::super) how: String,
}

impl Text {
    fn new(message: impl Into<String>, how: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            how: how.into(),
        }
    }
}

fn ask_owner(driver: &str, what: &str) -> String {
    format!("ask the owner of {driver} to {what}")
}

/// A driver that does not prepare devices: one of these.
pub(in super::super) fn prepare(drivers: &BTreeSet<&Str>, why: Unprepared) -> Text {
    let names = drivers.iter().map(|driver| format!("driver {driver}"));
    let driver = match names.collect::<Vec<String>>().join(" or ") {
        names if names.is_empty() => "the driver".to_owned(),
        names => names,
    };
    let (what, how) = match why {
        Unprepared::Configured(object) => {
            return Text::new(
                format!(
                    "correct the configuration in {object} if the driver's message is about that; otherwise {}",
                    ask_owner(&driver, "act on it")
                ),
                "the kubelet retries automatically with the configuration that the claim was created with: a corrected one needs a new claim and pod",
            );
        }
        Unprepared::Locked(holders) => {
            let holders = if holders.is_empty() {
                String::new()
            } else {
                let holders = some(&holders);
                format!(
                    "; a device has to be unused before it is passed through to a virtual machine, and {holders} may use it without a claim"
                )
            };
            return Text::new(
                ask_owner(&driver, "check which earlier call keeps its lock"),
                format!(
                    "a call of the driver has not returned, and keeps its lock meanwhile: the log of its pod has what that call waits for. A restart of that pod releases the lock, until the next call waits for the same{holders}"
                ),
            );
        }
        Unprepared::Refused => (
            "act on the driver's message",
            "it has to prepare the devices; the kubelet retries automatically",
        ),
        Unprepared::LeftOut => (
            "check why it does not prepare the devices",
            "it reports no error to the kubelet, and may do so in its log; the kubelet retries automatically",
        ),
        Unprepared::NoFile => (
            "fix its CDI files",
            "the container runtime has to find them; recreating the pod does not help until then",
        ),
        Unprepared::Earlier => (
            "release the devices of the earlier claim",
            "make sure first that no container of an earlier pod still runs on the node with them; the kubelet retries automatically",
        ),
    };
    Text::new(ask_owner(&driver, what), how)
}

/// What a driver needs that has yet to prepare devices: what gathers nodes, and the pod that is not ready there for it.
pub(in super::super) fn await_devices(node: &str, owner: Option<&OwnerName>, daemon: Option<&Key>) -> Text {
    let what = match (owner, daemon) {
        (Some(owner), Some(daemon)) => format!("pod/{daemon} is ready, so that {owner} has {node}"),
        (Some(owner), None) => format!("{owner} has {node}"),
        (None, _) => "the driver has prepared the devices".to_owned(),
    };
    Text::new(
        format!("wait until {what}: the kubelet retries automatically"),
        format!(
            "no action needed, unless this takes longer than {} minutes",
            STARTING_SECONDS / 60
        ),
    )
}

/// A node that is in another ComputeDomain.
pub(in super::super) fn leave_domain(node: &str, uid: &str, domain: Option<&Key>) -> Text {
    let name = super::domain_text(uid, domain);
    let or = if domain.is_some() {
        "or wait until they have ended".to_owned()
    } else {
        format!("or remove label {DOMAIN_LABEL} from {node} if it does not exist any more")
    };
    Text::new(
        format!("delete {name}, which {node} is in, if no pods need it, {or}"),
        "its deletion takes the label off the node; then the kubelet retries automatically",
    )
}

/// An owner that waits for nodes: what it is, and the pods that have none; or the only node that matters, with the pod that is not ready there for it.
pub(in super::super) fn gather(
    owner: &str,
    others: &[String],
    node: Option<&str>,
    daemon: Option<&Key>,
) -> Text {
    if let Some(node) = node {
        let daemon = daemon.map_or_else(String::new, |daemon| {
            format!(", where pod/{daemon} is not ready for it")
        });
        return Text::new(
            format!("get {owner} ready on {node}{daemon}"),
            "a node is ready when the pod of the driver there for it is; the kubelet retries automatically",
        );
    }
    let message = if others.is_empty() {
        format!("get all nodes of {owner} ready")
    } else {
        format!("get {} placed", some(others))
    };
    Text::new(
        message,
        format!(
            "the driver prepares the devices once {owner} has all nodes: a node counts when it has one of its pods and the driver's pod there is ready"
        ),
    )
}

/// An owner that waits for more nodes than it has pods.
pub(in super::super) fn agree(owner: &OwnerName, nodes: i64, maker: &OwnerName, pods: i64) -> Text {
    Text::new(
        format!("let the nodes that {owner} waits for, {nodes}, and the pods of {maker}, {pods}, be as many"),
        format!(
            "recreate {owner} with numNodes {pods}, as it cannot be changed, and then its pods; or run {nodes} pods"
        ),
    )
}

/// Why devices are not prepared.
pub(in super::super) enum Unprepared {
    /// The driver refuses.
    Refused,
    /// The same, and the object with this name has configuration for it.
    Configured(String),
    /// An earlier call keeps the driver's lock, and these pods may have its device.
    Locked(Vec<String>),
    /// It reports no error.
    LeftOut,
    /// The container runtime finds no CDI file of the driver.
    NoFile,
    /// The driver still has the devices of an earlier claim.
    Earlier,
}

/// The end of another pod, whose devices are prepared.
pub(in super::super) fn await_end(other: &Key, ends: bool) -> Text {
    let message = if ends {
        format!("find out what keeps pod/{other} from ending")
    } else {
        format!("wait until pod/{other} ends, or delete it")
    };
    Text::new(
        message,
        "the driver releases the device when that pod has ended, and the kubelet retries",
    )
}

/// A pod that the driver waits for.
pub(in super::super) fn get_ready(awaited: &Key) -> Text {
    Text::new(
        format!("get pod/{awaited} running, which the driver's message is about"),
        RETRIES,
    )
}

/// A pod that a driver runs on the node for the pods there.
pub(in super::super) fn get_daemon_ready(daemon: &Key) -> Text {
    Text::new(
        format!("get pod/{daemon} running: the node does not count until then"),
        RETRIES,
    )
}

/// Drivers that do not unprepare devices.
pub(in super::super) fn unprepare(drivers: &str) -> Text {
    Text::new(
        format!("ask the owner of driver {drivers} why it does not unprepare the devices"),
        "the kubelet retries until it does",
    )
}

/// A missing claim.
pub(in super::super) fn create_claim() -> Text {
    Text::new(
        "create the claim",
        "ask the owner of the pod what the claim should request",
    )
}

/// A missing template.
pub(in super::super) fn create_template() -> Text {
    Text::new(
        "create the template",
        "ask the owner of the pod what its claims should request",
    )
}

/// Drivers whose process is not running.
pub(in super::super) fn start_driver(drivers: &str, node: &str) -> Text {
    Text::new(
        format!("ask the owner of driver {drivers} why its process on {node} exited"),
        RETRIES,
    )
}

/// Volumes that are not mounted.
pub(in super::super) fn mount() -> Text {
    Text::new(
        "fix the volumes of the pod",
        "check why they cannot be mounted; the kubelet retries automatically",
    )
}

/// The image of a volume that is not pulled.
pub(in super::super) fn correct_image(volume: &Str, owner: Option<&OwnerName>) -> Text {
    Text::new(
        format!(
            "correct the image of volume {volume} in {}, or push it to its registry",
            maker(owner)
        ),
        "no container starts without it, whatever the containers' own images are; the kubelet retries automatically",
    )
}

/// A volume whose files get the group of the pod.
pub(in super::super) fn await_ownership(owner: Option<&OwnerName>) -> Text {
    Text::new(
        "wait until the kubelet has changed the group of the files",
        format!(
            "a recreated pod would start over; fsGroupChangePolicy OnRootMismatch in {}, under securityContext, skips it once the top directory has the group",
            maker(owner)
        ),
    )
}

/// A volume that another node still has, and the pod that uses it there, with whether something keeps that pod from ending or running.
pub(in super::super) fn detach(user: Option<(&Pod, bool)>) -> Text {
    const MESSAGE: &str = "end the pod that uses the volume on another node";
    const DOWN: &str = "if its node is down for good, an administrator taints the node with node.kubernetes.io/out-of-service:NoExecute, or deletes it";
    let message = user.map_or_else(
        || MESSAGE.to_owned(),
        |(user, _)| format!("{MESSAGE}: pod/{}", user.key()),
    );
    let how = match user {
        Some((user, false)) if !user.metadata.is_deleting() => {
            "a ReadWriteOnce volume is attached to one node at a time: the owner needs one replica with strategy Recreate, a volume for each pod, or a volume with access mode ReadWriteMany".to_owned()
        }
        Some((_, true)) => format!("it is detached once that pod has ended, and a forced deletion does not stop the containers; {DOWN}"),
        _ => format!("it is detached once that pod has ended; {DOWN}"),
    };
    Text::new(message, how)
}

/// A sandbox that the container runtime does not create.
pub(in super::super) fn sandbox(node: &str) -> Text {
    Text::new(
        format!("ask an administrator to check the container runtime on {node} and the plugins it calls"),
        "it fails to create the sandbox; the kubelet retries automatically",
    )
}

/// A device that cannot be given to the sandbox.
pub(in super::super) fn attach_device(device: &DeviceId) -> Text {
    Text::new(
        format!(
            "{}, or select another device in the request",
            ask_owner(
                &format!("driver {}", device.driver),
                &format!("check device {device}, which the message is about")
            )
        ),
        "the kubelet retries automatically; another device needs a new claim and pod",
    )
}

/// A container runtime that knows CDI, and does not use it.
pub(in super::super) fn enable_cdi(node: &str, runtime: &str) -> Text {
    let what = if super::is_docker(runtime) {
        format!(
            "update cri-dockerd on {node} to a release with Mirantis/cri-dockerd#522, or to use containerd 2 there"
        )
    } else {
        let runtime = super::runtime_text(runtime);
        format!("enable CDI in {runtime} on {node} (enable_cdi = true), or to update it to containerd 2")
    };
    Text::new(
        format!("ask an administrator to {what}"),
        "the kubelet restarts the container automatically, with its devices",
    )
}

/// A registry that does not answer the nodes.
pub(in super::super) fn reach_registry(host: &str) -> Text {
    Text::new(
        format!("ask an administrator to check that registry {host} is reachable from the node"),
        RETRIES,
    )
}

/// A registry whose certificate a node does not accept, and a pod of the same owner that runs on another node.
pub(in super::super) fn trust_registry(host: &str, node: &str, error: &str, elsewhere: Option<&Key>) -> Text {
    let message = if error.contains("certificate has expired or is not yet valid") {
        format!(
            "ask an administrator to renew the certificate of registry {host}, or to set the clock of {node} right"
        )
    } else {
        format!("ask an administrator to let {node} trust the certificate of registry {host}")
    };
    let elsewhere = elsewhere.map_or_else(String::new, |pod| {
        format!("; pod/{pod} of the same owner runs on another node")
    });
    Text::new(
        message,
        format!(
            "the registry answers: it is a matter of the certificates that the container runtime of the node trusts{elsewhere}; the kubelet retries automatically"
        ),
    )
}

/// What a program says that ends, where that shows what is wrong.
#[derive(Clone, Copy)]
pub(in super::super) enum Exit {
    /// It is built for nodes of another architecture.
    Architecture,
    /// The switches between the GPUs of the node are not set up.
    Fabric,
    /// Its libraries are for a newer driver than that of the node.
    NewerDriver,
    /// Another process has the device for itself.
    Exclusive,
}

/// A container whose program says what is wrong; `arch` is that of the node, and `others` have the same claims.
pub(in super::super) fn exits(
    exit: Exit,
    owner: Option<&OwnerName>,
    node: &str,
    arch: &str,
    others: &[String],
) -> Text {
    let maker = maker(owner);
    match exit {
        Exit::Architecture => Text::new(
            format!(
                "use an image in {maker} that is built for {arch}, too, or select nodes of another architecture by label kubernetes.io/arch"
            ),
            format!(
                "{node} is {arch}, and the program of the container is for another architecture, or a script without a #! line"
            ),
        ),
        Exit::Fabric => Text::new(
            format!(
                "ask an administrator to check nvidia-fabricmanager on {node}: whether it runs, and has the version of the NVIDIA driver"
            ),
            "it sets up the NVSwitches of the node, and CUDA waits for that; the kubelet restarts the container automatically",
        ),
        Exit::NewerDriver => Text::new(
            format!(
                "use an image in {maker} with a CUDA version that the NVIDIA driver of {node} supports, or ask an administrator to update that driver"
            ),
            "the image has libraries of a newer driver, which CUDA supports on data center GPUs only; equal nodes do not help",
        ),
        Exit::Exclusive => Text::new(
            format!(
                "give {maker} a device of its own, or ask an administrator to set the compute mode of the device to Default"
            ),
            format!(
                "{} {} the same claim, and in an exclusive compute mode a device serves one process only",
                some(others),
                if others.len() == 1 { "has" } else { "have" }
            ),
        ),
    }
}

/// A runtime class that asks for devices which no claim has.
pub(in super::super) fn drop_runtime_class(owner: Option<&OwnerName>) -> Text {
    Text::new(
        format!("remove runtimeClassName from {}", maker(owner)),
        "the runtime class asks for the CDI device that is not found, and no claim does: the devices of claims need no runtime class",
    )
}

/// What pods are made from: their owner, or the pod itself.
fn maker(owner: Option<&OwnerName>) -> String {
    owner.map_or_else(|| "the pod".to_owned(), ToString::to_string)
}

/// A pod in the network of its node that claims a network device.
pub(in super::super) fn leave_host_network(owner: Option<&OwnerName>) -> Text {
    Text::new(
        format!(
            "remove hostNetwork, or the claim of the network device, from {}",
            maker(owner)
        ),
        "a pod in the network of its node cannot get a network device of that node; both need a new pod, and nothing is wrong on the node",
    )
}

/// Resources that the kubelet cannot align: CPUs that are no whole cores, or what no NUMA node has.
pub(in super::super) fn align(is_of_cores: bool, owner: Option<&OwnerName>) -> Text {
    let object = maker(owner);
    let message = if is_of_cores {
        format!("request whole cores in {object}: a multiple of the CPUs per core that the message has")
    } else {
        format!(
            "request fewer CPUs or devices in {object}, so that one NUMA node has them free, or ask an administrator to relax the topology manager policy of such nodes"
        )
    };
    let how = match owner {
        Some(owner) => format!(
            "pods that {owner} creates instead are rejected, too: recreating or deleting them does not help"
        ),
        None => "then recreate the pod: a failed pod never runs again".to_owned(),
    };
    Text::new(message, how)
}

/// A network that the pod names, and that there is none of.
pub(in super::super) fn name_network() -> Text {
    Text::new(
        "create the NetworkAttachmentDefinition that the message names, or correct annotation k8s.v1.cni.cncf.io/networks of the pod",
        "the kubelet retries automatically; a changed annotation needs a new pod",
    )
}

/// A container runtime that does not respond.
pub(in super::super) fn start_runtime(node: &str) -> Text {
    Text::new(
        format!("ask an administrator to restart the container runtime on {node}"),
        "the kubelet continues once it responds",
    )
}

/// A container runtime that does not stop containers.
pub(in super::super) fn stop_containers(node: &str) -> Text {
    Text::new(
        format!("ask an administrator why the container runtime on {node} does not stop the containers"),
        "the pod terminates once they are stopped",
    )
}

/// A pod that is gone from the API, whose containers still run.
pub(in super::super) fn end_survivor(survivor: &Key, node: &str) -> Text {
    Text::new(
        format!(
            "ask an administrator to end the containers of pod/{survivor} on {node} (crictl, or a reboot)"
        ),
        "the kubelet then has the driver take the device back, and starts this pod automatically; do not release the device in the driver before, as they may use it",
    )
}

/// A sandbox that stays.
pub(in super::super) fn remove_sandbox(node: &str) -> Text {
    Text::new(
        format!(
            "ask an administrator why the container runtime on {node} does not remove the sandbox; often its network plugin fails"
        ),
        "its containers have ended; the pod terminates once the sandbox is removed",
    )
}

/// A container that something on the node keeps from starting.
pub(in super::super) fn start_for(party: Party, node: &str, container: &str, is_of_pod: bool) -> Text {
    let who = match party {
        Party::Driver => "the driver's owner",
        _ => "an administrator",
    };
    Text::new(
        format!("ask {who} why the container runtime on {node} does not start container {container}"),
        if is_of_pod {
            "its message is about what the pod gets there: act on that"
        } else {
            "its message is about the node, not about the pod"
        },
    )
}

/// A claim that a driver gives to one container, and two have.
pub(in super::super) fn one_container(
    claim: &Key,
    own: &str,
    other: &str,
    owner: Option<&OwnerName>,
) -> Text {
    Text::new(
        format!(
            "remove claim/{claim} from container {own} or container {other} in {}, or give one of them a claim of its own",
            maker(owner)
        ),
        format!(
            "the driver has bound the claim to container {other} of this pod, and binds it to one container only; then recreate the pod"
        ),
    )
}

/// A driver serves one container of one pod with a claim.
pub(in super::super) const FOR_ONE_CONTAINER: &str = "binds it to one container of one pod only";

/// A driver serves one pod with a claim.
pub(in super::super) const FOR_ONE_POD: &str = "prepares it for one pod only";

/// A claim that a driver serves one pod only with, in these words, and that another pod has, too.
pub(in super::super) fn own_claim(claim: &Key, other: &Key, driver: &str, owner: Option<&OwnerName>) -> Text {
    let message = match owner {
        Some(owner) => format!(
            "give each pod of {owner} a claim of its own: resourceClaimTemplateName in place of resourceClaimName {}",
            claim.name
        ),
        None => format!("give the pod a claim of its own, in place of claim/{claim}"),
    };
    Text::new(
        message,
        format!("pod/{other} has the claim, and the driver {driver}"),
    )
}

/// A container that was ended for its use of memory.
pub(in super::super) fn out_of_memory(container: &str) -> Text {
    Text::new(
        format!("raise the memory limit of container {container}, or let it use less memory"),
        "it was ended as it used more than its limit, or the node ran out of memory",
    )
}

/// A container that does not get the memory of a device that other pods use, too.
pub(in super::super) fn own_device(container: &str, owner: Option<&OwnerName>, others: &[String]) -> Text {
    Text::new(
        format!(
            "give {} a device of its own, or let container {container} use less of its memory",
            maker(owner)
        ),
        format!(
            "{} {} the same claim, and what they use of the memory of its device is not left for it",
            some(others),
            if others.len() == 1 { "has" } else { "have" }
        ),
    )
}

/// A container that does not start.
pub(in super::super) fn start_container(container: &str) -> Text {
    Text::new(
        format!("fix container {container}, which does not start"),
        ACT_ON_KUBELET,
    )
}

/// A Secret or ConfigMap that is missing, or a key of it.
pub(in super::super) fn create_object(pod: &Pod, (resource, name, key): (&str, &str, Option<&str>)) -> Text {
    let object = format!("{resource}/{}", pod.metadata.beside(&name.into()));
    let message = match key {
        Some(key) => format!("add key {key} to {object}, or have the pod use another one"),
        None => format!("create {object}, or have the pod use another one"),
    };
    Text::new(message, "the kubelet retries automatically")
}

/// A container with a failing probe, and what that means.
pub(in super::super) fn probe(container: Option<&Str>, how: &str) -> Text {
    let name = container.map_or_else(|| "the container".to_owned(), |name| format!("container {name}"));
    Text::new(format!("fix {name}, whose probe fails"), how)
}

/// What the probe means is in the message.
pub(in super::super) const ACT_ON_KUBELET: &str = "act on the kubelet's message";

/// The same of a startup probe: the kubelet restarts the container for it.
pub(in super::super) const STARTS_TOO_SLOWLY: &str = "the kubelet restarts it once failureThreshold of the probe is reached: raise that if it only needs more time, or act on the kubelet's message";

/// The same of a liveness probe.
pub(in super::super) const RESTARTED_FOR_LIVENESS: &str = "the kubelet restarts it once failureThreshold of the probe is reached: add a startupProbe, or raise \
     initialDelaySeconds, if it only needs more time to start; otherwise act on the kubelet's message";

/// How the pod stays in spite of the taint, whose toleration may have no effect.
pub(in super::super) fn or_tolerate(taint: &Taint, lacks_effect: bool) -> String {
    if lacks_effect {
        return format!(
            "or set effect: NoExecute in the toleration of {} in the request: it counts for devices that are allocated from then on",
            taint.key
        );
    }
    format!(
        "a request that tolerates {}:{} without tolerationSeconds keeps its pods on the device",
        taint.key, taint.effect
    )
}

/// A pod that does not end with one of its containers.
pub(in super::super) fn end_the_rest(ended: &str, others: &[Str]) -> Text {
    Text::new(
        format!(
            "end the process of container {} if it only accompanies container {ended}",
            some(others)
        ),
        "the pod finishes then, whereas a Job runs a deleted pod again; as an init container with restartPolicy Always, it would end on its own",
    )
}

/// A pod that is not ready, without a probe that fails.
pub(in super::super) fn make_pod_ready() -> Text {
    Text::new("make the pod ready", "its condition Ready names the reason")
}

/// That the driver's owner has to remove a taint that evicts a pod.
pub(in super::super) fn lift_taint(device: &DeviceId, taint: &Taint, lacks_effect: bool) -> Text {
    Text::new(
        format!(
            "ask the owner of driver {} to remove taint {taint} from {device}",
            device.driver
        ),
        format!(
            "only the driver can remove it; {}",
            or_tolerate(taint, lacks_effect)
        ),
    )
}

/// A container that keeps exiting.
pub(in super::super) fn keeps_exiting(container: &str) -> Text {
    Text::new(
        format!("fix container {container}, which keeps exiting"),
        "check the logs of the container",
    )
}

/// A container that ends as if its work was done.
pub(in super::super) fn ends_without_error(container: &str) -> Text {
    Text::new(
        format!("give container {container} a command that keeps running, or run it in a Job"),
        "it ends without an error, and restartPolicy Always restarts it",
    )
}

/// The recreation of a Job.
pub(in super::super) fn recreate_job(job: &str) -> String {
    format!("recreate job/{job}")
}

/// Why a failed pod of a Job is not recreated.
pub(in super::super) const JOB_FAILED: &str =
    "the Job has failed and creates no more pods: fix the reason first";

/// The recreation of the pod.
pub(in super::super) const RECREATE: &str = "recreate the pod";

/// What a driver that runs again does not bring back.
pub(in super::super) const THEN_RECREATE: &str =
    "then recreate the pod: what the driver had prepared for it is lost";

/// The recreation of a pod that another scheduler has placed without its claim.
pub(in super::super) fn place_otherwise(scheduler: &str) -> String {
    format!(
        "let scheduler {scheduler} allocate claims, or let default-scheduler place the pod; then recreate it"
    )
}

/// The recreation of a pod that bypasses kube-scheduler, on the node with this host name.
pub(in super::super) fn place_by_label(owner: Option<&OwnerName>, hostname: &str) -> Text {
    let message = match owner {
        Some(owner) => format!(
            "replace nodeName in the pod template of {owner} with nodeSelector kubernetes.io/hostname: {hostname}"
        ),
        None => format!(
            "recreate the pod without spec.nodeName, with nodeSelector kubernetes.io/hostname: {hostname}"
        ),
    };
    Text::new(
        message,
        format!(
            "change that in the manifest of {}: kube-scheduler then allocates the claims, and places the pod on the node",
            maker(owner)
        ),
    )
}

/// The recreation of all pods on a node that use a claim.
pub(in super::super) const RECREATE_ALL: &str = "recreate the pods on this node that use the claim";

/// What comes before the recreation of a failed pod.
pub(in super::super) const FAILED: &str =
    "a failed pod never runs again: fix the reason first, then recreate the pod";

/// That a pod of an earlier revision has to go.
pub(in super::super) fn superseded(pod: &Key, owner: &str) -> (String, &'static str) {
    let why = match owner {
        "DaemonSet" => "the DaemonSet replaces no pod automatically (updateStrategy OnDelete)",
        _ => {
            "the StatefulSet replaces it automatically only once it is ready (kubernetes/kubernetes#67250), or never with OnDelete"
        }
    };
    (
        format!("delete pod/{pod}, which has an earlier pod template than its {owner}"),
        why,
    )
}

/// What a failed pod's owner created instead.
pub(in super::super) fn replaced_by(pod: &Key) -> String {
    format!("see pod/{pod}, which the pod's owner created after it")
}

/// That nothing is to be done about a failed pod.
pub(in super::super) const REPLACED: &str =
    "the owner replaces failed pods automatically: this one can be deleted";

/// That a pod with an unhealthy device gets another one.
pub(in super::super) const KEPT_OFF: &str = "its device has a taint, so that the new pod gets another one";

/// That a new pod gets no other device while this rule, or another source, keeps the taint there.
pub(in super::super) fn kept_out(rule: Option<&Str>) -> String {
    let ends = rule.map_or_else(
        || "its device has no taint".to_owned(),
        |rule| format!("devicetaintrule/{rule} is deleted"),
    );
    format!(
        "as things are, the new pod fits on no node: it stays pending until {ends}, or another device is free"
    )
}

/// What comes before the recreation of a pod with an unhealthy device.
pub(in super::super) fn unhealthy(device: &str) -> String {
    format!("taint {device} first, or it may be allocated again; then recreate the pod")
}

/// The eviction of a pod from an unhealthy device.
pub(in super::super) fn leave_unhealthy(device: &DeviceId) -> Text {
    Text::new(
        format!("taint {device}, so that new pods get other devices"),
        EVICTS_FROM_DEVICE,
    )
}

/// What comes before the recreation of a pod whose device is gone.
pub(in super::super) fn gone(node: &str) -> String {
    format!("check the device on {node} and the log of the driver there; the new pod gets another device")
}

/// What comes before the recreation of a pod whose claim others on the node use.
pub(in super::super) fn unused_first(others: &[String]) -> String {
    format!(
        "the driver prepares the claim again only once no pod on the node uses it; ask the owner of {} when it can be deleted",
        some(others)
    )
}

/// Devices that the kubelet has unprepared soon.
pub(in super::super) fn await_kubelet() -> Text {
    Text::new(
        "wait for the kubelet",
        "no action needed while the driver is running: within a minute the kubelet has it unprepare the earlier pod's devices, then starts \
         the pod",
    )
}

/// A feature that the kubelet lacks.
pub(in super::super) fn enable(gate: &str, node: &str, waits: bool) -> Text {
    Text::new(
        format!("ask an administrator to upgrade the kubelet on {node}, or to enable {gate} there"),
        if waits {
            "or keep such pods off the node"
        } else {
            "or keep such pods off the node; then recreate the pod, whose containers have no devices otherwise"
        },
    )
}

/// A kubelet that skips claims behind one that is prepared.
pub(in super::super) fn stop_skipping(skips: &Skips, node: &str) -> Text {
    Text::new(
        format!(
            "ask an administrator to upgrade the kubelet on {node} to {}",
            skips.fix
        ),
        format!(
            "until then, list claim {} last in the pod's resourceClaims: only claims behind it are skipped",
            skips.prepared.name
        ),
    )
}

/// A control plane that does not obey DeviceTaintRules.
pub(in super::super) fn enable_rules() -> Text {
    Text::new(
        format!(
            "ask an administrator whether {} is enabled",
            Gate::DRADeviceTaintRules
        ),
        "kube-apiserver, kube-scheduler and kube-controller-manager need it; until then, delete the pod to take it off the device",
    )
}

/// A kubelet that reads claims through a version that is not served.
pub(in super::super) fn upgrade(node: &str) -> Text {
    Text::new(
        format!("ask an administrator to upgrade the kubelet on {node} to the API server's release"),
        "or to have the API server serve the version that it reads (--runtime-config); kubelets before 1.34 read v1beta1",
    )
}

/// A kubelet that cannot read a claim.
pub(in super::super) fn let_read(node: &str, claim: &str, is_rejected: bool) -> Text {
    let how = if is_rejected {
        "the API server rejects it: the Node authorizer allows claims of pods that are bound to the node"
    } else {
        "the kubelet retries automatically"
    };
    Text::new(
        format!("ask an administrator why the kubelet on {node} cannot read claim/{claim}"),
        how,
    )
}

/// Devices that are no longer published.
pub(in super::super) fn publish(driver: &str, node: &str) -> Text {
    Text::new(
        format!("ask the owner of driver {driver} to publish its devices on {node} again"),
        "they are no longer published",
    )
}

/// A node whose kubelet has stopped reporting.
pub(in super::super) fn recover(node: &str) -> Text {
    Text::new(
        format!("ask an administrator why the kubelet of node/{node} stopped reporting"),
        "the node recovers once its kubelet reports again; if it is shut down for good, taint node.kubernetes.io/out-of-service:NoExecute \
         lets Kubernetes delete its pods",
    )
}

/// A node that does not exist.
pub(in super::super) fn await_garbage_collector() -> Text {
    Text::new(
        "wait until kube-controller-manager deletes the pod",
        "a controller above the pod creates another one; if the pod stays, check that kube-controller-manager is running",
    )
}

/// A node that is not ready, as its kubelet reports.
pub(in super::super) fn make_ready(node: &str) -> Text {
    Text::new(
        format!("ask an administrator to make node/{node} ready"),
        "the kubelet's message names the reason",
    )
}

/// A node without a network.
pub(in super::super) fn network(node: &str) -> Text {
    Text::new(
        format!("ask an administrator why the network plugin on {node} is not ready"),
        RETRIES,
    )
}

/// A kubelet whose logs are to be read, and why.
pub(in super::super) fn read(node: &str, why: &str) -> Text {
    Text::new(
        format!("ask an administrator to check the logs of the kubelet on {node}"),
        why,
    )
}

/// That a message of the kubelet is not recognized.
pub(in super::super) const UNRECOGNIZED: &str = "its message is unknown to this program";

/// That the kubelet does not report what keeps a pod that has ended.
pub(in super::super) const NOT_REMOVED: &str =
    "it removes a finished pod once its volumes are unmounted and its directories are deleted";

/// The deletion of a pod that the kubelet does not remove.
pub(in super::super) const FORCE_DELETE: &str = "force-delete the pod";

/// Why a pod may be deleted by force.
pub(in super::super) const NOTHING_PREPARED: &str =
    "none of its containers has run and no device is prepared for it, so nothing is left behind";

/// That the kubelet does not report why containers are not stopped.
pub(in super::super) const NOT_STOPPED: &str = "no event reports why the containers are not stopped";

/// A finalizer of another project.
pub(in super::super) fn drop_finalizer(names: &[&Str]) -> String {
    format!(
        "remove finalizer {} from the pod, if its controller is gone for good",
        some(names)
    )
}

/// A finalizer of Kubernetes.
pub(in super::super) fn await_finalizer(names: &[Str]) -> Text {
    Text::new(
        "wait until the controller removes its finalizer",
        format!("the controller that set {} removes it", some(names)),
    )
}

/// A finalizer whose controller runs.
pub(in super::super) fn await_controller(names: &[Str], controller: &Key) -> Text {
    Text::new(
        format!("wait until pod/{controller} removes finalizer {}", some(names)),
        "its controller is running, and removes the finalizer when its work is done, such as when the other pods of the group have finished; check its log if this takes longer",
    )
}

const GIVES_UP: &str = "kube-scheduler deallocates the claim and retries automatically";

/// A device that cannot be attached: what to do, without and with the right to taint it.
pub(in super::super) fn unattachable(device: &DeviceId, can_taint: bool) -> Text {
    let message = if can_taint {
        format!("taint {device} until it can be attached")
    } else {
        "wait until the scheduler retries".to_owned()
    };
    let how = format!(
        "{GIVES_UP}: it may allocate the same device again unless that is tainted; ask the owner of driver {} to repair it",
        device.driver
    );
    Text::new(message, how)
}

/// A device that its driver still assigns to a deleted claim.
pub(in super::super) fn avoid(device: &DeviceId, pod: &Key) -> Text {
    Text::new(
        format!("taint {device} until its driver has released it, and then recreate pod/{pod}"),
        "without the taint, the pod may get the same device again",
    )
}

/// A device that is not attached in time.
pub(in super::super) fn attach_in_time(driver: &str) -> Text {
    Text::new(
        format!("ask the owner of driver {driver} to attach the device in time"),
        format!("{GIVES_UP}, unless it is not running or has a longer bindingTimeout"),
    )
}

/// A permission that a driver lacks.
pub(in super::super) fn permit(denied: &Denial) -> Text {
    let Denial {
        verb,
        resource,
        group,
        ..
    } = denied;
    Text::new(
        crate::words::permit(denied),
        format!(
            "RBAC rule: apiGroups: [{group}], resources: [{resource}], verbs: [{verb}]; the driver then sets the condition, and kube-scheduler retries automatically"
        ),
    )
}

/// A device that is not attached yet.
pub(in super::super) fn attach() -> Text {
    Text::new(
        "wait until the driver attaches the device",
        "the driver's controller attaches the device and sets the condition",
    )
}

const NEWER_MANAGER: &str =
    "a newer k8s-driver-manager does not wait where no driver is loaded (NVIDIA/k8s-driver-manager#213)";

/// A driver that needs what waits for the end of a pod, which needs the driver.
pub(in super::super) fn break_circle(driver: &str, waiting: &Key, has_ended: bool) -> Text {
    let now = if has_ended {
        "; the containers of this pod have ended, so that deleting this pod by force ends the circle now"
    } else {
        ""
    };
    Text::new(
        format!(
            "ask an administrator to break a circle: pod/{waiting} waits until this pod is gone before it installs what driver {driver} needs, and the pod ends only with that driver"
        ),
        format!("{NEWER_MANAGER}{now}"),
    )
}

/// What comes once the cause is gone.
pub(in super::super) const RETRIES: &str = "the kubelet retries automatically";

/// A driver that does not run on a node.
pub(in super::super) fn restore(driver: &str, node: &str, what: &Restore<'_>) -> Text {
    let (what, how) = match what {
        Restore::Run => (format!("run it on {node}"), RETRIES.to_owned()),
        Restore::Labels(labels) => (
            format!(
                "run it on {node}, or label the node with {}, which its DaemonSet selects",
                super::labels_text(labels)
            ),
            RETRIES.to_owned(),
        ),
        Restore::Pod => (
            format!("check why its pod on {node} is not running"),
            RETRIES.to_owned(),
        ),
        Restore::Anywhere(own) => (
            "check whether it registers in the directory of the kubelets (--root-dir)".to_owned(),
            match own {
                Some(own) => format!("no kubelet has registered it, and its pods register in {own}"),
                None => "no kubelet has registered it".to_owned(),
            },
        ),
        Restore::Directory { own, other } => (
            format!("mount {other} on {node}"),
            format!("its installation uses {own} as the kubelet's directory"),
        ),
    };
    Text::new(ask_owner(&format!("driver {driver}"), &what), how)
}

/// An update of a DaemonSet that has stopped at its first pod.
pub(in super::super) fn undo_update(namespace: &str, set: &str) -> Text {
    Text::new(
        format!("undo the update of daemonset/{namespace}/{set}, or correct what is new in its pod template"),
        "the DaemonSet then replaces this pod; it updates no other node until it is ready",
    )
}

/// What a driver needs to run on a node.
pub(in super::super) enum Restore<'a> {
    /// A pod there.
    Run,
    /// The same, and the node lacks these labels, which it has to have.
    Labels(&'a [(Str, Str)]),
    /// Its pod running.
    Pod,
    /// The directory of kubelets other than the one that its pods mount.
    Anywhere(Option<&'a Str>),
    /// The kubelet's directory.
    Directory {
        /// The one it uses.
        own: &'a str,
        /// The one of other drivers.
        other: &'a str,
    },
}

/// A driver that registers, or a kubelet that started.
pub(in super::super) fn await_driver(driver: &str, node: &str) -> Text {
    Text::new(
        format!(
            "wait until driver {driver} is registered with the kubelet on {node}: one of them started less than 2 minutes ago"
        ),
        "no action needed: the kubelet continues automatically; if it does not, check the logs of the driver's pod",
    )
}

/// A driver whose pod was created just now.
pub(in super::super) fn await_start(driver: &str, node: &str) -> Text {
    Text::new(
        format!("wait until driver {driver} has started on {node}"),
        format!(
            "no action needed: the kubelet retries automatically; if its pod is not ready within {} minutes, check the pod's logs",
            STARTING_SECONDS / 60
        ),
    )
}

/// A driver whose pod is older than one that works elsewhere, or than what it depends on.
pub(in super::super) fn restart_older(pod: &Key, node: &str, since: Time, newer: &Newer) -> Text {
    let newer = match newer {
        Newer::Elsewhere(other) => format!("{other}, where the driver prepares claims, has a newer one"),
        Newer::Installer(other, start) => {
            format!("pod/{other}, which installs what it gives to containers, started at {start}")
        }
    };
    Text::new(
        format!("restart pod/{pod}, the driver's pod on {node}"),
        format!("it runs since {since}, and {newer}; pods on the node keep their devices"),
    )
}

/// A driver that has to register again.
pub(in super::super) fn restart(driver: &str, node: &str) -> Text {
    Text::new(
        format!("restart the pod of driver {driver} on {node}, so that it registers again"),
        "if the pod has just become ready, the kubelet continues automatically within a minute or two",
    )
}

/// A taint that keeps a driver off a node.
pub(in super::super) fn tolerate(namespace: &str, set: &str, taint: &Taint, node: &str) -> Text {
    Text::new(
        format!("let daemonset/{namespace}/{set} tolerate taint {taint} of {node}"),
        "ask the driver's owner whether it should run on such nodes",
    )
}

/// What to do about a broken link of a driver.
pub(crate) fn link(driver: &str, link: &BrokenLink) -> String {
    let what = match link {
        BrokenLink::Refused(refused) if let Some(webhook) = Webhook::uncallable(&refused.message) => {
            return format!("ask an administrator to {}", restore_webhook(&webhook));
        }
        BrokenLink::Refused(refused) if is_of_pod_security(&refused.message) => {
            "label its namespace with pod-security.kubernetes.io/enforce=privileged, if its pods may be privileged"
        }
        BrokenLink::Refused(refused) if is_of_quota(&refused.message) => {
            "let its namespace admit its pods, for example with a ResourceQuota for their priority class"
        }
        BrokenLink::Refused(refused) if refused.message.contains("security context constraint") => {
            "grant the service account of its pods a SecurityContextConstraints that admits them, such as privileged"
        }
        BrokenLink::Refused(_) => "fix what the API server rejects in its pods",
        BrokenLink::NoPod(
            _,
            Some(KeptOff::Paused {
                label, has_failed, ..
            }),
        ) => {
            let what = if *has_failed {
                "repair the change of the node, which has paused the driver (the operator's log says why it failed)"
            } else {
                "check whether the operator makes progress with its change of the node, which has paused the driver"
            };
            return format!(
                "ask an administrator to {what}: the operator sets {label} back itself once it is done"
            );
        }
        BrokenLink::NoPod(_, Some(KeptOff::Taint(_))) => {
            "let its DaemonSet tolerate the taint, if it should run on such nodes"
        }
        BrokenLink::NoPod(..) => "check whether it should run on such nodes",
        BrokenLink::Unselected(..) => {
            "correct what it selects nodes by, or check what should set these labels on nodes"
        }
        BrokenLink::NotReady(_, Some(Doing::Failing(message, ..))) if lacks_sandbox_image(message) => {
            return "ask an administrator to let the container runtime of the node pull its sandbox image, which its configuration names: no pod starts there until then".to_owned();
        }
        BrokenLink::NotReady(_, Some(Doing::Failing(..))) => {
            "fix what keeps the kubelet from starting its pod"
        }
        BrokenLink::Failed(_, failure) if failure.is_of_resource() => {
            "request less for its pod, or to free what it requests on the node"
        }
        BrokenLink::Circle(_, pod) => {
            return format!("ask an administrator to end the circle: {NEWER_MANAGER}; see pod/{pod}");
        }
        BrokenLink::Crashing(pod, waiting) => {
            let mut ends = waiting.end.iter();
            let what = if ends.any(|end| end.reason == "OOMKilled") {
                format!(
                    "raise the memory limit of container {} of pod/{pod}",
                    waiting.container
                )
            } else {
                format!(
                    "check why pod/{pod} is not running, or to keep it off the node if that has no such devices"
                )
            };
            return ask_owner(&format!("driver {driver}"), &what);
        }
        BrokenLink::Pending(_, Unplaced { port: Some(_), .. }) => {
            "give its pod another port of the node, or the pod that has that one"
        }
        BrokenLink::Pending(..) | BrokenLink::NotReady(..) | BrokenLink::Failed(..) => {
            "check why its pod is not running"
        }
        BrokenLink::Forbidden(..) => {
            "let its service account write resourceslices (ClusterRole and ClusterRoleBinding)"
        }
        BrokenLink::NoDevices(_) => "check the logs of its pod for why it finds no devices",
        BrokenLink::Silent(_) => "check the logs of its pod for why it publishes nothing",
    };
    ask_owner(&format!("driver {driver}"), what)
}

/// Returns whether the container runtime lacks the image of all sandboxes, in the words of containerd (`internal/cri/server/sandbox_run.go`).
fn lacks_sandbox_image(message: &str) -> bool {
    message.contains("failed to get sandbox image")
}

/// Returns whether the API server refuses a pod for the Pod Security Standard of its namespace. Mirrors `pod-security-admission/admission/admission.go`,
/// `EvaluatePod`, v1.37.2.
fn is_of_pod_security(message: &str) -> bool {
    message.contains("violates PodSecurity ")
}

/// Returns whether the API server refuses a pod for a quota. Mirrors `resourcequota/controller.go`, `checkRequest`, v1.37.2.
fn is_of_quota(message: &str) -> bool {
    message.contains("exceeded quota") || message.contains("insufficient quota") || message.contains("quota:")
}
