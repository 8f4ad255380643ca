//! `kubectl dra simulate eviction` as people see it.

use crate::support::command::{dra, dra_snapshot};
use crate::support::process::Invocation;
use crate::support::schema::assert_schema;

fn simulate(args: &[&str], snapshot: &str, now: &str) -> Invocation {
    let file = format!("tests/data/snapshots/{snapshot}.yaml");
    let command = ["simulate", "eviction", "--kubernetes-version", "1.37"];
    dra(&[&command, args, &["--from", &file, "--now", now]].concat())
}

/// Before anything happens in `device-taints-before`.
const BEFORE: &str = "2026-11-21T10:13:20Z";

#[test]
fn a_node_is_drained_of_its_devices_pods() {
    let args = ["--node", "gpu-node-2"];
    dra_snapshot!(simulate(&args, "device-taints-before", BEFORE), @"
    exit_code: 0
    ----- stdout -----
    x 5 pods would be evicted within 30s: 5 are not recreated
    simulated taint kubectl-dra/simulated:NoExecute (change with --key)

    POD                            EVICTED   GONE   AFTERWARDS
    batch/plain                    now       30s    not recreated (no controller)
    default/sharer-0               now       30s    not recreated (no controller)
    default/sharer-1               now       30s    not recreated (no controller)
    default/tolerates-20s          now       30s    not recreated (no controller)
    default/tolerates-any-effect   now       30s    not recreated (no controller)

    4 claims release 4 devices
    `kubectl drain` would refuse pods without a controller, unless --force is given: batch/plain, default/sharer-0, default/sharer-1 and 2 more
    To create the rule without evicting pods, append: `--emit-rule | kubectl apply -f -`

    More: kubectl dra simulate eviction --kubernetes-version 1.37 --node gpu-node-2 --from tests/data/snapshots/device-taints-before.yaml --now 2026-11-21T10:13:20Z --details

    ----- stderr -----
    simulation only; nothing was changed
    ");
}

#[test]
fn wide_shows_every_event() {
    let args = [
        "--pool",
        "gpu-node-2",
        "--key",
        "example.com/unhealthy",
        "-n",
        "default",
        "-o",
        "wide",
    ];
    dra_snapshot!(simulate(&args, "device-taints-before", BEFORE), @"
    exit_code: 0
    ----- stdout -----
    x 4 pods would be evicted within 50s: 4 are not recreated
    simulated taint example.com/unhealthy:NoExecute (change with --key)

    POD                            EVICTED   GONE   AFTERWARDS
    default/sharer-0               now       30s    not recreated (no controller)
    default/sharer-1               now       30s    not recreated (no controller)
    default/tolerates-any-effect   now       30s    not recreated (no controller)
    default/tolerates-20s          20s       50s    not recreated (no controller)

    3 claims release 3 devices
    `kubectl drain` would refuse pods without a controller, unless --force is given: default/sharer-0, default/sharer-1, default/tolerates-any-effect and 1 more
    To create the rule without evicting pods, append: `--emit-rule | kubectl apply -f -`
    Start:                          2026-11-21T10:13:20Z
    Evicted:
      AFTER   AT                     POD                            NODE         GRACE   OWNER    PRIORITY   REPLACEMENT   REASONS
      0s      2026-11-21T10:13:20Z   default/sharer-0               gpu-node-2   30s     <none>   0          none          rule/kubectl-dra-simulated
      0s      2026-11-21T10:13:20Z   default/sharer-1               gpu-node-2   30s     <none>   0          none          rule/kubectl-dra-simulated
      0s      2026-11-21T10:13:20Z   default/tolerates-any-effect   gpu-node-2   30s     <none>   0          none          rule/kubectl-dra-simulated
      20s     2026-11-21T10:13:40Z   default/tolerates-20s          gpu-node-2   30s     <none>   0          none          rule/kubectl-dra-simulated
    Timeline:
      AFTER   EVENT           OBJECT                                   DETAIL
      0s      RuleStatus      kubectl-dra-simulated                    True PodsPendingEviction 5 pods need to be evicted in 2 different namespaces.
      0s      PodDeleted      default/sharer-0                         rule/kubectl-dra-simulated, grace period 30s
      0s      PodDeleted      default/sharer-1                         rule/kubectl-dra-simulated, grace period 30s
      0s      PodDeleted      default/tolerates-any-effect             rule/kubectl-dra-simulated, grace period 30s
      10s     RuleStatus      kubectl-dra-simulated                    True PodsPendingEviction 1 pod needs to be evicted in 1 namespace. 4 pods evicted since starting the controller.
      20s     PodDeleted      default/tolerates-20s                    rule/kubectl-dra-simulated, grace period 30s
      30s     PodGone         default/sharer-0                         <none>
      30s     PodGone         default/sharer-1                         <none>
      30s     PodGone         default/tolerates-any-effect             <none>
      30s     RuleStatus      kubectl-dra-simulated                    False Completed 5 pods evicted since starting the controller.
      30s     ClaimReleased   default/shared                           gpu.example.com/gpu-node-2/gpu-2
      30s     ClaimReleased   default/tolerates-any-effect-gpu-tjwq4   gpu.example.com/gpu-node-2/gpu-3
      30s     ClaimDeleted    default/tolerates-any-effect-gpu-tjwq4   <none>
      50s     PodGone         default/tolerates-20s                    <none>
      50s     ClaimReleased   default/tolerates-20s-gpu-2rgld          gpu.example.com/gpu-node-2/gpu-1
      50s     ClaimDeleted    default/tolerates-20s-gpu-2rgld          <none>
    Claims Released:
      AFTER   CLAIM                                    DEVICES                            REMOVED
      30s     default/shared                           gpu.example.com/gpu-node-2/gpu-2   no
      30s     default/tolerates-any-effect-gpu-tjwq4   gpu.example.com/gpu-node-2/gpu-3   yes
      50s     default/tolerates-20s-gpu-2rgld          gpu.example.com/gpu-node-2/gpu-1   yes
    Tolerating Permanently:         <none>
    Not Evicted By The Controller:  <none>
    Disruption Budgets:             <none>
    Rules:
      RULE                    AFTER   STATUS   REASON                MESSAGE
      kubectl-dra-simulated   0s      True     PodsPendingEviction   5 pods need to be evicted in 2 different namespaces.
      kubectl-dra-simulated   10s     True     PodsPendingEviction   1 pod needs to be evicted in 1 namespace. 4 pods evicted since starting the controller.
      kubectl-dra-simulated   30s     False    Completed             5 pods evicted since starting the controller.

    ----- stderr -----
    warning: devicetaintrule/kubectl-dra-simulated selects devices of 2 drivers (gpu.example.com, nic.example.com), as it names none: set spec.deviceSelector.driver, unless all are meant
    simulation only; nothing was changed
    ");
}

#[test]
fn work_in_progress_continues() {
    let args = ["--toleration-report"];
    dra_snapshot!(simulate(&args, "taint-rules-noexecute", "2026-11-21T10:13:42Z"), @"
    exit_code: 0
    ----- stdout -----
    x 2 pods would be evicted within 60m: 2 are not recreated
    because of rule/drain-all

    POD                     EVICTED   GONE   AFTERWARDS
    default/tolerates-15s   12s       42s    not recreated (no controller)
    default/tolerates-1h    59m       60m    not recreated (no controller)

    5 claims release 5 devices
    `kubectl drain` would refuse pods without a controller, unless --force is given: default/tolerates-15s, default/tolerates-1h
    Tolerations:
      POD                     CLAIM                     DEVICE                             TAINT            TOLERATED
      default/tolerates-15s   tolerates-15s-gpu-rbv2w   gpu.example.com/gpu-node-2/gpu-1   rule/drain-all   until 2026-11-21T10:13:54Z
      default/tolerates-1h    tolerates-1h-gpu-ffpjk    gpu.example.com/gpu-node-1/gpu-2   rule/drain-all   until 2026-11-21T11:13:39Z

    More: kubectl dra simulate eviction --kubernetes-version 1.37 --toleration-report --from tests/data/snapshots/taint-rules-noexecute.yaml --now 2026-11-21T10:13:42Z --details

    ----- stderr -----
    warning: devicetaintrule/empty-selector selects devices of 2 drivers (gpu.example.com, nic.example.com), as it names none: set spec.deviceSelector.driver, unless all are meant
    simulation only; nothing was changed
    ");
}

#[test]
fn owners_and_extended_resources_are_reported() {
    let args = ["--driver", "gpu.example.com", "-n", "training"];
    dra_snapshot!(simulate(&args, "bound-pods", BEFORE), @"
    exit_code: 0
    ----- stdout -----
    x 4 pods would be evicted within 30s: 2 are recreated but stay pending; 2 are not recreated
    simulated taint kubectl-dra/simulated:NoExecute (change with --key)

    POD                    EVICTED   GONE   AFTERWARDS
    training/sweep-glg98   now       30s    job/sweep recreates it, but no node fits
    training/sweep-krgjp   now       30s    job/sweep recreates it, but no node fits
    training/trainer-0     now       30s    not recreated (no controller)
    training/trainer-1     now       30s    not recreated (no controller)

    5 claims release 20 devices
    `kubectl drain` would refuse pods without a controller, unless --force is given: training/trainer-0, training/trainer-1
    To create the rule without evicting pods, append: `--emit-rule | kubectl apply -f -`

    More: kubectl dra simulate eviction --kubernetes-version 1.37 --driver gpu.example.com -n training --from tests/data/snapshots/bound-pods.yaml --now 2026-11-21T10:13:20Z --details

    ----- stderr -----
    warning: all 2 pods of job/training/sweep would be evicted
    simulation only; nothing was changed
    ");
    dra_snapshot!(simulate(&["--driver", "gpu.example.com"], "extended-resource", BEFORE), @"
    exit_code: 0
    ----- stdout -----
    x 4 pods would be evicted within 30s: 4 are not recreated
    simulated taint kubectl-dra/simulated:NoExecute (change with --key)

    POD                      EVICTED   GONE   AFTERWARDS
    default/explicit         now       30s    not recreated (no controller)
    default/implicit         now       30s    not recreated (no controller)
    default/mixed            now       30s    not recreated (no controller)
    default/two-containers   now       30s    not recreated (no controller)

    5 claims release 7 devices
    `kubectl drain` would refuse pods without a controller, unless --force is given: default/explicit, default/implicit, default/mixed and 1 more
    To create the rule without evicting pods, append: `--emit-rule | kubectl apply -f -`

    More: kubectl dra simulate eviction --kubernetes-version 1.37 --driver gpu.example.com --from tests/data/snapshots/extended-resource.yaml --now 2026-11-21T10:13:20Z --details

    ----- stderr -----
    simulation only; nothing was changed
    ");
}

/// Pods of extended resources on tainted devices: `owner` with a claim of its own, `other-owner` with one of an earlier pod, and
/// `not-reserved`.
#[test]
fn pods_of_extended_resources_are_evicted_from_1_37_2_on() {
    const FILE: &str = "tests/data/evictions/extended-tainted.yaml";
    const BUG: &str = "kube-controller-manager before 1.37.2 ignores claims for extended resources \
                      (kubernetes/kubernetes#141290)";
    let before = [("not-reserved", BUG), ("other-owner", BUG), ("owner", BUG)];
    let after = [
        ("not-reserved", "its claim is not reserved for it"),
        ("other-owner", "its claim was created for another pod"),
    ];
    for (release, evicted, missed) in [
        ("1.36.6", &[][..], &before[..]),
        ("1.37.1", &[], &before),
        ("1.37.2", &["owner"], &after),
        // Without a patch it is the newest that is known.
        ("1.37", &["owner"], &after),
    ] {
        let of = |args: &[&str]| dra(&[args, &["--kubernetes-version", release, "--from", FILE]].concat());
        let report = of(&["simulate", "eviction", "-o", "json"]).run().json();
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let items = |part: &str| report[part].as_array().cloned().unwrap_or_default();
        let gone: Vec<String> = items("pods").iter().map(|pod| text(&pod["name"])).collect();
        assert_eq!(gone, evicted, "{release}");
        let stay: Vec<(String, String)> = items("missed")
            .iter()
            .map(|pod| (text(&pod["name"]), text(&pod["why"])))
            .collect();
        let missed: Vec<(String, String)> = missed
            .iter()
            .map(|(name, why)| ((*name).to_owned(), (*why).to_owned()))
            .collect();
        assert_eq!(stay, missed, "{release}");

        let is_bug = evicted.is_empty();
        let check = of(&["check", "--only", "known-bug", "-o", "json"]).run().stdout;
        let told = "kube-controller-manager before 1.37.2 never evicts a pod from a tainted device that it \
                   uses through an extended resource: pod/default/owner (taint ";
        assert_eq!(check.contains(told), is_bug, "{release}: {check}");
        let taints = of(&["taints"]).run();
        let told = "pod/default/owner stays on a tainted device: a known bug: kube-controller-manager before \
                   1.37.2 never evicts a pod from a tainted device that it uses through an extended resource \
                   (kubernetes/kubernetes#141290)";
        assert_eq!(
            taints.stderr.contains(told),
            is_bug,
            "{release}: {}",
            taints.stderr
        );
        assert_eq!(
            taints.stdout.contains("default/owner:now"),
            !is_bug,
            "{release}: {}",
            taints.stdout
        );
        let explained = of(&["explain", "pod/owner", "-o", "wide"]).run().stdout;
        assert_eq!(
            explained.contains("kubernetes#141290"),
            is_bug,
            "{release}: {explained}"
        );
        let described = of(&["describe", "pod", "owner", "-o", "json"]).run().json();
        assert_eq!(
            described["claims"][0]["eviction"].is_null(),
            is_bug,
            "{release}: {described:#}"
        );
        let described = of(&["describe", "claim", "owner-extended-resources-a", "-o", "json"])
            .run()
            .json();
        assert_eq!(
            described["eviction"].is_null(),
            is_bug,
            "{release}: {described:#}"
        );
        let listed = of(&["taints", "-o", "json"]).run().json();
        let is_due = listed["items"].to_string().contains("\"due\"");
        assert_eq!(is_due, !is_bug, "{release}: {listed:#}");
        if release != "1.37.2" && release != "1.37" {
            let up = of(&[
                "check",
                "--only",
                "changed-meaning",
                "--to-version",
                "1.37",
                "-o",
                "json",
            ])
            .run();
            assert_eq!(
                up.stdout.contains("kubernetes/kubernetes#141290"),
                release == "1.36.6",
                "{release}: {}",
                up.stdout
            );
        }
    }
}

#[test]
fn replacements_go_where_the_dry_run_lets_them() {
    let args = ["--node", "gpu-node-2", "-n", "training", "-o", "wide"];
    dra_snapshot!(simulate(&args, "bound-pods", BEFORE), @"
    exit_code: 0
    ----- stdout -----
    x 1 pod would be evicted within 30s: 1 is recreated
    simulated taint kubectl-dra/simulated:NoExecute (change with --key)

    POD                    EVICTED   GONE   AFTERWARDS
    training/sweep-glg98   now       30s    job/sweep recreates it: fits on gpu-node-3

    1 claim releases 4 devices
    To create the rule without evicting pods, append: `--emit-rule | kubectl apply -f -`
    Start:                          2026-11-21T10:13:20Z
    Evicted:
      AFTER   AT                     POD                    NODE         GRACE   OWNER                PRIORITY   REPLACEMENT          REASONS
      0s      2026-11-21T10:13:20Z   training/sweep-glg98   gpu-node-2   30s     job/sweep (1 of 2)   0          fits on gpu-node-3   rule/kubectl-dra-simulated-1,rule/kubectl-dra-simulated-2
    Timeline:
      AFTER   EVENT           OBJECT                               DETAIL
      0s      RuleStatus      kubectl-dra-simulated-1              True PodsPendingEviction 3 pods need to be evicted in 3 different namespaces.
      0s      PodDeleted      training/sweep-glg98                 rule/kubectl-dra-simulated-1, rule/kubectl-dra-simulated-2, grace period 30s
      0s      PodReplaced     training/sweep-sim-1                 in place of sweep-glg98
      0s      RuleStatus      kubectl-dra-simulated-2              False Completed 1 pod evicted since starting the controller.
      0s      ClaimCreated    training/sweep-sim-1-devices-sim-2   for sweep-sim-1
      0s      PodScheduled    training/sweep-sim-1                 gpu-node-3
      10s     RuleStatus      kubectl-dra-simulated-1              False Completed 3 pods evicted since starting the controller.
      30s     PodGone         training/sweep-glg98                 <none>
      30s     ClaimReleased   training/sweep-glg98-devices-m9x2c   gpu.example.com/gpu-node-2/gpu-2, nic.example.com/gpu-node-2/rdma2, gpu.example.com/gpu-node-2/gpu-3, nic.example.com/gpu-node-2/rdma3
      30s     ClaimDeleted    training/sweep-glg98-devices-m9x2c   <none>
    Claims Released:
      AFTER   CLAIM                                DEVICES                                                                                                                               REMOVED
      30s     training/sweep-glg98-devices-m9x2c   gpu.example.com/gpu-node-2/gpu-2,nic.example.com/gpu-node-2/rdma2,gpu.example.com/gpu-node-2/gpu-3,nic.example.com/gpu-node-2/rdma3   yes
    Tolerating Permanently:         <none>
    Not Evicted By The Controller:  <none>
    Disruption Budgets:             <none>
    Rules:
      RULE                      AFTER   STATUS   REASON                MESSAGE
      kubectl-dra-simulated-1   0s      True     PodsPendingEviction   3 pods need to be evicted in 3 different namespaces.
      kubectl-dra-simulated-1   10s     False    Completed             3 pods evicted since starting the controller.
      kubectl-dra-simulated-2   0s      False    Completed             1 pod evicted since starting the controller.

    ----- stderr -----
    simulation only; nothing was changed
    ");
}

#[test]
fn groups_are_members_where_they_are_known() {
    let gates = "--kcm-feature-gates=GenericWorkload=true,DRAWorkloadResourceClaims=true";
    dra_snapshot!(simulate(&["--driver", "gpu.example.com", gates], "podgroups", BEFORE), @"
    exit_code: 0
    ----- stdout -----
    x 9 pods would be evicted within 30s: 9 are not recreated; 1 finished pod would be deleted
    simulated taint kubectl-dra/simulated:NoExecute (change with --key)

    POD                      EVICTED   GONE   AFTERWARDS
    default/llm-0            now       30s    not recreated (no controller)
    default/llm-1            now       30s    not recreated (no controller)
    default/mix-0            now       30s    not recreated (no controller)
    default/mix-1            now       now    already finished
    default/mix-other-name   now       30s    not recreated (no controller)
    default/pair-0           now       30s    not recreated (no controller)
    default/pair-1           now       30s    not recreated (no controller)
    default/sim-0            now       30s    not recreated (no controller)
    default/sim-1            now       30s    not recreated (no controller)
    default/solo             now       30s    not recreated (no controller)

    2 claims release 2 devices
    `kubectl drain` would refuse pods without a controller, unless --force is given: default/llm-0, default/llm-1, default/mix-0 and 6 more
    To create the rule without evicting pods, append: `--emit-rule | kubectl apply -f -`

    More: kubectl dra simulate eviction --kubernetes-version 1.37 --driver gpu.example.com --kcm-feature-gates=GenericWorkload=true,DRAWorkloadResourceClaims=true --from tests/data/snapshots/podgroups.yaml --now 2026-11-21T10:13:20Z --details

    ----- stderr -----
    simulation only; nothing was changed
    ");
    dra_snapshot!(simulate(&["--driver", "gpu.example.com"], "podgroups-gates-off", BEFORE), @"
    exit_code: 0
    ----- stdout -----
    x 3 pods would be evicted within 30s: 3 are not recreated
    simulated taint kubectl-dra/simulated:NoExecute (change with --key)

    POD                EVICTED   GONE   AFTERWARDS
    default/conv-0     now       30s    not recreated (no controller)
    default/conv-1     now       30s    not recreated (no controller)
    default/llm-late   now       30s    not recreated (no controller)

    1 claim releases 1 device
    not evicted: pod/default/llm-0 (its claim belongs to its PodGroup, and DRAWorkloadResourceClaims is assumed off in kube-controller-manager (the default of the release))
    not evicted: pod/default/llm-1 (its claim belongs to its PodGroup, and DRAWorkloadResourceClaims is assumed off in kube-controller-manager (the default of the release))
    not evicted: pod/default/llm-2 (its claim belongs to its PodGroup, and DRAWorkloadResourceClaims is assumed off in kube-controller-manager (the default of the release))
    not evicted: pod/default/sim-0 (its claim belongs to its PodGroup, and DRAWorkloadResourceClaims is assumed off in kube-controller-manager (the default of the release))
    not evicted: pod/default/sim-1 (its claim belongs to its PodGroup, and DRAWorkloadResourceClaims is assumed off in kube-controller-manager (the default of the release))
    `kubectl drain` would refuse pods without a controller, unless --force is given: default/conv-0, default/conv-1, default/llm-late
    To create the rule without evicting pods, append: `--emit-rule | kubectl apply -f -`

    More: kubectl dra simulate eviction --kubernetes-version 1.37 --driver gpu.example.com --from tests/data/snapshots/podgroups-gates-off.yaml --now 2026-11-21T10:13:20Z --details

    ----- stderr -----
    warning: this depends on DRAWorkloadResourceClaims, assumed off in kube-controller-manager (the default of the release): if it is on, 5 pods are evicted as well: pod/default/llm-0, pod/default/llm-1, pod/default/llm-2 and 2 more
    simulation only; nothing was changed
    ");
}

#[test]
fn no_pod_goes_without_a_taint() {
    dra_snapshot!(simulate(&["--fail-on-eviction"], "device-taints-before", BEFORE), @"
    exit_code: 0
    ----- stdout -----
    ok no pod would be evicted

    ----- stderr -----
    simulation only; nothing was changed
    ");
}

#[test]
fn an_eviction_can_be_a_failure() {
    let args = ["--fail-on-eviction", "--driver", "gpu.example.com"];
    let run = simulate(&args, "device-taints-before", BEFORE).run();
    assert_eq!(run.code, Some(1));
}

#[test]
fn rules_can_be_printed() {
    let args = [
        "--emit-rule",
        "--node",
        "gpu-node-1",
        "--key",
        "example.com/repair=psu",
    ];
    dra_snapshot!(simulate(&args, "device-taints-before", BEFORE), @r#"
    exit_code: 0
    ----- stdout -----
    apiVersion: resource.k8s.io/v1
    kind: DeviceTaintRule
    metadata:
      name: "kubectl-dra-simulated-1"
    spec:
      deviceSelector:
        driver: "gpu.example.com"
        pool: "gpu-node-1"
      taint:
        key: "example.com/repair"
        value: "psu"
        # The controller counts the pods. To evict them, change this to NoExecute.
        effect: None
    ---
    apiVersion: resource.k8s.io/v1
    kind: DeviceTaintRule
    metadata:
      name: "kubectl-dra-simulated-2"
    spec:
      deviceSelector:
        driver: "nic.example.com"
        pool: "gpu-node-1"
      taint:
        key: "example.com/repair"
        value: "psu"
        # The controller counts the pods. To evict them, change this to NoExecute.
        effect: None

    ----- stderr -----
    "#);
    dra_snapshot!(simulate(&["--emit-rule"], "device-taints-before", BEFORE), @r"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: `--emit-rule` needs a rule

    hint: select devices with `--node`, `--driver`, `--pool` or `--device`, or pass a file with `--rule`
    ");
}

#[test]
fn older_releases_do_what_they_did() {
    let gates = "--kcm-feature-gates=DRADeviceTaints=true,DRADeviceTaintRules=true";
    let file = "tests/data/snapshots/stale-reservations.yaml";
    let of = |more: &[&str]| {
        let command = [
            "simulate",
            "eviction",
            "--driver",
            "gpu.example.com",
            "--kubernetes-version",
            "1.35",
        ];
        dra(&[&command, more, &["--from", file, "--now", BEFORE]].concat())
    };
    dra_snapshot!(of(&[gates]), @"
    exit_code: 0
    ----- stdout -----
    x 2 pods would be evicted within 30s: 2 are not recreated; 1 finished pod would be deleted
    simulated taint kubectl-dra/simulated:NoExecute (change with --key)

    POD            EVICTED   GONE   AFTERWARDS
    default/d      now       30s    not recreated (no controller)
    default/done   now       now    already finished
    default/f      now       30s    not recreated (no controller)

    2 claims release 2 devices
    not evicted: pod/default/again (its claim is not reserved for it)
    `kubectl drain` would refuse pods without a controller, unless --force is given: default/d, default/f
    To create the rule without evicting pods, append: `--emit-rule | kubectl apply -f -`

    More: kubectl dra simulate eviction --driver gpu.example.com --kubernetes-version 1.35 --kcm-feature-gates=DRADeviceTaints=true,DRADeviceTaintRules=true --from tests/data/snapshots/stale-reservations.yaml --now 2026-11-21T10:13:20Z --details

    ----- stderr -----
    simulation only; nothing was changed
    ");
    // Taints evict no pod by default there.
    assert_eq!(of(&["--fail-on-eviction"]).run().code, Some(0));
}

#[test]
fn reports_are_valid_under_their_schema() {
    let gpus = ["--driver", "gpu.example.com"];
    for (snapshot, args) in [
        (
            "device-taints-before",
            &["--driver", "gpu.example.com", "--toleration-report"][..],
        ),
        ("taint-rules-noexecute", &[]),
        ("bound-pods", &gpus),
        ("extended-resource", &gpus),
        ("stale-reservations", &gpus),
        ("podgroups", &gpus),
    ] {
        let run = simulate(&[args, &["-o", "json"]].concat(), snapshot, BEFORE).run();
        assert_schema!(&run.stdout);
    }
}
