//! `kubectl dra status` on real objects.

use super::look;
use crate::support::command::dra_snapshot;

#[test]
fn a_cluster_fits_on_one_screen() {
    dra_snapshot!(look(&["status"], "bound-pods"), @"
    exit_code: 0
    ----- stdout -----
    Kubernetes v1.37.1 (assumed), 3 nodes; no findings
    Pending: kubectl dra explain -A --from=tests/data/snapshots/bound-pods.yaml --now=2026-11-21T11:00:00Z

    Drivers:
      DRIVER            IN USE   USED   FREE   ONE NODE
      gpu.example.com   15/24    63%    9      4
      nic.example.com   8/24     33%    16     6
    Usage:
      NAMESPACE   DRIVER            IN USE   SHARE   PENDING
      training    gpu.example.com   12       50%     0
      training    nic.example.com   8        33%     0
      inference   gpu.example.com   2        8%      0
      default     gpu.example.com   1        4%      1
    Claims:             1 pending; 8 allocated,reserved
    Pods With Devices:  7 Running

    More: kubectl dra status --from tests/data/snapshots/bound-pods.yaml --now 2026-11-21T11:00:00Z --details

    ----- stderr -----
    warning: tests/data/snapshots/bound-pods.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    ");
    dra_snapshot!(look(&["status"], "podgroups"), @"
    exit_code: 0
    ----- stdout -----
    Kubernetes v1.37.1 (assumed), 2 nodes; no findings

    Drivers:
      DRIVER            IN USE   USED   FREE   ONE NODE
      gpu.example.com   8/16     50%    8      5
      nic.example.com   2/16     13%    14     8
    Usage:
      NAMESPACE   DRIVER            IN USE   SHARE
      default     gpu.example.com   8        50%
      default     nic.example.com   2        13%
    Claims:             6 allocated,reserved
    Pods With Devices:  1 Reserved, 9 Running, 1 Unpreparing, 1 Gone

    More: kubectl dra status --from tests/data/snapshots/podgroups.yaml --now 2026-11-21T11:00:00Z --details

    ----- stderr -----
    warning: tests/data/snapshots/podgroups.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    ");
    dra_snapshot!(look(&["status"], "stale-reservations"), @"
    exit_code: 0
    ----- stdout -----
    Kubernetes v1.37.1 (assumed), 2 nodes; 2 errors, 5 warnings
    Findings: kubectl dra check --from=tests/data/snapshots/stale-reservations.yaml --now=2026-11-21T11:00:00Z

    Drivers:
      DRIVER            IN USE   USED   FREE   ONE NODE
      gpu.example.com   6/16     38%    10     5
      nic.example.com   0/16     0%     16     8
    Usage:
      NAMESPACE   DRIVER            IN USE   SHARE   IDLE
      default     gpu.example.com   6        38%     3
    Idle:               3 devices of 3 claims without a running pod
                        claim/default/pod-done: 1 device, allocated 46m ago
                        claim/default/pod-gone: 1 device, allocated 46m ago
                        claim/default/unreserved: 1 device, allocated 46m ago
    Claims:             1 allocated; 4 allocated,reserved; 1 deleted,allocated,reserved
    Pods With Devices:  3 Running (1 stuck), 1 Gone

    More: kubectl dra status --from tests/data/snapshots/stale-reservations.yaml --now 2026-11-21T11:00:00Z --details

    ----- stderr -----
    warning: tests/data/snapshots/stale-reservations.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    ");
    dra_snapshot!(look(&["status"], "device-taints-marked"), @"
    exit_code: 0
    ----- stdout -----
    Kubernetes v1.37.1 (assumed), 2 nodes; no findings

    Drivers:
      DRIVER            IN USE   USED   FREE   ONE NODE   UNAVAILABLE
      gpu.example.com   7/16     44%    0      0          9 tainted
      nic.example.com   0/16     0%     16     8          0
    Usage:
      NAMESPACE   DRIVER            IN USE   SHARE
      default     gpu.example.com   6        38%
      batch       gpu.example.com   1        6%
    Claims:             7 allocated,reserved
    Pods With Devices:  3 Running, 5 Unpreparing

    More: kubectl dra status --from tests/data/snapshots/device-taints-marked.yaml --now 2026-11-21T11:00:00Z --details

    ----- stderr -----
    warning: tests/data/snapshots/device-taints-marked.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    ");
    dra_snapshot!(look(&["status"], "consumable-capacity"), @"
    exit_code: 0
    ----- stdout -----
    Kubernetes v1.37.1 (assumed), 1 node; no findings
    Pending: kubectl dra explain -A --from=tests/data/snapshots/consumable-capacity.yaml --now=2026-11-21T11:00:00Z

    Drivers:
      DRIVER            IN USE   USED   FREE   ONE NODE   SHARED
      nic.example.com   1.8/2    90%    0      0          2
      nic.example.com: 18G of 20G bandwidth, 6 of 8 vfs used
    Usage:
      NAMESPACE   DRIVER            IN USE   SHARE   PENDING
      default     nic.example.com   6        90%     2
    Claims:             2 pending; 5 allocated,reserved
    Pods With Devices:  5 Running

    More: kubectl dra status --from tests/data/snapshots/consumable-capacity.yaml --now 2026-11-21T11:00:00Z --details

    ----- stderr -----
    warning: tests/data/snapshots/consumable-capacity.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    ");
    dra_snapshot!(look(&["status"], "partitionable"), @"
    exit_code: 0
    ----- stdout -----
    Kubernetes v1.37.1 (assumed), 1 node; no findings
    Pending: kubectl dra explain -A --from=tests/data/snapshots/partitionable.yaml --now=2026-11-21T11:00:00Z

    Drivers:
      DRIVER            IN USE   USED   FREE   ONE NODE   UNAVAILABLE
      gpu.example.com   0.75/1   75%    2      2          5 out of counters
      gpu.example.com: 60Gi of 80Gi memory used
    Usage:
      NAMESPACE   DRIVER            IN USE   SHARE   PENDING
      default     gpu.example.com   3        75%     2
    Claims:             2 pending; 3 allocated,reserved
    Pods With Devices:  3 Running

    More: kubectl dra status --from tests/data/snapshots/partitionable.yaml --now 2026-11-21T11:00:00Z --details

    ----- stderr -----
    warning: tests/data/snapshots/partitionable.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    ");
    dra_snapshot!(look(&["status"], "unschedulable-pods"), @"
    exit_code: 0
    ----- stdout -----
    Kubernetes v1.37.1 (assumed), 4 nodes; 5 errors, 6 warnings
    Findings: kubectl dra check --from=tests/data/snapshots/unschedulable-pods.yaml --now=2026-11-21T11:00:00Z
    Pending: kubectl dra explain -A --from=tests/data/snapshots/unschedulable-pods.yaml --now=2026-11-21T11:00:00Z

    Drivers:
      DRIVER            IN USE   USED   FREE   ONE NODE   UNAVAILABLE
      gpu.example.com   6/21     29%    2      1          13: 9 tainted, 4 in incomplete pools
      nic.example.com   0/16     0%     16     8          0
      gpu.example.com: 1 pool is incomplete
    Usage:
      NAMESPACE   DRIVER            IN USE   SHARE   PENDING
      default     gpu.example.com   6        29%     10
    Claims:             10 pending; 2 allocated,reserved
    Pods With Devices:  2 Running

    More: kubectl dra status --from tests/data/snapshots/unschedulable-pods.yaml --now 2026-11-21T11:00:00Z --details

    ----- stderr -----
    warning: tests/data/snapshots/unschedulable-pods.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    ");
}

#[test]
fn claims_of_one_namespace_are_counted() {
    dra_snapshot!(look(&["status", "-n", "training"], "bound-pods"), @"
    exit_code: 0
    ----- stdout -----
    Kubernetes v1.37.1 (assumed), 3 nodes; no findings

    Drivers:
      DRIVER            IN USE   USED   FREE   ONE NODE
      gpu.example.com   15/24    63%    9      4
      nic.example.com   8/24     33%    16     6
    Usage:
      NAMESPACE   DRIVER            IN USE   SHARE
      training    gpu.example.com   12       50%
      training    nic.example.com   8        33%
    Claims:             5 allocated,reserved
    Pods With Devices:  4 Running

    More: kubectl dra status -n training --from tests/data/snapshots/bound-pods.yaml --now 2026-11-21T11:00:00Z --details

    ----- stderr -----
    warning: tests/data/snapshots/bound-pods.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    ");
}

#[test]
fn gates_are_shown_with_their_evidence() {
    dra_snapshot!(look(&["status", "--details", "--feature-gates", "GenericWorkload=true", "--scheduler-feature-gates", "DRAWorkloadResourceClaims=true"], "podgroups"), @"
    exit_code: 0
    ----- stdout -----
    Kubernetes v1.37.1 (assumed), 2 nodes; no findings

    Kubelets:  v1.37.1 on 2 nodes
    Drivers:
      DRIVER            NODES   POOLS   DEVICES   ALLOCATED   IN USE   USED   FREE   ONE NODE   SHARED   UNAVAILABLE   TAINTED   UNHEALTHY
      gpu.example.com   2       2       16        8           8/16     50%    8      5          0        0             0         0
      nic.example.com   2       2       16        2           2/16     13%    14     8          0        0             0         0
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
      All others have release defaults (assumed).

    ----- stderr -----
    warning: tests/data/snapshots/podgroups.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    ");
}
