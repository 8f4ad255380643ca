//! `kubectl dra status` on real objects.

use super::look;
use crate::support::command::dra_snapshot;

#[test]
fn a_cluster_fits_on_one_screen() {
    dra_snapshot!(look(&["status"], "bound-pods"), @"
    exit_code: 0
    ----- stdout -----
    Kubernetes:     v1.37.2 (assumed)
    Kubelets:       v1.37.1 on 3 nodes
    Drivers:
      DRIVER            NODES   POOLS   DEVICES   ALLOCATED   SHARED   TAINTED   UNHEALTHY   FREE   ON A NODE   USED
      gpu.example.com   3       3       24        15          0        0         0           9      4           63%
      nic.example.com   3       3       24        8           0        0         0           16     6           33%
    Usage:
      NAMESPACE   DRIVER            IN USE   SHARE   IDLE   CLAIMS   PENDING
      default     gpu.example.com   1        4%      0      1        1
      inference   gpu.example.com   2        8%      0      2        0
      training    gpu.example.com   12       50%     0      5        0
      training    nic.example.com   8        33%     0      5        0
    Claims:
      STATE                CLAIMS
      pending              1
      allocated,reserved   8
    Pods With Devices:
      STAGE     PODS   STUCK
      Running   7      0
    Findings:       none
    Feature Gates:  defaults of the release (assumed)

    ----- stderr -----
    warning: tests/data/snapshots/bound-pods.yaml does not say which release of Kubernetes it is from; assuming 1.37 (see --kubernetes-version)
    ");
    dra_snapshot!(look(&["status"], "podgroups"), @"
    exit_code: 0
    ----- stdout -----
    Kubernetes:  v1.37.2 (assumed)
    Kubelets:    v1.37.1 on 2 nodes
    Drivers:
      DRIVER            NODES   POOLS   DEVICES   ALLOCATED   SHARED   TAINTED   UNHEALTHY   FREE   ON A NODE   USED
      gpu.example.com   2       2       16        8           0        0         0           8      5           50%
      nic.example.com   2       2       16        2           0        0         0           14     8           13%
    Usage:
      NAMESPACE   DRIVER            IN USE   SHARE   IDLE   CLAIMS   PENDING
      default     gpu.example.com   8        50%     0      6        0
      default     nic.example.com   2        13%     0      6        0
    Claims:
      STATE                CLAIMS
      allocated,reserved   6
    Pods With Devices:
      STAGE         PODS   STUCK
      Reserved      1      0
      Running       9      0
      Unpreparing   1      0
      Gone          1      0
    Findings:    none
    Feature Gates:
      GATE                        COMPONENT                 ENABLED   EVIDENCE
      DRAWorkloadResourceClaims   kube-apiserver            true      objects: podgroup/default/llm-workers has claims
      DRAWorkloadResourceClaims   kube-scheduler            true      objects: podgroup/default/llm-workers has claims
      DRAWorkloadResourceClaims   kube-controller-manager   true      objects: podgroup/default/llm-workers has claims
      DRAWorkloadResourceClaims   kubelet                   true      objects: pod/default/llm-0 runs with a claim of its PodGroup
      GenericWorkload             kube-apiserver            true      objects: podgroup/default/llm-workers exists
      GenericWorkload             kube-scheduler            true      objects: podgroup/default/llm-workers has claims
      GenericWorkload             kube-controller-manager   true      objects: podgroup/default/llm-workers has claims
      All others have the defaults of the release (assumed).

    ----- stderr -----
    warning: tests/data/snapshots/podgroups.yaml does not say which release of Kubernetes it is from; assuming 1.37 (see --kubernetes-version)
    ");
    dra_snapshot!(look(&["status"], "stale-reservations"), @"
    exit_code: 0
    ----- stdout -----
    Kubernetes:     v1.37.2 (assumed)
    Kubelets:       v1.37.1 on 2 nodes
    Drivers:
      DRIVER            NODES   POOLS   DEVICES   ALLOCATED   SHARED   TAINTED   UNHEALTHY   FREE   ON A NODE   USED
      gpu.example.com   2       2       16        6           0        0         0           10     5           38%
      nic.example.com   2       2       16        0           0        0         0           16     8           0%
    Usage:
      NAMESPACE   DRIVER            IN USE   SHARE   IDLE   CLAIMS   PENDING
      default     gpu.example.com   6        38%     3      6        0
    Idle:           3 devices of 3 claims, with which no pod runs
                    claim/default/pod-done: 1 device, allocated 46m ago
                    claim/default/pod-gone: 1 device, allocated 46m ago
                    claim/default/unreserved: 1 device, allocated 46m ago
    Claims:
      STATE                        CLAIMS
      allocated                    1
      allocated,reserved           4
      deleted,allocated,reserved   1
    Pods With Devices:
      STAGE     PODS   STUCK
      Running   3      1
      Gone      1      0
    Findings:       2 errors, 5 warnings (see kubectl dra check)
    Feature Gates:  defaults of the release (assumed)

    ----- stderr -----
    warning: tests/data/snapshots/stale-reservations.yaml does not say which release of Kubernetes it is from; assuming 1.37 (see --kubernetes-version)
    ");
    dra_snapshot!(look(&["status"], "device-taints-marked"), @"
    exit_code: 0
    ----- stdout -----
    Kubernetes:     v1.37.2 (assumed)
    Kubelets:       v1.37.1 on 2 nodes
    Drivers:
      DRIVER            NODES   POOLS   DEVICES   ALLOCATED   SHARED   TAINTED   UNHEALTHY   FREE   ON A NODE   USED
      gpu.example.com   2       2       16        7           0        16        0           0      0           44%
      nic.example.com   2       2       16        0           0        0         0           16     8           0%
      gpu.example.com: 9 devices that no claim holds cannot be allocated
    Usage:
      NAMESPACE   DRIVER            IN USE   SHARE   IDLE   CLAIMS   PENDING
      batch       gpu.example.com   1        6%      0      1        0
      default     gpu.example.com   6        38%     0      6        0
    Claims:
      STATE                CLAIMS
      allocated,reserved   7
    Pods With Devices:
      STAGE         PODS   STUCK
      Running       3      0
      Unpreparing   5      0
    Findings:       none
    Feature Gates:  defaults of the release (assumed)

    ----- stderr -----
    warning: tests/data/snapshots/device-taints-marked.yaml does not say which release of Kubernetes it is from; assuming 1.37 (see --kubernetes-version)
    ");
    dra_snapshot!(look(&["status"], "consumable-capacity"), @"
    exit_code: 0
    ----- stdout -----
    Kubernetes:     v1.37.2 (assumed)
    Kubelets:       v1.37.1 on 1 node
    Drivers:
      DRIVER            NODES   POOLS   DEVICES   ALLOCATED   SHARED   TAINTED   UNHEALTHY   FREE   ON A NODE   USED
      nic.example.com   1       1       2         0           2        0         0           0      0           90%
      nic.example.com: 18G of 20G bandwidth, 6 of 8 vfs used
    Usage:
      NAMESPACE   DRIVER            IN USE   SHARE   IDLE   CLAIMS   PENDING
      default     nic.example.com   6        90%     0      5        2
    Claims:
      STATE                CLAIMS
      pending              2
      allocated,reserved   5
    Pods With Devices:
      STAGE     PODS   STUCK
      Running   5      0
    Findings:       none
    Feature Gates:  defaults of the release (assumed)

    ----- stderr -----
    warning: tests/data/snapshots/consumable-capacity.yaml does not say which release of Kubernetes it is from; assuming 1.37 (see --kubernetes-version)
    ");
    dra_snapshot!(look(&["status"], "partitionable"), @"
    exit_code: 0
    ----- stdout -----
    Kubernetes:     v1.37.2 (assumed)
    Kubelets:       v1.37.1 on 1 node
    Drivers:
      DRIVER            NODES   POOLS   DEVICES   ALLOCATED   SHARED   TAINTED   UNHEALTHY   FREE   ON A NODE   USED
      gpu.example.com   1       1       10        3           0        0         0           2      2           75%
      gpu.example.com: 5 devices that no claim holds cannot be allocated
      gpu.example.com: 60Gi of 80Gi memory used
    Usage:
      NAMESPACE   DRIVER            IN USE   SHARE   IDLE   CLAIMS   PENDING
      default     gpu.example.com   3        75%     0      3        2
    Claims:
      STATE                CLAIMS
      pending              2
      allocated,reserved   3
    Pods With Devices:
      STAGE     PODS   STUCK
      Running   3      0
    Findings:       none
    Feature Gates:  defaults of the release (assumed)

    ----- stderr -----
    warning: tests/data/snapshots/partitionable.yaml does not say which release of Kubernetes it is from; assuming 1.37 (see --kubernetes-version)
    ");
    dra_snapshot!(look(&["status"], "unschedulable-pods"), @"
    exit_code: 0
    ----- stdout -----
    Kubernetes:     v1.37.2 (assumed)
    Kubelets:       v1.37.1 on 4 nodes
    Drivers:
      DRIVER            NODES   POOLS   DEVICES   ALLOCATED   SHARED   TAINTED   UNHEALTHY   FREE   ON A NODE   USED
      gpu.example.com   4       4       21        6           0        9         0           2      1           29%
      nic.example.com   2       2       16        0           0        0         0           16     8           0%
      gpu.example.com: 1 pool is incomplete
      gpu.example.com: 13 devices that no claim holds cannot be allocated
    Usage:
      NAMESPACE   DRIVER            IN USE   SHARE   IDLE   CLAIMS   PENDING
      default     gpu.example.com   6        29%     0      2        10
    Claims:
      STATE                CLAIMS
      pending              10
      allocated,reserved   2
    Pods With Devices:
      STAGE     PODS   STUCK
      Running   2      0
    Findings:       5 errors, 6 warnings (see kubectl dra check)
    Feature Gates:  defaults of the release (assumed)

    ----- stderr -----
    warning: tests/data/snapshots/unschedulable-pods.yaml does not say which release of Kubernetes it is from; assuming 1.37 (see --kubernetes-version)
    ");
}

#[test]
fn claims_of_one_namespace_are_counted() {
    dra_snapshot!(look(&["status", "-n", "training"], "bound-pods"), @"
    exit_code: 0
    ----- stdout -----
    Kubernetes:     v1.37.2 (assumed)
    Kubelets:       v1.37.1 on 3 nodes
    Drivers:
      DRIVER            NODES   POOLS   DEVICES   ALLOCATED   SHARED   TAINTED   UNHEALTHY   FREE   ON A NODE   USED
      gpu.example.com   3       3       24        15          0        0         0           9      4           63%
      nic.example.com   3       3       24        8           0        0         0           16     6           33%
    Usage:
      NAMESPACE   DRIVER            IN USE   SHARE   IDLE   CLAIMS   PENDING
      training    gpu.example.com   12       50%     0      5        0
      training    nic.example.com   8        33%     0      5        0
    Claims:
      STATE                CLAIMS
      allocated,reserved   5
    Pods With Devices:
      STAGE     PODS   STUCK
      Running   4      0
    Findings:       none
    Feature Gates:  defaults of the release (assumed)

    ----- stderr -----
    warning: tests/data/snapshots/bound-pods.yaml does not say which release of Kubernetes it is from; assuming 1.37 (see --kubernetes-version)
    ");
}

#[test]
fn gates_are_shown_with_their_evidence() {
    dra_snapshot!(look(&["status", "--feature-gates", "GenericWorkload=true", "--scheduler-feature-gates", "DRAWorkloadResourceClaims=true"], "podgroups"), @"
    exit_code: 0
    ----- stdout -----
    Kubernetes:  v1.37.2 (assumed)
    Kubelets:    v1.37.1 on 2 nodes
    Drivers:
      DRIVER            NODES   POOLS   DEVICES   ALLOCATED   SHARED   TAINTED   UNHEALTHY   FREE   ON A NODE   USED
      gpu.example.com   2       2       16        8           0        0         0           8      5           50%
      nic.example.com   2       2       16        2           0        0         0           14     8           13%
    Usage:
      NAMESPACE   DRIVER            IN USE   SHARE   IDLE   CLAIMS   PENDING
      default     gpu.example.com   8        50%     0      6        0
      default     nic.example.com   2        13%     0      6        0
    Claims:
      STATE                CLAIMS
      allocated,reserved   6
    Pods With Devices:
      STAGE         PODS   STUCK
      Reserved      1      0
      Running       9      0
      Unpreparing   1      0
      Gone          1      0
    Findings:    none
    Feature Gates:
      GATE                        COMPONENT                 ENABLED   EVIDENCE
      DRAWorkloadResourceClaims   kube-apiserver            true      objects: podgroup/default/llm-workers has claims
      DRAWorkloadResourceClaims   kube-scheduler            true      flag
      DRAWorkloadResourceClaims   kube-controller-manager   true      objects: podgroup/default/llm-workers has claims
      DRAWorkloadResourceClaims   kubelet                   true      objects: pod/default/llm-0 runs with a claim of its PodGroup
      GenericWorkload             kube-apiserver            true      flag
      GenericWorkload             kube-scheduler            true      flag
      GenericWorkload             kube-controller-manager   true      flag
      GenericWorkload             kubelet                   true      flag
      All others have the defaults of the release (assumed).

    ----- stderr -----
    warning: tests/data/snapshots/podgroups.yaml does not say which release of Kubernetes it is from; assuming 1.37 (see --kubernetes-version)
    ");
}
