//! `kubectl dra status` on real objects.

use super::look;
use crate::support::command::dra_snapshot;

#[test]
fn a_cluster_fits_on_one_screen() {
    dra_snapshot!(look(&["status"], "bound-pods"), @"
    exit_code: 0
    ----- stdout -----
    Kubernetes:     v1.37.1 (assumed)
    Kubelets:       v1.37.1 on 3 nodes
    Drivers:
      DRIVER            IN USE   USED   FREE   ON A NODE
      gpu.example.com   15/24    63%    9      4
      nic.example.com   8/24     33%    16     6
    Usage:
      NAMESPACE   DRIVER            IN USE   SHARE   PENDING
      training    gpu.example.com   12       50%     0
      training    nic.example.com   8        33%     0
      inference   gpu.example.com   2        8%      0
      default     gpu.example.com   1        4%      1
    Claims:
      STATE                CLAIMS
      pending              1
      allocated,reserved   8
    Pods With Devices:
      STAGE     PODS
      Running   7
    Findings:       none
    Feature Gates:  defaults of the release (assumed)

    ----- stderr -----
    warning: tests/data/snapshots/bound-pods.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    ");
    dra_snapshot!(look(&["status"], "podgroups"), @"
    exit_code: 0
    ----- stdout -----
    Kubernetes:  v1.37.1 (assumed)
    Kubelets:    v1.37.1 on 2 nodes
    Drivers:
      DRIVER            IN USE   USED   FREE   ON A NODE
      gpu.example.com   8/16     50%    8      5
      nic.example.com   2/16     13%    14     8
    Usage:
      NAMESPACE   DRIVER            IN USE   SHARE
      default     gpu.example.com   8        50%
      default     nic.example.com   2        13%
    Claims:
      STATE                CLAIMS
      allocated,reserved   6
    Pods With Devices:
      STAGE         PODS
      Reserved      1
      Running       9
      Unpreparing   1
      Gone          1
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
    warning: tests/data/snapshots/podgroups.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    ");
    dra_snapshot!(look(&["status"], "stale-reservations"), @"
    exit_code: 0
    ----- stdout -----
    Kubernetes:     v1.37.1 (assumed)
    Kubelets:       v1.37.1 on 2 nodes
    Drivers:
      DRIVER            IN USE   USED   FREE   ON A NODE
      gpu.example.com   6/16     38%    10     5
      nic.example.com   0/16     0%     16     8
    Usage:
      NAMESPACE   DRIVER            IN USE   SHARE   IDLE
      default     gpu.example.com   6        38%     3
    Idle:           3 devices of 3 claims without a running pod
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
    warning: tests/data/snapshots/stale-reservations.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    ");
    dra_snapshot!(look(&["status"], "device-taints-marked"), @"
    exit_code: 0
    ----- stdout -----
    Kubernetes:     v1.37.1 (assumed)
    Kubelets:       v1.37.1 on 2 nodes
    Drivers:
      DRIVER            IN USE   USED   FREE   ON A NODE   TAINTED
      gpu.example.com   7/16     44%    0      0           16
      nic.example.com   0/16     0%     16     8           0
      gpu.example.com: 9 devices that no claim holds cannot be allocated
    Usage:
      NAMESPACE   DRIVER            IN USE   SHARE
      default     gpu.example.com   6        38%
      batch       gpu.example.com   1        6%
    Claims:
      STATE                CLAIMS
      allocated,reserved   7
    Pods With Devices:
      STAGE         PODS
      Running       3
      Unpreparing   5
    Findings:       none
    Feature Gates:  defaults of the release (assumed)

    ----- stderr -----
    warning: tests/data/snapshots/device-taints-marked.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    ");
    dra_snapshot!(look(&["status"], "consumable-capacity"), @"
    exit_code: 0
    ----- stdout -----
    Kubernetes:     v1.37.1 (assumed)
    Kubelets:       v1.37.1 on 1 node
    Drivers:
      DRIVER            IN USE   USED   FREE   ON A NODE   SHARED
      nic.example.com   1.8/2    90%    0      0           2
      nic.example.com: 18G of 20G bandwidth, 6 of 8 vfs used
    Usage:
      NAMESPACE   DRIVER            IN USE   SHARE   PENDING
      default     nic.example.com   6        90%     2
    Claims:
      STATE                CLAIMS
      pending              2
      allocated,reserved   5
    Pods With Devices:
      STAGE     PODS
      Running   5
    Findings:       none
    Feature Gates:  defaults of the release (assumed)

    ----- stderr -----
    warning: tests/data/snapshots/consumable-capacity.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    ");
    dra_snapshot!(look(&["status"], "partitionable"), @"
    exit_code: 0
    ----- stdout -----
    Kubernetes:     v1.37.1 (assumed)
    Kubelets:       v1.37.1 on 1 node
    Drivers:
      DRIVER            IN USE   USED   FREE   ON A NODE
      gpu.example.com   0.75/1   75%    2      2
      gpu.example.com: 5 devices that no claim holds cannot be allocated
      gpu.example.com: 60Gi of 80Gi memory used
    Usage:
      NAMESPACE   DRIVER            IN USE   SHARE   PENDING
      default     gpu.example.com   3        75%     2
    Claims:
      STATE                CLAIMS
      pending              2
      allocated,reserved   3
    Pods With Devices:
      STAGE     PODS
      Running   3
    Findings:       none
    Feature Gates:  defaults of the release (assumed)

    ----- stderr -----
    warning: tests/data/snapshots/partitionable.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    ");
    dra_snapshot!(look(&["status"], "unschedulable-pods"), @"
    exit_code: 0
    ----- stdout -----
    Kubernetes:     v1.37.1 (assumed)
    Kubelets:       v1.37.1 on 4 nodes
    Drivers:
      DRIVER            IN USE   USED   FREE   ON A NODE   TAINTED
      gpu.example.com   6/21     29%    2      1           9
      nic.example.com   0/16     0%     16     8           0
      gpu.example.com: 1 pool is incomplete
      gpu.example.com: 13 devices that no claim holds cannot be allocated
    Usage:
      NAMESPACE   DRIVER            IN USE   SHARE   PENDING
      default     gpu.example.com   6        29%     10
    Claims:
      STATE                CLAIMS
      pending              10
      allocated,reserved   2
    Pods With Devices:
      STAGE     PODS
      Running   2
    Findings:       5 errors, 6 warnings (see kubectl dra check)
    Feature Gates:  defaults of the release (assumed)

    ----- stderr -----
    warning: tests/data/snapshots/unschedulable-pods.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    ");
}

#[test]
fn claims_of_one_namespace_are_counted() {
    dra_snapshot!(look(&["status", "-n", "training"], "bound-pods"), @"
    exit_code: 0
    ----- stdout -----
    Kubernetes:     v1.37.1 (assumed)
    Kubelets:       v1.37.1 on 3 nodes
    Drivers:
      DRIVER            IN USE   USED   FREE   ON A NODE
      gpu.example.com   15/24    63%    9      4
      nic.example.com   8/24     33%    16     6
    Usage:
      NAMESPACE   DRIVER            IN USE   SHARE
      training    gpu.example.com   12       50%
      training    nic.example.com   8        33%
    Claims:
      STATE                CLAIMS
      allocated,reserved   5
    Pods With Devices:
      STAGE     PODS
      Running   4
    Findings:       none
    Feature Gates:  defaults of the release (assumed)

    ----- stderr -----
    warning: tests/data/snapshots/bound-pods.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    ");
}

#[test]
fn gates_are_shown_with_their_evidence() {
    dra_snapshot!(look(&["status", "--feature-gates", "GenericWorkload=true", "--scheduler-feature-gates", "DRAWorkloadResourceClaims=true"], "podgroups"), @"
    exit_code: 0
    ----- stdout -----
    Kubernetes:  v1.37.1 (assumed)
    Kubelets:    v1.37.1 on 2 nodes
    Drivers:
      DRIVER            IN USE   USED   FREE   ON A NODE
      gpu.example.com   8/16     50%    8      5
      nic.example.com   2/16     13%    14     8
    Usage:
      NAMESPACE   DRIVER            IN USE   SHARE
      default     gpu.example.com   8        50%
      default     nic.example.com   2        13%
    Claims:
      STATE                CLAIMS
      allocated,reserved   6
    Pods With Devices:
      STAGE         PODS
      Reserved      1
      Running       9
      Unpreparing   1
      Gone          1
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
    warning: tests/data/snapshots/podgroups.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    ");
}
