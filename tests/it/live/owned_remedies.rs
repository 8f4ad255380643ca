//! What `explain` says helps a pod of an owner, carried out beside the owner's real controller: a pod of the owner gets its devices.

use std::fmt;

use dra_testing::effort::{by_effort, some_pairs};
use serde_json::{Value, json};

use super::remedies::obey;
use crate::support::cluster::objects::{
    Manifest as _, claim, claim_spec, class, each_device, gpu_slice, namespace, pod, request, taint,
    taint_rule, template,
};
use crate::support::cluster::{Cluster, Options, reference};
use crate::support::schema::assert_valid;
use crate::support::wait::wait_for;

/// Cases at work at the same time.
const LANES: usize = 4;

/// Devices of each node.
const DEVICES: u32 = 4;

/// Owners, with what their spec has beside selector and template.
const OWNERS: [(&str, &str, &str); 5] = [
    (
        "apps/v1",
        "Deployment",
        r#"{"strategy": {"type": "RollingUpdate"}}"#,
    ),
    ("apps/v1", "Deployment", r#"{"strategy": {"type": "Recreate"}}"#),
    ("apps/v1", "ReplicaSet", "{}"),
    ("apps/v1", "StatefulSet", r#"{"serviceName": "web"}"#),
    ("batch/v1", "Job", "{}"),
];

/// Why a pod gets no devices.
#[derive(Clone, Copy, Debug)]
enum Because {
    /// A pod without an owner has them.
    OfAPod,
    /// Two pods of a Deployment have them, of which one has to end and is not to come back.
    OfADeployment,
    /// A claim without a consumer has them.
    OfAnIdleClaim,
    /// A rule taints them.
    ARule,
    /// Their driver taints them.
    ATaint,
    /// The node is cordoned.
    ACordon,
    /// There are fewer than requested.
    TheCount,
    /// No device matches the request.
    TheSelector,
    /// The claim's constraint cannot be met.
    TheConstraint,
}

const CAUSES: [Because; 9] = [
    Because::OfAPod,
    Because::OfADeployment,
    Because::OfAnIdleClaim,
    Because::ARule,
    Because::ATaint,
    Because::ACordon,
    Because::TheCount,
    Because::TheSelector,
    Because::TheConstraint,
];

/// An owner whose pod gets no devices, in a namespace and with a node of its own.
struct Case {
    name: String,
    owner: (&'static str, &'static str, &'static str),
    because: Because,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (_, kind, spec) = self.owner;
        write!(f, "{}: {kind} {spec}, {:?}", self.name, self.because)
    }
}

fn cases() -> Vec<Case> {
    let case = |(number, (owner, because)): (usize, (&_, &_))| Case {
        name: format!("case-{number}"),
        owner: *owner,
        because: *because,
    };
    let pairs = some_pairs(&OWNERS, &CAUSES);
    // Only what is read tells that the ReplicaSet is not of the Deployment.
    let apart = OWNERS.iter().find(|(_, kind, _)| *kind == "ReplicaSet");
    let apart = apart.map(|owner| (owner, &Because::OfADeployment));
    let apart = apart.filter(|_| by_effort(true, false, false));
    pairs.chain(apart).enumerate().map(case).collect()
}

impl Case {
    fn set(&self, cluster: &Cluster) {
        let name = &self.name;
        cluster.create(&namespace(name));
        cluster.add_nodes([name.as_str()]);
        let mut slice = gpu_slice(name, DEVICES as usize);
        if let Because::ATaint = self.because {
            slice = each_device(slice, |device| {
                device["taints"] = json!([taint("example.com/sick", "", "NoSchedule")]);
            });
        }
        cluster.create(&slice);
        cluster.create(&class(name, "device.driver == 'gpu.example.com'"));
        let all = || claim_spec([request("gpu", name).count(DEVICES)]);
        let held = |name: &str, spec| claim(name, spec).in_namespace(&self.name);
        match self.because {
            Because::OfAPod => {
                let holder = pod("holder")
                    .in_namespace(name)
                    .named_claim("gpu", "held")
                    .with(self.here());
                cluster.run([&held("held", all()), &holder]);
            }
            Because::OfADeployment => {
                let half = claim_spec([request("gpu", name).count(DEVICES / 2)]);
                cluster.create(&template("half", half).in_namespace(name));
                let kind = ("apps/v1", "Deployment", r#"{"replicas": 2}"#);
                cluster.create(&self.owner(kind, "holder", "half"));
                let holders = wait_for(&format!("{self}: both holders have devices"), || {
                    Some(self.pods(cluster, "holder", true)).filter(|pods| pods.len() == 2)
                });
                for pod in holders {
                    let ready = json!({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
                    cluster.patch_status(&reference(&pod), &ready);
                }
            }
            // The claim controller deallocates what its last consumer leaves.
            Because::OfAnIdleClaim => {
                cluster.create(&held("held", all()));
                let result = |number| json!({"request": "gpu", "driver": "gpu.example.com", "pool": name, "device": format!("gpu-{number}")});
                let results: Vec<Value> = (0..DEVICES).map(result).collect();
                cluster.update_status(&format!("claim/{name}/held"), |claim| {
                    claim["status"]["allocation"] = json!({"devices": {"results": results}});
                });
            }
            Because::ARule => {
                let rule = taint_rule(
                    name,
                    json!({"driver": "gpu.example.com", "pool": name}),
                    taint("example.com/sick", "", "NoSchedule"),
                );
                cluster.create(&rule);
            }
            Because::ACordon => {
                cluster.patch(&format!("node/{name}"), &json!({"spec": {"unschedulable": true}}));
            }
            Because::ATaint | Because::TheCount | Because::TheSelector | Because::TheConstraint => {}
        }
        let of_pods = match self.because {
            Because::TheCount => claim_spec([request("gpu", name).count(DEVICES + 1)]),
            Because::TheSelector => claim_spec([request("gpu", name)
                .selecting("device.attributes['gpu.example.com'].architecture == 'Ampere'")]),
            Because::TheConstraint => claim_spec([request("gpu", name).count(2)])
                .constrained(json!({"matchAttribute": "gpu.example.com/uuid"})),
            Because::OfADeployment => claim_spec([request("gpu", name).count(DEVICES / 2)]),
            _ => all(),
        };
        cluster.create(&template("devices", of_pods).in_namespace(name));
        cluster.create(&self.owner(self.owner, "subject", "devices"));
    }

    /// Keeps a pod on the node of the case.
    fn here(&self) -> Value {
        json!({"spec": {"nodeSelector": {"kubernetes.io/hostname": self.name}}})
    }

    /// An owner of pods with this name, which get claims from a template.
    fn owner(&self, (version, kind, more): (&str, &str, &str), name: &str, template: &str) -> Value {
        let labels = json!({"app": name});
        let mut spec = pod("unused").template_claim("gpu", template).with(self.here())["spec"].clone();
        let mut of_owner = json!({"replicas": 1, "selector": {"matchLabels": labels}});
        if kind == "Job" {
            of_owner = json!({});
        } else {
            spec["restartPolicy"] = json!("Always");
        }
        of_owner["template"] = json!({"metadata": {"labels": labels}, "spec": spec});
        let more: Value = serde_json::from_str(more).expect("JSON");
        json!({"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": self.name}, "spec": of_owner})
            .with(json!({"spec": more}))
    }

    /// The pods of the owner with this name, with or without a node.
    fn pods(&self, cluster: &Cluster, owner: &str, with_node: bool) -> Vec<Value> {
        let pods = cluster.list(&format!("pod/{}", self.name)).into_iter();
        pods.filter(|pod| {
            pod["metadata"]["labels"]["app"] == owner
                && pod["metadata"]["deletionTimestamp"].is_null()
                && pod["spec"]["nodeName"].is_string() == with_node
        })
        .collect()
    }

    /// Makes the case, carries out what is proven to help, and waits for the owner's pod to get its devices.
    fn try_on(&self, cluster: &Cluster) {
        self.set(cluster);
        let pod = wait_for(&format!("{self}: it has a pod"), || {
            self.pods(cluster, "subject", false).pop()
        });
        let name = pod["metadata"]["name"].as_str().expect("a name");
        cluster.wait_unschedulable([format!("pod/{}/{name}", self.name).as_str()]);
        let args = ["explain", &format!("pod/{name}"), "-n", &self.name, "-o", "json"].map(str::to_owned);
        let run = cluster.kubectl_dra(args).run().exits(1);
        let report = assert_valid(&run.stdout);
        let mut fixes = report["fixes"].as_array().into_iter().flatten();
        let fix = fixes.find(|fix| fix["proven"] == true && fix["command"].is_string());
        let fix = fix.unwrap_or_else(|| panic!("{self}: nothing helps: {report:#}"));
        obey(cluster, fix["command"].as_str().expect("a command"));
        wait_for(&format!("{self}: it gets its devices after {fix:#}"), || {
            cluster.finish_deletions();
            self.pods(cluster, "subject", true).pop()
        });
        if let Because::OfADeployment = self.because {
            let holders = self.pods(cluster, "holder", true);
            assert_eq!(holders.len(), 1, "{self}: just one holder ends after {fix:#}");
        }
    }
}

#[test]
fn remedies_work_beside_the_owners_controllers() {
    let cluster = Cluster::start(&Options::default().gate("DRADeviceTaintRules", true));
    let cases = cases();
    assert_eq!(cases.len(), by_effort(10, 45, 45));
    std::thread::scope(|scope| {
        for lane in 0..LANES {
            let (cluster, cases) = (&cluster, &cases);
            scope.spawn(move || {
                for case in cases.iter().skip(lane).step_by(LANES) {
                    case.try_on(cluster);
                }
            });
        }
    });
}
