//! Kubelet support for tests: ready nodes, running and finishing pods.

use http::Method;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::Cluster;
use super::api::{Api, path_of, reference};
use super::objects::{Manifest, gpu_class, gpu_slice, nic_class, nic_slice};
use crate::support::wait::try_wait;

/// Phase of a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Running,
    Succeeded,
    Failed,
}

impl Cluster {
    /// Adds ready nodes, alternately in `zone-a` and `zone-b`.
    #[track_caller]
    pub(crate) fn add_nodes<'a>(&self, names: impl IntoIterator<Item = &'a str>) {
        for (index, name) in names.into_iter().enumerate() {
            self.create(&node(name, ["zone-a", "zone-b"][index % 2]));
            let reference = format!("node/{name}");
            self.patch_status(&reference, &ready_status());
            // Admission taints every new node; the controller that takes the taint away needs heartbeats.
            self.patch(&reference, &json!({"spec": {"taints": null}}));
        }
    }

    /// Adds the nodes `gpu-node-1` and so on, with eight GPUs and eight NICs each, and the two classes.
    #[track_caller]
    pub(crate) fn add_gpu_nodes(&self, count: usize) {
        self.create_all(&[gpu_class(), nic_class()]);
        let names: Vec<String> = (1..=count).map(|number| format!("gpu-node-{number}")).collect();
        self.add_nodes(names.iter().map(String::as_str));
        for name in &names {
            self.create_all(&[gpu_slice(name, 8), nic_slice(name, 8)]);
        }
    }

    /// Creates objects, waits until the scheduler has put every pod among them on a node, and lets them run.
    #[track_caller]
    pub(crate) fn run<'a>(&self, objects: impl IntoIterator<Item = &'a Value>) {
        let mut pods = Vec::new();
        for object in objects {
            let created = self.create(object);
            if created["kind"] == "Pod" {
                pods.push(reference(&created));
            }
        }
        self.wait_scheduled(pods.iter().map(String::as_str));
        self.run_kubelets();
    }

    /// One pass over all nodes: pods that are on a node run from now on.
    #[track_caller]
    pub(crate) fn run_kubelets(&self) {
        for pod in self.list("pod") {
            let deleting = pod["metadata"]["deletionTimestamp"].is_string();
            if pod["spec"]["nodeName"].is_string() && pod["status"]["phase"] == "Pending" && !deleting {
                self.set_phase(&reference(&pod), Phase::Running);
            }
        }
    }

    /// One pass over all nodes: pods that are being deleted are gone from now on.
    #[track_caller]
    pub(crate) fn finish_deletions(&self) {
        for pod in self.list("pod") {
            if pod["metadata"]["deletionTimestamp"].is_string() {
                self.delete_now(&reference(&pod));
            }
        }
    }

    /// Sets how a pod is doing, as its kubelet would.
    #[track_caller]
    pub(crate) fn set_phase(&self, pod: &str, phase: Phase) {
        let status = pod_status(&self.get(pod), phase);
        let path = path_of(pod) + "/status";
        // Strategic, since conditions of others must stay.
        let answer = self.request_as(
            &Method::PATCH,
            &path,
            "application/strategic-merge-patch+json",
            &status,
        );
        assert!(answer.is_success(), "PATCH {path}: {answer:?}");
    }

    /// Lets the scheduler decide on one pod, and returns the pod then.
    ///
    /// The pod is held back until its claims exist; `fits` is then told what the cluster looks like
    /// ([`dump`](Api::dump)) and predicts whether the pod fits. A pod that should fit is waited for until it
    /// is on a node, since the scheduler may say no before it has seen everything, and drivers may have to
    /// attach its devices; any other until the scheduler has decided either way.
    #[track_caller]
    pub(crate) fn place(&self, pod: &Value, fits: impl FnOnce(&Value) -> bool) -> Value {
        let held = json!({"spec": {"schedulingGates": [{"name": "example.com/held"}]}});
        let pod = reference(&self.create(&pod.clone().with(held)));
        self.wait(&pod, "its claims are made", |pod| {
            let entries = pod["spec"]["resourceClaims"].as_array().into_iter().flatten();
            let wanted = entries
                .filter(|entry| entry["resourceClaimTemplateName"].is_string())
                .count();
            wanted
                == pod["status"]["resourceClaimStatuses"]
                    .as_array()
                    .map_or(0, Vec::len)
        });
        let fits = fits(&self.dump());
        self.patch(&pod, &json!({"spec": {"schedulingGates": null}}));
        self.wait(&pod, "the scheduler has decided", |pod| {
            let bound = pod["spec"]["nodeName"].is_string();
            if fits && !bound {
                self.attach_devices();
            }
            bound || (!fits && is_unschedulable(pod))
        })
    }

    /// One pass over all drivers: allocated devices with binding conditions meet them from now on.
    #[track_caller]
    pub(crate) fn attach_devices(&self) {
        for claim in self.list("claim") {
            if !attached(&claim).is_empty() {
                // The scheduler may take the allocation back meanwhile.
                self.update_status(&reference(&claim), |claim| {
                    let devices = attached(claim);
                    if !devices.is_empty() {
                        claim["status"]["devices"] = json!(devices);
                    }
                });
            }
        }
    }

    /// Waits until the scheduler has put each pod on a node.
    #[track_caller]
    pub(crate) fn wait_scheduled<'a>(&self, pods: impl IntoIterator<Item = &'a str>) {
        for pod in pods {
            self.wait(pod, "the scheduler has put it on a node", |pod| {
                pod["spec"]["nodeName"].is_string()
            });
        }
    }

    /// Waits until the scheduler has said of each pod that it does not fit.
    #[track_caller]
    pub(crate) fn wait_unschedulable<'a>(&self, pods: impl IntoIterator<Item = &'a str>) {
        for pod in pods {
            self.wait(pod, "the scheduler finds no node", is_unschedulable);
        }
    }
}

impl Api {
    /// The claim that a pod uses under the name `name`, as `claim/NAMESPACE/NAME`; waits until it is known.
    #[track_caller]
    pub(crate) fn claim_of(&self, pod: &str, name: &str) -> String {
        let found = try_wait(|| {
            let pod = self.get(pod);
            let named = entry(&pod["spec"]["resourceClaims"], name)["resourceClaimName"].as_str();
            let generated =
                entry(&pod["status"]["resourceClaimStatuses"], name)["resourceClaimName"].as_str();
            let namespace = pod["metadata"]["namespace"].as_str().unwrap_or("default");
            named
                .or(generated)
                .map(|claim| format!("claim/{namespace}/{claim}"))
                .ok_or(pod.clone())
        });
        found.unwrap_or_else(|pod| panic!("no claim `{name}` of pod {pod:#}"))
    }

    /// The devices that are allocated to a claim, as `driver/pool/device`, in the order of the allocation.
    #[track_caller]
    pub(crate) fn devices_of(&self, claim: &str) -> Vec<String> {
        let claim = self.get(claim);
        let results = claim["status"]["allocation"]["devices"]["results"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let part = |result: &Value, key: &str| result[key].as_str().unwrap_or_default().to_owned();
        results
            .iter()
            .map(|result| {
                ["driver", "pool", "device"]
                    .map(|key| part(result, key))
                    .join("/")
            })
            .collect()
    }

    /// The entries of a claim's `status.reservedFor`, as `pods/NAME`, in their order.
    #[track_caller]
    pub(crate) fn reservations_of(&self, claim: &str) -> Vec<String> {
        let claim = self.get(claim);
        let entries = claim["status"]["reservedFor"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let part = |entry: &Value, key: &str| entry[key].as_str().unwrap_or_default().to_owned();
        entries
            .iter()
            .map(|entry| ["resource", "name"].map(|key| part(entry, key)).join("/"))
            .collect()
    }
}

/// A condition of an object.
pub(crate) fn condition<'a>(object: &'a Value, kind: &str) -> Option<&'a Value> {
    object["status"]["conditions"]
        .as_array()?
        .iter()
        .find(|condition| condition["type"] == kind)
}

/// The status of devices that a claim has got and that are not attached yet, with their conditions met.
fn attached(claim: &Value) -> Vec<Value> {
    if !claim["status"]["devices"].is_null() {
        return Vec::new();
    }
    let results = claim["status"]["allocation"]["devices"]["results"].as_array();
    let waiting = results
        .into_iter()
        .flatten()
        .filter(|result| result["bindingConditions"].is_array());
    waiting
        .map(|result| {
            let kinds = result["bindingConditions"].as_array().into_iter().flatten();
            let conditions = kinds.map(|kind| {
                json!({"type": kind, "status": "True", "reason": "Attached", "message": "",
                    "lastTransitionTime": now()})
            });
            json!({"driver": result["driver"], "pool": result["pool"], "device": result["device"],
                "conditions": conditions.collect::<Value>()})
        })
        .collect()
}

/// Returns whether the scheduler has tried the pod and found no node. One that is held back it has not tried.
fn is_unschedulable(pod: &Value) -> bool {
    condition(pod, "PodScheduled")
        .is_some_and(|condition| condition["status"] == "False" && condition["reason"] != "SchedulingGated")
}

/// The time, as precise as Kubernetes writes it.
pub(crate) fn now() -> String {
    Timestamp::from_second(Timestamp::now().as_second())
        .expect("the clock is sane")
        .to_string()
}

fn entry<'a>(list: &'a Value, name: &str) -> &'a Value {
    list.as_array()
        .into_iter()
        .flatten()
        .find(|entry| entry["name"] == name)
        .unwrap_or(&Value::Null)
}

fn node(name: &str, zone: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": {"providerID": format!("example://{name}")}})
        .labeled("kubernetes.io/hostname", name)
        .labeled("kubernetes.io/os", "linux")
        .labeled("kubernetes.io/arch", "amd64")
        .labeled("topology.kubernetes.io/zone", zone)
        .labeled("node.kubernetes.io/instance-type", "gpu-8x-h100")
}

fn ready_status() -> Value {
    let resources = json!({"cpu": "192", "memory": "2048Gi", "pods": "110", "ephemeral-storage": "7Ti"});
    let now = now();
    json!({"status": {
        "capacity": resources, "allocatable": resources,
        "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "",
            "lastHeartbeatTime": now, "lastTransitionTime": now}],
        "nodeInfo": {"kubeletVersion": "v1.37.2", "operatingSystem": "linux", "architecture": "amd64",
            "osImage": "", "kernelVersion": "", "machineID": "", "systemUUID": "", "bootID": "",
            "containerRuntimeVersion": "", "kubeProxyVersion": ""}}})
}

fn pod_status(pod: &Value, phase: Phase) -> Value {
    let now = now();
    let ended = |code: u8, reason: &str| json!({"terminated": {"exitCode": code, "reason": reason, "startedAt": now, "finishedAt": now}});
    let (name, state) = match phase {
        Phase::Running => ("Running", json!({"running": {"startedAt": now}})),
        Phase::Succeeded => ("Succeeded", ended(0, "Completed")),
        Phase::Failed => ("Failed", ended(1, "Error")),
    };
    let running = phase == Phase::Running;
    let ready = if running { "True" } else { "False" };
    let conditions = ["Initialized", "Ready", "ContainersReady"]
        .map(|kind| json!({"type": kind, "status": ready, "lastTransitionTime": now}));
    let containers = pod["spec"]["containers"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|container| {
            json!({"name": container["name"], "image": container["image"], "imageID": "", "ready": running,
            "restartCount": 0, "state": state})
        });
    json!({"status": {"phase": name, "startTime": now, "conditions": conditions,
        "containerStatuses": containers.collect::<Value>()}})
}
