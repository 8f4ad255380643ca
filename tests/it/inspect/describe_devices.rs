//! `kubectl dra describe device|class|pool` on real objects.

use super::look;
use crate::support::command::dra_snapshot;

#[test]
fn a_device_is_described() {
    dra_snapshot!(look(&["describe", "device", "rdma0"], "consumable-capacity"), @r#"
    exit_code: 0
    ----- stdout -----
    Name:                 rdma0
    Driver:               nic.example.com
    Pool:                 net-node-1
    Pool Generation:      1
    Slice:                net-node-1-nic.example.com
    Node:                 net-node-1
    State:                Shared
    Classes:              nic.example.com
    Attributes:
      ifName:                           "eth1"
      linkType:                         "infiniband"
      mtu:                              4092
      numaNode:                         0
      resource.kubernetes.io/pcieRoot:  "pci0000:17"
      type:                             "rdma"
    Capacity:             bandwidth=2G/10G
                          vfs=1/4
    Several Allocations:  true
    Taints:               <none>
    Used By:
      claim/default/pair-nic-pchl9:
        Request:   nic
        Share:     e632ab9a-cc58-44ac-bc13-bb097e24bde4
        Consumed:  bandwidth=1G,vfs=1
        Pods:      pair
      claim/default/six-0-nic-j8kc9:
        Request:   nic
        Share:     8ed098d7-2456-4ee7-8084-7324df8dc549
        Consumed:  bandwidth=6G,vfs=1
        Pods:      six-0
      claim/default/small-0-nic-nllcr:
        Request:   nic
        Share:     1f59b59f-8d8b-4dd5-b9af-6f2d6dc252b5
        Consumed:  bandwidth=1G,vfs=1
        Pods:      small-0
    Findings:             <none>

    ----- stderr -----
    "#);
    dra_snapshot!(look(&["describe", "device/gpu.example.com/gpu-node-1/gpu-0"], "taint-rules-noexecute"), @r#"
    exit_code: 0
    ----- stdout -----
    Name:             gpu-0
    Driver:           gpu.example.com
    Pool:             gpu-node-1
    Pool Generation:  1
    Slice:            gpu-node-1-gpu.example.com
    Node:             gpu-node-1
    State:            Allocated
    Classes:          gpu.example.com
    Attributes:
      architecture:                     "Hopper"
      cudaComputeCapability:            9.0.0
      driverVersion:                    580.65.6
      ecc:                              true
      index:                            0
      model:                            "H100-SXM5-80GB"
      numaNode:                         0
      resource.kubernetes.io/pcieRoot:  "pci0000:17"
      type:                             "gpu"
      uuid:                             "GPU-gpu-node-1-0000"
    Capacity:         memory=81559Mi
                      multiprocessors=132
    Taints:           example.com/maintenance=all:NoExecute since 2026-11-21T10:13:39Z (46m ago) by rule/drain-all
                      example.com/maintenance:None since 2026-11-21T10:13:33Z (46m ago) by rule/drain-node-1
                      example.com/everything:None since 2026-11-21T10:13:33Z (46m ago) by rule/empty-selector
    Used By:
      claim/default/p-0-gpu-bl9zh:
        Request:  gpu
        Pods:     p-0
    Findings:         <none>

    ----- stderr -----
    "#);
    dra_snapshot!(look(&["describe", "device", "mig-node-1/gpu-0-1g-0"], "partitionable"), @r#"
    exit_code: 0
    ----- stdout -----
    Name:             gpu-0-1g-0
    Driver:           gpu.example.com
    Pool:             mig-node-1
    Pool Generation:  1
    Slice:            mig-node-1-devices
    Node:             mig-node-1
    State:            Allocated
    Classes:          gpu.example.com
    Attributes:
      parentIndex:  0
      profile:      "1g.10gb"
      type:         "mig"
    Capacity:         memory=10Gi
    Counters:         gpu-0-counters/memory=20Gi/80Gi
                      gpu-0-counters/memory-slice-0=0/1
    Taints:           <none>
    Used By:
      claim/default/small-0-gpu-6cmjw:
        Request:  gpu
        Pods:     small-0
    Findings:         <none>

    ----- stderr -----
    "#);
}

#[test]
fn a_device_must_be_named_clearly() {
    dra_snapshot!(look(&["describe", "device", "gpu-0"], "bound-pods"), @"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: 3 devices are named `gpu-0`

    hint: name one of them: gpu.example.com/gpu-node-1/gpu-0, gpu.example.com/gpu-node-2/gpu-0, gpu.example.com/gpu-node-3/gpu-0
    ");
    dra_snapshot!(look(&["describe", "device", "gpu-99"], "bound-pods"), @"
    exit_code: 3
    ----- stdout -----

    ----- stderr -----
    error: device/gpu-99 not found

    hint: did you mean `gpu-0` or `gpu-1` or `gpu-2`?
    ");
}

#[test]
fn a_class_is_described() {
    dra_snapshot!(look(&["describe", "class", "gpu.example.com"], "extended-resource"), @"
    exit_code: 0
    ----- stdout -----
    Name:                gpu.example.com
    UID:                 509b2ec5-8436-412e-b951-42b8fe3ecd7c
    Labels:              <none>
    Annotations:         <none>
    Age:                 47m
    Selectors:           device.driver == 'gpu.example.com'
    Extended Resources:  example.com/gpu
                         deviceclass.resource.kubernetes.io/gpu.example.com
    Config:              <none>
    Devices:
      DRIVER            DEVICES   FREE
      gpu.example.com   16        9
    Claims:
      STATE                CLAIMS
      allocated,reserved   5
    Templates:           default/one
    Findings:            <none>

    ----- stderr -----
    ");
}

#[test]
fn a_pool_is_described() {
    dra_snapshot!(look(&["describe", "pool", "mig-node-1"], "partitionable"), @"
    exit_code: 0
    ----- stdout -----
    Name:        mig-node-1
    Driver:      gpu.example.com
    Generation:  1
    Complete:    yes, 2 of 2 slices
    Slices:
      NAME                  GENERATION   NODE         DEVICES   AGE
      mig-node-1-counters   1            mig-node-1   0         46m
      mig-node-1-devices    1            mig-node-1   10        46m
    Counters:    gpu-0-counters/memory=20Gi/80Gi
                 gpu-0-counters/memory-slice-0=0/1
                 gpu-0-counters/memory-slice-1=0/1
                 gpu-0-counters/memory-slice-2=1/1
                 gpu-0-counters/memory-slice-3=1/1
                 gpu-0-counters/memory-slice-4=0/1
                 gpu-0-counters/memory-slice-5=0/1
                 gpu-0-counters/memory-slice-6=0/1
                 gpu-0-counters/memory-slice-7=0/1
    Devices:
      DEVICE       STATE                    CLAIMS                      CAPACITY
      gpu-0        Free,CountersExhausted   <none>                      memory=80Gi
      gpu-0-1g-0   Allocated                default/small-0-gpu-6cmjw   memory=10Gi
      gpu-0-1g-1   Allocated                default/best-1-gpu-2629t    memory=10Gi
      gpu-0-1g-2   Free                     <none>                      memory=10Gi
      gpu-0-1g-3   Free                     <none>                      memory=10Gi
      gpu-0-1g-4   Free,CountersExhausted   <none>                      memory=10Gi
      gpu-0-1g-5   Free,CountersExhausted   <none>                      memory=10Gi
      gpu-0-1g-6   Free,CountersExhausted   <none>                      memory=10Gi
      gpu-0-3g-0   Free,CountersExhausted   <none>                      memory=40Gi
      gpu-0-3g-4   Allocated                default/best-0-gpu-zzrc5    memory=40Gi
    Findings:    <none>

    ----- stderr -----
    ");
    dra_snapshot!(look(&["describe", "pool/gpu.example.com/gpu-node-4"], "unschedulable-pods"), @"
    exit_code: 0
    ----- stdout -----
    Name:        gpu-node-4
    Driver:      gpu.example.com
    Generation:  2
    Complete:    yes, 1 of 1 slices
    Slices:
      NAME             GENERATION   NODE         DEVICES   AGE
      gpu-node-4-new   2            gpu-node-4   1         47m
    Outdated Slices:
      NAME             GENERATION   NODE         DEVICES   AGE
      gpu-node-4-old   1            gpu-node-4   4         47m
    Devices:
      DEVICE   STATE   CAPACITY
      gpu-0    Free    memory=81559Mi,multiprocessors=132
    Findings:
      !! DRA031 pool-outdated  A pool has slices of several generations
          pool/gpu.example.com/gpu-node-4 has outdated slice gpu-node-4-old (current generation: 2). kube-scheduler ignores it; the driver should have deleted it
          fix   kubectl delete resourceslice/gpu-node-4-old

    ----- stderr -----
    ");
}
