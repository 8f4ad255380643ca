//! Made-up clusters, each with one problem whose truth was written down first. Tests hold the facts of an answer, not its wording.

use crate::support::command::dra;

/// A question about a file, and what has to come out.
struct Case {
    file: &'static str,
    args: &'static [&'static str],
    exits: i32,
    /// Parts of the first line.
    first: &'static [&'static str],
    /// Parts of the whole answer.
    names: &'static [&'static str],
    /// Wrong statements and advice.
    never: &'static [&'static str],
}

const CASES: &[Case] = &[
    // A node whose kubelet is silent: the taints are the node controller's, and a pod that tolerates them does not run.
    Case {
        file: "node-unreachable",
        args: &["explain", "pod/llm"],
        exits: 1,
        first: &["gpu-1", "unreachable", "kubelet"],
        names: &["once it is ready again", "make node/gpu-1 ready"],
        never: &[
            "tolerate node taint",
            "kubectl patch node",
            "kubectl taint",
            "which pods have to finish",
        ],
    },
    Case {
        file: "node-unreachable",
        args: &["explain", "node/gpu-1"],
        exits: 1,
        first: &["not ready"],
        names: &[],
        never: &["√"],
    },
    // A driver without any pod is not that of another vendor.
    Case {
        file: "driver-of-another-vendor",
        args: &["explain", "pod/hip"],
        exits: 1,
        first: &["gpu.amd.com"],
        names: &[],
        never: &["dra-driver-nvidia-gpu"],
    },
    Case {
        file: "driver-not-registered-beside-another",
        args: &["explain", "pod/app"],
        exits: 1,
        first: &["dra.net", "not registered"],
        names: &[],
        never: &["kubectl delete pod", "dra-driver-nvidia-gpu"],
    },
    Case {
        file: "driver-pod-pending",
        args: &["explain", "pod/server"],
        exits: 1,
        first: &["gpu.nvidia.com", "l4-1", "Insufficient memory"],
        names: &[],
        never: &["has no pod there"],
    },
    Case {
        file: "driver-image-missing",
        args: &["explain", "pod/server"],
        exits: 1,
        first: &["ImagePullBackOff", "l4-1"],
        names: &[],
        never: &["crash", "kubectl logs"],
    },
    Case {
        file: "driver-pods-violate-pod-security",
        args: &["explain", "driver/gpu.nvidia.com"],
        exits: 1,
        first: &["PodSecurity"],
        names: &[],
        never: &["ResourceQuota"],
    },
    Case {
        file: "slice-for-no-node",
        args: &["explain", "driver/gpu.nvidia.com"],
        exits: 1,
        first: &["no node matches", "nvidia.com/gpu.clique"],
        names: &[],
        never: &["√"],
    },
    Case {
        file: "rollout-paused",
        args: &["explain", "pod/web-new-1"],
        exits: 1,
        first: &["no node has an available device"],
        names: &[
            "paused",
            "kubectl rollout resume deployment/web --namespace=default",
        ],
        never: &["Recreate", "kubectl delete pod"],
    },
    // Of the pods that hold the devices one has the subject's owner.
    Case {
        file: "held-by-two-owners",
        args: &["explain", "pod/web-new-1"],
        exits: 1,
        first: &["Deployment web"],
        names: &["web-old-0"],
        never: &["bigger-0 and web-old-0"],
    },
    Case {
        file: "template-of-a-compute-domain",
        args: &["explain", "pod/w-0"],
        exits: 1,
        first: &["cd-ch"],
        names: &["computedomain/default/cd"],
        never: &["ask the owner of the pod what"],
    },
    Case {
        file: "holder-is-terminating",
        args: &["explain", "pod/p"],
        exits: 1,
        first: &["no node has an available device"],
        names: &["pod/default/u0", "being deleted"],
        never: &["kubectl delete"],
    },
    Case {
        file: "holder-is-gone",
        args: &["explain", "pod/p"],
        exits: 1,
        first: &["no node has an available device"],
        names: &["ghost-gpu", "kubectl label resourceclaim/ghost-gpu"],
        never: &["delete pod"],
    },
    // What some device has is not said to be lacking.
    Case {
        file: "each-term-met-by-another",
        args: &["explain", "pod/llm"],
        exits: 1,
        first: &["selects none of 2 devices"],
        names: &[],
        never: &["published values", "the largest is"],
    },
    Case {
        file: "selected-device-in-use",
        args: &["explain", "pod/llm"],
        exits: 1,
        first: &["that the request selects"],
        names: &["pod/default/a"],
        never: &[],
    },
    Case {
        file: "volcano-event-of-group",
        args: &["explain", "pod/vj-0"],
        exits: 4,
        first: &["volcano (80×", "queue resource quota insufficient"],
        names: &[],
        never: &["√"],
    },
    Case {
        file: "volcano-group-by-annotation",
        args: &["explain", "pod/vj-0"],
        exits: 4,
        first: &["volcano", "queue resource quota insufficient"],
        names: &[],
        never: &["√"],
    },
    Case {
        file: "scheduler-says-nothing",
        args: &["explain", "pod/p"],
        exits: 1,
        first: &["foo-scheduler has reported nothing about the pod since"],
        names: &[],
        never: &["√"],
    },
    Case {
        file: "kubelet-cannot-align",
        args: &["check"],
        exits: 1,
        first: &[],
        names: &["DRA086", "TopologyAffinityError"],
        never: &[],
    },
    Case {
        file: "kubelet-cannot-align",
        args: &["explain", "--all-namespaces"],
        exits: 1,
        first: &["x 1 pod failed"],
        names: &["TopologyAffinityError"],
        never: &["√"],
    },
    Case {
        file: "admin-access-not-allowed",
        args: &["explain", "pod/mon"],
        exits: 1,
        first: &["admin access to devices requires"],
        names: &["kubectl label namespace/default resource.kubernetes.io/admin-access=true"],
        never: &["no action needed", "unknown bug"],
    },
    // Containers that run for a day after the pod should have ended.
    Case {
        file: "pod-should-have-ended",
        args: &["explain", "pod/app"],
        exits: 1,
        first: &["gpu-1", "not stopped its containers"],
        names: &["2026-11-20T09:59:00Z", "kubelet on gpu-1"],
        never: &["√"],
    },
    Case {
        file: "pod-should-have-ended",
        args: &["check"],
        exits: 1,
        first: &[],
        names: &["DRA086", "pod/default/app"],
        never: &[],
    },
    // The kubelet repeats what the claim contradicts: neither is known to be right.
    Case {
        file: "kubelet-contradicts-claim",
        args: &["explain", "pod/app"],
        exits: 4,
        first: &["not allowed to use ResourceClaim"],
        names: &[],
        never: &["√"],
    },
    Case {
        file: "driver-selects-no-node",
        args: &["explain", "pod/server"],
        exits: 1,
        first: &["gpu.nvidia.com", "nvidia.com/gpu.present=true"],
        names: &["daemonset/dra-driver-nvidia-gpu/dra-driver-nvidia-gpu-kubelet-plugin"],
        never: &[],
    },
    Case {
        file: "driver-selects-no-node",
        args: &["check"],
        exits: 1,
        first: &[],
        names: &["DRA038", "nvidia.com/gpu.present=true"],
        never: &[],
    },
    Case {
        file: "jobset-not-admitted",
        args: &["explain", "--all-namespaces"],
        exits: 1,
        first: &["1 owner without pods"],
        names: &["jobset/default/js", "workload/jobset-js-1"],
        never: &["√"],
    },
    Case {
        file: "pending-claim-unlisted",
        args: &["explain", "pod/train"],
        exits: 0,
        first: &["fits"],
        names: &["no container lists claim gpu"],
        never: &[],
    },
    Case {
        file: "claim-being-deleted",
        args: &["explain", "pod/p"],
        exits: 1,
        first: &["is being deleted"],
        names: &["delete pod/default/u, wait until claim/default/shared is gone"],
        never: &[],
    },
    // A ReplicaSet of a Deployment cannot be stopped.
    Case {
        file: "held-by-another-deployment",
        args: &["explain", "pod/b-1-x"],
        exits: 1,
        first: &["no node has an available device"],
        names: &["deployment/default/a", "kubectl scale"],
        never: &["replicaset/"],
    },
    Case {
        file: "daemonset-surges",
        args: &["explain", "pod/mon-new"],
        exits: 1,
        first: &["DaemonSet mon"],
        names: &["maxSurge 0"],
        never: &["replicas"],
    },
    Case {
        file: "workload-deactivated",
        args: &["explain", "job/trainer"],
        exits: 1,
        first: &["has given up on workload/job-trainer-1"],
        names: &[
            "kubectl patch workloads.kueue.x-k8s.io/job-trainer-1",
            "\"active\":true",
        ],
        never: &["recreate"],
    },
    Case {
        file: "workload-without-queue",
        args: &["explain", "job/trainer"],
        exits: 1,
        first: &["does not admit", "LocalQueue gpus doesn't exist"],
        names: &["create or activate the queue"],
        never: &["recreate", "will not help"],
    },
    Case {
        file: "workload-waits-for-check",
        args: &["explain", "pod/trainer"],
        exits: 1,
        first: &["AdmissionCheck prov", "ProvisioningRequest"],
        names: &[],
        never: &[],
    },
    Case {
        file: "gate-of-admitted-workload",
        args: &["explain", "pod/trainer"],
        exits: 1,
        first: &["kueue.x-k8s.io/topology"],
        names: &["kubectl describe workloads.kueue.x-k8s.io"],
        never: &["Kueue admits"],
    },
    // What gathers nodes lacks some: every command says the same.
    Case {
        file: "compute-domain-incomplete",
        args: &["explain", "pod/w-0"],
        exits: 1,
        first: &["ComputeDomain dom has 2 of 3 nodes"],
        names: &["get all nodes of ComputeDomain dom ready"],
        never: &["act on the driver's message"],
    },
    Case {
        file: "compute-domain-incomplete",
        args: &["explain", "--all-namespaces"],
        exits: 1,
        first: &[],
        names: &["ComputeDomain dom has 2 of 3 nodes"],
        never: &["the driver refuses"],
    },
    Case {
        file: "compute-domain-incomplete",
        args: &["check"],
        exits: 1,
        first: &[],
        names: &["DRA081", "ComputeDomain dom has 2 of 3 nodes"],
        never: &["the driver refuses"],
    },
    // kube-scheduler found a node, too.
    Case {
        file: "bind-refused",
        args: &["explain", "pod/p"],
        exits: 1,
        first: &["could not be bound there", "guard.example.com"],
        names: &[],
        never: &["unknown bug", "state has changed", "according to the simulation"],
    },
    Case {
        file: "volume-not-attached",
        args: &["explain", "pod/app"],
        exits: 1,
        first: &["Multi-Attach error"],
        names: &[],
        never: &["no event of the kubelet was found"],
    },
    Case {
        file: "sidecar-probe-fails",
        args: &["explain", "pod/app"],
        exits: 1,
        first: &["Startup probe failed"],
        names: &[],
        never: &["no event of the kubelet was found"],
    },
    Case {
        file: "kubelet-says-nothing",
        args: &["explain", "pod/app"],
        exits: 4,
        first: &["the kubelet has reported nothing"],
        names: &[],
        never: &["no event of the kubelet was found"],
    },
    // Filters before that for devices: with names and numbers, and what ends it.
    Case {
        file: "node-taint",
        args: &["explain", "pod/llm"],
        exits: 1,
        first: &["gpu-1", "nvidia.com/gpu=present:NoSchedule"],
        names: &["tolerates the taints of the node"],
        never: &["which pods have to finish", "recreates pod"],
    },
    Case {
        file: "too-little-cpu",
        args: &["explain", "pod/llm"],
        exits: 1,
        first: &["gpu-1", "needs 32, 8 of 8 left"],
        names: &["no other node has devices"],
        never: &["no eligible node"],
    },
    Case {
        file: "node-label-missing",
        args: &["explain", "pod/llm"],
        exits: 1,
        first: &["gpu-1", "topology.kubernetes.io/zone=b"],
        names: &[],
        never: &[],
    },
    Case {
        file: "port-in-use",
        args: &["explain", "pod/p"],
        exits: 1,
        first: &["n-1", "port 8080"],
        names: &["once pod/default/x finishes"],
        never: &[],
    },
    Case {
        file: "pool-incomplete",
        args: &["explain", "pod/llm"],
        exits: 1,
        first: &["pool gpu.nvidia.com/gpu-1 is incomplete: 1 of 2 slices"],
        names: &[],
        never: &[],
    },
    Case {
        file: "two-claims-apart",
        args: &["explain", "pod/p"],
        exits: 1,
        first: &["n-1", "2 in use", "claim/default/shared is allocated on node/n-1"],
        names: &[],
        never: &[],
    },
    Case {
        file: "capacity-used-up",
        args: &["explain", "pod/p"],
        exits: 1,
        first: &["needs 30Gi of memory, 20Gi of 80Gi left"],
        names: &[],
        never: &[],
    },
    Case {
        file: "all-tainted",
        args: &["explain", "pod/llm"],
        exits: 1,
        first: &["2 are tainted"],
        names: &[],
        never: &[],
    },
    Case {
        file: "all-tainted",
        args: &["explain", "--all-namespaces"],
        exits: 1,
        first: &[],
        names: &[
            "2 are tainted",
            "ask  an administrator to repair device/gpu.nvidia.com/gpu-1/gpu-0, device/gpu.nvidia.com/gpu-1/gpu-1",
        ],
        never: &[],
    },
    Case {
        file: "outdated-slice-alone",
        args: &["check"],
        exits: 1,
        first: &[],
        names: &["DRA031", "n-1"],
        never: &["kube-scheduler ignores"],
    },
    Case {
        file: "class-does-not-compile",
        args: &["explain", "pod/p"],
        exits: 1,
        first: &["class gpu.nvidia.com"],
        names: &["Waiting will not help"],
        never: &["nknown whether waiting helps"],
    },
    Case {
        file: "quota-used-up",
        args: &["explain", "pod/p"],
        exits: 1,
        first: &["quota/default/q has 1 of 1 in use"],
        names: &[],
        never: &[],
    },
    Case {
        file: "preempted",
        args: &["explain", "pod/app"],
        exits: 1,
        first: &["PreemptionByScheduler"],
        names: &[],
        never: &[],
    },
    // What loses nothing comes before the end of a running pod.
    Case {
        file: "cordoned-beside-used",
        args: &["explain", "--all-namespaces"],
        exits: 1,
        first: &[],
        names: &["uncordon node/g-1"],
        never: &["delete pod"],
    },
    Case {
        file: "autoscaler-cannot-help",
        args: &["explain", "pod/p"],
        exits: 1,
        first: &["no node has an available device"],
        names: &["karpenter, 20×"],
        never: &["scheduling has failed"],
    },
];

#[test]
fn the_first_line_is_the_cause_and_the_advice_works() {
    for case in CASES {
        let from = format!("tests/data/variants/{}.yaml", case.file);
        let complete = ["--complete", "--from", &from];
        let run = dra(&[case.args, &complete].concat()).run();
        let about = format!("{:?} {}: {}", case.args, case.file, run.stdout);
        assert_eq!(run.code, Some(case.exits), "{about}{}", run.stderr);
        let first = run.stdout.lines().next().unwrap_or_default();
        for name in case.first {
            assert!(first.contains(name), "{name:?}: {about}");
        }
        for name in case.names {
            assert!(run.stdout.contains(name), "{name:?}: {about}");
        }
        for name in case.never {
            assert!(!run.stdout.contains(name), "{name:?}: {about}");
        }
    }
}

/// That no node has the labels is known only if all nodes were read.
#[test]
fn a_node_that_was_not_read_may_have_the_labels() {
    let text = std::fs::read_to_string("tests/data/variants/driver-selects-no-node.yaml").expect("a file");
    let unread = "- {apiVersion: v1, kind: Node, metadata: {name: other}, spec: []}\n";
    let file = tempfile::NamedTempFile::with_suffix(".yaml").expect("a file");
    std::fs::write(file.path(), text + unread).expect("a file");
    let from = file.path().to_str().expect("UTF-8");
    for args in [
        &["explain", "driver/gpu.nvidia.com"][..],
        &["explain", "pod/server"],
        &["check"],
    ] {
        let run = dra(&[args, &["--complete", "--from", from]].concat()).run();
        assert!(
            !run.stdout.contains("which no node has"),
            "{args:?}: {}",
            run.stdout
        );
    }
}

#[test]
fn every_file_is_asked_about() {
    for entry in std::fs::read_dir("tests/data/variants").expect("made-up clusters") {
        let path = entry.expect("an entry").path();
        let name = path
            .file_stem()
            .and_then(std::ffi::OsStr::to_str)
            .expect("a name");
        assert!(CASES.iter().any(|case| case.file == name), "{name}");
    }
}
