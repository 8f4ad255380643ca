//! `kubectl dra describe claim|pod|node` on real objects.

use super::look;
use crate::support::command::dra_snapshot;

#[test]
fn a_claim_is_described() {
    dra_snapshot!(look(&["describe", "claim", "tolerates-20s-gpu-2rgld"], "device-taints-marked"), @r"
    exit_code: 0
    ----- stdout -----
    Name:           tolerates-20s-gpu-2rgld
    Namespace:      default
    UID:            029a16e2-1283-4ab2-a3d7-9e01b8c9d716
    Labels:         <none>
    Annotations:    resource.kubernetes.io/pod-claim-name=gpu
    Age:            46m
    Controlled By:  Pod/tolerates-20s
    State:          allocated,reserved
    Requests:
      gpu:
        Class:        gpu.example.com
        Count:        1
        Tolerations:  example.com/unhealthy:NoExecute op=Exists for 20s
    Allocation:
      Node:       gpu-node-2
      Allocated:  2026-11-21T10:13:21Z (46m ago)
      Devices:
        REQUEST   DRIVER            POOL         DEVICE   PUBLISHED   TAINTS
        gpu       gpu.example.com   gpu-node-2   gpu-1    yes         example.com/unhealthy=xid-79:NoExecute
      Device gpu-node-2/gpu-1:
        Tolerations:  example.com/unhealthy:NoExecute op=Exists for 20s
        Taints:       example.com/unhealthy=xid-79:NoExecute since 2026-11-21T10:13:22Z (46m ago)
    Reserved For:
      KIND   NAME            UID                                    STATUS    CONSUMER
      pod    tolerates-20s   bc8484e5-e227-4623-9b0a-a3bbf90261b6   Running   yes
    Stuck Pods:
      POD                     STAGE     CAUSE         MESSAGE
      default/tolerates-20s   Running   ToBeEvicted   gpu.example.com/gpu-node-2/gpu-1 has taint example.com/unhealthy=xid-79:NoExecute from its driver, which evicts the pod
    Eviction:
      At:       2026-11-21T10:13:42Z (46m ago)
      Reasons:  slice/gpu-node-2-gpu.example.com gpu.example.com/gpu-node-2/gpu-1 example.com/unhealthy
    Events:         <none>
    Findings:       <none>

    ----- stderr -----
    ");
    dra_snapshot!(look(&["describe", "claim", "mixed"], "podgroups"), @"
    exit_code: 0
    ----- stdout -----
    Name:         mixed
    Namespace:    default
    UID:          0db197d0-4551-44ed-ac2e-76cbea8a18c6
    Labels:       <none>
    Annotations:  <none>
    Age:          46m
    State:        allocated,reserved
    Requests:
      gpu:
        Class:  gpu.example.com
        Count:  1
    Allocation:
      Node:       gpu-node-2
      Allocated:  2026-11-21T10:13:12Z (46m ago)
      Devices:
        REQUEST   DRIVER            POOL         DEVICE   PUBLISHED
        gpu       gpu.example.com   gpu-node-2   gpu-4    yes
    Reserved For:
      KIND       NAME   UID                                    STATUS    CONSUMER
      podgroup   mix    ced4d335-ca13-4405-98e0-550222584724   Group     yes
      pod        solo   4fd09024-f9f3-4270-be8c-fd7fc353a4c4   Running   yes
    Events:       <none>
    Findings:     <none>

    ----- stderr -----
    ");
    dra_snapshot!(look(&["describe", "claim/attached-gpu-5f5qz"], "binding-conditions"), @"
    exit_code: 0
    ----- stdout -----
    Name:           attached-gpu-5f5qz
    Namespace:      default
    UID:            0b7ce473-e218-4129-b3d4-0a8141776f47
    Labels:         <none>
    Annotations:    resource.kubernetes.io/pod-claim-name=gpu
    Age:            45m
    Controlled By:  Pod/attached
    State:          allocated,reserved
    Requests:
      gpu:
        Class:  gpu.example.com
        Count:  1
    Allocation:
      Node:       fabric-node-1
      Allocated:  2026-11-21T10:14:43Z (45m ago)
      Devices:
        REQUEST   DRIVER            POOL            DEVICE   PUBLISHED
        gpu       gpu.example.com   fabric-node-1   gpu-1    yes
      Device fabric-node-1/gpu-1:
        Binding Conditions:          example.com/attached
        Binding Failure Conditions:  example.com/attach-failed
    Device Status:
      gpu.example.com/fabric-node-1/gpu-1:
        TYPE                   STATUS   AGE   REASON
        example.com/attached   True     45m   Attached
    Reserved For:
      KIND   NAME       UID                                    STATUS    CONSUMER
      pod    attached   fb6c4cbd-d896-4334-8994-1e958969bcfa   Running   yes
    Events:         <none>
    Findings:       <none>

    ----- stderr -----
    ");
    dra_snapshot!(look(&["describe", "claim/default/best-0-gpu-zzrc5"], "partitionable"), @"
    exit_code: 0
    ----- stdout -----
    Name:           best-0-gpu-zzrc5
    Namespace:      default
    UID:            e1c2e8ed-3882-45cf-b0bc-4802ab8dc024
    Labels:         <none>
    Annotations:    resource.kubernetes.io/pod-claim-name=gpu
    Age:            46m
    Controlled By:  Pod/best-0
    State:          allocated,reserved
    Requests:
      gpu:
        Or whole:
          Class:      gpu.example.com
          Count:      1
          Selectors:  device.attributes['gpu.example.com'].profile == 'full'
        Or large:
          Class:      gpu.example.com
          Count:      1
          Selectors:  device.attributes['gpu.example.com'].profile == '3g.40gb'
        Or small:
          Class:      gpu.example.com
          Count:      1
          Selectors:  device.attributes['gpu.example.com'].profile == '1g.10gb'
    Allocation:
      Node:       mig-node-1
      Allocated:  2026-11-21T10:14:00Z (46m ago)
      Devices:
        REQUEST     DRIVER            POOL         DEVICE       PUBLISHED
        gpu/large   gpu.example.com   mig-node-1   gpu-0-3g-4   yes
    Reserved For:
      KIND   NAME     UID                                    STATUS    CONSUMER
      pod    best-0   61eb1747-7247-45ab-8edb-e21e9a68bbea   Running   yes
    Events:         <none>
    Findings:       <none>

    ----- stderr -----
    ");
    dra_snapshot!(look(&["describe", "claims", "pod-recreated"], "stale-reservations"), @"
    exit_code: 0
    ----- stdout -----
    Name:                      pod-recreated
    Namespace:                 default
    UID:                       04164c0e-e890-4a18-8561-222f96d42825
    Labels:                    <none>
    Annotations:               <none>
    Age:                       46m
    State:                     allocated,reserved
    Requests:
      gpu:
        Class:  gpu.example.com
        Count:  1
    Allocation:
      Node:       gpu-node-2
      Allocated:  2026-11-21T10:13:05Z (46m ago)
      Devices:
        REQUEST   DRIVER            POOL         DEVICE   PUBLISHED
        gpu       gpu.example.com   gpu-node-2   gpu-0    yes
    Reserved For:
      KIND   NAME    UID                                    STATUS     CONSUMER
      pod    again   37b74c3f-02d8-41d0-b320-7809f957c516   OtherUID   no
    Used Without Reservation:  pod/again
    Stuck Pods:
      POD             STAGE     CAUSE         MESSAGE
      default/again   Running   NotReserved   claim/default/pod-recreated is not reserved for the pod: the pod keeps running until its sandbox is recreated, but its devices may be allocated to others
    Events:                    <none>
    Findings:
      !! DRA012 reservation-replaced  A claim is reserved for an earlier pod or PodGroup of the same name
          resourceclaim/default/pod-recreated is reserved for an earlier pod/default/again with UID 37b74c3f-02d8-41d0-b320-7809f957c516: its devices stay allocated, unused, until the claim controller removes the entry
          fix   kubectl label resourceclaim/pod-recreated --namespace=default dra.kubectl.io/checked=again --overwrite

    ----- stderr -----
    ");
}

#[test]
fn a_pod_is_described() {
    dra_snapshot!(look(&["describe", "pod", "tolerates-1h"], "device-taints-marked"), @r"
    exit_code: 0
    ----- stdout -----
    Name:         tolerates-1h
    Namespace:    default
    UID:          4d6886a0-2728-46ce-93d7-1a7591a0ea5b
    Labels:       topology.kubernetes.io/zone=zone-a
    Annotations:  <none>
    Age:          46m
    Node:         gpu-node-1
    Status:       Running
    Conditions:
      TYPE           STATUS   AGE
      Ready          True     46m
      PodScheduled   True     46m
    Claims:
      gpu:
        Template:  tolerates-1h
        Claim:     tolerates-1h-gpu-znmhq
        State:     allocated,reserved
        Reserved:  for the pod
        Devices:   gpu.example.com/gpu-node-1/gpu-2
        Eviction:
          At:       2026-11-21T11:13:22Z (in 13m)
          Reasons:  slice/gpu-node-1-gpu.example.com gpu.example.com/gpu-node-1/gpu-2 example.com/unhealthy
    Devices On The Node:
      Stage:     Running
      Cause:     ToBeEvicted: gpu.example.com/gpu-node-1/gpu-2 has taint example.com/unhealthy=xid-79:NoExecute from its driver, which evicts the pod at 2026-11-21T11:13:22Z
      Since:     2026-11-21T10:13:22Z (46m ago)
      Next:      an administrator
      Evidence:  the device has had the taint since 2026-11-21T10:13:22Z
      Note:      only the driver can remove it; a request that tolerates example.com/unhealthy:NoExecute without tolerationSeconds keeps its pods on the device
    Containers:
      main:  gpu
    Events:
      TYPE     REASON      AGE   FROM                MESSAGE
      Normal   Scheduled   46m   default-scheduler   Successfully assigned default/tolerates-1h to gpu-node-1
    Findings:     <none>

    ----- stderr -----
    ");
    dra_snapshot!(look(&["describe", "pod/sim-0"], "podgroups"), @r#"
    exit_code: 0
    ----- stdout -----
    Name:         sim-0
    Namespace:    default
    UID:          05a395fe-c749-43ff-89fc-28583063e2d2
    Labels:       topology.kubernetes.io/zone=zone-a
    Annotations:  <none>
    Age:          46m
    Node:         gpu-node-1
    Status:       Running
    Pod Group:    sim
    Conditions:
      TYPE           STATUS   AGE   REASON           MESSAGE
      Ready          True     46m
      PodScheduled   False    46m   SchedulerError   running PreBind plugin "DynamicResources": claim default/sim-gpu-579qp got allocated elsewhere in the meantime
    Claims:
      gpu:
        Template:  two-gpus
        Claim:     sim-gpu-579qp
        State:     allocated,reserved
        Reserved:  for its group
        Devices:   gpu.example.com/gpu-node-1/gpu-0
                   gpu.example.com/gpu-node-1/gpu-1
    Devices On The Node:
      Stage:  Running
    Containers:
      main:  gpu
    Events:
      TYPE      REASON             AGE   FROM                MESSAGE
      Warning   FailedScheduling   46m   default-scheduler   running PreBind plugin "DynamicResources": claim default/sim-gpu-579qp got allocated elsewhere in the meantime
      Normal    Scheduled          46m   default-scheduler   Successfully assigned default/sim-0 to gpu-node-1
    Findings:     <none>

    ----- stderr -----
    "#);
    dra_snapshot!(look(&["describe", "pod/missing-template"], "unschedulable-pods"), @r#"
    exit_code: 0
    ----- stdout -----
    Name:         missing-template
    Namespace:    default
    UID:          c0706304-2278-4714-9b60-365196f5cbb3
    Labels:       <none>
    Annotations:  <none>
    Age:          47m
    Node:         <none>
    Status:       Pending
    Claims:
      gpu:
        Template:  no
        Claim:     <none>
        Problem:   pod "default/missing-template": ResourceClaim not created yet
    Containers:
      main:  gpu
    Events:
      TYPE      REASON                        AGE                 FROM             MESSAGE
      Warning   FailedResourceClaimCreation   47m (x8 over 47m)   resource_claim   PodResourceClaim gpu: resource claim template "no": resourceclaimtemplate.resource.k8s.io "no" not found
    Findings:
      x DRA022 claim-missing  A pod references a claim or template that does not exist
          pod/default/missing-template references template/default/no, which does not exist: it stays pending
          fix   create template/default/no, or recreate the pod with the name of an existing one
    Why: kubectl dra explain pod/missing-template --namespace=default --from=tests/data/snapshots/unschedulable-pods.yaml --now=2026-11-21T11:00:00Z

    ----- stderr -----
    "#);
    dra_snapshot!(look(&["describe", "pod", "mixed"], "extended-resource"), @"
    exit_code: 0
    ----- stdout -----
    Name:         mixed
    Namespace:    default
    UID:          7565e5bf-b802-4011-b028-d4a3bb490b63
    Labels:       topology.kubernetes.io/zone=zone-b
    Annotations:  <none>
    Age:          47m
    Node:         gpu-node-2
    Status:       Running
    Conditions:
      TYPE           STATUS   AGE
      Ready          True     47m
      PodScheduled   True     47m
    Claims:
      gpu:
        Template:  one
        Claim:     mixed-gpu-wwhhb
        State:     allocated,reserved
        Reserved:  for the pod
        Devices:   gpu.example.com/gpu-node-2/gpu-1
      (extended resources):
        Claim:     mixed-extended-resources-6kfxc
        State:     allocated,reserved
        Reserved:  for the pod
        Devices:   gpu.example.com/gpu-node-2/gpu-2
    Devices On The Node:
      Stage:  Running
    Containers:
      main:  gpu,example.com/gpu -> container-0-request-1
    Events:
      TYPE     REASON      AGE   FROM                MESSAGE
      Normal   Scheduled   47m   default-scheduler   Successfully assigned default/mixed to gpu-node-2
    Findings:     <none>

    ----- stderr -----
    ");
}

#[test]
fn a_node_is_described() {
    dra_snapshot!(look(&["describe", "node", "gpu-node-2"], "stale-reservations"), @"
    exit_code: 0
    ----- stdout -----
    Name:             gpu-node-2
    UID:              b99a59cf-b7f6-43e4-a8d8-96f6f66471b8
    Labels:           kubernetes.io/arch=amd64
                      kubernetes.io/hostname=gpu-node-2
                      kubernetes.io/os=linux
                      node.kubernetes.io/instance-type=gpu-8x-h100
                      topology.kubernetes.io/zone=zone-b
    Annotations:      <none>
    Age:              46m
    Unschedulable:    false
    Taints:           <none>
    Kubelet Version:  v1.37.1
    Conditions:
      TYPE    STATUS   AGE   REASON
      Ready   True     46m   KubeletReady
    Pools:
      DRIVER            POOL         GENERATION   COMPLETE   DEVICES   FREE
      gpu.example.com   gpu-node-2   1            yes        8         5
      nic.example.com   gpu-node-2   1            yes        8         8
    Devices:
      DEVICE                             STATE       CLAIMS                  CAPACITY
      gpu.example.com/gpu-node-2/gpu-0   Allocated   default/pod-recreated   memory=81559Mi,multiprocessors=132
      gpu.example.com/gpu-node-2/gpu-1   Allocated   default/unreserved      memory=81559Mi,multiprocessors=132
      gpu.example.com/gpu-node-2/gpu-2   Allocated   default/deleting        memory=81559Mi,multiprocessors=132
      gpu.example.com/gpu-node-2/gpu-3   Free        <none>                  memory=81559Mi,multiprocessors=132
      gpu.example.com/gpu-node-2/gpu-4   Free        <none>                  memory=81559Mi,multiprocessors=132
      gpu.example.com/gpu-node-2/gpu-5   Free        <none>                  memory=81559Mi,multiprocessors=132
      gpu.example.com/gpu-node-2/gpu-6   Free        <none>                  memory=81559Mi,multiprocessors=132
      gpu.example.com/gpu-node-2/gpu-7   Free        <none>                  memory=81559Mi,multiprocessors=132
      nic.example.com/gpu-node-2/rdma0   Free        <none>                  bandwidth=400G
      nic.example.com/gpu-node-2/rdma1   Free        <none>                  bandwidth=400G
      nic.example.com/gpu-node-2/rdma2   Free        <none>                  bandwidth=400G
      nic.example.com/gpu-node-2/rdma3   Free        <none>                  bandwidth=400G
      nic.example.com/gpu-node-2/rdma4   Free        <none>                  bandwidth=400G
      nic.example.com/gpu-node-2/rdma5   Free        <none>                  bandwidth=400G
      nic.example.com/gpu-node-2/rdma6   Free        <none>                  bandwidth=400G
      nic.example.com/gpu-node-2/rdma7   Free        <none>                  bandwidth=400G
    Claims:
      NAMESPACE   NAME            STATE                        DEVICES   CONSUMERS
      default     deleting        deleted,allocated,reserved   gpu-2     pod/d
      default     pod-recreated   allocated,reserved           gpu-0     pod/again
      default     unreserved      allocated                    gpu-1     <none>
    Events:           <none>
    Findings:         <none>

    ----- stderr -----
    ");
}

#[test]
fn what_is_not_there_is_said() {
    dra_snapshot!(look(&["describe", "claim", "absent"], "bound-pods"), @"
    exit_code: 3
    ----- stdout -----

    ----- stderr -----
    error: claim/default/absent not found

    hint: there are 2 claims: `notebook-gpu`, `spare`
    ");
    dra_snapshot!(look(&["describe", "node/nowhere"], "bound-pods"), @"
    exit_code: 3
    ----- stdout -----

    ----- stderr -----
    error: node/nowhere not found

    hint: there are 3 nodes: `gpu-node-1`, `gpu-node-2`, `gpu-node-3`
    ");
    dra_snapshot!(look(&["describe", "service", "x"], "bound-pods"), @r"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: cannot describe `service`

    hint: use `KIND NAME` or `KIND/NAME`; KIND is `claim`, `pod`, `device`, `node`, `class` or `pool`
    ");
    dra_snapshot!(look(&["describe", "claim"], "bound-pods"), @r"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: missing claim name

    hint: use `claim NAME`
    ");
}
