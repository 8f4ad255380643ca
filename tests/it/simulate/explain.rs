//! The reason why pods do not get their devices, and what would help.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::{Manifest, NOW, on};
use crate::support::cluster::Recorded;
use crate::support::command::{dra, dra_snapshot, seen};
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
      - remove `device.attributes['gpu.example.com'].model == 'B200'` from request gpu of template/default/cel-mismatch (smallest)
    unschedulable-pods cel-error: Error
      Error PoolIncomplete NoDevices
      - remove `device.attributes['gpu.example.com'].firmware == '1.2'` from request gpu of template/default/cel-error (smallest)
    unschedulable-pods too-many: DoesNotFit
      TooFewDevices InUse Tainted ClassSelector PoolIncomplete NoDevices
      - reduce request gpu of template/default/too-many from 9 to 1 (smallest)
    unschedulable-pods not-enough-free: DoesNotFit
      TooFewDevices InUse Tainted ClassSelector PoolIncomplete NoDevices RequestSelector
      - reduce request gpu of template/default/not-enough-free from 3 to 1 (smallest)
      - delete pod/default/fills-node-1, which uses claim/default/fills-node-1-gpu-5c9lh (smallest)
      - tolerate device taint example.com/unhealthy=xid-79:NoExecute in request gpu of template/default/not-enough-free (smallest)
      - tolerate device taint example.com/unhealthy=xid-79:NoSchedule in request gpu of template/default/not-enough-free (smallest)
      - ask the driver's owner to remove taint example.com/unhealthy:NoExecute from the devices of pool gpu.example.com/gpu-node-2 (smallest)
      - ask the driver's owner to remove taint example.com/unhealthy:NoSchedule from the devices of pool gpu.example.com/gpu-node-2 (smallest)
    unschedulable-pods tainted: DoesNotFit
      TooFewDevices InUse ClassSelector Tainted PoolIncomplete NoDevices RequestSelector
      - reduce request gpu of template/default/tainted from 8 to 4 (smallest)
      - tolerate device taint example.com/unhealthy=xid-79:NoExecute in request gpu of template/default/tainted, whose toleration of this key does not match the taint (smallest)
      - ask the driver's owner to remove taint example.com/unhealthy:NoExecute from the devices of pool gpu.example.com/gpu-node-2 (smallest)
    unschedulable-pods constraint-conflict: DoesNotFit
      TooFewDevices InUse Tainted ClassSelector PoolIncomplete NoDevices RequestSelector
      - reduce request gpu of template/default/constraint-conflict from 2 to 1 (smallest)
    unschedulable-pods two-requests: DoesNotFit
      NotTogether InUse RequestSelector ClassSelector TooFewDevices Tainted PoolIncomplete NoDevices
      - remove `device.attributes['gpu.example.com'].index == 6` from request a of template/default/two-requests; delete pod/default/fills-node-1, which uses claim/default/fills-node-1-gpu-5c9lh (smallest)
      - remove `device.attributes['gpu.example.com'].index == 6` from request a of template/default/two-requests; delete pod/default/holder, which uses claim/default/on-node-1 (smallest)
      - remove `device.attributes['gpu.example.com'].index == 6` from request a of template/default/two-requests; tolerate device taint example.com/unhealthy=xid-79:NoSchedule in request a of template/default/two-requests (smallest)
      - remove `device.attributes['gpu.example.com'].index == 6` from request a of template/default/two-requests; ask the driver's owner to remove taint example.com/unhealthy:NoSchedule from the devices of pool gpu.example.com/gpu-node-1 (smallest)
      - remove `device.attributes['gpu.example.com'].index == 6` from request a of template/default/two-requests; ask the driver's owner to remove taint example.com/unhealthy:NoExecute from the devices of pool gpu.example.com/gpu-node-2 (smallest)
      - remove `device.attributes['gpu.example.com'].index == 6` from request b of template/default/two-requests; ask the driver's owner to remove taint example.com/unhealthy:NoExecute from the devices of pool gpu.example.com/gpu-node-2 (smallest)
    unschedulable-pods missing-class: DoesNotFit
      ClassMissing
      - create deviceclass/tpu.example.com (unproven)
      - use class gpu.example.com in request gpu of template/default/missing-class (smallest)
      - use class nic.example.com in request gpu of template/default/missing-class (smallest)
    unschedulable-pods missing-claim: Waits
      ClaimMissing
      - create claim/default/nowhere (unproven)
    unschedulable-pods missing-template: Waits
      ClaimNotCreated TemplateMissing
      - create resourceclaimtemplate/default/no (unproven)
    unschedulable-pods all-incomplete-pool: Error
      TooFewDevices InUse RequestSelector ClassSelector Error
      - ask the driver's owner to publish all slices of pool/gpu.example.com/gpu-node-3 (unproven)
      - reduce request gpu of template/default/all-incomplete-pool from all devices to 1 (smallest)
    unschedulable-pods old-generation: DoesNotFit
      TooFewDevices InUse RequestSelector ClassSelector PoolIncomplete NoDevices
      - reduce request gpu of template/default/old-generation from 2 to 1 (smallest)
    unschedulable-pods wrong-node: DoesNotFit
      NodeAffinity AllocatedElsewhere
      - remove node selector kubernetes.io/hostname from pod/default/wrong-node (smallest)
    consumable-capacity nine: DoesNotFit
      TooFewDevices CapacityPolicy
      - reduce bandwidth in request nic of template/default/nine from 9G to 2G (smallest)
    consumable-capacity six-2: DoesNotFit
      TooFewDevices CapacityExhausted
      - reduce bandwidth in request nic of template/default/six from 6G to 2G (smallest)
      - delete pod/default/six-0, which uses claim/default/six-0-nic-j8kc9 (smallest)
      - delete pod/default/six-1, which uses claim/default/six-1-nic-bl6l7 (smallest)
    partitionable large: DoesNotFit
      TooFewDevices RequestSelector InUse CounterExhausted
      - remove `device.attributes['gpu.example.com'].profile == '3g.40gb'` from request gpu of template/default/large (smallest)
      - delete pod/default/best-0, which uses claim/default/best-0-gpu-zzrc5 (smallest)
    partitionable whole: DoesNotFit
      TooFewDevices CounterExhausted InUse RequestSelector
      - remove `device.attributes['gpu.example.com'].profile == 'full'` from request gpu of template/default/whole (smallest)
    extended-resource too-many: DoesNotFit
      TooFewDevices InUse ClassSelector
      - reduce example.com/gpu in container main of pod/default/too-many from 9 to 5 (smallest)
    podgroups sim-late: DoesNotFit
      NodeAffinity
      - remove node selector kubernetes.io/hostname from pod/default/sim-late (smallest)
    downgrade-groups-1.37 raw-late: DoesNotFit
      NodeAffinity
      - remove node selector kubernetes.io/hostname from pod/default/raw-late (smallest)
    downgrade-groups-1.37 sim-late: DoesNotFit
      NodeAffinity
      - remove node selector kubernetes.io/hostname from pod/default/sim-late (smallest)
    downgrade-groups-1.36 raw-late: DoesNotFit
      NodeAffinity
      - remove node selector kubernetes.io/hostname from pod/default/raw-late (smallest)
    downgrade-groups-1.36 sim-late: DoesNotFit
      NodeAffinity
      - remove node selector kubernetes.io/hostname from pod/default/sim-late (smallest)
    downgrade-groups-1.35 raw-late: DoesNotFit
      NodeAffinity
      - remove node selector kubernetes.io/hostname from pod/default/raw-late (smallest)
    downgrade-groups-1.35 sim-late: Waits
      ClaimNotOwned
      - delete and recreate pod/default/sim-late, so that it gets its own claims; remove node selector kubernetes.io/hostname from pod/default/sim-late (smallest)
    binding-conditions waits: DoesNotFit
      BindingFailed ReleasedByScheduler
      - wait until kube-scheduler deallocates claim/default/waits-gpu-27ljm, which no other pod uses (smallest)
      - ask the owner of driver gpu.example.com to attach the device in time (unproven)
    downgrade-features-1.37 waits: Waits
      BindingPending NodeAffinity
      - wait until the driver sets condition example.com/attached of device gpu-1 in claim/default/waits-gpu-w7cpb to true (unproven)
    downgrade-features-1.37 listed-0: DoesNotFit
      NodeAffinity TooFewDevices InUse RequestSelector
      - remove `device.attributes['list.example.com'].numa == 0` from request d of claim/default/listed (smallest)
      - delete pod/default/derived-0, which uses claim/default/derived (smallest)
    downgrade-features-1.36 listed-0: DoesNotFit
      NodeAffinity TooFewDevices InUse
      - remove `device.attributes['list.example.com'].numa == 0` from request d of claim/default/listed; delete pod/default/new-list, which uses claim/default/new-list-gpu-mwnhk (smallest)
    downgrade-features-1.36 new-ext: DoesNotFit
      TooFewDevices InUse NodeAffinity
      - delete pod/default/new-anywhere, which uses claim/default/new-anywhere-gpu-zm45f (smallest)
      - delete pod/default/new-gpu, which uses claim/default/new-gpu-gpu-nz2wj (smallest)
      - delete pod/default/ext-0, which uses claim/default/ext-0-extended-resources-lcwxl (smallest)
    downgrade-features-1.36 new-fabric: DoesNotFit
      NodeAffinity TooFewDevices InUse
      - delete pod/default/waits, which uses claim/default/waits-gpu-w7cpb (smallest)
      - delete pod/default/attached, which uses claim/default/attached-gpu-5f7t9 (smallest)
    downgrade-features-1.36 new-four: DoesNotFit
      NodeAffinity TooFewDevices CapacityExhausted
      - reduce bandwidth in request nic of template/default/four from 4G to 2G (smallest)
      - delete pod/default/four-0, which uses claim/default/four-0-nic-xrn2w (smallest)
      - delete pod/default/four-1, which uses claim/default/four-1-nic-cf8wx (smallest)
    downgrade-features-1.36 new-taint: DoesNotFit
      NodeAffinity TooFewDevices InUse Tainted
      - reduce request d of template/default/any-taint from 2 to 1 (smallest)
      - delete pod/default/skips-0, which uses claim/default/skips (smallest)
    downgrade-features-1.36 waits: Waits
      BindingPending NodeAffinity
      - wait until the driver sets condition example.com/attached of device gpu-1 in claim/default/waits-gpu-w7cpb to true (unproven)
    downgrade-features-1.35 listed-0: DoesNotFit
      NodeAffinity TooFewDevices InUse
      - remove `device.attributes['list.example.com'].numa == 0` from request d of claim/default/listed; delete pod/default/new-list, which uses claim/default/new-list-gpu-wxmsb (smallest)
    downgrade-features-1.35 new-best: DoesNotFit
      NodeAffinity TooFewDevices PartitionableDevicesOff InUse RequestSelector
      - ask an administrator to enable DRAPartitionableDevices in kube-scheduler, or to upgrade to 1.36, which enables it by default (unproven)
    downgrade-features-1.35 new-ext: DoesNotFit
      NodeResourcesFit NodeAffinity
    downgrade-features-1.35 new-fabric: DoesNotFit
      NodeAffinity TooFewDevices InUse
      - remove node selector kubernetes.io/hostname from pod/default/new-fabric; delete pod/default/new-anywhere, which uses claim/default/new-anywhere-gpu-vgpsw (smallest)
      - remove node selector kubernetes.io/hostname from pod/default/new-fabric; delete pod/default/new-gpu, which uses claim/default/new-gpu-gpu-4r76d (smallest)
      - remove node selector kubernetes.io/hostname from pod/default/new-fabric; delete pod/default/ext-0, which uses claim/default/ext-0-extended-resources-lcwxl (smallest)
    downgrade-features-1.35 new-four: DoesNotFit
      NodeAffinity TooFewDevices InUse
      - ask an administrator to enable DRAConsumableCapacity in kube-scheduler, or to upgrade to 1.36, which enables it by default (unproven)
      - delete pod/default/four-0, which uses claim/default/four-0-nic-xrn2w; delete pod/default/four-1, which uses claim/default/four-1-nic-cf8wx (smallest)
    downgrade-features-1.35 new-mig: DoesNotFit
      NodeAffinity TooFewDevices RequestSelector InUse PartitionableDevicesOff
      - ask an administrator to enable DRAPartitionableDevices in kube-scheduler, or to upgrade to 1.36, which enables it by default (unproven)
    ");
}

#[test]
fn an_explanation_goes_down_to_each_device() {
    dra_snapshot!(on(&["explain", "pod/cel-mismatch"], "unschedulable-pods"), @r#"
    exit_code: 1
    ----- stdout -----
    x pod/default/cel-mismatch is pending: none of 21 devices of class gpu.example.com has model B200; published values: A100-SXM4-80GB and H100-SXM5-80GB

    Nodes:
      NODE                    WANTED   AVAILABLE   WHY
      gpu-node-1,gpu-node-2   1        0           model is "H100-SXM5-80GB"
      gpu-node-4              1        0           model is "A100-SXM4-80GB"
      gpu-node-3                                   pool incomplete: 1 of 2 slices

    Unknown whether waiting helps: pool gpu.example.com/gpu-node-3 is incomplete or invalid; elsewhere it will not: it would not fit on an empty cluster

    Scheduler: 0/4 nodes are available: 4 cannot allocate all claims. preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling.

    Fix:
      1. remove `device.attributes['gpu.example.com'].model == 'B200'` from request gpu of template/default/cel-mismatch (tested: fits on gpu-node-1,gpu-node-4; gets gpu-6, model is "H100-SXM5-80GB"; recreates template/default/cel-mismatch and pod/default/cel-mismatch)
         deletes and recreates template/default/cel-mismatch: later claims change, too
         kubectl patch resourceclaimtemplate/cel-mismatch --namespace=default --type=json -p '[{"op":"test","path":"/spec/spec/devices/requests/0/name","value":"gpu"},{"op":"test","path":"/spec/spec/devices/requests/0/exactly/selectors/0/cel/expression","value":"device.attributes['\''gpu.example.com'\''].model == '\''B200'\''"},{"op":"remove","path":"/spec/spec/devices/requests/0/exactly/selectors/0"}]' --dry-run=client -o yaml | kubectl replace --force -f - && kubectl get pod/cel-mismatch --namespace=default -o yaml | kubectl replace --force -f -

    More: kubectl dra explain pod/cel-mismatch --from tests/data/snapshots/unschedulable-pods.yaml --now 2026-11-21T11:00:00Z --kubernetes-version 1.37 --details

    ----- stderr -----
    "#);
    dra_snapshot!(on(&["explain", "pod/not-enough-free"], "unschedulable-pods"), @r#"
    exit_code: 1
    ----- stdout -----
    x pod/default/not-enough-free is pending: no node has 3 available H100-SXM5-80GB devices

    Nodes:
      NODE         WANTED   AVAILABLE   WHY
      gpu-node-1   3        1           6 in use, 1 tainted
      gpu-node-2   3        0           8 tainted
      gpu-node-4   3        0           model is "A100-SXM4-80GB"
      gpu-node-3                        pool incomplete: 1 of 2 slices

    Fits on gpu-node-1 once pod/default/fills-node-1 finishes

    Scheduler: 0/4 nodes are available: 4 cannot allocate all claims. preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling.
    Note: other changes of the same size may exist

    Fix:
      1. reduce request gpu of template/default/not-enough-free from 3 to 1 (tested: fits on gpu-node-1; recreates template/default/not-enough-free and pod/default/not-enough-free)
         deletes and recreates template/default/not-enough-free: later claims change, too
         kubectl patch resourceclaimtemplate/not-enough-free --namespace=default --type=json -p '[{"op":"test","path":"/spec/spec/devices/requests/0/name","value":"gpu"},{"op":"add","path":"/spec/spec/devices/requests/0/exactly/count","value":1}]' --dry-run=client -o yaml | kubectl replace --force -f - && kubectl get pod/not-enough-free --namespace=default -o yaml | kubectl replace --force -f -
      2. delete pod/default/fills-node-1, which uses claim/default/fills-node-1-gpu-5c9lh (tested: fits on gpu-node-1)
         no controller recreates it
         kubectl delete pod/fills-node-1 --namespace=default
      4 more, risky: devices reported unhealthy

    More: kubectl dra explain pod/not-enough-free --from tests/data/snapshots/unschedulable-pods.yaml --now 2026-11-21T11:00:00Z --kubernetes-version 1.37 --details

    ----- stderr -----
    "#);
    dra_snapshot!(on(&["explain", "pod/wrong-node"], "unschedulable-pods"), @r#"
    exit_code: 1
    ----- stdout -----
    x pod/default/wrong-node is pending: claim/default/on-node-1 is allocated on node/gpu-node-1, which the pod's node selector or affinity excludes

    Nodes:
      NODE                               WHY
      gpu-node-1,gpu-node-3,gpu-node-4   no node label kubernetes.io/hostname=gpu-node-2, which nodeSelector requires
      gpu-node-2                         claim/default/on-node-1 is allocated on node/gpu-node-1

    Unknown whether waiting helps: it would fit on gpu-node-2 if all other pods finished and no device were tainted, but which pods have to finish is unknown

    Scheduler: 0/4 nodes are available: 1 resourceclaim not available on the node, 3 node(s) didn't match Pod's node affinity/selector. preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling.

    Fix:
      1. remove node selector kubernetes.io/hostname from pod/default/wrong-node (tested: fits on gpu-node-1; recreates pod/default/wrong-node)
         deletes and recreates pod/default/wrong-node
         kubectl patch pod/wrong-node --namespace=default --type=json -p '[{"op":"test","path":"/spec/nodeSelector/kubernetes.io~1hostname","value":"gpu-node-2"},{"op":"remove","path":"/spec/nodeSelector/kubernetes.io~1hostname"}]' --dry-run=client -o yaml | kubectl replace --force -f -

    More: kubectl dra explain pod/wrong-node --from tests/data/snapshots/unschedulable-pods.yaml --now 2026-11-21T11:00:00Z --kubernetes-version 1.37 --details

    ----- stderr -----
    "#);
    dra_snapshot!(on(&["explain", "pod/missing-template"], "unschedulable-pods"), @r#"
    exit_code: 1
    ----- stdout -----
    !! pod/default/missing-template is pending: resourceclaimtemplate/default/no not found; pod/default/missing-template needs it for its claims

    Reason: pod "default/missing-template": ResourceClaim not created yet
    Event: FailedResourceClaimCreation (resource_claim, 8×, first at 2026-11-21T10:12:37Z, last at 2026-11-21T10:12:37Z): PodResourceClaim gpu: resource claim template "no": resourceclaimtemplate.resource.k8s.io "no" not found

    Fix:
      1. create resourceclaimtemplate/default/no (not tested)
         ask the owner of the pod what its claims should request

    ----- stderr -----
    "#);
}

#[test]
fn scheduled_and_schedulable_pods_are_reported_as_such() {
    dra_snapshot!(on(&["explain", "pod/notebook"], "bound-pods"), @"
    exit_code: 0
    ----- stdout -----
    ok pod/default/notebook: the pod is running on gpu-node-2 with gpu.example.com/gpu-node-2/gpu-1

    ----- stderr -----
    ");
    dra_snapshot!(on(&["explain", "claim/spare"], "bound-pods"), @"
    exit_code: 0
    ----- stdout -----
    ok claim/default/spare: fits on 3 of 3 nodes

    Note: no pod uses the claim: it is allocated once one does

    ----- stderr -----
    ");
    dra_snapshot!(on(&["explain", "spare"], "bound-pods"), @"
    exit_code: 0
    ----- stdout -----
    ok claim/default/spare: fits on 3 of 3 nodes

    Note: no pod uses the claim: it is allocated once one does

    ----- stderr -----
    `spare` is claim/default/spare; there is no such pod
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
    let seen = seen(on(&["explain", "-f", &path], "bound-pods").run()).replace(&path, "FILE");
    insta::assert_snapshot!(seen, @"
    exit_code: 1
    ----- stdout -----
    x claim/default/big gets no devices: no node has 6 available devices of class gpu.example.com

    Nodes:
      NODE                    WANTED   AVAILABLE   WHY
      gpu-node-2,gpu-node-3   6        4           4 in use
      gpu-node-1              6        1           7 in use

    Fits on gpu-node-1, gpu-node-2 or gpu-node-3 once any one of pod/training/sweep-glg98, pod/training/sweep-krgjp, pod/training/trainer-0 and 1 more finishes

    Scheduler would say: 0/3 nodes are available: 3 cannot allocate all claims. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.

    Fix:
      1. reduce request gpu of claim/default/big from 6 to 4 (tested: fits on gpu-node-2,gpu-node-3)
         claim/default/big does not exist yet: change its manifest
      2. suspend job/training/sweep, which ends its 2 pods, pod/training/sweep-glg98 among them, and releases claim/training/sweep-glg98-devices-m9x2c (tested: fits on gpu-node-2)
         ask the owner of the pod first: the manifest is not applied yet
      3. delete pod/training/trainer-0, which uses claim/training/trainer-0-devices-w8cxl (tested: fits on gpu-node-3)
         ask the owner of the pod first: the manifest is not applied yet

    More: kubectl dra explain -f FILE --from tests/data/snapshots/bound-pods.yaml --now 2026-11-21T11:00:00Z --kubernetes-version 1.37 --details

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
    insta::assert_snapshot!(run.stdout, @"
    !! pod/default/too-many: unknown which node fits without nodes, deviceclasses, resourceslices: 1 malformed object

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
    insta::assert_snapshot!(told.concat().join("\n"), @"
    NotTogether [- - -] the remaining devices are not enough for requests a, b together; without any one of them the others fit
    Constraint [- - -] the remaining devices do not meet constraint #0 of claim/default/wanted (matchAttribute d.example.com/model): d.example.com/node-1/g0 has A, d.example.com/node-1/g1 has B; without it the claims fit
    CounterExhausted [2 1 3] the devices allocated first leave too little of counter slices in memory (needs 2, 1 of 3 left) in pool d.example.com/node-1 for the next; without shared counter limits the claims fit
    TooFewDevices [3 2 2] requests 3, and 2 of 2 devices are available
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

/// A file may have less of an object than the cluster, so that no manifest is made of it.
#[test]
fn the_command_of_a_fix_is_printed_alone() {
    let ask = |more: &[&str]| {
        let args = ["explain", "pod/two-requests", "--from=example:pending"];
        dra(&[&args, more].concat()).run()
    };
    let report: Value = serde_json::from_str(&ask(&["-o", "json"]).exits(1).stdout).expect("JSON");
    let fixes = report["fixes"].as_array().expect("fixes");
    assert!(fixes.len() > 3, "{fixes:#?}");
    for (number, fix) in (1..).zip(fixes) {
        let run = ask(&["--emit-fix", &format!("{number}")]);
        match fix["command"].as_str() {
            Some(command) => assert_eq!(run.exits(0).stdout, format!("{command}\n"), "fix {number}"),
            None => assert!(
                run.exits(2).stderr.contains("there is no command"),
                "fix {number}"
            ),
        }
    }
    let run = ask(&["--emit-fix", "99"]).exits(2);
    assert!(run.stderr.contains("there is no fix 99"), "{}", run.stderr);
}
