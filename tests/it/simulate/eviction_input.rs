//! Handling of odd input by `simulate eviction`, `taints` and `check`: each kind has one answer, and one exit code.

use serde_json::{Value, json};

use super::Manifest;
use crate::support::command::{dra, dra_snapshot};
use crate::support::process::{Invocation, Screen};

/// Before anything happens in `device-taints-before`.
const NOW: &str = "2026-11-21T10:13:20Z";

fn simulate(args: &[&str]) -> Invocation {
    let file = "tests/data/snapshots/device-taints-before.yaml";
    let command = ["simulate", "eviction", "--kubernetes-version", "1.37"];
    dra(&[&command, args, &["--from", file, "--now", NOW]].concat())
}

/// The simulation with this rule, whose file is called FILE.
fn with_rule(rule: &Value) -> String {
    let mut manifest = json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceTaintRule"});
    for (key, value) in rule.as_object().expect("an object") {
        manifest[key] = value.clone();
    }
    let file = Manifest::new(&manifest.to_string());
    let path = file.path().display().to_string();
    let run = simulate(&["--rule", &path]).run();
    let text = crate::support::command::seen(run);
    text.replace(&path, "FILE")
}

#[test]
fn an_unknown_effect_is_refused() {
    dra_snapshot!(simulate(&["--taint", "gpu.example.com/gpu-node-1/gpu-0=k:Later"]), @"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: invalid value `gpu.example.com/gpu-node-1/gpu-0=k:Later` for `--taint`: invalid effect `Later`: expected NoSchedule, NoExecute or None

    hint: kubectl dra simulate eviction --kubernetes-version 1.37 --taint gpu.example.com/gpu-node-1/gpu-0=maintenance:NoExecute --from tests/data/snapshots/device-taints-before.yaml --now 2026-11-21T10:13:20Z
    ");
    let rule = json!({"metadata": {"name": "odd"}, "spec": {"deviceSelector": {}, "taint": {"key": "k", "effect": "Later"}}});
    insta::assert_snapshot!(with_rule(&rule), @r"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: the API server rejects effect `Later` of devicetaintrule/odd: it accepts `NoExecute`, `NoSchedule` and `None`
    ");
}

#[test]
fn a_taint_of_nothing_or_without_a_key_is_refused() {
    dra_snapshot!(simulate(&["--taint", "gpu-0=k:NoExecute"]), @"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: invalid value `gpu-0=k:NoExecute` for `--taint`: invalid device `gpu-0`: expected DRIVER/POOL/DEVICE

    hint: kubectl dra simulate eviction --kubernetes-version 1.37 --taint gpu.example.com/gpu-node-1/gpu-0=maintenance:NoExecute --from tests/data/snapshots/device-taints-before.yaml --now 2026-11-21T10:13:20Z
    ");
    dra_snapshot!(simulate(&["--taint", "gpu.example.com/gpu-node-1/gpu-0=:NoExecute"]), @"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: invalid value `gpu.example.com/gpu-node-1/gpu-0=:NoExecute` for `--taint`: invalid taint `gpu.example.com/gpu-node-1/gpu-0=:NoExecute`: expected DRIVER/POOL/DEVICE=KEY[=VALUE]:EFFECT

    hint: kubectl dra simulate eviction --kubernetes-version 1.37 --taint gpu.example.com/gpu-node-1/gpu-0=maintenance:NoExecute --from tests/data/snapshots/device-taints-before.yaml --now 2026-11-21T10:13:20Z
    ");
    dra_snapshot!(simulate(&["--node", "no-such-node"]), @r"
    exit_code: 3
    ----- stdout -----

    ----- stderr -----
    error: node/no-such-node not found

    hint: there are 2 nodes: `gpu-node-1`, `gpu-node-2`
    ");
}

#[test]
fn a_taint_on_a_device_that_is_gone_is_refused() {
    dra_snapshot!(simulate(&["--taint", "gpu.example.com/gpu-node-1/gpu-99=k:NoExecute"]), @"
    exit_code: 4
    ----- stdout -----
    !! unknown whether a pod would be evicted: see the warnings

    ----- stderr -----
    warning: no device `gpu.example.com/gpu-node-1/gpu-99`: no slice publishes it, and no claim holds it; did you mean `gpu-0` or `gpu-1` or `gpu-2`?
    simulation only; nothing was changed
    ");
    // The same of a simulated allocation.
    let args = [
        "simulate",
        "allocation",
        "claim/default/shared",
        "--taint",
        "gpu.example.com/gpu-node-1/gpu-99=k:NoExecute",
    ];
    let file = [
        "--from",
        "tests/data/snapshots/device-taints-before.yaml",
        "--kubernetes-version",
        "1.37",
    ];
    dra_snapshot!(dra(&[&args[..], &file].concat()), @"
    exit_code: 4
    ----- stdout -----
    Object:     claim/default/shared
    As If:      --taint gpu.example.com/gpu-node-1/gpu-99=k:NoExecute
    Result:     Unknown
    Exactness:  by the known rules; kube-scheduler may decide otherwise
    Unknown:    no device `gpu.example.com/gpu-node-1/gpu-99`: no slice publishes it, and no claim holds it; did you mean `gpu-0` or `gpu-1` or `gpu-2`?

    ----- stderr -----
    warning: tests/data/snapshots/device-taints-before.yaml does not record when it was read; assuming 2026-11-21T10:13:21Z, the newest time of its objects (--now)
    ");
    // A rule can be about it, as claims can still hold it.
    dra_snapshot!(simulate(&["--device", "gpu-99"]), @"
    exit_code: 4
    ----- stdout -----
    !! unknown whether a pod would be evicted: see the warnings

    ----- stderr -----
    warning: no device `*/*/gpu-99`: no slice publishes it, and no claim holds it; did you mean `gpu-0` or `gpu-1` or `gpu-2`?
    warning: devicetaintrule/kubectl-dra-simulated matches no published or allocated device
    simulation only; nothing was changed
    ");
}

#[test]
fn a_rule_without_a_spec_is_refused() {
    insta::assert_snapshot!(with_rule(&json!({"metadata": {"name": "empty"}})), @"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: cannot read rules from FILE: the files contain objects that no API server returns
      FILE:1: `DeviceTaintRule/empty`: spec.taint.key: Required value: no API server accepts a taint without key and effect

    hint: fix the object in the file, or remove it
    ");
    let no_rule = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}});
    insta::assert_snapshot!(with_rule(&no_rule), @r"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: FILE contains no DeviceTaintRule
    ");
}

#[test]
fn taints_of_an_unknown_driver_have_no_verdict() {
    dra_snapshot!(simulate(&["--driver", "tpu.example.com"]), @"
    exit_code: 4
    ----- stdout -----
    !! unknown whether a pod would be evicted: see the warnings

    ----- stderr -----
    warning: no device `tpu.example.com/*/*`: no slice publishes it, and no claim holds it; did you mean `gpu.example.com` or `nic.example.com`?
    warning: devicetaintrule/kubectl-dra-simulated matches no published or allocated device
    simulation only; nothing was changed
    ");
    let selector = json!({"driver": "tpu.example.com"});
    let rule = json!({"metadata": {"name": "tpus"}, "spec": {"deviceSelector": selector, "taint": {"key": "k", "effect": "NoExecute"}}});
    insta::assert_snapshot!(with_rule(&rule), @"
    exit_code: 4
    ----- stdout -----
    !! unknown whether a pod would be evicted: see the warnings

    ----- stderr -----
    warning: devicetaintrule/tpus matches no published or allocated device
    simulation only; nothing was changed
    ");
    let without =
        json!({"metadata": {"name": "none"}, "spec": {"taint": {"key": "k", "effect": "NoExecute"}}});
    insta::assert_snapshot!(with_rule(&without), @"
    exit_code: 4
    ----- stdout -----
    !! unknown whether a pod would be evicted: see the warnings

    ----- stderr -----
    warning: devicetaintrule/none has no deviceSelector, so it matches no device
    simulation only; nothing was changed
    ");
}

/// A cluster with all of it: as the API server would refuse most of this, it can only come from elsewhere.
fn cluster() -> Manifest {
    let taint = |effect: &str| json!({"key": "k", "effect": effect, "timeAdded": "2026-11-21T10:00:00Z"});
    let mut items = vec![
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "node-d"}, "spec": {
            "driver": "d", "nodeName": "node", "pool": {"name": "node", "generation": 1, "resourceSliceCount": 1}, "devices": [
                {"name": "below", "taints": [taint("NoExecute")]}, {"name": "beyond", "taints": [taint("NoExecute")]},
                {"name": "later", "taints": [taint("Later")]}]}}),
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceTaintRule", "metadata": {"name": "empty"}, "spec": {"taint": taint("NoExecute")}}),
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceTaintRule", "metadata": {"name": "gone"}, "spec": {
            "deviceSelector": {"driver": "d", "device": "gone"}, "taint": taint("NoExecute")}}),
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceTaintRule", "metadata": {"name": "nosuch"}, "spec": {
            "deviceSelector": {"driver": "nosuch"}, "taint": taint("NoExecute")}}),
    ];
    for (device, seconds) in [
        ("below", Some(-5)),
        ("beyond", Some(9_300_000_000_i64)),
        ("later", None),
        ("gone", None),
    ] {
        let toleration = json!({"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds});
        let tolerations = if seconds.is_some() {
            json!([toleration])
        } else {
            json!([])
        };
        items.push(json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
            "metadata": {"namespace": "n", "name": device, "uid": format!("{device}-claim")},
            "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "d"}}]}},
            "status": {"reservedFor": [{"resource": "pods", "name": device, "uid": device}], "allocation": {"devices": {"results": [
                {"request": "r", "driver": "d", "pool": "node", "device": device, "tolerations": tolerations}]}}}}));
        items.push(json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "n", "name": device, "uid": device},
            "spec": {"nodeName": "node", "resourceClaims": [{"name": "c", "resourceClaimName": device}]}, "status": {"phase": "Running"}}));
    }
    items.push(json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "d"}, "spec": {}}));
    Manifest::new(&json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string())
}

fn look(args: &[&str]) -> String {
    let file = cluster();
    let path = file.path().display().to_string();
    let source = [
        "--from",
        path.as_str(),
        "--now",
        NOW,
        "--kubernetes-version",
        "1.37",
        "--complete",
    ];
    let run = dra(&[args, &source].concat()).run();
    crate::support::command::seen(run).replace(&path, "FILE")
}

#[test]
fn what_a_cluster_has_all_the_same_has_an_answer() {
    insta::assert_snapshot!(look(&["simulate", "eviction"]), @"
    exit_code: 0
    ----- stdout -----
    x 3 pods would be evicted within 30s: 3 are not recreated
    because of rule/gone, slice/node-d below k, slice/node-d beyond k

    POD        EVICTED   GONE   AFTERWARDS
    n/below    now       30s    not recreated (no controller)
    n/beyond   now       30s    not recreated (no controller)
    n/gone     now       30s    not recreated (no controller)

    `kubectl drain` would refuse pods without a controller, unless --force is given: n/below, n/beyond, n/gone

    More: kubectl dra simulate eviction --from FILE --now 2026-11-21T10:13:20Z --kubernetes-version 1.37 --complete --details

    ----- stderr -----
    warning: claim/n/beyond tolerates a taint for more than 9223372036 seconds, which overflows in Kubernetes: its pods may be evicted immediately
    simulation only; nothing was changed
    ");
    insta::assert_snapshot!(look(&["taints"]), @"
    exit_code: 0
    ----- stdout -----
    SOURCE         EFFECT      TAINT   AGE   DEVICES                  CLAIMS             PODS               TOLERATED                                                                          EVICTED
    rule/empty     NoExecute   k       13m   <none>                   <none>             <none>             <none>                                                                             <none>
    rule/gone      NoExecute   k       13m   node/gone                n/gone             n/gone             <none>                                                                             n/gone:now
    rule/nosuch    NoExecute   k       13m   <none>                   <none>             <none>             <none>                                                                             <none>
    slice/node-d   NoExecute   k       13m   node/below,node/beyond   n/below,n/beyond   n/below,n/beyond   n/below:until-2026-11-21T10:00:00Z,n/beyond:until-1737-01-15T07:45:26.290448384Z   n/below:now,n/beyond:now
    slice/node-d   Later       k       13m   node/later               n/later            n/later            <none>                                                                             <none>

    ----- stderr -----
    ");
    insta::assert_snapshot!(look(&["check"]), @"
    exit_code: 1
    ----- stdout -----
    SEVERITY   CODE     CERTAINTY   OBJECT                   MESSAGE
    Warning    DRA004   Possible    resourceclaim/n/gone     holds d/node/gone, which no ResourceSlice of the newest generation lists: the driver does not run there, omits devices in use, or the device is gone
    Warning    DRA029   Confirmed   resourceclaim/n/below    tolerationSeconds: -5 seconds for any taint count as 0
    Warning    DRA029   Confirmed   resourceclaim/n/beyond   tolerationSeconds: 9300000000 seconds for any taint overflow 64 bits of nanoseconds, and usually expire immediately
    Warning    DRA034   Possible    resourceslice/node-d     publishes 3 devices of driver d for node/node, which does not exist
    Warning    DRA042   Confirmed   resourceslice/node-d     later has a taint with an unknown effect: k:Later
    Info       DRA041   Confirmed   devicetaintrule/empty    has no deviceSelector: it matches no device
    Info       DRA043   Possible    devicetaintrule/nosuch   selects driver nosuch, but no device in 1 pool matches: it has no effect until such a device is published

    ----- stderr -----
    5 warnings, 2 infos in all namespaces
    ");
}

/// Where pods could not be read, the first line of a terminal does not say that no pod would be evicted.
#[test]
fn a_terminal_shows_what_is_unknown() {
    let seen = |from: &str| {
        let run = dra(&["simulate", "eviction", "--from", from])
            .env("NO_COLOR", "1")
            .run_on_screen(80, Screen::Stdout);
        run.stdout.lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(seen("example:gpus"), "ok no pod would be evicted");
    let folder = tempfile::tempdir().expect("a temporary directory");
    let file = folder.path().join("slices.json");
    let slice = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s", "uid": "s"},
        "spec": {"driver": "d", "nodeName": "n", "pool": {"name": "n", "generation": 1, "resourceSliceCount": 1}, "devices": []}});
    let list = json!({"apiVersion": "v1", "kind": "List", "items": [slice]});
    std::fs::write(&file, list.to_string()).expect("the file can be written");
    assert_eq!(
        seen(file.to_str().expect("UTF-8")),
        "!! unknown whether a pod would be evicted: see the warnings"
    );
}
