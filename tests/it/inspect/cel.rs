//! `kubectl dra cel` on real objects.

use super::look;
use crate::support::command::dra_snapshot;

#[test]
fn devices_match_or_not_and_say_why() {
    dra_snapshot!(
        look(
            &[
                "cel",
                "device.driver == 'gpu.example.com' && device.attributes['gpu.example.com'].index < 2",
                "--node",
                "gpu-node-1",
                "--driver",
                "gpu.example.com"
            ],
            "bound-pods"
        ),
        @"
    exit_code: 0
    ----- stdout -----
    New Objects:  accepted, costs at most 9 of 1000000
    Scheduler:    compiles
    Devices:      2 of 8 match
    DRIVER            RESULT    COUNT   DEVICES                  WHY
    gpu.example.com   Match     2       gpu-node-1/gpu-0,gpu-1
    gpu.example.com   NoMatch   1       gpu-node-1/gpu-2         index is 2
    gpu.example.com   NoMatch   1       gpu-node-1/gpu-3         index is 3
    gpu.example.com   NoMatch   1       gpu-node-1/gpu-4         index is 4
    gpu.example.com   NoMatch   1       gpu-node-1/gpu-5         index is 5
    gpu.example.com   NoMatch   1       gpu-node-1/gpu-6         index is 6
    gpu.example.com   NoMatch   1       gpu-node-1/gpu-7         index is 7

    ----- stderr -----
    warning: tests/data/snapshots/bound-pods.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    "
    );
    dra_snapshot!(
        look(
            &["cel", "device.attributes['gpu.example.com'].index < 1", "gpu-node-1/gpu-0", "gpu-node-1/gpu-1", "-o", "json"],
            "bound-pods"
        ),
        @r#"
        exit_code: 0
        ----- stdout -----
        {
            "apiVersion": "dra.kubectl.io/v1",
            "kind": "SelectorReport",
            "kubernetesVersion": "1.37.1",
            "featureGates": [],
            "source": {
                "type": "Files",
                "names": [
                    "tests/data/snapshots/bound-pods.yaml"
                ]
            },
            "warnings": [
                "tests/data/snapshots/bound-pods.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)"
            ],
            "newObjects": {
                "accepted": true,
                "maxCost": 5
            },
            "devices": [
                {
                    "driver": "gpu.example.com",
                    "pool": "gpu-node-1",
                    "device": "gpu-0",
                    "node": "gpu-node-1",
                    "result": "Match",
                    "cost": 5
                },
                {
                    "driver": "gpu.example.com",
                    "pool": "gpu-node-1",
                    "device": "gpu-1",
                    "node": "gpu-node-1",
                    "result": "NoMatch",
                    "cost": 5,
                    "failing": [
                        {
                            "expression": "device.attributes['gpu.example.com'].index < 1",
                            "seen": [
                                {
                                    "expression": "device.attributes[\"gpu.example.com\"].index",
                                    "value": "1"
                                }
                            ]
                        }
                    ]
                }
            ]
        }

        ----- stderr -----
        warning: tests/data/snapshots/bound-pods.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
        "#
    );
}

#[test]
fn an_error_on_a_device_is_a_bad_verdict() {
    dra_snapshot!(
        look(&["cel", "device.attributes['gpu.example.com'].nothing == 1", "gpu-node-1/gpu-0"], "bound-pods"),
        @r#"
    exit_code: 1
    ----- stdout -----
    New Objects:  accepted, costs at most 5 of 1000000
    Scheduler:    compiles
    Devices:      0 of 1 match, 1 fail
    DRIVER            RESULT   COUNT   DEVICES            WHY
    gpu.example.com   Error    1       gpu-node-1/gpu-0   no such key: nothing

    hint: no device has `nothing`: use `.?` and orValue for a default
        device.attributes["gpu.example.com"].?nothing.orValue(0) == 1
          tested: matches 0 of 1, no errors

    ----- stderr -----
    warning: tests/data/snapshots/bound-pods.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    "#
    );
}

#[test]
fn an_expression_that_does_not_compile_is_a_bad_verdict() {
    dra_snapshot!(look(&["cel", "device.nothing"], "bound-pods"), @"
    exit_code: 1
    ----- stdout -----
    New Objects:  rejected
    Scheduler:    does not compile
    compilation failed: ERROR: <input>:1:7: undefined field 'nothing'
     | device.nothing
     | ......^

    ----- stderr -----
    warning: tests/data/snapshots/bound-pods.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    ");
}

#[test]
fn what_costs_too_much_is_refused_in_new_objects_only() {
    dra_snapshot!(
        look(
            &["cel", "lists.range(1000).all(x, lists.range(1000).all(y, x * y >= 0))", "gpu-node-1/gpu-0"],
            "bound-pods"
        ),
        @"
    exit_code: 1
    ----- stdout -----
    New Objects:  rejected, may cost 8016012 of 1000000: Forbidden: too complex, exceeds cost limit
    Scheduler:    compiles
    Devices:      0 of 1 match, 1 fail
    DRIVER            RESULT   COUNT   DEVICES            WHY
    gpu.example.com   Error    1       gpu-node-1/gpu-0   operation cancelled: actual cost limit exceeded

    ----- stderr -----
    warning: tests/data/snapshots/bound-pods.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    "
    );
}
