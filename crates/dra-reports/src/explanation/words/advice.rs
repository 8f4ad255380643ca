//! Fixes that nothing proves to help: what to do, with what follows or who can do it.

use dra_model::{
    Component, DeviceId, Event, Gate, Key, Kind, NodeSelector, Owner, Pod, PoolId, Quantity, Str, Taint,
    TaintRule, Time,
};
use dra_rules::kubelet::{
    BrokenLink, KeptOff, MANY_TIMEOUTS, PodStage, STARTING_SECONDS, Waiting, unscheduled,
};
use dra_rules::owners::ShutQueue;
use dra_rules::quota::Refusal;
use dra_rules::reservation::{Unlisted, UnlistedDevices, manager};
use dra_rules::scheduling::{KnownBug, fixed_in};
use dra_rules::validation::Webhook;

use super::super::coming::NoNode;
use super::super::diagnosis::Unserved;
use super::super::items::FixItem;
use super::super::namesake::Namesake;
use super::fixes::{Before, release};
use super::{listed, one_or_many};
use crate::allocation::words::pod;
use crate::listing::{selector_terms, some};
use crate::remedy::Remedy;
use crate::script::{
    Command, Resource, delete_in, describe, describe_device, describe_node, describe_pool, label_nodes, touch,
};
use crate::stage::{
    Advice, Subject, asked_text, cause_text, labels_text, logs_of, look_at_link, mend_link, with_crashing,
};
use crate::words::{republish, restore_webhook};

/// Nodes and drivers.
impl FixItem {
    /// Adds a node like `model`, which a simulation shows to help.
    pub(in super::super) fn add_node_like(model: &Str) -> Self {
        let fix = Self::by_hand(
            "AddNode",
            format!("node/{model}"),
            format!("add a node like {model}"),
            "with the same labels, resources and devices: ask an administrator of the cluster",
        );
        Self {
            proven: true,
            minimal: true,
            ..fix
        }
    }

    /// Adds a node, which an autoscaler does not do, with what it said of its last attempt.
    pub(in super::super) fn add_node(event: &Event, why: NoNode, failure: Option<&Event>) -> Self {
        let pod = &event.involved_object;
        let said = failure.map_or_else(String::new, |event| {
            let said = event.message.trim();
            let said = said
                .strip_suffix("Pod is at risk of not being scheduled.")
                .unwrap_or(said);
            format!(": {}", said.trim_end().trim_end_matches('.'))
        });
        let (why, how) = match why {
            NoNode::Maximum => (
                "because a node group has reached its maximum size",
                "ask an administrator of the cluster to raise the maximum size of the node group",
            ),
            NoNode::Failed => (
                "because its last attempt has failed",
                "ask an administrator of the cluster why nodes of the node group cannot be added; where the cloud has no such machines left, nodes of another zone or type may do, or a reservation",
            ),
            NoNode::Limits => (
                "because a NodePool has reached its limits",
                "ask an administrator of the cluster to raise spec.limits of the NodePool",
            ),
            NoNode::Devices => (
                "because it knows no type of node with such devices",
                "ask an administrator of the cluster for a node group with a fixed size, or for a NodePool with such devices",
            ),
            NoNode::Claims => (
                "because the pod has claims",
                "ask an administrator of the cluster to set settings.ignoreDRARequests to false (IGNORE_DRA_REQUESTS=false), with a Karpenter that supports claims, or for a node group with a fixed size",
            ),
        };
        Self::by_hand(
            "AddNode",
            format!("pod/{}/{}", pod.namespace, pod.name),
            format!(
                "add a node with such devices: {} adds none, {why}{said}",
                event.component()
            ),
            how,
        )
    }

    /// Has a queue take pods that its scheduler takes nothing from, or another one used.
    pub(in super::super) fn of_queue(queue: &ShutQueue) -> Self {
        let ShutQueue { name, state, alike } = queue;
        let message = match (state, alike.as_slice()) {
            (Some(_), _) => format!("open queue {name}, or create the pod in another queue"),
            (None, []) => format!("create queue {name}, or create the pod in a queue that exists"),
            (None, alike) => format!(
                "create the pod in queue {} instead, or create queue {name}",
                some(alike)
            ),
        };
        let how = if state.is_some() {
            "an administrator of the queues opens it: vcctl queue operate --action=open --name=QUEUE"
        } else {
            "label kai.scheduler/queue, or for Volcano annotation scheduling.volcano.sh/queue-name, of new pods names the queue: change it in the owner of the pod, if there is one"
        };
        Self::by_hand("AwaitGate", format!("queue/{name}"), message, how)
    }

    /// Acts on what another scheduler says.
    pub(in super::super) fn heed(scheduler: &Str) -> Self {
        let target = format!("scheduler/{scheduler}");
        let message = format!("act on the message of scheduler {scheduler}");
        let how = "it follows rules of its own, which are not simulated; its log may show more";
        Self::by_hand("AwaitGate", target, message, how)
    }

    /// Waits for the node that an autoscaler is adding for the pod.
    pub(in super::super) fn await_scale_up(event: &Event) -> Self {
        let component = event.component();
        Self::await_node(
            "node",
            format!("wait for the node that {component} is adding for the pod"),
        )
    }

    /// Waits for nodes that were added just now, `first` among them.
    pub(in super::super) fn await_nodes(first: &Str, nodes: &[Str]) -> Self {
        let (was, is) = one_or_many(nodes.len(), ("was", "is"), ("were", "are"));
        let named = some(nodes.iter().map(|node| format!("node/{node}")));
        let message =
            format!("wait until {named}, which {was} added less than 10 minutes ago, {is} ready for the pod");
        Self::await_node(format!("node/{first}"), message).look(describe_node(first))
    }

    /// Waits for what drivers publish again for nodes whose kubelets have just started.
    pub(in super::super) fn await_publishing(nodes: &[Str]) -> Option<Self> {
        let first = nodes.first()?;
        let message = format!(
            "wait until drivers publish their devices for {} again",
            some(nodes)
        );
        Some(Self::await_node(format!("node/{first}"), message))
    }

    fn await_node(target: impl Into<String>, message: String) -> Self {
        Self::by_hand(
            "AwaitNode",
            target,
            message,
            "no action needed, unless this takes longer than new nodes usually need: then check the node, its taints and the pods of the driver there",
        )
    }

    /// Waits until an operator has updated a node, which is cordoned meanwhile.
    pub(in super::super) fn await_update(node: &Str, key: &Str, state: &Str) -> Self {
        Self::by_hand(
            "AwaitNode",
            format!("node/{node}"),
            format!("wait until node/{node} is updated; it is cordoned meanwhile ({key}: {state})"),
            "no action needed: the operator that updates the node uncordons it; check that operator if this takes long",
        )
    }

    /// Has an operator finish the update of a node, which has been cordoned for longer than that takes, with its pod that does not run.
    pub(in super::super) fn finish_update(
        node: &Str,
        key: &Str,
        state: &Str,
        operator: Option<&PodStage<'_>>,
    ) -> Self {
        let pod = operator.map(|found| found.pod.key());
        let (operator_name, look) = match &pod {
            Some(pod) => (format!("pod/{pod}, which is not running"), logs_of(pod)),
            None => (format!("what sets {key} on node/{node}"), describe_node(node)),
        };
        let why = operator.and_then(|found| {
            let stuck = found.stuck.as_ref()?;
            Some(cause_text(&stuck.cause, &Subject::of(found.pod)))
        });
        let how = Remedy::by_hand(
            "the operator that updates the node uncordons it; an administrator can uncordon it by hand once the node is updated",
        );
        Self::unproven(
            "RestoreNode",
            format!("node/{node}"),
            format!(
                "ask an administrator to check {operator_name}: the node is still cordoned for an update that began at {state}"
            ),
            why.into_iter().fold(how, Remedy::note),
        )
        .look(look)
    }

    /// Makes a node ready whose devices are not published, and whose taint keeps the pods of a DaemonSet off that would publish them.
    pub(in super::super) fn restore_node(node: &Str, how: Remedy, kept_off: Option<&Key>) -> Self {
        let how = kept_off.into_iter().fold(how, |how, set| {
            how.note(format!(
                "daemonset/{set} does not tolerate the taint: let it, if the taint is removed only once the driver runs"
            ))
        });
        Self::unproven(
            "RestoreNode",
            format!("node/{node}"),
            format!("make node/{node} ready; its devices are not published until then"),
            how,
        )
        .look(describe_node(node))
    }

    /// Has a node get the labels back that the allocation of a claim selects: the one where pods run with it, if that is known.
    pub(in super::super) fn restore_labels_of(
        claim: &Key,
        node: Option<&Str>,
        selector: &NodeSelector,
    ) -> Self {
        let (target, node) = match node {
            Some(node) => (format!("node/{node}"), format!("node/{node}")),
            None => (
                format!("claim/{claim}"),
                format!("the node that has the devices of claim/{claim}"),
            ),
        };
        let terms = selector_terms(selector).join(" or ");
        let how = "ask an administrator which labels the node should have";
        Self::restore_all(target, format!("restore the labels of {node}: {terms}"), how)
    }

    /// Has a node get the labels back that the node selector of a pod requires.
    pub(in super::super) fn restore_labels(node: &Str, labels: &[String]) -> Self {
        let labels = labels.join(", ");
        Self::restore_all(
            format!("node/{node}"),
            format!("restore the labels of node/{node}: {labels}"),
            "ask an administrator which labels the node should have; pods of the same owner were there",
        )
    }

    fn restore_all(target: String, message: String, how: &str) -> Self {
        Self::by_hand("RestoreNode", target, message, how)
            .look(Command::kubectl("get").args(&["nodes", "--show-labels"]).done())
    }

    /// Has a node get huge pages, where it has none and others have enough.
    pub(in super::super) fn set_up_huge_pages(node: &Str, resource: &Str, wanted: &Quantity) -> Self {
        Self::by_hand(
            "RestoreNode",
            format!("node/{node}"),
            format!("set up {resource} on node/{node}, which has none: the pod requests {wanted}"),
            "ask an administrator: compare the kernel arguments, or the profile that sets them, with those of nodes that have huge pages",
        )
    }

    /// Has a kubelet restarted that does not reach a driver any more, until it is a release without the bug.
    pub(in super::super) fn restart_kubelet(node: &Str) -> Self {
        Self::by_hand(
            "UpgradeKubelet",
            format!("node/{node}"),
            format!("restart the kubelet of node/{node}, and upgrade it"),
            "ask an administrator; the bug comes back until the kubelet is upgraded, and a new pod is stuck, too",
        )
    }

    /// Ends the containers that keep a pod running, which has devices and whose work is done.
    pub(in super::super) fn end_rest(holder: &Key, advice: Advice) -> Self {
        let fix = Self::of_advice(advice);
        let message = format!("in {}, {}", pod(holder), fix.message);
        Self { message, ..fix }
    }

    /// Has a claim that has all of a capacity request an amount that leaves enough of it.
    pub(in super::super) fn ask_amount(
        maker: &str,
        capacity: &str,
        rest: &Quantity,
        users: impl Iterator<Item = Key>,
    ) -> Self {
        let users = listed(users.map(|user| pod(&user)), "and");
        Self::by_hand(
            "LessCapacity",
            maker,
            format!(
                "request at most {rest} of {capacity} in {maker} (capacity.requests), and recreate {users}"
            ),
            "a request without an amount gets all that a device has, unless its driver publishes a default",
        )
    }

    /// Has a class leave out devices without what its selector reads.
    pub(in super::super) fn guard_class(class: &str, selector: &str) -> Self {
        Self::by_hand(
            "GuardSelector",
            format!("deviceclass/{class}"),
            format!("ask an administrator to change the selector of deviceclass/{class} to `{selector}`"),
            "devices without the attribute are left out then; now each attempt fails on them",
        )
    }

    /// Waits for what drivers that were started just now publish for nodes.
    pub(in super::super) fn await_drivers(nodes: &[Str]) -> Self {
        let target = nodes.first().map(|node| format!("node/{node}"));
        let named = some(nodes.iter().map(|node| format!("node/{node}")));
        Self::by_hand(
            "AwaitDriver",
            target.unwrap_or_default(),
            format!(
                "wait until the driver has published its devices for {named}: its pod there started less than {} minutes ago",
                STARTING_SECONDS / 60
            ),
            "no action needed; if this takes longer, check the logs of the driver's pod there",
        )
    }

    /// Waits until a driver has published all slices of a pool.
    pub(in super::super) fn await_pool(pool: &PoolId) -> Self {
        Self::by_hand(
            "AwaitNode",
            format!("pool/{pool}"),
            format!(
                "wait until the driver has published all slices of pool/{pool}, which it usually does within a minute"
            ),
            "no action needed, unless this takes longer: then check the logs of the driver's pods",
        )
    }

    /// Takes a device plugin off a node whose hardware a driver publishes, once the pods have moved that keep what they have from it. None of the
    /// resource where it offers no more.
    pub(in super::super) fn stop_plugin(node: &Str, resource: Option<&Str>, users: &[Key]) -> Self {
        let stop =
            resource.map(|resource| format!("stop the device plugin that offers {resource} on {node}"));
        let named = listed(users.iter().map(pod), "and");
        let moves = (!users.is_empty()).then(|| format!("move {named} off {node}"));
        let how = if users.is_empty() {
            "while both offer the hardware, kube-scheduler uses the device plugin for pods that request the resource, and neither counts what the \
             other has allocated; or request the devices by a claim on nodes without a device plugin"
        } else {
            "a pod keeps what a device plugin gave it until it ends, and kube-scheduler does not count that for claims: another pod can get the \
             same hardware before. Then claims can replace the plugin there"
        };
        let steps: Vec<String> = moves.into_iter().chain(stop).collect();
        Self::by_hand("StopPlugin", format!("node/{node}"), steps.join(", then "), how)
    }

    /// Has a driver name its pools after the nodes that they are of.
    pub(in super::super) fn name_pools(pool: &PoolId) -> Self {
        let message = "ask the driver's owner to give the pool of each node a name of its own, such as that of the node";
        let how = "kube-scheduler identifies a device by driver, pool and name";
        Self::of_driver(&pool.driver, message.to_owned(), how).look(describe_pool(pool))
    }

    /// Has a driver publish the slices that a pool lacks.
    pub(in super::super) fn complete_pool(pool: &PoolId) -> Self {
        let message = format!("ask the driver's owner to publish all slices of pool/{pool}");
        Self::of_driver(&pool.driver, message, republish(&pool.driver)).look(describe_pool(pool))
    }

    /// Has a driver correct the slices of a pool that contradict each other.
    pub(in super::super) fn correct_pool(pool: &PoolId) -> Self {
        let message = format!("ask the driver's owner to correct the slices of pool/{pool}");
        let how = "kube-scheduler allocates no device of a pool that contradicts itself";
        Self::of_driver(&pool.driver, message, how).look(describe_pool(pool))
    }

    /// Has a driver publish its devices. Which it would publish cannot be known, so it cannot be proven to help.
    pub(in super::super) fn serve(unserved: &Unserved) -> Self {
        let Unserved { driver, nodes, link } = unserved;
        let message = match link {
            BrokenLink::Unselected(set, kept_off) => format!(
                "add a node with {}, which daemonset/{set} selects, or label the nodes that have devices",
                asked_text(kept_off)
            ),
            _ => format!(
                "ask the owner of driver {driver} to publish its devices for {}",
                some(nodes)
            ),
        };
        Self::of_driver(driver, message, mend_link(driver, link)).look(look_at_link(link))
    }

    /// Labels nodes so that the DaemonSet of a driver selects them.
    pub(in super::super) fn label_nodes(
        driver: &str,
        set: &Key,
        nodes: &[&Str],
        labels: &[(Str, Str)],
    ) -> Self {
        let named = some(nodes.iter().map(|node| format!("node/{node}")));
        let type_ = one_or_many(nodes.len(), "its type", "their type");
        let message = format!(
            "label {named} with {}, which daemonset/{set} selects",
            labels_text(labels)
        );
        let how = format!(
            "ask an administrator first what should set it: other nodes of {type_} have devices of driver {driver}"
        );
        let label = Remedy::command(label_nodes(nodes, labels)).note(how);
        let look = describe(Resource::called("daemonset"), set);
        Self::unproven("RestoreDriver", format!("driver/{driver}"), message, label).look(look)
    }

    /// Has the group of nodes scaled up that a driver selects, as an autoscaler does not.
    pub(in super::super) fn scale_group(set: &Key, asked: &KeptOff, autoscaler: &str) -> Self {
        Self::by_hand(
            "AddNode",
            format!("daemonset/{set}"),
            format!(
                "add a node with {}, which daemonset/{set} selects: scale up its node group by hand, or raise the minimum size of the group",
                asked_text(asked)
            ),
            format!(
                "ask an administrator of the cluster; {autoscaler} does not know which devices the nodes of a group without nodes would have"
            ),
        )
    }

    /// Has a driver publish for nodes that exist, such as the one that is `meant`, and not for `named`.
    pub(in super::super) fn serve_other(driver: &Str, named: &Str, meant: Option<&Str>) -> Self {
        let instead = meant.map_or_else(String::new, |meant| format!(", such as node/{meant}"));
        let message = format!(
            "have driver {driver} publish its devices for nodes that exist{instead}: node/{named} does not"
        );
        let how = "a driver gets the name of its node from spec.nodeName of its pod; a host name may be another one";
        Self::of_driver(driver, message, how)
    }

    /// Has a driver publish devices of a class, or any where it `is_absent`.
    pub(in super::super) fn serve_class(driver: &Str, class: &Str, is_absent: bool) -> Self {
        let (message, how) = if is_absent {
            (
                format!("have driver {driver} publish devices"),
                "install the driver, or enable these devices in its installation".to_owned(),
            )
        } else {
            (
                format!("have driver {driver} publish devices of class {class}, or request another class"),
                format!(
                    "no device that the driver publishes is of class {class}: check how the devices of its nodes are set up, such as their partitions"
                ),
            )
        };
        let explain = Command::dra("explain").here();
        Self::of_driver(driver, message, how).look(explain.object(Resource::called("driver"), driver).done())
    }

    fn of_driver(driver: &Str, message: String, how: impl Into<String>) -> Self {
        Self::by_hand("RestoreDriver", format!("driver/{driver}"), message, how)
    }

    /// Keeps a DaemonSet off nodes that are not meant to have devices.
    pub(in super::super) fn keep_off(set: &Key, nodes: &[Str], labels: &[(Str, Str)]) -> Self {
        Self::by_hand(
            "RelaxPlacement",
            format!("daemonset/{set}"),
            format!(
                "keep daemonset/{set} off {}, which the driver is not meant to serve",
                some(nodes)
            ),
            format!("set nodeSelector {} in its pod template", labels_text(labels)),
        )
    }

    /// Has devices repaired that a taint reports to be unhealthy.
    pub(in super::super) fn repair_devices(devices: &[DeviceId], taint: &Taint) -> Option<Self> {
        let first = devices.first()?;
        let named = some(devices.iter().map(|device| format!("device/{device}")));
        let fix = Self::by_hand(
            "RepairDevice",
            format!("device/{first}"),
            format!("ask an administrator to repair {named}, reported unhealthy by taint {taint}"),
            "what taints the devices removes the taint once they are healthy: a driver automatically, a DeviceTaintRule by its owner",
        );
        Some(fix.look(describe_device(first)))
    }

    /// Has an unhealthy device of a node repaired.
    pub(in super::super) fn repair_devices_of(node: &Str) -> Self {
        Self::by_hand(
            "RepairDevice",
            format!("node/{node}"),
            format!("ask an administrator to repair the device, or to restart node/{node}"),
            "a restart ends all pods on the node: drain it first",
        )
    }

    /// Has a Deployment run again that may set a binding condition.
    pub(in super::super) fn scale_up(deployment: &Key, condition: &str) -> Self {
        let scale = Command::kubectl("scale");
        let scale = scale.object(Resource::called("deployment"), &deployment.name);
        let scale = scale.option("--replicas", "1").namespace(&deployment.namespace);
        Self::unproven(
            "RestoreDriver",
            format!("deployment/{deployment}"),
            format!("scale up deployment/{deployment}, which has 0 replicas, if it is what sets {condition}"),
            Remedy::command(scale.done())
                .note("its name suggests that; kube-scheduler retries automatically"),
        )
    }

    /// Narrows a rule that names a device of these pools, which is of use on `nodes` then.
    pub(in super::super) fn narrow_rule(
        rule: &TaintRule,
        device: &str,
        pools: &[PoolId],
        nodes: Vec<Str>,
    ) -> Self {
        let target = format!("devicetaintrule/{}", rule.metadata.name);
        let message = format!(
            "set spec.deviceSelector.pool of {target}, if it is meant for one pool: it taints device {device} of {}",
            some(pools.iter().map(|pool| format!("pool/{pool}")))
        );
        let how = "without a pool, a rule is for the devices of that name of every pool and node";
        Self {
            proven: true,
            minimal: true,
            nodes,
            ..Self::by_hand("LiftTaint", target, message, how)
        }
    }

    /// Waits until the driver of a device sets a binding condition: until that time, after so many attempts that timed out.
    pub(in super::super) fn await_binding(
        condition: &str,
        device: &str,
        claim: &Key,
        until: Option<Time>,
        timeouts: i64,
        down: impl Iterator<Item = (Key, Waiting)>,
    ) -> Self {
        let target = format!("condition {condition} of device {device} in claim/{claim}");
        let message = if timeouts < MANY_TIMEOUTS {
            format!("wait until the driver sets {target} to true")
        } else {
            format!("ask the driver's owner why nothing sets {target} to true: {timeouts} attempts timed out")
        };
        let until = until.map_or_else(String::new, |until| {
            format!(
                "; otherwise kube-scheduler deallocates the claim at {until} and retries (bindingTimeout, 10 minutes by default)"
            )
        });
        let who = format!("the driver of device {device} attaches it and sets the condition{until}");
        let look = Command::dra("describe")
            .here()
            .claim(&claim.namespace, &claim.name);
        let how = with_crashing(Remedy::by_hand(who), down);
        Self::unproven("AwaitBinding", target, message, how).look(look.done())
    }
}

/// Claims.
impl FixItem {
    /// Deletes a claim that no pod uses.
    pub(in super::super) fn delete_unused(claim: &Key) -> Self {
        let delete = Remedy::command(delete_in(&claim.namespace, Kind::ResourceClaim, [&claim.name]));
        Self::unproven(
            "ReleaseClaim",
            format!("claim/{claim}"),
            release(claim, &Before::Idle),
            delete.note("only if no pod is to use it later"),
        )
    }

    /// Waits for kube-scheduler to delete what its earlier attempt left, or deletes it where it `lasts`.
    pub(in super::super) fn delete_left(claim: &Key, lasts: bool) -> Self {
        let target = format!("claim/{claim}");
        if !lasts {
            return Self::by_hand(
                "WaitForDeletion",
                target.clone(),
                format!("wait until kube-scheduler deletes {target} of its earlier attempt"),
                "no action needed: it tries the pod again automatically",
            );
        }
        let delete = Remedy::command(delete_in(&claim.namespace, Kind::ResourceClaim, [&claim.name]));
        Self::unproven(
            "ReleaseClaim",
            target.clone(),
            format!("delete {target}, which an earlier attempt of kube-scheduler left"),
            delete.note("kube-scheduler has not deleted it for minutes: check that it is running"),
        )
    }

    /// Has the claim controller remove what pods with these names that are gone have left in the claim.
    pub(in super::super) fn remove_former(claim: &Key, names: Vec<Str>) -> Self {
        Self::unproven(
            "ReleaseClaim",
            format!("claim/{claim}"),
            release(claim, &Before::Former(names)),
            Remedy::command(touch(Kind::ResourceClaim, claim)),
        )
    }

    /// Has the pod, and each other one of its owner, get a claim of its own, for this reason.
    pub(in super::super) fn share_no_claim(pod: &Pod, claim: &Key, why: &str) -> Self {
        let target = format!("pod/{}", pod.key());
        let owner = pod.metadata.controller().map(manager);
        let who = owner.map_or_else(|| target.clone(), |owner| format!("each pod of {owner}"));
        Self::by_hand(
            "RelaxPlacement",
            target,
            format!("give {who} a claim of its own, from a claim template, instead of claim/{claim}"),
            why,
        )
    }

    /// Lets the users of a namespace ask for admin access, whose label has this value.
    pub(in super::super) fn allow_admin_access(namespace: &Str, value: Option<&str>) -> Self {
        // kubectl changes an existing label only with that option.
        let label = Command::kubectl("label")
            .object(Kind::Namespace, namespace)
            .args(if value.is_some() { &["--overwrite"] } else { &[] })
            .arg("resource.kubernetes.io/admin-access=true");
        let value = value.map(|value| format!(", whose label has the value {value:?}: only \"true\" counts"));
        Self::unproven(
            "AllowAdminAccess",
            format!("namespace/{namespace}"),
            format!("allow admin access in namespace/{namespace}{}", value.unwrap_or_default()),
            Remedy::command(label.done()).note(
                "ask a cluster administrator: all users who can create claims in the namespace can then access all devices",
            ),
        )
    }

    /// Has a webhook answer that the API server has to ask.
    pub(in super::super) fn restore_webhook(webhook: &Webhook) -> Self {
        let target = match &webhook.service {
            Some(service) => format!("service/{service}"),
            None => webhook.name.to_string(),
        };
        let fix = Self::by_hand(
            "RestoreWebhook",
            target,
            restore_webhook(webhook),
            "ask its owner or an administrator; what the API server rejects now is created once the webhook answers",
        );
        match &webhook.service {
            Some(service) => fix.look(describe(Resource::called("service"), service)),
            None => fix,
        }
    }

    /// Has kube-controller-manager run again, which is down as far as its silence tells.
    pub(in super::super) fn restore_controllers() -> Self {
        let look = Command::kubectl("get").arg("pods").namespace("kube-system");
        Self::by_hand(
            "RestoreController",
            Component::ControllerManager.to_string(),
            "ask an administrator to check that kube-controller-manager is running",
            "it creates the claim once it runs; if it is running, check its log",
        )
        .look(
            look.option("--selector", "component=kube-controller-manager")
                .done(),
        )
    }

    /// Raises a quota that refuses pods: one that admits no pod that requests as much where it `lacks_use`.
    pub(in super::super) fn raise_quota(quota: &Key, lacks_use: bool) -> Self {
        let target = format!("resourcequota/{quota}");
        let message = if lacks_use {
            format!("request less in each pod, or raise {target}, which has nothing in use")
        } else {
            raise(&target, "pods")
        };
        let how = "ask an administrator of the namespace; the owner creates its pods automatically once the quota admits them";
        Self::by_hand("RaiseQuota", target, message, how).look(describe(Kind::ResourceQuota, quota))
    }

    /// Raises a quota that refuses a claim; other pods of the owner may have such claims, and end where `ends` says so.
    pub(in super::super) fn raise_quota_of_claims(
        refusal: &Refusal<'_>,
        owner: Option<(&str, bool)>,
        how: Remedy,
    ) -> Self {
        let quota = &refusal.quota.metadata.key();
        let target = format!("resourcequota/{quota}");
        let message = match owner {
            _ if refusal.is_too_large() => format!("request fewer devices in the claim, or raise {target}"),
            Some((owner, true)) => {
                format!(
                    "wait until a pod of {owner} ends whose claim counts against {target}, or raise {target}"
                )
            }
            Some((owner, false)) => {
                format!("run fewer pods of {owner}, whose claims count against {target}, or raise {target}")
            }
            None => raise(&target, "claims"),
        };
        Self::unproven("RaiseQuota", target, message, how).look(describe(Kind::ResourceQuota, quota))
    }
}

/// That a quota has to be raised.
fn raise(quota: &str, counted: &str) -> String {
    format!("raise {quota}, or wait until {counted} that count against it are gone")
}

/// Objects that are missing.
impl FixItem {
    /// Creates an object that is missing, unless the one that was `found` is meant.
    pub(in super::super) fn create(kind: Kind, missing: &Key, found: Option<&Namesake>) -> Self {
        let (code, target, whom) = match kind {
            Kind::DeviceClass => (
                "CreateClass",
                format!("deviceclass/{}", missing.name),
                "ask an administrator for it (usually installed with the driver)",
            ),
            Kind::ResourceClaimTemplate => (
                "CreateTemplate",
                format!("resourceclaimtemplate/{missing}"),
                "ask the owner of the pod what its claims should request",
            ),
            _ => (
                "CreateClaim",
                format!("claim/{missing}"),
                "ask the owner of the pod what the claim should request",
            ),
        };
        let (message, how) = match found {
            Some(Namesake::Similar(key)) => (format!("name {} instead, or create {target}", key.name), whom),
            Some(Namesake::Elsewhere(_)) => (
                format!("create {target}"),
                "copy that of the other namespace, or create the pod in that namespace instead",
            ),
            None => (format!("create {target}"), whom),
        };
        Self::by_hand(code, target, message, how)
    }

    /// Creates again what makes a template, and is being deleted.
    pub(in super::super) fn recreate_maker(template: &Key, maker: &Owner) -> Self {
        let maker = name_of(maker);
        Self::of_maker(
            template,
            format!(
                "create {maker} again: it is being deleted, and its controller creates no resourceclaimtemplate/{template} for it"
            ),
            "wait until it is gone first; its finalizers tell what it waits for",
        )
    }

    /// Has the pod of the controller that creates a template run.
    pub(in super::super) fn start_controller(template: &Key, maker: &Owner, pod: &Pod) -> Self {
        let why = unscheduled(pod);
        let why = why.map_or_else(|| "is not ready".to_owned(), |why| format!("is pending: {why}"));
        let (maker, pod) = (name_of(maker), pod.key());
        Self::of_maker(
            template,
            format!("get the controller of {maker} running: pod/{pod} {why}"),
            "ask the driver's owner; the controller creates the template once it runs",
        )
    }

    /// Waits for the controller that creates a template.
    pub(in super::super) fn await_template(template: &Key, maker: &Owner) -> Self {
        let maker = name_of(maker);
        Self::of_maker(
            template,
            format!("wait until the controller of {maker} creates resourceclaimtemplate/{template}"),
            "if it does not within a minute, check that the controller is running",
        )
    }

    /// Creates what makes a template, as one makes the `other` in another namespace.
    pub(in super::super) fn create_maker(template: &Key, maker: &Owner, other: &Key) -> Self {
        Self::of_maker(
            template,
            format!(
                "create the {} that makes resourceclaimtemplate/{template}, as one makes resourceclaimtemplate/{other}, or create the pod in namespace {}",
                maker.kind, other.namespace
            ),
            "a copy of the template is not enough: its configuration is for the other namespace",
        )
    }

    fn of_maker(template: &Key, message: String, how: &str) -> Self {
        let target = format!("resourceclaimtemplate/{template}");
        Self::by_hand("CreateTemplate", target, message, how)
    }
}

/// What follows the correction of what an admission policy has refused.
const CORRECTED: &str =
    "its controller tries again automatically; an administrator can tell which policies apply";

fn name_of(maker: &Owner) -> String {
    format!("{}/{}", maker.kind.to_ascii_lowercase(), maker.key)
}

/// Pods, and what makes them.
impl FixItem {
    /// Has a Job run again that was over its deadline.
    pub(in super::super) fn run_again(job: &Key) -> Self {
        Self::by_hand(
            "RecreatePod",
            format!("job/{job}"),
            format!("create job/{job} anew, with a longer activeDeadlineSeconds or none"),
            "a Job that has failed creates no more pods; its deadline includes the time in which its pods wait for devices",
        )
    }

    /// Has what makes pods changed as the API server's refusal of them says.
    pub(in super::super) fn correct_pods(maker: &Owner, limits: Option<&Key>) -> Self {
        let how = match maker.failure() {
            Some(_) => "it has failed, and does not try again: create it anew with the change",
            None => CORRECTED,
        };
        let maker = name_of(maker);
        let other = match limits {
            Some(limits) => format!("limitrange/{limits}"),
            None => "create what it names".to_owned(),
        };
        let message = format!("change the pod template of {maker} as the message says, or {other}");
        Self::by_hand("CorrectPods", maker, message, how)
    }

    /// The same of a template of claims.
    pub(in super::super) fn correct_template(template: &Key, is_of_labels: bool) -> Self {
        let template = format!("resourceclaimtemplate/{template}");
        let message =
            format!("change {template} as the message says: recreate it, as its spec cannot be changed");
        let mut how = Remedy::default();
        if is_of_labels {
            how = how.note(
                "claims get the labels and annotations of spec.metadata, not those of the template itself",
            );
        }
        Self::unproven("CorrectPods", template, message, how.note(CORRECTED))
    }

    /// Has the pod name `missing` as an object of the other kind, which there is.
    pub(in super::super) fn name_other_kind(pod: &Key, missing: &Key, kind: Kind, how: String) -> Self {
        let (there, field, wrong) = match kind {
            Kind::ResourceClaim => ("template", "resourceClaimTemplateName", "resourceClaimName"),
            _ => ("claim", "resourceClaimName", "resourceClaimTemplateName"),
        };
        Self::by_hand(
            "CorrectPods",
            format!("pod/{pod}"),
            format!("name {there}/{missing}, which exists, in {field} instead of {wrong}"),
            how,
        )
    }

    /// Has the pods of a Job not fail one after the other, the last of them on this node, or not be rejected by the kubelet there.
    pub(in super::super) fn failing_pods(last: &Key, are_rejected: bool, node: Option<&Str>) -> Self {
        let target = format!("pod/{last}");
        let (message, how) = if are_rejected {
            (
                format!("fix why the kubelet rejects {target}"),
                "the pods that the Job creates next have the same template: it may request more than its node has left",
            )
        } else {
            (
                format!("fix what fails in {target}"),
                "check its logs; the pods that the Job creates next have the same template",
            )
        };
        let node = node.filter(|_| are_rejected);
        let look = node.map_or_else(|| logs_of(last), |node| describe_node(node));
        Self::by_hand("RepairContainer", target, message, how).look(look)
    }

    /// Has a container of `pod` list what it needs of a claim.
    pub(in super::super) fn list(pod: &Pod, unlisted: &UnlistedDevices) -> Self {
        let entry = &unlisted.entry;
        let message = match &unlisted.why {
            Unlisted::Claim => {
                format!("list claim {entry} under resources.claims of the container that needs its devices")
            }
            Unlisted::Request(request) => format!(
                "list request {request} of claim {entry} under resources.claims of the container that needs its devices"
            ),
            Unlisted::Finished(_) => {
                format!(
                    "list claim {entry} under resources.claims of the container that needs its devices, too"
                )
            }
            Unlisted::NoSuchRequest { container, request } => format!(
                "list a request that claim {entry} has under resources.claims of container {container}, instead of {request}"
            ),
        };
        Self::by_hand(
            "RepairContainer",
            format!("pod/{}", pod.key()),
            message,
            "change the pod template, or recreate the pod: resources of its containers cannot be changed",
        )
    }

    /// Has the pod not tolerate a taint for a time that is over.
    pub(in super::super) fn drop_toleration(pod: &Pod) -> Self {
        Self::by_hand(
            "DropToleration",
            format!("pod/{}", pod.key()),
            "remove the toleration with tolerationSeconds from the request",
            "tolerationSeconds count from when the taint was added, and are over; without the toleration, the pod gets another device, or waits for one",
        )
    }

    /// Sets the effect of the toleration of a taint that lets a pod have a device, and not keep it.
    pub(in super::super) fn set_effect(pod: &Key, taint: &str, object: &str) -> Self {
        Self::by_hand(
            "TolerateTaint",
            format!("pod/{pod}"),
            format!("set effect: NoExecute in the toleration of {taint} in {object}, and recreate the pod"),
            "without an effect, the toleration lets kube-scheduler use the device, but does not stop the eviction; it counts for devices that are \
             allocated from then on",
        )
    }

    /// Has kube-scheduler bind a pod that it may not bind.
    pub(in super::super) fn let_bind(pod: &Pod) -> Self {
        Self::by_hand(
            "LetBind",
            format!("pod/{}", pod.key()),
            "let kube-scheduler bind the pod",
            "act on its message; kube-scheduler retries automatically",
        )
    }

    /// Waits for the end of a pod that kube-scheduler ends for this one, due at that time.
    pub(in super::super) fn await_end(victim: &Key, due: Time) -> Self {
        Self::by_hand(
            "WaitForDeletion",
            format!("pod/{victim}"),
            format!("wait until pod/{victim} ends, which is due at {due}"),
            "no action needed: kube-scheduler is ending it for this pod",
        )
    }

    /// Has the owner of pods create as many as their gang needs, where it never does.
    pub(in super::super) fn complete_gang(group: &Key, creates: i64, owner: &str, needed: i64) -> Self {
        Self::by_hand(
            "CompleteGang",
            format!("podgroup/{group}"),
            format!(
                "reduce minCount of podgroup/{group} from {needed} to {creates}, or let {owner} create {needed} pods at a time, rather than {creates}"
            ),
            "none of the pods is scheduled before: waiting does not help",
        )
    }

    /// Lets the members of a group be in several domains of a topology.
    pub(in super::super) fn spread(group: &Key, keys: &[&Str]) -> Self {
        Self::by_hand(
            "RelaxPlacement",
            format!("podgroup/{group}"),
            format!(
                "remove the topology constraint from podgroup/{group}, or provide nodes with the same {} that have room for all of its pods",
                some(keys)
            ),
            "kube-scheduler places the pods of the group only on nodes with the same value of the label",
        )
    }

    /// Has a LeaderWorkerSet create workers before `leader` is ready.
    pub(in super::super) fn start_workers(leader: &Pod, set: &Str) -> Self {
        let namespace = &leader.metadata.namespace;
        Self::by_hand(
            "RepairContainer",
            format!("leaderworkerset/{namespace}/{set}"),
            format!(
                "set startupPolicy of LeaderWorkerSet {set} to LeaderCreated, if the pod is ready only with its workers"
            ),
            "with LeaderReady, the workers are created once their leader is ready, so that each would wait for the other",
        )
    }

    /// Resumes the rollout of a Deployment.
    pub(in super::super) fn resume(key: &Key) -> Self {
        let resume = Command::kubectl("rollout").arg("resume");
        let resume = resume.object(Resource::called("deployment"), &key.name);
        Self::unproven(
            "ChangeStrategy",
            format!("deployment/{key}"),
            format!("resume the rollout of deployment/{key}"),
            Remedy::command(resume.namespace(&key.namespace).done()).note(
                "the rollout may still keep old pods until new ones are ready: check again after it was resumed",
            ),
        )
    }

    /// Upgrades kube-scheduler to the release that has the fix of a bug, so that it fits.
    pub(in super::super) fn upgrade_scheduler(bug: KnownBug) -> Self {
        let fix = fixed_in(bug.fix);
        let fix = Self::by_hand(
            "UpgradeScheduler",
            "kube-scheduler",
            format!("ask an administrator to upgrade kube-scheduler to {fix}"),
            "other fixes only work around the bug",
        );
        Self {
            proven: true,
            minimal: true,
            ..fix
        }
    }

    /// Enables a gate in the kubelets of nodes, which declare it then.
    pub(in super::super) fn enable_in_kubelets(gate: Gate, nodes: &[Str]) -> Self {
        let target = nodes
            .first()
            .map_or_else(String::new, |node| format!("node/{node}"));
        let message = format!(
            "ask an administrator to enable {gate} in the kubelets of {}",
            some(nodes)
        );
        let how = "each kubelet then declares the feature in status.declaredFeatures of its node";
        Self::by_hand("EnableGate", target, message, how)
    }

    /// Enables a gate in components that lack it, of release 1.`minor`.
    pub(in super::super) fn enable(gate: Gate, components: &[Component], minor: u32) -> Self {
        let named = some(components.iter().map(ToString::to_string));
        let or = gate.on_since(minor).map_or_else(String::new, |minor| {
            format!(", or to upgrade to 1.{minor}, which enables it by default")
        });
        Self::by_hand(
            "EnableGate",
            components.first().copied().map_or("", Into::into),
            format!("ask an administrator to enable {gate} in {named}{or}"),
            if matches!(gate, Gate::DRAExtendedResource | Gate::DRAOptionalNodeOperations) {
                "kube-apiserver has it enabled, or had; kube-controller-manager and the kubelets need it, too"
            } else {
                "kube-apiserver has it enabled, or had: it needs it, too"
            },
        )
    }
}
