//! `kubectl dra claims` on real objects.

use super::look;
use crate::support::command::dra_snapshot;

#[test]
fn claims_show_what_they_hold_and_who_uses_them() {
    dra_snapshot!(look(&["claims", "-A"], "bound-pods"), @r"
    exit_code: 0
    ----- stdout -----
    NAMESPACE   NAME                        STATE                NODE         DEVICES                   CONSUMERS         AGE
    default     notebook-gpu                allocated,reserved   gpu-node-2   gpu-1                     pod/notebook      43m
    default     spare                       pending              <none>       <none>                    <none>            43m
    inference   web-0-gpu-bw6jz             allocated,reserved   gpu-node-2   gpu-0                     pod/web-0         43m
    inference   web-1-gpu-txq68             allocated,reserved   gpu-node-1   gpu-6                     pod/web-1         43m
    training    sweep-glg98-devices-m9x2c   allocated,reserved   gpu-node-2   gpu-2,rdma2,gpu-3,rdma3   pod/sweep-glg98   43m
    training    sweep-krgjp-devices-875gq   allocated,reserved   gpu-node-3   gpu-2,rdma2,gpu-3,rdma3   pod/sweep-krgjp   43m
    training    trainer-0-devices-w8cxl     allocated,reserved   gpu-node-3   gpu-0,rdma0,gpu-1,rdma1   pod/trainer-0     43m
    training    trainer-1-devices-nkw6l     allocated,reserved   gpu-node-1   gpu-4,rdma4,gpu-5,rdma5   pod/trainer-1     43m
    training    trainer-1-extra-zp8bf       allocated,reserved   gpu-node-1   gpu-0,gpu-1,gpu-2,gpu-3   pod/trainer-1     43m

    ----- stderr -----
    ");
}

#[test]
fn the_current_namespace_is_the_default() {
    dra_snapshot!(look(&["claims"], "bound-pods"), @r"
    exit_code: 0
    ----- stdout -----
    NAMESPACE   NAME           STATE                NODE         DEVICES   CONSUMERS      AGE
    default     notebook-gpu   allocated,reserved   gpu-node-2   gpu-1     pod/notebook   43m
    default     spare          pending              <none>       <none>    <none>         43m

    ----- stderr -----
    ");
}

#[test]
fn wide_shows_requests_classes_pools_taints_and_owners() {
    dra_snapshot!(look(&["claims", "-A", "-o", "wide"], "device-taints-marked"), @r"
    exit_code: 0
    ----- stdout -----
    NAMESPACE   NAME                             STATE                NODE         DEVICES   CONSUMERS                   AGE   REQUESTS   CLASSES           POOLS                        TAINTS                                   OWNER
    batch       plain-gpu-qcwfv                  allocated,reserved   gpu-node-2   gpu-0     pod/plain                   46m   gpu        gpu.example.com   gpu.example.com/gpu-node-2   example.com/unhealthy=xid-79:NoExecute   Pod/plain
    default     plain-gpu-2nhkl                  allocated,reserved   gpu-node-1   gpu-0     pod/plain                   46m   gpu        gpu.example.com   gpu.example.com/gpu-node-1   example.com/unhealthy=xid-79:NoExecute   Pod/plain
    default     shared                           allocated,reserved   gpu-node-2   gpu-2     pod/sharer-0,pod/sharer-1   46m   gpu        gpu.example.com   gpu.example.com/gpu-node-2   example.com/unhealthy=xid-79:NoExecute   <none>
    default     tolerates-1h-gpu-znmhq           allocated,reserved   gpu-node-1   gpu-2     pod/tolerates-1h            46m   gpu        gpu.example.com   gpu.example.com/gpu-node-1   example.com/unhealthy=xid-79:NoExecute   Pod/tolerates-1h
    default     tolerates-20s-gpu-2rgld          allocated,reserved   gpu-node-2   gpu-1     pod/tolerates-20s           46m   gpu        gpu.example.com   gpu.example.com/gpu-node-2   example.com/unhealthy=xid-79:NoExecute   Pod/tolerates-20s
    default     tolerates-any-effect-gpu-tjwq4   allocated,reserved   gpu-node-2   gpu-3     pod/tolerates-any-effect    46m   gpu        gpu.example.com   gpu.example.com/gpu-node-2   example.com/unhealthy=xid-79:NoExecute   Pod/tolerates-any-effect
    default     tolerates-gpu-722bd              allocated,reserved   gpu-node-1   gpu-1     pod/tolerates               46m   gpu        gpu.example.com   gpu.example.com/gpu-node-1   example.com/unhealthy=xid-79:NoExecute   Pod/tolerates

    ----- stderr -----
    ");
    dra_snapshot!(look(&["claims", "-A", "-o", "wide"], "partitionable"), @r"
    exit_code: 0
    ----- stdout -----
    NAMESPACE   NAME                STATE                NODE         DEVICES      CONSUMERS     AGE   REQUESTS                  CLASSES           POOLS                        TAINTS   OWNER
    default     best-0-gpu-zzrc5    allocated,reserved   mig-node-1   gpu-0-3g-4   pod/best-0    46m   gpu:(whole|large|small)   gpu.example.com   gpu.example.com/mig-node-1   <none>   Pod/best-0
    default     best-1-gpu-2629t    allocated,reserved   mig-node-1   gpu-0-1g-1   pod/best-1    46m   gpu:(whole|large|small)   gpu.example.com   gpu.example.com/mig-node-1   <none>   Pod/best-1
    default     large-gpu-7vzfd     pending              <none>       <none>       <none>        46m   gpu                       gpu.example.com   <none>                       <none>   Pod/large
    default     small-0-gpu-6cmjw   allocated,reserved   mig-node-1   gpu-0-1g-0   pod/small-0   46m   gpu                       gpu.example.com   gpu.example.com/mig-node-1   <none>   Pod/small-0
    default     whole-gpu-7wjfb     pending              <none>       <none>       <none>        46m   gpu                       gpu.example.com   <none>                       <none>   Pod/whole

    ----- stderr -----
    ");
}

#[test]
fn claims_are_found_by_name_in_kubectls_forms() {
    dra_snapshot!(look(&["claims", "-n", "training", "claim/trainer-1-extra-zp8bf"], "bound-pods"), @r"
    exit_code: 0
    ----- stdout -----
    NAMESPACE   NAME                    STATE                NODE         DEVICES                   CONSUMERS       AGE
    training    trainer-1-extra-zp8bf   allocated,reserved   gpu-node-1   gpu-0,gpu-1,gpu-2,gpu-3   pod/trainer-1   43m

    ----- stderr -----
    ");
    dra_snapshot!(look(&["claims", "claim/training/trainer-1-extra-zp8bf", "notebook-gpu"], "bound-pods"), @r"
    exit_code: 0
    ----- stdout -----
    NAMESPACE   NAME                    STATE                NODE         DEVICES                   CONSUMERS       AGE
    default     notebook-gpu            allocated,reserved   gpu-node-2   gpu-1                     pod/notebook    43m
    training    trainer-1-extra-zp8bf   allocated,reserved   gpu-node-1   gpu-0,gpu-1,gpu-2,gpu-3   pod/trainer-1   43m

    ----- stderr -----
    ");
    dra_snapshot!(look(&["claims", "absent", "claim/training/neither"], "bound-pods"), @r"
    exit_code: 3
    ----- stdout -----

    ----- stderr -----
    error: claim/default/absent not found, claim/training/neither not found

    hint: instead of `absent`: there are 2 claims: `notebook-gpu`, `spare`
    hint: instead of `neither`: there are 5 claims: `sweep-glg98-devices-m9x2c`, `sweep-krgjp-devices-875gq`, `trainer-0-devices-w8cxl`, `trainer-1-devices-nkw6l`, `trainer-1-extra-zp8bf`
    ");
    dra_snapshot!(look(&["claims", "-A", "notebook-gpu"], "bound-pods"), @r"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: a claim cannot be found by name across all namespaces

    hint: pass `-n NAMESPACE`, or use `claim/NAMESPACE/NAME`
    ");
    dra_snapshot!(look(&["claims", "pod/notebook"], "bound-pods"), @"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: `pod/notebook` is no claim

    hint: to list the claims of a pod, pass `--pod notebook` to `kubectl dra claims`
    ");
}

#[test]
fn filters_choose_by_state_node_driver_device_and_pod() {
    dra_snapshot!(look(&["claims", "-A", "--state", "allocated,!reserved"], "stale-reservations"), @r"
    exit_code: 0
    ----- stdout -----
    NAMESPACE   NAME         STATE       NODE         DEVICES   CONSUMERS   AGE
    default     unreserved   allocated   gpu-node-2   gpu-1     <none>      46m

    ----- stderr -----
    ");
    dra_snapshot!(look(&["claims", "-A", "--state", "bound"], "bound-pods"), @"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: invalid value `bound` for `--state`: invalid state `bound`: use `pending`, `allocated`, `reserved` or `deleted`; `!STATE` excludes one

    hint: kubectl dra claims -A --state pending --from tests/data/snapshots/bound-pods.yaml --now 2026-11-21T11:00:00Z
    ");
    dra_snapshot!(look(&["claims", "-A", "--node", "gpu-node-2"], "bound-pods"), @r"
    exit_code: 0
    ----- stdout -----
    NAMESPACE   NAME                        STATE                NODE         DEVICES                   CONSUMERS         AGE
    default     notebook-gpu                allocated,reserved   gpu-node-2   gpu-1                     pod/notebook      43m
    inference   web-0-gpu-bw6jz             allocated,reserved   gpu-node-2   gpu-0                     pod/web-0         43m
    training    sweep-glg98-devices-m9x2c   allocated,reserved   gpu-node-2   gpu-2,rdma2,gpu-3,rdma3   pod/sweep-glg98   43m

    ----- stderr -----
    ");
    dra_snapshot!(look(&["claims", "-A", "--driver", "nic.example.com", "--node", "gpu-node-3"], "bound-pods"), @r"
    exit_code: 0
    ----- stdout -----
    NAMESPACE   NAME                        STATE                NODE         DEVICES                   CONSUMERS         AGE
    training    sweep-krgjp-devices-875gq   allocated,reserved   gpu-node-3   gpu-2,rdma2,gpu-3,rdma3   pod/sweep-krgjp   43m
    training    trainer-0-devices-w8cxl     allocated,reserved   gpu-node-3   gpu-0,rdma0,gpu-1,rdma1   pod/trainer-0     43m

    ----- stderr -----
    ");
    dra_snapshot!(look(&["claims", "-A", "--device", "gpu-node-1/gpu-4"], "bound-pods"), @r"
    exit_code: 0
    ----- stdout -----
    NAMESPACE   NAME                      STATE                NODE         DEVICES                   CONSUMERS       AGE
    training    trainer-1-devices-nkw6l   allocated,reserved   gpu-node-1   gpu-4,rdma4,gpu-5,rdma5   pod/trainer-1   43m

    ----- stderr -----
    ");
    dra_snapshot!(look(&["claims", "-A", "--pod", "training/trainer-1"], "bound-pods"), @r"
    exit_code: 0
    ----- stdout -----
    NAMESPACE   NAME                      STATE                NODE         DEVICES                   CONSUMERS       AGE
    training    trainer-1-devices-nkw6l   allocated,reserved   gpu-node-1   gpu-4,rdma4,gpu-5,rdma5   pod/trainer-1   43m
    training    trainer-1-extra-zp8bf     allocated,reserved   gpu-node-1   gpu-0,gpu-1,gpu-2,gpu-3   pod/trainer-1   43m

    ----- stderr -----
    ");
    dra_snapshot!(look(&["claims", "-A", "--pod", "absent"], "bound-pods"), @r"
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    No claims found
    ");
}

#[test]
fn groups_and_foreign_consumers_are_named_by_kind() {
    dra_snapshot!(look(&["claims"], "podgroups"), @r"
    exit_code: 0
    ----- stdout -----
    NAMESPACE   NAME               STATE                NODE         DEVICES                   CONSUMERS               AGE
    default     llm-gpus           allocated,reserved   gpu-node-2   gpu-0,gpu-1,gpu-2,gpu-3   podgroup/llm-workers    46m
    default     mixed              allocated,reserved   gpu-node-2   gpu-4                     podgroup/mix,pod/solo   46m
    default     pair-0-nic-lzb77   allocated,reserved   gpu-node-1   rdma0                     pod/pair-0              46m
    default     pair-1-nic-q8mcm   allocated,reserved   gpu-node-1   rdma1                     pod/pair-1              46m
    default     pair-gpu           allocated,reserved   gpu-node-1   gpu-2                     podgroup/pair           46m
    default     sim-gpu-579qp      allocated,reserved   gpu-node-1   gpu-0,gpu-1               podgroup/sim            46m

    ----- stderr -----
    ");
    dra_snapshot!(look(&["claims"], "stale-reservations"), @r"
    exit_code: 0
    ----- stdout -----
    NAMESPACE   NAME            STATE                        NODE         DEVICES   CONSUMERS                 AGE
    default     deleting        deleted,allocated,reserved   gpu-node-2   gpu-2     pod/d                     46m
    default     foreign         allocated,reserved           gpu-node-1   gpu-2     pod/f,jobs.batch/render   46m
    default     pod-done        allocated,reserved           gpu-node-1   gpu-1     pod/done                  46m
    default     pod-gone        allocated,reserved           gpu-node-1   gpu-0     pod/gone                  46m
    default     pod-recreated   allocated,reserved           gpu-node-2   gpu-0     pod/again                 46m
    default     unreserved      allocated                    gpu-node-2   gpu-1     <none>                    46m

    ----- stderr -----
    ");
}

#[test]
fn pending_claims_hold_nothing() {
    dra_snapshot!(look(&["claims", "-A"], "unschedulable-pods"), @r"
    exit_code: 0
    ----- stdout -----
    NAMESPACE   NAME                            STATE                NODE         DEVICES                         CONSUMERS          AGE
    default     all-incomplete-pool-gpu-sgsh4   pending              <none>       <none>                          <none>             47m
    default     cel-error-gpu-jb8xb             pending              <none>       <none>                          <none>             47m
    default     cel-mismatch-gpu-kjdcc          pending              <none>       <none>                          <none>             47m
    default     constraint-conflict-gpu-5qjcg   pending              <none>       <none>                          <none>             47m
    default     fills-node-1-gpu-5c9lh          allocated,reserved   gpu-node-1   gpu-0,gpu-1,gpu-2,gpu-3,gpu-4   pod/fills-node-1   47m
    default     missing-class-gpu-nwgjj         pending              <none>       <none>                          <none>             47m
    default     not-enough-free-gpu-x4fqs       pending              <none>       <none>                          <none>             47m
    default     old-generation-gpu-5m9g7        pending              <none>       <none>                          <none>             47m
    default     on-node-1                       allocated,reserved   gpu-node-1   gpu-5                           pod/holder         47m
    default     tainted-gpu-7t4c4               pending              <none>       <none>                          <none>             47m
    default     too-many-gpu-g4ndh              pending              <none>       <none>                          <none>             47m
    default     two-requests-gpu-lwk9c          pending              <none>       <none>                          <none>             47m

    ----- stderr -----
    ");
}

#[test]
fn names_and_sorting() {
    dra_snapshot!(look(&["claims", "-A", "-o", "name"], "bound-pods"), @r"
    exit_code: 0
    ----- stdout -----
    resourceclaim.resource.k8s.io/notebook-gpu
    resourceclaim.resource.k8s.io/spare
    resourceclaim.resource.k8s.io/web-0-gpu-bw6jz
    resourceclaim.resource.k8s.io/web-1-gpu-txq68
    resourceclaim.resource.k8s.io/sweep-glg98-devices-m9x2c
    resourceclaim.resource.k8s.io/sweep-krgjp-devices-875gq
    resourceclaim.resource.k8s.io/trainer-0-devices-w8cxl
    resourceclaim.resource.k8s.io/trainer-1-devices-nkw6l
    resourceclaim.resource.k8s.io/trainer-1-extra-zp8bf

    ----- stderr -----
    ");
    dra_snapshot!(look(&["claims", "-A", "--no-headers", "--sort-by", "NODE"], "bound-pods"), @r"
    exit_code: 0
    ----- stdout -----
    inference   web-1-gpu-txq68             allocated,reserved   gpu-node-1   gpu-6                     pod/web-1         43m
    training    trainer-1-devices-nkw6l     allocated,reserved   gpu-node-1   gpu-4,rdma4,gpu-5,rdma5   pod/trainer-1     43m
    training    trainer-1-extra-zp8bf       allocated,reserved   gpu-node-1   gpu-0,gpu-1,gpu-2,gpu-3   pod/trainer-1     43m
    default     notebook-gpu                allocated,reserved   gpu-node-2   gpu-1                     pod/notebook      43m
    inference   web-0-gpu-bw6jz             allocated,reserved   gpu-node-2   gpu-0                     pod/web-0         43m
    training    sweep-glg98-devices-m9x2c   allocated,reserved   gpu-node-2   gpu-2,rdma2,gpu-3,rdma3   pod/sweep-glg98   43m
    training    sweep-krgjp-devices-875gq   allocated,reserved   gpu-node-3   gpu-2,rdma2,gpu-3,rdma3   pod/sweep-krgjp   43m
    training    trainer-0-devices-w8cxl     allocated,reserved   gpu-node-3   gpu-0,rdma0,gpu-1,rdma1   pod/trainer-0     43m
    default     spare                       pending              <none>       <none>                    <none>            43m

    ----- stderr -----
    ");
}
