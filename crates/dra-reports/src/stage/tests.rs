//! The stages of pods, each cause with and without what shows it.

use serde_json::{Value, json};

use super::StageItem;
use crate::allocation::Settings;
use crate::explanation::{Explanation, explain_pod};
use crate::findings;
use dra_allocator::Budget;
use dra_model::{Cluster, Kind};
use dra_rules::kubelet::{Stage, Stages};
use dra_testing::{World, now, status};

const DRIVER: &str = "gpu.example.com";

/// A pod `n/p` on node-1 with a device of claim `c`, in a world without other facts.
struct Scene {
    world: World,
    pod: Value,
    claim: Value,
    reserved: bool,
}

fn scene() -> Scene {
    let pod = json!({
        "metadata": {"namespace": "n", "name": "p", "uid": "p-uid", "creationTimestamp": "2026-11-21T11:50:00Z"},
        "spec": {"nodeName": "node-1", "containers": [{"name": "main"}],
                 "resourceClaims": [{"name": "c", "resourceClaimName": "c"}]},
        "status": {"phase": "Pending", "startTime": "2026-11-21T11:50:00Z",
                   "containerStatuses": [{"name": "main", "state": {"waiting": {"reason": "ContainerCreating"}}}]},
    });
    let results = json!([{"request": "r", "driver": DRIVER, "pool": "node-1", "device": "g0"}]);
    let mut claim = status(&results, &["p"]);
    claim["allocation"]["allocationTimestamp"] = json!("2026-11-21T11:49:00Z");
    Scene {
        world: World::default(),
        pod,
        claim,
        reserved: true,
    }
}

impl Scene {
    fn pod(mut self, change: impl FnOnce(&mut Value)) -> Self {
        change(&mut self.pod);
        self
    }

    fn claim(mut self, change: impl FnOnce(&mut Value)) -> Self {
        change(&mut self.claim);
        self
    }

    fn running(self) -> Self {
        self.pod(|pod| {
            pod["status"]["phase"] = json!("Running");
            pod["status"]["containerStatuses"] = json!([]);
        })
        .published()
    }

    fn ending(self) -> Self {
        self.pod(|pod| {
            pod["metadata"]["deletionTimestamp"] = json!("2026-11-21T11:55:00Z");
            pod["status"]["phase"] = json!("Running");
            pod["status"]["containerStatuses"] =
                json!([{"name": "main", "state": {"terminated": {"exitCode": 137}}}]);
        })
    }

    fn with(mut self, kind: Kind, object: &Value) -> Self {
        self.world = self.world.with(kind, object);
        self
    }

    fn published(self) -> Self {
        let slice = json!({"metadata": {"name": "s"}, "spec": {"driver": DRIVER, "nodeName": "node-1",
            "pool": {"name": "node-1", "generation": 1, "resourceSliceCount": 1}, "devices": [{"name": "g0"}]}});
        self.with(Kind::ResourceSlice, &slice)
    }

    fn node(self, ready: &str, taints: &Value) -> Self {
        let node = json!({"metadata": {"name": "node-1"}, "spec": {"taints": taints}, "status": {
            "conditions": [{"type": "Ready", "status": ready, "lastTransitionTime": "2026-11-21T11:40:00Z", "lastHeartbeatTime": "2026-11-21T11:58:00Z"}],
            "nodeInfo": {"kubeletVersion": "v1.35.8"}}});
        self.with(Kind::Node, &node)
    }

    /// A pod of a DaemonSet of the driver.
    fn plugin(self, name: &str, node: &str, status: &Value) -> Self {
        self.plugin_in(name, node, status, "/var/lib/kubelet/plugins_registry")
    }

    fn plugin_in(self, name: &str, node: &str, status: &Value, folder: &str) -> Self {
        let pod = json!({
            "metadata": {"namespace": "kube-system", "name": format!("{name}-{node}"), "uid": format!("{name}-{node}"),
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": name, "uid": name, "controller": true}]},
            "spec": {"nodeName": node, "volumes": [{"name": "v", "hostPath": {"path": folder}}]},
            "status": status,
        });
        self.with(Kind::Pod, &pod)
    }

    fn event(self, message: &str, more: &Value) -> Self {
        let mut event = json!({
            "metadata": {"namespace": "n", "name": format!("e{}", message.len())},
            "involvedObject": {"kind": "Pod", "namespace": "n", "name": "p", "uid": "p-uid"},
            "type": "Warning", "reason": "FailedPrepareDynamicResources", "source": {"component": "kubelet"},
            "message": format!("Failed to prepare dynamic resources: prepare dynamic resources: {message}"),
            "firstTimestamp": "2026-11-21T11:51:00Z", "lastTimestamp": "2026-11-21T11:58:00Z", "count": 9,
        });
        for (key, value) in more.as_object().unwrap() {
            event[key] = value.clone();
        }
        self.with(Kind::Event, &event)
    }

    fn world(mut self, change: impl FnOnce(World) -> World) -> Self {
        self.world = change(self.world);
        self
    }

    fn build(self) -> Cluster {
        let world = if self.reserved {
            self.world.claim("c", &json!({}), &self.claim)
        } else {
            self.world
        };
        world.with(Kind::Pod, &self.pod).build()
    }

    fn item(self) -> StageItem {
        let cluster = self.build();
        let stages = Stages::of(&cluster, now());
        let pod = cluster.pod(&dra_model::Key::new("n", "p")).unwrap();
        StageItem::of(&stages, &stages.pod(pod).unwrap())
    }

    /// Stage, cause and owner, and the sentence.
    fn told(self) -> String {
        let item = self.item();
        match &item.stuck {
            Some(stuck) => format!(
                "{} {} {:?}: {}",
                item.stage, stuck.cause, stuck.owner, stuck.message
            ),
            None => match (&item.waits, item.unknown.as_slice()) {
                (Some(waits), _) => format!("{} waits: {waits}", item.stage),
                (None, [first, ..]) => format!("{}: {first}", item.stage),
                (None, []) => item.stage.to_string(),
            },
        }
    }
}

const NOT_REGISTERED: &str = "DRA driver gpu.example.com is not registered";
const PLUGIN: &str = "example-gpu-kubelet-plugin";

fn ready() -> Value {
    json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-21T11:00:00Z"}]})
}

/// As a kubelet says of itself.
fn kubelet_starts(at: &str) -> Value {
    json!({"metadata": {"namespace": "default", "name": "start"}, "type": "Normal", "reason": "Starting", "message": "Starting kubelet.",
        "source": {"component": "kubelet"}, "involvedObject": {"kind": "Node", "name": "node-1", "uid": "node-1"}, "lastTimestamp": at})
}

#[test]
fn a_driver_that_is_not_registered_is_reported_with_what_is_known_of_its_pod() {
    let base = || scene().node("True", &json!([])).event(NOT_REGISTERED, &json!({}));
    let tainted = json!([{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]);
    let crashing = json!({"phase": "Running", "containerStatuses": [
        {"name": "plugin", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]});
    let prefix = "Reserved DriverNotRegistered";
    let said = "driver gpu.example.com is not registered with the kubelet on node-1";
    for (scene, expected) in [
        (
            base(),
            format!("{prefix} Driver: {said}: no pod on node-1 appears to be the driver's"),
        ),
        (
            base().plugin(PLUGIN, "node-2", &ready()),
            format!("{prefix} Driver: {said}: daemonset/kube-system/{PLUGIN} has no pod there"),
        ),
        (
            scene()
                .node("True", &tainted)
                .event(NOT_REGISTERED, &json!({}))
                .plugin(PLUGIN, "node-2", &ready()),
            format!(
                "{prefix} Administrator: {said}: daemonset/kube-system/{PLUGIN} has no pod there: it does not tolerate the node's taint gpu=yes:NoSchedule"
            ),
        ),
        (
            base().plugin(PLUGIN, "node-1", &crashing),
            format!(
                "{prefix} Driver: {said}: pod/kube-system/{PLUGIN}-node-1 is crashing (container plugin: CrashLoopBackOff)"
            ),
        ),
        (
            base().plugin(PLUGIN, "node-1", &json!({"phase": "Running"})),
            format!("{prefix} Driver: {said}: pod/kube-system/{PLUGIN}-node-1 is not ready"),
        ),
        (
            base().plugin(PLUGIN, "node-1", &ready()),
            format!(
                "{prefix} Driver: {said}: pod/kube-system/{PLUGIN}-node-1 is ready since 2026-11-21T11:00:00Z, but the kubelet has no registration of it"
            ),
        ),
        // The kubelet has started since, or before.
        (
            base()
                .plugin(PLUGIN, "node-1", &ready())
                .with(Kind::Event, &kubelet_starts("2026-11-21T11:50:00Z")),
            format!(
                "{prefix} Driver: {said}: pod/kube-system/{PLUGIN}-node-1 is ready since 2026-11-21T11:00:00Z, but the kubelet (started at 2026-11-21T11:50:00Z) has no registration of it"
            ),
        ),
        (
            base()
                .plugin(PLUGIN, "node-1", &ready())
                .with(Kind::Event, &kubelet_starts("2026-11-21T10:50:00Z")),
            format!(
                "{prefix} Driver: {said}: pod/kube-system/{PLUGIN}-node-1 is ready since 2026-11-21T11:00:00Z, but the kubelet has no registration of it"
            ),
        ),
        (
            base().plugin(PLUGIN, "node-1", &ready()).plugin_in(
                "csi-node",
                "node-1",
                &ready(),
                "/var/lib/k0s/kubelet/plugins_registry/",
            ),
            format!(
                "{prefix} Driver: {said}: pod/kube-system/{PLUGIN}-node-1 registers in /var/lib/kubelet/plugins_registry, but the kubelet looks for plugins in /var/lib/k0s/kubelet/plugins_registry/, where other drivers register"
            ),
        ),
        // Another driver's pod is none of this one, and one that wants devices is no driver.
        (
            base().plugin("nic-dra", "node-1", &ready()),
            format!("{prefix} Driver: {said}: no pod on node-1 appears to be the driver's"),
        ),
        // What may not be seen is not said.
        (
            base().world(|world| world.without(Kind::Pod)),
            format!("{prefix} Driver: {said}"),
        ),
    ] {
        assert_eq!(scene.told(), expected);
    }
}

#[test]
fn what_the_kubelet_said_counts_only_of_this_pod_and_while_nothing_contradicts_it() {
    let base = || scene().node("True", &json!([]));
    let expected = "Reserved DriverNotRegistered Driver: driver gpu.example.com is not registered with the kubelet on node-1: no pod on \
                    node-1 appears to be the driver's";
    assert_eq!(base().event(NOT_REGISTERED, &json!({})).told(), expected);
    let none = "Unknown: why its containers are not created: no event of the kubelet was found (events are kept for an hour, and a file may lack them)";
    let silent =
        "Unknown: why its containers are not created: the kubelet has reported nothing that says why";
    let of = |uid: &str| json!({"kind": "Pod", "namespace": "n", "name": "p", "uid": uid});
    for (other, expected) in [
        (json!({"involvedObject": of("older")}), none),
        (json!({"involvedObject": of("")}), none),
        (json!({"source": {"component": "somebody"}}), silent),
        (json!({"type": "Normal"}), silent),
        (json!({"reason": "Whatever"}), silent),
        // Before the claim was allocated.
        (json!({"lastTimestamp": "2026-11-21T11:48:00Z"}), silent),
    ] {
        assert_eq!(base().event(NOT_REGISTERED, &other).told(), expected, "{other}");
    }
    // The kubelet has got further since, or the container shows that it has.
    let further = json!({"type": "Normal", "reason": "Pulling", "lastTimestamp": "2026-11-21T11:58:00Z"});
    assert_eq!(
        base()
            .event(NOT_REGISTERED, &json!({}))
            .event("image", &further)
            .told(),
        "Reserved"
    );
    let pulled = |pod: &mut Value| {
        pod["status"]["containerStatuses"][0]["state"]["waiting"]["reason"] = json!("ImagePullBackOff");
    };
    assert_eq!(
        base().pod(pulled).told(),
        "Starting ContainerNotStarted User: container main has not started: ImagePullBackOff"
    );
    // Runs: whatever was said before is over.
    assert_eq!(
        base().running().event(NOT_REGISTERED, &json!({})).told(),
        "Running"
    );
    // Young pods are not asked about.
    let young = |pod: &mut Value| pod["status"]["startTime"] = json!("2026-11-21T11:59:00Z");
    assert_eq!(base().pod(young).told(), "Reserved");
    // Events that may not be read.
    let hidden = base().world(|world| world.without(Kind::Event)).told();
    assert!(hidden.starts_with("Unknown: events"), "{hidden}");
    // An unknown text is shown unchanged.
    assert_eq!(
        base().event("etwas ganz Neues", &json!({})).told(),
        "Reserved Unrecognized Administrator: the kubelet reports an unrecognized problem: Failed to prepare dynamic resources: prepare dynamic \
         resources: etwas ganz Neues"
    );
}

#[test]
fn what_the_kubelet_needs_before_it_asks_the_driver() {
    let base = || scene().node("True", &json!([]));
    let refused = base().event(
        "NodePrepareResources failed for ResourceClaim c: MIG is off",
        &json!({}),
    );
    assert_eq!(
        refused.told(),
        "Reserved PrepareRefused Driver: the driver refuses to prepare claim/n/c: MIG is off"
    );
    // The driver has the device for a claim that is gone, or is there, or may be.
    let uid = "0c6e7f0a-1111-2222-3333-444455556666";
    let taken = || {
        let text = format!(
            "NodePrepareResources failed for ResourceClaim c: g0 is already allocated to different claim {uid}"
        );
        base().event(&text, &json!({"firstTimestamp": "2026-11-21T11:57:00Z"}))
    };
    assert_eq!(
        taken().told(),
        format!(
            "Reserved PreparedForDeletedClaim Kubelet: the driver refuses to prepare claim/n/c: the kubelet on node-1 has not released the devices of a deleted claim (UID {uid}) yet. Its pod was force-deleted and may still use them; driver: g0 is already allocated to different claim {uid}"
        )
    );
    let other = json!({"metadata": {"namespace": "m", "name": "other", "uid": uid}});
    assert!(
        taken()
            .with(Kind::ResourceClaim, &other)
            .told()
            .contains(" PrepareRefused ")
    );
    let partly = taken().world(|world| {
        world.knowing(|environment| {
            environment.gaps.push(dra_model::Gap {
                kind: Kind::ResourceClaim,
                namespace: "m".into(),
                except: "".into(),
                is_forbidden: false,
                reason: "forbidden".to_owned(),
            });
        })
    });
    assert!(partly.told().contains(" PrepareRefused "));
    let dead = base().event("NodePrepareResources: rpc error: code = Unavailable", &json!({}));
    assert_eq!(
        dead.told(),
        "Reserved DriverFails Driver: the driver failed to prepare the devices and gave no reason: rpc error: code = Unavailable"
    );
    let earlier = |uid: &str| {
        base().event(
            &format!("old ResourceClaim with same name c and different UID {uid} still exists (previous pod force-deleted?!)"),
            &json!({"firstTimestamp": "2026-11-21T11:57:00Z"}),
        )
    };
    assert!(
        earlier("0-1")
            .told()
            .starts_with("Reserved EarlierClaim Kubelet: ")
    );
    // The claim that is there now has this UID: it is no earlier one.
    assert!(earlier("c-uid").told().starts_with("Reserved"));
    assert!(!earlier("c-uid").told().contains("EarlierClaim"));
    let unpreparing = |first: &str| {
        base()
            .event(
                "ResourceClaim c is being unprepared",
                &json!({"firstTimestamp": first}),
            )
            .told()
    };
    assert!(unpreparing("2026-11-21T11:57:00Z").starts_with("Reserved BeingUnprepared Kubelet: "));
    // What has lasted longer does not end automatically.
    assert!(unpreparing("2026-11-21T11:51:00Z").starts_with("Reserved BeingUnprepared Driver: "));
    // What objects say, without any event.
    assert_eq!(
        base().claim(|claim| claim["reservedFor"] = json!([])).told(),
        "Reserved NotReserved User: claim/n/c is not reserved for the pod: the kubelet does not start it, and its devices may be allocated to others"
    );
    assert_eq!(
        base().claim(|claim| claim["allocation"] = json!(null)).told(),
        "Reserved NotAllocated User: claim/n/c is not allocated: the kubelet does not start it"
    );
    let mut missing = base();
    missing.reserved = false;
    assert_eq!(missing.told(), "Reserved ClaimMissing User: claim/n/c not found");
    let template = |pod: &mut Value| {
        pod["spec"]["resourceClaims"] = json!([{"name": "c", "resourceClaimTemplateName": "t"}]);
    };
    assert!(
        base()
            .pod(template)
            .told()
            .starts_with("Reserved TemplateMissing User: ")
    );
    // The kubelet says so, and the objects say otherwise by now: it has yet to try again.
    let contradicted = |first: &str| {
        let event = json!({"firstTimestamp": first});
        base()
            .event(
                "pod p (p-uid) is not allowed to use ResourceClaim c (c-uid)",
                &event,
            )
            .told()
    };
    assert_eq!(contradicted("2026-11-21T11:57:00Z"), "Reserved");
    // After that long, it is not known which of them is right.
    assert!(
        contradicted("2026-11-21T11:51:00Z")
            .starts_with("Unknown: the kubelet contradicts the claim, which is reserved for the pod: ")
    );
}

/// That the claim exists only contradicts that it was not found.
#[test]
fn a_claim_that_the_kubelet_cannot_read_keeps_the_pod_from_starting() {
    let told = |text: &str| scene().node("True", &json!([])).event(text, &json!({})).told();
    let prefix = "Reserved ClaimUnreadable Administrator: the kubelet on node-1";
    for text in [
        "resourceclaims.resource.k8s.io \"c\" is forbidden: User \"system:node:node-1\" cannot get resource \"resourceclaims\" in API group \
         \"resource.k8s.io\" in the namespace \"n\": no relationship found between node 'node-1' and this object",
        "Unauthorized",
        "Get \"https://10.0.0.1:6443/apis/resource.k8s.io/v1/namespaces/n/resourceclaims/c\": dial tcp 10.0.0.1:6443: connect: connection refused",
        "Get \"https://api:6443/apis/resource.k8s.io/v1/namespaces/n/resourceclaims/c\": dial tcp: lookup api: no such host",
        "Get \"https://api:6443/apis/resource.k8s.io/v1/namespaces/n/resourceclaims/c\": net/http: TLS handshake timeout",
        "etcdserver: request timed out",
        "namespaces \"n\" not found",
    ] {
        assert_eq!(
            told(&format!("fetch ResourceClaim c: {text}")),
            format!("{prefix} cannot read claim/n/c, although it exists: {text}")
        );
    }
    let text = "the server could not find the requested resource";
    for words in [
        "fetch ResourceClaim c",
        "failed to fetch ResourceClaim c referenced by pod p",
    ] {
        assert_eq!(
            told(&format!("{words}: {text}")),
            format!(
                "{prefix} (v1.35.8) reads claims through an API version of resource.k8s.io that the API server does not serve: {text}"
            )
        );
    }
    let found = told(r#"fetch ResourceClaim c: resourceclaims.resource.k8s.io "c" not found"#);
    assert_eq!(found, "Reserved");
}

#[test]
fn a_kubelet_without_a_feature_is_reported_with_its_version() {
    let of_group = |claim: &mut Value| {
        claim["reservedFor"] =
            json!([{"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "g", "uid": "g-uid"}]);
    };
    let member = |pod: &mut Value| pod["spec"]["schedulingGroup"] = json!({"podGroupName": "g"});
    let group = json!({"metadata": {"namespace": "n", "name": "g", "uid": "g-uid"}});
    let base = || {
        scene()
            .node("True", &json!([]))
            .claim(of_group)
            .pod(member)
            .with(Kind::PodGroup, &group)
            .world(|world| {
                world.knowing(|environment| {
                    let gate = dra_model::Gate::DRAWorkloadResourceClaims;
                    let on = dra_model::GateState {
                        enabled: true,
                        evidence: dra_model::Evidence::Flag,
                    };
                    environment
                        .gates
                        .push((dra_model::Component::Scheduler, gate, on));
                })
            })
    };
    let said = "pod p (p-uid) is not allowed to use ResourceClaim c (c-uid)";
    assert_eq!(
        base().event(said, &json!({})).told(),
        "Reserved KubeletTooOld Administrator: the kubelet on node-1 (v1.35.8) lacks feature DRAWorkloadResourceClaims, which \
         the claim needs"
    );
    assert!(!base().told().contains("KubeletTooOld"));
    let off = scene().node("True", &json!([])).event(
        "ResourceClaim c: DRAOptionalNodeOperations feature gate is disabled on kubelet",
        &json!({}),
    );
    assert!(off.told().contains("lacks feature DRAOptionalNodeOperations"));
}

#[test]
fn devices_that_a_reboot_lost_are_reported_with_the_reboot() {
    let text = "CDI device injection failed: unresolvable CDI devices gpu.example.com/gpu=g0";
    let lost = |pod: &mut Value| {
        pod["status"]["containerStatuses"][0]["state"]["waiting"] =
            json!({"reason": "CreateContainerError", "message": text});
    };
    let reboot = |at: &str| {
        json!({"metadata": {"namespace": "default", "name": "boot"}, "type": "Warning", "reason": "Rebooted",
            "source": {"component": "kubelet"}, "involvedObject": {"kind": "Node", "name": "node-1", "uid": "node-1"}, "lastTimestamp": at})
    };
    let base = || scene().node("True", &json!([])).pod(lost);
    let plain = "Starting DevicesUnresolvable User: the container runtime cannot find gpu.example.com/gpu=g0";
    let has_run = |pod: &mut Value| pod["status"]["phase"] = json!("Running");
    assert_eq!(base().pod(has_run).told(), plain);
    // Where no container has run, nothing shows that the driver has ever written the file, unless another pod runs with the claim.
    assert_eq!(
        base().told(),
        "Starting DevicesUnresolvable Driver: the container runtime cannot find gpu.example.com/gpu=g0: the driver wrote no CDI file for it where the runtime looks"
    );
    let other = json!({"metadata": {"namespace": "n", "name": "q", "uid": "q"}, "status": {"phase": "Running"},
        "spec": {"nodeName": "node-1", "resourceClaims": [{"name": "c", "resourceClaimName": "c"}]}});
    assert_eq!(base().with(Kind::Pod, &other).told(), plain);
    assert_eq!(
        base().with(Kind::Event, &reboot("2026-11-21T11:55:00Z")).told(),
        format!(
            "{plain}: node-1 rebooted at 2026-11-21T11:55:00Z, which deleted the driver's CDI files, and the driver has not rewritten them"
        )
    );
    // The kubelet has forgotten what it had prepared, in the words of older kubelets and newer ones.
    for text in [
        "unable to get claim info for claim c in namespace n",
        "internal error: unable to get claim info for ResourceClaim c in namespace n",
    ] {
        let forgotten = |pod: &mut Value| {
            pod["status"]["containerStatuses"][0]["state"]["waiting"] =
                json!({"reason": "CreateContainerConfigError", "message": text});
        };
        assert_eq!(
            base().pod(forgotten).told(),
            "Starting PreparationForgotten User: the kubelet on node-1 has no record of preparing claim/n/c, as after a restart without its checkpoint; it does not prepare claims again for a pod that already has a sandbox"
        );
    }
    // An earlier boot.
    assert_eq!(
        base()
            .pod(has_run)
            .with(Kind::Event, &reboot("2026-11-21T11:45:00Z"))
            .told(),
        plain
    );
}

#[test]
fn what_endangers_the_devices_of_a_running_pod_is_reported() {
    let base = || scene().node("True", &json!([])).running();
    let item = base().item();
    assert_eq!(
        (item.stage, item.devices.as_slice()),
        (Stage::Running, &["gpu.example.com/node-1/g0".to_owned()][..])
    );
    assert!(item.stuck.is_none());
    let health = |health: &str| {
        base().pod(|pod| {
            pod["status"]["containerStatuses"] = json!([{"name": "main", "state": {"running": {}}, "allocatedResourcesStatus": [
                {"name": "claim:c", "resources": [{"resourceID": "gpu.example.com/node-1/g0", "health": health, "message": "too hot"}]}]}]);
        })
    };
    assert_eq!(
        health("Unhealthy").told(),
        "Running DeviceUnhealthy Driver: gpu.example.com/node-1/g0 is reported unhealthy: too hot"
    );
    assert_eq!(health("Healthy").told(), "Running");
    // The kubelet names the CDI device, which is the only device of the claim.
    let of_cdi = base().pod(|pod| {
        pod["status"]["containerStatuses"] = json!([{"name": "main", "state": {"running": {}}, "allocatedResourcesStatus": [
            {"name": "claim:c", "resources": [{"resourceID": "gpu.example.com/gpu=1-2-g0", "health": "Unhealthy", "message": "too hot"}]}]}]);
    });
    assert_eq!(of_cdi.told(), health("Unhealthy").told());
    // A device of a device plugin is none of a claim.
    let of_device_plugin = base().pod(|pod| {
        pod["status"]["containerStatuses"] = json!([{"name": "main", "state": {"running": {}}, "allocatedResourcesStatus": [
            {"name": "example.com/nic", "resources": [{"resourceID": "nic-0", "health": "Unhealthy"}]}]}]);
    });
    assert_eq!(of_device_plugin.told(), "Running");
    let beside = |policy: &str| {
        base().pod(|pod| {
            pod["spec"]["restartPolicy"] = json!(policy);
            pod["spec"]["containers"] = json!([{"name": "main"}, {"name": "proxy"}]);
            pod["status"]["conditions"] = json!([
                {"type": "Ready", "status": "False", "lastTransitionTime": "2026-11-21T11:50:00Z"}]);
            pod["status"]["containerStatuses"] = json!([{"name": "main", "state": {"terminated": {
                "exitCode": 0, "finishedAt": "2026-11-21T11:50:00Z"}}}, {"name": "proxy", "state": {"running": {}}}]);
        })
    };
    assert_eq!(
        beside("OnFailure").told(),
        "Running ContainersLeft User: container main exited with code 0 at 2026-11-21T11:50:00Z, and the pod does not end before container \
         proxy"
    );
    assert!(!beside("Always").told().contains("ContainersLeft"));
    let condition = |value: &str| {
        base().claim(|claim| {
            claim["devices"] = json!([{"driver": DRIVER, "pool": "node-1", "device": "g0", "conditions": [
                {"type": "Ready", "status": value, "message": "link down"}]}]);
        })
    };
    assert_eq!(
        condition("False").told(),
        "Running DeviceUnhealthy Driver: gpu.example.com/node-1/g0 is reported unhealthy: link down"
    );
    assert_eq!(condition("True").told(), "Running");
    let unpublished = || {
        scene().node("True", &json!([])).pod(|pod| {
            pod["status"]["phase"] = json!("Running");
            pod["status"]["containerStatuses"] = json!([]);
        })
    };
    assert!(unpublished().told().starts_with(
        "Running DeviceNotPublished Driver: gpu.example.com/node-1/g0 is no longer in the driver's slices"
    ));
    // A kubelet that has just started had the slices deleted.
    assert_eq!(
        unpublished()
            .with(Kind::Event, &kubelet_starts("2026-11-21T11:59:45Z"))
            .told(),
        "Running"
    );
    assert_eq!(
        unpublished()
            .world(|world| world.without(Kind::ResourceSlice))
            .told(),
        "Running"
    );
    // What an outdated slice lists is gone for the scheduler too.
    let newer = json!({"metadata": {"name": "t"}, "spec": {"driver": DRIVER, "nodeName": "node-1",
        "pool": {"name": "node-1", "generation": 2, "resourceSliceCount": 1}, "devices": [{"name": "g1"}]}});
    assert!(
        base()
            .with(Kind::ResourceSlice, &newer)
            .told()
            .starts_with("Running DeviceNotPublished Driver: ")
    );
    // A container that crashes does not run.
    let crashing = |pod: &mut Value| {
        pod["status"]["containerStatuses"] =
            json!([{"name": "main", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]);
    };
    assert_eq!(
        base().pod(crashing).told(),
        "Starting ContainerEnds User: container main keeps exiting"
    );
}

#[test]
fn a_pod_that_does_not_terminate_is_reported_with_the_reason() {
    let base = || scene().node("True", &json!([])).ending();
    assert_eq!(
        base().told(),
        "Unpreparing DriverNotRegistered Driver: driver gpu.example.com is not registered with the kubelet on node-1: no pod on node-1 appears to be the driver's"
    );
    let served = || base().published().plugin(PLUGIN, "node-1", &ready());
    assert_eq!(
        served().told(),
        "Unpreparing UnprepareFails Driver: its containers have exited, but driver gpu.example.com does not unprepare its devices; only the logs of the kubelet and the driver report why"
    );
    // Which of several it is nothing tells.
    let other = |claim: &mut Value| {
        let results = claim["allocation"]["devices"]["results"].as_array_mut().unwrap();
        results.push(json!({"request": "s", "driver": "nic.example.com", "pool": "node-1", "device": "n0"}));
    };
    let nic = json!({"metadata": {"name": "nic"}, "spec": {"driver": "nic.example.com", "nodeName": "node-1",
        "pool": {"name": "node-1", "generation": 1, "resourceSliceCount": 1}, "devices": [{"name": "n0"}]}});
    let told = served().claim(other).with(Kind::ResourceSlice, &nic).told();
    assert!(
        told.contains("driver gpu.example.com or driver nic.example.com does not unprepare its devices"),
        "{told}"
    );
    let early = |pod: &mut Value| pod["metadata"]["deletionTimestamp"] = json!("2026-11-21T11:59:30Z");
    assert_eq!(served().pod(early).told(), "Unpreparing");
    let late = |pod: &mut Value| pod["status"]["containerStatuses"] = json!([]);
    assert_eq!(
        base().pod(late).told(),
        "Unpreparing ContainersNotStopped Administrator: the kubelet on node-1 has not stopped its containers, which was due at 2026-11-21T11:55:00Z"
    );
    let running = |pod: &mut Value| {
        late(pod);
        pod["metadata"]["deletionTimestamp"] = json!("2026-11-21T11:57:00Z");
    };
    assert_eq!(
        base().pod(running).told(),
        "Unpreparing waits: containers are still running"
    );
    let kill =
        json!({"reason": "FailedKillPod", "message": "error killing pod: failed to \"KillPodSandbox\""});
    assert_eq!(
        served().event("", &kill).told(),
        "Unpreparing KillFails Administrator: the kubelet on node-1 cannot remove its sandbox: error killing pod: failed to \
         \"KillPodSandbox\""
    );
    assert!(
        scene()
            .node("Unknown", &json!([]))
            .ending()
            .told()
            .starts_with("Unpreparing NodeSilent Administrator: ")
    );
    // A kubelet that says itself that its node is not ready still ends pods.
    let unready = scene().node("False", &json!([])).ending();
    assert_eq!(unready.told(), base().told());
    let unready = scene().node("False", &json!([])).ending().pod(running);
    assert_eq!(
        unready.told(),
        "Unpreparing waits: containers are still running, and node/node-1 is not ready"
    );
    // Nor does one without a container runtime, whatever has ended before.
    let down = json!({"metadata": {"name": "node-1"}, "status": {"conditions": [
        {"type": "Ready", "status": "False", "message": "container runtime is down"}]}});
    for pod in [scene().ending(), scene().ending().pod(running)] {
        let told = pod.with(Kind::Node, &down).told();
        assert!(
            told.starts_with("Unpreparing RuntimeDown Administrator: "),
            "{told}"
        );
    }
    // Others on the node use the claim: the driver is not asked yet.
    let other = json!({"metadata": {"namespace": "n", "name": "q", "uid": "q"}, "status": {"phase": "Running"},
        "spec": {"nodeName": "node-1", "resourceClaims": [{"name": "c", "resourceClaimName": "c"}]}});
    assert_eq!(served().with(Kind::Pod, &other).told(), "Unpreparing");
    // The driver asks not to be asked.
    let skipped = |claim: &mut Value| {
        claim["allocation"]["devices"]["results"][0]["skipNodeOperations"] =
            json!(["NodeUnprepareResources"]);
    };
    assert_eq!(served().claim(skipped).told(), "Unpreparing");
    let finalizer = |pod: &mut Value| {
        pod["metadata"]["finalizers"] = json!(["example.com/keep"]);
        pod["status"]["phase"] = json!("Succeeded");
    };
    assert_eq!(
        base().pod(finalizer).told(),
        "Gone Finalizers Administrator: none of its containers is running, but finalizer example.com/keep keeps the pod"
    );
    let succeeded = |at: &'static str| {
        base()
            .pod(move |pod| {
                pod["status"]["phase"] = json!("Succeeded");
                pod["metadata"]["deletionTimestamp"] = json!(at);
            })
            .told()
    };
    assert_eq!(succeeded("2026-11-21T11:58:00Z"), "Gone");
    assert_eq!(
        succeeded("2026-11-21T11:55:00Z"),
        "Gone NotRemoved Administrator: it has finished, but the kubelet on node-1 has not removed it, which was due at 2026-11-21T11:55:00Z"
    );
    let unmade = |pod: &mut Value| {
        pod["spec"]["resourceClaims"] = json!([{"name": "c", "resourceClaimTemplateName": "t"}]);
        pod["status"] = json!({"phase": "Pending"});
    };
    assert_eq!(
        base().pod(unmade).told(),
        "Unpreparing ClaimNeverMade Administrator: it was deleted before its claim c was created, and the kubelet on node-1 fails to unprepare a claim without a name (kubernetes/kubernetes#139772)"
    );
}

/// The kubelet does not tell that a pod has ended before drivers have taken its devices back.
#[test]
fn a_finished_pod_is_not_said_to_run() {
    let ended = |policy: &str, code: i32| {
        let state = json!({"terminated": {"exitCode": code, "finishedAt": "2026-11-21T11:50:30Z"}});
        scene()
            .node("True", &json!([]))
            .plugin(PLUGIN, "node-1", &ready())
            .running()
            .pod(|pod| {
                pod["spec"]["restartPolicy"] = json!(policy);
                pod["status"]["containerStatuses"] = json!([{"name": "main", "state": state}]);
            })
    };
    let fails = "Unpreparing UnprepareFails Driver: its containers have exited, but driver gpu.example.com does not unprepare its devices; only the logs of the kubelet and the driver report why";
    for (policy, code, expected) in [
        ("Never", 0, fails),
        ("Never", 1, fails),
        ("OnFailure", 0, fails),
        (
            "OnFailure",
            1,
            "Starting ContainerEnds User: container main is not running: it exited with code 1, and is restarted",
        ),
        (
            "Always",
            0,
            "Starting ContainerEnds User: container main is not running: it exited with code 0, and is restarted",
        ),
    ] {
        assert_eq!(ended(policy, code).told(), expected, "{policy} {code}");
    }
    let stuck = ended("Never", 0).item().stuck.unwrap();
    assert_eq!(stuck.since.unwrap().to_string(), "2026-11-21T11:50:30Z");
    assert_eq!(
        stuck.evidence[0],
        "its last container exited at 2026-11-21T11:50:30Z"
    );
    let just_now = |pod: &mut Value| {
        pod["status"]["containerStatuses"][0]["state"]["terminated"]["finishedAt"] =
            json!("2026-11-21T11:59:30Z");
    };
    assert_eq!(ended("Never", 0).pod(just_now).told(), "Unpreparing");
    // A sidecar of it still runs, or does not any more.
    let sidecar = |pod: &mut Value| {
        pod["spec"]["initContainers"] = json!([{"name": "side", "restartPolicy": "Always"}]);
    };
    assert_eq!(ended("Never", 0).pod(sidecar).told(), "Running");
    let stopped = |pod: &mut Value| {
        sidecar(pod);
        pod["status"]["initContainerStatuses"] =
            json!([{"name": "side", "state": {"terminated": {"exitCode": 0}}}]);
    };
    assert_eq!(ended("Never", 0).pod(stopped).told(), fails);
    // An init container that failed is the end where it is not tried again.
    let failed = |policy: &str| {
        let policy = policy.to_owned();
        move |pod: &mut Value| {
            pod["spec"]["restartPolicy"] = json!(policy);
            pod["spec"]["initContainers"] = json!([{"name": "first"}]);
            pod["status"]["phase"] = json!("Pending");
            pod["status"]["containerStatuses"] =
                json!([{"name": "main", "state": {"waiting": {"reason": "PodInitializing"}}}]);
            pod["status"]["initContainerStatuses"] = json!([{"name": "first", "state": {"terminated": {"exitCode": 3, "finishedAt": "2026-11-21T11:50:30Z"}}}]);
        }
    };
    assert_eq!(ended("Never", 0).pod(failed("Never")).told(), fails);
    assert_eq!(
        ended("Never", 0).pod(failed("OnFailure")).told(),
        "Starting ContainerEnds User: container first is not running: it exited with code 3, and is restarted"
    );
    // The driver is gone: this finding is the only one that reports a Job that never ends.
    let gone = scene().node("True", &json!([])).pod(|pod| {
        pod["spec"]["restartPolicy"] = json!("Never");
        pod["status"]["phase"] = json!("Running");
        pod["status"]["containerStatuses"] =
            json!([{"name": "main", "state": {"terminated": {"exitCode": 0, "finishedAt": "2026-11-21T11:50:30Z"}}}]);
    });
    let list = findings::check(&gone.build(), &findings::CheckRequest::now(now()));
    let mut codes = list.items.iter().map(|item| item.code);
    assert!(
        codes.any(|code| code == findings::Code::DriverNotRegistered),
        "{list:?}"
    );
}

#[test]
fn a_pod_waits_for_its_device_to_be_attached() {
    let unbound = |pod: &mut Value| pod["spec"]["nodeName"] = json!(null);
    let attach = |claim: &mut Value| {
        claim["allocation"]["devices"]["results"][0]["bindingConditions"] = json!(["attached"]);
        claim["allocation"]["devices"]["results"][0]["bindingFailureConditions"] = json!(["broken"]);
    };
    let base = || scene().pod(unbound).claim(attach);
    let late = "Reserved BindingTimedOut Driver: gpu.example.com/node-1/g0 was not attached in time: attached has not been set";
    assert_eq!(base().told(), late);
    let recent =
        |claim: &mut Value| claim["allocation"]["allocationTimestamp"] = json!("2026-11-21T11:58:00Z");
    assert_eq!(
        base().claim(recent).told(),
        "Reserved BindingPending Driver: gpu.example.com/node-1/g0 is not attached yet: attached has not been set"
    );
    let condition = |type_: &str| {
        let device = json!({"driver": DRIVER, "pool": "node-1", "device": "g0",
            "conditions": [{"type": type_, "status": "True", "message": "no fabric"}]});
        base().claim(|claim| claim["devices"] = json!([device]))
    };
    assert_eq!(condition("attached").told(), "Reserved");
    assert_eq!(
        condition("broken").told(),
        "Reserved BindingFailed Driver: gpu.example.com/node-1/g0 cannot be attached (broken): no fabric"
    );
    // The scheduler gives up after ten minutes, not at ten minutes.
    let just = |claim: &mut Value| claim["allocation"]["allocationTimestamp"] = json!("2026-11-21T11:50:00Z");
    assert!(base().claim(just).told().starts_with("Reserved BindingPending "));
    let is_found = |scene: Scene| {
        let list = findings::check(&scene.build(), &findings::CheckRequest::now(now()));
        let mut codes = list.items.iter().map(|item| item.code);
        codes.any(|code| code == findings::Code::BindingPending)
    };
    assert!(is_found(base()));
    assert!(!is_found(base().claim(just)));
    // Without a time the scheduler never finds it too late.
    let untimed = |claim: &mut Value| claim["allocation"]["allocationTimestamp"] = json!(null);
    assert!(
        base()
            .claim(untimed)
            .told()
            .starts_with("Reserved BindingPending ")
    );
    assert!(!is_found(base().claim(untimed)));
    // It does not look at a device that has nothing to wait for.
    let without = |claim: &mut Value| {
        claim["allocation"]["devices"]["results"][0]["bindingConditions"] = json!([]);
    };
    assert_eq!(condition("broken").claim(without).told(), "Reserved");
}

/// The scheduler gives up what failed, and gives the same device out again unless something keeps it from that.
#[test]
fn a_device_that_cannot_be_attached_is_not_allocated_again() {
    let unbound = |pod: &mut Value| pod["spec"]["nodeName"] = json!(null);
    let fails = |claim: &mut Value| {
        claim["allocation"]["devices"]["results"][0]["bindingConditions"] = json!(["attached"]);
        claim["allocation"]["devices"]["results"][0]["bindingFailureConditions"] = json!(["broken"]);
        claim["devices"] = json!([{"driver": DRIVER, "pool": "node-1", "device": "g0",
            "conditions": [{"type": "broken", "status": "True", "message": "no fabric"}]}]);
    };
    let base = || scene().pod(unbound).claim(fails);
    let told = |scene: Scene| scene.item().stuck.unwrap();
    let failed = told(base());
    let command = failed.command.unwrap().to_string();
    assert!(
        command.contains("--driver=gpu.example.com --pool=node-1 --device=g0")
            && command.contains("NoSchedule"),
        "{command}"
    );
    assert!(
        failed
            .note
            .unwrap()
            .contains("kube-scheduler deallocates the claim and retries automatically"),
        "the text names the actor"
    );
    // Where no rule can taint it, only the driver can.
    let without =
        base().world(|world| world.knowing(|environment| environment.not_served.push(Kind::DeviceTaintRule)));
    assert!(told(without).command.is_none());
    let late = |claim: &mut Value| claim["devices"] = json!([]);
    let timed_out = told(base().claim(late));
    assert_eq!(timed_out.cause, "BindingTimedOut");
    assert!(timed_out.command.is_none());
    assert!(
        timed_out
            .note
            .unwrap()
            .contains("kube-scheduler deallocates the claim and retries automatically"),
        "the text names the actor"
    );
    // `explain` tells the stage of a pod that has no node yet.
    let cluster = base().build();
    let pod = cluster.pod(&dra_model::Key::new("n", "p")).unwrap();
    let budget = Budget::new(1_000);
    let report = Explanation::from(explain_pod(&cluster, pod, &Settings::of_test(&budget)));
    let stage = report.stage.unwrap();
    assert_eq!(
        (stage.stage, stage.stuck.unwrap().cause),
        (Stage::Reserved, "BindingFailed")
    );
}

#[test]
fn a_remedy_is_a_command_where_one_helps() {
    let command = |scene: Scene| {
        let stuck = scene.item().stuck.unwrap();
        stuck.command.map(|script| script.to_string())
    };
    let taint = json!([{"key": "gpu", "effect": "NoSchedule"}]);
    let kept_off = scene()
        .node("True", &taint)
        .event(NOT_REGISTERED, &json!({}))
        .plugin(PLUGIN, "node-2", &ready());
    let text = command(kept_off).unwrap();
    assert!(
        text.starts_with(&format!(
            "kubectl patch daemonset/{PLUGIN} --namespace=kube-system --type=json"
        )),
        "{text}"
    );
    let unknown = scene()
        .node("True", &json!([]))
        .event(NOT_REGISTERED, &json!({}))
        .plugin(PLUGIN, "node-1", &ready());
    assert_eq!(
        command(unknown).unwrap(),
        format!("kubectl delete pod/{PLUGIN}-node-1 --namespace=kube-system")
    );
    // Only a pod that a controller recreates is deleted.
    let owned = |pod: &mut Value| {
        pod["metadata"]["ownerReferences"] = json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "r", "controller": true}]);
    };
    let unreserved = || {
        scene()
            .node("True", &json!([]))
            .claim(|claim| claim["reservedFor"] = json!([]))
    };
    assert_eq!(command(unreserved()), None);
    assert_eq!(
        command(unreserved().pod(owned)).unwrap(),
        "kubectl delete pod/p --namespace=n"
    );
    // Every pod of the node that has the claim has to go before it is prepared anew.
    let lost = |pod: &mut Value| {
        pod["status"]["phase"] = json!("Running");
        pod["status"]["containerStatuses"][0]["state"]["waiting"] = json!({"reason": "CreateContainerError",
            "message": "CDI device injection failed: unresolvable CDI devices gpu.example.com/gpu=g0"});
    };
    let other = |phase: &str| {
        let mut pod = json!({"metadata": {"namespace": "n", "name": "q", "uid": "q"}, "status": {"phase": phase},
            "spec": {"nodeName": "node-1", "resourceClaims": [{"name": "c", "resourceClaimName": "c"}]}});
        owned(&mut pod);
        pod
    };
    let shared = |scene: Scene, phase: &str| {
        command(
            scene
                .node("True", &json!([]))
                .pod(lost)
                .with(Kind::Pod, &other(phase)),
        )
    };
    assert_eq!(
        shared(scene().pod(owned), "Pending").unwrap(),
        "kubectl delete pod/p pod/q --namespace=n"
    );
    assert_eq!(shared(scene(), "Pending"), None);
    // One that runs is not ended for another.
    assert_eq!(shared(scene().pod(owned), "Running"), None);
    // Where another scheduler placed it without devices, it would do so again.
    let unreserved = scene()
        .node("True", &json!([]))
        .claim(|claim| claim["reservedFor"] = json!([]))
        .pod(|pod| pod["spec"]["schedulerName"] = json!("volcano"));
    assert_eq!(command(unreserved), None);
}

/// `explain` and `check` report a pod that has finished and is not gone, and the printed command removes what was read and nothing else.
#[test]
fn a_pod_that_a_finalizer_keeps_is_reported_by_explain_and_check() {
    let kept = |finalizers: Value, deleted: &str| {
        let deleted = json!(deleted);
        scene().node("True", &json!([])).pod(move |pod| {
            pod["metadata"]["finalizers"] = finalizers;
            pod["metadata"]["deletionTimestamp"] = deleted;
            pod["status"]["phase"] = json!("Failed");
        })
    };
    let late = "2026-11-21T11:55:00Z";
    let foreign = || kept(json!(["example.com/keep"]), late);
    let stuck = foreign().item().stuck.unwrap();
    assert_eq!(
        stuck.command.unwrap().to_string(),
        r#"kubectl patch pod/p --namespace=n --type=json -p '[{"op":"test","path":"/metadata/finalizers","value":["example.com/keep"]},{"op":"remove","path":"/metadata/finalizers"}]'"#
    );
    assert!(
        stuck
            .note
            .unwrap()
            .starts_with("only if the controller that set the finalizer is gone for good")
    );
    // What components of Kubernetes set they take off themselves.
    let tracked = "batch.kubernetes.io/job-tracking";
    let mixed = kept(json!([tracked, "example.com/keep"]), late)
        .item()
        .stuck
        .unwrap();
    assert!(mixed.command.unwrap().to_string().ends_with(
        r#"{"op":"replace","path":"/metadata/finalizers","value":["batch.kubernetes.io/job-tracking"]}]'"#
    ));
    let own = kept(json!([tracked, "foregroundDeletion"]), late)
        .item()
        .stuck
        .unwrap();
    assert!(own.command.is_none(), "{own:?}");

    let explained = |scene: Scene| {
        let cluster = scene.build();
        let pod = cluster.pod(&dra_model::Key::new("n", "p")).unwrap();
        let budget = Budget::new(1_000);
        let report = Explanation::from(explain_pod(&cluster, pod, &Settings::of_test(&budget)));
        let kinds: Vec<&str> = report.fixes.iter().map(|fix| fix.kind).collect();
        format!("{:?} {kinds:?}: {}", report.verdict, report.summary)
    };
    assert_eq!(
        explained(foreign()),
        "Broken [\"RemoveFinalizer\"]: the pod is being deleted, but is not gone: none of its containers is running, but finalizer example.com/keep keeps the pod"
    );
    assert_eq!(
        explained(kept(json!(["example.com/keep"]), "2026-11-21T11:59:30Z")),
        "Ended []: the pod has finished: Failed"
    );
    let found = |scene: Scene| {
        let list = findings::check(&scene.build(), &findings::CheckRequest::now(now()));
        let items = list.items.into_iter();
        items
            .filter(|item| item.code == findings::Code::DeletionStuck)
            .map(|item| item.message.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        found(foreign()),
        [
            "is not gone: none of its containers is running, but finalizer example.com/keep keeps the pod (since 2026-11-21T11:55:00Z)"
        ]
    );
    assert_eq!(
        found(kept(json!(["example.com/keep"]), "2026-11-21T11:59:30Z")),
        [""; 0]
    );
}

/// In a cluster where all is well nothing is said, of 2,000 pods that run.
#[test]
fn a_healthy_cluster_has_no_finding_and_every_pod_runs_with_its_devices() {
    const NODES: usize = 40;
    const DEVICES: usize = 50;
    let mut world = World::default().class(DRIVER);
    for node in 0..NODES {
        let name = format!("node-{node}");
        let devices: Vec<Value> = (0..DEVICES)
            .map(|device| json!({"name": format!("g{device}")}))
            .collect();
        let ready = json!([{"type": "Ready", "status": "True"}]);
        world = world
            .with(Kind::Node, &json!({"metadata": {"name": name}, "status": {"conditions": ready}}))
            .with(
                Kind::ResourceSlice,
                &json!({"metadata": {"name": format!("s{node}")}, "spec": {"driver": DRIVER, "nodeName": name, "devices": devices,
                    "pool": {"name": name, "generation": 1, "resourceSliceCount": 1}}}),
            );
        for device in 0..DEVICES {
            let pod = format!("p-{node}-{device}");
            let selector = json!({"nodeSelectorTerms": [
                {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}]});
            let result =
                json!({"request": "r", "driver": DRIVER, "pool": name, "device": format!("g{device}")});
            let exactly = json!({"deviceClassName": DRIVER, "allocationMode": "ExactCount", "count": 1});
            world = world
                .with(
                    Kind::ResourceClaim,
                    &json!({"metadata": {"namespace": "n", "name": pod, "uid": format!("{pod}-claim"),
                            "finalizers": ["resource.kubernetes.io/delete-protection"]},
                        "spec": {"devices": {"requests": [{"name": "r", "exactly": exactly}]}},
                        "status": {"allocation": {"devices": {"results": [result]}, "nodeSelector": selector},
                            "reservedFor": [{"resource": "pods", "name": pod, "uid": pod}]}}),
                )
                .with(
                    Kind::Pod,
                    &json!({"metadata": {"namespace": "n", "name": pod, "uid": pod},
                        "spec": {"nodeName": name, "containers": [{"name": "main", "resources": {"claims": [{"name": "c"}]}}],
                                 "resourceClaims": [{"name": "c", "resourceClaimName": pod}]},
                        "status": {"phase": "Running", "startTime": "2026-11-21T11:00:00Z",
                            "conditions": [{"type": "Ready", "status": "True"}, {"type": "PodReadyToStartContainers", "status": "True"}],
                            "containerStatuses": [{"name": "main", "ready": true, "state": {"running": {"startedAt": "2026-11-21T11:00:01Z"}},
                                "allocatedResourcesStatus": [{"name": "claim:c", "resources": [
                                    {"resourceID": format!("{DRIVER}/gpu=g{device}"), "health": "Healthy"}]}]}]}}),
                )
                .with(
                    Kind::Event,
                    &json!({"metadata": {"namespace": "n", "name": format!("{pod}.1")}, "type": "Normal", "reason": "Started",
                        "involvedObject": {"kind": "Pod", "namespace": "n", "name": pod, "uid": pod},
                        "source": {"component": "kubelet"}, "message": "Container started", "lastTimestamp": "2026-11-21T11:00:01Z"}),
                );
        }
    }
    let cluster = world.build();
    let list = findings::check(&cluster, &findings::CheckRequest::now(now()));
    assert!(list.items.is_empty(), "{:?}", list.items.first());
    let budget = Budget::new(1_000);
    let settings = Settings::of_test(&budget);
    let mut running = 0;
    for pod in cluster.pods() {
        let report = Explanation::from(explain_pod(&cluster, pod, &settings));
        let stage = report.stage.as_ref().unwrap();
        let (_, device) = pod.metadata.name.rsplit_once('-').unwrap();
        let node = pod.node().unwrap();
        assert_eq!(
            report.summary.to_string(),
            format!("the pod is running on {node} with {DRIVER}/{node}/g{device}")
        );
        assert!(stage.stage == Stage::Running && stage.stuck.is_none());
        running += 1;
    }
    assert_eq!(running, NODES * DEVICES);
}

/// An event of the kubelet with this reason and this text.
fn says(reason: &str, message: &str) -> Value {
    json!({"reason": reason, "message": message, "firstTimestamp": "2026-11-21T11:51:00Z", "count": 14,
        "lastTimestamp": "2026-11-21T11:59:00Z"})
}

#[test]
fn whatever_keeps_a_pod_from_running_is_reported() {
    let base = || scene().node("True", &json!([]));
    let waiting = |reason: &str, message: &str| {
        let waiting = json!({"reason": reason, "message": message});
        move |pod: &mut Value| pod["status"]["containerStatuses"][0]["state"]["waiting"] = waiting.clone()
    };
    let runtime =
        "rpc error: code = Unavailable desc = connection error: desc = \"transport: Error while dialing\"";
    for (scene, expected) in [
        (
            base().event("", &says("FailedCreatePodSandBox", "NRI: resource busy")),
            "Prepared SandboxFails Administrator: the container runtime fails to create its sandbox, after its devices were prepared: NRI: \
             resource busy"
                .to_owned(),
        ),
        (
            base().event("", &says("FailedCreatePodSandBox", runtime)),
            format!("Prepared RuntimeDown Administrator: the container runtime on node-1 does not respond to the kubelet: {runtime}"),
        ),
        (
            base().event("", &says("FailedMount", "secret \"s\" not found")),
            "Reserved VolumesNotMounted User: the kubelet cannot mount its volumes: secret \"s\" not found".to_owned(),
        ),
        (
            base().event("", &says("VolumePermissionChangeInProgress", "Setting volume ownership for v, processed 9 files.")),
            "Reserved OwnershipChanges Kubelet: the kubelet is changing the group of the files of a volume (fsGroup), which comes before \
             devices, and is slow with many files: Setting volume ownership for v, processed 9 files."
                .to_owned(),
        ),
        // What was not there yet mostly is at the next try.
        (
            base().event(
                "",
                &json!({"reason": "FailedMount", "message": "failed to sync configmap cache: timed out waiting for the condition",
                        "firstTimestamp": "2026-11-21T11:59:30Z", "count": 1, "lastTimestamp": "2026-11-21T11:59:30Z"}),
            ),
            "Reserved".to_owned(),
        ),
        (
            base().event("", &says("NetworkNotReady", "cni plugin not initialized")),
            "Reserved NetworkNotReady Administrator: the network of node-1 is not ready, so the kubelet starts no pods: cni plugin not \
             initialized"
                .to_owned(),
        ),
        (
            base().event("", &says("FailedValidation", "duplicate pod name")),
            "Reserved Unrecognized Administrator: the kubelet reports an unrecognized problem: duplicate pod name".to_owned(),
        ),
        (
            scene().with(
                Kind::Node,
                &json!({"metadata": {"name": "node-1"}, "status": {"conditions": [
                    {"type": "Ready", "status": "False", "message": "PLEG is not healthy"}]}}),
            ),
            "Reserved NodeNotReady Administrator: node/node-1 is not ready: PLEG is not healthy".to_owned(),
        ),
        (
            base().pod(waiting("CreateContainerConfigError", "configmap \"c\" not found")),
            "Starting ContainerNotStarted User: container main has not started: CreateContainerConfigError: configmap \"c\" not found"
                .to_owned(),
        ),
        (
            base().pod(waiting("ImagePullBackOff", "Back-off pulling image \"r.io/m:1\": not found")).pod(|pod| {
                pod["spec"]["volumes"] = json!([{"name": "model", "image": {"reference": "r.io/m:1"}}]);
            }),
            "Starting ImageVolumeNotPulled User: the image of volume model is not pulled: Back-off pulling image \"r.io/m:1\": not found"
                .to_owned(),
        ),
        (
            base().pod(waiting("ImageInspectError", runtime)),
            format!("Starting RuntimeDown Administrator: the container runtime on node-1 does not respond to the kubelet: {runtime}"),
        ),
        (
            base().pod(waiting("CrashLoopBackOff", "back-off")).pod(|pod| {
                pod["status"]["phase"] = json!("Running");
                pod["status"]["containerStatuses"][0]["lastState"] =
                    json!({"terminated": {"exitCode": 137, "reason": "OOMKilled"}});
            }),
            "Starting ContainerEnds User: container main is not running: it exited with code 137 (OOMKilled), and is restarted"
                .to_owned(),
        ),
        (
            base().pod(|pod| {
                pod["status"] = json!({"phase": "Failed", "reason": "OutOfexample.com/gpu",
                    "message": "Pod was rejected: Node didn't have enough resource: example.com/gpu"});
            }),
            "Gone PodFailed User: the kubelet on node-1 rejected it: OutOfexample.com/gpu: Node didn't have enough resource: example.com/gpu"
                .to_owned(),
        ),
        (
            base().pod(|pod| {
                pod["status"] = json!({"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory."});
            }),
            "Gone PodFailed User: it failed: Evicted: The node was low on resource: memory.".to_owned(),
        ),
    ] {
        assert_eq!(scene.told(), expected);
    }
    // What is older than the step that the kubelet has got to is over.
    let sandbox = || base().event("", &says("FailedCreatePodSandBox", "resource busy"));
    let pulled = json!({"type": "Normal", "reason": "Pulled", "lastTimestamp": "2026-11-21T11:59:00Z"});
    assert_eq!(sandbox().event("image", &pulled).told(), "Reserved");
    // How often the kubelet has said it, and since when.
    assert_eq!(
        sandbox().item().stuck.unwrap().evidence,
        ["kubelet (14×, first at 2026-11-21T11:51:00Z, last at 2026-11-21T11:59:00Z): resource busy"]
    );
    // A pod that is ready runs.
    let ready = |pod: &mut Value| {
        pod["status"]["phase"] = json!("Running");
        pod["status"]["conditions"] = json!([{"type": "Ready", "status": "True"}]);
    };
    assert_eq!(sandbox().published().pod(ready).told(), "Running");
    // After a reboot the newest event tells, though the phase is still Running.
    let rebooted = |pod: &mut Value| {
        pod["status"]["phase"] = json!("Running");
        pod["status"]["containerStatuses"] = json!([{"name": "main", "state": {"terminated": {"exitCode": 137, "finishedAt": "2026-11-21T11:57:00Z"}}}]);
    };
    let told = base().pod(rebooted).event(NOT_REGISTERED, &json!({})).told();
    assert!(
        told.starts_with("Reserved DriverNotRegistered Driver: "),
        "{told}"
    );
}

/// The kubelet's texts about a driver whose process is gone, as `google.golang.org/grpc` writes them.
#[test]
fn a_driver_that_does_not_answer_is_distinguished_from_one_that_refuses() {
    for text in [
        "error reading from server: EOF",
        "error reading from server: read unix @->/var/lib/kubelet/plugins/gpu.example.com/dra.sock: read: connection reset by peer",
        "connection error: desc = \"transport: Error while dialing: dial unix /x.sock: connect: connection refused\"",
    ] {
        let text = format!("rpc error: code = Unavailable desc = {text}");
        let said = format!("NodePrepareResources: {text}");
        assert_eq!(
            scene().node("True", &json!([])).event(&said, &json!({})).told(),
            format!(
                "Reserved DriverDown Driver: driver gpu.example.com does not respond to the kubelet on node-1: its process is not running, or just exited: {text}"
            )
        );
    }
    let own = "NodePrepareResources: rpc error: code = Unavailable desc = the GPU is busy";
    let told = scene().node("True", &json!([])).event(own, &json!({})).told();
    assert!(told.starts_with("Reserved DriverFails Driver: "), "{told}");
}

#[test]
fn containers_that_cannot_be_ended_run_on() {
    let text =
        "error killing pod: rpc error: code = Unavailable desc = connection error: desc = \"dial unix\"";
    let running = |pod: &mut Value| {
        pod["metadata"]["deletionTimestamp"] = json!("2026-11-21T11:59:50Z");
        pod["status"]["containerStatuses"] = json!([]);
    };
    let told = scene()
        .node("True", &json!([]))
        .ending()
        .pod(running)
        .event("", &says("FailedKillPod", text))
        .told();
    assert_eq!(
        told,
        format!(
            "Running RuntimeDown Administrator: the container runtime on node-1 does not respond to the kubelet: {text}"
        )
    );
}
