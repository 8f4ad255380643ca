//! Drivers that are not there or refuse, and nodes that others have to gather first.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::super::words::advice::{self as words, Restore, Unprepared};
use super::about::{About, Advice, logs, logs_of, named, of_pod, pods_on};
use crate::remedy::{Remedy, UNATTACHABLE, UNHEALTHY, can_taint, replace_pods};
use crate::script::{
    Command, Resource, describe, describe_device, describe_node, evict_from_device, keep_off_device, patch,
    taint_device,
};
use dra_model::{Claim, Config, DeviceId, Key, Kind, Pod, Str, Taint};
use dra_rules::kubelet::{
    Attaching, Behind, BrokenLink, Cause, KeptOff, Maker, Plugin, has_logs, has_stopped, has_word, is_pod_of,
    is_ready,
};
use dra_rules::owners::{Incomplete, OwnerName, comes_back, names_domain};
use dra_rules::reservation::{Origin, may_run};
use dra_rules::scheduling::daemon_tolerations;

impl About<'_, '_> {
    pub(super) fn not_registered(&self, driver: &Str, plugin: &Plugin) -> Advice {
        let Some(waiting) = self.stages.awaits_end(self.pod) else {
            return self.plugin(driver, plugin);
        };
        let text = words::break_circle(driver, &waiting.key(), has_stopped(self.pod));
        Advice::by_hand("RestoreDriver", self.of_node(), text).look(describe(Kind::Pod, &waiting.key()))
    }

    pub(super) fn refused(&self, claim: &Str, said: &str, behind: Option<&Behind>) -> Advice {
        if let Some(awaited) = self.stages.awaited(self.pod, said) {
            let key = awaited.pod.key();
            return Advice::by_hand("RepairContainer", of_pod(&key), words::get_ready(&key))
                .look(describe(Kind::Pod, &key));
        }
        match behind {
            Some(Behind::Shared(other)) => {
                let claim = self.pod.metadata.beside(claim);
                self.of_template("CorrectPods", |owner| {
                    words::own_claim(&claim, other, words::FOR_ONE_POD, owner)
                })
            }
            Some(Behind::Reboot(_)) => self.lost(),
            Some(Behind::Helper(driver, refused)) => {
                let target = format!("{}/{}", refused.kind.resource(), refused.maker);
                let message = words::link(driver, &BrokenLink::Refused((**refused).clone()));
                Advice::new("AdmitDriver", target, message, Remedy::by_hand(words::RETRIES))
            }
            Some(Behind::OlderPod {
                pod: own,
                since,
                newer,
            }) => {
                let text = words::restart_older(own, self.node, *since, newer);
                let cluster = self.cluster();
                let restart = replace_pods(cluster, &own.namespace, cluster.pod(own)).note(text.how);
                Advice::new("RestartDriver", of_pod(own), text.message, restart).look(logs_of(own))
            }
            None => self.fails(said),
        }
    }

    /// The driver fails or refuses. What it says may be about the claim's configuration, if it has one.
    pub(super) fn fails(&self, said: &str) -> Advice {
        let why = match self.configured() {
            _ if said.contains("acquiring lock") => Unprepared::Locked(self.may_hold()),
            Some(object) if is_of_configuration(said) => Unprepared::Configured(object),
            _ => Unprepared::Refused,
        };
        self.driver(said, why)
    }

    /// The pods without claims on the node that are called like the driver of a device to be passed through to a virtual machine, which has to be
    /// unused for that: monitors have such devices open.
    fn may_hold(&self) -> Vec<String> {
        let is_passed = |config: &Config| {
            let parameters = config.parameters_value();
            parameters.is_some_and(|parameters| parameters["kind"] == "VfioDeviceConfig")
        };
        let configs = self
            .stages
            .claims(self.pod)
            .flat_map(|claim| &claim.spec.devices.config);
        let mut passed =
            configs.filter_map(|config| config.opaque.as_ref().filter(|config| is_passed(config)));
        let Some((config, node)) = passed.next().zip(self.pod.node()) else {
            return Vec::new();
        };
        let plugin = self.stages.plugin(&config.driver, node);
        let may_hold = |other: &&Arc<Pod>| {
            let is_plugin = plugin.pod() == Some(&other.key());
            may_run(other)
                && other.spec.resource_claims.is_empty()
                && !is_plugin
                && is_pod_of(&config.driver, other)
        };
        let others: Vec<_> = self.cluster().pods_of_node(node).filter(may_hold).collect();
        named(&others)
    }

    pub(super) fn nodes_missing(
        &self,
        owner: &OwnerName,
        lacks: &Incomplete,
        others: &[Key],
        kept_off: Option<&(Key, Taint)>,
        taken: Option<&(Str, Option<Key>)>,
    ) -> Advice {
        if kept_off.is_none()
            && let Some(daemon) = self.stages.daemon(self.pod)
            && daemon.is_stuck()
        {
            let key = daemon.pod.key();
            return Advice::by_hand("RepairContainer", of_pod(&key), words::get_daemon_ready(&key))
                .look(logs_of(&key));
        }
        if self.stages.is_passing(self.stage) {
            return self.await_devices(Some(owner));
        }
        match (taken, kept_off) {
            (Some((uid, other)), _) => {
                let target = other
                    .as_ref()
                    .map_or_else(|| self.of_node(), |other| format!("computedomain/{other}"));
                let text = words::leave_domain(self.node, uid, other.as_ref());
                Advice::by_hand("GatherNodes", target, text).look(describe_node(self.node))
            }
            (None, Some((set, taint))) => {
                let text = words::tolerate(&set.namespace, &set.name, taint, self.node);
                Advice::by_hand("AdmitDriver", format!("daemonset/{set}"), text)
                    .look(describe(Resource::called(Maker::DaemonSet.resource()), set))
            }
            (None, None) => {
                let others: Vec<String> = others.iter().map(of_pod).collect();
                let node = lacks.is_of_node.then_some(self.node);
                let daemon = node.and_then(|_| self.unready_daemon());
                let text = words::gather(&owner.to_string(), &others, node, daemon.as_ref());
                let advice = self.of_events("GatherNodes", self.of_owner(owner), text);
                match daemon {
                    Some(daemon) => advice.look(logs_of(&daemon)),
                    None => advice,
                }
            }
        }
    }

    /// What belongs to an owner in the pod's namespace.
    pub(super) fn of_owner(&self, owner: &OwnerName) -> String {
        let key = self.pod.metadata.beside(&owner.name);
        format!("{}/{key}", owner.kind.to_ascii_lowercase())
    }

    pub(super) fn left_out(&self) -> Advice {
        if self.stages.is_passing(self.stage) {
            return self.await_devices(None);
        }
        self.driver("", Unprepared::LeftOut)
    }

    fn await_devices(&self, owner: Option<&OwnerName>) -> Advice {
        let text = words::await_devices(self.node, owner, self.unready_daemon().as_ref());
        self.of_events("AwaitDriver", self.of_node(), text)
    }

    /// The pod on the node that is not ready there for what gathers it.
    fn unready_daemon(&self) -> Option<Key> {
        let mut daemons = self.stages.daemon_pods(self.pod);
        let daemon = daemons.find(|daemon| !is_ready(daemon))?;
        Some(daemon.key())
    }

    pub(super) fn unprepare_fails(&self, drivers: &[(Str, Plugin)]) -> Advice {
        let (target, pod) = match drivers {
            [(driver, plugin)] => (format!("driver/{driver}"), plugin.pod()),
            _ => (self.of_node(), None),
        };
        let text = words::unprepare(&either(drivers.iter().map(|(driver, _)| driver)));
        Advice::by_hand("RepairDriver", target, text).look(logs(pod, self.node))
    }

    pub(super) fn down(&self, drivers: &[Str]) -> Advice {
        let first = drivers.first().zip(self.pod.node());
        let plugin = first.map(|(driver, node)| self.stages.plugin(driver, node));
        let text = words::start_driver(&either(drivers), self.node);
        Advice::by_hand("RestoreDriver", self.of_node(), text)
            .look(logs(plugin.as_ref().and_then(Plugin::pod), self.node))
    }

    pub(super) fn plugin(&self, driver: &Str, plugin: &Plugin) -> Advice {
        let node = self.node;
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
                let has_own = self.cluster().pod(pod).is_some_and(|pod| has_tolerations(pod));
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
                Advice::new("RestoreDriver", target.clone(), text.message, undo)
                    .look(describe(Kind::Pod, pod))
            }
            Plugin::Crashing(pod, waiting) if !has_logs(&waiting.reason) => {
                restore(Restore::Pod).look(describe(Kind::Pod, pod))
            }
            Plugin::Pending(pod, _) | Plugin::Failed(pod, _) => {
                restore(Restore::Pod).look(describe(Kind::Pod, pod))
            }
            Plugin::Crashing(pod, _) | Plugin::NotReady(pod) => {
                restore(Restore::Pod).look(logs(Some(pod), node))
            }
            Plugin::OtherFolder(pod, own, other) => {
                restore(Restore::Directory { own, other }).look(logs(Some(pod), node))
            }
            Plugin::Starting(pod, _) => {
                Advice::by_hand("AwaitDriver", target.clone(), words::await_start(driver, node))
                    .look(describe(Kind::Pod, pod))
            }
            Plugin::Ready(pod, ..) if self.stages.is_registering(plugin) => {
                Advice::by_hand("AwaitDriver", target.clone(), words::await_driver(driver, node))
                    .look(logs(Some(pod), node))
            }
            // What a restart helps against does not befall all nodes.
            Plugin::Ready(pod, ..) if self.stages.is_registered_nowhere(driver) => {
                let own = self.stages.pod_of(plugin);
                let own = own.and_then(|pod| pod.spec.volumes.plugin_folder.as_ref());
                restore(Restore::Anywhere(own)).look(logs(Some(pod), node))
            }
            Plugin::Ready(pod, ..) => {
                let text = words::restart(driver, node);
                let restart =
                    replace_pods(self.cluster(), &pod.namespace, self.stages.pod_of(plugin)).note(text.how);
                Advice::new("RestartDriver", target.clone(), text.message, restart)
                    .look(logs(Some(pod), node))
            }
        }
    }

    /// The driver has to prepare the devices. What it has said may name a device of it.
    pub(super) fn driver(&self, said: &str, why: Unprepared) -> Advice {
        let results = || self.stages.claims(self.pod).flat_map(|claim| claim.results());
        let drivers: BTreeSet<&Str> = results().map(|result| &result.driver).collect();
        // The kubelet does not name the driver, whose words may name a device of it.
        let named = results().filter(|result| has_word(said, &result.device));
        let named: BTreeSet<&Str> = named.map(|result| &result.driver).collect();
        let drivers = if named.is_empty() { drivers } else { named };
        let only = drivers.iter().next().copied().filter(|_| drivers.len() == 1);
        let plugin = only
            .zip(self.pod.node())
            .map(|(driver, node)| self.stages.plugin(driver, node));
        let target = only.map_or_else(|| self.of_node(), |driver| format!("driver/{driver}"));
        Advice::by_hand("RepairDriver", target, words::prepare(&drivers, why))
            .look(logs(plugin.as_ref().and_then(Plugin::pod), self.node))
    }

    /// The object with the configuration that users have written for the drivers of the pod's devices, as messages call it.
    fn configured(&self) -> Option<String> {
        // The controller of a ComputeDomain writes what names it.
        let claims = self.stages.claims(self.pod);
        let mut claims = claims.filter(|claim| !names_domain(&claim.spec));
        claims.find_map(|claim| {
            let of_claim = claim.spec.devices.config.iter();
            let mut configs = of_claim.filter_map(|config| config.opaque.as_ref());
            configs
                .any(|config| claim.has_device_of(&config.driver))
                .then(|| Origin::of(self.cluster(), claim).object(&claim.key()))
        })
    }

    /// A driver that has the claim on its list prepares it anew once it has taken it back, which is when no pod of the node has it any more. One
    /// that runs with it is not ended for this one.
    pub(super) fn lost(&self) -> Advice {
        let others = self.beside();
        let has_lost = |pod: &Pod| {
            let found = self
                .cluster()
                .pod(&pod.key())
                .and_then(|pod| self.stages.stuck(pod));
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
            return self.again(Remedy::by_hand(words::unused_first(&named(&running))));
        }
        let is_alone = others.is_empty();
        let pods = std::iter::once(self.pod).chain(others);
        let advice = self.again(replace_pods(self.cluster(), &self.pod.metadata.namespace, pods));
        if is_alone {
            return advice;
        }
        Advice {
            message: words::RECREATE_ALL.to_owned(),
            ..advice
        }
    }

    /// Keeps pods off the one device of the pod's own claims that the records of its driver still assign to another claim, by its words, where the pool
    /// has a device without a claim.
    pub(super) fn avoid(&self, said: &str) -> Option<Advice> {
        let cluster = self.cluster();
        let is_own = |claim: &&Arc<Claim>| {
            claim
                .metadata
                .owner_references
                .iter()
                .any(|owner| owner.kind == "Pod")
        };
        let claims = self.stages.claims(self.pod).filter(is_own);
        let named = claims
            .flat_map(|claim| claim.results())
            .filter(|result| has_word(said, &result.device));
        let named: BTreeSet<DeviceId> = named.map(|result| result.id()).collect();
        let device = named
            .first()
            .filter(|_| named.len() == 1 && can_taint(cluster.environment()))?;
        let pool = cluster.pool(&device.pool_id())?;
        let is_free = |id: &DeviceId| cluster.claims_of_device(id).next().is_none();
        pool.devices()
            .find(|(_, other)| is_free(&pool.device_id(&other.name)))?;
        let text = words::avoid(device, &self.pod.key());
        let taint = Remedy::command(keep_off_device(device, UNATTACHABLE)).note(text.how);
        Some(Advice::new(
            "TaintDevice",
            format!("device/{device}"),
            text.message,
            taint,
        ))
    }

    /// The pod leaves a device that is reported unhealthy, which no pod gets meanwhile: by one rule, where its owner makes another pod.
    pub(super) fn unhealthy(&self, name: &str) -> Advice {
        let results = self.stages.claims(self.pod).flat_map(|claim| claim.results());
        let device = results
            .map(|result| result.id())
            .find(|id| id.to_string() == name);
        let can_taint = can_taint(self.cluster().environment()) && comes_back(self.cluster(), self.pod);
        match device.filter(|_| can_taint) {
            Some(device) => {
                let text = words::leave_unhealthy(&device);
                let taint = Remedy::command(evict_from_device(&device, UNHEALTHY)).note(text.how);
                Advice::new("TaintDevice", format!("device/{device}"), text.message, taint)
                    .look(taint_device(&device, UNHEALTHY))
            }
            None => self.again(Remedy::by_hand(words::unhealthy(name))),
        }
    }

    /// The driver attaches the device, or the scheduler gives it up: automatically, but for the same device again if it still can.
    pub(super) fn attach(&self, device: &DeviceId, attaching: &Attaching) -> Advice {
        let advice = match attaching {
            Attaching::Failed(_) => {
                let can_taint = can_taint(self.cluster().environment());
                let text = words::unattachable(device, can_taint);
                if can_taint {
                    let taint = Remedy::command(keep_off_device(device, UNATTACHABLE)).note(text.how);
                    Advice::new("TaintDevice", format!("device/{device}"), text.message, taint)
                } else {
                    Advice::by_hand("AwaitBinding", self.of_pod(), text)
                }
            }
            Attaching::TimedOut(_) => Advice::by_hand(
                "AwaitBinding",
                self.of_pod(),
                words::attach_in_time(&device.driver),
            ),
            Attaching::Pending(_) => Advice::by_hand("AwaitBinding", self.of_pod(), words::attach()),
        };
        advice.look(describe_device(device))
    }
}

/// Returns whether the words of a driver may be about what users have configured. What fails while it applies that is another matter.
fn is_of_configuration(said: &str) -> bool {
    const WORDS: [&str; 11] = [
        "config",
        "decod",
        "must be",
        "not supported",
        "out of range",
        "parameter",
        "profile",
        "sharing",
        "strategy",
        "unmarshal",
        "unsupported",
    ];
    let said = said.to_ascii_lowercase();
    let applied = said
        .rsplit_once("config: ")
        .filter(|(before, _)| before.contains("applying"));
    let said = applied.map_or(&*said, |(_, behind)| behind);
    WORDS.iter().any(|word| said.contains(word))
}

/// Several drivers, where each may be meant.
fn either<'d>(drivers: impl IntoIterator<Item = &'d Str>) -> String {
    drivers
        .into_iter()
        .map(Str::as_str)
        .collect::<Vec<_>>()
        .join(" or ")
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
