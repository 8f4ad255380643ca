//! Clusters as people met them, in which something is broken on the way from the driver to its devices, or from the template to the claim: what
//! is broken first is named, in a pipe and on a terminal.

use crate::support::command::{dra, on_screen, seen};

/// Question about a file of `tests/data/field`, its exit code, required and forbidden parts of the answer.
struct Case {
    args: &'static [&'static str],
    code: i32,
    has: &'static [&'static str],
    has_not: &'static [&'static str],
}

const CASES: &[Case] = &[
    // The pods of the driver run, and publish nothing on two nodes.
    Case {
        args: &["explain", "pod/small-model", "--from=09-no-slices-on-l4.yaml"],
        code: 1,
        has: &[
            "driver gpu.nvidia.com publishes no devices for l4-pool-1, l4-pool-2",
            "dra-driver-nvidia-gpu-kubelet-plugin-l4-pool-1",
            "logs",
        ],
        has_not: &["1. leave out", "1: leave out"],
    },
    Case {
        args: &["explain", "node/l4-pool-1", "--from=09-no-slices-on-l4.yaml"],
        code: 1,
        has: &["driver gpu.nvidia.com", "publishes nothing"],
        has_not: &[],
    },
    Case {
        args: &["check", "--from=09-no-slices-on-l4.yaml"],
        code: 1,
        has: &["DRA038", "node/l4-pool-1, node/l4-pool-2"],
        has_not: &["No findings"],
    },
    // A quota refuses them.
    Case {
        args: &[
            "explain",
            "pod/server",
            "--complete",
            "--from=49-driver-pods-refused-by-quota.yaml",
        ],
        code: 1,
        has: &[
            "driver gpu.nvidia.com publishes no devices for gke-l4-1",
            "daemonset/dra-driver-nvidia-gpu/dra-driver-nvidia-gpu-kubelet-plugin",
            "17 times",
            "failed quota: critical-pods",
        ],
        has_not: &[],
    },
    Case {
        args: &[
            "check",
            "--complete",
            "--from=49-driver-pods-refused-by-quota.yaml",
        ],
        code: 1,
        has: &["DRA038", "failed quota: critical-pods"],
        has_not: &["No findings"],
    },
    // The devices are for nodes with a label that none has.
    Case {
        args: &["explain", "pod/w-0", "--from=47-multihost-node-selector.yaml"],
        code: 1,
        has: &["pool tpu.google.com/ici-a", "tpu.google.com/slice In [ici-a]"],
        has_not: &["no device of class"],
    },
    Case {
        args: &["check", "--from=47-multihost-node-selector.yaml"],
        code: 1,
        has: &[
            "DRA039",
            "pool/tpu.google.com/ici-a",
            "tpu.google.com/slice In [ici-a]",
        ],
        has_not: &["No findings"],
    },
    // Of a pod for two drivers, the container of this one crashes: of all nodes, and beside a node whose device is in use.
    Case {
        args: &[
            "explain",
            "pod/app",
            "--complete",
            "--from=container-of-one-driver-crashes.yaml",
        ],
        code: 1,
        has: &[
            "pending: driver gpu.nvidia.com publishes no devices for rockwei",
            "(container gpus: CrashLoopBackOff)",
        ],
        has_not: &["only published device"],
    },
    Case {
        args: &[
            "check",
            "--complete",
            "--from=container-of-one-driver-crashes.yaml",
        ],
        code: 1,
        has: &["DRA038", "container gpus"],
        has_not: &["No findings"],
    },
    Case {
        args: &[
            "explain",
            "pod/app",
            "--complete",
            "--from=container-crashes-on-one-node.yaml",
        ],
        code: 1,
        has: &[
            "Note: driver gpu.nvidia.com publishes no devices for n-2",
            "(container gpus: CrashLoopBackOff)",
        ],
        has_not: &[],
    },
    // The DaemonSet of the driver does not tolerate the taint of the only node with devices.
    Case {
        args: &[
            "explain",
            "pod/app",
            "--complete",
            "--from=driver-does-not-tolerate-the-node.yaml",
        ],
        code: 1,
        has: &[
            "publishes no devices for gpu-1:",
            "taint gpu=true:NoSchedule",
            "let its DaemonSet tolerate the taint",
        ],
        has_not: &["cpu-1, cpu-2:"],
    },
    Case {
        args: &[
            "explain",
            "pod/app",
            "--complete",
            "--from=driver-tolerates-no-node.yaml",
        ],
        code: 1,
        has: &[
            "publishes no devices for gpu-1:",
            "kubelet-plugin has no pod there",
            "taint gpu=true:NoSchedule",
        ],
        has_not: &["no devices are published"],
    },
    // The API server refuses the claim.
    Case {
        args: &[
            "explain",
            "pod/dcgm",
            "-n=mon",
            "--complete",
            "--from=admin-access-without-label.yaml",
        ],
        code: 1,
        has: &[
            "the API server does not accept its claim",
            "kubectl label namespace/mon resource.kubernetes.io/admin-access=true",
        ],
        has_not: &["no reason was found", "unknown bug", "no action needed"],
    },
    Case {
        args: &[
            "explain",
            "pod/c",
            "-n=team",
            "--complete",
            "--from=webhook-denies-the-claim.yaml",
        ],
        code: 1,
        has: &[
            "the API server does not accept its claim: admission webhook",
            "label team is required",
        ],
        has_not: &["no reason was found", "unknown bug", "no action needed"],
    },
    // Nobody makes it.
    Case {
        args: &[
            "explain",
            "pod/app",
            "--complete",
            "--now=2026-11-28T10:00:00Z",
            "--from=no-claim-for-days.yaml",
        ],
        code: 1,
        has: &[
            "kube-controller-manager may not be running",
            "since 2026-11-20T09:03:00Z",
        ],
        has_not: &["no action needed"],
    },
    // The template is new, or the claim was there: how long the controller has had is unknown.
    Case {
        args: &[
            "explain",
            "pod/app",
            "--complete",
            "--now=2026-11-28T10:00:00Z",
            "--from=template-made-just-now.yaml",
        ],
        code: 1,
        has: &["the claim controller will create the claim from its template"],
        has_not: &["kube-controller-manager may not be running"],
    },
    Case {
        args: &[
            "explain",
            "pod/app",
            "--complete",
            "--now=2026-11-28T10:00:00Z",
            "--from=claim-of-a-waiting-pod-deleted.yaml",
        ],
        code: 1,
        has: &["the claim controller will create another claim"],
        has_not: &["kube-controller-manager may not be running"],
    },
    // A node is being added, and then is not there for long.
    Case {
        args: &[
            "explain",
            "pod/train",
            "--complete",
            "--now=2026-11-28T09:40:00Z",
            "--from=node-is-coming.yaml",
        ],
        code: 1,
        has: &["Unknown whether waiting helps: cluster-autoscaler reported TriggeredScaleUp"],
        has_not: &["Waiting will not help"],
    },
    Case {
        args: &[
            "explain",
            "pod/train",
            "--complete",
            "--now=2026-11-28T11:40:00Z",
            "--from=node-is-coming.yaml",
        ],
        code: 1,
        has: &["Waiting will not help"],
        has_not: &["a node is being added"],
    },
    // Channels of ComputeDomains are no GPUs.
    Case {
        args: &[
            "explain",
            "pod/app",
            "--complete",
            "--from=class-of-gpus-missing.yaml",
        ],
        code: 1,
        has: &[
            "device class gpu.nvidia.com does not exist",
            "create deviceclass/gpu.nvidia.com",
        ],
        has_not: &["use class"],
    },
    // What the kubelet said before it got further is over.
    Case {
        args: &[
            "explain",
            "pod/app",
            "--complete",
            "--from=image-missing-after-prepare.yaml",
        ],
        code: 1,
        has: &["container main has not started: ImagePullBackOff"],
        has_not: &["but driver gpu.nvidia.com is not registered"],
    },
    Case {
        args: &[
            "explain",
            "pod/train",
            "--complete",
            "--from=container-ends-for-its-device.yaml",
        ],
        code: 1,
        has: &[
            "exited with code 134",
            "gpu.nvidia.com/gpu-1/gpu-0 is reported unhealthy: XID 79",
        ],
        has_not: &[],
    },
    // What is meant has another name, or is elsewhere.
    Case {
        args: &[
            "explain",
            "pod/app",
            "--complete",
            "--from=template-misspelled.yaml",
        ],
        code: 1,
        has: &[
            "resourceclaimtemplate/default/singel-gpu not found",
            "did you mean resourceclaimtemplate/default/single-gpu?",
        ],
        has_not: &[],
    },
    Case {
        args: &[
            "explain",
            "pod/app",
            "-n=team-b",
            "--complete",
            "--from=claim-in-another-namespace.yaml",
        ],
        code: 1,
        has: &["exists, but a pod can only use those of its own namespace"],
        has_not: &[],
    },
    Case {
        args: &[
            "explain",
            "pod/app",
            "--complete",
            "--from=driver-misspelled-in-class.yaml",
        ],
        code: 1,
        has: &[
            "selects devices of driver gpu.nvida.com, which publishes none; did you mean driver gpu.nvidia.com?",
        ],
        has_not: &[],
    },
];

#[test]
fn the_first_broken_link_of_a_driver_is_named() {
    for case in CASES {
        let args: Vec<String> = case
            .args
            .iter()
            .map(|arg| arg.replace("--from=", "--from=tests/data/field/"))
            .collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let piped = seen(dra(&args).run().exits(case.code));
        let shown = seen(on_screen(dra(&args), 80).exits(case.code));
        for text in [piped, shown] {
            // A screen folds lines.
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            for fact in case.has {
                assert!(text.contains(fact), "{args:?} lacks {fact}: {text}");
            }
            for wrong in case.has_not {
                assert!(!text.contains(wrong), "{args:?} has {wrong}: {text}");
            }
        }
    }
}
