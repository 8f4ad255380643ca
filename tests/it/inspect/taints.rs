//! `kubectl dra taints` on real objects.

use super::look;
use crate::support::command::dra_snapshot;
use crate::support::schema::assert_schema;

#[test]
fn drivers_taint_devices_of_a_slice() {
    dra_snapshot!(look(&["taints"], "device-taints-before"), @r"
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    warning: tests/data/snapshots/device-taints-before.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    No taints found
    ");
    dra_snapshot!(look(&["taints"], "device-taints-marked"), @r"
    exit_code: 0
    ----- stdout -----
    SOURCE                             EFFECT      TAINT                          AGE   DEVICES                                                          CLAIMS                                                                               PODS                                                        TOLERATED                                                                   EVICTED
    slice/gpu-node-1-gpu.example.com   NoExecute   example.com/unhealthy=xid-79   46m   gpu-node-1/gpu-0,gpu-node-1/gpu-1,gpu-node-1/gpu-2 + 5 more...   default/plain-gpu-2nhkl,default/tolerates-1h-gpu-znmhq,default/tolerates-gpu-722bd   default/plain,default/tolerates,default/tolerates-1h        default/tolerates:forever,default/tolerates-1h:until-2026-11-21T11:13:22Z   default/tolerates-1h:2026-11-21T11:13:22Z
    slice/gpu-node-2-gpu.example.com   NoExecute   example.com/unhealthy=xid-79   46m   gpu-node-2/gpu-0,gpu-node-2/gpu-1,gpu-node-2/gpu-2 + 5 more...   batch/plain-gpu-qcwfv,default/shared,default/tolerates-20s-gpu-2rgld + 1 more...     batch/plain,default/sharer-0,default/sharer-1 + 2 more...   default/tolerates-20s:until-2026-11-21T10:13:42Z                            default/tolerates-20s:now

    ----- stderr -----
    warning: tests/data/snapshots/device-taints-marked.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    ");
    dra_snapshot!(look(&["taints"], "device-taints-after"), @r"
    exit_code: 0
    ----- stdout -----
    SOURCE                             EFFECT      TAINT                          AGE   DEVICES                                                          CLAIMS                                                                               PODS                                                        TOLERATED                                                                   EVICTED
    slice/gpu-node-1-gpu.example.com   NoExecute   example.com/unhealthy=xid-79   46m   gpu-node-1/gpu-0,gpu-node-1/gpu-1,gpu-node-1/gpu-2 + 5 more...   default/plain-gpu-2nhkl,default/tolerates-1h-gpu-znmhq,default/tolerates-gpu-722bd   default/plain,default/tolerates,default/tolerates-1h        default/tolerates:forever,default/tolerates-1h:until-2026-11-21T11:13:22Z   default/tolerates-1h:2026-11-21T11:13:22Z
    slice/gpu-node-2-gpu.example.com   NoExecute   example.com/unhealthy=xid-79   46m   gpu-node-2/gpu-0,gpu-node-2/gpu-1,gpu-node-2/gpu-2 + 5 more...   batch/plain-gpu-qcwfv,default/shared,default/tolerates-20s-gpu-2rgld + 1 more...     batch/plain,default/sharer-0,default/sharer-1 + 2 more...   default/tolerates-20s:until-2026-11-21T10:13:42Z                            <none>

    ----- stderr -----
    warning: tests/data/snapshots/device-taints-after.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    ");
}

#[test]
fn rules_taint_what_they_select() {
    dra_snapshot!(look(&["taints"], "taint-rules-none"), @r"
    exit_code: 0
    ----- stdout -----
    SOURCE                EFFECT       TAINT                         AGE   DEVICES                                                           CLAIMS                                                                      PODS                                          TOLERATED   EVICTED
    rule/drain-all        None         example.com/maintenance=all   46m   gpu-node-1/gpu-0,gpu-node-1/gpu-1,gpu-node-1/gpu-2 + 13 more...   batch/q-gpu-vxdhk,default/p-0-gpu-bl9zh,default/p-1-gpu-szvvq + 2 more...   batch/q,default/p-0,default/p-1 + 2 more...   <none>      <none>
    rule/drain-node-1     None         example.com/maintenance       46m   gpu-node-1/gpu-0,gpu-node-1/gpu-1,gpu-node-1/gpu-2 + 5 more...    batch/q-gpu-vxdhk,default/p-0-gpu-bl9zh,default/tolerates-1h-gpu-ffpjk      batch/q,default/p-0,default/tolerates-1h      <none>      <none>
    rule/empty-selector   None         example.com/everything        46m   gpu-node-1/gpu-0,gpu-node-1/gpu-1,gpu-node-1/gpu-2 + 29 more...   batch/q-gpu-vxdhk,default/p-0-gpu-bl9zh,default/p-1-gpu-szvvq + 2 more...   batch/q,default/p-0,default/p-1 + 2 more...   <none>      <none>
    rule/no-new           NoSchedule   example.com/reserved          46m   gpu-node-1/rdma7,gpu-node-2/rdma7                                 <none>                                                                      <none>                                        <none>      <none>
    rule/no-selector      None         example.com/nothing           46m   <none>                                                            <none>                                                                      <none>                                        <none>      <none>

    ----- stderr -----
    warning: tests/data/snapshots/taint-rules-none.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    ");
    dra_snapshot!(look(&["taints"], "taint-rules-noexecute"), @r"
    exit_code: 0
    ----- stdout -----
    SOURCE                EFFECT       TAINT                         AGE   DEVICES                                                           CLAIMS                                                                      PODS                                          TOLERATED                                                                                          EVICTED
    rule/drain-all        NoExecute    example.com/maintenance=all   46m   gpu-node-1/gpu-0,gpu-node-1/gpu-1,gpu-node-1/gpu-2 + 13 more...   batch/q-gpu-vxdhk,default/p-0-gpu-bl9zh,default/p-1-gpu-szvvq + 2 more...   batch/q,default/p-0,default/p-1 + 2 more...   default/tolerates-15s:until-2026-11-21T10:13:54Z,default/tolerates-1h:until-2026-11-21T11:13:39Z   default/tolerates-15s:now,default/tolerates-1h:2026-11-21T11:13:39Z
    rule/drain-node-1     None         example.com/maintenance       46m   gpu-node-1/gpu-0,gpu-node-1/gpu-1,gpu-node-1/gpu-2 + 5 more...    batch/q-gpu-vxdhk,default/p-0-gpu-bl9zh,default/tolerates-1h-gpu-ffpjk      batch/q,default/p-0,default/tolerates-1h      <none>                                                                                             <none>
    rule/empty-selector   None         example.com/everything        46m   gpu-node-1/gpu-0,gpu-node-1/gpu-1,gpu-node-1/gpu-2 + 29 more...   batch/q-gpu-vxdhk,default/p-0-gpu-bl9zh,default/p-1-gpu-szvvq + 2 more...   batch/q,default/p-0,default/p-1 + 2 more...   <none>                                                                                             <none>
    rule/no-new           NoSchedule   example.com/reserved          46m   gpu-node-1/rdma7,gpu-node-2/rdma7                                 <none>                                                                      <none>                                        <none>                                                                                             <none>
    rule/no-selector      None         example.com/nothing           46m   <none>                                                            <none>                                                                      <none>                                        <none>                                                                                             <none>

    ----- stderr -----
    warning: tests/data/snapshots/taint-rules-noexecute.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    ");
    dra_snapshot!(look(&["taints"], "taint-rules-noexecute-later"), @r"
    exit_code: 0
    ----- stdout -----
    SOURCE                EFFECT       TAINT                         AGE   DEVICES                                                           CLAIMS                           PODS                   TOLERATED                                         EVICTED
    rule/drain-all        NoExecute    example.com/maintenance=all   46m   gpu-node-1/gpu-0,gpu-node-1/gpu-1,gpu-node-1/gpu-2 + 13 more...   default/tolerates-1h-gpu-ffpjk   default/tolerates-1h   default/tolerates-1h:until-2026-11-21T11:13:39Z   default/tolerates-1h:2026-11-21T11:13:39Z
    rule/drain-node-1     None         example.com/maintenance       46m   gpu-node-1/gpu-0,gpu-node-1/gpu-1,gpu-node-1/gpu-2 + 5 more...    default/tolerates-1h-gpu-ffpjk   default/tolerates-1h   <none>                                            <none>
    rule/empty-selector   None         example.com/everything        46m   gpu-node-1/gpu-0,gpu-node-1/gpu-1,gpu-node-1/gpu-2 + 29 more...   default/tolerates-1h-gpu-ffpjk   default/tolerates-1h   <none>                                            <none>
    rule/no-new           NoSchedule   example.com/reserved          46m   gpu-node-1/rdma7,gpu-node-2/rdma7                                 <none>                           <none>                 <none>                                            <none>
    rule/no-selector      None         example.com/nothing           46m   <none>                                                            <none>                           <none>                 <none>                                            <none>

    ----- stderr -----
    warning: tests/data/snapshots/taint-rules-noexecute-later.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    ");
}

#[test]
fn wide_cuts_nothing() {
    dra_snapshot!(look(&["taints", "-o", "wide"], "device-taints-marked"), @r"
    exit_code: 0
    ----- stdout -----
    SOURCE                             EFFECT      TAINT                          AGE   DEVICES                                                                                                                                                                                                                                                                   CLAIMS                                                                                                        PODS                                                                                               TOLERATED                                                                   EVICTED                                     PREVIEW
    slice/gpu-node-1-gpu.example.com   NoExecute   example.com/unhealthy=xid-79   46m   gpu.example.com/gpu-node-1/gpu-0,gpu.example.com/gpu-node-1/gpu-1,gpu.example.com/gpu-node-1/gpu-2,gpu.example.com/gpu-node-1/gpu-3,gpu.example.com/gpu-node-1/gpu-4,gpu.example.com/gpu-node-1/gpu-5,gpu.example.com/gpu-node-1/gpu-6,gpu.example.com/gpu-node-1/gpu-7   default/plain-gpu-2nhkl,default/tolerates-1h-gpu-znmhq,default/tolerates-gpu-722bd                            default/plain,default/tolerates,default/tolerates-1h                                               default/tolerates:forever,default/tolerates-1h:until-2026-11-21T11:13:22Z   default/tolerates-1h:2026-11-21T11:13:22Z   <none>
    slice/gpu-node-2-gpu.example.com   NoExecute   example.com/unhealthy=xid-79   46m   gpu.example.com/gpu-node-2/gpu-0,gpu.example.com/gpu-node-2/gpu-1,gpu.example.com/gpu-node-2/gpu-2,gpu.example.com/gpu-node-2/gpu-3,gpu.example.com/gpu-node-2/gpu-4,gpu.example.com/gpu-node-2/gpu-5,gpu.example.com/gpu-node-2/gpu-6,gpu.example.com/gpu-node-2/gpu-7   batch/plain-gpu-qcwfv,default/shared,default/tolerates-20s-gpu-2rgld,default/tolerates-any-effect-gpu-tjwq4   batch/plain,default/sharer-0,default/sharer-1,default/tolerates-20s,default/tolerates-any-effect   default/tolerates-20s:until-2026-11-21T10:13:42Z                            default/tolerates-20s:now                   <none>

    ----- stderr -----
    warning: tests/data/snapshots/device-taints-marked.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    ");
}

#[test]
fn what_a_rule_would_do_is_shown_before_it_does_it() {
    dra_snapshot!(look(&["taints", "-o", "wide", "-n", "batch"], "taint-rules-none"), @r"
    exit_code: 0
    ----- stdout -----
    SOURCE                EFFECT       TAINT                         AGE   DEVICES                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                           CLAIMS              PODS      TOLERATED   EVICTED   PREVIEW
    rule/drain-all        None         example.com/maintenance=all   46m   gpu.example.com/gpu-node-1/gpu-0,gpu.example.com/gpu-node-1/gpu-1,gpu.example.com/gpu-node-1/gpu-2,gpu.example.com/gpu-node-1/gpu-3,gpu.example.com/gpu-node-1/gpu-4,gpu.example.com/gpu-node-1/gpu-5,gpu.example.com/gpu-node-1/gpu-6,gpu.example.com/gpu-node-1/gpu-7,gpu.example.com/gpu-node-2/gpu-0,gpu.example.com/gpu-node-2/gpu-1,gpu.example.com/gpu-node-2/gpu-2,gpu.example.com/gpu-node-2/gpu-3,gpu.example.com/gpu-node-2/gpu-4,gpu.example.com/gpu-node-2/gpu-5,gpu.example.com/gpu-node-2/gpu-6,gpu.example.com/gpu-node-2/gpu-7                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   batch/q-gpu-vxdhk   batch/q   <none>      <none>    5 pods in 2 namespaces
    rule/drain-node-1     None         example.com/maintenance       46m   gpu.example.com/gpu-node-1/gpu-0,gpu.example.com/gpu-node-1/gpu-1,gpu.example.com/gpu-node-1/gpu-2,gpu.example.com/gpu-node-1/gpu-3,gpu.example.com/gpu-node-1/gpu-4,gpu.example.com/gpu-node-1/gpu-5,gpu.example.com/gpu-node-1/gpu-6,gpu.example.com/gpu-node-1/gpu-7                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                           batch/q-gpu-vxdhk   batch/q   <none>      <none>    3 pods in 2 namespaces
    rule/empty-selector   None         example.com/everything        46m   gpu.example.com/gpu-node-1/gpu-0,gpu.example.com/gpu-node-1/gpu-1,gpu.example.com/gpu-node-1/gpu-2,gpu.example.com/gpu-node-1/gpu-3,gpu.example.com/gpu-node-1/gpu-4,gpu.example.com/gpu-node-1/gpu-5,gpu.example.com/gpu-node-1/gpu-6,gpu.example.com/gpu-node-1/gpu-7,gpu.example.com/gpu-node-2/gpu-0,gpu.example.com/gpu-node-2/gpu-1,gpu.example.com/gpu-node-2/gpu-2,gpu.example.com/gpu-node-2/gpu-3,gpu.example.com/gpu-node-2/gpu-4,gpu.example.com/gpu-node-2/gpu-5,gpu.example.com/gpu-node-2/gpu-6,gpu.example.com/gpu-node-2/gpu-7,nic.example.com/gpu-node-1/rdma0,nic.example.com/gpu-node-1/rdma1,nic.example.com/gpu-node-1/rdma2,nic.example.com/gpu-node-1/rdma3,nic.example.com/gpu-node-1/rdma4,nic.example.com/gpu-node-1/rdma5,nic.example.com/gpu-node-1/rdma6,nic.example.com/gpu-node-1/rdma7,nic.example.com/gpu-node-2/rdma0,nic.example.com/gpu-node-2/rdma1,nic.example.com/gpu-node-2/rdma2,nic.example.com/gpu-node-2/rdma3,nic.example.com/gpu-node-2/rdma4,nic.example.com/gpu-node-2/rdma5,nic.example.com/gpu-node-2/rdma6,nic.example.com/gpu-node-2/rdma7   batch/q-gpu-vxdhk   batch/q   <none>      <none>    5 pods in 2 namespaces
    rule/no-new           NoSchedule   example.com/reserved          46m   nic.example.com/gpu-node-1/rdma7,nic.example.com/gpu-node-2/rdma7                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                 <none>              <none>    <none>      <none>    <none>
    rule/no-selector      None         example.com/nothing           46m   <none>                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            <none>              <none>    <none>      <none>    0 pods in 0 namespaces

    ----- stderr -----
    warning: tests/data/snapshots/taint-rules-none.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    ");
    let report = assert_schema!(&look(&["taints", "-o", "json"], "taint-rules-none").run().stdout);
    let messages: Vec<_> = report["items"]
        .as_array()
        .expect("items")
        .iter()
        .filter_map(|item| item["preview"]["message"].as_str())
        .collect();
    // What the controller itself wrote to the conditions of these rules.
    let written = std::fs::read_to_string("tests/data/snapshots/taint-rules-none.yaml").expect("a snapshot");
    assert_eq!(messages.len(), 4);
    for message in messages {
        assert!(written.contains(message), "{message}");
    }
}

#[test]
fn a_namespace_restricts_claims_and_pods() {
    dra_snapshot!(look(&["taints", "-n", "batch"], "taint-rules-noexecute"), @r"
    exit_code: 0
    ----- stdout -----
    SOURCE                EFFECT       TAINT                         AGE   DEVICES                                                           CLAIMS              PODS      TOLERATED   EVICTED
    rule/drain-all        NoExecute    example.com/maintenance=all   46m   gpu-node-1/gpu-0,gpu-node-1/gpu-1,gpu-node-1/gpu-2 + 13 more...   batch/q-gpu-vxdhk   batch/q   <none>      <none>
    rule/drain-node-1     None         example.com/maintenance       46m   gpu-node-1/gpu-0,gpu-node-1/gpu-1,gpu-node-1/gpu-2 + 5 more...    batch/q-gpu-vxdhk   batch/q   <none>      <none>
    rule/empty-selector   None         example.com/everything        46m   gpu-node-1/gpu-0,gpu-node-1/gpu-1,gpu-node-1/gpu-2 + 29 more...   batch/q-gpu-vxdhk   batch/q   <none>      <none>
    rule/no-new           NoSchedule   example.com/reserved          46m   gpu-node-1/rdma7,gpu-node-2/rdma7                                 <none>              <none>    <none>      <none>
    rule/no-selector      None         example.com/nothing           46m   <none>                                                            <none>              <none>    <none>      <none>

    ----- stderr -----
    warning: tests/data/snapshots/taint-rules-noexecute.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    ");
}

#[test]
fn taints_have_names() {
    dra_snapshot!(look(&["taints", "-o", "name"], "taint-rules-none"), @r"
    exit_code: 0
    ----- stdout -----
    devicetaintrule.resource.k8s.io/drain-all
    devicetaintrule.resource.k8s.io/drain-node-1
    devicetaintrule.resource.k8s.io/empty-selector
    devicetaintrule.resource.k8s.io/no-new
    devicetaintrule.resource.k8s.io/no-selector

    ----- stderr -----
    warning: tests/data/snapshots/taint-rules-none.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    ");
    dra_snapshot!(look(&["taints", "-o", "name"], "device-taints-marked"), @r"
    exit_code: 0
    ----- stdout -----
    resourceslice.resource.k8s.io/gpu-node-1-gpu.example.com
    resourceslice.resource.k8s.io/gpu-node-2-gpu.example.com

    ----- stderr -----
    warning: tests/data/snapshots/device-taints-marked.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    ");
}

#[test]
fn a_cluster_can_be_without() {
    dra_snapshot!(look(&["taints"], "bound-pods"), @r"
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    warning: tests/data/snapshots/bound-pods.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    No taints found
    ");
    dra_snapshot!(look(&["taints"], "podgroups"), @r"
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    warning: tests/data/snapshots/podgroups.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    No taints found
    ");
}
