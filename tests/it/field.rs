//! Real cases: files made from public threads, and states recorded on a real node. Tests hold the facts of an answer, not its wording.

use crate::support::command::dra;

/// A command on a file, and what has to come out.
struct Case {
    args: &'static [&'static str],
    /// Name of a file in `tests/data/field`, or a built-in example.
    file: &'static str,
    exits: i32,
    /// Names in the answer.
    names: &'static [&'static str],
    /// Wrong statements.
    never: &'static [&'static str],
}

const RUNS: [&str; 2] = ["the pod is running on", "is bound to node-1 with"];

const CASES: &[Case] = &[
    // https://github.com/google/dranet/issues/175
    Case {
        args: &["explain", "pod/app"],
        file: "sandbox-fails-by-nri",
        exits: 1,
        names: &[
            "sandbox",
            "enP4096s1",
            "busy",
            "14 times since 2026-11-20T09:08:00Z",
        ],
        never: &["no kubelet event", "kubectl delete pod", "the pod is running on"],
    },
    Case {
        args: &["check"],
        file: "sandbox-fails-by-nri",
        exits: 1,
        names: &["DRA086", "busy"],
        never: &["kubectl delete pod"],
    },
    // https://github.com/kubernetes/kubernetes/issues/135667
    Case {
        args: &["explain", "pod/train", "--kubernetes-version=v1.35.0"],
        file: "kubelet-refuses-extended",
        exits: 1,
        names: &[
            "rejected",
            "OutOfexample.com/gpu",
            "capacity: 0",
            "kubernetes/kubernetes#135669",
        ],
        never: &["fits", "the pod is running on"],
    },
    Case {
        args: &["check", "--kubernetes-version=v1.35.0"],
        file: "kubelet-refuses-extended",
        exits: 1,
        names: &["OutOfexample.com/gpu", "kubernetes/135669"],
        never: &[],
    },
    // https://github.com/NVIDIA/k8s-dra-driver-gpu/issues/1162
    Case {
        args: &["explain", "pod/worker-b"],
        file: "channel-held-by-a-gone-claim",
        exits: 1,
        names: &["5b1c7c1e", "checkpoint", "44 times since 2026-11-20T09:08:00Z"],
        never: &["within a minute", "force-deleted", "no action needed"],
    },
    Case {
        args: &["explain", "pod/nc"],
        file: "containerd-down",
        exits: 1,
        names: &["the container runtime on node-1 does not respond"],
        never: &RUNS,
    },
    Case {
        args: &["explain", "pod/web-85d7498d7f-lkhm7"],
        file: "containerd-down",
        exits: 1,
        names: &[
            "is stuck terminating",
            "the container runtime on node-1 does not respond",
        ],
        never: &["its containers have exited"],
    },
    Case {
        args: &["explain", "pod/nk"],
        file: "containerd-down",
        exits: 0,
        names: &["the pod is running on node-1"],
        never: &[],
    },
    Case {
        args: &["status"],
        file: "containerd-down",
        exits: 0,
        names: &["Prepared"],
        never: &["Reserved", "Unpreparing"],
    },
    Case {
        args: &["explain", "pod/pcrash"],
        file: "image-missing-and-crash-loop",
        exits: 1,
        names: &["exited with code 3"],
        never: &RUNS,
    },
    Case {
        args: &["explain", "pod/pimage"],
        file: "image-missing-and-crash-loop",
        exits: 1,
        names: &["ErrImagePull", "localhost/none:1"],
        never: &RUNS,
    },
    Case {
        args: &["describe", "pod", "pcrash"],
        file: "image-missing-and-crash-loop",
        exits: 0,
        names: &["exited with code 3", "Starting"],
        never: &[],
    },
    Case {
        args: &["check"],
        file: "image-missing-and-crash-loop",
        exits: 1,
        names: &["DRA088", "pod/default/pcrash", "pod/default/pimage"],
        never: &["DRA080", "DRA081", "DRA082", "DRA083", "DRA084", "DRA085"],
    },
    Case {
        args: &["explain", "pod/pdcrash"],
        file: "example:stuck",
        exits: 1,
        names: &["driver nic.example.com does not respond", "process"],
        never: &["act on the driver's message", "refuses"],
    },
    Case {
        args: &["check"],
        file: "example:stuck",
        exits: 1,
        names: &["DRA081", "driver nic.example.com does not respond"],
        never: &["kubectl delete pod"],
    },
    // https://github.com/kubernetes/kubernetes/issues/141290
    Case {
        args: &["explain", "pod/train", "--namespace=team"],
        file: "evict-extended-resource",
        exits: 1,
        names: &[
            "example.com/drain=yes:NoExecute from devicetaintrule/drain-worker-1",
            "is to evict the pod, but kube-controller-manager before 1.37.2 ignores",
            "1. recreate the pod",
            "141290",
        ],
        never: &[],
    },
    Case {
        args: &["taints"],
        file: "evict-extended-resource",
        exits: 0,
        names: &[
            "pod/team/train stays on a tainted device",
            "assuming 1.36.1, the version of its newest kubelet",
        ],
        never: &["pod/team/notebook stays"],
    },
    Case {
        args: &["check"],
        file: "evict-extended-resource",
        exits: 1,
        names: &["DRA090", "pod/team/train", "rule/drain-worker-1"],
        never: &["pod/team/notebook (taint"],
    },
    // The kubelet started 4 seconds before, which deletes the slices of its node for half a minute.
    Case {
        args: &["explain", "pod/waits"],
        file: "pending-after-kubelet-restart",
        exits: 1,
        names: &[
            "the kubelet on node-1 started at 2026-11-25T22:52:34Z",
            "driver gpu.example.com publishes them again",
            "May fit on node-1 once drivers publish",
        ],
        never: &["will not help", "Fix"],
    },
    Case {
        args: &["explain", "-A"],
        file: "pending-after-kubelet-restart",
        exits: 1,
        names: &["the kubelet on node-1 started"],
        never: &[],
    },
    Case {
        args: &["check"],
        file: "pending-after-kubelet-restart",
        exits: 0,
        names: &["No findings"],
        never: &[],
    },
    Case {
        args: &["explain", "node/node-1"],
        file: "pending-after-kubelet-restart",
        exits: 4,
        names: &["the kubelet on node-1 started"],
        never: &["Publish Nothing Here"],
    },
    Case {
        args: &["explain", "driver/gpu.example.com"],
        file: "pending-after-kubelet-restart",
        exits: 4,
        names: &["the kubelet on node-1 started"],
        never: &[],
    },
    Case {
        args: &["check"],
        file: "kubelet-restarted",
        exits: 0,
        names: &["No findings"],
        never: &[],
    },
    // Which of the two drivers it is nothing of the API tells; the warning is from before the pod ran.
    Case {
        args: &["explain", "pod/punp"],
        file: "unprepare-fails-one-of-two",
        exits: 1,
        names: &[
            "is stuck terminating",
            "driver gpu.example.com or driver nic.example.com does not unprepare its devices",
        ],
        never: &["FailedPrepareDynamicResources", "driver gpu.example.com does not"],
    },
    Case {
        args: &["check"],
        file: "unprepare-fails-one-of-two",
        exits: 1,
        names: &["DRA084", "driver gpu.example.com or driver nic.example.com"],
        never: &[],
    },
    Case {
        args: &["explain", "-A"],
        file: "unprepare-fails-one-of-two",
        exits: 1,
        names: &["pod/default/punp"],
        never: &[],
    },
    Case {
        args: &["check"],
        file: "node-silent",
        exits: 1,
        names: &[
            "DRA087",
            "node/node-1",
            "its kubelet has stopped reporting",
            "1 pod with devices does not start there: pod/default/nk",
            "1 pod with devices does not terminate there: pod/default/pdcrash",
        ],
        never: &["kubectl delete"],
    },
    Case {
        args: &["explain", "-A"],
        file: "node-silent",
        exits: 1,
        names: &["pod/default/nk, pod/default/pdcrash"],
        never: &[],
    },
    Case {
        args: &["explain", "pod/web-85d7498d7f-66b6n"],
        file: "drained",
        exits: 1,
        names: &["kubectl uncordon node/node-1", "Fits on node-1 once uncordoned"],
        never: &["tolerate"],
    },
    Case {
        args: &["explain", "-A"],
        file: "driver-stopped",
        exits: 1,
        names: &[
            "pod/default/late, pod/default/run1",
            "driver gpu.example.com is not registered",
        ],
        never: &["run2"],
    },
    Case {
        args: &["explain", "driver/gpu.example.com"],
        file: "driver-stopped",
        exits: 1,
        names: &["no pod appears to be its own"],
        never: &[],
    },
    // https://github.com/google/dranet/issues/178
    Case {
        args: &["check"],
        file: "driver-hides-used-devices",
        exits: 0,
        names: &[
            "DRA004",
            "driver dra.net still publishes devices for node/a3-1",
            "omits devices in use",
        ],
        never: &["DRA036", "the driver does not run"],
    },
    Case {
        args: &["status"],
        file: "driver-hides-used-devices",
        exits: 0,
        names: &["default dra.net 2 50%"],
        never: &[],
    },
    // As tables name it.
    Case {
        args: &["explain", "default/trainer-0"],
        file: "driver-hides-used-devices",
        exits: 0,
        names: &["the pod is running on a3-1"],
        never: &[],
    },
    // https://github.com/NVIDIA/k8s-dra-driver-gpu/issues/738
    Case {
        args: &["explain", "pod/legacy", "--complete"],
        file: "resource-that-nothing-offers",
        exits: 1,
        names: &[
            "no node and no class offers nvidia.com/gpu; class gpu.nvidia.com has 4 available devices but no extendedResourceName",
            "kubectl patch deviceclass/gpu.nvidia.com",
            "tested: fits on gpu-1",
        ],
        never: &["no node meets the pod's other requirements"],
    },
    Case {
        args: &["explain", "-A", "--complete"],
        file: "resource-that-nothing-offers",
        exits: 1,
        names: &["pod/default/legacy", "nvidia.com/gpu"],
        never: &[],
    },
    // https://github.com/NVIDIA/k8s-dra-driver-gpu/issues/767
    Case {
        args: &["explain", "pod/nccl-worker-0"],
        file: "compute-domain-waits-for-a-pod",
        exits: 1,
        names: &[
            "ComputeDomain inference-cd has 1 of 2 nodes",
            "nccl-worker-1",
            "pod/default/batch finishes",
        ],
        never: &["kubectl delete", "driver compute-domain.nvidia.com running"],
    },
    Case {
        args: &["explain", "pod/nccl-worker-1"],
        file: "compute-domain-waits-for-a-pod",
        exits: 1,
        names: &[
            "pod/default/batch finishes (cpu: needs 60, 24 of 64 left)",
            "pod/default/nccl-worker-0 cannot start without this pod",
        ],
        never: &["nccl-worker-0 finishes", "kubectl delete"],
    },
    // https://github.com/volcano-sh/volcano/issues/5884
    Case {
        args: &["explain", "pod/hi-task-0"],
        file: "scheduler-volcano",
        exits: 4,
        names: &["volcano (20×, first at 2026-11-20T09:08:00Z, last at 2026-11-20T09:40:00Z): "],
        never: &["kube-scheduler (", "plugin or extender", "bug in this release"],
    },
    // https://github.com/kubernetes-sigs/kueue/issues/13969
    Case {
        args: &["explain", "pod/trainer", "--namespace=team"],
        file: "kueue-inadmissible-pod",
        exits: 1,
        names: &[
            "pod-trainer-5f2a1 (Inadmissible since 2026-11-20T09:10:00Z)",
            "is not mapped",
        ],
        never: &["wait until Kueue"],
    },
    Case {
        args: &["explain", "job/trainer", "--namespace=team"],
        file: "kueue-inadmissible-job",
        exits: 1,
        names: &["Job trainer has no pods", "Inadmissible", "is not mapped"],
        never: &["wait until Kueue"],
    },
    Case {
        args: &["explain", "--all-namespaces"],
        file: "kueue-inadmissible-job",
        exits: 1,
        names: &["job/team/trainer", "is not mapped"],
        never: &["nothing is pending"],
    },
    // https://github.com/defilantech/LLMKube/issues/192
    Case {
        args: &["explain", "pod/vllm-7c9d-m2n8s", "--namespace=llm"],
        file: "rollout-keeps-devices",
        exits: 1,
        names: &[
            "the rollout of Deployment vllm keeps it until this pod is ready (maxSurge 1, maxUnavailable 0)",
            "kubectl patch deployment/vllm --namespace=llm",
        ],
        never: &["kubectl delete", "Fits on"],
    },
    Case {
        args: &["explain", "deployment", "vllm", "--namespace=llm"],
        file: "rollout-keeps-devices",
        exits: 1,
        names: &[
            "pod/llm/vllm-7c9d-m2n8s",
            "first pod with a problem, of the 2 pods of Deployment vllm",
        ],
        never: &[],
    },
    Case {
        args: &["explain", "rs/llm/vllm-6b8f"],
        file: "rollout-keeps-devices",
        exits: 0,
        names: &["the pod is running on gpu-1"],
        never: &[],
    },
    Case {
        args: &["explain", "llm/vllm-7c9d-m2n8s"],
        file: "rollout-keeps-devices",
        exits: 1,
        names: &["pod/llm/vllm-7c9d-m2n8s"],
        never: &[],
    },
    Case {
        args: &["explain", "device/gpu.nvidia.com/gpu-1/gpu-0"],
        file: "rollout-keeps-devices",
        exits: 0,
        names: &["vllm-6b8f-x7k2d"],
        never: &[],
    },
    // https://github.com/kubernetes/kubernetes/issues/141467
    Case {
        args: &[
            "explain",
            "pod/repro",
            "--kubernetes-version=v1.37.0",
            "--feature-gates=DRANodeAllocatableResources=true",
        ],
        file: "extended-node-allocatable",
        exits: 4,
        names: &[
            "nodeAllocatableResourceClaimStatuses",
            "assuming that the cluster has no devicetaintrules",
        ],
        never: &["ClusterRole", "could not be read"],
    },
    // https://github.com/kubernetes/kubernetes/pull/140437
    Case {
        args: &["explain", "pod/second"],
        file: "shared-device-no-capacity",
        exits: 1,
        names: &[
            "#140437",
            "counter engines in board-0",
            "used by devices of claim/default/first",
            "assuming 1.36.3",
            "in 1.37, it fits",
        ],
        never: &["unknown bug"],
    },
    Case {
        args: &["explain", "pod/second", "--kubernetes-version=v1.36.3"],
        file: "shared-device-no-capacity",
        exits: 1,
        names: &["#140437"],
        never: &["in 1.37"],
    },
    Case {
        args: &["check", "--kubernetes-version=v1.36.3"],
        file: "shared-device-no-capacity",
        exits: 1,
        names: &["issue/kubernetes/140437"],
        never: &[],
    },
    Case {
        args: &["check", "--kubernetes-version=v1.37.0"],
        file: "shared-device-no-capacity",
        exits: 0,
        names: &[],
        never: &["140437"],
    },
    // https://github.com/kubernetes/kubernetes/issues/138882
    Case {
        args: &["explain", "pod/big", "--kubernetes-version=v1.36.0"],
        file: "all-with-counters",
        exits: 1,
        names: &["panics (kubernetes/kubernetes#138885)"],
        never: &["√", "kube-controller-manager"],
    },
    Case {
        args: &["explain", "pod/big", "--kubernetes-version=1.36"],
        file: "all-with-counters",
        exits: 4,
        names: &["may panic"],
        never: &["√"],
    },
    Case {
        args: &["explain", "pod/big", "--kubernetes-version=v1.36.2"],
        file: "all-with-counters",
        exits: 0,
        names: &["fits on 1 of 1 nodes"],
        never: &["138885"],
    },
    Case {
        args: &["check", "--kubernetes-version=v1.36.0"],
        file: "all-with-counters",
        exits: 1,
        names: &["Error DRA090", "issue/kubernetes/138885"],
        never: &["which this release may be"],
    },
    // https://github.com/kubernetes/kubernetes/issues/134434
    Case {
        args: &[
            "simulate",
            "eviction",
            "--kubernetes-version=v1.34.1",
            "--feature-gates=DRADeviceTaints=true",
        ],
        file: "noexecute-toleration-1.34",
        exits: 0,
        names: &[
            "pod/default/tester is evicted although its request tolerates the taint",
            "#134479",
        ],
        never: &[],
    },
    Case {
        args: &[
            "check",
            "--kubernetes-version=v1.34.1",
            "--feature-gates=DRADeviceTaints=true",
        ],
        file: "noexecute-toleration-1.34",
        exits: 1,
        names: &[
            "issue/kubernetes/134479",
            "pod/default/tester",
            "template/default/tolerant",
        ],
        never: &[],
    },
    // https://github.com/NVIDIA/k8s-dra-driver-gpu/issues/1316
    Case {
        args: &["explain", "pod/infer"],
        file: "mig-of-a-sick-gpu",
        exits: 0,
        names: &[
            "gpu-0, whose taint gpu.nvidia.com/xid=79:NoSchedule",
            "assumed on in kube-scheduler",
        ],
        never: &["kube-controller-manager"],
    },
    Case {
        args: &["check"],
        file: "mig-of-a-sick-gpu",
        exits: 1,
        names: &[
            "DRA006",
            "device/gpu.nvidia.com/h100-1/gpu-0 ",
            "7 partitions of it",
        ],
        never: &[],
    },
    // https://github.com/intel/intel-resource-drivers-for-kubernetes/issues/60
    Case {
        args: &["explain", "pod/allreduce"],
        file: "pciroot-pcieroot",
        exits: 1,
        names: &[
            "no device of driver gpu.intel.com has attribute resource.kubernetes.io/pcieRoot",
            "gpu.intel.com/pciRoot, which shares values such as pci0000:00",
            "which gives up the alignment of the devices",
            "to keep the alignment",
        ],
        never: &[],
    },
    // https://github.com/kubernetes-sigs/dra-driver-cpu/issues/266
    Case {
        args: &["simulate", "allocation", "pod/dpdk"],
        file: "cpu-claims-overcommit",
        exits: 0,
        names: &["claims hold 32 CPUs of dra.cpu and pods request 60 more, 92 of 64 in total"],
        never: &["kube-controller-manager"],
    },
    // https://github.com/kubernetes-sigs/dra-driver-cpu/issues/114
    Case {
        args: &["explain", "pod/dpdk"],
        file: "list-attribute",
        exits: 4,
        names: &[
            "DRAListTypeAttributes",
            "has a list as attribute resource.kubernetes.io/pcieRoot",
        ],
        never: &["has ,"],
    },
    Case {
        args: &["explain", "pod/dpdk", "--kubernetes-version=v1.37.2"],
        file: "list-attribute",
        exits: 1,
        names: &[
            "dra.cpu/bm-1/cpu0 has [pci0000:00, pci0000:80]",
            "if it is on, it fits",
        ],
        never: &["has ,"],
    },
    Case {
        args: &[
            "explain",
            "pod/dpdk",
            "--kubernetes-version=v1.37.2",
            "--feature-gates=DRAListTypeAttributes=false",
        ],
        file: "list-attribute",
        exits: 1,
        names: &["driver dra.cpu publishes it as a list"],
        never: &["this depends on"],
    },
    // https://github.com/kubernetes-sigs/karpenter/issues/3124
    Case {
        args: &["explain", "pod/train"],
        file: "claim-no-container-uses",
        exits: 0,
        names: &[
            "no container lists claim gpu under resources.claims",
            "gpu.nvidia.com/gpu-1/gpu-0",
        ],
        never: &[],
    },
    Case {
        args: &["describe", "pod", "train"],
        file: "claim-no-container-uses",
        exits: 0,
        names: &["no container lists claim gpu under resources.claims"],
        never: &[],
    },
    Case {
        args: &["check"],
        file: "claim-no-container-uses",
        exits: 1,
        names: &["DRA075", "pod/default/train"],
        never: &[],
    },
    // Guides of 2023.
    Case {
        args: &["simulate", "allocation", "-f=tests/data/field/guide-of-1.30.yaml"],
        file: "gpu-cluster",
        exits: 2,
        names: &[
            "ResourceClass was removed in Kubernetes 1.31: use DeviceClass",
            "unsupported version `v1alpha2`",
            "v1, v1beta2, v1beta1",
            "spec.resourceClaims[0].source",
            "`resourceClaimName`",
        ],
        never: &["ClusterRole"],
    },
    // https://github.com/llm-d-incubation/llm-d-fast-model-actuation/issues/723
    Case {
        args: &["explain", "pod/launcher", "--namespace=fma"],
        file: "all-without-admin-access",
        exits: 1,
        names: &[
            "requests all 4 devices of class gpu.nvidia.com of gke-1",
            "pod/requester",
            "adminAccess: true",
        ],
        never: &[],
    },
];

#[test]
fn the_reason_that_keeps_a_pod_from_running_is_reported() {
    for case in CASES {
        let file = match case.file {
            example if example.starts_with("example:") => example.to_owned(),
            name => format!("tests/data/field/{name}.yaml"),
        };
        let run = dra(&[case.args, &["--from", &file]].concat())
            .run()
            .exits(case.exits);
        let words: Vec<&str> = run
            .stdout
            .split_whitespace()
            .chain(run.stderr.split_whitespace())
            .collect();
        let answer = words.join(" ");
        for name in case.names {
            assert!(answer.contains(name), "{}: no {name}: {answer}", run.command);
        }
        for wrong in case.never {
            assert!(!answer.contains(wrong), "{}: {wrong}: {answer}", run.command);
        }
    }
}
