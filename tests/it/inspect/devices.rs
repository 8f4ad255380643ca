//! `kubectl dra devices` on real objects.

use super::look;
use crate::support::command::dra_snapshot;

#[test]
fn devices_show_their_holders() {
    dra_snapshot!(look(&["devices", "--node", "gpu-node-1"], "bound-pods"), @r"
    exit_code: 0
    ----- stdout -----
    NODE         DEVICE                             STATE       CLASSES           CLAIMS                             PODS                 TAINTS   HEALTH
    gpu-node-1   gpu.example.com/gpu-node-1/gpu-0   Allocated   gpu.example.com   training/trainer-1-extra-zp8bf     training/trainer-1   <none>   <none>
    gpu-node-1   gpu.example.com/gpu-node-1/gpu-1   Allocated   gpu.example.com   training/trainer-1-extra-zp8bf     training/trainer-1   <none>   <none>
    gpu-node-1   gpu.example.com/gpu-node-1/gpu-2   Allocated   gpu.example.com   training/trainer-1-extra-zp8bf     training/trainer-1   <none>   <none>
    gpu-node-1   gpu.example.com/gpu-node-1/gpu-3   Allocated   gpu.example.com   training/trainer-1-extra-zp8bf     training/trainer-1   <none>   <none>
    gpu-node-1   gpu.example.com/gpu-node-1/gpu-4   Allocated   gpu.example.com   training/trainer-1-devices-nkw6l   training/trainer-1   <none>   <none>
    gpu-node-1   gpu.example.com/gpu-node-1/gpu-5   Allocated   gpu.example.com   training/trainer-1-devices-nkw6l   training/trainer-1   <none>   <none>
    gpu-node-1   gpu.example.com/gpu-node-1/gpu-6   Allocated   gpu.example.com   inference/web-1-gpu-txq68          inference/web-1      <none>   <none>
    gpu-node-1   gpu.example.com/gpu-node-1/gpu-7   Free        gpu.example.com   <none>                             <none>               <none>   <none>
    gpu-node-1   nic.example.com/gpu-node-1/rdma0   Free        nic.example.com   <none>                             <none>               <none>   <none>
    gpu-node-1   nic.example.com/gpu-node-1/rdma1   Free        nic.example.com   <none>                             <none>               <none>   <none>
    gpu-node-1   nic.example.com/gpu-node-1/rdma2   Free        nic.example.com   <none>                             <none>               <none>   <none>
    gpu-node-1   nic.example.com/gpu-node-1/rdma3   Free        nic.example.com   <none>                             <none>               <none>   <none>
    gpu-node-1   nic.example.com/gpu-node-1/rdma4   Allocated   nic.example.com   training/trainer-1-devices-nkw6l   training/trainer-1   <none>   <none>
    gpu-node-1   nic.example.com/gpu-node-1/rdma5   Allocated   nic.example.com   training/trainer-1-devices-nkw6l   training/trainer-1   <none>   <none>
    gpu-node-1   nic.example.com/gpu-node-1/rdma6   Free        nic.example.com   <none>                             <none>               <none>   <none>
    gpu-node-1   nic.example.com/gpu-node-1/rdma7   Free        nic.example.com   <none>                             <none>               <none>   <none>

    ----- stderr -----
    ");
}

#[test]
fn shares_show_what_is_left() {
    dra_snapshot!(look(&["devices", "-o", "wide"], "consumable-capacity"), @r"
    exit_code: 0
    ----- stdout -----
    NODE         DEVICE                             STATE    CLASSES           CLAIMS                                                                     PODS                                         TAINTS   HEALTH   CAPACITY                   COUNTERS
    net-node-1   nic.example.com/net-node-1/rdma0   Shared   nic.example.com   default/pair-nic-pchl9,default/six-0-nic-j8kc9,default/small-0-nic-nllcr   default/pair,default/six-0,default/small-0   <none>   <none>   bandwidth=2G/10G,vfs=1/4   <none>
    net-node-1   nic.example.com/net-node-1/rdma1   Shared   nic.example.com   default/odd-nic-dwktf,default/pair-nic-pchl9,default/six-1-nic-bl6l7       default/odd,default/pair,default/six-1       <none>   <none>   bandwidth=0/10G,vfs=1/4    <none>

    ----- stderr -----
    ");
}

#[test]
fn partitions_show_what_is_left_of_their_counters() {
    dra_snapshot!(look(&["devices"], "partitionable"), @r"
    exit_code: 0
    ----- stdout -----
    NODE         DEVICE                                  STATE                    CLASSES           CLAIMS                      PODS              TAINTS   HEALTH
    mig-node-1   gpu.example.com/mig-node-1/gpu-0        Free,CountersExhausted   gpu.example.com   <none>                      <none>            <none>   <none>
    mig-node-1   gpu.example.com/mig-node-1/gpu-0-1g-0   Allocated                gpu.example.com   default/small-0-gpu-6cmjw   default/small-0   <none>   <none>
    mig-node-1   gpu.example.com/mig-node-1/gpu-0-1g-1   Allocated                gpu.example.com   default/best-1-gpu-2629t    default/best-1    <none>   <none>
    mig-node-1   gpu.example.com/mig-node-1/gpu-0-1g-2   Free                     gpu.example.com   <none>                      <none>            <none>   <none>
    mig-node-1   gpu.example.com/mig-node-1/gpu-0-1g-3   Free                     gpu.example.com   <none>                      <none>            <none>   <none>
    mig-node-1   gpu.example.com/mig-node-1/gpu-0-1g-4   Free,CountersExhausted   gpu.example.com   <none>                      <none>            <none>   <none>
    mig-node-1   gpu.example.com/mig-node-1/gpu-0-1g-5   Free,CountersExhausted   gpu.example.com   <none>                      <none>            <none>   <none>
    mig-node-1   gpu.example.com/mig-node-1/gpu-0-1g-6   Free,CountersExhausted   gpu.example.com   <none>                      <none>            <none>   <none>
    mig-node-1   gpu.example.com/mig-node-1/gpu-0-3g-0   Free,CountersExhausted   gpu.example.com   <none>                      <none>            <none>   <none>
    mig-node-1   gpu.example.com/mig-node-1/gpu-0-3g-4   Allocated                gpu.example.com   default/best-0-gpu-zzrc5    default/best-0    <none>   <none>

    ----- stderr -----
    ");
    dra_snapshot!(look(&["devices", "-o", "wide", "gpu-0-1g-0", "gpu-0-3g-0"], "partitionable"), @r"
    exit_code: 0
    ----- stdout -----
    NODE         DEVICE                                  STATE                    CLASSES           CLAIMS                      PODS              TAINTS   HEALTH   CAPACITY      COUNTERS
    mig-node-1   gpu.example.com/mig-node-1/gpu-0-1g-0   Allocated                gpu.example.com   default/small-0-gpu-6cmjw   default/small-0   <none>   <none>   memory=10Gi   gpu-0-counters/memory=20Gi/80Gi,gpu-0-counters/memory-slice-0=0/1
    mig-node-1   gpu.example.com/mig-node-1/gpu-0-3g-0   Free,CountersExhausted   gpu.example.com   <none>                      <none>            <none>   <none>   memory=40Gi   gpu-0-counters/memory=20Gi/80Gi,gpu-0-counters/memory-slice-0=0/1,gpu-0-counters/memory-slice-1=0/1,gpu-0-counters/memory-slice-2=1/1,gpu-0-counters/memory-slice-3=1/1

    ----- stderr -----
    ");
}

#[test]
fn admin_access_takes_nothing() {
    dra_snapshot!(look(&["devices", "--class", "gpu.example.com"], "admin-access"), @r"
    exit_code: 0
    ----- stdout -----
    NODE         DEVICE                             STATE       CLASSES           CLAIMS                                                                                PODS                                                TAINTS   HEALTH
    gpu-node-1   gpu.example.com/gpu-node-1/gpu-0   Allocated   gpu.example.com   default/user-gpu-xwgdc,monitoring/all-gpus(admin),monitoring/probe-gpu-mh9c2(admin)   default/user,monitoring/exporter,monitoring/probe   <none>   <none>
    gpu-node-1   gpu.example.com/gpu-node-1/gpu-1   Free        gpu.example.com   monitoring/all-gpus(admin)                                                            monitoring/exporter                                 <none>   <none>
    gpu-node-1   gpu.example.com/gpu-node-1/gpu-2   Free        gpu.example.com   monitoring/all-gpus(admin)                                                            monitoring/exporter                                 <none>   <none>
    gpu-node-1   gpu.example.com/gpu-node-1/gpu-3   Free        gpu.example.com   monitoring/all-gpus(admin)                                                            monitoring/exporter                                 <none>   <none>
    gpu-node-1   gpu.example.com/gpu-node-1/gpu-4   Free        gpu.example.com   monitoring/all-gpus(admin)                                                            monitoring/exporter                                 <none>   <none>
    gpu-node-1   gpu.example.com/gpu-node-1/gpu-5   Free        gpu.example.com   monitoring/all-gpus(admin)                                                            monitoring/exporter                                 <none>   <none>
    gpu-node-1   gpu.example.com/gpu-node-1/gpu-6   Free        gpu.example.com   monitoring/all-gpus(admin)                                                            monitoring/exporter                                 <none>   <none>
    gpu-node-1   gpu.example.com/gpu-node-1/gpu-7   Free        gpu.example.com   monitoring/all-gpus(admin)                                                            monitoring/exporter                                 <none>   <none>

    ----- stderr -----
    ");
}

#[test]
fn a_device_may_not_be_attached_yet() {
    dra_snapshot!(look(&["devices"], "binding-conditions"), @r"
    exit_code: 0
    ----- stdout -----
    NODE        DEVICE                                STATE       CLASSES           CLAIMS                       PODS               TAINTS   HEALTH
    <several>   gpu.example.com/fabric-node-1/gpu-0   Allocated   gpu.example.com   default/waits-gpu-27ljm      default/waits      <none>   BindingPending
    <several>   gpu.example.com/fabric-node-1/gpu-1   Allocated   gpu.example.com   default/attached-gpu-5f5qz   default/attached   <none>   <none>

    ----- stderr -----
    ");
}

#[test]
fn tainted_devices_are_reported() {
    dra_snapshot!(look(&["devices", "--tainted", "--node", "gpu-node-2"], "device-taints-marked"), @r"
    exit_code: 0
    ----- stdout -----
    NODE         DEVICE                             STATE          CLASSES           CLAIMS                                   PODS                                TAINTS                                   HEALTH
    gpu-node-2   gpu.example.com/gpu-node-2/gpu-0   Allocated      gpu.example.com   batch/plain-gpu-qcwfv                    batch/plain                         example.com/unhealthy=xid-79:NoExecute   <none>
    gpu-node-2   gpu.example.com/gpu-node-2/gpu-1   Allocated      gpu.example.com   default/tolerates-20s-gpu-2rgld          default/tolerates-20s               example.com/unhealthy=xid-79:NoExecute   <none>
    gpu-node-2   gpu.example.com/gpu-node-2/gpu-2   Allocated      gpu.example.com   default/shared                           default/sharer-0,default/sharer-1   example.com/unhealthy=xid-79:NoExecute   <none>
    gpu-node-2   gpu.example.com/gpu-node-2/gpu-3   Allocated      gpu.example.com   default/tolerates-any-effect-gpu-tjwq4   default/tolerates-any-effect        example.com/unhealthy=xid-79:NoExecute   <none>
    gpu-node-2   gpu.example.com/gpu-node-2/gpu-4   Free,Tainted   gpu.example.com   <none>                                   <none>                              example.com/unhealthy=xid-79:NoExecute   <none>
    gpu-node-2   gpu.example.com/gpu-node-2/gpu-5   Free,Tainted   gpu.example.com   <none>                                   <none>                              example.com/unhealthy=xid-79:NoExecute   <none>
    gpu-node-2   gpu.example.com/gpu-node-2/gpu-6   Free,Tainted   gpu.example.com   <none>                                   <none>                              example.com/unhealthy=xid-79:NoExecute   <none>
    gpu-node-2   gpu.example.com/gpu-node-2/gpu-7   Free,Tainted   gpu.example.com   <none>                                   <none>                              example.com/unhealthy=xid-79:NoExecute   <none>

    ----- stderr -----
    ");
    dra_snapshot!(look(&["devices", "rdma7"], "taint-rules-none"), @r"
    exit_code: 0
    ----- stdout -----
    NODE         DEVICE                             STATE          CLASSES           CLAIMS   PODS     TAINTS                                                        HEALTH
    gpu-node-1   nic.example.com/gpu-node-1/rdma7   Free,Tainted   nic.example.com   <none>   <none>   example.com/everything:None,example.com/reserved:NoSchedule   <none>
    gpu-node-2   nic.example.com/gpu-node-2/rdma7   Free,Tainted   nic.example.com   <none>   <none>   example.com/everything:None,example.com/reserved:NoSchedule   <none>

    ----- stderr -----
    ");
}

#[test]
fn pools_that_are_not_whole_keep_devices_back() {
    dra_snapshot!(look(&["devices", "--class", "gpu.example.com", "--node", "gpu-node-3"], "unschedulable-pods"), @r"
    exit_code: 0
    ----- stdout -----
    NODE         DEVICE                             STATE                 CLASSES           CLAIMS   PODS     TAINTS   HEALTH
    gpu-node-3   gpu.example.com/gpu-node-3/gpu-0   Free,PoolIncomplete   gpu.example.com   <none>   <none>   <none>   <none>
    gpu-node-3   gpu.example.com/gpu-node-3/gpu-1   Free,PoolIncomplete   gpu.example.com   <none>   <none>   <none>   <none>
    gpu-node-3   gpu.example.com/gpu-node-3/gpu-2   Free,PoolIncomplete   gpu.example.com   <none>   <none>   <none>   <none>
    gpu-node-3   gpu.example.com/gpu-node-3/gpu-3   Free,PoolIncomplete   gpu.example.com   <none>   <none>   <none>   <none>

    ----- stderr -----
    ");
    dra_snapshot!(look(&["devices", "--free", "--node", "gpu-node-3"], "unschedulable-pods"), @r"
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    No devices found
    ");
}

#[test]
fn a_namespace_restricts_to_what_its_claims_hold() {
    dra_snapshot!(look(&["devices", "-n", "inference"], "bound-pods"), @r"
    exit_code: 0
    ----- stdout -----
    NODE         DEVICE                             STATE       CLASSES           CLAIMS                      PODS              TAINTS   HEALTH
    gpu-node-1   gpu.example.com/gpu-node-1/gpu-6   Allocated   gpu.example.com   inference/web-1-gpu-txq68   inference/web-1   <none>   <none>
    gpu-node-2   gpu.example.com/gpu-node-2/gpu-0   Allocated   gpu.example.com   inference/web-0-gpu-bw6jz   inference/web-0   <none>   <none>

    ----- stderr -----
    ");
}

#[test]
fn devices_have_names() {
    dra_snapshot!(look(&["devices", "-o", "name", "gpu-node-1/gpu-0", "nic.example.com/gpu-node-2/rdma1", "gpu-9", "--allow-missing"], "podgroups"), @r"
    exit_code: 0
    ----- stdout -----
    device/gpu.example.com/gpu-node-1/gpu-0
    device/nic.example.com/gpu-node-2/rdma1

    ----- stderr -----
    warning: device/gpu-9 not found; did you mean `gpu-0` or `gpu-1` or `gpu-2`?
    ");
}
