//! What people met: files made from public threads, and states recorded on a real node. The facts of an answer are held, not its wording.

use crate::support::command::dra;

/// A command on a file, and what has to come out.
struct Case {
    args: &'static [&'static str],
    file: &'static str,
    exits: i32,
    /// What the answer names.
    names: &'static [&'static str],
    /// What would be wrong.
    never: &'static [&'static str],
}

const RUNS: [&str; 2] = ["the pod runs on", "is bound to node-1 with"];

const CASES: [Case; 15] = [
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
        never: &["no event of the kubelet", "kubectl delete pod", "the pod runs on"],
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
        names: &["refused", "OutOfexample.com/gpu", "capacity: 0"],
        never: &["fits", "the pod runs on"],
    },
    Case {
        args: &["check", "--kubernetes-version=v1.35.0"],
        file: "kubelet-refuses-extended",
        exits: 1,
        names: &["OutOfexample.com/gpu"],
        never: &[],
    },
    // https://github.com/NVIDIA/k8s-dra-driver-gpu/issues/1162
    Case {
        args: &["explain", "pod/worker-b"],
        file: "channel-held-by-a-gone-claim",
        exits: 1,
        names: &["5b1c7c1e", "checkpoint", "44 times since 2026-11-20T09:08:00Z"],
        never: &["within a minute", "by force", "no action is needed"],
    },
    Case {
        args: &["explain", "pod/nc"],
        file: "containerd-down",
        exits: 1,
        names: &["the container runtime of node-1 does not answer"],
        never: &RUNS,
    },
    Case {
        args: &["explain", "pod/web-85d7498d7f-lkhm7"],
        file: "containerd-down",
        exits: 1,
        names: &["does not end", "the container runtime of node-1 does not answer"],
        never: &["its containers have ended"],
    },
    Case {
        args: &["explain", "pod/nk"],
        file: "containerd-down",
        exits: 0,
        names: &["the pod runs on node-1"],
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
        names: &["exit code 3"],
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
        names: &["exit code 3", "Starting"],
        never: &[],
    },
    Case {
        args: &["check"],
        file: "image-missing-and-crash-loop",
        exits: 0,
        names: &[],
        never: &["DRA080", "DRA081", "DRA082", "DRA083", "DRA084", "DRA085"],
    },
    Case {
        args: &["explain", "pod/pdcrash"],
        file: "driver-crashed-in-call",
        exits: 1,
        names: &["driver nic.example.com does not answer", "process"],
        never: &["what its words ask", "refuses"],
    },
    Case {
        args: &["check"],
        file: "driver-crashed-in-call",
        exits: 1,
        names: &["DRA081", "driver nic.example.com does not answer"],
        never: &["kubectl delete pod"],
    },
];

#[test]
fn what_keeps_a_pod_from_running_is_told() {
    for case in CASES {
        let file = format!("tests/data/field/{}.yaml", case.file);
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
