//! `kubectl dra status` on real objects.

use super::look;
use crate::support::command::dra_snapshot;

#[test]
fn a_cluster_fits_on_one_screen() {
    dra_snapshot!(look(&["status"], "bound-pods"), @r"
    exit_code: 0
    ----- stdout -----
    Kubernetes:     v1.37.1 (assumed)
    Kubelets:       v1.37.1 on 3 nodes
    Drivers:
      DRIVER            NODES   POOLS   DEVICES   ALLOCATED   SHARED   TAINTED   UNHEALTHY   FREE
      gpu.example.com   3       3       24        15          0        0         0           9
      nic.example.com   3       3       24        8           0        0         0           16
    Claims:
      STATE                CLAIMS
      pending              1
      allocated,reserved   8
    Findings:       none (see kubectl dra check)
    Feature Gates:  defaults of the release (assumed)

    ----- stderr -----
    warning: tests/data/snapshots/bound-pods.yaml does not say which release of Kubernetes it is from; assuming 1.37 (see --kubernetes-version)
    ");
    dra_snapshot!(look(&["status"], "podgroups"), @r"
    exit_code: 0
    ----- stdout -----
    Kubernetes:  v1.37.1 (assumed)
    Kubelets:    v1.37.1 on 2 nodes
    Drivers:
      DRIVER            NODES   POOLS   DEVICES   ALLOCATED   SHARED   TAINTED   UNHEALTHY   FREE
      gpu.example.com   2       2       16        8           0        0         0           8
      nic.example.com   2       2       16        2           0        0         0           14
    Claims:
      STATE                CLAIMS
      allocated,reserved   6
    Findings:    none (see kubectl dra check)
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
    dra_snapshot!(look(&["status"], "stale-reservations"), @r"
    exit_code: 0
    ----- stdout -----
    Kubernetes:     v1.37.1 (assumed)
    Kubelets:       v1.37.1 on 2 nodes
    Drivers:
      DRIVER            NODES   POOLS   DEVICES   ALLOCATED   SHARED   TAINTED   UNHEALTHY   FREE
      gpu.example.com   2       2       16        6           0        0         0           10
      nic.example.com   2       2       16        0           0        0         0           16
    Claims:
      STATE                        CLAIMS
      allocated                    1
      allocated,reserved           4
      deleted,allocated,reserved   1
    Findings:       2 errors, 5 warnings (see kubectl dra check)
    Feature Gates:  defaults of the release (assumed)

    ----- stderr -----
    warning: tests/data/snapshots/stale-reservations.yaml does not say which release of Kubernetes it is from; assuming 1.37 (see --kubernetes-version)
    ");
    dra_snapshot!(look(&["status"], "device-taints-marked"), @r"
    exit_code: 0
    ----- stdout -----
    Kubernetes:     v1.37.1 (assumed)
    Kubelets:       v1.37.1 on 2 nodes
    Drivers:
      DRIVER            NODES   POOLS   DEVICES   ALLOCATED   SHARED   TAINTED   UNHEALTHY   FREE
      gpu.example.com   2       2       16        7           0        16        0           0
      nic.example.com   2       2       16        0           0        0         0           16
      gpu.example.com: 9 devices that no claim holds cannot be allocated
    Claims:
      STATE                CLAIMS
      allocated,reserved   7
    Findings:       none (see kubectl dra check)
    Feature Gates:  defaults of the release (assumed)

    ----- stderr -----
    warning: tests/data/snapshots/device-taints-marked.yaml does not say which release of Kubernetes it is from; assuming 1.37 (see --kubernetes-version)
    ");
    dra_snapshot!(look(&["status"], "consumable-capacity"), @r"
    exit_code: 0
    ----- stdout -----
    Kubernetes:     v1.37.1 (assumed)
    Kubelets:       v1.37.1 on 1 node
    Drivers:
      DRIVER            NODES   POOLS   DEVICES   ALLOCATED   SHARED   TAINTED   UNHEALTHY   FREE
      nic.example.com   1       1       2         0           2        0         0           0
    Claims:
      STATE                CLAIMS
      pending              2
      allocated,reserved   5
    Findings:       none (see kubectl dra check)
    Feature Gates:  defaults of the release (assumed)

    ----- stderr -----
    warning: tests/data/snapshots/consumable-capacity.yaml does not say which release of Kubernetes it is from; assuming 1.37 (see --kubernetes-version)
    ");
    dra_snapshot!(look(&["status"], "partitionable"), @r"
    exit_code: 0
    ----- stdout -----
    Kubernetes:     v1.37.1 (assumed)
    Kubelets:       v1.37.1 on 1 node
    Drivers:
      DRIVER            NODES   POOLS   DEVICES   ALLOCATED   SHARED   TAINTED   UNHEALTHY   FREE
      gpu.example.com   1       1       10        3           0        0         0           2
      gpu.example.com: 5 devices that no claim holds cannot be allocated
    Claims:
      STATE                CLAIMS
      pending              2
      allocated,reserved   3
    Findings:       none (see kubectl dra check)
    Feature Gates:  defaults of the release (assumed)

    ----- stderr -----
    warning: tests/data/snapshots/partitionable.yaml does not say which release of Kubernetes it is from; assuming 1.37 (see --kubernetes-version)
    ");
    dra_snapshot!(look(&["status"], "unschedulable-pods"), @r"
    exit_code: 0
    ----- stdout -----
    Kubernetes:     v1.37.1 (assumed)
    Kubelets:       v1.37.1 on 4 nodes
    Drivers:
      DRIVER            NODES   POOLS   DEVICES   ALLOCATED   SHARED   TAINTED   UNHEALTHY   FREE
      gpu.example.com   4       4       21        6           0        9         0           2
      nic.example.com   2       2       16        0           0        0         0           16
      gpu.example.com: 1 pool is incomplete
      gpu.example.com: 13 devices that no claim holds cannot be allocated
    Claims:
      STATE                CLAIMS
      pending              10
      allocated,reserved   2
    Findings:       5 errors, 5 warnings (see kubectl dra check)
    Feature Gates:  defaults of the release (assumed)

    ----- stderr -----
    warning: tests/data/snapshots/unschedulable-pods.yaml does not say which release of Kubernetes it is from; assuming 1.37 (see --kubernetes-version)
    ");
}

#[test]
fn claims_of_one_namespace_are_counted() {
    dra_snapshot!(look(&["status", "-n", "training"], "bound-pods"), @r"
    exit_code: 0
    ----- stdout -----
    Kubernetes:     v1.37.1 (assumed)
    Kubelets:       v1.37.1 on 3 nodes
    Drivers:
      DRIVER            NODES   POOLS   DEVICES   ALLOCATED   SHARED   TAINTED   UNHEALTHY   FREE
      gpu.example.com   3       3       24        15          0        0         0           9
      nic.example.com   3       3       24        8           0        0         0           16
    Claims:
      STATE                CLAIMS
      allocated,reserved   5
    Findings:       none (see kubectl dra check)
    Feature Gates:  defaults of the release (assumed)

    ----- stderr -----
    warning: tests/data/snapshots/bound-pods.yaml does not say which release of Kubernetes it is from; assuming 1.37 (see --kubernetes-version)
    ");
}

#[test]
fn gates_are_shown_with_their_evidence() {
    dra_snapshot!(look(&["status", "--feature-gates", "GenericWorkload=true", "--scheduler-feature-gates", "DRAWorkloadResourceClaims=true"], "podgroups"), @r"
    exit_code: 0
    ----- stdout -----
    Kubernetes:  v1.37.1 (assumed)
    Kubelets:    v1.37.1 on 2 nodes
    Drivers:
      DRIVER            NODES   POOLS   DEVICES   ALLOCATED   SHARED   TAINTED   UNHEALTHY   FREE
      gpu.example.com   2       2       16        8           0        0         0           8
      nic.example.com   2       2       16        2           0        0         0           14
    Claims:
      STATE                CLAIMS
      allocated,reserved   6
    Findings:    none (see kubectl dra check)
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
