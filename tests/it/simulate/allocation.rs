//! Fit of pods and claims, and their nodes.

use super::{Manifest, NOW, on};
use crate::support::command::{dra, dra_snapshot};
use crate::support::schema::assert_schema;

#[test]
fn a_claim_is_judged_on_every_node() {
    dra_snapshot!(on(&["simulate", "allocation", "claim/default/spare"], "bound-pods"), @"
    exit_code: 0
    ----- stdout -----
    Object:  claim/default/spare
    Result:  Fits on 3 of 3 nodes
    Nodes:
      NODE         RESULT   DEVICES
      gpu-node-1   Fits     gpu.example.com/gpu-node-1/gpu-7
      gpu-node-2   Fits     gpu.example.com/gpu-node-2/gpu-4
      gpu-node-3   Fits     gpu.example.com/gpu-node-3/gpu-4

    ----- stderr -----
    simulation only; nothing was changed
    ");
    dra_snapshot!(on(&["simulate", "fit", "claim/default/spare", "--node", "gpu-node-1", "-o", "json"], "bound-pods"), @r#"
    exit_code: 0
    ----- stdout -----
    {
        "apiVersion": "dra.kubectl.io/v1",
        "kind": "AllocationReport",
        "kubernetesVersion": "1.37.2",
        "featureGates": [],
        "source": {
            "type": "Files",
            "names": [
                "tests/data/snapshots/bound-pods.yaml"
            ]
        },
        "warnings": [],
        "targets": [
            {
                "kind": "ResourceClaim",
                "namespace": "default",
                "name": "spare"
            }
        ],
        "result": "Fits",
        "exactness": "Exact",
        "nodes": [
            {
                "node": "gpu-node-1",
                "result": "Fits",
                "claims": [
                    {
                        "namespace": "default",
                        "name": "spare",
                        "allocation": {
                            "devices": {
                                "results": [
                                    {
                                        "device": "gpu-7",
                                        "driver": "gpu.example.com",
                                        "pool": "gpu-node-1",
                                        "request": "gpu"
                                    }
                                ]
                            },
                            "nodeSelector": {
                                "nodeSelectorTerms": [
                                    {
                                        "matchFields": [
                                            {
                                                "key": "metadata.name",
                                                "operator": "In",
                                                "values": [
                                                    "gpu-node-1"
                                                ]
                                            }
                                        ]
                                    }
                                ]
                            }
                        }
                    }
                ]
            }
        ],
        "notSimulated": []
    }

    ----- stderr -----
    simulation only; nothing was changed
    "#);
}

#[test]
fn a_misfit_is_reported_in_the_schedulers_words() {
    dra_snapshot!(on(&["simulate", "allocation", "pod/wrong-node"], "unschedulable-pods"), @"
    exit_code: 1
    ----- stdout -----
    Object:             pod/default/wrong-node
    Result:             DoesNotFit
    Predicted Message:  0/4 nodes are available: 1 resourceclaim not available on the node, 3 node(s) didn't match Pod's node affinity/selector. preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling.
    Nodes:
      NODE         RESULT       REASON
      gpu-node-1   DoesNotFit   node(s) didn't match Pod's node affinity/selector
      gpu-node-2   DoesNotFit   resourceclaim not available on the node
      gpu-node-3   DoesNotFit   node(s) didn't match Pod's node affinity/selector
      gpu-node-4   DoesNotFit   node(s) didn't match Pod's node affinity/selector

    More: kubectl dra explain pod/wrong-node --namespace=default --from=tests/data/snapshots/unschedulable-pods.yaml --now=2026-11-21T11:00:00Z --kubernetes-version=1.37

    ----- stderr -----
    simulation only; nothing was changed
    ");
    dra_snapshot!(on(&["simulate", "allocation", "pod/cel-error"], "unschedulable-pods"), @r#"
    exit_code: 1
    ----- stdout -----
    Object:             pod/default/cel-error
    Result:             Error
    Predicted Message:  running "DynamicResources" filter plugin: claim default/cel-error-gpu-jb8xb: selector #0 on device gpu.example.com/gpu-node-1/gpu-6: CEL runtime error: no such key: firmware. consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for optional fields
    Nodes:
      NODE         RESULT       REASON
      gpu-node-1   Error        claim default/cel-error-gpu-jb8xb: selector #0 on device gpu.example.com/gpu-node-1/gpu-6: CEL runtime error: no such key: firmware. consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for optional fields
      gpu-node-2   Error        claim default/cel-error-gpu-jb8xb: selector #0 on device gpu.example.com/gpu-node-2/gpu-0: CEL runtime error: no such key: firmware. consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for optional fields
      gpu-node-3   DoesNotFit   cannot allocate all claims
      gpu-node-4   Error        claim default/cel-error-gpu-jb8xb: selector #0 on device gpu.example.com/gpu-node-4/gpu-0: CEL runtime error: no such key: firmware. consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for optional fields

    ----- stderr -----
    simulation only; nothing was changed
    "#);
    dra_snapshot!(on(&["simulate", "allocation", "pod/missing-claim"], "unschedulable-pods"), @r#"
    exit_code: 1
    ----- stdout -----
    Object:             pod/default/missing-claim
    Result:             DoesNotFit
    Predicted Message:  could not find ResourceClaim "default/nowhere"

    More: kubectl dra explain pod/missing-claim --namespace=default --from=tests/data/snapshots/unschedulable-pods.yaml --now=2026-11-21T11:00:00Z --kubernetes-version=1.37

    ----- stderr -----
    simulation only; nothing was changed
    "#);
}

#[test]
fn copies_are_packed_until_something_runs_out() {
    dra_snapshot!(on(&["simulate", "allocation", "claim/default/spare", "--max", "-q"], "bound-pods"), @"
    exit_code: 0
    ----- stdout -----
    Object:          claim/default/spare
    Result:          Fits on 3 of 3 nodes
    Copies:          9
    Runs Out First:  devices for request gpu (nodes: 3)
    Copies By Node:  gpu-node-1: 1
                     gpu-node-2: 4
                     gpu-node-3: 4
    Nodes:
      NODE         RESULT   DEVICES
      gpu-node-1   Fits     gpu.example.com/gpu-node-1/gpu-7
      gpu-node-2   Fits     gpu.example.com/gpu-node-2/gpu-4
      gpu-node-3   Fits     gpu.example.com/gpu-node-3/gpu-4

    ----- stderr -----
    ");
}

#[test]
fn changes_are_assumed_on_request() {
    let spare = ["simulate", "allocation", "claim/default/spare"];
    let with = |more: &[&str]| on(&[&spare, more].concat(), "bound-pods");
    dra_snapshot!(with(&["--release", "claim/default/notebook-gpu", "--node", "gpu-node-2"]), @"
    exit_code: 0
    ----- stdout -----
    Object:  claim/default/spare
    As If:   --release claim/default/notebook-gpu
    Result:  Fits on 1 of 1 nodes
    Nodes:
      NODE         RESULT   DEVICES
      gpu-node-2   Fits     gpu.example.com/gpu-node-2/gpu-1

    ----- stderr -----
    simulation only; nothing was changed
    ");
    dra_snapshot!(with(&["--taint", "*/gpu-node-1/*=drain:NoSchedule", "--remove-node", "gpu-node-2"]), @r"
    exit_code: 0
    ----- stdout -----
    Object:  claim/default/spare
    As If:   --remove-node gpu-node-2
             --taint */gpu-node-1/*=drain:NoSchedule
    Result:  Fits on 1 of 2 nodes
    Nodes:
      NODE         RESULT       DEVICES                            REASON
      gpu-node-1   DoesNotFit   <none>                             cannot allocate all claims
      gpu-node-3   Fits         gpu.example.com/gpu-node-3/gpu-4   <none>

    ----- stderr -----
    simulation only; nothing was changed
    ");
    dra_snapshot!(with(&["--untaint", "rule/none"]), @r"
    exit_code: 3
    ----- stdout -----

    ----- stderr -----
    error: devicetaintrule/none not found

    hint: there are no devicetaintrules
    ");
    dra_snapshot!(with(&["--release", "claim/default/spare"]), @r"
    exit_code: 3
    ----- stdout -----

    ----- stderr -----
    error: claim/default/spare is not allocated
    ");
}

#[test]
fn a_pod_with_a_node_is_judged_as_new_on_every_node() {
    let judged = |flags: &[&str]| {
        let args = [
            &["--from", "example:gpus", "simulate", "allocation", "pod/notebook"],
            flags,
        ];
        dra(&args.concat()).run()
    };
    let bound = judged(&["--remove-node", "gpu-node-2"]);
    assert_eq!(bound.code, Some(1), "{}", bound.stdout);
    assert!(
        bound.stderr.contains("`--as-new` simulates all nodes"),
        "{}",
        bound.stderr
    );
    let new = judged(&["--remove-node", "gpu-node-2", "--as-new"]);
    assert_eq!(new.code, Some(0), "{}{}", new.stdout, new.stderr);
    assert!(new.stdout.contains("--as-new"), "{}", new.stdout);
    assert!(new.stdout.contains("Fits on "), "{}", new.stdout);
    assert!(!new.stderr.contains("bound to"), "{}", new.stderr);
}

#[test]
fn pods_of_a_workload_are_placed_one_after_the_other() {
    let manifest = Manifest::new(
        r"
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: three}
spec:
  spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com, count: 3}}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  template:
    spec:
      resourceClaims: [{name: gpu, resourceClaimTemplateName: three}]
      containers: [{name: main, resources: {claims: [{name: gpu}]}}]
",
    );
    let path = manifest.path().display().to_string();
    dra_snapshot!(on(&["simulate", "allocation", "-f", &path], "bound-pods"), @r"
    exit_code: 1
    ----- stdout -----
    Object:  pod/default/web-0
             pod/default/web-1
             pod/default/web-2
    Result:  DoesNotFit
    Pods:
      POD             RESULT       NODE                     DEVICES                                                                                              REASON
      default/web-0   Fits         gpu-node-2 (or others)   gpu.example.com/gpu-node-2/gpu-4,gpu.example.com/gpu-node-2/gpu-5,gpu.example.com/gpu-node-2/gpu-6   <none>
      default/web-1   Fits         gpu-node-3               gpu.example.com/gpu-node-3/gpu-4,gpu.example.com/gpu-node-3/gpu-5,gpu.example.com/gpu-node-3/gpu-6   <none>
      default/web-2   DoesNotFit   <none>                   <none>                                                                                               0/3 nodes are available: 3 cannot allocate all claims. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.

    ----- stderr -----
    simulation only; nothing was changed
    ");
    dra_snapshot!(on(&["simulate", "allocation", "-f", &path, "--max", "-q"], "bound-pods"), @r"
    exit_code: 1
    ----- stdout -----
    Object:          pod/default/web-0
                     pod/default/web-1
                     pod/default/web-2
    Result:          DoesNotFit
    Copies:          2
    Runs Out First:  devices for request gpu (nodes: 3)
    Copies By Node:  gpu-node-2: 1
                     gpu-node-3: 1
    Pods:
      POD             RESULT       NODE                     DEVICES                                                                                              REASON
      default/web-0   Fits         gpu-node-2 (or others)   gpu.example.com/gpu-node-2/gpu-4,gpu.example.com/gpu-node-2/gpu-5,gpu.example.com/gpu-node-2/gpu-6   <none>
      default/web-1   Fits         gpu-node-3               gpu.example.com/gpu-node-3/gpu-4,gpu.example.com/gpu-node-3/gpu-5,gpu.example.com/gpu-node-3/gpu-6   <none>
      default/web-2   DoesNotFit   <none>                   <none>                                                                                               0/3 nodes are available: 3 cannot allocate all claims. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.

    ----- stderr -----
    ");
}

#[test]
fn nothing_to_judge_is_refused() {
    dra_snapshot!(on(&["simulate", "allocation"], "bound-pods"), @"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: nothing to simulate

    hint: name a claim, a pod or `-f FILE`
    ");
    dra_snapshot!(on(&["simulate", "allocation", "claim/none"], "bound-pods"), @r"
    exit_code: 3
    ----- stdout -----

    ----- stderr -----
    error: claim/default/none not found

    hint: there are 2 claims: `notebook-gpu`, `spare`
    ");
    dra_snapshot!(on(&["simulate", "allocation", "claim/default/spare", "--taint", "gpu=x"], "bound-pods"), @"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: invalid value `gpu=x` for `--taint`: invalid taint `gpu=x`: expected DRIVER/POOL/DEVICE=KEY[=VALUE]:EFFECT

    hint: kubectl dra simulate allocation claim/default/spare --taint gpu.example.com/gpu-node-1/gpu-0=maintenance:NoExecute --from tests/data/snapshots/bound-pods.yaml --now 2026-11-21T11:00:00Z --kubernetes-version 1.37
    ");
}

#[test]
fn an_object_that_is_named_twice_is_judged_once() {
    let stdout = |names: &[&str]| {
        let args = [&["simulate", "allocation"], names].concat();
        on(&args, "bound-pods").run().exits(0).stdout
    };
    assert_eq!(
        stdout(&["claim/default/spare", "claim/spare"]),
        stdout(&["claim/default/spare"])
    );
}

#[test]
fn reports_are_valid_under_their_schema() {
    for (snapshot, targets) in [
        ("bound-pods", &["claim/default/spare", "--max"][..]),
        ("unschedulable-pods", &["pod/cel-error"]),
        ("unschedulable-pods", &["pod/too-many", "pod/tainted"]),
        ("consumable-capacity", &["pod/nine"]),
        ("extended-resource", &["pod/too-many"]),
        (
            "partitionable",
            &["pod/whole", "--release", "claim/default/best-0-gpu-zzrc5"],
        ),
    ] {
        let from = format!("tests/data/snapshots/{snapshot}.yaml");
        let rest = ["-o", "json", "--from", &from, "--now", NOW];
        let args = [&["simulate", "allocation"], targets, &rest].concat();
        assert_schema!(&dra(&args).run().stdout);
    }
}
