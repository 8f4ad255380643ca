//! The reason why pods do not get their devices, and what would help.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::{Manifest, NOW, on};
use crate::support::cluster::Recorded;
use crate::support::command::{dra, dra_snapshot};
use crate::support::process::Run;
use crate::support::schema::assert_valid;

fn explained(pod: &str, snapshot: &str, gates: &[&str]) -> Value {
    let from = format!("tests/data/snapshots/{snapshot}.yaml");
    let args = [
        &["explain", pod, "-o", "json", "--from", &from, "--now", NOW],
        gates,
    ]
    .concat();
    assert_valid(&dra(&args).run().stdout)
}

/// `kind target` of each fix, with what is claimed of it.
fn fixes(explanation: &Value) -> Vec<String> {
    let fixes = explanation["fixes"].as_array().expect("fixes");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let word = |fix: &Value| match (fix["proven"].as_bool(), fix["minimal"].as_bool()) {
        (Some(true), Some(true)) => "smallest",
        (Some(true), _) => "sufficient",
        _ => "unproven",
    };
    fixes
        .iter()
        .map(|fix| format!("{} ({})", text(&fix["message"]), word(fix)))
        .collect()
}

/// Every pod of the snapshots that has no node: the file and its name.
pub(super) fn pending() -> BTreeSet<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/snapshots");
    let mut all = BTreeSet::new();
    for file in std::fs::read_dir(folder).expect("the snapshots are there") {
        let path = file.expect("a folder that can be read").path();
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        let file = path.file_stem().expect("a name").to_string_lossy().into_owned();
        for pod in Recorded::read(&file).pending() {
            assert_eq!(pod["metadata"]["namespace"], "default", "{pod:#}");
            all.insert((
                file.clone(),
                pod["metadata"]["name"].as_str().expect("a name").to_owned(),
            ));
        }
    }
    all
}

#[test]
fn every_unschedulable_pod_has_its_blocker_and_what_would_help() {
    let mut all = String::new();
    let groups = "--feature-gates=GenericWorkload=true,DRAWorkloadResourceClaims=true";
    let alpha = "--feature-gates=AllAlpha=true";
    let (old, older) = ("--kubernetes-version=1.36", "--kubernetes-version=1.35");
    let current = "--kubernetes-version=1.37";
    let mut left = pending();
    for (pod, snapshot, flag) in [
        ("cel-mismatch", "unschedulable-pods", current),
        ("cel-error", "unschedulable-pods", current),
        ("too-many", "unschedulable-pods", current),
        ("not-enough-free", "unschedulable-pods", current),
        ("tainted", "unschedulable-pods", current),
        ("constraint-conflict", "unschedulable-pods", current),
        ("two-requests", "unschedulable-pods", current),
        ("missing-class", "unschedulable-pods", current),
        ("missing-claim", "unschedulable-pods", current),
        ("missing-template", "unschedulable-pods", current),
        ("all-incomplete-pool", "unschedulable-pods", current),
        ("old-generation", "unschedulable-pods", current),
        ("wrong-node", "unschedulable-pods", current),
        ("nine", "consumable-capacity", current),
        ("six-2", "consumable-capacity", current),
        ("large", "partitionable", current),
        ("whole", "partitionable", current),
        ("too-many", "extended-resource", current),
        ("sim-late", "podgroups", groups),
        ("raw-late", "downgrade-groups-1.37", groups),
        ("sim-late", "downgrade-groups-1.37", groups),
        ("raw-late", "downgrade-groups-1.36", old),
        ("sim-late", "downgrade-groups-1.36", old),
        ("raw-late", "downgrade-groups-1.35", older),
        ("sim-late", "downgrade-groups-1.35", older),
        ("waits", "binding-conditions", current),
        ("waits", "downgrade-features-1.37", alpha),
        ("listed-0", "downgrade-features-1.37", alpha),
        ("listed-0", "downgrade-features-1.36", old),
        ("new-ext", "downgrade-features-1.36", old),
        ("new-fabric", "downgrade-features-1.36", old),
        ("new-four", "downgrade-features-1.36", old),
        ("new-taint", "downgrade-features-1.36", old),
        ("waits", "downgrade-features-1.36", old),
        ("listed-0", "downgrade-features-1.35", older),
        ("new-best", "downgrade-features-1.35", older),
        ("new-ext", "downgrade-features-1.35", older),
        ("new-fabric", "downgrade-features-1.35", older),
        ("new-four", "downgrade-features-1.35", older),
        ("new-mig", "downgrade-features-1.35", older),
    ] {
        assert!(
            left.remove(&(snapshot.to_owned(), pod.to_owned())),
            "{snapshot} {pod}"
        );
        let explanation = explained(&format!("pod/{pod}"), snapshot, &[flag]);
        all.push_str(&format!(
            "{snapshot} {pod}: {}\n",
            explanation["verdict"].as_str().unwrap()
        ));
        let mut codes: Vec<String> = Vec::new();
        let nodes = explanation["nodes"].as_array().unwrap().iter();
        let reasons = nodes.flat_map(|node| node["reasons"].as_array().unwrap());
        for reason in explanation["reasons"]
            .as_array()
            .into_iter()
            .flatten()
            .chain(reasons)
        {
            let code = reason["code"].as_str().unwrap().to_owned();
            if !codes.contains(&code) {
                codes.push(code);
            }
        }
        all.push_str(&format!("  {}\n", codes.join(" ")));
        for fix in fixes(&explanation) {
            all.push_str(&format!("  - {fix}\n"));
        }
    }
    assert!(left.is_empty(), "not explained: {left:?}");
    insta::assert_snapshot!(all, @"
    unschedulable-pods cel-mismatch: DoesNotFit
      TooFewDevices InUse RequestSelector ClassSelector PoolIncomplete NoDevices
      - leave out `device.attributes['gpu.example.com'].model == 'B200'` in template/default/cel-mismatch request gpu (smallest)
    unschedulable-pods cel-error: Error
      Error PoolIncomplete NoDevices
      - leave out `device.attributes['gpu.example.com'].firmware == '1.2'` in template/default/cel-error request gpu (smallest)
    unschedulable-pods too-many: DoesNotFit
      TooFewDevices InUse Tainted ClassSelector PoolIncomplete NoDevices
      - ask for 1 in template/default/too-many request gpu (smallest)
    unschedulable-pods not-enough-free: DoesNotFit
      TooFewDevices InUse Tainted ClassSelector PoolIncomplete NoDevices RequestSelector
      - ask for 1 in template/default/not-enough-free request gpu (smallest)
      - end the pods that use claim/default/fills-node-1-gpu-5c9lh: fills-node-1 (smallest)
      - tolerate the device taint example.com/unhealthy:NoExecute in template/default/not-enough-free request gpu (smallest)
      - tolerate the device taint example.com/unhealthy:NoSchedule in template/default/not-enough-free request gpu (smallest)
      - have the driver lift the taint example.com/unhealthy:NoExecute from the devices of pool gpu.example.com/gpu-node-2 (smallest)
      - have the driver lift the taint example.com/unhealthy:NoSchedule from the devices of pool gpu.example.com/gpu-node-2 (smallest)
    unschedulable-pods tainted: DoesNotFit
      TooFewDevices InUse ClassSelector Tainted PoolIncomplete NoDevices RequestSelector
      - ask for 4 in template/default/tainted request gpu (smallest)
      - tolerate the device taint example.com/unhealthy:NoExecute in template/default/tainted request gpu (smallest)
      - have the driver lift the taint example.com/unhealthy:NoExecute from the devices of pool gpu.example.com/gpu-node-2 (smallest)
    unschedulable-pods constraint-conflict: DoesNotFit
      TooFewDevices InUse Tainted ClassSelector PoolIncomplete NoDevices RequestSelector
      - ask for 1 in template/default/constraint-conflict request gpu (smallest)
    unschedulable-pods two-requests: DoesNotFit
      NotTogether InUse RequestSelector ClassSelector TooFewDevices Tainted PoolIncomplete NoDevices
      - leave out `device.attributes['gpu.example.com'].index == 6` in template/default/two-requests request a; end the pods that use claim/default/fills-node-1-gpu-5c9lh: fills-node-1 (smallest)
      - leave out `device.attributes['gpu.example.com'].index == 6` in template/default/two-requests request a; end the pods that use claim/default/on-node-1: holder (smallest)
      - leave out `device.attributes['gpu.example.com'].index == 6` in template/default/two-requests request b; end the pods that use claim/default/fills-node-1-gpu-5c9lh: fills-node-1 (smallest)
      - leave out `device.attributes['gpu.example.com'].index == 6` in template/default/two-requests request b; end the pods that use claim/default/on-node-1: holder (smallest)
      - leave out `device.attributes['gpu.example.com'].index == 6` in template/default/two-requests request a; tolerate the device taint example.com/unhealthy:NoSchedule in template/default/two-requests request a (smallest)
      - leave out `device.attributes['gpu.example.com'].index == 6` in template/default/two-requests request a; have the driver lift the taint example.com/unhealthy:NoSchedule from the devices of pool gpu.example.com/gpu-node-1 (smallest)
    unschedulable-pods missing-class: DoesNotFit
      ClassMissing
      - create deviceclass/tpu.example.com (unproven)
      - name class gpu.example.com in template/default/missing-class request gpu (smallest)
      - name class nic.example.com in template/default/missing-class request gpu (smallest)
    unschedulable-pods missing-claim: Waits
      ClaimMissing
      - create claim/default/nowhere (unproven)
    unschedulable-pods missing-template: Waits
      ClaimNotCreated TemplateMissing
      - create resourceclaimtemplate/default/no (unproven)
    unschedulable-pods all-incomplete-pool: Error
      TooFewDevices InUse RequestSelector ClassSelector Error
      - ask for 1 in template/default/all-incomplete-pool request gpu (smallest)
    unschedulable-pods old-generation: DoesNotFit
      TooFewDevices InUse RequestSelector ClassSelector PoolIncomplete NoDevices
      - ask for 1 in template/default/old-generation request gpu (smallest)
    unschedulable-pods wrong-node: DoesNotFit
      NodeAffinity AllocatedElsewhere
      - leave out the node selector on kubernetes.io/hostname in pod/default/wrong-node (smallest)
    consumable-capacity nine: DoesNotFit
      TooFewDevices CapacityPolicy
      - ask for 2G of bandwidth in template/default/nine request nic (smallest)
    consumable-capacity six-2: DoesNotFit
      TooFewDevices CapacityExhausted
      - ask for 2G of bandwidth in template/default/six request nic (smallest)
      - end the pods that use claim/default/six-0-nic-j8kc9: six-0 (smallest)
      - end the pods that use claim/default/six-1-nic-bl6l7: six-1 (smallest)
    partitionable large: DoesNotFit
      TooFewDevices RequestSelector InUse CounterExhausted
      - leave out `device.attributes['gpu.example.com'].profile == '3g.40gb'` in template/default/large request gpu (smallest)
      - end the pods that use claim/default/best-0-gpu-zzrc5: best-0 (smallest)
    partitionable whole: DoesNotFit
      TooFewDevices CounterExhausted InUse RequestSelector
      - leave out `device.attributes['gpu.example.com'].profile == 'full'` in template/default/whole request gpu (smallest)
    extended-resource too-many: DoesNotFit
      TooFewDevices InUse ClassSelector
      - ask for 5 of example.com/gpu in container main of pod/default/too-many (smallest)
    podgroups sim-late: DoesNotFit
      NodeAffinity
      - leave out the node selector on kubernetes.io/hostname in pod/default/sim-late (smallest)
    downgrade-groups-1.37 raw-late: DoesNotFit
      NodeAffinity
      - leave out the node selector on kubernetes.io/hostname in pod/default/raw-late (smallest)
    downgrade-groups-1.37 sim-late: DoesNotFit
      NodeAffinity
      - leave out the node selector on kubernetes.io/hostname in pod/default/sim-late (smallest)
    downgrade-groups-1.36 raw-late: DoesNotFit
      NodeAffinity
      - leave out the node selector on kubernetes.io/hostname in pod/default/raw-late (smallest)
    downgrade-groups-1.36 sim-late: DoesNotFit
      NodeAffinity
      - leave out the node selector on kubernetes.io/hostname in pod/default/sim-late (smallest)
    downgrade-groups-1.35 raw-late: DoesNotFit
      NodeAffinity
      - leave out the node selector on kubernetes.io/hostname in pod/default/raw-late (smallest)
    downgrade-groups-1.35 sim-late: Waits
      ClaimNotOwned
      - delete pod/default/sim-late and create it again, so that it gets claims of its own; leave out the node selector on kubernetes.io/hostname in pod/default/sim-late (smallest)
    binding-conditions waits: DoesNotFit
      BindingFailed ReleasedByScheduler
      - wait until the scheduler deallocates claim/default/waits-gpu-27ljm, which no other pod uses (smallest)
      - have driver gpu.example.com attach the device in time (unproven)
    downgrade-features-1.37 waits: Fits
      BindingPending NodeAffinity
      - wait until the driver reports condition example.com/attached of device gpu-1 in claim/default/waits-gpu-w7cpb as true (unproven)
    downgrade-features-1.37 listed-0: DoesNotFit
      NodeAffinity TooFewDevices InUse RequestSelector
      - leave out `device.attributes['list.example.com'].numa == 0` in claim/default/listed request d (smallest)
      - end the pods that use claim/default/derived: derived-0 (smallest)
    downgrade-features-1.36 listed-0: DoesNotFit
      NodeAffinity TooFewDevices InUse
      - leave out `device.attributes['list.example.com'].numa == 0` in claim/default/listed request d; end the pods that use claim/default/new-list-gpu-mwnhk: new-list (smallest)
    downgrade-features-1.36 new-ext: DoesNotFit
      TooFewDevices InUse NodeAffinity
      - end the pods that use claim/default/ext-0-extended-resources-lcwxl: ext-0 (smallest)
      - end the pods that use claim/default/new-anywhere-gpu-zm45f: new-anywhere (smallest)
      - end the pods that use claim/default/new-gpu-gpu-nz2wj: new-gpu (smallest)
    downgrade-features-1.36 new-fabric: DoesNotFit
      NodeAffinity TooFewDevices InUse
      - end the pods that use claim/default/attached-gpu-5f7t9: attached (smallest)
      - end the pods that use claim/default/waits-gpu-w7cpb: waits (smallest)
    downgrade-features-1.36 new-four: DoesNotFit
      NodeAffinity TooFewDevices CapacityExhausted
      - ask for 2G of bandwidth in template/default/four request nic (smallest)
      - end the pods that use claim/default/four-0-nic-xrn2w: four-0 (smallest)
      - end the pods that use claim/default/four-1-nic-cf8wx: four-1 (smallest)
    downgrade-features-1.36 new-taint: DoesNotFit
      NodeAffinity TooFewDevices InUse Tainted
      - ask for 1 in template/default/any-taint request d (smallest)
      - end the pods that use claim/default/skips: skips-0 (smallest)
    downgrade-features-1.36 waits: Fits
      BindingPending NodeAffinity
      - wait until the driver reports condition example.com/attached of device gpu-1 in claim/default/waits-gpu-w7cpb as true (unproven)
    downgrade-features-1.35 listed-0: DoesNotFit
      NodeAffinity TooFewDevices InUse
      - leave out `device.attributes['list.example.com'].numa == 0` in claim/default/listed request d; end the pods that use claim/default/new-list-gpu-wxmsb: new-list (smallest)
    downgrade-features-1.35 new-best: DoesNotFit
      NodeAffinity TooFewDevices PartitionableDevicesOff InUse RequestSelector
    downgrade-features-1.35 new-ext: DoesNotFit
      NodeResourcesFit NodeAffinity
    downgrade-features-1.35 new-fabric: DoesNotFit
      NodeAffinity TooFewDevices InUse
      - leave out the node selector on kubernetes.io/hostname in pod/default/new-fabric; end the pods that use claim/default/ext-0-extended-resources-lcwxl: ext-0 (smallest)
      - leave out the node selector on kubernetes.io/hostname in pod/default/new-fabric; end the pods that use claim/default/new-anywhere-gpu-vgpsw: new-anywhere (smallest)
      - leave out the node selector on kubernetes.io/hostname in pod/default/new-fabric; end the pods that use claim/default/new-gpu-gpu-4r76d: new-gpu (smallest)
    downgrade-features-1.35 new-four: DoesNotFit
      NodeAffinity TooFewDevices InUse
      - end the pods that use claim/default/four-0-nic-xrn2w: four-0; end the pods that use claim/default/four-1-nic-cf8wx: four-1 (smallest)
    downgrade-features-1.35 new-mig: DoesNotFit
      NodeAffinity TooFewDevices RequestSelector InUse PartitionableDevicesOff
    ");
}

#[test]
fn an_explanation_goes_down_to_each_device() {
    dra_snapshot!(on(&["explain", "pod/cel-mismatch"], "unschedulable-pods"), @r#"
    exit_code: 1
    ----- stdout -----
    x pod/default/cel-mismatch waits: none of 21 devices of class gpu.example.com has model B200: there is A100-SXM4-80GB and H100-SXM5-80GB

    Nodes:
      NODE                    WANTED   MATCH   IN USE   TAINTED   USABLE
      gpu-node-1,gpu-node-2   1        0       0        0         0
      gpu-node-4              1        0       0        0         0
      gpu-node-1,gpu-node-2: model is "H100-SXM5-80GB"
      gpu-node-4: model is "A100-SXM4-80GB"
      gpu-node-3: pool incomplete, 1 of 2 slices

    Whether waiting helps is not known: pool gpu.example.com/gpu-node-3 cannot be used as it is; elsewhere it never helps: with every device free and untainted it does not fit either

    Scheduler: 0/4 nodes are available: 4 cannot allocate all claims. preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling.

    What would help:
      1. leave out `device.attributes['gpu.example.com'].model == 'B200'` in template/default/cel-mismatch request gpu (tested: fits on gpu-node-1,gpu-node-4; gets gpu-6, model is "H100-SXM5-80GB")
         kubectl patch resourceclaimtemplate/cel-mismatch --namespace=default --type=json -p '[{"op":"test","path":"/spec/spec/devices/requests/0/name","value":"gpu"},{"op":"test","path":"/spec/spec/devices/requests/0/exactly/selectors/0/cel/expression","value":"device.attributes['\''gpu.example.com'\''].model == '\''B200'\''"},{"op":"remove","path":"/spec/spec/devices/requests/0/exactly/selectors/0"}]' --dry-run=client -o yaml | kubectl replace --force -f - && kubectl delete resourceclaim/cel-mismatch-gpu-kjdcc --namespace=default
         template specs are immutable: this deletes and recreates template/default/cel-mismatch, also for later claims

    ----- stderr -----
    "#);
    dra_snapshot!(on(&["explain", "pod/not-enough-free"], "unschedulable-pods"), @r#"
    exit_code: 1
    ----- stdout -----
    x pod/default/not-enough-free waits: no node has 3 usable H100-SXM5-80GB

    Nodes:
      NODE         WANTED   MATCH   IN USE   TAINTED   USABLE
      gpu-node-1   3        8       6        1         1
      gpu-node-2   3        8       0        8         0
      gpu-node-4   3        0       0        0         0
      gpu-node-4: model is "A100-SXM4-80GB"
      gpu-node-3: pool incomplete, 1 of 2 slices

    Waiting helps: gpu-node-1 has enough when pod/default/fills-node-1 ends

    Scheduler: 0/4 nodes are available: 4 cannot allocate all claims. preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling.
    Note: other equally small changes may exist

    What would help:
      1. ask for 1 in template/default/not-enough-free request gpu (tested: fits on gpu-node-1)
         kubectl patch resourceclaimtemplate/not-enough-free --namespace=default --type=json -p '[{"op":"test","path":"/spec/spec/devices/requests/0/name","value":"gpu"},{"op":"add","path":"/spec/spec/devices/requests/0/exactly/count","value":1}]' --dry-run=client -o yaml | kubectl replace --force -f - && kubectl delete resourceclaim/not-enough-free-gpu-x4fqs --namespace=default
         template specs are immutable: this deletes and recreates template/default/not-enough-free, also for later claims
      2. end the pods that use claim/default/fills-node-1-gpu-5c9lh: fills-node-1 (tested: fits on gpu-node-1)
         kubectl delete pod/fills-node-1 --namespace=default
      3. tolerate the device taint example.com/unhealthy:NoExecute in template/default/not-enough-free request gpu (tested: fits on gpu-node-2; risky: devices reported unhealthy)
         kubectl patch resourceclaimtemplate/not-enough-free --namespace=default --type=json -p '[{"op":"test","path":"/spec/spec/devices/requests/0/name","value":"gpu"},{"op":"add","path":"/spec/spec/devices/requests/0/exactly/tolerations","value":[{"effect":"NoExecute","key":"example.com/unhealthy","operator":"Exists"}]}]' --dry-run=client -o yaml | kubectl replace --force -f - && kubectl delete resourceclaim/not-enough-free-gpu-x4fqs --namespace=default
         template specs are immutable: this deletes and recreates template/default/not-enough-free, also for later claims
      4. tolerate the device taint example.com/unhealthy:NoSchedule in template/default/not-enough-free request gpu (tested: fits on gpu-node-2; risky: devices reported unhealthy)
         kubectl patch resourceclaimtemplate/not-enough-free --namespace=default --type=json -p '[{"op":"test","path":"/spec/spec/devices/requests/0/name","value":"gpu"},{"op":"add","path":"/spec/spec/devices/requests/0/exactly/tolerations","value":[{"effect":"NoSchedule","key":"example.com/unhealthy","operator":"Exists"}]}]' --dry-run=client -o yaml | kubectl replace --force -f - && kubectl delete resourceclaim/not-enough-free-gpu-x4fqs --namespace=default
         template specs are immutable: this deletes and recreates template/default/not-enough-free, also for later claims
      5. have the driver lift the taint example.com/unhealthy:NoExecute from the devices of pool gpu.example.com/gpu-node-2 (tested: fits on gpu-node-2; risky: devices reported unhealthy)
         the driver gpu.example.com publishes the taint example.com/unhealthy: whoever runs the driver has it lifted
      6. have the driver lift the taint example.com/unhealthy:NoSchedule from the devices of pool gpu.example.com/gpu-node-2 (tested: fits on gpu-node-2; risky: devices reported unhealthy)
         the driver gpu.example.com publishes the taint example.com/unhealthy: whoever runs the driver has it lifted

    ----- stderr -----
    "#);
    dra_snapshot!(on(&["explain", "pod/wrong-node"], "unschedulable-pods"), @r#"
    exit_code: 1
    ----- stdout -----
    x pod/default/wrong-node waits: claim/default/on-node-1 is allocated for node gpu-node-1, which the pod's node selector or affinity rules out

    Nodes:
      gpu-node-1,gpu-node-3,gpu-node-4: node(s) didn't match Pod's node affinity/selector
      gpu-node-2: claim/default/on-node-1 is allocated for node gpu-node-1

    Whether waiting helps is not known: it fits on gpu-node-2 with every device free and untainted, but whose end suffices was not found

    Scheduler: 0/4 nodes are available: 1 resourceclaim not available on the node, 3 node(s) didn't match Pod's node affinity/selector. preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling.

    What would help:
      1. leave out the node selector on kubernetes.io/hostname in pod/default/wrong-node (tested: fits on gpu-node-1)
         kubectl patch pod/wrong-node --namespace=default --type=json -p '[{"op":"test","path":"/spec/nodeSelector/kubernetes.io~1hostname","value":"gpu-node-2"},{"op":"remove","path":"/spec/nodeSelector/kubernetes.io~1hostname"}]' --dry-run=client -o yaml | kubectl replace --force -f -
         what is changed of a pod needs another one: pod/default/wrong-node is made again

    ----- stderr -----
    "#);
    dra_snapshot!(on(&["explain", "pod/missing-template"], "unschedulable-pods"), @r#"
    exit_code: 1
    ----- stdout -----
    !! pod/default/missing-template waits: resource claim template default/no not found, from which claims of pod/default/missing-template are made

    Reason: pod "default/missing-template": ResourceClaim not created yet
    Event: FailedResourceClaimCreation (resource_claim, 8 times since 2026-11-21T10:12:37Z, last at 2026-11-21T10:12:37Z): PodResourceClaim gpu: resource claim template "no": resourceclaimtemplate.resource.k8s.io "no" not found

    What would help:
      1. create resourceclaimtemplate/default/no (not tested)
         the owner of the pod decides what its claims are to ask for

    ----- stderr -----
    "#);
}

#[test]
fn scheduled_and_schedulable_pods_are_reported_as_such() {
    dra_snapshot!(on(&["explain", "pod/notebook"], "bound-pods"), @"
    exit_code: 0
    ----- stdout -----
    ok pod/default/notebook: the pod runs on gpu-node-2 with gpu.example.com/gpu-node-2/gpu-1

    ----- stderr -----
    ");
    dra_snapshot!(on(&["explain", "claim/spare"], "bound-pods"), @"
    exit_code: 0
    ----- stdout -----
    ok claim/default/spare: fits on 3 of 3 nodes

    ----- stderr -----
    ");
    dra_snapshot!(on(&["explain", "spare"], "bound-pods"), @"
    exit_code: 0
    ----- stdout -----
    ok claim/default/spare: fits on 3 of 3 nodes

    ----- stderr -----
    `spare` is claim/default/spare: no such pod
    ");
}

#[test]
fn a_manifest_is_explained_without_being_created() {
    let manifest = Manifest::new(
        r"
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: big}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com, count: 6}}]}}
",
    );
    let path = manifest.path().display().to_string();
    dra_snapshot!(on(&["explain", "-f", &path], "bound-pods"), @"
    exit_code: 1
    ----- stdout -----
    x claim/default/big does not get its devices: no node has 6 usable devices of class gpu.example.com

    Nodes:
      NODE                    WANTED   MATCH   IN USE   TAINTED   USABLE
      gpu-node-2,gpu-node-3   6        8       4        0         4
      gpu-node-1              6        8       7        0         1

    Waiting helps: gpu-node-1, gpu-node-2 or gpu-node-3 has enough when any one of pod/training/sweep-glg98, pod/training/sweep-krgjp, pod/training/trainer-0 and 1 more ends

    Scheduler: 0/3 nodes are available: 3 cannot allocate all claims. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.

    What would help:
      1. ask for 4 in claim/default/big request gpu (tested: fits on gpu-node-2,gpu-node-3)
         claim/default/big does not exist yet: change its manifest
      2. end the pods that use claim/training/sweep-glg98-devices-m9x2c: sweep-glg98 (tested: fits on gpu-node-2)
         whoever owns them decides, once the manifest is applied
      3. end the pods that use claim/training/sweep-krgjp-devices-875gq: sweep-krgjp (tested: fits on gpu-node-3)
         whoever owns them decides, once the manifest is applied
      4. end the pods that use claim/training/trainer-0-devices-w8cxl: trainer-0 (tested: fits on gpu-node-3)
         whoever owns them decides, once the manifest is applied

    ----- stderr -----
    ");
}

/// A file as somebody sees it who may only look into one namespace: no nodes, classes and slices, other namespaces unknown.
#[test]
fn with_few_rights_the_unknown_is_named() {
    let snapshots =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/snapshots/unschedulable-pods.yaml");
    let text = std::fs::read_to_string(snapshots).expect("the snapshot is there");
    let mut list: Value = serde_saphyr::from_str(&text).expect("the snapshot is YAML");
    let items = list["items"].as_array_mut().expect("a list");
    items.retain(|item| ["Pod", "ResourceClaim", "Event"].contains(&item["kind"].as_str().unwrap()));
    // What is malformed could not be read, which leaves the same gap as what may not be read.
    for (kind, version) in [
        ("Node", "v1"),
        ("DeviceClass", "resource.k8s.io/v1"),
        ("ResourceSlice", "resource.k8s.io/v1"),
    ] {
        items.push(serde_json::json!({ "apiVersion": version, "kind": kind, "metadata": {} }));
    }
    let manifest = Manifest::new(&list.to_string());
    let path = manifest.path().display().to_string();
    let args = [
        "explain",
        "pod/too-many",
        "--complete",
        "--from",
        &path,
        "--now",
        NOW,
        "--kubernetes-version",
        "1.37",
    ];
    let run = dra(&args).run().exits(4);
    // A file has no rights that could be granted.
    assert!(!run.stderr.contains("kubectl-dra-viewer"), "{}", run.stderr);
    insta::assert_snapshot!(run.stdout, @r"
    !! pod/default/too-many is unknown: which node can take it is not known without nodes, deviceclasses, resourceslices: 1 malformed object

    Scheduler: 0/4 nodes are available: 4 cannot allocate all claims. preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling.
    ");
    // What shows in the namespace is told all the same.
    let args = [
        "explain",
        "pod/missing-claim",
        "--from",
        &path,
        "--now",
        NOW,
        "--kubernetes-version",
        "1.37",
    ];
    dra(&args).run().exits(1);
}

/// A node with `there` devices that are alike, and a claim that wants `wanted` of them.
fn alike(there: usize, wanted: usize) -> Manifest {
    let devices: Vec<Value> = (0..there)
        .map(|number| serde_json::json!({ "name": format!("gpu-{number}") }))
        .collect();
    let items = serde_json::json!([
        { "apiVersion": "v1", "kind": "Node", "metadata": { "name": "node-1" } },
        { "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": { "name": "gpu" }, "spec": {} },
        { "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": "slice" },
            "spec": { "driver": "gpu.example.com", "nodeName": "node-1", "devices": devices,
                "pool": { "name": "node-1", "generation": 1, "resourceSliceCount": 1 } } },
        { "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": { "name": "wanted", "namespace": "default" },
            "spec": { "devices": { "requests": [{ "name": "gpu", "exactly": { "deviceClassName": "gpu", "count": wanted } }] } } },
    ]);
    Manifest::new(&serde_json::json!({ "apiVersion": "v1", "kind": "List", "items": items }).to_string())
}

/// Returns what a command says of the claim `wanted` of a whole cluster.
fn about_wanted(command: &[&str], cluster: &Manifest, release: &str) -> Run {
    let from = cluster.path().display().to_string();
    let more = [
        "claim/default/wanted",
        "--from",
        &from,
        "--now",
        NOW,
        "--kubernetes-version",
        release,
        "--complete",
        "-o",
        "json",
    ];
    dra(&[command, &more].concat()).run()
}

/// Returns what keeps a claim with such requests and constraints from the devices of a node, without those that name a device.
fn limits(devices: &Value, spec: &Value) -> Vec<String> {
    let items = serde_json::json!([
        { "apiVersion": "v1", "kind": "Node", "metadata": { "name": "node-1" } },
        { "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": { "name": "gpu" }, "spec": {} },
        { "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": "slice" },
            "spec": { "driver": "d.example.com", "nodeName": "node-1", "devices": devices,
                "pool": { "name": "node-1", "generation": 1, "resourceSliceCount": 2 } } },
        { "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": "counters" },
            "spec": { "driver": "d.example.com", "nodeName": "node-1",
                "sharedCounters": [{ "name": "memory", "counters": { "slices": { "value": "3" } } }],
                "pool": { "name": "node-1", "generation": 1, "resourceSliceCount": 2 } } },
        { "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": { "name": "wanted", "namespace": "default" },
            "spec": { "devices": spec } },
    ]);
    let list = serde_json::json!({ "apiVersion": "v1", "kind": "List", "items": items });
    let cluster = Manifest::new(&list.to_string());
    let report = assert_valid(&about_wanted(&["explain"], &cluster, "1.37").exits(1).stdout);
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let reasons = report["nodes"][0]["reasons"].as_array().expect("reasons").iter();
    reasons
        .filter(|reason| reason.get("device").is_none())
        .map(|reason| {
            let numbers = ["wanted", "left", "total"].map(|name| text(&reason[name]));
            format!(
                "{} [{}] {}",
                text(&reason["code"]),
                numbers.join(" "),
                text(&reason["message"])
            )
        })
        .collect()
}

#[test]
fn what_keeps_requests_from_being_served_together_is_what_the_search_met() {
    let device = |name: &str, model: &str, slices: &str| {
        serde_json::json!({ "name": name, "attributes": { "model": { "string": model } },
            "consumesCounters": [{ "counterSet": "memory", "counters": { "slices": { "value": slices } } }] })
    };
    let wants = |requests: &[(&str, usize)], constraints: Value| {
        let requests: Vec<Value> = requests
            .iter()
            .map(|(name, count)| {
                serde_json::json!({ "name": name, "exactly": {
                "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count } })
            })
            .collect();
        serde_json::json!({ "requests": requests, "constraints": constraints })
    };
    let model = |requests: &[&str]| serde_json::json!([{ "requests": requests, "matchAttribute": "d.example.com/model" }]);
    let one = serde_json::json!([device("g0", "A", "1")]);
    let two = serde_json::json!([device("g0", "A", "1"), device("g1", "B", "1")]);
    let large = serde_json::json!([device("g0", "A", "2"), device("g1", "A", "2")]);
    let told = [
        // A constraint on a alone has nothing to do with it.
        limits(&one, &wants(&[("a", 1), ("b", 1)], model(&["a"]))),
        limits(&two, &wants(&[("a", 1), ("b", 1)], model(&["a", "b"]))),
        limits(&large, &wants(&[("a", 2)], model(&["a"]))),
        limits(&two, &wants(&[("a", 3)], model(&["a"]))),
    ];
    insta::assert_snapshot!(told.concat().join("\n"), @r"
    NotTogether [- - -] the devices that are left do not suffice for requests a, b together; without any one of these the others fit
    Constraint [- - -] the devices that are left do not meet constraint #0 of claim/default/wanted (matchAttribute d.example.com/model): d.example.com/node-1/g0 has A, d.example.com/node-1/g1 has B; without it the claims fit
    CounterExhausted [2 1 3] the devices that are taken first leave too little of counter slices in memory (wants 2, 1 of 3 left) in pool d.example.com/node-1 for the next; without the limits of shared counters the claims fit
    TooFewDevices [3 2 2] wants 3, and 2 of 2 devices could be taken
    ");
}

/// Upstream tries each subset of n-1 devices before it says that there are not n: 2^15 for the first, 2^29 at a microsecond each
/// for the second.
#[test]
fn a_search_that_times_out_in_the_scheduler_is_reported() {
    let times_out = "kube-scheduler's own search takes longer than its limit of 10 s per node";
    for (wanted, expected) in [(16, false), (30, true)] {
        let cluster = alike(wanted - 1, wanted);
        for command in [&["simulate", "allocation"][..], &["explain"]] {
            let report = about_wanted(command, &cluster, "1.37").exits(1).stdout;
            let report = assert_valid(&report);
            let notes = report["notes"].to_string();
            assert_eq!(
                notes.contains(times_out),
                expected,
                "{command:?} {wanted}: {report:#}"
            );
            let message = report["message"].as_str().unwrap_or_default();
            assert!(
                message.contains("cannot allocate all claims"),
                "{command:?} {wanted}: {report:#}"
            );
            let exactness = if expected { "FitOnly" } else { "Exact" };
            assert_eq!(report["exactness"], exactness, "{command:?} {wanted}: {report:#}");
            if command.len() == 2 {
                assert_eq!(report["nodes"][0]["timesOut"] == true, expected, "{report:#}");
            }
        }
    }
}

/// Up to 1.35 each order of the devices is a way of its own: a million steps for ten of nine, ten million for eleven of ten. A real 1.35.8
/// ran out of time over thirteen of twelve.
#[test]
fn a_search_through_all_orders_of_devices_is_exact_only_where_it_ends_in_time() {
    let does = "own search takes longer than its limit of 10 s per node: it skips the node with `timed out trying to allocate devices`";
    let may = "own search may take longer than its limit of 10 s per node: it then skips the node with `timed out trying to allocate devices`";
    for (wanted, note) in [(10, None), (11, Some(may)), (13, Some(does))] {
        let cluster = alike(wanted - 1, wanted);
        let report = about_wanted(&["simulate", "allocation"], &cluster, "1.35")
            .exits(1)
            .stdout;
        let report = assert_valid(&report);
        let notes = report["notes"].to_string();
        let (exactness, expected) = note.map_or(("Exact", ""), |note| ("FitOnly", note));
        assert_eq!(report["exactness"], exactness, "{wanted}: {report:#}");
        assert_eq!(notes.contains("10 s"), note.is_some(), "{wanted}: {report:#}");
        assert!(notes.contains(expected), "{wanted}: {report:#}");
        assert_eq!(report["result"], "DoesNotFit", "{wanted}: {report:#}");
    }
}
