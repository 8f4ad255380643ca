//! Clusters as people met them, in which no device is there for the nodes that a pod can use: what is broken first on the way from the
//! driver to its devices is named, in a pipe and on a terminal.

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
