//! Advice of `check` and `explain` works: the command of every finding code, and of every kind of fix, runs unchanged on a real
//! API server, and then the finding is gone, or the pod has a node.
//!
//! Claims are given their devices by hand, as neither scheduler nor controllers run until the command has run: so each defect lasts.

use std::collections::BTreeSet;

use dra_testing::effort::some_rows;
use serde_json::{Value, json};

use super::remedies::obey;
use crate::support::cluster::kubelet::{Phase, now};
use crate::support::cluster::objects::{
    Manifest, claim, claim_spec, gpu, gpu_class, gpu_slice, namespace, pod, pod_group, request, slice, taint,
    taint_rule, template,
};
use crate::support::cluster::{Cluster, Component, Options};
use crate::support::process::Screen;
use crate::support::schema::assert_valid;
use crate::support::wait::wait_for;

const GROUP_GATES: [&str; 2] = ["GenericWorkload", "DRAWorkloadResourceClaims"];
const FINALIZER: &str = "resource.kubernetes.io/delete-protection";

/// Codes whose command no test can run, or that have none, and why.
const NOT_RUN: &[(&str, &str)] = &[
    (
        "DRA004",
        "no command: only the driver can publish the device again",
    ),
    (
        "DRA016",
        "no command: the owner of the pods gives further ones claims of their own",
    ),
    (
        "DRA022",
        "no command: only the owner of the pod knows what the claim is to ask for",
    ),
    (
        "DRA023",
        "no command: only an administrator knows what the class is to select",
    ),
    (
        "DRA024",
        "no command: only the owner knows what the selector is to say; the API server refuses such selectors",
    ),
    (
        "DRA025",
        "no command: only the owner knows what the selector is to say",
    ),
    ("DRA027", "no command: only the driver can attach the device"),
    ("DRA028", "live::after_bind runs it beside a real scheduler"),
    ("DRA030", "no command: only the driver can publish the pool"),
    ("DRA032", "no command: only the driver can publish the pool"),
    ("DRA033", "no command: only the driver can publish the pool"),
    (
        "DRA035",
        "no command: only whoever runs the driver can have it serve the node",
    ),
    (
        "DRA036",
        "no command: only whoever runs the driver can have it find devices",
    ),
    (
        "DRA037",
        "no command: an administrator decides between device plugin and driver",
    ),
    (
        "DRA038",
        "no command: only whoever runs the driver can have it publish",
    ),
    (
        "DRA039",
        "no command: only whoever runs the driver knows which nodes are meant",
    ),
    (
        "DRA042",
        "the API server of this release refuses an unknown effect",
    ),
    (
        "DRA072",
        "no command: an administrator decides whether the namespace may have admin access",
    ),
    (
        "DRA006",
        "no command: whoever runs the driver has it taint the partitions",
    ),
    (
        "DRA075",
        "no command: the owner of the pod lists the claim in a container",
    ),
    (
        "DRA076",
        "no command: an administrator starts kube-controller-manager",
    ),
    ("DRA074", "no command: whoever runs the driver has it run again"),
    ("DRA063", "no command: the pod gets on by itself"),
    (
        "DRA087",
        "no command: an administrator finds out what keeps the node from being ready",
    ),
    ("DRA088", "no command: the owner of the pod fixes its container"),
    (
        "DRA089",
        "the command of the rule's deletion is that of DRA040; a kubelet has to report for a minute",
    ),
    ("DRA080", "live::after_bind runs it beside a real kubelet"),
    ("DRA081", "no command: only the driver can prepare the devices"),
    ("DRA082", "no command: the kubelet goes on by itself"),
    ("DRA083", "live::after_bind runs it beside a real kubelet"),
    ("DRA084", "no command: only the driver can take the devices back"),
    ("DRA085", "no command: an administrator upgrades the kubelet"),
    (
        "DRA086",
        "no command: what is wrong is unknown, or an administrator finds out why",
    ),
    ("DRA090", "no command: the control plane is updated"),
    (
        "DRA091",
        "no command: whoever runs the driver adds the rule to its role",
    ),
    ("DRA092", "no command: an administrator decides who may do what"),
    ("DRA093", "no command: an administrator decides who may do what"),
    ("DRA094", "no command: an administrator decides who may do what"),
    (
        "DRA104",
        "no command: the owner of the group decides which pods end",
    ),
    (
        "DRA108",
        "no command: the pods are made again after a later upgrade",
    ),
    (
        "DRA113",
        "no command: only the driver can publish other attributes",
    ),
    (
        "DRA114",
        "no command: only driver and owner can do without the field",
    ),
    (
        "DRA115",
        "no command: the control plane is started with other gates",
    ),
    ("DRA116", "no command: only the driver can publish fewer taints"),
    (
        "DRA118",
        "no command: the control plane is started with other gates",
    ),
    (
        "DRA119",
        "no command: the control plane is started with other gates",
    ),
    (
        "DRA121",
        "no command: whoever taints devices counts with the evictions",
    ),
    (
        "DRA122",
        "no command: the control plane is started with other gates",
    ),
    (
        "DRA123",
        "no command: the control plane goes through the releases in between",
    ),
    (
        "DRA130",
        "no command: whoever runs what writes brings it to a newer version of the API",
    ),
    (
        "DRA131",
        "no command: whoever runs the driver adds the rule to its role",
    ),
    (
        "DRA132",
        "no command: whoever runs the scheduler adds the rule to its role",
    ),
    (
        "DRA133",
        "no command: the control plane is started with other gates",
    ),
    (
        "DRA134",
        "only an older release has rules that do nothing; of the rest, no command",
    ),
    ("DRA135", "no command: only the owner knows what is meant"),
    ("DRA136", "no command: the owners of the pods end them"),
    ("DRA137", "no command: only the driver can publish the pool"),
    ("DRA138", "only an older release stores such objects"),
];

/// Brings a cluster with two nodes into a state.
type Build = fn(&Cluster);

/// A finding, how it comes about, and how it is asked for.
struct Case {
    code: &'static str,
    flags: &'static [&'static str],
    /// The claim and PodGroup controllers take part in what the command does.
    with_controllers: bool,
    build: Build,
}

const fn case(code: &'static str, build: Build) -> Case {
    Case {
        code,
        flags: &[],
        with_controllers: false,
        build,
    }
}

impl Case {
    const fn asked(self, flags: &'static [&'static str]) -> Self {
        Self { flags, ..self }
    }

    const fn with_controllers(self) -> Self {
        Self {
            with_controllers: true,
            ..self
        }
    }
}

const DRIVER: &[&str] = &["--driver", "gpu.example.com"];
const OLDER: &[&str] = &["--to-version", "1.36"];
const OLD: &[&str] = &["--to-version", "1.35"];
const OLDEST: &[&str] = &["--to-version", "1.34"];

const ORDINARY: &[Case] = &[
    case("DRA001", |cluster| {
        used(cluster, "a", &["gpu-0"], &["p"]);
        used(cluster, "b", &["gpu-0"], &["q"]);
        used(cluster, "c", &["gpu-0"], &["r"]);
    }),
    case("DRA002", |cluster| {
        let counters = |amount: &str| json!([{"counterSet": "set", "counters": {"memory": {"value": amount}}}]);
        let pool = json!({"spec": {"pool": {"name": "counted", "resourceSliceCount": 2}}});
        let set = json!({"metadata": {"name": "set"}, "spec": {"devices": null,
            "sharedCounters": [{"name": "set", "counters": {"memory": {"value": "7Gi"}}}]}});
        let part = |name: &str| json!({"name": name, "consumesCounters": counters("4Gi")});
        cluster.create_all(&[
            slice("gpu.example.com", "gpu-node-1", []).with(pool.clone()).with(set),
            slice("gpu.example.com", "gpu-node-1", ["x", "y"].map(part))
                .with(pool)
                .with(json!({"metadata": {"name": "parts"}})),
        ]);
        for (name, device, user) in [("a", "x", "p"), ("b", "y", "q")] {
            used_from(cluster, name, "counted", &[device], &[user]);
        }
    }),
    case("DRA003", |cluster| {
        let device = json!({"name": "x", "allowMultipleAllocations": true, "capacity": {"memory": {"value": "5Gi"}}});
        cluster.create(
            &slice("gpu.example.com", "gpu-node-1", [device])
                .with(json!({"metadata": {"name": "shared"}, "spec": {"pool": {"name": "shared"}}})),
        );
        for (name, user, id) in [
            ("a", "p", "0e4e3b1c-6d3e-4f0c-9f51-5b7c5c6d0001"),
            ("b", "q", "0e4e3b1c-6d3e-4f0c-9f51-5b7c5c6d0002"),
            ("c", "r", "0e4e3b1c-6d3e-4f0c-9f51-5b7c5c6d0003"),
        ] {
            runs(cluster, user, name);
            allocate(cluster, name, "shared", &["x"], &entries(cluster, &[user]), |result| {
                result["shareID"] = json!(id);
                result["consumedCapacity"] = json!({"memory": "3Gi"});
            });
        }
    }),
    case("DRA005", |cluster| {
        used(cluster, "c", &["gpu-0"], &["p"]);
        cluster.update_status("claim/c", |claim| {
            claim["status"]["devices"] = json!([{"driver": "gpu.example.com", "pool": "gpu-node-1", "device": "gpu-0",
                "conditions": [{"type": "Ready", "status": "False", "reason": "Broken", "message": "",
                    "lastTransitionTime": now()}]}]);
        });
    }),
    case("DRA010", |cluster| {
        used(cluster, "c", &["gpu-0"], &["p"]);
        cluster.delete_now("pod/p");
    }),
    case("DRA011", |cluster| {
        used(cluster, "c", &["gpu-0"], &["p"]);
        cluster.set_phase("pod/p", Phase::Succeeded);
    }),
    case("DRA012", |cluster| {
        used(cluster, "c", &["gpu-0"], &["p"]);
        cluster.delete_now("pod/p");
        cluster.create(&pod("p"));
    }),
    case("DRA013", foreign),
    case("DRA014", |cluster| {
        used(cluster, "c", &["gpu-0"], &["p"]);
        runs(cluster, "q", "c");
    }),
    case("DRA015", |cluster| {
        cluster.create(&claim("c", claim_spec([gpu()])));
        allocate(cluster, "c", "gpu-node-1", &["gpu-0"], &[], |_| {});
    }),
    case("DRA017", |cluster| {
        used(cluster, "c", &["gpu-0"], &["p", "ended"]);
        cluster.set_phase("pod/ended", Phase::Succeeded);
    }),
    case("DRA018", |cluster| {
        runs(cluster, "p", "c");
        allocate(cluster, "c", "gpu-node-1", &["gpu-0"], &entries(cluster, &["p"]), |_| {});
        // An allocation cannot be changed, so the pod is the one that is elsewhere.
        cluster.delete_now("pod/p");
        cluster.create(&pod("p").named_claim("gpu", "c").on_node("gpu-node-2"));
        cluster.set_phase("pod/p", Phase::Running);
    }),
    case("DRA019", |cluster| runs(cluster, "p", "c")),
    case("DRA020", |cluster| {
        cluster.create(&claim("c", claim_spec([gpu()])).with(json!({"metadata": {"ownerReferences": [
            {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "0e4e3b1c-6d3e-4f0c-9f51-5b7c5c6d0001", "controller": true}]}})));
    }),
    case("DRA021", |cluster| {
        used(cluster, "c", &["gpu-0"], &["p"]);
        cluster.delete_now("pod/p");
        cluster.update_status("claim/c", |claim| {
            let entry = json!({"apiGroup": "batch", "resource": "jobs", "name": "j", "uid": "0e4e3b1c-6d3e-4f0c-9f51-5b7c5c6d0001"});
            claim["status"]["reservedFor"] = json!([entry]);
        });
        cluster.delete("claim/c");
    })
    .asked(&["--now", "2999-01-01T00:00:00Z"]),
    case("DRA026", |cluster| {
        limit(cluster);
        cluster.create_all(&[
            template("t", claim_spec([gpu().count(2)])),
            pod("p").template_claim("a", "t").template_claim("b", "t"),
        ]);
    }),
    case("DRA029", |cluster| {
        let toleration = json!({"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 9_300_000_000_i64});
        cluster.create(&template(
            "t",
            claim_spec([gpu().exactly(json!({"tolerations": [toleration]}))]),
        ));
    }),
    case("DRA031", |cluster| {
        cluster.create(&gpu_slice("gpu-node-1", 1).with(
            json!({"metadata": {"name": "newer"}, "spec": {"pool": {"generation": 2}}}),
        ));
    }),
    case("DRA034", |cluster| {
        cluster.create(&gpu_slice("gpu-node-9", 1));
    }),
    case("DRA040", |cluster| {
        cluster.create(&taint_rule("r", json!({}), taint("k", "", "NoExecute")));
    }),
    case("DRA041", |cluster| {
        cluster.create(&taint_rule("r", Value::Null, taint("k", "", "None")));
    })
    .asked(&["--fail-on", "info"]),
    case("DRA043", |cluster| {
        cluster.create(&taint_rule("r", json!({"pool": "nowhere"}), taint("k", "", "None")));
    })
    .asked(&["--fail-on", "info"]),
    case("DRA050", |cluster| {
        runs(cluster, "p", "c");
        allocate(cluster, "c", "gpu-node-1", &["gpu-0"], &[group_entry("g", None)], |_| {});
    }),
    case("DRA051", |cluster| {
        cluster.create(&claim("g-gpu-x", claim_spec([gpu()])).with(json!({"metadata": {"ownerReferences": [
            {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "name": "g",
             "uid": "0e4e3b1c-6d3e-4f0c-9f51-5b7c5c6d0001", "controller": true}]}})));
        runs(cluster, "p", "g-gpu-x");
        allocate(cluster, "g-gpu-x", "gpu-node-1", &["gpu-0"], &[group_entry("g", None)], |_| {});
    }),
    case("DRA052", |cluster| {
        runs(cluster, "p", "c");
        allocate(cluster, "c", "gpu-node-1", &["gpu-0"], &entries(cluster, &["p"]), attaching);
    }),
    case("DRA060", |cluster| used(cluster, "c", &["gpu-0"], &["p"])).asked(DRIVER),
    case("DRA061", |cluster| {
        cluster.create_all(&[claim("c", claim_spec([gpu()])), pod("p").named_claim("gpu", "c")]);
    })
    .asked(DRIVER),
    case("DRA062", |_| {}).asked(&["--driver", "gpu.example.com", "--fail-on", "info"]),
    case("DRA070", |cluster| {
        for name in ["one", "two", "three"] {
            cluster.create(&providing(name));
        }
    }),
    case("DRA071", |cluster| {
        cluster.patch("namespace/default", &json!({"metadata": {"labels": {"resource.kubernetes.io/admin-access": "true"}}}));
    })
    .asked(&["--fail-on", "info"]),
    case("DRA073", |cluster| {
        let owned = json!({"metadata": {"ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "s",
            "uid": "0e4e3b1c-6d3e-4f0c-9f51-5b7c5c6d0001", "controller": true}]}});
        cluster.create_all(&[
            claim("c", claim_spec([gpu()])),
            pod("p").named_claim("gpu", "c").on_node("gpu-node-1").with(owned),
        ]);
        allocate(cluster, "c", "gpu-node-1", &["gpu-0"], &entries(cluster, &["p"]), |_| {});
    })
    .asked(&["--now", "2999-01-01T00:00:00Z"]),
];

const GROUPS: &[Case] = &[
    case("DRA101", |cluster| {
        group(cluster, &["g-0", "g-1"]);
        let uid = cluster.get("podgroup/g")["metadata"]["uid"].clone();
        cluster.create(&claim("g-gpu-x", claim_spec([gpu()])).with(json!({"metadata": {"ownerReferences": [
            {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "name": "g", "uid": uid, "controller": true}]}})));
        allocate(cluster, "g-gpu-x", "gpu-node-1", &["gpu-1"], &[group_entry("g", Some(cluster))], |_| {});
    })
    .asked(OLDER)
    .with_controllers(),
    case("DRA102", |cluster| group(cluster, &["g-0", "g-1"])).asked(OLDER),
    case("DRA103", |cluster| {
        group(cluster, &["g-0"]);
        cluster.delete("claim/c");
    })
    .asked(OLDER)
    .with_controllers(),
    case("DRA105", |cluster| group(cluster, &[])).asked(OLDER).with_controllers(),
    case("DRA106", foreign).asked(OLDER),
    case("DRA107", |cluster| {
        group(cluster, &[]);
        cluster.create(&pod("g-9").named_claim("gpu", "c").in_group("g"));
    })
    .asked(OLDER),
    case("DRA109", |cluster| group(cluster, &[])).asked(OLDER).with_controllers(),
    case("DRA110", acting_rule).asked(OLDER),
    case("DRA111", acting_rule).asked(OLD),
    case("DRA112", |cluster| {
        cluster.create(&taint_rule("r", Value::Null, taint("k", "", "None")));
    })
    .asked(OLDER),
    case("DRA117", |cluster| {
        cluster.create_all(&[claim("c", claim_spec([gpu()])), pod("p").named_claim("gpu", "c")]);
        allocate(cluster, "c", "gpu-node-1", &["gpu-0"], &entries(cluster, &["p"]), attaching);
    })
    .asked(&["--disable-gate", "DRADeviceBindingConditions"]),
    case("DRA120", |cluster| {
        cluster.create(&pod("p").on_node("gpu-node-1"));
        cluster.set_phase("pod/p", Phase::Succeeded);
        let uid = cluster.get("pod/p")["metadata"]["uid"].clone();
        cluster.create(&claim("c", claim_spec([gpu()])).with(json!({"metadata": {
            "annotations": {"resource.kubernetes.io/extended-resource-claim": "true"},
            "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": uid, "controller": true}]}})));
    })
    .asked(OLDEST),
];

/// A class of the GPUs that provides an extended resource.
fn providing(name: &str) -> Value {
    gpu_class().with(json!({"metadata": {"name": name}, "spec": {"extendedResourceName": "example.com/gpu"}}))
}

/// A pod that runs on the first node and names the claim, which is made if need be.
fn runs(cluster: &Cluster, name: &str, of: &str) {
    if cluster.find(&format!("claim/{of}")).is_none() {
        cluster.create(&claim(of, claim_spec([gpu()])));
    }
    cluster.create(&pod(name).named_claim("gpu", of).on_node("gpu-node-1"));
    cluster.set_phase(&format!("pod/{name}"), Phase::Running);
}

fn entries(cluster: &Cluster, pods: &[&str]) -> Vec<Value> {
    let entry = |name: &&str| {
        let uid = cluster.get(&format!("pod/{name}"))["metadata"]["uid"].clone();
        json!({"resource": "pods", "name": name, "uid": uid})
    };
    pods.iter().map(entry).collect()
}

fn group_entry(name: &str, cluster: Option<&Cluster>) -> Value {
    let uid = cluster.map_or_else(
        || json!("0e4e3b1c-6d3e-4f0c-9f51-5b7c5c6d0001"),
        |cluster| cluster.get(&format!("podgroup/{name}"))["metadata"]["uid"].clone(),
    );
    json!({"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": name, "uid": uid})
}

/// Gives the claim devices and reservations, as the scheduler would.
fn allocate(
    cluster: &Cluster,
    name: &str,
    pool: &str,
    devices: &[&str],
    reserved: &[Value],
    change: impl Fn(&mut Value),
) {
    let reference = format!("claim/{name}");
    cluster.patch(&reference, &json!({"metadata": {"finalizers": [FINALIZER]}}));
    let results = devices.iter().map(|device| {
        let mut result =
            json!({"request": "gpu", "driver": "gpu.example.com", "pool": pool, "device": device});
        change(&mut result);
        result
    });
    let results: Value = results.collect();
    cluster.update_status(&reference, |claim| {
        claim["status"] = json!({
            "allocation": {
                "allocationTimestamp": now(),
                "devices": {"results": results},
                "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [
                    {"key": "metadata.name", "operator": "In", "values": ["gpu-node-1"]}]}]},
            },
            "reservedFor": reserved,
        });
    });
}

/// A claim with devices of the first node, and pods that run with it.
fn used(cluster: &Cluster, name: &str, devices: &[&str], pods: &[&str]) {
    used_from(cluster, name, "gpu-node-1", devices, pods);
}

fn used_from(cluster: &Cluster, name: &str, pool: &str, devices: &[&str], pods: &[&str]) {
    for pod in pods {
        runs(cluster, pod, name);
    }
    allocate(cluster, name, pool, devices, &entries(cluster, pods), |_| {});
}

fn attaching(result: &mut Value) {
    result["bindingConditions"] = json!(["example.com/attached"]);
    result["bindingFailureConditions"] = json!(["example.com/failed"]);
}

fn foreign(cluster: &Cluster) {
    runs(cluster, "p", "c");
    let job = json!({"apiGroup": "batch", "resource": "jobs", "name": "j", "uid": "0e4e3b1c-6d3e-4f0c-9f51-5b7c5c6d0001"});
    allocate(cluster, "c", "gpu-node-1", &["gpu-0"], &[job], |_| {});
}

/// A PodGroup that a claim is reserved for, with these members on the first node.
fn group(cluster: &Cluster, members: &[&str]) {
    cluster.create_all(&[
        claim("c", claim_spec([gpu()])),
        pod_group("g", [json!({"name": "gpu", "resourceClaimName": "c"})]),
    ]);
    for member in members {
        cluster.create(
            &pod(member)
                .named_claim("gpu", "c")
                .in_group("g")
                .on_node("gpu-node-1"),
        );
        cluster.set_phase(&format!("pod/{member}"), Phase::Running);
    }
    allocate(
        cluster,
        "c",
        "gpu-node-1",
        &["gpu-0"],
        &[group_entry("g", Some(cluster))],
        |_| {},
    );
}

fn acting_rule(cluster: &Cluster) {
    cluster.create(&taint_rule(
        "r",
        json!({"driver": "gpu.example.com"}),
        taint("k", "", "NoSchedule"),
    ));
}

/// A quota that one claim of two fits in, counted by hand, as no controller does it now.
fn limit(cluster: &Cluster) {
    let hard = json!({"count/resourceclaims.resource.k8s.io": "1", "gpu.example.com.deviceclass.resource.k8s.io/devices": "3"});
    cluster.create(&json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": hard}}));
    cluster.update_status("quota/q", |quota| {
        quota["status"] = json!({"hard": hard, "used": {"count/resourceclaims.resource.k8s.io": "0",
            "gpu.example.com.deviceclass.resource.k8s.io/devices": "0"}});
    });
}

/// The findings of the code.
fn findings(cluster: &Cluster, case: &Case) -> Vec<Value> {
    let run = cluster
        .kubectl_dra(["check", "--only", case.code, "-o", "json"])
        .args(case.flags)
        .run();
    let report = assert_valid(&run.stdout);
    report["items"].as_array().expect("items").clone()
}

/// Two nodes with eight GPUs each, and nothing else. Neither scheduler nor controllers run.
fn begin(cluster: &Cluster) {
    cluster.stop(Component::Scheduler);
    cluster.stop(Component::ControllerManager);
    cluster.clear();
    if cluster.find("quota/q").is_some() {
        cluster.delete("quota/q");
    }
    cluster.create(&gpu_class());
    cluster.add_nodes(["gpu-node-1", "gpu-node-2"]);
    cluster.create_all(&[gpu_slice("gpu-node-1", 8), gpu_slice("gpu-node-2", 8)]);
}

fn run_all(options: &Options, cases: &[Case], small: usize) {
    let cluster = Cluster::start(options);
    for case in some_rows(cases, small) {
        begin(&cluster);
        (case.build)(&cluster);
        let found = findings(&cluster, case);
        assert!(!found.is_empty(), "{} is not found", case.code);
        if case.with_controllers {
            cluster.resume(Component::ControllerManager);
        }
        for finding in &found {
            let Some(command) = finding["command"].as_str() else {
                // No controller recreates the pod, so the advice is for whoever made it.
                let advice = finding["fix"].as_str().unwrap_or_default();
                assert!(
                    advice.contains("delete it, and apply its original manifest"),
                    "no command: {finding:#}"
                );
                let pod = advice
                    .split([' ', ':'])
                    .find_map(|word| word.strip_prefix("pod/default/"))
                    .expect("the pod's name");
                cluster.delete_now(&format!("pod/{pod}"));
                continue;
            };
            obey(&cluster, command);
        }
        if !case.with_controllers {
            cluster.resume(Component::ControllerManager);
        }
        wait_for(&format!("{} is gone after {found:#?}", case.code), || {
            cluster.finish_deletions();
            findings(&cluster, case).is_empty().then_some(())
        });
    }
}

#[test]
fn the_command_of_a_finding_fixes_it() {
    run_all(&Options::default(), ORDINARY, 8);
}

#[test]
fn the_command_of_a_finding_about_a_downgrade_fixes_it() {
    let options = GROUP_GATES
        .iter()
        .fold(Options::default(), |options, gate| options.gate(gate, true));
    run_all(&options, GROUPS, 4);
}

#[test]
fn every_code_is_run_or_listed() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/findings");
    let names = std::fs::read_dir(folder)
        .expect("the pages are there")
        .map(|file| {
            let name = file.expect("a file").file_name().into_string().expect("UTF-8");
            name.trim_end_matches(".md").to_owned()
        });
    let codes: BTreeSet<String> = names.filter(|name| name.starts_with("DRA")).collect();
    let run = ORDINARY.iter().chain(GROUPS).map(|case| case.code);
    let told: Vec<&str> = run.chain(NOT_RUN.iter().map(|(code, _)| *code)).collect();
    let once: BTreeSet<String> = told.iter().map(|code| (*code).to_owned()).collect();
    assert_eq!(once.len(), told.len(), "a code is told twice");
    assert_eq!(once, codes);
}

/// A kind of fix that `explain` offers of `pod/p`.
fn fix(cluster: &Cluster, kind: &str) -> Value {
    let run = cluster.kubectl_dra(["explain", "pod/p", "-o", "json"]).run();
    let report = assert_valid(&run.stdout);
    let fixes = report["fixes"].as_array().expect("fixes").iter();
    let found = fixes.clone().find(|fix| fix["kind"] == kind);
    found
        .cloned()
        .unwrap_or_else(|| panic!("no {kind} in {report:#}"))
}

/// Kinds of fixes that the recorded pods do not need, and how each comes about for `pod/p`.
const KINDS: &[(&str, Build)] = &[
    ("TolerateNodeTaint", tainted_nodes),
    ("LiftNodeTaint", tainted_nodes),
    ("Uncordon", |cluster| {
        for node in ["node/gpu-node-1", "node/gpu-node-2"] {
            cluster.patch(node, &json!({"spec": {"unschedulable": true}}));
        }
        cluster.create(&pod("p"));
    }),
    ("OfferResource", |cluster| {
        cluster.create(&pod("p").requesting("gpu.example.com/gpu", 1));
    }),
    ("UseResource", |cluster| {
        cluster.create(&providing("offered"));
        cluster.create(&pod("p").requesting("example.com/gpus", 1));
    }),
    ("RelaxNodeAffinity", |cluster| {
        let terms = json!([{"matchExpressions": [{"key": "rack", "operator": "In", "values": ["9"]}]}]);
        cluster.create(&pod("p").with(json!({"spec": {"affinity": {"nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}}})));
    }),
    ("RelaxNodeSelector", |cluster| {
        cluster.create(&pod("p").with(json!({"spec": {"nodeSelector": {"example.com/rack": "9"}}})));
    }),
    ("DropConstraint", |cluster| {
        let constraint = json!({"requests": ["a", "b"], "matchAttribute": "gpu.example.com/uuid"});
        let requests = ["a", "b"].map(|name| request(name, "gpu.example.com"));
        cluster.create_all(&[
            claim("c", claim_spec(requests).constrained(constraint)),
            pod("p").named_claim("gpu", "c"),
        ]);
    }),
    ("FewerDevices", |cluster| {
        cluster.create_all(&[
            claim("c", claim_spec([gpu().count(9)])),
            pod("p").named_claim("gpu", "c"),
        ]);
    }),
    ("LessResource", |cluster| {
        cluster.create(&pod("p").requesting("cpu", 200));
    }),
    ("CorrectSelector", |cluster| {
        let selector = json!({"cel": {"expression": "device.capacity['gpu.exmaple.com'].memory.compareTo(quantity('1Gi')) > 0"}});
        let selecting = gpu().with(json!({"exactly": {"selectors": [selector]}}));
        cluster.create_all(&[
            claim("c", claim_spec([selecting])),
            pod("p").named_claim("gpu", "c"),
        ]);
    }),
    ("GuardSelector", without_attribute),
    ("RemoveGates", |cluster| {
        cluster
            .create(&pod("p").with(json!({"spec": {"schedulingGates": [{"name": "one"}, {"name": "two"}]}})));
    }),
    ("WaitForDeletion", |cluster| {
        cluster.create(&claim("c", claim_spec([gpu()])));
        cluster.patch("claim/c", &json!({"metadata": {"finalizers": [FINALIZER]}}));
        cluster.delete("claim/c");
        cluster.create(&pod("p").named_claim("gpu", "c"));
    }),
    ("RenewClaim", |cluster| {
        from_template(cluster, gpu().count(9), json!({}));
        cluster.delete("template/t");
        cluster.create(&template("t", claim_spec([gpu()])));
    }),
    ("RaiseQuota", |cluster| {
        limit(cluster);
        cluster.create_all(&[
            template("t", claim_spec([gpu().count(2)])),
            pod("p").template_claim("a", "t").template_claim("b", "t"),
        ]);
    }),
];

/// Kinds of fixes that make something again, and how each comes about for `pod/p`.
const MADE_AGAIN: &[(&str, Build)] = &[
    ("FewerDevices", |cluster| {
        from_template(cluster, gpu().count(9), json!({}));
    }),
    ("RelaxSelector", |cluster| {
        let selector = json!({"cel": {"expression": "device.attributes['gpu.example.com'].index == 99"}});
        let relaxed = gpu().with(json!({"exactly": {"selectors": [selector]}}));
        from_template(cluster, relaxed, json!({}));
    }),
    ("DropConstraint", |cluster| {
        let constraint = json!({"matchAttribute": "gpu.example.com/uuid"});
        from_template(cluster, gpu().count(2), constraint);
    }),
    ("TolerateTaint", |cluster| {
        for node in ["gpu-node-1", "gpu-node-2"] {
            let name = gpu_slice(node, 8)["metadata"]["name"].as_str().map(str::to_owned);
            cluster.update(&format!("slice/{}", name.expect("a name")), |slice| {
                for device in slice["spec"]["devices"].as_array_mut().into_iter().flatten() {
                    device["taints"] = json!([{"key": "example.com/mine", "effect": "NoSchedule"}]);
                }
            });
        }
        from_template(cluster, gpu(), json!({}));
    }),
    ("GuardSelector", without_attribute),
    ("RelaxNodeSelector", |cluster| {
        cluster.create(&pod("p").with(json!({"spec": {"nodeSelector": {"example.com/rack": "9"}}})));
    }),
];

/// A pod whose claim is made from a template, with the claim.
fn from_template(cluster: &Cluster, request: Value, constraint: Value) {
    let spec = claim_spec([request]);
    let spec = if constraint == json!({}) {
        spec
    } else {
        spec.constrained(constraint)
    };
    cluster.create_all(&[template("t", spec), pod("p").template_claim("gpu", "t")]);
    cluster.resume(Component::ControllerManager);
    cluster.wait("pod/p", "has its claim", |pod| {
        pod["status"]["resourceClaimStatuses"][0]["resourceClaimName"].is_string()
    });
}

/// A claim whose selector compares an attribute that one device has.
fn without_attribute(cluster: &Cluster) {
    let name = gpu_slice("gpu-node-1", 8)["metadata"]["name"]
        .as_str()
        .map(str::to_owned);
    cluster.update(&format!("slice/{}", name.expect("a name")), |slice| {
        slice["spec"]["devices"][0]["attributes"]["firmware"] = json!({"string": "1.2"});
    });
    let selector = json!({"cel": {"expression": "device.attributes['gpu.example.com'].firmware == '1.2'"}});
    let selecting = gpu().with(json!({"exactly": {"selectors": [selector]}}));
    cluster.create_all(&[
        claim("c", claim_spec([selecting])),
        pod("p").named_claim("gpu", "c"),
    ]);
}

/// The command that a terminal shows for a fix that makes objects again, as somebody copies it.
fn shown_command(cluster: &Cluster, number: usize) -> String {
    let terminal = cluster.kubectl_dra(["explain", "pod/p"]).env("TERM", "xterm");
    let shown = terminal.run_on_screen(80, Screen::Stdout).stdout;
    let joined = shown.replace(" \\\n", " ");
    let begin = format!("kubectl dra explain pod/p --namespace=default --emit-fix={number} ");
    let mut lines = joined.lines().map(str::trim_start);
    let found = lines.find(|line| line.starts_with(&begin));
    found
        .unwrap_or_else(|| panic!("no {begin} in {shown}"))
        .to_owned()
}

#[test]
fn the_manifests_of_a_fix_let_the_pod_run() {
    let cluster = Cluster::start(&Options::default());
    for (kind, build) in some_rows(MADE_AGAIN, 3) {
        begin(&cluster);
        build(&cluster);
        let run = cluster.kubectl_dra(["explain", "pod/p", "-o", "json"]).run();
        let report = assert_valid(&run.stdout);
        let fixes = report["fixes"].as_array().expect("fixes");
        let place = fixes.iter().position(|fix| fix["kind"] == *kind);
        let number = 1 + place.unwrap_or_else(|| panic!("no {kind} in {report:#}"));
        let before = cluster.get("pod/p")["metadata"]["uid"].clone();
        // Of the same cluster as the report, before the controllers change it.
        let command = shown_command(&cluster, number);
        cluster.resume(Component::ControllerManager);
        obey(&cluster, &command);
        cluster.resume(Component::Scheduler);
        wait_for(&format!("{kind} lets the pod run: {command}"), || {
            cluster.finish_deletions();
            cluster.get("pod/p")["spec"]["nodeName"].is_string().then_some(())
        });
        // A claim that is named is made again alone.
        let is_same = cluster.get("pod/p")["metadata"]["uid"] == before;
        assert_eq!(is_same, *kind == "GuardSelector", "{kind}");
    }
}

/// What ends pods makes nothing again: there is the command.
#[test]
fn a_fix_that_makes_nothing_again_is_a_command() {
    let cluster = Cluster::start(&Options::default());
    begin(&cluster);
    for node in ["node/gpu-node-1", "node/gpu-node-2"] {
        cluster.patch(node, &json!({"spec": {"unschedulable": true}}));
    }
    cluster.create(&pod("p"));
    let run = cluster.kubectl_dra(["explain", "pod/p", "-o", "json"]).run();
    let report = assert_valid(&run.stdout);
    let fixes = report["fixes"].as_array().expect("fixes");
    let place = fixes.iter().position(|fix| fix["kind"] == "Uncordon");
    let number = (1 + place.expect("a fix")).to_string();
    let run = cluster
        .kubectl_dra(["explain", "pod/p", "--emit-fix", &number])
        .run();
    assert!(run.exits(0).stdout.starts_with("kubectl uncordon "));
    let run = cluster
        .kubectl_dra(["explain", "pod/p", "--emit-fix", "99"])
        .run();
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{}", run.stderr);
    assert!(run.stderr.contains("there is no fix 99"), "{}", run.stderr);
}

fn tainted_nodes(cluster: &Cluster) {
    for node in ["node/gpu-node-1", "node/gpu-node-2"] {
        cluster.patch(
            node,
            &json!({"spec": {"taints": [taint("example.com/mine", "", "NoSchedule")]}}),
        );
    }
    cluster.create(&pod("p"));
}

#[test]
fn the_command_of_a_fix_lets_the_pod_run() {
    let cluster = Cluster::start(&Options::default());
    for (kind, build) in some_rows(KINDS, 4) {
        begin(&cluster);
        build(&cluster);
        let fix = fix(&cluster, kind);
        let command = fix["command"].as_str();
        let command = command.unwrap_or_else(|| panic!("no command: {fix:#}"));
        cluster.resume(Component::ControllerManager);
        obey(&cluster, command);
        cluster.resume(Component::Scheduler);
        wait_for(&format!("{kind} lets the pod run: {command}"), || {
            cluster.get("pod/p")["spec"]["nodeName"].is_string().then_some(())
        });
    }
}

/// A gate is the lock of whoever put it there.
#[test]
fn a_gate_of_kueue_is_waited_for() {
    let cluster = Cluster::shared();
    let gated = pod("gated-by-kueue")
        .with(json!({"spec": {"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]}}));
    cluster.create(&gated);
    let run = cluster
        .kubectl_dra(["explain", "pod/gated-by-kueue", "-o", "json"])
        .run();
    cluster.delete_now("pod/gated-by-kueue");
    let report = assert_valid(&run.stdout);
    let fix = &report["fixes"][0];
    assert_eq!(fix["kind"], "AwaitGate", "{report:#}");
    assert!(fix["command"].is_null(), "{fix:#}");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    assert!(text(&fix["note"]).contains("see the pod's Workload"), "{fix:#}");
    assert!(
        text(&fix["look"]["command"]).contains("workloads.kueue.x-k8s.io"),
        "{fix:#}"
    );
}

/// The API server checks templates, too; one that is older than the loss of the label stays.
#[test]
fn a_namespace_that_may_not_ask_for_admin_access_is_labeled() {
    const NAMESPACE: &str = "monitoring";
    let cluster = Cluster::start(&Options::default());
    cluster.create(&namespace(NAMESPACE));
    let label = |value: &Value| {
        let labels = json!({"metadata": {"labels": {"resource.kubernetes.io/admin-access": value}}});
        cluster.patch("namespace/monitoring", &labels);
    };
    label(&json!("true"));
    let spec = claim_spec([gpu().with(json!({"exactly": {"adminAccess": true}}))]);
    cluster.create(&template("monitor", spec).in_namespace(NAMESPACE));
    label(&Value::Null);
    cluster.create(
        &pod("monitor")
            .template_claim("gpu", "monitor")
            .in_namespace(NAMESPACE),
    );
    let fix = wait_for("the refusal", || {
        let run = cluster
            .kubectl_dra(["explain", "pod/monitor", "-n", NAMESPACE, "-o", "json"])
            .run();
        let report = assert_valid(&run.stdout);
        let fix = report["fixes"][0].clone();
        (fix["kind"] == "AllowAdminAccess").then_some(fix)
    });
    let command = fix["command"].as_str();
    obey(&cluster, command.unwrap_or_else(|| panic!("no command: {fix:#}")));
    wait_for("the claim is created", || {
        let status = &cluster.get("pod/monitoring/monitor")["status"]["resourceClaimStatuses"];
        status[0]["resourceClaimName"].is_string().then_some(())
    });
}

/// Kinds of fixes that have no command, and who acts instead.
const BY_HAND: &[(&str, &str)] = &[
    (
        "AddNode",
        "an administrator of the autoscaler, which does not run here",
    ),
    (
        "CreateClaim",
        "the owner of the pod; the recorded pods are helped so",
    ),
    (
        "CreateTemplate",
        "the owner of the pod; the recorded pods are helped so",
    ),
    ("CreateClass", "an administrator; the recorded pods are helped so"),
    ("AwaitBinding", "the driver; the recorded pods are helped so"),
    ("AwaitGate", "the controller that set the gate"),
    ("RestoreDriver", "whoever runs the driver; live::after_bind does"),
    ("RepairDriver", "whoever runs the driver; live::after_bind does"),
    ("GatherNodes", "the owner of the pods"),
    ("LetBind", "an administrator"),
    ("RelaxPlacement", "the owner of the pod"),
    ("RestoreController", "an administrator"),
    ("AllowAdminAccess", "a command, which is run above"),
    ("AwaitDriver", "the driver, whose pod has just started"),
    ("AwaitKubelet", "the kubelet; live::after_bind waits for it"),
    ("AwaitNode", "the autoscaler, and the driver on a new node"),
    ("ReadKubelet", "an administrator"),
    ("MountVolumes", "the owner of the pod"),
    ("RepairRuntime", "an administrator"),
    ("RepairContainer", "the owner of the pod"),
    ("StopPlugin", "an administrator"),
    ("UpgradeKubelet", "an administrator"),
    ("UpgradeScheduler", "an administrator"),
    ("RestoreNode", "an administrator"),
    ("RestoreWebhook", "an administrator"),
    ("ChangeStrategy", "a command, which live::owners runs"),
    ("CompleteGang", "the owner of the pod"),
    ("CorrectPods", "the owner of the pods"),
    ("RepairDevice", "an administrator"),
    ("DropToleration", "the owner of the pod"),
    ("EnableGate", "an administrator"),
    (
        "ForceDelete",
        "a command, for a kubelet that fails to unprepare nothing",
    ),
    ("AwaitFinalizer", "the controller that set the finalizer"),
    ("RestartDriver", "a command, which live::after_bind runs"),
    ("AdmitDriver", "a command, which live::after_bind runs"),
    ("TaintDevice", "a command, which live::after_bind runs"),
    ("RemoveFinalizer", "a command, which live::after_bind runs"),
];

/// Kinds of fixes that the recorded pods need, in `remedies`.
const RECORDED: &[&str] = &[
    "ReleaseClaim",
    "TolerateTaint",
    "LessCapacity",
    "RelaxSelector",
    "UseClass",
    "LiftTaint",
    "RecreatePod",
    "Several",
];

#[test]
fn every_kind_of_fix_is_run_or_listed() {
    let page = include_str!("../../../docs/reference/commands/explain.md");
    let (_, rest) = page.split_once("| Kind | ").expect("a table of kinds");
    let rows = rest.lines().skip(2).take_while(|line| line.starts_with('|'));
    let kinds: BTreeSet<&str> = rows
        .flat_map(|row| row.split('`').skip(1).step_by(2).take(1))
        .collect();
    let run = KINDS
        .iter()
        .map(|(kind, _)| *kind)
        .chain(RECORDED.iter().copied());
    let told: BTreeSet<&str> = run.chain(BY_HAND.iter().map(|(kind, _)| *kind)).collect();
    assert_eq!(told, kinds);
}
