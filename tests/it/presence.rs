//! Names that nothing has: no verdict is given about them. And objects that say no namespace.

use serde_json::Value;

use crate::support::command::{dra, dra_snapshot};
use crate::support::process::{Invocation, Run};

const FILE: &str = "tests/data/snapshots/bound-pods.yaml";

fn on_file(args: &[&str]) -> Invocation {
    dra(&[args, &["--kubernetes-version=1.37", "--from", FILE]].concat())
}

/// Command lines with a name that is not there, the exit code, and what the message has to tell.
const VERDICTS: &[(&[&str], i32, &[&str])] = &[
    (
        &["convert", "verify", "-n", "deafult"],
        3,
        &["namespace/deafult not found", "did you mean `default`?"],
    ),
    (
        &["convert", "plan", "-n", "typo", "--to-version=1.36"],
        3,
        &[
            "namespace/typo not found",
            "there are 3 namespaces: `default`, `inference`, `training`",
        ],
    ),
    (
        &["convert", "plan", "-l", "app=nobody"],
        4,
        &["no object has the labels `app=nobody`"],
    ),
    (
        &["convert", "verify", "claim/default/spore"],
        3,
        &["claim/default/spore not found", "did you mean `spare`?"],
    ),
    (&["check", "-n", "deafult"], 3, &["namespace/deafult not found"]),
    (
        &["check", "-l", "app=nobody"],
        4,
        &["no object has the labels", "labels: `app=web`"],
    ),
    (
        &["check", "--driver", "gpu.exmple.com"],
        4,
        &["`gpu.exmple.com`", "did you mean `gpu.example.com`?"],
    ),
    (
        &["check", "--driver", "x"],
        4,
        &["there are 2 drivers: `gpu.example.com`, `nic.example.com`"],
    ),
    (
        &["check", "--driver=gpu.example.com", "--node=typo"],
        3,
        &["node/typo not found", "there are 3 nodes"],
    ),
    (
        &["simulate", "eviction", "-n", "deafult"],
        3,
        &["namespace/deafult not found"],
    ),
    (
        &["simulate", "eviction", "--driver=typo", "--fail-on-eviction"],
        4,
        &["`typo/*/*`", "there are 2 drivers"],
    ),
    (
        &["simulate", "eviction", "--driver=typo", "--emit-rule"],
        4,
        &["`typo/*/*`"],
    ),
    (
        &["simulate", "eviction", "--node=gpu-node-9"],
        3,
        &["node/gpu-node-9 not found", "did you mean `gpu-node-1`"],
    ),
    (
        &["simulate", "eviction", "--driver=gpu.example.com", "--pool=nope"],
        4,
        &["`gpu.example.com/nope/*`", "there are 3 pools: `gpu-node-1`"],
    ),
    (
        &["simulate", "eviction", "--device=gpu-99"],
        4,
        &["`*/*/gpu-99`", "did you mean `gpu-0`"],
    ),
    (
        &["simulate", "eviction", "--taint=x/*/*=a:NoExecute"],
        4,
        &["`x/*/*`"],
    ),
    (
        &["simulate", "allocation", "claim/spare", "--node=gpu-node-9"],
        3,
        &["node/gpu-node-9 not found"],
    ),
    (
        &["simulate", "allocation", "claim/spare", "--release=claim/spore"],
        3,
        &["did you mean `spare`?"],
    ),
    (
        &["simulate", "allocation", "claim/spare", "--remove-node=nod"],
        3,
        &["node/nod not found"],
    ),
    (
        &[
            "simulate",
            "allocation",
            "claim/spare",
            "--taint=x/*/*=a:NoExecute",
        ],
        4,
        &["`x/*/*`"],
    ),
    (
        &["simulate", "allocation", "claim/training/spare"],
        3,
        &["there is `claim/default/spare`"],
    ),
    (
        &["explain", "pod/default/trainer-1"],
        3,
        &["there is `pod/training/trainer-1`"],
    ),
    (
        &["explain", "pod/deafult/trainer-1"],
        3,
        &["namespace/deafult not found"],
    ),
    (
        &["cel", "true", "gpu-99"],
        3,
        &["device/gpu-99 not found", "did you mean `gpu-0`"],
    ),
    (&["cel", "true", "--driver=typo"], 4, &["`typo/*/*`"]),
    (
        &["cel", "true", "--class=gpu.example"],
        3,
        &["class/gpu.example not found", "did you mean `gpu.example.com`?"],
    ),
    (&["cel", "true", "--node=typo"], 3, &["node/typo not found"]),
    (
        &["devices", "nope"],
        3,
        &["device/nope not found", "there are 16 devices"],
    ),
    (
        &["claims", "claim/trainning/x"],
        3,
        &["namespace/trainning not found", "did you mean `training`?"],
    ),
    (
        &["describe", "pool/gpu-node-9"],
        3,
        &["pool/gpu-node-9 not found", "did you mean `gpu-node-1`"],
    ),
    (
        &["describe", "class/nvidia"],
        3,
        &["class/nvidia not found", "classes: "],
    ),
];

#[test]
fn a_missing_name_is_not_a_clean_result() {
    for (args, code, tells) in VERDICTS {
        for format in ["table", "json"] {
            let Run {
                code: is,
                stdout,
                stderr,
                ..
            } = on_file(&[args, &["-o", format][..]].concat()).run();
            assert_eq!(is, Some(*code), "{args:?}: {stdout}{stderr}");
            // An unknown verdict is an answer, and has its report.
            let has_report = *code == 4 && format == "json" && !args.contains(&"--emit-rule");
            assert_eq!(
                serde_json::from_str::<Value>(&stdout).is_ok(),
                has_report,
                "{args:?} -o {format}: {stdout}"
            );
            for text in *tells {
                let said = stderr.contains(text) || stdout.contains(text);
                assert!(said, "{args:?}: {text:?} is missing: {stdout}{stderr}");
            }
        }
    }
}

#[test]
fn lists_end_well_and_say_what_is_not_there() {
    for (args, tells) in [
        (
            &["claims", "-n", "deafult"][..],
            "namespace/deafult not found; did you mean `default`?",
        ),
        (
            &["claims", "--node", "typo"],
            "node/typo not found; there are 3 nodes",
        ),
        (&["claims", "--pod", "default/typo"], "pod/default/typo not found"),
        (&["reserved", "-n", "deafult"], "namespace/deafult not found"),
        (&["devices", "-n", "deafult"], "namespace/deafult not found"),
        (&["devices", "--node", "typo"], "node/typo not found"),
        (&["devices", "--class", "typo"], "class/typo not found"),
        (&["taints", "-n", "deafult"], "namespace/deafult not found"),
        (&["status", "-n", "deafult"], "namespace/deafult not found"),
    ] {
        let run = on_file(args).run().exits(0);
        assert!(run.stderr.contains(tells), "{args:?}: {}", run.stderr);
    }
}

#[test]
fn who_allows_names_to_be_missing_gets_the_verdict_on_what_there_is() {
    for args in [
        &["convert", "verify", "-n", "deafult"][..],
        &["check", "--driver", "typo"],
        &[
            "check",
            "--driver",
            "gpu.example.com",
            "--node",
            "typo",
            "--fail-on=never",
        ],
        &["simulate", "eviction", "--driver=typo", "--fail-on-eviction"],
        &["simulate", "eviction", "--node=typo", "--fail-on-eviction"],
        &["cel", "true", "gpu-99"],
        &["devices", "nope"],
        &["claims", "nope"],
    ] {
        let run = on_file(&[args, &["--allow-missing"]].concat()).run();
        assert_eq!(run.code, Some(0), "{args:?}: {}", run.stderr);
        assert!(run.stderr.contains("warning: "), "{args:?}: {}", run.stderr);
    }
}

#[test]
fn a_namespace_without_claims_is_there() {
    on_file(&["convert", "verify", "-n", "kube-system"])
        .run()
        .exits(3);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("namespace.yaml");
    std::fs::write(
        &file,
        "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: kube-system\n",
    )
    .expect("a file");
    let more = ["--from", file.to_str().expect("a path")];
    on_file(&[&["convert", "verify", "-n", "kube-system"][..], &more].concat())
        .run()
        .exits(0);
}

/// Manifests as in repositories: objects without a namespace.
const BARE: &str = "\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata:
  name: one-gpu
spec:
  spec:
    devices:
      requests:
      - name: gpu
        exactly:
          deviceClassName: gpu.example.com
---
apiVersion: v1
kind: Pod
metadata:
  name: infer
spec:
  containers:
  - name: main
    image: example
    resources:
      claims:
      - name: gpu
  resourceClaims:
  - name: gpu
    resourceClaimTemplateName: one-gpu
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata:
  name: bare
  uid: bare-uid
spec: {}
status:
  allocation: {}
  reservedFor:
  - apiGroup: batch
    resource: jobs
    name: render
    uid: j
";

#[test]
fn objects_without_a_namespace_are_in_default_or_in_that_of_n() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("bare.yaml");
    // A UID would say that a cluster has the claim, which the list of the other file lacks.
    std::fs::write(&file, BARE.replace("  uid: bare-uid\n", "")).expect("a file");
    let from = ["--from", file.to_str().expect("a path"), "--complete"];
    for (scope, namespace) in [(&[][..], "default"), (&["-n", "training"], "training")] {
        let of = |args: &[&str]| on_file(&[args, scope, &from].concat()).run();
        let pod = of(&["explain", &format!("pod/{namespace}/infer"), "-o", "json"]);
        assert_eq!(pod.code, Some(1), "{}{}", pod.stdout, pod.stderr);
        // The template is found: what is missing is the claim that its controller makes.
        assert!(
            pod.stdout.contains("ResourceClaim not created yet"),
            "{}",
            pod.stdout
        );
        let claim = of(&["claims", &format!("claim/{namespace}/bare"), "-o", "name"]).exits(0);
        assert_eq!(claim.stdout, "resourceclaim.resource.k8s.io/bare\n");
        of(&["describe", "pod/infer"]).exits(0);
    }
}

#[test]
fn claims_without_a_namespace_are_converted_in_their_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, out) = (folder.path().join("bare.yaml"), folder.path().join("out.yaml"));
    std::fs::write(&file, BARE).expect("a file");
    let path = |path: &std::path::Path| path.to_str().expect("a path").to_owned();
    let (from, to) = (path(&file), path(&out));
    let args = [
        "convert",
        "--all-kinds",
        "--release-unused",
        "--entry=jobs.batch/render",
        "--complete",
    ];
    dra(&[
        &args[..],
        &["--kubernetes-version=1.37", "--from", &from, "--out", &to],
    ]
    .concat())
    .run()
    .exits(0);
    let (old, new) = (BARE, std::fs::read_to_string(&out).expect("what was written"));
    assert_ne!(old, new);
    assert!(!new.contains("jobs") && !new.contains("namespace"), "{new}");
}

#[test]
fn the_message_reads_well() {
    dra_snapshot!(on_file(&["check", "--driver", "gpu.exmple.com"]), @"
    exit_code: 4
    ----- stdout -----

    ----- stderr -----
    warning: unknown: no slice, claim, class or taint rule names the driver `gpu.exmple.com`; did you mean `gpu.example.com`?
    Nothing checked in all namespaces: driver/gpu.exmple.com not found; some checks were incomplete
    ");
}
