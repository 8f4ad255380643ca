//! `kubectl dra diff` on recorded pairs of states, on files that do not show everything, and beside an API server.

use std::path::Path;

use serde_json::Value;

use super::NOW;
use crate::support::command::{dra, dra_snapshot};
use crate::support::fake::Fake;
use crate::support::process::Invocation;
use crate::support::schema::assert_schema;

fn file(snapshot: &str) -> String {
    format!("tests/data/snapshots/{snapshot}.yaml")
}

/// The command on two snapshot files of these names.
fn between(before: &str, after: &str) -> Invocation {
    dra(&["diff", &file(before), &file(after), "--now", NOW, "-q"])
}

#[test]
fn pods_that_ended_lost_their_devices() {
    dra_snapshot!(between("shared-claims-before", "shared-claims"), @"
    exit_code: 1
    ----- stdout -----
    !! 2 claims lost their devices, 1 finding is new
    Before:  file tests/data/snapshots/shared-claims-before.yaml, Kubernetes 1.37.1 (assumed)
    After:   file tests/data/snapshots/shared-claims.yaml, Kubernetes 1.37.1 (assumed)

    Pods:
      POD                      CHANGE         BEFORE
      default/done             lost devices   gpu-node-2/gpu-0
      default/generated-done   lost devices   gpu-node-1/gpu-1
      default/only-user        lost devices   gpu-node-1/gpu-0

    Claims:
      CLAIM                              CHANGE        BEFORE             CONSUMERS
      default/generated-done-gpu-4xl68   gone          gpu-node-1/gpu-1   -pod/generated-done
      default/tool                       deallocated   gpu-node-1/gpu-0   -pod/only-user

    Findings:
      CHANGE   SEVERITY   CODE     OBJECT                         MESSAGE
      new      Warning    DRA017   resourceclaim/default/shared   is used by pod/default/done, which has finished but still exists, and by others: the claim controller repeatedly removes and adds the reservation, some twenty times a second (kubernetes/kubernetes#141274)

    ----- stderr -----
    ");
}

#[test]
fn taints_and_the_pods_that_they_evict_are_differences() {
    dra_snapshot!(between("device-taints-before", "device-taints-marked"), @"
    exit_code: 1
    ----- stdout -----
    !! 16 devices changed on 2 nodes
    Before:  file tests/data/snapshots/device-taints-before.yaml, Kubernetes 1.37.1 (assumed)
    After:   file tests/data/snapshots/device-taints-marked.yaml, Kubernetes 1.37.1 (assumed)

    Devices:
      DRIVER            CHANGE    COUNT   DEVICES                                    DETAILS
      gpu.example.com   changed   16      gpu-node-1/gpu-0..7, gpu-node-2/gpu-0..7   +example.com/unhealthy=xid-79:NoExecute

    ----- stderr -----
    ");
    dra_snapshot!(between("taint-rules-noexecute", "taint-rules-noexecute-later"), @"
    exit_code: 1
    ----- stdout -----
    !! 4 claims lost their devices
    Before:  file tests/data/snapshots/taint-rules-noexecute.yaml, Kubernetes 1.37.1 (assumed)
    After:   file tests/data/snapshots/taint-rules-noexecute-later.yaml, Kubernetes 1.37.1 (assumed)

    Pods:
      POD                     CHANGE   BEFORE
      batch/q                 gone     gpu-node-1/gpu-1
      default/p-0             gone     gpu-node-1/gpu-0
      default/p-1             gone     gpu-node-2/gpu-0
      default/tolerates-15s   gone     gpu-node-2/gpu-1

    Claims:
      CLAIM                             CHANGE   BEFORE             CONSUMERS
      batch/q-gpu-vxdhk                 gone     gpu-node-1/gpu-1   -pod/q
      default/p-0-gpu-bl9zh             gone     gpu-node-1/gpu-0   -pod/p-0
      default/p-1-gpu-szvvq             gone     gpu-node-2/gpu-0   -pod/p-1
      default/tolerates-15s-gpu-rbv2w   gone     gpu-node-2/gpu-1   -pod/tolerates-15s

    ----- stderr -----
    ");
}

#[test]
fn what_was_created_in_between_is_new() {
    dra_snapshot!(between("downgrade-features-1.37", "downgrade-features-1.36"), @"
    exit_code: 1
    ----- stdout -----
    !! 5 claims got devices, 3 claims are new
    Before:   file tests/data/snapshots/downgrade-features-1.37.yaml, Kubernetes 1.37.1 (assumed)
    After:    file tests/data/snapshots/downgrade-features-1.36.yaml, Kubernetes 1.37.1 (assumed)
    Unknown:  before, file tests/data/snapshots/downgrade-features-1.37.yaml: some checks were incomplete: clusterroles, clusterrolebindings, roles, rolebindings could not be read: the file does not contain them
              after, file tests/data/snapshots/downgrade-features-1.36.yaml: some checks were incomplete: clusterroles, clusterrolebindings, roles, rolebindings could not be read: the file does not contain them

    Pods:
      POD                    CHANGE        AFTER
      default/new-anywhere   got devices   ext-node-1/gpu-2
      default/new-best       got devices   mig-node-1/gpu-0-1g-2
      default/new-gpu        got devices   ext-node-1/gpu-3
      default/new-list       got devices   list-node-1/dev-1
      default/new-mig        got devices   mig-node-1/gpu-0-1g-1

    Claims:
      CLAIM                            CHANGE           AFTER                   CONSUMERS
      default/new-anywhere-gpu-zm45f   new, allocated   ext-node-1/gpu-2        +pod/new-anywhere
      default/new-best-gpu-nk5wc       new, allocated   mig-node-1/gpu-0-1g-2   +pod/new-best
      default/new-fabric-gpu-qq55n     new              <none>                  <none>
      default/new-four-nic-j5r2f       new              <none>                  <none>
      default/new-gpu-gpu-nz2wj        new, allocated   ext-node-1/gpu-3        +pod/new-gpu
      default/new-list-gpu-mwnhk       new, allocated   list-node-1/dev-1       +pod/new-list
      default/new-mig-gpu-b6qpq        new, allocated   mig-node-1/gpu-0-1g-1   +pod/new-mig
      default/new-taint-d-dnc6l        new              <none>                  <none>

    ----- stderr -----
    ");
}

#[test]
fn a_state_does_not_differ_from_itself() {
    dra_snapshot!(between("bound-pods", "bound-pods"), @"
    exit_code: 0
    ----- stdout -----
    ok No differences
    Before:  file tests/data/snapshots/bound-pods.yaml, Kubernetes 1.37.1 (assumed)
    After:   file tests/data/snapshots/bound-pods.yaml, Kubernetes 1.37.1 (assumed)

    ----- stderr -----
    ");
    dra(&["diff", "example:gpus", "example:gpus"]).run().exits(0);
    dra(&["diff", "example:gpus", "--from", "example:gpus"])
        .run()
        .exits(0);
}

/// The snapshot of that name.
fn recorded(snapshot: &str) -> Value {
    let text = std::fs::read_to_string(file(snapshot)).expect("a snapshot");
    serde_saphyr::from_str(&text).expect("YAML")
}

fn written(directory: &Path, list: &Value) -> String {
    let path = directory.join("cluster.json");
    std::fs::write(&path, list.to_string()).expect("a file");
    path.to_str().expect("UTF-8").to_owned()
}

/// Words of the report for what only one state has.
fn told(report: &Value) -> Vec<&str> {
    let lists = ["pods", "claims", "devices", "pools", "rules", "objects"];
    let items = lists
        .into_iter()
        .flat_map(|list| report[list].as_array().into_iter().flatten());
    items.filter_map(|item| item["existence"].as_str()).collect()
}

/// Exit code and report of `diff` with these arguments.
fn answered(args: &[&str], flags: &[String]) -> (Option<i32>, Value) {
    let args = [&["diff"], args, &["--now", NOW, "-o", "json"]].concat();
    let run = dra(&args).args(flags).run();
    let report = serde_json::from_str(&run.stdout);
    (
        run.code,
        report.unwrap_or_else(|error| panic!("{error}: {}{}", run.stdout, run.stderr)),
    )
}

#[test]
fn what_a_file_lacks_is_unknown_and_neither_new_nor_gone() {
    let directory = tempfile::tempdir().expect("a directory");
    let whole = file("bound-pods");
    for kind in ["Node", "DeviceClass", "ResourceSlice", "ResourceClaim", "Pod"] {
        let mut list = recorded("bound-pods");
        let items = list["items"].as_array_mut().expect("items");
        items.retain(|item| item["kind"] != kind && item["kind"] != "SnapshotInfo");
        let part = written(directory.path(), &list);
        for (before, after, when) in [(&whole, &part, "after"), (&part, &whole, "before")] {
            let (code, report) = answered(&[before, after], &[]);
            assert_eq!(code, Some(4), "{kind} {when}: {report}");
            assert_eq!(told(&report), [""; 0], "{kind} {when}");
            assert_eq!(
                report["findings"]["gone"],
                Value::Array(Vec::new()),
                "{kind} {when}"
            );
            assert!(report["unknown"].to_string().contains(when), "{kind}: {report}");
        }
        // What is declared to be everything is.
        let (code, report) = answered(&[&whole, &part, "--complete"], &[]);
        assert_eq!(code, Some(1), "{kind}: {report}");
        assert!(told(&report).contains(&"Gone"), "{kind}: {report}");
    }
}

#[test]
fn what_a_damaged_file_lost_is_unknown() {
    let directory = tempfile::tempdir().expect("a directory");
    let whole = file("bound-pods");
    for kind in ["Node", "ResourceSlice", "ResourceClaim", "Pod"] {
        let mut list = recorded("bound-pods");
        let items = list["items"].as_array_mut().expect("items");
        let at = items.iter().position(|item| item["kind"] == kind);
        items.remove(at.expect("an object"));
        let damaged = written(directory.path(), &list);
        let (_, report) = answered(&[&whole, &damaged], &[]);
        assert!(!told(&report).contains(&"Gone"), "{kind}: {report}");
        assert!(
            report["unknown"].to_string().contains("damaged"),
            "{kind}: {report}"
        );
    }
}

#[test]
fn a_truncated_file_shows_nothing_to_be_gone() {
    let directory = tempfile::tempdir().expect("a directory");
    let whole = file("bound-pods");
    let text = std::fs::read_to_string(&whole).expect("a snapshot");
    let cut = directory.path().join("cut.yaml");
    for part in [1, 2, 3] {
        std::fs::write(&cut, &text[..text.len() * part / 4]).expect("a file");
        let run = dra(&["diff", &whole, cut.to_str().expect("UTF-8"), "--now", NOW]).run();
        let is_told = ["gone", "vanished", "lost"]
            .into_iter()
            .any(|word| run.stdout.contains(word));
        assert!(
            !is_told && matches!(run.code, Some(3 | 4)),
            "{}{}",
            run.stdout,
            run.stderr
        );
    }
}

#[test]
fn what_may_not_be_read_in_the_cluster_is_not_gone() {
    let list = recorded("bound-pods");
    let objects = || {
        let items = list["items"].as_array().expect("items").iter();
        items.filter(|item| item["kind"] != "SnapshotInfo").cloned()
    };
    let whole = file("bound-pods");
    let server = Fake::with_lists(objects(), |_, _, _| 200);
    let (_, report) = answered(&[&whole], &server.flags());
    assert_eq!(told(&report), [""; 0], "{report}");
    assert_eq!(report["source"]["type"], "Cluster");
    let resources = [
        "nodes",
        "deviceclasses",
        "resourceslices",
        "resourceclaims",
        "pods",
    ];
    for resource in resources {
        let forbidden =
            move |listed: &str, _: &str, _: &mut Value| if listed == resource { 403 } else { 200 };
        let server = Fake::with_lists(objects(), forbidden);
        let (code, report) = answered(&[&whole], &server.flags());
        assert_eq!(code, Some(4), "{resource}: {report}");
        assert_eq!(told(&report), [""; 0], "{resource}: {report}");
        let unknown = report["unknown"].to_string();
        assert!(
            unknown.contains("after") && unknown.contains(resource),
            "{resource}: {unknown}"
        );
    }
}

#[test]
fn reports_are_valid_under_their_schema() {
    for (before, after) in [
        ("shared-claims-before", "shared-claims"),
        ("downgrade-features-1.37", "downgrade-features-1.36"),
        ("partitionable", "consumable-capacity"),
        ("taint-rules-none", "bound-pods"),
    ] {
        let report = assert_schema!(["diff", &file(before), &file(after), "--now", NOW, "-o", "json"]);
        assert_eq!(report["kind"], "Difference");
    }
}

#[test]
fn a_third_state_and_a_namespace_that_neither_has_are_refused() {
    let gpus = "example:gpus";
    for (args, code, words) in [
        (&["diff", gpus, gpus, "--from", gpus][..], 2, "`--from`"),
        (&["diff", gpus, gpus, "--context", "prod"], 2, "--context=prod"),
        (&["diff", "-", "-"], 2, "standard input"),
        (&["diff"], 2, "BEFORE"),
        (&["diff", "nowhere.yaml", gpus], 3, "nowhere.yaml"),
        (&["diff", gpus, gpus, "-n", "trainning"], 3, "training"),
    ] {
        let run = dra(args).run().exits(code);
        assert!(run.stderr.contains(words), "{args:?}: {}", run.stderr);
    }
    // One of the states has it.
    dra(&["diff", gpus, "example:stale", "-n", "training"])
        .run()
        .exits(1);
}
